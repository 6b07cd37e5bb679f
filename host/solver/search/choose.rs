//! The paper's own way (Luong et al. 2013, algorithm 2): the backend looks at the neighbours, their costs go to the host, and the
//! host chooses. Tabu search and hill climbing; one walk. Kept for comparison: it makes the same moves as [`search`](super::search).

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use antwarp_core::neighborhood::{Clock, Neighborhood, Walk};
use antwarp_core::problem::Element;
use antwarp_core::search::{Candidate, Cost, FORBIDDEN, candidate, iteration_stream, random_solution};
use antwarp_core::team::{Serial, Slots};

use super::{
    Found, Progress, Searchable, Settings, Strategy, Tables, WalksSpec, check_neighbors, full_cost, rules,
};
use crate::backend::Backend;
use crate::solver::SolveError;
use crate::solver::stop::{Stop, StopReason};

/// How often progress is told.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// What a search found whose choices were the host's, and where its time went.
#[derive(Clone, Debug)]
pub struct Chosen<S> {
    /// What was found.
    pub found: Found<S>,
    /// Copies to and from the device.
    pub copies: Duration,
    /// Looking at neighbours.
    pub kernels: Duration,
    /// Choosing.
    pub host: Duration,
}

/// As [`search`](super::search), but that the host chooses.
///
/// # Errors
/// As there; also if the strategy is another one, or there are several walks.
pub fn choose_on_host<P: Searchable>(
    backend: &Backend,
    tables: &Tables,
    settings: &Settings,
    stop: &Stop,
    observe: &mut dyn FnMut(&Progress),
) -> Result<Chosen<Vec<Element<P>>>, SolveError> {
    settings.check()?;
    if !matches!(settings.strategy, Strategy::Tabu | Strategy::HillClimbing) || settings.walks != 1 {
        let what = "the host chooses for one walk of --strategy tabu or hill-climbing only";
        return Err(SolveError::Settings(what.into()));
    }
    let begin = Instant::now();
    let problem: P = tables.problem();
    check_neighbors(&problem)?;
    let mut rules = rules(&problem, settings, stop)?;
    let mut neighbors = backend.neighbors::<P>(tables, &WalksSpec::new(settings))?;
    let setup = begin.elapsed();
    let moves = problem.moves();
    let tabu = settings.strategy == Strategy::Tabu;
    let n = moves.elements();
    let start = |descent| -> Vec<Element<P>> {
        (0..n).map(|i| random_solution(&moves, settings.seed, descent, 0, i)).collect()
    };
    let mut solution = start(0);
    let mut traces: Vec<u32> = (0..if tabu { moves.traces() } else { 0 }).collect();
    let (mut best_key, mut best, mut best_iteration) = (u64::MAX, solution.clone(), 0);
    let (mut host, mut told) = (Duration::ZERO, Instant::now());
    let (mut iterations, mut descents, mut evaluations) = (0u64, 0u32, 0u64);
    let stopped_by = loop {
        rules.end = iterations;
        let costs = neighbors.costs(&solution, &rules)?;
        let choosing = Instant::now();
        let own_key = P::Cost::from_bits(costs[moves.len() as usize]).key();
        if own_key < best_key {
            (best_key, best_iteration) = (own_key, iterations);
            best.copy_from_slice(&solution);
        }
        let reason = if settings.target.is_some() && best_key <= rules.target {
            Some(StopReason::Target)
        } else if stop.interrupt.load(Ordering::Relaxed) {
            Some(StopReason::Interrupt)
        } else if stop.iterations.is_some_and(|most| iterations >= most) {
            Some(StopReason::Iterations)
        } else {
            stop.time.is_some_and(|time| begin.elapsed() >= time).then_some(StopReason::Time)
        };
        if let Some(reason) = reason {
            break reason;
        }
        let stream = iteration_stream(settings.seed, iterations, 0);
        // SAFETY: a view of this function's own arrays; there are no notes, and what is called below looks at none.
        let walk = unsafe {
            Walk {
                solution: Slots::new(solution.as_mut_ptr()),
                traces: Slots::new(traces.as_mut_ptr()),
                notes: std::ptr::null_mut(),
                common: std::ptr::null_mut(),
                stream,
            }
        };
        let draws = stream.step(0);
        let salt = u64::from(draws.bits(0)) << 32 | u64::from(draws.bits(1));
        let clock = Clock {
            now: (iterations as u32).saturating_add(traces.len() as u32).saturating_add(1),
            aspiration: rules.aspiration,
        };
        let mut chosen = Candidate::NONE;
        for (neighbor, &cost) in (0..moves.len()).zip(costs) {
            let mut key = P::Cost::from_bits(cost).key();
            if tabu {
                // SAFETY: the walk has a solution and a tabu list.
                let standing = unsafe { moves.standing(&walk, clock, moves.at(neighbor)) };
                key = candidate(key, standing, best_key);
            }
            chosen = chosen.or(Candidate { key, tag: neighbor ^ salt, cost });
        }
        let step = chosen.tag ^ salt;
        iterations += 1;
        evaluations += moves.len();
        if tabu {
            if chosen.key < FORBIDDEN {
                let tenures = stream.step(1);
                let until = |item| clock.now + rules.tenure + tenures.below(item, rules.tenures);
                // SAFETY: as above; nobody else looks at the walk.
                unsafe {
                    moves.leave(Serial, &walk, moves.at(step), until);
                    moves.apply(Serial, &walk, moves.at(step));
                }
            }
        } else if chosen.key < own_key {
            // SAFETY: as above.
            unsafe { moves.apply(Serial, &walk, moves.at(step)) };
        } else {
            descents += 1;
            if rules.descents != 0 && descents >= rules.descents {
                host += choosing.elapsed();
                break StopReason::LocalOptimum;
            }
            solution = start(descents);
        }
        host += choosing.elapsed();
        if told.elapsed() >= TELL_EVERY {
            told = Instant::now();
            // A cost has a key and no way back; the best solution is at hand.
            let best = full_cost(&problem, &best).to_f64();
            observe(&Progress { iterations, best, seconds: begin.elapsed().as_secs_f64() });
        }
    };
    let (copies, kernels) = neighbors.phases();
    let cost = full_cost(&problem, &best);
    if cost.key() != best_key {
        let what = format!("cost {} is not what was told", cost.to_f64());
        return Err(SolveError::Wrong { backend: backend.machine().backend, what });
    }
    let found = Found {
        cost: cost.to_f64(),
        costs: vec![cost.to_f64()],
        solution: best,
        iterations,
        best_iteration,
        evaluations,
        descents: u64::from(descents),
        seconds: begin.elapsed().as_secs_f64(),
        setup_seconds: setup.as_secs_f64(),
        stopped_by,
        layout: neighbors.describe(),
        failure: None,
    };
    Ok(Chosen { found, copies, kernels, host })
}
