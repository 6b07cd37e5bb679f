//! Reduction of an angle to |r| <= pi/4 and a quadrant: by Cody and Waite with fused multiplications for moderate angles, by
//! Payne and Hanek for large ones. Both give the remainder in two parts.

use super::coefficients::*;
use super::primitive::*;

/// An angle as `quadrant` * pi/2 + (`r` - `over`), |`r`| <= pi/4 and a little more. Only the two low bits of `quadrant` count.
#[derive(Clone, Copy)]
pub struct Reduced<T> {
    pub quadrant: i32,
    pub r: T,
    /// Small beside `r`, unless `r` is tiny. +0 where the angle is 0 or -0, so that `r - over` is the same.
    pub over: T,
}

/// 1.5 * 2^23: added to a number below 2^22, it leaves the nearest integer in the low bits.
const ROUND32: f32 = 12_582_912.0;
/// 1.5 * 2^52, likewise.
pub const ROUND64: f64 = 6_755_399_441_055_744.0;

/// Up to here the multiples of pi/2 are exact enough: 12 bits, 26 bits.
const MODERATE32: f32 = 6_432.0;
const MEDIUM32: f32 = 100_000.0;
const MODERATE64: f64 = 1.0e8;

#[inline(always)]
pub fn reduce32(x: f32) -> Reduced<f32> {
    if !(x.abs() <= MODERATE32) {
        return if x.abs() <= MEDIUM32 { reduce32_medium(x) } else { reduce32_large(x) };
    }
    let shifted = fma32(x, TWO_OVER_PI_F32, ROUND32);
    let n = shifted - ROUND32;
    // Exact: the result has no bit below the last one of x and of the constant, and is less than 1.
    let r1 = fma32(-n, REDUCE_F32[0], x);
    // The product with the second part is exact. So the difference r1 - r is, and what rounding took away is known.
    let r = fma32(-n, REDUCE_F32[1], r1);
    let over = fma32(n, REDUCE_F32[2], fma32(n, REDUCE_F32[1], r - r1));
    Reduced { quadrant: shifted.to_bits() as i32, r, over }
}

/// Like the main path, for up to 17 bits of n: it is split into 5 and 12, and a fourth part of pi/2 follows.
#[inline(always)]
fn reduce32_medium(x: f32) -> Reduced<f32> {
    let shifted = fma32(x, TWO_OVER_PI_F32, ROUND32);
    let n = shifted - ROUND32;
    // 1.5 * 2^35: leaves the multiples of 4096.
    let high = (n + 51_539_607_552.0) - 51_539_607_552.0;
    let rest = n - high;
    // Both are exact.
    let r1 = fma32(-high, REDUCE_F32[1], fma32(-n, REDUCE_F32[0], x));
    let r = fma32(-rest, REDUCE_F32[1], r1);
    let over = fma32(n, REDUCE_F32[2], fma32(rest, REDUCE_F32[1], r - r1));
    Reduced { quadrant: shifted.to_bits() as i32, r, over: fma32(n, REDUCE_F32[3], over) }
}

/// The product of the number's 24 bits with 96 bits of 2/pi: those before count whole turns, those behind are too small.
#[inline(always)]
fn reduce32_large(x: f32) -> Reduced<f32> {
    let bits = x.to_bits();
    let exponent = (bits >> 23) & 0xff;
    let mantissa = u64::from((bits & 0x7f_ffff) | 0x80_0000);
    // |x| = mantissa * 2^(exponent - 150). A quarter of x * 2/pi is a fraction of a turn, so the bits of 2/pi count from number
    // exponent - 152 on. Below, a word of zeros stands before them: 64 more. Here exponent >= 139.
    let skip = exponent.wrapping_sub(152 - 64);
    let [t0, t1, t2, t3] =
        [TWO_OVER_PI_BITS[0], TWO_OVER_PI_BITS[1], TWO_OVER_PI_BITS[2], TWO_OVER_PI_BITS[3]];
    let (a, b, c) = match skip >> 6 {
        0 => (0, t0, t1),
        1 => (t0, t1, t2),
        _ => (t1, t2, t3),
    };
    let shift = skip & 63;
    let high = (a << shift) | ((b >> 1) >> (63 - shift));
    let low = ((b << shift) | ((c >> 1) >> (63 - shift))) >> 32;
    // The fraction of a turn, in units of 2^-64.
    let turn = mantissa.wrapping_mul(high).wrapping_add((mantissa * low) >> 32);
    let quadrant = (turn.wrapping_add(1 << 61) >> 62) as i32;
    let fraction = (turn << 2) as i64;
    let angle = fraction as f64 * (core::f64::consts::FRAC_PI_2 / 18_446_744_073_709_551_616.0);
    let r = angle as f32;
    let over = (f64::from(r) - angle) as f32;
    let negative = (bits as i32) < 0;
    if exponent == 255 {
        return Reduced { quadrant: 0, r: f32::NAN, over: 0.0 };
    }
    Reduced {
        quadrant: if negative { -quadrant } else { quadrant },
        r: if negative { -r } else { r },
        over: if negative { -over } else { over },
    }
}

#[inline(always)]
pub fn reduce64(x: f64) -> Reduced<f64> {
    if !smaller64(x, MODERATE64) {
        return reduce64_large(x);
    }
    let shifted = fma64(x, stored!(TWO_OVER_PI_F64), ROUND64);
    let n = shifted - ROUND64;
    let r1 = fma64(-n, stored!(REDUCE_F64[0]), x);
    let second = stored!(REDUCE_F64[1]);
    let r = fma64(-n, second, r1);
    let over = fma64(n, stored!(REDUCE_F64[2]), fma64(n, second, r - r1));
    Reduced { quadrant: shifted.to_bits() as i32, r, over }
}

/// The product of the number's 53 bits with 192 bits of 2/pi.
#[inline(always)]
fn reduce64_large(x: f64) -> Reduced<f64> {
    let bits = x.to_bits();
    let exponent = (bits >> 52) as u32 & 0x7ff;
    let mantissa = (bits & 0x000f_ffff_ffff_ffff) | 0x0010_0000_0000_0000;
    if exponent == 0x7ff {
        return Reduced { quadrant: 0, r: f64::NAN, over: 0.0 };
    }
    // |x| = mantissa * 2^(exponent - 1075), exponent >= 1049.
    let skip = exponent.wrapping_sub(1077 - 64);
    let word = (skip >> 6) as usize;
    let shift = skip & 63;
    // Word 0 is the zeros before the table's first.
    let [a, b, c, d] = [table(word), table(word + 1), table(word + 2), table(word + 3)];
    let join = |x: u64, y: u64| (x << shift) | ((y >> 1) >> (63 - shift));
    let (w0, w1, w2) = (join(a, b), join(b, c), join(c, d));
    // The fraction of a turn, in units of 2^-128.
    let m = u128::from(mantissa);
    let turn = (u128::from(mantissa.wrapping_mul(w0)) << 64)
        .wrapping_add(m * u128::from(w1))
        .wrapping_add((m * u128::from(w2)) >> 64);
    let quadrant = (turn.wrapping_add(1 << 125) >> 126) as i32;
    let fraction = (turn << 2) as i128;
    let size = fraction.unsigned_abs();
    // The angle is at least 2^-62 in size, so the high word and those bits of the low one that count are not both 0.
    let zeros = size.leading_zeros().min(127);
    let top = size << zeros;
    let high = ((top >> 75) as u64) as f64;
    let rest = ((top >> 22) as u64 & 0x001f_ffff_ffff_ffff) as f64;
    // top = (high + rest * 2^-53) * 2^75 = fraction * 2^zeros, and the fraction is in units of 2^-128.
    let scale = power64(-53 - zeros as i32);
    let high = high * scale;
    let rest = rest * scale * power64(-53);
    let (r, error) = product64(high, PIO2_F64[0]);
    let low = fma64(rest, PIO2_F64[0], fma64(high, PIO2_F64[1], error));
    let (r, low) = sum64(r, low);
    let over = -low;
    let negative = ((bits >> 63) != 0) != (fraction < 0);
    Reduced {
        quadrant: if (bits >> 63) != 0 { -quadrant } else { quadrant },
        r: if negative { -r } else { r },
        over: if negative { -over } else { over },
    }
}

/// 64 bits of 2/pi, from bit (word - 1) * 64 on.
#[inline(always)]
fn table(word: usize) -> u64 {
    match word.wrapping_sub(1) {
        at @ 0..20 => TWO_OVER_PI_BITS[at],
        _ => 0,
    }
}
