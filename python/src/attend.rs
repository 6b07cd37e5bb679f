//! Work on a session's threads, and the caller's thread, which listens to Python meanwhile.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use antwarp::engine;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::error;
use crate::session::Session;

/// How long the caller's thread waits before it lets Python handle signals.
const TICK: Duration = Duration::from_millis(20);

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

/// Warnings of a run, until they are logged.
#[derive(Clone, Default)]
pub struct Warnings(Arc<Mutex<Vec<String>>>);

impl Warnings {
    pub fn push(&self, warning: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(warning);
    }

    /// Logs what is new.
    pub fn log(&self, py: Python<'_>) -> PyResult<()> {
        let new = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        new.iter().try_for_each(|text| log(py, "warning", text))
    }
}

/// Logs a text at this level.
pub fn log(py: Python<'_>, level: &str, text: &str) -> PyResult<()> {
    let logger = py.import("logging")?.call_method1("getLogger", ("antwarp",))?;
    logger.call_method1(level, ("%s", text)).map(drop)
}

/// How a search ended: what it found, or its error, or how it panicked.
type Ended<T> = Result<Result<T, PyErr>, Box<dyn Any + Send>>;

/// The progress, and the lower bound from beside the run, in the solver's unit.
pub type Seen = (engine::Progress, Option<i64>);

/// What the search has to say to the caller's thread.
pub struct Said<T> {
    pub progress: Option<Seen>,
    ended: Option<Ended<T>>,
}

impl<T> Default for Said<T> {
    fn default() -> Said<T> {
        Said { progress: None, ended: None }
    }
}

/// Carries that from the search to the caller's thread. A caller that is slow misses progress, nothing else.
pub struct Post<T> {
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

    pub fn say(&self, say: impl FnOnce(&mut Said<T>)) {
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

/// Works on a session's threads. Meanwhile Python handles its signals on this one, and `call` is called again and again, with the
/// progress if that is new, and the moment when this began. Ctrl-C and whatever `call` or a handler of signals raises end the work, and
/// `call` is not called any more.
///
/// # Errors
/// Of the work, once it has ended, or what was raised meanwhile, the first Ctrl-C excepted; `InternalError` if the work panicked.
pub fn attend<T: Send>(
    py: Python<'_>,
    session: &Session,
    stops: (&engine::Stop, &Stop),
    work: impl FnOnce(&Post<T>) -> PyResult<T> + Send,
    call: &dyn Fn(Option<Seen>, Instant) -> PyResult<()>,
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
fn listen<T: Send>(
    py: Python<'_>,
    post: &Post<T>,
    (stop, own): (&engine::Stop, &Stop),
    call: &dyn Fn(Option<Seen>, Instant) -> PyResult<()>,
) -> (Ended<T>, Option<PyErr>) {
    let begin = Instant::now();
    let (mut raised, mut is_interrupted) = (None, false);
    loop {
        let said = py.detach(|| post.next());
        if let Some(ended) = said.ended {
            return (ended, raised);
        }
        let is_on = raised.is_none() && !is_interrupted;
        let called = |()| if is_on { call(said.progress, begin) } else { Ok(()) };
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

/// Panics at work, as a bug would: for the test of what becomes of that. The package that users get has no such function.
#[cfg(feature = "faults")]
#[pyfunction]
pub fn panic(py: Python<'_>, session: &Session) -> PyResult<()> {
    let fail = |_: &Post<()>| panic!("on purpose");
    attend(py, session, (&engine::Stop::never(), &Stop::default()), fail, &|_, _| Ok(()))
}
