//! `block_solve_small`: many small instances of the plane, each by one warp in shared memory.
//!
//! Blocks of whole warps, each of which takes the next instance; shared memory: `args.words` words per warp, at least
//! [`small::words`] and two for each place. An instance has from [`small::FEWEST_NODES`] to [`small::MOST_NODES`] nodes.
//!
//! Deterministic: a tour does not depend on the warp that makes it. `antwarp_core::lin_kernighan::small` explains the search, and
//! names its sources.

use core::sync::atomic::{AtomicU32, Ordering};

use antwarp_core::lin_kernighan::small::{Flat, Place, Small};
use antwarp_core::team::Team;

use crate::cuda::{Warp, shared, thread, warp};

entry!(block_solve_small, SolveSmall, 128, 8, |args, p| {
    // SAFETY: the caller's promise; a warp has its part of shared memory, and an instance its tour and its cost.
    unsafe {
        let memory: *mut u32 =
            shared::dynamic().add((thread::thread_idx() / warp::SIZE * args.words * 4) as usize).cast();
        loop {
            let mut number = u32::MAX;
            if warp::lane() == 0 {
                number = AtomicU32::from_ptr(p.started.as_ptr()).fetch_add(1, Ordering::Relaxed);
            }
            let instance = args.first as u64 + Warp.min(number as u64);
            if instance >= args.end as u64 {
                return;
            }
            let instance = instance as usize;
            let start = *p.starts.as_ptr().add(instance);
            let n = *p.starts.as_ptr().add(instance + 1) - start;
            let places = memory.cast::<Place>();
            Warp.barrier();
            Warp.for_each(n, |node| {
                let [x, y] = *p.places.as_ptr().add((start + node) as usize);
                *places.add(node as usize) = Place(x, y);
            });
            Warp.barrier();
            let tour = Small::new(n, (Flat { places }, false), memory.add(2 * n as usize));
            let cost = tour.search(Warp, args.plan, |_| false);
            Warp.for_each(n, |at| *p.tours.as_ptr().add((start + at) as usize) = tour.best().get(at));
            Warp.single(|| *p.costs.as_ptr().add(instance) = cost);
        }
    }
});
