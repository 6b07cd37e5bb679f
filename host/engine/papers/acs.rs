//! Parameters of a colony of Ant Colony System (Skinderowicz 2016).

use antwarp_core::papers::ants::acs::Rule;
use antwarp_core::papers::ants::colony::ColonyRules;
use antwarp_core::papers::ants::construct::row_stride;
use antwarp_core::papers::ants::pheromone::matrix::FAR;
use antwarp_core::papers::ants::pheromone::selective::{IS_FAR, stride};
use antwarp_core::papers::ants::tabu::NONE;
use serde::{Deserialize, Serialize};

use crate::{BackendError, LocalSearch, Problem, State};

/// Which edges have a trail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Pheromone {
    /// All n x n.
    Matrix,
    /// Only the edges to candidates.
    Candidate,
    /// The few edges that were last added to each node's ring.
    #[default]
    Selective,
}

/// Which edges are added to a selective memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Remember {
    /// Edges of best tours. Other edges that ants take have the lowest trail, in a ring or not.
    Best,
    /// Also every edge that an ant takes (Skinderowicz 2016, figure 5).
    Taken,
}

/// Which edges a greedy step chooses from, at a node with a selective memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Greedy {
    /// The open candidates (Skinderowicz 2016, figure 3).
    Candidates,
    /// The open candidates and all other edges that the node remembers, as in the author's program.
    #[default]
    Remembered,
}

/// How the ants of an iteration proceed, and thus how their trail updates interact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Update {
    /// Step by step, one ant after the other, on one CPU thread: the sequential algorithm.
    Sequential,
    /// Step by step, all ants together; no update is lost.
    Atomic,
    /// Each ant builds its whole tour; updates may be lost if ants collide.
    #[default]
    Relaxed,
}

/// Number of local updates, times the fraction that each replaces, that leaves almost nothing of a trail: e^-8 of it.
const WORN: f64 = 8.0;
/// Everything a backend needs to know about a colony.
#[derive(Clone, Copy, Debug)]
pub struct AcsSpec {
    /// Seed of the run.
    pub seed: u64,
    /// Number of ants, which is the number of tours per iteration.
    pub ants: u32,
    /// The algorithm's constants.
    pub rule: Rule,
    /// Which edges have a trail.
    pub pheromone: Pheromone,
    /// Number of edges that a node remembers in a selective memory.
    pub slots: u32,
    /// How updates interact.
    pub update: Update,
    /// Relaxed or sequential, on the CPU: count how often an updated trail is in its selective memory.
    pub counts_hits: bool,
    /// Atomic, on a GPU: use one launch per choice and per update, and keep the state of ants in global memory, to measure the
    /// benefit of a single launch.
    pub each_phase: bool,
    /// The local search that improves the ants' tours.
    pub local_search: LocalSearch,
    /// Neighbours that the second step of its moves evaluates.
    pub breadth: u32,
    /// Constants between iterations.
    pub rules: ColonyRules,
}

impl AcsSpec {
    /// Returns whether ants on a GPU see each other's updates at once. If all ants of an iteration would wear down the trail of an
    /// edge that they all take to almost nothing, it is better that they do not: the ants of a multiprocessor then mostly see only
    /// their own updates until the iteration ends. The same applies to rings that every edge refills.
    pub fn is_fresh(&self) -> bool {
        let worn = f64::from(self.ants) * f64::from(self.rule.local) / f64::from(self.rule.period.max(1));
        let refills = self.pheromone == Pheromone::Selective && self.rule.passing != 0;
        !refills && worn <= WORN
    }

    /// Returns the number of bytes for trails in the pheromone memory, and of further words.
    pub fn memory(&self, problem: &Problem) -> (usize, usize) {
        let (n, listed) = (problem.n() as usize, problem.lists().len());
        match self.pheromone {
            Pheromone::Matrix => (4 * (listed + n * row_stride(problem.n()) as usize), n * FAR as usize),
            Pheromone::Candidate => (4 * listed, 0),
            Pheromone::Selective => (8 * n * stride(self.slots) as usize, n),
        }
    }

    /// Takes the contents of the pheromone memory from a state: the trails, as bytes, and the further words.
    ///
    /// # Errors
    /// If they are not those of such a memory.
    pub fn take_memory(
        &self,
        problem: &Problem,
        state: &mut State,
    ) -> Result<(Vec<u8>, Vec<u32>), BackendError> {
        let (bytes, words) = self.memory(problem);
        let (trails, words): (Vec<u8>, Vec<u32>) = (state.take_all(bytes)?, state.take_all(words)?);
        let n = problem.n();
        let number = |bytes: &[u8]| u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let is_trail = |bytes: &[u8]| {
            let trail = f32::from_bits(number(bytes));
            trail.is_finite() && trail >= 0.0
        };
        let are_right = match self.pheromone {
            Pheromone::Matrix => {
                let is_row = |row: &[u32]| row[0] <= FAR && row[1..].iter().all(|&node| node < n);
                trails.chunks_exact(4).all(is_trail) && words.chunks_exact(FAR as usize).all(is_row)
            }
            Pheromone::Candidate => trails.chunks_exact(4).all(is_trail),
            Pheromone::Selective => {
                // The node is in the lower half of a word of 64 bits.
                let [node, trail] = if cfg!(target_endian = "little") { [0, 4] } else { [4, 0] };
                let is_edge = |edge: &[u8]| {
                    let to = number(&edge[node..]);
                    (to < n || to == NONE) && is_trail(&edge[trail..])
                };
                trails.chunks_exact(8).all(is_edge) && words.iter().all(|tail| tail & !IS_FAR < self.slots)
            }
        };
        if are_right { Ok((trails, words)) } else { Err(BackendError::State) }
    }

    /// Returns the size of the pheromone memory in bytes.
    pub fn memory_bytes(&self, problem: &Problem) -> usize {
        let (bytes, words) = self.memory(problem);
        bytes + 4 * words
    }

    /// Returns the name of the variant.
    pub fn variant(&self) -> String {
        let search = self.local_search.suffix();
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
