//! The threads of one call, and the calls that are running.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use antwarp::instance::memory;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error;

/// The most threads of a call: far more than any processor has.
const MOST_THREADS: u32 = 1024;
/// How long the end of the interpreter waits for calls that are running.
const LAST: Duration = Duration::from_secs(20);

/// The calls that are running: what interrupts them. It is locked only by threads that hold the interpreter's lock, which a fork needs
/// too; so a child never finds it locked.
static RUNNING: Mutex<Vec<Arc<AtomicBool>>> = Mutex::new(Vec::new());
/// The thread that ends the interpreter, once that is about to happen.
static ENDING: OnceLock<ThreadId> = OnceLock::new();

fn running() -> MutexGuard<'static, Vec<Arc<AtomicBool>>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The threads of one call: they end with it, unlike those of a global pool, which a forked process would lack.
#[pyclass(frozen, module = "antwarp._native")]
pub struct Session {
    pub pool: ThreadPool,
    /// Ends a run.
    pub interrupt: Arc<AtomicBool>,
}

#[pymethods]
impl Session {
    /// Starts this many threads, at most 1,024; if not given, as many as `RAYON_NUM_THREADS` names, else one per core.
    #[new]
    #[pyo3(signature = (threads=None))]
    fn new(py: Python<'_>, threads: Option<u32>) -> PyResult<Session> {
        let ending = ENDING.get();
        if ending.is_some_and(|&thread| thread != thread::current().id()) {
            // Such a thread of Python ends with the process: it must not return to an interpreter that may have ended before.
            py.detach(|| {
                loop {
                    thread::park();
                }
            });
        }
        let by_name =
            || std::env::var("RAYON_NUM_THREADS").ok()?.parse().ok().filter(|&count: &u32| count > 0);
        let cores = || thread::available_parallelism().map_or(1, |count| count.get() as u32);
        let count = threads.or_else(by_name).unwrap_or_else(cores);
        if !(1..=MOST_THREADS).contains(&count) {
            return Err(error::option(format!("`threads` must be 1 to {MOST_THREADS}")));
        }
        let refused = |why: &dyn std::fmt::Display| {
            error::option(format!("cannot start {count} threads: {why}; use fewer `threads`"))
        };
        memory::check_threads(count).map_err(|shortage| refused(&shortage))?;
        let name = |at| format!("antwarp-{at}");
        let pool = ThreadPoolBuilder::new().num_threads(count as usize).thread_name(name).build();
        let pool = pool.map_err(|error| refused(&error))?;
        let interrupt = Arc::new(AtomicBool::new(ending.is_some()));
        running().push(interrupt.clone());
        Ok(Session { pool, interrupt })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Python drops its objects while it holds its lock.
        running().retain(|other| !Arc::ptr_eq(other, &self.interrupt));
    }
}

/// Ends all calls, and waits for them: after the end of the interpreter, no thread may return to it.
#[pyfunction]
pub fn end_all(py: Python<'_>) {
    _ = ENDING.set(thread::current().id());
    let begin = Instant::now();
    loop {
        running().iter().for_each(|interrupt| interrupt.store(true, Ordering::Relaxed));
        if running().is_empty() || begin.elapsed() > LAST {
            return;
        }
        py.detach(|| thread::sleep(Duration::from_millis(5)));
    }
}

/// Forgets the calls that other threads of the parent process make.
#[pyfunction]
pub fn after_fork(_py: Python<'_>) {
    running().clear();
}
