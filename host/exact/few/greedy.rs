//! A tour to begin with.

use super::one_tree::Graph;
use super::state::{Set, nodes_of};

/// Returns a tour that has the forced edges, and then the edges that fit, the lightest first by these potentials, improved by
/// exchanges of two edges. It may have edges that do not exist where there is no other.
pub fn tour(graph: &Graph, potentials: &[i64]) -> Vec<u32> {
    let n = graph.n;
    let mut edges: Vec<(bool, i64, usize, usize)> = Vec::new();
    for a in 0..n {
        for b in nodes_of(graph.usable[a] & ((1 << a) - 1)) {
            let is_free = graph.forced[a] >> b & 1 == 0;
            edges.push((is_free, graph.weight(a, b, potentials), a, b));
        }
    }
    edges.sort_unstable();
    let mut joined: Vec<Set> = vec![0; n];
    // The node at the other end of the path that ends at a node.
    let mut ends: Vec<usize> = (0..n).collect();
    for (.., a, b) in edges {
        if joined[a].count_ones() < 2 && joined[b].count_ones() < 2 && ends[a] != b {
            joined[a] |= 1 << b;
            joined[b] |= 1 << a;
            let (first, last) = (ends[a], ends[b]);
            (ends[first], ends[last]) = (last, first);
        }
    }
    let mut tour: Vec<usize> = Vec::with_capacity(n);
    let mut left = if n == 128 { Set::MAX } else { (1 << n) - 1 };
    while left != 0 {
        // Paths that no edge joins follow each other.
        let is_end = |&node: &usize| joined[node].count_ones() < 2;
        let mut next = nodes_of(left).find(is_end).or_else(|| nodes_of(left).next());
        while let Some(node) = next {
            tour.push(node);
            left &= !(1 << node);
            next = nodes_of(joined[node] & left).next();
        }
    }
    improve(graph, &mut tour);
    tour.into_iter().map(|node| node as u32).collect()
}

/// Exchanges pairs of edges as long as that makes the tour shorter.
fn improve(graph: &Graph, tour: &mut [usize]) {
    let n = graph.n;
    let cost = |a: usize, b: usize| match graph.forced[a] >> b & 1 {
        // Forced edges stay, and edges that do not exist are not made.
        1 => -FAR,
        _ if graph.usable[a] >> b & 1 == 0 => FAR,
        _ => graph.costs[a * n + b],
    };
    let mut is_shorter = n > 3;
    while is_shorter {
        is_shorter = false;
        for i in 0..n - 1 {
            for j in i + 2..n {
                let (a, b, c, d) = (tour[i], tour[i + 1], tour[j], tour[(j + 1) % n]);
                if d != a && cost(a, c) + cost(b, d) < cost(a, b) + cost(c, d) {
                    tour[i + 1..=j].reverse();
                    is_shorter = true;
                }
            }
        }
    }
}

const FAR: i64 = 1 << 56;
