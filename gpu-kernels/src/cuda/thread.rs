//! A thread's position in its block and grid (one dimension each).

unsafe extern "unadjusted" {
    /// Returns the thread's number in its block.
    #[link_name = "llvm.nvvm.read.ptx.sreg.tid.x"]
    pub safe fn thread_idx() -> u32;
    /// Returns the number of threads in a block.
    #[link_name = "llvm.nvvm.read.ptx.sreg.ntid.x"]
    pub safe fn block_dim() -> u32;
    /// Returns the block's number in the grid.
    #[link_name = "llvm.nvvm.read.ptx.sreg.ctaid.x"]
    pub safe fn block_idx() -> u32;
    /// Returns the number of blocks in the grid.
    #[link_name = "llvm.nvvm.read.ptx.sreg.nctaid.x"]
    pub safe fn grid_dim() -> u32;
    /// `__syncthreads`: waits for every thread of the block.
    #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.all"]
    safe fn barrier_cta(id: u32);
}

/// `__syncthreads`: waits for every thread of the block; all of them must call it.
#[inline(always)]
pub fn sync_threads() {
    barrier_cta(0)
}

/// Calls `work` for 0 .. n, each index on one thread of the grid.
#[inline(always)]
pub fn for_each(n: u32, mut work: impl FnMut(u32)) {
    let mut i = block_idx() * block_dim() + thread_idx();
    while i < n {
        work(i);
        i += grid_dim() * block_dim();
    }
}
