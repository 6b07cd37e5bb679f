//! Vectors of bits that differ in a few bits.

use super::{Clock, Neighborhood, Standing, Walk};
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
        let mut step = [a; D];
        if let Some(second) = step.get_mut(1) {
            *second = b;
        }
        if let Some(third) = step.get_mut(2) {
            *third = c;
        }
        step
    }

    #[inline(always)]
    fn index(&self, step: [u32; D]) -> u64 {
        match step.as_slice() {
            [a] => *a as u64,
            [a, b] => pair_index(self.n, *a, *b),
            [a, b, c] => triple_index(self.n, *a, *b, *c),
            _ => 0,
        }
    }

    #[inline(always)]
    fn skip(&self, mut step: [u32; D], index: u64, by: u32) -> [u32; D] {
        match step.as_mut_slice() {
            [a, b] => (*a, *b) = next_pair(self.n, (*a, *b), by),
            _ => return self.at(index + by as u64),
        }
        step
    }

    #[inline(always)]
    fn random(&self, stream: Stream, i: u32) -> u8 {
        (stream.step(0).bits(i) & 1) as u8
    }

    #[inline(always)]
    unsafe fn apply<T: Team>(&self, team: T, walk: &Walk<u8>, step: [u32; D]) {
        team.single(|| {
            for place in step {
                // SAFETY: the caller's promise.
                unsafe { walk.solution.set(place, walk.solution.get(place) ^ 1) }
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
        for place in step {
            // SAFETY: the caller's promise.
            let until = unsafe { walk.traces.get(place) };
            (first, last) = (first.min(until), last.max(until));
        }
        clock.any(first, last)
    }

    #[inline(always)]
    unsafe fn leave<T: Team>(&self, team: T, walk: &Walk<u8>, step: [u32; D], until: impl Fn(u32) -> u32) {
        team.single(|| {
            for (item, place) in (0..).zip(step) {
                // SAFETY: the caller's promise.
                unsafe { walk.traces.set(place, until(item)) }
            }
        });
    }
}
