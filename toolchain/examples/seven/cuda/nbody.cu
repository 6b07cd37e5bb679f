// The twin of src/kernels/nbody.rs.

constexpr unsigned BLOCK = 256;

extern "C" __global__ void accelerations(
    const float4 *__restrict__ bodies, unsigned n, float softening, float4 *__restrict__ accelerations
) {
    __shared__ float4 tile[BLOCK];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 nothing = make_float4(0, 0, 0, 0);
    float4 own = i < n ? bodies[i] : nothing;
    float ax = 0, ay = 0, az = 0;
    for (unsigned first = 0; first < n; first += BLOCK) {
        unsigned other = first + threadIdx.x;
        tile[threadIdx.x] = other < n ? bodies[other] : nothing;
        __syncthreads();
        for (unsigned j = 0; j < BLOCK; j++) {
            float4 body = tile[j];
            float dx = body.x - own.x, dy = body.y - own.y, dz = body.z - own.z;
            float inverse = rsqrtf(dx * dx + (dy * dy + (dz * dz + softening)));
            float force = body.w * inverse * (inverse * inverse);
            ax += force * dx;
            ay += force * dy;
            az += force * dz;
        }
        __syncthreads();
    }
    if (i < n) accelerations[i] = make_float4(ax, ay, az, 0);
}
