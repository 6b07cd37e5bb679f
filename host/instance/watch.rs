//! Work that can take long and be cut short: whoever does it looks at the clock now and then.

use std::sync::atomic::{AtomicBool, Ordering};

/// Asked during work that can take long: true to stop soon. Once it is true it stays so.
pub type Enough<'a> = &'a (dyn Fn() -> bool + Sync);

/// Steps of short ones after which it is worth a look at the clock.
const MANY: usize = 1 << 4;

/// Asks whether it is enough, and remembers that it was.
pub(crate) struct Watch<'a> {
    enough: Enough<'a>,
    is_cut: AtomicBool,
}

impl<'a> Watch<'a> {
    /// Asks this one.
    pub(crate) fn new(enough: Enough<'a>) -> Watch<'a> {
        Watch { enough, is_cut: AtomicBool::new(false) }
    }

    /// Whether the work was told to stop: what came of it is of no use.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut.load(Ordering::Relaxed)
    }

    /// Whether to stop now.
    pub(crate) fn is_over(&self) -> bool {
        if !self.is_cut() && (self.enough)() {
            self.is_cut.store(true, Ordering::Relaxed);
        }
        self.is_cut()
    }

    /// The same before one of many short steps: the clock is looked at before some of them.
    pub(crate) fn is_over_at(&self, step: usize) -> bool {
        if step.is_multiple_of(MANY) { self.is_over() } else { self.is_cut() }
    }

    /// What came of the work, if it was not cut short.
    pub(crate) fn kept<T>(&self, work: T) -> Option<T> {
        (!self.is_cut()).then_some(work)
    }
}
