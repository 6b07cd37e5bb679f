// The twin of src/kernels/scan.rs. The arrays are aligned to 16 bytes.

constexpr unsigned TILE = 4096, GROUPS = 4, BLOCK = 256;
constexpr unsigned long long OWN = 1ull << 32, ALL = 2ull << 32;

__device__ unsigned scan_warp(unsigned sum, unsigned lane) {
    for (unsigned by = 1; by < 32; by *= 2) {
        unsigned below = __shfl_up_sync(~0u, sum, by);
        if (lane >= by) sum += below;
    }
    return sum;
}

__device__ unsigned look_back(volatile unsigned long long *states, unsigned tile, unsigned lane) {
    unsigned before = 0;
    for (int end = tile;; end -= 32) {
        int at = end - 1 - int(lane);
        unsigned long long state = ALL;
        if (at >= 0)
            do state = states[at];
            while (state == 0);
        unsigned know_all = __ballot_sync(~0u, (state & ALL) != 0);
        bool counts = know_all == 0 || __ffs(know_all) - 1 >= int(lane);
        before += __reduce_add_sync(~0u, counts ? unsigned(state) : 0);
        if (know_all) return before;
    }
}

extern "C" __global__ void scan(
    const unsigned *__restrict__ x, unsigned n, unsigned *__restrict__ y, unsigned *next, unsigned long long *states
) {
    __shared__ unsigned tile_of_block, before_tile;
    __shared__ unsigned of_warps[BLOCK / 32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) tile_of_block = atomicAdd(next, 1);
    __syncthreads();
    unsigned tile = tile_of_block;

    unsigned first = tile * (TILE / 4) + warp * GROUPS * 32 + lane;
    uint4 v[GROUPS];
    for (unsigned g = 0; g < GROUPS; g++) {
        unsigned at = first + g * 32;
        if (at < n / 4) {
            v[g] = reinterpret_cast<const uint4 *>(x)[at];
        } else {
            v[g].x = 4 * at < n ? x[4 * at] : 0;
            v[g].y = 4 * at + 1 < n ? x[4 * at + 1] : 0;
            v[g].z = 4 * at + 2 < n ? x[4 * at + 2] : 0;
            v[g].w = 0;
        }
    }
    unsigned of_warp = 0;
    for (unsigned g = 0; g < GROUPS; g++) {
        v[g].y += v[g].x;
        v[g].z += v[g].y;
        v[g].w += v[g].z;
        unsigned up_to = scan_warp(v[g].w, lane);
        unsigned before = of_warp + up_to - v[g].w;
        v[g].x += before;
        v[g].y += before;
        v[g].z += before;
        v[g].w += before;
        of_warp += __shfl_sync(~0u, up_to, 31);
    }

    if (lane == 0) of_warps[warp] = of_warp;
    __syncthreads();
    unsigned before = 0, of_tile = 0;
    for (unsigned other = 0; other < BLOCK / 32; other++) {
        unsigned sum = of_warps[other];
        if (other < warp) before += sum;
        of_tile += sum;
    }

    if (warp == 0) {
        volatile unsigned long long *state = &states[tile];
        unsigned sum = 0;
        if (tile > 0) {
            if (lane == 0) *state = OWN | of_tile;
            sum = look_back(states, tile, lane);
        }
        if (lane == 0) {
            *state = ALL | (sum + of_tile);
            before_tile = sum;
        }
    }
    __syncthreads();
    before += before_tile;

    for (unsigned g = 0; g < GROUPS; g++) {
        unsigned at = first + g * 32;
        uint4 w = make_uint4(v[g].x + before, v[g].y + before, v[g].z + before, v[g].w + before);
        if (at < n / 4) {
            reinterpret_cast<uint4 *>(y)[at] = w;
        } else {
            if (4 * at < n) y[4 * at] = w.x;
            if (4 * at + 1 < n) y[4 * at + 1] = w.y;
            if (4 * at + 2 < n) y[4 * at + 2] = w.z;
        }
    }
}
