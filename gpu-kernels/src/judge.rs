//! `block_judge_{u16,u32}`: the end of an iteration: finds its best tour, the best overall, and the links and limits for the
//! update.
//!
//! One block of 1 to 32 whole warps. Shared memory: [`block::SHARED_BYTES`](crate::cuda::block::SHARED_BYTES).
//! Deterministic: the first of equally short tours is the best. Source: Skinderowicz 2020, figure 9.

use antwarp_core::kernels::JudgeArgs;
use antwarp_core::node::NodeId;
use antwarp_core::papers::ants::colony;
use antwarp_core::team::Slots;

use crate::cuda::Block;
use crate::entry::Judge;

/// Ends an iteration.
///
/// # Safety
/// The arrays have the sizes stated in `args`.
#[inline(always)]
unsafe fn judge<I: NodeId>(args: JudgeArgs, p: Judge) {
    let n = args.n as usize;
    // SAFETY: the caller's promise; the grid is one block.
    unsafe {
        let best_tour = Slots::new(p.best_tour.as_ptr().cast::<I>(), n);
        let restart_tour = Slots::new(p.restart_tour.as_ptr().cast::<I>(), n);
        let successor = Slots::new(p.successor.as_ptr(), n);
        let predecessor = Slots::new(p.predecessor.as_ptr(), n);
        colony::judge(
            Block,
            args.rules,
            (args.n, args.ants, args.depositor),
            p.costs.as_ptr(),
            p.tours.as_ptr().cast::<I>(),
            p.state.as_ptr(),
            (best_tour, restart_tour),
            (successor, predecessor),
        )
    }
}

macro_rules! entries {
    ($($name:ident: $id:ty;)*) => { $(
        entry!($name, Judge, 1024, 1, |args, p| {
            // SAFETY: the caller's promise.
            unsafe { judge::<$id>(args, p) }
        });
    )* };
}

entries! {
    block_judge_u16: u16;
    block_judge_u32: u32;
}
