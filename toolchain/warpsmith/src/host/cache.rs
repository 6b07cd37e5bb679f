//! Compiled kernels on disk: the driver takes seconds for what it was given before.
//!
//! Nothing is taken out of it: it may be removed at any time, and is made again.
//!
//! The folder is `warpsmith` in the user's folder for caches; `WARPSMITH_CACHE` names another, or is `off`. A file that cannot be
//! read, or is damaged, is one that is not there.

use core::hash::Hasher as _;
use std::collections::hash_map::DefaultHasher;
use std::env;
use std::ffi::OsString;
use std::format;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::string::String;
use std::vec::Vec;

/// What a compiled kernel was made of.
pub(crate) struct Key {
    /// The name of its file.
    name: String,
    /// What stands in the file, and must be the same.
    header: String,
}

/// The format of the files.
const MAGIC: &str = "warpsmith cubin 1";

fn hash(seed: u64, bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u64(seed);
    hasher.write(bytes);
    hasher.finish()
}

impl Key {
    /// `machine` names the driver and the architecture.
    pub fn new(machine: &str, ptx: &str) -> Self {
        let hashes =
            [1, 2].map(|seed| hash(seed, ptx.as_bytes()) ^ hash(seed, machine.as_bytes()).rotate_left(1));
        let name = format!("{:016x}{:016x}.cubin", hashes[0], hashes[1]);
        let header =
            format!("{MAGIC}\n{machine}\n{} bytes of PTX, {:016x}{:016x}\n", ptx.len(), hashes[0], hashes[1]);
        Key { name, header }
    }
}

/// Returns the folder, unless there is to be none.
fn folder() -> Option<PathBuf> {
    folder_by(|name| env::var_os(name).filter(|value| !value.is_empty()), env::home_dir())
}

fn folder_by(variable: impl Fn(&str) -> Option<OsString>, home: Option<PathBuf>) -> Option<PathBuf> {
    if let Some(named) = variable("WARPSMITH_CACHE") {
        return (named != "off").then(|| PathBuf::from(named));
    }
    let caches = if cfg!(windows) {
        PathBuf::from(variable("LOCALAPPDATA")?)
    } else if cfg!(target_os = "macos") {
        home?.join("Library/Caches")
    } else {
        // A relative one is to be ignored, by the specification of these folders.
        let named = variable("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        named.or_else(|| home.map(|home| home.join(".cache")))?
    };
    Some(caches.join("warpsmith"))
}

/// Returns what was kept.
pub(crate) fn get(key: &Key) -> Option<Vec<u8>> {
    let file = fs::read(folder()?.join(&key.name)).ok()?;
    contents(key, &file)
}

/// Keeps a compiled kernel. If that fails, the next start compiles again.
pub(crate) fn put(key: &Key, binary: &[u8]) {
    if let Some(folder) = folder() {
        let _ = write(&folder, key, binary);
    }
}

/// Takes a file apart, and checks that it is whole.
fn contents(key: &Key, file: &[u8]) -> Option<Vec<u8>> {
    let rest = file.strip_prefix(key.header.as_bytes())?;
    let (sum, binary) = rest.split_at_checked(8)?;
    (sum == hash(3, binary).to_le_bytes()).then(|| binary.to_vec())
}

/// Writes beside the file and renames, so that no one reads half of it.
fn write(folder: &std::path::Path, key: &Key, binary: &[u8]) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    static COUNT: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(0);
    let count = COUNT.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
    let beside = folder.join(format!("{}.{}.{count}.new", key.name, std::process::id()));
    let written = fs::File::create(&beside).and_then(|mut file| {
        file.write_all(key.header.as_bytes())?;
        file.write_all(&hash(3, binary).to_le_bytes())?;
        // Not waited for until it is on the disk: a file that is cut off is one that is not there.
        file.write_all(binary)
    });
    let renamed = written.and_then(|()| fs::rename(&beside, folder.join(&key.name)));
    if renamed.is_err() {
        let _ = fs::remove_file(&beside);
    }
    renamed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_what_is_damaged_is_not() {
        let folder = env::temp_dir().join(format!("warpsmith-cache-{}", std::process::id()));
        let (key, other) = (
            Key::new("driver 13000, sm_90", ".version 8.0"),
            Key::new("driver 12000, sm_90", ".version 8.0"),
        );
        assert_ne!(key.name, other.name);
        write(&folder, &key, b"binary").unwrap();
        let path = folder.join(&key.name);
        let mut file = fs::read(&path).unwrap();
        assert_eq!(contents(&key, &file).as_deref(), Some(&b"binary"[..]));
        assert_eq!(contents(&other, &file), None, "made by another driver");
        assert_eq!(contents(&key, &file[..file.len() - 1]), None, "cut off");
        *file.last_mut().unwrap() ^= 1;
        assert_eq!(contents(&key, &file), None, "damaged");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside it");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_folder_is_the_one_that_was_named() {
        let set = |name: &'static str, value: &'static str| {
            move |asked: &str| (asked == name).then(|| OsString::from(value))
        };
        let home = || Some(PathBuf::from("/home/user"));
        assert_eq!(folder_by(set("WARPSMITH_CACHE", "off"), home()), None);
        assert_eq!(folder_by(set("WARPSMITH_CACHE", "/tmp/x"), home()), Some(PathBuf::from("/tmp/x")));
        if cfg!(target_os = "linux") {
            assert_eq!(folder_by(set("XDG_CACHE_HOME", "/c"), home()), Some(PathBuf::from("/c/warpsmith")));
            assert_eq!(
                folder_by(set("XDG_CACHE_HOME", "c"), home()),
                Some(PathBuf::from("/home/user/.cache/warpsmith"))
            );
            assert_eq!(folder_by(|_| None, None), None);
        }
    }
}
