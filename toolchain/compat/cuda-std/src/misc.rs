//! Clocks and breakpoints.

use crate::gpu_only;

/// Stops in a debugger.
#[gpu_only]
#[inline(always)]
pub fn breakpoint() {
    // SAFETY: touches no memory.
    unsafe { core::arch::asm!("brkpt;", options(nostack)) }
}

/// Counts an event of a profiler, 0 to 15; nothing for another number.
#[gpu_only]
#[inline(always)]
pub fn profiler_counter(counter: u32) {
    macro_rules! count {
        ($($n:literal)*) => {
            match counter {
                $($n => core::arch::asm!(concat!("pmevent ", $n, ";"), options(nomem, nostack)),)*
                _ => {}
            }
        };
    }
    // SAFETY: touches no memory.
    unsafe { count!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15) }
}

/// Returns a counter of the multiprocessor's cycles; on a host a clock in nanoseconds, or 0.
#[inline(always)]
pub fn clock() -> u64 {
    warpsmith::clock()
}
