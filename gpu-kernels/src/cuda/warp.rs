//! The 32 threads of a warp as a team.

use antwarp_core::team::Team;
use warpsmith::warp::{self, ALL, Reduce, ballot, shuffle, shuffle_xor};

use super::thread::thread_idx;

/// Threads in a warp.
pub const SIZE: u32 = warp::LANES;

/// Returns the thread's number in its warp.
#[inline(always)]
pub fn lane() -> u32 {
    thread_idx() & (SIZE - 1)
}

/// Returns the largest value of the warp.
#[inline(always)]
pub fn max<T: Reduce>(value: T) -> T {
    warp::max(ALL, value)
}

/// Returns the smallest value of the warp.
#[inline(always)]
pub fn min<T: Reduce>(value: T) -> T {
    warp::min(ALL, value)
}

/// Returns the sum over the warp; it wraps.
#[inline(always)]
pub fn sum<T: Reduce>(value: T) -> T {
    warp::sum(ALL, value)
}

/// Returns the largest key of the warp, the smallest tag that comes with it, and the value that comes with both.
#[inline(always)]
pub fn arg_max(key: u32, tag: u32, value: u32) -> (u32, u32, u32) {
    let most = max(key);
    let mut who = ballot(ALL, key == most);
    if who & (who - 1) != 0 {
        // Equal keys are rare: the common case needs no tags.
        let least = min(if key == most { tag } else { u32::MAX });
        who = ballot(ALL, key == most && tag == least);
    }
    // SAFETY: the lane with the largest key is in it.
    let lane = unsafe { core::num::NonZeroU32::new_unchecked(who) }.trailing_zeros();
    (most, shuffle(ALL, tag, lane), shuffle(ALL, value, lane))
}

/// Returns the smallest key of the warp, the smallest tag that comes with it, and the value that comes with both.
#[inline(always)]
pub fn arg_min_u64(key: u64, tag: u64, value: u64) -> (u64, u64, u64) {
    let least = min(key);
    let mut who = ballot(ALL, key == least);
    if who & (who - 1) != 0 {
        let tag_of_least = min(if key == least { tag } else { u64::MAX });
        who = ballot(ALL, key == least && tag == tag_of_least);
    }
    // SAFETY: the lane with the smallest key and tag is in it.
    let lane = unsafe { core::num::NonZeroU32::new_unchecked(who) }.trailing_zeros();
    (least, shuffle(ALL, tag, lane), shuffle(ALL, value, lane))
}

/// Returns how many lanes before this one, and how many in all, pass true.
#[inline(always)]
pub fn rank_among(flag: bool) -> (u32, u32) {
    let lanes = ballot(ALL, flag);
    ((lanes & ((1 << lane()) - 1)).count_ones(), lanes.count_ones())
}

/// Returns the sums over the lanes before this one, and over all, modulo 2^32.
#[inline(always)]
pub fn sum_before(value: u32) -> (u32, u32) {
    let (mut before, mut all, mut distance) = (0u32, value, 1);
    // In pairs of groups of 1, 2, 4 and so on lanes, the upper group adds the lower one's sum.
    while distance < SIZE {
        let other = shuffle_xor(ALL, all, distance);
        before = before.wrapping_add(if lane() & distance != 0 { other } else { 0 });
        all = all.wrapping_add(other);
        distance *= 2;
    }
    (before, all)
}

/// A warp as a team.
#[derive(Clone, Copy)]
pub struct Warp;

impl Team for Warp {
    type Part = Warp;

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
    fn rank(self) -> u32 {
        lane()
    }
    #[inline(always)]
    fn size(self) -> u32 {
        SIZE
    }
    #[inline(always)]
    fn barrier(self) {
        warp::sync(ALL)
    }
    #[inline(always)]
    fn arg_max(self, key: u32, tag: u32, value: u32) -> (u32, u32) {
        self.barrier();
        let (key, _, value) = arg_max(key, tag, value);
        (key, value)
    }
    #[inline(always)]
    fn sum(self, value: u64) -> u64 {
        self.barrier();
        sum(value)
    }
    #[inline(always)]
    fn min(self, value: u64) -> u64 {
        self.barrier();
        min(value)
    }
    #[inline(always)]
    fn sum_before(self, value: u32) -> (u32, u32) {
        self.barrier();
        sum_before(value)
    }
    #[inline(always)]
    fn rank_among(self, flag: bool) -> (u32, u32) {
        self.barrier();
        rank_among(flag)
    }
    /// As in one thread, with one word per lane.
    #[inline(always)]
    fn transpose(self, row: impl Fn(u32) -> u32, mut take: impl FnMut(u32, u32)) {
        let mut word = row(lane());
        let (mut distance, mut mask) = (SIZE / 2, 0xffff_u32);
        while distance > 0 {
            let other = shuffle_xor(ALL, word, distance);
            word = if lane() & distance == 0 {
                word & mask | (other & mask) << distance
            } else {
                word & !mask | (other & !mask) >> distance
            };
            distance /= 2;
            mask ^= mask << distance;
        }
        take(lane(), word);
    }
}
