//! Crossing a pair of parents.

use antwarp_core::rng::Stream;

use super::census::{Census, score};
use super::child::Child;
use super::cycles::Cycles;
use super::nodes::Nodes;
use super::tour::{Change, Tour};
use antwarp_engine::{BackendError, Enough};

/// Approximate bytes per node of a desk, for parents that have no edge in common.
const BYTES: usize = 160;

/// The working memory of a thread.
pub struct Desk {
    pub child: Child,
    cycles: Cycles,
    /// The AB-cycles not dealt yet.
    deck: Vec<u32>,
    /// The AB-cycles of a child.
    set: Vec<u32>,
    /// The first parent with the chosen changes: the last heir, if there was one.
    pub tour: Tour,
}

/// A child that replaces its parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heir {
    /// By how much it is shorter than its parent.
    pub gain: i64,
    /// The changes that turn its parent into it, at most one for each node, in ascending order.
    pub changes: Vec<Change>,
}

impl Heir {
    /// Appends it to a message, as 32-bit words, the least byte first: its parent's place, the lower and the upper half of the
    /// gain, the number of changes, and for each its node and the two neighbours.
    pub fn write(&self, place: usize, message: &mut Vec<u8>) {
        let head = [place as u32, self.gain as u32, (self.gain >> 32) as u32, self.changes.len() as u32];
        let changes = self.changes.iter().flat_map(|&Change { node, links: [a, b] }| [node, a, b]);
        message.extend(head.into_iter().chain(changes).flat_map(u32::to_le_bytes));
    }

    /// Returns all heirs in a message, each with its parent's place, for a population of this many tours of n nodes, up to the
    /// first error. Only places and nodes are checked to exist.
    pub fn read(message: &[u8], (places, n): (usize, u32)) -> Vec<(usize, Heir)> {
        let mut words = message.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word));
        let mut next = || {
            let (place, low, high, count) = (words.next()?, words.next()?, words.next()?, words.next()?);
            let mut node = || words.next().filter(|&node| node < n);
            let changes =
                (0..count.min(n)).map(|_| Some(Change { node: node()?, links: [node()?, node()?] }));
            let heir = Heir {
                gain: i64::from(high) << 32 | i64::from(low),
                changes: changes.collect::<Option<_>>()?,
            };
            Some((place as usize, heir)).filter(|&(place, _)| place < places)
        };
        std::iter::from_fn(&mut next).collect()
    }

    /// Returns the approximate bytes of an heir in which a quarter of the nodes have other neighbours.
    pub fn bytes(n: u32) -> usize {
        size_of::<Change>() * n as usize / 4
    }
}

/// The kinds of E-sets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sets {
    /// An AB-cycle. Sub-tours are merged only where the cycle made the tour shorter, which is much faster.
    Single,
    /// An AB-cycle and all smaller ones that share a node with it: together they often give one tour where each of them alone
    /// leaves several (Nagata, *New EAX crossover for large TSP instances*, 2006).
    Block,
}

/// One in this many pairs starts with blocks. The others try them if no single AB-cycle makes a better child.
const BLOCKS: u32 = 2;
/// Step of a pair's stream from which on it chooses AB-cycles; earlier steps divide edges into cycles.
const CHOICES: u32 = 1 << 31;

impl Desk {
    /// Makes a desk for tours of `n` nodes.
    ///
    /// # Errors
    /// If memory is short.
    pub fn new(n: u32) -> Result<Desk, BackendError> {
        Ok(Desk {
            child: Child::new(n)?,
            cycles: Cycles::new(n)?,
            deck: Vec::new(),
            set: Vec::new(),
            tour: Tour::new(n)?,
        })
    }

    /// Returns the approximate bytes of a desk.
    pub fn bytes(n: u32) -> usize {
        BYTES * n as usize
    }

    /// Returns the heir of a pair, if it has one that is shorter than its first parent, A; [`Desk::tour`] is then the heir. Once
    /// `enough` asks to stop, the heir found so far is returned.
    ///
    /// Of every `children` E-sets the best is chosen: the one with the most gain for the loss of entropy of a population that
    /// contains the first parent. All chosen ones are applied one after the other, so tours of many nodes change in many places at
    /// a time.
    pub fn breed(
        &mut self,
        tables: (&Nodes, &Census),
        (a, b): (&Tour, &Tour),
        (children, stream): (u32, Stream),
        enough: Enough,
    ) -> Option<Heir> {
        self.cycles.decompose(a, b, stream);
        let begins_with_blocks = stream.step(CHOICES - 1).below(0, BLOCKS) == 0;
        let mut heir = None;
        if !begins_with_blocks {
            heir = self.choose(tables, a, Sets::Single, (children, stream), enough);
        }
        heir.or_else(|| self.choose(tables, a, Sets::Block, (children, stream), enough))
    }

    /// Deals the AB-cycles, `children` at a time, and applies the best E-set of each hand.
    fn choose(
        &mut self,
        (nodes, census): (&Nodes, &Census),
        a: &Tour,
        sets: Sets,
        (children, stream): (u32, Stream),
        enough: Enough,
    ) -> Option<Heir> {
        let Desk { child, cycles, deck, set, tour } = self;
        if sets == Sets::Block {
            cycles.note_cycles();
        }
        deck.clear();
        deck.extend(0..cycles.count());
        let (mut heir, mut dealt): (Option<Heir>, u32) = (None, 0);
        while !deck.is_empty() && !enough() {
            let mother = if heir.is_some() { &*tour } else { a };
            let (mut best, mut most): (Option<Heir>, f64) = (None, 0.0);
            for _ in 0..children.min(deck.len() as u32) {
                let chosen = stream.step(CHOICES + dealt).below(0, deck.len() as u32);
                dealt += 1;
                let cycle = deck.swap_remove(chosen as usize);
                set.clear();
                set.push(cycle);
                if sets == Sets::Block {
                    cycles.add_smaller(set);
                }
                // Earlier E-sets may have removed an edge of a cycle, or be blocks with one of the same cycles.
                if heir.is_some() && !set.iter().all(|&i| cycles.fits(i, mother)) {
                    continue;
                }
                let (gain, _) = child.evaluate(nodes, mother, cycles, set, sets == Sets::Block);
                if gain <= 0 {
                    continue;
                }
                let score = score(gain, census.loss(mother, child.changes()));
                if score > most {
                    most = score;
                    best = Some(Heir { gain, changes: child.changes().to_vec() });
                }
            }
            let Some(best) = best else { continue };
            if heir.is_none() {
                tour.copy(a);
            }
            child.apply(tour, &best.changes);
            let heir = heir.get_or_insert(Heir { gain: 0, changes: Vec::new() });
            heir.gain += best.gain;
            heir.changes.extend(best.changes);
        }
        if let Some(heir) = &mut heir {
            heir.changes.iter_mut().for_each(|change| change.links = tour.links(change.node));
            heir.changes.sort_unstable_by_key(|change| change.node);
            heir.changes.dedup_by_key(|change| change.node);
            heir.changes.shrink_to_fit();
        }
        heir
    }
}
