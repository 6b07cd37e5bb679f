// The twin of src/kernels/histogram.rs. The array is aligned to 16 bytes.

__device__ void count(unsigned *own, unsigned word) {
    atomicAdd(&own[word & 255], 1);
    atomicAdd(&own[word >> 8 & 255], 1);
    atomicAdd(&own[word >> 16 & 255], 1);
    atomicAdd(&own[word >> 24], 1);
}

extern "C" __global__ void histogram(const unsigned *__restrict__ words, unsigned n, unsigned *counts) {
    __shared__ unsigned own[256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
    __syncthreads();
    unsigned first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    for (unsigned i = first; i < n / 4; i += step) {
        uint4 v = reinterpret_cast<const uint4 *>(words)[i];
        count(own, v.x);
        count(own, v.y);
        count(own, v.z);
        count(own, v.w);
    }
    if (n / 4 * 4 + first < n) count(own, words[n / 4 * 4 + first]);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&counts[i], own[i]);
}
