//! Finds a compiler that can build kernels: rustc 1.95 or later with the source of `core`.
//!
//! A prebuilt `core` for `nvptx64-nvidia-cuda` (rustup has one) is not enough: it was compiled without
//! `-Cpanic=immediate-abort`, so every panic in it would bring its message, its call and its stack frame.

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::environment;

/// The oldest rustc the kernels' flags are known to work with.
const OLDEST: (u32, u32) = (1, 95);

/// What to do when nothing was found.
pub const REMEDY: &str = "with rustup: `rustup component add rust-src`; \
    with Debian: `apt-get install rustc-web cargo-web rust-web-src`; \
    or name a compiler in ANTWARP_KERNEL_RUSTC; ANTWARP_KERNELS=skip builds for the CPU alone";

/// A compiler and the cargo that drives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolchain {
    /// The cargo to run.
    pub cargo: PathBuf,
    /// The rustc that cargo is to run.
    pub rustc: PathBuf,
    /// What `rustc -V` says.
    pub version: String,
}

/// Why no toolchain is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The user named one and it does not do.
    Named(String),
    /// None of the usual places has one.
    Everywhere(String),
}

/// Runs a program of a toolchain and returns its standard output.
pub type Ask<'a> = &'a dyn Fn(&Path, &[&str]) -> io::Result<String>;

/// Where to look.
pub struct Search<'a> {
    /// `ANTWARP_KERNEL_CARGO`.
    pub named_cargo: Option<PathBuf>,
    /// `ANTWARP_KERNEL_RUSTC`.
    pub named_rustc: Option<PathBuf>,
    /// The compiler of the host's build.
    pub host_rustc: PathBuf,
    /// The folder of the system's own rustc and cargo.
    pub system_bin: PathBuf,
    /// How to ask a compiler about itself.
    pub ask: Ask<'a>,
}

impl Search<'_> {
    /// The search a build script makes.
    pub fn from_env() -> Search<'static> {
        let path = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Search {
            named_cargo: path("ANTWARP_KERNEL_CARGO"),
            named_rustc: path("ANTWARP_KERNEL_RUSTC"),
            host_rustc: path("RUSTC").unwrap_or_else(|| "rustc".into()),
            system_bin: "/usr/bin".into(),
            ask: &run,
        }
    }

    /// The named toolchain or nothing; without a name the host's own, then the system's.
    ///
    /// # Errors
    /// Says of every toolchain that was looked at what it lacks.
    pub fn find(&self) -> Result<Toolchain, Missing> {
        if self.named_cargo.is_some() || self.named_rustc.is_some() {
            let rustc = self.named_rustc.as_ref().unwrap_or(&self.host_rustc);
            return self.inspect(rustc).map_err(Missing::Named);
        }
        let mut reasons = Vec::new();
        for rustc in [self.host_rustc.clone(), self.system_bin.join("rustc")] {
            match self.inspect(&rustc) {
                Ok(toolchain) => return Ok(toolchain),
                Err(reason) if reasons.contains(&reason) => {} // the host's compiler is the system's
                Err(reason) => reasons.push(reason),
            }
        }
        Err(Missing::Everywhere(reasons.join("; ")))
    }

    /// Files whose change can make [`find`](Search::find) succeed where it failed: rustup's list of installed
    /// components and Debian's of installed packages. All exist, as cargo runs a build script anew at every
    /// build when a file that it watches does not.
    pub fn witnesses(&self) -> Vec<PathBuf> {
        let mut files = vec![PathBuf::from("/var/lib/dpkg/status")];
        if let Ok(sysroot) = self.sysroot(&self.host_rustc) {
            files.push(sysroot.join("lib/rustlib/components"));
        }
        files.retain(|file| file.is_file());
        files
    }

    fn sysroot(&self, rustc: &Path) -> Result<PathBuf, String> {
        match (self.ask)(rustc, &["--print", "sysroot"]) {
            Ok(answer) => Ok(PathBuf::from(answer.trim())),
            Err(error) => Err(format!("{} does not run ({error})", rustc.display())),
        }
    }

    /// The toolchain of this rustc, or what it lacks. Goes through the sysroot because `rustc` may be
    /// rustup's proxy, which would choose anew, and perhaps otherwise, inside the inner build.
    fn inspect(&self, rustc: &Path) -> Result<Toolchain, String> {
        let sysroot = self.sysroot(rustc)?;
        let program = |name: &str| {
            Some(sysroot.join("bin").join(format!("{name}{}", env::consts::EXE_SUFFIX)))
                .filter(|path| path.is_file())
        };
        let rustc = program("rustc").unwrap_or_else(|| rustc.to_path_buf());
        let version = (self.ask)(&rustc, &["-V"]).map_err(|e| format!("{} ({e})", rustc.display()))?;
        let version = version.trim().to_string();
        let at = format!("{version} in {}", sysroot.display());
        if minor_version(&version).is_none_or(|v| v < OLDEST) {
            return Err(format!("{at} is older than {}.{}", OLDEST.0, OLDEST.1));
        }
        let rustlib = sysroot.join("lib/rustlib");
        if !rustlib.join("src/rust/library/core/Cargo.toml").is_file() {
            let prebuilt = rustlib.join("nvptx64-nvidia-cuda/lib").is_dir();
            let but = if prebuilt { " (its prebuilt core for nvptx64 is not enough)" } else { "" };
            return Err(format!("{at} lacks the source of core{but}"));
        }
        let cargo = self.named_cargo.clone().or_else(|| program("cargo"));
        let cargo = cargo.ok_or_else(|| format!("{at} lacks cargo"))?;
        Ok(Toolchain { cargo, rustc, version })
    }
}

/// `rustc 1.95.0 (59807616e 2026-04-14)` is (1, 95).
fn minor_version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.strip_prefix("rustc ")?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Asks with the outer build's variables removed, except for the one by which rustup's proxy knows which
/// toolchain builds the host.
fn run(program: &Path, args: &[&str]) -> io::Result<String> {
    let mut command = Command::new(program);
    environment::scrub(&mut command);
    if let Some(name) = env::var_os("RUSTUP_TOOLCHAIN") {
        command.env("RUSTUP_TOOLCHAIN", name);
    }
    let output = command.args(args).output()?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_string()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
