//! Moves: how to find the best one around a node, and how to make it.

use crate::distance::Distance;
use crate::node::NodeId;
use crate::team::Team;

use super::array::ArrayTour;
use super::links::Links;

/// What a search looks at: a tour, neighbour lists, distances, and which edges must stay.
pub struct View<I, D, L> {
    /// The tour.
    pub tour: ArrayTour<I>,
    /// n x k, nearest first; entries of n or beyond mean: no neighbour here, nor further on.
    pub lists: *const I,
    /// Neighbours of a node.
    pub k: u32,
    /// Neighbours of a node that the second step looks at; at most `k`.
    pub breadth: u32,
    /// Distances.
    pub distance: D,
    /// Edges that must stay.
    pub links: L,
}

impl<I, D: Copy, L: Copy> Clone for View<I, D, L> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<I, D: Copy, L: Copy> Copy for View<I, D, L> {}

/// Which moves a search makes.
pub trait Operator: Copy + Send + Sync + 'static {
    /// 2-opt moves.
    const PAIRS: bool;
    /// Moves of three edges.
    const TRIPLES: bool;
    /// Of those, only the ones that move a segment of at most so many nodes.
    const SEGMENT: u32;
}

/// 2-opt: two edges out, two in (Croes 1958).
#[derive(Clone, Copy, Debug)]
pub struct TwoOpt;

/// Or-opt: a segment of up to three nodes goes elsewhere, either way around (Or 1976).
#[derive(Clone, Copy, Debug)]
pub struct OrOpt;

/// 2-opt and Or-opt together (2h-opt and more).
#[derive(Clone, Copy, Debug)]
pub struct Or2opt;

/// 2-opt, and every pure 3-opt reconnection (Lin 1965).
#[derive(Clone, Copy, Debug)]
pub struct ThreeOpt;

impl Operator for TwoOpt {
    const PAIRS: bool = true;
    const TRIPLES: bool = false;
    const SEGMENT: u32 = 0;
}

impl Operator for OrOpt {
    const PAIRS: bool = false;
    const TRIPLES: bool = true;
    const SEGMENT: u32 = 3;
}

impl Operator for Or2opt {
    const PAIRS: bool = true;
    const TRIPLES: bool = true;
    const SEGMENT: u32 = 3;
}

impl Operator for ThreeOpt {
    const PAIRS: bool = true;
    const TRIPLES: bool = true;
    const SEGMENT: u32 = u32::MAX;
}

/// How the pieces of a tour are joined anew. With t2 the node after t1 in the direction of the move, the tour is
/// A B C (A alone and the rest for [`Kind::Pair`]): A begins at t2, and C ends at t1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// A^r C, where A is t2 .. t4.
    Pair = 0,
    /// B A^r C, with A = t2 .. t5, B = t6 .. t4; or B^r A C, with A = t2 .. t4, B = t3 .. t6.
    Turned = 1,
    /// B A C, with A = t2 .. t5, B = t6 .. t3.
    Shifted = 2,
    /// A^r B^r C, with A = t2 .. t6, B = t5 .. t3.
    BothTurned = 3,
}

/// A move by its nodes: the edges (t1, t2), (t3, t4), (t5, t6) go, (t2, t3), (t4, t5), (t6, t1) come; of a pair
/// (t1, t2), (t3, t4) go, (t2, t3), (t4, t1) come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// How the pieces are joined.
    pub kind: Kind,
    /// t1 to t6.
    pub t: [u32; 6],
}

impl Move {
    /// Exchanges it takes.
    #[inline(always)]
    pub fn steps(&self) -> u32 {
        match self.kind {
            Kind::Pair => 1,
            Kind::Turned | Kind::BothTurned => 2,
            Kind::Shifted => 3,
        }
    }

    /// Its exchange number `step`: what [`ArrayTour::exchange`] takes.
    #[inline(always)]
    pub fn step(&self, step: u32) -> [u32; 4] {
        let [t1, t2, t3, t4, t5, t6] = self.t;
        match (self.kind, step) {
            (Kind::Pair | Kind::Turned, 0) => [t1, t2, t4, t3],
            (Kind::Pair | Kind::Turned, _) => [t1, t4, t6, t5],
            (Kind::BothTurned, 0) => [t1, t2, t6, t5],
            (Kind::BothTurned, _) => [t2, t5, t3, t4],
            (Kind::Shifted, 0) => [t1, t2, t3, t4],
            (Kind::Shifted, 1) => [t1, t3, t6, t5],
            (Kind::Shifted, _) => [t3, t5, t2, t4],
        }
    }

    /// Nodes whose edges it changes.
    #[inline(always)]
    pub fn ends(&self) -> u32 {
        if self.kind == Kind::Pair { 4 } else { 6 }
    }
}

/// The best move of some: how much shorter the tour gets, and the move as [`View::decode`] takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Positive if there is a move at all.
    pub gain: i64,
    /// See [`View::decode`].
    pub code: u32,
}

impl Found {
    /// No move.
    pub const NONE: Found = Found { gain: 0, code: u32::MAX };
    /// Better than every move.
    pub const ANY: Found = Found { gain: i64::MAX, code: 0 };

    /// Whether another move comes before this one: more gain, or as much and a smaller code.
    #[inline(always)]
    fn is_after(self, other: Found) -> bool {
        self.gain < other.gain || (self.gain == other.gain && self.code > other.code)
    }
}

/// What looking along one way tells.
#[derive(Clone, Copy, Debug)]
struct Look {
    found: Found,
    /// The way's first new edge is as long as the removed one: ways behind it in the list lead nowhere.
    beyond: bool,
}

/// A node's place on the way from t2 along the direction of a move.
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

/// Bits of a code: the second step's choice lies below the way's number.
const CHOICE_BITS: u32 = 8;

impl<I: NodeId, D: Distance, L: Links> View<I, D, L> {
    /// A neighbour from a node's list; n or beyond: none.
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

    /// Ways from a node, numbered direction by direction, then neighbour by neighbour, then by the side of t3.
    #[inline(always)]
    fn ways<O: Operator>(self) -> u32 {
        if O::TRIPLES { 4 * self.k } else { 2 * self.k }
    }

    /// The best move from `t1` with the edge (t1, t2), the neighbour t3 and the side of t4 that `way` tells, of those
    /// that come after `behind`.
    ///
    /// # Safety
    /// `t1 < n`, `way < ways`, and no exchange is under way.
    #[inline(always)]
    unsafe fn look<O: Operator>(self, t1: u32, way: u32, behind: Found) -> Look {
        // SAFETY: nodes below n, entries inside the lists.
        unsafe {
            let n = self.tour.n();
            let per_direction = self.ways::<O>() / 2;
            let forward = way < per_direction;
            let rest = if forward { way } else { way - per_direction };
            // The far side of t3 first: with it a pair closes the tour.
            let (i, closing) = if O::TRIPLES { (rest / 2, rest % 2 == 0) } else { (rest, true) };
            let nothing = Look { found: Found::NONE, beyond: false };
            let at_t1 = self.tour.position(t1);
            let t2 = self.beside(at_t1, forward);
            let t3 = self.neighbor(t2, i);
            if t3 >= n || self.links.is_fixed(t1, t2) {
                return Look { beyond: true, ..nothing };
            }
            let kept = self.distance.between(t1, t2) as i64 - self.distance.between(t2, t3) as i64;
            if kept <= 0 {
                return Look { beyond: true, ..nothing };
            }
            let at_t3 = self.tour.position(t3);
            let t4 = self.beside(at_t3, forward != closing);
            // An edge that is in the tour cannot come.
            if t4 == t2 || self.beside(at_t3, forward == closing) == t2 || self.links.is_fixed(t3, t4) {
                return nothing;
            }
            let kept = kept + self.distance.between(t3, t4) as i64;
            let mut best = Found::NONE;
            let code = way << CHOICE_BITS;
            if O::PAIRS && closing {
                let found = Found { gain: kept - self.distance.between(t4, t1) as i64, code };
                if found.gain > 0 && found.is_after(behind) {
                    best = found;
                }
            }
            if O::TRIPLES {
                let course = Course {
                    n,
                    origin: if forward {
                        if at_t1 + 1 == n { 0 } else { at_t1 + 1 }
                    } else if at_t1 == 0 {
                        n - 1
                    } else {
                        at_t1 - 1
                    },
                    forward,
                };
                let to_t3 = course.of(at_t3);
                let mut j = 0;
                while j < self.breadth {
                    let t5 = self.neighbor(t4, j);
                    if t5 >= n {
                        break;
                    }
                    let kept = kept - self.distance.between(t4, t5) as i64;
                    if kept <= 0 {
                        break;
                    }
                    let at_t5 = self.tour.position(t5);
                    let to_t5 = course.of(at_t5);
                    let mut side = 0;
                    while side < 2 {
                        let choice = 1 + 2 * j + side;
                        if let Some((ahead, segment)) = triple(closing, to_t3, to_t5, side, n)
                            && t5 != t3
                            && t5 != t1
                            && segment <= O::SEGMENT
                        {
                            let t6 = self.beside(at_t5, ahead == forward);
                            let gain = kept + self.distance.between(t5, t6) as i64
                                - self.distance.between(t6, t1) as i64;
                            let found = Found { gain, code: code + choice };
                            if t6 != t4
                                && gain > best.gain
                                && found.is_after(behind)
                                && !self.links.is_fixed(t5, t6)
                            {
                                best = found;
                            }
                        }
                        side += 1;
                        if closing {
                            break;
                        }
                    }
                    j += 1;
                }
            }
            Look { found: best, beyond: false }
        }
    }

    /// The best move around `t1` of those that come after `behind`; among equally good ones that with the smallest
    /// code. The same for every member.
    ///
    /// # Safety
    /// `t1 < n`, and no exchange is under way.
    #[inline(always)]
    pub unsafe fn best<T: Team, O: Operator>(self, team: T, t1: u32, behind: Found) -> Found {
        let ways = self.ways::<O>();
        let mut best = Found::NONE;
        let mut way = team.rank();
        while way < ways {
            // SAFETY: the caller's promise.
            let look = unsafe { self.look::<O>(t1, way, behind) };
            if look.found.gain > best.gain {
                best = look.found;
            }
            way = if T::ALONE && look.beyond {
                if way < ways / 2 { ways / 2 } else { ways }
            } else {
                way + team.size()
            };
        }
        if T::ALONE {
            return best;
        }
        // Gains beyond 32 bits count as equal: the choice among them is free, the sum is not taken from here.
        let key = if best.gain > u32::MAX as i64 { u32::MAX } else { best.gain as u32 };
        let (key, code) = team.arg_max(key, best.code, best.code);
        Found { gain: key as i64, code }
    }

    /// The move of a code around `t1`.
    ///
    /// # Safety
    /// The code came from [`View::best`] for `t1`, and the tour is the same as then.
    #[inline(always)]
    pub unsafe fn decode<O: Operator>(self, t1: u32, code: u32) -> Move {
        // SAFETY: as in `look`, which made the code.
        unsafe {
            let n = self.tour.n();
            let (way, choice) = (code >> CHOICE_BITS, code & ((1 << CHOICE_BITS) - 1));
            let per_direction = self.ways::<O>() / 2;
            let forward = way < per_direction;
            let rest = if forward { way } else { way - per_direction };
            let (i, closing) = if O::TRIPLES { (rest / 2, rest % 2 == 0) } else { (rest, true) };
            let at_t1 = self.tour.position(t1);
            let t2 = self.beside(at_t1, forward);
            let t3 = self.neighbor(t2, i);
            let at_t3 = self.tour.position(t3);
            let t4 = self.beside(at_t3, forward != closing);
            if choice == 0 {
                return Move { kind: Kind::Pair, t: [t1, t2, t3, t4, t4, t1] };
            }
            let (j, side) = ((choice - 1) / 2, (choice - 1) % 2);
            let t5 = self.neighbor(t4, j);
            let at_t5 = self.tour.position(t5);
            let course = Course { n, origin: self.tour.position(t2), forward };
            let (to_t3, to_t5) = (course.of(at_t3), course.of(at_t5));
            let ahead = triple(closing, to_t3, to_t5, side, n).is_some_and(|(ahead, _)| ahead);
            let t6 = self.beside(at_t5, ahead == forward);
            let kind = match (closing, side) {
                (true, _) => Kind::Turned,
                (false, 0) => Kind::Shifted,
                (false, _) => Kind::BothTurned,
            };
            Move { kind, t: [t1, t2, t3, t4, t5, t6] }
        }
    }

    /// How much shorter a move makes the tour; negative: longer.
    ///
    /// # Safety
    /// All are nodes.
    #[inline(always)]
    pub unsafe fn gain(self, m: Move) -> i64 {
        let [t1, t2, t3, t4, t5, t6] = m.t;
        // SAFETY: the caller's promise.
        let d = |a, b| unsafe { self.distance.between(a, b) as i64 };
        let pair = d(t1, t2) + d(t3, t4) - d(t2, t3);
        if m.kind == Kind::Pair { pair - d(t4, t1) } else { pair + d(t5, t6) - d(t4, t5) - d(t6, t1) }
    }

    /// Whether a move that was found in an earlier tour can be made in this one with the same gain.
    ///
    /// # Safety
    /// All are nodes, and no exchange is under way.
    #[inline(always)]
    pub unsafe fn is_possible(self, m: Move) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            let [t1, t2, t3, t4, t5, t6] = m.t;
            let n = self.tour.n();
            let (at_t1, at_t3) = (self.tour.position(t1), self.tour.position(t3));
            let forward = self.tour.after(at_t1) == t2;
            if !forward && self.tour.before(at_t1) != t2 {
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
            let course = Course { n, origin: self.tour.position(t2), forward };
            let side = (m.kind == Kind::BothTurned) as u32;
            match triple(closing, course.of(at_t3), course.of(at_t5), side, n) {
                Some((ahead, _)) => self.beside(at_t5, ahead == forward) == t6,
                None => false,
            }
        }
    }
}

/// Of a move of three edges, with the way from t2 to t3 and to t5 along its direction: whether t6 lies ahead of t5,
/// and the length of the shortest segment that moves relative to the rest. `None`: no tour comes of it.
#[inline(always)]
fn triple(closing: bool, to_t3: u32, to_t5: u32, side: u32, n: u32) -> Option<(bool, u32)> {
    if closing {
        // A ends at t4, next to t3. Only what is turned can be short.
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
