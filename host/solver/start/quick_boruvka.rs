//! The tour by quick Borůvka (Applegate, Cook and Rohe 2003, *Chained Lin-Kernighan for large traveling salesman problems*,
//! section 2.1).

use rayon::prelude::*;

use super::paths::Paths;
use crate::instance::Instance;

/// Most nodes of a leaf.
const LEAF: usize = 8;
/// Nodes from which on the halves of a part are sorted by two threads.
const PARALLEL: usize = 1 << 14;

/// The shorter of the tours that grow along x and along y. Every node in turn is joined to the nearest one that can have
/// another edge and is not the other end of its path; this twice, and then again for what is left. None if there are no
/// coordinates; of three it sees the first two, and what is near is told in the plane.
///
/// Among equally near nodes it takes one that lies in the same cell of a k-d tree, if there is one: on lattices, where most
/// are equally near, neighbours then choose alike. There this is worth more than the tour's length: Lin-Kernighan moves lead
/// further from it (pla85900: 1.2 % above the optimum; from the one with ties by number, 1.6 %). And there the direction
/// counts: from the tour along y, which is longer to begin with, they lead to 1.9 %.
pub(super) fn quick_boruvka(instance: &Instance) -> Option<Vec<u32>> {
    let tree = Tree::new(instance.points()?.par_iter().map(|p| [p[0], p[1]]).collect());
    let along_axis = |axis: usize| {
        let tour: Vec<u32> = along(tree.clone(), axis).iter().map(|&p| tree.nodes[p as usize]).collect();
        (instance.check_tour(&tour).unwrap_or(i64::MAX), tour)
    };
    let (x, y) = rayon::join(|| along_axis(0), || along_axis(1));
    Some(if y.0 < x.0 { y.1 } else { x.1 })
}

/// The positions along the tour that grows along an axis.
fn along(mut tree: Tree, axis: usize) -> Vec<u32> {
    let mut order: Vec<(f64, u32)> = tree.places.iter().map(|p| p[axis]).zip(0..).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut paths = Paths::new(order.len());
    while paths.count() > 1 {
        order.retain(|&(_, p)| paths.is_end(p));
        for &(_, p) in &order {
            if !paths.is_end(p) {
                continue;
            }
            let Some(near) = tree.nearest(p, paths.other_end(p)) else { break };
            paths.link(p, near);
            for end in [p, near] {
                if !paths.is_end(end) {
                    tree.remove(end);
                }
            }
        }
    }
    paths.into_tour()
}

/// The smallest rectangle around a part of the nodes, and how many of them are left.
#[derive(Clone, Copy)]
struct Cell {
    low: [f64; 2],
    high: [f64; 2],
    left: u32,
}

/// A k-d tree (Bentley 1975) from which nodes are removed. A node goes by its position in the order of the leaves. Cells are
/// numbered as in a heap: those of cell i are 2 i and 2 i + 1.
#[derive(Clone)]
struct Tree {
    places: Vec<[f64; 2]>,
    nodes: Vec<u32>,
    is_gone: Vec<bool>,
    cells: Vec<Cell>,
    leaves: usize,
}

impl Tree {
    fn new(points: Vec<[f64; 2]>) -> Tree {
        let leaves = points.len().div_ceil(LEAF).next_power_of_two();
        let mut nodes: Vec<u32> = (0..points.len() as u32).collect();
        halve(&points, &mut nodes, leaves);
        let places: Vec<[f64; 2]> = nodes.iter().map(|&v| points[v as usize]).collect();
        let nothing = Cell { low: [f64::INFINITY; 2], high: [f64::NEG_INFINITY; 2], left: 0 };
        let mut tree = Tree {
            is_gone: vec![false; nodes.len()],
            nodes,
            cells: vec![nothing; 2 * leaves],
            leaves,
            places,
        };
        for leaf in leaves..2 * leaves {
            tree.cells[leaf] = tree.places[tree.positions(leaf)].iter().fold(nothing, |cell, &p| Cell {
                low: [cell.low[0].min(p[0]), cell.low[1].min(p[1])],
                high: [cell.high[0].max(p[0]), cell.high[1].max(p[1])],
                left: cell.left + 1,
            });
        }
        for i in (1..leaves).rev() {
            let [a, b] = [tree.cells[2 * i], tree.cells[2 * i + 1]];
            tree.cells[i] = Cell {
                low: [a.low[0].min(b.low[0]), a.low[1].min(b.low[1])],
                high: [a.high[0].max(b.high[0]), a.high[1].max(b.high[1])],
                left: a.left + b.left,
            };
        }
        tree
    }

    /// The positions in a leaf.
    fn positions(&self, leaf: usize) -> std::ops::Range<usize> {
        let begin = |i: usize| part(self.places.len(), self.leaves, i);
        begin(leaf - self.leaves)..begin(leaf - self.leaves + 1)
    }

    /// The leaf that a position is in.
    fn leaf(&self, position: u32) -> usize {
        self.leaves + ((position as usize + 1) * self.leaves - 1) / self.places.len()
    }

    /// Takes a node out.
    fn remove(&mut self, position: u32) {
        self.is_gone[position as usize] = true;
        let mut cell = self.leaf(position);
        while cell > 0 {
            self.cells[cell].left -= 1;
            cell /= 2;
        }
    }

    /// The nearest other node that is left, but for one; of equally near ones that in the smallest cell with this node.
    fn nearest(&self, position: u32, but: u32) -> Option<u32> {
        let search = Search { tree: self, place: self.places[position as usize], not: [position, but] };
        let mut best = (f64::INFINITY, None);
        let mut cell = self.leaf(position);
        search.look(cell, &mut best);
        while cell > 1 {
            search.look(cell ^ 1, &mut best);
            cell /= 2;
        }
        best.1
    }
}

/// What is looked for in a tree.
struct Search<'t> {
    tree: &'t Tree,
    place: [f64; 2],
    not: [u32; 2],
}

impl Search<'_> {
    /// The square of how far a cell is at least.
    fn far(&self, cell: usize) -> f64 {
        let Cell { low, high, .. } = self.tree.cells[cell];
        let beyond = |axis: usize| (low[axis] - self.place[axis]).max(self.place[axis] - high[axis]).max(0.0);
        beyond(0) * beyond(0) + beyond(1) * beyond(1)
    }

    /// Looks for nodes nearer than the best one so far, the nearer half of a cell first.
    fn look(&self, cell: usize, best: &mut (f64, Option<u32>)) {
        let tree = self.tree;
        if tree.cells[cell].left == 0 || self.far(cell) >= best.0 {
            return;
        }
        if cell >= tree.leaves {
            for p in tree.positions(cell) {
                let [x, y] = tree.places[p];
                let (dx, dy) = (x - self.place[0], y - self.place[1]);
                let far = dx * dx + dy * dy;
                if far < best.0 && !tree.is_gone[p] && !self.not.contains(&(p as u32)) {
                    *best = (far, Some(p as u32));
                }
            }
            return;
        }
        let second_first = usize::from(self.far(2 * cell + 1) < self.far(2 * cell));
        self.look(2 * cell + second_first, best);
        self.look(2 * cell + (1 - second_first), best);
    }
}

/// The begin of a part of n nodes, if there are so many parts.
fn part(n: usize, parts: usize, i: usize) -> usize {
    n * i / parts
}

/// Orders nodes so that each of so many parts, a power of two, is a leaf: again and again the half to the left or below goes
/// before the other one.
fn halve(points: &[[f64; 2]], nodes: &mut [u32], leaves: usize) {
    let mut parts = vec![(nodes, leaves)];
    while let Some((nodes, leaves)) = parts.pop() {
        if leaves == 1 || nodes.len() < 2 {
            continue;
        }
        let wide = |axis: usize| {
            let z = nodes.iter().map(|&v| points[v as usize][axis]);
            let (low, high) = z.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), z| (l.min(z), h.max(z)));
            high - low
        };
        let axis = usize::from(wide(1) > wide(0));
        let z = |v: u32| points[v as usize][axis];
        let middle = part(nodes.len(), 2, 1);
        nodes.select_nth_unstable_by(middle, |&a, &b| z(a).total_cmp(&z(b)).then(a.cmp(&b)));
        let (low, high) = nodes.split_at_mut(middle);
        if low.len() > PARALLEL {
            rayon::join(|| halve(points, low, leaves / 2), || halve(points, high, leaves / 2));
        } else {
            parts.extend([(low, leaves / 2), (high, leaves / 2)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::instance::{Metric, generate};

    proptest! {
        /// Few distinct places, so that many are the same or equally far.
        #[test]
        fn the_nearest_one_is_found_whatever_was_removed(
            places in prop::collection::vec((0..20_u32, 0..20_u32), 1..200),
            removed in prop::collection::vec(any::<prop::sample::Index>(), 0..200),
            but: prop::sample::Index,
        ) {
            let n = places.len();
            let mut tree = Tree::new(places.iter().map(|&(x, y)| [f64::from(x), f64::from(y)]).collect());
            for i in removed {
                if !tree.is_gone[i.index(n)] {
                    tree.remove(i.index(n) as u32);
                }
            }
            let but = but.index(n) as u32;
            for p in 0..n as u32 {
                let far = |q: u32| {
                    let (a, b) = (tree.places[p as usize], tree.places[q as usize]);
                    (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)
                };
                let others = (0..n as u32).filter(|&q| q != p && q != but && !tree.is_gone[q as usize]);
                let expected = others.map(far).reduce(f64::min);
                prop_assert_eq!(tree.nearest(p, but).map(far), expected);
            }
        }
    }

    /// Every cell but a leaf is the two below it, however few the nodes.
    #[test]
    fn leaves_hold_all_nodes() {
        for n in 1..200 {
            let instance = generate::uniform(n, 3).unwrap();
            let tree = Tree::new(instance.points().unwrap().iter().map(|p| [p[0], p[1]]).collect());
            let leaves: Vec<usize> =
                (tree.leaves..2 * tree.leaves).flat_map(|leaf| tree.positions(leaf)).collect();
            assert_eq!(leaves, (0..n).collect::<Vec<_>>());
            assert!((0..n as u32).all(|p| tree.positions(tree.leaf(p)).contains(&(p as usize))));
            assert_eq!(tree.cells[1].left as usize, n);
        }
    }

    #[test]
    fn heaps_of_nodes_are_joined_quickly() {
        let n = 100_000;
        let points = (0..n).map(|i| [f64::from(i % 10), 0.0, 0.0]).collect();
        let instance = Instance::from_points("heaps", Metric::Euc2d, points).unwrap();
        assert!(instance.check_tour(&quick_boruvka(&instance).unwrap()).unwrap() < 1000);
    }
}
