//! The quick Borůvka tour (Applegate, Cook and Rohe 2003, *Chained Lin-Kernighan for large traveling salesman problems*, section
//! 2.1).

use std::ops::Range;

use rayon::prelude::*;

use super::paths::Paths;
use antwarp_instance::{Cell, Instance, KdTree, Search, Watch};

/// Returns the shorter of the tours that grow along x and along y. Every node in turn is joined to the nearest one that can have
/// another edge and is not the other end of its path; this is done twice, and then again for the rest. `None` if there are no
/// coordinates; of three, only the first two are used, and nearness is measured in the plane.
///
/// Among equally near nodes, one in the same cell of a k-d tree is preferred: on lattices, where most are equally near, neighbours
/// then choose alike. There this matters more than the tour's length: Lin-Kernighan moves get further from it (pla85900: 1.2 %
/// above the optimum; with ties broken by number, 1.6 %). The direction also matters there: from the tour along y, which is longer
/// initially, they get to 1.9 %.
///
/// Returns no tour once the watch is over.
pub(super) fn quick_boruvka(instance: &Instance, watch: &Watch) -> Option<Vec<u32>> {
    let places: Vec<[f64; 2]> = instance.points()?.par_iter().map(|p| [p[0], p[1]]).collect();
    let tree = Tree::new(&places);
    let along_axis = |axis: usize| {
        let tour: Vec<u32> =
            along(tree.clone(), axis, watch).iter().map(|&p| tree.all.items()[p as usize]).collect();
        (instance.check_tour(&tour).unwrap_or(i64::MAX), tour)
    };
    let (x, y) = rayon::join(|| along_axis(0), || along_axis(1));
    Some(if y.0 < x.0 { y.1 } else { x.1 })
}

/// Returns the positions along the tour that grows along an axis; empty once the watch is over.
fn along(mut tree: Tree, axis: usize, watch: &Watch) -> Vec<u32> {
    let mut order: Vec<(f64, u32)> = tree.all.places().iter().map(|p| p[axis]).zip(0..).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut paths = Paths::new(order.len());
    while paths.count() > 1 {
        order.retain(|&(_, p)| paths.is_end(p));
        for (step, &(_, p)) in order.iter().enumerate() {
            if watch.is_over_at(step) {
                return Vec::new();
            }
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

/// A tree from which nodes are removed.
#[derive(Clone)]
struct Tree {
    all: KdTree<2>,
    is_gone: Vec<bool>,
    /// Number of nodes left in each cell.
    left: Vec<u32>,
}

impl Tree {
    fn new(places: &[[f64; 2]]) -> Tree {
        let all = KdTree::new(places);
        let mut left = vec![0; all.cells()];
        for p in 0..places.len() as u32 {
            left[all.leaf(p)] += 1;
        }
        for i in (1..all.cells() / 2).rev() {
            left[i] = left[2 * i] + left[2 * i + 1];
        }
        Tree { all, is_gone: vec![false; places.len()], left }
    }

    /// Removes a node.
    fn remove(&mut self, position: u32) {
        self.is_gone[position as usize] = true;
        let mut cell = self.all.leaf(position);
        while cell > 0 {
            self.left[cell] -= 1;
            cell /= 2;
        }
    }

    /// Returns the nearest other remaining node, except `but`; among equally near ones, that in the smallest cell with this node.
    fn nearest(&self, position: u32, but: u32) -> Option<u32> {
        let place = self.all.places()[position as usize];
        let mut nearest = Nearest { tree: self, place, not: [position, but], best: (f64::INFINITY, None) };
        self.all.search(position, &mut nearest);
        nearest.best.1
    }
}

/// A search for the nearest remaining node.
struct Nearest<'t> {
    tree: &'t Tree,
    place: [f64; 2],
    not: [u32; 2],
    /// The squared distance of the best node so far, and the node.
    best: (f64, Option<u32>),
}

impl Search<2> for Nearest<'_> {
    /// The square of a straight line.
    type Least = f64;

    fn least(&self, _: usize, cell: &Cell<2>) -> f64 {
        let [dx, dy] = cell.beyond(self.place);
        dx * dx + dy * dy
    }

    fn wants(&self, number: usize, _: &Cell<2>, least: f64) -> bool {
        self.tree.left[number] > 0 && least < self.best.0
    }

    fn meet(&mut self, positions: Range<usize>) {
        for p in positions {
            let [x, y] = self.tree.all.places()[p];
            let (dx, dy) = (x - self.place[0], y - self.place[1]);
            let far = dx * dx + dy * dy;
            if far < self.best.0 && !self.tree.is_gone[p] && !self.not.contains(&(p as u32)) {
                self.best = (far, Some(p as u32));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use antwarp_instance::Metric;

    proptest! {
        /// Few distinct places, so that many coincide or are equally far.
        #[test]
        fn the_nearest_one_is_found_whatever_was_removed(
            places in prop::collection::vec((0..20_u32, 0..20_u32), 1..200),
            removed in prop::collection::vec(any::<prop::sample::Index>(), 0..200),
            but: prop::sample::Index,
        ) {
            let n = places.len();
            let places: Vec<_> = places.iter().map(|&(x, y)| [f64::from(x), f64::from(y)]).collect();
            let mut tree = Tree::new(&places);
            for i in removed {
                if !tree.is_gone[i.index(n)] {
                    tree.remove(i.index(n) as u32);
                }
            }
            let but = but.index(n) as u32;
            for p in 0..n as u32 {
                let far = |q: u32| {
                    let (a, b) = (tree.all.places()[p as usize], tree.all.places()[q as usize]);
                    (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)
                };
                let others = (0..n as u32).filter(|&q| q != p && q != but && !tree.is_gone[q as usize]);
                let expected = others.map(far).reduce(f64::min);
                prop_assert_eq!(tree.nearest(p, but).map(far), expected);
            }
        }
    }

    #[test]
    fn heaps_of_nodes_are_joined_quickly() {
        let n = 100_000;
        let points = (0..n).map(|i| [f64::from(i % 10), 0.0, 0.0]).collect();
        let instance = Instance::from_points("heaps", Metric::Euc2d, points).unwrap();
        assert!(
            instance.check_tour(&quick_boruvka(&instance, &Watch::new(&|| false)).unwrap()).unwrap() < 1000
        );
    }
}
