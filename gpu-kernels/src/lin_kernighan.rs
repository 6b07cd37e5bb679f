//! Chained Lin-Kernighan: three launches per round, one more for every other GPU that takes part, and two where other processes do.
//!
//! - `block_run_trials_{deep,shallow}_{grid,planar,numbered}`: trials of every tour, by Lin-Kernighan moves or by those of an
//!   operator. A warp per trial; whichever is free takes the next one. Blocks of whole warps; shared memory: [`BYTES`] per warp.
//! - `grid_take_changes`: copies the results of trials on another GPU, reading its memory. Warps in grid strides, a trial each.
//! - `grid_pack_changes`, `grid_unpack_changes`: convert the results of trials to words that can be sent, and back. Warps in grid
//!   strides, a trial each.
//! - `blocks_plan_merge`: decides which changes are made, and where every segment goes. The grid's blocks are divided equally among
//!   the tours, in a cooperative launch. Shared memory: [`block::SHARED_BYTES`](crate::cuda::block::SHARED_BYTES).
//! - `grid_place_nodes_{grid,planar,numbered}`: the next tours. Threads in grid strides.
//!
//! Deterministic: a trial does not depend on the warp that makes it. Source: Lin and Kernighan 1973; Martin, Otto and Felten
//! 1991; `antwarp_core::lin_kernighan` explains trials and merges.

use core::sync::atomic::{AtomicU32, Ordering};

use antwarp_core::geometry::{Grid, Places};
use antwarp_core::kernels::TrialArgs;
use antwarp_core::lin_kernighan::Tour;
use antwarp_core::lin_kernighan::cuts::MAX_SEGMENTS;
use antwarp_core::lin_kernighan::merge::{self, MergeBoard, Next};
use antwarp_core::lin_kernighan::trial::{self, TrialChanges};
use antwarp_core::operator::{LinKernighan, Shallow};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Slots, Team};

use crate::cuda::grid::Blocks;
use crate::cuda::parameter::{In, InOut};
use crate::cuda::{Warp, shared, thread, warp};
use crate::entry::{grid, numbered, planar};

/// Shared memory per warp.
const BYTES: u32 = trial::WORDS * 4;
const _: () = assert!(BYTES.is_multiple_of(8));

/// Returns part of memory that is only read.
#[inline(always)]
unsafe fn fixed<T: Copy>(array: In<T>, start: usize, len: usize) -> Slots<T> {
    // SAFETY: the caller writes nothing, and there are enough elements.
    unsafe { Slots::new(array.as_ptr().add(start).cast_mut(), len) }
}

/// Returns part of memory.
#[inline(always)]
unsafe fn own<T: Copy>(array: InOut<T>, start: usize, len: usize) -> Slots<T> {
    // SAFETY: there are enough elements.
    unsafe { Slots::new(array.as_ptr().add(start), len) }
}

/// Calls `act` for each number of `first..end`, on one warp each: the grid's warps take them in strides.
#[inline(always)]
fn each_warp(args: &TrialArgs, mut act: impl FnMut(u32)) {
    let warps = thread::grid_dim() * thread::block_dim() / warp::SIZE;
    let mut one =
        args.first + (thread::block_idx() * thread::block_dim() + thread::thread_idx()) / warp::SIZE;
    while one < args.end {
        act(one);
        one += warps;
    }
}

// The reach of shallow trials is copied in 16 bytes of stack, once per trial.
core::arch::global_asm!("//@allow *run_trials_shallow* local");

/// Returns the reach of trials.
#[inline(always)]
fn deep(_: TrialArgs) -> LinKernighan {
    LinKernighan
}

/// As [`deep`].
#[inline(always)]
fn shallow(args: TrialArgs) -> Shallow {
    args.reach
}

macro_rules! run {
    ($($name:ident: $reach:ident, $geometry:ident;)*) => { $(
        entry!($name, RunTrials, 128, 4, |args, p| {
            // SAFETY: the caller's promise; a warp has its part of shared memory, and a trial its entries.
            unsafe {
                let geometry = $geometry(p.points, p.matrix, args.metric, args.n);
                let memory = shared::dynamic().add((thread::thread_idx() / warp::SIZE * BYTES) as usize).cast();
                let here = args.end - args.first;
                let all = args.chains * here;
                loop {
                    let mut number = u32::MAX;
                    if warp::lane() == 0 {
                        number = AtomicU32::from_ptr(p.started.as_ptr()).fetch_add(1, Ordering::Relaxed);
                    }
                    let number = Warp.min(number as u64) as u32;
                    if number >= all {
                        return;
                    }
                    let (chain, trial) = (number / here, args.first + number % here);
                    let from = chain as usize * args.n as usize;
                    let tour = Tour {
                        n: args.n,
                        k: args.k,
                        order: p.order.as_ptr().add(from),
                        position: p.position.as_ptr().add(from),
                        ahead: p.ahead.as_ptr().add(from),
                        lists: p.lists.as_ptr(),
                        near: p.near.as_ptr(),
                        places: Places { geometry, start: p.places.as_ptr().cast() },
                    };
                    let (trials, most) = (args.round.trials as usize, MAX_SEGMENTS as usize);
                    let first = chain as usize * trials;
                    let changes = TrialChanges {
                        gain: own(p.gain, first, trials),
                        count: own(p.count, first, trials),
                        cuts: own(p.cuts, first * most, trials * most),
                    };
                    let stream = Stream::new(args.round.seed, args.round.number, args.first_chain + chain);
                    trial::run(Warp, $reach(args), tour, memory, args.round, stream, trial, changes);
                }
            }
        });
    )* };
}

run! {
    block_run_trials_deep_grid: deep, grid;
    block_run_trials_deep_planar: deep, planar;
    block_run_trials_deep_numbered: deep, numbered;
    block_run_trials_shallow_grid: shallow, grid;
    block_run_trials_shallow_planar: shallow, planar;
    block_run_trials_shallow_numbered: shallow, numbered;
}

entry!(grid_take_changes, TakeChanges, 256, 1, |args, p| {
    // SAFETY: the caller's promise; a trial is handled by one warp.
    unsafe {
        let (trials, most) = (args.round.trials as usize, MAX_SEGMENTS as usize);
        let from = TrialChanges {
            gain: fixed(p.from_gain, 0, trials),
            count: fixed(p.from_count, 0, trials),
            cuts: fixed(p.from_cuts, 0, trials * most),
        };
        let to = TrialChanges {
            gain: own(p.gain, 0, trials),
            count: own(p.count, 0, trials),
            cuts: own(p.cuts, 0, trials * most),
        };
        each_warp(&args, |trial| to.take(Warp, from, trial));
    }
});

entry!(grid_pack_changes, PackChanges, 256, 1, |args, p| {
    // SAFETY: the caller's promise, with words for all trials, however many edges are removed; the words counted belong to one
    // warp.
    unsafe {
        let (trials, most) = (args.round.trials as usize, MAX_SEGMENTS as usize);
        let from = TrialChanges {
            gain: fixed(p.gain, 0, trials),
            count: fixed(p.count, 0, trials),
            cuts: fixed(p.cuts, 0, trials * most),
        };
        let words = own(p.words, 0, trials * trial::packed(MAX_SEGMENTS) as usize);
        each_warp(&args, |trial| {
            let count = from.count.get(trial);
            if count > 0 {
                let mut at = u32::MAX;
                if warp::lane() == 0 {
                    at = AtomicU32::from_ptr(p.used.as_ptr())
                        .fetch_add(trial::packed(count), Ordering::Relaxed);
                }
                from.pack(Warp, trial, words, Warp.min(at as u64) as u32);
            }
        });
    }
});

entry!(grid_unpack_changes, UnpackChanges, 256, 1, |args, p| {
    // SAFETY: the caller's promise, with the starts of changes of these trials; a change is handled by one warp.
    unsafe {
        let (trials, most) = (args.round.trials as usize, MAX_SEGMENTS as usize);
        let to = TrialChanges {
            gain: own(p.gain, 0, trials),
            count: own(p.count, 0, trials),
            cuts: own(p.cuts, 0, trials * most),
        };
        let starts = fixed(p.starts, 0, args.end as usize);
        let words = fixed(p.words, 0, usize::MAX);
        each_warp(&args, |change| to.unpack(Warp, words, starts.get(change)));
    }
});

entry!(blocks_plan_merge, PlanMerge, 1024, 1, |args, p| {
    // SAFETY: the caller's promise; the grid has the same number of blocks for each tour, and no distance is computed.
    unsafe {
        let blocks = thread::grid_dim() / args.chains;
        let (chain, n) = ((thread::block_idx() / blocks) as usize, args.n as usize);
        let team = Blocks::new(
            p.arrivals.as_ptr().add(chain),
            p.partials.as_ptr().add(chain * blocks as usize),
            blocks,
            thread::block_idx() % blocks,
        );
        // As `merge::bit_words`, in 64 bits.
        let words = n / 32 + 1;
        let (trials, most) = (args.round.trials as usize, MAX_SEGMENTS as usize);
        let first = chain * trials;
        let tour = Tour {
            n: args.n,
            k: args.k,
            order: p.order.as_ptr().add(chain * n),
            position: p.position.as_ptr().add(chain * n),
            ahead: core::ptr::null(),
            lists: core::ptr::null(),
            near: core::ptr::null(),
            places: Places { geometry: Grid { up: false }, start: core::ptr::null() },
        };
        let changes = TrialChanges {
            gain: fixed(p.gain, first, trials),
            count: own(p.count, first, trials),
            cuts: fixed(p.cuts, first * most, trials * most),
        };
        let pairs = merge::pairs(args.n) as usize;
        let board = MergeBoard {
            claims: own(p.claims, chain * n, n),
            bits: own(p.bits, chain * words, words),
            cuts_before_word: own(p.cuts_before_word, chain * words, words),
            cut_of_position: own(p.cut_of_position, chain * n, n),
            cut_positions: own(p.cut_positions, chain * n, n),
            segment_start: own(p.segment_start, chain * n, n),
            successor: own(p.successor, chain * pairs, pairs),
            distance_or_cycle: own(p.distance_or_cycle, chain * pairs, pairs),
        };
        let made = merge::plan(team, tour, board, changes, args.round.trials);
        team.single(|| {
            *p.merged.as_ptr().add(chain) = made;
            *p.costs.as_ptr().add(chain) -= made.gain;
            if chain == 0 {
                *p.started.as_ptr() = 0;
            }
        });
    }
});

// Pairs of incompatible changes are processed on 24 bytes of stack.
core::arch::global_asm!("//@allow blocks_plan_merge local");

macro_rules! place {
    ($($name:ident: $geometry:ident;)*) => { $(
        entry!($name, PlaceNodes, 256, 1, |args, p| {
            // SAFETY: the caller's promise; a position is handled by one thread.
            unsafe {
                let geometry = $geometry(p.points, p.matrix, args.metric, args.n);
                let words = merge::bit_words(args.n);
                let all = args.chains as u64 * args.n as u64;
                let mut i = thread::block_idx() as u64 * thread::block_dim() as u64 + thread::thread_idx() as u64;
                while i < all {
                    let chain = (i / args.n as u64) as usize;
                    let (n, of_bits) = (args.n as usize, words as usize);
                    let from = chain * n;
                    let tour = Tour {
                        n: args.n,
                        k: args.k,
                        order: p.order.as_ptr().add(from),
                        position: core::ptr::null(),
                        ahead: p.ahead.as_ptr().add(from),
                        lists: core::ptr::null(),
                        near: core::ptr::null(),
                        places: Places { geometry, start: p.places.as_ptr().cast() },
                    };
                    let board = MergeBoard {
                        claims: Slots::none(),
                        bits: fixed(p.bits, chain * of_bits, of_bits),
                        cuts_before_word: fixed(p.cuts_before_word, chain * of_bits, of_bits),
                        cut_of_position: fixed(p.cut_of_position, from, n),
                        cut_positions: fixed(p.cut_positions, from, n),
                        segment_start: fixed(p.segment_start, from, n),
                        successor: Slots::none(),
                        distance_or_cycle: Slots::none(),
                    };
                    let (trials, most) = (args.round.trials as usize, MAX_SEGMENTS as usize);
                    let changes = TrialChanges {
                        gain: Slots::none(),
                        count: Slots::none(),
                        cuts: fixed(p.cuts, chain * trials * most, trials * most),
                    };
                    let next = Next {
                        order: own(p.next_order, from, n),
                        ahead: own(p.next_ahead, from, n),
                        position: own(p.position, from, n),
                    };
                    let cuts = (*p.merged.as_ptr().add(chain)).cuts;
                    merge::place(tour, board, changes, cuts, (i - from as u64) as u32, next);
                    i += thread::grid_dim() as u64 * thread::block_dim() as u64;
                }
            }
        });
    )* };
}

place! {
    grid_place_nodes_grid: grid;
    grid_place_nodes_planar: planar;
    grid_place_nodes_numbered: numbered;
}
