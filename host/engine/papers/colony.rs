//! An ant colony on a backend.

use std::time::Duration;

use antwarp_core::papers::ants::colony::ColonyState;
use serde::Serialize;

use crate::{BackendError, Enough, State};

/// Time spent in the parts of the iterations since it was last queried.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Phases {
    /// Number of iterations measured.
    pub iterations: u32,
    /// Building tours and, unless there is local search, computing their lengths.
    pub construction: Duration,
    /// Local search on them.
    pub local_search: Duration,
    /// Everything else: the best tour, trails, weights.
    pub rest: Duration,
}

/// An iterative solver on a backend: a colony of ants, or a [`Population`](crate::Population).
pub trait Colony {
    /// Runs `iterations` more iterations, or fewer if the target is reached; returns the state afterwards.
    ///
    /// If an iteration can take long, `enough` is regularly asked whether to end it with the tours that are complete.
    ///
    /// # Errors
    /// If the backend fails.
    fn run(&mut self, iterations: u32, enough: Enough) -> Result<ColonyState, BackendError>;

    /// Returns the best tour so far, in the problem's numbering.
    ///
    /// # Errors
    /// If it cannot be copied from the device. Before the first iteration it is undefined.
    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError>;

    /// Accepts a tour of this length that another run has found, in the problem's numbering; returns the state afterwards. `None`
    /// if tours of others are not used.
    ///
    /// # Errors
    /// As [`Colony::run`].
    fn take_in(&mut self, cost: i64, tour: &[u32]) -> Result<Option<ColonyState>, BackendError> {
        let _ = (cost, tour);
        Ok(None)
    }

    /// Returns whether its state can be saved: not if the first generation of a population was cut short.
    fn is_whole(&self) -> bool {
        true
    }

    /// Appends its state after an iteration that was not cut short, in the problem's numbering; the same on all backends.
    ///
    /// # Errors
    /// If memory is short, or it cannot be copied from the device.
    fn save(&mut self, state: &mut State) -> Result<(), BackendError>;

    /// Continues from the state of another colony with the same parameters, except for the target, before the first iteration;
    /// returns the results so far.
    ///
    /// # Errors
    /// If the state is not one of such a colony, or it cannot be copied to the device.
    fn restore(&mut self, state: &mut State) -> Result<ColonyState, BackendError>;

    /// Returns the time spent in each part since the last call; iterations are timed from the first call on.
    ///
    /// # Errors
    /// If the backend fails.
    fn phases(&mut self) -> Result<Phases, BackendError>;

    /// Describes the layout of the colony: variant, threads per ant, memory.
    fn describe(&self) -> String;

    /// Returns how far the trails have converged, if they are a table: see
    /// [`ColonySpec::branching_factor`](super::mmas::ColonySpec::branching_factor).
    ///
    /// # Errors
    /// If they cannot be copied from the device.
    fn branching_factor(&mut self) -> Result<Option<f64>, BackendError> {
        Ok(None)
    }

    /// Returns the fraction of trail updates that found the trail in a selective memory, if counted.
    fn hit_ratio(&self) -> Option<f64> {
        None
    }
}
