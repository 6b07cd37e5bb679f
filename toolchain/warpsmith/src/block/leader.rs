//! The witness by which one thread of a block acts for all.

use core::marker::PhantomData;

use crate::{back, block, thread};

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
        block::index() as usize
    }
}

/// Returns the block's witness to its first thread; `None` to all others.
#[inline(always)]
pub fn leader() -> Option<Leader> {
    (thread::in_block() == 0).then(|| Leader { owner: back::owner(), thread: PhantomData })
}
