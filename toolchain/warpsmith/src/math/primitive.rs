//! The operations that everything else is made of. On a device each is one instruction; on a host the standard library does them, or
//! without it [`soft`](super::soft).
//!
//! The `*_seed` functions are approximations of the device's special function unit. Where a host has none, it computes the value
//! and cuts off what a device would not know, so that tests on the host see the corrections at work.

#[cfg(all(not(target_os = "cuda"), any(feature = "host", test)))]
extern crate std;

#[cfg(target_os = "cuda")]
mod device {
    unsafe extern "unadjusted" {
        #[link_name = "llvm.fma.f32"]
        pub safe fn fma32(a: f32, b: f32, c: f32) -> f32;
        #[link_name = "llvm.fma.f64"]
        pub safe fn fma64(a: f64, b: f64, c: f64) -> f64;
        #[link_name = "llvm.sqrt.f32"]
        pub safe fn sqrt32(x: f32) -> f32;
        #[link_name = "llvm.sqrt.f64"]
        pub safe fn sqrt64(x: f64) -> f64;
        #[link_name = "llvm.floor.f32"]
        pub safe fn floor32(x: f32) -> f32;
        #[link_name = "llvm.floor.f64"]
        pub safe fn floor64(x: f64) -> f64;
        #[link_name = "llvm.ceil.f32"]
        pub safe fn ceil32(x: f32) -> f32;
        #[link_name = "llvm.ceil.f64"]
        pub safe fn ceil64(x: f64) -> f64;
        #[link_name = "llvm.trunc.f32"]
        pub safe fn trunc32(x: f32) -> f32;
        #[link_name = "llvm.trunc.f64"]
        pub safe fn trunc64(x: f64) -> f64;
        #[link_name = "llvm.roundeven.f32"]
        pub safe fn rint32(x: f32) -> f32;
        #[link_name = "llvm.roundeven.f64"]
        pub safe fn rint64(x: f64) -> f64;
        #[link_name = "llvm.nvvm.rcp.approx.ftz.f"]
        pub safe fn rcp32_seed(x: f32) -> f32;
        #[link_name = "llvm.nvvm.rcp.approx.ftz.d"]
        pub safe fn rcp64_seed(x: f64) -> f64;
        #[link_name = "llvm.nvvm.rsqrt.approx.ftz.f"]
        pub safe fn rsqrt32_seed(x: f32) -> f32;
        #[link_name = "llvm.nvvm.rsqrt.approx.ftz.d"]
        pub safe fn rsqrt64_seed(x: f64) -> f64;
        #[link_name = "llvm.nvvm.ex2.approx.ftz.f"]
        pub safe fn exp2_seed(x: f32) -> f32;
        #[link_name = "llvm.nvvm.lg2.approx.ftz.f"]
        pub safe fn log2_seed(x: f32) -> f32;
        #[link_name = "llvm.nvvm.sin.approx.ftz.f"]
        pub safe fn sin_seed(x: f32) -> f32;
        #[link_name = "llvm.nvvm.cos.approx.ftz.f"]
        pub safe fn cos_seed(x: f32) -> f32;
    }

    /// a * b + c, limited to 0 ..= 1; NaN becomes 0.
    #[inline(always)]
    pub fn fma32_saturated(a: f32, b: f32, c: f32) -> f32 {
        let result: f32;
        // SAFETY: arithmetic on registers.
        unsafe {
            core::arch::asm!("fma.rn.sat.f32 {0}, {1}, {2}, {3};", out(reg32) result, in(reg32) a, in(reg32) b, in(reg32) c, options(pure, nomem, nostack, preserves_flags));
        }
        result
    }

    /// The hyperbolic tangent of the special function unit, from sm_75 on.
    #[inline(always)]
    pub fn tanh_seed(x: f32) -> f32 {
        let result: f32;
        // SAFETY: arithmetic on registers.
        unsafe {
            core::arch::asm!("tanh.approx.f32 {0}, {1};", out(reg32) result, in(reg32) x, options(pure, nomem, nostack, preserves_flags));
        }
        result
    }

    /// x^(-2/3) for x > 0, normal, to 16 bits; from 1 to 8 to 20 bits.
    #[inline(always)]
    pub fn cbrt_seed(x: f32) -> f32 {
        exp2_seed(log2_seed(x) * (-2.0 / 3.0))
    }
}

#[cfg(not(target_os = "cuda"))]
mod host {
    #[cfg(any(feature = "host", test))]
    mod base {
        #[inline(always)]
        pub fn fma32(a: f32, b: f32, c: f32) -> f32 {
            a.mul_add(b, c)
        }
        #[inline(always)]
        pub fn fma64(a: f64, b: f64, c: f64) -> f64 {
            a.mul_add(b, c)
        }
        #[inline(always)]
        pub fn sqrt32(x: f32) -> f32 {
            x.sqrt()
        }
        #[inline(always)]
        pub fn sqrt64(x: f64) -> f64 {
            x.sqrt()
        }
        #[inline(always)]
        pub fn floor32(x: f32) -> f32 {
            x.floor()
        }
        #[inline(always)]
        pub fn floor64(x: f64) -> f64 {
            x.floor()
        }
        #[inline(always)]
        pub fn ceil32(x: f32) -> f32 {
            x.ceil()
        }
        #[inline(always)]
        pub fn ceil64(x: f64) -> f64 {
            x.ceil()
        }
        #[inline(always)]
        pub fn trunc32(x: f32) -> f32 {
            x.trunc()
        }
        #[inline(always)]
        pub fn trunc64(x: f64) -> f64 {
            x.trunc()
        }
        #[inline(always)]
        pub fn rint32(x: f32) -> f32 {
            x.round_ties_even()
        }
        #[inline(always)]
        pub fn rint64(x: f64) -> f64 {
            x.round_ties_even()
        }
    }
    #[cfg(not(any(feature = "host", test)))]
    use super::super::soft as base;
    pub use base::*;

    /// a * b + c, limited to 0 ..= 1; NaN becomes 0.
    #[inline(always)]
    pub fn fma32_saturated(a: f32, b: f32, c: f32) -> f32 {
        let value = fma32(a, b, c);
        if value > 0.0 { value.min(1.0) } else { 0.0 }
    }

    #[inline(always)]
    pub fn rcp32_seed(x: f32) -> f32 {
        1.0 / x
    }

    /// As on a device: the low half of the result is empty.
    #[inline(always)]
    pub fn rcp64_seed(x: f64) -> f64 {
        cut(1.0 / x)
    }

    #[inline(always)]
    pub fn rsqrt32_seed(x: f32) -> f32 {
        1.0 / sqrt32(x)
    }

    #[inline(always)]
    pub fn rsqrt64_seed(x: f64) -> f64 {
        cut(1.0 / sqrt64(x))
    }

    #[inline(always)]
    fn cut(x: f64) -> f64 {
        f64::from_bits(x.to_bits() & 0xffff_ffff_0000_0000)
    }

    /// 2^x, flushed to 0 below the normal numbers.
    #[inline(always)]
    pub fn exp2_seed(x: f32) -> f32 {
        if x.is_nan() {
            return x;
        }
        let x = f64::from(x.clamp(-200.0, 200.0));
        let whole = rint64(x);
        // A sum of the exponential series to 2^-40.
        let r = (x - whole) * core::f64::consts::LN_2;
        let (mut sum, mut term, mut n) = (1.0, 1.0, 1.0);
        while n < 12.0 {
            term *= r / n;
            sum += term;
            n += 1.0;
        }
        let result = (sum * f64::from_bits(((1023 + whole as i64) as u64) << 52)) as f32;
        if result < f32::MIN_POSITIVE { 0.0 } else { result }
    }

    /// x^(-2/3) for x > 0, normal.
    #[inline(always)]
    pub fn cbrt_seed(x: f32) -> f32 {
        let mut y = f32::from_bits(x.to_bits() / 3 + 0x2a51_37a0);
        for _ in 0..3 {
            y = (y + y + x / (y * y)) / 3.0;
        }
        1.0 / (y * y)
    }
}

#[cfg(target_os = "cuda")]
pub use device::*;
#[cfg(not(target_os = "cuda"))]
pub use host::*;

/// 1 / x for x and 1 / x away from the limits of the range, to an ulp.
#[inline(always)]
pub fn rcp64(x: f64) -> f64 {
    let y = rcp64_seed(x);
    let e = fma64(-x, y, 1.0);
    fma64(fma64(e, e, e), y, y)
}

/// 2^k for -126 <= k <= 127.
#[inline(always)]
pub fn power32(k: i32) -> f32 {
    f32::from_bits(((k + 127) << 23) as u32)
}

/// 2^k for -1022 <= k <= 1023.
#[inline(always)]
pub fn power64(k: i32) -> f64 {
    f64::from_bits((((k + 1023) << 20) as u32 as u64) << 32)
}

/// Whether |x| < limit, for 0 < limit < 2^1017, by the high words alone; false for NaN. Read as `f32` they have the same order, and a device compares
/// these without their signs in one instruction.
#[inline(always)]
pub fn smaller64(x: f64, limit: f64) -> bool {
    let word = |x: f64| f32::from_bits((x.to_bits() >> 32) as u32);
    word(x).abs() < word(limit)
}

/// The polynomial of c without its first coefficients, lowest power first, at x.
#[inline(always)]
pub fn polynomial32_from<const N: usize>(first: usize, x: f32, c: &[f32; N]) -> f32 {
    let (mut i, mut p) = (N - 1, c[N - 1]);
    while i > first {
        i -= 1;
        p = fma32(p, x, c[i]);
    }
    p
}

/// The polynomial of an array of `f32`, lowest power first, at x; `from 1`: without the first coefficient.
macro_rules! polynomial32 {
    ($x:expr, $c:ident $(from $first:literal)?) => {
        polynomial32_from(0 $(+ $first)?, $x, &$c)
    };
}
pub(super) use polynomial32;

/// The same for a constant array of `f64` with at most 24 coefficients.
macro_rules! polynomial64 {
    ($x:expr, $c:ident $(from $first:literal)?) => {{
        const { assert!($c.len() <= 24, "more coefficients than the list below names") };
        let x: f64 = $x;
        let mut p = stored!($c[$c.len() - 1]);
        polynomial64!(x p $c (0 $(+ $first)?): 22 21 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0);
        p
    }};
    ($x:ident $p:ident $c:ident $first:tt: $($place:literal)*) => { $(
        if $place + 1 < $c.len() && $place >= $first {
            // Elsewhere this is never run, but it has to name a coefficient.
            $p = fma64($p, $x, stored!($c[if $place < $c.len() { $place } else { 0 }]));
        }
    )* };
}
pub(super) use polynomial64;

/// A constant of `f64`. On a device it comes from constant memory, which takes one instruction, or none within a loop; as a part of the
/// code it would be two each time.
#[cfg(target_os = "cuda")]
macro_rules! stored {
    ($value:expr) => {{
        let value: f64;
        // SAFETY: it declares a constant, and reads it.
        unsafe {
            core::arch::asm!(
                // In one line: a program that reads PTX by lines takes a line with a brace alone for the end of a kernel.
                "{{ .const .align 8 .b64 stored = {bits}U; ld.const.f64 {value}, [stored]; }}",
                bits = const f64::to_bits($value),
                value = out(reg64) value,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        value
    }};
}
#[cfg(not(target_os = "cuda"))]
macro_rules! stored {
    ($value:expr) => {
        const { $value }
    };
}
pub(super) use stored;

/// a + b and its rounding error, for |a| >= |b| or a = 0.
#[inline(always)]
pub fn sum32(a: f32, b: f32) -> (f32, f32) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// a + b and its rounding error, for |a| >= |b| or a = 0.
#[inline(always)]
pub fn sum64(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// a + b rounded to odd: to round it once more, to 51 bits or fewer, is to round the exact sum.
#[inline(always)]
pub fn sum_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let back = sum - a;
    let error = (a - (sum - back)) + (b - back);
    if error == 0.0 || !sum.is_finite() || sum.to_bits() & 1 == 1 {
        return sum;
    }
    // The odd neighbour on the side of the exact sum.
    f64::from_bits(if (error > 0.0) == (sum > 0.0) { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}

/// a * b and its rounding error.
#[inline(always)]
pub fn product32(a: f32, b: f32) -> (f32, f32) {
    let product = a * b;
    (product, fma32(a, b, -product))
}

/// a * b and its rounding error.
#[inline(always)]
pub fn product64(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    (product, fma64(a, b, -product))
}
