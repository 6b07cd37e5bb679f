//! What a colony of Ant Colony System needs to know (Skinderowicz 2016).

use antwarp_core::papers::ants::acs::Rule;
use antwarp_core::papers::ants::colony::ColonyRules;
use antwarp_core::papers::ants::construct::row_stride;
use antwarp_core::papers::ants::pheromone::matrix::FAR;
use antwarp_core::papers::ants::pheromone::selective::stride;
use serde::{Deserialize, Serialize};

use crate::engine::{LocalSearch, Problem};

/// Which edges have a trail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Pheromone {
    /// All n x n.
    Matrix,
    /// Those to candidates.
    Candidate,
    /// The few that each node's ring took in last.
    #[default]
    Selective,
}

/// Which edges a selective memory takes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Remember {
    /// Those of best tours. Others that ants take have the lowest trail, in a ring or not.
    Best,
    /// Every edge that an ant takes, too (Skinderowicz 2016, figure 5).
    Taken,
}

/// What a greedy step at a node of a selective memory chooses among.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Greedy {
    /// The open candidates (Skinderowicz 2016, figure 3).
    Candidates,
    /// These, and all other edges that the node remembers, as the author's program does.
    #[default]
    Remembered,
}

/// How the ants of an iteration go, and with it how their updates of trails meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Update {
    /// Step by step, one ant after the other, on one CPU thread: the sequential algorithm.
    Sequential,
    /// Step by step, all ants together; no update is lost.
    Atomic,
    /// Each ant its whole tour; ants that meet may lose an update.
    #[default]
    Relaxed,
}

/// Local updates that leave of a trail nearly nothing, times the share that each replaces: e^-8 of it is left.
const WORN: f64 = 8.0;
/// Everything a backend needs to know about a colony.
#[derive(Clone, Copy, Debug)]
pub struct AcsSpec {
    /// Seed of the run.
    pub seed: u64,
    /// Ants: tours an iteration.
    pub ants: u32,
    /// The algorithm's constants.
    pub rule: Rule,
    /// Which edges have a trail.
    pub pheromone: Pheromone,
    /// Edges that a node of a selective memory remembers.
    pub slots: u32,
    /// How updates meet.
    pub update: Update,
    /// Relaxed or sequential, on the CPU: counts how often a trail that is updated is in its selective memory.
    pub counts_hits: bool,
    /// Atomic, on a GPU: a launch for each choice and for each update, and what ants know in global memory, to see what a
    /// launch for all of them is worth.
    pub each_phase: bool,
    /// What improves the ants' tours.
    pub local_search: LocalSearch,
    /// Neighbours that the second step of its moves looks at.
    pub breadth: u32,
    /// Constants between iterations.
    pub rules: ColonyRules,
}

impl AcsSpec {
    /// Whether ants on a GPU see each other's updates at once. If all ants of an iteration would wear down the trail of
    /// an edge that they all take to nearly nothing, it is better that they do not: a multiprocessor's ants then see,
    /// mostly, their own updates only, until the iteration ends. So it is with rings that every edge refills.
    pub fn is_fresh(&self) -> bool {
        let worn = f64::from(self.ants) * f64::from(self.rule.local) / f64::from(self.rule.period.max(1));
        let refills = self.pheromone == Pheromone::Selective && self.rule.passing != 0;
        !refills && worn <= WORN
    }

    /// The pheromone memory's bytes of trails, and its words beside them.
    pub fn memory(&self, problem: &Problem) -> (usize, usize) {
        let (n, listed) = (problem.n() as usize, problem.lists().len());
        match self.pheromone {
            Pheromone::Matrix => (4 * (listed + n * row_stride(problem.n()) as usize), n * FAR as usize),
            Pheromone::Candidate => (4 * listed, 0),
            Pheromone::Selective => (8 * n * stride(self.slots) as usize, n),
        }
    }

    /// The pheromone memory's bytes.
    pub fn memory_bytes(&self, problem: &Problem) -> usize {
        let (bytes, words) = self.memory(problem);
        bytes + 4 * words
    }

    /// The form by name.
    pub fn variant(&self) -> String {
        let search = self.local_search.kernel_name().map_or_else(String::new, |name| format!(" with {name}"));
        let rings = match (self.pheromone, self.rule.passing) {
            (Pheromone::Selective, 0) => " of best tours",
            (Pheromone::Selective, _) => " of edges taken",
            _ => "",
        };
        let period = match self.rule.period {
            0 => ", no local updates".to_owned(),
            1 => String::new(),
            period => format!(", updates of one edge in {period}"),
        };
        format!("ACS-{:?}-{:?}{rings}{search}{period}", self.pheromone, self.update)
    }
}
