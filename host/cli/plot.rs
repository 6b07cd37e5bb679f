//! `antwarp plot`: plots runs against the time they took.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::options::MOST_NUMBERS;
use super::output::{self, Output};
use super::{Error, Outcome, Result};
use crate::instance::{InstanceError, Room, Text, source};
use crate::report::curves::{self, Line};

/// Arguments of `antwarp plot`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files written by solve --json: one plot per instance, one line per algorithm and machine, one point per limit, which is the
    /// mean of its runs
    #[arg(value_name = "RUN.json", required = true)]
    runs: Vec<PathBuf>,
    /// Draw each run as a line of its own: its best tour at any moment
    #[arg(long)]
    moments: bool,
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
    /// The cost and the improvements, which only [moments](Args::moments) need.
    cost: Option<f64>,
    #[serde(default)]
    trace: Vec<Found>,
}

/// An improvement.
#[derive(Deserialize)]
struct Found {
    seconds: f64,
    cost: f64,
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
    let mut lines: Vec<Line> = Vec::new();
    let mut points: Vec<Point> = Vec::new();
    for ((saved, gap_percent), path) in all.into_iter().zip(&args.runs) {
        let Machine { backend, device, units } = &saved.machine;
        let mut machine = match (backend.as_str(), *units) {
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
        if args.moments {
            let points = moments(&saved, gap_percent).ok_or_else(|| {
                let problem =
                    format!("the gaps of its improvements for {} are not numbers", saved.instance.name);
                Error::Input(InstanceError::content(path.display().to_string(), problem, HELP))
            })?;
            lines.push(Line { instance: saved.instance.name, machine, points, is_one_run: true });
            continue;
        }
        let of_line = |line: &Line| line.instance == saved.instance.name && line.machine == machine;
        let line = lines.iter().position(of_line).unwrap_or_else(|| {
            let (instance, points) = (saved.instance.name.clone(), Vec::new());
            lines.push(Line { instance, machine: machine.clone(), points, is_one_run: false });
            lines.len() - 1
        });
        let run = (saved.seconds, gap_percent);
        match points.iter_mut().find(|point| point.line == line && point.limits == saved.limits) {
            Some(point) => point.runs.push(run),
            None => points.push(Point { line, limits: saved.limits, runs: vec![run] }),
        }
    }
    for point in points {
        lines[point.line].points.push(point.mean());
    }
    lines.iter_mut().for_each(|line| line.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    args.output.write(|out| curves::write(out, &lines))?;
    Ok(Outcome::Done)
}

/// Runs with equal limits.
struct Point {
    /// The number of its line.
    line: usize,
    limits: Limits,
    /// Seconds and gap of each.
    runs: Vec<(f64, f64)>,
}

impl Point {
    fn mean(&self) -> (f64, f64) {
        // Divide first: the sum of the values could overflow.
        let mean = |value: fn(&(f64, f64)) -> f64| {
            self.runs.iter().map(|run| value(run) / self.runs.len() as f64).sum::<f64>()
        };
        (mean(|run| run.0), mean(|run| run.1))
    }
}

/// Returns the gap of a run after each improvement, and at its end; `None` if a value is missing or infinite.
fn moments(saved: &Saved, gap_percent: f64) -> Option<Vec<(f64, f64)>> {
    let best_known = saved.cost? / (1.0 + gap_percent / 100.0);
    let gap = |cost: f64| (100.0 * (cost / best_known - 1.0)).max(0.0);
    let found = saved.trace.iter().map(|found| (found.seconds, gap(found.cost)));
    let points = found.chain([(saved.seconds, gap_percent)]);
    points.map(|point| (point.0.is_finite() && point.1.is_finite()).then_some(point)).collect()
}

const HELP: &str = "give files written by antwarp solve --json";

/// Reads a run that finished, and its gap.
fn read(path: &Path) -> Result<(Saved, f64)> {
    let help = HELP;
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
