//! The permuted perceptron problem.

use super::{Problem, Shape, scan_one_by_one};
use crate::combinations::{pair, pair_index, pairs};
use crate::node::NodeId;
use crate::papers::neighborhood::{Flips, Neighborhood, Walk};
use crate::papers::search::Crew;
use crate::team::{Slots, Team};

/// The factor of sum (|y_i| - y_i) in the cost, in which a negative product counts twice (L.R. Knudsen and W. Meier, "Cryptanalysis
/// of an identification scheme based on the permuted perceptron problem", EUROCRYPT 1999).
pub const NEGATIVE: i32 = 30;

/// Rows per word of bits.
const WORD: u32 = 32;

/// An instance: given m x n signs A and how often each value should occur, find n signs V such that the m products of A's rows with
/// V are not negative and occur that often (D. Pointcheval, "A new identification scheme based on the perceptrons problem",
/// EUROCRYPT 1995). With products y, the cost is 30 sum (|y_i| - y_i) + sum over v = 0 .. n of | how often v occurs - how often it
/// should |, which is 0 only for solutions. Neighbours differ in `D` signs.
///
/// The cost of a neighbour is computed without visiting the m rows: rows with equal products, a *level*, are grouped, 32 to a word
/// of bits, and each column's signs, times V, are stored in such words. The set bits of each flipped column's word then give how
/// many rows of a level move to each other level. So a neighbour is counted level by level, and only counts are kept.
///
/// Shape: `sizes` = m, n. Tables: how often each of the products from 0 to n should occur, n + 1 u32, then the m rows of A as words
/// of 32 bits, a set bit for +1, unused bits 0; both start at multiples of 16 bytes. Element j of a solution is 1 if V's sign j
/// is +1, else 0.
///
/// With `NESTED` the notes are those of all three distances, for [`Nested`](super::Nested).
#[derive(Clone, Copy, Debug)]
pub struct Perceptron<const D: usize, const NESTED: bool = false> {
    target: *const u32,
    rows: *const u32,
    m: u32,
    n: u32,
}

/// Words of [`Notes::extent`], and the offset of the words of each distance, minus the first distance 1.
const EXTENT: usize = 6;
const FAR: u32 = 2;

/// A team's notes.
#[derive(Clone, Copy)]
struct Notes {
    /// The lowest level with rows, the highest, the number of words, and the total cost of all levels that no neighbour reaches:
    /// one each for distances 1, 2 and 3.
    extent: Slots<u32>,
    /// The level of each row: how many of its signs agree with V. Its product is twice that, minus n.
    levels: Slots<u32>,
    /// Rows of each level, and its first word.
    level: Slots<Level>,
    /// Where the next row of each level goes.
    cursors: Slots<u32>,
    /// V as words of bits.
    signs: Slots<u32>,
}

/// A level of rows.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Level {
    count: u32,
    first: u32,
}

/// The notes shared by a walk's teams.
#[derive(Clone, Copy)]
struct Common {
    /// Rows in the order of levels, each level starting at a new word; m means no row.
    order: Slots<u32>,
    /// Word w of column j, at w times [`Perceptron::stride`] + j: which of the word's rows have V's sign there.
    matches: Slots<u32>,
}

/// A neighbour being counted, level by level. Levels are processed from the lowest; rows of each move to levels up to `D` below and
/// above it.
#[derive(Clone, Copy)]
struct Count<const D: usize> {
    /// The neighbour's cost, excluding the levels below.
    sum: u32,
    /// Rows of the level in which one, two, three of the flipped columns agree with V. Each such column moves the row one level
    /// down, and each other column one up.
    right: (u32, u32, u32),
    /// Rows that have moved to the levels from `D` below the level to `D` above.
    near: (u32, u32, u32, u32, u32, u32, u32),
}

impl<const D: usize> Count<D> {
    /// Makes the state before the lowest level; `far` is the cost of the levels that no row moves to.
    #[inline(always)]
    fn new(far: u32) -> Self {
        Count { sum: far, right: (0, 0, 0), near: (0, 0, 0, 0, 0, 0, 0) }
    }

    /// Adds a word of the level's rows, one for each flipped column.
    #[inline(always)]
    fn word(&mut self, words: [u32; D]) {
        // The last ones stand in for missing ones.
        let (a, b, c) = (words[0], words[D / 2], words[D - 1]);
        if D == 1 {
            self.right.0 += a.count_ones();
        } else if D == 2 {
            self.right.0 += (a ^ b).count_ones();
            self.right.1 += (a & b).count_ones();
        } else {
            let all = (a & b & c).count_ones();
            self.right.0 += (a ^ b ^ c).count_ones() - all;
            self.right.1 += (a & b | c & (a | b)).count_ones() - all;
            self.right.2 += all;
        }
    }

    /// Ends a level with this many rows.
    #[inline(always)]
    fn level(&mut self, count: u32) {
        let (one, two, three) = self.right;
        let none = count - one - two - three;
        let near = &mut self.near;
        if D == 1 {
            near.0 += one;
            near.2 += none;
        } else if D == 2 {
            near.0 += two;
            near.2 += one;
            near.4 += none;
        } else {
            near.0 += three;
            near.2 += two;
            near.4 += one;
            near.6 += none;
        }
        self.right = (0, 0, 0);
    }

    /// Returns the rows of the lowest level, to which no more will be added.
    #[inline(always)]
    fn shift(&mut self) -> u32 {
        let near = self.near;
        self.near = (near.1, near.2, near.3, near.4, near.5, near.6, 0);
        near.0
    }
}

/// Counts neighbours together: for each a name, and the words of the columns that it flips, given where the words start.
macro_rules! count_together {
    ($problem:ident, $walk:ident, $start:ident, $($one:ident: $words:expr),*) => {{
        let (notes, stride) = ($problem.view($walk), $problem.stride());
        let (low, high, far) = (notes.extent.get(0), notes.extent.get(1), notes.extent.get(FAR + D as u32));
        $(let mut $one = Count::<D>::new(far);)*
        let (mut $start, mut level) = (0, low);
        while level <= high + 2 * D as u32 {
            if level <= high {
                let Level { count, first } = notes.level.get(level);
                let end = (first + count.div_ceil(WORD)) * stride;
                while $start < end {
                    $($one.word($words);)*
                    $start += stride;
                }
                $($one.level(count);)*
            }
            // Levels below 0 and above n get no rows.
            let done = level.wrapping_sub(D as u32);
            let price = $problem.price_of(done);
            $($one.sum += price.of($one.shift());)*
            level += 1;
        }
        ($($one.sum),*)
    }};
}

/// The cost of rows of a level.
#[derive(Clone, Copy)]
struct Price {
    /// Cost per row.
    each: u32,
    /// Cost of each row more or fewer than this.
    target: u32,
    /// 1 if `target` counts, else 0.
    is_target: u32,
}

impl Price {
    #[inline(always)]
    fn of(self, count: u32) -> u32 {
        count * self.each + (count as i32 - self.target as i32).unsigned_abs() * self.is_target
    }
}

impl<const D: usize, const NESTED: bool> Perceptron<D, NESTED> {
    /// The largest distance that notes support.
    const MOST: u32 = if NESTED { 3 } else { D as u32 };

    /// Returns the words of a row.
    #[inline(always)]
    fn row_words(&self) -> u32 {
        self.n.div_ceil(WORD)
    }

    /// Returns the columns from a word of matches to the next, including a few unused ones.
    #[inline(always)]
    fn stride(&self) -> u32 {
        self.row_words() * WORD
    }

    /// Returns the most words that all levels together take.
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
            let cursors = start.add(EXTENT + 2 * (n + 1));
            Notes {
                extent: Slots::new(start, EXTENT),
                level: Slots::new(start.add(EXTENT).cast(), n + 1),
                cursors: Slots::new(cursors, n + 1),
                levels: Slots::new(cursors.add(n + 1), m),
                signs: Slots::new(cursors.add(n + 1 + m), self.row_words() as usize),
            }
        }
    }

    #[inline(always)]
    fn together(&self, walk: &Walk<u8>) -> Common {
        let start: *mut u32 = walk.common.cast();
        // SAFETY: the shared notes are as long as `common` asks for, and aligned.
        unsafe {
            let rows = (self.most_words() * WORD) as usize;
            let matches = self.most_words() as usize * self.stride() as usize;
            Common { order: Slots::new(start, rows), matches: Slots::new(start.add(rows), matches) }
        }
    }

    /// Returns which of 32 columns of a row have V's sign.
    ///
    /// # Safety
    /// There is such a row and such a group of columns.
    #[inline(always)]
    unsafe fn matches(&self, notes: Notes, row: u32, group: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { !(*self.rows.add((row * self.row_words() + group) as usize) ^ notes.signs.get(group)) }
    }

    /// Groups rows by level, and puts their columns into words. The levels of rows are correct.
    ///
    /// # Safety
    /// The walk is of this problem; all members of all teams call this.
    #[inline(always)]
    unsafe fn arrange<C: Crew>(&self, crew: &mut C, walk: &Walk<u8>) {
        let (team, notes, common) = (crew.team(), self.view(walk), self.together(walk));
        let (m, n) = (self.m, self.n);
        // SAFETY: the caller's promise; between barriers an element is written by one member, and read by no other, except those
        // that all members increment.
        unsafe {
            team.for_each(n + 1, |level| notes.cursors.set(level, 0));
            team.barrier();
            let (mut low, mut high) = (u32::MAX, 0);
            team.for_each(m, |row| {
                let level = notes.levels.get(row);
                notes.cursors.count::<C::Team>(level);
                (low, high) = (low.min(level), high.max(level));
            });
            let low = team.min(low as u64) as u32;
            let high = n - team.min((n - high) as u64) as u32;
            // Each level is handled by one part.
            let part = team.part();
            let mut level = low + team.part_rank();
            while level <= high + 1 {
                let (mut words, mut lower) = (0, low + part.rank());
                while lower < level {
                    words += notes.cursors.get(lower).div_ceil(WORD);
                    lower += part.size();
                }
                let first = part.sum(words as u64) as u32;
                part.single(|| {
                    if level <= high {
                        notes.level.set(level, Level { count: notes.cursors.get(level), first });
                    } else {
                        notes.extent.set(2, first);
                    }
                });
                level += team.parts();
            }
            let mut far = 0;
            team.for_each(n + 1, |level| {
                let is_far = level + Self::MOST < low || level > high + Self::MOST;
                far += if is_far { self.price_of(level).of(0) } else { 0 };
            });
            let mut far = team.sum(far as u64) as u32;
            team.single(|| {
                notes.extent.set(0, low);
                notes.extent.set(1, high);
                let mut distance = Self::MOST;
                notes.extent.set(FAR + distance, far);
                while NESTED && distance > 1 {
                    // Levels below 0 and above n cost nothing.
                    far += self.price_of(low.wrapping_sub(distance)).of(0);
                    far += self.price_of(high + distance).of(0);
                    distance -= 1;
                    notes.extent.set(FAR + distance, far);
                }
            });
            let words = notes.extent.get(2);
            // Rows of a level come in any order; the order does not matter, but must be the same for all teams: the first one's.
            if crew.part() == 0 {
                team.for_each(high - low + 1, |i| {
                    notes.cursors.set(low + i, notes.level.get(low + i).first * WORD);
                });
                team.for_each(words * WORD, |place| common.order.set(place, m));
                team.barrier();
                team.for_each(m, |row| {
                    let place = notes.cursors.count::<C::Team>(notes.levels.get(row));
                    common.order.set(place, row);
                });
            }
            crew.barrier();
            let groups = self.row_words();
            let mut unit = crew.part() * team.parts() + team.part_rank();
            while unit < words * groups {
                let (word, group) = (unit / groups, unit % groups);
                let row = |bit: u32| {
                    let row = common.order.get(word * WORD + bit);
                    if row < m { self.matches(notes, row, group) } else { 0 }
                };
                let start = word * self.stride() + group * WORD;
                part.transpose(row, |column, bits| common.matches.set(start + column, bits));
                unit += crew.parts() * team.parts();
            }
        }
        crew.barrier();
    }

    /// Returns the cost of rows of a level; nothing if there is no such level.
    ///
    /// # Safety
    /// The tables exist.
    #[inline(always)]
    unsafe fn price_of(&self, level: u32) -> Price {
        let product = level.wrapping_mul(2).wrapping_sub(self.n) as i32;
        if level > self.n {
            Price { each: 0, target: 0, is_target: 0 }
        } else if product < 0 {
            Price { each: product.wrapping_mul(-2 * NEGATIVE) as u32, target: 0, is_target: 0 }
        } else {
            // SAFETY: the product is at most n.
            Price { each: 0, target: unsafe { *self.target.add(product as usize) }, is_target: 1 }
        }
    }
}

/// Neighbours of a tile: flips of a column with each of this many others.
const TILE: u32 = 4;

impl<const D: usize, const NESTED: bool> Problem for Perceptron<D, NESTED> {
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
        // SAFETY: the rows follow the target.
        let rows = unsafe { target.add((n + 1).next_multiple_of(4) as usize) };
        Perceptron { target, rows, m, n }
    }

    #[inline(always)]
    fn moves(&self) -> Flips<D> {
        Flips { n: self.n }
    }

    #[inline(always)]
    fn notes(&self) -> usize {
        4 * (EXTENT + 3 * (self.n as usize + 1) + self.m as usize + self.row_words() as usize)
    }

    #[inline(always)]
    fn common(&self) -> usize {
        4 * self.most_words() as usize * (WORD as usize + self.stride() as usize)
    }

    #[inline(always)]
    fn effort(&self) -> u64 {
        self.m as u64
    }

    #[inline(always)]
    unsafe fn begin<C: Crew>(&self, crew: &mut C, walk: &Walk<u8>) -> i64 {
        let (team, notes, n) = (crew.team(), self.view(walk), self.n);
        let groups = self.row_words();
        // SAFETY: the caller's promise; a word and a row belong to one member.
        unsafe {
            team.for_each(groups, |group| {
                let (mut bits, mut bit) = (0, 0);
                while bit < WORD && group * WORD + bit < n {
                    bits |= (walk.solution.get(group * WORD + bit) as u32) << bit;
                    bit += 1;
                }
                notes.signs.set(group, bits);
            });
            team.barrier();
            team.for_each(self.m, |row| {
                let (mut level, mut group) = (0, 0);
                while group < groups {
                    let left = n - group * WORD;
                    let columns = if left < WORD { (1 << left) - 1 } else { u32::MAX };
                    level += (self.matches(notes, row, group) & columns).count_ones();
                    group += 1;
                }
                notes.levels.set(row, level);
            });
            team.barrier();
            self.arrange(crew, walk);
            let (low, high) = (notes.extent.get(0), notes.extent.get(1));
            let mut sum = 0;
            team.for_each(n + 1, |level| {
                let has_rows = level >= low && level <= high;
                sum +=
                    self.price_of(level).of(if has_rows { notes.level.get(level).count } else { 0 }) as u64;
            });
            team.sum(sum) as i64
        }
    }

    #[inline(always)]
    unsafe fn neighbor_cost(&self, walk: &Walk<u8>, _: i64, step: [u32; D]) -> i64 {
        let matches = self.together(walk).matches;
        // SAFETY: the caller's promise.
        unsafe {
            let cost =
                count_together!(self, walk, start, one: step.map(|column| matches.get(start + column)));
            cost as i64
        }
    }

    #[inline(always)]
    unsafe fn make<C: Crew>(&self, crew: &mut C, walk: &Walk<u8>, step: [u32; D]) {
        let (team, notes) = (crew.team(), self.view(walk));
        // SAFETY: the caller's promise; a row belongs to one member.
        unsafe {
            team.for_each(self.m, |row| {
                let (mut level, mut i) = (notes.levels.get(row), 0);
                // Not an iterator over the array: a GPU would keep the array in memory.
                while i < D {
                    let column = step[i];
                    level = level + 1 - 2 * (self.matches(notes, row, column / WORD) >> (column % WORD) & 1);
                    i += 1;
                }
                notes.levels.set(row, level);
            });
            team.barrier();
            team.single(|| {
                let mut i = 0;
                while i < D {
                    let group = step[i] / WORD;
                    notes.signs.set(group, notes.signs.get(group) ^ 1 << (step[i] % WORD));
                    i += 1;
                }
            });
            self.moves().apply(team, walk, step);
            self.arrange(crew, walk);
        }
    }

    /// Pairs of one column with four others are counted together: they share its words and all work common to levels.
    #[inline(always)]
    unsafe fn scan<C: Crew>(
        &self,
        crew: &C,
        walk: &Walk<u8>,
        _: u32,
        cost: i64,
        mut visit: impl FnMut(u64, [u32; D], i64),
    ) {
        if D != 2 {
            // SAFETY: the caller's promise.
            return unsafe { scan_one_by_one(self, crew, walk, cost, visit) };
        }
        let (team, n, matches) = (crew.team(), self.n, self.together(walk).matches);
        let part = team.part();
        let groups = self.row_words();
        // Pairs of groups of 32 columns, the first not after the second; from the first group a tile, from the second one column
        // per member.
        let tiles = WORD / TILE;
        let units = pairs(groups + 1) * tiles as u64;
        let mut unit = (crew.part() * team.parts() + team.part_rank()) as u64;
        while unit < units {
            let (first, behind) = pair(groups + 1, unit / tiles as u64);
            let i = first * WORD + (unit % tiles as u64) as u32 * TILE;
            part.for_each(WORD, |column| {
                let j = (behind - 1) * WORD + column;
                // SAFETY: the caller's promise; words have a stride that both are below.
                let (a, b, c, d) = unsafe {
                    let with = |first: u32, second: u32| {
                        let mut both = [second; D];
                        both[0] = first;
                        both
                    };
                    let four = |start: u32| u32::load_four(matches.run(start + i, 4));
                    let other = |start: u32| matches.get(start + j);
                    count_together!(self, walk, start,
                        a: with(four(start)[0], other(start)),
                        b: with(four(start)[1], other(start)),
                        c: with(four(start)[2], other(start)),
                        d: with(four(start)[3], other(start))
                    )
                };
                let mut show = |i: u32, cost: u32| {
                    if i < j && j < n {
                        let mut step = [j; D];
                        step[0] = i;
                        visit(pair_index(n, i, j), step, cost as i64);
                    }
                };
                show(i, a);
                show(i + 1, b);
                show(i + 2, c);
                show(i + 3, d);
            });
            unit += (crew.parts() * team.parts()) as u64;
        }
    }
}
