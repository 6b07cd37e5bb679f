//! The nearest neighbours in each quadrant around every node (Johnson and McGeoch 1997; Fosin, Davidović and Carić 2013, section
//! 2.1).
//!
//! In clustered instances the nearest neighbours of a node may all lie on one side of it, so that its edge to the other side is in
//! no list. The nearest of each quadrant lead out of a cluster.

use std::ops::Range;

use std::f64::consts::PI;

use antwarp_core::metric::{GEO_PI, Metric, Space};

use super::places::{Best, Globe, Lengths, Lines, Places, Ruler};
use super::{Nearness, NeighborLists, forms, nearest_of_all};
use crate::kd_tree::{Cell, Search, square};
use crate::{Enough, Instance, Watch, embedded, globe, parallel};

/// On the globe, quadrants are searched among this many times k neighbours.
const WIDER: usize = 8;

/// Returns the `k / 4` nearest neighbours in each quadrant around every node; if a quadrant has fewer, or `k` is not a multiple of
/// 4, filled up with the nearest of the others; all other nodes if `k` is larger.
///
/// A list holds `k` different nodes in the order of [`nearest`](super::nearest). Counter-clockwise, a quadrant includes the axis it
/// starts with, but not the one it ends with; nodes at the same place belong to the first quadrant.
///
/// In the plane this is exact. On the globe, quadrants are of latitude and longitude, the shorter way round, and are searched only
/// among the `8 k` nearest. Instances in space have no quadrants: they get the nearest neighbours. So do matrices, unless there are
/// places to which their costs [fit](embedded): then the nearest are those of the least costs, in quadrants around these places.
pub fn quadrant(instance: &Instance, k: usize) -> NeighborLists {
    quadrant_watched(instance, k, &Watch::new(&|| false))
}

/// Does the same as [`quadrant()`]; `None` if `enough` asked to stop before all lists were complete.
pub fn quadrant_until(instance: &Instance, k: usize, enough: Enough) -> Option<NeighborLists> {
    let watch = Watch::new(enough);
    watch.kept(quadrant_watched(instance, k, &watch))
}

fn quadrant_watched(instance: &Instance, k: usize, watch: &Watch) -> NeighborLists {
    if forms::is_form(instance) {
        return forms::lists(instance, k, |plain, k| quadrant_of_all(plain, k, watch));
    }
    quadrant_of_all(instance, k, watch)
}

fn quadrant_of_all(instance: &Instance, k: usize, watch: &Watch) -> NeighborLists {
    let k = k.min(instance.len() - 1);
    let (Some(metric), Some(points)) = (instance.metric(), instance.points()) else {
        return match embedded(instance) {
            Some(places) if k >= 4 => by_costs(instance, &places, (k, watch)),
            _ => nearest_of_all(instance, k, watch),
        };
    };
    match (metric.space(), metric.is_by_line()) {
        (Space::Plane, true) if k >= 4 => in_the_plane(Lines, metric, points, (k, watch)),
        (Space::Plane, false) if k >= 4 => in_the_plane(Lengths(metric), metric, points, (k, watch)),
        (Space::Degrees, _) if k >= 4 => {
            let quadrant = |from, to| quadrant_of_degrees(metric, from, to);
            on_the_globe(Globe(metric), metric, points, quadrant, (k, watch))
        }
        (Space::Sphere, _) if k >= 4 => on_the_globe(Lines, metric, points, quadrant_on_sphere, (k, watch)),
        _ => nearest_of_all(instance, k, watch),
    }
}

/// Returns the quadrant, from 0, of a point seen from another one. Written without branches, since the next quadrant is
/// unpredictable.
#[inline]
fn quadrant_of(dx: f64, dy: f64) -> usize {
    let is_first_half = (dy > 0.0) | ((dy == 0.0) & (dx >= 0.0));
    let (first, second) = (usize::from((dx <= 0.0) & (dy > 0.0)), 2 + usize::from(dx >= 0.0));
    if is_first_half { first } else { second }
}

fn in_the_plane(
    ruler: impl Ruler<2> + Send,
    metric: Metric,
    points: &[[f64; 3]],
    (k, watch): (usize, &Watch),
) -> NeighborLists {
    let all = (0..points.len() as u32).collect();
    let Some(places) = Places::new(ruler, metric, points, all, watch) else {
        return NeighborLists::NONE;
    };
    let scratch = || (Best::new(k), [(); 4].map(|()| Best::new(k / 4)), Vec::new());
    places.lists_by_number((k, watch), scratch, |places, (all, quadrants, chosen), node, list| {
        quadrants.iter_mut().for_each(Best::clear);
        places.search(node.1, &mut Around { places, node, center: places.place(node.1), quadrants });
        all.clear();
        if quadrants.iter().map(|quadrant| quadrant.found.len()).sum::<usize>() < k {
            places.nearest(node, all);
        }
        choose(&all.found, quadrants.each_ref().map(|quadrant| &quadrant.found[..]), chosen, list);
    })
}

/// A search that collects the nearest neighbours in each quadrant around a node.
struct Around<'a, 'p, R> {
    places: &'a Places<'p, 2, R>,
    /// The node and its position.
    node: (u32, u32),
    center: [f64; 2],
    quadrants: &'a mut [Best; 4],
}

impl<R: Ruler<2>> Search<2> for Around<'_, '_, R> {
    /// The square of a straight line, and its length along each axis.
    type Least = (f64, [f64; 2]);

    #[inline]
    fn least(&self, _: usize, cell: &Cell<2>) -> (f64, [f64; 2]) {
        let beyond = cell.beyond(self.center);
        (square(beyond), beyond)
    }

    /// If only lines counted, an empty quadrant would be searched to its very end.
    #[inline]
    fn wants(&self, _: usize, cell: &Cell<2>, (_, beyond): (f64, [f64; 2])) -> bool {
        let least = self.places.ruler.least(beyond);
        let [x, y] = self.center;
        let ([left, lower], [right, upper]) = (cell.low, cell.high);
        let [first, second, third, fourth] = &*self.quadrants;
        first.wants(least) & ((right > x) & (upper >= y) | (beyond[0] + beyond[1] == 0.0))
            | second.wants(least) & (left <= x) & (upper > y)
            | third.wants(least) & (left < x) & (lower <= y)
            | fourth.wants(least) & (right >= x) & (lower < y)
    }

    #[inline]
    fn meet(&mut self, positions: Range<usize>) {
        for other in positions {
            self.places.meet(self.node, other, |[dx, dy], nearness| {
                self.quadrants[quadrant_of(dx, dy)].offer(nearness)
            });
        }
    }
}

/// Fills a list with the nearest of each quadrant, then with the nearest of all.
fn choose(all: &[Nearness], quadrants: [&[Nearness]; 4], chosen: &mut Vec<Nearness>, list: &mut [u32]) {
    let k = list.len();
    chosen.clear();
    for candidates in quadrants {
        chosen.extend(candidates.iter().take(k / 4));
    }
    let few = chosen.len();
    for &candidate in all {
        if chosen.len() == k {
            break;
        }
        if !chosen[..few].contains(&candidate) {
            chosen.push(candidate);
        }
    }
    chosen.sort_unstable();
    for (to, candidate) in list.iter_mut().zip(chosen) {
        *to = candidate.node();
    }
}

/// Returns the lists by the costs of a matrix, with quadrants of places to which these costs fit.
fn by_costs(instance: &Instance, places: &[[f64; 2]], (k, watch): (usize, &Watch)) -> NeighborLists {
    let mut ids = vec![0; places.len() * k];
    let scratch = || (Best::new(k), [(); 4].map(|()| Best::new(k / 4)), Vec::new());
    parallel::each_part_with(&mut ids, k, &scratch, &|(all, quadrants, chosen), from, list| {
        if watch.is_over() {
            return;
        }
        all.clear();
        quadrants.iter_mut().for_each(Best::clear);
        let [x, y] = places[from];
        for (to, place) in places.iter().enumerate().filter(|&(to, _)| to != from) {
            let nearness = Nearness::new(instance.distance(from as u32, to as u32), 0.0).of(to as u32);
            quadrants[quadrant_of(place[0] - x, place[1] - y)].offer(nearness);
            all.offer(nearness);
        }
        choose(&all.found, quadrants.each_ref().map(|quadrant| &quadrant.found[..]), chosen, list);
    });
    NeighborLists { k, ids }
}

fn on_the_globe(
    ruler: impl Ruler<3> + Send,
    metric: Metric,
    points: &[[f64; 3]],
    quadrant: impl Fn([f64; 3], [f64; 3]) -> usize + Sync,
    (k, watch): (usize, &Watch),
) -> NeighborLists {
    let all = (0..points.len() as u32).collect();
    let Some(places) = Places::new(ruler, metric, points, all, watch) else {
        return NeighborLists::NONE;
    };
    let wide = (WIDER * k).min(points.len() - 1);
    let scratch = || (Best::new(wide), [(); 4].map(|()| Vec::new()), Vec::new());
    places.lists_by_number((k, watch), scratch, |places, (all, quadrants, chosen), node, list| {
        places.nearest(node, all);
        quadrants.iter_mut().for_each(Vec::clear);
        let center = points[node.0 as usize];
        for &candidate in &all.found {
            quadrants[quadrant(center, points[candidate.node() as usize])].push(candidate);
        }
        choose(&all.found, quadrants.each_ref().map(|quadrant| &quadrant[..]), chosen, list);
    })
}

/// Returns the quadrant, with x to the east and y to the north, of a place seen from another one.
fn quadrant_of_degrees(metric: Metric, from: [f64; 3], to: [f64; 3]) -> usize {
    let pi = if metric == Metric::Geo { GEO_PI } else { PI };
    let radians = |coordinate: f64| globe::radians(metric, coordinate);
    let turn = (radians(to[1]) - radians(from[1])) % (2.0 * pi);
    let east = match turn {
        _ if turn > pi => turn - 2.0 * pi,
        _ if turn < -pi => turn + 2.0 * pi,
        _ => turn,
    };
    quadrant_of(east, radians(to[0]) - radians(from[0]))
}

/// Does the same on a sphere with the z axis as its axis. Near a pole, it is still one of four parts of the surroundings.
fn quadrant_on_sphere(from: [f64; 3], to: [f64; 3]) -> usize {
    quadrant_of(from[0] * to[1] - from[1] * to[0], to[2] - from[2])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::points;
    use super::super::{nearest, nearness};
    use super::*;

    /// The definition, without any optimization.
    fn by_definition(instance: &Instance, k: usize) -> NeighborLists {
        let n = instance.len();
        let k = k.min(n - 1);
        let (metric, points) = (instance.metric().unwrap(), instance.points().unwrap());
        let mut ids = Vec::new();
        for from in 0..n as u32 {
            let mut others: Vec<Nearness> =
                (0..n as u32).filter(|&to| to != from).map(|to| nearness(metric, points, from, to)).collect();
            others.sort_unstable();
            if metric.is_in_degrees() {
                others.truncate(8 * k);
            }
            let quadrant = |to: u32| {
                let (a, b) = (points[from as usize], points[to as usize]);
                let (mut dx, mut dy) = (b[0] - a[0], b[1] - a[1]);
                if metric.is_in_degrees() {
                    let pi = if metric == Metric::Geo { GEO_PI } else { PI };
                    let radians = |coordinate| globe::radians(metric, coordinate);
                    (dx, dy) = (radians(b[1]) - radians(a[1]), radians(b[0]) - radians(a[0]));
                    if dx.abs() > pi {
                        dx -= 2.0 * pi * dx.signum();
                    }
                }
                let angle = dy.atan2(dx).to_degrees().rem_euclid(360.0);
                if (dx, dy) == (0.0, 0.0) { 0 } else { (angle / 90.0) as usize % 4 }
            };
            let (mut list, mut taken) = (Vec::new(), [0; 4]);
            for other in &others {
                let count = &mut taken[quadrant(other.node())];
                if *count < k / 4 {
                    *count += 1;
                    list.push(*other);
                }
            }
            for other in &others {
                if list.len() < k && !list.contains(other) {
                    list.push(*other);
                }
            }
            list.sort_unstable();
            ids.extend(list.iter().map(|other| other.node()));
        }
        NeighborLists { k, ids }
    }

    proptest! {
        #[test]
        fn every_plane_and_the_globe_agree_with_the_definition(points in points(), k in 0_usize..14) {
            for metric in Metric::ALL.into_iter().filter(|metric| metric.dimensions() == 2) {
                let instance = Instance::from_points("random", metric, points.clone()).unwrap();
                prop_assert_eq!(quadrant(&instance, k), by_definition(&instance, k), "{:?}", metric);
            }
        }
    }

    #[test]
    fn degenerate_places_agree_with_the_definition() {
        for n in 1..=12 {
            let circle = |i: u32| {
                let angle = f64::from(i) / f64::from(n) * std::f64::consts::TAU;
                [angle.cos(), angle.sin(), 0.0].map(|x| (1000.0 * x).round())
            };
            let places: [&dyn Fn(u32) -> [f64; 3]; 6] = [
                &|_| [5.0, 5.0, 0.0],
                &|i| [f64::from(i), 0.0, 0.0],
                &|i| [2.0, f64::from(i / 2), 0.0],
                &|i| [f64::from(i), -f64::from(i), 0.0],
                &circle,
                &|i| [f64::from(i % 3), f64::from(i / 3), 0.0],
            ];
            for (shape, place) in places.into_iter().enumerate() {
                let points = (0..n).map(place).collect();
                let instance = Instance::from_points("degenerate", Metric::Euc2d, points).unwrap();
                for k in 0..14 {
                    assert_eq!(
                        quadrant(&instance, k),
                        by_definition(&instance, k),
                        "{shape}, {n} nodes, {k}"
                    );
                    let nearest = nearest(&instance, k);
                    assert_eq!(
                        nearest,
                        super::super::tests::by_definition(&instance, k),
                        "{shape}, {n} nodes, {k}"
                    );
                }
            }
        }
    }

    #[test]
    fn axes_belong_to_the_quadrant_that_begins_with_them() {
        let seen = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)].map(|(x, y)| quadrant_of(x, y));
        assert_eq!(seen, [0, 1, 2, 3]);
        let seen = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)].map(|(x, y)| quadrant_of(x, y));
        assert_eq!(seen, [0, 1, 2, 3]);
        assert_eq!(quadrant_of(0.0, 0.0), 0);
        assert_eq!(quadrant_of(-0.0, 0.0), 0);
    }

    #[test]
    fn a_cluster_s_nodes_know_what_is_around_it() {
        // Ten nodes close together in the middle of four.
        let mut points: Vec<_> = (0..10).map(|x| [f64::from(x), 0.0, 0.0]).collect();
        points.extend([
            [500.0, 400.0, 0.0],
            [-500.0, 400.0, 0.0],
            [-500.0, -400.0, 0.0],
            [500.0, -400.0, 0.0],
        ]);
        let instance = Instance::from_points("cluster", Metric::Euc2d, points).unwrap();
        assert_eq!(nearest(&instance, 4).of(5), [4, 6, 3, 7]);
        assert_eq!(quadrant(&instance, 4).of(5), [4, 6, 13, 11]);
    }

    /// Returns how many nodes can be reached from node 0 along edges of lists, in either direction.
    fn reached(lists: &NeighborLists) -> usize {
        let n = lists.ids.len() / lists.k;
        let mut beside = vec![Vec::new(); n];
        for (at, &to) in lists.ids.iter().enumerate() {
            beside[at / lists.k].push(to as usize);
            beside[to as usize].push(at / lists.k);
        }
        let (mut seen, mut waiting) = (vec![false; n], vec![0]);
        while let Some(node) = waiting.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                waiting.extend(&beside[node]);
            }
        }
        seen.into_iter().filter(|&is_seen| is_seen).count()
    }

    #[test]
    fn lists_by_costs_lead_out_of_clusters() {
        let n = 120;
        let place = |i: u32| [i % 2 * 5000 + i * 37 % 101, i / 2 % 2 * 5000 + i * 53 % 97, 0].map(f64::from);
        let points = Instance::from_points("four", Metric::Euc2d, (0..n).map(place).collect()).unwrap();
        let costs = (0..n * n).map(|at| points.distance(at / n, at % n)).collect();
        let matrix = Instance::from_matrix("m", costs).unwrap();
        let lists = quadrant(&matrix, 8);
        for from in 0..n {
            let near: Vec<(i32, u32)> =
                lists.of(from).iter().map(|&to| (matrix.distance(from, to), to)).collect();
            assert!(near.is_sorted_by(|a, b| a < b) && near.iter().all(|&(_, to)| to != from));
        }
        assert_eq!((reached(&nearest(&matrix, 8)), reached(&lists)), (30, 120));
        // Without places they are the nearest.
        let draw = |at: u32| (at / n).min(at % n) * 7919 % 601 + (at / n).max(at % n) * 104_729 % 503;
        let chance = (0..n * n).map(|at| (draw(at) * draw(at) % 1009) as i32).collect();
        let chance = Instance::from_matrix("chance", chance).unwrap();
        assert_eq!(quadrant(&chance, 8), nearest(&chance, 8));
    }

    #[test]
    fn the_date_line_divides_nothing() {
        let places =
            [[0.0, 179.0], [1.0, -179.0], [1.0, 177.0], [-1.0, -178.5], [-1.0, 176.0], [2.0, -179.0]];
        let points = places.map(|[latitude, longitude]| [latitude, longitude, 0.0]).to_vec();
        let instance = Instance::from_points("date line", Metric::Geo, points).unwrap();
        assert_eq!(quadrant(&instance, 4).of(0), [1, 2, 3, 4]);
    }

    #[test]
    fn without_a_plane_they_are_the_nearest() {
        let points: Vec<_> =
            (0..90).map(|i| [f64::from(i * i % 31), f64::from(i * 7 % 29), f64::from(i)]).collect();
        for metric in [Metric::Euc3d, Metric::Man3d, Metric::Max3d, Metric::Xray1] {
            let instance = Instance::from_points("solid", metric, points.clone()).unwrap();
            assert_eq!(quadrant(&instance, 8), nearest(&instance, 8));
        }
        let weights = (0..100).map(|i| (i % 10 - i / 10) * (i % 10 - i / 10) % 7).collect();
        let matrix = Instance::from_matrix("matrix", weights).unwrap();
        assert_eq!(quadrant(&matrix, 8), nearest(&matrix, 8));
    }

    /// Empty quadrants and piles of coincident nodes: evaluating all nodes for each would take minutes.
    #[test]
    fn empty_quadrants_are_not_searched_to_their_ends() {
        let n = 50_000;
        let lists = |point: fn(f64) -> [f64; 2]| {
            let points = (0..n).map(|i| point(f64::from(i))).map(|[x, y]| [x, y, 0.0]).collect();
            quadrant(&Instance::from_points("line", Metric::Euc2d, points).unwrap(), 8)
        };
        let around = [24_999, 25_001, 24_998, 25_002, 24_997, 25_003, 24_996, 25_004];
        let lines: [fn(f64) -> [f64; 2]; 5] =
            [|i| [i, 0.0], |i| [0.0, i], |i| [i, i], |i| [i, -i], |i| [-i, i]];
        for point in lines {
            assert_eq!(lists(point).of(25_000), around);
        }
        let heap = lists(|_| [3.0, 4.0]);
        assert_eq!(heap.of(40_000), [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn quadrants_do_not_depend_on_threads() {
        let instance = crate::generate::clustered(5000, 20, 1).unwrap();
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| quadrant(&instance, 10))
        };
        assert_eq!(on(1), on(3));
    }
}
