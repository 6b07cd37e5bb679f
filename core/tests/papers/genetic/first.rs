//! First individuals, and individuals that something else improves.

use crate::common::memory::Array;
use crate::common::statistics::{LEVEL, uniformity};
use crate::common::teams::{ORDERS, Shareable, run};
use crate::papers::genetic::world::{Dice, Pool, World, breed_all, ids, rules};
use antwarp_core::papers::genetic::generation::{method, record, recorded};
use antwarp_core::papers::genetic::{GenerationRules, finish, random_individual, settle};
use antwarp_core::team::Serial;

/// A population of random individuals, by one thread, in the places after.
fn random(world: &World, rules: &GenerationRules) -> Pool<u16> {
    let count = rules.group * rules.groups;
    let mut pool = Pool::empty(world.n, count);
    let tables = pool.tables();
    for row in 0..count {
        // SAFETY: the pool has that row and place.
        unsafe { random_individual(Serial, rules, tables, world.places(), row) };
    }
    pool
}

fn first_rules(world: &World) -> GenerationRules {
    GenerationRules { generation: 0, since: 0, ..rules(world, (8, 3), method::ARX) }
}

/// Every row at the place of its number, and nothing else.
fn check_places(pool: &Pool<u16>, rules: &GenerationRules, context: &str) {
    let count = rules.group * rules.groups;
    let own: Vec<u32> = (0..count).collect();
    assert!(pool.rows[1][..] == own, "{context}: rows are elsewhere");
    assert!(
        pool.newborn(count) == own.iter().map(|&i| (i, i)).collect::<Vec<_>>(),
        "{context}: born elsewhere"
    );
}

#[test]
fn random_individuals_are_tours_with_their_lengths() {
    for world in [World::points(4, 9, 1), World::points(100, 1000, 2), World::directed(33, 100, 3)] {
        for unfinished in [0, 1] {
            let rules = GenerationRules { unfinished, ..first_rules(&world) };
            let mut pool = random(&world, &rules);
            check_places(&pool, &rules, "random individuals");
            pool.turn();
            pool.check(&world, "random individuals");
            let least = *pool.costs[0].iter().min().unwrap();
            let expected = if unfinished == 0 { (least, 0) } else { recorded(record(i64::MAX, 0)) };
            assert_eq!(recorded(pool.best[0]), expected, "the record of {} nodes", world.n);
        }
    }
}

#[test]
fn random_individuals_are_random() {
    let world = World::points(12, 100, 1);
    let (mut first, mut place) = (vec![0; 12], vec![0; 12]);
    for seed in 0..100 {
        let pool = random(&world, &GenerationRules { seed, ..first_rules(&world) });
        for row in 0..24 {
            let individual = pool.individual(row);
            first[individual[0] as usize] += 1;
            place[individual.iter().position(|&v| v == 7).unwrap()] += 1;
        }
    }
    let p = [uniformity(&first), uniformity(&place)];
    assert!(p.iter().all(|&p| p > LEVEL), "first nodes, places of a node: p = {p:?}");
    // Of many nodes no two individuals, of one seed or of two, have more in common than by chance.
    let world = World::points(200, 100, 1);
    let mut individuals = Vec::new();
    for seed in 0..2 {
        let pool = random(&world, &GenerationRules { seed, ..first_rules(&world) });
        individuals.extend((0..24).map(|row| pool.individual(row)));
    }
    for (i, a) in individuals.iter().enumerate() {
        for (j, b) in individuals[..i].iter().enumerate() {
            let same = a.iter().zip(b).filter(|(a, b)| a == b).count();
            assert!(same < 12, "individuals {i} and {j} share {same} of 200 places");
        }
    }
}

#[test]
fn teams_begin_with_the_same_individuals() {
    for world in [World::points(5, 9, 1), World::points(67, 1000, 2), World::directed(20, 100, 3)] {
        for unfinished in [0, 1] {
            let rules = GenerationRules { unfinished, ..first_rules(&world) };
            let mut expected = random(&world, &rules);
            expected.turn();
            for order in ORDERS {
                for size in [2, 3, 8] {
                    let mut pool = Pool::<u16>::empty(world.n, 24);
                    let shared = Shareable::new((pool.tables(), world.places()));
                    run(size, order, |member| {
                        let (tables, places) = shared.get();
                        for row in 0..24 {
                            // SAFETY: the pool has that row and place.
                            unsafe { random_individual(member, &rules, tables, places, row) };
                        }
                    });
                    check_places(&pool, &rules, "on a team");
                    pool.turn();
                    pool.check(&world, "on a team");
                    let same = (0..24).all(|row| pool.individual(row) == expected.individual(row));
                    assert!(same && pool.best[..] == expected.best[..], "{size} threads, {order:?}");
                }
            }
        }
    }
}

#[test]
fn given_individuals_are_measured_where_they_are() {
    for world in [World::points(30, 1000, 2), World::directed(30, 100, 3)] {
        let rules = first_rules(&world);
        let mut dice = Dice::new(1);
        let individuals: Vec<_> = (0..24).map(|_| dice.shuffled(30)).collect();
        for order in ORDERS {
            for size in [1, 3] {
                let mut pool = Pool::<u16>::of(&world, &individuals, &dice.shuffled(24));
                let shared = Shareable::new((pool.tables(), world.places()));
                run(size, order, |member| {
                    let (tables, places) = shared.get();
                    for row in 0..24 {
                        // SAFETY: the pool has that row and place, and a tour in it.
                        unsafe { settle(member, &rules, tables, places, row) };
                    }
                });
                check_places(&pool, &rules, "given individuals");
                pool.turn();
                pool.check(&world, "given individuals");
                assert!(
                    (0..24).all(|row| pool.individual(row) == individuals[row as usize]),
                    "an individual was changed"
                );
                let least = individuals.iter().map(|individual| world.cost(individual)).min().unwrap();
                assert_eq!(recorded(pool.best[0]), (least, 0));
            }
        }
    }
}

/// Replaces the individual in a row.
fn replace(pool: &mut Pool<u16>, row: u32, individual: &[u32]) {
    let (tables, individual) = (pool.tables(), ids::<u16>(individual));
    // SAFETY: the row is in the pool and as long as the individual.
    unsafe {
        tables
            .individuals
            .at(row * individual.len() as u32)
            .copy_from_nonoverlapping(individual.as_ptr(), individual.len())
    }
}

#[test]
fn improved_children_are_noted_when_they_are_finished() {
    for world in [World::points(20, 1000, 2), World::directed(20, 100, 3)] {
        for (method, shuffled) in [(method::HYBRID, 0), (method::SCX, 1), (method::ARX, 1)] {
            let rules = rules(&world, (8, 3), method);
            let rules = GenerationRules { unfinished: 1, shuffled, since: 3, mutation: 1 << 31, ..rules };
            let mut pool = Pool::<u16>::random(&world, &rules, 5);
            pool.best = Array::of(&[record(i64::MAX, 0)]);
            breed_all(&world, &rules, &mut pool);
            assert_eq!(pool.best[0], record(i64::MAX, 0), "unfinished individuals are no record");
            // Some of the children become another tour: longer ones too, for a gain may be any number.
            let mut dice = Dice::new(9);
            let mut least = i64::MAX;
            let before = pool.copy();
            pool.turn();
            for (index, (place, row)) in (0..).zip(before.newborn(rules.children())) {
                assert_eq!(before.row(place), row, "child {index} is not at its place");
                let individual = if index % 3 == 0 { before.individual(row) } else { dice.shuffled(20) };
                replace(&mut pool, row, &individual);
                let cost = world.cost(&individual);
                least = least.min(cost);
                let gain = before.cost(place) - cost;
                // SAFETY: the child was made by these rules.
                unsafe { finish(&rules, pool.tables(), index, gain) };
            }
            pool.turn();
            pool.check(&world, "after all are finished");
            assert!(pool.rows[0][..] == before.rows[0][..], "individuals moved");
            assert_eq!(recorded(pool.best[0]), (least, 3));
        }
    }
}
