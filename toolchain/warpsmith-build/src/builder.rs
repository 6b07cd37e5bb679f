//! The builder that a build script calls, and its results.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf, absolute};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::compile::{self, Compiled, Debug, Job};
use crate::environment::Variables;
use crate::packaged::{self, Packaged};
use crate::source::{Source, package_dir, sources_of};
use crate::toolchain::{self, Missing, Search, Toolchain};
use crate::{BuildError, ptx, store, usage};

/// An architecture to compile for. Its PTX also runs on everything newer, but that of one with the letter `a`, as `sm_90a`, nowhere
/// else.
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

    /// Returns the targets of a builder that is given none: all devices since Volta, and faster code for Hopper and later ones.
    pub fn defaults() -> Vec<Target> {
        vec![Target::new("sm_70", "ptx70"), Target::new("sm_90", "ptx80")]
    }

    /// Returns ten times the compute capability: 90 for `sm_90` and `sm_90a`; 0 for any other name, which [`Builder::build`] refuses.
    pub fn compute_capability(&self) -> u32 {
        let number = self.arch.strip_prefix("sm_").map(|name| name.strip_suffix('a').unwrap_or(name));
        number.and_then(|number| number.parse().ok()).unwrap_or(0)
    }
}

/// One checked PTX file.
#[derive(Debug)]
pub struct PtxFile {
    /// The target that it was compiled for.
    pub target: Target,
    /// The text.
    pub path: PathBuf,
    /// A file next to it, with every finding of the checks and the compiler's messages; an empty one for packaged kernels.
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
    /// A CPU-only build on purpose.
    Skipped {
        /// What asked for it.
        reason: String,
        /// What to do for a build with kernels.
        remedy: String,
    },
}

/// The mode that the user asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Auto,
    Skip,
    Require,
}

impl Mode {
    fn from_env(variables: &Variables) -> Result<Mode, BuildError> {
        let variable = variables.name(Variables::KERNELS);
        match env::var(&variable).unwrap_or_default().as_str() {
            // docs.rs has a toolchain but no network, and documentation needs no kernels.
            "" if env::var_os("DOCS_RS").is_some() => Ok(Mode::Skip),
            "" | "auto" => Ok(Mode::Auto),
            "skip" => Ok(Mode::Skip),
            "require" => Ok(Mode::Require),
            word => Err(BuildError::Mode { variable, word: word.into() }),
        }
    }
}

/// Compiles kernels for several architectures and checks the result.
#[derive(Debug)]
pub struct Builder {
    path: PathBuf,
    variables: Variables,
    targets: Vec<Target>,
    dependencies: Vec<(String, PathBuf)>,
    one_barrier: Vec<String>,
    flags: Vec<String>,
    profile: Vec<String>,
    std_crates: &'static str,
    cfgs: Vec<(String, bool)>,
    out_dir: Option<PathBuf>,
    cache_dir: Option<PathBuf>,
    packaged: Option<PathBuf>,
}

impl Builder {
    /// Makes a builder. `path` is relative to the package of the calling build script, and one of these:
    ///
    /// - A file such as `src/kernels.rs`, which is also a module of the package. It is compiled against warpsmith, which must be
    ///   among the package's dependencies, with the versions of the package's lock file.
    /// - The folder of a `no_std` crate with a `Cargo.toml`.
    /// - The folder of such a crate with a `Cargo.toml.in`: a manifest with `{crate}` in place of this folder, and with a
    ///   `Cargo.lock` beside it. A file named `Cargo.toml` would make cargo leave the folder out of a published package.
    pub fn new(path: impl AsRef<Path>) -> Builder {
        Builder {
            path: path.as_ref().to_path_buf(),
            variables: Variables::default(),
            targets: Vec::new(),
            dependencies: Vec::new(),
            one_barrier: Vec::new(),
            flags: compile::FLAGS.iter().map(ToString::to_string).collect(),
            profile: Vec::new(),
            std_crates: "core",
            cfgs: Vec::new(),
            out_dir: None,
            cache_dir: None,
            packaged: None,
        }
    }

    /// Sets the first word of the names of the environment variables that control the build; `WARPSMITH` by default. A program
    /// whose users know nothing of warpsmith gives its own name.
    pub fn prefix(mut self, prefix: &str) -> Self {
        self.variables = Variables::new(prefix);
        self
    }

    /// Adds an architecture. Without any, kernels are built for [`Target::defaults`].
    pub fn target(mut self, target: Target) -> Self {
        self.targets.push(target);
        self
    }

    /// Gives the folder, relative to the package, of a crate that the kernels depend on. Kernels in a file can then use it, without its
    /// default features; a `Cargo.toml.in` has the crate's name in braces as its path. Changes to it rebuild the kernels.
    pub fn dependency(mut self, name: &str, folder: impl AsRef<Path>) -> Self {
        self.dependencies.push((name.into(), folder.as_ref().to_path_buf()));
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

    /// Sets the optimisation level of the kernels: `1`, `2`, `3`, `"s"` and so on, as in a profile of cargo's. Kernels in a file have
    /// 3 by default; a crate has what its manifest says.
    pub fn opt_level(mut self, level: &str) -> Self {
        let level = if level.parse::<u32>().is_ok() { level.to_string() } else { format!("{level:?}") };
        self.profile.push(format!("profile.release.opt-level={level}"));
        self
    }

    /// Compiles the crate `alloc` for the GPU as well. Kernels in a file get warpsmith with its allocator; a crate needs one of its
    /// own.
    pub fn alloc(mut self) -> Self {
        self.std_crates = compile::WITH_ALLOC;
        self
    }

    /// Declares a `cfg` of the package and sets it, or not: for the host, in place of `cargo::rustc-cfg`, and for the GPU. Both are
    /// compiled from the same source, and a struct that differs between them would be read wrongly.
    ///
    /// The features of a package need no declaration: kernels in a file see them.
    pub fn cfg(mut self, name: &str, set: bool) -> Self {
        self.cfgs.push((name.into(), set));
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

    /// Takes packaged kernels, or finds a toolchain, compiles and checks, and tells cargo what to watch and what to warn about. With
    /// `WARPSMITH_KERNELS=skip` in the environment it does without kernels; with `require` a missing toolchain is an error; `auto` is
    /// the default.
    ///
    /// # Errors
    /// For everything except a missing toolchain, and for that too if the user requires kernels.
    pub fn build(self) -> Result<Outcome, BuildError> {
        self.variables.watch();
        let source = self.source()?;
        self.watch_before_compiling(&source);
        for (name, set) in &self.cfgs {
            println!("cargo::rustc-check-cfg=cfg({name})");
            if *set {
                println!("cargo::rustc-cfg={name}");
            }
        }
        let mode = Mode::from_env(&self.variables)?;
        if mode == Mode::Skip {
            return Ok(self.skipped());
        }
        if let Some(kernels) = self.unpack(&source)? {
            return Ok(Outcome::Kernels(kernels));
        }
        let search = Search::from_env(&self.variables);
        let remedy = toolchain::remedy(&self.variables);
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
        let source = self.source()?;
        rerun_if_changed(&toolchain.rustc);
        let (targets, flags) = (self.targets(), self.debug().flags(&self.flags));
        let jobs: Vec<Job<'_>> =
            targets.iter().map(|target| self.job(&source, toolchain, target, &flags)).collect();
        let store = self.variables.value(Variables::CACHE).map(PathBuf::from);
        let kept = |job: &Job<'_>| store.as_ref().and_then(|folder| store::find(folder, job));
        let kept: Vec<Option<Compiled>> = jobs.iter().map(kept).collect();
        if kept.iter().any(Option::is_none) {
            Job::share_dependencies(&jobs);
        }
        // Each target keeps only one processor busy: rustc writes one text, in one unit.
        let built: Vec<Result<Built, BuildError>> = thread::scope(|scope| {
            let builds: Vec<_> = {
                let builds = jobs.iter().zip(kept);
                builds.map(|(job, kept)| scope.spawn(|| self.build_target(job, kept))).collect()
            };
            builds
                .into_iter()
                .map(|build| build.join().unwrap_or_else(|panic| resume_unwind(panic)))
                .collect()
        });
        let built = built.into_iter().collect::<Result<Vec<_>, _>>()?;
        let read: BTreeSet<&PathBuf> = built.iter().flat_map(|built| &built.read).collect();
        watch_what_was_read(&source, &read);
        let variables: BTreeSet<&String> = built.iter().flat_map(|built| &built.variables).collect();
        variables.iter().for_each(|name| println!("cargo::rerun-if-env-changed={name}"));
        let fingerprint = self.fingerprint(&source)?;
        let files = built.into_iter().map(|built| built.file).collect();
        Ok(Kernels { rustc: toolchain.version.clone(), fingerprint, files })
    }

    fn skipped(&self) -> Outcome {
        let variable = self.variables.name(Variables::KERNELS);
        if env::var_os(&variable).is_some_and(|value| value == "skip") {
            let reason = format!("built with {variable}=skip");
            return Outcome::Skipped { reason, remedy: "build without it".into() };
        }
        let reason = "built for docs.rs, for documentation alone".into();
        Outcome::Skipped { reason, remedy: format!("build without DOCS_RS, or with {variable}=auto") }
    }

    fn source(&self) -> Result<Source, BuildError> {
        // Which devices run the PTX of others, such as `sm_100f`, is not known here.
        if let Some(target) = self.targets.iter().find(|target| target.compute_capability() == 0) {
            return Err(BuildError::Input(format!(
                "kernels cannot be built for `{}`: give a target such as `sm_90` or `sm_90a`",
                target.arch()
            )));
        }
        let source = Source::find(&self.path)?;
        source.check_dependencies(&self.dependencies)?;
        claim(&self.out_dir_or_default(), source.path())?;
        let is_name = |name: &str| {
            let mut letters = name.chars();
            letters.next().is_some_and(|c| c == '_' || c.is_alphabetic())
                && letters.all(|c| c == '_' || c.is_alphanumeric())
        };
        if let Some((name, _)) = self.cfgs.iter().find(|(name, _)| !is_name(name)) {
            return Err(BuildError::Input(format!(
                "`{name}` cannot be a cfg: give `Builder::cfg` a name such as `wide`"
            )));
        }
        Ok(source)
    }

    fn targets(&self) -> Vec<Target> {
        if self.targets.is_empty() { Target::defaults() } else { self.targets.clone() }
    }

    /// Returns the kernels in the package, if they were compiled from the same sources.
    fn unpack(&self, source: &Source) -> Result<Option<Kernels>, BuildError> {
        let Some(folder) = self.packaged.as_ref().filter(|folder| folder.exists()) else { return Ok(None) };
        rerun_if_changed(folder);
        let out = self.out_dir_or_default();
        match packaged::unpack(folder, &self.targets(), self.fingerprint(source)?, &out)? {
            Packaged::Kernels(kernels) => Ok(Some(kernels)),
            Packaged::Missing => Ok(None),
            Packaged::Other => {
                let folder = folder.display();
                println!("cargo::warning={folder} has kernels of other sources: they are compiled again");
                Ok(None)
            }
        }
    }

    /// Returns a number that changes with the sources of the kernels and of the crates that they depend on, and with the flags.
    fn fingerprint(&self, source: &Source) -> Result<u64, BuildError> {
        let crates = self.dependencies.iter().flat_map(|(_, dir)| sources_of(dir));
        let library = source.library_folder(&self.dependencies).into_iter().flat_map(|dir| sources_of(&dir));
        let crates = crates.chain(library);
        // That of a file is not its own: another workspace has another one.
        let lock = matches!(source, Source::Template(_)).then(|| source.lock()).flatten();
        let crates = crates.chain(lock);
        let sources: Vec<PathBuf> = crates.chain(source.sources()).collect();
        let more = format!(
            "{} {:?} {:?} {:?} {} {:?}",
            env!("CARGO_PKG_VERSION"),
            self.targets(),
            self.debug().flags(&self.flags),
            self.profile,
            self.std_crates,
            self.cfg_flags(source)
        );
        packaged::fingerprint(&sources, &more)
            .map_err(BuildError::io("cannot read the sources of", source.path()))
    }

    /// Returns the flags by which the kernels see the same `cfg`s as the host. Others in a file are an error, not a guess.
    fn cfg_flags(&self, source: &Source) -> Vec<String> {
        let features = source.features();
        let is_file = matches!(source, Source::File(_));
        let flags = features.iter().map(|name| format!("--cfg=feature={name:?}"));
        let flags = flags.chain(self.cfgs.iter().map(|(name, _)| format!("--check-cfg=cfg({name})")));
        let flags =
            flags.chain(self.cfgs.iter().filter(|(_, set)| *set).map(|(name, _)| format!("--cfg={name}")));
        // The host's compiler knows which features there are, and warns of others.
        let of_file = ["--check-cfg=cfg(feature, values(any()))", "-Dunexpected_cfgs"];
        let flags = flags.chain(of_file.iter().filter(|_| is_file).map(ToString::to_string));
        flags.chain(self.debug().last_crate_flags(&package_dir())).collect()
    }

    fn out_dir_or_default(&self) -> PathBuf {
        self.out_dir.clone().unwrap_or_else(out_dir_from_env)
    }

    fn debug(&self) -> Debug {
        Debug::from_value(self.variables.value(Variables::DEBUG).as_deref())
    }

    fn job<'a>(
        &'a self,
        source: &'a Source,
        toolchain: &'a Toolchain,
        target: &'a Target,
        flags: &'a [String],
    ) -> Job<'a> {
        Job {
            toolchain,
            source,
            dependencies: &self.dependencies,
            // A build script may write only to OUT_DIR. Cargo keeps that folder from build to build.
            cache_dir: self.cache_dir.clone().unwrap_or_else(|| self.out_dir_or_default().join("device")),
            target,
            flags,
            profile: &self.profile,
            std_crates: self.std_crates,
            cfgs: self.cfg_flags(source),
            skip: format!("{}=skip", self.variables.name(Variables::KERNELS)),
        }
    }

    /// Compiles a target, and keeps it where the user wants that. If it cannot be kept, the next build compiles it again.
    fn compile(&self, job: &Job<'_>) -> Result<Compiled, BuildError> {
        let compiled = job.run()?;
        if let Some(folder) = self.variables.value(Variables::CACHE).map(PathBuf::from)
            && let Err(error) = store::keep(&folder, job, &compiled)
        {
            println!("cargo::warning=kernels cannot be kept in {}: {error}", folder.display());
        }
        Ok(compiled)
    }

    /// Checks what is kept of a target, or compiles it first.
    fn build_target(&self, job: &Job<'_>, kept: Option<Compiled>) -> Result<Built, BuildError> {
        let (target, arch) = (job.target, job.target.arch());
        let out = self.out_dir_or_default();
        let compiled = match kept {
            Some(kept) => kept,
            None => self.compile(job)?,
        };
        let Compiled { ptx, findings, messages, files: read, variables } = compiled;
        let refuse = |faults| BuildError::Check { arch: arch.into(), faults };
        let debug = self.debug();
        let ptx = if debug == Debug::No { ptx::without_lines(&ptx) } else { ptx };
        let text = ptx::finish(&ptx, arch).map_err(|fault| refuse(vec![fault]))?;
        let report = ptx::check(&text, &self.one_barrier, findings);

        let file = PtxFile {
            target: target.clone(),
            path: out.join(format!("kernels-{arch}.ptx")),
            report: out.join(format!("kernels-{arch}.report.txt")),
        };
        write(&file.path, &text)?;
        let (usages, why) = usage::usage(&self.variables, &file.path, &text, target, &report);
        let used: String = usages.iter().map(|usage| format!("{usage}\n")).collect();
        let why = why.map(|why| format!("no registers: {why}\n")).unwrap_or_default();
        write(&file.report, &format!("{used}{why}{report}{messages}"))?;
        // Cargo shows this with -vv.
        println!("kernels for {arch}, in {}:\n{used}{why}{report}", file.path.display());
        let warnings = usage::spills(&usages).into_iter().chain(compiler_warnings(&messages));
        // Calls and stack are what panics with messages need.
        let summary = report.summary().filter(|_| debug != Debug::Panics);
        let all: Vec<String> = summary.into_iter().chain(warnings).collect();
        if !all.is_empty() {
            println!("cargo::warning=kernels for {arch}: {}; see {}", all.join("; "), file.report.display());
        }
        if report.faults.is_empty() {
            Ok(Built { file, read, variables })
        } else {
            Err(refuse(report.faults))
        }
    }

    /// Watches what is known before the compiler has said what it read: in a build without kernels there is no more.
    fn watch_before_compiling(&self, source: &Source) {
        source.manifests().iter().for_each(|file| rerun_if_changed(file));
        if matches!(source, Source::File(_)) {
            rerun_if_changed(source.path());
        } else {
            source.sources().iter().filter(|path| path.exists()).for_each(|path| rerun_if_changed(path));
        }
        for (_, dir) in &self.dependencies {
            let files = [sources_of(dir), vec![dir.join("Cargo.toml")]].concat();
            files.iter().filter(|file| file.exists()).for_each(|file| rerun_if_changed(file));
        }
    }
}

/// Keeps the output of one source from being overwritten by that of another one in the same build script.
fn claim(out: &Path, source: &Path) -> Result<(), BuildError> {
    static CLAIMED: Mutex<BTreeMap<PathBuf, PathBuf>> = Mutex::new(BTreeMap::new());
    let whole = |path: &Path| absolute(path).map_err(BuildError::io("cannot find", path));
    let source = whole(source)?;
    let mut claimed = CLAIMED.lock().unwrap_or_else(PoisonError::into_inner);
    let first = claimed.entry(whole(out)?).or_insert_with(|| source.clone());
    if *first == source {
        return Ok(());
    }
    Err(BuildError::Input(format!(
        "one build script compiles {} and {}, and the second would overwrite what came of the first: make the kernels modules of \
         one file (`mod more;` in it), or give each source a folder by `Builder::out_dir` and `Outcome::write_module_in`",
        first.display(),
        source.display()
    )))
}

/// A checked target, and the files and variables that it was made of.
struct Built {
    file: PtxFile,
    read: Vec<PathBuf>,
    variables: Vec<String>,
}

/// Watches the files that rustc read: the modules of a file of kernels, and the crates beside it. A template and the folders for it are
/// watched whole.
fn watch_what_was_read(source: &Source, files: &BTreeSet<&PathBuf>) {
    if !matches!(source, Source::Template(_)) {
        // What the build wrote is no source. Cargo takes a missing file for a change.
        let out = out_dir_from_env();
        let is_source =
            |file: &&&PathBuf| file.exists() && (out == Path::new(".") || !file.starts_with(&out));
        files.iter().filter(is_source).for_each(|file| rerun_if_changed(file));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_whose_devices_are_unknown_are_refused() {
        let capability = |arch| Target::new(arch, "ptx88").compute_capability();
        assert_eq!(["sm_90", "sm_90a", "sm_103a"].map(capability), [90, 90, 103]);
        for arch in ["sm_100f", "sm_90aa", "90", "compute_90", ""] {
            assert_eq!(capability(arch), 0);
            let refused = Builder::new("nowhere").target(Target::new(arch, "ptx88")).source();
            let Err(BuildError::Input(why)) = refused else { panic!("{arch}") };
            assert!(why.contains(&format!("`{arch}`")), "{why}");
        }
    }
}
