//! Edges that must stay in a tour: they stand for what lies between the pieces that a search works on.
//!
//! A search may be given a part of a tour's nodes, renumbered 0 .. n in the order of the tour. Nodes in a row there
//! that are not in a row in the whole tour are joined by a link. A tour of the part that keeps every link, their
//! order and their direction stands for a tour of the whole, and the ends of its pieces are the same as before: so
//! several parts of one tour can be worked on at the same time.

use crate::node::NodeId;
use crate::team::{Slots, Team};

use super::array::ArrayTour;
use super::exchanges::{Kind, Move};

/// Edges that must stay.
pub trait Links: Copy {
    /// Whether moves have to be asked for with [`Links::allow`].
    const ASK: bool;

    /// Whether the edge (a, b) of the tour must stay.
    ///
    /// # Safety
    /// Both are nodes.
    unsafe fn is_fixed(self, a: u32, b: u32) -> bool;

    /// Whether a move, which removes none of the links, keeps their order and direction too. The same for every
    /// member.
    ///
    /// # Safety
    /// The move can be made in the tour, and no exchange is under way.
    unsafe fn allow<T: Team, I: NodeId>(self, team: T, tour: ArrayTour<I>, m: Move) -> bool;

    /// Whether none of the `length` edges from position `first` on must stay. The same for every member.
    ///
    /// # Safety
    /// `first < n`, `length < n`, and no exchange is under way.
    unsafe fn are_loose<T: Team, I: NodeId>(
        self,
        team: T,
        tour: ArrayTour<I>,
        first: u32,
        length: u32,
    ) -> bool;
}

/// No links: a search of the whole tour.
#[derive(Clone, Copy, Debug)]
pub struct Free;

impl Links for Free {
    const ASK: bool = false;

    #[inline(always)]
    unsafe fn is_fixed(self, _: u32, _: u32) -> bool {
        false
    }

    #[inline(always)]
    unsafe fn allow<T: Team, I: NodeId>(self, _: T, _: ArrayTour<I>, _: Move) -> bool {
        true
    }

    #[inline(always)]
    unsafe fn are_loose<T: Team, I: NodeId>(self, _: T, _: ArrayTour<I>, _: u32, _: u32) -> bool {
        true
    }
}

/// Pieces of a tour: nodes numbered along it.
pub struct Pieces<I> {
    /// Number of nodes.
    pub n: u32,
    /// Bit i: a link joins node i and the next one (of the last node: node 0).
    pub bits: Slots<u32>,
    /// The first node of every link.
    pub heads: Slots<I>,
    /// Number of links.
    pub count: u32,
}

impl<I> Clone for Pieces<I> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for Pieces<I> {}

impl<J: NodeId> Links for Pieces<J> {
    const ASK: bool = true;

    #[inline(always)]
    unsafe fn is_fixed(self, a: u32, b: u32) -> bool {
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        let head = if high - low == 1 {
            low
        } else if high - low + 1 == self.n {
            high
        } else {
            return false;
        };
        // SAFETY: below n.
        unsafe { self.bits.get(head / 32) >> (head % 32) & 1 != 0 }
    }

    #[inline(always)]
    unsafe fn allow<T: Team, I: NodeId>(self, team: T, tour: ArrayTour<I>, m: Move) -> bool {
        if self.count <= 1 {
            return true;
        }
        // SAFETY: nodes below n.
        unsafe {
            let [t1, t2, t3, _, t5, t6] = m.t;
            let n = tour.n();
            let forward = tour.next(t1) == t2;
            let origin = tour.position(t2);
            let way = |node: u32| {
                let (to, from) =
                    if forward { (tour.position(node), origin) } else { (origin, tour.position(node)) };
                if to >= from { to - from } else { to + n - from }
            };
            // Where A ends and where B ends, as ways from t2.
            let to_t3 = way(t3);
            let (a, b) = match m.kind {
                Kind::Pair => (to_t3 - 1, to_t3 - 1),
                Kind::Turned => {
                    let to_t5 = way(t5);
                    if to_t5 < to_t3 { (to_t5, to_t3 - 1) } else { (to_t3 - 1, way(t6)) }
                }
                Kind::Shifted => (way(t5), to_t3),
                Kind::BothTurned => (way(t6), to_t3),
            };
            // Links in A, B, C, counted in fields of 20 bits. Both nodes of a link are in one of them.
            let mut found = 0u64;
            team.for_each(self.count, |i| {
                let at = way(self.heads.get(i).get());
                found += 1 << if at <= a { 0 } else { (if at <= b { 20 } else { 40 }) as u64 };
            });
            let all = team.sum(found);
            let has = |shift: u32| all >> shift & 0xf_ffff != 0;
            let (in_a, in_b, in_c) = (has(0), has(20), has(40));
            match m.kind {
                Kind::Pair => !(in_a && in_c),
                Kind::Shifted => !(in_a && in_b && in_c),
                Kind::BothTurned => !in_c || !(in_a || in_b),
                // B A^r C or B^r A C: what is turned is alone, or has none.
                Kind::Turned if way(t5) < to_t3 => !in_a || !(in_b || in_c),
                Kind::Turned => !in_b || !(in_a || in_c),
            }
        }
    }

    #[inline(always)]
    unsafe fn are_loose<T: Team, I: NodeId>(
        self,
        team: T,
        tour: ArrayTour<I>,
        first: u32,
        length: u32,
    ) -> bool {
        let mut found = 0;
        let n = tour.n();
        // SAFETY: heads are nodes; the node behind the last one is the first.
        team.for_each(self.count, |i| unsafe {
            let head = self.heads.get(i).get();
            let next = if head + 1 == n { 0 } else { head + 1 };
            let (a, b) = (tour.position(head), tour.position(next));
            // The edge at a position leads from there to the next one.
            let at = if b == (if a + 1 == n { 0 } else { a + 1 }) { a } else { b };
            let way = if at >= first { at - first } else { at + n - first };
            found |= (way < length) as u64;
        });
        team.sum(found) == 0
    }
}
