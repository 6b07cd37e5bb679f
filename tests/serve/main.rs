//! `antwarp serve` from outside.

// A helper that nobody calls is to go.
#![deny(dead_code)]

#[cfg(unix)]
#[macro_use]
#[path = "../common/harness.rs"]
mod harness;

#[cfg(unix)]
mod abuse;
#[cfg(unix)]
mod client;
#[cfg(unix)]
mod documented;
#[cfg(unix)]
mod limits;
#[cfg(unix)]
mod map;
#[cfg(unix)]
mod osrm;
#[cfg(unix)]
mod own;
#[cfg(unix)]
mod pages;
#[cfg(unix)]
mod vroom;

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    let tests = [
        abuse::TESTS,
        documented::TESTS,
        limits::TESTS,
        map::TESTS,
        osrm::TESTS,
        own::TESTS,
        pages::TESTS,
        vroom::TESTS,
    ];
    harness::run(&tests, 2)
}

#[cfg(not(unix))]
fn main() {}
