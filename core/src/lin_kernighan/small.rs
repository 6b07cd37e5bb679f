//! Chained local search of a small tour by one team, in memory of its own: for many small instances at once.
//!
//! The tour is an array, and moves reverse segments of it: for a few hundred nodes that is cheaper than the [cuts](super::cuts) of a
//! trial. Moves remove at most three edges, and the first one found that makes the tour shorter is made. A kick swaps the first and the
//! last of three consecutive segments (a double bridge); its repair searches around the nodes that changed. The result replaces the tour
//! if it is not longer, or, while the temperature is above 0, not much longer.
//!
//! Where nodes form groups that are far apart, no list leads from one group to another, so moves along lists cannot change how groups are
//! joined. Edges between groups are therefore also exchanged with any other edge of the tour (2-opt without lists). Where lists lead
//! from each node to all others, this changes nothing.
//!
//! The result depends on the seed and the number of kicks alone, and is the same for every team: members evaluate the starts of moves
//! in parallel, and of those found the first one in the order of a single member is made.
//!
//! Sources: Lin (*Computer solutions of the traveling salesman problem*, 1965) for the moves, Bentley (*Fast algorithms for geometric
//! traveling salesman problems*, 1992) for neighbour lists and the queue of nodes, Martin, Otto and Felten (1991) for kicks and
//! acceptance.

use super::trial::tolerance;
use crate::distance::{Distance, Plane};
use crate::math::sqrt_single;
use crate::rng::{Draws, Stream};
use crate::team::{Slots, Team};

/// Fewest nodes: a kick needs four edges, and segments between them.
pub const FEWEST_NODES: u32 = 8;
/// Most nodes: their numbers have 16 bits, and reversals take time in proportion to them.
pub const MOST_NODES: u32 = 1024;
/// Most neighbours that the second edge of a move may lead to.
pub const BREADTH: u32 = 8;
/// Most neighbours that the third edge may lead to.
const NEXT_BREADTH: u32 = 5;
/// Words of a move that was found.
const MOVE: u32 = 8;
/// Numbers of a kick's random draws: its place, the lengths of its segments, and the exponential variable.
const PLACE: u32 = 0;
const LENGTHS: u32 = 1;
const THRESHOLD: u32 = 4;

/// The distance of an edge that must stay in the tour; no other distance is as small.
pub const FIXED: i32 = i32::MIN;
/// [`Small::border`] where no node is far from the others.
const NO_BORDER: i64 = i64::MAX;
/// Most nodes of a list at distance 0: where many nodes are at one place, lists have to lead away from it.
const SAME_PLACE: u32 = 3;

/// Returns the words of memory, of 4 bytes, that a tour of `n` nodes takes, with lists of `k` neighbours; even.
#[inline(always)]
pub const fn words(n: u32, k: u32) -> u32 {
    let half = n.div_ceil(2);
    (n * k + half * k + 4 * half + n.div_ceil(32) + MOVE).next_multiple_of(2)
}

/// Returns the neighbours in each list of a tour of `n` nodes, n at least 1.
#[inline(always)]
pub const fn neighbors(n: u32) -> u32 {
    if n - 1 < BREADTH { n - 1 } else { BREADTH }
}

/// Settings of the search for small tours, as host and device share them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Plan {
    /// Seed of the run.
    pub seed: u64,
    /// Number of kicks for each node; in all, they must be fewer than 2^32.
    pub kicks: u32,
    /// Nodes of the longest segment of a kick; also at most a third of the nodes. At least 1, or 2 if edges are fixed.
    pub segment: u32,
    /// The temperature of [`tolerance`] at first, as a share of the mean length of an edge of the first local optimum. It falls to 0
    /// with the number of kicks.
    pub temperature: f32,
    /// Unused; keeps the size a multiple of 8.
    pub padding: u32,
}

const _: () = assert!(size_of::<Plan>() == 24);

/// A place of the plane, x and y, in single precision.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(8))]
pub struct Place(pub f32, pub f32);

/// Distances in the plane, in single precision and then rounded to integers. Coordinates should extend over [`EXTENT`].
#[derive(Clone, Copy, Debug)]
pub struct Flat {
    /// One for each node.
    pub places: *const Place,
}

/// The extent of coordinates of [`Flat`] along each axis: distances have as many bits as single precision, also those of places that are
/// near each other.
pub const EXTENT: f32 = 536_870_912.0;

impl Distance for Flat {
    #[inline(always)]
    unsafe fn between(self, i: u32, j: u32) -> i32 {
        // SAFETY: the caller's promise.
        let (a, b) = unsafe { (*self.places.add(i as usize), *self.places.add(j as usize)) };
        let (x, y) = (a.0 - b.0, a.1 - b.1);
        // SAFETY: the root is not negative, and below 2^31.
        unsafe { (sqrt_single(x * x + y * y) + 0.5).to_int_unchecked() }
    }

    #[inline(always)]
    fn plane(self) -> Option<Plane> {
        None
    }
}

/// The kinds of moves that remove the edges (t1, t2), (t3, t4) and perhaps (t5, t6), and add (t2, t3), perhaps (t4, t5), and the edge
/// from the last node to t1. Without (t1, t2), the tour is a path from t2 to t1.
///
/// t4 comes before t3: the path from t2 to t4 is reversed.
const TWO: u32 = 0;
/// The same, and then the path from t4 to t6.
const TURNED: u32 = 1;
/// t3 comes before t4, and t5 before t6 between t2 and t3: both parts are swapped.
const SWAPPED: u32 = 2;
/// t6 comes before t5: both parts are reversed in their places.
const BOTH_TURNED: u32 = 3;

/// A small tour, its team's memory, and what it reads.
///
/// ```
/// use antwarp_core::lin_kernighan::small::{Flat, Place, Plan, Small, neighbors, words};
/// use antwarp_core::team::Serial;
///
/// // Three rows of four places.
/// let places: Vec<Place> = (0..12).map(|i| Place((i % 4) as f32 * 1e8, (i / 4) as f32 * 1e8)).collect();
/// let plan = Plan { seed: 1, kicks: 10, segment: 50, temperature: 0.0, padding: 0 };
/// let mut memory = vec![0u64; words(12, neighbors(12)).div_ceil(2) as usize];
/// // SAFETY: there are 12 places and enough memory, which nobody else uses.
/// let (length, tour) = unsafe {
///     let small = Small::new(12, (Flat { places: places.as_ptr() }, false), memory.as_mut_ptr().cast());
///     let length = small.search(Serial, plan, |_| false);
///     (length, (0..12).map(|at| small.best().get(at)).collect::<Vec<u16>>())
/// };
/// // No edge is shorter than 1e8.
/// assert!(tour.len() == 12 && length >= 1_200_000_000);
/// ```
#[derive(Clone, Copy)]
pub struct Small<D: Distance> {
    n: u32,
    /// Neighbours in a node's list.
    k: u32,
    /// n lists of k neighbours, nearest first.
    lists: Slots<u16>,
    /// The distance to each of them.
    near: Slots<i32>,
    distances: D,
    /// The least distance between nodes of different groups, if no list leads from one group to another; else [`NO_BORDER`].
    border: i64,
    /// Whether there are [fixed](FIXED) edges, at most one at each node.
    has_fixed: bool,
    order: Slots<u16>,
    /// The position of each node in it.
    position: Slots<u16>,
    /// The tour before the kick.
    kept: Slots<u16>,
    /// The shortest tour so far.
    best: Slots<u16>,
    /// A bit for each node that is still to be searched around.
    waiting: Slots<u32>,
    /// The move found: its kind, and its nodes t1 to t6.
    found: Slots<u32>,
}

/// A move that makes the tour shorter.
#[derive(Clone, Copy)]
struct Found {
    gain: i64,
    kind: u32,
    ends: [u32; 6],
}

/// Reads the tour as a path from t2 to t1, forwards or backwards.
#[derive(Clone, Copy)]
struct Path {
    n: u32,
    /// The position of t2.
    origin: u32,
    is_forward: bool,
}

impl Path {
    /// Returns the place of a position.
    #[inline(always)]
    fn place(self, position: u32) -> u32 {
        let p =
            if self.is_forward { position + self.n - self.origin } else { self.origin + self.n - position };
        if p >= self.n { p - self.n } else { p }
    }
}

impl<D: Distance> Small<D> {
    /// Prepares to search for a tour of `n` nodes in [`words`] of memory.
    ///
    /// # Safety
    /// `n` is from [`FEWEST_NODES`] to [`MOST_NODES`]; the memory, at a multiple of 8 bytes, belongs to this team alone; `distances`
    /// are those of n nodes, and symmetric. `has_fixed` says whether there are [fixed](FIXED) edges, at most one at each node.
    #[inline(always)]
    pub unsafe fn new(n: u32, (distances, has_fixed): (D, bool), memory: *mut u32) -> Self {
        let (k, half, bits) = (neighbors(n), n.div_ceil(2), n.div_ceil(32));
        // SAFETY: the caller's promise.
        unsafe {
            let behind_near = memory.add((n * k) as usize);
            let behind_lists = behind_near.add((half * k) as usize);
            let nodes = |i: u32| Slots::new(behind_lists.add((i * half) as usize).cast(), n as usize);
            let waiting = behind_lists.add(4 * half as usize);
            Small {
                n,
                k,
                lists: Slots::new(behind_near.cast(), (n * k) as usize),
                near: Slots::new(memory.cast(), (n * k) as usize),
                distances,
                border: NO_BORDER,
                has_fixed,
                order: nodes(0),
                position: nodes(1),
                kept: nodes(2),
                best: nodes(3),
                waiting: Slots::new(waiting, bits as usize),
                found: Slots::new(waiting.add(bits as usize), MOVE as usize),
            }
        }
    }

    /// Returns the n nodes of the shortest tour in its order, once [`Small::search`] or [`Small::improve`] has returned.
    #[inline(always)]
    pub fn best(self) -> Slots<u16> {
        self.best
    }

    /// Searches as the plan says, from the tour that always goes on to the nearest node; returns the length of the shortest tour,
    /// in which [fixed](FIXED) edges count as 0. Before each kick, `is_over` is given the number of earlier ones and returns
    /// whether to stop, the same for all members. The search always reaches its first local optimum.
    ///
    /// # Safety
    /// All members of the team that the memory belongs to call it together.
    #[inline(always)]
    pub unsafe fn search<T: Team>(self, team: T, plan: Plan, is_over: impl Fn(u32) -> bool) -> i64 {
        // SAFETY: the caller's promise.
        unsafe { self.search_from(team, plan, is_over, |tour| tour.begin(team)) }
    }

    /// As [`Small::search`], but starts from the tour in [`Small::best`].
    ///
    /// # Safety
    /// As [`Small::search`]; [`Small::best`] holds each node once, and its edges include all [fixed](FIXED) ones.
    #[inline(always)]
    pub unsafe fn improve<T: Team>(self, team: T, plan: Plan, is_over: impl Fn(u32) -> bool) -> i64 {
        // SAFETY: the caller's promise.
        unsafe { self.search_from(team, plan, is_over, |tour| tour.take(team)) }
    }

    /// Searches from the tour that `start` makes; it returns its length.
    #[inline(always)]
    unsafe fn search_from<T: Team>(
        mut self,
        team: T,
        plan: Plan,
        is_over: impl Fn(u32) -> bool,
        start: impl FnOnce(Self) -> i64,
    ) -> i64 {
        // SAFETY: all nodes are below n.
        unsafe {
            let n = self.n;
            self.list_neighbors(team);
            self.border = self.find_border(team);
            let mut cost = start(self);
            team.for_each(n.div_ceil(32), |word| self.waiting.set(word, self.all_of(word)));
            team.barrier();
            cost = self.repair(team, cost, i64::MIN);
            self.copy(team, self.order, self.best);
            self.copy(team, self.order, self.kept);
            // Costs may be negative, a temperature may not.
            let mean = cost as f32 / n as f32;
            let temperature = plan.temperature * if mean < 0.0 { -mean } else { mean };
            let (stream, kicks) = (Stream::new(plan.seed, 0, 0), plan.kicks * n);
            let (mut kept, mut best) = (cost, cost);
            let mut number = 0;
            while number < kicks && !is_over(number) {
                let draws = stream.step(number);
                cost = self.kick(team, kept, draws, plan.segment);
                cost = self.repair(team, cost, kept);
                let cooled = temperature * (1.0 - number as f32 / kicks as f32);
                if cost <= kept + tolerance(cooled, draws.bits(THRESHOLD)) {
                    self.copy(team, self.order, self.kept);
                    kept = cost;
                    if cost < best {
                        best = cost;
                        self.copy(team, self.order, self.best);
                    }
                } else {
                    team.for_each(n, |p| {
                        let node = self.kept.get(p);
                        self.order.set(p, node);
                        self.position.set(node as u32, p as u16);
                    });
                    team.barrier();
                }
                number += 1;
            }
            best
        }
    }

    /// Returns the bits of all nodes of a word.
    #[inline(always)]
    fn all_of(self, word: u32) -> u32 {
        let left = self.n - 32 * word;
        if left >= 32 { u32::MAX } else { (1 << left) - 1 }
    }

    /// Writes the lists of neighbours: the nearest ones, but at most [`SAME_PLACE`] at distance 0.
    #[inline(always)]
    unsafe fn list_neighbors<T: Team>(self, team: T) {
        let k = self.k;
        team.for_each(self.n, |node| {
            // SAFETY: a node's list is written by one member.
            unsafe {
                let row = node * k;
                // Where there are too few, another node that is too far for any move.
                let other = if node == 0 { 1 } else { 0 };
                let mut i = 0;
                while i < k {
                    self.lists.set(row + i, other);
                    self.near.set(row + i, i32::MAX);
                    i += 1;
                }
                let (mut to, mut same) = (0, 0);
                while to < self.n {
                    let far = self.distances.between(node, to);
                    let is_one_more = far == 0 && to != node;
                    if to != node && far < self.near.get(row + k - 1) && !(is_one_more && same == SAME_PLACE)
                    {
                        same += is_one_more as u32;
                        let mut at = k - 1;
                        while at > 0 && self.near.get(row + at - 1) > far {
                            self.near.set(row + at, self.near.get(row + at - 1));
                            self.lists.set(row + at, self.lists.get(row + at - 1));
                            at -= 1;
                        }
                        self.near.set(row + at, far);
                        self.lists.set(row + at, to as u16);
                    }
                    to += 1;
                }
            }
        });
        team.barrier();
    }

    /// Divides the nodes into groups that lists connect, and returns the [border](Small::border) of the groups.
    #[inline(always)]
    unsafe fn find_border<T: Team>(self, team: T) -> i64 {
        // SAFETY: all nodes are below n.
        unsafe {
            let n = self.n;
            // There are no positions yet: until they are needed, this is a node of the same group, and the node itself if it has the
            // smallest number of its group.
            let group = self.position;
            team.for_each(n, |node| group.set(node, node as u16));
            team.barrier();
            team.single(|| {
                let smallest = |mut node: u32| {
                    while group.get(node) as u32 != node {
                        // Halves the way for those that come later.
                        group.set(node, group.get(group.get(node) as u32));
                        node = group.get(node) as u32;
                    }
                    node
                };
                let (mut groups, mut i) = (n, 0);
                while groups > 1 && i < n * self.k {
                    let (a, b) = (smallest(i / self.k), smallest(self.lists.get(i) as u32));
                    if a != b {
                        let (low, high) = if a < b { (a, b) } else { (b, a) };
                        group.set(high, low as u16);
                        groups -= 1;
                    }
                    i += 1;
                }
                let mut node = 0;
                while node < n {
                    group.set(node, group.get(group.get(node) as u32));
                    node += 1;
                }
            });
            team.barrier();
            let mut least = u64::MAX;
            team.for_each(n, |node| {
                let own = group.get(node);
                // In each pair one of the groups is not that of node 0.
                let mut to = 0;
                while own != 0 && to < n {
                    if group.get(to) != own {
                        // Distances may be negative.
                        least = least.min((self.distances.between(node, to) as u32 ^ 1 << 31) as u64);
                    }
                    to += 1;
                }
            });
            let least = team.min(least);
            team.barrier();
            if least == u64::MAX { NO_BORDER } else { (least as u32 ^ 1 << 31) as i32 as i64 }
        }
    }

    /// Makes a tour that always goes on to the nearest node, starting at node 0; returns its length.
    #[inline(always)]
    unsafe fn begin<T: Team>(self, team: T) -> i64 {
        // SAFETY: all nodes are below n.
        unsafe {
            let n = self.n;
            // The nodes that are not in the tour yet.
            team.for_each(n.div_ceil(32), |word| self.waiting.set(word, self.all_of(word)));
            team.barrier();
            let (mut p, mut node, mut cost) = (0, 0, 0i64);
            loop {
                team.single(|| {
                    self.order.set(p, node as u16);
                    self.position.set(node, p as u16);
                    self.waiting.clear(node / 32, 1 << (node % 32));
                });
                team.barrier();
                p += 1;
                if p == n {
                    let far = self.distances.between(node, 0);
                    return cost + if far == FIXED { 0 } else { far as i64 };
                }
                let mut nearest = u64::MAX;
                team.for_each(n, |to| {
                    if self.waiting.get(to / 32) >> (to % 32) & 1 == 1 {
                        // Distances may be negative.
                        let far = (self.distances.between(node, to) as u32 ^ 1 << 31) as u64;
                        nearest = nearest.min(far << 32 | to as u64);
                    }
                });
                let nearest = team.min(nearest);
                team.barrier();
                node = nearest as u32;
                let far = ((nearest >> 32) as u32 ^ 1 << 31) as i32;
                // Fixed edges count as 0, which is the same for all tours.
                cost += if far == FIXED { 0 } else { far as i64 };
            }
        }
    }

    /// Takes the tour in `best`; returns its length.
    #[inline(always)]
    unsafe fn take<T: Team>(self, team: T) -> i64 {
        // SAFETY: positions are below n, and so are the nodes of a tour.
        unsafe {
            team.for_each(self.n, |p| {
                let node = self.best.get(p);
                self.order.set(p, node);
                self.position.set(node as u32, p as u16);
            });
            team.barrier();
            let (mut p, mut cost) = (0, 0);
            while p < self.n {
                let far = self.far(self.at(p), self.at(self.after(p)));
                cost += if far == FIXED as i64 { 0 } else { far };
                p += 1;
            }
            cost
        }
    }

    #[inline(always)]
    unsafe fn copy<T: Team>(self, team: T, from: Slots<u16>, to: Slots<u16>) {
        // SAFETY: both have n elements.
        unsafe { team.for_each(self.n, |p| to.set(p, from.get(p))) };
        team.barrier();
    }

    #[inline(always)]
    unsafe fn far(self, a: u32, b: u32) -> i64 {
        // SAFETY: the caller's promise.
        unsafe { self.distances.between(a, b) as i64 }
    }

    #[inline(always)]
    unsafe fn at(self, position: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { self.order.get(position) as u32 }
    }

    #[inline(always)]
    unsafe fn position(self, node: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { self.position.get(node) as u32 }
    }

    #[inline(always)]
    fn after(self, p: u32) -> u32 {
        if p + 1 == self.n { 0 } else { p + 1 }
    }

    #[inline(always)]
    fn before(self, p: u32) -> u32 {
        if p == 0 { self.n - 1 } else { p - 1 }
    }

    /// Swaps the first and the last of three consecutive segments; returns the tour's length.
    #[inline(always)]
    unsafe fn kick<T: Team>(self, team: T, cost: i64, draws: Draws, segment: u32) -> i64 {
        // SAFETY: positions are below n.
        unsafe {
            let n = self.n;
            let around = |p: u32| if p >= n { p - n } else { p };
            let most = (n - 2) / 3;
            // A cut that would remove a fixed edge is made one position later.
            let least = 1 + self.has_fixed as u32;
            let longest = if segment < least {
                least
            } else if segment < most {
                segment
            } else {
                most
            };
            let length = |i: u32| least + draws.below(LENGTHS + i, longest - least + 1);
            let free = |p: u32| {
                let is_fixed = self.has_fixed && self.far(self.at(p), self.at(self.after(p))) == FIXED as i64;
                if is_fixed { self.after(p) } else { p }
            };
            let a = draws.below(PLACE, n);
            let b = around(a + length(0));
            let c = around(b + length(1));
            let d = around(c + length(2));
            let (a, b, c, d) = (free(a), free(b), free(c), free(d));
            let between = |p: u32, q: u32| around(q + n - p);
            let (one, two, three) = (between(a, b), between(b, c), between(c, d));
            let ends = |p: u32| (self.at(p), self.at(self.after(p)));
            let ((a0, a1), (b0, b1), (c0, c1), (d0, d1)) = (ends(a), ends(b), ends(c), ends(d));
            let removed = self.far(a0, a1) + self.far(b0, b1) + self.far(c0, c1) + self.far(d0, d1);
            let added = self.far(a0, c1) + self.far(d0, b1) + self.far(c0, a1) + self.far(b0, d1);
            team.barrier();
            team.single(|| {
                let wait = |node: u32| {
                    let word = node / 32;
                    self.waiting.set(word, self.waiting.get(word) | 1 << (node % 32));
                };
                wait(a0);
                wait(a1);
                wait(b0);
                wait(b1);
                wait(c0);
                wait(c1);
                wait(d0);
                wait(d1);
            });
            // The tour before it is in `kept`.
            let first = self.after(a);
            team.for_each(one + two + three, |i| {
                let from = if i < three {
                    one + two + i
                } else if i < three + two {
                    one + i - three
                } else {
                    i - three - two
                };
                let node = self.kept.get(around(first + from));
                let p = around(first + i);
                self.order.set(p, node);
                self.position.set(node as u32, p as u16);
            });
            team.barrier();
            cost + added - removed
        }
    }

    /// Makes moves around the waiting nodes until none waits, or the tour is as long as before its kick: then it is that tour, or
    /// rarely another one. Returns its length.
    #[inline(always)]
    unsafe fn repair<T: Team>(self, team: T, mut cost: i64, before: i64) -> i64 {
        // SAFETY: nodes are below n.
        unsafe {
            let words = self.n.div_ceil(32);
            loop {
                let mut first = u32::MAX;
                team.for_each(words, |word| {
                    let bits = self.waiting.get(word);
                    if bits != 0 && first == u32::MAX {
                        first = 32 * word + bits.trailing_zeros();
                    }
                });
                let node = team.min(first as u64) as u32;
                if node == u32::MAX {
                    return cost;
                }
                let mut found = self.find(team, node);
                if found.is_none() && self.border != NO_BORDER {
                    found = self.find_anywhere(team, node);
                }
                if let Some(Found { gain, kind, ends }) = found {
                    self.make(team, kind, ends);
                    cost -= gain;
                    if cost == before {
                        team.for_each(words, |word| self.waiting.set(word, 0));
                        team.barrier();
                        return cost;
                    }
                } else {
                    team.single(|| self.waiting.clear(node / 32, 1 << (node % 32)));
                    team.barrier();
                }
            }
        }
    }

    /// Returns the first move along lists that removes an edge of a node.
    #[inline(always)]
    unsafe fn find<T: Team>(self, team: T, t1: u32) -> Option<Found> {
        // SAFETY: nodes are below n.
        unsafe {
            let p1 = self.position(t1);
            let (next, last) = (self.after(p1), self.before(p1));
            let breadth = if self.k < BREADTH { self.k } else { BREADTH };
            let path = |is_forward: bool| Path {
                n: self.n,
                origin: if is_forward { next } else { last },
                is_forward,
            };
            if T::ALONE {
                let found = self.first(t1, path(true), breadth);
                return found.or_else(|| self.first(t1, path(false), breadth));
            }
            let mut mine: Option<(u32, Found)> = None;
            team.for_each(4 * breadth, |item| {
                if mine.is_some() {
                    return;
                }
                let is_forward = item < 2 * breadth;
                let i = if is_forward { item } else { item - 2 * breadth };
                let path = path(is_forward);
                let t2 = self.at(path.origin);
                mine = self.look([t1, t2], path, (i / 2, i % 2 == 1)).map(|found| (item, found));
            });
            let item = mine.as_ref().map_or(u32::MAX, |(item, _)| *item);
            let first = team.min(item as u64) as u32;
            if first == u32::MAX {
                return None;
            }
            if let Some((item, found)) = mine
                && item == first
            {
                let [t1, t2, t3, t4, t5, t6] = found.ends;
                self.found.set(0, t1 | t2 << 16);
                self.found.set(1, t3 | t4 << 16);
                self.found.set(2, t5 | t6 << 16);
                self.found.set(3, found.kind);
                self.found.set(4, found.gain as u32);
                self.found.set(5, (found.gain >> 32) as u32);
            }
            team.barrier();
            let two = |i: u32| {
                let word = self.found.get(i);
                (word & 0xffff, word >> 16)
            };
            let ((t1, t2), (t3, t4), (t5, t6)) = (two(0), two(1), two(2));
            let gain = (self.found.get(5) as i64) << 32 | self.found.get(4) as i64;
            Some(Found { gain, kind: self.found.get(3), ends: [t1, t2, t3, t4, t5, t6] })
        }
    }

    /// Returns the first move that removes an edge of a node that joins two groups, and any other edge of the tour.
    #[inline(always)]
    unsafe fn find_anywhere<T: Team>(self, team: T, t1: u32) -> Option<Found> {
        // SAFETY: nodes and positions are below n.
        unsafe {
            let p1 = self.position(t1);
            let mut side = 0;
            while side < 2 {
                // As along a path, t3 comes after t4.
                let next = |p: u32| self.at(if side == 0 { self.after(p) } else { self.before(p) });
                let t2 = next(p1);
                let removed = self.far(t1, t2);
                let gain = |p: u32| {
                    let (t4, t3) = (self.at(p), next(p));
                    removed + self.far(t3, t4) - self.far(t2, t3) - self.far(t1, t4)
                };
                if removed >= self.border {
                    let mut first = u64::MAX;
                    team.for_each(self.n, |p| {
                        if first == u64::MAX && p != p1 && gain(p) > 0 {
                            first = p as u64;
                        }
                    });
                    let first = team.min(first);
                    if first != u64::MAX {
                        let p = first as u32;
                        let (t4, t3) = (self.at(p), next(p));
                        return Some(Found { gain: gain(p), kind: TWO, ends: [t1, t2, t3, t4, t3, t4] });
                    }
                }
                side += 1;
            }
            None
        }
    }

    /// Searches for a move that adds an edge from t2 to a neighbour t3, and then removes the edge before t3 or, if `swaps`, after it.
    #[inline(always)]
    unsafe fn look(self, [t1, t2]: [u32; 2], path: Path, (i, swaps): (u32, bool)) -> Option<Found> {
        // SAFETY: nodes are below n.
        unsafe {
            let t3 = self.lists.get(t2 * self.k + i) as u32;
            let sum = self.far(t1, t2) - self.near.get(t2 * self.k + i) as i64;
            if sum <= 0 || t3 == t1 { None } else { self.remove([t1, t2, t3], sum, path, swaps) }
        }
    }

    /// As a single member: the first move along a path.
    #[inline(always)]
    unsafe fn first(self, t1: u32, path: Path, breadth: u32) -> Option<Found> {
        // SAFETY: nodes are below n.
        unsafe {
            let t2 = self.at(path.origin);
            let removed = self.far(t1, t2);
            let mut i = 0;
            while i < breadth {
                let t3 = self.lists.get(t2 * self.k + i) as u32;
                let sum = removed - self.near.get(t2 * self.k + i) as i64;
                if sum <= 0 {
                    return None;
                }
                if t3 != t1 {
                    let found = self.remove([t1, t2, t3], sum, path, false);
                    let found = found.or_else(|| self.remove([t1, t2, t3], sum, path, true));
                    if found.is_some() {
                        return found;
                    }
                }
                i += 1;
            }
            None
        }
    }

    /// Searches for a move, given the sum so far.
    #[inline(always)]
    unsafe fn remove(self, [t1, t2, t3]: [u32; 3], sum: i64, path: Path, swaps: bool) -> Option<Found> {
        // SAFETY: nodes are below n.
        unsafe {
            // The nodes after and before a position, along the path.
            let beside = |p: u32| {
                let (next, last) = (self.at(self.after(p)), self.at(self.before(p)));
                if path.is_forward { (next, last) } else { (last, next) }
            };
            let p3 = self.position(t3);
            let c = path.place(p3);
            if c == 1 {
                return None;
            }
            let (behind, ahead) = beside(p3);
            let t4 = if swaps { behind } else { ahead };
            let sum = sum + self.far(t3, t4);
            if !swaps {
                let gain = sum - self.far(t1, t4);
                if gain > 0 {
                    return Some(Found { gain, kind: TWO, ends: [t1, t2, t3, t4, t3, t4] });
                }
            }
            let breadth = if self.k < NEXT_BREADTH { self.k } else { NEXT_BREADTH };
            let mut j = 0;
            while j < breadth {
                let t5 = self.lists.get(t4 * self.k + j) as u32;
                let sum = sum - self.near.get(t4 * self.k + j) as i64;
                if sum <= 0 {
                    break;
                }
                j += 1;
                let p5 = self.position(t5);
                let e = path.place(p5);
                let (behind, ahead) = beside(p5);
                // With few branches: where nodes are is unpredictable.
                let is_other = (t5 != t3) & (t5 != t1);
                if swaps {
                    let one = sum + self.far(t5, behind) - self.far(t1, behind);
                    let two = sum + self.far(t5, ahead) - self.far(t1, ahead);
                    let (is_one, is_two) =
                        ((one > 0) & is_other & (e < c), (two > 0) & is_other & (e < c) & (e != 0));
                    if is_one | is_two {
                        let (gain, kind, t6) =
                            if is_one { (one, SWAPPED, behind) } else { (two, BOTH_TURNED, ahead) };
                        return Some(Found { gain, kind, ends: [t1, t2, t3, t4, t5, t6] });
                    }
                } else {
                    // The path from t2 to t4 is reversed by then.
                    let t6 = if e < c { behind } else { ahead };
                    let gain = sum + self.far(t5, t6) - self.far(t1, t6);
                    if (gain > 0) & is_other & (t6 != t4) {
                        return Some(Found { gain, kind: TURNED, ends: [t1, t2, t3, t4, t5, t6] });
                    }
                }
            }
            None
        }
    }

    #[inline(always)]
    unsafe fn make<T: Team>(self, team: T, kind: u32, [t1, t2, t3, t4, t5, t6]: [u32; 6]) {
        // SAFETY: nodes are below n.
        unsafe {
            team.barrier();
            team.single(|| {
                let wait = |node: u32| {
                    let word = node / 32;
                    self.waiting.set(word, self.waiting.get(word) | 1 << (node % 32));
                };
                wait(t1);
                wait(t2);
                wait(t3);
                wait(t4);
                wait(t5);
                wait(t6);
            });
            // As a list of up to three flips: the code for one is there once.
            let (mut a, mut b, mut c) = (t1, t2, if kind == BOTH_TURNED { t6 } else { t4 });
            let (mut d, mut e, mut f) = (t1, t4, t6);
            let (mut g, mut h, mut i) = (t1, t1, t1);
            let count = match kind {
                TWO => 1,
                TURNED => 2,
                BOTH_TURNED => {
                    (d, e, f) = (t2, t5, t3);
                    2
                }
                _ => {
                    let [p, q, r, s, t] = self.swap([t1, t2, t5, t6, t3, t4]);
                    (a, b, c) = (p, q, t);
                    (d, e, f) = (p, t, s);
                    (g, h, i) = (t, r, q);
                    3
                }
            };
            let mut done = 0;
            while done < count {
                self.flip(team, a, b, c);
                (a, b, c) = (d, e, f);
                (d, e, f) = (g, h, i);
                done += 1;
            }
        }
    }

    /// Returns how to swap the path from b to c and that from d to e, which lie between a and f: this is the same as swapping one of
    /// them and the rest of the tour, so the longest of the three stays where it is.
    #[inline(always)]
    unsafe fn swap(self, [a, b, c, d, e, f]: [u32; 6]) -> [u32; 5] {
        // SAFETY: nodes are below n.
        unsafe {
            let n = self.n;
            let is_onwards = self.after(self.position(a)) == self.position(b);
            let length = |first: u32, last: u32| {
                let (first, last) = (self.position(first), self.position(last));
                let steps = if is_onwards { last + n - first } else { first + n - last };
                1 + if steps >= n { steps - n } else { steps }
            };
            let (one, other) = (length(b, c), length(d, e));
            let rest = n - one - other;
            if rest >= one && rest >= other {
                [a, b, c, d, e]
            } else if one >= other {
                [c, d, e, f, a]
            } else {
                [e, f, a, b, c]
            }
        }
    }

    /// Reverses the path from b to c, where b is next to a, and c farther away from it.
    #[inline(always)]
    unsafe fn flip<T: Team>(self, team: T, a: u32, b: u32, c: u32) {
        // SAFETY: nodes are below n.
        unsafe {
            let n = self.n;
            let (pa, pb, pc) = (self.position(a), self.position(b), self.position(c));
            team.barrier();
            let (first, last) = if self.after(pa) == pb { (pb, pc) } else { (pc, pb) };
            let length = 1 + if first <= last { last - first } else { last + n - first };
            // Those outside, if these are fewer.
            let (i, j, length) = if 2 * length > n {
                (self.after(last), self.before(first), n - length)
            } else {
                (first, last, length)
            };
            team.for_each(length / 2, |step| {
                let p = i + step;
                let p = if p >= n { p - n } else { p };
                let q = j + n - step;
                let q = if q >= n { q - n } else { q };
                let (x, y) = (self.order.get(p), self.order.get(q));
                self.order.set(p, y);
                self.order.set(q, x);
                self.position.set(y as u32, p as u16);
                self.position.set(x as u32, q as u16);
            });
            team.barrier();
        }
    }
}
