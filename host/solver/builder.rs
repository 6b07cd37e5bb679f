//! The way most callers take: [`Solver`].

use std::fmt;

use super::{Algorithm, Solution, SolveError, placement, proven_optimum};
use crate::backend::{Backend, Choice};
use crate::engine::{Progress, Stop};
use crate::instance::Instance;

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
/// assert_eq!(instance.tour_cost(&solution.tour).as_f64(), 14.0);
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

    /// With this seed of all random numbers. A run that ends after a number of iterations gives the same tour every time, on any
    /// number of threads; but not so by Ant Colony System with [relaxed](crate::solver::papers::acs::Update::Relaxed) updates, its default.
    #[must_use]
    pub fn seed(self, seed: u64) -> Solver<'a> {
        Solver { seed: Some(seed), ..self }
    }

    /// On CPU threads or on a GPU, instead of a GPU if there is one that works and the algorithm and the instance suit it
    /// ([`placement`](super::placement)). CPU threads are those of the current pool of rayon.
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
        let placement = placement(&algorithm, instance, self.backend)?;
        let (backend, _) = Backend::open(placement.choice)?;
        let initial = self.initial.as_deref().unwrap_or_default();
        let stop = Stop { target: stop.target.max(proven_optimum(instance, initial)), ..stop };
        let mut observe = self.observe.unwrap_or_else(|| Box::new(|_| ()));
        let solved = algorithm.solve(instance, self.initial, (&backend, &stop), &mut observe, None)?;
        match solved.failure.clone() {
            None => Ok(solved),
            Some(failure) => Err(SolveError::CutShort { failure, best: Box::new(solved) }),
        }
    }
}
