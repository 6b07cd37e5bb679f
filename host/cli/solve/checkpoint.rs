//! `--checkpoint FILE` and `--resume FILE`.

use std::time::Duration;

use super::super::checkpoints;
use super::super::output::Output;
use super::super::progress::ProgressLine;
use super::Plan;
use crate::solver::checkpoint::{Checkpoint, Checkpoints, Limits, Schedule, Subject};

impl Plan {
    /// Says from where the run continues. `places` is the number of GPUs or, if `are_several`, of ranks; `None` for the CPU threads of
    /// a single process, on which all runs continue.
    pub(super) fn announce(
        &self,
        checkpoint: &Checkpoint,
        places: Option<usize>,
        are_several: bool,
        line: &ProgressLine,
    ) {
        let cost = self.instance.unit().show(self.instance.cost(checkpoint.best.0));
        let found = format!("a tour of cost {cost}");
        line.tell(&checkpoints::announcement(checkpoint.elapsed, checkpoint.iterations, &found));
        let runs = checkpoint.runs().count();
        let fewer = if runs > 1 && !are_several && self.outputs.save_population.is_some() {
            let why = "and --save-population saves the population of one";
            Some(format!("the checkpoint has {runs} runs, {why}: the best one continues"))
        } else {
            checkpoints::fewer(runs, places)
        };
        fewer.iter().for_each(|fewer| line.tell(fewer));
    }

    /// Starts to write checkpoints of a run that began this long ago, if any are requested; `None` also if no thread can be started.
    pub(super) fn checkpoints(
        &self,
        before: Duration,
        resumed: Option<&Checkpoint>,
        line: &ProgressLine,
    ) -> Option<Checkpoints> {
        let path = self.outputs.checkpoint.as_ref().and_then(Output::file)?.to_owned();
        let schedule = Schedule { path, every: self.outputs.every };
        let subject = Subject::new(&self.asked.algorithm, &self.instance);
        let own = line.clone();
        let warn = move |why: &str| own.tell(&checkpoints::warning(why));
        let subject = (subject, Limits::of(&self.asked.stop).to_json());
        let checkpoints = Checkpoints::begin(schedule, subject, before, warn);
        match (&checkpoints, resumed) {
            (None, _) => line.tell(checkpoints::NO_THREAD),
            (Some(checkpoints), Some(resumed)) => checkpoints.continue_from(resumed.file()),
            _ => {}
        }
        checkpoints
    }
}
