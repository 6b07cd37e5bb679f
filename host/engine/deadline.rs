//! The time limit of a run, and its start.

use std::time::{Duration, Instant};

use super::{Stop, StopReason};

/// A run's limits, and when it started.
#[derive(Debug)]
pub struct Deadline<'a, C = i64> {
    /// When the run started, or continued from a checkpoint.
    pub begin: Instant,
    /// Its limits.
    pub stop: &'a Stop<C>,
}

// Deriving these would require them of C, too.
impl<C> Clone for Deadline<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Deadline<'_, C> {}

impl<'a, C> Deadline<'a, C> {
    /// Returns the deadline of a run that starts now.
    pub fn now(stop: &'a Stop<C>) -> Deadline<'a, C> {
        Deadline { begin: Instant::now(), stop }
    }

    /// Returns the same run with other limits.
    pub fn with<D>(self, stop: &Stop<D>) -> Deadline<'_, D> {
        Deadline { begin: self.begin, stop }
    }

    /// Returns whether the time is up or the run was interrupted.
    pub fn is_over(self) -> bool {
        self.stop.is_over(self.begin)
    }

    /// Returns what ended the run, once it [is over](Deadline::is_over): the time or an interrupt.
    pub fn ended_by(self) -> StopReason {
        self.stop.ended_by()
    }

    /// Returns the time that the run has taken so far, including that before it continued from a checkpoint.
    pub fn elapsed(self) -> Duration {
        self.stop.before + self.begin.elapsed()
    }

    /// Returns the time that is left; `None` if there is no limit.
    pub fn left(self) -> Option<Duration> {
        self.stop.time.map(|time| time.saturating_sub(self.elapsed()))
    }
}
