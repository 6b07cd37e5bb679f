//! The program, and what it works on.

use crate::data;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

pub fn antwarp(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_antwarp"));
    command.args(args).timeout(Duration::from_secs(120));
    command
}

/// Copies the program to a file. Another process writes it: were it open for writing here, a child that another thread starts at
/// that moment would hold it open, too, and to run it would fail with "Text file busy".
pub fn copy_program(to: &Path) {
    let status = std::process::Command::new("cp").arg(env!("CARGO_BIN_EXE_antwarp")).arg(to).status();
    assert!(status.unwrap().success(), "cp {}", to.display());
}

/// `antwarp solve` on the CPU.
pub fn solve(args: &[&str]) -> Command {
    let mut command = antwarp(&["solve", "--backend", "cpu"]);
    command.args(args);
    command
}

/// `antwarp solve --algorithm ils` on the CPU.
pub fn search(args: &[&str]) -> Command {
    let mut command = solve(&["--algorithm", "ils"]);
    command.args(args);
    command
}

/// `antwarp solve --algorithm lk` on the CPU.
pub fn lin_kernighan(args: &[&str]) -> Command {
    let mut command = solve(&["--algorithm", "lk"]);
    command.args(args);
    command
}

/// `antwarp solve --algorithm acs` on the CPU.
pub fn colony_system(args: &[&str]) -> Command {
    let mut command = solve(&["--algorithm", "acs"]);
    command.args(args);
    command
}

/// `antwarp solve --algorithm ga` on the CPU.
pub fn evolve(args: &[&str]) -> Command {
    let mut command = solve(&["--algorithm", "ga"]);
    command.args(args);
    command
}

/// `antwarp bench` on the CPU: a suite, an instance and more.
pub fn bench(suite: &str, instance: &str, more: &[&str]) -> Command {
    let mut command = antwarp(&["bench", suite, "--instances", instance, "--backend", "cpu"]);
    command.args(more);
    command
}

/// The rows of a CSV file, each with what its columns hold.
pub fn rows(path: &str) -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let head = reader.headers().unwrap().clone();
    let row = |record: csv::StringRecord| {
        head.iter().map(str::to_owned).zip(record.iter().map(str::to_owned)).collect()
    };
    reader.records().map(|record| row(record.unwrap())).collect()
}

/// A folder with a small instance in it.
pub struct Folder {
    pub folder: TempDir,
    pub instance: String,
}

impl Folder {
    pub fn new(nodes: usize) -> Folder {
        let folder = tempfile::tempdir().unwrap();
        let instance = folder.path().join("random.tsp").to_str().unwrap().to_owned();
        antwarp(&["generate", "uniform", "--nodes", &nodes.to_string(), "--seed", "3", "-o", &instance])
            .assert()
            .success()
            .stdout("");
        Folder { folder, instance }
    }

    pub fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    pub fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// The length that `check` finds for a tour.
    pub fn checked(&self, tour: &str) -> i64 {
        checked(&self.instance, tour)
    }
}

pub fn checked(instance: &str, tour: &str) -> i64 {
    let output = antwarp(&["check", instance, tour, "--json", "-"]).assert().success().get_output().clone();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["valid"], true);
    value["cost"].as_f64().unwrap() as i64
}

pub fn json(path: &str) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// A published instance, if the data is there.
pub fn published(file: &str) -> Option<String> {
    published_in("tsplib", file)
}

/// Whether there is HiGHS. Without it the test counts as ignored.
pub fn has_highs() -> bool {
    match antwarp::exact::simplex::Highs::find() {
        Ok(_) => true,
        Err(error) if std::env::var_os("ANTWARP_REQUIRE_HIGHS").is_some() => panic!("{error}"),
        Err(_) => {
            crate::harness::ignore("they need HiGHS: install it, or set ANTWARP_HIGHS to its file");
            false
        }
    }
}

/// The same from another folder. Without it the test counts as ignored.
pub fn published_in(folder: &str, file: &str) -> Option<String> {
    let path = data::folder(&[folder])?.join(folder).join(file);
    path.to_str().map(str::to_owned)
}
