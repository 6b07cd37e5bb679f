//! The terminal while the view fills it: its other screen, keys that arrive at once, and the way back, whatever ends the view.
//!
//! Signals of the keyboard remain signals, so Ctrl-C does what it does without the view. Ctrl-Z and Ctrl-\ would leave the terminal as
//! the view needs it: their handlers only note them, and the thread that draws gives the terminal back before they take effect.
//!
//! A terminal may take no output, so the view writes to a [`Display`](super::super::display), and waits for it only for so long.

use std::fs::File;
use std::io::{PipeReader, Read};
use std::mem;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::libc;
use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, kill, raise, sigaction};
use nix::sys::termios::{LocalFlags, SetArg, SpecialCharacterIndices, Termios, tcgetattr, tcsetattr};
use nix::unistd::{Pid, getpgrp, tcgetpgrp};

use super::super::display::{PATIENCE, display, is_there, settle};
use super::super::output;
use super::view::Size;

/// The other screen, without a cursor, and without lines that go on in the next one.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
const LEAVE: &str = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
/// The size of a terminal that does not say how large it is.
const USUAL: Size = Size { width: 80, height: 24 };
/// Signals that take effect once the terminal is given back.
const LATER: [Signal; 2] = [Signal::SIGTSTP, Signal::SIGQUIT];

/// Signals that have arrived, one bit each.
static ARRIVED: AtomicU32 = AtomicU32::new(0);
/// The terminal of the process.
static SCREEN: Mutex<Screen> = Mutex::new(Screen { state: State::Over, keyboard: None });

/// Whether the view fills the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It does.
    Shown,
    /// It will, once the process is in the foreground.
    Waiting,
    /// It does not any more.
    Over,
}

struct Screen {
    state: State,
    /// The terminal that the process is controlled by, and what it was like before; `None` if there is none, and no keys.
    keyboard: Option<(File, Termios)>,
}

fn screen() -> MutexGuard<'static, Screen> {
    SCREEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives the terminal back for good, if the view fills it, and prints the messages that were held. It takes a third of a second at
/// most, even if the terminal takes no output.
pub fn leave() {
    let mut screen = screen();
    if screen.state != State::Over {
        screen.give_back(State::Over);
        for signal in LATER.into_iter().chain([Signal::SIGCONT]) {
            handle(signal, SigHandler::SigDfl);
        }
    }
}

impl Screen {
    /// Returns whether the process may use the terminal: in the background it would be stopped.
    fn is_foreground(&self) -> bool {
        self.keyboard
            .as_ref()
            .is_none_or(|(keyboard, _)| tcgetpgrp(keyboard).is_ok_and(|group| group == getpgrp()))
    }

    fn take(&mut self) {
        if let Some((keyboard, before)) = &self.keyboard {
            let mut now = before.clone();
            now.local_flags -= LocalFlags::ICANON | LocalFlags::ECHO;
            now.control_chars[SpecialCharacterIndices::VMIN as usize] = 1;
            now.control_chars[SpecialCharacterIndices::VTIME as usize] = 0;
            // Without it, keys arrive with the next line break.
            let _ = tcsetattr(keyboard, SetArg::TCSANOW, &now);
        }
        output::hold();
        self.state = State::Shown;
        if let Some(mut display) = display() {
            display.enter(ENTER);
        }
    }

    fn give_back(&mut self, state: State) {
        if mem::replace(&mut self.state, state) == State::Shown {
            // In the background, whatever changes the terminal would stop the process.
            let is_foreground = self.is_foreground();
            if let Some(mut display) = display() {
                // Frames that nobody has seen may be discarded.
                display.leave(LEAVE, is_foreground);
                let held = output::release().into_iter().map(|line| line + "\n");
                display.write(&held.collect::<String>());
            }
            if let Some((keyboard, before)) = self.keyboard.as_ref().filter(|_| is_foreground) {
                // If this fails, the terminal is gone.
                let _ = tcsetattr(keyboard, SetArg::TCSANOW, before);
            }
        }
    }
}

/// What the thread of the view waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The run is over.
    Over,
    /// It is time to draw again.
    Draw,
}

/// The terminal that the standard error is.
pub(super) struct Terminal {
    /// Whether it shows colours.
    pub(super) has_colors: bool,
    /// Whether it shows more than ASCII.
    pub(super) is_unicode: bool,
    has_keys: AtomicBool,
    has_quit: AtomicBool,
}

impl Terminal {
    /// Takes the terminal, once the process is in the foreground; `None` if there is none that can be drawn on.
    pub(super) fn open() -> Option<Terminal> {
        let name = std::env::var("TERM").ok().filter(|name| !name.is_empty() && name != "dumb");
        if name.is_none() || !is_there() {
            return None;
        }
        let keyboard = File::open("/dev/tty").ok();
        let keyboard = keyboard.and_then(|tty| tcgetattr(&tty).ok().map(|before| (tty, before)));
        *screen() = Screen { state: State::Waiting, keyboard };
        for signal in LATER.into_iter().chain([Signal::SIGCONT]) {
            handle(signal, SigHandler::Handler(note));
        }
        let terminal = Terminal {
            has_colors: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
            is_unicode: is_unicode(),
            has_keys: AtomicBool::new(true),
            has_quit: AtomicBool::new(false),
        };
        terminal.take_if_possible();
        Some(terminal)
    }

    fn take_if_possible(&self) {
        let mut screen = screen();
        if screen.state == State::Waiting && screen.is_foreground() {
            screen.take();
        }
    }

    /// Returns whether the view fills the terminal now.
    pub(super) fn is_shown(&self) -> bool {
        screen().state == State::Shown
    }

    /// Returns how large it is now.
    pub(super) fn size(&self) -> Size {
        let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: it writes the size of a terminal, if the standard error is one.
        let asked = unsafe { libc::ioctl(libc::STDERR_FILENO, libc::TIOCGWINSZ, &mut size) };
        if asked != 0 || size.ws_col == 0 || size.ws_row == 0 {
            return USUAL;
        }
        Size { width: size.ws_col.into(), height: size.ws_row.into() }
    }

    /// Draws a frame, unless the view has ended meanwhile.
    pub(super) fn draw(&self, frame: String) {
        let screen = screen();
        if let Some(mut display) = display().filter(|_| screen.state == State::Shown) {
            display.draw(frame, PATIENCE);
        }
    }

    /// Ends the view. What the terminal has not taken by then is written once it takes output again, if the process still exists:
    /// then it is as it should be for what follows.
    pub(super) fn finish(&self) {
        leave();
        settle(true);
    }

    /// Waits until it is time to draw again or the run is over, and does what keys and signals ask for.
    pub(super) fn wait(&self, over: &PipeReader, time: Duration) -> Event {
        let keyboard = {
            let screen = screen();
            // In the background a program that reads is stopped.
            let has_keys = screen.state == State::Shown && self.has_keys.load(Ordering::Relaxed);
            let keyboard = screen.keyboard.as_ref().filter(|_| has_keys);
            keyboard.and_then(|(keyboard, _)| keyboard.try_clone().ok())
        };
        let mut ready = vec![PollFd::new(over.as_fd(), PollFlags::POLLIN)];
        ready.extend(keyboard.iter().map(|keyboard| PollFd::new(keyboard.as_fd(), PollFlags::POLLIN)));
        // A signal ends the waiting, too.
        let is_woken = poll(&mut ready, time.as_millis() as u16).is_ok_and(|count| count > 0);
        let is_ready = |at: usize| {
            let ready = ready.get(at).and_then(PollFd::revents);
            is_woken && ready.is_some_and(|events| !events.is_empty())
        };
        if is_ready(0) {
            return Event::Over;
        }
        if let Some(keyboard) = keyboard.as_ref().filter(|_| is_ready(1)) {
            self.read(keyboard);
        }
        self.heed_signals();
        self.take_if_possible();
        Event::Draw
    }

    /// Reads keys: the first q ends the run, as SIGTERM does.
    fn read(&self, mut keyboard: &File) {
        let mut keys = [0; 64];
        match keyboard.read(&mut keys) {
            Ok(count) if keys[..count].iter().any(|key| key.eq_ignore_ascii_case(&b'q')) => {
                // A second signal would end the run at once.
                if !self.has_quit.swap(true, Ordering::Relaxed) {
                    let _ = kill(Pid::this(), Signal::SIGTERM);
                }
            }
            Ok(1..) => {}
            // The terminal is gone: it would be ready for ever.
            Ok(0) | Err(_) => self.has_keys.store(false, Ordering::Relaxed),
        }
    }

    fn heed_signals(&self) {
        let arrived = ARRIVED.swap(0, Ordering::Relaxed);
        let has = |signal: Signal| arrived & bit(signal as libc::c_int) != 0;
        for signal in LATER.into_iter().filter(|&signal| has(signal)) {
            screen().give_back(State::Waiting);
            handle(signal, SigHandler::SigDfl);
            // The process stops here, or ends.
            let _ = raise(signal);
            handle(signal, SigHandler::Handler(note));
        }
        // Whoever stopped the process has used the terminal meanwhile.
        if has(Signal::SIGCONT) || !screen().is_foreground() {
            let mut screen = screen();
            if screen.state == State::Shown {
                screen.give_back(State::Waiting);
            }
        }
    }
}

fn bit(signal: libc::c_int) -> u32 {
    1 << signal
}

/// Notes a signal.
extern "C" fn note(signal: libc::c_int) {
    ARRIVED.fetch_or(bit(signal), Ordering::Relaxed);
}

/// Sets what a signal does, unless the process was started to ignore it.
fn handle(signal: Signal, handler: SigHandler) {
    let action = SigAction::new(handler, SaFlags::SA_RESTART, SigSet::empty());
    // SAFETY: the handler changes an atomic number only.
    let before = unsafe { sigaction(signal, &action) };
    if let Ok(before) = before
        && matches!(before.handler(), SigHandler::SigIgn)
    {
        // SAFETY: it is what was set before.
        let _ = unsafe { sigaction(signal, &before) };
    }
}

/// Returns whether the language settings say that text is UTF-8.
fn is_unicode() -> bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let value = names.iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    value.is_some_and(|value| {
        let value = value.to_ascii_lowercase();
        value.contains("utf-8") || value.contains("utf8")
    })
}
