//! `POST /solve`: places, coordinates or a matrix as JSON.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::Deserialize;
use serde_json::{Value, json};

use super::refusal::{Kind, Refusal};
use super::task::{Found, Limits, Task, made, on_the_globe};
use crate::engine::StopReason;
use crate::instance::{Ends, Instance, Unit, counted};

/// A request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    places: Option<Vec<[f64; 2]>>,
    coordinates: Option<Vec<[f64; 2]>>,
    matrix: Option<Vec<Vec<Option<f64>>>>,
    names: Option<Vec<String>>,
    #[serde(default)]
    open: bool,
    start: Option<u32>,
    end: Option<u32>,
    time: Option<f64>,
    seed: Option<u64>,
}

/// Answers a request, on the threads of the current pool. The search ends early once `interrupt` is set.
///
/// # Errors
/// If the request is wrong or too large, or no tour is found.
pub fn answer(body: &[u8], limits: &Limits, interrupt: &Arc<AtomicBool>) -> Result<Value, Refusal> {
    let request: Request =
        serde_json::from_slice(body).map_err(|error| Refusal::new(Kind::Syntax, error.to_string()))?;
    let length = limits.length(request.time)?;
    let (names, seed) = (request.names.clone(), request.seed);
    let (instance, unit) = request.instance(limits)?;
    let nodes = instance.len();
    if let Some(given) = names.as_ref().map(Vec::len).filter(|&given| given != nodes) {
        let (given, places) = (counted(given, "name"), counted(nodes, "place"));
        let text = format!("`names` has {given} for {places}: give one for each place");
        return Err(Refusal::new(Kind::Value, text));
    }
    let (ends, first) = request.ends(nodes)?;
    let found = Task { instance, ends, first, length, seed }.solve(interrupt)?;
    Ok(written(&found, unit, names, request.open))
}

impl Request {
    /// Returns the instance, and what its costs are.
    fn instance(&self, limits: &Limits) -> Result<(Instance, &'static str), Refusal> {
        let value = |text: &str| Refusal::new(Kind::Value, text);
        match (&self.places, &self.coordinates, &self.matrix) {
            (Some(places), None, None) => {
                limits.check_nodes(places.len())?;
                let instance = made(Instance::euclidean(places))?;
                Ok((instance, "Euclidean distances, in the unit of the places"))
            }
            (None, Some(places), None) => {
                limits.check_nodes(places.len())?;
                Ok((on_the_globe(places)?, "great-circle metres between [longitude, latitude]"))
            }
            (None, None, Some(rows)) => {
                let nodes = rows.len();
                limits.check_nodes(nodes)?;
                if let Some(at) = rows.iter().position(|row| row.len() != nodes) {
                    let text = format!("row {at} of the matrix has {} costs, not {nodes}", rows[at].len());
                    return Err(value(&text));
                }
                let costs = rows.iter().flatten().map(|cost| cost.unwrap_or(f64::INFINITY));
                let instance = made(Instance::from_costs("request", costs.collect::<Vec<_>>()))?;
                Ok((instance, "costs, in the unit of the matrix"))
            }
            _ => Err(value("give one of `places`, `coordinates` and `matrix`")),
        }
    }

    /// Returns the ends of an open path, or the node that a closed tour starts with.
    fn ends(&self, nodes: usize) -> Result<(Option<Ends>, Option<u32>), Refusal> {
        let value = |text: String| Refusal::new(Kind::Value, text);
        for (name, node) in [("start", self.start), ("end", self.end)] {
            if let Some(node) = node.filter(|&node| node as usize >= nodes) {
                return Err(value(format!("`{name}` is {node}: give a place from 0 to {}", nodes - 1)));
            }
        }
        match (self.open, self.start, self.end) {
            (false, _, Some(_)) => Err(value("`end` is for an open path: add \"open\": true".to_owned())),
            (false, start, None) => Ok((None, Some(start.unwrap_or(0)))),
            (true, start, end) => Ok((Some(Ends { start, end }), None)),
        }
    }
}

fn written(found: &Found, costs: &str, names: Option<Vec<String>>, is_open: bool) -> Value {
    let Found { instance, solution } = found;
    let cost = instance.tour_cost(&solution.tour);
    let bound = match solution.stopped_by {
        StopReason::Optimal => Some(cost),
        StopReason::OptimalRounded => Some(instance.lower_bound(solution.cost)),
        _ => None,
    };
    let legs: Vec<f64> =
        instance.edges(&solution.tour).map(|(from, to)| instance.edge_cost(from, to)).collect();
    let mut answer = json!({
        "tour": solution.tour,
        "open": is_open,
        "cost": cost,
        "unit": if instance.unit() == Unit::Metres { "metres" } else { "own" },
        "costs": costs,
        "legs": legs,
        "bound": bound,
        "stopped_by": solution.stopped_by,
        "seconds": solution.seconds,
    });
    if let Some(names) = names {
        let names: Vec<&String> = solution.tour.iter().map(|&node| &names[node as usize]).collect();
        answer["names"] = json!(names);
    }
    answer
}
