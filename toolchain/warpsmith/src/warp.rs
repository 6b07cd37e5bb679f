//! The warp: 32 threads that exchange values without memory.
//!
//! Every operation names the lanes that take part, a bit each; [`ALL`] for all of them. All lanes of the mask must reach the same
//! call with the same mask, and the calling lane must be one of them. A shuffle must read from a lane of the mask: what it returns
//! otherwise is not determined on a GPU, and a simulated launch fails.

use core::marker::PhantomData;

use crate::{back, block};

/// All lanes of a warp.
pub const ALL: u32 = u32::MAX;

/// Number of lanes of a warp.
pub const LANES: u32 = 32;

mod sealed {
    pub trait Sealed {}
}

/// A value that lanes can exchange: the numbers up to 64 bits and `bool`.
#[diagnostic::on_unimplemented(
    message = "lanes of a warp cannot exchange `{Self}`",
    note = "they exchange numbers of up to 64 bits, and `bool`"
)]
pub trait Lane: Copy + sealed::Sealed {
    /// Whether it takes more than 32 bits.
    #[doc(hidden)]
    const WIDE: bool;
    #[doc(hidden)]
    fn into_bits(self) -> u64;
    #[doc(hidden)]
    fn from_bits(bits: u64) -> Self;
}

macro_rules! lane {
    ($($t:ty, $wide:expr;)*) => { $(
        impl sealed::Sealed for $t {}
        impl Lane for $t {
            const WIDE: bool = $wide;
            #[inline(always)]
            fn into_bits(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn from_bits(bits: u64) -> Self {
                bits as $t
            }
        }
    )* };
}

lane! {
    u8, false; i8, false; u16, false; i16, false; u32, false; i32, false; u64, true; i64, true;
    usize, size_of::<usize>() > 4; isize, size_of::<usize>() > 4;
}

impl sealed::Sealed for bool {}
impl Lane for bool {
    const WIDE: bool = false;
    #[inline(always)]
    fn into_bits(self) -> u64 {
        self as u64
    }
    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        bits & 1 != 0
    }
}

impl sealed::Sealed for f32 {}
impl Lane for f32 {
    const WIDE: bool = false;
    #[inline(always)]
    fn into_bits(self) -> u64 {
        self.to_bits() as u64
    }
    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        f32::from_bits(bits as u32)
    }
}

impl sealed::Sealed for f64 {}
impl Lane for f64 {
    const WIDE: bool = true;
    #[inline(always)]
    fn into_bits(self) -> u64 {
        self.to_bits()
    }
    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        f64::from_bits(bits)
    }
}

/// Returns the thread's number in its warp, 0 to 31.
#[inline(always)]
pub fn lane() -> u32 {
    back::lane()
}

/// Returns the warp's number in its block, from 0.
#[inline(always)]
pub fn index() -> u32 {
    crate::thread::in_block() / LANES
}

/// The witness that a thread is its warp's first: by it one thread of each warp writes the warp's element of
/// [`Slots<T, PerWarp>`](crate::slots::PerWarp). It cannot leave its thread.
#[derive(Clone, Copy, Debug)]
pub struct Leader {
    owner: back::Owner,
    /// Neither `Send` nor `Sync`.
    thread: PhantomData<*const ()>,
}

impl Leader {
    /// Returns the number of the warp in the launch to the thread whose witness it is.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    pub(crate) fn warp(self) -> usize {
        back::check_owner(self.owner, "the witness of a warp");
        block::index() as usize * block::threads().div_ceil(LANES) as usize + index() as usize
    }
}

/// Returns the warp's witness to its first thread; `None` to all others.
#[inline(always)]
pub fn leader() -> Option<Leader> {
    (lane() == 0).then(|| Leader { owner: back::owner(), thread: PhantomData })
}

/// Waits for the lanes of `mask`; what they wrote before is visible to them after.
#[inline(always)]
#[track_caller]
pub fn sync(mask: u32) {
    back::sync_warp(mask);
}

/// Returns lanes that run together with this one, itself among them. Which ones is not determined: on the CPU it is this lane alone.
#[inline(always)]
pub fn active() -> u32 {
    back::active_mask()
}

/// Returns the lanes of `mask` for which `predicate` is true, a bit each.
#[inline(always)]
#[track_caller]
pub fn ballot(mask: u32, predicate: bool) -> u32 {
    back::ballot(mask, predicate)
}

/// Returns whether `predicate` is true for all lanes of `mask`.
#[inline(always)]
#[track_caller]
pub fn all(mask: u32, predicate: bool) -> bool {
    back::all(mask, predicate)
}

/// Returns whether `predicate` is true for any lane of `mask`.
#[inline(always)]
#[track_caller]
pub fn any(mask: u32, predicate: bool) -> bool {
    back::any(mask, predicate)
}

/// Returns the lanes of `mask` that have the same value, compared bit by bit.
#[inline(always)]
#[track_caller]
pub fn match_any<T: Lane>(mask: u32, value: T) -> u32 {
    if T::WIDE {
        back::match_any_u64(mask, value.into_bits())
    } else {
        back::match_any_u32(mask, value.into_bits() as u32)
    }
}

/// Returns whether all lanes of `mask` have the same value, compared bit by bit.
#[inline(always)]
#[track_caller]
pub fn match_all<T: Lane>(mask: u32, value: T) -> bool {
    if T::WIDE {
        back::match_all_u64(mask, value.into_bits())
    } else {
        back::match_all_u32(mask, value.into_bits() as u32)
    }
}

/// Two halves, each by an operation on 32 bits.
#[inline(always)]
#[track_caller]
fn in_halves<T: Lane>(value: T, shuffle: impl Fn(u32) -> u32) -> T {
    let bits = value.into_bits();
    let low = shuffle(bits as u32) as u64;
    if !T::WIDE {
        return T::from_bits(low);
    }
    T::from_bits(low | (shuffle((bits >> 32) as u32) as u64) << 32)
}

macro_rules! shuffles {
    ($($(#[$doc:meta])* $name:ident, $within:ident, $by:ident, $last:expr;)*) => { $(
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        pub fn $name<T: Lane>(mask: u32, value: T, $by: u32) -> T {
            $within::<LANES, T>(mask, value, $by)
        }

        $(#[$doc])*
        ///
        /// The warp is cut into pieces of `WIDTH` lanes, a power of two, and each stays within its own: `shuffle_xor_within` only for
        /// `by` less than `WIDTH`.
        #[inline(always)]
        #[track_caller]
        pub fn $within<const WIDTH: u32, T: Lane>(mask: u32, value: T, $by: u32) -> T {
            const { assert!(WIDTH.is_power_of_two() && WIDTH <= LANES, "a power of two, at most 32") };
            // As PTX has it: the lanes that name a piece, and the last lane of one.
            let bounds = (LANES - WIDTH) << 8 | $last;
            #[cfg(not(target_os = "cuda"))]
            let place = core::panic::Location::caller();
            in_halves(value, |half| {
                #[cfg(target_os = "cuda")]
                return back::$name(mask, half, $by, bounds);
                #[cfg(not(target_os = "cuda"))]
                return back::$name(mask, half, $by, bounds, place);
            })
        }
    )* };
}

shuffles! {
    /// Returns the value of lane `from`, modulo 32, or modulo the width of a piece.
    shuffle, shuffle_within, from, 31;
    /// Returns the value of the lane `by` modulo 32 lanes below this one; its own where there is none.
    shuffle_up, shuffle_up_within, by, 0;
    /// Returns the value of the lane `by` modulo 32 lanes above this one; its own where there is none.
    shuffle_down, shuffle_down_within, by, 31;
    /// Returns the value of the lane whose number is this one's xor `by` modulo 32.
    shuffle_xor, shuffle_xor_within, by, 31;
}

/// Combines the values of the lanes of `mask`; all of them get the result.
///
/// `combine` must be associative and commutative. In which order it is applied is fixed by the mask, so that the result for
/// floating-point numbers is the same in every run. With [`ALL`] it takes five shuffles, with another mask one for each lane.
#[inline(always)]
#[track_caller]
pub fn reduce<T: Lane>(mask: u32, value: T, combine: impl Fn(T, T) -> T) -> T {
    if mask == ALL {
        let mut all = value;
        all = combine(all, shuffle_xor(mask, all, 16));
        all = combine(all, shuffle_xor(mask, all, 8));
        all = combine(all, shuffle_xor(mask, all, 4));
        all = combine(all, shuffle_xor(mask, all, 2));
        return combine(all, shuffle_xor(mask, all, 1));
    }
    let mut rest = mask;
    let mut all = shuffle(mask, value, rest.trailing_zeros());
    rest &= rest.wrapping_sub(1);
    while rest != 0 {
        all = combine(all, shuffle(mask, value, rest.trailing_zeros()));
        rest &= rest - 1;
    }
    all
}

/// A number that [`sum`], [`min`] and [`max`] combine: `u32`, `i32`, `u64`, `i64`, `f32` or `f64`.
pub trait Reduce: Lane {
    /// What adds nothing to a sum.
    #[doc(hidden)]
    const ZERO: Self;
    /// What is the largest value of nothing.
    #[doc(hidden)]
    const SMALLEST: Self;
    /// What is the smallest value of nothing.
    #[doc(hidden)]
    const LARGEST: Self;
    #[doc(hidden)]
    fn add(self, other: Self) -> Self;
    #[doc(hidden)]
    fn smaller(self, other: Self) -> Self;
    #[doc(hidden)]
    fn larger(self, other: Self) -> Self;
    #[doc(hidden)]
    fn sum(mask: u32, value: Self) -> Self;
    #[doc(hidden)]
    fn min(mask: u32, value: Self) -> Self;
    #[doc(hidden)]
    fn max(mask: u32, value: Self) -> Self;
}

/// What combines two numbers.
macro_rules! of_two {
    ($t:ty, $zero:expr, $smallest:expr, $largest:expr, $add:expr) => {
        const ZERO: $t = $zero;
        const SMALLEST: $t = $smallest;
        const LARGEST: $t = $largest;
        #[inline(always)]
        fn add(self, other: $t) -> $t {
            $add(self, other)
        }
        #[inline(always)]
        fn smaller(self, other: $t) -> $t {
            self.min(other)
        }
        #[inline(always)]
        fn larger(self, other: $t) -> $t {
            self.max(other)
        }
    };
}

macro_rules! floats {
    ($($t:ident)*) => { $(
        impl Reduce for $t {
            // Of a number and NaN, the number is the smaller and the larger one.
            of_two!($t, -0.0, $t::NAN, $t::NAN, |a, b| a + b);
            #[inline(always)]
            #[track_caller]
            fn sum(mask: u32, value: $t) -> $t {
                reduce(mask, value, Self::add)
            }
            #[inline(always)]
            #[track_caller]
            fn min(mask: u32, value: $t) -> $t {
                reduce(mask, value, $t::min)
            }
            #[inline(always)]
            #[track_caller]
            fn max(mask: u32, value: $t) -> $t {
                reduce(mask, value, $t::max)
            }
        }
    )* };
}

floats! { f32 f64 }

macro_rules! of_32_bits {
    ($($t:ident, $min:ident, $max:ident;)*) => { $(
        impl Reduce for $t {
            of_two!($t, 0, $t::MIN, $t::MAX, $t::wrapping_add);
            #[inline(always)]
            #[track_caller]
            fn sum(mask: u32, value: $t) -> $t {
                if back::HAS_REDUX && crate::architecture() >= 80 {
                    return back::redux_add(mask, value as u32) as $t;
                }
                reduce(mask, value, $t::wrapping_add)
            }
            #[inline(always)]
            #[track_caller]
            fn min(mask: u32, value: $t) -> $t {
                if back::HAS_REDUX && crate::architecture() >= 80 {
                    return back::$min(mask, value as u32) as $t;
                }
                reduce(mask, value, Ord::min)
            }
            #[inline(always)]
            #[track_caller]
            fn max(mask: u32, value: $t) -> $t {
                if back::HAS_REDUX && crate::architecture() >= 80 {
                    return back::$max(mask, value as u32) as $t;
                }
                reduce(mask, value, Ord::max)
            }
        }
    )* };
}

of_32_bits! {
    u32, redux_umin, redux_umax;
    i32, redux_min, redux_max;
}

/// Numbers of 64 bits, whose upper half has type `$high`: the extreme upper half is found first, then the extreme lower half beside it.
/// That takes as many shuffles as exchanging both at once, with less to compare, and two instructions from `sm_80` on.
macro_rules! of_64_bits {
    ($($t:ident, $high:ident;)*) => { $(
        impl Reduce for $t {
            of_two!($t, 0, $t::MIN, $t::MAX, $t::wrapping_add);
            #[inline(always)]
            #[track_caller]
            fn sum(mask: u32, value: $t) -> $t {
                if mask != ALL {
                    return reduce(mask, value, $t::wrapping_add);
                }
                let (mut all, mut distance) = (value, LANES / 2);
                while distance > 0 {
                    all = all.wrapping_add(shuffle_xor(mask, all, distance));
                    distance /= 2;
                }
                all
            }
            #[inline(always)]
            #[track_caller]
            fn min(mask: u32, value: $t) -> $t {
                let (high, low) = ((value >> 32) as $high, value as u32);
                let least = <$high as Reduce>::min(mask, high);
                let low = if high == least { low } else { u32::MAX };
                (least as $t) << 32 | <u32 as Reduce>::min(mask, low) as $t
            }
            #[inline(always)]
            #[track_caller]
            fn max(mask: u32, value: $t) -> $t {
                let (high, low) = ((value >> 32) as $high, value as u32);
                let most = <$high as Reduce>::max(mask, high);
                let low = if high == most { low } else { 0 };
                (most as $t) << 32 | <u32 as Reduce>::max(mask, low) as $t
            }
        }
    )* };
}

of_64_bits! {
    u64, u32;
    i64, i32;
}

/// Returns the sum over the lanes of `mask`, which all get it; integers wrap. One instruction for `u32` and `i32` from `sm_80` on.
#[inline(always)]
#[track_caller]
pub fn sum<T: Reduce>(mask: u32, value: T) -> T {
    T::sum(mask, value)
}

/// Returns the smallest value of the lanes of `mask`, which all get it; NaN only if all are. From `sm_80` on one instruction for `u32`
/// and `i32`, a few for `u64` and `i64`.
#[inline(always)]
#[track_caller]
pub fn min<T: Reduce>(mask: u32, value: T) -> T {
    T::min(mask, value)
}

/// Returns the largest value of the lanes of `mask`, which all get it; NaN only if all are. From `sm_80` on one instruction for `u32`
/// and `i32`, a few for `u64` and `i64`.
#[inline(always)]
#[track_caller]
pub fn max<T: Reduce>(mask: u32, value: T) -> T {
    T::max(mask, value)
}
