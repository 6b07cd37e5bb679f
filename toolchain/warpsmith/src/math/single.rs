//! Functions of `f32`, each within an ulp of the exact value.

use super::coefficients::*;
use super::primitive::*;
use super::reduce::{Reduced, reduce32};

const INFINITY: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;
/// 1.5 * 2^23: added to a number below 2^22, it leaves the nearest integer in the low bits.
const ROUND: f32 = 12_582_912.0;

/// a * b + c, rounded once.
#[inline(always)]
pub fn fma(a: f32, b: f32, c: f32) -> f32 {
    fma32(a, b, c)
}

/// The square root, correctly rounded.
#[inline(always)]
pub fn sqrt(x: f32) -> f32 {
    sqrt32(x)
}

/// The largest integer that is not larger.
#[inline(always)]
pub fn floor(x: f32) -> f32 {
    floor32(x)
}

/// The smallest integer that is not smaller.
#[inline(always)]
pub fn ceil(x: f32) -> f32 {
    ceil32(x)
}

/// The integer part.
#[inline(always)]
pub fn trunc(x: f32) -> f32 {
    trunc32(x)
}

/// The nearest integer, halves away from 0.
#[inline(always)]
pub fn round(x: f32) -> f32 {
    // The largest number below a half: a half itself would round 0.49999997 up.
    trunc32(x + f32::copysign(0.499_999_97, x))
}

/// The nearest integer, halves to the even one.
#[inline(always)]
pub fn round_ties_even(x: f32) -> f32 {
    rint32(x)
}

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
    let (root, low) = root(square);
    let result = (root + low) * back;
    if x == INFINITY || y == INFINITY {
        INFINITY
    } else if x.is_nan() || y.is_nan() {
        NAN
    } else {
        result
    }
}

/// The remainder of x / y with the sign of x, exact.
#[inline(always)]
pub fn fmod(x: f32, y: f32) -> f32 {
    let (a, b) = (x.abs(), y.abs());
    // NaN: x infinite, y 0, or one of them NaN.
    if !(a < INFINITY) || !(b > 0.0) {
        return NAN;
    }
    if a < b {
        return x;
    }
    let result = if a < b * 1_048_576.0 && b > 1e-30 && b < 1e30 {
        remainder(a, b, rcp32_seed(b) * ABOVE)
    } else {
        fmod_long(a, b)
    };
    f32::copysign(result, x)
}

/// 1 + 2^-22: makes a reciprocal one that is not too small.
const ABOVE: f32 = 1.000_000_2;

/// a mod b for a < 2^20 b, given 1 / b from above: the quotient is at most 1 too large.
#[inline(always)]
fn remainder(a: f32, b: f32, reciprocal: f32) -> f32 {
    let quotient = trunc32(a * reciprocal);
    let r = fma32(-quotient, b, a);
    if r < 0.0 { r + b } else { r }
}

/// 19 bits of the quotient at a time, on the mantissas.
#[inline(always)]
fn fmod_long(a: f32, b: f32) -> f32 {
    let ((mut r, e), (m, f)) = (split(a), split(b));
    let reciprocal = rcp32_seed(m) * ABOVE;
    let mut bits = e - f;
    r = if r < m { r } else { r - m };
    while bits > 0 {
        let step = if bits < 19 { bits } else { 19 };
        r = remainder(r * power32(step), m, reciprocal);
        bits -= step;
    }
    // r has no bits below the last one of b, so that both products are exact.
    if f < -126 { r * power32(-126) * power32(f + 126) } else { r * power32(f) }
}

/// x > 0 as m * 2^e with 1 <= m < 2.
#[inline(always)]
fn split(x: f32) -> (f32, i32) {
    let small = x < f32::MIN_POSITIVE;
    let bits = if small { x * 16_777_216.0 } else { x }.to_bits();
    (f32::from_bits((bits & 0x7f_ffff) | 0x3f80_0000), (bits >> 23) as i32 - if small { 151 } else { 127 })
}

/// Sine and cosine of a reduced angle, without the turn by its quadrant. Both are computed where one is wanted: to choose between
/// coefficients takes longer.
#[inline(always)]
fn waves(r: f32, over: f32) -> (f32, f32) {
    // z = (r - over)^2 / 2
    let z = fma32(0.5 * r, r, -(r * over));
    // The tail is subtracted, so that a zero keeps its sign.
    (r - fma32(r * z, polynomial32(z, &SIN_F32), over), fma32(z, polynomial32(z, &COS_F32), 1.0))
}

/// Changes the sign in the quadrants 2 and 3.
#[inline(always)]
fn turn(value: f32, quadrant: i32) -> f32 {
    f32::from_bits(value.to_bits() ^ (((quadrant as u32) << 30) & 0x8000_0000))
}

/// The sine of an angle in radians.
#[inline(always)]
pub fn sin(x: f32) -> f32 {
    sincos(x).0
}

/// The cosine of an angle in radians.
#[inline(always)]
pub fn cos(x: f32) -> f32 {
    sincos(x).1
}

/// Sine and cosine of an angle in radians.
#[inline(always)]
pub fn sincos(x: f32) -> (f32, f32) {
    let Reduced { quadrant, r, over } = reduce32(x);
    let (sine, cosine) = waves(r, over);
    let (a, b) = if quadrant & 1 != 0 { (cosine, sine) } else { (sine, cosine) };
    (turn(a, quadrant), turn(b, quadrant.wrapping_add(1)))
}

/// The tangent of an angle in radians.
#[inline(always)]
pub fn tan(x: f32) -> f32 {
    let Reduced { quadrant, r, over } = reduce32(x);
    let s = r * r;
    // The first coefficient by itself, so that no sum is rounded that counts; and what rounding took from s, which counts
    // where s is large. There the derivative by s is about 0.55 r.
    let [first, rest @ ..] = TAN_F32;
    let cube = r * s;
    let lost = fma32(fma32(r, r, -s), 0.55 * r, -over);
    let v = fma32(cube, first, fma32(cube, s * polynomial32(s, &rest), lost));
    // tan(r - over) = tan r - over (1 + tan^2 r)
    let (t, rest) = sum32(r, v);
    let rest = fma32(-over, t * t, rest);
    if quadrant & 1 == 0 {
        f32::copysign(t + rest, r)
    } else {
        // -1 / (t + rest). No f32 is a multiple of pi/2 but 0, and that has quadrant 0.
        let y = rcp32_seed(t);
        let e = fma32(-rest, y, fma32(-t, y, 1.0));
        -fma32(y, e, y)
    }
}

/// 2^f for |f| <= 1/2.
#[inline(always)]
fn exp2_fraction(f: f32) -> f32 {
    fma32(polynomial32(f, &EXP2_F32), f, 1.0)
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
    fma32(fma32(polynomial32(r, &EXP_F32), r, 1.0), r, 1.0)
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
    let q = fma32(polynomial32(f, &LN_F32), f, -0.5);
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
    let rest = fma32(f * f, polynomial32(f, &LOG2_F32), fma32(f, LOG2E_F32[1], lost));
    logarithm_special(x, sum + rest)
}

/// The decimal logarithm.
#[inline(always)]
pub fn log10(x: f32) -> f32 {
    let (e, f) = mantissa(x);
    let whole = e * LOG10_2_F32[0];
    let sum = fma32(f, LOG10E_F32[0], whole);
    let lost = fma32(e, LOG10_2_F32[1], fma32(f, LOG10E_F32[0], whole - sum));
    let rest = fma32(f * f, polynomial32(f, &LOG10_F32), fma32(f, LOG10E_F32[1], lost));
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
        sum32(TWO_THIRDS_LOG2E_F32[0], fma32(s, polynomial32(s, &POW_Z_F32), TWO_THIRDS_LOG2E_F32[1]));
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

#[inline(always)]
fn pow_special(x: f32, y: f32, result: f32) -> f32 {
    let a = x.abs();
    // From 2^24 on all are even.
    let integer = trunc32(y) == y;
    let odd = integer && trunc32(y * 0.5) != y * 0.5;
    if x == 1.0 || y == 0.0 {
        return 1.0;
    }
    if x.is_nan() || y.is_nan() {
        return NAN;
    }
    let size = if y.abs() == INFINITY {
        if a == 1.0 {
            return 1.0;
        }
        return if (a > 1.0) == (y > 0.0) { INFINITY } else { 0.0 };
    } else if a == 0.0 {
        if y > 0.0 { 0.0 } else { INFINITY }
    } else if a == INFINITY {
        if y > 0.0 { INFINITY } else { 0.0 }
    } else if x < 0.0 && !integer {
        return NAN;
    } else if a == 1.0 {
        1.0
    } else {
        result
    };
    if odd { f32::copysign(size, x) } else { size }
}

/// The hyperbolic tangent.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let a = x.abs();
    let s = x * x;
    let small = fma32(x * s, polynomial32(s, &TANH_F32), x);
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
    let w = fma32(r * r, polynomial32(r, &EXP_F32), lost);
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
    let result = if a >= 1.0 { hyperbolic(a, -1.0) } else { fma32(x * s, polynomial32(s, &SINH_F32), x) };
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
    let small = fma32(x, polynomial32(x * x, &ERF_F32), x);
    // The last step of the polynomial with what rounding takes from it.
    let limited = a.min(4.0);
    let [first, rest @ ..] = ERFC_F32;
    let q = polynomial32(limited, &rest);
    let p = fma32(q, limited, first);
    let large = 1.0 - exp2_moderate(p, fma32(q, limited, -p) + first);
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

/// An angle plus or minus (`sign`) atan(x + lost), 0 <= x <= 1. The angle is 0 or larger than 1, in two parts.
#[inline(always)]
fn atan_from(angle: f32, angle_low: f32, sign: f32, x: f32, lost: f32) -> f32 {
    let s = x * x;
    // The derivative, 1 / (1 + s), to a few bits.
    let lost = lost * fma32(-0.5, s, 1.0);
    // The first coefficient by itself, so that no sum is rounded that counts.
    let [first, rest @ ..] = ATAN_F32;
    let cube = x * s;
    // What rounding took from the cube, times the mean slope.
    let lost = fma32(fma32(x, s, -cube), -0.25, lost);
    let tail = fma32(cube, first, fma32(cube, s * polynomial32(s, &rest), lost));
    let sum = fma32(sign, x, angle);
    sum + (fma32(sign, x, angle - sum) + fma32(sign, tail, angle_low))
}

/// The arc tangent.
#[inline(always)]
pub fn atan(x: f32) -> f32 {
    let a = x.abs();
    let outside = a > 1.0;
    // Beyond the limit pi/2 is right. (`min` makes NaN a number, which is not used then.)
    let limited = a.min(1e30);
    let y = rcp32_seed(limited);
    let lost = fma32(-limited, y, 1.0) * y;
    let (angle, low, sign, t, lost) =
        if outside { (PIO2_F32[0], PIO2_F32[1], -1.0, y, lost) } else { (0.0, 0.0, 1.0, a, 0.0) };
    f32::copysign(atan_from(angle, low, sign, t, lost), x)
}

/// The quotient less / large <= 1 in two parts.
#[inline(always)]
fn ratio(less: f32, large: f32) -> (f32, f32) {
    // 0/0 counts as 0, infinity/infinity as 1.
    if large == less {
        return (if large == 0.0 { 0.0 } else { 1.0 }, 0.0);
    }
    if less == 0.0 || large == INFINITY {
        return (0.0, 0.0);
    }
    // Away from the limits of the range as they are, else by mantissas.
    let moderate = large < 1.0e15 && less > 1.0 / 1.0e15;
    let (n, d, k) = if moderate {
        (less, large, 0)
    } else {
        let ((n, e), (d, f)) = (split(less), split(large));
        (n, d, e - f)
    };
    let y = rcp32_seed(d);
    let q = n * y;
    let (q, lost) = sum32(q, fma32(-d, q, n) * y);
    if moderate {
        return (q, lost);
    }
    let k = if k < -160 { -160 } else { k };
    let (one, two) = (power32(k >> 1), power32(k - (k >> 1)));
    (q * one * two, lost * one * two)
}

/// The angle of the point (x, y), from -pi to pi.
#[inline(always)]
pub fn atan2(y: f32, x: f32) -> f32 {
    if x.is_nan() || y.is_nan() {
        return NAN;
    }
    let (ax, ay) = (x.abs(), y.abs());
    let turned = ay > ax;
    let (large, less) = if turned { (ay, ax) } else { (ax, ay) };
    let (ratio, lost) = ratio(less, large);
    // The angle from the nearer axis to that of the quadrant.
    let left = x.is_sign_negative();
    let (base, base_low) = if turned {
        (PIO2_F32[0], PIO2_F32[1])
    } else if left {
        (PI_F32[0], PI_F32[1])
    } else {
        (0.0, 0.0)
    };
    let sign = if turned != left { -1.0 } else { 1.0 };
    f32::copysign(atan_from(base, base_low, sign, ratio, lost), y)
}

/// For asin and acos: the arc sine of t in two parts, without those parts' main term.
#[inline(always)]
fn asin_tail(t: f32, s: f32) -> f32 {
    t * s * polynomial32(s, &ASIN_F32)
}

/// The square root of a normal number or 0, and what its rounding lost.
#[inline(always)]
fn root(x: f32) -> (f32, f32) {
    let r = if x > 0.0 { rsqrt32_seed(x) } else { 0.0 };
    let y = x * r;
    (y, fma32(-y, y, x) * (0.5 * r))
}

/// The arc sine.
#[inline(always)]
pub fn asin(x: f32) -> f32 {
    let a = x.abs();
    let near = a <= 0.5;
    // asin a = pi/2 - 2 asin sqrt((1 - a) / 2)
    let s = if near { a * a } else { fma32(-0.5, a, 0.5) };
    let (y, low) = root(s);
    let t = if near { a } else { y };
    let tail = asin_tail(t, s);
    let (sum, more) = sum32(PIO2_F32[0], -2.0 * t);
    let far = sum + (more + fma32(-2.0, tail + low, PIO2_F32[1]));
    let result = f32::copysign(if near { t + tail } else { far }, x);
    if a <= 1.0 { result } else { NAN }
}

/// The arc cosine.
#[inline(always)]
pub fn acos(x: f32) -> f32 {
    let a = x.abs();
    let near = a <= 0.5;
    let s = if near { a * a } else { fma32(-0.5, a, 0.5) };
    let (y, low) = root(s);
    let t = if near { x } else { y };
    let tail = asin_tail(t, s);
    // pi/2 - asin x; or 2 asin sqrt((1 - a) / 2), for negative numbers that from pi.
    let (base, base_low, factor) = if near {
        (PIO2_F32[0], PIO2_F32[1], -1.0)
    } else if x > 0.0 {
        (0.0, 0.0, 2.0)
    } else {
        (PI_F32[0], PI_F32[1], -2.0)
    };
    let low = if near { 0.0 } else { low };
    let (sum, more) = sum32(base, factor * t);
    let result = sum + (more + fma32(factor, tail + low, base_low));
    if a <= 1.0 { result } else { NAN }
}
