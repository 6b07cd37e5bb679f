//! Pricing: goes through all edges of an instance that have a low reduced cost.
//!
//! Matrices are searched pair by pair. Places are searched in a k-d tree: the nodes of a cell are too far away if even the least
//! distance to it, minus the node's potential and the largest one in the cell, is too much.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use antwarp_core::metric::{self, Space};
use antwarp_instance::{Cell, Instance, KdTree, Search, Watch, globe, motors, parallel, square};

use crate::Reduced;
use crate::duals::UNIT_BITS;

/// An edge of the instance, without a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// Its end with the lower number.
    pub a: u32,
    /// Its end with the higher number.
    pub b: u32,
    /// Its internal cost.
    pub cost: i32,
}

impl Edge {
    /// Returns the edge between two nodes, in any order.
    ///
    /// # Panics
    /// If a node does not exist.
    pub fn of(instance: &Instance, a: u32, b: u32) -> Edge {
        Edge { a: a.min(b), b: a.max(b), cost: instance.distance(a.min(b), a.max(b)) }
    }
}

/// The result of pricing all edges with given dual values.
#[derive(Clone, Debug, Default)]
pub struct Priced {
    /// The bound that the dual values prove, in units.
    pub bound: i128,
    /// The edges with a reduced cost up to `limit`, each with it in units, ascending by their ends; those that every tour has are not
    /// among them.
    pub edges: Vec<(Edge, i64)>,
    /// Up to which reduced cost, in units, edges are listed: 0 if there were too many above.
    pub limit: i64,
}

/// The most edges that are listed: of more, main memory may be too small, and such dual values are useless.
pub const MOST_LISTED: usize = 1 << 26;
/// Fewer places are searched pair by pair.
const FEW: usize = 200;

/// Computes the bound that dual values prove for an instance, over all pairs of nodes, and lists the edges with a reduced cost up to
/// `limit`, in units; or only up to 0, if more than `most` of 0 and above are found. An edge between partners is one that
/// every tour has. All threads of the pool work.
///
/// `None` if the watch was over before the end, sets have negative dual values, or [too many edges](MOST_LISTED) have a low reduced cost.
pub fn price(
    instance: &Instance,
    reduced: &Reduced,
    (limit, most): (i64, usize),
    watch: &Watch<'_>,
) -> Option<Priced> {
    if !reduced.is_plain() {
        return None;
    }
    let wanted = Wanted {
        instance,
        reduced,
        limit: AtomicI64::new(limit.max(0)),
        count: AtomicUsize::new(0),
        listed: AtomicUsize::new(0),
        most,
    };
    let found: Vec<Vec<(Edge, i64)>> = match instance.metric().filter(|_| instance.len() > FEW) {
        None => by_pairs(&wanted, watch),
        Some(metric) => by_places(&wanted, metric, watch),
    };
    let mut edges = watch.kept(found)?.concat();
    if wanted.listed.into_inner() > MOST_LISTED {
        return None;
    }
    let limit = wanted.limit.into_inner();
    edges.retain(|&(_, reduced)| reduced <= limit);
    edges.sort_unstable_by_key(|(edge, _)| (edge.a, edge.b));
    let mut bound = reduced.constant();
    bound += edges.iter().map(|&(_, reduced)| i128::from(reduced.min(0))).sum::<i128>();
    for edge in partners(instance) {
        bound += i128::from(reduced.of(edge.a, edge.b, edge.cost));
    }
    Some(Priced { bound, edges, limit })
}

/// Returns the edges between partners, each once: those that every tour of a closed form has.
pub fn partners(instance: &Instance) -> impl Iterator<Item = Edge> {
    let pairs = (0..).zip(instance.partners().unwrap_or_default().iter().copied());
    let pairs = pairs.filter(|&(node, partner)| node < partner && partner != Instance::NO_PARTNER);
    pairs.map(|(node, partner)| Edge::of(instance, node, partner))
}

/// What is looked for.
struct Wanted<'a> {
    instance: &'a Instance,
    reduced: &'a Reduced,
    limit: AtomicI64,
    /// The number of edges that are listed, or would be.
    listed: AtomicUsize,
    /// The number of edges found with a reduced cost of 0 or more, and how many are too many.
    count: AtomicUsize,
    most: usize,
}

impl Wanted<'_> {
    #[inline]
    fn limit(&self) -> i64 {
        self.limit.load(Ordering::Relaxed)
    }

    /// Adds the edge between two nodes if its reduced cost is low.
    #[inline]
    fn look(&self, a: u32, b: u32, found: &mut Vec<(Edge, i64)>) {
        let cost = self.instance.distance(a, b);
        if self.reduced.at_least(a, b, cost) > self.limit() {
            return;
        }
        let reduced = self.reduced.of(a, b, cost);
        let is_partner = || self.instance.partners().is_some_and(|partners| partners[a as usize] == b);
        if reduced <= self.limit() && self.instance.has_edge(a, b) && !is_partner() {
            if reduced >= 0 && self.count.fetch_add(1, Ordering::Relaxed) >= self.most {
                self.limit.store(0, Ordering::Relaxed);
            }
            if self.listed.fetch_add(1, Ordering::Relaxed) < MOST_LISTED {
                found.push((Edge { a: a.min(b), b: a.max(b), cost }, reduced));
            }
        }
    }
}

fn by_pairs(wanted: &Wanted<'_>, watch: &Watch<'_>) -> Vec<Vec<(Edge, i64)>> {
    let n = wanted.instance.len() as u32;
    let of_node = |_: &mut (), node: usize| {
        let mut found = Vec::new();
        if !watch.is_over_at(node) {
            (node as u32 + 1..n).for_each(|other| wanted.look(node as u32, other, &mut found));
        }
        (!found.is_empty()).then_some(found)
    };
    parallel::collect_some(n as usize, &|| (), &of_node)
}

fn by_places(wanted: &Wanted<'_>, metric: metric::Metric, watch: &Watch<'_>) -> Vec<Vec<(Edge, i64)>> {
    let points = wanted.instance.points().unwrap_or_default();
    match metric.space() {
        Space::Plane => {
            let least = |apart: [f64; 2]| metric::distance(metric, [0.0; 3], [apart[0], apart[1], 0.0]);
            in_tree(wanted, (|p: [f64; 3]| [p[0], p[1]], Cell::beyond, least), points, watch)
        }
        Space::Solid => {
            let least = |apart| metric::distance(metric, [0.0; 3], apart);
            in_tree(wanted, (|p| p, Cell::beyond, least), points, watch)
        }
        Space::Degrees => {
            let (place, least) = (|p| globe::place(metric, p), |apart| globe::least(metric, apart));
            in_tree(wanted, (place, Cell::beyond, least), points, watch)
        }
        Space::Sphere => {
            // Both ends of a chord: the arc between them equals the computed distance of two nodes, except for its last digit.
            let radius = points.first().map_or(0.0, |p| square(*p).sqrt());
            let least = |apart: [f64; 3]| {
                // Near the antipode the arc is not known exactly from the chord.
                let chord = (square(apart).sqrt() / (2.0 * radius)).min(1.0 - 1e-9);
                ((2.0 * radius * chord.asin()) as i32 - 1).max(0)
            };
            in_tree(wanted, (|p| p, Cell::beyond, least), points, watch)
        }
        Space::Motors => {
            let least = |apart| metric::distance(metric, [0.0; 3], apart);
            in_tree(wanted, (|p| p, motors::beyond, least), points, watch)
        }
    }
}

/// Returns the minimum distance from a place to a box, along each axis.
type Beyond<const D: usize> = fn(&Cell<D>, [f64; D]) -> [f64; D];

/// What pricing knows about a cell of the k-d tree.
#[derive(Clone, Copy)]
struct Known {
    /// The largest potential of its nodes.
    potential: i64,
    /// The last position of its nodes.
    last: u32,
}

/// A search around a node for edges of low reduced cost to nodes of higher position.
struct Low<'a, const D: usize, L> {
    wanted: &'a Wanted<'a>,
    tree: &'a KdTree<D>,
    known: &'a [Known],
    gap: Option<u32>,
    beyond: Beyond<D>,
    least: &'a L,
    node: u32,
    place: [f64; D],
    position: u32,
    found: Vec<(Edge, i64)>,
}

impl<const D: usize, L: Fn([f64; D]) -> i32> Search<D> for Low<'_, D, L> {
    /// The least reduced cost, or less.
    type Least = i64;

    fn least(&self, number: usize, cell: &Cell<D>) -> i64 {
        let cost = (self.least)((self.beyond)(cell, self.place));
        (i64::from(cost) << UNIT_BITS) - self.known[number].potential
    }

    fn wants(&self, number: usize, _: &Cell<D>, least: i64) -> bool {
        let potential = self.wanted.reduced.potential(self.node);
        self.known[number].last > self.position && least - potential <= self.wanted.limit()
    }

    fn meet(&mut self, positions: std::ops::Range<usize>) {
        for position in positions.filter(|&position| position as u32 > self.position) {
            let to = self.tree.items()[position];
            if Some(to) != self.gap {
                self.wanted.look(self.node, to, &mut self.found);
            }
        }
    }
}

fn in_tree<const D: usize>(
    wanted: &Wanted<'_>,
    (place, beyond, least): (
        impl Fn([f64; 3]) -> [f64; D] + Sync,
        Beyond<D>,
        impl Fn([f64; D]) -> i32 + Sync,
    ),
    points: &[[f64; 3]],
    watch: &Watch<'_>,
) -> Vec<Vec<(Edge, i64)>> {
    // The gap is near to all nodes, and has no place.
    let gap = wanted.instance.gap();
    let tree = KdTree::new(&parallel::collect(points.len(), &|i| place(points[i])));
    let positions = parallel::inverse(tree.items());
    let nothing = Known { potential: i64::MIN / 4, last: 0 };
    let with = |known: Known, other: Known| Known {
        potential: known.potential.max(other.potential),
        last: known.last.max(other.last),
    };
    let known = tree.fold(nothing, with, |node| Known {
        potential: wanted.reduced.potential(node),
        last: positions[node as usize],
    });
    let look = |_: &mut (), position: usize| {
        let node = tree.items()[position];
        if watch.is_over_at(position) {
            return None;
        }
        let mut found = Vec::new();
        if Some(node) == gap {
            (0..node).for_each(|other| wanted.look(node, other, &mut found));
        } else {
            let mut search = Low {
                wanted,
                tree: &tree,
                known: &known,
                gap,
                beyond,
                least: &least,
                node,
                place: tree.places()[position],
                position: position as u32,
                found,
            };
            tree.search(position as u32, &mut search);
            found = search.found;
        }
        (!found.is_empty()).then_some(found)
    };
    parallel::collect_some(points.len(), &|| (), &look)
}
