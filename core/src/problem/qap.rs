//! The quadratic assignment problem.

use super::{Problem, Shape, scan_one_by_one};
use crate::neighborhood::{Exchanges, Neighborhood, Walk};
use crate::search::Crew;
use crate::team::{Serial, Slots, Team};

/// An instance: a permutation p costs the sum of a_ij b_p(i)p(j) over all i and j (Luong et al. 2013, section 6.1).
///
/// With `STORED`, what an exchange changes is known in constant time, before and after every move. Taillard (1991, equations 4
/// and 5) stores the change of each exchange, and brings it up to date in constant time unless the exchange has a place in common
/// with the move, which takes linear time. Here what is stored is what changes are made of: how place x would interact with the
/// element that is at place y, D(x, y) = sum over k of a_xk b_p(y)p(k). A move of r and s adds the product of two vectors to it,
/// (a_xr - a_xs) (b_p(y)p(s) - b_p(y)p(r)), and exchanges columns r and s: constant time for every number, and the same for all.
///
/// Without, every change is computed in linear time when it is asked for, as Luong et al. do: for searches that look at few
/// neighbours.
///
/// Shape: `sizes` = n, 1 if both matrices are symmetric, 1 if both have diagonals of zeros. Tables: a and b, n x n, i32 below 2^28
/// each way; if stored, no sum of n products of their numbers leaves 32 bits.
#[derive(Clone, Copy, Debug)]
pub struct Qap<const STORED: bool> {
    a: *const i32,
    b: *const i32,
    n: u32,
    symmetric: bool,
    hollow: bool,
}

/// What a team notes.
#[derive(Clone, Copy)]
struct Notes {
    /// D by rows. Numbers wrap around on the way, but not where they arrive.
    rows: Slots<i32>,
    /// The same of columns, where they differ from rows: the sum of a_kx b_p(k)p(y).
    columns: Slots<i32>,
    /// The two vectors of a move, by place, for rows.
    row_vectors: Slots<[i32; 2]>,
    /// The same for columns.
    column_vectors: Slots<[i32; 2]>,
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

    /// Numbers from a row of D to the next: odd, so that a GPU reads a column as fast as a row.
    #[inline(always)]
    fn stride(&self) -> u32 {
        self.n | 1
    }

    /// Matrices that are stored.
    #[inline(always)]
    fn matrices(&self) -> usize {
        if self.symmetric { 1 } else { 2 }
    }

    #[inline(always)]
    fn view(&self, walk: &Walk<u32>) -> Notes {
        let (n, size) = (self.n as usize, self.n as usize * self.stride() as usize);
        let others = self.matrices() - 1;
        // SAFETY: the notes are as long as `notes` asks for, and aligned.
        unsafe {
            let vectors: *mut [i32; 2] = walk.notes.cast();
            let rows: *mut i32 = vectors.add(self.matrices() * n).cast();
            Notes {
                row_vectors: Slots::new(vectors, n),
                column_vectors: Slots::new(vectors.add(n), others * n),
                rows: Slots::new(rows, size),
                columns: Slots::new(rows.add(size), others * size),
            }
        }
    }

    /// What the exchange of places r and s changes, in linear time.
    ///
    /// # Safety
    /// The walk is of this problem.
    #[inline(always)]
    unsafe fn change(&self, p: Slots<u32>, (r, s): (u32, u32)) -> i64 {
        let mut sum = 0;
        // SAFETY: the caller's promise; r, s and k are below n.
        unsafe {
            let (pr, ps) = (p.get(r), p.get(s));
            Serial.for_each(self.n, |k| {
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
                } else if cfg!(target_arch = "nvptx64") {
                    // Threads side by side have the same r and look at the same k: what they read lies side by side.
                    2 * columns()
                } else {
                    2 * rows()
                };
                // Where both edges end at the two places they change both ends.
                sum += if k == r || k == s { 0 } else { term };
            });
            let loops = (self.a(r, r) - self.a(s, s)) as i64 * (self.b(ps, ps) - self.b(pr, pr)) as i64;
            let edges = (self.a(r, s) - self.a(s, r)) as i64 * (self.b(ps, pr) - self.b(pr, ps)) as i64;
            sum + loops + edges
        }
    }

    /// The same in constant time, from what is stored.
    ///
    /// # Safety
    /// As [`Qap::change`].
    #[inline(always)]
    unsafe fn stored_change(&self, walk: &Walk<u32>, (r, s): (u32, u32)) -> i64 {
        let (notes, stride, p) = (self.view(walk), self.stride(), walk.solution);
        // Sums over all k, those of the two places among them.
        // SAFETY: the caller's promise.
        let all = |d: Slots<i32>| unsafe {
            let at = |x: u32, y: u32| d.get(x * stride + y) as i64;
            at(r, s) + at(s, r) - at(r, r) - at(s, s)
        };
        // SAFETY: as above.
        unsafe {
            let (pr, ps) = (p.get(r), p.get(s));
            if self.symmetric && self.hollow {
                return 2 * all(notes.rows) + 4 * (self.a(r, s) as i64 * self.b(pr, ps) as i64);
            }
            let (a, b) = (|i, j| self.a(i, j) as i64, |i, j| self.b(i, j) as i64);
            let (rows, columns) =
                (all(notes.rows), all(if self.symmetric { notes.rows } else { notes.columns }));
            let rows = rows
                - (a(r, r) - a(s, r)) * (b(ps, pr) - b(pr, pr))
                - (a(r, s) - a(s, s)) * (b(ps, ps) - b(pr, ps));
            let columns = columns
                - (a(r, r) - a(r, s)) * (b(pr, ps) - b(pr, pr))
                - (a(s, r) - a(s, s)) * (b(ps, ps) - b(ps, pr));
            let loops = (a(r, r) - a(s, s)) * (b(ps, ps) - b(pr, pr));
            let edges = (a(r, s) - a(s, r)) * (b(ps, pr) - b(pr, ps));
            rows + columns + loops + edges
        }
    }

    /// Calls `work` for each place x on one part, and each place y on one of its members.
    #[inline(always)]
    fn each<T: Team>(&self, team: T, mut work: impl FnMut(u32, u32)) {
        let part = team.part();
        let mut x = team.part_rank();
        while x < self.n {
            part.for_each(self.n, |y| work(x, y));
            x += team.parts();
        }
    }
}

impl<const STORED: bool> Problem for Qap<STORED> {
    type Moves = Exchanges;
    type Cost = i64;
    const NAME: &'static str = if STORED { "qap_stored" } else { "qap" };
    const CROSSES: bool = true;

    #[inline(always)]
    unsafe fn new(shape: &Shape, tables: *const u8) -> Self {
        let [n, symmetric, hollow, _] = shape.sizes;
        let a: *const i32 = tables.cast();
        // SAFETY: b is behind a.
        let b = unsafe { a.add(n as usize * n as usize) };
        Qap { a, b, n, symmetric: symmetric != 0, hollow: hollow != 0 }
    }

    #[inline(always)]
    fn moves(&self) -> Exchanges {
        Exchanges { n: self.n, by_place: true }
    }

    #[inline(always)]
    fn notes(&self) -> usize {
        let each = 8 * self.n as usize + 4 * self.n as usize * self.stride() as usize;
        if STORED { self.matrices() * each } else { 0 }
    }

    #[inline(always)]
    unsafe fn begin<C: Crew>(&self, crew: &mut C, walk: &Walk<u32>) -> i64 {
        let (team, p) = (crew.team(), walk.solution);
        let mut sum = 0;
        // SAFETY: the caller's promise; between barriers an element is one member's.
        unsafe {
            team.for_each(self.n * self.n, |ij| {
                let (i, j) = (ij / self.n, ij % self.n);
                sum += self.a(i, j) as i64 * self.b(p.get(i), p.get(j)) as i64;
            });
            if STORED {
                let notes = self.view(walk);
                self.each(team, |x, y| {
                    let py = p.get(y);
                    let (mut row, mut column) = (0i32, 0i32);
                    Serial.for_each(self.n, |k| {
                        let pk = p.get(k);
                        row = row.wrapping_add(self.a(x, k).wrapping_mul(self.b(py, pk)));
                        if !self.symmetric {
                            column = column.wrapping_add(self.a(k, x).wrapping_mul(self.b(pk, py)));
                        }
                    });
                    notes.rows.set(x * self.stride() + y, row);
                    if !self.symmetric {
                        notes.columns.set(x * self.stride() + y, column);
                    }
                });
            }
        }
        team.sum(sum as u64) as i64
    }

    /// Notes take n times as long as the cost.
    unsafe fn cost(&self, walk: &Walk<u32>) -> i64 {
        let p = walk.solution;
        // SAFETY: the caller's promise.
        let term = |i, j| unsafe { i64::from(self.a(i, j)) * i64::from(self.b(p.get(i), p.get(j))) };
        (0..self.n).map(|i| (0..self.n).map(|j| term(i, j)).sum::<i64>()).sum()
    }

    #[inline(always)]
    unsafe fn neighbor_cost(&self, walk: &Walk<u32>, cost: i64, step: (u32, u32)) -> i64 {
        // SAFETY: the caller's promise.
        cost + unsafe {
            if STORED { self.stored_change(walk, step) } else { self.change(walk.solution, step) }
        }
    }

    #[inline(always)]
    unsafe fn make<C: Crew>(&self, crew: &mut C, walk: &Walk<u32>, (r, s): (u32, u32)) {
        let (team, p) = (crew.team(), walk.solution);
        if STORED {
            let (notes, stride) = (self.view(walk), self.stride());
            // SAFETY: the caller's promise; between barriers an element is written by one member.
            unsafe {
                let (pr, ps) = (p.get(r), p.get(s));
                team.for_each(self.n, |k| {
                    let pk = p.get(k);
                    let by_row = || {
                        [self.a(r, k).wrapping_sub(self.a(s, k)), self.b(ps, pk).wrapping_sub(self.b(pr, pk))]
                    };
                    if self.symmetric {
                        notes.row_vectors.set(k, by_row());
                    } else {
                        let by_column = [
                            self.a(k, r).wrapping_sub(self.a(k, s)),
                            self.b(pk, ps).wrapping_sub(self.b(pk, pr)),
                        ];
                        notes.row_vectors.set(k, by_column);
                        notes.column_vectors.set(k, by_row());
                    }
                });
                team.barrier();
                let update = |d: Slots<i32>, vectors: Slots<[i32; 2]>, x: u32, y: u32| {
                    let new = |y: u32| {
                        let product = vectors.get(x)[0].wrapping_mul(vectors.get(y)[1]);
                        d.get(x * stride + y).wrapping_add(product)
                    };
                    // The member of column r exchanges it with column s.
                    if y == r {
                        let (of_r, of_s) = (new(r), new(s));
                        d.set(x * stride + r, of_s);
                        d.set(x * stride + s, of_r);
                    } else if y != s {
                        d.set(x * stride + y, new(y));
                    }
                };
                self.each(team, |x, y| {
                    update(notes.rows, notes.row_vectors, x, y);
                    if !self.symmetric {
                        update(notes.columns, notes.column_vectors, x, y);
                    }
                });
            }
        }
        // Nothing above has looked at the solution since the last barrier.
        // SAFETY: the caller's promise.
        unsafe { self.moves().apply(team, walk, (r, s)) }
    }

    #[inline(always)]
    unsafe fn scan<C: Crew>(
        &self,
        crew: &C,
        walk: &Walk<u32>,
        _: u32,
        cost: i64,
        mut visit: impl FnMut(u64, (u32, u32), i64),
    ) {
        let moves = self.moves();
        if !STORED {
            // SAFETY: the caller's promise.
            return unsafe { scan_one_by_one(self, crew, walk, cost, visit) };
        }
        moves.sweep(crew, |i, j| {
            // SAFETY: the caller's promise.
            visit(moves.index((i, j)), (i, j), cost + unsafe { self.stored_change(walk, (i, j)) })
        });
    }
}
