//! Waiting for other programs. A pipe or a terminal may have nothing to read, or no reader, forever: while waiting, interrupts and
//! the time are checked.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How long to wait for a reader of an output.
const READER: Duration = Duration::from_secs(5);
/// How long a write in progress may take after an interrupt.
const LAST: Duration = Duration::from_millis(500);
/// How often interrupts and the time are checked.
const STEP: Duration = Duration::from_millis(50);

/// Flag to open a pipe without waiting.
const NO_WAITING: i32 = {
    #[cfg(unix)]
    {
        nix::libc::O_NONBLOCK
    }
    #[cfg(not(unix))]
    0
};

static INTERRUPT: OnceLock<Arc<AtomicBool>> = OnceLock::new();
static DEADLINE: Mutex<Option<Instant>> = Mutex::new(None);
static WAS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Makes all waiting end once this flag is set.
pub fn heed(interrupt: &Arc<AtomicBool>) {
    let _ = INTERRUPT.set(interrupt.clone());
}

/// Limits waiting for input to this deadline.
pub fn until(deadline: Option<Instant>) {
    *DEADLINE.lock().unwrap_or_else(PoisonError::into_inner) = deadline;
}

/// Returns whether waiting for input was ended by an interrupt.
pub fn was_interrupted() -> bool {
    WAS_INTERRUPTED.load(Ordering::Relaxed)
}

fn is_interrupted() -> bool {
    INTERRUPT.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// Returns an error once there is a reason to stop waiting for input.
#[cfg(unix)]
fn check_input() -> io::Result<()> {
    if is_interrupted() {
        WAS_INTERRUPTED.store(true, Ordering::Relaxed);
        return Err(io::Error::other("interrupted while waiting for input"));
    }
    let deadline = *DEADLINE.lock().unwrap_or_else(PoisonError::into_inner);
    match deadline {
        Some(deadline) if Instant::now() >= deadline => Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the time was up before it was read: nothing is writing to it",
        )),
        _ => Ok(()),
    }
}

/// Opens a file for reading.
///
/// # Errors
/// If it cannot be opened.
pub fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    #[cfg(unix)]
    if is_waited_for(path) {
        use nix::fcntl::{OFlag, open};
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let opened = open(path, flags, nix::sys::stat::Mode::empty())?;
        return Ok(Box::new(Input(opened.into())));
    }
    Ok(Box::new(File::open(path)?))
}

/// Opens a pipe or a device for writing, and waits for a reader. `open` gets the flags for the system.
///
/// # Errors
/// The errors of `open`; of the kind `TimedOut` if it has no reader for too long.
pub fn open_device(path: &Path, open: impl Fn(i32) -> io::Result<File>) -> io::Result<Device> {
    if !is_waited_for(path) {
        return open(0).map(Device);
    }
    let mut patience = Patience::new(Some(READER));
    loop {
        match open(NO_WAITING) {
            Err(error) if is_lonely(&error) && patience.lasts() => std::thread::sleep(STEP),
            Err(error) if is_lonely(&error) => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "nothing is reading it"));
            }
            opened => return opened.map(Device),
        }
    }
}

/// Returns whether a file may have to be waited for: files on disk are available at once.
fn is_waited_for(path: &Path) -> bool {
    cfg!(unix) && fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Returns whether a pipe could not be opened because it has no reader.
fn is_lonely(error: &io::Error) -> bool {
    #[cfg(unix)]
    return error.raw_os_error() == Some(nix::libc::ENXIO);
    #[cfg(not(unix))]
    {
        let _ = error;
        false
    }
}

/// Waits up to one step until the file is ready. Errors are not reported here: the read or write that follows reports them.
#[cfg(unix)]
fn is_ready(file: &File, what: nix::poll::PollFlags) -> bool {
    use nix::poll::{PollFd, PollTimeout, poll};
    use std::os::fd::AsFd;
    let mut asked = [PollFd::new(file.as_fd(), what)];
    !matches!(
        poll(&mut asked, PollTimeout::from(STEP.as_millis() as u16)),
        Ok(0) | Err(nix::errno::Errno::EINTR)
    )
}

/// A pipe or a device that is read from.
#[cfg(unix)]
struct Input(File);

#[cfg(unix)]
impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            check_input()?;
            if !is_ready(&self.0, nix::poll::PollFlags::POLLIN) {
                continue;
            }
            match self.0.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }
}

/// A pipe or a device that is written to.
pub struct Device(File);

impl Device {
    /// Returns the file, which blocks from now on.
    pub fn into_file(self) -> io::Result<File> {
        #[cfg(unix)]
        {
            use nix::fcntl::{FcntlArg, OFlag, fcntl};
            let flags = OFlag::from_bits_retain(fcntl(&self.0, FcntlArg::F_GETFL)?);
            fcntl(&self.0, FcntlArg::F_SETFL(flags - OFlag::O_NONBLOCK))?;
        }
        Ok(self.0)
    }
}

impl Write for Device {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A reader such as a pager may take any amount of time: only an interrupt ends the wait.
        let mut patience = Patience::new(None);
        loop {
            #[cfg(unix)]
            let is_ready = is_ready(&self.0, nix::poll::PollFlags::POLLOUT);
            #[cfg(not(unix))]
            let is_ready = true;
            if is_ready {
                match self.0.write(bytes) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    written => return written,
                }
            }
            if !patience.lasts() {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "its reader has stopped reading"));
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// How long to wait for a reader: up to a time limit, and only briefly after an interrupt.
struct Patience {
    end: Option<Instant>,
    is_last: bool,
}

impl Patience {
    fn new(time: Option<Duration>) -> Patience {
        Patience { end: time.map(|time| Instant::now() + time), is_last: false }
    }

    fn lasts(&mut self) -> bool {
        let now = Instant::now();
        if !self.is_last && is_interrupted() {
            self.is_last = true;
            self.end = Some(self.end.map_or(now + LAST, |end| end.min(now + LAST)));
        }
        self.end.is_none_or(|end| now < end)
    }
}
