//! Iterated local search (Fosin et al. 2013): a tour is kicked and repaired by 2-opt, Or-opt or 3-opt.
//!
//! With first improvement it is chained Lin-Kernighan with other moves: many kicks at the same time, each at a place of its
//! own. With best improvement, as in the paper, every pass looks at the moves of the whole tour.

mod descent;
mod settings;

use std::time::Instant;

use antwarp_core::local_search::best::FEWEST;

use super::{Solution, SolveError, check_kind, exhaustive, lin_kernighan};
use crate::backend::Backend;
use crate::engine::start;
use crate::engine::{Problem, Progress, Stop};
use crate::instance::{Instance, nearest, quadrant};

pub use super::lin_kernighan::{Acceptance, NeighborKind};
pub use settings::{IlsSettings, Improvement, Moves};

/// Solves an instance, from `initial` on if it is given: a tour in the instance's numbering. `observe` is called
/// after each batch of rounds or passes.
///
/// # Errors
/// If a setting is out of range, the instance is of a kind that local search cannot improve, the initial tour is none,
/// or the backend fails at the start. A failure after that ends the run early and is told in the solution.
pub fn solve(
    instance: &Instance,
    settings: &IlsSettings,
    initial: Option<&[u32]>,
    backend: &Backend,
    stop: &Stop,
    observe: &mut dyn FnMut(&Progress),
) -> Result<Solution, SolveError> {
    let begin = Instant::now();
    settings.check()?;
    check_kind(instance, "iterated local search")?;
    if settings.improvement == Improvement::First {
        return lin_kernighan::solve(instance, &settings.trials(), initial, backend, stop, observe);
    }
    if instance.len() < FEWEST as usize {
        return exhaustive(instance, begin);
    }
    let k = (settings.neighbors as usize).min(instance.len() - 1);
    let near = match settings.neighbor_lists {
        NeighborKind::Nearest => nearest(instance, k),
        NeighborKind::Quadrant => quadrant(instance, k),
    };
    let start = match initial {
        Some(tour) => tour.to_vec(),
        None => start::tour(instance, settings.start, &near, settings.seed),
    };
    let start_cost =
        instance.check_tour(&start).map_err(|e| SolveError::Settings(format!("`initial_tour`: {e}")))?;
    let problem = Problem::for_search(instance, &near, start);
    descent::solve((instance, &problem), settings, backend, (begin, stop), start_cost, observe)
}
