//! `cargo warpsmith doctor`: says what this machine has for kernels, and what it lacks.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Cargo passes the name of the command it was asked for.
    let words: Vec<String> = std::env::args().skip(1).skip_while(|word| word == "warpsmith").collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["doctor"] => {
            print!("{}", warpsmith_build::doctor());
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("usage: cargo warpsmith doctor");
            ExitCode::from(2)
        }
    }
}
