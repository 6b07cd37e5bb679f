//! Blocks of a grid that run at the same time: a cooperative launch.

use core::arch::asm;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::thread::{sync_threads, thread_idx};

/// What this thread wrote, or has seen, before, the device sees before what it writes after; and what others wrote before
/// what it has seen, it sees after.
#[inline(always)]
fn thread_fence() {
    // SAFETY: it orders memory accesses, of this thread alone.
    unsafe { asm!("fence.acq_rel.gpu;", options(nostack, preserves_flags)) }
}

/// A barrier for all threads of some blocks.
pub struct Barrier {
    arrivals: *mut u64,
    blocks: u32,
    /// Arrivals that complete the last barrier; 0 before the first.
    complete: u64,
}

impl Barrier {
    /// The barrier that counts in `arrivals` which of so many blocks come to it, over all launches with the same number.
    ///
    /// # Safety
    /// The blocks run at the same time; `arrivals` was a multiple of their number before the launch, and is used for
    /// nothing else.
    #[inline(always)]
    pub unsafe fn new(arrivals: *mut u64, blocks: u32) -> Self {
        Barrier { arrivals, blocks, complete: 0 }
    }

    /// Waits for every thread of the blocks; what any of them wrote before is visible to all of them afterwards. Every
    /// thread of each of the blocks must come here.
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
