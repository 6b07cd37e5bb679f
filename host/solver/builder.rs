//! The interface for most callers: [`Solver`].

use std::fmt;
use std::time::Duration;

use super::checkpoint::{Checkpoint, Checkpoints, Limits, Observer, Schedule, Subject};
use super::{Algorithm, Solution, SolveError, placement, proven_optimum};
use crate::backend::{Backend, Choice};
use crate::engine::{Observe, Progress, Stop};
use crate::instance::Instance;

/// A function of the caller.
type Callback<'a, T> = Option<Box<dyn FnMut(&T) + 'a>>;

/// Called with the progress of a run, and with its tours.
#[derive(Default)]
struct Callbacks<'a> {
    progress: Callback<'a, Progress>,
    better: Callback<'a, [u32]>,
}

impl Observe for Callbacks<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.progress.iter_mut().for_each(|call| call(progress));
    }

    fn better(&mut self, _: i64, best: &Vec<u32>) {
        self.better.iter_mut().for_each(|call| call(best));
    }
}

/// Finds short tours: the interface for other programs.
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
    callbacks: Callbacks<'a>,
    schedule: Option<Schedule>,
    resumed: Option<Checkpoint>,
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
    /// Uses this algorithm instead of the default one.
    #[must_use]
    pub fn algorithm(self, algorithm: Algorithm) -> Solver<'a> {
        Solver { algorithm: Some(algorithm), ..self }
    }

    /// Sets the seed of all random numbers; by default it is the algorithm's. A run limited by a number of iterations gives the
    /// same tour every time, on any number of threads, except by Ant Colony System with
    /// [relaxed](crate::solver::acs::Update::Relaxed) updates, its default.
    #[must_use]
    pub fn seed(self, seed: u64) -> Solver<'a> {
        Solver { seed: Some(seed), ..self }
    }

    /// Runs on CPU threads or on a GPU. By default a GPU is used if one works and suits the algorithm and the instance
    /// ([`placement`](super::placement)). CPU threads are those of the current rayon pool.
    #[must_use]
    pub fn backend(self, backend: Choice) -> Solver<'a> {
        Solver { backend, ..self }
    }

    /// Starts from this tour, with nodes from 0, for algorithms that improve one. A genetic algorithm takes a population: its
    /// tours, concatenated.
    #[must_use]
    pub fn initial(self, tour: Vec<u32>) -> Solver<'a> {
        Solver { initial: Some(tour), ..self }
    }

    /// Calls back about ten times a second with the progress of the run, whose costs are internal ones ([`Instance::cost`] converts
    /// them). To end a run from there, or from another thread, set [`Stop::interrupt`].
    #[must_use]
    pub fn on_progress(mut self, call: impl FnMut(&Progress) + 'a) -> Solver<'a> {
        self.callbacks.progress = Some(Box::new(call));
        self
    }

    /// Calls back with the best tour so far, nodes from 0, about every five seconds if there is a better one (more often where several
    /// GPUs exchange tours): to save it, for example. The final tour is only in the result.
    #[must_use]
    pub fn on_better(mut self, call: impl FnMut(&[u32]) + 'a) -> Solver<'a> {
        self.callbacks.better = Some(Box::new(call));
        self
    }

    /// Writes checkpoints of the run, also at its end. If one cannot be written, the run goes on, and the old file stays.
    #[must_use]
    pub fn checkpoints(self, schedule: Schedule) -> Solver<'a> {
        Solver { schedule: Some(schedule), ..self }
    }

    /// Continues the run of a checkpoint, with its algorithm and settings; those given here have no effect. Limits count from the
    /// first start of that run. A run limited by a number of iterations then ends with the tour that it would have found without
    /// the interruption.
    #[must_use]
    pub fn resume(self, checkpoint: Checkpoint) -> Solver<'a> {
        Solver { resumed: Some(checkpoint), ..self }
    }

    /// Solves an instance, until a stop criterion holds or a tour is as short as one proven to be the shortest.
    ///
    /// # Errors
    /// If a setting is out of range, the instance is of a kind that the algorithm cannot solve or
    /// [contradicts itself](Instance::check_shape), or the backend fails. If it fails
    /// after a tour was found, the best one is in [`SolveError::CutShort`].
    pub fn solve(self, instance: &Instance, stop: Stop) -> Result<Solution, SolveError> {
        let algorithm = self.algorithm.unwrap_or_default();
        let algorithm = match (&self.resumed, self.seed) {
            (Some(checkpoint), _) => checkpoint.algorithm().clone(),
            (None, Some(seed)) => algorithm.seeded(seed),
            (None, None) => algorithm,
        };
        let takes_tours = algorithm.takes_initial_tour() || algorithm.has_population();
        if self.initial.is_some() && !takes_tours {
            return Err(SolveError::Settings(format!("{} takes no initial tour", algorithm.name())));
        }
        instance.check_shape()?;
        let placement = placement(&algorithm, instance, self.backend)?;
        let (backend, _) = Backend::open(placement.choice)?;
        let initial = self.initial.as_deref().unwrap_or_default();
        let stop = Stop { target: stop.target.max(proven_optimum(instance, initial)), ..stop };
        let mut observer = Observer { own: self.callbacks, checkpoints: None };
        if let Some(schedule) = self.schedule {
            let subject = (Subject::new(&algorithm, instance), Limits::of(&stop).to_json());
            observer.checkpoints = Checkpoints::begin(schedule, subject, Duration::ZERO, |_| ());
            if let (Some(checkpoints), Some(resumed)) = (&observer.checkpoints, &self.resumed) {
                checkpoints.continue_from(resumed.file());
            }
        }
        let solved = match self.resumed {
            Some(checkpoint) => checkpoint.resume(instance, (&backend, &stop), &mut observer, None)?,
            None => algorithm.solve(instance, self.initial, (&backend, &stop), &mut observer, None)?,
        };
        match solved.failure.clone() {
            None => Ok(solved),
            Some(failure) => Err(SolveError::CutShort { failure, best: Box::new(solved) }),
        }
    }
}
