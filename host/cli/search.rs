//! `antwarp search`: neighbourhood search on the problems that it has.

mod deliver;
mod watchdog;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use serde_json::json;

use super::options::{MachineArgs, duration, finite, whole};
use super::output::{self, Output};
use super::setting_options::{Given, Options, SettingOption, options_of};
use super::{Error, Outcome, Result, checkpoints, progress, reading, signals};
use crate::backend::Backend;
use crate::engine::{BackendError, Cost, Observe, Progress, Snapshot, Stop, StopReason, tuning};
use crate::instance::{Instance, InstanceError, Qap};
use crate::solver::DEFAULT_TIME;
use crate::solver::checkpoint::{Checkpoints, Limits, Schedule, SearchCheckpoint, Subject};
use crate::solver::search::problems::{MaxCut, Partition, Perceptron};
use crate::solver::search::{
    Changes, Chooser, Contact, Precision, SearchSettings, Strategy, Task, TourMove, WeierstrassSpec,
};
use crate::solver::settings::{Settings, read};
use deliver::Ended;
use watchdog::Hold;

/// Iterations for each element between restarts of tabu search, unless a user chooses the walks; and between those that recombine.
const RESTART: u64 = 50;
const RECOMBINE: u64 = 20;
/// Fewest iterations between restarts in assignments without structure; of so few places children are better all the same.
const RESTART_UNSTRUCTURED: u64 = 5000;
const FEW_PLACES: u32 = 50;

/// Arguments of `antwarp search`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    problem: What,
}

/// The problems.
#[derive(Debug, clap::Subcommand)]
enum What {
    /// Quadratic assignment: a QAPLIB file
    Qap {
        /// A QAPLIB file
        #[arg(value_name = "FILE", required_unless_present = "uniform")]
        file: Option<PathBuf>,
        /// Instead of a file: a random instance with this many places, uniform like Taillard's, made from the search's seed
        #[arg(long, value_name = "N", conflicts_with = "file", value_parser = whole::<u32>(0..=u64::MAX))]
        uniform: Option<u32>,
        /// How the cost changes of exchanges are found
        #[arg(long, value_enum, default_value_t = Changes::default())]
        changes: Changes,
        #[command(flatten)]
        common: Box<Common>,
    },
    /// Permuted perceptron: a random instance with a planted solution
    Ppp {
        /// Rows
        #[arg(long, value_name = "N", value_parser = whole::<u32>(0..=u64::MAX))]
        m: u32,
        /// Columns
        #[arg(long, value_name = "N", value_parser = whole::<u32>(0..=u64::MAX))]
        n: u32,
        /// Hamming distance of neighbours (with vnd and vns, the largest one); if not given, 1 for annealing and else 2
        #[arg(long, value_name = "D", value_parser = whole::<u32>(1..=3))]
        distance: Option<u32>,
        /// Seed of the instance
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64>(0..=u64::MAX))]
        instance_seed: u64,
        #[command(flatten)]
        common: Box<Common>,
    },
    /// The Weierstrass-Mandelbrot function
    Weierstrass {
        /// Dimensions
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u32>(1..=4096))]
        dim: u32,
        #[command(flatten)]
        function: FunctionArgs,
        #[command(flatten)]
        common: Box<Common>,
    },
    /// The travelling salesman problem with exchanges of cities; `antwarp solve` finds far shorter tours
    Tsp {
        /// A TSPLIB or CSV file, or the name of a generated instance such as E1k.0
        #[arg(value_name = "FILE|NAME")]
        instance: PathBuf,
        /// What a move does
        #[arg(long = "move", value_enum, default_value_t = TourMove::default())]
        step: TourMove,
        #[command(flatten)]
        common: Box<Common>,
    },
    /// Number partitioning: sets of equal sums
    Partition {
        /// A file of positive integers
        #[arg(value_name = "FILE", required_unless_present = "numbers")]
        file: Option<PathBuf>,
        /// Instead of a file: this many random numbers up to 1,000,000, made from the search's seed
        #[arg(long, value_name = "N", conflicts_with = "file", value_parser = whole::<u32>(0..=u64::MAX))]
        numbers: Option<u32>,
        /// Number of sets
        #[arg(long, value_name = "N", default_value_t = 2, value_parser = whole::<u32>(2..=256))]
        sets: u32,
        #[command(flatten)]
        common: Box<Common>,
    },
    /// Maximum cut: divide a graph in two, with heavy edges between the sides; the cost is the negated weight of the cut
    MaxCut {
        /// A graph: the numbers of nodes and edges, then two nodes and a weight for each edge
        #[arg(value_name = "FILE", required_unless_present = "nodes")]
        file: Option<PathBuf>,
        /// Instead of a file: a random graph with this many nodes and edges of weight 1, made from the search's seed
        #[arg(long, value_name = "N", conflicts_with = "file", value_parser = whole::<u32>(0..=u64::MAX))]
        nodes: Option<u32>,
        /// Average number of edges of a node in a random graph
        #[arg(long, value_name = "N", default_value_t = 6, conflicts_with = "file", value_parser = whole::<u32>(0..=u64::MAX))]
        degree: u32,
        #[command(flatten)]
        common: Box<Common>,
    },
}

/// A Weierstrass-Mandelbrot function and its neighbourhood.
#[derive(Debug, clap::Args)]
struct FunctionArgs {
    /// Terms of the sum
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = whole::<u32>(1..=1000))]
    terms: u32,
    /// b > 1: how much faster each term oscillates
    #[arg(long, value_name = "F", default_value_t = 2.0, value_parser = finite)]
    b: f64,
    /// 0 < h < 1: how much smaller each term is
    #[arg(long = "holder", value_name = "F", default_value_t = 0.25, value_parser = finite)]
    h: f64,
    /// Number of neighbours, one in each shell
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = whole::<u32>(1..=1 << 30))]
    neighbors: u32,
    /// Radius of the neighbourhood; 1 / dimensions if not given
    #[arg(long, value_name = "F", value_parser = finite)]
    radius: Option<f64>,
    /// Single or double precision
    #[arg(long, value_enum, default_value_t = Precision::default())]
    precision: Precision,
}

impl FunctionArgs {
    /// Returns the function with this many dimensions.
    fn task(&self, dimensions: u32) -> Result<Task> {
        let FunctionArgs { terms, b, h, precision, .. } = *self;
        let radius = self.radius.map_or(1.0 / dimensions as f32, |radius| radius as f32);
        if !(b > 1.0 && b.is_finite() && h > 0.0 && h < 1.0) {
            return Err(Error::Usage("--b must be above 1, and --holder between 0 and 1".into()));
        }
        if !(radius > 0.0 && radius.is_finite()) {
            return Err(Error::Usage("--radius must be above 0".into()));
        }
        let highest = b.powi(terms as i32);
        if !highest.is_finite() || (precision == Precision::F32 && highest > f64::from(f32::MAX)) {
            return Err(Error::Usage("b to the power of --terms is too large: give fewer terms".into()));
        }
        let spec = WeierstrassSpec {
            dimensions,
            terms,
            b,
            h,
            shells: self.neighbors,
            radius,
            tabu_radius: radius / 100.0,
        };
        Ok(Task::Weierstrass(spec, precision))
    }
}

/// Arguments of every search.
#[derive(Debug, clap::Args)]
struct Common {
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    stop: StopArgs,
    #[command(flatten)]
    settings: Given<SearchSettings>,
    #[command(flatten)]
    begin: BeginArgs,
    #[command(flatten)]
    outputs: Outputs,
}

/// What a search starts from.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Start")]
struct BeginArgs {
    /// Continue the search of this checkpoint; limits count from its start
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
}

/// When to stop.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Stop at the first limit reached (default 10 s)")]
struct StopArgs {
    /// After this time, such as 10s or 2m
    #[arg(long, value_parser = duration)]
    time: Option<Duration>,
    /// After this many iterations of each walk
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..=1 << 31))]
    iterations: Option<u64>,
    /// At this cost or less; a search always ends at a cost that is known to be the least
    #[arg(long, value_name = "COST")]
    target: Option<Cost>,
}

/// The options of a search's settings.
static OPTIONS: LazyLock<Vec<SettingOption>> = LazyLock::new(|| options_of(&[SearchSettings::DECLARATION]));

impl Options for SearchSettings {
    const ALL: &'static LazyLock<Vec<SettingOption>> = &OPTIONS;

    fn heading(option: &SettingOption) -> Option<String> {
        (!option.is_common()).then(|| "Walks".to_owned())
    }
}

/// Where results go.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
struct Outputs {
    /// Everything about the run, and the solution, as JSON
    #[arg(long, value_name = "FILE|-")]
    json: Option<Output>,
    /// The solution: a QAPLIB solution, a TSPLIB tour, or else one value per line
    #[arg(long, value_name = "FILE|-")]
    solution: Option<Output>,
    /// Write the search to this file at regular intervals, for --resume
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<Output>,
    /// Time between checkpoints; there is another one at the end
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "checkpoint", default_value = "30s")]
    every: Duration,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

impl What {
    fn common(&self) -> &Common {
        match self {
            What::Qap { common, .. }
            | What::Ppp { common, .. }
            | What::Weierstrass { common, .. }
            | What::Tsp { common, .. }
            | What::Partition { common, .. }
            | What::MaxCut { common, .. } => common,
        }
    }

    /// The input file, to which no output may go.
    fn input(&self) -> Option<&Path> {
        match self {
            What::Qap { file, .. } | What::Partition { file, .. } | What::MaxCut { file, .. } => {
                file.as_deref()
            }
            What::Tsp { instance, .. } => Some(instance),
            What::Ppp { .. } | What::Weierstrass { .. } => None,
        }
    }

    fn task(&self, settings: &SearchSettings) -> Result<Task> {
        let seed = settings.seed;
        Ok(match self {
            What::Qap { file: Some(file), changes, .. } => Task::Qap(Qap::open(file)?, *changes),
            What::Qap { uniform, changes, .. } => {
                Task::Qap(Qap::uniform(uniform.unwrap_or(0), seed).map_err(refused("--uniform"))?, *changes)
            }
            What::Ppp { m, n, distance, instance_seed, .. } => {
                let usual = if settings.strategy == Strategy::Annealing { 1 } else { 2 };
                perceptron(*m, *n, distance.unwrap_or(usual), *instance_seed)?
            }
            What::Weierstrass { dim, function, .. } => function.task(*dim)?,
            What::Tsp { instance, step, .. } => Task::Tour(Box::new(Instance::open(instance)?), *step),
            What::Partition { file: Some(file), sets, .. } => Task::Partition(Partition::open(file, *sets)?),
            What::Partition { numbers, sets, .. } => {
                let partition = Partition::uniform(numbers.unwrap_or(0), *sets, seed);
                Task::Partition(partition.map_err(refused("--numbers"))?)
            }
            What::MaxCut { file: Some(file), .. } => Task::MaxCut(MaxCut::open(file)?),
            What::MaxCut { nodes, degree, .. } => {
                let graph = MaxCut::random(nodes.unwrap_or(0), *degree, seed);
                Task::MaxCut(graph.map_err(refused("--nodes, --degree"))?)
            }
        })
    }
}

/// What is wrong with a generated instance is wrong with the options that ask for it.
fn refused(options: &str) -> impl Fn(InstanceError) -> Error {
    move |error| Error::Usage(format!("{options}: {error}"))
}

/// A permuted perceptron problem; the command line asks for it, so what is wrong is wrong there.
fn perceptron(m: u32, n: u32, distance: u32, seed: u64) -> Result<Task> {
    if n < distance {
        return Err(Error::Usage(format!("--n: {n} columns have no neighbours at distance {distance}")));
    }
    let instance = Perceptron::generate(m, n, seed).map_err(refused("--m, --n"))?;
    Ok(Task::Perceptron(instance, distance))
}

/// Walks that a search has unless the user says otherwise: enough to fill the backend, one where a single neighbourhood does.
fn default_walks(backend: &Backend, task: &Task) -> u32 {
    match (backend, task.neighbors()) {
        (_, 200_000..) => 1,
        (Backend::Cpu(_), _) => 16,
        // A block a walk, a multiprocessor a block; or two, which wait for different steps: two replicas with one matrix of up to 100
        // places each fit a multiprocessor with 227 KiB of shared memory.
        #[cfg(feature = "cuda")]
        (Backend::Cuda(cards), ..5000) if matches!(task, Task::Qap(qap, _) if qap.is_symmetric()) => {
            2 * cards.first().multiprocessors()
        }
        #[cfg(feature = "cuda")]
        (Backend::Cuda(cards), _) => cards.first().multiprocessors(),
    }
}

/// How walks of tabu search restart unless the user says otherwise: in assignments they recombine. In large ones without structure,
/// whose good solutions have little in common, they go on near their own best, up to 250 places after longer, with shorter tenures.
fn restarts(task: &Task, settings: &mut SearchSettings) {
    let n = task.elements();
    if matches!(task, Task::Qap(qap, _) if n > FEW_PLACES && qap.is_unstructured()) {
        settings.restart = Some(RESTART_UNSTRUCTURED.max(RECOMBINE * u64::from(n)));
        settings.tenure = settings.tenure.or(Some((n / 15, n / 3)));
        return;
    }
    settings.recombine = matches!(task, Task::Qap(..)) && settings.walks > 1;
    let each = if settings.recombine { RECOMBINE } else { RESTART };
    settings.restart = Some(each * u64::from(n));
}

impl Common {
    /// The settings that are given, with defaults that need no instance for the others, and the checks that need none.
    fn settings(&self) -> Result<SearchSettings> {
        let settings = self.given()?;
        self.settings.refuse_unused(&SearchSettings::DECLARATION, &json!(settings))?;
        Ok(settings)
    }

    /// The same, of which some may have no effect.
    fn given(&self) -> Result<SearchSettings> {
        let given = self.settings.values.iter().map(|(id, value)| ((*id).to_owned(), value.clone()));
        let settings: SearchSettings = read(&given.collect()).map_err(Error::Usage)?;
        settings.check_ranges()?;
        Ok(settings)
    }

    /// The settings of the search that continues; others are refused.
    fn resumed_settings(&self, checkpoint: &SearchCheckpoint) -> Result<SearchSettings> {
        let given = self.given()?;
        let (given, values) = (json!(given), json!(checkpoint.settings()));
        for (id, _) in &self.settings.values {
            let Some(setting) = SearchSettings::DECLARATION.option(id) else { continue };
            if given[setting.name] != values[setting.name] {
                return Err(resumed_otherwise(&format!("has `{id}` {}", values[setting.name])));
            }
        }
        self.settings.refuse_unused(&SearchSettings::DECLARATION, &values)?;
        Ok(checkpoint.settings().clone())
    }

    /// Completes the settings for an instance, and checks that they go together.
    fn complete(&self, settings: &mut SearchSettings, task: &Task) -> Result<()> {
        if settings.recombine {
            settings.restart.get_or_insert(RECOMBINE * u64::from(task.elements()));
        }
        let proven = task.best_known().filter(|known| known.proven).map(|known| Cost::Whole(known.cost));
        settings.target = match (self.stop.target.map(|target| task.inside(target)), proven) {
            (Some(target), Some(proven)) => Some(target.max(proven)),
            (target, proven) => target.or(proven),
        };
        Ok(settings.check()?)
    }

    /// Whether a limit is given.
    fn has_limits(&self) -> bool {
        let StopArgs { time, iterations, target } = &self.stop;
        time.is_some() || iterations.is_some() || target.is_some()
    }

    /// When to stop. Without other limits, a search that continues has those of its checkpoint.
    fn stop(&self, interrupt: Arc<AtomicBool>, resumed: Option<&SearchCheckpoint>) -> Stop {
        let before = resumed.map_or(Duration::ZERO, |checkpoint| checkpoint.elapsed);
        let descents = match resumed {
            Some(checkpoint) => checkpoint.settings().descents.is_some(),
            None => self.settings.get("descents").is_some(),
        };
        if let Some(checkpoint) = resumed.filter(|_| !self.has_limits()) {
            let Limits { time, iterations, .. } = checkpoint.limits;
            return Stop { time, before, iterations, interrupt, ..Stop::never() };
        }
        let given = self.has_limits() || descents;
        Stop {
            time: if given { self.stop.time } else { Some(DEFAULT_TIME) },
            before,
            iterations: self.stop.iterations,
            interrupt,
            ..Stop::never()
        }
    }
}

impl Outputs {
    fn all(&self) -> impl Iterator<Item = &Output> + Clone {
        self.json.iter().chain(&self.solution).chain(&self.checkpoint)
    }
}

/// What a command line asks for.
pub(super) struct Asked {
    /// The problem, with its instance.
    pub task: Task,
    /// How to search. The target is an internal cost.
    pub settings: SearchSettings,
    /// When to stop, apart from the target.
    pub stop: Stop,
}

impl Args {
    /// Reads or generates the instance, and checks settings. `interrupt` becomes that of the limits.
    ///
    /// # Errors
    /// If the instance cannot be read or made, or settings are out of range, have no effect or contradict each other.
    pub(super) fn asked(&self, interrupt: Arc<AtomicBool>) -> Result<Asked> {
        self.asked_after(None, interrupt)
    }

    /// As [`Args::asked`], for a search that continues.
    fn asked_after(&self, resumed: Option<&SearchCheckpoint>, interrupt: Arc<AtomicBool>) -> Result<Asked> {
        let common = self.problem.common();
        let mut settings = match resumed {
            Some(checkpoint) => common.resumed_settings(checkpoint)?,
            None => common.settings()?,
        };
        let task = self.problem.task(&settings)?;
        if let (Some(checkpoint), Some(path)) = (resumed, &common.begin.resume) {
            checkpoint.check_task(path, &task, task.fingerprint()?)?;
        }
        if resumed.is_none() || common.has_limits() {
            common.complete(&mut settings, &task)?;
        }
        Ok(Asked { task, settings, stop: common.stop(interrupt, resumed) })
    }
}

/// The error for a search that continues, but is asked to do so in another way.
fn resumed_otherwise(what: &str) -> Error {
    Error::Usage(format!("the search of the checkpoint {what}; --resume continues it as it is"))
}

/// Searches.
pub fn run(args: Args) -> Result<Outcome> {
    let begin = Instant::now();
    let interrupt = signals::watch("stopping with the best solution so far")?;
    let common = args.problem.common();
    let input = args.problem.input().map(|file| (output::INSTANCE, file));
    output::check(common.outputs.all(), input.as_slice())?;
    let resume = common.begin.resume.as_deref();
    if let Some(path) = resume {
        let others = common.outputs.json.iter().chain(&common.outputs.solution);
        output::check(others, &[("the checkpoint to continue from", path)])?;
    }
    checkpoints::check_file(common.outputs.checkpoint.as_ref(), resume)?;
    let resumed = resume.map(SearchCheckpoint::read).transpose()?;
    tuning::check().map_err(Error::Usage)?;
    common.machine.start_threads()?;
    let stop = common.stop(interrupt.clone(), resumed.as_ref());
    watchdog::watch(begin, &stop, move |hold| carry_out(&args, resumed, begin, interrupt, hold))
}

/// Searches, on a thread that is left behind unless the search is [kept](Hold::keep).
fn carry_out(
    args: &Args,
    resumed: Option<SearchCheckpoint>,
    begin: Instant,
    interrupt: Arc<AtomicBool>,
    hold: &Hold,
) -> Result<Outcome> {
    let common = args.problem.common();
    let Asked { task, mut settings, stop } = args.asked_after(resumed.as_ref(), interrupt)?;
    hold.keep();
    if let (Task::Tour(instance, _), false) = (&task, common.outputs.quiet) {
        reading::announce(instance);
    }
    let backend = common.machine.open(common.outputs.quiet)?;
    if backend.is_cpu() {
        hold.release();
    }
    let is_free = resumed.is_none() && common.settings.get("walks").is_none();
    if is_free && settings.selection == Chooser::Device {
        settings.walks = default_walks(&backend, &task);
        let is_alone = settings.restart.is_none() && settings.cooperate.is_none();
        if settings.strategy == Strategy::Tabu && is_alone {
            restarts(&task, &mut settings);
        }
    }
    let line = Line::new(common.outputs.quiet, &stop);
    // Who gives it ten seconds means those of reading, too.
    let reading = begin.elapsed();
    let left = stop.spent(reading);
    if let Some(checkpoint) = &resumed {
        let gpus = Some(backend.gpus()).filter(|&gpus| gpus > 0);
        line.announce(checkpoint, &task, gpus);
    }
    let show = |now: &Progress<Cost>| {
        hold.keep();
        line.show(now, &task);
    };
    let checkpoints = common.checkpoints(&task, &settings, &stop, (reading, &line))?;
    if let (Some(checkpoints), Some(resumed)) = (&checkpoints, &resumed) {
        checkpoints.continue_from(resumed.file());
    }
    let mut observer = Observer { show, checkpoints };
    let runs = resumed.map(|checkpoint| checkpoint.runs().clone());
    let contact = Contact { observe: &mut observer, resumed: runs };
    let done = task.run_in_contact(&backend, &settings, &left, contact);
    // The last checkpoint is written before the summary.
    observer.checkpoints = None;
    hold.keep();
    line.bar.finish_and_clear();
    let mut done = done?;
    done.found = done.found.begun_before(reading);
    let ended =
        Ended { task: &task, settings: &settings, stop: &stop, machine: backend.machine(), done: &done };
    let delivered = ended.deliver(&common.outputs).and_then(|()| ended.refuse_forbidden());
    match (delivered, &done.found.failure, done.found.stopped_by) {
        (Err(error), ..) => Err(error),
        (_, Some(failure), _) => Err(Error::CutShort(failure.clone())),
        (_, None, StopReason::Interrupt) => Ok(Outcome::Interrupted),
        _ => Ok(Outcome::Done),
    }
}

/// Shows the progress of a search, and writes its checkpoints.
struct Observer<F> {
    show: F,
    checkpoints: Option<Checkpoints>,
}

impl<F: FnMut(&Progress<Cost>)> Observe<Cost, ()> for Observer<F> {
    fn progress(&mut self, progress: &Progress<Cost>) {
        (self.show)(progress);
    }

    fn wants_checkpoint(&mut self, is_end: bool) -> bool {
        self.checkpoints.as_mut().is_some_and(|checkpoints| checkpoints.own().is_due(is_end))
    }

    fn checkpoint(&mut self, snapshot: std::result::Result<Snapshot<Cost, ()>, BackendError>) {
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.own().checkpoint(snapshot);
        }
    }

    fn no_checkpoint(&mut self) {
        self.checkpoints.iter_mut().for_each(|checkpoints| checkpoints.own().skip());
    }

    fn keeps_checkpoints(&self) -> bool {
        self.checkpoints.is_some()
    }

    fn for_each_run(&mut self, runs: u32) -> Vec<Box<dyn Observe<Cost, ()> + Send>> {
        self.checkpoints.as_mut().map_or(Vec::new(), |checkpoints| checkpoints.observers(runs))
    }
}

impl Common {
    /// Starts to write checkpoints of a search that began this long ago, if any are asked for.
    fn checkpoints(
        &self,
        task: &Task,
        settings: &SearchSettings,
        stop: &Stop,
        (before, line): (Duration, &Line),
    ) -> Result<Option<Checkpoints>> {
        let Some(path) = self.outputs.checkpoint.as_ref().and_then(Output::file) else { return Ok(None) };
        let schedule = Schedule { path: path.to_owned(), every: self.outputs.every };
        let limits = Limits::of(&stop.with_target(settings.target)).to_json();
        let subject = (Subject::of_search(task, settings)?, limits);
        let own = line.clone();
        let warn = move |why: &str| own.tell(&checkpoints::warning(why));
        let checkpoints = Checkpoints::begin(schedule, subject, before, warn);
        if checkpoints.is_none() {
            line.tell(checkpoints::NO_THREAD);
        }
        Ok(checkpoints)
    }
}

/// The live line on a terminal.
#[derive(Clone)]
struct Line {
    bar: ProgressBar,
    by_time: bool,
    is_quiet: bool,
}

impl Line {
    fn new(quiet: bool, stop: &Stop) -> Line {
        let length = stop.time.map(|time| time.as_millis() as u64).or(stop.iterations);
        let bar = progress::bar(quiet, length);
        Line { bar, by_time: stop.time.is_some(), is_quiet: quiet }
    }

    /// Says from where a search continues.
    fn announce(&self, checkpoint: &SearchCheckpoint, task: &Task, gpus: Option<usize>) {
        let SearchCheckpoint { elapsed, iterations, cost, .. } = checkpoint;
        let cost =
            task.user_cost(*cost).map_or("with forbidden pairs".to_owned(), |c| format!("of cost {c}"));
        let found = format!("a solution {cost}");
        self.tell(&checkpoints::announcement(*elapsed, *iterations, &found));
        if let Some(fewer) = checkpoints::fewer(checkpoint.runs().count(), gpus) {
            self.tell(&fewer);
        }
    }

    /// Prints a line above it.
    fn tell(&self, what: &str) {
        if !self.is_quiet {
            self.bar.suspend(|| output::tell(&format!("antwarp: {what}")));
        }
    }

    fn show(&self, now: &Progress<Cost>, task: &Task) {
        self.bar.set_position(if self.by_time { (now.seconds * 1e3) as u64 } else { now.iterations });
        let best =
            task.user_cost(now.best_cost).map_or("has forbidden pairs".to_owned(), |cost| cost.to_string());
        self.bar.set_message(format!("best {best}, iteration {}", now.iterations));
    }
}
