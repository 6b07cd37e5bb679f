//! Vectors of bits that differ in a few bits.

use super::{Clock, Neighborhood, Standing, Walk, differing};
use crate::combinations::{next_pair, pair, pair_index, pairs, triple, triple_index, triples};
use crate::rng::Stream;
use crate::team::Team;

/// All vectors of n bits at Hamming distance `D` from one: 1, 2 or 3 (Luong et al. 2013, section 4.3). They are numbered by the
/// lexicographic order of the places that differ.
///
/// The tabu list remembers which bits were flipped; a move is tabu if it flips one of them.
#[derive(Clone, Copy, Debug)]
pub struct Flips<const D: usize> {
    /// Number of bits.
    pub n: u32,
}

impl<const D: usize> Flips<D> {
    const POSSIBLE: () = assert!(D >= 1 && D <= 3);
}

impl<const D: usize> Neighborhood for Flips<D> {
    type Element = u8;
    type Move = [u32; D];

    #[inline(always)]
    fn elements(&self) -> u32 {
        self.n
    }

    #[inline(always)]
    fn len(&self) -> u64 {
        let () = Self::POSSIBLE;
        match D {
            1 => self.n as u64,
            2 => pairs(self.n),
            _ => triples(self.n),
        }
    }

    #[inline(always)]
    fn at(&self, index: u64) -> [u32; D] {
        let (a, b, c) = match D {
            1 => (index as u32, 0, 0),
            2 => {
                let (a, b) = pair(self.n, index);
                (a, b, 0)
            }
            _ => triple(self.n, index),
        };
        let (places, mut step) = ([a, b, c], [0; D]);
        let mut i = 0;
        while i < D {
            step[i] = places[i];
            i += 1;
        }
        step
    }

    #[inline(always)]
    fn index(&self, step: [u32; D]) -> u64 {
        match D {
            1 => step[0] as u64,
            2 => pair_index(self.n, step[0], step[D - 1]),
            _ => triple_index(self.n, step[0], step[D / 2], step[D - 1]),
        }
    }

    #[inline(always)]
    fn skip(&self, mut step: [u32; D], index: u64, by: u32) -> [u32; D] {
        if D != 2 {
            return self.at(index + by as u64);
        }
        (step[0], step[D - 1]) = next_pair(self.n, (step[0], step[D - 1]), by);
        step
    }

    #[inline(always)]
    unsafe fn toward(&self, walk: &Walk<u8>, neighbor: *const u8, _: u64) -> [u32; D] {
        // SAFETY: the caller's promise.
        unsafe { differing(walk.solution, neighbor, self.n) }
    }
    #[inline(always)]
    fn random(&self, stream: Stream, i: u32) -> u8 {
        (stream.step(0).bits(i) & 1) as u8
    }

    fn is_solution(&self, solution: &[u8], _: &mut [u8]) -> bool {
        solution.iter().all(|&bit| bit <= 1)
    }

    #[inline(always)]
    unsafe fn apply<T: Team>(&self, team: T, walk: &Walk<u8>, step: [u32; D]) {
        team.single(|| {
            let mut i = 0;
            while i < D {
                // SAFETY: the caller's promise.
                unsafe { walk.solution.set(step[i], walk.solution.get(step[i]) ^ 1) }
                i += 1;
            }
        });
        team.barrier();
    }

    #[inline(always)]
    fn traces(&self) -> u32 {
        self.n
    }

    #[inline(always)]
    unsafe fn standing(&self, walk: &Walk<u8>, clock: Clock, step: [u32; D]) -> Standing {
        let (mut first, mut last) = (u32::MAX, 0);
        // Not an iterator over the array: a GPU would keep the array in memory.
        let mut i = 0;
        while i < D {
            // SAFETY: the caller's promise.
            let until = unsafe { walk.traces.get(step[i]) };
            (first, last) = (first.min(until), last.max(until));
            i += 1;
        }
        clock.any(first, last)
    }

    #[inline(always)]
    unsafe fn leave<T: Team>(&self, team: T, walk: &Walk<u8>, step: [u32; D], until: impl Fn(u32) -> u32) {
        team.single(|| {
            let mut i = 0;
            while i < D {
                // SAFETY: the caller's promise.
                unsafe { walk.traces.set(step[i], until(i as u32)) }
                i += 1;
            }
        });
    }
}
