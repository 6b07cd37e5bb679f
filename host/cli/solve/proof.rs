//! Whether and when a run of `solve` proves that its tour is the shortest one.

use std::sync::Arc;

use super::super::{Error, Result};
use super::{Args, Plan};
use crate::backend::Backend;
use crate::engine::Stop;
use crate::exact::{Board, Settings};
use crate::instance::Instance;
use crate::memory;
use crate::solver::Algorithm;
use crate::solver::proof::{Prover, When};

/// The most nodes of the closed form that are proven without being asked to. More take too long to gain by it.
const MOST_UNASKED: usize = 1500;
/// Threads beside those of the search and of the tree: the proof, and one that waits for interrupts.
const THREADS: u32 = 2;

/// How many times the memory that a proof needs at least must be free for one that was not asked for.
const MARGIN: u64 = 3;

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
    /// Returns whether a proof is requested.
    pub(super) fn proves(&self) -> bool {
        self.prove == Prove::Always || self.outputs.certificate.is_some()
    }

    /// Rejects options that a requested proof cannot have beside it. `options` are the ids of the options on the command line.
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

/// Checks whether an instance can be proven; the inner error is what is missing for a proof.
///
/// # Errors
/// If the instance contradicts itself.
pub(super) fn check(instance: &Instance) -> Result<std::result::Result<(), String>> {
    let threads = rayon::current_num_threads();
    if let Err(shortage) = memory::check(Prover::memory(instance, threads)) {
        return Ok(Err(format!("not enough main memory for it: {shortage}")));
    }
    Ok(Prover::new(instance)?.check().map_err(|missing| missing.to_string()))
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
        let (algorithm, instance) = (&self.asked.algorithm, &*self.instance);
        let Stop { iterations, stagnation, .. } = self.asked.stop;
        let searches = matches!(algorithm, Algorithm::LinKernighan(_)) && !algorithm.is_descent_only();
        // Such a run is repeatable.
        let is_counted = iterations.is_some() || stagnation.is_some();
        let is_known = instance.best_known().is_some_and(|known| known.proven);
        let nodes = instance.len() * if instance.is_symmetric() { 1 } else { 2 };
        let gains = searches && backend.is_cpu() && !is_counted && !is_known && nodes <= MOST_UNASKED;
        let is_free = !self.bound && self.outputs.checkpoint.is_none();
        // A run that fits without it must not end because of it.
        let threads = rayon::current_num_threads();
        let needed = MARGIN * Prover::memory(instance, threads);
        let fits =
            || memory::check(needed).is_ok() && memory::check_threads(THREADS + threads as u32).is_ok();
        (self.prove == Prove::Auto && gains && is_free && fits()).then_some(When::Settled)
    }
}
