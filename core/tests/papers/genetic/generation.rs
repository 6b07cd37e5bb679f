//! A generation as its documentation describes it: who wins, who mates, where children live.

use crate::common::memory::Number;
use crate::common::statistics::{LEVEL, fit, uniformity};
use crate::common::trails::difference;
use crate::papers::genetic::crossover::recommenders;
use crate::papers::genetic::world::{Pool, World, breed_all, construct, rules};
use antwarp_core::node::NodeId;
use antwarp_core::papers::genetic::generation::{method, record};
use antwarp_core::papers::genetic::{Crossover, GenerationRules};
use proptest::prelude::*;

pub const METHODS: [u32; 4] = [method::SCX, method::BCSCX, method::ARX, method::HYBRID];

/// An individual before the generation: its place, its row and its length.
type Individual = (u32, u32, i64);

/// Winner and loser at place `j` of a group that begins with place `first`, without a shuffle.
fn rivals<I: NodeId + Number>(
    before: &Pool<I>,
    rules: &GenerationRules,
    first: u32,
    j: u32,
) -> (Individual, Individual) {
    let individual = |place: u32| (place, before.row(place), before.cost(place));
    let (a, b) = (individual(first + j), individual(first + j + rules.group / 2));
    if a.2 <= b.2 { (a, b) } else { (b, a) }
}

/// The survivor at a place is that individual, untouched.
fn check_kept<I: NodeId + Number>(before: &Pool<I>, after: &Pool<I>, place: u32, (_, row, cost): Individual) {
    assert_eq!((after.row(place), after.cost(place)), (row, cost), "the individual at place {place}");
    assert!(after.individual(row) == before.individual(row), "a survivor changed at place {place}");
}

/// A generation with fixed places and without mutation, in every detail.
fn check_generation<I: NodeId + Number>(
    world: &World,
    rules: &GenerationRules,
    before: &Pool<I>,
    after: &Pool<I>,
) {
    let (n, half, quarter) = (rules.n, rules.group / 2, rules.group / 4);
    let mut children = Vec::new();
    for first in (0..rules.groups).map(|group| group * rules.group) {
        for j in 0..half {
            let (winner, loser) = rivals(before, rules, first, j);
            check_kept(before, after, first + j, winner);
            if rules.ring != 0 || j < quarter * rules.litter() {
                children.push(first + half + j);
            } else {
                check_kept(before, after, first + half + j, loser);
            }
        }
        let winners =
            |places: [u32; 2]| places.map(|j| before.individual(rivals(before, rules, first, j).0.1));
        let arx = |(from, to), second| Crossover::Arx { from, to, second };
        let all_points = || (1..n).flat_map(|to| (1..=to).map(move |from| (from, to)));
        let has = |parents: &[Vec<u32>; 2], place: u32, crossover| {
            after.at(place)
                == construct([&parents[0], &parents[1]], 0, crossover, |a, b| world.distance(a, b))
        };
        for j in (0..half).filter(|_| rules.ring != 0) {
            let parents = winners([j, (j + 1) % half]);
            let is = |crossover| has(&parents, first + half + j, crossover);
            assert!(
                match rules.method {
                    method::SCX => is(Crossover::Scx),
                    method::ARX => all_points().any(|at| is(arx(at, false))),
                    method::HYBRID if j % 2 == 1 => all_points().any(|at| is(arx(at, true))),
                    _ => is(Crossover::Bcscx),
                },
                "the child of winner {j} from place {first}, method {}",
                rules.method
            );
        }
        for t in (0..quarter).filter(|_| rules.ring == 0) {
            let parents = winners([2 * t, 2 * t + 1]);
            let is = |place: u32, crossover| has(&parents, place, crossover);
            let (one, two) = (first + half + t, first + half + quarter + t);
            let mut points = all_points();
            assert!(
                match rules.method {
                    method::SCX => is(one, Crossover::Scx),
                    method::BCSCX => is(one, Crossover::Bcscx),
                    method::ARX => points.any(|at| is(one, arx(at, false)) && is(two, arx(at, true))),
                    _ => is(one, Crossover::Bcscx) && points.any(|at| is(two, arx(at, true))),
                },
                "the children of pair {t} from place {first}, method {}",
                rules.method
            );
        }
    }
    after.check(world, "after a generation");
    check_notes(rules, before, after, children);
}

/// The record, and the list of new individuals.
fn check_notes<I: NodeId + Number>(
    rules: &GenerationRules,
    before: &Pool<I>,
    after: &Pool<I>,
    children: Vec<u32>,
) {
    let least = children.iter().map(|&place| record(after.cost(place), rules.since)).min().unwrap();
    let expected = if rules.unfinished == 0 { least.min(before.best[0]) } else { before.best[0] };
    assert_eq!(after.best[0], expected, "the record");
    let mut expected: Vec<_> = children.iter().map(|&place| (place, after.row(place))).collect();
    let mut born = after.newborn(rules.children());
    expected.sort();
    born.sort();
    assert_eq!(difference(&born, &expected), None, "new individuals, sorted");
}

fn breed_and_check<I: NodeId + Number>(world: &World, rules: &GenerationRules, seed: u64) {
    let mut pool = Pool::<I>::random(world, rules, seed);
    for generation in 1..4 {
        let rules = GenerationRules { generation, since: generation, ..*rules };
        let before = pool.copy();
        breed_all(world, &rules, &mut pool);
        check_generation(world, &rules, &before, &pool);
    }
}

/// Of nodes in a plane, many equal where `extent` is small, or with directed edges where it is 0.
pub fn world(n: u32, extent: u32, seed: u64) -> World {
    if extent == 0 { World::directed(n, 30, seed) } else { World::points(n, extent, seed) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_generation_is_as_documented(
        n in 4u32..26,
        quarter in 1u32..6,
        groups in 1u32..4,
        extent in prop::sample::select(vec![0, 2, 5, 1000]),
        unfinished in 0u32..2,
        seed: u64,
    ) {
        let world = world(n, extent, seed);
        for (method, ring) in METHODS.into_iter().flat_map(|method| [(method, 0), (method, 1)]) {
            let rules = rules(&world, (4 * quarter, groups), method);
            let rules = GenerationRules { unfinished, ring, seed, ..rules };
            breed_and_check::<u16>(&world, &rules, seed);
            breed_and_check::<u32>(&world, &rules, seed);
        }
    }

    /// What holds with shuffled places and mutation too: nothing is lost, everything is what it is said to be.
    #[test]
    fn the_best_is_never_lost(
        n in 4u32..40,
        quarter in 1u32..6,
        groups in 1u32..4,
        extent in prop::sample::select(vec![0, 3, 1000]),
        (shuffled, ring) in (0u32..2, 0u32..2),
        seed: u64,
    ) {
        let world = world(n, extent, seed);
        for method in METHODS {
            let rules = rules(&world, (4 * quarter, groups), method);
            // The root of n, or none, where edges have no direction.
            let window = if extent > 0 && shuffled > 0 { n.isqrt() } else { 0 };
            let rules = GenerationRules { seed, shuffled, ring, mutation: 1 << 30, window, ..rules };
            let mut pool = Pool::<u16>::random(&world, &rules, seed);
            let mut least = record(i64::MAX, 0);
            for generation in 1..10 {
                let rules = GenerationRules { generation, since: generation, ..rules };
                let before = pool.copy();
                breed_all(&world, &rules, &mut pool);
                pool.check(&world, "after a generation");
                check_survival(&rules, &before, &pool);
                for (place, _) in pool.newborn(rules.children()) {
                    least = least.min(record(pool.cost(place), generation));
                }
                prop_assert_eq!(pool.best[0], least, "the record in generation {}", generation);
            }
        }
    }
}

/// Individuals of each group stay in it, as many as there are children are replaced, and the best and half of all stay.
fn check_survival<I: NodeId + Number>(rules: &GenerationRules, before: &Pool<I>, after: &Pool<I>) {
    let newborn = after.newborn(rules.children());
    for group in 0..rules.groups {
        let places = group * rules.group..(group + 1) * rules.group;
        let sorted = |pool: &Pool<I>| {
            let mut rows: Vec<_> = places.clone().map(|place| pool.row(place)).collect();
            rows.sort();
            rows
        };
        assert!(sorted(before) == sorted(after), "individuals left group {group}");
        let mut born: Vec<_> = newborn.iter().filter(|(place, _)| places.contains(place)).collect();
        born.sort();
        born.dedup();
        assert_eq!(born.len() as u32, rules.pairs() * rules.litter(), "children in group {group}");
        for place in places.clone() {
            let row = after.row(place);
            let is_born = born.contains(&&(place, row));
            assert!(
                is_born || after.individual(row) == before.individual(row),
                "a survivor changed at place {place}"
            );
        }
        let costs = |pool: &Pool<I>| places.clone().map(|place| pool.cost(place)).collect::<Vec<_>>();
        let best = *costs(before).iter().min().unwrap();
        let stays = places.clone().any(|place| {
            let is_born = born.contains(&&(place, after.row(place)));
            after.cost(place) == best && !is_born
        });
        assert!(stays, "group {group} lost its best individual");
    }
}

/// Who recommended each place of the two children of each pair, where all distances are equal.
fn recommended(world: &World, generation: u32) -> Vec<[Vec<Option<usize>>; 2]> {
    let rules = GenerationRules { generation, ..rules(world, (64, 1), method::ARX) };
    let mut pool = Pool::<u16>::random(world, &rules, generation.into());
    let before = pool.copy();
    breed_all(world, &rules, &mut pool);
    let pair = |t: u32| {
        // All are equally long, so the former win.
        let parents = [before.at(2 * t), before.at(2 * t + 1)];
        [32 + t, 48 + t].map(|place| recommenders(&pool.at(place), [&parents[0], &parents[1]]))
    };
    (0..16).map(pair).collect()
}

#[test]
fn arx_switches_at_two_random_points_the_same_in_both_children() {
    for n in [24u32, 41] {
        let world = World::of(n, |_, _| 1);
        let (mut known, mut by_other) = (vec![0u32; n as usize], vec![0u32; n as usize]);
        for children in (1..=40).flat_map(|generation| recommended(&world, generation)) {
            let fits = |(from, to): (u32, u32)| {
                (1..n).zip(children[0].iter().zip(&children[1])).all(|(i, (a, b))| {
                    let inside = usize::from((from..to).contains(&i));
                    a.is_none_or(|a| a == inside) && b.is_none_or(|b| b != inside)
                })
            };
            let mut points = (1..n).flat_map(|to| (1..=to).map(move |from| (from, to)));
            assert!(points.any(fits), "a pair of {n} nodes has no two points of switching");
            for (i, parent) in (1..).zip(&children[0]) {
                known[i] += u32::from(parent.is_some());
                by_other[i] += u32::from(*parent == Some(1));
            }
        }
        // Place i is the other parent's if one of two numbers below n is at most i and the other one is above.
        for i in (1..n).filter(|&i| known[i as usize] > 400) {
            let expected = f64::from(2 * (i + 1) * (n - 1 - i)) / f64::from(n * n);
            let share = f64::from(by_other[i as usize]) / f64::from(known[i as usize]);
            assert!((share - expected).abs() < 0.1, "place {i} of {n}: {share}, not {expected}");
        }
        assert!(known.iter().filter(|&&known| known > 400).count() > n as usize / 2, "too few places tell");
    }
}

#[test]
fn children_of_arx_inherit_as_much_of_either_parent() {
    let world = World::of(300, |_, _| 1);
    let mut shares = [[0; 2]; 2];
    for children in (1..=6).flat_map(|generation| recommended(&world, generation)) {
        for (share, child) in shares.iter_mut().zip(&children) {
            child.iter().flatten().for_each(|&parent| share[parent] += 1);
        }
    }
    let [first, second] = shares;
    // What one parent leaves to the other one in a child it recommends in the other child.
    let share = f64::from(first[0] + second[0]) / f64::from(first.iter().chain(&second).sum::<u32>());
    assert!((share - 0.5).abs() < 0.015, "{share} by the first parent");
    let between = f64::from(first[1]) / f64::from(first[0] + first[1]);
    assert!((between - 1.0 / 3.0).abs() < 0.06, "{between} between the two points");
}

#[test]
fn children_begin_anywhere_where_places_are_shuffled() {
    let world = World::points(11, 100, 4);
    for method in METHODS {
        let mut counts = vec![0; 11];
        for generation in 1..=40 {
            let rules = GenerationRules { generation, shuffled: 1, ..rules(&world, (32, 2), method) };
            let mut pool = Pool::<u16>::random(&world, &rules, 1);
            breed_all(&world, &rules, &mut pool);
            for (_, row) in pool.newborn(rules.children()) {
                counts[pool.individual(row)[0] as usize] += 1;
            }
        }
        let p = uniformity(&counts);
        assert!(p > LEVEL, "first nodes by method {method}: p = {p:e}");
    }
}

/// The place of whoever takes the place of an individual that loses to all, if that shows: if it was in the first half.
fn rival(world: &World, rules: &GenerationRules, seed: u64, place: u32) -> Option<u32> {
    let mut pool = Pool::<u16>::random(world, rules, seed);
    // SAFETY: the place is in the table.
    unsafe { pool.costs[0].slots().set(place, i64::MAX) };
    let before = pool.copy();
    breed_all(world, rules, &mut pool);
    let row = pool.row(place);
    (0..before.rows[0].len() as u32).find(|&other| other != place && before.row(other) == row)
}

#[test]
fn everybody_meets_everybody_where_places_are_shuffled() {
    let world = World::points(4, 100, 4);
    let group = 8;
    for place in [0, 5, 11] {
        let others: Vec<u32> = (place / group * group..(place / group + 1) * group).collect();
        let mut counts = vec![0; group as usize];
        for generation in 1..=4000 {
            let rules = GenerationRules { generation, shuffled: 1, ..rules(&world, (group, 2), method::ARX) };
            match rival(&world, &rules, 1, place) {
                Some(rival) => {
                    let at = others.iter().position(|&other| other == rival);
                    counts[at.expect("a rival from another group")] += 1
                }
                // In the second half: counted as its own.
                None => counts[(place % group) as usize] += 1,
            }
        }
        let mut weights = vec![0.5 / f64::from(group - 1); group as usize];
        weights[(place % group) as usize] = 0.5;
        let p = fit(&counts, &weights);
        assert!(p > LEVEL, "rivals of place {place}: p = {p:e}");
    }
}

#[test]
fn groups_are_shuffled_each_on_its_own() {
    let world = World::points(4, 100, 4);
    let mut counts = [0, 0];
    for generation in 1..=4000 {
        let rules = GenerationRules { generation, shuffled: 1, ..rules(&world, (8, 2), method::ARX) };
        let [here, there] = [3, 11].map(|place| rival(&world, &rules, 1, place));
        if let (Some(here), Some(there)) = (here, there) {
            counts[usize::from(here + 8 == there)] += 1;
        }
    }
    let p = fit(&counts, &[6.0, 1.0]);
    assert!(p > LEVEL, "rivals at the same place of two groups, other and same: {counts:?}");
}

/// Parents of every child that BCSCX makes where places are shuffled, by trying all pairs; none if several could be.
fn couples(
    world: &World,
    rules: &GenerationRules,
    before: &Pool<u16>,
    after: &Pool<u16>,
) -> Vec<Option<[u32; 2]>> {
    let newborn = after.newborn(rules.children());
    let couple = |&(place, row): &(u32, u32)| {
        let child = after.individual(row);
        let first = place / rules.group * rules.group;
        let mates = first..first + rules.group;
        let pairs = mates.clone().flat_map(|a| (a + 1..mates.end).map(move |b| [a, b]));
        let is = |pair: &[u32; 2]| {
            let [a, b] = pair.map(|place| before.at(place));
            let near = |a, b| world.distance(a, b);
            [[&a, &b], [&b, &a]]
                .into_iter()
                .any(|[a, b]: [&Vec<u32>; 2]| construct([a, b], child[0], Crossover::Bcscx, near) == child)
        };
        let fitting: Vec<_> = pairs.filter(is).collect();
        assert!(!fitting.is_empty(), "nobody of the group has the child at place {place}");
        (fitting.len() == 1).then(|| fitting[0])
    };
    newborn.iter().map(couple).collect()
}

#[test]
fn winners_mate_once_where_places_are_shuffled() {
    let world = World::points(20, 1000, 8);
    let mut pairs = std::collections::HashSet::new();
    for generation in 1..=12 {
        let rules = GenerationRules { generation, shuffled: 1, ..rules(&world, (8, 2), method::BCSCX) };
        let mut pool = Pool::<u16>::random(&world, &rules, 6);
        let before = pool.copy();
        breed_all(&world, &rules, &mut pool);
        let couples: Vec<_> = couples(&world, &rules, &before, &pool).into_iter().flatten().collect();
        let mut parents = couples.concat();
        parents.sort();
        parents.dedup();
        assert_eq!(parents.len(), 2 * couples.len(), "two couples share a parent in generation {generation}");
        assert!(!parents.is_empty(), "no couple is known");
        let replaced: Vec<u32> = pool.newborn(rules.children()).iter().map(|&(_, row)| row).collect();
        let dead = parents.iter().any(|&place| replaced.contains(&before.row(place)));
        assert!(!dead, "a parent was replaced in generation {generation}");
        pairs.extend(couples);
    }
    assert!(pairs.len() > 20, "the same couples again: {}", pairs.len());
}

#[test]
fn randomness_depends_on_seed_and_generation() {
    let world = World::points(30, 1000, 8);
    let rules = GenerationRules { shuffled: 1, ..rules(&world, (16, 2), method::HYBRID) };
    let children = |rules: GenerationRules| {
        let mut pool = Pool::<u16>::random(&world, &rules, 6);
        breed_all(&world, &rules, &mut pool);
        pool.state(rules.children())
    };
    let first = children(rules);
    assert!(first == children(rules));
    assert!(first != children(GenerationRules { seed: 6, ..rules }), "the seed is ignored");
    assert!(first != children(GenerationRules { generation: 2, ..rules }), "the generation is ignored");
}

#[test]
fn children_are_counted() {
    let world = World::points(4, 9, 1);
    let count = |method, ring| {
        let rules = GenerationRules { ring, ..rules(&world, (12, 5), method) };
        (rules.litter(), rules.children())
    };
    assert_eq!(METHODS.map(|method| count(method, 0)), [(1, 15), (1, 15), (2, 30), (2, 30)]);
    assert_eq!(METHODS.map(|method| count(method, 1)), [(1, 30); 4]);
}
