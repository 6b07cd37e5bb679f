//! `antwarp solve`: raw arguments, then a checked [`Plan`], then the solver, then its results.

mod args;
mod beside;
mod deliver;
mod settings;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::options::MachineArgs;
use super::progress::ProgressLine;
use super::{Error, Outcome, Result, signals};
use crate::engine::{LocalSearch, Progress, Stop, StopReason};
use crate::instance::{Instance, population_file, tour_file};
use crate::report::{Bounded, Report};
use crate::solver::genetic::{self, Crossover, Genes};
use crate::solver::{Algorithm, FEWEST, Solution, acs, mmas};
use args::{
    Name, OPTIONS, Outputs, refuse_by_crossover, refuse_by_improvement, refuse_by_kicks, refuse_by_pheromone,
    refuse_foreign,
};

pub use args::{Args, shorten_help};

/// What a command line asks of an instance.
pub(super) struct Asked {
    /// How.
    pub algorithm: Algorithm,
    /// Tours to begin with: one, or a population.
    pub initial: Option<Vec<u32>>,
    /// How long.
    pub stop: Stop,
}

/// An algorithm's name, its seed and its settings, for reports.
pub(super) fn facts(algorithm: &Algorithm) -> Result<(&'static str, u64, serde_json::Value)> {
    let settings = serde_json::to_value(algorithm);
    let settings = settings.map_err(|error| Error::Bug(format!("settings cannot be written: {error}")))?;
    Ok((algorithm.name(), algorithm.seed(), settings))
}

/// A run that has passed every check that can be made before it begins.
struct Plan {
    instance: Instance,
    source: PathBuf,
    asked: Asked,
    machine: MachineArgs,
    outputs: Outputs,
    /// A lower bound is asked for.
    bound: bool,
}

/// The option by which an algorithm runs on CPU threads alone, if there is one.
pub(super) fn on_threads(algorithm: &Algorithm) -> Option<&'static str> {
    match algorithm {
        Algorithm::Genetic(settings) if settings.crossover == Crossover::Eax => Some("--crossover eax"),
        Algorithm::Mmas(mmas::MmasSettings { local_search: Some(LocalSearch::Lk), .. })
        | Algorithm::Acs(acs::AcsSettings { local_search: Some(LocalSearch::Lk), .. }) => {
            Some("--local-search lk")
        }
        _ => None,
    }
}

/// Solves an instance. `options` are the ids of those on the command line.
pub fn run(args: Args, options: &[String]) -> Result<Outcome> {
    let begin = Instant::now();
    let interrupt = signals::watch()?;
    let mut plan = Plan::check(args, options, interrupt)?;
    let initial = plan.asked.initial.take();
    let plan = &plan;
    let Asked { algorithm, stop: whole, .. } = &plan.asked;
    let backend = match on_threads(algorithm) {
        Some(what) => plan.machine.open_threads(what, plan.outputs.quiet)?,
        None => plan.machine.open(plan.outputs.quiet)?,
    };
    let line = ProgressLine::new(plan.outputs.quiet, whole, plan.instance.best_known());
    let facts = facts(algorithm)?;
    // Who gives it ten seconds means those of reading, too.
    let reading = begin.elapsed();
    let stop = whole.spent(reading);
    let reading = reading.as_secs_f64();
    std::thread::scope(|scope| {
        let is_told = !plan.outputs.quiet || plan.outputs.json.is_some();
        let beside = beside::Plan::new(&plan.instance, plan.bound, &backend, &stop).filter(|_| is_told);
        let beside = beside.and_then(|beside| beside::Search::begin(scope, beside, &plan.instance, &stop));
        let deliver = |solution: &Solution, genes: Option<&mut Genes<'_>>| {
            let bound = beside.as_ref().and_then(beside::Search::end);
            line.finish();
            let machine = backend.machine();
            let mut report =
                Report::new(&plan.instance, &plan.source, facts.clone(), whole, machine, solution);
            let (right, wrong) =
                (bound.filter(|b| b.length <= solution.cost), bound.filter(|b| b.length > solution.cost));
            report.bound = right.map(|bound| Bounded::new(bound, solution.cost));
            report.begun_before(reading);
            plan.deliver(solution, &report, genes)?;
            wrong.map_or(Ok(()), |bound| {
                Err(Error::Bug(format!("a bound of {} beside a tour of {}", bound.length, solution.cost)))
            })
        };
        // A population is there only until the solver returns: then everything is delivered while it is.
        let mut delivered = None;
        let mut keep =
            |solution: &Solution, genes: &mut Genes<'_>| delivered = Some(deliver(solution, Some(genes)));
        let keep: Option<genetic::Keep<'_>> =
            if plan.outputs.save_population.is_some() { Some(&mut keep) } else { None };
        let observe = &mut |progress: &Progress| line.show(progress, reading);
        let solution = algorithm.solve(&plan.instance, initial, (&backend, &stop), observe, keep);
        line.finish();
        let solution = solution?;
        delivered.unwrap_or_else(|| deliver(&solution, None))?;
        match (solution.failure, solution.stopped_by) {
            (Some(failure), _) => Err(Error::CutShort(failure)),
            (None, StopReason::Interrupt) => Ok(Outcome::Interrupted),
            _ => Ok(Outcome::Done),
        }
    })
}

/// Refuses options that would do nothing.
fn refuse(args: &Args, options: &[String], name: Name) -> Result<()> {
    refuse_foreign(options, name)?;
    if name == Name::Ils {
        refuse_by_improvement(options, args.search.improvement)?;
    }
    refuse_by_kicks(args, options)
}

impl Asked {
    /// The algorithm, if the line alone tells: an option that only one of the defaults understands chooses it.
    fn name(args: &Args, options: &[String]) -> Option<Name> {
        let is_given = |id: &str| options.iter().any(|option| option == id);
        args.algorithm.or(match args.search.local_search {
            Some(search) if search == LocalSearch::None || search.is_of_ants() => Some(Name::Mmas),
            Some(_) => Some(Name::Ils),
            None => {
                OPTIONS.iter().any(|(id, users)| users[0] == Name::Ils && is_given(id)).then_some(Name::Ils)
            }
        })
    }

    /// Checks a line against an instance. `options` are the ids of those given.
    pub(super) fn check(
        args: &Args,
        options: &[String],
        instance: &Instance,
        interrupt: Arc<AtomicBool>,
    ) -> Result<Asked> {
        let by_kind = if instance.is_symmetric() { Name::Lk } else { Name::Mmas };
        let name = Asked::name(args, options).unwrap_or(by_kind);
        refuse(args, options, name)?;
        let mut algorithm = settings::algorithm(args, name)?;
        let initial = match (&args.search.initial_tour, &args.genetic.resume) {
            (Some(path), _) => Some(tour_file::read(path, instance)?),
            (None, Some(path)) => {
                let saved = population_file::read(path, instance)?;
                algorithm = Algorithm::Genetic(settings::resumed(args, options, path, &saved)?);
                Some(saved.genes)
            }
            (None, None) => None,
        };
        if let Algorithm::Acs(settings) = &algorithm {
            refuse_by_pheromone(options, settings.pheromone)?;
        }
        if let Algorithm::Genetic(settings) = &algorithm {
            refuse_by_crossover(options, settings.crossover)?;
            genetic::check_for(instance, settings)?;
        }
        let stop = args.stop.check(instance, initial.as_deref().unwrap_or_default(), interrupt);
        Ok(Asked { algorithm, initial, stop })
    }
}

impl Plan {
    fn check(args: Args, options: &[String], interrupt: Arc<AtomicBool>) -> Result<Plan> {
        let given = Asked::name(&args, options);
        if let Some(name) = given {
            refuse(&args, options, name)?;
        }
        for name in given.map_or(vec![Name::Lk, Name::Mmas], |one| vec![one]) {
            settings::algorithm(&args, name)?;
        }
        args.check_outputs()?;
        args.machine.start_threads()?;
        let instance = Instance::open(&args.instance)?;
        if args.outputs.svg.is_some() && instance.display_points().is_none() {
            let why = "has no coordinates, so there is nothing to draw: leave out --svg";
            return Err(Error::Usage(format!("{} {why}", instance.name())));
        }
        if args.bound {
            super::bound::check(&instance)?;
        }
        let asked = Asked::check(&args, options, &instance, interrupt)?;
        if args.outputs.save_population.is_some() && instance.len() < FEWEST {
            let why = "has so few nodes that every tour is looked at: leave out --save-population";
            return Err(Error::Usage(format!("{} {why}", instance.name())));
        }
        Ok(Plan {
            instance,
            source: args.instance,
            asked,
            machine: args.machine,
            outputs: args.outputs,
            bound: args.bound,
        })
    }
}
