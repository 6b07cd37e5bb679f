//! Ants and genes: what goes on by iterations.

use antwarp_core::colony::ColonyState;

use super::SolveError;
use crate::engine::{BackendError, Budget, Colony, Engine, LocalSearch, Status};
use crate::instance::Instance;

/// Refuses local search where edges have a direction.
pub(super) fn check_local_search(instance: &Instance, local_search: LocalSearch) -> Result<(), SolveError> {
    if local_search == LocalSearch::None || instance.is_symmetric() {
        return Ok(());
    }
    Err(SolveError::Unsupported {
        algorithm: "local search",
        instance: instance.name().to_string(),
        why: "its edges have a direction; use `local_search` none".to_string(),
    })
}

/// A colony, iteration by iteration.
pub(super) struct Iterations<'a, C: ?Sized> {
    pub colony: &'a mut C,
    /// Tours of an iteration.
    pub ants: u32,
    /// Fewest iterations of a batch: 1 where there is no tour before the first one.
    pub fewest: u64,
    /// What has begun is finished whatever happens.
    pub whole: bool,
    pub state: Option<ColonyState>,
    /// What the engine's [part](Engine::part) is called.
    pub part: &'static str,
}

impl<C: Colony + ?Sized> Iterations<'_, C> {
    /// What comes before the first iteration, whatever the clock says.
    ///
    /// # Errors
    /// As [`Engine::advance`].
    pub fn begin(&mut self) -> Result<(), BackendError> {
        self.state = Some(self.colony.run(0, &|| false)?);
        Ok(())
    }
}

impl<C: Colony + ?Sized> Engine for Iterations<'_, C> {
    type Cost = i64;
    type Best = Vec<u32>;

    fn advance(&mut self, budget: &Budget) -> Result<u64, BackendError> {
        let done = self.status().iterations;
        let count = budget.units.min(budget.left(done)).clamp(self.fewest, u64::from(u32::MAX));
        let enough = || !self.whole && budget.is_over();
        self.state = Some(self.colony.run(count as u32, &enough)?);
        Ok(count)
    }

    fn status(&self) -> Status {
        let iterations = self.state.map_or(0, |state| u64::from(state.iterations));
        Status {
            iterations,
            best_iteration: self
                .state
                .map_or(0, |state| (u64::from(state.best_iteration) + 1).min(iterations)),
            // None where the first iteration was cut short before there was a tour.
            best_cost: self.state.map(|state| state.best_cost).filter(|&cost| cost < i64::MAX),
            cost: self.state.map_or(i64::MAX, |state| state.iteration_cost),
            tours: iterations * u64::from(self.ants),
            ended: None,
        }
    }

    fn best(&mut self) -> Result<Vec<u32>, BackendError> {
        self.colony.best_tour()
    }

    fn describe(&self) -> String {
        self.colony.describe()
    }

    fn part(&self) -> &'static str {
        self.part
    }
}
