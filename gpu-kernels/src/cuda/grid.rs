//! The blocks of a grid that all run at the same time: a cooperative launch.

use antwarp_core::relaxed::{fetch_add_u64, load_u64};

use super::thread::{grid_dim, sync_threads, thread_idx};

unsafe extern "unadjusted" {
    /// `__threadfence`: what this thread wrote before, the device sees before what it writes after.
    #[link_name = "llvm.nvvm.membar.gl"]
    safe fn membar_gl();
}

/// Waits for every thread of the grid; what any of them wrote before is visible to all of them afterwards.
///
/// `arrivals` counts the blocks that came here, over all barriers of all launches of this grid's size.
///
/// # Safety
/// Every thread of every block comes here as often; all blocks run at the same time; `arrivals` was a multiple of the
/// number of blocks before the launch, and is used for nothing else.
#[inline(always)]
pub unsafe fn sync(arrivals: *mut u64) {
    sync_threads();
    if thread_idx() == 0 {
        let blocks = grid_dim() as u64;
        membar_gl();
        // SAFETY: the caller's promise.
        unsafe {
            let before = fetch_add_u64(arrivals, 1);
            let complete = (before / blocks + 1) * blocks;
            while load_u64(arrivals) < complete {}
        }
        membar_gl();
    }
    sync_threads();
}
