//! Encodings of solutions and the neighbourhoods on them: which neighbour has which number (Luong, Melab and Talbi 2013,
//! section 4), how a move changes a solution, and what a tabu list remembers of it.
//!
//! | solution | neighbourhood | size |
//! |---|---|---|
//! | n bits | [`Flips`]: all that differ in D bits | n over D |
//! | n of k values | [`Changes`]: all that differ in one value | n (k - 1) |
//! | permutation of n | [`Exchanges`]: two places exchanged | n (n - 1) / 2 |
//! | permutation of n | [`Rotations`]: three places rotated, either way | n (n - 1) (n - 2) / 3 |
//! | n real numbers | [`Crowns`]: a random point in each of m concentric shells | m |

mod changes;
mod crossover;
mod crowns;
mod exchanges;
mod flips;
mod rotations;

pub use changes::{Change, Changes};
pub use crossover::crossover;
pub use crowns::Crowns;
pub use exchanges::Exchanges;
pub use flips::Flips;
pub use rotations::{Rotation, Rotations};

use crate::rng::Stream;
use crate::team::{Slots, Team};

/// Where a walk stands, as one team sees it: its replica of the solution, and what goes with it.
#[derive(Clone, Copy)]
pub struct Walk<E> {
    /// The solution.
    pub solution: Slots<E>,
    /// Iterations that the tabu list remembers: [`Neighborhood::traces`] of them; none in a search without tabu list.
    pub traces: Slots<u32>,
    /// The problem's notes about the solution, the team's own.
    pub notes: *mut u8,
    /// The problem's notes that the walk's teams share.
    pub common: *mut u8,
    /// The iteration's random numbers, from [`NEIGHBORS`] on those of the neighbourhood.
    pub stream: Stream,
}

/// The first step of [`Walk::stream`] that belongs to the neighbourhood; those before are the search's.
pub const NEIGHBORS: u32 = 16;

/// What a tabu list says of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It may be made.
    Free,
    /// It would bring back what was left not long ago.
    Tabu,
    /// It would bring something that has not been for very long: it should be made.
    Overdue,
}

/// How long moves are tabu.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// This iteration: more than [`Neighborhood::traces`].
    pub now: u32,
    /// What has been tabu until so many iterations ago, and not since, is overdue.
    pub aspiration: u32,
}

impl Clock {
    /// The standing of a move that brings two things back, tabu until these iterations: it is tabu while both are.
    #[inline(always)]
    pub fn both(self, until: u32, other: u32) -> Standing {
        let first = until.min(other);
        self.any(first, first)
    }

    /// The standing of a move that brings several things back, of which the first and the last are tabu until these
    /// iterations: it is tabu while one of them is.
    #[inline(always)]
    pub fn any(self, first: u32, last: u32) -> Standing {
        if first.saturating_add(self.aspiration) < self.now {
            Standing::Overdue
        } else if last > self.now {
            Standing::Tabu
        } else {
            Standing::Free
        }
    }
}

/// Solutions of one encoding, and the moves from each to its neighbours, numbered from 0.
pub trait Neighborhood: Copy {
    /// What a solution is a vector of.
    type Element: Copy + PartialEq;
    /// A move.
    type Move: Copy;

    /// Elements of a solution.
    fn elements(&self) -> u32;
    /// Number of neighbours.
    fn len(&self) -> u64;
    /// Whether a solution has no neighbours.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The move to neighbour `index`, below [`Neighborhood::len`].
    fn at(&self, index: u64) -> Self::Move;
    /// The number of the neighbour that a move leads to.
    fn index(&self, step: Self::Move) -> u64;
    /// The move `by` neighbours behind that to neighbour `index`, which is `step`, if there are so many.
    #[inline(always)]
    fn skip(&self, step: Self::Move, index: u64, by: u32) -> Self::Move {
        let _ = step;
        self.at(index + by as u64)
    }

    /// Element `i` of a random solution: the one that `stream` draws.
    fn random(&self, stream: Stream, i: u32) -> Self::Element;

    /// Makes a move, and waits for the team.
    ///
    /// # Safety
    /// The walk is of this neighbourhood, and nobody reads its solution meanwhile.
    unsafe fn apply<T: Team>(&self, team: T, walk: &Walk<Self::Element>, step: Self::Move);

    /// Makes the walk's solution a child of two others, which keeps what they share, and waits for the team. What the tabu list
    /// remembers is lost. Only for encodings of problems with [`Problem::CROSSES`](crate::problem::Problem::CROSSES).
    ///
    /// # Safety
    /// As [`Neighborhood::standing`]; the parents are two solutions that nobody writes to, and nobody looks at the walk's.
    #[inline(always)]
    unsafe fn cross<T: Team>(
        &self,
        _team: T,
        _walk: &Walk<Self::Element>,
        _parents: (*const Self::Element, *const Self::Element),
        _seed: u64,
    ) {
    }

    /// How many iterations the tabu list remembers.
    fn traces(&self) -> u32;

    /// What the tabu list says of a move.
    ///
    /// # Safety
    /// The walk is of this neighbourhood and has a tabu list.
    unsafe fn standing(&self, walk: &Walk<Self::Element>, clock: Clock, step: Self::Move) -> Standing;

    /// Remembers what a move that will be made next leaves. `until` gives the iteration until which the first, second, ...
    /// thing that it leaves is tabu. The team waits afterwards before anyone looks.
    ///
    /// # Safety
    /// As [`Neighborhood::standing`]; nobody looks at the tabu list meanwhile.
    unsafe fn leave<T: Team>(
        &self,
        team: T,
        walk: &Walk<Self::Element>,
        step: Self::Move,
        until: impl Fn(u32) -> u32,
    );
}
