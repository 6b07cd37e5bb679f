//! A length that no tour is below: the bound of Held and Karp.
//!
//! A *1-tree* is a spanning tree with one more edge at one of its leaves. Every tour is one, so no tour is shorter than the minimum
//! 1-tree. A number added to all edges of a node, its *potential*, makes every tour longer by twice as much and leaves their order as
//! it is, but not that of 1-trees. So the weight of the minimum 1-tree, less twice the potentials, is a bound for every choice of
//! potentials. [`held_karp`] looks for a good one.
//!
//! Sources:
//! - M. Held, R. M. Karp, *The traveling-salesman problem and minimum spanning trees*, Operations Research 18 (1970) and Mathematical
//!   Programming 1 (1971): the bound, and the ascent along subgradients.
//! - K. Helsgaun, *An effective implementation of the Lin-Kernighan traveling salesman heuristic*, European Journal of Operational
//!   Research 126 (2000): 1-trees with a leaf of a spanning tree, and steps along a mean of the last directions.
//! - D. S. Johnson, L. A. McGeoch, E. E. Rothberg, *Asymptotic experimental analysis for the Held-Karp traveling salesman bound*,
//!   SODA 1996: sparse candidate graphs, and how far optimal tours are above the bound.
//!
//! Trees are looked for in a sparse graph (`graph.rs`), by Borůvka's algorithm on all threads (`tree.rs`). Every edge that the
//! graph leaves out is priced (`price.rs`): those that would make the tree lighter are put in, and the bound is that of the
//! whole instance. All weights are whole numbers, so nothing is lost to rounding.

mod ascent;
mod graph;
mod price;
mod tree;

use std::time::Instant;

use serde::Serialize;

use crate::engine::{Budget, Deadline, Stop};
use crate::instance::{Enough, Instance, KdTree, Watch, quadrant_until};
use ascent::Ascent;
use graph::Graph;
use price::Prices;
use tree::FRACTION;

/// A length that no tour is below.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bound {
    /// No tour is shorter.
    pub length: i64,
    /// Minimum spanning trees that were looked for.
    pub trees: u32,
    /// Edges that the sparse graph had left out, and that the tree needs.
    pub priced_in: usize,
    /// Seconds that it took.
    pub seconds: f64,
}

/// Neighbours whose edges the sparse graph has.
const NEIGHBORS: usize = 6;
/// When edges that the graph leaves out are priced, as shares of the ascent: the longer one of them is missing, the farther potentials
/// go to make the most of that.
const PRICED_AT: [f64; 8] = [0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.95];
/// Of fewer trees than this many, at the share behind only: pricing takes as long as some six trees.
const MANY: u32 = 600;
const OF_FEW: [f64; 1] = [0.6];
/// A graph that lacks more than one edge in so many nodes is priced again at once.
const LACKING: usize = 64;

/// For how many trees there is time to price them when the ascent is over: most of what the first lacks is found by then.
const LAST_PRICED: u32 = 2;

/// Trees of an ascent, by the number of nodes: more raise the bound of random places by less than a few hundredths of a percent.
pub fn trees_for(n: usize) -> u32 {
    (20_000_000 / n.max(1)).clamp(120, 4000) as u32
}

/// Bytes for each node that has a place: the instance by places, its tree, the lists and the graph that is made of them, and the
/// vectors of the ascent. Measured, less what the instance itself takes.
#[cfg(feature = "cli")]
const A_NODE: usize = 320;

/// Bytes that [`held_karp`] takes beside the instance.
#[cfg(feature = "cli")]
pub(crate) fn memory(instance: &Instance) -> usize {
    A_NODE * instance.len()
}

/// The bound of a symmetric instance by so many trees, or by [`trees_for`] it. The ascent ends after an interrupt, or before the time
/// is up so that there is some left for pricing, which takes as long as some twenty trees where nodes have places. Once it is
/// `enough` all ends, with the best bound until then; none if nothing was priced yet.
///
/// For a number of trees the bound is the same on any number of threads; where the time ends the ascent it is another one every time.
///
/// # Panics
/// If the instance is not symmetric.
pub fn held_karp(instance: &Instance, trees: Option<u32>, stop: &Stop, enough: Enough) -> Option<Bound> {
    assert!(instance.is_symmetric(), "edges have no direction");
    let begin = Instant::now();
    let n = instance.len();
    let done = |length| Bound { length, trees: 0, priced_in: 0, seconds: begin.elapsed().as_secs_f64() };
    if n < 4 {
        let tour: Vec<u32> = (0..n as u32).collect();
        return Some(done(instance.check_tour(&tour).unwrap_or(0)));
    }
    let watch = Watch::new(enough);
    let renumbered = by_place(instance);
    let instance = renumbered.as_ref().unwrap_or(instance);
    // Within the pool of threads, so that work does not have to be handed over to it thousands of times.
    rayon::scope(|_| {
        let lists = quadrant_until(instance, NEIGHBORS.min(n - 1), &|| watch.is_over())?;
        let graph = Graph::new(instance, &lists);
        drop(lists);
        let mut prices = Prices::new(instance, &watch);
        let trees =
            climb(graph, &mut prices, trees.unwrap_or_else(|| trees_for(n)), Deadline { begin, stop });
        // What a price that was cut short proves may be less than nothing; no edge is.
        let length = ((prices.proven?.max(0) + (1 << FRACTION) - 1) >> FRACTION) as i64;
        Some(Bound { trees, priced_in: prices.put_in, ..done(length) })
    })
}

/// The ascent by so many trees at most, and what is priced on its way and behind it; how many trees there were.
fn climb(mut graph: Graph, prices: &mut Prices<'_>, trees: u32, deadline: Deadline<'_>) -> u32 {
    let lacking = graph.len() as usize / LACKING;
    let mut ascent = Ascent::new(&graph, trees);
    let since = deadline.elapsed();
    // What makes the graph connected may be far too long, and steps go by the first bound.
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
        // There was no time at all, but potentials of 0 give a bound, too.
        ascent.advance(&graph, 1.0);
    }
    price::prove(prices, &mut graph, &mut ascent);
    ascent.trees
}

/// The nodes numbered so that those near each other have near numbers, if they have places.
fn by_place(instance: &Instance) -> Option<Instance> {
    let places: Vec<[f64; 3]> = instance.points()?.to_vec();
    instance.renumbered(KdTree::new(&places).items())
}

#[cfg(test)]
mod tests;
