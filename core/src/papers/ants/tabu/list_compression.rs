//! Tabu with list compression (Uchida et al.; Dawson and Stewart; Skinderowicz 2020, figure 3): a list of the
//! unvisited nodes, and for every node its place in it. 2n ids.

use super::{Tabu, aligned};
use crate::group::{Group, SIZE};
use crate::node::NodeId;
use crate::team::{Slots, Team};

/// See the [module](self).
#[derive(Clone, Copy)]
pub struct ListCompression<I> {
    unvisited: Slots<I>,
    /// `indices[v]` is the place of `v` in `unvisited`; from `length` on if `v` has been visited.
    indices: Slots<I>,
    length: u32,
    n: u32,
}

impl<I: NodeId> ListCompression<I> {
    const fn list_bytes(n: u32) -> usize {
        aligned(crate::group::round_up(n) as usize * I::BYTES as usize)
    }
}

impl<I: NodeId> Tabu for ListCompression<I> {
    #[inline(always)]
    fn bytes(n: u32) -> usize {
        2 * Self::list_bytes(n)
    }

    #[inline(always)]
    unsafe fn new(memory: *mut u8, n: u32) -> Self {
        // SAFETY: both lists lie inside the caller's memory.
        unsafe {
            let indices = memory.add(Self::list_bytes(n));
            let room = crate::group::round_up(n) as usize;
            ListCompression {
                unvisited: Slots::new(memory.cast(), room),
                indices: Slots::new(indices.cast(), room),
                length: n,
                n,
            }
        }
    }

    #[inline(always)]
    fn reset<T: Team>(&mut self, team: T) {
        let (list, n) = (*self, self.n);
        // SAFETY: the lists have room for round_up(n) ids; the tail stays readable as "no node".
        team.for_each(crate::group::round_up(n), |i| unsafe {
            list.unvisited.set(i, I::new(if i < n { i } else { n }));
            list.indices.set(i, I::new(if i < n { i } else { n }));
        });
        self.length = n;
    }

    #[inline(always)]
    fn mark<T: Team>(&mut self, team: T, node: u32) {
        let list = *self;
        self.length -= 1;
        let last = self.length;
        // SAFETY: node < n, so its place is below n; one member writes, a barrier follows.
        team.single(|| unsafe {
            let place = list.indices.get(node).get();
            let moved = list.unvisited.get(last);
            list.unvisited.set(place, moved);
            list.indices.set(moved.get(), I::new(place));
            list.indices.set(node, I::new(last));
            list.unvisited.set(last, I::new(list.n));
        });
    }

    #[inline(always)]
    fn is_visited(&self, node: u32) -> bool {
        // SAFETY: node < n.
        unsafe { self.indices.get(node).get() >= self.length }
    }

    #[inline(always)]
    fn length(&self) -> u32 {
        self.length
    }

    #[inline(always)]
    fn candidate(&self, slot: u32) -> Option<u32> {
        // SAFETY: slot < length <= n.
        Some(unsafe { self.unvisited.get(slot).get() })
    }

    #[inline(always)]
    unsafe fn weights<T: Team>(&self, _team: T, row: *const f32, group: u32) -> Group {
        // SAFETY: slots from `length` on hold n, whose weight is 0; `row` reaches that far.
        unsafe {
            let v = I::load_group(self.unvisited.run(group * SIZE as u32, SIZE as u32));
            gather(row, v)
        }
    }
}

/// The weights of eight nodes.
///
/// # Safety
/// `row` is readable at every one of them.
#[inline(always)]
pub(super) unsafe fn gather(row: *const f32, v: [u32; SIZE]) -> Group {
    // SAFETY: the caller's promise.
    unsafe {
        [
            *row.add(v[0] as usize),
            *row.add(v[1] as usize),
            *row.add(v[2] as usize),
            *row.add(v[3] as usize),
            *row.add(v[4] as usize),
            *row.add(v[5] as usize),
            *row.add(v[6] as usize),
            *row.add(v[7] as usize),
        ]
    }
}
