//! The nearest neighbours of every node.
//!
//! Neighbours of one node are ordered by the instance's distance, then by the straight line between the
//! points before any rounding, then by number; `GEO` and matrices know no such line. The order is total, so
//! lists do not depend on threads.

use antwarp_core::metric::{EARTH_RADIUS, Metric, distance, geo_radians};
use rayon::prelude::*;
use rstar::RTree;
use rstar::primitives::GeomWithData;

use super::model::{Distances, Instance};

/// The nearest neighbours of every node, nearest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeighborLists {
    /// Neighbours of each node.
    pub k: usize,
    /// The neighbours of node i are `ids[i * k..(i + 1) * k]`.
    pub ids: Vec<u32>,
}

impl NeighborLists {
    /// The neighbours of a node, nearest first.
    ///
    /// # Panics
    /// If the node does not exist.
    pub fn of(&self, node: u32) -> &[u32] {
        let start = node as usize * self.k;
        &self.ids[start..start + self.k]
    }
}

/// The `k` nearest neighbours of every node by the distance from it; all others if `k` is larger.
pub fn nearest(instance: &Instance, k: usize) -> NeighborLists {
    let k = k.min(instance.len() - 1);
    let ids = match instance.distances() {
        _ if k == 0 => Vec::new(),
        Distances::Points { metric, points } => match Geometry::of(*metric) {
            Some(Geometry::Plane(stop)) => by_tree(*metric, points, k, stop, |p| [p[0], p[1]]),
            Some(Geometry::Solid(stop)) => by_tree(*metric, points, k, stop, |p| p),
            Some(Geometry::Globe) => by_tree(*metric, points, k, Stop::Globe, on_globe),
            None => by_comparison(instance, k),
        },
        Distances::Matrix(_) => by_comparison(instance, k),
    };
    NeighborLists { k, ids }
}

/// Where straight lines tell how near two nodes are.
enum Geometry {
    Plane(Stop),
    Solid(Stop),
    /// Points of a unit sphere; straight lines are its chords.
    Globe,
}

impl Geometry {
    fn of(metric: Metric) -> Option<Geometry> {
        match metric {
            Metric::Euc2d | Metric::Ceil2d | Metric::Att => Some(Geometry::Plane(Stop::Line)),
            Metric::Man2d => Some(Geometry::Plane(Stop::Scaled(1.0))),
            Metric::Max2d => Some(Geometry::Plane(Stop::Scaled(2.0))),
            Metric::Euc3d => Some(Geometry::Solid(Stop::Line)),
            Metric::Man3d => Some(Geometry::Solid(Stop::Scaled(1.0))),
            Metric::Max3d => Some(Geometry::Solid(Stop::Scaled(3.0))),
            Metric::Geo => Some(Geometry::Globe),
            // The first motor turns in a circle.
            Metric::Xray1 | Metric::Xray2 => None,
        }
    }
}

/// When all points that can be among the nearest have been met, going outwards.
#[derive(Clone, Copy)]
enum Stop {
    /// The distance grows with the straight line: behind the k-th, and all as far as it.
    Line,
    /// The distance is at least the line divided by the root of this.
    Scaled(f64),
    /// The distance is the arc over a chord.
    Globe,
}

impl Stop {
    /// A number that no distance of points this far apart falls short of. Rounding takes less than 1.
    fn least_distance(self, line_squared: f64) -> f64 {
        match self {
            Stop::Line => 0.0,
            Stop::Scaled(divisor) => (line_squared / divisor).sqrt() - 1.0,
            Stop::Globe => 2.0 * EARTH_RADIUS * (line_squared.sqrt() / 2.0).min(1.0).asin() - 1.0,
        }
    }
}

/// Smaller is nearer: distance, squared straight line, number. Lines are never negative, so their bits
/// are ordered like them.
type Nearness = (i32, u64, u32);

fn nearness(metric: Metric, points: &[[f64; 3]], from: u32, to: u32) -> Nearness {
    let (a, b) = (points[from as usize], points[to as usize]);
    let axes = metric.dimensions();
    let squared = a.iter().zip(b).take(axes).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    // The line between two degrees means nothing.
    let squared = if metric == Metric::Geo { 0.0 } else { squared };
    (distance(metric, a, b), squared.to_bits(), to)
}

/// The k nearest of all other nodes, by looking at each.
fn by_comparison(instance: &Instance, k: usize) -> Vec<u32> {
    let n = instance.len() as u32;
    let mut ids = vec![0; n as usize * k];
    ids.par_chunks_mut(k).zip(0..n).for_each_init(Vec::new, |candidates, (list, from)| {
        candidates.clear();
        let others = (0..n).filter(|&to| to != from);
        match instance.distances() {
            Distances::Points { metric, points } => {
                candidates.extend(others.map(|to| nearness(*metric, points, from, to)));
            }
            Distances::Matrix(_) => candidates.extend(others.map(|to| (instance.distance(from, to), 0, to))),
        }
        take_nearest(candidates, list);
    });
    ids
}

/// Fills a list with the nearest candidates.
fn take_nearest(candidates: &mut [Nearness], list: &mut [u32]) {
    if candidates.len() > list.len() {
        candidates.select_nth_unstable(list.len() - 1);
    }
    let nearest = &mut candidates[..list.len()];
    nearest.sort_unstable();
    for (to, candidate) in list.iter_mut().zip(nearest) {
        *to = candidate.2;
    }
}

/// The k nearest by going outwards from each node in a tree.
///
/// Nodes at one place are one entry of the tree: thousands of them would otherwise be looked at
/// thousands of times.
fn by_tree<P>(
    metric: Metric,
    points: &[[f64; 3]],
    k: usize,
    stop: Stop,
    embed: impl Fn([f64; 3]) -> P + Sync,
) -> Vec<u32>
where
    P: rstar::Point<Scalar = f64> + Send + Sync,
{
    let nodes = nodes_by_place(points, metric.dimensions());
    let same_place = |a: &u32, b: &u32| {
        let axes = metric.dimensions();
        points[*a as usize][..axes] == points[*b as usize][..axes]
    };
    let mut groups: Vec<&[u32]> = nodes.chunk_by(same_place).collect();
    let places = groups.iter().map(|group| GeomWithData::new(embed(points[group[0] as usize]), *group));
    let tree = RTree::bulk_load(places.collect::<Vec<_>>());
    // In the order of the tree, neighbours in memory ask for the same branches.
    groups = tree.iter().map(|place| place.data).collect();
    let order: Vec<u32> = groups.into_iter().flatten().copied().collect();

    let mut lists = vec![0; order.len() * k];
    lists.par_chunks_mut(k).zip(&order).for_each_init(Vec::new, |candidates, (list, &from)| {
        candidates.clear();
        let mut bound = Bound { k, stop, seen_line: f64::NEG_INFINITY, kth: None };
        for (place, line) in tree.nearest_neighbor_iter_with_distance_2(embed(points[from as usize])) {
            if bound.is_behind(line, candidates) {
                break;
            }
            // More than k + 1 nodes of one place are never needed: lower numbers come first.
            let some = place.data.iter().take(k + 1).filter(|&&to| to != from);
            candidates.extend(some.map(|&to| nearness(metric, points, from, to)));
        }
        take_nearest(candidates, list);
    });

    let mut ids = vec![0; lists.len()];
    for (list, &from) in lists.chunks_exact(k).zip(&order) {
        ids[from as usize * k..][..k].copy_from_slice(list);
    }
    ids
}

/// Tells when a walk outwards has met enough nodes.
struct Bound {
    k: usize,
    stop: Stop,
    seen_line: f64,
    /// The k-th smallest distance, and how many nodes it was found among.
    kth: Option<(i32, usize)>,
}

impl Bound {
    /// Whether nothing from this line on can be among the nearest.
    fn is_behind(&mut self, line: f64, candidates: &mut [Nearness]) -> bool {
        let last = std::mem::replace(&mut self.seen_line, line);
        if candidates.len() < self.k {
            return false;
        }
        if matches!(self.stop, Stop::Line) {
            return line > last;
        }
        // Selecting again and again would cost more than it saves: only when the nodes have doubled.
        let stale = self.kth.is_none_or(|(_, among)| candidates.len() >= 2 * among);
        if stale {
            let kth = candidates.select_nth_unstable(self.k - 1).1.0;
            self.kth = Some((kth, candidates.len()));
        }
        self.kth.is_some_and(|(kth, _)| self.stop.least_distance(line) > f64::from(kth))
    }
}

/// All nodes, those at one place beside each other and ascending.
fn nodes_by_place(points: &[[f64; 3]], axes: usize) -> Vec<u32> {
    let mut nodes: Vec<u32> = (0..points.len() as u32).collect();
    let place = |node: u32| &points[node as usize][..axes];
    nodes.par_sort_unstable_by(|&a, &b| {
        place(a).partial_cmp(place(b)).expect("coordinates are finite").then(a.cmp(&b))
    });
    nodes
}

/// The point of a unit sphere at a latitude and a longitude.
fn on_globe(point: [f64; 3]) -> [f64; 3] {
    let (latitude, longitude) = (geo_radians(point[0]), geo_radians(point[1]));
    let radius = latitude.cos();
    [radius * longitude.cos(), radius * longitude.sin(), latitude.sin()]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, without any cleverness.
    fn by_definition(instance: &Instance, k: usize) -> NeighborLists {
        let n = instance.len();
        let k = k.min(n - 1);
        let mut ids = Vec::new();
        for from in 0..n as u32 {
            let mut others: Vec<_> = (0..n as u32)
                .filter(|&to| to != from)
                .map(|to| {
                    let line = instance.points().filter(|_| instance.metric() != Some(Metric::Geo)).map_or(
                        0.0,
                        |p| {
                            let axes = instance.metric().unwrap().dimensions();
                            (0..axes)
                                .map(|axis| (p[from as usize][axis] - p[to as usize][axis]).powi(2))
                                .sum::<f64>()
                        },
                    );
                    (instance.distance(from, to), line, to)
                })
                .collect();
            others.sort_by(|a, b| a.partial_cmp(b).unwrap());
            ids.extend(others.iter().take(k).map(|other| other.2));
        }
        NeighborLists { k, ids }
    }

    /// Few distinct coordinates give ties and duplicates, many give neither.
    fn points() -> impl Strategy<Value = Vec<[f64; 3]>> {
        let coordinate = || prop_oneof![(0..6).prop_map(f64::from), -90.0..90.0, -0.5..0.5];
        prop::collection::vec(prop::array::uniform3(coordinate()), 1..60)
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
        let instance = crate::instance::generate::clustered(5000, 20, 1).unwrap();
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| nearest(&instance, 10))
        };
        assert_eq!(on(1), on(3));
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
}
