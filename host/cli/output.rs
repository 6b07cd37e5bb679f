//! Where results go: a file, or `-` for the standard output. Messages go to the standard error.
//!
//! While a run goes on, nobody waits for the terminal that the standard error is ([`display`]). A pipe is waited for: whoever reads it sets
//! the pace.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use clap::builder::{MapValueParser, PathBufValueParser, TypedValueParser, ValueParserFactory};

use super::{Error, Result, display};
use crate::instance::atomic_file::{self, Place};

/// Where a result goes; see the [module](self). Made from a path, it is the standard output for `-` and the system's names of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// The standard output.
    Stdout,
    /// A file, replaced as a whole.
    File(PathBuf),
}

/// All names of the standard output.
const STDOUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

impl From<PathBuf> for Output {
    fn from(path: PathBuf) -> Output {
        let is_stdout = STDOUT.iter().any(|name| path.as_os_str() == OsStr::new(name));
        if is_stdout { Output::Stdout } else { Output::File(path) }
    }
}

impl ValueParserFactory for Output {
    type Parser = MapValueParser<PathBufValueParser, fn(PathBuf) -> Output>;

    fn value_parser() -> Self::Parser {
        PathBufValueParser::new().map(Output::from)
    }
}

impl Output {
    /// Whether this is the standard output.
    pub fn is_stdout(&self) -> bool {
        *self == Output::Stdout
    }

    /// Writes what `content` produces: a file, which is replaced as a whole or not at all.
    ///
    /// # Errors
    /// [`Error::Output`] or [`Error::Stdout`], if it cannot be written.
    pub fn write(&self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        self.begin(content).map(drop)
    }

    /// Writes what `content` produces, as [`Output::write`] does; returns a writer that appends to it.
    ///
    /// # Errors
    /// As [`Output::write`].
    pub fn begin(
        &self,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Box<dyn Write + Send>> {
        match self {
            Output::Stdout => {
                check_stdout()?;
                print(content)?;
                Ok(Box::new(io::stdout()))
            }
            Output::File(path) => Ok(Box::new(atomic_file::begin(path, content)?)),
        }
    }

    /// Returns its path as given, if it is a file that can be replaced: no pipe or device.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Output::File(path) => matches!(atomic_file::place(path), Ok(Place::File(_))).then_some(path),
            Output::Stdout => None,
        }
    }

    /// Returns the error for a failure to write.
    pub fn error(&self, cause: io::Error) -> Error {
        match self {
            Output::Stdout => Error::Stdout(cause),
            Output::File(path) => Error::Output { path: path.clone(), cause },
        }
    }

    /// Returns the file that is written, if any: the standard output may be redirected to a file, too.
    fn place(&self) -> Result<Option<PathBuf>> {
        let Output::File(path) = self else {
            // Not every system has all of the names.
            let stdout = STDOUT[1..].iter().find_map(|name| std::fs::canonicalize(name).ok());
            return Ok(stdout.filter(|path| path.is_file()));
        };
        match atomic_file::place(path).map_err(|cause| self.error(cause))? {
            Place::File(file) => Ok(Some(file)),
            Place::Device => Ok(None),
        }
    }
}

/// The description of an instance among the inputs of [`check`].
pub const INSTANCE: &str = "the instance";

/// Checks early, without changing anything, that all outputs can be written at the end.
///
/// # Errors
///
/// If an output cannot be written, or would overwrite another output or one of the `inputs`, which are pairs of description and
/// path.
pub fn check<'a>(
    outputs: impl IntoIterator<Item = &'a Output> + Clone,
    inputs: &[(&str, &Path)],
) -> Result<()> {
    if outputs.clone().into_iter().filter(|output| output.is_stdout()).count() > 1 {
        return Err(twice("the standard output"));
    }
    let mut seen: Vec<PathBuf> = Vec::new();
    for output in outputs.clone() {
        let Some(file) = output.place()? else { continue };
        let is_it =
            |path: &Path| atomic_file::place(path).is_ok_and(|place| place == Place::File(file.clone()));
        if let Some((what, path)) = inputs.iter().find(|(_, path)| is_it(path)) {
            return Err(Error::Usage(format!("{} is {what}: choose another output", path.display())));
        }
        if seen.contains(&file) {
            return Err(twice(&file.display().to_string()));
        }
        seen.push(file);
    }
    outputs.into_iter().try_for_each(|output| match output {
        Output::Stdout => check_stdout(),
        Output::File(path) => Ok(atomic_file::check(path)?),
    })
}

fn twice(name: &str) -> Error {
    Error::Usage(format!("{name} is given for two outputs: choose a different file for one of them"))
}

/// Writes the main result of a command to the standard output.
///
/// # Errors
/// If that cannot be written, or was closed from the start.
pub fn deliver(content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    check_stdout()?;
    print(content)
}

/// Writes to the standard output, after the messages until now. What is written to one that was closed from the start is lost.
///
/// # Errors
/// If it cannot be written.
pub fn print(content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    settle();
    let mut out = io::BufWriter::new(io::stdout().lock());
    content(&mut out).and_then(|()| out.flush()).map_err(Error::Stdout)
}

/// Writes a line of a report to the standard output while other runs go on: the terminal is not waited for until [`settle`].
///
/// # Errors
/// As [`print`].
pub fn say(line: &str) -> Result<()> {
    if display::is_stdout() && display::tell(line) {
        return Ok(());
    }
    print(|out| writeln!(out, "{line}"))
}

/// Waits until the terminal has taken all messages, if it shows the standard output, too.
pub fn settle() {
    if display::is_stdout() {
        display::settle(true);
    }
}

/// Lines that wait while a view fills the terminal.
static HELD: Mutex<Option<Vec<String>>> = Mutex::new(None);

fn held() -> MutexGuard<'static, Option<Vec<String>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes a line to the standard error, or keeps it for later if lines are [held](hold).
pub fn tell(text: &str) {
    if let Some(held) = &mut *held() {
        return held.push(text.to_owned());
    }
    if display::tell(text) {
        return;
    }
    // If this fails, there is no one left to notify.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Writes a line as [`tell`] does, unless the standard error takes no output at the moment: for those who cannot wait for it.
pub fn tell_now(text: &str) {
    if display::is_there() || takes_output() {
        tell(text);
    }
}

/// Returns whether the standard error takes output now, or within a fifth of a second.
#[cfg(unix)]
fn takes_output() -> bool {
    use nix::poll::{PollFd, PollFlags, poll};
    use std::os::fd::AsFd;
    let stderr = io::stderr();
    poll(&mut [PollFd::new(stderr.as_fd(), PollFlags::POLLOUT)], 200u16) != Ok(0)
}

#[cfg(not(unix))]
fn takes_output() -> bool {
    true
}

/// Holds the lines of [`tell`] from now on, until [`release`].
pub fn hold() {
    held().get_or_insert_default();
}

/// Returns the last line that is held; `None` if there is none, or lines are not held.
pub fn last_held() -> Option<String> {
    held().as_ref()?.last().cloned()
}

/// Returns the lines that were held, for the caller to write, and holds no more.
pub fn release() -> Vec<String> {
    held().take().unwrap_or_default()
}

/// Rejects a standard output that was closed: anything written to it would be lost without an error.
fn check_stdout() -> Result<()> {
    #[cfg(unix)]
    if began::CLOSED.load(std::sync::atomic::Ordering::Relaxed) {
        return Err(Error::Stdout(io::Error::other("it is closed: give a file instead of `-`")));
    }
    Ok(())
}

/// The state at process start. If the standard output is closed, `std` opens the null device in its place before `main`; from then
/// on it cannot be distinguished from a null device that the user asked for. So it is checked before that.
#[cfg(unix)]
mod began {
    use std::sync::atomic::{AtomicBool, Ordering};

    use nix::libc::{F_GETFD, STDOUT_FILENO, fcntl};

    /// Whether the standard output was closed.
    pub static CLOSED: AtomicBool = AtomicBool::new(false);

    extern "C" fn look() {
        // SAFETY: it queries the flags of a descriptor, which may be closed, and changes nothing.
        let is_closed = unsafe { fcntl(STDOUT_FILENO, F_GETFD) } < 0;
        CLOSED.store(is_closed, Ordering::Relaxed);
    }

    // SAFETY: the loader calls each function of this section once, before `main` and before any thread; this one uses nothing of `std`.
    #[used]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    static LOOK: extern "C" fn() = look;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_names_of_a_file_are_one() {
        let folder = tempfile::tempdir().unwrap();
        let output = |name: &str| Output::File(folder.path().join(name));
        for (one, two) in [("a", "a"), ("a", "./a"), ("a", "b/../a")] {
            std::fs::create_dir_all(folder.path().join("b")).unwrap();
            let error = check(&[output(one), output(two)], &[]).unwrap_err();
            assert!(error.to_string().contains("given for two outputs"), "{error}");
            let input = folder.path().join(two);
            let error = check(&[output(one)], &[("the instance", &input)]).unwrap_err();
            assert!(error.to_string().contains("is the instance"), "{error}");
        }
        std::fs::remove_dir(folder.path().join("b")).unwrap();
        check(&[output("a"), output("b")], &[("the instance", Path::new("E1k.0"))]).unwrap();
    }

    #[test]
    fn the_standard_output_has_many_names() {
        for name in STDOUT {
            assert_eq!(Output::from(PathBuf::from(name)), Output::Stdout);
        }
        let named = Output::from(PathBuf::from("./-"));
        assert_eq!(named, Output::File("./-".into()));
        assert_eq!(
            check(&[Output::Stdout, Output::Stdout], &[]).unwrap_err().status(),
            super::super::error::USAGE
        );
    }
}
