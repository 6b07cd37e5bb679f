//! Trails and weights against values worked out by hand, and the memories' forms against each other.

use crate::common::memory::Array;
use crate::common::teams::Alone;
use antwarp_core::distance::{Distances, Exceptions};
use antwarp_core::papers::ants::colony::Limits;
use antwarp_core::papers::ants::construct::row_stride;
use antwarp_core::papers::ants::pheromone::{Candidate, Form, Matrix, Tables, prepare_row, update_row};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Team};

/// A memory of one form over a matrix of distances.
struct Memory<F> {
    form: F,
    n: u32,
    distances: Vec<i32>,
    trails: Array<f32>,
    heuristic: Array<f32>,
    weights: Array<f32>,
}

impl<F: Form> Memory<F> {
    fn new(form: F, n: u32, distances: &[i32]) -> Self {
        let table = || Array::rubbish((n * form.stride()) as usize);
        let (trails, heuristic, weights) = (table(), table(), table());
        Memory { form, n, distances: distances.to_vec(), trails, heuristic, weights }
    }

    fn tables(&mut self) -> Tables {
        Tables {
            trails: self.trails.slots(),
            heuristic: self.heuristic.slots(),
            weights: self.weights.slots(),
        }
    }

    fn prepare<T: Team>(&mut self, team: T, (scale, beta): (f32, f32), (trail, alpha): (f32, f32)) {
        let (matrix, points) = (self.distances.as_ptr(), std::ptr::null());
        let distance = Distances { matrix, points, metric: None, n: self.n, exceptions: Exceptions::NONE };
        let (form, tables) = (self.form, self.tables());
        for node in 0..self.n {
            // SAFETY: the tables have n rows, the matrix covers n nodes.
            unsafe { prepare_row(team, form, tables, node, distance, (scale, beta), (trail, alpha)) }
        }
    }

    fn update<T: Team>(&mut self, team: T, tour: &[u32], limits: Limits, (persistence, alpha): (f32, f32)) {
        let (form, tables, n) = (self.form, self.tables(), tour.len());
        for (i, &node) in tour.iter().enumerate() {
            let links = (tour[(i + 1) % n], tour[(i + n - 1) % n]);
            // SAFETY: the tables have n rows.
            unsafe { update_row(team, form, tables, node, links, limits, (persistence, alpha)) }
        }
    }
}

fn matrix(n: u32, distances: &[i32]) -> Memory<Matrix> {
    Memory::new(Matrix { n }, n, distances)
}

/// Nodes 0 and 3 are at one place.
#[rustfmt::skip]
const FOUR: [i32; 16] = [
     0,  5, 10,  0,
     5,  0,  4, 20,
    10,  4,  0,  8,
     0, 20,  8,  0,
];

#[track_caller]
fn assert_near(got: &[f32], expected: &[f64]) {
    assert_eq!(got.len(), expected.len());
    for (g, e) in got.iter().zip(expected) {
        assert!((*g as f64 - e).abs() <= 1e-6 * e.abs(), "{got:?} instead of {expected:?}");
    }
}

#[test]
fn prepared_weights_are_trail_by_closeness() {
    let mut memory = matrix(4, &FOUR);
    let root = 0.5f64.powf(1.5);
    for (alpha, factor) in [(1.0, 0.5), (2.0, 0.25), (3.0, 0.125), (1.5, root), (0.0, 1.0)] {
        memory.prepare(Serial, (10.0, 2.0), (0.5, alpha));
        // (10 / d)^2; a distance of 0 counts as 0.1.
        let row = |h: [f64; 4]| [h[0], h[1], h[2], h[3], 0.0, 0.0, 0.0, 0.0];
        let rows = [
            row([0.0, 4.0, 1.0, 1e4]),
            row([4.0, 0.0, 6.25, 0.25]),
            row([1.0, 6.25, 0.0, 1.5625]),
            row([1e4, 0.25, 1.5625, 0.0]),
        ];
        let heuristic = rows.concat();
        assert_near(&memory.heuristic, &heuristic);
        assert_near(&memory.weights, &heuristic.iter().map(|h| h * factor).collect::<Vec<_>>());
        assert!(memory.trails.iter().all(|&t| t == 0.5));
    }
    memory.prepare(Serial, (10.0, 1.0), (1.0, 1.0));
    assert_near(&memory.weights[..8], &[0.0, 2.0, 1.0, 100.0, 0.0, 0.0, 0.0, 0.0]);
}

/// The tour 0-1-2-3: in row 0 nodes 1 and 3 receive a deposit, node 2 does not.
const ROUND: [u32; 4] = [0, 1, 2, 3];

#[test]
fn an_update_evaporates_deposits_and_keeps_the_limits() {
    let limits = Limits { lowest: 0.1, highest: 1.0, deposit: 0.3 };
    // (trail before, trail with deposit, trail without)
    for (before, with, without) in [
        (0.5, 0.75, 0.45), // 0.9 * 0.5 + 0.3
        (0.1, 0.4, 0.1),   // 0.09 is raised to the lower limit before the deposit comes
        (0.02, 0.4, 0.1),  // the limits have risen
        (0.9, 1.0, 0.81),  // 1.11 is cut
        (2.0, 1.0, 1.0),   // the limits have sunk
    ] {
        for (alpha, power) in [(1.0, 1.0), (2.0, 2.0), (1.5, 1.5)] {
            let mut memory = matrix(4, &FOUR);
            memory.prepare(Serial, (10.0, 2.0), (before, alpha));
            memory.update(Serial, &ROUND, limits, (0.9, alpha));
            let (w, wo) = (f64::powf(with, power), f64::powf(without, power));
            assert_near(&memory.trails[1..4], &[with, without, with]);
            assert_near(&memory.weights[..8], &[0.0, 4.0 * w, wo, 1e4 * w, 0.0, 0.0, 0.0, 0.0]);
            assert_near(&memory.weights[8..16], &[4.0 * w, 0.0, 6.25 * w, 0.25 * wo, 0.0, 0.0, 0.0, 0.0]);
        }
    }
}

#[test]
fn both_ways_along_an_edge_stay_alike() {
    let mut memory = matrix(4, &FOUR);
    let limits = Limits { lowest: 0.01, highest: 5.0, deposit: 0.7 };
    memory.prepare(Serial, (3.0, 2.0), (1.0, 1.0));
    for tour in [[0, 1, 2, 3], [0, 2, 1, 3], [1, 0, 2, 3]] {
        memory.update(Serial, &tour, limits, (0.8, 1.0));
    }
    for i in 0..4 {
        for j in 0..4 {
            assert_eq!(memory.weights[i * 8 + j], memory.weights[j * 8 + i]);
        }
    }
}

#[test]
fn an_edge_always_weighs_something_and_the_rest_nothing() {
    let far = [0, i32::MAX, i32::MAX, 0];
    let mut memory = matrix(2, &far);
    memory.prepare(Serial, (1e-3, 20.0), (1.0, 1.0));
    assert_eq!(memory.weights[..3], [0.0, 1e-27, 0.0]);
    let limits = Limits { lowest: 1e-30, highest: 1e-30, deposit: 0.0 };
    for alpha in [1.0, 2.0, 3.0, 1.5] {
        for _ in 0..3 {
            memory.update(Serial, &[0, 1], limits, (0.5, alpha));
        }
        let weighs = |i: usize| i == 1 || i == 8;
        for (i, &w) in memory.weights.iter().enumerate() {
            assert!(if weighs(i) { w >= 0.99e-27 } else { w == 0.0 }, "{i}: {w}");
        }
    }
}

/// A pseudorandom order of n nodes.
fn shuffled(n: u32, seed: u64) -> Vec<u32> {
    let draws = Stream::new(seed, 0, 0).step(0);
    let mut order: Vec<u32> = (0..n).collect();
    order.sort_by_key(|&v| draws.bits(v));
    order
}

#[test]
fn forms_agree_on_the_edges_they_share() {
    let (n, k) = (30u32, 7u32);
    let places: Vec<i32> = (0..n as i32).map(|i| (i * i * 7) % 101).collect();
    let mut distances = Vec::new();
    let mut lists: Vec<u16> = Vec::new();
    for i in 0..n {
        distances.extend(places.iter().map(|p| (p - places[i as usize]).abs()));
        lists
            .extend(shuffled(n, i as u64).into_iter().filter(|&j| j != i).take(k as usize).map(|v| v as u16));
    }
    let mut full = matrix(n, &distances);
    let mut short = Memory::new(Candidate { lists: lists.as_ptr(), k }, n, &distances);
    full.prepare(Serial, (20.0, 2.5), (2.0, 1.5));
    short.prepare(Serial, (20.0, 2.5), (2.0, 1.5));
    for round in 0..6 {
        for (at, &v) in lists.iter().enumerate() {
            let entry = at / k as usize * row_stride(n) as usize + v as usize;
            assert_eq!(short.trails[at], full.trails[entry]);
            assert_eq!(
                short.weights[at].to_bits(),
                full.weights[entry].to_bits(),
                "round {round}, entry {at}"
            );
        }
        let limits = Limits { lowest: 0.3, highest: 2.5 - 0.1 * round as f32, deposit: 0.8 };
        let tour = shuffled(n, 1000 + round);
        full.update(Serial, &tour, limits, (0.7, 1.5));
        short.update(Serial, &tour, limits, (0.7, 1.5));
    }
}

#[test]
fn members_share_a_row() {
    let limits = Limits { lowest: 0.1, highest: 1.0, deposit: 0.3 };
    let (mut alone, mut team) = (matrix(4, &FOUR), matrix(4, &FOUR));
    alone.prepare(Serial, (10.0, 2.0), (0.5, 1.0));
    alone.update(Serial, &ROUND, limits, (0.9, 1.0));
    (0..3).for_each(|rank| team.prepare(Alone { rank, size: 3 }, (10.0, 2.0), (0.5, 1.0)));
    (0..3).for_each(|rank| team.update(Alone { rank, size: 3 }, &ROUND, limits, (0.9, 1.0)));
    assert_eq!(alone.trails[..], team.trails[..]);
    assert_eq!(alone.weights[..], team.weights[..]);
}

#[test]
fn forms_know_where_their_entries_lead() {
    let lists = [4u32, 2, 9, 1];
    let (candidate, matrix) = (Candidate { lists: lists.as_ptr(), k: 2 }, Matrix { n: 8 });
    assert_eq!((candidate.stride(), matrix.stride()), (2, 16));
    // SAFETY: nodes and entries of the forms.
    unsafe {
        assert_eq!((candidate.target(0, 1), candidate.target(1, 0)), (Some(2), Some(9)));
        assert_eq!((matrix.target(3, 7), matrix.target(3, 3)), (Some(7), None));
        assert_eq!((matrix.target(3, 8), matrix.target(3, 15)), (None, None));
    }
}
