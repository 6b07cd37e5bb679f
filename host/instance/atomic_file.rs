//! Atomic file writes: a file is always either the old one or the complete new one, whatever happens while writing.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::error::{InstanceError, Result};

/// Maximum length of a chain of links: anything longer is a cycle.
const MOST_LINKS: u32 = 40;

/// What a path refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file, after following all links. It need not exist yet, but its folder does.
    File(PathBuf),
    /// A pipe or a device, which is written to directly.
    Device,
}

/// Finds out what a path refers to.
///
/// # Errors
///
/// If it is a folder, its folder does not exist, it has no file name, or it only gives the number of an open file.
pub fn place(path: &Path) -> io::Result<Place> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(metadata) if !metadata.is_file() => return Ok(Place::Device),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    if path.to_string_lossy().ends_with(std::path::is_separator) {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    // A link may lead to a file that does not exist: then that is the file to create.
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => fs::canonicalize(folder)?,
            _ => fs::canonicalize(".")?,
        };
        // Names such as /dev/fd/3: the file is already open, and whoever opened it continues to use it.
        if folder.starts_with("/proc") {
            return Err(io::Error::other("this file is already open: give its real name"));
        }
        let file = folder.join(name);
        match fs::read_link(&file) {
            Ok(target) => path = folder.join(target),
            // Use the spelling on disk, in case the file system is case-insensitive.
            Err(_) => return Ok(Place::File(fs::canonicalize(&file).unwrap_or(file))),
        }
    }
    Err(io::Error::other("too many links lead to each other"))
}

/// Checks that a file can be written, without changing anything.
///
/// # Errors
/// If it cannot be written.
#[cfg(feature = "cli")]
pub fn check(path: &Path) -> Result<()> {
    let check = || {
        let Place::File(file) = place(path)? else { return Ok(()) };
        if file.exists() {
            OpenOptions::new().write(true).open(&file)?;
        }
        remove(&create_beside(&file)?.1)
    };
    check().map_err(|cause| InstanceError::write(path, cause))
}

/// Creates an empty file, to be replaced by [`write()`].
///
/// # Errors
/// If it cannot be created; of the kind `AlreadyExists` if there is anything by this name.
#[cfg(feature = "cli")]
pub fn claim(path: &Path) -> io::Result<()> {
    File::create_new(path).map(drop)
}

/// Writes a temporary file next to `path`, then moves it there. Devices and pipes are written to directly.
///
/// # Errors
/// If `content` fails or the file cannot be written: then an old file stays.
pub fn write(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    begin(path, content).map(drop)
}

/// Writes a file like [`write()`], and returns it for appending.
///
/// # Errors
/// As [`write()`].
pub fn begin(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<Growing> {
    let written = place(path).and_then(|place| match place {
        Place::File(file) => replace(&file, content),
        Place::Device => write_device(path, content),
    });
    written.map(Growing).map_err(|cause| InstanceError::write(path, cause))
}

#[cfg(feature = "cli")]
fn write_device(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let open = |flags: i32| {
        let mut options = OpenOptions::new();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
        #[cfg(not(unix))]
        let _ = flags;
        options.write(true).open(path)
    };
    let mut writer = BufWriter::new(super::patience::open_device(path, open)?);
    content(&mut writer)?;
    writer.into_inner().map_err(|error| error.into_error())?.into_file()
}

#[cfg(not(feature = "cli"))]
fn write_device(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    OpenOptions::new().write(true).open(path).and_then(|file| write_all(file, content))
}

/// A file that grows piece by piece: each piece is written completely or not at all.
#[derive(Debug)]
pub struct Growing(File);

impl Write for Growing {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let before = self.0.metadata()?.len();
        self.0.write_all(piece).map(|()| piece.len()).inspect_err(|_| {
            // The first error is the one to report; pipes have no length.
            let _ = self.0.set_len(before).and_then(|()| self.0.seek(SeekFrom::Start(before)));
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn replace(target: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let (file, beside) = create_beside(target)?;
    let write = || {
        if let Ok(old) = fs::metadata(target) {
            keep_rights(&file, &old);
        }
        let file = write_all(file, content)?;
        // Some systems report a full disk only when the file is flushed.
        file.sync_all()?;
        let mut unfinished = unfinished();
        fs::rename(&beside, target)?;
        unfinished.remove(&beside);
        Ok(file)
    };
    let written = write();
    if written.is_err() {
        // The first error is the one to report.
        let _ = remove(&beside);
    }
    written
}

fn write_all(file: File, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let mut writer = BufWriter::new(file);
    content(&mut writer)?;
    writer.into_inner().map_err(|error| error.into_error())
}

/// Files that are being written.
fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    static ALL: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

fn remove(beside: &Path) -> io::Result<()> {
    let mut unfinished = unfinished();
    unfinished.remove(beside);
    fs::remove_file(beside)
}

/// Removes all unfinished files. No file can be started or finished afterwards: the caller ends the process.
#[cfg(feature = "cli")]
pub fn abandon() {
    let unfinished = unfinished();
    for beside in &*unfinished {
        let _ = fs::remove_file(beside);
    }
    std::mem::forget(unfinished);
}

/// Creates a temporary file in the folder of `target`. Its name is short, since that of `target` may have the maximum length; no
/// other process or thread uses the same name.
fn create_beside(target: &Path) -> io::Result<(File, PathBuf)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // A file that only its owner may read must never be open to others, so wider permissions are set only later.
    #[cfg(unix)]
    if target.exists() {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let beside = target.with_file_name(format!(".antwarp-{}-{number}.tmp", std::process::id()));
        let mut unfinished = unfinished();
        match options.open(&beside) {
            // Left, or in use, by a process with the same id on another machine.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => {
                unfinished.insert(beside.clone());
                return Ok((file, beside));
            }
        }
    }
}

/// Gives the new file the owner and permissions of the old one, as far as the system allows: only root may change the owner. No one
/// gains access who did not have it before.
fn keep_rights(file: &File, old: &Metadata) {
    #[cfg_attr(not(unix), expect(unused_mut))]
    let mut rights = old.permissions();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
        let is_given = fchown(file, Some(old.uid()), Some(old.gid())).is_ok()
            || fchown(file, None, Some(old.gid())).is_ok();
        if !is_given && file.metadata().map_or(true, |own| own.gid() != old.gid()) {
            rights.set_mode(rights.mode() & !0o070);
        }
    }
    let _ = file.set_permissions(rights);
}

#[cfg(all(test, feature = "cli"))]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_is_replaced_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tour");
        write(&path, |out| out.write_all(b"old")).unwrap();
        let error = write(&path, |out| {
            out.write_all(b"half of the new")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert!(error.unwrap_err().to_string().contains("a.tour"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        write(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["a.tour"]);
    }

    #[test]
    fn what_is_written_behind_the_beginning_is_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        fs::write(&path, "an older and longer file").unwrap();
        let mut file = begin(&path, |out| out.write_all(b"head\n")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"head\n");
        file.write_all(b"row\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"head\nrow\n");
    }

    #[test]
    fn a_name_may_be_as_long_as_names_can_be() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("n".repeat(255));
        check(&path).unwrap();
        write(&path, |out| out.write_all(b"text")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"text");
        check(&folder.path().join("n".repeat(256))).unwrap_err();
    }

    #[test]
    fn what_cannot_be_a_file_is_found_out_at_once() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        for name in ["no-folder/a", "file/a", "file/", "new/", "..", "."] {
            check(&folder.path().join(name)).unwrap_err();
        }
        check(Path::new("")).unwrap_err();
        assert_eq!(names(folder.path()), ["file"]);
    }

    #[test]
    fn a_file_that_others_have_left_is_no_obstacle() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tour");
        // Other tests may increment the count meanwhile, but not as far.
        let (_, first) = create_beside(&path).unwrap();
        let name = first.file_name().unwrap().to_str().unwrap();
        let number: u64 = name.rsplit_once('-').unwrap().1.strip_suffix(".tmp").unwrap().parse().unwrap();
        for next in number + 1..number + 1000 {
            let left = folder.path().join(format!(".antwarp-{}-{next}.tmp", std::process::id()));
            fs::write(left, "left").unwrap();
        }
        write(&path, |out| out.write_all(b"text")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"text");
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_to_the_file_that_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).unwrap();
        std::os::unix::fs::symlink("deep/file", at("first")).unwrap();
        std::os::unix::fs::symlink(at("first"), at("second")).unwrap();
        std::os::unix::fs::symlink("deep", at("folder")).unwrap();
        // A file that is not there is made, then replaced.
        for text in [b"new", b"old"] {
            write(&at("second"), |out| out.write_all(text)).unwrap();
            assert_eq!(fs::read(at("deep/file")).unwrap(), text);
            assert!(at("first").is_symlink() && at("second").is_symlink());
            let file = Place::File(fs::canonicalize(at("deep/file")).unwrap());
            for name in ["second", "folder/file", "folder/../deep/./file"] {
                assert_eq!(place(&at(name)).unwrap(), file, "{name}");
            }
        }
        std::os::unix::fs::symlink(at("round"), at("round")).unwrap();
        std::os::unix::fs::symlink(at("no-folder/file"), at("nowhere")).unwrap();
        check(&at("round")).unwrap_err();
        check(&at("nowhere")).unwrap_err();
    }

    #[cfg(unix)]
    #[test]
    fn the_rights_of_a_file_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tour");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        fs::write(&path, "old").unwrap();
        for rights in [0o600, 0o640, 0o664] {
            fs::set_permissions(&path, fs::Permissions::from_mode(rights)).unwrap();
            write(&path, |out| out.write_all(b"new")).unwrap();
            assert_eq!(mode(), rights);
        }
    }

    #[test]
    fn a_missing_folder_is_an_error_with_its_path() {
        let error = write(Path::new("no-such-folder/a.tour"), |_| Ok(())).unwrap_err();
        assert!(error.to_string().starts_with("cannot write no-such-folder/a.tour: "), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_device_is_an_error() {
        let error = write(Path::new("/dev/full"), |out| out.write_all(b"text")).unwrap_err();
        assert!(error.to_string().starts_with("cannot write /dev/full: "), "{error}");
    }
}
