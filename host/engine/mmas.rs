//! What a colony of MAX-MIN Ant System needs to know (Skinderowicz 2020).

use antwarp_core::colony::{ColonyRules, Limits};
use antwarp_core::construct::row_stride;
use serde::{Deserialize, Serialize};

use super::{LocalSearch, Problem};

/// How an ant chooses its next node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Selection {
    /// Weighted reservoir sampling.
    #[default]
    Wrs,
    /// Roulette wheel.
    Rwm,
}

/// How an ant remembers the nodes it has visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum TabuKind {
    /// List compression: a list of the unvisited nodes and everyone's place in it.
    List,
    /// Compact tabu: both in one list.
    Compact,
    /// One bit a node.
    #[default]
    Bitmask,
}

/// Everything a backend needs to know about a colony.
#[derive(Clone, Copy, Debug)]
pub struct ColonySpec {
    /// Seed of the run.
    pub seed: u64,
    /// Ants: tours an iteration.
    pub ants: u32,
    /// Exponent of the trail.
    pub alpha: f32,
    /// Exponent of the heuristic value.
    pub beta: f32,
    /// Node selection.
    pub selection: Selection,
    /// Tabu.
    pub tabu: TabuKind,
    /// Warps an ant; `None`: to be measured.
    pub warps: Option<u32>,
    /// The best tour of all deposits every so many iterations; 0: never.
    pub deposit_best_every: u32,
    /// What improves the ants' tours.
    pub local_search: LocalSearch,
    /// Neighbours that the second step of its moves looks at.
    pub breadth: u32,
    /// Constants between iterations.
    pub rules: ColonyRules,
}

impl ColonySpec {
    /// The selection and the tabu by name.
    pub fn variant(&self) -> String {
        let search = self.local_search.kernel_name().map_or_else(String::new, |name| format!(" with {name}"));
        format!("MMAS-{:?}-{:?}{search}", self.selection, self.tabu)
    }

    /// Whether the best tour of all deposits in an iteration.
    pub fn deposits_best(&self, iteration: u32) -> bool {
        self.deposit_best_every > 0 && (iteration + 1).is_multiple_of(self.deposit_best_every)
    }

    /// Entries of each table of the pheromone memory.
    pub fn entries(&self, problem: &Problem) -> usize {
        let stride = if problem.k() == 0 { row_stride(problem.n()) } else { problem.k() };
        problem.n() as usize * stride as usize
    }

    /// The trails' bounds before the first tour: those of the nearest-neighbour tour.
    pub fn initial_limits(&self, problem: &Problem) -> Limits {
        self.rules.limits(problem.unit_cost(), problem.unit_cost())
    }
}
