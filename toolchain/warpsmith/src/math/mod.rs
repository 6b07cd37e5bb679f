//! Mathematical functions for kernels: `sin`, `exp`, `pow` and so on, of `f32` and `f64`.
//!
//! A device has no mathematical library, and `core` has no functions beyond the square root. These are functions of our own that compile to
//! straight code: no calls, no stack frames, no tables but the bits of 2/pi for huge angles. The same source runs on hosts.
//!
//! - [`single`] and [`double`] hold the functions of `f32` and `f64`. No test on a CPU or a GPU found an error larger than one ulp (unit in
//!   the last place), of whatever argument, subnormal ones included. Special values follow C99, annex F.
//! - [`Float`] has them as methods, for kernels that are generic.
//! - [`fast`] holds approximations of `f32` in one or a few instructions. Where CUDA's own function has an error of 2 ulp, as `expf`, `exp2f`
//!   and `tanhf`, it is faster than that of [`single`]: use [`fast::expf`] and [`fast::exp2`] where that is precise enough.
//!
//! Times and errors of all functions on an H200 are in the repository, in `docs/toolchain-math.md`.
//!
//! ```
//! # use warpsmith::math::{self, Float};
//! fn norm<T: Float>(x: T, y: T) -> T {
//!     x.hypot(y)
//! }
//! assert_eq!(norm(3.0, 4.0), 5.0);
//! assert_eq!(math::single::exp2(10.0), 1024.0);
//! ```
//!
//! With the standard library in scope `x.sin()` on an `f32` is the standard library's: inherent methods come first. On a device there is
//! none, and the method is [`Float`]'s. Where host and device should run the same code, call `math::single::sin(x)` or be generic.
//!
//! Sines, exponentials and the logarithms of `f32` give the same bits on host and device. Functions that start from an approximation of the
//! device's special function unit may differ in the last bit: roots, quotients and what contains them, such as `tanh`, `pow` and the arc
//! functions.
//!
//! **Do not use `%` on floats in kernels**: it compiles to x - trunc(x / y) * y, which is wrong for large quotients. Use [`Float::fmod`].
//!
//! # Methods
//!
//! Angles are reduced after Cody and Waite with fused multiplications, and from 1e5 (`f32`) or 1e8 (`f64`) on after Payne and Hanek.
//! Polynomials are minimax approximations, computed by `math-coefficients.py` in this crate's folder. Logarithms of `f64` and powers use the series of the
//! inverse hyperbolic tangent; powers carry the logarithm in two numbers. Quotients start from the device's approximate reciprocal, with corrections by
//! Newton's method.

#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "a negated comparison is true of NaN, and that is meant"
)]

#[rustfmt::skip]
mod coefficients;
mod common;
pub mod double;
pub mod fast;
mod primitive;
mod reduce;
pub mod single;
#[cfg(all(not(target_os = "cuda"), any(test, not(feature = "host"))))]
mod soft;

pub(crate) use primitive::sum_to_odd;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

macro_rules! float {
    ($( $(#[$doc:meta])* fn $name:ident(self $(, $argument:ident)*) -> $result:ty; )*) => {
        /// `f32` or `f64`, with the functions of [`single`] and [`double`] as methods.
        pub trait Float:
            sealed::Sealed
            + Copy
            + PartialOrd
            + core::fmt::Debug
            + core::ops::Add<Output = Self>
            + core::ops::Sub<Output = Self>
            + core::ops::Mul<Output = Self>
            + core::ops::Div<Output = Self>
            + core::ops::Neg<Output = Self>
            + core::ops::AddAssign
            + core::ops::SubAssign
            + core::ops::MulAssign
            + core::ops::DivAssign
        {
            $( $(#[$doc])* fn $name(self $(, $argument: Self)*) -> $result; )*
        }

        impl Float for f32 {
            $(
                #[inline(always)]
                fn $name(self $(, $argument: Self)*) -> $result {
                    single::$name(self $(, $argument)*)
                }
            )*
        }

        impl Float for f64 {
            $(
                #[inline(always)]
                fn $name(self $(, $argument: Self)*) -> $result {
                    double::$name(self $(, $argument)*)
                }
            )*
        }
    };
}

float! {
    /// self * b + c, rounded once.
    fn fma(self, b, c) -> Self;
    /// The square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// 1 / sqrt(self).
    fn rsqrt(self) -> Self;
    /// The cube root.
    fn cbrt(self) -> Self;
    /// sqrt(self^2 + y^2), without overflow on the way.
    fn hypot(self, y) -> Self;
    /// The largest integer that is not larger.
    fn floor(self) -> Self;
    /// The smallest integer that is not smaller.
    fn ceil(self) -> Self;
    /// The nearest integer, halves away from 0.
    fn round(self) -> Self;
    /// The nearest integer, halves to the even one.
    fn round_ties_even(self) -> Self;
    /// The integer part.
    fn trunc(self) -> Self;
    /// The remainder of self / y with the sign of self, exact.
    fn fmod(self, y) -> Self;
    /// e^self.
    fn exp(self) -> Self;
    /// 2^self.
    fn exp2(self) -> Self;
    /// The natural logarithm.
    fn ln(self) -> Self;
    /// The binary logarithm.
    fn log2(self) -> Self;
    /// The decimal logarithm.
    fn log10(self) -> Self;
    /// self to the power of y.
    fn pow(self, y) -> Self;
    /// The sine of an angle in radians.
    fn sin(self) -> Self;
    /// The cosine of an angle in radians.
    fn cos(self) -> Self;
    /// Sine and cosine of an angle in radians.
    fn sincos(self) -> (Self, Self);
    /// The tangent of an angle in radians.
    fn tan(self) -> Self;
    /// The arc sine.
    fn asin(self) -> Self;
    /// The arc cosine.
    fn acos(self) -> Self;
    /// The arc tangent.
    fn atan(self) -> Self;
    /// The angle of the point (x, self), from -pi to pi.
    fn atan2(self, x) -> Self;
    /// The hyperbolic sine.
    fn sinh(self) -> Self;
    /// The hyperbolic cosine.
    fn cosh(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// The error function.
    fn erf(self) -> Self;
}
