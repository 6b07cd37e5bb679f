//! The sparse graph: some of the edges.

use antwarp_instance::parallel;

use super::super::tree::weight;
use super::costs::Costs;
use super::shifts::Potentials;

/// An edge.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    pub cost: i32,
    pub from: u32,
    pub to: u32,
}

/// A graph that lists each edge at both of its ends.
pub(super) struct Graph {
    begins: Vec<usize>,
    edges: Vec<Edge>,
}

impl Graph {
    /// Creates the graph of these edges.
    pub fn new(costs: &Costs<'_>, edges: &[(u32, u32)]) -> Graph {
        let mut begins = vec![0; costs.len() + 1];
        for end in edges.iter().flat_map(|&(from, to)| [from, to]) {
            begins[end as usize + 1] += 1;
        }
        for node in 0..costs.len() {
            begins[node + 1] += begins[node];
        }
        let mut listed = vec![Edge { cost: 0, from: 0, to: 0 }; 2 * edges.len()];
        let mut next = begins.clone();
        for &(from, to) in edges {
            for end in [from, to] {
                listed[next[end as usize]] = Edge { cost: costs.of(from, to), from, to };
                next[end as usize] += 1;
            }
        }
        Graph { begins, edges: listed }
    }

    /// Returns the numbers of the items in the list of a node.
    #[inline]
    pub fn of_node(&self, node: usize) -> std::ops::Range<usize> {
        self.begins[node]..self.begins[node + 1]
    }

    /// Returns the edge of an item.
    #[inline]
    pub fn edge(&self, item: usize) -> Edge {
        self.edges[item]
    }
}

/// Returns the lightest edges under these potentials, this many at each exit and at each entry; sorted.
pub(super) fn nearest(costs: &Costs<'_>, potentials: &Potentials, count: usize) -> Vec<(u32, u32)> {
    let lightest = |node: usize, row: &[i32], others: &[i64]| -> Vec<u32> {
        let weighed = |other: usize| weight(row[other], 0, others[other]);
        let others = (0..row.len()).filter(|&other| other != node);
        let mut all: Vec<(i64, u32)> = others.map(|other| (weighed(other), other as u32)).collect();
        let count = count.min(all.len());
        if count < all.len() {
            all.select_nth_unstable(count);
        }
        all[..count].iter().map(|&(_, other)| other).collect()
    };
    let of_node = |node: usize| -> Vec<(u32, u32)> {
        let ends = lightest(node, costs.leaving(node), &potentials.entries);
        let starts = lightest(node, costs.entering(node), &potentials.exits);
        let node = node as u32;
        ends.into_iter().map(|to| (node, to)).chain(starts.into_iter().map(|from| (from, node))).collect()
    };
    let mut edges = parallel::collect(costs.len(), &of_node).concat();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Adds edges to sorted ones; returns how many were missing.
pub(super) fn put_in(edges: &mut Vec<(u32, u32)>, more: &[(u32, u32)]) -> usize {
    let before = edges.len();
    edges.extend(more);
    edges.sort_unstable();
    edges.dedup();
    edges.len() - before
}
