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
    an_interrupted_run_continues_with_other_threads_and_limits,
    what_does_not_fit_is_refused,
    a_full_disk_leaves_the_old_checkpoint,
}

/// Kills by default; `ANTWARP_KILLS` asks for more.
const KILLS: u64 = 5;

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_antwarp"));
    command.args(["solve", "--backend", "cpu"]).args(args).env("ANTWARP_TUNING", "none");
    command
}

fn a_run_that_is_killed_again_and_again_ends_with_the_same_tour() {
    let kills = std::env::var("ANTWARP_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let folder = Folder::new(10);
    let [whole, parts, file] = ["whole.tour", "parts.tour", "run"].map(|name| folder.path(name));
    for algorithm in [&["--algorithm", "lk"][..], &["--algorithm", "mmas", "--local-search", "three-opt"]] {
        let iterations = if algorithm.contains(&"lk") { 60_000 } else { 60 } * kills.div_ceil(KILLS);
        let iterations = iterations.to_string();
        let args = [&["E1k.0", "--threads", "1", "--iterations", &iterations], algorithm].concat();
        solve(&args).args(["--tour", &whole]).assert().success();
        let (mut killed, mut resumed) = (0, 0);
        loop {
            let is_there = fs::exists(&file).unwrap();
            let resume: &[&str] = if is_there { &["--resume", &file] } else { &[] };
            let more = ["--checkpoint", &file, "--every", "50ms", "--tour", &parts];
            let mut run = Run::of(&mut command(&[&args[..], &more, resume].concat()));
            resumed += u64::from(is_there);
            if killed < kills {
                // Neither multiples of one another nor of the time between checkpoints.
                sleep(Duration::from_millis(300 + 131 * killed % 400));
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
        // On a busy machine some runs are killed before their first checkpoint.
        assert!(killed > 0 && resumed > 0, "{algorithm:?}: {killed} kills, {resumed} resumed");
        assert_eq!(fs::read(&parts).unwrap(), fs::read(&whole).unwrap(), "{algorithm:?}");
        fs::remove_file(&file).unwrap();
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
    assert!(seconds(&before) >= 2.0);
    // The limit counts from the first start: the run lasts half a second more.
    let time = format!("{}s", seconds(&before) + 0.5);
    let run = Run::of(&mut command(&[
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

/// A limit of the size of files is like a full disk: the run goes on and says so once.
fn a_full_disk_leaves_the_old_checkpoint() {
    let folder = Folder::new(3000);
    let file = folder.path("run");
    solve(&[&folder.instance, "--time", "1s", "--threads", "1", "--checkpoint", &file]).assert().success();
    let whole = fs::read(&file).unwrap();
    let program = env!("CARGO_BIN_EXE_antwarp");
    let line = format!(
        "{program} solve {} --backend cpu --threads 1 --resume {file} --checkpoint {file}",
        folder.instance
    );
    let line = format!("ulimit -f 4 && exec {line} --every 200ms --time 3s");
    let Output { status, stderr, .. } = Command::new("sh").args(["-c", &line]).output().unwrap();
    let told = String::from_utf8(stderr).unwrap();
    assert!(status.success(), "{told}");
    assert_eq!(told.matches("a checkpoint could not be written").count(), 1, "{told}");
    assert!(fs::read(&file).unwrap() == whole);
    solve(&[&folder.instance, "--resume", &file]).assert().success();
}
