//! A drop-in for Rust-CUDA's `cuda_builder`: its names, over rustc's own target for GPUs. It needs neither a CUDA toolkit nor a nightly
//! compiler.
//!
//! In `Cargo.toml`:
//!
//! ```toml
//! [build-dependencies]
//! cuda_builder = { package = "warpsmith-cuda-builder", version = "0.1" }
//! ```
//!
//! A build script stays as it was:
//!
//! ```no_run
//! use cuda_builder::CudaBuilder;
//!
//! CudaBuilder::new("../kernels").copy_to("../resources/kernels.ptx").build().unwrap();
//! ```
//!
//! The environment variables are those of warpsmith-build: `WARPSMITH_KERNEL_RUSTC` names the compiler of the kernels,
//! `WARPSMITH_KERNELS=skip` makes a build without any, `WARPSMITH_KERNEL_DEBUG=lines` keeps source lines.

use std::env;
use std::error::Error;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf, absolute};

use warpsmith_build::{BuildError, Builder, Outcome, Target, compile};

mod arch;
mod shadow;
mod shared;

pub use arch::NvvmArch;

/// Why there is no PTX.
#[derive(Debug)]
#[non_exhaustive]
pub enum CudaBuilderError {
    /// The folder of the kernels has no `Cargo.toml`.
    CratePathDoesntExist(PathBuf),
    /// The PTX could not be written.
    FailedToCopyPtxFile(io::Error),
    /// The crate of the kernels could not be prepared: what was done, and why it failed.
    Manifest(String),
    /// There is no compiler, or the kernels do not compile, or their PTX must not be used.
    BuildFailed(String),
}

impl fmt::Display for CudaBuilderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CratePathDoesntExist(path) => write!(f, "no Cargo.toml in {}", path.display()),
            Self::FailedToCopyPtxFile(source) => write!(f, "cannot write the PTX: {source}"),
            Self::Manifest(text) | Self::BuildFailed(text) => f.write_str(text),
        }
    }
}

impl Error for CudaBuilderError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::FailedToCopyPtxFile(source) => Some(source),
            _ => None,
        }
    }
}

impl From<BuildError> for CudaBuilderError {
    fn from(error: BuildError) -> Self {
        Self::BuildFailed(error.to_string())
    }
}

/// What the PTX says about its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebugInfo {
    /// Nothing.
    None,
    /// Files and lines. Kept with the environment variable `WARPSMITH_KERNEL_DEBUG=lines` alone.
    LineTables,
}

/// Flags for every crate: kernels for Rust-CUDA leave `no_std` to the builder, and some use the attributes of its compiler.
const CRATE_FLAGS: &[&str] = &[
    "-Zcrate-attr=no_std",
    // Of crates that say so themselves.
    "-Aunused-attributes",
    "-Zcrate-attr=feature(register_tool)",
    "-Zcrate-attr=register_tool(nvvm_internal)",
];

/// Compiles a crate of kernels to PTX from a build script.
#[derive(Clone, Debug)]
pub struct CudaBuilder {
    path: PathBuf,
    copy_to: Option<PathBuf>,
    arch: NvvmArch,
    opt_level: &'static str,
    fast_sqrt: bool,
    fast_div: bool,
    fma_contraction: bool,
    features: Vec<String>,
    ignored: Vec<&'static str>,
}

impl CudaBuilder {
    /// Makes a builder for the crate of kernels in a folder, relative to the package of the build script.
    pub fn new(path_to_crate_root: impl AsRef<Path>) -> Self {
        Self {
            path: path_to_crate_root.as_ref().to_path_buf(),
            copy_to: None,
            arch: NvvmArch::Compute70,
            opt_level: "3",
            fast_sqrt: false,
            fast_div: false,
            fma_contraction: true,
            features: Vec::new(),
            ignored: Vec::new(),
        }
    }

    /// Sets the file for the PTX, and creates its folder if necessary. By default the PTX is in the folder `cuda_builder` of the target
    /// folder.
    pub fn copy_to(mut self, path: impl AsRef<Path>) -> Self {
        self.copy_to = Some(path.as_ref().to_path_buf());
        self
    }

    /// Sets the oldest architecture that is to run the kernels; by default, and at the oldest, that of Volta.
    pub fn arch(mut self, arch: NvvmArch) -> Self {
        self.arch = arch;
        self
    }

    /// Sets the level of optimisation: 3, as by default, or 1 with `false`.
    pub fn release(mut self, release: bool) -> Self {
        self.opt_level = if release { "3" } else { "1" };
        self
    }

    /// Sets whether the square root of `f32` may be off by a bit or two; by default it is the nearest number.
    pub fn fast_sqrt(mut self, fast_sqrt: bool) -> Self {
        self.fast_sqrt = fast_sqrt;
        self
    }

    /// Sets whether quotients of `f32` may be off by a bit or two; by default they are the nearest number.
    pub fn fast_div(mut self, fast_div: bool) -> Self {
        self.fast_div = fast_div;
        self
    }

    /// Sets whether a product and a sum may become one operation, which is rounded once. They may by default.
    pub fn fma_contraction(mut self, fma_contraction: bool) -> Self {
        self.fma_contraction = fma_contraction;
        self
    }

    /// Gives arguments of cargo for the crate of kernels: `--features` (or `-F`), `--all-features` and `--no-default-features`. Any other
    /// is an error of [`build`](Self::build).
    pub fn build_args(mut self, args: &[impl AsRef<str>]) -> Self {
        self.features.extend(args.iter().map(|arg| arg.as_ref().to_string()));
        self
    }

    /// Is there for build scripts that call it: the code is compiled as it is by default.
    pub fn nvvm_opts(self, _nvvm_opts: bool) -> Self {
        self
    }

    /// Is there for build scripts that call it: the functions of floats are those of `cuda_std`.
    pub fn override_libm(self, _override_libm: bool) -> Self {
        self
    }

    /// Is ignored with a warning unless `false`: denormal numbers stay what they are.
    pub fn ftz(self, ftz: bool) -> Self {
        self.ignore(ftz, "ftz: denormal numbers of f32 stay what they are")
    }

    /// Is ignored with a warning unless `false`.
    pub fn use_constant_memory_space(self, on: bool) -> Self {
        self.ignore(on, "use_constant_memory_space: constants are in global memory")
    }

    /// Is ignored with a warning unless `false`.
    pub fn generate_line_info(self, on: bool) -> Self {
        self.ignore(on, "generate_line_info: set WARPSMITH_KERNEL_DEBUG=lines for source lines in the PTX")
    }

    /// Is ignored with a warning unless [`DebugInfo::None`].
    pub fn debug(self, debug: DebugInfo) -> Self {
        self.ignore(
            debug != DebugInfo::None,
            "debug: set WARPSMITH_KERNEL_DEBUG=lines for source lines in the PTX",
        )
    }

    /// Is ignored with a warning unless `false`.
    pub fn emit_llvm_ir(self, on: bool) -> Self {
        self.ignore(on, "emit_llvm_ir")
    }

    /// Is ignored with a warning unless `false`.
    pub fn emit_llvm_bitcode(self, on: bool) -> Self {
        self.ignore(on, "emit_llvm_bitcode")
    }

    /// Is ignored with a warning unless `false`: there is nothing that only OptiX reads.
    pub fn optix(self, on: bool) -> Self {
        self.ignore(on, "optix: kernels for OptiX are not supported")
    }

    /// Is ignored with a warning.
    pub fn final_module_path(self, _path: impl AsRef<Path>) -> Self {
        self.ignore(true, "final_module_path")
    }

    fn ignore(mut self, on: bool, what: &'static str) -> Self {
        self.ignored.extend(on.then_some(what));
        self
    }

    /// Compiles the kernels, and returns the file with the PTX.
    ///
    /// With `WARPSMITH_KERNELS=skip` the file has no kernels, and loading it fails.
    ///
    /// # Errors
    /// See [`CudaBuilderError`].
    pub fn build(self) -> Result<PathBuf, CudaBuilderError> {
        if !self.path.join("Cargo.toml").is_file() {
            return Err(CudaBuilderError::CratePathDoesntExist(self.path));
        }
        self.ignored.iter().for_each(|what| println!("cargo::warning=cuda_builder ignores {what}"));
        if self.arch.is_too_old() {
            println!(
                "cargo::warning=cuda_builder compiles for {}, the oldest architecture it knows",
                self.arch.target()
            );
        }
        let out = folder();
        let flags = self.flags();
        let others = (self.arch.target(), self.opt_level, &flags);
        let shadow = shadow::write(&self.path, &out, &self.features, &others)?;
        shadow.watched.iter().for_each(|path| println!("cargo::rerun-if-changed={}", path.display()));
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let outcome = Builder::new(&shadow.folder)
            .target(Target::new(self.arch.target(), self.arch.ptx()))
            .flags(&flags)
            .opt_level(self.opt_level)
            .alloc()
            .out_dir(&shadow.folder)
            .cache_dir(out.join("device"))
            .build()?;
        let text = match outcome {
            Outcome::Kernels(kernels) => {
                let file =
                    kernels.files.first().ok_or_else(|| CudaBuilderError::BuildFailed("no PTX".into()))?;
                let text = fs::read_to_string(&file.path).map_err(CudaBuilderError::FailedToCopyPtxFile)?;
                shared::declare(&text)
            }
            Outcome::Skipped { reason, .. } => format!("// No kernels: {reason}.\n"),
            Outcome::NoToolchain { reason, remedy } => {
                return Err(CudaBuilderError::BuildFailed(format!("{reason}. Remedy: {remedy}")));
            }
        };
        let to = self.copy_to.unwrap_or_else(|| shadow.folder.join("kernels.ptx"));
        let to = absolute(to).map_err(CudaBuilderError::FailedToCopyPtxFile)?;
        put(&to, text.as_bytes()).map_err(CudaBuilderError::FailedToCopyPtxFile)?;
        Ok(to)
    }

    fn flags(&self) -> Vec<String> {
        let mut flags: Vec<String> =
            compile::FLAGS.iter().chain(CRATE_FLAGS).map(ToString::to_string).collect();
        let level = if self.fma_contraction { 2 } else { 0 };
        flags.push(format!("-Cllvm-args=-nvptx-fma-level={level}"));
        flags.extend(self.fast_sqrt.then(|| "-Cllvm-args=-nvptx-prec-sqrtf32=0".into()));
        flags.extend(self.fast_div.then(|| "-Cllvm-args=-nvptx-prec-divf32=0".into()));
        flags
    }
}

/// Returns the folder for all that is written: beside those of the profiles, so that builds of both and of several crates of kernels
/// share what they depend on.
fn folder() -> PathBuf {
    let Some(out) = env::var_os("OUT_DIR").map(PathBuf::from) else { return "target/cuda_builder".into() };
    let of_target = match out.ancestors().nth(2) {
        // target/PROFILE/build/PACKAGE/out
        Some(build) if build.ends_with("build") => out.ancestors().nth(4),
        _ => None,
    };
    of_target.unwrap_or(&out).join("cuda_builder")
}

/// Writes a file, and its folder, unless it has this content: an unchanged time keeps cargo from compiling anew.
fn put(path: &Path, content: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, content)
}
