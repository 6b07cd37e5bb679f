//! The nodes' places in the form that local search reads: as few bytes per node as give exact distances.
//!
//! A place is loaded once and used for several distances, and it can be copied to nearer memory: [`Places`] are the same whether
//! they are in global or in shared memory.

use crate::distance::{Distance, Distances, Plane};
use crate::math;
use crate::metric::{self, Metric};

/// How distances, integers in the unit that engines use, follow from places.
pub trait Geometry: Copy + Send + Sync {
    /// The place of a node.
    type Place: Copy + Send + Sync;

    /// Returns the distance between the nodes at two places.
    ///
    /// # Safety
    /// Both are places of nodes of the underlying instance.
    unsafe fn between(self, a: Self::Place, b: Self::Place) -> i32;

    /// Returns whether the distance is less than `limit`. This is cheaper where it needs no roots.
    ///
    /// # Safety
    /// As [`Geometry::between`].
    #[inline(always)]
    unsafe fn is_below(self, a: Self::Place, b: Self::Place, limit: i64) -> bool {
        // SAFETY: the caller's promise.
        (unsafe { self.between(a, b) } as i64) < limit
    }

    /// Returns a number in the order of the distances between places, which is cheaper: nearer places may have a smaller one
    /// although their distances, rounded, are equal.
    ///
    /// # Safety
    /// As [`Geometry::between`].
    unsafe fn remoteness(self, a: Self::Place, b: Self::Place) -> u64;
}

/// Extent, along each axis, up to which [`Grid`] is exact.
pub const GRID_EXTENT: f64 = 2_097_151.0;

/// More than any distance there.
const MOST_LIMIT: i64 = 1 << 22;

/// Points of the plane with integer coordinates, from 0 to [`GRID_EXTENT`]: x in the lower half of a place, y in the
/// upper. One place is elsewhere: [`Grid::GAP`], at distance 0 of all.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// Whether distances are rounded up (`CEIL_2D`), else to the nearest integer (`EUC_2D`).
    pub up: bool,
}

impl Grid {
    /// The place of the gap in an open path: its upper bit is set.
    pub const GAP: u64 = 1 << 63;

    /// Returns the place of integer coordinates.
    #[inline(always)]
    pub const fn place(x: u32, y: u32) -> u64 {
        x as u64 | (y as u64) << 32
    }
}

/// Returns the root of `square`, rounded up or to the nearest integer, given an integer that is at most 1 off. It uses integers,
/// because a root in double precision takes three times as many instructions on a GPU.
#[inline(always)]
pub fn integer_root(square: u64, about: u32, up: bool) -> i32 {
    let r = about as u64;
    // Up: (r - 1)^2 < square <= r^2. Nearest: (r - 1/2)^2 < square < (r + 1/2)^2; no square is halfway. A mask is used, because a
    // branch would keep distances that are computed together from overlapping.
    let mask = (up as u64).wrapping_neg();
    let low = (r * r).wrapping_sub(r).wrapping_sub(r.wrapping_sub(1) & mask);
    let high = r * r + r - (r & mask);
    about as i32 + (square > high) as i32 - (r > 0 && square <= low) as i32
}

impl Geometry for Grid {
    type Place = u64;

    #[inline(always)]
    unsafe fn is_below(self, a: u64, b: u64, limit: i64) -> bool {
        // No distance is above the largest limit. Up: the root is at most limit - 1. Nearest: it is less than limit - 1/2.
        let limit = limit.clamp(0, MOST_LIMIT);
        let square = ((limit - 1) * (limit - self.up as i64)) as u64;
        // SAFETY: the caller's promise.
        limit > 0 && unsafe { self.remoteness(a, b) } <= square
    }

    #[inline(always)]
    unsafe fn remoteness(self, a: u64, b: u64) -> u64 {
        let dx = (a as u32).wrapping_sub(b as u32) as i32;
        let dy = ((a >> 32) as u32).wrapping_sub((b >> 32) as u32) as i32;
        let square = (dx as i64 * dx as i64) as u64 + (dy as i64 * dy as i64) as u64;
        // A mask: a branch would keep distances that are computed together from overlapping.
        square & !(((a | b) as i64 >> 63) as u64)
    }

    #[inline(always)]
    unsafe fn between(self, a: u64, b: u64) -> i32 {
        // SAFETY: the caller's promise.
        let square = unsafe { self.remoteness(a, b) };
        if cfg!(target_arch = "nvptx64") {
            // Up to an extent of 2^21 the approximate root is less than 0.6 off.
            let about = math::approximate_root(square as f32) + if self.up { 1.0 } else { 0.5 };
            // SAFETY: below 2^22.
            integer_root(square, unsafe { about.to_int_unchecked() }, self.up)
        } else {
            let root = math::sqrt(square as f64);
            if self.up { metric::ceil(root) } else { metric::nint(root) }
        }
    }
}

/// Points of the plane.
#[derive(Clone, Copy, Debug)]
pub struct Planar {
    /// `EUC_2D`, `CEIL_2D` or `ATT`.
    pub metric: Metric,
}

impl Planar {
    /// Returns the geometry of a metric: `None` for metrics other than `EUC_2D`, `CEIL_2D` and `ATT`.
    #[inline(always)]
    pub const fn of(metric: Metric) -> Option<Planar> {
        if matches!(metric, Metric::Euc2d | Metric::Ceil2d | Metric::Att) {
            Some(Planar { metric })
        } else {
            None
        }
    }
}

/// A point, x and y, which a GPU reads together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(16))]
pub struct Point(pub f64, pub f64);

impl Geometry for Planar {
    type Place = Point;

    #[inline(always)]
    unsafe fn remoteness(self, a: Point, b: Point) -> u64 {
        // Not negative, so the bits are in the order of the values.
        ((a.0 - b.0) * (a.0 - b.0) + (a.1 - b.1) * (a.1 - b.1)).to_bits()
    }

    #[inline(always)]
    unsafe fn between(self, a: Point, b: Point) -> i32 {
        // SAFETY: the caller's promise.
        let square = f64::from_bits(unsafe { self.remoteness(a, b) });
        if self.metric == Metric::Att {
            return metric::att(square);
        }
        let root = math::sqrt(square);
        if self.metric == Metric::Ceil2d { metric::ceil(root) } else { metric::nint(root) }
    }
}

/// Any instance: a place is the node's number.
#[derive(Clone, Copy, Debug)]
pub struct Numbered {
    /// Distances of the nodes with these numbers.
    pub distances: Distances,
}

impl Geometry for Numbered {
    type Place = u32;

    #[inline(always)]
    unsafe fn remoteness(self, a: u32, b: u32) -> u64 {
        // Matrix weights may be negative.
        // SAFETY: the caller's promise.
        (unsafe { self.between(a, b) } as i64 - i32::MIN as i64) as u64
    }

    #[inline(always)]
    unsafe fn between(self, a: u32, b: u32) -> i32 {
        // On a GPU this would be more code in many places, and the call costs little beside the load.
        if cfg!(not(target_arch = "nvptx64")) && self.distances.metric.is_none() {
            // SAFETY: the caller's promise.
            return unsafe { self.distances.entry(a, b) };
        }
        // SAFETY: the caller's promise.
        unsafe { numbered(self.distances, a, b) }
    }
}

/// Not inlined: it is long, with a branch for every metric, and a search needs distances in many places.
///
/// # Safety
/// As [`Distance::between`].
#[inline(never)]
unsafe fn numbered(distances: Distances, a: u32, b: u32) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { distances.between(a, b) }
}

/// Distances of nodes whose places form an array in memory.
pub struct Places<G: Geometry> {
    /// How distances follow from places.
    pub geometry: G,
    /// One place per node, in the order of their numbers.
    pub start: *const G::Place,
}

impl<G: Geometry> Clone for Places<G> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<G: Geometry> Copy for Places<G> {}

impl<G: Geometry> Places<G> {
    /// Returns whether two nodes are less than `limit` apart.
    ///
    /// # Safety
    /// Both are nodes of the underlying instance.
    #[inline(always)]
    pub unsafe fn is_below(self, i: u32, j: u32, limit: i64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.geometry.is_below(*self.start.add(i as usize), *self.start.add(j as usize), limit) }
    }
}

impl<G: Geometry> Distance for Places<G> {
    #[inline(always)]
    unsafe fn between(self, i: u32, j: u32) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { self.geometry.between(*self.start.add(i as usize), *self.start.add(j as usize)) }
    }

    #[inline(always)]
    fn plane(self) -> Option<Plane> {
        None
    }
}
