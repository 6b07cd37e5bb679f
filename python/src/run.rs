//! A run: a search with what is proven, bounded and written beside it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use antwarp::backend::{Backend, Choice, Gpus};
use antwarp::engine::{self, Machine};
use antwarp::exact::{Board, Settings};
use antwarp::instance::{self, atomic_file};
use antwarp::report::Report;
use antwarp::solver::bounds::{self, beside};
use antwarp::solver::checkpoint::{self, Checkpoint, Checkpoints, Limits, Subject};
use antwarp::solver::proof::{self, Proof, When};
use antwarp::solver::{Algorithm, Solution, check_resolution, placement};
use pyo3::prelude::*;

use crate::attend::{Post, Seen, Stop, Warnings, attend, log};
use crate::error;
use crate::files::Files;
use crate::input::Instance;
use crate::options::{Options, Prove};
use crate::outcome::{Outcome, in_python};
use crate::session::Session;

/// The least time between two calls of the callback.
const PAUSE: Duration = Duration::from_millis(100);

/// Where a run stands.
#[pyclass(frozen, get_all, module = "antwarp")]
pub struct Progress {
    /// Seconds since the call began to search, after the reading of the input.
    seconds: f64,
    /// The cost of the best tour so far; None while each one has a pair without a road.
    cost: Option<Py<PyAny>>,
    /// No tour costs less; None while nothing is proven, and while `cost` is None.
    bound: Option<Py<PyAny>>,
    /// Iterations done.
    iterations: u64,
}

#[pymethods]
impl Progress {
    fn __repr__(&self) -> String {
        let cost = self.cost.as_ref().map_or_else(|| "None".to_owned(), |cost| cost.to_string());
        format!("<antwarp.Progress {:.2} s, cost {cost}>", self.seconds)
    }
}

/// What a search leaves behind.
struct Found {
    tour: Vec<u32>,
    report: Report,
    /// Why it ran on the CPU, if a GPU was looked for.
    note: Option<String>,
    /// Why the certificate could not be written.
    lost: Option<String>,
}

/// A run that has everything it needs.
struct Run<'a> {
    instance: &'a instance::Instance,
    algorithm: &'a Algorithm,
    options: &'a Options,
    files: &'a Files,
    initial: Option<Vec<u32>>,
    /// The run to continue.
    resumed: Option<Checkpoint>,
    /// The limits of the whole run, and of the part that is left.
    whole: engine::Stop,
    stop: engine::Stop,
    /// The node where a closed tour starts.
    start: Option<u32>,
    /// The part of the time that has passed before.
    spent: Duration,
    warnings: Warnings,
}

impl Run<'_> {
    /// Searches, and proves, bounds and writes what the options ask for.
    fn search(mut self, post: &Post<Found>) -> PyResult<Found> {
        let begin = (self.initial.take(), self.resumed.take());
        let Run { instance, algorithm, options, .. } = self;
        check_resolution(instance).map_err(error::of_instance)?;
        algorithm.check_for(instance).map_err(error::of_solve)?;
        let asks_proof = self.files.asks_proof(options);
        if asks_proof && let Err(missing) = proof::check(instance).map_err(error::of_solve)? {
            return Err(error::option(format!("`prove` is not possible: {missing}")));
        }
        let asks_bound = options.bound == Some(true);
        if asks_bound {
            bounds::check(instance).map_err(error::of_instance)?;
        }
        let placement = placement(algorithm, instance, options.backend).map_err(error::of_solve)?;
        let are_named = matches!(options.gpus, Gpus::Count(_) | Gpus::These(_));
        let is_asked = options.backend == Choice::Auto && are_named && placement.suits_gpu;
        let choice = if is_asked { Choice::Auto } else { placement.choice };
        let (backend, note) = Backend::open_on(choice, &options.gpus).map_err(error::of_backend)?;
        let is_bounded = !asks_proof && options.bound != Some(false);
        // A bound starts anew when a run continues.
        let ahead = self.stop.spent(self.stop.before);
        let plan = || beside::Plan::new(instance, asks_bound, &backend, &ahead);
        let plan = is_bounded.then(plan).flatten();
        let (mut solution, proof, bound) = std::thread::scope(|scope| {
            let beside = plan.and_then(|plan| beside::Search::begin(scope, plan, instance, &ahead));
            let own = Observer { post, run: &self, beside: beside.as_ref(), is_proven: false, last: None };
            let checkpoints = self.checkpoints(begin.1.as_ref());
            let mut observer = checkpoint::Observer { own, checkpoints };
            let (mut solution, proof) = self.solve(&backend, &mut observer, begin)?;
            if solution.stopped_by == engine::StopReason::Interrupt && observer.own.is_proven {
                solution.stopped_by = engine::StopReason::Optimal;
            }
            // The last checkpoint is written before the bound is waited for.
            drop(observer);
            Ok::<_, PyErr>((solution, proof, beside.and_then(|beside| beside.end())))
        })?;
        if let Some(bound) = bound.filter(|bound| bound.length > solution.cost) {
            let (bound, cost) = (bound.length, solution.cost);
            return Err(error::bug(format!("a bound of {bound} contradicts a tour of {cost}")));
        }
        solution.conclude(instance, self.start);
        let mut report = self.report(backend.machine(), &solution)?;
        report.set_best_bound(instance, &solution, (bound, proof.as_ref()));
        let lost = self.write_certificate(proof.as_ref());
        Ok(Found { tour: solution.tour, report, note, lost })
    }

    /// Starts to write checkpoints, if there are to be any.
    fn checkpoints(&self, resumed: Option<&Checkpoint>) -> Option<Checkpoints> {
        let schedule = self.files.schedule()?;
        let subject = (Subject::new(self.algorithm, self.instance), Limits::of(&self.whole).to_json());
        let warnings = self.warnings.clone();
        let warn = move |why: &str| warnings.push(format!("a checkpoint could not be written: {why}"));
        let checkpoints = Checkpoints::begin(schedule, subject, self.spent, warn);
        match (&checkpoints, resumed) {
            (None, _) => {
                self.warnings.push("no checkpoints are written: no thread can be started".to_owned());
            }
            (Some(checkpoints), Some(resumed)) => checkpoints.continue_from(resumed.file()),
            _ => {}
        }
        checkpoints
    }

    /// Searches, and proves what the options ask for.
    fn solve(
        &self,
        backend: &Backend,
        observe: &mut checkpoint::Observer<Observer<'_, '_>>,
        (initial, resumed): (Option<Vec<u32>>, Option<Checkpoint>),
    ) -> PyResult<(Solution, Option<Proof>)> {
        let Run { instance, algorithm, options, files, stop, .. } = self;
        if let Some(checkpoint) = resumed {
            let solved = checkpoint.resume(instance, (backend, stop), observe, None);
            return solved.map(|solution| (solution, None)).map_err(error::of_solve);
        }
        let is_free = options.bound != Some(true) && files.checkpoint.is_none();
        let when = match options.prove {
            _ if files.asks_proof(options) => Some(When::AtOnce),
            Prove::Auto if is_free => When::unasked(algorithm, instance, (backend, stop)),
            _ => None,
        };
        let solved = match when {
            None => {
                let solved = algorithm.solve(instance, initial, (backend, stop), observe, None);
                solved.map(|solution| (solution, None))
            }
            Some(when) => {
                let threads = rayon::current_num_threads();
                let keeps_certificate = files.certificate.is_some();
                let settings = Settings { board: Arc::new(Board::new(threads)), threads, keeps_certificate };
                proof::solve(algorithm, (instance, initial), (backend, stop), observe, (when, &settings))
            }
        };
        solved.map_err(error::of_solve)
    }

    /// Reports the run.
    fn report(&self, machine: Machine, solution: &Solution) -> PyResult<Report> {
        let Run { instance, algorithm, options, whole, spent, .. } = self;
        let settings = serde_json::to_value(algorithm).map_err(error::bug)?;
        let facts = (algorithm.name(), algorithm.seed(), settings);
        let mut report = Report::new(instance, Path::new(instance.name()), facts, whole, machine, solution);
        report.set_target(options.target);
        report.begun_before(spent.as_secs_f64());
        report.add_route(instance, &solution.tour);
        report.set_start(instance, self.start);
        Ok(report)
    }

    /// Writes the certificate of a proof, if there is to be one. Returns what prevented that.
    fn write_certificate(&self, proof: Option<&Proof>) -> Option<String> {
        let path = self.files.certificate.as_ref()?;
        let Some(certificate) = proof.and_then(|proof| proof.certificate.as_ref()) else {
            self.warnings.push("there is no complete proof, so no certificate was written".to_owned());
            return None;
        };
        let written = atomic_file::write(path, |out| certificate.write(out));
        written.err().map(|error| format!("{error}: {}", error.remedy()))
    }
}

/// Observes a search.
struct Observer<'a, 's> {
    post: &'a Post<Found>,
    run: &'a Run<'a>,
    /// The bound that is being computed, if there is one.
    beside: Option<&'a beside::Search<'s>>,
    /// Whether that proves the tour to be the shortest.
    is_proven: bool,
    /// When there was progress to say for the last time.
    last: Option<Instant>,
}

impl engine::Observe for Observer<'_, '_> {
    fn progress(&mut self, progress: &engine::Progress) {
        let proves = |beside: &beside::Search<'_>| beside.proves(self.run.instance, progress.best_cost);
        if !self.is_proven && self.beside.is_some_and(proves) {
            self.is_proven = true;
            self.run.stop.interrupt.store(true, Ordering::Relaxed);
        }
        if self.last.is_none_or(|last| last.elapsed() >= PAUSE) {
            self.last = Some(Instant::now());
            let bound = self.beside.and_then(beside::Search::found);
            self.post.say(|said| said.progress = Some((*progress, bound)));
        }
    }
}

/// Solves an instance. `initial` is a tour to start from, `spent` the part of the time that has passed, in seconds. Returns the
/// outcome; why it ran on the CPU, if a GPU was looked for; and why the certificate could not be written.
#[pyfunction]
#[pyo3(signature = (session, instance, options, files, stop, initial=None, spent=0.0, callback=None))]
#[expect(clippy::too_many_arguments, reason = "they are arguments of Python, by name")]
pub fn solve(
    py: Python<'_>,
    session: &Session,
    instance: &Instance,
    options: &Options,
    files: &Files,
    stop: &Stop,
    initial: Option<Vec<u32>>,
    spent: f64,
    callback: Option<Bound<'_, PyAny>>,
) -> PyResult<(Outcome, Option<String>, Option<String>)> {
    let (shared, start) = (&instance.instance, instance.start);
    let instance = &**shared;
    files.check(options)?;
    let resumed = files.resumed(instance, options)?;
    let algorithm = resumed.as_ref().map_or(&options.algorithm, Checkpoint::algorithm).clone();
    if initial.is_some() && resumed.is_some() {
        return Err(error::option("`initial_tour` cannot be used with `resume`"));
    }
    if initial.is_some() && !algorithm.takes_initial_tour() {
        let name = algorithm.name();
        return Err(error::option(format!("\"{name}\" takes no `initial_tour`")));
    }
    if let Some(checkpoint) = &resumed {
        let (seconds, iterations) = (checkpoint.elapsed.as_secs_f64(), checkpoint.iterations);
        let cost = instance.unit().show(instance.cost(checkpoint.best.0));
        let from = format!("from a tour of cost {cost}");
        log(py, "info", &format!("continuing after {seconds:.1} s and {iterations} iterations, {from}"))?;
    }
    let spent = Duration::try_from_secs_f64(spent).unwrap_or_default();
    // Nothing is done on this thread that could be done in parallel: it would start the global pool.
    let known = initial.as_deref().unwrap_or_default();
    let asks_proof = files.asks_proof(options);
    let whole = || options.stop(instance, &algorithm, known, (resumed.as_ref(), asks_proof));
    let whole = engine::Stop { interrupt: session.interrupt.clone(), ..session.pool.install(whole) };
    let (stop_run, warnings) = (whole.spent(spent), Warnings::default());
    let run = Run {
        instance,
        algorithm: &algorithm,
        options,
        files,
        initial,
        resumed,
        whole,
        stop: stop_run.clone(),
        start,
        spent,
        warnings: warnings.clone(),
    };
    let call = |seen: Option<Seen>, begin: Instant| {
        warnings.log(py)?;
        let (Some(callback), Some(seen)) = (&callback, seen) else { return Ok(()) };
        callback.call1((told(py, instance, seen, begin)?,)).map(drop)
    };
    let found = attend(py, session, (&stop_run, stop), |post| run.search(post), &call)?;
    warnings.log(py)?;
    let Found { tour, report, note, lost } = found;
    Ok((Outcome::new(shared.clone(), tour, report), note, lost))
}

/// Makes Python's progress of the search's.
fn told(
    py: Python<'_>,
    instance: &instance::Instance,
    (progress, beside): (engine::Progress, Option<i64>),
    begin: Instant,
) -> PyResult<Progress> {
    let is_known = !instance.may_be_forbidden(progress.best_cost);
    let cost = is_known.then(|| in_python(py, instance.cost(progress.best_cost))).transpose()?;
    let bound = progress.proof.map(|proof| proof.bound).max(beside);
    let bound =
        bound.filter(|_| is_known).map(|bound| in_python(py, instance.lower_bound(bound))).transpose()?;
    Ok(Progress { seconds: begin.elapsed().as_secs_f64(), cost, bound, iterations: progress.iterations })
}
