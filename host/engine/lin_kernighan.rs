//! Chained Lin-Kernighan on a backend, and its parameters.

use std::ops::Range;

use antwarp_core::lin_kernighan::cuts::MAX_SEGMENTS;
use antwarp_core::lin_kernighan::trial::{HEAD, LOOKED_AT, TrialRound, packed};

use super::{BackendError, Enough, LocalSearch};

/// Maximum number of kicks of a tour per round.
pub const MOST_TRIALS: u32 = 1 << 20;
// The cuts of all trials must have distinct 32-bit numbers.
const _: () = assert!(MOST_TRIALS as u64 * MAX_SEGMENTS as u64 <= u32::MAX as u64);

/// Nodes per trial of a round without kicks. A trial searches around a few of them, so that changes seldom share nodes; after some
/// rounds, all have been covered.
pub const NODES: u32 = 8 * LOOKED_AT;

/// Everything a backend needs to know about chained Lin-Kernighan.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The moves; `None`: Lin-Kernighan moves.
    pub local_search: Option<LocalSearch>,
    /// Number of tours that are worked on at the same time.
    pub chains: u32,
    /// Maximum number of trials of a tour per round.
    pub trials: u32,
    /// Initial tours in the problem's numbering, concatenated; if empty, all start along that numbering.
    pub starts: Vec<u32>,
    /// Internal cost of the shortest initial tour.
    pub start_cost: i64,
    /// Whether CPU threads kick each tour in its array, by moves of three edges, rather than by trials: several tours that are to be
    /// crossed. Backends on GPUs ignore it.
    pub in_place: bool,
}

impl Spec {
    /// Creates a spec for n nodes: the moves; the number of tours and of kicks of each per round; then the initial tours, and the
    /// length of the shortest.
    pub fn new(
        local_search: Option<LocalSearch>,
        n: u32,
        (chains, trials): (u32, u32),
        starts: Vec<u32>,
        start_cost: i64,
    ) -> Spec {
        Spec {
            local_search,
            chains,
            trials: trials.max(n.div_ceil(NODES)),
            starts,
            start_cost,
            in_place: false,
        }
    }
}

/// The number of tours that chained Lin-Kernighan works on, and of trials of each per round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trials {
    /// Number of tours that are worked on at the same time.
    pub chains: u32,
    /// Trials of a tour per round.
    pub trials: u32,
}

/// The progress of chained Lin-Kernighan; lengths are internal costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// Length of the shortest of the current tours.
    pub cost: i64,
    /// Length of the best tour so far.
    pub best_cost: i64,
    /// Trials of each tour in the last batch.
    pub trials: u64,
    /// Number of changes found for all tours in the last round, whether made or not.
    pub offered: u64,
}

/// The changes found by some trials of a round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Number of trials made.
    pub made: u32,
    /// The changes, [packed](antwarp_core::lin_kernighan::trial::TrialChanges::pack) and concatenated.
    pub words: Vec<u32>,
}

impl Found {
    /// Returns where each change starts, for a tour of n nodes and a round of this many trials, up to the first invalid one, since
    /// messages may be invalid.
    pub fn starts(&self, n: u32, trials: u32) -> Vec<u32> {
        let (mut starts, mut at) = (Vec::new(), 0);
        while let Some(&[trial, _, _, count]) = self.words[at..].first_chunk::<{ HEAD as usize }>() {
            let end = at + packed(count.min(MAX_SEGMENTS)) as usize;
            let cuts = self.words.get(at + HEAD as usize..end);
            let is_right = |cuts: &[u32]| cuts.iter().all(|&word| word < n);
            if trial >= trials || count > MAX_SEGMENTS || !cuts.is_some_and(is_right) {
                break;
            }
            starts.push(at as u32);
            at = end;
        }
        starts
    }
}

/// Chained Lin-Kernighan on a backend.
pub trait LinKernighan {
    /// Runs these rounds.
    ///
    /// If a round can take long, `enough` is regularly asked whether to end it early.
    ///
    /// # Errors
    /// If the backend fails.
    fn run(&mut self, rounds: &[TrialRound], enough: Enough) -> Result<Reached, BackendError>;

    /// Makes some trials of a round for the only tour, without changing it. Makes fewer if `enough` asks to stop.
    ///
    /// # Errors
    /// If the backend fails.
    fn find(&mut self, round: TrialRound, trials: Range<u32>, enough: Enough) -> Result<Found, BackendError>;

    /// Makes those changes found by the trials of a round that can be made together: of one run or several, but all with the same
    /// tour.
    ///
    /// # Errors
    /// If the backend fails.
    fn make(&mut self, round: TrialRound, found: &mut [Found]) -> Result<(), BackendError>;

    /// Returns the progress, once pending work is done; the best tour so far is kept.
    ///
    /// # Errors
    /// As [`LinKernighan::run`].
    fn reached(&mut self, enough: Enough) -> Result<Reached, BackendError>;

    /// Recombines all tours and some others into one, using what each of them does better, and continues all tours with it. It
    /// starts from the shortest of its own, even if one of the others is shorter: its own may be hot, longer than its best so far.
    /// The others are used until `enough` asks to stop.
    ///
    /// # Errors
    /// If tours cannot be copied from or to the device, or there is not enough memory.
    fn recombine(&mut self, others: &[Vec<u32>], enough: Enough) -> Result<Reached, BackendError>;

    /// Returns the best tour so far, in the problem's numbering.
    ///
    /// # Errors
    /// If it cannot be copied from the device.
    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError>;

    /// Returns all current tours, concatenated, in the problem's numbering.
    ///
    /// # Errors
    /// If they cannot be copied from the device.
    fn tours(&mut self) -> Result<Vec<u32>, BackendError>;

    /// Describes how it was laid out.
    fn describe(&self) -> String;
}
