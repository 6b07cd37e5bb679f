//! Distances between numbered nodes.

use crate::metric::{self, Metric};

/// The distance from one node to another, an integer in the unit that engines use.
pub trait Distance: Copy {
    /// Returns the distance from `i` to `j`.
    ///
    /// # Safety
    /// Both are nodes of the underlying instance.
    unsafe fn between(self, i: u32, j: u32) -> i32;

    /// Returns the plane in which the nodes lie, if nearer in it means nearer and their [`Plane`] is at hand.
    fn plane(self) -> Option<Plane>;
}

/// Points of a plane with the Euclidean metric.
#[derive(Clone, Copy, Debug)]
pub struct Plane(*const [f64; 3]);

impl Plane {
    /// Returns the place of node `i`. Fetching several places before using one lets their loads overlap.
    ///
    /// # Safety
    /// `i` is a node of the underlying instance.
    #[inline(always)]
    pub unsafe fn place(self, i: u32) -> [f64; 2] {
        // SAFETY: the caller's promise.
        let point = unsafe { &*self.0.add(i as usize) };
        [point[0], point[1]]
    }

    /// Returns a number that grows with the distance of two places, with neither root nor rounding to integers; nearly equal
    /// distances may get the same number.
    #[inline(always)]
    pub fn remoteness(self, a: [f64; 2], b: [f64; 2]) -> u32 {
        let (dx, dy) = (a[0] - b[0], a[1] - b[1]);
        // Not negative, so the bits are in the order of the values.
        ((dx * dx + dy * dy) as f32).to_bits()
    }
}

/// Distances of an instance: from its matrix where there is one, else from its points.
///
/// On a GPU a metric that needs more than roots ([`Metric::is_algebraic`] is false) must come as a matrix.
#[derive(Clone, Copy, Debug)]
pub struct Distances {
    /// n x n, row by row: entry (i, j) is the distance from i to j. Read only if there is no metric.
    pub matrix: *const i32,
    /// n points (x, y, z). Read only if there is a metric.
    pub points: *const [f64; 3],
    /// The metric of the points; `None`: distances are in the matrix.
    pub metric: Option<Metric>,
    /// Number of nodes.
    pub n: u32,
    /// Pairs of points with another distance than the metric's.
    pub exceptions: Exceptions,
}

/// Pairs of nodes whose distance does not follow from their points.
#[derive(Clone, Copy, Debug)]
pub struct Exceptions {
    /// For each node, where its part of `others` starts; n + 1 numbers. A pair is in the parts of both nodes. Null: there are no such
    /// pairs.
    pub starts: *const u32,
    /// The other nodes of each node's pairs, part by part.
    pub others: *const u32,
    /// The distance of all these pairs.
    pub distance: i32,
}

impl Exceptions {
    /// No pairs.
    pub const NONE: Exceptions =
        Exceptions { starts: core::ptr::null(), others: core::ptr::null(), distance: 0 };

    /// Returns whether two nodes are such a pair.
    ///
    /// # Safety
    /// `i` and `j` are nodes of the underlying instance.
    #[inline(always)]
    unsafe fn has(self, i: u32, j: u32) -> bool {
        if self.starts.is_null() {
            return false;
        }
        // SAFETY: the caller's promise.
        unsafe {
            let part = |node: u32| (*self.starts.add(node as usize), *self.starts.add(node as usize + 1));
            let (of_i, of_j) = (part(i), part(j));
            // Pairs are in the parts of both nodes: the shorter one is enough.
            let i_is_shorter = of_i.1 - of_i.0 <= of_j.1 - of_j.0;
            let ((mut at, end), other) = if i_is_shorter { (of_i, j) } else { (of_j, i) };
            while at < end {
                if *self.others.add(at as usize) == other {
                    return true;
                }
                at += 1;
            }
        }
        false
    }
}

impl Distances {
    /// Returns the distance in the matrix.
    ///
    /// # Safety
    /// There is a matrix, and `i` and `j` are nodes of it.
    #[inline(always)]
    pub(crate) unsafe fn entry(self, i: u32, j: u32) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { *self.matrix.add(i as usize * self.n as usize + j as usize) }
    }
}

// SAFETY: read-only views of memory that outlives the run.
unsafe impl Send for Distances {}
// SAFETY: as above.
unsafe impl Sync for Distances {}

impl Distance for Distances {
    #[inline(always)]
    unsafe fn between(self, i: u32, j: u32) -> i32 {
        // SAFETY: i, j < n.
        unsafe {
            match self.metric {
                None => self.entry(i, j),
                Some(_) if self.exceptions.has(i, j) => self.exceptions.distance,
                Some(m) => {
                    let (a, b) = (*self.points.add(i as usize), *self.points.add(j as usize));
                    if cfg!(target_arch = "nvptx64") {
                        metric::algebraic_distance(m, a, b)
                    } else {
                        metric::distance(m, a, b)
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn plane(self) -> Option<Plane> {
        match self.metric {
            Some(Metric::Euc2d | Metric::Ceil2d | Metric::Floor2d | Metric::Att) => Some(Plane(self.points)),
            _ => None,
        }
    }
}
