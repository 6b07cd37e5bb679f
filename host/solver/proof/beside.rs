//! A search and a proof at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use antwarp_exact::{Board, Settings};

use super::{Proof, Prover};
use crate::backend::Backend;
use crate::engine::{BackendError, Better, Deadline, Observe, Progress, Snapshot, Stop, StopReason};
use crate::instance::Instance;
use crate::memory;
use crate::solver::{Algorithm, Solution, SolveError};

/// How often it is decided what goes on.
const TICK: Duration = Duration::from_millis(2);
/// A search may be idle once the tree has started or its restarts have ended with the same length. Then it ends after this part of its time
/// without a better tour, and the proof gets its threads.
const SETTLED: f64 = 0.4;
/// A proof that nobody asked for starts once this many restarts of the search have ended with the best length. Beside one that was asked
/// for, the search may then be idle.
const STARTS_AFTER: u32 = 2;
/// Once there are this many, a shorter tour is unlikely: such a proof may use all threads, as the search does; a search beside a proof that
/// was asked for ends.
const SETTLED_AFTER: u32 = 5;

/// The most nodes of the closed form that are proven without being asked to. More take too long to gain by it.
const MOST_UNASKED: usize = 1500;
/// Threads beside those of the search and of the tree: the proof, and one that waits for interrupts.
const THREADS: u32 = 2;
/// How many times the memory that a proof needs at least must be free for one that was not asked for.
const MARGIN: u64 = 3;

/// A search gives threads to a proof only if it keeps so many.
const FEWEST_OF_SEARCH: usize = 2;

/// When a proof starts, and what it may take from the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// It was asked for: it starts with the first tour, and the search has half of the threads. Once the root of its
    /// tree is done and the search finds nothing more, the search ends, and the proof takes its threads over.
    AtOnce,
    /// It was not asked for: it starts once the search has settled, on one more thread, and on all threads once a shorter tour is unlikely.
    /// The search goes on. If it ends by itself, the
    /// proof may take as long as the run until then.
    Settled,
}

impl When {
    /// Returns when a proof starts that nobody asked for; `None` if the run is better without one.
    pub fn unasked(
        algorithm: &Algorithm,
        instance: &Instance,
        (backend, stop): (&Backend, &Stop),
    ) -> Option<When> {
        let searches = matches!(algorithm, Algorithm::LinKernighan(_)) && !algorithm.is_descent_only();
        // Such a run is repeatable.
        let is_counted = stop.iterations.is_some() || stop.stagnation.is_some();
        let is_known = instance.best_known().is_some_and(|known| known.proven);
        let nodes = instance.len() * if instance.is_symmetric() { 1 } else { 2 };
        let gains = searches && backend.is_cpu() && !is_counted && !is_known && nodes <= MOST_UNASKED;
        // A run that fits without it must not end because of it.
        let threads = rayon::current_num_threads();
        let needed = MARGIN * Prover::memory(instance, threads);
        let fits =
            || memory::check(needed).is_ok() && memory::check_threads(THREADS + threads as u32).is_ok();
        (gains && fits()).then_some(When::Settled)
    }
}

/// Solves an instance and proves that the tour is the shortest, both at the same time; ends at `stop`'s limits, too.
/// [`Board`] shows where the proof stands. There is no proof if it never started.
///
/// # Errors
/// As [`Algorithm::solve`], and if the instance contradicts itself.
pub fn solve(
    algorithm: &Algorithm,
    (instance, initial): (&Instance, Option<Vec<u32>>),
    (backend, stop): (&Backend, &Stop),
    observe: &mut (dyn Observe + Send),
    (when, settings): (When, &Settings),
) -> Result<(Solution, Option<Proof>), SolveError> {
    let pair = Pair {
        prover: Prover::new(instance)?,
        settings,
        deadline: Deadline::since(Instant::now(), stop),
        when,
        halt: Arc::default(),
        has_settled: AtomicBool::new(when == When::AtOnce),
        is_abandoned: AtomicBool::new(false),
    };
    if let Some(tour) = initial.as_ref().filter(|tour| tour.len() == instance.len()) {
        pair.prover.offer(tour);
    }
    match pair.solve(algorithm, (instance, initial.clone()), backend, observe) {
        // No tour is lost because of a proof that nobody asked for.
        Err(SolveError::NoThread(_)) if when == When::Settled => {
            let solution = algorithm.solve(instance, initial, (backend, stop), observe, None)?;
            Ok((solution, None))
        }
        solved => solved,
    }
}

/// A search and a proof.
struct Pair<'a> {
    prover: Prover<'a>,
    settings: &'a Settings,
    deadline: Deadline<'a>,
    when: When,
    /// Ends the search.
    halt: Arc<AtomicBool>,
    /// Lets the proof start.
    has_settled: AtomicBool,
    /// Ends the proof.
    is_abandoned: AtomicBool,
}

impl Pair<'_> {
    fn solve(
        &self,
        algorithm: &Algorithm,
        (instance, initial): (&Instance, Option<Vec<u32>>),
        backend: &Backend,
        observe: &mut (dyn Observe + Send),
    ) -> Result<(Solution, Option<Proof>), SolveError> {
        let (board, stop) = (&*self.settings.board, self.deadline.stop);
        let all = board.threads();
        std::thread::scope(|scope| {
            // Ends the proof on every exit path.
            let _abandon = Abandon(&self.is_abandoned);
            board.allow(match self.when {
                When::AtOnce => all.div_ceil(2),
                When::Settled => 1,
            });
            board.search(true);
            let thread = std::thread::Builder::new().name("proof".into());
            let proof = thread.spawn_scoped(scope, || self.prove());
            let proof = proof.map_err(|error| SolveError::NoThread(error.to_string()))?;
            let mut beside =
                Beside { observe: &mut *observe, pair: self, board, all, best: (i64::MAX, Instant::now()) };
            let halted = Stop { interrupt: self.halt.clone(), ..stop.clone() };
            let search = || {
                while_listening((stop, &self.halt), || {
                    algorithm.solve(instance, initial, (backend, &halted), &mut beside, None)
                })
            };
            let searched = match self.threads_of_search(all) {
                Some(pool) => pool.install(search),
                None => search(),
            }?;
            self.prover.offer(&searched.tour);
            board.search(false);
            board.allow(all);
            self.wait(&proof, &searched, observe);
            let proof = match proof.join() {
                Ok(proof) => proof,
                Err(_) if self.when == When::Settled => None,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            Ok((joined(instance, searched, proof.as_ref(), self.deadline), proof))
        })
    }

    /// Proves what it can, once there is a tour and it is time to; `None` if it never was.
    fn prove(&self) -> Option<Proof> {
        let is_asked = self.when == When::AtOnce;
        let _halt = is_asked.then(|| HaltsInPanic(&self.halt));
        let enough = || self.is_abandoned.load(Relaxed) || self.deadline.is_over();
        // The linear program begins with the edges of a tour.
        while self.prover.cost().is_none() || !self.has_settled.load(Relaxed) {
            if enough() {
                return None;
            }
            std::thread::sleep(TICK);
        }
        let proof = self.prover.prove(self.settings, &enough);
        // Without a limit, the search would not end.
        if proof.is_complete() || is_asked && self.deadline.stop.time.is_none() {
            self.halt.store(true, Relaxed);
        }
        Some(proof)
    }

    /// Returns the threads of a search beside a proof that was asked for: half of them, where that leaves several. The linear program of
    /// the root is solved on one thread, which must not wait for a processor.
    fn threads_of_search(&self, all: usize) -> Option<rayon::ThreadPool> {
        let threads = (all / 2).max(1);
        let shares = self.when == When::AtOnce && threads >= FEWEST_OF_SEARCH;
        let pool = || rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok();
        shares.then(pool).flatten()
    }

    /// Waits for the proof after the end of the search.
    fn wait(
        &self,
        proof: &ScopedJoinHandle<'_, Option<Proof>>,
        searched: &Solution,
        observe: &mut (dyn Observe + Send),
    ) {
        let spent = self.deadline.elapsed();
        let has_time = || searched.stopped_by == StopReason::Settled && self.deadline.elapsed() < 2 * spent;
        while !proof.is_finished() {
            if self.when == When::Settled && !has_time() {
                self.is_abandoned.store(true, Relaxed);
            }
            std::thread::sleep(TICK);
            observe.progress(&Progress {
                iterations: searched.iterations,
                best_cost: self.prover.cost().unwrap_or(searched.cost),
                iteration_cost: searched.cost,
                seconds: self.deadline.elapsed().as_secs_f64(),
                tours: searched.tours,
                part: "proof",
                restarts: 0,
                proof: self.prover.standing(&self.settings.board),
            });
        }
    }
}

/// Runs a search that ends once `halt` is set, and sets that after an interrupt.
fn while_listening<R>(
    (stop, halt): (&Stop, &AtomicBool),
    search: impl FnOnce() -> Result<R, SolveError>,
) -> Result<R, SolveError> {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let is_over = &is_over;
        let _over = Abandon(is_over);
        let listen = move || {
            while !is_over.load(Relaxed) {
                if stop.interrupt.load(Relaxed) {
                    halt.store(true, Relaxed);
                }
                std::thread::sleep(TICK);
            }
        };
        let listener = std::thread::Builder::new().name("interrupts".into()).spawn_scoped(scope, listen);
        listener.map_err(|error| SolveError::NoThread(error.to_string()))?;
        search()
    })
}

/// Returns the result of the search with what the proof adds to it.
fn joined(
    instance: &Instance,
    searched: Solution,
    proof: Option<&Proof>,
    deadline: Deadline<'_>,
) -> Solution {
    let seconds = deadline.elapsed().as_secs_f64();
    let mut solution = Solution { seconds, ..searched };
    let Some(proof) = proof else { return solution };
    if let Some((cost, tour)) = proof.best.as_ref().filter(|(cost, _)| *cost < solution.cost) {
        (solution.cost, solution.tour) = (*cost, tour.clone());
        solution.trace.push(Better { seconds, cost: *cost, part: "proof" });
    }
    solution.stopped_by = match solution.stopped_by {
        _ if proof.proves(solution.cost) && instance.is_exact() => StopReason::Optimal,
        _ if proof.proves(solution.cost) => StopReason::OptimalRounded,
        // The search may have ended by itself before the user stopped the proof.
        _ if deadline.stop.is_interrupted() => StopReason::Interrupt,
        // The proof stopped the search, not the user.
        StopReason::Interrupt if deadline.stop.is_late(deadline.begin) => StopReason::Time,
        StopReason::Interrupt => StopReason::Settled,
        reason => reason,
    };
    solution
}

/// Sets a flag when it is dropped.
struct Abandon<'a>(&'a AtomicBool);

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Ends the search if the proof panics.
struct HaltsInPanic<'a>(&'a AtomicBool);

impl Drop for HaltsInPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Relaxed);
        }
    }
}

/// Observes a search for somebody else and for a proof.
struct Beside<'a> {
    observe: &'a mut (dyn Observe + Send),
    pair: &'a Pair<'a>,
    board: &'a Board,
    /// All threads.
    all: usize,
    /// The best cost, and since when.
    best: (i64, Instant),
}

impl Observe for Beside<'_> {
    fn progress(&mut self, progress: &Progress) {
        let pair = self.pair;
        self.observe.progress(&Progress { proof: pair.prover.standing(self.board), ..*progress });
        if progress.best_cost < self.best.0 {
            self.best = (progress.best_cost, Instant::now());
        }
        match pair.when {
            When::AtOnce => {
                let idle = self.best.1.elapsed().as_secs_f64();
                let may_end = self.board.is_branching() || progress.restarts >= STARTS_AFTER;
                if may_end && idle > SETTLED * progress.seconds || progress.restarts >= SETTLED_AFTER {
                    pair.halt.store(true, Relaxed);
                }
            }
            When::Settled => {
                pair.has_settled.fetch_or(progress.restarts >= STARTS_AFTER, Relaxed);
                self.board.allow(if progress.restarts >= SETTLED_AFTER { self.all } else { 1 });
            }
        }
    }

    fn each(&mut self, runs: &[Option<Progress>]) {
        self.observe.each(runs);
    }

    fn better(&mut self, cost: i64, best: &Vec<u32>) {
        self.pair.prover.offer(best);
        self.observe.better(cost, best);
    }

    fn wants_better(&self) -> bool {
        self.pair.has_settled.load(Relaxed) || self.observe.wants_better()
    }

    fn wants_checkpoint(&mut self, is_end: bool) -> bool {
        self.observe.wants_checkpoint(is_end)
    }

    fn checkpoint(&mut self, snapshot: Result<Snapshot, BackendError>) {
        self.observe.checkpoint(snapshot);
    }

    fn no_checkpoint(&mut self) {
        self.observe.no_checkpoint();
    }

    fn keeps_checkpoints(&self) -> bool {
        self.observe.keeps_checkpoints()
    }

    fn for_each_run(&mut self, runs: u32) -> Vec<Box<dyn Observe + Send>> {
        self.observe.for_each_run(runs)
    }
}
