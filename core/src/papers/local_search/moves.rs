//! Moves: how to find the best one around a node, and how to make it.

use crate::distance::Distance;
use crate::node::NodeId;
use crate::operator::Operator;
use crate::team::{Slots, Team};

use super::array::ArrayTour;

pub use super::exchanges::{EdgeMove, Kind};

/// The data that a search reads: a tour, neighbour lists and distances.
pub struct View<I, D> {
    /// The tour.
    pub tour: ArrayTour<I>,
    /// n x k, nearest first; where edges have a direction, the nodes that edges lead to.
    pub lists: *const I,
    /// Neighbours of a node.
    pub k: u32,
    /// Neighbours of a node evaluated in the second step; at most `k`, and at most 127 for [`CHOICE_BITS`].
    pub breadth: u32,
    /// Distances of the tour's nodes.
    pub distance: D,
    /// Memory of the team that searches for moves (in a descent, of each part of its team), [`scratch_words`] of it; a team of one
    /// needs none.
    pub scratch: Slots<u64>,
}

/// Returns the words, of 8 bytes, of [`View::scratch`] for a team of `members`: two for each first step that one of them may find.
pub const fn scratch_words(members: u32) -> u32 {
    2 * members
}

impl<I, D: Copy> Clone for View<I, D> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<I, D: Copy> Copy for View<I, D> {}

/// The best move found: how much shorter the tour gets, and the move's code for [`View::decode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Positive if there is a move at all. A team of several members reports gains from 2^32 - 1 on as 2^32 - 1: [`View::gain`]
    /// gives the true one.
    pub gain: i64,
    /// See [`View::decode`].
    pub code: u32,
}

impl Found {
    /// No move.
    pub const NONE: Found = Found { gain: 0, code: u32::MAX };

    /// Returns the better one of two.
    #[inline(always)]
    fn or(self, other: Found) -> Found {
        if self.is_after(other) { other } else { self }
    }

    /// Returns whether another move comes before this one: it gains more, or as much with a smaller code.
    #[inline(always)]
    fn is_after(self, other: Found) -> bool {
        self.gain < other.gain || (self.gain == other.gain && self.code > other.code)
    }
}

/// The first step of a move: removes the edges (t1, t2) and (t3, t4), and adds (t2, t3).
#[derive(Clone, Copy)]
struct Opening {
    /// The number of this first step.
    way: u32,
    /// Removed length minus added length; positive.
    kept: i64,
    t4: u32,
    /// The distance in positions from t2 to t3 along the direction of the move.
    to_t3: u32,
}

/// The result of trying a first step.
#[derive(Clone, Copy)]
enum Look {
    /// It can be continued.
    Open(Opening),
    /// It leads nowhere.
    Closed,
    /// The added edge is as long as the removed one: so are those of later neighbours in the list.
    Beyond,
}

/// A node's place counted from t2 along the direction of a move.
#[derive(Clone, Copy)]
struct Course {
    n: u32,
    origin: u32,
    forward: bool,
}

impl Course {
    #[inline(always)]
    fn of(self, position: u32) -> u32 {
        let (to, from) = if self.forward { (position, self.origin) } else { (self.origin, position) };
        if to >= from { to - from } else { to + self.n - from }
    }
}

/// Bits of a code: the second step's choice, at most twice its breadth, is below the first step's number.
pub const CHOICE_BITS: u32 = 8;

impl<I: NodeId, D: Distance> View<I, D> {
    /// Returns a neighbour from a node's list.
    ///
    /// # Safety
    /// `node < n`, `i < k`.
    #[inline(always)]
    unsafe fn neighbor(self, node: u32, i: u32) -> u32 {
        // SAFETY: inside the lists.
        unsafe { (*self.lists.add((node * self.k + i) as usize)).get() }
    }

    /// # Safety
    /// As [`ArrayTour::at`].
    #[inline(always)]
    unsafe fn beside(self, position: u32, forward: bool) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { if forward { self.tour.after(position) } else { self.tour.before(position) } }
    }

    /// Returns the number of first steps from a node, numbered by direction, then by neighbour, then by the side of t3. Where edges
    /// have a direction, moves go only against the tour: lists hold the nodes that edges lead *to*.
    #[inline(always)]
    fn ways<O: Operator>(self) -> u32 {
        if O::DIRECTED {
            self.k
        } else if O::STEPS > 1 {
            4 * self.k
        } else {
            2 * self.k
        }
    }

    /// Decodes a first step's number: its direction, the number of t3 in the list, and whether t4 comes before t3, so that a pair
    /// closes the tour.
    #[inline(always)]
    fn parts<O: Operator>(self, way: u32) -> (bool, u32, bool) {
        if O::DIRECTED {
            return (false, way, false);
        }
        let per_direction = self.ways::<O>() / 2;
        let forward = way < per_direction;
        let rest = if forward { way } else { way - per_direction };
        if O::STEPS > 1 { (forward, rest / 2, rest.is_multiple_of(2)) } else { (forward, rest, true) }
    }

    /// Returns the course of moves from the node at `at_t1` in a direction.
    #[inline(always)]
    fn course(self, at_t1: u32, forward: bool) -> Course {
        let n = self.tour.n();
        let origin = match (forward, at_t1) {
            (true, p) if p + 1 == n => 0,
            (true, p) => p + 1,
            (false, 0) => n - 1,
            (false, p) => p - 1,
        };
        Course { n, origin, forward }
    }

    /// Tries the first step with number `way` from `t1`.
    ///
    /// # Safety
    /// `t1 < n`, `way < ways`, and no exchange is in progress.
    #[inline(always)]
    unsafe fn open<O: Operator>(self, t1: u32, way: u32) -> Look {
        // SAFETY: nodes below n, entries inside the lists.
        unsafe {
            let (forward, i, closing) = self.parts::<O>(way);
            let at_t1 = self.tour.position(t1);
            let t2 = self.beside(at_t1, forward);
            let t3 = self.neighbor(t2, i);
            let kept = self.distance.between(t2, t1) as i64 - self.distance.between(t2, t3) as i64;
            if kept <= 0 {
                return Look::Beyond;
            }
            let at_t3 = self.tour.position(t3);
            let t4 = self.beside(at_t3, forward != closing);
            // An edge that is in the tour cannot be added; one of the other direction can.
            if t4 == t2 || (!O::DIRECTED && self.beside(at_t3, forward == closing) == t2) {
                return Look::Closed;
            }
            let kept = kept + self.distance.between(t4, t3) as i64;
            Look::Open(Opening { way, kept, t4, to_t3: self.course(at_t1, forward).of(at_t3) })
        }
    }

    /// Returns the move that closes the tour after the first step, if it is one of the operator's.
    ///
    /// # Safety
    /// The opening is one from `t1`.
    #[inline(always)]
    unsafe fn pair<O: Operator>(self, t1: u32, opening: Opening) -> Found {
        if !O::PAIRS || !self.parts::<O>(opening.way).2 {
            return Found::NONE;
        }
        // SAFETY: the caller's promise.
        let gain = opening.kept - unsafe { self.distance.between(opening.t4, t1) as i64 };
        let found = Found { gain, code: opening.way << CHOICE_BITS };
        if gain > 0 { found } else { Found::NONE }
    }

    /// Returns the length kept after adding the edge from t4 to its neighbour number `j`; `None` if that neighbour and later ones
    /// lead nowhere.
    ///
    /// # Safety
    /// The opening is one from the tour, `j < breadth`.
    #[inline(always)]
    unsafe fn second(self, opening: Opening, j: u32) -> Option<(u32, i64)> {
        // SAFETY: the caller's promise.
        unsafe {
            let t5 = self.neighbor(opening.t4, j);
            let kept = opening.kept - self.distance.between(opening.t4, t5) as i64;
            if kept > 0 { Some((t5, kept)) } else { None }
        }
    }

    /// Returns the move that closes the tour after the second step with t6 on one `side` of t5.
    ///
    /// # Safety
    /// The opening is one from `t1`, `second` is the result of [`View::second`] for `j`, and no exchange is in progress.
    #[inline(always)]
    unsafe fn triple<O: Operator>(
        self,
        t1: u32,
        opening: Opening,
        (t5, kept): (u32, i64),
        (j, side): (u32, u32),
    ) -> Found {
        // SAFETY: the caller's promise.
        unsafe {
            let (forward, _, closing) = self.parts::<O>(opening.way);
            let at_t5 = self.tour.position(t5);
            let to_t5 = self.course(self.tour.position(t1), forward).of(at_t5);
            // With t5 = t3 the removed edge would be added again, with t5 = t1 it is a pair.
            if to_t5 == opening.to_t3 || t5 == t1 {
                return Found::NONE;
            }
            let Some((ahead, segment)) = reconnect(closing, opening.to_t3, to_t5, side, self.tour.n()) else {
                return Found::NONE;
            };
            let t6 = self.beside(at_t5, ahead == forward);
            if segment > O::SEGMENT || t6 == opening.t4 {
                return Found::NONE;
            }
            let gain = kept + self.distance.between(t6, t5) as i64 - self.distance.between(t6, t1) as i64;
            let found = Found { gain, code: (opening.way << CHOICE_BITS) + 1 + 2 * j + side };
            if gain > 0 { found } else { Found::NONE }
        }
    }

    /// Returns the best move around `t1`, [`Found::NONE`] if none makes the tour shorter; among equally good ones that with the
    /// smallest code. Every member calls this, and all get the same move.
    ///
    /// # Safety
    /// `t1 < n`, and no exchange is in progress.
    #[inline(always)]
    pub unsafe fn best<T: Team, O: Operator>(self, team: T, t1: u32) -> Found {
        // SAFETY: the caller's promise.
        let best = unsafe {
            if T::ALONE {
                return self.best_alone::<O>(t1);
            }
            self.best_of_member::<T, O>(team, t1)
        };
        // Gains beyond 32 bits count as equal: any of them may be chosen, and the sum is not computed from here.
        let key = if best.gain > u32::MAX as i64 { u32::MAX } else { best.gain as u32 };
        let (key, code) = team.arg_max(key, best.code, best.code);
        Found { gain: key as i64, code }
    }

    /// As [`View::best`], for a team of one.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn best_alone<O: Operator>(self, t1: u32) -> Found {
        let ways = self.ways::<O>();
        let mut best = Found::NONE;
        let mut way = 0;
        while way < ways {
            // SAFETY: the caller's promise.
            unsafe {
                match self.open::<O>(t1, way) {
                    Look::Open(opening) => {
                        best = best.or(self.pair::<O>(t1, opening));
                        let closing = self.parts::<O>(way).2;
                        let mut j = 0;
                        while O::STEPS > 1 && j < self.breadth {
                            let Some(second) = self.second(opening, j) else { break };
                            best = best.or(self.triple::<O>(t1, opening, second, (j, 0)));
                            if !closing && !O::DIRECTED {
                                best = best.or(self.triple::<O>(t1, opening, second, (j, 1)));
                            }
                            j += 1;
                        }
                        way += 1;
                    }
                    Look::Closed => way += 1,
                    Look::Beyond => way = if !O::DIRECTED && way < ways / 2 { ways / 2 } else { ways },
                }
            }
        }
        best
    }

    /// Returns the best of the moves that this member evaluates. First steps are few, and each has many second ones: the team tries
    /// first steps, then divides the continuations evenly.
    ///
    /// # Safety
    /// As [`View::best`].
    #[inline(always)]
    unsafe fn best_of_member<T: Team, O: Operator>(self, team: T, t1: u32) -> Found {
        let sides = if O::DIRECTED { 1 } else { 2 };
        let (ways, choices) = (self.ways::<O>(), sides * self.breadth);
        let mut best = Found::NONE;
        let mut first = 0;
        while first < ways {
            let way = first + team.rank();
            // SAFETY: the caller's promise; the use of the scratch memory is between a reduction and a barrier.
            unsafe {
                let look = if way < ways { self.open::<O>(t1, way) } else { Look::Closed };
                if let Look::Open(opening) = look {
                    best = best.or(self.pair::<O>(t1, opening));
                }
                if O::STEPS > 1 {
                    let (place, count) = team.rank_among(matches!(look, Look::Open(_)));
                    if let Look::Open(o) = look {
                        // The kept length is positive and far below 2^40.
                        self.scratch.set(2 * place, o.kept as u64 | (o.way as u64) << 40);
                        self.scratch.set(2 * place + 1, o.t4 as u64 | (o.to_t3 as u64) << 32);
                    }
                    team.barrier();
                    // Steps of the team's size through openings x choices, without a division.
                    let (mut at, mut choice) = (0, team.rank());
                    loop {
                        while choice >= choices && at < count {
                            choice -= choices;
                            at += 1;
                        }
                        if at >= count {
                            break;
                        }
                        let (a, b) = (self.scratch.get(2 * at), self.scratch.get(2 * at + 1));
                        let opening = Opening {
                            way: (a >> 40) as u32,
                            kept: (a & ((1 << 40) - 1)) as i64,
                            t4: b as u32,
                            to_t3: (b >> 32) as u32,
                        };
                        let (j, side) = (choice / sides, choice % sides);
                        let is_one = side == 0 || !self.parts::<O>(opening.way).2;
                        if is_one && let Some(second) = self.second(opening, j) {
                            best = best.or(self.triple::<O>(t1, opening, second, (j, side)));
                        }
                        choice += team.size();
                    }
                }
            }
            first += team.size();
        }
        best
    }

    /// Returns the move with a code around `t1`. Each member can do this alone.
    ///
    /// # Safety
    /// The code came from [`View::best`] for `t1`, and the tour is the same as then.
    #[inline(always)]
    pub unsafe fn decode<O: Operator>(self, t1: u32, code: u32) -> EdgeMove {
        // SAFETY: as in `open`, which made the code.
        unsafe {
            let n = self.tour.n();
            let (way, choice) = (code >> CHOICE_BITS, code & ((1 << CHOICE_BITS) - 1));
            let (forward, i, closing) = self.parts::<O>(way);
            let at_t1 = self.tour.position(t1);
            let t2 = self.beside(at_t1, forward);
            let t3 = self.neighbor(t2, i);
            let at_t3 = self.tour.position(t3);
            let t4 = self.beside(at_t3, forward != closing);
            if choice == 0 {
                return EdgeMove { kind: Kind::Pair, t: [t1, t2, t3, t4, t4, t1] };
            }
            let (j, side) = ((choice - 1) / 2, (choice - 1) % 2);
            let t5 = self.neighbor(t4, j);
            let at_t5 = self.tour.position(t5);
            let course = self.course(at_t1, forward);
            let (to_t3, to_t5) = (course.of(at_t3), course.of(at_t5));
            let ahead = reconnect(closing, to_t3, to_t5, side, n).is_some_and(|(ahead, _)| ahead);
            let t6 = self.beside(at_t5, ahead == forward);
            let kind = match (closing, side) {
                (true, _) => Kind::Turned,
                (false, 0) if O::DIRECTED => Kind::Directed,
                (false, 0) => Kind::Shifted,
                (false, _) => Kind::BothTurned,
            };
            EdgeMove { kind, t: [t1, t2, t3, t4, t5, t6] }
        }
    }

    /// Returns how much shorter a move makes the tour; negative: longer.
    ///
    /// # Safety
    /// All are nodes.
    #[inline(always)]
    pub unsafe fn gain(self, m: EdgeMove) -> i64 {
        let [t1, t2, t3, t4, t5, t6] = m.t;
        // SAFETY: the caller's promise.
        let d = |a, b| unsafe { self.distance.between(a, b) as i64 };
        let pair = d(t2, t1) + d(t4, t3) - d(t2, t3);
        if m.kind == Kind::Pair { pair - d(t4, t1) } else { pair + d(t6, t5) - d(t4, t5) - d(t6, t1) }
    }

    /// Returns, for a directed move, the first position of the two segments that are swapped, and their lengths.
    ///
    /// # Safety
    /// It can be made, and no exchange is in progress.
    #[inline(always)]
    pub(super) unsafe fn segments(self, m: EdgeMove) -> (u32, (u32, u32)) {
        let [t1, _, t3, _, t5, _] = m.t;
        // SAFETY: the caller's promise.
        unsafe {
            let (at_t3, at_t5) = (self.tour.position(t3), self.tour.position(t5));
            let course = self.course(self.tour.position(t1), false);
            let (to_t3, to_t5) = (course.of(at_t3), course.of(at_t5));
            (at_t3, (to_t3 - to_t5, to_t5 + 1))
        }
    }

    /// Returns whether a move that was found in an earlier tour can be made in this one with the same gain.
    ///
    /// # Safety
    /// All are nodes, and no exchange is in progress.
    #[inline(always)]
    pub unsafe fn is_possible(self, m: EdgeMove) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            let [t1, t2, t3, t4, t5, t6] = m.t;
            let n = self.tour.n();
            let (at_t1, at_t3) = (self.tour.position(t1), self.tour.position(t3));
            let forward = self.tour.after(at_t1) == t2;
            if !forward && self.tour.before(at_t1) != t2 || forward && m.kind == Kind::Directed {
                return false;
            }
            let closing = matches!(m.kind, Kind::Pair | Kind::Turned);
            if self.beside(at_t3, forward != closing) != t4 {
                return false;
            }
            if m.kind == Kind::Pair {
                return true;
            }
            let at_t5 = self.tour.position(t5);
            let course = self.course(at_t1, forward);
            let side = (m.kind == Kind::BothTurned) as u32;
            match reconnect(closing, course.of(at_t3), course.of(at_t5), side, n) {
                Some((ahead, _)) => self.beside(at_t5, ahead == forward) == t6,
                None => false,
            }
        }
    }
}

/// For a move of three edges, with the places of t3 and t5 counted from t2 along its direction: returns whether t6 comes after t5,
/// and the length of the shortest segment that moves relative to the rest. `None`: the result is not a tour.
#[inline(always)]
fn reconnect(closing: bool, to_t3: u32, to_t5: u32, side: u32, n: u32) -> Option<(bool, u32)> {
    if closing {
        // A ends at t4, next to t3. Only the reversed part can be short.
        return if to_t5 < to_t3 { Some((true, to_t5 + 1)) } else { Some((false, to_t5 - to_t3)) };
    }
    if to_t5 > to_t3 {
        return None;
    }
    let rest = n - 1 - to_t3;
    if side == 0 {
        // A = t2 .. t5, B = t6 .. t3; t5 = t3 is excluded by the caller.
        let (a, b) = (to_t5 + 1, to_t3 - to_t5);
        let segment = if a < b { a } else { b };
        Some((true, if segment < rest { segment } else { rest }))
    } else if to_t5 > 0 {
        Some((false, rest))
    } else {
        None
    }
}
