//! The tour after a trial's moves, as segments of the [`Tour`] that the trial started with.
//!
//! Every removed edge is a cut of the old tour, and between two cuts is a segment. As long as the nodes of a segment stay together,
//! it is enough to know where the new tour enters it and in which direction it passes through. The segments are in the order of the
//! old tour, so a node's segment is found by its old position. A cut stays even if its edge is added again.
//!
//! Positions in the new tour are numbers below n; each move changes where they start, and may change their direction.

use super::lanes::{Lanes, both, each, truth};
use super::{Tour, removed};
use crate::geometry::Geometry;
use crate::team::{Slots, Team};

/// Most segments, so a trial removes at most as many edges. Few trials need more than 64; on lattices those gain far more than the
/// others.
pub const MAX_SEGMENTS: u32 = 128;
/// Words of memory, of 4 bytes, that [`Cuts`] take, even: `first` has an entry after the last segment.
pub const WORDS: u32 = 6 * MAX_SEGMENTS + 2;
/// More than any position.
const NONE: u32 = 1 << 30;
/// Most ends of removed edges of a move; a team has one member or at least this many.
pub const ENDS: u32 = 14;
/// Segments that a CPU thread compares with a position at once.
const LANES: u32 = 16;

/// Where a node is: its segment, and its position in the old tour.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    /// The segment's number, from 0, in the order of the old tour.
    pub segment: u32,
    /// The position in the old tour.
    pub old: u32,
}

/// See the [module](self). The first segment starts at position 0; after the last one, `first` is more than any position.
#[derive(Clone, Copy)]
pub struct Cuts {
    /// Old position of each segment's first node.
    first: Slots<u32>,
    /// New position of the end at which the new tour enters it, times 2; plus 1 if it passes through backwards.
    begin: Slots<u32>,
    /// The neighbour of its first node in the new tour.
    before: Slots<Link>,
    /// The neighbour of its last node in the new tour.
    after: Slots<Link>,
    /// Number of segments.
    count: u32,
}

/// A neighbour, and in the upper half its distance. It is one number so that it is one load: a compiler merges loads of two halves
/// with loads of the tour, and a GPU is slower where the address may be in shared or in global memory.
#[derive(Clone, Copy, Debug, Default)]
struct Link(u64);

impl Link {
    #[inline(always)]
    fn new(node: u32, far: i32) -> Link {
        Link(node as u64 | (far as u64) << 32)
    }

    #[inline(always)]
    fn node(self) -> u32 {
        self.0 as u32
    }

    #[inline(always)]
    fn far(self) -> i32 {
        (self.0 >> 32) as i32
    }
}

/// A reversal of the places from the first to the second, both included; of nothing if the second is before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn(pub u32, pub u32);

impl Turn {
    /// Returns where a place goes.
    #[inline(always)]
    pub fn of(self, p: u32) -> u32 {
        if self.holds(p) { self.0 + self.1 - p } else { p }
    }

    /// Returns whether a place is in the reversed part.
    #[inline(always)]
    pub fn holds(self, p: u32) -> bool {
        p >= self.0 && p <= self.1
    }
}

/// The new tour as a path from a node: its places are counted from 0 there, forwards or backwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Number of nodes.
    pub n: u32,
    /// New position of the first node.
    pub origin: u32,
    /// Whether the path runs against the tour.
    pub back: bool,
}

impl Way {
    /// Returns the places along the path of the nodes at new positions.
    #[inline(always)]
    pub fn places<const W: usize>(self, positions: Lanes<W>) -> Lanes<W> {
        let (n, origin) = (self.n as i32, self.origin as i32);
        let far = if self.back {
            each(positions, |position| origin - position)
        } else {
            each(positions, |position| position - origin)
        };
        each(far, |far| far + (n & far >> 31))
    }
}

impl Cuts {
    /// Makes cuts in [`WORDS`] words of memory at a multiple of 8 bytes. [`Cuts::bridge`] or [`Cuts::reset`] must come first.
    ///
    /// # Safety
    /// The memory belongs to this team alone for as long as they are used.
    #[inline(always)]
    pub unsafe fn new(memory: *mut u32) -> Cuts {
        // SAFETY: the caller's promise.
        unsafe {
            let part = |i: u32| memory.add((i * MAX_SEGMENTS) as usize);
            Cuts {
                before: Slots::new(part(0).cast(), MAX_SEGMENTS as usize),
                after: Slots::new(part(2).cast(), MAX_SEGMENTS as usize),
                begin: Slots::new(part(4), MAX_SEGMENTS as usize),
                first: Slots::new(part(5), MAX_SEGMENTS as usize + 1),
                count: 0,
            }
        }
    }

    /// Returns the number of segments.
    #[inline(always)]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Sets the new tour to the old one with its segments reconnected by a double bridge (Martin, Otto and Felten 1991): cut after
    /// the old positions `at`, in ascending order, the old tour A B C D A becomes A D C B A. Every member calls this, and waits.
    ///
    /// # Safety
    /// The positions differ and are less than the tour's n.
    #[inline(always)]
    pub unsafe fn bridge<T: Team, G: Geometry>(&mut self, team: T, tour: Tour<G>, at: [u32; 4]) {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b, c, d] = at;
            let ends = at.map(|p| (tour.at(p), tour.at(tour.next_position(p))));
            let wraps = d + 1 == tour.n;
            let count = if wraps { 4 } else { 5 };
            team.barrier();
            let (first, begin, before, after) = (self.first, self.begin, self.before, self.after);
            let link = |from: u32, node: u32| Link::new(node, tour.between(from, node));
            team.for_each(MAX_SEGMENTS + 1, |i| first.set(i, NONE));
            team.barrier();
            team.single(|| {
                first.set(0, 0);
                first.set(1, a + 1);
                first.set(2, b + 1);
                first.set(3, c + 1);
                begin.set(0, 0);
                begin.set(3, 2 * (a + 1));
                begin.set(2, 2 * (a + 1 + d - c));
                begin.set(1, 2 * (a + 1 + d - b));
                let [(a0, a1), (b0, b1), (c0, c1), (d0, d1)] = ends;
                after.set(0, link(a0, c1));
                before.set(3, link(c1, a0));
                after.set(3, link(d0, b1));
                before.set(2, link(b1, d0));
                after.set(2, link(c0, a1));
                before.set(1, link(a1, c0));
                after.set(1, link(b0, d1));
                before.set(if wraps { 0 } else { 4 }, link(d1, b0));
                if !wraps {
                    first.set(4, d + 1);
                    begin.set(4, 2 * (d + 1));
                    let far = tour.ahead(tour.n - 1);
                    before.set(0, Link::new(tour.at(tour.n - 1), far));
                    after.set(4, Link::new(tour.at(0), far));
                }
            });
            self.count = count;
            team.barrier();
        }
    }

    /// Sets the new tour to the old one. Every member calls this, and waits.
    ///
    /// # Safety
    /// As [`Tour::at`].
    #[inline(always)]
    pub unsafe fn reset<T: Team, G: Geometry>(&mut self, team: T, tour: Tour<G>) {
        // SAFETY: the caller's promise.
        unsafe {
            team.barrier();
            let first = self.first;
            team.for_each(MAX_SEGMENTS + 1, |i| first.set(i, if i == 0 { 0 } else { NONE }));
            team.single(|| {
                self.begin.set(0, 0);
                let far = tour.ahead(tour.n - 1);
                self.before.set(0, Link::new(tour.at(tour.n - 1), far));
                self.after.set(0, Link::new(tour.at(0), far));
            });
            self.count = 1;
            team.barrier();
        }
    }

    /// Returns the spot of an old position. Each member may ask for another one.
    ///
    /// # Safety
    /// It is less than the tour's n.
    #[inline(always)]
    pub unsafe fn spot<T: Team>(&self, old: u32) -> Spot {
        // SAFETY: there are segments up to MAX_SEGMENTS, and the first one starts at 0.
        unsafe {
            let mut segment = 0;
            if T::ALONE {
                // A branch for every comparison would cost more than all comparisons at once.
                let mut from = 0;
                while from < self.count {
                    let chunk = &*self.first.run(from, LANES).cast::<[u32; LANES as usize]>();
                    // As signed numbers, for which there are vector comparisons.
                    segment += chunk.iter().map(|&f| (f as i32 <= old as i32) as u32).sum::<u32>();
                    from += LANES;
                }
                segment -= 1;
            } else {
                let mut step = MAX_SEGMENTS / 2;
                while step > 0 {
                    segment += if self.first.get(segment + step) <= old { step } else { 0 };
                    step /= 2;
                }
            }
            Spot { segment, old }
        }
    }

    /// Returns the old position of a segment's last node.
    #[inline(always)]
    unsafe fn last(&self, n: u32, segment: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { if segment + 1 < self.count { self.first.get(segment + 1) - 1 } else { n - 1 } }
    }

    /// Returns the segments of old positions, and their positions in the new tour. Each member may ask for others.
    ///
    /// # Safety
    /// They are less than the tour's n.
    #[inline(always)]
    pub unsafe fn locate<T: Team, const W: usize>(&self, n: u32, old: Lanes<W>) -> (Lanes<W>, Lanes<W>) {
        // SAFETY: the caller's promise; there is a segment after each, or an entry for one.
        unsafe {
            let segment = if T::ALONE && W > 1 {
                let mut segment = [-1; W];
                let mut i = 0;
                while i < self.count {
                    let first = self.first.get(i) as i32;
                    segment = both(segment, old, |segment, old| segment - truth(first <= old));
                    i += 1;
                }
                segment
            } else {
                each(old, |old| self.spot::<T>(old as u32).segment as i32)
            };
            let begin = each(segment, |s| self.begin.get(s as u32) as i32);
            let first = each(segment, |s| self.first.get(s as u32) as i32);
            let behind = each(segment, |s| self.first.get(s as u32 + 1) as i32);
            let onwards = both(old, first, |old, first| old - first);
            let backwards = both(behind, old, |behind, old| behind.min(n as i32) - 1 - old);
            let into = both(onwards, backwards, |onwards, backwards| onwards ^ backwards);
            let into = both(into, begin, |into, begin| into & -(begin & 1));
            let into = both(into, onwards, |into, onwards| into ^ onwards);
            (segment, both(begin, into, |begin, into| (begin >> 1) + into))
        }
    }

    /// Returns the neighbour of a spot's node in the new tour, forwards or backwards, and its distance; for a fixed edge, as
    /// [`Tour::next_distance`].
    ///
    /// # Safety
    /// The spot is one of these cuts.
    #[inline(always)]
    pub unsafe fn beside<G: Geometry>(&self, tour: Tour<G>, spot: Spot, onwards: bool) -> (u32, i64) {
        // SAFETY: the caller's promise; there is a segment after each, or an entry for one.
        unsafe {
            let up = (onwards == (self.begin.get(spot.segment) & 1 == 0)) as u32;
            let end = self.first.get(spot.segment + up).min(tour.n) - up;
            if spot.old != end {
                return (tour.at(spot.old + 2 * up - 1), tour.next_distance(spot.old + up - 1));
            }
            let link = if up == 1 { self.after } else { self.before }.get(spot.segment);
            (link.node(), removed(link.far()))
        }
    }

    /// Cuts after an old position, unless there is a cut already.
    ///
    /// # Safety
    /// The position is less than n - 1, and there are fewer than [`MAX_SEGMENTS`] segments.
    #[inline(always)]
    unsafe fn split<T: Team, G: Geometry>(&mut self, team: T, tour: Tour<G>, old: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            let s = self.spot::<T>(old).segment;
            let last = self.last(tour.n, s);
            if last == old {
                return;
            }
            // Later segments move up, the last of them first.
            let mut end = self.count;
            while end > s + 1 {
                let from = if end - (s + 1) > team.size() { end - team.size() } else { s + 1 };
                let i = from + team.rank();
                // Variables, not an array, which would be on the stack.
                let (mut first, mut begin) = (0, 0);
                let (mut before, mut after) = (Link::default(), Link::default());
                if i < end {
                    (first, begin) = (self.first.get(i), self.begin.get(i));
                    (before, after) = (self.before.get(i), self.after.get(i));
                }
                team.barrier();
                if i < end {
                    self.first.set(i + 1, first);
                    self.begin.set(i + 1, begin);
                    self.before.set(i + 1, before);
                    self.after.set(i + 1, after);
                }
                team.barrier();
                end = from;
            }
            let (begin, first) = (self.begin.get(s), self.first.get(s));
            let after = self.after.get(s);
            let far = tour.ahead(old);
            let (low, high) = (Link::new(tour.at(old), far), Link::new(tour.at(old + 1), far));
            team.barrier();
            team.single(|| {
                self.first.set(s + 1, old + 1);
                self.after.set(s + 1, after);
                self.before.set(s + 1, low);
                self.after.set(s, high);
                if begin & 1 == 0 {
                    self.begin.set(s + 1, begin + 2 * (old + 1 - first));
                } else {
                    self.begin.set(s + 1, begin);
                    self.begin.set(s, begin + 2 * (last - old));
                }
            });
            self.count += 1;
            team.barrier();
        }
    }

    /// Makes a sequential move: edges (t0, t1), (t2, t3), ... are removed and (t1, t2), ..., (t2k-1, t0) are added. Along `way`, a
    /// path from t1 to t0, this is the given sequence of reversals. Every member calls this, and waits.
    ///
    /// # Safety
    /// Nodes and reversals are those of a move of the new tour, with k edges; there are at most [`MAX_SEGMENTS`] - k segments.
    #[inline(always)]
    pub unsafe fn make<T: Team, G: Geometry>(
        &mut self,
        team: T,
        tour: Tour<G>,
        (nodes, edges): (Slots<u32>, u32),
        way: Way,
        (turns, steps): (Slots<Turn>, u32),
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let mut i = 0;
            while i < edges {
                let (a, b) = (tour.position(nodes.get(2 * i)), tour.position(nodes.get(2 * i + 1)));
                if a.abs_diff(b) == 1 {
                    self.split(team, tour, a.min(b));
                }
                i += 1;
            }
            // An end's link changes from its old partner to its new one. All links are found before any of them changes, because a
            // node may lose both of its edges.
            let ends = 2 * edges;
            let link = |i: u32| {
                let partner = match i {
                    0 => ends - 1,
                    i if i + 1 == ends => 0,
                    i => {
                        if i & 1 == 1 {
                            i + 1
                        } else {
                            i - 1
                        }
                    }
                };
                let spot = self.spot::<T>(tour.position(nodes.get(i)));
                let is_first = spot.old == self.first.get(spot.segment)
                    && self.before.get(spot.segment).node() == nodes.get(i ^ 1);
                let node = nodes.get(partner);
                (is_first, spot.segment, Link::new(node, tour.between(nodes.get(i), node)))
            };
            let set = |(is_first, segment, link): (bool, u32, Link)| {
                if is_first { self.before.set(segment, link) } else { self.after.set(segment, link) }
            };
            if T::ALONE {
                let mut links = [(false, 0, Link::default()); ENDS as usize];
                for (i, one) in (0..ends).zip(&mut links) {
                    *one = link(i);
                }
                links[..ends as usize].iter().copied().for_each(set);
            } else {
                let own = if team.rank() < ends { link(team.rank()) } else { (false, 0, Link::default()) };
                team.barrier();
                if team.rank() < ends {
                    set(own);
                }
                team.barrier();
            }
            // Updates where each segment is now entered.
            let (count, n) = (self.count, tour.n);
            team.for_each(count, |s| {
                let begin = self.begin.get(s);
                let length = self.last(n, s) - self.first.get(s);
                let (enter, leave) = (begin >> 1, (begin >> 1) + length);
                // Along the path it may be entered from its other end.
                let [a] = way.places([if way.back { leave } else { enter } as i32]);
                let mut a = a as u32;
                let mut backwards = (begin & 1 == 1) != way.back;
                let mut step = 0;
                while step < steps {
                    let turn = turns.get(step);
                    if turn.holds(a) {
                        a = turn.of(a + length);
                        backwards = !backwards;
                    }
                    step += 1;
                }
                self.begin.set(s, a << 1 | backwards as u32);
            });
            team.barrier();
        }
    }

    /// Returns the neighbours of a segment's first and last nodes. A segment of one node may have them in either order: an old
    /// neighbour is returned on its old side.
    #[inline(always)]
    unsafe fn links<G: Geometry>(&self, tour: Tour<G>, segment: u32) -> (u32, u32) {
        // SAFETY: the caller's promise.
        unsafe {
            let (first, last) = (self.first.get(segment), self.last(tour.n, segment));
            let (before, after) = (self.before.get(segment).node(), self.after.get(segment).node());
            let old = tour.at(if first == 0 { tour.n - 1 } else { first - 1 });
            if first == last && (after == old || before == tour.at(tour.next_position(last))) {
                (after, before)
            } else {
                (before, after)
            }
        }
    }

    /// Returns the cut after a segment, if the edge there is removed: its old position, and the new neighbours of its two ends,
    /// that of the first end first. `None` if the new tour has the edge.
    ///
    /// # Safety
    /// There is such a segment.
    #[inline(always)]
    pub unsafe fn gone<G: Geometry>(&self, tour: Tour<G>, segment: u32) -> Option<[u32; 3]> {
        // SAFETY: the caller's promise.
        unsafe {
            let old = self.last(tour.n, segment);
            let next = if segment + 1 == self.count { 0 } else { segment + 1 };
            let (after, before) = (self.links(tour, segment).1, self.links(tour, next).0);
            (after != tour.at(tour.next_position(old))).then_some([old, after, before])
        }
    }
}
