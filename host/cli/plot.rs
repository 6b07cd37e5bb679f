//! `antwarp plot`: runs against the time that they took.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::output::Output;
use super::{Error, Outcome, Result};
use crate::instance::InstanceError;
use crate::report::curves::{self, Run};

/// Arguments of `antwarp plot`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What solve --json has written: a picture for every instance, a line for every machine, a point for every time
    /// limit, which is the mean of its runs
    #[arg(value_name = "RUN.json", required = true)]
    runs: Vec<PathBuf>,
    /// Where to write the picture, an SVG; - is the standard output
    #[arg(long, short, value_name = "FILE|-", default_value = "-")]
    output: Output,
}

/// What is read of a run.
#[derive(Deserialize)]
struct Saved {
    instance: Named,
    machine: Machine,
    limits: Limits,
    gap_percent: Option<f64>,
    seconds: f64,
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

#[derive(Deserialize)]
struct Limits {
    time_seconds: Option<f64>,
}

/// Draws the runs.
pub fn run(args: Args) -> Result<Outcome> {
    if let Output::File(output) = &args.output {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if let Some(run) = args.runs.iter().find(|run| real(run) == real(output)) {
            return Err(Error::Usage(format!("{} is one of the runs: name another output", run.display())));
        }
    }
    args.output.check()?;
    let mut points: Vec<(Option<f64>, Vec<Run>)> = Vec::new();
    for path in &args.runs {
        let (limit, run) = read(path)?;
        let is_same = |runs: &[Run]| {
            runs.iter().all(|other| other.instance == run.instance && other.machine == run.machine)
        };
        match points.iter_mut().find(|(other, runs)| *other == limit && is_same(runs)) {
            Some((_, runs)) => runs.push(run),
            None => points.push((limit, vec![run])),
        }
    }
    let means: Vec<Run> = points.iter().filter_map(|(_, runs)| mean(runs)).collect();
    args.output.write(|out| curves::write(out, &means))?;
    Ok(Outcome::Done)
}

fn mean(runs: &[Run]) -> Option<Run> {
    let mean = |value: fn(&Run) -> f64| runs.iter().map(value).sum::<f64>() / runs.len() as f64;
    let first = runs.first()?;
    Some(Run { seconds: mean(|run| run.seconds), gap_percent: mean(|run| run.gap_percent), ..first.clone() })
}

/// A run and its time limit.
fn read(path: &Path) -> Result<(Option<f64>, Run)> {
    let unusable = |problem: String| {
        let help = "give files that antwarp solve --json has written";
        Error::Input(InstanceError::content(path.display().to_string(), problem, help))
    };
    let file = File::open(path).map_err(|cause| {
        Error::Input(
            InstanceError::read(path, cause)
                .where_missing("give a file that antwarp solve --json has written"),
        )
    })?;
    let saved: Saved = serde_json::from_reader(BufReader::new(file))
        .map_err(|error| unusable(format!("no run: {error}")))?;
    let gap_percent = saved.gap_percent.ok_or_else(|| {
        unusable(format!("no best known length of {}, so there is no gap", saved.instance.name))
    })?;
    let Machine { backend, device, units } = saved.machine;
    let machine = match (backend.as_str(), units) {
        ("cpu", 1) => "1 thread".to_string(),
        ("cpu", units) => format!("{units} threads"),
        _ => device,
    };
    let run = Run { instance: saved.instance.name, machine, seconds: saved.seconds, gap_percent };
    Ok((saved.limits.time_seconds, run))
}
