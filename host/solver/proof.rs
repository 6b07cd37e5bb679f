//! Proofs that a tour is the shortest one: any instance in the form that [`antwarp_exact`] knows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use antwarp_exact::certificate::Certificate;
use antwarp_exact::simplex::SimplexError;
use antwarp_exact::{Board, Incumbent, Outcome, Settings};

use super::{Algorithm, Solution, SolveError};
use crate::backend::Backend;
use crate::engine::{BackendError, Better, Deadline, Observe, Progress, Snapshot, Stop, StopReason};
use crate::instance::form::Form;
use crate::instance::{Enough, Instance};

/// Proves bounds on the tours of an instance, beside searches that offer their tours.
pub struct Prover<'a> {
    instance: &'a Instance,
    /// The forms that lead to closed tours without directions, the first one first.
    forms: Vec<Form>,
    incumbent: Incumbent,
}

/// What was proven about an instance.
#[derive(Debug)]
pub struct Proof {
    /// No tour has a lower internal cost, if anything is known.
    pub bound: Option<i64>,
    /// The best tour known and its internal cost.
    pub best: Option<(i64, Vec<u32>)>,
    /// How it was found.
    pub outcome: Outcome,
    /// What a program can check it by, if the settings ask for it.
    pub certificate: Option<Certificate>,
}

impl Proof {
    /// Returns whether no tour has a lower internal cost than this.
    pub fn proves(&self, cost: i64) -> bool {
        self.bound.is_some_and(|bound| bound >= cost)
    }

    /// Returns whether the best tour is proven to have the lowest internal cost.
    pub fn is_complete(&self) -> bool {
        self.best.as_ref().is_some_and(|(cost, _)| self.proves(*cost))
    }
}

impl<'a> Prover<'a> {
    /// Prepares an instance.
    ///
    /// # Errors
    /// If its ends, fixed and forbidden edges contradict each other.
    pub fn new(instance: &'a Instance) -> Result<Prover<'a>, SolveError> {
        let mut forms = Vec::new();
        if instance.ends().is_some() || !instance.fixed_edges().is_empty() {
            instance.check_shape()?;
            forms.extend(Form::closed(instance));
        }
        let closed = forms.last().map_or(instance, Form::instance);
        if !closed.is_symmetric() {
            forms.push(Form::doubled(closed, None));
        }
        Ok(Prover { instance, forms, incumbent: Incumbent::new() })
    }

    /// Returns the instance of closed tours without directions that everything is proven about.
    pub fn closed(&self) -> &Instance {
        self.forms.last().map_or(self.instance, Form::instance)
    }

    /// Returns whether a proof is possible.
    ///
    /// # Errors
    /// What is missing for it.
    pub fn check(&self) -> Result<(), SimplexError> {
        antwarp_exact::check(self.closed())
    }

    /// Returns by how much tours of the instance cost more than those of the closed one.
    pub fn offset(&self) -> i64 {
        self.forms.iter().map(Form::offset).sum()
    }

    /// Converts a tour of the closed instance to one of the instance; `None` if it is not a valid tour.
    pub fn outward(&self, tour: Vec<u32>) -> Option<Vec<u32>> {
        self.forms.iter().rev().try_fold(tour, |tour, form| form.outward(&tour))
    }

    /// Tells the proof of a tour of the instance.
    pub fn offer(&self, tour: &[u32]) {
        let inward = self.forms.iter().try_fold(tour.to_vec(), |tour, form| form.inward(&tour));
        if let Some(tour) = inward
            && let Ok(cost) = self.closed().check_tour(&tour)
        {
            self.incumbent.offer(cost, &tour);
        }
    }

    /// Returns the cost of the best tour that was offered or found.
    pub fn cost(&self) -> Option<i64> {
        Some(self.incumbent.cost()).filter(|&cost| cost < i64::MAX).map(|cost| cost + self.offset())
    }

    /// Proves what it can until `enough` says so, or the best tour is proven to be the shortest.
    pub fn prove(&self, settings: &Settings, enough: Enough<'_>) -> Proof {
        let (outcome, certificate) = antwarp_exact::prove(self.closed(), &self.incumbent, settings, enough);
        let best = self.incumbent.best().and_then(|(_, tour)| {
            let tour = self.outward(tour)?;
            Some((self.instance.check_tour(&tour).ok()?, tour))
        });
        let bound = Some(outcome.bound).filter(|&bound| bound > i64::MIN);
        let bound = bound.map(|bound| bound.saturating_add(self.offset()));
        Proof { bound, best, outcome, certificate }
    }
}

/// How often it is decided what goes on.
const TICK: Duration = Duration::from_millis(2);
/// Once the tree has started, a search ends after this part of its time without a better tour, and the proof gets its threads.
const SETTLED: f64 = 0.4;

/// Solves an instance and proves that the tour is the shortest, both at the same time; ends at `stop`'s limits, too.
///
/// The search has all threads while the proof, on one thread, is at the root of its tree. Once that is done and the search finds
/// nothing more, the proof takes them over. [`Board`] shows where the proof stands.
///
/// # Errors
/// As [`Algorithm::solve`], and if the instance contradicts itself.
pub fn solve(
    algorithm: &Algorithm,
    (instance, initial): (&Instance, Option<Vec<u32>>),
    (backend, stop): (&Backend, &Stop),
    observe: &mut dyn Observe,
    settings: &Settings,
) -> Result<(Solution, Proof), SolveError> {
    let deadline = Deadline::since(Instant::now(), stop);
    let prover = Prover::new(instance)?;
    if let Some(tour) = initial.as_ref().filter(|tour| tour.len() == instance.len()) {
        prover.offer(tour);
    }
    let board = &*settings.board;
    let all = board.threads();
    let halt = Arc::new(AtomicBool::new(false));
    let is_abandoned = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // However the search ends.
        let _abandon = Abandon(&is_abandoned);
        let enough = || is_abandoned.load(Relaxed) || deadline.is_over();
        let (prover, halt) = (&prover, &halt);
        board.allow(1);
        board.search(true);
        let proof = std::thread::Builder::new().name("proof".into());
        let proof = proof.spawn_scoped(scope, move || {
            let _halt = HaltsInPanic(halt);
            // The linear program begins with the edges of a tour.
            while prover.cost().is_none() && !enough() {
                std::thread::sleep(TICK);
            }
            let proof = prover.prove(settings, &enough);
            // Without a limit, the search would not end.
            if proof.is_complete() || stop.time.is_none() {
                halt.store(true, Relaxed);
            }
            proof
        });
        let proof = proof.map_err(|error| SolveError::NoThread(error.to_string()))?;
        let is_over = AtomicBool::new(false);
        let searched = std::thread::scope(|scope| {
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
            let mut observe =
                Beside { observe: &mut *observe, prover, board, halt, best: (i64::MAX, Instant::now()) };
            let stop = Stop { interrupt: halt.clone(), ..stop.clone() };
            algorithm.solve(instance, initial, (backend, &stop), &mut observe, None)
        })?;
        prover.offer(&searched.tour);
        board.search(false);
        board.allow(all);
        while !proof.is_finished() {
            std::thread::sleep(TICK);
            observe.progress(&Progress {
                iterations: searched.iterations,
                best_cost: prover.cost().unwrap_or(searched.cost),
                iteration_cost: searched.cost,
                seconds: deadline.elapsed().as_secs_f64(),
                tours: searched.tours,
            });
        }
        let proof = match proof.join() {
            Ok(proof) => proof,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        Ok((joined(instance, searched, &proof, deadline), proof))
    })
}

/// Returns the result of the search with what the proof adds to it.
fn joined(instance: &Instance, searched: Solution, proof: &Proof, deadline: Deadline<'_>) -> Solution {
    let seconds = deadline.elapsed().as_secs_f64();
    let mut solution = Solution { seconds, ..searched };
    if let Some((cost, tour)) = proof.best.as_ref().filter(|(cost, _)| *cost < solution.cost) {
        (solution.cost, solution.tour) = (*cost, tour.clone());
        solution.trace.push(Better { seconds, cost: *cost, part: "proof" });
    }
    solution.stopped_by = match solution.stopped_by {
        _ if proof.proves(solution.cost) && instance.is_exact() => StopReason::Optimal,
        _ if proof.proves(solution.cost) => StopReason::OptimalRounded,
        // The proof stopped the search, not the user.
        StopReason::Interrupt if !deadline.stop.interrupt.load(Relaxed) => StopReason::Time,
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
    observe: &'a mut dyn Observe,
    prover: &'a Prover<'a>,
    board: &'a Board,
    halt: &'a AtomicBool,
    /// The best cost, and since when.
    best: (i64, Instant),
}

impl Observe for Beside<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.observe.progress(progress);
        if progress.best_cost < self.best.0 {
            self.best = (progress.best_cost, Instant::now());
        }
        let idle = self.best.1.elapsed().as_secs_f64();
        if self.board.is_branching() && idle > SETTLED * progress.seconds {
            self.halt.store(true, Relaxed);
        }
    }

    fn better(&mut self, cost: i64, best: &Vec<u32>) {
        self.prover.offer(best);
        self.observe.better(cost, best);
    }

    fn wants_better(&self) -> bool {
        true
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
