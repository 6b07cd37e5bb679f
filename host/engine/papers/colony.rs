//! Ants where they live.

use std::time::Duration;

use antwarp_core::papers::ants::colony::ColonyState;
use serde::Serialize;

use crate::engine::{BackendError, Enough};

/// Time spent in the parts of the iterations since it was last asked for.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Phases {
    /// Iterations measured.
    pub iterations: u32,
    /// Building tours and, without local search, computing their lengths.
    pub construction: Duration,
    /// Local search on them.
    pub local_search: Duration,
    /// Everything else: the best tour, trails, weights.
    pub rest: Duration,
}

/// What goes on by iterations, where it lives: a colony of ants, or a [`Population`](crate::engine::Population).
pub trait Colony {
    /// Runs `iterations` more iterations, fewer if the target is reached; the state afterwards.
    ///
    /// Where an iteration can take long, `enough` is asked now and then whether to end it with the tours that
    /// are complete.
    fn run(&mut self, iterations: u32, enough: Enough) -> Result<ColonyState, BackendError>;

    /// The best tour so far, in the problem's numbering.
    ///
    /// # Errors
    /// If it cannot be brought back from the device. Before the first iteration it is undefined.
    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError>;

    /// Takes in a tour of this length that another run has found, in the problem's numbering; the state afterwards. None where
    /// tours of others are of no use.
    ///
    /// # Errors
    /// As [`Colony::run`].
    fn take_in(&mut self, cost: i64, tour: &[u32]) -> Result<Option<ColonyState>, BackendError> {
        let _ = (cost, tour);
        Ok(None)
    }

    /// The time spent in each part since the last call; iterations are timed from the first call on.
    fn phases(&mut self) -> Result<Phases, BackendError>;

    /// How the colony was laid out: variant, threads an ant, memory.
    fn describe(&self) -> String;

    /// How far the trails have converged, where they are a table: see
    /// [`ColonySpec::branching_factor`](super::mmas::ColonySpec::branching_factor).
    ///
    /// # Errors
    /// If they cannot be brought back from the device.
    fn branching_factor(&mut self) -> Result<Option<f64>, BackendError> {
        Ok(None)
    }

    /// The share of updates of trails that found the trail in a selective memory, where they are counted.
    fn hit_ratio(&self) -> Option<f64> {
        None
    }
}
