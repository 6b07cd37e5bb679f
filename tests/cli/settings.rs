//! Settings of `solve`: who takes them, what refuses them, and files of them.

use antwarp::solver::Algorithm;
use antwarp::solver::search::SearchSettings;
use antwarp::solver::settings::{Declaration, Kind, Setting, Settings};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::{Value, json};

use crate::world::{Folder, antwarp, bench, evolve, json, solve};

tests! {
    every_option_is_refused_by_the_algorithms_that_do_not_have_it,
    every_condition_of_a_setting_is_kept,
    old_names_of_options_are_refused_with_the_new_ones,
    a_run_is_repeated_by_its_report,
    a_descent_of_a_file_ends_by_itself,
    files_of_settings_that_cannot_be_used_are_refused,
    a_run_with_a_population_is_repeated,
}

/// The option of a setting, with its value if it takes one.
fn option(setting: &Setting, value: &str) -> String {
    let name = setting.option().replace('_', "-");
    if value.is_empty() { format!("--{name}") } else { format!("--{name}={value}") }
}

/// A value that a setting may have.
fn sample(setting: &Setting) -> String {
    match setting.kind {
        Kind::Choice(choices) => choices()[0].name.clone(),
        Kind::Switch if setting.default() == false => String::new(),
        Kind::Switch => "true".to_owned(),
        Kind::Pair(_) => "1,1".to_owned(),
        Kind::Whole(_) | Kind::Real => match setting.default() {
            Value::Null => "1".to_owned(),
            number => number.to_string(),
        },
    }
}

fn options(declaration: &Declaration) -> impl Iterator<Item = &'static Setting> {
    declaration.settings.iter().filter(|setting| !setting.is_internal)
}

/// No file is read for it.
fn every_option_is_refused_by_the_algorithms_that_do_not_have_it() {
    for owner in Algorithm::ALL {
        for setting in options(&owner) {
            let others = Algorithm::ALL.into_iter().filter(|other| other.option(setting.option()).is_none());
            for other in others {
                let name = option(setting, "");
                let [begin, end] =
                    [format!("{name} applies only to "), format!("; this run uses {}", other.name)];
                solve(&["missing.tsp", "--algorithm", other.name, &option(setting, &sample(setting))])
                    .assert()
                    .code(2)
                    .stdout("")
                    .stderr(contains(begin).and(contains(owner.name)).and(contains(end)));
            }
        }
    }
}

/// Of two options that do not go together, one is refused, and the message names the other.
fn every_condition_of_a_setting_is_kept() {
    for declaration in Algorithm::ALL.into_iter().chain([SearchSettings::DECLARATION]) {
        let begin: &[&str] = match declaration.name {
            "search" => &["search", "qap", "--uniform", "8"],
            name => &["solve", "missing.tsp", "--algorithm", name],
        };
        for setting in options(&declaration) {
            for condition in setting.only {
                let other = declaration.setting(condition.setting).unwrap();
                let value = match other.kind {
                    _ if !condition.is && condition.value == "true" => String::new(),
                    _ if !condition.is => condition.value.to_owned(),
                    Kind::Choice(choices) => {
                        let names = choices().into_iter().map(|choice| choice.name);
                        names.into_iter().find(|name| !condition.value.split('|').any(|v| v == name)).unwrap()
                    }
                    _ => panic!("{} has a condition on a number", setting.name),
                };
                let given = option(setting, &sample(setting));
                let why = if condition.is { "applies only with" } else { "does nothing with" };
                // Where several conditions fail, any of them may be told.
                antwarp(&[begin, &[&given, &option(other, &value)]].concat())
                    .assert()
                    .code(2)
                    .stdout("")
                    .stderr(contains(option(setting, "")).and(contains(why).or(contains("applies only"))));
            }
        }
    }
}

fn old_names_of_options_are_refused_with_the_new_ones() {
    let folder = Folder::new(10);
    for line in [&["--start-tour", "greedy"][..], &["--start-tour"]] {
        solve(&[&folder.instance]).args(line).assert().code(2).stdout("").stderr(contains("--first-tour"));
    }
    let vary = ["--vary", "start-tour=greedy,random"];
    bench("solve", &folder.instance, &vary).assert().code(2).stderr(contains("--first-tour"));
}

/// The report of a run, as a file of settings, makes the same run.
fn a_run_is_repeated_by_its_report() {
    let folder = Folder::new(60);
    let [first, second, bare] = ["first.json", "second.json", "bare.json"].map(|name| folder.path(name));
    let lines: &[&[&str]] = &[
        &["--algorithm", "lk", "--seed", "7", "--temperature", "0.3", "--first-tour", "random"],
        &["--algorithm", "ils", "--improvement", "best", "--segment", "9", "--local-search", "or-opt"],
        &["--algorithm", "ils", "--accept", "better", "--chains", "2", "--trials", "5"],
        &["--algorithm", "mmas", "--candidates", "all", "--rho", "0.6", "--ants", "9"],
        &["--algorithm", "acs", "--update", "sequential", "--update-period", "3", "--q0", "0.5"],
        &["--algorithm", "ga", "--population", "32", "--groups", "2", "--improve-best", "false"],
        &["--algorithm", "ga", "--crossover", "eax", "--population", "30"],
        &["--algorithm", "mmas", "--local-search", "lk"],
    ];
    let run = |line: &[&str], report: &str| {
        solve(&[&folder.instance, "--iterations", "5", "--json", report]).args(line).assert().success();
        json(report)
    };
    for line in lines {
        let made = run(line, &first);
        let again = run(&["--config", &first], &second);
        for key in ["algorithm", "settings", "seed", "tour", "iterations"] {
            assert_eq!(made[key], again[key], "{line:?}: {key}");
        }
        // Settings alone, and the algorithm by the command line.
        std::fs::write(&bare, made["settings"].to_string()).unwrap();
        let alone = run(&["--config", &bare, "--algorithm", line[1]], &second);
        assert_eq!(made["tour"], alone["tour"], "{line:?}");
        // The command line goes before the file.
        let other = run(&["--config", &first, "--seed", "99"], &second);
        let mut expected = made["settings"].clone();
        expected["seed"] = 99.into();
        assert_eq!(other["settings"], expected, "{line:?}");
    }
}

fn a_descent_of_a_file_ends_by_itself() {
    let folder = Folder::new(60);
    let file = folder.file("descent.json", br#"{"algorithm": "ils", "descent_only": true}"#);
    solve(&[&folder.instance, "--config", &file]).assert().success().stdout(contains("local optimum"));
    solve(&[&folder.instance, "--config", &file, "--iterations", "5"])
        .assert()
        .code(2)
        .stderr(contains("--iterations does nothing with --descent-only"));
}

fn files_of_settings_that_cannot_be_used_are_refused() {
    let folder = Folder::new(10);
    let instance = folder.instance.as_str();
    let wrong: &[(Value, &[&str], u8, &str)] = &[
        (
            json!({"algorithm": "acs", "tabu": "list"}),
            &[],
            2,
            "\"tabu\" applies only to mmas; this run uses acs",
        ),
        (json!({"ants": 5}), &[], 2, "\"ants\" applies only to mmas or acs; this run uses lk"),
        (json!({"algorithm": "mmas", "magic": 1}), &[], 2, "\"magic\" is not a setting of any algorithm"),
        (json!({"algorithm": "mmas", "ants": "many"}), &[], 2, "\"ants\": invalid type"),
        (json!({"algorithm": "mmas", "ants": 0}), &[], 2, "--ants must be 1 to"),
        (json!({"algorithm": "acs", "candidates": null}), &[], 2, "\"candidates\": invalid type"),
        (
            json!({"algorithm": "ils", "segment": 9}),
            &[],
            2,
            "\"segment\" applies only with --improvement best",
        ),
        (json!({"algorithm": "lk", "accept": "better"}), &[], 2, "\"accept\" cannot be set by users"),
        (json!({"algorithm": "ga", "initial": "file"}), &[], 2, "--load-population"),
        (json!({"algorithm": "magic"}), &[], 3, "unknown algorithm \"magic\""),
        (json!({"settings": {}, "ants": 5}), &[], 3, "\"settings\" is not an object"),
        (json!([1, 2]), &[], 3, "not an object of settings, although it is JSON"),
        (json!({"algorithm": "acs"}), &["--algorithm", "mmas", "--slots", "4"], 2, "this run uses mmas"),
    ];
    for (content, more, status, message) in wrong {
        let file = folder.file("run.json", content.to_string().as_bytes());
        let line = solve(&[instance, "--config", &file]).args(*more).assert();
        let is_named = more.is_empty() && !message.contains("--ants must");
        let file = contains(if is_named { "run.json" } else { "" });
        line.code(i32::from(*status)).stdout("").stderr(contains(*message).and(file));
    }
    for (content, message) in [
        ("name,x,y\nA,1,2\n", "not an object of settings, which is JSON: the file begins with \"name,x,y\""),
        ("{\"ants\": 5,}", "not an object of settings: its JSON has a mistake: trailing comma"),
        (" \n", "the file is empty"),
    ] {
        let file = folder.file("run.json", content.as_bytes());
        solve(&[instance, "--config", &file]).assert().code(3).stderr(contains(message));
    }
    let missing = folder.path("missing.json");
    solve(&[instance, "--config", &missing]).assert().code(3).stderr(contains("missing.json"));
    let file = folder.file("run.json", b"{\"algorithm\": \"mmas\"}");
    solve(&[instance, "--config", &file, "--json", &file]).assert().code(2).stderr(contains("settings"));
}

/// A report of a run that went on with a population is a file of settings for such a run.
fn a_run_with_a_population_is_repeated() {
    let folder = Folder::new(40);
    let [individuals, first, second] =
        ["a.population", "first.json", "second.json"].map(|name| folder.path(name));
    let small = ["--population", "32", "--groups", "2", "--iterations", "3"];
    evolve(&[&folder.instance, "--save-population", &individuals]).args(small).assert().success();
    let load = ["--iterations", "4", "--load-population", &individuals];
    evolve(&[&folder.instance, "--mutation", "0.3", "--json", &first]).args(load).assert().success();
    solve(&[&folder.instance, "--config", &first, "--json", &second]).args(load).assert().success();
    let [made, again] = [json(&first), json(&second)];
    assert_eq!((&made["settings"], &made["tour"]), (&again["settings"], &again["tour"]));
    assert_eq!(made["settings"]["first_generation"], 3);
}
