//! What a run tells: a progress line while it lasts, then a summary, JSON, a picture.
//!
//! [`Report`] gathers the facts of a run once; the summary and the JSON file are two views of it.

pub mod curves;
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
use crate::instance::{BestKnown, Instance, Kind};
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
    /// Length of the tour.
    pub cost: i64,
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
    pub trace: Vec<Better>,
    /// The tour, its nodes numbered as in the instance's file.
    pub tour: Vec<u32>,
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
    pub target: Option<i64>,
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
    /// The bound.
    #[serde(flatten)]
    pub bound: Bound,
    /// How much longer than the optimum the tour is at most, in percent; none if that cannot be told.
    pub most_percent: Option<f64>,
}

impl Bounded {
    /// A bound beside a tour of this length.
    pub fn new(bound: Bound, cost: i64) -> Bounded {
        Bounded { bound, most_percent: gap_percent(cost, bound.length) }
    }
}

impl std::fmt::Display for Bounded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.bound.length)?;
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

impl From<&Stop> for Limits {
    fn from(stop: &Stop) -> Limits {
        Limits {
            time_seconds: stop.time.map(|t| t.as_secs_f64()),
            iterations: stop.iterations,
            target: stop.target,
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
        Report {
            antwarp: env!("CARGO_PKG_VERSION"),
            instance: InstanceFacts::new(instance, source),
            algorithm,
            settings,
            limits: Limits::from(stop),
            machine,
            layout: solution.layout.clone(),
            seed,
            cost: solution.cost,
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
            trace: solution.trace.clone(),
            tour: solution.tour.iter().map(|&node| instance.id(node)).collect(),
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
