//! antwarp against a judge that shares no code with it ([`judge`]): what it reads, what it says of its tours, and what it promises of
//! threads. `CONTRIBUTING.md` tells how to let it run for long.

#[macro_use]
#[path = "../common/harness.rs"]
mod harness;
#[path = "../common/data.rs"]
mod data;

mod draws;
mod files;
mod formats;
mod judge;
mod reading;
mod settings;
mod shapes;
mod soak;
mod tasks;
mod threads;
mod tours;

fn main() -> std::process::ExitCode {
    let judge = [judge::TESTS, judge::shape::TESTS];
    let own = [formats::TESTS, reading::TESTS, shapes::TESTS, soak::TESTS, threads::TESTS];
    harness::run(&[&judge[..], &own].concat(), 1)
}
