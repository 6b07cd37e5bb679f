//! The shortest tour of a few nodes, by dynamic programming over sets of visited nodes (Bellman 1962; Held and Karp 1962).
//!
//! It uses the user's own costs, without any rounding, and supports every variant of the problem: edges with a direction, forbidden
//! pairs, fixed edges, open paths. It finds a tour with the fewest forbidden pairs, and the shortest one of these.

use std::time::Instant;

use super::Solution;
use crate::engine::{Better, StopReason};
use crate::instance::{Ends, Instance};

/// Most nodes of an instance without fixed edges and with closed tours: larger ones are left to the algorithms.
pub const FEW: usize = 12;
/// Most nodes of an instance with fixed edges or of an open path.
pub const FEW_OF_OTHERS: usize = 16;

/// Number of forbidden pairs, then the cost of the other edges.
type Length = (u32, f64);

const NEVER: Length = (u32::MAX, f64::INFINITY);

/// The nodes of an instance, and for an open path one additional node between its end and its start.
struct Graph<'a> {
    instance: &'a Instance,
    ends: Option<Ends>,
    /// Number of nodes, including the additional one.
    n: usize,
    /// From each node to each, n x n.
    lengths: Vec<Length>,
    /// For each node of a symmetric instance, the set of nodes that fixed edges join it with. In a directed one, lengths alone
    /// exclude all other edges.
    partners: Vec<u32>,
}

impl<'a> Graph<'a> {
    fn new(instance: &'a Instance) -> Graph<'a> {
        let ends = instance.ends();
        let n = instance.len() + usize::from(ends.is_some());
        let mut partners = vec![0; n];
        let mut fixed = instance.fixed_edges().to_vec();
        fixed.retain(|(a, b)| a != b);
        for &(a, b) in fixed.iter().filter(|_| instance.is_symmetric()) {
            partners[a as usize] |= 1 << b;
            partners[b as usize] |= 1 << a;
        }
        let mut graph = Graph { instance, ends, n, lengths: Vec::new(), partners };
        graph.lengths = (0..n * n).map(|at| graph.length(at / n, at % n)).collect();
        for (a, b) in fixed.into_iter().filter(|_| !instance.is_symmetric()) {
            graph.fix(a as usize, b as usize);
        }
        graph
    }

    /// Excludes all other edges from one node, and all others to the other.
    fn fix(&mut self, from: usize, to: usize) {
        for node in 0..self.n {
            if node != to {
                self.lengths[from * self.n + node] = NEVER;
            }
            if node != from {
                self.lengths[node * self.n + to] = NEVER;
            }
        }
    }

    fn length(&self, from: usize, to: usize) -> Length {
        let Ends { start, end } = self.ends.unwrap_or_default();
        let (between, is) =
            (self.instance.len(), |end: Option<u32>, node| end.is_none_or(|end| end as usize == node));
        match (from, to) {
            _ if from == between && to == between => NEVER,
            _ if from == between => {
                if is(start, to) {
                    (0, 0.0)
                } else {
                    NEVER
                }
            }
            _ if to == between => {
                if is(end, from) {
                    (0, 0.0)
                } else {
                    NEVER
                }
            }
            _ if self.instance.is_forbidden(from as u32, to as u32) => (1, 0.0),
            _ => (0, self.instance.edge_cost(from as u32, to as u32)),
        }
    }

    /// Returns the node where tours start: the one with the fewest fixed edges.
    fn first(&self) -> usize {
        let ends = self.ends.map(|_| self.instance.len());
        ends.unwrap_or_else(|| (0..self.n).min_by_key(|&node| self.partners[node].count_ones()).unwrap_or(0))
    }

    /// Returns whether a path over the nodes of `visited`, which ends at `from`, may go on to a node and still use all fixed edges.
    fn may_go(&self, (first, visited): (usize, u32), from: usize, to: usize) -> bool {
        let (only, all) = (visited.count_ones() == 1, visited.count_ones() as usize + 1 == self.n);
        // An edge that is fixed at the first node is the path's first or its last.
        if self.partners[first] >> to & 1 == 1 && !only && !all {
            return false;
        }
        let open = self.partners[from] & !visited;
        only || open == 0 || open == 1 << to
    }

    /// Returns whether a path over all nodes may end there.
    fn may_end(&self, first: usize, last: usize, second: usize) -> bool {
        let ends = 1 << last | 1 << second;
        self.partners[first] & !ends == 0
    }
}

fn joined(a: Length, b: Length) -> Length {
    (a.0.saturating_add(b.0), a.1 + b.1)
}

fn is_less(a: Length, b: Length) -> bool {
    a.0 < b.0 || a.0 == b.0 && a.1 < b.1
}

/// Returns the shortest tour, which may have forbidden pairs; `None` if no tour has all fixed edges.
pub(super) fn shortest(instance: &Instance) -> Option<Vec<u32>> {
    let graph = Graph::new(instance);
    let (n, first) = (graph.n, graph.first());
    if n <= 2 {
        return Some((0..instance.len() as u32).collect());
    }
    // The second and last nodes decide whether fixed edges at the first one are used, so there is a table for each second node.
    let seconds: Vec<Option<usize>> = match graph.partners[first] {
        0 => vec![None],
        _ => (0..n).filter(|&node| node != first).map(Some).collect(),
    };
    let found = seconds.into_iter().filter_map(|second| through(&graph, first, second));
    let (_, mut tour) = found.reduce(|best, other| if is_less(other.0, best.0) { other } else { best })?;
    if graph.ends.is_some() {
        tour.retain(|&node| node as usize != instance.len());
    }
    Some(tour)
}

/// Returns the shortest tour from the first node, going to `second` next if that is given.
fn through(graph: &Graph<'_>, first: usize, second: Option<usize>) -> Option<(Length, Vec<u32>)> {
    let n = graph.n;
    let mut ways = vec![(NEVER, u8::MAX); n << n];
    ways[(1 << first) * n + first] = ((0, 0.0), first as u8);
    for visited in 0..1_u32 << n {
        for from in (0..n).filter(|&from| visited >> from & 1 == 1) {
            let (way, _) = ways[visited as usize * n + from];
            if way == NEVER {
                continue;
            }
            let is_second = |to: usize| visited.count_ones() > 1 || second.is_none_or(|second| second == to);
            for to in (0..n).filter(|&to| visited >> to & 1 == 0 && is_second(to)) {
                let longer = joined(way, graph.lengths[from * n + to]);
                let known = &mut ways[(visited as usize | 1 << to) * n + to];
                if is_less(longer, known.0) && graph.may_go((first, visited), from, to) {
                    *known = (longer, from as u8);
                }
            }
        }
    }
    let all = (1_usize << n) - 1;
    let mut best = (NEVER, first);
    for last in (0..n).filter(|&last| last != first) {
        let length = joined(ways[all * n + last].0, graph.lengths[last * n + first]);
        let is_allowed = second.is_none_or(|second| graph.may_end(first, last, second));
        if is_allowed && is_less(length, best.0) {
            best = (length, last);
        }
    }
    if best.0.0 == u32::MAX {
        return None;
    }
    let (mut visited, mut node, mut tour) = (all, best.1, Vec::new());
    while node != first {
        tour.push(node as u32);
        let before = ways[visited * n + node].1;
        visited &= !(1 << node);
        node = before as usize;
    }
    tour.push(first as u32);
    tour.reverse();
    Some((best.0, tour))
}

/// Returns the solution of a run with this tour, which is proven to be the shortest.
pub(super) fn solution(instance: &Instance, tour: Vec<u32>, begin: Instant) -> Solution {
    let cost = instance.check_tour(&tour).unwrap_or(i64::MAX);
    let seconds = begin.elapsed().as_secs_f64();
    Solution {
        cost,
        tour,
        iterations: 0,
        best_iteration: 0,
        seconds,
        setup_seconds: 0.0,
        tours: 0,
        stopped_by: StopReason::Optimal,
        layout: "dynamic programming over all tours".to_string(),
        trace: vec![Better { seconds, cost, part: "exact" }],
        failure: None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the best of all orders, by definition.
    fn by_definition(instance: &Instance) -> Option<(usize, f64)> {
        let n = instance.len() as u32;
        let mut best: Option<(usize, f64)> = None;
        let mut order: Vec<u32> = (0..n).collect();
        permute(&mut order, 0, &mut |tour| {
            let ends = instance.ends();
            let is_end = |end: Option<u32>, node: u32| end.is_none_or(|end| end == node);
            let fits =
                ends.is_none_or(|ends| is_end(ends.start, tour[0]) && is_end(ends.end, tour[n as usize - 1]));
            if !fits || instance.unused_fixed_edge(tour).is_some() {
                return;
            }
            let found = (instance.forbidden_steps(tour).len(), instance.tour_cost(tour).as_f64());
            if best.is_none_or(|best| found.0 < best.0 || found.0 == best.0 && found.1 < best.1) {
                best = Some(found);
            }
        });
        best
    }

    fn permute(order: &mut Vec<u32>, at: usize, look: &mut dyn FnMut(&[u32])) {
        if at == order.len() {
            return look(order);
        }
        for i in at..order.len() {
            order.swap(at, i);
            permute(order, at + 1, look);
            order.swap(at, i);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn every_variant_is_solved(
            n in 1_usize..7,
            costs in prop::collection::vec(prop_oneof![6 => (-9..99).prop_map(f64::from), 1 => Just(f64::INFINITY), 1 => 0.0..1.0], 36),
            is_directed: bool,
            ends in prop::option::of((prop::option::of(0_u32..6), prop::option::of(0_u32..6))),
            fixed in prop::collection::vec((0_u32..6, 0_u32..6), 0..3),
        ) {
            let cost = |i: usize, j: usize| if is_directed { costs[i * n + j] } else { costs[i.min(j) * n + i.max(j)] };
            let matrix: Vec<f64> = (0..n * n).map(|at| cost(at / n, at % n)).collect();
            let Ok(mut instance) = Instance::from_costs("few", matrix) else { return Ok(()) };
            let m = n as u32;
            if let Some((start, end)) = ends {
                let ends = Ends { start: start.map(|node| node % m), end: end.map(|node| node % m) };
                if ends.start.is_none() || ends.start != ends.end {
                    instance = instance.with_ends(Some(ends));
                }
            }
            let fixed: Vec<_> = fixed.into_iter().map(|(a, b)| (a % m, b % m)).filter(|(a, b)| a != b).collect();
            let instance = instance.with_fixed_edges(fixed);
            let expected = by_definition(&instance);
            let tour = shortest(&instance);
            prop_assert_eq!(tour.is_some(), expected.is_some());
            if let (Some(tour), Some((forbidden, cost))) = (tour, expected) {
                prop_assert!(instance.check_tour(&tour).is_ok());
                prop_assert_eq!(instance.unused_fixed_edge(&tour), None);
                prop_assert_eq!(instance.forbidden_steps(&tour).len(), forbidden);
                prop_assert!((instance.tour_cost(&tour).as_f64() - cost).abs() < 1e-9);
            }
        }
    }
}
