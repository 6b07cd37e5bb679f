//! Optima of small problems, known from looking at all their solutions.

use crate::papers::search::instances::{Assignment, Graph, Numbers, Signs};
use crate::papers::search::world::{By, Naive, Walks, World, cost_of, rules};
use antwarp_core::papers::problem::Problem;
use antwarp_core::papers::search::{Strategy, WalkRules};

/// All permutations of 0 .. n.
fn permutations(n: u32) -> Vec<Vec<u32>> {
    if n == 0 {
        return vec![vec![]];
    }
    let shorter = permutations(n - 1);
    let longer = shorter.iter().flat_map(|items| {
        (0..n as usize).map(move |place| {
            let mut items = items.clone();
            items.insert(place, n - 1);
            items
        })
    });
    longer.collect()
}

/// All vectors of n values below k.
fn vectors(n: u32, k: u32) -> Vec<Vec<u8>> {
    let digits = |number: u32| (0..n).map(|i| (number / k.pow(i) % k) as u8).collect();
    (0..k.pow(n)).map(digits).collect()
}

fn check<N>(naive: N, solutions: &[Vec<crate::papers::search::world::ElementOf<N>>], tabu: (u32, u32))
where
    N: Naive<P: Problem<Cost = i64>>,
{
    let world = World::new(naive);
    let optimum = solutions.iter().map(|solution| world.naive.cost(solution)).min().unwrap();
    for strategy in [Strategy::Tabu, Strategy::Iterate, Strategy::Climb] {
        for seed in 0..5 {
            let rules = WalkRules { seed, tenure: tabu.0, tenures: 3, aspiration: tabu.1, ..rules(strategy) };
            let mut walks = Walks::new(&world, &rules);
            walks.go(600, By::Alone);
            let walk = walks.of(0);
            assert_eq!(world.naive.cost(&walk.best), cost_of::<N>(walk.state.best));
            assert_eq!(cost_of::<N>(walk.state.best), optimum, "{strategy:?}, seed {seed}");
        }
    }
}

#[test]
fn assignments_are_optimal() {
    let all = permutations(6);
    assert_eq!(all.len(), 720);
    for seed in 0..5 {
        check(Assignment::<true>::new(6, true, 40, seed), &all, (5, 80));
        check(Assignment::<false>::new(6, false, 40, seed), &all, (5, 80));
    }
}

#[test]
fn partitions_are_optimal() {
    for seed in 0..5 {
        check(Numbers::new(8, 2, 1000, seed), &vectors(8, 2), (4, 100));
        check(Numbers::new(8, 3, 1000, seed), &vectors(8, 3), (3, 60));
    }
}

#[test]
fn cuts_are_optimal() {
    for seed in 0..5 {
        check(Graph::new(9, 1, seed), &vectors(9, 2), (2, 30));
        check(Graph::new(10, 50, seed), &vectors(10, 2), (2, 30));
    }
}

#[test]
fn signs_are_optimal() {
    let all = vectors(7, 2);
    for seed in 0..5 {
        check(Signs::<1>::new(7, 7, seed), &all, (2, 30));
        check(Signs::<3>::new(7, 7, seed).demanding(), &all, (1, 20));
        // Two flips keep the parity of set bits, which the seeds' first solutions may have wrong.
        let odd = |solution: &[u8]| solution.iter().filter(|&&bit| bit == 1).count() % 2 == 1;
        let world = World::new(Signs::<2>::new(7, 7, seed));
        let mut walks = Walks::new(&world, &WalkRules { tenure: 1, ..rules(Strategy::Tabu) });
        walks.go(400, By::Alone);
        let walk = walks.of(0);
        let alike = all.iter().filter(|solution| odd(solution) == odd(&walk.best));
        assert_eq!(Some(cost_of::<Signs<2>>(walk.state.best)), alike.map(|s| world.naive.cost(s)).min());
    }
}
