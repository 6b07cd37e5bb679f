//! Children by hand, by search, and what they inherit.

use crate::common::trails::difference;
use crate::papers::genetic::world::{Dice, World, construct, is_tour, make, make_with};
use antwarp_core::papers::genetic::Crossover;
use proptest::prelude::*;

/// Ahmed 2010, section 4; cities are numbered from 1 there.
const AHMED: [[i32; 7]; 7] = [
    [999, 75, 99, 9, 35, 63, 8],
    [51, 999, 86, 46, 88, 29, 20],
    [100, 5, 999, 16, 28, 35, 28],
    [20, 45, 11, 999, 59, 53, 49],
    [86, 63, 33, 65, 999, 76, 72],
    [36, 53, 89, 31, 21, 999, 52],
    [58, 31, 43, 67, 52, 60, 999],
];

fn from_one(cities: &[u32]) -> Vec<u32> {
    cities.iter().map(|city| city - 1).collect()
}

#[test]
fn ahmeds_parents_have_ahmeds_child() {
    let world = World::of(7, |a, b| AHMED[a as usize][b as usize]);
    let (one, two) = (from_one(&[1, 5, 7, 3, 6, 4, 2]), from_one(&[1, 6, 2, 4, 3, 5, 7]));
    assert_eq!((world.cost(&one), world.cost(&two)), (312, 331));
    // From 7 the second parent has none left, and 2 of the template is nearer than the first one's 3; so on from 2 and 4.
    let expected = (from_one(&[1, 5, 7, 2, 4, 3, 6]), 266);
    assert_eq!(make::<u16>(&world, [&one, &two], 0, Crossover::Scx), expected);
    assert_eq!(make::<u32>(&world, [&one, &two], 0, Crossover::Scx), expected);
    // The start makes the tour's end: the same cycles, turned.
    let turned = |tour: &[u32], by: usize| [&tour[by..], &tour[..by]].concat();
    let (one, two) = (turned(&one, 3), turned(&two, 5));
    assert_eq!(make::<u16>(&world, [&one, &two], 0, Crossover::Scx), expected);
}

#[test]
fn the_papers_circle_and_its_template_lead_to_different_nodes() {
    // Section 2.2: after (1, 5) the first parent recommends 3 around the circle, and 2 of the template without one.
    let parents = [from_one(&[1, 3, 7, 6, 2, 4, 5]), from_one(&[1, 5, 7, 2, 6, 3, 4])];
    let near =
        |pairs: &'static [(u32, u32)]| {
            World::of(7, move |a, b| {
                if pairs.contains(&(a + 1, b + 1)) || pairs.contains(&(b + 1, a + 1)) { 1 } else { 9 }
            })
        };
    let third =
        |world: &World, crossover| make::<u16>(world, [&parents[0], &parents[1]], 0, crossover).0[2] + 1;
    let world = near(&[(1, 5), (5, 3), (5, 2)]);
    assert_eq!(third(&world, Crossover::Bcscx), 3);
    assert_eq!(third(&world, Crossover::Scx), 2);
    // The other candidates are 4 (before, in both) and 7.
    assert_eq!(third(&near(&[(1, 5), (5, 4), (5, 2), (5, 6)]), Crossover::Bcscx), 4);
    assert_eq!(third(&near(&[(1, 5), (5, 7), (5, 2), (5, 6)]), Crossover::Bcscx), 7);
    assert_eq!(third(&near(&[(1, 5), (5, 7), (5, 2)]), Crossover::Scx), 7);
}

/// All crossovers; ARX that switches anywhere, at the child's ends too.
fn crossovers(n: u32, dice: &mut Dice) -> Vec<Crossover> {
    let (a, b) = (dice.below(n + 1), dice.below(n + 1));
    let mut all = vec![Crossover::Scx, Crossover::Bcscx];
    for (from, to) in [(a.min(b), a.max(b)), (0, a), (a, n), (0, n), (b, b)] {
        all.extend([false, true].map(|second| Crossover::Arx { from, to, second }));
    }
    all
}

fn check(world: &World, dice: &mut Dice) {
    let n = world.n;
    let (one, two, start) = (dice.shuffled(n), dice.shuffled(n), dice.below(n));
    for crossover in crossovers(n, dice) {
        let (child, cost) = make::<u32>(world, [&one, &two], start, crossover);
        assert!(is_tour(n, &child), "{crossover:?} makes no tour");
        assert_eq!(cost, world.cost(&child), "the cost that {crossover:?} tells");
        let expected = construct([&one, &two], start, crossover, |a, b| world.distance(a, b));
        assert_eq!(difference(&child, &expected), None, "{crossover:?} among {n} nodes from {start}");
        let narrow = make::<u16>(world, [&one, &two], start, crossover);
        assert!(narrow == (child, cost), "{crossover:?} depends on the width of ids");
        // In the plane the nearest is so before distances are rounded.
        if let Some(places) = world.on_grid() {
            let (child, cost) = make_with::<u32, _>(n, places, [&one, &two], start, crossover);
            assert_eq!(cost, world.cost(&child), "the cost that {crossover:?} tells in the plane");
            let expected = construct([&one, &two], start, crossover, |a, b| world.square(a, b));
            assert_eq!(difference(&child, &expected), None, "{crossover:?} among {n} places from {start}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn children_are_those_of_a_search(n in 4u32..200, extent in prop::sample::select(vec![1, 3, 30, 5000]), seed: u64) {
        check(&World::points(n, extent, seed), &mut Dice::new(!seed));
    }

    #[test]
    fn children_of_directed_edges_are_those_of_a_search(
        n in 4u32..120,
        most in prop::sample::select(vec![2, 10, 100_000]),
        seed: u64,
    ) {
        check(&World::directed(n, most, seed), &mut Dice::new(!seed));
    }
}

#[test]
fn two_nodes_have_children_too() {
    let world = World::of(2, |a, b| (3 * a + b) as i32);
    for crossover in crossovers(2, &mut Dice::new(1)) {
        assert_eq!(make::<u16>(&world, [&[0, 1], &[1, 0]], 1, crossover), (vec![1, 0], 4), "{crossover:?}");
    }
}

#[test]
fn among_equally_near_nodes_the_first_is_taken() {
    // All distances are equal: forwards in the first parent, but for SCX, which goes on in the second.
    let world = World::of(6, |_, _| 1);
    let (one, two) = (vec![2, 0, 1, 4, 5, 3], vec![0, 5, 4, 3, 2, 1]);
    let child = |crossover| make::<u16>(&world, [&one, &two], 0, crossover).0;
    assert_eq!(child(Crossover::Bcscx), [0, 1, 4, 5, 3, 2]);
    assert_eq!(child(Crossover::Scx), two);
    assert_eq!(child(Crossover::Arx { from: 0, to: 0, second: false }), [0, 1, 4, 5, 3, 2]);
    assert_eq!(child(Crossover::Arx { from: 0, to: 0, second: true }), two);
}

/// Whose next open node each node of a child is, where all distances are equal; `None` where it is both parents'.
pub fn recommenders(child: &[u32], parents: [&[u32]; 2]) -> Vec<Option<usize>> {
    (1..child.len())
        .map(|i| {
            let is_open = |v: u32| child[i..].contains(&v);
            let next = parents
                .map(|parent| crate::papers::genetic::world::seek(parent, child[i - 1], true, is_open));
            assert!(next.contains(&child[i]), "nobody recommends place {i}");
            let [one, two] = next.map(|node| node == child[i]);
            if one && two { None } else { Some(usize::from(two)) }
        })
        .collect()
}

#[test]
fn parents_recommend_at_the_places_that_arx_gives_them() {
    let mut dice = Dice::new(3);
    for n in [4, 5, 30, 91] {
        let world = World::of(n, |_, _| 1);
        for _ in 0..40 {
            let (one, two, start) = (dice.shuffled(n), dice.shuffled(n), dice.below(n));
            let (a, b) = (dice.below(n + 1), dice.below(n + 1));
            let (from, to) = (a.min(b), a.max(b));
            for second in [false, true] {
                let crossover = Crossover::Arx { from, to, second };
                let (child, _) = make::<u16>(&world, [&one, &two], start, crossover);
                for (i, parent) in (1..n).zip(recommenders(&child, [&one, &two])) {
                    let expected = usize::from((from..to).contains(&i) != second);
                    let right = parent.is_none_or(|parent| parent == expected);
                    assert!(right, "the other parent at place {i} of {n}, {crossover:?}");
                }
            }
        }
    }
}

/// Points on a circle in the order of their numbers: every node's neighbours are nearer than all others.
fn ring(n: u32) -> World {
    World::of(n, |a, b| {
        let apart = a.abs_diff(b);
        10 * apart.min(n - apart) as i32
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// With two equal parents SCX goes around as they do. The others walk to either side of what is visited, which
    /// gives another tour where the far side is nearer, but for all the same.
    #[test]
    fn equal_parents_have_one_child_by_all_ways_in_both_directions(n in 4u32..80, seed: u64) {
        let mut dice = Dice::new(seed);
        let world = World::points(n, 50, !seed);
        let (parent, start) = (dice.shuffled(n), dice.below(n));
        let at = |node| parent.iter().position(|&v| v == node).unwrap();
        let turned = [&parent[at(start)..], &parent[..at(start)]].concat();
        let parents = [&parent[..], &turned];
        let (child, _) = make::<u16>(&world, parents, start, Crossover::Bcscx);
        for crossover in crossovers(n, &mut dice) {
            let (other, _) = make::<u16>(&world, parents, start, crossover);
            let expected = if crossover == Crossover::Scx { &turned } else { &child };
            assert_eq!(difference(&other, expected), None, "{crossover:?}");
        }
        // What is visited is always a stretch of the parent.
        let (mut first, mut last) = (at(start), at(start));
        for (i, &node) in child.iter().enumerate().skip(1) {
            if at(node) == (last + 1) % n as usize { last = at(node) } else { first = (first + n as usize - 1) % n as usize }
            assert!([first, last].contains(&at(node)), "place {i} is not beside what is visited");
        }
    }

    /// Where the parents are the best of tours, so are the children.
    #[test]
    fn equal_parents_around_a_circle_have_themselves_as_child(n in 4u32..80, seed: u64) {
        let world = ring(n);
        let mut dice = Dice::new(seed);
        let by = dice.below(n);
        let parent: Vec<u32> = (0..n).map(|i| (i + by) % n).collect();
        let back: Vec<u32> = parent.iter().rev().copied().collect();
        for crossover in crossovers(n, &mut dice) {
            if crossover == Crossover::Scx {
                continue;
            }
            for parents in [[&parent, &parent], [&parent, &back], [&back, &back]] {
                let (child, cost) = make::<u16>(&world, [parents[0], parents[1]], dice.below(n), crossover);
                let steps = child.windows(2).map(|pair| (pair[1] + n - pair[0]) % n);
                let around = steps.clone().all(|s| s == 1) || steps.clone().all(|s| s == n - 1);
                assert!(around, "{crossover:?} leaves a circle of {n} nodes");
                assert_eq!(cost, i64::from(10 * n));
            }
        }
    }
}

#[test]
fn equal_parents_may_have_a_shorter_child_in_both_directions() {
    // On a line. The parents go from 1 to 2, and then 3, on the far side of what is visited, is nearer than 0.
    let world = World::of(4, |a, b| 10 * a.abs_diff(b) as i32);
    let parent = [0, 2, 1, 3];
    assert_eq!(world.cost(&parent), 80);
    assert_eq!(make::<u16>(&world, [&parent, &parent], 1, Crossover::Bcscx), (vec![1, 2, 3, 0], 60));
    assert_eq!(make::<u16>(&world, [&parent, &parent], 1, Crossover::Scx), (vec![1, 3, 0, 2], 80));
}
