//! `block_local_search_{two_opt,or_opt,or_2opt,three_opt}_{grid,planar,numbered}_{shared_u16,global_u32}` and
//! `block_local_search_or_3opt_numbered_{shared_u16,global_u32}`, for edges with a direction, which only a matrix has: local search
//! on every tour of a colony, or on a population's new individuals that exist.
//!
//! A block per tour, of 1 to 8 whole warps; blocks take further tours in grid strides. Shared memory:
//! [`block::SHARED_BYTES`](crate::cuda::block::SHARED_BYTES) and, for `shared_u16`, `args.memory` bytes; with `global_u32` those
//! are in `memory`, as many for each block. Deterministic, whatever the grid and the block. Source: Skinderowicz 2020, section 5.7.

use antwarp_core::geometry::{Geometry, Places};
use antwarp_core::kernels::SearchArgs;
use antwarp_core::node::NodeId;
use antwarp_core::operator::{Operator, Or2opt, Or3opt, OrOpt, ThreeOpt, TwoOpt};
use antwarp_core::papers::genetic::NOWHERE;
use antwarp_core::papers::local_search::ants;
use antwarp_core::team::Slots;

use crate::cuda::block::{self, Block};
use crate::cuda::parameter::InOut;
use crate::cuda::{shared, thread};
use crate::entry::{LocalSearch, grid, numbered, planar};

/// Improves every tour of this block. `memory` belongs to the block.
#[inline(always)]
unsafe fn tours<O: Operator, I: NodeId, G: Geometry>(
    args: SearchArgs,
    p: LocalSearch,
    geometry: G,
    memory: *mut u8,
) {
    // SAFETY: the launcher gives arrays of the sizes stated in args; a block writes its own tours.
    unsafe {
        if (*p.state.as_ptr()).done != 0 {
            return;
        }
        let search = ants::TourTables {
            n: args.n,
            lists: p.lists.as_ptr().cast::<I>(),
            k: args.k,
            breadth: args.breadth,
            places: Places { geometry, start: p.places.as_ptr().cast() },
            successor: p.successor.as_ptr(),
            predecessor: p.predecessor.as_ptr(),
        };
        // Not in the loop: there, loads from `p` keep LLVM from splitting the loop into one for `listed` and one without it.
        let (rows, tours, gains) = (p.rows.as_ptr(), p.tours.as_ptr().cast::<I>(), p.gains.as_ptr());
        let mut i = thread::block_idx();
        while i < args.tours {
            let row = if args.listed != 0 { *rows.add(i as usize) as u32 } else { i };
            if args.listed != 0 && row == NOWHERE {
                i += thread::grid_dim();
                continue;
            }
            let tour = tours.add(row as usize * args.n as usize);
            let tour = Slots::new(tour, args.n as usize);
            let gain = ants::improve::<_, O, I, G>(Block, search, memory, tour);
            if args.listed != 0 && thread::thread_idx() == 0 {
                *gains.add(i as usize) = gain;
            }
            i += thread::grid_dim();
        }
    }
}

/// Returns the block's team memory in shared memory.
#[inline(always)]
fn in_shared(_: SearchArgs, _: InOut<u8>) -> *mut u8 {
    // SAFETY: the launcher reserves args.memory bytes after the team's own.
    unsafe { shared::dynamic().add(block::SHARED_BYTES as usize) }
}

/// Returns the block's team memory in global memory.
#[inline(always)]
fn in_global(args: SearchArgs, memory: InOut<u8>) -> *mut u8 {
    // SAFETY: the launcher gives args.memory bytes to each block of the grid.
    unsafe { memory.as_ptr().add(thread::block_idx() as usize * args.memory as usize) }
}

macro_rules! entries {
    ($($name:ident: $operator:ty, $geometry:ident, $id:ty, $place:ident;)*) => { $(
        entry!($name, LocalSearch, 256, 2, |args, p| {
            let geometry = $geometry(p.points, p.matrix, args.metric, args.n);
            // SAFETY: the caller's promise.
            unsafe { tours::<$operator, $id, _>(args, p, geometry, $place(args, p.memory)) }
        });
    )* };
}

entries! {
    block_local_search_two_opt_grid_shared_u16: TwoOpt, grid, u16, in_shared;
    block_local_search_two_opt_grid_global_u32: TwoOpt, grid, u32, in_global;
    block_local_search_two_opt_planar_shared_u16: TwoOpt, planar, u16, in_shared;
    block_local_search_two_opt_planar_global_u32: TwoOpt, planar, u32, in_global;
    block_local_search_two_opt_numbered_shared_u16: TwoOpt, numbered, u16, in_shared;
    block_local_search_two_opt_numbered_global_u32: TwoOpt, numbered, u32, in_global;
    block_local_search_or_opt_grid_shared_u16: OrOpt, grid, u16, in_shared;
    block_local_search_or_opt_grid_global_u32: OrOpt, grid, u32, in_global;
    block_local_search_or_opt_planar_shared_u16: OrOpt, planar, u16, in_shared;
    block_local_search_or_opt_planar_global_u32: OrOpt, planar, u32, in_global;
    block_local_search_or_opt_numbered_shared_u16: OrOpt, numbered, u16, in_shared;
    block_local_search_or_opt_numbered_global_u32: OrOpt, numbered, u32, in_global;
    block_local_search_or_2opt_grid_shared_u16: Or2opt, grid, u16, in_shared;
    block_local_search_or_2opt_grid_global_u32: Or2opt, grid, u32, in_global;
    block_local_search_or_2opt_planar_shared_u16: Or2opt, planar, u16, in_shared;
    block_local_search_or_2opt_planar_global_u32: Or2opt, planar, u32, in_global;
    block_local_search_or_2opt_numbered_shared_u16: Or2opt, numbered, u16, in_shared;
    block_local_search_or_2opt_numbered_global_u32: Or2opt, numbered, u32, in_global;
    block_local_search_three_opt_grid_shared_u16: ThreeOpt, grid, u16, in_shared;
    block_local_search_three_opt_grid_global_u32: ThreeOpt, grid, u32, in_global;
    block_local_search_three_opt_planar_shared_u16: ThreeOpt, planar, u16, in_shared;
    block_local_search_three_opt_planar_global_u32: ThreeOpt, planar, u32, in_global;
    block_local_search_three_opt_numbered_shared_u16: ThreeOpt, numbered, u16, in_shared;
    block_local_search_three_opt_numbered_global_u32: ThreeOpt, numbered, u32, in_global;
    block_local_search_or_3opt_numbered_shared_u16: Or3opt, numbered, u16, in_shared;
    block_local_search_or_3opt_numbered_global_u32: Or3opt, numbered, u32, in_global;
}
