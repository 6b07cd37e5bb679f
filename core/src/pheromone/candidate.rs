//! A trail for every node and each of its k candidates: O(n k) memory. Edges outside the candidate lists have
//! no trail; ants take them only where every candidate has been visited, by distance.

use super::Form;
use crate::node::NodeId;
use crate::team::Team;

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Candidate<I> {
    /// n x k candidates.
    pub lists: *const I,
    /// Candidates of a node.
    pub k: u32,
}

impl<I: NodeId> Form for Candidate<I> {
    const LISTED: bool = true;

    #[inline(always)]
    fn stride(self) -> u32 {
        self.k
    }

    #[inline(always)]
    unsafe fn target(self, node: u32, k: u32) -> Option<u32> {
        // SAFETY: the caller's promise.
        Some(unsafe { (*self.lists.add(node as usize * self.k as usize + k as usize)).get() })
    }

    #[inline(always)]
    fn entry(self, i: u32, _v: u32) -> u32 {
        i
    }

    #[inline(always)]
    unsafe fn find<T: Team>(self, team: T, node: u32, v: u32, mut work: impl FnMut(u32)) {
        team.for_each(self.k, |i| {
            // SAFETY: inside the node's row.
            if unsafe { (*self.lists.add(node as usize * self.k as usize + i as usize)).get() } == v {
                work(i)
            }
        });
    }
}
