//! `block_tour_costs_{u16,u32}`: the length of every tour.
//!
//! A block a tour, of 1 to 8 whole warps; blocks take further tours in grid strides. Shared memory:
//! [`block::SHARED_BYTES`](crate::cuda::block::SHARED_BYTES). Integer sums: deterministic.

use antwarp_core::colony::ColonyState;
use antwarp_core::kernels::CostArgs;
use antwarp_core::node::NodeId;
use antwarp_core::team::Team;
use antwarp_core::tour;

use crate::cuda::parameter::{In, InOut};
use crate::cuda::{Block, thread};
use crate::entry::{declare, distances};

#[inline(always)]
unsafe fn costs<I: NodeId>(
    args: CostArgs,
    state: In<ColonyState>,
    tours: In<u8>,
    points: In<[f64; 3]>,
    matrix: In<i32>,
    costs: InOut<i64>,
) {
    // SAFETY: the launcher gives arrays of the sizes that args tell; a block writes its own tours' costs.
    unsafe {
        if (*state.as_ptr()).done != 0 {
            return;
        }
        let distance = distances(points, matrix, args.metric, args.n);
        let tours = tours.as_ptr().cast::<I>();
        let mut i = thread::block_idx();
        while i < args.tours {
            let cost = tour::cost(Block, args.n, distance, tours.add(i as usize * args.n as usize));
            Block.single(|| *costs.as_ptr().add(i as usize) = cost);
            i += thread::grid_dim();
        }
    }
}

macro_rules! entries {
    ($($name:ident: $id:ty;)*) => { $(
        /// See the module. # Safety: the launcher in `antwarp` gives arrays of the sizes that `args` tell.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(
            args: CostArgs, state: In<ColonyState>, tours: In<u8>, points: In<[f64; 3]>, matrix: In<i32>,
            out: InOut<i64>,
        ) {
            // SAFETY: the caller's promise.
            unsafe { costs::<$id>(args, state, tours, points, matrix, out) }
        }
        declare!($name: TourCosts, 256, 1);
    )* };
}

entries! {
    block_tour_costs_u16: u16;
    block_tour_costs_u32: u32;
}
