//! A run as an island among others: when tours are exchanged, and how they are translated.

use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::{Solution, SolveError};
use crate::backend::Backend;
use crate::engine::{
    BackendError, Budget, Deadline, Engine, Observe, Post, Problem, Progress, Snapshot, State, Status, drive,
};
use crate::instance::Instance;
use crate::instance::form::Form;

/// Shortest time between exchanges of tours, and the share of the time that they may take.
const EVERY: Duration = Duration::from_millis(100);
const SHARE: u32 = 20;
/// How often a shared tour is reported, although the others have it: it is needed if the process ends early.
const TOLD_EVERY: Duration = Duration::from_secs(2);
/// Fewest nodes that a thread translates.
const MIN_LEN: usize = 1 << 14;

/// The observer of a run, and the islands that it exchanges tours with.
pub(super) struct Contact<'a> {
    /// Observes the run; it is given tours in the others' numbering.
    pub observe: &'a mut dyn Observe,
    /// `None` for a single run.
    pub post: Option<&'a Post>,
    /// How tours become those of the instance that others know.
    pub outside: Outside<'a>,
    /// The state from which the run continues, `None` if it starts from the beginning.
    pub resumed: Option<State>,
}

/// Drives an engine of tours, and translates the result.
///
/// # Errors
/// None so far: a failure is reported in the solution.
pub(super) fn run<E: Engine<Cost = i64, Best = Vec<u32>>>(
    engine: &mut E,
    (instance, problem): (&Instance, &Problem),
    backend: &Backend,
    deadline: Deadline<'_>,
    contact: Contact<'_>,
) -> Result<Solution, SolveError> {
    let outside = &contact.outside;
    let observe = &mut Outward { observe: contact.observe, problem, outside, names: None };
    let run = match contact.post {
        None => drive(engine, deadline, observe),
        Some(post) => {
            let mut island = Island {
                engine,
                problem,
                post,
                names: Names::new(problem, outside),
                // Exchanges depend on timing, so they would make every run different.
                takes_in: deadline.stop.iterations.is_none(),
                better: None,
                least: i64::MAX,
                taken: 0,
                next: Instant::now(),
            };
            drive(&mut island, deadline, observe)
        }
    };
    Solution::of(run, deadline, instance, problem, backend)
}

/// How tours of the instance that a run works on become tours of the instance that others know.
#[derive(Clone, Default)]
pub(super) struct Outside<'a> {
    /// Where the instance was renumbered: the number, before that, of each node.
    pub order: Option<&'a [u32]>,
    /// The forms that led to the instance, the last one first.
    pub forms: Vec<&'a Form>,
}

impl<'a> Outside<'a> {
    /// Returns the same for an instance that was renumbered.
    pub fn renumbered(&self, order: &'a [u32]) -> Outside<'a> {
        Outside { order: Some(order), forms: self.forms.clone() }
    }

    /// Returns the same for a form of the instance, before it is renumbered.
    pub fn of_form(&self, form: &'a Form) -> Outside<'a> {
        Outside { order: None, forms: [form].into_iter().chain(self.forms.iter().copied()).collect() }
    }

    /// Returns by how much tours cost more outside.
    fn offset(&self) -> i64 {
        self.forms.iter().map(|form| form.offset()).sum()
    }
}

/// Maps the problem's nodes to the others' numbers, and back.
struct Names<'a> {
    numbers: Vec<u32>,
    nodes: Vec<u32>,
    forms: &'a [&'a Form],
    offset: i64,
}

impl<'a> Names<'a> {
    /// Makes the maps for a problem made from an instance.
    fn new(problem: &Problem, outside: &'a Outside<'a>) -> Names<'a> {
        let number = |&node: &u32| outside.order.map_or(node, |order| order[node as usize]);
        let numbers: Vec<u32> = problem.start_tour().iter().map(number).collect();
        let mut nodes = vec![0; numbers.len()];
        numbers.iter().zip(0..).for_each(|(&number, node)| nodes[number as usize] = node);
        Names { numbers, nodes, forms: &outside.forms, offset: outside.offset() }
    }

    /// Returns `None` if the tour has unknown nodes or lacks a fixed edge: a GPU that fails may have returned anything.
    fn outward(&self, tour: &[u32]) -> Option<Vec<u32>> {
        let tour = translated(tour, &self.numbers)?;
        self.forms.iter().try_fold(tour, |tour, form| form.outward(&tour))
    }

    /// Returns `None` if the tour has unknown nodes or lacks a fixed edge.
    fn inward(&self, tour: &[u32]) -> Option<Vec<u32>> {
        let tour = self.forms.iter().rev().try_fold(tour.to_vec(), |tour, form| form.inward(&tour))?;
        translated(&tour, &self.nodes)
    }
}

/// Returns the name of each node of a tour, if all have one.
fn translated(tour: &[u32], names: &[u32]) -> Option<Vec<u32>> {
    let name = |&node: &u32| names.get(node as usize).copied();
    tour.par_iter().with_min_len(MIN_LEN).map(name).collect()
}

/// Translates tours for an observer.
struct Outward<'a> {
    observe: &'a mut dyn Observe,
    problem: &'a Problem,
    outside: &'a Outside<'a>,
    /// Made when first needed.
    names: Option<Names<'a>>,
}

impl Observe for Outward<'_> {
    fn progress(&mut self, progress: &Progress) {
        let offset = self.outside.offset();
        let (best_cost, iteration_cost) =
            (progress.best_cost.saturating_add(offset), progress.iteration_cost.saturating_add(offset));
        self.observe.progress(&Progress { best_cost, iteration_cost, ..*progress });
    }

    fn better(&mut self, cost: i64, best: &Vec<u32>) {
        let names = self.names.get_or_insert_with(|| Names::new(self.problem, self.outside));
        if let Some(best) = names.outward(best) {
            self.observe.better(cost + names.offset, &best);
        }
    }

    fn wants_checkpoint(&mut self, is_end: bool) -> bool {
        self.observe.wants_checkpoint(is_end)
    }

    fn checkpoint(&mut self, snapshot: Result<Snapshot, BackendError>) {
        let names = self.names.get_or_insert_with(|| Names::new(self.problem, self.outside));
        let translate = |snapshot: Snapshot| {
            let tour = names.outward(&snapshot.best.1).ok_or(BackendError::State)?;
            Ok(Snapshot { best: (snapshot.best.0 + names.offset, tour), ..snapshot })
        };
        self.observe.checkpoint(snapshot.and_then(translate));
    }

    fn no_checkpoint(&mut self) {
        self.observe.no_checkpoint();
    }

    fn wants_better(&self) -> bool {
        self.observe.wants_better()
    }

    fn keeps_checkpoints(&self) -> bool {
        self.observe.keeps_checkpoints()
    }
}

/// A received tour, in the problem's numbering, that was shorter than any before.
struct Better {
    cost: i64,
    tour: Vec<u32>,
    /// The iteration when it arrived.
    iteration: u64,
}

/// An engine that exchanges tours. A better received tour counts as its best, whatever the engine does with it.
struct Island<'a, E> {
    engine: &'a mut E,
    problem: &'a Problem,
    post: &'a Post,
    names: Names<'a>,
    takes_in: bool,
    /// The best received tour, if it is better than the engine's own.
    better: Option<Better>,
    /// Length of the best tour received or sent.
    least: i64,
    /// How many tours were taken in.
    taken: u64,
    /// When tours are next exchanged.
    next: Instant,
}

impl<E: Engine<Cost = i64, Best = Vec<u32>>> Island<'_, E> {
    /// Takes in the tours that have arrived, if they are valid: messages can be wrong.
    fn take_arrivals(&mut self) -> Result<(), BackendError> {
        for voyager in self.post.arrivals() {
            if !self.takes_in {
                continue;
            }
            let Some(tour) = self.names.inward(&voyager.tour) else { continue };
            let Some(cost) = self.problem.length(&tour) else { continue };
            self.engine.take_in(voyager.from, cost, &tour)?;
            self.taken += 1;
            self.least = self.least.min(cost);
            if self.status().best_cost.is_none_or(|best| cost < best) {
                self.better = Some(Better { cost, tour, iteration: self.engine.status().iterations });
            }
        }
        Ok(())
    }
}

impl<E: Engine<Cost = i64, Best = Vec<u32>>> Engine for Island<'_, E> {
    type Cost = i64;
    type Best = Vec<u32>;

    fn advance(&mut self, budget: &Budget) -> Result<u64, BackendError> {
        self.engine.advance(budget)
    }

    fn exchange(&mut self) -> Result<(), BackendError> {
        let begun = Instant::now();
        if self.post.is_silent() || begun < self.next {
            return Ok(());
        }
        self.take_arrivals()?;
        // The others already have what came from them.
        if let Some(cost) = self.engine.status().best_cost.filter(|&cost| cost < self.least)
            && let Some(tour) = self.names.outward(&self.engine.best()?)
        {
            self.post.send(cost + self.names.offset, tour);
            self.least = cost;
        }
        let every = if self.post.in_lockstep() { TOLD_EVERY } else { EVERY };
        self.next = begun + every.max(SHARE * begun.elapsed());
        Ok(())
    }

    fn status(&self) -> Status {
        let own = self.engine.status();
        match &self.better {
            Some(better) if own.best_cost.is_none_or(|cost| better.cost < cost) => {
                Status { best_cost: Some(better.cost), best_iteration: better.iteration, ..own }
            }
            _ => own,
        }
    }

    fn best(&mut self) -> Result<Vec<u32>, BackendError> {
        match &self.better {
            Some(better) if self.status().best_cost == Some(better.cost) => Ok(better.tour.clone()),
            _ => self.engine.best(),
        }
    }

    fn save(&mut self) -> Result<Option<State>, BackendError> {
        self.engine.save()
    }

    fn finish(&mut self, deadline: Deadline<'_>) -> Result<(), BackendError> {
        self.engine.finish(deadline)
    }

    fn restarts(&self) -> u32 {
        self.engine.restarts()
    }

    fn describe(&self) -> String {
        let layout = self.engine.describe();
        match self.taken {
            0 => layout,
            1 => layout + "; a tour of another island taken in",
            taken => layout + &format!("; {taken} tours of other islands taken in"),
        }
    }

    fn part(&self) -> &'static str {
        self.engine.part()
    }
}
