//! Instance files: published ones, broken ones, those that we write, and those that the fuzzer found.

#[macro_use]
#[path = "../common/harness.rs"]
mod harness;
#[path = "../common/data.rs"]
mod data;

mod corpus;
mod problems;
mod tours;

fn main() -> std::process::ExitCode {
    harness::run(&[corpus::TESTS, problems::TESTS, tours::TESTS, tours::hostile::TESTS], 1)
}
