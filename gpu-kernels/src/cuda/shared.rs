//! A block's dynamic shared memory.

use warpsmith::shared::Shared;

/// Returns the start of the block's dynamic shared memory, aligned to 16 bytes: an ordinary pointer whose accesses compile to
/// shared loads and stores.
#[inline(always)]
pub fn dynamic() -> *mut u8 {
    Shared::<[u8]>::dynamic().as_mut_ptr()
}
