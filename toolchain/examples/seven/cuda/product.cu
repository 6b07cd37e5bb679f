// The twin of src/kernels/product.rs.

constexpr unsigned SIDE = 32;

extern "C" __global__ void product(const float *__restrict__ a, const float *__restrict__ b, unsigned n, float *__restrict__ c) {
    __shared__ float of_a[SIDE][SIDE], of_b[SIDE][SIDE];
    unsigned x = threadIdx.x, y = threadIdx.y;
    unsigned column = blockIdx.x * SIDE + x, row = blockIdx.y * SIDE + y;
    float sum = 0;
    for (unsigned k = 0; k < n; k += SIDE) {
        of_a[y][x] = a[row * n + k + x];
        of_b[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (unsigned j = 0; j < SIDE; j++) sum += of_a[y][j] * of_b[j][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
