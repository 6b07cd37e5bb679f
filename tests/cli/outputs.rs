//! Whatever happens while a command writes, its result is not lost and no other file is harmed. On the CPU.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::harness;
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use tempfile::TempDir;

tests! {
    two_spellings_of_a_file_are_refused_before_anything_is_computed,
    an_output_does_not_replace_an_input,
    a_limit_of_the_size_of_files_is_an_error_and_the_tour_is_kept,
    #[cfg(target_os = "linux")]
    a_tour_that_is_written_elsewhere_replaces_nothing,
    signals_that_were_ignored_when_the_program_began_stay_ignored,
    a_closed_standard_output_is_an_error_before_anything_is_computed,
    a_file_that_others_have_open_is_not_replaced,
    names_that_cannot_be_written_are_found_out_at_once,
    links_stay_links_and_rights_stay_rights,
    the_file_of_shapes_does_not_replace_one_of_somebody_else,
    paths_need_not_be_utf_8,
    a_file_is_whole_or_absent_whenever_the_program_is_killed,
    rows_of_a_bench_are_whole_whenever_it_is_killed,
}

const ANTWARP: &str = env!("CARGO_BIN_EXE_antwarp");

/// A folder with a small instance `a.tsp` in it, in which commands run.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.antwarp(["generate", "uniform", "-n", "30", "-o", "a.tsp"]).assert().success();
        folder
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    fn antwarp<I: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = I>) -> Command {
        let mut command = Command::new(ANTWARP);
        command.args(args).current_dir(self.0.path()).timeout(Duration::from_secs(120));
        command.env("ANTWARP_TUNING", "none");
        command
    }

    /// A short run of `solve`.
    fn solve(&self, args: &[&str]) -> Command {
        let mut command = self.antwarp(["solve", "a.tsp", "--backend", "cpu", "--iterations", "3", "-q"]);
        command.args(args);
        command
    }

    /// What a shell makes of `line`, in which `$ANTWARP` is the program.
    fn shell(&self, line: &str) -> Child {
        let mut shell = Process::new("sh");
        shell.args(["-c", line]).env("ANTWARP", ANTWARP).current_dir(self.0.path());
        shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn run(&self, line: &str) -> (Option<i32>, String) {
        let Output { status, stdout, stderr } = self.shell(line).wait_with_output().unwrap();
        (status.code(), String::from_utf8([stdout, stderr].concat()).unwrap())
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn is_tour(&self, name: impl AsRef<OsStr>) -> bool {
        self.antwarp([OsStr::new("check"), OsStr::new("a.tsp"), name.as_ref()])
            .output()
            .unwrap()
            .status
            .success()
    }

    fn names(&self) -> Vec<String> {
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<_> =
            fs::read_dir(self.0.path()).unwrap().map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }
}

fn two_spellings_of_a_file_are_refused_before_anything_is_computed() {
    let folder = Folder::new();
    fs::create_dir(folder.path("real")).unwrap();
    symlink("real", folder.path("linked")).unwrap();
    symlink("real/there", folder.path("to-there")).unwrap();
    symlink("real/missing", folder.path("to-missing")).unwrap();
    fs::write(folder.path("real/there"), "old").unwrap();
    let begin = Instant::now();
    for (one, two) in [
        ("x", "./x"),
        ("x", "real/../x"),
        ("real/x", "linked/x"),
        ("real/there", "to-there"),
        ("real/missing", "to-missing"),
        ("linked/missing", "to-missing"),
        ("/dev/stdout", "-"),
    ] {
        for args in [
            ["solve", "a.tsp", "--tour", one, "--svg", two].as_slice(),
            &["solve", "a.tsp", "--json", one, "--tour", two],
            &["solve", "a.tsp", "--algorithm", "ga", "--save-population", one, "--tour", two],
            &["search", "ppp", "--m", "73", "--n", "73", "--solution", one, "--json", two],
            &["bench", "solve", "--instances", "a.tsp", "--csv", one, "--json", two],
        ] {
            let run = folder.antwarp(args).args(["--time", "1h"]).assert();
            run.code(2).stdout("").stderr(contains("given for two outputs"));
        }
    }
    let (status, told) = folder.run("exec $ANTWARP solve a.tsp --time 1h --tour - --svg x > x");
    assert_eq!(status, Some(2), "{told}");
    fs::remove_file(folder.path("x")).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(60));
    assert_eq!(folder.read("real/there"), "old");
    assert_eq!(folder.names(), ["a.tsp", "linked", "real", "to-missing", "to-there"]);
}

fn an_output_does_not_replace_an_input() {
    let folder = Folder::new();
    symlink("a.tsp", folder.path("b.tsp")).unwrap();
    folder.solve(&["--tour", "a.tour"]).assert().success();
    let population = ["--algorithm", "ga", "--population", "32", "--save-population", "a.population"];
    folder.solve(&population).assert().success();
    folder
        .antwarp(["search", "partition", "--numbers", "9", "--json", "a.json", "--iterations", "1"])
        .assert()
        .success();
    let before = |name: &str| (name.to_owned(), folder.read(name));
    let before = ["a.tsp", "a.tour", "a.population"].map(before);
    for (args, what) in [
        (["solve", "b.tsp", "--tour", "./a.tsp"].as_slice(), "the instance"),
        (&["solve", "a.tsp", "--initial-tour", "a.tour", "--json", "./a.tour"], "the initial tour"),
        (&["solve", "a.tsp", "--initial-tour", "a.tour", "--svg", "./a.tour"], "the initial tour"),
        (
            &[
                "solve",
                "a.tsp",
                "--algorithm",
                "ga",
                "--load-population",
                "a.population",
                "--tour",
                "a.population",
            ],
            "to load",
        ),
        (&["search", "tsp", "a.tsp", "--solution", "b.tsp"], "the instance"),
        (&["bound", "a.tsp", "--json", "b.tsp"], "the instance"),
        (&["check", "b.tsp", "a.tour", "--json", "a.tsp"], "the instance"),
        (&["check", "a.tsp", "a.tour", "--json", "./a.tour"], "the tour"),
        (&["bench", "solve", "--instances", "a.tsp", "--csv", "b.tsp"], "the instance"),
        (
            &[
                "bench",
                "solve",
                "--instances",
                "a.tsp",
                "--csv",
                "a.tour",
                "--",
                "--initial-tour",
                "./a.tour",
            ],
            "tour",
        ),
        (&["plot", "a.json", "-o", "./a.json"], "one of the runs"),
    ] {
        folder
            .antwarp(args)
            .assert()
            .code(2)
            .stdout("")
            .stderr(contains(what).and(contains("another output")));
    }
    for (name, text) in before {
        assert_eq!(folder.read(&name), text, "{name}");
    }
    // A tour and a population may be replaced by what came of them.
    folder.solve(&["--initial-tour", "a.tour", "--tour", "a.tour"]).assert().success();
    let population =
        ["--algorithm", "ga", "--load-population", "a.population", "--save-population", "a.population"];
    folder.solve(&population).assert().success();
}

fn a_limit_of_the_size_of_files_is_an_error_and_the_tour_is_kept() {
    let folder = Folder::new();
    folder.antwarp(["generate", "uniform", "-n", "5000", "-o", "large.tsp"]).assert().success();
    fs::write(folder.path("old.tour"), "old").unwrap();
    fs::create_dir(folder.path("elsewhere")).unwrap();
    for option in ["--tour", "--json", "--svg"] {
        let solve = "exec $ANTWARP solve large.tsp --backend cpu --iterations 1 -q";
        let (status, told) =
            folder.run(&format!("ulimit -f 1; TMPDIR=elsewhere; export TMPDIR; {solve} {option} old.tour"));
        assert_eq!(status, Some(5), "{told}");
        assert!(told.contains("cannot write old.tour: ") && told.contains("File too large"), "{told}");
        // A small file can be written nowhere, so the tour is printed.
        assert!(told.contains("TOUR_SECTION") && told.contains("standard output instead"), "{told}");
        assert_eq!(folder.read("old.tour"), "old");
        assert_eq!(folder.names(), ["a.tsp", "elsewhere", "large.tsp", "old.tour"]);
        assert_eq!(fs::read_dir(folder.path("elsewhere")).unwrap().count(), 0);
    }
}

#[cfg(target_os = "linux")]
fn a_tour_that_is_written_elsewhere_replaces_nothing() {
    let folder = Folder::new();
    fs::create_dir(folder.path("elsewhere")).unwrap();
    fs::write(folder.path("victim"), "old").unwrap();
    let links = "ln -s ../victim elsewhere/antwarp-uniform-30-1-$$.tour; ln -s ../victim elsewhere/antwarp-uniform-30-1-$$-1.tour";
    let solve = "TMPDIR=elsewhere exec $ANTWARP solve a.tsp --backend cpu --iterations 3 -q --tour /dev/full";
    let (status, told) = folder.run(&format!("{links}; {solve}"));
    assert_eq!(status, Some(5), "{told}");
    assert_eq!(folder.read("victim"), "old");
    let file = told.split_once("The tour was written to ").unwrap().1.split_once(" instead").unwrap().0;
    assert!(folder.is_tour(file), "{told}");
}

/// Whether what begins here ignores a signal, as in the background of a shell or under `nohup`.
fn is_ignored(folder: &Folder, signal: &str) -> bool {
    folder.run(&format!("kill -{signal} $$; echo here")).1.contains("here")
}

/// Signals that come to a run of `seconds`, which was started with some of them ignored; how it ended.
fn signalled(folder: &Folder, ignored: &str, signals: &[&str], seconds: u32) -> (Option<i32>, String) {
    let run = "exec $ANTWARP solve a.tsp --backend cpu --algorithm ils --tour a.tour --time";
    let child = folder.shell(&format!("trap '' {ignored}; {run} {seconds}s"));
    sleep(Duration::from_secs(1));
    for signal in signals {
        let kill = format!("kill -{signal} {}", child.id());
        assert_eq!(folder.run(&kill).0, Some(0));
    }
    let output = child.wait_with_output().unwrap();
    assert!(folder.is_tour("a.tour"));
    fs::remove_file(folder.path("a.tour")).unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

fn signals_that_were_ignored_when_the_program_began_stay_ignored() {
    let folder = Folder::new();
    let (status, told) = signalled(&folder, "INT HUP", &["INT", "HUP"], 3);
    assert_eq!(status, Some(0), "{told}");
    assert!(!told.contains("interrupted"), "{told}");
    // The others stop it.
    for (ignored, signal) in [("INT", "HUP"), ("HUP", "INT"), ("INT HUP", "TERM")] {
        if is_ignored(&folder, signal) {
            harness::ignore(format!("SIG{signal} is ignored here"));
            continue;
        }
        let (status, told) = signalled(&folder, ignored, &[signal], 300);
        assert_eq!(status, Some(130), "{told}");
        assert!(told.contains("interrupted"), "{told}");
    }
}

fn a_closed_standard_output_is_an_error_before_anything_is_computed() {
    let folder = Folder::new();
    let begin = Instant::now();
    for command in [
        "solve a.tsp --time 1h --tour -",
        "solve a.tsp --time 1h --json -",
        "solve a.tsp --time 1h --tour /dev/stdout",
        "search ppp --m 73 --n 73 --time 1h --solution -",
        "bench solve --instances a.tsp --time 1h --csv -",
        "bound a.tsp --json -",
        // What they print is all that they are for.
        "bound a.tsp",
        "info a.tsp",
        "devices",
        "man",
        "completions bash",
        "generate uniform -n 5",
    ] {
        let (status, told) = folder.run(&format!("exec $ANTWARP {command} >&-"));
        assert_eq!(status, Some(5), "{command}: {told}");
        assert!(told.contains("standard output") && told.contains("closed"), "{told}");
    }
    assert!(begin.elapsed() < Duration::from_secs(60));
    // Nothing is lost where all goes to files, or where nobody wants to read it.
    for rest in [
        "--tour a.tour >&-",
        "--tour - > /dev/null",
        "--tour - 1<>/dev/null",
        "--tour - > b.tour",
        "--tour /dev/stdout >> c.tour",
    ] {
        fs::write(folder.path("c.tour"), "COMMENT : old\n").unwrap();
        let (status, told) =
            folder.run(&format!("exec $ANTWARP solve a.tsp --backend cpu --iterations 3 -q {rest}"));
        assert_eq!(status, Some(0), "{rest}: {told}");
    }
    assert!(folder.is_tour("a.tour") && folder.is_tour("b.tour"));
    assert!(folder.read("c.tour").starts_with("COMMENT : old\n") && folder.is_tour("c.tour"));
}

fn a_file_that_others_have_open_is_not_replaced() {
    let folder = Folder::new();
    fs::write(folder.path("log"), "old\n").unwrap();
    let solve = "exec $ANTWARP solve a.tsp --backend cpu --iterations 3 -q --tour";
    let (status, told) = folder.run(&format!("{solve} /dev/fd/5 5>> log"));
    assert_eq!(status, Some(5), "{told}");
    assert!(told.contains("give its real name"), "{told}");
    assert_eq!(folder.read("log"), "old\n");
    let (status, told) = folder.run(&format!("{{ {solve} /dev/fd/5; }} 5>&1 | cat > a.tour"));
    assert_eq!(status, Some(0), "{told}");
    assert!(folder.is_tour("a.tour"));
}

fn names_that_cannot_be_written_are_found_out_at_once() {
    let folder = Folder::new();
    fs::create_dir(folder.path("locked")).unwrap();
    fs::write(folder.path("locked/file"), "old").unwrap();
    symlink("no-folder/file", folder.path("nowhere")).unwrap();
    symlink("round", folder.path("round")).unwrap();
    let long = "n".repeat(256);
    let mut wrong = vec!["no-folder/x", "a.tsp/x", "new/", ".", "nowhere", "round", &long];
    fs::set_permissions(folder.path("locked"), fs::Permissions::from_mode(0o555)).unwrap();
    // Root may write everywhere.
    if fs::write(folder.path("locked/probe"), "").is_err() {
        wrong.extend(["locked/new", "locked/file"]);
    }
    let begin = Instant::now();
    for name in wrong {
        for args in [
            ["solve", "a.tsp", "--time", "1h", "--tour", name].as_slice(),
            &["search", "ppp", "--m", "73", "--n", "73", "--time", "1h", "--json", name],
            &["bench", "solve", "--instances", "a.tsp", "--time", "1h", "--csv", name],
            &["generate", "E1M.0", "-o", name],
        ] {
            folder
                .antwarp(args)
                .assert()
                .code(5)
                .stdout("")
                .stderr(contains(format!("cannot write {name}: ")));
        }
    }
    folder
        .antwarp(["solve", "a.tsp", "--time", "1h", "--tour", ""])
        .assert()
        .code(2)
        .stderr(contains("--tour"));
    assert!(begin.elapsed() < Duration::from_secs(60));
    fs::set_permissions(folder.path("locked"), fs::Permissions::from_mode(0o755)).unwrap();
    for length in [244, 245, 250, 255] {
        let name = "n".repeat(length);
        folder.solve(&["--tour", &name]).assert().success();
        assert!(folder.is_tour(&name));
    }
}

fn links_stay_links_and_rights_stay_rights() {
    let folder = Folder::new();
    symlink("behind.tour", folder.path("link.tour")).unwrap();
    for _ in 0..2 {
        folder.solve(&["--tour", "link.tour"]).assert().success();
        assert!(folder.path("link.tour").is_symlink() && !folder.path("behind.tour").is_symlink());
        assert!(folder.is_tour("behind.tour"));
    }
    for mode in [0o600, 0o640, 0o664] {
        fs::set_permissions(folder.path("behind.tour"), fs::Permissions::from_mode(mode)).unwrap();
        folder.solve(&["--tour", "link.tour"]).assert().success();
        assert_eq!(fs::metadata(folder.path("behind.tour")).unwrap().permissions().mode() & 0o777, mode);
    }
}

fn the_file_of_shapes_does_not_replace_one_of_somebody_else() {
    let folder = Folder::new();
    let search = |problem: &[&str], file: &str| {
        let mut command = folder.antwarp(problem);
        command
            .args(["--threads", "4", "--iterations", "4000", "--backend", "cpu"])
            .env("ANTWARP_TUNING", file);
        command
    };
    let qap = ["search", "qap", "--uniform", "30", "--walks", "1"];
    let ppp = ["bench", "search", "ppp", "--instances", "73-73"];
    for text in ["my thesis\n", "{\"key\": 1}", "[1, 2]"] {
        fs::write(folder.path("thesis"), text).unwrap();
        for problem in [qap.as_slice(), &ppp] {
            let refused = contains("thesis").and(contains("ANTWARP_TUNING"));
            search(problem, "thesis").assert().code(2).stdout("").stderr(refused);
            assert_eq!(folder.read("thesis"), text);
        }
    }
    // One that is empty, or was damaged, is.
    fs::write(folder.path("empty"), "").unwrap();
    search(&qap, "empty").assert().success();
    assert!(folder.read("empty").contains("qap_stored"));
}

fn paths_need_not_be_utf_8() {
    let folder = Folder::new();
    let name = |text: &str| OsString::from_vec([text.as_bytes(), b"\xe9"].concat());
    if fs::copy(folder.path("a.tsp"), folder.path(name("tsp"))).is_err() {
        harness::ignore("files have names of UTF-8 here");
        return;
    }
    let run = |args: &[&str], names: &[(&str, &str)]| {
        let mut command = folder.antwarp(args);
        for (option, file) in names {
            command.args((!option.is_empty()).then_some(option)).arg(name(file));
        }
        command
    };
    let solve = ["solve", "--backend", "cpu", "--iterations", "3", "-q"];
    run(&solve, &[("", "tsp"), ("--tour", "tour"), ("--json", "json"), ("--svg", "svg")]).assert().success();
    assert!(folder.is_tour(name("tour")));
    let text = fs::read(folder.path(name("json"))).unwrap();
    let path = serde_json::from_slice::<serde_json::Value>(&text).unwrap()["instance"]["path"].clone();
    assert_eq!(path, "tsp\u{fffd}");
    run(&solve, &[("", "tsp"), ("--initial-tour", "tour"), ("--tour", "tour")]).assert().success();
    run(&["check"], &[("", "tsp"), ("", "tour")]).assert().success();
    run(&["info"], &[("", "tsp")]).assert().success();
    run(&["bound", "--trees", "9"], &[("", "tsp"), ("--json", "bound")]).assert().success();
    run(&["generate", "uniform", "-n", "5"], &[("-o", "new")]).assert().success();
    let bench = ["bench", "solve", "--iterations", "3", "--backend", "cpu"];
    let rows = [("--instances", "tsp"), ("--csv", "csv")];
    run(&bench, &rows).args(["--", "--initial-tour"]).arg(name("tour")).assert().success();
    run(&bench, &[("--instances", "tsp"), ("--csv", "csv")]).assert().success();
    run(&["bench", "table"], &[("", "csv")]).assert().success();
    let bench = ["bench", "search", "tsp", "--iterations", "3", "--backend", "cpu", "--ways", "thread"];
    run(&bench, &[("--instances", "tsp"), ("--json", "rows")]).assert().success();
    // What is wrong with one is told, too.
    run(&solve, &[("", "missing")]).assert().code(3).stderr(contains("missing"));
}

/// Ends a command without warning after different times, and looks at what is there then. It runs again and again, and a
/// little longer each time, until it has come to its end twice.
fn killed(folder: &Folder, args: &[&str], step: Duration, mut look: impl FnMut()) {
    let mut ends = 0;
    for round in 1..=40 {
        let mut command = Process::new(ANTWARP);
        command.args(args).current_dir(folder.0.path()).env("ANTWARP_TUNING", "none");
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(step * round);
        ends += u32::from(child.try_wait().unwrap().is_some());
        child.kill().unwrap();
        child.wait().unwrap();
        look();
        if ends == 2 {
            break;
        }
    }
}

fn a_file_is_whole_or_absent_whenever_the_program_is_killed() {
    let folder = Folder::new();
    let step = Duration::from_millis(5);
    let generate = ["generate", "uniform", "-n", "200000", "-o"];
    folder.antwarp(generate).arg("whole.tsp").assert().success();
    let whole = fs::read(folder.path("whole.tsp")).unwrap();
    // A new file, then one that is replaced.
    let new = folder.path("new.tsp");
    killed(&folder, &[generate.as_slice(), &["new.tsp"]].concat(), step, || {
        assert!(!new.exists() || fs::read(&new).unwrap() == whole);
        let _ = fs::remove_file(&new);
    });
    killed(&folder, &[generate.as_slice(), &["new.tsp"]].concat(), step, || {
        assert!(!new.exists() || [whole.as_slice(), b"old"].contains(&fs::read(&new).unwrap().as_slice()));
        fs::write(&new, "old").unwrap();
    });
    let outputs =
        ["--tour", "a.tour", "--json", "a.json", "--svg", "a.svg", "--save-population", "a.population"];
    let evolve = [
        "solve",
        "a.tsp",
        "--backend",
        "cpu",
        "--algorithm",
        "ga",
        "--population",
        "4096",
        "--iterations",
        "1",
    ];
    killed(&folder, &[evolve.as_slice(), &outputs].concat(), step, || {
        let is_there = |name: &str| folder.path(name).exists();
        assert!(!is_there("a.tour") || folder.is_tour("a.tour"));
        assert!(
            !is_there("a.json") || serde_json::from_str::<serde_json::Value>(&folder.read("a.json")).is_ok()
        );
        assert!(!is_there("a.svg") || folder.read("a.svg").ends_with("</svg>\n"));
        assert!(!is_there("a.population") || folder.read("a.population").ends_with("\n-1\nEOF\n"));
        for name in outputs.iter().skip(1).step_by(2) {
            let _ = fs::remove_file(folder.path(name));
        }
    });
}

fn rows_of_a_bench_are_whole_whenever_it_is_killed() {
    let folder = Folder::new();
    let bench =
        ["bench", "solve", "--instances", "a.tsp", "--backend", "cpu", "--iterations", "2", "--seeds", "400"];
    let step = Duration::from_millis(25);
    killed(
        &folder,
        &[bench.as_slice(), &["--csv", "rows.csv", "--json", "rows.json"]].concat(),
        step,
        || {
            if folder.path("rows.csv").exists() {
                folder.antwarp(["bench", "table", "rows.csv"]).assert().success().stderr("");
                assert!(fs::read(folder.path("rows.csv")).unwrap().starts_with(b"suite,"));
            }
            if folder.path("rows.json").exists() {
                assert!(serde_json::from_str::<serde_json::Value>(&folder.read("rows.json")).is_ok());
            }
        },
    );
    // A limit of the size of files does not cut one off either.
    let (status, told) =
        folder.run(&format!("ulimit -f 20; exec $ANTWARP {} --csv rows.csv", bench.join(" ")));
    assert_eq!(status, Some(5), "{told}");
    folder.antwarp(["bench", "table", "rows.csv"]).assert().success().stderr("");
}
