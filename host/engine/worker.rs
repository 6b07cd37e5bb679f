//! A team of one thread that checks whether to stop while it works, which core itself cannot do.

use std::cell::Cell;

use antwarp_core::team::{Serial, Team};

use super::Enough;

/// Number of steps of work after which a check is worthwhile: each takes a microsecond or more.
const STEPS: u32 = 1 << 6;

/// A CPU thread that can be stopped in the middle of a tour; a reference to it is a [`Team`].
pub struct Worker<'a> {
    enough: Enough<'a>,
    steps: Cell<u32>,
    stopped: Cell<bool>,
}

impl<'a> Worker<'a> {
    /// Creates a worker that works until `enough` asks it to stop.
    pub fn new(enough: Enough<'a>) -> Worker<'a> {
        Worker { enough, steps: Cell::new(0), stopped: Cell::new(false) }
    }

    /// Returns whether it has stopped, leaving its work unfinished.
    pub fn has_stopped(&self) -> bool {
        self.stopped.get()
    }
}

impl<'a> Team for &'a Worker<'a> {
    const ALONE: bool = true;
    type Part = Self;

    #[inline(always)]
    fn is_over(self) -> bool {
        let steps = self.steps.get().wrapping_add(1);
        self.steps.set(steps);
        if steps.is_multiple_of(STEPS) && (self.enough)() {
            self.stopped.set(true);
        }
        self.stopped.get()
    }

    #[inline(always)]
    fn part(self) -> Self {
        self
    }
    #[inline(always)]
    fn part_rank(self) -> u32 {
        Serial.part_rank()
    }
    #[inline(always)]
    fn parts(self) -> u32 {
        Serial.parts()
    }
    #[inline(always)]
    fn rank(self) -> u32 {
        Serial.rank()
    }
    #[inline(always)]
    fn size(self) -> u32 {
        Serial.size()
    }
    #[inline(always)]
    fn barrier(self) {}
    #[inline(always)]
    fn arg_max(self, key: u32, tag: u32, value: u32) -> (u32, u32) {
        Serial.arg_max(key, tag, value)
    }
    #[inline(always)]
    fn sum(self, value: u64) -> u64 {
        Serial.sum(value)
    }
    #[inline(always)]
    fn min(self, value: u64) -> u64 {
        Serial.min(value)
    }
    #[inline(always)]
    fn sum_before(self, value: u32) -> (u32, u32) {
        Serial.sum_before(value)
    }
}
