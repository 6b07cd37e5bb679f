//! Tabu search against one that computes everything anew in each iteration, from its documentation.

use crate::papers::search::instances::{Assignment, Graph, Numbers, Rough, Signs, Tours};
use crate::papers::search::world::{By, ElementOf, Naive, Walks, World, cost_of, moved, rules};
use antwarp_core::geometry::{Grid, Numbered};
use antwarp_core::papers::neighborhood::Neighborhood;
use antwarp_core::papers::problem::{Problem, RotatedTour, SwappedTour};
use antwarp_core::papers::search::{Cost, Strategy, WalkRules};
use antwarp_core::rng::Stream;

/// What a tabu list remembers.
#[derive(Clone, Copy, Debug)]
enum List {
    /// Which element was where; a move is tabu if it brings all of them back.
    Places,
    /// Which elements were moved.
    Elements,
    /// Which places have changed.
    Bits,
    /// Which of so many values was where.
    Values(u32),
}

impl List {
    fn things(self, n: u32) -> u32 {
        match self {
            List::Places => n * n,
            List::Elements | List::Bits => n,
            List::Values(k) => n * k,
        }
    }

    fn thing(self, n: u32, place: u32, element: u32) -> u32 {
        match self {
            List::Places => element * n + place,
            List::Elements => element,
            List::Bits => place,
            List::Values(k) => place * k + element,
        }
    }

    /// What is at the places of `there` where `solution` has something else.
    fn differences<E: Copy + PartialEq + Into<u32>>(self, there: &[E], solution: &[E]) -> Vec<u32> {
        let n = there.len() as u32;
        let places = (0..).zip(there.iter().zip(solution)).filter(|(_, (a, b))| a != b);
        places.map(|(place, (&element, _))| self.thing(n, place, element.into())).collect()
    }
}

/// What a search has done.
#[derive(Debug, Default)]
struct Moves {
    /// To a better solution than any before.
    best: u32,
    /// To what had not been for long, though not the best.
    overdue: u32,
    free: u32,
    /// None, as all were tabu.
    none: u32,
    /// Of these, moves that had an equal one beside them.
    ties: u32,
    /// A better neighbour was tabu.
    barred: u32,
}

/// A neighbour: its class, cost and tie-breaker, number.
type Rank<C> = (u32, C, u64, usize);

fn check<N>(naive: N, list: List, rules: WalkRules) -> Moves
where
    N: Naive,
    ElementOf<N>: Into<u32>,
    N::P: Problem<Cost = i64>,
{
    let world = World::new(naive);
    let mut walks = Walks::new(&world, &rules);
    walks.go(0, By::Alone);
    let mut solution = walks.of(0).solution;
    let things = list.things(solution.len() as u32);
    let mut until: Vec<u32> = (0..things).collect();
    let mut best = world.naive.cost(&solution);
    let mut moves = Moves::default();
    for iteration in 0..200 {
        let (stream, now) = (Stream::new(rules.seed, iteration, 0), iteration + things + 1);
        let salt = stream.step(0);
        let salt = u64::from(salt.bits(0)) << 32 | u64::from(salt.bits(1));
        let neighbors = world.naive.neighbors(&solution, stream);
        let mut ranks: Vec<Rank<i64>> = neighbors
            .iter()
            .enumerate()
            .map(|(index, neighbor)| {
                let cost = world.naive.cost(neighbor);
                let times: Vec<_> = list
                    .differences(neighbor, &solution)
                    .iter()
                    .map(|&thing| until[thing as usize])
                    .collect();
                let is_overdue = times.iter().any(|&time| time + rules.aspiration < now);
                let is_tabu = if matches!(list, List::Places) {
                    times.iter().all(|&time| time > now)
                } else {
                    times.iter().any(|&time| time > now)
                };
                let class = if is_overdue || cost < best { 0 } else { 1 + u32::from(is_tabu) };
                (class, cost, index as u64 ^ salt, index)
            })
            .collect();
        ranks.sort_unstable();
        let (class, cost, _, index) = ranks[0];
        if class < 2 {
            let tenures = stream.step(1);
            for (item, thing) in (0..).zip(list.differences(&solution, &neighbors[index])) {
                until[thing as usize] = now + rules.tenure + tenures.below(item, rules.tenures);
            }
            solution = neighbors[index].clone();
        }
        match class {
            0 if cost < best => moves.best += 1,
            0 => moves.overdue += 1,
            1 => moves.free += 1,
            _ => moves.none += 1,
        }
        moves.ties += u32::from(ranks.len() > 1 && class < 2 && ranks[1].0 == class && ranks[1].1 == cost);
        moves.barred += u32::from(class < 2 && ranks.iter().any(|&(_, other, ..)| other < cost));
        best = best.min(world.naive.cost(&solution));
        walks.go(u64::from(iteration) + 1, By::Alone);
        let walk = walks.of(0);
        assert_eq!(walk.solution, solution, "iteration {iteration}, {list:?}");
        assert_eq!(cost_of::<N>(walk.state.cost), world.naive.cost(&solution));
        assert_eq!(cost_of::<N>(walk.state.best), best);
        assert_eq!(world.naive.cost(&walk.best), best);
        assert_eq!(walk.traces, until, "iteration {iteration}, {list:?}");
        assert_eq!(walk.state.evaluations, (u64::from(iteration) + 1) * world.len());
    }
    moves
}

/// As robust tabu search does it.
fn robust(n: u32) -> WalkRules {
    let (tenure, aspiration) = (n - 1, 3 * n * n);
    WalkRules { tenure, tenures: 3, aspiration, target: 0, ..rules(Strategy::Tabu) }
}

#[test]
fn assignments_are_those_of_a_plain_search() {
    for (symmetric, seed) in [(true, 1), (false, 2), (true, 3)] {
        let moves = check(Assignment::<true>::new(7, symmetric, 20, seed), List::Places, robust(7));
        assert!(moves.best > 0 && moves.free > 0 && moves.barred > 0, "{moves:?}");
        let same = check(Assignment::<false>::new(7, symmetric, 20, seed), List::Places, robust(7));
        assert_eq!(format!("{moves:?}"), format!("{same:?}"));
    }
}

#[test]
fn overdue_moves_are_made() {
    // Tenures so long and a memory so short that what is overdue decides.
    for aspiration in [20, 40] {
        let rules = WalkRules { tenure: 8, tenures: 5, aspiration, ..robust(6) };
        let moves = check(Assignment::<true>::new(6, true, 20, 4), List::Places, rules);
        assert!(moves.overdue > 20, "{moves:?}");
        let rules = WalkRules { tenure: 1, tenures: 2, aspiration: aspiration / 4, ..rules };
        let moves = check(Signs::<2>::new(9, 13, 4), List::Bits, rules);
        assert!(moves.overdue > 20, "{moves:?}");
    }
}

#[test]
fn who_may_not_move_stays() {
    let rules = WalkRules { tenure: 9, tenures: 3, aspiration: 1000, ..robust(6) };
    let moves = check(Numbers::new(5, 2, 100, 1), List::Values(2), rules);
    assert!(moves.none > 20 && moves.free > 20, "{moves:?}");
    let moves = check(Tours::<SwappedTour<Grid>>::on_grid(6, false, 2), List::Elements, rules);
    assert!(moves.none > 20 && moves.free > 20, "{moves:?}");
}

#[test]
fn signs_are_those_of_a_plain_search() {
    for rules in
        [WalkRules { tenure: 3, tenures: 3, ..robust(9) }, WalkRules { tenure: 1, tenures: 2, ..robust(5) }]
    {
        let moves = check(Signs::<1>::new(11, 10, 1), List::Bits, rules);
        assert!(moves.ties > 20 && moves.free > 20, "{moves:?}");
        check(Signs::<2>::new(13, 9, 2), List::Bits, rules);
        check(Signs::<3>::new(7, 11, 3), List::Bits, rules);
    }
}

#[test]
fn tours_are_those_of_a_plain_search() {
    let rules = WalkRules { tenure: 1, tenures: 3, aspiration: 50, ..robust(9) };
    check(Tours::<SwappedTour<Numbered>>::numbered(9, 1), List::Elements, rules);
    check(Tours::<SwappedTour<Grid>>::on_grid(8, false, 1), List::Elements, rules);
    check(Tours::<RotatedTour<Numbered>>::numbered(8, 2), List::Elements, rules);
    check(Tours::<RotatedTour<Grid>>::on_grid(9, true, 2), List::Elements, rules);
}

#[test]
fn sets_are_those_of_a_plain_search() {
    let rules = WalkRules { tenure: 6, tenures: 5, aspiration: 100, ..robust(9) };
    let moves = check(Numbers::new(10, 4, 30, 1), List::Values(4), rules);
    assert!(moves.ties > 0 && moves.barred > 0, "{moves:?}");
}

#[test]
fn cuts_are_those_of_a_plain_search() {
    let rules = WalkRules { tenure: 2, tenures: 4, aspiration: 60, ..robust(9) };
    let moves = check(Graph::new(14, 3, 1), List::Bits, rules);
    assert!(moves.ties > 20 && moves.barred > 0, "{moves:?}");
}

/// The best neighbour that is not in a ball around a point left a short while ago, unless it is better than all before.
#[test]
fn points_are_those_of_a_plain_search() {
    let rules = WalkRules { tenure: 3, tenures: 4, ..rules(Strategy::Tabu) };
    let mut barred = 0;
    for n in [1, 2, 3] {
        let world = World::new(Rough::<f64> { tabu_radius: 0.3, ..Rough::new(n, 5, 12) });
        let moves = world.problem.moves();
        let mut walks = Walks::new(&world, &rules);
        walks.go(0, By::Alone);
        let mut point = walks.of(0).solution;
        let mut best = cost_of::<Rough<f64>>(walks.of(0).state.best);
        // Points left, and until when they are tabu: 8 at most, for the search forgets what has been for 6 iterations.
        let mut left: Vec<(Vec<f64>, u32)> = vec![];
        for iteration in 0..200 {
            let stream = Stream::new(rules.seed, iteration, 0);
            let costs = world.evaluate(&WalkRules { end: iteration.into(), ..rules }, &point, By::Alone);
            let candidates = (0..world.len()).map(|index| {
                let there = moved(&moves, stream, &point, moves.at(index));
                (cost_of::<Rough<f64>>(costs[index as usize]), there)
            });
            let mut candidates: Vec<_> = candidates.collect();
            candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
            let is_near =
                |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>() < 0.09;
            let is_tabu =
                |there: &[f64]| left.iter().any(|(p, until)| *until > iteration && is_near(there, p));
            let chosen = candidates.iter().position(|(cost, there)| *cost < best || !is_tabu(there));
            barred += u32::from(chosen != Some(0));
            if let Some(chosen) = chosen {
                let (cost, there) = candidates.swap_remove(chosen);
                let until = iteration + rules.tenure + stream.step(1).below(0, rules.tenures);
                left.push((std::mem::replace(&mut point, there), until));
                best = best.min(cost);
            }
            walks.go(u64::from(iteration) + 1, By::Alone);
            assert_eq!(walks.of(0).solution, point, "iteration {iteration} in {n} dimensions");
            assert_eq!(walks.of(0).state.best, best.bits());
        }
    }
    assert!(barred > 20, "{barred} iterations in which the best point was tabu");
}
