//! What chains do between their rounds: `block_start_pieces` and `grid_place_entries` put the tiles together,
//! `block_judge_chains` finds the best tour, `grid_keep_best` keeps it, `block_compete` lets chains compete.
//!
//! Start pieces, compete: a block a chain. Judge: one block. Shared memory:
//! [`block::SHARED_BYTES`](crate::cuda::block::SHARED_BYTES) for judge, 4 bytes a thread for start pieces. Place
//! entries, keep best: threads in grid strides. Whole warps everywhere. Deterministic.

use antwarp_core::kernels::{JudgeChainsArgs, ToursArgs};
use antwarp_core::local_search::chains::{self, ChainsState, NOBODY};
use antwarp_core::local_search::tile::{self, Entries};
use antwarp_core::team::{Slots, Team};

use crate::cuda::parameter::{In, InOut};
use crate::cuda::{Block, shared, thread};
use crate::entry::declare;

/// See the module. # Safety: the launcher in `antwarp` gives arrays of the sizes that `args` tell.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn block_start_pieces(
    args: ToursArgs,
    state: In<ChainsState>,
    length: InOut<u32>,
) {
    // SAFETY: the caller's promise; the grid has a block a chain.
    unsafe {
        if (*state.as_ptr()).done == 0 {
            let from = thread::block_idx() as usize * args.n as usize;
            let lengths = Slots::new(length.as_ptr().add(from));
            tile::start_pieces(Block, args.n, lengths, Slots::new(shared::dynamic().cast()));
        }
    }
}
declare!(block_start_pieces: StartPieces, 1024, 1);

/// See the module. # Safety: the launcher in `antwarp` gives arrays of the sizes that `args` tell.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn grid_place_entries(
    args: ToursArgs,
    state: In<ChainsState>,
    old: In<u32>,
    piece: In<u32>,
    offset: In<u32>,
    length: In<u32>,
    old_order: In<u32>,
    order: InOut<u32>,
    position: InOut<u32>,
) {
    // SAFETY: the caller's promise; the views of the entries are only read.
    unsafe {
        if (*state.as_ptr()).done != 0 {
            return;
        }
        let all = args.chains as u64 * args.n as u64;
        let mut i = thread::block_idx() as u64 * thread::block_dim() as u64 + thread::thread_idx() as u64;
        while i < all {
            let from = (i / args.n as u64 * args.n as u64) as usize;
            let read = |p: In<u32>| Slots::new(p.as_ptr().add(from).cast_mut());
            let entries =
                Entries { old: read(old), piece: read(piece), offset: read(offset), length: read(length) };
            let write = |p: InOut<u32>| Slots::new(p.as_ptr().add(from));
            let old_order = old_order.as_ptr().add(from);
            tile::place_entry((i - from as u64) as u32, entries, old_order, write(order), write(position));
            i += thread::grid_dim() as u64 * thread::block_dim() as u64;
        }
    }
}
declare!(grid_place_entries: PlaceEntries, 256, 1);

/// See the module. # Safety: the launcher in `antwarp` gives arrays of the sizes that `args` tell.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn block_judge_chains(
    args: JudgeChainsArgs,
    gains: In<i64>,
    costs: InOut<i64>,
    state: InOut<ChainsState>,
) {
    // SAFETY: the caller's promise; the grid is one block.
    unsafe {
        chains::judge(
            Block,
            (args.chains, args.tiles),
            args.target,
            gains.as_ptr(),
            Slots::new(costs.as_ptr()),
            state.as_ptr(),
        )
    }
}
declare!(block_judge_chains: JudgeChains, 1024, 1);

/// See the module. # Safety: the launcher in `antwarp` gives arrays of the sizes that `args` tell.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn grid_keep_best(
    args: ToursArgs,
    state: In<ChainsState>,
    order: In<u32>,
    best_tour: InOut<u32>,
) {
    // SAFETY: the caller's promise; an element is one thread's.
    unsafe {
        let state = *state.as_ptr();
        // A round that was skipped leaves the state of an earlier one.
        if state.winner == NOBODY || state.rounds != args.rounds {
            return;
        }
        let tour = order.as_ptr().add(state.winner as usize * args.n as usize);
        let mut i = thread::block_idx() as u64 * thread::block_dim() as u64 + thread::thread_idx() as u64;
        while i < args.n as u64 {
            *best_tour.as_ptr().add(i as usize) = *tour.add(i as usize);
            i += thread::grid_dim() as u64 * thread::block_dim() as u64;
        }
    }
}
declare!(grid_keep_best: KeepBest, 256, 1);

/// See the module. # Safety: the launcher in `antwarp` gives arrays of the sizes that `args` tell.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn block_compete(
    args: ToursArgs,
    state: In<ChainsState>,
    costs: In<i64>,
    order: InOut<u32>,
    position: InOut<u32>,
    next_costs: InOut<i64>,
) {
    // SAFETY: the caller's promise; of a pair one is read and the other is written, by its own block.
    unsafe {
        let chain = thread::block_idx();
        let from = chains::survivor(args.chains, chain, args.rival_bit, costs.as_ptr());
        Block.single(|| *next_costs.as_ptr().add(chain as usize) = *costs.as_ptr().add(from as usize));
        if from == chain || (*state.as_ptr()).done != 0 {
            return;
        }
        let (to, from) = (chain as usize * args.n as usize, from as usize * args.n as usize);
        Block.for_each(args.n, |i| {
            *order.as_ptr().add(to + i as usize) = *order.as_ptr().add(from + i as usize);
            *position.as_ptr().add(to + i as usize) = *position.as_ptr().add(from + i as usize);
        });
    }
}
declare!(block_compete: Compete, 1024, 1);
