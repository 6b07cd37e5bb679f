//! `antwarp bench search`: the ways to evaluate neighbours in neighbourhood search.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::json;

use super::super::search::{self, Asked};
use super::super::{Error, Outcome, Result, parse_line};
use super::table::{How::Count, How::Deviation, How::Mean, How::Per, How::Times, Suite};
use super::{Bench, Cell, Common, Measured};
use crate::backend::{Backend, Choice, Machine};
use crate::engine::BackendError;
use crate::engine::{StopReason, tuning};
use crate::solver::SolveError;
use crate::solver::search::{Chooser, Done, SearchSettings};

/// Threads per block in the paper's tables, and the maximum number of such blocks that a multiprocessor runs at the same time.
const PAPER_THREADS: u32 = 256;
const MOST_BLOCKS: u32 = 2048 / PAPER_THREADS;

/// Arguments of `antwarp bench search`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A problem of `antwarp search`. Its instances are files; for ppp, rows and columns such as 101-117; for weierstrass, numbers
    /// of dimensions. For ppp and weierstrass, the default is the paper's instances
    problem: String,
    /// Ways of evaluating neighbours
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',', default_value = "thread,device")]
    ways: Vec<Way>,
    #[command(flatten)]
    common: Common,
}

/// Where neighbours are evaluated, and where the next one is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
enum Way {
    /// The backend evaluates and chooses, in the shape found to be the fastest
    Device,
    /// The backend evaluates, the host chooses (the paper's way)
    Host,
    /// The host generates the neighbours and chooses, the backend evaluates (the paper's other way)
    HostGenerates,
    /// All CPU threads
    Threads,
    /// One CPU thread
    Thread,
    /// Like device, but every multiple of 32 threads is tried with every number of blocks tried (the paper's thread control)
    All,
    /// The GPU evaluates and chooses, in the paper's shape: 256 threads per block, about one thread per neighbour
    Untuned,
}

impl Way {
    /// Where the next neighbour is chosen.
    fn selection(self) -> Chooser {
        match self {
            Way::Host => Chooser::Host,
            Way::HostGenerates => Chooser::HostGenerates,
            Way::Device | Way::Threads | Way::Thread | Way::All | Way::Untuned => Chooser::Device,
        }
    }
}

/// The tables of the suite.
pub const SUITE: Suite = Suite {
    name: "search",
    columns: &[
        ("neighbours", "neighbors", Mean, 0),
        ("seconds", "whole_seconds", Mean, 4),
        ("seconds sd", "whole_seconds", Deviation, 4),
        ("reckoned", "reckoned", Count, 0),
        ("us/iteration", "iteration_us", Mean, 3),
        ("neighbours/s", "evaluations", Per("search_seconds"), 0),
        ("x thread", "whole_seconds", Times("way", "thread"), 2),
    ],
    sizes: &[],
    curve: &[],
};

/// Measures and prints.
pub fn run(args: &Args) -> Result<Outcome> {
    let names = args.instances();
    let mut given = Vec::new();
    if let Some(name) = names.first() {
        let line = [args.line(name)?, args.common.options.clone()].concat();
        given = parse_line::<search::Args>("antwarp search", &line)?.1;
    }
    let bench = Bench::begin(&args.common, &names, given, &["target", "selection"])?;
    tuning::check().map_err(Error::Usage)?;
    let mut ways = args.ways.clone();
    // One thread comes first: the other ways are compared with it.
    ways.sort_by_key(|&way| way != Way::Thread);
    let mut cells = Vec::new();
    for name in &names {
        cells.extend(args.cells(&bench, name, &ways)?);
    }
    let costs = Mutex::new(HashMap::new());
    let run = |cell: &Cell, seed, backend: &Backend| {
        let Some(measured) = measure(&bench, cell, (ways[cell.at], seed), backend)? else { return Ok(None) };
        // All ways make the same moves: complete runs with the same seed must find the same cost.
        if measured.values.contains(&("reckoned", json!(null))) {
            let mut costs = costs.lock().unwrap_or_else(PoisonError::into_inner);
            let (own, other) =
                (measured.result, *costs.entry((cell.line.clone(), seed)).or_insert(measured.result));
            if own != other {
                let what = format!("{}, seed {seed}: {:?} found {own}", cell.instance, ways[cell.at]);
                return Err(Error::Bug(format!("{what}, but another way found {other}")));
            }
        }
        Ok(Some(measured))
    };
    bench.measure(&SUITE, (args.open()?, 1), &cells, run)
}

/// Returns what a line requests with this seed; the target is removed, so that all iterations are done.
fn asked(bench: &Bench<'_>, line: &[OsString], seed: u64) -> Result<Asked> {
    let line = [line, &[format!("--seed={seed}").into()]].concat();
    let mut asked = parse_line::<search::Args>("antwarp search", &line)?.0.asked(bench.interrupt.clone())?;
    asked.settings.target = None;
    Ok(asked)
}

impl Args {
    /// Returns the given instances, or else the paper's.
    fn instances(&self) -> Vec<PathBuf> {
        let paper = match self.problem.as_str() {
            _ if !self.common.instances.is_empty() => return self.common.instances.clone(),
            "ppp" => "73-73 81-81 101-117 201-217 401-417 601-617 801-817 1001-1017 1301-1317",
            "weierstrass" => "1 2 3 4 5 6 7 8 9 10",
            _ => "",
        };
        paper.split_whitespace().map(PathBuf::from).collect()
    }

    /// Returns the problem and an instance as arguments of `antwarp search`.
    fn line(&self, name: &Path) -> Result<Vec<OsString>> {
        let text = name.display();
        let line = match (self.problem.as_str(), name.to_str().and_then(|name| name.split_once('-'))) {
            ("ppp", Some((m, n))) => vec![format!("--m={m}").into(), format!("--n={n}").into()],
            ("ppp", None) => {
                return Err(Error::Usage(format!("{text}: give rows and columns such as 101-117")));
            }
            ("weierstrass", _) => vec![format!("--dim={text}").into()],
            _ => vec![name.into()],
        };
        Ok([vec![OsString::from(&self.problem)], line].concat())
    }

    /// Returns the cells to measure for an instance.
    fn cells(&self, bench: &Bench<'_>, name: &Path, ways: &[Way]) -> Result<Vec<Cell>> {
        let mut defaults = vec!["walks=1", "time=60s"];
        if !bench.given.iter().any(|id| id == "descents") {
            defaults.push("iterations=10000");
        }
        let mut cells = Vec::new();
        for (settings, line) in bench.lines(&self.line(name)?, &defaults, 0)? {
            let Asked { task, settings: solver, .. } = asked(bench, &line, 1)?;
            for (at, way) in ways.iter().enumerate() {
                SearchSettings { selection: way.selection(), ..solver.clone() }.check()?;
                let mut settings = settings.clone();
                settings.insert("problem".to_owned(), json!(task.problem()));
                settings.insert("strategy".to_owned(), json!(solver.strategy));
                settings.insert("way".to_owned(), json!(way));
                let (instance, n, known) = (task.name(), task.elements() as usize, task.best_known());
                let line = line.clone();
                cells.push(Cell { instance, n, known, line, settings, at, published: None });
            }
        }
        Ok(cells)
    }

    /// Opens the backend for the ways that use one.
    fn open(&self) -> Result<Backend> {
        if self.ways.iter().all(|way| matches!(way, Way::Thread | Way::Threads)) {
            return Ok(Backend::open(Choice::Cpu)?.0);
        }
        let backend = self.common.machine.open(false)?;
        if self.ways.contains(&Way::Untuned) && matches!(backend, Backend::Cpu(_)) {
            return Err(Error::Usage("the way `untuned` is for a GPU: leave it out of --ways".into()));
        }
        Ok(backend)
    }
}

/// Runs once; `None` if interrupted.
fn measure(
    bench: &Bench<'_>,
    cell: &Cell,
    (way, seed): (Way, u64),
    backend: &Backend,
) -> Result<Option<Measured>> {
    let asked = asked(bench, &cell.line, seed)?;
    let (done, machine) = search(&asked, way, backend)?;
    let found = done.found;
    if let Some(failure) = found.failure {
        return Err(Error::RunFailed(format!("{}, {way:?}, seed {seed}: {failure}", cell.instance)));
    }
    let search_seconds = (found.seconds - found.setup_seconds).max(1e-9);
    let is_cut = found.stopped_by == StopReason::Time;
    // The fraction of its work that was done, if known.
    let of = |done: u64, all: Option<u64>| all.map_or(0.0, |all| done as f64 / all as f64);
    let descents = asked.settings.descents.map(|each| u64::from(each) * u64::from(asked.settings.walks));
    let share = of(found.iterations, asked.stop.iterations).max(of(found.descents, descents));
    let share = if is_cut { share } else { 1.0 };
    let phase = |i: usize| json!(done.phases.map(|phases| phases[i].as_secs_f64()));
    Ok((found.stopped_by != StopReason::Interrupt).then(|| Measured {
        solver: json!(asked.settings),
        machine: Some(machine),
        setup_seconds: Some(found.setup_seconds),
        seconds: Some(found.seconds),
        iterations: found.iterations,
        result: asked.task.user_cost(found.cost).unwrap_or(found.cost),
        layout: found.layout,
        values: vec![
            ("neighbors", json!(asked.task.neighbors())),
            ("search_seconds", json!(search_seconds)),
            ("whole_seconds", json!((share > 0.0).then(|| search_seconds / share))),
            ("reckoned", json!(is_cut.then_some(1))),
            ("iteration_us", json!(search_seconds * 1e6 / found.iterations.max(1) as f64)),
            ("evaluations", json!(found.evaluations)),
            ("descents", json!(found.descents)),
            ("copies_seconds", phase(0)),
            ("kernels_seconds", phase(1)),
            ("host_seconds", phase(2)),
        ],
    }))
}

/// Searches in one way; also returns the machine.
fn search(asked: &Asked, way: Way, backend: &Backend) -> Result<(Done, Machine)> {
    let settings = SearchSettings {
        selection: way.selection(),
        retune_all: asked.settings.retune_all || way == Way::All,
        ..asked.settings.clone()
    };
    let on = |backend: &Backend| -> Result<(Done, Machine)> {
        let done = asked.task.run(backend, &settings, &asked.stop, &mut |_| {})?;
        Ok((done, backend.machine()))
    };
    let on_cpu = || on(&Backend::open(Choice::Cpu)?.0);
    match way {
        Way::Threads => on_cpu(),
        Way::Thread => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
            let pool = pool.map_err(|why| Error::Usage(format!("cannot start a thread: {why}")))?;
            pool.install(on_cpu)
        }
        Way::Untuned => as_the_paper(asked, backend),
        Way::Device | Way::All | Way::Host | Way::HostGenerates => on(backend),
    }
}

/// Runs with one thread per neighbour, or as many as the GPU can run at the same time if those are fewer.
fn as_the_paper(asked: &Asked, backend: &Backend) -> Result<(Done, Machine)> {
    let machine = backend.machine();
    let wanted = asked.task.neighbors().div_ceil(u64::from(PAPER_THREADS));
    let mut failure = None;
    for blocks in (1..=MOST_BLOCKS).rev().map(|each| each * machine.units as u32) {
        let parts = wanted.clamp(1, u64::from(blocks)) as u32;
        let settings = SearchSettings {
            blocks: Some(parts),
            block_threads: Some(PAPER_THREADS),
            ..asked.settings.clone()
        };
        match asked.task.run(backend, &settings, &asked.stop, &mut |_| {}) {
            Ok(done) => return Ok((done, machine)),
            Err(SolveError::Backend(
                why @ (BackendError::Launch { .. } | BackendError::OutOfMemory { .. }),
            )) => failure = Some(why),
            Err(error) => return Err(error.into()),
        }
    }
    Err(failure.map_or_else(|| Error::Bug("no shape was tried".into()), Error::from))
}
