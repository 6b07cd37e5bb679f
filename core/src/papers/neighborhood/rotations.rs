//! Permutations in which three places are rotated.

use super::{Clock, Neighborhood, Standing, Walk, differing};
use crate::combinations::{triple, triple_index, triples};
use crate::papers::genetic::shuffle::Shuffle;
use crate::rng::Stream;
use crate::team::Team;

/// All permutations of 0 .. n obtained from one by rotating the elements of three places i < j < k, in either direction (the
/// 3-exchange neighbourhood of Luong et al. 2013, section 4.6). Neighbours are numbered by the lexicographic order of their places;
/// the rotation that moves elements up comes first.
///
/// The tabu list remembers which elements were moved; a move is tabu if it moves one of them.
#[derive(Clone, Copy, Debug)]
pub struct Rotations {
    /// Number of places.
    pub n: u32,
}

/// A rotation of three places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// The places, ascending.
    pub places: (u32, u32, u32),
    /// Whether elements move down: from j to i, from k to j and from i to k. Else from i to j, from j to k and from k to i.
    pub down: bool,
}

impl Rotation {
    /// Returns the places whose elements come to the first, second and third place.
    #[inline(always)]
    pub fn sources(self) -> (u32, u32, u32) {
        let (i, j, k) = self.places;
        if self.down { (j, k, i) } else { (k, i, j) }
    }
}

impl Neighborhood for Rotations {
    type Element = u32;
    type Move = Rotation;

    #[inline(always)]
    fn elements(&self) -> u32 {
        self.n
    }
    #[inline(always)]
    fn len(&self) -> u64 {
        2 * triples(self.n)
    }
    #[inline(always)]
    fn at(&self, index: u64) -> Rotation {
        Rotation { places: triple(self.n, index / 2), down: index % 2 == 1 }
    }
    #[inline(always)]
    fn index(&self, step: Rotation) -> u64 {
        let (i, j, k) = step.places;
        2 * triple_index(self.n, i, j, k) + step.down as u64
    }
    #[inline(always)]
    unsafe fn toward(&self, walk: &Walk<u32>, neighbor: *const u32, _: u64) -> Rotation {
        // SAFETY: the caller's promise.
        unsafe {
            let [i, j, k] = differing(walk.solution, neighbor, self.n);
            Rotation { places: (i, j, k), down: *neighbor.add(i as usize) == walk.solution.get(j) }
        }
    }
    #[inline(always)]
    fn random(&self, stream: Stream, i: u32) -> u32 {
        Shuffle::new(stream, self.n).at(i)
    }

    fn is_solution(&self, solution: &[u32], seen: &mut [u8]) -> bool {
        super::is_permutation(solution, seen)
    }

    #[inline(always)]
    unsafe fn apply<T: Team>(&self, team: T, walk: &Walk<u32>, step: Rotation) {
        // SAFETY: the caller's promise.
        team.single(|| unsafe {
            let ((i, j, k), (from_i, from_j, from_k)) = (step.places, step.sources());
            let s = walk.solution;
            let (a, b, c) = (s.get(from_i), s.get(from_j), s.get(from_k));
            s.set(i, a);
            s.set(j, b);
            s.set(k, c);
        });
        team.barrier();
    }

    #[inline(always)]
    fn traces(&self) -> u32 {
        self.n
    }

    #[inline(always)]
    unsafe fn standing(&self, walk: &Walk<u32>, clock: Clock, step: Rotation) -> Standing {
        let (i, j, k) = step.places;
        // SAFETY: the caller's promise.
        unsafe {
            let until = |place| walk.traces.get(walk.solution.get(place));
            let (a, b, c) = (until(i), until(j), until(k));
            clock.any(a.min(b).min(c), a.max(b).max(c))
        }
    }

    #[inline(always)]
    unsafe fn leave<T: Team>(&self, team: T, walk: &Walk<u32>, step: Rotation, until: impl Fn(u32) -> u32) {
        let (i, j, k) = step.places;
        // SAFETY: the caller's promise.
        team.single(|| unsafe {
            walk.traces.set(walk.solution.get(i), until(0));
            walk.traces.set(walk.solution.get(j), until(1));
            walk.traces.set(walk.solution.get(k), until(2));
        });
    }
}
