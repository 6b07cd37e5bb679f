//! Mutations: one exchange of two edges, as often as asked for, and the length that comes with it.

use crate::common::statistics::{LEVEL, fit, uniformity};
use crate::papers::genetic::generation::{METHODS, world};
use crate::papers::genetic::world::{Pool, World, breed_all, rules};
use antwarp_core::papers::genetic::GenerationRules;
use antwarp_core::papers::genetic::generation::{method, record};
use proptest::prelude::*;

/// All that a generation changes, without mutation and with it.
fn twins(world: &World, rules: &GenerationRules, mutation: u32, seed: u64) -> [Pool<u32>; 2] {
    [0, mutation].map(|mutation| {
        let mut pool = Pool::random(world, rules, seed);
        breed_all(world, &GenerationRules { mutation, ..*rules }, &mut pool);
        pool.check(world, "after mutations");
        pool
    })
}

/// The stretch whose reversal makes the one individual the other.
fn reversal(plain: &[u32], mutant: &[u32]) -> Option<(u32, u32)> {
    let from = (0..plain.len()).find(|&i| plain[i] != mutant[i])?;
    let to = (0..plain.len()).rfind(|&i| plain[i] != mutant[i])?;
    let mut turned = plain.to_vec();
    turned[from..=to].reverse();
    assert!(turned == mutant, "not one exchange: between places {from} and {to}");
    Some((from as u32, to as u32))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn mutants_differ_by_one_exchange(
        n in 4u32..40,
        extent in prop::sample::select(vec![0, 3, 1000]),
        shuffled in 0u32..2,
        seed: u64,
    ) {
        let world = world(n, extent, seed);
        for method in METHODS {
            let rules = GenerationRules { seed, shuffled, ..rules(&world, (8, 2), method) };
            let [plain, mutated] = twins(&world, &rules, u32::MAX, seed);
            let newborn = plain.newborn(rules.children());
            prop_assert!(mutated.newborn(rules.children()) == newborn, "children are elsewhere");
            for row in 0..16 {
                let change = reversal(&plain.individual(row), &mutated.individual(row));
                let is_new = newborn.iter().any(|child| child.1 == row);
                prop_assert_eq!(change.is_some(), is_new, "whether row {} mutated", row);
                // The node that a child begins with stays, for a reversal around it would be the same.
                prop_assert!(change.is_none_or(|(from, _)| from > 0), "the first node of row {} moved", row);
            }
            let least = newborn.iter().map(|&(place, _)| record(mutated.cost(place), 1)).min();
            prop_assert_eq!(Some(mutated.best[0]), least, "the record");
        }
    }
}

#[test]
fn exchanges_are_uniform() {
    for n in [4, 5, 7, 12] {
        let world = World::points(n, 100, 3);
        let pairs: Vec<_> = (1..n).flat_map(|from| (from + 1..n).map(move |to| (from, to))).collect();
        let mut counts = vec![0; pairs.len()];
        for generation in 1..=60 {
            let rules = GenerationRules { generation, ..rules(&world, (64, 2), method::BCSCX) };
            let [plain, mutated] = twins(&world, &rules, u32::MAX, 1);
            for (_, row) in plain.newborn(rules.children()) {
                let change = reversal(&plain.individual(row), &mutated.individual(row)).expect("no mutation");
                counts[pairs.iter().position(|&pair| pair == change).unwrap()] += 1;
            }
        }
        let p = uniformity(&counts);
        assert!(p > LEVEL, "exchanges among {n} nodes: p = {p:e}");
    }
}

#[test]
fn mutants_are_as_frequent_as_asked_for_and_as_any() {
    let world = World::points(6, 100, 3);
    for (mutation, share) in [(1 << 30, 0.25), (1 << 31, 0.5), (u32::MAX / 10, 0.1)] {
        for shuffled in [0, 1] {
            let (mut counts, mut first) = ([0, 0], [0; 6]);
            for generation in 1..=100 {
                let rules =
                    GenerationRules { generation, shuffled, ..rules(&world, (32, 2), method::HYBRID) };
                let [plain, mutated] = twins(&world, &rules, mutation, 1);
                for (_, row) in plain.newborn(rules.children()) {
                    let (before, after) = (plain.individual(row), mutated.individual(row));
                    counts[usize::from(before != after)] += 1;
                    first[after[0] as usize] += u64::from(before != after);
                }
            }
            let p = fit(&counts, &[1.0 - share, share]);
            assert!(p > LEVEL, "{counts:?} of a share of {share}: p = {p:e}");
            let p = if shuffled == 0 { 1.0 } else { uniformity(&first) };
            assert!(p > LEVEL, "first nodes of mutants, a share of {share}: p = {p:e}");
        }
    }
}
