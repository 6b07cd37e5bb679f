//! Iterated local search by best improvement (Fosin et al. 2013): works on one tour as a whole.
//!
//! Settings, start and end of a run are those of [`ils`](super).

use std::time::Duration;

use antwarp_core::papers::local_search::best::DescentState;

use super::settings::{IlsSettings, Moves};
use crate::backend::Backend;
use crate::engine::{
    BackendError, Budget, Deadline, Descent, DescentSpec, Engine, Problem, State, Status, Stop, StopReason,
};
use crate::instance::Instance;
use crate::solver::island::{self, Contact};
use crate::solver::{Solution, SolveError};

impl IlsSettings {
    /// Returns the spec of a descent from a tour of this length.
    pub fn descent(&self, problem: &Problem, stop: &Stop, start_cost: i64) -> DescentSpec {
        let kicks = if self.descent_only { 0 } else { stop.iterations.unwrap_or(u64::MAX) };
        DescentSpec {
            seed: self.seed,
            local_search: self.local_search,
            breadth: self.breadth.min(problem.search_k()),
            kicks: kicks.min(u64::from(u32::MAX)) as u32,
            segment: self.segment,
            many: self.moves == Moves::Many,
            target: stop.target.unwrap_or(i64::MIN),
            start_cost,
        }
    }
}

/// Runs a descent from a tour of this length.
pub(super) fn solve(
    (instance, problem): (&Instance, &Problem),
    settings: &IlsSettings,
    backend: &Backend,
    deadline: Deadline<'_>,
    start_cost: i64,
    mut contact: Contact<'_>,
) -> Result<Solution, SolveError> {
    let spec = settings.descent(problem, deadline.stop, start_cost);
    let mut passes = Passes {
        descent: backend.descent(problem, &spec)?,
        settings,
        problem,
        since: deadline.elapsed(),
        mean_edge: start_cost as f32 / problem.n() as f32,
        state: DescentState::new(start_cost),
    };
    if let Some(state) = &mut contact.resumed {
        passes.since = state.take_json()?;
        passes.state = passes.descent.restore(state)?;
    }
    island::run(&mut passes, (instance, problem), backend, deadline, contact)
}

/// A descent, pass by pass.
struct Passes<'a> {
    descent: Box<dyn Descent + 'a>,
    settings: &'a IlsSettings,
    problem: &'a Problem,
    /// When the first pass began.
    since: Duration,
    mean_edge: f32,
    state: DescentState,
}

impl Engine for Passes<'_> {
    type Cost = i64;
    type Best = Vec<u32>;

    fn advance(&mut self, budget: &Budget) -> Result<u64, BackendError> {
        // The kicks lower it too, but on the backend: how many there are in a batch depends on time.
        let left = (1.0 - budget.progress(self.since, 0)).max(0.0);
        let annealing = self.settings.temperature * self.mean_edge * left;
        let temperature = self.settings.accept.temperature(annealing);
        let passes = budget.units.min(u64::from(u32::MAX));
        self.state = self.descent.run(passes as u32, temperature, &|| budget.is_over())?;
        Ok(passes)
    }

    fn status(&self) -> Status {
        let kicks = u64::from(self.state.descents.saturating_sub(1));
        Status {
            iterations: kicks,
            best_iteration: u64::from(self.state.best_descent.saturating_sub(1)),
            best_cost: Some(self.state.least()),
            cost: self.state.cost,
            tours: kicks,
            ended: (self.state.done != 0).then_some(if self.settings.descent_only {
                StopReason::LocalOptimum
            } else {
                StopReason::Iterations
            }),
        }
    }

    fn best(&mut self) -> Result<Vec<u32>, BackendError> {
        self.descent.best_tour()
    }

    fn save(&mut self) -> Result<Option<State>, BackendError> {
        let mut state = State::default();
        state.put(self.problem.start_tour())?;
        state.put_json(&self.since)?;
        self.descent.save(&mut state)?;
        Ok(Some(state))
    }

    fn describe(&self) -> String {
        self.descent.describe()
    }

    fn part(&self) -> &'static str {
        "passes"
    }
}
