//! Descent into a local optimum, with don't-look bits (Bentley 1992).

use crate::distance::Distance;
use crate::node::NodeId;
use crate::team::{Slots, Team};

use super::links::Links;
use super::moves::{Found, Kind, Move, Operator, View};

/// Nodes to look at: a bit a node, the complement of Bentley's don't-look bits. They are taken in the order of their
/// numbers, round and round.
#[derive(Clone, Copy)]
pub struct Dirty {
    words: Slots<u32>,
    n: u32,
}

/// No node.
const NOBODY: u32 = u32::MAX;

impl Dirty {
    /// Words of 32 bits that `n` nodes take.
    pub const fn words(n: u32) -> u32 {
        n.div_ceil(32)
    }

    /// A view of the bits of `n` nodes.
    ///
    /// # Safety
    /// `words` has [`Dirty::words`] elements for as long as the view is used, and bits of n and beyond stay 0.
    #[inline(always)]
    pub unsafe fn new(words: Slots<u32>, n: u32) -> Self {
        Dirty { words, n }
    }

    /// Sets all bits, or clears them, and waits.
    ///
    /// # Safety
    /// Nobody else uses the bits meanwhile.
    #[inline(always)]
    pub unsafe fn fill<T: Team>(self, team: T, set: bool) {
        team.for_each(Dirty::words(self.n), |w| {
            let left = self.n - 32 * w;
            let all = if left >= 32 { u32::MAX } else { (1 << left) - 1 };
            // SAFETY: each word is written by one member.
            unsafe { self.words.set(w, if set { all } else { 0 }) };
        });
        team.barrier();
    }

    /// Sets the bit of a node, as other members may do for theirs.
    ///
    /// # Safety
    /// `node < n`; nobody looks for a node meanwhile.
    #[inline(always)]
    pub unsafe fn insert<T: Team>(self, node: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.words.insert::<T>(node / 32, 1 << (node % 32)) }
    }

    /// Clears the bit of a node.
    ///
    /// # Safety
    /// `node < n`; only this member uses the bits meanwhile.
    #[inline(always)]
    unsafe fn remove(self, node: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.words.set(node / 32, self.words.get(node / 32) & !(1 << (node % 32))) }
    }

    /// The first node of words `first .. first + count` behind `last`, going around; `last` is among them.
    ///
    /// # Safety
    /// The words are some of all; nobody writes them meanwhile.
    #[inline(always)]
    unsafe fn next<T: Team>(self, team: T, first: u32, count: u32, last: u32) -> u32 {
        let (start, shift) = (last / 32 - first, last % 32);
        let behind = if shift == 31 { 0 } else { u32::MAX << (shift + 1) };
        let mut found = u64::MAX;
        let mut i = team.rank();
        while i <= count {
            let at = start + i;
            let at = if at >= count { at - count } else { at };
            let at = if at >= count { at - count } else { at };
            // SAFETY: inside the words.
            let word = unsafe { self.words.get(first + at) };
            let word = if i == 0 {
                word & behind
            } else if i == count {
                word & !behind
            } else {
                word
            };
            if word != 0 {
                found = (i as u64) << 32 | (32 * (first + at) + word.trailing_zeros()) as u64;
                break;
            }
            i += team.size();
        }
        team.min(found) as u32
    }
}

/// Exchanges made, so that they can be unmade.
pub struct Journal<I> {
    entries: Slots<I>,
    capacity: u32,
    len: u32,
}

impl<I: NodeId> Journal<I> {
    /// Room for `capacity` exchanges.
    ///
    /// # Safety
    /// `entries` has four times as many elements for as long as the journal is used.
    #[inline(always)]
    pub unsafe fn new(entries: Slots<I>, capacity: u32) -> Self {
        Journal { entries, capacity, len: 0 }
    }

    /// Forgets everything.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Whether `count` more exchanges fit.
    #[inline(always)]
    pub fn has_room(&self, count: u32) -> bool {
        self.len + count <= self.capacity
    }

    /// Notes an exchange; it is there after the next barrier.
    ///
    /// # Safety
    /// There is room.
    #[inline(always)]
    pub unsafe fn push<T: Team>(&mut self, team: T, [a, b, c, d]: [u32; 4]) {
        // Two halves of two words: a choice among four variables would be made in memory.
        let (low, high) = (a as u64 | (b as u64) << 32, c as u64 | (d as u64) << 32);
        let (entries, first) = (self.entries, 4 * self.len);
        // SAFETY: inside the entries; each is written by one member.
        team.for_each(4, move |i| unsafe {
            let pair = if i < 2 { low } else { high };
            entries.set(first + i, I::new((pair >> (32 * (i % 2))) as u32));
        });
        self.len += 1;
    }

    /// The last exchange that was noted, which is forgotten.
    ///
    /// # Safety
    /// There is one, and a barrier stands behind its push.
    #[inline(always)]
    unsafe fn pop(&mut self) -> [u32; 4] {
        self.len -= 1;
        // SAFETY: inside the entries.
        let node = |i| unsafe { self.entries.get(4 * self.len + i).get() };
        [node(0), node(1), node(2), node(3)]
    }

    /// Unmakes all exchanges, the last one first.
    ///
    /// # Safety
    /// They led to this view's tour.
    #[inline(always)]
    pub unsafe fn undo<T: Team, D: Distance, L: Links>(&mut self, team: T, view: View<I, D, L>) {
        while self.len > 0 {
            // SAFETY: exchanging the new edges brings back the old ones.
            unsafe {
                let [a, b, c, d] = self.pop();
                view.tour.exchange(team, [a, c, b, d]);
            }
        }
    }
}

/// Element `i` of six, without an array in memory.
#[inline(always)]
fn nth(t: [u32; 6], i: u32) -> u32 {
    let pair = |i: usize| t[i] as u64 | (t[i + 1] as u64) << 32;
    let (low, middle, high) = (pair(0), pair(2), pair(4));
    let pair = if i < 2 {
        low
    } else if i < 4 {
        middle
    } else {
        high
    };
    (pair >> (32 * (i % 2))) as u32
}

/// Makes a move and sets the bits of the nodes whose edges it changes; waits for both.
///
/// # Safety
/// The move can be made; nobody uses the bits meanwhile.
#[inline(always)]
pub unsafe fn make<T: Team, I: NodeId, D: Distance, L: Links>(
    team: T,
    view: View<I, D, L>,
    dirty: Dirty,
    m: Move,
    journal: Option<&mut Journal<I>>,
) {
    // SAFETY: the caller's promise; a journal has room.
    unsafe {
        let mut step = 0;
        let mut journal = journal;
        team.for_each(m.ends(), move |i| dirty.insert::<T>(nth(m.t, i)));
        while step < m.steps() {
            let exchange = m.step(step);
            if let Some(journal) = journal.as_deref_mut() {
                journal.push(team, exchange);
            }
            view.tour.exchange(team, exchange);
            step += 1;
        }
    }
}

/// How often the search around a node asks for another move when links forbid the best one.
const TRIES: u32 = 4;

/// Words of shared memory for each node that a round of [`descend`] looks at: the node, the kind of its move, and the
/// move's nodes.
const PROPOSAL: u32 = 8;
/// In the place of a kind: no move.
const NOTHING: u32 = 4;

/// Words of [`Round::proposals`].
pub const fn proposal_words(width: u32) -> u32 {
    PROPOSAL * width
}

/// How a descent goes on.
#[derive(Clone, Copy)]
pub struct Round {
    /// Nodes that are looked at together, each by a part of the team; at least 1.
    pub width: u32,
    /// They come from as many stretches of the nodes' numbers, so that their moves hardly meet; else they are the next
    /// ones in order.
    pub spread: bool,
    /// Memory of the team, [`proposal_words`] of it.
    pub proposals: Slots<u32>,
}

/// Makes improving moves until no dirty node has one, or until the journal, if there is one, is full. Returns by how
/// much the tour got shorter.
///
/// In every round the parts of the team look at `width` dirty nodes; the moves they find are made one after another
/// where they still can be. So the result does not depend on the team, only on the round.
///
/// A move may open a better way for a node that is not dirty: a local optimum of the operator is reached when a descent
/// from all nodes gains nothing.
///
/// # Safety
/// The view, the bits, the proposals and the journal belong to this team alone, for the same nodes; `last < n`, where
/// the search for dirty nodes begins and, afterwards, where it ended. The view's scratch memory is this part's.
#[inline(always)]
pub unsafe fn descend<T: Team, O: Operator, I: NodeId, D: Distance, L: Links>(
    team: T,
    view: View<I, D, L>,
    dirty: Dirty,
    round: Round,
    last: &mut u32,
    mut journal: Option<&mut Journal<I>>,
) -> i64 {
    let (width, proposals) = (round.width, round.proposals);
    let mut gained = 0;
    loop {
        // SAFETY: barriers and reductions stand between choosing nodes, looking at them and making moves; a proposal is
        // written by one part, and the bits by nobody who reads them.
        unsafe {
            if !choose(team, dirty, round, last) {
                return gained;
            }
            let part = team.part();
            let mut i = team.part_rank();
            while i < width {
                let proposal = PROPOSAL * i;
                let node = proposals.get(proposal);
                let mut kind = NOTHING;
                if node != NOBODY {
                    let mut behind = Found::ANY;
                    let mut tries = 0;
                    while tries < TRIES {
                        let found = view.best::<T::Part, O>(part, node, behind);
                        if found.gain == 0 {
                            break;
                        }
                        let m = view.decode::<O>(node, found.code);
                        if !L::ASK || view.links.allow(part, view.tour, m) {
                            kind = m.kind as u32;
                            part.for_each(6, move |t| proposals.set(proposal + 2 + t, nth(m.t, t)));
                            break;
                        }
                        behind = found;
                        tries += 1;
                    }
                }
                part.single(|| proposals.set(proposal + 1, kind));
                i += team.parts();
            }
            team.barrier();
            let mut moved = false;
            let mut i = 0;
            while i < width {
                let proposal = PROPOSAL * i;
                if let Some(kind) = Kind::numbered(proposals.get(proposal + 1)) {
                    let t = |t| proposals.get(proposal + 2 + t);
                    let m = Move { kind, t: [t(0), t(1), t(2), t(3), t(4), t(5)] };
                    let mut possible = true;
                    if moved {
                        possible = view.is_possible(m) && (!L::ASK || view.links.allow(team, view.tour, m));
                    }
                    if !possible {
                        // Another move of this round was in the way: the node is looked at again.
                        team.barrier();
                        team.single(|| dirty.insert::<T>(m.t[0]));
                    } else if journal.as_ref().is_some_and(|j| !j.has_room(m.steps())) {
                        team.barrier();
                        dirty.fill(team, false);
                        return gained;
                    } else {
                        gained += view.gain(m);
                        make(team, view, dirty, m, journal.as_deref_mut());
                        moved = true;
                    }
                }
                i += 1;
            }
            team.barrier();
        }
    }
}

/// Puts the next dirty nodes into the proposals and clears their bits; whether there are any. Waits.
///
/// # Safety
/// As [`descend`].
#[inline(always)]
unsafe fn choose<T: Team>(team: T, dirty: Dirty, round: Round, last: &mut u32) -> bool {
    let (width, proposals) = (round.width, round.proposals);
    let words = Dirty::words(dirty.n);
    // SAFETY: reductions stand between reading bits and clearing them; one part does both, in words of its own where
    // several choose.
    unsafe {
        let part = team.part();
        let take = |i: u32, node: u32| {
            part.single(|| {
                if node != NOBODY {
                    dirty.remove(node);
                }
                proposals.set(PROPOSAL * i, node);
            });
        };
        if round.spread {
            let stretch = words.div_ceil(width);
            let mut i = team.part_rank();
            while i < width {
                let first = stretch * i;
                let mut node = NOBODY;
                if first < words {
                    let count = if words - first < stretch { words - first } else { stretch };
                    // As far into this stretch as the last search was into its own.
                    let (from, end) = (32 * first + *last % (32 * stretch), 32 * (first + count) - 1);
                    node = dirty.next(part, first, count, if from < end { from } else { end });
                }
                take(i, node);
                i += team.parts();
            }
        } else if team.part_rank() == 0 {
            let mut at = *last;
            let mut i = 0;
            while i < width {
                let node = dirty.next(part, 0, words, at);
                take(i, node);
                if node != NOBODY {
                    at = node;
                }
                // The next search must not find it again.
                part.barrier();
                i += 1;
            }
        }
        team.barrier();
        let mut any = false;
        let mut i = 0;
        while i < width {
            let node = proposals.get(PROPOSAL * i);
            if node != NOBODY {
                *last = node;
                any = true;
            }
            i += 1;
        }
        any
    }
}
