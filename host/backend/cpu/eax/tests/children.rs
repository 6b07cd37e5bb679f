//! Children of two parents are valid tours, with the reported length and diversity.

use std::collections::{BTreeSet, HashMap};

use antwarp_core::metric::Metric;
use antwarp_core::rng::Stream;
use proptest::prelude::*;

use super::super::census::{Census, score};
use super::super::child::Child;
use super::super::cycles::Cycles;
use super::super::nodes::Nodes;
use super::super::pair::Desk;
use super::super::tour::{Change, Tour};
use antwarp_engine::LocalSearch;
use antwarp_engine::Problem;
use antwarp_instance::{Instance, nearest};

/// Returns `n` points in a square.
fn square(n: u32, side: u32, seed: u64) -> Vec<[f64; 3]> {
    let draws = |i| Stream::new(seed, 0, 0).step(i);
    (0..n).map(|i| [draws(i).below(0, side).into(), draws(i).below(1, side).into(), 0.0]).collect()
}

/// Returns the problem of these points, numbered as they are, with `k` nodes near each of them.
fn problem(points: Vec<[f64; 3]>, k: u32) -> Problem {
    let order = (0..points.len() as u32).collect();
    let instance = Instance::from_points("points", Metric::Euc2d, points).unwrap();
    Problem::for_search(&instance, &nearest(&instance, k as usize), order)
}

/// Returns a random tour, improved to a local optimum if `optimal`.
fn random(nodes: &Nodes, seed: u64, optimal: bool) -> Vec<u32> {
    let stream = Stream::new(seed, 1, 1);
    let mut order: Vec<u32> = (0..nodes.problem.n()).collect();
    order.sort_by_key(|&v| (stream.step(v).bits(0), v));
    if optimal {
        nodes.improve((LocalSearch::TwoOpt, nodes.problem.search_k()), &mut order, &|| false);
    }
    order
}

fn tour(order: &[u32]) -> Tour {
    let mut tour = Tour::new(order.len() as u32).unwrap();
    tour.rewrite(|nodes| nodes.copy_from_slice(order));
    tour
}

type Edges = BTreeSet<(u32, u32)>;

fn edge(u: u32, v: u32) -> (u32, u32) {
    (u.min(v), u.max(v))
}

fn edges(tour: &[u32]) -> Edges {
    (0..tour.len()).map(|i| edge(tour[i], tour[(i + 1) % tour.len()])).collect()
}

/// Two parents and the memory for crossing them.
struct Pair<'p> {
    nodes: Nodes<'p>,
    a: Tour,
    b: Tour,
    cycles: Cycles,
    child: Child,
}

impl<'p> Pair<'p> {
    fn new(problem: &'p Problem) -> Self {
        let n = problem.n();
        Pair {
            nodes: Nodes::new(problem),
            a: Tour::default(),
            b: Tour::default(),
            cycles: Cycles::new(n).unwrap(),
            child: Child::new(n).unwrap(),
        }
    }

    /// Divides other parents' edges, reusing the memory.
    fn cross(&mut self, a: &[u32], b: &[u32], seed: u64) {
        (self.a, self.b) = (tour(a), tour(b));
        self.cycles.decompose(&self.a, &self.b, Stream::new(seed, 2, 2));
    }

    /// Returns the cycles' nodes.
    fn listed(&self) -> Vec<Vec<u32>> {
        (0..self.cycles.count()).map(|i| self.cycles.get(i).to_vec()).collect()
    }

    /// Evaluates the child of an E-set: its gain, its sub-tours, and its changes.
    fn evaluate(&mut self, set: &[u32]) -> (i64, usize, Vec<Change>) {
        let (gain, tours) = self.child.evaluate(&self.nodes, &self.a, &self.cycles, set, true);
        (gain, tours, self.child.changes().to_vec())
    }

    /// Returns the child's tour, by a walk along its nodes' neighbours.
    fn walk(&self, changes: &[Change]) -> Vec<u32> {
        let n = self.a.order().len();
        let mut links: Vec<[u32; 2]> = (0..n as u32).map(|v| self.a.links(v)).collect();
        changes.iter().for_each(|change| links[change.node as usize] = change.links);
        let (mut tour, mut before, mut v) = (vec![], links[0][0], 0);
        while tour.is_empty() || v != 0 {
            assert!(tour.len() < n, "no tour");
            tour.push(v);
            let [first, second] = links[v as usize];
            assert!(before == first || before == second, "an edge of one node only");
            (before, v) = (v, if before == first { second } else { first });
        }
        assert_eq!(tour.len(), n, "a sub-tour");
        assert_eq!(tour.iter().collect::<BTreeSet<_>>().len(), n);
        tour
    }

    /// Returns A with changes.
    fn apply(&mut self, changes: &[Change]) -> Vec<u32> {
        let mut tour = tour(self.a.order());
        self.child.apply(&mut tour, changes);
        (0..).zip(tour.order()).for_each(|(p, &v)| assert_eq!(tour.position(v), p));
        tour.order().to_vec()
    }
}

/// Checks the AB-cycles of two tours: their edges alternate, and they contain every differing edge once.
fn check_cycles(pair: &Pair) {
    let (a, b) = (edges(pair.a.order()), edges(pair.b.order()));
    let (mut of_a, mut of_b) = (Edges::new(), Edges::new());
    for cycle in pair.listed() {
        assert!(cycle.len() >= 4 && cycle.len().is_multiple_of(2), "{cycle:?}");
        for i in 0..cycle.len() {
            let set = if i % 2 == 0 { &mut of_a } else { &mut of_b };
            assert!(set.insert(edge(cycle[i], cycle[(i + 1) % cycle.len()])), "an edge twice");
        }
    }
    assert_eq!(of_a, a.difference(&b).copied().collect());
    assert_eq!(of_b, b.difference(&a).copied().collect());
}

/// Checks the child of an E-set: its gain, and that applying it leads to the same tour. Returns the number of its sub-tours.
fn check_child(pair: &mut Pair, set: &[u32]) -> usize {
    let (gain, tours, changes) = pair.evaluate(set);
    let child = pair.walk(&changes);
    assert_eq!(gain, pair.nodes.length(&pair.a) - pair.nodes.length(&tour(&child)));
    if tours == 1 {
        // Only the E-set changes.
        let mut expected = edges(pair.a.order());
        for cycle in set.iter().map(|&i| pair.cycles.get(i)) {
            for i in 0..cycle.len() {
                let e = edge(cycle[i], cycle[(i + 1) % cycle.len()]);
                assert!(if i % 2 == 0 { expected.remove(&e) } else { expected.insert(e) });
            }
        }
        assert_eq!(edges(&child), expected);
    }
    assert_eq!(edges(&pair.apply(&changes)), edges(&child));
    tours
}

/// Checks the children of two random tours. Returns how many of them had several sub-tours.
fn check_pair(pair: &mut Pair, optimal: bool, seed: u64) -> usize {
    let parents = [2 * seed, 2 * seed + 1].map(|seed| random(&pair.nodes, seed, optimal));
    check_parents(pair, [&parents[0], &parents[1]], seed)
}

/// Checks the children of two tours. Returns how many of them had several sub-tours.
fn check_parents(pair: &mut Pair, [a, b]: [&[u32]; 2], seed: u64) -> usize {
    pair.cross(a, b, seed);
    check_cycles(pair);
    let mut merged = 0;
    for i in 0..pair.cycles.count() {
        merged += usize::from(check_child(pair, &[i]) > 1);
    }
    let draws = Stream::new(seed, 3, 3);
    for round in 0..4 {
        let set: Vec<u32> =
            (0..pair.cycles.count()).filter(|&i| draws.step(round).below(i, 2) == 0).collect();
        merged += usize::from(check_child(pair, &set) > 1);
    }
    // All cycles together give the other parent.
    let all: Vec<u32> = (0..pair.cycles.count()).collect();
    let (_, tours, changes) = pair.evaluate(&all);
    assert_eq!(tours, 1);
    assert_eq!(edges(&pair.walk(&changes)), edges(pair.b.order()));
    merged
}

#[test]
fn children_of_local_optima() {
    let problem = problem(square(200, 1000, 1), 8);
    let mut pair = Pair::new(&problem);
    let merged: usize = (0..10).map(|seed| check_pair(&mut pair, true, seed)).sum();
    assert!(merged > 10, "sub-tours were merged {merged} times");
}

#[test]
fn children_of_random_tours() {
    for n in [5, 6, 7, 8, 13, 40, 150] {
        let problem = problem(square(n, 300, n.into()), 4.min(n - 1));
        let mut pair = Pair::new(&problem);
        (0..10).for_each(|seed| _ = check_pair(&mut pair, false, seed));
    }
}

/// Returns all tours of `n` nodes, each in one direction.
fn all_tours(n: u32) -> Vec<Vec<u32>> {
    let mut all = vec![vec![0]];
    for _ in 1..n {
        let longer = |tour: Vec<u32>| {
            (1..n).filter(|v| !tour.contains(v)).map(|v| [&tour[..], &[v]].concat()).collect::<Vec<_>>()
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all.retain(|tour| tour[1] < tour[n as usize - 1]);
    all
}

#[test]
fn children_of_all_tours_of_few_nodes() {
    for (n, count) in [(5, 12), (6, 60)] {
        let problem = problem(square(n, 50, n.into()), 3);
        let mut pair = Pair::new(&problem);
        let tours = all_tours(n);
        assert_eq!(tours.len(), count);
        for (seed, a) in (0..).zip(&tours) {
            for b in &tours {
                check_parents(&mut pair, [a, b], seed);
            }
        }
    }
}

/// Returns places that are hardly ever random: all the same, on a line, on a circle, on a lattice, and in pairs.
fn degenerate(n: u32) -> Vec<(&'static str, Vec<[f64; 3]>)> {
    let make =
        |place: &dyn Fn(u32) -> [f64; 2]| (0..n).map(place).map(|[x, y]| [x, y, 0.0]).collect::<Vec<_>>();
    let side = f64::from(n).sqrt().ceil() as u32;
    let around = |i: u32, of: u32| {
        let angle = f64::from(i) / f64::from(of) * std::f64::consts::TAU;
        [angle.cos(), angle.sin()].map(|x| (1e5 * x).round())
    };
    vec![
        ("all places equal", make(&|_| [3.0, 3.0])),
        ("a line", make(&|i| [10.0 * f64::from(i), 0.0])),
        ("a circle", make(&|i| around(i, n))),
        ("a lattice", make(&|i| [f64::from(i % side), f64::from(i / side)])),
        ("pairs on a circle", make(&|i| around(i / 2, n.div_ceil(2)))),
    ]
}

#[test]
fn children_on_degenerate_places() {
    for n in (5..=12).chain([60]) {
        for (name, points) in degenerate(n) {
            let problem = problem(points, 5.min(n - 1));
            let mut pair = Pair::new(&problem);
            (0..6).for_each(|seed| _ = check_pair(&mut pair, seed % 2 == 0, seed));
            // Here the order of the nodes is a shortest tour, except for lattices.
            if name != "a lattice" {
                let best: Vec<u32> = (0..n).collect();
                let other = random(&pair.nodes, 7, false);
                for [a, b] in [[&best, &other], [&other, &best]] {
                    pair.cross(a, b, 1);
                    for i in 0..pair.cycles.count() {
                        let (gain, ..) = pair.evaluate(&[i]);
                        let most = pair.nodes.length(&pair.a) - pair.nodes.length(&tour(&best));
                        assert!(gain <= most, "{n} nodes, {name}: {gain} of {most}");
                    }
                }
            }
        }
    }
}

/// Returns the nodes of the sub-tour of node 0, given edges of which each node has two.
fn sub_tour(all: &Edges) -> BTreeSet<u32> {
    let mut nodes = BTreeSet::from([0]);
    loop {
        let before = nodes.len();
        for &(u, v) in all {
            if nodes.contains(&u) || nodes.contains(&v) {
                nodes.extend([u, v]);
            }
        }
        if nodes.len() == before {
            return nodes;
        }
    }
}

/// Returns the exchanges that join two sub-tours: the gain, the nodes that are joined first, and whether these are not farther
/// apart than the other two.
fn joints(nodes: &Nodes, all: &Edges, inside: &BTreeSet<u32>) -> Vec<(i64, [u32; 2], bool)> {
    let is_inside = |e: &&(u32, u32)| inside.contains(&e.0);
    let mut joints = Vec::new();
    for &(x, y) in all.iter().filter(is_inside) {
        for &(w, z) in all.iter().filter(|e| !is_inside(e)) {
            for (x, y) in [(x, y), (y, x)] {
                for (w, z) in [(w, z), (z, w)] {
                    let [first, second] = [nodes.distance(x, w), nodes.distance(y, z)];
                    let gain = nodes.distance(x, y) + nodes.distance(w, z) - first - second;
                    joints.push((gain, [x, w], first <= second));
                }
            }
        }
    }
    joints
}

#[test]
fn two_sub_tours_are_joined_by_the_best_exchange() {
    let mut pairs = [0; 2];
    for seed in 0..40 {
        let n = 8 + seed as u32 % 40;
        // With all nodes in the lists nothing is left out.
        let k = if seed % 4 == 0 { n - 1 } else { 6 };
        let side = [20, 1000][seed as usize % 2];
        let problem = problem(square(n, side, seed), k);
        let mut pair = Pair::new(&problem);
        let parents = [2 * seed, 2 * seed + 1].map(|seed| random(&pair.nodes, seed, seed % 3 == 0));
        pair.cross(&parents[0], &parents[1], seed);
        for i in 0..pair.cycles.count() {
            let (gain, tours, _) = pair.evaluate(&[i]);
            if tours != 2 {
                continue;
            }
            let mut all = edges(&parents[0]);
            let (cycle, mut of_set) = (pair.cycles.get(i), 0);
            for j in 0..cycle.len() {
                let (u, v) = (cycle[j], cycle[(j + 1) % cycle.len()]);
                let is_of_a = j % 2 == 0;
                assert!(if is_of_a { all.remove(&edge(u, v)) } else { all.insert(edge(u, v)) });
                of_set += if is_of_a { pair.nodes.distance(u, v) } else { -pair.nodes.distance(u, v) };
            }
            let first = sub_tour(&all);
            let others: BTreeSet<u32> = (0..n).filter(|v| !first.contains(v)).collect();
            if first.len() == others.len() && k < n - 1 {
                continue;
            }
            let smaller = if first.len() < others.len() { first } else { others };
            let joints = joints(&pair.nodes, &all, &smaller);
            let best = joints.iter().map(|joint| joint.0).max().unwrap();
            let is_near = |[x, w]: [u32; 2]| pair.nodes.near(x).contains(&w);
            // Found from the lists, from the nodes of the smaller one.
            let near = joints.iter().filter(|(_, joined, is_shorter)| *is_shorter && is_near(*joined));
            let Some(least) = near.map(|joint| joint.0).max() else { continue };
            let joined = gain - of_set;
            assert!((least..=best).contains(&joined), "{joined} of {least} to {best}, {n} nodes");
            if k == n - 1 {
                assert_eq!(joined, best, "{n} nodes");
            }
            pairs[usize::from(k == n - 1)] += 1;
        }
    }
    assert!(pairs[0] > 20 && pairs[1] > 10, "{pairs:?}");
}

#[test]
fn sub_tours_without_near_nodes_outside() {
    // Two clusters: no node is near a node of the other one.
    let mut points = square(40, 20, 5);
    points.iter_mut().skip(20).for_each(|point| point[0] += 100_000.0);
    let problem = problem(points, 3);
    let mut pair = Pair::new(&problem);
    assert!((0..40).all(|v| pair.nodes.near(v).iter().all(|&u| (u < 20) == (v < 20))));
    // Each parent crosses over twice; exchanging only the edges that differ there leaves a tour of each cluster.
    let a: Vec<u32> = (0..40).collect();
    let b: Vec<u32> = (0..10).rev().chain((10..20).rev()).chain(20..40).collect();
    for (seed, (a, b)) in (0..).zip([(&a, &b), (&b, &a)]) {
        pair.cross(a, b, seed);
        for i in 0..pair.cycles.count() {
            check_child(&mut pair, &[i]);
        }
    }
    for seed in 0..20 {
        check_pair(&mut pair, seed % 2 == 0, seed);
    }
}

#[test]
fn equal_parents_have_no_cycles() {
    let problem = problem(square(30, 100, 3), 5);
    let mut pair = Pair::new(&problem);
    let order = random(&pair.nodes, 1, false);
    let backwards: Vec<u32> = order.iter().rev().copied().collect();
    for other in [&order, &backwards] {
        pair.cross(&order, other, 1);
        assert_eq!(pair.cycles.count(), 0);
        let (gain, tours, changes) = pair.evaluate(&[]);
        assert_eq!((gain, tours, changes.len()), (0, 1, 0));
        assert_eq!(pair.apply(&[]), order);
    }
}

#[test]
fn decompositions_differ_with_the_stream() {
    let problem = problem(square(100, 1000, 4), 5);
    let mut pair = Pair::new(&problem);
    let parents = [1, 2].map(|seed| random(&pair.nodes, seed, false));
    let mut listed = |seed| {
        pair.cross(&parents[0], &parents[1], seed);
        pair.listed()
    };
    let first = listed(1);
    assert_eq!(first, listed(1));
    assert_ne!(first, listed(2));
}

/// Returns the sum over all edges of f log2 f.
fn concentration(tours: &[Edges]) -> f64 {
    let mut counts = HashMap::new();
    tours.iter().flatten().for_each(|&e| *counts.entry(e).or_insert(0u32) += 1);
    counts.values().map(|&f| f64::from(f) * f64::from(f).log2()).sum()
}

fn census(n: u32, tours: &[Vec<u32>]) -> Census {
    let mut census = Census::new(n, tours.len() as u32).unwrap();
    tours.iter().for_each(|order| census.add_tour(&tour(order), 1).unwrap());
    census
}

#[test]
fn loss_of_entropy() {
    let problem = problem(square(120, 1000, 7), 8);
    let mut pair = Pair::new(&problem);
    let tours: Vec<Vec<u32>> = (0..6).map(|seed| random(&pair.nodes, seed, true)).collect();
    let population: Vec<Edges> = tours.iter().map(|t| edges(t)).collect();
    let census = census(120, &tours);
    let before = concentration(&population);
    for b in 1..6 {
        pair.cross(&tours[0], &tours[b], b as u64);
        for i in 0..pair.cycles.count() {
            let (_, _, changes) = pair.evaluate(&[i]);
            let loss = census.loss(&pair.a, &changes);
            let mut next = population.clone();
            next[0] = edges(&pair.walk(&changes));
            let expected = (concentration(&next) - before) * f64::from(1 << 20);
            assert!((loss as f64 - expected).abs() <= 300.0, "{loss} {expected}");
        }
    }
}

#[test]
fn a_block_has_all_smaller_cycles_that_touch_its_first_one() {
    let problem = problem(square(150, 300, 6), 5);
    let mut pair = Pair::new(&problem);
    let parents = [1, 2].map(|seed| random(&pair.nodes, seed, false));
    pair.cross(&parents[0], &parents[1], 1);
    let cycles: Vec<BTreeSet<u32>> = pair.listed().iter().map(|c| c.iter().copied().collect()).collect();
    let size = |i: usize| pair.cycles.get(i as u32).len();
    let block = |i: usize| -> Vec<u32> {
        let touches = |&j: &usize| j == i || size(j) < size(i) && !cycles[i].is_disjoint(&cycles[j]);
        (0..cycles.len()).filter(touches).map(|j| j as u32).collect()
    };
    let expected: Vec<Vec<u32>> = (0..cycles.len()).map(block).collect();
    assert!(expected.iter().any(|block| block.len() > 2));
    pair.cycles.note_cycles();
    for (i, expected) in (0..).zip(expected) {
        let mut set = vec![i];
        pair.cycles.add_smaller(&mut set);
        assert_eq!(set, expected);
        check_child(&mut pair, &set);
    }
}

#[test]
fn a_cycle_fits_a_tour_with_its_edges_of_one_parent_only() {
    let problem = problem(square(60, 300, 2), 5);
    let mut pair = Pair::new(&problem);
    let parents = [3, 4].map(|seed| random(&pair.nodes, seed, false));
    pair.cross(&parents[0], &parents[1], 1);
    assert!(pair.cycles.count() > 1);
    for i in 0..pair.cycles.count() {
        assert!(pair.cycles.fits(i, &pair.a) && !pair.cycles.fits(i, &pair.b));
        // A cycle does not fit any more once exchanged; others still do, unless one of their edges was removed.
        let (_, _, changes) = pair.evaluate(&[i]);
        let child = pair.walk(&changes);
        let has = edges(&child);
        for (j, cycle) in (0..).zip(pair.listed()) {
            let edge_of = |k: usize| edge(cycle[k], cycle[(k + 1) % cycle.len()]);
            let fits = (0..cycle.len()).all(|k| has.contains(&edge_of(k)) == (k % 2 == 0));
            assert_eq!(pair.cycles.fits(j, &tour(&child)), fits);
        }
        assert!(!pair.cycles.fits(i, &tour(&child)));
    }
}

#[test]
fn an_heir_is_shorter_than_its_parent_by_what_is_said() {
    let n = 400;
    let problem = problem(square(n, 1000, 9), 8);
    let mut pair = Pair::new(&problem);
    let tours: Vec<Vec<u32>> = (0..8).map(|seed| random(&pair.nodes, seed, true)).collect();
    let census = census(n, &tours);
    let mut desk = Desk::new(n).unwrap();
    let mut of_several = 0;
    for seed in 0..40 {
        let [a, b] = [0, 1].map(|i| &tours[(seed as usize + i) % tours.len()]);
        // The same stream divides the edges in the same way.
        let stream = Stream::new(seed, 2, 2);
        pair.cross(a, b, seed);
        let heir = desk.breed((&pair.nodes, &census), (&pair.a, &pair.b), (5, stream), &|| false);
        let heir = heir.expect("local optima that differ much have a shorter child");
        assert!(heir.changes.windows(2).all(|two| two[0].node < two[1].node));
        let child = pair.walk(&heir.changes);
        assert!(heir.gain > 0);
        assert_eq!(heir.gain, pair.nodes.length(&pair.a) - pair.nodes.length(&tour(&child)));
        assert_eq!(edges(&pair.apply(&heir.changes)), edges(&child));
        let most = (0..pair.cycles.count()).map(|i| pair.evaluate(&[i]).0).max();
        of_several += u32::from(Some(heir.gain) > most);
    }
    assert!(of_several > 10, "{of_several} heirs gained more than any AB-cycle of theirs");
    // Equal parents have no heir.
    pair.cross(&tours[0], &tours[0], 1);
    let stream = Stream::new(1, 2, 2);
    assert!(desk.breed((&pair.nodes, &census), (&pair.a, &pair.b), (5, stream), &|| false).is_none());
}

/// Checks the number of tours that have each edge.
fn check_counts(census: &Census, n: u32, tours: &[Edges]) {
    for u in 0..n {
        for v in u + 1..n {
            let expected = tours.iter().filter(|edges| edges.contains(&(u, v))).count() as u32;
            assert_eq!([census.count(u, v), census.count(v, u)], [expected; 2]);
        }
    }
}

#[test]
fn frequencies_are_counted() {
    let problem = problem(square(50, 500, 8), 5);
    let mut pair = Pair::new(&problem);
    // Enough tours that the table grows.
    let tours: Vec<Vec<u32>> = (0..30).map(|seed| random(&pair.nodes, seed, seed % 2 == 0)).collect();
    let mut all: Vec<Edges> = tours.iter().map(|order| edges(order)).collect();
    let mut census = census(50, &tours);
    check_counts(&census, 50, &all);
    census.add_tour(&tour(&tours[29]), -1).unwrap();
    all.pop();
    check_counts(&census, 50, &all);
    pair.cross(&tours[0], &tours[1], 1);
    let (_, _, changes) = pair.evaluate(&[0]);
    census.change(&pair.a, &changes).unwrap();
    all[0] = edges(&pair.walk(&changes));
    assert_ne!(all[0], edges(&tours[0]));
    check_counts(&census, 50, &all);
}

#[test]
fn scores_are_ordered() {
    // A child that is not shorter is worthless.
    assert!(score(0, 5) <= 0.0 && score(-3, -5) <= 0.0 && score(1, 1 << 40) > 0.0);
    // No loss beats any loss; among children without a loss the larger gain is better, otherwise the larger gain for the loss.
    assert!(score(1, 0) > score(1000, 1001) && score(2, -7) > score(1, -1000));
    assert!(score(10, 100) > score(10, 101) && score(11, 100) > score(10, 100));
    assert_eq!(score(1, -1), score(1, 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_pair(n in 5u32..90, k in 1u32..8, side in 1u32..200, optimal: bool, seed: u64) {
        let problem = problem(square(n, side, seed), k.min(n - 1));
        check_pair(&mut Pair::new(&problem), optimal, seed >> 1);
    }
}
