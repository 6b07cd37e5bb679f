//! The block of a thread, and its barriers.

use crate::back;

mod barrier;
mod leader;

pub use barrier::Barrier;
pub use leader::{Leader, leader};

/// Returns the block's position in the grid along x, from 0.
#[inline(always)]
pub fn x() -> u32 {
    back::ctaid_x()
}

/// Returns the block's position in the grid along y, from 0.
#[inline(always)]
pub fn y() -> u32 {
    back::ctaid_y()
}

/// Returns the block's position in the grid along z, from 0.
#[inline(always)]
pub fn z() -> u32 {
    back::ctaid_z()
}

/// Returns the number of threads of a block along x.
#[inline(always)]
pub fn dim_x() -> u32 {
    back::ntid_x()
}

/// Returns the number of threads of a block along y.
#[inline(always)]
pub fn dim_y() -> u32 {
    back::ntid_y()
}

/// Returns the number of threads of a block along z.
#[inline(always)]
pub fn dim_z() -> u32 {
    back::ntid_z()
}

/// Returns the number of threads of a block.
#[inline(always)]
pub fn threads() -> u32 {
    dim_x() * dim_y() * dim_z()
}

/// Returns the block's number in the grid, from 0, x running fastest and z slowest.
#[inline(always)]
pub fn index() -> u64 {
    let (across, down) = (back::nctaid_x() as u64, back::nctaid_y() as u64);
    x() as u64 + across * (y() as u64 + down * z() as u64)
}

/// Waits for all threads of the block; what they wrote before is visible to all of them after.
///
/// All threads of the block must reach the same call, the ones with nothing to do included: leave no thread behind with `return`
/// or `if`.
#[inline(always)]
#[track_caller]
pub fn sync_threads() {
    back::sync_threads();
}

/// As [`sync_threads`]; returns for how many threads of the block `predicate` is true.
#[inline(always)]
#[track_caller]
pub fn sync_threads_count(predicate: bool) -> u32 {
    back::sync_threads_count(predicate)
}

/// As [`sync_threads`]; returns whether `predicate` is true for all threads of the block.
#[inline(always)]
#[track_caller]
pub fn sync_threads_and(predicate: bool) -> bool {
    back::sync_threads_and(predicate)
}

/// As [`sync_threads`]; returns whether `predicate` is true for any thread of the block.
#[inline(always)]
#[track_caller]
pub fn sync_threads_or(predicate: bool) -> bool {
    back::sync_threads_or(predicate)
}
