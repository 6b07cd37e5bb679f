//! The bound for directed edges.
//!
//! Every node has an exit and an entry, and an edge leads from an exit to an entry. A tour uses each exit and each entry once, and
//! without any one of its edges it is a spanning tree, if directions are ignored. So no tour is shorter than a minimum spanning tree
//! plus the lightest edge at an exit or entry that the tree does not use. Exits and entries have potentials, which make all
//! tours longer by the same amount: their sum. This is the bound of Held and Karp for the graph in which exits and entries are nodes
//! of their own and an edge that belongs to every tree joins those of a node.
//!
//! The potentials of the cheapest assignment (`potentials.rs`) prove at least its cost. The ascent starts from potentials of 0, which
//! leads to better bounds. With many nodes, it computes trees in a sparse graph (`graph.rs`), which prove nothing, since an edge that
//! the graph lacks might make them lighter. Now and then, and at the end, it computes the tree of all edges (`tree.rs`). This tree
//! proves a bound, and its edges are added to the graph, together with the lightest ones under the potentials.
//!
//! Sources:
//! - R. Jonker, T. Volgenant, *Transforming asymmetric into symmetric traveling salesman problems*, Operations Research Letters 2
//!   (1983): two nodes for each node.
//! - D. P. Williamson, *Analysis of the Held-Karp lower bound for the asymmetric TSP*, Operations Research Letters 12 (1992): the
//!   bound is that of Held and Karp for directed edges, and at least the cost of the cheapest assignment.

mod costs;
mod graph;
mod shifts;
mod tree;

use std::time::{Duration, Instant};

use antwarp_instance::{Instance, Watch};

use super::price::PRICED_AT;
use super::tree::FRACTION;
use crate::potentials::potentials;
use crate::{Budget, Deadline};
use costs::Costs;
use graph::Graph;
use shifts::Potentials;
use tree::Tree;

/// With at most this many nodes, all trees are those of all edges: that takes less than a second, and no edge can be missing.
const FEW: usize = 100;
/// Number of edges per exit and per entry in the first sparse graph, and number of those that are the lightest later.
const NEIGHBORS: usize = 8;
const MORE_NEIGHBORS: usize = 4;
/// Fraction of the last direction in the next one.
const INERTIA: f64 = 0.7;
/// Steps as fractions of the best bound: the first one, which grows with the number of trees available to recover from it, and the
/// last one.
const FIRST: [f64; 2] = [0.3, 33.0];
const FIRST_A_TREE: f64 = 1.0 / 120.0;
const LAST: f64 = 3e-5;
/// Potentials are astray if their bound is worse than another by more than one part in this many: they exploited missing edges.
const ASTRAY: i128 = 20;
/// Largest potential: far larger than any cost, but far from overflow.
const LARGEST: f64 = (1_u64 << 45) as f64;
/// Number of trees of all edges for which time is reserved after the ascent.
const LAST_PRICED: u32 = 2;
/// The cheapest assignment must be found in one part of the time in this many.
const ASSIGNED_BY: u32 = 3;

/// What is found.
pub(super) struct Found {
    /// The best bound proven, in the units of potentials; `None` if there was no time for any.
    pub proven: Option<i128>,
    /// The number of trees computed, and of edges that trees of all edges added to the sparse graph.
    pub trees: u32,
    pub put_in: usize,
}

/// Bytes per pair of nodes: costs by the nodes they lead to.
pub(super) const BYTES_PER_PAIR: usize = 4;

/// Computes the bound with at most this many trees. The ascent ends with its time; everything ends with the watch.
pub(super) fn climb(instance: &Instance, trees: u32, deadline: Deadline<'_>, watch: &Watch<'_>) -> Found {
    let costs = Costs::new(instance);
    let mut ascent = Ascent::new(&costs, trees, watch);
    let assigned = assignment(&costs, deadline, watch);
    if ascent.prove(&assigned).is_none() {
        return ascent.found();
    }
    ascent.progress = f64::from(ascent.trees) / f64::from(ascent.most);
    let stop = deadline.stop.spent(ascent.longest * LAST_PRICED);
    let budget = Budget { units: 1, deadline: deadline.with(&stop) };
    let since = deadline.elapsed();
    let time = || if stop.time.is_some() { budget.progress(since, 0).into() } else { 0.0 };
    let goes_on = |ascent: &Ascent<'_>, part| {
        ascent.progress < part && !ascent.is_met && !budget.is_over() && !watch.is_over()
    };
    if costs.len() <= FEW {
        while goes_on(&ascent, 1.0) {
            ascent.advance(None, time());
        }
        return ascent.found();
    }
    let mut edges = graph::nearest(&costs, &assigned, NEIGHBORS);
    ascent.put_in = graph::put_in(&mut edges, &ascent.tree.edges);
    for part in PRICED_AT.into_iter().chain([1.0]) {
        if ascent.is_met {
            break;
        }
        let graph = Graph::new(&costs, &edges);
        while goes_on(&ascent, part) {
            ascent.advance(Some(&graph), time());
        }
        if ascent.best.is_some() && (part == 1.0 || !budget.is_over()) {
            ascent.mend(&mut edges);
        }
    }
    ascent.found()
}

/// Returns the potentials that prove the cost of the cheapest assignment, or potentials of 0 if there is no time for it.
fn assignment(costs: &Costs<'_>, deadline: Deadline<'_>, watch: &Watch<'_>) -> Potentials {
    let most = deadline.left().map(|left| left / ASSIGNED_BY);
    let begin = Instant::now();
    let is_late =
        || deadline.is_over() || most.is_some_and(|most| begin.elapsed() >= most) || watch.is_over();
    let n = costs.len();
    match potentials(costs.rows(), n, &Watch::new(&is_late)) {
        None => Potentials::new(n),
        Some((rows, columns)) => {
            let opposite =
                |all: Vec<i64>| all.into_iter().map(|potential| -(potential << FRACTION)).collect();
            Potentials { exits: opposite(rows), entries: opposite(columns) }
        }
    }
}

/// The ascent along subgradients.
struct Ascent<'a> {
    costs: &'a Costs<'a>,
    watch: &'a Watch<'a>,
    potentials: Potentials,
    tree: Tree,
    trees: u32,
    most: u32,
    /// How much of the ascent is done, from 0 to 1.
    progress: f64,
    /// The direction in which potentials move.
    direction: [Vec<f64>; 2],
    /// The best bound of the sparse graph since edges were added to it last, and its potentials.
    best: Option<i128>,
    best_potentials: Potentials,
    /// The best bound of all edges that the ascent has reached, and its potentials.
    mended: Option<i128>,
    mended_potentials: Potentials,
    proven: Option<i128>,
    /// Whether a tour is as short as the bound: no bound is better.
    is_met: bool,
    put_in: usize,
    /// The longest time for a tree of all edges.
    longest: Duration,
}

impl<'a> Ascent<'a> {
    fn new(costs: &'a Costs<'a>, most: u32, watch: &'a Watch<'a>) -> Ascent<'a> {
        let n = costs.len();
        Ascent {
            costs,
            watch,
            potentials: Potentials::new(n),
            tree: Tree::new(n),
            trees: 0,
            most: most.max(1),
            progress: 0.0,
            direction: [vec![0.0; n], vec![0.0; n]],
            best: None,
            best_potentials: Potentials::new(n),
            mended: None,
            mended_potentials: Potentials::new(n),
            proven: None,
            is_met: false,
            put_in: 0,
            longest: Duration::ZERO,
        }
    }

    /// Returns the number of trees and the bound that they prove.
    fn found(self) -> Found {
        Found { proven: self.proven, trees: self.trees, put_in: self.put_in }
    }

    /// Computes the tree of all edges, and returns the bound that it proves; `None` if the watch is over.
    fn prove(&mut self, potentials: &Potentials) -> Option<i128> {
        let begin = Instant::now();
        let value = self.tree.span_all(self.costs, potentials, self.watch)?;
        self.longest = self.longest.max(begin.elapsed());
        self.trees += 1;
        self.proven = self.proven.max(Some(value));
        self.is_met |= self.tree.is_tour();
        Some(value)
    }

    /// Computes the next tree, of the sparse graph if there is one, and takes a step from there. `time`, from 0 to 1, is the
    /// fraction of the time used, if there is a limit.
    fn advance(&mut self, graph: Option<&Graph>, time: f64) {
        let potentials = std::mem::replace(&mut self.potentials, Potentials::new(0));
        let value = match graph {
            None => self.prove(&potentials),
            Some(graph) => {
                self.trees += 1;
                Some(self.tree.span(graph, &potentials))
            }
        };
        self.potentials = potentials;
        if value.is_none() {
            return;
        }
        if value > self.best {
            self.best = value;
            self.best_potentials.clone_from(&self.potentials);
        }
        self.progress = (f64::from(self.trees) / f64::from(self.most)).max(time).min(1.0);
        self.step();
    }

    /// Raises the potentials of exits and entries that the tree uses more than once, and lowers those of unused ones.
    fn step(&mut self) {
        let mut squares = 0.0;
        for (direction, uses) in self.direction.iter_mut().zip(self.tree.uses()) {
            for (direction, &uses) in direction.iter_mut().zip(uses) {
                let surplus = f64::from(uses) - 1.0;
                *direction = INERTIA * *direction + (1.0 - INERTIA) * surplus;
                squares += (surplus * surplus).max(*direction * *direction);
            }
        }
        let first = (FIRST_A_TREE * f64::from(self.most)).clamp(FIRST[0], FIRST[1]);
        let scale = self.best.max(self.proven).unwrap_or(0).max(1 << FRACTION) as f64;
        let step = first * (LAST / first).powf(self.progress) * scale / f64::max(squares, 1.0);
        for (potentials, direction) in self.potentials.both().into_iter().zip(&self.direction) {
            for (potential, direction) in potentials.iter_mut().zip(direction) {
                let next = *potential as f64 + step * direction;
                *potential = next.round().clamp(-LARGEST, LARGEST) as i64;
            }
        }
    }

    /// Proves the bound of the best potentials and adds edges to those of the sparse graph. Continues from the current potentials or,
    /// if the best were far astray, from those of the best proof of this ascent.
    fn mend(&mut self, edges: &mut Vec<(u32, u32)>) {
        let best = std::mem::replace(&mut self.best_potentials, Potentials::new(0));
        let value = self.prove(&best);
        if value.is_some() {
            self.put_in += graph::put_in(edges, &self.tree.edges);
            graph::put_in(edges, &graph::nearest(self.costs, &best, MORE_NEIGHBORS));
        }
        self.best_potentials = best;
        self.best = value;
        if value >= self.mended {
            self.mended = value;
            self.mended_potentials.clone_from(&self.best_potentials);
        } else if let (Some(value), Some(mended)) = (value, self.mended)
            && value < mended - mended.abs() / ASTRAY
        {
            self.best = self.mended;
            self.best_potentials.clone_from(&self.mended_potentials);
            self.potentials.clone_from(&self.mended_potentials);
            self.direction.iter_mut().for_each(|direction| direction.fill(0.0));
        }
    }
}

#[cfg(test)]
mod tests;
