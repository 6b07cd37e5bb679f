//! Fast approximations of `f32`, one or a few instructions each on a device. Subnormal numbers count as 0.
//!
//! On a host they are computed accurately. So results differ between host and device, within the errors stated here.

use super::coefficients::LOG2E_F32;
use super::primitive as unit;
#[cfg(not(target_os = "cuda"))]
use super::single;

/// 2^x; error below 2^-22 of the value.
#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    unit::exp2_seed(x)
}

/// e^x; error below (2 + |x|) * 2^-22 of the value.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    unit::exp2_seed(x * core::f32::consts::LOG2_E)
}

/// e^x; error below 2.1 ulp over the whole range, as that of CUDA's `expf`. Subnormal results are not flushed.
#[inline(always)]
pub fn expf(x: f32) -> f32 {
    // x log2 e as a rounded integer n from -126 to 127, and f. What is beyond n's range is left to f.
    // Limits by saturation: 0 ..= 1 stands for -126 ..= 127.
    let n = unit::fma32_saturated(x, LOG2E_F32[0] / 253.0, 126.0 / 253.0);
    // 1.5 * 2^23 + 127 - 126: the low bits become the exponent's bits.
    let shifted = unit::fma32(n, 253.0, 12_582_913.0);
    let f = unit::fma32(x, LOG2E_F32[1], unit::fma32(x, LOG2E_F32[0], 12_583_039.0 - shifted));
    unit::exp2_seed(f) * f32::from_bits(shifted.to_bits() << 23)
}

/// log2 x; error below 2^-22, absolute from 0.5 to 2, relative elsewhere.
#[inline(always)]
pub fn log2(x: f32) -> f32 {
    #[cfg(target_os = "cuda")]
    return unit::log2_seed(x);
    #[cfg(not(target_os = "cuda"))]
    single::log2(x)
}

/// ln x; error below 2^-21.4, absolute from 0.5 to 2, else below 3 ulp.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    log2(x) * core::f32::consts::LN_2
}

/// x to the power of y for x > 0, as 2^(y log2 x): the relative error grows with |y log2 x|, about (2 + |y log2 x|) * 2^-22,
/// and with |y| near x = 1.
#[inline(always)]
pub fn pow(x: f32, y: f32) -> f32 {
    exp2(y * log2(x))
}

/// sin x; absolute error below 2^-20.5 from -pi to pi, larger outside in proportion to |x|.
#[inline(always)]
pub fn sin(x: f32) -> f32 {
    #[cfg(target_os = "cuda")]
    return unit::sin_seed(x);
    #[cfg(not(target_os = "cuda"))]
    single::sin(x)
}

/// cos x; absolute error below 2^-20.5 from -pi to pi, larger outside in proportion to |x|.
#[inline(always)]
pub fn cos(x: f32) -> f32 {
    #[cfg(target_os = "cuda")]
    return unit::cos_seed(x);
    #[cfg(not(target_os = "cuda"))]
    single::cos(x)
}

/// tan x, the quotient of [`sin`] and [`cos`].
#[inline(always)]
pub fn tan(x: f32) -> f32 {
    div(sin(x), cos(x))
}

/// tanh x; relative error below 2^-10.9. In one instruction from sm_75 on, else from [`exp`].
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    // Not by `cfg(target_feature)`: this crate is compiled for no particular architecture.
    #[cfg(target_os = "cuda")]
    if crate::architecture() >= 75 {
        return unit::tanh_seed(x);
    }
    super::single::tanh(x)
}

/// 1 / x, to an ulp; 0 where |x| > 2^126.
#[inline(always)]
pub fn recip(x: f32) -> f32 {
    unit::rcp32_seed(x)
}

/// a / b, to 2 ulp; 0 where |b| > 2^126.
#[inline(always)]
pub fn div(a: f32, b: f32) -> f32 {
    a * unit::rcp32_seed(b)
}

/// 1 / sqrt(x); error below 2^-22.9 of the value.
#[inline(always)]
pub fn rsqrt(x: f32) -> f32 {
    unit::rsqrt32_seed(x)
}

/// sqrt(x) as x / sqrt(x); error below 2^-22 of the value, and 0 at 0.
#[inline(always)]
pub fn sqrt(x: f32) -> f32 {
    if x == 0.0 { x } else { x * unit::rsqrt32_seed(x) }
}
