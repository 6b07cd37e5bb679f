//! How much work an engine may do in one call.

use std::time::{Duration, Instant};

use super::Deadline;

/// How late work may end that should have ended in time by itself: stopping it early would waste it.
const GRACE: Duration = Duration::from_millis(20);
/// The same after an interrupt, counted from the start of the work.
const INTERRUPTED: Duration = Duration::from_millis(100);

/// The size of a batch of work, and when the run ends.
#[derive(Clone, Copy)]
pub struct Budget<'a, C = i64> {
    /// Units of work to do, at least 1; the engine chooses the unit. They should take about a tenth of a second.
    pub units: u64,
    /// When the run must end.
    pub deadline: Deadline<'a, C>,
}

impl<C> Budget<'_, C> {
    /// Returns whether the time is up or the run was interrupted.
    pub fn is_over(&self) -> bool {
        self.deadline.is_over()
    }

    /// Returns whether work that started then, and should have ended by now, must be stopped and lost.
    pub fn is_overdue(&self, started: Instant) -> bool {
        let late = self.deadline.elapsed().checked_sub(GRACE);
        self.deadline.stop.time.is_some_and(|time| late.is_some_and(|late| late >= time))
            || (self.deadline.is_interrupted() && started.elapsed() >= INTERRUPTED)
    }

    /// Returns the iterations that are left after this many; `u64::MAX` if they are not limited.
    pub fn left(&self, iterations: u64) -> u64 {
        self.deadline.stop.iterations.map_or(u64::MAX, |most| most.saturating_sub(iterations))
    }

    /// Returns the progress, from 0 to 1, of a run that was prepared after `setup` and has done this many iterations. 1 if it has
    /// no end, since there is nothing to cool down towards.
    pub fn progress(&self, setup: Duration, iterations: u64) -> f32 {
        let time = self.deadline.stop.time.map(|time| {
            let working = time.saturating_sub(setup).as_secs_f64().max(1e-9);
            (self.deadline.elapsed().saturating_sub(setup).as_secs_f64() / working) as f32
        });
        let iterations = self.deadline.stop.iterations.map(|most| iterations as f32 / most as f32);
        time.into_iter().chain(iterations).reduce(f32::max).unwrap_or(1.0)
    }
}
