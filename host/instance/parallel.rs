//! Parallel loops whose bodies are called through a pointer.
//!
//! Rayon compiles its loops once for each body: several kilobytes of code. Here each loop is compiled once for the types of its
//! data. The call costs about two nanoseconds, so bodies should take longer than that.

use rayon::prelude::*;

/// Calls `body` once with each number below `count`. A thread takes at least `grain` of them at a time.
pub fn each(count: usize, grain: usize, body: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().with_min_len(grain).for_each(body);
}

/// Calls `body` with each item and its index. A thread takes at least `grain` of them at a time.
pub fn each_of<T: Send>(items: &mut [T], grain: usize, body: &(dyn Fn(usize, &mut T) + Sync)) {
    items.par_iter_mut().enumerate().with_min_len(grain).for_each(|(index, item)| body(index, item));
}

/// Calls `body` with each part of `size` items, the last one perhaps shorter, and its index.
pub fn each_part<T: Send>(items: &mut [T], size: usize, body: &(dyn Fn(usize, &mut [T]) + Sync)) {
    each_part_with(items, size, &|| (), &|(), index, part| body(index, part));
}

/// The same, with what `memory` made for the calling thread.
pub fn each_part_with<T: Send, M>(
    items: &mut [T],
    size: usize,
    memory: &(dyn Fn() -> M + Sync),
    body: &(dyn Fn(&mut M, usize, &mut [T]) + Sync),
) {
    let parts = items.par_chunks_mut(size).enumerate();
    parts.for_each_init(memory, |memory, (index, part)| body(memory, index, part));
}

/// Collects what `body` returns for each number below `count`, in order.
pub fn collect<T: Send>(count: usize, body: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    // `collect` would compile a second loop, for iterators of unknown length.
    let mut all = Vec::new();
    (0..count).into_par_iter().map(body).collect_into_vec(&mut all);
    all
}

/// Collects what `body` returns for each number below `count`, where it is something, in order. `memory` makes what belongs to the calling
/// thread.
pub fn collect_some<T: Send, M>(
    count: usize,
    memory: &(dyn Fn() -> M + Sync),
    body: &(dyn Fn(&mut M, usize) -> Option<T> + Sync),
) -> Vec<T> {
    (0..count).into_par_iter().map_init(memory, body).flatten_iter().collect()
}

/// Adds up what `body` returns for each number below `count`. A thread takes at least `grain` of them at a time.
pub fn sum(count: usize, grain: usize, body: &(dyn Fn(usize) -> i64 + Sync)) -> i64 {
    (0..count).into_par_iter().with_min_len(grain).map(body).sum()
}

/// Whether `body` returns true for each number below `count`.
pub fn all(count: usize, body: &(dyn Fn(usize) -> bool + Sync)) -> bool {
    (0..count).into_par_iter().all(body)
}
