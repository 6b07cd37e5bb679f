//! `antwarp check`: whether a tour is valid, and how long it is.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::output::{self, Output};
use super::reading::{ReadingArgs, announce_tour};
use super::shape::ShapeArgs;
use super::{Error, Outcome, Result};
use crate::instance::{Cost, Instance, InstanceError, tour_file};
use crate::report::{Known, coarse, coarse_warning, shape_text};

/// Arguments of `antwarp check`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// An instance file, or the name of a generated instance such as E10k.0
    #[arg(value_name = "FILE|NAME")]
    instance: PathBuf,
    /// A TSPLIB tour file, or a bare list of node numbers
    tour: PathBuf,
    /// Write the result as JSON; - is the standard output
    #[arg(long, value_name = "FILE|-")]
    json: Option<Output>,
    #[command(flatten)]
    shape: ShapeArgs,
    #[command(flatten)]
    reading: ReadingArgs,
}

/// The result of a check.
struct Finding {
    /// The internal cost, the user's cost, and the cost without TSPLIB's rounding if that differs much.
    cost: Option<(i64, Cost, Option<Cost>)>,
    problem: Option<Error>,
}

/// Checks a tour.
pub fn run(args: Args) -> Result<Outcome> {
    args.shape.refuse_start_alone()?;
    let inputs: [(&str, &Path); 2] = [(output::INSTANCE, &args.instance), ("the tour", &args.tour)];
    let inputs: Vec<_> = inputs.into_iter().chain(args.shape.files()).collect();
    output::check(args.json.as_slice(), &inputs)?;
    super::options::start_threads(None, None)?;
    let (instance, _) = args.shape.apply(args.reading.open(&args.instance)?)?;
    let finding = find(&instance, &args)?;
    if let Some(output) = &args.json {
        let value = as_json(&instance, &finding);
        output.write(|out| writeln!(out, "{value}"))?;
    }
    if let Some(problem) = finding.problem {
        return Err(problem);
    }
    if !args.json.as_ref().is_some_and(Output::is_stdout) {
        let text = finding.cost.map_or_else(String::new, |cost| as_text(&instance, cost));
        output::deliver(|out| out.write_all(text.as_bytes()))?;
    }
    Ok(Outcome::Done)
}

fn find(instance: &Instance, args: &Args) -> Result<Finding> {
    let tour = match tour_file::read_with(&args.tour, instance) {
        Ok(tour) => {
            announce_tour(&tour);
            tour.nodes
        }
        Err(error @ InstanceError::Read { .. }) => return Err(error.into()),
        Err(error) => return Ok(Finding { cost: None, problem: Some(Error::InvalidTour(error)) }),
    };
    let cost = instance.check_tour(&tour).map_err(|error| Error::Bug(error.to_string()))?;
    let wrong = |what: String| Error::WrongTour(format!("{}: {what}", args.tour.display()));
    let unused = instance.unused_fixed_edge(&tour).map(|(a, b)| {
        let (a, b) = (instance.id(a), instance.id(b));
        let edge = if instance.is_symmetric() { format!("{a}-{b}") } else { format!("from {a} to {b}") };
        wrong(format!("the tour does not use the edge {edge}, which is fixed"))
    });
    let end = wrong_end(instance, &tour).map(wrong);
    let forbidden = instance.forbidden_steps(&tour).first().map(|&(from, to)| {
        let (from, to) = (instance.label(from), instance.label(to));
        Error::Forbidden(format!(
            "{}: the tour goes from {from} to {to}, which is forbidden",
            args.tour.display()
        ))
    });
    let coarse = coarse(instance, &tour);
    if let Some(length) = coarse {
        output::tell(&format!("antwarp: warning: {}", coarse_warning(instance, &tour, length)));
    }
    Ok(Finding {
        cost: Some((cost, instance.tour_cost(&tour), coarse)),
        problem: end.or(unused).or(forbidden),
    })
}

/// Says at which end a path is at another node than it should be.
fn wrong_end(instance: &Instance, tour: &[u32]) -> Option<String> {
    let ends = instance.ends()?;
    let ends = [("starts", ends.start, tour.first()), ("ends", ends.end, tour.last())];
    ends.into_iter().find_map(|(what, right, found)| {
        let (right, found) = (right?, *found?);
        let (node, other) = (instance.label(found), instance.label(right));
        (right != found).then(|| format!("the path {what} at node {node}, not at {other}"))
    })
}

fn as_text(instance: &Instance, (inside, cost, _): (i64, Cost, Option<Cost>)) -> String {
    let known = crate::report::known_text(instance, inside);
    let cost = instance.unit().show(cost);
    let shape = shape_text(instance).map_or_else(String::new, |shape| format!(", {shape}"));
    format!(
        "{:<12} valid, {} nodes{shape}\n{:<12} {cost}\n{:<12} {known}\n",
        "tour",
        instance.len(),
        "cost",
        "best known"
    )
}

fn as_json(instance: &Instance, finding: &Finding) -> serde_json::Value {
    let known = instance.best_known();
    let inside = finding.cost.map(|(inside, ..)| inside);
    let known = known.map(|known| Known::beside(known, inside.unwrap_or(known.cost)));
    json!({
        "instance": instance.name(),
        "nodes": instance.len(),
        "valid": finding.problem.is_none(),
        "problem": finding.problem.as_ref().map(|problem| problem.to_string()),
        "cost": finding.cost.map(|(_, cost, _)| cost),
        "unrounded_cost": finding.cost.and_then(|(.., coarse)| coarse),
        "best_known": known,
        "gap_percent": inside.zip(known).and_then(|(cost, known)| known.gap_percent(cost)),
    })
}
