//! `antwarp info`: describes instances.

use super::reading::ReadingArgs;
use super::{Error, Outcome, Result, output};
use crate::instance::{Cost, Instance, Kind, Metric};
use std::collections::HashSet;
use std::path::PathBuf;

/// Arguments of `antwarp info`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Instance files, or names of generated instances such as E10k.0
    #[arg(value_name = "FILE|NAME", required = true)]
    instances: Vec<PathBuf>,
    #[command(flatten)]
    reading: ReadingArgs,
}

/// Describes instances. If one cannot be read, the others are still described.
pub fn run(args: Args) -> Result<Outcome> {
    super::options::start_threads(None, None)?;
    let mut failed = None;
    for (i, source) in args.instances.iter().enumerate() {
        match args.reading.open(source) {
            Ok(instance) => {
                let gap = if i == 0 { "" } else { "\n" };
                output::deliver(|out| write!(out, "{gap}{}", describe(&instance)))?;
            }
            Err(error) => failed = Some(error.print()),
        }
    }
    failed.map_or(Ok(Outcome::Done), |status| Err(Error::Printed(status)))
}

fn describe(instance: &Instance) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| text += &format!("{name:<16} {value}\n");
    line("name", instance.name().to_owned());
    for comment in instance.comments() {
        line("comment", comment.clone());
    }
    line("type", kind(instance.kind()).to_owned());
    line("nodes", instance.len().to_string());
    line("metric", instance.metric().map_or("EXPLICIT, a matrix", |metric| metric.keyword()).to_owned());
    if let Some(reading) = instance.reading() {
        line("read", reading.to_owned());
    }
    if !instance.is_exact() {
        let cost = Cost::Real(instance.resolution());
        line("resolution", format!("{cost}: edge costs are rounded to multiples of this internally"));
    }
    line("symmetric", if instance.is_symmetric() { "yes" } else { "no" }.to_owned());
    if let Some(points) = instance.given_points() {
        line("duplicate points", duplicates(&points).to_string());
        line("bounding box", bounding_box(&points, instance.metric()));
    }
    line("best known", best_known(instance));
    if !instance.fixed_edges().is_empty() {
        line("fixed edges", instance.fixed_edges().len().to_string());
    }
    if instance.forbidden().is_some() {
        let what = if instance.is_symmetric() { "forbidden pairs" } else { "forbidden edges" };
        line(what, instance.count_forbidden().to_string());
    }
    text
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Tsp => "TSP",
        Kind::Atsp => "ATSP",
    }
}

fn best_known(instance: &Instance) -> String {
    match instance.best_known() {
        Some(known) if known.proven => format!("{} (optimal)", known.cost),
        Some(known) => known.cost.to_string(),
        None => "none for this instance".to_owned(),
    }
}

/// Counts the points that coincide with an earlier one.
fn duplicates(points: &[[f64; 3]]) -> usize {
    // Adding 0 turns -0 into 0.
    let places: HashSet<[u64; 3]> = points.iter().map(|p| p.map(|c| (c + 0.0).to_bits())).collect();
    points.len() - places.len()
}

fn bounding_box(points: &[[f64; 3]], metric: Option<Metric>) -> String {
    let axes: &[(usize, &str)] = match metric {
        Some(Metric::Sphere) => &[(1, "latitude"), (0, "longitude")],
        Some(metric) if metric.is_on_globe() => &[(0, "latitude"), (1, "longitude")],
        Some(metric) if metric.dimensions() == 3 => &[(0, "x"), (1, "y"), (2, "z")],
        _ => &[(0, "x"), (1, "y")],
    };
    let range = |&(axis, name): &(usize, &str)| {
        let values = || points.iter().map(|p| p[axis]);
        let (low, high) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        format!("{name} {low} to {high}")
    };
    axes.iter().map(range).collect::<Vec<_>>().join(", ")
}
