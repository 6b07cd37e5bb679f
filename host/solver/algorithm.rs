//! Any algorithm with its settings, and the way most callers take: [`Solver`].

use std::fmt;

use serde::Serialize;

use super::{Solution, SolveError, acs, genetic, ils, lin_kernighan, mmas};
use crate::backend::{Backend, Choice};
use crate::engine::{Progress, Stop};
use crate::instance::Instance;

/// An algorithm with its settings.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Algorithm {
    /// Chained Lin-Kernighan, with crossing of several tours where that pays.
    LinKernighan(lin_kernighan::LinKernighanSettings),
    /// Iterated local search.
    Ils(ils::IlsSettings),
    /// MAX-MIN Ant System.
    Mmas(mmas::MmasSettings),
    /// Ant Colony System.
    Acs(acs::AcsSettings),
    /// A genetic algorithm.
    Genetic(genetic::GeneticSettings),
}

impl Algorithm {
    /// What does best for an instance, with settings that need no choice: chained Lin-Kernighan, and MAX-MIN Ant System where edges
    /// have a direction.
    pub fn for_instance(instance: &Instance) -> Algorithm {
        if instance.is_symmetric() {
            Algorithm::LinKernighan(lin_kernighan::LinKernighanSettings::default())
        } else {
            Algorithm::Mmas(mmas::MmasSettings::default())
        }
    }

    /// Its name, as on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Algorithm::LinKernighan(_) => "lk",
            Algorithm::Ils(_) => "ils",
            Algorithm::Mmas(_) => "mmas",
            Algorithm::Acs(_) => "acs",
            Algorithm::Genetic(_) => "ga",
        }
    }

    /// The seed of all its random numbers.
    pub fn seed(&self) -> u64 {
        match self {
            Algorithm::LinKernighan(settings) => settings.seed,
            Algorithm::Ils(settings) => settings.seed,
            Algorithm::Mmas(settings) => settings.seed,
            Algorithm::Acs(settings) => settings.seed,
            Algorithm::Genetic(settings) => settings.seed,
        }
    }

    /// The same with another seed.
    pub fn seeded(mut self, seed: u64) -> Algorithm {
        match &mut self {
            Algorithm::LinKernighan(settings) => settings.seed = seed,
            Algorithm::Ils(settings) => settings.seed = seed,
            Algorithm::Mmas(settings) => settings.seed = seed,
            Algorithm::Acs(settings) => settings.seed = seed,
            Algorithm::Genetic(settings) => settings.seed = seed,
        }
        self
    }

    /// Refuses settings that are out of range.
    ///
    /// # Errors
    /// Which, and what is possible.
    pub fn check(&self) -> Result<(), SolveError> {
        match self {
            Algorithm::LinKernighan(settings) => settings.check(),
            Algorithm::Ils(settings) => settings.check(),
            Algorithm::Mmas(settings) => settings.check(),
            Algorithm::Acs(settings) => settings.check(),
            Algorithm::Genetic(settings) => settings.check(),
        }
    }

    /// Solves an instance. `initial` are the tours to begin with, one after the other, in the instance's numbering: one for local
    /// search, a population for the genetic algorithm whose settings ask for it, none for ants. `keep` is called with the population
    /// of a genetic algorithm.
    ///
    /// # Errors
    /// As the algorithm's own `solve`.
    pub fn solve(
        &self,
        instance: &Instance,
        initial: Option<Vec<u32>>,
        (backend, stop): (&Backend, &Stop),
        observe: &mut dyn FnMut(&Progress),
        keep: Option<genetic::Keep<'_>>,
    ) -> Result<Solution, SolveError> {
        match self {
            Algorithm::LinKernighan(settings) => {
                lin_kernighan::solve(instance, settings, initial.as_deref(), backend, stop, observe)
            }
            Algorithm::Ils(settings) => {
                ils::solve(instance, settings, initial.as_deref(), backend, stop, observe)
            }
            Algorithm::Mmas(settings) => mmas::solve(instance, settings, backend, stop, observe),
            Algorithm::Acs(settings) => acs::solve(instance, settings, backend, stop, observe),
            Algorithm::Genetic(settings) => {
                genetic::solve(instance, settings, initial, backend, stop, observe, keep)
            }
        }
    }
}

/// Called with how far a run is.
type Observe<'a> = Box<dyn FnMut(&Progress) + 'a>;

/// Finds short tours: what to call from a program of one's own.
///
/// ```
/// use antwarp::prelude::*;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let corners = [[0.0, 0.0], [3.0, 4.0], [3.0, 0.0], [0.0, 4.0]];
/// let instance = Instance::euclidean(&corners)?;
/// let solution = Solver::default().seed(1).solve(&instance, Stop::after(Duration::from_secs(1)))?;
/// assert_eq!(instance.length(solution.cost), 14.0);
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct Solver<'a> {
    algorithm: Option<Algorithm>,
    seed: Option<u64>,
    backend: Choice,
    initial: Option<Vec<u32>>,
    observe: Option<Observe<'a>>,
}

impl fmt::Debug for Solver<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Solver")
            .field("algorithm", &self.algorithm)
            .field("seed", &self.seed)
            .field("backend", &self.backend)
            .finish_non_exhaustive()
    }
}

impl<'a> Solver<'a> {
    /// By this algorithm, instead of [`Algorithm::for_instance`].
    #[must_use]
    pub fn algorithm(self, algorithm: Algorithm) -> Solver<'a> {
        Solver { algorithm: Some(algorithm), ..self }
    }

    /// With this seed of all random numbers. A run that ends after a number of iterations gives the same tour every time.
    #[must_use]
    pub fn seed(self, seed: u64) -> Solver<'a> {
        Solver { seed: Some(seed), ..self }
    }

    /// On CPU threads or on a GPU, instead of a GPU if there is one that works. CPU threads are those of the current pool of rayon.
    #[must_use]
    pub fn backend(self, backend: Choice) -> Solver<'a> {
        Solver { backend, ..self }
    }

    /// From this tour on, by algorithms that improve one: nodes from 0. A genetic algorithm takes a population, its tours one after
    /// the other.
    #[must_use]
    pub fn initial(self, tour: Vec<u32>) -> Solver<'a> {
        Solver { initial: Some(tour), ..self }
    }

    /// Calls back about ten times a second with how far the run is. To end a run from there, or from another thread, set
    /// [`Stop::interrupt`].
    #[must_use]
    pub fn on_progress(self, observe: impl FnMut(&Progress) + 'a) -> Solver<'a> {
        Solver { observe: Some(Box::new(observe)), ..self }
    }

    /// Solves an instance, until it is time to stop or a tour is as short as one that is proven to be the shortest.
    ///
    /// # Errors
    /// If a setting is out of range, the instance is of a kind that the algorithm cannot solve, or the backend fails. If it fails after
    /// there was a tour, the best one is in [`SolveError::CutShort`].
    pub fn solve(self, instance: &Instance, stop: Stop) -> Result<Solution, SolveError> {
        let algorithm = self.algorithm.unwrap_or_else(|| Algorithm::for_instance(instance));
        let algorithm = match self.seed {
            Some(seed) => algorithm.seeded(seed),
            None => algorithm,
        };
        if self.initial.is_some() && matches!(algorithm, Algorithm::Mmas(_) | Algorithm::Acs(_)) {
            return Err(SolveError::Settings("ants begin with no tour".to_string()));
        }
        let (backend, _) = match &algorithm {
            Algorithm::Genetic(settings) if settings.crossover == genetic::Crossover::Eax => {
                Backend::open(Choice::Cpu)?
            }
            _ => Backend::open(self.backend)?,
        };
        let optimum = instance.best_known().filter(|known| known.proven).map(|known| known.cost);
        let stop = Stop { target: stop.target.max(optimum), ..stop };
        let mut observe = self.observe.unwrap_or_else(|| Box::new(|_| ()));
        let solved = algorithm.solve(instance, self.initial, (&backend, &stop), &mut observe, None)?;
        match solved.failure.clone() {
            None => Ok(solved),
            Some(failure) => Err(SolveError::CutShort { failure, best: Box::new(solved) }),
        }
    }
}
