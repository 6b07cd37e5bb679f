//! Help, completions, and curves of runs.

use std::fs;

use predicates::prelude::*;
use predicates::str::contains;

use crate::world::{Folder, antwarp, json, solve};

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
fn shells_and_readers_are_served() {
    antwarp(&["completions", "bash"]).assert().success().stdout(contains("antwarp"));
    antwarp(&["man"]).assert().success().stdout(contains(".TH").and(contains("candidates")));
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
