//! The position of a thread in its block and grid; barriers and fences.

use glam::{UVec2, UVec3};
use warpsmith::{block, fence, grid};

macro_rules! positions {
    ($($(#[$doc:meta])* $name:ident, $x:ident, $y:ident, $z:ident: $of:path, $of_y:path, $of_z:path;)*) => { $(
        #[doc = concat!("Returns ", stringify!($name), " along x.")]
        #[inline(always)]
        pub fn $x() -> u32 {
            $of()
        }

        #[doc = concat!("Returns ", stringify!($name), " along y.")]
        #[inline(always)]
        pub fn $y() -> u32 {
            $of_y()
        }

        #[doc = concat!("Returns ", stringify!($name), " along z.")]
        #[inline(always)]
        pub fn $z() -> u32 {
            $of_z()
        }

        $(#[$doc])*
        #[inline(always)]
        pub fn $name() -> UVec3 {
            UVec3::new($x(), $y(), $z())
        }
    )* };
}

positions! {
    /// Returns the thread's position in its block.
    thread_idx, thread_idx_x, thread_idx_y, thread_idx_z: warpsmith::thread::x, warpsmith::thread::y, warpsmith::thread::z;
    /// Returns the block's position in the grid.
    block_idx, block_idx_x, block_idx_y, block_idx_z: block::x, block::y, block::z;
    /// Returns the number of threads of a block along each axis.
    block_dim, block_dim_x, block_dim_y, block_dim_z: block::dim_x, block::dim_y, block::dim_z;
    /// Returns the number of blocks of the grid along each axis.
    grid_dim, grid_dim_x, grid_dim_y, grid_dim_z: grid::dim_x, grid::dim_y, grid::dim_z;
}

/// Returns the thread's number in the grid, from 0, x running fastest within a block, and block after block: for grids of fewer than
/// 2^32 threads.
#[inline(always)]
pub fn index() -> u32 {
    let block = block_idx_x() + grid_dim_x() * (block_idx_y() + grid_dim_y() * block_idx_z());
    block * block::threads() + warpsmith::thread::in_block()
}

/// Returns the thread's position in the grid along x, over all blocks.
#[inline(always)]
pub fn index_1d() -> u32 {
    warpsmith::thread::global_x()
}

/// Returns the thread's position in the grid along x and y, over all blocks.
#[inline(always)]
pub fn index_2d() -> UVec2 {
    UVec2::new(index_1d(), warpsmith::thread::global_y())
}

/// Returns the thread's position in the grid, over all blocks.
#[inline(always)]
pub fn index_3d() -> UVec3 {
    index_2d().extend(warpsmith::thread::global_z())
}

/// Returns whether this is the first thread of the grid.
#[inline(always)]
pub fn first() -> bool {
    let (block, thread) = (block_idx(), thread_idx());
    block.x | block.y | block.z | thread.x | thread.y | thread.z == 0
}

/// Returns the number of lanes of a warp.
#[inline(always)]
pub fn warp_size() -> u32 {
    warpsmith::warp::LANES
}

/// Waits for all threads of the block; what they wrote before is visible to all of them after. All threads must reach the same call.
#[inline(always)]
pub fn sync_threads() {
    block::sync_threads();
}

/// As [`sync_threads`]; returns for how many threads `predicate` is not 0.
#[inline(always)]
pub fn sync_threads_count(predicate: u32) -> u32 {
    block::sync_threads_count(predicate != 0)
}

/// As [`sync_threads`]; returns 1 if `predicate` is not 0 for all threads, else 0.
#[inline(always)]
pub fn sync_threads_and(predicate: u32) -> u32 {
    block::sync_threads_and(predicate != 0) as u32
}

/// As [`sync_threads`]; returns 1 if `predicate` is not 0 for any thread, else 0.
#[inline(always)]
pub fn sync_threads_or(predicate: u32) -> u32 {
    block::sync_threads_or(predicate != 0) as u32
}

/// Orders this thread's accesses of memory for all threads of the grid.
#[inline(always)]
pub fn grid_fence() {
    fence::device();
}

/// Orders this thread's accesses of memory for all threads of the device.
#[inline(always)]
pub fn device_fence() {
    fence::device();
}

/// Orders this thread's accesses of memory for all threads of the device, of others, and of the host.
#[inline(always)]
pub fn system_fence() {
    fence::system();
}

/// Suspends the thread for about so many nanoseconds.
#[inline(always)]
pub fn nanosleep(nanos: u32) {
    warpsmith::thread::pause(nanos);
}
