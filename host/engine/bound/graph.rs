//! The sparse graph: the edges of neighbour lists, undirected.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use antwarp_instance::{Instance, NeighborLists};

/// An edge, seen from one of its ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arc {
    pub length: i32,
    pub to: u32,
}

/// A connected graph over the nodes of an instance; the edges of each node are sorted by length.
pub(super) struct Graph {
    begins: Vec<usize>,
    arcs: Vec<Arc>,
}

impl Graph {
    /// Creates the graph of the edges to listed neighbours, plus edges between nodes with successive numbers that make it
    /// connected.
    pub fn new(instance: &Instance, lists: &NeighborLists) -> Graph {
        let n = instance.len() as u32;
        let mut edges: Vec<(u32, u32)> = (0..n)
            .into_par_iter()
            .flat_map_iter(|i| {
                let mutual = move |j: u32| lists.of(j).contains(&i);
                // An edge listed by both ends is taken from the smaller one.
                lists.of(i).iter().filter(move |&&j| i < j || !mutual(j)).map(move |&j| (i, j))
            })
            .collect();
        let mut joined: Vec<u32> = (0..n).collect();
        for &(a, b) in &edges {
            join(&mut joined, a, b);
        }
        edges.extend((1..n).map(|i| (i - 1, i)).filter(|&(a, b)| join(&mut joined, a, b)));
        Graph::of(instance, &edges)
    }

    /// Returns the graph with more edges, none of which it already has.
    pub fn with(&self, instance: &Instance, more: &[(u32, u32)]) -> Graph {
        let own = (0..self.len()).flat_map(|i| self.of_node(i).iter().map(move |arc| (i, arc.to)));
        let edges: Vec<(u32, u32)> = own.filter(|&(a, b)| a < b).chain(more.iter().copied()).collect();
        Graph::of(instance, &edges)
    }

    fn of(instance: &Instance, edges: &[(u32, u32)]) -> Graph {
        let n = instance.len();
        let cursors: Vec<AtomicU32> = (0..n).map(|_| AtomicU32::new(0)).collect();
        edges.par_iter().for_each(|&(a, b)| {
            for end in [a, b] {
                cursors[end as usize].fetch_add(1, Ordering::Relaxed);
            }
        });
        let mut begins = Vec::with_capacity(n + 1);
        begins.push(0);
        for cursor in &cursors {
            begins.push(begins[begins.len() - 1] + cursor.load(Ordering::Relaxed) as usize);
        }
        let mut arcs = vec![Arc::default(); 2 * edges.len()];
        {
            let mut rows: Vec<&mut [Arc]> = Vec::with_capacity(n);
            let mut rest = &mut arcs[..];
            for row in begins.windows(2) {
                let (first, others) = rest.split_at_mut(row[1] - row[0]);
                rows.push(first);
                rest = others;
            }
            let mut filled = vec![0_usize; n];
            for &(a, b) in edges {
                let length = instance.distance(a, b);
                for (from, to) in [(a, b), (b, a)] {
                    rows[from as usize][filled[from as usize]] = Arc { length, to };
                    filled[from as usize] += 1;
                }
            }
            rows.par_iter_mut().for_each(|row| row.sort_unstable());
        }
        Graph { begins, arcs }
    }

    pub fn len(&self) -> u32 {
        self.begins.len() as u32 - 1
    }

    /// Returns the edges of a node.
    #[inline]
    pub fn of_node(&self, node: u32) -> &[Arc] {
        &self.arcs[self.begins[node as usize]..self.begins[node as usize + 1]]
    }
}

/// Joins the components of two nodes; returns whether they were different.
fn join(joined: &mut [u32], a: u32, b: u32) -> bool {
    let mut root = |mut node: u32| {
        while joined[node as usize] != node {
            joined[node as usize] = joined[joined[node as usize] as usize];
            node = joined[node as usize];
        }
        node
    };
    let (a, b) = (root(a), root(b));
    joined[a.max(b) as usize] = a.min(b);
    a != b
}
