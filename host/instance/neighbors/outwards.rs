//! Walks outwards from a point through the places of all nodes.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use antwarp_core::metric::{EARTH_RADIUS, Metric, geo_radians};
use rayon::prelude::*;
use rstar::primitives::GeomWithData;
use rstar::{AABB, ParentNode, RTree, RTreeNode, RTreeObject};

use super::{Nearness, nearness};

/// A place, and which of [`Places::nodes`] are there: the first, and how many.
type Place<P> = GeomWithData<P, (u32, u32)>;

/// Where nodes are, as a tree.
///
/// Nodes at one place are one entry of the tree: thousands of them would otherwise be looked at
/// thousands of times.
pub(super) struct Places<P: rstar::Point> {
    /// Those at one place beside each other and ascending.
    nodes: Vec<u32>,
    tree: RTree<Place<P>>,
}

impl<P: rstar::Point<Scalar = f64> + Send + Sync> Places<P> {
    /// The places of these nodes, as `embed` sees them.
    pub(super) fn new(
        metric: Metric,
        points: &[[f64; 3]],
        mut nodes: Vec<u32>,
        embed: impl Fn([f64; 3]) -> P,
    ) -> Places<P> {
        let place = |node: u32| &points[node as usize][..metric.dimensions()];
        nodes.par_sort_unstable_by(|&a, &b| {
            place(a).partial_cmp(place(b)).expect("coordinates are finite").then(a.cmp(&b))
        });
        let mut start = 0;
        let groups = nodes.chunk_by(|&a, &b| place(a) == place(b)).map(|group| {
            let first = start;
            start += group.len() as u32;
            Place::new(embed(points[group[0] as usize]), (first, group.len() as u32))
        });
        let tree = RTree::bulk_load(groups.collect());
        Places { nodes, tree }
    }

    fn at(&self, place: &Place<P>) -> &[u32] {
        let (first, len) = place.data;
        &self.nodes[first as usize..][..len as usize]
    }

    /// All nodes. In this order, neighbours in memory ask for the same branches.
    pub(super) fn in_tree_order(&self) -> Vec<u32> {
        self.tree.iter().flat_map(|place| self.at(place)).copied().collect()
    }
}

/// What a walk is for.
pub(super) trait Visitor<P: rstar::Point> {
    /// Whether nothing from this squared line on is of use.
    fn is_done(&mut self, line: f64) -> bool;

    /// Whether something in this box may be of use.
    fn wants(&self, _: &AABB<P>) -> bool {
        true
    }

    /// Takes the nodes of a place at this squared line.
    fn meet(&mut self, nodes: &[u32], line: f64);
}

/// The memory of walks.
pub(super) struct Walk<'t, P: rstar::Point> {
    ahead: BinaryHeap<Ahead<'t, P>>,
}

impl<'t, P: rstar::Point<Scalar = f64> + Send + Sync> Walk<'t, P> {
    pub(super) fn new() -> Walk<'t, P> {
        Walk { ahead: BinaryHeap::new() }
    }

    /// Meets all wanted places, nearest first by the straight line, until the visitor is done.
    pub(super) fn outwards(&mut self, places: &'t Places<P>, center: P, visitor: &mut impl Visitor<P>) {
        self.ahead.clear();
        self.open(places.tree.root(), &center, visitor);
        while let Some(Ahead { line, node }) = self.ahead.pop() {
            if visitor.is_done(line) {
                return;
            }
            match node {
                RTreeNode::Leaf(place) => visitor.meet(places.at(place), line),
                RTreeNode::Parent(parent) => self.open(parent, &center, visitor),
            }
        }
    }

    fn open(&mut self, parent: &'t ParentNode<Place<P>>, center: &P, visitor: &impl Visitor<P>) {
        self.ahead.extend(parent.children().iter().filter_map(|node| {
            let envelope = match node {
                RTreeNode::Leaf(place) => place.envelope(),
                RTreeNode::Parent(parent) => parent.envelope(),
            };
            visitor.wants(&envelope).then(|| Ahead { line: envelope.distance_2(center), node })
        }));
    }
}

/// A branch or a place that a walk has yet to come to.
struct Ahead<'t, P: rstar::Point> {
    line: f64,
    node: &'t RTreeNode<Place<P>>,
}

impl<P: rstar::Point> Ord for Ahead<'_, P> {
    /// The greatest is the nearest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.line.total_cmp(&self.line)
    }
}

impl<P: rstar::Point> PartialOrd for Ahead<'_, P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P: rstar::Point> PartialEq for Ahead<'_, P> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<P: rstar::Point> Eq for Ahead<'_, P> {}

/// When all points that can be among the nearest have been met, going outwards.
#[derive(Clone, Copy)]
pub(super) enum Stop {
    /// The distance grows with the straight line: behind the k-th, and all as far as it.
    Line,
    /// The distance is at least the line divided by the root of this.
    Scaled(f64),
    /// The distance is the arc over a chord.
    Globe,
}

impl Stop {
    /// A number that no distance of points this far apart falls short of. Rounding takes less than 1.
    fn least_distance(self, line_squared: f64) -> f64 {
        match self {
            Stop::Line => 0.0,
            Stop::Scaled(divisor) => (line_squared / divisor).sqrt() - 1.0,
            Stop::Globe => 2.0 * EARTH_RADIUS * (line_squared.sqrt() / 2.0).min(1.0).asin() - 1.0,
        }
    }
}

/// The nodes that a walk has met, among them the k nearest once it is complete.
pub(super) struct Collector {
    k: usize,
    stop: Stop,
    /// The nodes met, in the order of their straight lines.
    pub(super) candidates: Vec<Nearness>,
    /// The straight line, squared, at which there were k of them.
    full_at: f64,
    /// The k-th smallest distance, and how many nodes it was found among.
    kth: Option<(i32, usize)>,
}

impl Collector {
    /// A collector of the `k` nearest.
    pub(super) fn new(k: usize, stop: Stop) -> Collector {
        Collector { k, stop, candidates: Vec::new(), full_at: f64::INFINITY, kth: None }
    }

    pub(super) fn clear(&mut self) {
        *self = Collector {
            candidates: std::mem::take(&mut self.candidates),
            ..Collector::new(self.k, self.stop)
        };
        self.candidates.clear();
    }

    /// Takes in the nodes of a place, which are ascending, at this squared line from node `from`.
    pub(super) fn meet(&mut self, metric: Metric, points: &[[f64; 3]], from: u32, nodes: &[u32], line: f64) {
        // More than k + 1 nodes of one place are never needed: lower numbers come first.
        let some = nodes.iter().take(self.k + 1).filter(|&&to| to != from);
        let was_full = self.candidates.len() >= self.k;
        self.candidates.extend(some.map(|&to| nearness(metric, points, from, to)));
        if !was_full && self.candidates.len() >= self.k {
            self.full_at = line;
        }
    }

    /// Whether nothing from this line on can be among the nearest.
    pub(super) fn is_complete(&mut self, line: f64) -> bool {
        if self.k == 0 {
            return true;
        }
        if self.candidates.len() < self.k {
            return false;
        }
        if matches!(self.stop, Stop::Line) {
            return line > self.full_at;
        }
        // Selecting again and again would cost more than it saves: only when the nodes have doubled.
        let stale = self.kth.is_none_or(|(_, among)| self.candidates.len() >= 2 * among);
        if stale {
            let kth = self.candidates.select_nth_unstable(self.k - 1).1.0;
            self.kth = Some((kth, self.candidates.len()));
        }
        self.kth.is_some_and(|(kth, _)| self.stop.least_distance(line) > f64::from(kth))
    }
}

/// The point of a unit sphere at a latitude and a longitude.
pub(super) fn on_globe(point: [f64; 3]) -> [f64; 3] {
    let (latitude, longitude) = (geo_radians(point[0]), geo_radians(point[1]));
    let radius = latitude.cos();
    [radius * longitude.cos(), radius * longitude.sin(), latitude.sin()]
}
