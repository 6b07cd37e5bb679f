//! Small tours, each by one thread.

use std::cell::Cell;

use antwarp_core::distance::{Distance, Plane};
use antwarp_core::lin_kernighan::small::{FEWEST_NODES, FIXED, MOST_NODES, Plan, Small, neighbors, words};
use antwarp_core::team::Serial;

/// Kicks between two looks at the clock.
const KICKS: u32 = 64;

/// Distances in a matrix, row by row.
#[derive(Clone, Copy)]
struct Matrix {
    start: *const i32,
    n: usize,
}

impl Distance for Matrix {
    #[inline(always)]
    unsafe fn between(self, i: u32, j: u32) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { *self.start.add(i as usize * self.n + j as usize) }
    }

    #[inline(always)]
    fn plane(self) -> Option<Plane> {
        None
    }
}

/// A thread's memory for small tours, which grows to that of the largest one.
#[derive(Debug, Default)]
pub struct SmallTours {
    memory: Vec<u64>,
    kicks: u64,
}

impl SmallTours {
    /// Returns how many kicks all searches so far have made.
    pub fn kicks(&self) -> u64 {
        self.kicks
    }

    /// Searches for the shortest tour by a symmetric matrix, n x n, row by row, and returns the nodes of the best one in order.
    /// If `has_fixed`, edges of length [`FIXED`] stay in it, at most one at each node. Asks `is_over` before every 64th kick
    /// whether to stop; the descent before the first one is always finished.
    ///
    /// [`FIXED`]: antwarp_core::lin_kernighan::small::FIXED
    ///
    /// # Panics
    /// If the matrix is not square and symmetric with [`FEWEST_NODES`] to [`MOST_NODES`] nodes, or a node has several fixed
    /// edges, or any without `has_fixed`.
    pub fn solve(
        &mut self,
        distances: (&[i32], bool),
        plan: Plan,
        is_over: &dyn Fn() -> bool,
    ) -> impl Iterator<Item = u32> {
        self.run(None, distances, plan, is_over)
    }

    /// As [`SmallTours::solve`], but starts from this tour.
    ///
    /// # Panics
    /// As [`SmallTours::solve`], and if the tour does not have each node once, or lacks a fixed edge.
    pub fn improve(
        &mut self,
        start: &[u32],
        distances: (&[i32], bool),
        plan: Plan,
        is_over: &dyn Fn() -> bool,
    ) -> impl Iterator<Item = u32> {
        self.run(Some(start), distances, plan, is_over)
    }

    fn run(
        &mut self,
        start: Option<&[u32]>,
        (matrix, has_fixed): (&[i32], bool),
        plan: Plan,
        is_over: &dyn Fn() -> bool,
    ) -> impl Iterator<Item = u32> {
        let n = matrix.len().isqrt() as u32;
        assert!((FEWEST_NODES..=MOST_NODES).contains(&n) && n as usize * n as usize == matrix.len());
        assert!(is_right(matrix, n as usize, has_fixed), "an asymmetric matrix, or wrong fixed edges");
        let needed = (words(n, neighbors(n)) as usize).div_ceil(2);
        if self.memory.len() < needed {
            self.memory.resize(needed, 0);
        }
        let distances = Matrix { start: matrix.as_ptr(), n: n as usize };
        let made = Cell::new(0);
        let is_over = |kicks: u32| {
            let is_over = kicks.is_multiple_of(KICKS) && is_over();
            made.set(kicks + u32::from(!is_over));
            is_over
        };
        // SAFETY: the memory is large enough, and nobody else uses it; the matrix was checked above.
        let best = unsafe {
            let tour = Small::new(n, (distances, has_fixed), self.memory.as_mut_ptr().cast());
            if let Some(start) = start {
                assert!(is_tour(start, matrix, n as usize), "not a tour with the fixed edges");
                (0..n).zip(start).for_each(|(at, &node)| tour.best().set(at, node as u16));
                tour.improve(Serial, plan, is_over);
            } else {
                tour.search(Serial, plan, is_over);
            }
            tour.best()
        };
        self.kicks += u64::from(made.get());
        // SAFETY: there are n nodes, and the memory is borrowed for as long as they are read.
        (0..n).map(move |at| u32::from(unsafe { best.get(at) }))
    }
}

/// Returns whether a tour has each of n nodes once, and all fixed edges of a matrix.
fn is_tour(tour: &[u32], matrix: &[i32], n: usize) -> bool {
    if tour.len() != n {
        return false;
    }
    let mut beside = vec![[n; 2]; n];
    for (at, &node) in tour.iter().enumerate() {
        if beside.get(node as usize) != Some(&[n; 2]) {
            return false;
        }
        beside[node as usize] = [tour[(at + n - 1) % n], tour[(at + 1) % n]].map(|node| node as usize);
    }
    let mut fixed = (0..n * n).filter(|&at| matrix[at] == FIXED && at / n != at % n);
    fixed.all(|at| beside[at / n].contains(&(at % n)))
}

/// Returns whether a matrix is symmetric, and has fixed edges as [`Small`] takes them. That takes far less time than any search.
fn is_right(matrix: &[i32], n: usize, has_fixed: bool) -> bool {
    let is_row_right = |(i, row): (usize, &[i32])| {
        let fixed = (0..n).filter(|&j| j != i && row[j] == FIXED).count();
        fixed <= usize::from(has_fixed) && (0..i).all(|j| row[j] == matrix[j * n + i])
    };
    matrix.chunks_exact(n).enumerate().all(is_row_right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_matrices_are_rejected() {
        let n = 8;
        let with = |cells: &[(usize, usize, i32)]| {
            let mut matrix = vec![1; n * n];
            for &(i, j, far) in cells {
                matrix[i * n + j] = far;
            }
            matrix
        };
        let fixed = with(&[(0, 1, FIXED), (1, 0, FIXED)]);
        let twice = with(&[(0, 1, FIXED), (1, 0, FIXED), (0, 2, FIXED), (2, 0, FIXED)]);
        assert!(is_right(&with(&[]), n, false) && is_right(&fixed, n, true));
        assert!(!is_right(&with(&[(3, 4, 2)]), n, false));
        assert!(!is_right(&fixed, n, false) && !is_right(&twice, n, true));
        assert!(
            is_tour(&[0, 1, 2, 3, 4, 5, 6, 7], &fixed, n) && is_tour(&[1, 2, 3, 4, 5, 6, 7, 0], &fixed, n)
        );
        assert!(!is_tour(&[0, 2, 1, 3, 4, 5, 6, 7], &fixed, n), "it lacks the fixed edge");
        for wrong in [&[0, 1, 2, 3, 4, 5, 6][..], &[0, 1, 2, 3, 4, 5, 6, 6], &[0, 1, 2, 3, 4, 5, 6, 8]] {
            assert!(!is_tour(wrong, &with(&[]), n), "{wrong:?}");
        }
    }

    #[test]
    fn a_given_tour_gets_no_longer() {
        let n = 60;
        let place = |i: usize| (i * 37 % 101) as i32 * 3;
        let matrix: Vec<i32> = (0..n * n).map(|at| (place(at / n) - place(at % n)).abs() + 1).collect();
        let length = |tour: &[u32]| -> i32 {
            (0..n).map(|at| matrix[tour[at] as usize * n + tour[(at + 1) % n] as usize]).sum()
        };
        let plan = Plan { seed: 1, kicks: 0, segment: 50, temperature: 0.4, padding: 0 };
        let mut tours = SmallTours::default();
        let mut best: Vec<u32> = (0..n as u32).collect();
        best.sort_by_key(|&node| place(node as usize));
        // Along a line, no tour is shorter than there and back.
        let kept: Vec<u32> = tours.improve(&best, (&matrix, false), plan, &|| false).collect();
        assert_eq!(length(&kept), length(&best));
        let any: Vec<u32> = (0..n as u32).collect();
        let found: Vec<u32> = tours.improve(&any, (&matrix, false), plan, &|| false).collect();
        assert!(is_tour(&found, &matrix, n) && length(&found) < length(&any));
    }
}
