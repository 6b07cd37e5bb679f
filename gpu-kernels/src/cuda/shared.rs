//! A block's dynamic shared memory.

use core::arch::{asm, global_asm};

unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.isspacep.shared"]
    safe fn isspacep_shared(pointer: *const u8) -> bool;
}

global_asm!(".extern .shared .align 16 .b8 dynamic_shared[];");

/// Returns the start of the block's dynamic shared memory, aligned to 16 bytes: an ordinary pointer whose accesses compile to
/// shared loads and stores.
///
/// LLVM's address-space inference learns the space from the assumption below; it only rewrites accesses made through pointer
/// arithmetic, hence an offset that it cannot see through: 0, which ptxas removes.
#[inline(always)]
pub fn dynamic() -> *mut u8 {
    let (start, zero): (*mut u8, usize);
    // SAFETY: the symbol is the dynamic shared memory that every launch has; its generic address is in shared
    // space, as the assumption says, and an offset of 0 stays inside.
    unsafe {
        asm!(
            "mov.b64 {0}, dynamic_shared;",
            "cvta.shared.u64 {0}, {0};",
            "mov.b64 {1}, 0;",
            out(reg64) start, out(reg64) zero,
            options(pure, nomem, nostack, preserves_flags)
        );
        core::hint::assert_unchecked(isspacep_shared(start));
        start.byte_add(zero)
    }
}
