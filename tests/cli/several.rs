//! Several instances, and several runs of one, in one command. On the CPU.

use std::fs;
use std::time::Duration;

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use crate::common::interrupted;
use crate::world::{Folder, antwarp, checked, solve};

tests! {
    several_instances_have_a_line_and_a_file_each,
    a_wrong_instance_does_not_keep_others_from_being_solved,
    runs_have_seeds_that_follow_each_other_and_the_best_tour_is_written,
    jobs_find_the_same,
    what_is_for_one_run_is_refused,
    an_interrupt_reports_what_was_not_started,
}

/// A folder with three instances, `a.tsp` to `c.tsp`.
fn three() -> (Folder, [String; 3]) {
    let folder = Folder::new(9);
    let files = ["a", "b", "c"].map(|name| {
        let file = folder.path(&format!("{name}.tsp"));
        let seed = (name.as_bytes()[0]).to_string();
        antwarp(&["generate", "uniform", "-n", "40", "--seed", &seed, "-o", &file]).assert().success();
        file
    });
    (folder, files)
}

fn lines(path: &str) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn several_instances_have_a_line_and_a_file_each() {
    let (folder, [a, b, c]) = three();
    let (json, tours) = (folder.path("all.json"), folder.path("tours"));
    fs::create_dir(&tours).unwrap();
    let places = ["--tour", &tours, "--csv", &tours, "--svg", &tours, "--json", &json];
    let run = solve(&[&[a.as_str(), &b, &c, "--iterations", "20"], &places[..]].concat()).assert().success();
    let shown = String::from_utf8(run.get_output().stdout.clone()).unwrap();
    assert_eq!(shown.lines().count(), 3, "{shown}");
    for (line, (report, file)) in shown.lines().zip(lines(&json).iter().zip([&a, &b, &c])) {
        assert_eq!(report["instance"]["path"], **file);
        let cost = report["cost"].as_i64().unwrap();
        assert!(line.starts_with(&format!("{file}: 40 nodes, cost {cost}, ")), "{line}");
        let name = file.strip_suffix(".tsp").unwrap().rsplit('/').next().unwrap();
        assert_eq!(checked(file, &format!("{tours}/{name}.tour")), cost);
        assert!(fs::read_to_string(format!("{tours}/{name}.svg")).unwrap().contains("<svg"));
        assert_eq!(fs::read_to_string(format!("{tours}/{name}.csv")).unwrap().lines().count(), 42);
    }
    let quiet = solve(&[&a, &b, "--iterations", "5", "-q", "--json", "-"]).assert().success();
    let output = quiet.stderr("").get_output().stdout.clone();
    assert_eq!(String::from_utf8(output).unwrap().lines().count(), 2);
}

fn a_wrong_instance_does_not_keep_others_from_being_solved() {
    let (folder, [a, b, _]) = three();
    let wrong = folder.file("wrong.tsp", b"nonsense");
    let json = folder.path("all.json");
    for jobs in ["1", "2"] {
        let args = [
            &a,
            &wrong,
            &folder.path("missing.tsp"),
            &b,
            "--iterations",
            "5",
            "--json",
            &json,
            "--jobs",
            jobs,
        ];
        let run = solve(&args.map(|arg| arg as &str)).assert().code(3);
        run.stderr(contains("wrong.tsp").and(contains("missing.tsp")));
        assert_eq!(lines(&json).len(), 2);
    }
}

fn runs_have_seeds_that_follow_each_other_and_the_best_tour_is_written() {
    let (folder, [a, b, _]) = three();
    let (json, tour) = (folder.path("runs.json"), folder.path("best.tour"));
    let args = [
        &a,
        "--runs",
        "4",
        "--seed",
        "7",
        "--descent-only",
        "--algorithm",
        "ils",
        "--json",
        &json,
        "--tour",
        &tour,
    ];
    let run = solve(&args.map(|arg| arg as &str)).assert().success();
    run.stdout(contains("4 runs, mean "));
    let all = lines(&json);
    let (statistics, runs) = all.split_last().unwrap();
    let costs: Vec<f64> = runs.iter().map(|run| run["cost"].as_f64().unwrap()).collect();
    let seeds: Vec<u64> = runs.iter().map(|run| run["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds, [7, 8, 9, 10]);
    let (best, worst) =
        (costs.iter().copied().fold(f64::MAX, f64::min), costs.iter().copied().fold(0.0, f64::max));
    let mean = costs.iter().sum::<f64>() / 4.0;
    let deviation = (costs.iter().map(|cost| (cost - mean).powi(2)).sum::<f64>() / 3.0).sqrt();
    let is_near =
        |name: &str, value: f64| (statistics[name].as_f64().unwrap() - value).abs() < 1e-6 * value.max(1.0);
    assert!(is_near("mean", mean) && is_near("best", best) && is_near("worst", worst), "{statistics}");
    assert!(is_near("standard_deviation", deviation) && is_near("runs", 4.0));
    assert_eq!(checked(&a, &tour) as f64, best);
    // Each run is what a command of its own finds.
    let alone = folder.path("alone.json");
    let args = [&a, "--seed", "9", "--descent-only", "--algorithm", "ils", "--json", &alone];
    solve(&args.map(|arg| arg as &str)).assert().success();
    assert_eq!(lines(&alone)[0]["tour"], runs[2]["tour"]);
    let run = solve(&[&a, &b, "--runs", "1", "--iterations", "5"]).assert().success();
    run.stdout(contains("a.tsp: 1 runs, ").and(contains("b.tsp: 1 runs, ")));
}

fn jobs_find_the_same() {
    let (folder, [a, b, c]) = three();
    let tours = ["1", "2", "7"].map(|jobs| {
        let json = folder.path("all.json");
        let args = [
            &a,
            &b,
            &c,
            "--runs",
            "2",
            "--iterations",
            "20",
            "--json",
            &json,
            "--jobs",
            jobs,
            "--threads",
            "3",
        ];
        solve(&args.map(|arg| arg as &str)).assert().success();
        let mut runs: Vec<_> = lines(&json).into_iter().filter(|line| line["tour"].is_array()).collect();
        runs.sort_by_key(|run| (run["instance"]["path"].to_string(), run["seed"].as_u64()));
        runs.into_iter().map(|run| run["tour"].clone()).collect::<Vec<_>>()
    });
    assert_eq!(tours[0].len(), 6);
    assert!(tours.iter().all(|other| *other == tours[0]));
}

fn what_is_for_one_run_is_refused() {
    let (folder, [a, b, _]) = three();
    let file = folder.path("x");
    for (more, why) in [
        (&["--bound"][..], "--bound is for one run"),
        (&["--checkpoint", &file], "--checkpoint is for one run"),
        (&["--certificate", &file], "--certificate is for one run"),
        (&["--tour", &file], "existing folder"),
        (&["--tour", "-"], "existing folder"),
        (&["--initial-tour", &file], "--initial-tour is for a single instance"),
        (&["--jobs", "2", "--backend", "cuda"], "one instance after the other"),
        (&["--runs", "0"], "0"),
    ] {
        let args = [&["solve", &a, &b, "--iterations", "5"], more].concat();
        antwarp(&args).assert().code(2).stdout("").stderr(contains(why));
    }
    let tours = folder.path("");
    let run = solve(&[&a, &a, "--tour", &tours]).assert().code(2);
    run.stderr(contains("two instances would have the file a"));
}

fn an_interrupt_reports_what_was_not_started() {
    let (_folder, [a, b, c]) = three();
    let args = ["solve", &a, &b, &c, "--backend", "cpu", "--time", "100", "--prove=never"];
    let (output, _) = interrupted(&args, Duration::from_secs(1));
    assert_eq!(output.status.code(), Some(130));
    let (shown, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(shown.starts_with(&format!("{a}: 40 nodes")) && shown.lines().count() == 1, "{shown}");
    assert!(told.contains(&format!("2 runs were not started: {b}, {c}")), "{told}");
}
