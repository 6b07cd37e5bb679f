//! Parameters of a colony of MAX-MIN Ant System (Skinderowicz 2020).

use antwarp_core::papers::ants::colony::{ColonyRules, Depositor, Limits};
use antwarp_core::papers::ants::construct::row_stride;
use antwarp_core::rng::Stream;
use serde::{Deserialize, Serialize};

use crate::{LocalSearch, Problem};

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
    /// List compression: a list of the unvisited nodes and each node's place in it.
    List,
    /// Compact tabu: both in one list.
    Compact,
    /// One bit per node.
    #[default]
    Bitmask,
}

/// Which tour deposits pheromone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Deposit {
    /// The iteration's best.
    Iteration,
    /// The global best.
    Best,
    /// The best since the last reset of the trails.
    Restart,
    /// One of the three, drawn in each iteration: 10 % the iteration's best, 9 % the global best, 81 % the best since the reset.
    Mixed,
}

/// The fraction of the range from a node's least to its greatest trail from which on an edge counts as a branch.
const BRANCHING: f32 = 0.05;

/// Number of trails sampled for the branching factor: as many as a GPU can transfer in a few milliseconds.
const SAMPLE: usize = 1 << 22;

/// Everything a backend needs to know about a colony.
#[derive(Clone, Copy, Debug)]
pub struct ColonySpec {
    /// Seed of the run.
    pub seed: u64,
    /// Number of ants, which is the number of tours per iteration.
    pub ants: u32,
    /// Exponent of the pheromone trail of an edge.
    pub alpha: f32,
    /// Exponent of the heuristic value of an edge.
    pub beta: f32,
    /// How an ant chooses its next node.
    pub selection: Selection,
    /// How an ant remembers visited nodes.
    pub tabu: TabuKind,
    /// Warps per ant; `None`: to be measured.
    pub warps: Option<u32>,
    /// Which tour deposits pheromone.
    pub deposit: Deposit,
    /// The local search that improves the ants' tours.
    pub local_search: LocalSearch,
    /// Neighbours that the second step of its moves evaluates.
    pub breadth: u32,
    /// Constants between iterations.
    pub rules: ColonyRules,
}

impl ColonySpec {
    /// Returns the name of the variant: selection and tabu.
    pub fn variant(&self) -> String {
        let search = self.local_search.suffix();
        format!("MMAS-{:?}-{:?}{search}", self.selection, self.tabu)
    }

    /// Returns the tour that deposits pheromone in an iteration.
    pub fn depositor(&self, iteration: u32) -> Depositor {
        match self.deposit {
            Deposit::Iteration => Depositor::Iteration,
            Deposit::Best => Depositor::Best,
            Deposit::Restart => Depositor::Restart,
            Deposit::Mixed => {
                // No ant has this number.
                match Stream::new(self.seed, iteration, u32::MAX).step(0).below(0, 100) {
                    0..10 => Depositor::Iteration,
                    10..19 => Depositor::Best,
                    _ => Depositor::Restart,
                }
            }
        }
    }

    /// Returns the number of entries in each table of the pheromone memory.
    pub fn entries(&self, problem: &Problem) -> usize {
        problem.n() as usize * self.stride(problem) as usize
    }

    /// Returns the number of entries per row, which is per node.
    fn stride(&self, problem: &Problem) -> u32 {
        if problem.k() == 0 { row_stride(problem.n()) } else { problem.k() }
    }

    /// Returns the mean lambda-branching factor, from the trails of the first nodes: the number of edges of a node whose trail
    /// exceeds 5 % of the range from its least to its greatest one (L. M. Gambardella, M. Dorigo, "Ant-Q", ICML 1995). It is 2 if
    /// all ants build the same tour (1 if edges are directed), and the number of choices if all trails are equal.
    pub fn branching_factor(&self, problem: &Problem, trails: &[f32]) -> f64 {
        let (is_full, stride) = (problem.k() == 0, self.stride(problem) as usize);
        let counted = |(node, row): (usize, &[f32])| {
            // In a matrix there is an entry for the node itself, and padding after the last one.
            let edges = || {
                let edge = move |k: usize| !is_full || k != node && k < problem.n() as usize;
                row.iter().enumerate().filter(move |(k, _)| edge(*k)).map(|(_, &trail)| trail)
            };
            let (least, most) = edges().fold((f32::MAX, 0.0f32), |(a, b), t| (a.min(t), b.max(t)));
            edges().filter(|&trail| trail >= least + BRANCHING * (most - least)).count()
        };
        let rows = trails.len() / stride;
        trails.chunks_exact(stride).enumerate().map(counted).sum::<usize>() as f64 / rows.max(1) as f64
    }

    /// Returns the maximum number of trails sampled for the [branching factor](ColonySpec::branching_factor).
    pub fn sampled(&self, problem: &Problem) -> usize {
        let stride = self.stride(problem) as usize;
        self.entries(problem).min((SAMPLE / stride).max(1) * stride)
    }

    /// Returns the bounds of trails before the first tour: those of the nearest-neighbour tour.
    pub fn initial_limits(&self, problem: &Problem) -> Limits {
        self.rules.limits(problem.unit_cost(), problem.unit_cost())
    }
}
