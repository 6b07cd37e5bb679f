//! `block_canary`: shows at build time and on the GPU that barriers stay where the source puts them.
//!
//! rustc's MIR pass `JumpThreading` does not know that a barrier must not be copied into divergent branches. This kernel is the
//! smallest shape that it breaks, so its PTX must contain exactly one barrier: the build script counts barriers, and a GPU test
//! runs the kernel.
//!
//! Grid: one block of 32 to 1024 threads, one dimension. No shared memory. Deterministic.

use crate::cuda::thread::{block_dim, sync_threads, thread_idx};

/// Threads below this one take the branch before the barrier.
const FLAGGED: u32 = 16;

/// Writes to `out` (`2 * block size` words): word `i` of the first half is 1 where thread `i` took the branch and unchanged
/// elsewhere; word `block size + i` is `2 * i + 1` for the flagged threads and `3 * i + 2` for the others.
///
/// # Safety
/// `out` points to `2 * block size` words of device memory that nothing else uses during the launch.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn block_canary(out: *mut u32) {
    let (thread, threads) = (thread_idx(), block_dim());
    let mut flag = false;
    if thread < FLAGGED {
        // SAFETY: `thread < threads`, so the word is in `out`'s first half, and it belongs to this thread alone.
        unsafe { out.add(thread as usize).write(1) };
        flag = true;
    }
    sync_threads();
    let value = if flag { 2 * thread + 1 } else { 3 * thread + 2 };
    // SAFETY: `threads + thread < 2 * threads`: in `out`'s second half, and this thread's alone.
    unsafe { out.add((threads + thread) as usize).write(value) };
}
