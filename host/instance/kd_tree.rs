//! A k-d tree (Bentley 1975), searched from a leaf upwards (Bentley 1992).

use crate::parallel;

/// Maximum number of items per leaf.
const LEAF: usize = 8;
/// Minimum number of items for which two threads sort the halves of a part.
const PARALLEL: usize = 1 << 13;
/// Cells of a part of the tree that a thread takes at a time.
const CELLS: usize = 1 << 10;
/// Places of a part that a thread takes at a time.
const PART: usize = 1 << 14;
/// Minimum number of items for which a tree of ascending places starts with strips, and the number of strips.
const STRIPS: (usize, usize) = (1 << 22, 64);

/// A k-d tree over items at places with `D` coordinates. An item is identified by its position in the order of the leaves. Cells
/// are numbered as in a heap: the children of cell i are 2 i and 2 i + 1, and the root is 1.
#[derive(Clone)]
pub struct KdTree<const D: usize> {
    places: Vec<[f64; D]>,
    items: Vec<u32>,
    cells: Vec<Cell<D>>,
    leaves: usize,
}

/// The smallest box around a part of the places.
#[derive(Clone, Copy)]
pub struct Cell<const D: usize> {
    /// The smallest coordinate along each axis.
    pub low: [f64; D],
    /// The largest coordinate along each axis.
    pub high: [f64; D],
}

impl<const D: usize> Cell<D> {
    const NOTHING: Cell<D> = Cell { low: [f64::INFINITY; D], high: [f64::NEG_INFINITY; D] };

    /// Returns the smallest box around places; infinite, with its sides exchanged, without any. Coordinates that are not numbers are
    /// left out.
    pub fn around(places: &[[f64; D]]) -> Cell<D> {
        if places.len() <= PART {
            return Cell::of(places.iter().copied());
        }
        let around = |part: usize| Cell::of(places[part * PART..].iter().take(PART).copied());
        parallel::collect(places.len().div_ceil(PART), &around).into_iter().fold(Cell::NOTHING, Cell::with)
    }

    fn of(places: impl Iterator<Item = [f64; D]>) -> Cell<D> {
        places.fold(Cell::NOTHING, |cell, low| cell.with(Cell { low, high: low }))
    }

    /// Returns the smallest box around both.
    fn with(self, other: Cell<D>) -> Cell<D> {
        Cell {
            low: std::array::from_fn(|axis| self.low[axis].min(other.low[axis])),
            high: std::array::from_fn(|axis| self.high[axis].max(other.high[axis])),
        }
    }

    /// Returns the minimum distance from a place to the box along each axis. Despite rounding, no place in the box is nearer along
    /// any axis.
    #[inline]
    pub fn beyond(&self, place: [f64; D]) -> [f64; D] {
        let mut beyond = [0.0; D];
        for axis in 0..D {
            let outside = larger(self.low[axis] - place[axis], place[axis] - self.high[axis]);
            beyond[axis] = larger(outside, 0.0);
        }
        beyond
    }
}

/// Returns the larger number. Not `max`, which is slower because it handles NaN.
#[inline]
pub fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// Returns the squared length of a straight line.
#[inline]
pub fn square<const D: usize>(apart: [f64; D]) -> f64 {
    let mut sum = 0.0;
    for z in apart {
        sum += z * z;
    }
    sum
}

/// A search in a k-d tree.
pub trait Search<const D: usize> {
    /// A lower bound on how near something is; smaller means nearer.
    type Least: Copy + PartialOrd;

    /// Returns a lower bound on the nearness of anything in a cell. Of two cells, the nearer one is searched first.
    fn least(&self, number: usize, cell: &Cell<D>) -> Self::Least;

    /// Returns whether something in this cell, with this lower bound, may be useful.
    fn wants(&self, number: usize, cell: &Cell<D>, least: Self::Least) -> bool;

    /// Visits the items at these positions.
    fn meet(&mut self, positions: std::ops::Range<usize>);
}

impl<const D: usize> KdTree<D> {
    /// Builds the tree of these places; items are numbered in the same order.
    pub fn new(places: &[[f64; D]]) -> KdTree<D> {
        KdTree::build(places, 1)
    }

    /// Does the same for places that ascend along the first axis. A large tree starts with strips across that axis, since one thread
    /// would have to halve all items, then two threads a half each.
    pub fn of_ascending(places: &[[f64; D]]) -> KdTree<D> {
        KdTree::build(places, if places.len() < STRIPS.0 { 1 } else { STRIPS.1 })
    }

    fn build(places: &[[f64; D]], strips: usize) -> KdTree<D> {
        let leaves = places.len().div_ceil(LEAF).next_power_of_two();
        let mut entries: Vec<([f64; D], u32)> = parallel::collect(places.len(), &|i| (places[i], i as u32));
        halve(&mut entries, leaves, strips);
        let mut tree = KdTree {
            places: parallel::collect(entries.len(), &|i| entries[i].0),
            items: parallel::collect(entries.len(), &|i| entries[i].1),
            cells: Vec::new(),
            leaves,
        };
        drop(entries);
        tree.cells = tree.of_cells(Cell::NOTHING, Cell::with, |leaf| {
            Cell::of(tree.places[tree.positions(leaf)].iter().copied())
        });
        tree
    }

    /// Returns a value for each cell, by cell number: those of leaves, and above them the values of both halves `with` each other.
    fn of_cells<K: Copy + Send + Sync>(
        &self,
        nothing: K,
        with: impl Fn(K, K) -> K + Sync,
        of_leaf: impl Fn(usize) -> K + Sync,
    ) -> Vec<K> {
        let mut known = parallel::collect(2 * self.leaves, &|cell| {
            if cell < self.leaves { nothing } else { of_leaf(cell) }
        });
        let mut width = self.leaves / 2;
        while width > 0 {
            let (upper, lower) = known.split_at_mut(2 * width);
            parallel::each_of(&mut upper[width..], CELLS, &|i, cell| {
                *cell = with(lower[2 * i], lower[2 * i + 1])
            });
            width /= 2;
        }
        known
    }

    /// Returns the places of the items, by position.
    #[inline]
    pub fn places(&self) -> &[[f64; D]] {
        &self.places
    }

    /// Returns the item numbers, by position.
    #[inline]
    pub fn items(&self) -> &[u32] {
        &self.items
    }

    /// Returns one more than the largest cell number.
    #[inline]
    pub fn cells(&self) -> usize {
        2 * self.leaves
    }

    /// Returns the positions in a leaf.
    #[inline]
    pub fn positions(&self, leaf: usize) -> std::ops::Range<usize> {
        let begin = |i: usize| part(self.places.len(), self.leaves, i);
        begin(leaf - self.leaves)..begin(leaf - self.leaves + 1)
    }

    /// Returns the leaf that contains a position.
    #[inline]
    pub fn leaf(&self, position: u32) -> usize {
        self.leaves + ((position as usize + 1) * self.leaves - 1) / self.places.len()
    }

    /// Returns a value for each cell, by cell number: the values `of` its items, combined by `with`.
    pub fn fold<K: Copy + Send + Sync>(
        &self,
        nothing: K,
        with: impl Fn(K, K) -> K + Sync,
        of: impl Fn(u32) -> K + Sync,
    ) -> Vec<K> {
        self.of_cells(nothing, &with, |leaf| {
            let items = self.items[self.positions(leaf)].iter();
            items.fold(nothing, |known, &item| with(known, of(item)))
        })
    }

    /// Searches around an item: first its leaf, then ever larger cells that contain it.
    pub fn search(&self, position: u32, search: &mut impl Search<D>) {
        let mut cell = self.leaf(position);
        self.look(cell, search.least(cell, &self.cells[cell]), search);
        while cell > 1 {
            let other = cell ^ 1;
            self.look(other, search.least(other, &self.cells[other]), search);
            cell /= 2;
        }
    }

    /// Searches a cell, starting with its nearer half.
    fn look<S: Search<D>>(&self, number: usize, least: S::Least, search: &mut S) {
        if !search.wants(number, &self.cells[number], least) {
            return;
        }
        if number >= self.leaves {
            search.meet(self.positions(number));
            return;
        }
        let (first, second) = (2 * number, 2 * number + 1);
        let to_first = search.least(first, &self.cells[first]);
        let to_second = search.least(second, &self.cells[second]);
        if to_second < to_first {
            self.look(second, to_second, search);
            self.look(first, to_first, search);
        } else {
            self.look(first, to_first, search);
            self.look(second, to_second, search);
        }
    }
}

/// Returns the start of part `i` if n items are split into `parts` parts.
#[inline]
fn part(n: usize, parts: usize, i: usize) -> usize {
    n * i / parts
}

/// Orders items so that nearby ones are next to each other: repeatedly puts the half with smaller coordinates (ties by item number)
/// before the other one, down to as many parts as there are leaves. A leaf starts where [`part`] says, which may be a few items
/// off: boxes are computed from the actual content of the leaves. More than one of `strips` says that items ascend along the first
/// axis, and must be split into so many strips first.
fn halve<const D: usize>(entries: &mut [([f64; D], u32)], leaves: usize, strips: usize) {
    let mut parts = vec![(entries, leaves)];
    while let Some((entries, leaves)) = parts.pop() {
        if leaves == 1 || entries.len() < 2 {
            continue;
        }
        let middle = part(entries.len(), 2, 1);
        if strips < 2 {
            let around = Cell::of(entries.iter().map(|entry| entry.0));
            let wide = |axis: usize| around.high[axis] - around.low[axis];
            let axis = (1..D).fold(0, |widest, axis| if wide(axis) > wide(widest) { axis } else { widest });
            entries
                .select_nth_unstable_by(middle, |a, b| a.0[axis].total_cmp(&b.0[axis]).then(a.1.cmp(&b.1)));
        }
        let (low, high) = entries.split_at_mut(middle);
        if low.len() > PARALLEL {
            rayon::join(|| halve(low, leaves / 2, strips / 2), || halve(high, leaves / 2, strips / 2));
        } else {
            parts.extend([(low, leaves / 2), (high, leaves / 2)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;

    /// Every inner cell covers its two children, however few items there are.
    #[test]
    fn leaves_hold_all_items() {
        for n in 1..200 {
            let instance = generate::uniform(n, 3).unwrap();
            let places: Vec<[f64; 2]> = instance.points().unwrap().iter().map(|p| [p[0], p[1]]).collect();
            let tree = KdTree::new(&places);
            let leaves: Vec<usize> =
                (tree.leaves..2 * tree.leaves).flat_map(|leaf| tree.positions(leaf)).collect();
            assert_eq!(leaves, (0..n).collect::<Vec<_>>());
            for p in 0..n {
                let leaf = tree.leaf(p as u32);
                assert!(tree.positions(leaf).contains(&p));
                assert_eq!(tree.places()[p], places[tree.items()[p] as usize]);
                let cells =
                    std::iter::successors(Some(leaf), |cell| Some(cell / 2)).take_while(|&cell| cell > 0);
                for cell in cells {
                    assert_eq!(tree.cells[cell].beyond(tree.places()[p]), [0.0; 2]);
                }
            }
        }
    }
}
