//! The same seed, settings and number of iterations give the same answer on any number of threads, where that is promised.

use antwarp::backend::Backend;
use antwarp::bound::held_karp;
use antwarp::engine::LocalSearch;
use antwarp::instance::{Qap, generate};
use antwarp::prelude::*;
use antwarp::solver::acs::{AcsSettings, Pheromone, Update};
use antwarp::solver::genetic::{Crossover, GeneticSettings, Initial};
use antwarp::solver::ils::{IlsSettings, Improvement};
use antwarp::solver::lin_kernighan::LinKernighanSettings;
use antwarp::solver::mmas::{MmasSettings, Selection};
use antwarp::solver::search::{Changes, SearchSettings, Strategy, Task};

use crate::draws::Draws;

tests! {
    chained_lin_kernighan,
    iterated_local_search,
    max_min_ant_system,
    ant_colony_system_but_for_relaxed_updates,
    genetic_algorithm,
    neighbourhood_search,
    lower_bound,
}

const THREADS: [usize; 4] = [1, 2, 3, 16];

/// What some work gives on each number of threads.
fn each<T: Send>(work: impl Fn() -> T + Sync) -> Vec<T> {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    THREADS.into_iter().map(|threads| pool(threads).install(&work)).collect()
}

/// Asserts that all are the same.
#[track_caller]
fn assert_same<T: PartialEq + std::fmt::Debug>(what: &str, answers: &[T]) {
    for (answer, threads) in answers.iter().zip(THREADS) {
        assert_eq!(*answer, answers[0], "{what} on {threads} threads and on one");
    }
}

/// Asserts that an algorithm gives the same tour on any number of threads.
#[track_caller]
fn assert_tour(instance: &Instance, algorithm: Algorithm, iterations: u64) {
    let tours = each(|| {
        let solver = Solver::default().algorithm(algorithm.clone()).seed(7).backend(Choice::Cpu);
        let stop = Stop { iterations: Some(iterations), ..Stop::never() };
        let solution = solver.solve(instance, stop).unwrap();
        (solution.cost, solution.iterations, solution.tour)
    });
    assert_same(&format!("{algorithm:?}"), &tours);
}

fn places() -> Instance {
    generate::clustered(300, 9, 3).unwrap()
}

fn directed() -> Instance {
    let mut draws = Draws::new(5);
    Instance::from_matrix("directed", (0..150 * 150).map(|_| draws.below(1000) as i32).collect()).unwrap()
}

fn chained_lin_kernighan() {
    assert_tour(&places(), Algorithm::LinKernighan(LinKernighanSettings::default()), 1000);
    let several = LinKernighanSettings { chains: Some(5), ..LinKernighanSettings::default() };
    assert_tour(&places(), Algorithm::LinKernighan(several), 500);
}

fn iterated_local_search() {
    for (local_search, improvement) in [
        (LocalSearch::TwoOpt, Improvement::First),
        (LocalSearch::ThreeOpt, Improvement::First),
        (LocalSearch::OrOpt, Improvement::Best),
        (LocalSearch::ThreeOpt, Improvement::Best),
    ] {
        let settings = IlsSettings { local_search, improvement, ..IlsSettings::default() };
        assert_tour(&places(), Algorithm::Ils(settings), 100);
    }
}

fn max_min_ant_system() {
    for (selection, candidates, local_search) in [
        (Selection::Wrs, Some(32), None),
        (Selection::Rwm, None, Some(LocalSearch::None)),
        (Selection::Wrs, Some(8), Some(LocalSearch::Or2opt)),
    ] {
        let settings = MmasSettings { selection, candidates, local_search, ..MmasSettings::default() };
        assert_tour(&places(), Algorithm::Mmas(settings.clone()), 5);
        if local_search != Some(LocalSearch::Or2opt) {
            assert_tour(&directed(), Algorithm::Mmas(settings), 10);
        }
    }
}

fn ant_colony_system_but_for_relaxed_updates() {
    for (pheromone, update, ants) in [
        (Pheromone::Matrix, Update::Atomic, None),
        (Pheromone::Candidate, Update::Atomic, None),
        (Pheromone::Matrix, Update::Sequential, None),
        (Pheromone::Selective, Update::Sequential, None),
        // A single ant meets no other one.
        (Pheromone::Selective, Update::Relaxed, Some(1)),
        (Pheromone::Matrix, Update::Relaxed, Some(1)),
    ] {
        let settings = AcsSettings { pheromone, update, ants, ..AcsSettings::default() };
        assert_tour(&places(), Algorithm::Acs(settings.clone()), 10);
        assert_tour(&directed(), Algorithm::Acs(settings), 20);
    }
}

fn genetic_algorithm() {
    let small = generate::uniform(120, 2).unwrap();
    for crossover in [Crossover::Scx, Crossover::Hybrid] {
        let settings = GeneticSettings { population: Some(96), ..GeneticSettings::of(crossover) };
        assert_tour(&small, Algorithm::Genetic(settings.clone()), 60);
        assert_tour(&directed(), Algorithm::Genetic(settings), 40);
    }
    for initial in [Initial::Ants, Initial::SpaceFilling, Initial::LocalOptima] {
        let settings = GeneticSettings { population: Some(96), initial, ..GeneticSettings::default() };
        assert_tour(&small, Algorithm::Genetic(settings), 10);
    }
    let edge_assembly = GeneticSettings { population: Some(60), ..GeneticSettings::of(Crossover::Eax) };
    assert_tour(&small, Algorithm::Genetic(edge_assembly), 8);
}

fn neighbourhood_search() {
    for strategy in [Strategy::Tabu, Strategy::HillClimbing, Strategy::Annealing, Strategy::Ils] {
        for (walks, blocks) in [(1, 3), (4, 1)] {
            let settings = SearchSettings {
                strategy,
                walks,
                blocks: Some(blocks),
                block_threads: Some(32),
                cooperate: Some(50),
                ..SearchSettings::default()
            };
            let stop = Stop { iterations: Some(300), ..Stop::never() };
            let found = each(|| {
                let task = Task::Qap(Qap::uniform(20, 1).unwrap(), Changes::Auto);
                let (backend, _) = Backend::open(Choice::Cpu).unwrap();
                let done = task.run(&backend, &settings, &stop, &mut |_| ()).unwrap();
                (done.found.cost, done.found.solution)
            });
            assert_same(&format!("{settings:?}"), &found);
        }
    }
}

fn lower_bound() {
    let instance = places();
    let find = || held_karp(&instance, Some(200), &Stop::never(), &|| false).unwrap();
    assert_same(
        "bound",
        &each(|| {
            let bound = find();
            (bound.length, bound.trees, bound.priced_in)
        }),
    );
}
