//! Settings of edge assembly crossover (Nagata and Kobayashi 2013).

use antwarp_core::eax::Selection;

use super::local_search::LocalSearch;

/// Everything a backend needs to know about a population.
#[derive(Clone, Debug)]
pub struct EaxSpec {
    /// Seed of the run.
    pub seed: u64,
    /// Tours in the population, at least 2.
    pub population: u32,
    /// Children of a pair of parents, at most.
    pub children: u32,
    /// Neighbours of a node that a sub-tour is joined to; at most as many as the problem has.
    pub breadth: u32,
    /// Which child takes its parent's place.
    pub selection: Selection,
    /// The operator that improves the first population, and the neighbours its second step looks at.
    pub local_search: (LocalSearch, u32),
    /// Generations without a better tour after which the population counts as exhausted; 0: never.
    pub patience: u32,
    /// Stop once a tour is not longer than this.
    pub target: i64,
}

/// How far a population is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EaxState {
    /// Tours of the first population that are built.
    pub built: u32,
    /// Generations done.
    pub generations: u32,
    /// The generation that found the best tour; 0: the first population.
    pub best_generation: u32,
    /// Tours that a child replaced in the last generation.
    pub replaced: u32,
    /// Length of the best tour.
    pub best_cost: i64,
    /// Mean length of the tours that are built.
    pub mean_cost: f64,
    /// Why to stop.
    pub done: Option<EaxEnd>,
}

/// Why there is nothing more to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EaxEnd {
    /// The target is reached.
    Target,
    /// All tours are equally long, or none got better for as long as patience lasts.
    Exhausted,
}
