//! Waiting for others. A pipe or a terminal may have nothing to read, or nobody who reads it, for ever: who waits for them looks at
//! interrupts and at the time meanwhile.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How long somebody may take who is to read an output.
const READER: Duration = Duration::from_secs(5);
/// How long what is under way may take after an interrupt.
const LAST: Duration = Duration::from_millis(500);
/// How often interrupts and the time are looked at.
const STEP: Duration = Duration::from_millis(50);

/// Opens a pipe at once or not at all.
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

/// Nobody waits on once this flag is set.
pub(crate) fn heed(interrupt: &Arc<AtomicBool>) {
    let _ = INTERRUPT.set(interrupt.clone());
}

/// Nobody waits for an input longer than until then.
pub(crate) fn until(deadline: Option<Instant>) {
    *DEADLINE.lock().unwrap_or_else(PoisonError::into_inner) = deadline;
}

/// Whether waiting for an input was ended by an interrupt.
pub(crate) fn was_interrupted() -> bool {
    WAS_INTERRUPTED.load(Ordering::Relaxed)
}

fn is_interrupted() -> bool {
    INTERRUPT.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// An error once there is a reason to wait for an input no more.
#[cfg(unix)]
fn check_input() -> io::Result<()> {
    if is_interrupted() {
        WAS_INTERRUPTED.store(true, Ordering::Relaxed);
        return Err(io::Error::other("interrupted while waiting for what is to be read"));
    }
    let deadline = *DEADLINE.lock().unwrap_or_else(PoisonError::into_inner);
    match deadline {
        Some(deadline) if Instant::now() >= deadline => Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the time was up before it was read: nobody writes to it",
        )),
        _ => Ok(()),
    }
}

/// Opens a file to read.
pub(crate) fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    #[cfg(unix)]
    if is_waited_for(path) {
        use nix::fcntl::{OFlag, open};
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let opened = open(path, flags, nix::sys::stat::Mode::empty())?;
        return Ok(Box::new(Input(opened.into())));
    }
    Ok(Box::new(File::open(path)?))
}

/// Opens a pipe or a device to write to with these flags of the system, and waits for somebody who reads it.
pub(crate) fn open_device(path: &Path, open: impl Fn(i32) -> io::Result<File>) -> io::Result<Device> {
    if !is_waited_for(path) {
        return open(0).map(Device);
    }
    let mut patience = Patience::new(Some(READER));
    loop {
        match open(NO_WAITING) {
            Err(error) if is_lonely(&error) && patience.lasts() => std::thread::sleep(STEP),
            Err(error) if is_lonely(&error) => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "nobody reads it"));
            }
            opened => return opened.map(Device),
        }
    }
}

/// Files on a disk are there at once.
fn is_waited_for(path: &Path) -> bool {
    cfg!(unix) && fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Whether a pipe could not be opened because nobody reads it.
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

/// What is read from a pipe or a device.
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
pub(crate) struct Device(File);

impl Device {
    /// The file, which waits from now on.
    pub(crate) fn into_file(self) -> io::Result<File> {
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
        // Who reads page by page may take any time: then only an interrupt ends it.
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
                return Err(io::Error::new(io::ErrorKind::TimedOut, "nobody goes on reading it"));
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// How long to wait for who is to read: some time, but not much longer than until an interrupt.
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
