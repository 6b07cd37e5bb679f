//! Costs of neighbours are those of full evaluations, also after many moves.

use crate::papers::search::instances::{Assignment, Graph, NestedSigns, Numbers, Rough, Signs, Tours, same};
use crate::papers::search::world::{Dice, Naive, Place, World};
use antwarp_core::geometry::{Grid, Numbered};
use antwarp_core::papers::problem::{NestedTour, RotatedTour, SwappedTour};
use antwarp_core::papers::search::{Alone, Contender, Cost, Crew};
use antwarp_core::rng::Stream;
use antwarp_core::team::Serial;
use proptest::prelude::*;
use std::cell::Cell;

/// Every neighbour's cost, asked for by number and in a scan.
fn check_neighbors<N: Naive>(
    world: &World<N>,
    place: &mut Place<N>,
    cost: <N::P as antwarp_core::papers::problem::Problem>::Cost,
) {
    let (solution, stream) = (place.solution(), place.stream);
    assert!(world.naive.agrees(cost, world.naive.cost(&solution)), "{cost:?} of {solution:?}");
    let neighbors = world.naive.neighbors(&solution, stream);
    assert_eq!(world.len(), neighbors.len() as u64);
    // A scan takes neighbours in the order that suits the problem.
    let mut scanned = place.scan(cost);
    scanned.sort_by_key(|(index, _)| *index);
    assert!(scanned.iter().map(|(index, _)| *index).eq(0..world.len()));
    for (neighbor, (index, there)) in neighbors.iter().zip(scanned) {
        let full = world.naive.cost(neighbor);
        assert!(world.naive.agrees(there, full), "{there:?} for {full:?} of {neighbor:?}, {index}");
        assert!(same::<N>(place.neighbor_cost(cost, index), there));
    }
}

/// The neighbours of a random solution, and of what random moves make of it.
fn check<N: Naive>(naive: N, seed: u64, moves: u32) {
    let world = World::new(naive);
    let mut dice = Dice::new(!seed);
    let start = world.naive.random(&mut dice);
    let mut place = Place::new(&world, &start);
    let mut cost = place.begin();
    check_neighbors(&world, &mut place, cost);
    for step in 0..moves {
        place.stream = Stream::new(seed, step, 4);
        let index = u64::from(dice.below(world.len() as u32));
        let expected = world.naive.neighbors(&place.solution(), place.stream).swap_remove(index as usize);
        cost = place.neighbor_cost(cost, index);
        place.make(index);
        assert_eq!(place.solution(), expected);
    }
    check_neighbors(&world, &mut place, cost);
    let scratch = Place::new(&world, &place.solution()).begin();
    assert!(cost.agrees(scratch), "{cost:?} is carried for {scratch:?}");
}

/// A thread that has no more time once it has asked so often.
struct Late {
    asked: Cell<u32>,
    most: u32,
}

impl Crew for Late {
    type Team = Serial;

    fn team(&self) -> Serial {
        Serial
    }
    fn part(&self) -> u32 {
        Alone.part()
    }
    fn parts(&self) -> u32 {
        Alone.parts()
    }
    fn barrier(&mut self) {}
    fn best(&mut self, own: Contender) -> Contender {
        own
    }
    fn is_over(&self) -> bool {
        self.asked.set(self.asked.get() + 1);
        self.asked.get() > self.most
    }
}

/// They take cubic time, which may be more than is left.
#[test]
fn notes_of_an_assignment_are_left_when_there_is_no_more_time() {
    let world = World::new(Assignment::<true>::new(9, true, 50, 1));
    let solution = world.naive.random(&mut Dice::new(2));
    // Before each row of the notes it asks once.
    for (most, asked) in [(0, 1), (3, 4), (20, 9)] {
        let mut late = Late { asked: Cell::new(0), most };
        let cost = Place::new(&world, &solution).begin_by(&mut late);
        assert_eq!((late.asked.get(), cost), (asked, world.naive.cost(&solution)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn assignments_cost_what_they_cost(n in 2u32..10, symmetric: bool, seed: u64, moves in 1u32..30) {
        check(Assignment::<true>::new(n, symmetric, 50, seed), seed, moves);
        check(Assignment::<false>::new(n, symmetric, 50, seed), seed, moves);
        // The largest numbers there may be.
        check(Assignment::<true>::new(n.min(5), symmetric, (1 << 28) - 1, seed), seed, moves);
        check(Assignment::<false>::new(n.min(5), symmetric, (1 << 28) - 1, seed), seed, moves);
    }

    #[test]
    fn signs_cost_what_they_cost(m in 1u32..80, n in 3u32..12, seed: u64, moves in 1u32..30) {
        check(Signs::<1>::new(m, n, seed), seed, moves);
        check(Signs::<2>::new(m, n, seed), seed, moves);
        check(Signs::<3>::new(m, n, seed), seed, moves);
        check(Signs::<1>::new(m, n, seed).demanding(), seed, moves);
        check(Signs::<2>::new(m, n, seed).demanding(), seed, moves);
        check(Signs::<3>::new(m, n, seed).demanding(), seed, moves);
        check(NestedSigns(Signs::new(m, n, seed).demanding()), seed, moves);
    }

    #[test]
    fn tours_of_exchanges_are_as_long_as_they_are(n in 4u32..11, seed: u64, moves in 1u32..30) {
        for up in [false, true] {
            check(Tours::<SwappedTour<Grid>>::on_grid(n, up, seed), seed, moves);
        }
        check(Tours::<SwappedTour<Numbered>>::numbered(n, seed), seed, moves);
    }

    #[test]
    fn tours_of_rotations_are_as_long_as_they_are(n in 4u32..9, seed: u64, moves in 1u32..30) {
        for up in [false, true] {
            check(Tours::<RotatedTour<Grid>>::on_grid(n, up, seed), seed, moves);
        }
        check(Tours::<RotatedTour<Numbered>>::numbered(n, seed), seed, moves);
        check(Tours::<NestedTour<Grid>>::on_grid(n, false, seed), seed, moves);
        check(Tours::<NestedTour<Numbered>>::numbered(n, seed), seed, moves);
    }

    #[test]
    fn partitions_cost_what_they_cost(n in 1u32..20, k in 2u32..9, seed: u64, moves in 1u32..30) {
        check(Numbers::new(n, k, 1_000_000, seed), seed, moves);
    }

    #[test]
    fn cuts_weigh_what_they_weigh(n in 1u32..20, seed: u64, moves in 1u32..30) {
        check(Graph::new(n, 100, seed), seed, moves);
        // The largest weights there may be.
        check(Graph::new(n, ((1 << 30) - 1) / n as i32, seed), seed, moves);
    }

    #[test]
    fn rough_functions_are_what_they_are(n in 1u32..5, terms in 1u32..9, m in 1u32..12, seed: u64, moves in 1u32..30) {
        check(Rough::<f32>::new(n, terms, m), seed, moves);
        check(Rough::<f64>::new(n, terms, m), seed, moves);
    }
}

#[test]
fn signs_are_counted_in_several_words() {
    // More than 32 columns, and levels of more than 32 rows.
    check(Signs::<1>::new(300, 37, 1), 1, 20);
    check(Signs::<2>::new(150, 33, 2), 2, 20);
    check(Signs::<3>::new(90, 34, 3), 3, 5);
    check(NestedSigns(Signs::new(90, 34, 3)), 3, 5);
}

#[test]
fn partitions_may_have_256_sets() {
    check(Numbers::new(9, 256, 1000, 5), 5, 20);
}
