//! Jumps against searches through the parents, and against the paper's own form of them.

use crate::common::memory::{Array, Number};
use crate::common::teams::{ORDERS, Shareable, run};
use crate::papers::genetic::world::{Dice, Table, ids, seek};
use antwarp_core::node::NodeId;
use antwarp_core::papers::genetic::{Jumps, memory_bytes};
use proptest::prelude::*;

/// All nodes are visited in a random order. What lies behind an open node, and behind the one visited last, is what a
/// search finds; the others keep what they had.
fn check_against_search<I: NodeId + Number>(n: u32, seed: u64) {
    let mut dice = Dice::new(seed);
    let parents = [dice.shuffled(n), dice.shuffled(n)];
    let mut table = Table::<I>::new([&parents[0], &parents[1]]);
    let jumps = table.jumps();
    let mut open = vec![true; n as usize];
    let visits = dice.shuffled(n);
    for (stage, &visit) in visits.iter().enumerate() {
        let last = stage.checked_sub(1).map(|stage| visits[stage]);
        for node in 0..n {
            // SAFETY: the jumps are filled for n nodes.
            let (four, is_open) = unsafe { (jumps.of(node), jumps.is_open(node)) };
            assert_eq!(is_open, open[node as usize], "node {node} of {n} at stage {stage} of seed {seed}");
            if is_open || last == Some(node) {
                let around = |tour| [true, false].map(|f| seek(tour, node, f, |v| open[v as usize]));
                let expected = [around(&parents[0]), around(&parents[1])].concat();
                assert_eq!(four[..], expected, "node {node} of {n} at stage {stage} of seed {seed}");
            }
        }
        // SAFETY: as above, and the node is open.
        unsafe { jumps.visit(jumps.of(visit)) };
        open[visit as usize] = false;
    }
}

/// The paper's jump indices of a parent, by position: how far forwards, how far backwards (section 2.3).
struct Indices {
    tour: Vec<u32>,
    f: Vec<usize>,
    b: Vec<usize>,
}

impl Indices {
    fn new(tour: Vec<u32>) -> Self {
        Indices { f: vec![1; tour.len()], b: vec![1; tour.len()], tour }
    }

    fn place(&self, node: u32) -> usize {
        self.tour.iter().position(|&v| v == node).unwrap()
    }

    /// Equation (1).
    fn visit(&mut self, node: u32) {
        let (n, i) = (self.tour.len(), self.place(node));
        let (f, b) = (self.f[i], self.b[i]);
        self.f[(i + n * b - b) % n] += f;
        self.b[(i + f) % n] += b;
    }

    /// The nodes where the jumps from a node end.
    fn ends(&self, node: u32) -> [u32; 2] {
        let (n, i) = (self.tour.len(), self.place(node));
        [self.tour[(i + self.f[i]) % n], self.tour[(i + n * self.b[i] - self.b[i]) % n]]
    }
}

/// The jumps of every node, visited ones too, are the paper's at each step.
fn check_against_equation<I: NodeId + Number>(n: u32, seed: u64) {
    let mut dice = Dice::new(seed);
    let parents = [dice.shuffled(n), dice.shuffled(n)];
    let mut table = Table::<I>::new([&parents[0], &parents[1]]);
    let jumps = table.jumps();
    let mut indices = parents.map(Indices::new);
    for (stage, visit) in dice.shuffled(n).into_iter().enumerate() {
        for node in 0..n {
            // SAFETY: the jumps are filled for n nodes.
            let four = unsafe { jumps.of(node) };
            let expected = indices.each_ref().map(|of| of.ends(node)).concat();
            assert_eq!(four[..], expected, "node {node} of {n} at stage {stage} of seed {seed}");
        }
        // SAFETY: as above, and the node is open.
        unsafe { jumps.visit(jumps.of(visit)) };
        indices.iter_mut().for_each(|of| of.visit(visit));
    }
}

proptest! {
    #![proptest_config(crate::common::cases(150))]

    #[test]
    fn jumps_end_where_a_search_does(n in 2u32..60, seed: u64) {
        check_against_search::<u16>(n, seed);
        check_against_search::<u32>(n, seed);
    }

    #[test]
    fn jumps_are_those_of_the_papers_equation(n in 2u32..60, seed: u64) {
        check_against_equation::<u16>(n, seed);
        check_against_equation::<u32>(n, seed);
    }
}

#[test]
fn the_papers_first_indices_are_those_after_the_first_visit() {
    // Table 1: the first city is visited; only the jumps over it are of 2.
    let n = 8;
    let mut indices = Indices::new((0..n).collect());
    indices.visit(0);
    assert_eq!(
        (&indices.f[..], &indices.b[..]),
        (&[1, 1, 1, 1, 1, 1, 1, 2][..], &[1, 2, 1, 1, 1, 1, 1, 1][..])
    );
}

/// The jumps from a city, with cities numbered from 1 as in the paper.
fn after(parents: [&[u32]; 2], visits: &[u32]) -> [u32; 4] {
    let parents = parents.map(|tour| tour.iter().map(|city| city - 1).collect::<Vec<_>>());
    let mut table = Table::<u16>::new([&parents[0], &parents[1]]);
    let jumps = table.jumps();
    let mut four = [0; 4];
    for city in visits {
        // SAFETY: the cities are in the tours, and open.
        unsafe {
            four = jumps.of(city - 1);
            jumps.visit(four);
        }
    }
    four.map(|node| node + 1)
}

#[test]
fn the_papers_partial_chromosomes_have_the_papers_candidates() {
    // Section 2.2: the child is (1, 5). City 3 is the next unvisited one after 5 in one parent, city 2 the one before;
    // 2 and 6 in the other.
    let four = after([&[4, 2, 1, 5, 3, 6], &[6, 5, 1, 2, 4, 3]], &[1, 5]);
    assert_eq!(four, [3, 2, 2, 6]);
    // The parent ends with 5, and "our method jumps to the first character so that city 3 will be selected".
    let four = after([&[1, 3, 7, 6, 2, 4, 5], &[1, 5, 7, 2, 6, 3, 4]], &[1, 5]);
    assert_eq!(four, [3, 4, 7, 4]);
}

#[test]
fn teams_fill_in_the_same_jumps() {
    for n in [2, 3, 7, 40] {
        let mut dice = Dice::new(n.into());
        let parents = [dice.shuffled(n), dice.shuffled(n)];
        let mut table = Table::<u16>::new([&parents[0], &parents[1]]);
        let jumps = table.jumps();
        // SAFETY: the jumps are filled for n nodes.
        let expected: Vec<_> = (0..n).map(|node| unsafe { jumps.of(node) }).collect();
        for order in ORDERS {
            for size in [1, 2, 5] {
                let mut memory = Array::<u8>::rubbish(memory_bytes::<u16>(n));
                let mut tours = [&parents[0], &parents[1]].map(|tour| ids::<u16>(tour));
                let tours = tours.each_mut().map(|tour| tour.start().cast_const());
                let shared = Shareable::new((memory.start(), tours));
                let same = run(size, order, |member| {
                    let (memory, tours) = shared.get();
                    // SAFETY: the memory has the size asked for; after the fill nobody writes.
                    unsafe {
                        let jumps = Jumps::<u16>::new(memory, n);
                        jumps.fill(member, n, tours);
                        (0..n).all(|node| jumps.of(node) == expected[node as usize])
                    }
                });
                assert!(same.into_iter().all(|same| same), "{n} nodes on {size} threads, {order:?}");
            }
        }
    }
}
