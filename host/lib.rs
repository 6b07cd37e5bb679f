//! antwarp: finds short tours fast, on GPUs or on plain CPU cores.
//!
//! `host` holds everything that needs an operating system; the algorithms are in `antwarp-core`.

pub mod backend;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod cluster;
pub mod prelude;
#[cfg(feature = "cli")]
pub mod report;
pub mod solver;

pub use antwarp_engine as engine;
pub use antwarp_engine::bound;
pub use antwarp_exact as exact;
pub use antwarp_instance as instance;
use antwarp_instance::memory;
