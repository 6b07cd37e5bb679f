//! Runs of several ranks: see `ranks`.

#[cfg(unix)]
#[macro_use]
#[path = "../common/harness.rs"]
mod harness;

#[cfg(unix)]
mod ranks;

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    harness::run(&[ranks::TESTS], 2)
}

#[cfg(not(unix))]
fn main() {}
