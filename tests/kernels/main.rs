//! Every kernel on the GPU against the same code of `antwarp-core` on the CPU, bit for bit.
//!
//! Without a GPU the tests compute what they would expect, and then count as ignored.
//!
//! - `ANTWARP_REQUIRE_GPU=1`: no GPU is a failure.
//! - `ANTWARP_TEST_SMALL=1`: small sizes only, for tools that slow kernels down (compute-sanitizer).

// A test that is not registered is dead code.
#![deny(dead_code)]

use std::process::ExitCode;

#[macro_use]
#[path = "../common/harness.rs"]
mod harness;

mod acs;
mod acs_colony;
mod best_moves;
mod canary;
mod colony;
mod construct;
mod construct_candidates;
mod construct_full;
mod errors;
mod genetic;
mod genetic_population;
mod gpu;
mod input;
mod judge;
mod lin_kernighan;
mod loading;
mod local_search;
mod neighborhood_search;
mod tour_costs;
mod trails;
mod walk_cases;
mod walk_instances;
mod walks;

fn main() -> ExitCode {
    harness::run(&[
        acs::TESTS,
        acs_colony::TESTS,
        best_moves::TESTS,
        canary::TESTS,
        colony::TESTS,
        construct_candidates::TESTS,
        construct_full::TESTS,
        errors::TESTS,
        genetic::TESTS,
        genetic_population::TESTS,
        judge::TESTS,
        lin_kernighan::TESTS,
        loading::TESTS,
        local_search::TESTS,
        neighborhood_search::TESTS,
        tour_costs::TESTS,
        trails::TESTS,
        walks::TESTS,
    ])
}
