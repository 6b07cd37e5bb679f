//! Indexing that is checked once, not at each access.
//!
//! Bounds checks in an inner loop cost more than their own time: the loop is not unrolled, and loads wait for branches. A
//! [`Below<N>`] is a number that is less than `N` by construction, and a [`Tile`] a window of a matrix whose bounds were checked
//! when it was made. One indexes the other without a check.

use crate::{DeviceCopy, back};

/// A number less than `N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Below<const N: u32>(u32);

impl<const N: u32> Below<N> {
    /// Checks a number.
    #[inline(always)]
    pub fn new(at: u32) -> Option<Self> {
        (at < N).then_some(Below(at))
    }

    /// Returns the remainder of a division by `N`.
    #[inline(always)]
    pub fn wrap(at: u32) -> Self {
        const { assert!(N > 0, "no number is below 0") };
        Below(at % N)
    }

    /// Returns the number.
    #[inline(always)]
    pub fn get(self) -> u32 {
        self.0
    }

    /// Returns the number as an index.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns all numbers less than `N`, ascending.
    #[inline(always)]
    pub fn all() -> AllBelow<N> {
        AllBelow(0)
    }
}

/// The numbers of [`Below::all`].
#[derive(Clone, Debug)]
pub struct AllBelow<const N: u32>(u32);

impl<const N: u32> Iterator for AllBelow<N> {
    type Item = Below<N>;

    #[inline(always)]
    fn next(&mut self) -> Option<Below<N>> {
        let at = self.0;
        if at >= N {
            return None;
        }
        self.0 = at + 1;
        Some(Below(at))
    }

    /// Calls `f` in pieces of eight: the compiler does not unroll a loop of more than a few instructions on its own, and without that
    /// counting takes as long as the work. `for_each` and `sum` go through it, `for` does not.
    #[inline(always)]
    fn fold<B, F: FnMut(B, Below<N>) -> B>(self, init: B, mut f: F) -> B {
        let (mut all, mut at) = (init, self.0);
        macro_rules! next {
            () => {
                all = f(all, Below(at));
                at += 1;
            };
        }
        while at < N && N - at >= 8 {
            next!();
            next!();
            next!();
            next!();
            next!();
            next!();
            next!();
            next!();
        }
        macro_rules! next_if_any {
            ($($times:literal)*) => { $(
                let _ = $times;
                if at < N {
                    next!();
                }
            )* };
        }
        next_if_any!(1 2 3 4 5 6 7);
        let _ = at;
        all
    }
}

/// A matrix that lies in memory row by row, and whose size has been checked once.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T> {
    start: *const T,
    rows: u32,
    columns: u32,
    elements: core::marker::PhantomData<&'a [T]>,
}

impl<'a, T: DeviceCopy> Matrix<'a, T> {
    /// Returns `values` as a matrix; `None` if it has fewer elements.
    #[inline(always)]
    pub fn of(values: &'a [T], rows: u32, columns: u32) -> Option<Self> {
        let fits = rows as u64 * columns as u64 <= values.len() as u64;
        fits.then_some(Matrix { start: values.as_ptr(), rows, columns, elements: core::marker::PhantomData })
    }

    /// Returns the window whose first element is in this row and column; `None` if it does not lie within the matrix.
    #[inline(always)]
    pub fn tile<const ROWS: u32, const COLUMNS: u32>(
        &self,
        row: u32,
        column: u32,
    ) -> Option<Tile<'a, T, ROWS, COLUMNS>> {
        const { assert!(ROWS > 0 && COLUMNS > 0, "an empty window") };
        if self.rows < ROWS
            || row > self.rows - ROWS
            || self.columns < COLUMNS
            || column > self.columns - COLUMNS
        {
            return None;
        }
        // SAFETY: the window starts and ends within the matrix, which lies within the slice.
        let start = unsafe { self.start.add(row as usize * self.columns as usize + column as usize) };
        Some(Tile { start, stride: self.columns, owner: back::ANYONE, matrix: core::marker::PhantomData })
    }

    /// Returns the windows side by side whose first row is this one, from the first column to the last that is within the matrix.
    /// There are none if the rows are not.
    #[inline(always)]
    pub fn tiles_right<const ROWS: u32, const COLUMNS: u32>(&self, row: u32) -> Tiles<'a, T, ROWS, COLUMNS> {
        self.tiles(self.tile(row, 0), self.columns / COLUMNS, COLUMNS as usize)
    }

    /// Returns the windows one below the other whose first column is this one, from the first row to the last that is within the
    /// matrix. There are none if the columns are not.
    #[inline(always)]
    pub fn tiles_down<const ROWS: u32, const COLUMNS: u32>(
        &self,
        column: u32,
    ) -> Tiles<'a, T, ROWS, COLUMNS> {
        self.tiles(self.tile(0, column), self.rows / ROWS, ROWS as usize * self.columns as usize)
    }

    #[inline(always)]
    fn tiles<const ROWS: u32, const COLUMNS: u32>(
        &self,
        first: Option<Tile<'a, T, ROWS, COLUMNS>>,
        count: u32,
        step: usize,
    ) -> Tiles<'a, T, ROWS, COLUMNS> {
        let empty = Tile {
            start: self.start,
            stride: self.columns,
            owner: back::ANYONE,
            matrix: core::marker::PhantomData,
        };
        Tiles { left: if first.is_some() { count } else { 0 }, next: first.unwrap_or(empty), step }
    }
}

/// The windows of [`Matrix::tiles_right`] and [`Matrix::tiles_down`], which were checked all at once.
#[derive(Clone, Debug)]
pub struct Tiles<'a, T, const ROWS: u32, const COLUMNS: u32> {
    next: Tile<'a, T, ROWS, COLUMNS>,
    left: u32,
    step: usize,
}

impl<'a, T: DeviceCopy, const ROWS: u32, const COLUMNS: u32> Iterator for Tiles<'a, T, ROWS, COLUMNS> {
    type Item = Tile<'a, T, ROWS, COLUMNS>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let tile = self.next;
        // Past the last window the address may lie outside of the matrix; nothing is read there.
        self.next.start = tile.start.wrapping_add(self.step);
        Some(tile)
    }
}

/// A window of `ROWS` by `COLUMNS` elements of a matrix that lies in memory row by row.
#[derive(Clone, Copy, Debug)]
pub struct Tile<'a, T, const ROWS: u32, const COLUMNS: u32> {
    start: *const T,
    stride: u32,
    owner: back::Owner,
    matrix: core::marker::PhantomData<&'a [T]>,
}

impl<'a, T: DeviceCopy, const ROWS: u32, const COLUMNS: u32> Tile<'a, T, ROWS, COLUMNS> {
    /// # Safety
    /// As many elements row by row are readable from `start` on, for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn of_all(start: *const T, owner: back::Owner) -> Self {
        Tile { start, stride: COLUMNS, owner, matrix: core::marker::PhantomData }
    }

    /// Returns the window whose first element is in this row and column of a matrix with rows of `stride` elements; `None` if
    /// it does not lie within the matrix.
    #[inline(always)]
    pub fn of(matrix: &'a [T], stride: u32, row: u32, column: u32) -> Option<Self> {
        const { assert!(ROWS > 0 && COLUMNS > 0, "an empty window") };
        if column as u64 + COLUMNS as u64 > stride as u64 {
            return None;
        }
        let first = row as u64 * stride as u64 + column as u64;
        let end = first.checked_add((ROWS as u64 - 1) * stride as u64 + COLUMNS as u64)?;
        if end > matrix.len() as u64 {
            return None;
        }
        // SAFETY: the window starts and ends within the matrix.
        let start = unsafe { matrix.as_ptr().add(first as usize) };
        Some(Tile { start, stride, owner: back::ANYONE, matrix: core::marker::PhantomData })
    }

    /// Returns an element, without a check.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    pub fn get(&self, row: Below<ROWS>, column: Below<COLUMNS>) -> T {
        back::check_owner(self.owner, "shared memory");
        let at = row.0 as usize * self.stride as usize + column.index();
        // SAFETY: the whole window was checked, and row and column are in it by their types.
        unsafe { self.start.add(at).read() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn in_both_ways<const N: u32>() {
        for skipped in [0, 1, N] {
            let (mut stepped, mut folded) = (Vec::new(), Vec::new());
            for below in Below::<N>::all().skip(skipped as usize) {
                stepped.push(below.get());
            }
            let mut rest = Below::<N>::all();
            (0..skipped).for_each(|_| _ = rest.next());
            rest.for_each(|below| folded.push(below.get()));
            assert_eq!(stepped, (skipped.min(N)..N).collect::<Vec<_>>());
            assert_eq!(folded, stepped);
        }
    }

    #[test]
    fn folding_goes_through_every_number_in_order() {
        in_both_ways::<1>();
        in_both_ways::<7>();
        in_both_ways::<8>();
        in_both_ways::<17>();
        in_both_ways::<256>();
    }

    /// Where the tiles of 2 by 3 elements start in a matrix whose elements are their own places.
    fn starts<'a>(tiles: Tiles<'a, u32, 2, 3>) -> Vec<u32> {
        let last = (Below::wrap(1), Below::wrap(2));
        let corners =
            |tile: Tile<'a, u32, 2, 3>| (tile.get(Below::wrap(0), Below::wrap(0)), tile.get(last.0, last.1));
        tiles.map(corners).map(|(first, last)| (last == first + 7 + 2).then_some(first).unwrap()).collect()
    }

    #[test]
    fn tiles_stay_within_the_matrix() {
        let values: Vec<u32> = (0..35).collect();
        assert!(Matrix::of(&values, 6, 6).is_none());
        let matrix = Matrix::of(&values, 5, 7).unwrap();
        assert_eq!(starts(matrix.tiles_right(3)), [21, 24]);
        assert_eq!(starts(matrix.tiles_right(4)), []);
        assert_eq!(starts(matrix.tiles_down(4)), [4, 18]);
        assert_eq!(starts(matrix.tiles_down(5)), []);
        let at = |row, column| {
            matrix.tile::<2, 3>(row, column).map(|tile| tile.get(Below::wrap(1), Below::wrap(0)))
        };
        assert_eq!([at(3, 4), at(4, 4), at(3, 5), at(u32::MAX, 0)], [Some(32), None, None, None]);
        let small = Matrix::of(&values, 1, 2).unwrap();
        assert!(small.tile::<2, 3>(0, 0).is_none());
    }
}
