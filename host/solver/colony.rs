//! The loop around a backend's colony, of any kind of ants.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::local_search::LocalSearch;
use super::problem::Problem;
use super::stop::{Stop, StopReason};
use super::{Progress, Solution, SolveError, checked_original, verified};
use crate::backend::{Backend, Colony};
use crate::instance::Instance;

/// Refuses local search where edges have a direction.
pub(super) fn check_local_search(instance: &Instance, local_search: LocalSearch) -> Result<(), SolveError> {
    if local_search == LocalSearch::None || instance.is_symmetric() {
        return Ok(());
    }
    Err(SolveError::Unsupported {
        algorithm: "local search",
        instance: instance.name().to_string(),
        why: "its edges have a direction; use --local-search none".to_string(),
    })
}

/// Runs a colony of so many ants until it is time to stop. `observe` is called after each batch of iterations.
///
/// # Errors
/// If the backend fails before there is a tour. A failure after that ends the run early and is told in the solution.
pub(super) fn run(
    instance: &Instance,
    problem: &Problem,
    (start, ants): (Instant, u32),
    colony: &mut dyn Colony,
    backend: &Backend,
    stop: &Stop,
    observe: &mut dyn FnMut(&Progress),
) -> Result<Solution, SolveError> {
    let mut run = Run { start, setup: start.elapsed(), ants, state: RunState::default() };
    let stopped_by = match run.iterate(colony, stop, observe) {
        Ok(reason) => reason,
        Err(failure) => {
            run.state.failure = Some(failure.to_string());
            StopReason::Failure
        }
    };
    run.finish(instance, problem, backend.machine().backend, colony, stopped_by)
}

#[derive(Default)]
struct RunState {
    iterations: u64,
    best_iteration: u64,
    best_cost: Option<i64>,
    /// The best tour brought back so far, in the problem's numbering: what is left if the backend fails.
    kept: Option<(i64, Vec<u32>)>,
    failure: Option<String>,
}

struct Run {
    start: Instant,
    setup: Duration,
    ants: u32,
    state: RunState,
}

/// How long a batch of iterations should take: short enough to react, long enough to keep a GPU busy.
const BATCH: Duration = Duration::from_millis(100);
/// How often an improved tour is brought back, so that little is lost if the device fails.
const KEEP_EVERY: Duration = Duration::from_secs(5);

impl Run {
    fn iterate(
        &mut self,
        colony: &mut dyn Colony,
        stop: &Stop,
        observe: &mut dyn FnMut(&Progress),
    ) -> Result<StopReason, SolveError> {
        let mut batch = 1u64;
        let mut kept_at = Instant::now();
        loop {
            let best = self.state.best_cost.unwrap_or(i64::MAX);
            let elapsed = self.start.elapsed();
            if let Some(reason) = stop.reason(elapsed, self.state.iterations, self.state.best_iteration, best)
            {
                // Not before there is a tour.
                if self.state.best_cost.is_some() {
                    return Ok(reason);
                }
            }
            let limit = stop.iterations.map_or(u64::from(u32::MAX), |i| i.min(u64::from(u32::MAX)));
            let left = limit.saturating_sub(self.state.iterations);
            let count = batch.min(left).clamp(1, u64::from(u32::MAX)) as u32;
            let before = Instant::now();
            let start = self.start;
            let late = || stop.time.is_some_and(|t| start.elapsed() >= t);
            let state = colony.run(count, &|| late() || stop.interrupt.load(Ordering::Relaxed))?;
            batch = next_batch(
                batch,
                before.elapsed(),
                stop.time.map(|t| t.saturating_sub(self.start.elapsed())),
            );
            self.state.iterations = u64::from(state.iterations);
            self.state.best_iteration = u64::from(state.best_iteration) + 1;
            self.state.best_cost = Some(state.best_cost);
            if kept_at.elapsed() >= KEEP_EVERY
                && self.state.kept.as_ref().is_none_or(|k| k.0 > state.best_cost)
            {
                self.state.kept = Some((state.best_cost, colony.best_tour()?));
                kept_at = Instant::now();
            }
            observe(&Progress {
                iterations: self.state.iterations,
                best_cost: state.best_cost,
                iteration_cost: state.iteration_cost,
                seconds: self.start.elapsed().as_secs_f64(),
                tours: self.state.iterations * u64::from(self.ants),
            });
        }
    }

    fn finish(
        mut self,
        instance: &Instance,
        problem: &Problem,
        backend: &'static str,
        colony: &mut dyn Colony,
        stopped_by: StopReason,
    ) -> Result<Solution, SolveError> {
        let found = match (self.state.best_cost, &self.state.failure) {
            (Some(cost), None) => Some((cost, colony.best_tour()?)),
            _ => self.state.kept.take(),
        };
        let mut solution = Solution {
            tour: problem.start_tour().to_vec(),
            cost: problem.unit_cost(),
            iterations: self.state.iterations,
            best_iteration: 0,
            seconds: 0.0,
            setup_seconds: self.setup.as_secs_f64(),
            tours: self.state.iterations * u64::from(self.ants),
            stopped_by,
            layout: colony.describe(),
            failure: self.state.failure,
        };
        if let Some((cost, tour)) = found {
            let tour = checked_original(problem, &tour).ok_or(SolveError::Wrong {
                backend,
                what: "a tour with a node that does not exist".to_string(),
            })?;
            verified(instance, backend, &tour, cost)?;
            if cost <= solution.cost {
                solution = Solution { tour, cost, best_iteration: self.state.best_iteration, ..solution };
            }
        }
        solution.seconds = self.start.elapsed().as_secs_f64();
        Ok(solution)
    }
}

/// The size of the next batch, given how long this one took and how much time is left.
pub(crate) fn next_batch(batch: u64, took: Duration, left: Option<Duration>) -> u64 {
    let goal = left.map_or(BATCH, |l| l.min(BATCH)).as_secs_f64();
    let each = took.as_secs_f64() / batch as f64;
    let fit = (goal / each.max(1e-7)) as u64;
    fit.clamp(1, batch * 4)
}
