//! Small tours: valid, as long as they say, optimal where there are few nodes, and the same by every team.

use antwarp_core::distance::{Distance, Plane};
use antwarp_core::lin_kernighan::small::{EXTENT, FIXED, Flat, Place, Plan, Small, neighbors, words};
use antwarp_core::team::{Serial, Team};
use proptest::prelude::*;

use crate::common::cases;
use crate::common::memory::Array;
use crate::common::teams::{ORDERS, Shareable, run};
use crate::common::world::Dice;

#[derive(Clone, Copy)]
struct Matrix<'a>(&'a [i32], u32);

impl Distance for Matrix<'_> {
    unsafe fn between(self, i: u32, j: u32) -> i32 {
        self.0[(i * self.1 + j) as usize]
    }

    fn plane(self) -> Option<Plane> {
        None
    }
}

fn plan(kicks: u32) -> Plan {
    Plan { seed: 3, kicks, segment: 50, temperature: 0.1, padding: 0 }
}

fn matrix(n: u32, most: u32, dice: &mut Dice) -> Vec<i32> {
    let mut matrix = vec![0; (n * n) as usize];
    for i in 0..n {
        for j in 0..i {
            let far = dice.below(most) as i32;
            matrix[(i * n + j) as usize] = far;
            matrix[(j * n + i) as usize] = far;
        }
    }
    matrix
}

/// Distances between the nodes of groups, where node i is in group i % `groups`, and those between the groups. No way through a third
/// group is shorter.
fn grouped(n: u32, groups: u32, dice: &mut Dice) -> (Vec<i32>, Vec<i32>) {
    let mut between = matrix(groups, 500_000, dice);
    for far in between.iter_mut().filter(|far| **far > 0) {
        *far += 500_000;
    }
    let mut near = matrix(n, 100, dice);
    for at in 0..n * n {
        near[at as usize] += between[(at / n % groups * groups + at % n % groups) as usize];
    }
    (near, between)
}

fn memory(n: u32) -> Array<u64> {
    Array::rubbish(words(n, neighbors(n)).div_ceil(2) as usize)
}

/// Returns the best tour and its length, as a team finds it.
///
/// # Safety
/// The memory is that of n nodes.
unsafe fn search<T: Team, D: Distance>(
    team: T,
    n: u32,
    distances: (D, bool),
    memory: *mut u64,
    plan: Plan,
) -> (Vec<u32>, i64) {
    // SAFETY: the caller's promise.
    unsafe {
        let tour = Small::new(n, distances, memory.cast());
        let cost = tour.search(team, plan, |_| false);
        team.barrier();
        ((0..n).map(|at| tour.best().get(at).into()).collect(), cost)
    }
}

/// The same, from a given tour.
///
/// # Safety
/// The memory is that of n nodes.
unsafe fn improve<T: Team, D: Distance>(
    team: T,
    start: &[u32],
    distances: (D, bool),
    memory: *mut u64,
    plan: Plan,
) -> (Vec<u32>, i64) {
    let n = start.len() as u32;
    // SAFETY: the caller's promise; the tour is one.
    unsafe {
        let tour = Small::new(n, distances, memory.cast());
        team.for_each(n, |at| tour.best().set(at, start[at as usize] as u16));
        team.barrier();
        let cost = tour.improve(team, plan, |_| false);
        team.barrier();
        ((0..n).map(|at| tour.best().get(at).into()).collect(), cost)
    }
}

fn alone(n: u32, matrix: &[i32], has_fixed: bool, plan: Plan) -> (Vec<u32>, i64) {
    let mut memory = memory(n);
    // SAFETY: the memory is that of n nodes.
    unsafe { search(Serial, n, (Matrix(matrix, n), has_fixed), memory.start(), plan) }
}

fn steps(tour: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    tour.iter().copied().zip(tour.iter().copied().cycle().skip(1))
}

fn check(n: u32, matrix: &[i32], (tour, cost): &(Vec<u32>, i64)) {
    let mut nodes = tour.clone();
    nodes.sort_unstable();
    assert!(nodes.into_iter().eq(0..n), "{tour:?}");
    let far = |(a, b): (u32, u32)| i64::from(matrix[(a * n + b) as usize]);
    let own: i64 = steps(tour).map(far).filter(|&far| far != i64::from(FIXED)).sum();
    assert_eq!(own, *cost);
}

/// Returns the length of the shortest tour, by dynamic programming.
fn optimum(n: u32, matrix: &[i32]) -> i64 {
    let (n, all) = (n as usize, 1_usize << (n - 1));
    let mut best = vec![i64::MAX / 2; all * n];
    for node in 1..n {
        best[(1 << (node - 1)) * n + node] = matrix[node].into();
    }
    for seen in 1..all {
        for last in 1..n {
            for next in (1..n).filter(|next| seen >> (next - 1) & 1 == 0) {
                let to = (seen | 1 << (next - 1)) * n + next;
                best[to] = best[to].min(best[seen * n + last] + i64::from(matrix[last * n + next]));
            }
        }
    }
    (1..n).map(|last| best[(all - 1) * n + last] + i64::from(matrix[last * n])).min().unwrap()
}

#[test]
fn few_nodes_are_solved_to_optimality() {
    let mut dice = Dice::new(1);
    for n in 8..=11 {
        for most in [2, 10, 1_000_000] {
            for _ in 0..10 {
                let matrix = matrix(n, most, &mut dice);
                let found = alone(n, &matrix, false, plan(50));
                check(n, &matrix, &found);
                assert_eq!(found.1, optimum(n, &matrix), "{n} nodes, {matrix:?}");
            }
        }
    }
}

#[test]
fn groups_that_are_far_apart_are_joined_by_a_shortest_tour() {
    let mut dice = Dice::new(8);
    for groups in 8..=11 {
        // A list has eight nodes.
        for each in [9, 30] {
            let n = groups * each;
            let (matrix, between) = grouped(n, groups, &mut dice);
            let found = alone(n, &matrix, false, plan(5));
            check(n, &matrix, &found);
            assert!(found.1 - optimum(groups, &between) < 100 * i64::from(n), "{groups} groups of {each}");
        }
    }
}

#[test]
fn a_negative_tour_is_searched_like_a_positive_one() {
    let n = 30;
    let mut dice = Dice::new(7);
    let mut positive = matrix(n, 100, &mut dice);
    positive.iter_mut().for_each(|far| *far *= 2 * n as i32);
    // The first local optimum gets the length of before with the other sign, and all tours differ by as much as before.
    let (_, first) = alone(n, &positive, false, plan(0));
    let less = (2 * first / i64::from(n)) as i32;
    let negative: Vec<i32> = positive.iter().map(|far| far - less).collect();
    assert_eq!(alone(n, &negative, false, plan(0)).1, -first);
    let plan = Plan { temperature: 1.0, ..plan(20) };
    let (there, here) = (alone(n, &positive, false, plan), alone(n, &negative, false, plan));
    assert_eq!((there.0, there.1 - 2 * first), here);
}

#[test]
fn places_may_be_the_same_or_on_a_line() {
    let mut dice = Dice::new(2);
    for n in [8, 20, 100, 333] {
        for kind in 0..4 {
            let mut at = || dice.below(1 << 21) as f32;
            let place = |i: u32| match kind {
                0 => Place(3.0, 4.0),
                1 if !i.is_multiple_of(3) => Place(7.0, EXTENT),
                2 => Place(at(), 0.0),
                _ => Place(at(), at()),
            };
            let places: Vec<Place> = (0..n).map(place).collect();
            let flat = Flat { places: places.as_ptr() };
            // SAFETY: there are n places.
            let far = |at: u32| unsafe { flat.between(at / n, at % n) };
            let matrix: Vec<i32> = (0..n * n).map(far).collect();
            let mut memory = memory(n);
            // SAFETY: the memory is that of n nodes.
            let found = unsafe { search(Serial, n, (flat, false), memory.start(), plan(3)) };
            check(n, &matrix, &found);
            assert_eq!(found, alone(n, &matrix, false, plan(3)), "by a matrix of the same distances");
            if kind == 0 {
                assert_eq!(found.1, 0);
            }
            if kind == 2 {
                let width = |most: f32, place: &Place| if place.0 > most { place.0 } else { most };
                let high = places.iter().fold(0.0, width);
                let low =
                    -places.iter().map(|&Place(x, y)| Place(-x, y)).fold(-EXTENT, |most, p| width(most, &p));
                assert_eq!(found.1, 2 * (high - low) as i64, "there and back");
            }
        }
    }
}

#[test]
fn fixed_edges_stay() {
    let mut dice = Dice::new(4);
    for n in [8, 9, 30, 121] {
        let mut matrix = matrix(n, 1000, &mut dice);
        let order = dice.shuffled(n);
        let pairs: Vec<_> =
            order.chunks_exact(2).take(n as usize / 3).map(|pair| [pair[0], pair[1]]).collect();
        for &[a, b] in &pairs {
            (matrix[(a * n + b) as usize], matrix[(b * n + a) as usize]) = (FIXED, FIXED);
        }
        let [local, found] = [0, 20].map(|kicks| alone(n, &matrix, true, plan(kicks)));
        for found in [&local, &found] {
            check(n, &matrix, found);
            let kept = steps(&found.0).filter(|&(a, b)| matrix[(a * n + b) as usize] == FIXED);
            assert_eq!(kept.count(), pairs.len());
        }
        assert!(found.1 <= local.1);
    }
}

#[test]
fn a_search_can_be_stopped() {
    let mut dice = Dice::new(5);
    let matrix = matrix(50, 1000, &mut dice);
    let mut memory = memory(50);
    // SAFETY: the memory is that of 50 nodes.
    let cost = unsafe {
        let tour = Small::new(50, (Matrix(&matrix, 50), false), memory.start().cast());
        tour.search(Serial, plan(1000), |_| true)
    };
    assert_eq!(cost, alone(50, &matrix, false, plan(0)).1);
}

proptest! {
    #![proptest_config(cases(24))]
    #[test]
    fn every_team_finds_the_same(
        n in 8_u32..80,
        most in 1_u32..2000,
        groups in 0_u32..6,
        seed: u64,
        size in prop::sample::select(vec![2_u32, 7, 32]),
    ) {
        let mut dice = Dice::new(seed);
        let matrix = match groups {
            0 | 1 => matrix(n, most, &mut dice),
            _ => grouped(n, groups, &mut dice).0,
        };
        let expected = alone(n, &matrix, false, plan(2));
        check(n, &matrix, &expected);
        let given: Vec<u32> = (0..n).collect();
        let mut own = memory(n);
        // SAFETY: the memory is that of n nodes.
        let improved = unsafe { improve(Serial, &given, (Matrix(&matrix, n), false), own.start(), plan(2)) };
        check(n, &matrix, &improved);
        let length: i64 = steps(&given).map(|(a, b)| i64::from(matrix[(a * n + b) as usize])).sum();
        prop_assert!(improved.1 <= length);
        for order in ORDERS {
            let mut memory = memory(n);
            let start = Shareable::new(memory.start());
            let found = run(size, order, |team| {
                // SAFETY: the memory is that of n nodes.
                unsafe { search(team, n, (Matrix(&matrix, n), false), start.get(), plan(2)) }
            });
            for found in found {
                prop_assert_eq!(&found, &expected, "{:?}, {} members", order, size);
            }
            let found = run(size, order, |team| {
                // SAFETY: the memory is that of n nodes.
                unsafe { improve(team, &given, (Matrix(&matrix, n), false), start.get(), plan(2)) }
            });
            for found in found {
                prop_assert_eq!(&found, &improved, "{:?}, {} members", order, size);
            }
        }
    }
}
