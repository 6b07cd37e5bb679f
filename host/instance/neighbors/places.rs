//! A tree of the places of nodes, and neighbour lists computed from it.

use antwarp_core::metric::{Metric, distance};
use rayon::slice::ParallelSliceMut;

use super::{Nearness, NeighborLists, Neighborhood};
use crate::kd_tree::{Cell, KdTree, Search, square};
use crate::parallel::{self, Rows};
use crate::{Watch, globe};

/// Measures how near nodes are to each other, in a space of `D` dimensions in which they have places.
pub(super) trait Ruler<const D: usize>: Sync {
    /// Returns the place of a point.
    fn place(&self, point: [f64; 3]) -> [f64; D];

    /// Returns the minimum distance from a place to those in a box, along each axis.
    #[inline]
    fn beyond(&self, cell: &Cell<D>, place: [f64; D]) -> [f64; D] {
        cell.beyond(place)
    }

    /// Returns how near two points are whose places differ by `apart`, as if the second were node 0.
    fn between(&self, from: [f64; 3], to: [f64; 3], apart: [f64; D]) -> Nearness;

    /// Returns a lower bound on the nearness of points whose places are at least this far apart along each axis.
    fn least(&self, beyond: [f64; D]) -> Nearness;
}

/// Returns the first `D` coordinates of a point.
fn first<const D: usize>(point: [f64; 3]) -> [f64; D] {
    std::array::from_fn(|axis| point[axis])
}

/// For metrics that grow with the straight line: uses the line alone.
pub(super) struct Lines;

impl<const D: usize> Ruler<D> for Lines {
    fn place(&self, point: [f64; 3]) -> [f64; D] {
        first(point)
    }

    #[inline]
    fn between(&self, _: [f64; 3], _: [f64; 3], apart: [f64; D]) -> Nearness {
        Nearness::new(0, square(apart))
    }

    #[inline]
    fn least(&self, beyond: [f64; D]) -> Nearness {
        Nearness::new(0, square(beyond))
    }
}

/// For metrics that grow with the difference along each axis, wrapped around if it is an angle: uses the distance, then the line.
pub(super) struct Lengths(pub(super) Metric);

impl Lengths {
    fn of<const D: usize>(&self, apart: [f64; D]) -> Nearness {
        let point = std::array::from_fn(|axis| if axis < D { apart[axis] } else { 0.0 });
        Nearness::new(distance(self.0, [0.0; 3], point), square(apart))
    }
}

impl<const D: usize> Ruler<D> for Lengths {
    fn place(&self, point: [f64; 3]) -> [f64; D] {
        first(point)
    }

    #[inline]
    fn beyond(&self, cell: &Cell<D>, place: [f64; D]) -> [f64; D] {
        match self.0 {
            Metric::Xray1 | Metric::Xray2 => motors::beyond(cell, place),
            _ => cell.beyond(place),
        }
    }

    #[inline]
    fn between(&self, _: [f64; 3], _: [f64; 3], apart: [f64; D]) -> Nearness {
        self.of(apart)
    }

    #[inline]
    fn least(&self, beyond: [f64; D]) -> Nearness {
        self.of(beyond)
    }
}

/// For the globe, a unit sphere whose straight lines are chords: uses the distance. A line between degrees is meaningless.
pub(super) struct Globe(pub(super) Metric);

impl Ruler<3> for Globe {
    fn place(&self, point: [f64; 3]) -> [f64; 3] {
        globe::place(self.0, point)
    }

    #[inline]
    fn between(&self, from: [f64; 3], to: [f64; 3], _: [f64; 3]) -> Nearness {
        Nearness::new(distance(self.0, from, to), 0.0)
    }

    #[inline]
    fn least(&self, beyond: [f64; 3]) -> Nearness {
        Nearness::new(globe::least(self.0, beyond), 0.0)
    }
}

/// Places of the motors of `XRAY1` and `XRAY2`: the first motor turns in a circle of 360 degrees.
pub mod motors {
    use crate::kd_tree::{Cell, larger};

    /// Returns the minimum distance from a place to those in a box, along each axis. The first motor may also turn the other way:
    /// for differences from `low` to `high`, that is by `|difference - 360|`. The metric rounds in the same way.
    #[inline]
    pub fn beyond<const D: usize>(cell: &Cell<D>, place: [f64; D]) -> [f64; D] {
        let mut beyond = cell.beyond(place);
        let low = beyond[0];
        let high = larger((cell.low[0] - place[0]).abs(), (cell.high[0] - place[0]).abs());
        let back = larger(larger(360.0 - high, low - 360.0), 0.0);
        beyond[0] = if back < low { back } else { low };
        beyond
    }
}

/// Positions whose nodes a thread copies at a time.
const PART: usize = 1 << 12;
/// Nodes at one place that one thread lists.
const MANY: usize = 1 << 8;

/// Sorts nodes by their places, those at one place by their numbers.
fn sort<const D: usize>(placed: &mut [([f64; D], u32)]) {
    placed.par_sort_unstable_by(|a, b| {
        a.0.partial_cmp(&b.0).expect("coordinates are finite").then(a.1.cmp(&b.1))
    });
}

/// The places of nodes. Nodes at the same place are one item of the tree: thousands of them would otherwise be visited thousands of
/// times.
pub(super) struct Places<'a, const D: usize, R> {
    pub(super) ruler: R,
    points: &'a [[f64; 3]],
    pub(super) tree: KdTree<D>,
    /// The nodes at the first position of the tree, then those at the second, and so on; those at the same place are ascending.
    pub(super) nodes: Vec<u32>,
    /// Where the nodes at each position start, and where the last ones end.
    pub(super) begins: Vec<u32>,
    /// The smallest node number in each cell: if many nodes are equally near, other cells need not be visited.
    pub(super) lowest: Vec<u32>,
}

impl<'a, const D: usize, R: Ruler<D>> Places<'a, D, R> {
    /// Builds the places of these nodes; `None` once the watch is over.
    pub(super) fn new(
        ruler: R,
        metric: Metric,
        points: &'a [[f64; 3]],
        nodes: Vec<u32>,
        watch: &Watch,
    ) -> Option<Self> {
        let placed = |index: usize| (ruler.place(points[nodes[index] as usize]), nodes[index]);
        let mut placed: Vec<([f64; D], u32)> = parallel::collect(nodes.len(), &placed);
        drop(nodes);
        sort(&mut placed);
        if watch.is_over() {
            return None;
        }
        let axes = metric.dimensions();
        let is_same = |a: u32, b: u32| points[a as usize][..axes] == points[b as usize][..axes];
        let starts = |i: usize| {
            let Some(before) = i.checked_sub(1).map(|before| &placed[before]) else { return true };
            before.0 != placed[i].0 || !is_same(before.1, placed[i].1)
        };
        let groups: Vec<u32> = parallel::filter(placed.len(), &starts);
        if watch.is_over() {
            return None;
        }
        let count = groups.len();
        let tree = KdTree::of_ascending(&parallel::collect(count, &|i| placed[groups[i] as usize].0));
        if watch.is_over() {
            return None;
        }
        let group = |position: usize| {
            let group = tree.items()[position] as usize;
            groups[group] as usize..groups.get(group + 1).map_or(placed.len(), |&end| end as usize)
        };
        let mut begins: Vec<u32> =
            parallel::collect(count + 1, &|p| if p < count { group(p).len() as u32 } else { 0 });
        let mut sum = 0;
        begins.iter_mut().for_each(|begin| sum += std::mem::replace(begin, sum));
        let mut nodes = vec![0; placed.len()];
        let ends = (0..count).step_by(PART).map(|part| begins[(part + PART).min(count)] as usize);
        parallel::each_of(&mut parallel::split(&mut nodes, ends), 1, &|part, nodes| {
            let positions = part * PART..((part + 1) * PART).min(count);
            let of_part = positions.flat_map(|position| &placed[group(position)]);
            nodes.iter_mut().zip(of_part).for_each(|(node, placed)| *node = placed.1);
        });
        let lowest = tree.fold(u32::MAX, u32::min, |group| placed[groups[group as usize] as usize].1);
        Some(Places { ruler, points, tree, nodes, begins, lowest })
    }

    /// Returns a list of `k` for every node, unless the watch is over. `fill` gets the result of `scratch`, the node and its
    /// position.
    pub(super) fn lists<S: Send>(
        self,
        (k, watch): (usize, &Watch),
        scratch: impl Fn() -> S + Sync,
        fill: impl Fn(&Self, &mut S, (u32, u32), &mut [u32]) + Sync,
    ) -> Neighborhood {
        let mut ids = vec![0; self.nodes.len() * k];
        self.each_list(&mut ids, (k, watch), scratch, fill, |index| index);
        Neighborhood { k, nodes: self.nodes, ids }
    }

    /// Does the same for places of all nodes, with the lists in the order of node numbers.
    pub(super) fn lists_by_number<S: Send>(
        self,
        (k, watch): (usize, &Watch),
        scratch: impl Fn() -> S + Sync,
        fill: impl Fn(&Self, &mut S, (u32, u32), &mut [u32]) + Sync,
    ) -> NeighborLists {
        let mut ids = vec![0; self.nodes.len() * k];
        self.each_list(&mut ids, (k, watch), scratch, fill, |index| self.nodes[index] as usize);
        NeighborLists { k, ids }
    }

    /// Fills the lists of all nodes. `row` returns where that of the node at an index is.
    fn each_list<S: Send>(
        &self,
        ids: &mut [u32],
        (k, watch): (usize, &Watch),
        scratch: impl Fn() -> S + Sync,
        fill: impl Fn(&Self, &mut S, (u32, u32), &mut [u32]) + Sync,
        row: impl Fn(usize) -> usize + Sync,
    ) {
        let rows = Rows::new(ids, k);
        let list = |scratch: &mut S, position: usize, index: usize| {
            let node = self.nodes[index];
            if !watch.is_over_at(node as usize) {
                // SAFETY: nodes are distinct, and so are their indices.
                let list = unsafe { rows.row(row(index)) };
                fill(self, scratch, (node, position as u32), list);
            }
        };
        parallel::each_with(self.begins.len() - 1, 16, &scratch, &|own, position| {
            let indices = self.begins[position] as usize..self.begins[position + 1] as usize;
            if indices.len() <= MANY {
                indices.for_each(|index| list(own, position, index));
            } else {
                // Of many nodes at one place, other threads take some.
                parallel::each_with(indices.len(), MANY / 4, &scratch, &|own, at| {
                    list(own, position, indices.start + at);
                });
            }
        });
    }

    /// Collects the nearest neighbours of a node, which is at this position.
    pub(super) fn nearest(&self, (node, position): (u32, u32), best: &mut Best) {
        best.clear();
        let place = self.place(position);
        self.tree.search(position, &mut Around { places: self, node, position, place, best });
    }

    /// Searches around the node at a position.
    pub(super) fn search(&self, position: u32, search: &mut impl Search<D>) {
        self.tree.search(position, search);
    }

    /// Passes the nodes at another position to `take`, in ascending order, until it returns false: how far apart their places are,
    /// and how near they are to this node, which is skipped itself.
    #[inline]
    pub(super) fn meet(
        &self,
        (node, position): (u32, u32),
        other: usize,
        mut take: impl FnMut([f64; D], Nearness) -> bool,
    ) {
        let nodes = &self.nodes[self.begins[other] as usize..self.begins[other + 1] as usize];
        let (apart, nearness) = self.nearness((node, position), other);
        for &to in nodes {
            if to != node && !take(apart, nearness.of(to)) {
                break;
            }
        }
    }

    /// Returns how far apart the places at two positions are, and how near the nodes at the second are to the node at the first, as
    /// if they were node 0.
    #[inline]
    pub(super) fn nearness(&self, (node, position): (u32, u32), other: usize) -> ([f64; D], Nearness) {
        let places = self.tree.places();
        let (here, there) = (places[position as usize], places[other]);
        let mut apart = there;
        for axis in 0..D {
            apart[axis] -= here[axis];
        }
        let point = |node: u32| self.points[node as usize];
        let there = point(self.nodes[self.begins[other] as usize]);
        (apart, self.ruler.between(point(node), there, apart))
    }

    /// Returns a lower bound on the nearness to a place of anything in a cell.
    #[inline]
    pub(super) fn least(&self, cell: &Cell<D>, place: [f64; D]) -> Nearness {
        self.ruler.least(self.ruler.beyond(cell, place))
    }

    /// Returns the place of the nodes at a position.
    pub(super) fn place(&self, position: u32) -> [f64; D] {
        self.tree.places()[position as usize]
    }
}

/// The nearest nodes visited so far, in order.
pub(super) struct Best {
    k: usize,
    pub(super) found: Vec<Nearness>,
    /// The last of `k` nodes; with fewer nodes, farther than any node.
    last: Nearness,
}

impl Best {
    /// Creates an empty collection. `k` must be more than 0.
    pub(super) fn new(k: usize) -> Best {
        Best { k, found: Vec::with_capacity(k), last: Nearness::FARTHEST }
    }

    pub(super) fn clear(&mut self) {
        self.found.clear();
        self.last = Nearness::FARTHEST;
    }

    /// Adds a node if it is among the nearest; returns whether it is.
    #[inline]
    pub(super) fn offer(&mut self, node: Nearness) -> bool {
        let is_near = node < self.last;
        if is_near {
            self.take(node);
        }
        is_near
    }

    #[cold]
    #[inline(never)]
    fn take(&mut self, node: Nearness) {
        if self.found.len() == self.k {
            self.found.pop();
        }
        let at = self.found.iter().rposition(|other| *other < node).map_or(0, |before| before + 1);
        self.found.insert(at, node);
        if self.found.len() == self.k {
            self.last = self.found[self.k - 1];
        }
    }

    /// Returns whether a node with this lower bound may be among the nearest.
    #[inline]
    pub(super) fn wants(&self, least: Nearness) -> bool {
        least <= self.last
    }
}

/// A search that collects the nearest neighbours of a node.
struct Around<'a, 'p, const D: usize, R> {
    places: &'a Places<'p, D, R>,
    node: u32,
    position: u32,
    place: [f64; D],
    best: &'a mut Best,
}

impl<const D: usize, R: Ruler<D>> Search<D> for Around<'_, '_, D, R> {
    type Least = Nearness;

    #[inline]
    fn least(&self, number: usize, cell: &Cell<D>) -> Nearness {
        self.places.least(cell, self.place).of(self.places.lowest[number])
    }

    #[inline]
    fn wants(&self, _: usize, _: &Cell<D>, least: Nearness) -> bool {
        self.best.wants(least)
    }

    #[inline]
    fn meet(&mut self, positions: std::ops::Range<usize>) {
        for other in positions {
            self.places.meet((self.node, self.position), other, |_, nearness| self.best.offer(nearness));
        }
    }
}
