//! Keeps compiled kernels in a folder that the user names, so that another profile or a clean build takes them instead of compiling.
//!
//! What was compiled is known by everything that it was made from. Which files these are, only the compiler can say. So an entry is
//! found by what is known before: the source's path, its lock file, the compiler, the flags, cargo's settings. It is taken if all
//! files that were read then, and the manifests of their crates, have the same contents now.

use std::collections::{BTreeSet, hash_map::DefaultHasher};
use std::env;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf, absolute};
use std::process;
use std::time::{Duration, SystemTime};

use crate::compile::{Compiled, Job, finding, line};

const INPUTS: &str = "inputs.txt";
const PTX: &str = "kernels.ptx";
const FINDINGS: &str = "findings.txt";
const MESSAGES: &str = "messages.txt";
/// The kinds of inputs.
const FILE: &str = "file";
const VARIABLE: &str = "variable";
/// What was not used for so long is removed.
const UNUSED: Duration = Duration::from_secs(60 * 24 * 60 * 60);

/// Returns what was compiled from the same input before. Whatever cannot be read is not there.
pub fn find(folder: &Path, job: &Job<'_>) -> Option<Compiled> {
    let entries = fs::read_dir(folder.join(key(job)?)).ok()?;
    entries.flatten().find_map(|entry| read(&entry.path()))
}

fn read(entry: &Path) -> Option<Compiled> {
    // The folder of a build that is still writing.
    if entry.file_name()?.to_string_lossy().starts_with('.') {
        return None;
    }
    let inputs = fs::read_to_string(entry.join(INPUTS)).ok()?;
    let text = |name| fs::read_to_string(entry.join(name)).ok();
    let (ptx, found, messages) = (text(PTX)?, text(FINDINGS)?, text(MESSAGES)?);
    let mut lines = inputs.lines();
    if lines.next()? != hash(&(&ptx, &found, &messages)) {
        return None;
    }
    let (mut files, mut variables) = (Vec::new(), Vec::new());
    for line in lines {
        let mut parts = line.splitn(3, ' ');
        let (kind, then, name) = (parts.next()?, parts.next()?, parts.next()?);
        let now = match kind {
            FILE => hash_of_file(Path::new(name)).ok()?,
            _ => hash_of_variable(name),
        };
        if now != then {
            return None;
        }
        match kind {
            FILE => files.push(PathBuf::from(name)),
            _ => variables.push(name.to_string()),
        }
    }
    // Whatever is not used for long is removed.
    if let Ok(file) = File::options().write(true).open(entry.join(INPUTS)) {
        let _ = file.set_modified(SystemTime::now());
    }
    let findings = found.lines().filter_map(finding).collect();
    Some(Compiled { ptx, findings, messages, files, variables })
}

/// Removes what was not used for long.
fn shrink(folder: &Path) {
    let entries =
        |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_ours = |name: &Path| name.file_name().is_some_and(|name| name.len() == 16);
    for key in entries(folder).filter(|path| is_ours(path)) {
        for entry in entries(&key).filter(|path| is_ours(path) || path.join(PTX).exists()) {
            let used = fs::metadata(entry.join(INPUTS))
                .or_else(|_| fs::metadata(&entry))
                .and_then(|file| file.modified());
            if used.is_ok_and(|used| used.elapsed().is_ok_and(|age| age > UNUSED)) {
                let _ = fs::remove_dir_all(entry);
            }
        }
        // This fails while there is something in it.
        let _ = fs::remove_dir(key);
    }
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
        // A package takes its edition from its workspace, for example.
        inputs.extend(file.ancestors().map(|dir| dir.join("Cargo.toml")).filter(|file| file.is_file()));
        inputs.insert(file.to_path_buf());
    }
    if inputs.is_empty() {
        return Ok(());
    }
    let found: String = compiled.findings.iter().map(line).collect();
    let mut lines = format!("{}\n", hash(&(&compiled.ptx, &found, &compiled.messages)));
    for file in &inputs {
        lines.push_str(&format!("{FILE} {} {}\n", hash_of_file(file)?, file.display()));
    }
    for name in &compiled.variables {
        lines.push_str(&format!("{VARIABLE} {} {name}\n", hash_of_variable(name)));
    }
    shrink(folder);
    let entries = folder.join(key);
    let part = entries.join(format!(".{}-{:?}", process::id(), std::thread::current().id()));
    fs::create_dir_all(&part)?;
    fs::write(part.join(PTX), &compiled.ptx)?;
    fs::write(part.join(FINDINGS), found)?;
    fs::write(part.join(MESSAGES), &compiled.messages)?;
    fs::write(part.join(INPUTS), &lines)?;
    // Another build may have been faster.
    if fs::rename(&part, entries.join(hash(&lines))).is_err() {
        fs::remove_dir_all(&part)?;
    }
    Ok(())
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

fn hash_of_variable(name: &str) -> String {
    hash(&env::var_os(name))
}

fn hash(of: &impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes an entry that was made of a file and a variable.
    fn write_entry(entry: &Path, source: &Path) {
        fs::create_dir_all(entry).unwrap();
        let (ptx, found, messages) = ("ptx", "remainder\tk\tfrem\n", "m");
        let inputs = format!(
            "{}\nfile {} {}\nvariable {} NO_SUCH_VARIABLE\n",
            hash(&(ptx, found, messages)),
            hash_of_file(source).unwrap(),
            source.display(),
            hash_of_variable("NO_SUCH_VARIABLE")
        );
        for (name, text) in [(INPUTS, inputs.as_str()), (PTX, ptx), (FINDINGS, found), (MESSAGES, messages)] {
            fs::write(entry.join(name), text).unwrap();
        }
    }

    #[test]
    fn an_entry_is_taken_if_its_inputs_are_the_same() {
        let folder = tempfile::TempDir::new().unwrap();
        let source = folder.path().join("a b.rs");
        fs::write(&source, "one").unwrap();
        let entry = folder.path().join("entry");
        write_entry(&entry, &source);
        let kept = read(&entry).unwrap();
        assert_eq!(
            (kept.ptx.as_str(), kept.messages.as_str(), &kept.files),
            ("ptx", "m", &vec![source.clone()])
        );
        assert_eq!(
            (kept.findings[0].text.as_str(), kept.variables),
            ("frem", vec!["NO_SUCH_VARIABLE".to_string()])
        );
        // Another value.
        let inputs = fs::read_to_string(entry.join(INPUTS)).unwrap();
        fs::write(entry.join(INPUTS), inputs.replace("NO_SUCH_VARIABLE", "PATH")).unwrap();
        assert!(read(&entry).is_none());
        fs::write(entry.join(INPUTS), inputs).unwrap();
        assert!(read(&entry).is_some());
        fs::write(&source, "two").unwrap();
        assert!(read(&entry).is_none());
        fs::remove_file(&source).unwrap();
        assert!(read(&entry).is_none());
    }

    #[test]
    fn what_is_damaged_or_still_written_is_not_taken() {
        let folder = tempfile::TempDir::new().unwrap();
        let source = folder.path().join("a.rs");
        fs::write(&source, "one").unwrap();
        let (entry, part) = (folder.path().join("entry"), folder.path().join(".1-ThreadId(1)"));
        write_entry(&part, &source);
        assert!(read(&part).is_none());
        fs::rename(&part, &entry).unwrap();
        assert!(read(&entry).is_some());
        fs::write(entry.join(PTX), "pt").unwrap();
        assert!(read(&entry).is_none());
    }

    #[test]
    fn what_is_not_used_is_removed() {
        let folder = tempfile::TempDir::new().unwrap();
        let source = folder.path().join("a.rs");
        fs::write(&source, "one").unwrap();
        let entry = |name: &str| folder.path().join(name);
        let (old, used, new) = (
            "0123456789abcdef/0123456789abcdef",
            "0123456789abcdef/1123456789abcdef",
            "1123456789abcdef/0123456789abcdef",
        );
        let others = entry("others").join("0123456789abcdef");
        for entry in [old, used, new].map(entry).iter().chain([&others]) {
            write_entry(entry, &source);
        }
        let past = SystemTime::now() - UNUSED - Duration::from_secs(60);
        for entry in [entry(old), entry(used), others.clone()] {
            File::options().write(true).open(entry.join(INPUTS)).unwrap().set_modified(past).unwrap();
        }
        assert!(read(&entry(used)).is_some());
        shrink(folder.path());
        assert_eq!([old, used, new].map(|name| entry(name).exists()), [false, true, true]);
        assert!(others.exists());
    }
}
