//! Jump indices (Kang et al. 2016, section 2.3): from each node the nearest nodes that the child has not visited yet, forwards and
//! backwards in either parent, in O(1).
//!
//! The paper stores by position how far to jump. Here they are stored by node, as the nodes where the jumps end, so a node's four
//! jumps are next to each other and can be used without a lookup: equation (1), which adds the jumps of a visited node to those of
//! its neighbours, becomes the removal from a doubly linked list.

use crate::node::NodeId;
use crate::team::{Slots, Team};

/// Where to jump from a node: forwards and backwards in the first parent, forwards and backwards in the second.
pub type Four = [u32; 4];

/// Returns the bytes of memory for the jumps in tours of n nodes, a multiple of 16.
pub const fn memory_bytes<I: NodeId>(n: u32) -> usize {
    (4 * I::BYTES as usize * n as usize + 15) & !15
}

/// The jumps of one child.
#[derive(Clone, Copy)]
pub struct Jumps<I>(Slots<I>);

impl<I: NodeId> Jumps<I> {
    /// Makes a view of jumps in memory; [`Jumps::fill`] must come before any use.
    ///
    /// # Safety
    /// `memory` has [`memory_bytes`] for n nodes at a 16-byte boundary and belongs to the team that uses it.
    #[inline(always)]
    pub unsafe fn new(memory: *mut u8, n: u32) -> Self {
        // SAFETY: the caller's promise.
        Jumps(unsafe { Slots::new(memory.cast(), 4 * n as usize) })
    }

    /// Makes the jumps before any node is visited: to the neighbours in the parents' tours. Every member calls this, and waits.
    ///
    /// # Safety
    /// Both parents hold a permutation of n nodes, and nobody writes to them.
    #[inline(always)]
    pub unsafe fn fill<T: Team>(self, team: T, n: u32, parents: [*const I; 2]) {
        team.for_each(n, |i| {
            let next = if i + 1 == n { 0 } else { i + 1 };
            let before = if i == 0 { n - 1 } else { i - 1 };
            for parent in 0..2 {
                let tour = parents[parent as usize];
                // SAFETY: places below n; in a permutation every node is written by one member.
                unsafe {
                    let at = |place: u32| (*tour.add(place as usize)).get();
                    I::store_two(self.0.run(4 * at(i) + 2 * parent, 2), [at(next), at(before)]);
                }
            }
        });
        team.barrier();
    }

    /// Returns the jumps of a node.
    ///
    /// # Safety
    /// `node` is below n, and nobody writes meanwhile.
    #[inline(always)]
    pub unsafe fn of(self, node: u32) -> Four {
        // SAFETY: the caller's promise; four ids begin at a multiple of their size.
        unsafe { I::load_four(self.0.run(4 * node, 4)) }
    }

    /// Visits a node, whose jumps are `four`: no jump ends there any more.
    ///
    /// # Safety
    /// The node has not been visited; only one member is working.
    #[inline(always)]
    pub unsafe fn visit(self, four: Four) {
        let [next, before, next_too, before_too] = four;
        // SAFETY: jumps are nodes.
        unsafe {
            self.0.set(4 * before, I::new(next));
            self.0.set(4 * next + 1, I::new(before));
            self.0.set(4 * before_too + 2, I::new(next_too));
            self.0.set(4 * next_too + 3, I::new(before_too));
        }
    }

    /// Returns whether a node has not been visited, provided that another one has not: the last one stays open.
    ///
    /// # Safety
    /// `node` is below n, and nobody writes meanwhile.
    #[inline(always)]
    pub unsafe fn is_open(self, node: u32) -> bool {
        // A visited node keeps its jumps, but the node before it has a new one.
        // SAFETY: jumps are nodes.
        unsafe { self.0.get(4 * self.0.get(4 * node + 1).get()).get() == node }
    }
}
