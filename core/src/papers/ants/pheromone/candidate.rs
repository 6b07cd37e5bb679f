//! A trail for every node and each of its k candidates: O(n k) memory. Edges outside the candidate lists have no trail; ants take
//! them only when every candidate has been visited, by distance.

use super::{Atomic, Form, Memory};
use crate::node::NodeId;
use crate::papers::ants::tabu::Tabu;
use crate::relaxed::{load_f32, store_f32, update_f32};
use crate::team::{Slots, Team};

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Candidate<I> {
    /// n x k candidates, row by row.
    pub lists: *const I,
    /// Candidates of a node.
    pub k: u32,
}

impl<I: NodeId> Candidate<I> {
    /// Returns the first entry of row `node`. There may be more than 2^32 entries.
    #[inline(always)]
    fn start(self, node: u32) -> usize {
        node as usize * self.k as usize
    }

    /// Calls `work` with the entry, in a table of this form, of the edge from `node` to `v`, on one member, if there is one.
    ///
    /// # Safety
    /// `node` is a node.
    #[inline(always)]
    pub(super) unsafe fn find<T: Team>(self, team: T, node: u32, v: u32, mut work: impl FnMut(usize)) {
        let start = self.start(node);
        team.for_each(self.k, |i| {
            // SAFETY: inside the node's row.
            if unsafe { (*self.lists.add(start + i as usize)).get() } == v {
                work(start + i as usize)
            }
        });
    }
}

impl<I: NodeId> Form for Candidate<I> {
    #[inline(always)]
    fn stride(self) -> u32 {
        self.k
    }

    #[inline(always)]
    unsafe fn target(self, node: u32, k: u32) -> Option<u32> {
        // SAFETY: the caller's promise.
        Some(unsafe { (*self.lists.add(self.start(node) + k as usize)).get() })
    }
}

/// The trails, as ants of Ant Colony System read and change them.
#[derive(Clone, Copy)]
pub struct CandidateTrails<I> {
    /// The node that each entry leads to.
    pub form: Candidate<I>,
    /// n x k trails, fewer than 2^32.
    pub trails: Slots<f32>,
    /// Whether ants on a GPU see each other's updates at once ([`crate::relaxed`]).
    pub fresh: bool,
}

impl<I: NodeId> CandidateTrails<I> {
    /// Returns the places of the trails of an edge's two sides, each on the member that found it, else null. The trail back is
    /// looked for only with `back`.
    ///
    /// # Safety
    /// Both are nodes.
    #[inline(always)]
    pub(super) unsafe fn sides<T: Team>(
        self,
        team: T,
        (from, to): (u32, u32),
        back: bool,
    ) -> (*mut f32, *mut f32) {
        let (mut there, mut home) = (core::ptr::null_mut(), core::ptr::null_mut());
        // SAFETY: entries of the table.
        unsafe {
            self.form.find(team, from, to, |entry| there = self.trails.part(entry, 1).at(0));
            if back {
                self.form.find(team, to, from, |entry| home = self.trails.part(entry, 1).at(0));
            }
        }
        (there, home)
    }
}

/// Updates two trails, either of which may be null. If members hold one each, they update them at the same time.
///
/// # Safety
/// They are trails that ants share.
#[inline(always)]
pub(super) unsafe fn update_both((one, two): (*mut f32, *mut f32), seen: f32, revise: impl Fn(f32) -> f32) {
    let (one, two) = if one.is_null() { (two, one) } else { (one, two) };
    // SAFETY: the caller's promise.
    unsafe {
        if !one.is_null() {
            update_f32(one, seen, &revise);
        }
        if !two.is_null() {
            update_f32(two, seen, &revise);
        }
    }
}

impl<I: NodeId> Memory for CandidateTrails<I> {
    /// The row's first entry.
    type Row = u32;
    const LISTED: bool = true;
    const BEYOND: bool = false;

    #[inline(always)]
    unsafe fn enter<T: Team>(self, _team: T, node: u32, _back: u32) -> u32 {
        node * self.form.k
    }

    #[inline(always)]
    unsafe fn trail(self, row: u32, i: u32, _v: u32) -> (f32, u32) {
        // SAFETY: the caller's promise.
        (unsafe { load_f32(self.trails.at(row + i), self.fresh) }, row + i)
    }

    #[inline(always)]
    unsafe fn put_back<T: Team>(self, _: T, _: u32, _: u32, _: impl Fn(f32) -> f32) {}

    #[inline(always)]
    unsafe fn put(self, _row: u32, entry: u32, _v: u32, trail: f32) {
        // SAFETY: the caller's promise.
        unsafe { store_f32(self.trails.at(entry), trail) }
    }

    #[inline(always)]
    unsafe fn put_beyond<T: Team>(self, _: T, _: u32, _: u32, _: bool, _: impl Fn(f32) -> f32) {}

    #[inline(always)]
    unsafe fn beyond<T: Team, B: Tabu>(self, _: T, _: u32, _: &B, _: impl FnMut(u32, f32)) -> bool {
        false
    }

    #[inline(always)]
    unsafe fn update<T: Team>(self, team: T, node: u32, v: u32, revise: impl Fn(f32) -> f32) {
        // SAFETY: the caller's promise.
        unsafe {
            self.form.find(team, node, v, |entry| {
                let place = self.trails.part(entry, 1).at(0);
                store_f32(place, revise(load_f32(place, true)));
            });
        }
    }

    #[inline(always)]
    unsafe fn clear<T: Team>(self, team: T, node: u32, initial: f32) {
        // SAFETY: the caller's promise.
        unsafe {
            let row = self.trails.part(self.form.start(node), self.form.k as usize);
            team.for_each(self.form.k, |i| store_f32(row.at(i), initial));
        }
    }
}

impl<I: NodeId> Atomic for CandidateTrails<I> {
    #[inline(always)]
    unsafe fn update_edge<T: Team>(
        self,
        team: T,
        edge: (u32, u32),
        back: bool,
        seen: f32,
        revise: impl Fn(f32) -> f32,
    ) {
        // SAFETY: the caller's promise.
        unsafe { update_both(self.sides(team, edge, back), seen, revise) }
    }
}
