//! The command line from end to end, on the CPU.

#[cfg(unix)]
mod common;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use tempfile::TempDir;

#[cfg(unix)]
use common::interrupted;

fn antwarp(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_antwarp"));
    command.args(args).timeout(Duration::from_secs(120));
    command
}

/// `antwarp solve` on the CPU.
fn solve(args: &[&str]) -> Command {
    let mut command = antwarp(&["solve", "--backend", "cpu"]);
    command.args(args);
    command
}

/// `antwarp solve --algorithm ils` on the CPU.
fn search(args: &[&str]) -> Command {
    let mut command = solve(&["--algorithm", "ils"]);
    command.args(args);
    command
}

/// `antwarp solve --algorithm lk` on the CPU.
fn lin_kernighan(args: &[&str]) -> Command {
    let mut command = solve(&["--algorithm", "lk"]);
    command.args(args);
    command
}

/// `antwarp solve --algorithm acs` on the CPU.
fn colony_system(args: &[&str]) -> Command {
    let mut command = solve(&["--algorithm", "acs"]);
    command.args(args);
    command
}

/// `antwarp solve --algorithm ga` on the CPU.
fn evolve(args: &[&str]) -> Command {
    let mut command = solve(&["--algorithm", "ga"]);
    command.args(args);
    command
}

/// `antwarp bench` on the CPU: a suite, an instance and more.
fn bench(suite: &str, instance: &str, more: &[&str]) -> Command {
    let mut command = antwarp(&["bench", suite, "--instances", instance, "--backend", "cpu"]);
    command.args(more);
    command
}

/// The rows of a CSV file, each with what its columns hold.
fn rows(path: &str) -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let head = reader.headers().unwrap().clone();
    let row = |record: csv::StringRecord| {
        head.iter().map(str::to_owned).zip(record.iter().map(str::to_owned)).collect()
    };
    reader.records().map(|record| row(record.unwrap())).collect()
}

/// A folder with a small instance in it.
struct Folder {
    folder: TempDir,
    instance: String,
}

impl Folder {
    fn new(nodes: usize) -> Folder {
        let folder = tempfile::tempdir().unwrap();
        let instance = folder.path().join("random.tsp").to_str().unwrap().to_owned();
        antwarp(&["generate", "uniform", "--nodes", &nodes.to_string(), "--seed", "3", "-o", &instance])
            .assert()
            .success()
            .stdout("");
        Folder { folder, instance }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// The length that `check` finds for a tour.
    fn checked(&self, tour: &str) -> i64 {
        checked(&self.instance, tour)
    }
}

fn checked(instance: &str, tour: &str) -> i64 {
    let output = antwarp(&["check", instance, tour, "--json", "-"]).assert().success().get_output().clone();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["valid"], true);
    value["cost"].as_i64().unwrap()
}

fn json(path: &str) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// A published instance, if the data is there.
fn published(file: &str) -> Option<String> {
    let given = std::env::var_os("ANTWARP_DATA").map(PathBuf::from);
    let folder = given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"));
    let path = folder.join("tsplib").join(file);
    if !path.exists() {
        println!("skipped: {} is not there; ANTWARP_DATA names the folder of tsplib/", path.display());
        return None;
    }
    path.to_str().map(str::to_owned)
}

#[test]
fn a_published_name_does_not_stop_a_run_on_other_nodes() {
    let folder = Folder::new(5);
    // Two rows, so close that every good tour is shorter than the optimum of the published eil51, 426.
    let place = |i: usize| (i / 2 * 3, i % 2 * 3);
    let rows = |n: usize, with_ids: bool| {
        let line = |i: usize| {
            let (x, y) = place(i);
            if with_ids { format!("{} {x} {y}\n", i + 1) } else { format!("{x},{y}\n") }
        };
        (0..n).map(line).collect::<String>()
    };
    let tsp = |name: &str, n: usize| {
        let head = format!("NAME : {name}\nTYPE : TSP\nDIMENSION : {n}\nEDGE_WEIGHT_TYPE : EUC_2D\n");
        format!("{head}NODE_COORD_SECTION\n{}EOF\n", rows(n, true))
    };
    let report = folder.path("report.json");
    for (file, content) in [
        ("own.tsp", tsp("eil51", 51)),
        ("berlin52.tsp", tsp("berlin52", 52)),
        ("eil51.csv", rows(51, false)),
        ("berlin52.csv", rows(52, false)),
    ] {
        let file = folder.file(file, content.as_bytes());
        let run = solve(&[&file, "--iterations", "20", "--json", &report]).assert().success();
        run.stdout(contains("best known   none for this instance\n"));
        let found = json(&report);
        assert_eq!(found["stopped_by"], "iterations", "{file}");
        assert!(found["iterations"].as_u64() >= Some(20), "{file}");
        assert!(found["cost"].as_i64() < Some(426), "{file}");
        for unknown in [&found["best_known"], &found["gap_percent"], &found["limits"]["target"]] {
            assert_eq!(*unknown, Value::Null, "{file}");
        }
    }
}

#[test]
fn a_published_optimum_stops_a_run() {
    let folder = Folder::new(5);
    let report = folder.path("report.json");
    for (name, optimum) in [("eil51.tsp", 426), ("berlin52.tsp", 7542), ("br17.atsp", 39)] {
        let Some(file) = published(name) else { return };
        solve(&[&file, "--time", "60s", "--json", &report]).assert().success();
        let found = json(&report);
        assert_eq!((&found["cost"], &found["stopped_by"]), (&optimum.into(), &"target".into()), "{name}");
        assert_eq!((&found["best_known"]["proven"], &found["gap_percent"]), (&true.into(), &0.0.into()));
    }
}

#[test]
fn a_seed_gives_one_tour_whatever_the_threads() {
    let folder = Folder::new(80);
    let tour = |name: &str, threads: &str, seed: &str| {
        let path = folder.path(name);
        // Fast evaporation, so that few iterations make a difference.
        solve(&[
            &folder.instance,
            "--algorithm",
            "mmas",
            "--iterations",
            "40",
            "--rho",
            "0.5",
            "--tour",
            &path,
            "--quiet",
        ])
        .args(["--seed", seed, "--threads", threads])
        .assert()
        .success()
        .stdout("")
        .stderr("");
        fs::read_to_string(path).unwrap()
    };
    let first = tour("a.tour", "1", "5");
    assert_eq!(first, tour("b.tour", "1", "5"));
    assert_eq!(first, tour("c.tour", "2", "5"));
    assert_ne!(first, tour("d.tour", "2", "6"));
}

#[test]
fn every_file_tells_the_same() {
    let folder = Folder::new(60);
    let [tour, report, picture] = ["a.tour", "a.json", "a.svg"].map(|name| folder.path(name));
    let files = ["--tour", &tour, "--json", &report, "--svg", &picture];
    solve(&[&folder.instance, "--algorithm", "mmas", "--iterations", "30"])
        .args(files)
        .assert()
        .success()
        .stdout(contains("cost").and(contains("30")).and(contains(&tour)).and(contains("MMAS-Wrs-Bitmask")))
        .stderr("");
    let report = json(&report);
    let cost = report["cost"].as_i64().unwrap();
    assert_eq!(folder.checked(&tour), cost);
    assert_eq!(report["iterations"], 30);
    assert_eq!(report["stopped_by"], "iterations");
    assert_eq!(report["instance"]["nodes"], 60);
    assert_eq!(report["settings"]["candidates"], 32);
    assert_eq!(report["machine"]["backend"], "cpu");
    let nodes: Vec<String> = report["tour"].as_array().unwrap().iter().map(Value::to_string).collect();
    assert_eq!(folder.checked(&folder.file("nodes.tour", nodes.join(" ").as_bytes())), cost);
    let picture = fs::read_to_string(picture).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains(&format!("length {cost}")));
    let left = fs::read_dir(folder.folder.path()).unwrap().count();
    assert_eq!(left, 5, "no temporary file is left behind");
}

/// So many nodes are numbered along a curve before anything else: tours come back, and go in, by the file's numbers.
#[test]
fn many_nodes_keep_their_numbers() {
    let folder = Folder::new(5);
    let [first, second, report] = ["first.tour", "second.tour", "report.json"].map(|name| folder.path(name));
    let solve_many = |more: &[&str]| {
        lin_kernighan(&["E316k.0", "--descent-only", "--json", &report]).args(more).assert().success();
        json(&report)["cost"].as_i64().unwrap()
    };
    let cost = solve_many(&["--tour", &first, "--time", "2s"]);
    assert_eq!(checked("E316k.0", &first), cost);
    let again = solve_many(&["--initial-tour", &first, "--tour", &second, "--time", "1ms"]);
    assert_eq!((again, checked("E316k.0", &second)), (cost, cost));
}

/// A point is the mean of the runs with one time limit; what cannot be drawn is told by name.
#[test]
fn runs_are_drawn_against_their_time() {
    let folder = Folder::new(5);
    let runs: Vec<String> = [("1", "200ms"), ("2", "200ms"), ("1", "400ms")]
        .iter()
        .map(|(seed, time)| {
            let report = folder.path(&format!("{seed}{time}.json"));
            solve(&["E1k.0", "--seed", seed, "--time", time, "--threads", "1", "--json", &report])
                .assert()
                .success();
            assert!(json(&report)["seconds"].as_f64().unwrap() > 0.2);
            report
        })
        .collect();
    let picture = folder.path("curves.svg");
    let plot = |more: &[&str]| {
        let mut args = vec!["plot"];
        args.extend(runs.iter().map(String::as_str));
        args.extend(more);
        antwarp(&args).assert()
    };
    plot(&["-o", &picture]).success().stdout("");
    let svg = fs::read_to_string(&picture).unwrap();
    // Two points and one in the legend.
    assert_eq!((svg.matches("<circle").count(), svg.matches("<polyline").count()), (3, 1));
    assert!(svg.contains("E1k.0") && svg.contains("1 thread"), "{svg}");
    plot(&["-o", &runs[0]]).code(2).stderr(contains("is one of the runs"));
    plot(&[&picture]).code(3).stderr(contains("curves.svg").and(contains("no run")));
    plot(&["nowhere.json"]).code(3).stderr(contains("nowhere.json"));
}

#[test]
fn json_on_the_standard_output_stands_alone() {
    let folder = Folder::new(20);
    let output = solve(&[&folder.instance, "--iterations", "3", "--json", "-"])
        .assert()
        .success()
        .stderr(contains("cost"))
        .get_output()
        .clone();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["failure"], Value::Null);
}

#[test]
fn the_capitals_have_a_tour_and_a_picture() {
    let folder = Folder::new(5);
    let [tour, picture] = ["a.tour", "a.svg"].map(|name| folder.path(name));
    for file in ["examples/capitals.tsp", "examples/capitals.csv"] {
        let file = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
        solve(&[&file, "--iterations", "3", "--tour", &tour, "--svg", &picture]).assert().success();
        assert!(checked(&file, &tour) > 0);
        assert!(fs::read_to_string(&picture).unwrap().contains("<polyline"));
    }
}

#[test]
fn all_variants_give_valid_tours() {
    let folder = Folder::new(100);
    let tour = folder.path("a.tour");
    for selection in ["wrs", "rwm"] {
        for tabu in ["list", "compact", "bitmask"] {
            for candidates in ["all", "12"] {
                let variant = ["--selection", selection, "--tabu", tabu, "--candidates", candidates];
                solve(&[&folder.instance, "--iterations", "5", "--ants", "40", "--tour", &tour])
                    .args(["--algorithm", "mmas"])
                    .args(variant)
                    .assert()
                    .success();
                assert!(folder.checked(&tour) > 0, "{variant:?}");
            }
        }
    }
}

#[test]
fn a_published_instance_has_a_gap() {
    let Some(instance) = published("eil51.tsp") else { return };
    solve(&[&instance, "--iterations", "20"])
        .assert()
        .success()
        .stdout(contains("best known   426 (optimal), gap "));
    antwarp(&["info", &instance])
        .assert()
        .success()
        .stdout(contains("EUC_2D").and(contains("426 (optimal)")));
    let Some(optimal) = published("eil51.opt.tour") else { return };
    antwarp(&["check", &instance, &optimal])
        .assert()
        .success()
        .stdout(contains("valid").and(contains("gap 0.000 %")));
}

#[test]
fn an_asymmetric_instance_is_solved_to_its_optimum() {
    let Some(instance) = published("br17.atsp") else { return };
    let folder = Folder::new(5);
    let tour = folder.path("br17.tour");
    solve(&[&instance, "--time", "20s", "--tour", &tour])
        .assert()
        .success()
        .stdout(contains("stopped at the target or the optimum"));
    assert_eq!(checked(&instance, &tour), 39);
}

#[test]
fn an_instance_that_is_generated_has_a_name() {
    let folder = Folder::new(5);
    let tour = folder.path("e.tour");
    solve(&["E1k.0", "--algorithm", "mmas", "--iterations", "1", "--ants", "8", "--tour", &tour])
        .assert()
        .success()
        .stdout(contains("best known   23360648, gap"));
    let file = folder.path("E1k.0.tsp");
    antwarp(&["generate", "E1k.0", "-o", &file]).assert().success();
    assert_eq!(checked(&file, &tour), checked("E1k.0", &tour));
    let text = |args: &[&str]| antwarp(args).assert().success().get_output().stdout.clone();
    let cities = |text: Vec<u8>| {
        let text = String::from_utf8(text).unwrap();
        text.split_once("NODE_COORD_SECTION").unwrap().1.to_owned()
    };
    let by_kind = text(&["generate", "e", "--nodes", "1000"]);
    assert_eq!(cities(by_kind), cities(fs::read(file).unwrap()));
    let clustered = text(&["generate", "clustered", "--nodes", "50", "--clusters", "3", "--seed", "9"]);
    assert_eq!(
        clustered,
        text(&["generate", "clustered", "--nodes", "50", "--clusters", "3", "--seed", "9"])
    );
}

#[test]
fn a_target_stops_the_run() {
    let folder = Folder::new(30);
    solve(&[&folder.instance, "--target", "999999999", "--time", "1m"])
        .assert()
        .success()
        .stdout(contains("stopped at the target"));
    solve(&[&folder.instance, "--stagnation", "5"])
        .assert()
        .success()
        .stdout(contains("stopped by stagnation"));
    let start = Instant::now();
    solve(&[&folder.instance, "--time", "300ms"]).assert().success().stdout(contains("time limit"));
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn tiny_instances_need_no_search() {
    for nodes in [1, 2, 3, 4] {
        let folder = Folder::new(nodes);
        let [tour, picture] = ["a.tour", "a.svg"].map(|name| folder.path(name));
        solve(&[&folder.instance, "--iterations", "2", "--tour", &tour, "--svg", &picture])
            .assert()
            .success();
        assert!(folder.checked(&tour) >= 0);
    }
}

#[test]
fn wrong_usage_is_status_2() {
    let folder = Folder::new(10);
    let (instance, output) = (folder.instance.as_str(), folder.path("x"));
    let wrong: &[(&[&str], &str)] = &[
        (&["--no-such-option"], "--no-such-option"),
        (&["--alpha", "nan"], "--alpha"),
        (&["--rho", "1"], "--rho"),
        (&["--candidates", "0"], "at least 1"),
        (&["--ants", "0"], "--ants"),
        (&["--time", "soon"], "10s"),
        (&["--iterations", "0"], "--iterations"),
        (&["--iterations", "0n"], "0.1n"),
        (&["--iterations", "many"], "0.1n"),
        (&["--algorithm", "magic"], "mmas"),
        (&["--tour", "-", "--json", "-"], "two outputs"),
        (&["--tour", &output, "--json", &output], "two outputs"),
        (&["--tour", instance], "is the instance"),
    ];
    for (args, word) in wrong {
        solve(&[instance]).args(*args).assert().code(2).stdout("").stderr(contains(*word));
    }
    let wrong: &[(&[&str], &str)] = &[
        (&["--local-search", "none"], "three-opt"),
        (&["--local-search", "four-opt"], "three-opt"),
        (&["--start", "nowhere"], "greedy"),
        (&["--accept", "all"], "annealing"),
        (&["--neighbor-lists", "far"], "quadrant"),
        (&["--neighbors", "0"], "--neighbors"),
        (&["--neighbors", "101"], "--neighbors"),
        (&["--breadth", "0"], "--breadth"),
        (&["--segment=-1"], "--segment"),
        (&["--temperature", "nan"], "--temperature"),
        (&["--temperature", "1e9"], "--temperature"),
        (&["--chains", "0"], "--chains"),
        (&["--trials", "0"], "--trials"),
        (&["--walk", "1001"], "--walk"),
        (&["--segment", "9"], "--segment is for --improvement best"),
        (&["--improvement", "best", "--chains", "2"], "--chains is for --improvement first"),
    ];
    for (args, word) in wrong {
        search(&[instance]).args(*args).assert().code(2).stdout("").stderr(contains(*word));
    }
    let wrong: &[(&[&str], &str)] = &[
        (&["--candidates", "all"], "give --candidates a number"),
        (&["--candidates", "0"], "at least 1"),
        (&["--ants", "0"], "--ants"),
        (&["--alpha", "0"], "--alpha"),
        (&["--alpha", "1"], "--alpha"),
        (&["--beta", "21"], "--beta"),
        (&["--rho", "0"], "--rho"),
        (&["--rho", "nan"], "--rho"),
        (&["--q0", "1.1"], "--q0"),
        (&["--q0=-0.1"], "--q0"),
        (&["--slots", "0"], "--slots"),
        (&["--slots", "33"], "--slots"),
        (&["--pheromone", "selective", "--update", "atomic"], "use --update relaxed, or --pheromone matrix"),
        (&["--pheromone", "list"], "candidate"),
        (&["--update", "never"], "sequential"),
    ];
    for (args, word) in wrong {
        colony_system(&[instance]).args(*args).assert().code(2).stdout("").stderr(contains(*word));
    }
    let wrong: &[(&[&str], &str)] = &[
        (&["--population", "36", "--groups", "8"], "a multiple of 4 times --groups"),
        (&["--population", "0"], "--population"),
        (&["--groups", "0"], "--groups"),
        (&["--mutation", "1.1"], "--mutation"),
        (&["--mutation", "nan"], "--mutation"),
        (&["--crossover", "none"], "bcscx"),
        (&["--pairing", "never"], "shuffled"),
        (&["--initial", "file"], "local-optima"),
        (&["--initial", "ants", "--resume", "p.tour"], "--resume"),
        (&["--neighbors", "0"], "--neighbors"),
        (&["--save-population", instance], "is the instance"),
        (&["--descent-only"], "--algorithm lk and ils"),
    ];
    for (args, word) in wrong {
        evolve(&[instance]).args(*args).assert().code(2).stdout("").stderr(contains(*word));
    }
    solve(&[instance, "--iterations", "0"]).assert().code(2).stderr(contains("0 is for --algorithm ga"));
    let wrong: &[(&[&str], &str)] = &[
        (&["--vary", "pheromone+update=selective+atomic"], "--update relaxed"),
        (&["--vary", "ants=0"], "--ants"),
        (&["--iterations", "5", "--tours", "50"], "--tours"),
        (&["--parallel", "2", "--time", "1s"], "--time"),
        (&["--seeds", "6", "--against", "3.1,-"], "each of the 4 lines"),
        (&["--seeds", "5", "--against", "3.1,-,-,-"], "--seeds 6"),
        (&["--seeds", "6", "--against", "3.1,-,-,-"], "no best length"),
        (&["--seeds", "6", "--against", "inf,-,-,-"], "such as 3.23"),
        (&["--", "--alpha", "1"], "--alpha"),
        (&["--", "--target", "5"], "not for this suite"),
    ];
    for (args, word) in wrong {
        bench("acs", instance, args).assert().code(2).stdout("").stderr(contains(*word));
    }
    let wrong: &[(&str, &[&str], &str)] = &[
        ("ils", &["--vary", "local-search=none"], "three-opt"),
        ("ils", &["--iterations", "1,0"], "0.1n"),
        ("mmas", &["--vary", "selection+tabu=wrs+magic"], "bitmask"),
        ("mmas", &["--vary", "selection+tabu=wrs"], "such as ants=64,256"),
        ("mmas", &["--vary", "ants"], "such as ants=64,256"),
        ("mmas", &["--", "--pheromone", "matrix"], "this run uses mmas"),
        ("solve", &["--vary", "magic=1"], "--magic"),
        ("solve", &["--", "--seed", "5"], "--seeds"),
        ("solve", &["--", "--time", "5s"], "before the `--`"),
        ("solve", &["--vary", "threads=1,2"], "--threads"),
        ("solve", &["--", "--tour", "a.tour"], "nothing but its rows"),
        ("solve", &["--vary", "ants=2", "--", "--ants", "3"], "--ants"),
        ("solve", &["--csv", instance], "is the instance"),
        ("solve", &["--csv", "rows", "--json", "rows"], "named for two outputs"),
        ("solve", &["--csv", "-", "--json", "-"], "named for two outputs"),
    ];
    for (suite, args, word) in wrong {
        bench(suite, instance, args).assert().code(2).stdout("").stderr(contains(*word));
    }
    antwarp(&["bench", "solve"]).assert().code(2).stderr(contains("--instances"));
    antwarp(&["bench", "solve", "--", "--help"]).assert().success().stdout(contains("--neighbor-lists"));
    antwarp(&["generate", "uniform"]).assert().code(2).stderr(contains("--nodes"));
    antwarp(&["generate", "uniform", "--nodes", "0"]).assert().code(2);
    antwarp(&["generate", "E1k.0", "--nodes", "5"]).assert().code(2);
    antwarp(&["generate", "E7k.0"]).assert().code(2).stderr(contains("E10k.0"));
    antwarp(&["--help"]).assert().success().stdout(contains("Exit status:"));
    antwarp(&["--version"]).assert().success().stdout(contains("antwarp "));
}

#[test]
fn options_of_other_algorithms_are_refused() {
    let folder = Folder::new(10);
    let directed = folder.file("directed.csv", b"0 1 2 3\n3 0 4 1\n5 6 0 2\n4 1 2 0\n");
    let instance = folder.instance.as_str();
    let wrong: &[(&[&str], &str)] = &[
        (
            &[instance, "--algorithm", "ils", "--ants", "5"],
            "--ants is for --algorithm mmas and acs; this run uses ils",
        ),
        (
            &[instance, "--algorithm", "acs", "--tabu", "list"],
            "--tabu is for --algorithm mmas; this run uses acs",
        ),
        (
            &[instance, "--algorithm", "mmas", "--slots", "4"],
            "--slots is for --algorithm acs; this run uses mmas",
        ),
        (
            &[instance, "--algorithm", "acs", "--initial-tour", "no.tour"],
            "--initial-tour is for --algorithm lk and ils; this run uses acs",
        ),
        (
            &[instance, "--algorithm", "acs", "--save-population", "p.tour"],
            "--save-population is for --algorithm ga; this run uses acs",
        ),
        (&[instance, "--resume", "p.tour"], "--resume is for --algorithm ga; this run uses lk"),
        (&[instance, "--algorithm", "ga", "--ants", "5"], "this run uses ga"),
        (
            &[instance, "--algorithm", "lk", "--accept", "better"],
            "--accept is for --algorithm ils; this run uses lk",
        ),
        (&[instance, "--algorithm", "lk", "--local-search", "two-opt"], "this run uses lk"),
        (&[instance, "--accept", "better", "--temperature", "2"], "--temperature is for --accept annealing"),
        (&["missing.tsp", "--algorithm", "ils", "--segment", "9"], "--segment is for --improvement best"),
        (
            &[instance, "--algorithm", "mmas", "--descent-only"],
            "--descent-only is for --algorithm lk and ils; this run uses mmas",
        ),
        // Even if the value is the default.
        (&[instance, "--candidates", "32"], "--candidates is for --algorithm mmas and acs; this run uses lk"),
        (&[instance, "--local-search", "none", "--walk", "20"], "this run uses mmas"),
        (&[&directed, "--start", "greedy"], "--start is for --algorithm lk and ils; this run uses mmas"),
    ];
    for (args, message) in wrong {
        solve(args).assert().code(2).stdout("").stderr(contains(*message));
    }
    solve(&[&directed, "--ants", "5", "--tabu", "list", "--iterations", "1"]).assert().success();
}

#[test]
fn bad_inputs_are_status_3_and_name_the_file() {
    let folder = Folder::new(10);
    let good = fs::read(&folder.instance).unwrap();
    let fixed = String::from_utf8(good.clone()).unwrap().replace("EOF", "FIXED_EDGES_SECTION\n1 2\n-1\nEOF");
    let inputs = [
        folder.path("missing.tsp"),
        folder.file("empty.tsp", b""),
        folder.file("half.tsp", &good[..good.len() / 2]),
        folder.file("noise.tsp", &[0xff, 0, 0xfe, 10, 13, 1]),
        folder.file("text.tsp", b"Dear reader,\nthis is a letter.\n"),
        folder.file("a.tour", b"TOUR_SECTION\n1 2 3 -1\nEOF\n"),
        folder.file("twice.tsp", &good.repeat(2)),
        folder.file("open.csv", b"x,y,name\n0,0,\"a\n90,0,b\n0,90,c\n"),
        folder.file("decimals.csv", b"x,y\n0,5,3,5\n100,25,10,0\n"),
        folder.file("fixed.tsp", fixed.as_bytes()),
        folder.folder.path().to_str().unwrap().to_owned(),
    ];
    for input in &inputs {
        let word = if input.ends_with("fixed.tsp") { "fixed edges" } else { "help: " };
        solve(&[input]).assert().code(3).stdout("").stderr(contains(word).and(contains("panicked").not()));
    }
    antwarp(&["info", &inputs[0], &folder.instance]).assert().code(3).stdout(contains("nodes"));
    antwarp(&["check", &folder.instance, &folder.path("missing.tour")]).assert().code(3);
}

#[test]
fn a_gpu_that_is_not_there_is_status_4() {
    let folder = Folder::new(10);
    let args = ["solve", &folder.instance, "--backend", "cuda", "--iterations", "1"];
    let output = antwarp(&args).output().unwrap();
    if output.status.success() {
        println!("skipped: there is a GPU");
        return;
    }
    let remedy = || contains("NVIDIA driver").or(contains("without GPU kernels"));
    antwarp(&args).assert().code(4).stdout("").stderr(remedy());
    antwarp(&["solve", &folder.instance, "--iterations", "1"])
        .assert()
        .success()
        .stderr(contains("solving on the CPU").and(remedy()));
    antwarp(&["devices"]).assert().success().stdout(contains("CPU").and(contains("none: ")));
}

#[test]
fn an_output_that_cannot_be_written_is_refused_before_solving() {
    let folder = Folder::new(10);
    let start = Instant::now();
    let file_as_folder = format!("{}/a.tour", folder.instance);
    for output in ["/no/such/folder/a.tour", folder.folder.path().to_str().unwrap(), &file_as_folder] {
        for option in ["--tour", "--json", "--svg", "--save-population"] {
            let algorithm = if option == "--save-population" { "ga" } else { "ils" };
            solve(&[&folder.instance, "--time", "1h", option, output, "--algorithm", algorithm])
                .assert()
                .code(5)
                .stdout("")
                .stderr(contains(output));
        }
    }
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_does_not_lose_the_tour() {
    let folder = Folder::new(30);
    let temporary = folder.path("temporary");
    fs::create_dir(&temporary).unwrap();
    for option in ["--tour", "--json"] {
        let output = solve(&[&folder.instance, "--iterations", "3", option, "/dev/full"])
            .env("TMPDIR", &temporary)
            .assert()
            .code(5)
            .stderr(contains("/dev/full").and(contains(&temporary)))
            .get_output()
            .clone();
        let rescued = fs::read_dir(&temporary).unwrap().next().unwrap().unwrap().path();
        assert!(String::from_utf8_lossy(&output.stderr).contains(rescued.to_str().unwrap()));
        assert!(folder.checked(rescued.to_str().unwrap()) > 0);
        fs::remove_file(rescued).unwrap();
    }
    let tour = folder.path("printed.tour");
    let output = solve(&[&folder.instance, "--iterations", "3", "--tour", "/dev/full", "-q"])
        .env("TMPDIR", "/no/such/folder")
        .assert()
        .code(5)
        .stderr(contains("standard output"))
        .get_output()
        .clone();
    fs::write(&tour, output.stdout).unwrap();
    assert!(folder.checked(&tour) > 0);
    // A tour that is safe is not written twice.
    solve(&[&folder.instance, "--iterations", "3", "--tour", &tour, "--json", "/dev/full"])
        .assert()
        .code(5)
        .stderr(contains("instead").not());
}

#[test]
fn an_invalid_tour_is_status_6_and_the_fault_is_named() {
    let folder = Folder::new(4);
    for (tour, fault) in [
        ("1 2 3", "has 3 nodes"),
        ("1 2 3 3", "node 3 is visited a second time; node 4 is missing"),
        ("1 2 3 5", "no node 5"),
        ("1 2 3 x", "`x`"),
    ] {
        let tour = folder.file("a.tour", tour.as_bytes());
        let output = antwarp(&["check", &folder.instance, &tour, "--json", "-"])
            .assert()
            .code(6)
            .stderr(contains(fault))
            .get_output()
            .clone();
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(value["valid"], false);
        assert!(value["problem"].as_str().unwrap().contains(fault));
    }
    let text = fs::read_to_string(&folder.instance).unwrap();
    let fixed = folder.file("fixed.tsp", text.replace("EOF", "FIXED_EDGES_SECTION\n1 3\n-1\nEOF").as_bytes());
    let tour = folder.file("b.tour", b"1 2 3 4");
    antwarp(&["check", &fixed, &tour]).assert().code(6).stderr(contains("1-3"));
    for (tour, fault) in [
        (&b"TYPE : TSP\nTOUR_SECTION\n1 2 3 4 -1\n"[..], "TYPE TSP"),
        (b"DIMENSION : 5\nTOUR_SECTION\n1 2 3 4 -1\n", "tour of 5 nodes"),
        (b"TOUR_SECTION\n1 2 3 4 -1\nTOUR_SECTION\n4 3 2 1 -1\n", "a second time"),
        (b"1 2 3 4 -1 4 3 2 1 -1", "behind its tour"),
    ] {
        let tour = folder.file("c.tour", tour);
        antwarp(&["check", &folder.instance, &tour]).assert().code(6).stdout("").stderr(contains(fault));
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_the_tour() {
    let folder = Folder::new(50);
    for algorithm in ["mmas", "lk", "ils", "acs", "ga"] {
        let tour = folder.path("interrupted.tour");
        let args = ["solve", "--backend", "cpu", &folder.instance, "--time", "5m", "--tour", &tour];
        let (output, _) =
            interrupted(&[&args[..], &["--algorithm", algorithm]].concat(), Duration::from_secs(1));
        assert!(String::from_utf8_lossy(&output.stdout).contains("interrupted"));
        assert!(folder.checked(&tour) > 0);
        fs::remove_file(tour).unwrap();
    }
}

/// Runs the program with so many KiB of addresses.
#[cfg(target_os = "linux")]
fn within(kib: u32, line: &str) -> std::process::Output {
    let program = env!("CARGO_BIN_EXE_antwarp");
    Process::new("sh").args(["-c", &format!("ulimit -v {kib} && exec {program} {line}")]).output().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn short_memory_is_told_before_it_is_used_up() {
    for algorithm in ["mmas", "acs", "ga", "ga --crossover eax", "ga --initial local-optima"] {
        let line = format!("solve E316k.0 --time 60s --backend cpu --threads 2 --algorithm {algorithm}");
        let output = within(400_000, &line);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{algorithm}: {said}");
        assert!(said.contains("not enough main memory for"), "{algorithm}: {said}");
    }
    let output = within(600_000, "search qap --uniform 5000 --time 1s --backend cpu --threads 2");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    let output = within(1_000_000, "generate uniform --nodes 100000000 -o /dev/null");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("are needed"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_is_read_as_far_as_there_is_memory() {
    let folder = Folder::new(5);
    // More than a gibibyte of nodes, of which the limit of addresses leaves no room for half.
    let file = File::create(folder.path("long.tsp.gz")).unwrap();
    let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    packed.write_all(b"DIMENSION : 4000000\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n").unwrap();
    let lines = b"1234567 0.125 0.25\n".repeat(1 << 15);
    (0..1 << 11).for_each(|_| packed.write_all(&lines).unwrap());
    packed.finish().unwrap();
    let output = within(600_000, &format!("info {}", folder.path("long.tsp.gz")));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("no room for DIMENSION 4000000: "), "{said}");
}

#[test]
fn rows_and_runs_are_not_read_without_end() {
    let folder = Folder::new(5);
    for (command, begin, most) in
        [("bench table", "suite,\"", "a file of rows"), ("plot", "{\"trace\":[", "a run")]
    {
        let hole = folder.file("hole", begin.as_bytes());
        let packed = folder.path("packed");
        let mut writer = flate2::write::GzEncoder::new(File::create(&packed).unwrap(), Default::default());
        writer.write_all(begin.as_bytes()).unwrap();
        (0..600).for_each(|_| writer.write_all(&[b'7'; 1 << 20]).unwrap());
        writer.finish().unwrap();
        let mut cases = vec![(packed, most)];
        // A terabyte that takes no place on the disk.
        if File::options().write(true).open(&hole).unwrap().set_len(1 << 40).is_ok() {
            cases.push((hole, "four mebibytes without a number"));
        }
        for (file, what) in cases {
            let args: Vec<&str> = command.split(' ').chain([file.as_str()]).collect();
            antwarp(&args).assert().code(3).stdout("").stderr(contains(what));
        }
    }
}

#[test]
fn more_nodes_than_can_be_are_refused() {
    for nodes in ["1000000000000000000", "3000000000", "0"] {
        for kind in ["uniform", "clustered"] {
            antwarp(&["generate", kind, "--nodes", nodes])
                .assert()
                .code(2)
                .stderr(contains("cannot be solved"));
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn threads_that_cannot_be_started_are_told() {
    let program = env!("CARGO_BIN_EXE_antwarp");
    let line = format!("ulimit -v 1000000 && exec {program} solve E1k.0 --time 1s --backend cpu");
    let output = Process::new("sh").args(["-c", &line]).env("RAYON_NUM_THREADS", "1024").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("give --threads"), "{said}");
}

/// Soft and hard limit together end the process without a signal, the soft one alone does with one.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_processor_time_keeps_the_tour() {
    let program = env!("CARGO_BIN_EXE_antwarp");
    let folder = Folder::new(200);
    for limit in ["ulimit -St 2", "ulimit -t 3"] {
        let tour = folder.path("spent.tour");
        let line = format!("{limit} && exec {program} solve {} --time 5m --backend cpu", folder.instance);
        let line = format!("{line} --threads 2 --tour {tour}");
        let output = Process::new("sh").args(["-c", &line]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{limit}: {said}");
        assert!(said.contains("the limit of processor time is near"), "{limit}: {said}");
        assert!(folder.checked(&tour) > 0);
        fs::remove_file(tour).unwrap();
    }
}

/// Algorithms whose set-up alone takes longer than the time that the tests below give them.
const SLOW_TO_BEGIN: [(&str, &[&str]); 9] = [
    ("E316k.0", &["--algorithm", "lk"]),
    ("E316k.0", &["--algorithm", "ils"]),
    ("E316k.0", &["--algorithm", "ils", "--improvement", "best"]),
    ("E316k.0", &["--algorithm", "mmas"]),
    ("E316k.0", &["--algorithm", "acs"]),
    ("E316k.0", &["--algorithm", "ga"]),
    ("E316k.0", &["--algorithm", "ga", "--crossover", "eax"]),
    ("E10k.0", &["--algorithm", "ga", "--initial", "ants"]),
    ("E100k.0", &["--algorithm", "ga", "--initial", "space-filling"]),
];

#[test]
fn a_run_whose_time_is_up_before_it_begins_has_a_tour() {
    let folder = Folder::new(50);
    for (instance, algorithm) in SLOW_TO_BEGIN {
        let tour = folder.path("hasty.tour");
        let begin = Instant::now();
        let args = [&[instance, "--time", "100ms", "--tour", &tour], algorithm].concat();
        solve(&args).assert().success().stdout(contains("stopped by the time limit"));
        assert!(begin.elapsed() < Duration::from_secs(4), "{algorithm:?}: {:?}", begin.elapsed());
        antwarp(&["check", instance, &tour]).assert().success();
        fs::remove_file(tour).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_set_up() {
    let folder = Folder::new(50);
    for (instance, algorithm) in SLOW_TO_BEGIN {
        let tour = folder.path("interrupted.tour");
        let args = ["solve", "--backend", "cpu", instance, "--time", "5m", "--tour", &tour];
        let (_, took) = interrupted(&[&args[..], algorithm].concat(), Duration::from_millis(300));
        assert!(took < Duration::from_secs(4), "{algorithm:?}: {took:?}");
        antwarp(&["check", instance, &tour]).assert().success();
        fs::remove_file(tour).unwrap();
    }
}

#[test]
fn a_given_tour_is_not_lost_in_haste() {
    let folder = Folder::new(50);
    let (good, again) = (folder.path("good.tour"), folder.path("again.tour"));
    solve(&["E10k.0", "--algorithm", "lk", "--iterations", "1000", "--tour", &good]).assert().success();
    let length = |tour: &str| {
        let output = antwarp(&["check", "E10k.0", tour, "--json", "-"]).assert().success();
        let json: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
        json["cost"].as_i64().unwrap()
    };
    for algorithm in [&["--algorithm", "lk"][..], &["--algorithm", "ils", "--improvement", "best"]] {
        let args = [&["E10k.0", "--time", "1ms", "--initial-tour", &good, "--tour", &again], algorithm];
        solve(&args.concat()).assert().success();
        assert!(length(&again) <= length(&good), "{algorithm:?}");
    }
}

#[test]
fn local_search_finds_an_optimum() {
    for (file, optimum) in [("eil51.tsp", 426), ("berlin52.tsp", 7542)] {
        let Some(instance) = published(file) else { return };
        let folder = Folder::new(5);
        let [tour, report] = ["a.tour", "a.json"].map(|name| folder.path(name));
        search(&[&instance, "--iterations", "20n", "--tour", &tour, "--json", &report])
            .assert()
            .success()
            .stdout(contains("(optimal), gap 0.000 %").and(contains("stopped at the target or the optimum")));
        assert_eq!(checked(&instance, &tour), optimum);
        let report = json(&report);
        assert!(report["best_iteration"].as_u64() <= report["iterations"].as_u64());
    }
}

#[test]
fn local_search_does_not_depend_on_threads() {
    let folder = Folder::new(600);
    let tour = |name: &str, threads: &str, seed: &str| {
        let path = folder.path(name);
        search(&[&folder.instance, "--iterations", "2n", "--chains", "3", "--tour", &path])
            .args(["--threads", threads, "--seed", seed, "--quiet"])
            .assert()
            .success()
            .stdout("")
            .stderr("");
        fs::read_to_string(path).unwrap()
    };
    let first = tour("a.tour", "1", "5");
    assert_eq!(first, tour("b.tour", "2", "5"));
    assert_ne!(first, tour("c.tour", "2", "6"));
}

#[test]
fn chained_lin_kernighan_does_not_depend_on_threads() {
    let folder = Folder::new(600);
    let tour = |layout: &[&str], name: &str, threads: &str, seed: &str| {
        let path = folder.path(name);
        lin_kernighan(&[&folder.instance, "--iterations", "2n"])
            .args(layout)
            .args(["--tour", &path, "--threads", threads, "--seed", seed, "--quiet"])
            .assert()
            .success();
        fs::read_to_string(path).unwrap()
    };
    for layout in [&["--chains", "2", "--trials", "50"][..], &[]] {
        let first = tour(layout, "a.tour", "1", "5");
        assert_eq!(first, tour(layout, "b.tour", "3", "5"));
        assert_ne!(first, tour(layout, "c.tour", "3", "6"));
    }
}

#[test]
fn every_setting_of_chained_lin_kernighan_gives_a_valid_tour() {
    let folder = Folder::new(120);
    let [tour, report] = ["a.tour", "a.json"].map(|name| folder.path(name));
    let settings: &[(&str, &[&str])] = &[
        ("--start", &["nearest-neighbor", "greedy", "quick-boruvka", "space-filling", "random"]),
        ("--neighbor-lists", &["nearest", "quadrant"]),
        ("--neighbors", &["1", "3", "100"]),
        ("--walk", &["1", "1000"]),
        ("--temperature", &["0", "1000"]),
        ("--chains", &["1", "4"]),
        ("--trials", &["1", "500"]),
    ];
    for (option, values) in settings {
        for value in *values {
            lin_kernighan(&[&folder.instance, "--iterations", "2n", option, value])
                .args(["--tour", &tour, "--json", &report])
                .assert()
                .success();
            let report = json(&report);
            assert_eq!(report["algorithm"], "lk");
            assert_eq!(report["iterations"], 240);
            assert_eq!(report["cost"].as_i64(), Some(folder.checked(&tour)), "{option} {value}");
            let setting = &report["settings"][option[2..].replace('-', "_")];
            assert_eq!(setting.to_string().trim_matches('"').trim_end_matches(".0"), *value, "{option}");
        }
    }
    for wrong in
        [["--walk", "0"], ["--walk", "1001"], ["--chains", "0"], ["--trials", "0"], ["--neighbors", "0"]]
    {
        lin_kernighan(&[&folder.instance]).args(wrong).assert().code(2).stderr(contains(wrong[0]));
    }
}

#[test]
fn several_tours_are_crossed_at_the_end_of_a_run_by_the_clock() {
    let folder = Folder::new(500);
    let [tour, report] = ["a.tour", "a.json"].map(|name| folder.path(name));
    let by_the_clock = ["--time", "2s", "--threads", "1"];
    lin_kernighan(&[&folder.instance])
        .args(by_the_clock)
        .args(["--tour", &tour, "--json", &report])
        .assert()
        .success()
        .stdout(contains("crossed"));
    let report = json(&report);
    assert_eq!(report["cost"].as_i64(), Some(folder.checked(&tour)));
    assert_eq!(report["stopped_by"], "time");
    // What is about one tour works on one tour.
    for one in [&["--chains", "1"], &["--trials", "9"], &["--initial-tour", &tour]] {
        let run = lin_kernighan(&[&folder.instance]).args(by_the_clock).args(*one).assert().success();
        run.stdout(contains("crossed").not());
    }
}

#[test]
fn few_nodes_begin_anew_and_keep_the_best_tour() {
    let folder = Folder::new(60);
    let [tour, report] = ["a.tour", "a.json"].map(|name| folder.path(name));
    let run = lin_kernighan(&[&folder.instance])
        .args(["--time", "2s", "--threads", "1", "--tour", &tour, "--json", &report])
        .assert()
        .success();
    run.stdout(contains("crossed, begun anew"));
    let report = json(&report);
    assert_eq!(report["cost"].as_i64(), Some(folder.checked(&tour)));
    let trace = report["trace"].as_array().unwrap();
    assert_eq!(trace.last().unwrap()["cost"], report["cost"]);
}

#[test]
fn published_instances_are_solved_to_the_optimum() {
    for file in
        ["eil51.tsp", "berlin52.tsp", "ulysses22.tsp", "att48.tsp", "gr120.tsp", "brg180.tsp", "kroA100.tsp"]
    {
        let Some(instance) = published(file) else { return };
        lin_kernighan(&[&instance, "--iterations", "20000"])
            .assert()
            .success()
            .stdout(contains("gap 0.000 %"));
    }
}

#[test]
fn every_setting_of_local_search_gives_a_valid_tour() {
    let folder = Folder::new(120);
    let [tour, report] = ["a.tour", "a.json"].map(|name| folder.path(name));
    let settings: &[(&str, &[&str])] = &[
        ("--local-search", &["two-opt", "or-opt", "or-2opt", "three-opt"]),
        ("--start", &["nearest-neighbor", "greedy", "quick-boruvka", "space-filling", "random"]),
        ("--accept", &["better", "better-or-equal", "always", "annealing"]),
        ("--neighbor-lists", &["nearest", "quadrant"]),
        ("--neighbors", &["1", "100"]),
        ("--temperature", &["0", "1000"]),
        ("--chains", &["1", "4"]),
        ("--trials", &["1", "500"]),
        ("--walk", &["1", "1000"]),
        ("--breadth", &["1", "100"]),
        ("--segment", &["0", "1", "1000000"]),
        ("--moves", &["one", "many"]),
    ];
    for (option, values) in settings {
        for value in *values {
            let best = ["--breadth", "--segment", "--moves"].contains(option);
            search(&[&folder.instance, "--iterations", "1n", option, value])
                .args(["--improvement", if best { "best" } else { "first" }])
                .args(["--tour", &tour, "--json", &report])
                .assert()
                .success();
            let report = json(&report);
            assert_eq!(report["cost"].as_i64(), Some(folder.checked(&tour)), "{option} {value}");
            let setting = &report["settings"][option[2..].replace('-', "_")];
            assert_eq!(setting.to_string().trim_matches('"').trim_end_matches(".0"), *value, "{option}");
        }
    }
    let report = json(&report);
    assert_eq!(report["algorithm"], "ils");
    assert_eq!(report["settings"]["chains"], Value::Null, "what is left to the algorithm");
    assert!(report["iterations"].as_u64() >= Some(120));
}

#[test]
fn iterations_go_by_the_number_of_nodes() {
    let folder = Folder::new(95);
    let report = folder.path("a.json");
    for (iterations, count) in [("0.1n", 10), ("n", 95), ("2n", 190), ("7", 7)] {
        search(&[&folder.instance, "--iterations", iterations, "--json", &report]).assert().success();
        let report = json(&report);
        assert_eq!(report["limits"]["iterations"], count);
        assert_eq!(report["iterations"], count);
        assert_eq!(report["stopped_by"], "iterations");
    }
}

#[test]
fn a_tour_from_a_file_is_continued() {
    let folder = Folder::new(200);
    let [first, second, third] = ["a.tour", "b.tour", "c.tour"].map(|name| folder.path(name));
    search(&[&folder.instance, "--iterations", "1", "--start", "random", "--tour", &first])
        .args(["--local-search", "or-opt"])
        .assert()
        .success();
    let continued = |from: &str, to: &str, iterations: &str| {
        search(&[&folder.instance, "--initial-tour", from, "--accept", "better", "--tour", to])
            .args(["--iterations", iterations])
            .assert()
            .success();
        folder.checked(to)
    };
    let improved = continued(&first, &second, "1n");
    assert!(improved < folder.checked(&first));
    assert!(continued(&second, &third, "1") <= improved);
    // The file that a tour came from can take the better one.
    assert!(continued(&third, &third, "1n") <= improved);
}

#[test]
fn an_initial_tour_that_is_none_is_status_3() {
    let folder = Folder::new(4);
    let files = [
        folder.path("missing.tour"),
        folder.file("short.tour", b"1 2 3"),
        folder.file("twice.tour", b"TOUR_SECTION\n1 2 3 3 -1\nEOF\n"),
        folder.file("other.tour", b"TOUR_SECTION\n1 2 3 5 -1\nEOF\n"),
        folder.file("noise.tour", &[0xff, 0, 0xfe, 10]),
        folder.file("empty.tour", b""),
        folder.instance.clone(),
    ];
    for file in &files {
        search(&[&folder.instance, "--initial-tour", file])
            .assert()
            .code(3)
            .stdout("")
            .stderr(contains("help: ").and(contains("panicked").not()));
    }
}

#[test]
fn directed_edges_are_refused_with_advice() {
    let folder = Folder::new(5);
    let directed = folder.file("directed.csv", b"0 1 2\n3 0 4\n5 6 0\n");
    search(&[&directed]).assert().code(3).stdout("").stderr(contains("--algorithm mmas"));
    bench("ils", &directed, &[]).assert().code(3).stdout("").stderr(contains("symmetric"));
}

/// From the whole search of a few nodes on.
#[test]
fn small_odd_instances_have_tours() {
    let folder = Folder::new(5);
    let tour = folder.path("a.tour");
    let place = |kind: usize, i: usize| match kind {
        0 => (i * 37 % 101, i * 53 % 97),
        1 => (7, 7),
        2 => (i * 7 % 11, 0),
        _ => (i % 3, i % 2),
    };
    for n in (1..=20).chain([33, 100]) {
        for kind in 0..4 {
            let nodes = (0..n).map(|i| (i + 1, place(kind, i)));
            let file = if kind == 0 {
                let lines: String = nodes.map(|(_, (x, y))| format!("{x}000,{y}000\n")).collect();
                folder.file("places.csv", format!("x,y\n{lines}").as_bytes())
            } else {
                let lines: String = nodes.map(|(i, (x, y))| format!("{i} {x} {y}\n")).collect();
                let head =
                    format!("TYPE: TSP\nDIMENSION: {n}\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n");
                folder.file("places.tsp", format!("{head}{lines}EOF\n").as_bytes())
            };
            let improvement = if n % 2 == 0 { "first" } else { "best" };
            search(&[&file, "--iterations", "3n", "--improvement", improvement, "--tour", &tour])
                .assert()
                .success();
            assert!(checked(&file, &tour) >= 0);
            lin_kernighan(&[&file, "--iterations", "3n", "--tour", &tour]).assert().success();
            assert!(checked(&file, &tour) >= 0);
        }
        // Smaller tables of numbers could be coordinates.
        if n >= 3 {
            let row =
                |i: usize| (0..n).map(|j| (i * i).abs_diff(j * j).to_string()).collect::<Vec<_>>().join(",");
            let rows: Vec<String> = (0..n).map(row).collect();
            let file = folder.file("matrix.csv", rows.join("\n").as_bytes());
            search(&[&file, "--iterations", "9n", "--tour", &tour]).assert().success();
            assert_eq!(checked(&file, &tour), 2 * ((n - 1) * (n - 1)) as i64, "there and back");
            lin_kernighan(&[&file, "--iterations", "9n", "--tour", &tour]).assert().success();
            assert_eq!(checked(&file, &tour), 2 * ((n - 1) * (n - 1)) as i64, "there and back");
        }
    }
}

#[test]
fn published_matrices_and_globes_are_searched() {
    for file in ["pa561.tsp", "gr96.tsp", "att48.tsp", "brg180.tsp"] {
        let Some(instance) = published(file) else { return };
        let folder = Folder::new(5);
        let tour = folder.path("a.tour");
        search(&[&instance, "--iterations", "1n", "--tour", &tour]).assert().success();
        assert!(checked(&instance, &tour) > 0);
    }
}

#[test]
fn local_search_stops_when_it_should() {
    let folder = Folder::new(30);
    let report = folder.path("a.json");
    let stopped_by = |args: &[&str]| {
        search(args).args(["--json", &report]).assert().success();
        json(&report)["stopped_by"].as_str().unwrap().to_owned()
    };
    assert_eq!(stopped_by(&[&folder.instance, "--target", "999999999", "--time", "1m"]), "target");
    assert_eq!(json(&report)["iterations"], 0);
    assert_eq!(stopped_by(&[&folder.instance, "--stagnation", "500"]), "stagnation");
    let start = Instant::now();
    assert_eq!(stopped_by(&["E10k.0", "--time", "2s"]), "time");
    let seconds = json(&report)["seconds"].as_f64().unwrap();
    assert!(seconds < 4.0 && start.elapsed() < Duration::from_secs(20), "{seconds} s");
}

#[test]
fn a_reader_that_has_enough_is_no_failure() {
    let folder = Folder::new(2000);
    let commands: [&[&str]; 2] = [
        &["generate", "uniform", "--nodes", "100000"],
        &["solve", &folder.instance, "--backend", "cpu", "--iterations", "1", "--tour", "-"],
    ];
    for args in commands {
        let mut run = Process::new(env!("CARGO_BIN_EXE_antwarp"))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::with_capacity(16, run.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(first.starts_with("NAME"));
        let output = run.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{errors}");
        assert!(!errors.contains("bug"), "{errors}");
    }
}

#[test]
fn bench_mmas_prints_a_line_a_variant() {
    let folder = Folder::new(40);
    let table = folder.path("rows.csv");
    let compared = ["--vary", "selection+tabu=wrs+bitmask,rwm+list", "--vary", "candidates=all,8"];
    bench("mmas", &folder.instance, &["--iterations", "10", "--seeds", "3", "--csv", &table])
        .args(compared)
        .assert()
        .success()
        .stdout(contains("wrs+bitmask").and(contains("build ms")))
        .stdout(contains("Friedman test of selection+tabu over 6 blocks"));
    let rows = rows(&table);
    assert_eq!(rows.len(), 4 * 3);
    for row in &rows {
        let settings: Value = serde_json::from_str(&row["settings"]).unwrap();
        assert_eq!((&settings["ants"], &settings["rho"]), (&"n".into(), &"0.5".into()));
        assert_eq!((&settings["solver"]["ants"], &settings["solver"]["rho"]), (&40.into(), &0.5.into()));
        assert!(row["construction_ms"].parse::<f64>().unwrap() > 0.0);
        assert_eq!((row["suite"].as_str(), row["iterations"].as_str()), ("mmas", "10"));
    }
    // Without anything else the six variants, all nodes and 32 candidates.
    let all =
        bench("mmas", &folder.instance, &["--iterations", "2", "--", "--rho", "0.9"]).assert().success();
    let text = String::from_utf8(all.get_output().stdout.clone()).unwrap();
    assert_eq!(text.lines().count(), 2 + 12, "{text}");
    assert!(text.contains("options --rho 0.9"), "{text}");
}

#[test]
fn bench_ils_prints_a_line_an_operator_and_number_of_kicks() {
    let folder = Folder::new(40);
    let table = folder.path("rows.csv");
    let compared = ["--vary", "local-search=two-opt,three-opt", "--iterations", "0.1n,30", "--seeds", "2"];
    // It has no known length, so there are no gaps to take means of.
    bench("ils", &folder.instance, &["--csv", &table])
        .args(compared)
        .assert()
        .success()
        .stdout(contains("two-opt").and(contains("0.1n")).and(contains("means").not()));
    let kicks = |row: &HashMap<String, String>| row["iterations"].parse::<u64>().unwrap();
    assert_eq!(rows(&table).iter().map(kicks).collect::<Vec<_>>(), [4, 4, 30, 30, 4, 4, 30, 30]);
    let output = bench("ils", "E1k.0,E3k.0", &["--csv", "-"])
        .args(compared)
        .assert()
        .success()
        .stderr(contains("means of the mean gaps").and(contains("400-2000")).and(contains("(1)")))
        .stderr(contains("(2)"))
        .get_output()
        .clone();
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1 + 16);
}

#[test]
fn bench_solve_measures_any_line() {
    let folder = Folder::new(60);
    let table = folder.path("rows.csv");
    let line = ["--vary", "algorithm=ils,mmas,ga", "--seeds", "2", "--iterations", "20", "--csv", &table];
    bench("solve", &folder.instance, &line)
        .args(["--", "--local-search", "two-opt", "--neighbors", "6"])
        .assert()
        .success()
        .stdout(contains("options --local-search two-opt --neighbors 6").and(contains("algorithm")));
    let rows = rows(&table);
    assert_eq!(rows.len(), 6);
    // The same as solve finds.
    for row in &rows {
        let settings: Value = serde_json::from_str(&row["settings"]).unwrap();
        let algorithm = settings["algorithm"].as_str().unwrap();
        let report = folder.path("run.json");
        solve(&[&folder.instance, "--algorithm", algorithm, "--seed", &row["seed"], "--iterations", "20"])
            .args(["--local-search", "two-opt", "--neighbors", "6", "--json", &report])
            .assert()
            .success();
        let report = json(&report);
        assert_eq!(report["cost"].to_string(), row["result"], "{algorithm}");
        let mut solver = report["settings"].clone();
        solver.as_object_mut().unwrap().remove("seed");
        assert_eq!(solver, settings["solver"]);
    }
    // A time for each run, and an end that is none of the bench's.
    bench("solve", &folder.instance, &["--time", "50ms,100ms"])
        .assert()
        .success()
        .stdout(contains("0.05s").and(contains("0.1s")));
    bench("solve", &folder.instance, &["--", "--descent-only"]).assert().success();
}

#[test]
fn tables_are_made_again_from_raw_rows() {
    let folder = Folder::new(30);
    let suites: &[(&str, &[&str])] = &[
        ("mmas", &["--iterations", "6", "--seeds", "5", "--vary", "candidates=8", "--vary", "ants=4"]),
        ("acs", &["--iterations", "6", "--seeds", "6", "--parallel", "2", "--", "--ants", "4"]),
        ("ils", &["--iterations", "0.1n,1n", "--seeds", "3", "--repeat", "2"]),
        ("ga", &["--seeds", "2", "--iterations", "9", "--curve", "--", "--population", "64"]),
        ("solve", &["--iterations", "50", "--seeds", "3"]),
    ];
    for (suite, args) in suites {
        let files = ["rows.csv", "rows.json"].map(|name| folder.path(&format!("{suite}-{name}")));
        let instances = format!("{},E1k.0", folder.instance);
        let first = bench(suite, &instances, &["--csv", &files[0], "--json", &files[1]])
            .args(*args)
            .assert()
            .success()
            .get_output()
            .clone();
        let again =
            antwarp(&["bench", "table", &files[0]]).assert().success().stderr("").get_output().clone();
        let [first, again] = [first, again].map(|output| String::from_utf8(output.stdout).unwrap());
        assert_eq!(again, first);
        assert!(first.starts_with(&format!("{suite}: antwarp ")), "{first}");
        // The JSON has the same rows.
        let rows = rows(&files[0]);
        let saved = json(&files[1]);
        assert_eq!(saved.as_array().unwrap().len(), rows.len());
        for (row, saved) in rows.iter().zip(saved.as_array().unwrap()) {
            assert_eq!(row["result"], saved["result"].to_string());
            assert_eq!(serde_json::from_str::<Value>(&row["settings"]).unwrap(), saved["settings"]);
            let gap = saved["gap_percent"].as_f64();
            assert_eq!(gap.is_some(), row["instance"] == "E1k.0");
            let written = row["gap_percent"].parse::<f64>().ok();
            assert!(written.zip(gap).is_none_or(|(written, gap)| (written - gap).abs() < 1e-9));
            assert_eq!(written.is_some(), gap.is_some());
        }
    }
    // Rows of several files are one table of each suite, as Markdown too.
    let files = ["acs", "solve", "solve"].map(|suite| folder.path(&format!("{suite}-rows.csv")));
    antwarp(&["bench", "table", "--markdown"])
        .args(&files)
        .assert()
        .success()
        .stdout(contains("acs: antwarp").and(contains("solve: antwarp")))
        .stdout(contains("|---|---|").and(contains("---:|")).and(contains("| E1k.0 ")))
        .stdout(contains("Friedman test of pheromone+update"));
    let output = folder.path("tables");
    antwarp(&["bench", "table", &files[0], "--output", &output]).assert().success().stdout("");
    let said = antwarp(&["bench", "table", &files[0]]).output().unwrap().stdout;
    assert_eq!(fs::read(output).unwrap(), said);
    antwarp(&["bench", "table", &files[0], "-o", &files[0]])
        .assert()
        .code(2)
        .stderr(contains("is one of the files"));
    let wrong = [
        (folder.file("other.csv", b"instance,n\n1,2\n"), 3, "no column `suite`"),
        (folder.instance.clone(), 3, "no column `suite`"),
        (folder.path("none.csv"), 3, "bench --csv"),
    ];
    for (file, status, word) in &wrong {
        antwarp(&["bench", "table", file]).assert().code(*status).stdout("").stderr(contains(*word));
    }
    let text = fs::read_to_string(&files[1]).unwrap();
    let cut = folder.file("cut.csv", &text.as_bytes()[..text.len() - 20]);
    antwarp(&["bench", "table", &cut]).assert().code(3).stdout("").stderr(contains("bench --csv"));
    let foreign = folder.file("foreign.csv", text.replace("solve,", "magic,").as_bytes());
    antwarp(&["bench", "table", &foreign]).assert().code(3).stderr(contains("no suite `magic`"));
}

#[test]
fn a_table_has_means_deviations_tests_and_what_differs() {
    let folder = Folder::new(5);
    let mut text = "suite,antwarp,backend,device,details,units,instance,n,settings,seed,repetition,seconds,\
        setup_seconds,iterations,result,gap_percent,optimal\n"
        .to_owned();
    // Lengths of five seeds, by operator and instance, beside the optimum 100. Seed 5 was run twice.
    let lengths = [("a", 80, [110, 112, 114, 116, 118, 118]), ("b", 500, [130, 132, 134, 136, 138, 138])];
    for (instance, n, lengths) in lengths {
        for (operator, less) in [("two-opt", 0), ("three-opt", 10)] {
            for (i, length) in lengths.iter().enumerate() {
                let (seed, repetition, length) = (i.min(4) + 1, i / 5 + 1, length - less);
                let settings =
                    format!("{{\"\"local-search\"\":\"\"{operator}\"\",\"\"solver\"\":{{\"\"k\"\":8}}}}");
                text += &format!(
                    "ils,0.1.0,cpu,P,x,2,{instance},{n},\"{settings}\",{seed},{repetition},1.5,0.5,7,{length},{},{}\n",
                    length - 100,
                    u8::from(length == 100),
                );
            }
        }
    }
    let file = folder.file("rows.csv", text.as_bytes());
    let table = "\
ils: antwarp 0.1.0, cpu, P, x, units 2
instance  n    local-search  runs  done  seconds  set-up s      mean      sd  best   gap %  gap sd  least gap  optimal               against first
a         80   two-opt          6     7    1.500    0.5000  114.6667  3.2660   110  14.667   3.266     10.000        0
a         80   three-opt        6     7    1.500    0.5000  104.6667  3.2660   100   4.667   3.266      0.000        1  W = 15, p = 0.0122: better
b         500  two-opt          6     7    1.500    0.5000  134.6667  3.2660   130  34.667   3.266     30.000        0
b         500  three-opt        6     7    1.500    0.5000  124.6667  3.2660   120  24.667   3.266     20.000        0  W = 15, p = 0.0122: better

Friedman test of local-search over 10 blocks: χ²(1) = 10.000, p = 0.0016; mean ranks: two-opt 2.00, three-opt 1.00

means of the mean gaps in %, by number of nodes; in brackets: of how many instances
local-search         all      70-400    400-2000  2000-18512  optimum reached
two-opt       24.667 (2)  14.667 (1)  34.667 (1)                       0 of 2
three-opt     14.667 (2)   4.667 (1)  24.667 (1)                       1 of 2
";
    antwarp(&["bench", "table", &file]).assert().success().stdout(table);
}

#[test]
fn a_bench_without_time_has_one_iteration() {
    for suite in ["mmas", "acs"] {
        let line =
            ["bench", suite, "--backend", "cpu", "--instances", "E1k.0", "--vary", "ants=8", "--time", "1ms"];
        let output = antwarp(&[&line[..], &["--csv", "-"]].concat()).assert().success().get_output().clone();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut rows = csv::Reader::from_reader(text.as_bytes());
        let at = rows.headers().unwrap().iter().position(|name| name == "iterations").unwrap();
        assert_eq!(rows.records().next().unwrap().unwrap()[at].parse::<u32>().unwrap(), 1, "{suite}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_bench_keeps_the_rows_so_far() {
    let folder = Folder::new(50);
    let table = folder.path("rows.csv");
    let run = Process::new(env!("CARGO_BIN_EXE_antwarp"))
        .args(["bench", "solve", "--backend", "cpu", "--instances", &folder.instance, "--csv", &table])
        .args(["--seeds", "100000", "--time", "50ms", "--", "--algorithm", "mmas"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while fs::read_to_string(&table).map_or(0, |text| text.lines().count()) < 4 {
        assert!(begin.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Process::new("kill").args(["-TERM", &run.id().to_string()]).status().unwrap().success());
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    let kept = rows(&table);
    assert!(kept.len() >= 3);
    for (seed, row) in (1..).zip(&kept) {
        assert_eq!((row["seed"].parse(), row["stopped_by"].as_str()), (Ok(seed), "time"));
    }
    let again = antwarp(&["bench", "table", &table]).assert().success().get_output().clone();
    assert_eq!(again.stdout, output.stdout);
    assert!(String::from_utf8(again.stdout).unwrap().contains(&format!(" {} ", kept.len())));
}

#[test]
fn a_bench_tells_what_is_wrong_before_it_measures() {
    let folder = Folder::new(20);
    // The second population does not fit the first's file.
    let [genes, table] = ["a.population", "rows.csv"].map(|name| folder.path(name));
    evolve(&[&folder.instance, "--iterations", "0", "--population", "32", "--groups", "1"])
        .args(["--save-population", &genes])
        .assert()
        .success();
    bench("ga", &folder.instance, &["--vary", "population=32,48", "--csv", &table])
        .args(["--", "--groups", "1", "--resume", &genes])
        .assert()
        .code(2)
        .stderr(contains("multiple of the 32 genes"));
    assert!(!Path::new(&table).exists(), "what is wrong is told before anything is measured");
}

#[test]
fn every_form_of_ant_colony_system_gives_a_valid_tour() {
    let folder = Folder::new(80);
    let [tour, report] = ["a.tour", "a.json"].map(|name| folder.path(name));
    for pheromone in ["matrix", "candidate", "selective"] {
        for update in ["sequential", "atomic", "relaxed"] {
            let run = || {
                let mut run = colony_system(&[&folder.instance, "--iterations", "4", "--ants", "10"]);
                run.args(["--pheromone", pheromone, "--update", update, "--update-period", "2"]);
                run.args(["--candidates", "12", "--q0", "0.8", "--tour", &tour, "--json", &report]);
                run
            };
            if (pheromone, update) == ("selective", "atomic") {
                run()
                    .assert()
                    .code(2)
                    .stdout("")
                    .stderr(contains("a selective pheromone memory has no atomic"));
                continue;
            }
            run().assert().success();
            let report = json(&report);
            assert_eq!(report["cost"].as_i64(), Some(folder.checked(&tour)), "{pheromone} {update}");
            assert_eq!((&report["algorithm"], &report["iterations"]), (&"acs".into(), &4.into()));
            assert_eq!((&report["tours"], &report["failure"]), (&40.into(), &Value::Null));
            let settings = &report["settings"];
            assert_eq!((&settings["pheromone"], &settings["update"]), (&pheromone.into(), &update.into()));
            assert_eq!((&settings["period"], &settings["q0"]), (&2.into(), &0.8.into()));
            assert!(
                report["layout"]
                    .as_str()
                    .unwrap()
                    .to_lowercase()
                    .contains(&format!("acs-{pheromone}-{update}"))
            );
        }
    }
    let searched = colony_system(&[&folder.instance, "--iterations", "3", "--local-search", "three-opt"])
        .args(["--tour", &tour])
        .assert()
        .success();
    searched.stdout(contains("three"));
    assert!(folder.checked(&tour) > 0);
}

#[test]
fn atomic_updates_give_one_tour_whatever_the_threads() {
    let folder = Folder::new(100);
    let tour = |name: &str, threads: &str, seed: &str| {
        let path = folder.path(name);
        colony_system(&[&folder.instance, "--pheromone", "matrix", "--update", "atomic", "--quiet"])
            .args(["--iterations", "20", "--seed", seed, "--threads", threads, "--tour", &path])
            .assert()
            .success()
            .stdout("")
            .stderr("");
        fs::read_to_string(path).unwrap()
    };
    let first = tour("a.tour", "1", "5");
    assert_eq!(first, tour("b.tour", "2", "5"));
    assert_ne!(first, tour("c.tour", "2", "6"));
}

#[test]
fn ant_colony_system_solves_directed_instances() {
    let folder = Folder::new(5);
    // Along the numbers every edge is 1, back it is 9.
    let n = 12;
    let row =
        |i: usize| (0..n).map(|j| if j == (i + 1) % n { "1" } else { "9" }).collect::<Vec<_>>().join(" ");
    let rows: Vec<String> = (0..n).map(row).collect();
    let directed = folder.file("directed.csv", rows.join("\n").as_bytes());
    let tour = folder.path("a.tour");
    for pheromone in ["matrix", "candidate", "selective"] {
        colony_system(&[&directed, "--pheromone", pheromone, "--iterations", "20", "--tour", &tour])
            .assert()
            .success();
        assert_eq!(checked(&directed, &tour), n as i64, "{pheromone}");
    }
    colony_system(&[&directed, "--local-search", "three-opt"])
        .assert()
        .code(3)
        .stderr(contains("--local-search none"));
}

#[test]
fn bench_acs_prints_a_line_a_form_period_and_number_of_ants() {
    let folder = Folder::new(40);
    let table = folder.path("rows.csv");
    bench("acs", &folder.instance, &["--tours", "10n", "--csv", &table, "--seeds", "5", "--parallel", "2"])
        .args(["--vary", "pheromone+update=matrix+atomic,selective+relaxed"])
        .args(["--vary", "update-period=1,4", "--vary", "ants=10,n"])
        .assert()
        .success()
        .stdout(contains("against first").and(contains("W = ")))
        .stdout(contains("Friedman test of pheromone+update over 20 blocks"))
        .stdout(contains("Friedman test of update-period over 20 blocks"))
        .stdout(contains("Friedman test of ants over 20 blocks"))
        .stdout(contains("build ms").not());
    let together = rows(&table);
    assert_eq!(together.len(), 8 * 5);
    for (i, row) in together.iter().enumerate() {
        let number = |name: &str| row[name].parse::<f64>().unwrap();
        assert_eq!(number("ants") * number("iterations"), 400.0);
        assert_eq!(
            (row["seconds"].as_str(), row["total_ms"].as_str()),
            ("", ""),
            "no times at the same time"
        );
        assert_eq!((number("seed") as usize, number("pheromone_bytes") > 0.0), (i % 5 + 1, true));
    }
    // What runs alone has times, and the same tours.
    bench("acs", &folder.instance, &["--tours", "10n", "--csv", &table, "--seeds", "5"])
        .args(["--vary", "ants=10", "--", "--pheromone", "matrix", "--update", "atomic"])
        .assert()
        .success()
        .stdout(contains("build ms").and(contains("--update atomic")));
    for (alone, before) in rows(&table).iter().zip(&together) {
        assert!(alone["seconds"].parse::<f64>().unwrap() > 0.0);
        assert_eq!((&alone["result"], &alone["seed"]), (&before["result"], &before["seed"]));
    }
    // Gaps where the length is known; a time ends the runs.
    bench("acs", "E1k.0", &["--time", "50ms", "--seeds", "6", "--against", "-,0.01"])
        .args(["--vary", "pheromone=candidate,selective", "--", "--ants", "2"])
        .assert()
        .success()
        .stdout(contains("against published").and(contains("W = 21, p = 0.0360: worse")));
}

/// The saved file of a run of the genetic algorithm, and its report; the tour is checked.
fn evolved(folder: &Folder, args: &[&str]) -> (String, Value) {
    let [tour, report, genes] = ["ga.tour", "ga.json", "ga.population"].map(|name| folder.path(name));
    evolve(&[&folder.instance, "--tour", &tour, "--json", &report, "--save-population", &genes, "--quiet"])
        .args(args)
        .assert()
        .success()
        .stdout("")
        .stderr("");
    let report = json(&report);
    assert_eq!(report["cost"], folder.checked(&tour));
    assert_eq!((&report["algorithm"], &report["failure"]), (&"ga".into(), &Value::Null));
    (fs::read_to_string(genes).unwrap(), report)
}

const SMALL: [&str; 4] = ["--population", "32", "--groups", "2"];

#[test]
fn every_crossover_evolves_the_same_whatever_the_threads() {
    let folder = Folder::new(70);
    for crossover in ["scx", "bcscx", "arx", "hybrid"] {
        let run = |more: &[&str]| {
            let args = ["--iterations", "30", "--crossover", crossover, "--transfer-every", "7"];
            evolved(&folder, &[&SMALL[..], &args, more].concat())
        };
        let (genes, report) = run(&["--threads", "1", "--seed", "5"]);
        assert_eq!(
            (&report["iterations"], &report["settings"]["crossover"]),
            (&30.into(), &crossover.into())
        );
        assert_eq!(genes.lines().filter(|line| *line == "-1").count(), 32 + 1);
        assert_eq!(genes.lines().count(), 5 + 32 * 71 + 2);
        assert_eq!(run(&["--threads", "2", "--seed", "5"]).0, genes);
        assert_ne!(run(&["--threads", "2", "--seed", "6"]).0, genes);
    }
}

#[test]
fn a_resumed_population_goes_on_as_if_it_had_never_stopped() {
    let folder = Folder::new(70);
    let half = folder.path("half.population");
    let settings: &[&[&str]] = &[
        &["--crossover", "scx"],
        &["--crossover", "bcscx", "--pairing", "fixed"],
        &["--crossover", "arx", "--mutation", "0.5"],
        &["--crossover", "hybrid", "--seed", "9"],
        &["--crossover", "hybrid", "--local-search", "two-opt", "--neighbors", "6", "--breadth", "4"],
        &["--crossover", "arx", "--initial", "local-optima"],
        &["--crossover", "bcscx", "--initial", "ants", "--local-search", "or-opt"],
    ];
    for more in settings {
        let args = [&SMALL[..], &["--transfer-every", "4"], more].concat();
        let (whole, report) = evolved(&folder, &[&args[..], &["--iterations", "30"]].concat());
        for first in ["10", "0"] {
            let (begun, _) = evolved(&folder, &[&args[..], &["--iterations", first]].concat());
            assert_ne!(begun, whole);
            fs::write(&half, begun).unwrap();
            // Seed and settings are those of the file.
            let left = if first == "0" { "30" } else { "20" };
            let (resumed, second) = evolved(&folder, &["--resume", &half, "--iterations", left]);
            assert_eq!(resumed, whole, "{more:?} after {first}");
            assert_eq!(second["tour"], report["tour"]);
            assert_eq!(second["settings"]["initial"], "file");
            assert_eq!(second["settings"]["first_generation"].to_string(), first);
            assert_eq!(second["settings"]["seed"], report["seed"]);
        }
    }
}

#[test]
fn edge_assembly_crossover_finds_the_best_tour_and_goes_on() {
    let folder = Folder::new(120);
    let half = folder.path("half.population");
    let args = ["--crossover", "eax", "--population", "60", "--groups", "2", "--transfer-every", "3"];
    let run = |more: &[&str]| evolved(&folder, &[&args[..], more].concat());
    let (whole, report) = run(&["--iterations", "14", "--threads", "1"]);
    let settings = &report["settings"];
    assert_eq!((&settings["crossover"], &settings["initial"]), (&"eax".into(), &"local-optima".into()));
    assert_eq!((&settings["children"], &report["tours"]), (&30.into(), &(14 * 60).into()));
    assert_eq!(run(&["--iterations", "14", "--threads", "2"]).0, whole);
    fs::write(&half, run(&["--iterations", "5"]).0).unwrap();
    let (resumed, second) = evolved(&folder, &["--resume", &half, "--iterations", "9"]);
    assert_eq!((resumed, &second["settings"]["children"]), (whole, &30.into()));
    // Two seeds find the same tour, and go on until they are stopped.
    let [one, other] = ["1", "2"].map(|seed| run(&["--iterations", "60", "--seed", seed]).1);
    assert_eq!((&one["cost"], &one["iterations"]), (&other["cost"], &60.into()));
    for initial in ["random", "space-filling", "ants"] {
        let search = ["--local-search", "or-opt", "--initial", initial, "--iterations", "40"];
        assert!(run(&search).1["cost"].as_i64() < report["cost"].as_i64().map(|cost| cost * 21 / 20));
    }
    antwarp(&["solve", &folder.instance, "--algorithm", "ga", "--crossover", "eax", "--stagnation", "20"])
        .assert()
        .success()
        .stdout(contains("stopped by stagnation"))
        .stderr(contains("--crossover eax runs on CPU threads"));
}

#[test]
fn edge_assembly_crossover_of_few_nodes_and_of_wrong_settings() {
    for nodes in [3, 5, 7, 8, 9] {
        let folder = Folder::new(nodes);
        let report = folder.path("small.json");
        let ils = ["--algorithm", "ils", "--iterations", "50"];
        let ga = ["--algorithm", "ga", "--crossover", "eax", "--iterations", "20"];
        let [least, found] = [&ils[..], &ga].map(|args| {
            solve(&[&folder.instance, "--json", &report, "--quiet"]).args(args).assert().success();
            json(&report)
        });
        assert_eq!(found["cost"], least["cost"]);
        assert_eq!(found["stopped_by"] == "trivial", nodes < 8);
    }
    let folder = Folder::new(20);
    let wrong: &[(&[&str], &str)] = &[
        (&["--population", "60", "--groups", "8"], "a multiple of --groups"),
        (&["--population", "60", "--groups", "10"], "8 genes a group or more"),
        (&["--groups", "0"], "--groups"),
        (&["--children", "0"], "--children"),
        (&["--mutation", "0.1"], "--mutation does nothing with --crossover eax"),
        (&["--pairing", "fixed"], "--pairing does nothing with --crossover eax"),
        (&["--crossover", "arx", "--children", "5"], "--children is for --crossover eax"),
    ];
    for (args, message) in wrong {
        let eax: &[&str] = if args.contains(&"--crossover") { &[] } else { &["--crossover", "eax"] };
        evolve(&[&folder.instance]).args(eax).args(*args).assert().code(2).stderr(contains(*message));
    }
    bench("ga", &folder.instance, &["--", "--crossover", "eax", "--population", "16"])
        .assert()
        .success()
        .stdout(contains("eax"));
}

#[test]
fn what_is_given_counts_more_than_what_was_saved() {
    let folder = Folder::new(40);
    let first = folder.path("first.population");
    let saved = [&SMALL[..], &["--iterations", "0", "--initial", "local-optima", "--seed", "4"]].concat();
    fs::write(&first, evolved(&folder, &saved).0).unwrap();
    let args =
        ["--resume", &first, "--iterations", "5", "--crossover", "arx", "--groups", "4", "--seed", "8"];
    let (_, report) = evolved(&folder, &[&args[..], &["--population", "96"]].concat());
    let settings = &report["settings"];
    assert_eq!((&settings["crossover"], &settings["groups"]), (&"arx".into(), &4.into()));
    assert_eq!((&settings["population"], &settings["seed"]), (&96.into(), &8.into()));
    // The genes are those of the file again and again.
    let (thrice, _) = evolved(&folder, &["--resume", &first, "--iterations", "0", "--population", "96"]);
    let tours = |text: &str| {
        let tours = text.split_once("TOUR_SECTION\n").unwrap().1.trim_end_matches("-1\nEOF\n").to_owned();
        assert!(tours.ends_with('\n'));
        tours
    };
    // The last -1 of a tour went with that of the section.
    let once = fs::read_to_string(&first).unwrap();
    let gene = |text: &str, i: usize| tours(text).split("-1\n").nth(i).unwrap().to_owned();
    for i in [0, 1, 31, 32, 63, 64, 90] {
        assert_eq!(gene(&thrice, i), gene(&once, i % 32), "{i}");
    }
    // A file of many tours is none of one tour.
    antwarp(&["check", &folder.instance, &first]).assert().code(6).stderr(contains("--resume"));
}

#[test]
fn populations_that_cannot_go_on_are_refused() {
    let folder = Folder::new(20);
    let (good, _) = evolved(&folder, &[&SMALL[..], &["--iterations", "3"]].concat());
    let file = folder.file("good.population", good.as_bytes());
    let usage: &[(&[&str], &str)] = &[
        (&["--population", "48"], "a multiple of the 32 genes of"),
        (&["--population", "64", "--groups", "3"], "a multiple of 4 times --groups"),
        (&["--mutation", "2"], "--mutation"),
        (&["--tour", &file, "--save-population", &file], "named for two outputs"),
    ];
    for (args, message) in usage {
        evolve(&[&folder.instance, "--resume", &file])
            .args(*args)
            .assert()
            .code(2)
            .stdout("")
            .stderr(contains(*message));
    }
    let body = good.split_once("TOUR_SECTION\n").unwrap().1;
    let tours: Vec<&str> = body.split("-1\n").collect();
    let six = format!("TYPE : TOUR\nTOUR_SECTION\n{}-1\n-1\nEOF\n", tours[..6].join("-1\n"));
    let second = body.lines().nth(1).unwrap();
    let repeated = good.replacen(
        &format!("TOUR_SECTION\n{}\n{second}\n", body.lines().next().unwrap()),
        &format!("TOUR_SECTION\n{second}\n{second}\n"),
        1,
    );
    // Behind a whole number: a part of one may be another node's.
    let cut = &good[..good[..good.len() - 30].rfind('\n').unwrap() + 1];
    let inputs: &[(&str, &str)] = &[
        ("", "there is no TOUR_SECTION"),
        (cut, "the file ends in tour 32"),
        (&good.replace("DIMENSION : 20", "DIMENSION : 21"), "4:1"),
        (&good.replace("\"genes\":32", "\"genes\":64"), "there are 32 tours, not the 64"),
        (&good.replace("\"crossover\":\"hybrid\"", "\"crossover\":\"magic\""), "take out its comment"),
        (&repeated, "7:1"),
        (&six, "6 genes are no 8 groups of equal size"),
    ];
    for (text, message) in inputs {
        let bad = folder.file("bad.population", text.as_bytes());
        evolve(&[&folder.instance, "--resume", &bad])
            .assert()
            .code(3)
            .stdout("")
            .stderr(contains("help: ").and(contains("panicked").not()))
            .stderr(contains(*message).or(contains(message.replace(' ', "\n"))));
    }
    let missing = folder.path("missing.population");
    evolve(&[&folder.instance, "--resume", &missing]).assert().code(3).stderr(contains(&missing));
    let other = Folder::new(20);
    let moved = fs::read_to_string(&other.instance)
        .unwrap()
        .replace("NODE_COORD_SECTION\n1 ", "NODE_COORD_SECTION\n1 9");
    let other = folder.file("other.tsp", moved.as_bytes());
    evolve(&[&other, "--resume", &file]).assert().code(3).stderr(contains("shortest tour"));
    // Without its comment, a part of it will do.
    evolve(&[&folder.instance, "--iterations", "2", "--groups", "1", "--population", "12"])
        .args(["--resume", &folder.file("six.population", six.as_bytes())])
        .assert()
        .success();
}

#[test]
fn small_and_directed_instances_evolve() {
    let folder = Folder::new(4);
    for n in 1..=9 {
        let places: String = (0..n).map(|i| format!("{},{}\n", i * 37 % 101, i * 53 % 97)).collect();
        let file = folder.file("places.csv", format!("x,y\n{places}").as_bytes());
        let tour = folder.path("a.tour");
        for more in [
            &["--initial", "random"][..],
            &["--initial", "local-optima"],
            &["--initial", "ants"],
            &["--local-search", "three-opt"],
        ] {
            evolve(&[&file, "--iterations", "3", "--tour", &tour]).args(SMALL).args(more).assert().success();
            assert!(checked(&file, &tour) >= 0);
        }
        let saved = folder.path("a.population");
        let run = evolve(&[&file, "--iterations", "3", "--save-population", &saved]).args(SMALL).assert();
        if n < 8 {
            run.code(2).stderr(contains("leave out --save-population"))
        } else {
            run.success()
        };
    }
    let directed = folder.file("directed.csv", b"0 1 9 9 9\n9 0 1 9 9\n9 9 0 1 9\n9 9 9 0 1\n1 9 9 9 0\n");
    let report = folder.path("a.json");
    for initial in ["random", "ants"] {
        evolve(&[&directed, "--iterations", "20", "--initial", initial, "--json", &report])
            .args(SMALL)
            .assert()
            .success();
        assert_eq!(json(&report)["cost"], 5);
    }
    evolve(&[&directed, "--initial", "local-optima"]).assert().code(3).stderr(contains("--initial random"));
    evolve(&[&directed, "--local-search", "two-opt"])
        .assert()
        .code(3)
        .stderr(contains("--local-search none"));
}

/// Whatever ends a run, the generation under way is finished, so that it can go on exactly.
#[cfg(unix)]
#[test]
fn an_interrupted_population_goes_on_exactly() {
    let folder = Folder::new(1500);
    let [cut, whole] = ["cut.population", "whole.population"].map(|name| folder.path(name));
    let args = ["--population", "256", "--local-search", "or-opt"];
    let first = ["solve", "--backend", "cpu", &folder.instance, "--algorithm", "ga", "--time", "5m"];
    let all = [&first[..], &args[..], &["--save-population", &cut][..]].concat();
    interrupted(&all, Duration::from_secs(2));
    let saved = fs::read_to_string(&cut).unwrap();
    let comment = saved.lines().nth(1).unwrap().split_once("population ").unwrap().1;
    let header: Value = serde_json::from_str(comment).unwrap();
    let done = header["generation"].to_string();
    evolve(&[&folder.instance, "--iterations", &done, "--save-population", &whole])
        .args(args)
        .assert()
        .success();
    assert!(fs::read_to_string(&whole).unwrap() == saved, "after {done} generations");
}

#[test]
fn bench_ga_prints_a_line_a_crossover_and_population() {
    let folder = Folder::new(40);
    let [table, report] = ["table.csv", "table.json"].map(|name| folder.path(name));
    let compared = ["--vary", "crossover=scx,bcscx", "--vary", "population=64,128", "--vary", "groups=1,4"];
    // The length of this one is known.
    bench("ga", "E1k.0", &compared)
        .args(["--iterations", "40", "--seeds", "2", "--epsilon", "0.5", "--csv", &table, "--json", &report])
        .arg("--curve")
        .assert()
        .success()
        .stdout(contains("generation  seconds").and(contains("crossover scx, groups 1, population 64")));
    assert_eq!(rows(&table).len(), 8 * 2);
    let number = |value: &Value| value.as_f64().unwrap();
    for row in json(&report).as_array().unwrap() {
        let curve = row["curve"].as_array().unwrap();
        let generations = curve.iter().map(|point| point["generation"].as_u64().unwrap()).collect::<Vec<_>>();
        assert_eq!(generations, [0, 1, 2, 4, 8, 16, 32, 40]);
        assert!(curve.windows(2).all(|pair| number(&pair[1]["best_cost"]) <= number(&pair[0]["best_cost"])));
        assert_eq!(curve[7]["best_cost"], row["result"]);
        assert!(number(&row["generation_ms"]) > 0.0 && number(&row["gap_percent"]) < 1700.0);
        assert!(number(&row["first_gap_percent"]) > number(&row["gap_percent"]));
        // Within half of the best known length, or not yet.
        match row["reached_generation"].as_u64() {
            Some(generation) => {
                assert!((1..=40).contains(&generation) && number(&row["gap_percent"]) <= 50.0)
            }
            None => assert!(number(&row["gap_percent"]) > 50.0),
        }
    }
    assert!(rows(&table).iter().any(|row| !row["reached_generation"].is_empty()));
    // What solve saved is what it begins with.
    let optima = folder.path("optima.population");
    evolve(&[&folder.instance, "--iterations", "0", "--initial", "local-optima"])
        .args(["--population", "32", "--groups", "1", "--save-population", &optima])
        .assert()
        .success();
    bench("ga", &folder.instance, &["--vary", "population=32,64", "--iterations", "3"])
        .args(["--", "--groups", "1", "--pairing", "fixed", "--resume", &optima])
        .assert()
        .success();
    let wrong: &[(&[&str], i32, &str)] = &[
        (&["--", "--resume", &optima, "--population", "48", "--groups", "1"], 2, "multiple of the 32 genes"),
        (&["--vary", "population=30"], 2, "a multiple of 4 times --groups"),
        (&["--epsilon", "nan"], 2, "--epsilon"),
        (&["--iterations", "0"], 2, "--iterations"),
        (&["--instances", "E1k.0", "--", "--resume", &optima], 3, "E1k.0"),
    ];
    for (args, status, word) in wrong {
        bench("ga", &folder.instance, args).assert().code(*status).stdout("").stderr(contains(*word));
    }
}

#[test]
fn shells_and_readers_are_served() {
    antwarp(&["completions", "bash"]).assert().success().stdout(contains("antwarp"));
    antwarp(&["man"]).assert().success().stdout(contains(".TH").and(contains("candidates")));
}

/// The report of `antwarp solve --algorithm ils` on the CPU, whose tour is checked.
fn ils(folder: &Folder, args: &[&str]) -> Value {
    let [tour, report] = ["ils.tour", "ils.json"].map(|name| folder.path(name));
    let algorithm: &[&str] = if args.contains(&"--algorithm") { &[] } else { &["--algorithm", "ils"] };
    solve(&[&folder.instance, "--tour", &tour, "--json", &report, "--quiet"])
        .args(algorithm)
        .args(args)
        .assert()
        .success();
    let report = json(&report);
    assert_eq!(report["cost"], folder.checked(&tour));
    report
}

#[test]
fn the_short_help_of_solve_leaves_settings_out() {
    let help = |option: &str| {
        let output = antwarp(&["solve", option]).assert().success().get_output().stdout.clone();
        String::from_utf8(output).unwrap()
    };
    let (short, long) = (help("-h"), help("--help"));
    for everywhere in ["--time", "--threads", "--tour", "--algorithm", "--initial-tour"] {
        assert!(short.contains(everywhere) && long.contains(everywhere), "{everywhere}");
    }
    for setting in ["--rho", "--crossover", "--walk", "--segment"] {
        assert!(!short.contains(setting) && long.contains(setting), "{setting}");
    }
    assert!(short.lines().count() < 60, "{short}");
}

#[test]
fn a_descent_ends_at_a_local_optimum() {
    let folder = Folder::new(300);
    let start = ["--descent-only", "--start", "space-filling"];
    for improvement in [
        &["--improvement", "first"][..],
        &["--improvement", "best"],
        &["--improvement", "best", "--moves", "one"],
        &["--algorithm", "lk"],
    ] {
        let args = [&start, improvement].concat();
        let report = ils(&folder, &args);
        assert_eq!(report["stopped_by"], "local-optimum");
        assert_eq!(report["iterations"], 0);
        assert_eq!(report["limits"]["time_seconds"], Value::Null);
        // What a local optimum is cannot be improved by the same search.
        let tour = folder.path("first.tour");
        fs::rename(folder.path("ils.tour"), &tour).unwrap();
        let again = ils(&folder, &[improvement, &["--descent-only", "--initial-tour", &tour]].concat());
        assert_eq!(again["cost"], report["cost"]);
    }
    solve(&[&folder.instance, "--descent-only"]).assert().success().stdout(contains("local optimum"));
    let wrong: &[&[&str]] = &[
        &["--descent-only", "--iterations", "5"],
        &["--descent-only", "--walk", "9"],
        &["--descent-only", "--algorithm", "ils", "--accept", "better"],
    ];
    for wrong in wrong {
        solve(&[&folder.instance]).args(*wrong).assert().code(2).stderr(contains("--descent-only"));
    }
}

#[test]
fn kicks_by_best_improvement_give_one_tour_whatever_the_threads() {
    let folder = Folder::new(200);
    let run = |more: &[&str]| ils(&folder, &[&["--improvement", "best"], more].concat());
    let descent = run(&["--descent-only"])["cost"].as_i64().unwrap();
    let [few, many] = ["1", "3"].map(|threads| run(&["--iterations", "200", "--threads", threads]));
    assert_eq!(few["tour"], many["tour"]);
    assert_eq!((&few["iterations"], &few["stopped_by"]), (&200.into(), &"iterations".into()));
    assert!(few["cost"].as_i64().unwrap() < descent);
}

#[test]
fn a_bound_stands_beside_the_tour_and_the_trace_leads_to_it() {
    let folder = Folder::new(5);
    let result = folder.path("result.json");
    solve(&["E1k.0", "--iterations", "200", "--bound", "--json", &result])
        .assert()
        .success()
        .stdout(contains("% above the optimum, by proof"));
    let result = json(&result);
    let (cost, bound) = (result["cost"].as_i64().unwrap(), result["bound"]["length"].as_i64().unwrap());
    assert!(bound <= 23_360_648 && bound > 23_100_000, "{bound}");
    let most = result["bound"]["most_percent"].as_f64().unwrap();
    assert!((most - 100.0 * (cost - bound) as f64 / bound as f64).abs() < 1e-9, "{most}");
    let trace = result["trace"].as_array().unwrap();
    let better = |pair: &[Value]| {
        pair[1]["cost"].as_i64() < pair[0]["cost"].as_i64()
            && pair[1]["seconds"].as_f64() >= pair[0]["seconds"].as_f64()
    };
    assert!(trace.len() > 2 && trace.windows(2).all(better), "{trace:?}");
    assert_eq!(
        (trace[0]["part"].as_str(), trace[trace.len() - 1]["cost"].as_i64()),
        (Some("start"), Some(cost))
    );
}

#[test]
fn a_bound_is_the_same_on_any_number_of_threads() {
    let on = |threads| {
        let line = ["bound", "E1k.0", "--trees", "60", "--json", "-", "--threads", threads];
        let output = antwarp(&line).assert().success().get_output().clone();
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        value["bound"]["length"].as_i64().unwrap()
    };
    assert_eq!(on("1"), on("3"));
}

/// Near the optimum, and proving some; burma14 and gr666 lie on the globe, brg180 is a matrix.
#[test]
fn bounds_of_published_instances_are_below_their_optima() {
    let known = [
        ("burma14.tsp", 3323, 3323),
        ("brg180.tsp", 1950, 1950),
        ("gr666.tsp", 291_000, 294_358),
        ("att48.tsp", 10_500, 10_628),
        ("d198.tsp", 15_600, 15_780),
    ];
    for (file, least, optimum) in known {
        let Some(instance) = published(file) else { continue };
        let output = antwarp(&["bound", &instance, "--json", "-"]).assert().success().get_output().clone();
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        let bound = value["bound"]["length"].as_i64().unwrap();
        assert!((least..=optimum).contains(&bound), "{file}: {bound}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_the_bound_so_far() {
    let (output, _) = interrupted(&["bound", "E1k.0", "--trees", "1000000"], Duration::from_secs(1));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("no tour is shorter"), "{text}");
}

#[test]
fn edges_with_a_direction_have_no_bound() {
    let Some(instance) = published("br17.atsp") else { return };
    for line in [&["bound", &instance][..], &["solve", &instance, "--bound", "--time", "1s"]] {
        antwarp(line).assert().code(3).stderr(contains("symmetric"));
    }
}
