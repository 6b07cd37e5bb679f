//! When to stop: time, iterations, a target cost, stagnation, an interrupt; whichever comes first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::Status;

/// The limits of a run; [`Stop::never`] has none. `C` is the type of costs: lengths by default.
///
/// ```
/// use std::sync::atomic::Ordering;
/// use std::time::{Duration, Instant};
///
/// use antwarp_engine::Stop;
///
/// // Ten seconds or a thousand iterations, whichever comes first.
/// let stop: Stop = Stop { iterations: Some(1000), ..Stop::after(Duration::from_secs(10)) };
/// assert!(!stop.is_over(Instant::now()));
/// // Any thread may end the run.
/// stop.interrupt.store(true, Ordering::Relaxed);
/// assert!(stop.is_over(Instant::now()));
/// ```
#[derive(Clone, Debug)]
pub struct Stop<C = i64> {
    /// Wall-clock time since the start of the run, preparation and [`Stop::before`] included. `None` is no limit, here and below.
    pub time: Option<Duration>,
    /// The part of the time that has passed already, where a run continues from a checkpoint.
    pub before: Duration,
    /// Number of iterations, as [`Status::iterations`] counts them.
    pub iterations: Option<u64>,
    /// A tour with at most this internal cost ([`Instance::inside`](antwarp_instance::Instance::inside)), or a solution of this
    /// cost.
    pub target: Option<C>,
    /// Number of iterations without improvement after which a run ends.
    pub stagnation: Option<u64>,
    /// Whether a run ends by itself once it no longer expects to find anything better. Only chained Lin-Kernighan knows that, where
    /// it restarts.
    pub may_settle: bool,
    /// Set from outside, for example by Ctrl-C.
    pub interrupt: Arc<AtomicBool>,
    /// Whether an engine may take up to a second to improve its result after an interrupt, as chained Lin-Kernighan does by crossing
    /// its tours. May be set together with the interrupt.
    pub is_patient: Arc<AtomicBool>,
}

/// Why a run stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// The time was up.
    Time,
    /// All iterations were done.
    Iterations,
    /// The target cost was reached.
    Target,
    /// A tour as short as the published optimum was found.
    PublishedOptimum,
    /// The tour is proven to be optimal, by this run itself.
    Optimal,
    /// The tour is proven to be optimal for lengths as they are rounded internally.
    OptimalRounded,
    /// No improvement for the given number of iterations.
    Stagnation,
    /// No move of the local search made the tour shorter, and no kicks were requested.
    LocalOptimum,
    /// It was interrupted.
    Interrupt,
    /// Several restarts ended with the same result, and none with a better one.
    Settled,
    /// An error occurred; the best tour until then was kept.
    Failure,
}

impl StopReason {
    /// Returns whether the run proved that no tour is shorter.
    pub fn is_proof(self) -> bool {
        matches!(self, StopReason::Optimal | StopReason::OptimalRounded)
    }
}

impl<C> Stop<C> {
    /// Returns no limits: a run stops only by itself, or by [`Stop::interrupt`].
    pub fn never() -> Stop<C> {
        Stop {
            time: None,
            before: Duration::ZERO,
            iterations: None,
            target: None,
            stagnation: None,
            may_settle: false,
            interrupt: Arc::default(),
            is_patient: Arc::default(),
        }
    }

    /// Stops a run after this time, including its preparation.
    pub fn after(time: Duration) -> Stop<C> {
        Stop { time: Some(time), ..Stop::never() }
    }

    /// Returns whether the time of a run that started, or continued, then is up, or it was interrupted.
    pub fn is_over(&self, begin: Instant) -> bool {
        self.is_late(begin) || self.is_interrupted()
    }

    /// Returns whether the time of a run that started, or continued, then is up.
    pub fn is_late(&self, begin: Instant) -> bool {
        self.time.is_some_and(|time| self.before + begin.elapsed() >= time)
    }

    /// Returns whether the run was interrupted.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Returns why a run [is over](Stop::is_over): an interrupt if there was one, else the time.
    pub fn ended_by(&self) -> StopReason {
        if self.is_interrupted() { StopReason::Interrupt } else { StopReason::Time }
    }

    /// Returns the limits for a run that starts this much later: its time is shorter, but not negative.
    pub fn spent(&self, time: Duration) -> Stop<C>
    where
        C: Copy,
    {
        Stop { time: self.time.map(|whole| whole.saturating_sub(time)), ..self.clone() }
    }

    /// Returns the limits with a target of another cost type.
    pub fn with_target<D>(&self, target: Option<D>) -> Stop<D> {
        let Stop { time, before, iterations, stagnation, may_settle, .. } = *self;
        let (interrupt, is_patient) = (self.interrupt.clone(), self.is_patient.clone());
        Stop { time, before, iterations, target, stagnation, may_settle, interrupt, is_patient }
    }
}

impl<C: Copy + PartialOrd> Stop<C> {
    /// Returns why a run stops at this point; `None` if it goes on. The `elapsed` time includes [`Stop::before`]. If there are
    /// several reasons, the first of these is returned: target, interrupt, iterations, stagnation, time.
    pub fn reason(&self, elapsed: Duration, status: &Status<C>) -> Option<StopReason> {
        let at_least = |limit: Option<u64>, value: u64| limit.is_some_and(|l| value >= l);
        let is_reached = |target: C| status.best_cost.is_some_and(|best| best <= target);
        let stagnating = status.iterations.saturating_sub(status.best_iteration);
        if self.target.is_some_and(is_reached) {
            Some(StopReason::Target)
        } else if self.is_interrupted() {
            Some(StopReason::Interrupt)
        } else if at_least(self.iterations, status.iterations) {
            Some(StopReason::Iterations)
        } else if at_least(self.stagnation, stagnating) {
            Some(StopReason::Stagnation)
        } else if self.time.is_some_and(|t| elapsed >= t) {
            Some(StopReason::Time)
        } else {
            None
        }
    }
}
