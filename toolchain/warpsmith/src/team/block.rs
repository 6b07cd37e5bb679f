//! A block as a team.

use super::warp::assert_whole_warps;
use super::{Team, Warp};
use crate::warp::{self, ALL, LANES, Lane, Reduce};
use crate::{back, block, thread};

/// The threads of a block of whole warps, as a team.
///
/// A kernel that uses it has 256 bytes of shared memory more, and 8 KiB more if it uses [`Team::shuffle`].
#[derive(Clone, Copy, Debug)]
pub struct Block {
    rank: u32,
    size: u32,
    /// A word of shared memory for each warp, which only teams of this type use.
    words: *mut u64,
    owner: back::Owner,
}

impl Block {
    /// Returns the block of this thread.
    ///
    /// # Panics
    /// If the number of threads of the block is not a multiple of 32.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    pub fn current() -> Self {
        assert_whole_warps();
        let words = crate::__shared!([u64; 32], "warpsmith_team_words");
        // SAFETY: its own number, and memory that has this use alone.
        unsafe { Block::assume(thread::in_block(), block::threads(), words.as_ptr().cast()) }
    }

    /// Claims that the thread has this number in its block of `size` threads, and gives the team memory: where a kernel knows its position
    /// without asking, or has shared memory to spare.
    ///
    /// # Safety
    /// It has, and `size` is a multiple of 32. `words` is shared memory of the block for as many words as it has warps. Nothing else uses it,
    /// but before or after a barrier of the block.
    #[inline(always)]
    pub unsafe fn assume(rank: u32, size: u32, words: *mut u64) -> Self {
        Block { rank, size, words, owner: back::owner() }
    }

    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    pub(super) fn check_owner(self) {
        back::check_owner(self.owner, "a team");
    }

    #[inline(always)]
    fn lane(self) -> u32 {
        self.rank % LANES
    }

    /// Returns to each lane the value of the warp with its number, and `none` to lanes without one. All lanes of a warp have the same
    /// `value`.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn of_warps<T: Lane>(self, value: T, none: T) -> T {
        // SAFETY: the promise to `assume`. Each warp writes its own word. All threads have passed a barrier since words were read, and pass
        // another one before words are read.
        unsafe {
            if self.lane() == 0 {
                self.words.add(self.part_rank() as usize).write(value.into_bits());
            }
            block::sync_threads();
            if self.lane() < self.parts() {
                T::from_bits(self.words.add(self.lane() as usize).read())
            } else {
                none
            }
        }
    }

    /// Returns the sums before a thread and over all, given those within its warp.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn among<T: Reduce>(self, (before, sum): (T, T)) -> (T, T) {
        let sums = self.of_warps(sum, T::ZERO);
        let earlier = if self.lane() < self.part_rank() { sums } else { T::ZERO };
        (before.add(warp::sum(ALL, earlier)), warp::sum(ALL, sums))
    }
}

impl Team for Block {
    type Part = Warp;

    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn rank(self) -> u32 {
        self.check_owner();
        self.rank
    }
    #[inline(always)]
    fn size(self) -> u32 {
        self.size
    }
    #[inline(always)]
    fn part(self) -> Warp {
        // SAFETY: a block of whole warps.
        unsafe { Warp::assume(self.lane()) }
    }
    #[inline(always)]
    fn part_rank(self) -> u32 {
        self.rank / LANES
    }
    #[inline(always)]
    fn parts(self) -> u32 {
        self.size / LANES
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn sync(self) {
        self.check_owner();
        block::sync_threads();
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn shuffle<T: Lane>(self, value: T, from: u32) -> T {
        let places = super::cluster::places();
        self.sync();
        // SAFETY: a block has at most 1,024 threads, and each writes its own place. Barriers of the block are before and after.
        unsafe { places.add(self.rank as usize).write(value.into_bits()) };
        self.sync();
        let from = if from < self.size { from } else { self.rank };
        // SAFETY: written before the barrier; written again after another one, before which this thread has read.
        T::from_bits(unsafe { places.add(from as usize).read() })
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn reduce<T: Lane>(self, value: T, combine: impl Fn(T, T) -> T) -> T {
        self.sync();
        let mut all = self.of_warps(warp::reduce(ALL, value, &combine), value);
        // Lane i has the values of the warps from i to the one before i + distance, as far as there are any.
        let mut distance = 1;
        while distance < LANES {
            let other = warp::shuffle_down(ALL, all, distance);
            all = if self.lane() + distance < self.parts() { combine(all, other) } else { all };
            distance *= 2;
        }
        warp::shuffle(ALL, all, 0)
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn sum_before<T: Reduce>(self, value: T) -> (T, T) {
        self.sync();
        self.among(self.part().sums(value))
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn sum<T: Reduce>(self, value: T) -> T {
        self.sync();
        warp::sum(ALL, self.of_warps(warp::sum(ALL, value), T::ZERO))
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn min<T: Reduce>(self, value: T) -> T {
        self.sync();
        warp::min(ALL, self.of_warps(warp::min(ALL, value), T::LARGEST))
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn max<T: Reduce>(self, value: T) -> T {
        self.sync();
        warp::max(ALL, self.of_warps(warp::max(ALL, value), T::SMALLEST))
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn count(self, predicate: bool) -> u32 {
        self.check_owner();
        block::sync_threads_count(predicate)
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn count_before(self, predicate: bool) -> (u32, u32) {
        self.sync();
        self.among(self.part().counts(predicate))
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn all(self, predicate: bool) -> bool {
        self.check_owner();
        block::sync_threads_and(predicate)
    }
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn any(self, predicate: bool) -> bool {
        self.check_owner();
        block::sync_threads_or(predicate)
    }
}
