//! Neighbourhood search: walks through a problem's solutions.
//!
//! `block_walk_{problem}`: a batch of iterations of every walk, with `args.parts` blocks per walk, which must all run at the same
//! time if there is more than one. A block's replica is in shared memory after [`SHARED_BYTES`] if `args.in_shared`, else in
//! `memory`. `slots`: for each walk a count of arrivals, a multiple of `args.parts`, and two candidates per block.
//!
//! `block_walk_{problem}_shared`: the same with the replica in shared memory, where that is faster.
//!
//! Problems with several neighbourhoods have no other kernels.
//!
//! `block_evaluate_{problem}`: computes the costs of all neighbours of a solution, for a search that chooses on the host; with
//! `args.given`, the host has also made the neighbours. One walk.
//!
//! Deterministic, whatever the number and size of blocks.

use antwarp_core::geometry::{Grid, Numbered};
use antwarp_core::kernels::WalkArgs;
// All types that `with_problems!` and `with_nested_problems!` name.
use antwarp_core::papers::problem::*;
use antwarp_core::papers::search::{self, Bank, Contender, Crew, WalkState};

use crate::cuda::block::{self, Block};
use crate::cuda::grid::Barrier;
use crate::cuda::parameter::{In, InOut};
use crate::cuda::{shared, thread, warp};
use crate::entry::EvaluateNeighbors;

/// Words of a candidate.
const WORDS: u32 = 3;
/// Bytes of shared memory before a replica: those of the block's reductions and two rows with a candidate per warp.
const SHARED_BYTES: u32 = (block::SHARED_BYTES + 2 * warp::SIZE * WORDS * 8).next_multiple_of(16);

/// The blocks of a walk.
struct Blocks {
    part: u32,
    parts: u32,
    barrier: Barrier,
    /// Two rows of candidates, with one candidate per block.
    slots: *mut u64,
    /// The row of the next exchange: a late warp or block may still read the other one.
    row: u32,
}

impl Blocks {
    /// # Safety
    /// `slots` is the walk's, and its blocks run at the same time.
    #[inline(always)]
    unsafe fn new(part: u32, parts: u32, slots: *mut u64) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Blocks { part, parts, barrier: Barrier::new(slots, parts), slots: slots.add(1), row: 0 } }
    }

    /// Returns the winner of a warp's candidates.
    #[inline(always)]
    fn of_warp(own: Contender) -> Contender {
        let (key, tag, cost) = warp::arg_min_u64(own.key, own.tag, own.cost);
        Contender { key, tag, cost }
    }

    /// # Safety
    /// `slots` has a candidate at `i`.
    #[inline(always)]
    unsafe fn put(slots: *mut u64, i: u32, own: Contender) {
        // SAFETY: the caller's promise.
        unsafe {
            let at = slots.add((i * WORDS) as usize);
            *at = own.key;
            *at.add(1) = own.tag;
            *at.add(2) = own.cost;
        }
    }

    /// # Safety
    /// As [`Blocks::put`].
    #[inline(always)]
    unsafe fn get(slots: *mut u64, i: u32) -> Contender {
        // SAFETY: the caller's promise.
        unsafe {
            let at = slots.add((i * WORDS) as usize);
            Contender { key: *at, tag: *at.add(1), cost: *at.add(2) }
        }
    }
}

impl Crew for Blocks {
    type Team = Block;

    #[inline(always)]
    fn team(&self) -> Block {
        Block
    }
    #[inline(always)]
    fn part(&self) -> u32 {
        self.part
    }
    #[inline(always)]
    fn parts(&self) -> u32 {
        self.parts
    }
    #[inline(always)]
    fn barrier(&mut self) {
        if self.parts == 1 {
            thread::sync_threads();
        } else {
            self.barrier.wait();
        }
    }
    #[inline(always)]
    fn best(&mut self, own: Contender) -> Contender {
        let warps = thread::block_dim() / warp::SIZE;
        // SAFETY: the launcher reserves SHARED_BYTES; a warp writes its own slot, a barrier precedes reading, and another one
        // precedes writing the row again.
        let mut best = unsafe {
            let slots: *mut u64 = shared::dynamic().add(block::SHARED_BYTES as usize).cast();
            let slots = slots.add((self.row * warp::SIZE * WORDS) as usize);
            let own = Self::of_warp(own);
            if warp::lane() == 0 {
                Self::put(slots, thread::thread_idx() / warp::SIZE, own);
            }
            thread::sync_threads();
            Self::of_warp(if warp::lane() < warps { Self::get(slots, warp::lane()) } else { Contender::NONE })
        };
        if self.parts > 1 {
            // SAFETY: a block writes its own slot; the barriers are as above.
            unsafe {
                let slots = self.slots.add((self.row * self.parts * WORDS) as usize);
                if thread::thread_idx() == 0 {
                    Self::put(slots, self.part, best);
                }
                self.barrier.wait();
                best = Contender::NONE;
                let mut part = warp::lane();
                while part < self.parts {
                    best = best.or(Self::get(slots, part));
                    part += warp::SIZE;
                }
                best = Self::of_warp(best);
            }
        }
        self.row ^= 1;
        best
    }
}

/// The parameters of a walk's kernel except `memory`, which is for `replica`.
struct Tables {
    tables: In<u8>,
    old_states: In<WalkState>,
    old_bests: In<u8>,
    states: InOut<WalkState>,
    bests: InOut<u8>,
    solutions: InOut<u8>,
    accepted: InOut<u8>,
    traces: InOut<u32>,
    common: InOut<u8>,
    slots: InOut<u64>,
}

/// Returns the block's replica in shared memory.
#[inline(always)]
fn in_shared(_: WalkArgs, _: InOut<u8>) -> *mut u8 {
    // SAFETY: the launcher reserves SHARED_BYTES and the layout's bytes.
    unsafe { shared::dynamic().add(SHARED_BYTES as usize) }
}

/// Returns the block's replica in shared or in global memory.
#[inline(always)]
fn in_either(args: WalkArgs, memory: InOut<u8>) -> *mut u8 {
    if args.in_shared != 0 {
        return in_shared(args, memory);
    }
    // SAFETY: the launcher gives the layout's bytes to each block of the grid.
    unsafe { memory.as_ptr().add(thread::block_idx() as usize * args.layout.bytes as usize) }
}

/// Runs this block's part of a walk.
///
/// # Safety
/// The arrays have the sizes stated in `args`.
#[inline(always)]
unsafe fn walk<P: Problem>(args: WalkArgs, t: Tables, replica: *mut u8) {
    let (index, part) = (thread::block_idx() / args.parts, thread::block_idx() % args.parts);
    if index >= args.rules.walks {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe {
        let problem = P::new(&args.shape, t.tables.as_ptr());
        let slots = t.slots.as_ptr().add(index as usize * (1 + 2 * (WORDS * args.parts) as usize));
        let mut crew = Blocks::new(part, args.parts, slots);
        let bank = Bank {
            old_states: t.old_states.as_ptr(),
            old_bests: t.old_bests.as_ptr().cast(),
            states: t.states.as_ptr(),
            bests: t.bests.as_ptr().cast(),
            solutions: t.solutions.as_ptr().cast(),
            accepted: t.accepted.as_ptr().cast(),
            traces: t.traces.as_ptr(),
        };
        let common = t.common.as_ptr().add(index as usize * args.common as usize);
        search::walk(&mut crew, &problem, &args.rules, &args.layout, &bank, index, (replica, common));
    }
}

/// Evaluates this block's part of all neighbours.
///
/// # Safety
/// The arrays have the sizes stated in `args`.
#[inline(always)]
unsafe fn evaluate<P: Problem>(args: WalkArgs, p: EvaluateNeighbors) {
    // SAFETY: the caller's promise.
    unsafe {
        let problem = P::new(&args.shape, p.tables.as_ptr());
        let mut crew = Blocks::new(thread::block_idx(), args.parts, p.slots.as_ptr());
        let replica = shared::dynamic().add(SHARED_BYTES as usize);
        let given = if args.given != 0 { p.given.as_ptr().cast() } else { core::ptr::null() };
        let solution = (p.solution.as_ptr().cast(), given);
        let memory = (replica, p.common.as_ptr());
        search::evaluate(&mut crew, &problem, &args.rules, &args.layout, solution, memory, p.costs.as_ptr());
    }
}

macro_rules! walk_entry {
    ($problem:ty, $memory:ident, $threads:literal, $name:expr) => {
        entry!(walk, Walks, $threads, 1, $name, |args, p| {
            let tables = Tables {
                tables: p.tables,
                old_states: p.old_states,
                old_bests: p.old_bests,
                states: p.states,
                bests: p.bests,
                solutions: p.solutions,
                accepted: p.accepted,
                traces: p.traces,
                common: p.common,
                slots: p.slots,
            };
            // SAFETY: the caller's promise.
            unsafe { crate::papers::walks::walk::<$problem>(args, tables, $memory(args, p.memory)) }
        });
    };
}

macro_rules! walk_entries {
    ($($name:ident: $problem:ty, $threads:literal;)*) => { $(
        mod $name {
            use super::*;

            walk_entry!($problem, in_either, $threads, concat!("block_walk_", stringify!($name)));
            entry!(evaluate, EvaluateNeighbors, $threads, 1, concat!("block_evaluate_", stringify!($name)), |args, p| {
                // SAFETY: the caller's promise.
                unsafe { super::evaluate::<$problem>(args, p) }
            });
        }
    )* };
}
antwarp_core::with_problems!(walk_entries);

// A replica may be in either memory.
core::arch::global_asm!("//@allow *block_walk* generic");

macro_rules! shared_entries {
    ($($name:ident: $problem:ty, $threads:literal;)*) => {
        /// Walks with replicas in shared memory.
        mod replicas_in_shared { $(
            mod $name {
                use super::super::*;

                walk_entry!($problem, in_shared, $threads, concat!("block_walk_", stringify!($name), "_shared"));
            }
        )* }
    };
}
antwarp_core::with_problems_in_shared!(shared_entries);

// A move in one of a perceptron's three neighbourhoods, of one to three flips, is assembled on the stack, in 32 bytes.
core::arch::global_asm!("//@allow *walk_perceptron_nested* local");

macro_rules! nested_entries {
    ($($name:ident: $problem:ty, $threads:literal;)*) => { $(
        mod $name {
            use super::*;

            walk_entry!($problem, in_either, $threads, concat!("block_walk_", stringify!($name)));
        }
    )* };
}
antwarp_core::with_nested_problems!(nested_entries);
