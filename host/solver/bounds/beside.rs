//! Computes a lower bound alongside a run, on resources that the run leaves idle.
//!
//! ```
//! use antwarp::backend::{Backend, Choice};
//! use antwarp::engine::{Progress, Stop};
//! use antwarp::instance::generate;
//! use antwarp::solver::bounds::beside::{Plan, Search};
//! use antwarp::solver::Algorithm;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let instance = generate::uniform(200, 1)?;
//! let (backend, _) = Backend::open(Choice::Cpu)?;
//! let stop = Stop { iterations: Some(200), ..Stop::never() };
//! let (solution, bound) = std::thread::scope(|scope| {
//!     let plan = Plan::new(&instance, true, &backend, &stop);
//!     let search = plan.and_then(|plan| Search::begin(scope, plan, &instance, &stop));
//!     let solved = Algorithm::default().solve(&instance, None, (&backend, &stop), &mut |_: &Progress| {}, None);
//!     (solved, search.and_then(|search| search.end()))
//! });
//! assert!(bound.is_some_and(|bound| bound.length <= solution.as_ref().unwrap().cost));
//! # Ok(())
//! # }
//! ```

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

use crate::backend::Backend;
use crate::bound::{self, Bound, trees_for};
use crate::engine::Stop;
use crate::instance::{Instance, Metric};
use crate::memory;
use crate::solver::FEWEST as FEWEST_NODES;

/// Fraction of the time after which the ascent ends: pricing follows and, on threads next to a GPU, crossover then starts.
const SHARE: f64 = 0.6;
/// Maximum fraction of the CPU threads' time that a bound may use if it was not requested.
const UNASKED: f64 = 0.02;
/// Minimum number of trees that are worth computing.
const FEWEST: f64 = 60.0;
/// Thread seconds per node of a tree, including overhead; the second number is for directed edges.
const NODE: [f64; 2] = [4.5e-7, 1e-6];
/// Thread seconds per pair of nodes to look up their distance for pricing or, if edges are directed, for the cheapest assignment and
/// the trees of all edges.
const PAIR: f64 = 1.2e-7;
/// A requested bound gets one extra thread for this many solver threads.
const ONE_OF: usize = 4;
/// How often interrupts are checked for while a run waits for its bound.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// The plan of a bound beside a run: trees, threads, and whether the run waits for it.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    trees: u32,
    threads: usize,
    /// Whether it was requested, so that the run waits for it.
    is_asked: bool,
}

impl Plan {
    /// Plans a bound alongside a run with these limits: always if it `is_asked` for, else only if no optimum is known and it costs
    /// the run next to nothing.
    pub fn new(instance: &Instance, is_asked: bool, backend: &Backend, stop: &Stop) -> Option<Plan> {
        if !bound::is_possible(instance) {
            return None;
        }
        let (all, n) = (rayon::current_num_threads(), instance.len());
        let most = trees_for(n);
        if is_asked && instance.len() >= FEWEST_NODES {
            let threads = if backend.is_cpu() { all / ONE_OF } else { all / 2 };
            return Some(Plan { trees: most, threads: threads.max(1), is_asked });
        }
        let is_known = instance.best_known().is_some_and(|known| known.proven);
        if is_known || instance.len() < FEWEST_NODES {
            return None;
        }
        let is_directed = !instance.is_symmetric();
        // Edges are priced pair by pair unless the nodes are points in the plane, in space or on the globe.
        let has_places = instance.metric().is_some_and(|m| !matches!(m, Metric::Xray1 | Metric::Xray2));
        let has_places = has_places && !bound::is_by_pairs(instance);
        let pricing = if has_places { 0.0 } else { PAIR * (n as f64).powi(2) };
        let seconds = stop.time?.as_secs_f64();
        let threads = if backend.is_cpu() { 1 } else { all / 2 };
        let most_seconds = SHARE * seconds * threads as f64;
        let seconds = if backend.is_cpu() { UNASKED * seconds * all as f64 } else { most_seconds };
        let seconds = seconds.min(most_seconds) - pricing;
        let trees = seconds / (NODE[usize::from(is_directed)] * n as f64);
        (trees >= FEWEST).then(|| Plan { trees: most.min(trees as u32), threads, is_asked })
    }
}

/// A bound that is being computed.
pub struct Search<'s> {
    thread: Mutex<Option<ScopedJoinHandle<'s, Option<Bound>>>>,
    threads: usize,
    enough: Arc<AtomicBool>,
    is_asked: bool,
    /// The bound once it is known; before that `i64::MIN`.
    found: Arc<AtomicI64>,
    /// The interrupt flag of the run.
    interrupt: Arc<AtomicBool>,
}

impl<'s> Search<'s> {
    /// Starts; `None` if there is no memory for it or no thread can be started.
    pub fn begin<'e>(
        scope: &'s Scope<'s, 'e>,
        plan: Plan,
        instance: &'s Instance,
        stop: &Stop,
    ) -> Option<Search<'s>> {
        let (enough, interrupt) = (Arc::new(AtomicBool::new(false)), stop.interrupt.clone());
        let time = stop.time.map(|time| time.mul_f64(SHARE));
        let (stop, abandoned) = (Stop { time, ..Stop::never() }, enough.clone());
        memory::check(bound::memory(instance) as u64).ok()?;
        memory::check_threads(plan.threads as u32 + 1).ok()?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(plan.threads).build().ok()?;
        let is_abandoned = move || abandoned.load(Ordering::Relaxed);
        let found = Arc::new(AtomicI64::new(i64::MIN));
        let told = found.clone();
        let find = move || {
            let bound = pool.install(|| bound::held_karp(instance, Some(plan.trees), &stop, &is_abandoned));
            told.store(bound.map_or(i64::MIN, |bound| bound.length), Ordering::Relaxed);
            bound
        };
        let thread = std::thread::Builder::new().spawn_scoped(scope, find).ok()?;
        let Plan { threads, is_asked, .. } = plan;
        Some(Search { thread: Mutex::new(Some(thread)), threads, enough, is_asked, found, interrupt })
    }

    /// Returns the threads that compute it; `None` once it is known.
    pub fn threads(&self) -> Option<usize> {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        thread.as_ref().is_some_and(|thread| !thread.is_finished()).then_some(self.threads)
    }

    /// Returns the bound once it is known, before the run is over: no tour has a lower internal cost.
    pub fn found(&self) -> Option<i64> {
        Some(self.found.load(Ordering::Relaxed)).filter(|&found| found > i64::MIN)
    }

    /// Returns whether a tour of this internal cost is proven to be the shortest, so that the run can end.
    pub fn proves(&self, instance: &Instance, cost: i64) -> bool {
        let is_proven = self.found().is_some_and(|bound| bound >= cost);
        is_proven && instance.is_exact() && !instance.may_be_forbidden(cost)
    }

    /// Returns the bound, once the run is over. If it was not requested, or the user interrupts the wait, the search ends early.
    pub fn end(&self) -> Option<Bound> {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        while !thread.is_finished() {
            if !self.is_asked || self.interrupt.load(Ordering::Relaxed) {
                self.enough.store(true, Ordering::Relaxed);
                break;
            }
            std::thread::sleep(LOOK_EVERY);
        }
        thread.join().ok().flatten()
    }
}

/// Ends the search however the run ends.
impl Drop for Search<'_> {
    fn drop(&mut self) {
        self.enough.store(true, Ordering::Relaxed);
    }
}
