//! Failures of the GPU's driver: see `faults`.

#[cfg(all(target_os = "linux", feature = "cuda"))]
#[macro_use]
#[path = "../common/harness.rs"]
mod harness;

#[cfg(all(target_os = "linux", feature = "cuda"))]
mod faults;

#[cfg(all(target_os = "linux", feature = "cuda"))]
fn main() -> std::process::ExitCode {
    harness::run(&[faults::TESTS], 1)
}

#[cfg(not(all(target_os = "linux", feature = "cuda")))]
fn main() {}
