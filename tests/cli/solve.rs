//! Runs of `solve`: their tours, limits and files.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use crate::world::{Folder, antwarp, checked, json, lin_kernighan, published, search, solve};

tests! {
    a_published_name_does_not_stop_a_run_on_other_nodes,
    a_published_optimum_stops_a_run,
    a_seed_gives_one_tour_whatever_the_threads,
    every_file_tells_the_same,
    many_nodes_keep_their_numbers,
    json_on_the_standard_output_stands_alone,
    the_capitals_have_a_tour_and_a_picture,
    all_variants_give_valid_tours,
    an_algorithm_of_a_user_runs_by_the_same_loop,
    a_published_instance_has_a_gap,
    an_asymmetric_instance_is_solved_to_its_optimum,
    an_instance_that_is_generated_has_a_name,
    a_target_stops_the_run,
    a_run_without_a_limit_ends_by_itself,
    tiny_instances_need_no_search,
    iterations_go_by_the_number_of_nodes,
    small_odd_instances_have_tours,
}

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
        run.stdout(contains("published optimum").not());
        let found = json(&report);
        assert_eq!(found["stopped_by"], "iterations", "{file}");
        assert!(found["iterations"].as_u64() >= Some(20), "{file}");
        assert!(found["cost"].as_i64() < Some(426), "{file}");
        for unknown in [&found["best_known"], &found["gap_percent"], &found["limits"]["target"]] {
            assert_eq!(*unknown, Value::Null, "{file}");
        }
    }
}

fn a_published_optimum_stops_a_run() {
    let folder = Folder::new(5);
    let report = folder.path("report.json");
    for (name, optimum) in [("eil51.tsp", 426), ("berlin52.tsp", 7542), ("br17.atsp", 39)] {
        let Some(file) = published(name) else { return };
        solve(&[&file, "--time", "60s", "--json", &report]).assert().success();
        let found = json(&report);
        assert_eq!(
            (&found["cost"], &found["stopped_by"]),
            (&optimum.into(), &"published-optimum".into()),
            "{name}"
        );
        assert_eq!((&found["best_known"]["proven"], &found["gap_percent"]), (&true.into(), &0.0.into()));
    }
}

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

fn every_file_tells_the_same() {
    let folder = Folder::new(60);
    let [tour, report, picture] = ["a.tour", "a.json", "a.svg"].map(|name| folder.path(name));
    let files = ["--tour", &tour, "--json", &report, "--svg", &picture];
    solve(&[&folder.instance, "--algorithm", "mmas", "--iterations", "30", "--verbose"])
        .args(files)
        .assert()
        .success()
        .stdout(contains("cost").and(contains("30")).and(contains(&tour)).and(contains("MMAS-Wrs-Bitmask")))
        .stderr(contains("read 60 places from").and(contains("warning").not()));
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

fn an_algorithm_of_a_user_runs_by_the_same_loop() {
    let example = Path::new(env!("CARGO_BIN_EXE_antwarp")).with_file_name("examples/algorithm");
    let run = std::process::Command::new(&example)
        .output()
        .unwrap_or_else(|e| panic!("{}: {e}; `cargo build --examples` makes it", example.display()));
    let said = String::from_utf8(run.stdout).unwrap();
    assert!(run.status.success(), "{said}");
    let lengths: Vec<i64> = said.split(' ').filter_map(|word| word.parse().ok()).collect();
    assert!(lengths.len() >= 2 && lengths[1] < lengths[0] / 4, "{said}");
}

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

fn a_published_instance_has_a_gap() {
    let Some(instance) = published("eil51.tsp") else { return };
    solve(&[&instance, "--iterations", "20"])
        .assert()
        .success()
        .stdout(contains("% above the published optimum, 426\n"));
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

fn an_asymmetric_instance_is_solved_to_its_optimum() {
    let Some(instance) = published("br17.atsp") else { return };
    let folder = Folder::new(5);
    let tour = folder.path("br17.tour");
    solve(&[&instance, "--time", "20s", "--tour", &tour])
        .assert()
        .success()
        .stdout(contains("stopped at the published optimum"));
    assert_eq!(checked(&instance, &tour), 39);
}

fn an_instance_that_is_generated_has_a_name() {
    let folder = Folder::new(5);
    let tour = folder.path("e.tour");
    solve(&["E1k.0", "--algorithm", "mmas", "--iterations", "1", "--ants", "8", "--tour", &tour])
        .assert()
        .success()
        .stdout(contains("% above the best published length, 23360648"));
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

fn a_run_without_a_limit_ends_by_itself() {
    let folder = Folder::new(100);
    let report = folder.path("report.json");
    lin_kernighan(&[&folder.instance, "--json", &report]).assert().success();
    // A bound may prove the tour before restarts have found it five times.
    let stopped_by = json(&report)["stopped_by"].clone();
    assert!(stopped_by == "settled" || stopped_by == "optimal", "{stopped_by}");
}

fn a_target_stops_the_run() {
    // Too many nodes for a bound to prove a tour optimal.
    let folder = Folder::new(300);
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
    assert!(start.elapsed() < Duration::from_secs(20));
}

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

/// From the whole search of a few nodes on.
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
