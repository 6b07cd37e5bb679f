//! `solve` by genetic algorithms: crossovers, and populations in files.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

#[cfg(unix)]
use crate::common::interrupted;
use crate::world::{Folder, antwarp, bench, checked, evolve, json, solve};

tests! {
    every_crossover_evolves_the_same_whatever_the_threads,
    a_resumed_population_goes_on_as_if_it_had_never_stopped,
    edge_assembly_crossover_finds_the_best_tour_and_goes_on,
    edge_assembly_crossover_of_few_nodes_and_of_wrong_settings,
    what_is_given_counts_more_than_what_was_saved,
    populations_that_cannot_go_on_are_refused,
    a_population_names_the_cost_that_a_user_knows,
    small_and_directed_instances_evolve,
    populations_of_paths_and_of_directed_edges_are_saved_and_go_on,
    #[cfg(unix)]
    an_interrupted_population_goes_on_exactly,
    a_run_that_is_over_before_its_first_individuals_saves_none,
}

/// The saved file of a run of the genetic algorithm, and its report; the tour is checked.
fn evolved(folder: &Folder, args: &[&str]) -> (String, Value) {
    let [tour, report, individuals] = ["ga.tour", "ga.json", "ga.population"].map(|name| folder.path(name));
    evolve(&[
        &folder.instance,
        "--tour",
        &tour,
        "--json",
        &report,
        "--save-population",
        &individuals,
        "--quiet",
    ])
    .args(args)
    .assert()
    .success()
    .stdout("")
    .stderr("");
    let report = json(&report);
    assert_eq!(report["cost"], folder.checked(&tour));
    assert_eq!((&report["algorithm"], &report["failure"]), (&"ga".into(), &Value::Null));
    (fs::read_to_string(individuals).unwrap(), report)
}

const SMALL: [&str; 4] = ["--population", "32", "--groups", "2"];

fn every_crossover_evolves_the_same_whatever_the_threads() {
    let folder = Folder::new(70);
    for crossover in ["scx", "bcscx", "arx", "hybrid"] {
        let run = |more: &[&str]| {
            let args = ["--iterations", "30", "--crossover", crossover, "--transfer-every", "7"];
            evolved(&folder, &[&SMALL[..], &args, more].concat())
        };
        let (individuals, report) = run(&["--threads", "1", "--seed", "5"]);
        assert_eq!(
            (&report["iterations"], &report["settings"]["crossover"]),
            (&30.into(), &crossover.into())
        );
        assert_eq!(individuals.lines().filter(|line| *line == "-1").count(), 32 + 1);
        assert_eq!(individuals.lines().count(), 5 + 32 * 71 + 2);
        assert_eq!(run(&["--threads", "2", "--seed", "5"]).0, individuals);
        assert_ne!(run(&["--threads", "2", "--seed", "6"]).0, individuals);
        assert_ne!(run(&["--improve-best", "false", "--seed", "5"]).0, individuals);
    }
}

fn a_resumed_population_goes_on_as_if_it_had_never_stopped() {
    let folder = Folder::new(70);
    let half = folder.path("half.population");
    let settings: &[&[&str]] = &[
        &["--crossover", "scx"],
        &["--crossover", "bcscx", "--pairing", "fixed"],
        &["--crossover", "arx", "--mutation", "0.5"],
        &["--crossover", "hybrid", "--seed", "9"],
        &["--crossover", "arx", "--improve-best", "false"],
        &["--crossover", "hybrid", "--partners", "ring"],
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
            let (resumed, second) = evolved(&folder, &["--load-population", &half, "--iterations", left]);
            assert_eq!(resumed, whole, "{more:?} after {first}");
            assert_eq!(second["tour"], report["tour"]);
            assert_eq!(second["settings"]["initial"], "file");
            assert_eq!(second["settings"]["first_generation"].to_string(), first);
            assert_eq!(second["settings"]["seed"], report["seed"]);
        }
    }
}

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
    let (resumed, second) = evolved(&folder, &["--load-population", &half, "--iterations", "9"]);
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
        assert_eq!(found["stopped_by"], "optimal");
    }
    let folder = Folder::new(20);
    let wrong: &[(&[&str], &str)] = &[
        (&["--population", "60", "--groups", "8"], "a multiple of --groups"),
        (&["--population", "60", "--groups", "10"], "at least 8 individuals per group"),
        (&["--groups", "0"], "--groups"),
        (&["--children", "0"], "--children"),
        (&["--mutation", "0.1"], "--mutation does nothing with --crossover eax"),
        (&["--pairing", "fixed"], "--pairing does nothing with --crossover eax"),
        (&["--partners", "ring"], "--partners does nothing with --crossover eax"),
        (&["--improve-best", "false"], "--improve-best does nothing with --crossover eax"),
        (&["--crossover", "arx", "--children", "5"], "--children applies only with --crossover eax"),
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

fn what_is_given_counts_more_than_what_was_saved() {
    let folder = Folder::new(40);
    let first = folder.path("first.population");
    let saved = [&SMALL[..], &["--iterations", "0", "--initial", "local-optima", "--seed", "4"]].concat();
    fs::write(&first, evolved(&folder, &saved).0).unwrap();
    let args = [
        "--load-population",
        &first,
        "--iterations",
        "5",
        "--crossover",
        "arx",
        "--groups",
        "4",
        "--seed",
        "8",
    ];
    let (_, report) = evolved(&folder, &[&args[..], &["--population", "96"]].concat());
    let settings = &report["settings"];
    assert_eq!((&settings["crossover"], &settings["groups"]), (&"arx".into(), &4.into()));
    assert_eq!((&settings["population"], &settings["seed"]), (&96.into(), &8.into()));
    // The individuals are those of the file again and again.
    let (thrice, _) =
        evolved(&folder, &["--load-population", &first, "--iterations", "0", "--population", "96"]);
    let tours = |text: &str| {
        let tours = text.split_once("TOUR_SECTION\n").unwrap().1.trim_end_matches("-1\nEOF\n").to_owned();
        assert!(tours.ends_with('\n'));
        tours
    };
    // The last -1 of a tour went with that of the section.
    let once = fs::read_to_string(&first).unwrap();
    let individual = |text: &str, i: usize| tours(text).split("-1\n").nth(i).unwrap().to_owned();
    for i in [0, 1, 31, 32, 63, 64, 90] {
        assert_eq!(individual(&thrice, i), individual(&once, i % 32), "{i}");
    }
    // A file of many tours is none of one tour.
    antwarp(&["check", &folder.instance, &first]).assert().code(6).stderr(contains("--load-population"));
}

fn populations_that_cannot_go_on_are_refused() {
    let folder = Folder::new(20);
    let (good, _) = evolved(&folder, &[&SMALL[..], &["--iterations", "3"]].concat());
    let file = folder.file("good.population", good.as_bytes());
    let usage: &[(&[&str], &str)] = &[
        (&["--population", "48"], "a multiple of the 32 individuals of"),
        (&["--population", "64", "--groups", "3"], "a multiple of 4 times --groups"),
        (&["--mutation", "2"], "--mutation"),
        (&["--tour", &file, "--save-population", &file], "given for two outputs"),
    ];
    for (args, message) in usage {
        evolve(&[&folder.instance, "--load-population", &file])
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
        (cut, "the file ends within tour 32"),
        (&good.replace("DIMENSION : 20", "DIMENSION : 21"), "4:1"),
        (&good.replace("\"individuals\":32", "\"individuals\":64"), "the file has 32 tours, not 64"),
        (&good.replace("\"crossover\":\"hybrid\"", "\"crossover\":\"magic\""), "remove its comment"),
        (&repeated, "7:1"),
        (&six, "6 individuals cannot be split into 8 groups of equal size"),
    ];
    for (text, message) in inputs {
        let bad = folder.file("bad.population", text.as_bytes());
        evolve(&[&folder.instance, "--load-population", &bad])
            .assert()
            .code(3)
            .stdout("")
            .stderr(contains("help: ").and(contains("panicked").not()))
            .stderr(contains(*message).or(contains(message.replace(' ', "\n"))));
    }
    let missing = folder.path("missing.population");
    evolve(&[&folder.instance, "--load-population", &missing]).assert().code(3).stderr(contains(&missing));
    let other = Folder::new(20);
    let moved = fs::read_to_string(&other.instance)
        .unwrap()
        .replace("NODE_COORD_SECTION\n1 ", "NODE_COORD_SECTION\n1 9");
    let other = folder.file("other.tsp", moved.as_bytes());
    evolve(&[&other, "--load-population", &file]).assert().code(3).stderr(contains("shortest tour"));
    // Without its comment, a part of it will do.
    evolve(&[&folder.instance, "--iterations", "2", "--groups", "1", "--population", "12"])
        .args(["--load-population", &folder.file("six.population", six.as_bytes())])
        .assert()
        .success();
}

/// Costs of these instances are others inside.
fn a_population_names_the_cost_that_a_user_knows() {
    let folder = Folder::new(5);
    let place = |i: i32| [i * 37 % 101, i * 53 % 97];
    let length = |i, j| {
        let ([x, y], [u, v]) = (place(i), place(j));
        f64::from(x - u).hypot(f64::from(y - v))
    };
    let places: String = (0..20).map(place).map(|[x, y]| format!("{x},{y}\n")).collect();
    let cost = |i: i32, j: i32| f64::from((i * 7 + j * 3) * (j * 7 + i * 3) % 101) / 4.0 - 5.0;
    let row = |i| (0..20).map(|j| if i == j { 0.0 } else { cost(i, j) }.to_string()).collect::<Vec<_>>();
    let matrix: String = (0..20).map(|i| row(i).join(",") + "\n").collect();
    let cases: [(_, _, &dyn Fn(i32, i32) -> f64); 2] =
        [("places.csv", format!("x,y\n{places}"), &length), ("costs.csv", matrix, &cost)];
    for (name, text, cost) in cases {
        let instance = folder.file(name, text.as_bytes());
        let [saved, first, again] =
            ["a.population", "first.json", "again.json"].map(|name| folder.path(name));
        evolve(&[&instance, "--iterations", "3", "--save-population", &saved, "--json", &first])
            .args(SMALL)
            .assert()
            .success();
        let text = fs::read_to_string(&saved).unwrap();
        let comment =
            text.lines().find_map(|line| line.strip_prefix("COMMENT : antwarp population ")).unwrap();
        let header: Value = serde_json::from_str(comment).unwrap();
        let tours = text.split_once("TOUR_SECTION\n").unwrap().1.split("-1\n").filter(|part| part.len() > 20);
        let tours = tours.map(|tour| tour.lines().map(|id| id.parse().unwrap()).collect::<Vec<i32>>());
        let of_tour =
            |tour: Vec<i32>| (0..20).map(|at| cost(tour[at] - 1, tour[(at + 1) % 20] - 1)).sum::<f64>();
        let cost = tours.map(of_tour).reduce(f64::min).unwrap();
        let shortest = header["shortest"].as_f64().unwrap();
        assert!((shortest - cost).abs() < 1e-9, "{name}: {shortest} for {cost}");
        evolve(&[&instance, "--iterations", "0", "--load-population", &saved, "--json", &again])
            .assert()
            .success();
        assert_eq!(json(&again)["cost"], json(&first)["cost"], "{name}");
        // Of another instance the costs are told in the same unit.
        let wrong = text.replacen(&format!("\"shortest\":{}", header["shortest"]), "\"shortest\":12.5", 1);
        let wrong = folder.file("wrong.population", wrong.as_bytes());
        let refused = evolve(&[&instance, "--load-population", &wrong]).assert().code(3).stdout("");
        let said = String::from_utf8_lossy(&refused.get_output().stderr).replace('\n', " ");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("not 12.5 as its comment says"), "{said}");
        let told = said.split("the shortest tour costs ").nth(1).unwrap().split(' ').next().unwrap();
        assert!((told.parse::<f64>().unwrap() - cost).abs() < 1e-6, "{name}: {told} for {cost}");
    }
}

fn small_and_directed_instances_evolve() {
    let folder = Folder::new(4);
    for n in [1, 2, 3, 5, 8, 12, 13, 14] {
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
        if n < 13 {
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

fn populations_of_paths_and_of_directed_edges_are_saved_and_go_on() {
    let folder = Folder::new(60);
    let [roads, file, tour, report] = ["roads.atsp", "population", "tour", "json"].map(|n| folder.path(n));
    antwarp(&["generate", "roads", "-n", "60", "-o", &roads]).assert().success();
    let shape = ["--start", "3", "--end", "20", "--fix", "30,31", "--fix", "31,32"];
    for (instance, shape) in [(&folder.instance, &shape[..]), (&roads, &[][..]), (&roads, &shape[..])] {
        let evolve = |args: &[&str]| {
            let all = [&[&instance[..], "--json", &report, "--iterations", "4"][..], shape, args].concat();
            evolve(&all).assert().success();
            json(&report)["cost"].as_i64().unwrap()
        };
        let first = ["--crossover", "eax", "--population", "24", "--seed", "3", "--save-population", &file];
        let before = evolve(&first);
        let saved = fs::read_to_string(&file).unwrap();
        assert!(saved.contains(&format!("\"shortest\":{before}")), "{saved:.400}");
        assert_eq!(saved.lines().filter(|&line| line == "-1").count(), 25);
        let after = evolve(&["--load-population", &file, "--tour", &tour]);
        assert!(after <= before, "{after} after {before}");
        let check = [&["check", &instance[..], &tour, "--json", "-"][..], shape].concat();
        let checked = antwarp(&check).assert().success().get_output().stdout.clone();
        let checked: serde_json::Value = serde_json::from_slice(&checked).unwrap();
        assert_eq!(checked["cost"], after);
    }
    // The last one is of another shape than this.
    let other = ["--fix", "7,9", "--load-population", &file, "--iterations", "1"];
    evolve(&[&[&roads[..]], &shape[..], &other].concat())
        .assert()
        .failure()
        .stderr(contains("tour 1 lacks a fixed edge"));
}

/// Whatever ends a run, the generation under way is finished, so that it can go on exactly.
#[cfg(unix)]
fn an_interrupted_population_goes_on_exactly() {
    let folder = Folder::new(300);
    let [cut, whole] = ["cut.population", "whole.population"].map(|name| folder.path(name));
    let args = ["--population", "64", "--local-search", "or-opt"];
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

/// A run that ends before its first individuals are generated still gives a tour. It saves no population, and reports that.
fn a_run_that_is_over_before_its_first_individuals_saves_none() {
    let folder = Folder::new(3000);
    let [tour, individuals] = ["a.tour", "a.population"].map(|name| folder.path(name));
    for crossover in ["hybrid", "eax"] {
        let begin = Instant::now();
        let args = ["--population", "8192", "--groups", "1", "--local-search", "two-opt", "--time", "50ms"];
        evolve(&[
            &folder.instance,
            "--crossover",
            crossover,
            "--tour",
            &tour,
            "--save-population",
            &individuals,
        ])
        .args(args)
        .assert()
        .code(5)
        .stderr(contains("the run ended before the first individuals were generated"));
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
        antwarp(&["check", &folder.instance, &tour]).assert().success();
        assert!(!Path::new(&individuals).exists());
    }
}
