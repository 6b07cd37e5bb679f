//! The costs that a search compares: integers where the problem allows, else real numbers.

use crate::sine::Real;

/// The cost of a solution. Smaller is better.
pub trait Cost: Copy + PartialOrd + Send + Sync + 'static {
    /// Returns a number below 2^62 in the order of costs.
    fn key(self) -> u64;
    /// Returns this cost in 64 bits, from which [`Cost::from_bits`] makes it again. Bits need not be in the order of costs.
    fn bits(self) -> u64;
    /// Returns the cost with these [`bits`](Cost::bits).
    fn from_bits(bits: u64) -> Self;
    /// Returns by how much it is larger than `other`, rounded; negative if it is smaller.
    fn above(self, other: Self) -> f32;
    /// Returns whether two costs of the same solution, computed in different ways, agree: exactly, or up to rounding.
    fn agrees(self, other: Self) -> bool;
}

/// Integers from -2^61 to 2^61 - 1.
impl Cost for i64 {
    #[inline(always)]
    fn key(self) -> u64 {
        self.wrapping_add(1 << 61) as u64
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        self as u64
    }
    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        bits as i64
    }
    #[inline(always)]
    fn above(self, other: Self) -> f32 {
        (self - other) as f32
    }
    #[inline(always)]
    fn agrees(self, other: Self) -> bool {
        self == other
    }
}

/// Finite real numbers. The order ignores the two lowest of 64 bits: costs that differ by less count as equal.
impl<R: Real> Cost for R {
    #[inline(always)]
    fn key(self) -> u64 {
        Real::key(self) >> 2
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        self.to_bits64()
    }
    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        R::from_bits64(bits)
    }
    #[inline(always)]
    fn above(self, other: Self) -> f32 {
        Real::to_f64(self - other) as f32
    }
    #[inline(always)]
    fn agrees(self, other: Self) -> bool {
        self.to_bits64() == other.to_bits64()
    }
}
