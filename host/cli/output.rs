//! Where results go: a file, or `-` for the standard output.

use std::convert::Infallible;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::{Error, Result};
use crate::instance::{InstanceError, atomic_file};

/// See the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// The standard output.
    Stdout,
    /// A file, replaced as a whole.
    File(PathBuf),
}

impl FromStr for Output {
    type Err = Infallible;

    fn from_str(text: &str) -> std::result::Result<Output, Infallible> {
        Ok(if text == "-" { Output::Stdout } else { Output::File(text.into()) })
    }
}

impl Output {
    /// Whether this is the standard output.
    pub fn is_stdout(&self) -> bool {
        *self == Output::Stdout
    }

    /// Finds out early whether it can be written, without changing anything.
    pub fn check(&self) -> Result<()> {
        let Output::File(path) = self else { return Ok(()) };
        writable(path).map_err(|cause| Error::Output { path: path.clone(), cause: cause.to_string() })
    }

    /// Writes what `content` gives.
    pub fn write(&self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        match self {
            Output::Stdout => print(content),
            Output::File(path) => atomic_file::write(path, content).map_err(|error| match error {
                InstanceError::Write { path, cause } => Error::Output { path, cause: cause.to_string() },
                other => Error::Output { path: path.clone(), cause: other.to_string() },
            }),
        }
    }
}

/// Writes to the standard output.
pub fn print(content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    content(&mut out).and_then(|()| out.flush()).map_err(Error::Stdout)
}

/// Writes a line to the standard error.
pub fn tell(text: &str) {
    // Nobody is left to tell if this fails.
    let _ = writeln!(io::stderr(), "{text}");
}

/// A file that is there must take writing, one that is not needs a folder that takes files.
fn writable(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        // Opening a pipe would wait for its reader.
        Ok(metadata) if !metadata.is_file() => return Ok(()),
        Ok(_) => drop(OpenOptions::new().write(true).open(path)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let probe = folder.join(format!(".antwarp-{}.tmp", std::process::id()));
    OpenOptions::new().write(true).create_new(true).open(&probe)?;
    fs::remove_file(&probe)
}

/// Refuses outputs that would overwrite each other or the instance.
pub fn check_apart(outputs: &[&Output], instance: &Path) -> Result<()> {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let instance = real(instance);
    let mut seen: Vec<Option<PathBuf>> = Vec::new();
    for output in outputs {
        let place = match output {
            Output::Stdout => None,
            Output::File(path) => Some(real(path)),
        };
        if place.as_deref() == Some(&instance) {
            return Err(Error::Usage(format!("{} is the instance: name another output", instance.display())));
        }
        let is_device = place.as_deref().is_some_and(|p| fs::metadata(p).is_ok_and(|m| !m.is_file()));
        if seen.contains(&place) && !is_device {
            let name =
                place.map_or_else(|| "the standard output".to_owned(), |path| path.display().to_string());
            return Err(Error::Usage(format!("{name} is named for two outputs: only one can have it")));
        }
        seen.push(place);
    }
    Ok(())
}
