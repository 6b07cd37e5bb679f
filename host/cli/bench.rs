//! `antwarp bench`: iteration times and tour quality of the colony's variants, as published tables show them
//! (Skinderowicz 2020, section 5).

use std::fmt::Display;
use std::str::FromStr;

use serde::Serialize;

use super::options::{Ants, Candidates, MachineArgs};
use super::output::Output;
use super::table::{self, Table, mean, median};
use super::{Outcome, Result};
use crate::backend::Backend;
use crate::engine::{Phases, Problem, Stop};
use crate::instance::Instance;
use crate::report::gap_percent;
use crate::report::statistics::friedman;
use crate::solver::mmas::{Selection, Settings, TabuKind};

/// Arguments of `antwarp bench`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Instance files, or names of generated instances such as E10k.0
    #[arg(value_name = "FILE|NAME", required = true)]
    instances: Vec<String>,
    /// Variants, such as wrs-bitmask,rwm-compact; all six if not given
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    variants: Vec<Variant>,
    /// Candidates of a node: numbers, or all
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "all,32")]
    candidates: Vec<Candidates>,
    /// Ants: a number, or n for as many as nodes
    #[arg(long, value_name = "N|n", default_value = "n")]
    ants: Ants,
    /// Iterations of a run
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..))]
    iterations: u32,
    /// Warps an ant on a GPU where all nodes are candidates: numbers, or auto
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "auto")]
    warps: Vec<Warps>,
    /// Runs of each seed; times are the median of all runs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Seeds: 1 to N. The gap is the mean of them; from three on, variants are compared by a Friedman test
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    seeds: u32,
    /// Write the table as CSV too
    #[arg(long, value_name = "FILE|-")]
    csv: Option<Output>,
    #[command(flatten)]
    machine: MachineArgs,
}

/// A node selection and a tabu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Variant {
    selection: Selection,
    tabu: TabuKind,
}

impl Variant {
    fn all() -> Vec<Variant> {
        let tabus = [TabuKind::List, TabuKind::Compact, TabuKind::Bitmask];
        let both = |tabu| [Selection::Wrs, Selection::Rwm].map(|selection| Variant { selection, tabu });
        let mut all: Vec<Variant> = tabus.into_iter().flat_map(both).collect();
        all.sort_by_key(|variant| variant.selection == Selection::Rwm);
        all
    }
}

impl FromStr for Variant {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Variant, String> {
        let names = || Variant::all().iter().map(Variant::to_string).collect::<Vec<_>>().join(", ");
        let found =
            Variant::all().into_iter().find(|variant| variant.to_string() == text.to_ascii_lowercase());
        found.ok_or_else(|| format!("the variants are {}", names()))
    }
}

impl Display for Variant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = format!("{:?}-{:?}", self.selection, self.tabu).to_ascii_lowercase();
        f.pad(&name)
    }
}

/// How many warps an ant; `None`: measured.
#[derive(Clone, Copy, Debug)]
struct Warps(Option<u32>);

impl FromStr for Warps {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Warps, String> {
        match (text, text.parse()) {
            ("auto", _) => Ok(Warps(None)),
            (_, Ok(count @ 1..)) => Ok(Warps(Some(count))),
            _ => Err("give a number of at least 1, or `auto`".to_owned()),
        }
    }
}

/// A line of the table.
#[derive(Clone, Debug, Serialize)]
struct Row {
    instance: String,
    nodes: usize,
    ants: u32,
    candidates: String,
    variant: String,
    warps: String,
    construction_ms: f64,
    rest_ms: f64,
    tours_per_second: f64,
    mean_cost: f64,
    mean_gap_percent: Option<f64>,
    iterations: u32,
    seeds: u32,
    repeat: u32,
    antwarp: &'static str,
    device: String,
    layout: String,
}

impl Row {
    const HEAD: &'static str = concat!(
        "instance        n candidates variant      warps construction ms    rest ms    tours/s",
        "    gap % layout"
    );
}

impl Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let gap = self.mean_gap_percent.map_or_else(|| "-".to_owned(), |gap| format!("{gap:.3}"));
        write!(
            f,
            "{:<10} {:>6} {:>10} {:<12} {:>5} {:>15.4} {:>10.4} {:>10.0} {gap:>8} {}",
            self.instance,
            self.nodes,
            self.candidates,
            self.variant,
            self.warps,
            self.construction_ms,
            self.rest_ms,
            self.tours_per_second,
            self.layout
        )
    }
}

/// One run's numbers.
struct Sample {
    construction_ms: f64,
    rest_ms: f64,
    cost: i64,
    layout: String,
}

/// What is measured, over and over.
struct Bench<'a> {
    args: &'a Args,
    backend: &'a Backend,
    variants: Vec<Variant>,
    table: Table<'a, Row>,
    /// For the test: per instance, candidates and seed, the cost of each variant.
    blocks: Vec<Vec<f64>>,
}

/// Measures and prints.
pub fn run(args: Args) -> Result<Outcome> {
    Table::<Row>::check(args.csv.as_ref(), &args.instances)?;
    args.machine.start_threads()?;
    let instances = args.instances.iter().map(Instance::open).collect::<std::result::Result<Vec<_>, _>>()?;
    let backend = args.machine.open(false)?;
    let variants = if args.variants.is_empty() { Variant::all() } else { args.variants.clone() };
    let table = Table::new(args.csv.as_ref());
    let mut bench = Bench { args: &args, backend: &backend, variants, table, blocks: Vec::new() };
    bench.table.begin(
        &backend,
        &format!("iterations {}, seeds {}, repeat {}", args.iterations, args.seeds, args.repeat),
    )?;
    bench.table.say(Row::HEAD)?;
    for instance in &instances {
        for &candidates in &args.candidates {
            bench.measure(instance, candidates)?;
        }
    }
    bench.compare()?;
    bench.table.finish().map(|()| Outcome::Done)
}

impl Bench<'_> {
    fn measure(&mut self, instance: &Instance, candidates: Candidates) -> Result<()> {
        if instance.len() <= 3 || !instance.fixed_edges().is_empty() {
            return Err(table::refuse(instance.name(), "it needs four nodes and no fixed edges"));
        }
        let problem = Problem::new(instance, candidates.count(), 0);
        let mut costs: Vec<Vec<f64>> = Vec::new();
        for variant in self.variants.clone() {
            for (i, &warps) in self.warps(candidates).iter().enumerate() {
                let samples = self.samples(instance, &problem, candidates, variant, warps)?;
                let row = self.row(instance, candidates, variant, warps, &samples);
                self.table.add(row)?;
                if i == 0 {
                    let repeat = self.args.repeat as usize;
                    costs.push(samples.iter().step_by(repeat).map(|sample| sample.cost as f64).collect());
                }
            }
        }
        let seeds = 0..self.args.seeds as usize;
        self.blocks.extend(seeds.map(|seed| costs.iter().map(|by_seed| by_seed[seed]).collect()));
        Ok(())
    }

    /// Warps matter only on a GPU, and only without candidate lists.
    fn warps(&self, candidates: Candidates) -> Vec<Warps> {
        match (self.backend, candidates) {
            (Backend::Cuda(_), Candidates::All) => self.args.warps.clone(),
            _ => vec![Warps(None)],
        }
    }

    /// A sample of every seed and repetition, seed by seed.
    fn samples(
        &self,
        instance: &Instance,
        problem: &Problem,
        candidates: Candidates,
        variant: Variant,
        warps: Warps,
    ) -> Result<Vec<Sample>> {
        let mut samples = Vec::new();
        for seed in 1..=u64::from(self.args.seeds) {
            let settings = Settings {
                seed,
                ants: Some(self.args.ants.count(instance.len())),
                candidates: candidates.count(),
                rho: 0.5,
                selection: variant.selection,
                tabu: variant.tabu,
                warps: warps.0,
                ..Settings::default()
            };
            settings.check()?;
            for _ in 0..self.args.repeat {
                samples.push(sample(instance, problem, self.backend, &settings, self.args.iterations)?);
            }
        }
        Ok(samples)
    }

    fn row(
        &self,
        instance: &Instance,
        candidates: Candidates,
        variant: Variant,
        warps: Warps,
        samples: &[Sample],
    ) -> Row {
        let construction_ms = median(samples.iter().map(|sample| sample.construction_ms).collect());
        let rest_ms = median(samples.iter().map(|sample| sample.rest_ms).collect());
        let ants = self.args.ants.count(instance.len());
        let known = instance.best_known().map(|known| known.cost);
        let gaps: Option<Vec<f64>> = samples.iter().map(|sample| gap_percent(sample.cost, known?)).collect();
        Row {
            instance: instance.name().to_owned(),
            nodes: instance.len(),
            ants,
            candidates: candidates.to_string(),
            variant: variant.to_string(),
            warps: warps.0.map_or_else(|| "auto".to_owned(), |warps| warps.to_string()),
            construction_ms,
            rest_ms,
            tours_per_second: f64::from(ants) / ((construction_ms + rest_ms) / 1e3).max(1e-12),
            mean_cost: mean(samples.iter().map(|sample| sample.cost as f64)),
            mean_gap_percent: gaps.map(mean),
            iterations: self.args.iterations,
            seeds: self.args.seeds,
            repeat: self.args.repeat,
            antwarp: env!("CARGO_PKG_VERSION"),
            device: self.backend.machine().device,
            layout: samples.first().map_or_else(String::new, |sample| sample.layout.clone()),
        }
    }

    /// Do the variants' tours differ?
    fn compare(&self) -> Result<()> {
        let Some(test) = friedman(&self.blocks).filter(|_| self.args.seeds >= 3) else { return Ok(()) };
        self.table.say("")?;
        let freedom = self.variants.len() - 1;
        let blocks = self.blocks.len();
        self.table.say(&match test.p_value {
            Some(p) => format!(
                "Friedman test over {blocks} blocks: χ²({freedom}) = {:.3}, p = {p:.4}",
                test.statistic
            ),
            None => {
                format!("Friedman test over {blocks} blocks: every variant found equally long tours in each")
            }
        })?;
        for (variant, rank) in self.variants.iter().zip(test.mean_ranks) {
            self.table.say(&format!("{variant:<12} mean rank {rank:.2}"))?;
        }
        Ok(())
    }
}

/// Iterations before the times count: a GPU loads kernels and measures its layout, a CPU wakes its threads.
const WARM_UP: u32 = 5;

/// One run. The warm-up is a part of it, so that the tour is that of as many iterations as were asked for.
fn sample(
    instance: &Instance,
    problem: &Problem,
    backend: &Backend,
    settings: &Settings,
    iterations: u32,
) -> Result<Sample> {
    let mut colony = backend.colony(problem, &settings.spec(problem, backend, &Stop::never()))?;
    let warm_up = WARM_UP.min(iterations / 2);
    colony.run(warm_up, &|| false)?;
    colony.phases()?;
    let state = colony.run(iterations - warm_up, &|| false)?;
    let Phases { iterations: counted, construction, rest, .. } = colony.phases()?;
    let cost = table::checked(instance, problem, &colony.best_tour()?, state.best_cost)?;
    let each = 1e3 / f64::from(counted.max(1));
    Ok(Sample {
        construction_ms: construction.as_secs_f64() * each,
        rest_ms: rest.as_secs_f64() * each,
        cost,
        layout: colony.describe(),
    })
}
