//! A lower bound on the length of every tour: the bound of Held and Karp.
//!
//! A *1-tree* is a spanning tree with one more edge at one of its leaves. Every tour is a 1-tree, so no tour is shorter than the
//! minimum 1-tree. Adding a number to all edges of a node, its *potential*, makes every tour longer by twice that amount and keeps
//! their order, but not that of 1-trees. So the weight of the minimum 1-tree, minus twice the potentials, is a bound for every
//! choice of potentials. [`held_karp`] searches for a good one.
//!
//! Sources:
//! - M. Held, R. M. Karp, *The traveling-salesman problem and minimum spanning trees*, Operations Research 18 (1970) and Mathematical
//!   Programming 1 (1971): the bound, and the ascent along subgradients.
//! - K. Helsgaun, *An effective implementation of the Lin-Kernighan traveling salesman heuristic*, European Journal of Operational
//!   Research 126 (2000): 1-trees with a leaf of a spanning tree, and steps along a mean of the last directions.
//! - D. S. Johnson, L. A. McGeoch, E. E. Rothberg, *Asymptotic experimental analysis for the Held-Karp traveling salesman bound*,
//!   SODA 1996: sparse candidate graphs, and how far optimal tours are above the bound.
//!
//! Trees are computed in a sparse graph (`graph.rs`), by Borůvka's algorithm on all threads (`tree.rs`). Every edge missing from
//! the graph is priced (`price.rs`): those that would make the tree lighter are added, so the bound holds for the whole instance.
//! All weights are whole numbers, so nothing is lost to rounding.
//!
//! Directed edges have trees and an ascent of their own (`directed/`).

mod ascent;
mod directed;
mod graph;
mod price;
mod tree;

use std::time::Instant;

use serde::Serialize;

use crate::{Budget, Deadline, Stop};
use antwarp_instance::form::Form;
use antwarp_instance::{Enough, Instance, KdTree, Watch, quadrant_until};
use ascent::Ascent;
use graph::Graph;
use price::{PRICED_AT, Prices};
use tree::FRACTION;

/// A lower bound on the length of every tour.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bound {
    /// The bound: no tour has a lower internal cost. [`Instance::lower_bound`] converts it.
    pub length: i64,
    /// Number of minimum spanning trees computed.
    pub trees: u32,
    /// Number of edges that were missing from the sparse graph but that the tree needs.
    pub priced_in: usize,
    /// Seconds of wall-clock time that its computation took.
    pub seconds: f64,
}

/// Number of neighbours per node whose edges are in the sparse graph.
const NEIGHBORS: usize = 6;
/// With fewer trees than this, only at the fraction below: pricing takes as long as about six trees.
const MANY: u32 = 600;
const OF_FEW: [f64; 1] = [0.6];
/// A graph that lacks more than one edge per this many nodes is priced again at once.
const LACKING: usize = 64;

/// Number of trees for which time to price them is reserved after the ascent: most edges that the first one lacks are found by
/// then.
const LAST_PRICED: u32 = 2;

/// Returns the number of trees of an ascent for this many nodes: more trees raise the bound of random places by less than a few
/// hundredths of a percent.
pub fn trees_for(n: usize) -> u32 {
    (20_000_000 / n.max(1)).clamp(120, 4000) as u32
}

/// Bytes per node that has a place: the instance by places, its tree, the lists and the graph built from them, and the vectors of
/// the ascent. Measured, without the instance itself.
const BYTES_PER_NODE: usize = 320;

/// Most nodes of an instance without directions whose bound makes use of ends and fixed edges: it is computed by a matrix.
const MOST_SHAPED: usize = 3000;

/// Returns whether [`held_karp`] can compute a bound: not if tours are open paths without directions over more than 3,000 nodes.
pub fn is_possible(instance: &Instance) -> bool {
    instance.ends().is_none() || !instance.is_symmetric() || instance.len() <= MOST_SHAPED
}

/// Returns whether edges are priced pair by pair, rather than by places.
pub fn is_by_pairs(instance: &Instance) -> bool {
    instance.points().is_none() || closes(instance)
}

/// Returns whether the bound is that of another instance, with closed tours only.
fn closes(instance: &Instance) -> bool {
    let is_shaped = instance.ends().is_some() || !instance.fixed_edges().is_empty();
    is_shaped && (!instance.is_symmetric() || instance.len() <= MOST_SHAPED)
}

/// Returns an instance of closed tours, and by how much the tours of a shaped instance cost more than its tours, or more than that.
///
/// Without directions, the edge between partners costs nothing in it, so that trees have it; they need not.
fn closed(instance: &Instance) -> Option<(Instance, i64)> {
    let form = Form::closed(instance).filter(|_| closes(instance))?;
    if !instance.is_symmetric() {
        let offset = form.offset();
        return Some((form.into_instance(), offset));
    }
    let (inner, n) = (form.instance(), form.instance().len() as u32);
    let is_pair = |a: u32, b: u32| inner.partners().is_some_and(|partners| partners[a as usize] == b);
    let length = |a: u32, b: u32| if is_pair(a, b) { 0 } else { inner.distance(a, b) };
    let pairs = (0..n).flat_map(|a| (0..a).filter(move |&b| is_pair(a, b)).map(move |b| (a, b)));
    let left_out: i64 = pairs.map(|(a, b)| i64::from(inner.distance(a, b))).sum();
    let matrix = (0..n).flat_map(|a| (0..n).map(move |b| length(a, b))).collect();
    Some((Instance::from_matrix(inner.name(), matrix).ok()?, form.offset() + left_out))
}

/// Returns the bytes of main memory that [`held_karp`] needs in addition to the instance.
pub fn memory(instance: &Instance) -> usize {
    let n = instance.len();
    if instance.is_symmetric() {
        return BYTES_PER_NODE * n + if closes(instance) { 8 * n * n } else { 0 };
    }
    let copies = if instance.matrix().is_some() { 1 } else { 2 };
    BYTES_PER_NODE * n + copies * directed::BYTES_PER_PAIR * n * n
}

/// Computes the bound of an instance with this many trees, or with [`trees_for`] it. The ascent ends after an interrupt,
/// or early enough before the time is up to leave some for pricing, which takes as long as about twenty trees if nodes have places.
/// Once `enough` asks to stop, everything ends with the best bound until then; `None` if nothing was priced yet.
///
/// Ends and fixed edges of an instance without directions count up to 3,000 nodes; of more, fixed edges are ignored, and open paths
/// [have no bound](is_possible).
///
/// With a number of trees, the bound does not depend on the number of threads; if the time ends the ascent, it varies between runs.
///
/// ```
/// use antwarp_engine::{Stop, bound::held_karp};
/// use antwarp_instance::Instance;
///
/// let square = Instance::from_matrix("square", vec![0, 1, 2, 1, 1, 0, 1, 2, 2, 1, 0, 1, 1, 2, 1, 0])?;
/// let bound = held_karp(&square, None, &Stop::never(), &|| false).expect("nothing asks it to stop");
/// assert_eq!(bound.length, 4);
/// # Ok::<(), antwarp_instance::InstanceError>(())
/// ```
pub fn held_karp(instance: &Instance, trees: Option<u32>, stop: &Stop, enough: Enough) -> Option<Bound> {
    let begin = Instant::now();
    let closed = closed(instance);
    if closed.is_none() && !is_possible(instance) {
        return None;
    }
    let (instance, offset) = closed.as_ref().map_or((instance, 0), |(instance, offset)| (instance, *offset));
    let n = instance.len();
    let done = |length: i64| {
        let seconds = begin.elapsed().as_secs_f64();
        Bound { length: length + offset, trees: 0, priced_in: 0, seconds }
    };
    if n < 4 {
        let mut tour: Vec<u32> = (0..n as u32).collect();
        let there = instance.check_tour(&tour).unwrap_or(0);
        tour.reverse();
        return Some(done(there.min(instance.check_tour(&tour).unwrap_or(0))));
    }
    let watch = Watch::new(enough);
    let deadline = Deadline::since(begin, stop);
    let most = trees.unwrap_or_else(|| trees_for(n));
    // Pricing that was stopped early may prove a negative bound, but no edge is negative.
    let length = |proven: i128| ((proven.max(0) + (1 << FRACTION) - 1) >> FRACTION) as i64;
    if !instance.is_symmetric() {
        let found = directed::climb(instance, most, deadline, &watch);
        let (trees, priced_in) = (found.trees, found.put_in);
        return Some(Bound { trees, priced_in, ..done(length(found.proven?)) });
    }
    let renumbered = by_place(instance);
    let instance = renumbered.as_ref().unwrap_or(instance);
    // Run inside the thread pool, so that work is not handed over to it thousands of times.
    rayon::scope(|_| {
        let lists = quadrant_until(instance, NEIGHBORS.min(n - 1), &|| watch.is_over())?;
        let graph = Graph::new(instance, &lists);
        drop(lists);
        let mut prices = Prices::new(instance, &watch);
        let trees = climb(graph, &mut prices, most, deadline);
        Some(Bound { trees, priced_in: prices.put_in, ..done(length(prices.proven?)) })
    })
}

/// Performs the ascent with at most this many trees, with pricing during and after it; returns the number of trees.
fn climb(mut graph: Graph, prices: &mut Prices<'_>, trees: u32, deadline: Deadline<'_>) -> u32 {
    let lacking = graph.len() as usize / LACKING;
    let mut ascent = Ascent::new(&graph, trees);
    let since = deadline.elapsed();
    // The edges that make the graph connected may be far too long, and steps depend on the first bound.
    price::mend(prices, &mut graph, &mut ascent, lacking);
    let stop = deadline.stop.spent(prices.longest * LAST_PRICED);
    let budget = Budget { units: 1, deadline: deadline.with(&stop) };
    let priced_at = if trees < MANY { &OF_FEW[..] } else { &PRICED_AT };
    for part in priced_at.iter().copied().chain([1.0]) {
        while ascent.progress < part && !budget.is_over() && !prices.is_over() {
            let time = if stop.time.is_some() { budget.progress(since, 0) } else { 0.0 };
            ascent.advance(&graph, time.into());
        }
        if part < 1.0 && !budget.is_over() {
            price::mend(prices, &mut graph, &mut ascent, lacking);
        }
    }
    if ascent.trees == 0 && !prices.is_over() {
        // There was no time at all, but potentials of 0 also give a bound.
        ascent.advance(&graph, 1.0);
    }
    price::prove(prices, &mut graph, &mut ascent);
    ascent.trees
}

/// Renumbers the nodes so that nearby ones have nearby numbers, if they have places.
fn by_place(instance: &Instance) -> Option<Instance> {
    let places: Vec<[f64; 3]> = instance.points()?.to_vec();
    instance.renumbered(KdTree::new(&places).items())
}

#[cfg(test)]
mod tests;
