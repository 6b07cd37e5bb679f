//! Settings of chained Lin-Kernighan, and what else does not change during a run.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::backend::Backend;
use crate::engine::lin_kernighan::MOST_TRIALS;
use crate::engine::start::Start;
use crate::engine::{MOST_NEIGHBORS, Problem};
use crate::instance::Instance;
use crate::solver::SolveError;
use crate::solver::ils::Neighbors;

/// What a user can set. `None` means: choose for me.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Seed of all random numbers.
    pub seed: u64,
    /// Neighbours of a node.
    pub neighbors: u32,
    /// Which neighbours.
    pub neighbor_lists: Neighbors,
    /// The start tour; a file's tour goes before it. None: [`for_lin_kernighan`](crate::engine::start::for_lin_kernighan).
    pub start: Option<Start>,
    /// Steps of the random walks that lead from a kick's first edge to the others. None: the more, the more kicks the tour has had,
    /// and many on a lattice.
    pub walk: Option<u32>,
    /// Temperature at the start of annealing, in mean edges of the tour.
    pub temperature: f32,
    /// Tours that are worked on at the same time.
    pub chains: Option<u32>,
    /// Kicks of each tour in a round.
    pub trials: Option<u32>,
    /// No kicks: the first local optimum ends the run.
    pub descent_only: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            seed: 1,
            neighbors: 8,
            neighbor_lists: Neighbors::default(),
            start: None,
            walk: None,
            temperature: 0.7,
            chains: None,
            trials: None,
            descent_only: false,
        }
    }
}

/// Most tours at the same time.
const MOST_CHAINS: u32 = 1 << 10;
/// Longest walk.
const MOST_STEPS: u32 = 1000;
impl Settings {
    /// Checks every setting's range.
    ///
    /// # Errors
    /// What is out of its range.
    pub fn check(&self) -> Result<(), SolveError> {
        let fail = |what: String| Err(SolveError::Settings(what));
        if self.neighbors == 0 || self.neighbors > MOST_NEIGHBORS {
            return fail(format!("`neighbors` must be 1 to {MOST_NEIGHBORS}"));
        }
        if self.walk.is_some_and(|walk| walk == 0 || walk > MOST_STEPS) {
            return fail(format!("`walk` must be 1 to {MOST_STEPS}"));
        }
        if !(self.temperature >= 0.0 && self.temperature <= 1000.0) {
            return fail("`temperature` must be 0 to 1000 mean edges".into());
        }
        if self.chains.is_some_and(|c| c == 0 || c > MOST_CHAINS) {
            return fail(format!("`chains` must be 1 to {MOST_CHAINS}"));
        }
        if self.trials.is_some_and(|t| t == 0 || t > MOST_TRIALS) {
            return fail(format!("`trials` must be 1 to {MOST_TRIALS}"));
        }
        Ok(())
    }
}

/// What does not change during a run.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    pub instance: &'a Instance,
    pub problem: &'a Problem,
    pub backend: &'a Backend,
    pub settings: &'a Settings,
    /// See [`is_lattice`](crate::engine::start::is_lattice).
    pub is_lattice: bool,
    /// Time after which tours are no longer kicked but crossed; none if they are recombined now and then instead.
    pub kicked: Option<Duration>,
}
