//! Floats of 16 bits: [`F16`] (IEEE 754 binary16, "half") and [`Bf16`] (bfloat16), and pairs of them in one register.
//!
//! Sums, differences, products and [`fma`](F16::fma) are rounded once, to nearest, ties to even; so are conversions from `f32` and `f64`.
//! Subnormal numbers are kept. Every operation gives the same bits on a GPU and on a host; a result that is NaN has the bits `0x7fff`.
//! What is missing here is computed in `f32`: `F16::from_f32(single::exp(x.to_f32()))`.
//!
//! | | exponent, fraction | range | on a GPU |
//! | --- | --- | --- | --- |
//! | [`F16`], [`F16x2`] | 5 and 10 bits | 6e-8 to 65504 | an instruction for each operation |
//! | [`Bf16`], [`Bf16x2`] | 8 and 7 bits | 9e-41 to 3.4e38 | an instruction from `sm_80` on, before that by way of `f32` |
//!
//! A pair costs as much as a single number: kernels that compute with 16 bits are fastest on slices of pairs. Quotients and square
//! roots go through `f32`, comparisons too.
//!
//! ```
//! use warpsmith::half::{F16, F16x2};
//!
//! let a = F16::from_f32(0.1);
//! assert_eq!(a.to_f32(), 0.099975586);
//! assert_eq!((a + F16::ONE).to_f32(), 1.0996094);
//! let pair = F16x2::from_f32s(1.0, 2.0).fma(F16x2::splat(F16::from_f32(3.0)), F16x2::splat(F16::ONE));
//! assert_eq!(pair.to_f32s(), (4.0, 7.0));
//! ```
//!
//! # The crate `half`
//!
//! With the feature `half`, the types of that crate are plain data as well: a kernel may have a parameter `&[half::f16]`. Arithmetic of that
//! crate takes dozens of instructions on a GPU, so kernels convert first, which costs nothing: `F16::from(x[i])`.
#![cfg_attr(
    feature = "half",
    doc = "```
use warpsmith::half::F16;

assert_eq!(F16::from(half::f16::from_f32(1.5)), F16::from_f32(1.5));
assert_eq!(half::f16::from(F16::ONE), half::f16::ONE);
```"
)]

use core::cmp::Ordering;
use core::fmt;
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::DeviceCopy;
use crate::math::sum_to_odd;
use crate::shape::Shape;

/// The bits of a result that is not a number.
const NAN: u16 = 0x7fff;

/// Defines functions that are one instruction on a device of at least the given architecture, and an expression elsewhere.
macro_rules! operations {
    ($( $name:ident($($class:ident $x:ident: $t:ty),*) -> $to:ident $result:ty, $from:literal $text:literal, $otherwise:expr; )*) => { $(
        #[inline(always)]
        pub fn $name($($x: $t),*) -> $result {
            #[cfg(target_os = "cuda")]
            if crate::architecture() >= $from {
                let result: $result;
                // SAFETY: arithmetic on registers.
                unsafe {
                    core::arch::asm!($text, out($to) result, $(in($class) $x,)* options(pure, nomem, nostack, preserves_flags));
                }
                return result;
            }
            $otherwise
        }
    )* };
}

/// `F16` and `F16x2` as bits. Without `.rn` the assembler might fuse products and sums.
mod binary16 {
    use super::*;

    operations! {
        rounded(reg64 x: f64) -> reg16 u16, 53 "cvt.rn.f16.f64 {0}, {1};", encode(x, 10);
        from_f32(reg32 x: f32) -> reg16 u16, 53 "cvt.rn.f16.f32 {0}, {1};", encode(x.into(), 10);
        to_f32(reg16 x: u16) -> reg32 f32, 53 "cvt.f32.f16 {0}, {1};", decode(x);
        // An f32 has more than twice the bits and two more, so that to round a sum, product or quotient twice is to round it once.
        add(reg16 a: u16, reg16 b: u16) -> reg16 u16, 53 "add.rn.f16 {0}, {1}, {2};", from_f32(to_f32(a) + to_f32(b));
        sub(reg16 a: u16, reg16 b: u16) -> reg16 u16, 53 "sub.rn.f16 {0}, {1}, {2};", from_f32(to_f32(a) - to_f32(b));
        mul(reg16 a: u16, reg16 b: u16) -> reg16 u16, 53 "mul.rn.f16 {0}, {1}, {2};", from_f32(to_f32(a) * to_f32(b));
        fma(reg16 a: u16, reg16 b: u16, reg16 c: u16) -> reg16 u16, 53 "fma.rn.f16 {0}, {1}, {2}, {3};",
            from_f64(fused(to_f32(a), to_f32(b), to_f32(c)));
        pack(reg32 low: f32, reg32 high: f32) -> reg32 u32, 80 "cvt.rn.f16x2.f32 {0}, {2}, {1};", join(from_f32(low), from_f32(high));
        add2(reg32 a: u32, reg32 b: u32) -> reg32 u32, 53 "add.rn.f16x2 {0}, {1}, {2};", both(a, b, add);
        sub2(reg32 a: u32, reg32 b: u32) -> reg32 u32, 53 "sub.rn.f16x2 {0}, {1}, {2};", both(a, b, sub);
        mul2(reg32 a: u32, reg32 b: u32) -> reg32 u32, 53 "mul.rn.f16x2 {0}, {1}, {2};", both(a, b, mul);
        fma2(reg32 a: u32, reg32 b: u32, reg32 c: u32) -> reg32 u32, 53 "fma.rn.f16x2 {0}, {1}, {2}, {3};",
            join(fma(low(a), low(b), low(c)), fma(high(a), high(b), high(c)));
    }

    #[inline(always)]
    pub fn from_f64(x: f64) -> u16 {
        // Unlike the others, this instruction keeps a part of what a NaN holds.
        if x.is_nan() { NAN } else { rounded(x) }
    }

    fn decode(x: u16) -> f32 {
        let size = match u32::from(x & 0x7fff) {
            // In the place of an f32's bits. The product is exact. It makes the exponent right, and subnormal numbers normal.
            size @ ..0x7c00 => f32::from_bits(size << 13) * f32::from_bits((127 + 112) << 23),
            0x7c00 => f32::INFINITY,
            _ => return f32::from_bits(0x7fff_ffff),
        };
        if x & 0x8000 == 0 { size } else { -size }
    }
}

/// `Bf16` and `Bf16x2` as bits. Sums and products are fused ones with 1 or -0, as the instructions for them alone are missing before `sm_90`.
mod bfloat16 {
    use super::*;

    operations! {
        from_f32(reg32 x: f32) -> reg16 u16, 80 "cvt.rn.bf16.f32 {0}, {1};", upper_half(x);
        add(reg16 a: u16, reg16 b: u16) -> reg16 u16, 80 "{{.reg .b16 k; mov.b16 k, 0x3f80; fma.rn.bf16 {0}, {1}, k, {2};}}",
            from_f32(to_f32(a) + to_f32(b));
        sub(reg16 a: u16, reg16 b: u16) -> reg16 u16, 80 "{{.reg .b16 k; mov.b16 k, 0xbf80; fma.rn.bf16 {0}, {2}, k, {1};}}",
            from_f32(to_f32(a) - to_f32(b));
        mul(reg16 a: u16, reg16 b: u16) -> reg16 u16, 80 "{{.reg .b16 k; mov.b16 k, 0x8000; fma.rn.bf16 {0}, {1}, {2}, k;}}",
            from_f32(to_f32(a) * to_f32(b));
        fma(reg16 a: u16, reg16 b: u16, reg16 c: u16) -> reg16 u16, 80 "fma.rn.bf16 {0}, {1}, {2}, {3};",
            from_f64(fused(to_f32(a), to_f32(b), to_f32(c)));
        pack(reg32 low: f32, reg32 high: f32) -> reg32 u32, 80 "cvt.rn.bf16x2.f32 {0}, {2}, {1};", join(from_f32(low), from_f32(high));
        add2(reg32 a: u32, reg32 b: u32) -> reg32 u32, 80 "{{.reg .b32 k; mov.b32 k, 0x3f803f80; fma.rn.bf16x2 {0}, {1}, k, {2};}}",
            both(a, b, add);
        sub2(reg32 a: u32, reg32 b: u32) -> reg32 u32, 80 "{{.reg .b32 k; mov.b32 k, 0xbf80bf80; fma.rn.bf16x2 {0}, {2}, k, {1};}}",
            both(a, b, sub);
        mul2(reg32 a: u32, reg32 b: u32) -> reg32 u32, 80 "{{.reg .b32 k; mov.b32 k, 0x80008000; fma.rn.bf16x2 {0}, {1}, {2}, k;}}",
            both(a, b, mul);
        fma2(reg32 a: u32, reg32 b: u32, reg32 c: u32) -> reg32 u32, 80 "fma.rn.bf16x2 {0}, {1}, {2}, {3};",
            join(fma(low(a), low(b), low(c)), fma(high(a), high(b), high(c)));
    }

    #[inline(always)]
    pub fn from_f64(x: f64) -> u16 {
        encode(x, 7)
    }

    #[inline(always)]
    pub fn to_f32(x: u16) -> f32 {
        f32::from_bits(u32::from(x) << 16)
    }

    /// Rounds; a carry leads to the next power of two, and in the end to infinity.
    #[inline(always)]
    fn upper_half(x: f32) -> u16 {
        let bits = x.to_bits();
        if x.is_nan() { NAN } else { ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16 }
    }
}

/// Returns `x` in a format with so many bits behind the point, rounded to nearest, ties to even.
#[inline]
fn encode(x: f64, fraction: u32) -> u16 {
    if x.is_nan() {
        return NAN;
    }
    let bits = x.to_bits();
    let sign = (bits >> 48) as u16 & 0x8000;
    let bias = (1 << (14 - fraction)) - 1;
    let exponent = ((bits >> 52) as i32 & 0x7ff) - 1023;
    if exponent > bias {
        return sign | ((2 * bias + 1) << fraction) as u16;
    }
    // The exponent of the result, which is at least that of the subnormal numbers.
    let place = exponent.max(1 - bias);
    let drop = 52 - fraction as i32 + (place - exponent);
    // Below half of the smallest number, as all subnormal numbers of f64 are.
    if drop > 53 {
        return sign;
    }
    let mantissa = (bits & 0x000f_ffff_ffff_ffff) | 0x0010_0000_0000_0000;
    let (kept, rest, half) = (mantissa >> drop, mantissa & ((1 << drop) - 1), 1 << (drop - 1));
    let kept = kept + u64::from(rest > half || (rest == half && kept & 1 == 1));
    // The leading bit of a normal number adds 1 to the exponent. So does a carry, and in the end it leads to infinity.
    sign | (((place + bias - 1) << fraction) as u16 + kept as u16)
}

/// Returns a * b + c as a number that rounds to the same one of 16 bits as the exact sum does: the product is exact.
#[inline(always)]
fn fused(a: f32, b: f32, c: f32) -> f64 {
    sum_to_odd(f64::from(a) * f64::from(b), f64::from(c))
}

#[inline(always)]
fn low(pair: u32) -> u16 {
    pair as u16
}

#[inline(always)]
fn high(pair: u32) -> u16 {
    (pair >> 16) as u16
}

#[inline(always)]
fn join(low: u16, high: u16) -> u32 {
    u32::from(low) | u32::from(high) << 16
}

#[inline(always)]
fn both(a: u32, b: u32, operation: impl Fn(u16, u16) -> u16) -> u32 {
    join(operation(low(a), low(b)), operation(high(a), high(b)))
}

macro_rules! operator {
    ($t:ident $operation:path: $operator:ident $method:ident, $assign:ident $assign_method:ident) => {
        impl $operator for $t {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self($operation(self.0, other.0))
            }
        }

        impl $assign for $t {
            #[inline(always)]
            fn $assign_method(&mut self, other: Self) {
                *self = $operator::$method(*self, other);
            }
        }
    };
}

macro_rules! types {
    (
        $(#[$doc:meta])* $t:ident, $(#[$pair_doc:meta])* $pair:ident, $module:ident, $other:ident,
        one $one:literal, max $max:literal, epsilon $epsilon:literal, min_positive $min_positive:literal, infinity $infinity:literal
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $t(u16);

        // SAFETY: every pattern of bits is a number or NaN.
        unsafe impl DeviceCopy for $t {
            const SHAPE: Shape = Shape::of(&[stringify!($t).as_bytes()]);
        }

        impl $t {
            /// 0.
            pub const ZERO: Self = Self(0);
            /// 1.
            pub const ONE: Self = Self($one);
            /// The largest finite number.
            pub const MAX: Self = Self($max);
            /// The smallest positive normal number.
            pub const MIN_POSITIVE: Self = Self($min_positive);
            /// The distance from 1 to the next larger number.
            pub const EPSILON: Self = Self($epsilon);
            /// Infinity.
            pub const INFINITY: Self = Self($infinity);
            /// Not a number.
            pub const NAN: Self = Self(NAN);

            /// Returns the number with these bits.
            #[inline(always)]
            pub const fn from_bits(bits: u16) -> Self {
                Self(bits)
            }

            /// Returns the bits.
            #[inline(always)]
            pub const fn to_bits(self) -> u16 {
                self.0
            }

            /// Returns the nearest number, of two the even one; infinity if it is too large.
            #[inline(always)]
            pub fn from_f32(x: f32) -> Self {
                Self($module::from_f32(x))
            }

            /// Returns the nearest number, of two the even one; infinity if it is too large.
            #[inline(always)]
            pub fn from_f64(x: f64) -> Self {
                Self($module::from_f64(x))
            }

            /// Returns the same number as `f32`.
            #[inline(always)]
            pub fn to_f32(self) -> f32 {
                $module::to_f32(self.0)
            }

            /// Returns self * b + c, rounded once.
            #[inline(always)]
            pub fn fma(self, b: Self, c: Self) -> Self {
                Self($module::fma(self.0, b.0, c.0))
            }

            /// Returns the square root, correctly rounded.
            #[inline(always)]
            pub fn sqrt(self) -> Self {
                Self::from_f32(crate::math::single::sqrt(self.to_f32()))
            }

            /// Returns the number without its sign.
            #[inline(always)]
            pub const fn abs(self) -> Self {
                Self(self.0 & 0x7fff)
            }

            /// Returns whether this is not a number.
            #[inline(always)]
            pub const fn is_nan(self) -> bool {
                self.0 & 0x7fff > $infinity
            }
        }

        operator!($t $module::add: Add add, AddAssign add_assign);
        operator!($t $module::sub: Sub sub, SubAssign sub_assign);
        operator!($t $module::mul: Mul mul, MulAssign mul_assign);

        impl Div for $t {
            type Output = Self;

            #[inline(always)]
            fn div(self, other: Self) -> Self {
                Self::from_f32(self.to_f32() / other.to_f32())
            }
        }

        impl DivAssign for $t {
            #[inline(always)]
            fn div_assign(&mut self, other: Self) {
                *self = *self / other;
            }
        }

        impl Neg for $t {
            type Output = Self;

            #[inline(always)]
            fn neg(self) -> Self {
                Self(self.0 ^ 0x8000)
            }
        }

        impl PartialEq for $t {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $t {
            #[inline(always)]
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl From<$t> for f32 {
            #[inline(always)]
            fn from(x: $t) -> Self {
                x.to_f32()
            }
        }

        impl fmt::Debug for $t {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32(), f)
            }
        }

        impl fmt::Display for $t {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.to_f32(), f)
            }
        }

        #[cfg(feature = "half")]
        // SAFETY: 16 bits, of which every pattern is a number or NaN.
        unsafe impl DeviceCopy for ::half::$other {
            const SHAPE: Shape = Shape::of(&[b"half::", stringify!($other).as_bytes()]);
        }

        #[cfg(feature = "half")]
        impl From<::half::$other> for $t {
            #[inline(always)]
            fn from(x: ::half::$other) -> Self {
                Self(x.to_bits())
            }
        }

        #[cfg(feature = "half")]
        impl From<$t> for ::half::$other {
            #[inline(always)]
            fn from(x: $t) -> Self {
                Self::from_bits(x.0)
            }
        }

        $(#[$pair_doc])*
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $pair(u32);

        // SAFETY: every pattern of bits is two numbers.
        unsafe impl DeviceCopy for $pair {
            const SHAPE: Shape = Shape::of(&[stringify!($pair).as_bytes()]);
        }

        impl $pair {
            /// Returns a pair; `low` comes first in memory.
            #[inline(always)]
            pub const fn new(low: $t, high: $t) -> Self {
                Self(low.0 as u32 | (high.0 as u32) << 16)
            }

            /// Returns the pair of `x` and `x`.
            #[inline(always)]
            pub const fn splat(x: $t) -> Self {
                Self::new(x, x)
            }

            /// Returns the nearest pair, rounded as in `from_f32`.
            #[inline(always)]
            pub fn from_f32s(low: f32, high: f32) -> Self {
                Self($module::pack(low, high))
            }

            /// Returns both numbers as `f32`.
            #[inline(always)]
            pub fn to_f32s(self) -> (f32, f32) {
                (self.low().to_f32(), self.high().to_f32())
            }

            /// Returns the first number.
            #[inline(always)]
            pub const fn low(self) -> $t {
                $t(self.0 as u16)
            }

            /// Returns the second number.
            #[inline(always)]
            pub const fn high(self) -> $t {
                $t((self.0 >> 16) as u16)
            }

            /// Returns the pair with these bits, the first number in the low half.
            #[inline(always)]
            pub const fn from_bits(bits: u32) -> Self {
                Self(bits)
            }

            /// Returns the bits, the first number in the low half.
            #[inline(always)]
            pub const fn to_bits(self) -> u32 {
                self.0
            }

            /// Returns self * b + c for both numbers, rounded once.
            #[inline(always)]
            pub fn fma(self, b: Self, c: Self) -> Self {
                Self($module::fma2(self.0, b.0, c.0))
            }
        }

        operator!($pair $module::add2: Add add, AddAssign add_assign);
        operator!($pair $module::sub2: Sub sub, SubAssign sub_assign);
        operator!($pair $module::mul2: Mul mul, MulAssign mul_assign);

        impl Neg for $pair {
            type Output = Self;

            #[inline(always)]
            fn neg(self) -> Self {
                Self(self.0 ^ 0x8000_8000)
            }
        }

        impl PartialEq for $pair {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                self.low() == other.low() && self.high() == other.high()
            }
        }

        impl fmt::Debug for $pair {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32s(), f)
            }
        }
    };
}

types! {
    /// A float of 16 bits after IEEE 754, binary16: 11 bits of precision, up to 65504.
    F16,
    /// Two [`F16`] in a register.
    F16x2,
    binary16, f16,
    one 0x3c00, max 0x7bff, epsilon 0x1400, min_positive 0x0400, infinity 0x7c00
}

types! {
    /// A bfloat16, the upper half of an `f32`: 8 bits of precision, the range of `f32`.
    Bf16,
    /// Two [`Bf16`] in a register.
    Bf16x2,
    bfloat16, bf16,
    one 0x3f80, max 0x7f7f, epsilon 0x3c00, min_positive 0x0080, infinity 0x7f80
}
