//! A tour of the population, the changes that turn it into another one, and the cuts that they make in it.

use super::super::allocate;
use antwarp_engine::BackendError;

/// Stands for a missing number.
pub const NONE: u32 = u32::MAX;

/// A tour of n nodes, 5 or more: the node at every position, and the position of every node.
#[derive(Default)]
pub struct Tour {
    order: Vec<u32>,
    position: Vec<u32>,
}

impl Tour {
    /// Makes the tour along the numbers of `n` nodes.
    ///
    /// # Errors
    /// If memory is short.
    pub fn new(n: u32) -> Result<Tour, BackendError> {
        let array = || allocate("the population", n as usize);
        let mut tour = Tour { order: array()?, position: array()? };
        tour.rewrite(|order| (0..).zip(order).for_each(|(p, v)| *v = p));
        Ok(tour)
    }

    /// Lets `write` replace the nodes in order by a permutation of them.
    pub fn rewrite(&mut self, write: impl FnOnce(&mut [u32])) {
        write(&mut self.order);
        for (p, &v) in (0..).zip(&self.order) {
            self.position[v as usize] = p;
        }
    }

    /// Copies another tour with the same number of nodes.
    pub fn copy(&mut self, other: &Tour) {
        self.order.copy_from_slice(&other.order);
        self.position.copy_from_slice(&other.position);
    }

    /// Puts node `v` at position `p`. Once all nodes are placed again, it is a valid tour again.
    #[inline]
    pub fn put(&mut self, p: u32, v: u32) {
        self.order[p as usize] = v;
        self.position[v as usize] = p;
    }

    /// Returns the nodes in order.
    #[inline]
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Returns the number of nodes.
    #[inline]
    pub fn n(&self) -> u32 {
        self.order.len() as u32
    }

    /// Returns the node at position `p`.
    #[inline]
    pub fn at(&self, p: u32) -> u32 {
        self.order[p as usize]
    }

    /// Returns the position of node `v`.
    #[inline]
    pub fn position(&self, v: u32) -> u32 {
        self.position[v as usize]
    }

    /// Returns the position before `p`; the last one before the first.
    #[inline]
    pub fn before(&self, p: u32) -> u32 {
        if p == 0 { self.n() - 1 } else { p - 1 }
    }

    /// Returns the position after `p`; the first one after the last.
    #[inline]
    pub fn after(&self, p: u32) -> u32 {
        if p + 1 == self.n() { 0 } else { p + 1 }
    }

    /// Returns the nodes before and after position `p`.
    #[inline]
    pub fn beside(&self, p: u32) -> [u32; 2] {
        [self.at(self.before(p)), self.at(self.after(p))]
    }

    /// Returns the nodes before and after node `v`.
    #[inline]
    pub fn links(&self, v: u32) -> [u32; 2] {
        self.beside(self.position(v))
    }

    /// Calls `edge` once for each edge that changes of this tour remove, with its nodes, the smaller first, and -1, and for each
    /// that they add, with 1. Both nodes of such an edge must be among the changes.
    #[inline]
    pub fn compare(&self, changes: &[Change], mut edge: impl FnMut(u32, u32, i32)) {
        for &Change { node, links: new } in changes {
            let old = self.links(node);
            old.iter().filter(|&u| node < *u && !new.contains(u)).for_each(|&u| edge(node, u, -1));
            new.iter().filter(|&u| node < *u && !old.contains(u)).for_each(|&u| edge(node, u, 1));
        }
    }
}

/// A node, and its two neighbours in another tour, in either order; they may be the old ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub node: u32,
    pub links: [u32; 2],
}

/// Changes of a tour, at most one per node.
pub struct Changes {
    list: Vec<Change>,
    /// The index of a node in the list, or [`NONE`].
    at: Vec<u32>,
}

impl Changes {
    /// Makes an empty list of changes for a tour of `n` nodes.
    ///
    /// # Errors
    /// If memory is short.
    pub fn new(n: u32) -> Result<Changes, BackendError> {
        let mut at = allocate("the crossover", n as usize)?;
        at.fill(NONE);
        Ok(Changes { list: Vec::new(), at })
    }

    /// Removes all changes.
    pub fn clear(&mut self) {
        self.list.drain(..).for_each(|change| self.at[change.node as usize] = NONE);
    }

    /// Returns the changes.
    pub fn list(&self) -> &[Change] {
        &self.list
    }

    /// Returns the new neighbours of node `v`, if it has any.
    #[inline]
    pub fn of(&self, v: u32) -> Option<[u32; 2]> {
        self.list.get(self.at[v as usize] as usize).map(|change| change.links)
    }

    /// Returns the neighbours of node `v` after these changes of a tour.
    #[inline]
    pub fn links(&self, tour: &Tour, v: u32) -> [u32; 2] {
        self.of(v).unwrap_or_else(|| tour.links(v))
    }

    /// Sets the neighbours of a node, in place of those set before.
    #[inline]
    pub fn set(&mut self, change: Change) {
        let at = &mut self.at[change.node as usize];
        if let Some(there) = self.list.get_mut(*at as usize) {
            *there = change;
        } else {
            *at = self.list.len() as u32;
            self.list.push(change);
        }
    }

    /// Replaces `old`, one of the neighbours that node `v` has after these changes of a tour, by `new`.
    #[inline]
    pub fn relink(&mut self, tour: &Tour, v: u32, old: u32, new: u32) {
        let [first, second] = self.links(tour, v);
        let links = if first == old { [new, second] } else { [first, new] };
        self.set(Change { node: v, links });
    }
}

/// The segments of a tour between cuts. Once there is a cut and the cuts are sorted, segment r, from 0, ends with cut r, and the
/// first one wraps around the tour's end; before that, segments must not be asked for.
pub struct Segments {
    n: u32,
    cuts: Vec<Cut>,
}

/// A cut of a tour after a position.
pub struct Cut {
    pub position: u32,
    /// A number chosen by the caller.
    pub tag: u32,
}

impl Segments {
    /// Makes a tour of `n` nodes without cuts.
    pub fn new(n: u32) -> Segments {
        Segments { n, cuts: Vec::new() }
    }

    /// Removes all cuts.
    pub fn clear(&mut self) {
        self.cuts.clear();
    }

    /// Cuts the tour at a position where there is no cut.
    #[inline]
    pub fn cut(&mut self, position: u32, tag: u32) {
        self.cuts.push(Cut { position, tag });
    }

    /// Sorts the cuts.
    pub fn sort(&mut self) {
        self.cuts.sort_unstable_by_key(|cut| cut.position);
    }

    /// Returns the cuts, in ascending order once they are sorted.
    #[inline]
    pub fn cuts(&self) -> &[Cut] {
        &self.cuts
    }

    /// Returns the last position of segment `r`.
    #[inline]
    pub fn end(&self, r: usize) -> u32 {
        self.cuts[r].position
    }

    /// Returns the segment of a position.
    #[inline]
    pub fn of(&self, position: u32) -> usize {
        let r = self.cuts.partition_point(|cut| cut.position < position);
        if r == self.cuts.len() { 0 } else { r }
    }

    /// Returns the number of nodes of segment `r`.
    #[inline]
    pub fn size(&self, r: usize) -> u32 {
        if r == 0 {
            self.end(0) + self.n - self.end(self.cuts.len() - 1)
        } else {
            self.end(r) - self.end(r - 1)
        }
    }
}
