//! What can go wrong between a kernel's source and checked PTX.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why there are no kernels although there should be. Its text is meant for the person who runs the build.
#[derive(Debug)]
pub enum BuildError {
    /// `ANTWARP_KERNELS` holds a word that means nothing.
    Mode(String),
    /// The toolchain that was asked for by name cannot build kernels, or one is required and none was found.
    Toolchain {
        /// What was tried and what it lacks.
        reason: String,
        /// What to install or to set.
        remedy: String,
    },
    /// rustc refused the kernel crate.
    Compile {
        /// The architecture it was compiled for.
        arch: String,
        /// Everything cargo and rustc said.
        messages: String,
    },
    /// The PTX is there but would not load, or would go wrong on a GPU.
    Check {
        /// The architecture it was compiled for.
        arch: String,
        /// One line a fault.
        faults: Vec<String>,
    },
    /// A file or a program could not be used.
    Io {
        /// What it was for.
        what: &'static str,
        /// Which file or program.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl BuildError {
    /// For `map_err`: says what the file was for.
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> BuildError {
        let path = path.to_path_buf();
        move |source| BuildError::Io { what, path, source }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Mode(word) => {
                write!(f, "ANTWARP_KERNELS is `{word}`, but only auto, skip and require mean something")
            }
            BuildError::Toolchain { reason, remedy } => {
                write!(f, "no toolchain for the GPU kernels: {reason}. Remedy: {remedy}")
            }
            BuildError::Compile { arch, messages } => {
                write!(f, "the GPU kernels do not compile for {arch}:\n{messages}")?;
                write!(f, "(ANTWARP_KERNELS=skip builds for the CPU alone)")
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
