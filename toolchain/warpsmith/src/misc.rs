//! Clocks, the architecture, and the end of a kernel.

use crate::back;

/// Returns ten times the compute capability that the kernel was compiled for, 90 for `sm_90`; 0 on the CPU.
///
/// It is a constant when the kernel is compiled, so of `if architecture() >= 80 { .. }` only one branch is left. Unlike
/// `cfg(target_feature)` it also works in libraries.
#[inline(always)]
pub fn architecture() -> u32 {
    back::architecture()
}

/// Returns a counter of the multiprocessor's cycles; on the CPU [`nanoseconds`].
#[inline(always)]
pub fn clock() -> u64 {
    back::clock()
}

/// Returns the nanoseconds since some moment, the same one for all multiprocessors; 0 on a CPU without the feature `host`.
#[inline(always)]
pub fn nanoseconds() -> u64 {
    back::nanoseconds()
}

/// Ends the launch with an error.
#[inline(always)]
#[track_caller]
pub fn trap() -> ! {
    back::trap()
}
