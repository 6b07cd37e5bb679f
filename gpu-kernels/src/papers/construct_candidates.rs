//! `warp_construct_{wrs,rwm}_{list,compact,bitmask}_{storage}`: tours, choosing in candidate lists.
//!
//! A warp per ant, several warps per block; warps take further ants in grid strides. Shared memory: for `shared_*` storage the
//! memory of each warp's ant, `args.memory` bytes; with `global_u32` that is in `memory`. Node ids are 16 or 32 bits, according to
//! the storage. Deterministic, whatever the grid and the block; all tabus give the same tours. Source: Skinderowicz 2020, section
//! 4.3.

use antwarp_core::kernels::ConstructArgs;
use antwarp_core::node::NodeId;
use antwarp_core::papers::ants::construct::{self, Lists};
use antwarp_core::papers::ants::select::{Reservoir, Roulette, Select};
use antwarp_core::papers::ants::tabu::{Bitmask, Compact, ListCompression, Tabu};
use antwarp_core::rng::Stream;
use antwarp_core::team::Slots;

use crate::cuda::parameter::InOut;
use crate::cuda::{Warp, shared, thread, warp};
use crate::entry::{ConstructCandidates, distances};

/// Builds the tours of every ant of this warp. `memory` belongs to the warp.
#[inline(always)]
unsafe fn ants<B: Tabu, S: Select, I: NodeId>(args: ConstructArgs, p: ConstructCandidates, memory: *mut u8) {
    // SAFETY: the launcher gives arrays of the sizes stated in args; a warp writes its own ants' tours.
    unsafe {
        if (*p.state.as_ptr()).done != 0 {
            return;
        }
        let distance = distances(p.points, p.matrix, args.metric, args.n);
        let lists = Lists {
            k: args.k,
            nodes: p.lists.as_ptr().cast::<I>(),
            weights: p.weights.as_ptr(),
            reserve: args.reserve,
            reserves: p.reserves.as_ptr().cast::<I>(),
            successor: p.successor.as_ptr(),
            predecessor: p.predecessor.as_ptr(),
        };
        let tours = p.tours.as_ptr().cast::<I>();
        let warps = thread::block_dim() / warp::SIZE;
        let mut ant = thread::block_idx() * warps + thread::thread_idx() / warp::SIZE;
        while ant < args.ants {
            let tour = Slots::new(tours.add(ant as usize * args.n as usize), args.n as usize);
            let stream = Stream::new(args.seed, args.iteration, ant);
            construct::candidates::<_, B, S, I, _>(Warp, args.n, lists, distance, memory, tour, stream);
            ant += thread::grid_dim() * warps;
        }
    }
}

/// Returns the warp's team memory in shared memory.
#[inline(always)]
fn in_shared(args: ConstructArgs, _: InOut<u8>) -> *mut u8 {
    // SAFETY: the launcher reserves args.memory bytes for each warp.
    unsafe { shared::dynamic().add((thread::thread_idx() / warp::SIZE * args.memory as u32) as usize) }
}

/// Returns the warp's team memory in global memory.
#[inline(always)]
fn in_global(args: ConstructArgs, memory: InOut<u8>) -> *mut u8 {
    let warp = (thread::block_idx() * thread::block_dim() + thread::thread_idx()) / warp::SIZE;
    // SAFETY: the launcher gives args.memory bytes to each warp of the grid.
    unsafe { memory.as_ptr().add(warp as usize * args.memory as usize) }
}

macro_rules! entries {
    ($($name:ident: $tabu:ty, $select:ty, $id:ty, $place:ident;)*) => { $(
        entry!($name, ConstructCandidates, 128, 8, |args, p| {
            // SAFETY: the caller's promise.
            unsafe { ants::<$tabu, $select, $id>(args, p, $place(args, p.memory)) }
        });
    )* };
}

entries! {
    warp_construct_wrs_list_shared_u16: ListCompression<u16>, Reservoir, u16, in_shared;
    warp_construct_wrs_list_shared_u32: ListCompression<u32>, Reservoir, u32, in_shared;
    warp_construct_wrs_list_global_u32: ListCompression<u32>, Reservoir, u32, in_global;
    warp_construct_wrs_compact_shared_u16: Compact<u16>, Reservoir, u16, in_shared;
    warp_construct_wrs_compact_shared_u32: Compact<u32>, Reservoir, u32, in_shared;
    warp_construct_wrs_compact_global_u32: Compact<u32>, Reservoir, u32, in_global;
    warp_construct_wrs_bitmask_shared_u16: Bitmask, Reservoir, u16, in_shared;
    warp_construct_wrs_bitmask_shared_u32: Bitmask, Reservoir, u32, in_shared;
    warp_construct_wrs_bitmask_global_u32: Bitmask, Reservoir, u32, in_global;
    warp_construct_rwm_list_shared_u16: ListCompression<u16>, Roulette, u16, in_shared;
    warp_construct_rwm_list_shared_u32: ListCompression<u32>, Roulette, u32, in_shared;
    warp_construct_rwm_list_global_u32: ListCompression<u32>, Roulette, u32, in_global;
    warp_construct_rwm_compact_shared_u16: Compact<u16>, Roulette, u16, in_shared;
    warp_construct_rwm_compact_shared_u32: Compact<u32>, Roulette, u32, in_shared;
    warp_construct_rwm_compact_global_u32: Compact<u32>, Roulette, u32, in_global;
    warp_construct_rwm_bitmask_shared_u16: Bitmask, Roulette, u16, in_shared;
    warp_construct_rwm_bitmask_shared_u32: Bitmask, Roulette, u32, in_shared;
    warp_construct_rwm_bitmask_global_u32: Bitmask, Roulette, u32, in_global;
}
