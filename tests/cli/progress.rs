//! The progress line, in terminals made for the test: narrow ones, and those that take no output.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::terminal::{Terminal, antwarp, cities};

tests! {
    it_fits_a_narrow_terminal,
    it_is_cleared_before_the_report,
    a_terminal_that_takes_nothing_stops_no_run,
    a_signal_is_answered_though_the_terminal_takes_nothing,
    the_report_waits_for_a_terminal_and_files_do_not,
}

const SOLVE: &[&str] = &["solve", "E1k.0", "--backend", "cpu", "--prove=never"];
const SEARCH: &[&str] = &["search", "tsp", "E1k.0", "--backend", "cpu"];

fn it_fits_a_narrow_terminal() {
    for columns in [40, 71, 100] {
        for command in [SOLVE, SEARCH] {
            // A run of more than a minute would also say where it keeps its tour.
            let mut terminal =
                Terminal::new((columns, 24), &mut antwarp(&[command, &["--time", "50s"]].concat()));
            terminal.wait("a line", |screen| screen.contents().contains("best "));
            terminal.signal(Signal::SIGINT);
            assert_eq!(terminal.end().code(), Some(130));
            let written = terminal.written();
            let (line, report) = written.split_once("stopping with the best").unwrap();
            assert!(line.contains("iteration") || columns == 40, "{line:?}");
            // Messages are lines of their own, which may be wrapped.
            for frame in line.split(['\r', '\n']).filter(|frame| !frame.contains("antwarp: ")) {
                assert!(console::measure_text_width(frame) <= columns.into(), "{frame:?} in {columns}");
            }
            assert!(report.contains("cost "), "{written}");
        }
    }
}

fn it_is_cleared_before_the_report() {
    for command in [SOLVE, SEARCH] {
        let mut terminal = Terminal::new((100, 24), &mut antwarp(&[command, &["--time", "2s"]].concat()));
        assert!(terminal.end().success());
        let text = terminal.text();
        assert!(text.contains("cost ") && !text.contains("best 2"), "{text}");
    }
}

/// Waits until a file is there, and what follows has been tried.
fn wait_for(file: &Path) {
    let begin = Instant::now();
    while !file.exists() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{} never came", file.display());
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(700));
}

fn a_terminal_that_takes_nothing_stops_no_run() {
    let folder = tempfile::tempdir().unwrap();
    let [result, report] = ["result", "report"].map(|name| folder.path().join(name));
    for (command, option) in [(SOLVE, "--tour"), (SEARCH, "--solution")] {
        let limits = ["--time", "1s", option, result.to_str().unwrap()];
        let begin = Instant::now();
        let output = File::create(&report).unwrap();
        let mut terminal = Terminal::new_full(&mut antwarp(&[command, &limits].concat()), Some(output));
        assert!(terminal.end().success());
        // A bound, not a measurement: the limit holds although the terminal takes nothing.
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
        assert_eq!(cities(&result), 1000);
        assert!(std::fs::read_to_string(&report).unwrap().contains("stopped by the time limit"));
        std::fs::remove_file(&result).unwrap();
    }
}

fn a_signal_is_answered_though_the_terminal_takes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let [tour, report] = ["tour", "report"].map(|name| folder.path().join(name));
    let args = [SOLVE, &["--time", "10m", "--tour", tour.to_str().unwrap()]].concat();
    let mut terminal = Terminal::new_full(&mut antwarp(&args), Some(File::create(&report).unwrap()));
    wait_for(&tour);
    let begin = Instant::now();
    terminal.signal(Signal::SIGTERM);
    assert_eq!(terminal.end().code(), Some(130));
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    assert_eq!(cities(&tour), 1000);
    assert!(std::fs::read_to_string(&report).unwrap().contains("interrupted"));

    // With the report on the terminal, it needs two. Two that arrive together, as on a busy machine, count as one.
    std::fs::remove_file(&tour).unwrap();
    let mut terminal = Terminal::new_full(&mut antwarp(&args), None);
    wait_for(&tour);
    for _ in 0..20 {
        terminal.signal(Signal::SIGTERM);
        std::thread::sleep(Duration::from_millis(900));
        if terminal.program.try_wait().unwrap().is_some() {
            break;
        }
    }
    assert_eq!(terminal.end().code(), Some(130));
    assert_eq!(cities(&tour), 1000);
}

fn the_report_waits_for_a_terminal_and_files_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["tour", "csv", "lines", "svg"].map(|name| folder.path().join(name));
    let [tour, csv, lines, svg] = [0, 1, 2, 3].map(|at: usize| paths[at].to_str().unwrap());
    // One run, one whose tour goes to the terminal, several, and those with an output on the terminal: their picture is written after the
    // last run.
    for (more, last, said) in [
        (&["--tour", tour][..], tour, "stopped by the time limit"),
        (&["--tour", "-", "--csv", csv], csv, "stopped by the time limit"),
        (&["--runs", "3", "--tour", tour, "--json", lines], tour, "seed 3"),
        (&["--runs", "3", "--tour", "-", "--json", lines, "--svg", svg], svg, "TOUR_SECTION"),
        (&["--runs", "3", "--json", "-", "--svg", svg], svg, "\"statistics\""),
    ] {
        let args = [SOLVE, &["--time", "500ms"], more].concat();
        let mut terminal = Terminal::new_full(&mut antwarp(&args), None);
        wait_for(Path::new(last));
        if more.contains(&lines) {
            let begin = Instant::now();
            while std::fs::read_to_string(lines).unwrap().lines().count() < 4 {
                assert!(begin.elapsed() < Duration::from_secs(60), "runs wait for the terminal");
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        assert!(terminal.program.try_wait().unwrap().is_none(), "{more:?}");
        terminal.read();
        assert!(terminal.end().success());
        let (written, text) = (terminal.written(), terminal.text());
        assert!(written.contains(said), "{more:?}: {text}");
        // Nothing of the line is left.
        assert!(!text.contains(", iteration ") && !text.contains("preparing"), "{more:?}: {text}");
        let _ = std::fs::remove_file(last);
    }
}
