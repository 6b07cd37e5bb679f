//! Chained Lin-Kernighan as an engine: rounds without kicks, rounds with kicks, and recombining or crossing several tours.

mod saved;

use std::fmt::Write;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use antwarp_core::lin_kernighan::trial::{LOOKED_AT, TrialRound};
use antwarp_core::papers::ants::colony::ColonyState;
use antwarp_core::rng::Stream;
use serde::{Deserialize, Serialize};

use super::cross::{self, Kicks, Restart, Starts};
use super::epochs::{Epochs, Kept};
use super::means::LEAST;
use super::pace::Pace;
use super::partners::{Kicked, Partners};
use super::settings::Plan;
use crate::backend::cpu::Recombiner;
use crate::engine::lin_kernighan::{NODES, Spec};
use crate::engine::{
    BackendError, Budget, Deadline, Engine, Enough, LinKernighan, Population, Reached, State, Status, Stop,
    StopReason, Trials, next_units,
};
use crate::solver::haste::MANY;

pub(super) use saved::Saved;

/// Rounds per batch in a run limited by iterations; otherwise time decides.
const BATCH: u64 = 16;
/// How many times a run recombines all tours into one.
const RECOMBINATIONS: u32 = 4;
/// Most waiting tours from other runs.
const MOST_GUESTS: usize = 8;
/// Initial temperature of annealing after crossing, as a share of the first temperature.
const COOLER: f32 = 0.3;
/// After an interrupt, tours are crossed for one part in this many of the run's time, and no longer than [`MOST_INTERRUPTED`].
const INTERRUPTED: f64 = 5.0;
const MOST_INTERRUPTED: Duration = Duration::from_secs(1);
/// A run that [may settle](Stop::may_settle) ends once this many restarts have ended with a tour as short as the best one.
const SETTLED: u32 = 5;
/// A descent is over once searching around all nodes gains less than this share of the tour.
const ENOUGH: f64 = 1e-3;

/// Returns the steps of a kick's walks after this many kicks per node of a tour. Gains among near nodes come first; on a lattice
/// there are few of them.
fn steps(kicks_a_node: f64, is_lattice: bool) -> u32 {
    match kicks_a_node {
        _ if is_lattice => 80,
        k if k < 1.0 => 20,
        k if k < 16.0 => 40,
        _ => 80,
    }
}

/// The current phase of a run.
enum Phase<'a> {
    /// Rounds without kicks.
    Descent,
    /// Rounds with kicks.
    Kicks,
    /// Crossing of tours.
    Crossing(Box<dyn Population + 'a>),
}

/// When a run with several tours started or last restarted.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct LastStart {
    /// The number of restarts so far.
    times: u32,
    /// The time, less that for the kicks of [inherited](Rounds::kept) tours.
    at: Duration,
    /// How long the first tours took until they could not be improved any more.
    took: Duration,
    /// [`Rounds::kicks`] and [`Rounds::made`] at that time.
    kicks: u64,
    made: u64,
}

/// How many restarts ended with the shortest length so far.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Length {
    cost: i64,
    times: u32,
}

impl Length {
    /// Returns how many restarts ended with this length, if it is the shortest.
    fn of(self, cost: i64) -> u32 {
        if self.cost == cost { self.times } else { 0 }
    }
}

/// Where a run is, except for its tours.
#[derive(Clone, Serialize, Deserialize)]
struct Now {
    /// Whether tours are still to be crossed, after their kicks.
    is_to_cross: bool,
    /// The start of the current tours: the first ones, or those of the last restart.
    last_start: LastStart,
    /// Whether kicks are now applied to the best tour from crossing.
    is_kicked_on: bool,
    /// Kicks per tour in a round.
    trials: u32,
    /// Length of the best tour, and of the current shortest one.
    best_cost: i64,
    cost: i64,
    /// Initial temperature of annealing, in mean edges, and their length.
    #[serde(with = "bits")]
    temperature: f32,
    #[serde(with = "bits")]
    mean_edge: f32,
    round: u32,
    /// Kicks of each tour so far.
    kicks: u64,
    /// Kicks of all tours made by this run.
    made: u64,
    /// Kicks of each tour when the best one was found.
    best_kicks: u64,
    /// The time when kicks began.
    since: Duration,
    recombined: u32,
    epochs: Epochs,
    /// Whether tours have been crossed.
    has_crossed: bool,
    /// Whether an earlier epoch crossed tours.
    is_inherited: bool,
    /// The time when the first of the current tours was made.
    worked_from: Duration,
    /// The number of tours made since then.
    new_tours: u32,
    /// The time from which all current tours are kicked.
    kicked_from: Option<Duration>,
    /// Kicks per second of a thread, as last measured.
    thread_rate: f64,
    /// Seconds of a round in the last batch.
    seconds_per_round: f64,
    reached: Length,
    /// How many times the run has continued from a checkpoint.
    resumed: u32,
}

/// Writes a number as its bits: as a decimal fraction it might change.
mod bits {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(number: &f32, to: S) -> Result<S::Ok, S::Error> {
        number.to_bits().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f32, D::Error> {
        u32::deserialize(from).map(f32::from_bits)
    }
}

/// See the [module](self).
pub(super) struct Rounds<'a> {
    plan: Plan<'a>,
    /// The backend's part.
    lin_kernighan: Box<dyn LinKernighan + 'a>,
    phase: Phase<'a>,
    now: Now,
    chains: u32,
    /// Description of the engine, and of the phases after it.
    layout: String,
    /// Seed of the trials.
    seed: u64,
    /// The best tour, if the engine does not have it.
    shorter: Option<Vec<u32>>,
    /// The runs that share tours.
    partners: Option<Partners<'a>>,
    /// The last tour received from each of several other runs, by its number.
    guests: Vec<(u32, Vec<u32>)>,
    kept: Kept,
    /// Tours of earlier epochs that get more kicks, once the descent of the new ones is over.
    waiting: Vec<u32>,
    /// The best tours when epochs ended.
    bests: Vec<Vec<u32>>,
    /// Generations of the next batch, and those that the current population has had.
    generations: u64,
    generations_made: u32,
    /// How fast the current population gets shorter.
    pace: Pace,
    ended: Option<StopReason>,
}

impl<'a> Rounds<'a> {
    /// Makes tours that start as the spec says, with this many kicks of each in a round.
    ///
    /// # Errors
    /// As [`Backend::lin_kernighan`].
    pub(super) fn new(
        plan: Plan<'a>,
        spec: &Spec,
        trials: u32,
        epochs: Epochs,
    ) -> Result<Rounds<'a>, BackendError> {
        let lin_kernighan = plan.backend.lin_kernighan(plan.problem, spec)?;
        let now = Now {
            is_to_cross: plan.is_crossed && !spec.starts.is_empty(),
            last_start: LastStart { at: plan.effective_start, ..LastStart::default() },
            is_kicked_on: false,
            trials,
            best_cost: spec.start_cost,
            cost: spec.start_cost,
            temperature: plan.settings.temperature,
            mean_edge: spec.start_cost as f32 / plan.problem.n() as f32,
            round: 0,
            kicks: 0,
            made: 0,
            best_kicks: 0,
            since: Duration::ZERO,
            recombined: 0,
            epochs,
            has_crossed: false,
            is_inherited: false,
            worked_from: plan.effective_start,
            new_tours: spec.chains,
            kicked_from: None,
            thread_rate: plan.means.thread,
            seconds_per_round: 0.0,
            reached: Length::default(),
            resumed: 0,
        };
        Ok(Rounds {
            layout: lin_kernighan.describe(),
            lin_kernighan,
            seed: plan.settings.seed,
            phase: Phase::Descent,
            now,
            chains: spec.chains,
            shorter: None,
            partners: None,
            guests: Vec::new(),
            kept: Kept::default(),
            waiting: Vec::new(),
            bests: Vec::new(),
            generations: 1,
            generations_made: 0,
            pace: Pace::default(),
            ended: None,
            plan,
        })
    }

    /// Shares tours from now on.
    pub(super) fn share(&mut self, partners: Partners<'a>) {
        partners.begin();
        self.partners = Some(partners);
        self.have_same(!self.now.is_to_cross);
        if !self.now.is_to_cross {
            self.seed = self.common_seed();
        }
    }

    /// Sets whether all runs that share tours have the same ones from now on, or each has its own.
    fn have_same(&mut self, have_same: bool) {
        self.partners.iter_mut().for_each(|partners| partners.have_same(have_same));
    }

    /// Returns whether a single tour is shared.
    fn is_one_shared(&self) -> bool {
        self.partners.is_some() && !self.now.is_to_cross
    }

    /// Returns the seed for what all runs that share tours do alike.
    fn common_seed(&self) -> u64 {
        self.partners.as_ref().map_or(self.plan.settings.seed, |partners| partners.seed)
    }

    /// Returns the steps of a kick's walks after this many kicks.
    fn walk_at(&self, kicks: u64) -> u32 {
        let a_node = kicks as f64 / f64::from(self.plan.problem.n());
        self.plan.settings.walk.unwrap_or_else(|| steps(a_node, self.plan.is_lattice))
    }

    fn next(&mut self, walk: u32, trials: u32, temperature: f32) -> TrialRound {
        let number = self.now.round;
        self.now.round += 1;
        let looks = self.plan.backend.looks(self.chains);
        TrialRound { seed: self.seed, number, trials, walk, temperature, looks, padding: 0 }
    }

    /// Returns the next round with kicks, after this many kicks made or planned.
    fn next_kicks(&mut self, budget: &Budget, planned: u64) -> TrialRound {
        let trials = budget.left(planned).min(u64::from(self.now.trials)) as u32;
        let by_iterations = budget.deadline.stop.iterations.map_or(0.0, |most| planned as f32 / most as f32);
        let progress = match &self.partners {
            // The same for all runs: their clocks differ.
            Some(partners) if self.is_one_shared() && budget.deadline.stop.time.is_some() => {
                partners.progress.max(by_iterations)
            }
            _ => budget.progress(self.now.since, planned),
        };
        let cold = (1.0 - progress).max(0.0);
        let temperature =
            self.plan.settings.accept.temperature(self.now.temperature * self.now.mean_edge * cold);
        self.next(self.walk_at(planned), trials, temperature)
    }

    /// Runs rounds until `next`, which is given the number of rounds so far, returns `None`; also returns the number of trials of
    /// all tours made here.
    fn run(
        &mut self,
        budget: &Budget,
        mut next: impl FnMut(&mut Rounds<'a>, usize) -> Option<TrialRound>,
    ) -> Result<(Reached, u64), BackendError> {
        let enough: Enough = &|| budget.is_over();
        if !self.is_one_shared() {
            let rounds: Vec<TrialRound> = (0..).map_while(|done| next(self, done)).collect();
            let reached = self.lin_kernighan.run(&rounds, enough)?;
            return Ok((reached, reached.trials * u64::from(self.chains)));
        }
        let (mut trials, mut own, mut done) = (0, 0, 0);
        while !budget.is_over()
            && let Some(round) = next(self, done)
        {
            let progress = budget.progress(self.now.since, 0);
            let Some(partners) = &mut self.partners else { break };
            match partners.round(&mut *self.lin_kernighan, round, progress, enough) {
                Ok(Some(made)) => {
                    trials += made.by_all;
                    own += made.here;
                }
                Ok(None) => self.partners = None,
                // A single run needs less memory.
                Err(BackendError::OutOfMemory { .. }) => {
                    self.partners = None;
                    self.seed = self.plan.settings.seed;
                }
                Err(failure) => return Err(failure),
            }
            done += 1;
        }
        // The last one left need not report anything.
        self.partners = self.partners.take().filter(|partners| partners.forces().len() > 1);
        Ok((Reached { trials, ..self.lin_kernighan.reached(enough)? }, own))
    }

    /// Returns the best tour so far.
    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError> {
        match &self.shorter {
            Some(tour) => Ok(tour.clone()),
            None => self.lin_kernighan.best_tour(),
        }
    }

    /// Records the result after this many kicks; returns whether it is the best so far.
    fn note(&mut self, cost: i64, best_cost: i64) -> bool {
        self.now.cost = cost;
        let is_best = best_cost < self.now.best_cost;
        if is_best {
            (self.now.best_cost, self.now.best_kicks) = (best_cost, self.now.kicks);
            self.shorter = None;
        }
        is_best
    }

    /// Records the result of crossing, with the best tour if it is shorter.
    fn note_crossed(&mut self, state: ColonyState, shorter: Option<Vec<u32>>) {
        if self.note(state.iteration_cost, state.best_cost) {
            self.shorter = shorter;
        }
    }

    /// Runs rounds without kicks, until they gain little.
    fn descend(&mut self, budget: &Budget) -> Result<u64, BackendError> {
        let trials = self.plan.problem.n().div_ceil(NODES);
        let rounds: Vec<TrialRound> = (0..NODES / LOOKED_AT).map(|_| self.next(0, trials, 0.0)).collect();
        let before = self.now.cost;
        let stop = self.until(budget.deadline.stop);
        let budget = &Budget { deadline: budget.deadline.with(&stop), ..*budget };
        let was_shared = self.is_one_shared();
        let (state, _) = self.run(budget, |_, done| rounds.get(done).copied())?;
        self.note(state.cost, state.best_cost);
        if was_shared && !self.is_one_shared() && !budget.is_over() {
            // Not all of the rounds were made; this run goes on alone.
            return Ok(rounds.len() as u64);
        }
        let gain = before - state.cost;
        if budget.is_over() {
            // The rounds may have been cut short, and there may be time for crossing.
            self.begin_kicks()?;
        } else if self.plan.settings.descent_only {
            self.ended = (gain == 0 && state.offered == 0).then_some(StopReason::LocalOptimum);
        } else if (gain as f64) < ENOUGH * state.cost as f64 || gain == 0 {
            self.begin_kicks()?;
            self.now.since = budget.deadline.elapsed();
            self.now.kicked_from = Some(self.now.since);
            self.now.mean_edge = self.now.best_cost as f32 / self.plan.problem.n() as f32;
            self.partners.iter_mut().for_each(|partners| partners.progress = 0.0);
        }
        Ok(rounds.len() as u64)
    }

    /// Returns how many times during a run all tours are recombined into one.
    fn recombinations(&self) -> u32 {
        if self.now.is_to_cross { 0 } else { RECOMBINATIONS }
    }

    /// Recombines all tours into one, with the better parts of other runs' tours, unless memory is short.
    fn recombine(&mut self, enough: Enough) -> Result<(), BackendError> {
        let guests: Vec<_> = std::mem::take(&mut self.guests).into_iter().map(|(_, tour)| tour).collect();
        match self.lin_kernighan.recombine(&guests, enough) {
            Err(BackendError::OutOfMemory { .. }) => {}
            reached => {
                let Reached { cost, best_cost, .. } = reached?;
                self.note(cost, best_cost);
            }
        }
        Ok(())
    }

    /// Returns when this phase has to end: at a time, and after a number of kicks since its [start](LastStart).
    fn until(&self, stop: &Stop) -> Stop {
        if !self.now.is_to_cross {
            return Stop { time: self.now.epochs.end(), ..stop.clone() };
        }
        let iterations = match cross::restart(
            self.plan.problem.n(),
            self.plan.means.in_place,
            self.now.last_start.times,
        ) {
            Some(Restart::Kicked(kicks)) => Some(kicks),
            _ => None,
        };
        let time = self
            .now
            .epochs
            .end()
            .map(|end| cross::kicked(end, self.now.last_start.at, self.plan.means.in_place));
        Stop { time, iterations, ..stop.clone() }
    }

    /// Runs rounds with kicks.
    fn kick(&mut self, budget: &Budget) -> Result<u64, BackendError> {
        // A run limited by iterations is reproducible, so its batches, after which the best tour is checked, are always the same.
        // The same holds for runs that share one tour and may stop because of their results.
        let is_same = budget.deadline.stop.iterations.is_some()
            || (self.is_one_shared() && budget.deadline.stop.stagnation.is_some());
        let stop = self.until(budget.deadline.stop);
        let budget = &Budget { deadline: budget.deadline.with(&stop), ..*budget };
        // The temperature is set per batch, so the last ones before the end of a phase are short.
        let left = budget.deadline.left().map_or(f64::INFINITY, |left| left.as_secs_f64());
        let fit = (left / self.now.seconds_per_round.max(1e-9)) as u64;
        let units = if is_same { BATCH } else { budget.units.min(fit.max(1)) };
        let start = Instant::now();
        let recombinations = self.recombinations();
        let end = stop.iterations.map_or(u64::MAX, |i| {
            i.saturating_mul(u64::from(self.now.recombined + 1)) / u64::from(recombinations.max(1))
        });
        let (first, mut planned) = (self.now.round, self.now.kicks - self.now.last_start.kicks);
        let (state, own) = self.run(budget, |rounds, done| {
            let is_over = done as u64 >= units || planned >= end;
            (!is_over).then(|| {
                let round = rounds.next_kicks(budget, planned);
                planned += u64::from(round.trials);
                round
            })
        })?;
        self.now.seconds_per_round =
            start.elapsed().as_secs_f64() / f64::from((self.now.round - first).max(1));
        self.now.kicks += state.trials;
        self.now.made += own;
        self.note(state.cost, state.best_cost);
        let is_due = match stop.iterations {
            Some(_) => self.now.kicks >= end,
            None => {
                budget.progress(self.now.since, 0) * recombinations as f32 >= (self.now.recombined + 1) as f32
            }
        };
        if is_due && self.now.recombined + 1 < recombinations {
            self.now.recombined += 1;
            if self.chains > 1 {
                self.recombine(&|| budget.is_over())?;
            }
        }
        Ok(u64::from(self.now.round - first))
    }

    /// Starts crossing the tours.
    fn cross(&mut self, budget: &Budget) -> Result<(), BackendError> {
        self.now.is_to_cross = false;
        self.now.has_crossed = true;
        let spent = budget.deadline.elapsed();
        let rate = self.measure(spent);
        let each = self.now.kicks - self.now.last_start.kicks;
        let kicks = self.kept.kicks + each * u64::from(self.chains);
        let mut tours = self.lin_kernighan.tours()?;
        tours.append(&mut self.kept.tours);
        let count = tours.len() as u64 / u64::from(self.plan.problem.n());
        if !self.now.epochs.is_last() {
            let took = spent.saturating_sub(self.now.last_start.at);
            self.kept = Kept { tours: tours.clone(), kicks, took };
        }
        let left = self.now.epochs.end().unwrap_or_default().saturating_sub(spent);
        let mut kicked = Kicked { each: kicks / count, rate, left, tours };
        self.share_tours(&mut kicked, budget);
        self.have_same(true);
        // A restart has tours of its own.
        if let Some(best) =
            self.bests.last().filter(|_| self.now.is_inherited && self.now.last_start.times == 0)
        {
            kicked.tours.extend(best);
        }
        let Kicked { each, rate, left, tours } = kicked;
        (self.generations, self.generations_made) = (1, 0);
        self.pace = Pace::default();
        let kicks = Kicks { each, rate, walk: self.walk_at(each) };
        match cross::of_kicked(&self.plan, self.common_seed(), (tours, kicks), left, budget.deadline.stop) {
            Err(BackendError::OutOfMemory { .. }) => {
                self.partners = None;
                self.kick_on(budget)
            }
            population => {
                self.phase = Phase::Crossing(population?);
                Ok(())
            }
        }
    }

    /// Gives all runs the tours of all, if they share them.
    fn share_tours(&mut self, kicked: &mut Kicked, budget: &Budget) {
        let Some(partners) = &mut self.partners else { return };
        let problem = self.plan.problem;
        match partners.all_tours(kicked, problem.n(), &|| budget.is_over()) {
            Some(all) => {
                // Messages can be wrong.
                let tours = all.tours.chunks_exact(problem.n() as usize);
                let tours: Vec<&[u32]> = tours.filter(|tour| problem.length(tour).is_some()).collect();
                *kicked = Kicked { tours: tours.concat(), ..all };
            }
            None => self.partners = None,
        }
    }

    /// Returns the value from the first of the runs that share tours; its own value if none do.
    fn agree(&mut self, own: u64, budget: &Budget) -> u64 {
        let Some(partners) = &mut self.partners else { return own };
        let agreed = partners.agree(own, &|| budget.is_over());
        if agreed.is_none() {
            self.partners = None;
        }
        agreed.unwrap_or(own)
    }

    /// Notes the length with which a population ended; returns whether other restarts are unlikely to find a shorter one. The
    /// first tours do not count: they are crossed along with the best ones of earlier epochs.
    fn is_settled(&mut self, cost: i64, budget: &Budget) -> bool {
        if self.now.last_start.times > 0 && cost == self.now.best_cost {
            self.now.reached = Length { cost, times: self.now.reached.of(cost) + 1 };
        }
        // Runs that share tours would have to agree.
        budget.deadline.stop.may_settle && self.partners.is_none() && self.now.reached.times >= SETTLED
    }

    /// Restarts with as many other tours as were crossed, once those cannot be improved any more; false if that is not worth while,
    /// or does not fit in memory.
    fn restart(&mut self, crossed: u32, budget: &Budget) -> Result<bool, BackendError> {
        let Plan { instance, backend, problem, settings, means, by_nearest, .. } = self.plan;
        let (times, spent) = (self.now.last_start.times + 1, budget.deadline.elapsed());
        let took =
            if times == 1 { spent.saturating_sub(self.now.last_start.at) } else { self.now.last_start.took };
        let left = budget.deadline.stop.time.unwrap_or_default().saturating_sub(spent);
        let is_worth_while = self.agree((left >= took).into(), budget) != 0;
        let Some(restart) = cross::restart(problem.n(), means.in_place, times).filter(|_| is_worth_while)
        else {
            return Ok(false);
        };
        let is_kicked = restart != Restart::LocalOptima;
        let of = if is_kicked { problem } else { by_nearest.unwrap_or(problem) };
        let number = u32::MAX - self.now.epochs.over();
        let seed = |seed: u64| u64::from(Stream::new(seed, times, number).step(0).bits(0));
        let own = self.partners.as_ref().map_or(crossed, |partners| partners.tours(crossed, is_kicked));
        let in_place = is_kicked && means.in_place;
        let starts = cross::make(instance, of, (seed(settings.seed), own), in_place, None, budget.deadline);
        let starts = starts.ok().flatten().filter(|starts| starts.count >= own);
        let Some(Starts { count, tours, cost }) = starts else {
            self.partners = None;
            return Ok(false);
        };
        if is_kicked {
            let best = self.best_tour()?;
            let trials = backend.trials(problem.n(), count);
            let spec = self.plan.spec((count, trials), tours, cost);
            self.lin_kernighan = backend.lin_kernighan(problem, &spec)?;
            (self.chains, self.now.trials, self.now.cost) = (count, trials, cost);
            (self.shorter, self.phase, self.now.is_to_cross) = (Some(best), Phase::Descent, true);
            self.have_same(false);
        } else {
            let mut made = Kicked { each: 0, rate: 0.0, left, tours };
            self.share_tours(&mut made, budget);
            let population =
                cross::population(of, seed(self.common_seed()), made.tours, budget.deadline.stop)?;
            (self.phase, self.generations_made) = (Phase::Crossing(population), 0);
        }
        self.now.last_start =
            LastStart { times, at: spent, took, kicks: self.now.kicks, made: self.now.made };
        (self.now.worked_from, self.now.new_tours, self.now.kicked_from) = (spent, count, None);
        Ok(true)
    }

    /// Goes on with the shortest tours alone if crossing all of them takes longer than there is time.
    fn keep_pace(&mut self, crossed: u32, state: ColonyState, budget: &Budget) -> Result<(), BackendError> {
        let Phase::Crossing(population) = &mut self.phase else { return Ok(()) };
        let now = budget.deadline.elapsed();
        self.pace.note(state.iterations, state.iteration_cost, now);
        let Some(end) = self.now.epochs.latest().or(self.now.epochs.end()) else { return Ok(()) };
        let is_restarted = cross::is_restarted(self.plan.problem.n());
        let Some(fewer) = self.pace.fitting(crossed, end.saturating_sub(now)).filter(|_| !is_restarted)
        else {
            return Ok(());
        };
        let mut places: Vec<(i64, u32)> = population.costs()?.into_iter().zip(0..).collect();
        places.sort_unstable();
        places.truncate(fewer as usize);
        let mean = places.iter().map(|&(cost, _)| i128::from(cost)).sum::<i128>() / i128::from(fewer);
        let tours = places.iter().map(|&(_, place)| population.individual(place));
        let tours = tours.collect::<Result<Vec<_>, _>>()?.concat();
        // Another seed: the new population begins with generation 1 again.
        let seed = self.seed.wrapping_add(self.pace.generation().into());
        match cross::population(self.plan.problem, seed, tours, budget.deadline.stop) {
            // There is no room for both, and all are crossed on.
            Err(BackendError::OutOfMemory { .. }) => {}
            population => {
                self.phase = Phase::Crossing(population?);
                self.pace.continue_with_fewer(mean as i64);
                (self.generations, self.generations_made) = (1, 0);
            }
        }
        Ok(())
    }

    /// Returns the kicks per second so far, and notes those of a thread. If most of the time went into making tours, that counts as
    /// kicks.
    fn measure(&mut self, now: Duration) -> f64 {
        let seconds = |from: Duration| now.saturating_sub(from).as_secs_f64().max(1e-3);
        let made = (self.now.made - self.now.last_start.made) as f64;
        let making = f64::from(self.now.new_tours)
            * f64::from(self.plan.problem.n())
            * cross::begins(self.plan.problem.n(), self.plan.means.in_place);
        let (kicked, worked) = (self.now.kicked_from.map(seconds), seconds(self.now.worked_from));
        let rate = match kicked {
            Some(kicked) if kicked > worked / 2.0 => made / kicked,
            _ => (made + making) / worked,
        };
        let each = self.now.kicks - self.now.last_start.kicks;
        self.now.thread_rate = Kicks { each, rate, walk: self.walk_at(each) }.of_a_thread(self.plan.means);
        rate
    }

    /// Starts kicking the current tours, and some of earlier epochs with them, unless memory is short.
    fn begin_kicks(&mut self) -> Result<(), BackendError> {
        self.phase = Phase::Kicks;
        if self.waiting.is_empty() {
            return Ok(());
        }
        let tours = [self.lin_kernighan.tours()?, std::mem::take(&mut self.waiting)].concat();
        match self.work_on(tours) {
            Err(BackendError::OutOfMemory { .. }) => Ok(()),
            worked => worked,
        }
    }

    /// Works on these tours from now on. The best tour so far is kept.
    fn work_on(&mut self, tours: Vec<u32>) -> Result<(), BackendError> {
        let Plan { backend, problem, .. } = self.plan;
        let n = problem.n();
        let count = (tours.len() / n as usize) as u32;
        let cost = tours.chunks_exact(n as usize).filter_map(|tour| problem.length(tour)).min();
        let (best, cost) = (self.best_tour()?, cost.unwrap_or(i64::MAX));
        let trials = backend.trials(n, count);
        let spec = self.plan.spec((count, trials), tours, cost);
        self.lin_kernighan = backend.lin_kernighan(problem, &spec)?;
        self.layout = self.lin_kernighan.describe();
        (self.chains, self.now.trials, self.now.cost) = (count, trials, cost);
        self.shorter = Some(best);
        Ok(())
    }

    /// Ends this epoch and starts the next one.
    fn next_epoch(&mut self, budget: &Budget) -> Result<(), BackendError> {
        match self.try_next_epoch(budget) {
            // A single tour needs less memory.
            Ok(false) | Err(BackendError::OutOfMemory { .. }) => {
                self.now.epochs.end_with_this();
                self.now.is_to_cross = false;
                (self.kept, self.waiting) = (Kept::default(), Vec::new());
                self.kick_on(budget)
            }
            started => started.map(|_| ()),
        }
    }

    /// As [`Rounds::next_epoch`]; false if no tours can be made.
    fn try_next_epoch(&mut self, budget: &Budget) -> Result<bool, BackendError> {
        let Plan { instance, problem, means, settings, .. } = self.plan;
        let (n, spent) = (problem.n(), budget.deadline.elapsed());
        if !self.now.has_crossed {
            self.measure(spent);
        }
        let best = self.best_tour()?;
        self.bests.push(best);
        let began = spent.saturating_sub(self.kept.took);
        let speed = means.measured(self.now.thread_rate.max(LEAST));
        let at_most = |end: Duration| cross::at_most(n, speed, end.saturating_sub(began)).max(cross::FEWEST);
        let old = (self.kept.tours.len() / n as usize) as u32;
        self.now.epochs.advance(old, cross::is_restarted(n), at_most);
        let end = self.now.epochs.end().unwrap_or_default();
        self.now.last_start.made = self.now.made;
        (self.now.worked_from, self.now.new_tours, self.now.kicked_from) = (spent, 0, Some(spent));
        if !self.now.epochs.is_crossed() {
            // Kicks go on, at the temperature of a run that has come as far.
            self.now.recombined = 0;
            return Ok(true);
        }
        let count = at_most(end);
        let mut new = count.saturating_sub(old);
        if new == 0 && cross::is_restarted(n) {
            (self.kept, new) = (Kept::default(), count);
        }
        let time = cross::kicked(end, began, means.in_place).saturating_sub(spent);
        let again = if cross::is_restarted(n) { 0 } else { self.kept.again((count, new), time).min(old) };
        let rest = self.kept.tours.split_off(again as usize * n as usize);
        self.waiting = std::mem::replace(&mut self.kept.tours, rest);
        let starts = if new == 0 {
            std::mem::take(&mut self.waiting)
        } else {
            let number = u32::MAX - self.now.epochs.over();
            let seed = u64::from(Stream::new(settings.seed, u32::MAX, number).step(0).bits(0));
            let until = Some(cross::kicked(end, began, means.in_place));
            let made = cross::make(instance, problem, (seed, new), means.in_place, until, budget.deadline);
            made.ok().flatten().map_or_else(Vec::new, |starts| starts.tours)
        };
        if starts.is_empty() {
            return Ok(false);
        }
        let at = spent.saturating_sub(self.kept.took);
        self.now.last_start =
            LastStart { times: 0, at, took: Duration::ZERO, kicks: self.now.kicks, made: self.now.made };
        self.now.is_to_cross = true;
        self.now.is_inherited = self.now.has_crossed;
        self.now.since = spent;
        // A slow machine made fewer.
        let made = new.min((starts.len() / n as usize) as u32);
        self.work_on(starts)?;
        if new == 0 {
            self.phase = Phase::Kicks;
        } else {
            (self.now.new_tours, self.now.kicked_from, self.phase) = (made, None, Phase::Descent);
        }
        Ok(true)
    }

    /// Crosses the current tours after an interrupt, as many as can be crossed in this time. What the user gets is then nearly as short
    /// as the tour of a run limited to that time, and not a hundred times as far from the optimum.
    fn cross_briefly(&mut self, spent: Duration, time: Duration) -> Result<(), BackendError> {
        let (problem, kicks) = (self.plan.problem, self.kicks_since_start(spent));
        // Runs that restart have crossed tours before.
        if cross::is_restarted(problem.n()) || cross::crossable(&self.plan, &kicks, time) < cross::FEWEST {
            return Ok(());
        }
        let begin = Instant::now();
        let enough: Enough = &|| begin.elapsed() >= time;
        let mut tours = self.lin_kernighan.tours()?;
        tours.append(&mut self.kept.tours);
        tours.extend(self.best_tour()?);
        let stop = Stop::after(time);
        let mut population = cross::of_kicked(&self.plan, self.seed, (tours, kicks), time, &stop)?;
        while !enough() && !population.is_exhausted() {
            let state = population.run(1, enough)?;
            let shorter =
                if state.best_cost < self.now.best_cost { Some(population.best_tour()?) } else { None };
            self.note_crossed(state, shorter);
        }
        self.now.has_crossed = true;
        self.phase = Phase::Crossing(population);
        self.join(enough)
    }

    /// Returns the kicks made since the last start, after a run of this time.
    fn kicks_since_start(&mut self, spent: Duration) -> Kicks {
        let each = self.now.kicks - self.now.last_start.kicks;
        Kicks { each, rate: self.measure(spent), walk: self.walk_at(each) }
    }

    /// Joins the best tours of all epochs, unless memory is short.
    fn join(&mut self, enough: Enough) -> Result<(), BackendError> {
        if self.bests.is_empty() {
            return Ok(());
        }
        let best = self.best_tour()?;
        match Recombiner::of(self.plan.problem, vec![(self.now.best_cost, &best)], (&self.bests, enough)) {
            Err(BackendError::OutOfMemory { .. }) => {}
            joined => {
                let (joined, cost) = joined?;
                if cost < self.now.best_cost {
                    (self.now.best_cost, self.now.best_kicks) = (cost, self.now.kicks);
                    self.shorter = Some(joined.tour_and_steps().0.to_vec());
                }
            }
        }
        Ok(())
    }

    /// Goes on with kicks of the best tour, once crossing cannot improve tours any more, or if it needs too much memory.
    fn kick_on(&mut self, budget: &Budget) -> Result<(), BackendError> {
        let mut best = self.best_tour()?;
        // Frees the memory of the crossed tours.
        self.phase = Phase::Descent;
        let Plan { backend, problem, .. } = self.plan;
        let n = problem.n();
        let mut layout = backend.default_trials(n, false);
        self.partners = self.partners.take().and_then(Partners::of_one_tour);
        if self.partners.is_some() {
            // They go on with the same tour, and what depends on earlier kicks and rounds is the same for all.
            let mut bests = Kicked { each: 0, rate: 0.0, left: Duration::ZERO, tours: best.clone() };
            self.share_tours(&mut bests, budget);
            let shortest = bests.tours.chunks_exact(n as usize);
            let shortest = shortest.min_by_key(|tour| problem.length(tour).unwrap_or(i64::MAX));
            best = shortest.map_or(best, <[u32]>::to_vec);
            self.now.best_cost = problem.length(&best).unwrap_or(self.now.best_cost);
            self.shorter = Some(best.clone());
            let made = self.agree(self.now.kicks - self.now.last_start.kicks, budget);
            (self.now.kicks, self.now.round) = (self.now.last_start.kicks + made, 0);
            self.have_same(true);
            self.seed = self.common_seed();
            layout = Trials { chains: 1, trials: self.plan.trials };
        }
        let Trials { chains, trials } = layout;
        let starts = best.repeat(chains as usize);
        let spec = self.plan.spec((chains, trials), starts, self.now.best_cost);
        self.lin_kernighan = backend.lin_kernighan(problem, &spec)?;
        (self.chains, self.now.trials, self.now.cost) = (chains, trials, self.now.best_cost);
        self.shorter = None;
        self.now.temperature *= COOLER;
        self.now.is_kicked_on = true;
        Ok(())
    }
}

impl Engine for Rounds<'_> {
    type Cost = i64;
    type Best = Vec<u32>;

    fn advance(&mut self, budget: &Budget) -> Result<u64, BackendError> {
        match &mut self.phase {
            Phase::Descent => self.descend(budget),
            Phase::Kicks => {
                let stop = self.until(budget.deadline.stop);
                let until = Budget { deadline: budget.deadline.with(&stop), ..*budget };
                let are_made = until.left(self.now.kicks - self.now.last_start.kicks) == 0;
                if self.now.is_to_cross && (until.is_over() || are_made) {
                    self.cross(budget)?;
                    return Ok(1);
                }
                if !self.now.epochs.is_last() && until.is_over() && !budget.is_over() {
                    self.next_epoch(budget)?;
                    return Ok(1);
                }
                self.kick(budget)
            }
            Phase::Crossing(population) => {
                let (is_exhausted, crossed) = (population.is_exhausted(), population.places());
                let (is_last, latest) = (self.now.epochs.is_last(), self.now.epochs.latest());
                let is_late = || latest.is_some_and(|latest| budget.deadline.elapsed() >= latest);
                let enough: Enough = &|| budget.is_over() || is_late();
                // Threads do not wait for one another between the generations of a batch.
                let generations = match &self.partners {
                    _ if is_exhausted => 0,
                    Some(_) => 1,
                    None => self.generations,
                };
                let begin = Instant::now();
                let state = match &mut self.partners {
                    Some(partners) if !is_exhausted => population.run_shared(partners, enough),
                    _ => population.run_freely(u32::try_from(generations).unwrap_or(u32::MAX), enough),
                };
                let took = begin.elapsed();
                let state = match state {
                    Err(BackendError::OutOfMemory { .. }) => {
                        self.partners = None;
                        return self.kick_on(budget).map(|()| 1);
                    }
                    state => state?,
                };
                // A batch ends early where the population needs more memory.
                let made = state.iterations.saturating_sub(self.generations_made).into();
                self.generations = next_units(generations.max(1), made, took, budget.deadline.left());
                self.generations_made = state.iterations;
                let shorter =
                    if state.best_cost < self.now.best_cost { Some(population.best_tour()?) } else { None };
                self.note_crossed(state, shorter);
                if !is_exhausted && self.partners.is_none() {
                    self.keep_pace(crossed, state, budget)?;
                }
                if is_exhausted || is_late() {
                    self.join(&|| budget.is_over())?;
                }
                if !is_last {
                    if (is_exhausted || is_late()) && !budget.is_over() {
                        self.next_epoch(budget)?;
                    }
                    return Ok(1);
                }
                if is_exhausted {
                    if self.is_settled(state.best_cost, budget) {
                        self.ended = Some(StopReason::Settled);
                    } else if !self.restart(crossed, budget)? && !budget.is_over() {
                        self.kick_on(budget)?;
                    }
                }
                Ok(1)
            }
        }
    }

    /// Received tours wait until all are recombined into one. They are used only where there are several tours that are neither
    /// crossed nor shared.
    fn take_in(&mut self, from: u32, _: i64, tour: &Vec<u32>) -> Result<(), BackendError> {
        if self.chains == 1 || self.plan.is_crossed {
            return Ok(());
        }
        self.guests.retain(|(other, _)| *other != from);
        if self.guests.len() == MOST_GUESTS {
            self.guests.remove(0);
        }
        self.guests.push((from, tour.clone()));
        Ok(())
    }

    fn save(&mut self) -> Result<Option<State>, BackendError> {
        match &self.partners {
            // Where all have the same tours, the first one saves them for all.
            Some(partners) if !self.now.is_to_cross && !partners.is_first() => Ok(None),
            Some(_) if !self.now.is_to_cross => Ok(Some(self.save_all()?.common(true))),
            _ => self.save_all().map(Some),
        }
    }

    fn status(&self) -> Status {
        Status {
            iterations: self.now.kicks,
            best_iteration: self.now.best_kicks,
            best_cost: Some(self.now.best_cost),
            cost: self.now.cost,
            tours: self.now.made,
            ended: self.ended,
        }
    }

    fn best(&mut self) -> Result<Vec<u32>, BackendError> {
        self.best_tour()
    }

    fn restarts(&self) -> u32 {
        self.now.reached.of(self.now.best_cost)
    }

    fn finish(&mut self, deadline: Deadline<'_>) -> Result<(), BackendError> {
        self.partners = None;
        let stop = deadline.stop;
        let is_interrupted =
            deadline.ended_by() == StopReason::Interrupt && stop.is_patient.load(Ordering::Relaxed);
        if is_interrupted && self.plan.is_alone && self.now.is_to_cross && matches!(self.phase, Phase::Kicks)
        {
            let spent = deadline.elapsed();
            let time = spent.div_f64(INTERRUPTED).min(MOST_INTERRUPTED);
            return match self.cross_briefly(spent, time) {
                // A GPU may still be at work, and that is lost; what was found before is not.
                Err(BackendError::Busy | BackendError::OutOfMemory { .. }) => Ok(()),
                crossed => crossed,
            };
        }
        match self.phase {
            Phase::Crossing(_) if self.plan.problem.n() < MANY as u32 => self.join(&|| false),
            Phase::Kicks if self.recombinations() > 0 && self.chains > 1 => self.recombine(&|| true),
            _ => Ok(()),
        }
    }

    fn describe(&self) -> String {
        let mut layout = self.layout.clone();
        let is_crossed = self.now.has_crossed;
        match self.now.last_start.times {
            0 if is_crossed => layout += "; crossed",
            0 => {}
            1 => layout += "; crossed, restarted",
            times => _ = write!(layout, "; crossed, restarted {times} times"),
        }
        if self.now.epochs.over() > 0 {
            _ = write!(layout, "; {} epochs", self.now.epochs.over() + 1);
        }
        if self.now.is_kicked_on {
            layout += ", then kicks applied to the best tour";
        }
        layout
    }

    fn part(&self) -> &'static str {
        match self.phase {
            Phase::Descent | Phase::Kicks if self.now.is_kicked_on => "kicks after crossing",
            Phase::Descent => "descent",
            Phase::Kicks => "kicks",
            Phase::Crossing(_) => "crossing",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::backend::{Backend, Choice};
    use crate::engine::Problem;
    use crate::instance::{generate, quadrant};
    use crate::solver::lin_kernighan::LinKernighanSettings;
    use crate::solver::lin_kernighan::means::Means;

    #[test]
    fn walks_get_longer_at_one_and_at_sixteen_kicks_a_node() {
        let kicks = [0.0, 0.999, 1.0, 15.999, 16.0, 1e9];
        assert_eq!(kicks.map(|k| steps(k, false)), [20, 20, 40, 40, 80, 80]);
        assert_eq!(kicks.map(|k| steps(k, true)), [80; 6]);
    }

    /// Advances a run with these epochs, tours and limit until `is_over`. Its best tour never gets longer, and has the length that
    /// is reported.
    fn advance(
        (n, tours, in_place): (u32, u32, bool),
        epochs: Epochs,
        stop: &Stop,
        is_over: impl Fn(&mut Rounds, Deadline) -> bool,
        check: impl FnOnce(&mut Rounds),
    ) {
        let instance = generate::uniform(n as usize, 1).unwrap();
        let near = quadrant(&instance, 8);
        let problem = Problem::for_search(&instance, &near, (0..n).collect());
        let nearest = cross::by_nearest(&instance, &problem);
        let backend = Backend::open(Choice::Cpu).unwrap().0;
        let settings = LinKernighanSettings::default();
        let plan = Plan {
            instance: &instance,
            problem: &problem,
            backend: &backend,
            settings: &settings,
            means: if in_place { Means::of(&backend, 1.0).in_place() } else { Means::of(&backend, 1.0) },
            trials: 8,
            is_alone: true,
            effective_start: Duration::ZERO,
            is_lattice: false,
            is_free: true,
            is_crossed: true,
            by_nearest: nearest.as_ref(),
        };
        let deadline = Deadline::now(stop);
        let starts = (tours > 1).then(|| {
            cross::make(&instance, &problem, (1, tours), in_place, None, deadline).unwrap().unwrap()
        });
        let (starts, cost) =
            starts.map_or((Vec::new(), problem.unit_cost()), |starts| (starts.tours, starts.cost));
        let spec = plan.spec((tours, 8), starts, cost);
        let mut rounds = Rounds::new(plan, &spec, 8, epochs).unwrap();
        let mut best = i64::MAX;
        while !is_over(&mut rounds, deadline) {
            rounds.advance(&Budget { units: 4, deadline }).unwrap();
            let now = rounds.status().best_cost.unwrap();
            assert!(now <= best, "{now} is longer than {best}");
            assert_eq!(instance.check_tour(&problem.original(&rounds.best().unwrap())).unwrap(), now);
            best = now;
        }
        rounds.finish(deadline).unwrap();
        assert!(rounds.status().best_cost.unwrap() <= best);
        check(&mut rounds);
    }

    #[test]
    fn a_restarted_run_keeps_the_best_tour() {
        // So few tours that each restart is exhausted long before the time is up.
        let stop = Stop { time: Some(Duration::from_secs(600)), ..Stop::never() };
        let is_over = |rounds: &mut Rounds, _: Deadline| rounds.now.last_start.times >= 8;
        advance((300, 10, false), Epochs::one(stop.time, true), &stop, is_over, |_| ());
    }

    #[test]
    fn a_run_that_may_settle_ends_once_restarts_end_with_the_same_length() {
        let stop = Stop { time: Some(Duration::from_secs(600)), may_settle: true, ..Stop::never() };
        let has_ended = |rounds: &mut Rounds, _: Deadline| rounds.status().ended.is_some();
        advance((200, 10, false), Epochs::one(stop.time, true), &stop, has_ended, |rounds| {
            assert_eq!(rounds.status().ended, Some(StopReason::Settled));
            assert!(rounds.now.last_start.times >= SETTLED && rounds.now.reached.times == SETTLED);
            assert_eq!(rounds.now.reached.cost, rounds.now.best_cost);
        });
    }

    #[test]
    fn an_interrupt_crosses_tours_that_were_kicked_if_it_is_patient() {
        for is_patient in [true, false] {
            let stop = Stop::after(Duration::from_secs(600));
            stop.is_patient.store(is_patient, Ordering::Relaxed);
            // On a machine so busy that tours cannot be crossed in a second, the run ends all the same.
            let can_cross = Cell::new(false);
            let is_over = |rounds: &mut Rounds, deadline: Deadline| {
                let spent = deadline.elapsed();
                let time = spent.div_f64(INTERRUPTED).min(MOST_INTERRUPTED);
                let are_kicked = rounds.now.kicks > rounds.now.last_start.kicks;
                can_cross.set(
                    are_kicked && {
                        let kicks = rounds.kicks_since_start(spent);
                        cross::crossable(&rounds.plan, &kicks, time) > cross::FEWEST + 1
                    },
                );
                let is_over = can_cross.get() || spent > Duration::from_secs(30);
                deadline.stop.interrupt.store(is_over, Ordering::Relaxed);
                is_over
            };
            advance((5100, 12, false), Epochs::one(stop.time, true), &stop, is_over, |rounds| {
                if can_cross.get() {
                    assert_eq!(rounds.now.has_crossed, is_patient);
                    assert_eq!(rounds.part(), if is_patient { "crossing" } else { "kicks" });
                }
                let best = rounds.best().unwrap();
                assert_eq!(rounds.plan.problem.length(&best), Some(rounds.now.best_cost));
            });
        }
    }

    #[test]
    fn epochs_keep_the_best_tour_and_inherit_kicked_ones() {
        let is_over = |_: &mut Rounds, deadline: Deadline| deadline.is_over();
        for (n, tours, crossed_from, in_place) in
            [(1000, 10, 0.0, false), (1000, 10, 0.0, true), (5100, 10, 0.0, true), (5100, 1, 0.25, false)]
        {
            // The limit is doubled until the threads, however slow they are now, have crossed tours in the last epoch.
            let (mut has_crossed, mut limit) = (false, Duration::from_secs(1));
            while !has_crossed {
                limit *= 2;
                assert!(limit < Duration::from_secs(100), "{n} nodes, {tours} tours: never crossed");
                // The short epochs of runs that restart, so that a short test has several.
                let crossed = |end: Duration| (end >= limit.mul_f64(crossed_from)).then_some(tours);
                let epochs = Epochs::of((Duration::ZERO, limit), true, crossed);
                advance((n, tours, in_place), epochs, &Stop::after(limit), is_over, |rounds| {
                    let epochs = &rounds.now.epochs;
                    assert!(rounds.bests.len() as u32 <= epochs.over());
                    has_crossed = rounds.now.has_crossed && epochs.over() > 0 && epochs.is_last();
                });
            }
        }
    }
}
