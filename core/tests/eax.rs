//! Edge assembly crossover: children are tours, and as long and as diverse as they are said to be.

mod common;

use antwarp_core::distance::Distance;
use antwarp_core::eax::{self, Bench, Child, Cycles, Entropy, Frequencies, Gene, Near, score};
use antwarp_core::geometry::{Grid, Places};
use antwarp_core::local_search::{TwoOpt, ants};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Slots};
use common::memory::Array;
use proptest::prelude::*;
use std::collections::{BTreeSet, HashMap};

const GRID: Grid = Grid { up: false };

/// Places in a square, and each node's `k` nearest others.
struct World {
    places: Vec<u64>,
    lists: Vec<u32>,
    k: u32,
}

impl World {
    fn new(n: u32, k: u32, side: u32, seed: u64) -> World {
        let stream = Stream::new(seed, 0, 0);
        let place = |i| Grid::place(stream.step(i).below(0, side), stream.step(i).below(1, side));
        let mut world = World { places: (0..n).map(place).collect(), lists: Vec::new(), k };
        for i in 0..n {
            let mut near: Vec<u32> = (0..n).filter(|&j| j != i).collect();
            near.sort_by_key(|&j| (world.distance(i, j), j));
            world.lists.extend(&near[..k as usize]);
        }
        world
    }

    fn n(&self) -> u32 {
        self.places.len() as u32
    }

    fn places(&self) -> Places<Grid> {
        Places { geometry: GRID, start: self.places.as_ptr() }
    }

    fn distance(&self, i: u32, j: u32) -> i64 {
        // SAFETY: both are nodes.
        i64::from(unsafe { self.places().between(i, j) })
    }

    fn length(&self, tour: &[u32]) -> i64 {
        edges(tour).iter().map(|&(u, v)| self.distance(u, v)).sum()
    }

    fn near(&self) -> Near<Grid> {
        Near { lists: self.lists.as_ptr(), k: self.k, breadth: self.k, places: self.places() }
    }

    /// A random tour, improved if it is to be a local optimum.
    fn tour(&self, seed: u64, optimal: bool) -> Vec<u32> {
        let stream = Stream::new(seed, 1, 1);
        let mut tour: Vec<u32> = (0..self.n()).collect();
        tour.sort_by_key(|&v| (stream.step(v).bits(0), v));
        if optimal {
            let own: Vec<u32> = (0..self.n()).collect();
            let mut memory = Array::<u8>::rubbish(ants::memory_bytes::<u32>(self.n()));
            let tables = ants::Tables {
                n: self.n(),
                lists: self.lists.as_ptr(),
                k: self.k,
                breadth: self.k,
                places: self.places(),
                successor: own.as_ptr(),
                predecessor: own.as_ptr(),
            };
            // SAFETY: arrays of the sizes asked for, and one member.
            unsafe {
                let slots = Slots::new(tour.as_mut_ptr());
                ants::improve::<_, TwoOpt, u32, _>(Serial, tables, memory.start(), slots);
            }
        }
        tour
    }
}

type Edges = BTreeSet<(u32, u32)>;

fn edge(u: u32, v: u32) -> (u32, u32) {
    (u.min(v), u.max(v))
}

fn edges(tour: &[u32]) -> Edges {
    (0..tour.len()).map(|i| edge(tour[i], tour[(i + 1) % tour.len()])).collect()
}

fn inverse(tour: &[u32]) -> Vec<u32> {
    let mut position = vec![0; tour.len()];
    (0..).zip(tour).for_each(|(p, &v)| position[v as usize] = p);
    position
}

/// Two parents and what a member needs to cross them.
struct Pair<'w> {
    world: &'w World,
    a: (Vec<u32>, Vec<u32>),
    b: (Vec<u32>, Vec<u32>),
    cycles: Array<u8>,
    bench: Array<u8>,
}

impl<'w> Pair<'w> {
    fn new(world: &'w World, a: Vec<u32>, b: Vec<u32>) -> Self {
        let mut bench = Array::<u8>::rubbish(Bench::memory_bytes(world.n()));
        let length = bench.len();
        // SAFETY: so many bytes.
        unsafe { bench.start().write_bytes(0, length) };
        let both = |tour: Vec<u32>| (inverse(&tour), tour);
        let ((pa, a), (pb, b)) = (both(a), both(b));
        Pair { world, a: (a, pa), b: (b, pb), cycles: Array::rubbish(Cycles::memory_bytes(world.n())), bench }
    }

    fn mother(&self) -> Gene {
        // SAFETY: a tour and its inverse; tests do not change them.
        unsafe { Gene::new(self.world.n(), self.a.0.as_ptr(), self.a.1.as_ptr()) }
    }

    fn decompose(&mut self, seed: u64) -> Cycles {
        // SAFETY: tours and their inverses; memory of the size asked for.
        unsafe {
            let father = Gene::new(self.world.n(), self.b.0.as_ptr(), self.b.1.as_ptr());
            eax::decompose(self.mother(), father, Stream::new(seed, 2, 2), self.cycles.start())
        }
    }

    fn bench(&mut self) -> Bench {
        // SAFETY: memory of the size asked for, zero at first.
        unsafe { Bench::new(self.world.n(), self.bench.start()) }
    }

    fn evaluate(&mut self, cycles: Cycles, set: &[u32]) -> (Child, Vec<[u32; 3]>) {
        let bench = self.bench();
        // SAFETY: different cycles of this pair.
        unsafe {
            let (near, size) = (self.world.near(), set.len() as u32);
            let child = eax::evaluate(near, self.mother(), cycles, set.as_ptr(), size, bench);
            (child, (0..bench.changes()).map(|i| bench.change(i)).collect())
        }
    }

    /// The child's tour, by a walk along its nodes' neighbours.
    fn walk(&self, changes: &[[u32; 3]]) -> Vec<u32> {
        let n = self.a.0.len();
        let mut links: Vec<[u32; 2]> = (0..n)
            .map(|v| self.a.1[v] as usize)
            .map(|p| [self.a.0[(p + n - 1) % n], self.a.0[(p + 1) % n]])
            .collect();
        changes.iter().for_each(|&[v, first, second]| links[v as usize] = [first, second]);
        let (mut tour, mut before, mut v) = (vec![], links[0][0], 0);
        while tour.is_empty() || v != 0 {
            assert!(tour.len() < n, "no tour");
            tour.push(v);
            let [first, second] = links[v as usize];
            assert!(before == first || before == second, "an edge of one node only");
            (before, v) = (v, if first == before { second } else { first });
        }
        assert_eq!(tour.len(), n, "a sub-tour");
        assert_eq!(tour.iter().collect::<BTreeSet<_>>().len(), n);
        tour
    }

    fn apply(&mut self, changes: &[[u32; 3]]) -> Vec<u32> {
        let bench = self.bench();
        let (mut order, mut position) = (Array::of(&self.a.0), Array::of(&self.a.1));
        // SAFETY: copies of a tour and its inverse.
        unsafe {
            let (n, count) = (self.world.n(), changes.len() as u32);
            eax::apply(n, order.slots(), position.slots(), changes.as_flattened().as_ptr(), count, bench);
        }
        assert_eq!(inverse(&order), *position);
        order.to_vec()
    }
}

/// The cycles' nodes.
fn listed(cycles: Cycles) -> Vec<Vec<u32>> {
    // SAFETY: cycles, and nodes of them.
    let nodes = |i| unsafe {
        let (first, length) = cycles.range(i);
        (0..length).map(|j| cycles.node(first + j)).collect()
    };
    (0..cycles.count()).map(nodes).collect()
}

/// Checks the AB-cycles of two tours: they take edges by turns, and all that differ, each once.
fn check_cycles(pair: &Pair, cycles: Cycles) {
    let (a, b) = (edges(&pair.a.0), edges(&pair.b.0));
    let (mut of_a, mut of_b) = (Edges::new(), Edges::new());
    for cycle in listed(cycles) {
        assert!(cycle.len() >= 4 && cycle.len().is_multiple_of(2), "{cycle:?}");
        for i in 0..cycle.len() {
            let set = if i % 2 == 0 { &mut of_a } else { &mut of_b };
            assert!(set.insert(edge(cycle[i], cycle[(i + 1) % cycle.len()])), "an edge twice");
        }
    }
    assert_eq!(of_a, a.difference(&b).copied().collect());
    assert_eq!(of_b, b.difference(&a).copied().collect());
}

/// Checks the child of an E-set: what it gains, and that applying it leads to the same tour.
fn check_child(pair: &mut Pair, cycles: Cycles, set: &[u32]) -> Child {
    let (child, changes) = pair.evaluate(cycles, set);
    let tour = pair.walk(&changes);
    let world = pair.world;
    assert_eq!(child.gain, world.length(&pair.a.0) - world.length(&tour));
    if child.tours == 1 {
        // Nothing but the E-set.
        let mut expected = edges(&pair.a.0);
        for cycle in
            listed(cycles).iter().enumerate().filter(|(i, _)| set.contains(&(*i as u32))).map(|(_, c)| c)
        {
            for i in 0..cycle.len() {
                let e = edge(cycle[i], cycle[(i + 1) % cycle.len()]);
                assert!(if i % 2 == 0 { expected.remove(&e) } else { expected.insert(e) });
            }
        }
        assert_eq!(edges(&tour), expected);
    }
    assert_eq!(edges(&pair.apply(&changes)), edges(&tour));
    child
}

fn check_pair(world: &World, optimal: bool, seed: u64) -> u32 {
    let mut pair = Pair::new(world, world.tour(2 * seed, optimal), world.tour(2 * seed + 1, optimal));
    let cycles = pair.decompose(seed);
    check_cycles(&pair, cycles);
    let mut merged = 0;
    for i in 0..cycles.count() {
        merged += u32::from(check_child(&mut pair, cycles, &[i]).tours > 1);
    }
    let draws = Stream::new(seed, 3, 3);
    for round in 0..4 {
        let set: Vec<u32> = (0..cycles.count()).filter(|&i| draws.step(round).below(i, 2) == 0).collect();
        merged += u32::from(check_child(&mut pair, cycles, &set).tours > 1);
    }
    // All cycles together make the other parent.
    let all: Vec<u32> = (0..cycles.count()).collect();
    let (child, changes) = pair.evaluate(cycles, &all);
    assert_eq!(child.tours, 1);
    assert_eq!(edges(&pair.walk(&changes)), edges(&pair.b.0));
    merged
}

#[test]
fn children_of_local_optima() {
    let world = World::new(200, 8, 1000, 1);
    let merged: u32 = (0..10).map(|seed| check_pair(&world, true, seed)).sum();
    assert!(merged > 10, "sub-tours were merged {merged} times");
}

#[test]
fn children_of_random_tours() {
    for n in [5, 6, 7, 8, 13, 40, 150] {
        let world = World::new(n, 4.min(n - 1), 300, n.into());
        (0..10).for_each(|seed| _ = check_pair(&world, false, seed));
    }
}

#[test]
fn sub_tours_without_near_nodes_outside() {
    // Two clusters: the lists of one hold no node of the other.
    let mut world = World::new(40, 3, 20, 5);
    world.places.iter_mut().skip(20).for_each(|place| *place += Grid::place(100_000, 0));
    for i in 0..40 {
        let mut near: Vec<u32> = (0..40).filter(|&j| j != i).collect();
        near.sort_by_key(|&j| (world.distance(i, j), j));
        world.lists[3 * i as usize..][..3].copy_from_slice(&near[..3]);
    }
    // Each parent crosses over twice; exchanging what differs there alone leaves a tour of each cluster.
    let a: Vec<u32> = (0..40).collect();
    let b: Vec<u32> = (0..10).rev().chain((10..20).rev()).chain(20..40).collect();
    for (seed, (a, b)) in (0..).zip([(a.clone(), b.clone()), (b, a)]) {
        let mut pair = Pair::new(&world, a, b);
        let cycles = pair.decompose(seed);
        for i in 0..cycles.count() {
            check_child(&mut pair, cycles, &[i]);
        }
    }
    for seed in 0..20 {
        check_pair(&world, seed % 2 == 0, seed);
    }
}

#[test]
fn equal_parents_have_no_cycles() {
    let world = World::new(30, 5, 100, 3);
    let tour = world.tour(1, false);
    let backwards: Vec<u32> = tour.iter().rev().copied().collect();
    for other in [tour.clone(), backwards] {
        let mut pair = Pair::new(&world, tour.clone(), other);
        let cycles = pair.decompose(1);
        assert_eq!(cycles.count(), 0);
        let (child, changes) = pair.evaluate(cycles, &[]);
        assert_eq!((child, changes.len()), (Child { gain: 0, tours: 1 }, 0));
        assert_eq!(pair.apply(&[]), tour);
    }
}

#[test]
fn decompositions_differ_with_the_stream() {
    let world = World::new(100, 5, 1000, 4);
    let mut pair = Pair::new(&world, world.tour(1, false), world.tour(2, false));
    let first = listed(pair.decompose(1));
    assert_eq!(first, listed(pair.decompose(1)));
    assert_ne!(first, listed(pair.decompose(2)));
}

/// A population and the frequencies of its edges.
struct Census {
    keys: Array<u64>,
    counts: Array<u32>,
    n: u32,
}

const STRIDE: u32 = 32;

impl Census {
    fn new(n: u32) -> Census {
        let entries = Frequencies::entries(n, STRIDE);
        let mut census = Census { keys: Array::rubbish(entries), counts: Array::rubbish(entries), n };
        // SAFETY: this is the only user.
        unsafe { census.view().clear() };
        census
    }

    fn view(&mut self) -> Frequencies {
        // SAFETY: arrays of the sizes asked for.
        unsafe { Frequencies::new(self.n, STRIDE, self.keys.slots(), self.counts.slots()) }
    }

    fn add(&mut self, edges: &Edges, by: i32) {
        // SAFETY: nodes; the tests' populations have fewer edges than there are entries.
        edges.iter().for_each(|&(u, v)| _ = unsafe { self.view().add(u, v, by) });
    }
}

/// The sum over all edges of f log2 f.
fn concentration(tours: &[Edges]) -> f64 {
    let mut counts = HashMap::new();
    tours.iter().flatten().for_each(|&e| *counts.entry(e).or_insert(0u32) += 1);
    counts.values().map(|&f| f64::from(f) * f64::from(f).log2()).sum()
}

#[test]
fn loss_of_entropy() {
    let world = World::new(120, 8, 1000, 7);
    let tours: Vec<Vec<u32>> = (0..6).map(|seed| world.tour(seed, true)).collect();
    let population: Vec<Edges> = tours.iter().map(|t| edges(t)).collect();
    let mut census = Census::new(world.n());
    population.iter().for_each(|e| census.add(e, 1));
    let steps: Vec<u32> = (0..6).map(Entropy::step).collect();
    let before = concentration(&population);
    for b in 1..6 {
        let mut pair = Pair::new(&world, tours[0].clone(), tours[b].clone());
        let cycles = pair.decompose(b as u64);
        for i in 0..cycles.count() {
            let (_, changes) = pair.evaluate(cycles, &[i]);
            let bench = pair.bench();
            // SAFETY: the frequencies of six tours, A among them.
            let loss = unsafe { Entropy::new(steps.as_ptr()).loss(census.view(), pair.mother(), bench) };
            let mut next = population.clone();
            next[0] = edges(&pair.walk(&changes));
            let expected = (concentration(&next) - before) * f64::from(1 << 20);
            assert!((loss as f64 - expected).abs() <= 300.0, "{loss} {expected}");
        }
    }
}

#[test]
fn frequencies_are_counted() {
    let world = World::new(50, 5, 500, 8);
    let tours: Vec<Edges> = (0..8).map(|seed| edges(&world.tour(seed, seed % 2 == 0))).collect();
    let mut census = Census::new(world.n());
    tours.iter().for_each(|e| census.add(e, 1));
    census.add(&tours[3], -1);
    for u in 0..50 {
        for v in u + 1..50 {
            let expected = (0..8).filter(|&i| i != 3 && tours[i].contains(&(u, v))).count() as u32;
            // SAFETY: nodes.
            let counts = unsafe { [census.view().count(u, v), census.view().count(v, u)] };
            assert_eq!(counts, [expected; 2]);
        }
    }
}

#[test]
fn scores_are_ordered() {
    assert_eq!(score(0, 5), 0);
    assert_eq!(score(-3, -5), 0);
    // No loss beats any loss; without one more gain is better; else more gain for the loss is.
    assert!(score(1, 0) > score(1000, 1001) && score(2, -7) > score(1, -1000));
    assert!(score(10, 100) > score(10, 101) && score(11, 100) > score(10, 100));
    assert_eq!(score(1, -1), score(1, 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_pair(n in 5u32..90, k in 1u32..8, side in 1u32..200, optimal: bool, seed: u64) {
        let world = World::new(n, k.min(n - 1), side, seed);
        check_pair(&world, optimal, seed >> 1);
    }
}
