//! The command `antwarp`.

use std::process::ExitCode;

fn main() -> ExitCode {
    antwarp::cli::run()
}
