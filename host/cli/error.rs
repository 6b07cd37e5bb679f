//! What ends a command early: a message with its remedy, and an exit status.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::CommandFactory;

use crate::cluster::launched;
use crate::engine::BackendError;
use crate::instance::InstanceError;
use crate::solver::settings::Setting;
use crate::solver::{Algorithm, SolveError};

/// The result of a command.
pub type Result<T> = std::result::Result<T, Error>;

/// Exit status of a bug.
pub const UNEXPECTED: u8 = 1;
/// Exit status of a wrong command line.
pub const USAGE: u8 = 2;
/// Exit status of an input that cannot be used.
pub const INPUT: u8 = 3;
/// Exit status of a backend that is not there or failed.
pub const BACKEND: u8 = 4;
/// Exit status of an output that cannot be written.
pub const OUTPUT: u8 = 5;
/// Exit status of an invalid tour.
pub const INVALID_TOUR: u8 = 6;
/// Exit status of a tour that has a forbidden pair.
pub const FORBIDDEN: u8 = 7;
/// Exit status after an interrupt.
pub const INTERRUPTED: u8 = 130;

/// What ends a command early.
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
    /// The solver could not give a tour.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// A backend is not there.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The backend failed while it ran; the best tour until then was handed out.
    #[error("{0}\nThe result is the best tour until then.")]
    CutShort(String),
    /// An allocation failed, and the run ended early.
    #[error(
        "main memory ran out, and the run ended early with the best it had: allow more memory, or take a smaller instance"
    )]
    MemoryRanOut,
    /// The system starts no thread that is needed.
    #[error("no thread can be started: {0}; allow more (`ulimit -u`, `ulimit -v`), or end other programs")]
    NoThread(io::Error),
    /// The backend failed in a run of a bench, which does not count.
    #[error("{0}")]
    RunFailed(String),
    /// An output file cannot be written.
    #[error("cannot write {}: {cause}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
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
    /// A tour is none. The message was printed, or is in here.
    #[error(transparent)]
    InvalidTour(InstanceError),
    /// A tour does not do what the instance asks for.
    #[error("{0}")]
    WrongTour(String),
    /// A tour has pairs that are forbidden; it was written.
    #[error("{0}")]
    Forbidden(String),
    /// The messages were printed as they came up.
    #[error("")]
    Printed(u8),
    /// Something that cannot happen.
    #[error("{0}: this is a bug in antwarp, please report it")]
    Bug(String),
}

impl Error {
    /// The exit status that tells of it.
    pub fn status(&self) -> u8 {
        match self {
            Error::Usage(_) => USAGE,
            Error::Solve(SolveError::Settings(_)) => USAGE,
            Error::Backend(BackendError::Warps(..) | BackendError::Threads(..)) => USAGE,
            Error::Solve(SolveError::Backend(BackendError::Warps(..) | BackendError::Threads(..))) => USAGE,
            Error::Input(_) | Error::Unusable(_) | Error::Solve(SolveError::Unsupported { .. }) => INPUT,
            Error::Backend(_)
            | Error::CutShort(_)
            | Error::RunFailed(_)
            | Error::MemoryRanOut
            | Error::NoThread(_) => BACKEND,
            Error::Solve(SolveError::Backend(_) | SolveError::CutShort { .. } | SolveError::Wrong { .. }) => {
                BACKEND
            }
            Error::Output { .. } => OUTPUT,
            // Whoever read enough closes the pipe: that is no failure.
            Error::Stdout(cause) if cause.kind() == io::ErrorKind::BrokenPipe => 0,
            Error::Stdout(_) => OUTPUT,
            Error::Rescued { first, .. } => first.status(),
            Error::InvalidTour(_) | Error::WrongTour(_) => INVALID_TOUR,
            Error::Forbidden(_) => FORBIDDEN,
            Error::Printed(status) => *status,
            Error::Bug(_) => UNEXPECTED,
        }
    }

    /// Prints the message for a user.
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
        // Nobody is left to tell if this cannot be printed.
        let _ = writeln!(io::stderr(), "{}", text.trim_end());
        status
    }
}

/// The same error for the first of several processes that all meet it; the others are quiet.
pub fn once(error: Error) -> Error {
    match launched() {
        Some(place) if place.rank > 0 => Error::Printed(error.status()),
        _ => error,
    }
}

/// A message in which settings are named as the command line does: `` `local_search` `` becomes `--local-search`.
pub fn as_options(text: &str) -> String {
    fn has(command: &clap::Command, name: &str) -> bool {
        command.get_arguments().any(|argument| argument.get_long() == Some(name))
            || command.get_subcommands().any(|command| has(command, name))
    }
    // A field whose option has another name.
    let renamed = |name: &str| {
        let settings = Algorithm::ALL.into_iter().filter_map(|algorithm| algorithm.setting(name));
        settings.map(Setting::option).find(|option| *option != name)
    };
    let command = super::Cli::command();
    let mut told = String::new();
    // What stands between two of them is quoted.
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

/// Failures to write are told apart from failures to read by who asks.
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
