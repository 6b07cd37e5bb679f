//! Functions of `f32`. No test found an error larger than one ulp.

use super::coefficients::*;
use super::coefficients::{
    ASIN_F32 as ASIN, ATAN_F32 as ATAN, COS_F32 as COS, PI_F32 as PI, PIO2_F32 as PIO2, SIN_F32 as SIN,
    TAN_F32 as TAN,
};
use super::primitive::*;
use super::primitive::{
    ceil32 as ceil_of, floor32 as floor_of, fma32 as mul_add, polynomial32 as polynomial, power32 as power,
    rcp32_seed as reciprocal, rint32 as nearest, sqrt32 as square_root, sum32 as two_sum,
    trunc32 as truncate,
};
use super::reduce::{Reduced, reduce32 as reduce};

const INFINITY: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;
/// 1.5 * 2^23: added to a number below 2^22, it leaves the nearest integer in the low bits.
const ROUND: f32 = 12_582_912.0;

/// The largest number below a half.
const BELOW_HALF: f32 = 0.499_999_97;
/// 1 + 2^-22: makes a reciprocal one that is not too small.
const ABOVE: f32 = 1.000_000_2;
/// Bits of a quotient that one step of a remainder finds.
const STEP: i32 = 19;
/// The exponent of the smallest normal number.
const LOWEST: i32 = -126;
/// Numbers up to this one have a reciprocal that is normal.
const FAR: f32 = 1e30;
/// Numbers up to this one, and from its reciprocal on, have quotients in the range.
const MODERATE: f32 = 1e15;

super::common::functions!(f32);

/// 1 / sqrt(x).
#[inline(always)]
pub fn rsqrt(x: f32) -> f32 {
    let result = rsqrt_normal(x);
    // Of 0, infinity, subnormal numbers and NaN the correction makes NaN, or -infinity.
    if result > 0.0 { result } else { rsqrt_special(x) }
}

#[inline(always)]
fn rsqrt_normal(x: f32) -> f32 {
    let y = rsqrt32_seed(x);
    // y + y (1 - x y^2) / 2
    fma32(y, fma32(x * y, -0.5 * y, 0.5), y)
}

#[inline(always)]
fn rsqrt_special(x: f32) -> f32 {
    if x == 0.0 {
        f32::copysign(INFINITY, x)
    } else if x == INFINITY {
        0.0
    } else {
        // Negative numbers and NaN give NaN again.
        4096.0 * rsqrt_normal(x * 16_777_216.0)
    }
}

/// sqrt(x^2 + y^2), without overflow on the way.
#[inline(always)]
pub fn hypot(x: f32, y: f32) -> f32 {
    let (x, y) = (x.abs(), y.abs());
    let (large, less) = if x > y { (x, y) } else { (y, x) };
    // By a power of two that brings the larger one to 1 ..= 4, or to 2^-25 for the smallest.
    let exponent = (large.to_bits() >> 23) as i32 - 127;
    let down = if exponent < -124 {
        124
    } else if exponent > 126 {
        -126
    } else {
        -exponent
    };
    let (scale, back) = (power32(down), power32(-down));
    let (a, b) = (large * scale, less * scale);
    let square = fma32(a, a, b * b);
    let (root, low) = root(square, -0.0);
    let result = (root + low) * back;
    // NaN has become NaN on the way.
    if x == INFINITY || y == INFINITY { INFINITY } else { result }
}

/// x > 0 as m * 2^e with 1 <= m < 2.
#[inline(always)]
fn split(x: f32) -> (f32, i32) {
    let small = x < f32::MIN_POSITIVE;
    let bits = if small { x * 16_777_216.0 } else { x }.to_bits();
    (f32::from_bits((bits & 0x7f_ffff) | 0x3f80_0000), (bits >> 23) as i32 - if small { 151 } else { 127 })
}

/// Changes the sign in the quadrants 2 and 3.
#[inline(always)]
fn turn(value: f32, quadrant: i32) -> f32 {
    f32::from_bits(value.to_bits() ^ (((quadrant as u32) << 30) & 0x8000_0000))
}

/// 2^f for |f| <= 1/2.
#[inline(always)]
fn exp2_fraction(f: f32) -> f32 {
    fma32(polynomial32!(f, EXP2_F32), f, 1.0)
}

/// x * 2^n for x and a result in the range of normal numbers, n in the low bits of `shifted`.
#[inline(always)]
fn scale(x: f32, shifted: f32) -> f32 {
    f32::from_bits(x.to_bits().wrapping_add(shifted.to_bits() << 23))
}

/// 2^(p + low) for |p| < 126, |low| small.
#[inline(always)]
fn exp2_moderate(p: f32, low: f32) -> f32 {
    let shifted = p + ROUND;
    scale(exp2_fraction((p - (shifted - ROUND)) + low), shifted)
}

/// 2^(p + low) for all p, |low| small; `low` does not count where the result is 0 or infinity.
#[inline(always)]
fn exp2_wide(p: f32, low: f32) -> f32 {
    let limited = p.clamp(-160.0, 160.0);
    let n = rint32(limited);
    let y = exp2_fraction((limited - n) + if limited == p { low } else { 0.0 });
    scale_wide(y, n)
}

/// x * 2^n for -160 <= n <= 160, in two steps: 2^n may be out of range where the result is not. Only the second one rounds.
#[inline(always)]
fn scale_wide(x: f32, n: f32) -> f32 {
    let half = rint32(n * 0.5);
    x * power32(half as i32) * power32((n - half) as i32)
}

/// e^r for |r| <= (ln 2)/2.
#[inline(always)]
fn exp_fraction(r: f32) -> f32 {
    fma32(fma32(polynomial32!(r, EXP_F32), r, 1.0), r, 1.0)
}

/// e^x.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    if x.abs() < 87.0 {
        let shifted = fma32(x, LOG2E_F32[0], ROUND);
        let n = shifted - ROUND;
        scale(exp_fraction(fma32(-n, LN2_SS[1], fma32(-n, LN2_SS[0], x))), shifted)
    } else {
        exp_wide(x)
    }
}

#[inline(always)]
fn exp_wide(x: f32) -> f32 {
    let x = x.clamp(-110.0, 110.0);
    let n = rint32(x * LOG2E_F32[0]);
    scale_wide(exp_fraction(fma32(-n, LN2_SS[1], fma32(-n, LN2_SS[0], x))), n)
}

/// 2^x.
#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    if x.abs() < 126.0 { exp2_moderate(x, 0.0) } else { exp2_wide(x, 0.0) }
}

/// x > 0 as m * 2^e, e a whole number, m from 2/3 to 4/3; and m - 1.
#[inline(always)]
fn mantissa(x: f32) -> (f32, f32) {
    let small = x < f32::MIN_POSITIVE;
    let bits = if small { x * 8_388_608.0 } else { x }.to_bits();
    let above = bits.wrapping_sub(0x3f2a_aaab) & 0xff80_0000;
    let m = f32::from_bits(bits.wrapping_sub(above));
    let e = ((above as i32) >> 23) as f32;
    (if small { e - 23.0 } else { e }, m - 1.0)
}

/// What a logarithm is outside of the finite positive numbers.
#[inline(always)]
fn logarithm_special(x: f32, result: f32) -> f32 {
    // One comparison for most: the sign, infinity and NaN are large as bits; so are 0 - 1.
    if x.to_bits().wrapping_sub(1) >= 0x7f7f_ffff {
        if x == 0.0 { -INFINITY } else { if x > 0.0 { x } else { NAN } }
    } else {
        result
    }
}

/// The natural logarithm.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    let (e, f) = mantissa(x);
    let q = fma32(polynomial32!(f, LN_F32), f, -0.5);
    let result = fma32(e, LN2_SS[0], fma32(q, f * f, f));
    logarithm_special(x, result)
}

/// The binary logarithm.
#[inline(always)]
pub fn log2(x: f32) -> f32 {
    let (e, f) = mantissa(x);
    // e + f / ln 2 and what its rounding lost: e is 0 or larger.
    let sum = fma32(f, LOG2E_F32[0], e);
    let lost = fma32(f, LOG2E_F32[0], e - sum);
    let rest = fma32(f * f, polynomial32!(f, LOG2_F32), fma32(f, LOG2E_F32[1], lost));
    logarithm_special(x, sum + rest)
}

/// The decimal logarithm.
#[inline(always)]
pub fn log10(x: f32) -> f32 {
    let (e, f) = mantissa(x);
    let whole = e * LOG10_2_F32[0];
    let sum = fma32(f, LOG10E_F32[0], whole);
    let lost = fma32(e, LOG10_2_F32[1], fma32(f, LOG10E_F32[0], whole - sum));
    let rest = fma32(f * f, polynomial32!(f, LOG10_F32), fma32(f, LOG10E_F32[1], lost));
    logarithm_special(x, sum + rest)
}

/// log2 of x > 0, finite, in two parts, to 2^-32 of its value; the second may overlap the first by some bits.
#[inline(always)]
fn log2_parts(x: f32) -> (f32, f32) {
    let small = x < f32::MIN_POSITIVE;
    let bits = if small { x * 8_388_608.0 } else { x }.to_bits();
    let above = bits.wrapping_sub(0x3f35_04f3) & 0xff80_0000;
    let m = f32::from_bits(bits.wrapping_sub(above));
    let e = ((above as i32) >> 23) as f32 - if small { 23.0 } else { 0.0 };
    // z = (m - 1) / (m + 1) in two parts.
    let n = m - 1.0;
    let d = m + 1.0;
    let d_low = m - (d - 1.0);
    let y = rcp32_seed(d);
    let z = n * y;
    let z_low = fma32(-d_low, z, fma32(-d, z, n)) * y;
    let (s, s_low) = product32(z, z);
    let s_low = fma32(z + z, z_low, s_low);
    // C + s Q(s) in two parts, times z^3 = z s.
    let (c, c_low) =
        sum32(TWO_THIRDS_LOG2E_F32[0], fma32(s, polynomial32!(s, POW_Z_F32), TWO_THIRDS_LOG2E_F32[1]));
    let (cube, cube_low) = product32(z, s);
    let cube_low = fma32(z, s_low, fma32(z_low, s, cube_low));
    let (tail, tail_low) = product32(cube, c);
    let tail_low = fma32(cube, c_low, fma32(cube_low, c, tail_low));
    // (2 / ln 2) z
    let (main, main_low) = product32(z, TWO_LOG2E_F32[0]);
    let main_low = fma32(z, TWO_LOG2E_F32[1], fma32(z_low, TWO_LOG2E_F32[0], main_low));
    let (high, low) = sum32(main, tail);
    let low = low + (main_low + tail_low);
    // e is 0, or larger than the rest.
    let (sum, more) = sum32(e, high);
    (sum, more + low)
}

/// x to the power of y.
#[inline(always)]
pub fn pow(x: f32, y: f32) -> f32 {
    let a = x.abs();
    let (log, log_low) = log2_parts(a);
    let (p, p_low) = product32(log, y);
    let p_low = fma32(log_low, y, p_low);
    // x positive and finite, the result normal: the common case. It is right for x = 1 and y = 0.
    if x.to_bits().wrapping_sub(1) < 0x7f7f_ffff && p.abs() < 126.0 {
        return exp2_moderate(p, p_low);
    }
    pow_special(x, y, exp2_wide(p, p_low))
}

/// The hyperbolic tangent.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let a = x.abs();
    let s = x * x;
    let small = fma32(x * s, polynomial32!(s, TANH_F32), x);
    // 1 - 2 / (e^(2a) + 1), 1 from a = 9.1 on
    let a = a.min(10.0);
    let t = a * TWO_LOG2E_F32[0];
    let lost = fma32(a, TWO_LOG2E_F32[0], -t);
    let e = exp2_seed(t);
    // The divisor in two parts.
    let d = e + 1.0;
    let d_low = fma32(e, lost * core::f32::consts::LN_2, e - (d - 1.0));
    let y = rcp32_seed(d);
    let error = fma32(-d_low, y, fma32(-d, y, 1.0));
    let large = fma32(-2.0, fma32(y, error, y), 1.0);
    // NaN is not large.
    f32::copysign(if x.abs() >= 0.9375 { large } else { small }, x)
}

/// e^a for a >= 0 as (high + low) * 2^k, k at most 130; beyond 90 it is that of 90.
#[inline(always)]
fn exp_parts(a: f32) -> (f32, f32, i32) {
    let a = if a > 90.0 { 90.0 } else { a };
    let shifted = fma32(a, LOG2E_F32[0], ROUND);
    let n = shifted - ROUND;
    let exact = fma32(-n, LN2_SS[0], a);
    let r = fma32(-n, LN2_SS[1], exact);
    let lost = fma32(-n, LN2_SS[1], exact - r);
    let w = fma32(r * r, polynomial32!(r, EXP_F32), lost);
    let v = r + w;
    let (high, low) = sum32(1.0, v);
    (high, low + (w - (v - r)), (shifted.to_bits() - ROUND.to_bits()) as i32)
}

/// e^a / 2 plus or minus its counterpart 1 / (2 e^a).
#[inline(always)]
fn hyperbolic(a: f32, sign: f32) -> f32 {
    let (high, low, k) = exp_parts(a);
    // A quarter of the result, as 2^(k - 1) may be out of range. Where the counterpart's is, it counts for nothing.
    let scale = power32(k - 3);
    let inverse = rcp32_seed(high) * (sign * power32(if k > 120 { -123 } else { -k - 3 }));
    4.0 * fma32(high, scale, fma32(low, scale, inverse))
}

/// The hyperbolic sine.
#[inline(always)]
pub fn sinh(x: f32) -> f32 {
    let a = x.abs();
    let s = x * x;
    let result = if a >= 1.0 { hyperbolic(a, -1.0) } else { fma32(x * s, polynomial32!(s, SINH_F32), x) };
    f32::copysign(result, x)
}

/// The hyperbolic cosine.
#[inline(always)]
pub fn cosh(x: f32) -> f32 {
    hyperbolic(x.abs(), 1.0)
}

/// The error function, 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x.
#[inline(always)]
pub fn erf(x: f32) -> f32 {
    let a = x.abs();
    let small = fma32(x, polynomial32!(x * x, ERF_F32), x);
    // The last step of the polynomial with what rounding takes from it.
    let limited = a.min(4.0);
    let q = polynomial32!(limited, ERFC_F32 from 1);
    let p = fma32(q, limited, ERFC_F32[0]);
    let large = 1.0 - exp2_moderate(p, fma32(q, limited, -p) + ERFC_F32[0]);
    // NaN is not large.
    f32::copysign(if a >= 1.0 { large } else { small }, x)
}

/// The cube root.
#[inline(always)]
pub fn cbrt(x: f32) -> f32 {
    let a = x.abs();
    let small = a < f32::MIN_POSITIVE;
    let z = cbrt_seed(if small { a * 16_777_216.0 } else { a });
    // a^(-2/3), and from it the root y with an error e/3: y (y z) is 1.
    let z = if small { z * 65_536.0 } else { z };
    let y = a * z;
    let e = fma32(-y, z * y, 1.0);
    let result = fma32(y, e * (1.0 / 3.0), y);
    // 0 and infinity
    if x + x == x { x } else { f32::copysign(result, x) }
}

/// The square root of x + low, x a normal number or 0, and what its rounding lost.
#[inline(always)]
fn root(x: f32, low: f32) -> (f32, f32) {
    // The summand only counts at 0, where it keeps r finite. Of negative numbers r is NaN.
    let r = rsqrt32_seed(x + 2.0 * f32::MIN_POSITIVE);
    let y = x * r;
    (y, (fma32(-y, y, x) + low) * (0.5 * r))
}
