//! Compiles a `no_std` crate of CUDA kernels to PTX from a build script, with rustc's own
//! `nvptx64-nvidia-cuda` target: no CUDA toolkit, no LLVM of our own, no linker.
//!
//! ```no_run
//! use antwarp_kernel_builder::{KernelBuilder, Target};
//!
//! let outcome = KernelBuilder::new("gpu-kernels")
//!     .target(Target::new("sm_70", "ptx70"))
//!     .target(Target::new("sm_90", "ptx80"))
//!     .dependency("my-core", "core")
//!     .expect_one_barrier("block_canary")
//!     .build()
//!     .unwrap_or_else(|error| panic!("{error}"));
//! outcome.write_module().expect("the build script's folder is writable");
//! ```
//!
//! The steps: [`toolchain`] finds a compiler, [`compile`] runs it in a clean [`environment`], once per [`Target`]; [`ptx`] edits
//! and checks the output, [`embed`] compresses it and writes the Rust module that the host includes. A published package can carry its
//! kernels compiled ([`KernelBuilder::packaged`]). `docs/toolchain.md` explains
//! each flag and each check.

mod builder;
pub mod compile;
pub mod embed;
#[cfg(test)]
mod embedded;
pub mod environment;
mod error;
mod packaged;
pub mod ptx;
pub mod toolchain;

pub use builder::{KernelBuilder, Kernels, Outcome, PtxFile, Target};
pub use error::BuildError;
