//! Lower bounds, by `bound` and beside a run of `solve`.

use std::time::{Duration, Instant};

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

#[cfg(unix)]
use crate::common::interrupted;
use crate::world::{Folder, antwarp, has_highs, json, published, solve};

tests! {
    a_bound_stands_beside_the_tour_and_the_trace_leads_to_it,
    a_bound_is_the_same_on_any_number_of_threads,
    bounds_of_published_instances_are_below_their_optima,
    #[cfg(unix)]
    an_interrupt_keeps_the_bound_so_far,
    directed_instances_have_a_bound,
    a_time_too_short_for_a_bound_is_told,
    #[cfg(unix)]
    an_interrupt_before_there_is_a_bound_ends_the_search_for_one,
    cutting_planes_raise_the_bound_and_not_above_the_optimum,
    cutting_planes_know_all_shapes,
    cutting_planes_end_in_time,
    without_a_library_trees_bound_and_what_is_missing_is_told,
}

fn a_bound_stands_beside_the_tour_and_the_trace_leads_to_it() {
    let folder = Folder::new(5);
    let result = folder.path("result.json");
    solve(&["E1k.0", "--iterations", "200", "--bound", "--json", &result])
        .assert()
        .success()
        .stdout(contains("% above the optimum"));
    let result = json(&result);
    let (cost, bound) = (result["cost"].as_i64().unwrap(), result["bound"]["length"].as_i64().unwrap());
    assert!(bound <= 23_360_648 && bound > 23_100_000, "{bound}");
    let most = result["bound"]["most_percent"].as_f64().unwrap();
    assert!((most - 100.0 * (cost - bound) as f64 / bound as f64).abs() < 1e-9, "{most}");
    let trace = result["trace"].as_array().unwrap();
    let better = |pair: &[Value]| {
        pair[1]["cost"].as_i64() < pair[0]["cost"].as_i64()
            && pair[1]["seconds"].as_f64() >= pair[0]["seconds"].as_f64()
    };
    assert!(trace.len() > 2 && trace.windows(2).all(better), "{trace:?}");
    assert_eq!(
        (trace[0]["part"].as_str(), trace[trace.len() - 1]["cost"].as_i64()),
        (Some("start"), Some(cost))
    );
}

fn a_bound_is_the_same_on_any_number_of_threads() {
    let on = |threads| {
        let line = ["bound", "E1k.0", "--trees", "60", "--json", "-", "--threads", threads];
        let output = antwarp(&line).assert().success().get_output().clone();
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        value["bound"]["length"].as_i64().unwrap()
    };
    assert_eq!(on("1"), on("3"));
}

/// Near the optimum, and proving some; burma14 and gr666 lie on the globe, brg180 is a matrix.
fn bounds_of_published_instances_are_below_their_optima() {
    let known = [
        ("burma14.tsp", 3323, 3323),
        ("brg180.tsp", 1950, 1950),
        ("gr666.tsp", 291_000, 294_358),
        ("att48.tsp", 10_500, 10_628),
        ("d198.tsp", 15_600, 15_780),
    ];
    for (file, least, optimum) in known {
        let Some(instance) = published(file) else { continue };
        let output = antwarp(&["bound", &instance, "--json", "-"]).assert().success().get_output().clone();
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        let bound = value["bound"]["length"].as_i64().unwrap();
        assert!((least..=optimum).contains(&bound), "{file}: {bound}");
    }
}

#[cfg(unix)]
fn an_interrupt_keeps_the_bound_so_far() {
    let (output, _) = interrupted(&["bound", "E1k.0", "--trees", "1000000"], Duration::from_secs(1));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("no tour is shorter"), "{text}");
}

/// The assignments of ft53 and p43 cost 5931 and 148, that of rbg323 as much as the optimum.
fn directed_instances_have_a_bound() {
    let known = [
        ("br17.atsp", 38, 39),
        ("ft53.atsp", 6_900, 6_905),
        ("ftv33.atsp", 1_285, 1_286),
        ("ftv70.atsp", 1_900, 1_950),
        ("kro124p.atsp", 35_950, 36_230),
        ("p43.atsp", 5_500, 5_620),
        ("rbg323.atsp", 1_326, 1_326),
    ];
    for (file, least, optimum) in known {
        let Some(instance) = published(file) else { continue };
        let output = antwarp(&["bound", &instance, "--json", "-"]).assert().success().get_output().clone();
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        let bound = value["bound"]["length"].as_i64().unwrap();
        assert!((least..=optimum).contains(&bound), "{file}: {bound}");
    }
    let folder = Folder::new(5);
    let (town, result) = (folder.path("town.atsp"), folder.path("result.json"));
    antwarp(&["generate", "roads", "--nodes", "60", "-o", &town]).assert().success();
    solve(&[&town, "--time", "1s", "--bound", "--json", &result]).assert().success();
    let result = json(&result);
    let (cost, bound) = (result["cost"].as_i64().unwrap(), result["bound"]["length"].as_i64().unwrap());
    assert!(bound <= cost && bound as f64 > 0.95 * cost as f64, "{bound} {cost}");
}

fn a_time_too_short_for_a_bound_is_told() {
    let begin = Instant::now();
    antwarp(&["bound", "E100k.0", "--time", "1ms", "--json", "-"])
        .assert()
        .code(2)
        .stdout("")
        .stderr(contains("before a bound was found: give more --time"));
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
}

#[cfg(unix)]
fn an_interrupt_before_there_is_a_bound_ends_the_search_for_one() {
    let (output, took) = interrupted(&["bound", "E316k.0"], Duration::ZERO);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(!output.stdout.is_empty() || told.contains("interrupted before a bound was found"), "{told}");
    assert!(took < Duration::from_secs(20), "{took:?}");
}

/// What `bound` finds: the bound, and the method.
fn bounded(line: &[&str], highs: Option<&str>) -> (i64, String) {
    let mut command = antwarp(&[&["bound", "--json", "-"], line].concat());
    if let Some(file) = highs {
        command.env("ANTWARP_HIGHS", file);
    }
    let output = command.assert().success().get_output().clone();
    let bound = serde_json::from_slice::<Value>(&output.stdout).unwrap()["bound"].clone();
    (bound["length"].as_i64().unwrap(), bound["method"].as_str().unwrap().to_owned())
}

/// kro124p is directed, and linhp318 has a fixed edge, which counts.
fn cutting_planes_raise_the_bound_and_not_above_the_optimum() {
    if !has_highs() {
        return;
    }
    let known = [
        ("d198.tsp", 15_780),
        ("kro124p.atsp", 36_230),
        ("linhp318.tsp", 45_214),
        ("lin318.tsp", 42_029),
        ("gr96.tsp", 55_209),
    ];
    for (file, optimum) in known {
        let Some(instance) = published(file) else { continue };
        let (with, method) = bounded(&[&instance, "--time", "3s"], None);
        let (without, _) = bounded(&[&instance, "--time", "3s"], Some("/nowhere"));
        assert!(without < with && with <= optimum, "{file}: {without}, {with}");
        assert_eq!(method, "cutting planes", "{file}");
    }
}

fn cutting_planes_know_all_shapes() {
    let folder = Folder::new(150);
    let (town, report) = (folder.path("town.atsp"), folder.path("report.json"));
    antwarp(&["generate", "roads", "--nodes", "70", "-o", &town]).assert().success();
    let instance = &folder.instance;
    for shape in [
        &[&town[..]][..],
        &[&town, "--open", "--fix", "3,4"],
        &[instance, "--open", "--start", "2", "--end", "9"],
        &[instance, "--fix", "1,2", "--fix", "2,3", "--forbid", "4,5"],
    ] {
        solve(&[shape, &["--time", "2s", "--json", &report]].concat()).assert().success();
        let cost = json(&report)["cost"].as_i64().unwrap();
        let tour = folder.path("tour");
        solve(&[shape, &["--time", "1s", "--tour", &tour]].concat()).assert().success();
        let (bound, _) = bounded(&[shape, &["--time", "2s", "--initial-tour", &tour]].concat(), None);
        assert!(bound <= cost && bound * 100 > cost * 97, "{shape:?}: {bound}, {cost}");
    }
    let other = folder.path("other.tour");
    solve(&[instance, "--time", "1s", "--tour", &other]).assert().success();
    let fixed =
        ["bound", instance, "--fix", "1,150", "--fix", "150,2", "--time", "2s", "--initial-tour", &other];
    if has_highs() {
        antwarp(&fixed)
            .assert()
            .code(2)
            .stderr(contains("--initial-tour").and(contains("lacks a fixed edge")));
    }
}

fn cutting_planes_end_in_time() {
    let begin = Instant::now();
    let (bound, _) = bounded(&["E1k.0", "--time", "2s"], None);
    assert!(bound > 23_000_000 && bound <= 23_360_648, "{bound}");
    // The machine may be busy.
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
}

fn without_a_library_trees_bound_and_what_is_missing_is_told() {
    let with = |time: &[&str]| {
        let mut command = antwarp(&[&["bound", "E1k.0", "--trees", "200"], time].concat());
        command.env("ANTWARP_HIGHS", "/nowhere").assert().success()
    };
    let told = "antwarp: no cutting planes: no HiGHS library";
    with(&["--time", "5s"]).stderr(contains(told)).stdout(contains("Held-Karp ascent, 200 trees\n"));
    let hint = "200 trees; `--time 10s` may find a better bound by cutting planes";
    with(&[]).stderr(contains(told).not()).stdout(contains(hint));
}
