//! The device's heap, and how much shared memory there is.

use core::alloc::{GlobalAlloc, Layout};

use crate::gpu_only;

/// An allocator over the device's own heap. It is the global one already.
#[derive(Clone, Copy, Debug, Default)]
pub struct CUDAAllocator;

// SAFETY: it passes on to the global allocator.
unsafe impl GlobalAlloc for CUDAAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { crate::__alloc::alloc::alloc(layout) }
    }

    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { crate::__alloc::alloc::dealloc(p, layout) }
    }
}

macro_rules! sizes {
    ($($(#[$doc:meta])* $name:ident, $register:literal;)*) => { $(
        $(#[$doc])*
        #[gpu_only]
        #[inline(always)]
        pub fn $name() -> u32 {
            let bytes;
            // SAFETY: reads a special register.
            unsafe {
                core::arch::asm!(
                    concat!("mov.u32 {0}, %", $register, ";"),
                    out(reg32) bytes, options(pure, nomem, nostack, preserves_flags)
                );
            }
            bytes
        }
    )* };
}

sizes! {
    /// Returns the bytes of shared memory that the launch adds.
    dynamic_smem_size, "dynamic_smem_size";
    /// Returns the bytes of shared memory of the block.
    total_smem_size, "total_smem_size";
}
