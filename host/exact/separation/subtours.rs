//! Sets of nodes whose border has a value below 2.

use std::collections::{BinaryHeap, HashSet};

use crate::{Cut, Support};

use super::partition::Partition;
use super::shrunk::Shrunk;

/// By how much a subtour elimination inequality must be violated.
const EPSILON: f64 = 1e-5;
/// Values that differ by less are equal.
const TINY: f64 = 1e-9;

/// Finds sets of nodes whose border has a value below 2, each once: the components of the graph if there are several, else sets from a
/// sequence of contractions. At least one is found if one is violated, provided that the edges at each node add up to 2.
///
/// Edges are contracted that no violated border contains, or that a violated border need not contain: an edge that has at least half
/// the value of all edges at one of its ends (M. Padberg, G. Rinaldi, *An efficient algorithm for the minimum capacity cut problem*,
/// Mathematical Programming 47, 1990), and the edges that a maximum adjacency order shows to connect their ends by 2 (H. Nagamochi,
/// T. Ono, T. Ibaraki, *Implementing an efficient minimum capacity cut algorithm*, Mathematical Programming 67, 1994).
pub fn subtours(support: &Support) -> Vec<Cut> {
    let n = support.len();
    let mut components = Partition::new(n);
    for (a, b, _) in support.edges() {
        components.join(a, b);
    }
    let mut found = Found::new(n);
    let components = components.groups();
    if components.len() > 1 {
        components.into_iter().for_each(|set| found.add(set));
        return found.cuts();
    }
    let mut ones = Partition::new(n);
    for (a, b, x) in support.edges() {
        if x > 1.0 - TINY {
            ones.join(a, b);
        }
    }
    let mut shrunk = Shrunk::new(support, &mut ones);
    while shrunk.graph.len() > 1 {
        let mut partition = Partition::new(shrunk.graph.len());
        if !join_heavy(&shrunk, &mut partition, &mut found) {
            join_connected(&shrunk, &mut partition, &mut found);
        }
        shrunk = shrunk.shrink(&mut partition);
    }
    found.cuts()
}

/// Joins nodes with a neighbour if that edge has half of the value of all their edges: a violated set that has only the neighbour
/// remains violated when the node joins it. Returns whether there were any.
fn join_heavy(shrunk: &Shrunk, partition: &mut Partition, found: &mut Found) -> bool {
    let graph = &shrunk.graph;
    let mut is_joined = vec![false; graph.len()];
    let mut any = false;
    for node in 0..graph.len() as u32 {
        // The degree of a node that has been joined to others is no longer known.
        if is_joined[node as usize] {
            continue;
        }
        let degree = graph.degree(node);
        let heaviest = graph.neighbors(node).iter().max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some(&(other, x)) = heaviest
            && (x >= degree / 2.0 - TINY || degree < 2.0 - EPSILON)
        {
            if degree < 2.0 - EPSILON {
                found.add(shrunk.expand(&[node]));
            }
            any |= partition.join(node, other);
            is_joined[node as usize] = true;
            is_joined[other as usize] = true;
        }
    }
    any
}

/// Orders the nodes so that each is the one with the most value of edges to those before it, and joins what cannot be separated by a
/// border below 2. The last two nodes are always joined.
fn join_connected(shrunk: &Shrunk, partition: &mut Partition, found: &mut Found) {
    let graph = &shrunk.graph;
    let n = graph.len();
    let mut order: Vec<u32> = Vec::with_capacity(n);
    let mut value = vec![0.0_f64; n];
    let mut is_done = vec![false; n];
    // The values of nodes not yet in the order are never negative, so their bits order them.
    let mut heap = BinaryHeap::from([(0, 0)]);
    let mut border = 0.0;
    let mut borders = Vec::with_capacity(n);
    while let Some((bits, node)) = heap.pop() {
        if is_done[node as usize] || bits != value[node as usize].to_bits() {
            continue;
        }
        is_done[node as usize] = true;
        order.push(node);
        border += graph.degree(node) - 2.0 * value[node as usize];
        borders.push(border);
        for &(other, x) in graph.neighbors(node) {
            if !is_done[other as usize] {
                value[other as usize] += x;
                if value[other as usize] >= 2.0 - EPSILON {
                    partition.join(node, other);
                }
                heap.push((value[other as usize].to_bits(), other));
            }
        }
    }
    // The first nodes of the order are sets too. Neighbouring ones differ little: keep the local minima.
    for at in 1..order.len().saturating_sub(2) {
        if borders[at] < 2.0 - EPSILON && borders[at] < borders[at - 1] && borders[at] <= borders[at + 1] {
            found.add(shrunk.expand(&order[..=at]));
        }
    }
    if let [.., before, last] = order[..] {
        if graph.degree(last) < 2.0 - EPSILON {
            found.add(shrunk.expand(&[last]));
        }
        partition.join(before, last);
    }
}

/// Finds segments of a tour whose border has a value below 2: for each last node the one with the least border, and of those with the
/// same first node only the best. The edges at each node must add up to 2. None is found if the tour has not all nodes, or fewer than 4.
///
/// The border of a segment of k nodes is `2 k` less twice the value of the edges inside. The last node moves along the tour, and a tree
/// of maxima holds `edges inside - k` for every first node (D. Applegate, R. Bixby, V. Chvátal, W. Cook, *The Traveling Salesman
/// Problem: A Computational Study*, 2006, chapter 6).
pub fn segments(support: &Support, tour: &[u32]) -> Vec<Cut> {
    let n = support.len();
    if tour.len() != n || n < 4 {
        return Vec::new();
    }
    let mut position = vec![0; n];
    tour.iter().enumerate().for_each(|(at, &node)| position[node as usize] = at);
    let mut tree = Maxima::new(n);
    // For every first node, the best segment.
    let mut best = vec![(-1.0 + EPSILON / 2.0, 0); n];
    for (last, &node) in tour.iter().enumerate() {
        tree.add_to_first(last + 1, -1.0);
        for &(other, x) in support.neighbors(node) {
            let first = position[other as usize];
            if first < last {
                tree.add_to_first(first + 1, x);
            }
        }
        // The whole tour is no segment.
        if last == n - 1 {
            tree.add_to_first(1, -(n as f64));
        }
        let (value, first) = tree.max_of_first(last + 1);
        if value > best[first].0 {
            best[first] = (value, last);
        }
    }
    let mut found = Found::new(n);
    for (first, (_, last)) in best.into_iter().enumerate() {
        if last > first {
            let mut set = tour[first..=last].to_vec();
            set.sort_unstable();
            if support.border(&set) < 2.0 - EPSILON {
                found.add(set);
            }
        }
    }
    found.cuts()
}

/// Sums with the operations "add to the first of them" and "the greatest of the first of them".
struct Maxima {
    /// The number of leaves, a power of two.
    leaves: usize,
    /// What has been added to all leaves below a node of the tree.
    added: Vec<f64>,
    /// The greatest sum below a node, with what has been added to the node.
    greatest: Vec<f64>,
}

impl Maxima {
    fn new(n: usize) -> Maxima {
        let leaves = n.next_power_of_two();
        Maxima { leaves, added: vec![0.0; 2 * leaves], greatest: vec![0.0; 2 * leaves] }
    }

    /// Adds to the first `count` sums.
    fn add_to_first(&mut self, count: usize, value: f64) {
        // The path to the leaf after the last one; all subtrees to its left are changed. Without such a leaf it is the whole tree.
        if count >= self.leaves {
            self.added[1] += value;
            self.greatest[1] += value;
            return;
        }
        let mut node = self.leaves + count;
        while node > 1 {
            if node % 2 == 1 {
                self.added[node - 1] += value;
                self.greatest[node - 1] += value;
            }
            node /= 2;
            self.greatest[node] = self.greatest[2 * node].max(self.greatest[2 * node + 1]) + self.added[node];
        }
    }

    /// Returns the greatest of the first `count` sums, at least one, and which it is.
    fn max_of_first(&self, count: usize) -> (f64, usize) {
        let mut best = (f64::NEG_INFINITY, 1);
        if count >= self.leaves {
            best = (self.greatest[1], 1);
        } else {
            // What has been added above a node is known only from the root: go down.
            let (mut node, mut above) = (1, 0.0);
            for level in (0..self.leaves.ilog2()).rev() {
                above += self.added[node];
                let is_right = (count >> level) & 1 == 1;
                if is_right && above + self.greatest[2 * node] > best.0 {
                    best = (above + self.greatest[2 * node], 2 * node);
                }
                node = 2 * node + usize::from(is_right);
            }
        }
        let (value, mut node) = best;
        while node < self.leaves {
            node = 2 * node + usize::from(self.greatest[2 * node + 1] > self.greatest[2 * node]);
        }
        (value, node - self.leaves)
    }
}

/// Sets of nodes, each once.
struct Found {
    n: usize,
    sets: Vec<Vec<u32>>,
    known: HashSet<Vec<u32>>,
}

impl Found {
    fn new(n: usize) -> Found {
        Found { n, sets: Vec::new(), known: HashSet::new() }
    }

    /// Adds a sorted set, or the other nodes where these are fewer.
    fn add(&mut self, mut set: Vec<u32>) {
        if 2 * set.len() > self.n || 2 * set.len() == self.n && set[0] != 0 {
            set = (0..self.n as u32).filter(|node| set.binary_search(node).is_err()).collect();
        }
        if self.known.insert(set.clone()) {
            self.sets.push(set);
        }
    }

    fn cuts(self) -> Vec<Cut> {
        self.sets.into_iter().map(Cut::subtour).collect()
    }
}
