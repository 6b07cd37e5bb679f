//! `antwarp bench`: a suite measures runs over instances, settings and seeds, and records a raw row for each; tables are made from
//! the rows alone.
//!
//! Each run is given by a line of options of `antwarp solve` or `antwarp search`: a suite and `--vary` generate these lines, and
//! the options after `--` are added to all of them.

mod acs;
mod colony;
mod ga;
mod ils;
mod mmas;
mod paper;
mod pivot;
mod rows;
mod search;
mod solve;
mod table;
mod verdicts;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::options::{Iterations, MachineArgs, duration, whole};
use super::output::{self, Output};
use super::solve::{self as solver, Asked, facts};
use super::{Error, Outcome, Result, parse_line, signals};
use crate::backend::{Backend, Choice, Machine};
use crate::engine::{Cost, Problem};
use crate::instance::{BestKnown, Instance};
use crate::memory;
use crate::report::Known;
use crate::solver::{Algorithm, SolveError, placement_of_all};
use pivot::{Label, Pivot, Where};
use rows::{Log, Row};
use table::Suite;

/// Arguments of `antwarp bench`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    suite: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// MAX-MIN Ant System: times per iteration, and tours (Skinderowicz 2020, section 5)
    #[command(
        after_help = "Defaults: candidates=all,32, the six variants selection+tabu, ants=n (as many as \
        nodes), rho=0.5, iterations=100. Times are medians, without the first five iterations."
    )]
    Mmas(Common),
    /// Ant Colony System: times per iteration, and tours (Skinderowicz 2016, section 4)
    #[command(after_help = "Defaults: pheromone+update=matrix+atomic,matrix+relaxed,candidate+relaxed,\
        selective+relaxed, ants=n (as many as nodes), iterations=1000. Times are medians, without the first five iterations.")]
    Acs(acs::Args),
    /// Iterated local search: tours after given numbers of kicks per chain (Fosin et al. 2013, table 3)
    #[command(
        after_help = "Defaults: local-search=three-opt, iterations=0.1n,1n,10n. A proven optimum ends a run."
    )]
    Ils(Common),
    /// Genetic algorithm: convergence, and times per generation (Kang et al. 2016, tables 2 to 5)
    #[command(after_help = "Defaults: crossover=bcscx,arx,hybrid, iterations=100 (generations). Times are \
        medians, without the first two generations.")]
    Ga(ga::Args),
    /// Neighbourhood search: times of the ways to evaluate neighbours (Luong et al. 2013, tables 2 to 9)
    #[command(
        after_help = "Defaults: walks=1, iterations=10000 (unlimited with --descents), time=60s. For `reckoned` runs, whose time was up, the seconds are extrapolated to all iterations."
    )]
    Search(search::Args),
    /// The tables and figures of the five papers, alongside the published results
    Paper(paper::Args),
    /// Any options of `antwarp solve`
    #[command(after_help = "Without a stop option, a run lasts 10 s; a proven optimum always ends it.")]
    Solve(Common),
    /// Recreate the tables from raw rows written by --csv; rows of several files are combined in one table
    Table {
        /// Files written by bench --csv, optionally gzip-compressed
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        /// Only rows with one of these values in a column or setting, such as instance=E1k.0,pr2392; with several --where, rows
        /// that match all of them
        #[arg(long = "where", value_name = "COLUMN=LIST")]
        filters: Vec<Where>,
        /// Show a table of a single figure instead: one line per value of this column or setting (in the order of --where)
        #[arg(long, value_name = "COLUMN", requires_all = ["columns", "cell"])]
        rows: Option<String>,
        /// The column or setting whose values are the columns of that table
        #[arg(long, value_name = "COLUMN", requires_all = ["rows", "cell"])]
        columns: Option<String>,
        /// What its cells show: a column of numbers, then each (value of the rows), mean, median, least or count, and the number of
        /// decimals (3)
        #[arg(long, value_name = "COLUMN[:FIGURE[:DIGITS]]", requires_all = ["rows", "columns"])]
        cell: Option<pivot::Cell>,
        /// Show TEXT instead of a value of --rows or --columns
        #[arg(long, value_name = "VALUE=TEXT", requires = "cell")]
        label: Vec<Label>,
        /// Markdown instead of plain text
        #[arg(long)]
        markdown: bool,
        /// Where to write the tables; - is the standard output
        #[arg(long, short, value_name = "FILE|-", default_value = "-")]
        output: Output,
    },
}

/// The suites that have tables.
const SUITES: [&Suite; 6] =
    [&mmas::SUITE, &acs::SUITE, &ils::SUITE, &ga::SUITE, &search::SUITE, &solve::SUITE];

/// Arguments common to all suites.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Every suite")]
struct Common {
    /// Instances: files, or names of generated instances such as E10k.0
    #[arg(long, value_name = "LIST", value_delimiter = ',', num_args = 1..)]
    instances: Vec<PathBuf>,
    /// An option of solve (of search in bench search) and the values to measure, such as ants=64,256; an empty value omits the
    /// option. Options that vary together are joined: selection+tabu=wrs+list,rwm+bitmask. With several --vary, all combinations
    /// are measured
    #[arg(long, value_name = "OPTION=LIST")]
    vary: Vec<Vary>,
    /// Iterations per run: numbers, or multiples of the number of nodes such as 10n; each value of the list is measured
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    iterations: Vec<Iterations>,
    /// Maximum time per run, such as 10s; each value of the list is measured. Reading does not count; in mmas, acs and ga neither
    /// does set-up, and these wait for the GPU's last launch, which may end later
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = duration)]
    time: Vec<Duration>,
    /// Measure with N consecutive seeds. The tables have Friedman tests from three seeds on, Wilcoxon tests from five
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u32>(1..=1 << 20))]
    seeds: u32,
    /// The first seed: allows adding runs to those of another bench that used other seeds
    #[arg(long, value_name = "SEED", default_value_t = 1, value_parser = whole::<u32>(0..=1 << 30))]
    first_seed: u32,
    /// Runs per seed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u32>(1..=1 << 10))]
    repeat: u32,
    /// Write the raw rows, one per run, as CSV
    #[arg(long, value_name = "FILE|-")]
    csv: Option<Output>,
    /// Write the raw rows as JSON
    #[arg(long, value_name = "FILE|-")]
    json: Option<Output>,
    #[command(flatten)]
    machine: MachineArgs,
    /// Options of solve (of search in bench search) for all runs; --help lists them
    #[arg(last = true, value_name = "LINE")]
    options: Vec<OsString>,
}

impl Common {
    fn outputs(&self) -> impl Iterator<Item = &Output> + Clone {
        self.csv.iter().chain(&self.json)
    }
}

/// Options that vary together, and their values.
#[derive(Clone, Debug)]
struct Vary {
    names: String,
    values: Vec<String>,
}

impl Vary {
    fn new(names: &str, values: impl IntoIterator<Item = String>) -> Vary {
        Vary { names: names.to_owned(), values: values.into_iter().collect() }
    }

    fn ids(&self) -> impl Iterator<Item = String> {
        self.names.split('+').map(|name| name.replace('-', "_"))
    }
}

/// Returns options that vary together, with their values, for an instance of n nodes.
fn options(names: &str, value: &str, n: usize) -> Vec<OsString> {
    let names: Vec<&str> = names.split('+').collect();
    let option = |(name, value): (&&str, &str)| match (*name, value) {
        (_, "") => None,
        ("ants", "n") => Some(format!("--ants={n}").into()),
        _ => Some(format!("--{name}={value}").into()),
    };
    names.iter().zip(value.splitn(names.len(), '+')).filter_map(option).collect()
}

impl FromStr for Vary {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Vary, String> {
        let (names, values) = text.split_once('=').unwrap_or_default();
        let parts = |text: &str| text.split('+').count();
        let fits = |value: &str| parts(names) == 1 || parts(value) == parts(names);
        if names.is_empty() || !values.split(',').all(fits) {
            return Err("give an option and its values, such as ants=64,256".to_owned());
        }
        Ok(Vary::new(names, values.split(',').map(str::to_owned)))
    }
}

/// What varies, by option name, and the line of options.
type Line = (Map<String, Value>, Vec<OsString>);

/// A case that is measured with every seed: an instance, and a line of options.
struct Cell {
    instance: String,
    n: usize,
    known: Option<BestKnown>,
    line: Vec<OsString>,
    /// The varied options of the line, and whatever else differs between cells.
    settings: Map<String, Value>,
    /// The index of the instance in the bench.
    at: usize,
    /// A published mean gap to compare with.
    published: Option<f64>,
}

/// The result of a run.
#[derive(Default)]
struct Measured {
    /// All settings of the solver.
    solver: Value,
    /// Where it ran, if not on the machine of the whole bench.
    machine: Option<Machine>,
    /// The part of `seconds` before the first iteration, if included.
    setup_seconds: Option<f64>,
    /// `None` if other runs were active at the same time.
    seconds: Option<f64>,
    iterations: u64,
    /// Length or cost.
    result: Cost,
    layout: String,
    /// The suite's own columns.
    values: Vec<(&'static str, Value)>,
}

/// A bench that has started.
struct Bench<'a> {
    common: &'a Common,
    /// The ids of the options that are given: defaults do not apply to them.
    given: Vec<String>,
    interrupt: Arc<AtomicBool>,
    /// The opened instances, in a bench of tours.
    instances: Vec<Instance>,
    /// The last instance used, as backends see it.
    problem: Mutex<Option<(Prepared, Arc<Problem>)>>,
}

/// Index of an instance, its numbers of candidates and neighbours, and whether it is for ants.
type Prepared = (usize, Option<u32>, Option<u32>, bool);

/// Measures and prints.
pub fn run(args: Args) -> Result<Outcome> {
    match args.suite {
        What::Mmas(args) => mmas::run(&args),
        What::Acs(args) => acs::run(&args),
        What::Ils(args) => ils::run(&args),
        What::Ga(args) => ga::run(&args),
        What::Search(args) => search::run(&args),
        What::Paper(args) => paper::run(&args),
        What::Solve(args) => solve::run(&args),
        What::Table { files, filters, rows, columns, cell, label, markdown, output } => {
            let inputs: Vec<_> = files.iter().map(|file| ("one of the files", file.as_path())).collect();
            output::check([&output], &inputs)?;
            let mut read = files.iter().map(|path| rows::read(path)).collect::<Result<Vec<_>>>()?;
            let is_any = read.iter().any(|rows| !rows.is_empty());
            read.iter_mut()
                .for_each(|rows| rows.retain(|row| filters.iter().all(|filter| filter.keeps(row))));
            if is_any && read.iter().all(Vec::is_empty) {
                return Err(Error::Unusable(
                    "no row matches --where: check its columns and values".to_owned(),
                ));
            }
            let text = match (&rows, &columns, &cell) {
                (Some(rows), Some(columns), Some(cell)) => {
                    let kept: Vec<Row> = read.into_iter().flatten().collect();
                    Pivot { rows, columns, cell, filters: &filters, labels: &label }.table(&kept, markdown)?
                }
                _ => {
                    // A file of anything but runs is shown as it is.
                    let (runs, others): (Vec<_>, Vec<_>) =
                        read.into_iter().partition(|rows| rows::are_runs(rows));
                    let runs: Vec<Row> = runs.into_iter().flatten().collect();
                    let mut tables = vec![table::tables(&SUITES, &runs, markdown)?];
                    tables.extend(others.iter().map(|rows| table::plain(rows, markdown)));
                    tables.retain(|table| !table.is_empty());
                    tables.join("\n")
                }
            };
            output.write(|out| out.write_all(text.as_bytes())).map(|()| Outcome::Done)
        }
    }
}

/// Maximum number of option combinations per instance.
const MOST_LINES: usize = 100_000;

/// Options that a line must not have, and what to do instead.
const RESERVED: [(&[&str], &str); 4] = [
    (&["seed", "runs", "jobs"], "give --seeds before the `--`"),
    (&["time", "iterations", "backend", "threads"], "give it before the `--`, not by --vary"),
    (
        &["tour", "json", "svg", "csv", "save_population", "solution", "quiet", "bound", "print_tour"],
        "a bench writes only its rows",
    ),
    (&["open", "start", "end", "fix", "forbid"], "a bench is for closed tours of all edges"),
];
/// Options that end a run of solve: if one is given, the defaults of the others do not apply.
const ENDS: [&str; 5] = ["time", "iterations", "target", "stagnation", "descent_only"];
/// Those of [`ENDS`] that are not available for colonies and populations.
const FOREIGN_ENDS: [&str; 3] = [ENDS[2], ENDS[3], ENDS[4]];

/// Parses options of solve. The instance is already open: a placeholder takes its place in the line.
fn parse_solve(line: &[OsString]) -> Result<(solver::Args, Vec<String>)> {
    parse_line("antwarp solve", &[&[OsString::from("-")], line].concat())
}

/// The error for a cell whose algorithm is not that of its suite, which should be impossible.
fn wrong_algorithm() -> Error {
    Error::Bug("a cell has another algorithm than its suite".to_owned())
}

impl<'a> Bench<'a> {
    /// Starts a bench of tours: opens the instances. The suite does not accept the `foreign` options.
    fn of_tours(common: &'a Common, foreign: &[&str]) -> Result<Bench<'a>> {
        let (args, given) = parse_solve(&common.options)?;
        let mut bench = Bench::begin(common, &common.instances, given, foreign)?;
        if ENDS.iter().any(|id| bench.given.iter().any(|given| given == id)) {
            bench.given.extend(ENDS.map(str::to_owned));
        }
        for (what, path, _) in args.beginnings() {
            output::check(common.outputs(), &[(what, path)])?;
        }
        for source in &common.instances {
            let instance = Instance::open_with(source, &args.reading_options())?;
            if instance.forbidden().is_some() || !instance.fixed_edges().is_empty() {
                let what = "has forbidden pairs or fixed edges, but a bench compares the costs of tours without them";
                return Err(Error::Unusable(format!("{} {what}", instance.name())));
            }
            bench.instances.push(instance);
        }
        Ok(bench)
    }

    /// Checks everything that can be checked before anything is read, and starts threads. `given` are the ids of the options after
    /// `--`.
    fn begin(
        common: &'a Common,
        instances: &[PathBuf],
        mut given: Vec<String>,
        foreign: &[&str],
    ) -> Result<Bench<'a>> {
        given.extend(common.vary.iter().flat_map(Vary::ids));
        for (ids, remedy) in RESERVED.into_iter().chain([(foreign, "it does not apply to this suite")]) {
            if let Some(id) = given.iter().find(|id| ids.contains(&id.as_str())) {
                return Err(Error::Usage(format!(
                    "--{} cannot be used here: {remedy}",
                    id.replace('_', "-")
                )));
            }
        }
        given.extend((!common.time.is_empty()).then(|| "time".to_owned()));
        given.extend((!common.iterations.is_empty()).then(|| "iterations".to_owned()));
        if instances.is_empty() {
            return Err(Error::Usage("nothing to measure: give --instances".to_owned()));
        }
        let inputs: Vec<_> = instances.iter().map(|file| (output::INSTANCE, file.as_path())).collect();
        output::check(common.outputs(), &inputs)?;
        let interrupt = signals::watch(signals::WITH_TOUR)?;
        common.machine.start_threads()?;
        Ok(Bench { common, given, interrupt, instances: Vec::new(), problem: Mutex::default() })
    }

    /// Returns settings and lines for an instance of n nodes, starting with the `fixed` options: every combination of what varies,
    /// and of the defaults that are not overridden.
    fn lines(&self, fixed: &[OsString], defaults: &[&str], n: usize) -> Result<Vec<Line>> {
        let Common { vary, iterations, time, options: behind, .. } = self.common;
        let mut all = vary.clone();
        for default in defaults {
            let default: Vary = default.parse().map_err(Error::Bug)?;
            if !default.ids().any(|id| self.given.contains(&id)) {
                all.push(default);
            }
        }
        all.push(Vary::new("iterations", iterations.iter().map(Iterations::to_string)));
        all.push(Vary::new("time", time.iter().map(|time| format!("{}s", time.as_secs_f64()))));
        let count = all.iter().map(|vary| vary.values.len().max(1)).try_fold(1, usize::checked_mul);
        if count.is_none_or(|count| count > MOST_LINES) {
            let what = "combinations of options are too many: give fewer values, or run several benches";
            return Err(Error::Usage(format!("more than {MOST_LINES} {what}")));
        }
        let mut lines = vec![(Map::new(), fixed.to_vec())];
        for Vary { names, values } in all.iter().filter(|vary| !vary.values.is_empty()) {
            let with = |(settings, line): &Line, value: &String| {
                let setting = (names.clone(), json!(value));
                let settings = settings.clone().into_iter().chain([setting]).collect();
                (settings, [&line[..], &options(names, value, n)].concat())
            };
            let product = lines.iter().flat_map(|line| values.iter().map(move |value| with(line, value)));
            lines = product.collect();
        }
        for (settings, line) in lines.iter_mut().filter(|_| !behind.is_empty()) {
            let text: Vec<_> = behind.iter().map(|option| option.to_string_lossy()).collect();
            settings.insert("options".to_owned(), text.join(" ").into());
            line.extend(behind.iter().cloned());
        }
        Ok(lines)
    }

    /// Returns the cells of a bench of tours, instance by instance, each checked.
    fn cells(&self, fixed: &[&str], defaults: &[&str]) -> Result<Vec<Cell>> {
        let fixed: Vec<OsString> = fixed.iter().map(OsString::from).collect();
        let mut cells = Vec::new();
        for (at, instance) in self.instances.iter().enumerate() {
            let (n, known) = (instance.len(), instance.best_known());
            for (settings, line) in self.lines(&fixed, defaults, n)? {
                let instance = instance.name().to_owned();
                let mut cell = Cell { instance, n, known, line, settings, at, published: None };
                let algorithm = self.asked(&cell, 1)?.algorithm;
                self.check(&cell, &algorithm)?;
                cell.settings.insert("algorithm".to_owned(), algorithm.name().into());
                cells.push(cell);
            }
        }
        Ok(cells)
    }

    /// Rejects instances that the algorithm of a cell cannot handle.
    fn check(&self, cell: &Cell, algorithm: &Algorithm) -> Result<()> {
        let instance = &self.instances[cell.at];
        let (fewest, is_symmetric) = algorithm.needs();
        algorithm.check_local_search(instance)?;
        if let Algorithm::Acs(settings) = algorithm {
            settings.check_for(instance)?;
        }
        let is_directed = is_symmetric && !instance.is_symmetric();
        if instance.len() < fewest || is_directed || !instance.fixed_edges().is_empty() {
            let symmetric = if is_symmetric { "symmetric and " } else { "" };
            let nodes = if fewest > 0 { format!(", and {fewest} nodes") } else { String::new() };
            let why = format!("it needs edges that are {symmetric}not fixed{nodes}");
            return Err(Error::Unusable(format!("{} cannot be measured: {why}", cell.instance)));
        }
        Ok(())
    }

    /// Returns what the line of a cell of tours requests with this seed.
    fn asked(&self, cell: &Cell, seed: u64) -> Result<Asked> {
        let (args, given) = parse_solve(&[&cell.line[..], &[format!("--seed={seed}").into()]].concat())?;
        Asked::check(&args, &given, &self.instances[cell.at], self.interrupt.clone())
    }

    /// Returns the instance of a cell as backends see it; for ants with [reduced](Problem::reduced) lengths if edges are directed.
    fn problem(
        &self,
        cell: &Cell,
        candidates: Option<u32>,
        neighbors: impl Into<Option<u32>>,
        is_ants: bool,
    ) -> Result<Arc<Problem>> {
        let neighbors = neighbors.into();
        let key = (cell.at, candidates, neighbors, is_ants);
        let mut last = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, problem)) = last.as_ref().filter(|(other, _)| *other == key) {
            return Ok(problem.clone());
        }
        // Free the previous problem first.
        *last = None;
        let problem =
            Problem::new(&self.instances[cell.at], candidates, neighbors).map_err(SolveError::from)?;
        let problem = if is_ants { problem.reduced(&|| false) } else { problem };
        Ok(last.insert((key, Arc::new(problem))).1.clone())
    }

    /// Opens the backend for cells of tours, some of which may run on CPU threads only.
    fn open(&self, cells: &[Cell]) -> Result<Backend> {
        let machine = &self.common.machine;
        let run = |cell: &Cell| Ok((self.asked(cell, 1)?.algorithm, &self.instances[cell.at]));
        let runs = cells.iter().map(run).collect::<Result<Vec<_>>>()?;
        machine.open_at(placement_of_all(&runs, machine.backend)?, false)
    }

    /// Measures cells with every seed, `workers` at the same time, and prints the tables of the runs that finished.
    fn measure(
        &self,
        suite: &Suite,
        (backend, workers): (Backend, u32),
        cells: &[Cell],
        run: impl Fn(&Cell, u64, &Backend) -> Result<Option<Measured>> + Sync,
    ) -> Result<Outcome> {
        let jobs = Jobs::new(cells, self.common);
        let machine = backend.machine();
        // Every worker opens its own backend, of the kind that was found.
        let choice = if machine.backend == "cpu" { Choice::Cpu } else { Choice::Cuda };
        let queue = Mutex::new(Queue {
            next: 0,
            early: BTreeMap::new(),
            log: Log::new(self.common.csv.as_ref()),
            ended: None,
        });
        let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
        let work = || -> Result<Outcome> {
            let backend = Backend::open_on(choice, &self.common.machine.gpus)?.0;
            for i in std::iter::from_fn(|| lock().take(jobs.len())) {
                // A very short run may never have checked for interrupts itself.
                if self.interrupt.load(Ordering::Relaxed) {
                    return Ok(Outcome::Interrupted);
                }
                let (cell, seed, _) = jobs.get(i);
                let Some(measured) = run(cell, seed.into(), &backend)? else {
                    return Ok(Outcome::Interrupted);
                };
                lock().add(i, measured, |i, measured| {
                    let row = row(suite.name, &machine, jobs.get(i), measured);
                    output::tell(&format!("{} of {}: {}", i + 1, jobs.len(), table::line(&row)));
                    row
                })?;
            }
            Ok(Outcome::Done)
        };
        let refused = |why: &dyn std::fmt::Display| {
            Error::Usage(format!(
                "cannot start {workers} runs at the same time: {why}; give a smaller number"
            ))
        };
        memory::check_threads(workers).map_err(|shortage| refused(&shortage))?;
        let end = |ended: Result<Outcome>| {
            if !matches!(ended, Ok(Outcome::Done)) {
                lock().ended.get_or_insert(ended);
                // Runs still in progress are no longer needed.
                self.interrupt.store(true, Ordering::Relaxed);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..workers {
                let worker = std::thread::Builder::new().spawn_scoped(scope, || end(work()));
                if let Err(why) = worker {
                    end(Err(refused(&why)));
                    break;
                }
            }
        });
        let Queue { early, mut log, ended, .. } = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
        // If the bench ended early, these are the runs after the first missing one.
        let late = early.into_iter();
        let added = late.map(|(i, measured)| log.add(row(suite.name, &machine, jobs.get(i), measured)));
        let added = added.fold(Ok(()), Result::and);
        let written = self.finish(&log);
        let outcome = ended.unwrap_or(Ok(Outcome::Done))?;
        added.and(written).map(|()| outcome)
    }

    /// Writes the outputs that are written at the end.
    fn finish(&self, log: &Log<'_>) -> Result<()> {
        let written = self.common.json.as_ref().map_or(Ok(()), |json| log.write_json(json));
        let text = table::tables(&SUITES, &log.rows, false)?;
        if self.common.outputs().any(Output::is_stdout) {
            output::tell(text.trim_end());
            return written;
        }
        let printed = output::deliver(|out| out.write_all(text.as_bytes()));
        written.and(printed)
    }
}

/// The runs of a bench by index: all seeds of each cell, and all repetitions of each seed. There can be billions, so they are not
/// stored.
struct Jobs<'a> {
    cells: &'a [Cell],
    first_seed: u32,
    seeds: u64,
    repeat: u64,
}

impl<'a> Jobs<'a> {
    fn new(cells: &'a [Cell], common: &Common) -> Jobs<'a> {
        let Common { seeds, first_seed, repeat, .. } = *common;
        Jobs { cells, first_seed, seeds: seeds.into(), repeat: repeat.into() }
    }

    fn len(&self) -> u64 {
        self.cells.len() as u64 * self.seeds * self.repeat
    }

    /// Returns the cell, the seed and the repetition (from 1) of a run.
    fn get(&self, i: u64) -> (&'a Cell, u32, u32) {
        let (pair, repetition) = (i / self.repeat, i % self.repeat);
        let (cell, seed) = (pair / self.seeds, pair % self.seeds);
        (&self.cells[cell as usize], self.first_seed + seed as u32, repetition as u32 + 1)
    }
}

/// State shared by the workers.
struct Queue<'a> {
    next: u64,
    /// Runs that finished before earlier ones.
    early: BTreeMap<u64, Measured>,
    log: Log<'a>,
    /// How the bench ended, if it ended early.
    ended: Option<Result<Outcome>>,
}

impl Queue<'_> {
    /// Returns the index of the next of `count` jobs.
    fn take(&mut self, count: u64) -> Option<u64> {
        self.next += 1;
        (self.next <= count && self.ended.is_none()).then_some(self.next - 1)
    }

    /// Adds rows in the order of their jobs.
    fn add(&mut self, i: u64, measured: Measured, row: impl Fn(u64, Measured) -> Row) -> Result<()> {
        self.early.insert(i, measured);
        loop {
            let next = self.log.rows.len() as u64;
            let Some(measured) = self.early.remove(&next) else { break };
            self.log.add(row(next, measured))?;
        }
        Ok(())
    }
}

/// The integer part of a real number fits in 64 bits if its magnitude is below this.
const WHOLE: f64 = 9_223_372_036_854_775_808.0;

/// Returns the row with everything about a run.
fn row(suite: &str, machine: &Machine, (cell, seed, n): (&Cell, u32, u32), mut measured: Measured) -> Row {
    let Machine { backend, device, units, details } = measured.machine.as_ref().unwrap_or(machine);
    let mut settings = cell.settings.clone();
    measured.solver.as_object_mut().map(|solver| solver.remove("seed"));
    settings.insert(table::SOLVER.to_owned(), measured.solver);
    let result = measured.result;
    // Real numbers that happen to be whole are written like whole numbers.
    let whole = match result {
        Cost::Whole(cost) => Some(cost),
        Cost::Real(cost) => (cost.fract() == 0.0 && cost.abs() < WHOLE).then_some(cost as i64),
    };
    let known = cell.known.zip(whole).map(|(known, cost)| (Known::beside(known, cost), cost));
    let optimal = known.filter(|(known, _)| known.proven).map(|(known, cost)| u8::from(known.cost == cost));
    let columns = [
        ("suite", json!(suite)),
        ("antwarp", json!(env!("CARGO_PKG_VERSION"))),
        ("backend", json!(backend)),
        ("device", json!(device)),
        ("details", json!(details)),
        ("units", json!(units)),
        ("instance", json!(cell.instance)),
        ("n", json!(cell.n)),
        ("settings", settings.into()),
        ("seed", json!(seed)),
        ("repetition", json!(n)),
        ("setup_seconds", json!(measured.setup_seconds)),
        ("seconds", json!(measured.seconds)),
        ("iterations", json!(measured.iterations)),
        ("result", whole.map_or(json!(result), |cost| json!(cost))),
        ("best_known", json!(cell.known.map(|known| known.cost))),
        ("gap_percent", json!(known.and_then(|(known, cost)| known.gap_percent(cost)))),
        ("optimal", json!(optimal)),
        ("published_gap_percent", json!(cell.published)),
        ("layout", json!(measured.layout)),
    ];
    Row::new(columns.into_iter().chain(measured.values))
}
