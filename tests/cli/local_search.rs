//! `solve` by chained Lin-Kernighan and by iterated local search.

use std::fs;
use std::time::{Duration, Instant};

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use crate::world::{Folder, bench, checked, json, lin_kernighan, published, search, solve};

tests! {
    local_search_finds_an_optimum,
    local_search_does_not_depend_on_threads,
    chained_lin_kernighan_does_not_depend_on_threads,
    every_setting_of_chained_lin_kernighan_gives_a_valid_tour,
    several_tours_are_crossed_at_the_end_of_a_run_by_the_clock,
    small_instances_restart_and_keep_the_best_tour,
    published_instances_are_solved_to_the_optimum,
    every_setting_of_local_search_gives_a_valid_tour,
    a_tour_from_a_file_is_continued,
    an_initial_tour_that_is_none_is_status_3,
    directed_edges_are_refused_with_advice,
    published_matrices_and_globes_are_searched,
    local_search_stops_when_it_should,
    a_descent_ends_at_a_local_optimum,
    kicks_by_best_improvement_give_one_tour_whatever_the_threads,
}

fn local_search_finds_an_optimum() {
    for (file, optimum) in [("eil51.tsp", 426), ("berlin52.tsp", 7542)] {
        let Some(instance) = published(file) else { return };
        let folder = Folder::new(5);
        let [tour, report] = ["a.tour", "a.json"].map(|name| folder.path(name));
        search(&[&instance, "--iterations", "20n", "--tour", &tour, "--json", &report])
            .assert()
            .success()
            .stdout(
                contains("optimal: as short as the published optimum")
                    .and(contains("stopped at the published optimum")),
            );
        assert_eq!(checked(&instance, &tour), optimum);
        let report = json(&report);
        assert!(report["best_iteration"].as_u64() <= report["iterations"].as_u64());
    }
}

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
    // Three threads make the rounds of three tours apart, and share those of two.
    for layout in [&["--chains", "3"][..], &["--chains", "2", "--trials", "50"], &[]] {
        let first = tour(layout, "a.tour", "1", "5");
        assert_eq!(first, tour(layout, "b.tour", "3", "5"));
        assert_ne!(first, tour(layout, "c.tour", "3", "6"));
    }
}

fn every_setting_of_chained_lin_kernighan_gives_a_valid_tour() {
    let folder = Folder::new(120);
    let [tour, report] = ["a.tour", "a.json"].map(|name| folder.path(name));
    let settings: &[(&str, &[&str])] = &[
        ("--first-tour", &["nearest-neighbor", "greedy", "quick-boruvka", "space-filling", "random"]),
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
            let setting = if *option == "--first-tour" { "start" } else { &option[2..] };
            let setting = &report["settings"][setting.replace('-', "_")];
            assert_eq!(setting.to_string().trim_matches('"').trim_end_matches(".0"), *value, "{option}");
        }
    }
    for wrong in
        [["--walk", "0"], ["--walk", "1001"], ["--chains", "0"], ["--trials", "0"], ["--neighbors", "0"]]
    {
        lin_kernighan(&[&folder.instance]).args(wrong).assert().code(2).stderr(contains(wrong[0]));
    }
}

fn several_tours_are_crossed_at_the_end_of_a_run_by_the_clock() {
    let folder = Folder::new(500);
    let [tour, report] = ["a.tour", "a.json"].map(|name| folder.path(name));
    let by_the_clock = ["--time", "2s", "--threads", "1", "--verbose"];
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

fn small_instances_restart_and_keep_the_best_tour() {
    let folder = Folder::new(60);
    let [tour, report] = ["a.tour", "a.json"].map(|name| folder.path(name));
    let run = lin_kernighan(&[&folder.instance])
        .args(["--time", "4s", "--threads", "1", "--prove=never", "-v", "--tour", &tour, "--json", &report])
        .assert()
        .success();
    run.stdout(contains("crossed, restarted"));
    let report = json(&report);
    assert_eq!(report["cost"].as_i64(), Some(folder.checked(&tour)));
    let trace = report["trace"].as_array().unwrap();
    assert_eq!(trace.last().unwrap()["cost"], report["cost"]);
}

fn published_instances_are_solved_to_the_optimum() {
    for file in
        ["eil51.tsp", "berlin52.tsp", "ulysses22.tsp", "att48.tsp", "gr120.tsp", "brg180.tsp", "kroA100.tsp"]
    {
        let Some(instance) = published(file) else { return };
        lin_kernighan(&[&instance, "--iterations", "20000"])
            .assert()
            .success()
            .stdout(contains("optimal: as short as the published optimum"));
    }
}

fn every_setting_of_local_search_gives_a_valid_tour() {
    let folder = Folder::new(120);
    let [tour, report] = ["a.tour", "a.json"].map(|name| folder.path(name));
    let settings: &[(&str, &[&str])] = &[
        ("--local-search", &["two-opt", "or-opt", "or-2opt", "three-opt"]),
        ("--first-tour", &["nearest-neighbor", "greedy", "quick-boruvka", "space-filling", "random"]),
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
            let setting = if *option == "--first-tour" { "start" } else { &option[2..] };
            let setting = &report["settings"][setting.replace('-', "_")];
            assert_eq!(setting.to_string().trim_matches('"').trim_end_matches(".0"), *value, "{option}");
        }
    }
    let report = json(&report);
    assert_eq!(report["algorithm"], "ils");
    assert_eq!(report["settings"]["chains"], Value::Null, "what is left to the algorithm");
    assert!(report["iterations"].as_u64() >= Some(120));
}

fn a_tour_from_a_file_is_continued() {
    let folder = Folder::new(200);
    let [first, second, third] = ["a.tour", "b.tour", "c.tour"].map(|name| folder.path(name));
    search(&[&folder.instance, "--iterations", "1", "--first-tour", "random", "--tour", &first])
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

fn directed_edges_are_refused_with_advice() {
    let folder = Folder::new(5);
    let directed = folder.file("directed.csv", b"0 1 2\n3 0 4\n5 6 0\n");
    search(&[&directed]).assert().code(3).stdout("").stderr(contains("--algorithm lk, mmas"));
    bench("ils", &directed, &[]).assert().code(3).stdout("").stderr(contains("symmetric"));
}

fn published_matrices_and_globes_are_searched() {
    for file in ["pa561.tsp", "gr96.tsp", "att48.tsp", "brg180.tsp"] {
        let Some(instance) = published(file) else { return };
        let folder = Folder::new(5);
        let tour = folder.path("a.tour");
        search(&[&instance, "--iterations", "1n", "--tour", &tour]).assert().success();
        assert!(checked(&instance, &tour) > 0);
    }
}

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
    assert!(seconds < 10.0 && start.elapsed() < Duration::from_secs(20), "{seconds} s");
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

fn a_descent_ends_at_a_local_optimum() {
    let folder = Folder::new(300);
    let start = ["--descent-only", "--first-tour", "space-filling"];
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

fn kicks_by_best_improvement_give_one_tour_whatever_the_threads() {
    let folder = Folder::new(200);
    let run = |more: &[&str]| ils(&folder, &[&["--improvement", "best"], more].concat());
    let descent = run(&["--descent-only"])["cost"].as_i64().unwrap();
    let [few, many] = ["1", "3"].map(|threads| run(&["--iterations", "200", "--threads", threads]));
    assert_eq!(few["tour"], many["tour"]);
    assert_eq!((&few["iterations"], &few["stopped_by"]), (&200.into(), &"iterations".into()));
    assert!(few["cost"].as_i64().unwrap() < descent);
}
