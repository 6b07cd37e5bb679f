//! Bitmask tabu (Skinderowicz 2020, section 4.1): one bit per node, set while it is unvisited. n / 8 bytes.
//!
//! Its slots are the nodes themselves, so a group reads eight consecutive weights at once, and a group whose nodes have all been
//! visited costs one byte.

use super::{NONE, Tabu, aligned, each_slot};
use crate::group::{self, Group};
use crate::team::{Slots, Team};

/// See the [module](self).
#[derive(Clone, Copy)]
pub struct Bitmask {
    unvisited: Slots<u32>,
    n: u32,
}

impl Bitmask {
    /// Returns the bits of nodes 32 w .. 32 w + 32.
    #[inline(always)]
    fn word(&self, w: u32) -> u32 {
        // SAFETY: callers stay below n / 32 rounded up.
        unsafe { self.unvisited.get(w) }
    }
}

impl Tabu for Bitmask {
    #[inline(always)]
    fn bytes(n: u32) -> usize {
        aligned(n.div_ceil(32) as usize * 4)
    }

    #[inline(always)]
    unsafe fn new(memory: *mut u8, n: u32) -> Self {
        // SAFETY: the caller's promise.
        Bitmask { unvisited: unsafe { Slots::new(memory.cast(), n.div_ceil(32) as usize) }, n }
    }

    #[inline(always)]
    fn reset<T: Team>(&mut self, team: T) {
        let (bits, n) = (self.unvisited, self.n);
        team.for_each(n.div_ceil(32), |w| {
            let rest = n - 32 * w;
            // SAFETY: w is below the number of words.
            unsafe { bits.set(w, if rest >= 32 { u32::MAX } else { (1 << rest) - 1 }) }
        });
    }

    #[inline(always)]
    fn mark<T: Team>(&mut self, team: T, node: u32) {
        let bits = self.unvisited;
        // SAFETY: node < n; one member writes.
        team.single(|| unsafe { bits.clear(node >> 5, 1 << (node & 31)) });
    }

    #[inline(always)]
    fn is_visited(&self, node: u32) -> bool {
        self.word(node >> 5) >> (node & 31) & 1 == 0
    }

    #[inline(always)]
    fn length(&self) -> u32 {
        self.n
    }

    #[inline(always)]
    fn candidate(&self, slot: u32) -> Option<u32> {
        if self.is_visited(slot) { None } else { Some(slot) }
    }

    #[inline(always)]
    unsafe fn weights<T: Team>(&self, _team: T, row: *const f32, group: u32) -> Group {
        let bits = self.word(group >> 2) >> (8 * (group & 3)) & 0xff;
        if T::ALONE && bits == 0 {
            return [0.0; group::SIZE];
        }
        // A group without unvisited nodes reads the row's first one instead: this needs no branch and, as others do the same, no
        // fetch.
        let start = if bits == 0 { 0 } else { group as usize * group::SIZE };
        // SAFETY: the group's floats lie inside the padded row.
        let mut w = unsafe { group::load(row.add(start)) };
        let mut k = 0;
        while k < group::SIZE {
            w[k] = if bits >> k & 1 == 1 { w[k] } else { 0.0 };
            k += 1;
        }
        w
    }

    #[inline(always)]
    fn for_each_unvisited<T: Team>(&self, team: T, mut visit: impl FnMut([u32; 4])) {
        if !T::ALONE {
            return each_slot(self, team, visit);
        }
        // A single member goes from bit to bit instead.
        for w in 0..self.n.div_ceil(32) {
            let mut bits = self.word(w);
            while bits != 0 {
                visit([32 * w + bits.trailing_zeros(), NONE, NONE, NONE]);
                bits &= bits - 1;
            }
        }
    }
}
