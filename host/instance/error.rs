//! Errors in instances and tours, with their remedies.

use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::memory::Shortage;

/// The result of reading, writing or generating an instance.
pub type Result<T> = std::result::Result<T, InstanceError>;

/// Why an instance or a tour could not be read, created or written.
#[derive(Debug, Error)]
pub enum InstanceError {
    /// The file could not be read.
    #[error("cannot read {}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The message of the operating system.
        cause: std::io::Error,
        /// The remedy.
        help: String,
    },
    /// The file could not be written.
    #[error("cannot write {}: {cause}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The message of the operating system.
        cause: std::io::Error,
    },
    /// One place of a file is wrong.
    #[error(transparent)]
    Syntax(Box<SyntaxError>),
    /// A file or an instance as a whole is wrong.
    #[error("{origin}: {problem}")]
    Content {
        /// The file, or the name of the instance.
        origin: String,
        /// What is wrong.
        problem: String,
        /// The remedy.
        help: String,
    },
}

impl InstanceError {
    /// Returns what to do about it; the message of the error does not contain that.
    pub fn remedy(&self) -> &str {
        match self {
            InstanceError::Write { cause, .. } => write_remedy(cause.kind()),
            InstanceError::Syntax(error) => &error.help,
            InstanceError::Read { help, .. } | InstanceError::Content { help, .. } => help,
        }
    }

    /// Creates the error that the file or instance `origin` as a whole is wrong. The text of `problem` is made safe to print.
    pub fn content(
        origin: impl Into<String>,
        problem: impl Into<String>,
        help: impl Into<String>,
    ) -> InstanceError {
        InstanceError::Content {
            origin: origin.into(),
            problem: printable(&problem.into()),
            help: help.into(),
        }
    }

    /// Creates the error that a file could not be read.
    pub fn read(path: &Path, cause: std::io::Error) -> InstanceError {
        let help = match cause.kind() {
            ErrorKind::NotFound => {
                "give the path of a file with places or costs, or the name of a generated instance such as E10k.0"
            }
            ErrorKind::IsADirectory => "give a file inside this folder",
            ErrorKind::PermissionDenied => "get permission to read the file",
            _ => "check that the file is complete: copy or download it again",
        };
        InstanceError::Read { path: path.to_owned(), cause, help: help.to_owned() }
    }

    /// Replaces the remedy if the error is that there is no such file.
    pub fn where_missing(mut self, remedy: &str) -> InstanceError {
        if let InstanceError::Read { cause, help, .. } = &mut self
            && cause.kind() == ErrorKind::NotFound
        {
            *help = remedy.to_owned();
        }
        self
    }

    /// Adjusts the line number for a text that is line `number`, from 1, of its file.
    pub fn in_line(mut self, number: usize) -> InstanceError {
        if let InstanceError::Syntax(error) = &mut self {
            error.source_line.number += number - 1;
        }
        self
    }

    /// Creates the error that a file could not be written.
    pub fn write(path: &Path, cause: std::io::Error) -> InstanceError {
        InstanceError::Write { path: path.to_owned(), cause }
    }
}

/// Returns what to do if a file cannot be written.
pub fn write_remedy(cause: ErrorKind) -> &'static str {
    match cause {
        ErrorKind::NotFound => "create its folder first, or give a file in another folder",
        ErrorKind::NotADirectory => "a part of the path is a file, not a folder: give another path",
        ErrorKind::IsADirectory => "give the name of a file in this folder",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "give a file in a folder in which you may write"
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free some space, or give a file on another disk"
        }
        _ => "check that the folder exists and is writable, and that its disk has space left",
    }
}

/// One place of a file is wrong.
#[derive(Debug, Error)]
#[error("{}:{}:{column}: {problem}", source_line.file, source_line.number)]
pub struct SyntaxError {
    /// What is wrong.
    pub problem: String,
    /// Column of the first wrong byte, from 1.
    pub column: usize,
    /// What to do about it.
    pub help: String,
    source_line: SourceLine,
    /// The range of the wrong bytes in the text that is shown.
    span: Range<usize>,
}

impl SyntaxError {
    /// Returns the file's name.
    pub fn file(&self) -> &str {
        &self.source_line.file
    }

    /// Returns the line of the wrong place, or for a long line the part around it, and the range of the wrong bytes in that text,
    /// as for slices.
    pub fn text(&self) -> (&str, Range<usize>) {
        (&self.source_line.text, self.span.clone())
    }

    /// Returns the line of the wrong place, from 1.
    pub fn line(&self) -> usize {
        self.source_line.number
    }
}

/// A single line of a file: instances have millions of them.
#[derive(Debug)]
struct SourceLine {
    file: String,
    number: usize,
    text: String,
}

/// Bytes of a line shown on each side of the wrong place: a whole matrix may be on one line.
const CONTEXT: usize = 60;

/// The bytes of a file, used to locate errors.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    /// The name of the file in messages.
    pub file: &'a str,
    /// All bytes of the file, or of a line of it.
    pub bytes: &'a [u8],
}

impl Text<'_> {
    /// Creates the error that the `length` bytes from `start` on are wrong.
    pub fn error(
        &self,
        start: usize,
        length: usize,
        problem: impl Into<String>,
        help: impl Into<String>,
    ) -> InstanceError {
        let start = start.min(self.bytes.len());
        let line_start = self.bytes[..start].iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        let line_end =
            self.bytes[start..].iter().position(|&b| b == b'\n').map_or(self.bytes.len(), |at| start + at);
        let number = 1 + self.bytes[..line_start].iter().filter(|&&b| b == b'\n').count();
        let shown_start = line_start.max(start.saturating_sub(CONTEXT));
        let wrong_end = (start + length.min(CONTEXT)).min(line_end);
        let shown_end = line_end.min(wrong_end + CONTEXT);
        let before = lossy(&self.bytes[shown_start..start]);
        let wrong = lossy(&self.bytes[start..wrong_end]);
        let after = lossy(&self.bytes[wrong_end..shown_end]);
        let span = before.len()..before.len() + wrong.len();
        let text = before + &wrong + &after;
        InstanceError::Syntax(Box::new(SyntaxError {
            problem: printable(&problem.into()),
            column: start - line_start + 1,
            help: help.into(),
            source_line: SourceLine { file: self.file.to_owned(), number, text },
            span,
        }))
    }

    /// Creates the error that there is not enough memory for what is read.
    pub fn no_room(&self, what: &str, shortage: Shortage) -> InstanceError {
        let help = "use a smaller one, or end other programs that use memory";
        self.content(format!("not enough memory for {what}: {shortage}"), help)
    }

    /// Creates the error that the file as a whole is wrong.
    pub fn content(&self, problem: impl Into<String>, help: impl Into<String>) -> InstanceError {
        InstanceError::content(self.file, problem, help)
    }
}

/// Returns bytes that need not be UTF-8 as text that is safe to print.
pub fn lossy(bytes: &[u8]) -> String {
    printable(String::from_utf8_lossy(bytes).trim_end_matches('\r'))
}

/// Returns the text without control characters: a terminal could take them as commands, and a file must not issue any.
pub fn printable(text: &str) -> String {
    text.replace(|c: char| c.is_control() && c != '\t', "\u{fffd}")
}

/// Formats a number of things: `1 node`, `2 nodes`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Why a list of nodes is not a tour of an instance. Nodes are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TourError {
    /// The tour is too short or too long.
    #[error("the tour has {}, the instance has {expected}", counted(*found, "node"))]
    Length {
        /// Nodes of the tour.
        found: usize,
        /// Nodes of the instance.
        expected: usize,
    },
    /// The instance has no such node.
    #[error("node {node} at position {position} of the tour does not exist: the last node is {last}")]
    OutOfRange {
        /// The node.
        node: u32,
        /// Its position in the tour, from 0.
        position: usize,
        /// The last node of the instance.
        last: u32,
    },
    /// A node appears in the tour twice, so another is missing.
    #[error("node {node} appears in the tour twice, again at position {position}; node {missing} is missing")]
    Repeated {
        /// The node that is repeated.
        node: u32,
        /// The position, from 0, where it appears for the second time.
        position: usize,
        /// The first node that is missing.
        missing: u32,
    },
}
