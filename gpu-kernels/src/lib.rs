//! The entry points of antwarp's CUDA kernels. The algorithms are in `antwarp-core`.
#![no_std]
#![feature(abi_ptx, stdarch_nvptx)]

mod canary;

/// Never runs: `-Cpanic=immediate-abort` turns every panic into a trap. The language wants a handler all the same.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // SAFETY: a trap ends the launch with an error; nothing runs after it.
    unsafe { core::arch::nvptx::trap() }
}
