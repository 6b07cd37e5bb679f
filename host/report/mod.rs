//! Reports of a run: a progress line while it lasts, then a summary, JSON and a picture.
//!
//! [`Report`] gathers the facts of a run once; the summary and the JSON file are two views of it.

pub mod curves;
pub mod drawing;
pub mod geojson;
pub mod gpx;
pub mod itinerary;
mod mercator;
pub mod page;
pub mod picture;
pub mod png;
pub mod route;
pub mod statistics;
pub(crate) mod summary;
pub mod svg;

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::backend::Machine;
use crate::bound::Bound;
use crate::cluster::Facts;
use crate::engine::{Better, Stop, StopReason};
use crate::instance::{BestKnown, Cost, Ends, Instance, Kind, Unit, counted};
use crate::solver::Solution;
use crate::solver::proof::Proof;
use route::{Coordinates, Route};

/// A finished run, with everything needed to repeat it.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version of the JSON, that of docs/schema/run-1.schema.json.
    pub schema: u32,
    /// The version that ran.
    pub antwarp: &'static str,
    /// The instance that was solved.
    pub instance: InstanceFacts,
    /// The name of the algorithm.
    pub algorithm: &'static str,
    /// The algorithm's settings; null where the algorithm chose.
    pub settings: Value,
    /// The limits of the run.
    pub limits: Limits,
    /// Where it ran.
    pub machine: Machine,
    /// How the backend laid out the work, in words.
    pub layout: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// The cost of the tour in the user's unit, without its forbidden pairs.
    pub cost: Cost,
    /// The forbidden pairs in the tour, by name.
    pub forbidden: Vec<[String; 2]>,
    /// The length of the tour without TSPLIB's rounding, if it differs by more than a thousandth.
    pub unrounded_cost: Option<Cost>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The best published length; `None` if none is listed for this instance.
    pub best_known: Option<Known>,
    /// How much longer the tour is than that, in percent; `None` if that belongs to another instance.
    pub gap_percent: Option<f64>,
    /// A lower bound on the length of every tour, if one was computed.
    pub bound: Option<Bounded>,
    /// When the bound was raised, as far as that was observed; the last one is the bound.
    pub bound_trace: Vec<Raised>,
    /// With several processes: the communication between them.
    pub islands: Option<Facts>,
    /// Seconds of the whole run; for solve, from the start of the command.
    pub seconds: f64,
    /// Seconds of the run before the first iteration.
    pub setup_seconds: f64,
    /// Iterations done, as [`Solution::iterations`] counts them.
    pub iterations: u64,
    /// The iteration, from 1, that found the tour; 0 if it was found before the first one.
    pub best_iteration: u64,
    /// Why the run stopped.
    pub stopped_by: StopReason,
    /// Tours built; for `lk` and `ils`, kicks of all chains.
    pub tours: u64,
    /// The same per second, not counting set-up.
    pub tours_per_second: f64,
    /// The error, if one cut the run short.
    pub failure: Option<String>,
    /// Every improvement: when it was found, its cost in the user's unit, and by which part of the run.
    pub trace: Vec<Better<Cost>>,
    /// The tour, its nodes numbered as in the instance's file.
    pub tour: Vec<u32>,
    /// The names of these nodes, if the file has names.
    pub names: Option<Vec<String>>,
    /// Where these nodes are, if that is known and was [added](Report::add_route): longitude and latitude, or x and y.
    pub places: Option<Vec<[f64; 2]>>,
    /// The cost of each edge of the tour, if they were added; for a closed one, the last is that of the return. `None` is forbidden.
    pub legs: Vec<Option<f64>>,
}

/// The version of [`Report`]'s JSON. It changes when a field changes its meaning or is left out, not when there are more.
pub const SCHEMA: u32 = 1;

/// A description of an instance.
#[derive(Clone, Debug, Serialize)]
pub struct InstanceFacts {
    /// Its name.
    pub name: String,
    /// How many nodes it has.
    pub nodes: usize,
    /// `tsp` or `atsp`.
    pub kind: &'static str,
    /// The distance function as TSPLIB names it, or `EXPLICIT`.
    pub metric: &'static str,
    /// The unit of costs.
    pub unit: Unit,
    /// A hash of all that tours and their costs depend on, as 16 hexadecimal digits, if the [route](Report::add_route) was added.
    pub fingerprint: Option<String>,
    /// What coordinates it has, if it has any.
    pub coordinates: Option<Coordinates>,
    /// The resolution to which edge costs are rounded internally, in the user's unit; `None` if they are exact.
    pub resolution: Option<f64>,
    /// What was read, and how it was interpreted.
    pub reading: Option<String>,
    /// Its file, if it has one.
    pub path: Option<String>,
    /// Whether tours are open paths.
    pub open: bool,
    /// The number in the instance's file of the node where they start; `None` unless it was given.
    pub start: Option<u32>,
    /// The number in the instance's file of the node where they end; `None` unless it was given.
    pub end: Option<u32>,
    /// Number of edges that tours must use.
    pub fixed_edges: usize,
    /// Number of edges that no tour should use: pairs, or directions if edges are directed.
    pub forbidden_edges: usize,
    /// The same as a text, if there is anything to say.
    #[serde(skip)]
    pub shape: Option<String>,
}

/// A published length or cost, compared with one that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Known {
    /// The length or cost.
    pub cost: i64,
    /// Whether it is proven to be optimal.
    pub proven: bool,
    /// Whether the solution found is better than a proven optimum, which must then be that of another instance with the same name.
    pub other_instance: bool,
    /// Whether a bound that was proven in this run is higher. Then the published length does not belong to these lengths; perhaps it was
    /// computed with others, rounded in another way.
    pub below_bound: bool,
}

/// The limits of a run; `None` where there is no limit.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Limits {
    /// Seconds of wall-clock time, preparation included.
    pub time_seconds: Option<f64>,
    /// Number of iterations.
    pub iterations: Option<u64>,
    /// A tour that costs at most this, in the user's unit.
    pub target: Option<Cost>,
    /// Number of iterations without improvement.
    pub stagnation: Option<u64>,
}

impl Known {
    /// Compares a published result with a solution of this cost.
    pub fn beside(known: BestKnown, cost: i64) -> Known {
        let other_instance = known.proven && cost < known.cost;
        let proven = known.proven && !other_instance;
        Known { cost: known.cost, proven, other_instance, below_bound: false }
    }

    /// Compares it with a bound that was proven, too.
    fn with_bound(self, bound: Cost) -> Known {
        let below_bound = Cost::Whole(self.cost) < bound;
        Known { proven: self.proven && !below_bound, below_bound, ..self }
    }

    /// Returns how much higher `cost`, an internal one, is, in percent; `None` if the published result belongs to another instance,
    /// or as [`gap_percent`].
    pub fn gap_percent(self, cost: i64) -> Option<f64> {
        if self.other_instance || self.below_bound { None } else { gap_percent(cost, self.cost) }
    }
}

/// A lower bound, and when it was known.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Raised {
    /// Seconds since the start of the run.
    pub seconds: f64,
    /// The bound in the user's unit: no tour costs less.
    pub length: Cost,
}

/// A lower bound, compared with a tour.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bounded {
    /// The bound: no tour costs less than this, in the user's unit.
    pub length: Cost,
    /// Number of minimum spanning trees that were computed; `None` if all tours were enumerated.
    pub trees: Option<u32>,
    /// Number of edges that were added to the sparse graph of the trees.
    pub priced_in: Option<usize>,
    /// Number of nodes of the tree of branch and cut; `None` without one.
    pub nodes: Option<u64>,
    /// Number of cuts that were added to linear programs; `None` without these.
    pub cuts: Option<u64>,
    /// The same, of each family.
    pub cuts_by_family: Option<Families>,
    /// Seconds at the root of that tree; `None` without one.
    pub root_seconds: Option<f64>,
    /// Seconds of all threads in linear programs; `None` without them.
    pub lp_seconds: Option<f64>,
    /// Seconds of wall-clock time that its computation took.
    pub seconds: f64,
    /// How much longer the tour is than the optimum at most, in percent; `None` if unknown.
    pub most_percent: Option<f64>,
}

/// Numbers of cuts by their families.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Families {
    /// Number of subtour elimination inequalities, which have one set each.
    pub subtours: u64,
    /// Number of combs, of a handle and teeth; blossoms are among them.
    pub combs: u64,
    /// Number of hypergraph inequalities, which are local cuts.
    pub hypergraphs: u64,
}

impl Families {
    fn new([subtours, combs, hypergraphs]: [u64; 3]) -> Families {
        Families { subtours, combs, hypergraphs }
    }
}

impl Bounded {
    /// Compares a bound of an instance with a tour of this cost.
    pub fn new(bound: Bound, instance: &Instance, cost: Cost) -> Bounded {
        let length = instance.lower_bound(bound.length);
        Bounded {
            length,
            trees: Some(bound.trees),
            priced_in: Some(bound.priced_in),
            nodes: None,
            cuts: None,
            cuts_by_family: None,
            root_seconds: None,
            lp_seconds: None,
            seconds: bound.seconds,
            most_percent: cost.percent_above(length),
        }
    }

    /// Compares what was proven about an instance with a tour of this cost; `None` if nothing was.
    pub fn proven(proof: &Proof, instance: &Instance, cost: Cost) -> Option<Bounded> {
        let length = instance.lower_bound(proof.bound?);
        Some(Bounded {
            length,
            trees: None,
            priced_in: None,
            nodes: Some(proof.outcome.nodes),
            cuts: Some(proof.outcome.cuts.iter().sum()),
            cuts_by_family: Some(Families::new(proof.outcome.cuts)),
            root_seconds: Some(proof.outcome.root_seconds),
            lp_seconds: Some(proof.outcome.lp_seconds),
            seconds: proof.outcome.seconds,
            most_percent: cost.percent_above(length),
        })
    }

    /// Returns the exact bound of a tour that was found by enumeration.
    pub fn exact(cost: Cost, seconds: f64) -> Bounded {
        let (length, most_percent) = (cost, Some(0.0));
        Bounded {
            length,
            trees: None,
            priced_in: None,
            nodes: None,
            cuts: None,
            cuts_by_family: None,
            root_seconds: None,
            lp_seconds: None,
            seconds,
            most_percent,
        }
    }
}

impl Limits {
    /// Returns the limits of a run on an instance.
    pub fn new(stop: &Stop, instance: &Instance) -> Limits {
        Limits {
            time_seconds: stop.time.map(|t| t.as_secs_f64()),
            iterations: stop.iterations,
            target: stop.target.map(|target| instance.cost(target)),
            stagnation: stop.stagnation,
        }
    }
}

impl InstanceFacts {
    /// Returns the facts about an instance, which was opened as `source`.
    pub fn new(instance: &Instance, source: &Path) -> InstanceFacts {
        let ends = instance.ends();
        let Ends { start, end } = ends.unwrap_or_default();
        InstanceFacts {
            name: instance.name().to_owned(),
            nodes: instance.len(),
            kind: match instance.kind() {
                Kind::Tsp => "tsp",
                Kind::Atsp => "atsp",
            },
            metric: instance.metric().map_or("EXPLICIT", |metric| metric.keyword()),
            unit: instance.unit(),
            fingerprint: None,
            coordinates: match instance.metric() {
                Some(metric) if metric.is_on_globe() => Some(Coordinates::Degrees),
                Some(_) => Some(Coordinates::Plane),
                None => instance.display_points().map(|_| Coordinates::Plane),
            },
            resolution: (!instance.is_exact()).then(|| instance.resolution()),
            reading: instance.reading().map(str::to_owned),
            path: source.exists().then(|| source.to_string_lossy().into_owned()),
            open: ends.is_some(),
            start: start.map(|node| instance.id(node)),
            end: end.map(|node| instance.id(node)),
            fixed_edges: instance.fixed_edges().len(),
            forbidden_edges: instance.count_forbidden(),
            shape: shape_text(instance),
        }
    }
}

impl Report {
    /// Adds a lower bound. A published length below it is not one of this instance, and there is no gap to it.
    pub fn set_bound(&mut self, bound: Option<Bounded>) {
        self.bound = bound;
        self.bound_trace =
            bound.iter().map(|bound| Raised { seconds: self.seconds, length: bound.length }).collect();
        if let (Some(known), Some(bound)) = (self.best_known, bound) {
            let known = known.with_bound(bound.length);
            self.best_known = Some(known);
            self.gap_percent = self.gap_percent.filter(|_| !known.below_bound);
        }
    }

    /// Adds the best lower bound of a run with this solution: what was found beside it, what was proven, or its own proof.
    pub fn set_best_bound(
        &mut self,
        instance: &Instance,
        solution: &Solution,
        (beside, proof): (Option<Bound>, Option<&Proof>),
    ) {
        let beside = beside.filter(|bound| bound.length <= solution.cost);
        let is_better = |proof: &&Proof| beside.is_none_or(|bound| proof.bound > Some(bound.length));
        let proven = proof.filter(is_better).and_then(|proof| Bounded::proven(proof, instance, self.cost));
        self.set_bound(match (beside, solution.stopped_by) {
            // A bound says nothing about a tour with forbidden pairs.
            _ if !self.forbidden.is_empty() => None,
            _ if proven.is_some() => proven,
            // Few nodes are solved by their real costs, a bound is one for internal costs.
            (bound, StopReason::Optimal)
                if bound.is_none_or(|bound| bound.length < solution.cost || !instance.is_exact()) =>
            {
                Some(Bounded::exact(self.cost, solution.seconds))
            }
            (bound, _) => bound.map(|bound| Bounded::new(bound, instance, self.cost)),
        });
    }

    /// Adds when bounds were observed: seconds, ascending, and internal lengths. They lead to the bound of the report, if it has one.
    pub fn set_bound_trace(&mut self, instance: &Instance, observed: &[(f64, i64)]) {
        let Some(&last) = self.bound_trace.last() else { return };
        let raised =
            |&(seconds, length): &(f64, i64)| Raised { seconds, length: instance.lower_bound(length) };
        let mut trace: Vec<Raised> =
            observed.iter().map(raised).filter(|raised| raised.length <= last.length).collect();
        if trace.last().is_none_or(|raised| raised.length < last.length) {
            trace.push(last);
        }
        self.bound_trace = trace;
    }

    /// Creates the report of a run with this solution.
    pub fn new(
        instance: &Instance,
        source: &Path,
        (algorithm, seed, settings): (&'static str, u64, Value),
        stop: &Stop,
        machine: Machine,
        solution: &Solution,
    ) -> Report {
        let best_known = instance.best_known().map(|known| Known::beside(known, solution.cost));
        let searching = solution.seconds - solution.setup_seconds;
        let tour = &solution.tour;
        let pair = |(from, to): (u32, u32)| [instance.label(from), instance.label(to)];
        let unrounded_cost = coarse(instance, tour);
        let mut warnings = instance.warnings().to_vec();
        warnings.extend(rounding_warning(instance, solution));
        warnings.extend(unrounded_cost.map(|cost| coarse_warning(instance, tour, cost)));
        let better = |better: &Better| {
            let allowed = !instance.may_be_forbidden(better.cost);
            let Better { seconds, part, cost } = *better;
            allowed.then(|| Better { seconds, part, cost: instance.cost(cost) })
        };
        Report {
            schema: SCHEMA,
            antwarp: env!("CARGO_PKG_VERSION"),
            instance: InstanceFacts::new(instance, source),
            algorithm,
            settings,
            limits: Limits::new(stop, instance),
            machine,
            layout: solution.layout.clone(),
            seed,
            cost: instance.tour_cost(tour),
            forbidden: instance.forbidden_steps(tour).into_iter().map(pair).collect(),
            unrounded_cost,
            warnings,
            best_known,
            gap_percent: best_known.and_then(|known| known.gap_percent(solution.cost)),
            bound: None,
            bound_trace: Vec::new(),
            islands: None,
            seconds: solution.seconds,
            setup_seconds: solution.setup_seconds,
            iterations: solution.iterations,
            best_iteration: solution.best_iteration,
            stopped_by: solution.stopped_by,
            tours: solution.tours,
            tours_per_second: solution.tours as f64 / searching.max(1e-9),
            failure: solution.failure.clone(),
            trace: solution.trace.iter().filter_map(better).collect(),
            tour: tour.iter().map(|&node| instance.id(node)).collect(),
            names: instance
                .names()
                .map(|names| tour.iter().map(|&node| names[node as usize].clone()).collect()),
            places: None,
            legs: Vec::new(),
        }
    }
}

impl Report {
    /// Adds what a map shows: where the places of its tour are, and the costs between them; and the fingerprint, by which runs of the same
    /// instance are known. All of it takes some 50 bytes a node.
    pub fn add_route(&mut self, instance: &Instance, tour: &[u32]) {
        let route = Route::new(instance, tour);
        let place = |places: &Vec<[f64; 2]>| tour.iter().map(|&node| places[node as usize]).collect();
        self.places = route.places.as_ref().map(|(_, places)| place(places));
        self.legs = route.legs().map(|leg| Some(leg).filter(|leg| leg.is_finite())).collect();
        self.instance.fingerprint = Some(format!("{:016x}", instance.fingerprint()));
    }

    /// Sets the target to the number that was given, if there is one: the internal target may be a little lower.
    pub fn set_target(&mut self, given: Option<f64>) {
        let as_given = |target: f64| match target.fract() == 0.0 && target.abs() < 1e15 {
            true => Cost::Whole(target as i64),
            false => Cost::Real(target),
        };
        self.limits.target = given.map(as_given).or(self.limits.target);
    }

    /// Adds the node that was chosen as the start of a closed tour.
    pub fn set_start(&mut self, instance: &Instance, start: Option<u32>) {
        self.instance.start = self.instance.start.or(start.map(|node| instance.id(node)));
    }

    /// Removes the tour and what [`Report::add_route`] added about it.
    pub fn forget_route(&mut self) {
        (self.tour, self.legs) = (Vec::new(), Vec::new());
        (self.names, self.places) = (None, None);
    }

    /// Shifts the start of all times to this many seconds before the run, to include reading.
    pub fn begun_before(&mut self, seconds: f64) {
        self.seconds += seconds;
        self.setup_seconds += seconds;
        self.trace.iter_mut().for_each(|better| better.seconds += seconds);
        self.bound_trace.iter_mut().for_each(|raised| raised.seconds += seconds);
    }
}

/// Returns the length of a tour without TSPLIB's rounding, if it differs by more than a thousandth and the instance is not a
/// published one, so that its rounded costs are not compared with any others.
pub fn coarse(instance: &Instance, tour: &[u32]) -> Option<Cost> {
    let length = instance.unrounded_length(tour)?;
    let rounded = instance.tour_cost(tour).as_f64();
    let differs = (rounded - length).abs() > 1e-3 * length;
    (differs && instance.best_known().is_none()).then_some(Cost::Real(length))
}

/// Returns a warning if costs were rounded internally so coarsely that another tour may be better by more than a millionth.
fn rounding_warning(instance: &Instance, solution: &Solution) -> Option<String> {
    let is_exact = solution.stopped_by == StopReason::Optimal;
    let part = instance.rounding(&solution.tour).filter(|&part| part > 1e-6 && !is_exact)?;
    let resolution = Cost::Real(instance.resolution());
    Some(format!(
        "costs are rounded to multiples of {resolution} internally, which may change the cost of this tour by a fraction of {:.1e}",
        part
    ))
}

/// Returns the warning about such a length.
pub fn coarse_warning(instance: &Instance, tour: &[u32], length: Cost) -> String {
    let metric = instance.metric().map_or("EXPLICIT", |metric| metric.keyword());
    let cost = instance.tour_cost(tour);
    format!(
        "{metric} rounds the length of every edge to a whole number: the tour costs {cost}, but its true length is {length}; use --unrounded to read the same coordinates without rounding"
    )
}

/// Returns how much longer `cost` is than `known`, in percent of it; `None` if `known` is not above 0, except where both are 0.
pub fn gap_percent(cost: i64, known: i64) -> Option<f64> {
    match (cost, known) {
        (0, 0) => Some(0.0),
        (_, ..=0) => None,
        _ => Some(100.0 * (cost as f64 - known as f64) / known as f64),
    }
}

/// Describes the shape of an instance's tours: `open path from 1 to 8, 2 fixed edges, 1 forbidden pair`; `None` if they are closed
/// and may have all edges.
pub fn shape_text(instance: &Instance) -> Option<String> {
    let count = |count: usize, what: &str| (count > 0).then(|| counted(count, what));
    let path = instance.ends().map(|Ends { start, end }| {
        let place = |word: &str, node: Option<u32>| {
            node.map_or_else(String::new, |node| format!(" {word} {}", instance.label(node)))
        };
        format!("open path{}{}", place("from", start), place("to", end))
    });
    let forbidden = if instance.is_symmetric() { "forbidden pair" } else { "forbidden edge" };
    let parts = [
        path,
        count(instance.fixed_edges().len(), "fixed edge"),
        count(instance.count_forbidden(), forbidden),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Describes the best known length of an instance, and how far from it a tour of this cost is.
pub fn known_text(instance: &Instance, cost: i64) -> String {
    let known = instance.best_known().map(|known| Known::beside(known, cost));
    summary::known(known, known.and_then(|known| known.gap_percent(cost)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_relative_to_the_best_known() {
        assert_eq!(gap_percent(110, 100), Some(10.0));
        assert_eq!(gap_percent(99, 100), Some(-1.0));
        assert_eq!(gap_percent(0, 0), Some(0.0));
        assert_eq!(gap_percent(5, 0), None);
    }

    #[test]
    fn a_published_length_below_a_proven_bound_has_no_gap() {
        let known = Known::beside(BestKnown { cost: 48_912, proven: true }, 48_913);
        assert_eq!(known.with_bound(Cost::Whole(48_912)), known);
        let known = known.with_bound(Cost::Whole(48_913));
        assert_eq!((known.proven, known.below_bound, known.gap_percent(48_913)), (false, true, None));
        let text = summary::known(Some(known), known.gap_percent(48_913));
        assert!(text.starts_with("48912 was published, less than the bound"), "{text}");
    }

    #[test]
    fn a_shorter_tour_than_a_proven_optimum_is_of_another_instance() {
        let optimum = BestKnown { cost: 426, proven: true };
        let beside = |known, cost| {
            let known = Known::beside(known, cost);
            (
                known.proven,
                known.other_instance,
                known.gap_percent(cost),
                summary::known(Some(known), known.gap_percent(cost)),
            )
        };
        assert_eq!(beside(optimum, 426), (true, false, Some(0.0), "426 (optimal), gap 0.000 %".to_owned()));
        let text = "none for this instance: the tour is shorter than 426, the proven optimum of another instance with the same name";
        assert_eq!(beside(optimum, 425), (false, true, None, text.to_owned()));
        // What is not proven can be beaten.
        let record = BestKnown { cost: 100, proven: false };
        assert_eq!(beside(record, 99), (false, false, Some(-1.0), "100, gap -1.000 %".to_owned()));
    }
}
