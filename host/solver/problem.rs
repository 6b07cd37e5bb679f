//! An instance as the backends see it: nodes renumbered along a short tour, candidate lists, distances.
//!
//! Ants visit near nodes one after the other. Numbered along the nearest-neighbour tour, near nodes have near
//! numbers: a bitmask's groups fill up early, and the weights that a step reads share cache lines.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use antwarp_core::distance::Distances;
use antwarp_core::kernels::BY_MATRIX;
use antwarp_core::metric::Metric;

use crate::instance::Instance;
use crate::instance::nearest;

/// Neighbours that the nearest-neighbour tour looks at before it looks at all nodes.
const NEAR: usize = 16;
/// Neighbours of a node in its candidate list and its reserve together: enough for nine in ten of the ants that find
/// no open candidate.
const LISTED: usize = 256;
/// Ids that all lists may have together; beyond some 131,000 nodes there are fewer reserves, for finding them takes
/// longer than they save in a short run.
const MOST_IDS: usize = 1 << 25;

/// See the [module](self).
pub struct Problem {
    order: Vec<u32>,
    points: Vec<[f64; 3]>,
    matrix: Vec<i32>,
    metric: Option<Metric>,
    directed: bool,
    k: u32,
    lists: Vec<u32>,
    reserve: u32,
    reserves: Vec<u32>,
    unit_cost: i64,
}

impl Problem {
    /// Prepares an instance with `k` candidates a node, or all of them.
    pub fn new(instance: &Instance, k: Option<u32>) -> Problem {
        let n = instance.len();
        let most = n.saturating_sub(1);
        let wanted = k.map_or(0, |k| (k as usize).min(most));
        let listed = if wanted == 0 { 0 } else { wanted.max(LISTED.min(MOST_IDS / n).min(most)) };
        let near = nearest(instance, listed.max(NEAR.min(most)));
        let order = nearest_neighbor_tour(instance, &near.ids, near.k);
        let mut place = vec![0u32; n];
        for (i, &v) in order.iter().enumerate() {
            place[v as usize] = i as u32;
        }
        let rows = |from: usize, to: usize| -> Vec<u32> {
            let row = |&v: &u32| near.ids[v as usize * near.k..][from..to].iter().map(|&u| place[u as usize]);
            order.iter().flat_map(row).collect()
        };
        let (lists, reserves) = (rows(0, wanted), rows(wanted, listed));
        let unit_cost = instance.check_tour(&order).unwrap_or(1);
        let points =
            instance.points().map_or_else(Vec::new, |p| order.iter().map(|&v| p[v as usize]).collect());
        let row = |i: u32| order.iter().map(move |&j| instance.distance(i, j));
        let matrix =
            instance.matrix().map_or_else(Vec::new, |_| order.iter().flat_map(|&i| row(i)).collect());
        Problem {
            points,
            matrix,
            metric: instance.metric(),
            directed: !instance.is_symmetric(),
            k: wanted as u32,
            lists,
            reserve: (listed - wanted) as u32,
            reserves,
            unit_cost,
            order,
        }
    }

    /// Number of nodes.
    pub fn n(&self) -> u32 {
        self.order.len() as u32
    }

    /// Candidates of a node; 0: all nodes are candidates.
    pub fn k(&self) -> u32 {
        self.k
    }

    /// The candidate lists, n x k, nearest first; empty where all nodes are candidates.
    pub fn lists(&self) -> &[u32] {
        &self.lists
    }

    /// Nodes in reserve for a node, behind its candidates.
    pub fn reserve(&self) -> u32 {
        self.reserve
    }

    /// The neighbours behind the candidates, n x [`Problem::reserve`], nearest first.
    pub fn reserves(&self) -> &[u32] {
        &self.reserves
    }

    /// Length of the nearest-neighbour tour.
    pub fn unit_cost(&self) -> i64 {
        self.unit_cost
    }

    /// The mean edge of the nearest-neighbour tour: heuristic values are in units of it.
    pub fn scale(&self) -> f32 {
        (self.unit_cost.max(1) as f64 / self.n() as f64) as f32
    }

    /// Whether edges have a direction.
    pub fn is_directed(&self) -> bool {
        self.directed
    }

    /// The coordinates, if distances come from them.
    pub fn points(&self) -> &[[f64; 3]] {
        &self.points
    }

    /// The distance matrix, if distances come from it.
    pub fn matrix(&self) -> &[i32] {
        &self.matrix
    }

    /// The distance function, if there is one.
    pub fn metric(&self) -> Option<Metric> {
        self.metric
    }

    /// The metric's number for kernels; [`BY_MATRIX`] where a kernel cannot compute it.
    pub fn device_metric(&self) -> u32 {
        self.metric.filter(|m| m.is_algebraic()).map_or(BY_MATRIX, |m| m as u32)
    }

    /// Distances for code on the CPU.
    pub fn distances(&self) -> Distances {
        Distances {
            matrix: self.matrix.as_ptr(),
            points: self.points.as_ptr(),
            metric: self.metric,
            n: self.n(),
        }
    }

    /// A tour in the instance's numbering.
    pub fn original(&self, tour: &[u32]) -> Vec<u32> {
        tour.iter().map(|&v| self.order[v as usize]).collect()
    }

    /// The nearest-neighbour tour in the instance's numbering.
    pub fn start_tour(&self) -> &[u32] {
        &self.order
    }
}

/// Unvisited nodes up to which they are all looked at for the nearest one.
const FEW: usize = 1 << 17;

/// The tour that goes from node 0 always to the nearest unvisited node; among equally near ones to that with the
/// smallest number. While more than [`FEW`] are unvisited and no neighbour is, a search through the neighbours'
/// neighbours finds one that is near, though not always the nearest.
fn nearest_neighbor_tour(instance: &Instance, lists: &[u32], k: usize) -> Vec<u32> {
    let n = instance.len();
    let mut unvisited = Unvisited::new(n);
    let mut search = Search { stamps: vec![0; n], searches: 0, open: BinaryHeap::new() };
    let mut tour = Vec::with_capacity(n);
    let mut node = 0;
    loop {
        tour.push(node);
        unvisited.remove(node);
        if unvisited.nodes.is_empty() {
            return tour;
        }
        let near = || lists[node as usize * k..][..k].iter().copied().find(|&v| unvisited.contains(v));
        let mut around = || {
            let many = unvisited.nodes.len() > FEW;
            if many { search.run(instance, lists, k, &unvisited, node) } else { None }
        };
        let all = || {
            let nearest = unvisited.nodes.iter().min_by_key(|&&v| (instance.distance(node, v), v));
            nearest.copied().unwrap_or(0)
        };
        node = near().or_else(&mut around).unwrap_or_else(all);
    }
}

/// The unvisited nodes, and everyone's place among them.
struct Unvisited {
    nodes: Vec<u32>,
    places: Vec<u32>,
}

impl Unvisited {
    fn new(n: usize) -> Self {
        Unvisited { nodes: (0..n as u32).collect(), places: (0..n as u32).collect() }
    }

    fn contains(&self, v: u32) -> bool {
        self.places[v as usize] != u32::MAX
    }

    fn remove(&mut self, v: u32) {
        let place = std::mem::replace(&mut self.places[v as usize], u32::MAX);
        self.nodes.swap_remove(place as usize);
        if let Some(&moved) = self.nodes.get(place as usize) {
            self.places[moved as usize] = place;
        }
    }
}

/// A search outwards from a node, nearest first, along the neighbour lists.
struct Search {
    /// The number of the search that met a node last.
    stamps: Vec<u32>,
    searches: u32,
    open: BinaryHeap<Reverse<(i32, u32)>>,
}

impl Search {
    /// The first unvisited node that a search from `node` comes to; `None` if its lists lead to none.
    fn run(
        &mut self,
        instance: &Instance,
        lists: &[u32],
        k: usize,
        unvisited: &Unvisited,
        node: u32,
    ) -> Option<u32> {
        self.searches += 1;
        self.open.clear();
        let mut from = node;
        loop {
            for &v in &lists[from as usize * k..][..k] {
                if std::mem::replace(&mut self.stamps[v as usize], self.searches) != self.searches {
                    self.open.push(Reverse((instance.distance(node, v), v)));
                }
            }
            let Reverse((_, nearest)) = self.open.pop()?;
            if unvisited.contains(nearest) {
                return Some(nearest);
            }
            from = nearest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::generate;

    #[test]
    fn the_start_tour_goes_to_the_nearest_node() {
        let instance = generate::uniform(300, 7).unwrap();
        let near = nearest(&instance, 5);
        let tour = nearest_neighbor_tour(&instance, &near.ids, near.k);
        assert!(instance.check_tour(&tour).is_ok());
        for (i, step) in tour.windows(2).enumerate() {
            let nearest = tour[i + 1..].iter().map(|&v| instance.distance(step[0], v)).min();
            assert_eq!(Some(instance.distance(step[0], step[1])), nearest, "step {i}");
        }
    }

    #[test]
    fn the_search_finds_an_unvisited_node_or_says_that_there_is_none() {
        let instance = generate::uniform(200, 3).unwrap();
        let near = nearest(&instance, 6);
        let mut unvisited = Unvisited::new(200);
        let mut search = Search { stamps: vec![0; 200], searches: 0, open: BinaryHeap::new() };
        for v in 0..200 {
            unvisited.remove(v);
            let found = search.run(&instance, &near.ids, near.k, &unvisited, v);
            assert!(found.is_none_or(|f| unvisited.contains(f)), "{v}: {found:?}");
            assert!(found.is_some() || v > 100, "{v} leads nowhere");
        }
        assert_eq!(search.run(&instance, &near.ids, near.k, &unvisited, 0), None);
    }
}
