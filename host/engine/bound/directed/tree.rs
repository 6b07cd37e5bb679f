//! Minimum spanning trees of directed edges whose directions are ignored, with one more edge at an unused exit or entry.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use antwarp_instance::Watch;

use super::super::tree::weight;
use super::costs::Costs;
use super::graph::Graph;
use super::shifts::Potentials;

/// The distance of nodes that belong to the tree.
const IN_TREE: i64 = i64::MIN;

/// The last tree found, and memory to find the next one.
pub(super) struct Tree {
    /// The edges of the tree; if it is one of all edges, with the lightest edges of all unused exits and entries.
    pub edges: Vec<(u32, u32)>,
    /// How often the tree and the additional edge use each exit and each entry.
    uses: [Vec<u32>; 2],
    weight: i128,
    /// For each node, the weight of the lightest edge seen that joins it to the tree.
    nearest: Vec<i64>,
    /// For each node, the node at the other end of that edge.
    neighbor: Vec<u32>,
    queue: BinaryHeap<Reverse<(i64, u32)>>,
}

impl Tree {
    /// Allocates memory for trees of this many nodes.
    pub fn new(n: usize) -> Tree {
        Tree {
            edges: Vec::new(),
            uses: [vec![0; n], vec![0; n]],
            weight: 0,
            nearest: vec![0; n],
            neighbor: vec![0; n],
            queue: BinaryHeap::new(),
        }
    }

    /// Returns how often the tree and its additional edge use each exit and each entry.
    pub fn uses(&self) -> &[Vec<u32>; 2] {
        &self.uses
    }

    /// Returns whether the tree and its additional edge are a tour: they are connected, and use each exit and each entry once.
    pub fn is_tour(&self) -> bool {
        self.uses.iter().flatten().all(|&uses| uses == 1)
    }

    /// Finds the tree of all edges (Prim 1957), and returns its bound: no tour is shorter. `None` if the watch is over.
    pub fn span_all(
        &mut self,
        costs: &Costs<'_>,
        potentials: &Potentials,
        watch: &Watch<'_>,
    ) -> Option<i128> {
        let n = costs.len();
        self.clear();
        let mut node = 0;
        for step in 1..n {
            if watch.is_over_at(step) {
                return None;
            }
            self.nearest[node] = IN_TREE;
            self.approach(node, costs, potentials);
            let outside = (0..n).filter(|&node| self.nearest[node] != IN_TREE);
            node = outside.min_by_key(|&node| self.nearest[node]).expect("a node outside the tree");
            let (neighbor, next) = (self.neighbor[node], node as u32);
            let there = potentials.weight(costs.of(neighbor, next), neighbor, next);
            let edge = if there == self.nearest[node] { (neighbor, next) } else { (next, neighbor) };
            self.take(edge, self.nearest[node]);
        }
        let lightest = |row: &[i32], node: usize, others: &[i64]| {
            let weight = |other: usize| (weight(row[other], 0, others[other]), other as u32);
            (0..n).filter(|&other| other != node).map(weight).min()
        };
        self.finish(
            potentials,
            &|node| lightest(costs.leaving(node), node, &potentials.entries),
            &|node| lightest(costs.entering(node), node, &potentials.exits),
            true,
        )
    }

    /// Updates the edges that join nodes to the tree by those of a node that was added to it.
    fn approach(&mut self, node: usize, costs: &Costs<'_>, potentials: &Potentials) {
        let (exit, entry) = (potentials.exits[node], potentials.entries[node]);
        let others = self.nearest.iter_mut().zip(&mut self.neighbor);
        let costs = costs.leaving(node).iter().zip(costs.entering(node));
        let potentials = potentials.exits.iter().zip(&potentials.entries);
        for (((nearest, neighbor), (&there, &back)), (&from, &to)) in others.zip(costs).zip(potentials) {
            let lighter = weight(there, exit, to).min(weight(back, from, entry));
            let is_nearer = lighter < *nearest;
            *nearest = if is_nearer { lighter } else { *nearest };
            *neighbor = if is_nearer { node as u32 } else { *neighbor };
        }
    }

    /// Finds the tree of a graph, and returns the bound that it would prove if there were no other edges.
    ///
    /// # Panics
    /// If the graph is not connected, or an exit or entry has no edge.
    pub fn span(&mut self, graph: &Graph, potentials: &Potentials) -> i128 {
        self.clear();
        self.queue.clear();
        let mut node = 0;
        for _ in 1..self.nearest.len() {
            self.nearest[node] = IN_TREE;
            for item in graph.of_node(node) {
                let edge = graph.edge(item);
                let other = (if edge.from as usize == node { edge.to } else { edge.from }) as usize;
                let weight = potentials.weight(edge.cost, edge.from, edge.to);
                if weight < self.nearest[other] {
                    self.nearest[other] = weight;
                    self.queue.push(Reverse((weight, item as u32)));
                }
            }
            node = loop {
                let Reverse((weight, item)) = self.queue.pop().expect("the graph is connected");
                let edge = graph.edge(item as usize);
                let is_outside = |&node: &u32| self.nearest[node as usize] != IN_TREE;
                if let Some(next) = [edge.from, edge.to].into_iter().find(is_outside) {
                    self.take((edge.from, edge.to), weight);
                    break next as usize;
                }
            };
        }
        let lightest = |node: usize, is_leaving: bool| {
            let edges = graph.of_node(node).map(|item| graph.edge(item));
            let edges = edges.filter(|edge| (edge.from as usize == node) == is_leaving);
            let other = |cost, from: u32, to: u32| {
                let others = if is_leaving {
                    potentials.entries[to as usize]
                } else {
                    potentials.exits[from as usize]
                };
                (weight(cost, 0, others), if is_leaving { to } else { from })
            };
            edges.map(|edge| other(edge.cost, edge.from, edge.to)).min()
        };
        let bound =
            self.finish(potentials, &|node| lightest(node, true), &|node| lightest(node, false), false);
        bound.expect("every exit and item has an edge")
    }

    fn clear(&mut self) {
        self.edges.clear();
        self.uses.iter_mut().for_each(|uses| uses.fill(0));
        self.weight = 0;
        self.nearest.fill(i64::MAX);
    }

    fn take(&mut self, (from, to): (u32, u32), weight: i64) {
        self.edges.push((from, to));
        self.uses[0][from as usize] += 1;
        self.uses[1][to as usize] += 1;
        self.weight += i128::from(weight);
    }

    /// Adds the lightest edge of an unused exit or entry, the one where it is heaviest, and returns the bound. `leaving` and
    /// `entering` return the lightest edge at an exit or entry: its weight without the potential there, and its other end. There
    /// is always an unused exit, since there are fewer edges than nodes.
    fn finish(
        &mut self,
        potentials: &Potentials,
        leaving: &dyn Fn(usize) -> Option<(i64, u32)>,
        entering: &dyn Fn(usize) -> Option<(i64, u32)>,
        are_all_kept: bool,
    ) -> Option<i128> {
        let mut heaviest: Option<(i64, (u32, u32))> = None;
        for node in 0..self.nearest.len() {
            let unused = |side: usize| self.uses[side][node] == 0;
            let out = unused(0).then(|| leaving(node)).flatten();
            let out = out.map(|(weight, to)| (weight + potentials.exits[node], (node as u32, to)));
            let back = unused(1).then(|| entering(node)).flatten();
            let back = back.map(|(weight, from)| (weight + potentials.entries[node], (from, node as u32)));
            for found in [out, back].into_iter().flatten() {
                heaviest = heaviest.max(Some(found));
                if are_all_kept {
                    self.edges.push(found.1);
                }
            }
        }
        let (weight, (from, to)) = heaviest?;
        self.uses[0][from as usize] += 1;
        self.uses[1][to as usize] += 1;
        Some(self.weight + i128::from(weight) - potentials.sum())
    }
}
