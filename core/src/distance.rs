//! Distances between numbered nodes.

use crate::metric::{self, Metric};

/// The distance from one node to another.
pub trait Distance: Copy {
    /// A node with what has to be fetched to tell its distances.
    type Place: Copy;

    /// Where a node is. Fetching several places before using one lets their data come together.
    ///
    /// # Safety
    /// `i` is a node of the instance behind.
    unsafe fn place(self, i: u32) -> Self::Place;

    /// The distance from `a` to `b`, two places of this instance.
    fn apart(self, a: Self::Place, b: Self::Place) -> i32;

    /// The distance from `i` to `j`.
    ///
    /// # Safety
    /// Both are nodes of the instance behind.
    #[inline(always)]
    unsafe fn between(self, i: u32, j: u32) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { self.apart(self.place(i), self.place(j)) }
    }
}

/// Distances of an instance: from its matrix where there is one, else from its points.
///
/// On a GPU a metric of cosines ([`Metric::is_algebraic`] is false) must come as a matrix.
#[derive(Clone, Copy, Debug)]
pub struct Distances {
    /// n x n, row by row.
    pub matrix: *const i32,
    /// n points.
    pub points: *const [f64; 3],
    /// How far two points are apart; `None`: by the matrix.
    pub metric: Option<Metric>,
    /// Number of nodes.
    pub n: u32,
}

// SAFETY: read-only views of memory that outlives the run.
unsafe impl Send for Distances {}
// SAFETY: as above.
unsafe impl Sync for Distances {}

impl Distance for Distances {
    type Place = (u32, [f64; 3]);

    #[inline(always)]
    unsafe fn place(self, i: u32) -> (u32, [f64; 3]) {
        match self.metric {
            None => (i, [0.0; 3]),
            // SAFETY: i < n.
            Some(_) => (i, unsafe { *self.points.add(i as usize) }),
        }
    }

    #[inline(always)]
    fn apart(self, (i, a): (u32, [f64; 3]), (j, b): (u32, [f64; 3])) -> i32 {
        match self.metric {
            // SAFETY: places are of nodes, i, j < n.
            None => unsafe { *self.matrix.add(i as usize * self.n as usize + j as usize) },
            Some(m) if cfg!(target_arch = "nvptx64") => metric::algebraic_distance(m, a, b),
            Some(m) => metric::distance(m, a, b),
        }
    }
}
