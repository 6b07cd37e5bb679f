//! Ant Colony System: its rule by hand and by chi-square, its three forms against each other and against a model.

use crate::common::memory::{Array, Number};
use crate::common::statistics::{LEVEL, fit};
use crate::common::teams::{ORDERS, Order, Shareable, run};
use crate::common::trails::{Arrays, Kind, OfCandidates, OfMatrix, OfRings, Shape, difference, edges, trail};
use antwarp_core::distance::{Distance, Distances, Exceptions};
use antwarp_core::metric::Metric;
use antwarp_core::node::NodeId;
use antwarp_core::papers::ants::acs::{
    self, Rule, build, choose_step, deposit_row, memory_bytes, prepare_row, update_step,
};
use antwarp_core::papers::ants::construct::Lists;
use antwarp_core::papers::ants::pheromone::matrix::FAR;
use antwarp_core::papers::ants::pheromone::selective::IS_FAR;
use antwarp_core::papers::ants::pheromone::{Memory, heuristic};
use antwarp_core::papers::ants::tabu::NONE;
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Slots, Team};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Barrier;

/// Calls a function with each kind of memory: rings of fewer slots than candidates, of more, of one.
macro_rules! each_kind {
    ($work:ident($($argument:expr),*)) => {
        $work(OfMatrix, $($argument),*);
        $work(OfCandidates, $($argument),*);
        $work(OfRings(1), $($argument),*);
        $work(OfRings(3), $($argument),*);
        $work(OfRings(8), $($argument),*);
        $work(OfRings(32), $($argument),*);
    };
}

/// Half of the steps explore, and trails change fast: the first iteration finds them all alike.
fn rule(n: u32, period: u32, directed: bool) -> Rule {
    let initial = 1.0 / n as f32;
    let patience = Rule::patience(0.5);
    Rule {
        patience,
        period,
        initial,
        local: 0.5,
        global: 0.5,
        beta: 2.0,
        scale: 10.0,
        directed: directed.into(),
        remembered: 0,
        passing: 1,
    }
}

/// No deposit is higher.
const HIGHEST: f32 = 1.0;

/// Edges and their trails.
type Trails = Vec<((u32, u32), f32)>;

/// Nodes in reserve for a node.
const RESERVE: u32 = 3;

/// Nodes with their candidates, the memory of a colony, and the tools of its ants.
struct Colony<I, K> {
    kind: K,
    rule: Rule,
    n: u32,
    k: u32,
    points: Vec<[f64; 3]>,
    /// Empty where the points tell the distances.
    matrix: Vec<i32>,
    lists: Vec<I>,
    reserves: Vec<I>,
    heuristics: Array<f32>,
    links: [Array<u32>; 2],
    arrays: Arrays,
    memory: Array<u8>,
    tours: Array<I>,
}

/// What the members of a team, or the threads of several, know of a colony.
#[derive(Clone, Copy)]
struct Parts<I, M> {
    world: acs::World<I, M, Distances>,
    heuristics: Slots<f32>,
    links: [Slots<u32>; 2],
    memory: *mut u8,
    tours: Slots<I>,
}

type PartsOf<I, K> = Parts<I, <K as Kind>::Memory<I>>;

impl<I: NodeId + Number, K: Kind> Colony<I, K> {
    /// Points in the plane, some at one place; directed ones have a matrix instead.
    fn new(kind: K, (n, k): (u32, u32), rule: Rule, ants: u32) -> Self {
        let draws = Stream::new(n as u64, 7, k).step(0);
        let points: Vec<_> =
            (0..n).map(|i| [draws.below(2 * i, 40) as f64, draws.below(2 * i + 1, 40) as f64, 0.0]).collect();
        let matrix =
            if rule.directed == 0 { vec![] } else { (0..n * n).map(|i| draws.below(i, 50) as i32).collect() };
        Self::among(kind, (n, k), rule, ants, (points, matrix))
    }

    fn among(
        kind: K,
        (n, k): (u32, u32),
        rule: Rule,
        ants: u32,
        (points, matrix): (Vec<[f64; 3]>, Vec<i32>),
    ) -> Self {
        let distance = distances(n, &points, &matrix);
        let (mut lists, mut reserves) = (Vec::new(), Vec::new());
        for i in 0..n {
            let mut others: Vec<u32> = (0..n).filter(|&j| j != i).collect();
            others.sort_by_key(|&j| (remoteness(distance, i, j), j));
            // Where there are none left, the node itself: it has been visited.
            reserves.extend((k..k + RESERVE).map(|r| I::new(*others.get(r as usize).unwrap_or(&i))));
            lists.extend(others[..k as usize].iter().map(|&j| I::new(j)));
        }
        let shape = Shape { n, k, lists: lists.as_ptr(), initial: rule.initial };
        let arrays = kind.arrays(shape);
        let bytes = memory_bytes(n) * ants as usize;
        let heuristics = Array::rubbish((n * k) as usize);
        let links = [0; 2].map(|_| Array::rubbish(n as usize));
        let (memory, tours) = (Array::rubbish(bytes), Array::rubbish((n * ants) as usize));
        Colony { kind, rule, n, k, points, matrix, lists, reserves, heuristics, links, arrays, memory, tours }
    }

    fn distance(&self) -> Distances {
        distances(self.n, &self.points, &self.matrix)
    }

    fn shape(&self) -> Shape<I> {
        Shape { n: self.n, k: self.k, lists: self.lists.as_ptr(), initial: self.rule.initial }
    }

    fn parts(&mut self) -> PartsOf<I, K> {
        let links = [self.links[0].slots(), self.links[1].slots()];
        // SAFETY: first elements.
        let [successor, predecessor] = links.map(|links| unsafe { links.at(0) }.cast_const());
        let lists = Lists {
            k: self.k,
            nodes: self.lists.as_ptr(),
            weights: self.heuristics.start(),
            reserve: RESERVE,
            reserves: self.reserves.as_ptr(),
            successor,
            predecessor: if self.rule.directed == 0 { predecessor } else { successor },
        };
        let memory = self.kind.memory(self.shape(), &mut self.arrays);
        let world = acs::World { n: self.n, rule: self.rule, lists, memory, distance: self.distance() };
        let (memory, tours) = (self.memory.start(), self.tours.slots());
        Parts { world, heuristics: self.heuristics.slots(), links, memory, tours }
    }

    /// A tour of an ant.
    fn tour(&self, ant: u32) -> Vec<u32> {
        self.tours[(ant * self.n) as usize..][..self.n as usize].iter().map(|v| v.get()).collect()
    }

    /// Every trail there is to know.
    fn trails(&mut self) -> Trails {
        let (shape, memory) = (self.shape(), self.parts().world.memory);
        edges::<K, I>(shape).into_iter().map(|edge| (edge, trail::<K, I>(memory, shape, edge))).collect()
    }

    fn candidates(&self, node: u32) -> Vec<u32> {
        self.shape().list(node)
    }

    /// Every bit of the memory that has a meaning.
    fn state(&self) -> Vec<u64> {
        self.arrays.state(self.shape())
    }
}

fn distances(n: u32, points: &[[f64; 3]], matrix: &[i32]) -> Distances {
    if matrix.is_empty() {
        Distances {
            matrix: std::ptr::null(),
            points: points.as_ptr(),
            metric: Some(Metric::Euc2d),
            n,
            exceptions: Exceptions::NONE,
        }
    } else {
        Distances {
            matrix: matrix.as_ptr(),
            points: std::ptr::null(),
            metric: None,
            n,
            exceptions: Exceptions::NONE,
        }
    }
}

/// Grows with the distance, and does not round in the plane.
fn remoteness(distance: Distances, i: u32, j: u32) -> u32 {
    // SAFETY: the callers' nodes.
    unsafe {
        match distance.plane() {
            Some(plane) => plane.remoteness(plane.place(i), plane.place(j)),
            None => distance.between(i, j) as u32,
        }
    }
}

impl<I: NodeId, M: Memory> Parts<I, M> {
    /// The memory and the tour of an ant.
    fn ant(&self, ant: u32) -> (*mut u8, Slots<I>) {
        let (bytes, n, ant) = (memory_bytes(self.world.n), self.world.n as usize, ant as usize);
        // SAFETY: the callers have as many ants.
        unsafe { (self.memory.add(bytes * ant), self.tours.part(n * ant, n)) }
    }

    /// Trails and heuristic values at the start, and no tour to follow.
    fn prepare<T: Team>(&self, team: T) {
        let world = &self.world;
        // SAFETY: everything has its size, and a barrier at the end.
        unsafe {
            for node in 0..world.n {
                let lists = (world.lists.nodes, world.lists.k);
                prepare_row(team, world.rule, lists, world.memory, world.distance, self.heuristics, node);
            }
            team.for_each(world.n, |node| self.links.iter().for_each(|links| links.set(node, node)));
            team.barrier();
        }
    }

    /// The global update with an ant's tour, which ants may follow from then on.
    fn deposit<T: Team>(&self, team: T, ant: u32, deposit: f32) {
        let (n, tour, links) = (self.world.n, self.ant(ant).1, self.links);
        // SAFETY: nodes of a tour; barriers stand between writing and reading.
        unsafe {
            team.barrier();
            team.for_each(n, |i| {
                let at = |i: u32| tour.get(i % n).get();
                links[0].set(at(i), at(i + 1));
                links[1].set(at(i), at(i + n - 1));
            });
            team.barrier();
            for node in 0..n {
                let ends = (links[0].get(node), links[1].get(node));
                let (rule, lists) = (self.world.rule, (self.world.lists.nodes, self.world.lists.k));
                deposit_row(team, rule, lists, self.world.memory, node, ends, deposit);
            }
            team.barrier();
        }
    }
}

fn assert_permutation(tour: &[u32]) {
    let mut sorted = tour.to_vec();
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..tour.len() as u32), "{tour:?}");
}

#[track_caller]
fn assert_near(got: f32, expected: f64) {
    assert!((f64::from(got) - expected).abs() <= 1e-6 * expected.abs(), "{got} instead of {expected}");
}

// Formulas.

#[test]
fn updates_draw_trails_towards_the_initial_one_and_the_deposit() {
    let rule = Rule { initial: 0.02, local: 0.1, global: 0.3, ..rule(2, 1, false) };
    for (before, local) in [(0.5, 0.452), (0.02, 0.02), (0.01, 0.011), (1e3, 900.002), (0.0, 0.002)] {
        assert_near(rule.local_update(before), local);
    }
    for (before, deposit, global) in [(0.5, 2.0, 0.95), (2.0, 0.5, 1.55), (0.0, 1.0, 0.3), (1e-3, 1e-3, 1e-3)]
    {
        assert_near(rule.global_update(before, deposit), global);
    }
}

#[test]
fn patience_is_the_gap_between_explorations_in_variates_of_base_2() {
    // A gap of g steps or more has probability q0^g: a variate -log2(u) is at least g / patience as often.
    for (q0, patience) in [(0.0, 0.0), (0.25, 0.5), (0.5, 1.0), (1.0, f32::INFINITY)] {
        assert_eq!(Rule::patience(q0), patience, "{q0}");
    }
    assert_near(Rule::patience(0.9), 6.578_813);
    assert_near(Rule::patience(0.98), 34.309_618);
}

#[test]
fn every_so_many_edges_one_is_due() {
    let due = |period: u32| -> Vec<u32> {
        let rule = rule(2, period, false);
        (1..=33).filter(|&edge| rule.is_due(edge)).collect()
    };
    assert_eq!(due(0), []);
    assert_eq!(due(1), (1..=33).collect::<Vec<_>>());
    assert_eq!(due(2), (1..=16).map(|i| 2 * i).collect::<Vec<_>>());
    assert_eq!(due(4), [4, 8, 12, 16, 20, 24, 28, 32]);
    assert_eq!(due(16), [16, 32]);
    assert!(!rule(2, 4, false).is_due(0));
}

/// Nodes 0 and 3 are at one place; from 3 to 2 it is further than back.
#[rustfmt::skip]
const FOUR: [i32; 16] = [
     0,  5, 10,  0,
     5,  0,  4, 20,
    10,  4,  0,  8,
     0, 20, 40,  0,
];

fn rows_are_prepared<K: Kind>(kind: K) {
    for (beta, expected) in [
        // (10 / d)^beta to the two nearest; a distance of 0 counts as 0.1.
        (1.0, [100.0, 2.0, 2.5, 2.0, 2.5, 1.25, 100.0, 0.5]),
        (2.0, [1e4, 4.0, 6.25, 4.0, 6.25, 1.5625, 1e4, 0.25]),
        (3.0, [1e6, 8.0, 15.625, 8.0, 15.625, 1.953125, 1e6, 0.125]),
        (
            0.5,
            [
                10.0,
                2f64.sqrt(),
                2.5f64.sqrt(),
                2f64.sqrt(),
                2.5f64.sqrt(),
                1.25f64.sqrt(),
                10.0,
                0.5f64.sqrt(),
            ],
        ),
    ] {
        let rule = Rule { beta, ..rule(4, 1, true) };
        let mut colony = Colony::<u16, K>::among(kind, (4, 2), rule, 1, (vec![], FOUR.to_vec()));
        let parts = colony.parts();
        parts.prepare(Serial);
        assert_eq!(colony.lists, [3, 1, 2, 0, 1, 3, 0, 1]);
        colony.heuristics.iter().zip(expected).for_each(|(&got, expected)| assert_near(got, expected));
        // SAFETY: nodes of the memory.
        unsafe { parts.world.memory.update(Serial, 1, 2, |_| 7.0) }
        assert!(colony.trails().contains(&((1, 2), 7.0)));
        parts.prepare(Serial);
        assert!(colony.trails().iter().all(|t| t.1 == 0.25), "{:?}", colony.trails());
    }
}

#[test]
fn prepared_rows_have_closenesses_and_no_trails() {
    each_kind!(rows_are_prepared());
}

fn only_the_tour_gains<K: Kind>(kind: K, n: u32, directed: bool) {
    let rule = Rule { initial: 0.1, global: 0.2, ..rule(n, 1, directed) };
    let mut colony = Colony::<u32, K>::new(kind, (n, n / 2), rule, 1);
    let parts = colony.parts();
    parts.prepare(Serial);
    let tour: Vec<u32> = (0..n).map(|i| i * 7 % n).collect();
    assert_permutation(&tour);
    // SAFETY: a place for each node.
    (0..n).for_each(|i| unsafe { parts.tours.set(i, tour[i as usize]) });
    parts.deposit(Serial, 0, 0.7);
    let follows =
        |i: u32, j: u32| (0..n as usize).any(|at| (tour[at], tour[(at + 1) % n as usize]) == (i, j));
    let mut gains = 0;
    for ((i, j), trail) in colony.trails() {
        let gained = follows(i, j) || !directed && follows(j, i);
        // 0.8 * 0.1 + 0.2 * 0.7
        assert_near(trail, if gained { 0.22 } else { f64::from(0.1f32) });
        gains += u32::from(gained);
    }
    let all = if directed { n } else { 2 * n };
    assert!(if K::Memory::<u32>::BEYOND { gains == all } else { 0 < gains && gains < all });
}

#[test]
fn deposits_go_to_the_edges_of_the_tour_and_no_others() {
    for n in [10, 33] {
        for directed in [false, true] {
            only_the_tour_gains(OfMatrix, n, directed);
            only_the_tour_gains(OfCandidates, n, directed);
            only_the_tour_gains(OfRings(2), n, directed);
            only_the_tour_gains(OfRings(7), n, directed);
        }
    }
}

#[test]
fn deposits_remember_where_best_tours_go_beyond_the_candidates() {
    let (n, k) = (40, 4);
    for directed in [false, true] {
        for team in [None].into_iter().chain(ORDERS.map(|order| Some((3, order)))) {
            let mut colony = Colony::<u32, OfMatrix>::new(OfMatrix, (n, k), rule(n, 1, directed), 1);
            colony.parts().prepare(Serial);
            let mut expected = vec![Vec::<u32>::new(); n as usize];
            // Some tours come twice; the later ones find no more room.
            for by in [7, 7, 11, 7, 3, 13, 9, 17, 19, 21, 23] {
                let tour: Vec<u32> = (0..n).map(|i| i * by % n).collect();
                assert_permutation(&tour);
                let parts = colony.parts();
                // SAFETY: a place for each node.
                (0..n).for_each(|i| unsafe { parts.tours.set(i, tour[i as usize]) });
                match team {
                    None => parts.deposit(Serial, 0, 0.7),
                    Some((size, order)) => {
                        let parts = Shareable::new(parts);
                        run(size, order, |team| parts.get().deposit(team, 0, 0.7));
                    }
                }
                for node in 0..n {
                    let known = &mut expected[node as usize];
                    for v in [(node + by) % n, (node + n - by) % n].into_iter().take(2 - directed as usize) {
                        if !colony.candidates(node).contains(&v) && !known.contains(&v) {
                            known.push(v);
                        }
                    }
                    let (most, count) = (FAR as usize - 1, (known.len() as u32).min(FAR));
                    let most = known[..known.len().min(most)].to_vec();
                    assert_eq!(colony.arrays.far(node), (most, count), "{node} after {by}, {team:?}");
                }
            }
            assert!(expected.iter().any(|known| known.len() >= FAR as usize));
        }
    }
}

// The rule.

/// A tour of the colony's first ant.
fn one_tour<I: NodeId + Number, K: Kind>(colony: &mut Colony<I, K>, stream: Stream) -> Vec<u32> {
    let parts = colony.parts();
    let (memory, tour) = parts.ant(0);
    // SAFETY: the ant has its memory and its tour.
    unsafe { build(Serial, parts.world, memory, tour, stream) }
    colony.tour(0)
}

/// Trails on the edges to candidates that have nothing to do with lengths, from 1/16 to 1.
fn strew<I: NodeId + Number, K: Kind>(colony: &mut Colony<I, K>, seed: u64) {
    let parts = colony.parts();
    parts.prepare(Serial);
    for node in 0..colony.n {
        for v in colony.candidates(node) {
            let new = (1.0 + 15.0 * Stream::new(seed, node, v).step(0).unit(0)) / 16.0;
            // SAFETY: nodes of the memory.
            unsafe { parts.world.memory.update(Serial, node, v, |_| new) }
        }
    }
}

/// The candidates' products of trail and heuristic value in the choices of ants at `node`.
fn products<I: NodeId + Number, K: Kind>(colony: &mut Colony<I, K>, node: u32) -> Vec<f64> {
    let (shape, distance, memory) = (colony.shape(), colony.distance(), colony.parts().world.memory);
    let candidates = colony.candidates(node);
    let product = |v| {
        // SAFETY: nodes of the colony.
        let d = f64::from(unsafe { distance.between(node, v) }).max(0.1);
        f64::from(trail::<K, I>(memory, shape, (node, v))) * (10.0 / d).powi(2)
    };
    candidates.into_iter().map(product).collect()
}

/// What shares of choices should be, with the products of open candidates and 0 for the others.
fn shares(products: &[f64], q0: f64) -> Vec<f64> {
    let (total, best) = (products.iter().sum::<f64>(), products.iter().copied().fold(0.0, f64::max));
    products.iter().map(|&p| (1.0 - q0) * p / total + if p == best { q0 } else { 0.0 }).collect()
}

fn choices_follow_the_rule<K: Kind>(kind: K, q0: f64) {
    const TOURS: u32 = 60_000;
    let (n, k) = (8, 5);
    let rule = Rule { patience: Rule::patience(q0), ..rule(n, 0, false) };
    let mut colony = Colony::<u16, K>::new(kind, (n, k), rule, 1);
    strew(&mut colony, 5);
    let place = |colony: &Colony<u16, K>, node: u32, next: u32| {
        // With five of seven others in the list and one visited, some candidate is open.
        colony.candidates(node).iter().position(|&v| v == next).expect("not a candidate")
    };
    let mut firsts = vec![0; n as usize];
    let mut seconds = vec![vec![0; k as usize]; n as usize];
    let mut thirds = vec![vec![0; k as usize]; (n * n) as usize];
    for ant in 0..TOURS {
        let tour = one_tour(&mut colony, Stream::new(3, 0, ant));
        firsts[tour[0] as usize] += 1;
        seconds[tour[0] as usize][place(&colony, tour[0], tour[1])] += 1;
        thirds[(tour[0] * n + tour[1]) as usize][place(&colony, tour[1], tour[2])] += 1;
    }
    let check = |counts: &[u64], shares: &[f64]| {
        let (total, most) = (shares.iter().sum::<f64>(), shares.iter().copied().fold(0.0, f64::max));
        if counts.iter().sum::<u64>() as f64 * (1.0 - most / total) < 5.0 {
            // Too few besides the best one for chi-square.
            assert!(
                counts.iter().zip(shares).all(|(&count, &share)| share > 0.0 || count == 0),
                "{counts:?}"
            );
        } else {
            let p = fit(counts, shares);
            assert!(p > LEVEL, "{kind:?}, q0 {q0}: {counts:?} by {shares:?}: p = {p}");
        }
    };
    check(&firsts, &vec![1.0; n as usize]);
    for first in 0..n {
        let all = products(&mut colony, first);
        check(&seconds[first as usize], &shares(&all, q0));
        for second in 0..n {
            let counts = &thirds[(first * n + second) as usize];
            if counts.iter().sum::<u64>() > 0 {
                let mut open = products(&mut colony, second);
                let candidates = colony.candidates(second);
                open.iter_mut().zip(candidates).for_each(|(p, v)| *p = if v == first { 0.0 } else { *p });
                check(counts, &shares(&open, q0));
            }
        }
    }
}

#[test]
fn exploring_ants_choose_in_proportion_to_trail_and_closeness() {
    choices_follow_the_rule(OfMatrix, 0.0);
    choices_follow_the_rule(OfCandidates, 0.0);
    choices_follow_the_rule(OfRings(5), 0.0);
    // Some edges of a node have been forgotten.
    choices_follow_the_rule(OfRings(3), 0.0);
}

#[test]
fn greedy_ants_take_the_best_edge() {
    choices_follow_the_rule(OfMatrix, 1.0);
    choices_follow_the_rule(OfCandidates, 1.0);
    choices_follow_the_rule(OfRings(3), 1.0);
}

fn never_explores<K: Kind>(kind: K, form: Form) {
    const N: u32 = 60;
    let rule = Rule { patience: Rule::patience(1.0), ..rule(N, 0, false) };
    let mut colony = Colony::<u16, K>::new(kind, (N, 6), rule, 1);
    strew(&mut colony, 9);
    let mut followed = HashMap::new();
    let parts = colony.parts();
    let products: Vec<_> = (0..N).map(|node| products(&mut colony, node)).collect();
    for ant in 0..100 {
        let tour = travel::<_, u16, K>(Serial, parts, form, Stream::new(53, 0, ant));
        assert_permutation(&tour);
        for at in 1..tour.len() {
            let (node, open) = (tour[at - 1], &tour[at..]);
            let all = colony.candidates(node).into_iter().zip(products[node as usize].iter().copied());
            let all: HashMap<_, _> = all.filter(|(v, _)| open.contains(v)).collect();
            if let Some(best) = all.values().copied().reduce(f64::max) {
                let product = all.get(&tour[at]).unwrap_or(&0.0);
                assert!(product / best > 1.0 - 1e-6, "{kind:?}, {form:?}: step {at}: {product} of {best}");
            }
        }
        // Nothing is left to chance but where an ant begins.
        let same = followed.entry(tour[0]).or_insert_with(|| tour.clone());
        assert_eq!(difference(&tour, same), None, "{kind:?}, {form:?}, ant {ant}");
    }
    assert!((20..80).contains(&followed.len()), "{} nodes to begin at", followed.len());
}

#[test]
fn an_ant_that_never_explores_takes_the_best_edge_at_every_step() {
    for form in [Form::Steps, Form::Whole] {
        each_kind!(never_explores(form));
    }
}

#[test]
fn ants_in_between_explore_as_often_as_they_are_told() {
    for q0 in [0.3, 0.9] {
        choices_follow_the_rule(OfMatrix, q0);
        choices_follow_the_rule(OfCandidates, q0);
        choices_follow_the_rule(OfRings(3), q0);
    }
}

// The three forms.

#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Steps,
    AtomicSteps,
    Whole,
}

const FORMS: [Form; 3] = [Form::Steps, Form::AtomicSteps, Form::Whole];

/// A tour of the first ant.
fn travel<T: Team, I: NodeId, K: Kind>(
    team: T,
    parts: PartsOf<I, K>,
    form: Form,
    stream: Stream,
) -> Vec<u32> {
    let ((memory, tour), world) = (parts.ant(0), parts.world);
    // SAFETY: the ant has its memory and its tour; a barrier comes before the tour is read.
    unsafe {
        if let Form::Whole = form {
            build(team, world, memory, tour, stream);
        } else {
            for step in 1..world.n {
                choose_step(team, world, memory, tour, stream, step);
                match form {
                    Form::Steps => update_step(team, world, memory, tour, step),
                    _ => K::step_atomically(team, world, memory, tour, step),
                }
            }
        }
        team.barrier();
        (0..world.n).map(|i| tour.get(i).get()).collect()
    }
}

/// Iterations of one ant, with deposits in between; the tours, one after the other.
fn live<T: Team, I: NodeId, K: Kind>(team: T, parts: PartsOf<I, K>, form: Form, iterations: u32) -> Vec<u32> {
    let mut tours = Vec::new();
    parts.prepare(team);
    for iteration in 0..iterations {
        tours.extend(travel::<_, I, K>(team, parts, form, Stream::new(17, iteration, 0)));
        let deposit = HIGHEST / (1 + iteration % 2) as f32;
        // The form makes no difference to this: once as a team will do.
        if form == Form::Steps {
            parts.deposit(team, 0, deposit);
        } else {
            team.barrier();
            team.single(|| parts.deposit(Serial, 0, deposit));
            team.barrier();
        }
    }
    tours
}

/// Tours, as the members of a team see them, the bits of the memory then, and its trails.
struct Life {
    tours: Vec<Vec<u32>>,
    state: Vec<u64>,
    trails: Trails,
}

impl Life {
    /// Every member must have seen the tours of the other one, which was alone.
    #[track_caller]
    fn assert_is(&self, alone: &Life, what: &str) {
        let tours = self.tours.iter().find_map(|tours| difference(tours, &alone.tours[0]));
        assert_eq!(tours, None, "tours, {what}");
        assert_eq!(difference(&self.trails, &alone.trails), None, "trails, {what}");
        assert_eq!(difference(&self.state, &alone.state), None, "bits, {what}");
    }
}

/// Where edges have no direction, tables have one trail for both sides of an edge.
#[track_caller]
fn assert_symmetric(trails: &Trails, what: &str) {
    let all: HashMap<_, _> = trails.iter().copied().collect();
    for (&(i, j), there) in &all {
        let back = all.get(&(j, i));
        assert!(back.is_none_or(|back| back == there), "{there} from {i} to {j}, {back:?} back, {what}");
    }
}

/// [`live`] in a new colony: its tours, as its members see them, the bits of its memory, and its trails.
fn life<I: NodeId + Number, K: Kind>(
    kind: K,
    shape: (u32, u32),
    rule: Rule,
    (form, iterations): (Form, u32),
    team: Option<(u32, Order)>,
) -> Life {
    let mut colony = Colony::<I, K>::new(kind, shape, rule, 1);
    let parts = Shareable::new(colony.parts());
    let tours = match team {
        None => vec![live::<_, I, K>(Serial, parts.get(), form, iterations)],
        Some((size, order)) => run(size, order, |team| live::<_, I, K>(team, parts.get(), form, iterations)),
    };
    Life { tours, state: colony.state(), trails: colony.trails() }
}

/// The trails that these tours leave in a model of the memory.
fn worn<K: Kind>(kind: K, (n, k): (u32, u32), rule: Rule, tours: &[u32]) -> Trails {
    let colony = Colony::<u32, K>::new(kind, (n, k), rule, 1);
    let mut model = kind.model(colony.shape());
    let local = |trail: f32| (1.0 - rule.local) * trail + rule.local * rule.initial;
    for (iteration, tour) in tours.chunks(n as usize).enumerate() {
        assert_permutation(tour);
        let edge = |i: usize| (tour[i], tour[(i + 1) % tour.len()]);
        let is_due = |i: &usize| rule.period > 0 && (i + 1).is_multiple_of(rule.period as usize);
        for (from, to) in (0..tour.len()).filter(is_due).map(edge) {
            model.update(from, to, &local);
            if rule.directed == 0 {
                model.update(to, from, &local);
            }
        }
        let deposit = HIGHEST / (1 + iteration % 2) as f32;
        let global = |trail: f32| (1.0 - rule.global) * trail + rule.global * deposit;
        (0..tour.len()).map(edge).for_each(|(from, to)| model.update(from, to, &global));
        if rule.directed == 0 {
            // Of its two neighbours a node meets the successor first.
            (0..tour.len()).map(edge).for_each(|(from, to)| model.update(to, from, &global));
        }
    }
    edges::<K, u32>(colony.shape()).into_iter().map(|edge| (edge, model.trail(edge.0, edge.1))).collect()
}

/// Sizes and numbers of candidates: the least, all, and numbers around a word of 32.
const SHAPES: [(u32, u32); 7] = [(2, 1), (3, 1), (5, 4), (16, 3), (21, 20), (33, 8), (64, 5)];

fn forms_agree<K: Kind>(kind: K, period: u32, directed: bool) {
    for shape in SHAPES {
        let rule = rule(shape.0, period, directed);
        let first = life::<u16, K>(kind, shape, rule, (Form::Steps, 4), None);
        let what = format!("{kind:?}, {shape:?}, period {period}, directed {directed}");
        let worn = worn(kind, shape, rule, &first.tours[0]);
        assert_eq!(difference(&first.trails, &worn), None, "{what}");
        if !directed && K::Memory::<u16>::LISTED {
            assert_symmetric(&first.trails, &what);
        }
        for form in FORMS {
            if form != Form::AtomicSteps || K::ATOMIC {
                let what = format!("{what}, {form:?}");
                life::<u16, K>(kind, shape, rule, (form, 4), None).assert_is(&first, &what);
                life::<u32, K>(kind, shape, rule, (form, 4), None).assert_is(&first, &format!("{what} wide"));
            }
        }
    }
}

#[test]
fn an_ant_wears_down_the_same_edges_in_every_form() {
    for period in [0, 1, 2, 4, 16] {
        for directed in [false, true] {
            each_kind!(forms_agree(period, directed));
        }
    }
}

/// Ants whose last edge comes from a node that is no candidate of the one it leads to.
fn last_edges_agree<K: Kind>(kind: K, (n, k): (u32, u32)) {
    let rule = rule(n, 1, false);
    let mut lonely = 0;
    for seed in 0..200 {
        let draws = Stream::new(seed, 0, 0).step(0);
        let points: Vec<_> = (0..n).map(|i| [0, 1].map(|way| draws.below(2 * i + way, 40) as f64)).collect();
        let points: Vec<_> = points.into_iter().map(|[x, y]| [x, y, 0.0]).collect();
        let mut first = None;
        for form in FORMS {
            if form == Form::AtomicSteps && !K::ATOMIC {
                continue;
            }
            let places = (points.clone(), vec![]);
            let mut colony = Colony::<u16, K>::among(kind, (n, k), rule, 1, places);
            let parts = colony.parts();
            parts.prepare(Serial);
            // Every edge has a trail of its own, so that no update goes unnoticed.
            for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
                let trail = 0.1 + 0.9 * draws.unit(1000 + i * n + j);
                // SAFETY: nodes of the memory.
                unsafe {
                    parts.world.memory.update(Serial, i, j, |_| trail);
                    parts.world.memory.update(Serial, j, i, |_| trail);
                }
            }
            let tours = vec![travel::<_, u16, K>(Serial, parts, form, Stream::new(seed, 1, 0))];
            let [before, last] = [n - 2, n - 1].map(|at| tours[0][at as usize]);
            let life = Life { tours, state: colony.state(), trails: colony.trails() };
            let what = format!("{kind:?}, {k} candidates, seed {seed}, {form:?}");
            if K::Memory::<u16>::LISTED {
                assert_symmetric(&life.trails, &what);
            }
            match &first {
                Some(first) => life.assert_is(first, &what),
                None => {
                    lonely += u32::from(!colony.candidates(last).contains(&before));
                    first = Some(life);
                }
            }
        }
    }
    assert!(lonely >= 20, "{lonely}");
}

#[test]
fn both_sides_of_an_ants_last_edge_are_worn_down_once() {
    for shape in [(12, 1), (12, 2), (11, 3)] {
        each_kind!(last_edges_agree(shape));
    }
}

fn teams_agree<K: Kind>(kind: K, (size, order): (u32, Order)) {
    for (shape, period, directed) in
        [((2, 1), 1, false), ((3, 2), 2, false), ((19, 4), 1, false), ((19, 3), 1, true), ((35, 9), 4, false)]
    {
        let rule = Rule { remembered: 1, ..rule(shape.0, period, directed) };
        let alone = life::<u16, K>(kind, shape, rule, (Form::Steps, 2), None);
        for form in FORMS {
            if form != Form::AtomicSteps || K::ATOMIC {
                let what = format!("{kind:?}, {shape:?}, period {period}, directed {directed}, {form:?}");
                let team = life::<u16, K>(kind, shape, rule, (form, 2), Some((size, order)));
                team.assert_is(&alone, &format!("{what}, {size} {order:?}"));
            }
        }
    }
}

#[test]
fn three_members_are_one_ant() {
    for order in ORDERS {
        each_kind!(teams_agree((3, order)));
    }
}

#[test]
fn eight_members_are_one_ant() {
    for order in ORDERS {
        each_kind!(teams_agree((8, order)));
    }
}

#[test]
fn thirty_two_members_are_one_ant() {
    for order in [Order::Descending, Order::Together] {
        teams_agree(OfMatrix, (32, order));
        teams_agree(OfCandidates, (32, order));
        teams_agree(OfRings(3), (32, order));
    }
}

#[test]
fn members_see_what_full_rings_have_just_forgotten() {
    let (shape, rule) = ((12, 6), rule(12, 1, false));
    for slots in [2, 4] {
        for form in [Form::Steps, Form::Whole] {
            let alone = life::<u16, _>(OfRings(slots), shape, rule, (form, 12), None);
            for order in ORDERS {
                let team = life::<u16, _>(OfRings(slots), shape, rule, (form, 12), Some((4, order)));
                team.assert_is(&alone, &format!("{slots} slots, {form:?}, {order:?}"));
            }
        }
    }
}

// Many ants.

const ANTS: u32 = 7;

/// The ants in an order of their own for each turn.
fn shuffled(order: u32, turn: u32) -> Vec<u32> {
    let mut ants: Vec<u32> = (0..ANTS).collect();
    if order > 0 {
        ants.sort_by_key(|&ant| Stream::new(91, order, turn).step(0).bits(ant));
    }
    ants
}

/// Tours of all ants, step by step: all choices of a step before all updates, or each before the next choice.
fn iterate<I: NodeId + Number, K: Kind>(
    colony: &mut Colony<I, K>,
    (iteration, order, in_turn): (u32, u32, bool),
) -> Vec<Vec<u32>> {
    let (parts, n) = (colony.parts(), colony.n);
    let world = parts.world;
    for step in 1..n {
        // SAFETY: every ant has its memory and its tour.
        let choose = |ant| unsafe {
            let (memory, tour) = parts.ant(ant);
            choose_step(Serial, world, memory, tour, Stream::new(23, iteration, ant), step)
        };
        // SAFETY: as above.
        let update = |ant| unsafe {
            let (memory, tour) = parts.ant(ant);
            K::step_atomically(Serial, world, memory, tour, step)
        };
        if in_turn {
            shuffled(order, step).into_iter().for_each(|ant| {
                choose(ant);
                update(ant)
            });
        } else {
            shuffled(order, 2 * step).into_iter().for_each(choose);
            shuffled(order, 2 * step + 1).into_iter().for_each(update);
        }
    }
    let tours: Vec<_> = (0..ANTS).map(|ant| colony.tour(ant)).collect();
    tours.iter().for_each(|tour| assert_permutation(tour));
    tours
}

/// Iterations of all ants: their tours and the trails.
fn synchronous<K: Kind>(kind: K, rule: Rule, order: u32, in_turn: bool) -> (Vec<Vec<u32>>, Vec<u64>) {
    let mut colony = Colony::<u16, K>::new(kind, (25, 6), rule, ANTS);
    colony.parts().prepare(Serial);
    let mut tours = Vec::new();
    // Without a deposit before there would be nothing to wear down.
    for iteration in 0..4 {
        tours.extend(iterate(&mut colony, (iteration, order, in_turn)));
        colony.parts().deposit(Serial, iteration, HIGHEST);
    }
    if rule.directed == 0 {
        assert_symmetric(&colony.trails(), &format!("{kind:?}, order {order}"));
    }
    (tours, colony.state())
}

fn order_does_not_matter<K: Kind>(kind: K) {
    for (period, directed) in [(1, false), (1, true), (4, false)] {
        let rule = rule(25, period, directed);
        let first = synchronous(kind, rule, 0, false);
        for order in 1..12 {
            let (tours, state) = synchronous(kind, rule, order, false);
            assert_eq!(difference(&tours, &first.0), None, "tours, {kind:?}, order {order}");
            assert_eq!(difference(&state, &first.1), None, "bits, {kind:?}, order {order}");
        }
    }
}

#[test]
fn steps_of_all_ants_do_not_depend_on_their_order() {
    order_does_not_matter(OfMatrix);
    order_does_not_matter(OfCandidates);
    // It does where ants go one after another: the test could fail.
    let rule = rule(25, 1, false);
    let in_turn = |order| synchronous(OfMatrix, rule, order, true);
    assert!((1..12).any(|order| in_turn(order) != in_turn(0)));
}

fn threads_take_steps_together<K: Kind>(kind: K) {
    let rule = rule(9, 1, false);
    let colony = || Colony::<u16, K>::new(kind, (9, 8), rule, ANTS);
    for iteration in 0..20 {
        let (mut alone, mut many) = (colony(), colony());
        strew(&mut alone, iteration.into());
        let tours = iterate(&mut alone, (iteration, 0, false));
        strew(&mut many, iteration.into());
        let (parts, barrier) = (Shareable::new(many.parts()), Barrier::new(ANTS as usize));
        std::thread::scope(|scope| {
            for ant in 0..ANTS {
                let (parts, barrier) = (&parts, &barrier);
                scope.spawn(move || {
                    let (world, (memory, tour)) = (parts.get().world, parts.get().ant(ant));
                    for step in 1..world.n {
                        // SAFETY: every ant has its memory and its tour, and barriers part choices from updates.
                        unsafe {
                            choose_step(Serial, world, memory, tour, Stream::new(23, iteration, ant), step);
                            barrier.wait();
                            K::step_atomically(Serial, world, memory, tour, step);
                            barrier.wait();
                        }
                    }
                });
            }
        });
        (0..ANTS).for_each(|ant| assert_eq!(many.tour(ant), tours[ant as usize], "{kind:?}, ant {ant}"));
        assert_eq!(difference(&many.state(), &alone.state()), None, "{kind:?}");
    }
}

#[test]
fn threads_that_step_together_lose_nothing() {
    threads_take_steps_together(OfMatrix);
    threads_take_steps_together(OfCandidates);
}

fn meeting_ants_leave_trails_in_bounds<K: Kind>(kind: K, directed: bool) {
    const WAVES: u32 = 4;
    const TOURS: u32 = 50;
    for (n, k) in [(4, 2), (40, 7)] {
        let rule = rule(n, 1, directed);
        let mut colony = Colony::<u16, K>::new(kind, (n, k), rule, 3);
        colony.parts().prepare(Serial);
        for wave in 0..WAVES {
            let parts = Shareable::new(colony.parts());
            std::thread::scope(|scope| {
                for ant in 0..3 {
                    let parts = &parts;
                    scope.spawn(move || {
                        let (world, (memory, tour)) = (parts.get().world, parts.get().ant(ant));
                        for i in 0..TOURS {
                            let stream = Stream::new(31, wave * TOURS + i, ant);
                            // SAFETY: every ant has its memory and its tour, and trails are for all.
                            unsafe {
                                build(Serial, world, memory, tour, stream);
                                assert_permutation(&(0..n).map(|i| tour.get(i).get()).collect::<Vec<_>>());
                            }
                        }
                    });
                }
            });
            // Rounding may take a trail a little below the initial one.
            let lowest = rule.initial * (1.0 - 1e-6);
            for ((i, j), trail) in colony.trails() {
                assert!((lowest..=HIGHEST).contains(&trail), "{kind:?}: {trail} from {i} to {j}");
            }
            let (slots, stride) = (colony.arrays.slots, colony.arrays.edges.len() as u32 / n);
            for (place, &edge) in (0..).zip(colony.arrays.edges.iter()) {
                let (v, trail) = (edge as u32, f32::from_bits((edge >> 32) as u32));
                let (is_slot, none) = (place % stride < slots, v == NONE && trail == rule.initial);
                assert!(is_slot && v < n && (lowest..=HIGHEST).contains(&trail) || none);
            }
            assert!(colony.arrays.tails.iter().all(|&tail| tail & !IS_FAR < slots));
            for ant in 0..3 {
                colony.parts().deposit(Serial, ant, HIGHEST / (1 + wave % 2) as f32);
            }
        }
        // The last deposit raised some trail by more than rounding does.
        assert!(colony.trails().iter().any(|trail| trail.1 > 1.1 * rule.initial), "{kind:?}");
    }
}

#[test]
fn ants_that_meet_build_tours_and_leave_trails_in_bounds() {
    for directed in [false, true] {
        each_kind!(meeting_ants_leave_trails_in_bounds(directed));
    }
}

// Without open candidate.

/// How an ant went on, counted.
#[derive(Debug, Default, PartialEq)]
struct Ways {
    by_candidate: u32,
    /// To a node that is not the nearest.
    far: u32,
    nearest: u32,
}

/// Tours among few candidates; where none is open, an ant must go where `expected` says, given the product of trail
/// and heuristic value of an edge, the nearest node, the node and the unvisited ones.
fn goes_on<K: Kind>(
    kind: K,
    directed: bool,
    expected: impl Fn(&Colony<u16, K>, &dyn Fn(u32) -> f32, u32, (u32, &[u32])) -> u32,
) -> Ways {
    let (n, k) = (24, 2);
    let mut ways = Ways::default();
    let mut colony = Colony::<u16, K>::new(kind, (n, k), rule(n, 0, directed), 1);
    let parts = colony.parts();
    parts.prepare(Serial);
    // Some nodes are to be followed; the others lead to themselves.
    let next = |v: u32, by: u32| if v.is_multiple_of(3) { v } else { (v + by) % n };
    for v in 0..n {
        // SAFETY: nodes of the colony.
        unsafe {
            parts.links[0].set(v, next(v, 5));
            parts.links[1].set(v, next(v, n - 5));
            // Trails over several decades, on more edges than rings remember, and from some nodes none.
            for i in 0..[8, 8, 16, 0][v as usize % 4] {
                let draws = Stream::new(41, v, i).step(0);
                let to = (v + 1 + draws.below(0, n - 1)) % n;
                let trail = parts.world.rule.initial * 10f32.powf(4.0 * draws.unit(1));
                parts.world.memory.update(Serial, v, to, |_| trail);
                if !colony.candidates(v).contains(&to) {
                    parts.world.memory.remember(Serial, v, to);
                }
            }
        }
    }
    let (shape, distance, memory) = (colony.shape(), colony.distance(), parts.world.memory);
    for ant in 0..600 {
        let stream = Stream::new(43, 0, ant);
        let tour = if ant % 50 == 0 {
            let parts = Shareable::new(parts);
            let order = ORDERS[ant as usize / 50 % 4];
            run(5, order, |team| {
                let ((memory, tour), world) = (parts.get().ant(0), parts.get().world);
                // SAFETY: the ant has its memory and its tour.
                (1..n).for_each(|step| unsafe { choose_step(team, world, memory, tour, stream, step) });
            });
            colony.tour(0)
        } else {
            one_tour(&mut colony, stream)
        };
        assert_permutation(&tour);
        for at in 1..n as usize {
            let (node, open) = (tour[at - 1], &tour[at..]);
            if colony.candidates(node).iter().any(|v| open.contains(v)) {
                assert!(colony.candidates(node).contains(&tour[at]), "not a candidate");
                ways.by_candidate += 1;
                continue;
            }
            // SAFETY: nodes of the colony.
            let closeness = |v| heuristic(unsafe { distance.between(node, v) }, (10.0, 2.0));
            let product = |v| closeness(v) * trail::<K, u16>(memory, shape, (node, v));
            let nearest = *open.iter().min_by_key(|&&v| (remoteness(distance, node, v), v)).unwrap();
            let next = expected(&colony, &product, nearest, (node, open));
            assert_eq!(tour[at], next, "{kind:?}: from {node}, nearest {nearest}");
            *(if next == nearest { &mut ways.nearest } else { &mut ways.far }) += 1;
        }
    }
    assert!(ways.by_candidate > 100 && ways.far > 40 && ways.nearest > 100, "{kind:?}: {ways:?}");
    ways
}

/// The largest product; among equal ones the smallest number.
fn best(nodes: &[u32], product: &dyn Fn(u32) -> f32) -> u32 {
    let better = |a: &&u32, b: &&u32| product(**a).total_cmp(&product(**b)).then(b.cmp(a));
    *nodes.iter().max_by(better).unwrap()
}

#[test]
fn with_all_trails_an_ant_takes_the_best_of_all_nodes() {
    for directed in [false, true] {
        let (few, many) = (Cell::new(0), Cell::new(0));
        goes_on(OfMatrix, directed, |colony, product, nearest, (node, open)| {
            let (mut known, count) = colony.arrays.far(node);
            let visits = if count < FAR { &few } else { &many };
            visits.set(visits.get() + 1);
            if count < FAR {
                known.push(nearest);
                known.retain(|v| open.contains(v));
            } else {
                known = open.to_vec();
            }
            let next = best(&known, product);
            // No other is better; as good is one as far away by the rounded distance.
            assert_eq!(product(next), product(best(open, product)), "{known:?} of {open:?}");
            next
        });
        assert!(few.get() > 40 && many.get() > 40, "{few:?}, {many:?}");
    }
}

/// Colonies that differ only in this: one has each row think that there are too many far nodes to remember.
fn remembering_changes_no_choice(directed: bool, local: f32, team: Option<(u32, Order)>) {
    let (n, k) = (60, 3);
    let rule = Rule { local, ..rule(n, 1, directed) };
    // No two edges are equally long.
    let draws = Stream::new(67, 0, 0).step(0);
    let points: Vec<_> = (0..n).map(|i| [0, 1].map(|way| (draws.bits(2 * i + way) >> 8) as f64)).collect();
    let points: Vec<_> = points.into_iter().map(|[x, y]| [x, y, 0.0]).collect();
    let matrix =
        if directed { (0..n * n).map(|i| (draws.bits(1000 + i) >> 2) as i32).collect() } else { vec![] };
    let colony =
        || Colony::<u16, OfMatrix>::among(OfMatrix, (n, k), rule, 1, (points.clone(), matrix.clone()));
    let (mut few, mut all) = (colony(), colony());
    few.parts().prepare(Serial);
    all.parts().prepare(Serial);
    for node in 0..n {
        let others = (0..n).filter(|&v| v != node && !all.candidates(node).contains(&v));
        let others: Vec<_> = others.take(FAR as usize).collect();
        let memory = all.parts().world.memory;
        // SAFETY: nodes of the memory.
        others.into_iter().for_each(|v| unsafe { memory.remember(Serial, node, v) });
    }
    let (mut nearest, mut far) = (0, 0);
    for iteration in 0..if team.is_some() { 8 } else { 40 } {
        let mut tours = [vec![], vec![]];
        for (colony, tour) in [&mut few, &mut all].into_iter().zip(&mut tours) {
            let stream = Stream::new(71, iteration, 0);
            *tour = match team {
                None => one_tour(colony, stream),
                Some((size, order)) => {
                    let parts = Shareable::new(colony.parts());
                    run(size, order, |team| {
                        let (memory, tour) = parts.get().ant(0);
                        // SAFETY: the ant has its memory and its tour.
                        unsafe { build(team, parts.get().world, memory, tour, stream) }
                    });
                    colony.tour(0)
                }
            };
        }
        assert_eq!(difference(&tours[0], &tours[1]), None, "iteration {iteration}, {team:?}");
        assert_eq!(difference(&few.trails(), &all.trails()), None, "iteration {iteration}, {team:?}");
        for at in 1..n as usize {
            let (node, next, open) = (tours[0][at - 1], tours[0][at], &tours[0][at..]);
            let (known, count) = few.arrays.far(node);
            if count < FAR && !few.candidates(node).iter().any(|v| open.contains(v)) {
                *(if known.contains(&next) { &mut far } else { &mut nearest }) += 1;
            }
        }
        // The best tour is a new one only now and then.
        if iteration % 4 == 0 {
            for colony in [&mut few, &mut all] {
                colony.parts().deposit(Serial, 0, HIGHEST * 100.0);
            }
        } else {
            // The links stay, and so do the edges that gain.
            for colony in [&mut few, &mut all] {
                let parts = colony.parts();
                for node in 0..n {
                    // SAFETY: nodes of the colony.
                    unsafe {
                        let links = (parts.links[0].get(node), parts.links[1].get(node));
                        let lists = (parts.world.lists.nodes, k);
                        deposit_row(Serial, rule, lists, parts.world.memory, node, links, HIGHEST * 100.0);
                    }
                }
            }
        }
    }
    let is_full = |colony: &Colony<u16, OfMatrix>, node| colony.arrays.far(node).1 == FAR;
    assert!((0..n).all(|node| is_full(&all, node)) && (0..n).any(|node| !is_full(&few, node)));
    assert!(nearest > 10 && (far > 10 || team.is_some()), "{nearest} to the nearest, {far} far");
}

#[test]
fn an_ant_that_looks_at_remembered_nodes_goes_where_one_that_looks_at_all_does() {
    for directed in [false, true] {
        for local in [0.5, 0.1] {
            remembering_changes_no_choice(directed, local, None);
        }
        for order in ORDERS {
            remembering_changes_no_choice(directed, 0.5, Some((3, order)));
        }
    }
}

#[test]
fn with_few_trails_an_ant_takes_the_best_edge_it_remembers_or_goes_to_the_nearest_node() {
    for slots in [1, 3, 6, 9] {
        for directed in [false, true] {
            goes_on(OfRings(slots), directed, |colony, product, nearest, (node, open)| {
                let mut known: Vec<u32> = colony.arrays.ring(node).iter().map(|&edge| edge as u32).collect();
                known.push(nearest);
                known.retain(|v| open.contains(v));
                best(&known, product)
            });
        }
    }
}

#[test]
fn with_trails_of_candidates_an_ant_follows_the_best_tour_or_goes_to_the_nearest_node() {
    for directed in [false, true] {
        goes_on(OfCandidates, directed, |colony, _, nearest, (node, open)| {
            let links = if directed { [0, 0] } else { [0, 1] };
            let followed = links.map(|way| colony.links[way][node as usize]);
            *followed.iter().find(|v| open.contains(v)).unwrap_or(&nearest)
        });
    }
}

fn a_strong_trail_leads_far<K: Kind>(kind: K, leads: bool) {
    // Node 0 is in the middle of a row; everybody's only candidate is a neighbour.
    let x = [0, 1, -1, 3, -4, 8, -9, 50];
    let points: Vec<_> = x.iter().map(|&x| [f64::from(x), 0.0, 0.0]).collect();
    for strength in [0.1, 2.0] {
        let mut colony =
            Colony::<u32, K>::among(kind, (8, 1), rule(8, 0, false), 1, (points.clone(), vec![]));
        let parts = colony.parts();
        parts.prepare(Serial);
        assert_eq!(colony.candidates(1), [0]);
        // From node 1 the products of trail and closeness to nodes 2 and 7 are as 1 and `strength`.
        let initial = colony.rule.initial;
        // SAFETY: nodes of the memory.
        unsafe {
            parts.world.memory.update(Serial, 1, 7, |_| strength * initial * (49.0f32 / 2.0).powi(2));
            parts.world.memory.remember(Serial, 1, 7);
        }
        let mut seen = 0;
        for ant in 0..200 {
            let tour = one_tour(&mut colony, Stream::new(47, 0, ant));
            if tour[0] == 0 && tour[1] == 1 {
                let far = leads && strength > 1.0;
                assert_eq!(tour[2], if far { 7 } else { 2 }, "{kind:?}, strength {strength}");
                seen += 1;
            }
        }
        assert!(seen > 10);
    }
}

#[test]
fn a_trail_may_outweigh_a_distance() {
    a_strong_trail_leads_far(OfMatrix, true);
    a_strong_trail_leads_far(OfRings(1), true);
    a_strong_trail_leads_far(OfRings(32), true);
    a_strong_trail_leads_far(OfCandidates, false);
}

/// Tours of many ants of a few members each that begin at node 1, whose only candidate is node 0; a best tour went from
/// there to node 7, far away, so that the product there is `strength` times that of the candidate.
fn seconds(remembered: u32, strength: f32, q0: f64) -> Vec<u32> {
    let x = [0, 1, -1, 3, -4, 8, -9, 50];
    let points: Vec<_> = x.iter().map(|&x| [f64::from(x), 0.0, 0.0]).collect();
    let rule = Rule { remembered, patience: Rule::patience(q0), ..rule(8, 0, false) };
    let mut colony = Colony::<u32, OfRings>::among(OfRings(3), (8, 1), rule, 1, (points, vec![]));
    let parts = colony.parts();
    parts.prepare(Serial);
    assert_eq!(colony.candidates(1), [0]);
    // SAFETY: nodes of the memory.
    unsafe {
        parts.world.memory.deposit(Serial, 1, 7, |lowest| strength * lowest * 49.0f32.powi(2));
        parts.world.memory.remember(Serial, 1, 7);
    }
    let mut seconds = Vec::new();
    for ant in 0..120 {
        let stream = Stream::new(59, 0, ant);
        let parts = Shareable::new(parts);
        run(1 + ant % 5, ORDERS[ant as usize % 4], |team| {
            let ((memory, tour), world) = (parts.get().ant(0), parts.get().world);
            // SAFETY: the ant has its memory and its tour.
            unsafe { build(team, world, memory, tour, stream) }
        });
        let tour = colony.tour(0);
        assert_permutation(&tour);
        if tour[0] == 1 {
            seconds.push(tour[1]);
        }
    }
    assert!(seconds.len() > 5);
    seconds
}

#[test]
fn a_greedy_ant_may_take_a_remembered_edge_although_candidates_are_open() {
    let all = |next: u32, seconds: Vec<u32>| seconds.iter().all(|&v| v == next);
    assert!(all(7, seconds(1, 2.0, 1.0)));
    // A nearer one is better, only candidates count, and an ant that explores looks at these alone.
    assert!(all(0, seconds(1, 0.5, 1.0)));
    assert!(all(0, seconds(0, 2.0, 1.0)));
    assert!(all(0, seconds(1, 2.0, 0.0)));
}
