//! The builder that a build script calls, and its results.

use std::env;
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

use crate::compile::{self, Job};
use crate::packaged::{self, Packaged};
use crate::toolchain::{self, Missing, Search, Toolchain};
use crate::{BuildError, ptx};

/// An architecture to compile for: its PTX also runs on everything newer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    arch: String,
    ptx: String,
}

impl Target {
    /// Makes a target, for example `("sm_90", "ptx80")`. Always name the PTX version: rustc's defaults are old.
    pub fn new(arch: &str, ptx: &str) -> Target {
        Target { arch: arch.into(), ptx: ptx.into() }
    }

    /// Returns the architecture, as in `sm_90`.
    pub fn arch(&self) -> &str {
        &self.arch
    }

    /// Returns the PTX version, as in `ptx80`.
    pub fn ptx(&self) -> &str {
        &self.ptx
    }

    /// Returns ten times the compute capability: 90 for `sm_90`; 0 for a name without a number.
    pub fn compute_capability(&self) -> u32 {
        self.arch.trim_start_matches("sm_").trim_end_matches('a').parse().unwrap_or(0)
    }
}

/// One checked PTX file.
#[derive(Debug)]
pub struct PtxFile {
    /// The target that it was compiled for.
    pub target: Target,
    /// The text.
    pub path: PathBuf,
    /// A file next to it, with every finding of the checks and the compiler's messages.
    pub report: PathBuf,
}

/// Compiled kernels.
#[derive(Debug)]
pub struct Kernels {
    /// The output of `rustc -V` of the kernels' compiler.
    pub rustc: String,
    /// A number that changes with the sources and the flags.
    pub fingerprint: u64,
    /// One file per target, in the order in which they were requested.
    pub files: Vec<PtxFile>,
}

/// The outcome of a build that did not fail.
#[derive(Debug)]
pub enum Outcome {
    /// There are kernels.
    Kernels(Kernels),
    /// This machine cannot compile kernels: a CPU-only build.
    NoToolchain {
        /// What was tried and what it lacks.
        reason: String,
        /// What to install or to set.
        remedy: String,
    },
    /// `ANTWARP_KERNELS=skip`: a CPU-only build on purpose.
    Skipped,
}

/// The mode that `ANTWARP_KERNELS` asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Auto,
    Skip,
    Require,
}

impl Mode {
    fn from_env() -> Result<Mode, BuildError> {
        match env::var("ANTWARP_KERNELS").unwrap_or_default().as_str() {
            // docs.rs has a toolchain but no network, and documentation needs no kernels.
            "" if env::var_os("DOCS_RS").is_some() => Ok(Mode::Skip),
            "" | "auto" => Ok(Mode::Auto),
            "skip" => Ok(Mode::Skip),
            "require" => Ok(Mode::Require),
            word => Err(BuildError::Mode(word.into())),
        }
    }
}

/// Compiles a kernel crate for several architectures and checks the result.
#[derive(Debug)]
pub struct KernelBuilder {
    crate_dir: PathBuf,
    targets: Vec<Target>,
    dependencies: Vec<(String, PathBuf)>,
    one_barrier: Vec<String>,
    flags: Vec<String>,
    out_dir: Option<PathBuf>,
    cache_dir: Option<PathBuf>,
    packaged: Option<PathBuf>,
}

impl KernelBuilder {
    /// Makes a builder. `crate_dir` is relative to the package of the calling build script. It holds the crate's `src`, its
    /// `Cargo.lock`, and `Cargo.toml.in`: a manifest with `{crate}` in place of this folder. A file named `Cargo.toml` would make
    /// cargo leave the folder out of the package.
    pub fn new(crate_dir: impl AsRef<Path>) -> KernelBuilder {
        KernelBuilder {
            crate_dir: crate_dir.as_ref().to_path_buf(),
            targets: Vec::new(),
            dependencies: Vec::new(),
            one_barrier: Vec::new(),
            flags: compile::FLAGS.iter().map(ToString::to_string).collect(),
            out_dir: None,
            cache_dir: None,
            packaged: None,
        }
    }

    /// Adds an architecture.
    pub fn target(mut self, target: Target) -> Self {
        self.targets.push(target);
        self
    }

    /// Gives the source folder of a crate that the kernels depend on: `Cargo.toml.in` has the crate's name in braces as its path.
    /// Changes to it rebuild the kernels.
    pub fn dependency(mut self, name: &str, crate_dir: impl AsRef<Path>) -> Self {
        self.dependencies.push((name.into(), crate_dir.as_ref().to_path_buf()));
        self
    }

    /// Names a canary: the build fails unless this kernel contains exactly one barrier.
    pub fn expect_one_barrier(mut self, kernel: &str) -> Self {
        self.one_barrier.push(kernel.into());
        self
    }

    /// Replaces the compiler flags, [`compile::FLAGS`]: for tests that show what happens without one of them.
    pub fn flags(mut self, flags: &[&str]) -> Self {
        self.flags = flags.iter().map(ToString::to_string).collect();
        self
    }

    /// Puts the PTX and the module here instead of in `OUT_DIR`.
    pub fn out_dir(mut self, dir: impl AsRef<Path>) -> Self {
        self.out_dir = Some(dir.as_ref().to_path_buf());
        self
    }

    /// Puts the inner cargo's files here instead of in `OUT_DIR/device`.
    pub fn cache_dir(mut self, dir: impl AsRef<Path>) -> Self {
        self.cache_dir = Some(dir.as_ref().to_path_buf());
        self
    }

    /// Takes the kernels from this folder, if there are any and they were compiled from the same sources: what
    /// [`Kernels::pack`] wrote, in a published package.
    pub fn packaged(mut self, dir: impl AsRef<Path>) -> Self {
        self.packaged = Some(dir.as_ref().to_path_buf());
        self
    }

    /// Takes packaged kernels, or finds a toolchain, compiles and checks, and tells cargo what to watch and what to warn about.
    ///
    /// # Errors
    /// For everything except a missing toolchain, and for that too with `ANTWARP_KERNELS=require`.
    pub fn build(self) -> Result<Outcome, BuildError> {
        self.tell_cargo_what_to_watch();
        let mode = Mode::from_env()?;
        if mode == Mode::Skip {
            return Ok(Outcome::Skipped);
        }
        if let Some(kernels) = self.unpack()? {
            return Ok(Outcome::Kernels(kernels));
        }
        let search = Search::from_env();
        let remedy = toolchain::REMEDY.to_string();
        match search.find() {
            Ok(toolchain) => self.build_with(&toolchain).map(Outcome::Kernels),
            Err(Missing::Everywhere(reason)) if mode == Mode::Auto => {
                search.witnesses().iter().for_each(|file| rerun_if_changed(file));
                println!("cargo::warning=no GPU kernels, CPU-only build: {reason}");
                println!("cargo::warning=for GPU kernels, {remedy}");
                Ok(Outcome::NoToolchain { reason, remedy })
            }
            Err(Missing::Everywhere(reason) | Missing::Named(reason)) => {
                Err(BuildError::Toolchain { reason, remedy })
            }
        }
    }

    /// Compiles and checks with a given toolchain.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn build_with(&self, toolchain: &Toolchain) -> Result<Kernels, BuildError> {
        rerun_if_changed(&toolchain.rustc);
        let jobs: Vec<Job<'_>> = self.targets.iter().map(|target| self.job(toolchain, target)).collect();
        Job::share_dependencies(&jobs);
        // Each target keeps only one processor busy: rustc writes one text, in one unit.
        let files: Vec<Result<PtxFile, BuildError>> = thread::scope(|scope| {
            let builds: Vec<_> = jobs.iter().map(|job| scope.spawn(|| self.build_target(job))).collect();
            builds
                .into_iter()
                .map(|build| build.join().unwrap_or_else(|panic| resume_unwind(panic)))
                .collect()
        });
        let files = files.into_iter().collect::<Result<_, _>>()?;
        Ok(Kernels { rustc: toolchain.version.clone(), fingerprint: self.fingerprint()?, files })
    }

    /// Returns the kernels in the package, if they were compiled from the same sources.
    fn unpack(&self) -> Result<Option<Kernels>, BuildError> {
        let Some(folder) = self.packaged.as_ref().filter(|folder| folder.exists()) else { return Ok(None) };
        rerun_if_changed(folder);
        let out = self.out_dir_or_default();
        match packaged::unpack(folder, &self.targets, self.fingerprint()?, &out)? {
            Packaged::Kernels(kernels) => Ok(Some(kernels)),
            Packaged::Missing => Ok(None),
            Packaged::Other => {
                let folder = folder.display();
                println!("cargo::warning={folder} has kernels of other sources: they are compiled anew");
                Ok(None)
            }
        }
    }

    /// Returns a number that changes with the sources of the kernels and of the crates that they depend on, and with the flags.
    fn fingerprint(&self) -> Result<u64, BuildError> {
        let crates = self.dependencies.iter().map(|(_, dir)| dir).chain([&self.crate_dir]);
        let sources: Vec<PathBuf> = crates.map(|dir| dir.join("src")).collect();
        let more = format!("{:?} {:?}", self.targets, self.flags);
        packaged::fingerprint(&sources, &more)
            .map_err(BuildError::io("cannot read the sources of", &self.crate_dir))
    }

    fn out_dir_or_default(&self) -> PathBuf {
        self.out_dir.clone().unwrap_or_else(out_dir_from_env)
    }

    fn job<'a>(&'a self, toolchain: &'a Toolchain, target: &'a Target) -> Job<'a> {
        Job {
            toolchain,
            crate_dir: &self.crate_dir,
            dependencies: &self.dependencies,
            // A build script may write only to OUT_DIR. Cargo keeps that folder from build to build.
            cache_dir: self.cache_dir.clone().unwrap_or_else(|| self.out_dir_or_default().join("device")),
            target,
            flags: &self.flags,
            line_tables: env::var_os("ANTWARP_KERNEL_DEBUG").is_some_and(|value| !value.is_empty()),
        }
    }

    fn build_target(&self, job: &Job<'_>) -> Result<PtxFile, BuildError> {
        let (target, arch) = (job.target, job.target.arch());
        let out = self.out_dir_or_default();
        let compiled = job.run()?;
        let refuse = |faults| BuildError::Check { arch: arch.into(), faults };
        let text = ptx::finish(&compiled.ptx, arch).map_err(|fault| refuse(vec![fault]))?;
        let report = ptx::check(&text, &self.one_barrier);

        let file = PtxFile {
            target: target.clone(),
            path: out.join(format!("kernels-{arch}.ptx")),
            report: out.join(format!("kernels-{arch}.report.txt")),
        };
        write(&file.path, &text)?;
        write(&file.report, &format!("{report}{}", compiled.messages))?;
        let warnings = compiler_warnings(&compiled.messages);
        let all: Vec<String> = report.summary().into_iter().chain(warnings).collect();
        if !all.is_empty() {
            println!("cargo::warning=kernels for {arch}: {}; see {}", all.join("; "), file.report.display());
        }
        if report.faults.is_empty() { Ok(file) } else { Err(refuse(report.faults)) }
    }

    fn tell_cargo_what_to_watch(&self) {
        for dir in self.dependencies.iter().map(|(_, dir)| dir).chain([&self.crate_dir]) {
            let files = ["src", "Cargo.toml", "Cargo.toml.in", "Cargo.lock"].map(|name| dir.join(name));
            files.iter().filter(|file| file.exists()).for_each(|file| rerun_if_changed(file));
        }
        let ours = ["KERNELS", "KERNEL_CARGO", "KERNEL_RUSTC", "KERNEL_DEBUG"];
        ours.iter().for_each(|name| println!("cargo::rerun-if-env-changed=ANTWARP_{name}"));
    }
}

fn rerun_if_changed(file: &Path) {
    println!("cargo::rerun-if-changed={}", file.display());
}

fn write(path: &Path, text: &str) -> Result<(), BuildError> {
    fs::write(path, text).map_err(BuildError::io("cannot write", path))
}

/// Returns `OUT_DIR`; the current folder if the caller is not a build script.
pub(crate) fn out_dir_from_env() -> PathBuf {
    env::var_os("OUT_DIR").map_or_else(|| ".".into(), PathBuf::from)
}

/// Returns one line for rustc's warnings, except the one that every build has: that PTX versions are not stable.
fn compiler_warnings(messages: &str) -> Option<String> {
    let boring = |line: &&str| line.contains("`-Ctarget-feature`") || line.contains(" generated ");
    let warnings: Vec<&str> =
        messages.lines().filter(|line| line.starts_with("warning")).filter(|line| !boring(line)).collect();
    warnings.first().map(|first| format!("{} compiler warnings (first: {first})", warnings.len()))
}
