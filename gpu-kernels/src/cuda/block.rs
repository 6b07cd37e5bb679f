//! The threads of a block, and the team that they form.

use antwarp_core::team::{Slots, Team};

use super::shared;
use super::thread::{block_dim, sync_threads, thread_idx};
use super::warp::{self, Warp};

/// Where the values of `arg_max` are: after two rows with one 64-bit word per warp, so that one reduction can start while a late
/// warp still reads the result of another kind.
const VALUES: u32 = 2 * 8 * warp::SIZE;

/// Bytes at the start of dynamic shared memory that [`Block`] keeps for its reductions.
pub const SHARED_BYTES: u32 = VALUES + 4 * warp::SIZE;

/// A block of whole warps as a team. At most one team of this type exists in a block.
#[derive(Clone, Copy)]
pub struct Block;

impl Block {
    #[inline(always)]
    fn warps(self) -> u32 {
        block_dim() / warp::SIZE
    }

    /// Puts `value` of each warp into row `row` and returns to each lane the value of the warp with its number.
    #[inline(always)]
    fn exchange(self, row: u32, value: u64, none: u64) -> u64 {
        // SAFETY: the launcher reserves SHARED_BYTES; a warp writes its own word, and a barrier precedes reading.
        unsafe {
            let words = shared::dynamic().add((row * 8 * warp::SIZE) as usize).cast();
            let words = Slots::<u64>::new(words, warp::SIZE as usize);
            if warp::lane() == 0 {
                words.set(thread_idx() / warp::SIZE, value);
            }
            sync_threads();
            if warp::lane() < self.warps() { words.get(warp::lane()) } else { none }
        }
    }

    /// Returns the sums before a thread and over all, given those within its warp.
    #[inline(always)]
    fn among(self, (before, sum): (u32, u32)) -> (u32, u32) {
        let sums = self.exchange(1, sum as u64, 0);
        let own = thread_idx() / warp::SIZE;
        let earlier = if warp::lane() < own { sums } else { 0 };
        (before.wrapping_add(warp::sum(earlier) as u32), warp::sum(sums) as u32)
    }
}

impl Team for Block {
    type Part = Warp;

    #[inline(always)]
    fn part(self) -> Warp {
        Warp
    }
    #[inline(always)]
    fn part_rank(self) -> u32 {
        thread_idx() / warp::SIZE
    }
    #[inline(always)]
    fn parts(self) -> u32 {
        self.warps()
    }
    #[inline(always)]
    fn rank(self) -> u32 {
        thread_idx()
    }
    #[inline(always)]
    fn size(self) -> u32 {
        block_dim()
    }
    #[inline(always)]
    fn barrier(self) {
        sync_threads()
    }
    #[inline(always)]
    fn arg_max(self, key: u32, tag: u32, value: u32) -> (u32, u32) {
        if self.warps() == 1 {
            return Warp.arg_max(key, tag, value);
        }
        let (key, tag, value) = warp::arg_max(key, tag, value);
        // SAFETY: as in `exchange`; the barrier there orders both rows.
        let values =
            unsafe { Slots::<u32>::new(shared::dynamic().add(VALUES as usize).cast(), warp::SIZE as usize) };
        if warp::lane() == 0 {
            // SAFETY: one word per warp.
            unsafe { values.set(thread_idx() / warp::SIZE, value) };
        }
        let best = self.exchange(0, (key as u64) << 32 | tag as u64, u32::MAX as u64);
        // SAFETY: as above; lanes beyond the warps read an unused word.
        let value = unsafe { values.get(warp::lane()) };
        let (key, _, value) = warp::arg_max((best >> 32) as u32, best as u32, value);
        (key, value)
    }
    #[inline(always)]
    fn sum(self, value: u64) -> u64 {
        sync_threads();
        warp::sum(self.exchange(1, warp::sum(value), 0))
    }
    #[inline(always)]
    fn sum_before(self, value: u32) -> (u32, u32) {
        sync_threads();
        self.among(warp::sum_before(value))
    }
    #[inline(always)]
    fn rank_among(self, flag: bool) -> (u32, u32) {
        sync_threads();
        self.among(warp::rank_among(flag))
    }
    #[inline(always)]
    fn min(self, value: u64) -> u64 {
        sync_threads();
        warp::min(self.exchange(1, warp::min(value), u64::MAX))
    }
}
