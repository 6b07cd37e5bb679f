//! Keeps compiled kernels in a folder that the user names, so that another profile or a clean build takes them instead of compiling.
//!
//! What was compiled is known by everything that it was made from. Which files these are, only the compiler can say. So an entry is
//! found by what is known before: the source's path, its lock file, the compiler, the flags, cargo's settings. It is taken if all
//! files that were read then, and the manifests of their crates, have the same contents now.

use std::collections::{BTreeSet, hash_map::DefaultHasher};
use std::env;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf, absolute};
use std::process;

use crate::compile::{Compiled, Job, finding, line};

const INPUTS: &str = "inputs.txt";
const PTX: &str = "kernels.ptx";
const FINDINGS: &str = "findings.txt";
const MESSAGES: &str = "messages.txt";

/// Returns what was compiled from the same input before. Whatever cannot be read is not there.
pub fn find(folder: &Path, job: &Job<'_>) -> Option<Compiled> {
    let entries = fs::read_dir(folder.join(key(job)?)).ok()?;
    entries.flatten().find_map(|entry| read(&entry.path()))
}

fn read(entry: &Path) -> Option<Compiled> {
    let inputs = fs::read_to_string(entry.join(INPUTS)).ok()?;
    let mut files = Vec::new();
    for line in inputs.lines() {
        let (hash, file) = line.split_once(' ')?;
        if hash_of_file(Path::new(file)).ok()? != hash {
            return None;
        }
        files.push(PathBuf::from(file));
    }
    let text = |name| fs::read_to_string(entry.join(name)).ok();
    let findings = text(FINDINGS)?.lines().filter_map(finding).collect();
    Some(Compiled { ptx: text(PTX)?, findings, messages: text(MESSAGES)?, files })
}

/// Keeps what was compiled, if its input is known. An entry appears whole or not at all.
///
/// # Errors
/// If a file cannot be read or written.
pub fn keep(folder: &Path, job: &Job<'_>, compiled: &Compiled) -> io::Result<()> {
    let Some(key) = key(job) else { return Ok(()) };
    // What the builder itself wrote depends on the rest, and has another path in each build.
    let files = compiled.files.iter().filter(|file| !file.starts_with(&job.cache_dir));
    let files: BTreeSet<&PathBuf> = files.collect();
    let mut inputs = BTreeSet::new();
    for file in &files {
        if reads_environment(&fs::read_to_string(file).unwrap_or_default()) {
            return Ok(());
        }
        let manifest = file.ancestors().map(|dir| dir.join("Cargo.toml")).find(|file| file.is_file());
        inputs.extend(manifest);
        inputs.insert(file.to_path_buf());
    }
    if inputs.is_empty() {
        return Ok(());
    }
    let lines = inputs.iter().map(|file| Ok(format!("{} {}\n", hash_of_file(file)?, file.display())));
    let lines = lines.collect::<io::Result<String>>()?;
    let entries = folder.join(key);
    let part = entries.join(format!(".{}-{:?}", process::id(), std::thread::current().id()));
    fs::create_dir_all(&part)?;
    fs::write(part.join(PTX), &compiled.ptx)?;
    fs::write(part.join(FINDINGS), compiled.findings.iter().map(line).collect::<String>())?;
    fs::write(part.join(MESSAGES), &compiled.messages)?;
    fs::write(part.join(INPUTS), &lines)?;
    // Another build may have been faster.
    if fs::rename(&part, entries.join(hash(&lines))).is_err() {
        fs::remove_dir_all(&part)?;
    }
    Ok(())
}

/// Returns whether a source is compiled with values of the environment, which are not known here. Those that cargo sets follow from
/// the manifests, and the folder of a build, which the library's macro for hosts names, holds nothing for kernels.
fn reads_environment(source: &str) -> bool {
    let known = |rest: &&str| rest.starts_with("\"OUT_DIR\"") || rest.starts_with("\"CARGO_");
    source.split("env!(").skip(1).any(|rest| !known(&rest))
}

/// Returns what is known before compiling, as one number; `None` if too little is.
fn key(job: &Job<'_>) -> Option<String> {
    let source = absolute(job.source.path()).ok()?;
    let lock = fs::read(job.source.lock()?).ok()?;
    let compiler = fs::metadata(&job.toolchain.rustc).ok()?;
    let compiler = (&job.toolchain.version, &job.toolchain.rustc, compiler.len(), compiler.modified().ok()?);
    let dependencies: Vec<_> =
        job.dependencies.iter().map(|(name, dir)| (name, absolute(dir).ok())).collect();
    let flags = (job.flags, job.profile, job.std_crates, job.last_crate_flags());
    let library = env::var_os("DEP_WARPSMITH_ROOT");
    let settings = cargo_settings(&source);
    let version = env!("CARGO_PKG_VERSION");
    Some(hash(&(version, source, lock, compiler, dependencies, flags, library, settings)))
}

/// Returns cargo's settings for a folder: they may replace crates and change profiles.
fn cargo_settings(source: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(&env::var_os("HOME")?).join(".cargo")));
    let folders = source.ancestors().map(|dir| dir.join(".cargo")).chain(home);
    let files = folders.flat_map(|dir| ["config", "config.toml"].map(|name| dir.join(name)));
    files.filter_map(|file| fs::read(&file).ok().map(|text| (file, text))).collect()
}

fn hash_of_file(file: &Path) -> io::Result<String> {
    Ok(hash(&fs::read(file)?))
}

fn hash(of: &impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_taken_if_its_files_are_the_same() {
        let folder = tempfile::TempDir::new().unwrap();
        let source = folder.path().join("a b.rs");
        fs::write(&source, "one").unwrap();
        let entry = folder.path().join("entry");
        fs::create_dir(&entry).unwrap();
        let inputs = format!("{} {}\n", hash_of_file(&source).unwrap(), source.display());
        for (name, text) in
            [(INPUTS, inputs.as_str()), (PTX, "ptx"), (FINDINGS, "remainder\tk\tfrem\n"), (MESSAGES, "m")]
        {
            fs::write(entry.join(name), text).unwrap();
        }
        let kept = read(&entry).unwrap();
        assert_eq!(
            (kept.ptx.as_str(), kept.messages.as_str(), &kept.files),
            ("ptx", "m", &vec![source.clone()])
        );
        assert_eq!(kept.findings[0].text, "frem");
        fs::write(&source, "two").unwrap();
        assert!(read(&entry).is_none());
        fs::remove_file(&source).unwrap();
        assert!(read(&entry).is_none());
    }

    #[test]
    fn sources_that_read_the_environment_are_known() {
        assert!(reads_environment("const X: &str = env!(\"USER\");"));
        assert!(reads_environment("option_env!( \"USER\")"));
        assert!(!reads_environment(
            "include!(concat!(env!(\"OUT_DIR\"), \"/kernels.rs\")); env!(\"CARGO_PKG_NAME\")"
        ));
    }
}
