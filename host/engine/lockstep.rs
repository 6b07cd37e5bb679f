//! Runs in lockstep: in every step each run sends a message to all others, and continues once it has received theirs.
//!
//! So runs of the same program come to the same decisions, and share work whose results all of them need. As with a
//! [`Post`](super::Post), a courier carries the messages. A run that is over leaves, and is no longer waited for; all others learn
//! that in the same step.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Enough;

/// How often a waiting run checks whether it should end.
const LOOK: Duration = Duration::from_millis(5);
/// How long it then waits for the others, which are also about to end, so that their last step is not lost.
const GRACE: Duration = Duration::from_millis(50);

/// The message of each run in a step, by run number; `None` for a run that has left.
pub type Step = Vec<Option<Arc<Vec<u8>>>>;

/// Runs in lockstep that share work, as seen by one of them.
pub trait Sharing {
    /// Returns this run's part of this many pieces.
    fn part(&self, pieces: u32) -> Range<u32>;

    /// Sends the result of this run's part, which may be empty, to all others. Returns the results of all, in the order of the
    /// pieces; `None` if this run is over.
    fn gather(&mut self, made: Vec<u8>, enough: Enough) -> Option<Vec<Arc<Vec<u8>>>>;
}

/// Where a run in lockstep and its courier exchange messages.
#[derive(Debug)]
pub struct Lockstep {
    own: u32,
    messages: Mutex<Messages>,
    /// Signals that there is something to send, or to read.
    is_new: Condvar,
    /// Whether the run is waiting for others.
    waits: AtomicBool,
}

#[derive(Debug, Default)]
struct Messages {
    out: VecDeque<Arc<Vec<u8>>>,
    of: Vec<Mail>,
}

impl Messages {
    /// Marks the run with this number, which owns these messages, as having left.
    fn leave(&mut self, own: u32) {
        if !std::mem::replace(&mut self.of[own as usize].has_left, true) {
            self.out.push_back(Arc::default());
            self.of.iter_mut().for_each(|mail| mail.waiting.clear());
        }
    }
}

/// Messages received from a run.
#[derive(Debug, Default)]
struct Mail {
    waiting: VecDeque<Arc<Vec<u8>>>,
    has_left: bool,
}

impl Lockstep {
    /// Creates the lockstep of the run with this number, out of `runs`.
    pub fn new(own: u32, runs: u32) -> Lockstep {
        let of = (0..runs).map(|_| Mail::default()).collect();
        Lockstep {
            own,
            messages: Mutex::new(Messages { of, ..Messages::default() }),
            is_new: Condvar::new(),
            waits: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Messages> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn await_news<'a>(&self, messages: MutexGuard<'a, Messages>, most: Duration) -> MutexGuard<'a, Messages> {
        self.is_new.wait_timeout(messages, most).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Returns the run's number.
    pub fn own(&self) -> u32 {
        self.own
    }

    /// Sends a message to all others, and waits for their messages of the same step. `None` if this run has left, which happens if
    /// `enough` asks to stop before all messages have arrived.
    ///
    /// # Panics
    /// If the message is empty.
    pub fn step(&self, told: Vec<u8>, enough: Enough) -> Option<Step> {
        assert!(!told.is_empty(), "an empty message means that a run leaves");
        let told = Arc::new(told);
        let mut messages = self.lock();
        if messages.of[self.own as usize].has_left {
            return None;
        }
        messages.of[self.own as usize].waiting.push_back(told.clone());
        messages.out.push_back(told);
        self.waits.store(true, Ordering::Relaxed);
        self.is_new.notify_all();
        let mut late: Option<Instant> = None;
        let is_whole = loop {
            if messages.of.iter().all(|mail| mail.has_left || !mail.waiting.is_empty()) {
                break true;
            }
            if enough() && late.get_or_insert_with(Instant::now).elapsed() >= GRACE {
                break false;
            }
            messages = self.await_news(messages, LOOK);
        };
        self.waits.store(false, Ordering::Relaxed);
        if !is_whole {
            messages.leave(self.own);
            return None;
        }
        Some(messages.of.iter_mut().map(|mail| mail.waiting.pop_front()).collect())
    }

    /// Leaves: this run takes no further step.
    pub fn leave(&self) {
        self.lock().leave(self.own);
        self.is_new.notify_all();
    }

    /// Returns the next message to send to all others, in order.
    pub fn collect(&self) -> Option<Arc<Vec<u8>>> {
        self.lock().out.pop_front()
    }

    /// Delivers a message from another run.
    pub fn deliver(&self, from: u32, told: Vec<u8>) {
        let mut messages = self.lock();
        let is_read = !messages.of[self.own as usize].has_left;
        let Some(of) = messages.of.get_mut(from as usize) else { return };
        if told.is_empty() {
            of.has_left = true;
        } else if is_read {
            of.waiting.push_back(Arc::new(told));
        }
        self.is_new.notify_all();
    }

    /// Returns whether a run may still need messages.
    pub fn listens(&self, run: u32) -> bool {
        self.lock().of.get(run as usize).is_some_and(|mail| !mail.has_left)
    }

    /// Returns whether the run is blocked until the next message.
    pub fn waits(&self) -> bool {
        self.waits.load(Ordering::Relaxed)
    }

    /// Waits until there is something to send, for at most this long.
    pub fn await_load(&self, most: Duration) {
        let messages = self.lock();
        if messages.out.is_empty() {
            drop(self.await_news(messages, most));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread::scope;

    use super::*;

    /// Carries all pending messages.
    fn carry(all: &[Lockstep]) {
        for from in all {
            while let Some(told) = from.collect() {
                let others = all.iter().filter(|to| to.own() != from.own());
                others.for_each(|to| to.deliver(from.own(), told.to_vec()));
            }
        }
    }

    #[test]
    fn all_hear_the_same_in_every_step_until_they_leave() {
        let all: Vec<Lockstep> = (0..3).map(|own| Lockstep::new(own, 3)).collect();
        let is_over = AtomicBool::new(false);
        scope(|s| {
            s.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    carry(&all);
                }
            });
            // Run 1 takes three steps, the others ten.
            let runs = all.iter().map(|run| {
                s.spawn(move || {
                    let steps = if run.own() == 1 { 3 } else { 10 };
                    let heard: Vec<Step> = (0..steps)
                        .map(|step| run.step(vec![run.own() as u8, step], &|| false).unwrap())
                        .collect();
                    run.leave();
                    assert!(run.step(vec![1], &|| false).is_none());
                    heard
                })
            });
            let runs: Vec<_> = runs.collect();
            let heard: Vec<Vec<Step>> = runs.into_iter().map(|run| run.join().unwrap()).collect();
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(heard[0], heard[2]);
            assert_eq!(heard[0][..3], heard[1]);
            for (step, told) in heard[0].iter().enumerate() {
                let expected = |run: u8| (run != 1 || step < 3).then(|| Arc::new(vec![run, step as u8]));
                assert_eq!(*told, [0, 1, 2].map(expected));
            }
        });
    }

    #[test]
    fn nobody_waits_for_ever() {
        let (run, other) = (Lockstep::new(0, 2), Lockstep::new(1, 2));
        assert!(run.step(vec![7], &|| true).is_none());
        assert!(!run.listens(0) && run.listens(1));
        // Messages that arrive afterwards are dropped.
        run.deliver(1, vec![1]);
        assert!(run.lock().of[1].waiting.is_empty());
        assert_eq!(run.collect().as_deref(), Some(&vec![7]));
        other.deliver(0, vec![7]);
        other.deliver(0, run.collect().unwrap().to_vec());
        assert!(run.collect().is_none());
        // Messages that a run sent before it left are received.
        assert!(other.step(vec![8], &|| false).unwrap()[0].is_some());
        assert!(other.step(vec![9], &|| false).unwrap()[0].is_none());
        other.deliver(5, vec![1]);
    }
}
