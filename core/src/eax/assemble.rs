//! Phase 2: the child of an E-set.

use crate::distance::Distance;
use crate::geometry::Geometry;

use super::bench::Bench;
use super::cycles::Cycles;
use super::gene::Gene;
use super::merge::merge;
use super::near::Near;
use super::subtours::{cut, join, number};

/// What came of an E-set; the nodes' new neighbours are in the bench.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child {
    /// By how much it is shorter than A.
    pub gain: i64,
    /// Sub-tours that were merged; 1: there was nothing to merge.
    pub tours: u32,
}

/// Puts a child together: A with the edges of `size` AB-cycles of `set` exchanged. It takes O(k log k) steps for k
/// edges, and with sub-tours as many more as all but the largest have nodes near others.
///
/// # Safety
/// The cycles are those of A and another tour of its nodes, and `set` has different ones of them; the tables have the
/// sizes they tell, for A's nodes; the bench is this member's, for as many nodes.
pub unsafe fn evaluate<G: Geometry>(
    near: Near<G>,
    a: Gene,
    cycles: Cycles,
    set: *const u32,
    size: u32,
    bench: Bench,
) -> Child {
    // SAFETY: the caller's promise.
    unsafe {
        bench.begin();
        let cuts = cut(a, cycles, set, size, bench);
        if cuts == 0 {
            return Child { gain: 0, tours: 1 };
        }
        let mut gain = exchanged(near, cycles, set, size);
        join(cycles, set, size, cuts, bench);
        let tours = number(cuts, bench);
        if tours > 1 {
            gain += merge(near, a, cuts, tours, bench);
        }
        Child { gain, tours }
    }
}

/// By how much the A-edges of cycles are longer than the B-edges.
///
/// # Safety
/// As [`evaluate`].
#[inline(always)]
unsafe fn exchanged<G: Geometry>(near: Near<G>, cycles: Cycles, set: *const u32, size: u32) -> i64 {
    let (mut gain, mut i) = (0, 0);
    // SAFETY: the caller's promise.
    unsafe {
        while i < size {
            let (first, length) = cycles.range(*set.add(i as usize));
            let mut j = 0;
            while j < length {
                let (u, v) = (cycles.node(first + j), cycles.node(first + j + 1));
                let after = cycles.node(first + if j + 2 == length { 0 } else { j + 2 });
                gain += near.places.between(u, v) as i64 - near.places.between(v, after) as i64;
                j += 2;
            }
            i += 1;
        }
    }
    gain
}
