//! Populations as a whole.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::super::tour::Change;
use super::super::*;
use antwarp_engine::LocalSearch;
use antwarp_engine::Lockstep;
use antwarp_engine::genetic::{Crossover, Initial, Pairing, Partners};
use antwarp_instance::{Instance, generate};

fn problem(instance: &Instance) -> Problem {
    Problem::new(instance, Some(1), 8).unwrap()
}

fn spec(problem: &Problem, (population, groups): (u32, u32), target: Option<i64>) -> GeneticSpec {
    GeneticSpec {
        seed: 1,
        crossover: Crossover::Eax,
        individuals: population,
        groups,
        transfer_every: 5,
        children: 10,
        mutation: 0,
        pairing: Pairing::Shuffled,
        partners: Partners::Pairs,
        improve_best: true,
        initial: Initial::LocalOptima,
        local_search: LocalSearch::None,
        breadth: problem.search_k().min(5),
        target: target.unwrap_or(i64::MIN),
        first_generation: 0,
    }
}

/// Returns all individuals after this many generations, and their lengths.
fn individuals(population: &mut dyn Population) -> (Vec<Vec<u32>>, Vec<i64>) {
    let individuals = (0..population.places()).map(|place| population.individual(place).unwrap()).collect();
    (individuals, population.costs().unwrap())
}

#[test]
fn threads_do_not_matter() {
    let instance = generate::uniform(300, 5).unwrap();
    let problem = problem(&instance);
    let spec = spec(&problem, (80, 2), None);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut population = population(&problem, &spec, FirstIndividuals::Random).unwrap();
            let state = population.run(12, &|| false).unwrap();
            (
                state.best_cost,
                state.iterations,
                population.best_tour().unwrap(),
                individuals(population.as_mut()),
            )
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    let (best, generations, tour, (individuals, costs)) = one;
    assert_eq!((generations, instance.check_tour(&problem.original(&tour)).unwrap()), (12, best));
    for (individual, cost) in individuals.iter().zip(&costs) {
        assert_eq!(instance.check_tour(&problem.original(individual)).unwrap(), *cost);
    }
    assert_eq!(costs.iter().min(), Some(&best));
}

/// One of several runs that share a population equally.
struct Sharer<'a>(&'a Lockstep, u32);

impl Sharing for Sharer<'_> {
    fn part(&self, pieces: u32) -> Range<u32> {
        let until = |run: u32| pieces * run / self.1;
        until(self.0.own())..until(self.0.own() + 1)
    }

    fn gather(&mut self, made: Vec<u8>, enough: Enough) -> Option<Vec<Arc<Vec<u8>>>> {
        let step = self.0.step([&[0], &made[..]].concat(), enough)?;
        Some(step.into_iter().flatten().map(|made| Arc::new(made[1..].to_vec())).collect())
    }
}

#[test]
fn runs_that_share_a_population_come_to_what_one_comes_to_alone() {
    let instance = generate::uniform(300, 6).unwrap();
    let problem = problem(&instance);
    // More pairs than are crossed at the same time.
    let spec = spec(&problem, (50, 1), None);
    let mut alone = population(&problem, &spec, FirstIndividuals::Random).unwrap();
    let expected = alone.run(12, &|| false).unwrap();
    let expected = (expected.best_cost, alone.best_tour().unwrap(), individuals(alone.as_mut()));
    let all: Vec<Lockstep> = (0..3).map(|own| Lockstep::new(own, 3)).collect();
    let ended = AtomicU32::new(0);
    let share = |lockstep: &Lockstep| {
        let mut population = population(&problem, &spec, FirstIndividuals::Random).unwrap();
        population.run(0, &|| false).unwrap();
        let mut state = population.run_shared(&mut Sharer(lockstep, 3), &|| false).unwrap();
        for _ in 1..12 {
            state = population.run_shared(&mut Sharer(lockstep, 3), &|| false).unwrap();
        }
        ended.fetch_add(1, Ordering::Relaxed);
        (state.best_cost, population.best_tour().unwrap(), individuals(population.as_mut()))
    };
    std::thread::scope(|s| {
        let runs: Vec<_> = all.iter().map(|lockstep| s.spawn(|| share(lockstep))).collect();
        // A run that is over without having ended has failed. One that has ended may still have messages for the others.
        let over = || runs.iter().filter(|run| run.is_finished()).count() as u32;
        while over() <= ended.load(Ordering::Relaxed) && ended.load(Ordering::Relaxed) < 3 {
            for from in &all {
                while let Some(told) = from.collect() {
                    let others = all.iter().filter(|to| to.own() != from.own());
                    others.for_each(|to| to.deliver(from.own(), told.to_vec()));
                }
            }
        }
        runs.into_iter().for_each(|run| assert_eq!(run.join().unwrap(), expected));
    });
}

#[test]
fn heirs_come_back_as_they_were_as_long_as_nothing_is_wrong() {
    let change = |node| Change { node, links: [node + 1, 0] };
    let heirs = [
        (3, Heir { gain: -1, changes: vec![change(0), change(7)] }),
        (0, Heir { gain: 1 << 40, changes: vec![] }),
        (4, Heir { gain: 1, changes: vec![change(8)] }),
    ];
    let mut message = Vec::new();
    heirs.iter().for_each(|(place, heir)| heir.write(*place, &mut message));
    assert_eq!(Heir::read(&message, (5, 10)), heirs);
    assert_eq!(Heir::read(&message, (5, 9)), heirs[..2]);
    assert_eq!(Heir::read(&message, (4, 10)), heirs[..2]);
    assert_eq!(Heir::read(&message[..message.len() - 1], (5, 10)), heirs[..2]);
}

#[test]
fn a_population_goes_on_as_if_it_had_never_stopped() {
    let instance = generate::uniform(200, 2).unwrap();
    let problem = problem(&instance);
    let spec = spec(&problem, (40, 2), None);
    let mut whole = population(&problem, &spec, FirstIndividuals::Random).unwrap();
    whole.run(6, &|| false).unwrap();
    let half = individuals(whole.as_mut()).0.concat();
    whole.run(7, &|| false).unwrap();
    let later = GeneticSpec { first_generation: 6, initial: Initial::File, ..spec };
    let mut resumed = population(&problem, &later, FirstIndividuals::Given(half)).unwrap();
    assert_eq!(resumed.run(7, &|| false).unwrap().iterations, 7);
    assert_eq!(individuals(resumed.as_mut()), individuals(whole.as_mut()));
}

#[test]
fn a_ring_is_solved_again_and_again() {
    // The best tour goes around.
    let point = |i: u32| {
        let angle = f64::from(i * 77 % 200) / 200.0 * std::f64::consts::TAU;
        [(1e6 * angle.cos()).round(), (1e6 * angle.sin()).round(), 0.0]
    };
    let points = (0..200).map(point).collect();
    let instance = Instance::from_points("ring", antwarp_core::metric::Metric::Euc2d, points).unwrap();
    let mut around: Vec<u32> = (0..200).collect();
    around.sort_by_key(|i| i * 77 % 200);
    let best = instance.check_tour(&around).unwrap();
    let problem = problem(&instance);
    let with_target = spec(&problem, (20, 1), Some(best));
    let mut ends = population(&problem, &with_target, FirstIndividuals::Random).unwrap();
    let state = ends.run(200, &|| false).unwrap();
    assert_eq!((state.best_cost, state.done), (best, 1));
    assert!(state.iterations < 200);
    // Without a target the population restarts, and the best tour stays.
    let without = GeneticSpec { target: i64::MIN, ..with_target };
    let mut goes_on = population(&problem, &without, FirstIndividuals::Random).unwrap();
    let mut means = Vec::new();
    for _ in 0..60 {
        means.push(goes_on.run(1, &|| false).unwrap().iteration_cost);
    }
    assert!(means.windows(2).any(|two| two[1] > two[0]), "{means:?}");
    let state = goes_on.run(0, &|| false).unwrap();
    assert_eq!((state.iterations, state.best_cost), (60, best));
    assert_eq!(instance.check_tour(&problem.original(&goes_on.best_tour().unwrap())).unwrap(), best);
}

#[test]
fn it_ends_when_it_is_enough() {
    let instance = generate::uniform(100, 1).unwrap();
    let problem = problem(&instance);
    let spec = spec(&problem, (32, 2), None);
    let mut population = population(&problem, &spec, FirstIndividuals::Random).unwrap();
    let state = population.run(5, &|| true).unwrap();
    assert_eq!(state.iterations, 0);
    assert_eq!(population.best_tour().unwrap().len(), 100);
    assert_eq!(population.run(5, &|| false).unwrap().iterations, 5);
    // In the middle of the first generation, of 32 pairs.
    let calls = std::sync::atomic::AtomicU32::new(0);
    let enough = || calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 20;
    assert_eq!(population.run(5, &enough).unwrap().iterations, 5);
    let (individuals, costs) = individuals(population.as_mut());
    for (individual, cost) in individuals.iter().zip(costs) {
        assert_eq!(instance.check_tour(&problem.original(individual)).unwrap(), cost);
    }
}

#[test]
fn a_population_that_is_none() {
    let instance = generate::uniform(50, 1).unwrap();
    let problem = problem(&instance);
    let spec = spec(&problem, (8, 1), None);
    for individuals in [vec![], vec![0; 400], (0..400).collect()] {
        let population = population(&problem, &spec, FirstIndividuals::Given(individuals));
        assert!(matches!(population, Err(BackendError::Population { tours: 8, nodes: 50 })));
    }
}

/// Runs a population freely on this many threads until nothing can come of it any more, or something is enough; returns it.
fn run_freely<'p>(problem: &'p Problem, spec: &GeneticSpec, threads: usize, enough: Enough) -> CpuEax<'p> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut population = CpuEax::new(problem, spec, FirstIndividuals::Random).unwrap();
        population.run(0, &|| false).unwrap();
        while !population.is_exhausted() && population.state.done == 0 && !enough() {
            population.run_freely(3, enough).unwrap();
        }
        population
    })
}

/// Checks that all tours are tours, their lengths, and in how many tours each edge is.
fn check_group(population: &mut CpuEax<'_>, instance: &Instance) {
    let problem = population.shared.nodes.problem;
    let (individuals, costs) = individuals(population);
    let mut counts = HashMap::new();
    for (individual, cost) in individuals.iter().zip(&costs) {
        assert_eq!(instance.check_tour(&problem.original(individual)).unwrap(), *cost);
        for (i, &u) in individual.iter().enumerate() {
            let v = individual[(i + 1) % individual.len()];
            *counts.entry((u.min(v), u.max(v))).or_insert(0) += 1;
        }
    }
    let census = &population.groups[0].census;
    let pairs = (0..problem.n()).flat_map(|u| (u + 1..problem.n()).map(move |v| (u, v)));
    pairs.for_each(|(u, v)| assert_eq!(census.count(v, u), counts.get(&(u, v)).copied().unwrap_or(0)));
    let state = population.state;
    assert!(state.best_cost <= costs.iter().copied().min().unwrap());
    assert_eq!(instance.check_tour(&problem.original(&population.best_tour)).unwrap(), state.best_cost);
}

#[test]
fn free_threads_end_with_tours_as_short() {
    let instance = generate::uniform(200, 9).unwrap();
    let problem = problem(&instance);
    let spec = GeneticSpec { transfer_every: 0, ..spec(&problem, (40, 1), None) };
    let in_order = {
        let mut population = population(&problem, &spec, FirstIndividuals::Random).unwrap();
        while !population.is_exhausted() {
            population.run(1, &|| false).unwrap();
        }
        population.costs().unwrap().into_iter().min().unwrap()
    };
    for threads in [1, 5] {
        let mut free = run_freely(&problem, &spec, threads, &|| false);
        check_group(&mut free, &instance);
        assert!(
            free.state.best_cost as f64 <= in_order as f64 * 1.005,
            "{} {in_order}",
            free.state.best_cost
        );
        assert!(free.state.iterations > 3);
        // It is exhausted, so one generation begins it anew.
        let before = free.state.iterations;
        assert_eq!(free.run_freely(3, &|| false).unwrap().iterations, before + 1);
    }
}

#[test]
fn free_threads_end_at_a_target_and_when_it_is_enough() {
    let instance = generate::uniform(150, 3).unwrap();
    let problem = problem(&instance);
    let without = GeneticSpec { transfer_every: 0, ..spec(&problem, (30, 1), None) };
    let best = run_freely(&problem, &without, 1, &|| false).state.best_cost;
    let target = best + best / 100;
    let mut ends = run_freely(&problem, &GeneticSpec { target, ..without.clone() }, 3, &|| false);
    assert!(ends.state.done == 1 && ends.state.best_cost <= target);
    check_group(&mut ends, &instance);
    for calls in [1, 40, 300, 2000] {
        let so_far = AtomicU32::new(0);
        let enough = || so_far.fetch_add(1, Ordering::Relaxed) > calls;
        check_group(&mut run_freely(&problem, &without, 3, &enough), &instance);
    }
}
