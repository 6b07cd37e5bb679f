//! Checkpoints: a run in a file, from which another run continues.
//!
//! A [file] has the states of one run, or of several that worked on the same instance at the same time: on several GPUs, or
//! in several processes.

mod file;
mod observer;
mod search;
mod writer;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::archipelago;
use super::island::{Contact, Outside};
use super::resumed::{Island, Runs};
use super::settings::Setting;
use super::{Algorithm, Solution, SolveError, genetic};
use crate::backend::Backend;
use crate::engine::{Observe, Stop};
use crate::instance::atomic_file::{self, Place};
use crate::instance::{Instance, InstanceError, counted};

pub use file::{Part, Subject};
pub use observer::Observer;
pub use search::SearchCheckpoint;
pub use writer::{Checkpoints, Recorder, Schedule};

impl Subject {
    /// Makes it for a run of this algorithm.
    pub fn new(algorithm: &Algorithm, instance: &Instance) -> Subject {
        Subject {
            kind: algorithm.name().to_owned(),
            instance: instance.name().to_owned(),
            size: instance.len(),
            fingerprint: instance.fingerprint(),
            settings: serde_json::to_value(algorithm).unwrap_or_default(),
        }
    }
}

/// The limits of a run. A target is an internal cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits<C = i64> {
    /// See [`Stop::time`].
    pub time: Option<Duration>,
    /// See [`Stop::iterations`].
    pub iterations: Option<u64>,
    /// See [`Stop::target`].
    pub target: Option<C>,
    /// See [`Stop::stagnation`].
    pub stagnation: Option<u64>,
}

impl<C: Copy + Serialize> Limits<C> {
    /// Returns the limits of a run.
    pub fn of(stop: &Stop<C>) -> Limits<C> {
        let Stop { time, iterations, target, stagnation, .. } = *stop;
        Limits { time, iterations, target, stagnation }
    }

    /// Returns them as they are in a file.
    pub fn to_json(self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// What is wrong where checkpoints cannot be written.
pub const NEEDS_A_FILE: &str =
    "--checkpoint needs a file that can be replaced: no pipe, and not the standard output";

/// Rejects a file for checkpoints that cannot be replaced, or that holds something else than the run to continue.
///
/// # Errors
/// The problem, and the remedy.
pub fn check_file(path: &Path, resume: Option<&Path>) -> Result<(), String> {
    match atomic_file::place(path) {
        Ok(Place::File(_)) => {}
        Ok(Place::Device) => return Err(NEEDS_A_FILE.to_owned()),
        Err(cause) => return Err(format!("cannot write {}: {cause}", path.display())),
    }
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let is_resumed = resume.is_some_and(|resumed| real(resumed) == real(path));
    if path.exists() && !is_resumed {
        let path = path.display();
        return Err(format!("{path} exists: continue from it with `--resume {path}`, or remove it"));
    }
    Ok(())
}

/// A run, or several, in a file.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    file: PathBuf,
    subject: Subject,
    algorithm: Algorithm,
    /// The limits that the run had.
    pub limits: Limits,
    /// How long the run had taken when this was written, since its first start.
    pub elapsed: Duration,
    /// Iterations of the run that found the best tour.
    pub iterations: u64,
    /// The internal cost of the best tour, and that tour, in the instance's numbering.
    pub best: (i64, Vec<u32>),
    runs: Runs,
}

impl Checkpoint {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, is not a checkpoint of tours, is damaged, or was written by another version.
    pub fn read(path: &Path) -> Result<Checkpoint, InstanceError> {
        let file::Content { subject, limits, runs } = file::read(path)?;
        if let Some(problem) = SearchCheckpoint::problem(&subject) {
            let help = format!("continue it with `antwarp search {problem}`");
            return Err(file::wrong(path, "is the checkpoint of a search", &help));
        }
        let damaged = || file::damaged(path);
        let nodes = u32::try_from(subject.size).map_err(|_| damaged())?;
        let algorithm = Algorithm::of(&subject.kind, &subject.settings).ok_or_else(damaged)?;
        let limits = serde_json::from_value(limits).map_err(|_| damaged())?;
        let elapsed = runs.iter().flatten().map(|run| run.elapsed).max().unwrap_or_default();
        let mut best: Option<(i64, Vec<u32>, u64)> = None;
        let mut states = Vec::new();
        for run in runs {
            let Some(Part { iterations, cost, mut state, .. }) = run else {
                states.push(None);
                continue;
            };
            let cost = cost.whole().ok_or_else(damaged)?;
            let tour = state.take_tour(nodes).map_err(|_| damaged())?;
            if best.as_ref().is_none_or(|best| cost < best.0) {
                best = Some((cost, tour, iterations));
            }
            states.push(Some((cost, state)));
        }
        let (cost, tour, iterations) = best.ok_or_else(damaged)?;
        Ok(Checkpoint {
            file: path.to_owned(),
            subject,
            algorithm,
            limits,
            elapsed,
            iterations,
            best: (cost, tour),
            runs: Runs(states),
        })
    }

    /// Returns the file from which it was read.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the algorithm of the run, with its settings.
    pub fn algorithm(&self) -> &Algorithm {
        &self.algorithm
    }

    /// Returns the value of a setting of its algorithm, if that is another than this one.
    ///
    /// # Errors
    /// If this one is of another kind.
    pub fn other_value(&self, setting: &Setting, value: &Value) -> Result<Option<Value>, String> {
        let declaration = self.algorithm.declaration();
        // As the run has it: its settings were read from the same kinds of values.
        let given = Map::from_iter([(setting.name.to_owned(), value.clone())]);
        let given = Algorithm::read(&declaration, &given)?;
        let of = |algorithm: &Algorithm| serde_json::to_value(algorithm).unwrap_or_default();
        let (given, own) = (of(&given), of(&self.algorithm));
        Ok((given[setting.name] != own[setting.name]).then(|| own[setting.name].clone()))
    }

    /// Returns the limits that the run had, for going on with them.
    pub fn stop(&self) -> Stop {
        let Limits { time, iterations, target, stagnation } = self.limits;
        Stop { time, before: self.elapsed, iterations, target, stagnation, ..Stop::never() }
    }

    /// Returns what its runs continue with.
    pub fn runs(&self) -> &Runs {
        &self.runs
    }

    /// Rejects another instance than that of the run; the `name` is that of the file.
    ///
    /// # Errors
    /// If the data differ, whatever the instances are called.
    pub fn check_instance(&self, name: &Path, instance: &Instance) -> Result<(), InstanceError> {
        let Subject { instance: theirs, size, .. } = &self.subject;
        if self.is_of(instance) && instance.check_tour(&self.best.1) == Ok(self.best.0) {
            return Ok(());
        }
        let (ours, n) = (instance.name(), instance.len());
        let problem = if *size == n {
            format!("is of {theirs} with other data than {ours} has here")
        } else {
            format!("is of {theirs} with {}; {ours} has {n}", counted(*size, "node"))
        };
        Err(file::wrong(name, problem, "give the instance of the checkpoint, read with the same options"))
    }

    fn is_of(&self, instance: &Instance) -> bool {
        self.subject.size == instance.len() && self.subject.fingerprint == instance.fingerprint()
    }

    /// Continues the run. Its limits count from its first start; [`Stop::before`] is set here. Several runs continue at the same
    /// time: on CPU threads all of them, on GPUs one on each, the best ones if there are fewer GPUs.
    ///
    /// # Errors
    /// As [`Algorithm::solve`]; if it is the run of another instance ([`Checkpoint::check_instance`]).
    pub fn resume(
        self,
        instance: &Instance,
        (backend, stop): (&Backend, &Stop),
        observe: &mut dyn Observe,
        keep: Option<genetic::Keep<'_>>,
    ) -> Result<Solution, SolveError> {
        if !self.is_of(instance) {
            let what = format!("the checkpoint is of another instance, {}", self.subject.instance);
            return Err(SolveError::Settings(what));
        }
        let stop = Stop { before: self.elapsed, ..stop.clone() };
        let shares_gpus = self.algorithm.shares_gpus();
        let several = if keep.is_some() { Vec::new() } else { self.runs.backends(backend, shares_gpus)? };
        let solution = if several.is_empty() {
            let Island { number, state } = self.runs.islands(1).pop().unwrap_or_default();
            let contact = Contact { observe, post: None, outside: Outside::default(), resumed: state };
            let algorithm = self.algorithm.clone().of_island(number);
            algorithm.solve_in_contact(instance, None, (backend, &stop), contact, keep)?
        } else {
            let islands = self.runs.islands(several.len());
            archipelago::resume(&self.algorithm, instance, (islands, &several), &stop, observe)?
        };
        Ok(self.completed(instance, solution))
    }

    /// Returns the solution of the run that continued, or the best one before if that is better.
    pub fn completed(self, instance: &Instance, solution: Solution) -> Solution {
        let Checkpoint { iterations, best: (cost, tour), .. } = self;
        // A run that was over before it could continue has another tour, and no iterations.
        let iterations = solution.iterations.max(iterations);
        let is_better = cost < solution.cost && instance.check_tour(&tour) == Ok(cost);
        let (cost, tour) = if is_better { (cost, tour) } else { (solution.cost, solution.tour) };
        Solution { cost, tour, iterations, ..solution }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::backend::Choice;
    use crate::engine::{BackendError, LocalSearch, Progress, Snapshot, State};
    use crate::instance::generate;
    use crate::solver::genetic::{Crossover, GeneticSettings, Initial};
    use crate::solver::{acs, ils, lin_kernighan, mmas};

    /// Keeps the state of the first batch with this many iterations, and interrupts the run then.
    struct Once {
        iterations: u64,
        reached: u64,
        snapshot: Option<Snapshot>,
    }

    impl Observe for Once {
        fn progress(&mut self, progress: &Progress) {
            self.reached = progress.iterations;
        }

        fn wants_checkpoint(&mut self, is_end: bool) -> bool {
            !is_end && self.snapshot.is_none() && self.reached >= self.iterations
        }

        fn checkpoint(&mut self, snapshot: Result<Snapshot, BackendError>) {
            self.snapshot = Some(snapshot.unwrap());
        }
    }

    /// Writes a run between two batches.
    fn write(path: &Path, subject: &Subject, limits: Limits, snapshot: &Snapshot) {
        let part = Part::of_tours(snapshot.clone()).unwrap();
        file::write(path, (subject, &limits.to_json()), &[Some(part)]).unwrap();
    }

    /// All algorithms whose runs are reproducible, with everything that their states have, and iterations.
    fn all() -> Vec<(Algorithm, u64)> {
        let genetic =
            |crossover| GeneticSettings { population: Some(64), groups: 2, ..GeneticSettings::of(crossover) };
        let best =
            |moves| ils::IlsSettings { improvement: ils::Improvement::Best, moves, ..Default::default() };
        let ants = |local_search, candidates| mmas::MmasSettings {
            local_search: Some(local_search),
            candidates,
            reset_after: Some(3),
            ants: Some(16),
            ..Default::default()
        };
        let system = |pheromone| acs::AcsSettings {
            pheromone,
            update: acs::Update::Sequential,
            ants: Some(8),
            ..Default::default()
        };
        vec![
            (Algorithm::LinKernighan(Default::default()), 1500),
            (
                Algorithm::LinKernighan(lin_kernighan::LinKernighanSettings {
                    chains: Some(3),
                    ..Default::default()
                }),
                1500,
            ),
            (Algorithm::Ils(Default::default()), 1500),
            (Algorithm::Ils(best(ils::Moves::One)), 40),
            (Algorithm::Ils(best(ils::Moves::Many)), 60),
            (Algorithm::Mmas(ants(LocalSearch::None, None)), 30),
            (Algorithm::Mmas(ants(LocalSearch::ThreeOpt, Some(16))), 16),
            (Algorithm::Mmas(ants(LocalSearch::Lk, Some(16))), 16),
            (Algorithm::Acs(system(acs::Pheromone::Matrix)), 30),
            (Algorithm::Acs(system(acs::Pheromone::Candidate)), 30),
            (Algorithm::Acs(system(acs::Pheromone::Selective)), 30),
            (Algorithm::Genetic(GeneticSettings { transfer_every: 7, ..genetic(Crossover::Hybrid) }), 60),
            (
                Algorithm::Genetic(GeneticSettings {
                    local_search: LocalSearch::Or2opt,
                    ..genetic(Crossover::Scx)
                }),
                20,
            ),
            (
                Algorithm::Genetic(GeneticSettings {
                    initial: Initial::LocalOptima,
                    ..genetic(Crossover::Eax)
                }),
                20,
            ),
        ]
    }

    #[test]
    fn a_run_that_continues_ends_with_the_same_tour() {
        let folder = std::env::temp_dir().join(format!("antwarp-checkpoint-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let instance = generate::uniform(300, 4).unwrap();
        let (backend, _) = Backend::open(Choice::Cpu).unwrap();
        for (i, (algorithm, iterations)) in all().into_iter().enumerate() {
            let name = format!("{} {i}", algorithm.name());
            let stop = Stop { iterations: Some(iterations), ..Stop::never() };
            let mut once = Once { iterations: iterations / 8, reached: 0, snapshot: None };
            let whole = algorithm.solve(&instance, None, (&backend, &stop), &mut once, None).unwrap();
            let snapshot = once.snapshot.unwrap();
            assert!(
                (iterations / 8..iterations).contains(&snapshot.iterations),
                "{name}: {}",
                snapshot.iterations
            );
            assert_eq!(instance.check_tour(&snapshot.best.1), Ok(snapshot.best.0), "{name}");
            let (path, subject) = (folder.join(i.to_string()), Subject::new(&algorithm, &instance));
            write(&path, &subject, Limits::of(&stop), &snapshot);
            let checkpoint = Checkpoint::read(&path).unwrap();
            let [Some((cost, state))] = &checkpoint.runs.0[..] else { panic!("{name}: a single run") };
            assert_eq!((*cost, checkpoint.algorithm()), (snapshot.best.0, &algorithm));
            assert_eq!(&state.arrays()[1..], snapshot.state.arrays());
            assert_eq!(checkpoint.limits, Limits::of(&stop));
            let mut seen = None;
            let observe = &mut |progress: &Progress| _ = seen.get_or_insert(progress.iterations);
            let rest = checkpoint.resume(&instance, (&backend, &stop), observe, None).unwrap();
            assert!(seen >= Some(snapshot.iterations), "{name}: from iteration {seen:?}");
            assert_eq!((rest.cost, &rest.tour), (whole.cost, &whole.tour), "{name}");
            assert_eq!(
                (rest.iterations, rest.best_iteration, rest.tours),
                (whole.iterations, whole.best_iteration, whole.tours),
                "{name}"
            );
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_timed_run_continues_in_any_phase() {
        let (backend, _) = Backend::open(Choice::Cpu).unwrap();
        let algorithm = Algorithm::LinKernighan(Default::default());
        for (n, limit) in [(400, 2.0), (6000, 6.0)] {
            let instance = generate::uniform(n, 4).unwrap();
            let subject = Subject::new(&algorithm, &instance);
            let mut all = Vec::new();
            struct Every<'a>(&'a mut Vec<Snapshot>, Instant);
            impl Observe for Every<'_> {
                fn progress(&mut self, _: &Progress) {}
                fn wants_checkpoint(&mut self, _: bool) -> bool {
                    self.1.elapsed() >= Duration::from_millis(150)
                }
                fn checkpoint(&mut self, snapshot: Result<Snapshot, BackendError>) {
                    self.0.push(snapshot.unwrap());
                    self.1 = Instant::now();
                }
            }
            let time = Duration::from_secs_f64(limit);
            let observe = &mut Every(&mut all, Instant::now());
            algorithm.solve(&instance, None, (&backend, &Stop::after(time)), observe, None).unwrap();
            assert!(all.len() > 3, "{} checkpoints", all.len());
            let step = (all.len() / 6).max(1);
            for snapshot in all.into_iter().step_by(step) {
                let (cost, elapsed) = (snapshot.best.0, snapshot.elapsed);
                let checkpoint = Checkpoint {
                    file: PathBuf::new(),
                    subject: subject.clone(),
                    algorithm: algorithm.clone(),
                    limits: Limits::of(&Stop::never()),
                    elapsed,
                    iterations: snapshot.iterations,
                    best: snapshot.best,
                    runs: Runs(vec![Some((cost, snapshot.state))]),
                };
                // To its end, or a little longer.
                let begin = Instant::now();
                let stop = Stop::after(elapsed + Duration::from_millis(300));
                let solution =
                    checkpoint.resume(&instance, (&backend, &stop), &mut |_: &Progress| (), None).unwrap();
                assert!(solution.failure.is_none() && solution.cost <= cost, "{:?}", solution.failure);
                assert_eq!(instance.check_tour(&solution.tour), Ok(solution.cost));
                assert!(
                    begin.elapsed() < Duration::from_secs(5) && solution.seconds >= elapsed.as_secs_f64()
                );
            }
        }
    }

    /// Copies the file of a run when it has done this many iterations.
    struct Copying {
        checkpoints: Checkpoints,
        files: [std::path::PathBuf; 2],
        iterations: u64,
    }

    impl Observe for Copying {
        fn progress(&mut self, progress: &Progress) {
            let [file, copy] = &self.files;
            if progress.iterations >= self.iterations && !copy.exists() {
                _ = std::fs::copy(file, copy);
            }
        }

        fn for_each_run(&mut self, runs: u32) -> Vec<Box<dyn Observe + Send>> {
            self.checkpoints.observers(runs)
        }
    }

    #[test]
    fn several_runs_continue_together() {
        let folder = tempfile::tempdir().unwrap();
        let instance = generate::uniform(200, 4).unwrap();
        let cpus: Vec<Backend> = (0..3).map(|_| Backend::open(Choice::Cpu).unwrap().0).collect();
        let backends: Vec<&Backend> = cpus.iter().collect();
        let genetic =
            GeneticSettings { population: Some(64), groups: 2, ..GeneticSettings::of(Crossover::Scx) };
        let settings = mmas::MmasSettings { ants: Some(16), ..Default::default() };
        for (algorithm, iterations) in [(Algorithm::Mmas(settings), 300), (Algorithm::Genetic(genetic), 4000)]
        {
            let name = algorithm.name();
            let files = ["run", "copy"].map(|file| folder.path().join(format!("{name} {file}")));
            let stop = Stop { iterations: Some(iterations), ..Stop::never() };
            let subject = (Subject::new(&algorithm, &instance), Limits::of(&stop).to_json());
            let schedule = Schedule { path: files[0].clone(), every: Duration::ZERO };
            let checkpoints = Checkpoints::begin(schedule, subject, Duration::ZERO, |why| panic!("{why}"));
            let mut copying = Copying {
                checkpoints: checkpoints.unwrap(),
                files: files.clone(),
                iterations: iterations / 8,
            };
            let whole =
                archipelago::solve(&algorithm, &instance, None, &backends, &stop, &mut copying).unwrap();
            drop(copying);
            let [file, copy] = files.map(|file| Checkpoint::read(&file).unwrap());
            // The last one is of the end of all runs.
            assert_eq!((file.runs.count(), file.best.0), (3, whole.cost), "{name}");
            assert!(copy.iterations < iterations, "{name}: {} iterations", copy.iterations);
            for checkpoint in [copy.clone(), file] {
                let observe = &mut |_: &Progress| ();
                let before = checkpoint.elapsed.as_secs_f64();
                let rest = checkpoint.resume(&instance, (&cpus[0], &stop), observe, None).unwrap();
                assert_eq!((rest.cost, &rest.tour), (whole.cost, &whole.tour), "{name}");
                assert_eq!((rest.iterations, rest.tours), (whole.iterations, whole.tours), "{name}");
                assert!(before > 0.0 && rest.seconds >= before, "{name}: {} s", rest.seconds);
            }
        }
    }

    #[test]
    fn an_interrupted_run_is_saved_where_it_stopped() {
        let (backend, _) = Backend::open(Choice::Cpu).unwrap();
        let instance = generate::uniform(300, 4).unwrap();
        /// Interrupts a run after this many iterations, and keeps its last state.
        struct Interrupting(Stop, u64, Option<Snapshot>);
        impl Observe for Interrupting {
            fn progress(&mut self, progress: &Progress) {
                self.0.interrupt.store(progress.iterations >= self.1, std::sync::atomic::Ordering::Relaxed);
            }
            fn wants_checkpoint(&mut self, is_end: bool) -> bool {
                is_end
            }
            fn checkpoint(&mut self, snapshot: Result<Snapshot, BackendError>) {
                self.2 = Some(snapshot.unwrap());
            }
            fn keeps_checkpoints(&self) -> bool {
                true
            }
        }
        for (algorithm, iterations) in all() {
            let name = algorithm.name();
            let stop = Stop { iterations: Some(iterations), ..Stop::never() };
            let whole =
                algorithm.solve(&instance, None, (&backend, &stop), &mut |_: &Progress| (), None).unwrap();
            let mut observe = Interrupting(stop.clone(), iterations / 8, None);
            let run = (&backend, &stop);
            let cut = algorithm.solve(&instance, None, run, &mut observe, None).unwrap();
            let Snapshot { elapsed, iterations: done, best, state } = observe.2.unwrap();
            assert_eq!(done, cut.iterations, "{name}");
            let checkpoint = Checkpoint {
                file: PathBuf::new(),
                subject: Subject::new(&algorithm, &instance),
                algorithm,
                limits: Limits::of(&stop),
                elapsed,
                iterations: done,
                runs: Runs(vec![Some((best.0, state))]),
                best,
            };
            let stop = Stop { iterations: Some(iterations), ..Stop::never() };
            let rest = checkpoint.resume(&instance, (&backend, &stop), &mut |_: &Progress| (), None).unwrap();
            assert_eq!((rest.cost, &rest.tour), (whole.cost, &whole.tour), "{name}");
        }
    }

    #[test]
    fn damaged_files_are_rejected() {
        let folder = std::env::temp_dir().join(format!("antwarp-damaged-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("run");
        let instance = generate::uniform(50, 4).unwrap();
        let algorithm = Algorithm::LinKernighan(Default::default());
        let mut state = State::default();
        state.put(&[1_u8; 100]).unwrap();
        let tour: Vec<u32> = (0..50).collect();
        let cost = instance.check_tour(&tour).unwrap();
        let snapshot = Snapshot { elapsed: Duration::ZERO, iterations: 1, best: (cost, tour), state };
        write(&path, &Subject::new(&algorithm, &instance), Limits::of(&Stop::never()), &snapshot);
        let whole = std::fs::read(&path).unwrap();
        let checkpoint = Checkpoint::read(&path).unwrap();
        checkpoint.check_instance(&path, &instance).unwrap();
        for other in [generate::uniform(50, 5).unwrap(), generate::uniform(51, 4).unwrap()] {
            assert!(checkpoint.check_instance(&path, &other).is_err());
        }
        let start = file::FORMAT.len();
        for len in [0, 10, start, start + 3, whole.len() / 2, whole.len() - 1] {
            std::fs::write(&path, &whole[..len]).unwrap();
            assert!(Checkpoint::read(&path).is_err(), "{len} bytes");
        }
        std::fs::write(&path, [b"antwarp checkpoint 1\n", &whole[start..]].concat()).unwrap();
        let error = Checkpoint::read(&path).unwrap_err().to_string();
        assert!(error.contains("was written by another version of antwarp"), "{error}");
        for at in (0..whole.len()).step_by(7) {
            let mut other = whole.clone();
            other[at] ^= 4;
            std::fs::write(&path, &other).unwrap();
            assert!(Checkpoint::read(&path).is_err(), "byte {at}");
        }
        // A right checksum does not make a state.
        let mut state = snapshot.state.clone();
        state.put(&[0_u32; 3]).unwrap();
        let (backend, _) = Backend::open(Choice::Cpu).unwrap();
        for (algorithm, _) in all() {
            write(&path, &Subject::new(&algorithm, &instance), Limits::of(&Stop::never()), &snapshot);
            let stop = Stop { iterations: Some(5), ..Stop::never() };
            let solved = Checkpoint::read(&path).unwrap().resume(
                &instance,
                (&backend, &stop),
                &mut |_: &Progress| (),
                None,
            );
            assert!(matches!(solved, Err(SolveError::Backend(BackendError::State))), "{solved:?}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
