//! The position of a thread, and the index that only it has.

use core::fmt;
use core::marker::PhantomData;

use crate::{back, block, grid};

/// An index that no other thread of the launch has: the witness by which a thread writes its own element of
/// [`Slots`](crate::Slots).
///
/// It cannot leave its thread. Where threads are simulated, one that was put aside for another thread or launch is an error of the
/// launch that uses it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Index {
    at: usize,
    /// Whose it is: nothing on a device, where nothing of a thread outlives it.
    owner: back::Owner,
    /// Neither `Send` nor `Sync`.
    thread: PhantomData<*const ()>,
}

impl Index {
    /// Returns the number.
    #[inline(always)]
    pub fn get(self) -> usize {
        self.at
    }

    /// Claims that no other thread of the launch uses this index.
    ///
    /// # Safety
    /// No two threads of a launch may hold the same index, from whatever function.
    #[inline(always)]
    pub unsafe fn assume(at: usize) -> Self {
        Index { at, owner: back::owner(), thread: PhantomData }
    }

    /// Returns the number to the thread whose index it is.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    pub(crate) fn checked(self) -> usize {
        back::check_owner(self.owner, "an index");
        self.at
    }
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Index").field(&self.at).finish()
    }
}

/// The witness of a thread's row and column in a launch of two dimensions: by it a thread writes its own element of
/// [`Slots<T, PerPosition>`](crate::slots::PerPosition). It cannot leave its thread.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    row: usize,
    column: usize,
    owner: back::Owner,
    /// Neither `Send` nor `Sync`.
    thread: PhantomData<*const ()>,
}

impl Position {
    /// Returns the position along y.
    #[inline(always)]
    pub fn row(self) -> usize {
        self.row
    }

    /// Returns the position along x.
    #[inline(always)]
    pub fn column(self) -> usize {
        self.column
    }

    /// Returns row and column to the thread whose position it is.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    pub(crate) fn checked(self) -> (usize, usize) {
        back::check_owner(self.owner, "a position");
        (self.row, self.column)
    }
}

/// Returns the thread's row and column in the launch, over all blocks: no other thread has both. `None` in a launch with more than one
/// block or thread along z.
#[inline(always)]
pub fn position() -> Option<Position> {
    if block::dim_z() | grid::dim_z() != 1 {
        return None;
    }
    let at = |block: u32, threads: u32, thread: u32| block as usize * threads as usize + thread as usize;
    let row = at(block::y(), block::dim_y(), y());
    let column = at(block::x(), block::dim_x(), x());
    Some(Position { row, column, owner: back::owner(), thread: PhantomData })
}

/// Returns the thread's position in its block along x, from 0.
#[inline(always)]
pub fn x() -> u32 {
    back::tid_x()
}

/// Returns the thread's position in its block along y, from 0.
#[inline(always)]
pub fn y() -> u32 {
    back::tid_y()
}

/// Returns the thread's position in its block along z, from 0.
#[inline(always)]
pub fn z() -> u32 {
    back::tid_z()
}

/// Returns the thread's number in its block, from 0, x running fastest and z slowest.
#[inline(always)]
pub fn in_block() -> u32 {
    x() + block::dim_x() * (y() + block::dim_y() * z())
}

/// Returns the thread's number in the launch: its block's number times the threads of a block, plus its number in the block. No
/// other thread of the launch has it.
#[inline(always)]
pub fn index() -> Index {
    // In most launches there is only x, and this is one multiplication.
    let at = if block::dim_y() | block::dim_z() | grid::dim_y() | grid::dim_z() == 1 {
        block::x() as usize * block::dim_x() as usize + x() as usize
    } else {
        block::index() as usize * block::threads() as usize + in_block() as usize
    };
    // SAFETY: the number is that of the thread alone.
    unsafe { Index::assume(at) }
}

/// Returns the position in the launch along x, over all blocks: for launches of fewer than 2^32 threads along x.
#[inline(always)]
pub fn global_x() -> u32 {
    block::x() * block::dim_x() + x()
}

/// Returns the position in the launch along y, over all blocks: for launches of fewer than 2^32 threads along y.
#[inline(always)]
pub fn global_y() -> u32 {
    block::y() * block::dim_y() + y()
}

/// Returns the position in the launch along z, over all blocks: for launches of fewer than 2^32 threads along z.
#[inline(always)]
pub fn global_z() -> u32 {
    block::z() * block::dim_z() + z()
}

/// Returns the number of threads of the launch.
#[inline(always)]
pub fn count() -> usize {
    grid::blocks() as usize * block::threads() as usize
}

/// Returns every index below `n` that is this thread's share: its own number, then further ones, each the number of threads of
/// the launch apart. Together the threads of a launch have all of them, each once.
///
/// Use either this or [`index`] where it matters that elements are visited once; both are always sound together, as a thread's
/// first share is its [`index`].
#[inline(always)]
pub fn strided(n: usize) -> Strided {
    let Index { at, owner, thread } = index();
    Strided { next: at, step: count(), n, owner, thread }
}

/// The indices of [`strided`].
#[derive(Clone, Debug)]
pub struct Strided {
    next: usize,
    step: usize,
    n: usize,
    owner: back::Owner,
    /// Neither `Send` nor `Sync`, as its indices.
    thread: PhantomData<*const ()>,
}

impl Iterator for Strided {
    type Item = Index;

    #[inline(always)]
    fn next(&mut self) -> Option<Index> {
        if self.next >= self.n {
            return None;
        }
        let at = self.next;
        // No memory has so many elements that this overflows.
        self.next = at.wrapping_add(self.step);
        Some(Index { at, owner: self.owner, thread: self.thread })
    }
}

/// Lets other threads run: a device pauses this one for about so many nanoseconds, a simulation runs the next thread. For loops that
/// wait for an atomic.
#[inline(always)]
pub fn pause(nanoseconds: u32) {
    back::pause(nanoseconds);
}
