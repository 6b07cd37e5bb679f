//! Transfers: the best individual of each group gets to one other group, and nothing else changes but the individual it replaces.

use crate::common::memory::Number;
use crate::common::statistics::{LEVEL, uniformity};
use crate::common::teams::{ORDERS, Shareable, run};
use crate::papers::genetic::generation::world;
use crate::papers::genetic::world::{Dice, Pool, World, rules};
use antwarp_core::node::NodeId;
use antwarp_core::papers::genetic::generation::method;
use antwarp_core::papers::genetic::{GenerationRules, transfer};
use antwarp_core::team::{Serial, Team};
use proptest::prelude::*;

fn transfer_all<I: NodeId + Number>(
    rules: &GenerationRules,
    pool: &mut Pool<I>,
    groups: impl IntoIterator<Item = u32>,
) {
    let tables = pool.tables();
    for group in groups {
        // SAFETY: the pool is as large as the rules say and holds tours.
        unsafe { transfer(Serial, rules, tables, group) };
    }
    pool.turn();
}

/// The place of the best individual of a group, of equal ones the first.
fn best<I: NodeId + Number>(rules: &GenerationRules, pool: &Pool<I>, group: u32) -> u32 {
    (group * rules.group..(group + 1) * rules.group).min_by_key(|&place| pool.cost(place)).unwrap()
}

/// How far the best individuals went.
fn check<I: NodeId + Number>(
    world: &World,
    rules: &GenerationRules,
    before: &Pool<I>,
    after: &Pool<I>,
) -> u32 {
    after.check(world, "after a transfer");
    assert!(before.rows[0][..] == after.rows[0][..], "places have other rows");
    let bests: Vec<u32> = (0..rules.groups).map(|group| best(rules, before, group)).collect();
    let guests: Vec<u32> = (0..rules.groups)
        .map(|group| {
            let last = (group + 1) * rules.group - 1;
            if bests[group as usize] == last { last - 1 } else { last }
        })
        .collect();
    for place in (0..rules.group * rules.groups).filter(|place| !guests.contains(place)) {
        assert!(before.at(place) == after.at(place), "place {place} is nobody's guest but changed");
        assert_eq!(before.cost(place), after.cost(place), "the cost at place {place}");
    }
    let came = |shift: u32| {
        (0..rules.groups).all(|group| {
            let guest = guests[((group + shift) % rules.groups) as usize];
            after.at(guest) == before.at(bests[group as usize])
        })
    };
    let shifts: Vec<u32> = (1..rules.groups).filter(|&shift| came(shift)).collect();
    assert!(!shifts.is_empty(), "the best individuals went round no circle");
    shifts[0]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn the_best_of_each_group_gets_to_one_other(
        n in 4u32..30,
        quarter in 1u32..4,
        groups in 2u32..7,
        extent in prop::sample::select(vec![0, 2, 1000]),
        generation: u32,
        seed: u64,
    ) {
        let world = world(n, extent, seed);
        let rules = GenerationRules { seed, generation, ..rules(&world, (4 * quarter, groups), method::ARX) };
        let before = Pool::<u16>::random(&world, &rules, seed);
        let mut pool = before.copy();
        transfer_all(&rules, &mut pool, 0..groups);
        check(&world, &rules, &before, &pool);
        let mut wide = Pool::<u32>::random(&world, &rules, seed);
        transfer_all(&rules, &mut wide, Dice::new(seed).shuffled(groups));
        prop_assert!(wide.state(0) == pool.state(0), "it depends on the order of groups or the width of ids");
    }
}

/// Two groups of four whose costs are these; rows are the places' numbers.
fn crafted(costs: [i32; 8]) -> (World, GenerationRules, Pool<u16>) {
    // Four nodes have three tours; one distance makes each of the costs, and the rest is nothing.
    let tours = [[0, 1, 2, 3], [0, 1, 3, 2], [0, 2, 1, 3]];
    let world = World::of(4, |a, b| match (a.min(b), a.max(b)) {
        (0, 1) => 2,
        (0, 2) => 1,
        _ => 0,
    });
    let of_cost =
        |cost: i32| tours.iter().find(|tour| world.cost(&tour[..]) == cost.into()).unwrap().to_vec();
    let individuals: Vec<_> = costs.iter().map(|&cost| of_cost(cost)).collect();
    let rules = rules(&world, (4, 2), method::ARX);
    let pool = Pool::of(&world, &individuals, &(0..8).collect::<Vec<_>>());
    (world, rules, pool)
}

#[test]
fn a_guest_takes_the_last_place_or_the_one_before() {
    let costs = |costs: [i32; 8]| {
        let (world, rules, mut pool) = crafted(costs);
        transfer_all(&rules, &mut pool, [1, 0]);
        pool.check(&world, "after a transfer");
        pool.costs[0].to_vec()
    };
    assert_eq!(costs([1, 3, 3, 3, 3, 2, 3, 3]), [1, 3, 3, 2, 3, 2, 3, 1]);
    // The best is last.
    assert_eq!(costs([3, 3, 3, 1, 3, 2, 3, 3]), [3, 3, 2, 1, 3, 2, 3, 1]);
    assert_eq!(costs([3, 3, 3, 2, 3, 3, 3, 1]), [3, 3, 1, 2, 3, 3, 2, 1]);
    // Of two that are equal the first is the best, and the last makes room.
    assert_eq!(costs([3, 3, 1, 1, 2, 3, 3, 3]), [3, 3, 1, 2, 2, 3, 3, 1]);
}

#[test]
fn hosts_are_any_other_group() {
    for groups in [2, 3, 5, 8] {
        let world = World::points(30, 1000, 1);
        let mut counts = vec![0; groups as usize - 1];
        for generation in 0..600 {
            let rules = GenerationRules { generation, ..rules(&world, (4, groups), method::ARX) };
            let before = Pool::<u16>::random(&world, &rules, 4);
            let mut pool = before.copy();
            transfer_all(&rules, &mut pool, 0..groups);
            counts[check(&world, &rules, &before, &pool) as usize - 1] += 1;
        }
        if groups > 2 {
            let p = uniformity(&counts);
            assert!(p > LEVEL, "hosts among {groups} groups: p = {p:e}");
        }
    }
}

#[test]
fn teams_transfer_the_same() {
    for (n, extent, group, groups) in [(4, 2, 4, 2), (21, 0, 8, 3), (9, 100, 20, 5), (40, 2, 12, 4)] {
        let world = world(n, extent, 7);
        for generation in 1..4 {
            let rules = GenerationRules { generation, ..rules(&world, (group, groups), method::ARX) };
            let before = Pool::<u16>::random(&world, &rules, 4);
            let mut expected = before.copy();
            transfer_all(&rules, &mut expected, 0..groups);
            let same = |pool: &mut Pool<u16>| {
                pool.turn();
                pool.state(0) == expected.state(0)
            };
            for order in ORDERS {
                for size in [1, 2, 5, 9] {
                    let mut pool = before.copy();
                    let shared = Shareable::new(pool.tables());
                    run(size, order, |member| {
                        for group in (0..groups).rev() {
                            // SAFETY: the pool is as large as the rules say and holds tours.
                            unsafe { transfer(member, &rules, shared.get(), group) };
                            member.barrier();
                        }
                    });
                    assert!(same(&mut pool), "{size} threads, {order:?}, {groups} groups of {group}");
                }
            }
            // A thread a group, all at once.
            let mut pool = before.copy();
            let shared = &Shareable::new(pool.tables());
            std::thread::scope(|scope| {
                for group in 0..groups {
                    // SAFETY: as above, and each group is one thread's.
                    scope.spawn(move || unsafe { transfer(Serial, &rules, shared.get(), group) });
                }
            });
            assert!(same(&mut pool), "all at once, {groups} groups of {group}");
        }
    }
}
