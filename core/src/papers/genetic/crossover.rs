//! Crossovers that construct a child city by city (Kang et al. 2016, section 2).

use core::hint::select_unpredictable;

use crate::geometry::{Geometry, Places};
use crate::node::NodeId;
use crate::team::Slots;

use super::jumps::{Four, Jumps};

/// How a child is made from two parents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossover {
    /// Sequential constructive crossover (Ahmed 2010): the nearer of the nodes that come next in the parents, or the second
    /// parent's if equally near; tours have an end, after which the unvisited node with the smallest number takes their place.
    Scx,
    /// Bidirectional circular SCX (section 2.2): the nearest of the nodes next and before in both parents.
    Bcscx,
    /// Alternating recommendation crossover (section 2.4): the nearer of the nodes next and before in one parent. The parent is the
    /// first one, except from place `from` up to place `to` (exclusive) of the child, where it is the second; with `second`, the
    /// parents are swapped.
    Arx {
        /// The first switching point: a place of the child, from 0.
        from: u32,
        /// The second switching point, not before the first.
        to: u32,
        /// Whether the second parent comes first.
        second: bool,
    },
}

/// Makes the child of two parents, starting at node `start`; returns its length as a closed tour. One member does this alone. The
/// jumps cannot be used again.
///
/// # Safety
/// `jumps` is filled for parents of n nodes, n at least 2, and `start` is one of these; ARX switches at from <= to <= n; `child`
/// has n elements, `places` those of the nodes; only one member is working.
#[inline(always)]
pub unsafe fn child<I: NodeId, G: Geometry>(
    n: u32,
    start: u32,
    crossover: Crossover,
    jumps: Jumps<I>,
    places: Places<G>,
    child: Slots<I>,
) -> i64 {
    // SAFETY: the caller's promise; jumps end at nodes of the parents, and the places of the child are filled in order.
    unsafe {
        let mut path = Path::begin(start, jumps, places, child);
        match crossover {
            Crossover::Scx => sequential(&mut path, n, start),
            Crossover::Bcscx => path.follow(1, n, |_, four| four),
            Crossover::Arx { from, to, second } => {
                let (from, to) = (from.max(1), to.max(1));
                path.follow(1, n, |i, [a, b, c, d]| {
                    let first = (from <= i && i < to) == second;
                    [select_unpredictable(first, a, c), select_unpredictable(first, b, d)]
                });
            }
        }
        path.cost + places.geometry.between(path.place, *places.start.add(start as usize)) as i64
    }
}

/// An incomplete child.
struct Path<I, G: Geometry> {
    jumps: Jumps<I>,
    places: Places<G>,
    child: Slots<I>,
    /// Jumps of the last node.
    four: Four,
    /// The place of the last node.
    place: G::Place,
    cost: i64,
}

impl<I: NodeId, G: Geometry> Path<I, G> {
    /// # Safety
    /// As [`child`].
    #[inline(always)]
    unsafe fn begin(start: u32, jumps: Jumps<I>, places: Places<G>, child: Slots<I>) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            child.set(0, I::new(start));
            Path {
                jumps,
                places,
                child,
                four: jumps.of(start),
                place: *places.start.add(start as usize),
                cost: 0,
            }
        }
    }

    /// Fills places `begin` to `end` (exclusive) of the child, each with the nearest node (by [`Geometry::remoteness`]) that
    /// `recommend` picks from the jumps of the last one; among equally near ones the first.
    ///
    /// # Safety
    /// As [`child`]; the places before `begin` are filled.
    #[inline(always)]
    unsafe fn follow<const K: usize>(
        &mut self,
        begin: u32,
        end: u32,
        recommend: impl Fn(u32, Four) -> [u32; K],
    ) {
        for i in begin..end {
            // SAFETY: the caller's promise. Everything that the candidates would need if taken is fetched for all at once, before
            // one is chosen: on a GPU this saves the latency of a load per step.
            unsafe {
                self.jumps.visit(self.four);
                let mut candidates = recommend(i, self.four);
                // Plain loops: `map` of arrays and `zip` of iterators remain calls where crates are optimised separately.
                let (mut fours, mut places) = ([[0; 4]; K], [self.place; K]);
                for i in 0..K {
                    fours[i] = fetched(self.jumps.of(candidates[i]), &mut candidates[i]);
                }
                for i in 0..K {
                    places[i] = *self.places.start.add(candidates[i] as usize);
                }
                let (mut node, mut four, mut place) = (candidates[0], fours[0], places[0]);
                let mut least = self.places.geometry.remoteness(self.place, place);
                for other in 1..K {
                    let remoteness = self.places.geometry.remoteness(self.place, places[other]);
                    // Not a branch, into which the loads would be moved, one after the other.
                    let nearer = remoteness < least;
                    node = select_unpredictable(nearer, candidates[other], node);
                    place = select_unpredictable(nearer, places[other], place);
                    let [a, b, c, d] = fours[other];
                    let either = |its, mine| select_unpredictable(nearer, its, mine);
                    four = [either(a, four[0]), either(b, four[1]), either(c, four[2]), either(d, four[3])];
                    least = least.min(remoteness);
                }
                self.take(i, node, four, place);
            }
        }
    }

    /// # Safety
    /// `i` is inside the child.
    #[inline(always)]
    unsafe fn take(&mut self, i: u32, node: u32, four: Four, place: G::Place) {
        // SAFETY: the caller's promise.
        unsafe {
            self.child.set(i, I::new(node));
            self.cost += self.places.geometry.between(self.place, place) as i64;
        }
        self.four = four;
        self.place = place;
    }
}

/// The same, fetched here and before anything that needs the node: on its own the compiler would fetch only what is finally taken,
/// once it is known, or wait for places before it fetches jumps.
#[inline(always)]
fn fetched(four: Four, node: &mut u32) -> Four {
    #[cfg(target_arch = "nvptx64")]
    {
        let [mut a, mut b, mut c, mut d] = four;
        // SAFETY: not an instruction, only something that needs the values.
        unsafe {
            core::arch::asm!(
                "// {0} {1} {2} {3} {4}",
                inout(reg32) a, inout(reg32) b, inout(reg32) c, inout(reg32) d, inout(reg32) *node,
                options(nomem, nostack, preserves_flags)
            )
        };
        [a, b, c, d]
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let _ = node;
        four
    }
}

/// SCX. The start stays unvisited: a jump to it crosses a tour's end.
///
/// # Safety
/// As [`child`].
#[inline(always)]
unsafe fn sequential<I: NodeId, G: Geometry>(path: &mut Path<I, G>, n: u32, start: u32) {
    let mut lowest = 0;
    for i in 1..n {
        // SAFETY: the caller's promise; there is an open node besides the start as long as the child is incomplete.
        unsafe {
            let [next, _, next_too, _] = path.four;
            let mut smallest = || {
                while lowest == start || !path.jumps.is_open(lowest) {
                    lowest += 1;
                }
                lowest
            };
            let a = if next == start { smallest() } else { next };
            let b = if next_too == start { smallest() } else { next_too };
            let at = |node: u32| *path.places.start.add(node as usize);
            let remoteness = |node: u32| path.places.geometry.remoteness(path.place, at(node));
            let node = if remoteness(a) < remoteness(b) { a } else { b };
            let four = path.jumps.of(node);
            path.take(i, node, four, at(node));
            path.jumps.visit(four);
        }
    }
}
