//! The command line from end to end, on the CPU.

// A helper that nobody calls is to go.
#![deny(dead_code)]

#[cfg(unix)]
#[path = "../common/mod.rs"]
mod common;

mod bench;
mod bound;
mod colonies;
mod field;
mod genetic;
mod haste;
mod help;
#[cfg(target_os = "linux")]
mod limits;
mod local_search;
#[cfg(target_os = "linux")]
mod outputs;
mod refusals;
mod search;
mod settings;
mod solve;
mod world;
