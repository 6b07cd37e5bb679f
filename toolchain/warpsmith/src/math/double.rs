//! Functions of `f64`. No test found an error larger than one ulp.

use super::coefficients::*;
use super::coefficients::{
    ASIN_F64 as ASIN, ATAN_F64 as ATAN, COS_F64 as COS, PI_F64 as PI, PIO2_F64 as PIO2, SIN_F64 as SIN,
    TAN_F64 as TAN,
};
use super::primitive::*;
use super::primitive::{
    ceil64 as ceil_of, floor64 as floor_of, fma64 as mul_add, polynomial64 as polynomial, power64 as power,
    rcp64 as reciprocal, rint64 as nearest, sqrt64 as square_root, sum64 as two_sum, trunc64 as truncate,
};
use super::reduce::{ROUND64 as ROUND, Reduced, reduce64 as reduce};

const INFINITY: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// The largest number below a half.
const BELOW_HALF: f64 = 0.499_999_999_999_999_94;
/// 1 + 2^-51: makes a reciprocal one that is not too small.
const ABOVE: f64 = 1.000_000_000_000_000_4;
/// Bits of a quotient that one step of a remainder finds.
const STEP: i32 = 48;
/// The exponent of the smallest normal number.
const LOWEST: i32 = -1022;
/// Numbers up to this one have a reciprocal that is normal.
const FAR: f64 = 1e280;
/// Numbers up to this one, and from its reciprocal on, have quotients in the range.
const MODERATE: f64 = 1e140;

super::common::functions!(f64);

/// 1 / sqrt(x).
#[inline(always)]
pub fn rsqrt(x: f64) -> f64 {
    // As bits, normal positive numbers are between these.
    if ((x.to_bits() >> 32) as u32).wrapping_sub(0x0010_0000) < 0x7fe0_0000 {
        rsqrt_normal(x)
    } else {
        rsqrt_special(x)
    }
}

#[inline(always)]
fn rsqrt_normal(x: f64) -> f64 {
    let y = rsqrt64_seed(x);
    // y (1 + e/2 + 3/8 e^2), e = 1 - x y^2 about 2^-20. The square is exact: half of the bits of y are 0.
    let e = fma64(-x, y * y, 1.0);
    fma64(y * e, fma64(e, 0.375, 0.5), y)
}

#[inline(always)]
fn rsqrt_special(x: f64) -> f64 {
    if x == 0.0 {
        f64::copysign(INFINITY, x)
    } else if x == INFINITY {
        0.0
    } else {
        // Negative numbers and NaN give NaN.
        134_217_728.0 * rsqrt_normal(x * 18_014_398_509_481_984.0)
    }
}

/// sqrt(x^2 + y^2), without overflow on the way.
#[inline(always)]
pub fn hypot(x: f64, y: f64) -> f64 {
    let (x, y) = (x.abs(), y.abs());
    let (large, less) = if x > y { (x, y) } else { (y, x) };
    let exponent = (large.to_bits() >> 52) as i32 - 1023;
    let down = if exponent < -1020 {
        1020
    } else if exponent > 1022 {
        -1022
    } else {
        -exponent
    };
    let (scale, back) = (power64(down), power64(-down));
    let (a, b) = (large * scale, less * scale);
    let (less, lost) = product64(b, b);
    let (root, low) = root(fma64(a, a, less), lost);
    let result = (root + low) * back;
    // NaN has become NaN on the way.
    if x == INFINITY || y == INFINITY { INFINITY } else { result }
}

/// x > 0 as m * 2^e with 1 <= m < 2.
#[inline(always)]
fn split(x: f64) -> (f64, i32) {
    let small = x < f64::MIN_POSITIVE;
    let bits = if small { x * 18_014_398_509_481_984.0 } else { x }.to_bits();
    let m = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    (m, (bits >> 52) as i32 - if small { 1077 } else { 1023 })
}

/// Changes the sign in the quadrants 2 and 3.
#[inline(always)]
fn turn(value: f64, quadrant: i32) -> f64 {
    f64::from_bits(value.to_bits() ^ (u64::from(((quadrant as u32) << 30) & 0x8000_0000) << 32))
}

/// e^x = (1 + v) * 2^k with v in two parts, for |x| < 800: v = r + w.
#[inline(always)]
fn exp_parts(x: f64) -> (f64, f64, i32) {
    let shifted = fma64(x, LOG2E_F64[0], ROUND);
    let n = shifted - ROUND;
    let r = fma64(-n, LN2_DD[1], fma64(-n, LN2_DD[0], x));
    (r, r * r * polynomial64!(r, EXP_F64), shifted.to_bits() as i32)
}

/// x * 2^k for 1/2 < x < 2 and -1100 < k <= 1025; subnormal results are rounded once.
#[inline(always)]
fn scale(x: f64, k: i32) -> f64 {
    if k > -1022 && k < 1023 {
        shift(x, k)
    } else {
        let half = k >> 1;
        x * power64(half) * power64(k - half)
    }
}

/// x * 2^k as an addition to the exponent: x and the result are normal.
#[inline(always)]
fn shift(x: f64, k: i32) -> f64 {
    f64::from_bits(x.to_bits().wrapping_add(u64::from((k as u32) << 20) << 32))
}

/// e^x.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let shifted = fma64(x, LOG2E_F64[0], ROUND);
    let n = shifted - ROUND;
    let r = fma64(-n, LN2_DD[1], fma64(-n, LN2_DD[0], x));
    let y = fma64(fma64(polynomial64!(r, EXP_F64), r, 1.0), r, 1.0);
    let k = shifted.to_bits() as i32;
    if smaller64(x, 708.0) {
        shift(y, k)
    } else if x > 709.8 {
        INFINITY
    } else if x < -745.2 {
        0.0
    } else if x.is_nan() {
        x
    } else {
        scale(y, k)
    }
}

/// 2^x.
#[inline(always)]
pub fn exp2(x: f64) -> f64 {
    let shifted = x + ROUND;
    let f = x - (shifted - ROUND);
    let y = fma64(polynomial64!(f, EXP2_F64), f, 1.0);
    let k = shifted.to_bits() as i32;
    if smaller64(x, 1022.0) {
        shift(y, k)
    } else if x >= 1024.0 {
        INFINITY
    } else if x < -1075.0 {
        0.0
    } else if x.is_nan() {
        x
    } else {
        scale(y, k)
    }
}

/// x > 0 as m * 2^e, e a whole number, m from sqrt(1/2) to sqrt 2: m and e.
#[inline(always)]
fn mantissa(x: f64) -> (f64, f64) {
    // Comparisons of high words are cheaper than those of numbers.
    let small = ((x.to_bits() >> 32) as i32) < 0x0010_0000;
    let bits = if small { x * 18_014_398_509_481_984.0 } else { x }.to_bits();
    let (high, low) = ((bits >> 32) as u32, bits as u32);
    let above = high.wrapping_sub(0x3fe6_a09e) & 0xfff0_0000;
    let m = f64::from_bits((u64::from(high.wrapping_sub(above)) << 32) | u64::from(low));
    let e = ((above as i32) >> 20) - if small { 54 } else { 0 };
    // To a float without a conversion, which is slow: 2^52 + 2^31 + e.
    let e =
        f64::from_bits(0x4330_0000_0000_0000 | u64::from((e as u32) ^ 0x8000_0000)) - 4_503_601_774_854_144.0;
    (m, e)
}

/// Whether x is positive and finite: as bits minus 1, all others are larger.
#[inline(always)]
fn positive(x: f64) -> bool {
    x.to_bits().wrapping_sub(1) < 0x7fef_ffff_ffff_ffff
}

/// What a logarithm is outside of the finite positive numbers.
#[inline(always)]
fn logarithm_special(x: f64, result: f64) -> f64 {
    if positive(x) {
        result
    } else if x == 0.0 {
        -INFINITY
    } else if x > 0.0 {
        x
    } else {
        NAN
    }
}

/// ln m for m from sqrt(1/2) to sqrt 2 as f - h: f = m - 1 is exact, h the rest.
#[inline(always)]
fn ln_parts(m: f64) -> (f64, f64) {
    let f = m - 1.0;
    let z = f * rcp64(m + 1.0);
    let s = z * z;
    let half = 0.5 * f * f;
    // 2 z = f - z f, and z f = f^2/2 - z f^2/2. So z, which is rounded, only counts in small terms.
    (f, fma64(-z, fma64(s, polynomial64!(s, LN_Z_F64), half), half))
}

/// The natural logarithm.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    let (m, e) = mantissa(x);
    let (f, h) = ln_parts(m);
    // e * (ln 2) is exact in the first part. Where e is 0 the sum is f alone.
    let (sum, more) = sum64(e * LN2_F64[0], f);
    let result = sum - (h - fma64(e, LN2_F64[1], more));
    logarithm_special(x, result)
}

/// A logarithm to another base: factor in two parts, ln 2 * factor in two parts.
#[inline(always)]
fn log_base(x: f64, factor: [f64; 2], two: [f64; 2]) -> f64 {
    let (m, e) = mantissa(x);
    let (f, h) = ln_parts(m);
    // (f - h) * factor
    let (ln, lost) = sum64(f, -h);
    let (high, low) = product64(ln, factor[0]);
    let low = fma64(ln, factor[1], fma64(lost, factor[0], low));
    let (sum, more) = sum64(e * two[0], high);
    let result = sum + (more + fma64(e, two[1], low));
    // sum64 wants the larger one first; with e = 0 there is no larger one, and more is 0.
    logarithm_special(x, result)
}

/// The binary logarithm.
#[inline(always)]
pub fn log2(x: f64) -> f64 {
    log_base(x, LOG2E_F64, [1.0, 0.0])
}

/// The decimal logarithm.
#[inline(always)]
pub fn log10(x: f64) -> f64 {
    log_base(x, LOG10E_F64, LOG10_2_F64)
}

/// ln of x > 0, finite, in two parts, to 2^-63 of its value; the second may overlap the first by some bits.
#[inline(always)]
fn ln_exact(x: f64) -> (f64, f64) {
    let (m, e) = mantissa(x);
    // z = (m - 1) / (m + 1) in two parts.
    let n = m - 1.0;
    let d = m + 1.0;
    let d_low = m - (d - 1.0);
    let y = rcp64(d);
    let z = n * y;
    let z_low = fma64(-d_low, z, fma64(-d, z, n)) * y;
    let (s, s_low) = product64(z, z);
    let s_low = fma64(z + z, z_low, s_low);
    // 2/3 + s P(s) in two parts, times z^3 = z s.
    let (c, c_low) = sum64(TWO_THIRDS_F64[0], fma64(s, polynomial64!(s, POW_Z_F64), TWO_THIRDS_F64[1]));
    let (cube, cube_low) = product64(z, s);
    let cube_low = fma64(z, s_low, fma64(z_low, s, cube_low));
    let (tail, tail_low) = product64(cube, c);
    let tail_low = fma64(cube, c_low, fma64(cube_low, c, tail_low));
    let (high, low) = sum64(z + z, tail);
    let low = low + fma64(2.0, z_low, tail_low);
    // e ln 2
    let (main, main_low) = product64(e, LN2_DD[0]);
    let main_low = fma64(e, LN2_DD[1], main_low);
    let (sum, more) = sum64(main, high);
    (sum, more + (low + main_low))
}

/// x to the power of y.
#[inline(always)]
pub fn pow(x: f64, y: f64) -> f64 {
    let (log, log_low) = ln_exact(x.abs());
    let (p, p_low) = product64(log, y);
    let p_low = fma64(log_low, y, p_low);
    let shifted = fma64(p, LOG2E_F64[0], ROUND);
    let n = shifted - ROUND;
    let (r, r_low) = sum64(fma64(-n, LN2_DD[0], p), fma64(-n, LN2_DD[1], p_low));
    let w = fma64(r * r, polynomial64!(r, EXP_F64), fma64(r, r_low, r_low));
    let value = 1.0 + (r + w);
    let k = shifted.to_bits() as i32;
    // Beyond, p may be infinite, and the value NaN.
    let result = if smaller64(p, 708.0) {
        shift(value, k)
    } else if p > 710.0 {
        INFINITY
    } else if p < -746.0 {
        0.0
    } else {
        scale(value, k)
    };
    // x positive and finite, y finite and not huge: the common case. It is right for x = 1 and y = 0.
    if positive(x) && smaller64(y, 1e300) {
        return result;
    }
    pow_special(x, y, result)
}

/// `EXP_F64` for twice the argument, which is exact: e^2r = 1 + 2 r + r^2 P(r).
const EXP_TWICE: [f64; 10] = {
    let (mut c, mut i, mut factor) = (EXP_F64, 0, 4.0);
    while i < 10 {
        c[i] *= factor;
        factor *= 2.0;
        i += 1;
    }
    c
};

/// The hyperbolic tangent.
#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    if smaller64(x, 0.625) {
        let s = x * x;
        return f64::copysign(fma64(x * s, polynomial64!(s, TANH_F64), x), x);
    }
    // From 19.1 on it is 1.
    if !smaller64(x, 20.0) {
        return if x.is_nan() { x } else { f64::copysign(1.0, x) };
    }
    // 1 - 2 / (e^(2a) + 1), with e^(2a) = (1 + v) 2^k
    let a = x.abs();
    let shifted = fma64(a, 2.0 * LOG2E_F64[0], ROUND);
    let n = shifted - ROUND;
    let r = fma64(-n, 0.5 * LN2_DD[1], fma64(-n, 0.5 * LN2_DD[0], a));
    let v = r * fma64(polynomial64!(r, EXP_TWICE), r, 2.0);
    let power = power64(shifted.to_bits() as i32);
    // e^(2a) + 1 in two parts.
    let base = power + 1.0;
    let d = fma64(v, power, base);
    let d_low = fma64(v, power, base - d);
    let y = rcp64_seed(d);
    let error = fma64(-d_low, y, fma64(-d, y, 1.0));
    f64::copysign(fma64(-2.0, fma64(y, fma64(error, error, error), y), 1.0), x)
}

/// e^a / 2 plus or minus its counterpart 1 / (2 e^a), for a >= 0.
#[inline(always)]
fn hyperbolic(a: f64, sign: f64) -> f64 {
    let a = if a > 720.0 { 720.0 } else { a };
    let (r, w, k) = exp_parts(a);
    let v = r + w;
    let v_low = w - (v - r);
    let (high, low) = sum64(1.0, v);
    let low = low + v_low;
    if a < 700.0 {
        let scale = power64(k - 1);
        let inverse = rcp64(high) * (sign * power64(-k - 1));
        fma64(high, scale, fma64(low, scale, inverse))
    } else {
        // In two steps: 2^k may be out of range where half of it is not.
        (high + low) * power64((k >> 1) - 1) * power64(k - (k >> 1))
    }
}

/// The hyperbolic sine.
#[inline(always)]
pub fn sinh(x: f64) -> f64 {
    let a = x.abs();
    let result = if a < 1.0 {
        let s = x * x;
        fma64(x * s, polynomial64!(s, SINH_F64), x)
    } else {
        hyperbolic(a, -1.0)
    };
    if x.is_nan() { x } else { f64::copysign(result, x) }
}

/// The hyperbolic cosine.
#[inline(always)]
pub fn cosh(x: f64) -> f64 {
    let result = hyperbolic(x.abs(), 1.0);
    if x.is_nan() { x } else { result }
}

/// The error function, 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x.
#[inline(always)]
pub fn erf(x: f64) -> f64 {
    let a = x.abs();
    // NaN is not large.
    let result = if a >= 0.875 {
        // The last step of the polynomial with what rounding takes from it.
        let limited = a.min(6.0);
        let q = polynomial64!(limited, ERFC_F64 from 1);
        let p = fma64(q, limited, ERFC_F64[0]);
        let lost = fma64(q, limited, -p) + ERFC_F64[0];
        let (r, w, k) = exp_parts(p);
        let power = power64(k);
        fma64(-power, r + (w + lost), 1.0 - power)
    } else {
        fma64(x, polynomial64!(x * x, ERF_F64), x)
    };
    f64::copysign(result, x)
}

/// The cube root.
#[inline(always)]
pub fn cbrt(x: f64) -> f64 {
    let a = x.abs();
    if !(a > 0.0 && a < INFINITY) {
        return x;
    }
    let (m, e) = split(a);
    // 2^e = 2^(3 third) * 2^rest
    let third = ((e + 1077) * 21_846) >> 16;
    let rest = e + 1077 - 3 * third;
    let m = m * power64(rest);
    // m^(-2/3) to 20 bits, and from it the root.
    let single = m as f32;
    let y = f64::from(single * cbrt_seed(single));
    // Halley: y - y (y^3 - m) / (2 y^3 + m); y has few bits, so that its square is exact.
    let square = y * y;
    let residual = fma64(square, y, -m);
    let step = residual * rcp64(fma64(square + square, y, m));
    let y = fma64(-y, step, y);
    f64::copysign(y * power64(third - 359), x)
}

/// The square root of x + low, x a normal number or 0, nearly rounded to nearest, and what the rounding lost.
#[inline(always)]
fn root(x: f64, low: f64) -> (f64, f64) {
    // The summand only counts at 0, where it keeps r finite. Of negative numbers r is NaN.
    let r = rsqrt64_seed(x + 1e-300);
    // From 20 bits to 40, and from there in the root itself.
    let e = fma64(-x * r, r, 1.0);
    let r = fma64(r * e, fma64(e, 0.375, 0.5), r);
    let y = x * r;
    (y, (fma64(-y, y, x) + low) * (0.5 * r))
}
