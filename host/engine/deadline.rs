//! The time limit of a run, and its start.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::{Stop, StopReason};

/// A run's limits, and when it started.
#[derive(Debug)]
pub struct Deadline<'a, C = i64> {
    /// When the run started, or continued from a checkpoint.
    pub begin: Instant,
    /// Its limits.
    pub stop: &'a Stop<C>,
    /// How long work goes on after an interrupt; `None`: not at all.
    pub grace: Option<&'a Grace>,
}

/// Time to complete a batch of work after an interrupt, so that the run can be saved as it is then.
#[derive(Debug)]
pub struct Grace {
    time: Duration,
    /// When the interrupt was noticed.
    noticed: OnceLock<Instant>,
}

impl Grace {
    /// Allows this much time from the moment when the interrupt is noticed.
    pub fn new(time: Duration) -> Grace {
        Grace { time, noticed: OnceLock::new() }
    }

    /// Returns whether the time is over; asked once there is an interrupt.
    fn is_over(&self) -> bool {
        self.noticed.get_or_init(Instant::now).elapsed() >= self.time
    }
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
        Deadline::since(Instant::now(), stop)
    }

    /// Returns the deadline of a run that started then.
    pub fn since(begin: Instant, stop: &'a Stop<C>) -> Deadline<'a, C> {
        Deadline { begin, stop, grace: None }
    }

    /// Returns the same run with other limits.
    pub fn with<'b, D>(self, stop: &'b Stop<D>) -> Deadline<'b, D>
    where
        'a: 'b,
    {
        Deadline { begin: self.begin, stop, grace: self.grace }
    }

    /// Returns whether the time is up or the run was interrupted, and the [time to complete a batch](Grace) is over.
    pub fn is_over(self) -> bool {
        self.stop.is_late(self.begin) || self.is_interrupted()
    }

    /// Returns whether the run was interrupted, and the [time to complete a batch](Grace) is over.
    pub fn is_interrupted(self) -> bool {
        self.stop.is_interrupted() && self.grace.is_none_or(Grace::is_over)
    }

    /// Returns what ended the run, once it [is over](Deadline::is_over): the time or an interrupt.
    pub fn ended_by(self) -> StopReason {
        self.stop.ended_by()
    }

    /// Returns the time that the run has taken so far, including that before it continued from a checkpoint.
    pub fn elapsed(self) -> Duration {
        self.stop.before + self.begin.elapsed()
    }

    /// Returns the time that is left; `None` if time is not limited.
    pub fn left(self) -> Option<Duration> {
        self.stop.time.map(|time| time.saturating_sub(self.elapsed()))
    }
}
