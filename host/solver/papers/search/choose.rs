//! The paper's own way (Luong et al. 2013, algorithm 2): the backend looks at the neighbours, their costs go to the host, and the
//! host chooses. Tabu search and hill climbing; one walk. Kept for comparison: it makes the same moves as [`search`](super::search).

use std::time::{Duration, Instant};

use antwarp_core::papers::neighborhood::{Clock, Neighborhood, Walk};
use antwarp_core::papers::problem::Element;
use antwarp_core::papers::search::{Contender, Cost as _, FORBIDDEN, WalkRules, candidate, iteration_stream};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Slots};

use serde::{Deserialize, Serialize};

use super::{
    Chooser, Contact, Found, SearchSettings, Solutionless, Strategy, check_neighbors, full_cost, random,
    rules,
};
use crate::backend::Backend;
use crate::backend::cpu::OnThreads;
use crate::engine::memory::{allocate, check_memory};
use crate::engine::{
    BackendError, Budget, Cost, Deadline, Engine, Enough, Neighbors, Progress, Reported, State, Status, Stop,
    StopReason, Tables, drive,
};
use crate::solver::SolveError;

/// The result of a search in which the host chose the moves, and where its time went.
#[derive(Clone, Debug)]
pub struct Chosen<S> {
    /// What was found.
    pub found: Found<S>,
    /// Time of copies to and from the device.
    pub copies: Duration,
    /// Time of evaluating neighbours.
    pub kernels: Duration,
    /// Time of choosing moves, and of making neighbours.
    pub host: Duration,
}

/// As [`search`](super::search), except that the host chooses the moves. With [`Chooser::HostGenerates`] it also makes all
/// neighbours, and the backend evaluates what it is given (Luong et al. 2013, section 3.1, the first approach).
///
/// # Errors
/// As [`search`](super::search); also if the settings do not let the host choose.
pub fn choose_on_host<P: OnThreads>(
    backend: &Backend,
    tables: &Tables,
    settings: &SearchSettings,
    stop: &Stop,
    mut observe: &mut dyn FnMut(&Progress<Cost>),
) -> Result<Chosen<Vec<Element<P>>>, SolveError> {
    choose_in_contact::<P>(backend, tables, settings, stop, Contact::new(&mut observe))
}

/// As [`choose_on_host`].
pub(super) fn choose_in_contact<P: OnThreads>(
    backend: &Backend,
    tables: &Tables,
    settings: &SearchSettings,
    stop: &Stop,
    Contact { observe, resumed }: Contact<'_>,
) -> Result<Chosen<Vec<Element<P>>>, SolveError> {
    settings.check()?;
    if settings.selection == Chooser::Device {
        return Err(SolveError::Settings("the host chooses with `selection` host or host-generates".into()));
    }
    let begin = Instant::now();
    let problem: P = tables.problem();
    check_neighbors(&problem, 1)?;
    let elements = problem.moves().elements() as usize;
    let generates = settings.selection == Chooser::HostGenerates;
    let made = if generates { (problem.moves().len() as usize).saturating_mul(elements) } else { 0 };
    check_memory("the neighbours", made.saturating_mul(size_of::<Element<P>>()))?;
    let made = allocate("the neighbours", made)?;
    let mut choices = Choices::<P> {
        neighbors: backend.neighbors::<P>(tables, &settings.spec())?,
        rules: rules(&problem, settings, stop)?,
        is_tabu: settings.strategy == Strategy::Tabu,
        solution: random(&problem, settings.seed, 0),
        made,
        traces: Vec::new(),
        next: None,
        best: random(&problem, settings.seed, 0),
        best_cost: None,
        best_iteration: 0,
        iterations: 0,
        descents: 0,
        evaluations: 0,
        choosing: Duration::ZERO,
        problem,
    };
    if choices.is_tabu {
        choices.traces = (0..choices.problem.moves().traces()).collect();
    }
    let state = resumed.and_then(|runs| runs.islands(1).pop()?.state);
    if let Some(mut state) = state {
        choices.resume(&mut state)?;
    }
    let stop = stop.with_target(settings.target);
    let deadline = Deadline::since(begin, &stop);
    let run = drive(&mut choices, deadline, &mut Solutionless(observe));
    if let Some(failure) = run.failure {
        return Err(failure.into());
    }
    let Choices { problem, best, best_cost, best_iteration, iterations, descents, evaluations, .. } = choices;
    let (copies, kernels) = choices.neighbors.phases();
    let cost = full_cost(&problem, &best);
    let differing = best_cost.filter(|reported: &P::Cost| reported.key() != cost.key());
    if let Some(reported) = differing {
        let (found, reported) = (cost.reported(), reported.reported());
        let what = format!("recomputed cost {found} differs from the reported cost {reported}");
        return Err(SolveError::Wrong { backend: backend.machine().backend, what });
    }
    let found = Found {
        cost: cost.reported(),
        costs: vec![cost.reported()],
        solution: best,
        iterations,
        best_iteration,
        evaluations,
        descents: u64::from(descents),
        seconds: deadline.elapsed().as_secs_f64(),
        setup_seconds: run.setup.as_secs_f64(),
        stopped_by: run.stopped_by,
        layout: run.layout,
        failure: None,
    };
    Ok(Chosen { found, copies, kernels, host: choices.choosing })
}

/// Returns a view of a walk's arrays. It has no notes, and nothing called here reads any.
fn walk<E: Copy>(solution: &mut [E], traces: &mut [u32], stream: Stream) -> Walk<E> {
    // SAFETY: the arrays are one function's alone while it has the view.
    unsafe {
        Walk {
            solution: Slots::of(solution),
            traces: Slots::of(traces),
            notes: std::ptr::null_mut(),
            common: std::ptr::null_mut(),
            stream,
        }
    }
}

/// The time of a tabu list.
fn clock(rules: &WalkRules, iterations: u64, traces: &[u32]) -> Clock {
    Clock {
        now: (iterations as u32).saturating_add(traces.len() as u32).saturating_add(1),
        aspiration: rules.aspiration,
    }
}

/// The chosen neighbour.
#[derive(Clone, Copy)]
struct Next {
    neighbor: u64,
    /// Its cost, tabu or not, and the cost where the walk is.
    key: u64,
    own_key: u64,
}

/// A walk whose moves the host chooses.
struct Choices<'a, P: OnThreads> {
    problem: P,
    neighbors: Box<dyn Neighbors<Element<P>> + 'a>,
    rules: WalkRules,
    is_tabu: bool,
    solution: Vec<Element<P>>,
    /// The neighbours, if the host makes them.
    made: Vec<Element<P>>,
    traces: Vec<u32>,
    next: Option<Next>,
    best: Vec<Element<P>>,
    best_cost: Option<P::Cost>,
    best_iteration: u64,
    iterations: u64,
    descents: u32,
    evaluations: u64,
    /// Time spent in choosing, and in making neighbours.
    choosing: Duration,
}

/// The numbers of a walk in a checkpoint.
#[derive(Serialize, Deserialize)]
struct Numbers {
    best_iteration: u64,
    iterations: u64,
    descents: u32,
    evaluations: u64,
}

impl<P: OnThreads> Choices<'_, P> {
    /// Continues with a walk of a state.
    ///
    /// # Errors
    /// If the state is not one of such a walk.
    fn resume(&mut self, state: &mut State) -> Result<(), BackendError> {
        let moves = self.problem.moves();
        let n = moves.elements() as usize;
        let Numbers { best_iteration, iterations, descents, evaluations } = state.take_json()?;
        let (solution, best) = (state.take_all(n)?, state.take_all(n)?);
        let traces = state.take_all(self.traces.len())?;
        if ![&solution, &best].into_iter().all(|elements| moves.is_solution(elements, &mut vec![0; n])) {
            return Err(BackendError::State);
        }
        self.best_cost = Some(full_cost(&self.problem, &best));
        (self.solution, self.best, self.traces) = (solution, best, traces);
        (self.best_iteration, self.iterations) = (best_iteration, iterations);
        (self.descents, self.evaluations) = (descents, evaluations);
        Ok(())
    }

    /// Evaluates the neighbours, and chooses the best one that the walk may go to; none if it was interrupted.
    fn look(&mut self, enough: Enough) -> Result<(), BackendError> {
        self.rules.end = self.iterations;
        self.next = None;
        let is_made = self.generate(enough);
        let costs = if is_made {
            self.neighbors.costs(&self.solution, &self.made, &self.rules, enough)?
        } else {
            None
        };
        let Some(costs) = costs else {
            let own = full_cost(&self.problem, &self.solution);
            self.note(own);
            return Ok(());
        };
        let choosing = Instant::now();
        let moves = self.problem.moves();
        let own = P::Cost::from_bits(costs[moves.len() as usize]);
        if self.best_cost.is_none_or(|best| own.key() < best.key()) {
            (self.best_cost, self.best_iteration) = (Some(own), self.iterations);
            self.best.clone_from(&self.solution);
        }
        let stream = iteration_stream(self.rules.seed, self.iterations, 0);
        let draws = stream.step(0);
        let salt = u64::from(draws.bits(0)) << 32 | u64::from(draws.bits(1));
        let best_key = self.best_cost.map_or(u64::MAX, |best| best.key());
        let clock = clock(&self.rules, self.iterations, &self.traces);
        let walk = walk(&mut self.solution, &mut self.traces, stream);
        let mut chosen = Contender::NONE;
        for (neighbor, &cost) in (0..moves.len()).zip(costs) {
            let mut key = P::Cost::from_bits(cost).key();
            if self.is_tabu {
                // SAFETY: the walk has a solution and a tabu list.
                let standing = unsafe { moves.standing(&walk, clock, moves.at(neighbor)) };
                key = candidate(key, standing, best_key);
            }
            chosen = chosen.or(Contender { key, tag: neighbor ^ salt, cost });
        }
        self.next = Some(Next { neighbor: chosen.tag ^ salt, key: chosen.key, own_key: own.key() });
        self.choosing += choosing.elapsed();
        Ok(())
    }

    /// Makes all neighbours, if there is memory for them. Returns false if it was interrupted.
    fn generate(&mut self, enough: Enough) -> bool {
        let (begin, moves) = (Instant::now(), self.problem.moves());
        let stream = iteration_stream(self.rules.seed, self.iterations, 0);
        for (index, neighbor) in (0u64..).zip(self.made.chunks_exact_mut(self.solution.len())) {
            if index % 1024 == 1023 && enough() {
                return false;
            }
            neighbor.copy_from_slice(&self.solution);
            // SAFETY: the view is of a solution, which is this function's alone.
            unsafe { moves.apply(Serial, &walk(neighbor, &mut [], stream), moves.at(index)) };
        }
        self.choosing += begin.elapsed();
        true
    }

    /// Remembers the solution, which has this cost, if it is the best so far.
    fn note(&mut self, own: P::Cost) {
        if self.best_cost.is_none_or(|best| own.key() < best.key()) {
            (self.best_cost, self.best_iteration) = (Some(own), self.iterations);
            self.best.clone_from(&self.solution);
        }
    }

    /// Makes the move that [`Choices::look`] chose.
    fn go(&mut self, next: Next) {
        let choosing = Instant::now();
        let moves = self.problem.moves();
        let step = moves.at(next.neighbor);
        let stream = iteration_stream(self.rules.seed, self.iterations, 0);
        let clock = clock(&self.rules, self.iterations, &self.traces);
        let walk = walk(&mut self.solution, &mut self.traces, stream);
        self.iterations += 1;
        self.evaluations += moves.len();
        if self.is_tabu {
            if next.key < FORBIDDEN {
                let tenures = stream.step(1);
                let until = |item| clock.now + self.rules.tenure + tenures.below(item, self.rules.tenures);
                // SAFETY: the walk has a solution and a tabu list; nobody else looks at it.
                unsafe {
                    moves.leave(Serial, &walk, step, until);
                    moves.apply(Serial, &walk, step);
                }
            }
        } else if next.key < next.own_key {
            // SAFETY: as above.
            unsafe { moves.apply(Serial, &walk, step) };
        } else {
            self.descents += 1;
            if !self.has_descended() {
                self.solution = random(&self.problem, self.rules.seed, self.descents);
            }
        }
        self.choosing += choosing.elapsed();
    }

    /// Returns whether all descents are over.
    fn has_descended(&self) -> bool {
        self.rules.descents != 0 && self.descents >= self.rules.descents
    }
}

impl<P: OnThreads> Engine for Choices<'_, P> {
    type Cost = Cost;
    type Best = Vec<Element<P>>;

    fn advance(&mut self, budget: &Budget<Cost>) -> Result<u64, BackendError> {
        let (mut done, begun) = (0, Instant::now());
        while done < budget.units && !budget.is_over() {
            if let Some(next) = self.next {
                if budget.left(self.iterations) == 0 {
                    break;
                }
                self.go(next);
                if self.has_descended() {
                    break;
                }
            }
            self.look(&|| budget.is_overdue(begun))?;
            done += 1;
            if self.next.is_none() || self.status().ended.is_some() {
                break;
            }
        }
        Ok(done)
    }

    fn status(&self) -> Status<Cost> {
        let cost = self.best_cost.map(Reported::reported);
        let is_reached = |best: P::Cost| best.key() <= self.rules.target;
        Status {
            iterations: self.iterations,
            best_iteration: self.best_iteration,
            best_cost: cost,
            cost: cost.unwrap_or(Cost::WORST),
            tours: 0,
            ended: match (self.best_cost.is_some_and(is_reached), self.has_descended()) {
                (true, _) => Some(StopReason::Target),
                (_, true) => Some(StopReason::LocalOptimum),
                _ => None,
            },
        }
    }

    fn best(&mut self) -> Result<Vec<Element<P>>, BackendError> {
        Ok(self.best.clone())
    }

    fn save(&mut self) -> Result<Option<State>, BackendError> {
        let &mut Choices { best_iteration, iterations, descents, evaluations, .. } = self;
        let mut state = State::default();
        state.put_json(&Numbers { best_iteration, iterations, descents, evaluations })?;
        state.put(&self.solution)?;
        state.put(&self.best)?;
        state.put(&self.traces)?;
        Ok(Some(state))
    }

    fn describe(&self) -> String {
        self.neighbors.describe()
    }

    fn part(&self) -> &'static str {
        "choices"
    }
}
