//! `antwarp plot`: draws what runs wrote, against the time they took or on a map.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::options::{MOST_NUMBERS, not_json};
use super::output::{self, Output};
use super::{Error, Outcome, Result};
use crate::instance::{Cost, InstanceError, Room, Text, Unit, counted, source};
use crate::report::curves::{self, Line};
use crate::report::drawing::Drawing;
use crate::report::picture::{Picture, on_paper};
use crate::report::route::Coordinates;
use crate::report::{page, png, svg};

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
    /// Draw the tour of a run instead
    #[arg(long, conflicts_with = "moments")]
    map: bool,
    /// Where to write the plot, an SVG; - is the standard output. A name that ends in .png gets the plot as PNG, one that ends in .html
    /// the page of solve --html, with all runs
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
    seed: Option<u64>,
    gap_percent: Option<f64>,
    seconds: f64,
    stopped_by: String,
    /// The cost and the improvements, which only [moments](Args::moments) need.
    cost: Option<Cost>,
    #[serde(default)]
    trace: Vec<Found>,
    bound: Option<Bound>,
    /// The tour, which only maps need.
    #[serde(default)]
    tour: Vec<u32>,
    names: Option<Vec<String>>,
    places: Option<Vec<[f64; 2]>>,
    #[serde(default)]
    legs: Vec<Option<f64>>,
}

/// A lower bound.
#[derive(Deserialize)]
struct Bound {
    length: Cost,
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
    fingerprint: Option<String>,
    #[serde(default)]
    unit: Unit,
    coordinates: Option<Coordinates>,
    #[serde(default)]
    open: bool,
    start: Option<u32>,
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
    target: Option<Cost>,
    stagnation: Option<u64>,
}

/// A run as it was written, and what is used of it here.
struct Run<'a> {
    path: &'a Path,
    value: Value,
    saved: Saved,
}

/// Plots the runs.
pub fn run(args: Args) -> Result<Outcome> {
    let inputs: Vec<_> = args.runs.iter().map(|run| ("one of the runs", run.as_path())).collect();
    output::check([&args.output], &inputs)?;
    let mut all = Vec::new();
    for path in &args.runs {
        all.extend(read(path)?);
    }
    let ends_in = |ending: &str| match &args.output {
        Output::File(path) => path.extension().is_some_and(|own| own.eq_ignore_ascii_case(ending)),
        Output::Stdout => false,
    };
    if !args.map && ends_in("html") {
        all.iter().try_for_each(Run::check_tour)?;
        args.output.write(|out| page::write(out, all.iter().map(|run| &run.value)))?;
        return Ok(Outcome::Done);
    }
    let drawing = if args.map { draw_map(&all)? } else { draw_curves(all, args.moments)? };
    let write = if ends_in("png") { png::write } else { svg::write };
    args.output.write(|out| write(&drawing, out))?;
    Ok(Outcome::Done)
}

/// Draws the tour of a single run.
fn draw_map(all: &[Run<'_>]) -> Result<Drawing> {
    let [run] = all else {
        return Err(Error::Usage(format!(
            "--map draws the tour of a single run, but there are {}",
            all.len()
        )));
    };
    run.check_tour()?;
    let Saved { instance, tour, names, places, cost, .. } = &run.saved;
    let (Some(coordinates), Some(places)) = (instance.coordinates, places) else {
        return Err(run.unusable("the run has no coordinates, so there is no map".to_owned()));
    };
    let length = cost.map_or_else(String::new, |cost| format!(" · length {}", instance.unit.show(cost)));
    let caption = format!("{} · {}{length}", instance.name, counted(tour.len(), "node"));
    let picture = Picture {
        places: &on_paper(coordinates, places),
        is_globe: coordinates == Coordinates::Degrees,
        is_open: instance.open,
        has_start: instance.start.is_some(),
        fixed: &[],
        labels: names.clone().unwrap_or_default(),
    };
    // The places are in the order of the tour.
    let order: Vec<u32> = (0..tour.len() as u32).collect();
    Ok(picture.draw(&order, &caption))
}

/// Draws the gaps of runs against their time.
fn draw_curves(all: Vec<Run<'_>>, are_moments: bool) -> Result<Drawing> {
    let gaps = Gaps::of(&all)?;
    if !are_moments
        && let Some(run) =
            all.iter().find(|run| matches!(run.saved.stopped_by.as_str(), "interrupt" | "failure"))
    {
        let why = &run.saved.stopped_by;
        return Err(run.unusable(format!("the run ended early: it was stopped by {why}")));
    }
    // What all runs have in common need not be shown.
    let differ = |words: Vec<&str>| words.windows(2).any(|two| two[0] != two[1]);
    let algorithms_differ = differ(all.iter().map(|run| run.saved.algorithm.as_str()).collect());
    let machines = all.iter().map(|run| &run.saved.machine);
    let processors =
        machines.filter(|machine| machine.backend == "cpu").map(|machine| machine.device.as_str());
    let processors_differ = differ(processors.collect());
    let mut lines: Vec<Line> = Vec::new();
    let mut points: Vec<Point> = Vec::new();
    let machine_of = |run: &Run<'_>| {
        let saved = &run.saved;
        let Machine { backend, device, units } = &saved.machine;
        let mut machine = match (backend.as_str(), *units) {
            ("cpu", units) => counted(units, "thread"),
            _ => device.clone(),
        };
        if backend == "cpu" && processors_differ {
            machine = format!("{machine}, {device}");
        }
        if algorithms_differ {
            machine = format!("{machine}, {}", saved.algorithm);
        }
        machine
    };
    let mut machines: Vec<String> = all.iter().map(machine_of).collect();
    if are_moments
        && all.len() > 1
        && machines.windows(2).all(|two| two[0] == two[1])
        && let Some(names) = names_of_runs(&all)
    {
        machines.iter_mut().zip(names).for_each(|(machine, name)| *machine = format!("{machine}, {name}"));
    }
    for (run, machine) in all.into_iter().zip(machines) {
        let (saved, path) = (&run.saved, run.path);
        let (instance, gap_percent) = gaps.of_run(&run)?;
        if are_moments {
            let points = moments(saved, gap_percent).ok_or_else(|| {
                let problem =
                    format!("the gaps of its improvements for {} are not numbers", saved.instance.name);
                Error::Input(InstanceError::content(path.display().to_string(), problem, HELP))
            })?;
            lines.push(Line { instance, machine, points, is_one_run: true });
            continue;
        }
        let of_line = |line: &Line| line.instance == instance && line.machine == machine;
        let line = lines.iter().position(of_line).unwrap_or_else(|| {
            let (instance, points) = (instance.clone(), Vec::new());
            lines.push(Line { instance, machine: machine.clone(), points, is_one_run: false });
            lines.len() - 1
        });
        let seconds_and_gap = (saved.seconds, gap_percent);
        match points.iter_mut().find(|point| point.line == line && point.limits == saved.limits) {
            Some(point) => point.runs.push(seconds_and_gap),
            None => points.push(Point { line, limits: run.saved.limits, runs: vec![seconds_and_gap] }),
        }
    }
    for point in points {
        lines[point.line].points.push(point.mean());
    }
    lines.iter_mut().for_each(|line| line.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    Ok(curves::draw(&lines))
}

/// Returns names for runs of the same algorithm on the same machine: their seeds, or else the names of their files. `None` if neither are
/// distinct, or if there are more runs than [colours](curves::MOST_COLORS).
fn names_of_runs(all: &[Run<'_>]) -> Option<Vec<String>> {
    let instances: Vec<&str> = all.iter().map(|run| run.saved.instance.name.as_str()).collect();
    let are_distinct = |names: &[String]| {
        let all: HashSet<_> = instances.iter().zip(names).collect();
        let colors: HashSet<_> = names.iter().collect();
        let are_named = names.iter().all(|name| !name.is_empty());
        are_named && all.len() == names.len() && colors.len() <= curves::MOST_COLORS
    };
    let seeds = all.iter().map(|run| run.saved.seed.map_or_else(String::new, |seed| format!("seed {seed}")));
    let file =
        |run: &Run<'_>| run.path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into());
    [seeds.collect(), all.iter().map(file).collect()]
        .into_iter()
        .find(|names: &Vec<String>| are_distinct(names))
}

/// What costs are compared with, for each instance.
struct Gaps {
    references: Vec<Reference>,
}

/// What costs of an instance are compared with.
struct Reference {
    name: String,
    fingerprint: Option<String>,
    /// What its plot is called.
    title: String,
    /// The cost, where no best known length is known.
    cost: Option<f64>,
}

impl Reference {
    fn is_of(&self, instance: &Named) -> bool {
        (&self.name, &self.fingerprint) == (&instance.name, &instance.fingerprint)
    }
}

impl Gaps {
    /// Finds it: the best known length; else the best bound that a run has, else the shortest tour of the runs.
    fn of(all: &[Run<'_>]) -> Result<Gaps> {
        let mut references: Vec<Reference> = Vec::new();
        for run in all {
            let Named { name, fingerprint, .. } = &run.saved.instance;
            if references.iter().any(|known| known.is_of(&run.saved.instance)) {
                continue;
            }
            // Others may have this name, too.
            let title = match references.iter().filter(|known| known.name == *name).count() {
                0 => name.clone(),
                others => format!("{name} ({})", others + 1),
            };
            let mut add = |title: String, cost| {
                references.push(Reference {
                    name: name.clone(),
                    fingerprint: fingerprint.clone(),
                    title,
                    cost,
                });
            };
            let is_own =
                |saved: &&Saved| (&saved.instance.name, &saved.instance.fingerprint) == (name, fingerprint);
            let own: Vec<&Saved> = all.iter().map(|run| &run.saved).filter(is_own).collect();
            if own.iter().all(|saved| saved.gap_percent.is_some()) {
                add(title, None);
                continue;
            }
            let bounds = own.iter().filter_map(|saved| Some(saved.bound.as_ref()?.length.as_f64()));
            let bound = bounds.reduce(f64::max);
            let costs = own.iter().filter_map(|saved| Some(saved.cost?.as_f64()));
            let (what, cost) = match (bound, costs.reduce(f64::min)) {
                (Some(bound), _) => ("above the bound", bound),
                (None, Some(cost)) => ("above the best of these runs", cost),
                (None, None) => return Err(run.unusable("the run has no cost".to_owned())),
            };
            if cost.is_nan() || cost <= 0.0 {
                let problem = format!("costs of {cost} have no gap in percent");
                return Err(run.unusable(problem));
            }
            add(format!("{title}, {what}"), Some(cost));
        }
        Ok(Gaps { references })
    }

    /// Returns what the plot of a run is called, and its gap in percent.
    fn of_run(&self, run: &Run<'_>) -> Result<(String, f64)> {
        let reference = self.references.iter().find(|known| known.is_of(&run.saved.instance));
        let no_cost = || run.unusable("the run has no cost".to_owned());
        let Reference { title, cost, .. } = reference.ok_or_else(no_cost)?;
        let gap = match cost {
            Some(reference) => 100.0 * (run.saved.cost.ok_or_else(no_cost)?.as_f64() / reference - 1.0),
            None => run.saved.gap_percent.ok_or_else(no_cost)?,
        };
        Ok((title.clone(), gap))
    }
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
    let best_known = saved.cost?.as_f64() / (1.0 + gap_percent / 100.0);
    let gap = |cost: f64| (100.0 * (cost / best_known - 1.0)).max(0.0);
    let found = saved.trace.iter().map(|found| (found.seconds, gap(found.cost)));
    let points = found.chain([(saved.seconds, gap_percent)]);
    points.map(|point| (point.0.is_finite() && point.1.is_finite()).then_some(point)).collect()
}

const HELP: &str = "give files written by antwarp solve --json";

impl Run<'_> {
    fn unusable(&self, problem: String) -> Error {
        unusable(self.path, problem)
    }

    /// Checks that everything that is known about the places is known about each of them.
    fn check_tour(&self) -> Result<()> {
        let Saved { tour, names, places, legs, .. } = &self.saved;
        let count = tour.len();
        let fits = |other: Option<usize>| other.is_none_or(|other| other == count);
        let are_whole = fits(names.as_ref().map(Vec::len)) && fits(places.as_ref().map(Vec::len));
        match legs.len() {
            _ if count == 0 => Err(self.unusable("the run has no tour".to_owned())),
            legs if are_whole && (legs == 0 || legs == count || legs + 1 == count) => Ok(()),
            _ => Err(self.unusable("the tour has other places than its names, places or legs".to_owned())),
        }
    }
}

fn unusable(path: &Path, problem: String) -> Error {
    Error::Input(InstanceError::content(path.display().to_string(), problem, HELP))
}

/// Reads the runs of a file: one, or one in each line, where those of statistics are left out.
fn read(path: &Path) -> Result<Vec<Run<'_>>> {
    let room = |_: Text<'_>| Room::numbers(MOST_NUMBERS, "a run");
    let bytes = source::load(path, room).map_err(|error| Error::Input(error.where_missing(HELP)))?;
    let mut runs = Vec::new();
    for value in serde_json::Deserializer::from_slice(&bytes).into_iter::<Value>() {
        let not_saved = |error: serde_json::Error| unusable(path, not_json("a saved run", &bytes, &error));
        let value = value.map_err(not_saved)?;
        if value.get("statistics").is_some() {
            continue;
        }
        let saved = Saved::deserialize(&value).map_err(not_saved)?;
        runs.push(Run { path, value, saved });
    }
    if runs.is_empty() {
        return Err(unusable(path, "there is no saved run in the file".to_owned()));
    }
    Ok(runs)
}
