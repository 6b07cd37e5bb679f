//! The nodes that an ant has visited (Skinderowicz 2020, section 4.1): three data structures behind one trait.
//!
//! Each gives its unvisited nodes in *slots*: positions of a list, or the nodes themselves. Slots are read in
//! [groups](crate::group) of eight, and a slot that holds no unvisited node weighs 0.

pub mod bitmask;
pub mod compact;
pub mod list_compression;

pub use bitmask::Bitmask;
pub use compact::Compact;
pub use list_compression::ListCompression;

use crate::group::Group;
use crate::team::Team;

/// The visited nodes of one ant, shared by the ant's team.
///
/// Every member holds a copy and calls [`Tabu::reset`], [`Tabu::mark`] and [`Tabu::for_each_unvisited`] in step with the others;
/// the underlying memory is shared. Each member may ask about other nodes and slots. A barrier must follow a `reset` or a `mark`.
pub trait Tabu: Copy {
    /// Returns the bytes of team memory for `n` nodes, a multiple of 16.
    fn bytes(n: u32) -> usize;

    /// Makes the tabu of `n` nodes in `memory`; [`Tabu::reset`] must come before any use.
    ///
    /// # Safety
    /// `memory` is aligned to 16 bytes, has [`Tabu::bytes`] bytes, and belongs to the team alone while in use.
    unsafe fn new(memory: *mut u8, n: u32) -> Self;

    /// Makes every node unvisited.
    fn reset<T: Team>(&mut self, team: T);

    /// Marks the unvisited node `node`, below n, as visited.
    fn mark<T: Team>(&mut self, team: T, node: u32);

    /// Returns whether `node`, below n, has been visited.
    fn is_visited(&self, node: u32) -> bool;

    /// Returns the number of slots that have to be read to find every unvisited node.
    fn length(&self) -> u32;

    /// Returns the node in a slot below [`Tabu::length`]; `None` if it holds no unvisited node.
    fn candidate(&self, slot: u32) -> Option<u32>;

    /// Returns the weights of the slots of a group, the eight from 8 `group` on, read from a row of weights by node; 0 for a slot
    /// without an unvisited node.
    ///
    /// # Safety
    /// `row` is aligned to 16 bytes and readable for `round_up(n + 1)` floats, those from `n` on being 0; the group starts below
    /// [`Tabu::length`].
    unsafe fn weights<T: Team>(&self, team: T, row: *const f32, group: u32) -> Group;

    /// Calls `visit` with every unvisited node, each on one member, four at a time so that their data can be loaded together;
    /// [`NONE`] fills up.
    #[inline(always)]
    fn for_each_unvisited<T: Team>(&self, team: T, visit: impl FnMut([u32; 4])) {
        each_slot(self, team, visit)
    }
}

/// Implements [`Tabu::for_each_unvisited`] by reading every slot.
#[inline(always)]
fn each_slot<T: Team, B: Tabu>(tabu: &B, team: T, mut visit: impl FnMut([u32; 4])) {
    let (length, size) = (tabu.length(), team.size());
    let node = |slot: u32| if slot < length { tabu.candidate(slot).unwrap_or(NONE) } else { NONE };
    let mut slot = team.rank();
    while slot < length {
        let nodes = [node(slot), node(slot + size), node(slot + 2 * size), node(slot + 3 * size)];
        if nodes[0] & nodes[1] & nodes[2] & nodes[3] != NONE {
            visit(nodes);
        }
        slot += 4 * size;
    }
}

/// No node, in [`Tabu::for_each_unvisited`].
pub const NONE: u32 = u32::MAX;

/// Rounds a number of bytes up to a 16-byte boundary.
#[inline(always)]
pub(crate) const fn aligned(bytes: usize) -> usize {
    bytes.next_multiple_of(16)
}
