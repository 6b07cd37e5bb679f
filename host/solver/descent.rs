//! Iterated local search by best improvement (Fosin et al. 2013): one tour, worked on as a whole.
//!
//! Settings, start and end of a run are those of [`ils`](super::ils).

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use antwarp_core::local_search::best::DescentState;
use antwarp_core::local_search::chain::{Accept, Rules};

use super::ils::{Acceptance, End, KEEP_EVERY, Settings, next_batch, progress};
use super::problem::Problem;
use super::stop::{Stop, StopReason};
use super::{Progress, SolveError};
use crate::backend::{Backend, Descent};
use crate::solver::local_search::LocalSearch;

/// Everything a backend needs to know about a descent.
#[derive(Clone, Debug)]
pub struct DescentSpec {
    /// Seed of the run.
    pub seed: u64,
    /// The operator.
    pub local_search: LocalSearch,
    /// Neighbours that the second step of a move looks at.
    pub breadth: u32,
    /// Kicks, at most.
    pub kicks: u32,
    /// Longest segment of a double bridge; 0: four edges anywhere.
    pub segment: u32,
    /// When a tour is accepted.
    pub accept: Accept,
    /// Many moves a pass, else one.
    pub many: bool,
    /// Stop once a tour is not longer than this.
    pub target: i64,
    /// Length of the tour to begin with: that of the problem's numbering.
    pub start_cost: i64,
}

impl DescentSpec {
    /// What settings and stop criteria ask for.
    pub fn new(problem: &Problem, settings: &Settings, stop: &Stop, start_cost: i64) -> DescentSpec {
        let kicks = if settings.descent_only { 0 } else { stop.iterations.unwrap_or(u64::MAX) };
        DescentSpec {
            seed: settings.seed,
            local_search: settings.local_search,
            breadth: settings.breadth.min(problem.search_k()),
            kicks: kicks.min(u64::from(u32::MAX)) as u32,
            segment: settings.segment,
            accept: settings.accept.into(),
            many: settings.moves == super::ils::Moves::Many,
            target: stop.target.unwrap_or(i64::MIN),
            start_cost,
        }
    }

    /// The rules at a temperature.
    pub fn rules(&self, temperature: f32) -> Rules {
        Rules {
            kicks: self.kicks,
            first_kick: 0,
            segment: self.segment,
            accept: self.accept as u32,
            temperature,
            descend_first: 1,
            keep_best: 1,
            padding: 0,
        }
    }

    /// In words.
    pub fn moves(&self) -> &'static str {
        if self.many { "many moves" } else { "one move" }
    }
}

/// The loop around a backend's descent.
pub(super) struct Run<'a> {
    pub begin: Instant,
    pub settings: &'a Settings,
    pub stop: &'a Stop,
    pub observe: &'a mut dyn FnMut(&Progress),
}

impl Run<'_> {
    pub(super) fn solve(
        mut self,
        problem: &Problem,
        backend: &Backend,
        start_cost: i64,
    ) -> Result<End, SolveError> {
        let spec = DescentSpec::new(problem, self.settings, self.stop, start_cost);
        let mut descent = backend.descent(problem, &spec)?;
        let setup = self.begin.elapsed();
        let mut state = DescentState::new(start_cost);
        let mut kept = None;
        let mean_edge = start_cost as f32 / problem.n() as f32;
        let ended = self.go(descent.as_mut(), setup, mean_edge, &mut state, &mut kept);
        let (stopped_by, failure) = match ended {
            Ok(reason) => (reason, None),
            Err(failure) => (StopReason::Failure, Some(failure.to_string())),
        };
        let kicks = u64::from(state.descents.saturating_sub(1));
        Ok(End {
            setup,
            iterations: kicks,
            best_iteration: u64::from(state.best_descent.saturating_sub(1)),
            tours: kicks,
            stopped_by,
            layout: descent.describe(),
            found: if failure.is_none() { Some((state.least(), descent.best_tour()?)) } else { kept },
            failure,
        })
    }

    fn go(
        &mut self,
        descent: &mut dyn Descent,
        setup: Duration,
        mean_edge: f32,
        state: &mut DescentState,
        kept: &mut Option<(i64, Vec<u32>)>,
    ) -> Result<StopReason, SolveError> {
        let (begin, stop) = (self.begin, self.stop);
        let mut batch = 1u64;
        let mut kept_at = Instant::now();
        loop {
            let kicks = u64::from(state.descents.saturating_sub(1));
            let best_kick = u64::from(state.best_descent.saturating_sub(1));
            if let Some(reason) = stop.reason(begin.elapsed(), kicks, best_kick, state.least()) {
                return Ok(reason);
            }
            if state.done != 0 {
                let local = self.settings.descent_only;
                return Ok(if local { StopReason::LocalOptimum } else { StopReason::Iterations });
            }
            let temperature = if self.settings.accept == Acceptance::Annealing {
                // It falls with the kicks too, but where they are made: batches depend on time.
                let left = (1.0 - progress(stop, begin, setup, 0)).max(0.0);
                self.settings.temperature * mean_edge * left
            } else {
                0.0
            };
            let late = || stop.time.is_some_and(|t| begin.elapsed() >= t);
            let before = Instant::now();
            let enough = || late() || stop.interrupt.load(Ordering::Relaxed);
            *state = descent.run(batch as u32, temperature, &enough)?;
            let left = stop.time.map(|t| t.saturating_sub(begin.elapsed()));
            batch = next_batch(batch, before.elapsed(), left).min(u64::from(u32::MAX));
            let least = state.least();
            if kept_at.elapsed() >= KEEP_EVERY && kept.as_ref().is_none_or(|k| k.0 > least) {
                *kept = Some((least, descent.best_tour()?));
                kept_at = Instant::now();
            }
            (self.observe)(&Progress {
                iterations: u64::from(state.descents.saturating_sub(1)),
                best_cost: least,
                iteration_cost: state.cost,
                seconds: begin.elapsed().as_secs_f64(),
                tours: u64::from(state.descents.saturating_sub(1)),
            });
        }
    }
}
