//! Parallel loops whose bodies get memory of their own: [`parallel`](antwarp_instance::parallel) has those without.
//!
//! Rayon's iterators are generic in the body of the loop. Bodies that are generic themselves (in the problem, the operator, the
//! geometry) would make each loop compile once per body, with the body inlined in several places. The bodies here run for
//! microseconds, so the call costs nothing.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use super::Quad;

/// The work on one ant: its thread's memory, its number, its tour and its cost.
type AntBody<'a> = &'a (dyn Fn(&mut [Quad], u32, &mut [u32], &mut i64) + Sync);
/// A step of one ant: its number, its tour and its own memory.
type StepBody<'a> = &'a (dyn Fn(u32, &mut [u32], &mut [Quad]) + Sync);

/// Calls `body` once with each number below `count`, and `quads` of memory that belong to the calling thread: all 0, or as an
/// earlier call left them.
pub(super) fn each_with_memory(count: usize, quads: usize, body: &(dyn Fn(&mut [Quad], usize) + Sync)) {
    let memory = || vec![Quad::default(); quads];
    (0..count).into_par_iter().for_each_init(memory, |memory, index| body(memory, index));
}

/// Returns whether `body` returns true for each number below `count`, with memory as in [`each_with_memory`]. After the first
/// false the rest may be skipped.
pub(super) fn all_with_memory(
    count: u32,
    quads: usize,
    body: &(dyn Fn(&mut [Quad], u32) -> bool + Sync),
) -> bool {
    // A thread takes the next number when it is free: parts of fixed size would wait for the slowest thread.
    let next = AtomicU32::new(0);
    let threads = (rayon::current_num_threads() as u32).min(count);
    (0..threads).into_par_iter().with_max_len(1).all(|_| {
        let mut memory = vec![Quad::default(); quads];
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        numbers.take_while(|&number| number < count).all(|number| body(&mut memory, number))
    })
}

/// The most pieces of other work that a thread does before it goes on with its own.
const MOST_PIECES: u32 = 64;

/// Runs other work that waits for a thread of the pool, such as the loops of a proof beside a search: a thread that takes one
/// piece of work after another [on each thread](on_each_thread) would not look for it. Returns after some pieces, even if more
/// are waiting. The caller must not hold a lock.
pub(super) fn give_way() {
    for _ in 0..MOST_PIECES {
        if rayon::yield_now() != Some(rayon::Yield::Executed) {
            break;
        }
    }
}

/// Calls `body` with each ant's number, tour of `n` nodes and cost, and memory as in [`each_with_memory`].
pub(super) fn each_ant((tours, n): (&mut [u32], u32), costs: &mut [i64], quads: usize, body: AntBody) {
    let ants = tours.par_chunks_exact_mut(n as usize).zip(costs).enumerate();
    let memory = || vec![Quad::default(); quads];
    ants.for_each_init(memory, |memory, (ant, (tour, cost))| body(memory, ant as u32, tour, cost));
}

/// Calls `body` with each ant's number, tour of `n` nodes, and its own `quads`, at least one, of `memory`.
pub(super) fn each_ant_with_own_memory(
    (tours, n): (&mut [u32], u32),
    (memory, quads): (&mut [Quad], usize),
    body: StepBody,
) {
    let ants = tours.par_chunks_exact_mut(n as usize).zip(memory.par_chunks_exact_mut(quads)).enumerate();
    ants.for_each(|(ant, (tour, memory))| body(ant as u32, tour, memory));
}

/// Collects the results of `body` for each number below `count`, in order; `memory` makes a thread's memory. No thread takes
/// several numbers at once.
///
/// # Errors
/// One of those that `body` returned.
pub(super) fn collect<M, R: Send, E: Send>(
    count: u32,
    memory: &(dyn Fn() -> M + Sync),
    body: &(dyn Fn(&mut M, u32) -> Result<R, E> + Sync),
) -> Result<Vec<R>, E> {
    (0..count).into_par_iter().with_max_len(1).map_init(memory, body).collect()
}

/// Calls `body` once on every thread of the pool, with the thread's number from 0, and returns when all calls have.
pub(super) fn on_each_thread(body: &(dyn Fn(usize) + Sync)) {
    rayon::broadcast(|thread| body(thread.index()));
}
