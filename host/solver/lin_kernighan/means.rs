//! The computing resources for kicking and crossing tours.

use crate::backend::Backend;

/// Kicks per second of a CPU thread, and of a GPU, until measured.
pub const THREAD: f64 = 10_000.0;
const GPU: f64 = 1_200_000.0;

/// The resources that kick and cross tours: those of this process, or of several that share tours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Means {
    /// Kicks per second, until measured.
    pub kicks: f64,
    /// CPU threads, which cross tours.
    pub threads: u32,
    /// Whether there are GPUs.
    pub on_gpus: bool,
}

impl Means {
    /// Returns the means of a backend.
    pub fn of(backend: &Backend) -> Means {
        let threads = rayon::current_num_threads() as u32;
        let kicks = match backend.gpus() {
            0 => THREAD * f64::from(threads),
            gpus => GPU * gpus as f64,
        };
        Means { kicks, threads, on_gpus: !backend.is_cpu() }
    }

    /// Returns the sum of both.
    pub fn with(self, other: Means) -> Means {
        Means {
            kicks: self.kicks + other.kicks,
            threads: self.threads + other.threads,
            on_gpus: self.on_gpus || other.on_gpus,
        }
    }
}
