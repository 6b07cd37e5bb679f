//! Children of two permutations, and walks that go on from them.

use crate::common::memory::Array;
use crate::common::teams::{ORDERS, Order, Shareable, run};
use crate::papers::search::instances::Assignment;
use crate::papers::search::world::{
    By, Dice, Snapshot, Walks, World, cost_of, distance, is_permutation, rules,
};
use antwarp_core::papers::neighborhood::crossover;
use antwarp_core::papers::search::{Strategy, WalkRules};
use antwarp_core::team::Serial;

/// Two permutations of n that have about `shared` places of a hundred in common.
fn parents(n: u32, shared: u32, seed: u64) -> [Vec<u32>; 2] {
    let mut dice = Dice::new(seed);
    let mother = dice.shuffled(n);
    let places: Vec<usize> = (0..n as usize).filter(|_| dice.below(100) >= shared).collect();
    let order = dice.shuffled(places.len() as u32);
    let mut father = mother.clone();
    for (&place, &from) in places.iter().zip(&order) {
        father[place] = mother[places[from as usize]];
    }
    [mother, father]
}

/// Their child, by one thread or a team.
fn child([mother, father]: &[Vec<u32>; 2], seed: u64, team: Option<(u32, Order)>) -> Vec<u32> {
    let n = mother.len();
    let (mut child, mut used) = (Array::<u32>::rubbish(n), Array::<u32>::rubbish(n));
    let slots = (child.slots(), used.slots());
    let both = Shareable::new((mother.as_ptr(), father.as_ptr()));
    let shared = Shareable::new(slots);
    // SAFETY: permutations of n, memory of n words, and all members come here.
    unsafe {
        match team {
            None => crossover(Serial, n as u32, both.get(), shared.get(), seed),
            Some((size, order)) => {
                run(size, order, |team| crossover(team, n as u32, both.get(), shared.get(), seed));
            }
        }
    }
    child.to_vec()
}

#[test]
fn a_child_is_a_permutation_that_keeps_what_its_parents_share() {
    let (mut inherited, mut of_mother, mut places) = (0, 0, 0);
    for n in [1, 2, 3, 7, 50, 129] {
        for (seed, shared) in (0..).zip([0, 10, 50, 90, 100]) {
            let both = parents(n, shared, seed);
            let child = child(&both, seed, None);
            assert!(is_permutation(&child), "{both:?}: {child:?}");
            for ((&a, &b), &c) in both[0].iter().zip(&both[1]).zip(&child) {
                if a == b {
                    assert_eq!(c, a, "{both:?}: {child:?}");
                } else {
                    places += 1;
                    inherited += u32::from(c == a || c == b);
                    of_mother += u32::from(c == a);
                }
            }
        }
    }
    // Nearly all that it has comes from a parent, and about half of it from either.
    assert!(inherited > places * 3 / 4, "{inherited} of {places}");
    assert!((inherited / 3..inherited * 2 / 3).contains(&of_mother), "{of_mother} of {inherited}");
}

#[test]
fn seeds_give_different_children() {
    let both = parents(40, 20, 5);
    let children: std::collections::HashSet<_> = (0..50).map(|seed| child(&both, seed, None)).collect();
    assert_eq!(children.len(), 50);
}

#[test]
fn any_team_makes_the_same_child() {
    for n in [3, 33] {
        let both = parents(n, 30, 9);
        let expected = child(&both, 4, None);
        for order in ORDERS {
            for size in [2, 5] {
                assert_eq!(child(&both, 4, Some((size, order))), expected, "{size} members, {order:?}");
            }
        }
    }
}

type Walk = Snapshot<u32>;

/// Walks after 40 iterations, then a restart with mates without an iteration, then after 60 iterations.
fn course(alike: u32, kicks: u32, by: By) -> [Vec<Walk>; 3] {
    let world = World::new(Assignment::<true>::new(12, true, 30, 5));
    let mut walks = Walks::new(&world, &WalkRules { walks: 5, kicks, alike, ..rules(Strategy::Tabu) });
    walks.go(40, by);
    let before = walks.all();
    (walks.rules.rival_bit, walks.rules.mate) = (1 << 31, 4);
    walks.go(40, by);
    let restarted = walks.all();
    walks.rules.rival_bit = 0;
    walks.go(60, by);
    [before, restarted, walks.all()]
}

fn cost(walk: &Walk) -> i64 {
    cost_of::<Assignment<true>>(walk.state.best)
}

#[test]
fn mates_have_children() {
    for kicks in [0, 3] {
        let [before, restarted, after] = course(0, kicks, By::Alone);
        let mut children = 0;
        for (index, (own, now)) in before.iter().zip(&restarted).enumerate() {
            let mate = &before[(index + 4) % 5];
            if own.best == mate.best {
                continue;
            }
            children += 1;
            assert!(is_permutation(&now.solution) && cost(now) <= cost(own));
            for ((&a, &b), &c) in own.best.iter().zip(&mate.best).zip(&now.solution) {
                assert!(a != b || c == a, "walk {index} has not what its parents share");
            }
            assert!(now.best == own.best || (now.best == now.solution && cost(now) < cost(own)));
            assert!((40..).zip(&now.traces).all(|(age, &until)| until == age));
        }
        assert!(children > 2, "{children} children");
        assert!(after.iter().all(|walk| walk.state.flaws == 0 && walk.state.iterations == 60));
    }
}

#[test]
fn of_walks_that_are_alike_the_worse_begins_anew() {
    // All are alike.
    let [before, restarted, _] = course(12, 2, By::Alone);
    let rank = |index: usize| (cost(&before[index]), before[index].state.best_iteration, index);
    let mut begun = 0;
    for (index, (own, now)) in before.iter().zip(&restarted).enumerate() {
        if rank((index + 4) % 5) < rank(index) {
            begun += 1;
            assert_eq!((&now.best, now.state.best_iteration, now.state.fresh), (&now.solution, 40, 0));
            assert!(before.iter().all(|walk| walk.best != now.solution), "walk {index} is not new");
            assert!((40..).zip(&now.traces).all(|(age, &until)| until == age));
        } else {
            assert!(distance(&now.solution, &own.best) <= 2 * 2, "walk {index} did not stay near its best");
            assert!(cost(now) <= cost(own));
        }
    }
    assert!((1..5).contains(&begun), "{begun} began anew");
    let best = |walks: &[Walk]| walks.iter().map(cost).min();
    assert!(best(&restarted) <= best(&before), "the best is forgotten");
}

#[test]
fn any_crew_has_the_same_children() {
    for alike in [0, 12] {
        let expected = course(alike, 2, By::Alone);
        for by in [By::Team(3, Order::Mixed), By::Singles(3, Order::Descending), By::Teams(2, 2, 2)] {
            assert_eq!(course(alike, 2, by), expected, "{by:?}");
        }
    }
}
