//! The solver loops, written against the backends' traits.

pub mod mmas;
pub mod problem;
pub mod start;
pub mod stop;

use serde::Serialize;
use thiserror::Error;

use crate::backend::BackendError;
use crate::instance::Instance;
use stop::StopReason;

/// Why a run could not give a tour.
#[derive(Debug, Error)]
pub enum SolveError {
    /// A setting is out of its range.
    #[error("{0}")]
    Settings(String),
    /// The algorithm cannot solve this kind of instance.
    #[error("{algorithm} cannot solve {instance}: {why}")]
    Unsupported {
        /// The algorithm's name.
        algorithm: &'static str,
        /// The instance's name.
        instance: String,
        /// What it cannot do.
        why: String,
    },
    /// The backend failed before there was a tour.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// A backend returned a tour that is none, or not as long as it said: a bug.
    #[error(
        "the {backend} backend returned a wrong result ({what}): this is a bug in antwarp, please report it"
    )]
    Wrong {
        /// `cpu` or `cuda`.
        backend: &'static str,
        /// What is wrong.
        what: String,
    },
}

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Iterations done.
    pub iterations: u64,
    /// Length of the best tour so far.
    pub best_cost: i64,
    /// Length of the best tour of the last iteration.
    pub iteration_cost: i64,
    /// Seconds since the start.
    pub seconds: f64,
    /// Tours built.
    pub tours: u64,
}

/// The result of a run: a tour that was checked, and a cost recomputed from the instance.
#[derive(Clone, Debug, Serialize)]
pub struct Solution {
    /// The nodes from 0, in order.
    pub tour: Vec<u32>,
    /// Its length.
    pub cost: i64,
    /// Iterations done.
    pub iterations: u64,
    /// The iteration (from 1) that found the tour; 0: the nearest-neighbour tour was never beaten.
    pub best_iteration: u64,
    /// Seconds of the whole run, preparation included.
    pub seconds: f64,
    /// Seconds of preparation: neighbour lists, the nearest-neighbour tour, the backend's buffers and kernels.
    pub setup_seconds: f64,
    /// Tours built.
    pub tours: u64,
    /// Why it ended.
    pub stopped_by: StopReason,
    /// How the backend did it.
    pub layout: String,
    /// What went wrong on the way, if the run was cut short by an error and this is the best tour until then.
    pub failure: Option<String>,
}

/// Checks a tour against the instance.
fn verified(instance: &Instance, backend: &'static str, tour: &[u32], cost: i64) -> Result<(), SolveError> {
    let wrong = |what| SolveError::Wrong { backend, what };
    let real = instance.check_tour(tour).map_err(|e| wrong(e.to_string()))?;
    if real == cost { Ok(()) } else { Err(wrong(format!("a tour of length {real} reported as {cost}"))) }
}
