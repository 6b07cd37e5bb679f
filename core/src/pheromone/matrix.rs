//! A trail for every pair of nodes: n rows of [`row_stride`] entries.

use super::{Atomic, CandidateTrails, Form, Memory};
use crate::construct::row_stride;
use crate::node::NodeId;
use crate::relaxed::{load_f32, store_f32, update_f32};
use crate::tabu::{NONE, Tabu};
use crate::team::{Slots, Team};

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Matrix {
    /// Number of nodes.
    pub n: u32,
}

impl Form for Matrix {
    #[inline(always)]
    fn stride(self) -> u32 {
        row_stride(self.n)
    }

    #[inline(always)]
    unsafe fn target(self, node: u32, k: u32) -> Option<u32> {
        if k < self.n && k != node { Some(k) } else { None }
    }
}

/// Words of a row of [`MatrixTrails::far`].
pub const FAR: u32 = 8;

/// The trails, as ants of Ant Colony System read and change them: those of candidates side by side, for these are read at
/// every step, and a matrix for all others. Places of candidates in the matrix are changed too, but never read.
#[derive(Clone, Copy)]
pub struct MatrixTrails<I> {
    /// The candidates' trails.
    pub near: CandidateTrails<I>,
    /// n rows of [`row_stride`] trails.
    pub all: Slots<f32>,
    /// Number of nodes.
    pub n: u32,
    /// n rows of [`FAR`] words: how many nodes that are no candidates best tours have gone to from a node, and the first of
    /// them. Only the trails to these can be other than they were at the start.
    pub far: Slots<u32>,
}

/// A visit to a node.
#[derive(Clone, Copy)]
pub struct Row {
    near: *mut f32,
    node: u32,
    /// The trail back in the matrix.
    back: f32,
}

impl<I: NodeId> MatrixTrails<I> {
    /// The place in the matrix of the trail from `node` to `v`.
    ///
    /// # Safety
    /// Both are nodes.
    #[inline(always)]
    unsafe fn place(self, node: u32, v: u32) -> *mut f32 {
        // SAFETY: the caller's promise; there may be more than 2^32 entries.
        unsafe { self.all.at(0).add(node as usize * row_stride(self.n) as usize + v as usize) }
    }

    /// # Safety
    /// `node` is a node.
    #[inline(always)]
    unsafe fn far_row(self, node: u32) -> Slots<u32> {
        // SAFETY: the caller's promise.
        unsafe { Slots::new(self.far.at(0).add(node as usize * FAR as usize)) }
    }
}

impl<I: NodeId> Memory for MatrixTrails<I> {
    type Row = Row;
    const LISTED: bool = true;
    const BEYOND: bool = true;

    #[inline(always)]
    unsafe fn enter<T: Team>(self, team: T, node: u32, back: u32) -> Row {
        // SAFETY: the caller's promise.
        unsafe {
            let known = if back == NONE { 0.0 } else { load_f32(self.place(node, back)) };
            Row { near: self.near.enter(team, node, back), node, back: known }
        }
    }

    #[inline(always)]
    unsafe fn trail(self, row: Row, i: u32, v: u32) -> (f32, u32) {
        // SAFETY: the caller's promise.
        unsafe { self.near.trail(row.near, i, v) }
    }

    #[inline(always)]
    unsafe fn put_back<T: Team>(self, team: T, row: Row, back: u32, revise: impl Fn(f32) -> f32) {
        if back != NONE {
            // SAFETY: the caller's promise.
            team.single(|| unsafe { store_f32(self.place(row.node, back), revise(row.back)) });
        }
    }

    #[inline(always)]
    unsafe fn put(self, row: Row, entry: u32, v: u32, trail: f32) {
        // SAFETY: the caller's promise.
        unsafe { self.near.put(row.near, entry, v, trail) }
    }

    #[inline(always)]
    unsafe fn beyond<T: Team, B: Tabu>(
        self,
        team: T,
        row: Row,
        tabu: &B,
        mut offer: impl FnMut(u32, f32),
    ) -> bool {
        // SAFETY: the caller's promise: entries and words of the row.
        unsafe {
            let trail = |v: u32| load_f32(self.place(row.node, v));
            let far = self.far_row(row.node);
            let count = far.get(0);
            if count < FAR {
                team.for_each(count, |i| {
                    let v = far.get(1 + i);
                    if !tabu.is_visited(v) {
                        offer(v, trail(v))
                    }
                });
                return false;
            }
            tabu.for_each_unvisited(team, |v| {
                // All four loads before the first offer, so that they are on the way together; entry 0 for none.
                let at = |v: u32| trail(if v == NONE { 0 } else { v });
                let trails = [at(v[0]), at(v[1]), at(v[2]), at(v[3])];
                let mut each = |v: u32, trail: f32| {
                    if v != NONE {
                        offer(v, trail)
                    }
                };
                each(v[0], trails[0]);
                each(v[1], trails[1]);
                each(v[2], trails[2]);
                each(v[3], trails[3]);
            });
        }
        true
    }

    #[inline(always)]
    unsafe fn update<T: Team>(self, team: T, node: u32, v: u32, revise: impl Fn(f32) -> f32) {
        // SAFETY: the caller's promise.
        unsafe {
            self.near.update(team, node, v, &revise);
            team.single(|| {
                let place = self.place(node, v);
                store_f32(place, revise(load_f32(place)));
            });
        }
    }

    #[inline(always)]
    unsafe fn remember<T: Team>(self, team: T, node: u32, v: u32) {
        // SAFETY: the caller's promise: words of the row.
        team.single(|| unsafe {
            let far = self.far_row(node);
            let count = far.get(0);
            let mut i = 1;
            while i < FAR && i <= count && far.get(i) != v {
                i += 1;
            }
            if i > count && count < FAR {
                far.set(0, count + 1);
                if i < FAR {
                    far.set(i, v);
                }
            }
        });
    }

    #[inline(always)]
    unsafe fn clear<T: Team>(self, team: T, node: u32, initial: f32) {
        // SAFETY: the caller's promise.
        unsafe {
            self.near.clear(team, node, initial);
            team.for_each(row_stride(self.n), |v| store_f32(self.place(node, v), initial));
            team.single(|| self.far_row(node).set(0, 0));
        }
    }
}

impl<I: NodeId> Atomic for MatrixTrails<I> {
    #[inline(always)]
    unsafe fn update_edge<T: Team>(
        self,
        team: T,
        (from, to): (u32, u32),
        back: bool,
        seen: f32,
        revise: impl Fn(f32) -> f32,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let (place, other) = self.near.sides(team, (from, to), back);
            if !place.is_null() {
                update_f32(place, seen, &revise);
            }
            if !other.is_null() {
                update_f32(other, seen, &revise);
            }
            // A side that nobody found among candidates is in the matrix.
            let found = team.sum(!place.is_null() as u64 + !other.is_null() as u64);
            if found < 1 + back as u64 {
                team.single(|| {
                    update_f32(self.place(from, to), seen, &revise);
                    if back {
                        update_f32(self.place(to, from), seen, &revise);
                    }
                });
            }
        }
    }
}
