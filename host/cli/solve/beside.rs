//! A lower bound beside a run, on what the run leaves idle.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};

use crate::backend::Backend;
use crate::bound::{self, Bound, trees_for};
use crate::engine::Stop;
use crate::instance::Instance;

/// Share of the time after which the ascent ends: pricing follows, and must end before the run does.
const SHARE: f64 = 0.8;
/// Without being asked for, a bound may cost a run on CPU threads this share of their time.
const UNASKED: f64 = 0.02;
/// Fewest trees that are worth it.
const FEWEST: f64 = 60.0;
/// Seconds of a thread for a node of a tree, with what is done besides.
const NODE: f64 = 4.5e-7;
/// Of so many CPU threads that solve, one more looks for a bound that was asked for.
const ONE_OF: usize = 4;

/// How a bound is to be found.
pub(super) struct Plan {
    trees: u32,
    threads: usize,
    /// Whether the run waits for it.
    is_asked: bool,
}

impl Plan {
    /// Beside a run with this time: always if it `is_asked` for, else where no optimum is known and it costs the run next to nothing.
    pub fn new(instance: &Instance, is_asked: bool, backend: &Backend, stop: &Stop) -> Option<Plan> {
        let (all, n) = (rayon::current_num_threads(), instance.len());
        let most = trees_for(n);
        if is_asked {
            let threads = if backend.is_cpu() { all / ONE_OF } else { all - 1 };
            return Some(Plan { trees: most, threads: threads.max(1), is_asked });
        }
        let is_known = instance.best_known().is_some_and(|known| known.proven);
        if is_known || !instance.is_symmetric() {
            return None;
        }
        let seconds = stop.time?.as_secs_f64();
        let (threads, seconds) = match backend.is_cpu() {
            true => (1, (UNASKED * seconds * all as f64).min(SHARE * seconds)),
            false => ((all - 1).max(1), SHARE * seconds * (all - 1).max(1) as f64),
        };
        let trees = seconds / (NODE * n as f64);
        (trees >= FEWEST).then(|| Plan { trees: most.min(trees as u32), threads, is_asked })
    }
}

/// A bound that is being looked for.
pub(super) struct Search<'s> {
    thread: Mutex<Option<ScopedJoinHandle<'s, Option<Bound>>>>,
    enough: Arc<AtomicBool>,
    is_asked: bool,
}

impl<'s> Search<'s> {
    /// Begins; none where no thread can be had.
    pub fn begin<'e>(
        scope: &'s Scope<'s, 'e>,
        plan: Plan,
        instance: &'s Instance,
        stop: &Stop,
    ) -> Option<Search<'s>> {
        let enough = Arc::new(AtomicBool::new(false));
        let time = stop.time.map(|time| time.mul_f64(SHARE));
        let stop = Stop { time, interrupt: enough.clone(), ..Stop::never() };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(plan.threads).build().ok()?;
        let find = move || pool.install(|| bound::held_karp(instance, Some(plan.trees), &stop));
        let thread = std::thread::Builder::new().spawn_scoped(scope, find).ok()?;
        Some(Search { thread: Mutex::new(Some(thread)), enough, is_asked: plan.is_asked })
    }

    /// The bound, once the run is over. One that was not asked for is not waited for.
    pub fn end(&self, was_interrupted: bool) -> Option<Bound> {
        if was_interrupted || !self.is_asked {
            self.enough.store(true, Ordering::Relaxed);
        }
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        thread.join().ok().flatten()
    }
}
