//! A run as an island among others: when tours are exchanged, and how they are translated.

use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::{Solution, SolveError};
use crate::backend::Backend;
use crate::engine::{BackendError, Budget, Deadline, Engine, Post, Problem, Progress, Status, drive};
use crate::instance::Instance;

/// How often tours are exchanged at most, and which share of the time it may take.
const EVERY: Duration = Duration::from_millis(100);
const SHARE: u32 = 20;
/// How often a tour is told that others share, who have it: it is wanted where the process ends early.
const TOLD_EVERY: Duration = Duration::from_secs(2);
/// Nodes that a thread translates at least.
const MIN_LEN: usize = 1 << 14;

/// Whom a run tells how far it is, and the islands that it exchanges tours with.
pub(super) struct Contact<'a> {
    /// Called after each batch of work.
    pub observe: &'a mut dyn FnMut(&Progress),
    /// None for a run alone.
    pub post: Option<&'a Post>,
    /// Where the whole instance was renumbered: what the others call each node.
    pub order: Option<&'a [u32]>,
}

/// Drives an engine of tours, and translates what it ends with.
///
/// # Errors
/// None so far: a failure is told in the solution.
pub(super) fn run<E: Engine<Cost = i64, Best = Vec<u32>>>(
    engine: &mut E,
    (instance, problem): (&Instance, &Problem),
    backend: &Backend,
    deadline: Deadline<'_>,
    contact: Contact<'_>,
) -> Result<Solution, SolveError> {
    let run = match contact.post {
        None => drive(engine, deadline, contact.observe),
        Some(post) => {
            let mut island = Island {
                engine,
                problem,
                post,
                names: Names::new(problem, contact.order),
                // What depends on who is how fast would be another run every time.
                takes_in: deadline.stop.iterations.is_none(),
                better: None,
                least: i64::MAX,
                taken: 0,
                next: Instant::now(),
            };
            drive(&mut island, deadline, contact.observe)
        }
    };
    Solution::of(run, deadline.begin, instance, problem, backend)
}

/// What the others call the problem's nodes, and the way back.
struct Names {
    outside: Vec<u32>,
    inside: Vec<u32>,
}

impl Names {
    /// Of a problem made of an instance; where that was renumbered, `order` is what the others call its nodes.
    fn new(problem: &Problem, order: Option<&[u32]>) -> Names {
        let name = |&node: &u32| order.map_or(node, |order| order[node as usize]);
        let outside: Vec<u32> = problem.start_tour().iter().map(name).collect();
        let mut inside = vec![0; outside.len()];
        outside.iter().zip(0..).for_each(|(&name, node)| inside[name as usize] = node);
        Names { outside, inside }
    }

    fn outward(&self, mut tour: Vec<u32>) -> Vec<u32> {
        tour.par_iter_mut().with_min_len(MIN_LEN).for_each(|node| *node = self.outside[*node as usize]);
        tour
    }

    /// None if there are nodes in it that nobody has heard of.
    fn inward(&self, tour: &[u32]) -> Option<Vec<u32>> {
        let node = |&name: &u32| self.inside.get(name as usize).copied();
        tour.par_iter().with_min_len(MIN_LEN).map(node).collect()
    }
}

/// A tour that came, in the problem's numbering, when there was none as short.
struct Better {
    cost: i64,
    tour: Vec<u32>,
    /// The iteration when it came.
    iteration: u64,
}

/// An engine that exchanges tours. A better one that came from elsewhere is its best, whatever the engine makes of it.
struct Island<'a, E> {
    engine: &'a mut E,
    problem: &'a Problem,
    post: &'a Post,
    names: Names,
    takes_in: bool,
    /// The best tour that came, if it is better than the engine's own.
    better: Option<Better>,
    /// Length of the best tour that came or was sent.
    least: i64,
    /// How many tours were taken in.
    taken: u64,
    /// When tours are exchanged next.
    next: Instant,
}

impl<E: Engine<Cost = i64, Best = Vec<u32>>> Island<'_, E> {
    /// Takes in what has arrived, as far as these are tours: messages can be wrong.
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
        // What came from others they have.
        if let Some(cost) = self.engine.status().best_cost.filter(|&cost| cost < self.least) {
            self.post.send(cost, self.names.outward(self.engine.best()?));
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

    fn finish(&mut self) -> Result<(), BackendError> {
        self.engine.finish()
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
