//! Local search by best improvement: one launch for each part of a pass.
//!
//! - `block_propose_moves_{two_opt,or_opt,or_2opt,three_opt}_{grid,planar,numbered}`: the best move around every node.
//!   A warp per node, a thread per edge, neighbour and side; blocks of whole warps, each with a part of the nodes.
//! - `block_select_move_{grid,planar,numbered}`: the best of all, or the end of a descent. One block.
//! - `grid_make_moves`: makes moves that hold what they claimed. A warp per node.
//! - `grid_settle_tours`, `grid_turn_stretch`: copies of the tour, a reversal. Threads in grid strides.
//!
//! Shared memory: [`block::SHARED_BYTES`](crate::cuda::block::SHARED_BYTES) for kernels with blocks, and 512 bytes per warp for
//! propose. Deterministic: claims are the largest of distinct ranks, and lengths are sums of integers. Source: Fosin et al. 2013,
//! section 4; many moves per pass are an addition.

use antwarp_core::distance::Distance;
use antwarp_core::geometry::{Geometry, Places};
use antwarp_core::kernels::PassArgs;
use antwarp_core::operator::{Or2opt, OrOpt, ThreeOpt, TwoOpt};
use antwarp_core::papers::local_search::best::{self, PassBoard};
use antwarp_core::papers::local_search::moves::scratch_words;
use antwarp_core::papers::local_search::{ArrayTour, View};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Slots, Team};

use crate::cuda::block::{self, Block};
use crate::cuda::parameter::{In, InOut};
use crate::cuda::{Warp, shared, thread, warp};
use crate::entry::{grid, numbered, planar};

/// Returns a tour that is only read.
///
/// # Safety
/// The arrays have n elements, and one is the other's inverse.
#[inline(always)]
unsafe fn fixed(n: u32, order: In<u32>, position: In<u32>) -> ArrayTour<u32> {
    // SAFETY: the caller's promise; nobody writes through the view.
    unsafe {
        let (order, position) = (order.as_ptr().cast_mut(), position.as_ptr().cast_mut());
        ArrayTour::new(n, Slots::new(order, n as usize), Slots::new(position, n as usize))
    }
}

/// Returns a tour that changes.
///
/// # Safety
/// As [`fixed`].
#[inline(always)]
unsafe fn tour(n: u32, order: InOut<u32>, position: InOut<u32>) -> ArrayTour<u32> {
    // SAFETY: the caller's promise.
    unsafe {
        let (order, position) = (order.as_ptr(), position.as_ptr());
        ArrayTour::new(n, Slots::new(order, n as usize), Slots::new(position, n as usize))
    }
}

#[inline(always)]
fn view<G: Geometry>(
    args: PassArgs,
    tour: ArrayTour<u32>,
    lists: *const u32,
    geometry: G,
    places: In<u8>,
) -> View<u32, impl Distance> {
    let distance = Places { geometry, start: places.as_ptr().cast() };
    // SAFETY: the launcher reserves it for each warp of kernels that search for moves.
    let scratch = unsafe {
        let start = shared::dynamic().add(scratch_at(thread::thread_idx() / warp::SIZE));
        Slots::new(start.cast(), scratch_words(warp::SIZE) as usize)
    };
    View { tour, lists, k: args.k, breadth: args.breadth, distance, scratch }
}

/// Returns where a warp's scratch memory starts in shared memory.
#[inline(always)]
fn scratch_at(warp: u32) -> usize {
    (block::SHARED_BYTES + 8 * scratch_words(warp::SIZE) * warp) as usize
}

// The extent of a move, the shortest of three, is chosen in 16 bytes of stack, once per node that has a move.
core::arch::global_asm!("//@allow *propose_moves* local");

macro_rules! propose {
    ($($name:ident: $operator:ty, $geometry:ident;)*) => { $(
        entry!($name, ProposeMoves, 256, 3, |args, p| {
            // SAFETY: the caller's promise; `done` is not written in this launch.
            unsafe {
                if (*p.state.as_ptr()).done != 0 {
                    return;
                }
                let board = PassBoard {
                    proposals: p.proposals.as_ptr().cast(), claims: p.claims.as_ptr(), state: p.state.as_ptr(),
                };
                let geometry = $geometry(p.points, p.matrix, args.metric, args.n);
                let view = view(args, fixed(args.n, p.order, p.position), p.lists.as_ptr(), geometry, p.places);
                let block = thread::block_idx();
                let share = (block, args.blocks);
                let rank = best::evaluate::<_, $operator, _>(Block, view, board, share, args.many != 0);
                Block.single(|| *p.ranks.as_ptr().add(block as usize) = rank);
            }
        });
    )* };
}

propose! {
    block_propose_moves_two_opt_grid: TwoOpt, grid;
    block_propose_moves_two_opt_planar: TwoOpt, planar;
    block_propose_moves_two_opt_numbered: TwoOpt, numbered;
    block_propose_moves_or_opt_grid: OrOpt, grid;
    block_propose_moves_or_opt_planar: OrOpt, planar;
    block_propose_moves_or_opt_numbered: OrOpt, numbered;
    block_propose_moves_or_2opt_grid: Or2opt, grid;
    block_propose_moves_or_2opt_planar: Or2opt, planar;
    block_propose_moves_or_2opt_numbered: Or2opt, numbered;
    block_propose_moves_three_opt_grid: ThreeOpt, grid;
    block_propose_moves_three_opt_planar: ThreeOpt, planar;
    block_propose_moves_three_opt_numbered: ThreeOpt, numbered;
}

macro_rules! select {
    ($($name:ident: $geometry:ident;)*) => { $(
        entry!($name, SelectMove, 256, 1, |args, p| {
            // SAFETY: the caller's promise; the grid is one block. Neither lists nor claims are used, nor the
            // positions of the accepted tour.
            unsafe {
                let board = PassBoard {
                    proposals: p.proposals.as_ptr().cast_mut().cast(),
                    claims: core::ptr::null_mut(),
                    state: p.state.as_ptr(),
                };
                let geometry = $geometry(p.points, p.matrix, args.metric, args.n);
                let view = view(args, fixed(args.n, p.order, p.position), core::ptr::null(), geometry, p.places);
                let accepted = fixed(args.n, p.accepted_order, p.position);
                let stream = Stream::new(args.seed, 0, 0);
                let (ranks, blocks) = (p.ranks.as_ptr(), args.blocks);
                best::select(Block, view, accepted, board, ranks, blocks, args.kicks, stream, args.target);
            }
        });
    )* };
}

select! {
    block_select_move_grid: grid;
    block_select_move_planar: planar;
    block_select_move_numbered: numbered;
}

entry!(grid_make_moves, MakeMoves, 256, 4, |args, p| {
    // SAFETY: the caller's promise; proposals and claims are only read.
    unsafe {
        let board = PassBoard {
            proposals: p.proposals.as_ptr().cast_mut().cast(),
            claims: p.claims.as_ptr().cast_mut(),
            state: p.state.as_ptr(),
        };
        let warps = thread::block_dim() / warp::SIZE;
        let mut node = thread::block_idx() * warps + thread::thread_idx() / warp::SIZE;
        while node < args.n {
            best::make(Warp, tour(args.n, p.order, p.position), board, node);
            node += thread::grid_dim() * warps;
        }
    }
});

entry!(grid_settle_tours, SettleTours, 256, 1, |args, p| {
    // SAFETY: the caller's promise; the state is only read, proposals are not used.
    unsafe {
        let board = PassBoard {
            proposals: core::ptr::null_mut(),
            claims: p.claims.as_ptr(),
            state: p.state.as_ptr().cast_mut(),
        };
        let accepted = tour(args.n, p.accepted_order, p.accepted_position);
        let tour = tour(args.n, p.order, p.position);
        let best = Slots::new(p.best_tour.as_ptr(), args.n as usize);
        thread::for_each(args.n, |i| best::settle(tour, accepted, best, board, args.many != 0, i));
    }
});

entry!(grid_turn_stretch, TurnStretch, 256, 1, |args, p| {
    // SAFETY: the caller's promise; the state is only read, proposals and claims are not used. A swap belongs to one thread.
    unsafe {
        let (proposals, claims) = (core::ptr::null_mut(), core::ptr::null_mut());
        let board = PassBoard { proposals, claims, state: p.state.as_ptr().cast_mut() };
        let turn = board.turn(args.step);
        let tour = tour(args.n, p.order, p.position);
        thread::for_each(turn.length / 2, |i| tour.swap(turn, i));
    }
});
