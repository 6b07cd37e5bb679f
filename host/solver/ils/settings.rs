//! Settings of iterated local search.

use antwarp_core::local_search::chain::Accept;
use serde::{Deserialize, Serialize};

use crate::engine::start::Start;
use crate::engine::{LocalSearch, MOST_NEIGHBORS};
use crate::solver::SolveError;

/// When a tour after a kick takes the place of the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Acceptance {
    /// If it is shorter
    Better,
    /// If it is not longer
    BetterOrEqual,
    /// Always; the best tour of a round is what the next one begins with
    Always,
    /// If it is not much longer: less and less so as the run goes on
    #[default]
    Annealing,
}

impl From<Acceptance> for Accept {
    fn from(acceptance: Acceptance) -> Accept {
        match acceptance {
            Acceptance::Better => Accept::Better,
            Acceptance::BetterOrEqual => Accept::BetterOrEqual,
            Acceptance::Always => Accept::Always,
            Acceptance::Annealing => Accept::Annealing,
        }
    }
}

/// Which improving move is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Improvement {
    /// The best around the first node that has one; in tiles
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

/// Which neighbours a node's list holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Neighbors {
    /// The nearest
    Nearest,
    /// The nearest in each quadrant around it
    #[default]
    Quadrant,
}

/// What a user can set. `None` means: choose for me.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Seed of all random numbers.
    pub seed: u64,
    /// The operator.
    pub local_search: LocalSearch,
    /// Neighbours of a node.
    pub neighbors: u32,
    /// Which neighbours.
    pub neighbor_lists: Neighbors,
    /// Neighbours that the second step of a move looks at.
    pub breadth: u32,
    /// The start tour; a file's tour goes before it.
    pub start: Start,
    /// Longest segment of a double bridge; 0: four edges anywhere.
    pub segment: u32,
    /// When a tour is accepted.
    pub accept: Acceptance,
    /// Temperature at the start of annealing, in mean edges of the start tour.
    pub temperature: f32,
    /// Tours that are worked on at the same time.
    pub chains: Option<u32>,
    /// Nodes of a tile.
    pub tile: Option<u32>,
    /// Nodes that a descent looks at together: on a GPU, warps of a tile.
    pub width: Option<u32>,
    /// Which improving move is made. With the best of all there is one chain, without tiles.
    pub improvement: Improvement,
    /// How many moves are made at a time, if the best of all is looked for.
    pub moves: Moves,
    /// No kicks: the first local optimum ends the run.
    pub descent_only: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            seed: 1,
            local_search: LocalSearch::default(),
            neighbors: 12,
            neighbor_lists: Neighbors::default(),
            breadth: 5,
            start: Start::default(),
            segment: 50,
            accept: Acceptance::default(),
            temperature: 0.7,
            chains: None,
            tile: None,
            width: None,
            improvement: Improvement::default(),
            moves: Moves::default(),
            descent_only: false,
        }
    }
}

/// Fewest and most nodes of a tile that a user may ask for; ids of a tile have 16 bits.
const TILE: std::ops::RangeInclusive<u32> = 16..=32_768;
/// Nodes that a descent may look at together.
const WIDTH: std::ops::RangeInclusive<u32> = 1..=4;
/// Most chains.
const MOST_CHAINS: u32 = 1 << 16;

impl Settings {
    /// Checks every setting's range.
    ///
    /// # Errors
    /// What is out of its range.
    pub fn check(&self) -> Result<(), SolveError> {
        let fail = |what: String| Err(SolveError::Settings(what));
        if self.local_search == LocalSearch::None {
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
        if !(self.temperature >= 0.0 && self.temperature <= 1000.0) {
            return fail("`temperature` must be 0 to 1000 mean edges".into());
        }
        if self.chains.is_some_and(|c| c == 0 || c > MOST_CHAINS) {
            return fail(format!("`chains` must be 1 to {MOST_CHAINS}"));
        }
        if self.width.is_some_and(|w| !WIDTH.contains(&w)) {
            return fail(format!("`width` must be {} to {}", WIDTH.start(), WIDTH.end()));
        }
        if self.tile.is_some_and(|t| !TILE.contains(&t)) {
            return fail(format!("`tile` must be {} to {} nodes", TILE.start(), TILE.end()));
        }
        Ok(())
    }
}
