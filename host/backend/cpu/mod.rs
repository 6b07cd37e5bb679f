//! The CPU backend: a team is one thread; ants and tiles are spread over threads.

mod chains;
mod colony;
mod descent;
mod eax;
mod genetic;
mod lin_kernighan;
mod processor;
mod recombine;
mod walks;

pub use chains::{chains, default_chains};
pub use colony::{acs, colony};
pub use descent::descent;
pub use genetic::population;
pub use lin_kernighan::{default_trials, lin_kernighan, trials};
pub use recombine::Recombiner;
pub use walks::{CpuNeighbors, CpuWalks, fresh};

use super::error::bytes;
use super::{BackendError, Machine};

/// The processor.
pub struct Cpu {
    name: String,
}

impl Cpu {
    /// The processor this runs on.
    pub fn new() -> Self {
        Cpu { name: processor_name() }
    }

    /// For reports.
    pub fn machine(&self) -> Machine {
        Machine {
            backend: "cpu",
            device: self.name.clone(),
            units: rayon::current_num_threads(),
            details: std::env::consts::ARCH.to_string(),
        }
    }
}

impl Default for Cpu {
    fn default() -> Self {
        Cpu::new()
    }
}

fn processor_name() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|l| l.strip_prefix("model name")?.split_once(':'));
    model.map_or_else(|| "unknown processor".to_string(), |(_, name)| name.trim().to_string())
}

fn short_of_memory(what: &str, needed: usize) -> BackendError {
    BackendError::OutOfMemory {
        place: "main",
        what: what.to_string(),
        needed: bytes(needed as u64),
        free: available_memory().map_or_else(|| "fewer".to_string(), bytes),
    }
}

/// Memory that can be had without swapping, where the system tells.
fn available_memory() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kib| kib << 10)
}

/// Allocates `len` elements, or says that they do not fit.
pub(crate) fn allocate<T: Clone + Default>(what: &str, len: usize) -> Result<Vec<T>, BackendError> {
    let mut v = Vec::new();
    v.try_reserve_exact(len).map_err(|_| short_of_memory(what, len * size_of::<T>()))?;
    v.resize(len, T::default());
    Ok(v)
}

/// Refuses what would not fit as a whole: a system that overcommits would grant each array and then kill the process.
pub(crate) fn check_memory(what: &str, needed: usize) -> Result<(), BackendError> {
    match available_memory() {
        Some(free) if needed as u64 > free => Err(short_of_memory(what, needed)),
        _ => Ok(()),
    }
}

/// Memory at a 16-byte boundary.
#[derive(Clone, Copy, Default)]
#[repr(C, align(16))]
struct Quad([f32; 4]);

/// A view of memory that threads work on together, each on its own part.
#[derive(Clone, Copy)]
struct Together<T>(T);
// SAFETY: made only from views whose users keep to disjoint rows, or only read.
unsafe impl<T> Send for Together<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Together<T> {}

impl<T: Copy> Together<T> {
    /// The view; a method, so that closures capture the whole and not its field.
    fn get(&self) -> T {
        self.0
    }
}
