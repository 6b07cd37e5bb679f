//! The best tour known, shared by everybody who looks for tours or proves something about them.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The best tour so far of a closed instance, which searches improve and a proof compares with its bounds. Costs are internal ones.
#[derive(Debug)]
pub struct Incumbent {
    /// The cost of the best tour; `i64::MAX` without one.
    cost: AtomicI64,
    tour: Mutex<Vec<u32>>,
}

impl Incumbent {
    /// Begins without a tour.
    pub fn new() -> Incumbent {
        Incumbent { cost: AtomicI64::new(i64::MAX), tour: Mutex::new(Vec::new()) }
    }

    /// Returns the cost of the best tour; `i64::MAX` without one.
    pub fn cost(&self) -> i64 {
        self.cost.load(Ordering::Relaxed)
    }

    /// Takes a tour and its cost if it is better than the best one. Returns whether it was. Neither is checked.
    pub fn offer(&self, cost: i64, tour: &[u32]) -> bool {
        if cost >= self.cost() {
            return false;
        }
        let mut best = self.tour.lock().unwrap_or_else(PoisonError::into_inner);
        if cost >= self.cost() {
            return false;
        }
        self.cost.store(cost, Ordering::Relaxed);
        best.clear();
        best.extend_from_slice(tour);
        true
    }

    /// Returns the cost of the best tour, and that tour; `None` without one.
    pub fn best(&self) -> Option<(i64, Vec<u32>)> {
        let tour = self.tour.lock().unwrap_or_else(PoisonError::into_inner);
        // The cost changes only under the lock.
        (!tour.is_empty()).then(|| (self.cost(), tour.clone()))
    }
}

impl Default for Incumbent {
    fn default() -> Incumbent {
        Incumbent::new()
    }
}
