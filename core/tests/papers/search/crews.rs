//! A walk's course does not depend on who goes it, nor on where its batches end.

use crate::common::teams::{ORDERS, Order};
use crate::papers::search::instances::{Assignment, Graph, NestedSigns, Numbers, Rough, Signs, Tours};
use crate::papers::search::world::{By, Dice, Naive, Snapshot, Walks, World, rules};
use antwarp_core::geometry::{Grid, Numbered};
use antwarp_core::papers::neighborhood::Neighborhood;
use antwarp_core::papers::problem::{NestedTour, Problem, RotatedTour, SwappedTour};
use antwarp_core::papers::search::{Strategy, WalkRules};
use std::fmt::Debug;

const STRATEGIES: [Strategy; 5] =
    [Strategy::Tabu, Strategy::Climb, Strategy::Anneal, Strategy::Iterate, Strategy::Vary];

/// Rules of a strategy on a problem, with all its neighbourhoods; of descents, to the best neighbour and to the first better one.
fn all_rules<N: Naive>(world: &World<N>, strategy: Strategy) -> Vec<WalkRules> {
    let rules = WalkRules { levels: world.problem.moves().levels(), ..rules(strategy) };
    let descends = matches!(strategy, Strategy::Climb | Strategy::Iterate | Strategy::Vary);
    (0..=u32::from(descends)).map(|first| WalkRules { first, ..rules }).collect()
}

/// Crews of one team under every order, of teams of one thread under every order, and of teams with parts.
fn crews() -> Vec<By> {
    let mut crews: Vec<_> =
        ORDERS.into_iter().flat_map(|order| [By::Team(3, order), By::Singles(3, order)]).collect();
    crews.extend([By::Teams(1, 2, 3), By::Teams(2, 1, 2), By::Teams(3, 2, 2), By::Teams(2, 2, 1)]);
    crews
}

/// Two walks in three batches; in the last the worse adopts what the better has found.
fn course<N: Naive>(
    world: &World<N>,
    rules: &WalkRules,
    by: By,
) -> Vec<Snapshot<crate::papers::search::world::ElementOf<N>>> {
    let mut walks = Walks::new(world, &WalkRules { walks: 2, ..*rules });
    let mut seen = vec![];
    for (end, rival_bit) in [(1, 0), (11, 0), (20, 1)] {
        walks.rules.rival_bit = rival_bit;
        walks.go(end, by);
        seen.extend(walks.all());
    }
    seen
}

fn assert_same<E: Debug + PartialEq>(a: &[Snapshot<E>], b: &[Snapshot<E>], context: &str) {
    for (a, b) in a.iter().zip(b) {
        assert_eq!(a, b, "{context}");
    }
    assert_eq!(a.len(), b.len(), "{context}");
}

fn check_strategies<N: Naive>(naive: N, strategies: &[Strategy], crews: &[By]) {
    let world = World::new(naive);
    for rules in strategies.iter().flat_map(|&strategy| all_rules(&world, strategy)) {
        let expected = course(&world, &rules, By::Alone);
        assert!(expected.iter().any(|walk| walk.solution != expected[0].solution), "nobody moves");
        for &by in crews {
            assert_same(&course(&world, &rules, by), &expected, &format!("{rules:?}, {by:?}"));
        }
    }
    let start = world.naive.random(&mut Dice::new(1));
    let expected = world.evaluate(&rules(Strategy::Climb), &start, By::Alone);
    assert_eq!(world.evaluate_given(&rules(Strategy::Climb), &start, By::Alone), expected);
    for &by in crews {
        assert_eq!(world.evaluate(&rules(Strategy::Climb), &start, by), expected, "{by:?}");
        assert_eq!(world.evaluate_given(&rules(Strategy::Climb), &start, by), expected, "given, {by:?}");
    }
}

fn check<N: Naive>(naive: N) {
    check_strategies(naive, &STRATEGIES, &crews());
}

#[test]
fn any_crew_assigns_alike() {
    check(Assignment::<false>::new(7, false, 20, 1));
}

#[test]
fn any_crew_assigns_alike_with_notes() {
    for symmetric in [false, true] {
        check_strategies(Assignment::<true>::new(8, symmetric, 20, 1), &STRATEGIES, &crews());
    }
}

/// Several members at a place, who take turns, and places without a seat.
#[test]
fn crews_larger_than_the_places_assign_alike() {
    let crews = [By::Team(16, Order::Mixed), By::Team(11, Order::Descending), By::Teams(2, 2, 4)];
    for (n, symmetric) in [(2, true), (3, true), (5, true), (5, false), (9, true)] {
        let strategies = if n == 2 { &[Strategy::Anneal][..] } else { &[Strategy::Tabu, Strategy::Iterate] };
        check_strategies(Assignment::<true>::new(n, symmetric, 20, 1), strategies, &crews);
    }
}

#[test]
fn any_crew_finds_the_same_signs() {
    // Rows of a level in several words, and levels without rows.
    check(Signs::<1>::new(70, 6, 1));
    let few = [By::Team(3, Order::Mixed), By::Singles(3, Order::Descending), By::Teams(2, 2, 1)];
    check_strategies(Signs::<2>::new(40, 8, 2), &STRATEGIES, &few);
    check_strategies(Signs::<3>::new(33, 7, 3), &STRATEGIES, &few);
    check_strategies(NestedSigns(Signs::new(33, 7, 3)), &STRATEGIES, &few);
}

#[test]
fn any_crew_makes_the_same_tour() {
    check(Tours::<SwappedTour<Grid>>::on_grid(9, false, 1));
    check(Tours::<RotatedTour<Numbered>>::numbered(7, 2));
    check(Tours::<NestedTour<Grid>>::on_grid(7, false, 2));
}

#[test]
fn any_crew_makes_the_same_sets() {
    check(Numbers::new(10, 4, 1000, 1));
}

#[test]
fn any_crew_makes_the_same_cut() {
    check(Graph::new(12, 20, 1));
}

#[test]
fn any_crew_comes_to_the_same_points() {
    check(Rough::<f32>::new(2, 4, 13));
    check(Rough::<f64>::new(3, 4, 10));
}

/// The end of a run in batches of `length`.
fn in_batches<N: Naive>(
    world: &World<N>,
    rules: &WalkRules,
    length: u64,
    by: By,
) -> Snapshot<crate::papers::search::world::ElementOf<N>> {
    let mut walks = Walks::new(world, rules);
    let mut end = 0;
    while end < 60 {
        end = (end + length).min(60);
        walks.go(end, by);
        assert!(walks.of(0).state.iterations == end || walks.of(0).state.done != 0);
    }
    walks.of(0)
}

fn check_batches<N: Naive>(naive: N) {
    let world = World::new(naive);
    for rules in STRATEGIES.into_iter().flat_map(|strategy| all_rules(&world, strategy)) {
        for descents in [0, 3] {
            let rules = WalkRules { descents, target: u64::MAX >> 63, cooling: 25, ..rules };
            let expected = in_batches(&world, &rules, 60, By::Alone);
            for length in [1, 2, 3, 7, 16, 59] {
                let batches = in_batches(&world, &rules, length, By::Alone);
                assert_eq!(batches, expected, "{rules:?}, batches of {length}");
            }
            // An annealing crew looks ahead, but not beyond the batch.
            for length in [1, 5, 60] {
                let batches = in_batches(&world, &rules, length, By::Teams(1, 2, 2));
                assert_eq!(batches, expected, "{rules:?}, batches of {length} by a team");
            }
        }
    }
}

#[test]
fn a_run_is_the_same_in_any_batches() {
    check_batches(Assignment::<true>::new(7, false, 20, 1));
    check_batches(Assignment::<false>::new(6, true, 20, 2));
    check_batches(Signs::<2>::new(40, 8, 1));
    check_batches(Tours::<SwappedTour<Numbered>>::numbered(7, 1));
    check_batches(Tours::<RotatedTour<Grid>>::on_grid(6, true, 1));
    check_batches(NestedSigns(Signs::new(40, 8, 1)));
    check_batches(Numbers::new(9, 3, 1000, 1));
    check_batches(Graph::new(9, 20, 1));
    check_batches(Rough::<f32>::new(2, 5, 9));
    check_batches(Rough::<f64>::new(1, 5, 9));
}

#[test]
fn an_empty_batch_only_begins() {
    let world = World::new(Numbers::new(9, 3, 1000, 1));
    for strategy in STRATEGIES {
        let mut walks = Walks::new(&world, &rules(strategy));
        walks.go(0, By::Alone);
        let begun = walks.of(0);
        assert_eq!((begun.state.iterations, begun.state.evaluations, begun.state.fresh), (0, 0, 0));
        assert_eq!(begun.solution, begun.best);
        walks.go(0, By::Teams(2, 1, 1));
        assert_eq!(walks.of(0), begun);
    }
}
