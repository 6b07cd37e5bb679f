//! Settings of chained Lin-Kernighan, and other values that are constant during a run.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::means::Means;
use crate::backend::Backend;
use crate::engine::lin_kernighan::{MOST_TRIALS, Spec};
use crate::engine::start::Start;
use crate::engine::{LocalSearch, MOST_NEIGHBORS, Problem};
use crate::instance::Instance;
use crate::solver::SolveError;
use crate::solver::settings::{Settings, between, choices, from_to, is_not, settings};

/// When the tour after a kick replaces the one before.
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
    /// If it is not much longer; the tolerance falls during the run
    #[default]
    Annealing,
}

impl Acceptance {
    /// Returns the [temperature](antwarp_core::lin_kernighan::trial::tolerance) of kicks, given that of annealing.
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

/// Most tours at the same time.
pub(in crate::solver) const MOST_CHAINS: u32 = 1 << 10;
/// Longest walk.
pub(in crate::solver) const MOST_STEPS: u32 = 1000;

choices!(Acceptance, NeighborKind, Start);

settings! {
    /// Settings of chained Lin-Kernighan. `None` means: chosen for the run.
    pub struct LinKernighanSettings = "lk", "Chained Lin-Kernighan" {
        /// Seed of all random numbers: with a number of iterations, it determines the tour
        pub seed: u64 = 1, is_common: true;
        /// Neighbours in a node's list
        pub neighbors: u32 = 8, range: from_to(1, MOST_NEIGHBORS);
        /// Which neighbours a list holds
        pub neighbor_lists: NeighborKind = NeighborKind::default();
        /// The moves; by default those of Lin and Kernighan
        #[serde(skip_serializing_if = "Option::is_none")]
        pub local_search: Option<LocalSearch> = None, is_internal: true;
        /// When a new tour replaces the current one
        pub accept: Acceptance = Acceptance::default(), is_internal: true;
        /// The start tour, unless a tour is read from a file
        pub start: Option<Start> = None,
            option: "first_tour", otherwise: "greedy, on lattices quick-boruvka";
        /// Steps of the random walks that lead from a kick's first edge to the others
        pub walk: Option<u32> = None,
            range: from_to(1, MOST_STEPS),
            only: &[is_not("descent_only", "true")],
            otherwise: "20; 40 after one kick per node, 80 after 16; always 80 on lattices";
        /// Temperature at the start of annealing
        pub temperature: f32 = 0.7,
            range: between(0.0, 1000.0),
            unit: "mean edges of the tour",
            only: &[is_not("descent_only", "true")];
        /// Tours that are worked on at the same time
        pub chains: Option<u32> = None,
            range: from_to(1, MOST_CHAINS), otherwise: "by the number of nodes";
        /// Kicks of each tour in a round, whose changes are merged at its end
        pub trials: Option<u32> = None,
            range: from_to(1, MOST_TRIALS),
            only: &[is_not("descent_only", "true")],
            otherwise: "by the number of nodes";
        /// Stop at the first local optimum, without kicks
        pub descent_only: bool = false, is_common: true;
    }
}

impl LinKernighanSettings {
    /// Checks every setting's range.
    ///
    /// # Errors
    /// The setting that is out of range.
    pub fn check(&self) -> Result<(), SolveError> {
        self.check_ranges()?;
        if self.local_search.is_some_and(|search| search == LocalSearch::None || search.is_of_ants()) {
            return Err(SolveError::Settings(
                "`local_search` must be two-opt, or-opt, or-2opt or three-opt, if given".into(),
            ));
        }
        Ok(())
    }
}

/// Values that do not change during a run.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    pub instance: &'a Instance,
    pub problem: &'a Problem,
    pub backend: &'a Backend,
    pub settings: &'a LinKernighanSettings,
    /// The means of this run, or of all that share its tours.
    pub means: Means,
    /// Trials in a round of a single tour.
    pub trials: u32,
    /// Whether it shares and exchanges no tours with other runs.
    pub is_alone: bool,
    /// See [`cross::effective_start`](super::cross::effective_start).
    pub effective_start: Duration,
    /// See [`is_lattice`](crate::engine::start::is_lattice).
    pub is_lattice: bool,
    /// Whether several tours may be worked on; see [`cross::is_free`](super::cross::is_free).
    pub is_free: bool,
    /// Whether tours are crossed; if not, they are recombined now and then instead.
    pub is_crossed: bool,
    /// See [`cross::by_nearest`](super::cross::by_nearest); `None` where tours are not crossed.
    pub by_nearest: Option<&'a Problem>,
}

impl Plan<'_> {
    /// Returns the spec for this many tours and kicks of each in a round, with the tours to start with and the length of the shortest.
    pub fn spec(&self, (chains, trials): (u32, u32), starts: Vec<u32>, cost: i64) -> Spec {
        let spec = Spec::new(self.settings.local_search, self.problem.n(), (chains, trials), starts, cost);
        Spec { in_place: self.is_crossed && self.means.in_place && chains > 1, ..spec }
    }
}
