//! `bench`: rows, and tables of them.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
#[cfg(unix)]
use std::process::{Command as Process, Stdio};
#[cfg(unix)]
use std::time::{Duration, Instant};

use predicates::prelude::*;
use predicates::str::{contains, is_match};
use serde_json::Value;

#[cfg(unix)]
use crate::common::interrupted;
use crate::world::{Folder, antwarp, bench, evolve, json, rows, solve};

tests! {
    bench_mmas_prints_a_line_a_variant,
    bench_ils_prints_a_line_an_operator_and_number_of_kicks,
    bench_solve_measures_any_line,
    a_later_bench_adds_seeds,
    tables_are_made_again_from_raw_rows,
    a_table_has_means_deviations_tests_and_what_differs,
    values_with_equal_results_are_one_treatment,
    a_bench_without_time_has_one_iteration,
    #[cfg(unix)]
    a_bench_of_a_billion_runs_begins_and_ends,
    more_combinations_than_can_be_measured_are_refused,
    a_table_of_one_figure_has_lines_and_columns_of_choice,
    records_are_read,
    a_table_of_many_rows_is_made,
    results_are_compared_exactly,
    #[cfg(unix)]
    an_interrupted_bench_keeps_the_rows_so_far,
    a_bench_tells_what_is_wrong_before_it_measures,
    bench_acs_counts_hits_of_a_selective_memory,
    bench_acs_prints_a_line_a_form_period_and_number_of_ants,
    bench_ga_prints_a_line_a_crossover_and_population,
    bench_paper_runs_the_commands_of_a_table_and_prints_the_papers_figures,
}

/// The head of rows with what tables need of them.
const HEAD: &str = "suite,antwarp,backend,device,details,units,instance,n,settings,seed,repetition,result\n";

fn bench_mmas_prints_a_line_a_variant() {
    let folder = Folder::new(40);
    let table = folder.path("rows.csv");
    let compared = ["--vary", "selection+tabu=wrs+bitmask,rwm+list", "--vary", "candidates=all,8"];
    bench("mmas", &folder.instance, &["--iterations", "10", "--seeds", "3", "--csv", &table])
        .args(compared)
        .assert()
        .success()
        .stdout(contains("wrs+bitmask").and(contains("build ms")))
        .stdout(contains("Friedman tests of selection+tabu, blocks are seeds"));
    let rows = rows(&table);
    assert_eq!(rows.len(), 4 * 3);
    for row in &rows {
        let settings: Value = serde_json::from_str(&row["settings"]).unwrap();
        assert_eq!((&settings["ants"], &settings["rho"]), (&"n".into(), &"0.5".into()));
        assert_eq!((&settings["solver"]["ants"], &settings["solver"]["rho"]), (&40.into(), &0.5.into()));
        assert!(row["construction_ms"].parse::<f64>().unwrap() > 0.0);
        assert_eq!((row["suite"].as_str(), row["iterations"].as_str()), ("mmas", "10"));
    }
    // Without anything else the six variants, all nodes and 32 candidates.
    let all =
        bench("mmas", &folder.instance, &["--iterations", "2", "--", "--rho", "0.9"]).assert().success();
    let text = String::from_utf8(all.get_output().stdout.clone()).unwrap();
    assert_eq!(text.lines().count(), 2 + 12, "{text}");
    assert!(text.contains("options --rho 0.9"), "{text}");
}

fn bench_ils_prints_a_line_an_operator_and_number_of_kicks() {
    let folder = Folder::new(40);
    let table = folder.path("rows.csv");
    let compared = ["--vary", "local-search=two-opt,three-opt", "--iterations", "0.1n,30", "--seeds", "2"];
    // It has no known length, so there are no gaps to take means of.
    bench("ils", &folder.instance, &["--csv", &table])
        .args(compared)
        .assert()
        .success()
        .stdout(contains("two-opt").and(contains("0.1n")).and(contains("means").not()));
    let kicks = |row: &HashMap<String, String>| row["iterations"].parse::<u64>().unwrap();
    assert_eq!(rows(&table).iter().map(kicks).collect::<Vec<_>>(), [4, 4, 30, 30, 4, 4, 30, 30]);
    let output = bench("ils", "E1k.0,E3k.0", &["--csv", "-"])
        .args(compared)
        .assert()
        .success()
        .stderr(contains("means of the mean gaps").and(contains("400-2000")).and(contains("(1)")))
        .stderr(contains("(2)"))
        .get_output()
        .clone();
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1 + 16);
}

fn bench_solve_measures_any_line() {
    let folder = Folder::new(60);
    let table = folder.path("rows.csv");
    let line = ["--vary", "algorithm=ils,mmas,ga", "--seeds", "2", "--iterations", "20", "--csv", &table];
    bench("solve", &folder.instance, &line)
        .args(["--", "--local-search", "two-opt", "--neighbors", "6"])
        .assert()
        .success()
        .stdout(contains("options --local-search two-opt --neighbors 6").and(contains("algorithm")));
    let rows = rows(&table);
    assert_eq!(rows.len(), 6);
    // The same as solve finds.
    for row in &rows {
        let settings: Value = serde_json::from_str(&row["settings"]).unwrap();
        let algorithm = settings["algorithm"].as_str().unwrap();
        let report = folder.path("run.json");
        solve(&[&folder.instance, "--algorithm", algorithm, "--seed", &row["seed"], "--iterations", "20"])
            .args(["--local-search", "two-opt", "--neighbors", "6", "--json", &report])
            .assert()
            .success();
        let report = json(&report);
        assert_eq!(report["cost"].to_string(), row["result"], "{algorithm}");
        let mut solver = report["settings"].clone();
        solver.as_object_mut().unwrap().remove("seed");
        assert_eq!(solver, settings["solver"]);
    }
    // A time for each run, and an end that is none of the bench's.
    bench("solve", &folder.instance, &["--time", "50ms,100ms"])
        .assert()
        .success()
        .stdout(contains("0.05s").and(contains("0.1s")));
    bench("solve", &folder.instance, &["--", "--descent-only"]).assert().success();
}

fn a_later_bench_adds_seeds() {
    let folder = Folder::new(30);
    let measured = |seeds: [&str; 4], name: &str| {
        let table = folder.path(name);
        bench("ils", &folder.instance, &["--iterations", "5", "--csv", &table])
            .args(seeds)
            .assert()
            .success();
        rows(&table).into_iter().map(|row| (row["seed"].clone(), row["result"].clone())).collect::<Vec<_>>()
    };
    let all = measured(["--first-seed", "1", "--seeds", "5"], "all.csv");
    let last = measured(["--first-seed", "4", "--seeds", "2"], "last.csv");
    assert_eq!(all.iter().map(|(seed, _)| &seed[..]).collect::<Vec<_>>(), ["1", "2", "3", "4", "5"]);
    assert_eq!(all[3..], last);
}

fn tables_are_made_again_from_raw_rows() {
    let folder = Folder::new(30);
    let suites: &[(&str, &[&str])] = &[
        ("mmas", &["--iterations", "6", "--seeds", "5", "--vary", "candidates=8", "--vary", "ants=4"]),
        ("acs", &["--iterations", "6", "--seeds", "6", "--parallel", "2", "--", "--ants", "4"]),
        ("ils", &["--iterations", "0.1n,1n", "--seeds", "3", "--repeat", "2"]),
        ("ga", &["--seeds", "2", "--iterations", "9", "--curve", "--", "--population", "64"]),
        ("solve", &["--iterations", "50", "--seeds", "3"]),
    ];
    for (suite, args) in suites {
        let files = ["rows.csv", "rows.json"].map(|name| folder.path(&format!("{suite}-{name}")));
        let instances = format!("{},E1k.0", folder.instance);
        let first = bench(suite, &instances, &["--csv", &files[0], "--json", &files[1]])
            .args(*args)
            .assert()
            .success()
            .get_output()
            .clone();
        let again =
            antwarp(&["bench", "table", &files[0]]).assert().success().stderr("").get_output().clone();
        let [first, again] = [first, again].map(|output| String::from_utf8(output.stdout).unwrap());
        assert_eq!(again, first);
        assert!(first.starts_with(&format!("{suite}: antwarp ")), "{first}");
        // The JSON has the same rows.
        let rows = rows(&files[0]);
        let saved = json(&files[1]);
        assert_eq!(saved.as_array().unwrap().len(), rows.len());
        for (row, saved) in rows.iter().zip(saved.as_array().unwrap()) {
            assert_eq!(row["result"], saved["result"].to_string());
            assert_eq!(serde_json::from_str::<Value>(&row["settings"]).unwrap(), saved["settings"]);
            let gap = saved["gap_percent"].as_f64();
            assert_eq!(gap.is_some(), row["instance"] == "E1k.0");
            let written = row["gap_percent"].parse::<f64>().ok();
            assert!(written.zip(gap).is_none_or(|(written, gap)| (written - gap).abs() < 1e-9));
            assert_eq!(written.is_some(), gap.is_some());
        }
    }
    // Rows of several files are one table of each suite, as Markdown too.
    let files = ["acs", "solve", "solve"].map(|suite| folder.path(&format!("{suite}-rows.csv")));
    antwarp(&["bench", "table", "--markdown"])
        .args(&files)
        .assert()
        .success()
        .stdout(contains("acs: antwarp").and(contains("solve: antwarp")))
        .stdout(contains("|---|---|").and(contains("---:|")).and(contains("| E1k.0 ")))
        .stdout(contains("Friedman tests of pheromone+update"));
    let output = folder.path("tables");
    antwarp(&["bench", "table", &files[0], "--output", &output]).assert().success().stdout("");
    let said = antwarp(&["bench", "table", &files[0]]).output().unwrap().stdout;
    assert_eq!(fs::read(output).unwrap(), said);
    antwarp(&["bench", "table", &files[0], "-o", &files[0]])
        .assert()
        .code(2)
        .stderr(contains("is one of the files"));
    let wrong = [
        (folder.file("other.csv", b"instance\n1\n"), 3, "no column `suite`"),
        (folder.instance.clone(), 3, "no column `suite`"),
        (folder.path("none.csv"), 3, "bench --csv"),
    ];
    for (file, status, word) in &wrong {
        antwarp(&["bench", "table", file]).assert().code(*status).stdout("").stderr(contains(*word));
    }
    let text = fs::read_to_string(&files[1]).unwrap();
    let cut = folder.file("cut.csv", &text.as_bytes()[..text.len() - 20]);
    antwarp(&["bench", "table", &cut]).assert().code(3).stdout("").stderr(contains("bench --csv"));
    let foreign = folder.file("foreign.csv", text.replace("solve,", "magic,").as_bytes());
    antwarp(&["bench", "table", &foreign]).assert().code(3).stderr(contains("unknown suite `magic`"));
}

fn a_table_has_means_deviations_tests_and_what_differs() {
    let folder = Folder::new(5);
    let mut text = "suite,antwarp,backend,device,details,units,instance,n,settings,seed,repetition,seconds,\
        setup_seconds,iterations,result,gap_percent,optimal\n"
        .to_owned();
    // Lengths of five seeds, by operator and instance, beside the optimum 100. Seed 5 was run twice.
    let lengths = [("a", 80, [110, 112, 114, 116, 118, 118]), ("b", 500, [130, 132, 134, 136, 138, 138])];
    for (instance, n, lengths) in lengths {
        for (operator, less) in [("two-opt", 0), ("three-opt", 10)] {
            for (i, length) in lengths.iter().enumerate() {
                let (seed, repetition, length) = (i.min(4) + 1, i / 5 + 1, length - less);
                let settings =
                    format!("{{\"\"local-search\"\":\"\"{operator}\"\",\"\"solver\"\":{{\"\"k\"\":8}}}}");
                text += &format!(
                    "ils,0.1.0,cpu,P,x,2,{instance},{n},\"{settings}\",{seed},{repetition},1.5,0.5,7,{length},{},{}\n",
                    length - 100,
                    u8::from(length == 100),
                );
            }
        }
    }
    let file = folder.file("rows.csv", text.as_bytes());
    let table = "\
ils: antwarp 0.1.0, cpu, P, x, units 2
instance  n    local-search  runs  done  seconds  set-up s      mean      sd  best   gap %  gap sd  least gap  optimal               against first
a         80   two-opt          6     7    1.500    0.5000  114.6667  3.2660   110  14.667   3.266     10.000        0
a         80   three-opt        6     7    1.500    0.5000  104.6667  3.2660   100   4.667   3.266      0.000        1  W = 15, p = 0.0244: better
b         500  two-opt          6     7    1.500    0.5000  134.6667  3.2660   130  34.667   3.266     30.000        0
b         500  three-opt        6     7    1.500    0.5000  124.6667  3.2660   120  24.667   3.266     20.000        0  W = 15, p = 0.0244: better

Friedman tests of local-search, blocks are seeds; Holm's correction is for 2 tests
instance  mean ranks                    seeds  freedom     χ²       p  p by Holm
a         two-opt 2.00, three-opt 1.00      5        1  5.000  0.0253     0.0507
b         two-opt 2.00, three-opt 1.00      5        1  5.000  0.0253     0.0507

means of the mean gaps in %, by number of nodes; in brackets: number of instances
local-search         all      70-400    400-2000  2000-18512  optimum reached
two-opt       24.667 (2)  14.667 (1)  34.667 (1)                       0 of 2
three-opt     14.667 (2)   4.667 (1)  24.667 (1)                       1 of 2
";
    antwarp(&["bench", "table", &file]).assert().success().stdout(table);
}

/// Of three values two have equal results: ranked as three, with two degrees of freedom, they would tell of a difference
/// with p = 0.0498 instead of 0.0833.
fn values_with_equal_results_are_one_treatment() {
    let folder = Folder::new(5);
    let mut text = HEAD.to_owned();
    for (tabu, more) in [("list", 0), ("compact", 0), ("bitmask", 5)] {
        for (instance, seed) in (1..=3).flat_map(|seed| [("a", seed), ("b", seed)]) {
            // In instance b nothing makes a difference.
            let more = if instance == "a" { more } else { 0 };
            let settings = format!("{{\"\"tabu\"\":\"\"{tabu}\"\"}}");
            text +=
                &format!("mmas,0.1.0,cpu,P,x,2,{instance},9,\"{settings}\",{seed},1,{}\n", 100 + seed + more);
        }
    }
    let file = folder.file("rows.csv", text.as_bytes());
    let tests = "
Friedman tests of tabu, blocks are seeds; Holm's correction is for 1 tests
instance  mean ranks                         seeds  freedom     χ²       p  p by Holm
a         list = compact 1.00, bitmask 2.00      3        1  3.000  0.0833     0.0833
b         list = compact = bitmask               3        0
";
    antwarp(&["bench", "table", &file]).assert().success().stdout(contains(tests));
}

fn a_bench_without_time_has_one_iteration() {
    for suite in ["mmas", "acs"] {
        let line =
            ["bench", suite, "--backend", "cpu", "--instances", "E1k.0", "--vary", "ants=8", "--time", "1ms"];
        let output = antwarp(&[&line[..], &["--csv", "-"]].concat()).assert().success().get_output().clone();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut rows = csv::Reader::from_reader(text.as_bytes());
        let at = rows.headers().unwrap().iter().position(|name| name == "iterations").unwrap();
        assert_eq!(rows.records().next().unwrap().unwrap()[at].parse::<u32>().unwrap(), 1, "{suite}");
    }
}

/// They cannot be listed, and none of them lasts long enough to hear an interrupt itself.
#[cfg(unix)]
fn a_bench_of_a_billion_runs_begins_and_ends() {
    let folder = Folder::new(5);
    let table = folder.path("rows.csv");
    let args = ["bench", "solve", "--backend", "cpu", "--instances", &folder.instance, "--csv", &table];
    let many = ["--iterations", "5", "--seeds", "1048576", "--repeat", "1024"];
    let (output, _) = interrupted(&[&args[..], &many].concat(), Duration::from_millis(500));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("1 of 1073741824: "), "{said}");
    let rows = rows(&table);
    let numbers = |name: &str| rows.iter().map(|row| row[name].parse().unwrap()).collect::<Vec<usize>>();
    // Of each seed all repetitions.
    assert!((0..rows.len()).map(|i| i / 1024 + 1).eq(numbers("seed")));
    assert!((0..rows.len()).map(|i| i % 1024 + 1).eq(numbers("repetition")));
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains(&format!("  {}  ", rows.len())), "{printed}");
}

fn more_combinations_than_can_be_measured_are_refused() {
    let folder = Folder::new(5);
    let mut run = bench("solve", &folder.instance, &["--iterations", "5"]);
    for option in ["neighbors", "trials", "chains", "ants", "slots", "tabu"] {
        run.args(["--vary", &format!("{option}=1,2,3,4,5,6,7,8,9,10")]);
    }
    run.assert().code(2).stdout("").stderr(contains("more than 100000 combinations"));
}

/// Rows of two machines and two settings, with gaps.
fn gaps(folder: &Folder, name: &str) -> String {
    let mut text = HEAD.replace("result", "result,gap_percent,part");
    let rows = [
        ("cpu", "a", "list", "0.5", "one"),
        ("cpu", "a", "list", "0.7", "one"),
        ("cpu", "b", "list", "0", "one"),
        ("cuda", "a", "bitmask", "0.25", "two"),
        ("cuda", "b", "bitmask", "1e-9", "two"),
    ];
    for (i, (backend, instance, tabu, gap, part)) in rows.into_iter().enumerate() {
        let settings = format!("{{\"\"tabu\"\":\"\"{tabu}\"\"}}");
        text += &format!("mmas,0.1.0,{backend},P,x,2,{instance},9,\"{settings}\",{i},1,100,{gap},{part}\n");
    }
    folder.file(name, text.as_bytes())
}

fn a_table_of_one_figure_has_lines_and_columns_of_choice() {
    let folder = Folder::new(5);
    let file = gaps(&folder, "rows.csv");
    let table = |args: &[&str]| {
        let run = antwarp(&[&["bench", "table", &file], args].concat()).assert().success().stderr("");
        String::from_utf8(run.get_output().stdout.clone()).unwrap()
    };
    let pivot = ["--rows", "backend", "--columns", "instance", "--cell"];
    let each = "\
gap_percent
                  a      b
cpu   0.500 / 0.700      0
cuda          0.250  0.000
";
    assert_eq!(table(&[&pivot[..], &["gap_percent"]].concat()), each);
    // The order is that of --where; labels stand in place of values; settings are found as columns are.
    let ordered = ["--where", "instance=b,a", "--where", "tabu=bitmask,list", "--label", "cuda=a | GPU"];
    let chosen = ["--rows", "backend", "--columns", "instance", "--cell", "gap_percent:mean:1", "--markdown"];
    let markdown = "\
gap_percent

|         |   b |   a |
|---|---:|---:|
| cpu     |   0 | 0.6 |
| a \\| GPU | 0.0 | 0.2 |
";
    assert_eq!(table(&[&chosen[..], &ordered].concat()), markdown);
    for (figure, cell) in [("least", "0.500"), ("median", "0.600"), ("count", "2")] {
        let said =
            table(&[&pivot[..], &[&format!("gap_percent:{figure}"), "--where", "instance=a"]].concat());
        assert!(said.lines().any(|line| line.starts_with("cpu") && line.ends_with(cell)), "{said}");
    }
    // Other tables keep only these rows, too.
    let kept = table(&["--where", "part=two"]);
    assert!(kept.contains("bitmask") && !kept.contains("list"), "{kept}");

    let refused: &[(&[&str], i32, &str)] = &[
        (&["--where", "instance=c"], 3, "no row matches --where"),
        (&["--where", "instance"], 2, "--where"),
        (&["--rows", "backend"], 2, "--columns"),
        (&["--label", "cuda=GPU"], 2, "--cell"),
        (&["--rows", "backend", "--columns", "instance", "--cell", "layout"], 3, "column `layout`"),
        (&["--rows", "backend", "--columns", "instance", "--cell", "result:most"], 2, "FIGURE"),
        (&["--rows", "backend", "--columns", "instance", "--cell", "result:mean:x"], 2, "FIGURE"),
    ];
    for (args, status, word) in refused {
        let run = antwarp(&[&["bench", "table", &file], *args].concat()).assert();
        run.code(*status).stdout("").stderr(contains(*word));
    }
}

/// benches/runs holds a table of runs for each campaign.
fn records_are_read() {
    let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/runs");
    let mut count = 0;
    for entry in fs::read_dir(&records).unwrap() {
        let file = entry.unwrap().path().join("runs.csv.gz");
        if file.exists() {
            let run = antwarp(&["bench", "table", file.to_str().unwrap()]).assert().success().stderr("");
            assert!(!run.get_output().stdout.is_empty());
            count += 1;
        }
    }
    assert!(count >= 14, "{count}");
    // Other tables are shown as they are, and what is none is refused with what it begins with.
    let sanitizer = records.join("2026-11-23-h200-sanitizer/tests-per-kernel.csv");
    antwarp(&["bench", "table", "--markdown", sanitizer.to_str().unwrap()])
        .assert()
        .success()
        .stdout(contains("racecheck").and(contains("|---|")));
    let printed = records.join("2026-11-25-h100x2-1f0b7c4/lin-kernighan.txt");
    antwarp(&["bench", "table", printed.to_str().unwrap()])
        .assert()
        .code(3)
        .stderr(contains("not a table of runs").and(contains("# Printed output, not a table of runs")));
}

/// What takes the square of their number would take hours.
fn a_table_of_many_rows_is_made() {
    let folder = Folder::new(5);
    let mut text = HEAD.to_owned();
    for (tabu, more) in [("list", 0), ("bitmask", 1)] {
        for seed in 1..=100_000 {
            let settings = format!("{{\"\"tabu\"\":\"\"{tabu}\"\"}}");
            text += &format!("mmas,0.1.0,cpu,P,x,2,a,9,\"{settings}\",{seed},1,{}\n", seed % 7 + more);
        }
    }
    let file = folder.file("rows.csv", text.as_bytes());
    antwarp(&["bench", "table", &file])
        .assert()
        .success()
        .stdout(contains("100000").and(contains("list 1.00, bitmask 2.00")));
}

/// As real numbers of 64 bits all of these results are the same.
fn results_are_compared_exactly() {
    let folder = Folder::new(5);
    let mut text = HEAD.to_owned();
    for (tabu, more) in [("list", 0), ("bitmask", 5)] {
        for seed in 1..=5 {
            let settings = format!("{{\"\"tabu\"\":\"\"{tabu}\"\"}}");
            let result = 450_358_044_767_908_290_i64 + seed + more;
            text += &format!("mmas,0.1.0,cpu,P,x,2,a,9,\"{settings}\",{seed},1,{result}\n");
        }
    }
    text += "mmas,0.1.0,cpu,P,x,2,a,9,\"{\"\"tabu\"\":\"\"bitmask\"\"}\",6,1,450358044767908297\n";
    let file = folder.file("rows.csv", text.as_bytes());
    let table = "\
mmas: antwarp 0.1.0, cpu, P, x, units 2
instance  n  tabu     runs                  mean      sd                best              against first
a         9  list        5    450358044767908293  1.5811  450358044767908291
a         9  bitmask     6  450358044767908297.8  1.4720  450358044767908296  W = 51, p = 0.0080: worse

Friedman tests of tabu, blocks are seeds; Holm's correction is for 1 tests
instance  mean ranks               seeds  freedom     χ²       p  p by Holm
a         list 1.00, bitmask 2.00      5        1  5.000  0.0253     0.0253
";
    antwarp(&["bench", "table", &file]).assert().success().stdout(table);
}

#[cfg(unix)]
fn an_interrupted_bench_keeps_the_rows_so_far() {
    let folder = Folder::new(50);
    let table = folder.path("rows.csv");
    let run = Process::new(env!("CARGO_BIN_EXE_antwarp"))
        .args(["bench", "solve", "--backend", "cpu", "--instances", &folder.instance, "--csv", &table])
        .args(["--seeds", "100000", "--time", "50ms", "--", "--algorithm", "mmas"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while fs::read_to_string(&table).map_or(0, |text| text.lines().count()) < 4 {
        assert!(begin.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Process::new("kill").args(["-TERM", &run.id().to_string()]).status().unwrap().success());
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    let kept = rows(&table);
    assert!(kept.len() >= 3);
    for (seed, row) in (1..).zip(&kept) {
        assert_eq!((row["seed"].parse(), row["stopped_by"].as_str()), (Ok(seed), "time"));
    }
    let again = antwarp(&["bench", "table", &table]).assert().success().get_output().clone();
    assert_eq!(again.stdout, output.stdout);
    assert!(String::from_utf8(again.stdout).unwrap().contains(&format!(" {} ", kept.len())));
}

fn a_bench_tells_what_is_wrong_before_it_measures() {
    let folder = Folder::new(20);
    // The second population does not fit the first's file.
    let [individuals, table] = ["a.population", "rows.csv"].map(|name| folder.path(name));
    evolve(&[&folder.instance, "--iterations", "0", "--population", "32", "--groups", "1"])
        .args(["--save-population", &individuals])
        .assert()
        .success();
    bench("ga", &folder.instance, &["--vary", "population=32,48", "--csv", &table])
        .args(["--", "--groups", "1", "--load-population", &individuals])
        .assert()
        .code(2)
        .stderr(contains("multiple of the 32 individuals"));
    assert!(!Path::new(&table).exists(), "what is wrong is told before anything is measured");
}

fn bench_acs_counts_hits_of_a_selective_memory() {
    let folder = Folder::new(40);
    let table = folder.path("rows.csv");
    let ratios = |args: &[&str]| -> Vec<f64> {
        let common = ["--hits", "--csv", &table, "--vary", "slots=2,8"];
        let common = [&common[..], args, &["--", "--ants", "4", "--pheromone", "selective"]].concat();
        let more = if args[1] == "1" { ["--update-period", "0"] } else { ["--remember", "taken"] };
        let run = bench("acs", &folder.instance, &common).args(more).assert().success();
        run.stdout(contains("hit ratio"));
        rows(&table).iter().map(|row| row["hit_ratio"].parse().unwrap()).collect()
    };
    // The first global update finds all rings empty.
    assert_eq!(ratios(&["--iterations", "1"]), [0.0, 0.0]);
    // More slots, more hits.
    let found = ratios(&["--iterations", "20"]);
    assert!(0.0 < found[0] && found[0] < found[1] && found[1] < 1.0, "{found:?}");
}

fn bench_acs_prints_a_line_a_form_period_and_number_of_ants() {
    let folder = Folder::new(40);
    let table = folder.path("rows.csv");
    bench("acs", &folder.instance, &["--tours", "10n", "--csv", &table, "--seeds", "5", "--parallel", "2"])
        .args(["--vary", "pheromone+update=matrix+atomic,selective+relaxed"])
        .args(["--vary", "update-period=1,4", "--vary", "ants=10,n"])
        .assert()
        .success()
        .stdout(contains("against first").and(contains("W = ")))
        .stdout(contains("Friedman tests of pheromone+update, blocks are seeds"))
        .stdout(contains("Friedman tests of update-period, blocks are seeds"))
        .stdout(contains("Friedman tests of ants, blocks are seeds"))
        .stdout(contains("build ms").not());
    let together = rows(&table);
    assert_eq!(together.len(), 8 * 5);
    for (i, row) in together.iter().enumerate() {
        let number = |name: &str| row[name].parse::<f64>().unwrap();
        assert_eq!(number("ants") * number("iterations"), 400.0);
        assert_eq!(
            (row["seconds"].as_str(), row["total_ms"].as_str()),
            ("", ""),
            "no times at the same time"
        );
        assert_eq!((number("seed") as usize, number("pheromone_bytes") > 0.0), (i % 5 + 1, true));
    }
    // What runs alone has times, and the same tours.
    bench("acs", &folder.instance, &["--tours", "10n", "--csv", &table, "--seeds", "5"])
        .args(["--vary", "ants=10", "--", "--pheromone", "matrix", "--update", "atomic"])
        .assert()
        .success()
        .stdout(contains("build ms").and(contains("--update atomic")));
    for (alone, before) in rows(&table).iter().zip(&together) {
        assert!(alone["seconds"].parse::<f64>().unwrap() > 0.0);
        assert_eq!((&alone["result"], &alone["seed"]), (&before["result"], &before["seed"]));
    }
    // Gaps where the length is known; a time ends the runs.
    bench("acs", "E1k.0", &["--time", "50ms", "--seeds", "6", "--against", "-,0.01"])
        .args(["--vary", "pheromone=candidate,selective", "--", "--ants", "2"])
        .assert()
        .success()
        .stdout(contains("against published").and(contains("W = 21, p = 0.0360: worse")));
}

fn bench_ga_prints_a_line_a_crossover_and_population() {
    let folder = Folder::new(40);
    let [table, report] = ["table.csv", "table.json"].map(|name| folder.path(name));
    let compared = ["--vary", "crossover=scx,bcscx", "--vary", "population=64,128", "--vary", "groups=1,4"];
    // The length of this one is known.
    bench("ga", "E1k.0", &compared)
        .args(["--iterations", "40", "--seeds", "2", "--epsilon", "0.5", "--csv", &table, "--json", &report])
        .arg("--curve")
        .assert()
        .success()
        .stdout(contains("generation  seconds").and(contains("crossover scx, groups 1, population 64")));
    assert_eq!(rows(&table).len(), 8 * 2);
    let number = |value: &Value| value.as_f64().unwrap();
    for row in json(&report).as_array().unwrap() {
        let curve = row["curve"].as_array().unwrap();
        let generations = curve.iter().map(|point| point["generation"].as_u64().unwrap()).collect::<Vec<_>>();
        assert_eq!(generations, [0, 1, 2, 4, 8, 16, 32, 40]);
        assert!(curve.windows(2).all(|pair| number(&pair[1]["best_cost"]) <= number(&pair[0]["best_cost"])));
        assert_eq!(curve[7]["best_cost"], row["result"]);
        assert!(number(&row["generation_ms"]) > 0.0 && number(&row["gap_percent"]) < 1700.0);
        assert!(number(&row["first_gap_percent"]) > number(&row["gap_percent"]));
        // Within half of the best known length, or not yet.
        match row["reached_generation"].as_u64() {
            Some(generation) => {
                assert!((1..=40).contains(&generation) && number(&row["gap_percent"]) <= 50.0)
            }
            None => assert!(number(&row["gap_percent"]) > 50.0),
        }
    }
    assert!(rows(&table).iter().any(|row| !row["reached_generation"].is_empty()));
    // What solve saved is what it begins with.
    let optima = folder.path("optima.population");
    evolve(&[&folder.instance, "--iterations", "0", "--initial", "local-optima"])
        .args(["--population", "32", "--groups", "1", "--save-population", &optima])
        .assert()
        .success();
    bench("ga", &folder.instance, &["--vary", "population=32,64", "--iterations", "3"])
        .args(["--", "--groups", "1", "--pairing", "fixed", "--load-population", &optima])
        .assert()
        .success();
    let wrong: &[(&[&str], i32, &str)] = &[
        (
            &["--", "--load-population", &optima, "--population", "48", "--groups", "1"],
            2,
            "multiple of the 32 individuals",
        ),
        (&["--vary", "population=30"], 2, "a multiple of 4 times --groups"),
        (&["--epsilon", "nan"], 2, "--epsilon"),
        (&["--iterations", "0"], 2, "--iterations"),
        (&["--instances", "E1k.0", "--", "--load-population", &optima], 3, "E1k.0"),
    ];
    for (args, status, word) in wrong {
        bench("ga", &folder.instance, args).assert().code(*status).stdout("").stderr(contains(*word));
    }
}

fn bench_paper_runs_the_commands_of_a_table_and_prints_the_papers_figures() {
    let folder = Folder::new(30);
    fs::create_dir(folder.path("tsplib")).unwrap();
    fs::copy(&folder.instance, folder.path("tsplib/pcb442.tsp")).unwrap();
    let (data, csv) = (folder.path(""), folder.path("rows"));
    let quick = ["bench", "paper", "acs", "--table", "4", "--quick"];
    antwarp(&quick)
        .args(["--data", &data, "--backend", "cpu", "--csv", &csv])
        .assert()
        .success()
        // The command, a line of its table, and one of the paper's.
        .stdout(contains("\nantwarp bench acs --instances tsplib/pcb442.tsp --iterations 20"))
        .stdout(contains("update-period"))
        .stdout(contains("| 16 | 0.9 | 1.9 | 2.2 | 4.4 |"))
        // A figure of the paper's with ours and the verdict, one whose instance is not there, and how many there are of each: the
        // file is another instance under this name.
        .stdout(is_match(r"\n16 +d198 +0\.9 +not runnable\n").unwrap())
        .stdout(is_match(r"\nacs +0 +0 +0 +0 +10 +70\n").unwrap())
        .stderr(contains("skipped: tsplib/d198.tsp"));
    let rows = rows(&folder.path("rows/acs-table-4-quick-1.csv"));
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row["n"] == "30" && row["iterations"] == "20"), "{rows:?}");

    antwarp(&quick)
        .arg("--list")
        .assert()
        .success()
        .stdout(contains("4          Table 4:").and(contains("d198")));
    antwarp(&["bench", "paper", "acs", "--table", "1"])
        .assert()
        .code(2)
        .stderr(contains("3, 4, 5, figure-7"));
    antwarp(&quick)
        .args(["--data", &folder.path("none")])
        .assert()
        .code(2)
        .stderr(contains("no such folder"));
    antwarp(&["bench", "paper", "tsp"]).assert().code(2).stderr(contains("mmas"));
    // Records need no runs.
    let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/runs");
    let recorded = ["bench", "paper", "--records", records.to_str().unwrap()];
    antwarp(&recorded)
        .args(["--counts", "--markdown"])
        .assert()
        .success()
        .stdout(is_match(r"\n\| \[acs\]\(acs\.md\) +\| +[1-9][0-9]+ \|").unwrap());
    antwarp(&recorded)
        .args(["mmas", "--table", "9"])
        .assert()
        .success()
        .stdout(is_match(r"\natt532 +mean +27708\.9 +not runnable\n").unwrap())
        .stdout(is_match(r"\neil51 +best +426 +426 \([0-9]+ runs\) +level\n").unwrap());
    antwarp(&["bench", "paper", "--records", &folder.path("none")]).assert().code(3);
    // A command that fails ends it, with the status of the command.
    folder.file("tsplib/d198.tsp", b"TYPE: TSP\n");
    antwarp(&quick).args(["--data", &data, "--backend", "cpu"]).assert().code(3).stderr(contains("d198"));
}
