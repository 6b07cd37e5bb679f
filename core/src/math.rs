//! The few real functions that `core` lacks on a stable toolchain.
//!
//! `sqrt` is correctly rounded on every target, so it gives the same bits on the CPU and the GPU;
//! the trigonometric functions come from one software implementation on both, for the same reason.

/// Returns the square root of x >= 0, correctly rounded.
#[inline(always)]
pub fn sqrt(x: f64) -> f64 {
    #[cfg(target_arch = "nvptx64")]
    {
        core::f64::math::sqrt(x)
    }
    // libm's instruction has the old encoding: among instructions for wide registers each call would wait for the contents of their
    // upper parts.
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_mm_cvtsd_f64, _mm_set_sd, _mm_sqrt_pd};
        // SAFETY: every processor of this kind has the instruction.
        unsafe { _mm_cvtsd_f64(_mm_sqrt_pd(_mm_set_sd(x))) }
    }
    #[cfg(not(any(target_arch = "nvptx64", target_arch = "x86_64")))]
    {
        libm::sqrt(x)
    }
}

/// Returns the square root of x >= 0 in single precision, correctly rounded.
#[inline(always)]
pub fn sqrt_single(x: f32) -> f32 {
    #[cfg(target_arch = "nvptx64")]
    {
        core::f32::math::sqrt(x)
    }
    // As above.
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_mm_cvtss_f32, _mm_set_ss, _mm_sqrt_ss};
        // SAFETY: every processor of this kind has the instruction.
        unsafe { _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x))) }
    }
    #[cfg(not(any(target_arch = "nvptx64", target_arch = "x86_64")))]
    {
        libm::sqrtf(x)
    }
}

/// Returns the square root in single precision, with a relative error below 2^-22, for 0 and normal x > 0. Its bits on a
/// GPU may differ from a CPU's.
#[inline(always)]
pub fn approximate_root(x: f32) -> f32 {
    #[cfg(target_arch = "nvptx64")]
    {
        unsafe extern "unadjusted" {
            #[link_name = "llvm.nvvm.sqrt.approx.ftz.f"]
            safe fn sqrt_approx(x: f32) -> f32;
        }
        sqrt_approx(x)
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        sqrt_single(x)
    }
}

/// Returns the cosine of an angle in radians.
#[inline]
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// Returns the angle in 0..=π whose cosine is `x`, from -1 to 1; NaN for other numbers.
#[inline]
pub fn acos(x: f64) -> f64 {
    libm::acos(x)
}

/// Returns the sine of an angle in radians.
#[inline]
pub fn sin(x: f64) -> f64 {
    libm::sin(x)
}

/// Returns the angle in -π..=π of the point (x, y), seen from (0, 0).
#[inline]
pub fn atan2(y: f64, x: f64) -> f64 {
    libm::atan2(y, x)
}
