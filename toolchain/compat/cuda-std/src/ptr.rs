//! Which memory a pointer points to.

use crate::gpu_only;

/// A kind of memory of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressSpace {
    /// Of the whole device.
    Global,
    /// Of a block.
    Shared,
    /// Of the whole device, for reading alone.
    Constant,
    /// Of a thread.
    Local,
}

#[cfg(target_os = "cuda")]
unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.isspacep.global"]
    safe fn is_global(p: *const u8) -> bool;
    #[link_name = "llvm.nvvm.isspacep.shared"]
    safe fn is_shared(p: *const u8) -> bool;
    #[link_name = "llvm.nvvm.isspacep.const"]
    safe fn is_constant(p: *const u8) -> bool;
    #[link_name = "llvm.nvvm.isspacep.local"]
    safe fn is_local(p: *const u8) -> bool;
}

/// Returns whether a pointer points to this kind of memory.
///
/// # Safety
/// The pointer is one into memory of the device.
#[gpu_only]
#[inline(always)]
pub unsafe fn is_in_address_space<T>(ptr: *const T, address_space: AddressSpace) -> bool {
    let p = ptr.cast();
    match address_space {
        AddressSpace::Global => is_global(p),
        AddressSpace::Shared => is_shared(p),
        AddressSpace::Constant => is_constant(p),
        AddressSpace::Local => is_local(p),
    }
}

#[cfg(target_os = "cuda")]
macro_rules! converted {
    ($ptr:ident, $space:ident, $instruction:literal) => {{
        macro_rules! convert {
            ($name:literal) => {{
                let converted;
                // SAFETY: arithmetic with an address.
                unsafe {
                    core::arch::asm!(
                        concat!($instruction, $name, ".u64 {0}, {1};"),
                        out(reg64) converted, in(reg64) $ptr, options(pure, nomem, nostack, preserves_flags)
                    );
                }
                converted
            }};
        }
        match $space {
            AddressSpace::Global => convert!("global"),
            AddressSpace::Shared => convert!("shared"),
            AddressSpace::Constant => convert!("const"),
            AddressSpace::Local => convert!("local"),
        }
    }};
}

/// Returns the address within one kind of memory.
///
/// # Safety
/// The pointer points to that kind of memory. The result is for assembly alone.
#[gpu_only]
#[inline(always)]
pub unsafe fn convert_generic_to_specific_address_space<T>(
    ptr: *const T,
    address_space: AddressSpace,
) -> *const T {
    converted!(ptr, address_space, "cvta.to.")
}

/// Returns the pointer that an address within one kind of memory is.
///
/// # Safety
/// The address is one of that kind of memory.
#[gpu_only]
#[inline(always)]
pub unsafe fn convert_specific_address_space_to_generic<T>(
    ptr: *const T,
    address_space: AddressSpace,
) -> *const T {
    converted!(ptr, address_space, "cvta.")
}
