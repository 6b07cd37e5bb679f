//! What cannot be done is told, with its exit status.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use crate::harness;
use crate::world::{Folder, antwarp, bench, colony_system, evolve, search, solve};

tests! {
    wrong_usage_is_status_2,
    options_of_other_algorithms_are_refused,
    bad_inputs_are_status_3_and_name_the_file,
    a_gpu_that_is_not_there_is_status_4,
    an_output_that_cannot_be_written_is_refused_before_solving,
    #[cfg(target_os = "linux")]
    a_full_disk_does_not_lose_the_tour,
    an_invalid_tour_is_status_6_and_the_fault_is_named,
    fixed_edges_behind_the_end_of_another_section_count,
    #[cfg(target_os = "linux")]
    short_memory_is_told_before_it_is_used_up,
    #[cfg(target_os = "linux")]
    a_file_is_read_as_far_as_there_is_memory,
    rows_and_runs_are_not_read_without_end,
    more_nodes_than_can_be_are_refused,
    #[cfg(target_os = "linux")]
    threads_that_cannot_be_started_are_told,
    #[cfg(target_os = "linux")]
    a_limit_of_processor_time_keeps_the_tour,
    several_ranks_need_mpi,
    #[cfg(not(feature = "serve"))]
    a_build_without_the_server_says_so,
    a_reader_that_has_enough_is_no_failure,
}

#[cfg(not(feature = "serve"))]
fn a_build_without_the_server_says_so() {
    let line =
        "antwarp: this antwarp was built without `serve`: build it with --features serve (docs/serve.md)\n";
    antwarp(&["serve", "--bind", "127.0.0.1:0"]).assert().code(2).stdout("").stderr(line);
}

fn wrong_usage_is_status_2() {
    let folder = Folder::new(10);
    let (instance, output) = (folder.instance.as_str(), folder.path("x"));
    let wrong: &[(&[&str], &str)] = &[
        (&["--no-such-option"], "--no-such-option"),
        (&["--alpha", "nan"], "--alpha"),
        (&["--rho", "1"], "--rho"),
        (&["--algorithm", "mmas", "--candidates", "0"], "at least 1"),
        (&["--ants", "0"], "--ants"),
        (&["--ants", "4294967296"], "give at most 4294967295"),
        (&["--candidates", "99999999999999999999"], "give at most 4294967295, or `all`"),
        (&["--ants", "many"], "give a whole number"),
        (&["--time", "soon"], "10s"),
        (&["--iterations", "0"], "--iterations"),
        (&["--iterations", "0n"], "0.1n"),
        (&["--iterations", "many"], "0.1n"),
        (&["--algorithm", "magic"], "mmas"),
        (&["--tour", "-", "--json", "-"], "two outputs"),
        (&["--tour", &output, "--json", &output], "two outputs"),
        (&["--tour", instance], "is the instance"),
    ];
    for (args, word) in wrong {
        solve(&[instance]).args(*args).assert().code(2).stdout("").stderr(contains(*word));
    }
    let wrong: &[(&[&str], &str)] = &[
        (&["--local-search", "none"], "three-opt"),
        (&["--local-search", "four-opt"], "three-opt"),
        (&["--first-tour", "nowhere"], "greedy"),
        (&["--accept", "all"], "annealing"),
        (&["--neighbor-lists", "far"], "quadrant"),
        (&["--neighbors", "0"], "--neighbors"),
        (&["--neighbors", "101"], "--neighbors"),
        (&["--breadth", "0"], "--breadth"),
        (&["--segment=-1"], "--segment"),
        (&["--temperature", "nan"], "--temperature"),
        (&["--temperature", "1e9"], "--temperature"),
        (&["--chains", "0"], "--chains"),
        (&["--trials", "0"], "--trials"),
        (&["--walk", "1001"], "--walk"),
        (&["--gpus", "0"], "--gpus"),
        (&["--gpus", "1,1"], "named twice"),
        (&["--gpus", "2"], "--gpus has no effect"),
        (&["--segment", "9"], "--segment applies only with --improvement best"),
        (&["--improvement", "best", "--chains", "2"], "--chains applies only with --improvement first"),
    ];
    for (args, word) in wrong {
        search(&[instance]).args(*args).assert().code(2).stdout("").stderr(contains(*word));
    }
    let wrong: &[(&[&str], &str)] = &[
        (&["--candidates", "all"], "--candidates must be a number with acs"),
        (&["--candidates", "0"], "at least 1"),
        (&["--ants", "0"], "--ants"),
        (&["--alpha", "0"], "--alpha"),
        (&["--alpha", "1"], "--alpha"),
        (&["--beta", "21"], "--beta"),
        (&["--rho", "0"], "--rho"),
        (&["--rho", "nan"], "--rho"),
        (&["--q0", "1.1"], "--q0"),
        (&["--q0=-0.1"], "--q0"),
        (&["--slots", "0"], "--slots"),
        (&["--slots", "33"], "--slots"),
        (&["--pheromone", "selective", "--update", "atomic"], "use --update relaxed, or --pheromone matrix"),
        (&["--pheromone", "matrix", "--slots", "4"], "--slots applies only with --pheromone selective"),
        (
            &["--pheromone", "matrix", "--remember", "best"],
            "--remember applies only with --pheromone selective",
        ),
        (
            &["--pheromone", "candidate", "--greedy", "candidates"],
            "--greedy applies only with --pheromone selective",
        ),
        (&["--pheromone", "list"], "candidate"),
        (&["--update", "never"], "sequential"),
    ];
    for (args, word) in wrong {
        colony_system(&[instance]).args(*args).assert().code(2).stdout("").stderr(contains(*word));
    }
    let wrong: &[(&[&str], &str)] = &[
        (&["--population", "36", "--groups", "8"], "a multiple of 4 times --groups"),
        (&["--population", "0"], "--population"),
        (&["--groups", "0"], "--groups"),
        (&["--mutation", "1.1"], "--mutation"),
        (&["--mutation", "nan"], "--mutation"),
        (&["--crossover", "none"], "bcscx"),
        (&["--pairing", "never"], "shuffled"),
        (&["--initial", "file"], "local-optima"),
        (&["--initial", "ants", "--load-population", "p.tour"], "--load-population"),
        (&["--neighbors", "0"], "--neighbors"),
        (&["--save-population", instance], "is the instance"),
        (&["--descent-only"], "applies only to lk or ils"),
    ];
    for (args, word) in wrong {
        evolve(&[instance]).args(*args).assert().code(2).stdout("").stderr(contains(*word));
    }
    solve(&[instance, "--iterations", "0"]).assert().code(2).stderr(contains("0 is for --algorithm ga"));
    let wrong: &[(&[&str], &str)] = &[
        (&["--vary", "pheromone+update=selective+atomic"], "--update relaxed"),
        (&["--vary", "ants=0"], "--ants"),
        (&["--iterations", "5", "--tours", "50"], "--tours"),
        (&["--parallel", "2", "--time", "1s"], "--time"),
        (&["--seeds", "6", "--against", "3.1,-"], "each of the 4 lines"),
        (&["--seeds", "5", "--against", "3.1,-,-,-"], "--seeds 6"),
        (&["--seeds", "6", "--against", "3.1,-,-,-"], "whose best known length is missing"),
        (&["--seeds", "6", "--against", "inf,-,-,-"], "such as 3.23"),
        (&["--", "--alpha", "1"], "--alpha"),
        (&["--", "--target", "5"], "does not apply to this suite"),
    ];
    for (args, word) in wrong {
        bench("acs", instance, args).assert().code(2).stdout("").stderr(contains(*word));
    }
    let wrong: &[(&str, &[&str], &str)] = &[
        ("ils", &["--vary", "local-search=none"], "three-opt"),
        ("ils", &["--iterations", "1,0"], "0.1n"),
        ("mmas", &["--vary", "selection+tabu=wrs+magic"], "bitmask"),
        ("mmas", &["--vary", "selection+tabu=wrs"], "such as ants=64,256"),
        ("mmas", &["--vary", "ants"], "such as ants=64,256"),
        ("mmas", &["--", "--pheromone", "matrix"], "this run uses mmas"),
        ("solve", &["--vary", "magic=1"], "--magic"),
        ("solve", &["--", "--seed", "5"], "--seeds"),
        ("solve", &["--", "--time", "5s"], "before the `--`"),
        ("solve", &["--vary", "threads=1,2"], "--threads"),
        ("solve", &["--", "--tour", "a.tour"], "a bench writes only its rows"),
        ("solve", &["--vary", "ants=2", "--", "--ants", "3"], "--ants"),
        ("solve", &["--csv", instance], "is the instance"),
        ("solve", &["--csv", "rows", "--json", "rows"], "given for two outputs"),
        ("solve", &["--csv", "-", "--json", "-"], "given for two outputs"),
    ];
    for (suite, args, word) in wrong {
        bench(suite, instance, args).assert().code(2).stdout("").stderr(contains(*word));
    }
    antwarp(&["bench", "solve"]).assert().code(2).stderr(contains("--instances"));
    antwarp(&["bench", "solve", "--", "--help"]).assert().success().stdout(contains("--neighbor-lists"));
    antwarp(&["generate", "uniform"]).assert().code(2).stderr(contains("--nodes"));
    antwarp(&["generate", "uniform", "--nodes", "0"]).assert().code(2);
    antwarp(&["generate", "E1k.0", "--nodes", "5"]).assert().code(2);
    antwarp(&["generate", "roads", "--nodes", "5", "--one-way", "101"]).assert().code(2);
    antwarp(&["generate", "uniform", "--nodes", "5", "--one-way", "40"])
        .assert()
        .code(2)
        .stderr(contains("--one-way is for roads"));
    antwarp(&["generate", "E7k.0"]).assert().code(2).stderr(contains("E10k.0"));
    antwarp(&["--help"]).assert().success().stdout(contains("Exit status:"));
    antwarp(&["--version"]).assert().success().stdout(contains("antwarp "));
}

fn options_of_other_algorithms_are_refused() {
    let folder = Folder::new(10);
    let directed = folder.file("directed.csv", b"0 1 2 3\n3 0 4 1\n5 6 0 2\n4 1 2 0\n");
    let instance = folder.instance.as_str();
    let wrong: &[(&[&str], &str)] = &[
        (
            &[instance, "--algorithm", "ils", "--ants", "5"],
            "--ants applies only to mmas or acs; this run uses ils",
        ),
        (
            &[instance, "--algorithm", "acs", "--tabu", "list"],
            "--tabu applies only to mmas; this run uses acs",
        ),
        (
            &[instance, "--algorithm", "mmas", "--slots", "4"],
            "--slots applies only to acs; this run uses mmas",
        ),
        (
            &[instance, "--algorithm", "acs", "--initial-tour", "no.tour"],
            "--initial-tour applies only to lk or ils; this run uses acs",
        ),
        (
            &[instance, "--algorithm", "acs", "--save-population", "p.tour"],
            "--save-population applies only to ga; this run uses acs",
        ),
        (
            &[instance, "--load-population", "p.tour"],
            "--load-population applies only to ga; this run uses lk",
        ),
        (&[instance, "--algorithm", "ga", "--ants", "5"], "this run uses ga"),
        (
            &[instance, "--algorithm", "lk", "--accept", "better"],
            "--accept applies only to ils; this run uses lk",
        ),
        (&[instance, "--algorithm", "lk", "--local-search", "two-opt"], "this run uses lk"),
        (
            &[instance, "--accept", "better", "--temperature", "2"],
            "--temperature applies only with --accept annealing",
        ),
        (
            &["missing.tsp", "--algorithm", "ils", "--segment", "9"],
            "--segment applies only with --improvement best",
        ),
        (
            &[instance, "--algorithm", "mmas", "--descent-only"],
            "--descent-only applies only to lk or ils; this run uses mmas",
        ),
        // Even if the value is the default.
        (&[instance, "--candidates", "32"], "--candidates applies only to mmas or acs; this run uses lk"),
        (&[instance, "--local-search", "none", "--walk", "20"], "this run uses mmas"),
        (
            &[&directed, "--algorithm", "mmas", "--first-tour", "greedy"],
            "--first-tour applies only to lk or ils; this run uses mmas",
        ),
    ];
    for (args, message) in wrong {
        solve(args).assert().code(2).stdout("").stderr(contains(*message));
    }
    let mmas = [&directed, "--algorithm", "mmas", "--iterations", "1"];
    solve(&mmas).args(["--ants", "5", "--tabu", "list", "--breadth", "5"]).assert().success();
    solve(&[instance, "--breadth", "5"]).assert().code(2).stderr(contains("this run uses lk"));
}

fn bad_inputs_are_status_3_and_name_the_file() {
    let folder = Folder::new(10);
    let good = fs::read(&folder.instance).unwrap();
    let many = std::fs::read_to_string(Folder::new(20).instance).unwrap();
    let fixed = many.replace("EOF", "FIXED_EDGES_SECTION\n1 2\n-1\nEOF");
    let inputs = [
        folder.path("missing.tsp"),
        folder.file("empty.tsp", b""),
        folder.file("half.tsp", &good[..good.len() / 2]),
        folder.file("noise.tsp", &[0xff, 0, 0xfe, 10, 13, 1]),
        folder.file("text.tsp", b"Dear reader,\nthis is a letter.\n"),
        folder.file("a.tour", b"TOUR_SECTION\n1 2 3 -1\nEOF\n"),
        folder.file("twice.tsp", &good.repeat(2)),
        folder.file("open.csv", b"x,y,name\n0,0,\"a\n90,0,b\n0,90,c\n"),
        folder.file("decimals.csv", b"x,y\n0,5,3,5\n100,25,10,0\n"),
        folder.folder.path().to_str().unwrap().to_owned(),
    ];
    for input in &inputs {
        let is_told = contains("help: ").and(contains("panicked").not());
        solve(&[input]).assert().code(3).stdout("").stderr(is_told);
    }
    let fixed = folder.file("fixed.tsp", fixed.as_bytes());
    for (algorithm, advice) in [("mmas", "--algorithm lk"), ("ga", "--crossover eax")] {
        let refused = solve(&[&fixed, "--algorithm", algorithm]).assert().code(3).stdout("");
        refused.stderr(contains("it has fixed edges").and(contains(advice)));
    }
    antwarp(&["info", &inputs[0], &folder.instance]).assert().code(3).stdout(contains("nodes"));
    antwarp(&["check", &folder.instance, &folder.path("missing.tour")]).assert().code(3);
}

fn a_gpu_that_is_not_there_is_status_4() {
    let folder = Folder::new(10);
    let args = ["solve", &folder.instance, "--backend", "cuda", "--iterations", "1"];
    let output = antwarp(&args).output().unwrap();
    if output.status.success() {
        harness::ignore("there is a GPU");
        return;
    }
    let remedy = || contains("NVIDIA driver").or(contains("without GPU kernels"));
    antwarp(&args).assert().code(4).stdout("").stderr(remedy());
    // Naming GPUs asks for them, however few nodes there are.
    antwarp(&["solve", &folder.instance, "--gpus", "1", "--iterations", "1"])
        .assert()
        .code(4)
        .stderr(remedy());
    // Few nodes are for CPU threads anyway, so nothing is said of a GPU where there is no driver of one.
    if !["/dev/nvidiactl", "/usr/lib/wsl/lib/libcuda.so.1"].iter().any(|path| Path::new(path).exists()) {
        antwarp(&["solve", &folder.instance, "--iterations", "1"])
            .assert()
            .success()
            .stderr(contains("GPU").not());
    }
    antwarp(&["solve", "E10k.0", "--iterations", "1"])
        .assert()
        .success()
        .stderr(contains("solving on the CPU").and(remedy()));
    antwarp(&["devices"]).assert().success().stdout(contains("CPU").and(contains("none: ")));
}

fn an_output_that_cannot_be_written_is_refused_before_solving() {
    let folder = Folder::new(10);
    let start = Instant::now();
    let file_as_folder = format!("{}/a.tour", folder.instance);
    let itself = folder.folder.path().to_str().unwrap();
    for (output, remedy) in [
        ("/no/such/folder/a.tour", "; create its folder first"),
        (itself, "; give the name of a file in this folder"),
        (&file_as_folder, "; a part of the path is a file"),
    ] {
        for option in ["--tour", "--json", "--svg", "--save-population"] {
            let algorithm = if option == "--save-population" { "ga" } else { "ils" };
            solve(&[&folder.instance, "--time", "1h", option, output, "--algorithm", algorithm])
                .assert()
                .code(5)
                .stdout("")
                .stderr(contains(output).and(contains(remedy)));
        }
    }
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[cfg(target_os = "linux")]
fn a_full_disk_does_not_lose_the_tour() {
    let folder = Folder::new(30);
    let temporary = folder.path("temporary");
    fs::create_dir(&temporary).unwrap();
    for option in ["--tour", "--json"] {
        let output = solve(&[&folder.instance, "--iterations", "3", option, "/dev/full"])
            .env("TMPDIR", &temporary)
            .assert()
            .code(5)
            .stderr(contains("/dev/full").and(contains("; free some space")).and(contains(&temporary)))
            .get_output()
            .clone();
        let rescued = fs::read_dir(&temporary).unwrap().next().unwrap().unwrap().path();
        assert!(String::from_utf8_lossy(&output.stderr).contains(rescued.to_str().unwrap()));
        assert!(folder.checked(rescued.to_str().unwrap()) > 0);
        fs::remove_file(rescued).unwrap();
    }
    let tour = folder.path("printed.tour");
    let output = solve(&[&folder.instance, "--iterations", "3", "--tour", "/dev/full", "-q"])
        .env("TMPDIR", "/no/such/folder")
        .assert()
        .code(5)
        .stderr(contains("standard output"))
        .get_output()
        .clone();
    fs::write(&tour, output.stdout).unwrap();
    assert!(folder.checked(&tour) > 0);
    // Several runs write what they can, too.
    let output =
        solve(&[&folder.instance, "--iterations", "3", "--runs", "2", "--tour", "-", "--svg", "/dev/full"])
            .assert()
            .code(5)
            .stderr(contains("/dev/full").and(contains("; free some space")))
            .get_output()
            .clone();
    fs::write(&tour, output.stdout).unwrap();
    assert!(folder.checked(&tour) > 0);
    // A tour that is safe is not written twice.
    solve(&[&folder.instance, "--iterations", "3", "--tour", &tour, "--json", "/dev/full"])
        .assert()
        .code(5)
        .stderr(contains("instead").not());
}

fn an_invalid_tour_is_status_6_and_the_fault_is_named() {
    let folder = Folder::new(4);
    for (tour, fault) in [
        ("1 2 3", "has 3 nodes"),
        ("1 2 3 3", "node 3 is visited a second time; node 4 is missing"),
        ("1 2 3 5", "no node 5"),
        ("1 2 3 x", "`x`"),
    ] {
        let tour = folder.file("a.tour", tour.as_bytes());
        let output = antwarp(&["check", &folder.instance, &tour, "--json", "-"])
            .assert()
            .code(6)
            .stderr(contains(fault))
            .get_output()
            .clone();
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(value["valid"], false);
        assert!(value["problem"].as_str().unwrap().contains(fault));
    }
    let text = fs::read_to_string(&folder.instance).unwrap();
    let fixed = folder.file("fixed.tsp", text.replace("EOF", "FIXED_EDGES_SECTION\n1 3\n-1\nEOF").as_bytes());
    let tour = folder.file("b.tour", b"1 2 3 4");
    antwarp(&["check", &fixed, &tour]).assert().code(6).stderr(contains("1-3"));
    for (tour, fault) in [
        (&b"TYPE : TSP\nTOUR_SECTION\n1 2 3 4 -1\n"[..], "TYPE TSP"),
        (b"DIMENSION : 5\nTOUR_SECTION\n1 2 3 4 -1\n", "tour of 5 nodes"),
        (b"TOUR_SECTION\n1 2 3 4 -1\nTOUR_SECTION\n4 3 2 1 -1\n", "a second time"),
        (b"1 2 3 4 -1 4 3 2 1 -1", "after its tour"),
    ] {
        let tour = folder.file("c.tour", tour);
        antwarp(&["check", &folder.instance, &tour]).assert().code(6).stdout("").stderr(contains(fault));
    }
}

/// Some programs end every section by -1, and not only those that need it.
fn fixed_edges_behind_the_end_of_another_section_count() {
    let folder = Folder::new(4);
    let head = "NAME : lines\nTYPE : TSP\nDIMENSION : 4\n";
    let places = "1 0 0\n2 30 0\n3 30 40\n4 0 40\n-1\n";
    let fixed = "FIXED_EDGES_SECTION\n1 3\n-1\nEOF\n";
    let [around, across] = [("around.tour", "1 2 3 4"), ("across.tour", "1 3 2 4")]
        .map(|(name, tour)| folder.file(name, tour.as_bytes()));
    for body in [
        format!("EDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n{places}"),
        format!("EDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n{places}DISPLAY_DATA_SECTION\n{places}"),
    ] {
        let file = folder.file("fixed.tsp", format!("{head}{body}{fixed}").as_bytes());
        let refused = antwarp(&["check", &file, &around]).assert().code(6).stdout("");
        refused.stderr(contains("the tour does not use the edge 1-3, which is fixed"));
        antwarp(&["check", &file, &across]).assert().success();
    }
}

/// Runs the program with so many KiB of addresses.
#[cfg(target_os = "linux")]
fn within(kib: u32, line: &str) -> std::process::Output {
    let program = env!("CARGO_BIN_EXE_antwarp");
    Process::new("sh").args(["-c", &format!("ulimit -v {kib} && exec {program} {line}")]).output().unwrap()
}

#[cfg(target_os = "linux")]
fn short_memory_is_told_before_it_is_used_up() {
    for (algorithm, remedy) in [
        ("lk --chains 1024", "--chains"),
        ("mmas", "--ants"),
        ("acs", "--ants"),
        ("ga", "--population"),
        ("ga --crossover eax", "--population"),
        ("ga --initial local-optima", "--population"),
    ] {
        let line = format!("solve E316k.0 --time 60s --backend cpu --threads 2 --algorithm {algorithm}");
        let output = within(400_000, &line);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{algorithm}: {said}");
        assert!(said.contains("not enough main memory for"), "{algorithm}: {said}");
        assert!(said.contains(&format!("({remedy}")), "{algorithm}: {said}");
    }
    let output = within(600_000, "search qap --uniform 5000 --time 60s --backend cpu --threads 2");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    let output = within(1_000_000, "generate uniform --nodes 100000000 -o /dev/null");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("are needed"), "{said}");
}

#[cfg(target_os = "linux")]
fn a_file_is_read_as_far_as_there_is_memory() {
    let folder = Folder::new(5);
    // More than a gibibyte of nodes, of which the limit of addresses leaves no room for half.
    let file = File::create(folder.path("long.tsp.gz")).unwrap();
    let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    packed.write_all(b"DIMENSION : 4000000\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n").unwrap();
    let lines = b"1234567 0.125 0.25\n".repeat(1 << 15);
    (0..1 << 11).for_each(|_| packed.write_all(&lines).unwrap());
    packed.finish().unwrap();
    let output = within(600_000, &format!("info {}", folder.path("long.tsp.gz")));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("not enough memory for DIMENSION 4000000: "), "{said}");
}

fn rows_and_runs_are_not_read_without_end() {
    let folder = Folder::new(5);
    let endless = "four mebibytes without the end of a number";
    for (command, begin) in [("bench table", "suite,\""), ("plot", "{\"trace\":[")] {
        let hole = folder.file("hole", begin.as_bytes());
        let packed = folder.path("packed");
        let mut writer = flate2::write::GzEncoder::new(File::create(&packed).unwrap(), Default::default());
        writer.write_all(begin.as_bytes()).unwrap();
        (0..600).for_each(|_| writer.write_all(&[b'7'; 1 << 20]).unwrap());
        writer.finish().unwrap();
        let mut cases = vec![(packed, endless)];
        // A terabyte that takes no place on the disk.
        if File::options().write(true).open(&hole).unwrap().set_len(1 << 40).is_ok() {
            cases.push((hole, "four mebibytes without a number"));
        }
        for (file, what) in cases {
            let args: Vec<&str> = command.split(' ').chain([file.as_str()]).collect();
            antwarp(&args).assert().code(3).stdout("").stderr(contains(what));
        }
    }
}

fn more_nodes_than_can_be_are_refused() {
    for nodes in ["1000000000000000000", "3000000000", "0"] {
        for kind in ["uniform", "clustered"] {
            antwarp(&["generate", kind, "--nodes", nodes])
                .assert()
                .code(2)
                .stderr(contains("cannot be solved"));
        }
    }
}

#[cfg(target_os = "linux")]
fn threads_that_cannot_be_started_are_told() {
    let program = env!("CARGO_BIN_EXE_antwarp");
    let line = format!("ulimit -v 1000000 && exec {program} solve E1k.0 --time 1s --backend cpu");
    let output = Process::new("sh").args(["-c", &line]).env("RAYON_NUM_THREADS", "1024").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("use a smaller --threads"), "{said}");
}

/// Soft and hard limit together end the process without a signal, the soft one alone does with one.
#[cfg(target_os = "linux")]
fn a_limit_of_processor_time_keeps_the_tour() {
    let program = env!("CARGO_BIN_EXE_antwarp");
    let folder = Folder::new(200);
    for limit in ["ulimit -St 2", "ulimit -t 3"] {
        let tour = folder.path("spent.tour");
        let line = format!("{limit} && exec {program} solve {} --time 5m --backend cpu", folder.instance);
        let line = format!("{line} --threads 2 --tour {tour}");
        let output = Process::new("sh").args(["-c", &line]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{limit}: {said}");
        assert!(said.contains("the processor time limit is near"), "{limit}: {said}");
        assert!(folder.checked(&tour) > 0);
        fs::remove_file(tour).unwrap();
    }
}

/// Several processes that know nothing of each other would all write the same files.
fn several_ranks_need_mpi() {
    for (size, sizes) in [("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"), ("PMI_SIZE", "PMI_RANK")] {
        let ranks =
            |rank: &str, args: &[&str]| antwarp(args).env(size, "4").env(sizes, rank).assert().code(2);
        if cfg!(not(feature = "mpi")) {
            ranks("0", &["solve", "E1k.0"]).stderr(contains("build it with `--features mpi`"));
            ranks("1", &["solve", "E1k.0"]).stderr("");
        }
        ranks("0", &["info", "E1k.0"]).stderr(contains("only `antwarp solve` can use them"));
        ranks("3", &["info", "E1k.0"]).stderr("");
    }
    let alone = antwarp(&["solve", "E1k.0", "--topology", "ring"]).assert().code(2);
    alone.stderr(contains("--topology is for several ranks"));
}

fn a_reader_that_has_enough_is_no_failure() {
    let folder = Folder::new(2000);
    let commands: [&[&str]; 2] = [
        &["generate", "uniform", "--nodes", "100000"],
        &["solve", &folder.instance, "--backend", "cpu", "--iterations", "1", "--tour", "-"],
    ];
    for args in commands {
        let mut run = Process::new(env!("CARGO_BIN_EXE_antwarp"))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::with_capacity(16, run.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(first.starts_with("NAME"));
        let output = run.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{errors}");
        assert!(!errors.contains("bug"), "{errors}");
    }
}
