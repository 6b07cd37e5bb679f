//! A genetic algorithm with constructive crossovers (Kang et al. 2016): settings, and what a backend needs to know.

use std::time::Instant;

use antwarp_core::genetic::Rules;
use antwarp_core::genetic::generation::method;
use antwarp_core::local_search::chain::FEWEST;
use serde::{Deserialize, Serialize};

use super::local_search::{LocalSearch, MOST_NEIGHBORS};
use super::problem::Problem;
use super::stop::Stop;
use super::{Progress, Solution, SolveError, check_kind, colony, exhaustive};
use crate::backend::{Backend, Population};
use crate::instance::Instance;

/// How children are made of their parents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
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
}

impl Crossover {
    fn method(self) -> u32 {
        match self {
            Crossover::Scx => method::SCX,
            Crossover::Bcscx => method::BCSCX,
            Crossover::Arx => method::ARX,
            Crossover::Hybrid => method::HYBRID,
        }
    }
}

/// Who meets whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Pairing {
    /// The same places in every generation, and every child begins with the same node, as in the paper.
    Fixed,
    /// Places and first nodes drawn anew for every generation.
    #[default]
    Shuffled,
}

/// What the first genes are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Initial {
    /// Random tours.
    #[default]
    Random,
    /// Random tours and local search.
    LocalOptima,
    /// Tours of ants on fresh trails, and local search if there is one.
    Ants,
}

/// What a user can set. `None` means: choose for me.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Seed of all random numbers.
    pub seed: u64,
    /// How children are made.
    pub crossover: Crossover,
    /// Genes.
    pub population: Option<u32>,
    /// Groups that evolve on their own.
    pub groups: u32,
    /// Generations between transfers of a group's best gene to another group; 0: never.
    pub transfer_every: u32,
    /// Share of the children that mutate.
    pub mutation: f64,
    /// Who meets whom.
    pub pairing: Pairing,
    /// What the first genes are.
    pub initial: Initial,
    /// What improves children.
    pub local_search: LocalSearch,
    /// Neighbours of a node in it.
    pub neighbors: u32,
    /// Neighbours that the second step of its moves looks at.
    pub breadth: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            seed: 1,
            crossover: Crossover::default(),
            population: None,
            groups: 8,
            transfer_every: 20,
            mutation: 0.1,
            pairing: Pairing::default(),
            initial: Initial::default(),
            local_search: LocalSearch::None,
            neighbors: 8,
            breadth: 5,
        }
    }
}

/// Genes unless the user says otherwise.
const GENES: u32 = 2048;
/// Most genes, so that their numbers stay far inside 32 bits.
const MOST_GENES: u32 = 1 << 20;

impl Settings {
    /// Checks every setting's range.
    pub fn check(&self) -> Result<(), SolveError> {
        let fail = |what: String| Err(SolveError::Settings(what));
        let genes = self.genes();
        if self.groups == 0 || !genes.is_multiple_of(4 * self.groups) || !(4..=MOST_GENES).contains(&genes) {
            return fail(format!(
                "--population must be a multiple of 4 times --groups, at most {MOST_GENES}: {genes} genes are no \
                 {} groups of equal size",
                self.groups
            ));
        }
        if !(0.0..=1.0).contains(&self.mutation) {
            return fail("--mutation, the share of children that mutate, must be between 0 and 1".into());
        }
        if self.neighbors == 0 || self.neighbors > MOST_NEIGHBORS {
            return fail(format!("--neighbors must be 1 to {MOST_NEIGHBORS}"));
        }
        if self.breadth == 0 || self.breadth > MOST_NEIGHBORS {
            return fail(format!("--breadth must be 1 to {MOST_NEIGHBORS}"));
        }
        Ok(())
    }

    /// Genes of the population.
    pub fn genes(&self) -> u32 {
        self.population.unwrap_or(GENES)
    }

    /// The population's layout for a problem.
    pub fn spec(&self, problem: &Problem, stop: &Stop) -> GeneticSpec {
        GeneticSpec {
            seed: self.seed,
            crossover: self.crossover,
            genes: self.genes(),
            groups: self.groups,
            transfer_every: self.transfer_every,
            mutation: (self.mutation * f64::from(u32::MAX)) as u32,
            pairing: self.pairing,
            initial: self.initial,
            local_search: if problem.n() < FEWEST { LocalSearch::None } else { self.local_search },
            breadth: self.breadth.min(problem.search_k()),
            target: stop.target.unwrap_or(i64::MIN),
            first_generation: 0,
        }
    }
}

/// Everything a backend needs to know about a population.
#[derive(Clone, Debug)]
pub struct GeneticSpec {
    /// Seed of the run.
    pub seed: u64,
    /// How children are made.
    pub crossover: Crossover,
    /// Genes.
    pub genes: u32,
    /// Groups of equal size, a multiple of 4.
    pub groups: u32,
    /// Generations between transfers; 0: never.
    pub transfer_every: u32,
    /// Probability that a child mutates, in units of 2^-32.
    pub mutation: u32,
    /// Who meets whom.
    pub pairing: Pairing,
    /// What the first genes are.
    pub initial: Initial,
    /// What improves children.
    pub local_search: LocalSearch,
    /// Neighbours that the second step of its moves looks at.
    pub breadth: u32,
    /// Stop once a gene is not longer than this.
    pub target: i64,
    /// Generations that the first genes have behind them.
    pub first_generation: u32,
}

impl GeneticSpec {
    /// The rules of a generation, the `since`-th since the host looked; `unfinished` if local search follows.
    pub fn rules(&self, problem: &Problem, generation: u32, since: u32, unfinished: bool) -> Rules {
        Rules {
            seed: self.seed,
            target: self.target,
            n: problem.n(),
            group: self.genes / self.groups,
            groups: self.groups,
            method: self.crossover.method(),
            mutation: self.mutation,
            shuffled: (self.pairing == Pairing::Shuffled).into(),
            generation,
            since,
            directed: problem.is_directed().into(),
            unfinished: unfinished.into(),
        }
    }

    /// Whether groups send their best genes to others after this generation.
    pub fn transfers(&self, generation: u32) -> bool {
        self.groups > 1 && self.transfer_every > 0 && generation.is_multiple_of(self.transfer_every)
    }

    /// Whether the first genes go through local search; by 2-opt if children do not.
    pub fn descends_first(&self) -> bool {
        let fresh = self.first_generation == 0;
        fresh
            && match self.initial {
                Initial::Random => self.local_search != LocalSearch::None,
                Initial::LocalOptima => true,
                Initial::Ants => self.local_search != LocalSearch::None,
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
pub enum FirstGenes {
    /// Random tours, made where the population lives.
    Random,
    /// These, one after the other, in the problem's numbering.
    Given(Vec<u32>),
}

/// What happens to a population when a run ends: saving it, say. The second value is the number of generations.
pub type Keep<'a> = &'a mut dyn FnMut(&Problem, &mut dyn Population, u64) -> Result<(), SolveError>;

/// Solves an instance. `observe` is called after each batch of generations, `keep` at the end.
///
/// # Errors
/// If a setting is out of range, the instance is of a kind that cannot be solved, or the backend fails before there is a
/// tour. A failure after that ends the run early and is told in the solution.
pub fn solve(
    instance: &Instance,
    settings: &Settings,
    backend: &Backend,
    stop: &Stop,
    observe: &mut dyn FnMut(&Progress),
) -> Result<Solution, SolveError> {
    let start = Instant::now();
    settings.check()?;
    check_kind(instance, "GA")?;
    colony::check_local_search(instance, settings.local_search)?;
    if instance.len() <= 3 {
        return exhaustive(instance, start);
    }
    let problem = Problem::new(instance, Some(1), settings.neighbors);
    let spec = settings.spec(&problem, stop);
    let mut population = backend.population(&problem, &spec, FirstGenes::Random)?;
    let children = spec.rules(&problem, 1, 1, false).children();
    colony::run(instance, &problem, (start, children), population.as_mut(), backend, stop, observe)
}
