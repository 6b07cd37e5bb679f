// The kernels of src/lib.rs in CUDA C++, with CUDA's own functions.
#pragma nv_diag_suppress 550
#define KERNELS(T, NAME, BODY)                                                                                   \
    extern "C" __global__ void t_##NAME(const T *__restrict__ xs, const T *__restrict__ ys, T *__restrict__ out, T step, unsigned count) { \
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                                      \
        T x = xs[i], y = ys[i], sum = 0;                                                                         \
        (void)y;                                                                                                 \
        _Pragma("unroll 1") for (unsigned k = 0; k < count; k += 4) {                                            \
            sum += BODY; x += step;                                                                              \
            sum += BODY; x += step;                                                                              \
            sum += BODY; x += step;                                                                              \
            sum += BODY; x += step;                                                                              \
        }                                                                                                        \
        out[i] = sum;                                                                                            \
    }                                                                                                            \
    extern "C" __global__ void e_##NAME(const T *__restrict__ xs, const T *__restrict__ ys, T *__restrict__ out) { \
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                                      \
        T x = xs[i], y = ys[i];                                                                                  \
        (void)y;                                                                                                 \
        out[i] = BODY;                                                                                           \
    }
#define BOTH(NAME, F32, F64) KERNELS(float, NAME##_f32, F32(x)) KERNELS(double, NAME##_f64, F64(x))
#define BOTH2(NAME, F32, F64) KERNELS(float, NAME##_f32, F32(x, y)) KERNELS(double, NAME##_f64, F64(x, y))

BOTH(sin, sinf, sin)
BOTH(cos, cosf, cos)
BOTH(tan, tanf, tan)
BOTH(exp, expf, exp)
BOTH(exp2, exp2f, exp2)
BOTH(ln, logf, log)
BOTH(log2, log2f, log2)
BOTH(log10, log10f, log10)
BOTH(tanh, tanhf, tanh)
BOTH(sinh, sinhf, sinh)
BOTH(cosh, coshf, cosh)
BOTH(sqrt, sqrtf, sqrt)
BOTH(rsqrt, rsqrtf, rsqrt)
BOTH(erf, erff, erf)
BOTH(cbrt, cbrtf, cbrt)
BOTH(asin, asinf, asin)
BOTH(acos, acosf, acos)
BOTH(atan, atanf, atan)
BOTH(floor, floorf, floor)
BOTH(ceil, ceilf, ceil)
BOTH(trunc, truncf, trunc)
BOTH(round, roundf, round)
BOTH2(pow, powf, pow)
BOTH2(hypot, hypotf, hypot)
BOTH2(fmod, fmodf, fmod)
BOTH2(atan2, atan2f, atan2)

static __device__ __forceinline__ float both_waves(float x) { float s, c; sincosf(x, &s, &c); return s + c; }
static __device__ __forceinline__ double both_waves(double x) { double s, c; sincos(x, &s, &c); return s + c; }
static __device__ __forceinline__ float fast_tanh(float x) { float y; asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
KERNELS(float, sincos_f32, both_waves(x))
KERNELS(double, sincos_f64, both_waves(x))
KERNELS(float, fma_f32, fmaf(x, y, x))
KERNELS(double, fma_f64, fma(x, y, x))
KERNELS(float, fast_exp_f32, __expf(x))
KERNELS(float, fast_expf_f32, expf(x))
KERNELS(float, fast_ln_f32, __logf(x))
KERNELS(float, fast_sin_f32, __sinf(x))
KERNELS(float, fast_pow_f32, __powf(x, y))
KERNELS(float, fast_tanh_f32, fast_tanh(x))
KERNELS(float, fast_div_f32, __fdividef(x, y))
