//! What can be wrong with an instance or a tour, and what to do about it.

use std::ops::Range;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::memory::Shortage;

/// The result of reading, writing or making an instance.
pub type Result<T> = std::result::Result<T, InstanceError>;

/// Why an instance or a tour could not be read, made or written.
#[derive(Debug, Error)]
pub enum InstanceError {
    /// The operating system did not give us the file.
    #[error("cannot read {}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        cause: std::io::Error,
        /// The remedy.
        help: String,
    },
    /// The operating system did not take our file.
    #[error("cannot write {}: {cause}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
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
    /// The remedy.
    pub fn remedy(&self) -> &str {
        match self {
            InstanceError::Write { .. } => {
                "check that the folder exists, may be written to, and that its disk has space left"
            }
            InstanceError::Syntax(error) => &error.help,
            InstanceError::Read { help, .. } | InstanceError::Content { help, .. } => help,
        }
    }

    /// The file or instance `origin` as a whole is wrong. What the problem quotes need not be fit to be printed.
    pub(crate) fn content(
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

    pub(crate) fn read(path: &Path, cause: std::io::Error) -> InstanceError {
        let help = match cause.kind() {
            std::io::ErrorKind::NotFound => {
                "give the path of a .tsp, .atsp or .csv file, or the name of a generated instance such as E10k.0"
            }
            std::io::ErrorKind::IsADirectory => "name a file inside this folder",
            std::io::ErrorKind::PermissionDenied => "ask for the right to read the file",
            _ => "check that the file is whole: copy or download it again",
        };
        InstanceError::Read { path: path.to_owned(), cause, help: help.to_owned() }
    }

    /// The same error, with this remedy if there is no such file.
    pub(crate) fn where_missing(mut self, remedy: &str) -> InstanceError {
        if let InstanceError::Read { cause, help, .. } = &mut self
            && cause.kind() == std::io::ErrorKind::NotFound
        {
            *help = remedy.to_owned();
        }
        self
    }

    /// The same error in a text that is line `number`, from 1, of its file.
    pub(crate) fn in_line(mut self, number: usize) -> InstanceError {
        if let InstanceError::Syntax(error) = &mut self {
            error.source_line.number += number - 1;
        }
        self
    }

    pub(crate) fn write(path: &Path, cause: std::io::Error) -> InstanceError {
        InstanceError::Write { path: path.to_owned(), cause }
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
    /// The remedy.
    pub help: String,
    source_line: SourceLine,
    /// The wrong bytes of what is shown of it.
    span: Range<usize>,
}

impl SyntaxError {
    /// The file's name.
    pub fn file(&self) -> &str {
        &self.source_line.file
    }

    /// The line of the wrong place, or of a long one the part around it, and where in that text the wrong bytes are.
    pub fn text(&self) -> (&str, Range<usize>) {
        (&self.source_line.text, self.span.clone())
    }

    /// Line of the wrong place, from 1.
    pub fn line(&self) -> usize {
        self.source_line.number
    }
}

/// The text of one line only: instances have millions of them.
#[derive(Debug)]
struct SourceLine {
    file: String,
    number: usize,
    text: String,
}

/// Bytes of a line shown on each side of the wrong place: a matrix may stand in one line.
const CONTEXT: usize = 60;

/// The bytes of a file, to locate errors in.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) file: &'a str,
    pub(crate) bytes: &'a [u8],
}

impl Text<'_> {
    /// The `length` bytes from `start` on are wrong.
    pub(crate) fn error(
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

    /// There is no memory for what is read.
    pub(crate) fn no_room(&self, what: &str, shortage: Shortage) -> InstanceError {
        let help = "give a smaller one, or end what else takes memory";
        self.content(format!("no room for {what}: {shortage}"), help)
    }

    /// The file as a whole is wrong.
    pub(crate) fn content(&self, problem: impl Into<String>, help: impl Into<String>) -> InstanceError {
        InstanceError::content(self.file, problem, help)
    }
}

/// Text of bytes that need not be UTF-8, fit to be printed.
pub(crate) fn lossy(bytes: &[u8]) -> String {
    printable(String::from_utf8_lossy(bytes).trim_end_matches('\r'))
}

/// The text without control characters: to a terminal they may be commands, and what a file says is not to give any.
pub(crate) fn printable(text: &str) -> String {
    text.replace(|c: char| c.is_control() && c != '\t', "\u{fffd}")
}

/// Why a list of nodes is no tour of an instance. Nodes are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TourError {
    /// The tour is too short or too long.
    #[error("the tour has {found} nodes, the instance has {expected}")]
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
        /// Where it stands in the tour.
        position: usize,
        /// The last node of the instance.
        last: u32,
    },
    /// A node stands in the tour twice, so another is missing.
    #[error("node {node} stands in the tour twice, again at position {position}; node {missing} is missing")]
    Repeated {
        /// The node that is repeated.
        node: u32,
        /// Where it stands for the second time.
        position: usize,
        /// The first node that is missing.
        missing: u32,
    },
}
