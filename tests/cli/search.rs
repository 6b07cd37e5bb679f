//! `antwarp search` and `antwarp bench search` from end to end, on the CPU.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use antwarp::instance::{Qap, qaplib};
use antwarp::solver::search::problems::{MaxCut, Partition};
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use tempfile::TempDir;

#[cfg(unix)]
use crate::common::interrupted;
use crate::world::published_in;

tests! {
    costs_are_those_of_the_solutions,
    every_strategy_searches_every_problem_and_keeps_the_iterations,
    a_seed_gives_one_solution_whatever_the_threads,
    assignments_recombine_unless_walks_are_chosen_or_they_are_large_without_structure,
    descents_end_where_no_neighbourhood_has_a_better_solution,
    the_host_chooses_as_the_device,
    a_target_stops_a_search,
    a_published_optimum_is_found,
    a_published_name_does_not_stop_a_search_of_other_matrices,
    a_published_name_does_not_stop_a_search_of_other_places,
    solutions_are_files_that_read_back,
    wrong_usage_is_status_2,
    bad_files_are_status_3_with_their_line,
    outputs_that_cannot_be_written_are_status_5,
    #[cfg(unix)]
    an_interrupt_keeps_the_best_solution,
    an_iteration_is_cut_short_when_the_time_is_up,
    a_climb_of_several_threads_is_cut_short,
    #[cfg(target_os = "linux")]
    threads_of_a_walk_are_started_before_the_search,
    #[cfg(unix)]
    an_interrupt_cuts_an_iteration_short,
    an_iteration_that_was_cut_short_is_not_made,
    what_was_tried_out_is_kept_and_used,
    bench_search_prints_a_line_an_instance_and_way,
    costs_beyond_53_bits_are_exact,
    a_qap_solution_names_the_exact_cost_of_its_permutation,
    a_search_is_over_in_time_whatever_a_neighbour_costs,
    a_search_that_has_no_solution_in_time_says_so,
    #[cfg(unix)]
    an_interrupt_ends_a_search_that_has_no_solution,
    #[cfg(target_os = "linux")]
    a_graph_that_does_not_fit_the_memory_is_refused,
}

fn antwarp(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_antwarp"));
    // No file outside of a test is written.
    command.args(args).env("ANTWARP_TUNING", "none").timeout(Duration::from_secs(120));
    command
}

/// `antwarp search` on the CPU: the problem and its arguments.
fn search(problem: &[&str], args: &[&str]) -> Command {
    let mut command = antwarp(&["search"]);
    command.args(problem).args(["--backend", "cpu"]).args(args);
    command
}

/// What a search reports.
fn report(problem: &[&str], args: &[&str]) -> Value {
    let output = search(problem, args)
        .args(["--json", "-", "--quiet"])
        .assert()
        .success()
        .stderr("")
        .get_output()
        .clone();
    serde_json::from_slice(&output.stdout).unwrap()
}

fn integers(value: &Value) -> Vec<i64> {
    value.as_array().unwrap().iter().map(|x| x.as_i64().unwrap()).collect()
}

/// A folder for a test's files.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn file(&self, name: &str, content: &str) -> String {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// A QAPLIB file of two asymmetric matrices, and its best solution's cost is not known.
    fn qap(&self, n: u32) -> String {
        let numbers = |salt: u32| {
            let of = |i: u32| if i / n == i % n { 0 } else { (i * 37 + salt) % 97 };
            (0..n * n).map(|i| of(i).to_string()).collect::<Vec<_>>().join(" ")
        };
        self.file("odd.dat", &format!("{n}\n{}\n{}\n", numbers(5), numbers(11)))
    }
}

/// A published quadratic assignment problem, if the data is there.
fn published(file: &str) -> Option<String> {
    published_in("qaplib", file)
}

const PROBLEMS: [&[&str]; 8] = [
    &["qap", "--uniform", "14"],
    &["ppp", "--m", "21", "--n", "23", "--distance", "1"],
    &["ppp", "--m", "21", "--n", "23", "--distance", "3"],
    &["weierstrass", "--dim", "3", "--neighbors", "200", "--terms", "20"],
    &["weierstrass", "--dim", "2", "--neighbors", "200", "--terms", "20", "--precision", "f64"],
    &["tsp", "E1k.0"],
    &["partition", "--numbers", "40", "--sets", "3"],
    &["max-cut", "--nodes", "60"],
];
const STRATEGIES: [&str; 5] = ["tabu", "hill-climbing", "annealing", "ils", "vns"];

fn costs_are_those_of_the_solutions() {
    let folder = Folder::new();
    let file = folder.qap(13);
    let qap = Qap::open(Path::new(&file)).unwrap();
    let numbers = folder.file("numbers.txt", "9 8 7\n6 5 40 31 12 77 5 5 1\n");
    let partition = Partition::open(Path::new(&numbers), 3).unwrap();
    let graph = folder.file("graph.txt", "5 6\n1 2 4\n2 3 5\n3 1 -6\n3 4 7\n4 5 8\n5 1 9\n");
    let max_cut = MaxCut::open(Path::new(&graph)).unwrap();
    for strategy in STRATEGIES {
        let args = ["--iterations", "300", "--walks", "3", "--strategy", strategy];
        for changes in ["auto", "stored", "linear"] {
            let found = report(&["qap", &file, "--changes", changes], &args);
            let places: Vec<u32> = integers(&found["solution"]).iter().map(|&p| p as u32).collect();
            assert_eq!(qap.cost(&places), found["cost"].as_i64(), "{strategy} {changes}");
        }
        let found = report(&["partition", &numbers, "--sets", "3"], &args);
        let sets: Vec<u8> = integers(&found["solution"]).iter().map(|&set| set as u8).collect();
        assert_eq!(Some(partition.cost(&sets)), found["cost"].as_i64(), "{strategy}");
        let found = report(&["max-cut", &graph], &args);
        let sides: Vec<u8> = integers(&found["solution"]).iter().map(|&side| side as u8).collect();
        assert_eq!(Some(-max_cut.cut(&sides)), found["cost"].as_i64(), "{strategy}");
        let walks = integers(&found["walks"]);
        assert_eq!((walks.len(), walks.iter().min().copied()), (3, found["cost"].as_i64()));
    }
}

fn every_strategy_searches_every_problem_and_keeps_the_iterations() {
    for problem in PROBLEMS {
        for strategy in STRATEGIES {
            let iterations = if problem[0] == "tsp" { 3 } else { 77 };
            let count = iterations.to_string();
            let found = report(problem, &["--strategy", strategy, "--iterations", &count, "--walks", "2"]);
            assert_eq!(found["settings"]["strategy"], strategy);
            assert_eq!(found["problem"], problem[0]);
            assert_eq!(found["failure"], Value::Null);
            // Only a perceptron has a cost that ends a search.
            if found["stopped_by"] != "target" {
                assert_eq!(found["iterations"], iterations, "{problem:?} {strategy}");
                assert_eq!(found["stopped_by"], "iterations");
            }
        }
    }
}

fn a_seed_gives_one_solution_whatever_the_threads() {
    let qap: &[&str] = &["qap", "--uniform", "15"];
    for strategy in STRATEGIES {
        let solution = |args: &[&str]| {
            let all = ["--strategy", strategy, "--iterations", "500", "--walks", "1"];
            report(qap, &[&all, args].concat())["solution"].clone()
        };
        let first = solution(&["--threads", "1"]);
        assert_eq!(first, solution(&["--threads", "4"]), "{strategy}");
        assert_eq!(first, solution(&["--blocks", "3"]), "{strategy}");
    }
    let walks = |threads: &str| {
        let args = ["--iterations", "300", "--walks", "6", "--cooperate", "50", "--threads", threads];
        let found = report(&["qap", "--uniform", "20"], &args);
        (found["solution"].clone(), found["walks"].clone())
    };
    assert_eq!(walks("1"), walks("3"));
    let children = |threads: &str| {
        let args =
            ["--iterations", "900", "--recombine", "--walks", "6", "--restart", "60", "--threads", threads];
        let found = report(&["qap", "--uniform", "20"], &args);
        (found["solution"].clone(), found["walks"].clone())
    };
    let one = children("1");
    assert_eq!(one, children("3"));
    let moved =
        report(&["qap", "--uniform", "20"], &["--iterations", "900", "--walks", "6", "--restart", "60"]);
    assert_ne!(one, (moved["solution"].clone(), moved["walks"].clone()), "children were made");
}

fn assignments_recombine_unless_walks_are_chosen_or_they_are_large_without_structure() {
    // Places on a line, and flows between neighbours on a ring.
    let folder = Folder::new();
    let numbers = |number: &dyn Fn(i32, i32) -> i32| {
        let row = |i| (0..9).map(|j| number(i, j).to_string()).collect::<Vec<_>>().join(" ");
        (0..9).map(row).collect::<Vec<_>>().join("\n")
    };
    let (line, ring) = (
        numbers(&|i, j| (i - j).abs().pow(3)),
        numbers(&|i, j| i32::from((i + 1) % 9 == j || (j + 1) % 9 == i)),
    );
    let structured = folder.file("line.dat", &format!("9\n{line}\n{ring}\n"));
    let settings = |problem: &[&str], args: &[&str]| {
        let found = report(problem, &[&["--iterations", "2"], args].concat());
        (found["settings"]["recombine"].clone(), found["settings"]["restart"].clone())
    };
    let qap = ["qap", &*structured];
    assert_eq!(settings(&qap, &[]), (true.into(), 180.into()));
    assert_eq!(settings(&["qap", "--uniform", "30"], &[]), (true.into(), 600.into()));
    let uniform = report(&["qap", "--uniform", "60"], &["--iterations", "2"]);
    assert_eq!(uniform["settings"]["recombine"], false);
    assert_eq!(
        (&uniform["settings"]["restart"], integers(&uniform["settings"]["tenure"])),
        (&5000.into(), vec![4, 20])
    );
    assert_eq!(settings(&qap, &["--recombine", "--walks", "3"]), (true.into(), 180.into()));
    assert_eq!(settings(&qap, &["--restart", "70"]), (false.into(), 70.into()));
    assert_eq!(settings(&qap, &["--walks", "2"]), (false.into(), Value::Null));
    assert_eq!(settings(&["partition", "--numbers", "9"], &[]), (false.into(), 450.into()));
}

fn descents_end_where_no_neighbourhood_has_a_better_solution() {
    let ppp = |distance| ["ppp", "--m", "21", "--n", "19", "--distance", distance];
    let tsp = |step| ["tsp", "E1k.0", "--move", step];
    for improvement in ["best", "first"] {
        let args = ["--improvement", improvement, "--descents", "3", "--walks", "2", "--target", "-1"];
        let found = report(&ppp("3"), &[&args[..], &["--strategy", "vnd"]].concat());
        let descents = found["descents"].as_u64().unwrap();
        assert!(descents == 6 || found["stopped_by"] == "target", "{found}");
        assert_eq!(found["settings"]["improvement"], improvement);
        let found = report(&ppp("2"), &[&args[..], &["--strategy", "vns"]].concat());
        assert!(found["descents"].as_u64().unwrap() == 6 || found["stopped_by"] == "target", "{found}");
    }
    for step in ["swap", "rotate"] {
        let found =
            report(&tsp(step), &["--strategy", "vns", "--improvement", "first", "--iterations", "40"]);
        assert_eq!((&found["iterations"], &found["failure"]), (&40.into(), &Value::Null));
    }
}

fn the_host_chooses_as_the_device() {
    for problem in PROBLEMS {
        for strategy in ["tabu", "hill-climbing"] {
            let iterations = if problem[0] == "tsp" { "4" } else { "150" };
            let found = |selection: &str| {
                let args = ["--strategy", strategy, "--iterations", iterations, "--walks", "1"];
                let found = report(problem, &[&args[..], &["--selection", selection]].concat());
                (found["solution"].clone(), found["cost"].clone(), found["phases"].is_null())
            };
            let (device, host) = (found("device"), found("host"));
            assert_eq!((&device.0, &device.1), (&host.0, &host.1), "{problem:?} {strategy}");
            assert!(device.2 && !host.2);
            // Where the host makes them, too, tours have 500 million bytes of neighbours.
            if !["tsp", "weierstrass"].contains(&problem[0]) {
                let given = found("host-generates");
                assert_eq!((&device.0, &device.1), (&given.0, &given.1), "{problem:?} {strategy}");
                assert!(!given.2);
            }
        }
    }
}

fn a_target_stops_a_search() {
    let args = ["--target", "100000000000000", "--time", "1m", "--walks", "2"];
    let found = report(&["partition", "--numbers", "30"], &args);
    assert_eq!(found["stopped_by"], "target");
    let found = report(
        &["qap", "--uniform", "12"],
        &["--strategy", "hill-climbing", "--descents", "5", "--walks", "2"],
    );
    assert_eq!((&found["stopped_by"], &found["descents"]), (&"local-optimum".into(), &10.into()));
    search(&["qap", "--uniform", "12"], &["--time", "200ms"])
        .assert()
        .success()
        .stdout(contains("stopped by the time limit"));
}

fn a_published_optimum_is_found() {
    let Some(file) = published("nug12.dat") else { return };
    for strategy in ["tabu", "hill-climbing", "ils"] {
        let found = report(&["qap", &file], &["--strategy", strategy, "--iterations", "100000"]);
        assert_eq!((&found["cost"], &found["stopped_by"]), (&578.into(), &"target".into()), "{strategy}");
        assert_eq!(found["best_known"]["proven"], true);
    }
}

fn a_published_name_does_not_stop_a_search_of_other_matrices() {
    let folder = Folder::new();
    let odd = fs::read_to_string(folder.qap(12)).unwrap();
    let file = folder.file("nug12.dat", &odd);
    let found = report(&["qap", &file], &["--iterations", "100"]);
    assert_eq!((&found["instance"], &found["stopped_by"]), (&"nug12".into(), &"iterations".into()));
    for unknown in [&found["best_known"], &found["gap_percent"], &found["limits"]["target"]] {
        assert_eq!(*unknown, Value::Null);
    }
}

fn a_published_name_does_not_stop_a_search_of_other_places() {
    let folder = Folder::new();
    let Some(berlin52) = published("../tsplib/berlin52.tsp") else { return };
    let instance = antwarp::instance::Instance::open(&berlin52).unwrap();
    let scaled = |scale: f64| {
        let places = instance.points().unwrap().iter().zip(1..);
        let line = |(p, id): (&[f64; 3], u32)| format!("{id} {} {}\n", p[0] * scale, p[1] * scale);
        let lines: String = places.map(line).collect();
        let head =
            "NAME : berlin52\nTYPE : TSP\nDIMENSION : 52\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n";
        folder.file("berlin52.tsp", &format!("{head}{lines}EOF\n"))
    };
    let found = report(&["tsp", &scaled(1.0)], &["--iterations", "10"]);
    assert_eq!((&found["best_known"]["cost"], &found["limits"]["target"]), (&7542.into(), &7542.into()));
    let found = report(&["tsp", &scaled(0.5)], &["--iterations", "10"]);
    assert_eq!((&found["instance"], &found["stopped_by"]), (&"berlin52".into(), &"iterations".into()));
    for unknown in [&found["best_known"], &found["gap_percent"], &found["limits"]["target"]] {
        assert_eq!(*unknown, Value::Null);
    }
}

fn solutions_are_files_that_read_back() {
    let folder = Folder::new();
    let [solution, tour, json] = ["a.sln", "a.tour", "a.json"].map(|name| folder.path(name));
    let file = folder.qap(10);
    let outputs = ["--iterations", "50", "--solution", &solution, "--json", &json];
    search(&["qap", &file], &outputs).assert().success().stdout(contains("cost")).stderr("");
    let found: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let (stated, places) = qaplib::read_solution(Path::new(&solution), 10).unwrap();
    assert_eq!(Some(stated), found["cost"].as_i64());
    assert_eq!(Qap::open(Path::new(&file)).unwrap().cost(&places), Some(stated));

    let outputs = ["--iterations", "2", "--walks", "1", "--solution", &tour, "--json", &json];
    search(&["tsp", "E1k.0", "--move", "swap"], &outputs).assert().success();
    let found: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let output = antwarp(&["check", "E1k.0", &tour, "--json", "-"]).assert().success().get_output().clone();
    let checked: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&checked["valid"], &checked["cost"]), (&true.into(), &found["cost"]));
}

fn wrong_usage_is_status_2() {
    let folder = Folder::new();
    let (file, qap) = (folder.qap(8), ["qap", "--uniform", "8"]);
    let wrong: &[(&[&str], &str)] = &[
        (&["--walks", "0"], "--walks"),
        (&["--iterations", "0"], "--iterations"),
        (&["--target", "nan"], "give a number"),
        (&["--target", "inf"], "give a number"),
        (&["--tenure", "5"], "two values"),
        (&["--tenure", "5,3"], "--tenure"),
        (&["--temperatures", "1,2"], "temperatures"),
        (&["--cooperate", "0"], "--cooperate"),
        (&["--recombine", "--cooperate", "5"], "--cooperate"),
        (&["--recombine", "--walks", "1"], "several walks"),
        (&["--recombine", "--strategy", "ils"], "tabu"),
        (&["--recombine", "--selection", "host"], "a single walk"),
        (&["--block-threads", "33"], "multiple of 32"),
        (&["--blocks", "40000", "--walks", "1"], "at most 1024"),
        (&["--strategy", "magic"], "hill-climbing"),
        (&["--selection", "host", "--walks", "2"], "a single walk"),
        (&["--selection", "host", "--strategy", "ils"], "a single walk"),
        (&["--selection", "host", "--strategy", "hill-climbing", "--improvement", "first"], "a single walk"),
        (&["--improvement", "first"], "hill-climbing"),
        (&["--tenure", "5,7,9"], "two values"),
        (&["--tenure", "0,16777217"], "--tenure must be two numbers, each 0 to 16777216"),
        (&["--tenure", "5,7", "--strategy", "ils"], "--tenure applies only with --strategy tabu"),
        (
            &["--kicks", "5", "--strategy", "annealing"],
            "--kicks applies only with --strategy tabu, ils or vns",
        ),
        (&["--strategy", "vns", "--kicks", "0"], "at least 1"),
        (&["--strategy", "vnd"], "several neighbourhoods"),
        (&["--json", "-", "--solution", "-"], "two outputs"),
    ];
    for (args, word) in wrong {
        search(&qap, &["--time", "1s"]).args(*args).assert().code(2).stdout("").stderr(contains(*word));
    }
    let problems: &[(&[&str], &str)] = &[
        (&["weierstrass", "--selection", "host-generates", "--walks", "1"], "a random point"),
        (&["qap"], "FILE"),
        (&["qap", "--uniform", "1"], "size 1"),
        (&["partition", "--numbers", "9", "--walks", "2", "--recombine"], "quadratic assignment"),
        (&["ppp", "--m", "5", "--n", "2", "--distance", "3"], "no neighbours"),
        (&["weierstrass", "--b", "0.5"], "--b"),
        (&["weierstrass", "--terms", "200"], "--terms"),
        (&["max-cut", "--nodes", "6"], "degree 6"),
        (&["partition", "--numbers", "0"], "no numbers"),
        (&["partition", "--numbers", "9", "--sets", "1"], "--sets"),
        (&["qap", &file, "--solution", &file], "is the instance"),
    ];
    for (problem, word) in problems {
        search(problem, &["--iterations", "1"]).assert().code(2).stdout("").stderr(contains(*word));
    }
}

fn bad_files_are_status_3_with_their_line() {
    let folder = Folder::new();
    let numbers = folder.file("bad.txt", "1 2\n3 x 4\n");
    let matrix = folder.file("short.dat", "3\n0 1 2 1 0 3\n");
    let missing = folder.path("missing.dat");
    let tour = folder.file("text.tsp", "Dear reader,\nthis is a letter.\n");
    // More than anything of their size can be.
    let blanks = " ".repeat(2 << 20);
    let [long_qap, long_graph] = [("long.dat", "2\n"), ("long.graph", "3 2\n")]
        .map(|(name, begin)| folder.file(name, &format!("{begin}{blanks}")));
    let wrong: [(&[&str], &str); 6] = [
        (&["qap", &long_qap], "the maximum for size 2"),
        (&["max-cut", &long_graph], "the maximum for a graph of 2 edges"),
        (&["partition", &numbers], "bad.txt:2:3"),
        (&["qap", &matrix], "short.dat:2:"),
        (&["qap", &missing], "missing.dat"),
        (&["tsp", &tour], "text.tsp"),
    ];
    for (problem, place) in wrong {
        let told = contains(place).and(contains("help: ")).and(contains("panicked").not());
        search(problem, &["--iterations", "1"]).assert().code(3).stdout("").stderr(told);
    }
}

fn outputs_that_cannot_be_written_are_status_5() {
    let folder = Folder::new();
    for option in ["--solution", "--json"] {
        let args = ["--time", "1h", option, "/no/such/folder/a"];
        let mut run = search(&["qap", "--uniform", "8"], &args);
        run.assert().code(5).stdout("").stderr(contains("/no/such/folder/a"));
    }
    if cfg!(target_os = "linux") {
        let args = ["--iterations", "5", "--solution", "/dev/full", "--quiet"];
        let output = search(&["qap", "--uniform", "8"], &args)
            .assert()
            .code(5)
            .stderr(contains("standard output instead"))
            .get_output()
            .clone();
        let rescued = folder.file("rescued.sln", &String::from_utf8(output.stdout).unwrap());
        let (stated, places) = qaplib::read_solution(Path::new(&rescued), 8).unwrap();
        assert_eq!(Qap::uniform(8, 1).unwrap().cost(&places), Some(stated));
    }
}

#[cfg(unix)]
fn an_interrupt_keeps_the_best_solution() {
    let folder = Folder::new();
    for selection in ["device", "host"] {
        let json = folder.path("a.json");
        let args = ["search", "qap", "--uniform", "20", "--backend", "cpu", "--time", "5m", "--walks", "1"];
        let selection = ["--selection", selection, "--json", &json];
        interrupted(&[&args[..], &selection[..]].concat(), Duration::from_secs(1));
        let found: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
        assert_eq!(found["stopped_by"], "interrupt");
        let places: Vec<u32> = integers(&found["solution"]).iter().map(|&p| p as u32).collect();
        assert_eq!(Qap::uniform(20, 1).unwrap().cost(&places), found["cost"].as_i64());
        fs::remove_file(json).unwrap();
    }
}

/// Of searches whose single iterations take far longer.
const LONG: [&[&str]; 5] = [
    &["tsp", "E1k.0", "--move", "rotate", "--walks", "1"],
    &["tsp", "E1k.0", "--move", "rotate", "--walks", "1", "--selection", "host"],
    &["qap", "--uniform", "2000"],
    // What is noted about a first solution takes longer than all.
    &["qap", "--uniform", "2000", "--changes", "stored", "--walks", "1"],
    &["tsp", "E3k.0", "--walks", "2000"],
];

fn an_iteration_is_cut_short_when_the_time_is_up() {
    for problem in LONG {
        // On a busy machine the first solution may take longer than the first of these times.
        let found = (0..6).find_map(|doubled| {
            let (begin, time) = (Instant::now(), Duration::from_millis(500 << doubled));
            let args = ["--json", "-", "--quiet", "--time", &format!("{}ms", time.as_millis())];
            let output = search(problem, &args).output().unwrap();
            let late = begin.elapsed().saturating_sub(time);
            assert!(late < Duration::from_secs(20), "{problem:?}: {late:?} after {time:?}");
            let told = String::from_utf8_lossy(&output.stderr);
            if output.status.code() == Some(2) && told.contains("before there was a solution") {
                return None;
            }
            assert!(output.status.success() && told.is_empty(), "{problem:?}: {told}");
            Some(serde_json::from_slice::<Value>(&output.stdout).unwrap())
        });
        let found = found.unwrap_or_else(|| panic!("{problem:?}: no solution in 16 s"));
        assert_eq!(found["stopped_by"], "time", "{problem:?}");
        // Of many walks the best one may have made an iteration.
        assert!(found["iterations"].as_u64().unwrap() <= 1, "{problem:?}");
        assert!(found["cost"].as_i64().unwrap() > 0, "{problem:?}");
    }
}

fn a_climb_of_several_threads_is_cut_short() {
    let problem = ["qap", "--uniform", "400", "--strategy", "hill-climbing", "--walks", "1"];
    let begin = Instant::now();
    let found = report(&problem, &["--blocks", "2", "--threads", "2", "--time", "500ms"]);
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    assert_eq!(found["stopped_by"], "time");
}

/// One that could not be started on the way would leave the others waiting for it.
#[cfg(target_os = "linux")]
fn threads_of_a_walk_are_started_before_the_search() {
    let args = ["search", "qap", "--uniform", "60", "--walks", "1", "--blocks", "3", "--threads", "3"];
    let mut search = std::process::Command::new(env!("CARGO_BIN_EXE_antwarp"))
        .args(args)
        .args(["--backend", "cpu", "--time", "2s", "--quiet"])
        .env("ANTWARP_TUNING", "none")
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut seen = std::collections::BTreeSet::new();
    while search.try_wait().unwrap().is_none() {
        let tasks = fs::read_dir(format!("/proc/{}/task", search.id())).into_iter().flatten();
        seen.extend(tasks.flatten().map(|task| task.file_name()));
        std::thread::sleep(Duration::from_millis(1));
    }
    // The pool's three, the first one, that of the command, whose stack is large, that of the search, and one that waits for signals.
    assert!(seen.len() <= 7, "{} threads were started", seen.len());
}

#[cfg(unix)]
fn an_interrupt_cuts_an_iteration_short() {
    let folder = Folder::new();
    let json = folder.path("a.json");
    let rest = ["--backend", "cpu", "--time", "5m", "--json", &json];
    let (_, took) = interrupted(&[&["search"], LONG[0], &rest].concat(), Duration::from_millis(500));
    assert!(took < Duration::from_secs(20), "{took:?}");
    let found: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!(found["stopped_by"], "interrupt");
}

fn an_iteration_that_was_cut_short_is_not_made() {
    for more in [&["--walks", "1"][..], &["--walks", "1", "--selection", "host"], &["--walks", "5"]] {
        let problem = ["tsp", "E1k.0"];
        let cut = report(&problem, &[&["--time", "1s"], more].concat());
        assert_eq!(cut["stopped_by"], "time");
        let iterations = cut["iterations"].as_u64().unwrap();
        assert!(iterations > 0);
        let whole = report(&problem, &[&["--iterations", &iterations.to_string()], more].concat());
        // The walk with the best solution finds it again. Another walk may find a better one now: `iterations` are those of the best
        // walk where that was ahead, and the others then had made fewer.
        let costs = integers(&whole["walks"]);
        assert!(costs.contains(&cut["cost"].as_i64().unwrap()), "{more:?}: {} of {costs:?}", cut["cost"]);
    }
}

fn what_was_tried_out_is_kept_and_used() {
    let folder = Folder::new();
    let file = folder.path("deeper/tuning.json");
    let layout = |extra: &[&str]| {
        let args = ["--iterations", "4000", "--walks", "1", "--threads", "4", "--json", "-", "--quiet"];
        let output = search(&["qap", "--uniform", "30"], &args)
            .args(extra)
            .env("ANTWARP_TUNING", &file)
            .assert()
            .success()
            .stderr("")
            .get_output()
            .clone();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        found["layout"].as_str().unwrap().to_owned()
    };
    assert!(!layout(&[]).contains("(0 trials)"));
    let kept = fs::read_to_string(&file).unwrap();
    assert!(kept.contains("qap_stored"), "{kept}");
    assert!(layout(&[]).contains("(0 trials)"));
    assert!(!layout(&["--retune"]).contains("(0 trials)"));
    fs::write(&file, &kept.as_bytes()[..kept.len() / 2]).unwrap();
    assert!(!layout(&[]).contains("(0 trials)"));
    assert!(serde_json::from_slice::<Value>(&fs::read(&file).unwrap()).is_ok());
}

fn bench_search_prints_a_line_an_instance_and_way() {
    let folder = Folder::new();
    let (table, file) = (folder.path("rows.csv"), folder.qap(12));
    let ways = ["--backend", "cpu", "--ways", "host,threads,thread", "--seeds", "2", "--csv"];
    let first = antwarp(&["bench", "search", "qap", "--instances", &file, "--iterations", "200"])
        .args(ways)
        .arg(&table)
        .assert()
        .success()
        .stdout(contains("x thread").and(contains("1.00")).and(contains("reckoned").not()))
        .stdout(contains("problem qap").and(contains("strategy tabu")).and(contains("walks 1")))
        .get_output()
        .clone();
    let mut reader = csv::Reader::from_path(&table).unwrap();
    let head = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let column = |name: &str| head.iter().position(|own| own == name).unwrap();
    let of = |row: &csv::StringRecord, name: &str| row[column(name)].to_owned();
    assert_eq!(rows.len(), 3 * 2);
    for (i, row) in rows.iter().enumerate() {
        let settings: Value = serde_json::from_str(&of(row, "settings")).unwrap();
        assert_eq!(settings["way"], ["thread", "host", "threads"][i / 2]);
        assert_eq!([of(row, "instance"), of(row, "n"), of(row, "neighbors")], ["odd", "12", "66"]);
        assert_eq!([of(row, "iterations"), of(row, "reckoned")], ["200", ""]);
        assert_eq!(of(row, "result"), of(&rows[i % 2], "result"), "all ways make the same moves");
        assert_eq!(of(row, "host_seconds").is_empty(), settings["way"] != "host");
    }
    // The table again, of the rows alone.
    let again = antwarp(&["bench", "table", &table]).assert().success().get_output().clone();
    assert_eq!(again.stdout, first.stdout);
    // More than can be done in time.
    antwarp(&["bench", "search", "weierstrass", "--instances", "4", "--time", "200ms", "--ways", "thread"])
        .assert()
        .success()
        .stdout(contains("reckoned"));
    antwarp(&["bench", "search", "ppp", "--instances", "21-23", "--backend", "cpu", "--ways", "thread,host"])
        .args(["--", "--strategy", "hill-climbing", "--descents", "3"])
        .assert()
        .success()
        .stdout(contains("ppp-21-23-s1"));
    antwarp(&["bench", "search", "ppp", "--instances", "21-23", "--ways", "threads", "--vary", "walks=1,4"])
        .args(["--iterations", "50", "--time", "1m"])
        .assert()
        .success()
        .stdout(contains("walks"));
    let wrong: &[(&[&str], i32, &str)] = &[
        (&["qap", "--instances", &file, "--csv", &file], 2, "is the instance"),
        (&["qap", "--instances", &file, "--ways", "untuned", "--backend", "cpu"], 2, "for a GPU"),
        (&["qap", "--instances", &file, "--ways", "host", "--", "--walks", "2"], 2, "a single walk"),
        (&["qap", "--instances", &file, "--", "--descents", "2"], 2, "hill-climbing"),
        (&["qap", "--instances", &file, "--", "--selection", "host"], 2, "does not apply to this suite"),
        (&["qap", "--instances", &file, "--", "--seed", "2"], 2, "--seeds"),
        (&["ppp", "--instances", "21"], 2, "101-117"),
        (&["weierstrass", "--instances", "0"], 2, "4096"),
        (&["qap"], 2, "--instances"),
    ];
    for (args, status, word) in wrong {
        antwarp(&["bench", "search"]).args(*args).assert().code(*status).stdout("").stderr(contains(*word));
    }
}

fn costs_beyond_53_bits_are_exact() {
    let folder = Folder::new();
    let numbers = [536_870_001_i128, 268_435_001, 134_217_001, 3, 5, 7];
    let file = folder.file("large.txt", &numbers.map(|number| number.to_string()).join(" "));
    let problem = ["partition", file.as_str()];
    let found = report(&problem, &["--iterations", "50"]);
    let mut sums = [0; 2];
    for (set, number) in integers(&found["solution"]).into_iter().zip(numbers) {
        sums[set as usize] += number;
    }
    let cost = sums.map(|sum| sum * sum).iter().sum::<i128>();
    assert_eq!(found["cost"].as_i64().map(i128::from), Some(cost));
    // The least of all: as a 64-bit real number it would be 288 at its end.
    assert_eq!(cost, 450_358_044_767_908_290);
    search(&problem, &["--iterations", "50"]).assert().success().stdout(contains(cost.to_string()));
    for (target, why) in [(cost - 1, "iterations"), (cost, "target")] {
        let found = report(&problem, &["--iterations", "50", "--target", &target.to_string()]);
        assert_eq!((found["cost"].as_i64().map(i128::from), &found["stopped_by"]), (Some(cost), &why.into()));
        assert_eq!(found["limits"]["target"].as_i64().map(i128::from), Some(target));
    }
}

fn a_qap_solution_names_the_exact_cost_of_its_permutation() {
    let (folder, n) = (Folder::new(), 5_usize);
    let entry = |i: usize, j: usize, salt: usize| (1 << 27) + ((i * 7 + j * 3 + salt) % 11 * 2 + 1) as i128;
    let matrix = |salt: usize| -> Vec<i128> { (0..n * n).map(|at| entry(at / n, at % n, salt)).collect() };
    let (a, b) = (matrix(1), matrix(6));
    let text = |matrix: &[i128]| matrix.iter().map(i128::to_string).collect::<Vec<_>>().join(" ");
    let file = folder.file("large.dat", &format!("{n}\n{}\n{}\n", text(&a), text(&b)));
    let written = folder.path("large.sln");
    let found = report(&["qap", &file], &["--iterations", "50", "--solution", &written]);
    let solution = fs::read_to_string(&written).unwrap();
    let words: Vec<i128> = solution.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let place = |i: usize| words[2 + i] as usize - 1;
    let all = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    let cost = all.map(|(i, j)| a[i * n + j] * b[place(i) * n + place(j)]).sum::<i128>();
    assert!(cost > 1 << 53 && cost as f64 as i128 != cost, "{cost} shows nothing");
    assert_eq!(words[..2], [n as i128, cost]);
    assert_eq!(found["cost"].as_i64().map(i128::from), Some(cost));
}

fn a_search_is_over_in_time_whatever_a_neighbour_costs() {
    let begin = Instant::now();
    let problem = ["weierstrass", "--dim", "4096", "--terms", "1000", "--b", "1.05"];
    let found = report(&problem, &["--time", "500ms", "--walks", "1"]);
    assert_eq!((&found["stopped_by"], &found["iterations"]), (&"time".into(), &0.into()));
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
}

fn a_search_that_has_no_solution_in_time_says_so() {
    let begin = Instant::now();
    let problem = ["max-cut", "--nodes", "4000000", "--degree", "20"];
    search(&problem, &["--time", "1ms"])
        .assert()
        .code(2)
        .stdout("")
        .stderr(contains("the time was up before there was a solution"));
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
}

#[cfg(unix)]
fn an_interrupt_ends_a_search_that_has_no_solution() {
    let args = ["search", "qap", "--uniform", "16384", "--backend", "cpu", "--time", "1h"];
    let (output, took) = interrupted(&args, Duration::from_millis(100));
    assert!(String::from_utf8_lossy(&output.stderr).contains("interrupted before there was a solution"));
    assert!(took < Duration::from_secs(20), "{took:?}");
}

#[cfg(target_os = "linux")]
fn a_graph_that_does_not_fit_the_memory_is_refused() {
    let program = env!("CARGO_BIN_EXE_antwarp");
    let line = format!(
        "ulimit -v 1500000; exec {program} search max-cut --nodes 4000000 --degree 20 --backend cpu --time 1m"
    );
    Command::new("sh")
        .args(["-c", &line])
        .timeout(Duration::from_secs(120))
        .assert()
        .code(2)
        .stderr(contains("no room").and(contains("main memory are needed")));
}
