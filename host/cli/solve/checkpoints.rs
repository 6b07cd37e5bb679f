//! `--checkpoint FILE` and `--resume FILE`.

use std::path::Path;
use std::time::Duration;

use super::super::output::Output;
use super::super::progress::ProgressLine;
use super::super::{Error, Result};
use super::{Args, Plan};
use crate::solver::checkpoint::{Checkpoint, Checkpoints, Limits, Schedule, Subject};

impl Args {
    /// Rejects a file for checkpoints that cannot be replaced, or that holds something else than the run to continue.
    pub(super) fn check_checkpoint(&self) -> Result<()> {
        let Some(output) = &self.outputs.checkpoint else { return Ok(()) };
        let Some(path) = output.file() else {
            let what = "--checkpoint needs a file that can be replaced: no pipe, and not the standard output";
            return Err(Error::Usage(what.to_owned()));
        };
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        let is_resumed = self.begin.resume.as_deref().is_some_and(|resumed| real(resumed) == real(path));
        if path.exists() && !is_resumed {
            let path = path.display();
            let what = format!("{path} exists: continue from it with --resume {path}, or remove it");
            return Err(Error::Usage(what));
        }
        Ok(())
    }
}

impl Plan {
    /// Says from where the run continues.
    pub(super) fn announce(&self, checkpoint: &Checkpoint, line: &ProgressLine) {
        let (cost, seconds) = (self.instance.cost(checkpoint.best.0), checkpoint.elapsed.as_secs_f64());
        let cost = self.instance.unit().show(cost);
        let iterations = checkpoint.iterations;
        line.tell(&format!(
            "continuing after {seconds:.1} s and {iterations} iterations, from a tour of cost {cost}"
        ));
    }

    /// Starts to write checkpoints of a run that began this long ago, if any are requested.
    pub(super) fn checkpoints(&self, before: Duration, line: &ProgressLine) -> Option<Checkpoints> {
        let path = self.outputs.checkpoint.as_ref().and_then(Output::file)?.to_owned();
        let schedule = Schedule { path, every: self.outputs.every };
        let subject = Subject::new(&self.asked.algorithm, &self.instance);
        let own = line.clone();
        let warn = move |why: &str| own.tell(&format!("warning: a checkpoint could not be written: {why}"));
        let subject = (subject, Limits::of(&self.asked.stop));
        let checkpoints = Checkpoints::begin(schedule, subject, before, warn);
        if checkpoints.is_none() {
            line.tell("warning: no checkpoints are written: no thread can be started");
        }
        checkpoints
    }
}
