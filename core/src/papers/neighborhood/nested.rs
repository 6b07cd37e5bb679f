//! Several neighbourhoods of one solution, one after the other.

use super::{Clock, Neighborhood, Standing, Walk};
use crate::rng::Stream;
use crate::team::Team;

/// A neighbourhood followed by others of the same solutions, usually larger ones: the sequence of variable neighbourhood search.
/// Random solutions and the tabu list are those of the first.
#[derive(Clone, Copy, Debug)]
pub struct Nested<A, B> {
    /// The first one.
    pub first: A,
    /// The following ones.
    pub behind: B,
}

/// A move in the first neighbourhood, or in a following one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<A, B> {
    /// In the first.
    First(A),
    /// In another.
    Behind(B),
}

impl<A: Neighborhood, B: Neighborhood<Element = A::Element>> Neighborhood for Nested<A, B> {
    type Element = A::Element;
    type Move = Step<A::Move, B::Move>;

    #[inline(always)]
    fn elements(&self) -> u32 {
        self.first.elements()
    }
    #[inline(always)]
    fn len(&self) -> u64 {
        self.first.len() + self.behind.len()
    }
    #[inline(always)]
    fn levels(&self) -> u32 {
        self.first.levels() + self.behind.levels()
    }
    #[inline(always)]
    fn level(&self, level: u32) -> (u64, u64) {
        let own = self.first.levels();
        if level < own {
            return self.first.level(level);
        }
        let (start, end) = self.behind.level(level - own);
        (self.first.len() + start, self.first.len() + end)
    }
    #[inline(always)]
    fn at(&self, index: u64) -> Self::Move {
        let own = self.first.len();
        if index < own {
            Step::First(self.first.at(index))
        } else {
            Step::Behind(self.behind.at(index - own))
        }
    }
    #[inline(always)]
    fn index(&self, step: Self::Move) -> u64 {
        match step {
            Step::First(step) => self.first.index(step),
            Step::Behind(step) => self.first.len() + self.behind.index(step),
        }
    }
    #[inline(always)]
    fn skip(&self, step: Self::Move, index: u64, by: u32) -> Self::Move {
        match step {
            Step::First(step) => Step::First(self.first.skip(step, index, by)),
            Step::Behind(step) => Step::Behind(self.behind.skip(step, index - self.first.len(), by)),
        }
    }
    #[inline(always)]
    fn random(&self, stream: Stream, i: u32) -> A::Element {
        self.first.random(stream, i)
    }

    fn is_solution(&self, solution: &[A::Element], seen: &mut [u8]) -> bool {
        self.first.is_solution(solution, seen)
    }

    #[inline(always)]
    unsafe fn apply<T: Team>(&self, team: T, walk: &Walk<A::Element>, step: Self::Move) {
        // SAFETY: the caller's promise.
        unsafe {
            match step {
                Step::First(step) => self.first.apply(team, walk, step),
                Step::Behind(step) => self.behind.apply(team, walk, step),
            }
        }
    }

    #[inline(always)]
    fn traces(&self) -> u32 {
        self.first.traces()
    }

    #[inline(always)]
    unsafe fn standing(&self, walk: &Walk<A::Element>, clock: Clock, step: Self::Move) -> Standing {
        // SAFETY: the caller's promise.
        unsafe {
            match step {
                Step::First(step) => self.first.standing(walk, clock, step),
                Step::Behind(step) => self.behind.standing(walk, clock, step),
            }
        }
    }

    #[inline(always)]
    unsafe fn leave<T: Team>(
        &self,
        team: T,
        walk: &Walk<A::Element>,
        step: Self::Move,
        until: impl Fn(u32) -> u32,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            match step {
                Step::First(step) => self.first.leave(team, walk, step, until),
                Step::Behind(step) => self.behind.leave(team, walk, step, until),
            }
        }
    }
}
