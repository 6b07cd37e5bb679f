//! Selective pheromone memory (Skinderowicz 2016, section 3.2 and figure 5): a node remembers the trails of a few edges
//! in a ring; a new one takes the place of the one added longest ago. Every other edge has the lowest trail. O(n s)
//! memory.
//!
//! An edge and its trail are one 64-bit word, so that ants that meet in a ring never see the one of one edge with the
//! other of another. During a visit the ring lies in the team's memory, nodes first and trails behind.

use super::Memory;
use crate::relaxed::{load, load_pair, store, store_pair};
use crate::tabu::{NONE, Tabu};
use crate::team::{Slots, Team};

/// Most edges that a node remembers.
pub const MOST_SLOTS: u32 = 32;

/// See the [module](self).
#[derive(Clone, Copy)]
pub struct Selective {
    /// n rings of `slots` edges: the node in the lower half of a word, the trail's bits in the upper.
    pub edges: Slots<u64>,
    /// A node's slot that was filled last.
    pub tails: Slots<u32>,
    /// Edges that a node remembers, at most [`MOST_SLOTS`].
    pub slots: u32,
    /// The trail of all other edges.
    pub lowest: f32,
}

/// No slot.
const NOWHERE: u32 = u32::MAX;

/// A visit to a node.
#[derive(Clone, Copy)]
pub struct Row {
    /// The node's ring.
    ring: *mut u64,
    tail_place: *mut u32,
    /// The slot filled last, the one for the trail back included.
    tail: u32,
    /// The slot of the trail back, and whether that is new there.
    back: (u32, bool),
    /// The ring's nodes, then its trails.
    copy: Slots<u32>,
}

/// Four nodes, which a GPU reads in one instruction.
#[repr(C, align(16))]
struct Quad(u32, u32, u32, u32);

impl Selective {
    /// Slots in a copy: whole quads.
    #[inline(always)]
    fn width(self) -> u32 {
        self.slots.next_multiple_of(4)
    }

    /// The slot of `v` in a copy, or [`NOWHERE`].
    ///
    /// # Safety
    /// The copy has [`Selective::width`] nodes, at a 16-byte boundary.
    #[inline(always)]
    unsafe fn slot_of(self, copy: Slots<u32>, v: u32) -> u32 {
        let (mut slot, mut at) = (NOWHERE, 0);
        while at < self.slots {
            // SAFETY: the caller's promise.
            let quad = unsafe { &*copy.at(at).cast::<Quad>() };
            let (a, b, c, d) = (quad.0, quad.1, quad.2, quad.3);
            slot = if a == v { at } else { slot };
            slot = if b == v { at + 1 } else { slot };
            slot = if c == v { at + 2 } else { slot };
            slot = if d == v { at + 3 } else { slot };
            at += 4;
        }
        slot
    }

    #[inline(always)]
    fn after(self, slot: u32) -> u32 {
        if slot + 1 < self.slots { slot + 1 } else { 0 }
    }

    /// # Safety
    /// `node` is a node of the memory.
    #[inline(always)]
    unsafe fn ring(self, node: u32) -> *mut u64 {
        // SAFETY: the caller's promise; there may be more than 2^32 edges.
        unsafe { self.edges.at(0).add(node as usize * self.slots as usize) }
    }
}

impl Memory for Selective {
    type Row = Row;
    const LISTED: bool = false;
    const EVERYWHERE: bool = false;

    #[inline(always)]
    fn scratch(self) -> u32 {
        2 * self.width()
    }

    #[inline(always)]
    unsafe fn enter<T: Team>(
        self,
        team: T,
        (node, back): (u32, u32),
        copy: Slots<u32>,
        revise: impl Fn(f32) -> f32,
    ) -> Row {
        // SAFETY: the caller's promise; barriers stand between writing and reading the copy.
        unsafe {
            let (ring, tail_place) = (self.ring(node), self.tails.at(node));
            team.for_each(self.width(), |slot| {
                let none = (NONE, self.lowest.to_bits());
                let (v, trail) = if slot < self.slots { load_pair(ring.add(slot as usize)) } else { none };
                copy.set(slot, v);
                copy.set(self.width() + slot, trail);
            });
            let tail = load(tail_place);
            team.barrier();
            let mut row = Row { ring, tail_place, tail, back: (NOWHERE, false), copy };
            if back != NONE {
                let slot = self.slot_of(copy, back);
                row.back = (slot, false);
                if slot == NOWHERE {
                    row.tail = self.after(tail);
                    row.back = (row.tail, true);
                    // Every member has looked for it.
                    team.barrier();
                    team.single(|| {
                        copy.set(row.tail, back);
                        copy.set(self.width() + row.tail, revise(self.lowest).to_bits());
                    });
                    team.barrier();
                }
            }
            row
        }
    }

    #[inline(always)]
    unsafe fn trail(self, row: Row, _i: u32, v: u32) -> (f32, u32) {
        // SAFETY: the copy is that of this visit.
        unsafe {
            let slot = self.slot_of(row.copy, v);
            let known = slot != NOWHERE;
            let trail = f32::from_bits(row.copy.get(self.width() + if known { slot } else { 0 }));
            (if known { trail } else { self.lowest }, slot)
        }
    }

    #[inline(always)]
    unsafe fn put_back<T: Team>(self, team: T, row: Row, back: u32, revise: impl Fn(f32) -> f32) {
        if back == NONE {
            return;
        }
        // SAFETY: the slot is one of the ring, the copy that of this visit.
        team.single(|| unsafe {
            let (slot, new) = row.back;
            let trail = f32::from_bits(row.copy.get(self.width() + slot));
            // A new one stands in the copy as it will be.
            let trail = if new { trail } else { revise(trail) };
            store_pair(row.ring.add(slot as usize), (back, trail.to_bits()));
            if new {
                store(row.tail_place, slot);
            }
        });
    }

    #[inline(always)]
    unsafe fn put(self, row: Row, entry: u32, v: u32, trail: f32) {
        // SAFETY: the slot is one of the ring.
        unsafe {
            let slot = if entry == NOWHERE { self.after(row.tail) } else { entry };
            store_pair(row.ring.add(slot as usize), (v, trail.to_bits()));
            if entry == NOWHERE {
                store(row.tail_place, slot);
            }
        }
    }

    #[inline(always)]
    unsafe fn beyond<T: Team, B: Tabu>(self, team: T, row: Row, tabu: &B, mut offer: impl FnMut(u32, f32)) {
        team.for_each(self.slots, |slot| {
            // SAFETY: the copy is that of this visit.
            let (v, trail) = unsafe { (row.copy.get(slot), row.copy.get(self.width() + slot)) };
            if v != NONE && !tabu.is_visited(v) {
                offer(v, f32::from_bits(trail))
            }
        });
    }

    #[inline(always)]
    unsafe fn update<T: Team>(self, team: T, node: u32, v: u32, revise: impl Fn(f32) -> f32) {
        // SAFETY: the caller's promise.
        team.single(|| unsafe {
            let (ring, tail_place) = (self.ring(node), self.tails.at(node));
            let mut slot = 0;
            let mut trail = self.lowest;
            while slot < self.slots {
                let (u, bits) = load_pair(ring.add(slot as usize));
                if u == v {
                    trail = f32::from_bits(bits);
                    break;
                }
                slot += 1;
            }
            if slot == self.slots {
                slot = self.after(load(tail_place));
                store(tail_place, slot);
            }
            store_pair(ring.add(slot as usize), (v, revise(trail).to_bits()));
        });
    }

    #[inline(always)]
    unsafe fn clear<T: Team>(self, team: T, node: u32, _initial: f32) {
        // SAFETY: the caller's promise.
        unsafe {
            let ring = self.ring(node);
            let none = (NONE, self.lowest.to_bits());
            team.for_each(self.slots, |slot| store_pair(ring.add(slot as usize), none));
            team.single(|| store(self.tails.at(node), self.slots - 1));
        }
    }
}
