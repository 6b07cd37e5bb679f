// The twin of src/kernels/saxpy.rs.

extern "C" __global__ void saxpy(float a, const float *__restrict__ x, float *__restrict__ y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
