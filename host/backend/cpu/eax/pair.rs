//! What comes of a pair of parents.

use antwarp_core::rng::Stream;

use super::census::{Census, score};
use super::child::Child;
use super::cycles::Cycles;
use super::nodes::Nodes;
use super::tour::{Change, Tour};
use crate::engine::{BackendError, Enough};

/// Bytes a node of a desk for parents that have no edge in common, about.
const BYTES: usize = 150;

/// What a thread works with.
pub struct Desk {
    pub child: Child,
    cycles: Cycles,
    /// The AB-cycles that no child has had yet.
    deck: Vec<u32>,
}

/// A child that takes its parent's place.
pub struct Heir {
    /// By how much it is shorter.
    pub gain: i64,
    pub changes: Vec<Change>,
}

/// Steps of a pair's stream that choose AB-cycles; those before divide edges into them.
const CHOICES: u32 = 1 << 31;

impl Desk {
    /// A desk for tours of `n` nodes.
    ///
    /// # Errors
    /// If memory is short.
    pub fn new(n: u32) -> Result<Desk, BackendError> {
        Ok(Desk { child: Child::new(n)?, cycles: Cycles::new(n)?, deck: Vec::new() })
    }

    /// Bytes of a desk, about.
    pub fn bytes(n: u32) -> usize {
        BYTES * n as usize
    }

    /// The best of the children of a pair, `children` at most, of an AB-cycle each: the most gain for the loss of entropy
    /// of a population, in which the first parent is; none, if none is shorter than that.
    pub fn breed(
        &mut self,
        (nodes, census): (&Nodes, &Census),
        (a, b): (&Tour, &Tour),
        (children, stream): (u32, Stream),
        enough: Enough,
    ) -> Option<Heir> {
        self.cycles.decompose(a, b, stream);
        self.deck.clear();
        self.deck.extend(0..self.cycles.count());
        let (mut best, mut most) = (None, 0.0);
        for i in 0..children.min(self.cycles.count()) {
            if i > 0 && enough() {
                break;
            }
            let chosen = stream.step(CHOICES + i).below(0, self.deck.len() as u32);
            let cycle = self.deck.swap_remove(chosen as usize);
            let (gain, _) = self.child.evaluate(nodes, a, &self.cycles, &[cycle]);
            if gain <= 0 {
                continue;
            }
            let score = score(gain, census.loss(a, self.child.changes()));
            if score > most {
                most = score;
                best = Some(Heir { gain, changes: self.child.changes().to_vec() });
            }
        }
        best
    }
}
