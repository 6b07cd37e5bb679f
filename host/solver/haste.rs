//! Runs that are over before they could start.

use super::{Solution, SolveError};
use crate::engine::{BackendError, Better, Deadline, StopReason, join_partners, start};
use crate::instance::Instance;

/// From this many nodes on, the curve is computed before anything else: there is no time for it later.
pub(super) const MANY: usize = 200_000;

/// What a run has while it is being prepared.
pub(super) struct Haste<'a> {
    pub instance: &'a Instance,
    pub deadline: Deadline<'a>,
    /// A tour along a space-filling curve, if there is one already.
    pub curve: Option<Vec<u32>>,
}

impl<'a> Haste<'a> {
    /// Makes it for a run with this deadline.
    pub fn new(instance: &'a Instance, deadline: Deadline<'a>) -> Haste<'a> {
        let curve = if instance.len() < MANY { None } else { start::along_a_curve(instance) };
        Haste { instance, deadline, curve }
    }

    /// Returns whether the time is up, or the run was interrupted.
    pub fn is_over(&self) -> bool {
        self.deadline.is_over()
    }

    /// Ends the run with this tour, or else with the one along the curve, or with the nodes in numerical order if there are no
    /// coordinates; with all fixed edges.
    ///
    /// # Errors
    /// If the tour is invalid.
    pub fn end(self, tour: Option<Vec<u32>>) -> Result<Solution, SolveError> {
        let Haste { instance, deadline, curve } = self;
        let by_number = || (0..instance.len() as u32).collect();
        let mut tour = tour.or(curve).or_else(|| start::along_a_curve(instance)).unwrap_or_else(by_number);
        if let Some(partners) = instance.partners() {
            join_partners(partners, &mut tour);
        }
        let cost = instance.check_tour(&tour).map_err(|e| SolveError::Settings(e.to_string()))?;
        let seconds = deadline.elapsed().as_secs_f64();
        Ok(Solution {
            tour,
            cost,
            iterations: 0,
            best_iteration: 0,
            seconds,
            setup_seconds: seconds,
            tours: 0,
            stopped_by: deadline.ended_by(),
            layout: "over before it started".to_string(),
            trace: vec![Better { seconds, cost, part: "start" }],
            failure: None,
        })
    }

    /// Ends a run that failed before it started.
    ///
    /// # Errors
    /// If the tour is invalid.
    pub fn fail(self, tour: Vec<u32>, failure: BackendError) -> Result<Solution, SolveError> {
        let solution = self.end(Some(tour))?;
        Ok(Solution { stopped_by: StopReason::Failure, failure: Some(failure.to_string()), ..solution })
    }
}
