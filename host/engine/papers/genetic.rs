//! Populations of tours, and their parameters: constructive crossovers (Kang et al. 2016), edge assembly crossover (Nagata and
//! Kobayashi 2013).

use antwarp_core::papers::ants::colony::ColonyState;
use antwarp_core::papers::genetic::GenerationRules;
use antwarp_core::papers::genetic::generation::method;
use serde::{Deserialize, Serialize};

use crate::{BackendError, Colony, Enough, LocalSearch, Problem, Sharing};

/// How children are created from their parents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Crossover {
    /// Sequential constructive crossover: the nearer of the next nodes in both parents.
    Scx,
    /// Bidirectional circular SCX: the nearest of the nodes next and before in both parents.
    Bcscx,
    /// Alternating recommendation crossover: the parents recommend in turn; two children per pair.
    Arx,
    /// One child by BCSCX and one by ARX.
    #[default]
    Hybrid,
    /// Edge assembly crossover (Nagata and Kobayashi 2013): one parent with a few edges of the other. CPU threads only.
    Eax,
}

impl Crossover {
    /// Returns the number of a constructive method.
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

/// How individuals are paired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Pairing {
    /// The same places in every generation, and every child starts at the same node, as in the paper.
    Fixed,
    /// Places and first nodes are drawn again in every generation.
    #[default]
    Shuffled,
}

/// Which winners of a group mate, with constructive crossovers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Partners {
    /// Every winner mates once, as in the paper's section 3.3.
    #[default]
    Pairs,
    /// Every winner mates with the next one, in a ring, and each pair has one child, as in the paper's algorithm 1.
    Ring,
}

/// How the first individuals are generated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Initial {
    /// Random tours.
    #[default]
    Random,
    /// Tours improved by local search, by 2-opt if children are not improved: random tours or, beyond 20,000 nodes, tours along
    /// space-filling curves.
    LocalOptima,
    /// Tours along Hilbert curves in random squares, improved by local search if children are improved.
    SpaceFilling,
    /// Tours of ants on fresh trails, improved by local search if children are improved.
    Ants,
    /// The tours of a file, unchanged.
    #[cfg_attr(feature = "cli", value(skip))]
    File,
}

/// Everything a backend needs to know about a population.
#[derive(Clone, Debug)]
pub struct GeneticSpec {
    /// Seed of the run.
    pub seed: u64,
    /// How children are created.
    pub crossover: Crossover,
    /// Number of individuals, which are tours, in all groups together.
    pub individuals: u32,
    /// Number of groups of equal size, a multiple of 4; with edge assembly crossover, of any size.
    pub groups: u32,
    /// Number of generations between transfers of groups' best individuals; 0: never.
    pub transfer_every: u32,
    /// With edge assembly crossover: number of children from which the best one is chosen, repeatedly.
    pub children: u32,
    /// Probability that a child mutates, in units of 2^-32.
    pub mutation: u32,
    /// How individuals are paired.
    pub pairing: Pairing,
    /// Which winners mate.
    pub partners: Partners,
    /// Whether each group's best individual is improved slightly in each generation, if edges are undirected.
    pub improve_best: bool,
    /// How the first individuals are generated.
    pub initial: Initial,
    /// The local search that improves children.
    pub local_search: LocalSearch,
    /// Neighbours that the second step of its moves evaluates.
    pub breadth: u32,
    /// Stop once the internal cost of an individual is at most this.
    pub target: i64,
    /// Number of generations that preceded the first individuals.
    pub first_generation: u32,
}

impl GeneticSpec {
    /// Returns the rules of a generation, the `since`-th since the host last checked; `unfinished` if local search follows.
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
            ring: (self.partners == Partners::Ring).into(),
        }
    }

    /// Returns whether groups send their best individuals to others after this generation.
    pub fn transfers(&self, generation: u32) -> bool {
        self.groups > 1 && self.transfer_every > 0 && generation.is_multiple_of(self.transfer_every)
    }

    /// Returns whether the first individuals are improved by local search, by 2-opt if children are not.
    pub fn descends_first(&self) -> bool {
        match self.initial {
            Initial::Random | Initial::SpaceFilling | Initial::Ants => self.local_search != LocalSearch::None,
            Initial::LocalOptima => true,
            Initial::File => false,
        }
    }

    /// Returns the name of the variant.
    pub fn variant(&self) -> String {
        let search = self.local_search.suffix();
        let ring = if self.partners == Partners::Ring { "-Ring" } else { "" };
        format!("GA-{:?}-{:?}{ring}{search}", self.crossover, self.pairing)
    }
}

/// The initial individuals of a population.
#[derive(Clone, Debug)]
pub enum FirstIndividuals {
    /// Random tours, generated on the backend.
    Random,
    /// These tours, concatenated, in the problem's numbering.
    Given(Vec<u32>),
}

impl FirstIndividuals {
    /// Checks that given tours are as many as the population has individuals, of nodes that exist.
    ///
    /// # Errors
    /// [`BackendError::Population`] if not.
    pub fn check(&self, problem: &Problem, spec: &GeneticSpec) -> Result<(), BackendError> {
        let (n, tours) = (problem.n(), spec.individuals);
        let FirstIndividuals::Given(given) = self else { return Ok(()) };
        let is_whole = given.len() == n as usize * tours as usize && given.iter().all(|&node| node < n);
        if is_whole { Ok(()) } else { Err(BackendError::Population { tours, nodes: n }) }
    }
}

/// A population of individuals, which are tours. Its iterations are generations; [`ColonyState::iteration_cost`] is the mean length
/// of its individuals.
pub trait Population: Colony {
    /// Returns the number of places for individuals.
    fn places(&self) -> u32;

    /// Returns the individual at a place, in the problem's numbering.
    ///
    /// # Errors
    /// If it cannot be copied from the device.
    ///
    /// # Panics
    /// If there is no such place.
    fn individual(&mut self, place: u32) -> Result<Vec<u32>, BackendError>;

    /// Returns the length of the individual at each place; `i64::MAX` if there is none because the first generation was stopped
    /// early.
    ///
    /// # Errors
    /// If they cannot be copied from the device.
    fn costs(&mut self) -> Result<Vec<i64>, BackendError>;

    /// Runs a generation of a population that other runs have as well, with the same results: each computes a part of it, if
    /// possible.
    ///
    /// # Errors
    /// As [`Colony::run`].
    fn run_shared(&mut self, sharing: &mut dyn Sharing, enough: Enough) -> Result<ColonyState, BackendError> {
        let _ = sharing;
        self.run(1, enough)
    }

    /// Runs this many generations, or ends sooner once the individuals cannot improve any more, as quickly as possible: the result may
    /// depend on which thread is faster.
    ///
    /// # Errors
    /// As [`Colony::run`].
    fn run_freely(&mut self, generations: u32, enough: Enough) -> Result<ColonyState, BackendError> {
        self.run(generations, enough)
    }

    /// Returns whether its individuals cannot improve any more: it will restart with the next generation.
    fn is_exhausted(&self) -> bool {
        false
    }
}
