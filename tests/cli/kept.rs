//! The best tour so far is in a file while a run goes on, and stays there if the run is killed. On the CPU.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::common::is_watching;

tests! {
    a_killed_run_leaves_its_best_tour,
    a_long_run_keeps_its_tour_in_a_file_of_its_own,
    a_file_of_its_own_is_removed_when_the_tour_is_in_another,
    what_cannot_be_kept_is_told_once_and_the_run_goes_on,
}

/// A run that ends with the test, however that ends.
pub struct Run(Option<Child>);

impl Deref for Run {
    type Target = Child;

    fn deref(&self) -> &Child {
        self.0.as_ref().unwrap()
    }
}

impl DerefMut for Run {
    fn deref_mut(&mut self) -> &mut Child {
        self.0.as_mut().unwrap()
    }
}

impl Run {
    /// Starts a command.
    pub fn of(command: &mut Command) -> Run {
        Run(Some(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()))
    }

    /// Waits for its end.
    pub fn output(mut self) -> Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if let Some(run) = &mut self.0 {
            run.kill().and_then(|()| run.wait().map(drop)).unwrap();
        }
    }
}

/// Starts a run on 3,162 nodes in a folder.
fn start(folder: &TempDir, args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_antwarp"));
    command.args(["solve", "E3k.0", "--backend", "cpu", "--threads", "1"]).args(args);
    command.current_dir(folder.path()).env("ANTWARP_TUNING", "none");
    Run::of(&mut command)
}

fn check(tour: &Path) {
    let checked = Command::new(env!("CARGO_BIN_EXE_antwarp")).arg("check").arg("E3k.0").arg(tour).output();
    let Output { status, stderr, .. } = checked.unwrap();
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
}

fn until(what: impl Fn() -> bool) {
    let begin = Instant::now();
    while !what() {
        assert!(begin.elapsed() < Duration::from_secs(60), "a minute is not enough");
        sleep(Duration::from_millis(20));
    }
}

fn is_written(file: &Path) -> bool {
    file.metadata().is_ok_and(|file| file.len() > 0)
}

/// Ends a run as the user would; what it printed.
fn interrupt(run: Run) -> String {
    assert!(Command::new("kill").args(["-TERM", &run.id().to_string()]).status().unwrap().success());
    let Output { status, stdout, stderr } = run.output();
    let told = String::from_utf8([stdout, stderr].concat()).unwrap();
    assert_eq!(status.code(), Some(130), "{told}");
    told
}

fn names(folder: &TempDir) -> Vec<String> {
    let entries = folder.path().read_dir().unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn a_killed_run_leaves_its_best_tour() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let tours = ["a.tour", "b.tour", "c.tour", "d.tour"];
    let mut runs = tours.map(|tour| start(&folder, &["--time", "10m", "--tour", tour]));
    until(|| tours.iter().all(|tour| is_written(&path(tour))));
    for (run, tour) in runs.iter_mut().zip(tours) {
        sleep(Duration::from_millis(370));
        run.kill().unwrap();
        run.wait().unwrap();
        check(&path(tour));
    }
}

fn a_long_run_keeps_its_tour_in_a_file_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    // What is there already stays.
    std::fs::write(folder.path().join("E3k.0-best.tour"), "mine").unwrap();
    let mut killed = start(&folder, &["--time", "10m"]);
    let kept = folder.path().join("E3k.0-best-2.tour");
    until(|| is_written(&kept));
    killed.kill().unwrap();
    killed.wait().unwrap();
    check(&kept);
    let run = start(&folder, &["--time", "10m"]);
    let kept = folder.path().join("E3k.0-best-3.tour");
    until(|| is_written(&kept));
    let told = interrupt(run);
    assert!(told.contains("the best tour so far is kept in E3k.0-best-3.tour"), "{told}");
    // Nothing else was requested, so it has the final tour.
    assert!(told.contains("tour file    E3k.0-best-3.tour"), "{told}");
    check(&kept);
    assert_eq!(names(&folder), ["E3k.0-best-2.tour", "E3k.0-best-3.tour", "E3k.0-best.tour"]);
    assert_eq!(std::fs::read(folder.path().join("E3k.0-best.tour")).unwrap(), b"mine");
}

fn a_file_of_its_own_is_removed_when_the_tour_is_in_another() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("deep")).unwrap();
    let run = start(&folder, &["--time", "61s", "--json", "deep/run.json"]);
    let kept = folder.path().join("deep/E3k.0-best.tour");
    until(|| is_written(&kept));
    check(&kept);
    let told = interrupt(run);
    assert!(told.contains("the best tour so far is kept in deep/E3k.0-best.tour"), "{told}");
    assert!(folder.path().join("deep/run.json").exists() && !kept.exists(), "{told}");
}

fn what_cannot_be_kept_is_told_once_and_the_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let run = start(&folder, &["--time", "12s", "--tour", "deep/a.tour"]);
    let told = String::from_utf8(run.output().stderr).unwrap();
    assert!(told.contains("deep/a.tour") && !told.contains("is not kept"), "{told}");
    std::fs::create_dir(folder.path().join("deep")).unwrap();
    let run = start(&folder, &["--time", "12s", "--tour", "deep/a.tour"]);
    // Outputs have been checked.
    until(|| is_watching(run.id()));
    sleep(Duration::from_secs(1));
    std::fs::remove_dir_all(folder.path().join("deep")).unwrap();
    let Output { status, stderr, .. } = run.output();
    let told = String::from_utf8(stderr).unwrap();
    assert_eq!(told.matches("the best tour so far is not kept").count(), 1, "{told}");
    // The tour was written elsewhere.
    let rescued =
        told.split("The tour was written to ").nth(1).and_then(|told| told.split(" instead").next());
    let rescued = Path::new(rescued.unwrap_or_else(|| panic!("{status}: {told}")));
    check(rescued);
    std::fs::remove_file(rescued).unwrap();
}
