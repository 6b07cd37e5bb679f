//! Local search by best improvement of a whole tour, and what it needs to know.

use std::time::Duration;

use antwarp_core::papers::local_search::best::{DescentState, Kicks};

use crate::engine::{BackendError, Enough, LocalSearch};

/// Everything a backend needs to know about a descent.
#[derive(Clone, Debug)]
pub struct DescentSpec {
    /// Seed of the run.
    pub seed: u64,
    /// The operator.
    pub local_search: LocalSearch,
    /// Neighbours that the second step of a move looks at.
    pub breadth: u32,
    /// Kicks, at most.
    pub kicks: u32,
    /// Longest segment of a double bridge; 0: four edges anywhere.
    pub segment: u32,
    /// Many moves a pass, else one.
    pub many: bool,
    /// Stop once a tour is not longer than this.
    pub target: i64,
    /// Length of the tour to begin with: that of the problem's numbering.
    pub start_cost: i64,
}

impl DescentSpec {
    /// The kicks at a temperature.
    pub fn kicks_at(&self, temperature: f32) -> Kicks {
        Kicks { most: self.kicks, segment: self.segment, temperature, padding: 0 }
    }

    /// In words.
    pub fn moves(&self) -> &'static str {
        if self.many { "many moves" } else { "one move" }
    }
}

/// Time spent in passes of best improvement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pass {
    /// Passes measured.
    pub passes: u64,
    /// The time it took to look at all moves and to find the best, all passes together.
    pub time: Duration,
}

/// For layouts.
pub(crate) fn each_pass(evaluation: Pass) -> String {
    if evaluation.passes == 0 {
        return "no pass".to_string();
    }
    let each = evaluation.time.as_secs_f64() * 1e3 / evaluation.passes as f64;
    format!("{each:.4} ms to look at all moves (mean of {} passes)", evaluation.passes)
}

/// Local search by best improvement, with kicks, where it lives.
pub trait Descent {
    /// Runs this many passes at a [temperature](antwarp_core::lin_kernighan::trial::tolerance), or fewer if all kicks are done or the
    /// target is reached; returns the state afterwards.
    ///
    /// Where a pass can take long, `enough` is asked now and then whether to stop before the next one.
    fn run(&mut self, passes: u32, temperature: f32, enough: Enough) -> Result<DescentState, BackendError>;

    /// The shortest tour there is, of [`DescentState::least`], in the problem's numbering.
    ///
    /// # Errors
    /// If it cannot be brought back from the device.
    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError>;

    /// The time spent looking for moves so far, in some of the passes.
    fn evaluation(&self) -> Pass;

    /// How the work is spread, and how long a pass takes.
    fn describe(&self) -> String;
}
