//! Where nodes are, and what is near them.

use crate::geometry::{Geometry, Places};

/// What the evaluation of a child reads of the instance.
pub struct Near<G: Geometry> {
    /// n x k neighbours, nearest first.
    pub lists: *const u32,
    /// Neighbours of a node.
    pub k: u32,
    /// Those that a sub-tour is joined to; at most `k`.
    pub breadth: u32,
    /// Places of all nodes.
    pub places: Places<G>,
}

impl<G: Geometry> Clone for Near<G> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<G: Geometry> Copy for Near<G> {}
