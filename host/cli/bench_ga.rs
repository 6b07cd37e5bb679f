//! `antwarp bench-ga`: convergence and times of the genetic algorithm's crossovers, as published tables show them
//! (Kang et al. 2016, tables 2 to 5).

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use antwarp_core::colony::ColonyState;
use clap::ValueEnum;
use serde::Serialize;

use super::options::MachineArgs;
use super::output::{Output, check_apart};
use super::table::{self, Table, mean, median, number};
use super::{Error, Outcome, Result, interrupt};
use crate::backend::Backend;
use crate::engine::next_units;
use crate::engine::{LocalSearch, Population, Problem, Stop};
use crate::instance::{Instance, population_file};
use crate::solver::genetic::{Crossover, Initial, Pairing, Settings, check_for, first_genes};

/// Arguments of `antwarp bench-ga`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Instance files, or names of generated instances such as E10k.0
    #[arg(value_name = "FILE|NAME", required = true)]
    instances: Vec<String>,
    /// Crossovers
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',', default_value = "bcscx,arx,hybrid")]
    crossovers: Vec<Crossover>,
    /// Numbers of genes; those of solve if not given
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    populations: Vec<u32>,
    /// Numbers of groups; those of solve if not given
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    groups: Vec<u32>,
    /// Generations of a run
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    generations: u32,
    /// Runs, of the seeds 1 to N
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    seeds: u32,
    /// The share over the best known length, (length - best) / best, whose first generation is looked for
    #[arg(long, value_name = "F", default_value_t = 0.1)]
    epsilon: f64,
    /// Print how the first seed's run goes, too: at generations 0, 1, 2, 4, 8 and so on, and at the end
    #[arg(long)]
    curve: bool,
    /// Write the table as CSV too
    #[arg(long, value_name = "FILE|-")]
    csv: Option<Output>,
    /// Write the table, and how the first seed's runs go, as JSON too
    #[arg(long, value_name = "FILE")]
    json: Option<Output>,
    #[command(flatten)]
    genetic: GeneticArgs,
    #[command(flatten)]
    machine: MachineArgs,
}

/// Settings that all runs share.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Genetic algorithm, as in solve")]
struct GeneticArgs {
    /// What the first genes are; random, and local-optima for eax, if not given
    #[arg(long, value_enum)]
    initial: Option<Initial>,
    /// Begin with the genes of this file, of one instance; its settings do not count, and its generations do not either.
    /// Larger populations repeat them
    #[arg(long, value_name = "FILE", conflicts_with = "initial")]
    resume: Option<PathBuf>,
    /// Rivals and partners: the same places always, or drawn anew for every generation
    #[arg(long, value_enum, default_value_t = Pairing::default())]
    pairing: Pairing,
    /// Share of the children that mutate
    #[arg(long, value_name = "F", default_value_t = Settings::default().mutation)]
    mutation: f64,
    /// Generations between transfers of each group's best gene to another group; 0: never; 20, and 0 for eax, if not
    /// given
    #[arg(long, value_name = "N")]
    transfer_every: Option<u32>,
    /// eax: children of a pair, at most
    #[arg(long, value_name = "N", default_value_t = Settings::default().children)]
    children: u32,
    /// What improves children
    #[arg(long, value_enum, default_value_t = LocalSearch::None)]
    local_search: LocalSearch,
    /// Neighbours of a node in it
    #[arg(long, value_name = "N", default_value_t = Settings::default().neighbors)]
    neighbors: u32,
    /// Neighbours that the second step of its moves looks at
    #[arg(long, value_name = "N", default_value_t = Settings::default().breadth)]
    breadth: u32,
}

/// What a row measures.
#[derive(Clone, Copy)]
struct Case<'a> {
    instance: &'a Instance,
    problem: &'a Problem,
    crossover: Crossover,
    population: u32,
    groups: u32,
}

impl Args {
    fn settings(&self, crossover: Crossover, population: u32, groups: u32, seed: u64) -> Settings {
        let genetic = &self.genetic;
        let default = Settings::of(crossover);
        Settings {
            seed,
            crossover,
            population: Some(population),
            groups,
            transfer_every: genetic.transfer_every.unwrap_or(default.transfer_every),
            children: genetic.children,
            mutation: genetic.mutation,
            pairing: genetic.pairing,
            initial: match genetic.resume {
                Some(_) => Initial::File,
                None => genetic.initial.unwrap_or(default.initial),
            },
            first_generation: 0,
            local_search: genetic.local_search,
            neighbors: genetic.neighbors,
            breadth: genetic.breadth,
        }
    }

    /// Crossover, population and groups of each row of an instance.
    fn sizes(&self) -> impl Iterator<Item = (Crossover, u32, u32)> {
        let or = |list: &[u32], default: u32| if list.is_empty() { vec![default] } else { list.to_vec() };
        self.crossovers.iter().flat_map(move |&crossover| {
            let default = Settings::of(crossover);
            let groups = or(&self.groups, default.groups);
            let populations = or(&self.populations, default.genes());
            populations.into_iter().flat_map(move |population| {
                groups.clone().into_iter().map(move |groups| (crossover, population, groups))
            })
        })
    }

    /// Checks what can be checked without the instances.
    fn check(&self) -> Result<()> {
        self.sizes().try_for_each(|(crossover, population, groups)| {
            self.settings(crossover, population, groups, 1).check()
        })?;
        if !(self.epsilon >= 0.0 && self.epsilon <= 1e6) {
            return Err(Error::Usage("--epsilon must be between 0 and 1000000".to_owned()));
        }
        if self.genetic.resume.is_some() && self.instances.len() > 1 {
            return Err(Error::Usage("--resume is for one instance: give no others".to_owned()));
        }
        Table::<Row>::check(self.csv.as_ref(), &self.instances)?;
        let outputs: Vec<&Output> = self.csv.iter().chain(&self.json).collect();
        self.instances.iter().try_for_each(|instance| check_apart(&outputs, instance.as_ref()))?;
        match &self.json {
            Some(Output::Stdout) => {
                Err(Error::Usage("--json takes a file; --csv may be the standard output".to_owned()))
            }
            Some(json) => json.check(),
            None => Ok(()),
        }
    }

    /// The genes of a file, if there is one.
    fn given(&self, instances: &[Instance]) -> Result<Option<Vec<u32>>> {
        let (Some(path), Some(instance)) = (&self.genetic.resume, instances.first()) else { return Ok(None) };
        let saved = population_file::read(path, instance)?;
        let count = saved.count;
        match self.sizes().map(|(_, genes, _)| genes).find(|genes| !genes.is_multiple_of(count)) {
            Some(genes) => Err(Error::Usage(format!(
                "--populations must be multiples of the {count} genes of {}, not {genes}",
                path.display()
            ))),
            None => Ok(Some(saved.genes)),
        }
    }

    /// A row each, instance by instance.
    fn cases<'a>(&self, problems: &'a [(Instance, Problem)]) -> Vec<Case<'a>> {
        let mut cases = Vec::new();
        for (instance, problem) in problems {
            let sizes = self.sizes();
            cases.extend(sizes.map(|(crossover, population, groups)| Case {
                instance,
                problem,
                crossover,
                population,
                groups,
            }));
        }
        cases
    }
}

/// Where a run is after some generations.
#[derive(Clone, Copy, Debug, Serialize)]
struct Point {
    generation: u32,
    /// Without set-up; the first genes are a part of it.
    seconds: f64,
    best_cost: i64,
    mean_cost: i64,
}

/// One run's numbers.
struct Sample {
    curve: Vec<Point>,
    cost: i64,
    first_cost: i64,
    /// Milliseconds a generation, if there were any after the warm-up.
    each: Option<f64>,
    /// The first generation with a gene as short as it was looked for.
    reached: Option<u32>,
    layout: String,
}

/// A line of the table.
#[derive(Clone, Debug, Serialize)]
struct Row {
    instance: String,
    nodes: usize,
    crossover: String,
    population: u32,
    groups: u32,
    generations: u32,
    mean_first_epsilon: Option<f64>,
    mean_epsilon: Option<f64>,
    sd_epsilon: Option<f64>,
    epsilon: f64,
    /// Runs that got so near, and the mean of their generations.
    reached: u32,
    mean_generation: Option<f64>,
    generation_ms: Option<f64>,
    mean_cost: f64,
    best_cost: i64,
    best_known: Option<i64>,
    seeds: u32,
    /// Each seed's, in their order.
    costs: String,
    initial: Initial,
    pairing: Pairing,
    mutation: f64,
    transfer_every: u32,
    local_search: LocalSearch,
    neighbors: u32,
    breadth: u32,
    antwarp: &'static str,
    device: String,
    layout: String,
}

impl Row {
    const HEAD: &'static str = concat!(
        "instance        n crossover  genes groups generations first eps mean eps   sd eps",
        "  reached    at gen.     ms/gen.  best cost"
    );

    fn new(case: &Case<'_>, args: &Args, device: String, samples: &[Sample]) -> Row {
        let known = case.instance.best_known().map(|known| known.cost);
        let over = |cost: i64| Some((cost as f64 - known? as f64) / known.filter(|&k| k > 0)? as f64);
        let all = |cost: fn(&Sample) -> i64| -> Option<Vec<f64>> {
            samples.iter().map(|sample| over(cost(sample))).collect()
        };
        let last = all(|sample| sample.cost);
        let reached: Vec<f64> = samples.iter().filter_map(|sample| sample.reached).map(f64::from).collect();
        let each: Option<Vec<f64>> = samples.iter().map(|sample| sample.each).collect();
        let costs: Vec<String> = samples.iter().map(|sample| sample.cost.to_string()).collect();
        let settings = args.settings(case.crossover, case.population, case.groups, 1);
        Row {
            instance: case.instance.name().to_owned(),
            nodes: case.instance.len(),
            crossover: name(case.crossover),
            population: case.population,
            groups: case.groups,
            generations: args.generations,
            mean_first_epsilon: all(|sample| sample.first_cost).map(mean),
            mean_epsilon: last.clone().map(mean),
            sd_epsilon: last.and_then(|values| deviation(&values)),
            epsilon: args.epsilon,
            reached: reached.len() as u32,
            mean_generation: (!reached.is_empty()).then(|| mean(reached)),
            generation_ms: each.map(median),
            mean_cost: mean(samples.iter().map(|sample| sample.cost as f64)),
            best_cost: samples.iter().map(|sample| sample.cost).min().unwrap_or(0),
            best_known: known,
            seeds: args.seeds,
            costs: costs.join(" "),
            initial: settings.initial,
            pairing: settings.pairing,
            mutation: settings.mutation,
            transfer_every: settings.transfer_every,
            local_search: settings.local_search,
            neighbors: settings.neighbors,
            breadth: settings.breadth,
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
            "{:<10} {:>6} {:<9} {:>6} {:>6} {:>11} {:>9} {:>8} {:>8} {:>8} {:>10} {:>11} {:>10}",
            self.instance,
            self.nodes,
            self.crossover,
            self.population,
            self.groups,
            self.generations,
            number(self.mean_first_epsilon, 4),
            number(self.mean_epsilon, 4),
            number(self.sd_epsilon, 4),
            self.best_known.map_or_else(|| "-".to_owned(), |_| format!("{}/{}", self.reached, self.seeds)),
            number(self.mean_generation, 1),
            number(self.generation_ms, 4),
            self.best_cost,
        )
    }
}

/// A crossover as it is given.
fn name(crossover: Crossover) -> String {
    crossover.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// The standard deviation of a sample of two or more.
fn deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values.iter().copied());
    let sum: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (sum / (values.len() - 1) as f64).sqrt())
}

/// A row with the first seed's curve.
#[derive(Serialize)]
struct Full<'a> {
    #[serde(flatten)]
    row: &'a Row,
    curve: &'a [Point],
}

/// Measures and prints.
pub fn run(args: Args) -> Result<Outcome> {
    args.check()?;
    let interrupt = interrupt::watch()?;
    args.machine.start_threads()?;
    let instances = args.instances.iter().map(Instance::open).collect::<std::result::Result<Vec<_>, _>>()?;
    instances.iter().try_for_each(|instance| usable(instance, &args))?;
    let given = args.given(&instances)?;
    let problems: Vec<(Instance, Problem)> = instances
        .into_iter()
        .map(|instance| {
            let problem = Problem::new(&instance, Some(1), args.genetic.neighbors);
            (instance, problem)
        })
        .collect();
    let backend = if args.crossovers.contains(&Crossover::Eax) {
        args.machine.open_threads("--crossovers eax", false)?
    } else {
        args.machine.open(false)?
    };
    let mut table = Table::new(args.csv.as_ref());
    table.begin(&backend, &format!("epsilon {}, seeds {}", args.epsilon, args.seeds))?;
    table.say(Row::HEAD)?;
    let runs = Runs { args: &args, given, backend: &backend, interrupt };
    let mut curves = Vec::new();
    let mut outcome = Outcome::Done;
    for case in args.cases(&problems) {
        let samples: Option<Vec<Sample>> =
            (1..=u64::from(args.seeds)).map(|seed| runs.sample(&case, seed)).collect::<Result<_>>()?;
        let Some(mut samples) = samples else {
            outcome = Outcome::Interrupted;
            break;
        };
        table.add(Row::new(&case, &args, backend.machine().device, &samples))?;
        let curve = samples.swap_remove(0).curve;
        if args.curve {
            curve.iter().try_for_each(|point| table.say(&line(&case, point)))?;
        }
        curves.push(curve);
    }
    table.finish()?;
    if let Some(json) = &args.json {
        let full: Vec<Full<'_>> =
            table.rows.iter().zip(&curves).map(|(row, curve)| Full { row, curve }).collect();
        json.write(|out| {
            serde_json::to_writer_pretty(&mut *out, &full)?;
            writeln!(out)
        })?;
    }
    Ok(outcome)
}

/// A point of a curve, for reading.
fn line(case: &Case<'_>, point: &Point) -> String {
    let known = case.instance.best_known().map(|known| known.cost as f64).filter(|&known| known > 0.0);
    let epsilon = |cost: i64| {
        known.map_or_else(String::new, |known| format!(" (eps {:.4})", (cost as f64 - known) / known))
    };
    format!(
        "    generation {:>8} {:>10.3} s: best {}{}, mean {}{}",
        point.generation,
        point.seconds,
        point.best_cost,
        epsilon(point.best_cost),
        point.mean_cost,
        epsilon(point.mean_cost),
    )
}

/// Refuses instances that cannot be measured.
fn usable(instance: &Instance, args: &Args) -> Result<()> {
    args.sizes().try_for_each(|(crossover, population, groups)| {
        let settings = args.settings(crossover, population, groups, 1);
        if instance.len() < settings.fewest_nodes() {
            let why = format!("it needs {} nodes", settings.fewest_nodes());
            return Err(table::refuse(instance.name(), &why));
        }
        Ok(check_for(instance, &settings)?)
    })
}

/// Generations before the times count.
const WARM_UP: u32 = 2;

/// What all runs need.
struct Runs<'a> {
    args: &'a Args,
    given: Option<Vec<u32>>,
    backend: &'a Backend,
    interrupt: Arc<AtomicBool>,
}

impl Runs<'_> {
    fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    fn population<'p>(
        &'p self,
        case: &Case<'p>,
        seed: u64,
        target: Option<i64>,
    ) -> Result<Box<dyn Population + 'p>> {
        let settings = self.args.settings(case.crossover, case.population, case.groups, seed);
        let spec = settings.spec(case.problem, &Stop { target, ..Stop::never() });
        let first = first_genes(case.instance, case.problem, &settings, self.given.clone())?;
        Ok(self.backend.population(case.problem, &spec, first)?)
    }

    /// One run; `None` if it was interrupted.
    fn sample(&self, case: &Case<'_>, seed: u64) -> Result<Option<Sample>> {
        let Some((sample, best)) = self.whole(case, seed)? else { return Ok(None) };
        let known = case.instance.best_known().map(|known| known.cost);
        let target = known.map(|known| (known as f64 * (1.0 + self.args.epsilon)).floor() as i64);
        let Some(target) = target.filter(|&target| best <= target) else { return Ok(Some(sample)) };
        if sample.first_cost <= target {
            return Ok(Some(Sample { reached: Some(0), ..sample }));
        }
        // The same run again, up to there: a target ends it at the very generation.
        let mut population = self.population(case, seed, Some(target))?;
        let (mut done, mut batch) = (0, 1);
        loop {
            let before = Instant::now();
            let count = batch.min(u64::from(self.args.generations - done)) as u32;
            let state = population.run(count, &|| self.is_interrupted())?;
            if self.is_interrupted() {
                return Ok(None);
            }
            batch = next_units(u64::from(count), u64::from(count), before.elapsed(), None);
            done = state.iterations;
            if state.best_cost <= target || done >= self.args.generations {
                return Ok(Some(Sample { reached: Some(done), ..sample }));
            }
        }
    }

    /// All generations, and the best length; `None` if they were interrupted. Batches end where the curve has a point.
    fn whole(&self, case: &Case<'_>, seed: u64) -> Result<Option<(Sample, i64)>> {
        let mut population = self.population(case, seed, None)?;
        let limit = self.args.generations;
        let warm_up = WARM_UP.min(limit / 2);
        let enough = || self.is_interrupted();
        let start = Instant::now();
        let point = |state: &ColonyState| Point {
            generation: state.iterations,
            seconds: start.elapsed().as_secs_f64(),
            best_cost: state.best_cost,
            mean_cost: state.iteration_cost,
        };
        let mut state = population.run(0, &enough)?;
        let mut curve = vec![point(&state)];
        let (mut batch, mut timed_from) = (1, Instant::now());
        while state.iterations < limit && !self.is_interrupted() {
            let done = state.iterations;
            if done == warm_up {
                timed_from = Instant::now();
            }
            let next = if done == 0 { 1 } else { 1 << (done.ilog2() + 1) };
            let next = if done < warm_up { next.min(warm_up) } else { next };
            let count = batch.min(u64::from(next.min(limit) - done)) as u32;
            let before = Instant::now();
            state = population.run(count, &enough)?;
            batch = next_units(u64::from(count), u64::from(count), before.elapsed(), None);
            if state.iterations == next || state.iterations == limit {
                curve.push(point(&state));
            }
        }
        let milliseconds = timed_from.elapsed().as_secs_f64() * 1e3;
        if self.is_interrupted() {
            return Ok(None);
        }
        let cost = table::checked(case.instance, case.problem, &population.best_tour()?, state.best_cost)?;
        let first_cost = curve[0].best_cost;
        let each = (limit > warm_up).then(|| milliseconds / f64::from(limit - warm_up));
        let layout = population.describe();
        Ok(Some((Sample { curve, cost, first_cost, each, reached: None, layout }, state.best_cost)))
    }
}
