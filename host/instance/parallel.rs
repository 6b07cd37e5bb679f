//! Parallel loops whose bodies are called through a pointer.
//!
//! Rayon compiles its loops once for each body: several kilobytes of code. Here each loop is compiled once for the types of its
//! data. The call costs about two nanoseconds, so bodies should take longer than that.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

/// Calls `body` once with each number below `count`. A thread takes at least `grain` of them at a time.
pub fn each(count: usize, grain: usize, body: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().with_min_len(grain).for_each(body);
}

/// Calls `body` with each item and its index. A thread takes at least `grain` of them at a time.
pub fn each_of<T: Send>(items: &mut [T], grain: usize, body: &(dyn Fn(usize, &mut T) + Sync)) {
    if items.len() <= grain {
        return items.iter_mut().enumerate().for_each(|(index, item)| body(index, item));
    }
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

/// Does the same for a body that takes little time: fewer than a few thousand calls need no other threads.
pub fn collect_short<T: Send>(count: usize, body: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    if count <= GRAIN { (0..count).map(body).collect() } else { collect(count, body) }
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

/// Calls `body` with each number below `count` and what `memory` made for the calling thread, which takes at least `grain` of them at
/// a time.
pub fn each_with<M>(
    count: usize,
    grain: usize,
    memory: &(dyn Fn() -> M + Sync),
    body: &(dyn Fn(&mut M, usize) + Sync),
) {
    (0..count).into_par_iter().with_min_len(grain).for_each_init(memory, body);
}

/// Returns the numbers below `count` for which `body` returns true, ascending.
pub fn filter(count: usize, body: &(dyn Fn(usize) -> bool + Sync)) -> Vec<u32> {
    let of_part = |part: usize| -> Vec<u32> {
        let numbers = part * PART..((part + 1) * PART).min(count);
        numbers.filter(|&number| body(number)).map(|number| number as u32).collect()
    };
    concat(&collect(count.div_ceil(PART), &of_part))
}

/// Numbers in a part of a long array that one thread fills.
const PART: usize = 1 << 14;
/// Minimum length of a permutation for which several threads are faster.
const MANY: usize = 1 << 17;

/// Joins arrays.
pub fn concat<T: Copy + Default + Send + Sync>(arrays: &[Vec<T>]) -> Vec<T> {
    let mut all = vec![T::default(); arrays.iter().map(Vec::len).sum()];
    let ends = arrays.iter().map(Vec::len).scan(0, |end, len| {
        *end += len;
        Some(*end)
    });
    each_of(&mut split(&mut all, ends), 1, &|index, part| part.copy_from_slice(&arrays[index]));
    all
}

/// Splits an array into parts with these ends, ascending.
pub fn split<T>(items: &mut [T], ends: impl IntoIterator<Item = usize>) -> Vec<&mut [T]> {
    let (mut rest, mut start) = (items, 0);
    let part = |end: usize| {
        let (part, others) = std::mem::take(&mut rest).split_at_mut(end - start);
        (rest, start) = (others, end);
        part
    };
    ends.into_iter().map(part).collect()
}

/// Returns the index of each number in a permutation of the numbers below its length.
///
/// # Panics
/// If a number is too large.
pub fn inverse(order: &[u32]) -> Vec<u32> {
    if order.len() < MANY {
        let mut indices = vec![0; order.len()];
        (0..).zip(order).for_each(|(index, &number)| indices[number as usize] = index);
        return indices;
    }
    let indices: Vec<AtomicU32> = collect(order.len(), &|_| AtomicU32::new(0));
    each(order.len(), 1 << 12, &|index| {
        indices[order[index] as usize].store(index as u32, Ordering::Relaxed)
    });
    indices.into_iter().map(AtomicU32::into_inner).collect()
}

/// Returns whether an array has each number below its length once.
pub fn is_permutation(order: &[u32]) -> bool {
    if order.len() < MANY {
        let mut is_seen = vec![false; order.len()];
        let is_new = |&number: &u32| {
            let seen = is_seen.get_mut(number as usize);
            seen.is_some_and(|seen| !std::mem::replace(seen, true))
        };
        return order.iter().all(is_new);
    }
    // The last index stored for a number is that of every place where it is only if there is one such place.
    let is_below = |index: usize| (order[index] as usize) < order.len();
    all(order.len(), &is_below) && {
        let indices = inverse(order);
        all(order.len(), &|index| indices[order[index] as usize] == index as u32)
    }
}

/// The rows of an array, each of which is filled by one thread.
pub struct Rows<'a, T> {
    start: *mut T,
    size: usize,
    count: usize,
    items: PhantomData<&'a mut [T]>,
}

// SAFETY: threads get rows that do not overlap, as `Rows::row` demands, for as long as the array is borrowed.
unsafe impl<T: Send> Sync for Rows<'_, T> {}

impl<'a, T> Rows<'a, T> {
    /// Splits an array into rows of `size` items.
    ///
    /// # Panics
    /// If its length is not a multiple of `size`.
    pub fn new(items: &'a mut [T], size: usize) -> Rows<'a, T> {
        assert!(items.len().is_multiple_of(size.max(1)), "whole rows");
        let count = items.len() / size.max(1);
        Rows { start: items.as_mut_ptr(), size, count, items: PhantomData }
    }

    /// Returns a row.
    ///
    /// # Safety
    /// No two calls are given the same index.
    ///
    /// # Panics
    /// If there is no such row.
    #[expect(clippy::mut_from_ref, reason = "no two calls return the same row")]
    pub unsafe fn row(&self, index: usize) -> &mut [T] {
        assert!(index < self.count, "row {index} of {}", self.count);
        // SAFETY: the row is inside the array, which is borrowed for as long as `self` lives; the caller promises the rest.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(index * self.size), self.size) }
    }
}

/// Bytes that a thread looks through at a time.
const BYTES: usize = 1 << 18;
/// Short tests that a thread makes at a time. Fewer need no other threads, which may not even have been started.
const GRAIN: usize = 1 << 10;

/// Returns whether a byte is among others.
pub fn contains(bytes: &[u8], byte: u8) -> bool {
    if bytes.len() <= BYTES {
        return bytes.contains(&byte);
    }
    bytes.par_chunks(BYTES).any(|part| part.contains(&byte))
}

/// Returns whether all bytes are ASCII characters.
pub fn is_ascii(bytes: &[u8]) -> bool {
    if bytes.len() <= BYTES {
        return bytes.is_ascii();
    }
    bytes.par_chunks(BYTES).all(<[u8]>::is_ascii)
}

/// Adds up what `body` returns for each number below `count`. A thread takes at least `grain` of them at a time.
pub fn sum(count: usize, grain: usize, body: &(dyn Fn(usize) -> i64 + Sync)) -> i64 {
    (0..count).into_par_iter().with_min_len(grain).map(body).sum()
}

/// Returns the smallest number below `count` for which `body` returns true.
pub fn first(count: usize, body: &(dyn Fn(usize) -> bool + Sync)) -> Option<usize> {
    if count <= GRAIN {
        return (0..count).find(|&number| body(number));
    }
    (0..count).into_par_iter().with_min_len(GRAIN).find_first(|&number| body(number))
}

/// Whether `body` returns true for each number below `count`.
pub fn all(count: usize, body: &(dyn Fn(usize) -> bool + Sync)) -> bool {
    if count <= GRAIN {
        return (0..count).all(body);
    }
    (0..count).into_par_iter().with_min_len(GRAIN).all(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_joined_in_order() {
        let count = 3 * PART + 7;
        let expected: Vec<u32> = (0..count as u32).filter(|number| number % 3 == 1).collect();
        assert_eq!(filter(count, &|number| number % 3 == 1), expected);
        assert!(filter(0, &|_| true).is_empty());
        assert_eq!(first(count, &|number| number * number > 2 * PART), Some((2 * PART).isqrt() + 1));
        let mut items = [0, 1, 2, 3, 4];
        assert_eq!(split(&mut items, [2, 2, 5]), [&[0, 1][..], &[], &[2, 3, 4]]);
    }

    #[test]
    fn permutations_have_inverses() {
        let n = 200_003;
        let mut order: Vec<u32> = (0..n).map(|i| (u64::from(i) * 7919 % u64::from(n)) as u32).collect();
        let indices = inverse(&order);
        assert!((0..n).all(|index| indices[order[index as usize] as usize] == index));
        assert!(is_permutation(&order));
        order[5] = order[199_999];
        assert!(!is_permutation(&order));
        order[5] = n;
        assert!(!is_permutation(&order));
    }

    #[test]
    fn rows_are_filled_in_any_order() {
        let mut items = vec![0; 300];
        let rows = Rows::new(&mut items, 3);
        each(100, 1, &|index| {
            // SAFETY: a permutation of the rows.
            let row = unsafe { rows.row(index * 7 % 100) };
            row.fill(index);
        });
        assert!(items.chunks(3).enumerate().all(|(row, items)| items == [row * 43 % 100; 3]));
    }
}
