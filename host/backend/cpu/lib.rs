//! The CPU backend: a team is one thread; ants and trials are spread over threads.

mod eax;
mod lin_kernighan;
mod papers;
mod parallel;
mod processor;
mod variants;
mod watched;

pub use lin_kernighan::{Recombiner, SmallTours, default_trials, lin_kernighan, trials, trials_of_several};
pub use papers::colony::{acs, colony};
pub use papers::descent::descent;
pub use papers::genetic::population;
pub use papers::walks::{Bodies, CpuNeighbors, CpuWalks, OnThreads, fresh};

use std::sync::OnceLock;

use antwarp_engine::Machine;
use antwarp_engine::memory::{allocate, check_memory, short_of_memory};

/// The CPU backend: the threads of the current Rayon pool.
pub struct Cpu {
    name: String,
}

impl Cpu {
    /// Makes the backend, and finds the processor's name.
    pub fn new() -> Self {
        Cpu { name: processor_name() }
    }

    /// Returns the machine, for reports; its units are the threads of the current pool.
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
    // On some machines, the system takes milliseconds to write this file.
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(read_processor_name).clone()
}

fn read_processor_name() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|l| l.strip_prefix("model name")?.split_once(':'));
    model.map_or_else(|| "unknown processor".to_string(), |(_, name)| name.trim().to_string())
}

/// Memory at a 16-byte boundary.
#[derive(Clone, Copy, Default)]
#[repr(C, align(16))]
struct Quad([f32; 4]);

/// 32-bit words of a [`Quad`].
const QUAD_WORDS: usize = size_of::<Quad>() / size_of::<u32>();

/// A view of memory that threads use together, each on its own part.
#[derive(Clone, Copy)]
struct Together<T>(T);
// SAFETY: made only from views whose users keep to disjoint rows, or only read.
unsafe impl<T> Send for Together<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Together<T> {}

impl<T: Copy> Together<T> {
    /// Returns the view; a method, so that closures capture the whole and not its field.
    fn get(&self) -> T {
        self.0
    }
}
