//! What reports say of the machine that did the work.

use serde::Serialize;

/// The machine a run used, for reports.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// `cpu` or `cuda`.
    pub backend: &'static str,
    /// The processor or GPU by name.
    pub device: String,
    /// CPU threads, or multiprocessors of the GPU.
    pub units: usize,
    /// Other facts that identify this machine: compute capability, driver version, kernel architecture.
    pub details: String,
}
