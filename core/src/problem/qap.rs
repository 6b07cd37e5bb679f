//! The quadratic assignment problem.

use super::{Problem, Shape};
use crate::combinations::{pair_index, pairs};
use crate::neighborhood::{Exchanges, Neighborhood, Walk};
use crate::search::Crew;
use crate::team::{Slots, Team};

/// An instance: a permutation p costs the sum of a_ij b_p(i)p(j) over all i and j (Luong et al. 2013, section 6.1).
///
/// With `STORED`, teams note what each exchange would change, and bring that up to date after a move in constant time for
/// each exchange that has no place in common with it (R.E. Burkard and F. Rendl 1984; É. Taillard, "Robust taboo search for the
/// quadratic assignment problem", Parallel Computing 17, 1991, equations 4 and 5). Else every change is computed in linear time
/// when it is asked for, as Luong et al. do: for searches that look at few neighbours. Annealing by several teams needs
/// that, for it asks for any exchange, and a team's notes are about its share.
///
/// Shape: `sizes` = n, 1 if both matrices are symmetric. Tables: a and b, n x n, i32 below 2^28 each way.
#[derive(Clone, Copy, Debug)]
pub struct Qap<const STORED: bool> {
    a: *const i32,
    b: *const i32,
    n: u32,
    symmetric: bool,
}

/// What a team notes.
#[derive(Clone, Copy)]
struct Notes {
    /// What each exchange would change; right for the exchanges of the team's share.
    changes: Slots<i64>,
    /// Of the move being made: row r of a less row s, and the same of b, at the solution's places.
    rows: Slots<[i32; 2]>,
    /// The same of columns, where they differ from rows.
    columns: Slots<[i32; 2]>,
}

impl<const STORED: bool> Qap<STORED> {
    #[inline(always)]
    unsafe fn a(&self, i: u32, j: u32) -> i32 {
        // SAFETY: the caller's promise: i and j are below n.
        unsafe { *self.a.add((i * self.n + j) as usize) }
    }

    #[inline(always)]
    unsafe fn b(&self, i: u32, j: u32) -> i32 {
        // SAFETY: as above.
        unsafe { *self.b.add((i * self.n + j) as usize) }
    }

    #[inline(always)]
    fn view(&self, walk: &Walk<u32>) -> Notes {
        let (pairs, n) = (pairs(self.n) as usize, self.n as usize);
        // SAFETY: the notes are as long as `notes` asks for, and aligned.
        unsafe {
            let rows = walk.notes.add(8 * pairs);
            Notes {
                changes: Slots::new(walk.notes.cast()),
                rows: Slots::new(rows.cast()),
                columns: Slots::new(rows.add(8 * n).cast()),
            }
        }
    }

    /// What the exchange of places r and s changes: this member's part of the sum.
    ///
    /// # Safety
    /// The walk is of this problem.
    #[inline(always)]
    unsafe fn change<T: Team>(&self, team: T, p: Slots<u32>, (r, s): (u32, u32)) -> i64 {
        let mut sum = 0;
        // SAFETY: the caller's promise; r, s and k are below n.
        unsafe {
            let (pr, ps) = (p.get(r), p.get(s));
            team.for_each(self.n, |k| {
                let pk = p.get(k);
                let rows = || {
                    let a = self.a(r, k).wrapping_sub(self.a(s, k));
                    let b = self.b(ps, pk).wrapping_sub(self.b(pr, pk));
                    a as i64 * b as i64
                };
                let columns = || {
                    let a = self.a(k, r).wrapping_sub(self.a(k, s));
                    let b = self.b(pk, ps).wrapping_sub(self.b(pk, pr));
                    a as i64 * b as i64
                };
                let term = if !self.symmetric {
                    rows() + columns()
                } else if T::ALONE && cfg!(target_arch = "nvptx64") {
                    // Threads side by side have the same r and look at the same k: what they read lies side by side.
                    2 * columns()
                } else {
                    2 * rows()
                };
                // Where both edges end at the two places they change both ends.
                sum += if k == r || k == s { 0 } else { term };
            });
            team.single(|| {
                let loops = (self.a(r, r) - self.a(s, s)) as i64 * (self.b(ps, ps) - self.b(pr, pr)) as i64;
                let edges = (self.a(r, s) - self.a(s, r)) as i64 * (self.b(ps, pr) - self.b(pr, ps)) as i64;
                sum += loops + edges;
            });
        }
        sum
    }
}

impl<const STORED: bool> Problem for Qap<STORED> {
    type Moves = Exchanges;
    type Cost = i64;
    const NAME: &'static str = if STORED { "qap_stored" } else { "qap" };

    #[inline(always)]
    unsafe fn new(shape: &Shape, tables: *const u8) -> Self {
        let [n, symmetric, ..] = shape.sizes;
        let a: *const i32 = tables.cast();
        // SAFETY: b is behind a.
        Qap { a, b: unsafe { a.add(n as usize * n as usize) }, n, symmetric: symmetric != 0 }
    }

    #[inline(always)]
    fn moves(&self) -> Exchanges {
        Exchanges { n: self.n, by_place: true }
    }

    #[inline(always)]
    fn notes(&self) -> usize {
        if STORED { 8 * pairs(self.n) as usize + 16 * self.n as usize } else { 0 }
    }

    #[inline(always)]
    unsafe fn begin<C: Crew>(&self, crew: &mut C, walk: &Walk<u32>) -> i64 {
        let (team, p) = (crew.team(), walk.solution);
        let mut sum = 0;
        // SAFETY: the caller's promise.
        unsafe {
            team.for_each(self.n * self.n, |ij| {
                let (i, j) = (ij / self.n, ij % self.n);
                sum += self.a(i, j) as i64 * self.b(p.get(i), p.get(j)) as i64;
            });
            if STORED {
                let changes = self.view(walk).changes;
                self.own_pairs(crew, |index, pair| {
                    changes.set(index as u32, self.change(crate::team::Serial, p, pair))
                });
            }
        }
        team.sum(sum as u64) as i64
    }

    #[inline(always)]
    unsafe fn neighbor_cost(&self, walk: &Walk<u32>, cost: i64, (r, s): (u32, u32)) -> i64 {
        // SAFETY: the caller's promise.
        unsafe {
            if STORED {
                cost + self.view(walk).changes.get(pair_index(self.n, r, s) as u32)
            } else {
                cost + self.change(crate::team::Serial, walk.solution, (r, s))
            }
        }
    }

    #[inline(always)]
    unsafe fn make<C: Crew>(&self, crew: &mut C, walk: &Walk<u32>, (r, s): (u32, u32)) {
        if !STORED {
            // SAFETY: the caller's promise.
            return unsafe { self.moves().apply(crew.team(), walk, (r, s)) };
        }
        let (team, p, notes) = (crew.team(), walk.solution, self.view(walk));
        // SAFETY: the caller's promise; between barriers, an element is written by one member.
        unsafe {
            let (pr, ps) = (p.get(r), p.get(s));
            team.for_each(self.n, |k| {
                let pk = p.get(k);
                let row =
                    [self.a(r, k).wrapping_sub(self.a(s, k)), self.b(ps, pk).wrapping_sub(self.b(pr, pk))];
                notes.rows.set(k, row);
                if !self.symmetric {
                    let column = [
                        self.a(k, r).wrapping_sub(self.a(k, s)),
                        self.b(pk, ps).wrapping_sub(self.b(pk, pr)),
                    ];
                    notes.columns.set(k, column);
                }
            });
            team.barrier();
            self.moves().apply(team, walk, (r, s));
            let factor = if self.symmetric { 2 } else { 1 };
            self.own_pairs(crew, |index, (i, j)| {
                // Taillard's equation 5 with its factors sorted by place.
                let product = |vectors: Slots<[i32; 2]>| {
                    let ([a, b], [c, d]) = (vectors.get(i), vectors.get(j));
                    a.wrapping_sub(c) as i64 * b.wrapping_sub(d) as i64
                };
                let mut less = factor * product(notes.rows);
                if !self.symmetric {
                    less += product(notes.columns);
                }
                let old = notes.changes.get(index as u32);
                notes.changes.set(index as u32, old - less);
            });
            team.barrier();
            // Exchanges with one of the two places, by the team's parts; that of both changes back.
            let (start, end) = crew.share(pairs(self.n));
            let part = team.part();
            let mut which = team.part_rank();
            while which < 2 * self.n {
                let (fixed, other) = if which < self.n { (r, which) } else { (s, which - self.n) };
                which += team.parts();
                let (i, j) = (fixed.min(other), fixed.max(other));
                let index = pair_index(self.n, i, j);
                // What both r and s are part of is done once.
                if i == j || (fixed == s && other == r) || index < start || index >= end {
                    continue;
                }
                let sum = part.sum(self.change(part, p, (i, j)) as u64) as i64;
                part.single(|| notes.changes.set(index as u32, sum));
            }
            team.barrier();
        }
    }
}

impl<const STORED: bool> Qap<STORED> {
    /// Calls `work` for each exchange of the team's share, on one member, with its number.
    #[inline(always)]
    unsafe fn own_pairs<C: Crew>(&self, crew: &C, mut work: impl FnMut(u64, (u32, u32))) {
        let (team, moves) = (crew.team(), self.moves());
        let (start, end) = crew.share(moves.len());
        let mut index = start + team.rank() as u64;
        if index >= end {
            return;
        }
        let mut pair = moves.at(index);
        loop {
            work(index, pair);
            if end - index <= team.size() as u64 {
                return;
            }
            pair = moves.skip(pair, index, team.size());
            index += team.size() as u64;
        }
    }
}
