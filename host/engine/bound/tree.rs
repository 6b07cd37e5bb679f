//! Minimum spanning trees and 1-trees under potentials, by Borůvka's algorithm on all threads.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::graph::Graph;

/// Potentials are in units of 2 to the power of minus this, relative to a distance of 1.
pub(super) const FRACTION: u32 = 8;
/// Minimum number of nodes per thread.
pub(super) const GRAIN: usize = 2048;
const NOBODY: u32 = u32::MAX;

/// Returns the weight of an edge: its length, plus the potentials of its ends.
#[inline]
pub(super) fn weight(length: i32, a: i64, b: i64) -> i64 {
    (i64::from(length) << FRACTION) + a + b
}

/// A node whose lightest edge leaving its part of the forest may still belong to the tree.
#[derive(Clone, Copy)]
struct Open {
    weight: i64,
    node: u32,
    to: u32,
}

/// A part of the forest that is joined to another one by its lightest edge.
struct Hook {
    own: u32,
    other: u32,
    ends: u64,
    weight: i64,
}

/// Finds minimum spanning trees of a graph, repeatedly. Of edges with equal weight, the one with smaller ends counts as lighter, so
/// the tree is unique and does not depend on threads.
pub(super) struct Spanner {
    /// For each node, another node of its part of the forest, on the path to the part's leader.
    leaders: Vec<AtomicU32>,
    /// For each leader: the weight of the lightest edge leaving its part, ordered as unsigned numbers, and the ends of that edge.
    lightest: Vec<AtomicU64>,
    ends: Vec<AtomicU64>,
    open: Vec<Open>,
    /// The leaders of the parts.
    leading: Vec<u32>,
    hooks: Vec<Hook>,
    /// The ends of the tree's edges, and their total weight.
    pub edges: Vec<(u32, u32)>,
    total: i128,
    /// The number of edges of each node in the tree.
    pub degrees: Vec<AtomicU32>,
}

/// A minimum 1-tree: a spanning tree with one more edge at one of its leaves.
pub(super) struct OneTree {
    pub leaf: u32,
    pub other: u32,
    /// Its weight minus twice the potentials, in the units of potentials: no tour is shorter.
    pub value: i128,
}

fn ordered(weight: i64) -> u64 {
    weight as u64 ^ 1 << 63
}

fn unordered(weight: u64) -> i64 {
    (weight ^ 1 << 63) as i64
}

fn ends(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

/// Does the same as [`Vec::retain`], on all threads.
fn keep<T: Copy + Send + Sync>(items: &mut Vec<T>, is_kept: impl Fn(&T) -> bool + Sync) {
    const PART: usize = 1 << 15;
    let sort = |part: &mut [T]| {
        let mut kept = 0;
        for i in 0..part.len() {
            let item = part[i];
            part[kept] = item;
            kept += usize::from(is_kept(&item));
        }
        kept
    };
    let kept: Vec<usize> = items.par_chunks_mut(PART).map(sort).collect();
    let mut end = 0;
    for (part, kept) in kept.into_iter().enumerate() {
        if part * PART != end {
            items.copy_within(part * PART..part * PART + kept, end);
        }
        end += kept;
    }
    items.truncate(end);
}

impl Spanner {
    pub fn new(n: usize) -> Spanner {
        Spanner {
            leaders: (0..n).map(|_| AtomicU32::new(0)).collect(),
            lightest: (0..n).map(|_| AtomicU64::new(0)).collect(),
            ends: (0..n).map(|_| AtomicU64::new(0)).collect(),
            open: Vec::with_capacity(n),
            leading: Vec::with_capacity(n),
            hooks: Vec::with_capacity(n),
            edges: Vec::with_capacity(n),
            total: 0,
            degrees: (0..n).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// Returns the leader of the part that contains a node.
    #[inline]
    fn leader(&self, node: u32) -> u32 {
        let first = self.leaders[node as usize].load(Relaxed);
        let mut leader = first;
        loop {
            let next = self.leaders[leader as usize].load(Relaxed);
            if next == leader {
                break;
            }
            leader = next;
        }
        let (mut at, mut next) = (node, first);
        while next != leader {
            self.leaders[at as usize].store(leader, Relaxed);
            at = next;
            next = self.leaders[at as usize].load(Relaxed);
        }
        leader
    }

    /// Finds the minimum spanning tree.
    ///
    /// # Panics
    /// If the graph is not connected.
    pub fn span(&mut self, graph: &Graph, potentials: &[i64]) {
        let n = graph.len();
        let all = (0..n).into_par_iter().with_min_len(GRAIN);
        all.clone().for_each(|i| {
            self.leaders[i as usize].store(i, Relaxed);
            self.lightest[i as usize].store(u64::MAX, Relaxed);
            self.ends[i as usize].store(u64::MAX, Relaxed);
            self.degrees[i as usize].store(0, Relaxed);
        });
        let mut open = std::mem::take(&mut self.open);
        all.clone().map(|node| Open { weight: 0, node, to: NOBODY }).collect_into_vec(&mut open);
        self.edges.clear();
        self.total = 0;
        all.collect_into_vec(&mut self.leading);
        while self.leading.len() > 1 {
            self.find_lightest(graph, potentials, &mut open);
            self.join();
        }
        self.open = open;
        self.edges.par_iter().with_min_len(GRAIN).for_each(|&(a, b)| {
            self.degrees[a as usize].fetch_add(1, Relaxed);
            self.degrees[b as usize].fetch_add(1, Relaxed);
        });
    }

    /// Returns the total weight of the tree's edges.
    #[cfg(test)]
    pub fn total(&self) -> i128 {
        self.total
    }

    /// Records the lightest edge leaving each part.
    fn find_lightest(&self, graph: &Graph, potentials: &[i64], open: &mut Vec<Open>) {
        open.par_iter_mut().with_min_len(GRAIN).for_each(|open| {
            let own = self.leader(open.node);
            if open.to == NOBODY || self.leader(open.to) == own {
                open.to = NOBODY;
                let mut best = (i64::MAX, u64::MAX);
                let potential = potentials[open.node as usize];
                for arc in graph.of_node(open.node) {
                    let found = weight(arc.length, potential, potentials[arc.to as usize]);
                    if found > best.0 || self.leader(arc.to) == own {
                        continue;
                    }
                    let found = (found, ends(open.node, arc.to));
                    if found < best {
                        best = found;
                        open.to = arc.to;
                    }
                }
                open.weight = best.0;
            }
            if open.to != NOBODY {
                let lightest = &self.lightest[own as usize];
                let weight = ordered(open.weight);
                if weight < lightest.load(Relaxed) {
                    lightest.fetch_min(weight, Relaxed);
                }
            }
        });
        keep(open, |open| open.to != NOBODY);
        open.par_iter().with_min_len(GRAIN).for_each(|open| {
            let own = self.leader(open.node) as usize;
            if ordered(open.weight) == self.lightest[own].load(Relaxed) {
                self.ends[own].fetch_min(ends(open.node, open.to), Relaxed);
            }
        });
    }

    /// Adds the lightest edges leaving all parts to the tree.
    fn join(&mut self) {
        let mut hooks = std::mem::take(&mut self.hooks);
        let hook = |&own: &u32| {
            let ends = self.ends[own as usize].load(Relaxed);
            assert!(ends != u64::MAX, "the graph is connected");
            let (a, b) = (self.leader((ends >> 32) as u32), self.leader(ends as u32));
            Hook { own, other: if a == own { b } else { a }, ends, weight: 0 }
        };
        self.leading.par_iter().with_min_len(GRAIN).map(hook).collect_into_vec(&mut hooks);
        hooks.par_iter_mut().with_min_len(GRAIN).for_each(|hook| {
            // If two parts have the same lightest edge, the smaller leader leads both.
            if hook.own < hook.other && self.ends[hook.other as usize].load(Relaxed) == hook.ends {
                hook.other = NOBODY;
            } else {
                self.leaders[hook.own as usize].store(hook.other, Relaxed);
                hook.weight = unordered(self.lightest[hook.own as usize].load(Relaxed));
            }
        });
        hooks.par_iter().with_min_len(GRAIN).for_each(|hook| {
            self.leader(hook.own);
            self.lightest[hook.own as usize].store(u64::MAX, Relaxed);
            self.ends[hook.own as usize].store(u64::MAX, Relaxed);
        });
        // One thread streams through this faster than many threads could allocate memory for it.
        self.leading.clear();
        for hook in &hooks {
            if hook.other == NOBODY {
                self.leading.push(hook.own);
            } else {
                self.edges.push(((hook.ends >> 32) as u32, hook.ends as u32));
                self.total += i128::from(hook.weight);
            }
        }
        self.hooks = hooks;
    }

    /// Adds the second lightest edge of a leaf to the tree found by [`Spanner::span`], using the leaf where that edge is heaviest.
    pub fn one_tree(&mut self, graph: &Graph, potentials: &[i64]) -> OneTree {
        let second = |node: u32| {
            if self.degrees[node as usize].load(Relaxed) != 1 {
                return None;
            }
            let (mut first, mut second) = ((i64::MAX, u64::MAX, 0), (i64::MAX, u64::MAX, 0));
            for arc in graph.of_node(node) {
                let found = weight(arc.length, potentials[node as usize], potentials[arc.to as usize]);
                let found = (found, ends(node, arc.to), arc.to);
                if found < first {
                    (second, first) = (first, found);
                } else if found < second {
                    second = found;
                }
            }
            (second.0 < i64::MAX).then_some((second.0, node, second.2))
        };
        let all = (0..graph.len()).into_par_iter().with_min_len(GRAIN);
        let (weight, leaf, other) =
            all.filter_map(second).max().expect("nodes have at least two edges in the graph");
        for end in [leaf, other] {
            *self.degrees[end as usize].get_mut() += 1;
        }
        self.edges.push((leaf, other));
        let potentials: i128 = potentials.par_iter().with_min_len(GRAIN).map(|&p| i128::from(p)).sum();
        OneTree { leaf, other, value: self.total + i128::from(weight) - 2 * potentials }
    }
}
