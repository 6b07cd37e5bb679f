//! A thread's position in its block and grid (one dimension each).

pub use warpsmith::block::{dim_x as block_dim, sync_threads, x as block_idx};
pub use warpsmith::grid::dim_x as grid_dim;
pub use warpsmith::thread::x as thread_idx;

/// Calls `work` for 0 .. n, each index on one thread of the grid.
#[inline(always)]
pub fn for_each(n: u32, mut work: impl FnMut(u32)) {
    let mut i = block_idx() * block_dim() + thread_idx();
    while i < n {
        work(i);
        i += grid_dim() * block_dim();
    }
}
