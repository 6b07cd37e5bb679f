//! Settings of iterated local search.

use serde::{Deserialize, Serialize};

use crate::engine::lin_kernighan::MOST_TRIALS;
use crate::engine::start::Start;
use crate::engine::{LocalSearch, MOST_NEIGHBORS};
use crate::solver::SolveError;
use crate::solver::lin_kernighan::{Acceptance, LinKernighanSettings, MOST_CHAINS, MOST_STEPS, NeighborKind};
use crate::solver::settings::{Settings, between, choices, from_to, is, is_not, settings};

/// Which improving move is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Improvement {
    /// The best around the first node that has one, at many places at the same time
    #[default]
    First,
    /// The best of the whole tour
    Best,
}

/// How many moves of the whole tour are made at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Moves {
    /// All that are better than the moves they conflict with
    #[default]
    Many,
    /// The best one
    One,
}

choices!(Improvement, Moves);

settings! {
    /// Settings of iterated local search. `None` means: chosen for the run.
    pub struct IlsSettings = "ils", "Iterated local search" {
        /// Seed of all random numbers: with a number of iterations, it determines the tour
        pub seed: u64 = 1, is_common: true;
        /// The operator that improves tours
        pub local_search: LocalSearch = LocalSearch::default(), except: &["none", "or-3opt", "lk"];
        /// Neighbours in a node's list
        pub neighbors: u32 = 12, range: from_to(1, MOST_NEIGHBORS);
        /// Which neighbours a list holds
        pub neighbor_lists: NeighborKind = NeighborKind::default();
        /// Neighbours evaluated in the second step of a move
        pub breadth: u32 = 5, range: from_to(1, MOST_NEIGHBORS), only: &[is("improvement", "best")];
        /// The start tour, unless a tour is read from a file
        pub start: Start = Start::default(), option: "first_tour";
        /// Longest segment of a kick's double bridge; 0: four edges anywhere
        pub segment: u32 = 50,
            unit: "nodes", only: &[is("improvement", "best"), is_not("descent_only", "true")];
        /// When a new tour replaces the current one
        pub accept: Acceptance = Acceptance::default(), only: &[is_not("descent_only", "true")];
        /// Temperature at the start of annealing
        pub temperature: f32 = 0.7,
            range: between(0.0, 1000.0),
            unit: "mean edges of the tour",
            only: &[is("accept", "annealing"), is_not("descent_only", "true")];
        /// Which improving move is made: the best around a node, at many places at the same time, or the best of the whole tour
        pub improvement: Improvement = Improvement::default();
        /// How many moves are made at a time
        pub moves: Moves = Moves::default(), only: &[is("improvement", "best")];
        /// Tours that are worked on at the same time
        pub chains: Option<u32> = None,
            range: from_to(1, MOST_CHAINS),
            only: &[is("improvement", "first")],
            otherwise: "by the number of nodes";
        /// Kicks of each tour in a round, whose changes are merged at its end
        pub trials: Option<u32> = None,
            range: from_to(1, MOST_TRIALS),
            only: &[is("improvement", "first"), is_not("descent_only", "true")],
            otherwise: "by the number of nodes";
        /// Steps of the random walks that lead from a kick's first edge to the others
        pub walk: Option<u32> = None,
            range: from_to(1, MOST_STEPS),
            only: &[is("improvement", "first"), is_not("descent_only", "true")],
            otherwise: "20; 40 after one kick per node, 80 after 16; always 80 on lattices";
        /// Stop at the first local optimum, without kicks
        pub descent_only: bool = false, is_common: true;
    }
}

impl IlsSettings {
    /// Checks every setting's range.
    ///
    /// # Errors
    /// The setting that is out of range.
    pub fn check(&self) -> Result<(), SolveError> {
        self.check_ranges()?;
        if self.local_search == LocalSearch::None || self.local_search.is_of_ants() {
            return Err(SolveError::Settings(
                "ils needs a local search: `local_search` two-opt, or-opt, or-2opt or three-opt".into(),
            ));
        }
        Ok(())
    }

    /// Returns the settings of first improvement: chained Lin-Kernighan with other moves.
    pub(super) fn trials(&self) -> LinKernighanSettings {
        LinKernighanSettings {
            seed: self.seed,
            neighbors: self.neighbors,
            neighbor_lists: self.neighbor_lists,
            local_search: Some(self.local_search),
            accept: self.accept,
            start: Some(self.start),
            walk: self.walk,
            temperature: self.temperature,
            chains: self.chains,
            trials: self.trials,
            descent_only: self.descent_only,
        }
    }
}
