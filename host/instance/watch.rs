//! Long-running work that can be stopped early, because it regularly checks whether to stop.

use std::sync::atomic::{AtomicBool, Ordering};

/// A callback during long-running work: returns true to stop soon. Once it returns true, it always does.
pub type Enough<'a> = &'a (dyn Fn() -> bool + Sync);

/// Number of short steps after which a check is worthwhile.
const MANY: usize = 1 << 4;

/// Checks whether to stop, and remembers the answer.
pub struct Watch<'a> {
    enough: Enough<'a>,
    is_cut: AtomicBool,
}

impl<'a> Watch<'a> {
    /// Creates a watch that uses this callback.
    pub fn new(enough: Enough<'a>) -> Watch<'a> {
        Watch { enough, is_cut: AtomicBool::new(false) }
    }

    /// Returns whether the work was stopped early: its result must not be used.
    pub fn is_cut(&self) -> bool {
        self.is_cut.load(Ordering::Relaxed)
    }

    /// Returns whether to stop now: calls back, unless that has said so before.
    pub fn is_over(&self) -> bool {
        if !self.is_cut() && (self.enough)() {
            self.is_cut.store(true, Ordering::Relaxed);
        }
        self.is_cut()
    }

    /// Does the same before one of many short steps, calling back only before some of them.
    pub fn is_over_at(&self, step: usize) -> bool {
        if step.is_multiple_of(MANY) { self.is_over() } else { self.is_cut() }
    }

    /// Returns the result of the work; `None` if it was stopped early.
    pub fn kept<T>(&self, work: T) -> Option<T> {
        (!self.is_cut()).then_some(work)
    }
}
