// The twin of src/kernels/transpose.rs.

constexpr unsigned SIDE = 32, ROWS = 8;

extern "C" __global__ void transpose(const float *__restrict__ x, unsigned width, unsigned height, float *__restrict__ y) {
    __shared__ float tile[SIDE][SIDE + 1];
    unsigned column = blockIdx.x * SIDE + threadIdx.x, row = blockIdx.y * SIDE + threadIdx.y;
    for (unsigned k = 0; k < SIDE; k += ROWS)
        if (column < width && row + k < height) tile[threadIdx.y + k][threadIdx.x] = x[(row + k) * width + column];
    __syncthreads();
    column = blockIdx.y * SIDE + threadIdx.x, row = blockIdx.x * SIDE + threadIdx.y;
    for (unsigned k = 0; k < SIDE; k += ROWS)
        if (column < height && row + k < width) y[(row + k) * height + column] = tile[threadIdx.x][threadIdx.y + k];
}
