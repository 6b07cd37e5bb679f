//! Instances, tours and brute force that the tests of local search share.

use crate::common::memory::{Array, Number};
use crate::common::teams::{Member, ORDERS, Order, PartMember, run, run_in_parts};
use antwarp_core::distance::{Distances, Exceptions};
use antwarp_core::geometry::{Grid, Numbered, Places};
use antwarp_core::node::NodeId;
use antwarp_core::papers::local_search::descend::{DescentRound, proposal_words};
use antwarp_core::papers::local_search::moves::{Kind, scratch_words};
use antwarp_core::papers::local_search::{ArrayTour, Dirty, EdgeMove, View};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Slots, Team};

/// Random numbers one after another.
#[derive(Clone, Copy)]
pub struct Dice {
    stream: Stream,
    step: u32,
}

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice { stream: Stream::new(seed, 0, 0), step: 0 }
    }

    pub fn below(&mut self, n: u32) -> u32 {
        self.step += 1;
        self.stream.step(self.step).below(0, n)
    }

    pub fn shuffled(&mut self, n: u32) -> Vec<u32> {
        let mut nodes: Vec<u32> = (0..n).collect();
        for i in (1..n).rev() {
            nodes.swap(i as usize, self.below(i + 1) as usize);
        }
        nodes
    }
}

/// Nodes with their distances and neighbour lists.
pub struct World {
    pub n: u32,
    pub k: u32,
    pub matrix: Vec<i32>,
    pub lists: Vec<u32>,
    pub numbers: Vec<u32>,
    /// Places on a [`Grid`], if the nodes have some.
    pub places: Vec<u64>,
}

impl World {
    fn new(n: u32, k: u32, places: Vec<u64>, distance: impl Fn(u32, u32) -> i32) -> Self {
        let k = k.min(n - 1);
        let mut lists = Vec::new();
        for i in 0..n {
            let mut others: Vec<u32> = (0..n).filter(|&j| j != i).collect();
            others.sort_by_cached_key(|&j| (distance(i, j), j));
            lists.extend(&others[..k as usize]);
        }
        let matrix = (0..n * n).map(|e| distance(e / n, e % n)).collect();
        World { n, k, matrix, lists, numbers: (0..n).collect(), places }
    }

    /// Points with coordinates below `extent`: of a small one, many are at one place or equally far apart.
    pub fn plane(n: u32, k: u32, extent: u32, dice: &mut Dice) -> Self {
        World::of_points((0..n).map(|_| [dice.below(extent), dice.below(extent)]).collect(), k)
    }

    /// These points of the plane.
    pub fn of_points(points: Vec<[u32; 2]>, k: u32) -> Self {
        let places = points.iter().map(|p| Grid::place(p[0], p[1])).collect();
        World::new(points.len() as u32, k, places, |i, j| {
            let (a, b) = (points[i as usize], points[j as usize]);
            (a[0] as f64 - b[0] as f64).hypot(a[1] as f64 - b[1] as f64).round() as i32
        })
    }

    /// Distances up to `most` that obey no triangle inequality.
    pub fn lawless(n: u32, k: u32, most: u32, dice: &mut Dice) -> Self {
        let drawn: Vec<i32> = (0..n * n).map(|_| dice.below(most + 1) as i32).collect();
        World::new(
            n,
            k,
            Vec::new(),
            |i, j| if i == j { 0 } else { drawn[(i.min(j) * n + i.max(j)) as usize] },
        )
    }

    /// Distances up to `most`, others in each direction.
    pub fn directed(n: u32, k: u32, most: u32, dice: &mut Dice) -> Self {
        let drawn: Vec<i32> = (0..n * n).map(|_| dice.below(most + 1) as i32).collect();
        World::new(n, k, Vec::new(), |i, j| if i == j { 0 } else { drawn[(i * n + j) as usize] })
    }

    /// One or the other, by turns.
    pub fn any(n: u32, k: u32, dice: &mut Dice) -> Self {
        match dice.below(3) {
            0 => World::plane(n, k, 8, dice),
            1 => World::plane(n, k, 1000, dice),
            _ => World::lawless(n, k, 60, dice),
        }
    }

    pub fn distances(&self) -> Distances {
        Distances {
            matrix: self.matrix.as_ptr(),
            points: std::ptr::null(),
            metric: None,
            n: self.n,
            exceptions: Exceptions::NONE,
        }
    }

    pub fn numbered(&self) -> Places<Numbered> {
        Places { geometry: Numbered { distances: self.distances() }, start: self.numbers.as_ptr() }
    }

    pub fn gap(&self, i: u32, j: u32) -> i64 {
        self.matrix[(i * self.n + j) as usize] as i64
    }

    pub fn cost(&self, tour: &[u32]) -> i64 {
        edges(tour).into_iter().map(|(a, b)| self.gap(a, b)).sum()
    }
}

/// An edge, its smaller node first.
pub type Edge = (u32, u32);

pub fn edge(a: u32, b: u32) -> Edge {
    (a.min(b), a.max(b))
}

/// A tour's edges in order.
pub fn edges(tour: &[u32]) -> Vec<Edge> {
    let mut all: Vec<_> = (0..tour.len()).map(|i| edge(tour[i], tour[(i + 1) % tour.len()])).collect();
    all.sort_unstable();
    all
}

/// `all` without `removed`, with `added`; `None` if one of those removed is missing.
pub fn replaced(all: &[Edge], removed: &[Edge], added: &[Edge]) -> Option<Vec<Edge>> {
    let mut all = all.to_vec();
    for gone in removed {
        all.remove(all.iter().position(|e| e == gone)?);
    }
    all.extend(added);
    all.sort_unstable();
    Some(all)
}

/// The tour of 0 .. n that the edges form, if they form one.
pub fn tour_of(all: &[Edge], n: u32) -> Option<Vec<u32>> {
    let mut at = vec![Vec::new(); n as usize];
    for (i, &(a, b)) in all.iter().enumerate() {
        at[a as usize].push((i, b));
        at[b as usize].push((i, a));
    }
    if all.len() != n as usize || at.iter().any(|edges| edges.len() != 2) {
        return None;
    }
    let (mut tour, mut node, mut from) = (Vec::new(), 0, usize::MAX);
    loop {
        tour.push(node);
        let (edge, next) = *at[node as usize].iter().find(|(edge, _)| *edge != from)?;
        (node, from) = (next, edge);
        if node == 0 || tour.len() > n as usize {
            break;
        }
    }
    (tour.len() == n as usize).then_some(tour)
}

/// The edges that a move removes, and those that it adds.
pub fn changes(m: &EdgeMove) -> (Vec<Edge>, Vec<Edge>) {
    let [t1, t2, t3, t4, t5, t6] = m.t;
    if m.kind == Kind::Pair {
        (vec![edge(t1, t2), edge(t3, t4)], vec![edge(t2, t3), edge(t4, t1)])
    } else {
        (vec![edge(t1, t2), edge(t3, t4), edge(t5, t6)], vec![edge(t2, t3), edge(t4, t5), edge(t6, t1)])
    }
}

/// A random move that can be made in a tour of at least 5 nodes and replaces each of its edges by another.
pub fn any_move(tour: &[u32], dice: &mut Dice) -> EdgeMove {
    let n = tour.len() as u32;
    loop {
        let (start, forward) = (dice.below(n), dice.below(2) == 0);
        // The tour from t2 in the direction of the move is A = 0 ..= a, B = a + 1 ..= b and C.
        let s = |i: u32| tour[((start + if forward { i } else { n - i }) % n) as usize];
        let (a, b) = (dice.below(n - 2), dice.below(n - 1));
        if b <= a {
            continue;
        }
        let (t2, t1) = (s(0), s(n - 1));
        let m = match dice.below(5) {
            0 => EdgeMove { kind: Kind::Pair, t: [t1, t2, s(b + 1), s(b), s(b), t1] },
            1 => EdgeMove { kind: Kind::Shifted, t: [t1, t2, s(b), s(b + 1), s(a), s(a + 1)] },
            2 => EdgeMove { kind: Kind::BothTurned, t: [t1, t2, s(b), s(b + 1), s(a + 1), s(a)] },
            3 => EdgeMove { kind: Kind::Turned, t: [t1, t2, s(b + 1), s(b), s(a), s(a + 1)] },
            _ => EdgeMove { kind: Kind::Turned, t: [t1, t2, s(a + 1), s(a), s(b + 1), s(b)] },
        };
        let (removed, added) = changes(&m);
        if !added.iter().any(|e| removed.contains(e)) {
            return m;
        }
    }
}

/// A tour and what a search needs with it, in guarded memory.
pub struct Bench<I: Number> {
    pub n: u32,
    pub k: u32,
    pub order: Array<I>,
    pub position: Array<I>,
    pub dirty: Array<u32>,
    lists: Array<I>,
    scratch: Array<u64>,
    proposals: Array<u32>,
}

/// Members of the largest team of [`crews`].
const MOST_MEMBERS: u32 = 7;

impl<I: NodeId + Number> Bench<I> {
    pub fn new(tour: &[u32], lists: &[u32], k: u32) -> Self {
        let n = tour.len();
        let ids = |nodes: &[u32]| Array::of(&nodes.iter().map(|&v| I::new(v)).collect::<Vec<I>>());
        let mut bench = Bench {
            n: n as u32,
            k,
            order: ids(tour),
            position: Array::rubbish(n),
            dirty: Array::rubbish(n.div_ceil(32)),
            lists: ids(lists),
            scratch: Array::rubbish(scratch_words(MOST_MEMBERS) as usize),
            proposals: Array::rubbish(0),
        };
        // SAFETY: a permutation; as many words as the nodes need.
        unsafe {
            bench.tour().place_all(Serial);
            bench.dirty().fill(Serial, false);
        }
        bench
    }

    pub fn of(world: &World, tour: &[u32]) -> Self {
        Bench::new(tour, &world.lists, world.k)
    }

    pub fn tour(&mut self) -> ArrayTour<I> {
        // SAFETY: both have n elements, and callers keep the bench.
        unsafe { ArrayTour::new(self.n, self.order.slots(), self.position.slots()) }
    }

    pub fn dirty(&mut self) -> Dirty {
        // SAFETY: one bit a node.
        unsafe { Dirty::new(self.dirty.slots(), self.n) }
    }

    /// A view with the scratch memory of all parts of a team: [`own`] makes it that of one.
    pub fn view<D>(&mut self, distance: D, breadth: u32) -> View<I, D> {
        View {
            tour: self.tour(),
            lists: self.lists.start(),
            k: self.k,
            breadth: breadth.min(self.k),
            distance,
            scratch: self.scratch.slots(),
        }
    }

    /// A round of a descent, with memory of its own.
    pub fn round(&mut self, width: u32, spread: bool) -> DescentRound {
        self.proposals = Array::rubbish(proposal_words(width) as usize);
        DescentRound { width, spread, proposals: self.proposals.slots() }
    }

    /// Puts another tour in place.
    pub fn reset(&mut self, tour: &[u32]) {
        let order = self.order.slots();
        for (i, &node) in tour.iter().enumerate() {
            // SAFETY: as many nodes as before.
            unsafe { order.set(i as u32, I::new(node)) }
        }
        // SAFETY: a permutation.
        unsafe { self.tour().place_all(Serial) }
    }

    /// The tour, which must be one, with positions that belong to it.
    pub fn nodes(&self) -> Vec<u32> {
        let nodes: Vec<u32> = self.order.iter().map(|v| v.get()).collect();
        assert!(is_permutation(&nodes), "{nodes:?}");
        for (i, &node) in nodes.iter().enumerate() {
            assert_eq!(self.position[node as usize].get(), i as u32, "the position of {node}");
        }
        nodes
    }

    pub fn is_dirty(&self, node: u32) -> bool {
        self.dirty[node as usize / 32] >> (node % 32) & 1 != 0
    }
}

pub fn is_permutation(tour: &[u32]) -> bool {
    let mut sorted = tour.to_vec();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..tour.len() as u32)
}

/// A view as the part of the team that this member is in uses it. A team of one has no scratch memory.
pub fn own<T: Team, I, D>(team: T, view: View<I, D>) -> View<I, D> {
    let part = team.part();
    let words = scratch_words(part.size()) as usize;
    let scratch = if T::ALONE {
        Slots::none()
    } else {
        // SAFETY: a stretch for every part.
        unsafe { view.scratch.part(words * team.part_rank() as usize, words) }
    };
    View { scratch, ..view }
}

/// Whether a change moves a segment of at most three nodes, either way around, and leaves the rest as it is.
pub fn moves_segment(tour: &[u32], new: &[u32]) -> bool {
    let n = tour.len();
    (0..n).any(|first| {
        (1..=3).any(|length| {
            let segment: Vec<u32> = (0..length).map(|i| tour[(first + i) % n]).collect();
            let inner = |t: &[u32]| {
                let all = edges(t);
                segment.windows(2).all(|pair| all.contains(&edge(pair[0], pair[1])))
            };
            let rest =
                |t: &[u32]| -> Vec<u32> { t.iter().filter(|v| !segment.contains(v)).copied().collect() };
            inner(new) && edges(&rest(tour)) == edges(&rest(new))
        })
    })
}

/// Work of a team, with results that are the same for every member.
pub trait Job: Sync {
    type Result: Send + PartialEq + std::fmt::Debug;
    fn work<T: Team>(&self, team: T) -> Self::Result;
}

/// Which threads do it.
#[derive(Clone, Copy, Debug)]
pub enum Crew {
    One,
    Many(u32, Order),
    Parts(u32, u32),
}

impl Crew {
    pub fn run<J: Job>(self, job: J) -> J::Result {
        let mut results = match self {
            Crew::One => vec![job.work(Serial)],
            Crew::Many(size, order) => run(size, order, |team: Member| job.work(team)),
            Crew::Parts(parts, size) => run_in_parts(parts, size, |team: PartMember| job.work(team)),
        };
        let first = results.swap_remove(0);
        assert!(results.iter().all(|result| result == &first), "{self:?}: {first:?}, {results:?}");
        first
    }
}

/// Teams of several threads: all orders, some sizes, some of them in parts.
pub fn crews() -> Vec<Crew> {
    let mut all = vec![Crew::Parts(2, 2), Crew::Parts(3, 1), Crew::Parts(2, 3)];
    for size in [2, 3, 7] {
        all.extend(ORDERS.map(|order| Crew::Many(size, order)));
    }
    all
}

/// The best gain of a 2-opt move.
pub fn best_two_opt(world: &World, tour: &[u32]) -> i64 {
    let (n, d) = (tour.len(), |a, b| world.gap(a, b));
    let mut best = 0;
    for i in 0..n {
        for j in i + 2..n {
            let (a, b, c, e) = (tour[i], tour[i + 1], tour[j], tour[(j + 1) % n]);
            if e != a {
                best = best.max(d(a, b) + d(c, e) - d(a, c) - d(b, e));
            }
        }
    }
    best
}

/// The best gain of a segment of up to three nodes that goes elsewhere, either way around. Without moves of two edges
/// alone, such as that of a node past its neighbour.
pub fn best_or_opt(world: &World, tour: &[u32]) -> i64 {
    let n = tour.len();
    let (d, s) = (|a, b| world.gap(a, b), |i: usize| tour[i % n]);
    let mut best = 0;
    for first in 0..n {
        for length in 1..=3.min(n - 3) {
            let (p, s1, s2, q) = (s(first + n - 1), s(first), s(first + length - 1), s(first + length));
            for at in first + length..first + n - 1 {
                let (u, v) = (s(at), s(at + 1));
                for (head, tail) in [(s1, s2), (s2, s1)] {
                    let removed = [edge(p, s1), edge(s2, q), edge(u, v)];
                    if ![edge(p, q), edge(u, head), edge(tail, v)].iter().any(|e| removed.contains(e)) {
                        let old = d(p, s1) + d(s2, q) + d(u, v);
                        best = best.max(old - d(p, q) - d(u, head) - d(tail, v));
                    }
                }
            }
        }
    }
    best
}

/// The best gain of a pure 3-opt move: three pieces A B C as B A C, B^r A C, B A^r C or A^r B^r C.
pub fn best_three_opt(world: &World, tour: &[u32]) -> i64 {
    let n = tour.len();
    let d = |a, b| world.gap(a, b);
    let mut best = 0;
    for i in 0..n {
        for j in i + 1..n {
            for k in j + 1..n {
                let (c2, a1, a2, b1) = (tour[i], tour[i + 1], tour[j], tour[j + 1]);
                let (b2, c1) = (tour[k], tour[(k + 1) % n]);
                let old = d(c2, a1) + d(a2, b1) + d(b2, c1);
                let new = [
                    d(c2, b1) + d(b2, a1) + d(a2, c1),
                    d(c2, b2) + d(b1, a1) + d(a2, c1),
                    d(c2, b1) + d(b2, a2) + d(a1, c1),
                    d(c2, a2) + d(a1, b2) + d(b1, c1),
                ];
                best = best.max(old - new.into_iter().min().unwrap());
            }
        }
    }
    best
}
