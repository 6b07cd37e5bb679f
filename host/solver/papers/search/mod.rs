//! Neighbourhood search: walks through the solutions of any problem, in batches.

mod choose;
pub mod problems;
mod settings;
mod spread;

pub use crate::engine::{Cost, Deadline};
pub use choose::{Chosen, choose_on_host};
pub use problems::{
    Assignment, Changes, Done, Precision, Task, TourMove, TourTables, WeierstrassSpec, can_be_stored,
};
pub use settings::{Chooser, Improvement, SearchSettings, Strategy};

use std::time::{Duration, Instant};

use antwarp_core::papers::neighborhood::{Neighborhood, Walk};
use antwarp_core::papers::problem::{Element, Problem};
use antwarp_core::papers::search::{
    Alone, Cost as _, DESCENDED, LEVELS, REACHED, WalkRules, WalkState, random_solution,
};
use antwarp_core::rng::Stream;
use antwarp_core::team::Slots;

use crate::backend::Backend;
use crate::backend::cpu::OnThreads;
use crate::engine::tuning::now;
use crate::engine::{
    BackendError, Budget, Engine, Observe, Progress, Reported, SavedWalks, Snapshot, State, Status, Stop,
    StopReason, Tables, Walks, drive,
};
use crate::solver::SolveError;
use crate::solver::resumed::{Island, Runs};

/// Most iterations of tabu search.
const MOST_TABU: u64 = 4_000_000_000;
/// Random moves by which temperatures are chosen.
const SAMPLES: u32 = 2000;

/// What a search found: a solution of type `S`, and how.
#[derive(Clone, Debug)]
pub struct Found<S> {
    /// The best solution.
    pub solution: S,
    /// Its internal cost, computed from nothing but the solution; [`Task::user_cost`] converts it.
    pub cost: Cost,
    /// The best internal cost of each walk that has started.
    pub costs: Vec<Cost>,
    /// Iterations of each walk.
    pub iterations: u64,
    /// Iterations of the best walk until it found the solution.
    pub best_iteration: u64,
    /// Number of evaluated neighbours, of all walks.
    pub evaluations: u64,
    /// Number of local optima, of all walks.
    pub descents: u64,
    /// Seconds of the whole search, with its preparation and [`Stop::before`].
    pub seconds: f64,
    /// Seconds of preparation, before the first iteration.
    pub setup_seconds: f64,
    /// Why it ended.
    pub stopped_by: StopReason,
    /// How the backend laid out the work.
    pub layout: String,
    /// The failure that ended the search early, if there was one; the solution is the best one found before it.
    pub failure: Option<String>,
}

impl<S> Found<S> {
    /// Returns the same for a run that started this much earlier.
    #[must_use]
    pub fn begun_before(self, time: Duration) -> Found<S> {
        let spent = time.as_secs_f64();
        Found { seconds: self.seconds + spent, setup_seconds: self.setup_seconds + spent, ..self }
    }

    /// Returns the same with the solution converted.
    pub fn map<T>(self, view: impl FnOnce(S) -> T) -> Found<T> {
        Found {
            solution: view(self.solution),
            cost: self.cost,
            costs: self.costs,
            iterations: self.iterations,
            best_iteration: self.best_iteration,
            evaluations: self.evaluations,
            descents: self.descents,
            seconds: self.seconds,
            setup_seconds: self.setup_seconds,
            stopped_by: self.stopped_by,
            layout: self.layout,
            failure: self.failure,
        }
    }
}

/// Searches for a solution of least cost. The target is that of the settings; the limit of iterations applies to each walk. If
/// the backend has several GPUs, each has as many walks as the settings say.
///
/// # Errors
/// If settings are out of range, if the backend fails before there is a solution, or if it returns an invalid solution.
pub fn search<P: OnThreads>(
    backend: &Backend,
    tables: &Tables,
    settings: &SearchSettings,
    stop: &Stop,
    mut observe: &mut dyn FnMut(&Progress<Cost>),
) -> Result<Found<Vec<Element<P>>>, SolveError> {
    search_in_contact::<P>(backend, tables, settings, stop, Contact::new(&mut observe))
}

/// The observer of a search, and what it continues with.
pub struct Contact<'a> {
    /// Observes the search; costs are internal ones.
    pub observe: &'a mut dyn Observe<Cost, ()>,
    /// The searches that it continues; `None` to start from random solutions.
    pub resumed: Option<Runs<Cost>>,
}

impl<'a> Contact<'a> {
    /// Makes the contact of a search that starts from random solutions.
    pub fn new(observe: &'a mut dyn Observe<Cost, ()>) -> Contact<'a> {
        Contact { observe, resumed: None }
    }
}

/// As [`search`].
fn search_in_contact<P: OnThreads>(
    backend: &Backend,
    tables: &Tables,
    settings: &SearchSettings,
    stop: &Stop,
    Contact { observe, resumed }: Contact<'_>,
) -> Result<Found<Vec<Element<P>>>, SolveError> {
    let several = match &resumed {
        Some(runs) => runs.backends(backend, false)?,
        None => backend.each_gpu(),
    };
    let islands = |count| match &resumed {
        Some(runs) => runs.islands(count),
        None => (0..count as u32).map(|number| Island { number, state: None }).collect(),
    };
    let found = if several.is_empty() {
        let Island { number, state } = islands(1).pop().unwrap_or_default();
        let settings = &SearchSettings { seed: spread::seed(settings.seed, number), ..settings.clone() };
        search_on_one::<P>(backend, tables, settings, stop, (&mut Solutionless(observe), state))
    } else {
        spread::on_each::<P>(&several, tables, settings, stop, (observe, islands(several.len())))
    };
    found.map_err(|error| error.with_remedy("fewer walks (`walks`)"))
}

/// Hides solutions from an observer, which then need not know their type.
struct Solutionless<'a>(&'a mut dyn Observe<Cost, ()>);

impl<B> Observe<Cost, B> for Solutionless<'_> {
    fn progress(&mut self, progress: &Progress<Cost>) {
        self.0.progress(progress);
    }

    fn wants_checkpoint(&mut self, is_end: bool) -> bool {
        self.0.wants_checkpoint(is_end)
    }

    fn checkpoint(&mut self, snapshot: Result<Snapshot<Cost, B>, BackendError>) {
        self.0.checkpoint(snapshot.map(|Snapshot { elapsed, iterations, best: (cost, _), state }| {
            Snapshot { elapsed, iterations, best: (cost, ()), state }
        }));
    }

    fn no_checkpoint(&mut self) {
        self.0.no_checkpoint();
    }

    fn keeps_checkpoints(&self) -> bool {
        self.0.keeps_checkpoints()
    }
}

/// As [`search`], on CPU threads or one GPU. Continues with a state, if there is one.
fn search_on_one<P: OnThreads>(
    backend: &Backend,
    tables: &Tables,
    settings: &SearchSettings,
    stop: &Stop,
    (observe, resumed): (&mut dyn Observe<Cost, Best<P>>, Option<State>),
) -> Result<Found<Vec<Element<P>>>, SolveError> {
    settings.check()?;
    let begin = Instant::now();
    let problem: P = tables.problem();
    check_neighbors(&problem, levels(&problem, settings))?;
    if settings.recombine && (!P::CROSSES || settings.walks == 1) {
        return Err(SolveError::Settings("`recombine` is for several walks of quadratic assignment".into()));
    }
    let rules = rules(&problem, settings, stop)?;
    let mut batches: Batches<'_, P> = Batches {
        walks: backend.walks::<P>(tables, &settings.spec())?,
        settings,
        states: vec![WalkState { fresh: 1, ..WalkState::default() }; rules.walks as usize],
        rules,
        is_whole: true,
    };
    if let Some(mut state) = resumed {
        batches.resume(&problem, &mut state)?;
    }
    let stop = stop.with_target(settings.target);
    let deadline = Deadline::since(begin, &stop);
    let run = drive(&mut batches, deadline, observe);
    let (states, failure) = (batches.states, run.failure);
    let (state, solution) = match run.best {
        Some((_, (best, solution))) => (Some(states[best]), solution),
        None => match failure {
            Some(failure) => return Err(failure.into()),
            // The first iteration was cut short.
            None => (None, random(&problem, settings.seed, 0)),
        },
    };
    let cost = full_cost(&problem, &solution);
    let carried = state.map_or(cost, |state| P::Cost::from_bits(state.best));
    let last = states.iter().map(|state| state.iterations).max();
    let best_iteration = state.map_or(0, |state| state.best_iteration);
    let best_cost = |state: &WalkState| P::Cost::from_bits(state.best).reported();
    let flaws: u32 = states.iter().map(|state| state.flaws).sum();
    if failure.is_none() && (!cost.agrees(carried) || flaws > 0) {
        let what = format!(
            "cost {} was carried as {}, {flaws} batches began with another cost than the one before ended with",
            cost.reported(),
            carried.reported()
        );
        return Err(SolveError::Wrong { backend: backend.machine().backend, what });
    }
    Ok(Found {
        solution,
        cost: cost.reported(),
        costs: states.iter().filter(|state| state.fresh == 0).map(best_cost).collect(),
        // Those of all walks that go on, or of the one with the best if that is ahead; where none goes on, of the one that went on longest.
        iterations: now(&states).or(last).unwrap_or(0).max(best_iteration),
        best_iteration,
        evaluations: states.iter().map(|state| state.evaluations).sum(),
        descents: states.iter().map(|state| u64::from(state.descents)).sum(),
        seconds: deadline.elapsed().as_secs_f64(),
        setup_seconds: run.setup.as_secs_f64(),
        stopped_by: run.stopped_by,
        layout: run.layout,
        failure: failure.map(|error| error.to_string()),
    })
}

/// Returns the random solution from which the first walk starts after this many descents.
fn random<P: OnThreads>(problem: &P, seed: u64, descents: u32) -> Vec<Element<P>> {
    let moves = problem.moves();
    (0..moves.elements()).map(|i| random_solution(&moves, seed, descents, 0, i)).collect()
}

/// Returns how many of a problem's neighbourhoods a descent uses.
fn levels<P: Problem>(problem: &P, settings: &SearchSettings) -> u32 {
    settings.neighborhoods.unwrap_or(u32::MAX).min(problem.moves().levels())
}

/// Rejects problems whose solutions have no neighbours in one of this many neighbourhoods.
fn check_neighbors<P: Problem>(problem: &P, levels: u32) -> Result<(), SolveError> {
    let is_empty = |level| problem.moves().level(level).0 == problem.moves().level(level).1;
    if (0..levels).any(is_empty) {
        return Err(SolveError::Settings("solutions of so few elements have no neighbours".into()));
    }
    Ok(())
}

/// Returns the walk with the best solution; among equally good ones the one that needed the fewest iterations, so that the
/// answer does not depend on where batches end.
fn best_of<P: Problem>(states: &[WalkState]) -> Option<usize> {
    let began = states.iter().enumerate().filter(|(_, state)| state.fresh == 0);
    began
        .min_by_key(|(_, state)| (P::Cost::from_bits(state.best).key(), state.best_iteration))
        .map(|(walk, _)| walk)
}

/// Computes the cost of a solution from nothing else.
pub fn full_cost<P: Problem>(problem: &P, solution: &[Element<P>]) -> P::Cost {
    with_walk(problem, solution.to_vec(), |walk| {
        // SAFETY: the walk has what the problem asks for.
        unsafe { problem.cost(walk) }
    })
}

/// Calls `work` with a walk of one thread whose current solution is this one.
fn with_walk<P: Problem, T>(
    problem: &P,
    mut solution: Vec<Element<P>>,
    work: impl FnOnce(&Walk<Element<P>>) -> T,
) -> T {
    let units = |bytes: usize| vec![0u128; bytes.div_ceil(16).max(1)];
    let (mut notes, mut common) = (units(problem.notes()), units(problem.common()));
    // SAFETY: the arrays live until the walk is over.
    let walk = unsafe {
        Walk {
            solution: Slots::of(&mut solution),
            traces: Slots::none(),
            notes: notes.as_mut_ptr().cast(),
            common: common.as_mut_ptr().cast(),
            stream: Stream::new(0, 0, 0),
        }
    };
    work(&walk)
}

/// Returns the rules of a walk: the settings, with defaults that depend on the problem.
fn rules<P: OnThreads>(problem: &P, settings: &SearchSettings, stop: &Stop) -> Result<WalkRules, SolveError> {
    let moves = problem.moves();
    let n = moves.elements();
    // Taillard's tenures for permutations; of n bits a tenth, for a tabu bit forbids every move that flips it.
    let (low, high) = settings.tenure.unwrap_or_else(|| tenures(n, moves.traces(), settings));
    let aspiration = settings.aspiration.unwrap_or_else(|| (5 * n).saturating_mul(n).max(1000));
    let (hot, cold) = match settings.temperatures {
        Some(both) => both,
        None if settings.strategy == Strategy::Annealing => temperatures(problem, settings.seed),
        None => (1.0, 1.0),
    };
    let cooling = settings.cooling.or(stop.iterations).unwrap_or_else(|| 100 * moves.len().max(1000));
    Ok(WalkRules {
        seed: settings.seed,
        target: settings.target.map_or(0, |target| P::Cost::at_most(target).key()),
        end: 0,
        cooling,
        strategy: settings.strategy.in_core() as u32,
        tenure: low,
        tenures: high - low + 1,
        aspiration,
        descents: settings.descents.unwrap_or(0),
        kicks: match (settings.strategy, settings.restart) {
            (Strategy::Tabu, None) => 0,
            (Strategy::Tabu, Some(_)) => settings.kicks.unwrap_or(n.div_ceil(4)),
            (Strategy::Vns, _) => settings.kicks.unwrap_or(10),
            _ => settings.kicks.unwrap_or(4),
        },
        hot,
        ratio: (cold / hot).powf(1.0 / LEVELS as f32),
        walks: settings.walks,
        rival_bit: 0,
        levels: levels(problem, settings),
        first: (settings.improvement == Improvement::First).into(),
        mate: 0,
        alike: n / 10,
    })
}

/// Returns the fewest and most iterations for which something is tabu by default. If the list remembers what was where:
/// Taillard's 0.9 n to 1.1 n, a wider range between restarts, which was better on his instances, and less after a child. If it
/// remembers what was moved, which forbids more: about n / 10.
fn tenures(n: u32, traces: u32, settings: &SearchSettings) -> (u32, u32) {
    match (traces > n, settings.restart) {
        (true, None) => (n * 9 / 10, n * 11 / 10 + 4),
        (true, Some(_)) if settings.recombine => (n * 3 / 10, n * 4 / 5),
        (true, Some(_)) => (n / 5, 2 * n),
        (false, _) => (n / 12, n / 8 + 2),
    }
}

/// Returns the first and the last temperature: at the first, a mean rise is accepted with probability 1/5; at the last, the
/// smallest rise with 1/100.
fn temperatures<P: OnThreads>(problem: &P, seed: u64) -> (f32, f32) {
    let moves = problem.moves();
    let rises: Vec<f32> = with_walk(problem, random(problem, seed, 0), |walk| {
        // SAFETY: the walk has what the problem asks for.
        let cost = unsafe { problem.begin(&mut Alone, walk) };
        let rise = |i: u32| {
            let draws = Stream::new(seed, i, 1).step(0);
            let bits = u64::from(draws.bits(0)) << 32 | u64::from(draws.bits(1));
            let neighbor = ((u128::from(bits) * u128::from(moves.len())) >> 64) as u64;
            // SAFETY: as above.
            unsafe { problem.neighbor_cost(walk, cost, moves.at(neighbor)).above(cost).abs() }
        };
        (0..SAMPLES).map(rise).filter(|&rise| rise > 0.0).collect()
    });
    if rises.is_empty() {
        return (1.0, 1.0);
    }
    let mean = rises.iter().sum::<f32>() / rises.len() as f32;
    let least = rises.iter().copied().fold(f32::INFINITY, f32::min);
    let hot = mean / 5.0f32.ln();
    (hot, (least / 100.0f32.ln()).min(hot))
}

/// The best walk, and its best solution.
type Best<P> = (usize, Vec<Element<P>>);

/// Walks, batch by batch.
struct Batches<'a, P: OnThreads> {
    walks: Box<dyn Walks<Element<P>> + 'a>,
    settings: &'a SearchSettings,
    rules: WalkRules,
    states: Vec<WalkState>,
    /// Whether the last batch was complete.
    is_whole: bool,
}

impl<P: OnThreads> Batches<'_, P> {
    /// Continues with the walks of a state.
    ///
    /// # Errors
    /// If the state is not one of such walks.
    fn resume(&mut self, problem: &P, state: &mut State) -> Result<(), BackendError> {
        let end = state.take_one(0_u64)?;
        let cooling = state.take_one(0_u64)?;
        let mut saved = SavedWalks::take(state, &self.settings.spec(), &problem.moves())?;
        let levels = self.rules.levels.max(1);
        let is_wrong = |walk: &WalkState| walk.level >= levels || walk.iterations > end;
        if cooling == 0 || saved.states.iter().any(is_wrong) {
            return Err(BackendError::State);
        }
        // The target may be another one than before.
        let is_above = |walk: &WalkState| P::Cost::from_bits(walk.best).key() > self.rules.target;
        let goes_on = |walk: &&mut WalkState| walk.done == REACHED && is_above(walk);
        saved.states.iter_mut().filter(goes_on).for_each(|walk| walk.done = 0);
        // The temperature falls as it did before, whatever the limit is now.
        (self.rules.end, self.rules.cooling) = (end, cooling);
        self.states.clone_from(&saved.states);
        self.walks.restore(saved)
    }

    /// Returns the iteration at which the next batch ends. Walks compare at fixed iterations, so results do not depend on
    /// the length of batches.
    fn end(&self, units: u64, left: u64) -> u64 {
        let done = self.rules.end;
        let most = if self.settings.strategy == Strategy::Tabu { MOST_TABU } else { u64::MAX };
        let mut end = done.saturating_add(units.min(left)).min(most);
        for every in self.settings.cooperate.into_iter().chain(self.settings.restart) {
            end = end.min((done / every + 1) * every);
        }
        end
    }

    /// Returns the distance from a walk to its mate if the next batch starts with restarts: the next walk and the one
    /// before alternately, so that good parts spread slowly and distant walks stay different.
    fn mate(&self) -> u32 {
        let (done, walks) = (self.rules.end, self.rules.walks);
        match self.settings.restart.filter(|_| self.settings.recombine) {
            Some(every) if done / every % 2 == 0 => walks - 1,
            Some(_) => 1,
            None => 0,
        }
    }

    /// Returns which walks compare at the start of the next batch.
    fn rival_bit(&self) -> u32 {
        let done = self.rules.end;
        let is_time = |every: &u64| done > 0 && done.is_multiple_of(*every);
        let pairs = u32::BITS - self.rules.walks.saturating_sub(1).leading_zeros();
        match self.settings.cooperate.filter(is_time) {
            Some(every) => 1 << ((done / every - 1) % u64::from(pairs.max(1))),
            // No walk has such a rival.
            None if self.settings.restart.is_some_and(|every| is_time(&every)) => 1 << 31,
            None => 0,
        }
    }
}

impl<P: OnThreads> Engine for Batches<'_, P> {
    type Cost = Cost;
    type Best = Best<P>;

    fn advance(&mut self, budget: &Budget<Cost>) -> Result<u64, BackendError> {
        let done = self.rules.end;
        (self.rules.rival_bit, self.rules.mate) = (self.rival_bit(), self.mate());
        self.rules.end = self.end(budget.units, budget.left(done));
        let begun = Instant::now();
        self.states.copy_from_slice(self.walks.run(&self.rules, &|| budget.is_overdue(begun))?);
        self.is_whole = self.states.iter().all(|state| state.done != 0 || state.iterations >= self.rules.end);
        // Of a batch that was cut short some walks have done nothing; where none goes on, all may have ended before it.
        let longest = || self.states.iter().map(|state| state.iterations).max().unwrap_or(0);
        self.rules.end = now(&self.states).unwrap_or_else(longest).clamp(done, self.rules.end);
        Ok(self.rules.end - done)
    }

    fn status(&self) -> Status<Cost> {
        let best = best_of::<P>(&self.states).map(|walk| self.states[walk]);
        let cost = best.map(|state| P::Cost::from_bits(state.best).reported());
        let ended = if self.states.iter().any(|state| state.done == REACHED) {
            Some(StopReason::Target)
        } else if self.states.iter().all(|state| state.done == DESCENDED) {
            Some(StopReason::LocalOptimum)
        } else {
            (self.end(1, 1) == self.rules.end).then_some(StopReason::Iterations)
        };
        Status {
            iterations: self.rules.end,
            best_iteration: best.map_or(0, |state| state.best_iteration),
            best_cost: cost,
            cost: cost.unwrap_or(Cost::WORST),
            tours: 0,
            ended,
        }
    }

    fn best(&mut self) -> Result<Self::Best, BackendError> {
        let walk = best_of::<P>(&self.states).unwrap_or_default();
        Ok((walk, self.walks.best(walk as u32)?))
    }

    fn save(&mut self) -> Result<Option<State>, BackendError> {
        if !self.is_whole || self.states.iter().any(|state| state.fresh != 0) {
            return Ok(None);
        }
        let mut state = State::default();
        state.put(&[self.rules.end])?;
        state.put(&[self.rules.cooling])?;
        self.walks.save(&mut state)?;
        Ok(Some(state))
    }

    fn describe(&self) -> String {
        self.walks.describe()
    }

    fn part(&self) -> &'static str {
        "walks"
    }
}
