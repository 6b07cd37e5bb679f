//! Tours: their cost, and the links between neighbours.

use crate::distance::Distance;
use crate::node::NodeId;
use crate::team::{Slots, Team};

/// Returns the length of a closed tour of n nodes, each edge in the tour's direction; the same on every member, all of which call
/// this.
///
/// # Safety
/// `tour` holds n nodes that `distance` covers, and nobody writes to it.
#[inline(always)]
pub unsafe fn cost<T: Team, I: NodeId, D: Distance>(team: T, n: u32, distance: D, tour: *const I) -> i64 {
    let mut sum = 0i64;
    // SAFETY: places below n, nodes of the instance.
    team.for_each(n, |i| unsafe {
        let next = if i + 1 == n { 0 } else { i + 1 };
        let (a, b) = ((*tour.add(i as usize)).get(), (*tour.add(next as usize)).get());
        sum += distance.between(a, b) as i64;
    });
    team.sum(sum as u64) as i64
}

/// Writes each node's successor and predecessor in a closed tour: `successor[v]` is the node after v. Every member calls this; it
/// does not wait.
///
/// # Safety
/// `tour` holds a permutation of n nodes and nobody writes to it; `successor` and `predecessor` have n elements.
#[inline(always)]
pub unsafe fn links<T: Team, I: NodeId>(
    team: T,
    n: u32,
    tour: *const I,
    successor: Slots<u32>,
    predecessor: Slots<u32>,
) {
    // SAFETY: places below n; in a permutation every node is written by one member.
    team.for_each(n, |i| unsafe {
        let next = if i + 1 == n { 0 } else { i + 1 };
        let (a, b) = ((*tour.add(i as usize)).get(), (*tour.add(next as usize)).get());
        successor.set(a, b);
        predecessor.set(b, a);
    });
}
