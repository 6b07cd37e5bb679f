//! Populations of tours, and what they need to know: constructive crossovers (Kang et al. 2016), edge assembly crossover
//! (Nagata and Kobayashi 2013).

use antwarp_core::papers::ants::colony::ColonyState;
use antwarp_core::papers::genetic::GenerationRules;
use antwarp_core::papers::genetic::generation::method;
use serde::{Deserialize, Serialize};

use crate::engine::{BackendError, Colony, Enough, LocalSearch, Problem, Sharing};

/// How children are made of their parents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Crossover {
    /// Sequential constructive crossover: the nearer of the next nodes in both parents.
    Scx,
    /// Bidirectional circular SCX: the nearest of the nodes next and before in both parents.
    Bcscx,
    /// Alternating recommendation crossover: the parents recommend in turn; two children a pair.
    Arx,
    /// A child by BCSCX and one by ARX.
    #[default]
    Hybrid,
    /// Edge assembly crossover (Nagata and Kobayashi 2013): one parent with a few edges of the other. CPU threads only.
    Eax,
}

impl Crossover {
    /// The method among the constructive ones.
    fn method(self) -> Option<u32> {
        match self {
            Crossover::Scx => Some(method::SCX),
            Crossover::Bcscx => Some(method::BCSCX),
            Crossover::Arx => Some(method::ARX),
            Crossover::Hybrid => Some(method::HYBRID),
            Crossover::Eax => None,
        }
    }
}

/// Who meets whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Pairing {
    /// The same places in every generation, and every child begins with the same node, as in the paper.
    Fixed,
    /// Places and first nodes drawn anew for every generation.
    #[default]
    Shuffled,
}

/// What the first individuals are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Initial {
    /// Random tours.
    #[default]
    Random,
    /// Tours improved by local search, by 2-opt if children are not: random ones, or, beyond 20,000 nodes, those along
    /// space-filling curves.
    LocalOptima,
    /// Tours along Hilbert curves in random squares, improved by local search if children are.
    SpaceFilling,
    /// Tours of ants on fresh trails, improved by local search if children are.
    Ants,
    /// Those of a file, as they are.
    #[cfg_attr(feature = "cli", value(skip))]
    File,
}

/// Everything a backend needs to know about a population.
#[derive(Clone, Debug)]
pub struct GeneticSpec {
    /// Seed of the run.
    pub seed: u64,
    /// How children are made.
    pub crossover: Crossover,
    /// Individuals.
    pub individuals: u32,
    /// Groups of equal size, a multiple of 4; any size with edge assembly crossover.
    pub groups: u32,
    /// Generations between transfers; 0: never.
    pub transfer_every: u32,
    /// Of edge assembly crossover: children of which the best one is made, again and again.
    pub children: u32,
    /// Probability that a child mutates, in units of 2^-32.
    pub mutation: u32,
    /// Who meets whom.
    pub pairing: Pairing,
    /// Each group's best individual is improved a little in each generation, if edges have no direction.
    pub improve_best: bool,
    /// What the first individuals are.
    pub initial: Initial,
    /// What improves children.
    pub local_search: LocalSearch,
    /// Neighbours that the second step of its moves looks at.
    pub breadth: u32,
    /// Stop once an individual is not longer than this.
    pub target: i64,
    /// Generations that the first individuals have behind them.
    pub first_generation: u32,
}

impl GeneticSpec {
    /// The rules of a generation, the `since`-th since the host looked; `unfinished` if local search follows.
    pub fn rules(&self, problem: &Problem, generation: u32, since: u32, unfinished: bool) -> GenerationRules {
        GenerationRules {
            seed: self.seed,
            target: self.target,
            n: problem.n(),
            group: self.individuals / self.groups,
            groups: self.groups,
            method: self.crossover.method().unwrap_or_default(),
            mutation: self.mutation,
            shuffled: (self.pairing == Pairing::Shuffled).into(),
            generation,
            since,
            directed: problem.is_directed().into(),
            unfinished: unfinished.into(),
            window: if self.improve_best && !problem.is_directed() { problem.n().isqrt() } else { 0 },
            padding: 0,
        }
    }

    /// Whether groups send their best individuals to others after this generation.
    pub fn transfers(&self, generation: u32) -> bool {
        self.groups > 1 && self.transfer_every > 0 && generation.is_multiple_of(self.transfer_every)
    }

    /// Whether the first individuals go through local search; by 2-opt if children do not.
    pub fn descends_first(&self) -> bool {
        match self.initial {
            Initial::Random | Initial::SpaceFilling | Initial::Ants => self.local_search != LocalSearch::None,
            Initial::LocalOptima => true,
            Initial::File => false,
        }
    }

    /// The crossover by name.
    pub fn variant(&self) -> String {
        let search = self.local_search.kernel_name().map_or_else(String::new, |name| format!(" with {name}"));
        format!("GA-{:?}-{:?}{search}", self.crossover, self.pairing)
    }
}

/// What a population begins with.
#[derive(Clone, Debug)]
pub enum FirstIndividuals {
    /// Random tours, made where the population lives.
    Random,
    /// These, one after the other, in the problem's numbering.
    Given(Vec<u32>),
}

/// A population of individuals, which are tours. Its iterations are generations; [`ColonyState::iteration_cost`] is the mean
/// length of its individuals.
pub trait Population: Colony {
    /// Number of places for individuals.
    fn places(&self) -> u32;

    /// The individual at a place, in the problem's numbering.
    ///
    /// # Errors
    /// If it cannot be brought back from the device.
    ///
    /// # Panics
    /// If there is no such place.
    fn individual(&mut self, place: u32) -> Result<Vec<u32>, BackendError>;

    /// Returns the length of the individual at each place; `i64::MAX` if there is none because the first generation was stopped
    /// early.
    ///
    /// # Errors
    /// If they cannot be brought back from the device.
    fn costs(&mut self) -> Result<Vec<i64>, BackendError>;

    /// A generation of a population that other runs have as well, which come to the same: each makes a part of it, where that is possible.
    ///
    /// # Errors
    /// As [`Colony::run`].
    fn run_shared(&mut self, sharing: &mut dyn Sharing, enough: Enough) -> Result<ColonyState, BackendError> {
        let _ = sharing;
        self.run(1, enough)
    }

    /// Whether nothing can come of its individuals any more: with the next generation it begins anew.
    fn is_exhausted(&self) -> bool {
        false
    }
}
