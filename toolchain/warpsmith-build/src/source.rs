//! What is compiled: a file of kernels, or the folder of a crate.
//!
//! Cargo needs a crate in any case. For a file, the builder writes one below `OUT_DIR`: its root has the file as a module, and it
//! depends on warpsmith, whose build script tells where it is.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf, absolute};

use crate::BuildError;

/// The crate that a file of kernels depends on.
const LIBRARY: &str = "warpsmith";
/// Where that crate's build script tells its folder.
const LIBRARY_FOLDER: &str = "DEP_WARPSMITH_ROOT";
/// The edition of a crate whose manifest names none that can be found.
const EDITION: &str = "2024";

/// A crate without kernels that depends on the same crates. Its panic handler is needed only where no dependency has one.
const NO_KERNELS: &str =
    "#![no_std]\n#[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! {\n    loop {}\n}\n";

/// The input of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file of kernels, which is a module of the calling package too.
    File(PathBuf),
    /// The folder of a crate with a `Cargo.toml`.
    Crate(PathBuf),
    /// The folder of a crate with a `Cargo.toml.in`, which has places for folders.
    Template(PathBuf),
}

/// The crates that kernels use.
pub struct Crates<'a> {
    /// Names and folders of those that the build script gives.
    pub named: &'a [(String, PathBuf)],
    /// Whether the library's allocator is among them.
    pub alloc: bool,
}

/// A manifest that cargo can be given.
pub struct Manifest {
    /// The file.
    pub path: PathBuf,
    /// Whether the lock file beside it must be followed to the letter.
    pub locked: bool,
}

impl Source {
    /// Looks at what is there.
    ///
    /// # Errors
    /// If there is neither a source file nor a folder with a manifest.
    pub fn find(path: &Path) -> Result<Source, BuildError> {
        if path.join("Cargo.toml.in").is_file() {
            return Ok(Source::Template(path.into()));
        }
        if path.join("Cargo.toml").is_file() {
            return Ok(Source::Crate(path.into()));
        }
        if path.is_file() {
            return Ok(Source::File(path.into()));
        }
        let what = if path.is_dir() { "has no Cargo.toml and no Cargo.toml.in" } else { "does not exist" };
        let from = env::current_dir().unwrap_or_default();
        Err(BuildError::Input(format!(
            "{} {what}: name the file with the kernels (`src/kernels.rs`) or the folder of their crate, relative to {}",
            path.display(),
            from.display()
        )))
    }

    /// Returns the file or folder.
    pub fn path(&self) -> &Path {
        match self {
            Source::File(path) | Source::Crate(path) | Source::Template(path) => path,
        }
    }

    /// Returns the folder in which cargo is started.
    pub fn folder(&self) -> &Path {
        match self {
            Source::File(path) => {
                path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
            }
            Source::Crate(path) | Source::Template(path) => path,
        }
    }

    /// Returns the files and folders whose contents are the kernels' source, before it is compiled: a file, and the folder of its
    /// modules.
    pub fn sources(&self) -> Vec<PathBuf> {
        match self {
            Source::File(path) => {
                let modules = path.with_extension("");
                let modules = if path.ends_with("mod.rs") { self.folder().to_path_buf() } else { modules };
                [path.clone()].into_iter().chain(Some(modules).filter(|folder| folder.is_dir())).collect()
            }
            Source::Crate(path) | Source::Template(path) => vec![path.join("src")],
        }
    }

    /// Returns the folder of the library that kernels in a file are compiled with, unless it is among these.
    pub(crate) fn library_folder(&self, dependencies: &[(String, PathBuf)]) -> Option<PathBuf> {
        let Source::File(_) = self else { return None };
        let named = dependencies.iter().any(|(name, _)| name == LIBRARY);
        env::var_os(LIBRARY_FOLDER).filter(|_| !named).map(PathBuf::from)
    }

    /// Returns the features that the package of the build script is compiled with, which kernels in a file see too. A crate in a folder
    /// has its own.
    pub fn features(&self) -> Vec<String> {
        let Source::File(_) = self else { return Vec::new() };
        let names = env::var("CARGO_CFG_FEATURE").unwrap_or_default();
        names.split(',').filter(|name| !name.is_empty()).map(str::to_string).collect()
    }

    /// Returns the lock file that the kernels' versions come from, if there is one.
    pub fn lock(&self) -> Option<PathBuf> {
        match self {
            Source::File(_) => outer_lock(),
            Source::Template(path) => Some(path.join("Cargo.lock")),
            Source::Crate(path) => {
                let folder = absolute(path).ok()?;
                folder.ancestors().map(|folder| folder.join("Cargo.lock")).find(|file| file.is_file())
            }
        }
    }

    /// Returns the files that have to be watched whatever the compiler reads.
    pub fn manifests(&self) -> Vec<PathBuf> {
        let mut files = match self {
            Source::File(_) => outer_lock().into_iter().collect(),
            Source::Crate(path) | Source::Template(path) => {
                ["Cargo.toml", "Cargo.toml.in", "Cargo.lock"].map(|name| path.join(name)).to_vec()
            }
        };
        files.retain(|file| file.exists());
        files
    }

    /// Returns a short name and a hash that tells this source from all others, of other packages as well.
    ///
    /// # Errors
    /// If the current folder does not exist.
    pub fn unique_name(&self, more: &impl Hash) -> Result<String, BuildError> {
        let path = absolute(self.path()).map_err(BuildError::io("cannot find", self.path()))?;
        let mut hasher = DefaultHasher::new();
        (&path, more).hash(&mut hasher);
        let name = self.path().file_stem().unwrap_or_default().display();
        Ok(format!("{name}-{:016x}", hasher.finish()))
    }

    /// Returns the name of the library that cargo makes; `None` if the manifest does not show it.
    ///
    /// # Errors
    /// If the manifest cannot be read, or the current folder does not exist.
    pub fn library(&self) -> Result<Option<String>, BuildError> {
        let manifest = match self {
            // Of its own for each file: a folder of cargo's may serve several packages.
            Source::File(_) => return Ok(Some(self.unique_name(&())?.replace(['-', '.'], "_"))),
            Source::Crate(path) => path.join("Cargo.toml"),
            Source::Template(path) => path.join("Cargo.toml.in"),
        };
        let text = fs::read_to_string(&manifest).map_err(BuildError::io("cannot read", &manifest))?;
        let name = text_in(&text, "[lib]", "name").or_else(|| text_in(&text, "[package]", "name"));
        Ok(name.map(|name| name.replace('-', "_")))
    }

    /// Checks that the crates named by the build script are those that a manifest asks for.
    ///
    /// # Errors
    /// If there is no `Cargo.toml` in a folder, if the source is a crate, whose own manifest names its dependencies, or if the library
    /// for kernels in a file has another version than this builder.
    pub fn check_dependencies(&self, dependencies: &[(String, PathBuf)]) -> Result<(), BuildError> {
        if let Some((name, folder)) =
            dependencies.iter().find(|(_, folder)| !folder.join("Cargo.toml").is_file())
        {
            let folder = absolute_folder(folder)?;
            return Err(BuildError::Input(format!(
                "the build script gives {folder} as the folder of the dependency `{name}`, but there is no Cargo.toml in it"
            )));
        }
        if let Source::File(_) = self
            && let named =
                dependencies.iter().find(|(name, _)| name == LIBRARY).map(|(_, folder)| folder.clone())
            && let Some(folder) = named.or_else(|| self.library_folder(dependencies))
        {
            let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
            check_version(&manifest)?;
        }
        match self {
            Source::Crate(path) if !dependencies.is_empty() => Err(BuildError::Input(format!(
                "{} names its dependencies itself: call no `dependency` in the build script",
                path.join("Cargo.toml").display()
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the manifest for cargo, and writes it below this folder where the crate has none of its own.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn write_manifest(
        &self,
        cache_dir: &Path,
        dependencies: &Crates<'_>,
    ) -> Result<Manifest, BuildError> {
        match self {
            Source::Crate(path) => {
                let folder = absolute(path).map_err(BuildError::io("cannot find", path))?;
                // A lock file would be written beside the crate. Cargo refuses that, and says so.
                let locked = folder.ancestors().any(|folder| folder.join("Cargo.lock").is_file());
                Ok(Manifest { path: folder.join("Cargo.toml"), locked })
            }
            Source::Template(path) => self.write_template(cache_dir, path, dependencies),
            Source::File(path) => {
                let dir = cache_dir.join(self.unique_name(&"file")?);
                make(&dir)?;
                put(&dir.join("lib.rs"), &root_of(path)?)?;
                self.write_generated(&dir, dependencies)
            }
        }
    }

    /// Returns the manifest of a crate without kernels that depends on the same crates; `None` where only cargo knows them.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn write_manifest_without_kernels(
        &self,
        cache_dir: &Path,
        dependencies: &Crates<'_>,
    ) -> Result<Option<Manifest>, BuildError> {
        let dir = cache_dir.join("no-kernels");
        match self {
            Source::Crate(_) => Ok(None),
            Source::Template(_) => {
                make(&dir.join("src"))?;
                put(&dir.join("src/lib.rs"), NO_KERNELS)?;
                self.write_template(cache_dir, &dir, dependencies).map(Some)
            }
            Source::File(_) => {
                make(&dir)?;
                // The library has the panic handler.
                put(&dir.join("lib.rs"), &format!("#![no_std]\nextern crate {LIBRARY};\n"))?;
                self.write_generated(&dir, dependencies).map(Some)
            }
        }
    }

    /// Fills in a template and copies the lock file next to it. They are outside the crate's folder, because cargo leaves a folder
    /// with a `Cargo.toml` out of the surrounding package.
    fn write_template(
        &self,
        cache_dir: &Path,
        source: &Path,
        dependencies: &Crates<'_>,
    ) -> Result<Manifest, BuildError> {
        let crate_dir = self.path();
        // Two packages that share a cache may both call their folder `kernels`: only the whole path is unique.
        let of = absolute(source).map_err(BuildError::io("cannot find", source))?;
        let dir = cache_dir.join(self.unique_name(&of)?);
        make(&dir)?;
        let read = |name| {
            let path = crate_dir.join(name);
            fs::read_to_string(&path).map_err(BuildError::io("cannot read", &path))
        };
        let mut folders = vec![("crate", absolute_folder(source)?)];
        for (name, folder) in dependencies.named {
            folders.push((name, absolute_folder(folder)?));
        }
        let path = dir.join("Cargo.toml");
        put(&path, &fill_in(&read("Cargo.toml.in")?, &folders))?;
        put(&dir.join("Cargo.lock"), &read("Cargo.lock")?)?;
        Ok(Manifest { path, locked: true })
    }

    /// Writes the manifest of the crate around a file, and starts its lock file with the versions of the package that builds it.
    fn write_generated(&self, dir: &Path, dependencies: &Crates<'_>) -> Result<Manifest, BuildError> {
        let mut all = dependencies.named.to_vec();
        if !all.iter().any(|(name, _)| name == LIBRARY) {
            let folder = env::var_os(LIBRARY_FOLDER).ok_or_else(|| {
                BuildError::Input(format!(
                    "kernels in a source file are compiled against the crate {LIBRARY}, which this package does not depend on: \
                     `cargo add {LIBRARY}`"
                ))
            })?;
            all.push((LIBRARY.into(), folder.into()));
        }
        let library = self.library()?.unwrap_or_default();
        let package = env::var("CARGO_PKG_NAME").unwrap_or_else(|_| "package".into());
        let edition = edition_of(&package_dir());
        let mut text = format!(
            "[package]\nname = \"{package}-kernels\"\nversion = \"0.0.0\"\nedition = \"{edition}\"\npublish = false\n\n\
             [workspace]\n\n[lib]\nname = \"{library}\"\npath = \"lib.rs\"\ntest = false\ndoctest = false\nbench = false\n\n\
             [profile.release]\nopt-level = 3\nlto = \"fat\"\ncodegen-units = 1\npanic = \"abort\"\n\n[dependencies]\n"
        );
        for (name, folder) in &all {
            let folder = escaped(&absolute_folder(folder)?);
            // Writing to a String cannot fail.
            let features = match name == LIBRARY {
                true if dependencies.alloc => ", features = [\"macros\", \"alloc\"]",
                true => ", features = [\"macros\"]",
                false => "",
            };
            let _ = writeln!(text, "{name} = {{ path = \"{folder}\", default-features = false{features} }}");
        }
        let path = dir.join("Cargo.toml");
        put(&path, &text)?;
        start_lock_file(dir)?;
        Ok(Manifest { path, locked: false })
    }
}

/// Checks that the library with this manifest is of the builder's version: they share the form of the images and of the kernels.
fn check_version(manifest: &str) -> Result<(), BuildError> {
    let ours = env!("CARGO_PKG_VERSION");
    match text_in(manifest, "[package]", "version") {
        Some(version) if version != ours => Err(BuildError::Input(format!(
            "{LIBRARY} has version {version} and {LIBRARY}-build {ours}, but they go together in one version only: \
             `cargo update {LIBRARY} {LIBRARY}-build`, and the same version of both in Cargo.toml"
        ))),
        _ => Ok(()),
    }
}

/// Returns the files and folders with the source of a crate: `src`, or where its manifest says that the library is.
pub(crate) fn sources_of(folder: &Path) -> Vec<PathBuf> {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    let library = folder.join(text_in(&manifest, "[lib]", "path").unwrap_or_else(|| "src/lib.rs".into()));
    let root = library.parent().unwrap_or(folder);
    if root != folder && !root.as_os_str().is_empty() {
        return vec![root.to_path_buf()];
    }
    // The library lies beside its manifest, and among folders that are none of its source.
    let none = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with('.') || ["target", "tests", "benches", "examples"].contains(&&*name)
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_source =
        |path: &PathBuf| path.is_dir() && !none(path) || path.extension().is_some_and(|end| end == "rs");
    let mut sources: Vec<PathBuf> = entries.filter(is_source).collect();
    sources.sort();
    sources
}

/// Copies the lock file of the outer workspace when it has changed: cargo keeps its versions and drops what the kernels do not need.
fn start_lock_file(dir: &Path) -> Result<(), BuildError> {
    let Some(outer) = outer_lock() else { return Ok(()) };
    let text = fs::read_to_string(&outer).map_err(BuildError::io("cannot read", &outer))?;
    let seen = dir.join("outer.lock");
    let lock = dir.join("Cargo.lock");
    if lock.exists() && fs::read_to_string(&seen).is_ok_and(|seen| seen == text) {
        return Ok(());
    }
    put(&lock, &text)?;
    put(&seen, &text)
}

/// Returns the lock file of the package that the build script belongs to.
fn outer_lock() -> Option<PathBuf> {
    package_dir().ancestors().map(|folder| folder.join("Cargo.lock")).find(|file| file.is_file())
}

/// Returns the folder of the package whose build script runs; the current folder if the caller is not a build script.
pub(crate) fn package_dir() -> PathBuf {
    env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env::current_dir().unwrap_or_default(), PathBuf::from)
}

/// Returns the edition of a package: that of its manifest, or of its workspace's.
fn edition_of(package: &Path) -> String {
    let read = |folder: &Path| fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    let of_workspace = |dir: &Path| text_in(&read(dir), "[workspace.package]", "edition");
    text_in(&read(package), "[package]", "edition")
        .or_else(|| package.ancestors().find_map(of_workspace))
        .unwrap_or_else(|| EDITION.into())
}

/// Returns a value in a section of a manifest, if it stands there as a text on a line of its own.
fn text_in(manifest: &str, section: &str, key: &str) -> Option<String> {
    let lines = manifest.lines().map(str::trim).skip_while(|line| *line != section).skip(1);
    let mut values = lines.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once('='));
    let value = values.find(|(name, _)| name.trim() == key)?.1;
    value.trim().strip_prefix('"')?.split('"').next().map(str::to_string)
}

/// Returns the root of the crate around a file of kernels. The file is a module of the same name as in the package, and finds its
/// own modules in the same folder: a `path` on the module itself would have rustc look for them one folder up.
fn root_of(file: &Path) -> Result<String, BuildError> {
    let file = absolute(file).map_err(BuildError::io("cannot find", file))?;
    let module = if file.ends_with("mod.rs") { file.parent().unwrap_or(&file) } else { &file };
    let name = module.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if !is_name || name.is_empty() || name.starts_with(char::is_numeric) || ["lib", "main"].contains(&name) {
        return Err(BuildError::Input(format!(
            "{} cannot be a module of another crate: put the kernels in a file such as src/kernels.rs",
            file.display()
        )));
    }
    let folder = module.parent().unwrap_or(module).display().to_string();
    Ok(format!(
        "//! The kernels for the GPU. Written by the build.\n\n#![no_std]\n#![allow(dead_code, unused_imports, unused_macros)]\n\n\
         extern crate {LIBRARY};\n\n#[path = {folder:?}]\nmod package {{\n    pub mod {name};\n}}\npub use package::{name};\n"
    ))
}

fn make(dir: &Path) -> Result<(), BuildError> {
    fs::create_dir_all(dir).map_err(BuildError::io("cannot make", dir))
}

fn absolute_folder(dir: &Path) -> Result<String, BuildError> {
    let dir = absolute(dir).map_err(BuildError::io("cannot find", dir))?;
    Ok(dir.display().to_string())
}

/// Returns a folder as it stands inside the quotes of a TOML string.
fn escaped(folder: &str) -> String {
    folder.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Replaces the manifest's placeholders by folders: `{crate}` and the names of dependencies in braces.
fn fill_in(manifest: &str, folders: &[(&str, String)]) -> String {
    folders.iter().fold(manifest.to_string(), |text, (name, folder)| {
        text.replace(&format!("{{{name}}}"), &escaped(folder))
    })
}

/// Writes a file unless it already has this text. The build of another target may read it at any time, so no partial file is ever
/// visible.
pub(crate) fn put(path: &Path, text: &str) -> Result<(), BuildError> {
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

    #[test]
    fn the_sources_of_a_dependency_are_where_its_manifest_says() {
        let folder = tempfile::TempDir::new().unwrap();
        let root = folder.path();
        for name in
            ["Cargo.toml", "lib.rs", "deep/a.rs", "target/b.rs", "tests/c.rs", ".git/d", "code/lib.rs"]
        {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), "").unwrap();
        }
        assert_eq!(sources_of(root), [root.join("src")]);
        fs::write(root.join("Cargo.toml"), "[lib]\npath = \"code/lib.rs\"\n").unwrap();
        assert_eq!(sources_of(root), [root.join("code")]);
        fs::write(root.join("Cargo.toml"), "[lib]\npath = \"lib.rs\"\n").unwrap();
        assert_eq!(sources_of(root), ["code", "deep", "lib.rs"].map(|name| root.join(name)));
        let none = [("core".to_string(), root.join("deep"))];
        let error = Source::File("k.rs".into()).check_dependencies(&none).unwrap_err().to_string();
        assert!(error.contains("dependency `core`") && error.contains("deep"), "{error}");
    }

    #[test]
    fn the_edition_is_the_packages_or_its_workspaces() {
        let folder = tempfile::TempDir::new().unwrap();
        let member = folder.path().join("member");
        fs::create_dir_all(&member).unwrap();
        let write = |dir: &Path, text: &str| fs::write(dir.join("Cargo.toml"), text).unwrap();
        write(folder.path(), "[workspace.package]\nedition = \"2018\" # old\n");
        write(
            &member,
            "[package]\nname = \"m\"\nedition = \"2021\"\n[dependencies]\nx = { edition = \"1\" }\n",
        );
        assert_eq!(edition_of(&member), "2021");
        for inherited in ["edition.workspace = true", "edition = { workspace = true }"] {
            write(&member, &format!("[package]\n{inherited}\n"));
            assert_eq!(edition_of(&member), "2018", "{inherited}");
        }
        assert_eq!(edition_of(&folder.path().join("none/such")), "2018");
    }

    #[test]
    fn the_root_names_the_module_as_the_package_does() {
        let root = root_of(Path::new("/p/src/kernels.rs")).unwrap();
        assert!(root.contains("#[path = \"/p/src\"]\nmod package {\n    pub mod kernels;\n}"), "{root}");
        assert_eq!(root_of(Path::new("/p/src/kernels/mod.rs")).unwrap(), root);
        for refused in ["/p/src/main.rs", "/p/src/lib.rs", "/p/src/my-kernels.rs", "/p/src/1.rs"] {
            let error = root_of(Path::new(refused)).unwrap_err().to_string();
            assert!(error.contains(refused) && error.contains("src/kernels.rs"), "{error}");
        }
    }

    #[test]
    fn what_is_not_there_is_named_with_the_remedy() {
        let folder = tempfile::TempDir::new().unwrap();
        let error = Source::find(&folder.path().join("no.rs")).unwrap_err().to_string();
        assert!(error.contains("no.rs does not exist") && error.contains("src/kernels.rs"), "{error}");
        let error = Source::find(folder.path()).unwrap_err().to_string();
        assert!(error.contains("has no Cargo.toml"), "{error}");
        fs::write(folder.path().join("Cargo.toml"), "").unwrap();
        assert_eq!(Source::find(folder.path()).unwrap(), Source::Crate(folder.path().into()));
        fs::write(folder.path().join("Cargo.toml.in"), "").unwrap();
        assert_eq!(Source::find(folder.path()).unwrap(), Source::Template(folder.path().into()));
    }
}
