//! Iterated local search (Fosin et al. 2013): settings, and the loop around a backend's chains.
//!
//! A chain is a tour that is kicked by double bridges and repaired by local search. Its nodes are worked on in tiles
//! that are improved at the same time, cut anew in every round; what is at a tile's border in one round is inside in
//! another. The temperature of the annealing rule falls with the time or the iterations that are left.

mod descent;
mod rounds;
mod settings;
mod whole;

use std::time::Instant;

use antwarp_core::local_search::chain;
use antwarp_core::local_search::chains::ChainsState;

use super::{Solution, SolveError, exhaustive};
use crate::backend::Backend;
use crate::engine::start::{self, Start};
use crate::engine::{ChainsSpec, Problem, Progress, Stop, cells, drive};
use crate::instance::{Instance, NeighborLists, nearest, quadrant};
use rounds::{PARTITIONS, Rounds};

pub use settings::{Acceptance, Improvement, Moves, Neighbors, Settings};

/// Solves an instance, from `initial` on if it is given: a tour in the instance's numbering. `observe` is called
/// after each batch of rounds.
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
    super::check_kind(instance, "iterated local search")?;
    if instance.len() < chain::FEWEST as usize {
        return exhaustive(instance, begin);
    }
    let k = (settings.neighbors as usize).min(instance.len() - 1);
    let near = match settings.neighbor_lists {
        Neighbors::Nearest => nearest(instance, k),
        Neighbors::Quadrant => quadrant(instance, k),
    };
    let start = match initial {
        Some(tour) => tour.to_vec(),
        None => start::tour(instance, settings.start, &near, settings.seed),
    };
    let start_cost =
        instance.check_tour(&start).map_err(|e| SolveError::Settings(format!("`initial_tour`: {e}")))?;
    let problem = Problem::for_search(instance, &near, start);
    if settings.improvement == Improvement::Best {
        return descent::solve((instance, &problem), settings, backend, (begin, stop), start_cost, observe);
    }
    let (problem, start_cost) =
        descended(instance, &near, problem, start_cost, settings, backend, initial.is_some());
    let spec = spec(&problem, settings, backend, stop, start_cost);
    let mut rounds = Rounds {
        chains: backend.chains(&problem, &spec)?,
        settings,
        setup: begin.elapsed(),
        mean_edge: start_cost as f32 / problem.n() as f32,
        n: problem.n(),
        count: spec.chains,
        tiles: spec.tiles,
        partitions: spec.cells.len(),
        state: ChainsState::new(start_cost),
        round: 0,
        kicks: 0,
        best_kicks: 0,
        is_optimal: false,
    };
    let run = drive(&mut rounds, begin, stop, observe);
    Solution::of(run, begin, instance, &problem, backend)
}

/// Nodes up to which a random start tour is improved as a whole.
const RANDOM_START: u32 = 20_000;

/// The problem along its tour after a descent of the whole, where chains would begin with tiles.
fn descended(
    instance: &Instance,
    near: &NeighborLists,
    problem: Problem,
    cost: i64,
    settings: &Settings,
    backend: &Backend,
    given: bool,
) -> (Problem, i64) {
    let (tiles, _) = layout(&problem, settings, backend);
    // From a random tour long ways are reversed at every step.
    let too_long = settings.start == Start::Random && !given && problem.n() > RANDOM_START;
    if tiles == 1 || too_long {
        return (problem, cost);
    }
    let (tour, gained) =
        whole::descend(&problem, settings.local_search, settings.breadth.min(problem.search_k()));
    (Problem::for_search(instance, near, problem.original(&tour)), cost - gained)
}

/// Tiles of a chain, and chains.
fn layout(problem: &Problem, settings: &Settings, backend: &Backend) -> (u32, u32) {
    match settings.tile {
        Some(nodes) => (problem.n().div_ceil(nodes), 1),
        None => backend.default_chains(problem),
    }
}

/// The layout of the chains for a problem.
fn spec(
    problem: &Problem,
    settings: &Settings,
    backend: &Backend,
    stop: &Stop,
    start_cost: i64,
) -> ChainsSpec {
    let (tiles, chains) = layout(problem, settings, backend);
    let planar = problem.metric().is_some_and(|m| m.is_planar());
    let partitions = if tiles > 1 && planar { PARTITIONS } else { 0 };
    // Any angles do that leave no two partitions, nor their quarter turns, close to each other.
    let cells =
        (0..partitions).map(|i| cells::partition(problem.points(), tiles, i as f64 * 0.618)).collect();
    ChainsSpec {
        seed: settings.seed,
        local_search: settings.local_search,
        // Without kicks all chains would do the same.
        chains: if settings.descent_only { 1 } else { settings.chains.unwrap_or(chains) },
        tiles,
        width: settings.width.unwrap_or_else(|| backend.default_width()),
        breadth: settings.breadth.min(problem.search_k()),
        segment: settings.segment,
        accept: settings.accept.into(),
        target: stop.target.unwrap_or(i64::MIN),
        start_cost,
        cells,
    }
}
