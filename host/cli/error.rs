//! Errors that end a command early: a message with its remedy, and an exit status.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use clap::CommandFactory;

use super::output;
use crate::cluster::launched;
use crate::engine::BackendError;
use crate::instance::{InstanceError, write_remedy};
use crate::solver::settings::Setting;
use crate::solver::{Algorithm, SolveError};

/// The result of a command.
pub type Result<T> = std::result::Result<T, Error>;

/// Exit status after a bug.
pub const UNEXPECTED: u8 = 1;
/// Exit status after a wrong command line.
pub const USAGE: u8 = 2;
/// Exit status if an input cannot be used.
pub const INPUT: u8 = 3;
/// Exit status if the backend is unavailable or failed, or if threads or memory are short.
pub const BACKEND: u8 = 4;
/// Exit status if an output cannot be written.
pub const OUTPUT: u8 = 5;
/// Exit status of `check` if a tour is invalid or a certificate proves nothing.
pub const INVALID_TOUR: u8 = 6;
/// Exit status if a tour has a forbidden pair.
pub const FORBIDDEN: u8 = 7;
/// Exit status if a tour was to be proven the shortest one, and was not.
pub const UNPROVEN: u8 = 8;
/// Exit status after an interrupt.
pub const INTERRUPTED: u8 = 130;

/// An error that ends a command early. Messages have no `antwarp:` before them; settings are named in backticks.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line asks for something impossible, or for too little time to have a result.
    #[error("{0}")]
    Usage(String),
    /// An input is unreadable or invalid.
    #[error(transparent)]
    Input(InstanceError),
    /// An input is valid but cannot be used for this.
    #[error("{0}")]
    Unusable(String),
    /// The solver could not produce a tour.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// A backend is unavailable, or failed in a bench that uses it without a solver.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The backend failed during the run; the best tour until then was returned. Or it failed at the end, when the population was saved.
    #[error("{0}\nThe result is the best tour until then.")]
    CutShort(String),
    /// An allocation failed, and the run ended early with the tour that it had.
    #[error(
        "main memory ran out, and the run ended early with the best tour so far: allow more memory, or use a smaller instance"
    )]
    MemoryRanOut,
    /// The system cannot start a thread that is needed.
    #[error("cannot start a thread: {0}; raise the limits (`ulimit -u`, `ulimit -v`), or end other programs")]
    NoThread(io::Error),
    /// A run of a bench failed, which is not counted, or was killed; or there is not enough memory for a bound.
    #[error("{0}")]
    RunFailed(String),
    /// An output file cannot be written.
    #[error("cannot write {}: {}", path.display(), with_remedy(cause))]
    Output {
        /// The file.
        path: PathBuf,
        /// The message of the operating system.
        cause: io::Error,
    },
    /// An output cannot be written, and neither can any other that holds the tour or the solution, which was saved elsewhere if possible.
    #[error("{first}\n{place}")]
    Rescued {
        /// What failed.
        first: Box<Error>,
        /// A sentence that says where the tour is, or that it could not be saved.
        place: String,
    },
    /// The standard output cannot be written, or was closed from the start.
    #[error("cannot write to the standard output: {0}")]
    Stdout(io::Error),
    /// `check`: a file was read, but what is in it is not a tour of the instance.
    #[error(transparent)]
    InvalidTour(InstanceError),
    /// `check`: a tour does not meet a requirement of the instance, or a certificate proves nothing.
    #[error("{0}")]
    WrongTour(String),
    /// A tour has forbidden pairs; `solve` and `search` have written it nevertheless.
    #[error("{0}")]
    Forbidden(String),
    /// All messages have been printed; what is left is the exit status. It is 0 for help.
    #[error("")]
    Printed(u8),
    /// Something that should be impossible.
    #[error("{0}: this is a bug in antwarp, please report it")]
    Bug(String),
}

impl Error {
    /// Returns the exit status that reports it; 0 if the reader of the standard output has closed the pipe.
    pub fn status(&self) -> u8 {
        match self {
            Error::Usage(_) => USAGE,
            Error::Solve(SolveError::Settings(_)) => USAGE,
            Error::Backend(BackendError::Warps(..) | BackendError::Threads(..) | BackendError::Gpus(_)) => {
                USAGE
            }
            Error::Solve(SolveError::Backend(
                BackendError::Warps(..) | BackendError::Threads(..) | BackendError::Gpus(_),
            )) => USAGE,
            Error::Input(_)
            | Error::Unusable(_)
            | Error::Solve(SolveError::Shape(_) | SolveError::Unsupported { .. }) => INPUT,
            Error::Backend(_)
            | Error::CutShort(_)
            | Error::RunFailed(_)
            | Error::MemoryRanOut
            | Error::NoThread(_) => BACKEND,
            Error::Solve(
                SolveError::Backend(_)
                | SolveError::CutShort { .. }
                | SolveError::NoThread(_)
                | SolveError::Wrong { .. },
            ) => BACKEND,
            Error::Output { .. } => OUTPUT,
            // A reader that has seen enough closes the pipe: that is not a failure.
            Error::Stdout(cause) if cause.kind() == io::ErrorKind::BrokenPipe => 0,
            Error::Stdout(_) => OUTPUT,
            Error::Rescued { first, .. } => first.status(),
            Error::InvalidTour(_) | Error::WrongTour(_) => INVALID_TOUR,
            Error::Forbidden(_) => FORBIDDEN,
            Error::Printed(status) => *status,
            Error::Bug(_) => UNEXPECTED,
        }
    }

    /// Prints the message for the user on the standard error, with settings named as options. Returns the exit status.
    pub fn print(self) -> u8 {
        let status = self.status();
        let text = match self {
            Error::Printed(_) => return status,
            Error::Stdout(_) if status == 0 => return status,
            Error::Input(error) | Error::InvalidTour(error) => {
                let has_colors = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
                error.rendered(has_colors)
            }
            other => format!("antwarp: {}", as_options(&other.to_string())),
        };
        output::tell(text.trim_end());
        status
    }
}

/// Returns the error of a single process unchanged, as on rank 0 of several that all meet it; on the others see [`quiet`].
pub fn once(error: Error) -> Error {
    match launched() {
        Some(place) if place.rank > 0 => quiet(error.status()),
        _ => error,
    }
}

/// How long a process that stays quiet lives on: as soon as one has failed, `mpirun` kills the others, even the one that speaks.
const FIRST_SPEAKS: Duration = Duration::from_secs(1);

/// Returns an error with this status that prints nothing, for ranks other than 0. First waits a second, in which rank 0 prints its own.
pub fn quiet(status: u8) -> Error {
    std::thread::sleep(FIRST_SPEAKS);
    Error::Printed(status)
}

/// Rewrites a message to name settings as the command line does: `` `local_search` `` becomes `--local-search`.
pub fn as_options(text: &str) -> String {
    fn has(command: &clap::Command, name: &str) -> bool {
        command.get_arguments().any(|argument| argument.get_long() == Some(name))
            || command.get_subcommands().any(|command| has(command, name))
    }
    // A field whose option has a different name.
    let renamed = |name: &str| {
        let settings = Algorithm::ALL.into_iter().filter_map(|algorithm| algorithm.setting(name));
        settings.map(Setting::option).find(|option| *option != name)
    };
    let command = super::Cli::command();
    let mut told = String::new();
    // The parts at odd positions are between backticks.
    for (i, part) in text.split('`').enumerate() {
        let name = renamed(part).unwrap_or(part).replace('_', "-");
        match i % 2 {
            0 => told += part,
            _ if has(&command, &name) => told += &format!("--{name}"),
            _ => told += &format!("`{part}`"),
        }
    }
    told
}

/// Returns the message of a failure to write, with what to do about it; what antwarp itself says needs no more.
fn with_remedy(cause: &io::Error) -> String {
    use io::ErrorKind::{BrokenPipe, InvalidFilename, Other, TimedOut};
    match cause.kind() {
        Other | TimedOut | BrokenPipe | InvalidFilename => cause.to_string(),
        kind => format!("{cause}; {}", write_remedy(kind)),
    }
}

/// Failures to write become output errors, all others input errors.
impl From<InstanceError> for Error {
    fn from(error: InstanceError) -> Error {
        match error {
            InstanceError::Write { path, cause } => Error::Output { path, cause },
            other => Error::Input(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_told_as_options() {
        let text = "`local_search` none, kernel `block_x` of `antwarp devices`; `backend` cpu works";
        let told = "--local-search none, kernel `block_x` of `antwarp devices`; --backend cpu works";
        assert_eq!(as_options(text), told);
    }
}
