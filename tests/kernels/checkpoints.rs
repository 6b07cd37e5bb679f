//! Runs on a GPU continue from checkpoints: on a GPU as if they had not been interrupted, and on CPU threads.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use antwarp::backend::{Backend, Choice, Gpus};
use antwarp::engine::{BackendError, Cost, LocalSearch, Observe, Progress, Snapshot, Stop};
use antwarp::instance::{Qap, generate};
use antwarp::solver::checkpoint::{Checkpoint, Checkpoints, Limits, Schedule, SearchCheckpoint, Subject};
use antwarp::solver::genetic::{Crossover, GeneticSettings};
use antwarp::solver::search::problems::MaxCut;
use antwarp::solver::search::{Changes, Contact, SearchSettings, Strategy, Task};
use antwarp::solver::{Algorithm, Solver, acs, ils, lin_kernighan, mmas};

use crate::gpu::{gpu, some};

tests![a_run_continues_on_a_gpu_and_on_cpu_threads, a_search_continues_on_a_gpu_and_on_cpu_threads];

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

/// Writes checkpoints of a search, and copies the first one after this many iterations.
struct Copying {
    checkpoints: Checkpoints,
    files: [PathBuf; 2],
    iterations: u64,
}

impl Observe<Cost, ()> for Copying {
    fn progress(&mut self, progress: &Progress<Cost>) {
        let [path, copy] = &self.files;
        if progress.iterations >= self.iterations && !copy.exists() {
            _ = fs::copy(path, copy);
        }
    }

    fn wants_checkpoint(&mut self, is_end: bool) -> bool {
        self.checkpoints.own().is_due(is_end)
    }

    fn checkpoint(&mut self, snapshot: Result<Snapshot<Cost, ()>, BackendError>) {
        self.checkpoints.own().checkpoint(snapshot);
    }

    fn no_checkpoint(&mut self) {
        self.checkpoints.own().skip();
    }

    fn for_each_run(&mut self, runs: u32) -> Vec<Box<dyn Observe<Cost, ()> + Send>> {
        self.checkpoints.observers(runs)
    }
}

fn a_search_continues_on_a_gpu_and_on_cpu_threads() {
    if gpu().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let tabu = SearchSettings { walks: 8, restart: Some(400), recombine: true, ..Default::default() };
    let [ils, annealing] = [Strategy::Ils, Strategy::Annealing].map(|strategy| SearchSettings {
        strategy,
        walks: 8,
        ..Default::default()
    });
    let qap = || Task::Qap(Qap::uniform(40, 1).unwrap(), Changes::Auto);
    let max_cut = || Task::MaxCut(MaxCut::random(400, 6, 1).unwrap());
    let cases = [(qap(), tabu, 40_000), (max_cut(), ils, 40_000), (qap(), annealing, 4_000_000)];
    for (i, (task, settings, iterations)) in cases.iter().enumerate() {
        let name = format!("{} {:?}", task.problem(), settings.strategy);
        let files = ["run", "copy"].map(|file| folder.path().join(format!("{file} {i}")));
        let stop = Stop { iterations: Some(*iterations), ..Stop::never() };
        let on = |choice| Backend::open_on(choice, &Gpus::Count(1)).unwrap().0;
        let cuda = on(Choice::Cuda);
        let limits = Limits::of(&stop.with_target(settings.target)).to_json();
        let subject = (Subject::of_search(task, settings).unwrap(), limits);
        let schedule = Schedule { path: files[0].clone(), every: Duration::ZERO };
        let checkpoints = Checkpoints::begin(schedule, subject, Duration::ZERO, |why| panic!("{why}"));
        let mut observe =
            Copying { checkpoints: checkpoints.unwrap(), files: files.clone(), iterations: iterations / 8 };
        let whole = task.run_in_contact(&cuda, settings, &stop, Contact::new(&mut observe)).unwrap().found;
        drop(observe);
        let checkpoint = SearchCheckpoint::read(&files[1]).unwrap();
        checkpoint.check_task(&files[1], task, task.fingerprint().unwrap()).unwrap();
        assert!(checkpoint.iterations < *iterations, "{name}: no checkpoint before the end");
        let continued = |backend: &Backend| {
            let observe: &mut dyn Observe<Cost, ()> = &mut |_: &Progress<Cost>| ();
            let contact = Contact { observe, resumed: Some(checkpoint.runs().clone()) };
            task.run_in_contact(backend, settings, &stop, contact).unwrap().found
        };
        let rest = continued(&cuda);
        assert_eq!(
            (rest.cost, &rest.solution, &rest.costs, rest.evaluations),
            (whole.cost, &whole.solution, &whole.costs, whole.evaluations),
            "{name}"
        );
        // Threads and GPUs make the same moves.
        let rest = continued(&on(Choice::Cpu));
        assert_eq!((rest.cost, &rest.solution), (whole.cost, &whole.solution), "{name}, on CPU threads");
    }
}
