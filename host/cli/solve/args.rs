//! The arguments of `antwarp solve`, as given.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde_json::Map;

use super::super::options::{Iterations, MachineArgs, duration, finite, iterations_or_none, whole};
use super::super::output::Output;
use super::super::reading::ReadingArgs;
use super::super::setting_options::{Given, Options, SettingOption, list, options_of};
use super::super::shape::ShapeArgs;
use super::super::signals;
use super::proof::Prove;
use crate::cluster::Topology;
use crate::engine::Stop;
use crate::instance::{Instance, ReadOptions};
use crate::solver::checkpoint::Checkpoint;
use crate::solver::settings::Declaration;
use crate::solver::{Algorithm, DEFAULT_TIME, proven_optimum};

/// Arguments of `antwarp solve`, as given.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files (CSV, JSON, TSPLIB ...), or names of generated instances such as E10k.0
    #[arg(value_name = "FILE|NAME", required = true, num_args = 1..)]
    pub(super) instances: Vec<PathBuf>,
    /// The algorithm; if not given, lk; options of ils imply ils, and --local-search lk, or-3opt or none implies mmas
    #[arg(long, value_name = "NAME", value_parser = algorithms())]
    pub(super) algorithm: Option<Declaration>,
    /// Also compute a lower bound: how far the tour can be from the optimum
    ///
    /// Without this option, one is computed only if no optimum is known and it costs next to nothing
    #[arg(long)]
    pub(super) bound: bool,
    /// Go on until the tour is proven to be the shortest one; =never: no proof
    ///
    /// If a time limit ends the run first, the exit status is 8. By default (auto), lk on CPU threads also tries to prove its tour
    /// once two restarts have ended with the best length, for up to 1,500 nodes without a published optimum
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        num_args = 0..=1,
        require_equals = true,
        default_value_t = Prove::Auto,
        default_missing_value = "always",
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub(super) prove: Prove,
    /// Solve each instance N times, with consecutive seeds; writes the best tour
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=1_000_000))]
    pub(super) runs: Option<u32>,
    #[command(flatten)]
    pub(super) machine: MachineArgs,
    /// Solve N instances or runs at a time, each with a share of the threads
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=1024), help_heading = "Machine")]
    pub(super) jobs: Option<u32>,
    /// With several ranks (docs/cluster.md): to which other ranks a rank sends its tours
    #[arg(long, value_enum, default_value_t = Topology::default(), help_heading = "Machine")]
    pub(super) topology: Topology,
    #[command(flatten)]
    pub(super) shape: ShapeArgs,
    #[command(flatten)]
    pub(super) stop: StopArgs,
    #[command(flatten)]
    pub(super) begin: BeginArgs,
    #[command(flatten)]
    pub(super) outputs: Outputs,
    #[command(flatten)]
    pub(super) reading: ReadingArgs,
    #[command(flatten)]
    pub(super) settings: Given<Algorithm>,
}

/// The options of all algorithms' settings.
pub(super) static OPTIONS: LazyLock<Vec<SettingOption>> = LazyLock::new(|| options_of(&Algorithm::ALL));

impl Options for Algorithm {
    const ALL: &'static LazyLock<Vec<SettingOption>> = &OPTIONS;

    fn heading(option: &SettingOption) -> Option<String> {
        if option.users.len() == Algorithm::ALL.len() {
            return Some("Settings of every algorithm".to_owned());
        }
        Some(format!("Settings of {}", list(&option.names(), "and")))
    }
}

/// Returns the file options that not every algorithm uses: their ids, and the names of the algorithms that use them.
pub(super) fn files() -> [(&'static str, Vec<&'static str>); 3] {
    let names = |uses: fn(&Algorithm) -> bool| {
        let defaults = Algorithm::ALL.iter().filter_map(|one| Algorithm::read(one, &Map::new()).ok());
        defaults.filter(uses).map(|algorithm| algorithm.name()).collect::<Vec<_>>()
    };
    [
        ("initial_tour", names(Algorithm::takes_initial_tour)),
        ("load_population", names(Algorithm::has_population)),
        ("save_population", names(Algorithm::has_population)),
    ]
}

/// Returns the algorithm with this name, such as `lk`; `None` if there is none.
pub(super) fn algorithm_named(name: &str) -> Option<Declaration> {
    Algorithm::ALL.into_iter().find(|declaration| declaration.name == name)
}

/// Parses the name of an algorithm.
fn algorithms() -> impl TypedValueParser<Value = Declaration> {
    let names = Algorithm::ALL.map(|one| PossibleValue::new(one.name).help(one.about));
    PossibleValuesParser::new(names).try_map(|name| algorithm_named(&name).ok_or("unknown algorithm"))
}

/// What a run starts from.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Start")]
pub(super) struct BeginArgs {
    /// lk and ils: start from the tour in this file
    #[arg(long, value_name = "FILE", conflicts_with = "first_tour")]
    pub(super) initial_tour: Option<PathBuf>,
    /// ga: continue with the population in this file, and with its seed and settings unless given
    ///
    /// A larger --population repeats its tours
    #[arg(long, value_name = "FILE", conflicts_with = "initial")]
    pub(super) load_population: Option<PathBuf>,
    /// Continue the run of this checkpoint; limits count from its start
    #[arg(long, value_name = "FILE", conflicts_with_all = ["initial_tour", "load_population", "config"])]
    pub(super) resume: Option<PathBuf>,
    /// Use the settings in this JSON file, such as those of a run (--json); the command line takes precedence
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
}

/// When to stop.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Stop at the first limit reached (default 10 s; always at a proven optimum)")]
pub(super) struct StopArgs {
    /// After this time of each run, such as 10s or 2m
    ///
    /// The time of a single run counts from the start of the command
    #[arg(long, value_parser = duration)]
    pub(super) time: Option<Duration>,
    /// After this many iterations, such as 1000, or 10n for ten times the number of nodes; with lk and ils, kicks of each tour;
    /// with ga, generations of this run, where 0 means the first individuals only
    #[arg(long, value_name = "N|Xn", value_parser = iterations_or_none, conflicts_with = "descent_only")]
    pub(super) iterations: Option<Iterations>,
    /// At this cost or less
    #[arg(long, value_name = "COST", value_parser = finite)]
    pub(super) target: Option<f64>,
    /// After this many iterations without a better tour
    #[arg(long, value_name = "N", conflicts_with = "descent_only", value_parser = whole::<u64>(1..=u64::MAX))]
    pub(super) stagnation: Option<u64>,
}

/// Where the results go; `-` is the standard output.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(super) struct Outputs {
    /// Show the whole tour; without it, only the first and last twenty places if there are more than 40
    #[arg(long)]
    pub(super) print_tour: bool,
    /// Write the places in tour order as CSV: names, coordinates, costs so far
    #[arg(long, value_name = "FILE|-")]
    pub(super) csv: Option<Output>,
    /// Write the tour as a TSPLIB tour file
    #[arg(long, value_name = "FILE|-")]
    pub(super) tour: Option<Output>,
    /// Write the tour, all settings and all facts of the run as JSON
    #[arg(long, value_name = "FILE|-")]
    pub(super) json: Option<Output>,
    /// Write the tour and the places in its order as GeoJSON, if places are latitudes and longitudes
    #[arg(long, value_name = "FILE|-")]
    pub(super) geojson: Option<Output>,
    /// Write the tour as a GPX route for navigation devices, if places are latitudes and longitudes
    #[arg(long, value_name = "FILE|-")]
    pub(super) gpx: Option<Output>,
    /// Write a page that shows the tour on a map and the course of the run
    ///
    /// It is a single file for any browser, and needs no network
    #[arg(long, value_name = "FILE|-")]
    pub(super) html: Option<Output>,
    /// Write a picture of the tour
    #[arg(long, value_name = "FILE|-")]
    pub(super) svg: Option<Output>,
    /// Write the same picture as PNG
    #[arg(long, value_name = "FILE|-")]
    pub(super) png: Option<Output>,
    /// ga: write the population, for --load-population
    ///
    /// It is a TSPLIB tour file of many tours. The current generation is finished first, whatever stops the run
    #[arg(long, value_name = "FILE|-")]
    pub(super) save_population: Option<Output>,
    /// Write the proof, for `check --certificate`; implies --prove
    #[arg(long, value_name = "FILE")]
    pub(super) certificate: Option<Output>,
    /// Write the run to this file at regular intervals, for --resume
    #[arg(long, value_name = "FILE")]
    pub(super) checkpoint: Option<Output>,
    /// Time between checkpoints; there is another one at the end
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "checkpoint", default_value = "30s")]
    pub(super) every: Duration,
    /// Show a live chart of the run and of each thread and GPU; q ends it
    ///
    /// It has no effect if the standard error is no terminal, or a terminal that only prints (TERM=dumb)
    #[arg(long, conflicts_with = "quiet")]
    pub(super) live: bool,
    /// Show no progress and no summary
    #[arg(long, short)]
    pub(super) quiet: bool,
    /// Also show counters and the layout of the work in the summary
    #[arg(long, short, conflicts_with = "quiet")]
    pub(super) verbose: bool,
}

impl Args {
    /// Returns how to read the instance.
    pub(in super::super) fn reading_options(&self) -> ReadOptions {
        self.reading.options()
    }
}

impl StopArgs {
    /// Returns the limits of a run, with an internal cost as the target. A proven optimum is a target too: whichever of the two is
    /// reached first. `ends` says that the algorithm ends by itself, so that it needs no default limit; `initial` has the initial tours,
    /// one after the other. Without other limits, a run that continues has those of its checkpoint.
    pub(super) fn check(
        &self,
        ends: bool,
        instance: &Instance,
        initial: &[u32],
        resumed: Option<&Checkpoint>,
        interrupt: Arc<AtomicBool>,
    ) -> Stop {
        let asked = self.time.is_some()
            || self.iterations.is_some()
            || self.target.is_some()
            || self.stagnation.is_some();
        let given = ends || asked;
        let proven = proven_optimum(instance, initial);
        let is_patient = signals::is_patient();
        if let Some(checkpoint) = resumed.filter(|_| !asked) {
            return Stop { interrupt, is_patient, ..checkpoint.stop() };
        }
        Stop {
            time: if given { self.time } else { Some(DEFAULT_TIME) },
            before: resumed.map_or(Duration::ZERO, |checkpoint| checkpoint.elapsed),
            iterations: self.iterations.map(|i| i.count(instance.len())),
            target: self.target.map(|target| instance.inside(target)).max(proven),
            stagnation: self.stagnation,
            may_settle: !given,
            interrupt,
            is_patient,
        }
    }
}
