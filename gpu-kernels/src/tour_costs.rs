//! `block_tour_costs_{u16,u32}`: the length of every tour.
//!
//! A block per tour, of 1 to 8 whole warps; blocks take further tours in grid strides. Shared memory:
//! [`block::SHARED_BYTES`](crate::cuda::block::SHARED_BYTES). Integer sums: deterministic.

use antwarp_core::kernels::CostArgs;
use antwarp_core::node::NodeId;
use antwarp_core::team::Team;
use antwarp_core::tour;

use crate::cuda::{Block, thread};
use crate::entry::{TourCosts, distances};

#[inline(always)]
unsafe fn costs<I: NodeId>(args: CostArgs, p: TourCosts) {
    // SAFETY: the launcher gives arrays of the sizes stated in args; a block writes its own tours' costs.
    unsafe {
        if (*p.state.as_ptr()).done != 0 {
            return;
        }
        let distance = distances(p.points, p.matrix, args.metric, args.n);
        let tours = p.tours.as_ptr().cast::<I>();
        let mut i = thread::block_idx();
        while i < args.tours {
            let cost = tour::cost(Block, args.n, distance, tours.add(i as usize * args.n as usize));
            Block.single(|| *p.costs.as_ptr().add(i as usize) = cost);
            i += thread::grid_dim();
        }
    }
}

macro_rules! entries {
    ($($name:ident: $id:ty;)*) => { $(
        entry!($name, TourCosts, 256, 1, |args, p| {
            // SAFETY: the caller's promise.
            unsafe { costs::<$id>(args, p) }
        });
    )* };
}

entries! {
    block_tour_costs_u16: u16;
    block_tour_costs_u32: u32;
}
