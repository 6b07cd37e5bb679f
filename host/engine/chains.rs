//! Chains of iterated local search in tiles, and what they need to know.

use antwarp_core::local_search::chain::Accept;
use antwarp_core::local_search::chains::ChainsState;

use super::{BackendError, Enough, LocalSearch};

/// Everything a backend needs to know about the chains of a run.
#[derive(Clone, Debug)]
pub struct ChainsSpec {
    /// Seed of the run.
    pub seed: u64,
    /// The operator.
    pub local_search: LocalSearch,
    /// Number of chains.
    pub chains: u32,
    /// Tiles of a chain.
    pub tiles: u32,
    /// Nodes that a descent looks at together.
    pub width: u32,
    /// Neighbours that the second step of a move looks at.
    pub breadth: u32,
    /// Longest segment of a double bridge; 0: four edges anywhere.
    pub segment: u32,
    /// When a tour is accepted.
    pub accept: Accept,
    /// Stop once a tour is not longer than this.
    pub target: i64,
    /// Length of the tour that every chain begins with: that of the problem's numbering.
    pub start_cost: i64,
    /// Partitions into cells, [`cells::partition`](super::cells::partition); none where nodes have no places in a plane.
    pub cells: Vec<Vec<u32>>,
}

/// One pass over all tiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Its number, from 0.
    pub number: u32,
    /// Kicks of every tile.
    pub kicks: u32,
    /// Mean of what a tour may get longer.
    pub temperature: f32,
    /// The tiles: cells of this partition, or windows from this position on.
    pub tiles: Tiling,
    /// A descent from every node comes first.
    pub descend_first: bool,
    /// Chains whose numbers differ by this bit meet in a tournament afterwards; 0: none do.
    pub rival_bit: u32,
}

/// How a tour is cut into tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiling {
    /// Nodes in a row, from this position on.
    Windows(u32),
    /// Nodes near each other, by the partition of this number.
    Cells(usize),
}

/// Chains of iterated local search where they live.
pub trait Chains {
    /// Runs these rounds, fewer if the target is reached; the state afterwards.
    ///
    /// Where a round can take long, `enough` is asked now and then whether to end it early.
    fn run(&mut self, rounds: &[Round], enough: Enough) -> Result<ChainsState, BackendError>;

    /// Kicks of all chains that were left out of the last of these rounds, because `enough` said so.
    fn kicks_left_out(&self) -> u64 {
        0
    }

    /// The best tour so far, in the problem's numbering.
    ///
    /// # Errors
    /// If it cannot be brought back from the device.
    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError>;

    /// How the chains were laid out.
    fn describe(&self) -> String;
}
