//! Terminals made for tests, with a program in them.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::libc;
use nix::pty::{OpenptyResult, Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{LocalFlags, tcgetattr};
use nix::unistd::{Pid, ttyname};

pub const ANTWARP: &str = env!("CARGO_BIN_EXE_antwarp");

/// A terminal, and a program that it controls.
pub struct Terminal {
    master: File,
    /// Kept open, so that what the terminal is like can be read after the program's end.
    pub slave: OwnedFd,
    pub program: Child,
    shown: Arc<Mutex<Shown>>,
    is_read: AtomicBool,
}

/// A title that no program sets, which marks the end of what a program wrote.
const END: &[u8] = b"\x1b]0;the end\x07";

struct Shown {
    screen: vt100::Parser,
    bytes: Vec<u8>,
}

fn positive(count: u16) -> NonZero<u16> {
    NonZero::new(count).unwrap()
}

impl Terminal {
    /// Starts a program in a terminal of this many columns and lines.
    pub fn new(size: (u16, u16), command: &mut Command) -> Terminal {
        let terminal = Terminal::new_unread(size, command);
        terminal.read();
        terminal
    }

    /// The same, but nobody reads what is written to the terminal.
    pub fn new_unread((columns, lines): (u16, u16), command: &mut Command) -> Terminal {
        let size = Winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let pair = openpty(Some(&size), None).unwrap();
        let stream = || Stdio::from(pair.slave.try_clone().unwrap());
        command.env("ANTWARP_TUNING", "none").stdin(stream()).stdout(stream());
        for (name, value) in [("TERM", "xterm-256color"), ("LC_ALL", "C.UTF-8")] {
            if !command.get_envs().any(|(own, _)| own == name) {
                command.env(name, value);
            }
        }
        command.env_remove("NO_COLOR").stderr(stream());
        Terminal::start_unread(pair, (columns, lines), command)
    }

    /// A terminal of 80 columns that takes no more output until somebody reads it. It is the standard error, and also the standard
    /// output unless that is given.
    pub fn new_full(command: &mut Command, stdout: Option<File>) -> Terminal {
        let pair =
            openpty(Some(&Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }), None).unwrap();
        let mut options = File::options();
        let options = options.write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
        let mut slave = options.open(ttyname(&pair.slave).unwrap()).unwrap();
        // What it has taken moves on to make room for more.
        for _ in 0..10 {
            while slave.write(&[b'\r'; 64]).is_ok() {}
            std::thread::sleep(Duration::from_millis(10));
        }
        let stream = || Stdio::from(pair.slave.try_clone().unwrap());
        let stdout = stdout.map_or_else(stream, Stdio::from);
        command.env("ANTWARP_TUNING", "none").env("TERM", "xterm").stdin(stream()).stderr(stream());
        Terminal::start_unread(pair, (80, 24), command.stdout(stdout))
    }

    /// The same with a standard error, input and output as the command has them.
    pub fn start(pair: OpenptyResult, size: (u16, u16), command: &mut Command) -> Terminal {
        let terminal = Terminal::start_unread(pair, size, command);
        terminal.read();
        terminal
    }

    pub fn start_unread(
        pair: OpenptyResult,
        (columns, lines): (u16, u16),
        command: &mut Command,
    ) -> Terminal {
        let slave = pair.slave.as_raw_fd();
        let controlled = move || {
            // Jobs in the background of a shell ignore the signals of the keyboard.
            for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP] {
                // SAFETY: it only changes the process itself.
                unsafe { libc::signal(signal, libc::SIG_DFL) };
            }
            // SAFETY: both only change the process itself, before it becomes the program.
            let is_done = unsafe { libc::setsid() >= 0 && libc::ioctl(slave, libc::TIOCSCTTY, 0) >= 0 };
            if is_done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
        };
        // SAFETY: the closure calls the system only.
        let program = unsafe { command.pre_exec(controlled) }.spawn().unwrap();
        let master = File::from(pair.master);
        let shown = Arc::new(Mutex::new(Shown {
            screen: vt100::Parser::new(positive(lines), positive(columns), 0),
            bytes: Vec::new(),
        }));
        Terminal { master, slave: pair.slave, program, shown, is_read: AtomicBool::new(false) }
    }

    /// Reads from now on.
    pub fn read(&self) {
        self.is_read.store(true, Ordering::Relaxed);
        let (mut reader, own) = (self.master.try_clone().unwrap(), self.shown.clone());
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                let mut shown = own.lock().unwrap();
                shown.screen.process(&bytes[..count]);
                shown.bytes.extend_from_slice(&bytes[..count]);
            }
        });
    }

    pub fn screen<T>(&self, look: impl FnOnce(&vt100::Screen) -> T) -> T {
        look(self.shown.lock().unwrap().screen.screen())
    }

    pub fn text(&self) -> String {
        self.screen(|screen| screen.contents())
    }

    /// All that was written to the terminal.
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap().bytes).into_owned()
    }

    /// Waits until the screen is so, for a minute at most.
    pub fn wait(&self, what: &str, is_so: impl Fn(&vt100::Screen) -> bool) {
        let begin = Instant::now();
        while !self.screen(&is_so) {
            assert!(begin.elapsed() < Duration::from_secs(60), "{what} never came:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn type_in(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    pub fn resize(&mut self, (columns, lines): (u16, u16)) {
        let size = Winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: it reads a size.
        assert!(unsafe { libc::ioctl(self.master.as_raw_fd(), libc::TIOCSWINSZ, &size) } >= 0);
        self.shown.lock().unwrap().screen.screen_mut().set_size(positive(lines), positive(columns));
    }

    pub fn signal(&self, signal: Signal) {
        // It may have ended before.
        let _ = kill(Pid::from_raw(self.program.id() as i32), signal);
    }

    /// Waits until all that was written to the terminal has been read, if anybody reads and the terminal is not stopped.
    fn read_all(&self) {
        let mut options = File::options();
        let options = options.write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
        let is_read = self.is_read.load(Ordering::Relaxed);
        if !is_read || options.open(ttyname(&self.slave).unwrap()).unwrap().write_all(END).is_err() {
            return;
        }
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(60) {
            let mut shown = self.shown.lock().unwrap();
            if let Some(length) = shown.bytes.len().checked_sub(END.len())
                && shown.bytes.ends_with(END)
            {
                shown.bytes.truncate(length);
                return;
            }
            drop(shown);
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the end was not read:\n{}", self.text());
    }

    pub fn end(&mut self) -> ExitStatus {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(60) {
            if let Some(status) = self.program.try_wait().unwrap() {
                self.read_all();
                return status;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.program.kill().unwrap();
        panic!("the program did not end:\n{}", self.text());
    }

    /// The terminal is as it was before the program.
    pub fn check_clean(&self) {
        let flags = tcgetattr(self.slave.as_fd()).unwrap().local_flags;
        assert!(flags.contains(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG), "{flags:?}");
        let (is_other, is_hidden) = self.screen(|screen| (screen.alternate_screen(), screen.hide_cursor()));
        assert!(!is_other && !is_hidden, "{}", self.text());
        let bytes = self.written();
        let (on, off) = (bytes.rfind("\x1b[?7h"), bytes.rfind("\x1b[?7l"));
        assert!(on >= off, "lines are cut off at the end of the terminal");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// A command line of one thread.
pub fn antwarp(args: &[&str]) -> Command {
    let mut command = Command::new(ANTWARP);
    // Runs that end without an output for their tour keep it in the current folder.
    command.args(args).args(["--threads", "1"]).current_dir(env!("CARGO_TARGET_TMPDIR"));
    command
}

/// How many places a tour file has.
pub fn cities(tour: &Path) -> usize {
    let text = std::fs::read_to_string(tour).unwrap();
    text.lines().filter(|line| line.trim().parse::<u32>().is_ok()).count()
}
