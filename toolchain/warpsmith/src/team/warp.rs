//! A warp as a team.

use core::marker::PhantomData;

use super::Team;
use crate::warp::{self, ALL, LANES, Lane, Reduce};
use crate::{back, block};

/// The 32 threads of a warp, as a team.
#[derive(Clone, Copy, Debug)]
pub struct Warp {
    lane: u32,
    owner: back::Owner,
    /// Neither `Send` nor `Sync`.
    thread: PhantomData<*const ()>,
}

/// Panics unless all warps of the block have 32 threads.
#[inline(always)]
#[cfg_attr(not(target_os = "cuda"), track_caller)]
pub(super) fn assert_whole_warps() {
    let threads = block::threads();
    assert!(threads.is_multiple_of(LANES), "a team in a block of {threads} threads: they are no whole warps");
}

impl Warp {
    /// Returns the warp of this thread.
    ///
    /// # Panics
    /// If the number of threads of the block is not a multiple of 32.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    pub fn current() -> Self {
        assert_whole_warps();
        // SAFETY: its own number.
        unsafe { Warp::assume(warp::lane()) }
    }

    /// Claims that the thread has this number in its warp, which has 32 threads: where a kernel knows it without asking.
    ///
    /// # Safety
    /// It has, and `lane` is below 32.
    #[inline(always)]
    pub unsafe fn assume(lane: u32) -> Self {
        Warp { lane, owner: back::owner(), thread: PhantomData }
    }

    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn check_owner(self) {
        back::check_owner(self.owner, "a team");
    }

    /// As [`Team::sum_before`], without waiting first.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    pub(super) fn sums<T: Reduce>(self, value: T) -> (T, T) {
        let (mut before, mut all, mut distance) = (T::ZERO, value, 1);
        // In pairs of groups of 1, 2, 4 and so on lanes, the upper group adds the lower one's sum.
        while distance < LANES {
            let other = warp::shuffle_xor(ALL, all, distance);
            before = before.add(if self.lane & distance != 0 { other } else { T::ZERO });
            all = all.add(other);
            distance *= 2;
        }
        (before, all)
    }

    /// As [`Team::count_before`], without waiting first.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    pub(super) fn counts(self, predicate: bool) -> (u32, u32) {
        let lanes = warp::ballot(ALL, predicate);
        ((lanes & ((1 << self.lane) - 1)).count_ones(), lanes.count_ones())
    }
}

impl Team for Warp {
    type Part = Warp;

    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn rank(self) -> u32 {
        self.check_owner();
        self.lane
    }
    #[inline(always)]
    fn size(self) -> u32 {
        LANES
    }
    #[inline(always)]
    fn part(self) -> Warp {
        self
    }
    #[inline(always)]
    fn part_rank(self) -> u32 {
        0
    }
    #[inline(always)]
    fn parts(self) -> u32 {
        1
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn sync(self) {
        self.check_owner();
        warp::sync(ALL);
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn shuffle<T: Lane>(self, value: T, from: u32) -> T {
        self.sync();
        warp::shuffle(ALL, value, if from < LANES { from } else { self.lane })
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn reduce<T: Lane>(self, value: T, combine: impl Fn(T, T) -> T) -> T {
        self.sync();
        warp::reduce(ALL, value, combine)
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn sum_before<T: Reduce>(self, value: T) -> (T, T) {
        self.sync();
        self.sums(value)
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn sum<T: Reduce>(self, value: T) -> T {
        self.sync();
        warp::sum(ALL, value)
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn min<T: Reduce>(self, value: T) -> T {
        self.sync();
        warp::min(ALL, value)
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn max<T: Reduce>(self, value: T) -> T {
        self.sync();
        warp::max(ALL, value)
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn count(self, predicate: bool) -> u32 {
        self.sync();
        warp::ballot(ALL, predicate).count_ones()
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn count_before(self, predicate: bool) -> (u32, u32) {
        self.sync();
        self.counts(predicate)
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn all(self, predicate: bool) -> bool {
        self.sync();
        warp::all(ALL, predicate)
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn any(self, predicate: bool) -> bool {
        self.sync();
        warp::any(ALL, predicate)
    }
}
