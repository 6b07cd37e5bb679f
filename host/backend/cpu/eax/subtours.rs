//! The sub-tours of a child, and merging them into one tour (section 3.1 of the paper, step 5): the smallest one is joined to
//! another by the best exchange of two edges, until only one is left.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::allocate;
use super::nodes::Nodes;
use super::tour::{Changes, Segments, Tour};
use antwarp_engine::BackendError;

/// The sub-tours of a child, and the memory for merging them.
pub struct Subtours {
    tours: Vec<Subtour>,
    /// The sub-tour that each segment was part of at first.
    labels: Vec<usize>,
    /// For each node of the E-set, its segment end: 2r is the first node of segment r, 2r + 1 its last.
    ends: Vec<usize>,
    /// For each end, the one that it is joined to.
    mates: Vec<usize>,
    /// Sub-tours by size, and outdated entries of some that have grown or been merged since.
    heap: BinaryHeap<Reverse<(u32, usize)>>,
    /// The nodes of the smallest sub-tour, and whether a node is one of them.
    row: Vec<u32>,
    is_inside: Vec<bool>,
}

struct Subtour {
    nodes: u32,
    /// One of its segments.
    segment: usize,
    /// The sub-tour that it was merged into; itself, if none.
    parent: usize,
}

impl Subtours {
    /// Allocates memory for the sub-tours of a tour of `n` nodes.
    ///
    /// # Errors
    /// If memory is short.
    pub fn new(n: u32) -> Result<Subtours, BackendError> {
        Ok(Subtours {
            tours: Vec::new(),
            labels: Vec::new(),
            ends: Vec::new(),
            mates: Vec::new(),
            heap: BinaryHeap::new(),
            row: Vec::new(),
            is_inside: allocate("the crossover", n as usize)?,
        })
    }

    /// Finds the sub-tours formed by a tour's segments, whose cuts are sorted, and returns their number. A cut's tag is the index
    /// of the node before it in the concatenated cycles of the E-set; the node after it is the other one of the pair. `lengths`
    /// are the numbers of nodes of the cycles.
    pub fn find(&mut self, segments: &Segments, lengths: impl Iterator<Item = usize>) -> usize {
        let count = segments.cuts().len();
        self.ends.resize(2 * count, 0);
        self.mates.resize(2 * count, 0);
        for (r, cut) in segments.cuts().iter().enumerate() {
            self.ends[cut.tag as usize] = 2 * r + 1;
            self.ends[cut.tag as usize ^ 1] = if r + 1 == count { 0 } else { 2 * r + 2 };
        }
        let mut from = 0;
        for length in lengths {
            for j in (1..length).step_by(2) {
                let next = if j + 1 == length { 0 } else { j + 1 };
                let (one, other) = (self.ends[from + j], self.ends[from + next]);
                self.mates[one] = other;
                self.mates[other] = one;
            }
            from += length;
        }
        self.number(segments)
    }

    /// Numbers the sub-tours.
    fn number(&mut self, segments: &Segments) -> usize {
        self.tours.clear();
        self.labels.clear();
        self.labels.resize(segments.cuts().len(), usize::MAX);
        for segment in 0..self.labels.len() {
            if self.labels[segment] != usize::MAX {
                continue;
            }
            let (mut nodes, mut end) = (0, 2 * segment);
            loop {
                self.labels[end / 2] = self.tours.len();
                nodes += segments.size(end / 2);
                end = self.mates[end ^ 1];
                if end == 2 * segment {
                    break;
                }
            }
            self.tours.push(Subtour { nodes, segment, parent: self.tours.len() });
        }
        self.tours.len()
    }

    /// Merges the sub-tours [found](Subtours::find) last, those of `a` with `changes`, and extends the changes; returns the gain,
    /// which may be negative. Mergers gain often enough that they are worth while for children that were no shorter before.
    pub fn merge(&mut self, nodes: &Nodes, a: &Tour, segments: &Segments, changes: &mut Changes) -> i64 {
        self.heap.clear();
        self.heap.extend(self.tours.iter().enumerate().map(|(t, tour)| Reverse((tour.nodes, t))));
        let (mut gain, mut left) = (0, self.tours.len());
        while left > 1 {
            let Some(Reverse((size, t))) = self.heap.pop() else { break };
            if self.tours[t].parent != t || self.tours[t].nodes != size {
                continue;
            }
            self.walk(a, changes, a.at(segments.end(self.tours[t].segment)));
            let Exchange { gain: gained, x, y, w, z } = self.best(nodes, a, segments, changes);
            gain += gained;
            changes.relink(a, x, y, w);
            changes.relink(a, y, x, z);
            changes.relink(a, w, z, x);
            changes.relink(a, z, w, y);
            let other = self.root(self.labels[segments.of(a.position(w))]);
            self.tours[t].parent = other;
            self.tours[other].nodes += size;
            self.heap.push(Reverse((self.tours[other].nodes, other)));
            self.row.iter().for_each(|&v| self.is_inside[v as usize] = false);
            left -= 1;
        }
        gain
    }

    /// Returns the sub-tour that a sub-tour now belongs to.
    fn root(&mut self, mut t: usize) -> usize {
        while self.tours[t].parent != t {
            let above = self.tours[self.tours[t].parent].parent;
            self.tours[t].parent = above;
            t = above;
        }
        t
    }

    /// Lists and marks the nodes of the sub-tour of `start`.
    fn walk(&mut self, a: &Tour, changes: &Changes, start: u32) {
        self.row.clear();
        let (mut before, mut v) = (changes.links(a, start)[0], start);
        let mut p = a.position(v);
        // Where nodes have A's neighbours, the walk follows its array, forward or back.
        let mut forward = a.beside(p)[0] == before;
        loop {
            self.is_inside[v as usize] = true;
            self.row.push(v);
            let next;
            if let Some([first, second]) = changes.of(v) {
                next = if first == before { second } else { first };
                p = a.position(next);
                forward = a.beside(p)[0] == v;
            } else {
                p = if forward { a.after(p) } else { a.before(p) };
                next = a.at(p);
            }
            (before, v) = (v, next);
            if v == start {
                return;
            }
        }
    }

    /// Returns the best exchange of an edge of the row's sub-tour and one at a near node outside it; if there is no such node, the
    /// best one that joins two nodes which were neighbours in A.
    fn best(&self, nodes: &Nodes, a: &Tour, segments: &Segments, changes: &Changes) -> Exchange {
        let mut joints = Joints { nodes, a, changes, best: Exchange::default() };
        let is_outside = |w: u32| !self.is_inside[w as usize];
        for &x in &self.row {
            let near = nodes.near(x);
            let Some(first) = near.iter().position(|&w| is_outside(w)) else { continue };
            let (edges, lengths) = (joints.edges(x), nodes.lengths(x));
            for i in first..near.len() {
                if is_outside(near[i]) {
                    joints.join((x, edges), (near[i], lengths[i].into()));
                }
            }
        }
        if joints.best.gain == i64::MIN {
            // A is one tour, so it has an edge between a node of this sub-tour and one of another. Nodes of different sub-tours are
            // not joined any more, so it is cut.
            for cut in segments.cuts() {
                let (u, v) = (a.at(cut.position), a.at(a.after(cut.position)));
                match (self.is_inside[u as usize], self.is_inside[v as usize]) {
                    (true, false) => joints.join((u, joints.edges(u)), (v, nodes.distance(u, v))),
                    (false, true) => joints.join((v, joints.edges(v)), (u, nodes.distance(u, v))),
                    _ => {}
                }
            }
        }
        joints.best
    }
}

/// An exchange: the edges (x, y) and (w, z) are removed, (x, w) and (y, z) are added.
#[derive(Clone, Copy)]
struct Exchange {
    gain: i64,
    x: u32,
    y: u32,
    w: u32,
    z: u32,
}

impl Default for Exchange {
    /// Returns an exchange that any other is better than.
    fn default() -> Self {
        Exchange { gain: i64::MIN, x: 0, y: 0, w: 0, z: 0 }
    }
}

/// The exchanges that join two sub-tours of `a` with `changes`.
struct Joints<'a> {
    nodes: &'a Nodes<'a>,
    a: &'a Tour,
    changes: &'a Changes,
    best: Exchange,
}

impl Joints<'_> {
    /// Returns the neighbours of a node, and the distances to them.
    #[inline(always)]
    fn edges(&self, v: u32) -> [(u32, i64); 2] {
        let [first, second] = self.changes.links(self.a, v);
        [(first, self.nodes.distance(v, first)), (second, self.nodes.distance(v, second))]
    }

    /// Evaluates the exchanges that join x, whose edges are given, to w, at distance `joined`. Fixed edges stay.
    #[inline(always)]
    fn join(&mut self, (x, edges): (u32, [(u32, i64); 2]), (w, joined): (u32, i64)) {
        let others = self.edges(w);
        // The shorter one of the added edges is shorter than the longer one of the removed edges by at least half of the gain. The
        // exchange is found from this edge, unless it is too long for the lists.
        let longest = edges[0].1.max(edges[1].1).max(others[0].1).max(others[1].1);
        if 2 * (longest - joined) <= self.best.gain {
            return;
        }
        let is_fixed = |a, b| self.nodes.is_fixed(a, b);
        for (y, first) in edges {
            if is_fixed(x, y) {
                continue;
            }
            for (z, second) in others {
                if is_fixed(w, z) {
                    continue;
                }
                let gain = first + second - joined - self.nodes.distance(y, z);
                if gain > self.best.gain {
                    self.best = Exchange { gain, x, y, w, z };
                }
            }
        }
    }
}
