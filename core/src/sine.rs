//! Real numbers of either precision, and their sine: the same bits on every machine, for arguments of any size.
//!
//! The sine of a large argument is the sine of what is left after whole turns, and what is left depends on bits of 1/(2π) far after
//! the binary point. M. H. Payne, R. N. Hanek: Radian reduction for trigonometric functions, SIGNUM Newsletter 18(1), 1983: of x /
//! (2π) with x = m 2^e only the fraction matters, so of 2^e / (2π) only the bits after the point, as many as m has and some more.
//! Here everything is in integers: the product of m and that window wraps around at whole turns, and its upper half is the phase.
//!
//! The error is absolute: near a multiple of π other than 0, where the sine is small, few of its digits are right. No fused
//! multiply-add is used, because not every machine gives its bits.

use core::fmt::Debug;
use core::ops::{Add, Div, Mul, Neg, Sub};

use crate::math;

/// The real numbers of continuous problems' solutions.
pub trait Real:
    Copy
    + Debug
    + PartialOrd
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;

    /// Returns the nearest number to `x`.
    fn from_f64(x: f64) -> Self;

    /// Returns the number in double precision, exactly.
    fn to_f64(self) -> f64;

    /// Returns the sine of an angle in radians: odd, from -1 to 1, with an absolute error below 2e-7 in single and 4e-16 in double
    /// precision. For infinities and NaN it is any number.
    fn sine(self) -> Self;

    /// Returns the square root, correctly rounded.
    fn sqrt(self) -> Self;

    /// Returns an integer in the order of the numbers: `a < b` if and only if `a.key() < b.key()`, and both zeros have the same.
    fn key(self) -> u64;

    /// Returns the number's bits, with zeros above.
    fn to_bits64(self) -> u64;

    /// Returns the number with these bits.
    fn from_bits64(bits: u64) -> Self;
}

/// The first 1152 bits of 1/(2π) after the binary point.
static TURNS: [u64; 18] = [
    0x28be_60db_9391_054a,
    0x7f09_d5f4_7d4d_3770,
    0x36d8_a566_4f10_e410,
    0x7f94_58ea_f7ae_f158,
    0x6dc9_1b8e_9093_74b8,
    0x0192_4bba_8274_6487,
    0x3f87_7ac7_2c4a_69cf,
    0xba20_8d7d_4bae_d121,
    0x3a67_1c09_ad17_df90,
    0x4e64_758e_60d4_ce7d,
    0x2721_17e2_ef7e_4a0e,
    0xc7fe_25ff_f781_6603,
    0xfbcb_c462_d682_9b47,
    0xdb4d_9fb3_c9f2_c26d,
    0xd3d1_8fd9_a797_fa8b,
    0x5d49_eeb1_faf9_7c5e,
    0xcf41_ce7d_e294_a4ba,
    0x9afe_d7ec_47e3_5742,
];

/// The first words of [`TURNS`]: the first two are enough for moderate arguments in double precision, all three for every argument
/// in single precision.
const FIRST: u64 = 0x28be_60db_9391_054a;
const SECOND: u64 = 0x7f09_d5f4_7d4d_3770;
const THIRD: u64 = 0x36d8_a566_4f10_e410;

/// Returns 64 bits: those of `high` without its first `shift` (below 64) bits, then bits of `low`.
#[inline(always)]
const fn funnel(high: u64, low: u64, shift: u32) -> u64 {
    // Shifts twice: shifting a 64-bit value by 64 is undefined.
    high << (shift & 63) | low >> 1 >> (!shift & 63)
}

/// Returns the fraction of `mantissa` 2^`exponent` / (2π), in units of 2^-32, for a mantissa below 2^24 and an exponent up to 105;
/// rounded down, from a window whose end makes it at most 2^-40 too small. It has no loads or branches, so that several sines can
/// be computed at the same time.
#[inline(always)]
fn phase_single(mantissa: u32, exponent: i32) -> u32 {
    // The window starts one word before the point; farther before it all bits are 0.
    let start = (exponent + 64).max(0) as u32;
    let (is_before, is_first) = (start < 64, start < 128);
    let high = select(is_before, 0, select(is_first, FIRST, SECOND));
    let low = select(is_before, FIRST, select(is_first, SECOND, THIRD));
    (funnel(high, low, start & 63).wrapping_mul(mantissa as u64) >> 32) as u32
}

#[inline(always)]
fn select(which: bool, a: u64, b: u64) -> u64 {
    core::hint::select_unpredictable(which, a, b)
}

/// Returns the fraction of `mantissa` 2^`exponent` / (2π), in units of 2^-64, for a mantissa below 2^53 and an exponent up to 972;
/// rounded down, from a window whose end makes it at most 2^-75 too small.
#[inline(always)]
fn phase_double(mantissa: u64, exponent: i32) -> u64 {
    let (high, low) = if exponent <= 0 {
        let shift = exponent.wrapping_neg();
        let window = ((FIRST as u128) << 64 | SECOND as u128) >> if shift < 127 { shift } else { 127 };
        ((window >> 64) as u64, window as u64)
    } else {
        let word = (exponent >> 6) as usize & 15;
        // SAFETY: 17 at most.
        let [a, b, c] = unsafe {
            [*TURNS.get_unchecked(word), *TURNS.get_unchecked(word + 1), *TURNS.get_unchecked(word + 2)]
        };
        let shift = exponent as u32 & 63;
        (funnel(a, b, shift), funnel(b, c, shift))
    };
    let carry = ((low as u128 * mantissa as u128) >> 64) as u64;
    high.wrapping_mul(mantissa).wrapping_add(carry)
}

// In quarters, -1 <= t <= 1, sin(π/2 t) = t + t (1 - t^2) g(t^2): the second term, with all its rounding, is at most 0.22, and t =
// 1 gives 1. The polynomials g below minimise the largest error for their degree.

/// Returns the sine of `phase` / 2^32 turns, with an absolute error below 1.2e-7.
#[inline(always)]
pub fn unit_sine_of_turns(phase: u32) -> f32 {
    // Maps the second and third quarters to the first and fourth: the sine of half a turn minus the angle is the same.
    let beyond = (phase ^ phase << 1) >> 31 != 0;
    let folded = (if beyond { (1u32 << 31).wrapping_sub(phase) } else { phase }) as i32;
    let t = folded as f32 * (1.0 / 1_073_741_824.0);
    let t2 = t * t;
    // Off by 4e-9 without rounding.
    let (a, b) = (0.570_796_3 - 0.075_167_015 * t2, 0.004_521_21 - 0.000_150_626_85 * t2);
    t + t * (1.0 - t2) * (a + b * (t2 * t2))
}

/// Returns the sine of `phase` / 2^64 turns, with an absolute error below 3e-16.
#[inline(always)]
pub fn double_sine_of_turns(phase: u64) -> f64 {
    let beyond = (phase ^ phase << 1) >> 63 != 0;
    let folded = (if beyond { (1u64 << 63).wrapping_sub(phase) } else { phase }) as i64;
    let t = folded as f64 * (1.0 / 4_611_686_018_427_387_904.0);
    let t2 = t * t;
    let t4 = t2 * t2;
    // Off by 1e-16 without rounding. Estrin's scheme, for its short dependency chain.
    let a = 0.570_796_326_794_895 - 0.075_167_770_711_273_69 * t2;
    let b = 0.004_524_855_533_815_515 - 0.000_156_898_594_778_416_83 * t2;
    let c = 3.542_567_752_472_349_7e-6 - 5.623_367_263_821_263e-8 * t2;
    let g = (a + b * t4) + (c + 6.432_705_776_704_776e-10 * t4) * (t4 * t4);
    t + t * (1.0 - t2) * g
}

impl Real for f32 {
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;

    #[inline(always)]
    fn from_f64(x: f64) -> f32 {
        x as f32
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self as f64
    }

    #[inline(always)]
    fn sine(self) -> f32 {
        let bits = self.to_bits();
        let exponent = (bits >> 23 & 0xff) as i32;
        // Numbers without the leading bit are far too small to affect the phase, with or without it.
        let sine = unit_sine_of_turns(phase_single(bits & 0x7f_ffff | 0x80_0000, exponent - 150));
        f32::from_bits(sine.to_bits() ^ bits & 1 << 31)
    }

    #[inline(always)]
    fn sqrt(self) -> f32 {
        math::sqrt_single(self)
    }

    #[inline(always)]
    fn key(self) -> u64 {
        // Sign and magnitude, as an integer counted up or down from the middle; in the upper bits, for callers that drop the low
        // bits.
        let bits = self.to_bits();
        ((if bits >> 31 == 0 { bits | 1 << 31 } else { bits.wrapping_neg() }) as u64) << 32
    }

    #[inline(always)]
    fn to_bits64(self) -> u64 {
        self.to_bits() as u64
    }

    #[inline(always)]
    fn from_bits64(bits: u64) -> f32 {
        f32::from_bits(bits as u32)
    }
}

impl Real for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;

    #[inline(always)]
    fn from_f64(x: f64) -> f64 {
        x
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn sine(self) -> f64 {
        let bits = self.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as i32;
        let mantissa = bits & 0xf_ffff_ffff_ffff | 1 << 52;
        let sine = double_sine_of_turns(phase_double(mantissa, exponent - 1075));
        f64::from_bits(sine.to_bits() ^ bits & 1 << 63)
    }

    #[inline(always)]
    fn sqrt(self) -> f64 {
        math::sqrt(self)
    }

    #[inline(always)]
    fn key(self) -> u64 {
        let bits = self.to_bits();
        if bits >> 63 == 0 { bits | 1 << 63 } else { bits.wrapping_neg() }
    }

    #[inline(always)]
    fn to_bits64(self) -> u64 {
        self.to_bits()
    }

    #[inline(always)]
    fn from_bits64(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
}
