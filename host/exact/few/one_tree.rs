//! Minimum 1-trees.

use antwarp_instance::Instance;

use super::state::{Set, State, nodes_of};
use crate::duals::UNIT_BITS;

/// An instance of few nodes. The special node of its 1-trees is the last one.
#[derive(Debug)]
pub struct Graph {
    /// The number of nodes.
    pub n: usize,
    /// The costs of edges, in units, n x n.
    pub costs: Vec<i64>,
    /// The largest cost of an edge.
    pub longest: i64,
    /// For each node, those that an edge joins it with.
    pub usable: Vec<Set>,
    /// For each node, those that a forced edge joins it with.
    pub forced: Vec<Set>,
}

impl Graph {
    /// Makes the graph of an instance, with all edges that tours may have; those of partners are forced.
    ///
    /// # Panics
    /// If the instance has more than [`MOST`](super::MOST) nodes.
    pub fn new(instance: &Instance) -> Graph {
        let n = instance.len();
        assert!(n <= Set::BITS as usize, "{n} nodes are not few");
        let cost = |at: usize| i64::from(instance.distance((at / n) as u32, (at % n) as u32)) << UNIT_BITS;
        let joined = |a: usize| {
            let is_joined = |&b: &usize| a != b && instance.has_edge(a as u32, b as u32);
            (0..n).filter(is_joined).fold(0, |set, b| set | 1 << b)
        };
        let partner = |a: usize| match instance.partners().map(|partners| partners[a]) {
            None | Some(Instance::NO_PARTNER) => 0,
            Some(partner) => 1 << partner,
        };
        let costs: Vec<i64> = (0..n * n).map(cost).collect();
        let usable: Vec<Set> = (0..n).map(joined).collect();
        let of_edges = costs.iter().enumerate().filter(|&(at, _)| usable[at / n] >> (at % n) & 1 == 1);
        let longest = of_edges.map(|(_, &cost)| cost).max().unwrap_or(0);
        Graph { n, longest, costs, usable, forced: (0..n).map(partner).collect() }
    }

    /// Returns the number of the special node.
    pub fn special(&self) -> usize {
        self.n - 1
    }

    /// Returns potentials to begin with, in units, even and up to `most`: for each node the longest edge on the path to the special
    /// node in a minimum spanning tree.
    ///
    /// Each group of nodes that is far from all others then has the same potential, which an ascent from 0 approaches slowly. Their bound
    /// is the spanning tree and its longest edge again: sets of nodes that grow at the same pace until they meet, and of which each
    /// counts twice the distance that it grew, prove the same (the moats of M. Jünger, W. Pulleyblank, *Geometric duality and
    /// combinatorial optimization*, 1993).
    pub fn first_potentials(&self, most: i64) -> Vec<i64> {
        let cost =
            |a: usize, b: usize| if self.forced[a] >> b & 1 == 1 { 0 } else { self.costs[a * self.n + b] };
        let mut longest = vec![self.longest; self.n];
        let mut left: Set = self.usable.iter().fold(0, |all, nodes| all | nodes);
        longest[self.special()] = 0;
        while let Some(node) = nodes_of(left).min_by_key(|&node| longest[node]) {
            left &= !(1 << node);
            for other in nodes_of(self.usable[node] & left) {
                longest[other] = longest[other].min(longest[node].max(cost(node, other)));
            }
        }
        longest.iter().map(|&longest| longest.min(most) & !1).collect()
    }

    /// Returns the cost of an edge minus the potentials of its ends, in units.
    pub fn weight(&self, a: usize, b: usize, potentials: &[i64]) -> i64 {
        self.costs[a * self.n + b] - potentials[a] - potentials[b]
    }

    /// Returns, for each node, those that an edge can join it with beside the forced edges: two forced edges leave no room for others.
    /// `None` if a node has fewer than two, or too many forced ones.
    pub fn open(&self, state: &State) -> Option<Vec<Set>> {
        let full = |node: &usize| state.forced[*node].count_ones() >= 2;
        let is_full = (0..self.n).filter(full).fold(0, |set: Set, node| set | 1 << node);
        let of = |node: usize| {
            let forced = state.forced[node];
            let open = if full(&node) { forced } else { state.usable[node] & !is_full | forced };
            (open.count_ones() >= 2 && forced.count_ones() <= 2).then_some(open)
        };
        (0..self.n).map(of).collect()
    }
}

/// A minimum 1-tree.
#[derive(Clone, Debug)]
pub struct OneTree {
    /// The bound that it proves, in units.
    pub bound: i64,
    /// The number of edges at each node.
    pub degrees: Vec<i32>,
    /// The nodes of the spanning tree in an order in which each comes after its parent.
    order: Vec<usize>,
    /// The parent of each node in the spanning tree; itself for the first one.
    parents: Vec<usize>,
    /// The ends of the edges at the special node.
    ends: [usize; 2],
}

/// Forced edges come before all others.
const FORCE: i64 = 1 << 60;

impl OneTree {
    /// Returns the minimum 1-tree of [open](Graph::open) edges, which has all forced ones unless some of them form a cycle; `None` if
    /// there is no 1-tree.
    pub fn new(graph: &Graph, open: &[Set], forced: &[Set], potentials: &[i64]) -> Option<OneTree> {
        let (n, special) = (graph.n, graph.special());
        let mut keys = vec![i64::MAX; n];
        let mut parents: Vec<usize> = (0..n).collect();
        let mut order = Vec::with_capacity(n);
        let mut degrees = vec![0; n];
        let mut bound = 2 * potentials.iter().sum::<i64>();
        let mut left: Set = (1 << special) - 1;
        let mut next = 0;
        loop {
            order.push(next);
            left &= !(1 << next);
            for node in nodes_of(open[next] & left) {
                let weight = graph.weight(next, node, potentials);
                let key = if forced[next] >> node & 1 == 1 { weight - FORCE } else { weight };
                if key < keys[node] {
                    (keys[node], parents[node]) = (key, next);
                }
            }
            let Some(nearest) = nodes_of(left).min_by_key(|&node| keys[node]) else { break };
            if keys[nearest] == i64::MAX {
                return None;
            }
            next = nearest;
            bound += graph.weight(next, parents[next], potentials);
            degrees[next] += 1;
            degrees[parents[next]] += 1;
        }
        let key = |node: usize| {
            let is_forced = forced[special] >> node & 1 == 1;
            (!is_forced, graph.weight(special, node, potentials))
        };
        let mut ends: Vec<usize> = nodes_of(open[special]).collect();
        ends.sort_by_key(|&node| key(node));
        let ends = [ends[0], *ends.get(1)?];
        for end in ends {
            bound += graph.weight(special, end, potentials);
            degrees[end] += 1;
        }
        degrees[special] = 2;
        Some(OneTree { bound, degrees, order, parents, ends })
    }

    /// Returns the tour that the 1-tree is, if it has two edges at each node.
    pub fn tour(&self) -> Vec<u32> {
        let n = self.degrees.len();
        let mut joined: Vec<Vec<usize>> = vec![Vec::new(); n];
        let tree = self.order[1..].iter().map(|&node| (node, self.parents[node]));
        for (a, b) in tree.chain(self.ends.map(|end| (n - 1, end))) {
            joined[a].push(b);
            joined[b].push(a);
        }
        let (mut before, mut at) = (n, n - 1);
        let mut tour = Vec::with_capacity(n);
        for _ in 0..n {
            tour.push(at as u32);
            let next = joined[at].iter().copied().find(|&next| next != before).unwrap_or(at);
            (before, at) = (at, next);
        }
        tour
    }

    /// Returns the largest weight of a free edge on the path between any two nodes of the spanning tree, n x n; `lowest` where all
    /// edges on it are forced.
    fn heaviest(&self, graph: &Graph, forced: &[Set], potentials: &[i64], lowest: i64) -> Vec<i64> {
        let n = graph.n;
        let mut heaviest = vec![lowest; n * n];
        for (at, &node) in self.order.iter().enumerate().skip(1) {
            let parent = self.parents[node];
            let is_forced = forced[node] >> parent & 1 == 1;
            let weight = if is_forced { lowest } else { graph.weight(node, parent, potentials) };
            for &other in &self.order[..at] {
                let heavier = heaviest[parent * n + other].max(weight);
                heaviest[node * n + other] = heavier;
                heaviest[other * n + node] = heavier;
            }
        }
        heaviest
    }

    /// Returns the free open edges that are not in the spanning tree, without those at the special node.
    fn outside(&self, open: &[Set], forced: &[Set]) -> impl Iterator<Item = (usize, usize)> {
        let below = |a: usize| nodes_of(open[a] & !forced[a] & ((1 << a) - 1)).map(move |b| (a, b));
        let pairs = (0..self.degrees.len() - 1).flat_map(below);
        pairs.filter(|&(a, b)| self.parents[a] != b && self.parents[b] != a)
    }

    /// Returns for each free open edge that is not in the 1-tree, as `(a, b, more)`, by how much the bound of 1-trees with it is
    /// higher, in units. The arguments are those of [`OneTree::new`].
    pub fn reduced_costs(
        &self,
        graph: &Graph,
        open: &[Set],
        forced: &[Set],
        potentials: &[i64],
    ) -> Vec<(usize, usize, i64)> {
        let (n, special) = (graph.n, graph.special());
        let weight = |a: usize, b: usize| graph.weight(a, b, potentials);
        let mut found = Vec::new();
        let free = |node: usize| open[node] & !forced[node];
        let lowest = (0..special)
            .flat_map(|a| nodes_of(free(a) & ((1 << a) - 1)).map(move |b| (a, b)))
            .map(|(a, b)| weight(a, b))
            .min()
            .unwrap_or(0);
        let heaviest = self.heaviest(graph, forced, potentials, lowest);
        for (a, b) in self.outside(open, forced) {
            found.push((a, b, weight(a, b) - heaviest[a * n + b]));
        }
        // The special node: the second edge is replaced, if it is not forced.
        if forced[special] >> self.ends[1] & 1 == 0 {
            for end in nodes_of(free(special)).filter(|end| !self.ends.contains(end)) {
                found.push((special, end, weight(special, end) - weight(special, self.ends[1])));
            }
        }
        found
    }

    /// Returns for each free edge of the 1-tree, as `(a, b, more)`, by how much the bound of 1-trees without it is higher, in units;
    /// near `i64::MAX` where there is no such 1-tree. The arguments are those of [`OneTree::new`].
    pub fn penalties(
        &self,
        graph: &Graph,
        open: &[Set],
        forced: &[Set],
        potentials: &[i64],
    ) -> Vec<(usize, usize, i64)> {
        let (n, special) = (graph.n, graph.special());
        let weight = |a: usize, b: usize| graph.weight(a, b, potentials);
        let mut depths = vec![0; n];
        for &node in &self.order[1..] {
            depths[node] = depths[self.parents[node]] + 1;
        }
        // The lightest edge that replaces each node's edge to its parent.
        let mut instead = vec![NEVER; n];
        for (mut a, mut b) in self.outside(open, forced) {
            let weight = weight(a, b);
            while a != b {
                let deeper = if depths[a] >= depths[b] { &mut a } else { &mut b };
                instead[*deeper] = instead[*deeper].min(weight);
                *deeper = self.parents[*deeper];
            }
        }
        let is_free = |a: usize, b: usize| forced[a] >> b & 1 == 0;
        let mut found = Vec::new();
        for &node in &self.order[1..] {
            let parent = self.parents[node];
            if is_free(node, parent) {
                found.push((node, parent, instead[node].saturating_sub(weight(node, parent))));
            }
        }
        let others = nodes_of(open[special] & !forced[special]).filter(|end| !self.ends.contains(end));
        let third = others.map(|end| weight(special, end)).min().unwrap_or(NEVER);
        for end in self.ends.into_iter().filter(|&end| is_free(special, end)) {
            found.push((special, end, third.saturating_sub(weight(special, end))));
        }
        found
    }
}

/// No edge replaces it.
const NEVER: i64 = i64::MAX;
