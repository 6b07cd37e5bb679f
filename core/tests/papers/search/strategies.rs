//! Climbing, iterated search and annealing, iteration by iteration; what stops a walk, and what rivals tell each other.

use crate::common::statistics::{LEVEL, fit};
use crate::papers::search::instances::{Assignment, Graph, NestedSigns, Numbers, Rough, Signs, Tours};
use crate::papers::search::world::{
    By, ElementOf, Naive, Snapshot, Walks, World, cost_of, distance, exchanges, rules,
};
use antwarp_core::geometry::Numbered;
use antwarp_core::papers::neighborhood::Neighborhood;
use antwarp_core::papers::problem::{NestedTour, Problem, RotatedTour, SwappedTour};
use antwarp_core::papers::search::{Cost, LEVELS, Strategy, WalkRules, random_solution};
use antwarp_core::rng::Stream;

const ALL: [Strategy; 5] =
    [Strategy::Tabu, Strategy::Climb, Strategy::Anneal, Strategy::Iterate, Strategy::Vary];

type Seen<N> = Snapshot<ElementOf<N>>;

/// The walk after each iteration, from the 0th on; until it is done.
fn steps<N: Naive>(world: &World<N>, rules: &WalkRules, iterations: u64) -> Vec<Seen<N>> {
    let mut walks = Walks::new(world, rules);
    let mut seen = vec![];
    for end in 0..=iterations {
        walks.go(end, By::Alone);
        let walk = walks.of(0);
        let cost = cost_of::<N>(walk.state.cost);
        assert!(world.naive.agrees(cost, world.naive.cost(&walk.solution)));
        assert!(world.naive.agrees(cost_of::<N>(walk.state.best), world.naive.cost(&walk.best)));
        seen.push(walk);
        if seen[seen.len() - 1].state.done != 0 {
            break;
        }
    }
    for pair in seen.windows(2) {
        let (before, now) = (&pair[0].state, &pair[1].state);
        assert_eq!(now.iterations, before.iterations + 1);
        let (cost, best) = (cost_of::<N>(now.cost), cost_of::<N>(before.best));
        assert_eq!(now.best, if cost < best { now.cost } else { before.best }, "the best is forgotten");
        let since = if cost < best { now.iterations } else { before.best_iteration };
        assert_eq!(now.best_iteration, since);
    }
    seen
}

/// The smallest cost of a neighbour.
fn least<N: Naive>(world: &World<N>, walk: &Seen<N>) -> u64 {
    let stream = Stream::new(11, walk.state.iterations as u32, 0);
    let neighbors = world.naive.neighbors(&walk.solution, stream);
    neighbors.iter().map(|neighbor| world.naive.cost(neighbor).key()).min().unwrap()
}

fn key<N: Naive>(bits: u64) -> u64 {
    cost_of::<N>(bits).key()
}

/// Goes down to a best neighbour while there is one, then begins anew.
fn check_climbing<N: Naive<P: Problem<Cost = i64>>>(naive: N) {
    let world = World::new(naive);
    let rules = WalkRules { descents: 12, ..rules(Strategy::Climb) };
    let seen = steps(&world, &rules, 1000);
    let moves = world.problem.moves();
    let start = |descent| -> Vec<_> {
        (0..moves.elements()).map(|i| random_solution(&moves, rules.seed, descent, 0, i)).collect()
    };
    let mut starts = vec![start(0)];
    assert_eq!(seen[0].solution, starts[0]);
    for pair in seen.windows(2) {
        let (before, now) = (&pair[0], &pair[1]);
        let cost = key::<N>(before.state.cost);
        let least = least(&world, before);
        if now.state.descents == before.state.descents {
            assert!(least < cost, "it goes on from a local optimum");
            assert_eq!(key::<N>(now.state.cost), least, "not to the best");
        } else {
            assert!(least >= cost, "it ends at {cost} beside {least}");
            assert_eq!(now.state.descents, before.state.descents + 1);
            if now.state.done == 0 {
                starts.push(start(now.state.descents));
                assert_eq!(now.solution, starts[starts.len() - 1]);
            } else {
                assert_eq!(now.solution, before.solution);
            }
        }
    }
    let last = &seen[seen.len() - 1].state;
    assert!(last.descents == 12 && last.done != 0);
    assert_eq!(last.evaluations, last.iterations * world.len());
    let repeated = (0..starts.len()).filter(|&i| starts[..i].contains(&starts[i])).count();
    assert!(starts.len() == 12 && repeated < 3, "{repeated} descents begin where others began");
}

#[test]
fn climbing_ends_in_local_optima() {
    check_climbing(Assignment::<true>::new(8, true, 30, 1));
    check_climbing(Assignment::<false>::new(7, false, 30, 2));
    check_climbing(Signs::<1>::new(21, 11, 1));
    check_climbing(Signs::<2>::new(21, 9, 2));
    check_climbing(Tours::<SwappedTour<Numbered>>::numbered(8, 1));
    check_climbing(Tours::<RotatedTour<Numbered>>::numbered(7, 1));
    check_climbing(Numbers::new(9, 3, 10_000, 1));
    check_climbing(Graph::new(12, 9, 1));
}

#[test]
fn equal_neighbours_take_turns() {
    // From all numbers in one set, any may go to the other.
    let world = World::new(Numbers::of(&[5, 5, 5, 5], 2));
    let mut counts = [0; 4];
    for seed in 0..2000 {
        let mut walks = Walks::new(&world, &WalkRules { seed, ..rules(Strategy::Climb) });
        walks.go(0, By::Alone);
        let start = walks.of(0).solution;
        if start != [0; 4] {
            continue;
        }
        walks.go(1, By::Alone);
        counts[walks.of(0).solution.iter().position(|&set| set == 1).unwrap()] += 1;
    }
    let p = fit(&counts, &[1.0; 4]);
    assert!(counts.iter().sum::<u64>() > 80 && p > LEVEL, "{counts:?}, p = {p:e}");
}

/// Accepted optima get no worse; from each, so many random moves lead away.
fn check_iterated<N: Naive<P: Problem<Cost = i64>>>(naive: N, kicks: u32, reach: usize) -> u32 {
    let world = World::new(naive);
    let seen = steps(&world, &WalkRules { kicks, ..rules(Strategy::Iterate) }, 150);
    assert_eq!(seen[0].accepted, seen[0].solution);
    let mut refused = 0;
    for pair in seen.windows(2) {
        let (before, now) = (&pair[0], &pair[1]);
        let (cost, least) = (key::<N>(before.state.cost), least(&world, before));
        assert!(key::<N>(now.state.accepted) <= key::<N>(before.state.accepted), "worse is accepted");
        assert_eq!(world.naive.cost(&now.accepted), cost_of::<N>(now.state.accepted));
        if now.state.descents == before.state.descents {
            assert!(least < cost && key::<N>(now.state.cost) == least);
            assert_eq!((now.state.accepted, &now.accepted), (before.state.accepted, &before.accepted));
        } else {
            assert!(least >= cost, "it ends at {cost} beside {least}");
            let is_accepted = cost <= key::<N>(before.state.accepted);
            let expected = if is_accepted {
                before
            } else {
                &Seen::<N> { solution: before.accepted.clone(), ..before.clone() }
            };
            assert_eq!(now.accepted, expected.solution, "{is_accepted}");
            assert!(distance(&now.solution, &now.accepted) <= reach, "too far away");
            refused += u32::from(!is_accepted);
        }
    }
    let optima = seen[seen.len() - 1].state.descents;
    assert!(optima > 10, "only {optima} optima");
    refused
}

#[test]
fn iterated_search_accepts_nothing_worse() {
    let mut refused = check_iterated(Assignment::<true>::new(8, true, 30, 1), 2, 4);
    refused += check_iterated(Assignment::<false>::new(8, false, 30, 1), 3, 6);
    refused += check_iterated(Signs::<2>::new(21, 12, 2), 2, 4);
    refused += check_iterated(Tours::<RotatedTour<Numbered>>::numbered(9, 1), 1, 3);
    refused += check_iterated(Numbers::new(12, 3, 10_000, 1), 4, 4);
    refused += check_iterated(Graph::new(16, 9, 1), 3, 4);
    assert!(refused > 10, "{refused} optima refused");
    // Without a kick it comes to the same optimum again and again.
    let world = World::new(Numbers::new(12, 3, 10_000, 1));
    let seen = steps(&world, &WalkRules { kicks: 0, descents: 9, ..rules(Strategy::Iterate) }, 100);
    let optimum = &seen[seen.len() - 1];
    assert!(optimum.state.done != 0 && optimum.solution == optimum.accepted);
    assert!(seen[seen.len() - 9..].iter().all(|walk| walk.solution == optimum.solution));
}

/// Descents through levels: each step leads to the best or the first better neighbour of the level, or to the next level, and
/// away where no level has a better one. How many steps led to neighbours of each level.
fn check_levels<N: Naive<P: Problem<Cost = i64>>>(naive: N, rules: WalkRules) -> Vec<u32> {
    let world = World::new(naive);
    let moves = world.problem.moves();
    let rules = WalkRules { levels: moves.levels(), ..rules };
    let mut steps_of = vec![0; moves.levels() as usize];
    for pair in steps(&world, &rules, 300).windows(2) {
        let (before, now) = (&pair[0], &pair[1]);
        let stream = Stream::new(rules.seed, before.state.iterations as u32, 0);
        let neighbors = world.naive.neighbors(&before.solution, stream);
        let (start, end) = moves.level(before.state.level);
        let len = end - start;
        let key_at = |index: u64| world.naive.cost(&neighbors[index as usize]).key();
        let own = key::<N>(before.state.cost);
        let seen = now.state.evaluations - before.state.evaluations;
        let draws = stream.step(0);
        let bits = u64::from(draws.bits(0)) << 32 | u64::from(draws.bits(1));
        let from = ((u128::from(bits) * u128::from(len)) >> 64) as u64;
        let better = (0..len).map(|ahead| (from + ahead) % len).position(|at| key_at(start + at) < own);
        let least = (start..end).map(key_at).min().unwrap();
        let Some(ahead) = better else {
            assert_eq!(seen, len);
            if before.state.level + 1 < rules.levels {
                let stays = Seen::<N> { state: now.state, ..before.clone() };
                assert_eq!((now, now.state.level), (&stays, before.state.level + 1));
            } else {
                assert_eq!((now.state.level, now.state.descents), (0, before.state.descents + 1));
            }
            continue;
        };
        let expected =
            if rules.first == 0 { (len, least) } else { (ahead as u64 + 1, key::<N>(now.state.cost)) };
        assert_eq!((seen, key::<N>(now.state.cost)), expected);
        if rules.first != 0 {
            assert_eq!(now.solution, neighbors[(start + (from + ahead as u64) % len) as usize]);
        }
        assert_eq!((now.state.level, now.state.descents), (0, before.state.descents));
        steps_of[before.state.level as usize] += 1;
    }
    steps_of
}

#[test]
fn descents_go_through_all_neighbourhoods() {
    // Flips of three signs are seldom better where none of two is.
    let mut improved = [0; 2];
    for first in [0, 1] {
        for strategy in [Strategy::Climb, Strategy::Iterate, Strategy::Vary] {
            let rules = WalkRules { first, ..rules(strategy) };
            let signs = check_levels(NestedSigns(Signs::new(40, 17, 1)), rules);
            let tours = check_levels(Tours::<NestedTour<Numbered>>::numbered(9, 1), rules);
            assert!(tours.iter().all(|&steps| steps > 0), "{rules:?}: {tours:?}");
            improved = [improved[0] + signs[0], improved[1] + signs[1]];
            check_levels(Assignment::<true>::new(8, true, 30, 1), rules);
            check_levels(Assignment::<false>::new(7, false, 30, 2), rules);
            check_levels(Numbers::new(9, 3, 10_000, 1), rules);
            check_levels(Graph::new(12, 9, 1), rules);
        }
    }
    assert!(improved.iter().all(|&steps| steps > 0), "{improved:?}");
}

#[test]
fn variable_search_goes_further_after_every_failure() {
    let world = World::new(NestedSigns(Signs::new(33, 12, 2)));
    let rules = WalkRules { kicks: 4, levels: 2, ..rules(Strategy::Vary) };
    let (mut shakes, mut expected) = ([0; 5], 0);
    for pair in steps(&world, &rules, 400).windows(2) {
        let (before, now) = (&pair[0], &pair[1]);
        if now.state.descents == before.state.descents {
            continue;
        }
        let (cost, accepted) = (before.state.cost as i64, before.state.accepted as i64);
        expected = if cost < accepted || expected == 4 { 1 } else { expected + 1 };
        assert_eq!(now.state.shake, expected);
        assert_eq!(now.state.accepted as i64, cost.min(accepted));
        assert_eq!(world.naive.cost(&now.accepted), cost.min(accepted));
        // Each move flips a sign.
        let away = distance(&now.solution, &now.accepted) as u32;
        assert!(away <= expected && away % 2 == expected % 2, "{away} signs away after {expected} moves");
        shakes[expected as usize] += 1;
    }
    assert!(shakes[1..].iter().all(|&count| count > 0), "{shakes:?}");
}

#[test]
fn kicks_are_uniform() {
    // From the optimum that is found first, one kick to any neighbour.
    let world = World::new(Assignment::<false>::new(5, true, 30, 1));
    let mut counts = [0; 10];
    for seed in 0..3000 {
        let rules = WalkRules { seed, kicks: 1, ..rules(Strategy::Iterate) };
        let mut walks = Walks::new(&world, &rules);
        let mut end = 0;
        while walks.of(0).state.descents == 0 {
            walks.go(end, By::Alone);
            end += 1;
        }
        let walk = walks.of(0);
        counts[exchanges(&walk.accepted).iter().position(|there| *there == walk.solution).unwrap()] += 1;
    }
    let p = fit(&counts, &[1.0; 10]);
    assert!(p > LEVEL, "{counts:?}, p = {p:e}");
}

fn check_annealing<N: Naive>(naive: N) {
    let world = World::new(naive);
    let all = WalkRules { hot: f32::INFINITY, ratio: 1.0, ..rules(Strategy::Anneal) };
    let seen = steps(&world, &all, 200);
    assert!(seen.windows(2).all(|pair| pair[0].solution != pair[1].solution), "a proposal is refused");
    for hot in [0.0, 1e-30] {
        let seen = steps(&world, &WalkRules { hot, ..all }, 200);
        let rises = seen
            .windows(2)
            .filter(|pair| cost_of::<N>(pair[1].state.cost) > cost_of::<N>(pair[0].state.cost));
        assert_eq!(rises.count(), 0, "up at temperature {hot}");
        let falls = seen.windows(2).filter(|pair| pair[0].solution != pair[1].solution);
        assert!(falls.count() > 2, "it never moves");
        assert_eq!(seen[200].state.evaluations, 200);
    }
}

#[test]
fn annealing_accepts_all_or_nothing_worse() {
    check_annealing(Assignment::<true>::new(8, true, 30, 1));
    check_annealing(Assignment::<false>::new(8, false, 30, 1));
    check_annealing(Signs::<1>::new(21, 11, 1));
    check_annealing(Signs::<3>::new(21, 9, 1));
    check_annealing(Tours::<SwappedTour<Numbered>>::numbered(9, 1));
    check_annealing(Numbers::new(12, 3, 10_000, 1));
    check_annealing(Graph::new(12, 900, 1));
    check_annealing(Rough::<f32>::new(2, 5, 9));
    check_annealing(Rough::<f64>::new(2, 5, 9));
}

/// Two numbers, together in a set or apart: two costs, from each to the other in any move.
fn apart(walk: &Snapshot<u8>) -> bool {
    walk.solution[0] != walk.solution[1]
}

#[test]
fn annealing_keeps_the_rule_of_metropolis() {
    for (hot, number) in [(10.0, 1i64), (2.0, 1), (0.7, 1), (1e6, 600)] {
        // Together they cost so much more.
        let rise = (2 * number * number) as f64;
        let world = World::new(Numbers::of(&[number, number], 2));
        let mut counts = [0; 2];
        let rules = WalkRules { hot, ratio: 1.0, target: 0, ..rules(Strategy::Anneal) };
        for pair in steps(&world, &rules, 10_000).windows(2) {
            if apart(&pair[0]) {
                counts[usize::from(!apart(&pair[1]))] += 1;
            } else {
                assert!(apart(&pair[1]), "a better solution is refused");
            }
        }
        let accepted = (-rise / f64::from(hot)).exp();
        let p = fit(&counts, &[1.0 - accepted, accepted]);
        assert!(p > LEVEL, "{rise} at {hot}: {counts:?}, p = {p:e}");
    }
}

#[test]
fn proposals_are_uniform() {
    let world = World::new(Assignment::<false>::new(5, true, 30, 1));
    let seen = steps(&world, &WalkRules { hot: f32::INFINITY, ratio: 1.0, ..rules(Strategy::Anneal) }, 5000);
    let mut counts = [0; 10];
    for pair in seen.windows(2) {
        counts[exchanges(&pair[0].solution).iter().position(|there| *there == pair[1].solution).unwrap()] +=
            1;
    }
    let p = fit(&counts, &[1.0; 10]);
    assert!(p > LEVEL, "{counts:?}, p = {p:e}");
}

#[test]
fn temperature_falls_by_levels_and_begins_again() {
    let world = World::new(Numbers::of(&[1, 1], 2));
    for cooling in [u64::from(LEVELS) / 2, u64::from(LEVELS), 3000] {
        // The first tenth accepts nearly all, the last nothing: 2 against 1e6 0.97^l.
        let rules = WalkRules { hot: 1e6, ratio: 0.97, cooling, target: 0, ..rules(Strategy::Anneal) };
        let seen = steps(&world, &rules, 2 * cooling);
        for (iteration, pair) in (0..).zip(seen.windows(2)) {
            let phase = iteration % cooling * 10 / cooling;
            let goes = apart(&pair[0]) != apart(&pair[1]);
            if phase == 0 {
                assert!(goes, "refused at iteration {iteration} of {cooling}");
            } else if phase >= 7 && apart(&pair[0]) {
                assert!(!goes, "accepted at iteration {iteration} of {cooling}");
            }
        }
        assert!((cooling * 7 / 10 + 2..=cooling).all(|done| apart(&seen[done as usize])));
    }
}

fn check_target<N: Naive>(naive: N, strategy: Strategy) {
    let world = World::new(naive);
    let free = steps(&world, &rules(strategy), 60);
    let target = key::<N>(free[60].state.best);
    assert!(target < key::<N>(free[0].state.best), "nothing to find");
    let rules = WalkRules { target, ..rules(strategy) };
    let seen = steps(&world, &rules, 60);
    let last = &seen[seen.len() - 1];
    let found = free[60].state.best_iteration as usize;
    assert_eq!((seen.len(), last.state.done), (found + 1, 1), "{strategy:?}");
    assert_eq!(last.solution, last.best);
    for (stopped, free) in seen[..found].iter().zip(&free) {
        assert_eq!(stopped, free, "{strategy:?}");
    }
    // In one batch it stops where it did in many, and stays there.
    for by in [By::Alone, By::Teams(2, 1, 2)] {
        let mut walks = Walks::new(&world, &rules);
        for end in [1000, 1001, 2000] {
            walks.go(end, by);
            assert_eq!(&walks.of(0), last, "{strategy:?} by {by:?}");
        }
    }
}

#[test]
fn walks_stop_at_their_target() {
    for strategy in ALL {
        check_target(Assignment::<false>::new(8, false, 30, 3), strategy);
        check_target(Signs::<2>::new(21, 9, 3), strategy);
        check_target(Rough::<f64>::new(2, 5, 9), strategy);
    }
}

#[test]
fn a_target_above_the_first_solution_stops_at_once() {
    let world = World::new(Numbers::new(9, 3, 1000, 1));
    for strategy in ALL {
        let mut walks = Walks::new(&world, &WalkRules { target: u64::MAX >> 2, ..rules(strategy) });
        walks.go(100, By::Alone);
        let walk = walks.of(0);
        assert_eq!((walk.state.done, walk.state.iterations, walk.state.evaluations), (1, 0, 0));
        assert_eq!(walk.solution, walk.best);
    }
}

fn check_rivals<N: Naive>(naive: N, strategy: Strategy) {
    let world = World::new(naive);
    let kicks = if strategy.accepts_optima() { 2 } else { 0 };
    let mut walks = Walks::new(&world, &WalkRules { walks: 7, kicks, ..rules(strategy) });
    walks.go(5, By::Alone);
    for bit in [1, 2, 4] {
        let before = walks.all();
        walks.rules.rival_bit = bit;
        // A batch without an iteration: nothing but what they tell each other.
        let end = walks.rules.end;
        walks.go(end, By::Alone);
        for (index, walk) in before.iter().enumerate() {
            let now = walks.of(index as u32);
            let better = before
                .get(index ^ bit as usize)
                .filter(|rival| cost_of::<N>(rival.state.best) < cost_of::<N>(walk.state.best));
            let Some(rival) = better else {
                assert_eq!(&now, walk, "{strategy:?}: walk {index} has no better rival");
                continue;
            };
            assert_eq!((&now.solution, &now.best), (&rival.best, &rival.best), "{strategy:?}");
            assert_eq!((now.state.best, now.state.cost), (rival.state.best, rival.state.best));
            if strategy.accepts_optima() {
                assert_eq!((&now.accepted, now.state.accepted), (&rival.best, rival.state.best));
            }
            // Nothing that it did elsewhere is tabu, or overdue.
            let clock = now.state.iterations as u32;
            assert!((clock..).zip(&now.traces).all(|(age, &until)| until == age), "{:?}", now.traces);
        }
        walks.rules.rival_bit = 0;
        walks.go(end + 4, By::Alone);
    }
    // Walks told by each bit know what is best.
    for bit in [1, 2, 4] {
        walks.rules.rival_bit = bit;
        let end = walks.rules.end;
        walks.go(end, By::Alone);
    }
    let bests: Vec<_> = walks.all().iter().map(|walk| key::<N>(walk.state.best)).collect();
    assert!(bests.iter().min() == Some(&bests[0]), "{bests:?}");
}

#[test]
fn rivals_go_on_from_the_better_solution() {
    for strategy in ALL {
        check_rivals(Assignment::<true>::new(8, false, 30, 3), strategy);
        check_rivals(Signs::<2>::new(21, 11, 3), strategy);
        check_rivals(Rough::<f32>::new(2, 5, 9), strategy);
    }
}

#[test]
fn walks_are_different_ones() {
    let world = World::new(Assignment::<true>::new(8, true, 30, 1));
    for strategy in ALL {
        let mut walks = Walks::new(&world, &WalkRules { walks: 5, ..rules(strategy) });
        walks.go(20, By::Alone);
        let all = walks.all();
        for (i, walk) in all.iter().enumerate() {
            let alike = all[..i].iter().filter(|other| other.solution == walk.solution).count();
            assert!(alike < 2, "{strategy:?}: walks are alike");
        }
        // A walk alone is the same as the first of many.
        let mut alone = Walks::new(&world, &rules(strategy));
        alone.go(20, By::Alone);
        assert_eq!(alone.of(0), all[0]);
    }
}

/// Iterated tabu search: every walk goes on near the better of two best solutions, with nothing tabu.
#[test]
fn tabu_search_with_kicks_goes_on_near_its_best() {
    let naive = Assignment::<true>::new(12, true, 30, 5);
    let world = World::new(naive);
    let mut walks = Walks::new(&world, &WalkRules { walks: 5, kicks: 3, ..rules(Strategy::Tabu) });
    walks.go(40, By::Alone);
    let before = walks.all();
    walks.rules.rival_bit = 1;
    walks.go(40, By::Alone);
    let mut kicked = 0;
    for (index, walk) in before.iter().enumerate() {
        let now = walks.of(index as u32);
        let rival = before.get(index ^ 1).unwrap_or(walk);
        let cost = |bits| cost_of::<Assignment<true>>(bits);
        let better = if cost(rival.state.best) < cost(walk.state.best) { rival } else { walk };
        assert!(cost(now.state.best) <= cost(better.state.best));
        let away = now.solution.iter().zip(&better.best).filter(|(a, b)| a != b).count();
        // An exchange moves two elements.
        assert!(away <= 2 * 3, "walk {index} is {away} places away");
        kicked += u32::from(away > 0);
        assert!((40..).zip(&now.traces).all(|(age, &until)| until == age));
    }
    assert!(kicked > 0);
    // It goes on from there, the same in any batches.
    walks.rules.rival_bit = 0;
    walks.go(60, By::Alone);
    assert!(walks.all().iter().all(|walk| walk.state.flaws == 0 && walk.state.iterations == 60));
}
