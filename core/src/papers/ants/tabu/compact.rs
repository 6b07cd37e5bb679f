//! Compact tabu (Skinderowicz 2020, section 4.1 and figure 4): one list of n ids. Its left part holds the unvisited nodes; right of
//! it are, for nodes that were moved left, their places, and "no node" (n) for the visited ones. A node below the border that is
//! not at its own place has been visited: the entry there is larger than the node.

use super::list_compression::gather;
use super::{Tabu, aligned};
use crate::group::{Group, SIZE};
use crate::node::NodeId;
use crate::team::{Slots, Team};

/// See the [module](self).
#[derive(Clone, Copy)]
pub struct Compact<I> {
    entries: Slots<I>,
    length: u32,
    n: u32,
}

impl<I: NodeId> Tabu for Compact<I> {
    #[inline(always)]
    fn bytes(n: u32) -> usize {
        aligned(crate::group::round_up(n) as usize * I::BYTES as usize)
    }

    #[inline(always)]
    unsafe fn new(memory: *mut u8, n: u32) -> Self {
        // SAFETY: the caller's promise.
        let entries = unsafe { Slots::new(memory.cast(), crate::group::round_up(n) as usize) };
        Compact { entries, length: n, n }
    }

    #[inline(always)]
    fn reset<T: Team>(&mut self, team: T) {
        let (entries, n) = (self.entries, self.n);
        // SAFETY: the list has room for round_up(n) ids.
        team.for_each(crate::group::round_up(n), |i| unsafe {
            entries.set(i, I::new(if i < n { i } else { n }))
        });
        self.length = n;
    }

    #[inline(always)]
    fn mark<T: Team>(&mut self, team: T, node: u32) {
        let (entries, n) = (self.entries, self.n);
        let border = self.length;
        self.length -= 1;
        let last = self.length;
        // SAFETY: node < n and unvisited, so every index below is under n; one member writes.
        team.single(|| unsafe {
            let place = if node < border { node } else { entries.get(node).get() };
            if node >= border {
                entries.set(node, I::new(n));
            }
            if place == last {
                entries.set(last, I::new(n));
            } else {
                // The last node moves to the free place; being at or right of the new border, it is found through its own entry.
                let moved = entries.get(last);
                entries.set(place, moved);
                entries.set(moved.get(), I::new(place));
            }
        });
    }

    #[inline(always)]
    fn is_visited(&self, node: u32) -> bool {
        // SAFETY: node < n.
        unsafe { self.entries.get(node).get() > node }
    }

    #[inline(always)]
    fn length(&self) -> u32 {
        self.length
    }

    #[inline(always)]
    fn candidate(&self, slot: u32) -> Option<u32> {
        // SAFETY: slot < length <= n.
        Some(unsafe { self.entries.get(slot).get() })
    }

    #[inline(always)]
    unsafe fn weights<T: Team>(&self, _team: T, row: *const f32, group: u32) -> Group {
        let first = group * SIZE as u32;
        // SAFETY: entries are at most n, as far as `row` reaches.
        let mut w = unsafe { gather(row, I::load_group(self.entries.run(first, SIZE as u32))) };
        // Entries right of the border are places, not nodes.
        let inside = self.length - first;
        if inside < SIZE as u32 {
            let mut k = 0;
            while k < SIZE {
                w[k] = if (k as u32) < inside { w[k] } else { 0.0 };
                k += 1;
            }
        }
        w
    }
}
