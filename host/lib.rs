//! antwarp: finds short tours fast, on GPUs or on plain CPU cores.
//!
//! `host` holds everything that needs an operating system; the algorithms are in `antwarp-core`.

pub mod backend;
pub mod bound;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod cluster;
pub mod engine;
pub mod instance;
mod memory;
mod parallel;
pub mod prelude;
#[cfg(feature = "cli")]
pub mod report;
pub mod solver;
