//! Phases 2 and 3: building the child of an E-set, and replacing A by it.

use std::cmp::Reverse;

use super::cycles::Cycles;
use super::nodes::Nodes;
use super::subtours::Subtours;
use super::tour::{Change, Changes, Segments, Tour};
use antwarp_engine::BackendError;

/// A child of a tour A. The changes of the last child evaluated are kept.
pub struct Child {
    changes: Changes,
    segments: Segments,
    subtours: Subtours,
    /// Nodes in the order in which they are written.
    row: Vec<u32>,
}

impl Child {
    /// Allocates memory for building children of tours of `n` nodes.
    ///
    /// # Errors
    /// If memory is short.
    pub fn new(n: u32) -> Result<Child, BackendError> {
        Ok(Child {
            changes: Changes::new(n)?,
            segments: Segments::new(n),
            subtours: Subtours::new(n)?,
            row: Vec::new(),
        })
    }

    /// Returns the changes that turn A into the child evaluated last.
    pub fn changes(&self) -> &[Change] {
        self.changes.list()
    }

    /// Builds a child: A with the edges of an E-set exchanged, which consists of the cycles `set` of A and another tour; each
    /// must [fit](Cycles::fits) A. Returns by how much the child is shorter than A, and how many sub-tours there were before they
    /// were merged. Unless they are always merged, they stay unmerged where the cycles alone do not make the tour shorter: the
    /// result, with a gain of at most 0, is then not a valid child.
    ///
    /// Takes O(k log k) steps for k edges, and with sub-tours as many more as all nodes outside the largest one have near
    /// neighbours.
    pub fn evaluate(
        &mut self,
        nodes: &Nodes,
        a: &Tour,
        cycles: &Cycles,
        set: &[u32],
        is_always_merged: bool,
    ) -> (i64, usize) {
        self.changes.clear();
        self.segments.clear();
        let (mut gain, mut from) = (0, 0);
        for cycle in set.iter().map(|&i| cycles.get(i)) {
            let mut before = cycle[cycle.len() - 1];
            for j in (0..cycle.len()).step_by(2) {
                let (u, v) = (cycle[j], cycle[j + 1]);
                let after = cycle[if j + 2 == cycle.len() { 0 } else { j + 2 }];
                let p = a.position(u);
                if a.at(a.after(p)) == v {
                    self.segments.cut(p, (from + j) as u32);
                } else {
                    self.segments.cut(a.position(v), (from + j + 1) as u32);
                }
                self.changes.relink(a, u, v, before);
                self.changes.relink(a, v, u, after);
                gain += nodes.distance(u, v) - nodes.distance(v, after);
                before = v;
            }
            from += cycle.len();
        }
        if set.is_empty() {
            return (0, 1);
        }
        self.segments.sort();
        let lengths = set.iter().map(|&i| cycles.get(i).len());
        let tours = self.subtours.find(&self.segments, lengths);
        if tours > 1 && (is_always_merged || gain > 0) {
            gain += self.subtours.merge(nodes, a, &self.segments, &mut self.changes);
        }
        (gain, tours)
    }

    /// Applies changes that turn a tour into another one. The longest unchanged segment keeps its place, and the others are
    /// written after it. Replaces [`Child::changes`].
    pub fn apply(&mut self, tour: &mut Tour, changes: &[Change]) {
        self.changes.clear();
        self.segments.clear();
        for &change in changes {
            self.changes.set(change);
            let p = tour.position(change.node);
            if !change.links.contains(&tour.at(tour.after(p))) {
                self.segments.cut(p, 0);
            }
        }
        self.segments.sort();
        let sizes = (0..self.segments.cuts().len()).map(|r| (self.segments.size(r), Reverse(r)));
        let Some((_, Reverse(longest))) = sizes.max() else { return };
        self.list_others(tour, longest);
        let mut p = self.segments.end(longest);
        for &v in &self.row {
            p = tour.after(p);
            tour.put(p, v);
        }
    }

    /// Lists the nodes of all segments but one, in the order in which they follow it in the child.
    fn list_others(&mut self, a: &Tour, one: usize) {
        let (segments, row) = (&self.segments, &mut self.row);
        row.clear();
        // Along the child: the node at a segment's end, and the one before it.
        let mut v = a.at(segments.end(one));
        let mut before = if segments.size(one) > 1 { a.links(v)[0] } else { self.changes.links(a, v)[0] };
        loop {
            let [first, second] = self.changes.links(a, v);
            (before, v) = (v, if first == before { second } else { first });
            let mut p = a.position(v);
            let r = segments.of(p);
            if r == one {
                return;
            }
            let is_last = p == segments.end(r);
            row.push(v);
            for _ in 1..segments.size(r) {
                p = if is_last { a.before(p) } else { a.after(p) };
                (before, v) = (v, a.at(p));
                row.push(v);
            }
        }
    }
}
