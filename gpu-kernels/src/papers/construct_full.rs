//! `block_construct_{wrs,rwm}_{list,compact,bitmask}_{storage}`: tours, choosing among all unvisited nodes.
//!
//! A block per ant; blocks take further ants in grid strides. Block: 1 to 16 whole warps. Shared memory: [`block::SHARED_BYTES`]
//! and, for `shared_*` storage, the ant's memory (`construct::memory_bytes`); with `global_u32` that is in `memory`, `args.memory`
//! bytes per block. Node ids are 16 or 32 bits, according to the storage. Deterministic, whatever the grid and the block. Source:
//! Skinderowicz 2020, figures 1, 5 and 7.

use antwarp_core::kernels::ConstructArgs;
use antwarp_core::node::NodeId;
use antwarp_core::papers::ants::construct;
use antwarp_core::papers::ants::select::{Reservoir, Roulette, Select};
use antwarp_core::papers::ants::tabu::{Bitmask, Compact, ListCompression, Tabu};
use antwarp_core::rng::Stream;
use antwarp_core::team::Slots;

use crate::cuda::parameter::InOut;
use crate::cuda::{Block, block, shared, thread};
use crate::entry::ConstructFull;

/// Builds the tours of every ant of this block. `memory` belongs to the block.
#[inline(always)]
unsafe fn ants<B: Tabu, S: Select, I: NodeId>(args: ConstructArgs, p: ConstructFull, memory: *mut u8) {
    // SAFETY: the launcher gives arrays of the sizes stated in args; a block writes its own ants' tours.
    unsafe {
        if (*p.state.as_ptr()).done != 0 {
            return;
        }
        let tours = p.tours.as_ptr().cast::<I>();
        let mut ant = thread::block_idx();
        while ant < args.ants {
            let tour = Slots::new(tours.add(ant as usize * args.n as usize), args.n as usize);
            let stream = Stream::new(args.seed, args.iteration, ant);
            construct::full::<_, B, S, I>(Block, args.n, p.weights.as_ptr(), memory, tour, stream);
            ant += thread::grid_dim();
        }
    }
}

/// Returns the block's team memory in shared memory, after the team's own.
#[inline(always)]
fn in_shared(_: ConstructArgs, _: InOut<u8>) -> *mut u8 {
    // SAFETY: the launcher reserves SHARED_BYTES and the ant's memory.
    unsafe { shared::dynamic().add(block::SHARED_BYTES as usize) }
}

/// Returns the block's team memory in global memory.
#[inline(always)]
fn in_global(args: ConstructArgs, memory: InOut<u8>) -> *mut u8 {
    // SAFETY: the launcher gives args.memory bytes to each block.
    unsafe { memory.as_ptr().add(thread::block_idx() as usize * args.memory as usize) }
}

macro_rules! entries {
    ($($name:ident: $tabu:ty, $select:ty, $id:ty, $place:ident;)*) => { $(
        entry!($name, ConstructFull, 512, 2, |args, p| {
            // SAFETY: the caller's promise.
            unsafe { ants::<$tabu, $select, $id>(args, p, $place(args, p.memory)) }
        });
    )* };
}

entries! {
    block_construct_wrs_list_shared_u16: ListCompression<u16>, Reservoir, u16, in_shared;
    block_construct_wrs_list_shared_u32: ListCompression<u32>, Reservoir, u32, in_shared;
    block_construct_wrs_list_global_u32: ListCompression<u32>, Reservoir, u32, in_global;
    block_construct_wrs_compact_shared_u16: Compact<u16>, Reservoir, u16, in_shared;
    block_construct_wrs_compact_shared_u32: Compact<u32>, Reservoir, u32, in_shared;
    block_construct_wrs_compact_global_u32: Compact<u32>, Reservoir, u32, in_global;
    block_construct_wrs_bitmask_shared_u16: Bitmask, Reservoir, u16, in_shared;
    block_construct_wrs_bitmask_shared_u32: Bitmask, Reservoir, u32, in_shared;
    block_construct_wrs_bitmask_global_u32: Bitmask, Reservoir, u32, in_global;
    block_construct_rwm_list_shared_u16: ListCompression<u16>, Roulette, u16, in_shared;
    block_construct_rwm_list_shared_u32: ListCompression<u32>, Roulette, u32, in_shared;
    block_construct_rwm_list_global_u32: ListCompression<u32>, Roulette, u32, in_global;
    block_construct_rwm_compact_shared_u16: Compact<u16>, Roulette, u16, in_shared;
    block_construct_rwm_compact_shared_u32: Compact<u32>, Roulette, u32, in_shared;
    block_construct_rwm_compact_global_u32: Compact<u32>, Roulette, u32, in_global;
    block_construct_rwm_bitmask_shared_u16: Bitmask, Roulette, u16, in_shared;
    block_construct_rwm_bitmask_shared_u32: Bitmask, Roulette, u32, in_shared;
    block_construct_rwm_bitmask_global_u32: Bitmask, Roulette, u32, in_global;
}
