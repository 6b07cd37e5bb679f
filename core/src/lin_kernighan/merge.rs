//! Between rounds: choosing which changes are made, and making the resulting tour.
//!
//! Of changes that share a node, the one with the larger gain is made, or the one of the earlier trial. The remaining ones are made
//! all at once: the tour is cut at every edge that one of them removes, and the segments are walked in their new order. Changes
//! that give a tour on their own may together give several cycles. Then, at every cycle but the longest, the change with the
//! smallest gain among those that lie on several cycles is left out, and the rest is tried again. From the second pass on, all such
//! changes are left out at small cycles; the limit for small doubles in each pass.

use super::Tour;
use super::cuts::MAX_SEGMENTS;
use super::trial::TrialChanges;
use crate::geometry::Geometry;
use crate::team::{Slots, Team};

/// A tour's memory for merging. All `claims` are 0 at first; [`plan`] leaves them so.
#[derive(Clone, Copy)]
pub struct MergeBoard {
    /// One word per node: the change with the strongest claim. n.
    pub claims: Slots<u64>,
    /// One bit per position: the edge after it is removed. [`bit_words`].
    pub bits: Slots<u32>,
    /// Number of bits before each word; the same length.
    pub cuts_before_word: Slots<u32>,
    /// For each position after which the tour is cut, its index in [`TrialChanges::cuts`]. n.
    pub cut_of_position: Slots<u32>,
    /// The positions after which the tour is cut, ascending. Up to n.
    pub cut_positions: Slots<u32>,
    /// The start of each segment in the new tour, times 2; plus 1 if it is passed through backwards. Segment s, from 0, ends at
    /// cut s. Up to n.
    pub segment_start: Slots<u32>,
    /// For teams with several members: the next segment, then the one 2^i segments ahead. [`pairs`]; for a single thread, none.
    pub successor: Slots<u32>,
    /// Its distance, or the segment's cycle. [`pairs`]; for a single thread, n.
    pub distance_or_cycle: Slots<u32>,
}

/// Returns the words of [`MergeBoard::successor`] and [`MergeBoard::distance_or_cycle`]: two per segment in both directions.
#[inline(always)]
pub const fn pairs(n: u32) -> u32 {
    4 * n
}

/// Returns the words of [`MergeBoard::bits`]: a bit per position.
#[inline(always)]
pub const fn bit_words(n: u32) -> u32 {
    n / 32 + 1
}

/// The result of merging the changes of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Merged {
    /// By how much the tour gets shorter; negative if it gets longer.
    pub gain: i64,
    /// Number of removed edges; 0: the tour stays as it is.
    pub cuts: u32,
    /// Number of changes made.
    pub made: u32,
    /// Number of changes offered: trials with a change.
    pub offered: u32,
    /// Unused; keeps the size a multiple of 8.
    pub padding: u32,
}

/// Returns the number of the bits of a word below the bit of a position.
#[inline(always)]
const fn below(word: u32, position: u32) -> u32 {
    (word & ((1 << (position % 32)) - 1)).count_ones()
}

impl MergeBoard {
    /// Returns the number of cuts before a position.
    ///
    /// # Safety
    /// It is less than n, and [`plan`] has run.
    #[inline(always)]
    unsafe fn rank(self, position: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { self.cuts_before_word.get(position / 32) + below(self.bits.get(position / 32), position) }
    }

    /// Returns whether the edge after a position is removed.
    #[inline(always)]
    unsafe fn is_cut(self, position: u32) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.bits.get(position / 32) >> (position % 32) & 1 == 1 }
    }
}

/// Returns the key of a change's claim: larger for larger gains, then for earlier trials. Neither it nor its complement is ever 0.
#[inline(always)]
fn key(gain: i64, trial: u32) -> u64 {
    let gain = gain.clamp(1 - (1 << 31), (1 << 31) - 2) + (1 << 31);
    (gain as u64) << 32 | !trial as u64
}

/// Calls `work` with every change, the number of its cuts, and the part of the team that handles it.
///
/// # Safety
/// The changes belong to this team; `work` changes no count but that one, after a barrier of the part.
#[inline(always)]
unsafe fn for_each_change<T: Team>(
    team: T,
    changes: TrialChanges,
    trials: u32,
    mut work: impl FnMut(T::Part, u32, u32),
) {
    let mut trial = team.part_rank();
    while trial < trials {
        // SAFETY: the caller's promise.
        let count = unsafe { changes.count.get(trial) };
        if count > 0 {
            work(team.part(), trial, count);
        }
        trial += team.parts();
    }
}

/// Calls `work` with both nodes of a removed edge.
#[inline(always)]
unsafe fn for_both_ends<G: Geometry>(
    tour: Tour<G>,
    changes: TrialChanges,
    cut: u32,
    mut work: impl FnMut(u32),
) {
    // SAFETY: the caller's promise.
    unsafe {
        let [at, ..] = changes.cuts.get(cut);
        work(tour.at(at));
        work(tour.at(tour.next_position(at)));
    }
}

/// Claims nodes for changes: where two share a node, the one with the smaller gain yields, and makes no cuts. Returns the number of
/// changes that this member handled. Others may still be withdrawing claims.
///
/// # Safety
/// As [`plan`].
#[inline(always)]
unsafe fn claim<T: Team, G: Geometry>(
    team: T,
    tour: Tour<G>,
    board: MergeBoard,
    changes: TrialChanges,
    trials: u32,
) -> u64 {
    // SAFETY: the caller's promise; a claim is raised by atomics, and nothing is read before the barrier that follows.
    unsafe {
        let mut offered = 0u64;
        for_each_change(team, changes, trials, |part, t, count| {
            part.single(|| offered += 1);
            let key = key(changes.gain.get(t), t);
            part.for_each(count, |i| {
                for_both_ends(tour, changes, t * MAX_SEGMENTS + i, |v| board.claims.raise::<T>(v, key))
            });
        });
        team.barrier();
        // A change that yields keeps its count until its claims are withdrawn.
        for_each_change(team, changes, trials, |part, t, count| {
            let key = key(changes.gain.get(t), t);
            let mut holds = true;
            part.for_each(count, |i| {
                for_both_ends(tour, changes, t * MAX_SEGMENTS + i, |v| holds &= board.claims.get(v) == key)
            });
            if part.min(holds as u64) == 0 {
                part.single(|| changes.count.set(t, count | YIELDS));
            }
        });
        team.barrier();
        for_each_change(team, changes, trials, |part, t, count| {
            // Other changes that claimed the node do the same.
            part.for_each(count & !YIELDS, |i| {
                for_both_ends(tour, changes, t * MAX_SEGMENTS + i, |v| board.claims.set(v, 0))
            });
            part.barrier();
            if count & YIELDS != 0 {
                part.single(|| changes.count.set(t, 0));
            }
        });
        offered
    }
}

/// Numbers the cuts of all changes by their positions. Returns their number. Waits.
///
/// # Safety
/// As [`plan`]; the changes share no node.
#[inline(always)]
unsafe fn number<T: Team>(team: T, n: u32, board: MergeBoard, changes: TrialChanges, trials: u32) -> u32 {
    let words = bit_words(n);
    // SAFETY: the caller's promise.
    unsafe {
        team.barrier();
        team.for_each(words, |w| board.bits.set(w, 0));
        team.barrier();
        for_each_change(team, changes, trials, |part, t, count| {
            part.for_each(count, |i| {
                let [at, ..] = changes.cuts.get(t * MAX_SEGMENTS + i);
                board.bits.insert::<T>(at / 32, 1 << (at % 32));
                board.cut_of_position.set(at, t * MAX_SEGMENTS + i);
            });
        });
        team.barrier();
        let cuts = count_up(team, board, words);
        team.for_each(words, |w| {
            let (mut bits, mut rank) = (board.bits.get(w), board.cuts_before_word.get(w));
            while let Some(rest) = core::num::NonZeroU32::new(bits) {
                board.cut_positions.set(rank, 32 * w + rest.trailing_zeros());
                rank += 1;
                bits &= bits - 1;
            }
        });
        team.barrier();
        cuts
    }
}

/// Chooses the changes to be made, and finds where every segment of the tour goes. Counts of those left out become 0. Every member
/// calls this, and all get the same result. Of the tour only n, the order and the positions are read.
///
/// # Safety
/// The board and the changes of `trials` trials belong to this team, and refer to this tour.
#[inline(always)]
pub unsafe fn plan<T: Team, G: Geometry>(
    team: T,
    tour: Tour<G>,
    board: MergeBoard,
    changes: TrialChanges,
    trials: u32,
) -> Merged {
    // SAFETY: the caller's promise; a claim is raised by atomics, and nothing is read before the barrier that follows.
    unsafe {
        let offered = claim(team, tour, board, changes, trials);
        let mut passes = 0u32;
        let cuts = loop {
            let cuts = number(team, tour.n, board, changes, trials);
            if cuts == 0 {
                break 0;
            }
            // A single thread learns by walking the tour whether it is one cycle; for several members, labelling the cycles is
            // faster.
            let labels = if T::ALONE {
                if walk(tour, board, changes, cuts) == cuts {
                    break cuts;
                }
                label_alone(tour, board, changes, cuts)
            } else {
                let labels = label_together(team, tour, board, changes, cuts);
                let mut others = 0;
                team.for_each(cuts, |s| others += (board.distance_or_cycle.get(labels + s) != 0) as u64);
                if team.sum(others) == 0 {
                    jump(team, tour, board, changes, cuts);
                    break cuts;
                }
                labels
            };
            let all_below = if passes == 0 { 0 } else { SMALL << passes.min(LONGEST) };
            leave_out(team, tour, board, changes, (trials, cuts, labels), all_below);
            passes += 1;
        };
        team.barrier();
        let (mut gain, mut made) = (0i64, 0u64);
        team.for_each(trials, |t| {
            if changes.count.get(t) > 0 {
                gain += changes.gain.get(t);
                made += 1;
            }
        });
        let gain = team.sum(gain as u64) as i64;
        let (made, offered) = (team.sum(made), team.sum(offered));
        Merged { gain, cuts, made: made as u32, offered: offered as u32, padding: 0 }
    }
}

/// Cycles of fewer nodes have few changes on them: from the second pass on, all of these that also lie on other cycles are left
/// out. Each pass doubles this limit, so the first one used is 16. If there are many cycles, leaving out one change per cycle and
/// pass would take many passes.
const SMALL: u32 = 8;
/// More doublings would overflow; this already exceeds the number of nodes.
const LONGEST: u32 = 28;
/// Flag in a count: the change yields to another.
const YIELDS: u32 = 1 << 31;
/// A segment that the walk from the first one does not reach.
const UNREACHED: u32 = u32::MAX;

/// Sums up the bits before each word; returns their number.
#[inline(always)]
unsafe fn count_up<T: Team>(team: T, board: MergeBoard, words: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        // Every member sums up one stretch.
        let each = words.div_ceil(team.size());
        let (first, end) = ((team.rank() * each).min(words), ((team.rank() + 1) * each).min(words));
        let mut own = 0;
        let mut w = first;
        while w < end {
            own += board.bits.get(w).count_ones();
            w += 1;
        }
        let (mut sum, all) = team.sum_before(own);
        let mut w = first;
        while w < end {
            board.cuts_before_word.set(w, sum);
            sum += board.bits.get(w).count_ones();
            w += 1;
        }
        team.barrier();
        all
    }
}

/// Returns the nodes of a segment: the position of the first one, and their number.
#[inline(always)]
unsafe fn segment(n: u32, board: MergeBoard, cuts: u32, s: u32) -> (u32, u32) {
    // SAFETY: the caller's promise.
    unsafe {
        let last = board.cut_positions.get(s);
        let before = board.cut_positions.get(if s == 0 { cuts - 1 } else { s - 1 });
        let first = if before + 1 == n { 0 } else { before + 1 };
        (first, if last >= first { last - first + 1 } else { last + n - first + 1 })
    }
}

/// Returns the segment after one; segments are times 2, plus 1 if passed through backwards.
#[inline(always)]
unsafe fn next_segment<G: Geometry>(
    tour: Tour<G>,
    board: MergeBoard,
    changes: TrialChanges,
    cuts: u32,
    state: u32,
) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        let s = state >> 1;
        let (from, to) = if state & 1 == 0 {
            let at = board.cut_positions.get(s);
            (tour.at(at), changes.cuts.get(board.cut_of_position.get(at))[1])
        } else {
            let at = board.cut_positions.get(if s == 0 { cuts - 1 } else { s - 1 });
            (tour.at(tour.next_position(at)), changes.cuts.get(board.cut_of_position.get(at))[2])
        };
        let p = tour.position(to);
        let before = if p == 0 { tour.n - 1 } else { p - 1 };
        if board.is_cut(before) && changes.cuts.get(board.cut_of_position.get(before))[2] == from {
            let s = board.rank(before) + 1;
            (if s == cuts { 0 } else { s }) << 1
        } else {
            board.rank(p) << 1 | 1
        }
    }
}

/// Leaves out a change at every cycle but the longest; at cycles of fewer than `all_below` nodes, all changes that also lie on
/// others. `labels` is the offset of the segments' cycles in `distance_or_cycle`.
#[inline(always)]
unsafe fn leave_out<T: Team, G: Geometry>(
    team: T,
    tour: Tour<G>,
    board: MergeBoard,
    changes: TrialChanges,
    (trials, cuts, labels): (u32, u32, u32),
    all_below: u32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        team.barrier();
        team.for_each(cuts, |s| board.segment_start.set(s, 0));
        team.barrier();
        team.for_each(cuts, |s| {
            board
                .segment_start
                .add::<T>(board.distance_or_cycle.get(labels + s), segment(tour.n, board, cuts, s).1)
        });
        team.barrier();
        let (mut size, mut longest) = (0, u32::MAX);
        team.for_each(cuts, |s| {
            if board.segment_start.get(s) > size {
                (size, longest) = (board.segment_start.get(s), s);
            }
        });
        let (_, longest) = team.arg_max(size, longest, longest);
        // A change that lies on only one cycle has not split anything off. Of the others, the one with the smallest key at a cycle
        // is left out: claims are free, a cycle's number is also a node's, and the smallest key is the largest complement.
        for_each_change(team, changes, trials, |part, t, count| {
            let label = |cut: u32, behind: u32| {
                let [at, ..] = changes.cuts.get(t * MAX_SEGMENTS + cut);
                let s = board.rank(at) + behind;
                board.distance_or_cycle.get(labels + if s == cuts { 0 } else { s })
            };
            let first = label(0, 0);
            let (mut is_mixed, mut is_small) = (false, false);
            part.for_each(count, |cut| {
                for label in [label(cut, 0), label(cut, 1)] {
                    is_mixed |= label != first;
                    is_small |= label != longest && board.segment_start.get(label) < all_below;
                }
            });
            if part.min(!is_mixed as u64) == 1 {
                return;
            }
            if part.min(!is_small as u64) == 0 {
                part.single(|| changes.count.set(t, 0));
            } else {
                let key = !key(changes.gain.get(t), t);
                part.for_each(count, |cut| {
                    for label in [label(cut, 0), label(cut, 1)] {
                        if label != longest {
                            board.claims.raise::<T>(label, key);
                        }
                    }
                });
            }
        });
        team.barrier();
        team.for_each(cuts, |s| {
            let claim = board.claims.get(s);
            if claim != 0 {
                board.claims.set(s, 0);
                // Other cycles may leave out the same change. The key ends with the complement of the trial's number, the claim
                // with the number itself.
                changes.count.clear(claim as u32, u32::MAX);
            }
        });
    }
}

/// Writes the smallest segment of each segment's cycle to `distance_or_cycle`; returns the offset.
unsafe fn label_alone<G: Geometry>(
    tour: Tour<G>,
    board: MergeBoard,
    changes: TrialChanges,
    cuts: u32,
) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        for s in 0..cuts {
            board.distance_or_cycle.set(s, UNREACHED);
        }
        for s in 0..cuts {
            let mut state = s << 1;
            while board.distance_or_cycle.get(state >> 1) == UNREACHED {
                board.distance_or_cycle.set(state >> 1, s);
                state = next_segment(tour, board, changes, cuts, state);
            }
        }
        0
    }
}

/// The same by pointer jumping.
#[inline(always)]
unsafe fn label_together<T: Team, G: Geometry>(
    team: T,
    tour: Tour<G>,
    board: MergeBoard,
    changes: TrialChanges,
    cuts: u32,
) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        let states = 2 * cuts;
        team.for_each(states, |state| {
            board.successor.set(state, next_segment(tour, board, changes, cuts, state));
            board.distance_or_cycle.set(state, state >> 1);
        });
        let (old, new) = double(team, tour, board, states, u32::min);
        // One per segment: its two directions are on the same cycle.
        team.for_each(cuts, |s| {
            board.distance_or_cycle.set(new + s, board.distance_or_cycle.get(old + 2 * s))
        });
        team.barrier();
        new
    }
}

/// Pointer jumping: in every pass each state learns about the state twice as far ahead, and combines its value with its own, until
/// all are covered. Returns the offset of the results, and that of free space.
#[inline(always)]
unsafe fn double<T: Team, G: Geometry>(
    team: T,
    tour: Tour<G>,
    board: MergeBoard,
    states: u32,
    join: impl Fn(u32, u32) -> u32,
) -> (u32, u32) {
    // SAFETY: the caller's promise: `successor` and `distance_or_cycle` are filled for all states.
    unsafe {
        let (mut old, mut new) = (0, pairs(tour.n) / 2);
        team.barrier();
        let mut reach = 1;
        // No path is longer than the number of segments.
        while reach < states / 2 {
            team.for_each(states, |state| {
                let next = board.successor.get(old + state);
                board.distance_or_cycle.set(
                    new + state,
                    join(board.distance_or_cycle.get(old + state), board.distance_or_cycle.get(old + next)),
                );
                board.successor.set(new + state, board.successor.get(old + next));
            });
            team.barrier();
            (old, new) = (new, old);
            reach *= 2;
        }
        (old, new)
    }
}

/// Walks the segments from the first one on; returns how many it reaches.
unsafe fn walk<G: Geometry>(tour: Tour<G>, board: MergeBoard, changes: TrialChanges, cuts: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        for s in 0..cuts {
            board.segment_start.set(s, UNREACHED);
        }
        let (mut state, mut begin, mut reached) = (0, 0, 0);
        while board.segment_start.get(state >> 1) == UNREACHED {
            board.segment_start.set(state >> 1, begin << 1 | state & 1);
            begin += segment(tour.n, board, cuts, state >> 1).1;
            reached += 1;
            state = next_segment(tour, board, changes, cuts, state);
        }
        reached
    }
}

/// The same by pointer jumping, for one cycle: each segment, in both directions, learns how far ahead the first one is.
#[inline(always)]
unsafe fn jump<T: Team, G: Geometry>(
    team: T,
    tour: Tour<G>,
    board: MergeBoard,
    changes: TrialChanges,
    cuts: u32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let states = 2 * cuts;
        team.for_each(states, |state| {
            // The first segment is where all paths end.
            let (next, far) = if state == 0 {
                (0, 0)
            } else {
                (next_segment(tour, board, changes, cuts, state), segment(tour.n, board, cuts, state >> 1).1)
            };
            board.successor.set(state, next);
            board.distance_or_cycle.set(state, far);
        });
        let (old, _) = double(team, tour, board, states, u32::wrapping_add);
        team.for_each(cuts, |s| {
            for back in [0, 1] {
                let state = 2 * s + back;
                if board.successor.get(old + state) == 0 {
                    let far = board.distance_or_cycle.get(old + state);
                    board.segment_start.set(s, (if state == 0 { 0 } else { tour.n - far }) << 1 | back);
                }
            }
        });
    }
}

/// The next tour, to which nodes are copied.
#[derive(Clone, Copy)]
pub struct Next {
    /// As [`Tour::order`].
    pub order: Slots<u32>,
    /// As [`Tour::ahead`].
    pub ahead: Slots<i32>,
    /// As [`Tour::position`]; may be that of the tour itself. It is not written if nothing changes.
    pub position: Slots<u32>,
}

/// Puts the node at a position into its new place, with the distance from there to the next node. This is called for every position
/// below n, by any threads in any order.
///
/// # Safety
/// [`plan`] has run, and made `cuts` cuts; nobody else handles the position, and `order` and `ahead` are not those of the tour.
#[inline(always)]
pub unsafe fn place<G: Geometry>(
    tour: Tour<G>,
    board: MergeBoard,
    changes: TrialChanges,
    cuts: u32,
    position: u32,
    next: Next,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let node = tour.at(position);
        if cuts == 0 {
            next.order.set(position, node);
            next.ahead.set(position, tour.ahead(position));
            return;
        }
        let s = board.rank(position);
        let s = if s == cuts { 0 } else { s };
        let (first, count) = segment(tour.n, board, cuts, s);
        let into = if position >= first { position - first } else { position + tour.n - first };
        let begin = board.segment_start.get(s);
        let before = if position == 0 { tour.n - 1 } else { position - 1 };
        let (into, old, link) =
            if begin & 1 == 0 { (into, position, 1) } else { (count - 1 - into, before, 2) };
        let to = (begin >> 1) + into;
        let ahead = if into + 1 < count {
            tour.ahead(old)
        } else {
            tour.between(node, changes.cuts.get(board.cut_of_position.get(old))[link])
        };
        next.order.set(to, node);
        next.ahead.set(to, ahead);
        next.position.set(node, to);
    }
}
