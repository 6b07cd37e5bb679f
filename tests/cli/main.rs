//! The command line from end to end, on the CPU.

// A helper that nobody calls is to go.
#![deny(dead_code)]

#[macro_use]
#[path = "../common/harness.rs"]
mod harness;
#[cfg(unix)]
#[path = "../common/mod.rs"]
mod common;

#[path = "../common/data.rs"]
mod data;

mod bench;
mod bound;
#[cfg(unix)]
mod checkpoints;
mod colonies;
mod field;
mod formats;
mod genetic;
mod haste;
mod help;
#[cfg(unix)]
mod kept;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(target_os = "linux")]
mod live;
mod local_search;
#[cfg(target_os = "linux")]
mod outputs;
#[cfg(target_os = "linux")]
mod progress;
mod proofs;
mod refusals;
mod search;
mod settings;
mod several;
mod shapes;
mod solve;
#[cfg(target_os = "linux")]
mod terminal;
mod version;
mod world;

fn main() -> std::process::ExitCode {
    harness::run(
        &[
            bench::TESTS,
            bound::TESTS,
            #[cfg(unix)]
            checkpoints::TESTS,
            colonies::TESTS,
            field::TESTS,
            formats::TESTS,
            genetic::TESTS,
            haste::TESTS,
            help::TESTS,
            #[cfg(unix)]
            kept::TESTS,
            #[cfg(target_os = "linux")]
            limits::TESTS,
            #[cfg(target_os = "linux")]
            live::TESTS,
            local_search::TESTS,
            #[cfg(target_os = "linux")]
            outputs::TESTS,
            #[cfg(target_os = "linux")]
            progress::TESTS,
            proofs::TESTS,
            refusals::TESTS,
            search::TESTS,
            several::TESTS,
            settings::TESTS,
            shapes::TESTS,
            solve::TESTS,
            version::TESTS,
        ],
        2,
    )
}
