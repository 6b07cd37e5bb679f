//! Whether and when a run of `solve` proves that its tour is the shortest one.

use std::sync::Arc;

use super::super::{Error, Result};
use super::{Args, Asked, Plan};
use crate::backend::Backend;
use crate::exact::{Board, Settings};
use crate::solver::proof::When;

/// When a run proves its tour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Prove {
    /// Once lk finds no better tour, on CPU threads, of up to 1,500 nodes without a published optimum
    #[default]
    Auto,
    /// From the start, until the tour is proven or the time is up
    Always,
    /// Not at all
    Never,
}

impl Args {
    /// Returns whether a proof is requested, by `--prove` or by `--certificate`.
    pub(super) fn proves(&self) -> bool {
        self.prove == Prove::Always || self.outputs.certificate.is_some()
    }

    /// Rejects options that a requested proof cannot have beside it. `options` are the ids of the options on the command line.
    ///
    /// # Errors
    /// [`Error::Usage`] for the first of them, and for `--certificate` with `--prove=never`.
    pub(super) fn check_proof(&self, options: &[String]) -> Result<()> {
        if self.prove == Prove::Never && self.outputs.certificate.is_some() {
            return Err(Error::Usage(
                "--certificate needs a proof: it cannot be used with --prove=never".into(),
            ));
        }
        let excluded = ["bound", "save_population", "resume", "checkpoint"];
        let Some(other) = excluded.into_iter().find(|id| options.iter().any(|option| option == id)) else {
            return Ok(());
        };
        let own = if self.prove == Prove::Always { "--prove" } else { "--certificate" };
        let problem = format!("{own} cannot be used with `{other}`");
        if self.proves() { Err(Error::Usage(problem)) } else { Ok(()) }
    }
}

impl Plan {
    /// Returns how to prove that the tour is the shortest one.
    pub(super) fn proof_settings(&self) -> Settings {
        let threads = rayon::current_num_threads();
        let keeps_certificate = self.outputs.certificate.is_some();
        Settings { board: Arc::new(Board::new(threads)), threads, keeps_certificate }
    }

    /// Returns when a proof starts beside the search of a single process; `None` if the run has no proof.
    pub(super) fn when_to_prove(&self, backend: &Backend) -> Option<When> {
        if self.proves {
            return Some(When::AtOnce);
        }
        let is_free = !self.bound && self.outputs.checkpoint.is_none();
        let Asked { algorithm, stop, .. } = &self.asked;
        let unasked = || When::unasked(algorithm, &self.instance, (backend, stop));
        (self.prove == Prove::Auto && is_free).then(unasked).flatten()
    }
}
