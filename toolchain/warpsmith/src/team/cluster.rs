//! A cluster as a team.

use super::{Block, Team};
use crate::warp::{Lane, Reduce};
use crate::{back, cluster};

/// The threads of a cluster, whose blocks have whole warps, as a team. Before `sm_90`, and in launches without clusters, it is one block.
///
/// A kernel that uses it has 264 bytes of shared memory more, and 8 KiB more if it uses [`Team::shuffle`].
#[derive(Clone, Copy, Debug)]
pub struct Cluster {
    block: Block,
    /// A word of this block's shared memory, which only teams of this type use.
    word: *mut u64,
    own: u32,
    blocks: u32,
}

/// Returns a place in shared memory for each thread of the block, for shuffles alone.
#[inline(always)]
#[cfg_attr(not(target_os = "cuda"), track_caller)]
pub(super) fn places() -> *mut u64 {
    crate::__shared!([u64; 1024], "warpsmith_team_places").as_ptr().cast()
}

impl Cluster {
    /// Returns the cluster of this thread.
    ///
    /// # Panics
    /// If the number of threads of a block is not a multiple of 32.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    pub fn current() -> Self {
        let word = crate::__shared!([u64; 1], "warpsmith_team_word").as_ptr().cast();
        Cluster { block: Block::current(), word, own: cluster::rank(), blocks: cluster::blocks() }
    }

    /// Folds the values of the blocks in their order. All threads of a block have the same `value`.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn of_blocks<T: Lane, R>(self, value: T, start: R, fold: impl Fn(R, u32, T) -> R) -> R {
        if self.block.rank() == 0 {
            // SAFETY: one thread writes its block's word. All threads of the cluster have passed a barrier since words were read.
            unsafe { self.word.write(value.into_bits()) };
        }
        cluster::sync();
        let (mut result, mut rank) = (start, 0);
        while rank < self.blocks {
            // SAFETY: the word of a block of the cluster, written before the barrier. No block ends or writes before the next one.
            let bits = unsafe { back::of_cluster(self.word.cast(), rank).cast::<u64>().read() };
            result = fold(result, rank, T::from_bits(bits));
            rank += 1;
        }
        cluster::sync();
        result
    }

    /// Returns the sums before a thread and over all, given those within its block.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn among<T: Reduce>(self, (before, sum): (T, T)) -> (T, T) {
        let (earlier, all) = self.of_blocks(sum, (T::ZERO, T::ZERO), |(earlier, all), rank, sum| {
            (if rank == self.own { all } else { earlier }, all.add(sum))
        });
        (before.add(earlier), all)
    }
}

impl Team for Cluster {
    type Part = Block;

    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn rank(self) -> u32 {
        self.own * self.block.size() + self.block.rank()
    }
    #[inline(always)]
    fn size(self) -> u32 {
        self.blocks * self.block.size()
    }
    #[inline(always)]
    fn part(self) -> Block {
        self.block
    }
    #[inline(always)]
    fn part_rank(self) -> u32 {
        self.own
    }
    #[inline(always)]
    fn parts(self) -> u32 {
        self.blocks
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn sync(self) {
        self.block.check_owner();
        cluster::sync();
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn shuffle<T: Lane>(self, value: T, from: u32) -> T {
        let places = places();
        // Blocks use the same places.
        self.sync();
        // SAFETY: a block has at most 1,024 threads, and each writes its own place. Barriers are before and after.
        unsafe { places.add(self.block.rank() as usize).write(value.into_bits()) };
        self.sync();
        let from = if from < self.size() { from } else { self.rank() };
        let (rank, at) = (from / self.block.size(), from % self.block.size());
        // SAFETY: the memory of a block of the cluster, written before the barrier. No block ends or writes before the next one.
        let bits = unsafe { back::of_cluster(places.cast(), rank).cast::<u64>().add(at as usize).read() };
        self.sync();
        T::from_bits(bits)
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn reduce<T: Lane>(self, value: T, combine: impl Fn(T, T) -> T) -> T {
        let own = self.block.reduce(value, &combine);
        self.of_blocks(own, own, |all, rank, of| if rank == 0 { of } else { combine(all, of) })
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn sum_before<T: Reduce>(self, value: T) -> (T, T) {
        self.among(self.block.sum_before(value))
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn sum<T: Reduce>(self, value: T) -> T {
        self.of_blocks(self.block.sum(value), T::ZERO, |all, _, of| all.add(of))
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn min<T: Reduce>(self, value: T) -> T {
        self.of_blocks(self.block.min(value), T::LARGEST, |all, _, of| all.smaller(of))
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn max<T: Reduce>(self, value: T) -> T {
        self.of_blocks(self.block.max(value), T::SMALLEST, |all, _, of| all.larger(of))
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn count(self, predicate: bool) -> u32 {
        self.of_blocks(self.block.count(predicate), 0, |all, _, of| all + of)
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn count_before(self, predicate: bool) -> (u32, u32) {
        self.among(self.block.count_before(predicate))
    }
}
