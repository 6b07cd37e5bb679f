//! `antwarp solve`: raw arguments, then a checked [`Plan`], then the solver, then its results.

mod args;
mod checkpoint;
mod config;
mod deliver;
mod help;
mod keeper;
mod population;
mod proof;
mod ranks;
mod settings;
mod several;

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::error::once;
use super::live::{Beside, Subject};
use super::options::{MachineArgs, Share};
use super::progress::ProgressLine;
use super::reading::announce_tour;
use super::{Error, Outcome, Result, checkpoints, output, signals};
use crate::cluster::{self, Facts, Ledger, Topology, World};
use crate::engine::{BackendError, Observe, Progress, Snapshot, Stop, StopReason, Voyager};
use crate::instance::{Instance, patience, population_file, tour_file};
use crate::memory::spare;
use crate::report::Report;
use crate::solver::bounds::{self, beside};
use crate::solver::checkpoint::{Checkpoint, Checkpoints, Recorder};
use crate::solver::genetic::{self, Individuals};
use crate::solver::proof as proving;
use crate::solver::resumed::Island;
use crate::solver::{Algorithm, DEFAULT_TIME, FEWEST, Solution, check_resolution};
use args::Outputs;
use keeper::Keeper;
use proof::Prove;
use ranks::Crew;
use settings::Wanted;

pub use args::Args;
pub use help::shape;

/// What a command line requests for an instance.
pub(super) struct Asked {
    /// How to solve it.
    pub algorithm: Algorithm,
    /// Initial tours: one, or those of a population, one after the other.
    pub initial: Option<Vec<u32>>,
    /// When to stop.
    pub stop: Stop,
}

/// Returns an algorithm's name, seed and settings (a JSON object of all of them), for reports.
///
/// # Errors
/// [`Error::Bug`], if the settings cannot be written.
pub(super) fn facts(algorithm: &Algorithm) -> Result<(&'static str, u64, serde_json::Value)> {
    let settings = serde_json::to_value(algorithm);
    let settings = settings.map_err(|error| Error::Bug(format!("settings cannot be written: {error}")))?;
    Ok((algorithm.name(), algorithm.seed(), settings))
}

/// A run that has passed every check that can be made before it starts.
struct Plan {
    instance: Arc<Instance>,
    source: PathBuf,
    asked: Asked,
    machine: MachineArgs,
    outputs: Outputs,
    /// The run to continue.
    resumed: Option<Checkpoint>,
    /// Whether a lower bound is requested, or takes the place of a proof that is not possible.
    bound: bool,
    /// Whether a proof is requested.
    asks_proof: bool,
    /// Whether one is possible, too.
    proves: bool,
    /// What `--prove` says.
    prove: Prove,
    /// The target as given.
    target: Option<f64>,
    /// The node where the tour should start, from 0.
    start: Option<u32>,
    /// Which ranks each rank sends its tours to.
    topology: Topology,
}

/// Solves an instance. `options` are the ids of the options on the command line.
pub fn run(mut args: Args, options: &[String]) -> Result<Outcome> {
    let begin = Instant::now();
    let world = cluster::join().map_err(|why| once(Error::Usage(why)))?;
    let interrupt = signals::watch(signals::WITH_TOUR)?;
    if args.are_several() {
        let alone =
            Error::Usage("several instances or runs are for a single process: leave out mpirun".into());
        return if world.is_some() { Err(once(alone)) } else { several::run(&args, options, &interrupt) };
    }
    if args.jobs.is_some_and(|jobs| jobs > 1) && !args.outputs.quiet {
        output::tell("antwarp: --jobs has no effect: there is a single run");
    }
    patience::until(args.stop.time.and_then(|time| begin.checked_add(time)));
    let Some(world) = &world else { return lead(args, options, interrupt, begin, None) };
    args.machine.share = Share { local: world.local(), threads: Some(world.threads()) };
    let ended = match world.rank() {
        0 => lead(args, options, interrupt, begin, Some(world)),
        _ => ranks::follow(world, &args.machine, &interrupt, begin),
    };
    // The outputs are safe from here on.
    world.leave();
    ended
}

/// Runs as a single process, or as rank 0.
fn lead(
    args: Args,
    options: &[String],
    interrupt: Arc<AtomicBool>,
    begin: Instant,
    world: Option<&World>,
) -> Result<Outcome> {
    let prepared = Plan::check(args, options, interrupt.clone(), world.is_some()).and_then(|mut plan| {
        let initial = (plan.asked.initial.take(), plan.resumed.take());
        let backend = plan.machine.open_for(&plan.asked.algorithm, &plan.instance, plan.outputs.quiet)?;
        let orders = world.map(|_| plan.orders(initial.0.as_deref(), initial.1.is_some())).transpose()?;
        // Once the other ranks have their orders, they count on rank 0.
        let facts = facts(&plan.asked.algorithm)?;
        Ok((plan, initial, backend, (orders, facts)))
    });
    let (plan, (initial, resumed), backend, (orders, facts)) = match (prepared, world) {
        (Err(error), Some(world)) => {
            // The other ranks have nothing to do.
            world.share(None);
            return Err(error);
        }
        (prepared, _) => prepared?,
    };
    let plan = &plan;
    spare::keep(plan.instance.len());
    if let Some(world) = world {
        world.share(orders);
    }
    let Asked { algorithm, stop: whole, .. } = &plan.asked;
    let subject = Subject {
        instance: plan.instance.clone(),
        stop: whole.clone(),
        machine: backend.machine(),
        made: algorithm.makes(),
        known: plan.instance.best_known(),
    };
    let line = ProgressLine::new((plan.outputs.quiet, plan.outputs.live), subject);
    // A time limit includes the time for reading.
    let reading = begin.elapsed();
    let stop = whole.spent(reading);
    let reading = reading.as_secs_f64();
    let mut checkpoints = plan.checkpoints(Duration::from_secs_f64(reading), resumed.as_ref(), &line);
    let (mut recorder, mut own) = (None, Island::default());
    let crew = world.map(|world| {
        let size = world.size();
        if let Some(checkpoint) = &resumed {
            // One at a time: a state may be large, and there may be many ranks.
            let runs = checkpoint.runs();
            for (to, number) in (0..).zip(runs.numbers(size as usize)) {
                match to {
                    0 => own = runs.island(number),
                    _ => world.deal(to, runs.island(number).to_bytes()),
                }
            }
        }
        let recorders = checkpoints.as_mut().map(|checkpoints| checkpoints.for_each_run(size));
        let ledger = recorders.map(|mut recorders| {
            recorder = Some(recorders.remove(0));
            Ledger::Kept(recorders)
        });
        Crew::begin(world, &plan.instance, &stop, (plan.topology, ledger), &interrupt)
    });
    let (crew, checkpoints) = (crew.as_ref(), Mutex::new(checkpoints));
    std::thread::scope(|scope| {
        let is_told = !plan.outputs.quiet || plan.outputs.json.is_some();
        // A bound starts anew when a run continues.
        let ahead = stop.spent(stop.before);
        let beside = beside::Plan::new(&plan.instance, plan.bound, &backend, &ahead);
        let beside = beside.filter(|_| is_told && !plan.proves);
        let beside = beside.and_then(|beside| beside::Search::begin(scope, beside, &plan.instance, &ahead));
        // What this rank finds reaches rank 0 with what the others find.
        let (tell, better) = sync_channel(1);
        let last = tell.clone();
        let better = crew.map_or(Some(better), Crew::better);
        // A run that continues finds its tour anew, and perhaps another one for a while.
        let known = resumed.as_ref().map(|checkpoint| {
            let (cost, tour) = checkpoint.best.clone();
            Arc::new(Voyager { from: 0, cost, tour })
        });
        let keeper = better.and_then(|better| Keeper::begin(scope, plan, (better, known), &line));
        let (proven, raised) = (RefCell::new(None), Mutex::new(Vec::new()));
        let deliver =
            |solution: &Solution, islands: Option<Facts>, individuals: Option<&mut Individuals<'_>>| {
                if plan.bound {
                    // It may take long until the bound is known.
                    let Solution { cost, ref tour, .. } = *solution;
                    _ = last.try_send(Arc::new(Voyager { from: 0, cost, tour: tour.clone() }));
                }
                // The last checkpoint is written before the summary names the file.
                drop(taken(&checkpoints).take());
                let bound = beside.as_ref().and_then(beside::Search::end);
                let kept = keeper.as_ref().and_then(|keeper| keeper.end().path.as_deref());
                line.finish();
                let machine = backend.machine();
                let mut report =
                    Report::new(&plan.instance, &plan.source, facts.clone(), whole, machine, solution);
                report.set_target(plan.target);
                let proof = proven.borrow_mut().take();
                report.set_best_bound(&plan.instance, solution, (bound, proof.as_ref()));
                report.set_bound_trace(&plan.instance, &taken(&raised));
                report.islands = islands;
                report.set_start(&plan.instance, plan.start);
                report.begun_before(reading);
                if plan.outputs.json.is_some() || plan.outputs.html.is_some() {
                    report.add_route(&plan.instance, &solution.tour);
                }
                let is_proven = solution.stopped_by == StopReason::Optimal
                    || bound.is_some_and(|bound| plan.instance.is_impossible(bound.length));
                let asked = proof.as_ref().filter(|_| plan.asks_proof);
                if let Some(trouble) = asked.and_then(|proof| proof.outcome.trouble.as_ref()) {
                    line.tell(&format!("the proof is not complete: {trouble}"));
                }
                plan.deliver(solution, &report, (individuals, proof.as_ref()), kept)?;
                match bound.filter(|bound| bound.length > solution.cost) {
                    Some(bound) => Err(Error::Bug(format!(
                        "a bound of {} contradicts a tour of {}",
                        bound.length, solution.cost
                    ))),
                    None => refuse_forbidden(&report, is_proven),
                }
            };
        let is_optimal = AtomicBool::new(false);
        // The actual reason for stopping is known here: a proof by the bound, or a published optimum.
        let conclude = |solution: &mut Solution| {
            // A backend that failed may have lost the tour that it had before.
            let kept = keeper.as_ref().filter(|_| solution.failure.is_some());
            if let Some(kept) = kept.and_then(|keeper| keeper.end().best.as_ref())
                && kept.cost < solution.cost
            {
                (solution.cost, solution.tour) = (kept.cost, kept.tour.clone());
            }
            if solution.stopped_by == StopReason::Interrupt && is_optimal.load(Ordering::Relaxed) {
                let is_exact = plan.instance.is_exact();
                solution.stopped_by = if is_exact { StopReason::Optimal } else { StopReason::OptimalRounded };
            }
            solution.conclude(&plan.instance, plan.start);
        };
        // The best solution of all ranks replaces this rank's own.
        let gather = |own: &mut Solution| {
            let (best, facts) = crew?.end(Some(own))?;
            *own = best;
            Some(facts)
        };
        // The population exists only until the solver returns, so if it is saved, everything is delivered before that.
        let (mut delivered, mut stopped_by) = (None, None);
        let mut keep = |solution: &Solution, individuals: &mut Individuals<'_>| {
            let mut solution = solution.clone();
            let islands = gather(&mut solution);
            conclude(&mut solution);
            stopped_by = Some(solution.stopped_by);
            delivered = Some(deliver(&solution, islands, Some(individuals)));
        };
        let keep: Option<genetic::Keep<'_>> =
            if plan.outputs.save_population.is_some() { Some(&mut keep) } else { None };
        let show = |progress: &Progress| {
            let found = || beside.as_ref().and_then(beside::Search::found);
            let bound = progress.proof.map(|proof| proof.bound).or_else(found);
            line.show(progress, reading, || Beside {
                searching: rayon::current_num_threads(),
                bounding: beside.as_ref().and_then(beside::Search::threads),
                bound,
            });
            if let Some(bound) = bound {
                let mut raised = taken(&raised);
                if raised.last().is_none_or(|&(_, last)| last < bound) {
                    raised.push((progress.seconds, bound));
                }
            }
            let is_proven =
                beside.as_ref().is_some_and(|beside| beside.proves(&plan.instance, progress.best_cost));
            if is_proven && crew.is_none() && !is_optimal.swap(true, Ordering::Relaxed) {
                interrupt.store(true, Ordering::Relaxed);
            }
        };
        if let Some(checkpoint) = &resumed {
            let places = match world {
                Some(world) => Some(world.size() as usize),
                // On CPU threads, all runs continue.
                None => Some(backend.gpus()).filter(|&gpus| gpus > 0),
            };
            plan.announce(checkpoint, places, world.is_some(), &line);
        }
        let tell = keeper.as_ref().filter(|_| crew.is_none()).map(|_| tell);
        let mut observer =
            Observer { show, line: &line, tell, unsent: None, checkpoints: &checkpoints, recorder };
        let observe = &mut observer;
        let solved = match (crew, resumed) {
            (None, Some(checkpoint)) => checkpoint.resume(&plan.instance, (&backend, &stop), observe, keep),
            (None, None) => match plan.when_to_prove(&backend) {
                None => algorithm.solve(&plan.instance, initial, (&backend, &stop), observe, keep),
                Some(when) => {
                    let (instance, how) = ((&*plan.instance, initial), (when, &plan.proof_settings()));
                    let solved = proving::solve(algorithm, instance, (&backend, &stop), observe, how);
                    solved.map(|(solution, found)| {
                        *proven.borrow_mut() = found;
                        solution
                    })
                }
            },
            (Some(crew), resumed) => {
                let island: (&mut dyn Observe, _) = (observe, &*crew.post);
                let (algorithm, begin) = (algorithm.clone().of_island(own.number), (initial, own.state));
                let solved =
                    algorithm.solve_as_island(&plan.instance, begin, (&backend, &crew.stop), island, keep);
                match resumed {
                    Some(checkpoint) => solved.map(|solution| checkpoint.completed(&plan.instance, solution)),
                    None => solved,
                }
            }
        };
        // If the run has not answered for the last time, it does so now.
        observer.recorder = None;
        line.finish();
        let mut solution = match (solved, crew) {
            // Other ranks may have a tour.
            (Err(error), Some(crew)) => {
                let Some((best, facts)) = crew.end(None) else { return Err(error.into()) };
                let failed = Solution { failure: Some(error.to_string()), ..best };
                deliver(&failed, Some(facts), None)?;
                return Err(Error::CutShort(error.to_string()));
            }
            (solved, _) => solved?,
        };
        delivered.unwrap_or_else(|| {
            let islands = gather(&mut solution);
            conclude(&mut solution);
            deliver(&solution, islands, None)
        })?;
        match (solution.failure, stopped_by.unwrap_or(solution.stopped_by)) {
            (Some(failure), _) => Err(Error::CutShort(failure)),
            (None, StopReason::Interrupt) => Ok(Outcome::Interrupted),
            (None, reason) if plan.asks_proof && !reason.is_proof() => Ok(Outcome::Unproven),
            _ => Ok(Outcome::Done),
        }
    })
}

/// Takes what is shared with the thread of the search.
fn taken<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows the progress of a run, sends its tours to the keeper, and writes its checkpoints.
struct Observer<'a, F> {
    show: F,
    line: &'a ProgressLine,
    tell: Option<SyncSender<Arc<Voyager>>>,
    /// The last tour, while the keeper has another one to write.
    unsent: Option<Arc<Voyager>>,
    checkpoints: &'a Mutex<Option<Checkpoints>>,
    /// The recorder of this process, where there are several.
    recorder: Option<Recorder>,
}

impl<F> Observer<'_, F> {
    /// Lets the recorder do something, if there are checkpoints.
    fn record<T>(&mut self, work: impl FnOnce(&mut Recorder) -> T) -> Option<T> {
        match &mut self.recorder {
            Some(recorder) => Some(work(recorder)),
            None => taken(self.checkpoints).as_mut().map(|checkpoints| work(checkpoints.own())),
        }
    }

    /// Sends the last tour to the keeper, unless that is behind.
    fn send(&mut self) {
        let (Some(tell), Some(voyager)) = (&self.tell, self.unsent.take()) else { return };
        // A keeper that has ended needs no tours.
        if let Err(TrySendError::Full(voyager)) = tell.try_send(voyager) {
            self.unsent = Some(voyager);
        }
    }
}

impl<F: FnMut(&Progress)> Observe for Observer<'_, F> {
    fn progress(&mut self, progress: &Progress) {
        self.send();
        (self.show)(progress);
    }

    fn each(&mut self, runs: &[Option<Progress>]) {
        self.line.show_each(runs);
    }

    fn better(&mut self, cost: i64, best: &Vec<u32>) {
        if self.tell.is_some() {
            self.unsent = Some(Arc::new(Voyager { from: 0, cost, tour: best.clone() }));
            self.send();
        }
    }

    fn wants_checkpoint(&mut self, is_end: bool) -> bool {
        self.record(|recorder| recorder.is_due(is_end)).unwrap_or(false)
    }

    fn checkpoint(&mut self, snapshot: std::result::Result<Snapshot, BackendError>) {
        self.record(|recorder| recorder.checkpoint(snapshot));
    }

    fn no_checkpoint(&mut self) {
        self.record(Recorder::skip);
    }

    fn keeps_checkpoints(&self) -> bool {
        taken(self.checkpoints).is_some()
    }

    fn for_each_run(&mut self, runs: u32) -> Vec<Box<dyn Observe + Send>> {
        let mut checkpoints = taken(self.checkpoints);
        checkpoints.as_mut().map_or(Vec::new(), |checkpoints| checkpoints.observers(runs))
    }
}

/// Reports that a tour has forbidden pairs, and whether every tour is proven to have one.
fn refuse_forbidden(report: &Report, is_proven: bool) -> Result<()> {
    let Some([from, to]) = report.forbidden.first() else { return Ok(()) };
    let more = match report.forbidden.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let proof = if is_proven { "; every tour is proven to have one" } else { "" };
    Err(Error::Forbidden(format!("no tour without a forbidden pair was found: {from} to {to}{more}{proof}")))
}

impl Asked {
    /// Checks a command line against an instance, and reads the files of tours that it names. `options` are the ids of the options given.
    ///
    /// # Errors
    /// If such a file, or that of `--config` or `--resume`, cannot be used, or settings are out of range, have no effect or contradict
    /// each other.
    pub(super) fn check(
        args: &Args,
        options: &[String],
        instance: &Instance,
        interrupt: Arc<AtomicBool>,
    ) -> Result<Asked> {
        Asked::of(&Wanted::new(args, options)?, None, instance, interrupt)
    }

    /// Returns what is requested for an instance; `known` is the algorithm, if it has been determined before.
    fn of(
        wanted: &Wanted<'_>,
        known: Option<Algorithm>,
        instance: &Instance,
        interrupt: Arc<AtomicBool>,
    ) -> Result<Asked> {
        let declaration = wanted.declaration_for(Algorithm::default().declaration());
        wanted.refuse_foreign(&declaration)?;
        let begin = &wanted.args.begin;
        let (algorithm, initial) = match (&begin.initial_tour, &begin.load_population) {
            (_, Some(path)) => {
                let saved = population_file::read(path, instance)?;
                (population::loaded(wanted, path, &saved)?, Some(saved.individuals))
            }
            (path, None) => {
                let algorithm = known.map_or_else(|| wanted.algorithm(&declaration), Ok)?;
                let tour = path.as_ref().map(|path| tour_file::read_with(path, instance)).transpose()?;
                if let Some(tour) = tour.as_ref().filter(|_| !wanted.args.outputs.quiet) {
                    announce_tour(tour);
                }
                (algorithm, tour.map(|tour| tour.nodes))
            }
        };
        if let Algorithm::Genetic(settings) = &algorithm {
            genetic::check_for(instance, settings)?;
        }
        // A proof ends by itself, too.
        let ends = algorithm.is_descent_only() || wanted.args.proves();
        let stop = &wanted.args.stop;
        let known = initial.as_deref().unwrap_or_default();
        let stop = stop.check(ends, instance, known, wanted.resumed.as_ref(), interrupt);
        Ok(Asked { algorithm, initial, stop })
    }
}

impl Plan {
    fn check(args: Args, options: &[String], interrupt: Arc<AtomicBool>, are_several: bool) -> Result<Plan> {
        let has_topology = options.iter().any(|option| option == "topology");
        if !are_several && has_topology {
            return Err(Error::Usage(
                "--topology is for several ranks, but this is a single process".to_owned(),
            ));
        }
        let mut wanted = Wanted::new(&args, options)?;
        let known = wanted.check_early()?;
        args.check_outputs()?;
        args.check_proof(options)?;
        checkpoints::check_file(args.outputs.checkpoint.as_ref(), args.begin.resume.as_deref())?;
        args.machine.start_threads()?;
        let instance = args.reading.open_quietly(args.instance(), args.outputs.quiet)?;
        let (instance, start) = args.shape.apply(instance)?;
        check_resolution(&instance)?;
        for drawing in deliver::DRAWINGS.iter().filter(|drawing| (drawing.output)(&args.outputs).is_some()) {
            if let Some(missing) = drawing.missing(&instance) {
                let (name, option) = (instance.name(), drawing.option);
                return Err(Error::Usage(format!("{name} {missing}: leave out {option}")));
            }
        }
        if args.bound {
            bounds::check(&instance)?;
        }
        let mut asked = Asked::of(&wanted, known, &instance, interrupt)?;
        let resumed = wanted.resumed.take();
        if let (Some(checkpoint), Some(path)) = (&resumed, &args.begin.resume) {
            checkpoint.check_instance(path, &instance)?;
        }
        if args.outputs.save_population.is_some() && instance.len() < FEWEST {
            let why = "has so few nodes that it is solved exactly: leave out --save-population";
            return Err(Error::Usage(format!("{} {why}", instance.name())));
        }
        if has_topology && asked.stop.iterations.is_some() {
            let why =
                "--topology is for ranks that exchange tours, which they do not with --iterations".to_owned();
            return Err(Error::Usage(why));
        }
        if are_several && args.proves() {
            return Err(Error::Usage("--prove is for a single process".to_owned()));
        }
        if are_several {
            // Errors are reported once, before the other ranks start.
            asked.algorithm.check_for(&instance)?;
        }
        let asks_proof = args.proves();
        let missing = if asks_proof { proving::check(&instance)?.err() } else { None };
        if let Some(missing) = &missing {
            if !args.outputs.quiet {
                output::tell(&format!("antwarp: no proof, only a lower bound: {missing}"));
            }
            let stop = &mut asked.stop;
            if stop.iterations.is_none() && stop.stagnation.is_none() {
                stop.time = stop.time.or(Some(DEFAULT_TIME));
            }
        }
        Ok(Plan {
            instance: Arc::new(instance),
            source: args.instance().to_owned(),
            asked,
            machine: args.machine,
            outputs: args.outputs,
            resumed,
            bound: args.bound || missing.is_some(),
            asks_proof,
            proves: asks_proof && missing.is_none(),
            prove: args.prove,
            target: args.stop.target,
            start,
            topology: args.topology,
        })
    }
}
