//! Compiles CUDA kernels in Rust to PTX from a build script, with rustc's own target `nvptx64-nvidia-cuda`: no CUDA toolkit, no
//! LLVM of our own, no linker.
//!
//! For kernels in one source file, which use the crate warpsmith, this is the whole build script:
//!
//! ```no_run
//! warpsmith_build::kernels("src/kernels.rs");
//! ```
//!
//! For a crate of kernels in a folder, with a choice of everything:
//!
//! ```no_run
//! use warpsmith_build::{Builder, Target};
//!
//! let outcome = Builder::new("gpu-kernels")
//!     .prefix("MY_PROGRAM")
//!     .target(Target::new("sm_80", "ptx71"))
//!     .dependency("my-core", "core")
//!     .expect_one_barrier("block_canary")
//!     .build()
//!     .unwrap_or_else(|error| panic!("{error}"));
//! outcome.write_module().expect("the build script's folder is writable");
//! ```
//!
//! The steps: [`toolchain`] finds a compiler, [`compile`] runs it in a clean [`environment`], once per [`Target`]; [`ptx`] edits
//! and checks the output, [`embed`] compresses it and writes the Rust module that the host includes. A published package can carry its
//! kernels compiled ([`Builder::packaged`]).

use std::path::Path;
use std::process::exit;

mod builder;
pub mod compile;
pub mod divergence;
mod doctor;
pub mod embed;
#[cfg(test)]
mod embedded;
pub mod environment;
mod error;
pub mod ir;
mod packaged;
pub mod ptx;
pub mod source;
mod store;
mod syntax;
pub mod toolchain;
pub mod usage;

pub use builder::{Builder, Kernels, Outcome, PtxFile, Target};
pub use doctor::doctor;
pub use error::BuildError;

/// Compiles the kernels in a file or a folder, and writes the module that `warpsmith::module!()` includes: the whole of a build
/// script. If it fails, it says why and ends the build script.
pub fn kernels(path: impl AsRef<Path>) {
    let built = Builder::new(path).build().map_err(|error| error.to_string()).and_then(|outcome| {
        outcome.write_module().map_err(|error| format!("cannot write the kernels' module: {error}"))
    });
    if let Err(message) = built {
        eprintln!("{message}");
        exit(1);
    }
}
