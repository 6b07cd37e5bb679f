//! Observes a run that writes checkpoints.

use super::Checkpoints;
use crate::engine::{BackendError, Observe, Progress, Snapshot};

/// An observer of one's own, and the checkpoints of the run. The last one is written when this is dropped, at the latest.
pub struct Observer<O> {
    /// Sees the progress and the tours.
    pub own: O,
    /// The checkpoints, if there are any.
    pub checkpoints: Option<Checkpoints>,
}

impl<O: Observe> Observe for Observer<O> {
    fn progress(&mut self, progress: &Progress) {
        self.own.progress(progress);
    }

    fn better(&mut self, cost: i64, best: &Vec<u32>) {
        self.own.better(cost, best);
    }

    fn wants_better(&self) -> bool {
        self.own.wants_better()
    }

    fn wants_checkpoint(&mut self, is_end: bool) -> bool {
        self.checkpoints.as_mut().is_some_and(|checkpoints| checkpoints.own().is_due(is_end))
    }

    fn checkpoint(&mut self, snapshot: Result<Snapshot, BackendError>) {
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.own().checkpoint(snapshot);
        }
    }

    fn no_checkpoint(&mut self) {
        self.checkpoints.iter_mut().for_each(|checkpoints| checkpoints.own().skip());
    }

    fn keeps_checkpoints(&self) -> bool {
        self.checkpoints.is_some()
    }

    fn for_each_run(&mut self, runs: u32) -> Vec<Box<dyn Observe + Send>> {
        self.checkpoints.as_mut().map_or(Vec::new(), |checkpoints| checkpoints.observers(runs))
    }
}
