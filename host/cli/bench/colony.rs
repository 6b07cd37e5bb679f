//! Runs of iterative solvers: ant colonies and populations.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use antwarp_core::papers::ants::colony::ColonyState;
use serde_json::json;

use super::super::{Error, Result};
use super::table::{Column, How::Median};
use super::{Asked, Measured, facts};
use crate::backend::Backend;
use crate::engine::{Colony, Phases, Problem, Stop, next_units};
use crate::instance::Instance;

/// Iterations before timing starts: a GPU loads kernels and measures its layout, a CPU wakes its threads.
const WARM_UP: u32 = 5;

/// Columns for a run of ants.
pub const COLUMNS: &[Column; 4] = &[
    ("build ms", "construction_ms", Median, 4),
    ("rest ms", "rest_ms", Median, 4),
    ("total ms", "total_ms", Median, 4),
    ("tours/s", "tours_per_second", Median, 0),
];

/// Returns the maximum number of iterations; `u32::MAX` if there is no limit, or a larger one.
pub fn limit(stop: &Stop) -> u32 {
    stop.iterations.map_or(u32::MAX, |most| u32::try_from(most).unwrap_or(u32::MAX))
}

/// When a run started, and what ends it.
pub struct Course<'a> {
    stop: &'a Stop,
    start: Instant,
    /// Whether the time limit may cut an iteration short. Not on a GPU: the results of a launch are available only after it ends.
    is_punctual: bool,
}

impl<'a> Course<'a> {
    /// Starts the course of a run now.
    pub fn begin(stop: &'a Stop, backend: &Backend) -> Course<'a> {
        Course { stop, start: Instant::now(), is_punctual: backend.is_cpu() }
    }

    /// Returns the seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Returns the remaining time, if there is a limit.
    fn left(&self) -> Option<Duration> {
        self.stop.time.map(|time| time.saturating_sub(self.start.elapsed()))
    }

    /// Returns whether the time is up.
    fn is_late(&self) -> bool {
        self.left() == Some(Duration::ZERO)
    }
}

/// Advances from `done` to `until` iterations, or until the time is up or the target is reached. Batches end after 1, 2, 4, 8 and so
/// on iterations in all: then, and at the end, `seen` is called. Returns the state at the end; `None` if interrupted.
///
/// # Errors
/// If the backend fails.
pub fn advance<C: Colony + ?Sized>(
    colony: &mut C,
    (mut done, until): (u32, u32),
    course: &Course<'_>,
    seen: &mut dyn FnMut(&ColonyState),
) -> Result<Option<ColonyState>> {
    let stop = course.stop;
    let is_interrupted = || stop.interrupt.load(Ordering::Relaxed);
    let mut batch = 1;
    loop {
        let mark = done.checked_ilog2().map_or(1, |power| 2u64 << power);
        let count = (mark.min(until.into()) - u64::from(done)).min(batch) as u32;
        let before = Instant::now();
        // The first iteration is always completed, so that there is a tour.
        let may_be_cut = course.is_punctual && done > 0;
        let state = colony.run(count, &|| is_interrupted() || (may_be_cut && course.is_late()));
        if is_interrupted() {
            return Ok(None);
        }
        let state = state?;
        batch = next_units(u64::from(count), u64::from(count), before.elapsed(), course.left());
        done = state.iterations;
        let is_over =
            done >= until || course.is_late() || stop.target.is_some_and(|target| state.best_cost <= target);
        if is_over || u64::from(done) == mark {
            seen(&state);
        }
        if is_over {
            return Ok(Some(state));
        }
    }
}

/// Runs a colony of this many ants to the limits that are `asked` for, but not to a target; `None` if interrupted. Unless `is_timed`,
/// other runs are active at the same time, and no times are measured. Times per iteration leave out the first [`WARM_UP`] iterations, or
/// half of all if those are fewer; the seconds do not.
///
/// # Errors
/// If the backend fails or its tour is [wrong](checked).
pub fn measure_ants(
    asked: &Asked,
    (instance, problem): (&Instance, &Problem),
    (colony, ants): (&mut dyn Colony, u32),
    (backend, is_timed): (&Backend, bool),
) -> Result<Option<Measured>> {
    // Not even an optimum ends the run.
    let stop = Stop { target: None, ..asked.stop.clone() };
    let (limit, course) = (limit(&stop), Course::begin(&stop, backend));
    let warm_up = WARM_UP.min(limit / 2);
    let mut begun = None;
    if warm_up > 0 {
        let Some(state) = advance(colony, (0, warm_up), &course, &mut |_| {})? else { return Ok(None) };
        begun = Some(state);
    }
    if is_timed {
        colony.phases()?;
    }
    let state = match begun.filter(|_| course.is_late()) {
        Some(state) => state,
        None => {
            let done = begun.map_or(0, |state| state.iterations);
            let Some(state) = advance(colony, (done, limit), &course, &mut |_| {})? else { return Ok(None) };
            state
        }
    };
    let seconds = course.seconds();
    let Phases { iterations, construction, local_search, rest } =
        if is_timed { colony.phases()? } else { Phases::default() };
    let each = |time: Duration| (iterations > 0).then(|| time.as_secs_f64() * 1e3 / f64::from(iterations));
    let total = each(construction + local_search + rest);
    Ok(Some(Measured {
        solver: facts(&asked.algorithm)?.2,
        seconds: is_timed.then_some(seconds),
        iterations: state.iterations.into(),
        result: instance.cost(checked(instance, problem, &colony.best_tour()?, state.best_cost)?),
        layout: colony.describe(),
        values: vec![
            ("ants", json!(ants)),
            ("construction_ms", json!(each(construction))),
            ("rest_ms", json!(each(local_search + rest))),
            ("total_ms", json!(total)),
            ("tours_per_second", json!(total.map(|ms| f64::from(ants) / (ms / 1e3).max(1e-12)))),
        ],
        ..Measured::default()
    }))
}

/// Returns the internal cost of a tour in the problem's numbering, computed from the instance.
///
/// # Errors
/// [`Error::Bug`], one of the backend, if the tour is invalid, or its cost is not the reported one.
pub fn checked(instance: &Instance, problem: &Problem, tour: &[u32], said: i64) -> Result<i64> {
    let bug = |what: String| Error::Bug(format!("a wrong tour for {}: {what}", instance.name()));
    if tour.iter().any(|&node| node >= problem.n()) {
        return Err(bug("it has a node that does not exist".to_owned()));
    }
    let cost = instance.check_tour(&problem.original(tour)).map_err(|error| bug(error.to_string()))?;
    if cost == said { Ok(cost) } else { Err(bug(format!("its length is {cost}, not {said}"))) }
}

#[cfg(test)]
mod tests {
    use antwarp_core::papers::ants::colony::Limits;

    use super::*;
    use crate::engine::{BackendError, Enough, State};

    /// A colony whose iterations take longer than a run may. As on a GPU, an interrupted iteration gives no result.
    struct Slow(ColonyState);

    impl Colony for Slow {
        fn run(&mut self, iterations: u32, enough: Enough) -> std::result::Result<ColonyState, BackendError> {
            std::thread::sleep(Duration::from_millis(20) * iterations);
            if enough() {
                return Err(BackendError::Busy);
            }
            self.0.iterations += iterations;
            Ok(self.0)
        }

        fn best_tour(&mut self) -> std::result::Result<Vec<u32>, BackendError> {
            Err(BackendError::Busy)
        }

        fn save(&mut self, state: &mut State) -> std::result::Result<(), BackendError> {
            state.put(&[self.0])
        }

        fn restore(&mut self, state: &mut State) -> std::result::Result<ColonyState, BackendError> {
            self.0 = state.take_one(self.0)?;
            Ok(self.0)
        }

        fn phases(&mut self) -> std::result::Result<Phases, BackendError> {
            Ok(Phases::default())
        }

        fn describe(&self) -> String {
            "slow".to_owned()
        }
    }

    #[test]
    fn the_launch_under_way_when_the_time_is_up_counts() {
        let limits = Limits { lowest: 0.0, highest: 1.0, deposit: 1.0 };
        for done in [0, 3] {
            let stop = Stop::after(Duration::from_millis(1));
            let course = Course { stop: &stop, start: Instant::now(), is_punctual: false };
            let mut colony = Slow(ColonyState { iterations: done, ..ColonyState::new(limits) });
            let mut seen = Vec::new();
            let state = advance(&mut colony, (done, 100), &course, &mut |state| seen.push(state.iterations));
            assert_eq!(state.unwrap().map(|state| state.iterations), Some(done + 1));
            assert_eq!(seen, [done + 1]);
        }
    }
}
