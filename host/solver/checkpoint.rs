//! Checkpoints: a run in a file, from which another run continues.
//!
//! A file has a line with the format, a line of JSON, the best tour and the engine's [`State`], and a checksum of all
//! that. It is written as a whole or not at all.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::island::{Contact, Outside};
use super::{Algorithm, Solution, SolveError, genetic};
use crate::backend::Backend;
use crate::engine::{BackendError, Observe, Snapshot, State, Stop};
use crate::instance::{Instance, InstanceError, atomic_file};
use crate::memory;

/// The first line of a file.
const FORMAT: &str = "antwarp checkpoint 1\n";
/// Bytes of the checksum at the end: CRC-32.
const CHECKSUM: usize = size_of::<u32>();
/// Fetching a run's state takes at most one part in this many of the time.
const SHARE: u32 = 10;

/// What a run is, except for its limits.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The instance's name, nodes and [fingerprint](Instance::fingerprint).
    instance: (String, usize, u64),
    algorithm: Algorithm,
}

impl Subject {
    /// Makes it for a run of this algorithm.
    pub fn new(algorithm: &Algorithm, instance: &Instance) -> Subject {
        let instance = (instance.name().to_owned(), instance.len(), instance.fingerprint());
        Subject { instance, algorithm: algorithm.clone() }
    }
}

/// The limits of a run. A target is an internal cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// See [`Stop::time`].
    pub time: Option<Duration>,
    /// See [`Stop::iterations`].
    pub iterations: Option<u64>,
    /// See [`Stop::target`].
    pub target: Option<i64>,
    /// See [`Stop::stagnation`].
    pub stagnation: Option<u64>,
}

impl Limits {
    /// Returns the limits of a run.
    pub fn of(stop: &Stop) -> Limits {
        let Stop { time, iterations, target, stagnation, .. } = *stop;
        Limits { time, iterations, target, stagnation }
    }
}

/// The second line of a file.
#[derive(Serialize, Deserialize)]
struct Header {
    /// The version of antwarp.
    antwarp: String,
    instance: String,
    nodes: usize,
    fingerprint: String,
    algorithm: String,
    settings: Value,
    limits: Limits,
    elapsed: Duration,
    iterations: u64,
    /// The best tour's internal cost.
    cost: i64,
}

/// A run in a file.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    subject: Subject,
    /// The limits that the run had.
    pub limits: Limits,
    /// How long it took.
    pub elapsed: Duration,
    /// Its iterations.
    pub iterations: u64,
    /// Its best tour and the internal cost of that, in the instance's numbering.
    pub best: (i64, Vec<u32>),
    state: State,
}

impl Checkpoint {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, is no checkpoint, is damaged, or was written by another version.
    pub fn read(path: &Path) -> Result<Checkpoint, InstanceError> {
        let wrong =
            |problem: String, help: &str| InstanceError::content(path.display().to_string(), problem, help);
        let other = "give a file that was written by --checkpoint; --load-population takes a population";
        let unreadable = |cause| InstanceError::read(path, cause).where_missing(other);
        let size = std::fs::metadata(path).map_err(unreadable)?.len();
        memory::check(2 * size).map_err(|_| {
            wrong("is larger than the memory that is free".to_owned(), "run it where there is more memory")
        })?;
        let bytes = std::fs::read(path).map_err(unreadable)?;
        if !bytes.starts_with(FORMAT.as_bytes()) {
            return Err(wrong("is not a checkpoint of this version of antwarp".to_owned(), other));
        }
        let damaged = || wrong("is damaged or incomplete".to_owned(), "give an older copy, or start anew");
        let (content, sum) = bytes.split_last_chunk::<CHECKSUM>().ok_or_else(damaged)?;
        if crc32fast::hash(content) != u32::from_le_bytes(*sum) {
            return Err(damaged());
        }
        let rest = &content[FORMAT.len()..];
        let end = rest.iter().position(|&byte| byte == b'\n').ok_or_else(damaged)?;
        let header: Header = serde_json::from_slice(&rest[..end]).map_err(|_| damaged())?;
        if header.antwarp != env!("CARGO_PKG_VERSION") {
            let (theirs, ours) = (&header.antwarp, env!("CARGO_PKG_VERSION"));
            let problem = format!("was written by antwarp {theirs}; this is {ours}");
            return Err(wrong(problem, "continue with that version, or start anew"));
        }
        let mut state = State::of(arrays(&rest[end + 1..]).ok_or_else(damaged)?);
        let nodes = u32::try_from(header.nodes).map_err(|_| damaged())?;
        let tour = state.take_tour(nodes).map_err(|_| damaged())?;
        let subject = Subject {
            instance: (
                header.instance,
                header.nodes,
                u64::from_str_radix(&header.fingerprint, 16).map_err(|_| damaged())?,
            ),
            algorithm: Algorithm::of(&header.algorithm, &header.settings).ok_or_else(damaged)?,
        };
        let Header { limits, elapsed, iterations, cost, .. } = header;
        Ok(Checkpoint { subject, limits, elapsed, iterations, best: (cost, tour), state })
    }

    /// Returns the algorithm of the run, with its settings.
    pub fn algorithm(&self) -> &Algorithm {
        &self.subject.algorithm
    }

    /// Rejects another instance than that of the run; the `name` is that of the file.
    ///
    /// # Errors
    /// If the data differ, whatever the instances are called.
    pub fn check_instance(&self, name: &Path, instance: &Instance) -> Result<(), InstanceError> {
        let (theirs, nodes, fingerprint) = &self.subject.instance;
        let is_right = *nodes == instance.len()
            && *fingerprint == instance.fingerprint()
            && instance.check_tour(&self.best.1) == Ok(self.best.0);
        if is_right {
            return Ok(());
        }
        let (ours, n) = (instance.name(), instance.len());
        let problem = if *nodes == n {
            format!("is of {theirs} with other data than {ours} has here")
        } else {
            format!("is of {theirs} with {nodes} nodes; {ours} has {n}")
        };
        let help = "give the instance of the checkpoint, read with the same options";
        Err(InstanceError::content(name.display().to_string(), problem, help))
    }

    /// Continues the run. Its limits count from its first start; [`Stop::before`] is set here.
    ///
    /// # Errors
    /// As [`Algorithm::solve`]; if it is the run of another instance ([`Checkpoint::check_instance`]), or if several GPUs would
    /// have to continue it.
    pub fn resume(
        self,
        instance: &Instance,
        (backend, stop): (&Backend, &Stop),
        observe: &mut dyn Observe,
        keep: Option<genetic::Keep<'_>>,
    ) -> Result<Solution, SolveError> {
        let Checkpoint { subject, elapsed, iterations, best: (cost, tour), state, .. } = self;
        let algorithm = subject.algorithm;
        if subject.instance.1 != instance.len() || subject.instance.2 != instance.fingerprint() {
            let what = format!("the checkpoint is of another instance, {}", subject.instance.0);
            return Err(SolveError::Settings(what));
        }
        algorithm.check_checkpoints(backend)?;
        let stop = Stop { before: elapsed, ..stop.clone() };
        let contact = Contact { observe, post: None, outside: Outside::default(), resumed: Some(state) };
        let solution = algorithm.solve_in_contact(instance, None, (backend, &stop), contact, keep)?;
        // A run that was over before it could continue has another tour, and no iterations.
        let iterations = solution.iterations.max(iterations);
        let is_better = cost < solution.cost && instance.check_tour(&tour) == Ok(cost);
        let (cost, tour) = if is_better { (cost, tour) } else { (solution.cost, solution.tour) };
        Ok(Solution { cost, tour, iterations, ..solution })
    }
}

/// Returns the arrays of a file, whose number and sizes come before them.
fn arrays(mut rest: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut number = || {
        let (number, others) = rest.split_first_chunk::<8>()?;
        rest = others;
        usize::try_from(u64::from_le_bytes(*number)).ok()
    };
    // Each has at least its size.
    let count = number()?;
    let mut sizes = Vec::new();
    for _ in 0..count {
        sizes.push(number()?);
    }
    let mut arrays = Vec::new();
    for size in sizes {
        let (array, others) = rest.split_at_checked(size)?;
        arrays.push(array.to_vec());
        rest = others;
    }
    rest.is_empty().then_some(arrays)
}

/// Writes a run between two batches.
fn write(path: &Path, subject: &Subject, limits: Limits, snapshot: &Snapshot) -> Result<(), InstanceError> {
    let (name, nodes, fingerprint) = &subject.instance;
    let header = Header {
        antwarp: env!("CARGO_PKG_VERSION").to_owned(),
        instance: name.clone(),
        nodes: *nodes,
        fingerprint: format!("{fingerprint:016x}"),
        algorithm: subject.algorithm.name().to_owned(),
        settings: serde_json::to_value(&subject.algorithm).unwrap_or_default(),
        limits,
        elapsed: snapshot.elapsed,
        iterations: snapshot.iterations,
        cost: snapshot.best.0,
    };
    atomic_file::write(path, |out| {
        let mut out = Summed { out, sum: crc32fast::Hasher::new() };
        out.write_all(FORMAT.as_bytes())?;
        serde_json::to_writer(&mut out, &header)?;
        out.write_all(b"\n")?;
        let mut tour = State::default();
        tour.put(&snapshot.best.1).map_err(|error| io::Error::other(error.to_string()))?;
        let arrays = || tour.arrays().iter().chain(snapshot.state.arrays());
        for number in std::iter::once(arrays().count()).chain(arrays().map(Vec::len)) {
            out.write_all(&(number as u64).to_le_bytes())?;
        }
        arrays().try_for_each(|array| out.write_all(array))?;
        let sum = out.sum.clone().finalize();
        out.out.write_all(&sum.to_le_bytes())
    })
}

/// Computes the checksum of what is written.
struct Summed<'w> {
    out: &'w mut dyn Write,
    sum: crc32fast::Hasher,
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Where and how often a run writes checkpoints.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The file, which is replaced every time.
    pub path: PathBuf,
    /// The time between two of them. Longer if fetching the run's state takes more than a tenth of it.
    pub every: Duration,
}

/// Writes the checkpoints of a run, on a thread of its own.
pub struct Checkpoints {
    every: Duration,
    /// When the last one was requested, and how long it took to fetch the run's state.
    last: (Instant, Duration),
    /// When the one that is being fetched was requested.
    requested: Option<Instant>,
    /// Whether one is being written.
    is_busy: Arc<AtomicBool>,
    sender: Option<SyncSender<Snapshot>>,
    thread: Option<JoinHandle<()>>,
    warn: Arc<dyn Fn(&str) + Send + Sync>,
    /// Time before the run's own clock started, such as that for reading.
    before: Duration,
}

impl Checkpoints {
    /// Starts to write checkpoints of a run that began this long `before`; `warn` is called once if one cannot be written. `None`
    /// if no thread can be started.
    pub fn begin(
        schedule: Schedule,
        (subject, limits): (Subject, Limits),
        before: Duration,
        warn: impl Fn(&str) + Send + Sync + 'static,
    ) -> Option<Checkpoints> {
        let Schedule { path, every } = schedule;
        let (sender, receiver) = sync_channel::<Snapshot>(1);
        let is_busy = Arc::new(AtomicBool::new(false));
        let warn: Arc<dyn Fn(&str) + Send + Sync> = Arc::new(warn);
        let (busy, tell) = (is_busy.clone(), warn.clone());
        let work = move || {
            let mut is_told = false;
            for snapshot in receiver {
                // A later one may succeed.
                if let Err(error) = write(&path, &subject, limits, &snapshot)
                    && !std::mem::replace(&mut is_told, true)
                {
                    tell(&error.to_string());
                }
                busy.store(false, Ordering::Relaxed);
            }
        };
        let thread = std::thread::Builder::new().spawn(work).ok()?;
        Some(Checkpoints {
            every,
            last: (Instant::now(), Duration::ZERO),
            requested: None,
            is_busy,
            sender: Some(sender),
            thread: Some(thread),
            warn,
            before,
        })
    }

    /// See [`Observe::wants_checkpoint`].
    pub fn is_due(&mut self, is_end: bool) -> bool {
        let (last, took) = self.last;
        let is_time = last.elapsed() >= self.every.max(SHARE * took) && !self.is_busy.load(Ordering::Relaxed);
        let is_due = is_end || is_time;
        self.requested = is_due.then(Instant::now);
        is_due
    }

    /// See [`Observe::checkpoint`].
    pub fn write(&mut self, snapshot: Result<Snapshot, BackendError>) {
        let requested = self.requested.take().unwrap_or_else(Instant::now);
        self.last = (requested, requested.elapsed());
        match snapshot {
            Ok(snapshot) => {
                let snapshot = Snapshot { elapsed: snapshot.elapsed + self.before, ..snapshot };
                self.is_busy.store(true, Ordering::Relaxed);
                // The thread ends only after the sender.
                if let Some(sender) = &self.sender {
                    _ = sender.send(snapshot);
                }
            }
            Err(error) => (self.warn)(&error.to_string()),
        }
    }
}

/// Waits until the last one is written.
impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.sender = None;
        // It does not panic.
        self.thread.take().into_iter().for_each(|thread| _ = thread.join());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Choice;
    use crate::engine::{LocalSearch, Progress};
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
            (Algorithm::LinKernighan(Default::default()), 3000),
            (
                Algorithm::LinKernighan(lin_kernighan::LinKernighanSettings {
                    chains: Some(3),
                    ..Default::default()
                }),
                3000,
            ),
            (Algorithm::Ils(Default::default()), 3000),
            (Algorithm::Ils(best(ils::Moves::One)), 40),
            (Algorithm::Ils(best(ils::Moves::Many)), 60),
            (Algorithm::Mmas(ants(LocalSearch::None, None)), 30),
            (Algorithm::Mmas(ants(LocalSearch::ThreeOpt, Some(16))), 30),
            (Algorithm::Mmas(ants(LocalSearch::Lk, Some(16))), 40),
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
            write(&path, &subject, Limits::of(&stop), &snapshot).unwrap();
            let checkpoint = Checkpoint::read(&path).unwrap();
            assert_eq!(
                (checkpoint.algorithm(), &checkpoint.state.arrays()[1..]),
                (&algorithm, snapshot.state.arrays())
            );
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
                    subject: subject.clone(),
                    limits: Limits::of(&Stop::never()),
                    elapsed,
                    iterations: snapshot.iterations,
                    best: snapshot.best,
                    state: snapshot.state,
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
        write(&path, &Subject::new(&algorithm, &instance), Limits::of(&Stop::never()), &snapshot).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let checkpoint = Checkpoint::read(&path).unwrap();
        checkpoint.check_instance(&path, &instance).unwrap();
        for other in [generate::uniform(50, 5).unwrap(), generate::uniform(51, 4).unwrap()] {
            assert!(checkpoint.check_instance(&path, &other).is_err());
        }
        for len in [0, 10, FORMAT.len(), FORMAT.len() + 3, whole.len() / 2, whole.len() - 1] {
            std::fs::write(&path, &whole[..len]).unwrap();
            assert!(Checkpoint::read(&path).is_err(), "{len} bytes");
        }
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
            write(&path, &Subject::new(&algorithm, &instance), Limits::of(&Stop::never()), &snapshot)
                .unwrap();
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
