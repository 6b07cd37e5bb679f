//! The grid of a launch: its blocks, and a barrier over all of them.

use crate::back;

/// Returns the number of blocks along x.
#[inline(always)]
pub fn dim_x() -> u32 {
    back::nctaid_x()
}

/// Returns the number of blocks along y.
#[inline(always)]
pub fn dim_y() -> u32 {
    back::nctaid_y()
}

/// Returns the number of blocks along z.
#[inline(always)]
pub fn dim_z() -> u32 {
    back::nctaid_z()
}

/// Returns the number of blocks.
#[inline(always)]
pub fn blocks() -> u64 {
    dim_x() as u64 * dim_y() as u64 * dim_z() as u64
}

/// Waits for all threads of all blocks; what they wrote before is visible to all of them after.
///
/// Only in a launch of `Grid::cooperative`: other launches may have blocks that start when others end, and then this waits for
/// ever. All threads must reach the same call.
#[inline(always)]
#[track_caller]
pub fn sync() {
    back::sync_grid();
}
