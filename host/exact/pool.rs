//! Cuts that were rows of the linear program once.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::separation::Workers;
use crate::support::Borders;
use crate::{Cut, Support};

/// The most cuts that are kept, for each node.
const MOST_PER_NODE: usize = 10;
/// By how much a cut must be violated to become a row again.
const VIOLATION: f64 = 1e-2;
/// The cuts that a piece of work looks at.
const PIECE: usize = 256;

/// Cuts that were deleted from the linear program; the oldest are forgotten.
pub(crate) struct Pool {
    cuts: VecDeque<Arc<Cut>>,
    most: usize,
}

impl Pool {
    /// Begins without cuts, for an instance of this many nodes.
    pub fn new(nodes: usize) -> Pool {
        Pool { cuts: VecDeque::new(), most: MOST_PER_NODE * nodes }
    }

    /// Adds cuts; forgets the oldest if there are too many.
    pub fn add(&mut self, cuts: impl Iterator<Item = Arc<Cut>>) {
        self.cuts.extend(cuts);
        self.cuts.drain(..self.cuts.len().saturating_sub(self.most));
    }

    /// Takes out the cuts that a solution violates by more than 0.01, the oldest first; not all of them once the watch is over.
    pub fn violated(&mut self, support: &Support, workers: Workers<'_>) -> Vec<Arc<Cut>> {
        let cuts = &*self.cuts.make_contiguous();
        let found = workers.each(cuts.len().div_ceil(PIECE), &|piece| {
            let mut borders = Borders::new(support);
            let numbers = piece * PIECE..cuts.len().min((piece + 1) * PIECE);
            numbers.filter(|&number| borders.violation(&cuts[number]) > VIOLATION).collect::<Vec<_>>()
        });
        let mut is_violated = vec![false; cuts.len()];
        found.into_iter().flatten().for_each(|number| is_violated[number] = true);
        let mut is_violated = is_violated.into_iter();
        let (found, others) = self.cuts.drain(..).partition(|_| is_violated.next().unwrap_or_default());
        self.cuts = others;
        Vec::from(found)
    }
}
