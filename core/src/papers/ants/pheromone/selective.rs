//! Selective pheromone memory (Skinderowicz 2016, section 3.2 and figure 5): a node remembers the trails of a few edges in a ring;
//! a new one replaces the one added longest ago. Every other edge has the lowest trail. O(n s) memory.
//!
//! An edge that an ant takes, and that no best tour has had, has the lowest trail before and after the update: in a ring it carries
//! no information, and pushes out an edge of the best tour. So rings may be restricted to edges of best tours.
//!
//! An edge and its trail are one 64-bit word, so that ants that meet in a ring never see one edge with another edge's trail.

use super::Memory;
use crate::papers::ants::tabu::{NONE, Tabu};
use crate::relaxed::{load, load_pair, load_two_pairs, store, store_pair};
use crate::team::{Slots, Team};

/// Most edges that a node remembers.
pub const MOST_SLOTS: u32 = 32;

/// Returns the words, of 8 bytes, of a ring for `slots` edges: whole chunks.
pub const fn stride(slots: u32) -> u32 {
    slots.next_multiple_of(CHUNK)
}

/// See the [module](self).
#[derive(Clone, Copy)]
pub struct Selective {
    /// n rings of [`stride`] edges, at a 16-byte boundary: the node in the lower half of a word, the trail's bits in the
    /// upper.
    pub edges: Slots<u64>,
    /// The slot of each node's ring that was filled last, with [`IS_FAR`]: n.
    pub tails: Slots<u32>,
    /// Edges that a node remembers, from 1 to [`MOST_SLOTS`].
    pub slots: u32,
    /// The trail of all other edges.
    pub lowest: f32,
    /// Whether ants on a GPU see each other's updates at once ([`crate::relaxed`]).
    pub fresh: bool,
    /// Whether rings store every edge that an ant takes, or only those of best tours.
    pub passing: bool,
}

/// Set in a node's word of `tails` once a best tour has had an edge to a node that is not a candidate.
pub const IS_FAR: u32 = 1 << 31;

/// No slot.
const NOWHERE: u32 = u32::MAX;

/// Edges that are read together.
const CHUNK: u32 = 8;

/// Some edges of a ring: nodes and trails.
#[derive(Clone, Copy)]
struct Chunk([(u32, u32); CHUNK as usize]);

impl Chunk {
    /// # Safety
    /// `first` is the first slot of the ring, or the first after another chunk.
    #[inline(always)]
    unsafe fn load(ring: Slots<u64>, first: u32, fresh: bool) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let start = ring.run(first, CHUNK);
            let [a, b] = load_two_pairs(start, fresh);
            let [c, d] = load_two_pairs(start.add(2), fresh);
            let [e, f] = load_two_pairs(start.add(4), fresh);
            let [g, h] = load_two_pairs(start.add(6), fresh);
            Chunk([a, b, c, d, e, f, g, h])
        }
    }

    /// Returns the slot of `v` and its trail's bits; `known` if it is not here. `first` is the chunk's first slot.
    #[inline(always)]
    fn find(&self, v: u32, first: u32, known: (u32, u32)) -> (u32, u32) {
        let (mut slot, mut trail) = known;
        let mut i = 0;
        while i < CHUNK as usize {
            let here = self.0[i].0 == v;
            slot = if here { first + i as u32 } else { slot };
            trail = if here { self.0[i].1 } else { trail };
            i += 1;
        }
        (slot, trail)
    }
}

/// A visit to a node.
#[derive(Clone, Copy)]
pub struct RingRow {
    /// The node's ring, and its first edges.
    ring: Slots<u64>,
    chunk: Chunk,
    tail_place: *mut u32,
    /// The slot filled last, including the one for the trail back.
    tail: u32,
    /// [`IS_FAR`], or 0.
    far: u32,
    /// The slot of the trail back, and the trail's bits.
    back: (u32, u32),
    /// The slot whose edge is replaced by the one back.
    lost: u32,
}

impl Selective {
    #[inline(always)]
    fn after(self, slot: u32) -> u32 {
        if slot + 1 < self.slots { slot + 1 } else { 0 }
    }

    /// # Safety
    /// `node` is a node of the memory.
    #[inline(always)]
    unsafe fn ring(self, node: u32) -> Slots<u64> {
        let stride = stride(self.slots) as usize;
        // SAFETY: the caller's promise.
        unsafe { self.edges.part(node as usize * stride, stride) }
    }

    /// Returns the slot of `v` and its trail's bits; [`NOWHERE`] and the lowest trail if it is not in the ring.
    ///
    /// # Safety
    /// The chunk is the first of the ring.
    #[inline(always)]
    unsafe fn look(self, ring: Slots<u64>, chunk: Chunk, v: u32) -> (u32, u32) {
        let mut found = chunk.find(v, 0, (NOWHERE, self.lowest.to_bits()));
        let mut first = CHUNK;
        while first < self.slots {
            // SAFETY: a chunk of the ring.
            let chunk = unsafe { Chunk::load(ring, first, self.fresh) };
            found = chunk.find(v, first, found);
            first += CHUNK;
        }
        found
    }

    /// Replaces the trail from `node` to `v`, outside of visits, on one member; a trail that is not in the ring is added only if it
    /// `enters`.
    ///
    /// # Safety
    /// Both are nodes of the memory.
    #[inline(always)]
    unsafe fn replace(self, node: u32, v: u32, enters: bool, revise: impl Fn(f32) -> f32) {
        // SAFETY: the caller's promise.
        unsafe {
            let (ring, tail_place) = (self.ring(node), self.tails.at(node));
            let (mut slot, trail) = self.look(ring, Chunk::load(ring, 0, self.fresh), v);
            if slot == NOWHERE {
                if !enters {
                    return;
                }
                let tail = load(tail_place, self.fresh);
                slot = self.after(tail & !IS_FAR);
                store(tail_place, slot | tail & IS_FAR);
            }
            store_pair(ring.at(slot), (v, revise(f32::from_bits(trail)).to_bits()));
        }
    }

    /// Returns whether the edge from `node` to `v` is in the ring.
    ///
    /// # Safety
    /// Both are nodes of the memory.
    pub unsafe fn has(self, node: u32, v: u32) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            let ring = self.ring(node);
            self.look(ring, Chunk::load(ring, 0, self.fresh), v).0 != NOWHERE
        }
    }
}

impl Memory for Selective {
    type Row = RingRow;
    const LISTED: bool = false;
    const BEYOND: bool = true;

    #[inline(always)]
    unsafe fn enter<T: Team>(self, _team: T, node: u32, back: u32) -> RingRow {
        // SAFETY: the caller's promise.
        unsafe {
            let (ring, tail_place) = (self.ring(node), self.tails.at(node));
            let (chunk, word) = (Chunk::load(ring, 0, self.fresh), load(tail_place, self.fresh));
            let (tail, far) = (word & !IS_FAR, word & IS_FAR);
            let mut row = RingRow { ring, chunk, tail_place, tail, far, back: (NOWHERE, 0), lost: NOWHERE };
            if back != NONE {
                row.back = self.look(ring, chunk, back);
                if row.back.0 == NOWHERE && self.passing {
                    row.tail = self.after(tail);
                    row.lost = row.tail;
                }
            }
            row
        }
    }

    #[inline(always)]
    unsafe fn trail(self, row: RingRow, _i: u32, v: u32) -> (f32, u32) {
        // SAFETY: the chunk is the first of the ring.
        let (slot, trail) = unsafe { self.look(row.ring, row.chunk, v) };
        if slot == row.lost { (self.lowest, NOWHERE) } else { (f32::from_bits(trail), slot) }
    }

    #[inline(always)]
    unsafe fn put_back<T: Team>(self, team: T, row: RingRow, back: u32, revise: impl Fn(f32) -> f32) {
        if back == NONE {
            return;
        }
        // Every member has read the ring and its tail.
        team.barrier();
        // SAFETY: the slot is one of the ring.
        team.single(|| unsafe {
            let (slot, trail) = row.back;
            let new = slot == NOWHERE;
            if new && !self.passing {
                return;
            }
            let slot = if new { row.tail } else { slot };
            store_pair(row.ring.at(slot), (back, revise(f32::from_bits(trail)).to_bits()));
            if new {
                store(row.tail_place, slot | row.far);
            }
        });
    }

    #[inline(always)]
    unsafe fn put(self, row: RingRow, entry: u32, v: u32, trail: f32) {
        // SAFETY: the slot is one of the ring.
        unsafe {
            if entry == NOWHERE && !self.passing {
                return;
            }
            let slot = if entry == NOWHERE { self.after(row.tail) } else { entry };
            store_pair(row.ring.at(slot), (v, trail.to_bits()));
            if entry == NOWHERE {
                store(row.tail_place, slot | row.far);
            }
        }
    }

    #[inline(always)]
    unsafe fn put_beyond<T: Team>(
        self,
        team: T,
        node: u32,
        v: u32,
        _both: bool,
        revise: impl Fn(f32) -> f32,
    ) {
        // The other side is put back on the visit to that node.
        // SAFETY: the caller's promise.
        unsafe { self.update(team, node, v, revise) }
    }

    #[inline(always)]
    unsafe fn beyond<T: Team, B: Tabu>(
        self,
        team: T,
        row: RingRow,
        tabu: &B,
        mut offer: impl FnMut(u32, f32),
    ) -> bool {
        team.for_each(self.slots, |slot| {
            // SAFETY: the ring's edges.
            let (v, trail) = unsafe { load_pair(row.ring.at(slot), self.fresh) };
            if v != NONE && !tabu.is_visited(v) {
                offer(v, f32::from_bits(trail))
            }
        });
        false
    }

    #[inline(always)]
    fn is_far(self, row: RingRow) -> bool {
        row.far != 0
    }

    #[inline(always)]
    unsafe fn update<T: Team>(self, team: T, node: u32, v: u32, revise: impl Fn(f32) -> f32) {
        // SAFETY: the caller's promise.
        team.single(|| unsafe { self.replace(node, v, self.passing, revise) });
    }

    #[inline(always)]
    unsafe fn deposit<T: Team>(self, team: T, node: u32, v: u32, revise: impl Fn(f32) -> f32) {
        // SAFETY: the caller's promise.
        team.single(|| unsafe { self.replace(node, v, true, revise) });
    }

    #[inline(always)]
    unsafe fn remember<T: Team>(self, team: T, node: u32, _v: u32) {
        // SAFETY: the caller's promise.
        team.single(|| unsafe {
            let place = self.tails.at(node);
            store(place, load(place, self.fresh) | IS_FAR);
        });
    }

    #[inline(always)]
    unsafe fn clear<T: Team>(self, team: T, node: u32, _initial: f32) {
        // SAFETY: the caller's promise.
        unsafe {
            let ring = self.ring(node);
            let none = (NONE, self.lowest.to_bits());
            team.for_each(stride(self.slots), |slot| store_pair(ring.at(slot), none));
            team.single(|| store(self.tails.at(node), self.slots - 1));
        }
    }
}
