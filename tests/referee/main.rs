//! antwarp against a judge that shares no code with it ([`judge`]): what it reads, what it says of its tours, and what it promises of
//! threads. `CONTRIBUTING.md` tells how to let it run for long.
//!
//! `referee certificate INSTANCE PROOF` judges a certificate of any instance file of TSPLIB instead.

#[macro_use]
#[path = "../common/harness.rs"]
mod harness;
#[path = "../common/data.rs"]
mod data;

mod draws;
mod files;
mod formats;
mod judge;
mod proofs;
mod reading;
mod settings;
mod shapes;
mod soak;
mod tasks;
mod threads;
mod tours;

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, word, instance, proof] = &arguments[..]
        && word == "certificate"
    {
        return proofs::judge(instance, proof);
    }
    let judge = [judge::TESTS, judge::shape::TESTS];
    let own = [formats::TESTS, proofs::TESTS, reading::TESTS, shapes::TESTS, soak::TESTS, threads::TESTS];
    harness::run(&[&judge[..], &own].concat(), 1)
}
