//! Runs on a GPU continue from checkpoints: on a GPU as if they had not been interrupted, and on CPU threads.

use std::fs;
use std::time::Duration;

use antwarp::backend::Choice;
use antwarp::engine::{LocalSearch, Stop};
use antwarp::instance::generate;
use antwarp::solver::checkpoint::{Checkpoint, Schedule};
use antwarp::solver::genetic::{Crossover, GeneticSettings};
use antwarp::solver::{Algorithm, Solver, acs, ils, lin_kernighan, mmas};

use crate::gpu::{gpu, some};

tests![a_run_continues_on_a_gpu_and_on_cpu_threads];

/// Algorithms, iterations, and whether a run is reproducible.
fn all() -> Vec<(Algorithm, u64, bool)> {
    let genetic =
        |crossover| GeneticSettings { population: Some(64), groups: 2, ..GeneticSettings::of(crossover) };
    let ants = |local_search, candidates| mmas::MmasSettings {
        local_search: Some(local_search),
        candidates,
        reset_after: Some(3),
        ants: Some(64),
        warps: candidates.map_or(Some(4), |_| None),
        ..Default::default()
    };
    let system =
        |pheromone, update| acs::AcsSettings { pheromone, update, ants: Some(64), ..Default::default() };
    let chains = lin_kernighan::LinKernighanSettings { chains: Some(3), ..Default::default() };
    let best = ils::IlsSettings { improvement: ils::Improvement::Best, ..Default::default() };
    vec![
        (Algorithm::LinKernighan(Default::default()), 20_000, true),
        (Algorithm::LinKernighan(chains), 20_000, true),
        (Algorithm::Ils(Default::default()), 20_000, true),
        (Algorithm::Ils(best), 600, true),
        (Algorithm::Mmas(ants(LocalSearch::None, None)), 600, true),
        (Algorithm::Mmas(ants(LocalSearch::ThreeOpt, Some(16))), 600, true),
        (Algorithm::Acs(system(acs::Pheromone::Matrix, acs::Update::Atomic)), 200, true),
        (Algorithm::Acs(system(acs::Pheromone::Candidate, acs::Update::Relaxed)), 400, false),
        (Algorithm::Acs(system(acs::Pheromone::Selective, acs::Update::Relaxed)), 400, false),
        (Algorithm::Genetic(GeneticSettings { transfer_every: 7, ..genetic(Crossover::Hybrid) }), 1500, true),
        (
            Algorithm::Genetic(GeneticSettings {
                local_search: LocalSearch::Or2opt,
                ..genetic(Crossover::Scx)
            }),
            2000,
            true,
        ),
    ]
}

fn a_run_continues_on_a_gpu_and_on_cpu_threads() {
    if gpu().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [path, copy] = ["run", "copy"].map(|name| folder.path().join(name));
    let instance = generate::uniform(300, 4).unwrap();
    for (algorithm, iterations, is_same) in some(&all()) {
        let name = format!("{algorithm:?}");
        let stop = Stop { iterations: Some(*iterations), ..Stop::never() };
        let schedule = Schedule { path: path.clone(), every: Duration::ZERO };
        let mut copied = None;
        let whole = Solver::default()
            .backend(Choice::Cuda)
            .algorithm(algorithm.clone())
            .checkpoints(schedule)
            .on_progress(|progress| {
                let is_time = progress.iterations < *iterations && copied.is_none();
                if is_time && progress.iterations > iterations / 10 && fs::copy(&path, &copy).is_ok() {
                    copied = Some(progress.iterations);
                }
            })
            .solve(&instance, stop.clone())
            .unwrap();
        assert!(copied.is_some(), "{name}: no checkpoint before the end");
        let checkpoint = || Checkpoint::read(&copy).unwrap();
        assert!(checkpoint().iterations < *iterations, "{name}");
        let on =
            |choice| Solver::default().backend(choice).resume(checkpoint()).solve(&instance, stop.clone());
        let rest = on(Choice::Cuda).unwrap();
        assert_eq!(rest.iterations, whole.iterations, "{name}");
        if *is_same {
            assert_eq!(
                (rest.cost, &rest.tour, rest.best_iteration),
                (whole.cost, &whole.tour, whole.best_iteration),
                "{name}"
            );
        }
        for solution in [rest, on(Choice::Cpu).unwrap()] {
            assert!(solution.cost <= checkpoint().best.0, "{name}");
            assert_eq!(instance.check_tour(&solution.tour), Ok(solution.cost), "{name}");
        }
        fs::remove_file(&copy).unwrap();
    }
}
