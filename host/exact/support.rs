//! The edges of a fractional solution.

use std::sync::Arc;

use crate::Cut;

/// A graph of nodes and the edges between them that a solution of the linear program uses: those with `x > 0`.
#[derive(Clone, Debug)]
pub struct Support {
    /// For each node and one more, where its neighbours start.
    starts: Vec<u32>,
    /// Neighbours and the value of the edge to each.
    neighbors: Vec<(u32, f64)>,
}

impl Support {
    /// Makes the graph of these edges `(a, b, x)`, each given once, on `n` nodes. Edges of a value up to `1e-7` are left out.
    pub fn new(n: usize, edges: impl Iterator<Item = (u32, u32, f64)> + Clone) -> Support {
        let edges = edges.filter(|&(_, _, x)| x > TINY);
        let mut starts = vec![0; n + 1];
        for (a, b, _) in edges.clone() {
            starts[a as usize + 1] += 1;
            starts[b as usize + 1] += 1;
        }
        for node in 0..n {
            starts[node + 1] += starts[node];
        }
        let mut ends = starts.clone();
        let mut neighbors = vec![(0, 0.0); starts[n] as usize];
        for (a, b, x) in edges {
            for (from, to) in [(a, b), (b, a)] {
                neighbors[ends[from as usize] as usize] = (to, x);
                ends[from as usize] += 1;
            }
        }
        Support { starts, neighbors }
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the neighbours of a node, each with the value of the edge.
    pub fn neighbors(&self, node: u32) -> &[(u32, f64)] {
        &self.neighbors[self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize]
    }

    /// Returns the sum of the values of all edges at a node.
    pub fn degree(&self, node: u32) -> f64 {
        self.neighbors(node).iter().map(|edge| edge.1).sum()
    }

    /// Returns the value of an edge; 0 if the solution does not use it.
    pub fn value(&self, a: u32, b: u32) -> f64 {
        self.neighbors(a).iter().find(|edge| edge.0 == b).map_or(0.0, |edge| edge.1)
    }

    /// Returns the sum of the values of the edges with one end in a sorted set.
    pub fn border(&self, set: &[u32]) -> f64 {
        let outside = |&node: &u32| {
            let edges = self.neighbors(node).iter().filter(|edge| set.binary_search(&edge.0).is_err());
            edges.map(|edge| edge.1).sum::<f64>()
        };
        set.iter().map(outside).sum()
    }

    /// Returns those of these sets with several nodes whose borders have at most the value 2, up to `1e-6`: each once, ascending.
    pub fn tight(&self, sets: impl Iterator<Item = Arc<[u32]>>) -> Vec<Arc<[u32]>> {
        let mut sets: Vec<Arc<[u32]>> = sets.filter(|set| set.len() > 1).collect();
        sets.sort_unstable();
        sets.dedup();
        let mut borders = Borders::new(self);
        sets.retain(|set| borders.of(set) < 2.0 + TIGHT);
        sets
    }

    /// Returns by how much the solution violates a cut; negative if it does not.
    pub fn violation(&self, cut: &Cut) -> f64 {
        cut.right_side() as f64 - cut.sets().iter().map(|set| self.border(set)).sum::<f64>()
    }

    /// Returns those of these cuts that the solution violates most, at most `most` of them and then in this order. In large instances
    /// violations count as parts of right sides: a cut of few sets makes the linear program less slow.
    pub fn most_violated(&self, mut cuts: Vec<Arc<Cut>>, most: usize) -> Vec<Arc<Cut>> {
        if cuts.len() > most {
            let mut borders = Borders::new(self);
            let is_large = self.len() >= LARGE;
            let unit = |cut: &Cut| if is_large { cut.right_side() as f64 } else { 1.0 };
            cuts.sort_by_cached_key(|cut| (-borders.violation(cut) / unit(cut) * VIOLATION) as i64);
            cuts.truncate(most);
        }
        cuts
    }

    /// Returns all edges, each once, with the lower node first.
    pub fn edges(&self) -> impl Iterator<Item = (u32, u32, f64)> {
        (0..self.len() as u32).flat_map(|a| {
            self.neighbors(a).iter().filter(move |edge| edge.0 > a).map(move |&(b, x)| (a, b, x))
        })
    }
}

/// Measures the borders of many sets: faster than [`Support::border`] unless they are small.
pub struct Borders<'a> {
    support: &'a Support,
    is_inside: Vec<bool>,
}

impl Borders<'_> {
    /// Makes the memory for the sets of a graph.
    pub fn new(support: &Support) -> Borders<'_> {
        Borders { support, is_inside: vec![false; support.len()] }
    }

    /// Returns the sum of the values of the edges with one end in a set of different nodes, in any order.
    pub fn of(&mut self, set: &[u32]) -> f64 {
        set.iter().for_each(|&node| self.is_inside[node as usize] = true);
        let edges = set.iter().flat_map(|&node| self.support.neighbors(node));
        let border = edges.filter(|edge| !self.is_inside[edge.0 as usize]).map(|edge| edge.1).sum();
        set.iter().for_each(|&node| self.is_inside[node as usize] = false);
        border
    }

    /// Returns by how much the solution violates a cut; negative if it does not.
    pub fn violation(&mut self, cut: &Cut) -> f64 {
        cut.right_side() as f64 - cut.sets().iter().map(|set| self.of(set)).sum::<f64>()
    }
}

/// From this many nodes on, linear programs take most of the time of a root.
pub(crate) const LARGE: usize = 1000;
/// Smaller values are 0.
const TINY: f64 = 1e-7;
/// Violations are compared in steps of one divided by this.
const VIOLATION: f64 = 1e6;
/// Borders that exceed 2 by less have the value 2.
const TIGHT: f64 = 1e-6;
