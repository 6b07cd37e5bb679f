//! `POST /`: VROOM's requests for one vehicle that visits all jobs, as the description of VROOM 1.15.0-rc.2 (its `docs/API.md`) has
//! them.
//!
//! What would change the answer and is not supported is refused by name. A field that is empty, false or null asks for nothing,
//! and so does an amount of 0. Other zeros are limits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::refusal::{Kind, Refusal};
use super::task::{Found, Limits, Task, made, on_the_globe};
use crate::instance::{Ends, Instance, counted};

/// A request. Not flattened, as the others are: that would take many times the memory of a matrix.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    vehicles: Option<Vec<Vehicle>>,
    jobs: Option<Vec<Job>>,
    matrices: Option<BTreeMap<String, Matrices>>,
    #[serde(default)]
    options: Map<String, Value>,
    #[serde(default)]
    shipments: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
struct Vehicle {
    id: u64,
    profile: Option<String>,
    description: Option<String>,
    start: Option<[f64; 2]>,
    start_index: Option<usize>,
    end: Option<[f64; 2]>,
    end_index: Option<usize>,
    speed_factor: Option<f64>,
    /// It only tells vehicles apart, and jobs cannot name it (`service_per_type`).
    #[serde(rename = "type")]
    _type: Option<String>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

#[derive(Deserialize)]
struct Job {
    id: u64,
    description: Option<String>,
    location: Option<[f64; 2]>,
    location_index: Option<usize>,
    service: Option<u32>,
    /// All jobs are served, whatever their priority.
    priority: Option<u32>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

type Rows = Vec<Vec<u32>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Matrices {
    durations: Option<Rows>,
    distances: Option<Rows>,
    costs: Option<Rows>,
}

/// A place of the route.
#[derive(Clone, Copy)]
struct Stop {
    location: Option<[f64; 2]>,
    index: Option<usize>,
}

/// What lies between places.
enum Ways<'a> {
    /// Great circles, travelled at so many metres a second.
    Globe(f64),
    /// Matrices, and the factor by which the vehicle is faster.
    Matrices(&'a Matrices, f64),
}

/// Duration, distance and cost of a part of a route: seconds and metres on great circles, where the cost is the duration; else in the
/// units of the matrices.
#[derive(Clone, Copy, Default)]
struct Way {
    duration: f64,
    distance: f64,
    cost: f64,
}

/// Answers a request, on the threads of the current pool; `time` (in seconds) and `seed` are those of the query. The search ends early
/// once `interrupt` is set.
///
/// # Errors
/// If the request is wrong or too large, asks for what antwarp does not do, or no tour is found.
pub fn answer(
    body: &[u8],
    (time, seed): (Option<f64>, Option<u64>),
    limits: &Limits,
    interrupt: &Arc<AtomicBool>,
) -> Result<Value, Refusal> {
    let begin = Instant::now();
    let request: Request =
        serde_json::from_slice(body).map_err(|error| Refusal::new(Kind::Syntax, error.to_string()))?;
    let length = limits.length(time)?;
    let vehicle = request.vehicle()?;
    let jobs = request.jobs.as_deref().unwrap_or_default();
    let stops = request.stops(vehicle, jobs)?;
    limits.check_nodes(stops.len())?;
    let ways = request.ways(vehicle, &stops, limits)?;
    let route = Route { vehicle, jobs, stops, ways };
    if jobs.is_empty() {
        let none = json!({ "loading": begin.elapsed().as_millis() as u64, "solving": 0, "routing": 0 });
        return Ok(
            json!({ "code": 0, "summary": summary(0, Way::default(), (0, 0), true, none), "unassigned": [], "routes": [] }),
        );
    }
    let (ends, first) = route.ends();
    let instance = route.instance()?;
    let loading = begin.elapsed();
    let found = Task { instance, ends, first, length, seed }.solve(interrupt)?;
    let times = json!({
        "loading": loading.as_millis() as u64,
        "solving": (begin.elapsed() - loading).as_millis() as u64,
        "routing": 0,
    });
    Ok(route.written(&found, times))
}

fn value(text: impl Into<String>) -> Refusal {
    Refusal::new(Kind::Value, text)
}

fn unsupported(what: &str, name: &str) -> Refusal {
    let text = format!(
        "{what} has `{name}`, which antwarp does not support: it solves one vehicle that visits all jobs, without capacities, time windows, skills, breaks or shipments"
    );
    Refusal::new(Kind::Unsupported, text)
}

/// Fields whose zeros ask for nothing: amounts, and a time that is added.
const AMOUNTS: [&str; 5] = ["amount", "delivery", "pickup", "capacity", "setup"];

/// Returns whether a field asks for nothing.
fn is_void(name: &str, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => AMOUNTS.contains(&name) && number.as_f64() == Some(0.0),
        Value::Array(values) => values.iter().all(|value| value.is_number() && is_void(name, value)),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::String(_) => false,
    }
}

/// Rejects fields that are not known.
fn refuse(what: &str, others: &Map<String, Value>) -> Result<(), Refusal> {
    match others.iter().find(|(name, value)| !is_void(name, value)) {
        Some((name, _)) => Err(unsupported(what, name)),
        None => Ok(()),
    }
}

impl Request {
    /// Returns the vehicle.
    fn vehicle(&self) -> Result<&Vehicle, Refusal> {
        if !self.shipments.is_empty() {
            return Err(unsupported("the request", "shipments"));
        }
        // vroom-express' number of threads and level of exploration do not change what is asked for.
        let mut options = self.options.clone();
        options.retain(|name, _| !["t", "x"].contains(&name.as_str()));
        refuse("the object `options`", &options)?;
        let vehicle = match self.vehicles.as_deref() {
            Some([vehicle]) => vehicle,
            Some([]) | None => return Err(value("give one vehicle in `vehicles`")),
            Some(vehicles) => {
                let text =
                    format!("there are {} `vehicles`: antwarp solves requests for one", vehicles.len());
                return Err(Refusal::new(Kind::Unsupported, text));
            }
        };
        refuse(&format!("vehicle {}", vehicle.id), &vehicle.others)?;
        // With a smaller factor, the sum of the durations could overflow.
        if vehicle.speed_factor.is_some_and(|factor| !(0.001..=5.0).contains(&factor)) {
            return Err(value("`speed_factor` must be from 0.001 to 5"));
        }
        Ok(vehicle)
    }

    /// Returns the places of the start, of the end unless the route ends where it starts, and of all jobs.
    fn stops(&self, vehicle: &Vehicle, jobs: &[Job]) -> Result<Vec<Stop>, Refusal> {
        let (mut stops, mut ids) = (Vec::new(), BTreeSet::new());
        let has_matrix = self.matrices.is_some();
        let mut add = |what: &str, key: &str, location: Option<[f64; 2]>, index: Option<usize>| match (
            has_matrix, location, index,
        ) {
            (true, _, None) => Err(value(format!("{what} has no `{key}_index`, which matrices need"))),
            (false, None, _) => {
                Err(value(format!("{what} has no `{key}`: give [longitude, latitude], or matrices")))
            }
            _ => {
                stops.push(Stop { location, index });
                Ok(())
            }
        };
        let name = format!("vehicle {}", vehicle.id);
        let has_start = vehicle.start.is_some() || vehicle.start_index.is_some();
        let has_end = vehicle.end.is_some() || vehicle.end_index.is_some();
        if has_start {
            add(&name, "start", vehicle.start, vehicle.start_index)?;
        }
        if has_end && !(has_start && vehicle.returns(has_matrix)) {
            add(&name, "end", vehicle.end, vehicle.end_index)?;
        }
        if !has_start && !has_end {
            return Err(value(format!("{name} has neither a start nor an end: give at least one of them")));
        }
        for job in jobs {
            let name = format!("job {}", job.id);
            if !ids.insert(job.id) {
                return Err(value(format!("there are two jobs with the id {}", job.id)));
            }
            refuse(&name, &job.others)?;
            if job.priority.is_some_and(|priority| priority > 100) {
                return Err(value(format!("{name}: `priority` must be from 0 to 100")));
            }
            add(&name, "location", job.location, job.location_index)?;
        }
        Ok(stops)
    }

    /// Returns what lies between these places.
    fn ways(&self, vehicle: &Vehicle, stops: &[Stop], limits: &Limits) -> Result<Ways<'_>, Refusal> {
        let factor = vehicle.speed_factor.unwrap_or(1.0);
        let Some(all) = &self.matrices else { return Ok(Ways::Globe(limits.speed * factor)) };
        let profile = vehicle.profile.as_deref().unwrap_or("car");
        let matrices =
            all.get(profile).ok_or_else(|| value(format!("`matrices` has no profile `{profile}`")))?;
        if matrices.durations.is_none() {
            return Err(value(format!("`matrices` has no `durations` for the profile `{profile}`")));
        }
        let most = stops.iter().filter_map(|stop| stop.index).max().unwrap_or(0);
        for (name, rows) in [
            ("durations", &matrices.durations),
            ("distances", &matrices.distances),
            ("costs", &matrices.costs),
        ] {
            let Some(rows) = rows else { continue };
            if let Some(row) = rows.iter().find(|row| row.len() != rows.len()) {
                let text = format!(
                    "`{name}` has {}, and one of {}: it must be square",
                    counted(rows.len(), "row"),
                    counted(row.len(), "number")
                );
                return Err(value(text));
            }
            if most >= rows.len() {
                return Err(value(format!(
                    "there is an index {most}, but `{name}` has {}",
                    counted(rows.len(), "row")
                )));
            }
        }
        Ok(Ways::Matrices(matrices, factor))
    }
}

impl Vehicle {
    /// Returns whether it ends where it starts.
    fn returns(&self, has_matrix: bool) -> bool {
        if has_matrix { self.start_index == self.end_index } else { self.start == self.end }
    }
}

/// A request that was checked.
struct Route<'a> {
    vehicle: &'a Vehicle,
    jobs: &'a [Job],
    /// The places: that of the start or the end, or of both, then those of the jobs.
    stops: Vec<Stop>,
    ways: Ways<'a>,
}

impl Route<'_> {
    /// Returns the number of places before those of the jobs.
    fn before(&self) -> usize {
        self.stops.len() - self.jobs.len()
    }

    fn has_start(&self) -> bool {
        self.vehicle.start.is_some() || self.vehicle.start_index.is_some()
    }

    fn has_end(&self) -> bool {
        self.vehicle.end.is_some() || self.vehicle.end_index.is_some()
    }

    /// Returns the ends of a path, or the node that a closed tour starts with.
    fn ends(&self) -> (Option<Ends>, Option<u32>) {
        match (self.has_start(), self.has_end(), self.before()) {
            (true, true, 1) => (None, Some(0)),
            (true, true, _) => (Some(Ends { start: Some(0), end: Some(1) }), None),
            (true, ..) => (Some(Ends { start: Some(0), end: None }), None),
            _ => (Some(Ends { start: None, end: Some(0) }), None),
        }
    }

    fn instance(&self) -> Result<Instance, Refusal> {
        let Ways::Matrices(matrices, _) = &self.ways else {
            let places: Vec<[f64; 2]> = self.stops.iter().filter_map(|stop| stop.location).collect();
            return on_the_globe(&places);
        };
        let rows = matrices.costs.as_ref().or(matrices.durations.as_ref());
        let cost = |(from, to)| rows.map_or(0.0, |rows| self.entry(rows, from, to));
        let pairs = self.stops.iter().flat_map(|from| self.stops.iter().map(move |to| (from, to)));
        made(Instance::from_costs("request", pairs.map(cost).collect::<Vec<_>>()))
    }

    fn entry(&self, rows: &Rows, from: &Stop, to: &Stop) -> f64 {
        let at = |stop: &Stop| stop.index.unwrap_or_default();
        f64::from(rows[at(from)][at(to)])
    }

    /// Returns the way from one place to another.
    fn way(&self, instance: &Instance, from: u32, to: u32) -> Way {
        match &self.ways {
            Ways::Globe(speed) => {
                let distance = instance.edge_cost(from, to);
                let duration = distance / speed;
                Way { duration, distance, cost: duration }
            }
            Ways::Matrices(matrices, factor) => {
                let (from, to) = (&self.stops[from as usize], &self.stops[to as usize]);
                let of = |rows: &Option<Rows>| rows.as_ref().map(|rows| self.entry(rows, from, to));
                let duration = of(&matrices.durations).unwrap_or_default() / factor;
                let distance = of(&matrices.distances).unwrap_or_default();
                Way { duration, distance, cost: of(&matrices.costs).unwrap_or(duration) }
            }
        }
    }

    /// Returns whether there are distances.
    fn has_distances(&self) -> bool {
        match &self.ways {
            Ways::Globe(_) => true,
            Ways::Matrices(matrices, _) => matrices.distances.is_some(),
        }
    }

    fn written(&self, found: &Found, times: Value) -> Value {
        let tour = &found.solution.tour;
        let (mut passed, mut service, mut steps) = (Way::default(), 0_u64, Vec::new());
        let returns = (self.has_start() && self.has_end() && self.before() == 1).then_some(0);
        let mut last = None;
        for (at, node) in tour.iter().copied().chain(returns).enumerate() {
            if let Some(last) = last {
                let way = self.way(&found.instance, last, node);
                passed.duration += way.duration;
                passed.distance += way.distance;
                passed.cost += way.cost;
            }
            last = Some(node);
            let job = (node as usize).checked_sub(self.before()).map(|job| &self.jobs[job]);
            let kind = match job {
                Some(_) => "job",
                None if at == 0 && self.has_start() => "start",
                None => "end",
            };
            steps.push(self.step((kind, job), self.stops[node as usize], passed, service));
            service += job.and_then(|job| job.service).map_or(0, u64::from);
        }
        let priority: u64 = self.jobs.iter().filter_map(|job| job.priority).map(u64::from).sum();
        let sums = (service, priority);
        let mut route = summary(1, passed, sums, self.has_distances(), times);
        let summary = route.clone();
        for key in ["routes", "unassigned", "computing_times"] {
            route.as_object_mut().map(|route| route.remove(key));
        }
        route["vehicle"] = json!(self.vehicle.id);
        route["steps"] = json!(steps);
        if let Some(text) = &self.vehicle.description {
            route["description"] = json!(text);
        }
        json!({ "code": 0, "summary": summary, "unassigned": [], "routes": [route] })
    }

    fn step(&self, (kind, job): (&str, Option<&Job>), stop: Stop, passed: Way, service: u64) -> Value {
        let duration = passed.duration.round() as u64;
        let mut step = json!({
            "type": kind,
            "setup": 0,
            "service": job.and_then(|job| job.service).unwrap_or(0),
            "waiting_time": 0,
            "arrival": duration.saturating_add(service),
            "duration": duration,
            "violations": [],
        });
        if let Some(location) = stop.location {
            step["location"] = json!(location);
        }
        if let Some(index) = stop.index {
            step["location_index"] = json!(index);
        }
        if self.has_distances() {
            step["distance"] = json!(passed.distance.round() as u64);
        }
        if let Some(job) = job {
            step["id"] = json!(job.id);
            step["job"] = json!(job.id);
            if let Some(text) = &job.description {
                step["description"] = json!(text);
            }
        }
        step
    }
}

/// Returns the sums of all routes, of which there is one or none.
fn summary(
    routes: u32,
    whole: Way,
    (service, priority): (u64, u64),
    has_distance: bool,
    times: Value,
) -> Value {
    let mut summary = json!({
        "cost": whole.cost.round() as u64,
        "routes": routes,
        "unassigned": 0,
        "setup": 0,
        "service": service,
        "duration": whole.duration.round() as u64,
        "waiting_time": 0,
        "priority": priority,
        "violations": [],
        "computing_times": times,
    });
    if has_distance {
        summary["distance"] = json!(whole.distance.round() as u64);
    }
    summary
}
