// The twin of src/kernels/reduction.rs. The array is aligned to 16 bytes.

__device__ float warp_sum(float value) {
    for (int by = 16; by > 0; by /= 2) value += __shfl_xor_sync(~0u, value, by);
    return value;
}

extern "C" __global__ void block_sums(const float *__restrict__ x, unsigned n, float *__restrict__ sums) {
    __shared__ float of_warps[8];
    float own = 0;
    unsigned first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    for (unsigned i = first; i < n / 4; i += step) {
        float4 v = reinterpret_cast<const float4 *>(x)[i];
        own += (v.x + v.y) + (v.z + v.w);
    }
    if (n / 4 * 4 + first < n) own += x[n / 4 * 4 + first];
    own = warp_sum(own);
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) of_warps[warp] = own;
    __syncthreads();
    if (warp == 0) {
        float sum = warp_sum(lane < blockDim.x / 32 ? of_warps[lane] : 0);
        if (lane == 0) sums[blockIdx.x] = sum;
    }
}
