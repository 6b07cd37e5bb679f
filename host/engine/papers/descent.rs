//! Best-improvement local search of a whole tour, and its parameters.

use std::time::Duration;

use antwarp_core::papers::local_search::best::{DescentState, Kicks};

use crate::{BackendError, Enough, LocalSearch, State};

/// Everything a backend needs to know about a descent.
#[derive(Clone, Debug)]
pub struct DescentSpec {
    /// Seed of the run.
    pub seed: u64,
    /// The operator that evaluates and makes moves.
    pub local_search: LocalSearch,
    /// Neighbours that the second step of a move evaluates.
    pub breadth: u32,
    /// Maximum number of kicks.
    pub kicks: u32,
    /// Longest segment of a double bridge; 0: four edges anywhere.
    pub segment: u32,
    /// Whether a pass makes many moves instead of one.
    pub many: bool,
    /// Stop once the internal cost of a tour is at most this.
    pub target: i64,
    /// Length of the initial tour: the one along the problem's numbering.
    pub start_cost: i64,
}

impl DescentSpec {
    /// Returns the kicks at a temperature.
    pub fn kicks_at(&self, temperature: f32) -> Kicks {
        Kicks { most: self.kicks, segment: self.segment, temperature, padding: 0 }
    }

    /// Returns the state of a descent as it continues with this spec.
    pub fn resumed(&self, state: DescentState) -> DescentState {
        let mut state = state.settled();
        state.done = (state.descents > self.kicks || state.best_cost <= self.target).into();
        state
    }

    /// Returns a description of the moves per pass.
    pub fn moves(&self) -> &'static str {
        if self.many { "many moves" } else { "one move" }
    }
}

/// Time spent in passes of best improvement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pass {
    /// Number of passes measured.
    pub passes: u64,
    /// The total time to evaluate all moves and find the best, over all passes.
    pub time: Duration,
}

/// Describes the time of a pass, for layouts.
pub fn each_pass(evaluation: Pass) -> String {
    if evaluation.passes == 0 {
        return "no pass".to_string();
    }
    let each = evaluation.time.as_secs_f64() * 1e3 / evaluation.passes as f64;
    format!("{each:.4} ms to evaluate all moves (mean of {} passes)", evaluation.passes)
}

/// Returns the milliseconds of a pass from a layout that [describes](each_pass) it.
pub fn pass_ms(layout: &str) -> Option<f64> {
    layout.split(", ").find(|part| part.ends_with(" passes)"))?.split(' ').next()?.parse().ok()
}

/// Best-improvement local search with kicks, on a backend.
pub trait Descent {
    /// Runs this many passes at a [temperature](antwarp_core::lin_kernighan::trial::tolerance), or fewer if all kicks are done or
    /// the target is reached; returns the state afterwards.
    ///
    /// If a pass can take long, `enough` is regularly asked whether to stop before the next one.
    ///
    /// # Errors
    /// If the backend fails.
    fn run(&mut self, passes: u32, temperature: f32, enough: Enough) -> Result<DescentState, BackendError>;

    /// Returns the shortest tour, of length [`DescentState::least`], in the problem's numbering.
    ///
    /// # Errors
    /// If it cannot be copied from the device.
    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError>;

    /// Appends its state after a pass that was not cut short, in the problem's numbering; the same on all backends.
    ///
    /// # Errors
    /// If memory is short, or it cannot be copied from the device.
    fn save(&mut self, state: &mut State) -> Result<(), BackendError>;

    /// Continues from the state of another descent with the same parameters, except for the target and the number of kicks, before
    /// the first pass; returns its results so far.
    ///
    /// # Errors
    /// If the state is not one of such a descent, or it cannot be copied to the device.
    fn restore(&mut self, state: &mut State) -> Result<DescentState, BackendError>;

    /// Returns the time spent evaluating moves so far, in some of the passes.
    fn evaluation(&self) -> Pass;

    /// Describes how the work is distributed, and how long a pass takes.
    fn describe(&self) -> String;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_pass_is_found_again_in_its_description() {
        let pass = Pass { passes: 4, time: Duration::from_millis(5) };
        let layout = format!("one tour, {}, places global", each_pass(pass));
        assert_eq!(pass_ms(&layout), Some(1.25), "{layout}");
        assert_eq!(pass_ms(&format!("one tour, {}", each_pass(Pass::default()))), None);
    }
}
