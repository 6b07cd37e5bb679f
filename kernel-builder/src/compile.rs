//! One run of cargo and rustc: a kernel crate in, raw PTX out.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::process::Command;

use crate::{BuildError, Target, environment, toolchain::Toolchain};

/// Flags for every crate of the device build, `core` included. `docs/toolchain.md` gives the reasons.
pub const FLAGS: &[&str] = &[
    "-Zmir-enable-passes=-JumpThreading",
    "-Zunstable-options",
    "-Cpanic=immediate-abort",
    "-Cpasses=infer-address-spaces",
];

/// Flags for the last crate alone that add source lines to the PTX; the rest stays in cargo's cache.
const LINE_TABLES: &[&str] = &["-Cdebuginfo=line-tables-only", "-Zno-generate-arange-section"];

/// What to compile, with what, to where.
pub struct Job<'a> {
    /// The compiler.
    pub toolchain: &'a Toolchain,
    /// The kernel crate's folder.
    pub crate_dir: PathBuf,
    /// Folder for cargo's files; its own, or the outer cargo's lock would never come free.
    pub target_dir: PathBuf,
    /// The architecture.
    pub target: &'a Target,
    /// [`FLAGS`], unless a test wants to see what happens without one.
    pub flags: &'a [String],
    /// Whether to add line tables.
    pub line_tables: bool,
}

/// Raw PTX and what the compiler said beside it.
pub struct Compiled {
    /// The PTX as rustc wrote it.
    pub ptx: String,
    /// Warnings, as text.
    pub messages: String,
}

impl Job<'_> {
    /// Runs the compiler, or only reads its last result when cargo sees that nothing changed.
    ///
    /// # Errors
    /// [`BuildError::Compile`] with rustc's words, [`BuildError::Io`] when cargo does not start.
    pub fn run(&self) -> Result<Compiled, BuildError> {
        fs::create_dir_all(&self.target_dir).map_err(BuildError::io("cannot make", &self.target_dir))?;
        let raw = self.raw_ptx();
        let output =
            self.command().output().map_err(BuildError::io("cannot start", &self.toolchain.cargo))?;
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            return Err(BuildError::Compile { arch: self.target.arch().into(), messages });
        }
        let ptx = fs::read_to_string(&raw)
            .map_err(BuildError::io("no PTX, delete its folder and build again:", &raw))?;
        Ok(Compiled { ptx, messages })
    }

    /// The inner cargo call.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.toolchain.cargo);
        environment::scrub(&mut command);
        command
            .current_dir(&self.crate_dir)
            .env("RUSTC", &self.toolchain.rustc)
            .env("RUSTC_BOOTSTRAP", "1") // unstable flags and features from a stable compiler
            .env("CARGO_TARGET_DIR", &self.target_dir)
            .env("CARGO_ENCODED_RUSTFLAGS", self.rustflags().join("\x1f")) // wins over every config file
            .args(["rustc", "--quiet", "--release", "--lib", "--locked"])
            .args(["--target", "nvptx64-nvidia-cuda", "-Zbuild-std=core", "--"])
            .arg(format!("--emit=asm={}", self.raw_ptx().display()))
            .arg("-Zno-link")
            .args(self.last_crate_flags());
        command
    }

    fn rustflags(&self) -> Vec<String> {
        let arch = [
            format!("-Ctarget-cpu={}", self.target.arch()),
            format!("-Ctarget-feature=+{}", self.target.ptx()),
        ];
        arch.into_iter().chain(self.flags.iter().cloned()).collect()
    }

    fn last_crate_flags(&self) -> &[&str] {
        if self.line_tables { LINE_TABLES } else { &[] }
    }

    /// Where rustc writes. The name holds all that makes cargo keep results apart: with one name for two
    /// sets of flags, cargo could rightly say "fresh" and leave us with the other set's PTX.
    fn raw_ptx(&self) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        (&self.toolchain.version, &self.toolchain.rustc, self.rustflags(), self.last_crate_flags())
            .hash(&mut hasher);
        self.target_dir.join(format!("raw-{:016x}.ptx", hasher.finish()))
    }
}
