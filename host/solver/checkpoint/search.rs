//! Checkpoints of searches.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Limits;
use super::file::{self, Part, Subject};
use crate::engine::Cost;
use crate::instance::InstanceError;
use crate::solver::SolveError;
use crate::solver::resumed::Runs;
use crate::solver::search::{SearchSettings, Task};

/// What the kind of a search starts with; the problem and its neighbourhood follow.
const SEARCH: &str = "search ";

impl Subject {
    /// Makes it for a search with these settings.
    ///
    /// # Errors
    /// If the instance is too large to be searched.
    pub fn of_search(task: &Task, settings: &SearchSettings) -> Result<Subject, SolveError> {
        Ok(Subject {
            kind: kind(task),
            instance: task.name(),
            size: task.elements() as usize,
            fingerprint: task.fingerprint()?,
            settings: serde_json::to_value(settings).unwrap_or_default(),
        })
    }
}

fn kind(task: &Task) -> String {
    format!("{SEARCH}{} {}", task.problem(), task.neighborhood()).trim_end().to_owned()
}

/// A search in a file, or several on as many GPUs.
#[derive(Clone, Debug)]
pub struct SearchCheckpoint {
    file: PathBuf,
    subject: Subject,
    settings: SearchSettings,
    /// The limits that the search had.
    pub limits: Limits<Cost>,
    /// How long the search had taken when this was written, since its first start.
    pub elapsed: Duration,
    /// Iterations of each walk of the search with the best solution.
    pub iterations: u64,
    /// The internal cost of the best solution.
    pub cost: Cost,
    runs: Runs<Cost>,
}

impl SearchCheckpoint {
    /// Returns the name of the problem, if the run is a search.
    pub(super) fn problem(subject: &Subject) -> Option<&str> {
        subject.kind.strip_prefix(SEARCH)?.split(' ').next()
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, is not a checkpoint of a search, is damaged, or was written by another version.
    pub fn read(path: &Path) -> Result<SearchCheckpoint, InstanceError> {
        let file::Content { subject, limits, runs } = file::read(path)?;
        if SearchCheckpoint::problem(&subject).is_none() {
            let problem = "is the checkpoint of a run of `antwarp solve`";
            return Err(file::wrong(path, problem, "continue it with `antwarp solve`"));
        }
        let damaged = || file::damaged(path);
        let settings = serde_json::from_value(subject.settings.clone()).map_err(|_| damaged())?;
        let limits = serde_json::from_value(limits).map_err(|_| damaged())?;
        let best = runs.iter().flatten().reduce(|a, b| if b.cost < a.cost { b } else { a });
        let &Part { iterations, cost, .. } = best.ok_or_else(damaged)?;
        let elapsed = runs.iter().flatten().map(|run| run.elapsed).max().unwrap_or_default();
        let runs = Runs(runs.into_iter().map(|run| run.map(|run| (run.cost, run.state))).collect());
        let file = path.to_owned();
        Ok(SearchCheckpoint { file, subject, settings, limits, elapsed, iterations, cost, runs })
    }

    /// Returns the file from which it was read.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the settings of the search.
    pub fn settings(&self) -> &SearchSettings {
        &self.settings
    }

    /// Returns its searches, one on each GPU.
    pub fn runs(&self) -> &Runs<Cost> {
        &self.runs
    }

    /// Rejects another instance, problem or neighbourhood than those of the search; the `name` is that of the file, and the
    /// fingerprint [that of the task](Task::fingerprint).
    ///
    /// # Errors
    /// If the data differ, whatever the instances are called.
    pub fn check_task(&self, name: &Path, task: &Task, ours: u64) -> Result<(), InstanceError> {
        let Subject { kind: theirs, instance, size, fingerprint, .. } = &self.subject;
        let wrong = |problem: String, help: &str| Err(file::wrong(name, problem, help));
        let kind = kind(task);
        if *theirs != kind {
            let [theirs, kind] = [theirs, &kind].map(|kind| kind.trim_start_matches(SEARCH));
            let problem = format!("is of a search of {theirs}, not of {kind}");
            return wrong(problem, "give the problem, and the options of its moves, as at its start");
        }
        if *size == task.elements() as usize && *fingerprint == ours {
            return Ok(());
        }
        let (ours, n) = (task.name(), task.elements());
        let problem = if *size == n as usize {
            format!("is of {instance} with other data than {ours} has here")
        } else {
            format!("is of {instance} with {size} elements; {ours} has {n}")
        };
        wrong(problem, "give the instance of the checkpoint, read or generated with the same options")
    }
}
