//! Settings of iterated local search.

use serde::{Deserialize, Serialize};

use crate::engine::start::Start;
use crate::engine::{LocalSearch, MOST_NEIGHBORS};
use crate::solver::SolveError;
use crate::solver::lin_kernighan::{Acceptance, LinKernighanSettings, NeighborKind};

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
    /// All that are better than what they would meet
    #[default]
    Many,
    /// The best one
    One,
}

/// What a user can set. `None` means: choose for me.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IlsSettings {
    /// Seed of all random numbers.
    pub seed: u64,
    /// The operator.
    pub local_search: LocalSearch,
    /// Neighbours of a node.
    pub neighbors: u32,
    /// Which neighbours.
    pub neighbor_lists: NeighborKind,
    /// With the best of all moves: neighbours that the second step of a move looks at.
    pub breadth: u32,
    /// The start tour; a file's tour goes before it.
    pub start: Start,
    /// With the best of all moves: longest segment of a double bridge; 0: four edges anywhere.
    pub segment: u32,
    /// When a tour is accepted.
    pub accept: Acceptance,
    /// Temperature at the start of annealing, in mean edges of the start tour.
    pub temperature: f32,
    /// Which improving move is made.
    pub improvement: Improvement,
    /// With the best of all moves: how many of them are made at a time.
    pub moves: Moves,
    /// With first improvement: tours that are worked on at the same time.
    pub chains: Option<u32>,
    /// With first improvement: kicks of each tour in a round.
    pub trials: Option<u32>,
    /// With first improvement: steps of the random walks that lead from a kick's first edge to the others.
    pub walk: Option<u32>,
    /// No kicks: the first local optimum ends the run.
    pub descent_only: bool,
}

impl Default for IlsSettings {
    fn default() -> Self {
        IlsSettings {
            seed: 1,
            local_search: LocalSearch::default(),
            neighbors: 12,
            neighbor_lists: NeighborKind::default(),
            breadth: 5,
            start: Start::default(),
            segment: 50,
            accept: Acceptance::default(),
            temperature: 0.7,
            improvement: Improvement::default(),
            moves: Moves::default(),
            chains: None,
            trials: None,
            walk: None,
            descent_only: false,
        }
    }
}

impl IlsSettings {
    /// Checks every setting's range.
    ///
    /// # Errors
    /// What is out of its range.
    pub fn check(&self) -> Result<(), SolveError> {
        let fail = |what: String| Err(SolveError::Settings(what));
        if self.local_search == LocalSearch::None || self.local_search.is_of_ants() {
            return fail(
                "ils needs a local search: `local_search` two-opt, or-opt, or-2opt or three-opt".into(),
            );
        }
        if self.neighbors == 0 || self.neighbors > MOST_NEIGHBORS {
            return fail(format!("`neighbors` must be 1 to {MOST_NEIGHBORS}"));
        }
        if self.breadth == 0 || self.breadth > MOST_NEIGHBORS {
            return fail(format!("`breadth` must be 1 to {MOST_NEIGHBORS}"));
        }
        self.trials().check()
    }

    /// Those of first improvement: chained Lin-Kernighan with other moves.
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
