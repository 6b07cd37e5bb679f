//! Vectors of a few values that differ in one value.

use super::{Clock, Neighborhood, Standing, Walk, differing};
use crate::rng::Stream;
use crate::team::{Slots, Team};

/// All vectors of n values below k that differ from one in one value (Luong et al. 2013, section 4.4): neighbour i (k - 1) + v has
/// another value at place i, the v-th of the other values.
///
/// The tabu list remembers which value was where: n k iterations.
#[derive(Clone, Copy, Debug)]
pub struct Changes {
    /// Number of places.
    pub n: u32,
    /// Number of values, from 2 to 256.
    pub k: u32,
}

/// A change of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The place.
    pub place: u32,
    /// The rank of the new value among the other values, from 0 to k - 2.
    pub rank: u32,
}

impl Change {
    /// Returns the new value, below k.
    ///
    /// # Safety
    /// The change is one of this solution, and is not made yet.
    #[inline(always)]
    pub unsafe fn value(self, solution: Slots<u8>) -> u32 {
        // SAFETY: the caller's promise.
        let old = unsafe { solution.get(self.place) } as u32;
        self.rank + (self.rank >= old) as u32
    }
}

impl Neighborhood for Changes {
    type Element = u8;
    type Move = Change;

    #[inline(always)]
    fn elements(&self) -> u32 {
        self.n
    }
    #[inline(always)]
    fn len(&self) -> u64 {
        self.n as u64 * (self.k - 1) as u64
    }
    #[inline(always)]
    fn at(&self, index: u64) -> Change {
        let others = (self.k - 1).max(1) as u64;
        Change { place: (index / others) as u32, rank: (index % others) as u32 }
    }
    #[inline(always)]
    fn index(&self, step: Change) -> u64 {
        step.place as u64 * (self.k - 1) as u64 + step.rank as u64
    }
    #[inline(always)]
    unsafe fn toward(&self, walk: &Walk<u8>, neighbor: *const u8, _: u64) -> Change {
        // SAFETY: the caller's promise.
        unsafe {
            let [place] = differing(walk.solution, neighbor, self.n);
            let (new, old) = (*neighbor.add(place as usize), walk.solution.get(place));
            Change { place, rank: new as u32 - (new > old) as u32 }
        }
    }
    #[inline(always)]
    fn random(&self, stream: Stream, i: u32) -> u8 {
        stream.step(0).below(i, self.k) as u8
    }

    fn is_solution(&self, solution: &[u8], _: &mut [u8]) -> bool {
        solution.iter().all(|&value| u32::from(value) < self.k)
    }

    #[inline(always)]
    unsafe fn apply<T: Team>(&self, team: T, walk: &Walk<u8>, step: Change) {
        // SAFETY: the caller's promise.
        team.single(|| unsafe { walk.solution.set(step.place, step.value(walk.solution) as u8) });
        team.barrier();
    }

    #[inline(always)]
    fn traces(&self) -> u32 {
        self.n * self.k
    }

    #[inline(always)]
    unsafe fn standing(&self, walk: &Walk<u8>, clock: Clock, step: Change) -> Standing {
        // SAFETY: the caller's promise.
        let until = unsafe { walk.traces.get(step.place * self.k + step.value(walk.solution)) };
        clock.any(until, until)
    }

    #[inline(always)]
    unsafe fn leave<T: Team>(&self, team: T, walk: &Walk<u8>, step: Change, until: impl Fn(u32) -> u32) {
        // SAFETY: the caller's promise.
        team.single(|| unsafe {
            let old = walk.solution.get(step.place) as u32;
            walk.traces.set(step.place * self.k + old, until(0));
        });
    }
}
