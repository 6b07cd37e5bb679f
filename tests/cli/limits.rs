//! What the system does not give: memory, threads, a stack, somebody at the other end of a pipe.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::world::copy_program;

tests! {
    memory_that_runs_out_is_told_and_leaves_the_best_tour,
    with_room_for_it_a_bound_is_found,
    a_proof_without_room_for_it_is_not_started,
    an_instance_that_nobody_writes_is_waited_for_until_the_time_is_up,
    waiting_for_an_instance_is_interrupted,
    an_instance_may_come_late_and_a_reader_too,
    a_tour_that_nobody_reads_is_written_elsewhere,
    a_writer_that_stalls_is_waited_for_until_the_time_is_up_or_an_interrupt,
    a_reader_that_stalls_is_waited_for_until_an_interrupt,
    a_million_cities_without_room_are_refused,
    an_interrupted_generation_leaves_nothing,
    too_many_threads_are_refused,
    a_small_stack_is_enough,
    no_thread_to_be_had_is_told,
}

const ANTWARP: &str = env!("CARGO_BIN_EXE_antwarp");

/// Runs a line of a shell in a folder; `$ANTWARP` is the program.
fn shell(folder: &Path, line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).env("ANTWARP", ANTWARP).env("TMPDIR", folder);
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn begin(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn end(process: Child) -> Output {
    let sent = Command::new("kill").args(["-TERM", &process.id().to_string()]).status().unwrap();
    assert!(sent.success());
    process.wait_with_output().unwrap()
}

/// Waits until something is so, for a minute at most.
fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what} never came");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn with_pipe() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    assert!(Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap().success());
    folder
}

fn memory_that_runs_out_is_told_and_leaves_the_best_tour() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [
        "solve E100k.0 --time 1s --backend cpu --threads 2 --quiet --tour a.tour",
        "solve E100k.0 --algorithm ils --time 1s --backend cpu --threads 2 --quiet --tour a.tour",
        "bound E100k.0 --time 1s --threads 2",
    ];
    let mut refused = 0;
    for line in lines {
        for kib in [32_000, 36_000, 40_000, 45_000, 52_000, 60_000] {
            let _ = fs::remove_file(folder.path().join("a.tour"));
            let output =
                shell(folder.path(), &format!("ulimit -v {kib}; exec $ANTWARP {line}")).output().unwrap();
            let said = said(&output);
            match output.status.code() {
                Some(0) => {}
                // A bound of which nothing was there when the time was up, or threads without room.
                Some(2) => {
                    assert!(said.contains("--threads") || line.starts_with("bound"), "{kib} {line}: {said}")
                }
                Some(4) if said.contains("ended early") => {
                    assert!(
                        line.starts_with("bound") || folder.path().join("a.tour").exists(),
                        "{kib} {line}: {said}"
                    );
                    refused += 1;
                }
                Some(4) => {
                    assert!(said.contains("memory") || said.contains("thread"), "{kib} {line}: {said}");
                    refused += 1;
                }
                other => panic!("{kib} {line}: {other:?}: {said}"),
            }
        }
    }
    assert!(refused > 0, "no limit was tight");
}

fn with_room_for_it_a_bound_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let output =
        shell(folder.path(), "ulimit -v 150000; exec $ANTWARP bound E100k.0 --trees 3 --threads 2").output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

fn a_proof_without_room_for_it_is_not_started() {
    let short = |line: &str, status: i32, told: &str| {
        let limited = format!("ulimit -v 120000; exec $ANTWARP {line}");
        let output = shell(Path::new("."), &limited).output().unwrap();
        let said = said(&output);
        assert!(
            output.status.code() == Some(status) && said.contains(told),
            "{line}: {:?} {said}",
            output.status
        );
    };
    let proof = "no proof, only a lower bound: not enough main memory for it: ";
    short("solve E1k.0 --backend cpu --threads 2 --prove --time 2s", 8, proof);
    short("bound E1k.0 --time 2s --threads 2", 0, "no cutting planes: not enough main memory for them: ");
}

fn an_instance_that_nobody_writes_is_waited_for_until_the_time_is_up() {
    let folder = with_pipe();
    for line in ["solve pipe --time 1s", "bound pipe --time 1s"] {
        let begin = Instant::now();
        let output = shell(folder.path(), &format!("exec $ANTWARP {line}")).output().unwrap();
        let said = said(&output);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("the time was up before it was read"), "{said}");
        assert!(begin.elapsed() < Duration::from_secs(20));
    }
}

fn waiting_for_an_instance_is_interrupted() {
    let folder = with_pipe();
    let process = begin(&mut shell(folder.path(), "exec $ANTWARP solve pipe --time 100s"));
    std::thread::sleep(Duration::from_millis(800));
    let begin = Instant::now();
    let output = end(process);
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    assert!(begin.elapsed() < Duration::from_secs(20));
}

fn an_instance_may_come_late_and_a_reader_too() {
    let folder = with_pipe();
    let line = "$ANTWARP generate uniform -n 300 >a.tsp; (sleep 1; cat a.tsp >pipe) & \
                $ANTWARP solve pipe --time 3s --quiet --tour b.tour && $ANTWARP check a.tsp b.tour && \
                { (sleep 2; cat pipe >c.tour) & $ANTWARP solve a.tsp --time 1s --quiet --tour pipe && wait && \
                $ANTWARP check a.tsp c.tour; }";
    let output = shell(folder.path(), line).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

fn a_tour_that_nobody_reads_is_written_elsewhere() {
    let folder = with_pipe();
    let line = "exec $ANTWARP solve E1k.0 --time 1s --quiet --backend cpu --tour pipe";
    let process = begin(&mut shell(folder.path(), line));
    let begun = Instant::now();
    let output = process.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(5), "{}", said(&output));
    assert!(begun.elapsed() < Duration::from_secs(20));
    let told = said(&output);
    assert!(told.contains("nothing is reading it") && !told.contains("disk"), "{told}");
    let rescued = files(folder.path()).into_iter().find(|name| name.ends_with(".tour")).unwrap();
    let check = shell(folder.path(), &format!("exec $ANTWARP check E1k.0 {rescued}")).output().unwrap();
    assert_eq!(check.status.code(), Some(0), "{}", said(&check));

    let process = begin(&mut shell(folder.path(), &line.replace("--time 1s", "--time 100s")));
    std::thread::sleep(Duration::from_millis(800));
    let begun = Instant::now();
    let output = end(process);
    assert_eq!(output.status.code(), Some(5), "{}", said(&output));
    assert!(said(&output).contains("was written to") && begun.elapsed() < Duration::from_secs(20));
}

fn a_writer_that_stalls_is_waited_for_until_the_time_is_up_or_an_interrupt() {
    let folder = with_pipe();
    // It writes half of an instance, and keeps the pipe open.
    let stalls = "$ANTWARP generate uniform -n 300 | head -n 100 >half; (touch opened; cat half; exec sleep 600) >pipe & writer=$!;";
    for line in ["solve pipe --time 1s", "bound pipe --time 1s"] {
        let line = format!("{stalls} $ANTWARP {line}; status=$?; kill $writer; exit $status");
        let output = shell(folder.path(), &line).output().unwrap();
        let said = said(&output);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("the time was up before it was read"), "{said}");
    }
    let line = format!(
        "rm opened; {stalls} $ANTWARP solve pipe --time 10m & solver=$!; \
         while ! test -e opened; do sleep 0.1; done; sleep 1; kill $solver; wait $solver; status=$?; \
         kill $writer; exit $status"
    );
    let output = shell(folder.path(), &line).output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
}

fn a_reader_that_stalls_is_waited_for_until_an_interrupt() {
    let folder = with_pipe();
    // A tour of so many nodes does not fit the buffer of a pipe.
    let solve = "$ANTWARP solve E31k.0 --iterations 1 --backend cpu --quiet --tour pipe";
    let line = format!(
        "(exec <pipe; head -c 100 >part; exec sleep 600) & reader=$!; {solve} & solver=$!; \
         while ! test -s part; do sleep 0.1; done; sleep 1; kill $solver; wait $solver; status=$?; \
         kill $reader; exit $status"
    );
    let output = shell(folder.path(), &line).output().unwrap();
    assert_eq!(output.status.code(), Some(5), "{}", said(&output));
    assert!(said(&output).contains("its reader has stopped reading"), "{}", said(&output));
    let rescued = files(folder.path()).into_iter().find(|name| name.ends_with(".tour")).unwrap();
    let check = shell(folder.path(), &format!("exec $ANTWARP check E31k.0 {rescued}")).output().unwrap();
    assert_eq!(check.status.code(), Some(0), "{}", said(&check));

    // One that goes on gets it all, however late: later than one may come who has not begun to read.
    let line = format!("(exec <pipe; head -c 100 >a; sleep 6; cat a - >whole) & {solve} && wait");
    let output = shell(folder.path(), &line).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let check = shell(folder.path(), "exec $ANTWARP check E31k.0 whole").output().unwrap();
    assert_eq!(check.status.code(), Some(0), "{}", said(&check));
}

fn a_million_cities_without_room_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut refused = 0;
    for kib in [40_000, 150_000] {
        for line in [
            "generate E1M.0 -o a.tsp",
            "generate clustered -n 1000000 -o a.tsp",
            "solve E1M.0 --time 1s --backend cpu --threads 2 --quiet --tour a.tour",
            "solve E1M.0 --algorithm ils --time 1s --backend cpu --threads 2 --quiet --tour a.tour",
        ] {
            let line = format!("ulimit -v {kib}; exec $ANTWARP {line}");
            let output = shell(folder.path(), &line).output().unwrap();
            let said = said(&output);
            match output.status.code() {
                Some(0) => {}
                Some(2 | 4) if said.contains("memory") => refused += 1,
                other => panic!("{line}: {other:?}: {said}"),
            }
        }
    }
    assert!(refused > 0, "no limit was tight");
}

fn an_interrupted_generation_leaves_nothing() {
    for _ in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let process = begin(&mut shell(folder.path(), "exec $ANTWARP generate uniform -n 4000000 -o a.tsp"));
        // The first file of the kind is gone again: it only tries whether there can be one.
        let is_long =
            |name: &String| fs::metadata(folder.path().join(name)).is_ok_and(|metadata| metadata.len() > 0);
        wait_for("the file", || files(folder.path()).iter().any(is_long));
        let output = end(process);
        assert_eq!(output.status.code(), Some(130), "{}", said(&output));
        assert_eq!(files(folder.path()), [""; 0]);
    }
}

fn too_many_threads_are_refused() {
    let mut command = shell(Path::new("."), "exec $ANTWARP solve E1k.0 --time 1s --backend cpu");
    let output = command.env("RAYON_NUM_THREADS", "1025").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("RAYON_NUM_THREADS"), "{}", said(&output));
}

fn a_small_stack_is_enough() {
    for line in ["solve E1k.0 --time 1s --backend cpu --quiet", "bound E1k.0 --trees 5", "solve --help"] {
        let output = shell(Path::new("."), &format!("ulimit -s 64; exec $ANTWARP {line}")).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{line}: {}", said(&output));
    }
}

/// The system does not limit root, so this gives up root's rights; who has none is limited by the processes that run already.
fn no_thread_to_be_had_is_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    copy_program(&folder.path().join("antwarp"));
    let nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    let is_root =
        shell(folder.path(), &format!("{nobody} true")).status().is_ok_and(|status| status.success());
    let user = if is_root { nobody } else { "" };
    for line in ["solve E1k.0 --time 1s --backend cpu", "generate uniform -n 5"] {
        let line = format!("exec prlimit --nproc=1 {user} ./antwarp {line}");
        let output = shell(folder.path(), &line).output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{}", said(&output));
        assert!(said(&output).contains("cannot start a thread") && !said(&output).contains("bug"));
    }
}
