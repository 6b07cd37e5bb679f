//! Several instances, and several runs of one, in one command. On the CPU.

use std::fs;
#[cfg(unix)]
use std::time::Duration;

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

#[cfg(unix)]
use crate::common::interrupted;
use crate::world::{Folder, antwarp, checked, solve};

tests! {
    several_instances_have_a_line_and_a_file_each,
    a_wrong_instance_does_not_keep_others_from_being_solved,
    runs_have_seeds_that_follow_each_other_and_the_best_tour_is_written,
    jobs_find_the_same,
    a_target_is_reported_as_it_was_given,
    what_is_for_one_run_is_refused,
    #[cfg(unix)]
    an_interrupt_reports_what_was_not_started,
    each_instance_has_a_file_of_its_own,
    runs_without_a_valid_tour_are_in_no_statistics,
    a_page_has_the_curves_of_all_runs_and_the_best_tour,
    #[cfg(unix)]
    an_interrupt_of_several_jobs_concludes_each_instance_once,
    #[cfg(unix)]
    a_time_limit_counts_from_the_reading_of_each_instance,
    seeds_end,
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
    let statistics = &statistics["statistics"];
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
    run.stdout(contains("a.tsp: 1 run, ").and(contains("b.tsp: 1 run, ")));
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

/// The internal target of real coordinates is a little lower.
fn a_target_is_reported_as_it_was_given() {
    let folder = Folder::new(10);
    let file = folder.file("square.csv", b"0,0\n0,10.5\n10.5,10.5\n10.5,0\n");
    for (target, reported) in [("42", Value::from(42)), ("42.5", Value::from(42.5))] {
        let all = folder.path(&format!("{target}.json"));
        for more in [&[][..], &["--runs", "2"], &[&file]] {
            solve(&[&[file.as_str(), "--target", target, "--json", &all], more].concat()).assert().success();
            let reports = lines(&all);
            let mut targets = reports.iter().filter_map(|report| report["limits"].get("target"));
            assert!(targets.all(|own| *own == reported), "{reports:?}");
            assert_eq!(reports[0]["limits"]["target"], reported);
            antwarp(&["plot", &all, "-o", &folder.path("curves.svg")]).assert().success();
        }
    }
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
    // What is wrong with all of them is reported once.
    let missing = folder.path("missing.json");
    let run = solve(&[&a, &b, "--config", &missing]).assert().failure().stdout("");
    run.stderr(contains("missing.json").count(1));
    let run = solve(&[&a, "--jobs", "2", "--iterations", "5"]).assert().success();
    run.stderr(contains("--jobs has no effect"));
}

#[cfg(unix)]
fn an_interrupt_reports_what_was_not_started() {
    let (_folder, [a, b, c]) = three();
    let args = ["solve", &a, &b, &c, "--backend", "cpu", "--time", "100", "--prove=never"];
    let (output, _) = interrupted(&args, Duration::from_secs(1));
    assert_eq!(output.status.code(), Some(130));
    let (shown, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(shown.starts_with(&format!("{a}: 40 nodes")) && shown.lines().count() == 1, "{shown}");
    assert!(told.contains(&format!("2 runs not started: {b}, {c}")), "{told}");
}

fn each_instance_has_a_file_of_its_own() {
    let (folder, [a, ..]) = three();
    let tours = folder.path("tours");
    fs::create_dir(&tours).unwrap();
    // Generated instances, whose names have dots.
    solve(&["E1k.0", "E1k.1", "--iterations", "1", "--tour", &tours]).assert().success();
    for name in ["E1k.0", "E1k.1"] {
        checked(name, &format!("{tours}/{name}.tour"));
    }
    // A file may be named like one.
    let file = folder.path("E1k.0.tsp");
    fs::copy(&a, &file).unwrap();
    let run = solve(&["E1k.0", &file, "--iterations", "1", "--tour", &tours]).assert().code(2);
    run.stdout("").stderr(contains("two instances would have the file E1k.0"));
    // One that is not there, in a folder that is not there.
    let other = folder.path("other");
    fs::create_dir(&other).unwrap();
    let missing = folder.path("nowhere/foo.tsp");
    let run = solve(&[&missing, &a, "--iterations", "1", "--tour", &other]).assert().code(3);
    run.stderr(contains("foo.tsp"));
    let files: Vec<_> = fs::read_dir(&other).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files, ["a.tour"]);
}

/// A table of 20 places on a cycle; if `is_open`, one road of it is missing.
fn cycle(is_open: bool) -> String {
    let last = 19_u32;
    let far = |i: u32, j: u32| match i.abs_diff(j) {
        0 => "0",
        1 => "1",
        apart if apart == last && !is_open => "1",
        _ => "inf",
    };
    let row = |i: u32| (0..=last).map(|j| far(i, j)).collect::<Vec<_>>().join(",");
    (0..=last).map(|i| row(i) + "\n").collect()
}

fn runs_without_a_valid_tour_are_in_no_statistics() {
    let folder = Folder::new(9);
    let (open, closed) =
        (folder.file("open.csv", cycle(true).as_bytes()), folder.file("closed.csv", cycle(false).as_bytes()));
    let json = folder.path("all.json");
    let args = [&open, &closed, "--runs", "2", "--iterations", "50", "--prove=never", "--json", &json];
    let run = solve(&args).assert().code(7);
    run.stdout(
        contains("open.csv: no tour in 2 runs").and(contains("closed.csv: 2 runs, mean 20.00, best 20")),
    );
    let all: Vec<Value> = lines(&json).into_iter().map(|line| line["statistics"].clone()).collect();
    let [open, closed] = [2, 5].map(|at| &all[at]);
    assert_eq!((&open["runs"], &open["without_tour"]), (&0.into(), &2.into()), "{open}");
    assert!(["mean", "best", "best_seed", "worst"].iter().all(|name| open[name].is_null()), "{open}");
    assert_eq!((&closed["runs"], &closed["without_tour"]), (&2.into(), &0.into()), "{closed}");
    // The smallest seed among equal ones.
    assert_eq!((&closed["best"], &closed["best_seed"]), (&20.0.into(), &1.into()), "{closed}");
}

#[cfg(unix)]
fn an_interrupt_of_several_jobs_concludes_each_instance_once() {
    let (folder, [a, ..]) = three();
    let (json, tour) = (folder.path("all.json"), folder.path("a.tour"));
    let more = ["--time", "100", "--prove=never", "--json", &json, "--tour", &tour];
    let args = [&["solve", &a, "--runs", "5", "--jobs", "2", "--backend", "cpu"], &more[..]].concat();
    let (output, _) = interrupted(&args, Duration::from_secs(1));
    assert_eq!(output.status.code(), Some(130));
    let all = lines(&json);
    let (statistics, runs) = all.split_last().unwrap();
    let costs: Vec<f64> = runs.iter().map(|run| run["cost"].as_f64().unwrap()).collect();
    assert_eq!((costs.len(), &statistics["statistics"]["runs"]), (2, &2.into()), "{statistics}");
    let best = costs.iter().copied().fold(f64::MAX, f64::min);
    assert_eq!((&statistics["statistics"]["best"], checked(&a, &tour) as f64), (&best.into(), best));
    let shown = String::from_utf8_lossy(&output.stdout);
    assert_eq!(shown.matches(" runs, mean ").count(), 1, "{shown}");
}

#[cfg(unix)]
fn a_time_limit_counts_from_the_reading_of_each_instance() {
    let (folder, [a, b, _]) = three();
    let pipe = folder.path("pipe.tsp");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let to = pipe.clone();
    // Whatever opens the pipe for reading gets the instance.
    std::thread::spawn(move || fs::write(to, fs::read(b).unwrap()));
    solve(&[&a, &pipe, "--time", "1s", "--prove=never"])
        .assert()
        .success()
        .stdout(contains("pipe.tsp: 40 nodes"));
}

fn seeds_end() {
    let (_folder, [a, ..]) = three();
    let last = u64::MAX.to_string();
    let args = [&a, "--iterations", "1", "--seed", &last, "--runs"];
    let run = solve(&[&args[..], &["2"]].concat()).assert().code(2);
    run.stderr(contains(format!("use --seed {} or less", u64::MAX - 1)));
    solve(&[&args[..], &["1"]].concat()).assert().success();
}

fn a_page_has_the_curves_of_all_runs_and_the_best_tour() {
    let (folder, [a, b, _]) = three();
    let runs_of = |page: &str| -> Vec<Value> {
        let text = fs::read_to_string(page).unwrap();
        let (_, json) = text.split_once(r#"id="runs">"#).unwrap();
        serde_json::from_str(json.split_once("</script>").unwrap().0).unwrap()
    };
    let page = folder.path("runs.html");
    let line = ["--algorithm", "mmas", "--iterations", "1", "--runs", "4", "--jobs", "2", "--html", &page];
    solve(&[&[&*a], &line[..]].concat()).assert().success();
    let runs = runs_of(&page);
    let costs: Vec<i64> = runs.iter().map(|run| run["cost"].as_i64().unwrap()).collect();
    assert!(costs.len() == 4 && costs[0] == *costs.iter().min().unwrap(), "{costs:?}");
    for (at, run) in runs.iter().enumerate() {
        let length = |field: &str| run[field].as_array().map_or(0, Vec::len);
        let (places, legs) = (length("places"), length("legs"));
        assert_eq!((length("tour"), places, legs), if at == 0 { (40, 40, 40) } else { (0, 0, 0) });
        assert!(length("trace") > 0);
    }
    // Of several instances, each has a page.
    let pages = folder.path("pages");
    fs::create_dir(&pages).unwrap();
    solve(&[&a, &b, "--iterations", "5", "--html", &pages]).assert().success();
    for name in ["a", "b"] {
        let runs = runs_of(&format!("{pages}/{name}.html"));
        assert!(runs.len() == 1 && runs[0]["tour"].as_array().unwrap().len() == 40);
    }
}
