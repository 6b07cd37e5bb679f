//! `antwarp solve`: raw arguments, then a checked [`Plan`], then the solver, then its results.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::options::{Candidates, Iterations, MachineArgs, duration, iterations_or_none};
use super::output::{self, Output};
use super::progress::ProgressLine;
use super::{Error, Outcome, Result, interrupt};
use crate::backend::Backend;
use crate::engine::Progress;
use crate::engine::start::Start;
use crate::engine::{LocalSearch, Stop, StopReason};
use crate::instance::population_file::{self, Header, Saved};
use crate::instance::{Instance, InstanceError, Metric, tour_file};
use crate::report::{Report, svg};
use crate::solver::Solution;
use crate::solver::acs::{self, Pheromone, Update};
use crate::solver::genetic::{self, Crossover, Genes, Initial, Pairing};
use crate::solver::ils::{self, Acceptance, Improvement, Moves, Neighbors};
use crate::solver::lin_kernighan;
use crate::solver::mmas::{self, Selection, TabuKind};

/// How long a run lasts if nothing says when to stop.
const DEFAULT_TIME: Duration = Duration::from_secs(10);

/// Arguments of `antwarp solve`, as they were given.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A TSPLIB or CSV file, or the name of a generated instance such as E10k.0
    #[arg(value_name = "FILE|NAME")]
    instance: String,
    /// The algorithm; if not given, lk, mmas where edges have a direction, or ils where an option asks for it
    #[arg(long, value_enum)]
    algorithm: Option<Algorithm>,
    /// Seed of all random numbers: the same seed gives the same tour after as many iterations
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    stop: StopArgs,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    colony: ColonyArgs,
    #[command(flatten)]
    genetic: GeneticArgs,
    #[command(flatten)]
    outputs: Outputs,
}

/// The algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Algorithm {
    /// Chained Lin-Kernighan
    Lk,
    /// Iterated local search
    Ils,
    /// MAX-MIN Ant System
    Mmas,
    /// Ant Colony System
    Acs,
    /// Genetic algorithm
    Ga,
}

impl std::fmt::Display for Algorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Algorithm::Lk => "lk",
            Algorithm::Ils => "ils",
            Algorithm::Mmas => "mmas",
            Algorithm::Acs => "acs",
            Algorithm::Ga => "ga",
        })
    }
}

const LK: &[Algorithm] = &[Algorithm::Lk];
const ILS: &[Algorithm] = &[Algorithm::Ils];
const TOURS: &[Algorithm] = &[Algorithm::Lk, Algorithm::Ils];
const STEPS: &[Algorithm] = &[Algorithm::Ils, Algorithm::Mmas, Algorithm::Acs, Algorithm::Ga];
const MMAS: &[Algorithm] = &[Algorithm::Mmas];
const ACS: &[Algorithm] = &[Algorithm::Acs];
const GA: &[Algorithm] = &[Algorithm::Ga];
const ANTS: &[Algorithm] = &[Algorithm::Mmas, Algorithm::Acs];

/// The options that not every algorithm uses, by their ids, and those that do.
const OPTIONS: [(&str, &[Algorithm]); 40] = [
    ("improvement", ILS),
    ("moves", ILS),
    ("start", TOURS),
    ("initial_tour", TOURS),
    ("neighbor_lists", TOURS),
    ("segment", ILS),
    ("walk", LK),
    ("accept", ILS),
    ("temperature", TOURS),
    ("chains", TOURS),
    ("trials", LK),
    ("breadth", STEPS),
    ("tile", ILS),
    ("width", ILS),
    ("ants", ANTS),
    ("candidates", ANTS),
    ("alpha", ANTS),
    ("beta", ANTS),
    ("rho", ANTS),
    ("selection", MMAS),
    ("tabu", MMAS),
    ("p_best", MMAS),
    ("deposit_best_every", MMAS),
    ("warps", MMAS),
    ("pheromone", ACS),
    ("slots", ACS),
    ("update", ACS),
    ("update_period", ACS),
    ("q0", ACS),
    ("descent_only", TOURS),
    ("crossover", GA),
    ("population", GA),
    ("groups", GA),
    ("transfer_every", GA),
    ("children", GA),
    ("mutation", GA),
    ("pairing", GA),
    ("initial", GA),
    ("resume", GA),
    ("save_population", GA),
];

/// Refuses options of other algorithms: they would do nothing. `given` are the ids of those on the command line.
fn refuse_foreign(given: &[String], algorithm: Algorithm) -> Result<()> {
    let is_foreign = |(id, users): &&(&str, &[Algorithm])| {
        !users.contains(&algorithm) && given.iter().any(|option| option == id)
    };
    let Some((id, users)) = OPTIONS.iter().find(is_foreign) else { return Ok(()) };
    let users = users.iter().map(Algorithm::to_string).collect::<Vec<_>>().join(" and ");
    let option = id.replace('_', "-");
    Err(Error::Usage(format!("--{option} is for --algorithm {users}; this run uses {algorithm}")))
}

/// Refuses options that a crossover does not use.
fn refuse_by_crossover(given: &[String], crossover: Crossover) -> Result<()> {
    let is_eax = crossover == Crossover::Eax;
    let (foreign, why): (&[&str], _) =
        if is_eax { (&["mutation", "pairing"], "does nothing with") } else { (&["children"], "is for") };
    match foreign.iter().find(|id| given.iter().any(|option| option == **id)) {
        Some(id) => Err(Error::Usage(format!("--{id} {why} --crossover eax"))),
        None => Ok(()),
    }
}

/// When to stop.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Stop (the first of these; 10 s if none; a proven optimum always)")]
struct StopArgs {
    /// After this time, such as 10s or 2m, from the begin of the command
    #[arg(long, value_parser = duration)]
    time: Option<Duration>,
    /// After this many iterations, such as 1000, or 10n for ten times as many as nodes; of lk and ils, kicks of each tour; of
    /// ga, generations of this run, and with 0 the first genes are all
    #[arg(long, value_name = "N|Xn", value_parser = iterations_or_none)]
    iterations: Option<Iterations>,
    /// At a tour this short
    #[arg(long, value_name = "COST")]
    target: Option<i64>,
    /// lk and ils: at the first local optimum, without kicks
    #[arg(long, conflicts_with_all = ["iterations", "stagnation"])]
    descent_only: bool,
    /// After this many iterations without a better tour
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    stagnation: Option<u64>,
}

/// Settings of local search.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Local search")]
struct SearchArgs {
    /// The operator that improves tours: those of the chains, those of the ants, or children, with --crossover eax the
    /// first genes alone; ils takes three-opt if not given
    #[arg(long, value_enum)]
    local_search: Option<LocalSearch>,
    /// ils: which improving move is made: the first found, in tiles, or the best of the whole tour
    #[arg(long, value_enum, default_value_t = Improvement::default())]
    improvement: Improvement,
    /// ils, with --improvement best: how many moves are made at a time
    #[arg(long, value_enum, default_value_t = Moves::default())]
    moves: Moves,
    /// lk and ils: the start tour; greedy if not given, but for lk on lattices quick-boruvka
    #[arg(long, value_enum)]
    start: Option<Start>,
    /// lk and ils: begin with the tour of this file instead
    #[arg(long, value_name = "FILE")]
    initial_tour: Option<std::path::PathBuf>,
    /// Neighbours in a node's list; 12 for ils and 8 for all others if not given
    #[arg(long, value_name = "N")]
    neighbors: Option<u32>,
    /// lk and ils: which neighbours a list holds
    #[arg(long, value_enum, default_value_t = Neighbors::default())]
    neighbor_lists: Neighbors,
    /// Neighbours that the second step of a move looks at
    #[arg(long, value_name = "N", default_value_t = ils::Settings::default().breadth)]
    breadth: u32,
    /// lk: steps of the random walks that lead from a kick's first edge to the others; if not given 20, then 40 from a kick a node on,
    /// 80 from 16 on, and 80 on lattices
    #[arg(long, value_name = "N")]
    walk: Option<u32>,
    /// ils: longest segment of a kick's double bridge; 0: four edges anywhere
    #[arg(long, value_name = "N", default_value_t = ils::Settings::default().segment)]
    segment: u32,
    /// ils: when a tour takes the place of the one before
    #[arg(long, value_enum, default_value_t = Acceptance::default())]
    accept: Acceptance,
    /// lk and ils: temperature at the start of annealing, in mean edges of the start tour
    #[arg(long, value_name = "F", default_value_t = ils::Settings::default().temperature)]
    temperature: f32,
    /// lk and ils: tours that are worked on at the same time; chosen by the number of nodes if not given
    #[arg(long, value_name = "N")]
    chains: Option<u32>,
    /// lk: kicks of each tour in a round, at whose end they are put together; chosen by the number of nodes if not given
    #[arg(long, value_name = "N")]
    trials: Option<u32>,
    /// ils: most nodes of a tile; chosen by the number of nodes if not given. With it there is one chain by default
    #[arg(long, value_name = "N")]
    tile: Option<u32>,
    /// ils: nodes that a descent looks at together, on a GPU by a warp each
    #[arg(long, value_name = "N")]
    width: Option<u32>,
}

/// Settings of the ant colony.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Ant colony")]
struct ColonyArgs {
    /// Ants: tours an iteration; chosen by the number of nodes if not given
    #[arg(long, value_name = "N")]
    ants: Option<u32>,
    /// Candidates of a node: its nearest N, or, for mmas, all
    #[arg(long, value_name = "N|all", default_value_t = Candidates::Nearest(32))]
    candidates: Candidates,
    /// mmas: node selection: weighted reservoir sampling, or roulette wheel
    #[arg(long, value_enum, default_value_t = Selection::default())]
    selection: Selection,
    /// mmas: how an ant remembers where it was
    #[arg(long, value_enum, default_value_t = TabuKind::default())]
    tabu: TabuKind,
    /// mmas: exponent of the pheromone trail, 1 if not given; acs: share of a trail of the best tour that an iteration
    /// replaces, 0.2
    #[arg(long, value_name = "F")]
    alpha: Option<f32>,
    /// Exponent of the heuristic value, 1 / distance; 2 for mmas and 3 for acs if not given
    #[arg(long, value_name = "F")]
    beta: Option<f32>,
    /// mmas: share of a trail that stays when it evaporates, 0.9 if not given; acs: share of a trail that an ant
    /// replaces as it passes, 0.01
    #[arg(long, value_name = "F")]
    rho: Option<f64>,
    /// mmas: probability of building the best tour once the colony has converged
    #[arg(long, value_name = "F", default_value_t = mmas::Settings::default().p_best)]
    p_best: f64,
    /// mmas: the best tour of all deposits every N iterations, else the iteration's best; 0: never. Always with local
    /// search, never without, if not given
    #[arg(long, value_name = "N")]
    deposit_best_every: Option<u32>,
    /// mmas: warps an ant on a GPU without candidate lists; measured if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    warps: Option<u32>,
    /// acs: which edges have a pheromone trail: all, those to candidates, or the few of each node taken last
    #[arg(long, value_enum, default_value_t = Pheromone::default())]
    pheromone: Pheromone,
    /// acs: edges that a node of a selective pheromone memory remembers
    #[arg(long, value_name = "N", default_value_t = acs::Settings::default().slots)]
    slots: u32,
    /// acs: how ants go, and how their updates of trails meet: whole tours and relaxed, step by step together and
    /// atomic, or step by step one after the other on one CPU thread
    #[arg(long, value_enum, default_value_t = Update::default())]
    update: Update,
    /// acs: every N-th edge that an ant takes is updated; 0: none
    #[arg(long, value_name = "N", default_value_t = acs::Settings::default().period)]
    update_period: u32,
    /// acs: probability of taking the best edge; (n - 20) / n if not given
    #[arg(long, value_name = "F")]
    q0: Option<f64>,
}

/// Settings of the genetic algorithm.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Genetic algorithm")]
struct GeneticArgs {
    /// ga: how children are made of their parents
    #[arg(long, value_enum, default_value_t = Crossover::default())]
    crossover: Crossover,
    /// ga: genes, a multiple of 4 times --groups, for eax of --groups; 2048 and for eax 300 if not given, or those of
    /// --resume, of whose number it is a multiple
    #[arg(long, value_name = "N")]
    population: Option<u32>,
    /// ga: groups that evolve on their own; 8, and 1 for eax, if not given
    #[arg(long, value_name = "N")]
    groups: Option<u32>,
    /// ga: generations between transfers of each group's best gene to another group; 0: never; 20, and 0 for eax, if not
    /// given
    #[arg(long, value_name = "N")]
    transfer_every: Option<u32>,
    /// ga, with --crossover eax: children of a pair, at most; the best of them takes a parent's place
    #[arg(long, value_name = "N", default_value_t = genetic::Settings::default().children)]
    children: u32,
    /// ga, not with --crossover eax: share of the children that mutate
    #[arg(long, value_name = "F", default_value_t = genetic::Settings::default().mutation)]
    mutation: f64,
    /// ga, not with --crossover eax: rivals and partners: the same places always, or drawn anew for every generation
    #[arg(long, value_enum, default_value_t = Pairing::default())]
    pairing: Pairing,
    /// ga: what the first genes are; random, and local-optima for eax, if not given
    #[arg(long, value_enum)]
    initial: Option<Initial>,
    /// ga: go on with the population of this file, and with its seed and its settings where they are not given. A larger
    /// --population repeats its genes
    #[arg(long, value_name = "FILE", conflicts_with = "initial")]
    resume: Option<PathBuf>,
}

/// Where the results go; `-` is the standard output.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
struct Outputs {
    /// Write the tour as a TSPLIB tour file
    #[arg(long, value_name = "FILE|-")]
    tour: Option<Output>,
    /// Write the tour, all settings and all facts of the run as JSON
    #[arg(long, value_name = "FILE|-")]
    json: Option<Output>,
    /// Write a picture of the tour
    #[arg(long, value_name = "FILE|-")]
    svg: Option<Output>,
    /// ga: write all genes as a TSPLIB tour file of many tours, which --resume reads. The generation under way is finished
    /// before, whatever stops the run
    #[arg(long, value_name = "FILE|-")]
    save_population: Option<Output>,
    /// Show no progress and no summary
    #[arg(long, short)]
    quiet: bool,
}

/// An algorithm with its checked settings.
enum Chosen {
    Lk(lin_kernighan::Settings),
    Ils(ils::Settings),
    Mmas(mmas::Settings),
    Acs(acs::Settings),
    Ga(genetic::Settings),
}

impl Chosen {
    fn check(args: &Args, algorithm: Algorithm) -> Result<Chosen> {
        let colony = &args.colony;
        let search = &args.search;
        if args.stop.descent_only && !TOURS.contains(&algorithm) {
            return Err(Error::Usage("--descent-only is for --algorithm ils".to_owned()));
        }
        if args.stop.iterations == Some(Iterations::Count(0)) && algorithm != Algorithm::Ga {
            let what = "--iterations must be at least 1, or a multiple of the nodes such as 0.1n or 10n";
            return Err(Error::Usage(format!("{what}; 0 is for --algorithm ga")));
        }
        match algorithm {
            Algorithm::Lk => {
                let default = lin_kernighan::Settings::default();
                let settings = lin_kernighan::Settings {
                    seed: args.seed,
                    neighbors: search.neighbors.unwrap_or(default.neighbors),
                    neighbor_lists: search.neighbor_lists,
                    start: search.start,
                    walk: search.walk,
                    temperature: search.temperature,
                    chains: search.chains,
                    trials: search.trials,
                    descent_only: args.stop.descent_only,
                };
                settings.check()?;
                Ok(Chosen::Lk(settings))
            }
            Algorithm::Ils => {
                let settings = ils::Settings {
                    seed: args.seed,
                    local_search: search.local_search.unwrap_or_default(),
                    neighbors: search.neighbors.unwrap_or(ils::Settings::default().neighbors),
                    neighbor_lists: search.neighbor_lists,
                    breadth: search.breadth,
                    start: search.start.unwrap_or_default(),
                    segment: search.segment,
                    accept: search.accept,
                    temperature: search.temperature,
                    chains: search.chains,
                    tile: search.tile,
                    width: search.width,
                    improvement: search.improvement,
                    moves: search.moves,
                    descent_only: args.stop.descent_only,
                };
                settings.check()?;
                Ok(Chosen::Ils(settings))
            }
            Algorithm::Mmas => {
                let default = mmas::Settings::default();
                let settings = mmas::Settings {
                    seed: args.seed,
                    ants: colony.ants,
                    candidates: colony.candidates.count(),
                    alpha: colony.alpha.unwrap_or(default.alpha),
                    beta: colony.beta.unwrap_or(default.beta),
                    rho: colony.rho.unwrap_or(default.rho),
                    p_best: colony.p_best,
                    selection: colony.selection,
                    tabu: colony.tabu,
                    warps: colony.warps,
                    deposit_best_every: colony.deposit_best_every,
                    local_search: search.local_search.unwrap_or(LocalSearch::None),
                    neighbors: search.neighbors.unwrap_or(default.neighbors),
                    breadth: search.breadth,
                };
                settings.check()?;
                Ok(Chosen::Mmas(settings))
            }
            Algorithm::Acs => {
                let default = acs::Settings::default();
                let Some(candidates) = colony.candidates.count() else {
                    return Err(Error::Usage(
                        "acs needs candidate lists: give --candidates a number".to_owned(),
                    ));
                };
                let settings = acs::Settings {
                    seed: args.seed,
                    ants: colony.ants,
                    candidates,
                    beta: colony.beta.unwrap_or(default.beta),
                    alpha: colony.alpha.unwrap_or(default.alpha),
                    rho: colony.rho.map_or(default.rho, |rho| rho as f32),
                    q0: colony.q0,
                    period: colony.update_period,
                    pheromone: colony.pheromone,
                    slots: colony.slots,
                    update: colony.update,
                    local_search: search.local_search.unwrap_or(LocalSearch::None),
                    neighbors: search.neighbors.unwrap_or(default.neighbors),
                    breadth: search.breadth,
                };
                settings.check()?;
                Ok(Chosen::Acs(settings))
            }
            Algorithm::Ga => {
                let settings = genetic_settings(args, &[], genetic::Settings::of(args.genetic.crossover));
                // With a file, what is not given is not known yet.
                if args.genetic.resume.is_none() {
                    settings.check()?;
                }
                Ok(Chosen::Ga(settings))
            }
        }
    }

    /// Its name, its seed and its settings, for reports.
    fn facts(&self) -> Result<(&'static str, u64, serde_json::Value)> {
        let bug = |error: serde_json::Error| Error::Bug(format!("settings cannot be written: {error}"));
        match self {
            Chosen::Lk(settings) => Ok(("lk", settings.seed, serde_json::to_value(settings).map_err(bug)?)),
            Chosen::Ils(settings) => Ok(("ils", settings.seed, serde_json::to_value(settings).map_err(bug)?)),
            Chosen::Mmas(settings) => {
                Ok(("mmas", settings.seed, serde_json::to_value(settings).map_err(bug)?))
            }
            Chosen::Acs(settings) => Ok(("acs", settings.seed, serde_json::to_value(settings).map_err(bug)?)),
            Chosen::Ga(settings) => Ok(("ga", settings.seed, serde_json::to_value(settings).map_err(bug)?)),
        }
    }

    /// Solves an instance; `initial` are the tours to begin with, if there are any. `keep` is called if there is a
    /// population to save.
    fn solve(
        &self,
        instance: &Instance,
        initial: Option<Vec<u32>>,
        (backend, stop): (&Backend, &Stop),
        observe: &mut dyn FnMut(&Progress),
        keep: Option<genetic::Keep<'_>>,
    ) -> Result<Solution> {
        Ok(match self {
            Chosen::Lk(settings) => {
                lin_kernighan::solve(instance, settings, initial.as_deref(), backend, stop, observe)?
            }
            Chosen::Ils(settings) => {
                ils::solve(instance, settings, initial.as_deref(), backend, stop, observe)?
            }
            Chosen::Mmas(settings) => mmas::solve(instance, settings, backend, stop, observe)?,
            Chosen::Acs(settings) => acs::solve(instance, settings, backend, stop, observe)?,
            Chosen::Ga(settings) => {
                genetic::solve(instance, settings, initial, backend, stop, observe, keep)?
            }
        })
    }
}

/// The settings of the genetic algorithm: those on the command line, whose ids are `given`, or all if there is no file
/// to take others from; else those of `base`.
fn genetic_settings(args: &Args, given: &[String], base: genetic::Settings) -> genetic::Settings {
    let genetic = &args.genetic;
    let is_given = |id: &str| genetic.resume.is_none() || given.iter().any(|option| option == id);
    fn either<T>(is_given: bool, given: T, base: T) -> T {
        if is_given { given } else { base }
    }
    genetic::Settings {
        seed: either(is_given("seed"), args.seed, base.seed),
        crossover: either(is_given("crossover"), genetic.crossover, base.crossover),
        population: genetic.population.or(base.population),
        groups: genetic.groups.unwrap_or(base.groups),
        transfer_every: genetic.transfer_every.unwrap_or(base.transfer_every),
        children: either(is_given("children"), genetic.children, base.children),
        mutation: either(is_given("mutation"), genetic.mutation, base.mutation),
        pairing: either(is_given("pairing"), genetic.pairing, base.pairing),
        initial: if genetic.resume.is_some() {
            Initial::File
        } else {
            genetic.initial.unwrap_or(base.initial)
        },
        first_generation: base.first_generation,
        local_search: args.search.local_search.unwrap_or(base.local_search),
        neighbors: args.search.neighbors.unwrap_or(base.neighbors),
        breadth: either(is_given("breadth"), args.search.breadth, base.breadth),
    }
}

/// The settings for a population of a file: those given count, the others are the file's.
fn resumed(args: &Args, given: &[String], path: &Path, saved: &Saved) -> Result<genetic::Settings> {
    let crossover = if given.iter().any(|option| option == "crossover") {
        args.genetic.crossover
    } else {
        Crossover::default()
    };
    let mut base = genetic::Settings::of(crossover);
    if let Some(header) = &saved.header {
        base = serde_json::from_value(header.settings.clone()).map_err(|error| {
            let problem = format!("the settings of the population cannot be used: {error}");
            let help = "it was written by another version of antwarp, or edited: take out its comment";
            InstanceError::content(path.to_string_lossy(), problem, help)
        })?;
        base.first_generation = header.generation;
    }
    base.population = Some(saved.count);
    let settings = genetic_settings(args, given, base);
    let (genes, count) = (settings.genes(), saved.count);
    if !genes.is_multiple_of(count) {
        let path = path.display();
        let what = format!("--population must be a multiple of the {count} genes of {path}, not {genes}");
        return Err(Error::Usage(what));
    }
    // The file is to blame for what nobody asked for.
    let is_paired = settings.crossover != Crossover::Eax;
    if is_paired
        && args.genetic.population.is_none()
        && !genes.is_multiple_of(settings.groups.max(1).saturating_mul(4))
    {
        let problem =
            format!("{genes} genes are no {} groups of equal size, a multiple of 4", settings.groups);
        let help = "give other --groups, or a --population that is a multiple of 4 times the groups and of the genes";
        return Err(InstanceError::content(path.to_string_lossy(), problem, help).into());
    }
    settings.check()?;
    Ok(settings)
}

/// A run that has passed every check that can be made before it begins.
struct Plan {
    instance: Instance,
    source: String,
    chosen: Chosen,
    /// Tours to begin with: one, or a population.
    initial: Option<Vec<u32>>,
    stop: Stop,
    machine: MachineArgs,
    outputs: Outputs,
}

/// Solves an instance. `options` are the ids of those on the command line.
pub fn run(args: Args, options: &[String]) -> Result<Outcome> {
    let begin = Instant::now();
    let interrupt = interrupt::watch()?;
    let mut plan = Plan::check(args, options, interrupt)?;
    let initial = plan.initial.take();
    let plan = &plan;
    let backend = match &plan.chosen {
        Chosen::Ga(settings) if settings.crossover == Crossover::Eax => {
            plan.machine.open_threads("--crossover eax", plan.outputs.quiet)?
        }
        _ => plan.machine.open(plan.outputs.quiet)?,
    };
    let line = ProgressLine::new(plan.outputs.quiet, &plan.stop, plan.instance.best_known());
    let facts = plan.chosen.facts()?;
    // Who gives it ten seconds means those of reading, too.
    let reading = begin.elapsed();
    let stop = Stop { time: plan.stop.time.map(|time| time.saturating_sub(reading)), ..plan.stop.clone() };
    let reading = reading.as_secs_f64();
    let deliver = |solution: &Solution, genes: Option<&mut Genes<'_>>| {
        line.finish();
        let machine = backend.machine();
        let mut report =
            Report::new(&plan.instance, &plan.source, facts.clone(), &plan.stop, machine, solution);
        report.seconds += reading;
        report.setup_seconds += reading;
        plan.deliver(solution, &report, genes)
    };
    // A population is there only until the solver returns: then everything is delivered while it is.
    let mut delivered = None;
    let mut keep =
        |solution: &Solution, genes: &mut Genes<'_>| delivered = Some(deliver(solution, Some(genes)));
    let keep: Option<genetic::Keep<'_>> =
        if plan.outputs.save_population.is_some() { Some(&mut keep) } else { None };
    let observe = &mut |progress: &Progress| line.show(progress, reading);
    let solution = plan.chosen.solve(&plan.instance, initial, (&backend, &stop), observe, keep);
    line.finish();
    let solution = solution?;
    delivered.unwrap_or_else(|| deliver(&solution, None))?;
    match (solution.failure, solution.stopped_by) {
        (Some(failure), _) => Err(Error::CutShort(failure)),
        (None, StopReason::Interrupt) => Ok(Outcome::Interrupted),
        _ => Ok(Outcome::Done),
    }
}

impl Plan {
    fn check(args: Args, options: &[String], interrupt: Arc<AtomicBool>) -> Result<Plan> {
        // An option that only one of the defaults understands chooses it.
        let is_given = |id: &str| options.iter().any(|option| option == id);
        let given = args.algorithm.or(match args.search.local_search {
            Some(LocalSearch::None) => Some(Algorithm::Mmas),
            Some(_) => Some(Algorithm::Ils),
            None => OPTIONS
                .iter()
                .any(|(id, users)| users[0] == Algorithm::Ils && is_given(id))
                .then_some(Algorithm::Ils),
        });
        if let Some(algorithm) = given {
            refuse_foreign(options, algorithm)?;
        }
        for algorithm in given.map_or(vec![Algorithm::Lk, Algorithm::Mmas], |one| vec![one]) {
            Chosen::check(&args, algorithm)?;
        }
        args.outputs.check(Path::new(&args.instance))?;
        args.machine.start_threads()?;
        let instance = Instance::open(&args.instance)?;
        let by_kind = if instance.is_symmetric() { Algorithm::Lk } else { Algorithm::Mmas };
        let algorithm = given.unwrap_or(by_kind);
        refuse_foreign(options, algorithm)?;
        let mut chosen = Chosen::check(&args, algorithm)?;
        if args.outputs.svg.is_some() && instance.display_points().is_none() {
            let why = "has no coordinates, so there is nothing to draw: leave out --svg";
            return Err(Error::Usage(format!("{} {why}", instance.name())));
        }
        let initial = match (&args.search.initial_tour, &args.genetic.resume) {
            (Some(path), _) => Some(tour_file::read(path, &instance)?),
            (None, Some(path)) => {
                let saved = population_file::read(path, &instance)?;
                chosen = Chosen::Ga(resumed(&args, options, path, &saved)?);
                Some(saved.genes)
            }
            (None, None) => None,
        };
        if let Chosen::Ga(settings) = &chosen {
            refuse_by_crossover(options, settings.crossover)?;
            genetic::check_for(&instance, settings)?;
            if args.outputs.save_population.is_some() && instance.len() < settings.fewest_nodes() {
                let why = "has so few nodes that every tour is looked at: leave out --save-population";
                return Err(Error::Usage(format!("{} {why}", instance.name())));
            }
        }
        let stop = args.stop.check(&instance, initial.as_deref().unwrap_or_default(), interrupt);
        Ok(Plan {
            instance,
            source: args.instance,
            chosen,
            initial,
            stop,
            machine: args.machine,
            outputs: args.outputs,
        })
    }

    /// Writes everything that was asked for. A tour whose output fails is written elsewhere.
    fn deliver(&self, solution: &Solution, report: &Report, genes: Option<&mut Genes<'_>>) -> Result<()> {
        let mut safe = false;
        let mut failure = None;
        for (is_tour, written) in [
            (true, self.write_tour(solution)),
            (true, self.write_json(report)),
            (false, self.write_svg(solution)),
            (false, self.write_population(solution, genes)),
        ] {
            match written {
                Ok(done) => safe |= is_tour && done,
                // Whoever closed the pipe has what he wants.
                Err(error) if error.status() == 0 => safe |= is_tour,
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        match failure {
            None => self.summarize(report),
            Some(error) if safe => Err(error),
            Some(error) => Err(self.rescue(solution, error)),
        }
    }

    fn write_tour(&self, solution: &Solution) -> Result<bool> {
        let Some(output) = &self.outputs.tour else { return Ok(false) };
        let (tour, cost) = (&solution.tour, solution.cost);
        output.write(|mut out| tour_file::write(&self.instance, tour, cost, &mut out)).map(|()| true)
    }

    fn write_json(&self, report: &Report) -> Result<bool> {
        let Some(output) = &self.outputs.json else { return Ok(false) };
        let content = |out: &mut dyn std::io::Write| {
            serde_json::to_writer(&mut *out, report)?;
            writeln!(out)
        };
        output.write(content).map(|()| true)
    }

    fn write_svg(&self, solution: &Solution) -> Result<bool> {
        let (Some(output), Some(places)) = (&self.outputs.svg, self.instance.display_points()) else {
            return Ok(false);
        };
        let (tour, cost) = (&solution.tour, solution.cost);
        let caption = format!("{} · {} nodes · length {cost}", self.instance.name(), tour.len());
        let is_globe = self.instance.metric() == Some(Metric::Geo);
        output.write(|out| svg::write(out, &places, is_globe, tour, &caption)).map(|()| true)
    }

    /// Of a run that failed, what can be had: then its failure is the one to tell, and this one is a line.
    fn write_population(&self, solution: &Solution, genes: Option<&mut Genes<'_>>) -> Result<bool> {
        let (Some(output), Some(genes)) = (&self.outputs.save_population, genes) else { return Ok(false) };
        match self.save_genes(output, genes) {
            Err(error) if solution.failure.is_some() => {
                output::tell(&format!("antwarp: the population is lost: {error}"));
                Ok(false)
            }
            other => other.map(|()| false),
        }
    }

    /// Writes gene by gene.
    fn save_genes(&self, output: &Output, genes: &mut Genes<'_>) -> Result<()> {
        let (_, _, mut settings) = self.chosen.facts()?;
        let lengths = genes.lengths()?;
        if let Some(settings) = settings.as_object_mut() {
            settings.insert("population".to_owned(), lengths.len().into());
            // What the genes were before does not count any more.
            settings.remove("initial");
            settings.remove("first_generation");
        }
        let header = Header {
            genes: lengths.len() as u32,
            generation: genes.generation(),
            shortest: lengths.iter().copied().min().unwrap_or(i64::MAX),
            settings,
        };
        let genes = (0..).zip(lengths).map(|(place, length)| genes.gene(place, length));
        let genes = genes.map(|gene| gene.map_err(std::io::Error::other));
        output.write(|out| population_file::write(&self.instance, &header, genes, out))
    }

    /// Keeps a tour that could not go where it should: in the folder for temporary files, else on the standard
    /// output. The error says where.
    fn rescue(&self, solution: &Solution, error: Error) -> Error {
        let name: String =
            self.instance.name().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let file = format!("antwarp-{name:.60}-{}.tour", std::process::id());
        let path = std::env::temp_dir().join(file);
        let (tour, cost) = (&solution.tour, solution.cost);
        let place = match tour_file::save(&self.instance, tour, &path) {
            Ok(()) => format!("the tour was written to {} instead", path.display()),
            Err(_) => match output::print(|mut out| tour_file::write(&self.instance, tour, cost, &mut out)) {
                Ok(()) => "the tour was written to the standard output instead".to_owned(),
                Err(_) => "the tour could not be written anywhere else either".to_owned(),
            },
        };
        Error::Rescued { first: Box::new(error), place }
    }

    fn summarize(&self, report: &Report) -> Result<()> {
        if self.outputs.quiet {
            return Ok(());
        }
        let mut text = report.to_string();
        for (name, output) in self.outputs.named() {
            if let Output::File(path) = output {
                text += &format!("{name:<12} {}\n", path.display());
            }
        }
        if self.outputs.all().any(Output::is_stdout) {
            output::tell(text.trim_end());
            return Ok(());
        }
        match output::print(|out| out.write_all(text.as_bytes())) {
            Err(error) if error.status() == 0 => Ok(()),
            other => other,
        }
    }
}

impl Outputs {
    fn named(&self) -> impl Iterator<Item = (&'static str, &Output)> {
        let named = [
            ("tour", &self.tour),
            ("json", &self.json),
            ("svg", &self.svg),
            ("population", &self.save_population),
        ];
        named.into_iter().filter_map(|(name, output)| output.as_ref().map(|output| (name, output)))
    }

    fn all(&self) -> impl Iterator<Item = &Output> {
        self.named().map(|(_, output)| output)
    }

    /// Refuses what could not be written after the run.
    fn check(&self, instance: &Path) -> Result<()> {
        let all: Vec<&Output> = self.all().collect();
        output::check_apart(&all, instance)?;
        all.into_iter().try_for_each(Output::check)
    }
}

impl StopArgs {
    /// A proven optimum is a target too: whichever of the two is reached first. Not so if one of the tours to begin
    /// with is shorter: then it is the optimum of another instance.
    fn check(&self, instance: &Instance, initial: &[u32], interrupt: Arc<AtomicBool>) -> Stop {
        let given = self.time.is_some()
            || self.iterations.is_some()
            || self.target.is_some()
            || self.descent_only
            || self.stagnation.is_some();
        let optimum = instance.best_known().filter(|known| known.proven).map(|known| known.cost);
        let optimum = optimum.filter(|&optimum| !is_beaten(optimum, instance, initial));
        Stop {
            time: if given { self.time } else { Some(DEFAULT_TIME) },
            iterations: self.iterations.map(|i| i.count(instance.len())),
            target: self.target.max(optimum),
            stagnation: self.stagnation,
            interrupt,
        }
    }
}

/// Whether one of these tours, which stand one after the other, is shorter than `length`.
fn is_beaten(length: i64, instance: &Instance, tours: &[u32]) -> bool {
    tours.chunks(instance.len()).any(|tour| instance.check_tour(tour).is_ok_and(|cost| cost < length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Args as _;

    #[test]
    fn any_initial_tour_can_beat_a_length() {
        let corners = [[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [3.0, 4.0, 0.0], [0.0, 4.0, 0.0]];
        let square = Instance::from_points("square", Metric::Euc2d, corners.to_vec()).unwrap();
        // Lengths 16 and 14.
        let tours = [2, 0, 1, 3, 0, 1, 2, 3];
        assert!(is_beaten(15, &square, &tours) && is_beaten(17, &square, &tours[..4]));
        assert!(!is_beaten(14, &square, &tours) && !is_beaten(16, &square, &tours[..4]));
        assert!(!is_beaten(100, &square, &[]));
    }

    /// The help of an option of one algorithm begins with its name: the table and the help say the same.
    #[test]
    fn every_option_of_one_algorithm_is_in_the_table() {
        let command = Args::augment_args(clap::Command::new("solve"));
        for (id, users) in OPTIONS {
            let option = command.get_arguments().find(|argument| argument.get_id() == id);
            let option = option.unwrap_or_else(|| panic!("there is no option {id}"));
            assert_eq!(option.get_long(), Some(id.replace('_', "-").as_str()));
            assert!(!users.is_empty());
        }
        for option in command.get_arguments() {
            let help = option.get_help().map_or_else(String::new, ToString::to_string);
            let heading = option.get_help_heading().unwrap_or_default();
            let entry = OPTIONS.iter().find(|(id, _)| option.get_id() == id);
            for (prefix, users) in
                [("lk", LK), ("ils", ILS), ("lk and ils", TOURS), ("mmas", MMAS), ("acs", ACS), ("ga", GA)]
            {
                let alone =
                    help.starts_with(&format!("{prefix}: ")) || help.starts_with(&format!("{prefix}, "));
                // Those that mean another thing to each name both.
                if alone && !help.contains("; acs: ") {
                    assert_eq!(entry.map(|entry| entry.1), Some(users), "{}", option.get_id());
                }
            }
            assert!(heading != "Ant colony" || entry.is_some(), "{}", option.get_id());
        }
    }
}
