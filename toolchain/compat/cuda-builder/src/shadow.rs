//! A manifest of our own for the crate of kernels.
//!
//! The crate is compiled with another compiler, other profiles and its own choice of versions, but it may be a member of the outer
//! workspace and inherit from it. So cargo is asked what its manifest means, and that is written down in a folder of its own, as a
//! workspace of its own, with the lock file of the outer one as a start. The sources stay where they are.
//!
//! Kernels of 2022 begin with an attribute that compilers since then reject: `register_attr(nvvm_internal)`. Only where it stands, the
//! sources are copied, and the copy has a harmless attribute in its place.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf, absolute};
use std::process::Command;

use serde_json::Value as Json;
use toml::{Table, Value};
use warpsmith_build::environment;

use crate::{CudaBuilderError, put};

/// The crate as it is compiled.
pub struct Shadow {
    /// The folder of its manifest.
    pub folder: PathBuf,
    /// What changes it.
    pub watched: Vec<PathBuf>,
}

/// Attributes of old kernels that rustc no longer has or that the builder gives itself, and what stands in their place.
const OLD_ATTRIBUTES: &[(&str, &str)] = &[
    ("register_attr(nvvm_internal)", "allow(stable_features)"),
    ("register_tool(nvvm_internal)", "allow(stable_features)"),
    ("register_attr", "rust1"),
    ("register_tool", "rust1"),
];

type Result<T> = std::result::Result<T, CudaBuilderError>;

fn failed(what: &str, path: &Path, why: impl std::fmt::Display) -> CudaBuilderError {
    CudaBuilderError::Manifest(format!("{what} {}: {why}", path.display()))
}

/// Writes the manifest below `out`. `args` are cargo's that choose features. Crates that differ in them or in `others`, all that they
/// are compiled with besides, have folders of their own.
pub fn write(path: &Path, out: &Path, args: &[String], others: &impl Hash) -> Result<Shadow> {
    let root = absolute(path).map_err(|error| failed("cannot find", path, error))?;
    let out = absolute(out).map_err(|error| failed("cannot find", out, error))?;
    let name = root.file_name().unwrap_or_default().display();
    let folder = out.join(format!("{name}-{:016x}", hash(&(&root, args, others))));
    fs::create_dir_all(&folder).map_err(|error| failed("cannot make", &folder, error))?;
    let meaning = metadata(&root.join("Cargo.toml"), &folder, &["--no-deps"])?;
    let workspace = PathBuf::from(text(&meaning, "workspace_root").unwrap_or_default());
    let package = package_in(&meaning, &root)?;
    let target = library(package).ok_or_else(|| {
        CudaBuilderError::Manifest(format!(
            "{} is no library: it needs a src/lib.rs",
            root.join("Cargo.toml").display()
        ))
    })?;
    let source = PathBuf::from(text(target, "src_path").unwrap_or_default());
    let library = copied_where_old(&source, &folder)?;
    let manifest = manifest(package, target, &library, &workspace, args)?;
    write_text(&folder.join("Cargo.toml"), &manifest)?;
    start_lock_file(&workspace, &folder)?;
    // Cargo writes what the lock file lacks, and drops what only the rest of the workspace needs.
    metadata(&folder.join("Cargo.toml"), &folder, &[])?;
    let mut watched = vec![root.join("Cargo.toml"), workspace.join("Cargo.toml")];
    watched.extend(source.parent().map(Path::to_path_buf));
    Ok(Shadow { folder, watched })
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn text<'a>(of: &'a Json, key: &str) -> Option<&'a str> {
    of.get(key)?.as_str()
}

fn list<'a>(of: &'a Json, key: &str) -> impl Iterator<Item = &'a Json> {
    of.get(key).and_then(Json::as_array).into_iter().flatten()
}

fn texts(of: &Json, key: &str) -> Vec<String> {
    list(of, key).filter_map(Json::as_str).map(str::to_string).collect()
}

/// Asks the cargo of this build what a manifest means. Where the package stands, its own choice of a compiler does not matter.
fn metadata(manifest: &Path, at: &Path, args: &[&str]) -> Result<Json> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    environment::scrub(&mut command);
    if let Some(rustc) = env::var_os("RUSTC") {
        command.env("RUSTC", rustc);
    }
    command
        .current_dir(at)
        .args(["metadata", "--format-version", "1", "--manifest-path"])
        .arg(manifest)
        .args(args);
    let output = command.output().map_err(|error| failed("cannot start cargo for", manifest, error))?;
    if !output.status.success() {
        return Err(failed("cargo rejects", manifest, String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| failed("cannot read cargo's words on", manifest, error))
}

fn package_in<'a>(meaning: &'a Json, root: &Path) -> Result<&'a Json> {
    let is_ours = |package: &&Json| {
        let manifest = text(package, "manifest_path").map(Path::new).and_then(Path::parent);
        manifest.is_some_and(|folder| fs::canonicalize(folder).ok() == fs::canonicalize(root).ok())
    };
    list(meaning, "packages").find(is_ours).ok_or_else(|| {
        CudaBuilderError::Manifest(format!("{} is no package", root.join("Cargo.toml").display()))
    })
}

fn library(package: &Json) -> Option<&Json> {
    let kinds = ["lib", "rlib", "cdylib", "dylib", "staticlib"];
    list(package, "targets")
        .find(|target| texts(target, "kind").iter().any(|kind| kinds.contains(&kind.as_str())))
}

fn manifest(
    package: &Json,
    target: &Json,
    library: &Path,
    workspace: &Path,
    args: &[String],
) -> Result<String> {
    let mut of_package = Table::new();
    for key in ["name", "version", "edition"] {
        of_package.extend(text(package, key).map(|value| (key.to_string(), value.into())));
    }
    of_package.insert("publish".into(), false.into());
    let is_script = |target: &&Json| texts(target, "kind") == ["custom-build"];
    let script = list(package, "targets").find(is_script).and_then(|script| text(script, "src_path"));
    of_package.insert("build".into(), script.map_or(Value::from(false), Value::from));
    for key in ["autobins", "autoexamples", "autotests", "autobenches"] {
        of_package.insert(key.into(), false.into());
    }

    let mut of_library = Table::new();
    of_library
        .extend(text(target, "name").map(|name| ("name".to_string(), Value::from(name.replace('-', "_")))));
    of_library.insert("path".into(), library.display().to_string().into());
    for key in ["test", "doctest", "bench"] {
        of_library.insert(key.into(), false.into());
    }

    let mut features = Table::new();
    for (name, of) in package.get("features").and_then(Json::as_object).into_iter().flatten() {
        let of: Vec<Value> =
            of.as_array().into_iter().flatten().filter_map(Json::as_str).map(Value::from).collect();
        features.insert(name.clone(), of.into());
    }
    choose_features(&mut features, args)?;

    let mut all = Table::new();
    for dependency in list(package, "dependencies") {
        add_dependency(&mut all, dependency);
    }
    all.insert("package".into(), of_package.into());
    all.insert("lib".into(), of_library.into());
    all.insert("features".into(), features.into());
    all.insert("workspace".into(), Table::from_iter([("resolver".to_string(), "2".into())]).into());
    let release = Table::from_iter([
        ("opt-level".to_string(), 3.into()),
        ("lto".to_string(), "fat".into()),
        ("codegen-units".to_string(), 1.into()),
        ("panic".to_string(), "abort".into()),
    ]);
    all.insert("profile".into(), Table::from_iter([("release".to_string(), release.into())]).into());
    all.extend(patches(workspace)?.map(|patches| ("patch".to_string(), patches)));
    toml::to_string(&all)
        .map_err(|error| CudaBuilderError::Manifest(format!("cannot write a manifest: {error}")))
}

/// Makes the features that cargo's arguments choose those that the crate has by default: its package is not the one that is built.
fn choose_features(features: &mut Table, args: &[String]) -> Result<()> {
    let mut chosen: Vec<Value> =
        features.get("default").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut args = args.iter().map(String::as_str).filter(|arg| *arg != "--");
    while let Some(arg) = args.next() {
        let names = match arg {
            "--no-default-features" => {
                chosen.clear();
                continue;
            }
            "--all-features" => features.keys().cloned().collect::<Vec<_>>().join(","),
            "--features" | "-F" => args.next().unwrap_or_default().to_string(),
            other => match other.strip_prefix("--features=") {
                Some(names) => names.to_string(),
                None => {
                    return Err(CudaBuilderError::Manifest(format!(
                        "cuda_builder cannot pass `{other}` to cargo: `--features`, `--all-features` and `--no-default-features` it can"
                    )));
                }
            },
        };
        chosen.extend(
            names.split([',', ' ']).filter(|name| !name.is_empty() && *name != "default").map(Value::from),
        );
    }
    features.insert("default".into(), chosen.into());
    Ok(())
}

fn add_dependency(all: &mut Table, dependency: &Json) {
    let section = match text(dependency, "kind") {
        None | Some("normal") => "dependencies",
        Some("build") => "build-dependencies",
        // Tests are not compiled.
        Some(_) => return,
    };
    let (Some(package), Some(version)) = (text(dependency, "name"), text(dependency, "req")) else { return };
    let mut of = Table::new();
    let name = text(dependency, "rename").unwrap_or(package);
    if name != package {
        of.insert("package".into(), package.into());
    }
    if version != "*" || text(dependency, "source").is_some() {
        of.insert("version".into(), version.into());
    }
    of.extend(text(dependency, "path").map(|path| ("path".to_string(), path.into())));
    of.extend(text(dependency, "registry").map(|registry| ("registry-index".to_string(), registry.into())));
    if let Some(git) = text(dependency, "source").and_then(|source| source.strip_prefix("git+")) {
        let (address, rest) = git.split_once('?').unwrap_or((git, ""));
        of.insert("git".into(), address.split('#').next().unwrap_or(address).into());
        for (key, value) in rest.split(['&', '#']).filter_map(|part| part.split_once('=')) {
            of.insert(key.into(), value.replace("%2F", "/").into());
        }
    }
    let features: Vec<Value> = texts(dependency, "features").into_iter().map(Value::from).collect();
    of.insert("features".into(), features.into());
    let flag = |key| dependency.get(key).and_then(Json::as_bool);
    of.insert("optional".into(), flag("optional").unwrap_or(false).into());
    of.insert("default-features".into(), flag("uses_default_features").unwrap_or(true).into());

    let mut table = all;
    if let Some(target) = text(dependency, "target") {
        table = child(child(table, "target"), target);
    }
    child(table, section).insert(name.into(), of.into());
}

fn child<'a>(of: &'a mut Table, key: &str) -> &'a mut Table {
    let value = of.entry(key).or_insert_with(|| Table::new().into());
    if !value.is_table() {
        *value = Table::new().into();
    }
    match value {
        Value::Table(table) => table,
        _ => unreachable!("it was made a table"),
    }
}

/// Returns the workspace's replacements of crates, with paths that do not depend on the folder.
fn patches(workspace: &Path) -> Result<Option<Value>> {
    let path = workspace.join("Cargo.toml");
    let Ok(manifest) = fs::read_to_string(&path) else { return Ok(None) };
    let mut manifest: Table = manifest.parse().map_err(|error| failed("cannot read", &path, error))?;
    let Some(mut patches) = manifest.remove("patch") else { return Ok(None) };
    let sources = patches.as_table_mut().into_iter().flat_map(|patches| patches.iter_mut());
    let crates = sources.filter_map(|(_, of)| of.as_table_mut()).flat_map(|of| of.iter_mut());
    for table in crates.filter_map(|(_, of)| of.as_table_mut()) {
        if let Some(folder) = table.get("path").and_then(Value::as_str) {
            let folder = workspace.join(folder).display().to_string();
            table.insert("path".into(), folder.into());
        }
    }
    Ok(Some(patches))
}

/// Copies the workspace's lock file when it has changed.
fn start_lock_file(workspace: &Path, folder: &Path) -> Result<()> {
    let Ok(lock) = fs::read_to_string(workspace.join("Cargo.lock")) else { return Ok(()) };
    let seen = folder.join("outer.lock");
    if folder.join("Cargo.lock").exists() && fs::read_to_string(&seen).is_ok_and(|seen| seen == lock) {
        return Ok(());
    }
    write_text(&folder.join("Cargo.lock"), &lock)?;
    write_text(&seen, &lock)
}

fn write_text(path: &Path, text: &str) -> Result<()> {
    put(path, text.as_bytes()).map_err(|error| failed("cannot write", path, error))
}

/// Returns the root of the library: the source itself, or a copy of it among copies of the files beside it.
fn copied_where_old(source: &Path, folder: &Path) -> Result<PathBuf> {
    let root = fs::read_to_string(source).map_err(|error| failed("cannot read", source, error))?;
    let modern = without_old_attributes(&root);
    let (Some(from), Some(name)) = (source.parent(), source.file_name()) else {
        return Ok(source.to_path_buf());
    };
    let to = folder.join("src");
    if modern == root {
        // By what is in this folder, the builder knows the sources.
        let mut hasher = DefaultHasher::new();
        hash_files(from, &mut hasher).map_err(|error| failed("cannot read", from, error))?;
        write_text(&to.join("hash"), &format!("{:016x}\n", hasher.finish()))?;
        return Ok(source.to_path_buf());
    }
    let mut kept = BTreeSet::from([to.join(name)]);
    copy(from, &to, source, &mut kept).map_err(|error| failed("cannot copy", from, error))?;
    write_text(&to.join(name), &modern)?;
    remove_others(&to, &kept).map_err(|error| failed("cannot clean", &to, error))?;
    Ok(to.join(name))
}

/// Replaces attributes of the crate, which are before its first item; the lines stay what they were.
fn without_old_attributes(root: &str) -> String {
    let mut text = root.to_string();
    for (old, new) in OLD_ATTRIBUTES {
        text = text.replace(old, new);
    }
    text
}

fn copy(from: &Path, to: &Path, but: &Path, kept: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &copied, but, kept)?;
        } else if path != but {
            put(&copied, &fs::read(&path)?)?;
            kept.insert(copied);
        }
    }
    Ok(())
}

fn hash_files(folder: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        path.hash(hasher);
        if path.is_dir() {
            hash_files(&path, hasher)?;
        } else {
            fs::read(&path)?.hash(hasher);
        }
    }
    Ok(())
}

/// Removes what the sources no longer have.
fn remove_others(folder: &Path, kept: &BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, kept)?;
        } else if !kept.contains(&path) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_that_are_gone_are_replaced() {
        let old = "#![cfg_attr(\n    target_os = \"cuda\",\n    no_std,\n    feature(register_attr),\n    register_attr(nvvm_internal)\n)]\nuse x;\n";
        let new = "#![cfg_attr(\n    target_os = \"cuda\",\n    no_std,\n    feature(rust1),\n    allow(stable_features)\n)]\nuse x;\n";
        assert_eq!(without_old_attributes(old), new);
        assert_eq!(without_old_attributes(new), new);
    }

    #[test]
    fn features_are_chosen_as_cargo_does() {
        let features: Table = "default = [\"a\"]\na = []\nb = []\n".parse().unwrap();
        let chosen = |args: &[&str]| {
            let mut features = features.clone();
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            choose_features(&mut features, &args).map(|()| features["default"].to_string())
        };
        assert_eq!(chosen(&[]).unwrap(), "[\"a\"]");
        assert_eq!(chosen(&["--features", "b"]).unwrap(), "[\"a\", \"b\"]");
        assert_eq!(chosen(&["--no-default-features", "--features=b"]).unwrap(), "[\"b\"]");
        assert!(chosen(&["--offline"]).unwrap_err().to_string().contains("--offline"));
    }

    #[test]
    fn dependencies_keep_what_cargo_knows_of_them() {
        let mut all = Table::new();
        let dependency = serde_json::json!({
            "name": "glam", "rename": "math", "req": "^0.30", "kind": null, "optional": true, "uses_default_features": false,
            "features": ["libm"], "target": "cfg(target_os = \"cuda\")",
            "source": "git+https://example.org/glam?rev=abc"
        });
        add_dependency(&mut all, &dependency);
        let of = &all["target"]["cfg(target_os = \"cuda\")"]["dependencies"]["math"];
        assert_eq!(of["package"].as_str(), Some("glam"));
        assert_eq!(of["git"].as_str(), Some("https://example.org/glam"));
        assert_eq!(of["rev"].as_str(), Some("abc"));
        assert_eq!(of["default-features"].as_bool(), Some(false));
    }

    #[test]
    fn a_workspace_member_gets_a_manifest_of_its_own() {
        let folder = tempfile::TempDir::new().unwrap();
        let kernels = folder.path().join("kernels");
        let put = |path: &str, text: &str| crate::put(&folder.path().join(path), text.as_bytes()).unwrap();
        put("Cargo.toml", "[workspace]\nmembers = [\"kernels\"]\n[workspace.package]\nversion = \"1.2.3\"\n");
        put(
            "kernels/Cargo.toml",
            "[package]\nname = \"my-kernels\"\nversion.workspace = true\nedition = \"2018\"\n",
        );
        put("kernels/src/lib.rs", "#![register_attr(nvvm_internal)]\npub mod m;\n");
        put("kernels/src/m.rs", "pub fn f() {}\n");
        let out = folder.path().join("out");
        let shadow = write(&kernels, &out, &[], &"sm_70").unwrap();
        let manifest: Table = fs::read_to_string(shadow.folder.join("Cargo.toml")).unwrap().parse().unwrap();
        assert_eq!(manifest["package"]["version"].as_str(), Some("1.2.3"));
        assert_eq!(manifest["package"]["edition"].as_str(), Some("2018"));
        assert_eq!(manifest["lib"]["name"].as_str(), Some("my_kernels"));
        assert_eq!(fs::read_to_string(shadow.folder.join("src/m.rs")).unwrap(), "pub fn f() {}\n");
        fs::rename(kernels.join("src/m.rs"), kernels.join("src/n.rs")).unwrap();
        assert_eq!(write(&kernels, &out, &[], &"sm_70").unwrap().folder, shadow.folder);
        assert!(!shadow.folder.join("src/m.rs").exists() && shadow.folder.join("src/n.rs").exists());
        // Another build script, or another profile, may want other kernels of the same crate.
        let newer = write(&kernels, &out, &[], &"sm_90").unwrap();
        let plain = write(&kernels, &out, &["--no-default-features".into()], &"sm_70").unwrap();
        assert!(
            newer.folder != shadow.folder && plain.folder != shadow.folder && plain.folder != newer.folder
        );
    }
}
