//! A table of trails as ants of Ant Colony System read and change it.

use super::{Atomic, Form, Memory};
use crate::relaxed::{load_f32, store_f32, update_f32};
use crate::tabu::{NONE, Tabu};
use crate::team::{Slots, Team};

/// Trails in the rows of a form.
#[derive(Clone, Copy)]
pub struct Table<F> {
    /// Which edges have a trail.
    pub form: F,
    /// n rows of [`Form::stride`] trails.
    pub trails: Slots<f32>,
}

/// A visit to a node.
#[derive(Clone, Copy)]
pub struct Row {
    /// The row's first trail.
    start: *mut f32,
    /// The trail back, where it is not met among the candidates.
    back: f32,
}

impl<F: Form> Table<F> {
    /// The first trail of row `node`.
    ///
    /// # Safety
    /// `node` is a node of the table.
    #[inline(always)]
    unsafe fn row(self, node: u32) -> *mut f32 {
        // SAFETY: the caller's promise; tables may have more than 2^32 entries.
        unsafe { self.trails.at(0).add(node as usize * self.form.stride() as usize) }
    }
}

impl<F: Form> Memory for Table<F> {
    type Row = Row;
    const LISTED: bool = F::LISTED;
    const EVERYWHERE: bool = !F::LISTED;

    #[inline(always)]
    fn scratch(self) -> u32 {
        0
    }

    #[inline(always)]
    unsafe fn enter<T: Team>(
        self,
        _team: T,
        (node, back): (u32, u32),
        _scratch: Slots<u32>,
        _revise: impl Fn(f32) -> f32,
    ) -> Row {
        // SAFETY: the caller's promise.
        unsafe {
            let start = self.row(node);
            let known = F::LISTED || back == NONE;
            Row { start, back: if known { 0.0 } else { load_f32(start.add(back as usize)) } }
        }
    }

    #[inline(always)]
    unsafe fn trail(self, row: Row, i: u32, v: u32) -> (f32, u32) {
        let entry = self.form.entry(i, v);
        // SAFETY: the caller's promise.
        (unsafe { load_f32(row.start.add(entry as usize)) }, entry)
    }

    #[inline(always)]
    unsafe fn put_back<T: Team>(self, team: T, row: Row, back: u32, revise: impl Fn(f32) -> f32) {
        if !F::LISTED && back != NONE {
            // SAFETY: the caller's promise.
            team.single(|| unsafe { store_f32(row.start.add(back as usize), revise(row.back)) });
        }
    }

    #[inline(always)]
    unsafe fn put(self, row: Row, entry: u32, _v: u32, trail: f32) {
        // SAFETY: the caller's promise.
        unsafe { store_f32(row.start.add(entry as usize), trail) }
    }

    #[inline(always)]
    unsafe fn beyond<T: Team, B: Tabu>(self, team: T, row: Row, tabu: &B, mut offer: impl FnMut(u32, f32)) {
        if F::LISTED {
            return;
        }
        tabu.for_each_unvisited(team, |v| {
            // All four loads before the first offer, so that they are on the way together; entry 0 for none.
            // SAFETY: entries of the row.
            let trail = |v: u32| unsafe { load_f32(row.start.add(if v == NONE { 0 } else { v as usize })) };
            let trails = [trail(v[0]), trail(v[1]), trail(v[2]), trail(v[3])];
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

    #[inline(always)]
    unsafe fn update<T: Team>(self, team: T, node: u32, v: u32, revise: impl Fn(f32) -> f32) {
        // SAFETY: the caller's promise.
        unsafe {
            let start = self.row(node);
            self.form.find(team, node, v, |entry| {
                let place = start.add(entry as usize);
                store_f32(place, revise(load_f32(place)));
            });
        }
    }

    #[inline(always)]
    unsafe fn clear<T: Team>(self, team: T, node: u32, initial: f32) {
        // SAFETY: the caller's promise.
        unsafe {
            let start = self.row(node);
            team.for_each(self.form.stride(), |entry| store_f32(start.add(entry as usize), initial));
        }
    }
}

impl<F: Form> Atomic for Table<F> {
    #[inline(always)]
    unsafe fn update_atomically<T: Team>(self, team: T, node: u32, v: u32, revise: impl Fn(f32) -> f32) {
        // SAFETY: the caller's promise.
        unsafe {
            let start = self.row(node);
            self.form.find(team, node, v, |entry| update_f32(start.add(entry as usize), &revise));
        }
    }
}
