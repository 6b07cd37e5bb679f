//! Errors that end a command early: a message with its remedy, and an exit status.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use clap::CommandFactory;

use super::output;
use crate::cluster::launched;
use crate::engine::BackendError;
use crate::instance::InstanceError;
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
/// Exit status if the backend is unavailable or failed.
pub const BACKEND: u8 = 4;
/// Exit status if an output cannot be written.
pub const OUTPUT: u8 = 5;
/// Exit status if a tour is invalid.
pub const INVALID_TOUR: u8 = 6;
/// Exit status if a tour has a forbidden pair.
pub const FORBIDDEN: u8 = 7;
/// Exit status if a tour was to be proven the shortest one, and was not.
pub const UNPROVEN: u8 = 8;
/// Exit status after an interrupt.
pub const INTERRUPTED: u8 = 130;

/// An error that ends a command early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line asks for something impossible.
    #[error("{0}")]
    Usage(String),
    /// An input is unreadable or invalid.
    #[error(transparent)]
    Input(InstanceError),
    /// An input is valid but cannot be used here.
    #[error("{0}")]
    Unusable(String),
    /// The solver could not produce a tour.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// A backend is unavailable.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The backend failed during the run; the best tour until then was returned.
    #[error("{0}\nThe result is the best tour until then.")]
    CutShort(String),
    /// An allocation failed, and the run ended early.
    #[error(
        "main memory ran out, and the run ended early with the best tour so far: allow more memory, or use a smaller instance"
    )]
    MemoryRanOut,
    /// The system cannot start a thread that is needed.
    #[error("cannot start a thread: {0}; raise the limits (`ulimit -u`, `ulimit -v`), or end other programs")]
    NoThread(io::Error),
    /// The backend failed in a run of a bench; that run is not counted.
    #[error("{0}")]
    RunFailed(String),
    /// An output file cannot be written.
    #[error("cannot write {}: {cause}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// The message of the operating system.
        cause: String,
    },
    /// An output cannot be written, but the tour was kept elsewhere.
    #[error("{first}\n{place}")]
    Rescued {
        /// What failed.
        first: Box<Error>,
        /// Where the tour is.
        place: String,
    },
    /// The standard output cannot be written.
    #[error("cannot write to the standard output: {0}")]
    Stdout(io::Error),
    /// A tour is invalid. The error holds the message, unless that has been printed.
    #[error(transparent)]
    InvalidTour(InstanceError),
    /// A tour does not meet a requirement of the instance.
    #[error("{0}")]
    WrongTour(String),
    /// A tour has forbidden pairs; it was written nevertheless.
    #[error("{0}")]
    Forbidden(String),
    /// The messages have already been printed.
    #[error("")]
    Printed(u8),
    /// Something that should be impossible.
    #[error("{0}: this is a bug in antwarp, please report it")]
    Bug(String),
}

impl Error {
    /// Returns the exit status that reports it.
    pub fn status(&self) -> u8 {
        match self {
            Error::Usage(_) => USAGE,
            Error::Solve(SolveError::Settings(_)) => USAGE,
            Error::Backend(BackendError::Warps(..) | BackendError::Threads(..)) => USAGE,
            Error::Solve(SolveError::Backend(BackendError::Warps(..) | BackendError::Threads(..))) => USAGE,
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

    /// Prints the message for the user. Returns the exit status.
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

/// Returns the error unchanged on the first of several processes that all meet it; the others stay quiet.
pub fn once(error: Error) -> Error {
    match launched() {
        Some(place) if place.rank > 0 => quiet(error.status()),
        _ => error,
    }
}

/// How long a process that stays quiet lives on: as soon as one has failed, `mpirun` kills the others, even the one that speaks.
const FIRST_SPEAKS: Duration = Duration::from_secs(1);

/// Returns the error of a process other than the first one, once the first has had time to print it.
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

/// Failures to write become output errors, all others input errors.
impl From<InstanceError> for Error {
    fn from(error: InstanceError) -> Error {
        match error {
            InstanceError::Write { path, cause } => Error::Output { path, cause: cause.to_string() },
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
