//! Files that are either the old one or the whole new one, whatever happens while writing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::error::{InstanceError, Result};

/// Writes a file beside `path`, then moves it there. Devices and pipes are written to as they are.
pub(crate) fn write(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    // A link keeps pointing where it does: the file behind it is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let is_file = fs::metadata(&target).map_or(true, |metadata| metadata.is_file());
    let written = if is_file {
        write_beside(&target, content)
    } else {
        OpenOptions::new().write(true).open(&target).and_then(|file| write_all(file, content).map(drop))
    };
    written.map_err(|cause| InstanceError::write(path, cause))
}

fn write_beside(target: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let beside = name_beside(target)?;
    let file = OpenOptions::new().write(true).create_new(true).open(&beside)?;
    // Some systems report a full disk only when the file is flushed to it.
    let written =
        write_all(file, content).and_then(|file| file.sync_all()).and_then(|()| fs::rename(&beside, target));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&beside);
    }
    written
}

fn write_all(file: File, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let mut writer = BufWriter::new(file);
    content(&mut writer)?;
    writer.into_inner().map_err(|error| error.into_error())
}

/// A name that no other process and no other thread of this one uses.
fn name_beside(target: &Path) -> io::Result<PathBuf> {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = target.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!(".{}.{}-{number}.tmp", name.to_string_lossy(), std::process::id());
    Ok(target.with_file_name(name))
}

#[cfg(test)]
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
