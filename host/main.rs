//! The command `antwarp`.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: antwarp::cli::Allocator = antwarp::cli::Allocator;

fn main() -> ExitCode {
    antwarp::cli::run()
}
