//! `block_local_search_{two_opt,or_opt,or_2opt,three_opt}_{grid,planar,numbered}_{shared_u16,global_u32}` and
//! `block_local_search_or_3opt_numbered_{shared_u16,global_u32}`, for edges with a direction, which only a matrix tells: local
//! search on every tour of a colony, or on the new genes of a population, where there are some.
//!
//! A block a tour, of 1 to 8 whole warps; blocks take further tours in grid strides. Shared memory:
//! [`block::SHARED_BYTES`](crate::cuda::block::SHARED_BYTES) and, for `shared_u16`, `args.memory` bytes; with
//! `global_u32` those lie in `memory`, as many for each block. Deterministic, whatever the grid and the block. Source:
//! Skinderowicz 2020, section 5.7.

use antwarp_core::colony::ColonyState;
use antwarp_core::genetic::NOWHERE;
use antwarp_core::geometry::{Geometry, Places};
use antwarp_core::kernels::SearchArgs;
use antwarp_core::local_search::ants;
use antwarp_core::node::NodeId;
use antwarp_core::operator::{Operator, Or2opt, Or3opt, OrOpt, ThreeOpt, TwoOpt};
use antwarp_core::team::Slots;

use crate::cuda::block::{self, Block};
use crate::cuda::parameter::{In, InOut};
use crate::cuda::{shared, thread};
use crate::entry::{declare, grid, numbered, planar};

/// What the search reads.
#[derive(Clone, Copy)]
struct Tables {
    state: In<ColonyState>,
    lists: In<u8>,
    places: In<u8>,
    successor: In<u32>,
    predecessor: In<u32>,
    rows: In<u64>,
}

/// Every tour of this block. `memory` is the block's.
#[inline(always)]
unsafe fn tours<O: Operator, I: NodeId, G: Geometry>(
    args: SearchArgs,
    tables: Tables,
    geometry: G,
    memory: *mut u8,
    (tours, gains): (InOut<u8>, InOut<i64>),
) {
    // SAFETY: the launcher gives arrays of the sizes that args tell; a block writes its own tours.
    unsafe {
        if (*tables.state.as_ptr()).done != 0 {
            return;
        }
        let search = ants::TourTables {
            n: args.n,
            lists: tables.lists.as_ptr().cast::<I>(),
            k: args.k,
            breadth: args.breadth,
            places: Places { geometry, start: tables.places.as_ptr().cast() },
            successor: tables.successor.as_ptr(),
            predecessor: tables.predecessor.as_ptr(),
        };
        let mut i = thread::block_idx();
        while i < args.tours {
            let row = if args.listed != 0 { *tables.rows.as_ptr().add(i as usize) as u32 } else { i };
            if args.listed != 0 && row == NOWHERE {
                i += thread::grid_dim();
                continue;
            }
            let tour = tours.as_ptr().cast::<I>().add(row as usize * args.n as usize);
            let tour = Slots::new(tour, args.n as usize);
            let gain = ants::improve::<_, O, I, G>(Block, search, memory, tour);
            if args.listed != 0 && thread::thread_idx() == 0 {
                *gains.as_ptr().add(i as usize) = gain;
            }
            i += thread::grid_dim();
        }
    }
}

/// The block's team memory in shared memory.
#[inline(always)]
fn in_shared(_: SearchArgs, _: InOut<u8>) -> *mut u8 {
    // SAFETY: the launcher reserves args.memory bytes behind the team's own.
    unsafe { shared::dynamic().add(block::SHARED_BYTES as usize) }
}

/// The block's team memory in global memory.
#[inline(always)]
fn in_global(args: SearchArgs, memory: InOut<u8>) -> *mut u8 {
    // SAFETY: the launcher gives args.memory bytes to each block of the grid.
    unsafe { memory.as_ptr().add(thread::block_idx() as usize * args.memory as usize) }
}

macro_rules! entries {
    ($($name:ident: $operator:ty, $geometry:ident, $id:ty, $place:ident;)*) => { $(
        /// See the module. # Safety: the launcher in `antwarp` gives arrays of the sizes that `args` tell.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(
            args: SearchArgs, state: In<ColonyState>, lists: In<u8>, places: In<u8>, points: In<[f64; 3]>,
            matrix: In<i32>, successor: In<u32>, predecessor: In<u32>, rows: In<u64>, memory: InOut<u8>, out: InOut<u8>,
            gains: InOut<i64>,
        ) {
            let tables = Tables { state, lists, places, successor, predecessor, rows };
            let geometry = $geometry(points, matrix, args.metric, args.n);
            // SAFETY: the caller's promise.
            unsafe { tours::<$operator, $id, _>(args, tables, geometry, $place(args, memory), (out, gains)) }
        }
        declare!($name: LocalSearch, 256, 2);
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
