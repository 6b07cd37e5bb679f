//! Descent into a local optimum, with don't-look bits (Bentley 1992).

use crate::distance::Distance;
use crate::node::NodeId;
use crate::operator::Operator;
use crate::team::{Slots, Team};

use super::moves::{EdgeMove, Kind, View};

/// Nodes to search around: one bit per node, the complement of Bentley's don't-look bits. They are taken in cyclic order of their
/// numbers.
#[derive(Clone, Copy)]
pub struct Dirty {
    words: Slots<u32>,
    n: u32,
}

/// No node.
const NOBODY: u32 = u32::MAX;

impl Dirty {
    /// Returns the words of 32 bits that `n` nodes take.
    pub const fn words(n: u32) -> u32 {
        n.div_ceil(32)
    }

    /// Makes a view of the bits of `n` nodes.
    ///
    /// # Safety
    /// `words` has [`Dirty::words`] elements for as long as the view is used, and bits of n and beyond stay 0.
    #[inline(always)]
    pub unsafe fn new(words: Slots<u32>, n: u32) -> Self {
        Dirty { words, n }
    }

    /// Sets all bits, or clears them, and waits. Every member calls this.
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

    /// Sets the bit of a node, while other members may do so for theirs.
    ///
    /// # Safety
    /// `node < n`; nobody searches for a node meanwhile.
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
    pub(crate) unsafe fn remove(self, node: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.words.set(node / 32, self.words.get(node / 32) & !(1 << (node % 32))) }
    }

    /// Returns the first node after `last` whose bit is set, in cyclic order; `last` comes last. `None` if no bit is set. Every
    /// member calls this.
    ///
    /// # Safety
    /// `last < n`; nobody writes the bits meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn following<T: Team>(self, team: T, last: u32) -> Option<u32> {
        // SAFETY: all words.
        let node = unsafe { self.next(team, 0, Dirty::words(self.n), last) };
        (node != NOBODY).then_some(node)
    }

    /// Returns the first node of words `first .. first + count` after `last`, in cyclic order; `last` is among them.
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

/// Returns element `i` of six, without an array in memory.
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

/// Makes a move and sets the bits of the nodes whose edges it changes; waits for both. Every member calls this.
///
/// # Safety
/// The move can be made; nobody uses the bits meanwhile.
#[inline(always)]
pub unsafe fn make<T: Team, I: NodeId, D: Distance>(team: T, view: View<I, D>, dirty: Dirty, m: EdgeMove) {
    // SAFETY: the caller's promise.
    unsafe {
        team.for_each(m.ends(), move |i| dirty.insert::<T>(nth(m.t, i)));
        if m.kind == Kind::Directed {
            let (first, segments) = view.segments(m);
            view.tour.interchange(team, first, segments);
            return;
        }
        let mut step = 0;
        while step < m.steps() {
            view.tour.exchange(team, m.step(step));
            step += 1;
        }
    }
}

/// Words of shared memory for each node that a round of [`descend`] processes: the node, the kind of its move, and the move's
/// nodes.
const PROPOSAL: u32 = 8;
/// In place of a kind: no move.
const NOTHING: u32 = u32::MAX;

/// Returns the words, of 4 bytes, of [`DescentRound::proposals`].
pub const fn proposal_words(width: u32) -> u32 {
    PROPOSAL * width
}

/// The parameters of a descent's rounds.
#[derive(Clone, Copy)]
pub struct DescentRound {
    /// Nodes that are processed together, each by a part of the team; at least 1.
    pub width: u32,
    /// Whether they come from as many stretches of the nodes' numbers, so that their moves rarely meet; else they are the next ones
    /// in order.
    pub spread: bool,
    /// Memory of the team, [`proposal_words`] of it.
    pub proposals: Slots<u32>,
}

/// Makes improving moves until no dirty node has one, or the team [is over](Team::is_over). Returns by how much the tour got
/// shorter; the same on every member, all of which call this.
///
/// In every round the parts of the team search around `width` dirty nodes; the moves that they find are made one after another if
/// they are still possible. So the result does not depend on the team, only on the round.
///
/// A move may enable a better one for a node that is not dirty: a local optimum of the operator is reached when a descent from all
/// nodes gains nothing.
///
/// # Safety
/// The view, the bits and the proposals belong to this team alone, for the same nodes; `last < n`, where the search for dirty nodes
/// starts and, afterwards, where it ended. The view's scratch memory belongs to this part.
#[inline(always)]
pub unsafe fn descend<T: Team, O: Operator, I: NodeId, D: Distance>(
    team: T,
    view: View<I, D>,
    dirty: Dirty,
    round: DescentRound,
    last: &mut u32,
) -> i64 {
    let (width, proposals) = (round.width, round.proposals);
    let mut gained = 0;
    loop {
        // SAFETY: barriers and reductions separate choosing nodes, searching around them and making moves; a proposal is written by
        // one part, and the bits by nobody who reads them.
        unsafe {
            if team.is_over() || !choose(team, dirty, round, last) {
                return gained;
            }
            let part = team.part();
            let mut i = team.part_rank();
            while i < width {
                let proposal = PROPOSAL * i;
                let node = proposals.get(proposal);
                let mut kind = NOTHING;
                if node != NOBODY {
                    let found = view.best::<T::Part, O>(part, node);
                    if found.gain > 0 {
                        let m = view.decode::<O>(node, found.code);
                        kind = m.kind as u32;
                        part.for_each(6, move |t| proposals.set(proposal + 2 + t, nth(m.t, t)));
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
                    let m = EdgeMove { kind, t: [t(0), t(1), t(2), t(3), t(4), t(5)] };
                    if moved && !view.is_possible(m) {
                        // Another move of this round was in the way: the node is searched around again.
                        team.barrier();
                        team.single(|| dirty.insert::<T>(m.t[0]));
                    } else {
                        gained += view.gain(m);
                        make(team, view, dirty, m);
                        moved = true;
                    }
                }
                i += 1;
            }
            team.barrier();
        }
    }
}

/// Puts the next dirty nodes into the proposals and clears their bits; returns whether there are any. Waits.
///
/// # Safety
/// As [`descend`].
#[inline(always)]
unsafe fn choose<T: Team>(team: T, dirty: Dirty, round: DescentRound, last: &mut u32) -> bool {
    let (width, proposals) = (round.width, round.proposals);
    let words = Dirty::words(dirty.n);
    // SAFETY: reductions separate reading bits and clearing them; one part does both, in its own words where several choose.
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
