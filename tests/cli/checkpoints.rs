//! Checkpoints: a run that was killed continues from its file. On the CPU.

use std::fs;
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::Duration;

use predicates::prelude::*;
use predicates::str::contains;

use super::kept::Run;
use crate::world::{Folder, json, solve};

tests! {
    a_run_that_is_killed_again_and_again_ends_with_the_same_tour,
    a_search_that_is_killed_again_and_again_ends_with_the_same_solution,
    an_interrupt_loses_nothing_of_a_run_by_iterations,
    an_interrupted_run_continues_with_other_threads_and_limits,
    a_search_continues_with_other_threads_and_limits,
    what_does_not_fit_is_refused,
    searches_that_do_not_fit_are_refused,
    a_full_disk_leaves_the_old_checkpoint,
}

/// Kills by default; `ANTWARP_KILLS` asks for more.
const KILLS: u64 = 5;

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_antwarp"));
    command.args(args).args(["--backend", "cpu"]).env("ANTWARP_TUNING", "none");
    command
}

/// The number of kills in a test.
fn kills() -> u64 {
    std::env::var("ANTWARP_KILLS").map_or(KILLS, |kills| kills.parse().unwrap())
}

/// Waits until a run writes its first checkpoint, however slow the machine is; returns false if it ends before.
fn goes_on_after_a_checkpoint(run: &mut Run, file: &str) -> bool {
    let modified = || fs::metadata(file).and_then(|file| file.modified()).ok();
    let before = modified();
    while run.try_wait().unwrap().is_none() {
        if modified() != before {
            return true;
        }
        sleep(Duration::from_millis(10));
    }
    false
}

/// Runs a command whose result goes to a file by the option `output`, then once more with kills, and compares the two.
fn compare_with_killed(args: &[&str], output: &str) {
    let folder = Folder::new(10);
    let [whole, parts, file] = ["whole", "parts", "run"].map(|name| folder.path(name));
    let Output { status, stderr, .. } =
        Run::of(&mut command(&[args, &[output, &whole][..]].concat())).output();
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    let (mut killed, mut resumed) = (0, 0);
    loop {
        let is_there = fs::exists(&file).unwrap();
        let resume: &[&str] = if is_there { &["--resume", &file] } else { &[] };
        let more = ["--checkpoint", &file, "--every", "50ms", output, &parts];
        let mut run = Run::of(&mut command(&[args, &more, resume].concat()));
        resumed += u64::from(is_there);
        if killed < kills() && goes_on_after_a_checkpoint(&mut run, &file) {
            // Not a multiple of the time between checkpoints.
            sleep(Duration::from_millis(37 * killed % 100));
            if run.try_wait().unwrap().is_none() {
                run.kill().unwrap();
                run.wait().unwrap();
                killed += 1;
                continue;
            }
        }
        let Output { status, stderr, .. } = run.output();
        assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
        break;
    }
    assert!(killed > 0 && resumed > 0, "{args:?}: {killed} kills, {resumed} resumed");
    assert_eq!(fs::read(&parts).unwrap(), fs::read(&whole).unwrap(), "{args:?}");
}

fn a_run_that_is_killed_again_and_again_ends_with_the_same_tour() {
    for algorithm in [&["--algorithm", "lk"][..], &["--algorithm", "mmas", "--local-search", "three-opt"]] {
        let iterations = if algorithm.contains(&"lk") { 20_000 } else { 12 } * kills().div_ceil(KILLS);
        let iterations = iterations.to_string();
        let args = [&["solve", "E1k.0", "--threads", "1", "--iterations", &iterations], algorithm].concat();
        compare_with_killed(&args, "--tour");
    }
}

fn a_search_that_is_killed_again_and_again_ends_with_the_same_solution() {
    for (search, iterations) in [
        // With walks that recombine, as they do by default.
        (&["qap", "--uniform", "40"][..], 3000),
        (&["max-cut", "--nodes", "500", "--strategy", "ils", "--walks", "4"][..], 40_000),
    ] {
        let iterations = (iterations * kills().div_ceil(KILLS)).to_string();
        let args = [&["search"], search, &["--threads", "1", "--iterations", &iterations]].concat();
        compare_with_killed(&args, "--solution");
    }
}

/// No checkpoint is due before the interrupt, so the only one is of the moment when the run stopped.
fn an_interrupt_loses_nothing_of_a_run_by_iterations() {
    for (args, iterations, output) in [
        (&["solve", "E1k.0", "--algorithm", "lk"][..], 10_000, "--tour"),
        (&["solve", "E1k.0", "--algorithm", "mmas", "--local-search", "three-opt"], 24, "--tour"),
        (&["solve", "E1k.0", "--algorithm", "ga"], 40, "--tour"),
        (&["search", "qap", "--uniform", "40"], 6000, "--solution"),
    ] {
        let folder = Folder::new(10);
        let [whole, parts, file, report] = ["whole", "parts", "run", "json"].map(|name| folder.path(name));
        let iterations = iterations.to_string();
        let args = [args, &["--threads", "1", "--iterations", &iterations]].concat();
        let Output { status, .. } = Run::of(&mut command(&[&args[..], &[output, &whole]].concat())).output();
        assert!(status.success(), "{args:?}");
        let more = ["--backend", "cpu", "--checkpoint", &file, "--every", "10m", "--json", &report];
        crate::common::interrupted_at_work(&[&args[..], &more].concat(), Duration::from_millis(500));
        let before = json(&report)["iterations"].as_u64().unwrap();
        let run = Run::of(&mut command(&[&args[..], &["--resume", &file, output, &parts]].concat()));
        let Output { status, stderr, .. } = run.output();
        let told = String::from_utf8(stderr).unwrap();
        assert!(status.success() && told.contains(&format!(" and {before} iterations")), "{before}: {told}");
        assert!(before > 0, "{args:?}");
        assert_eq!(fs::read(&parts).unwrap(), fs::read(&whole).unwrap(), "{args:?}");
    }
}

fn an_interrupted_run_continues_with_other_threads_and_limits() {
    let folder = Folder::new(10);
    let [file, report] = ["run", "run.json"].map(|name| folder.path(name));
    let args = ["E1k.0", "--threads", "1", "--seed", "3", "--checkpoint", &file, "--json", &report];
    crate::common::interrupted(
        &[&["solve", "--backend", "cpu", "--time", "10m"], &args[..]].concat(),
        Duration::from_secs(2),
    );
    let before = json(&report);
    let seconds = |report: &serde_json::Value| report["seconds"].as_f64().unwrap();
    // The clock of the report starts a little later than the test's.
    assert!(seconds(&before) >= 1.5);
    // The limit counts from the first start: the run lasts half a second more.
    let time = format!("{}s", seconds(&before) + 0.5);
    let run = Run::of(&mut command(&[
        "solve",
        "E1k.0",
        "--threads",
        "2",
        "--resume",
        &file,
        "--time",
        &time,
        "--json",
        &report,
    ]));
    let Output { status, stderr, .. } = run.output();
    let told = String::from_utf8(stderr).unwrap();
    assert!(status.success() && told.contains("continuing after"), "{told}");
    let after = json(&report);
    let took = seconds(&after) - seconds(&before);
    assert!((0.2..5.0).contains(&took), "{took} s");
    assert_eq!(after["seed"], 3);
    assert!(after["cost"].as_i64() <= before["cost"].as_i64());
    // The time is over: what remains is the tour of the checkpoint.
    solve(&["E1k.0", "--resume", &file, "--time", "1s", "--json", &report]).assert().success();
    assert_eq!(json(&report)["cost"], before["cost"]);
}

fn a_search_continues_with_other_threads_and_limits() {
    let folder = Folder::new(10);
    let [file, report] = ["run", "run.json"].map(|name| folder.path(name));
    let problem = ["search", "max-cut", "--nodes", "300", "--json", &report];
    let run = |args: &[&str]| {
        let Output { status, stderr, .. } = Run::of(&mut command(&[&problem[..], args].concat())).output();
        let told = String::from_utf8(stderr).unwrap();
        assert!(status.success(), "{args:?}: {told}");
        (json(&report), told)
    };
    // The seed is that of the graph, too.
    let first = ["--walks", "3", "--seed", "5", "--threads", "1"];
    let (before, _) = run(&[&first[..], &["--iterations", "300", "--checkpoint", &file]].concat());
    let (after, told) = run(&["--resume", &file, "--iterations", "900", "--threads", "2"]);
    assert!(told.contains("continuing after") && told.contains("300 iterations"), "{told}");
    assert!(after["seconds"].as_f64() >= before["seconds"].as_f64());
    let (whole, _) = run(&[&first[..], &["--iterations", "900"]].concat());
    for what in ["cost", "costs", "solution", "iterations", "best_iteration", "evaluations"] {
        assert_eq!(after[what], whole[what], "{what}");
    }
    // The limits are those of the checkpoint: nothing is left to do.
    let (again, _) = run(&["--resume", &file]);
    assert_eq!((&again["solution"], &again["iterations"]), (&before["solution"], &300.into()));
}

fn what_does_not_fit_is_refused() {
    let folder = Folder::new(60);
    let other = Folder::new(61);
    let [file, copy] = ["run", "copy"].map(|name| folder.path(name));
    let first = ["--iterations", "500", "--seed", "7", "--checkpoint", &file];
    solve(&[&folder.instance]).args(first).assert().success();
    let whole = fs::read(&file).unwrap();
    let again = |args: &[&str]| solve(&[&folder.instance]).args(args).assert();
    again(&first).code(2).stderr(contains("exists").and(contains("--resume")));
    again(&["--checkpoint", "-"]).code(2).stderr(contains("needs a file"));
    again(&["--every", "5s"]).code(2).stderr(contains("--checkpoint"));
    let refused = |args: &[&str], why: &str| {
        again(&[&["--resume", &file], args].concat()).code(2).stdout("").stderr(contains(why));
    };
    refused(&["--seed", "8"], "seed");
    refused(&["--algorithm", "mmas"], "--algorithm lk");
    refused(&["--rho", "0.5"], "applies only to");
    refused(&["--tour", &file], "the checkpoint to continue from");
    for conflicting in ["--initial-tour", "--load-population", "--config"] {
        refused(&[conflicting, &file], "cannot be used with");
    }
    again(&["--resume", &file, "--seed", "7", "--algorithm", "lk"]).success();
    solve(&[&other.instance, "--resume", &file])
        .assert()
        .code(3)
        .stderr(contains("60 nodes").and(contains("61")));
    solve(&["E1k.0", "--resume", &file]).assert().code(3).stderr(contains("60 nodes"));
    again(&["--resume", &folder.instance]).code(3).stderr(contains("is not a checkpoint"));
    again(&["--resume", "nowhere"]).code(3).stderr(contains("nowhere").and(contains("--checkpoint")));
    for len in [whole.len() / 2, whole.len() - 1] {
        fs::write(&copy, &whole[..len]).unwrap();
        again(&["--resume", &copy]).code(3).stderr(contains("damaged or incomplete"));
    }
    assert_eq!(fs::read(&file).unwrap(), whole);
}

fn searches_that_do_not_fit_are_refused() {
    let folder = Folder::new(60);
    let [file, copy, run, climbs] = ["search", "copy", "run", "climbs"].map(|name| folder.path(name));
    let search = |args: &[&str]| crate::world::antwarp(&[&["search"][..], args].concat()).assert();
    let tsp = ["tsp", &folder.instance, "--backend", "cpu"];
    let first = ["--iterations", "50", "--seed", "7", "--walks", "2", "--checkpoint", &file];
    search(&[&tsp[..], &first].concat()).success();
    search(&[&tsp[..], &first].concat()).code(2).stderr(contains("exists").and(contains("--resume")));
    let whole = fs::read(&file).unwrap();
    let resume = ["--resume", &file];
    let refused = |args: &[&str], status: i32, why: &str| {
        search(&[args, &resume].concat()).code(status).stdout("").stderr(contains(why));
    };
    refused(&[&tsp[..], &["--seed", "8"]].concat(), 2, "--seed");
    refused(&[&tsp[..], &["--walks", "3"]].concat(), 2, "--walks");
    refused(&[&tsp[..], &["--strategy", "ils"]].concat(), 2, "--strategy");
    refused(&[&tsp[..], &["--move", "rotate"]].concat(), 3, "move swap");
    refused(&["tsp", "E1k.0", "--backend", "cpu"], 3, "60 elements");
    refused(&["max-cut", "--nodes", "60", "--backend", "cpu"], 3, "is of a search of tsp");
    refused(&[&tsp[..], &["--json", &file]].concat(), 2, "the checkpoint to continue from");
    search(&[&tsp[..], &["--seed", "7", "--iterations", "60"], &resume].concat()).success();
    // An option of the checkpoint may be repeated without the one that it needs.
    let ils = ["--strategy", "ils", "--descents", "100000", "--walks", "2"];
    search(&[&tsp[..], &["--iterations", "50", "--checkpoint", &climbs], &ils].concat()).success();
    search(&[&tsp[..], &["--descents", "100000", "--resume", &climbs]].concat()).success();
    refused(&[&tsp[..], &["--descents", "100000"]].concat(), 2, "--descents");
    solve(&[&folder.instance, "--resume", &file]).assert().code(3).stderr(contains("antwarp search tsp"));
    solve(&[&folder.instance, "--iterations", "10", "--checkpoint", &run]).assert().success();
    search(&[&tsp[..], &["--resume", &run]].concat()).code(3).stderr(contains("antwarp solve"));
    for len in [whole.len() / 2, whole.len() - 1] {
        fs::write(&copy, &whole[..len]).unwrap();
        let damaged = search(&[&tsp[..], &["--resume", &copy]].concat());
        damaged.code(3).stderr(contains("damaged or incomplete"));
    }
    assert_eq!(fs::read(&file).unwrap(), whole);
}

/// A limit of the size of files is like a full disk: the run goes on and says so once.
fn a_full_disk_leaves_the_old_checkpoint() {
    let folder = Folder::new(3000);
    let file = folder.path("run");
    // A busy machine takes longer to have anything to write.
    let has_written = |seconds: &u32| {
        let time = format!("{seconds}s");
        solve(&[&folder.instance, "--time", &time, "--threads", "1", "--checkpoint", &file])
            .assert()
            .success();
        fs::exists(&file).unwrap()
    };
    let seconds = [1, 2, 4, 8, 16, 32].into_iter().find(has_written).expect("a checkpoint within 32 s");
    let whole = fs::read(&file).unwrap();
    let program = env!("CARGO_BIN_EXE_antwarp");
    let line = format!(
        "{program} solve {} --backend cpu --threads 1 --resume {file} --checkpoint {file}",
        folder.instance
    );
    let line = format!("ulimit -f 4 && exec {line} --every 200ms --time {}s", 3 * seconds);
    let Output { status, stderr, .. } = Command::new("sh").args(["-c", &line]).output().unwrap();
    let told = String::from_utf8(stderr).unwrap();
    assert!(status.success(), "{told}");
    assert_eq!(told.matches("a checkpoint could not be written").count(), 1, "{told}");
    assert!(fs::read(&file).unwrap() == whole);
    solve(&[&folder.instance, "--resume", &file]).assert().success();
}
