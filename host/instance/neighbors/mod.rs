//! Neighbours of every node: the [`nearest`], and the nearest in each [`quadrant()`] around it.
//!
//! Neighbours of a node are ordered by the instance's distance, then by the unrounded straight line between the points, then by
//! number; `GEO`, `GEOM` and matrices have no such line. The order is total, so lists do not depend on the number of threads.

mod forms;
mod places;
mod quadrant;
mod unvisited;

use antwarp_core::metric::{Metric, Space, distance};

use super::model::{Distances, Instance};
use super::watch::{Enough, Watch};
use crate::parallel;
use places::{Best, Globe, Lengths, Lines, Places, Ruler};

pub use places::motors;
pub use quadrant::{quadrant, quadrant_until};
pub use unvisited::unvisited;

/// Neighbours of every node, nearest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeighborLists {
    /// Number of neighbours per node, the same for all: at most n - 1.
    pub k: usize,
    /// The neighbours of node i are `ids[i * k..(i + 1) * k]`.
    pub ids: Vec<u32>,
}

impl NeighborLists {
    /// The lists of no nodes.
    const NONE: NeighborLists = NeighborLists { k: 0, ids: Vec::new() };

    /// Returns the neighbours of a node, nearest first.
    ///
    /// # Panics
    /// If the node does not exist.
    pub fn of(&self, node: u32) -> &[u32] {
        let start = node as usize * self.k;
        &self.ids[start..start + self.k]
    }
}

/// Returns the `k` nearest neighbours of every node by the distance from it; all other nodes if `k` is larger. Of equally near
/// nodes, in the plane and in space the one on the shorter straight line comes first; then the one with the lower number.
pub fn nearest(instance: &Instance, k: usize) -> NeighborLists {
    nearest_watched(instance, k, &Watch::new(&|| false))
}

/// Does the same as [`nearest`]; `None` if `enough` asked to stop before all lists were complete.
pub fn nearest_until(instance: &Instance, k: usize, enough: Enough) -> Option<NeighborLists> {
    let watch = Watch::new(enough);
    watch.kept(nearest_watched(instance, k, &watch))
}

fn nearest_watched(instance: &Instance, k: usize, watch: &Watch) -> NeighborLists {
    if forms::is_form(instance) {
        return forms::lists(instance, k, |plain, k| nearest_of_all(plain, k, watch));
    }
    nearest_of_all(instance, k, watch)
}

fn nearest_of_all(instance: &Instance, k: usize, watch: &Watch) -> NeighborLists {
    let nodes = (0..instance.len() as u32).collect();
    nearest_among(instance, nodes, k, watch).by_number()
}

/// Neighbour lists of some nodes, with neighbours only among them.
pub struct Neighborhood {
    /// Number of neighbours per node, the same for all.
    pub k: usize,
    /// The nodes; if a tree was searched, nearby nodes are close to each other in the list.
    pub nodes: Vec<u32>,
    /// The neighbours of `nodes[i]` are `ids[i * k..(i + 1) * k]`, nearest first.
    pub ids: Vec<u32>,
}

impl Neighborhood {
    /// The neighbourhood of no nodes.
    const NONE: Neighborhood = Neighborhood { k: 0, nodes: Vec::new(), ids: Vec::new() };

    /// Returns the lists of all nodes of an instance, sorted by node number.
    fn by_number(self) -> NeighborLists {
        let at = parallel::inverse(&self.nodes);
        let k = self.k;
        let mut ids = vec![0; self.ids.len()];
        parallel::each_part(&mut ids, k.max(1), &|node, list| {
            list.copy_from_slice(&self.ids[at[node] as usize * k..][..k]);
        });
        NeighborLists { k, ids }
    }
}

/// Returns the `k` nearest neighbours of each of these distinct nodes, among them; all others if `k` is larger.
pub fn nearest_among(instance: &Instance, nodes: Vec<u32>, k: usize, watch: &Watch) -> Neighborhood {
    let k = k.min(nodes.len().saturating_sub(1));
    let (Some(metric), Some(points)) = (instance.metric(), instance.points()) else {
        return by_comparison(instance, nodes, k, watch);
    };
    if k == 0 || k > nodes.len() / MOST_OF {
        return by_comparison(instance, nodes, k, watch);
    }
    match (metric.space(), metric.is_by_line()) {
        (Space::Plane, true) => in_tree::<2, _>(Lines, metric, points, nodes, k, watch),
        (Space::Plane, false) => in_tree::<2, _>(Lengths(metric), metric, points, nodes, k, watch),
        (Space::Degrees, _) => in_tree(Globe(metric), metric, points, nodes, k, watch),
        (Space::Solid | Space::Motors | Space::Sphere, true) => {
            in_tree::<3, _>(Lines, metric, points, nodes, k, watch)
        }
        (Space::Solid | Space::Motors | Space::Sphere, false) => {
            in_tree::<3, _>(Lengths(metric), metric, points, nodes, k, watch)
        }
    }
}

/// If lists have more than one in this many nodes, all nodes are sorted instead.
const MOST_OF: usize = 4;

/// How near a node is; smaller is nearer. Combines distance, squared straight line and node number in one integer, so that it is
/// compared without branches. Lines are never negative, so their bits have the same order. If lines alone decide, the distance is
/// left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Nearness(u128);

impl Nearness {
    /// Farther than any node.
    const FARTHEST: Nearness = Nearness(u128::MAX);

    /// Returns the nearness of node 0. The distance must not be negative.
    #[inline]
    fn new(distance: i32, line: f64) -> Nearness {
        Nearness((distance as u128) << 96 | u128::from(line.to_bits()) << 32)
    }

    /// Returns the nearness of another node that is as near as node 0.
    #[inline]
    fn of(self, node: u32) -> Nearness {
        Nearness(self.0 | u128::from(node))
    }

    fn node(self) -> u32 {
        self.0 as u32
    }
}

fn nearness(metric: Metric, points: &[[f64; 3]], from: u32, to: u32) -> Nearness {
    let (a, b) = (points[from as usize], points[to as usize]);
    let axes = metric.dimensions();
    let squared = a.iter().zip(b).take(axes).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    // A line between degrees is meaningless, and arcs of equal length may be computed with different last digits.
    match metric.space() {
        Space::Degrees => Nearness::new(distance(metric, a, b), 0.0),
        Space::Sphere => Nearness::new(0, squared),
        _ => Nearness::new(distance(metric, a, b), squared),
    }
    .of(to)
}

/// Returns the k nearest of all other nodes, by evaluating each.
fn by_comparison(instance: &Instance, nodes: Vec<u32>, k: usize, watch: &Watch) -> Neighborhood {
    let mut ids = vec![0; nodes.len() * k];
    match instance.distances() {
        Distances::Points { metric, points } => {
            parallel::each_part_with(&mut ids, k.max(1), &Vec::new, &|candidates, index, list| {
                let from = nodes[index];
                if watch.is_over() {
                    return;
                }
                candidates.clear();
                let others = nodes.iter().copied().filter(|&to| to != from);
                candidates.extend(others.map(|to| nearness(*metric, points, from, to)));
                take_nearest(candidates, list);
            });
        }
        Distances::Matrix(matrix) => {
            let n = instance.len();
            parallel::each_part_with(&mut ids, k.max(1), &Vec::new, &|found, index, list| {
                let from = nodes[index];
                if !watch.is_over() {
                    nearest_in_row(&matrix[from as usize * n..][..n], (from, &nodes), found, list);
                }
            });
        }
    }
    Neighborhood { k, nodes, ids }
}

/// Length of a list up to which each node is put into its place in it.
const SHORT: usize = 64;

/// Fills a list with the nodes that are nearest by a row of a matrix.
fn nearest_in_row(row: &[i32], (from, nodes): (u32, &[u32]), found: &mut Vec<u64>, list: &mut [u32]) {
    found.clear();
    // Distances are not negative.
    let nearness = |to: u32| (row[to as usize] as u64) << 32 | u64::from(to);
    let others = nodes.iter().copied().filter(|&to| to != from);
    if list.len() > SHORT {
        found.extend(others.map(nearness));
        if found.len() > list.len() {
            found.select_nth_unstable(list.len() - 1);
            found.truncate(list.len());
        }
        found.sort_unstable();
        list.iter_mut().zip(found).for_each(|(to, nearness)| *to = *nearness as u32);
        return;
    }
    // Few are nearer than those found before: what remains of a long row is a comparison for each node.
    let mut farthest = u64::MAX;
    for nearness in others.map(nearness) {
        if nearness >= farthest {
            continue;
        }
        if found.len() == list.len() {
            found.pop();
        }
        let at = found.partition_point(|&other| other < nearness);
        found.insert(at, nearness);
        if found.len() == list.len() {
            farthest = found[list.len() - 1];
        }
    }
    list.iter_mut().zip(found).for_each(|(to, nearness)| *to = *nearness as u32);
}

/// Fills a list with the nearest candidates.
fn take_nearest(candidates: &mut [Nearness], list: &mut [u32]) {
    if candidates.len() > list.len() {
        candidates.select_nth_unstable(list.len() - 1);
    }
    let nearest = &mut candidates[..list.len()];
    nearest.sort_unstable();
    for (to, candidate) in list.iter_mut().zip(nearest) {
        *to = candidate.node();
    }
}

/// Returns the k nearest, by searching around each node in a tree.
fn in_tree<const D: usize, R: Ruler<D> + Send>(
    ruler: R,
    metric: Metric,
    points: &[[f64; 3]],
    nodes: Vec<u32>,
    k: usize,
    watch: &Watch,
) -> Neighborhood {
    let Some(places) = Places::new(ruler, metric, points, nodes, watch) else { return Neighborhood::NONE };
    places.lists(
        (k, watch),
        || Best::new(k),
        |places, best, node, list| {
            places.nearest(node, best);
            for (to, near) in list.iter_mut().zip(&best.found) {
                *to = near.node();
            }
        },
    )
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::generate;

    #[test]
    fn it_may_be_enough_before_there_are_lists() {
        let plane = generate::uniform(300, 1).unwrap();
        let matrix = Instance::from_matrix("m", (0..64).map(|i| i % 7).collect()).unwrap();
        for instance in [plane, matrix] {
            assert_eq!(nearest_until(&instance, 5, &|| true), None);
            assert_eq!(quadrant_until(&instance, 5, &|| true), None);
            assert_eq!(nearest_until(&instance, 5, &|| false), Some(nearest(&instance, 5)));
        }
    }

    /// The definition, without any optimization.
    pub(super) fn by_definition(instance: &Instance, k: usize) -> NeighborLists {
        let k = k.min(instance.len() - 1);
        let ids = (0..instance.len() as u32).flat_map(|from| list_by_definition(instance, from, k)).collect();
        NeighborLists { k, ids }
    }

    fn list_by_definition(instance: &Instance, from: u32, k: usize) -> Vec<u32> {
        let line = |to: u32| {
            let points = instance.points().filter(|_| !instance.metric().is_some_and(Metric::is_in_degrees));
            points.map_or(0.0, |p| {
                let axes = instance.metric().unwrap().dimensions();
                let apart = |axis: usize| (p[from as usize][axis] - p[to as usize][axis]).powi(2);
                (0..axes).map(apart).sum::<f64>()
            })
        };
        let others = (0..instance.len() as u32).filter(|&to| to != from);
        let mut others: Vec<_> = others.map(|to| (instance.distance(from, to), line(to), to)).collect();
        others.sort_by(|a, b| a.partial_cmp(b).unwrap());
        others.iter().take(k).map(|other| other.2).collect()
    }

    /// Trees with thousands of leaves, built by several threads; many nodes are equally far, and some coincide.
    #[test]
    fn large_instances_agree_with_the_definition() {
        let clustered = crate::generate::clustered(20_000, 50, 1).unwrap();
        for metric in [Metric::Euc2d, Metric::Max2d, Metric::Geo, Metric::Euc3d, Metric::Man3d] {
            let [step, scale] = if metric == Metric::Geo { [1e3, 8e-5] } else { [2e3, 1.0] };
            let place = |p: &[f64; 3]| [0, 1].map(|axis| (p[axis] / step).floor() * step * scale);
            let points = clustered.points().unwrap().iter().map(place).map(|[x, y]| [x, y, (x + y) % 7.0]);
            let instance = Instance::from_points("lattice", metric, points.collect()).unwrap();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            let lists = pool.install(|| nearest(&instance, 9));
            for from in (0..20_000).step_by(499) {
                assert_eq!(lists.of(from), list_by_definition(&instance, from, 9), "{metric:?} {from}");
            }
        }
    }

    /// Few distinct coordinates give ties and duplicates, many give neither.
    pub(super) fn points() -> impl Strategy<Value = Vec<[f64; 3]>> {
        let coordinate = || prop_oneof![(0..6).prop_map(f64::from), -90.0..90.0, -0.5..0.5];
        prop::collection::vec(prop::array::uniform3(coordinate()), 1..120)
    }

    proptest! {
        #[test]
        fn every_metric_agrees_with_its_definition(points in points(), k in 0_usize..12) {
            for metric in Metric::ALL {
                let instance = Instance::from_points("random", metric, points.clone()).unwrap();
                prop_assert_eq!(nearest(&instance, k), by_definition(&instance, k), "{:?}", metric);
            }
        }

        #[test]
        fn matrices_agree_with_their_definition(weights in prop::collection::vec(0..9, 49), k in 0_usize..9) {
            let instance = Instance::from_matrix("random", weights).unwrap();
            prop_assert_eq!(nearest(&instance, k), by_definition(&instance, k));
        }
    }

    #[test]
    fn a_metric_s_neighbors_do_not_depend_on_threads() {
        let instance = crate::generate::clustered(5000, 20, 1).unwrap();
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| nearest(&instance, 10))
        };
        assert_eq!(on(1), on(3));
    }

    /// Angles of up to several turns, like those of the first motor.
    fn turned() -> impl Strategy<Value = Vec<[f64; 3]>> {
        let angle =
            prop_oneof![(-4..8).prop_map(|i| f64::from(i) * 90.0), -720.0..720.0, 355.0..365.0, -5.0..5.0];
        let other = || prop_oneof![(0..3).prop_map(f64::from), -90.0..90.0];
        prop::collection::vec((angle, other(), other()).prop_map(|(x, y, z)| [x, y, z]), 50..200)
    }

    proptest! {
        #[test]
        fn motors_turn_the_shorter_way(points in turned(), k in 0_usize..12) {
            for metric in [Metric::Xray1, Metric::Xray2] {
                let instance = Instance::from_points("turned", metric, points.clone()).unwrap();
                prop_assert_eq!(nearest(&instance, k), by_definition(&instance, k), "{:?}", metric);
            }
        }
    }

    /// If all nodes are equally near, numbers alone decide: evaluating all nodes for each would take minutes.
    #[test]
    fn nodes_within_a_kilometre_take_the_lowest_numbers() {
        let n = 60_000;
        let town = |i: u32| [48.0 + f64::from(i / 300) * 1e-5, 2.0 + f64::from(i % 300) * 1e-5, 0.0];
        let orders: [fn(u32, u32) -> u32; 3] = [|i, _| i, |i, n| n - 1 - i, |i, n| i * 7919 % n];
        for order in orders {
            let points = (0..n).map(|i| town(order(i, n))).collect();
            let lists = nearest(&Instance::from_points("town", Metric::Geo, points).unwrap(), 6);
            assert_eq!((lists.of(3), lists.of(n - 1)), (&[0, 1, 2, 4, 5, 6][..], &[0, 1, 2, 3, 4, 5][..]));
        }
    }

    #[test]
    fn many_motors_places_are_searched_quickly() {
        let points = (0..50_000_u64).map(|i| {
            let z = |factor: u64, most: u64| (i * factor % 1_000_003 % most) as f64 / 10.0;
            [z(7919, 7200), z(104_729, 900), z(1_299_709, 900)]
        });
        for metric in [Metric::Xray1, Metric::Xray2] {
            let instance = Instance::from_points("crystal", metric, points.clone().collect()).unwrap();
            let lists = nearest(&instance, 8);
            for from in (0..50_000).step_by(4999) {
                assert_eq!(lists.of(from), list_by_definition(&instance, from, 8), "{metric:?} {from}");
            }
        }
    }

    #[test]
    fn identical_points_take_the_lowest_numbers() {
        let instance = Instance::from_points("heap", Metric::Euc2d, vec![[3.0, 4.0, 0.0]; 10_000]).unwrap();
        let lists = nearest(&instance, 10);
        assert_eq!(lists.of(9_999), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(lists.of(4), [0, 1, 2, 3, 5, 6, 7, 8, 9, 10]);
    }

    #[test]
    fn collinear_points_take_both_sides() {
        let points = (0..10_000).map(|x| [f64::from(x), 0.0, 0.0]).collect();
        let instance = Instance::from_points("line", Metric::Euc2d, points).unwrap();
        let lists = nearest(&instance, 4);
        assert_eq!(lists.of(5_000), [4_999, 5_001, 4_998, 5_002]);
        assert_eq!(lists.of(0), [1, 2, 3, 4]);
    }

    #[test]
    fn one_node_has_no_neighbors() {
        let instance = Instance::from_points("one", Metric::Euc2d, vec![[0.0; 3]]).unwrap();
        assert_eq!(nearest(&instance, 5), NeighborLists { k: 0, ids: vec![] });
    }

    #[test]
    fn long_lists_of_a_matrix_begin_like_short_ones() {
        let places = generate::uniform(150, 9).unwrap();
        let cost = |at: u32| if at / 150 == at % 150 { 0 } else { places.distance(at / 150, at % 150) / 7 };
        let matrix = Instance::from_matrix("m", (0..150 * 150).map(cost).collect()).unwrap();
        let lists = [1, SHORT, SHORT + 1, 149].map(|k| nearest(&matrix, k));
        for node in 0..150 {
            let all = lists[3].of(node);
            assert!(all.is_sorted_by_key(|&to| (matrix.distance(node, to), to)));
            assert!(lists.iter().all(|lists| all.starts_with(lists.of(node))));
        }
    }
}
