//! Blocks of a grid that run at the same time: a cooperative launch.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use antwarp_core::team::{Slots, Team};
use warpsmith::fence::device_acq_rel as thread_fence;

use super::block::Block;
use super::thread::{block_dim, sync_threads, thread_idx};
use super::warp::Warp;

/// A barrier for all threads of several blocks.
pub struct Barrier {
    arrivals: *mut u64,
    blocks: u32,
    /// Arrivals that complete the last barrier; 0 before the first.
    complete: u64,
}

impl Barrier {
    /// Makes the barrier that counts arrivals of this many blocks in `arrivals`, over all launches with the same number of blocks.
    ///
    /// # Safety
    /// The blocks run at the same time; `arrivals` was a multiple of their number before the launch, and is used for nothing else.
    #[inline(always)]
    pub unsafe fn new(arrivals: *mut u64, blocks: u32) -> Self {
        Barrier { arrivals, blocks, complete: 0 }
    }

    /// Waits for every thread of the blocks; what any of them wrote before is visible to all of them afterwards. Every thread of
    /// each of the blocks must call this.
    #[inline(always)]
    pub fn wait(&mut self) {
        sync_threads();
        if thread_idx() == 0 {
            let blocks = self.blocks as u64;
            // SAFETY: the promise to `new`.
            let arrivals = unsafe { AtomicU64::from_ptr(self.arrivals) };
            thread_fence();
            let before = arrivals.fetch_add(1, Relaxed);
            let first = self.complete == 0;
            self.complete = if first { (before / blocks + 1) * blocks } else { self.complete + blocks };
            while arrivals.load(Relaxed) < self.complete {}
            thread_fence();
        }
        sync_threads();
    }
}

/// Several blocks that run at the same time, as one team. At most one team of this type exists in a block.
#[derive(Clone, Copy)]
pub struct Blocks {
    arrivals: *mut u64,
    partials: Slots<u64>,
    blocks: u32,
    own: u32,
}

impl Blocks {
    /// Makes the team of this many blocks, of which this is number `own`. `partials` has a word for each.
    ///
    /// # Safety
    /// As [`Barrier::new`]; the blocks have the same size, and `partials` is used only by them.
    #[inline(always)]
    pub unsafe fn new(arrivals: *mut u64, partials: *mut u64, blocks: u32, own: u32) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Blocks { arrivals, partials: Slots::new(partials, blocks as usize), blocks, own } }
    }

    /// Combines a value of each block.
    #[inline(always)]
    fn exchange(self, value: u64, first: u64, join: impl Fn(u64, u64) -> u64) -> u64 {
        if self.blocks == 1 {
            return value;
        }
        // SAFETY: one word per block; barriers precede and follow reading.
        unsafe {
            if thread_idx() == 0 {
                self.partials.set(self.own, value);
            }
            self.barrier();
            let mut all = first;
            let mut block = 0;
            while block < self.blocks {
                all = join(all, self.partials.get(block));
                block += 1;
            }
            self.barrier();
            all
        }
    }
}

impl Team for Blocks {
    type Part = Warp;

    #[inline(always)]
    fn part(self) -> Warp {
        Warp
    }
    #[inline(always)]
    fn part_rank(self) -> u32 {
        self.own * Block.parts() + Block.part_rank()
    }
    #[inline(always)]
    fn parts(self) -> u32 {
        self.blocks * Block.parts()
    }
    #[inline(always)]
    fn rank(self) -> u32 {
        self.own * block_dim() + thread_idx()
    }
    #[inline(always)]
    fn size(self) -> u32 {
        self.blocks * block_dim()
    }
    #[inline(always)]
    fn barrier(self) {
        if self.blocks == 1 {
            sync_threads();
        } else {
            // SAFETY: the promise to `new`.
            unsafe { Barrier::new(self.arrivals, self.blocks) }.wait();
        }
    }
    #[inline(always)]
    fn arg_max(self, key: u32, tag: u32, value: u32) -> (u32, u32) {
        let own = (!key as u64) << 32 | tag as u64;
        let best = self.min(own);
        let value = self.min(if own == best { value as u64 } else { u64::MAX });
        (!((best >> 32) as u32), value as u32)
    }
    #[inline(always)]
    fn sum(self, value: u64) -> u64 {
        self.exchange(Block.sum(value), 0, u64::wrapping_add)
    }
    #[inline(always)]
    fn min(self, value: u64) -> u64 {
        self.exchange(Block.min(value), u64::MAX, u64::min)
    }
    #[inline(always)]
    fn sum_before(self, value: u32) -> (u32, u32) {
        let (before, sum) = Block.sum_before(value);
        let own = self.own;
        if self.blocks == 1 {
            return (before, sum);
        }
        // SAFETY: as in `exchange`.
        unsafe {
            if thread_idx() == 0 {
                self.partials.set(own, sum as u64);
            }
            self.barrier();
            let (mut earlier, mut all) = (0u32, 0u32);
            let mut block = 0;
            while block < self.blocks {
                let sum = self.partials.get(block) as u32;
                earlier = earlier.wrapping_add(if block < own { sum } else { 0 });
                all = all.wrapping_add(sum);
                block += 1;
            }
            self.barrier();
            (before.wrapping_add(earlier), all)
        }
    }
}
