//! `--live`, in terminals made for the test: what they show, and what they are like afterwards.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::libc;
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{LocalFlags, tcgetattr};
use nix::unistd::Pid;

use crate::terminal::{ANTWARP, Terminal, antwarp, cities};

tests! {
    it_fits_and_q_ends_it_with_the_best_tour,
    it_follows_the_size_of_the_terminal,
    signals_end_it_as_without_it,
    a_second_signal_leaves_the_terminal_clean,
    stopped_and_continued_the_terminal_is_clean_in_between,
    in_the_background_it_waits,
    it_needs_neither_colours_nor_unicode,
    elsewhere_it_is_as_without_it,
    a_run_that_ends_by_itself_prints_its_summary_below,
    a_terminal_that_is_never_read_stops_nothing,
    a_stopped_terminal_stops_no_run,
    messages_from_before_it_are_not_lost,
    several_runs_have_no_view,
}

/// A run that goes on for longer than any test.
const RUN: [&str; 5] = ["solve", "E1k.0", "--live", "--time", "10m"];
const HINT: &str = "q or Ctrl-C: stop and keep the best tour";

impl Terminal {
    /// Waits until the view shows a tour.
    fn wait_for_view(&self) {
        self.wait("a view", |screen| {
            let text = screen.contents();
            screen.alternate_screen() && text.contains("improved ") && text.contains(HINT)
        });
    }
}

/// A run that writes its tour to a file.
fn with_tour(file: &Path) -> Command {
    antwarp(&[&RUN[..], &["--tour", file.to_str().unwrap()]].concat())
}

fn it_fits_and_q_ends_it_with_the_best_tour() {
    let folder = tempfile::tempdir().unwrap();
    for (columns, lines) in [(40, 16), (80, 24), (200, 50)] {
        let tour = folder.path().join(format!("{columns}.tour"));
        let mut terminal = Terminal::new((columns, lines), &mut with_tour(&tour));
        terminal.wait_for_view();
        terminal.wait("a gap", |screen| screen.contents().contains(" % above "));
        let text = terminal.text();
        for part in ["E1k.0, 1000 nodes", " of 10:00", "cost ", "1 thread "] {
            assert!(text.contains(part), "{part} at {columns} columns:\n{text}");
        }
        assert_eq!(text.lines().last().unwrap().trim_end(), HINT);
        // There is a chart: dots, and moments below.
        terminal.wait("a chart", |screen| screen.contents().contains(" 0 s"));
        let text = terminal.text();
        assert!(text.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c)), "{text}");
        assert!(terminal.screen(|screen| !screen.row_wrapped(0)));
        terminal.type_in("q");
        assert_eq!(terminal.end().code(), Some(130));
        terminal.check_clean();
        let written = terminal.written();
        let (_, after) = written.rsplit_once("\x1b[?1049l").unwrap();
        assert!(after.contains("stopping with the best tour so far"), "{after}");
        assert!(after.contains("interrupted"), "{after}");
        assert_eq!(cities(&tour), 1000);
    }
}

fn it_follows_the_size_of_the_terminal() {
    let mut terminal = Terminal::new((80, 24), &mut antwarp(&RUN));
    terminal.wait_for_view();
    for (columns, lines) in [(40, 12), (200, 60), (20, 3), (80, 24)] {
        terminal.resize((columns, lines));
        // The clock is at the right end of the first line, and the hint in the last line.
        terminal.wait("a frame of the new size", |screen| {
            let rows: Vec<String> = screen.rows(0, columns).collect();
            let hint: String = HINT.chars().take(columns.into()).collect();
            let fits = rows[0].chars().count() == usize::from(columns) && rows[0].ends_with(" of 10:00");
            fits && rows.iter().any(|row| *row == hint.trim_end())
        });
    }
    terminal.type_in("Q");
    assert_eq!(terminal.end().code(), Some(130));
    terminal.check_clean();
}

fn signals_end_it_as_without_it() {
    let folder = tempfile::tempdir().unwrap();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let tour = folder.path().join(format!("{signal}.tour"));
        let mut terminal = Terminal::new((80, 24), &mut with_tour(&tour));
        terminal.wait_for_view();
        if signal == Signal::SIGINT {
            terminal.type_in("\x03");
        } else {
            kill(Pid::from_raw(terminal.program.id() as i32), signal).unwrap();
        }
        assert_eq!(terminal.end().code(), Some(130), "{signal}");
        terminal.check_clean();
        assert_eq!(cities(&tour), 1000);
    }
}

fn a_second_signal_leaves_the_terminal_clean() {
    // Ctrl-\ ends a program at once.
    let mut terminal = Terminal::new((80, 24), &mut antwarp(&RUN));
    terminal.wait_for_view();
    terminal.type_in("\x1c");
    assert_eq!(terminal.end().signal(), Some(libc::SIGQUIT));
    terminal.check_clean();
    // So does a second Ctrl-C, while the first one is still being heeded: here the run waits for its bound.
    let args = ["solve", "E10k.0", "--live", "--time", "10m", "--bound"];
    let mut terminal = Terminal::new((80, 24), &mut antwarp(&args));
    terminal.wait_for_view();
    for _ in 0..40 {
        terminal.type_in("\x03");
        std::thread::sleep(Duration::from_millis(600));
        if terminal.program.try_wait().unwrap().is_some() {
            break;
        }
    }
    assert_eq!(terminal.end().code(), Some(130));
    terminal.check_clean();
}

/// A shell in a terminal, at its prompt.
fn shell() -> Terminal {
    let mut shell = Command::new("sh");
    shell.arg("-i").env("PS1", "> ").env("ENV", "").env("HISTFILE", "/dev/null");
    let terminal = Terminal::new((80, 24), &mut shell);
    terminal.wait("a prompt", |screen| screen.contents().contains("> "));
    terminal
}

/// Ends the run of a shell, then the shell.
fn quit_and_leave(mut terminal: Terminal) {
    terminal.type_in("q");
    terminal.wait("the summary", |screen| {
        !screen.alternate_screen() && screen.contents().contains("interrupted")
    });
    terminal.type_in("exit\r");
    terminal.end();
    terminal.check_clean();
}

fn stopped_and_continued_the_terminal_is_clean_in_between() {
    let mut terminal = shell();
    terminal.type_in(&format!("{ANTWARP} {} --threads 1\r", RUN.join(" ")));
    terminal.wait_for_view();
    for _ in 0..2 {
        terminal.type_in("\x1a");
        terminal.wait("the shell", |screen| !screen.alternate_screen() && !screen.hide_cursor());
        terminal.type_in("echo st''ill; stty -a\r");
        terminal.wait("an answer of the shell", |screen| screen.contents().contains("still"));
        terminal.wait("what the terminal is like", |screen| {
            let text = screen.contents();
            text.contains(" icanon") && text.contains(" echo ") && !text.contains("-icanon")
        });
        terminal.type_in("clear; fg\r");
        terminal.wait_for_view();
    }
    quit_and_leave(terminal);
}

fn in_the_background_it_waits() {
    let mut terminal = shell();
    terminal.type_in(&format!("{ANTWARP} {} --threads 1 &\r", RUN.join(" ")));
    terminal.type_in("sleep 1; echo do''ne\r");
    terminal.wait("an answer of the shell", |screen| screen.contents().contains("done"));
    assert!(!terminal.screen(|screen| screen.alternate_screen()), "{}", terminal.text());
    terminal.type_in("fg\r");
    terminal.wait_for_view();
    quit_and_leave(terminal);
}

fn it_needs_neither_colours_nor_unicode() {
    let pair = openpty(Some(&Winsize { ws_row: 30, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }), None).unwrap();
    let stream = || Stdio::from(pair.slave.try_clone().unwrap());
    let mut command = antwarp(&RUN);
    command.env("TERM", "vt100").env("LC_ALL", "C").env("NO_COLOR", "1").stdin(stream());
    command.stdout(stream()).stderr(stream());
    let mut terminal = Terminal::start(pair, (80, 30), &mut command);
    terminal.wait_for_view();
    terminal.wait("a chart", |screen| screen.contents().contains("***"));
    terminal.type_in("q");
    assert_eq!(terminal.end().code(), Some(130));
    terminal.check_clean();
    let written = terminal.written();
    let (view, _) = written.split_once("\x1b[?1049l").unwrap();
    let has_styles = ["\x1b[1m", "\x1b[2m", "\x1b[33m", "\x1b[36m"].iter().any(|code| view.contains(code));
    assert!(view.is_ascii() && !has_styles, "{view:?}");
}

fn elsewhere_it_is_as_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["solve", "E1k.0", "--live", "--time", "500ms"];
    // The standard error is a file, though the process has a terminal.
    let path = folder.path().join("said");
    let pair = openpty(None, None).unwrap();
    let stream = || Stdio::from(pair.slave.try_clone().unwrap());
    let mut command = antwarp(&args);
    command.env("TERM", "xterm").stdin(stream()).stdout(stream()).stderr(File::create(&path).unwrap());
    let mut terminal = Terminal::start(pair, (80, 24), &mut command);
    assert!(terminal.end().success());
    terminal.check_clean();
    assert!(terminal.text().contains("cost "), "{}", terminal.text());
    let said = std::fs::read_to_string(&path).unwrap();
    assert!(!said.contains('\x1b'), "{said}");
    // A terminal that only prints.
    let mut terminal = Terminal::new((80, 24), antwarp(&args).env("TERM", "dumb"));
    assert!(terminal.end().success());
    terminal.check_clean();
    assert!(!terminal.written().contains("\x1b[?1049h"), "{}", terminal.written());
}

fn a_run_that_ends_by_itself_prints_its_summary_below() {
    let args = ["solve", "E1k.0", "--live", "--time", "5s", "--prove=never"];
    let mut terminal = Terminal::new((80, 30), &mut antwarp(&args));
    terminal.wait_for_view();
    assert!(terminal.end().success());
    terminal.check_clean();
    let text = terminal.text();
    assert!(text.contains("stopped by the time limit") && !text.contains(HINT), "{text}");
}

/// Lines that fill the buffer of a terminal within a second.
const LARGE: (u16, u16) = (500, 400);

fn a_terminal_that_is_never_read_stops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let tour = folder.path().join("a.tour");
    let args =
        ["solve", "E1k.0", "--live", "--time", "2s", "--prove=never", "--tour", tour.to_str().unwrap()];
    let begin = Instant::now();
    let mut terminal = Terminal::new_unread(LARGE, &mut antwarp(&args));
    assert!(terminal.end().success());
    // A bound, not a measurement: the limit holds although the terminal takes nothing.
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    assert_eq!(cities(&tour), 1000);
    // Whoever reads it later finds the terminal as it was, and the summary.
    terminal.read();
    std::thread::sleep(Duration::from_millis(500));
    terminal.check_clean();
    assert!(terminal.text().contains("stopped by the time limit"), "{}", terminal.text());

    // A signal ends the run in the same way, and if that takes too long, a second one ends it at once.
    let mut terminal = Terminal::new_unread(LARGE, &mut with_tour(&tour));
    std::thread::sleep(Duration::from_secs(2));
    let program = Pid::from_raw(terminal.program.id() as i32);
    let begin = Instant::now();
    kill(program, Signal::SIGTERM).unwrap();
    std::thread::sleep(Duration::from_millis(600));
    // It may have ended before.
    let _ = kill(program, Signal::SIGTERM);
    assert_eq!(terminal.end().code(), Some(130));
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    assert_eq!(cities(&tour), 1000);
}

fn a_stopped_terminal_stops_no_run() {
    const CTRL_S: &str = "\x13";
    const CTRL_Q: &str = "\x11";
    let folder = tempfile::tempdir().unwrap();
    let started = |name: &str, args: &[&str], stdout: Option<&Path>| {
        let tour = folder.path().join(name);
        let pair =
            openpty(Some(&Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }), None).unwrap();
        let stream = || Stdio::from(pair.slave.try_clone().unwrap());
        let mut command = antwarp(&[args, &["--tour", tour.to_str().unwrap()]].concat());
        command.env("TERM", "xterm").stdin(stream()).stderr(stream());
        command.stdout(stdout.map_or_else(stream, |path| File::create(path).unwrap().into()));
        let mut terminal = Terminal::start(pair, (80, 24), &mut command);
        terminal.wait_for_view();
        terminal.type_in(CTRL_S);
        (terminal, tour)
    };
    let limited = ["solve", "E1k.0", "--live", "--time", "6s", "--prove=never"];
    let interrupt = |terminal: &Terminal| {
        kill(Pid::from_raw(terminal.program.id() as i32), Signal::SIGTERM).unwrap();
    };
    // Until the tour is written, and the process waits for the terminal if it does so at all.
    let wait_for = |tour: &Path| {
        let begin = Instant::now();
        while !tour.exists() {
            assert!(begin.elapsed() < Duration::from_secs(60), "the tour never came");
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(700));
    };

    // With the results elsewhere, the process ends.
    let summary = folder.path().join("summary");
    let (mut terminal, tour) = started("a.tour", &RUN, Some(&summary));
    interrupt(&terminal);
    assert_eq!(terminal.end().code(), Some(130));
    assert_eq!(cities(&tour), 1000);
    assert!(std::fs::read_to_string(&summary).unwrap().contains("interrupted"));
    let flags = tcgetattr(terminal.slave.as_fd()).unwrap().local_flags;
    assert!(flags.contains(LocalFlags::ICANON | LocalFlags::ECHO), "{flags:?}");

    // The summary waits for the terminal, and is on its usual screen.
    let (mut terminal, tour) = started("b.tour", &RUN, None);
    interrupt(&terminal);
    wait_for(&tour);
    terminal.type_in(CTRL_Q);
    assert_eq!(terminal.end().code(), Some(130));
    terminal.check_clean();
    let text = terminal.text();
    assert!(text.contains("stopping with the best tour so far") && text.contains("interrupted"), "{text}");

    // Two signals end a process that waits for it.
    let (mut terminal, tour) = started("c.tour", &limited, None);
    wait_for(&tour);
    assert!(terminal.program.try_wait().unwrap().is_none());
    // Two that arrive together, as on a busy machine, count as one.
    for _ in 0..20 {
        interrupt(&terminal);
        std::thread::sleep(Duration::from_millis(900));
        if terminal.program.try_wait().unwrap().is_some() {
            break;
        }
    }
    assert_eq!(terminal.end().code(), Some(130));
}

fn messages_from_before_it_are_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let [places, tour] = ["places.csv", "a.tour"].map(|name| folder.path().join(name));
    let lines = (0..20).map(|at| format!("{},{}\n", at * at % 17, at * 7 % 20));
    std::fs::write(&places, format!("x,y\n{}", lines.collect::<String>())).unwrap();
    let args = ["solve", places.to_str().unwrap(), "--live", "--iterations", "9", "--prove=never", "--tour"];
    let mut command = antwarp(&[&args[..], &[tour.to_str().unwrap()]].concat());
    let mut terminal = Terminal::new_full(&mut command, None);
    let begin = Instant::now();
    while !tour.exists() {
        assert!(begin.elapsed() < Duration::from_secs(60), "the tour never came");
        std::thread::sleep(Duration::from_millis(5));
    }
    terminal.read();
    assert!(terminal.end().success());
    terminal.check_clean();
    let text = terminal.text();
    assert!(text.contains("read 20 places") && text.contains("iteration limit reached"), "{text}");
}

fn several_runs_have_no_view() {
    let output = antwarp(&["solve", "E1k.0", "--live", "--runs", "2"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("--live is for one run of one instance"), "{said}");
}
