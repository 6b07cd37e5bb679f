//! Pricing of the edges missing from a sparse graph: finds those that would make its minimum spanning tree lighter.
//!
//! An edge does so if it is lighter than the heaviest edge on the tree's path between its ends. Once all of these are added, the
//! tree of the graph is that of all edges: every other edge is the heaviest one of the cycle it closes.

use std::time::{Duration, Instant};

use antwarp_core::metric::{self, Space};
use rayon::prelude::*;

use super::ascent::Ascent;
use super::graph::Graph;
use super::tree::{Spanner, weight};
use antwarp_instance::parallel;
use antwarp_instance::{Cell, Distances, Instance, KdTree, Search, Watch, globe, motors, square};

/// When missing edges are priced, as fractions of the ascent: the longer an edge is missing, the farther potentials move to exploit
/// that.
pub(super) const PRICED_AT: [f64; 8] = [0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.95];
/// Maximum number of edges that a node adds at a time: of many nodes at the same place, each would add all others.
const MOST_ADDED_EDGES: usize = 16;

/// The state of pricing: the instance, and the results so far.
pub(super) struct Prices<'a> {
    instance: &'a Instance,
    watch: &'a Watch<'a>,
    /// The best bound so far that holds for all edges of the instance, in the units of potentials.
    pub proven: Option<i128>,
    /// The number of edges added.
    pub put_in: usize,
    /// The longest time to price one tree.
    pub longest: Duration,
}

impl<'a> Prices<'a> {
    /// Starts pricing of an instance, until the watch is over.
    pub fn new(instance: &'a Instance, watch: &'a Watch<'a>) -> Prices<'a> {
        Prices { instance, watch, proven: None, put_in: 0, longest: Duration::ZERO }
    }

    /// Returns whether the watch is over.
    pub fn is_over(&self) -> bool {
        self.watch.is_over()
    }

    /// Adds edges that the tree of these potentials lacks, until it lacks at most `enough` or the watch is over.
    fn put_in(&mut self, graph: &mut Graph, (potentials, spanner): (&[i64], &mut Spanner), enough: usize) {
        while !self.is_over() {
            let begin = Instant::now();
            let Some(more) = self.price(graph, (potentials, &mut *spanner)) else { return };
            if !more.is_empty() {
                *graph = graph.with(self.instance, &more);
            }
            self.put_in += more.len();
            self.longest = self.longest.max(begin.elapsed());
            if more.len() <= enough {
                return;
            }
        }
    }

    /// Returns the edges that the tree of these potentials lacks, and updates the bound that the tree proves without them; `None`
    /// if there was no time for it.
    fn price(
        &mut self,
        graph: &Graph,
        (potentials, spanner): (&[i64], &mut Spanner),
    ) -> Option<Vec<(u32, u32)>> {
        spanner.span(graph, potentials);
        if self.watch.is_over() {
            return None;
        }
        let order = TreeOrder::new(graph, spanner, potentials);
        if self.watch.is_over() {
            return None;
        }
        let lighter = self.watch.kept(lighter(self, potentials, &order))?;
        // With all of them added, the tree gets lighter by at most the sum of what each saves alone. A node that adds the maximum
        // number may lack others.
        if let Some(saved) = lighter.iter().try_fold(0, |sum, found| Some(sum + found.saved?)) {
            let value = with_leaf(self.instance, graph, (potentials, spanner)) - saved;
            self.proven = self.proven.max(Some(value));
        }
        Some(lighter.into_iter().flat_map(|found| found.edges).collect())
    }
}

/// Adds edges that the tree of the best potentials lacks, repeatedly while there are more than `enough`, and continues the ascent
/// from there.
pub(super) fn mend(prices: &mut Prices<'_>, graph: &mut Graph, ascent: &mut Ascent, enough: usize) {
    prices.put_in(graph, ascent.best_of(), enough);
    if !prices.is_over() {
        ascent.mended(graph);
    }
}

/// Proves the bound by the best potentials.
pub(super) fn prove(prices: &mut Prices<'_>, graph: &mut Graph, ascent: &mut Ascent) {
    prices.put_in(graph, ascent.best_of(), 0);
    // The apparently better potentials may have exploited missing edges.
    if prices.proven < Some(ascent.mended_value()) {
        prices.put_in(graph, ascent.mended_of(), 0);
    }
}

/// Returns the weight of the last tree plus the second lightest of all edges of a leaf, minus twice the potentials. No tour is
/// shorter than a minimum spanning tree plus the second lightest edge of a node: it has an edge at least as heavy there, and the
/// rest of it is a spanning tree.
fn with_leaf(instance: &Instance, graph: &Graph, (potentials, spanner): (&[i64], &mut Spanner)) -> i128 {
    let tree = spanner.one_tree(graph, potentials);
    // Consider all edges of the leaf, not only those in the graph.
    let (leaf, other) = (tree.leaf, tree.other);
    let weight = |to: u32| {
        let length = instance.distance(leaf, to);
        weight(length, potentials[leaf as usize], potentials[to as usize])
    };
    // The lightest one is already in the tree.
    let lightest =
        |(first, second): (i64, i64), weight: i64| (first.min(weight), second.min(first.max(weight)));
    let both = |a: (i64, i64), b: (i64, i64)| lightest(lightest(a, b.0), b.1);
    let nothing = || (i64::MAX, i64::MAX);
    let others = (0..graph.len()).into_par_iter().filter(|&to| to != leaf).map(weight);
    let (_, second) = others.fold(nothing, lightest).reduce(nothing, both);
    tree.value - i128::from(weight(other)) + i128::from(second)
}

/// The nodes in an order in which every part of the tree connected by edges up to some weight is contiguous: the heaviest edge on a
/// path is then the maximum of a range.
pub(super) struct TreeOrder {
    /// The position of each node in the order.
    rank: Vec<u32>,
    /// The heaviest edge between each node and the next.
    gaps: Vec<i64>,
    /// `peaks[level][i]`: the maximum of `2^level` blocks from block i on.
    peaks: Vec<Vec<i64>>,
}

/// Number of gaps per block.
const BLOCK: usize = 16;

impl TreeOrder {
    /// Creates the order for the last spanning tree found.
    pub fn new(graph: &Graph, spanner: &Spanner, potentials: &[i64]) -> TreeOrder {
        let n = graph.len() as usize;
        let mut edges: Vec<(i64, u32, u32)> = spanner
            .edges
            .par_iter()
            .map(|&(a, b)| {
                let arc = graph.of_node(a).iter().find(|arc| arc.to == b).expect("an edge of the graph");
                (weight(arc.length, potentials[a as usize], potentials[b as usize]), a, b)
            })
            .collect();
        edges.par_sort_unstable();
        // For each part: its leader, its first and its last node.
        let mut parts: Vec<(u32, u32, u32)> = (0..n as u32).map(|i| (i, i, i)).collect();
        let mut next = vec![(u32::MAX, 0); n];
        let root = |parts: &mut Vec<(u32, u32, u32)>, mut node: u32| {
            while parts[node as usize].0 != node {
                let above = parts[parts[node as usize].0 as usize].0;
                parts[node as usize].0 = above;
                node = above;
            }
            node
        };
        let mut first = 0;
        for (weight, a, b) in edges {
            let (a, b) = (root(&mut parts, a), root(&mut parts, b));
            let (_, begin, tail) = parts[a as usize];
            let (_, head, end) = parts[b as usize];
            next[tail as usize] = (head, weight);
            parts[b as usize].0 = a;
            parts[a as usize] = (a, begin, end);
            first = begin;
        }
        let (mut rank, mut gaps) = (vec![0; n], Vec::with_capacity(n));
        let mut node = first;
        for i in 0..n as u32 {
            rank[node as usize] = i;
            let (following, weight) = next[node as usize];
            gaps.push(weight);
            node = following;
        }
        gaps.pop();
        let mut peaks: Vec<Vec<i64>> =
            vec![gaps.chunks(BLOCK).map(|block| block.iter().copied().fold(i64::MIN, i64::max)).collect()];
        while 2 << (peaks.len() - 1) <= peaks[0].len() {
            let (below, half) = (&peaks[peaks.len() - 1], 1 << (peaks.len() - 1));
            let level = below.iter().zip(&below[half..]).map(|(&a, &b)| a.max(b)).collect();
            peaks.push(level);
        }
        TreeOrder { rank, gaps, peaks }
    }

    /// Returns the heaviest edge between two ranks, the first of which must be smaller.
    #[inline]
    pub fn heaviest(&self, first: u32, last: u32) -> i64 {
        let (first, last) = (first as usize, last as usize);
        let (block, end) = (first.div_ceil(BLOCK), last / BLOCK);
        let largest = |gaps: &[i64]| gaps.iter().copied().fold(i64::MIN, i64::max);
        if block >= end {
            return largest(&self.gaps[first..last]);
        }
        let level = (end - block).ilog2() as usize;
        let peaks = &self.peaks[level];
        let sides = largest(&self.gaps[first..block * BLOCK]).max(largest(&self.gaps[end * BLOCK..last]));
        sides.max(peaks[block]).max(peaks[end - (1 << level)])
    }
}

/// Returns the edges that would make the tree lighter: for each node that has any, all or the lightest.
fn lighter(prices: &Prices<'_>, potentials: &[i64], order: &TreeOrder) -> Vec<Found> {
    match prices.instance.distances() {
        Distances::Points { metric, points } => match metric.space() {
            Space::Plane => {
                let least = |[x, y]: [f64; 2]| metric::distance(*metric, [0.0; 3], [x, y, 0.0]);
                in_tree(
                    prices,
                    (|p: [f64; 3]| [p[0], p[1]], Cell::beyond, least),
                    points,
                    (potentials, order),
                )
            }
            Space::Solid => {
                let least = |apart| metric::distance(*metric, [0.0; 3], apart);
                in_tree(prices, (|p| p, Cell::beyond, least), points, (potentials, order))
            }
            Space::Degrees => {
                let (place, least) = (|p| globe::place(*metric, p), |apart| globe::least(*metric, apart));
                in_tree(prices, (place, Cell::beyond, least), points, (potentials, order))
            }
            Space::Sphere => {
                // Both ends of a chord: the arc between them equals the computed distance of two nodes, except for its last digit.
                let radius = points.first().map_or(0.0, |p| square(*p).sqrt());
                let least = |apart: [f64; 3]| {
                    let chord = (square(apart).sqrt() / (2.0 * radius)).min(1.0);
                    ((2.0 * radius * chord.asin()) as i32 - 1).max(0)
                };
                in_tree(prices, (|p| p, Cell::beyond, least), points, (potentials, order))
            }
            Space::Motors => {
                let least = |apart| metric::distance(*metric, [0.0; 3], apart);
                in_tree(prices, (|p| p, motors::beyond, least), points, (potentials, order))
            }
        },
        Distances::Matrix(_) => by_comparison(prices, potentials, order),
    }
}

/// Edges of a node that would make the tree lighter.
struct Found {
    edges: Vec<(u32, u32)>,
    /// The sum of what each saves alone; `None` if there may be more such edges.
    saved: Option<i128>,
}

/// The lightest edges that would make the tree lighter, at most [`MOST_ADDED_EDGES`], in order.
#[derive(Default)]
struct Lightest(Vec<(i64, u32)>);

impl Lightest {
    /// Returns whether an edge of this weight would be one of them.
    #[inline]
    fn wants(&self, weight: i64) -> bool {
        self.0.len() < MOST_ADDED_EDGES || weight < self.0[MOST_ADDED_EDGES - 1].0
    }

    fn offer(&mut self, weight: i64, to: u32) {
        if self.wants(weight) {
            let at = self.0.partition_point(|&kept| kept < (weight, to));
            self.0.truncate(MOST_ADDED_EDGES - 1);
            self.0.insert(at, (weight, to));
        }
    }

    /// Takes all edges as those of a node, if there are any.
    fn take(&mut self, node: u32, order: &TreeOrder) -> Option<Found> {
        let rank = |node: u32| order.rank[node as usize];
        let saved = |&(weight, to): &(i64, u32)| i128::from(order.heaviest(rank(node), rank(to)) - weight);
        let saved = (self.0.len() < MOST_ADDED_EDGES).then(|| self.0.iter().map(saved).sum());
        let edges: Vec<(u32, u32)> = self.0.drain(..).map(|(_, to)| (node, to)).collect();
        (!edges.is_empty()).then_some(Found { edges, saved })
    }
}

fn by_comparison(prices: &Prices<'_>, potentials: &[i64], order: &TreeOrder) -> Vec<Found> {
    let n = prices.instance.len() as u32;
    let of_node = |found: &mut Lightest, node: usize| {
        let node = node as u32;
        let rank = order.rank[node as usize];
        let others = if prices.watch.is_over() { 0..0 } else { 0..n };
        for to in others.filter(|&to| order.rank[to as usize] > rank) {
            let length = prices.instance.distance(node, to);
            let weight = weight(length, potentials[node as usize], potentials[to as usize]);
            if found.wants(weight) && weight < order.heaviest(rank, order.rank[to as usize]) {
                found.offer(weight, to);
            }
        }
        found.take(node, order)
    };
    parallel::collect_some(n as usize, &Lightest::default, &of_node)
}

/// What pricing knows about a cell of the k-d tree.
#[derive(Clone, Copy)]
struct Known {
    /// The least potential of its nodes.
    potential: i64,
    /// The last rank of its nodes.
    last: u32,
}

/// Returns the minimum distance from a place to a box, along each axis.
type Beyond<const D: usize> = fn(&Cell<D>, [f64; D]) -> [f64; D];

/// A search around a node for edges to nodes of higher rank that would make the tree lighter.
struct Lighter<'a, const D: usize, L> {
    places: &'a KdTree<D>,
    known: &'a [Known],
    order: &'a TreeOrder,
    instance: &'a Instance,
    potentials: &'a [i64],
    beyond: Beyond<D>,
    least: &'a L,
    node: u32,
    place: [f64; D],
    rank: u32,
    found: &'a mut Lightest,
}

impl<const D: usize, L: Fn([f64; D]) -> i32> Search<D> for Lighter<'_, D, L> {
    /// The square of a straight line, and its length along each axis.
    type Least = (f64, [f64; D]);

    fn least(&self, _: usize, cell: &Cell<D>) -> (f64, [f64; D]) {
        let beyond = (self.beyond)(cell, self.place);
        (square(beyond), beyond)
    }

    fn wants(&self, number: usize, _: &Cell<D>, (_, beyond): (f64, [f64; D])) -> bool {
        let Known { potential, last } = self.known[number];
        let least = || weight((self.least)(beyond), self.potentials[self.node as usize], potential);
        last > self.rank && {
            let least = least();
            self.found.wants(least) && least < self.order.heaviest(self.rank, last)
        }
    }

    fn meet(&mut self, positions: std::ops::Range<usize>) {
        for &to in &self.places.items()[positions] {
            let rank = self.order.rank[to as usize];
            if rank <= self.rank {
                continue;
            }
            let length = self.instance.distance(self.node, to);
            let weight = weight(length, self.potentials[self.node as usize], self.potentials[to as usize]);
            if self.found.wants(weight) && weight < self.order.heaviest(self.rank, rank) {
                self.found.offer(weight, to);
            }
        }
    }
}

fn in_tree<const D: usize>(
    prices: &Prices<'_>,
    (place, beyond, least): (
        impl Fn([f64; 3]) -> [f64; D] + Sync,
        Beyond<D>,
        impl Fn([f64; D]) -> i32 + Sync,
    ),
    points: &[[f64; 3]],
    (potentials, order): (&[i64], &TreeOrder),
) -> Vec<Found> {
    let places = KdTree::new(&parallel::collect(points.len(), &|i| place(points[i])));
    let nothing = Known { potential: i64::MAX / 4, last: 0 };
    let with = |known: Known, other: Known| Known {
        potential: known.potential.min(other.potential),
        last: known.last.max(other.last),
    };
    let known = places.fold(nothing, with, |node| Known {
        potential: potentials[node as usize],
        last: order.rank[node as usize],
    });
    let look = |found: &mut Lightest, position: usize| {
        let node = places.items()[position];
        if !prices.watch.is_over_at(position) {
            let mut search = Lighter {
                places: &places,
                known: &known,
                order,
                instance: prices.instance,
                potentials,
                beyond,
                least: &least,
                node,
                place: places.places()[position],
                rank: order.rank[node as usize],
                found,
            };
            places.search(position as u32, &mut search);
        }
        found.take(node, order)
    };
    parallel::collect_some(places.items().len(), &Lightest::default, &look)
}
