//! The terminal that the standard error is, written to so that a run never waits for it.
//!
//! A terminal may take no output, for minutes or for ever: after Ctrl-S, or at the end of a connection that has stalled. A write would
//! then stop whoever prints, and with a lock in hand everybody else. So all that goes to the terminal while a run goes on is written
//! through a file of its own that never blocks. A message that the terminal does not take is kept and written before what comes next;
//! of frames, only the last one is kept.
//!
//! The process waits at its end, when every file has been written: for the report, if the standard output is the same terminal, and for
//! the message of an error. Otherwise, messages that the terminal has not taken by then are lost. Two signals end a process that waits.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::mem;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use console::Term;
use indicatif::{ProgressDrawTarget, TermLike};
use nix::fcntl::{OFlag, open};
use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::stat::{Mode, fstat};
use nix::sys::termios::{FlushArg, tcflush};
use nix::unistd::{tcgetpgrp, ttyname};

/// How long a message waits for a terminal that takes no output.
pub const PATIENCE: Duration = Duration::from_millis(100);
/// Clears the line of the cursor.
const CLEAR: &str = "\r\x1b[2K";
/// Frames of the progress line per second, at most.
const RATE: u8 = 20;

/// The terminal of the process; `None` if the standard error is not a terminal, or the process may not open it.
static DISPLAY: LazyLock<Option<Mutex<Display>>> = LazyLock::new(|| Display::open().map(Mutex::new));

/// See the [module](self).
pub struct Display {
    /// The terminal, opened again so that writing never blocks: the standard error is shared with others.
    file: File,
    /// What it has not taken yet.
    pending: Vec<u8>,
    /// The last frame, until the terminal takes the first of it.
    frame: Vec<u8>,
    /// How much of `pending` is older than the view that fills the terminal, and does not belong to it.
    older: usize,
}

/// Returns whether there is a terminal.
pub fn is_there() -> bool {
    DISPLAY.is_some()
}

/// Returns the terminal, if there is one. Nobody keeps it for longer than three times [`PATIENCE`].
pub fn display() -> Option<MutexGuard<'static, Display>> {
    DISPLAY.as_ref().map(|display| display.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Writes a line, to which it adds the line break, as [`Display::write`] does; returns false if there is no terminal.
pub fn tell(line: &str) -> bool {
    display().map(|mut display| display.write(&format!("{line}\n"))).is_some()
}

/// Returns whether the standard output is the same terminal as the standard error.
pub fn is_stdout() -> bool {
    let device = |stream: BorrowedFd<'_>| fstat(stream).map(|file| file.st_rdev);
    is_there() && io::stdout().is_terminal() && device(io::stdout().as_fd()) == device(io::stderr().as_fd())
}

/// Returns where a progress line is drawn.
pub fn target() -> ProgressDrawTarget {
    match is_there() {
        true => ProgressDrawTarget::term_like_with_hz(Box::<Canvas>::default(), RATE),
        false => ProgressDrawTarget::hidden(),
    }
}

/// Waits until the terminal has taken everything: for as long as that takes if `waits`, else only while it goes on taking output.
pub fn settle(waits: bool) {
    if !waits {
        while display().is_some_and(|mut display| display.takes_more()) {}
        return;
    }
    // One after another: whoever finds nothing pending still waits for what the one before writes.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(pending) = display().and_then(|mut display| display.take()) else { return };
    // Not through `io::stderr`, and no longer with the display in hand: a signal must be answered meanwhile.
    if let Ok(blocking) = io::stderr().as_fd().try_clone_to_owned() {
        let _ = File::from(blocking).write_all(&pending);
    }
}

impl Display {
    fn open() -> Option<Display> {
        // Only for the terminal that the process is controlled by, which can always be opened.
        let is_controlling = tcgetpgrp(io::stderr()).is_ok();
        let path = if is_controlling { "/dev/tty".into() } else { ttyname(io::stderr()).ok()? };
        let flags = OFlag::O_WRONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        let file = File::from(open(&path, flags, Mode::empty()).ok()?);
        Some(Display { file, pending: Vec::new(), frame: Vec::new(), older: 0 })
    }

    /// Writes a text after what is pending, and waits up to [`PATIENCE`] for the terminal. What that has not taken stays pending.
    pub fn write(&mut self, text: &str) {
        let frame = mem::take(&mut self.frame);
        self.pending.extend(frame.into_iter().chain(text.bytes()));
        self.flush(PATIENCE);
    }

    /// Draws a frame and waits this long for the terminal. It replaces the last frame if none of that has been written yet.
    pub fn draw(&mut self, frame: String, patience: Duration) {
        self.frame = frame.into_bytes();
        self.flush(patience);
    }

    /// Begins a view with this text. What is written until [`Display::leave`] belongs to the view.
    pub fn enter(&mut self, text: &str) {
        let frame = mem::take(&mut self.frame);
        self.pending.extend(frame);
        self.older = self.pending.len();
        self.write(text);
    }

    /// Ends a view: writes a text in place of all of it that is pending, which nobody has seen. `may_discard` is whether what the terminal
    /// has not shown yet may be discarded, too, to make room for that.
    pub fn leave(&mut self, text: &str, may_discard: bool) {
        self.frame.clear();
        self.pending.truncate(mem::take(&mut self.older));
        if !self.pending.is_empty() {
            // Messages from before the view have kept the terminal from taking any of it.
            self.flush(PATIENCE);
            return;
        }
        self.pending = text.into();
        if !self.flush(PATIENCE) && may_discard {
            let _ = tcflush(&self.file, FlushArg::TCOFLUSH);
            self.pending = text.into();
            self.flush(PATIENCE);
        }
    }

    /// Writes what is pending, then the last frame, and waits for the terminal for up to `patience`. Returns whether all is written; also
    /// if the terminal is gone.
    pub fn flush(&mut self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        loop {
            if self.pending.is_empty() {
                self.pending = mem::take(&mut self.frame);
            }
            if self.pending.is_empty() {
                return true;
            }
            match self.file.write(&self.pending) {
                Ok(count @ 1..) => {
                    self.pending.drain(..count);
                    self.older = self.older.saturating_sub(count);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return false;
                    }
                    // Rounded up, so that it does not return at once. If a signal ends it, the next write tells how things are.
                    let mut ready = [PollFd::new(self.file.as_fd(), PollFlags::POLLOUT)];
                    let _ = poll(&mut ready, left.as_millis() as u16 + 1);
                }
                // A terminal that is gone shows nothing.
                Ok(0) | Err(_) => {
                    self.pending.clear();
                    self.older = 0;
                }
            }
        }
    }

    /// Writes what is pending, and waits for the terminal a little. Returns whether it has taken a part of it.
    fn takes_more(&mut self) -> bool {
        let left = |display: &Display| display.pending.len() + display.frame.len();
        let before = left(self);
        !self.flush(PATIENCE) && left(self) < before
    }

    /// Takes what the terminal does not take now; `None` if that is nothing.
    fn take(&mut self) -> Option<Vec<u8>> {
        if self.flush(Duration::ZERO) {
            return None;
        }
        let frame = mem::take(&mut self.frame);
        self.pending.extend(frame);
        self.older = 0;
        Some(mem::take(&mut self.pending))
    }
}

/// A frame of the progress line while it is made.
#[derive(Debug, Default)]
struct Canvas(Mutex<String>);

impl Canvas {
    fn add(&self, text: &str) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
        Ok(())
    }

    /// Moves the cursor, in the direction of this letter.
    fn step(&self, count: usize, letter: char) -> io::Result<()> {
        if count == 0 { Ok(()) } else { self.add(&format!("\x1b[{count}{letter}")) }
    }
}

impl TermLike for Canvas {
    fn width(&self) -> u16 {
        Term::stderr().size().1
    }

    fn move_cursor_up(&self, count: usize) -> io::Result<()> {
        self.step(count, 'A')
    }

    fn move_cursor_down(&self, count: usize) -> io::Result<()> {
        self.step(count, 'B')
    }

    fn move_cursor_right(&self, count: usize) -> io::Result<()> {
        self.step(count, 'C')
    }

    fn move_cursor_left(&self, count: usize) -> io::Result<()> {
        self.step(count, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.add(&format!("{text}\n"))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.add(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.add(CLEAR)
    }

    fn flush(&self) -> io::Result<()> {
        let mut frame = mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        // The frame that would have cleared the line may never be written.
        if !frame.is_empty() && !frame.starts_with(CLEAR) {
            frame.insert_str(0, CLEAR);
        }
        // The next frame comes soon.
        if let Some(mut display) = display().filter(|_| !frame.is_empty()) {
            display.draw(frame, Duration::ZERO);
        }
        Ok(())
    }
}
