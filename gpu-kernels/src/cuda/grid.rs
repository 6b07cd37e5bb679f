//! The blocks of a grid that all run at the same time: a cooperative launch.

use core::arch::asm;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::thread::{grid_dim, sync_threads, thread_idx};

/// What this thread wrote, or has seen, before, the device sees before what it writes after; and what others wrote before
/// what it has seen, it sees after.
#[inline(always)]
fn thread_fence() {
    // SAFETY: it orders memory accesses, of this thread alone.
    unsafe { asm!("fence.acq_rel.gpu;", options(nostack, preserves_flags)) }
}

/// A barrier for all threads of the grid.
pub struct Barrier {
    arrivals: *mut u64,
    /// Arrivals that complete the last barrier; 0 before the first.
    complete: u64,
}

impl Barrier {
    /// The barrier that counts in `arrivals` the blocks that come to it, over all launches of this grid's size.
    ///
    /// # Safety
    /// All blocks run at the same time; `arrivals` was a multiple of the number of blocks before the launch, and is used
    /// for nothing else.
    #[inline(always)]
    pub unsafe fn new(arrivals: *mut u64) -> Self {
        Barrier { arrivals, complete: 0 }
    }

    /// Waits for every thread of the grid; what any of them wrote before is visible to all of them afterwards. Every
    /// thread of every block must come here.
    #[inline(always)]
    pub fn wait(&mut self) {
        sync_threads();
        if thread_idx() == 0 {
            let blocks = grid_dim() as u64;
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
