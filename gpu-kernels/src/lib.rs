//! The entry points of antwarp's CUDA kernels. The algorithms are in `antwarp-core`; an entry makes its team,
//! borrows its arguments and calls one function there.
#![no_std]
#![feature(abi_ptx, stdarch_nvptx, asm_experimental_arch, link_llvm_intrinsics, abi_unadjusted)]
#![allow(internal_features)]

// First, because macros are only visible to the modules that follow.
#[macro_use]
mod entry;

mod canary;
mod cuda;
mod judge;
mod lin_kernighan;
mod papers;
mod tour_costs;

/// Never runs: `-Cpanic=immediate-abort` turns every panic into a trap. The language requires a handler all the same.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // SAFETY: a trap ends the launch with an error; nothing runs after it.
    unsafe { core::arch::nvptx::trap() }
}
