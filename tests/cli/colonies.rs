//! `solve` by ant colonies: Ant Colony System.

use std::fs;

use predicates::str::contains;
use serde_json::Value;

use crate::world::{Folder, antwarp, checked, colony_system, json, published};

tests! {
    every_form_of_ant_colony_system_gives_a_valid_tour,
    large_rings_of_all_edges_are_updated_less_often,
    atomic_updates_give_one_tour_whatever_the_threads,
    ant_colony_system_solves_directed_instances,
    ants_find_the_optima_of_directed_instances,
    or_3opt_is_for_ants_and_edges_with_a_direction,
    colonies_recombine_their_tours,
    lin_kernighan_moves_improve_ants_tours,
    the_trace_ends_with_the_tour_that_is_reported,
}

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
        .args(["--tour", &tour, "--verbose"])
        .assert()
        .success();
    searched.stdout(contains("three"));
    assert!(folder.checked(&tour) > 0);
}

fn large_rings_of_all_edges_are_updated_less_often() {
    let larger = Folder::new(5000);
    let report = larger.path("layout.json");
    let layout = |options: &[&str]| {
        let mut run =
            colony_system(&[&larger.instance, "--iterations", "1", "--ants", "1", "--json", &report]);
        run.args(options).assert().success();
        json(&report)["layout"].as_str().unwrap().to_owned()
    };
    assert!(layout(&["--remember", "taken"]).contains("updates of one edge in 4"));
    assert!(layout(&["--update-period", "3"]).contains("updates of one edge in 3"));
    assert!(layout(&["--update-period", "0"]).contains("no local updates"));
    assert!(!layout(&["--remember", "taken", "--update-period", "1"]).contains("updates"));
    assert!(!layout(&["--remember", "best"]).contains("updates"));
}

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
        .stderr(contains("--local-search or-3opt or none"));
}

/// Local search that keeps directions, the default there, soon leads both colonies to published optima.
fn ants_find_the_optima_of_directed_instances() {
    let folder = Folder::new(5);
    let tour = folder.path("a.tour");
    for (name, optimum) in [("br17", 39), ("ftv33", 1286), ("ftv47", 1776), ("ry48p", 14422), ("ftv70", 1950)]
    {
        let Some(instance) = published(&format!("{name}.atsp")) else { continue };
        for algorithm in ["mmas", "acs"] {
            antwarp(&["solve", &instance, "--algorithm", algorithm, "--backend", "cpu", "--threads", "1"])
                .args(["--iterations", "3000", "--quiet", "--tour", &tour])
                .assert()
                .success();
            assert_eq!(checked(&instance, &tour), optimum, "{name}, {algorithm}");
        }
    }
}

fn or_3opt_is_for_ants_and_edges_with_a_direction() {
    let folder = Folder::new(20);
    let instance = folder.instance.as_str();
    let refused = |args: &[&str], status: i32, message: &'static str| {
        antwarp(&["solve", instance, "--local-search", "or-3opt", "--backend", "cpu"])
            .args(args)
            .assert()
            .code(status)
            .stderr(contains(message));
    };
    refused(&[], 3, "have no direction");
    refused(&["--algorithm", "acs"], 3, "have no direction");
    refused(&["--algorithm", "ils"], 2, "two-opt, or-opt, or-2opt or three-opt");
    refused(&["--algorithm", "ga"], 2, "--algorithm mmas or acs");
}

/// With Lin-Kernighan moves ants' tours are joined, and crossed whenever the trails are reset: both the same by any number of
/// threads.
fn colonies_recombine_their_tours() {
    let folder = Folder::new(400);
    let [tour, report] = ["a.tour", "a.json"].map(|name| folder.path(name));
    let solved = |args: &[&str], threads: &str| {
        antwarp(&["solve", &folder.instance, "--local-search", "lk", "--ants", "8", "--iterations", "80"])
            .args(["--quiet", "--tour", &tour, "--json", &report, "--threads", threads])
            .args(args)
            .assert()
            .success();
        let layout = json(&report)["layout"].to_string();
        assert!(layout.contains("times"), "the trails are reset: {layout}");
        (folder.checked(&tour), fs::read_to_string(&tour).unwrap())
    };
    let mmas = solved(&["--algorithm", "mmas"], "1");
    assert_eq!(mmas, solved(&["--algorithm", "mmas"], "3"));
    let atomic = ["--algorithm", "acs", "--update", "atomic", "--pheromone", "matrix"];
    let acs = solved(&atomic, "1");
    assert_eq!(acs, solved(&atomic, "3"));
    let (best, worst) = (mmas.0.min(acs.0), mmas.0.max(acs.0));
    assert!(worst as f64 <= 1.01 * best as f64, "{} and {}", mmas.0, acs.0);
}

fn lin_kernighan_moves_improve_ants_tours() {
    let folder = Folder::new(200);
    let solved = |args: &[&str]| {
        let tour = folder.path("a.tour");
        antwarp(&["solve", &folder.instance, "--iterations", "5", "--ants", "6", "--quiet", "--tour", &tour])
            .args(args)
            .assert()
            .success();
        (folder.checked(&tour), fs::read_to_string(&tour).unwrap())
    };
    let mmas = |search: &str, threads: &str| {
        solved(&["--algorithm", "mmas", "--local-search", search, "--threads", threads])
    };
    let deep = mmas("lk", "1");
    assert_eq!(deep, mmas("lk", "3"));
    assert!(deep.0 < mmas("none", "1").0);
    assert!(solved(&["--algorithm", "acs", "--local-search", "lk"]).0 > 0);
    let directed = folder.file("directed.csv", b"0 1 2 3\n3 0 4 1\n5 6 0 2\n4 1 2 0\n");
    for search in ["lk", "two-opt"] {
        antwarp(&["solve", &directed, "--algorithm", "mmas", "--local-search", search])
            .assert()
            .code(3)
            .stderr(contains("--local-search or-3opt or none"));
    }
}

/// Two ants find no tour as short as the nearest-neighbour tour that limits the trails.
fn the_trace_ends_with_the_tour_that_is_reported() {
    let folder = Folder::new(300);
    let path = folder.path("run.json");
    for algorithm in ["mmas", "acs"] {
        for iterations in ["1", "30"] {
            let arguments = ["--ants", "2", "--iterations", iterations, "--backend", "cpu", "--quiet"];
            let mut run = antwarp(&["solve", &folder.instance, "--algorithm", algorithm, "--json", &path]);
            run.args(arguments).assert().success();
            let report = json(&path);
            let trace = report["trace"].as_array().unwrap();
            assert_eq!(trace.last().unwrap()["cost"], report["cost"], "{algorithm} {iterations}");
        }
    }
}
