//! The warp: 32 threads that exchange values without memory.
//!
//! All lanes of a mask must reach the same call with the same mask, and the calling lane must be one of them: that is what makes
//! these functions unsafe.

use half::{bf16, f16};
use warpsmith::warp;

/// Waits for the lanes of `mask`; what they wrote before is visible to them after.
///
/// # Safety
/// That of the [module](self).
#[inline(always)]
pub unsafe fn sync_warp(mask: u32) {
    warp::sync(mask);
}

/// Returns the thread's number in its warp, 0 to 31.
#[inline(always)]
pub fn lane_id() -> u32 {
    warp::lane()
}

/// Returns lanes that run together with this one, itself among them, a bit each. Which ones is not determined.
#[inline(always)]
pub fn activemask() -> u32 {
    warp::active()
}

/// Returns whether `predicate` is true for all lanes of `mask`.
///
/// # Safety
/// That of the [module](self).
#[inline(always)]
pub unsafe fn warp_vote_all(mask: u32, predicate: bool) -> bool {
    warp::all(mask, predicate)
}

/// Returns whether `predicate` is true for any lane of `mask`.
///
/// # Safety
/// That of the [module](self).
#[inline(always)]
pub unsafe fn warp_vote_any(mask: u32, predicate: bool) -> bool {
    warp::any(mask, predicate)
}

/// Returns the lanes of `mask` for which `predicate` is true, a bit each.
///
/// # Safety
/// That of the [module](self).
#[inline(always)]
pub unsafe fn warp_vote_ballot(mask: u32, predicate: bool) -> u32 {
    warp::ballot(mask, predicate)
}

/// What lanes can compare: integers and floats of 32 and 64 bits.
pub trait WarpMatchValue: Sized {
    /// See [`warp_match_any`].
    ///
    /// # Safety
    /// That of the [module](self).
    unsafe fn match_any(mask: u32, value: Self) -> u32;
    /// See [`warp_match_all`].
    ///
    /// # Safety
    /// That of the [module](self).
    unsafe fn match_all(mask: u32, value: Self) -> Option<u32>;
}

macro_rules! matched {
    ($($t:ty)*) => { $(
        impl WarpMatchValue for $t {
            #[inline(always)]
            unsafe fn match_any(mask: u32, value: $t) -> u32 {
                warp::match_any(mask, value)
            }
            #[inline(always)]
            unsafe fn match_all(mask: u32, value: $t) -> Option<u32> {
                warp::match_all(mask, value).then_some(mask)
            }
        }
    )* };
}

matched!(i32 u32 i64 u64 f32 f64);

/// Returns the lanes of `mask` that have the same value as this one, compared bit by bit; a bit for each lane.
///
/// # Safety
/// That of the [module](self).
#[inline(always)]
pub unsafe fn warp_match_any<T: WarpMatchValue>(mask: u32, value: T) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { T::match_any(mask, value) }
}

/// Returns `mask` if all its lanes have the same value, compared bit by bit; else `None`.
///
/// # Safety
/// That of the [module](self).
#[inline(always)]
pub unsafe fn warp_match_all<T: WarpMatchValue>(mask: u32, value: T) -> Option<u32> {
    // SAFETY: the caller's promise.
    unsafe { T::match_all(mask, value) }
}

/// How [`warp_reduce`] combines values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpReductionOp {
    /// The sum, which wraps around.
    Add,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// And, bit by bit.
    And,
    /// Or, bit by bit.
    Or,
    /// Exclusive or, bit by bit.
    Xor,
}

/// What lanes can combine: integers of 32 and 64 bits.
pub trait WarpReduceValue: Sized {
    /// See [`warp_reduce`].
    ///
    /// # Safety
    /// That of the [module](self).
    unsafe fn reduce(mask: u32, value: Self, op: WarpReductionOp) -> Self;
}

macro_rules! reduced {
    ($($t:ty)*) => { $(
        impl WarpReduceValue for $t {
            #[inline(always)]
            unsafe fn reduce(mask: u32, value: $t, op: WarpReductionOp) -> $t {
                match op {
                    WarpReductionOp::Add => warp::sum(mask, value),
                    WarpReductionOp::Min => warp::min(mask, value),
                    WarpReductionOp::Max => warp::max(mask, value),
                    WarpReductionOp::And => warp::reduce(mask, value, |a, b| a & b),
                    WarpReductionOp::Or => warp::reduce(mask, value, |a, b| a | b),
                    WarpReductionOp::Xor => warp::reduce(mask, value, |a, b| a ^ b),
                }
            }
        }
    )* };
}

reduced!(i32 u32 i64 u64);

/// Combines the values of the lanes of `mask`; all of them get the result.
///
/// # Safety
/// That of the [module](self).
#[inline(always)]
pub unsafe fn warp_reduce<T: WarpReduceValue>(mask: u32, value: T, op: WarpReductionOp) -> T {
    // SAFETY: the caller's promise.
    unsafe { T::reduce(mask, value, op) }
}

/// Which lane a shuffle reads from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum WarpShuffleMode {
    /// The one so many lanes below.
    Up,
    /// The one so many lanes above.
    Down,
    /// The one of this number in the segment.
    Idx,
    /// The one whose number differs in these bits.
    Xor,
}

#[cfg(target_os = "cuda")]
mod back {
    use super::WarpShuffleMode;

    /// A value, and whether its lane was within the segment.
    #[repr(C)]
    struct Shuffled(u32, bool);

    unsafe extern "unadjusted" {
        #[link_name = "llvm.nvvm.shfl.sync.up.i32p"]
        safe fn up(mask: u32, value: u32, by: u32, bounds: u32) -> Shuffled;
        #[link_name = "llvm.nvvm.shfl.sync.down.i32p"]
        safe fn down(mask: u32, value: u32, by: u32, bounds: u32) -> Shuffled;
        #[link_name = "llvm.nvvm.shfl.sync.idx.i32p"]
        safe fn idx(mask: u32, value: u32, from: u32, bounds: u32) -> Shuffled;
        #[link_name = "llvm.nvvm.shfl.sync.bfly.i32p"]
        safe fn xor(mask: u32, value: u32, by: u32, bounds: u32) -> Shuffled;
    }

    #[inline(always)]
    pub fn shuffle(mode: WarpShuffleMode, mask: u32, value: u32, b: u32, width: u32) -> (u32, bool) {
        // The bits that name a segment, and the last lane that may be read in it.
        let segment = (32 - width) << 8;
        let Shuffled(value, within) = match mode {
            WarpShuffleMode::Up => up(mask, value, b, segment),
            WarpShuffleMode::Down => down(mask, value, b, segment | 31),
            WarpShuffleMode::Idx => idx(mask, value, b, segment | 31),
            WarpShuffleMode::Xor => xor(mask, value, b, segment | 31),
        };
        (value, within)
    }
}

#[cfg(not(target_os = "cuda"))]
mod back {
    use super::WarpShuffleMode;

    /// A warp with one lane.
    pub fn shuffle(mode: WarpShuffleMode, _mask: u32, value: u32, b: u32, _width: u32) -> (u32, bool) {
        (value, mode == WarpShuffleMode::Idx || b == 0)
    }
}

/// What lanes can exchange: integers up to 128 bits and floats up to 64 bits.
pub trait WarpShuffleValue: Sized {
    /// See [`warp_shuffle_idx`] and the functions beside it.
    ///
    /// # Safety
    /// That of the [module](self). `width` is a power of two up to 32.
    unsafe fn shuffle(mode: WarpShuffleMode, mask: u32, value: Self, b: u32, width: u32) -> (Self, bool);
}

macro_rules! shuffled {
    ($($t:ty, $words:literal, $to:expr, $from:expr;)*) => { $(
        impl WarpShuffleValue for $t {
            #[inline(always)]
            unsafe fn shuffle(mode: WarpShuffleMode, mask: u32, value: $t, b: u32, width: u32) -> ($t, bool) {
                let bits: u128 = ($to)(value);
                let (mut result, within) = {
                    let (word, within) = back::shuffle(mode, mask, bits as u32, b, width);
                    (word as u128, within)
                };
                let mut i = 1;
                while i < $words {
                    let (word, _) = back::shuffle(mode, mask, (bits >> (32 * i)) as u32, b, width);
                    result |= (word as u128) << (32 * i);
                    i += 1;
                }
                (($from)(result), within)
            }
        }
    )* };
}

shuffled! {
    u8, 1, |v| v as u128, |b: u128| b as u8;
    i8, 1, |v| v as u8 as u128, |b: u128| b as i8;
    u16, 1, |v| v as u128, |b: u128| b as u16;
    i16, 1, |v| v as u16 as u128, |b: u128| b as i16;
    u32, 1, |v| v as u128, |b: u128| b as u32;
    i32, 1, |v| v as u32 as u128, |b: u128| b as i32;
    u64, 2, |v| v as u128, |b: u128| b as u64;
    i64, 2, |v| v as u64 as u128, |b: u128| b as i64;
    u128, 4, |v| v, |b: u128| b;
    i128, 4, |v| v as u128, |b: u128| b as i128;
    f32, 1, |v: f32| v.to_bits() as u128, |b: u128| f32::from_bits(b as u32);
    f64, 2, |v: f64| v.to_bits() as u128, |b: u128| f64::from_bits(b as u64);
    f16, 1, |v: f16| v.to_bits() as u128, |b: u128| f16::from_bits(b as u16);
    bf16, 1, |v: bf16| v.to_bits() as u128, |b: u128| bf16::from_bits(b as u16);
}

macro_rules! shuffles {
    ($($(#[$doc:meta])* $name:ident, $mode:ident, $b:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// The warp is cut into segments of `width` lanes; the second result is whether there is such a lane in this one's segment. If
        /// not, the first is this lane's own value.
        ///
        /// # Safety
        /// That of the [module](self). The other lane is one of `mask`, and `width` a power of two up to 32.
        #[inline(always)]
        pub unsafe fn $name<T: WarpShuffleValue>(mask: u32, value: T, $b: u32, width: u32) -> (T, bool) {
            // SAFETY: the caller's promise.
            unsafe { T::shuffle(WarpShuffleMode::$mode, mask, value, $b, width) }
        }
    )* };
}

shuffles! {
    /// Returns the value of the lane `delta` lanes below; `delta` is less than 32.
    warp_shuffle_up, Up, delta;
    /// Returns the value of the lane `delta` lanes above; `delta` is less than 32.
    warp_shuffle_down, Down, delta;
    /// Returns the value of lane `idx` of the segment, modulo `width`.
    warp_shuffle_idx, Idx, idx;
    /// Returns the value of the lane whose number is this one's xor `lane_mask`, which is less than `width`.
    warp_shuffle_xor, Xor, lane_mask;
}
