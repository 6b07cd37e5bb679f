//! `--checkpoint FILE` and `--resume FILE`, of `solve` and `search`.

use std::path::Path;
use std::time::Duration;

use super::output::Output;
use super::{Error, Result};
use crate::instance::counted;
use crate::solver::checkpoint;

/// The warning where the thread that writes checkpoints cannot be started.
pub(super) const NO_THREAD: &str = "warning: no checkpoints are written: no thread can be started";

/// Rejects a file for checkpoints that cannot be replaced, or that holds something else than the run to continue.
pub(super) fn check_file(output: Option<&Output>, resume: Option<&Path>) -> Result<()> {
    let Some(output) = output else { return Ok(()) };
    let path = output.file().ok_or_else(|| Error::Usage(checkpoint::NEEDS_A_FILE.to_owned()))?;
    checkpoint::check_file(path, resume).map_err(Error::Usage)
}

/// The warning where a checkpoint cannot be written.
pub(super) fn warning(why: &str) -> String {
    format!("warning: a checkpoint could not be written: {why}")
}

/// Says from where a run continues.
pub(super) fn announcement(elapsed: Duration, iterations: u64, found: &str) -> String {
    format!(
        "continuing after {:.1} s and {}, from {found}",
        elapsed.as_secs_f64(),
        counted(iterations as usize, "iteration")
    )
}

/// Says that some of a checkpoint's runs do not continue, if there are more of them than `places`, which are GPUs or processes.
/// `None` is for the threads of one process, on which all runs continue.
pub(super) fn fewer(runs: usize, places: Option<usize>) -> Option<String> {
    let places = places.filter(|&places| places < runs)?;
    let continues = if places == 1 { "the best one continues" } else { "the best ones continue" };
    Some(format!("the checkpoint has {runs} runs, and there is room for {places}: {continues}"))
}
