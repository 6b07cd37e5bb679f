//! One run of cargo and rustc: kernels in, raw PTX out.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::ptx::{Finding, Kind};
use crate::source::{Crates, Manifest, Source};
use crate::{BuildError, Target, environment, ir, toolchain::Toolchain};

/// Flags for every crate of the device build, `core` included; only the last crate also gets its architecture. `docs/toolchain.md`
/// gives the reasons.
pub const FLAGS: &[&str] = &[
    "-Zmir-enable-passes=-JumpThreading",
    "-Zmir-enable-passes=-MatchBranchSimplification",
    "-Zunstable-options",
    SILENT_PANIC,
    "-Cpasses=infer-address-spaces",
    "-Cllvm-args=-opt-disable=slsr",
];

/// The flag by which a panic ends a kernel without a message, and that by which it calls the panic handler.
const SILENT_PANIC: &str = "-Cpanic=immediate-abort";
const REPORTED_PANIC: &str = "-Cpanic=abort";
/// The flag by which the last crate checks arithmetic, and `debug_assert!`.
const DEBUG_ASSERTIONS: &str = "-Cdebug-assertions=yes";

/// What the kernels contain for debugging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Debug {
    /// Nothing.
    No,
    /// Line tables, for profilers. The code is the same.
    Lines,
    /// Line tables, and other code: debug assertions, and panics that reach the host with message, file and line.
    Panics,
}

impl Debug {
    /// Reads the value of `KERNEL_DEBUG`: nothing or `0` for no debugging, `lines`, or anything else for all of it.
    pub fn from_value(value: Option<&OsStr>) -> Debug {
        match value {
            None => Debug::No,
            Some(value) if value == "0" => Debug::No,
            Some(value) if value == "lines" => Debug::Lines,
            Some(_) => Debug::Panics,
        }
    }

    /// Returns the flags for every crate, made of those without debugging.
    pub(crate) fn flags(self, flags: &[String]) -> Vec<String> {
        let of = |flag: &String| match flag.as_str() {
            SILENT_PANIC if self == Debug::Panics => REPORTED_PANIC.to_string(),
            _ => flag.clone(),
        };
        flags.iter().map(of).collect()
    }

    /// Returns flags for the last crate. Panics name files as the host's do, relative to the package.
    pub(crate) fn last_crate_flags(self, package: &Path) -> Vec<String> {
        if self != Debug::Panics {
            return Vec::new();
        }
        let relative = format!("--remap-path-prefix={}=", package.display());
        vec![DEBUG_ASSERTIONS.to_string(), relative, "--remap-path-scope=macro".to_string()]
    }
}

/// The crates of the standard library that kernels with an allocator need.
pub(crate) const WITH_ALLOC: &str = "core,alloc";

/// Flags for the last crate only, which add source lines; the rest stays in cargo's cache.
const LINE_TABLES: &[&str] = &["-Cdebuginfo=line-tables-only", "-Zno-generate-arange-section"];

/// Cargo compiles it for whatever needs `core`, but it takes no part in link-time optimisation, so the PTX has nothing of it. Without
/// optimisation that takes half as long.
const QUICK_BUILTINS: &[&str] = &[
    "profile.release.package.compiler_builtins.opt-level=0",
    "profile.release.package.compiler_builtins.codegen-units=1",
];

/// How LLVM ends, without a place, when it wants to call a function that GPUs do not have.
const NO_LIBRARY_CALL: &str = "unsupported library call operation";
const WIDE_CONVERSION: &str = "help: LLVM cannot convert between 128-bit integers and floats on GPUs. Look for `as f32` and `as f64` \
    of a `u128` or `i128`, and for the way back, and convert the halves: `(x >> 64) as u64 as f64 * 2f64.powi(64) + x as u64 as f64`.\n";

const UNKNOWN_CFG: &str = "help: the kernels are compiled for the host and for the GPU, and every `cfg` must be the same in both. The features of \
    the package are; declare others in the build script, with `Builder::cfg`, instead of by `cargo::rustc-cfg` or RUSTFLAGS.\n";

/// A compilation: its input, compiler and output folder.
pub struct Job<'a> {
    /// The compiler.
    pub toolchain: &'a Toolchain,
    /// The kernels.
    pub source: &'a Source,
    /// Names and folders of the crates that they depend on.
    pub dependencies: &'a [(String, PathBuf)],
    /// Folder for manifests and for cargo's files; separate, or the build would wait forever for the outer cargo's lock.
    pub cache_dir: PathBuf,
    /// The architecture.
    pub target: &'a Target,
    /// [`FLAGS`], unless a test shows what happens without one of them.
    pub flags: &'a [String],
    /// The profile's settings, as `--config` takes them.
    pub profile: &'a [String],
    /// Further flags for the last crate: what its `cfg` sees.
    pub cfgs: Vec<String>,
    /// Crates of the standard library to compile, as in `core,alloc`.
    pub std_crates: &'a str,
    /// What makes a build without kernels, for messages.
    pub skip: String,
}

/// Raw PTX and the compiler's messages.
pub struct Compiled {
    /// The PTX as rustc wrote it.
    pub ptx: String,
    /// What LLVM's form of the kernels shows.
    pub findings: Vec<Finding>,
    /// Warnings, as text.
    pub messages: String,
    /// The source files that were read, of the kernels and of the crates beside them.
    pub files: Vec<PathBuf>,
    /// The environment's variables that they read, by `env!` and the like.
    pub variables: Vec<String>,
}

impl Job<'_> {
    /// Compiles what the kernels depend on, `core` above all, once for all jobs that have not compiled it yet. It is the same for
    /// every architecture. If it fails, the jobs compile it themselves and say why.
    pub fn share_dependencies(jobs: &[Job<'_>]) {
        let new: Vec<&Job<'_>> = jobs.iter().filter(|job| !job.target_dir().exists()).collect();
        if let [first, others @ ..] = new.as_slice()
            && !others.is_empty()
        {
            let shared = first.cache_dir.join("dependencies");
            let _ = first.compile_dependencies(&shared).and_then(|()| {
                others.iter().try_for_each(|job| copy(&shared, &job.target_dir()))?;
                fs::rename(&shared, first.target_dir())
            });
        }
    }

    /// Compiles a crate without kernels in the place of the crate, in this folder.
    fn compile_dependencies(&self, target_dir: &Path) -> io::Result<()> {
        let manifest = self.source.write_manifest_without_kernels(&self.cache_dir, &self.crates());
        let Some(manifest) = manifest.map_err(io::Error::other)? else {
            return Err(io::Error::other("only cargo knows the dependencies"));
        };
        let output = self.command(&manifest, target_dir, &self.cache_dir.join("none.ptx")).output()?;
        if output.status.success() { Ok(()) } else { Err(io::Error::other("not compiled")) }
    }

    /// Runs the compiler, or only reads its last result if cargo finds that nothing changed.
    ///
    /// # Errors
    /// [`BuildError::Compile`] with rustc's messages, [`BuildError::Input`] if there is a comma in the path of the PTX,
    /// [`BuildError::Io`] if cargo does not start or a file cannot be read or written.
    pub fn run(&self) -> Result<Compiled, BuildError> {
        let target_dir = self.target_dir();
        fs::create_dir_all(&target_dir).map_err(BuildError::io("cannot make", &target_dir))?;
        let raw = self.raw_ptx()?;
        if raw.to_string_lossy().contains(',') {
            return Err(BuildError::Input(format!(
                "rustc cannot write the kernels to {}, because a comma ends the name of a file for it: build in a folder without \
                 one, for example with CARGO_TARGET_DIR",
                raw.display()
            )));
        }
        let manifest = self.source.write_manifest(&self.cache_dir, &self.crates())?;
        let mut command = self.command(&manifest, &target_dir, &raw);
        let output = command.output().map_err(BuildError::io("cannot start", &self.toolchain.cargo))?;
        let mut messages = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            if messages.contains(NO_LIBRARY_CALL) {
                messages.push_str(WIDE_CONVERSION);
            }
            if messages.contains("unexpected `cfg` condition name") {
                messages.push_str(UNKNOWN_CFG);
            }
            let skip = self.skip.clone();
            return Err(BuildError::Compile { arch: self.target.arch().into(), messages, skip });
        }
        let ptx = fs::read_to_string(&raw)
            .map_err(BuildError::io("no PTX, delete its folder and build again:", &raw))?;
        let (files, variables) = (self.files(&target_dir)?, variables_below(&target_dir));
        Ok(Compiled { ptx, findings: findings_beside(&raw)?, messages, files, variables })
    }

    /// Returns the files that cargo lists beside the library which it made of them.
    fn files(&self, target_dir: &Path) -> Result<Vec<PathBuf>, BuildError> {
        let Some(name) = self.source.library()? else { return Ok(Vec::new()) };
        let list = target_dir.join(format!("nvptx64-nvidia-cuda/release/lib{name}.d"));
        Ok(fs::read_to_string(list).map(|list| listed_files(&list)).unwrap_or_default())
    }

    /// Returns the crates that the kernels use.
    fn crates(&self) -> Crates<'_> {
        Crates { named: self.dependencies, alloc: self.std_crates == WITH_ALLOC }
    }

    /// Makes the inner cargo call.
    fn command(&self, manifest: &Manifest, target_dir: &Path, raw: &Path) -> Command {
        let mut command = Command::new(&self.toolchain.cargo);
        environment::scrub(&mut command);
        command
            .current_dir(self.source.folder())
            .env("RUSTC", &self.toolchain.rustc)
            .env("RUSTC_BOOTSTRAP", "1") // unstable flags and features from a stable compiler
            .env("CARGO_TARGET_DIR", target_dir)
            .env("CARGO_ENCODED_RUSTFLAGS", self.flags.join("\x1f")) // wins over every config file
            // A static library contains all code, like a program, and needs no linker. Cargo recompiles if it is missing.
            .args(["rustc", "--quiet", "--release", "--lib", "--crate-type=staticlib"])
            .args(manifest.locked.then_some("--locked"))
            .args(QUICK_BUILTINS.iter().flat_map(|setting| ["--config", setting]))
            .args(self.profile.iter().flat_map(|setting| ["--config", setting]))
            .args(["--target", "nvptx64-nvidia-cuda"])
            .arg(format!("-Zbuild-std={}", self.std_crates))
            .arg("--manifest-path")
            .arg(&manifest.path)
            .arg("--")
            .arg(format!("--emit=asm={},llvm-ir={}", raw.display(), raw.with_extension("ll").display()))
            .args(self.last_crate_flags());
        command
    }

    /// The architecture is the last crate's alone: all code is generated there, and so the crates before it serve every architecture.
    pub(crate) fn last_crate_flags(&self) -> Vec<String> {
        let arch = [
            format!("-Ctarget-cpu={}", self.target.arch()),
            format!("-Ctarget-feature=+{}", self.target.ptx()),
        ];
        let lines = LINE_TABLES.iter().map(ToString::to_string);
        arch.into_iter().chain(lines).chain(self.cfgs.iter().cloned()).collect()
    }

    fn target_dir(&self) -> PathBuf {
        self.cache_dir.join(self.target.arch())
    }

    /// Returns where rustc writes. The name includes everything by which cargo distinguishes results: with one name for two crates
    /// or sets of flags, cargo could rightly say "fresh" and leave us with the other's PTX.
    fn raw_ptx(&self) -> Result<PathBuf, BuildError> {
        let compiler = (&self.toolchain.version, &self.toolchain.rustc);
        let of = (compiler, self.flags, self.profile, self.std_crates, self.last_crate_flags());
        Ok(self.target_dir().join(format!("{}.ptx", self.source.unique_name(&of)?)))
    }
}

/// Returns what LLVM's form of the kernels shows, beside their PTX. It is many times larger than the PTX, so it is read once, and its
/// findings stay in its place: cargo does not write it again if nothing changed.
fn findings_beside(raw: &Path) -> Result<Vec<Finding>, BuildError> {
    let (ir, kept) = (raw.with_extension("ll"), raw.with_extension("findings"));
    if ir.exists() {
        let text = fs::read(&ir).map_err(BuildError::io("cannot read", &ir))?;
        let lines: String = ir::findings(&String::from_utf8_lossy(&text)).iter().map(line).collect();
        fs::write(&kept, lines).map_err(BuildError::io("cannot write", &kept))?;
        fs::remove_file(&ir).map_err(BuildError::io("cannot remove", &ir))?;
    }
    let text = fs::read_to_string(&kept).map_err(BuildError::io("cannot read", &kept))?;
    Ok(text.lines().filter_map(finding).collect())
}

/// Returns a finding as it is kept in a file.
pub(crate) fn line(found: &Finding) -> String {
    format!("{}\t{}\t{}\n", found.kind, found.kernel, found.text)
}

/// Reads such a line.
pub(crate) fn finding(line: &str) -> Option<Finding> {
    let mut parts = line.splitn(3, '\t');
    let (kind, kernel) = (Kind::parse(parts.next()?)?, parts.next()?.to_string());
    Some(Finding { kernel, kind, text: parts.next()?.to_string() })
}

/// Returns the variables that rustc's lists in this folder of cargo's name, for all crates that were compiled in it. Cargo's own follow
/// from the manifests, and the inner build does not see those of the outer one.
fn variables_below(target_dir: &Path) -> Vec<String> {
    let lists =
        ["nvptx64-nvidia-cuda/release/deps", "release/deps"].map(|name| fs::read_dir(target_dir.join(name)));
    let lists = lists.into_iter().flatten().flatten().flatten().map(|entry| entry.path());
    let lists = lists.filter(|path| path.extension().is_some_and(|extension| extension == "d"));
    let names: BTreeSet<String> = lists
        .flat_map(|list| listed_variables(&fs::read_to_string(list).unwrap_or_default()))
        .filter(|name| !environment::belongs_to_outer_build(name))
        .collect();
    names.into_iter().collect()
}

/// Returns the names in lines such as `# env-dep:NAME=VALUE`, without a value for a variable that was not set.
fn listed_variables(list: &str) -> Vec<String> {
    let lines = list.lines().filter_map(|line| line.strip_prefix("# env-dep:"));
    lines.filter_map(|line| line.split('=').next()).map(str::to_string).collect()
}

/// Returns the files in cargo's list `result: file file ..`, where a space within a name has a backslash before it.
fn listed_files(list: &str) -> Vec<PathBuf> {
    let Some((_, names)) = list.lines().next().and_then(|line| line.split_once(": ")) else {
        return Vec::new();
    };
    let names = names.replace("\\ ", "\0");
    names.split(' ').filter(|name| !name.is_empty()).map(|name| name.replace('\0', " ").into()).collect()
}

/// Copies a folder of cargo's, with the times of its files, by which cargo knows what is fresh. A partial copy is never visible.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let part = to.with_added_extension("part");
    let _ = fs::remove_dir_all(&part);
    copy_into(from, &part)?;
    fs::rename(part, to)
}

fn copy_into(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let copy = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_into(&entry.path(), &copy)?;
        } else {
            fs::copy(entry.path(), &copy)?;
            File::options().write(true).open(&copy)?.set_modified(entry.metadata()?.modified()?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_kernels_with_panics_have_other_flags() {
        let flags: Vec<String> = FLAGS.iter().map(ToString::to_string).collect();
        let of = |value: Option<&str>| Debug::from_value(value.map(OsStr::new));
        assert_eq!([None, Some("0"), Some("lines")].map(of), [Debug::No, Debug::No, Debug::Lines]);
        let package = Path::new("/p");
        for debug in [Debug::No, Debug::Lines] {
            assert_eq!(debug.flags(&flags), flags);
            assert!(debug.last_crate_flags(package).is_empty());
        }
        let changed = of(Some("1")).flags(&flags).into_iter().filter(|flag| !flags.contains(flag));
        assert_eq!(changed.collect::<Vec<_>>(), ["-Cpanic=abort"]);
        assert!(of(Some("1")).last_crate_flags(package).contains(&"--remap-path-prefix=/p=".to_string()));
    }

    #[test]
    fn findings_stay_when_the_text_is_gone() {
        let folder = tempfile::TempDir::new().unwrap();
        let raw = folder.path().join("k.ptx");
        let ir = "define void @k() {\n  %2 = frem float %x, %y\n}\n";
        fs::write(raw.with_extension("ll"), ir).unwrap();
        let found =
            vec![Finding { kernel: "k".into(), kind: Kind::Remainder, text: "frem float %x, %y".into() }];
        assert_eq!(findings_beside(&raw).unwrap(), found);
        assert!(!raw.with_extension("ll").exists());
        assert_eq!(findings_beside(&raw).unwrap(), found);
    }

    #[test]
    fn variables_are_those_that_rustc_lists() {
        let folder = tempfile::TempDir::new().unwrap();
        let deps = folder.path().join("nvptx64-nvidia-cuda/release/deps");
        fs::create_dir_all(&deps).unwrap();
        fs::write(deps.join("k-1.d"), "k.d: a.rs\n\n# env-dep:TILE=a=b\n# env-dep:CARGO_PKG_NAME=k\n")
            .unwrap();
        fs::write(deps.join("l-2.d"), "# env-dep:UNSET\n# env-dep:OUT_DIR=/o\n# env-dep:TILE=1\n").unwrap();
        fs::write(deps.join("l-2.txt"), "# env-dep:OTHER\n").unwrap();
        assert_eq!(variables_below(folder.path()), ["TILE", "UNSET"]);
    }

    #[test]
    fn cargos_list_of_files_is_read() {
        let list = "/t/libk.a: /a/src/lib.rs /o\\ neil/src/x.rs\n";
        assert_eq!(listed_files(list), ["/a/src/lib.rs", "/o neil/src/x.rs"].map(PathBuf::from));
        assert!(listed_files("").is_empty());
    }
}
