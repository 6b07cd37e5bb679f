//! Help, completions, and curves of runs.

use std::fs;
use std::path::Path;

use antwarp::solver::Algorithm;
use antwarp::solver::search::SearchSettings;
use antwarp::solver::settings::Settings;
use predicates::prelude::*;
use predicates::str::contains;

use crate::world::{Folder, antwarp, json, solve};

tests! {
    runs_are_drawn_against_their_time,
    shells_and_readers_are_served,
    the_help_of_solve_has_a_short_form_and_one_for_each_algorithm,
    every_setting_is_in_the_manual_page_and_in_completions,
    the_reference_is_that_of_the_program,
}

/// A point is the mean of the runs with one time limit; what cannot be drawn is told by name.
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
    assert_eq!((svg.matches("<circle").count(), svg.matches("<polyline stroke=").count()), (3, 1));
    assert!(svg.contains("E1k.0") && svg.contains("1 thread"), "{svg}");
    // A line per run, whose end is marked. Two have the same seed, so the legend names them by their files.
    plot(&["--moments", "-o", &picture]).success();
    let svg = fs::read_to_string(&picture).unwrap();
    assert_eq!((svg.matches("<circle").count(), svg.matches("<polyline stroke=").count()), (6, 3));
    assert!(["1200ms", "2200ms", "1400ms"].iter().all(|name| svg.contains(name)), "{svg}");
    // A single run needs no name.
    antwarp(&["plot", "--moments", &runs[0], "-o", &picture]).assert().success();
    let svg = fs::read_to_string(&picture).unwrap();
    assert!(svg.contains("1 thread") && !svg.contains("seed 1"), "{svg}");
    plot(&["-o", &runs[0]]).code(2).stderr(contains("is one of the runs"));
    plot(&[&picture]).code(3).stderr(contains("curves.svg").and(contains("not a saved run")));
    plot(&["nowhere.json"]).code(3).stderr(contains("nowhere.json"));
}

fn shells_and_readers_are_served() {
    antwarp(&["completions", "bash"]).assert().success().stdout(contains("antwarp"));
    antwarp(&["man"]).assert().success().stdout(contains(".TH").and(contains("candidates")));
}

/// What a line prints.
fn printed(args: &[&str]) -> String {
    let output = antwarp(args).assert().success().get_output().stdout.clone();
    String::from_utf8(output).unwrap()
}

fn the_help_of_solve_has_a_short_form_and_one_for_each_algorithm() {
    let [short, common] = ["-h", "--help"].map(|option| printed(&["solve", option]));
    assert_eq!(short, common);
    let all = printed(&["solve", "--help", "all"]);
    for everywhere in ["--time", "--threads", "--tour", "--algorithm", "--initial-tour", "--config", "--seed"]
    {
        assert!(short.contains(everywhere) && all.contains(everywhere), "{everywhere}");
    }
    for setting in ["--rho", "--crossover", "--walk", "--segment", "--open"] {
        assert!(!short.contains(setting) && all.contains(setting), "{setting}");
    }
    assert!(short.lines().count() <= 60, "{} lines:\n{short}", short.lines().count());
    assert!(short.contains("--help all"));
    // An algorithm's settings, and what they mean to it.
    let genetic = printed(&["solve", "--help", "ga"]);
    assert!(genetic.contains("--crossover") && genetic.contains("--time") && !genetic.contains("--rho"));
    for line in [&["--algorithm", "ga", "--help"][..], &["a.tsp", "--algorithm=ga", "-h"]] {
        assert_eq!(printed(&[&["solve"], line].concat()), genetic);
    }
    let [mmas, acs] = ["mmas", "acs"].map(|name| printed(&["solve", "--help", name]));
    assert!(mmas.contains("Exponent of the pheromone trail") && !acs.contains("Exponent of the pheromone"));
}

/// Completions and the manual page have every setting, and no option that is called something else now.
fn every_setting_is_in_the_manual_page_and_in_completions() {
    let texts = [printed(&["man"]), printed(&["completions", "bash"])].map(|text| text.replace("\\-", "-"));
    // The manual page has no options of the problems of search.
    let all = Algorithm::ALL.into_iter().map(|declaration| (declaration, &texts[..]));
    for (declaration, texts) in all.chain([(SearchSettings::DECLARATION, &texts[1..])]) {
        for setting in declaration.settings {
            let option = format!("--{}", setting.option().replace('_', "-"));
            let is_there = texts.iter().all(|text| text.contains(&option));
            assert!(is_there || setting.is_internal, "{option}");
        }
    }
    let old = "--start-tour";
    assert!(texts.iter().all(|text| !text.contains(old)), "{old}");
}

/// With ANTWARP_WRITE set it is made again.
fn the_reference_is_that_of_the_program() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference.md");
    let made = printed(&["man", "--reference"]);
    if std::env::var_os("ANTWARP_WRITE").is_some() {
        fs::write(&path, made).unwrap();
    } else {
        assert!(
            fs::read_to_string(&path).unwrap() == made,
            "docs/reference.md is another one: ANTWARP_WRITE=1 cargo test --test cli the_reference_is_that"
        );
    }
}
