//! Gives up a search that has no solution long after it should have ended.
//!
//! Generating an instance, laying it out, and computing the first cost take as long as they take: a large instance may outlast the
//! limit many times over before there is anything to report. So a search works on a thread of its own, which is left behind
//! if the time is up, or an interrupt has come, and there is nothing to wait for.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::super::output;
use super::super::{Error, Outcome, Result};
use crate::engine::{Stop, StopReason};

/// How long a search that should be over may take to come up with its first solution.
const GRACE: Duration = Duration::from_secs(1);
/// How often the clock is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// The search may be given up.
const NOTHING: u8 = 0;
/// It may not, as it is about to have a solution or an error, or uses a device, which is not left in the middle of something.
const KEPT: u8 = 1;
/// It was given up.
const GIVEN_UP: u8 = 2;

/// Whether a search may be given up.
#[derive(Clone, Debug, Default)]
pub(super) struct Hold(Arc<AtomicU8>);

impl Hold {
    /// From now on the search is waited for. Of one that was given up nothing is heard any more: the process is about to end.
    pub fn keep(&self) {
        let state = self.0.compare_exchange(NOTHING, KEPT, Ordering::AcqRel, Ordering::Acquire);
        while state == Err(GIVEN_UP) {
            thread::park();
        }
    }

    /// From now on it may be given up again.
    pub fn release(&self) {
        self.0.store(NOTHING, Ordering::Release);
    }

    /// Gives the search up, if that may be.
    fn give_up(&self) -> bool {
        self.0.compare_exchange(NOTHING, GIVEN_UP, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

/// Does the work of a search whose time counts from `begin`, on a thread of its own, and gives it up when it is overdue and nothing
/// [keeps](Hold::keep) it.
///
/// # Errors
/// That of the work; if no thread can be started; and if the work was given up because the time was up.
pub(super) fn watch<C>(
    begin: Instant,
    stop: &Stop<C>,
    work: impl FnOnce(&Hold) -> Result<Outcome> + Send + 'static,
) -> Result<Outcome> {
    let hold = Hold::default();
    let (tell, heard) = channel();
    let own = hold.clone();
    let work = move || {
        let ended = work(&own);
        own.keep();
        // Who listens is there until it has heard, or the process ends.
        let _ = tell.send(ended);
    };
    let worker = thread::Builder::new().name("search".to_owned()).spawn(work).map_err(Error::NoThread)?;
    let mut over_since = None;
    loop {
        match heard.recv_timeout(LOOK) {
            Ok(ended) => return ended,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => return Err(Error::Bug("a search ended without a result".to_owned())),
            },
        }
        if stop.is_over(begin)
            && over_since.get_or_insert_with(Instant::now).elapsed() >= GRACE
            && hold.give_up()
        {
            return nothing(stop.ended_by());
        }
    }
}

/// How a search ends that found nothing.
fn nothing(why: StopReason) -> Result<Outcome> {
    if why != StopReason::Interrupt {
        return Err(Error::Usage("the time was up before there was a solution: give more --time".to_owned()));
    }
    output::tell("antwarp: interrupted before there was a solution");
    Ok(Outcome::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_without_a_solution_is_given_up() {
        let begin = Instant::now();
        let stop: Stop = Stop::after(Duration::from_millis(10));
        let ended = watch(begin, &stop, |_| {
            thread::sleep(Duration::from_secs(600));
            Ok(Outcome::Done)
        });
        assert_eq!(ended.unwrap_err().status(), 2);
        assert!(begin.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn a_search_with_a_solution_is_waited_for() {
        let stop: Stop = Stop::after(Duration::ZERO);
        let ended = watch(Instant::now(), &stop, |hold| {
            hold.keep();
            thread::sleep(GRACE + Duration::from_millis(500));
            Ok(Outcome::Done)
        });
        assert!(matches!(ended, Ok(Outcome::Done)));
    }

    #[test]
    fn an_interrupt_without_a_solution_has_its_own_end() {
        let stop: Stop = Stop::never();
        stop.interrupt.store(true, Ordering::Relaxed);
        let ended = watch(Instant::now(), &stop, |_| {
            thread::sleep(Duration::from_secs(600));
            Ok(Outcome::Done)
        });
        assert!(matches!(ended, Ok(Outcome::Interrupted)));
    }
}
