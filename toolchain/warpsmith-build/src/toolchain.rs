//! Finds a compiler that can build kernels: rustc 1.95 or later with the source of `core`.
//!
//! A prebuilt `core` for `nvptx64-nvidia-cuda` (rustup has one) is not enough: it was compiled without `-Cpanic=immediate-abort`,
//! so every panic in it would bring along its message, its call and its stack frame.

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::environment::{self, Variables};

/// The oldest rustc that the kernels' flags are known to work with.
const OLDEST: (u32, u32) = (1, 95);

/// Returns the remedy if no toolchain was found.
pub fn remedy(variables: &Variables) -> String {
    format!(
        "with rustup: `rustup component add rust-src`; \
         with Debian: `apt-get install rustc-web cargo-web rust-web-src`; \
         or name a compiler in {}; {}=skip makes a CPU-only build",
        variables.name(Variables::RUSTC),
        variables.name(Variables::KERNELS)
    )
}

/// A compiler and the cargo that drives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolchain {
    /// The cargo to run.
    pub cargo: PathBuf,
    /// The rustc for cargo to run.
    pub rustc: PathBuf,
    /// The output of `rustc -V`.
    pub version: String,
}

/// The reason why no toolchain is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The toolchain that the user named is unsuitable.
    Named(String),
    /// None of the usual places has a suitable one.
    Everywhere(String),
}

/// Runs a program of a toolchain and returns its standard output.
pub type Ask<'a> = &'a dyn Fn(&Path, &[&str]) -> io::Result<String>;

/// The places to search.
pub struct Search<'a> {
    /// The cargo that the user names, `WARPSMITH_KERNEL_CARGO`.
    pub named_cargo: Option<PathBuf>,
    /// The compiler that the user names, `WARPSMITH_KERNEL_RUSTC`.
    pub named_rustc: Option<PathBuf>,
    /// The compiler of the host's build.
    pub host_rustc: PathBuf,
    /// The folder of the system's own rustc and cargo.
    pub system_bin: PathBuf,
    /// Runs a compiler to query it.
    pub ask: Ask<'a>,
}

impl Search<'_> {
    /// Makes the search of a build script.
    pub fn from_env(variables: &Variables) -> Search<'static> {
        let host_rustc = env::var_os("RUSTC").filter(|value| !value.is_empty());
        Search {
            named_cargo: variables.value(Variables::CARGO).map(PathBuf::from),
            named_rustc: variables.value(Variables::RUSTC).map(PathBuf::from),
            host_rustc: host_rustc.map_or_else(|| "rustc".into(), PathBuf::from),
            system_bin: "/usr/bin".into(),
            ask: &run,
        }
    }

    /// Finds the named toolchain; without a name, the host's own, then the system's.
    ///
    /// # Errors
    /// For every toolchain that was tried, what it lacks.
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

    /// Returns the files whose change can make [`find`](Search::find) succeed where it failed: rustup's list of installed
    /// components and Debian's list of installed packages. All of them exist, because cargo reruns a build script at every build if
    /// a watched file does not.
    pub fn witnesses(&self) -> Vec<PathBuf> {
        let mut files = vec![PathBuf::from("/var/lib/dpkg/status")];
        if let Ok(sysroot) = self.sysroot(&self.host_rustc) {
            files.push(sysroot.join("lib/rustlib/components"));
        }
        files.retain(|file| file.is_file());
        files
    }

    /// Returns the folder of a compiler for the source of `core`, which may not be installed there.
    ///
    /// # Errors
    /// If the compiler does not run.
    pub fn library(&self, rustc: &Path) -> Result<PathBuf, String> {
        Ok(self.sysroot(rustc)?.join("lib/rustlib/src/rust/library"))
    }

    fn sysroot(&self, rustc: &Path) -> Result<PathBuf, String> {
        match (self.ask)(rustc, &["--print", "sysroot"]) {
            Ok(answer) => Ok(PathBuf::from(answer.trim())),
            Err(error) => Err(format!("{} does not run ({error})", rustc.display())),
        }
    }

    /// Returns the toolchain of this rustc, or what it lacks. Uses the sysroot because `rustc` may be rustup's proxy, which would
    /// choose again, and perhaps differently, inside the inner build.
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

/// Parses `rustc 1.95.0 (59807616e 2026-04-14)` as (1, 95).
fn minor_version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.strip_prefix("rustc ")?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Runs the query with the outer build's variables removed, except for the one that tells rustup's proxy which toolchain builds the
/// host.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    /// A folder with fake toolchains, removed at the end of the test.
    struct Fakes(TempDir);

    impl Fakes {
        fn new() -> Fakes {
            Fakes(TempDir::new().unwrap())
        }

        /// Makes a sysroot with rustc and cargo, and these files below `lib/rustlib`.
        fn sysroot(&self, name: &str, rustlib: &[&str]) -> PathBuf {
            let root = self.0.path().join(name);
            let programs =
                ["bin/rustc", "bin/cargo"].map(|p| root.join(format!("{p}{}", env::consts::EXE_SUFFIX)));
            for file in programs.into_iter().chain(rustlib.iter().map(|f| root.join("lib/rustlib").join(f))) {
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, "").unwrap();
            }
            root
        }
    }

    const CORE: &str = "src/rust/library/core/Cargo.toml";

    /// Answers for a compiler whose sysroot is two folders up, and whose version is the sysroot's name.
    fn answer(program: &Path, args: &[&str]) -> io::Result<String> {
        let root = program.ancestors().nth(2).filter(|_| program.is_file());
        let root = root.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        let version = root.file_name().unwrap().to_str().unwrap();
        Ok(if args == ["-V"] { format!("rustc {version} (x)\n") } else { format!("{}\n", root.display()) })
    }

    fn search(host: &Path, system: &Path) -> Search<'static> {
        let host_rustc = host.join("bin").join(format!("rustc{}", env::consts::EXE_SUFFIX));
        let system_bin = system.join("bin");
        Search { named_cargo: None, named_rustc: None, host_rustc, system_bin, ask: &answer }
    }

    fn everywhere(search: &Search) -> String {
        match search.find() {
            Err(Missing::Everywhere(reason)) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_hosts_compiler_comes_first() {
        let fakes = Fakes::new();
        let (host, system) = (fakes.sysroot("1.95.0", &[CORE]), fakes.sysroot("1.96.0", &[CORE]));
        let found = search(&host, &system).find().unwrap();
        assert_eq!(found.version, "rustc 1.95.0 (x)");
        assert!(found.cargo.starts_with(&host) && found.rustc.starts_with(&host));
    }

    #[cfg(unix)] // the system's compiler is looked for under its Unix name
    #[test]
    fn without_core_s_source_the_systems_compiler_is_next() {
        let fakes = Fakes::new();
        let host = fakes.sysroot("1.97.0", &["nvptx64-nvidia-cuda/lib/libcore.rlib"]);
        let system = fakes.sysroot("1.96.0", &[CORE]);
        assert_eq!(search(&host, &system).find().unwrap().version, "rustc 1.96.0 (x)");
        let reason = everywhere(&search(&host, &host));
        assert!(reason.contains("lacks the source of core (its prebuilt core"), "{reason}");
        assert!(!reason.contains("; "), "the same compiler is named twice: {reason}");
    }

    #[test]
    fn every_reason_is_told() {
        let fakes = Fakes::new();
        let host = fakes.sysroot("1.94.1", &[CORE]);
        let reason = everywhere(&search(&host, &fakes.0.path().join("nothing")));
        assert!(reason.contains("rustc 1.94.1") && reason.contains("older than 1.95"), "{reason}");
        assert!(reason.contains("nothing") && reason.contains("does not run"), "{reason}");
    }

    #[test]
    fn a_named_compiler_is_used_or_refused_but_never_replaced() {
        let fakes = Fakes::new();
        let (host, named) = (fakes.sysroot("1.95.0", &[CORE]), fakes.sysroot("1.98.0", &[CORE]));
        let mut search = search(&host, &host);
        search.named_rustc = Some(named.join("bin").join(format!("rustc{}", env::consts::EXE_SUFFIX)));
        search.named_cargo = Some("my-cargo".into());
        let found = search.find().unwrap();
        assert_eq!((found.version.as_str(), found.cargo), ("rustc 1.98.0 (x)", PathBuf::from("my-cargo")));
        search.named_rustc = Some("no/such/rustc".into());
        assert!(matches!(search.find(), Err(Missing::Named(reason)) if reason.contains("no/such/rustc")));
    }

    #[test]
    fn a_rustup_sysroot_has_a_witness() {
        let fakes = Fakes::new();
        let host = fakes.sysroot("1.95.0", &["components"]);
        assert!(search(&host, &host).witnesses().contains(&host.join("lib/rustlib/components")));
    }

    #[test]
    fn versions_are_read() {
        assert_eq!(minor_version("rustc 1.97.0-nightly (e50aa6fba 2026-05-19)"), Some((1, 97)));
        assert_eq!(minor_version("clippy 0.1"), None);
    }
}
