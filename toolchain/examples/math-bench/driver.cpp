// Times the kernels of two modules and checks their results against the CPU's long double (f64) or double (f32).
//
//     driver ours.ptx theirs.cubin [samples] [name]
//
// One row for each function and range: picoseconds per evaluation, their quotient, the largest error in ulp of both over random
// samples in the range and over random bit patterns with special values. `samples` is in units of 2^24, by default 4; "all" takes
// every f32 for functions of one argument. An error of inf is a wrong special value (infinity, NaN, 0 with the other sign).
#include <cuda.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#define CHECK(call)                                                                            \
    do {                                                                                       \
        CUresult result_ = (call);                                                             \
        if (result_ != CUDA_SUCCESS) {                                                         \
            const char *text_ = nullptr;                                                       \
            cuGetErrorString(result_, &text_);                                                 \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, text_ ? text_ : ""); \
            exit(1);                                                                           \
        }                                                                                      \
    } while (0)

static const unsigned SIZE = 1u << 24, BLOCK = 256, COUNT = 64, RUNS = 20;
typedef long double Long;

struct Random {
    uint64_t state;
    uint64_t bits() {
        uint64_t z = state += 0x9e3779b97f4a7c15ull;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }
    double unit() { return (bits() >> 11) * 0x1p-53; }
};

template <class R> static R ref_sin(R x, R) { return std::sin(x); }
template <class R> static R ref_cos(R x, R) { return std::cos(x); }
template <class R> static R ref_tan(R x, R) { return std::tan(x); }
template <class R> static R ref_sincos(R x, R) { return std::sin(x) + std::cos(x); }
template <class R> static R ref_exp(R x, R) { return std::exp(x); }
template <class R> static R ref_exp2(R x, R) { return std::exp2(x); }
template <class R> static R ref_ln(R x, R) { return std::log(x); }
template <class R> static R ref_log2(R x, R) { return std::log2(x); }
template <class R> static R ref_log10(R x, R) { return std::log10(x); }
template <class R> static R ref_tanh(R x, R) { return std::tanh(x); }
template <class R> static R ref_sinh(R x, R) { return std::sinh(x); }
template <class R> static R ref_cosh(R x, R) { return std::cosh(x); }
template <class R> static R ref_sqrt(R x, R) { return std::sqrt(x); }
template <class R> static R ref_rsqrt(R x, R) { return 1 / std::sqrt(x); }
template <class R> static R ref_erf(R x, R) { return std::erf(x); }
template <class R> static R ref_cbrt(R x, R) { return std::cbrt(x); }
template <class R> static R ref_asin(R x, R) { return std::asin(x); }
template <class R> static R ref_acos(R x, R) { return std::acos(x); }
template <class R> static R ref_atan(R x, R) { return std::atan(x); }
template <class R> static R ref_floor(R x, R) { return std::floor(x); }
template <class R> static R ref_ceil(R x, R) { return std::ceil(x); }
template <class R> static R ref_trunc(R x, R) { return std::trunc(x); }
template <class R> static R ref_round(R x, R) { return std::round(x); }
template <class R> static R ref_pow(R x, R y) { return std::pow(x, y); }
template <class R> static R ref_hypot(R x, R y) { return std::hypot(x, y); }
template <class R> static R ref_fmod(R x, R y) { return std::fmod(x, y); }
template <class R> static R ref_atan2(R x, R y) { return std::atan2(x, y); }
template <class R> static R ref_fma(R x, R y) { return std::fma(x, y, x); }
template <class R> static R ref_div(R x, R y) { return x / y; }

struct Function {
    const char *name;
    double (*f32)(double, double);
    Long (*f64)(Long, Long);
    double low, high, low2, high2;
    // Errors are checked over all bit patterns, too; only in the range for approximations.
    bool everywhere;
};
#define F(NAME, LOW, HIGH) {#NAME, ref_##NAME<double>, ref_##NAME<Long>, LOW, HIGH, 0, 0, true}
#define F2(NAME, LOW, HIGH, LOW2, HIGH2) {#NAME, ref_##NAME<double>, ref_##NAME<Long>, LOW, HIGH, LOW2, HIGH2, true}
#define FAST(NAME, REF, LOW, HIGH, LOW2, HIGH2) {"fast_" #NAME, ref_##REF<double>, nullptr, LOW, HIGH, LOW2, HIGH2, false}
static const Function FUNCTIONS[] = {
    F(sin, -100, 100), F(sin, 5e3, 1e5), F(sin, 1e9, 1e12), F(cos, -100, 100), {"sincos", ref_sincos<double>, ref_sincos<Long>, -100, 100, 0, 0, false},
    F(tan, -100, 100), F(exp, -80, 80), F(exp2, -100, 100), F(ln, 1e-3, 1e3), F(log2, 1e-3, 1e3), F(log10, 1e-3, 1e3),
    F2(pow, 1e-3, 10, -5, 5), F(tanh, -4, 4), F(sqrt, 0, 1e3), F(rsqrt, 1e-3, 1e3), F2(hypot, -100, 100, -100, 100),
    F2(fma, -100, 100, -1, 1), F(floor, -100, 100), F(ceil, -100, 100), F(trunc, -100, 100), F(round, -100, 100),
    F2(fmod, -1000, 1000, 0.1, 10), F2(fmod, 1e20, 1e30, 0.1, 10), F(cbrt, -100, 100), F(asin, -1, 1), F(acos, -1, 1), F(atan, -10, 10),
    F2(atan2, -10, 10, -10, 10), F(sinh, -10, 10), F(cosh, -10, 10), F(erf, -3, 3),
    FAST(exp, exp, -10, 10, 0, 0), FAST(expf, exp, -80, 80, 0, 0), FAST(ln, ln, 2, 1e3, 0, 0), FAST(sin, sin, -3, 3, 0, 0), FAST(pow, pow, 2, 10, -5, 5),
    FAST(tanh, tanh, -4, 4, 0, 0), FAST(div, div, -100, 100, 0.1, 10),
};

// The distance of `got` from `want`, in units of the last place of a result of that size.
template <class T, class R> static double ulps(T got, R want) {
    const int digits = sizeof(T) == 4 ? 24 : 53, lowest = sizeof(T) == 4 ? -125 : -1021, highest = sizeof(T) == 4 ? 128 : 1024;
    T near = (T)want;
    if (std::isnan(near) || std::isnan(got)) return std::isnan(near) && std::isnan(got) ? 0 : INFINITY;
    if (got == near && std::signbit(got) == std::signbit(near) && std::isinf(got)) return 0;
    if (std::isinf(want) || (std::isinf(got) && std::isinf(near))) return INFINITY;
    // Beyond the largest number infinity stands for the next one.
    R value = std::isinf(got) ? std::copysign(std::ldexp((R)1, highest), (R)got) : (R)got;
    if (got == 0 && want == 0) return std::signbit(got) == std::signbit(want) ? 0 : INFINITY;
    int exponent;
    std::frexp(want, &exponent);
    exponent = std::min(std::max(exponent, lowest), highest);
    return (double)std::ldexp(std::fabs(value - want), digits - exponent);
}

template <class T> static T from_bits(uint64_t bits) {
    T value;
    if (sizeof(T) == 4) bits >>= 32;
    memcpy(&value, &bits, sizeof(T));
    return value;
}

struct Worst {
    double error = 0, x = 0, y = 0;
};

// The largest error of `got`, by all CPU cores.
template <class T, class R> static void check(Worst &worst, const T *xs, const T *ys, const T *got, R (*want)(R, R)) {
    unsigned threads = std::max(1u, std::thread::hardware_concurrency());
    std::vector<Worst> found(threads);
    std::vector<std::thread> pool;
    for (unsigned t = 0; t < threads; t++)
        pool.emplace_back([&, t] {
            Worst own;
            for (size_t i = (size_t)SIZE * t / threads; i < (size_t)SIZE * (t + 1) / threads; i++) {
                double error = ulps<T, R>(got[i], want(xs[i], ys[i]));
                if (error > own.error) own = {error, xs[i], ys[i]};
            }
            found[t] = own;
        });
    for (auto &thread : pool) thread.join();
    for (auto &one : found)
        if (one.error > worst.error) worst = one;
}

struct Setup {
    CUmodule module[2];
    CUdeviceptr xs, ys, out;
    CUevent begin, end;
    double samples;
    bool all;
};

static CUfunction find(CUmodule module, const std::string &name) {
    CUfunction function;
    return cuModuleGetFunction(&function, module, name.c_str()) == CUDA_SUCCESS ? function : nullptr;
}

static void launch(const Setup &s, CUfunction f, void **arguments) {
    CHECK(cuLaunchKernel(f, SIZE / BLOCK, 1, 1, BLOCK, 1, 1, 0, nullptr, arguments, nullptr));
}

// Picoseconds per evaluation: the median.
template <class T> static double measure(const Setup &s, CUfunction f, double step) {
    T by = (T)step;
    unsigned count = COUNT;
    void *arguments[] = {(void *)&s.xs, (void *)&s.ys, (void *)&s.out, &by, &count};
    std::vector<float> times;
    for (unsigned run = 0; run < RUNS + 3; run++) {
        CHECK(cuEventRecord(s.begin, nullptr));
        launch(s, f, arguments);
        CHECK(cuEventRecord(s.end, nullptr));
        CHECK(cuEventSynchronize(s.end));
        float ms;
        CHECK(cuEventElapsedTime(&ms, s.begin, s.end));
        if (run >= 3) times.push_back(ms);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2] * 1e9 / ((double)SIZE * COUNT);
}

template <class T, class R> static void row(const Setup &s, const Function &f, R (*want)(R, R), const char *type) {
    std::string name = std::string(f.name) + "_" + type;
    CUfunction timed[2], once[2];
    for (int m = 0; m < 2; m++) timed[m] = find(s.module[m], "t_" + name), once[m] = find(s.module[m], "e_" + name);
    if (!timed[0] || !once[0]) return;
    std::vector<T> xs(SIZE), ys(SIZE), got(SIZE);
    Random random{12345};
    auto upload = [&] {
        CHECK(cuMemcpyHtoD(s.xs, xs.data(), SIZE * sizeof(T)));
        CHECK(cuMemcpyHtoD(s.ys, ys.data(), SIZE * sizeof(T)));
    };
    auto in_range = [&] {
        for (unsigned i = 0; i < SIZE; i++) {
            xs[i] = (T)(f.low + (f.high - f.low) * random.unit());
            ys[i] = (T)(f.low2 + (f.high2 - f.low2) * random.unit());
        }
        upload();
    };
    Worst worst[2][2];
    auto compare = [&](int where) {
        for (int m = 0; m < 2; m++) {
            if (!once[m]) continue;
            void *arguments[] = {(void *)&s.xs, (void *)&s.ys, (void *)&s.out};
            launch(s, once[m], arguments);
            CHECK(cuMemcpyDtoH(got.data(), s.out, SIZE * sizeof(T)));
            check<T, R>(worst[m][where], xs.data(), ys.data(), got.data(), want);
        }
    };
    in_range();
    double time[2] = {0, 0};
    // The steps stay within the range: COUNT of them are a thousandth of it.
    for (int m = 0; m < 2; m++)
        if (timed[m]) time[m] = measure<T>(s, timed[m], (f.high - f.low) * 1e-3 / COUNT * (f.high <= 1 ? 0 : 1));
    for (double k = 0; k < std::max(1.0, s.samples / 2); k++) {
        if (k > 0) in_range();
        compare(0);
    }
    if (f.everywhere) {
        const T special[] = {0, 1, 0.5, 2, 3, 1.5, (T)INFINITY, (T)NAN, std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::min(),
                             std::numeric_limits<T>::max(), (T)16777215, (T)9007199254740991.0, (T)1e30, (T)709.78, (T)88.7228, (T)103.9, (T)745.1};
        const unsigned specials = sizeof special / sizeof *special;
        bool pairs = f.low2 != f.high2, all = s.all && sizeof(T) == 4 && !pairs;
        for (double k = 0; k < (all ? 256 : s.samples); k++) {
            for (unsigned i = 0; i < SIZE; i++) {
                xs[i] = all ? from_bits<T>(((uint64_t)k * SIZE + i) << 32) : from_bits<T>(random.bits());
                ys[i] = from_bits<T>(random.bits());
                if (all) continue;
                unsigned kind = i & 3;
                if (kind == 1) ys[i] = (T)(random.unit() * 40 - 20);
                // Near 1, and quotients of moderate size.
                if (kind == 2) xs[i] = (T)(1 + (random.unit() - 0.5) * std::exp2(-50 * random.unit())), ys[i] = (T)std::exp2(60 * random.unit() - 10);
                if (kind == 3 && pairs) ys[i] = (T)(xs[i] * std::exp2(40 * random.unit() - 20));
                if (i < 4 * specials * specials) {
                    unsigned a = i / 4 / specials, b = i / 4 % specials;
                    xs[i] = i & 1 ? -special[a] : special[a], ys[i] = i & 2 ? -special[b] : special[b];
                }
            }
            upload();
            compare(1);
        }
    }
    char range[40];
    snprintf(range, sizeof range, "%g..%g", f.low, f.high);
    printf("%-10s %s %-14s %8.2f %8.2f %6.2f   %8.3f %8.3f   %8.3f %8.3f", f.name, type, range, time[0], time[1], time[1] > 0 ? time[0] / time[1] : 0,
           worst[0][0].error, worst[1][0].error, worst[0][1].error, worst[1][1].error);
    for (int where = 0; where < 2; where++)
        if (worst[0][where].error > 1 && f.everywhere) printf("  at %a %a", worst[0][where].x, worst[0][where].y);
    printf("\n");
    fflush(stdout);
}

static CUmodule load(const char *path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (text.empty()) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    text.push_back(0);
    CUmodule module;
    CHECK(cuModuleLoadData(&module, text.data()));
    return module;
}

int main(int count, char **arguments) {
    if (count < 3) {
        fprintf(stderr, "usage: %s OURS.ptx THEIRS.cubin [SAMPLES|all] [NAME]\n", arguments[0]);
        return 2;
    }
    Setup s{};
    CHECK(cuInit(0));
    CUdevice device;
    CHECK(cuDeviceGet(&device, 0));
    CUcontext context;
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    char name[100];
    CHECK(cuDeviceGetName(name, sizeof name, device));
    s.module[0] = load(arguments[1]);
    s.module[1] = load(arguments[2]);
    s.all = count > 3 && !strcmp(arguments[3], "all");
    s.samples = count > 3 && !s.all ? atof(arguments[3]) : 4;
    CHECK(cuMemAlloc(&s.xs, SIZE * sizeof(double)));
    CHECK(cuMemAlloc(&s.ys, SIZE * sizeof(double)));
    CHECK(cuMemAlloc(&s.out, SIZE * sizeof(double)));
    CHECK(cuEventCreate(&s.begin, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&s.end, CU_EVENT_DEFAULT));
    printf("%s, %u elements, %u evaluations each, median of %u\n", name, SIZE, COUNT, RUNS);
    printf("%-10s %s %-14s %8s %8s %6s   %8s %8s   %8s %8s\n", "", "", "", "ps, ours", "ps, cuda", "ours/", "ulp ours", "cuda", "any: our", "cuda");
    for (const Function &f : FUNCTIONS) {
        if (count > 4 && strcmp(arguments[4], f.name)) continue;
        if (f.f32) row<float, double>(s, f, f.f32, "f32");
        if (f.f64) row<double, Long>(s, f, f.f64, "f64");
    }
}
