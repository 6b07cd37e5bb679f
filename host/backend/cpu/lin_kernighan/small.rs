//! Small tours, each by one thread.

use antwarp_core::distance::{Distance, Plane};
use antwarp_core::lin_kernighan::small::{FEWEST_NODES, MOST_NODES, Plan, Small, neighbors, words};
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
}

impl SmallTours {
    /// Searches for the shortest tour by a symmetric matrix, and returns the best one. [`FIXED`] edges stay in it, at most one at each
    /// node. Asks `is_over` now and then whether to stop.
    ///
    /// [`FIXED`]: antwarp_core::lin_kernighan::small::FIXED
    ///
    /// # Panics
    /// If the matrix is not one of [`FEWEST_NODES`] to [`MOST_NODES`] nodes.
    pub fn solve(
        &mut self,
        (matrix, has_fixed): (&[i32], bool),
        plan: Plan,
        is_over: &dyn Fn() -> bool,
    ) -> impl Iterator<Item = u32> {
        let n = matrix.len().isqrt() as u32;
        assert!((FEWEST_NODES..=MOST_NODES).contains(&n) && n as usize * n as usize == matrix.len());
        let needed = (words(n, neighbors(n)) as usize).div_ceil(2);
        if self.memory.len() < needed {
            self.memory.resize(needed, 0);
        }
        let distances = Matrix { start: matrix.as_ptr(), n: n as usize };
        // SAFETY: the memory is large enough, and nobody else uses it.
        let best = unsafe {
            let tour = Small::new(n, (distances, has_fixed), self.memory.as_mut_ptr().cast());
            tour.search(Serial, plan, |kicks| kicks.is_multiple_of(KICKS) && is_over());
            tour.best()
        };
        // SAFETY: there are n nodes, and the memory is borrowed for as long as they are read.
        (0..n).map(move |at| u32::from(unsafe { best.get(at) }))
    }
}
