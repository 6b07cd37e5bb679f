//! Settings of chained Lin-Kernighan, and what else does not change during a run.

use serde::{Deserialize, Serialize};

use super::means::Means;
use crate::backend::Backend;
use crate::engine::lin_kernighan::MOST_TRIALS;
use crate::engine::start::Start;
use crate::engine::{LocalSearch, MOST_NEIGHBORS, Problem};
use crate::instance::Instance;
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
    /// Always
    Always,
    /// If it is not much longer: less and less so as the run goes on
    #[default]
    Annealing,
}

impl Acceptance {
    /// The [temperature](antwarp_core::local_search::perturb::tolerance) of kicks, that of annealing given.
    pub(in crate::solver) fn temperature(self, annealing: f32) -> f32 {
        match self {
            Acceptance::Better => -1.0,
            Acceptance::BetterOrEqual => 0.0,
            Acceptance::Always => f32::INFINITY,
            Acceptance::Annealing => annealing,
        }
    }
}

/// Which neighbours a node's list holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum NeighborKind {
    /// The nearest
    Nearest,
    /// The nearest in each quadrant around it
    #[default]
    Quadrant,
}

/// What a user can set. `None` means: choose for me.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinKernighanSettings {
    /// Seed of all random numbers.
    pub seed: u64,
    /// Neighbours of a node.
    pub neighbors: u32,
    /// Which neighbours.
    pub neighbor_lists: NeighborKind,
    /// The moves; none: Lin and Kernighan's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_search: Option<LocalSearch>,
    /// When a tour is kept after a kick.
    pub accept: Acceptance,
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

impl Default for LinKernighanSettings {
    fn default() -> Self {
        LinKernighanSettings {
            seed: 1,
            neighbors: 8,
            neighbor_lists: NeighborKind::default(),
            local_search: None,
            accept: Acceptance::default(),
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
impl LinKernighanSettings {
    /// Checks every setting's range.
    ///
    /// # Errors
    /// What is out of its range.
    pub fn check(&self) -> Result<(), SolveError> {
        let fail = |what: String| Err(SolveError::Settings(what));
        if self.neighbors == 0 || self.neighbors > MOST_NEIGHBORS {
            return fail(format!("`neighbors` must be 1 to {MOST_NEIGHBORS}"));
        }
        if self.local_search.is_some_and(|search| search == LocalSearch::None || search.is_of_ants()) {
            return fail(
                "`local_search` must be two-opt, or-opt, or-2opt or three-opt, if it is given".into(),
            );
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
    pub settings: &'a LinKernighanSettings,
    /// What this run, or all that share its tours, have.
    pub means: Means,
    /// Trials in a round of a single tour.
    pub trials: u32,
    /// See [`is_lattice`](crate::engine::start::is_lattice).
    pub is_lattice: bool,
    /// Tours are crossed; if not, they are recombined now and then instead.
    pub is_crossed: bool,
    /// See [`cross::by_nearest`](super::cross::by_nearest); none where tours are not crossed.
    pub by_nearest: Option<&'a Problem>,
}
