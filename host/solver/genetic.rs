//! A genetic algorithm with constructive crossovers (Kang et al. 2016) or edge assembly crossover (Nagata and Kobayashi
//! 2013): settings, and what a backend needs to know.

use std::time::Instant;

use antwarp_core::colony::ColonyState;
use antwarp_core::genetic::Rules;
use antwarp_core::genetic::generation::method;
use antwarp_core::local_search::chain::FEWEST;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::local_search::{LocalSearch, MOST_NEIGHBORS};
use super::problem::Problem;
use super::start::{ants, hilbert_tours};
use super::stop::Stop;
use super::{Progress, Solution, SolveError, check_kind, checked_original, colony, exhaustive, verified};
use crate::backend::cpu::check_memory;
use crate::backend::{Backend, BackendError, Colony, Enough, Phases, Population};
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
    /// Tours improved by local search, by 2-opt if children are not: random ones, or, beyond 20,000 nodes, those along
    /// space-filling curves.
    LocalOptima,
    /// Tours along Hilbert curves in random squares, improved by local search if children are.
    SpaceFilling,
    /// Tours of ants on fresh trails, improved by local search if children are.
    Ants,
    /// Those of a file, as they are.
    #[value(skip)]
    File,
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
    /// Of edge assembly crossover: children of a pair of parents, at most; the best one takes a parent's place.
    pub children: u32,
    /// Share of the children that mutate; not of edge assembly crossover.
    pub mutation: f64,
    /// Who meets whom; not of edge assembly crossover.
    pub pairing: Pairing,
    /// What the first genes are.
    pub initial: Initial,
    /// Generations that the genes of a file have behind them; 0 unless there is one.
    pub first_generation: u32,
    /// What improves children; with edge assembly crossover, the first genes alone.
    pub local_search: LocalSearch,
    /// Neighbours of a node in it, and when edge assembly crossover joins sub-tours.
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
            children: CHILDREN,
            mutation: 0.1,
            pairing: Pairing::default(),
            initial: Initial::default(),
            first_generation: 0,
            local_search: LocalSearch::None,
            neighbors: 8,
            breadth: 5,
        }
    }
}

/// Most nodes of random tours that local search is to improve: beyond, reversals take too long.
const MOST_RANDOM: usize = 20_000;
/// Genes unless the user says otherwise.
const GENES: u32 = 2048;
/// The same with edge assembly crossover; the children of a pair there; and fewest genes of a group.
const EAX_GENES: u32 = 300;
const CHILDREN: u32 = 30;
const FEWEST_GENES: u32 = 8;
/// Most children of a pair.
const MOST_CHILDREN: u32 = 1 << 16;
/// Most genes, so that their numbers stay far inside 32 bits.
const MOST_GENES: u32 = 1 << 20;
/// Most generations that the genes of a file have behind them: their numbers stay far inside 32 bits, too.
const MOST_GENERATIONS: u32 = 1 << 30;

impl Settings {
    /// The settings of a crossover where nothing else is said.
    pub fn of(crossover: Crossover) -> Settings {
        let default = Settings { crossover, ..Settings::default() };
        match crossover {
            Crossover::Eax => {
                Settings { groups: 1, transfer_every: 0, initial: Initial::LocalOptima, ..default }
            }
            _ => default,
        }
    }

    /// Fewest nodes of an instance that generations are for; of smaller ones all tours are looked at.
    pub fn fewest_nodes(&self) -> usize {
        if self.crossover == Crossover::Eax { FEWEST as usize } else { 4 }
    }

    /// Checks every setting's range.
    pub fn check(&self) -> Result<(), SolveError> {
        let fail = |what: String| Err(SolveError::Settings(what));
        let genes = self.genes();
        if self.crossover == Crossover::Eax {
            let is_even = self.groups > 0 && genes.is_multiple_of(self.groups);
            if !is_even || genes / self.groups < FEWEST_GENES || genes > MOST_GENES {
                return fail(format!(
                    "--population must be a multiple of --groups, with {FEWEST_GENES} genes a group or more, at most \
                     {MOST_GENES}: {genes} genes are no {} such groups",
                    self.groups
                ));
            }
            if self.children == 0 || self.children > MOST_CHILDREN {
                return fail(format!("--children must be 1 to {MOST_CHILDREN}"));
            }
        } else if self.groups == 0
            || !genes.is_multiple_of(self.groups.saturating_mul(4))
            || !(4..=MOST_GENES).contains(&genes)
        {
            return fail(format!(
                "--population must be a multiple of 4 times --groups, at most {MOST_GENES}: {genes} genes are no \
                 {} groups of equal size",
                self.groups
            ));
        }
        if self.first_generation > MOST_GENERATIONS {
            return fail(format!("genes that are more than {MOST_GENERATIONS} generations old cannot go on"));
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
        self.population.unwrap_or(if self.crossover == Crossover::Eax { EAX_GENES } else { GENES })
    }

    /// The population's layout for a problem.
    pub fn spec(&self, problem: &Problem, stop: &Stop) -> GeneticSpec {
        // A few nodes have no moves of three edges to speak of, and no other tours than random ones.
        let is_small = problem.n() < FEWEST;
        let is_descent = self.initial == Initial::LocalOptima;
        GeneticSpec {
            seed: self.seed,
            crossover: self.crossover,
            genes: self.genes(),
            groups: self.groups,
            transfer_every: self.transfer_every,
            children: self.children,
            mutation: (self.mutation * f64::from(u32::MAX)) as u32,
            pairing: self.pairing,
            initial: if is_small && is_descent { Initial::Random } else { self.initial },
            local_search: if is_small { LocalSearch::None } else { self.local_search },
            breadth: self.breadth.min(problem.search_k()),
            target: stop.target.unwrap_or(i64::MIN),
            first_generation: self.first_generation,
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
    /// Groups of equal size, a multiple of 4; any size with edge assembly crossover.
    pub groups: u32,
    /// Generations between transfers; 0: never.
    pub transfer_every: u32,
    /// Of edge assembly crossover: children of a pair, at most.
    pub children: u32,
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
            method: self.crossover.method().unwrap_or_default(),
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
pub enum FirstGenes {
    /// Random tours, made where the population lives.
    Random,
    /// These, one after the other, in the problem's numbering.
    Given(Vec<u32>),
}

/// A population at the end of a run.
pub struct Genes<'a> {
    instance: &'a Instance,
    problem: &'a Problem,
    population: &'a mut dyn Population,
    backend: &'static str,
    generation: u32,
}

impl Genes<'_> {
    /// Generations that the genes have behind them, those before the run included.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// The length of each gene.
    ///
    /// # Errors
    /// If they cannot be brought back from the backend, or there is none at some place.
    pub fn lengths(&mut self) -> Result<Vec<i64>, SolveError> {
        let lengths = self.population.costs()?;
        let what = "a population that is not complete".to_string();
        let wrong = SolveError::Wrong { backend: self.backend, what };
        if lengths.contains(&i64::MAX) { Err(wrong) } else { Ok(lengths) }
    }

    /// The gene at a place in the instance's numbering, which is as long as it should be.
    ///
    /// # Errors
    /// If it cannot be brought back from the backend, is no tour, or has another length.
    pub fn gene(&mut self, place: u32, length: i64) -> Result<Vec<u32>, SolveError> {
        let gene = self.population.gene(place)?;
        let gene = checked_original(self.problem, &gene).ok_or_else(|| SolveError::Wrong {
            backend: self.backend,
            what: "a gene with a node that does not exist".to_string(),
        })?;
        verified(self.instance, self.backend, &gene, length)?;
        Ok(gene)
    }
}

/// What happens to a population when a run ends: saving it, say.
pub type Keep<'a> = &'a mut dyn FnMut(&Solution, &mut Genes<'_>);

/// The population as the loop sees it.
struct Generations<'a> {
    population: &'a mut dyn Population,
    /// A generation that has begun is finished whatever happens: one that is cut short has lost some of its parents.
    whole: bool,
    /// The first genes are all there is to do.
    none: bool,
}

impl Colony for Generations<'_> {
    fn run(&mut self, iterations: u32, enough: Enough) -> Result<ColonyState, BackendError> {
        let enough: Enough = if self.whole { &|| false } else { enough };
        self.population.run(if self.none { 0 } else { iterations }, enough)
    }

    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError> {
        self.population.best_tour()
    }

    fn phases(&mut self) -> Result<Phases, BackendError> {
        self.population.phases()
    }

    fn describe(&self) -> String {
        self.population.describe()
    }
}

/// Solves an instance. `observe` is called after each batch of generations, `keep` at the end; with it, a generation
/// that has begun is finished, whatever stops the run. With [`Initial::File`] the first genes are `given`, in the
/// instance's numbering, and repeated if they are fewer than the population has.
///
/// # Errors
/// If a setting is out of range, the instance is of a kind that cannot be solved, or the backend fails before there is a
/// tour. A failure after that ends the run early and is told in the solution.
pub fn solve(
    instance: &Instance,
    settings: &Settings,
    given: Option<Vec<u32>>,
    backend: &Backend,
    stop: &Stop,
    observe: &mut dyn FnMut(&Progress),
    keep: Option<Keep<'_>>,
) -> Result<Solution, SolveError> {
    let start = Instant::now();
    check_for(instance, settings)?;
    if instance.len() < settings.fewest_nodes() {
        return exhaustive(instance, start);
    }
    let problem = Problem::new(instance, Some(1), settings.neighbors);
    let spec = settings.spec(&problem, stop);
    let first = first_genes(instance, &problem, settings, given)?;
    let mut population = backend.population(&problem, &spec, first)?;
    // Of edge assembly crossover a pair counts as one.
    let children = match settings.crossover {
        Crossover::Eax => spec.genes,
        _ => spec.rules(&problem, 1, 1, false).children(),
    };
    let mut generations = Generations {
        population: population.as_mut(),
        whole: keep.is_some(),
        none: stop.iterations == Some(0),
    };
    let solution =
        colony::run(instance, &problem, (start, children), &mut generations, backend, stop, observe)?;
    let solution = Solution { best_iteration: solution.best_iteration.min(solution.iterations), ..solution };
    if let Some(keep) = keep {
        let mut genes = Genes {
            instance,
            problem: &problem,
            population: population.as_mut(),
            backend: backend.machine().backend,
            generation: settings.first_generation + solution.iterations as u32,
        };
        keep(&solution, &mut genes);
    }
    Ok(solution)
}

/// Refuses settings that are out of range, and instances that cannot be solved with them.
///
/// # Errors
/// Which, and what to do about it.
pub fn check_for(instance: &Instance, settings: &Settings) -> Result<(), SolveError> {
    settings.check()?;
    check_kind(instance, "GA")?;
    if settings.crossover == Crossover::Eax && !instance.is_symmetric() {
        return Err(SolveError::Unsupported {
            algorithm: "edge assembly crossover",
            instance: instance.name().to_string(),
            why: "its edges have a direction; use another --crossover".to_string(),
        });
    }
    colony::check_local_search(instance, settings.local_search)?;
    if settings.initial == Initial::LocalOptima && !instance.is_symmetric() {
        return Err(SolveError::Unsupported {
            algorithm: "local search",
            instance: instance.name().to_string(),
            why: "its edges have a direction; use --initial random or ants".to_string(),
        });
    }
    Ok(())
}

/// The first genes by the settings; `given` are those of a file.
///
/// # Errors
/// If they do not fit the memory, or those of a file cannot fill the population.
pub fn first_genes(
    instance: &Instance,
    problem: &Problem,
    settings: &Settings,
    given: Option<Vec<u32>>,
) -> Result<FirstGenes, SolveError> {
    let curves = || hilbert_tours(instance, settings.genes(), settings.seed);
    let mut tours = match (settings.initial, given) {
        (Initial::Random, _) => return Ok(FirstGenes::Random),
        (Initial::LocalOptima, _) if instance.len() <= MOST_RANDOM => return Ok(FirstGenes::Random),
        (Initial::LocalOptima | Initial::SpaceFilling, _) => match curves()? {
            Some(tours) => tours,
            None => return Ok(FirstGenes::Random),
        },
        (Initial::Ants, _) => ants::tours(instance, settings.genes(), settings.seed)?,
        (Initial::File, Some(given)) => repeated(given, instance.len(), settings.genes())?,
        (Initial::File, None) => return Err(SolveError::Settings("there are no first genes".to_string())),
    };
    let mut place = vec![0u32; instance.len()];
    for (i, &node) in (0..).zip(problem.start_tour()) {
        place[node as usize] = i;
    }
    tours.par_iter_mut().for_each(|node| *node = place[*node as usize]);
    Ok(FirstGenes::Given(tours))
}

/// Tours of n nodes, again and again until there are `count`.
fn repeated(mut tours: Vec<u32>, n: usize, count: u32) -> Result<Vec<u32>, SolveError> {
    let (had, wanted) = (tours.len(), n * count as usize);
    if had == 0 || !wanted.is_multiple_of(had) || !had.is_multiple_of(n) {
        let had = had / n;
        return Err(SolveError::Settings(format!(
            "--population must be a multiple of the {had} given genes, not {count}"
        )));
    }
    check_memory("the first genes", 4 * (wanted - had))?;
    while tours.len() < wanted {
        tours.extend_from_within(..had);
    }
    Ok(tours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_genes_are_repeated() {
        let genes = vec![0, 1, 2, 3, 3, 1, 2, 0];
        assert_eq!(repeated(genes.clone(), 4, 2).unwrap(), genes);
        assert_eq!(repeated(genes.clone(), 4, 6).unwrap(), genes.repeat(3));
        for wrong in [1, 3] {
            let error = repeated(genes.clone(), 4, wrong).unwrap_err().to_string();
            assert!(error.contains("multiple of the 2 given genes"), "{error}");
        }
    }
}
