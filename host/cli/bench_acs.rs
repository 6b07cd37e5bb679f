//! `antwarp bench-acs`: times and tour quality of the forms of Ant Colony System, as published tables show them
//! (Skinderowicz 2016, section 4).

use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde::Serialize;

use super::options::{Ants, Iterations, MachineArgs, duration};
use super::output::Output;
use super::table::{self, Table, mean, median, number};
use super::{Error, Outcome, Result, interrupt};
use crate::backend::{Backend, Choice, Machine};
use crate::engine::next_units;
use crate::engine::{LocalSearch, Phases, Problem, Stop};
use crate::instance::Instance;
use crate::report::gap_percent;
use crate::report::statistics::{Wilcoxon, rank_sum, signed_rank};
use crate::solver::acs::{AcsSpec, Pheromone, Settings, Update};

/// Arguments of `antwarp bench-acs`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Instance files, or names of generated instances such as E10k.0
    #[arg(value_name = "FILE|NAME", required = true)]
    instances: Vec<String>,
    /// Forms: a pheromone memory and an update, such as matrix-sequential
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "matrix-atomic,matrix-relaxed,candidate-relaxed,selective-relaxed"
    )]
    forms: Vec<Form>,
    /// Every N-th edge of an ant is updated: numbers; 0: none
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1")]
    periods: Vec<u32>,
    /// Ants: numbers, or n for as many as nodes
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "n")]
    ants: Vec<Ants>,
    /// Iterations of a run: a number, or a multiple of the nodes; 1000 if there are no tours and no time either
    #[arg(long, value_name = "N|Xn", conflicts_with_all = ["tours", "time"])]
    iterations: Option<Iterations>,
    /// Tours of a run, all iterations together: with more ants it has fewer iterations
    #[arg(long, value_name = "N|Xn", conflicts_with = "time")]
    tours: Option<Iterations>,
    /// Time of a run without set-up, such as 10s or 2m
    #[arg(long, value_parser = duration)]
    time: Option<Duration>,
    /// Runs, of the seeds 1 to N. From five on, Wilcoxon tests tell which forms differ
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    seeds: u32,
    /// Runs at the same time, each with a colony of its own. There are no times then
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=256),
        conflicts_with = "time"
    )]
    parallel: u32,
    /// Atomic forms on a GPU: a launch for each choice and for each update instead of one for an iteration
    #[arg(long)]
    each_phase: bool,
    /// Published mean gaps in percent, one a row of the table, - for none: Wilcoxon tests compare ours with them. Needs
    /// six seeds
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)]
    against: Vec<Published>,
    /// Write the table as CSV too
    #[arg(long, value_name = "FILE|-")]
    csv: Option<Output>,
    #[command(flatten)]
    colony: ColonyArgs,
    #[command(flatten)]
    machine: MachineArgs,
}

/// Settings that all runs share.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Ant colony, as in solve")]
struct ColonyArgs {
    /// What improves the ants' tours
    #[arg(long, value_enum, default_value_t = LocalSearch::None)]
    local_search: LocalSearch,
    /// Candidates of a node
    #[arg(long, value_name = "N", default_value_t = Settings::default().candidates)]
    candidates: u32,
    /// Share of a trail of the best tour that an iteration replaces
    #[arg(long, value_name = "F", default_value_t = Settings::default().alpha)]
    alpha: f32,
    /// Exponent of the heuristic value, 1 / distance
    #[arg(long, value_name = "F", default_value_t = Settings::default().beta)]
    beta: f32,
    /// Share of a trail that an ant replaces as it passes
    #[arg(long, value_name = "F", default_value_t = Settings::default().rho)]
    rho: f32,
    /// Probability of taking the best edge; (n - 20) / n if not given
    #[arg(long, value_name = "F")]
    q0: Option<f64>,
    /// Edges that a node of a selective pheromone memory remembers
    #[arg(long, value_name = "N", default_value_t = Settings::default().slots)]
    slots: u32,
}

/// A pheromone memory, and how updates of it meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    pheromone: Pheromone,
    update: Update,
}

impl Form {
    /// Those that there are.
    fn all() -> impl Iterator<Item = Form> {
        let updates = Update::value_variants();
        let both = |&pheromone| updates.iter().map(move |&update| Form { pheromone, update });
        let is_none = |form: &Form| form.pheromone == Pheromone::Selective && form.update == Update::Atomic;
        Pheromone::value_variants().iter().flat_map(both).filter(move |form| !is_none(form))
    }
}

impl FromStr for Form {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Form, String> {
        let names = || Form::all().map(|form| form.to_string()).collect::<Vec<_>>().join(", ");
        let found = Form::all().find(|form| form.to_string() == text.to_ascii_lowercase());
        found.ok_or_else(|| format!("the forms are {}", names()))
    }
}

impl Display for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&format!("{:?}-{:?}", self.pheromone, self.update).to_ascii_lowercase())
    }
}

/// A published mean gap in percent, if there is one.
#[derive(Clone, Copy, Debug)]
struct Published(Option<f64>);

impl FromStr for Published {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Published, String> {
        match (text, text.parse::<f64>()) {
            ("-", _) => Ok(Published(None)),
            (_, Ok(gap)) if gap.is_finite() => Ok(Published(Some(gap))),
            _ => Err("give a gap in percent such as 3.23, or `-`".to_owned()),
        }
    }
}

/// What a row measures.
#[derive(Clone, Copy)]
struct Case<'a> {
    instance: &'a Instance,
    problem: &'a Problem,
    form: Form,
    period: u32,
    ants: Ants,
}

impl Case<'_> {
    fn ants(&self) -> u32 {
        self.ants.count(self.instance.len())
    }
}

impl Display for Case<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} period {} ants {}", self.form, self.period, self.ants)
    }
}

impl Args {
    fn settings(&self, form: Form, period: u32, ants: Option<u32>, seed: u64) -> Settings {
        let colony = &self.colony;
        Settings {
            seed,
            ants,
            candidates: colony.candidates,
            beta: colony.beta,
            alpha: colony.alpha,
            rho: colony.rho,
            q0: colony.q0,
            period,
            pheromone: form.pheromone,
            slots: colony.slots,
            update: form.update,
            local_search: colony.local_search,
            ..Settings::default()
        }
    }

    /// Checks what can be checked without the instances.
    fn check(&self) -> Result<()> {
        for &form in &self.forms {
            for &ants in &self.ants {
                let ants = if let Ants::Count(count) = ants { Some(count) } else { None };
                self.settings(form, 1, ants, 1).check()?;
            }
        }
        if self.against.is_empty() {
            return Ok(());
        }
        let rows = self.instances.len() * self.forms.len() * self.ants.len() * self.periods.len();
        if self.against.len() != rows {
            let given = self.against.len();
            return Err(Error::Usage(format!(
                "--against needs a gap for each of the {rows} rows, or `-`; {given} are given"
            )));
        }
        if self.seeds < FEWEST_AGAINST {
            return Err(Error::Usage(format!(
                "--against compares at least {FEWEST_AGAINST} runs: give --seeds {FEWEST_AGAINST} or more"
            )));
        }
        Ok(())
    }

    /// Iterations of a run, unless its time ends it.
    fn limit(&self, case: &Case<'_>) -> u32 {
        let n = case.instance.len();
        let most = match (self.iterations, self.tours, self.time) {
            (Some(iterations), _, _) => iterations.count(n),
            (_, Some(tours), _) => (tours.count(n) as f64 / f64::from(case.ants())).round() as u64,
            (_, _, Some(_)) => u64::MAX,
            _ => 1000,
        };
        most.clamp(1, u64::from(u32::MAX)) as u32
    }

    /// How long a run is, for the first line.
    fn length(&self) -> String {
        match (self.iterations, self.tours, self.time) {
            (Some(iterations), _, _) => format!("iterations {iterations}"),
            (_, Some(tours), _) => format!("tours {tours}"),
            (_, _, Some(time)) => format!("time {} s", time.as_secs_f64()),
            _ => "iterations 1000".to_owned(),
        }
    }

    /// A row each, instance by instance.
    fn cases<'a>(&self, problems: &'a [(Instance, Problem)]) -> Vec<Case<'a>> {
        let mut cases = Vec::new();
        for (instance, problem) in problems {
            for &form in &self.forms {
                for &ants in &self.ants {
                    let periods = self.periods.iter();
                    cases.extend(periods.map(|&period| Case { instance, problem, form, period, ants }));
                }
            }
        }
        cases
    }
}

/// One run's numbers.
struct Sample {
    iterations: u32,
    cost: i64,
    seconds: f64,
    /// Milliseconds an iteration to build tours and for everything else, if there were iterations after the warm-up and
    /// nothing else ran.
    each: Option<(f64, f64)>,
    pheromone_bytes: usize,
    layout: String,
}

/// A line of the table.
#[derive(Clone, Debug, Serialize)]
struct Row {
    instance: String,
    nodes: usize,
    form: String,
    period: u32,
    ants: u32,
    iterations: f64,
    construction_ms: Option<f64>,
    rest_ms: Option<f64>,
    total_ms: Option<f64>,
    tours_per_second: Option<f64>,
    mean_gap_percent: Option<f64>,
    best_gap_percent: Option<f64>,
    mean_cost: f64,
    best_cost: i64,
    best_known: Option<i64>,
    seconds: Option<f64>,
    seeds: u32,
    parallel: u32,
    /// Each seed's, in their order.
    costs: String,
    pheromone_bytes: usize,
    candidates: u32,
    alpha: f32,
    beta: f32,
    rho: f32,
    q0: Option<f64>,
    slots: u32,
    local_search: LocalSearch,
    antwarp: &'static str,
    device: String,
    layout: String,
}

impl Row {
    const HEAD: &'static str = concat!(
        "instance        n form                 period   ants iterations   build ms    rest ms   total ms",
        "    tours/s mean gap % min gap %  best cost  seconds"
    );

    fn new(case: &Case<'_>, args: &Args, device: String, samples: &[Sample]) -> Row {
        let known = case.instance.best_known().map(|known| known.cost);
        let gap = |cost: i64| known.and_then(|known| gap_percent(cost, known));
        let best_cost = samples.iter().map(|sample| sample.cost).min().unwrap_or(0);
        let each: Option<Vec<(f64, f64)>> = samples.iter().map(|sample| sample.each).collect();
        let middle = |part: fn(&(f64, f64)) -> f64| Some(median(each.as_ref()?.iter().map(part).collect()));
        let [construction_ms, rest_ms, total_ms] =
            [middle(|each| each.0), middle(|each| each.1), middle(|each| each.0 + each.1)];
        let costs: Vec<String> = samples.iter().map(|sample| sample.cost.to_string()).collect();
        let seconds = mean(samples.iter().map(|sample| sample.seconds));
        let colony = &args.colony;
        Row {
            instance: case.instance.name().to_owned(),
            nodes: case.instance.len(),
            form: case.form.to_string(),
            period: case.period,
            ants: case.ants(),
            iterations: mean(samples.iter().map(|sample| f64::from(sample.iterations))),
            construction_ms,
            rest_ms,
            total_ms,
            tours_per_second: total_ms.map(|ms| f64::from(case.ants()) / (ms / 1e3).max(1e-12)),
            mean_gap_percent: gaps(case.instance, samples).map(mean),
            best_gap_percent: gap(best_cost),
            mean_cost: mean(samples.iter().map(|sample| sample.cost as f64)),
            best_cost,
            best_known: known,
            seconds: (args.parallel == 1).then_some(seconds),
            seeds: args.seeds,
            parallel: args.parallel,
            costs: costs.join(" "),
            pheromone_bytes: samples.first().map_or(0, |sample| sample.pheromone_bytes),
            candidates: colony.candidates,
            alpha: colony.alpha,
            beta: colony.beta,
            rho: colony.rho,
            q0: colony.q0,
            slots: colony.slots,
            local_search: colony.local_search,
            antwarp: env!("CARGO_PKG_VERSION"),
            device,
            layout: samples.first().map_or_else(String::new, |sample| sample.layout.clone()),
        }
    }
}

impl Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:<10} {:>6} {:<20} {:>6} {:>6} {:>10.0} {:>10} {:>10} {:>10} {:>10} {:>10} {:>9} {:>10} {:>8}",
            self.instance,
            self.nodes,
            self.form,
            self.period,
            self.ants,
            self.iterations,
            number(self.construction_ms, 4),
            number(self.rest_ms, 4),
            number(self.total_ms, 4),
            number(self.tours_per_second, 0),
            number(self.mean_gap_percent, 3),
            number(self.best_gap_percent, 3),
            self.best_cost,
            number(self.seconds, 3),
        )
    }
}

/// Each seed's gap, where the best length is known.
fn gaps(instance: &Instance, samples: &[Sample]) -> Option<Vec<f64>> {
    let known = instance.best_known()?.cost;
    samples.iter().map(|sample| gap_percent(sample.cost, known)).collect()
}

/// Measures and prints.
pub fn run(args: Args) -> Result<Outcome> {
    args.check()?;
    Table::<Row>::check(args.csv.as_ref(), &args.instances)?;
    let interrupt = interrupt::watch()?;
    args.machine.start_threads()?;
    let instances = args.instances.iter().map(Instance::open).collect::<std::result::Result<Vec<_>, _>>()?;
    instances.iter().try_for_each(|instance| usable(instance, &args))?;
    let neighbors = Settings::default().neighbors;
    let problems: Vec<(Instance, Problem)> = instances
        .into_iter()
        .map(|instance| {
            let problem = Problem::new(&instance, Some(args.colony.candidates), neighbors);
            (instance, problem)
        })
        .collect();
    let cases = args.cases(&problems);
    for case in &cases {
        args.settings(case.form, case.period, Some(case.ants()), 1).check()?;
    }
    published(&args, &cases)?;
    let backend = args.machine.open(false)?;
    let mut table = Table::new(args.csv.as_ref());
    table.begin(&backend, &format!("{}, seeds {}, parallel {}", args.length(), args.seeds, args.parallel))?;
    table.say(Row::HEAD)?;
    let runs = Runs { args: &args, cases: &cases, machine: backend.machine(), interrupt };
    let (samples, outcome) = runs.measure(&mut table)?;
    compare(&table, &args, &cases, &samples)?;
    table.finish().map(|()| outcome)
}

/// Refuses instances that cannot be measured.
fn usable(instance: &Instance, args: &Args) -> Result<()> {
    if instance.len() <= 3 || !instance.fixed_edges().is_empty() {
        return Err(table::refuse(instance.name(), "it needs four nodes and no fixed edges"));
    }
    if args.colony.local_search != LocalSearch::None && !instance.is_symmetric() {
        let why = "local search needs symmetric edges; use --local-search none";
        return Err(table::refuse(instance.name(), why));
    }
    let settings = Settings { candidates: args.colony.candidates, ..Settings::default() };
    Ok(settings.check_for(instance)?)
}

/// Refuses published gaps of instances whose best length is not known.
fn published(args: &Args, cases: &[Case<'_>]) -> Result<()> {
    let lacks =
        |(case, gap): &(&Case<'_>, &Published)| gap.0.is_some() && case.instance.best_known().is_none();
    let Some((case, _)) = cases.iter().zip(&args.against).find(lacks) else { return Ok(()) };
    let name = case.instance.name();
    Err(Error::Usage(format!(
        "--against: no best length of {name} is known, so it has no gap: give `-` for it"
    )))
}

/// Iterations before the times count, as in `antwarp bench`.
const WARM_UP: u32 = 5;

/// All runs, done by threads that have a backend each.
struct Runs<'a> {
    args: &'a Args,
    cases: &'a [Case<'a>],
    machine: Machine,
    interrupt: Arc<AtomicBool>,
}

/// A run by its number, and what came of it; `None` if it was interrupted.
type Done = (usize, Result<Option<Sample>>);

impl Runs<'_> {
    fn seeds(&self) -> usize {
        self.args.seeds as usize
    }

    /// Adds a row a case, and gives the samples of each.
    fn measure(&self, table: &mut Table<'_, Row>) -> Result<(Vec<Vec<Sample>>, Outcome)> {
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let (send, receive) = channel();
            for _ in 0..self.args.parallel {
                let (send, next) = (send.clone(), &next);
                scope.spawn(move || self.work(next, &send));
            }
            drop(send);
            let collected = self.collect(&receive, table);
            // Whatever is still under way is wanted no more.
            self.interrupt.store(true, Ordering::Relaxed);
            collected
        })
    }

    /// Does runs until none is left, or one fails.
    fn work(&self, next: &AtomicUsize, send: &Sender<Done>) {
        // Of the kind that was found when the table began.
        let choice = if self.machine.backend == "cpu" { Choice::Cpu } else { Choice::Cuda };
        let backend = match Backend::open(choice) {
            Ok((backend, _)) => backend,
            Err(error) => {
                // If nobody listens, another one has failed.
                let _ = send.send((0, Err(error.into())));
                return;
            }
        };
        while !self.interrupt.load(Ordering::Relaxed) {
            let run = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = self.cases.get(run / self.seeds()) else { return };
            let sample = self.sample(case, (run % self.seeds()) as u64 + 1, &backend);
            let goes_on = matches!(sample, Ok(Some(_)));
            if send.send((run, sample)).is_err() || !goes_on {
                return;
            }
        }
    }

    /// Rows in their order, each as soon as all its runs are there.
    fn collect(
        &self,
        receive: &Receiver<Done>,
        table: &mut Table<'_, Row>,
    ) -> Result<(Vec<Vec<Sample>>, Outcome)> {
        let mut early: Vec<Option<Sample>> = Vec::new();
        early.resize_with(self.cases.len() * self.seeds(), || None);
        let mut complete = Vec::new();
        for (row, case) in self.cases.iter().enumerate() {
            let runs = row * self.seeds()..(row + 1) * self.seeds();
            while early[runs.clone()].iter().any(Option::is_none) {
                // Threads end without a word only if they are interrupted.
                let Ok((run, sample)) = receive.recv() else { return Ok((complete, Outcome::Interrupted)) };
                let Some(sample) = sample? else { return Ok((complete, Outcome::Interrupted)) };
                early[run] = Some(sample);
            }
            let samples: Vec<Sample> = early[runs].iter_mut().filter_map(Option::take).collect();
            table.add(Row::new(case, self.args, self.machine.device.clone(), &samples))?;
            complete.push(samples);
        }
        Ok((complete, Outcome::Done))
    }

    /// One run; `None` if it was interrupted. The warm-up is a part of it.
    fn sample(&self, case: &Case<'_>, seed: u64, backend: &Backend) -> Result<Option<Sample>> {
        let settings = self.args.settings(case.form, case.period, Some(case.ants()), seed);
        let spec = settings.spec(case.problem, backend, &Stop::never());
        let spec = AcsSpec { each_phase: self.args.each_phase, ..spec };
        let mut colony = backend.acs(case.problem, &spec)?;
        let limit = self.args.limit(case);
        let warm_up = WARM_UP.min(limit / 2);
        let (mut done, mut batch) = (0, 1);
        let start = Instant::now();
        let left = || self.args.time.map(|time| time.saturating_sub(start.elapsed()));
        let enough = || self.interrupt.load(Ordering::Relaxed) || left() == Some(Duration::ZERO);
        let state = loop {
            let is_timed = done == warm_up && self.args.parallel == 1;
            if is_timed {
                colony.phases()?;
            }
            let count = if done < warm_up { warm_up - done } else { limit - done };
            let count = batch.min(u64::from(count)) as u32;
            let before = Instant::now();
            let state = colony.run(count, &enough)?;
            batch = next_units(u64::from(count), u64::from(count), before.elapsed(), left());
            done = state.iterations;
            if done >= limit || enough() {
                break state;
            }
        };
        let seconds = start.elapsed().as_secs_f64();
        if self.interrupt.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let phases = if self.args.parallel == 1 { colony.phases()? } else { Phases::default() };
        Ok(Some(Sample {
            iterations: done,
            cost: table::checked(case.instance, case.problem, &colony.best_tour()?, state.best_cost)?,
            seconds,
            each: each(phases),
            pheromone_bytes: spec.memory_bytes(case.problem),
            layout: colony.describe(),
        }))
    }
}

/// Milliseconds an iteration to build tours and for everything else.
fn each(phases: Phases) -> Option<(f64, f64)> {
    let iterations = f64::from(phases.iterations);
    let ms = |time: Duration| time.as_secs_f64() * 1e3 / iterations;
    (phases.iterations > 0).then(|| (ms(phases.construction), ms(phases.local_search + phases.rest)))
}

/// Fewest seeds of a rank-sum test.
const FEWEST_SEEDS: u32 = 5;
/// Fewest seeds of a signed-rank test: of fewer, not even the clearest difference is significant.
const FEWEST_AGAINST: u32 = 6;

/// Wilcoxon tests of each complete row with the first of its instance, and with what was published.
fn compare(table: &Table<'_, Row>, args: &Args, cases: &[Case<'_>], samples: &[Vec<Sample>]) -> Result<()> {
    if args.seeds < FEWEST_SEEDS {
        return Ok(());
    }
    let mut lines = Vec::new();
    let costs = |samples: &[Sample]| samples.iter().map(|sample| sample.cost as f64).collect::<Vec<_>>();
    let rows: Vec<(&Case<'_>, &Vec<Sample>)> = cases.iter().zip(samples).collect();
    for group in rows.chunks(args.forms.len() * args.ants.len() * args.periods.len()) {
        let (Some((first, base)), others) = (group.first(), group.get(1..).unwrap_or_default()) else {
            continue;
        };
        lines.extend(others.iter().filter_map(|(case, samples)| {
            let test = rank_sum(&costs(samples), &costs(base))?;
            Some(verdict(case, &first.to_string(), test))
        }));
    }
    lines.extend(rows.iter().zip(&args.against).filter_map(|((case, samples), published)| {
        let gap = published.0?;
        let test = signed_rank(&gaps(case.instance, samples)?, gap)?;
        Some(verdict(case, &format!("a published mean gap of {gap} %"), test))
    }));
    if !lines.is_empty() {
        table.say("")?;
    }
    lines.iter().try_for_each(|line| table.say(line))
}

/// What a test says of a row.
fn verdict(case: &Case<'_>, other: &str, test: Wilcoxon) -> String {
    let verdict = match test {
        Wilcoxon { p_value, .. } if p_value >= 0.05 => "no difference at 0.05",
        Wilcoxon { excess, .. } if excess < 0.0 => "better",
        _ => "worse",
    };
    let (w, p) = (test.statistic, test.p_value);
    format!("{}: {case} against {other}: W = {w}, p = {p:.4} ({verdict})", case.instance.name())
}
