//! A run: the search on its threads, and the caller's thread, which listens to Python meanwhile.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use antwarp::backend::{Backend, Choice, Gpus};
use antwarp::engine::{self, Machine};
use antwarp::exact::{Board, Settings};
use antwarp::instance;
use antwarp::report::{Bounded, Report};
use antwarp::solver::proof::{self, Proof, When};
use antwarp::solver::{Solution, check_resolution, placement};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::error;
use crate::input::Instance;
use crate::options::{Options, Prove};
use crate::outcome::{Outcome, in_python};
use crate::session::Session;

/// How long the caller's thread waits before it lets Python handle signals.
const TICK: Duration = Duration::from_millis(20);

/// The least time between two calls of the callback.
const PAUSE: Duration = Duration::from_millis(100);

/// Ends the runs of a solver, from any thread.
#[pyclass(frozen, module = "antwarp._native")]
#[derive(Default)]
pub struct Stop {
    is_set: AtomicBool,
}

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Stop {
        Stop::default()
    }

    /// Ends the runs, also those that start later.
    fn set(&self) {
        self.is_set.store(true, Ordering::Relaxed);
    }

    /// Whether it is set.
    fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Relaxed)
    }
}

/// Where a run stands.
#[pyclass(frozen, get_all, module = "antwarp")]
pub struct Progress {
    /// Seconds since the start.
    seconds: f64,
    /// The cost of the best tour so far; None while each one has a pair without a road.
    cost: Option<Py<PyAny>>,
    /// No tour costs less, if a proof has shown anything yet.
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
}

/// How a search ended: what it found, or its error, or how it panicked.
type Ended = Result<Result<Found, PyErr>, Box<dyn Any + Send>>;

/// What the search has to say to the caller's thread.
#[derive(Default)]
struct Said {
    progress: Option<engine::Progress>,
    ended: Option<Ended>,
}

/// Carries that from the search to the caller's thread. A caller that is slow misses progress, nothing else.
#[derive(Default)]
struct Post {
    said: Mutex<Said>,
    is_new: Condvar,
}

impl Post {
    fn lock(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, say: impl FnOnce(&mut Said)) {
        say(&mut self.lock());
        self.is_new.notify_one();
    }

    /// Returns what is new, after at most a tick.
    fn next(&self) -> Said {
        let said = self.lock();
        let is_quiet = |said: &mut Said| said.progress.is_none() && said.ended.is_none();
        let waited = self.is_new.wait_timeout_while(said, TICK, is_quiet);
        std::mem::take(&mut waited.unwrap_or_else(PoisonError::into_inner).0)
    }
}

/// A run that has everything it needs.
struct Run<'a> {
    instance: &'a instance::Instance,
    options: &'a Options,
    initial: Option<Vec<u32>>,
    stop: engine::Stop,
    /// The node where a closed tour starts.
    start: Option<u32>,
    /// The part of the time that has passed before.
    spent: Duration,
}

impl Run<'_> {
    /// Searches, and proves what the options ask for.
    fn search(&self, observe: &mut (dyn engine::Observe + Send)) -> PyResult<Found> {
        let Run { instance, options, initial, stop, .. } = self;
        let algorithm = &options.algorithm;
        check_resolution(instance).map_err(error::of_instance)?;
        algorithm.check_for(instance).map_err(error::of_solve)?;
        let asks_proof = options.prove == Prove::Always;
        if asks_proof && let Err(missing) = proof::check(instance).map_err(error::of_solve)? {
            return Err(error::option(format!("`prove` is not possible: {missing}")));
        }
        let placement = placement(algorithm, instance, options.backend).map_err(error::of_solve)?;
        let are_named = matches!(options.gpus, Gpus::Count(_) | Gpus::These(_));
        let is_asked = options.backend == Choice::Auto && are_named && placement.suits_gpu;
        let choice = if is_asked { Choice::Auto } else { placement.choice };
        let (backend, note) = Backend::open_on(choice, &options.gpus).map_err(error::of_backend)?;
        let unasked = || When::unasked(algorithm, instance, (&backend, stop));
        let when = match options.prove {
            Prove::Always => Some(When::AtOnce),
            Prove::Auto => unasked(),
            Prove::Never => None,
        };
        let solved = match when {
            None => {
                let solved = algorithm.solve(instance, initial.clone(), (&backend, stop), observe, None);
                solved.map(|solution| (solution, None))
            }
            Some(when) => {
                let threads = rayon::current_num_threads();
                let settings =
                    Settings { board: Arc::new(Board::new(threads)), threads, keeps_certificate: false };
                let given = (*instance, initial.clone());
                proof::solve(algorithm, given, (&backend, stop), observe, (when, &settings))
            }
        };
        let (mut solution, proof) = solved.map_err(error::of_solve)?;
        solution.conclude(instance, self.start);
        let report = self.report(backend.machine(), &solution, proof.as_ref())?;
        Ok(Found { tour: solution.tour, report, note })
    }
}

impl Run<'_> {
    /// Reports the run.
    fn report(&self, machine: Machine, solution: &Solution, proof: Option<&Proof>) -> PyResult<Report> {
        let Run { instance, options, stop, spent, .. } = self;
        let settings = serde_json::to_value(&options.algorithm).map_err(error::bug)?;
        let facts = (options.algorithm.name(), options.algorithm.seed(), settings);
        let mut report = Report::new(instance, Path::new(instance.name()), facts, stop, machine, solution);
        let bound = match proof.and_then(|proof| Bounded::proven(proof, instance, report.cost)) {
            // A bound says nothing about a tour with forbidden pairs.
            _ if !report.forbidden.is_empty() => None,
            None if solution.stopped_by == engine::StopReason::Optimal => {
                Some(Bounded::exact(instance, report.cost, solution.seconds))
            }
            bound => bound,
        };
        report.set_bound(bound);
        report.begun_before(spent.as_secs_f64());
        Ok(report)
    }
}

/// Observes a search.
struct Observer<'a> {
    post: &'a Post,
    /// When there was progress to say for the last time.
    last: Option<Instant>,
}

impl engine::Observe for Observer<'_> {
    fn progress(&mut self, progress: &engine::Progress) {
        if self.last.is_none_or(|last| last.elapsed() >= PAUSE) {
            self.last = Some(Instant::now());
            self.post.say(|said| said.progress = Some(*progress));
        }
    }
}

/// Solves an instance. `initial` is a tour to start from, `spent` the part of the time that has passed, in seconds. Returns the
/// outcome, and why it ran on the CPU, if a GPU was looked for.
#[pyfunction]
#[pyo3(signature = (session, instance, options, stop, initial=None, spent=0.0, callback=None))]
#[expect(clippy::too_many_arguments, reason = "they are arguments of Python, by name")]
pub fn solve(
    py: Python<'_>,
    session: &Session,
    instance: &Instance,
    options: &Options,
    stop: &Stop,
    initial: Option<Vec<u32>>,
    spent: f64,
    callback: Option<Bound<'_, PyAny>>,
) -> PyResult<(Outcome, Option<String>)> {
    if initial.is_some() && !options.algorithm.takes_initial_tour() {
        let name = options.algorithm.name();
        return Err(error::option(format!("\"{name}\" takes no `initial_tour`")));
    }
    let spent = Duration::try_from_secs_f64(spent).unwrap_or_default();
    let post = Post::default();
    // Nothing is done on this thread that could be done in parallel: it would start the global pool.
    let known = initial.as_deref().unwrap_or_default();
    let limits = session.pool.install(|| options.stop(&instance.instance, known, spent));
    let stop_run = engine::Stop { interrupt: session.interrupt.clone(), ..limits };
    let run =
        Run { instance: &instance.instance, options, initial, stop: stop_run, start: instance.start, spent };
    let (ended, raised) = session.pool.in_place_scope(|scope| {
        scope.spawn(|_| {
            let mut observer = Observer { post: &post, last: None };
            let searched = catch_unwind(AssertUnwindSafe(|| run.search(&mut observer)));
            post.say(|said| said.ended = Some(searched));
        });
        run.listen(py, &post, (stop, callback))
    });
    let found = ended.map_err(|panic| error::bug(message(&*panic)))?;
    if let Some(raised) = raised {
        return Err(raised);
    }
    let Found { tour, report, note } = found?;
    Ok((Outcome::new(instance.instance.clone(), tour, report), note))
}

impl Run<'_> {
    /// Waits for the end of a search. Meanwhile Python handles its signals, and the callback is called. Ctrl-C ends the search, and
    /// anything that is raised does, too; only the second Ctrl-C is raised. Returns what was raised beside the search.
    fn listen(
        &self,
        py: Python<'_>,
        post: &Post,
        (stop, callback): (&Stop, Option<Bound<'_, PyAny>>),
    ) -> (Ended, Option<PyErr>) {
        let begin = Instant::now();
        let (mut raised, mut is_interrupted) = (None, false);
        loop {
            let said = py.detach(|| post.next());
            if let Some(ended) = said.ended {
                return (ended, raised);
            }
            let call = || {
                let (Some(callback), Some(progress)) = (&callback, said.progress) else { return Ok(()) };
                callback.call1((told(py, self.instance, &progress, begin)?,)).map(drop)
            };
            let is_on = raised.is_none() && !is_interrupted;
            match py.check_signals().and_then(|()| if is_on { call() } else { Ok(()) }) {
                Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) && !is_interrupted => {
                    is_interrupted = true;
                    // Time to improve the tour once more, as after Ctrl-C in the program.
                    self.stop.is_patient.store(true, Ordering::Relaxed);
                }
                Err(error) => raised = raised.or(Some(error)),
                Ok(()) => {}
            }
            if is_interrupted || raised.is_some() || stop.is_set() {
                self.stop.interrupt.store(true, Ordering::Relaxed);
            }
        }
    }
}

/// Returns the message of a panic.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned()
}

/// Makes Python's progress of the search's.
fn told(
    py: Python<'_>,
    instance: &instance::Instance,
    progress: &engine::Progress,
    begin: Instant,
) -> PyResult<Progress> {
    let is_known = !instance.may_be_forbidden(progress.best_cost);
    let cost = is_known.then(|| in_python(py, instance.cost(progress.best_cost))).transpose()?;
    let bound = progress.proof.map(|proof| in_python(py, instance.lower_bound(proof.bound))).transpose()?;
    Ok(Progress { seconds: begin.elapsed().as_secs_f64(), cost, bound, iterations: progress.iterations })
}
