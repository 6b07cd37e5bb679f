//! What a run tells: a progress line while it lasts, then a summary, JSON, a picture.
//!
//! [`Report`] gathers the facts of a run once; the summary and the JSON file are two views of it.

pub mod curves;
pub mod itinerary;
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
use crate::instance::{BestKnown, Cost, Instance, Kind, Unit};
use crate::solver::Solution;

/// A finished run, with everything needed to repeat it.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version that ran.
    pub antwarp: &'static str,
    /// What was solved.
    pub instance: InstanceFacts,
    /// How, by name.
    pub algorithm: &'static str,
    /// The algorithm's settings; null where they were left to it.
    pub settings: Value,
    /// What was to stop the run.
    pub limits: Limits,
    /// Where it ran.
    pub machine: Machine,
    /// How the backend laid it out.
    pub layout: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// What the tour costs, in the user's unit; without its forbidden pairs.
    pub cost: Cost,
    /// The forbidden pairs that the tour has, by their names.
    pub forbidden: Vec<[String; 2]>,
    /// What the tour is long without TSPLIB's rounding, where that differs by more than a thousandth.
    pub unrounded_cost: Option<Cost>,
    /// What the user has to know.
    pub warnings: Vec<String>,
    /// The best published length.
    pub best_known: Option<Known>,
    /// How much longer the tour is than that, in percent; none if that belongs to another instance.
    pub gap_percent: Option<f64>,
    /// What no tour is shorter than, if that was looked for.
    pub bound: Option<Bounded>,
    /// Of several processes: what went between them.
    pub islands: Option<Facts>,
    /// Seconds of the whole run; of solve, from the begin of the command.
    pub seconds: f64,
    /// Seconds of it before the first iteration.
    pub setup_seconds: f64,
    /// Iterations done.
    pub iterations: u64,
    /// The iteration, from 1, that found the tour; 0: none was better than the tour it began with.
    pub best_iteration: u64,
    /// What stopped the run.
    pub stopped_by: StopReason,
    /// Tours built.
    pub tours: u64,
    /// Tours built a second, set-up left out.
    pub tours_per_second: f64,
    /// What went wrong on the way.
    pub failure: Option<String>,
    /// Every better length: when it was found, and by what.
    pub trace: Vec<Better<Cost>>,
    /// The tour, its nodes numbered as in the instance's file.
    pub tour: Vec<u32>,
    /// The names of these nodes, if the file has names.
    pub names: Option<Vec<String>>,
}

/// What an instance is.
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
    /// What costs are counted in.
    pub unit: Unit,
    /// To what costs of edges were rounded inside; none if they are exact.
    pub resolution: Option<f64>,
    /// What was read, and how it was taken.
    pub reading: Option<String>,
    /// Its file, if it has one.
    pub path: Option<String>,
}

/// A published length or cost, beside one that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Known {
    /// The length or cost.
    pub cost: i64,
    /// Whether nothing is better, by proof.
    pub proven: bool,
    /// Whether what was found is better than what is proven to be optimal: then that is published for another
    /// instance of the same name.
    pub other_instance: bool,
}

/// What was to stop a run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Limits {
    /// Seconds.
    pub time_seconds: Option<f64>,
    /// Iterations.
    pub iterations: Option<u64>,
    /// A tour as short as this.
    pub target: Option<Cost>,
    /// Iterations without improvement.
    pub stagnation: Option<u64>,
}

impl Known {
    /// What is published, beside a solution of this cost.
    pub fn beside(known: BestKnown, cost: i64) -> Known {
        let other_instance = known.proven && cost < known.cost;
        Known { cost: known.cost, proven: known.proven && !other_instance, other_instance }
    }

    /// How much higher `cost` is, in percent; none beside what belongs to another instance.
    pub fn gap_percent(self, cost: i64) -> Option<f64> {
        if self.other_instance { None } else { gap_percent(cost, self.cost) }
    }
}

/// A lower bound beside a tour.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bounded {
    /// What no tour costs less than, in the user's unit.
    pub length: Cost,
    /// Minimum spanning trees that were looked for; none where all tours were looked at.
    pub trees: Option<u32>,
    /// Edges that were put into the sparse graph of the trees.
    pub priced_in: Option<usize>,
    /// Seconds that it took.
    pub seconds: f64,
    /// How costs are shown.
    #[serde(skip)]
    unit: Unit,
    /// How much longer than the optimum the tour is at most, in percent; none if that cannot be told.
    pub most_percent: Option<f64>,
}

impl Bounded {
    /// A bound of an instance beside a tour of this cost.
    pub fn new(bound: Bound, instance: &Instance, cost: Cost) -> Bounded {
        let length = instance.lower_bound(bound.length);
        Bounded {
            length,
            trees: Some(bound.trees),
            priced_in: Some(bound.priced_in),
            seconds: bound.seconds,
            unit: instance.unit(),
            most_percent: cost.percent_above(length),
        }
    }

    /// That of a tour that was found by looking at all.
    pub fn exact(instance: &Instance, cost: Cost, seconds: f64) -> Bounded {
        let (length, most_percent) = (cost, Some(0.0));
        Bounded { length, trees: None, priced_in: None, seconds, unit: instance.unit(), most_percent }
    }
}

impl std::fmt::Display for Bounded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.unit.show(self.length))?;
        match self.most_percent {
            Some(0.0) => write!(f, ": the tour is optimal, by proof"),
            // Rounded up, for it is a promise.
            Some(most) => {
                write!(f, ": at most {:.3} % above the optimum, by proof", (most * 1e3).ceil() / 1e3)
            }
            None => Ok(()),
        }
    }
}

impl Limits {
    /// Those of a run on an instance.
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
    /// The facts of an instance, which was opened as `source`.
    pub fn new(instance: &Instance, source: &Path) -> InstanceFacts {
        InstanceFacts {
            name: instance.name().to_owned(),
            nodes: instance.len(),
            kind: match instance.kind() {
                Kind::Tsp => "tsp",
                Kind::Atsp => "atsp",
            },
            metric: instance.metric().map_or("EXPLICIT", |metric| metric.keyword()),
            unit: instance.unit(),
            resolution: (!instance.is_exact()).then(|| instance.resolution()),
            reading: instance.reading().map(str::to_owned),
            path: source.exists().then(|| source.to_string_lossy().into_owned()),
        }
    }
}

impl Report {
    /// The facts of a run with this solution.
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
        }
    }
}

impl Report {
    /// Counts seconds from so many before the run: reading takes time, too.
    pub fn begun_before(&mut self, seconds: f64) {
        self.seconds += seconds;
        self.setup_seconds += seconds;
        self.trace.iter_mut().for_each(|better| better.seconds += seconds);
    }
}

/// What a tour is long without TSPLIB's rounding, if that differs by more than a thousandth and the instance is not a published one:
/// then nobody compares its rounded costs with any others.
pub fn coarse(instance: &Instance, tour: &[u32]) -> Option<Cost> {
    let length = instance.unrounded_length(tour)?;
    let rounded = instance.tour_cost(tour).as_f64();
    let differs = (rounded - length).abs() > 1e-3 * length;
    (differs && instance.best_known().is_none()).then_some(Cost::Real(length))
}

/// Warns where costs were rounded inside so coarsely that another tour may be better by more than a millionth.
fn rounding_warning(instance: &Instance, solution: &Solution) -> Option<String> {
    let is_exact = solution.stopped_by == StopReason::Optimal;
    let part = instance.rounding(&solution.tour).filter(|&part| part > 1e-6 && !is_exact)?;
    let resolution = Cost::Real(instance.resolution());
    Some(format!("costs are rounded to {resolution} inside, which is {:.1e} of this tour", part))
}

/// What to say about that.
pub fn coarse_warning(instance: &Instance, tour: &[u32], length: Cost) -> String {
    let metric = instance.metric().map_or("EXPLICIT", |metric| metric.keyword());
    let cost = instance.tour_cost(tour);
    format!(
        "{metric} rounds the length of every edge to a whole number: the tour costs {cost}, but is truly {length} long; \
         --unrounded takes the same coordinates without rounding"
    )
}

/// How much longer `cost` is than `known`, in percent of it.
pub fn gap_percent(cost: i64, known: i64) -> Option<f64> {
    match (cost, known) {
        (0, 0) => Some(0.0),
        (_, ..=0) => None,
        _ => Some(100.0 * (cost as f64 - known as f64) / known as f64),
    }
}

/// The best known length of an instance, and how far from it a tour of this cost is, in words.
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
        let text = "none for this instance: the tour is shorter than 426, the proven optimum of another one of its name";
        assert_eq!(beside(optimum, 425), (false, true, None, text.to_owned()));
        // What is not proven can be beaten.
        let record = BestKnown { cost: 100, proven: false };
        assert_eq!(beside(record, 99), (false, false, Some(-1.0), "100, gap -1.000 %".to_owned()));
    }
}
