//! Iterated local search (Fosin et al. 2013): a tour is kicked and repaired by 2-opt, Or-opt or 3-opt.
//!
//! With first improvement it is chained Lin-Kernighan with other moves: many kicks at the same time, each in a different place.
//! With best improvement, as in the paper, every pass evaluates the moves of the whole tour.

mod descent;
mod settings;

use crate::backend::Backend;
use crate::engine::start;
use crate::engine::{Deadline, Problem, Stop};
use crate::instance::{Instance, nearest_until, quadrant_until};
use crate::solver::haste::Haste;
use crate::solver::island::Contact;
use crate::solver::{Solution, SolveError, lin_kernighan};

pub use crate::solver::lin_kernighan::{Acceptance, NeighborKind};
pub use settings::{IlsSettings, Improvement, Moves};

/// As [`Algorithm::solve`](crate::solver::Algorithm::solve), after all checks.
pub(in crate::solver) fn solve(
    instance: &Instance,
    settings: &IlsSettings,
    initial: Option<&[u32]>,
    backend: &Backend,
    stop: &Stop,
    mut contact: Contact<'_>,
) -> Result<Solution, SolveError> {
    let deadline = Deadline::now(stop);
    if settings.improvement == Improvement::First {
        return lin_kernighan::solve(instance, &settings.trials(), initial, backend, stop, contact);
    }
    let k = (settings.neighbors as usize).min(instance.len() - 1);
    let haste = Haste::new(instance, deadline);
    let late = || haste.is_over();
    let near = match settings.neighbor_lists {
        NeighborKind::Nearest => nearest_until(instance, k, &late),
        NeighborKind::Quadrant => quadrant_until(instance, k, &late),
    };
    let Some(near) = near else {
        return haste.end(initial.map(<[u32]>::to_vec));
    };
    let resumed = contact.resumed.as_mut().map(|state| state.take_tour(instance.len() as u32));
    let start = match resumed.transpose()?.or_else(|| initial.map(<[u32]>::to_vec)) {
        Some(tour) => Some(tour),
        None => start::tour_until(instance, settings.start, &near, settings.seed, &late),
    };
    let start = match start {
        Some(start) if !late() => start,
        start => return haste.end(start),
    };
    let start_cost = instance.check_tour(&start).map_err(|e| SolveError::Settings(e.to_string()))?;
    let problem = Problem::for_search(instance, &near, start);
    descent::solve((instance, &problem), settings, backend, deadline, start_cost, contact)
}
