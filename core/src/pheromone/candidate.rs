//! A trail for every node and each of its k candidates: O(n k) memory. Edges outside the candidate lists have
//! no trail; ants take them only where every candidate has been visited, by distance.

use super::Form;
use crate::node::NodeId;

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Candidate<I> {
    /// n x k candidates.
    pub lists: *const I,
    /// Candidates of a node.
    pub k: u32,
}

impl<I: NodeId> Form for Candidate<I> {
    #[inline(always)]
    fn stride(self) -> u32 {
        self.k
    }

    #[inline(always)]
    unsafe fn target(self, node: u32, k: u32) -> Option<u32> {
        // SAFETY: the caller's promise.
        Some(unsafe { (*self.lists.add(node as usize * self.k as usize + k as usize)).get() })
    }
}
