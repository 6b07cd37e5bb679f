//! Compiled kernels that a published package carries, so that installing it needs no compiler for kernels.
//!
//! A folder of the package holds `kernels-<arch>.ptx.zlib` for each target and `kernels.txt`: the fingerprint of the sources, then the
//! compiler's version. [`Kernels::pack`] writes them. A build takes them only if the sources have the same fingerprint.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use yazi::{Adler32, CompressionLevel, Format};

use crate::{BuildError, Kernels, PtxFile, Target};

/// Holds the fingerprint and the compiler's version.
const INDEX: &str = "kernels.txt";

impl Kernels {
    /// Writes the kernels to a folder for a package.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn pack(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        for file in &self.files {
            fs::write(packed(folder, &file.target), compressed(&fs::read(&file.path)?)?)?;
        }
        fs::write(folder.join(INDEX), format!("{:016x}\n{}\n", self.fingerprint, self.rustc))
    }
}

/// The kernels in a folder of a package.
pub(crate) enum Packaged {
    /// There are none.
    Missing,
    /// They were compiled from other sources, or with other flags.
    Other,
    /// They are unpacked.
    Kernels(Kernels),
}

/// Unpacks the kernels in `folder` to `out`, if they were compiled from sources with this fingerprint.
pub(crate) fn unpack(
    folder: &Path,
    targets: &[Target],
    fingerprint: u64,
    out: &Path,
) -> Result<Packaged, BuildError> {
    let index = folder.join(INDEX);
    let text = match fs::read_to_string(&index) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Packaged::Missing),
        Err(error) => return Err(BuildError::io("cannot read", &index)(error)),
    };
    let mut lines = text.lines();
    if lines.next() != Some(&format!("{fingerprint:016x}")) {
        return Ok(Packaged::Other);
    }
    let rustc = lines.next().unwrap_or_default().to_owned();
    let mut files = Vec::new();
    for target in targets {
        let from = packed(folder, target);
        let file = fs::read(&from).map_err(BuildError::io("cannot read", &from))?;
        let ptx = unpacked(&file).map_err(BuildError::io("cannot unpack", &from))?;
        let file = PtxFile {
            target: target.clone(),
            path: out.join(format!("kernels-{}.ptx", target.arch())),
            report: out.join(format!("kernels-{}.report.txt", target.arch())),
        };
        fs::write(&file.path, ptx).map_err(BuildError::io("cannot write", &file.path))?;
        fs::write(&file.report, "").map_err(BuildError::io("cannot write", &file.report))?;
        files.push(file);
    }
    Ok(Packaged::Kernels(Kernels { rustc, fingerprint, files }))
}

fn compressed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    yazi::compress(bytes, Format::Zlib, CompressionLevel::BestSize)
        .map_err(|_| io::ErrorKind::OutOfMemory.into())
}

fn unpacked(file: &[u8]) -> io::Result<Vec<u8>> {
    match yazi::decompress(file, Format::Zlib) {
        Ok((bytes, Some(sum))) if sum == Adler32::from_buf(&bytes).finish() => Ok(bytes),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "the file is damaged")),
    }
}

fn packed(folder: &Path, target: &Target) -> PathBuf {
    folder.join(format!("kernels-{}.ptx.zlib", target.arch()))
}

/// Returns a number that changes with the files below these folders, with these files, and with `more`.
pub(crate) fn fingerprint(folders: &[PathBuf], more: &str) -> io::Result<u64> {
    // FNV-1a: the same on every machine and with every compiler.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        // The length first, so that bytes cannot move from one item to the next.
        for &byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    add(more.as_bytes());
    for folder in folders {
        let mut files = Vec::new();
        list(folder, &mut files)?;
        files.sort();
        for file in files {
            let name = file.strip_prefix(folder).unwrap_or(&file);
            let names: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
            add(names.join("/").as_bytes());
            add(&fs::read(&file)?);
        }
    }
    Ok(hash)
}

/// Adds the files below a folder, or the file itself.
fn list(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if folder.is_file() {
        files.push(folder.to_path_buf());
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// Returns a folder of this test, with folders for sources.
    fn folder() -> TempDir {
        let folder = TempDir::new().unwrap();
        fs::create_dir_all(folder.path().join("src/deep")).unwrap();
        folder
    }

    #[test]
    fn kernels_come_back_as_they_were_for_the_same_sources_only() {
        let folder = folder();
        let target = Target::new("sm_70", "ptx70");
        let path = folder.path().join("text.ptx");
        fs::write(&path, "// kernels").unwrap();
        let file = PtxFile { target: target.clone(), path, report: PathBuf::new() };
        let kernels = Kernels { rustc: "rustc 1.95.0".into(), fingerprint: 7, files: vec![file] };
        let package = folder.path().join("package");
        assert!(matches!(unpack(&package, &[], 7, folder.path()), Ok(Packaged::Missing)));
        kernels.pack(&package).unwrap();
        let targets = [target];
        assert!(matches!(unpack(&package, &targets, 8, folder.path()), Ok(Packaged::Other)));
        let Ok(Packaged::Kernels(unpacked)) = unpack(&package, &targets, 7, folder.path()) else {
            panic!("no kernels")
        };
        assert_eq!(unpacked.rustc, "rustc 1.95.0");
        assert_eq!(fs::read_to_string(&unpacked.files[0].path).unwrap(), "// kernels");
        // Cut in half.
        let packed = packed(&package, &targets[0]);
        let half = fs::read(&packed).unwrap();
        fs::write(&packed, &half[..half.len() / 2]).unwrap();
        let error = unpack(&package, &targets, 7, folder.path()).err().unwrap().to_string();
        assert!(error.starts_with("cannot unpack") && error.contains("kernels-sm_70.ptx.zlib"), "{error}");
    }

    #[test]
    fn a_fingerprint_is_of_names_and_contents() {
        let folder = folder();
        let sources = [folder.path().join("src")];
        let of = |more| fingerprint(&sources, more).unwrap();
        let mut seen = vec![of("")];
        let mut is_new = |number: u64| !seen.contains(&number) && (seen.push(number), true).1;
        fs::write(folder.path().join("src/a.rs"), "ab").unwrap();
        assert!(is_new(of("")) && is_new(of("-O")));
        fs::write(folder.path().join("src/a.rs"), "ac").unwrap();
        assert!(is_new(of("")));
        fs::rename(folder.path().join("src/a.rs"), folder.path().join("src/deep/a.rs")).unwrap();
        assert!(is_new(of("")));
        fs::write(folder.path().join("src/b.rs"), "").unwrap();
        assert!(is_new(of("")) && of("") == of(""));
        let file = [folder.path().join("src/b.rs")];
        let empty = fingerprint(&file, "").unwrap();
        fs::write(&file[0], "x").unwrap();
        assert_ne!(fingerprint(&file, "").unwrap(), empty);
    }
}
