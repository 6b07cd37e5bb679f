//! Encodings of solutions and their neighbourhoods: the numbering of neighbours (Luong, Melab and Talbi 2013, section 4), how a
//! move changes a solution, and what a tabu list remembers of it.
//!
//! | solution | neighbourhood | size |
//! |---|---|---|
//! | n bits | [`Flips`]: all that differ in D bits | n over D |
//! | n of k values | [`Changes`]: all that differ in one value | n (k - 1) |
//! | permutation of n | [`Exchanges`]: two places exchanged | n (n - 1) / 2 |
//! | permutation of n | [`Rotations`]: three places rotated, either way | n (n - 1) (n - 2) / 3 |
//! | any of these | [`Nested`]: one of them, then another | both sizes together |
//! | n real numbers | [`Crowns`]: a random point in each of m concentric shells | m |

mod changes;
mod crossover;
mod crowns;
mod exchanges;
mod flips;
mod nested;
mod rotations;

pub use changes::{Change, Changes};
pub use crossover::crossover;
pub use crowns::Crowns;
pub use exchanges::Exchanges;
pub use flips::Flips;
pub use nested::{Nested, Step};
pub use rotations::{Rotation, Rotations};

use crate::rng::Stream;
use crate::team::{Slots, Team};

/// A walk as one team sees it: its replica of the solution, and the related data.
#[derive(Clone, Copy)]
pub struct Walk<E> {
    /// The solution.
    pub solution: Slots<E>,
    /// The tabu list, [`Neighborhood::traces`] words; none in a search without a tabu list.
    pub traces: Slots<u32>,
    /// The problem's notes about the solution, owned by the team.
    pub notes: *mut u8,
    /// The problem's notes that the walk's teams share.
    pub common: *mut u8,
    /// The iteration's random numbers; those from [`NEIGHBORS`] on belong to the neighbourhood.
    pub stream: Stream,
}

/// The first step of [`Walk::stream`] that belongs to the neighbourhood; those before are the search's.
pub const NEIGHBORS: u32 = 16;

/// The tabu list's verdict on a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It may be made.
    Free,
    /// It would bring back what was left recently.
    Tabu,
    /// It would bring something that has been absent for very long: it should be made.
    Overdue,
}

/// The current iteration, by which tabu lists judge moves.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// This iteration: more than [`Neighborhood::traces`].
    pub now: u32,
    /// What was tabu until an iteration more than this many before now is overdue.
    pub aspiration: u32,
}

impl Clock {
    /// Returns the standing of a move that brings two things back, tabu until these iterations: it is tabu while both are, and
    /// overdue once one of them is.
    #[inline(always)]
    pub fn both(self, until: u32, other: u32) -> Standing {
        let first = until.min(other);
        self.any(first, first)
    }

    /// Returns the standing of a move that brings several things back, which are tabu until iterations from `first` to `last`: it
    /// is tabu while one of them is, unless one of them is overdue. At iteration `last` nothing is tabu any more.
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

/// Returns the first `D` places, ascending, at which a solution of n elements differs from another.
///
/// # Safety
/// Both have n elements, and differ at enough places.
#[inline(always)]
unsafe fn differing<E: Copy + PartialEq, const D: usize>(
    solution: Slots<E>,
    other: *const E,
    n: u32,
) -> [u32; D] {
    let (mut places, mut found, mut i) = ([0; D], 0, 0);
    while i < n && found < D {
        // SAFETY: the caller's promise.
        if unsafe { solution.get(i) != *other.add(i as usize) } {
            let mut place = 0;
            // Not indexed by its number, for which a GPU would keep the places in memory.
            while place < D {
                places[place] = if place == found { i } else { places[place] };
                place += 1;
            }
            found += 1;
        }
        i += 1;
    }
    places
}

/// Returns whether these are the numbers below n, each once. `seen` has n zeros, and is changed.
fn is_permutation(numbers: &[u32], seen: &mut [u8]) -> bool {
    let is_new =
        |&number: &u32| seen.get_mut(number as usize).is_some_and(|seen| core::mem::replace(seen, 1) == 0);
    numbers.iter().all(is_new)
}

/// Solutions of one encoding, and the moves from each to its neighbours, numbered from 0. Methods that take a team are called by
/// every member, with the same values.
pub trait Neighborhood: Copy {
    /// The element type of solutions, which are vectors.
    type Element: Copy + PartialEq;
    /// A move.
    type Move: Copy;

    /// Returns the number of elements of a solution.
    fn elements(&self) -> u32;
    /// Returns the number of neighbours.
    fn len(&self) -> u64;
    /// Returns whether a solution has no neighbours.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Returns the number of successive neighbourhoods: 1 except for [`Nested`].
    #[inline(always)]
    fn levels(&self) -> u32 {
        1
    }
    /// Returns the number of the first neighbour of one of them, numbered from 0, and the number after the last.
    #[inline(always)]
    fn level(&self, level: u32) -> (u64, u64) {
        let _ = level;
        (0, self.len())
    }
    /// Returns the move to neighbour `index`, below [`Neighborhood::len`].
    fn at(&self, index: u64) -> Self::Move;
    /// Returns the number of the neighbour that a move leads to.
    fn index(&self, step: Self::Move) -> u64;
    /// Returns the move to neighbour `index + by`, given that to neighbour `index`, which is `step`. Both are in the same of
    /// [`Neighborhood::levels`]; if there is no such neighbour, any move.
    #[inline(always)]
    fn skip(&self, step: Self::Move, index: u64, by: u32) -> Self::Move {
        let _ = step;
        self.at(index + by as u64)
    }

    /// Returns the move that leads from the walk's solution to its neighbour `index`, which is given element by element. The
    /// default uses only the number: for solutions that do not show the move.
    ///
    /// # Safety
    /// The walk is of this neighbourhood, and `neighbor` has the elements of that neighbour.
    #[inline(always)]
    unsafe fn toward(
        &self,
        walk: &Walk<Self::Element>,
        neighbor: *const Self::Element,
        index: u64,
    ) -> Self::Move {
        let _ = (walk, neighbor);
        self.at(index)
    }

    /// Returns element `i` of a random solution drawn from `stream`.
    fn random(&self, stream: Stream, i: u32) -> Self::Element;

    /// Returns whether these are the elements of a solution. `seen` has a zero for each element, and may be changed.
    fn is_solution(&self, solution: &[Self::Element], seen: &mut [u8]) -> bool;

    /// Makes a move, and waits for the team.
    ///
    /// # Safety
    /// The walk is of this neighbourhood, and nobody reads its solution meanwhile.
    unsafe fn apply<T: Team>(&self, team: T, walk: &Walk<Self::Element>, step: Self::Move);

    /// Makes the walk's solution a child of two others, which keeps what they share, and waits for the team. The contents of the
    /// tabu list are lost. Only for encodings of problems with [`Problem::CROSSES`](crate::papers::problem::Problem::CROSSES).
    ///
    /// # Safety
    /// As [`Neighborhood::standing`]; the parents are two solutions that nobody writes to, and nobody accesses the walk's.
    #[inline(always)]
    unsafe fn cross<T: Team>(
        &self,
        _team: T,
        _walk: &Walk<Self::Element>,
        _parents: (*const Self::Element, *const Self::Element),
        _seed: u64,
    ) {
    }

    /// Returns the words, of 4 bytes, of the tabu list: iterations until which things are tabu, and in [`Crowns`] also the points.
    fn traces(&self) -> u32;

    /// Returns the tabu list's verdict on a move.
    ///
    /// # Safety
    /// The walk is of this neighbourhood and has a tabu list.
    unsafe fn standing(&self, walk: &Walk<Self::Element>, clock: Clock, step: Self::Move) -> Standing;

    /// Remembers what a move that will be made next leaves. `until` gives the iteration until which the first, second, ... thing
    /// that it leaves is tabu. The team waits before anyone reads it.
    ///
    /// # Safety
    /// As [`Neighborhood::standing`]; nobody accesses the tabu list meanwhile.
    unsafe fn leave<T: Team>(
        &self,
        team: T,
        walk: &Walk<Self::Element>,
        step: Self::Move,
        until: impl Fn(u32) -> u32,
    );
}
