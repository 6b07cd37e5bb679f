//! A k-d tree (Bentley 1975) that is searched from a leaf upwards (Bentley 1992).

use crate::parallel;

/// Most items of a leaf.
const LEAF: usize = 8;
/// Items from which on the halves of a part are sorted by two threads.
const PARALLEL: usize = 1 << 13;

/// Items at places with `D` coordinates. An item goes by its position in the order of the leaves. Cells are numbered as in
/// a heap: those of cell i are 2 i and 2 i + 1, and the root is 1.
#[derive(Clone)]
pub(crate) struct KdTree<const D: usize> {
    places: Vec<[f64; D]>,
    items: Vec<u32>,
    cells: Vec<Cell<D>>,
    leaves: usize,
}

/// The smallest box around a part of the places.
#[derive(Clone, Copy)]
pub(crate) struct Cell<const D: usize> {
    /// Its smallest coordinates.
    pub(crate) low: [f64; D],
    /// Its largest coordinates.
    pub(crate) high: [f64; D],
}

impl<const D: usize> Cell<D> {
    const NOTHING: Cell<D> = Cell { low: [f64::INFINITY; D], high: [f64::NEG_INFINITY; D] };

    /// The smallest box around both.
    fn with(self, other: Cell<D>) -> Cell<D> {
        Cell {
            low: std::array::from_fn(|axis| self.low[axis].min(other.low[axis])),
            high: std::array::from_fn(|axis| self.high[axis].max(other.high[axis])),
        }
    }

    /// How far it is from a place to the box at least, along each axis. No place in the box is nearer along any axis,
    /// whatever is rounded.
    #[inline]
    pub(crate) fn beyond(&self, place: [f64; D]) -> [f64; D] {
        let mut beyond = [0.0; D];
        for axis in 0..D {
            let outside = larger(self.low[axis] - place[axis], place[axis] - self.high[axis]);
            beyond[axis] = larger(outside, 0.0);
        }
        beyond
    }
}

/// Not `max`, which takes longer for the sake of NaN.
#[inline]
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The square of a straight line.
#[inline]
pub(crate) fn square<const D: usize>(apart: [f64; D]) -> f64 {
    let mut sum = 0.0;
    for z in apart {
        sum += z * z;
    }
    sum
}

/// What is looked for.
pub(crate) trait Search<const D: usize> {
    /// How near something is at least; what is less is nearer.
    type Least: Copy + PartialOrd;

    /// How near whatever is in a cell is at least. Of two cells the nearer one is searched first.
    fn least(&self, number: usize, cell: &Cell<D>) -> Self::Least;

    /// Whether something in this cell, at least so near, may be of use.
    fn wants(&self, number: usize, cell: &Cell<D>, least: Self::Least) -> bool;

    /// Looks at the items at these positions.
    fn meet(&mut self, positions: std::ops::Range<usize>);
}

impl<const D: usize> KdTree<D> {
    /// The tree of these places; items are numbered as they are.
    pub(crate) fn new(places: &[[f64; D]]) -> KdTree<D> {
        let leaves = places.len().div_ceil(LEAF).next_power_of_two();
        let mut entries: Vec<([f64; D], u32)> = parallel::collect(places.len(), &|i| (places[i], i as u32));
        halve(&mut entries, leaves);
        let mut tree = KdTree {
            places: parallel::collect(entries.len(), &|i| entries[i].0),
            items: parallel::collect(entries.len(), &|i| entries[i].1),
            cells: Vec::new(),
            leaves,
        };
        let around = |leaf: usize| {
            let places = tree.places[tree.positions(leaf)].iter();
            places.fold(Cell::NOTHING, |cell, &low| cell.with(Cell { low, high: low }))
        };
        let mut cells = vec![Cell::NOTHING; leaves];
        cells.extend(parallel::collect(leaves, &|leaf| around(leaves + leaf)));
        for i in (1..leaves).rev() {
            cells[i] = cells[2 * i].with(cells[2 * i + 1]);
        }
        tree.cells = cells;
        tree
    }

    /// The places, by position.
    #[inline]
    pub(crate) fn places(&self) -> &[[f64; D]] {
        &self.places
    }

    /// The items' numbers, by position.
    #[inline]
    pub(crate) fn items(&self) -> &[u32] {
        &self.items
    }

    /// One more than the largest number of a cell.
    #[inline]
    pub(crate) fn cells(&self) -> usize {
        2 * self.leaves
    }

    /// The positions in a leaf.
    #[inline]
    pub(crate) fn positions(&self, leaf: usize) -> std::ops::Range<usize> {
        let begin = |i: usize| part(self.places.len(), self.leaves, i);
        begin(leaf - self.leaves)..begin(leaf - self.leaves + 1)
    }

    /// The leaf that a position is in.
    #[inline]
    pub(crate) fn leaf(&self, position: u32) -> usize {
        self.leaves + ((position as usize + 1) * self.leaves - 1) / self.places.len()
    }

    /// What there is to know of each cell, by its number: of what its items, by their numbers, tell of themselves, joined by `with`.
    pub(crate) fn fold<K: Copy + Send + Sync>(
        &self,
        nothing: K,
        with: impl Fn(K, K) -> K + Sync,
        of: impl Fn(u32) -> K + Sync,
    ) -> Vec<K> {
        let in_leaf = |leaf: usize| {
            let items = self.items[self.positions(leaf)].iter();
            items.fold(nothing, |known, &item| with(known, of(item)))
        };
        let mut known = vec![nothing; self.leaves];
        known.extend(parallel::collect(self.leaves, &|leaf| in_leaf(self.leaves + leaf)));
        for i in (1..self.leaves).rev() {
            known[i] = with(known[2 * i], known[2 * i + 1]);
        }
        known
    }

    /// Searches around an item: its leaf first, then ever larger cells with it.
    pub(crate) fn search(&self, position: u32, search: &mut impl Search<D>) {
        let mut cell = self.leaf(position);
        self.look(cell, search.least(cell, &self.cells[cell]), search);
        while cell > 1 {
            let other = cell ^ 1;
            self.look(other, search.least(other, &self.cells[other]), search);
            cell /= 2;
        }
    }

    /// Searches a cell, its nearer half first.
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

/// The begin of a part of n items, if there are so many parts.
#[inline]
fn part(n: usize, parts: usize, i: usize) -> usize {
    n * i / parts
}

/// Orders items so that those near each other are beside each other: again and again the half with smaller coordinates goes
/// before the other one, and of equal ones the item with the smaller number, down to as many parts as there are leaves. A leaf
/// begins where [`part`] says, which may be a few items off: boxes are those of what leaves hold.
fn halve<const D: usize>(entries: &mut [([f64; D], u32)], leaves: usize) {
    let mut parts = vec![(entries, leaves)];
    while let Some((entries, leaves)) = parts.pop() {
        if leaves == 1 || entries.len() < 2 {
            continue;
        }
        let around = entries.iter().fold(Cell::NOTHING, |cell, &(low, _)| cell.with(Cell { low, high: low }));
        let wide = |axis: usize| around.high[axis] - around.low[axis];
        let axis = (1..D).fold(0, |widest, axis| if wide(axis) > wide(widest) { axis } else { widest });
        let middle = part(entries.len(), 2, 1);
        entries.select_nth_unstable_by(middle, |a, b| a.0[axis].total_cmp(&b.0[axis]).then(a.1.cmp(&b.1)));
        let (low, high) = entries.split_at_mut(middle);
        if low.len() > PARALLEL {
            rayon::join(|| halve(low, leaves / 2), || halve(high, leaves / 2));
        } else {
            parts.extend([(low, leaves / 2), (high, leaves / 2)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::generate;

    /// Every cell but a leaf is the two below it, however few the items.
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
