//! One run by several processes. Rank 0 does what a single process would do; the others get their orders from it and are quiet.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::super::error::as_options;
use super::super::options::MachineArgs;
use super::super::output;
use super::super::{Error, Outcome, Result, checkpoints};
use super::Plan;
use crate::cluster::{Answer, Ended, Facts, LATE, Ledger, Limits, Orders, Topology, Voyage, World};
use crate::engine::{BackendError, Observe, Post, Progress, Snapshot, Stop, StopReason, Voyager};
use crate::instance::Instance;
use crate::solver::Solution;
use crate::solver::checkpoint::Part;
use crate::solver::resumed::Island;

/// One rank's run.
pub(super) struct Crew<'w> {
    world: &'w World,
    /// Where the run and the courier exchange tours.
    pub post: Arc<Post>,
    /// When the run ends: by the limits given to rank 0, but also when another rank or the user of rank 0 stops it.
    pub stop: Stop,
    /// When it started.
    started: Instant,
    /// The user's interrupt.
    interrupt: Arc<AtomicBool>,
    /// Every better tour of any rank, on rank 0.
    better: Mutex<Option<Receiver<Arc<Voyager>>>>,
}

impl<'w> Crew<'w> {
    /// Starts to exchange tours.
    pub(super) fn begin(
        world: &'w World,
        instance: &Arc<Instance>,
        stop: &Stop,
        (topology, ledger): (Topology, Option<Ledger>),
        interrupt: &Arc<AtomicBool>,
    ) -> Crew<'w> {
        let post = Arc::new(Post::in_step(world.rank(), world.size()));
        let hurry = Arc::new(AtomicBool::new(false));
        let (tell, better) = channel();
        world.begin(Voyage {
            instance: instance.clone(),
            post: post.clone(),
            topology,
            exchanges: stop.iterations.is_none(),
            target: stop.target,
            interrupt: interrupt.clone(),
            hurry: hurry.clone(),
            better: (world.rank() == 0).then_some(tell),
            ledger,
        });
        let stop = Stop { interrupt: hurry, ..stop.clone() };
        let (started, better) = (Instant::now(), Mutex::new(Some(better)));
        Crew { world, post, stop, started, interrupt: interrupt.clone(), better }
    }

    /// Returns the receiver of [`Voyage::better`] to the first caller, and `None` to others. Nothing arrives on ranks other than 0.
    pub(super) fn better(&self) -> Option<Receiver<Arc<Voyager>>> {
        self.better.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Ends this rank's run, with its own solution if it has one, and waits for the others. Returns on rank 0 the best solution of all
    /// ranks, and the facts about them for the report; `None` on other ranks, and if no rank has a tour.
    pub(super) fn end(&self, own: Option<&Solution>) -> Option<(Solution, Facts)> {
        let best = own.map(|own| Voyager { from: self.world.rank(), cost: own.cost, tour: own.tour.clone() });
        let ended = Ended { cost: own.map(|own| own.cost), tours: own.map_or(0, |own| own.tours) };
        // Without a time limit, it is unknown how long the others take.
        let spent = self.stop.before + self.started.elapsed();
        let patience = self.stop.time.map(|time| time.saturating_sub(spent) + LATE);
        let gathered = self.world.end(best, ended, patience)?;
        let best = gathered.best?;
        let mut solution = own.cloned().unwrap_or_else(|| of_others(&best));
        if best.cost < solution.cost {
            (solution.cost, solution.tour) = (best.cost, best.tour.clone());
        }
        solution.tours = gathered.tours.max(solution.tours);
        // A rank that was asked to stop does not know why.
        let is_interrupted = self.interrupt.load(Ordering::Relaxed);
        let is_reached = self.stop.target.is_some_and(|target| solution.cost <= target);
        if is_reached && (solution.stopped_by != StopReason::Interrupt || !is_interrupted) {
            solution.stopped_by = StopReason::Target;
        }
        Some((solution, gathered.facts))
    }
}

/// A solution of another rank, of which only the tour is known here.
fn of_others(best: &Voyager) -> Solution {
    Solution {
        tour: best.tour.clone(),
        cost: best.cost,
        iterations: 0,
        best_iteration: 0,
        seconds: 0.0,
        setup_seconds: 0.0,
        tours: 0,
        stopped_by: StopReason::Failure,
        layout: "of other ranks".to_owned(),
        trace: Vec::new(),
        failure: None,
    }
}

impl Plan {
    /// Returns the orders for all other ranks, as a message. `initial` has the initial tours, one after the other.
    ///
    /// # Errors
    /// [`Error::Bug`], if the settings cannot be written.
    pub(super) fn orders(&self, initial: Option<&[u32]>, is_resumed: bool) -> Result<Vec<u8>> {
        let has_checkpoints = self.outputs.checkpoint.is_some();
        let limits = Limits::new(&self.asked.stop, self.topology);
        let limits = limits.with_checkpoints(has_checkpoints, is_resumed);
        let orders = Orders::to_bytes(&self.instance, &self.asked.algorithm, initial, limits);
        orders.map_err(|error| Error::Bug(format!("the orders cannot be written: {error}")))
    }
}

/// Answers requests for checkpoints.
struct Answers {
    /// How many have been requested, and answered.
    requested: Arc<AtomicU64>,
    answered: u64,
    /// Whether the next answer is that of the run's end.
    is_last: bool,
    /// Whether that has been sent.
    is_over: bool,
    sender: Sender<Answer>,
}

fn answers() -> (Option<Answers>, Option<Ledger>) {
    let ((sender, answers), requested) = (channel(), Arc::<AtomicU64>::default());
    let own = Answers { requested: requested.clone(), answered: 0, is_last: false, is_over: false, sender };
    (Some(own), Some(Ledger::Sent { requested, answers }))
}

impl Answers {
    fn send(&mut self, part: Option<Part>) {
        self.is_over |= self.is_last;
        // The courier ends after the run.
        _ = self.sender.send(Answer { part, is_last: self.is_last });
    }
}

/// Tells that a run is over that could not be saved at its end.
impl Drop for Answers {
    fn drop(&mut self) {
        if !self.is_over {
            self.is_last = true;
            self.send(None);
        }
    }
}

/// The observer of a rank other than 0.
struct Follower {
    rank: u32,
    answers: Option<Answers>,
    /// Whether it has been said that the run cannot be saved.
    has_warned: bool,
}

impl Observe for Follower {
    fn progress(&mut self, _: &Progress) {}

    fn wants_checkpoint(&mut self, is_end: bool) -> bool {
        let Some(answers) = &mut self.answers else { return false };
        let requested = answers.requested.load(Ordering::Relaxed);
        let is_due = is_end || requested > answers.answered;
        (answers.answered, answers.is_last) = (requested, is_end);
        is_due
    }

    fn checkpoint(&mut self, snapshot: std::result::Result<Snapshot, BackendError>) {
        let Some(answers) = &mut self.answers else { return };
        let part = snapshot.and_then(Part::of_tours);
        if let Err(error) = &part
            && !std::mem::replace(&mut self.has_warned, true)
        {
            let warning = checkpoints::warning(&as_options(&error.to_string()));
            output::tell(&format!("antwarp: rank {}: {warning}", self.rank));
        }
        answers.send(part.ok());
    }

    fn no_checkpoint(&mut self) {
        self.answers.iter_mut().for_each(|answers| answers.send(None));
    }

    fn keeps_checkpoints(&self) -> bool {
        self.answers.is_some()
    }
}

/// Runs a rank other than 0. Errors here are reported, but do not end the other ranks.
pub(super) fn follow(
    world: &World,
    machine: &MachineArgs,
    interrupt: &Arc<AtomicBool>,
    begin: Instant,
) -> Result<Outcome> {
    if let Err(error) = work(world, machine, interrupt, begin) {
        output::tell(&format!("antwarp: rank {}: {}", world.rank(), as_options(&error.to_string())));
    }
    Ok(Outcome::Done)
}

fn work(world: &World, machine: &MachineArgs, interrupt: &Arc<AtomicBool>, begin: Instant) -> Result<()> {
    let Some(bytes) = world.share(None) else { return Ok(()) };
    // Before the instance is read: that uses them.
    machine.start_threads()?;
    let orders = Orders::of(&bytes);
    let orders = orders.ok_or_else(|| Error::Bug("the orders of rank 0 cannot be read".to_owned()))?;
    drop(bytes);
    let Orders { instance, algorithm, initial, limits } = orders;
    let own = if limits.is_resumed { Island::of(&world.dealt()) } else { None };
    let Island { number, state } = own.unwrap_or(Island { number: world.rank(), state: None });
    let backend = machine.open_for(&algorithm, &instance, true)?;
    let instance = Arc::new(instance);
    let stop = limits.stop().spent(begin.elapsed());
    let (answers, ledger) = if limits.has_checkpoints { answers() } else { (None, None) };
    let crew = Crew::begin(world, &instance, &stop, (limits.topology, ledger), interrupt);
    let algorithm = algorithm.of_island(number);
    let mut observer = Follower { rank: world.rank(), answers, has_warned: false };
    let contact: (&mut dyn Observe, _) = (&mut observer, &*crew.post);
    let solved =
        algorithm.solve_as_island(&instance, (initial, state), (&backend, &crew.stop), contact, None);
    // If the run has not answered for the last time, it does so now.
    drop(observer);
    crew.end(solved.as_ref().ok());
    match solved?.failure {
        Some(failure) => Err(Error::CutShort(failure)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_answers_once_at_its_end_whatever_happens() {
        // Whether its last checkpoint was due, and whether it was sent.
        for (is_due, is_sent) in [(false, false), (true, false), (true, true)] {
            let (answers, ledger) = answers();
            let Some(Ledger::Sent { answers: sent, .. }) = ledger else { panic!("a rank sends its answers") };
            let mut follower = Follower { rank: 1, answers, has_warned: false };
            if is_due {
                assert!(follower.wants_checkpoint(true));
            }
            if is_sent {
                follower.no_checkpoint();
            }
            drop(follower);
            let last: Vec<bool> = sent.iter().map(|answer| answer.is_last).collect();
            assert_eq!(last, [true], "{is_due} {is_sent}");
        }
    }
}
