//! Chained Lin-Kernighan where it lives, and what it needs to know.

use std::ops::Range;

use antwarp_core::lin_kernighan::cuts::MOST;
use antwarp_core::lin_kernighan::trial::{HEAD, LOOKED_AT, TrialRound, packed};

use super::{BackendError, Enough, LocalSearch};

/// Most kicks of a tour in a round.
pub(crate) const MOST_TRIALS: u32 = 1 << 20;
// Cuts of all trials are numbered.
const _: () = assert!(MOST_TRIALS as u64 * MOST as u64 <= u32::MAX as u64);

/// Nodes for every trial of a round without kicks. It looks around a few of them, so that changes seldom share nodes; after
/// some rounds all have been looked around.
pub const NODES: u32 = 8 * LOOKED_AT;

/// What a backend needs to know.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The moves; none: Lin and Kernighan's.
    pub local_search: Option<LocalSearch>,
    /// Tours.
    pub chains: u32,
    /// Most trials of a tour in a round.
    pub trials: u32,
    /// Tours to begin with, one after the other; none: all begin along the problem's numbering.
    pub starts: Vec<u32>,
    /// Length of the shortest of them.
    pub start_cost: i64,
}

impl Spec {
    /// For n nodes: the moves; so many tours, with so many kicks each in a round; then the tours to begin with, and the length of
    /// the shortest.
    pub fn new(
        local_search: Option<LocalSearch>,
        n: u32,
        (chains, trials): (u32, u32),
        starts: Vec<u32>,
        start_cost: i64,
    ) -> Spec {
        Spec { local_search, chains, trials: trials.max(n.div_ceil(NODES)), starts, start_cost }
    }
}

/// How many tours chained Lin-Kernighan works on, and how many trials each of them has in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trials {
    /// Tours.
    pub chains: u32,
    /// Trials of a tour in a round.
    pub trials: u32,
}

/// How far chained Lin-Kernighan has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// Length of the shortest of the tours as they are.
    pub cost: i64,
    /// Length of the best tour so far.
    pub best_cost: i64,
    /// Trials of each tour in the last batch.
    pub trials: u64,
    /// Changes of all tours in the last round, made or not.
    pub offered: u64,
}

/// What some trials of a round found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// How many trials were made.
    pub made: u32,
    /// The changes, [packed](antwarp_core::lin_kernighan::trial::TrialChanges::pack) one behind the other.
    pub words: Vec<u32>,
}

impl Found {
    /// Where each change begins, of a tour of n nodes and a round of so many trials: up to the first that is wrong, for
    /// messages can be.
    pub fn starts(&self, n: u32, trials: u32) -> Vec<u32> {
        let (mut starts, mut at) = (Vec::new(), 0);
        while let Some(&[trial, _, _, count]) = self.words[at..].first_chunk::<{ HEAD as usize }>() {
            let end = at + packed(count.min(MOST)) as usize;
            let cuts = self.words.get(at + HEAD as usize..end);
            let is_right = |cuts: &[u32]| cuts.iter().all(|&word| word < n);
            if trial >= trials || count > MOST || !cuts.is_some_and(is_right) {
                break;
            }
            starts.push(at as u32);
            at = end;
        }
        starts
    }
}

/// Chained Lin-Kernighan where it lives.
pub trait LinKernighan {
    /// Runs these rounds.
    ///
    /// Where a round can take long, `enough` is asked now and then whether to end it early.
    fn run(&mut self, rounds: &[TrialRound], enough: Enough) -> Result<Reached, BackendError>;

    /// Makes some trials of a round of the only tour, and leaves it as it is. Fewer if it is `enough`.
    fn find(&mut self, round: TrialRound, trials: Range<u32>, enough: Enough) -> Result<Found, BackendError>;

    /// Makes those of the changes that can be made together, which the trials of a round found: of one run or of several, but all
    /// with the same tour.
    fn make(&mut self, round: TrialRound, found: &mut [Found]) -> Result<(), BackendError>;

    /// How far they are, once what was begun is done; the best tour so far is kept.
    ///
    /// # Errors
    /// As [`LinKernighan::run`].
    fn reached(&mut self, enough: Enough) -> Result<Reached, BackendError>;

    /// Makes one tour of all, by what each of them and some others do better (a recombination), with which all go on. It begins with the
    /// shortest of its own, even if one of the others is shorter: its own may be hot, longer than its best so far. The others are taken
    /// until it is `enough`.
    ///
    /// # Errors
    /// If tours cannot be copied from or to the device, or memory is short.
    fn recombine(&mut self, others: &[Vec<u32>], enough: Enough) -> Result<Reached, BackendError>;

    /// The best tour so far, in the problem's numbering.
    ///
    /// # Errors
    /// If it cannot be brought back from the device.
    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError>;

    /// All tours as they are, one after the other.
    ///
    /// # Errors
    /// If they cannot be brought back from the device.
    fn tours(&mut self) -> Result<Vec<u32>, BackendError>;

    /// How it was laid out.
    fn describe(&self) -> String;
}
