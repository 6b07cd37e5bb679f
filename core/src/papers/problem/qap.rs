//! The quadratic assignment problem.

use super::{Problem, Shape, scan_one_by_one};
use crate::papers::neighborhood::{Exchanges, Neighborhood, Walk};
use crate::papers::search::Crew;
use crate::team::{Seat, Serial, Slots, Team, seat};

/// An instance: a permutation p costs the sum of a_ij b_p(i)p(j) over all i and j (Luong et al. 2013, section 6.1).
///
/// With `STORED`, the change of an exchange is known in constant time, before and after every move. Taillard (1991, equations 4 and
/// 5) stores the change of each exchange, and updates it in constant time unless the exchange shares a place with the move, which
/// takes linear time. Here the components of changes are stored: how place x would interact with the element that is at place y,
/// D(x, y) = sum over k of a_xk b_p(y)p(k). A move of r and s adds the product of two vectors to it, (a_xr - a_xs) (b_p(y)p(s) -
/// b_p(y)p(r)), and exchanges columns r and s: constant time for every number, and the same for all.
///
/// If both matrices are symmetric with zero diagonals, the stored numbers are E(x, y) = D(x, y) + a_xy b_p(x)p(y), where the added
/// term takes the place of the term k = y, which is 0. Then an exchange of r and s changes the cost by twice E(r, s) + E(s, r) -
/// E(r, r) - E(s, s), without reading a and b. In a move, the members that make the vectors also update rows and columns r and s,
/// and the product changes all others.
///
/// Without `STORED`, every change is computed in linear time when needed, as by Luong et al.: for searches that evaluate few
/// neighbours.
///
/// Shape: `sizes` = n, 1 if both matrices are symmetric, 1 if both have zero diagonals. Tables: a, then b, n x n by rows, i32,
/// absolute values below 2^28; if stored, no sum of n products of their numbers exceeds 32 bits. Element i of a solution is p(i).
#[derive(Clone, Copy, Debug)]
pub struct Qap<const STORED: bool> {
    a: *const i32,
    b: *const i32,
    n: u32,
    symmetric: bool,
    hollow: bool,
}

/// A team's notes.
#[derive(Clone, Copy)]
struct Notes {
    /// D by rows, or E. Intermediate numbers wrap around, but not final ones.
    rows: Interactions,
    /// The same for columns, where they differ from rows: the sum of a_kx b_p(k)p(y).
    columns: Interactions,
}

/// A matrix, and the two vectors of a move whose product is added to it.
#[derive(Clone, Copy)]
struct Interactions {
    matrix: Slots<i32>,
    of_row: Slots<i32>,
    of_column: Slots<i32>,
}

impl Interactions {
    /// Returns by how much an exchange of places r and s changes the sum of their interactions.
    ///
    /// # Safety
    /// The places are of the matrix, whose rows are `stride` numbers apart.
    #[inline(always)]
    unsafe fn change(&self, stride: u32, (r, s): (u32, u32)) -> i64 {
        // SAFETY: the caller's promise.
        let at = |x: u32, y: u32| unsafe { self.matrix.get(x * stride + y) as i64 };
        at(r, s) + at(s, r) - at(r, r) - at(s, s)
    }
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

    /// Returns the numbers from one row of D or E to the next: even, so that a GPU reads a diagonal as fast as a row. (A column is
    /// read and written once per move, slowly.)
    #[inline(always)]
    fn stride(&self) -> u32 {
        (self.n + 1) & !1
    }

    /// Returns whether E is stored.
    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.symmetric && self.hollow
    }

    /// Returns the number of stored matrices.
    #[inline(always)]
    fn matrices(&self) -> usize {
        if self.symmetric { 1 } else { 2 }
    }

    #[inline(always)]
    fn view(&self, walk: &Walk<u32>) -> Notes {
        let (n, size) = (self.n as usize, self.n as usize * self.stride() as usize);
        // SAFETY: the notes are as long as `notes` asks for, and aligned.
        let of = |from: usize, count: usize| unsafe {
            let start: *mut i32 = walk.notes.cast::<i32>().add(from * (2 * n + size));
            Interactions {
                of_row: Slots::new(start, count * n),
                of_column: Slots::new(start.add(n), count * n),
                matrix: Slots::new(start.add(2 * n), count * size),
            }
        };
        Notes { rows: of(0, 1), columns: of(self.matrices() - 1, self.matrices() - 1) }
    }

    /// Returns the change of the cost by an exchange of places r and s, in linear time.
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
                    // Adjacent threads have the same r and use the same k, so they read adjacent memory.
                    2 * columns()
                } else {
                    2 * rows()
                };
                // Edges between the two places change both ends.
                sum += if k == r || k == s { 0 } else { term };
            });
            let loops = (self.a(r, r) - self.a(s, s)) as i64 * (self.b(ps, ps) - self.b(pr, pr)) as i64;
            let edges = (self.a(r, s) - self.a(s, r)) as i64 * (self.b(ps, pr) - self.b(pr, ps)) as i64;
            sum + loops + edges
        }
    }

    /// Returns the same in constant time, from the stored numbers.
    ///
    /// # Safety
    /// As [`Qap::change`].
    #[inline(always)]
    unsafe fn stored_change(&self, walk: &Walk<u32>, (r, s): (u32, u32)) -> i64 {
        let (notes, stride, p) = (self.view(walk), self.stride(), walk.solution);
        // Sums over all k, including the two places.
        // SAFETY: the caller's promise.
        let all = |of: Interactions| unsafe { of.change(stride, (r, s)) };
        if self.is_plain() {
            return 2 * all(notes.rows);
        }
        // SAFETY: as above.
        unsafe {
            let (pr, ps) = (p.get(r), p.get(s));
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
    fn each<T: Team>(&self, team: T, work: impl FnMut(u32, u32)) {
        self.each_until(team, || false, work);
    }

    /// The same, but skips all remaining places x once `is_over` returns true.
    #[inline(always)]
    fn each_until<T: Team>(&self, team: T, is_over: impl Fn() -> bool, mut work: impl FnMut(u32, u32)) {
        let part = team.part();
        let mut x = team.part_rank();
        while x < self.n && !is_over() {
            part.for_each(self.n, |y| work(x, y));
            x += team.parts();
        }
    }

    /// Adds the product of a move's vectors to a matrix.
    ///
    /// # Safety
    /// The vectors are made, and nobody else accesses the matrix meanwhile.
    #[inline(always)]
    unsafe fn add_product<T: Team>(&self, team: T, of: Interactions) {
        let (n, stride, size) = (self.n, self.stride(), team.size());
        // SAFETY: the caller's promise; a number belongs to one member.
        unsafe {
            let sum = |x: u32, y: u32, factor: i32| {
                of.matrix.get(x * stride + y).wrapping_add(of.of_row.get(x).wrapping_mul(factor))
            };
            if T::ALONE {
                return self.each(team, |x, y| {
                    of.matrix.set(x * stride + y, sum(x, y, of.of_column.get(y)));
                });
            }
            // A member keeps its column; several may share one, and take turns with its rows.
            let Seat { place: mut y, turn, turns } = seat(n, size, team.rank());
            if turn >= turns {
                return;
            }
            loop {
                let (factor, mut x) = (of.of_column.get(y), turn);
                // Four at a time: none waits for another one's store.
                while x + 3 * turns < n {
                    let sums = [0, 1, 2, 3].map(|i| sum(x + i * turns, y, factor));
                    let mut i = 0;
                    while i < 4 {
                        of.matrix.set((x + i * turns) * stride + y, sums[i as usize]);
                        i += 1;
                    }
                    x += 4 * turns;
                }
                while x < n {
                    of.matrix.set(x * stride + y, sum(x, y, factor));
                    x += turns;
                }
                if n - y <= size {
                    return;
                }
                y += size;
            }
        }
    }

    /// Makes the vectors of a move of places r and s, and waits for the team.
    ///
    /// # Safety
    /// As [`Problem::make`].
    #[inline(always)]
    unsafe fn make_vectors<T: Team>(&self, team: T, walk: &Walk<u32>, (r, s): (u32, u32)) {
        let (Notes { rows, columns }, p) = (self.view(walk), walk.solution);
        // SAFETY: the caller's promise; between barriers an element is written by one member.
        unsafe {
            let (pr, ps) = (p.get(r), p.get(s));
            team.for_each(self.n, |k| {
                let pk = p.get(k);
                let a_row = self.a(r, k).wrapping_sub(self.a(s, k));
                let b_row = self.b(ps, pk).wrapping_sub(self.b(pr, pk));
                let (mut row, mut column) = (a_row, b_row);
                if !self.symmetric {
                    row = self.a(k, r).wrapping_sub(self.a(k, s));
                    column = self.b(pk, ps).wrapping_sub(self.b(pk, pr));
                    columns.of_row.set(k, a_row);
                    columns.of_column.set(k, b_row);
                }
                rows.of_row.set(k, row);
                rows.of_column.set(k, column);
            });
            team.barrier();
        }
    }

    /// Updates D before a move of places r and s.
    ///
    /// # Safety
    /// As [`Problem::make`].
    #[inline(always)]
    unsafe fn update<T: Team>(&self, team: T, walk: &Walk<u32>, (r, s): (u32, u32)) {
        let (notes, stride) = (self.view(walk), self.stride());
        let update = |of: Interactions, x: u32, y: u32| {
            // SAFETY: the caller's promise; a row's and a column's number is written by one member.
            unsafe {
                let new = |y: u32| {
                    let product = of.of_row.get(x).wrapping_mul(of.of_column.get(y));
                    of.matrix.get(x * stride + y).wrapping_add(product)
                };
                // The member of column r exchanges it with column s.
                if y == r {
                    let (of_r, of_s) = (new(r), new(s));
                    of.matrix.set(x * stride + r, of_s);
                    of.matrix.set(x * stride + s, of_r);
                } else if y != s {
                    of.matrix.set(x * stride + y, new(y));
                }
            }
        };
        // SAFETY: the caller's promise.
        unsafe { self.make_vectors(team, walk, (r, s)) };
        self.each(team, |x, y| {
            update(notes.rows, x, y);
            if !self.symmetric {
                update(notes.columns, x, y);
            }
        });
    }

    /// Updates E before a move of places r and s.
    ///
    /// # Safety
    /// As [`Problem::make`].
    #[inline(always)]
    unsafe fn update_plain<T: Team>(&self, team: T, walk: &Walk<u32>, (r, s): (u32, u32)) {
        let (rows, stride) = (self.view(walk).rows, self.stride());
        let Interactions { matrix, of_row, of_column } = rows;
        let p = walk.solution;
        // SAFETY: the caller's promise; between barriers a number belongs to one member.
        unsafe {
            let (pr, ps) = (p.get(r), p.get(s));
            let (a_rs, b_rs) = (self.a(r, s), self.b(pr, ps));
            let set = |x: u32, y: u32, number: i32| matrix.set(x * stride + y, number);
            let get = |x: u32, y: u32| matrix.get(x * stride + y);
            // The product adds nothing to rows and columns r and s.
            team.for_each(self.n, |k| {
                if k == r || k == s {
                    of_row.set(k, 0);
                    of_column.set(k, 0);
                    let (at_r, at_s) = (get(k, r), get(k, s));
                    set(k, r, at_s);
                    set(k, s, at_r);
                    return;
                }
                let pk = p.get(k);
                let (a_r, a_s) = (self.a(r, k), self.a(s, k));
                let (b_r, b_s) = (self.b(pr, pk), self.b(ps, pk));
                let (u, v) = (a_r.wrapping_sub(a_s), b_s.wrapping_sub(b_r));
                of_row.set(k, u);
                of_column.set(k, v);
                let (at_r, at_s) = (get(k, r), get(k, s));
                set(k, r, at_s.wrapping_add(u.wrapping_mul(b_s.wrapping_sub(b_rs))));
                set(k, s, at_r.wrapping_add(u.wrapping_mul(b_rs.wrapping_sub(b_r))));
                set(r, k, get(r, k).wrapping_add(a_r.wrapping_sub(a_rs).wrapping_mul(v)));
                set(s, k, get(s, k).wrapping_add(a_rs.wrapping_sub(a_s).wrapping_mul(v)));
            });
            team.barrier();
            self.add_product(team, rows);
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
        // SAFETY: b follows a.
        let b = unsafe { a.add(n as usize * n as usize) };
        Qap { a, b, n, symmetric: symmetric != 0, hollow: hollow != 0 }
    }

    #[inline(always)]
    fn moves(&self) -> Exchanges {
        Exchanges { n: self.n, by_place: true }
    }

    #[inline(always)]
    fn notes(&self) -> usize {
        let each = 4 * self.n as usize * (2 + self.stride() as usize);
        if STORED { self.matrices() * each } else { 0 }
    }

    #[inline(always)]
    fn effort(&self) -> u64 {
        if STORED { 1 } else { self.n as u64 }
    }

    #[inline(always)]
    unsafe fn begin<C: Crew>(&self, crew: &mut C, walk: &Walk<u32>) -> i64 {
        let (team, p) = (crew.team(), walk.solution);
        let mut sum = 0;
        // SAFETY: the caller's promise; between barriers an element belongs to one member.
        unsafe {
            team.for_each(self.n * self.n, |ij| {
                let (i, j) = (ij / self.n, ij % self.n);
                sum += self.a(i, j) as i64 * self.b(p.get(i), p.get(j)) as i64;
            });
            if STORED {
                let notes = self.view(walk);
                // Cubic time: seconds for a few thousand places. So a crew that has no more time skips rows.
                let is_over = || crew.is_over();
                self.each_until(team, is_over, |x, y| {
                    let py = p.get(y);
                    let (mut row, mut column) = (0i32, 0i32);
                    Serial.for_each(self.n, |k| {
                        let pk = p.get(k);
                        row = row.wrapping_add(self.a(x, k).wrapping_mul(self.b(py, pk)));
                        if !self.symmetric {
                            column = column.wrapping_add(self.a(k, x).wrapping_mul(self.b(pk, py)));
                        }
                    });
                    if self.is_plain() {
                        row = row.wrapping_add(self.a(x, y).wrapping_mul(self.b(p.get(x), py)));
                    }
                    notes.rows.matrix.set(x * self.stride() + y, row);
                    if !self.symmetric {
                        notes.columns.matrix.set(x * self.stride() + y, column);
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
    unsafe fn make<C: Crew>(&self, crew: &mut C, walk: &Walk<u32>, step: (u32, u32)) {
        let team = crew.team();
        // Nothing reads the solution after the last barrier.
        // SAFETY: the caller's promise.
        unsafe {
            if STORED && self.is_plain() {
                self.update_plain(team, walk, step);
            } else if STORED {
                self.update(team, walk, step);
            }
            self.moves().apply(team, walk, step)
        }
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
        let mut look = |step, change| visit(moves.index(step), step, cost + change);
        // SAFETY: the caller's promise.
        unsafe {
            if self.is_plain() {
                let (rows, stride) = (self.view(walk).rows, self.stride());
                moves.sweep(crew, |i, j| look((i, j), 2 * rows.change(stride, (i, j))));
            } else {
                moves.sweep(crew, |i, j| look((i, j), self.stored_change(walk, (i, j))));
            }
        }
    }
}
