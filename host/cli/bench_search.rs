//! `antwarp bench-search`: tours and times of iterated local search after given numbers of kicks, as published tables
//! show them (Fosin et al. 2013, table 3).

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::ValueEnum;
use serde::Serialize;

use super::options::{Iterations, MachineArgs};
use super::output::Output;
use super::table::{self, Table, mean};
use super::{Error, Outcome, Result, interrupt};
use crate::backend::Backend;
use crate::engine::start::Start;
use crate::engine::{LocalSearch, Stop, StopReason};
use crate::instance::Instance;
use crate::report::gap_percent;
use crate::solver::Solution;
use crate::solver::ils::{self, Acceptance, Neighbors, Settings};

/// Arguments of `antwarp bench-search`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Instance files, or names of generated instances such as E10k.0
    #[arg(value_name = "FILE|NAME", required = true)]
    instances: Vec<String>,
    /// Operators
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',', default_value = "three-opt")]
    operators: Vec<LocalSearch>,
    /// Kicks of each chain: numbers, or multiples of the nodes. A proven optimum ends a run earlier
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0.1n,1n,10n")]
    iterations: Vec<Iterations>,
    /// Runs, of the seeds 1 to N
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    seeds: u32,
    /// Write the table as CSV too
    #[arg(long, value_name = "FILE|-")]
    csv: Option<Output>,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    machine: MachineArgs,
}

/// Settings that all runs share.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Local search, as in solve")]
struct SearchArgs {
    /// The start tour
    #[arg(long, value_enum, default_value_t = Start::default())]
    start: Start,
    /// Neighbours in a node's list
    #[arg(long, value_name = "N", default_value_t = Settings::default().neighbors)]
    neighbors: u32,
    /// Which neighbours a list holds
    #[arg(long, value_enum, default_value_t = Neighbors::default())]
    neighbor_lists: Neighbors,
    /// Neighbours that the second step of a move looks at
    #[arg(long, value_name = "N", default_value_t = Settings::default().breadth)]
    breadth: u32,
    /// Longest segment of a kick's double bridge; 0: four edges anywhere
    #[arg(long, value_name = "N", default_value_t = Settings::default().segment)]
    segment: u32,
    /// When a tour takes the place of the one before
    #[arg(long, value_enum, default_value_t = Acceptance::default())]
    accept: Acceptance,
    /// Temperature at the start of annealing, in mean edges of the start tour
    #[arg(long, value_name = "F", default_value_t = Settings::default().temperature)]
    temperature: f32,
    /// Tours that are worked on at the same time; chosen by the number of nodes if not given
    #[arg(long, value_name = "N")]
    chains: Option<u32>,
    /// Most nodes of a tile; chosen by the number of nodes if not given. With it there is one chain by default
    #[arg(long, value_name = "N")]
    tile: Option<u32>,
}

impl Args {
    fn settings(&self, operator: LocalSearch, seed: u64) -> Settings {
        let search = &self.search;
        Settings {
            seed,
            local_search: operator,
            neighbors: search.neighbors,
            neighbor_lists: search.neighbor_lists,
            breadth: search.breadth,
            start: search.start,
            segment: search.segment,
            accept: search.accept,
            temperature: search.temperature,
            chains: search.chains,
            tile: search.tile,
            ..Settings::default()
        }
    }
}

/// What a row measures.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Case {
    operator: LocalSearch,
    iterations: Iterations,
}

impl Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.operator.to_possible_value();
        let name = name.as_ref().map_or("", |value| value.get_name());
        write!(f, "{name:<10} {:>10}", self.iterations)
    }
}

/// A line of the table.
#[derive(Clone, Debug, Serialize)]
struct Row {
    #[serde(skip)]
    case: Case,
    instance: String,
    nodes: usize,
    operator: LocalSearch,
    iterations: String,
    seeds: u32,
    mean_cost: f64,
    best_cost: i64,
    best_known: Option<i64>,
    mean_gap_percent: Option<f64>,
    best_gap_percent: Option<f64>,
    /// Runs that reached the optimum, where it is proven.
    optimal_runs: Option<usize>,
    setup_seconds: f64,
    search_seconds: f64,
    kicks_per_second: f64,
    start: Start,
    neighbors: u32,
    neighbor_lists: Neighbors,
    breadth: u32,
    segment: u32,
    accept: Acceptance,
    temperature: f32,
    antwarp: &'static str,
    device: String,
    layout: String,
}

impl Row {
    const HEAD: &'static str = concat!(
        "instance        n operator   iterations mean gap % best gap % optimal   set-up s   search s",
        "    kicks/s layout"
    );

    fn new(instance: &Instance, backend: &Backend, args: &Args, case: Case, runs: &[Solution]) -> Row {
        let settings = args.settings(case.operator, 1);
        let known = instance.best_known();
        let gap = |cost: i64| known.and_then(|known| gap_percent(cost, known.cost));
        let gaps: Option<Vec<f64>> = runs.iter().map(|run| gap(run.cost)).collect();
        let best_cost = runs.iter().map(|run| run.cost).min().unwrap_or(0);
        let optimum = known.filter(|known| known.proven).map(|known| known.cost);
        let search_seconds = mean(runs.iter().map(|run| run.seconds - run.setup_seconds));
        Row {
            case,
            instance: instance.name().to_owned(),
            nodes: instance.len(),
            operator: case.operator,
            iterations: case.iterations.to_string(),
            seeds: args.seeds,
            mean_cost: mean(runs.iter().map(|run| run.cost as f64)),
            best_cost,
            best_known: known.map(|known| known.cost),
            mean_gap_percent: gaps.map(mean),
            best_gap_percent: gap(best_cost),
            optimal_runs: optimum.map(|optimum| runs.iter().filter(|run| run.cost == optimum).count()),
            setup_seconds: mean(runs.iter().map(|run| run.setup_seconds)),
            search_seconds,
            kicks_per_second: mean(runs.iter().map(|run| run.tours as f64)) / search_seconds.max(1e-9),
            start: settings.start,
            neighbors: settings.neighbors,
            neighbor_lists: settings.neighbor_lists,
            breadth: settings.breadth,
            segment: settings.segment,
            accept: settings.accept,
            temperature: settings.temperature,
            antwarp: env!("CARGO_PKG_VERSION"),
            device: backend.machine().device,
            layout: runs.first().map_or_else(String::new, |run| run.layout.clone()),
        }
    }
}

impl Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let gap = |gap: Option<f64>| gap.map_or_else(|| "-".to_owned(), |gap| format!("{gap:.3}"));
        let optimal = self.optimal_runs.map_or_else(|| "-".to_owned(), |count| count.to_string());
        write!(
            f,
            "{:<10} {:>6} {} {:>10} {:>10} {optimal:>7} {:>10.4} {:>10.4} {:>10.0} {}",
            self.instance,
            self.nodes,
            self.case,
            gap(self.mean_gap_percent),
            gap(self.best_gap_percent),
            self.setup_seconds,
            self.search_seconds,
            self.kicks_per_second,
            self.layout
        )
    }
}

/// Sizes of instances whose gaps have a mean of their own.
const GROUPS: [(&str, RangeInclusive<usize>); 4] =
    [("all", 0..=usize::MAX), ("70-400", 70..=400), ("400-2000", 401..=2000), ("2000-18512", 2001..=18_512)];

/// Measures and prints.
pub fn run(args: Args) -> Result<Outcome> {
    let cases: Vec<Case> = args
        .operators
        .iter()
        .flat_map(|&operator| args.iterations.iter().map(move |&iterations| Case { operator, iterations }))
        .collect();
    cases.iter().try_for_each(|case| args.settings(case.operator, 1).check())?;
    Table::<Row>::check(args.csv.as_ref(), &args.instances)?;
    let interrupt = interrupt::watch()?;
    args.machine.start_threads()?;
    let instances = args.instances.iter().map(Instance::open).collect::<std::result::Result<Vec<_>, _>>()?;
    for instance in &instances {
        if !instance.is_symmetric() || !instance.fixed_edges().is_empty() {
            return Err(table::refuse(
                instance.name(),
                "local search needs symmetric edges, none of them fixed",
            ));
        }
    }
    let backend = args.machine.open(false)?;
    let mut table = Table::new(args.csv.as_ref());
    table.begin(&backend, &format!("seeds {}, a proven optimum ends a run", args.seeds))?;
    table.say(Row::HEAD)?;
    let mut outcome = Outcome::Done;
    let all = instances.iter().flat_map(|instance| cases.iter().map(move |&case| (instance, case)));
    for (instance, case) in all {
        let Some(runs) = runs(instance, &args, case, &backend, &interrupt)? else {
            outcome = Outcome::Interrupted;
            break;
        };
        table.add(Row::new(instance, &backend, &args, case, &runs))?;
    }
    summarize(&table, &cases)?;
    table.finish().map(|()| outcome)
}

/// A run of every seed; `None` if they were interrupted.
fn runs(
    instance: &Instance,
    args: &Args,
    case: Case,
    backend: &Backend,
    interrupt: &Arc<AtomicBool>,
) -> Result<Option<Vec<Solution>>> {
    let optimum = instance.best_known().filter(|known| known.proven).map(|known| known.cost);
    let stop = Stop {
        iterations: Some(case.iterations.count(instance.len())),
        target: optimum,
        interrupt: interrupt.clone(),
        ..Stop::never()
    };
    let mut runs = Vec::new();
    for seed in 1..=u64::from(args.seeds) {
        let settings = args.settings(case.operator, seed);
        let solution = ils::solve(instance, &settings, None, backend, &stop, &mut |_| {})?;
        if let Some(failure) = solution.failure {
            return Err(Error::CutShort(format!("{}, seed {seed}: {failure}", instance.name())));
        }
        if solution.stopped_by == StopReason::Interrupt {
            return Ok(None);
        }
        runs.push(solution);
    }
    Ok(Some(runs))
}

/// The means of the mean gaps over all instances with a known length, and over those of each group.
fn summarize(table: &Table<'_, Row>, cases: &[Case]) -> Result<()> {
    if table.rows.iter().all(|row| row.mean_gap_percent.is_none()) {
        return Ok(());
    }
    table.say("")?;
    table.say("means of the mean gaps in %, by number of nodes; in brackets: of how many instances")?;
    let head: String = GROUPS.iter().map(|(name, _)| format!(" {name:>14}")).collect();
    table.say(&format!("operator   iterations{head}  optimum reached"))?;
    for case in cases {
        let rows: Vec<&Row> = table.rows.iter().filter(|row| row.case == *case).collect();
        let columns: String =
            GROUPS.iter().map(|(_, sizes)| format!(" {:>14}", group(&rows, sizes))).collect();
        let reached = rows.iter().filter(|row| row.optimal_runs > Some(0)).count();
        let proven = rows.iter().filter(|row| row.optimal_runs.is_some()).count();
        table.say(&format!("{case}{columns}  {reached} of {proven}"))?;
    }
    Ok(())
}

/// The mean of a group and its number of instances.
fn group(rows: &[&Row], sizes: &RangeInclusive<usize>) -> String {
    let gaps: Vec<f64> =
        rows.iter().filter(|row| sizes.contains(&row.nodes)).filter_map(|row| row.mean_gap_percent).collect();
    match gaps.len() {
        0 => "-".to_owned(),
        count => format!("{:.3} ({count})", mean(gaps)),
    }
}
