//! When to stop: time, iterations, a target cost, stagnation, an interrupt; whichever comes first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::Serialize;

/// What stops a run. `Default` never stops.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    /// Wall-clock time, preparation included.
    pub time: Option<Duration>,
    /// Number of iterations.
    pub iterations: Option<u64>,
    /// A tour not longer than this.
    pub target: Option<i64>,
    /// Iterations without improvement.
    pub stagnation: Option<u64>,
    /// Set from outside, by Ctrl-C say.
    pub interrupt: Arc<AtomicBool>,
}

/// Why a run stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// The time was up.
    Time,
    /// All iterations were done.
    Iterations,
    /// The target cost, or a known optimum, was reached.
    Target,
    /// No improvement for the given number of iterations.
    Stagnation,
    /// No move of the local search made the tour shorter, and no kicks were wanted.
    LocalOptimum,
    /// It was interrupted.
    Interrupt,
    /// An error; the best tour until then was kept.
    Failure,
    /// There was nothing to search: so few nodes that every tour was looked at.
    Trivial,
}

impl Stop {
    /// Whether a run stops here, and why.
    pub fn reason(
        &self,
        elapsed: Duration,
        iterations: u64,
        best_iteration: u64,
        best: i64,
    ) -> Option<StopReason> {
        let at_least = |limit: Option<u64>, value: u64| limit.is_some_and(|l| value >= l);
        if self.target.is_some_and(|t| best <= t) {
            Some(StopReason::Target)
        } else if self.interrupt.load(Ordering::Relaxed) {
            Some(StopReason::Interrupt)
        } else if at_least(self.iterations, iterations) {
            Some(StopReason::Iterations)
        } else if at_least(self.stagnation, iterations.saturating_sub(best_iteration)) {
            Some(StopReason::Stagnation)
        } else if self.time.is_some_and(|t| elapsed >= t) {
            Some(StopReason::Time)
        } else {
            None
        }
    }
}
