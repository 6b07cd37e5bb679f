//! The part of the Python package `antwarp` that is in Rust: what Python knows as `antwarp._native`.
//!
//! Python recognizes what it was given (`antwarp/_inputs.py`); here it becomes an instance (`input`), is solved with checked options
//! (`options`, `run`), and becomes a result that can be drawn and saved (`outcome`). All work is done on threads that end with the call
//! (`session`), so a process may fork between calls; the caller's thread listens to Python meanwhile (`attend`).

mod attend;
mod bound;
mod check;
mod error;
mod files;
mod input;
mod many;
mod options;
mod outcome;
mod run;
mod session;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Everything that `antwarp` takes from here; its stub is `antwarp/_native.pyi`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::main;
    #[pymodule_export]
    use crate::attend::Stop;
    #[cfg(feature = "faults")]
    #[pymodule_export]
    use crate::attend::panic;
    #[pymodule_export]
    use crate::bound::bound;
    #[pymodule_export]
    use crate::check::{check_certificate, check_tour, read_tour};
    #[pymodule_export]
    use crate::files::Files;
    #[pymodule_export]
    use crate::input::Instance;
    #[pymodule_export]
    use crate::many::{Batch, of_index, solve_many};
    #[pymodule_export]
    use crate::options::{Options, declarations};
    #[pymodule_export]
    use crate::outcome::{Outcome, write_file};
    #[pymodule_export]
    use crate::run::{Progress, solve};
    #[pymodule_export]
    use crate::session::{Session, after_fork, end_all};
}

/// Runs a command line of the program, whose first word is its name, and returns the exit status.
#[pyfunction]
fn main(py: Python<'_>, line: Vec<OsString>) -> u8 {
    py.detach(|| antwarp::cli::run_as(line))
}
