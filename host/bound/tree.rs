//! Minimum spanning trees and 1-trees under potentials, by Borůvka's algorithm on all threads.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::graph::Graph;

/// Potentials are in units of this share of a distance of 1: 2 to the power of it.
pub(super) const FRACTION: u32 = 8;
/// Nodes of a thread's part.
pub(super) const GRAIN: usize = 2048;
const NOBODY: u32 = u32::MAX;

/// What an edge weighs: its length, and the potentials of its ends.
#[inline]
pub(super) fn weight(length: i32, a: i64, b: i64) -> i64 {
    (i64::from(length) << FRACTION) + a + b
}

/// A node whose lightest edge out of its part of the forest may still be one of the tree.
#[derive(Clone, Copy)]
struct Open {
    weight: i64,
    node: u32,
    to: u32,
}

/// A part that is joined to another one by its lightest edge.
struct Hook {
    own: u32,
    other: u32,
    ends: u64,
    weight: i64,
}

/// Finds minimum spanning trees of a graph, again and again. Of edges that weigh the same the one with smaller ends is the lighter
/// one, so there is one tree and it does not depend on threads.
pub(super) struct Spanner {
    /// In the part of the forest that a node is in, another node on the way to the one that stands for all.
    leaders: Vec<AtomicU32>,
    /// Of that one: what the lightest edge out of the part weighs, in the order of unsigned numbers, and its ends.
    lightest: Vec<AtomicU64>,
    ends: Vec<AtomicU64>,
    open: Vec<Open>,
    /// Who stands for the parts.
    leading: Vec<u32>,
    hooks: Vec<Hook>,
    /// The ends of the tree's edges, and what they weigh together.
    pub edges: Vec<(u32, u32)>,
    total: i128,
    /// How many edges each node has.
    pub degrees: Vec<AtomicU32>,
}

/// A minimum 1-tree: a spanning tree, and one more edge at one of its leaves.
pub(super) struct OneTree {
    pub leaf: u32,
    pub other: u32,
    /// What it weighs, less twice the potentials: no tour is shorter, in the units of potentials.
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

/// As [`Vec::retain`] on all threads.
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

    /// The node that stands for the part that a node is in.
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

    /// What the edges of the tree weigh together.
    #[cfg(test)]
    pub fn total(&self) -> i128 {
        self.total
    }

    /// Notes the lightest edge out of each part.
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

    /// Makes the lightest edges out of all parts edges of the tree.
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
            // Of two parts whose lightest edge is the same one the smaller stands for both.
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
        // One thread streams through this faster than many find memory for it.
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

    /// Adds to the tree that [`Spanner::span`] found the second lightest edge of a leaf; of all leaves that of the one where it is
    /// the heaviest.
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
            all.filter_map(second).max().expect("nodes have two edges or more in the graph");
        for end in [leaf, other] {
            *self.degrees[end as usize].get_mut() += 1;
        }
        self.edges.push((leaf, other));
        let potentials: i128 = potentials.par_iter().with_min_len(GRAIN).map(|&p| i128::from(p)).sum();
        OneTree { leaf, other, value: self.total + i128::from(weight) - 2 * potentials }
    }
}
