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
use antwarp::instance::{self, memory};
use antwarp::report::Report;
use antwarp::solver::bounds::{self, beside};
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
type Ended<T> = Result<Result<T, PyErr>, Box<dyn Any + Send>>;

/// What the search has to say to the caller's thread.
struct Said<T> {
    /// The progress, and the lower bound from beside the run.
    progress: Option<(engine::Progress, Option<i64>)>,
    ended: Option<Ended<T>>,
}

impl<T> Default for Said<T> {
    fn default() -> Said<T> {
        Said { progress: None, ended: None }
    }
}

/// Carries that from the search to the caller's thread. A caller that is slow misses progress, nothing else.
struct Post<T> {
    said: Mutex<Said<T>>,
    is_new: Condvar,
}

impl<T> Post<T> {
    fn new() -> Post<T> {
        Post { said: Mutex::default(), is_new: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Said<T>> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, say: impl FnOnce(&mut Said<T>)) {
        say(&mut self.lock());
        self.is_new.notify_one();
    }

    /// Returns what is new, after at most a tick.
    fn next(&self) -> Said<T> {
        let said = self.lock();
        let is_quiet = |said: &mut Said<T>| said.progress.is_none() && said.ended.is_none();
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
    /// Searches, and proves and bounds what the options ask for.
    fn search(&self, post: &Post<Found>) -> PyResult<Found> {
        let Run { instance, options, stop, .. } = self;
        let algorithm = &options.algorithm;
        check_resolution(instance).map_err(error::of_instance)?;
        algorithm.check_for(instance).map_err(error::of_solve)?;
        let asks_proof = options.prove == Prove::Always;
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
        let plan = || beside::Plan::new(instance, asks_bound, &backend, stop);
        let plan = is_bounded.then(plan).flatten();
        let (mut solution, proof, bound) = std::thread::scope(|scope| {
            let beside = plan.and_then(|plan| beside::Search::begin(scope, plan, instance, stop));
            let mut observer =
                Observer { post, run: self, beside: beside.as_ref(), is_proven: false, last: None };
            let (mut solution, proof) = self.solve(&backend, &mut observer)?;
            if solution.stopped_by == engine::StopReason::Interrupt && observer.is_proven {
                solution.stopped_by = engine::StopReason::Optimal;
            }
            Ok::<_, PyErr>((solution, proof, beside.and_then(|beside| beside.end())))
        })?;
        if let Some(bound) = bound.filter(|bound| bound.length > solution.cost) {
            let (bound, cost) = (bound.length, solution.cost);
            return Err(error::bug(format!("a bound of {bound} contradicts a tour of {cost}")));
        }
        solution.conclude(instance, self.start);
        let mut report = self.report(backend.machine(), &solution)?;
        report.set_best_bound(instance, &solution, (bound, proof.as_ref()));
        Ok(Found { tour: solution.tour, report, note })
    }

    /// Searches, and proves what the options ask for.
    fn solve(
        &self,
        backend: &Backend,
        observe: &mut Observer<'_, '_>,
    ) -> PyResult<(Solution, Option<Proof>)> {
        let Run { instance, options, initial, stop, .. } = self;
        let algorithm = &options.algorithm;
        let unasked = || When::unasked(algorithm, instance, (backend, stop));
        let when = match options.prove {
            Prove::Always => Some(When::AtOnce),
            Prove::Auto if options.bound != Some(true) => unasked(),
            Prove::Auto | Prove::Never => None,
        };
        let solved = match when {
            None => {
                let solved = algorithm.solve(instance, initial.clone(), (backend, stop), observe, None);
                solved.map(|solution| (solution, None))
            }
            Some(when) => {
                let threads = rayon::current_num_threads();
                let settings =
                    Settings { board: Arc::new(Board::new(threads)), threads, keeps_certificate: false };
                let given = (*instance, initial.clone());
                proof::solve(algorithm, given, (backend, stop), observe, (when, &settings))
            }
        };
        solved.map_err(error::of_solve)
    }

    /// Reports the run.
    fn report(&self, machine: Machine, solution: &Solution) -> PyResult<Report> {
        let Run { instance, options, stop, spent, .. } = self;
        let settings = serde_json::to_value(&options.algorithm).map_err(error::bug)?;
        let facts = (options.algorithm.name(), options.algorithm.seed(), settings);
        let mut report = Report::new(instance, Path::new(instance.name()), facts, stop, machine, solution);
        report.begun_before(spent.as_secs_f64());
        Ok(report)
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
    // Nothing is done on this thread that could be done in parallel: it would start the global pool.
    let known = initial.as_deref().unwrap_or_default();
    let limits = session.pool.install(|| options.stop(&instance.instance, known, spent));
    let stop_run = engine::Stop { interrupt: session.interrupt.clone(), ..limits };
    let run =
        Run { instance: &instance.instance, options, initial, stop: stop_run, start: instance.start, spent };
    let call = |progress, begin| match &callback {
        Some(callback) => callback.call1((told(py, run.instance, progress, begin)?,)).map(drop),
        None => Ok(()),
    };
    let found = attend(py, session, (&run.stop, stop), &|post| run.search(post), &call)?;
    let Found { tour, report, note } = found;
    Ok((Outcome::new(instance.instance.clone(), tour, report), note))
}

/// Finds a lower bound on the cost of every tour: with `time` in seconds, of which `spent` has passed, else by spanning trees alone.
/// `initial` is a tour to begin with. Returns the bound, infinite if every tour has a pair without a road; how it was found; and what
/// there is to tell about that.
#[pyfunction]
#[pyo3(signature = (session, instance, time=None, initial=None, spent=0.0))]
pub fn bound(
    py: Python<'_>,
    session: &Session,
    instance: &Instance,
    time: Option<f64>,
    initial: Option<Vec<u32>>,
    spent: f64,
) -> PyResult<(Py<PyAny>, &'static str, Vec<String>)> {
    let duration = |seconds: f64| {
        let time = Duration::try_from_secs_f64(seconds).ok();
        time.ok_or_else(|| error::option(format!("`time` must be a number of seconds, not {seconds}")))
    };
    let spent = Duration::try_from_secs_f64(spent).unwrap_or_default();
    let time = time.map(duration).transpose()?.map(|time| time.saturating_sub(spent));
    let stop = engine::Stop { time, interrupt: session.interrupt.clone(), ..engine::Stop::never() };
    let instance = &*instance.instance;
    let work = |_: &Post<_>| {
        bounds::check(instance).map_err(error::of_instance)?;
        let no_room =
            |shortage| error::python::BackendError::new_err(format!("not enough memory: {shortage}"));
        memory::check(antwarp::bound::memory(instance) as u64).map_err(no_room)?;
        let mut told = Vec::new();
        let deadline = engine::Deadline::since(Instant::now(), &stop);
        let best = bounds::best(instance, (None, initial.as_deref()), deadline, &mut |what| told.push(what));
        Ok((best.map_err(error::of_solve)?, told))
    };
    let (best, told) = attend(py, session, (&stop, &Stop::default()), &work, &|_, _| Ok(()))?;
    let Some(best) = best else {
        if stop.is_interrupted() {
            return Err(PyKeyboardInterrupt::new_err(()));
        }
        return Err(error::option("the time was up before a bound was found: give more `time`"));
    };
    let length = match best.length() {
        length if instance.is_impossible(length) => f64::INFINITY.into_pyobject(py)?.into_any().unbind(),
        length => in_python(py, instance.lower_bound(length))?,
    };
    Ok((length, best.method(), told))
}

/// Works on a session's threads. Meanwhile Python handles its signals on this one, and `call` is called with the progress. Ctrl-C ends
/// the work, and anything that is raised does, too; only the second Ctrl-C is raised.
fn attend<T: Send>(
    py: Python<'_>,
    session: &Session,
    stops: (&engine::Stop, &Stop),
    work: &(dyn Fn(&Post<T>) -> PyResult<T> + Sync),
    call: &dyn Fn((engine::Progress, Option<i64>), Instant) -> PyResult<()>,
) -> PyResult<T> {
    let post = Post::new();
    let (ended, raised) = session.pool.in_place_scope(|scope| {
        scope.spawn(|_| {
            let worked = catch_unwind(AssertUnwindSafe(|| work(&post)));
            post.say(|said| said.ended = Some(worked));
        });
        listen(py, &post, stops, call)
    });
    let found = ended.map_err(|panic| error::bug(message(&*panic)))?;
    raised.map_or(found, Err)
}

/// Waits for the end of the work. Returns what was raised beside it, too.
fn listen<T>(
    py: Python<'_>,
    post: &Post<T>,
    (stop, own): (&engine::Stop, &Stop),
    call: &dyn Fn((engine::Progress, Option<i64>), Instant) -> PyResult<()>,
) -> (Ended<T>, Option<PyErr>)
where
    T: Send,
{
    let begin = Instant::now();
    let (mut raised, mut is_interrupted) = (None, false);
    loop {
        let said = py.detach(|| post.next());
        if let Some(ended) = said.ended {
            return (ended, raised);
        }
        let is_on = raised.is_none() && !is_interrupted;
        let progress = said.progress.filter(|_| is_on);
        let called = |()| progress.map_or(Ok(()), |progress| call(progress, begin));
        match py.check_signals().and_then(called) {
            Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) && !is_interrupted => {
                is_interrupted = true;
                // Time to improve the tour once more, as after Ctrl-C in the program.
                stop.is_patient.store(true, Ordering::Relaxed);
            }
            Err(error) => raised = raised.or(Some(error)),
            Ok(()) => {}
        }
        if is_interrupted || raised.is_some() || own.is_set() {
            stop.interrupt.store(true, Ordering::Relaxed);
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
