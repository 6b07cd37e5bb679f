//! One run of cargo and rustc: a kernel crate in, raw PTX out.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf, absolute};
use std::process::Command;

use crate::{BuildError, Target, environment, toolchain::Toolchain};

/// Flags for every crate of the device build, `core` included; only the last crate also gets its architecture. `docs/toolchain.md`
/// gives the reasons.
pub const FLAGS: &[&str] = &[
    "-Zmir-enable-passes=-JumpThreading",
    "-Zunstable-options",
    "-Cpanic=immediate-abort",
    "-Cpasses=infer-address-spaces",
    "-Cllvm-args=-opt-disable=slsr",
];

/// Flags for the last crate only, which add source lines to the PTX; the rest stays in cargo's cache.
const LINE_TABLES: &[&str] = &["-Cdebuginfo=line-tables-only", "-Zno-generate-arange-section"];

/// A crate without kernels that depends on the same crates.
const NO_KERNELS: &str =
    "#![no_std]\n#[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! {\n    loop {}\n}\n";

/// A compilation: its input, compiler and output folder.
pub struct Job<'a> {
    /// The compiler.
    pub toolchain: &'a Toolchain,
    /// The kernel crate's folder, with `src`, `Cargo.toml.in` and `Cargo.lock`.
    pub crate_dir: &'a Path,
    /// Names and folders of the crates for which the manifest has placeholders.
    pub dependencies: &'a [(String, PathBuf)],
    /// Folder for manifests and for cargo's files; separate, or the build would wait forever for the outer cargo's lock.
    pub cache_dir: PathBuf,
    /// The architecture.
    pub target: &'a Target,
    /// [`FLAGS`], unless a test shows what happens without one of them.
    pub flags: &'a [String],
    /// Whether to add line tables.
    pub line_tables: bool,
}

/// Raw PTX and the compiler's messages.
pub struct Compiled {
    /// The PTX as rustc wrote it.
    pub ptx: String,
    /// Warnings, as text.
    pub messages: String,
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
        let source = self.cache_dir.join("no-kernels");
        fs::create_dir_all(source.join("src"))?;
        fs::write(source.join("src/lib.rs"), NO_KERNELS)?;
        let manifest = self.write_manifest(&source).map_err(io::Error::other)?;
        let output = self.command(&manifest, target_dir, &source.join("none.ptx")).output()?;
        if output.status.success() { Ok(()) } else { Err(io::Error::other("not compiled")) }
    }

    /// Runs the compiler, or only reads its last result if cargo finds that nothing changed.
    ///
    /// # Errors
    /// [`BuildError::Compile`] with rustc's messages, [`BuildError::Io`] if cargo does not start.
    pub fn run(&self) -> Result<Compiled, BuildError> {
        let target_dir = self.target_dir();
        fs::create_dir_all(&target_dir).map_err(BuildError::io("cannot make", &target_dir))?;
        let raw = self.raw_ptx()?;
        let mut command = self.command(&self.write_manifest(self.crate_dir)?, &target_dir, &raw);
        let output = command.output().map_err(BuildError::io("cannot start", &self.toolchain.cargo))?;
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            return Err(BuildError::Compile { arch: self.target.arch().into(), messages });
        }
        let ptx = fs::read_to_string(&raw)
            .map_err(BuildError::io("no PTX, delete its folder and build again:", &raw))?;
        Ok(Compiled { ptx, messages })
    }

    /// Writes the crate's `Cargo.toml`, with its source in this folder, and copies its `Cargo.lock` next to it. They are outside the
    /// crate's folder, because cargo leaves a folder with a `Cargo.toml` out of the surrounding package.
    fn write_manifest(&self, source: &Path) -> Result<PathBuf, BuildError> {
        // Two packages that share a cache may both call their folder `kernels`: only the whole path is unique.
        let dir =
            self.cache_dir.join(self.name(&absolute(source).map_err(BuildError::io("cannot find", source))?));
        fs::create_dir_all(&dir).map_err(BuildError::io("cannot make", &dir))?;
        let read = |name| {
            let path = self.crate_dir.join(name);
            fs::read_to_string(&path).map_err(BuildError::io("cannot read", &path))
        };
        let mut folders = vec![("crate", absolute_folder(source)?)];
        for (name, folder) in self.dependencies {
            folders.push((name, absolute_folder(folder)?));
        }
        let manifest = dir.join("Cargo.toml");
        put(&manifest, &fill_in(&read("Cargo.toml.in")?, &folders))?;
        put(&dir.join("Cargo.lock"), &read("Cargo.lock")?)?;
        Ok(manifest)
    }

    /// Makes the inner cargo call.
    fn command(&self, manifest: &Path, target_dir: &Path, raw: &Path) -> Command {
        let mut command = Command::new(&self.toolchain.cargo);
        environment::scrub(&mut command);
        command
            .current_dir(self.crate_dir)
            .env("RUSTC", &self.toolchain.rustc)
            .env("RUSTC_BOOTSTRAP", "1") // unstable flags and features from a stable compiler
            .env("CARGO_TARGET_DIR", target_dir)
            .env("CARGO_ENCODED_RUSTFLAGS", self.flags.join("\x1f")) // wins over every config file
            // A static library contains all code, like a program, and needs no linker. Cargo recompiles if it is missing.
            .args(["rustc", "--quiet", "--release", "--lib", "--crate-type=staticlib", "--locked"])
            .args(["--target", "nvptx64-nvidia-cuda", "-Zbuild-std=core", "--manifest-path"])
            .arg(manifest)
            .arg("--")
            .arg(format!("--emit=asm={}", raw.display()))
            .args(self.last_crate_flags());
        command
    }

    /// The architecture is the last crate's alone: all code is generated there, and so the crates before it serve every architecture.
    fn last_crate_flags(&self) -> Vec<String> {
        let arch = [
            format!("-Ctarget-cpu={}", self.target.arch()),
            format!("-Ctarget-feature=+{}", self.target.ptx()),
        ];
        let lines = if self.line_tables { LINE_TABLES } else { &[] };
        arch.into_iter().chain(lines.iter().map(ToString::to_string)).collect()
    }

    fn target_dir(&self) -> PathBuf {
        self.cache_dir.join(self.target.arch())
    }

    /// Returns where rustc writes. The name includes everything by which cargo distinguishes results: with one name for two crates
    /// or sets of flags, cargo could rightly say "fresh" and leave us with the other's PTX.
    fn raw_ptx(&self) -> Result<PathBuf, BuildError> {
        let compiler = (&self.toolchain.version, &self.toolchain.rustc);
        let of = (self.absolute_crate()?, compiler, self.flags, self.last_crate_flags());
        Ok(self.target_dir().join(format!("{}.ptx", self.name(&of))))
    }

    /// Returns the folder's name and a hash that distinguishes this file from others with that name.
    fn name(&self, of: &impl Hash) -> String {
        let mut hasher = DefaultHasher::new();
        of.hash(&mut hasher);
        let folder = self.crate_dir.file_name().unwrap_or_default().display();
        format!("{folder}-{:016x}", hasher.finish())
    }

    fn absolute_crate(&self) -> Result<PathBuf, BuildError> {
        absolute(self.crate_dir).map_err(BuildError::io("cannot find", self.crate_dir))
    }
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

fn absolute_folder(dir: &Path) -> Result<String, BuildError> {
    let dir = absolute(dir).map_err(BuildError::io("cannot find", dir))?;
    Ok(dir.display().to_string())
}

/// Replaces the manifest's placeholders by folders: `{crate}` and the names of dependencies in braces.
fn fill_in(manifest: &str, folders: &[(&str, String)]) -> String {
    // Inside the quotes of a TOML string.
    let escaped = |folder: &str| folder.replace('\\', "\\\\").replace('"', "\\\"");
    folders.iter().fold(manifest.to_string(), |text, (name, folder)| {
        text.replace(&format!("{{{name}}}"), &escaped(folder))
    })
}

/// Writes a file unless it already has this text. The build of another target may read it at any time, so no partial file is ever
/// visible.
fn put(path: &Path, text: &str) -> Result<(), BuildError> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let whole = path.with_added_extension(format!("{:?}", std::thread::current().id()));
    fs::write(&whole, text)
        .and_then(|()| fs::rename(&whole, path))
        .map_err(BuildError::io("cannot write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_gets_its_folders() {
        let manifest =
            "[lib]\npath = \"{crate}/src/lib.rs\"\n[dependencies]\nmy-core = { path = \"{my-core}\" }\n";
        let folders = [("crate", "/o'neil/\"a\"".to_string()), ("my-core", "C:\\core".to_string())];
        let filled = fill_in(manifest, &folders);
        assert_eq!(
            filled,
            "[lib]\npath = \"/o'neil/\\\"a\\\"/src/lib.rs\"\n[dependencies]\nmy-core = { path = \"C:\\\\core\" }\n"
        );
    }
}
