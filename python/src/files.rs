//! The files that a run reads and writes: checkpoints and certificates.

use std::path::PathBuf;
use std::time::Duration;

use antwarp::instance::{Instance, atomic_file};
use antwarp::solver::checkpoint::{Checkpoint, Schedule, check_file};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::error;
use crate::options::{Options, Prove};

/// The time between checkpoints, if none is given, as of the program.
const EVERY: Duration = Duration::from_secs(30);

/// The files of a run.
#[pyclass(frozen, module = "antwarp._native")]
pub struct Files {
    /// Where checkpoints are written.
    pub checkpoint: Option<PathBuf>,
    every: Duration,
    /// The checkpoint to continue from.
    resume: Option<PathBuf>,
    /// Where the proof is written.
    pub certificate: Option<PathBuf>,
}

#[pymethods]
impl Files {
    #[new]
    #[pyo3(signature = (checkpoint=None, every=None, resume=None, certificate=None))]
    fn new(
        checkpoint: Option<PathBuf>,
        every: Option<f64>,
        resume: Option<PathBuf>,
        certificate: Option<PathBuf>,
    ) -> PyResult<Files> {
        if checkpoint.is_none() && every.is_some() {
            return Err(error::option("`every` is the time between checkpoints: give `checkpoint`, too"));
        }
        let duration = |seconds: f64| {
            let every = Duration::try_from_secs_f64(seconds).ok();
            every.ok_or_else(|| error::option(format!("`every` must be a number of seconds, not {seconds}")))
        };
        let every = every.map(duration).transpose()?.unwrap_or(EVERY);
        Ok(Files { checkpoint, every, resume, certificate })
    }
}

impl Files {
    /// Returns whether a proof is asked for.
    pub fn asks_proof(&self, options: &Options) -> bool {
        options.prove == Prove::Always || self.certificate.is_some()
    }

    /// Returns where and how often checkpoints are written, if any are.
    pub fn schedule(&self) -> Option<Schedule> {
        Some(Schedule { path: self.checkpoint.clone()?, every: self.every })
    }

    /// Rejects what contradicts itself, and files that cannot be written.
    ///
    /// # Errors
    /// An `OptionError`; an `OSError` if the certificate cannot be written.
    pub fn check(&self, options: &Options) -> PyResult<()> {
        if options.prove == Prove::Never && self.certificate.is_some() {
            return Err(error::option("`certificate` needs a proof: it cannot be used with `prove` False"));
        }
        let excluded = [
            ("bound", options.bound == Some(true)),
            ("resume", self.resume.is_some()),
            ("checkpoint", self.checkpoint.is_some()),
        ];
        if self.asks_proof(options)
            && let Some((other, _)) = excluded.into_iter().find(|(_, is_given)| *is_given)
        {
            let own = if self.certificate.is_some() { "certificate" } else { "prove" };
            return Err(error::option(format!("`{own}` cannot be used with `{other}`")));
        }
        if let Some(path) = &self.checkpoint {
            check_file(path, self.resume.as_deref()).map_err(error::option)?;
        }
        if let Some(path) = &self.certificate {
            let cannot = |cause| PyOSError::new_err(format!("cannot write {}: {cause}", path.display()));
            atomic_file::place(path).map_err(cannot)?;
        }
        Ok(())
    }

    /// Reads the run to continue, if one is given.
    ///
    /// # Errors
    /// An `InputError` if it cannot be read or is of another instance, an `OptionError` if it has other settings.
    pub fn resumed(&self, instance: &Instance, options: &Options) -> PyResult<Option<Checkpoint>> {
        let Some(path) = &self.resume else { return Ok(None) };
        let checkpoint = Checkpoint::read(path).map_err(error::of_instance)?;
        options.check_resumed(&checkpoint)?;
        checkpoint.check_instance(path, instance).map_err(error::of_instance)?;
        Ok(Some(checkpoint))
    }
}
