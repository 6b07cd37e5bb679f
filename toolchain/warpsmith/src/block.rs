//! The block of a thread, and its barriers.

use core::marker::PhantomData;

use crate::{back, thread, warp};

/// Returns the block's position in the grid along x.
#[inline(always)]
pub fn x() -> u32 {
    back::ctaid_x()
}

/// Returns the block's position in the grid along y.
#[inline(always)]
pub fn y() -> u32 {
    back::ctaid_y()
}

/// Returns the block's position in the grid along z.
#[inline(always)]
pub fn z() -> u32 {
    back::ctaid_z()
}

/// Returns the number of threads of a block along x.
#[inline(always)]
pub fn dim_x() -> u32 {
    back::ntid_x()
}

/// Returns the number of threads of a block along y.
#[inline(always)]
pub fn dim_y() -> u32 {
    back::ntid_y()
}

/// Returns the number of threads of a block along z.
#[inline(always)]
pub fn dim_z() -> u32 {
    back::ntid_z()
}

/// Returns the number of threads of a block.
#[inline(always)]
pub fn threads() -> u32 {
    dim_x() * dim_y() * dim_z()
}

/// Returns the block's number in the grid, x running fastest.
#[inline(always)]
pub fn index() -> u64 {
    let (across, down) = (back::nctaid_x() as u64, back::nctaid_y() as u64);
    x() as u64 + across * (y() as u64 + down * z() as u64)
}

/// Waits for all threads of the block; what they wrote before is visible to all of them after.
///
/// All threads of the block must reach the same call, the ones with nothing to do included: leave no thread behind with `return`
/// or `if`.
#[inline(always)]
#[track_caller]
pub fn sync_threads() {
    back::sync_threads();
}

/// As [`sync_threads`]; returns for how many threads of the block `predicate` is true.
#[inline(always)]
#[track_caller]
pub fn sync_threads_count(predicate: bool) -> u32 {
    back::sync_threads_count(predicate)
}

/// As [`sync_threads`]; returns whether `predicate` is true for all threads of the block.
#[inline(always)]
#[track_caller]
pub fn sync_threads_and(predicate: bool) -> bool {
    back::sync_threads_and(predicate)
}

/// As [`sync_threads`]; returns whether `predicate` is true for any thread of the block.
#[inline(always)]
#[track_caller]
pub fn sync_threads_or(predicate: bool) -> bool {
    back::sync_threads_or(predicate)
}

/// A barrier for some of the block's warps, while the others do something else. (PTX calls it a named barrier.)
///
/// ```
/// use warpsmith::prelude::*;
///
/// # warpsmith::module!(cpu);
/// /// Pairs of warps go through as many rounds as their number says.
/// #[kernel]
/// pub fn rounds(y: &mut Slots<u32>) {
///     let pair = block::Barrier::of_group(2);
///     let mut rounds = 0;
///     while rounds <= warp::index() / 2 {
///         pair.sync();
///         rounds += 1;
///     }
///     y.set(thread::index(), rounds);
/// }
/// # fn main() -> warpsmith::Result {
/// # let device = Device::cpu();
/// # let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
/// # let mut y = stream.zeroed(160)?;
/// # kernels.rounds(&stream, Grid::new(1, 160), (&mut y,))?;
/// # assert_eq!((stream.download(&y)?[0], stream.download(&y)?[159]), (1, 3));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    id: u32,
    warps: u32,
}

impl Barrier {
    /// Returns the barrier with this number, from 1 to 15, at which `warps` warps meet.
    ///
    /// Barriers that are used at the same time need different numbers. Number 0 is that of [`sync_threads`].
    ///
    /// # Panics
    /// If there is no barrier with this number, or `warps` is not from 1 to 32.
    #[inline(always)]
    #[track_caller]
    pub fn new(id: u32, warps: u32) -> Self {
        assert!((1..=15).contains(&id), "barrier {id}: a block has barriers 1 to 15");
        assert!((1..=32).contains(&warps), "a barrier for {warps} warps: a block has 1 to 32");
        Barrier { id, warps }
    }

    /// Cuts the block into groups of `warps` warps, of which the last may have fewer, and returns the barrier of this thread's group: number
    /// 1 for the first, and so on.
    ///
    /// # Panics
    /// If there are more than 15 groups.
    #[inline(always)]
    #[track_caller]
    pub fn of_group(warps: u32) -> Self {
        assert!(1 <= warps, "groups of no warps");
        let group = warp::index() / warps;
        let rest = threads().div_ceil(warp::LANES) - group * warps;
        Barrier::new(group + 1, if warps < rest { warps } else { rest })
    }

    /// Waits until as many warps have come here, or to another `sync` of the same barrier; what their threads wrote before is visible to all
    /// of them after.
    ///
    /// All threads of a warp must reach the same call, and all warps must name the same number of warps.
    #[inline(always)]
    #[track_caller]
    pub fn sync(self) {
        back::sync_warps(self.id, self.warps);
    }
}

/// The witness that a thread is its block's first: by it one thread of each block writes the block's element of
/// [`Slots<T, PerBlock>`](crate::slots::PerBlock). It cannot leave its thread.
#[derive(Clone, Copy, Debug)]
pub struct Leader {
    owner: back::Owner,
    /// Neither `Send` nor `Sync`.
    thread: PhantomData<*const ()>,
}

impl Leader {
    /// Returns the number of the block to the thread whose witness it is.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    pub(crate) fn block(self) -> usize {
        back::check_owner(self.owner, "the witness of a block");
        index() as usize
    }
}

/// Returns the block's witness to its first thread; `None` to all others.
#[inline(always)]
pub fn leader() -> Option<Leader> {
    (thread::in_block() == 0).then(|| Leader { owner: back::owner(), thread: PhantomData })
}
