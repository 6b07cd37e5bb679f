//! What can go wrong between a kernel's source and checked PTX.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The reason why there are no kernels although there should be. Its text is meant for the person who runs the build.
#[derive(Debug)]
pub enum BuildError {
    /// The variable that chooses whether kernels are built has an unknown value.
    Mode {
        /// The variable's name.
        variable: String,
        /// Its value.
        word: String,
    },
    /// The build script asks for something that cannot be done.
    Input(String),
    /// The named toolchain cannot build kernels, or one is required and none was found.
    Toolchain {
        /// What was tried and what it lacks.
        reason: String,
        /// What to install or to set.
        remedy: String,
    },
    /// rustc rejected the kernel crate.
    Compile {
        /// The architecture it was compiled for.
        arch: String,
        /// All messages of cargo and rustc.
        messages: String,
        /// What makes a build without kernels.
        skip: String,
    },
    /// The PTX exists but would not load, or would go wrong on a GPU.
    Check {
        /// The architecture it was compiled for.
        arch: String,
        /// One line per fault.
        faults: Vec<String>,
    },
    /// A file or a program could not be used.
    Io {
        /// Its purpose.
        what: &'static str,
        /// The file or program.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl BuildError {
    /// Returns a function for `map_err` that adds the file's purpose.
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> BuildError {
        let path = path.to_path_buf();
        move |source| BuildError::Io { what, path, source }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Mode { variable, word } => {
                write!(f, "{variable} is `{word}`, but must be auto, skip or require")
            }
            BuildError::Input(what) => f.write_str(what),
            BuildError::Toolchain { reason, remedy } => {
                write!(f, "no toolchain for the GPU kernels: {reason}. Remedy: {remedy}")
            }
            BuildError::Compile { arch, messages, skip } => {
                write!(f, "the GPU kernels do not compile for {arch}:\n{messages}")?;
                write!(f, "({skip} makes a CPU-only build)")
            }
            BuildError::Check { arch, faults } => {
                write!(f, "the GPU kernels compiled for {arch} must not be used:")?;
                faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
            }
            BuildError::Io { what, path, source } => write!(f, "{what} {}: {source}", path.display()),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BuildError::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
