//! Compares the bound with optimal and published tours, and trees with a simple algorithm.

use proptest::prelude::*;

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::price::mend;
use super::tree::weight;
use super::*;
use antwarp_instance::{Metric, generate, roads};

/// Returns the length of an optimal tour, by dynamic programming over sets of nodes (Held and Karp 1962).
fn optimum(instance: &Instance) -> i64 {
    let n = instance.len() as u32;
    let last = n - 1;
    let length = |a: u32, b: u32| i64::from(instance.distance(a, b));
    // shortest[set][i]: the shortest path from the last node through the set to its node i.
    let mut shortest = vec![vec![i64::MAX; last as usize]; 1 << last];
    for set in 1_usize..1 << last {
        for i in (0..last).filter(|i| set >> i & 1 == 1) {
            let before = set & !(1 << i);
            let through = (0..last).filter(|j| before >> j & 1 == 1);
            let through = through.map(|j| shortest[before][j as usize] + length(j, i)).min();
            shortest[set][i as usize] = through.unwrap_or(length(last, i));
        }
    }
    (0..last).map(|i| shortest[(1 << last) - 1][i as usize] + length(i, last)).min().unwrap()
}

/// Returns the weight of a minimum spanning tree of all edges (Prim 1957).
fn spanning_tree(instance: &Instance, potentials: &[i64]) -> i128 {
    let n = instance.len() as u32;
    let between =
        |a: u32, b: u32| weight(instance.distance(a, b), potentials[a as usize], potentials[b as usize]);
    let mut nearest: Vec<Option<i64>> = (0..n).map(|i| (i > 0).then(|| between(0, i))).collect();
    let mut total = 0;
    while let Some((weight, node)) = (0..n).filter_map(|i| nearest[i as usize].map(|w| (w, i))).min() {
        total += i128::from(weight);
        nearest[node as usize] = None;
        for i in 0..n {
            nearest[i as usize] = nearest[i as usize].map(|w| w.min(between(node, i)));
        }
    }
    total
}

/// Returns the length of the cheapest assignment of successors.
fn assignment(instance: &Instance) -> i64 {
    let (matrix, n) = (instance.matrix().expect("a matrix"), instance.len());
    let (u, v) = crate::potentials::potentials(matrix, n, &Watch::new(&|| false)).expect("enough time");
    u.iter().chain(&v).sum()
}

fn bound(instance: &Instance, trees: u32) -> i64 {
    held_karp(instance, Some(trees), &Stop::never(), &|| false).expect("never enough").length
}

/// Few distinct coordinates give ties and duplicates, many give neither.
fn points(most: usize) -> impl Strategy<Value = Vec<[f64; 3]>> {
    let coordinate = || prop_oneof![(0..6).prop_map(f64::from), -90.0..90.0];
    prop::collection::vec(prop::array::uniform3(coordinate()), 3..most)
}

proptest! {
    #[test]
    fn no_tour_is_shorter(points in points(10), trees in 1_u32..80) {
        for metric in Metric::ALL {
            let instance = Instance::from_points("random", metric, points.clone()).unwrap();
            let (bound, optimum) = (bound(&instance, trees), optimum(&instance));
            prop_assert!(bound <= optimum, "{metric:?}: {bound} > {optimum}");
        }
    }

    #[test]
    fn no_tour_of_a_matrix_is_shorter(half in prop::collection::vec(0..99, 36), trees in 1_u32..80) {
        let n = 9;
        let at = |i: usize, j: usize| if i == j { 0 } else { half[i.max(j) * (i.max(j) - 1) / 2 + i.min(j)] };
        let matrix = (0..n * n).map(|i| at(i / n, i % n)).collect();
        let instance = Instance::from_matrix("random", matrix).unwrap();
        prop_assert!(bound(&instance, trees) <= optimum(&instance));
    }

    #[test]
    fn no_directed_tour_is_shorter(
        n in 2_usize..10,
        weights in prop::collection::vec(prop_oneof![0..9, 0..99, 0..100_000_000], 81),
        trees in 1_u32..200,
    ) {
        let instance = Instance::from_matrix("random", weights[..n * n].to_vec()).unwrap().into_atsp();
        let (bound, optimum) = (bound(&instance, trees), optimum(&instance));
        prop_assert!(bound <= optimum, "{bound} > {optimum}");
        prop_assert!(bound >= assignment(&instance));
    }

    /// The sparse graph initially has only the edges to two neighbours, so that many must be added.
    #[test]
    fn pricing_finds_the_tree_of_all_edges(points in points(70), seed in any::<u64>()) {
        let n = points.len();
        for metric in Metric::ALL {
            let instance = Instance::from_points("random", metric, points.clone()).unwrap();
            let mut graph = Graph::new(&instance, &antwarp_instance::nearest(&instance, 2));
            let mut ascent = Ascent::new(&graph, 1);
            let draw = |i: u64| (seed.wrapping_mul(2 * i + 1) >> 40) as i64 % 9000;
            let potentials: Vec<i64> = (0..n as u64).map(draw).collect();
            ascent.set_best(potentials.clone());
            let watch = Watch::new(&|| false);
            mend(&mut Prices::new(&instance, &watch), &mut graph, &mut ascent, 0);
            ascent.best_of().1.span(&graph, &potentials);
            let (_, spanner) = ascent.best_of();
            prop_assert_eq!(spanner.total(), spanning_tree(&instance, &potentials), "{:?}", metric);
        }
    }
}

#[test]
fn a_bound_does_not_depend_on_threads() {
    for instance in [generate::clustered(5000, 20, 1).unwrap(), roads::roads(100, 40, 1).unwrap()] {
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| bound(&instance, 40))
        };
        assert_eq!(on(1), on(3));
    }
}

/// Both bounds are those of Held and Karp.
#[test]
fn edges_with_the_same_length_both_ways_have_the_same_bound_directed() {
    for seed in 0..3 {
        let instance = generate::clustered(80, 5, seed).unwrap();
        let [symmetric, directed] = [instance.clone(), instance.into_atsp()].map(|i| bound(&i, 4000) as f64);
        assert!((symmetric - directed).abs() < 2e-4 * symmetric, "{symmetric} {directed}");
    }
}

/// The cheapest assignment costs nothing, and a tour must still leave each group.
#[test]
fn groups_without_costs_inside_are_left_and_entered() {
    let bound = |n: usize, group: usize| {
        let cost = |i: usize, j: usize| {
            if i / group == j / group { 0 } else { 1000 + (7 * i + 13 * j) as i32 % 100 }
        };
        let matrix = (0..n * n).map(|at| cost(at / n, at % n)).collect();
        let instance = Instance::from_matrix("groups", matrix).unwrap().into_atsp();
        assert_eq!(assignment(&instance), 0);
        held_karp(&instance, Some(4000), &Stop::never(), &|| false).unwrap()
    };
    // All trees are of all edges, or most are of a sparse graph.
    let [few, many] = [bound(100, 10), bound(160, 5)];
    assert!((9_900..10_990).contains(&few.length) && few.priced_in == 0, "{few:?}");
    assert!((31_800..35_168).contains(&many.length), "{many:?}");
}

#[test]
fn directed_tours_are_a_few_percent_above_it_at_most() {
    let instance = roads::roads(100, 40, 1).unwrap();
    assert!((30_750..=31_099).contains(&bound(&instance, 1000)), "{}", bound(&instance, 1000));
    assert!(assignment(&instance) < 29_000);
}

#[test]
fn nodes_at_one_place_are_bounded_by_nothing() {
    let instance = Instance::from_points("heap", Metric::Euc2d, vec![[3.0, 4.0, 0.0]; 3000]).unwrap();
    assert_eq!(bound(&instance, 20), 0);
}

/// No list leads out of its cluster, and the edges that join clusters are initially far too long.
#[test]
fn clusters_in_space_are_joined_by_short_edges() {
    let clustered = generate::uniform(8000, 1).unwrap();
    let place = |(i, p): (usize, &[f64; 3])| [p[0] + 1e7 * (i % 2) as f64, p[1], p[0] / 2.0];
    let points = clustered.points().unwrap().iter().enumerate().map(place).collect();
    let instance = Instance::from_points("two", Metric::Euc3d, points).unwrap();
    let bound = bound(&instance, 60);
    assert!(bound > 18_000_000, "two paths between the clusters: {bound}");
}

#[test]
fn random_places_have_tours_eight_thousandths_above_it() {
    let instance = Instance::open("E1k.0").unwrap();
    let (bound, known) = (bound(&instance, 400), instance.best_known().unwrap().cost);
    assert!(bound <= known && bound as f64 > 0.992 * known as f64, "{bound} of {known}");
}

#[test]
fn no_time_and_an_interrupt_give_a_bound_by_one_tree() {
    let interrupted = Stop::never();
    interrupted.interrupt.store(true, Relaxed);
    for instance in [generate::uniform(1000, 1).unwrap(), roads::roads(100, 40, 1).unwrap()] {
        for stop in [Stop::after(std::time::Duration::ZERO), interrupted.clone()] {
            let at_once = held_karp(&instance, None, &stop, &|| false).unwrap();
            assert!(at_once.trees == 1 && at_once.length > 0, "{at_once:?}");
        }
    }
}

/// Stops after each number of queries: at first there is no bound, then ever better ones until the final one.
#[test]
fn a_bound_cut_short_is_the_best_until_then() {
    let instance = generate::clustered(60, 3, 1).unwrap();
    let until = |looks: usize| {
        let asked = AtomicUsize::new(0);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let enough = || asked.fetch_add(1, Relaxed) >= looks;
        let bound = pool.install(|| held_karp(&instance, Some(40), &Stop::never(), &enough));
        (bound.map_or(0, |bound| bound.length), asked.into_inner() <= looks)
    };
    let mut last = until(0);
    assert_eq!(last, (0, false));
    let mut steps = 0;
    for looks in 1.. {
        let (length, is_whole) = until(looks);
        assert!(length >= last.0, "{length} after {last:?}");
        steps += usize::from(length > last.0);
        last = (length, is_whole);
        if is_whole {
            break;
        }
    }
    assert_eq!(last.0, bound(&instance, 40));
    assert!(steps > 1, "all at once");
}

/// Whenever it is stopped, even before any edge was added.
#[test]
fn no_tour_is_shorter_than_a_bound_cut_short() {
    for seed in 0..40 {
        for instance in [generate::clustered(9, 3, seed).unwrap(), roads::roads(9, 40, seed).unwrap()] {
            let optimum = optimum(&instance);
            for looks in 0..60 {
                let asked = AtomicUsize::new(0);
                let enough = || asked.fetch_add(1, Relaxed) >= looks;
                let bound = held_karp(&instance, Some(9), &Stop::never(), &enough);
                assert!(bound.is_none_or(|bound| bound.length <= optimum), "{bound:?} > {optimum}");
            }
        }
    }
}

/// Calls `work` with every order of the nodes.
fn each_order(order: &mut Vec<u32>, from: usize, work: &mut impl FnMut(&[u32])) {
    if from == order.len() {
        return work(order);
    }
    for at in from..order.len() {
        order.swap(from, at);
        each_order(order, from + 1, work);
        order.swap(from, at);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn no_tour_of_any_shape_is_shorter(
        points in points(7),
        costs in prop::collection::vec(0..50, 49),
        (kind, is_open, start, end) in (0..3, any::<bool>(), prop::option::of(0_u32..1), prop::option::of(5_u32..6)),
        fixed in prop::sample::subsequence(vec![(1, 2), (2, 3), (4, 5)], 0..=3),
    ) {
        let n = points.len().max(6);
        let instance = match kind {
            0 => Instance::from_points("p", Metric::Euc2d, points.into_iter().chain(std::iter::repeat([1.0; 3])).take(n).collect()),
            1 => Instance::from_matrix("s", (0..n * n).map(|at| costs[(at / n).min(at % n) * 7 + (at / n).max(at % n)]).collect()),
            _ => Instance::from_matrix("d", (0..n * n).map(|at| costs[at / n * 7 + at % n]).collect()).map(Instance::into_atsp),
        }.unwrap();
        let ends = is_open.then_some(antwarp_instance::Ends { start, end });
        let instance = instance.with_ends(ends).with_fixed_edges(fixed);
        let bound = held_karp(&instance, Some(60), &Stop::never(), &|| false).unwrap().length;
        let mut least = i64::MAX;
        each_order(&mut (0..n as u32).collect(), 0, &mut |order| {
            let is_allowed = ends.is_none_or(|ends| {
                ends.start.is_none_or(|start| order[0] == start) && ends.end.is_none_or(|end| order[n - 1] == end)
            });
            if is_allowed && instance.unused_fixed_edge(order).is_none() {
                least = least.min(instance.check_tour(order).unwrap());
            }
        });
        prop_assert!(bound <= least, "{bound} > {least}");
    }
}
