//! Lower bounds on the length of every tour: alone, or [beside] a run.

pub mod beside;

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::SolveError;
use super::cutting_planes::{self, CuttingPlanes, Found};
use crate::bound::{self, Bound};
use crate::engine::{Deadline, Stop};
use crate::instance::{Instance, InstanceError};

/// How long edges may be priced after an interrupt: without pricing, the last steps would be wasted.
const PATIENCE: Duration = Duration::from_secs(1);
/// The part of the time in which trees are computed if cutting planes follow, and where these divide the instance into regions.
const TREES: f64 = 0.2;
const TREES_BEFORE_REGIONS: f64 = 0.1;

/// The best bound that was found.
#[derive(Clone, Debug)]
pub struct Best {
    /// The bound of Held and Karp.
    pub trees: Bound,
    /// The bound by cutting planes, if it is better.
    pub cuts: Option<Found>,
}

impl Best {
    /// Returns the bound: no tour has a lower internal cost.
    pub fn length(&self) -> i64 {
        self.cuts.as_ref().map_or(self.trees.length, |found| found.length)
    }

    /// Returns how it was found: `cutting planes` or `Held-Karp ascent`.
    pub fn method(&self) -> &'static str {
        if self.cuts.is_some() { "cutting planes" } else { "Held-Karp ascent" }
    }
}

/// Rejects instances for which no bound is computed: open paths without directions over more than 3,000 nodes.
///
/// # Errors
/// The problem, and the remedy.
pub fn check(instance: &Instance) -> Result<(), InstanceError> {
    if bound::is_possible(instance) {
        return Ok(());
    }
    let problem = format!("has {} nodes; bounds on open paths are computed for up to 3,000", instance.len());
    Err(InstanceError::content(instance.name(), problem, "ask for a bound on closed tours, or for none"))
}

/// Finds the best bound: with a limited time by spanning trees and then by cutting planes, which begin with the `initial` tour if
/// there is one; else by spanning trees alone, `trees` of them if that is given. `None` if the time was up before there was one.
/// Calls `tell` with the reason if there are no cutting planes, or if they end early.
///
/// # Errors
/// If the initial tour is not one of the instance.
pub fn best(
    instance: &Instance,
    (trees, initial): (Option<u32>, Option<&[u32]>),
    deadline: Deadline<'_>,
    tell: &mut dyn FnMut(String),
) -> Result<Option<Best>, SolveError> {
    let stop = deadline.stop;
    let least = cutting_planes::least_time(instance);
    let has_time = |time: &Duration| least.is_none_or(|least| *time >= least);
    let cutting = stop.time.filter(has_time).and_then(|_| match CuttingPlanes::new(instance) {
        Ok(cutting) => Some(cutting),
        Err(missing) => {
            tell(format!("no cutting planes: {missing}"));
            None
        }
    });
    let share = match &cutting {
        Some(_) if cutting_planes::has_regions(instance) => TREES_BEFORE_REGIONS,
        Some(_) => TREES,
        None => 1.0,
    };
    let ascent = Stop { time: deadline.left().map(|left| left.mul_f64(share)), ..stop.clone() };
    let interrupted = OnceLock::new();
    let enough = || {
        let is_late = || interrupted.get_or_init(Instant::now).elapsed() >= PATIENCE;
        stop.is_late(deadline.begin) || (stop.is_interrupted() && is_late())
    };
    let Some(trees) = bound::held_karp(instance, trees, &ascent, &enough) else { return Ok(None) };
    let mut best = Best { trees, cuts: None };
    if let Some(cutting) = cutting.filter(|_| !deadline.is_over()) {
        let (found, trouble) = match cutting.bound(instance, (initial, trees.length), deadline) {
            Ok(found) => {
                let trouble = found.as_ref().and_then(|found| found.trouble.clone());
                (found, trouble)
            }
            // The user's tour is wrong.
            Err(error) if initial.is_some() => return Err(error),
            // The bound by trees stands.
            Err(error) => (None, Some(error.to_string())),
        };
        if let Some(trouble) = trouble {
            tell(format!("cutting planes ended early: {trouble}"));
        }
        best.cuts = found.filter(|found| found.length > trees.length);
    }
    Ok(Some(best))
}
