//! What there is to kick and cross tours with.

use crate::backend::Backend;

/// Kicks a second of a CPU thread, and of a GPU, as long as it is not known better.
pub const THREAD: f64 = 10_000.0;
const GPU: f64 = 1_200_000.0;

/// What kicks and crosses tours: this process, or several that share them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Means {
    /// Kicks a second, as long as that is not known better.
    pub kicks: f64,
    /// CPU threads, which cross.
    pub threads: u32,
    /// There are GPUs.
    pub on_gpus: bool,
}

impl Means {
    /// Those of a backend.
    pub fn of(backend: &Backend) -> Means {
        let threads = rayon::current_num_threads() as u32;
        let kicks = match backend.gpus() {
            0 => THREAD * f64::from(threads),
            gpus => GPU * gpus as f64,
        };
        Means { kicks, threads, on_gpus: !backend.is_cpu() }
    }

    /// Those of two together.
    pub fn with(self, other: Means) -> Means {
        Means {
            kicks: self.kicks + other.kicks,
            threads: self.threads + other.threads,
            on_gpus: self.on_gpus || other.on_gpus,
        }
    }
}
