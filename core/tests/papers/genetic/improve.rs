//! The best individual's improvement against a search that makes every move it looks at; which child it is, and when.

use crate::common::memory::{Array, Number};
use crate::papers::genetic::world::{Dice, Pool, World, breed_all, ids, is_tour, rules};
use antwarp_core::node::NodeId;
use antwarp_core::papers::genetic::GenerationRules;
use antwarp_core::papers::genetic::generation::method;
use antwarp_core::papers::genetic::improve::improve;
use antwarp_core::rng::Stream;
use antwarp_core::team::Serial;
use proptest::prelude::*;

/// The tour with the node at place x behind the one at place y.
fn shifted(tour: &[u32], x: usize, y: usize) -> Vec<u32> {
    let mut rest = tour.to_vec();
    let node = rest.remove(x);
    let at = rest.iter().position(|&other| other == tour[y]).expect("another node");
    rest.insert(at + 1, node);
    rest
}

/// The tour whose edges behind places x and y are exchanged.
fn exchanged(tour: &[u32], x: usize, y: usize) -> Vec<u32> {
    let mut tour = tour.to_vec();
    tour[x.min(y) + 1..=x.max(y)].reverse();
    tour
}

/// The length after the three best moves of these windows.
fn searched(world: &World, mut tour: Vec<u32>, [one, two]: [usize; 2]) -> i64 {
    let (n, width) = (tour.len(), tour.len().isqrt());
    let across = || (0..width * width).map(move |i| ((one + i / width) % n, (two + i % width) % n));
    let around = (0..width).flat_map(|i| {
        let x = (one + i) % n;
        (2..2 + width).flat_map(move |away| [(x, (x + away) % n), (x, (x + n - away) % n)])
    });
    let best = |tour: Vec<u32>, moves: &mut dyn Iterator<Item = Vec<u32>>| {
        let nearest = moves.min_by_key(|moved| world.cost(moved)).unwrap_or_default();
        if !nearest.is_empty() && world.cost(&nearest) < world.cost(&tour) { nearest } else { tour }
    };
    let old = tour.clone();
    tour = best(tour, &mut across().filter(|(x, y)| x != y).map(|(x, y)| shifted(&old, x, y)));
    let old = tour.clone();
    tour = best(tour, &mut across().filter(|(x, y)| x != y).map(|(x, y)| exchanged(&old, x, y)));
    let old = tour.clone();
    world.cost(&best(tour, &mut around.map(|(x, y)| exchanged(&old, x, y))))
}

fn check<I: NodeId + Number>(world: &World, tour: &[u32], seed: u64) {
    let (n, mut individual): (u32, Array<I>) = (world.n, ids(tour));
    let draws = Stream::new(seed, 1, 2).step(1);
    // SAFETY: a tour of n nodes, whose places these are; nobody else is at work.
    let gain = unsafe { improve(Serial, (n, n.isqrt()), draws, world.places(), individual.slots()) };
    let made: Vec<u32> = individual.iter().map(|node| node.get()).collect();
    assert!(is_tour(n, &made), "no tour");
    assert_eq!(world.cost(&made), world.cost(tour) - gain, "the length told");
    let windows = [draws.below(0, n) as usize, draws.below(1, n) as usize];
    // Of equally good moves another one may be made, after which the next is another one, too.
    if world.on_grid().is_some_and(|_| n < 20) {
        assert_eq!(
            gain > 0,
            searched(world, tour.to_vec(), windows) < world.cost(tour),
            "whether there is a gain"
        );
    } else {
        assert_eq!(world.cost(&made), searched(world, tour.to_vec(), windows), "the best moves");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_best_move_of_each_kind_is_made(n in 4u32..60, seed: u64) {
        let tour = Dice::new(seed).shuffled(n);
        check::<u16>(&World::points(n, 1 << 20, seed), &tour, seed);
        check::<u32>(&World::points(n, 6, seed).clone(), &(0..n).collect::<Vec<_>>(), seed);
    }

    /// Without it all children are the same but for the first of each group, which is no longer than the best individual.
    #[test]
    fn the_first_child_of_a_group_is_its_best_individual_if_that_gets_shorter(
        n in 4u32..40,
        quarter in 1u32..5,
        shuffled in 0u32..2,
        seed: u64,
    ) {
        let world = World::points(n, 100, seed);
        for method in [method::BCSCX, method::ARX] {
            let rules = GenerationRules { seed, shuffled, ..rules(&world, (4 * quarter, 3), method) };
            let mut plain = Pool::<u16>::random(&world, &rules, seed);
            let mut improved = plain.copy();
            let best: Vec<_> = plain.costs[0].chunks(rules.group as usize).map(|group| *group.iter().min().unwrap()).collect();
            breed_all(&world, &rules, &mut plain);
            breed_all(&world, &GenerationRules { window: n.isqrt(), ..rules }, &mut improved);
            improved.check(&world, "with the best improved");
            let newborn = improved.newborn(rules.children());
            prop_assert!(newborn == plain.newborn(rules.children()), "children are elsewhere");
            let of_group = rules.children() / rules.groups;
            for (index, &(place, row)) in (0..).zip(&newborn) {
                let is_first = index % of_group == 0;
                let same = improved.individual(row) == plain.individual(row);
                let is_shorter = improved.cost(place) < best[(index / of_group) as usize];
                prop_assert!(same || is_first && is_shorter, "child {index} is another one");
            }
        }
    }
}

#[test]
fn a_random_tour_gets_shorter_again_and_again() {
    let world = World::points(100, 1000, 9);
    let rules = GenerationRules { window: 10, ..rules(&world, (8, 1), method::SCX) };
    let mut pool = Pool::<u16>::random(&world, &rules, 2);
    let mut gains = 0;
    for generation in 1..=50 {
        let best = pool.costs[0].iter().min().copied();
        breed_all(&world, &GenerationRules { generation, since: generation, ..rules }, &mut pool);
        gains += u32::from(pool.costs[0].iter().min().copied() < best);
    }
    assert!(gains > 25, "only {gains} generations of 50 made a better individual");
}
