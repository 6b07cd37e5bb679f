//! `antwarp bench-walks`: times of neighbourhood search by the ways in which neighbours are looked at, as published tables
//! show them (Luong et al. 2013, tables 2 to 9).

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::ValueEnum;
use serde::Serialize;

use super::options::{MachineArgs, duration};
use super::output::Output;
use super::search::{FunctionArgs, perceptron};
use super::table::{Table, mean, number};
use super::{Error, Outcome, Result, interrupt};
use crate::backend::{Backend, Choice, Machine};
use crate::engine::{BackendError, Stop, StopReason};
use crate::instance::{Instance, Qap};
use crate::report::gap_percent;
use crate::solver::SolveError;
use crate::solver::search::{AskedShape, Changes, Done, Selection, Settings, Strategy, Task, TourMove};

/// Iterations of a run in the paper's tables.
const PAPER_ITERATIONS: u64 = 10_000;
/// Threads of a block in the paper's tables.
const PAPER_THREADS: u32 = 256;
/// Most such blocks that a multiprocessor runs at the same time.
const MOST_BLOCKS: u32 = 2048 / PAPER_THREADS;

/// Arguments of `antwarp bench-walks`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    problem: What,
}

/// The problems.
#[derive(Debug, clap::Subcommand)]
enum What {
    /// Quadratic assignment (the paper's table 2)
    Qap {
        /// QAPLIB files
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        /// How the changes of exchanges are known
        #[arg(long, value_enum, default_value_t = Changes::default())]
        changes: Changes,
        #[command(flatten)]
        common: Box<Common>,
    },
    /// Permuted perceptron (the paper's tables 3, 4 and 9)
    Ppp {
        /// Rows and columns
        #[arg(
            long,
            value_name = "M-N,..",
            value_delimiter = ',',
            default_value = "73-73,81-81,101-117,201-217,401-417,601-617,801-817,1001-1017,1301-1317"
        )]
        sizes: Vec<Sides>,
        /// Hamming distance of neighbours
        #[arg(long, value_name = "D", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=3))]
        distance: u32,
        /// Seed of the instances
        #[arg(long, value_name = "N", default_value_t = 1)]
        instance_seed: u64,
        #[command(flatten)]
        common: Box<Common>,
    },
    /// The Weierstrass-Mandelbrot function (the paper's table 5)
    Weierstrass {
        /// Dimensions
        #[arg(
            long,
            value_name = "N,..",
            value_delimiter = ',',
            default_value = "1,2,3,4,5,6,7,8,9,10",
            value_parser = clap::value_parser!(u32).range(1..=4096)
        )]
        dims: Vec<u32>,
        #[command(flatten)]
        function: FunctionArgs,
        #[command(flatten)]
        common: Box<Common>,
    },
    /// The travelling salesman problem with exchanges of cities (the paper's tables 6 and 7)
    Tsp {
        /// TSPLIB or CSV files, or names of generated instances such as E1k.0
        #[arg(value_name = "FILE|NAME", required = true)]
        instances: Vec<String>,
        /// What a move does
        #[arg(long = "move", value_enum, default_value_t = TourMove::default())]
        step: TourMove,
        #[command(flatten)]
        common: Box<Common>,
    },
}

/// Rows and columns of a perceptron.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sides(u32, u32);

impl FromStr for Sides {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Sides, String> {
        let sides = text.split_once('-').and_then(|(m, n)| Some(Sides(m.parse().ok()?, n.parse().ok()?)));
        sides.ok_or_else(|| "give rows and columns such as 101-117".to_owned())
    }
}

/// Where neighbours are looked at, and where the next one is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
enum Way {
    /// The backend looks and chooses, in the shape that is tried out to be the fastest
    Device,
    /// The backend looks, the host chooses (the paper's way)
    Host,
    /// All CPU threads
    Threads,
    /// One CPU thread
    Thread,
    /// The GPU looks and chooses, in the paper's shape: 256 threads a block, about a thread a neighbour
    Untuned,
}

impl Display for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.to_possible_value().as_ref().map_or("", |value| value.get_name()))
    }
}

/// Arguments of every measurement.
#[derive(Debug, clap::Args)]
struct Common {
    /// Iterations of each walk; 10000 if not given, any number with --descents
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 31))]
    iterations: Option<u64>,
    /// Runs, of the seeds 1 to N
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    seeds: u32,
    /// Which neighbour a walk goes to
    #[arg(long, value_enum, default_value_t = Strategy::default())]
    strategy: Strategy,
    /// Number of walks
    #[arg(long, value_name = "N", default_value_t = 1)]
    walks: u32,
    /// hill-climbing, ils: descents of each walk (the paper's table 9: hill-climbing with 100)
    #[arg(long, value_name = "N")]
    descents: Option<u32>,
    /// Ways of looking at neighbours
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',', default_value = "thread,device")]
    ways: Vec<Way>,
    /// Most time of a run; the seconds of one that is not done by then are reckoned from what it did, and marked with ~
    #[arg(long, value_parser = duration, default_value = "60s")]
    time: Duration,
    /// Try out blocks and threads again instead of taking what was found before
    #[arg(long)]
    retune: bool,
    /// Write the table as CSV too
    #[arg(long, value_name = "FILE|-")]
    csv: Option<Output>,
    #[command(flatten)]
    machine: MachineArgs,
}

impl What {
    fn common(&self) -> &Common {
        match self {
            What::Qap { common, .. }
            | What::Ppp { common, .. }
            | What::Weierstrass { common, .. }
            | What::Tsp { common, .. } => common,
        }
    }

    /// The input files, to which no table may go.
    fn inputs(&self) -> Vec<String> {
        match self {
            What::Qap { files, .. } => files.iter().map(|file| file.to_string_lossy().into_owned()).collect(),
            What::Tsp { instances, .. } => instances.clone(),
            What::Ppp { .. } | What::Weierstrass { .. } => Vec::new(),
        }
    }

    fn tasks(&self) -> Result<Vec<Task>> {
        match self {
            What::Qap { files, changes, .. } => {
                let task = |file: &PathBuf| Ok(Task::Qap(Qap::open(file)?, *changes));
                files.iter().map(task).collect()
            }
            What::Ppp { sizes, distance, instance_seed, .. } => {
                sizes.iter().map(|&Sides(m, n)| perceptron(m, n, *distance, *instance_seed)).collect()
            }
            What::Weierstrass { dims, function, .. } => dims.iter().map(|&dim| function.task(dim)).collect(),
            What::Tsp { instances, step, .. } => {
                let task = |name: &String| Ok(Task::Tour(Box::new(Instance::open(name)?), *step));
                instances.iter().map(task).collect()
            }
        }
    }
}

impl Common {
    /// Most iterations of a walk.
    fn most_iterations(&self) -> Option<u64> {
        self.iterations.or(if self.descents.is_some() { None } else { Some(PAPER_ITERATIONS) })
    }

    /// The ways without repetitions; one thread comes first, for the others are compared with it.
    fn ordered_ways(&self) -> Vec<Way> {
        let mut ways: Vec<Way> = Vec::new();
        for &way in &self.ways {
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
        ways.sort_by_key(|&way| way != Way::Thread);
        ways
    }

    /// The settings of a seed's run. Its target is none: all iterations are done.
    fn settings(&self, seed: u64) -> Settings {
        Settings {
            strategy: self.strategy,
            seed,
            walks: self.walks,
            descents: self.descents,
            retune: self.retune,
            ..Settings::default()
        }
    }

    fn check(&self) -> Result<()> {
        self.settings(1).check()?;
        let descends = matches!(self.strategy, Strategy::HillClimbing | Strategy::Ils);
        if self.descents.is_some() && !descends {
            return Err(Error::Usage("--descents is for --strategy hill-climbing and ils".into()));
        }
        let host = matches!(self.strategy, Strategy::Tabu | Strategy::HillClimbing) && self.walks == 1;
        if self.ways.contains(&Way::Host) && !host {
            let what = "the way `host` is for one walk of --strategy tabu or hill-climbing";
            return Err(Error::Usage(what.into()));
        }
        Ok(())
    }

    /// The backend of the ways that take one.
    fn open(&self) -> Result<Backend> {
        let needed = |way: &Way| matches!(way, Way::Device | Way::Host | Way::Untuned);
        if !self.ways.iter().any(needed) {
            return Ok(Backend::open(Choice::Cpu)?.0);
        }
        let backend = self.machine.open(false)?;
        if self.ways.contains(&Way::Untuned) && matches!(backend, Backend::Cpu(_)) {
            return Err(Error::Usage("the way `untuned` is for a GPU: leave it out of --ways".into()));
        }
        Ok(backend)
    }
}

/// A run that is over.
struct Ran {
    done: Done,
    machine: Machine,
}

impl Ran {
    /// Seconds of the search without set-up.
    fn searching(&self) -> f64 {
        (self.done.found.seconds - self.done.found.setup_seconds).max(1e-9)
    }

    /// Whether the time was up before all was done.
    fn is_cut(&self) -> bool {
        self.done.found.stopped_by == StopReason::Time
    }

    /// The share of its work that it did; none if nothing tells.
    fn share(&self, common: &Common) -> Option<f64> {
        if !self.is_cut() {
            return Some(1.0);
        }
        let found = &self.done.found;
        let of = |done: u64, all: Option<u64>| all.map_or(0.0, |all| done as f64 / all as f64);
        let descents = common.descents.map(|each| u64::from(each) * u64::from(common.walks));
        let share = of(found.iterations, common.most_iterations()).max(of(found.descents, descents));
        (share > 0.0).then_some(share)
    }

    /// Seconds of the whole search, reckoned from what was done if that is not all.
    fn whole(&self, common: &Common) -> Option<f64> {
        self.share(common).map(|share| self.searching() / share)
    }
}

/// A line of the table.
#[derive(Clone, Debug, Serialize)]
struct Row {
    problem: &'static str,
    instance: String,
    elements: u32,
    neighbors: u64,
    way: Way,
    strategy: Strategy,
    walks: u32,
    /// Mean iterations of a walk that were done.
    iterations: f64,
    seeds: u32,
    /// The whole search without set-up.
    seconds: Option<f64>,
    /// Runs whose time was up, so that `seconds` is reckoned from what they did.
    reckoned_runs: usize,
    microseconds_per_iteration: f64,
    neighbors_per_second: f64,
    /// Seconds of one CPU thread, times of those of this way.
    thread_ratio: Option<f64>,
    mean_cost: f64,
    best_cost: f64,
    best_known: Option<i64>,
    mean_gap_percent: Option<f64>,
    /// Runs that reached a cost that is proven to be the least.
    optimal_runs: Option<usize>,
    setup_seconds: f64,
    /// Of the way `host`: copies to and from the device, looking at neighbours, choosing.
    copies_seconds: Option<f64>,
    kernels_seconds: Option<f64>,
    host_seconds: Option<f64>,
    antwarp: &'static str,
    device: String,
    units: usize,
    layout: String,
}

impl Row {
    const HEAD: &'static str = concat!(
        "instance              n neighbours way     iterations    seconds us/iteration neighbours/s  x thread",
        "      mean cost mean gap % layout"
    );

    fn new(task: &Task, common: &Common, way: Way, runs: &[Ran], thread: Option<f64>) -> Row {
        let found = || runs.iter().map(|run| &run.done.found);
        let known = task.best_known();
        let gap = |cost: f64| known.and_then(|known| gap_percent(cost as i64, known.cost));
        let gaps: Option<Vec<f64>> = found().map(|found| gap(found.cost)).collect();
        let optimum = known.filter(|known| known.proven).map(|known| known.cost as f64);
        let seconds = seconds(common, runs);
        let phase = |i: usize| {
            let of: Option<Vec<f64>> =
                runs.iter().map(|run| run.done.phases.map(|phases| phases[i].as_secs_f64())).collect();
            of.map(mean)
        };
        let searching = mean(runs.iter().map(Ran::searching));
        Row {
            problem: task.problem(),
            instance: task.name(),
            elements: task.elements(),
            neighbors: task.neighbors(),
            way,
            strategy: common.strategy,
            walks: common.walks,
            iterations: mean(found().map(|found| found.iterations as f64)),
            seeds: common.seeds,
            seconds,
            reckoned_runs: runs.iter().filter(|run| run.is_cut()).count(),
            microseconds_per_iteration: mean(
                runs.iter().map(|run| run.searching() * 1e6 / run.done.found.iterations.max(1) as f64),
            ),
            neighbors_per_second: mean(found().map(|found| found.evaluations as f64)) / searching,
            thread_ratio: thread.zip(seconds).map(|(thread, seconds)| thread / seconds),
            mean_cost: mean(found().map(|found| found.cost)),
            best_cost: found().map(|found| found.cost).fold(f64::INFINITY, f64::min),
            best_known: known.map(|known| known.cost),
            mean_gap_percent: gaps.map(mean),
            optimal_runs: optimum.map(|least| found().filter(|found| found.cost == least).count()),
            setup_seconds: mean(found().map(|found| found.setup_seconds)),
            copies_seconds: phase(0),
            kernels_seconds: phase(1),
            host_seconds: phase(2),
            antwarp: env!("CARGO_PKG_VERSION"),
            device: runs.first().map_or_else(String::new, |run| run.machine.device.clone()),
            units: runs.first().map_or(0, |run| run.machine.units),
            layout: found().next().map_or_else(String::new, |found| found.layout.clone()),
        }
    }
}

impl Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mark = if self.reckoned_runs > 0 { "~" } else { "" };
        let seconds = format!("{mark}{}", number(self.seconds, 4));
        let digits = if self.mean_cost.fract() == 0.0 { 0 } else { 4 };
        write!(
            f,
            "{:<16} {:>6} {:>10} {:<7} {:>10.0} {seconds:>10} {:>12.3} {:>12.4e} {:>9} {:>14.digits$} {:>10} {}",
            self.instance,
            self.elements,
            self.neighbors,
            self.way,
            self.iterations,
            self.microseconds_per_iteration,
            self.neighbors_per_second,
            number(self.thread_ratio, 2),
            self.mean_cost,
            number(self.mean_gap_percent, 3),
            self.layout
        )
    }
}

/// The mean of the runs' seconds.
fn seconds(common: &Common, runs: &[Ran]) -> Option<f64> {
    runs.iter().map(|run| run.whole(common)).collect::<Option<Vec<_>>>().map(mean)
}

/// Measures and prints.
pub fn run(args: Args) -> Result<Outcome> {
    let common = args.problem.common();
    common.check()?;
    Table::<Row>::check(common.csv.as_ref(), &args.problem.inputs())?;
    let interrupt = interrupt::watch()?;
    common.machine.start_threads()?;
    let tasks = args.problem.tasks()?;
    let bench = Bench { common, backend: common.open()?, interrupt };
    let mut table = Table::new(common.csv.as_ref());
    let time = humantime::format_duration(common.time);
    table.begin(&bench.backend, &format!("seeds {}, at most {time} a run", common.seeds))?;
    table.say(Row::HEAD)?;
    let mut outcome = Outcome::Done;
    'table: for task in &tasks {
        let (mut thread, mut costs) = (None, vec![None; common.seeds as usize]);
        for way in common.ordered_ways() {
            let Some(runs) = bench.runs(task, way)? else {
                outcome = Outcome::Interrupted;
                break 'table;
            };
            agree(task, way, &runs, &mut costs)?;
            if way == Way::Thread {
                thread = seconds(common, &runs);
            }
            table.add(Row::new(task, common, way, &runs, thread))?;
        }
    }
    if table.rows.iter().any(|row| row.reckoned_runs > 0) {
        table.say(&format!("~ the time, {time}, was up: reckoned from what the runs did until then"))?;
    }
    table.finish().map(|()| outcome)
}

/// All ways make the same moves: runs of a seed that did everything have found the same cost.
fn agree(task: &Task, way: Way, runs: &[Ran], costs: &mut [Option<f64>]) -> Result<()> {
    for ((seed, run), cost) in (1..).zip(runs).zip(costs).filter(|((_, run), _)| !run.is_cut()) {
        let (own, other) = (run.done.found.cost, *cost.get_or_insert(run.done.found.cost));
        if own != other {
            let name = task.name();
            return Err(Error::Bug(format!("{name}, seed {seed}: {way} found {own}, another way {other}")));
        }
    }
    Ok(())
}

/// What measures.
struct Bench<'a> {
    common: &'a Common,
    backend: Backend,
    interrupt: Arc<AtomicBool>,
}

impl Bench<'_> {
    /// A run of every seed; `None` if they were interrupted.
    fn runs(&self, task: &Task, way: Way) -> Result<Option<Vec<Ran>>> {
        let mut runs = Vec::new();
        for seed in 1..=u64::from(self.common.seeds) {
            let run = self.run(task, way, seed)?;
            if let Some(failure) = &run.done.found.failure {
                return Err(Error::CutShort(format!("{}, {way}, seed {seed}: {failure}", task.name())));
            }
            if run.done.found.stopped_by == StopReason::Interrupt {
                return Ok(None);
            }
            runs.push(run);
        }
        Ok(Some(runs))
    }

    fn run(&self, task: &Task, way: Way, seed: u64) -> Result<Ran> {
        let common = self.common;
        let settings = common.settings(seed);
        let stop = Stop {
            time: Some(common.time),
            iterations: common.most_iterations(),
            interrupt: self.interrupt.clone(),
            ..Stop::never()
        };
        let on_cpu = || {
            let backend = Backend::open(Choice::Cpu)?.0;
            let done = task.run(&backend, &settings, &stop, Selection::Device, &mut |_| {})?;
            Ok(Ran { done, machine: backend.machine() })
        };
        let selection = match way {
            Way::Threads => return on_cpu(),
            Way::Thread => {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
                let pool = pool.map_err(|why| Error::Usage(format!("a thread cannot be started: {why}")))?;
                return pool.install(on_cpu);
            }
            Way::Untuned => return self.run_as_the_paper(task, settings, &stop),
            Way::Device => Selection::Device,
            Way::Host => Selection::Host,
        };
        let done = task.run(&self.backend, &settings, &stop, selection, &mut |_| {})?;
        Ok(Ran { done, machine: self.backend.machine() })
    }

    /// A thread a neighbour, or as many as the GPU runs at the same time if those are fewer.
    fn run_as_the_paper(&self, task: &Task, settings: Settings, stop: &Stop) -> Result<Ran> {
        let machine = self.backend.machine();
        let asked = task.neighbors().div_ceil(u64::from(PAPER_THREADS));
        let mut failure = None;
        for blocks in (1..=MOST_BLOCKS).rev().map(|each| each * machine.units as u32) {
            let parts = asked.clamp(1, u64::from(blocks)) as u32;
            let shape = AskedShape { parts: Some(parts), threads: Some(PAPER_THREADS) };
            let settings = Settings { shape: Some(shape), ..settings.clone() };
            match task.run(&self.backend, &settings, stop, Selection::Device, &mut |_| {}) {
                Ok(done) => return Ok(Ran { done, machine }),
                Err(SolveError::Backend(
                    why @ (BackendError::Launch { .. } | BackendError::OutOfMemory { .. }),
                )) => failure = Some(why),
                Err(error) => return Err(error.into()),
            }
        }
        Err(failure.map_or_else(|| Error::Bug("no shape was tried".into()), Error::from))
    }
}
