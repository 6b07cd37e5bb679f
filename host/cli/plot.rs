//! `antwarp plot`: plots runs against the time they took.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::options::MOST_NUMBERS;
use super::output::{self, Output};
use super::{Error, Outcome, Result};
use crate::instance::{InstanceError, Room, Text, source};
use crate::report::curves::{self, Point};

/// Arguments of `antwarp plot`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files written by solve --json: one plot per instance, one line per algorithm and machine, one point per limit, which is the
    /// mean of its runs
    #[arg(value_name = "RUN.json", required = true)]
    runs: Vec<PathBuf>,
    /// Where to write the plot, an SVG; - is the standard output
    #[arg(long, short, value_name = "FILE|-", default_value = "-")]
    output: Output,
}

/// The part of a saved run that is used here.
#[derive(Deserialize)]
struct Saved {
    instance: Named,
    algorithm: String,
    machine: Machine,
    limits: Limits,
    gap_percent: Option<f64>,
    seconds: f64,
    stopped_by: String,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Machine {
    backend: String,
    device: String,
    units: usize,
}

/// Limits of a run. Runs with equal limits belong to one point.
#[derive(Deserialize, PartialEq)]
struct Limits {
    time_seconds: Option<f64>,
    iterations: Option<u64>,
    target: Option<i64>,
    stagnation: Option<u64>,
}

/// Plots the runs.
pub fn run(args: Args) -> Result<Outcome> {
    let runs: Vec<_> = args.runs.iter().map(|run| ("one of the runs", run.as_path())).collect();
    output::check([&args.output], &runs)?;
    let all = args.runs.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
    // What all runs have in common need not be shown.
    let differ = |words: Vec<&str>| words.windows(2).any(|two| two[0] != two[1]);
    let algorithms_differ = differ(all.iter().map(|run| run.0.algorithm.as_str()).collect());
    let machines = all.iter().map(|run| &run.0.machine);
    let processors =
        machines.filter(|machine| machine.backend == "cpu").map(|machine| machine.device.as_str());
    let processors_differ = differ(processors.collect());
    let mut points: Vec<(Limits, Vec<Point>)> = Vec::new();
    for (saved, gap_percent) in all {
        let Machine { backend, device, units } = saved.machine;
        let mut machine = match (backend.as_str(), units) {
            ("cpu", 1) => "1 thread".to_string(),
            ("cpu", units) => format!("{units} threads"),
            _ => device.clone(),
        };
        if backend == "cpu" && processors_differ {
            machine = format!("{machine}, {device}");
        }
        if algorithms_differ {
            machine = format!("{machine}, {}", saved.algorithm);
        }
        let run = Point { instance: saved.instance.name, machine, seconds: saved.seconds, gap_percent };
        let is_same = |other: &Point| other.instance == run.instance && other.machine == run.machine;
        match points.iter_mut().find(|(limits, runs)| *limits == saved.limits && is_same(&runs[0])) {
            Some((_, runs)) => runs.push(run),
            None => points.push((saved.limits, vec![run])),
        }
    }
    let means: Vec<Point> = points.iter().filter_map(|(_, runs)| mean(runs)).collect();
    args.output.write(|out| curves::write(out, &means))?;
    Ok(Outcome::Done)
}

fn mean(runs: &[Point]) -> Option<Point> {
    // Divide first: the sum of the values could overflow.
    let mean = |value: fn(&Point) -> f64| runs.iter().map(|run| value(run) / runs.len() as f64).sum::<f64>();
    let first = runs.first()?;
    Some(Point {
        seconds: mean(|run| run.seconds),
        gap_percent: mean(|run| run.gap_percent),
        ..first.clone()
    })
}

/// Reads a run that finished, and its gap.
fn read(path: &Path) -> Result<(Saved, f64)> {
    let help = "give files written by antwarp solve --json";
    let unusable =
        |problem: String| Error::Input(InstanceError::content(path.display().to_string(), problem, help));
    let room = |_: Text<'_>| Room::numbers(MOST_NUMBERS, "a run");
    let bytes = source::load(path, room).map_err(|error| Error::Input(error.where_missing(help)))?;
    let saved: Saved =
        serde_json::from_slice(&bytes).map_err(|error| unusable(format!("not a saved run: {error}")))?;
    if matches!(saved.stopped_by.as_str(), "interrupt" | "failure") {
        return Err(unusable(format!("the run ended early: it was stopped by {}", saved.stopped_by)));
    }
    match saved.gap_percent {
        Some(gap_percent) => Ok((saved, gap_percent)),
        None => {
            Err(unusable(format!("no best known length for {}, so there is no gap", saved.instance.name)))
        }
    }
}
