//! A trail for every pair of nodes: n rows of [`row_stride`] entries.

use super::candidate::update_both;
use super::{Atomic, CandidateTrails, Form, Memory};
use crate::node::NodeId;
use crate::papers::ants::construct::row_stride;
use crate::papers::ants::tabu::{NONE, Tabu};
use crate::relaxed::{load_f32, store_f32};
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

/// The trails, as ants of Ant Colony System read and change them: those of candidates in rows, because they are read at every step,
/// and a matrix for all others. The matrix entries of candidates may be changed too, but are never read.
///
/// Where edges have no direction, both sides of an edge have the same trail, so the side that is not among the candidates
/// ([`Memory::mirror`]) need not be read to be updated.
#[derive(Clone, Copy)]
pub struct MatrixTrails<I> {
    /// The candidates' trails.
    pub near: CandidateTrails<I>,
    /// n rows of [`row_stride`] trails.
    pub all: Slots<f32>,
    /// Number of nodes.
    pub n: u32,
    /// n rows of [`FAR`] words: the number of non-candidates that best tours have gone to from a node, counted up to [`FAR`], and
    /// the first of these. Only the trails to these can differ from the initial trail.
    pub far: Slots<u32>,
}

/// A visit to a node: the node, and its first candidate's trail.
#[derive(Clone, Copy)]
pub struct MatrixRow {
    node: u32,
    near: u32,
}

impl<I: NodeId> MatrixTrails<I> {
    /// Returns the place in the matrix of the trail from `node` to `v`.
    ///
    /// # Safety
    /// Both are nodes.
    #[inline(always)]
    unsafe fn place(self, node: u32, v: u32) -> *mut f32 {
        // SAFETY: the caller's promise; there may be more than 2^32 entries.
        unsafe { self.all.part(node as usize * row_stride(self.n) as usize + v as usize, 1).at(0) }
    }

    /// # Safety
    /// `node` is a node.
    #[inline(always)]
    unsafe fn far_row(self, node: u32) -> Slots<u32> {
        // SAFETY: the caller's promise.
        unsafe { self.far.part(node as usize * FAR as usize, FAR as usize) }
    }
}

impl<I: NodeId> Memory for MatrixTrails<I> {
    type Row = MatrixRow;
    const LISTED: bool = true;
    const BEYOND: bool = true;

    #[inline(always)]
    unsafe fn enter<T: Team>(self, team: T, node: u32, back: u32) -> MatrixRow {
        // SAFETY: the caller's promise.
        MatrixRow { node, near: unsafe { self.near.enter(team, node, back) } }
    }

    #[inline(always)]
    unsafe fn trail(self, row: MatrixRow, i: u32, v: u32) -> (f32, u32) {
        // SAFETY: the caller's promise.
        unsafe { self.near.trail(row.near, i, v) }
    }

    #[inline(always)]
    unsafe fn put_back<T: Team>(self, _: T, _: MatrixRow, _: u32, _: impl Fn(f32) -> f32) {}

    #[inline(always)]
    unsafe fn mirror(self, node: u32, v: u32, trail: f32) {
        // SAFETY: the caller's promise.
        unsafe { store_f32(self.place(v, node), trail) }
    }

    #[inline(always)]
    unsafe fn put_beyond<T: Team>(self, team: T, node: u32, v: u32, both: bool, revise: impl Fn(f32) -> f32) {
        // SAFETY: the caller's promise.
        team.single(|| unsafe {
            let trail = revise(load_f32(self.place(node, v), true));
            store_f32(self.place(node, v), trail);
            if both {
                self.mirror(node, v, trail);
            }
        });
    }

    #[inline(always)]
    unsafe fn put(self, row: MatrixRow, entry: u32, v: u32, trail: f32) {
        // SAFETY: the caller's promise.
        unsafe { self.near.put(row.near, entry, v, trail) }
    }

    #[inline(always)]
    unsafe fn beyond<T: Team, B: Tabu>(
        self,
        team: T,
        row: MatrixRow,
        tabu: &B,
        mut offer: impl FnMut(u32, f32),
    ) -> bool {
        // SAFETY: the caller's promise: entries and words of the row.
        unsafe {
            let far = self.far_row(row.node);
            let count = far.get(0);
            let few = count < FAR;
            team.for_each(if few { count } else { tabu.length() }, |i| {
                let v = if few { far.get(1 + i) } else { tabu.candidate(i).unwrap_or(NONE) };
                if v != NONE && !tabu.is_visited(v) {
                    offer(v, load_f32(self.place(row.node, v), true))
                }
            });
            !few
        }
    }

    #[inline(always)]
    unsafe fn update<T: Team>(self, team: T, node: u32, v: u32, revise: impl Fn(f32) -> f32) {
        // SAFETY: the caller's promise.
        unsafe {
            self.near.update(team, node, v, &revise);
            team.single(|| {
                let place = self.place(node, v);
                store_f32(place, revise(load_f32(place, true)));
            });
        }
    }

    #[inline(always)]
    unsafe fn update_back<T: Team>(self, team: T, node: u32, back: u32, revise: impl Fn(f32) -> f32) {
        // SAFETY: the caller's promise. The matrix has it already.
        unsafe { self.near.update(team, node, back, revise) }
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
            let (mut there, mut home) = self.near.sides(team, (from, to), back);
            // A side that nobody found among the candidates is in the matrix.
            let (_, found) = team.rank_among(!there.is_null());
            if found == 0 && team.rank() == 0 {
                there = self.place(from, to);
            }
            let (_, found) = team.rank_among(!home.is_null());
            if back && found == 0 && team.rank() == 1 % team.size() {
                home = self.place(to, from);
            }
            update_both((there, home), seen, revise)
        }
    }
}
