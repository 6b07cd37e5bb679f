//! `antwarp check`: whether a tour is valid, and how long it is; whether a certificate proves that none is shorter.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::output::{self, Output};
use super::reading::{ReadingArgs, announce_tour};
use super::shape::ShapeArgs;
use super::{Error, Outcome, Result};
use crate::exact::certificate::{self, Certificate, Refusal, Verified};
use crate::instance::{Cost, Fault, Instance, InstanceError, counted, tour_file};
use crate::report::{Known, coarse, coarse_warning, shape_text};
use crate::solver::proof::Prover;

/// Arguments of `antwarp check`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// An instance file, or the name of a generated instance such as E10k.0
    #[arg(value_name = "FILE|NAME")]
    instance: PathBuf,
    /// A file with the tour: TSPLIB, CSV, JSON, or a list of numbers or names
    #[arg(required_unless_present = "certificate")]
    tour: Option<PathBuf>,
    /// Check a proof that `solve --certificate` wrote, instead of a tour
    #[arg(long, value_name = "FILE", conflicts_with = "tour")]
    certificate: Option<PathBuf>,
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
    let tour = args.tour.iter().map(|path| ("the tour", &**path));
    let certificate = args.certificate.iter().map(|path| ("the certificate", &**path));
    let instance: (&str, &Path) = (output::INSTANCE, &args.instance);
    let inputs: Vec<_> =
        [instance].into_iter().chain(tour).chain(certificate).chain(args.shape.files()).collect();
    output::check(args.json.as_slice(), &inputs)?;
    super::options::start_threads(None, None)?;
    let (instance, _) = args.shape.apply(args.reading.open(&args.instance)?)?;
    match (&args.certificate, &args.tour) {
        (Some(path), _) => check_certificate(&instance, path, &args),
        (None, Some(path)) => check_tour(&instance, path, &args),
        (None, None) => Err(Error::Usage("give a tour, or --certificate FILE".to_owned())),
    }
}

fn check_tour(instance: &Instance, path: &Path, args: &Args) -> Result<Outcome> {
    let finding = find(instance, path)?;
    if let Some(output) = &args.json {
        let value = as_json(instance, &finding);
        output.write(|out| writeln!(out, "{value}"))?;
    }
    if let Some(problem) = finding.problem {
        return Err(problem);
    }
    if !args.json.as_ref().is_some_and(Output::is_stdout) {
        let text = finding.cost.map_or_else(String::new, |cost| as_text(instance, cost));
        output::deliver(|out| out.write_all(text.as_bytes()))?;
    }
    Ok(Outcome::Done)
}

fn find(instance: &Instance, path: &Path) -> Result<Finding> {
    let tour = match tour_file::read_with(path, instance) {
        Ok(tour) => {
            announce_tour(&tour);
            tour.nodes
        }
        Err(error @ InstanceError::Read { .. }) => return Err(error.into()),
        Err(error) => return Ok(Finding { cost: None, problem: Some(Error::InvalidTour(error)) }),
    };
    let cost = instance.check_tour(&tour).map_err(|error| Error::Bug(error.to_string()))?;
    let problem = instance.fault(&tour).map(|fault| {
        let what = format!("{}: {fault}", path.display());
        if matches!(fault, Fault::Forbidden(_)) { Error::Forbidden(what) } else { Error::WrongTour(what) }
    });
    let coarse = coarse(instance, &tour);
    if let Some(length) = coarse {
        output::tell(&format!("antwarp: warning: {}", coarse_warning(instance, &tour, length)));
    }
    Ok(Finding { cost: Some((cost, instance.tour_cost(&tour), coarse)), problem })
}

fn as_text(instance: &Instance, (inside, cost, _): (i64, Cost, Option<Cost>)) -> String {
    let known = crate::report::known_text(instance, inside);
    let cost = instance.unit().show(cost);
    let shape = shape_text(instance).map_or_else(String::new, |shape| format!(", {shape}"));
    format!(
        "{:<12} valid, {}{shape}\n{:<12} {cost}\n{:<12} {known}\n",
        "tour",
        counted(instance.len(), "node"),
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

/// Checks a certificate.
fn check_certificate(instance: &Instance, path: &Path, args: &Args) -> Result<Outcome> {
    let missing = "give the file that `solve --certificate` wrote";
    let certificate = certificate::read(path).map_err(|error| error.where_missing(missing))?;
    let prover = Prover::new(instance)?;
    let checked = certificate::check(prover.closed(), &certificate);
    let proven = checked.as_ref().ok().map(|verified| Proven::new(&prover, instance, verified, &certificate));
    if let Some(output) = &args.json {
        let value = match (&checked, &proven) {
            (Ok(verified), Some(proven)) => proven.as_json(instance, verified),
            (Err(refusal), _) => json!({
                "instance": instance.name(),
                "nodes": instance.len(),
                "valid": false,
                "problem": refusal.to_string(),
            }),
            (Ok(_), None) => {
                return Err(Error::Bug("nothing is known about a verified certificate".to_owned()));
            }
        };
        output.write(|out| writeln!(out, "{value}"))?;
    }
    let verified = checked.map_err(|refusal| refused(path, &refusal))?;
    if let Some(proven) = proven.filter(|_| !args.json.as_ref().is_some_and(Output::is_stdout)) {
        let text = proven.as_text(instance, &verified);
        output::deliver(|out| out.write_all(text.as_bytes()))?;
    }
    Ok(Outcome::Done)
}

fn refused(path: &Path, refusal: &Refusal) -> Error {
    Error::WrongTour(format!("{}: the certificate proves nothing: {refusal}", path.display()))
}

/// What a certificate proves, in the user's unit.
struct Proven {
    cost: Cost,
    bound: Cost,
    percent: Option<f64>,
}

impl Proven {
    fn new(
        prover: &Prover<'_>,
        instance: &Instance,
        verified: &Verified,
        certificate: &Certificate,
    ) -> Proven {
        let offset = prover.offset();
        let tour = prover.outward(certificate.tour.clone());
        let cost =
            tour.map_or_else(|| instance.cost(verified.cost + offset), |tour| instance.tour_cost(&tour));
        let bound = instance.lower_bound(verified.bound + offset);
        Proven { cost, bound, percent: cost.percent_above(bound) }
    }

    fn as_text(&self, instance: &Instance, verified: &Verified) -> String {
        let Verified { subtours, combs, hypergraphs, nodes, leaves, .. } = *verified;
        let unit = instance.unit();
        let (cost, bound) = (unit.show(self.cost), unit.show(self.bound));
        let proof = match (verified.is_optimal(), instance.is_exact()) {
            (true, true) => "valid: no tour is shorter".to_owned(),
            (true, false) => "valid: no tour is shorter, up to the resolution of costs".to_owned(),
            (false, _) => match self.percent {
                Some(percent) => {
                    format!("valid: the tour is at most {percent:.4} % longer than the shortest")
                }
                None => "valid: no tour costs less than the lower bound".to_owned(),
            },
        };
        let edges = verified.edges.map_or_else(String::new, |edges| {
            format!("{:<12} {edges} could be in a better tour; {} must be\n", "edges", verified.fixed)
        });
        let cuts = [(subtours, "subtour"), (combs, "comb"), (hypergraphs, "hypergraph")];
        let cuts = cuts.map(|(count, what)| counted(count, what)).join(", ");
        let tree = match (nodes, leaves) {
            (1, 1) => "1 node; the bound of its only leaf recomputed".to_owned(),
            _ => format!("{nodes} nodes; the bounds of all {leaves} leaves recomputed"),
        };
        format!(
            "{:<12} {proof}\n{:<12} valid, {}\n{:<12} {cost}\n{:<12} {bound}\n{:<12} {cuts}: each holds for every tour\n\
             {edges}{:<12} {tree}\n",
            "proof",
            "tour",
            counted(instance.len(), "node"),
            "cost",
            "lower bound",
            "cuts",
            "tree",
        )
    }

    fn as_json(&self, instance: &Instance, verified: &Verified) -> serde_json::Value {
        json!({
            "instance": instance.name(),
            "nodes": instance.len(),
            "valid": true,
            "problem": null,
            "optimal": verified.is_optimal() && instance.is_exact(),
            "cost": self.cost,
            "bound": self.bound,
            "gap_percent": self.percent,
            "subtours": verified.subtours,
            "combs": verified.combs,
            "hypergraphs": verified.hypergraphs,
            "tree_nodes": verified.nodes,
            "tree_leaves": verified.leaves,
        })
    }
}
