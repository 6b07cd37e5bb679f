//! Chained Lin-Kernighan: settings, and the loop around a backend's rounds ([`antwarp_core::lin_kernighan`]).
//!
//! The start tour is repaired in rounds without kicks; then every trial is a kick. What a trial may make longer follows a
//! temperature that falls with the time or the trials that are left (Martin, Otto and Felten 1991).

mod cross;

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use antwarp_core::lin_kernighan::cuts::MOST;
use antwarp_core::lin_kernighan::trial::{LOOKED_AT, Round};
use serde::{Deserialize, Serialize};

use super::ils::{End, KEEP_EVERY, Neighbors, next_batch, progress};
use super::local_search::MOST_NEIGHBORS;
use super::problem::Problem;
use super::start::{self, Start};
use super::stop::{Stop, StopReason};
use super::{Progress, Solution, SolveError, exhaustive};
use crate::backend::{Backend, LinKernighan, Trials};
use crate::instance::{Instance, nearest, quadrant};

/// From so many nodes on they are numbered along a space-filling curve before anything else: what is near each other in the
/// plane is so in memory, and preparation takes half as long.
const MANY: usize = 200_000;
/// The fewest nodes; of fewer, every tour is looked at.
const FEWEST: usize = 8;

/// What a user can set. `None` means: choose for me.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Seed of all random numbers.
    pub seed: u64,
    /// Neighbours of a node.
    pub neighbors: u32,
    /// Which neighbours.
    pub neighbor_lists: Neighbors,
    /// The start tour; a file's tour goes before it. None: [`start::for_lin_kernighan`].
    pub start: Option<Start>,
    /// Steps of the random walks that lead from a kick's first edge to the others. None: the more, the more kicks the tour has had,
    /// and many on a lattice.
    pub walk: Option<u32>,
    /// Temperature at the start of annealing, in mean edges of the tour.
    pub temperature: f32,
    /// Tours that are worked on at the same time.
    pub chains: Option<u32>,
    /// Kicks of each tour in a round.
    pub trials: Option<u32>,
    /// No kicks: the first local optimum ends the run.
    pub descent_only: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            seed: 1,
            neighbors: 8,
            neighbor_lists: Neighbors::default(),
            start: None,
            walk: None,
            temperature: 0.7,
            chains: None,
            trials: None,
            descent_only: false,
        }
    }
}

/// Most tours at the same time.
const MOST_CHAINS: u32 = 1 << 10;
/// Longest walk.
const MOST_STEPS: u32 = 1000;
/// Most kicks of a tour in a round.
pub(crate) const MOST_TRIALS: u32 = 1 << 20;
// Cuts of all trials are numbered.
const _: () = assert!(MOST_TRIALS as u64 * MOST as u64 <= u32::MAX as u64);

impl Settings {
    /// Checks every setting's range.
    ///
    /// # Errors
    /// What is out of its range.
    pub fn check(&self) -> Result<(), SolveError> {
        let fail = |what: String| Err(SolveError::Settings(what));
        if self.neighbors == 0 || self.neighbors > MOST_NEIGHBORS {
            return fail(format!("--neighbors must be 1 to {MOST_NEIGHBORS}"));
        }
        if self.walk.is_some_and(|walk| walk == 0 || walk > MOST_STEPS) {
            return fail(format!("--walk must be 1 to {MOST_STEPS}"));
        }
        if !(self.temperature >= 0.0 && self.temperature <= 1000.0) {
            return fail("--temperature must be 0 to 1000 mean edges".into());
        }
        if self.chains.is_some_and(|c| c == 0 || c > MOST_CHAINS) {
            return fail(format!("--chains must be 1 to {MOST_CHAINS}"));
        }
        if self.trials.is_some_and(|t| t == 0 || t > MOST_TRIALS) {
            return fail(format!("--trials must be 1 to {MOST_TRIALS}"));
        }
        Ok(())
    }
}

/// What a backend needs to know.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Seed of the run.
    pub seed: u64,
    /// Tours.
    pub chains: u32,
    /// Most trials of a tour in a round.
    pub trials: u32,
    /// Tours to begin with, one after the other; none: all begin along the problem's numbering.
    pub starts: Vec<u32>,
    /// Length of the shortest of them.
    pub start_cost: i64,
}

impl Spec {
    fn new(seed: u64, n: u32, (chains, trials): (u32, u32), starts: Vec<u32>, start_cost: i64) -> Spec {
        Spec { seed, chains, trials: trials.max(n.div_ceil(NODES)), starts, start_cost }
    }
}

/// Solves an instance, from `initial` on if it is given: a tour in the instance's numbering. `observe` is called after each
/// batch of rounds.
///
/// # Errors
/// If a setting is out of range, the instance is of a kind that local search cannot improve, the initial tour is none,
/// or the backend fails at the start. A failure after that ends the run early and is told in the solution.
pub fn solve(
    instance: &Instance,
    settings: &Settings,
    initial: Option<&[u32]>,
    backend: &Backend,
    stop: &Stop,
    observe: &mut dyn FnMut(&Progress),
) -> Result<Solution, SolveError> {
    let begin = Instant::now();
    settings.check()?;
    super::check_kind(instance, "chained Lin-Kernighan")?;
    if let Some(tour) = initial {
        instance.check_tour(tour).map_err(|e| SolveError::Settings(format!("--initial-tour: {e}")))?;
    }
    if instance.len() < FEWEST {
        return exhaustive(instance, begin);
    }
    let order = if instance.len() < MANY { None } else { start::along_a_curve(instance) };
    let Some((renumbered, order)) = order.and_then(|order| Some((instance.renumbered(&order)?, order)))
    else {
        return solve_as_numbered(instance, settings, initial, backend, (begin, stop), observe);
    };
    let initial = initial.map(|tour| {
        let mut numbers = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(&node, number)| numbers[node as usize] = number);
        tour.iter().map(|&node| numbers[node as usize]).collect::<Vec<u32>>()
    });
    let mut solution =
        solve_as_numbered(&renumbered, settings, initial.as_deref(), backend, (begin, stop), observe)?;
    solution.tour.iter_mut().for_each(|node| *node = order[*node as usize]);
    solution.seconds = begin.elapsed().as_secs_f64();
    Ok(solution)
}

fn solve_as_numbered(
    instance: &Instance,
    settings: &Settings,
    initial: Option<&[u32]>,
    backend: &Backend,
    (begin, stop): (Instant, &Stop),
    observe: &mut dyn FnMut(&Progress),
) -> Result<Solution, SolveError> {
    let k = (settings.neighbors as usize).min(instance.len() - 1);
    let near = match settings.neighbor_lists {
        Neighbors::Nearest => nearest(instance, k),
        Neighbors::Quadrant => quadrant(instance, k),
    };
    let start = match initial {
        Some(tour) => tour.to_vec(),
        None => {
            let start = settings.start.unwrap_or_else(|| start::for_lin_kernighan(instance, &near));
            start::tour(instance, start, &near, settings.seed)
        }
    };
    let problem = Problem::for_search(instance, &near, start);
    let (n, start_cost) = (problem.n(), problem.unit_cost());
    // What ends by the clock is another run every time anyway.
    let layout = backend.default_trials(n, stop.iterations.is_some());
    let crossed = cross::starts(instance, &problem, (settings, initial.is_some()), backend, (begin, stop))?;
    let is_crossed = crossed.is_some();
    let (chains, trials, starts, start_cost) = match crossed {
        Some(starts) => (starts.count, backend.trials(n, starts.count), starts.tours, starts.cost),
        None => {
            let chains = settings.chains.unwrap_or(layout.chains);
            (chains, settings.trials.unwrap_or(layout.trials), Vec::new(), start_cost)
        }
    };
    let spec = Spec::new(settings.seed, n, (chains, trials), starts, start_cost);
    let mut engine = backend.lin_kernighan(&problem, &spec)?;
    let mut run = Run {
        begin,
        setup: begin.elapsed(),
        is_set_up: false,
        settings,
        n,
        chains,
        trials,
        is_lattice: start::is_lattice(instance, &near),
        recombinations: if is_crossed { 0 } else { RECOMBINATIONS },
        layout: engine.describe(),
        is_crossed: false,
        cost: start_cost,
        temperature: settings.temperature,
        mean_edge: start_cost as f32 / n as f32,
        round: 0,
        kicks: 0,
        made: 0,
        best_kicks: 0,
        kept: None,
        failure: None,
    };
    let kicks = if is_crossed { cross::kicks(stop, backend) } else { stop.clone() };
    let mut shorter = None;
    let stopped_by = match run.go(engine.as_mut(), &kicks, observe).and_then(|reason| {
        if !is_crossed || reason != StopReason::Time {
            return Ok(reason);
        }
        // If memory is short for what follows, this is what is left.
        run.kept = Some((run.cost, engine.best_tour()?));
        let (reason, tour) =
            cross::finish(&mut run, (instance, &problem), engine.tours()?, (backend, stop), observe)?;
        shorter = tour;
        if run.is_crossed {
            run.layout += "; crossed at the end";
        }
        if let Some(reason) = reason {
            return Ok(reason);
        }
        let best = match shorter.take() {
            Some(tour) => tour,
            None => engine.best_tour()?,
        };
        run.kept = Some((run.cost, best.clone()));
        let Trials { chains, trials } = backend.default_trials(n, false);
        let starts = best.repeat(chains as usize);
        engine = backend
            .lin_kernighan(&problem, &Spec::new(settings.seed, n, (chains, trials), starts, run.cost))?;
        (run.chains, run.trials, run.recombinations) = (chains, trials, RECOMBINATIONS);
        run.temperature *= COOLER;
        run.layout += ", the best kicked on";
        run.go(engine.as_mut(), stop, observe)
    }) {
        Ok(reason) => reason,
        Err(failure) => {
            run.failure = Some(failure.to_string());
            StopReason::Failure
        }
    };
    let name = backend.machine().backend;
    run.end(engine.as_mut(), stopped_by, shorter)?.finish(begin, instance, &problem, name)
}

/// Nodes for every trial of a round without kicks. It looks around a few of them, so that changes seldom share nodes; after
/// some rounds all have been looked around.
const NODES: u32 = 8 * LOOKED_AT;
/// Rounds at a time of a run by iterations; else it is as many as the clock says.
const BATCH: u64 = 16;
/// How many times a run makes one tour of all.
const RECOMBINATIONS: u32 = 4;
/// Where annealing begins when kicks go on behind crossing, as a share of the first temperature.
const COOLER: f32 = 0.3;
/// A descent is over once looking around all nodes gains less than this share of the tour.
const ENOUGH: f64 = 1e-3;

/// Steps of a kick's walks when a tour has had so many kicks a node. What can be gained among near nodes is gained first; on a
/// lattice there is little of that.
fn steps(kicks_a_node: f64, is_lattice: bool) -> u32 {
    match kicks_a_node {
        _ if is_lattice => 80,
        k if k < 1.0 => 20,
        k if k < 16.0 => 40,
        _ => 80,
    }
}

struct Run<'s> {
    begin: Instant,
    setup: Duration,
    is_set_up: bool,
    settings: &'s Settings,
    n: u32,
    chains: u32,
    trials: u32,
    /// See [`start::is_lattice`].
    is_lattice: bool,
    /// How many times one tour is made of all; 0: they are crossed at the end instead.
    recombinations: u32,
    /// How the engine works, and what came behind it.
    layout: String,
    /// At least one generation of crossing is over.
    is_crossed: bool,
    /// Length of the best tour.
    cost: i64,
    /// Where annealing begins, in mean edges.
    temperature: f32,
    mean_edge: f32,
    round: u32,
    /// Kicks of each tour so far.
    kicks: u64,
    /// And of all of them.
    made: u64,
    /// And when the best tour was found.
    best_kicks: u64,
    /// The best tour brought back so far: what is left if the backend fails.
    kept: Option<(i64, Vec<u32>)>,
    failure: Option<String>,
}

impl Run<'_> {
    /// Steps of a kick's walks now.
    fn walk(&self) -> u32 {
        self.walk_at(self.kicks)
    }

    /// And when so many kicks are made.
    fn walk_at(&self, kicks: u64) -> u32 {
        self.settings.walk.unwrap_or_else(|| steps(kicks as f64 / f64::from(self.n), self.is_lattice))
    }

    fn next_round(&mut self, walk: u32, trials: u32, temperature: f32) -> Round {
        let number = self.round;
        self.round += 1;
        Round { seed: self.settings.seed, number, trials, walk, temperature }
    }

    /// Rounds without kicks, until they gain little; whether the run is over.
    fn descend(
        &mut self,
        engine: &mut dyn LinKernighan,
        stop: &Stop,
        observe: &mut dyn FnMut(&Progress),
    ) -> Result<Option<StopReason>, SolveError> {
        loop {
            if let Some(reason) = stop.reason(self.begin.elapsed(), self.kicks, self.best_kicks, self.cost) {
                return Ok(Some(reason));
            }
            let rounds: Vec<Round> =
                (0..NODES / LOOKED_AT).map(|_| self.next_round(0, self.n.div_ceil(NODES), 0.0)).collect();
            let begin = self.begin;
            let late = || stop.time.is_some_and(|t| begin.elapsed() >= t);
            let state = engine.run(&rounds, &|| late() || stop.interrupt.load(Ordering::Relaxed))?;
            let gain = self.cost - state.best_cost;
            if gain > 0 {
                (self.cost, self.best_kicks) = (state.best_cost, self.kicks);
            }
            self.observe(state.cost, observe);
            let stopped = stop.interrupt.load(Ordering::Relaxed) || late();
            if self.settings.descent_only {
                if gain == 0 && state.offered == 0 && !stopped {
                    return Ok(Some(StopReason::LocalOptimum));
                }
            } else if !stopped && (gain == 0 || (gain as f64) < ENOUGH * self.cost as f64) {
                return Ok(None);
            }
        }
    }

    fn recombine(&mut self, engine: &mut dyn LinKernighan) -> Result<(), SolveError> {
        let state = engine.recombine()?;
        if state.best_cost < self.cost {
            (self.cost, self.best_kicks) = (state.best_cost, self.kicks);
        }
        Ok(())
    }

    fn observe(&self, cost: i64, observe: &mut dyn FnMut(&Progress)) {
        observe(&Progress {
            iterations: self.kicks,
            best_cost: self.cost,
            iteration_cost: cost,
            seconds: self.begin.elapsed().as_secs_f64(),
            tours: self.made,
        });
    }

    fn go(
        &mut self,
        engine: &mut dyn LinKernighan,
        stop: &Stop,
        observe: &mut dyn FnMut(&Progress),
    ) -> Result<StopReason, SolveError> {
        if let Some(reason) = self.descend(engine, stop, observe)? {
            return Ok(reason);
        }
        let setup = self.begin.elapsed();
        if !self.is_set_up {
            (self.setup, self.is_set_up) = (setup, true);
        }
        self.mean_edge = self.cost as f32 / self.n as f32;
        let mut batch = if stop.iterations.is_some() { BATCH } else { 1 };
        let mut kept_at = Instant::now();
        let mut recombined = 0;
        let recombinations = self.recombinations;
        loop {
            if let Some(reason) = stop.reason(self.begin.elapsed(), self.kicks, self.best_kicks, self.cost) {
                if recombinations > 0 {
                    self.recombine(engine)?;
                }
                return Ok(reason);
            }
            let mut rounds = Vec::new();
            let mut planned = self.kicks;
            // A run by iterations is the same every time, and so is each batch, at whose end the best tour is looked for.
            let end = stop.iterations.map_or(u64::MAX, |i| {
                i.saturating_mul(u64::from(recombined + 1)) / u64::from(recombinations.max(1))
            });
            while (rounds.len() as u64) < batch && planned < end {
                let left = stop.iterations.map_or(u64::MAX, |i| i - planned);
                let trials = left.min(u64::from(self.trials)) as u32;
                let done = progress(stop, self.begin, setup, planned);
                let temperature = self.temperature * self.mean_edge * (1.0 - done).max(0.0);
                let walk = self.walk_at(planned);
                rounds.push(self.next_round(walk, trials, temperature));
                planned += u64::from(trials);
            }
            let before = Instant::now();
            let begin = self.begin;
            let late = || stop.time.is_some_and(|t| begin.elapsed() >= t);
            let state = engine.run(&rounds, &|| late() || stop.interrupt.load(Ordering::Relaxed))?;
            let left = stop.time.map(|t| t.saturating_sub(self.begin.elapsed()));
            if stop.iterations.is_none() {
                batch = next_batch(rounds.len() as u64, before.elapsed(), left);
            }
            self.kicks += state.trials;
            self.made += state.trials * u64::from(self.chains);
            if state.best_cost < self.cost {
                (self.cost, self.best_kicks) = (state.best_cost, self.kicks);
            }
            let is_due = match stop.iterations {
                Some(_) => self.kicks >= end,
                None => {
                    progress(stop, self.begin, setup, 0) * recombinations as f32 >= (recombined + 1) as f32
                }
            };
            if is_due && recombined + 1 < recombinations {
                recombined += 1;
                self.recombine(engine)?;
            }
            if kept_at.elapsed() >= KEEP_EVERY && self.kept.as_ref().is_none_or(|k| k.0 > self.cost) {
                self.kept = Some((self.cost, engine.best_tour()?));
                kept_at = Instant::now();
            }
            self.observe(state.cost, observe);
        }
    }

    /// `shorter` is the best tour if that is none of the engine's.
    fn end(
        mut self,
        engine: &mut dyn LinKernighan,
        stopped_by: StopReason,
        shorter: Option<Vec<u32>>,
    ) -> Result<End, SolveError> {
        Ok(End {
            setup: self.setup,
            iterations: self.kicks,
            best_iteration: self.best_kicks,
            tours: self.made,
            stopped_by,
            layout: self.layout,
            found: match &self.failure {
                None => Some((self.cost, shorter.map_or_else(|| engine.best_tour(), Ok)?)),
                Some(_) => self.kept.take(),
            },
            failure: self.failure,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_get_longer_at_one_and_at_sixteen_kicks_a_node() {
        let kicks = [0.0, 0.999, 1.0, 15.999, 16.0, 1e9];
        assert_eq!(kicks.map(|k| steps(k, false)), [20, 20, 40, 40, 80, 80]);
        assert_eq!(kicks.map(|k| steps(k, true)), [80; 6]);
    }
}
