//! A genetic algorithm with constructive crossovers (Kang et al. 2016) or edge assembly crossover (Nagata and Kobayashi 2013):
//! settings, and the spec for a backend.

use antwarp_core::papers::local_search::best::FEWEST;
use rayon::prelude::*;

use super::colony::{Iterations, check_local_search};
use crate::backend::Backend;
use crate::engine::memory::check_memory;
use crate::engine::start::{ants, hilbert_tours};
use crate::engine::{BackendError, Deadline, Enough, LocalSearch, MOST_NEIGHBORS, Population, Problem, Stop};
use crate::instance::form::Form;
use crate::instance::{Instance, embedded};
use crate::solver::haste::Haste;
use crate::solver::island::{self, Contact};
use crate::solver::settings::{Settings, at_least, between, choices, from_to, is, is_not, settings};
use crate::solver::{Solution, SolveError, right};

pub use crate::engine::genetic::{Crossover, FirstIndividuals, GeneticSpec, Initial, Pairing, Partners};

choices!(Crossover, Pairing, Partners, Initial);

settings! {
    /// Settings of the genetic algorithm. `None` means: chosen for the run.
    pub struct GeneticSettings = "ga", "Genetic algorithm" {
        /// Seed of all random numbers: with a number of iterations, it determines the tour
        pub seed: u64 = 1, is_common: true;
        /// How children are made from their parents
        pub crossover: Crossover = Crossover::default();
        /// Tours of the population, a multiple of 4 times `groups`; with `crossover` eax, a multiple of `groups`
        pub population: Option<u32> = None,
            range: from_to(1, MOST_INDIVIDUALS), otherwise: "2048, with `crossover` eax 300; those of a loaded population";
        /// Groups that evolve on their own
        pub groups: u32 = 8, range: at_least(1);
        /// Generations between transfers of each group's best tour to another group; 0: never
        pub transfer_every: u32 = 20, unit: "generations";
        /// Children of a pair evaluated at a time, of which the best one is made
        pub children: u32 = CHILDREN, range: from_to(1, MOST_CHILDREN), only: &[is("crossover", "eax")];
        /// Share of the children that mutate
        pub mutation: f64 = 0.1, range: between(0.0, 1.0), only: &[is_not("crossover", "eax")];
        /// Rivals and partners: always at the same places, or drawn again for every generation
        pub pairing: Pairing = Pairing::default(), only: &[is_not("crossover", "eax")];
        /// Partners of a winner: one, or in a ring the winners before and after it, with one child per pair
        pub partners: Partners = Partners::default(), only: &[is_not("crossover", "eax")];
        /// Improve each group's best tour a little in each generation, where distances are symmetric
        pub improve_best: bool = true, only: &[is_not("crossover", "eax")];
        /// How the first tours are made
        pub initial: Initial = Initial::default();
        /// Generations before this run, for tours from a file
        pub first_generation: u32 = 0, range: from_to(0, MOST_GENERATIONS), is_internal: true;
        /// The operator that improves children; with `crossover` eax, only the first tours
        pub local_search: LocalSearch = LocalSearch::None, except: &["or-3opt", "lk"];
        /// Neighbours in a node's list, for local search, and for joining sub-tours with `crossover` eax
        pub neighbors: u32 = 8, range: from_to(1, MOST_NEIGHBORS);
        /// Neighbours evaluated in the second step of a move
        pub breadth: u32 = 5, range: from_to(1, MOST_NEIGHBORS);
    }
    beside crossover = Crossover::Eax => {
        groups: 1,
        transfer_every: 0,
        initial: Initial::LocalOptima,
    }
}

/// Most nodes of random tours that local search may improve: beyond this, reversals take too long.
const MOST_RANDOM: usize = 20_000;
/// Individuals by default.
const INDIVIDUALS: u32 = 2048;
/// The same with edge assembly crossover; the children of a pair there; and the fewest individuals of a group.
const EAX_INDIVIDUALS: u32 = 300;
const CHILDREN: u32 = 30;
const FEWEST_INDIVIDUALS: u32 = 8;
/// Most children of a pair.
const MOST_CHILDREN: u32 = 1 << 16;
/// Most individuals, so that their numbers stay far below 32 bits.
const MOST_INDIVIDUALS: u32 = 1 << 20;
/// Most generations before this run, for individuals from a file: their numbers stay far below 32 bits, too.
const MOST_GENERATIONS: u32 = 1 << 30;

impl GeneticSettings {
    /// Returns the settings of a crossover, otherwise with defaults.
    pub fn of(crossover: Crossover) -> GeneticSettings {
        GeneticSettings { crossover, ..GeneticSettings::default() }.with_defaults_beside()
    }

    /// Returns the fewest nodes of an instance for which generations can be made.
    pub fn fewest_nodes(&self) -> usize {
        if self.crossover == Crossover::Eax { FEWEST as usize } else { 4 }
    }

    /// Checks every setting's range, and that they are compatible.
    ///
    /// # Errors
    /// The settings that are out of range or incompatible.
    pub fn check(&self) -> Result<(), SolveError> {
        self.check_ranges()?;
        let fail = |what: String| Err(SolveError::Settings(what));
        let (individuals, groups) = (self.individuals(), self.groups);
        if self.crossover == Crossover::Eax {
            if !individuals.is_multiple_of(groups) || individuals / groups < FEWEST_INDIVIDUALS {
                return fail(format!(
                    "`population` must be a multiple of `groups`, with at least {FEWEST_INDIVIDUALS} individuals per group: \
                     {individuals} individuals do not make {groups} such groups"
                ));
            }
        } else if !individuals.is_multiple_of(groups.saturating_mul(4)) {
            return fail(format!(
                "`population` must be a multiple of 4 times `groups`: {individuals} individuals do not make {groups} equal groups"
            ));
        }
        if self.local_search.is_of_ants() {
            return fail("`local_search` lk and or-3opt are for `algorithm` mmas or acs".into());
        }
        Ok(())
    }

    /// Returns the number of individuals.
    pub fn individuals(&self) -> u32 {
        self.population.unwrap_or(if self.crossover == Crossover::Eax {
            EAX_INDIVIDUALS
        } else {
            INDIVIDUALS
        })
    }

    /// Returns the population's spec for a problem.
    pub fn spec(&self, problem: &Problem, stop: &Stop) -> GeneticSpec {
        // With only a few nodes there are hardly any moves of three edges, and no other tours than random ones.
        let is_small = problem.n() < FEWEST;
        let is_descent = self.initial == Initial::LocalOptima;
        GeneticSpec {
            seed: self.seed,
            crossover: self.crossover,
            individuals: self.individuals(),
            groups: self.groups,
            transfer_every: self.transfer_every,
            children: self.children,
            mutation: (self.mutation * f64::from(u32::MAX)) as u32,
            pairing: self.pairing,
            partners: self.partners,
            improve_best: self.improve_best,
            initial: if is_small && is_descent { Initial::Random } else { self.initial },
            local_search: if is_small { LocalSearch::None } else { self.local_search },
            breadth: self.breadth.min(problem.search_k()),
            target: stop.target.unwrap_or(i64::MIN),
            first_generation: self.first_generation,
        }
    }
}

/// A population at the end of a run.
pub struct Individuals<'a> {
    instance: &'a Instance,
    problem: &'a Problem,
    population: &'a mut dyn Population,
    backend: &'static str,
    generation: u32,
    /// The instances that are given in forms, with these, the last one first.
    outside: Vec<(&'a Instance, &'a Form)>,
}

impl Individuals<'_> {
    /// Returns the individuals as tours of this instance, whose form they are of.
    pub(in crate::solver) fn outside<'b>(
        &'b mut self,
        instance: &'b Instance,
        form: &'b Form,
    ) -> Individuals<'b> {
        let mut outside: Vec<(&'b Instance, &'b Form)> = self.outside.clone();
        outside.push((instance, form));
        Individuals { population: &mut *self.population, outside, ..*self }
    }

    /// Returns by how much tours cost more outside.
    fn offset(&self) -> i64 {
        self.outside.iter().map(|(_, form)| form.offset()).sum()
    }

    /// Returns the generations that the individuals have gone through, including those before the run.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Returns the length of each individual.
    ///
    /// # Errors
    /// If they cannot be fetched from the backend, or a place is empty.
    pub fn lengths(&mut self) -> Result<Vec<i64>, SolveError> {
        let lengths = self.population.costs()?;
        let what = "an incomplete population".to_string();
        let wrong = SolveError::Wrong { backend: self.backend, what };
        if lengths.contains(&i64::MAX) {
            return Err(wrong);
        }
        let offset = self.offset();
        Ok(lengths.into_iter().map(|length| length + offset).collect())
    }

    /// Returns the individual at a place in the instance's numbering, and checks its length.
    ///
    /// # Errors
    /// If it cannot be fetched from the backend, is an invalid tour, or has another length.
    pub fn individual(&mut self, place: u32, length: i64) -> Result<Vec<u32>, SolveError> {
        let individual = self.population.individual(place)?;
        let inside = length - self.offset();
        let mut tour = right(self.instance, self.problem, self.backend, &individual, inside)?;
        for (instance, form) in &self.outside {
            let outward = form.outward(&tour).filter(|tour| instance.unused_fixed_edge(tour).is_none());
            let wrong = |what: &str| SolveError::Wrong { backend: self.backend, what: what.to_string() };
            tour = outward.ok_or_else(|| wrong("an individual without a fixed edge"))?;
        }
        let instance = self.outside.last().map_or(self.instance, |(instance, _)| instance);
        match instance.check_tour(&tour) {
            Ok(cost) if cost == length => Ok(tour),
            _ => {
                let what = "an individual of another length outside its form".to_string();
                Err(SolveError::Wrong { backend: self.backend, what })
            }
        }
    }
}

/// What to do with a population when a run ends, such as saving it.
pub type Keep<'a> = &'a mut dyn FnMut(&Solution, &mut Individuals<'_>);

/// As [`Algorithm::solve`](crate::solver::Algorithm::solve), after all checks. `keep` is not called if the run was over before all of the
/// first individuals were there; with it, a generation that has started always finishes, even when the run is interrupted. With
/// [`Initial::File`] the first individuals are `given`, in the instance's numbering, and repeated if they are fewer than the
/// population needs.
pub(in crate::solver) fn solve(
    instance: &Instance,
    settings: &GeneticSettings,
    given: Option<Vec<u32>>,
    backend: &Backend,
    stop: &Stop,
    mut contact: Contact<'_>,
    keep: Option<Keep<'_>>,
) -> Result<Solution, SolveError> {
    let deadline = Deadline::now(stop);
    let haste = Haste::new(instance, deadline);
    let late = || haste.is_over();
    // The given tours are not lost, whatever happens.
    let shortest = given.as_deref().and_then(|given| shortest(instance, given));
    let Some(problem) = Problem::until(instance, Some(1), settings.neighbors, &late)? else {
        return haste.end(shortest);
    };
    let spec = settings.spec(&problem, stop);
    let first = match contact.resumed {
        // Its individuals replace them.
        Some(_) => Some(FirstIndividuals::Random),
        None => first_individuals_until(instance, &problem, settings, given, &late)?,
    };
    let Some(first) = first else {
        return haste.end(Some(problem.start_tour().to_vec()));
    };
    let mut population = backend.population(&problem, &spec, first)?;
    // With edge assembly crossover a pair counts as one.
    let children = match settings.crossover {
        Crossover::Eax => spec.individuals,
        _ => spec.rules(&problem, 1, 1, false).children(),
    };
    let mut generations = Iterations {
        colony: population.as_mut(),
        ants: children,
        // With 0 generations, only the first individuals are made.
        fewest: 0,
        whole: keep.is_some(),
        state: None,
        branching: None,
        part: "generations",
    };
    generations.resume(contact.resumed.take())?;
    // The given tours are not lost, even if time is up; a population to be saved has to be complete.
    let is_given = settings.initial == Initial::File;
    let begun =
        if keep.is_none() && !is_given { Ok(true) } else { generations.begin(&|| !is_given && late()) };
    let is_complete = match begun {
        Ok(is_complete) => is_complete,
        Err(failure) => {
            let tour = shortest.unwrap_or_else(|| problem.start_tour().to_vec());
            return match failure {
                BackendError::Busy => haste.end(Some(tour)),
                failure => haste.fail(tour, failure),
            };
        }
    };
    let solution = island::run(&mut generations, (instance, &problem), backend, deadline, contact)?;
    if let Some(keep) = keep.filter(|_| is_complete) {
        let mut individuals = Individuals {
            instance,
            problem: &problem,
            population: population.as_mut(),
            backend: backend.machine().backend,
            generation: settings.first_generation + solution.iterations as u32,
            outside: Vec::new(),
        };
        keep(&solution, &mut individuals);
    }
    Ok(solution)
}

/// Rejects settings that are out of range, and instances that cannot be solved with them.
///
/// # Errors
/// The problem, and the remedy.
pub fn check_for(instance: &Instance, settings: &GeneticSettings) -> Result<(), SolveError> {
    settings.check()?;
    if settings.crossover == Crossover::Eax && !instance.is_symmetric() {
        // Its form has no directions.
        return Ok(());
    }
    check_local_search(instance, settings.local_search, "none")?;
    if settings.initial == Initial::LocalOptima && !instance.is_symmetric() {
        return Err(SolveError::Unsupported {
            algorithm: "local search",
            instance: instance.name().to_string(),
            why: "its edges have a direction; use `initial` random or ants".to_string(),
        });
    }
    Ok(())
}

/// Returns the first individuals according to the settings; `given` are those from a file.
///
/// # Errors
/// If they do not fit in memory, or those from a file cannot fill the population.
pub fn first_individuals(
    instance: &Instance,
    problem: &Problem,
    settings: &GeneticSettings,
    given: Option<Vec<u32>>,
) -> Result<FirstIndividuals, SolveError> {
    let first = first_individuals_until(instance, problem, settings, given, &|| false)?;
    Ok(first.unwrap_or(FirstIndividuals::Random))
}

/// As [`first_individuals`]; `None` if interrupted by `enough` before they were there.
///
/// # Errors
/// As [`first_individuals`].
pub fn first_individuals_until(
    instance: &Instance,
    problem: &Problem,
    settings: &GeneticSettings,
    given: Option<Vec<u32>>,
    enough: Enough,
) -> Result<Option<FirstIndividuals>, SolveError> {
    let random = Ok(Some(FirstIndividuals::Random));
    let tours = match (settings.initial, given) {
        (Initial::Random, _) => return random,
        (Initial::LocalOptima, _) if instance.len() <= MOST_RANDOM => return random,
        (Initial::LocalOptima | Initial::SpaceFilling, _)
            if instance.points().is_none() && embedded(instance).is_none() =>
        {
            return random;
        }
        (Initial::LocalOptima | Initial::SpaceFilling, _) => {
            hilbert_tours(instance, settings.individuals(), settings.seed, enough)?
        }
        (Initial::Ants, _) => ants::tours_until(instance, settings.individuals(), settings.seed, enough)?,
        (Initial::File, Some(given)) => Some(repeated(given, instance.len(), settings.individuals())?),
        (Initial::File, None) => {
            return Err(SolveError::Settings("there are no first individuals".to_string()));
        }
    };
    let Some(mut tours) = tours else { return Ok(None) };
    let mut place = vec![0u32; instance.len()];
    for (i, &node) in (0..).zip(problem.start_tour()) {
        place[node as usize] = i;
    }
    tours.par_iter_mut().for_each(|node| *node = place[*node as usize]);
    tours.par_chunks_exact_mut(instance.len()).for_each(|tour| problem.join_partners(tour));
    Ok(Some(FirstIndividuals::Given(tours)))
}

/// Returns the shortest of several concatenated tours.
fn shortest(instance: &Instance, tours: &[u32]) -> Option<Vec<u32>> {
    let length = |tour: &&[u32]| instance.check_tour(tour).unwrap_or(i64::MAX);
    tours.par_chunks_exact(instance.len()).min_by_key(length).map(<[u32]>::to_vec)
}

/// Repeats tours of n nodes until there are `count`.
fn repeated(mut tours: Vec<u32>, n: usize, count: u32) -> Result<Vec<u32>, SolveError> {
    let (had, wanted) = (tours.len(), n * count as usize);
    if had == 0 || !wanted.is_multiple_of(had) || !had.is_multiple_of(n) {
        let had = had / n;
        return Err(SolveError::Settings(format!(
            "`population` must be a multiple of the {had} given individuals, not {count}"
        )));
    }
    check_memory("the first individuals", 4 * (wanted - had))?;
    while tours.len() < wanted {
        tours.extend_from_within(..had);
    }
    Ok(tours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_has_the_default_numbers_of_individuals() {
        let help = GeneticSettings::DECLARATION.setting("population").unwrap().otherwise;
        let numbers = format!("{INDIVIDUALS}, with `crossover` eax {EAX_INDIVIDUALS};");
        assert!(help.starts_with(&numbers), "{help}");
    }

    #[test]
    fn given_individuals_are_repeated() {
        let individuals = vec![0, 1, 2, 3, 3, 1, 2, 0];
        assert_eq!(repeated(individuals.clone(), 4, 2).unwrap(), individuals);
        assert_eq!(repeated(individuals.clone(), 4, 6).unwrap(), individuals.repeat(3));
        for wrong in [1, 3] {
            let error = repeated(individuals.clone(), 4, wrong).unwrap_err().to_string();
            assert!(error.contains("multiple of the 2 given individuals"), "{error}");
        }
    }
}
