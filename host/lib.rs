//! antwarp: finds short tours fast, on GPUs or on plain CPU cores.
//!
//! `host` is everything that needs an operating system; the algorithms live in `antwarp-core`.

pub mod backend;
pub mod bound;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod cluster;
pub mod engine;
pub mod instance;
mod memory;
pub mod prelude;
#[cfg(feature = "cli")]
pub mod report;
pub mod solver;
