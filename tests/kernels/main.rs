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

mod canary;
mod checkpoints;
mod errors;
mod gpu;
mod input;
mod judge;
mod lin_kernighan;
mod loading;
mod papers;
mod small_tours;
mod tour_costs;

fn main() -> ExitCode {
    harness::run(
        &[
            papers::acs::TESTS,
            papers::acs_colony::TESTS,
            papers::best_moves::TESTS,
            canary::TESTS,
            checkpoints::TESTS,
            papers::colony::TESTS,
            papers::construct_candidates::TESTS,
            papers::construct_full::TESTS,
            errors::TESTS,
            papers::genetic::TESTS,
            papers::genetic_population::TESTS,
            judge::TESTS,
            lin_kernighan::TESTS,
            loading::TESTS,
            papers::local_search::TESTS,
            papers::neighborhood_search::TESTS,
            small_tours::TESTS,
            tour_costs::TESTS,
            papers::trails::TESTS,
            papers::walks::TESTS,
        ],
        1,
    )
}
