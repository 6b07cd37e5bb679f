//! `warp_build_acs_{matrix,candidate,selective}_{storage}`: tours of Ant Colony System, each built whole, with relaxed
//! updates of trails; `warp_walk_acs_{matrix,candidate}_{storage}`: all ants step by step, with atomic updates.
//!
//! A warp per ant; warps take further ants in grid strides. Shared memory: for `shared_*` storage the memory of each ant that a
//! block has at a time (build: one per warp; walk: all), `args.memory` bytes each; with `global_u32` that is in `memory`, by warp
//! (build) or by ant (walk). Node ids are 16 or 32 bits, according to the storage.
//!
//! Build: ants read and write trails at the same time, so tours depend on their timing, except those of a single ant. Walk:
//! deterministic, whatever the grid and the block. It runs phases `args.first` to `args.end`; for more than one, the launch is
//! cooperative. Source: Skinderowicz 2016, sections 3.1 and 3.2.

use antwarp_core::distance::Distances;
use antwarp_core::kernels::AcsArgs;
use antwarp_core::node::NodeId;
use antwarp_core::papers::ants::acs::{self, World};
use antwarp_core::papers::ants::construct::{Lists, row_stride};
use antwarp_core::papers::ants::pheromone::matrix::FAR;
use antwarp_core::papers::ants::pheromone::selective::stride;
use antwarp_core::papers::ants::pheromone::{
    Atomic, Candidate, CandidateTrails, MatrixTrails, Memory, Selective,
};
use antwarp_core::rng::Stream;
use antwarp_core::team::Slots;

use crate::cuda::parameter::{In, InOut};
use crate::cuda::{Warp, grid, shared, thread, warp};
use crate::entry::{ConstructAcs, distances};

/// The pheromone memory in the parameters.
pub trait View: Memory {
    /// `fresh` is a constant, so that all loads are of one kind.
    ///
    /// # Safety
    /// The arrays have the sizes stated in `args`.
    unsafe fn new(args: AcsArgs, fresh: bool, lists: In<u8>, trails: InOut<u8>, tails: InOut<u32>) -> Self;
}

impl<I: NodeId> View for CandidateTrails<I> {
    #[inline(always)]
    unsafe fn new(args: AcsArgs, fresh: bool, lists: In<u8>, trails: InOut<u8>, _: InOut<u32>) -> Self {
        let form = Candidate { lists: lists.as_ptr().cast(), k: args.k };
        // SAFETY: the caller's promise.
        let trails = unsafe { Slots::new(trails.as_ptr().cast(), args.n as usize * args.k as usize) };
        CandidateTrails { form, trails, fresh }
    }
}

impl<I: NodeId> View for MatrixTrails<I> {
    #[inline(always)]
    unsafe fn new(args: AcsArgs, fresh: bool, lists: In<u8>, trails: InOut<u8>, tails: InOut<u32>) -> Self {
        let (n, near) = (args.n as usize, args.n as usize * args.k as usize);
        // SAFETY: the caller's promise; the matrix follows the candidates' trails.
        unsafe {
            MatrixTrails {
                near: CandidateTrails::new(args, fresh, lists, trails, tails),
                all: Slots::new(trails.as_ptr().cast::<f32>().add(near), n * row_stride(args.n) as usize),
                n: args.n,
                far: Slots::new(tails.as_ptr(), n * FAR as usize),
            }
        }
    }
}

impl View for Selective {
    #[inline(always)]
    unsafe fn new(args: AcsArgs, fresh: bool, _: In<u8>, trails: InOut<u8>, tails: InOut<u32>) -> Self {
        let n = args.n as usize;
        // SAFETY: the caller's promise.
        unsafe {
            Selective {
                edges: Slots::new(trails.as_ptr().cast(), n * stride(args.slots) as usize),
                tails: Slots::new(tails.as_ptr(), n),
                slots: args.slots,
                lowest: args.rule.initial,
                fresh,
                passing: args.rule.passing != 0,
            }
        }
    }
}

/// # Safety
/// The arrays have the sizes stated in `args`.
#[inline(always)]
unsafe fn world<M, I: NodeId>(args: AcsArgs, p: ConstructAcs, memory: M) -> World<I, M, Distances> {
    World {
        n: args.n,
        rule: args.rule,
        lists: Lists {
            k: args.k,
            nodes: p.lists.as_ptr().cast::<I>(),
            weights: p.heuristic.as_ptr(),
            reserve: args.reserve,
            reserves: p.reserves.as_ptr().cast::<I>(),
            successor: p.successor.as_ptr(),
            predecessor: p.predecessor.as_ptr(),
        },
        memory,
        distance: distances(p.points, p.matrix, args.metric, args.n),
    }
}

/// Returns the number of warps of the grid, and this one's number.
#[inline(always)]
fn warps() -> (u32, u32) {
    let of_block = thread::block_dim() / warp::SIZE;
    (thread::grid_dim() * of_block, thread::block_idx() * of_block + thread::thread_idx() / warp::SIZE)
}

/// Builds the tours of every ant of this warp. `place` returns the memory of an ant, given its number among those of this warp, and
/// among all.
#[inline(always)]
unsafe fn build<M: Memory, I: NodeId>(
    args: AcsArgs,
    world: World<I, M, Distances>,
    memory: *mut u8,
    tours: InOut<u8>,
) {
    // SAFETY: a warp writes its own ants' tours.
    unsafe {
        let tours = tours.as_ptr().cast::<I>();
        let (warps, mut ant) = warps();
        while ant < args.ants {
            let tour = Slots::new(tours.add(ant as usize * args.n as usize), args.n as usize);
            acs::build(Warp, world, memory, tour, Stream::new(args.seed, args.iteration, ant));
            ant += warps;
        }
    }
}

#[inline(always)]
unsafe fn walk<M: Atomic, I: NodeId>(
    args: AcsArgs,
    world: World<I, M, Distances>,
    place: impl Fn(u32, u32) -> *mut u8,
    arrivals: InOut<u64>,
    tours: InOut<u8>,
) {
    // SAFETY: a warp writes its own ants' tours and memory; a barrier separates all choices from all updates.
    unsafe {
        let tours = tours.as_ptr().cast::<I>();
        let (warps, first_ant) = warps();
        let mut barrier = grid::Barrier::new(arrivals.as_ptr(), thread::grid_dim());
        let mut phase = args.first;
        while phase < args.end {
            let (step, choosing) = (phase / 2 + 1, phase & 1 == 0);
            let updates = args.rule.is_due(step) || (step + 1 == args.n && args.rule.is_due(args.n));
            if choosing || updates {
                let (mut own, mut ant) = (0, first_ant);
                while ant < args.ants {
                    let tour = Slots::new(tours.add(ant as usize * args.n as usize), args.n as usize);
                    let memory = place(own, ant);
                    if choosing {
                        let stream = Stream::new(args.seed, args.iteration, ant);
                        acs::choose_step(Warp, world, memory, tour, stream, step);
                    } else {
                        acs::update_step_atomically(Warp, world, memory, tour, step);
                    }
                    own += 1;
                    ant += warps;
                }
            }
            // After a step without updates no barrier is needed.
            if updates && phase + 1 < args.end {
                barrier.wait();
            }
            phase += 1;
        }
    }
}

/// Returns the memory of a warp's only current ant, in shared memory.
#[inline(always)]
fn warp_in_shared(args: AcsArgs, _: InOut<u8>) -> *mut u8 {
    // SAFETY: the launcher reserves args.memory bytes for each warp.
    unsafe { shared::dynamic().add((thread::thread_idx() / warp::SIZE * args.memory as u32) as usize) }
}

/// Returns the memory of a warp's only current ant, in global memory.
#[inline(always)]
fn warp_in_global(args: AcsArgs, memory: InOut<u8>) -> *mut u8 {
    // SAFETY: the launcher gives args.memory bytes to each warp of the grid.
    unsafe { memory.as_ptr().add(warps().1 as usize * args.memory as usize) }
}

/// Returns the memory of ants in shared memory: those of a warp follow each other.
#[inline(always)]
fn ant_in_shared(args: AcsArgs, _: InOut<u8>) -> impl Fn(u32, u32) -> *mut u8 {
    let each = args.ants.div_ceil(warps().0);
    let first = thread::thread_idx() / warp::SIZE * each;
    // SAFETY: the launcher reserves args.memory bytes for each ant of a block.
    move |own, _| unsafe { shared::dynamic().add(((first + own) * args.memory as u32) as usize) }
}

/// Returns the memory of ants in global memory.
#[inline(always)]
fn ant_in_global(args: AcsArgs, memory: InOut<u8>) -> impl Fn(u32, u32) -> *mut u8 {
    // SAFETY: the launcher gives args.memory bytes to each ant.
    move |_, ant| unsafe { memory.as_ptr().add(ant as usize * args.memory as usize) }
}

macro_rules! build_entries {
    ($($name:ident: $view:ty, $id:ty, $place:ident, $threads:literal, $blocks:literal;)*) => { $(
        entry!($name, ConstructAcs, $threads, $blocks, |args, p| {
            // SAFETY: the caller's promise.
            unsafe {
                if (*p.state.as_ptr()).done != 0 {
                    return;
                }
                let place = $place(args, p.memory);
                if args.fresh != 0 {
                    let view = <$view>::new(args, true, p.lists, p.trails, p.tails);
                    build(args, world::<$view, $id>(args, p, view), place, p.tours)
                } else {
                    let view = <$view>::new(args, false, p.lists, p.trails, p.tails);
                    build(args, world::<$view, $id>(args, p, view), place, p.tours)
                }
            }
        });
    )* };
}

macro_rules! walk_entries {
    ($($name:ident: $view:ty, $id:ty, $place:ident;)*) => { $(
        entry!($name, ConstructAcs, 640, 1, |args, p| {
            // SAFETY: the caller's promise.
            unsafe {
                if (*p.state.as_ptr()).done != 0 {
                    return;
                }
                // A barrier separates what ants write from what they read.
                let view = <$view>::new(args, false, p.lists, p.trails, p.tails);
                walk(args, world::<$view, $id>(args, p, view), $place(args, p.memory), p.arrivals, p.tours)
            }
        });
    )* };
}

build_entries! {
    warp_build_acs_matrix_shared_u16: MatrixTrails<u16>, u16, warp_in_shared, 256, 2;
    warp_build_acs_matrix_shared_u32: MatrixTrails<u32>, u32, warp_in_shared, 256, 2;
    warp_build_acs_matrix_global_u32: MatrixTrails<u32>, u32, warp_in_global, 256, 2;
    warp_build_acs_candidate_shared_u16: CandidateTrails<u16>, u16, warp_in_shared, 256, 2;
    warp_build_acs_candidate_shared_u32: CandidateTrails<u32>, u32, warp_in_shared, 256, 2;
    warp_build_acs_candidate_global_u32: CandidateTrails<u32>, u32, warp_in_global, 256, 2;
    warp_build_acs_selective_shared_u16: Selective, u16, warp_in_shared, 128, 5;
    warp_build_acs_selective_shared_u32: Selective, u32, warp_in_shared, 128, 5;
    warp_build_acs_selective_global_u32: Selective, u32, warp_in_global, 128, 5;
}

walk_entries! {
    warp_walk_acs_matrix_shared_u16: MatrixTrails<u16>, u16, ant_in_shared;
    warp_walk_acs_matrix_shared_u32: MatrixTrails<u32>, u32, ant_in_shared;
    warp_walk_acs_matrix_global_u32: MatrixTrails<u32>, u32, ant_in_global;
    warp_walk_acs_candidate_shared_u16: CandidateTrails<u16>, u16, ant_in_shared;
    warp_walk_acs_candidate_shared_u32: CandidateTrails<u32>, u32, ant_in_shared;
    warp_walk_acs_candidate_global_u32: CandidateTrails<u32>, u32, ant_in_global;
}
