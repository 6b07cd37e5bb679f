//! Chained Lin-Kernighan (Lin and Kernighan 1973; Martin, Otto and Felten 1991) on one tour, by any number of teams at
//! the same time.
//!
//! A round has many *trials*. In each, a team kicks the tour at a place of its own and repairs it by Lin-Kernighan moves. No trial
//! writes to the tour: it sees a constant [`Tour`], and keeps its own version as a few [`cuts`] of it. The result is a change
//! ([`trial::TrialChanges`]): removed edges, added edges, and the gain. Between rounds, [`merge`] makes all changes that share no
//! node and together leave one cycle.
//!
//! So a trial depends neither on the length of the tour nor on the number of teams, moves are never undone, and no team has to stay
//! within a part of the tour. The result depends only on the seed and on the number of trials per round.

pub mod cuts;
mod lanes;
pub mod merge;
pub mod moves;
pub mod small;
pub mod trial;

use crate::distance::Distance;
use crate::geometry::{Geometry, Places};

/// The entry in [`Tour::ahead`] for an edge that must stay in the tour. No distance is negative.
///
/// The edge counts as far shorter than any other, so that no sum of gains that includes its removal is positive: searches leave it
/// alone without asking. As no move removes it, no move can add it either, so its true length is never needed.
pub const FIXED: i32 = i32::MIN;

/// Returns by how much removing an edge makes a tour shorter, given its entry in [`Tour::ahead`].
#[inline(always)]
pub(crate) fn removed(ahead: i32) -> i64 {
    // Without a branch: nothing is added to distances.
    ahead as i64 + (((ahead >> 31) as i64) << 40)
}

/// A constant, closed, undirected tour of nodes 0 to n - 1, and the near neighbours of each node. Positions are counted from 0.
#[derive(Clone, Copy)]
pub struct Tour<G: Geometry> {
    /// Number of nodes, at least 8 and less than 2^29; for kicks, more than 12 if any edge is [`FIXED`].
    pub n: u32,
    /// Neighbours in a node's list, at least 1.
    pub k: u32,
    /// The nodes in the order of the tour: n.
    pub order: *const u32,
    /// The position of each node in it: n.
    pub position: *const u32,
    /// The distance from the node at each position to the next one: n. [`FIXED`] where this edge must stay; a node has at most
    /// one such edge.
    pub ahead: *const i32,
    /// n lists of k neighbours, nearest first; a node is not in its own list.
    pub lists: *const u32,
    /// The distance to each of them, in the same order.
    pub near: *const i32,
    /// The nodes' places.
    pub places: Places<G>,
}

impl<G: Geometry> Tour<G> {
    /// Returns the node at a position.
    ///
    /// # Safety
    /// `position` is less than n.
    #[inline(always)]
    pub unsafe fn at(self, position: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { *self.order.add(position as usize) }
    }

    /// Returns the position of a node.
    ///
    /// # Safety
    /// It is one of the tour's nodes.
    #[inline(always)]
    pub unsafe fn position(self, node: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { *self.position.add(node as usize) }
    }

    /// Returns the position after another; 0 after the last one.
    #[inline(always)]
    pub fn next_position(self, position: u32) -> u32 {
        if position + 1 == self.n { 0 } else { position + 1 }
    }

    /// Returns the distance from the node at a position to the next one; for a [fixed](FIXED) edge, less than minus the length of
    /// all edges of a move.
    ///
    /// # Safety
    /// `position` is less than n.
    #[inline(always)]
    pub unsafe fn next_distance(self, position: u32) -> i64 {
        // SAFETY: the caller's promise.
        removed(unsafe { self.ahead(position) })
    }

    /// Returns the entry of [`Tour::ahead`] for a position.
    ///
    /// # Safety
    /// `position` is less than n.
    #[inline(always)]
    pub unsafe fn ahead(self, position: u32) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { *self.ahead.add(position as usize) }
    }

    /// Returns a position, or the next one if the edge after it is [fixed](FIXED). A node has at most one fixed edge, so the edge
    /// after the result is not.
    ///
    /// # Safety
    /// `position` is less than n.
    #[inline(always)]
    pub unsafe fn free_position(self, position: u32) -> u32 {
        // SAFETY: the caller's promise.
        if unsafe { self.ahead(position) } == FIXED { self.next_position(position) } else { position }
    }

    /// Returns the distance between two nodes.
    ///
    /// # Safety
    /// Both are nodes of the tour.
    #[inline(always)]
    pub unsafe fn between(self, a: u32, b: u32) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { self.places.between(a, b) }
    }

    /// Returns whether the distance between two nodes is less than `limit`.
    ///
    /// # Safety
    /// As [`Tour::between`].
    #[inline(always)]
    pub unsafe fn is_below(self, a: u32, b: u32, limit: i64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.places.is_below(a, b, limit) }
    }
}
