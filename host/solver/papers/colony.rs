//! Colonies of ants and populations of individuals: engines that work in iterations.

use antwarp_core::papers::ants::colony::ColonyState;

use crate::engine::{BackendError, Budget, Colony, Deadline, Engine, Enough, LocalSearch, State, Status};
use crate::instance::{Instance, Watch};
use crate::solver::SolveError;

/// Rejects a local search that reverses parts of tours where edges have a direction, and one for directed edges where they have
/// none; `advice` says what can be used instead for directed edges.
pub(in crate::solver) fn check_local_search(
    instance: &Instance,
    local_search: LocalSearch,
    advice: &str,
) -> Result<(), SolveError> {
    let keeps_directions = matches!(local_search, LocalSearch::None | LocalSearch::Or3opt);
    let why = match (local_search, instance.is_symmetric()) {
        (LocalSearch::Or3opt, true) => {
            "its edges have no direction, and or-3opt is for those that have; use `local_search` three-opt"
                .to_string()
        }
        (_, false) if !keeps_directions => format!("its edges have a direction; use `local_search` {advice}"),
        _ => return Ok(()),
    };
    let (algorithm, instance) = ("local search", instance.name().to_string());
    Err(SolveError::Unsupported { algorithm, instance, why })
}

/// Runs a colony, iteration by iteration.
pub(in crate::solver) struct Iterations<'a, C: ?Sized> {
    pub colony: &'a mut C,
    /// Tours per iteration.
    pub ants: u32,
    /// Fewest iterations per batch: 1 if there is no tour before the first one.
    pub fewest: u64,
    /// Whether an iteration that has started always finishes.
    pub whole: bool,
    pub state: Option<ColonyState>,
    /// How far the trails had converged at the end, if the colony can measure it.
    pub branching: Option<f64>,
    /// The name of the engine's [part](Engine::part).
    pub part: &'static str,
}

impl<C: Colony + ?Sized> Iterations<'_, C> {
    /// Continues from the state of an earlier run, if there is one.
    ///
    /// # Errors
    /// As [`Colony::restore`].
    pub fn resume(&mut self, state: Option<State>) -> Result<(), BackendError> {
        if let Some(mut state) = state {
            self.state = Some(self.colony.restore(&mut state)?);
        }
        Ok(())
    }

    /// Does the work before the first iteration; returns false if interrupted by `enough` before it was complete.
    ///
    /// # Errors
    /// As [`Engine::advance`].
    pub fn begin(&mut self, enough: Enough) -> Result<bool, BackendError> {
        let watch = Watch::new(enough);
        self.state = Some(self.colony.run(0, &|| watch.is_over())?);
        Ok(!watch.is_cut())
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

    fn save(&mut self) -> Result<Option<State>, BackendError> {
        if !self.colony.is_whole() {
            return Ok(None);
        }
        let mut state = State::default();
        self.colony.save(&mut state)?;
        Ok(Some(state))
    }

    fn take_in(&mut self, _: u32, cost: i64, tour: &Vec<u32>) -> Result<(), BackendError> {
        if let Some(state) = self.colony.take_in(cost, tour)? {
            self.state = Some(state);
        }
        Ok(())
    }

    fn finish(&mut self, _: Deadline<'_>) -> Result<(), BackendError> {
        // Only a measure: a device that fails now fails at the tour, too.
        self.branching = self.colony.branching_factor().unwrap_or(None);
        Ok(())
    }

    fn describe(&self) -> String {
        let mut layout = self.colony.describe();
        if let Some(branching) = self.branching {
            layout += &format!("; branching factor {branching:.2}");
        }
        match self.state.map_or(0, |state| state.resets) {
            0 => {}
            1 => layout += ", trails reset once",
            times => layout += &format!(", trails reset {times} times"),
        }
        layout
    }

    fn part(&self) -> &'static str {
        self.part
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use crate::backend::{Backend, Choice};
    use crate::engine::{Problem, Stop};
    use crate::instance::generate;
    use crate::solver::papers::acs::AcsSettings;
    use crate::solver::papers::mmas::MmasSettings;

    #[test]
    fn an_ant_can_stop_in_the_middle_of_its_tour() {
        let instance = generate::uniform(3000, 1).unwrap();
        let (problem, stop) = (Problem::new(&instance, Some(8), 8).unwrap(), Stop::never());
        let (backend, _) = Backend::open(Choice::Cpu).unwrap();
        let mmas = MmasSettings { ants: Some(1), candidates: Some(8), ..MmasSettings::default() };
        let acs = AcsSettings { ants: Some(1), candidates: 8, ..AcsSettings::default() };
        let colonies = [
            backend.colony(&problem, &mmas.spec(&problem, &backend, &stop)).unwrap(),
            backend.acs(&problem, &acs.spec(&problem, &backend, &stop)).unwrap(),
        ];
        for mut colony in colonies {
            colony.run(0, &|| false).unwrap();
            let asked = AtomicU32::new(0);
            let cut = colony.run(1, &|| asked.fetch_add(1, Ordering::Relaxed) >= 3).unwrap();
            assert_eq!((cut.iterations, cut.best_cost), (0, i64::MAX), "{}", colony.describe());
            let whole = colony.run(1, &|| false).unwrap();
            assert_eq!(whole.iterations, 1);
            let tour: Vec<u32> = colony.best_tour().unwrap();
            let tour: Vec<u32> = tour.iter().map(|&node| problem.start_tour()[node as usize]).collect();
            assert_eq!(instance.check_tour(&tour).ok(), Some(whole.best_cost));
        }
    }
}
