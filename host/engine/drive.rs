//! The main loop of all algorithms.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::{BackendError, Budget, Deadline, Grace, State, StopReason};

/// An algorithm running on an instance.
pub trait Engine {
    /// A length, or another cost.
    type Cost: Copy + PartialOrd;
    /// The kind of result: a tour or a solution.
    type Best;

    /// Does a batch of work: about as many units as the budget says, or fewer if it reaches an end. Returns the units of work done.
    ///
    /// # Errors
    /// If the backend fails. The engine must not be used afterwards.
    fn advance(&mut self, budget: &Budget<Self::Cost>) -> Result<u64, BackendError>;

    /// Returns its current status.
    fn status(&self) -> Status<Self::Cost>;

    /// Returns the best result so far, with the cost given by [`Engine::status`].
    ///
    /// # Errors
    /// If it cannot be copied from the device.
    fn best(&mut self) -> Result<Self::Best, BackendError>;

    /// Returns its state after a whole batch, so that another engine can continue with it and reach what this one would. `None` if
    /// that is not supported.
    ///
    /// # Errors
    /// If memory is short, or the state cannot be copied from the device.
    fn save(&mut self) -> Result<Option<State>, BackendError> {
        Ok(None)
    }

    /// Accepts a tour or other result found by the run with this number: it may replace a worse one, or be combined with existing
    /// ones. By default, does nothing.
    ///
    /// # Errors
    /// As [`Engine::advance`].
    fn take_in(&mut self, from: u32, cost: Self::Cost, found: &Self::Best) -> Result<(), BackendError> {
        let _ = (from, cost, found);
        Ok(())
    }

    /// Exchanges results with other runs, if it is time to do so.
    ///
    /// # Errors
    /// As [`Engine::advance`].
    fn exchange(&mut self) -> Result<(), BackendError> {
        Ok(())
    }

    /// Does the remaining work once it is time to stop; this is short, and for most engines nothing.
    ///
    /// # Errors
    /// As [`Engine::advance`].
    fn finish(&mut self, deadline: Deadline<'_, Self::Cost>) -> Result<(), BackendError> {
        let _ = deadline;
        Ok(())
    }

    /// Returns how many restarts ended with the best cost so far: the more, the less likely others end with a better one. By default,
    /// 0: most engines do not restart.
    fn restarts(&self) -> u32 {
        0
    }

    /// Describes how the work was laid out.
    fn describe(&self) -> String;

    /// Returns a short name of the current part of the algorithm, which finds any better tours now.
    fn part(&self) -> &'static str;
}

/// The status of an engine. The cost of a tour is its internal one, here and in the other types of this module:
/// [`Instance::cost`](antwarp_instance::Instance::cost) converts it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Status<C = i64> {
    /// Iterations so far, as the engine counts them: kicks of each chain, iterations of a colony, generations, iterations of each
    /// walk.
    pub iterations: u64,
    /// After how many of them the best result was found; 0 if before the first one.
    pub best_iteration: u64,
    /// The best cost so far; `None` before there is a solution.
    pub best_cost: Option<C>,
    /// The best cost of the last iteration.
    pub cost: C,
    /// Tours built so far, or kicks of all chains.
    pub tours: u64,
    /// Why it cannot continue; `None` if it can.
    pub ended: Option<StopReason>,
}

/// The progress of a run, reported after a batch of work.
#[derive(Clone, Copy, Debug)]
pub struct Progress<C = i64> {
    /// Iterations so far; see [`Status::iterations`].
    pub iterations: u64,
    /// The best cost so far.
    pub best_cost: C,
    /// The best cost of the last iteration.
    pub iteration_cost: C,
    /// Seconds since the start of the run, with its preparation and [`Stop::before`](super::Stop::before).
    pub seconds: f64,
    /// Tours built so far, or kicks of all chains.
    pub tours: u64,
    /// The [part](Engine::part) of the engine that works now.
    pub part: &'static str,
    /// How many [restarts](Engine::restarts) ended with the best cost.
    pub restarts: u32,
    /// Where a proof beside the run stands, if there is one.
    pub proof: Option<Proving<C>>,
}

/// Where a proof beside a run stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proving<C = i64> {
    /// The best lower bound so far: no tour costs less.
    pub bound: C,
    /// The open nodes of the tree of branch and cut; 0 before there is a tree.
    pub open: u64,
    /// The threads that it may use.
    pub threads: usize,
}

/// A run between two batches.
#[derive(Clone, Debug)]
pub struct Snapshot<C = i64, B = Vec<u32>> {
    /// How long it has taken so far.
    pub elapsed: Duration,
    /// Iterations so far; see [`Status::iterations`].
    pub iterations: u64,
    /// The cost of the best result so far, and that result.
    pub best: (C, B),
    /// The engine's state, as [`Engine::save`] returned it.
    pub state: State,
}

/// Observes a run while it goes on. A closure observes its progress only.
pub trait Observe<C = i64, B = Vec<u32>> {
    /// Called after each batch of work, once there is a result.
    fn progress(&mut self, progress: &Progress<C>);

    /// Called before [`Observe::progress`] where several runs work at the same time, such as one on each GPU: with the last progress of
    /// each. By default, does nothing.
    fn each(&mut self, runs: &[Option<Progress<C>>]) {
        let _ = runs;
    }

    /// Called with a better result than before: every few seconds, and more often where batches take long or several GPUs exchange
    /// tours. By default, does nothing.
    fn better(&mut self, cost: C, best: &B) {
        let _ = (cost, best);
    }

    /// Returns whether better results are needed after the batch that found them; by default, no.
    fn wants_better(&self) -> bool {
        false
    }

    /// Returns whether a checkpoint is due; asked after every batch, and when the run stops (`is_end`). By default, never.
    fn wants_checkpoint(&mut self, is_end: bool) -> bool {
        let _ = is_end;
        false
    }

    /// Called with the requested checkpoint, or with the error that prevented it, such as too little memory. By default, does
    /// nothing.
    fn checkpoint(&mut self, snapshot: Result<Snapshot<C, B>, BackendError>) {
        let _ = snapshot;
    }

    /// Called instead where the engine cannot be saved after this batch. By default, does nothing.
    fn no_checkpoint(&mut self) {}

    /// Returns whether the run should stop where it can be saved: a run limited by iterations then completes its batch after an
    /// interrupt, if that takes no longer than a second. By default, no.
    fn keeps_checkpoints(&self) -> bool {
        false
    }

    /// Returns an observer for the checkpoints of each of several runs that work at the same time, in their order; none if there are
    /// no checkpoints, as by default.
    fn for_each_run(&mut self, runs: u32) -> Vec<Box<dyn Observe<C, B> + Send>> {
        let _ = runs;
        Vec::new()
    }
}

impl<C, B, F: FnMut(&Progress<C>)> Observe<C, B> for F {
    fn progress(&mut self, progress: &Progress<C>) {
        self(progress);
    }
}

/// An improvement found by a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Better<C = i64> {
    /// Seconds since the start, at the end of the batch that found it.
    pub seconds: f64,
    /// The cost of the improved result.
    pub cost: C,
    /// The [part](Engine::part) of the engine that found it.
    pub part: &'static str,
}

/// How a run ended.
#[derive(Debug)]
pub struct Run<C, B> {
    /// Its final status.
    pub status: Status<C>,
    /// The time of its preparation, before the first batch.
    pub setup: Duration,
    /// The cost of the best result, and that result; `None` if the run failed, or had to stop, before there was any.
    pub best: Option<(C, B)>,
    /// Why it ended.
    pub stopped_by: StopReason,
    /// The error that ended it; always given with [`StopReason::Failure`], and only then.
    pub failure: Option<BackendError>,
    /// How the work was laid out: [`Engine::describe`].
    pub layout: String,
    /// Every improvement, starting with the initial cost if there is one.
    pub trace: Vec<Better<C>>,
}

/// How long a batch should take: short enough to react, long enough to keep a GPU busy.
const BATCH: Duration = Duration::from_millis(100);
/// How often improvements are copied back, so that little is lost if the device fails.
const KEEP_EVERY: Duration = Duration::from_secs(5);
/// How long a run that can be continued exactly may take after an interrupt to complete its batch.
const COMPLETE: Duration = Duration::from_secs(1);
/// A batch that takes this long may be followed by one that outlasts the run, so improvements are copied back at once.
const LONG: Duration = Duration::from_millis(400);

/// Runs an engine until it is time to stop; except for the time limit and an interrupt, not before it has a solution. An error ends
/// the run too: it is in [`Run::failure`], beside the best result that could be kept.
pub fn drive<C: Copy + PartialOrd, B>(
    engine: &mut dyn Engine<Cost = C, Best = B>,
    deadline: Deadline<'_, C>,
    observe: &mut dyn Observe<C, B>,
) -> Run<C, B> {
    let setup = deadline.elapsed().saturating_sub(deadline.stop.before);
    // Kept in case the device fails.
    let mut kept = None;
    let mut trace = Trace { deadline, found: Vec::new() };
    trace.note(engine.status().best_cost, "start");
    let is_exact = deadline.stop.iterations.is_some();
    let grace = Grace::new(if is_exact && observe.keeps_checkpoints() { COMPLETE } else { Duration::ZERO });
    let batches = Deadline { grace: Some(&grace), ..deadline };
    let ended = advance(engine, (deadline, batches), (&mut kept, &mut trace), observe).and_then(|reason| {
        // The last batch of a reproducible run may have been cut short: it would continue differently from there.
        let is_whole = !is_exact || !batches.is_over();
        let saved = (is_whole && observe.wants_checkpoint(true)).then(|| (deadline.elapsed(), engine.save()));
        engine.finish(deadline)?;
        trace.note(engine.status().best_cost, engine.part());
        if let Some(cost) = engine.status().best_cost {
            kept = Some((cost, engine.best()?));
        }
        if let Some((elapsed, state)) = saved {
            tell(engine, (elapsed, state), observe)?;
        }
        Ok(reason)
    });
    let (stopped_by, failure) = match ended {
        Ok(reason) => (reason, None),
        Err(failure) => {
            // Other errors may have broken the engine; work that does not fit in memory has not started, and some engines keep
            // their best on the host.
            if let (BackendError::OutOfMemory { .. } | BackendError::Busy, Some(cost)) =
                (&failure, engine.status().best_cost)
                && let Ok(best) = engine.best()
            {
                kept = Some((cost, best));
            }
            match failure {
                BackendError::Busy if deadline.is_over() => (deadline.ended_by(), None),
                failure => (StopReason::Failure, Some(failure)),
            }
        }
    };
    let (status, layout) = (engine.status(), engine.describe());
    Run { status, setup, best: kept, stopped_by, failure, layout, trace: trace.found }
}

/// A growing trace of improvements.
struct Trace<'a, C> {
    deadline: Deadline<'a, C>,
    found: Vec<Better<C>>,
}

impl<C: Copy + PartialOrd> Trace<'_, C> {
    fn note(&mut self, cost: Option<C>, part: &'static str) {
        let Some(cost) = cost else { return };
        if self.found.last().is_none_or(|last| cost < last.cost) {
            self.found.push(Better { seconds: self.deadline.elapsed().as_secs_f64(), cost, part });
        }
    }
}

fn advance<C: Copy + PartialOrd, B>(
    engine: &mut dyn Engine<Cost = C, Best = B>,
    (deadline, batches): (Deadline<'_, C>, Deadline<'_, C>),
    (kept, trace): (&mut Option<(C, B)>, &mut Trace<'_, C>),
    observe: &mut dyn Observe<C, B>,
) -> Result<StopReason, BackendError> {
    let mut units = 1;
    let mut kept_at = Instant::now();
    loop {
        let status = engine.status();
        let reason = deadline.stop.reason(deadline.elapsed(), &status).or(status.ended);
        let is_hasty = matches!(reason, Some(StopReason::Time | StopReason::Interrupt));
        if let Some(reason) = reason.filter(|_| is_hasty || status.best_cost.is_some()) {
            return Ok(reason);
        }
        let before = Instant::now();
        let part = engine.part();
        let done = engine.advance(&Budget { units, deadline: batches })?;
        let took = before.elapsed();
        units = next_units(units, done, took, deadline.left());
        trace.note(engine.status().best_cost, part);
        engine.exchange()?;
        let status = engine.status();
        let Some(best_cost) = status.best_cost else { continue };
        trace.note(Some(best_cost), "islands");
        let is_time = kept_at.elapsed() >= KEEP_EVERY || took >= LONG || observe.wants_better();
        if is_time && kept.as_ref().is_none_or(|kept| best_cost < kept.0) {
            let (_, best) = kept.insert((best_cost, engine.best()?));
            observe.better(best_cost, best);
            kept_at = Instant::now();
        }
        observe.progress(&Progress {
            iterations: status.iterations,
            best_cost,
            iteration_cost: status.cost,
            seconds: deadline.elapsed().as_secs_f64(),
            tours: status.tours,
            part: engine.part(),
            restarts: engine.restarts(),
            proof: None,
        });
        if !deadline.is_over() && observe.wants_checkpoint(false) {
            save(engine, deadline, observe)?;
        }
    }
}

/// Passes a run's state to its observer.
///
/// # Errors
/// If the device fails.
fn save<C: Copy + PartialOrd, B>(
    engine: &mut dyn Engine<Cost = C, Best = B>,
    deadline: Deadline<'_, C>,
    observe: &mut dyn Observe<C, B>,
) -> Result<(), BackendError> {
    let state = engine.save();
    tell(engine, (deadline.elapsed(), state), observe)
}

/// Passes a state to an observer, with the best result.
fn tell<C: Copy + PartialOrd, B>(
    engine: &mut dyn Engine<Cost = C, Best = B>,
    (elapsed, state): (Duration, Result<Option<State>, BackendError>),
    observe: &mut dyn Observe<C, B>,
) -> Result<(), BackendError> {
    let status = engine.status();
    let snapshot = state.and_then(|state| {
        let (Some(state), Some(cost)) = (state, status.best_cost) else { return Ok(None) };
        let best = (cost, engine.best()?);
        Ok(Some(Snapshot { elapsed, iterations: status.iterations, best, state }))
    });
    match snapshot.transpose() {
        None => observe.no_checkpoint(),
        Some(Err(failure)) if !matches!(failure, BackendError::OutOfMemory { .. }) => return Err(failure),
        Some(snapshot) => observe.checkpoint(snapshot),
    }
    Ok(())
}

/// Returns the units of the next batch, given how long those of this one took and how much time is left: as many as take a tenth of
/// a second, or the time left if that is shorter; at least 1. They grow at most fourfold, since the first ones include one-time
/// work.
pub fn next_units(units: u64, done: u64, took: Duration, left: Option<Duration>) -> u64 {
    let goal = left.map_or(BATCH, |left| left.min(BATCH)).as_secs_f64();
    let each = took.as_secs_f64() / done.max(1) as f64;
    ((goal / each.max(1e-7)) as u64).clamp(1, units.saturating_mul(4))
}
