//! Chained Lin-Kernighan: three launches a round, one for every other GPU that has a part in it, and two where other processes have.
//!
//! - `block_run_trials_{deep,shallow}_{grid,planar,numbered}`: trials of every tour, by Lin-Kernighan moves or by an operator's. A warp a trial; whichever is free takes the next one.
//!   Blocks of whole warps; shared memory: [`BYTES`] a warp.
//! - `grid_take_changes`: what trials found on another GPU, in whose memory it reads. Warps in grid strides, a trial each.
//! - `grid_pack_changes`, `grid_unpack_changes`: what trials found as words that can be sent, and the way back. Warps in grid strides, a
//!   trial each.
//! - `blocks_plan_merge`: which changes are made, and where every segment goes. As many blocks a tour as the grid has for
//!   each, in a cooperative launch. Shared memory: [`block::SHARED_BYTES`](crate::cuda::block::SHARED_BYTES).
//! - `grid_place_nodes_{grid,planar,numbered}`: the next tours. Threads in grid strides.
//!
//! Deterministic: a trial does not depend on the warp that makes it. Source: Lin and Kernighan 1973; Martin, Otto and Felten
//! 1991; what trials and merges are is in `antwarp_core::lin_kernighan`.

use core::sync::atomic::{AtomicU32, Ordering};

use antwarp_core::geometry::{Grid, Places};
use antwarp_core::kernels::TrialArgs;
use antwarp_core::lin_kernighan::Tour;
use antwarp_core::lin_kernighan::cuts::MOST;
use antwarp_core::lin_kernighan::merge::{self, MergeBoard, Merged, Next};
use antwarp_core::lin_kernighan::trial::{self, TrialChanges};
use antwarp_core::operator::{LinKernighan, Shallow};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Slots, Team};

use crate::cuda::grid::Blocks;
use crate::cuda::parameter::{In, InOut};
use crate::cuda::{Warp, shared, thread, warp};
use crate::entry::{declare, grid, numbered, planar};

/// Shared memory of a warp.
const BYTES: u32 = trial::WORDS * 4;
const _: () = assert!(BYTES.is_multiple_of(8));

/// Part of memory that is only read.
#[inline(always)]
unsafe fn fixed<T: Copy>(array: In<T>, start: usize, len: usize) -> Slots<T> {
    // SAFETY: the caller writes nothing, and there are so many elements.
    unsafe { Slots::new(array.as_ptr().add(start).cast_mut(), len) }
}

/// Part of memory.
#[inline(always)]
unsafe fn own<T: Copy>(array: InOut<T>, start: usize, len: usize) -> Slots<T> {
    // SAFETY: there are so many elements.
    unsafe { Slots::new(array.as_ptr().add(start), len) }
}

/// Calls `act` for each number of `first..end`, a warp each: the grid's warps go through them in strides.
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

// How far shallow trials go is copied in 16 bytes of stack, once a trial.
core::arch::global_asm!("//@allow *run_trials_shallow* local");

/// How far trials go.
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
        /// See the module. # Safety: the launcher in `antwarp` gives arrays of the sizes that `args` tell.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(
            args: TrialArgs, order: In<u32>, position: In<u32>, ahead: In<i32>, lists: In<u32>, near: In<i32>,
            places: In<u8>, points: In<[f64; 3]>, matrix: In<i32>, next: InOut<u32>, gain: InOut<i64>,
            count: InOut<u32>, cuts: InOut<[u32; 3]>,
        ) {
            // SAFETY: the caller's promise; a warp has its part of shared memory, a trial its places.
            unsafe {
                let geometry = $geometry(points, matrix, args.metric, args.n);
                let memory = shared::dynamic().add((thread::thread_idx() / warp::SIZE * BYTES) as usize).cast();
                let here = args.end - args.first;
                let all = args.chains * here;
                loop {
                    let mut number = u32::MAX;
                    if warp::lane() == 0 {
                        number = AtomicU32::from_ptr(next.as_ptr()).fetch_add(1, Ordering::Relaxed);
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
                        order: order.as_ptr().add(from),
                        position: position.as_ptr().add(from),
                        ahead: ahead.as_ptr().add(from),
                        lists: lists.as_ptr(),
                        near: near.as_ptr(),
                        places: Places { geometry, start: places.as_ptr().cast() },
                    };
                    let (trials, most) = (args.round.trials as usize, MOST as usize);
                    let first = chain as usize * trials;
                    let changes = TrialChanges {
                        gain: own(gain, first, trials),
                        count: own(count, first, trials),
                        cuts: own(cuts, first * most, trials * most),
                    };
                    let stream = Stream::new(args.round.seed, args.round.number, args.first_chain + chain);
                    trial::run(Warp, $reach(args), tour, memory, args.round, stream, trial, changes);
                }
            }
        }
        declare!($name: RunTrials, 128, 4);
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

/// See the module. # Safety: the launcher in `antwarp` gives arrays of the sizes that `args` tell.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn grid_take_changes(
    args: TrialArgs,
    from_gain: In<i64>,
    from_count: In<u32>,
    from_cuts: In<[u32; 3]>,
    gain: InOut<i64>,
    count: InOut<u32>,
    cuts: InOut<[u32; 3]>,
) {
    // SAFETY: the caller's promise; a trial is one warp's.
    unsafe {
        let (trials, most) = (args.round.trials as usize, MOST as usize);
        let from = TrialChanges {
            gain: fixed(from_gain, 0, trials),
            count: fixed(from_count, 0, trials),
            cuts: fixed(from_cuts, 0, trials * most),
        };
        let to = TrialChanges {
            gain: own(gain, 0, trials),
            count: own(count, 0, trials),
            cuts: own(cuts, 0, trials * most),
        };
        each_warp(&args, |trial| to.take(Warp, from, trial));
    }
}
declare!(grid_take_changes: TakeChanges, 256, 1);

/// See the module. # Safety: the launcher in `antwarp` gives arrays of the sizes that `args` tell, and words for all trials, however
/// many edges go out.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn grid_pack_changes(
    args: TrialArgs,
    gain: In<i64>,
    count: In<u32>,
    cuts: In<[u32; 3]>,
    words: InOut<u32>,
    used: InOut<u32>,
) {
    // SAFETY: the caller's promise; words that were counted are one warp's.
    unsafe {
        let (trials, most) = (args.round.trials as usize, MOST as usize);
        let from = TrialChanges {
            gain: fixed(gain, 0, trials),
            count: fixed(count, 0, trials),
            cuts: fixed(cuts, 0, trials * most),
        };
        let words = own(words, 0, trials * trial::packed(MOST) as usize);
        each_warp(&args, |trial| {
            let count = from.count.get(trial);
            if count > 0 {
                let mut at = u32::MAX;
                if warp::lane() == 0 {
                    at =
                        AtomicU32::from_ptr(used.as_ptr()).fetch_add(trial::packed(count), Ordering::Relaxed);
                }
                from.pack(Warp, trial, words, Warp.min(at as u64) as u32);
            }
        });
    }
}
declare!(grid_pack_changes: PackChanges, 256, 1);

/// See the module. # Safety: the launcher in `antwarp` gives arrays of the sizes that `args` tell, and
/// starts of changes of these trials.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn grid_unpack_changes(
    args: TrialArgs,
    words: In<u32>,
    starts: In<u32>,
    gain: InOut<i64>,
    count: InOut<u32>,
    cuts: InOut<[u32; 3]>,
) {
    // SAFETY: the caller's promise; a change is one warp's.
    unsafe {
        let (trials, most) = (args.round.trials as usize, MOST as usize);
        let to = TrialChanges {
            gain: own(gain, 0, trials),
            count: own(count, 0, trials),
            cuts: own(cuts, 0, trials * most),
        };
        let starts = fixed(starts, 0, args.end as usize);
        let words = fixed(words, 0, usize::MAX);
        each_warp(&args, |change| to.unpack(Warp, words, starts.get(change)));
    }
}
declare!(grid_unpack_changes: UnpackChanges, 256, 1);

/// See the module. # Safety: the launcher in `antwarp` gives arrays of the sizes that `args` tell.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn blocks_plan_merge(
    args: TrialArgs,
    order: In<u32>,
    position: In<u32>,
    gain: In<i64>,
    count: InOut<u32>,
    cuts: In<[u32; 3]>,
    claims: InOut<u64>,
    bits: InOut<u32>,
    before: InOut<u32>,
    which: InOut<u32>,
    at: InOut<u32>,
    begin: InOut<u32>,
    next: InOut<u32>,
    far: InOut<u32>,
    merged: InOut<Merged>,
    costs: InOut<i64>,
    begun: InOut<u32>,
    arrivals: InOut<u64>,
    partials: InOut<u64>,
) {
    // SAFETY: the caller's promise; the grid has equally many blocks for each tour, and no distance is asked for.
    unsafe {
        let blocks = thread::grid_dim() / args.chains;
        let (chain, n) = ((thread::block_idx() / blocks) as usize, args.n as usize);
        let team = Blocks::new(
            arrivals.as_ptr().add(chain),
            partials.as_ptr().add(chain * blocks as usize),
            blocks,
            thread::block_idx() % blocks,
        );
        let words = n / 32 + 1;
        let (trials, most) = (args.round.trials as usize, MOST as usize);
        let first = chain * trials;
        let tour = Tour {
            n: args.n,
            k: args.k,
            order: order.as_ptr().add(chain * n),
            position: position.as_ptr().add(chain * n),
            ahead: core::ptr::null(),
            lists: core::ptr::null(),
            near: core::ptr::null(),
            places: Places { geometry: Grid { up: false }, start: core::ptr::null() },
        };
        let changes = TrialChanges {
            gain: fixed(gain, first, trials),
            count: own(count, first, trials),
            cuts: fixed(cuts, first * most, trials * most),
        };
        let pairs = merge::pairs(args.n) as usize;
        let board = MergeBoard {
            claims: own(claims, chain * n, n),
            bits: own(bits, chain * words, words),
            before: own(before, chain * words, words),
            which: own(which, chain * n, n),
            at: own(at, chain * n, n),
            begin: own(begin, chain * n, n),
            next: own(next, chain * pairs, pairs),
            far: own(far, chain * pairs, pairs),
        };
        let made = merge::plan(team, tour, board, changes, args.round.trials);
        team.single(|| {
            *merged.as_ptr().add(chain) = made;
            *costs.as_ptr().add(chain) -= made.gain;
            if chain == 0 {
                *begun.as_ptr() = 0;
            }
        });
    }
}
declare!(blocks_plan_merge: PlanMerge, 1024, 1);

// Pairs are gone through on 24 bytes of stack, where changes do not go together.
core::arch::global_asm!("//@allow blocks_plan_merge local");

macro_rules! place {
    ($($name:ident: $geometry:ident;)*) => { $(
        /// See the module. # Safety: the launcher in `antwarp` gives arrays of the sizes that `args` tell.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(
            args: TrialArgs, order: In<u32>, ahead: In<i32>, places: In<u8>, points: In<[f64; 3]>, matrix: In<i32>,
            cuts: In<[u32; 3]>, bits: In<u32>, before: In<u32>, which: In<u32>, at: In<u32>, begin: In<u32>,
            merged: In<Merged>, next_order: InOut<u32>, next_ahead: InOut<i32>, position: InOut<u32>,
        ) {
            // SAFETY: the caller's promise; a position is one thread's.
            unsafe {
                let geometry = $geometry(points, matrix, args.metric, args.n);
                let words = args.n / 32 + 1;
                let all = args.chains as u64 * args.n as u64;
                let mut i = thread::block_idx() as u64 * thread::block_dim() as u64 + thread::thread_idx() as u64;
                while i < all {
                    let chain = (i / args.n as u64) as usize;
                    let (n, of_bits) = (args.n as usize, words as usize);
                    let from = chain * n;
                    let tour = Tour {
                        n: args.n,
                        k: args.k,
                        order: order.as_ptr().add(from),
                        position: core::ptr::null(),
                        ahead: ahead.as_ptr().add(from),
                        lists: core::ptr::null(),
                        near: core::ptr::null(),
                        places: Places { geometry, start: places.as_ptr().cast() },
                    };
                    let board = MergeBoard {
                        claims: Slots::none(),
                        bits: fixed(bits, chain * of_bits, of_bits),
                        before: fixed(before, chain * of_bits, of_bits),
                        which: fixed(which, from, n),
                        at: fixed(at, from, n),
                        begin: fixed(begin, from, n),
                        next: Slots::none(),
                        far: Slots::none(),
                    };
                    let (trials, most) = (args.round.trials as usize, MOST as usize);
                    let changes = TrialChanges {
                        gain: Slots::none(),
                        count: Slots::none(),
                        cuts: fixed(cuts, chain * trials * most, trials * most),
                    };
                    let next = Next {
                        order: own(next_order, from, n),
                        ahead: own(next_ahead, from, n),
                        position: own(position, from, n),
                    };
                    let cuts = (*merged.as_ptr().add(chain)).cuts;
                    merge::place(tour, board, changes, cuts, (i - from as u64) as u32, next);
                    i += thread::grid_dim() as u64 * thread::block_dim() as u64;
                }
            }
        }
        declare!($name: PlaceNodes, 256, 1);
    )* };
}

place! {
    grid_place_nodes_grid: grid;
    grid_place_nodes_planar: planar;
    grid_place_nodes_numbered: numbered;
}
