//! Lower bounds by cutting planes: those of the root of a proof, without its tree.

use std::time::{Duration, Instant};

use antwarp_exact::simplex::Highs;
use antwarp_exact::{Board, regions};

use super::proof::Prover;
use super::{Algorithm, SolveError, proven_optimum};
use crate::backend::{Backend, Choice};
use crate::engine::{Deadline, Progress, Stop};
use crate::instance::Instance;
use crate::memory;

/// The most nodes of a closed form that is not divided into regions: of more, a linear program takes so long that spanning trees give better
/// bounds for minutes.
const MOST: usize = 20_000;
/// Seconds, for each unit of the square of the number of nodes, after which cutting planes give better bounds than spanning trees: 3 s for 3,000 nodes, 33 s for
/// 10,000. Half of it is enough on two threads that nobody else uses.
const SECONDS_PER_SQUARE: f64 = 1.0 / 3e6;
/// The same for each node of an instance with regions, on one thread: 10 s for 10,000 nodes on two threads.
const SECONDS_PER_NODE: f64 = 2e-3;
/// Part of the time in which a tour is searched for, and the most of it.
const SEARCH: f64 = 0.1;
const LONGEST_SEARCH: Duration = Duration::from_secs(20);
/// Part of the time that is kept for the last pricing, and the most of it.
const PRICING: f64 = 0.05;
const LONGEST_PRICING: Duration = Duration::from_secs(1);

/// A bound by cutting planes.
#[derive(Clone, Debug)]
pub struct Found {
    /// No tour has a lower internal cost.
    pub length: i64,
    /// The number of cuts that were found.
    pub cuts: u64,
    /// Why cutting planes ended early, if something failed.
    pub trouble: Option<String>,
}

/// Bounds tours by cutting planes, with the HiGHS library.
pub struct CuttingPlanes {
    highs: Highs,
}

impl CuttingPlanes {
    /// Prepares to bound the tours of an instance.
    ///
    /// # Errors
    /// What is missing for it: too many nodes, too little memory, or no HiGHS library.
    pub fn new(instance: &Instance) -> Result<CuttingPlanes, String> {
        let has_regions = has_regions(instance);
        if nodes(instance) > MOST && !has_regions {
            let most = if instance.is_symmetric() { MOST } else { MOST / 2 };
            return Err(format!("they handle up to {most} nodes"));
        }
        let no_room = |shortage| format!("not enough main memory for them: {shortage}");
        let threads = rayon::current_num_threads();
        memory::check(if has_regions {
            antwarp_exact::memory_of_regions(instance.len(), threads)
        } else {
            Prover::memory(instance, 1)
        })
        .map_err(no_room)?;
        let highs = Highs::find().map_err(|missing| missing.to_string())?;
        Ok(CuttingPlanes { highs })
    }

    /// Bounds the tours of an instance until the run is over, or more cuts no longer raise the bound. The linear program begins
    /// with the edges of a tour; without an `initial` one, a tour is searched for in a part of the time. `None` if there was no
    /// time for that, or the tour is as short as the bound that is `known`, an internal cost.
    ///
    /// # Errors
    /// If the instance contradicts itself, the initial tour lacks a fixed edge or has other ends, or the search fails.
    pub fn bound(
        &self,
        instance: &Instance,
        (initial, known): (Option<&[u32]>, i64),
        deadline: Deadline<'_>,
    ) -> Result<Option<Found>, SolveError> {
        let prover = Prover::new(instance)?;
        let share = |part: f64, most: Duration| deadline.left().map(|left| left.mul_f64(part).min(most));
        match initial {
            Some(tour) => prover.offer(tour),
            None => prover.offer(&search(instance, share(SEARCH, LONGEST_SEARCH), deadline.stop)?),
        }
        let Some(cost) = prover.cost() else {
            let why = "`initial_tour`: it lacks a fixed edge, or has other ends than the instance";
            return Err(SolveError::Settings(why.to_string()));
        };
        if deadline.is_over() || cost <= known {
            return Ok(None);
        }
        let reserve = share(PRICING, LONGEST_PRICING).unwrap_or_default();
        let enough = || deadline.is_over() || deadline.left().is_some_and(|left| left <= reserve);
        let closing = || deadline.stop.is_late(deadline.begin);
        let end = deadline.left().map(|left| Instant::now() + left.saturating_sub(reserve));
        let board = Board::new(rayon::current_num_threads());
        let (length, outcome) = prover.bound(&self.highs, &board, (end, [&enough, &closing]));
        Ok(Some(Found { length, cuts: outcome.cuts.iter().sum(), trouble: outcome.trouble }))
    }
}

/// Returns whether cutting planes divide an instance into [regions].
pub fn has_regions(instance: &Instance) -> bool {
    let is_plain = instance.ends().is_none() && instance.fixed_edges().is_empty() && instance.is_symmetric();
    is_plain && antwarp_exact::has_regions(instance)
}

/// Returns the nodes of the closed form, or one less.
fn nodes(instance: &Instance) -> usize {
    instance.len() * if instance.is_symmetric() { 1 } else { 2 }
}

/// Returns the time from which on cutting planes give better bounds than spanning trees; `None` if that takes minutes.
pub fn least_time(instance: &Instance) -> Option<Duration> {
    let nodes = nodes(instance);
    if has_regions(instance) {
        let threads = rayon::current_num_threads().min(regions::count(nodes, regions::MOST));
        return Some(Duration::from_secs_f64(SECONDS_PER_NODE * nodes as f64 / threads as f64));
    }
    (nodes <= MOST).then(|| Duration::from_secs_f64(SECONDS_PER_SQUARE * (nodes * nodes) as f64))
}

/// Searches for a tour; ends earlier if it is as short as the published optimum, or restarts find no shorter one.
fn search(instance: &Instance, time: Option<Duration>, stop: &Stop) -> Result<Vec<u32>, SolveError> {
    let (backend, _) = Backend::open(Choice::Cpu)?;
    let (target, interrupt) = (proven_optimum(instance, &[]), stop.interrupt.clone());
    let stop = Stop { time, target, interrupt, may_settle: true, ..Stop::never() };
    let found =
        Algorithm::default().solve(instance, None, (&backend, &stop), &mut |_: &Progress| {}, None)?;
    Ok(found.tour)
}
