//! The permuted perceptron problem.

use super::{Problem, Shape};
use crate::neighborhood::{Flips, Neighborhood, Walk};
use crate::search::Crew;
use crate::team::{Slots, Team};

/// What the cost counts for each 1 that a product is below 0, twice (L.R. Knudsen and W. Meier, "Cryptanalysis of an
/// identification scheme based on the permuted perceptron problem", EUROCRYPT 1999).
pub const NEGATIVE: i32 = 30;

/// Rows that one word of bits tells of.
const WORD: u32 = 32;

/// An instance: given m x n signs A and how often each value should come up, find n signs V such that the m products of A's rows
/// with V are not negative and come up as often (D. Pointcheval, "A new identification scheme based on the perceptrons
/// problem", EUROCRYPT 1995). With products y, the cost is 30 sum (|y_i| - y_i) + sum over v = 0 .. n of | how often v comes up -
/// how often it should |, which is 0 for solutions only. Neighbours differ in `D` signs.
///
/// The cost of a neighbour takes no look at the m rows: rows with equal products, a *level*, are put side by side, 32 to a word of
/// bits, and each column's signs, times V, are in such words. A word of each flipped column then tells by its set bits how many
/// rows of a level go to which other level. So a neighbour is counted level by level, and nothing but counts is kept.
///
/// Shape: `sizes` = m, n. Tables: how often each product 0 .. n should come up, u32, then the rows of A as words of bits, a set bit
/// for +1, unused bits 0; both begin at multiples of 16 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Perceptron<const D: usize> {
    target: *const u32,
    rows: *const u32,
    m: u32,
    n: u32,
}

/// What a team notes.
#[derive(Clone, Copy)]
struct Notes {
    /// The level of each row: how many of its signs are those of V. Its product is twice that, less n.
    levels: Slots<u32>,
    /// Rows of each level from the lowest to the highest that has any.
    counts: Slots<u32>,
    /// The first word of each such level; behind the highest, the number of words.
    firsts: Slots<u32>,
    /// The lowest level with rows, the highest, and what all levels cost that no neighbour reaches.
    extent: Slots<u32>,
    /// Rows in the order of levels, every level from the start of a word; no row is m.
    order: Slots<u32>,
}

impl<const D: usize> Perceptron<D> {
    /// Words of a row.
    #[inline(always)]
    fn row_words(&self) -> u32 {
        self.n.div_ceil(WORD)
    }

    /// Most words that all levels together take.
    #[inline(always)]
    fn most_words(&self) -> u32 {
        self.m.div_ceil(WORD) + if self.m < self.n + 1 { self.m } else { self.n + 1 }
    }

    #[inline(always)]
    fn view(&self, walk: &Walk<u8>) -> Notes {
        let (m, n) = (self.m as usize, self.n as usize);
        // SAFETY: the notes are as long as `notes` asks for, and aligned.
        unsafe {
            let start: *mut u32 = walk.notes.cast();
            Notes {
                extent: Slots::new(start),
                levels: Slots::new(start.add(3)),
                counts: Slots::new(start.add(3 + m)),
                firsts: Slots::new(start.add(3 + m + n + 1)),
                order: Slots::new(start.add(3 + m + 2 * n + 3)),
            }
        }
    }

    /// The words of columns' signs times V: word w of column j at w n + j.
    #[inline(always)]
    fn signs(&self, walk: &Walk<u8>) -> Slots<u32> {
        // SAFETY: the shared notes are as long as `common` asks for, and aligned.
        unsafe { Slots::new(walk.common.cast()) }
    }

    /// Whether row's sign at `column` is that of V: 1 or 0.
    ///
    /// # Safety
    /// The walk is of this problem, which has that row and column.
    #[inline(always)]
    unsafe fn matches(&self, walk: &Walk<u8>, row: u32, column: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe {
            let signs = *self.rows.add((row * self.row_words() + column / WORD) as usize);
            (signs >> (column % WORD) ^ walk.solution.get(column) as u32 ^ 1) & 1
        }
    }

    /// Puts rows side by side by level, and columns' signs into words. `levels` is right.
    ///
    /// # Safety
    /// The walk is of this problem; all members of all teams come here.
    #[inline(always)]
    unsafe fn arrange<C: Crew>(&self, crew: &mut C, walk: &Walk<u8>) {
        let (team, notes, signs) = (crew.team(), self.view(walk), self.signs(walk));
        let (m, n) = (self.m, self.n);
        let (mut low, mut high) = (u32::MAX, 0);
        // SAFETY: the caller's promise; between barriers an element is written by one member, and read by no other.
        unsafe {
            team.for_each(m, |row| {
                let level = notes.levels.get(row);
                (low, high) = (low.min(level), high.max(level));
            });
            let low = team.min(low as u64) as u32;
            let high = n - team.min((n - high) as u64) as u32;
            // A level is one part's.
            let part = team.part();
            let in_level = |from: u32, level: u32| {
                let row = from + part.rank();
                row < m && notes.levels.get(row) == level
            };
            let mut level = low + team.part_rank();
            while level <= high {
                let (mut count, mut from) = (0, 0);
                while from < m {
                    count += part.rank_among(in_level(from, level)).1;
                    from += part.size();
                }
                part.single(|| notes.counts.set(level, count));
                level += team.parts();
            }
            team.barrier();
            let mut level = low + team.part_rank();
            while level <= high + 1 {
                let (mut words, mut lower) = (0, low + part.rank());
                while lower < level {
                    words += notes.counts.get(lower).div_ceil(WORD);
                    lower += part.size();
                }
                let first = part.sum(words as u64) as u32;
                part.single(|| notes.firsts.set(level, first));
                if level <= high {
                    let end = (first + notes.counts.get(level).div_ceil(WORD)) * WORD;
                    let (mut before, mut from) = (first * WORD, 0);
                    while from < m {
                        let is_in = in_level(from, level);
                        let (rank, count) = part.rank_among(is_in);
                        if is_in {
                            notes.order.set(before + rank, from + part.rank());
                        }
                        before += count;
                        from += part.size();
                    }
                    let mut empty = before + part.rank();
                    while empty < end {
                        notes.order.set(empty, m);
                        empty += part.size();
                    }
                }
                level += team.parts();
            }
            let mut far = 0;
            team.for_each(n + 1, |level| {
                let is_far = level + (D as u32) < low || level > high + D as u32;
                far += if is_far { self.price(level, 0) } else { 0 };
            });
            let far = team.sum(far as u64) as u32;
            team.single(|| {
                notes.extent.set(0, low);
                notes.extent.set(1, high);
                notes.extent.set(2, far);
            });
            team.barrier();
            // The words of columns are shared, and made together.
            let words = notes.firsts.get(high + 1);
            let (start, end) = crew.share(words as u64 * n as u64);
            let mut i = start + team.rank() as u64;
            while i < end {
                let (word, column) = ((i / n as u64) as u32, (i % n as u64) as u32);
                let (mut bits, mut bit) = (0, 0);
                while bit < WORD {
                    let row = notes.order.get(word * WORD + bit);
                    if row < m {
                        bits |= self.matches(walk, row, column) << bit;
                    }
                    bit += 1;
                }
                signs.set(word * n + column, bits);
                i += team.size() as u64;
            }
        }
        crew.barrier();
    }

    /// What so many rows of a level cost.
    ///
    /// # Safety
    /// `level` is at most n.
    #[inline(always)]
    unsafe fn price(&self, level: u32, count: u32) -> i64 {
        let product = 2 * level as i32 - self.n as i32;
        if product < 0 {
            return count as i64 * (-2 * product * NEGATIVE) as i64;
        }
        // SAFETY: the product is at most n.
        let target = unsafe { *self.target.add(product as usize) };
        (count as i32 - target as i32).unsigned_abs() as i64
    }
}

impl<const D: usize> Problem for Perceptron<D> {
    type Moves = Flips<D>;
    type Cost = i64;
    const NAME: &'static str = match D {
        1 => "perceptron_1",
        2 => "perceptron_2",
        _ => "perceptron_3",
    };

    #[inline(always)]
    unsafe fn new(shape: &Shape, tables: *const u8) -> Self {
        let [m, n, ..] = shape.sizes;
        let target: *const u32 = tables.cast();
        // SAFETY: the rows are behind the target.
        let rows = unsafe { target.add((n + 1).next_multiple_of(4) as usize) };
        Perceptron { target, rows, m, n }
    }

    #[inline(always)]
    fn moves(&self) -> Flips<D> {
        Flips { n: self.n }
    }

    #[inline(always)]
    fn notes(&self) -> usize {
        4 * (3 + self.m as usize + 2 * self.n as usize + 3 + (WORD * self.most_words()) as usize)
    }

    #[inline(always)]
    fn common(&self) -> usize {
        4 * self.most_words() as usize * self.n as usize
    }

    #[inline(always)]
    unsafe fn begin<C: Crew>(&self, crew: &mut C, walk: &Walk<u8>) -> i64 {
        let (team, notes) = (crew.team(), self.view(walk));
        // SAFETY: the caller's promise; a row is one member's.
        unsafe {
            team.for_each(self.m, |row| {
                let (mut level, mut column) = (0, 0);
                while column < self.n {
                    level += self.matches(walk, row, column);
                    column += 1;
                }
                notes.levels.set(row, level);
            });
            team.barrier();
            self.arrange(crew, walk);
            let (low, high) = (notes.extent.get(0), notes.extent.get(1));
            let mut sum = 0;
            team.for_each(self.n + 1, |level| {
                let has_rows = level >= low && level <= high;
                sum += self.price(level, if has_rows { notes.counts.get(level) } else { 0 });
            });
            team.sum(sum as u64) as i64
        }
    }

    #[inline(always)]
    unsafe fn neighbor_cost(&self, walk: &Walk<u8>, _: i64, step: [u32; D]) -> i64 {
        let (notes, signs, n) = (self.view(walk), self.signs(walk), self.n);
        // SAFETY: the caller's promise; words up to that behind the highest level are there.
        unsafe {
            let (low, high) = (notes.extent.get(0), notes.extent.get(1));
            let mut sum = notes.extent.get(2) as i64;
            // Rows that come to the levels from D below this one to D above.
            let mut near = [0u32; 7];
            let mut word = notes.firsts.get(low);
            let mut level = low;
            while level <= high + 2 * D as u32 {
                if level <= high {
                    // Rows of the level by how many of the flipped signs match: each takes the row down one level, and each
                    // other one up.
                    let mut rows = [notes.counts.get(level), 0, 0, 0];
                    let end = notes.firsts.get(level + 1);
                    while word < end {
                        let sign = |which: usize| signs.get(word * n + step[which.min(D - 1)]);
                        let a = sign(0);
                        if D == 1 {
                            rows[1] += a.count_ones();
                        } else if D == 2 {
                            let b = sign(1);
                            rows[1] += (a ^ b).count_ones();
                            rows[2] += (a & b).count_ones();
                        } else {
                            let (b, c) = (sign(1), sign(2));
                            let all = (a & b & c).count_ones();
                            rows[1] += (a ^ b ^ c).count_ones() - all;
                            rows[2] += (a & b | c & (a | b)).count_ones() - all;
                            rows[3] += all;
                        }
                        word += 1;
                    }
                    rows[0] -= rows[1] + rows[2] + rows[3];
                    if D == 1 {
                        near[0] += rows[1];
                        near[2] += rows[0];
                    } else if D == 2 {
                        near[0] += rows[2];
                        near[2] += rows[1];
                        near[4] += rows[0];
                    } else {
                        near[0] += rows[3];
                        near[2] += rows[2];
                        near[4] += rows[1];
                        near[6] += rows[0];
                    }
                }
                // Nothing comes to the lowest of them any more.
                let done = level.wrapping_sub(D as u32);
                if done <= n {
                    sum += self.price(done, near[0]);
                }
                near = [near[1], near[2], near[3], near[4], near[5], near[6], 0];
                level += 1;
            }
            sum
        }
    }

    #[inline(always)]
    unsafe fn make<C: Crew>(&self, crew: &mut C, walk: &Walk<u8>, step: [u32; D]) {
        let (team, notes) = (crew.team(), self.view(walk));
        // SAFETY: the caller's promise; a row is one member's.
        unsafe {
            team.for_each(self.m, |row| {
                let mut level = notes.levels.get(row);
                for column in step {
                    level = level + 1 - 2 * self.matches(walk, row, column);
                }
                notes.levels.set(row, level);
            });
            team.barrier();
            self.moves().apply(team, walk, step);
            self.arrange(crew, walk);
        }
    }
}
