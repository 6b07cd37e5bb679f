//! One run by several ranks, started by Open MPI's mpirun on this machine. Skipped, with the reason, where there is none.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::harness;

tests! {
    ranks_make_one_tour_and_one_report,
    every_algorithm_runs_on_ranks,
    a_file_is_read_once_for_all,
    paths_and_directed_edges_of_all_shapes_run_on_ranks,
    a_number_of_iterations_is_the_same_run_every_time,
    ranks_share_a_tour_that_depends_on_the_iterations_alone,
    ranks_go_on_without_one_that_is_told_to_end,
    whoever_reaches_the_target_ends_all,
    what_is_wrong_is_told_once,
    a_rank_without_its_backend_is_told_and_the_others_go_on,
    a_killed_rank_ends_the_run_and_the_tour_is_there,
    killed_ranks_continue_from_their_checkpoint,
    an_interrupt_ends_all_with_the_best_tour,
    the_second_that_mpirun_gives_is_enough,
}

const ANTWARP: &str = env!("CARGO_BIN_EXE_antwarp");

/// A run by iterations ends with the tour of a run that was never killed: islands, and ranks that share a tour in lockstep. A single
/// process continues with all of its runs.
fn killed_ranks_continue_from_their_checkpoint() {
    if !is_there() {
        return;
    }
    for (algorithm, iterations) in [("mmas", "100"), ("lk", "15000")] {
        let files = Files::new();
        let [whole, parts, alone, file] = ["whole", "parts", "alone", "run"].map(|name| files.path(name));
        let args = ["E1k.0", "--algorithm", algorithm, "--iterations", iterations];
        succeeded(solve(2, &args).args(["--tour", &whole]));
        let schedule = ["--checkpoint", &file, "--every", "100ms"];
        let mut run = begin(&mut solve(2, &[&args[..], &schedule].concat()), &file);
        signal(ranks_of(&run)[0], "-KILL");
        assert!(!run.wait().unwrap().success(), "{algorithm}: the run was over before it was killed");
        let told = text(&succeeded(solve(2, &args).args(["--resume", &file, "--tour", &parts])).stderr);
        assert!(told.contains("continuing after"), "{told}");
        let resume = ["solve", "E1k.0", "--backend", "cpu", "--resume", &file, "--tour", &alone];
        succeeded(Command::new(ANTWARP).args(resume));
        let [whole, parts, alone] = [whole, parts, alone].map(|tour| std::fs::read(tour).unwrap());
        assert!(parts == whole, "{algorithm}: ranks end with another tour");
        assert!(alone == whole, "{algorithm}: a single process ends with another tour");
    }
    // A run limited by time, whose tours are crossed in the end.
    let files = Files::new();
    let [tour, file] = ["tour", "run"].map(|name| files.path(name));
    let args = ["E3k.0", "--time", "4s"];
    let schedule = ["--checkpoint", &file, "--every", "100ms"];
    let mut run = begin(&mut solve(3, &[&args[..], &schedule].concat()), &file);
    signal(ranks_of(&run)[0], "-KILL");
    run.wait().unwrap();
    for ranks in [2, 3, 4] {
        let resume = ["E3k.0", "--resume", &file, "--tour", &tour];
        let told = text(&succeeded(&mut solve(ranks, &resume)).stderr);
        assert!(told.contains("continuing after"), "{told}");
        checked("E3k.0", &tour);
    }
}

/// Whether Open MPI can start ranks here.
fn is_there() -> bool {
    let version = Command::new("mpirun").arg("--version").output();
    let found = version.is_ok_and(|told| String::from_utf8_lossy(&told.stdout).contains("Open MPI"));
    if !found {
        harness::ignore("there is no mpirun of Open MPI (apt-get install openmpi-bin)");
    }
    found
}

/// How long after an interrupt, or if a rank is gone, mpirun kills all ranks. By default that is a second: on a busy machine, before
/// rank 0 has told its result.
const SECONDS_LEFT: &str = "OMPI_MCA_odls_base_sigkill_timeout";

fn mpirun() -> Command {
    let mut command = Command::new("mpirun");
    // As root, and with more ranks than processors, it starts only if it is told so.
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.env("ANTWARP_TUNING", "none").args(["--oversubscribe"]);
    command.env(SECONDS_LEFT, "6");
    command
}

/// `antwarp solve` by so many ranks, on the CPU.
fn solve(ranks: u32, args: &[&str]) -> Command {
    let mut command = mpirun();
    command
        .args(["-np", &ranks.to_string(), ANTWARP, "solve", "--backend", "cpu", "--threads", "1"])
        .args(args);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a command that has to succeed says.
fn succeeded(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}{}", text(&output.stdout), text(&output.stderr));
    output
}

/// A folder for a run's files.
struct Files(TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn report(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.path("json")).unwrap()).unwrap()
    }
}

/// The length of a tour, which `antwarp check` has to find valid.
fn checked(instance: &str, tour: &str) -> f64 {
    let output = succeeded(Command::new(ANTWARP).args(["check", instance, tour, "--json", "-"]));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    report["cost"].as_f64().unwrap_or_else(|| panic!("{report}"))
}

/// Runs, and checks that there is one report and one tour, as long as it says.
fn run(ranks: u32, instance: &str, args: &[&str]) -> Value {
    let files = Files::new();
    let (tour, json) = (files.path("tour"), files.path("json"));
    let given = [&[instance, "--tour", &tour, "--json", &json], args].concat();
    let output = succeeded(&mut solve(ranks, &given));
    let told = text(&output.stdout);
    assert_eq!(told.matches("\ncost ").count(), 1, "{told}");
    assert!(told.contains(&format!("{ranks} ranks")), "{told}");
    let report = files.report();
    assert_eq!(report["cost"].as_f64(), Some(checked(instance, &tour)));
    assert_eq!((&report["islands"]["ranks"], &report["islands"]["lost"]), (&ranks.into(), &0.into()));
    report
}

fn ranks_make_one_tour_and_one_report() {
    if !is_there() {
        return;
    }
    for (ranks, topology) in [(2, "ring"), (4, "all"), (4, "tree")] {
        // Several tours that are not crossed are each rank's own, and the best are exchanged.
        let args = ["--time", "1500ms", "--chains", "2", "--topology", topology];
        let islands = run(ranks, "E3k.0", &args)["islands"].clone();
        assert_eq!((&islands["topology"], &islands["lockstep"]), (&topology.into(), &false.into()));
        assert!(islands["tours_sent"].as_u64() > Some(0), "{islands}");
        assert!(islands["bytes_sent"].as_u64() > Some(12_000), "{islands}");
    }
}

fn every_algorithm_runs_on_ranks() {
    if !is_there() {
        return;
    }
    for algorithm in ["lk", "ils", "mmas", "acs", "ga"] {
        run(2, "E1k.0", &["--time", "800ms", "--algorithm", algorithm]);
    }
}

fn a_file_is_read_once_for_all() {
    if !is_there() {
        return;
    }
    let files = Files::new();
    let instance = files.path("points.csv");
    let points: String = (0..300).map(|i| format!("{},{}\n", i * 7919 % 1009, i * 104_729 % 997)).collect();
    std::fs::write(&instance, points).unwrap();
    run(3, &instance, &["--time", "500ms"]);
}

fn paths_and_directed_edges_of_all_shapes_run_on_ranks() {
    if !is_there() {
        return;
    }
    let files = Files::new();
    let (roads, tour, json) = (files.path("roads.atsp"), files.path("tour"), files.path("json"));
    succeeded(Command::new(ANTWARP).args(["generate", "roads", "-n", "60", "-o", &roads]));
    let shape = ["--start", "3", "--end", "20", "--fix", "30,31", "--fix", "31,32", "--forbid", "4,5"];
    // Tours that are exchanged, and tours that are shared in lockstep.
    for limit in [["--time", "800ms"], ["--iterations", "3000"]] {
        for instance in ["E1k.0", &roads] {
            let given = [&[instance, "--tour", &tour, "--json", &json], &shape[..], &limit].concat();
            succeeded(&mut solve(2, &given));
            let check = [&["check", instance, &tour, "--json", "-"], &shape[..]].concat();
            let output = succeeded(Command::new(ANTWARP).args(check));
            let checked: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(files.report()["cost"], checked["cost"], "{instance}");
        }
    }
}

fn a_number_of_iterations_is_the_same_run_every_time() {
    if !is_there() {
        return;
    }
    let args = ["--iterations", "60", "--algorithm", "mmas"];
    let [one, two] = [0, 1].map(|_| run(2, "E1k.0", &args));
    assert_eq!((&one["tour"], &one["tours"]), (&two["tour"], &two["tours"]));
    assert_eq!(one["islands"]["tours_sent"], 0);
}

fn ranks_share_a_tour_that_depends_on_the_iterations_alone() {
    if !is_there() {
        return;
    }
    let files = Files::new();
    let (instance, json) = ("E3k.0", files.path("json"));
    let args = ["solve", instance, "--iterations", "5000", "--backend", "cpu", "--json", &json];
    succeeded(Command::new(ANTWARP).args(args));
    let alone = files.report();
    assert_eq!(alone["tours"], 5000);
    for ranks in [2, 4] {
        let report = run(ranks, instance, &["--iterations", "5000"]);
        // The kicks of all are as many as those of one.
        assert_eq!((&report["tour"], &report["tours"]), (&alone["tour"], &alone["tours"]), "{ranks} ranks");
        assert!(report["islands"]["bytes_sent"].as_u64() > Some(12_000));
        assert_eq!(report["islands"]["lockstep"], true);
    }
}

fn ranks_go_on_without_one_that_is_told_to_end() {
    if !is_there() {
        return;
    }
    let files = Files::new();
    let (tour, json) = (files.path("tour"), files.path("json"));
    // Once of one tour, once of tours that are crossed.
    for more in [&["--chains", "1"][..], &[]] {
        let _ = std::fs::remove_file(&tour);
        let args = [&["E3k.0", "--time", "4s", "--tour", &tour, "--json", &json], more].concat();
        let run = begin(&mut solve(3, &args), &tour);
        signal(ranks_of(&run)[1], "-TERM");
        let output = run.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        let report = files.report();
        assert_eq!((&report["stopped_by"], &report["islands"]["lost"]), (&"time".into(), &0.into()));
        assert_eq!(report["cost"].as_f64(), Some(checked("E3k.0", &tour)));
    }
}

fn whoever_reaches_the_target_ends_all() {
    if !is_there() {
        return;
    }
    let report = run(4, "E1k.0", &["--time", "60s", "--target", "24500000"]);
    assert_eq!(report["stopped_by"], "target");
    assert!(report["seconds"].as_f64().unwrap() < 30.0);
}

fn what_is_wrong_is_told_once() {
    if !is_there() {
        return;
    }
    let files = Files::new();
    let nowhere = files.path("nowhere/tour");
    for (args, status, what) in [
        (vec!["nowhere.tsp"], 3, "cannot read nowhere.tsp"),
        (vec!["E1k.0", "--rho", "0.5", "--algorithm", "lk"], 2, "--rho applies only to"),
        (vec!["E1k.0", "--frobnicate"], 2, "unexpected argument"),
        (vec!["E1k.0", "--tour", &nowhere], 5, "cannot write"),
        (
            vec!["E1k.0", "--topology", "ring", "--algorithm", "ga", "--iterations", "9"],
            2,
            "which they do not with --iterations",
        ),
    ] {
        let output = solve(4, &args).output().unwrap();
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{told}");
        assert_eq!(told.matches(what).count(), 1, "{told}");
    }
    // Others than solve would do the same several times.
    let output = mpirun().args(["-np", "2", ANTWARP, "info", "E1k.0"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stderr).matches("only `antwarp solve`").count(), 1);
}

fn a_rank_without_its_backend_is_told_and_the_others_go_on() {
    if !is_there() {
        return;
    }
    let files = Files::new();
    let (tour, json) = (files.path("tour"), files.path("json"));
    let own = ["E1k.0", "--time", "1s", "--tour", &tour, "--json", &json];
    // The second has no GPU, whatever the machine has: once it may take threads instead, and once not.
    for (backend, lost) in [("auto", 0), ("cuda", 1)] {
        let mut command = mpirun();
        command.args(["-np", "1", ANTWARP, "solve"]).args(own);
        command.args([":", "-np", "1", "-x", "CUDA_VISIBLE_DEVICES=-1", ANTWARP, "solve"]);
        let output = succeeded(command.args(own).args(["--backend", backend]));
        assert_eq!(
            text(&output.stderr).matches("antwarp: rank 1:").count(),
            lost,
            "{}",
            text(&output.stderr)
        );
        let report = files.report();
        assert_eq!(report["islands"]["lost"], lost);
        assert_eq!(report["cost"].as_f64(), Some(checked("E1k.0", &tour)));
    }
}

/// A run of minutes.
fn long(ranks: u32, tour: &str) -> Command {
    solve(ranks, &["E3k.0", "--time", "120s", "--chains", "1", "--tour", tour])
}

/// A run of minutes, which has written a tour by now.
fn begun(ranks: u32, tour: &str) -> Child {
    begin(&mut long(ranks, tour), tour)
}

/// A run that has written a tour by now.
fn begin(command: &mut Command, tour: &str) -> Child {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begin = Instant::now();
    while !Path::new(tour).exists() {
        assert!(begin.elapsed() < Duration::from_secs(60), "no tour was written");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

fn signal(process: u32, name: &str) {
    assert!(Command::new("kill").args([name, &process.to_string()]).status().unwrap().success());
}

/// The processes of the ranks, in their order.
fn ranks_of(mpirun: &Child) -> Vec<u32> {
    let id = mpirun.id();
    let path = format!("/proc/{id}/task/{id}/children");
    let children = std::fs::read_to_string(path).unwrap();
    children.split_whitespace().map(|child| child.parse().unwrap()).collect()
}

fn a_killed_rank_ends_the_run_and_the_tour_is_there() {
    if !is_there() {
        return;
    }
    // Of the others rank 0 still tells its best; without it there is the tour that was written last.
    for (killed, is_told) in [(2, true), (0, false)] {
        let files = Files::new();
        let tour = files.path("tour");
        let run = begun(4, &tour);
        signal(ranks_of(&run)[killed], "-KILL");
        let begin = Instant::now();
        let output = run.wait_with_output().unwrap();
        assert!(begin.elapsed() < Duration::from_secs(20) && !output.status.success());
        let told = text(&output.stdout);
        assert_eq!(told.contains("interrupted"), is_told, "{told}");
        checked("E3k.0", &tour);
    }
}

fn an_interrupt_ends_all_with_the_best_tour() {
    if !is_there() {
        return;
    }
    let files = Files::new();
    let tour = files.path("tour");
    // Ctrl-C is a signal to mpirun; of rank 0 alone it ends all, too.
    for is_whole in [true, false] {
        let _ = std::fs::remove_file(&tour);
        let run = begun(3, &tour);
        match is_whole {
            true => signal(run.id(), "-INT"),
            false => signal(ranks_of(&run)[0], "-TERM"),
        }
        let begin = Instant::now();
        let output = run.wait_with_output().unwrap();
        assert!(begin.elapsed() < Duration::from_secs(20) && !output.status.success());
        let told = text(&output.stdout);
        assert_eq!(told.matches("interrupted").count(), 1, "{told}{}", text(&output.stderr));
        let cost = told.lines().find_map(|line| line.strip_prefix("cost")).unwrap();
        assert_eq!(cost.trim().parse(), Ok(checked("E3k.0", &tour)));
    }
}

fn the_second_that_mpirun_gives_is_enough() {
    if !is_there() {
        return;
    }
    let is_told = |_| {
        let files = Files::new();
        let tour = files.path("tour");
        let run = begin(long(3, &tour).env_remove(SECONDS_LEFT), &tour);
        signal(run.id(), "-INT");
        let output = run.wait_with_output().unwrap();
        // There is a tour in any case.
        checked("E3k.0", &tour);
        text(&output.stdout).contains("interrupted")
    };
    // Other processes may take the second away, but hardly every time.
    assert!((0..5).any(is_told), "rank 0 was killed five times before it told its result");
}
