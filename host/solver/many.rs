//! Many small instances in one call.
//!
//! A thread takes one instance after the other and solves it alone, in memory that it keeps; on a GPU, a warp does. The search is that
//! of [`small`]. It gives an instance the same tour wherever and beside whatever others it is solved, unless the time is up before.
//! The few nodes that [`exact`] solves are solved by it.

use std::borrow::Borrow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use antwarp_core::distance::Distance;
use antwarp_core::lin_kernighan::small::{self, Flat, Place, Plan};
use serde::Serialize;
use thiserror::Error;

use super::{Solution, SolveError, check_resolution, exact, is_exact, solve_exactly};
use crate::backend::cpu::SmallTours;
use crate::backend::{Backend, Choice};
use crate::engine::{Enough, Stop, StopReason};
use crate::instance::form::Form;
use crate::instance::{Instance, InstanceError, Metric, TourError};

/// Most nodes of an instance, in its [closed form](Form): 1024.
pub const MOST_NODES: usize = small::MOST_NODES as usize;

/// Longest segment of a kick.
const SEGMENT: u32 = 50;
/// The first temperature, as a share of the mean length of an edge.
const TEMPERATURE: f32 = 0.4;
/// Most instances that GPUs get at once: their nodes have numbers of 32 bits.
#[cfg(feature = "cuda")]
const MOST_AT_ONCE: usize = 1 << 20;

/// Settings of a search through many instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ManySettings {
    /// Kicks of a tour for each of its nodes: at most [`ManySettings::MOST_EFFORT`], by default 10.
    pub effort: u32,
    /// Seed of all random numbers, by default 1.
    pub seed: u64,
}

impl ManySettings {
    /// The largest [effort](ManySettings::effort).
    pub const MOST_EFFORT: u32 = 1_000_000;
}

impl Default for ManySettings {
    fn default() -> ManySettings {
        ManySettings { effort: 10, seed: 1 }
    }
}

impl ManySettings {
    fn plan(self) -> Plan {
        Plan { seed: self.seed, kicks: self.effort, segment: SEGMENT, temperature: TEMPERATURE, padding: 0 }
    }
}

/// Why none of the instances was solved.
#[derive(Debug, Error)]
pub enum ManyError {
    /// One of the instances cannot be solved.
    #[error("instance {index}: {error}")]
    Instance {
        /// Its index.
        index: usize,
        /// What is wrong with it.
        error: SolveError,
    },
    /// The settings or the backend.
    #[error(transparent)]
    Other(SolveError),
}

/// Solves instances, each on one thread of the current rayon pool; on a backend with GPUs, those of the plane with distances that
/// are not rounded on the first GPU, unless the effort is so large that it could not be interrupted. Returns their tours, in the
/// instances' order, with nodes from 0.
///
/// `stop` has the time for all instances: those that have not been started by then get a local optimum. After an interrupt, those
/// started before end early, and those not started are `None`. Its other limits have no effect.
///
/// # Errors
/// If an instance has more than [`MOST_NODES`] nodes, [contradicts itself](Instance::check_shape), or has costs that are
/// [rounded too coarsely](check_resolution), which is found out before any is solved; if the effort is too large, or the backend
/// fails.
///
/// ```
/// use antwarp::backend::Backend;
/// use antwarp::prelude::*;
/// use antwarp::solver::many::{ManySettings, solve_many};
///
/// let square = |side: f64| Instance::euclidean(&[[0.0, 0.0], [side, side], [side, 0.0], [0.0, side]]);
/// let squares = [square(1.0)?, square(2.0)?];
/// let (backend, _) = Backend::open(Choice::Cpu)?;
/// let tours = solve_many(&squares, ManySettings::default(), (&backend, &Stop::never()))?;
/// let length = |i: usize| Some(squares[i].tour_cost(tours[i].as_ref()?).as_f64());
/// assert_eq!([length(0), length(1)], [Some(4.0), Some(8.0)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn solve_many<I: Borrow<Instance>>(
    instances: &[I],
    settings: ManySettings,
    run: (&Backend, &Stop),
) -> Result<Vec<Option<Vec<u32>>>, ManyError> {
    let instances: Vec<&Instance> = instances.iter().map(Borrow::borrow).collect();
    solve_all(&instances, settings, run, &AtomicU64::new(0))
}

/// Solves one instance alone as [`solve_many`] does, on the threads of the CPU. Returns `None` for an instance that this is not for: one
/// with more than [`MOST_NODES`] nodes, one that is solved exactly, and one that contradicts itself; and after an interrupt.
///
/// # Errors
/// If the effort is too large, the backend fails, or the tour found is not valid, which would be a bug.
pub fn solve_one(
    instance: &Instance,
    settings: ManySettings,
    stop: &Stop,
) -> Result<Option<Solution>, SolveError> {
    let begin = Instant::now();
    if is_exact(instance) || check(instance).is_err() {
        return Ok(None);
    }
    let (backend, _) = Backend::open(Choice::Cpu)?;
    let kicks = AtomicU64::new(0);
    let tours = solve_all(&[instance], settings, (&backend, stop), &kicks);
    let mut tours = tours.map_err(|error| match error {
        ManyError::Instance { error, .. } | ManyError::Other(error) => error,
    })?;
    let Some(tour) = tours.pop().flatten() else { return Ok(None) };
    let wrong = |error: TourError| SolveError::Wrong { backend: "cpu", what: error.to_string() };
    let kicks = kicks.into_inner();
    Ok(Some(Solution {
        cost: instance.check_tour(&tour).map_err(wrong)?,
        tour,
        iterations: kicks,
        best_iteration: 0,
        seconds: begin.elapsed().as_secs_f64(),
        setup_seconds: 0.0,
        tours: kicks,
        stopped_by: if stop.is_over(begin) { stop.ended_by() } else { StopReason::Iterations },
        layout: "1 tour of a small instance, one CPU thread".to_owned(),
        trace: Vec::new(),
        failure: None,
    }))
}

/// Checks instances, and solves them in the [form](Form::thinned) in which they have few nodes at the same place. Adds the kicks that
/// CPU threads make to `kicks`.
fn solve_all(
    instances: &[&Instance],
    settings: ManySettings,
    run: (&Backend, &Stop),
    kicks: &AtomicU64,
) -> Result<Vec<Option<Vec<u32>>>, ManyError> {
    let begin = Instant::now();
    if settings.effort > ManySettings::MOST_EFFORT {
        let problem = format!("`effort` is {}: give at most {}", settings.effort, ManySettings::MOST_EFFORT);
        return Err(ManyError::Other(SolveError::Settings(problem)));
    }
    let wrong = |index: usize| {
        let error = check(instances[index]).err()?;
        Some(ManyError::Instance { index, error })
    };
    if let Some(error) =
        on_threads(instances.len(), &|| (), &|(), index| wrong(index)).into_iter().flatten().next()
    {
        return Err(error);
    }
    let forms = on_threads(instances.len(), &|| (), &|(), index| thinned(instances[index]));
    let inner: Vec<&Instance> =
        instances.iter().zip(&forms).map(|(&all, form)| form.as_ref().map_or(all, Form::instance)).collect();
    let mut tours = solve_forms(&inner, settings, (run, begin), kicks)?;
    for (index, form) in forms.iter().enumerate() {
        if let (Some(form), Some(tour)) = (form, &mut tours[index]) {
            let lost =
                || SolveError::Wrong { backend: run.0.machine().backend, what: "unknown nodes".to_string() };
            *tour = form.outward(tour).ok_or_else(lost).map_err(ManyError::Other)?;
        }
    }
    Ok(tours)
}

/// Returns the form of an instance with many nodes at the same place, unless it is solved exactly, or has a form for another reason.
fn thinned(instance: &Instance) -> Option<Form> {
    let is_plain = instance.ends().is_none() && instance.fixed_edges().is_empty();
    if is_plain && instance.len() > exact::FEW {
        Form::thinned(instance).filter(Form::loses_little)
    } else {
        None
    }
}

/// Solves instances in a run that started at `begin`.
fn solve_forms(
    instances: &[&Instance],
    settings: ManySettings,
    ((backend, stop), begin): ((&Backend, &Stop), Instant),
    kicks: &AtomicU64,
) -> Result<Vec<Option<Vec<u32>>>, ManyError> {
    let plan = settings.plan();
    let enough: Enough = &|| stop.is_over(begin);
    let mut tours: Vec<Option<Vec<u32>>> = vec![None; instances.len()];
    let mut left: Vec<usize> = (0..instances.len()).collect();
    let on_gpu = on_gpus(instances, plan, (backend, enough)).map_err(ManyError::Other)?;
    for (index, tour) in on_gpu {
        tours[index] = Some(tour);
    }
    left.retain(|&index| tours[index].is_none());
    let solve = |thread: &mut Thread, at: usize| {
        let index = left[at];
        if stop.is_interrupted() {
            return Ok(None);
        }
        let plan = Plan { kicks: if enough() { 0 } else { plan.kicks }, ..plan };
        let before = thread.tours.kicks();
        let solved = thread.solve(instances[index], plan, enough);
        kicks.fetch_add(thread.tours.kicks() - before, Ordering::Relaxed);
        solved.map(Some).map_err(|error| ManyError::Instance { index, error })
    };
    for (&index, tour) in left.iter().zip(on_threads(left.len(), &Thread::default, &solve)) {
        tours[index] = tour?;
    }
    Ok(tours)
}

/// Calls `work` for each number below `count`, on all threads, which take the next one when they are done; `memory` makes what belongs
/// to a thread. Returns the results in order.
fn on_threads<M, R: Send>(
    count: usize,
    memory: &(dyn Fn() -> M + Sync),
    work: &(dyn Fn(&mut M, usize) -> R + Sync),
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = rayon::broadcast(|_| {
        let (mut memory, mut results) = (memory(), Vec::new());
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return results;
            }
            results.push((number, work(&mut memory, number)));
        }
    });
    let mut results: Vec<_> = results.into_iter().flatten().collect();
    results.sort_by_key(|&(number, _)| number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Rejects instances that cannot be solved here.
fn check(instance: &Instance) -> Result<(), SolveError> {
    instance.check_shape()?;
    check_resolution(instance)?;
    // Ends of a path are joined by one more node, and nodes are doubled where edges have a direction.
    let more = usize::from(instance.ends().is_some());
    let each = if instance.is_symmetric() { 1 } else { 2 };
    if each * (instance.len() + more) > MOST_NODES {
        let (nodes, most) = (instance.len(), MOST_NODES / each - more);
        let problem = format!("it has {nodes} nodes, but many instances at once have at most {most} each");
        return Err(InstanceError::content(instance.name(), problem, "solve it alone").into());
    }
    Ok(())
}

/// Returns the places of an instance of the plane whose distances are not rounded, as [`Flat`] takes them.
fn flat(instance: &Instance) -> Option<Vec<Place>> {
    let is_plain =
        instance.ends().is_none() && instance.fixed_edges().is_empty() && instance.forbidden().is_none();
    let points = instance.points().filter(|_| is_plain && !instance.is_exact())?;
    if instance.metric() != Some(Metric::Euc2d) || points.len() <= exact::FEW {
        return None;
    }
    let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    for point in points {
        for axis in 0..2 {
            low[axis] = low[axis].min(point[axis]);
            high[axis] = high[axis].max(point[axis]);
        }
    }
    let extent = (high[0] - low[0]).max(high[1] - low[1]);
    let scale = if extent > 0.0 { f64::from(small::EXTENT) / extent } else { 0.0 };
    let place = |point: &[f64; 3]| {
        let at = |axis: usize| ((point[axis] - low[axis]) * scale) as f32;
        Place(at(0), at(1))
    };
    Some(points.iter().map(place).collect())
}

/// Solves those instances that suit a GPU, if there is one, until `enough`.
#[cfg(feature = "cuda")]
fn on_gpus(
    instances: &[&Instance],
    plan: Plan,
    (backend, enough): (&Backend, Enough),
) -> Result<Vec<(usize, Vec<u32>)>, SolveError> {
    let Backend::Cuda(cards) = backend else { return Ok(Vec::new()) };
    let suits = |nodes: usize| crate::backend::cuda::suits_small(cards, nodes as u32, plan);
    let place = |index: usize| Some(instances[index]).filter(|one| suits(one.len())).and_then(flat);
    let places = on_threads(instances.len(), &|| (), &|(), index| place(index));
    let mut suited: Vec<(usize, Vec<Place>)> =
        (0..).zip(places).filter_map(|(index, places)| Some((index, places?))).collect();
    // The largest ones first: a launch ends with its longest searches.
    suited.sort_by_key(|(_, places)| std::cmp::Reverse(places.len()));
    let mut solved = Vec::new();
    for part in suited.chunks(MOST_AT_ONCE) {
        let (mut starts, mut all) = (vec![0], Vec::new());
        for (_, places) in part {
            all.extend(places.iter().map(|&Place(x, y)| [x, y]));
            starts.push(all.len() as u32);
        }
        let (tours, done) = crate::backend::cuda::solve_small(cards, (&starts, &all), plan, enough)?;
        for ((index, _), range) in part.iter().zip(starts.windows(2)).take(done) {
            let tour = &tours[range[0] as usize..range[1] as usize];
            solved.push((*index, tour.iter().map(|&node| node.into()).collect()));
        }
    }
    let is_tour = |(index, tour): &(usize, Vec<u32>)| instances[*index].check_tour(tour);
    let wrong = on_threads(solved.len(), &|| (), &|(), at| is_tour(&solved[at]).err());
    if let Some(error) = wrong.into_iter().flatten().next() {
        return Err(SolveError::Wrong { backend: backend.machine().backend, what: error.to_string() });
    }
    Ok(solved)
}

#[cfg(not(feature = "cuda"))]
fn on_gpus(_: &[&Instance], _: Plan, _: (&Backend, Enough)) -> Result<Vec<(usize, Vec<u32>)>, SolveError> {
    Ok(Vec::new())
}

/// Most that costs may differ by direction to differ little, as a share of their sum.
const LITTLE: f64 = 0.125;

/// Returns whether the costs of an instance differ little by direction, as those of roads do: by at most an eighth of their sum, without
/// pairs that are forbidden in a direction. Then a short tour by the means of both directions is nearly a short one.
pub fn differs_little_by_direction(instance: &Instance) -> bool {
    if instance.matrix().is_none() {
        return true;
    }
    let (mut all, mut different) = (0.0, 0.0);
    for from in 0..instance.len() as u32 {
        for to in 0..from {
            if instance.is_forbidden(from, to) || instance.is_forbidden(to, from) {
                continue;
            }
            let [there, back] = [instance.distance(from, to), instance.distance(to, from)].map(f64::from);
            all += there + back;
            different += (there - back).abs();
        }
    }
    different <= LITTLE * all
}

/// A thread's memory.
#[derive(Default)]
struct Thread {
    tours: SmallTours,
    matrix: Vec<i32>,
}

impl Thread {
    /// Solves an instance.
    fn solve(&mut self, instance: &Instance, plan: Plan, enough: Enough) -> Result<Vec<u32>, SolveError> {
        if let Some(solution) = solve_exactly(instance, Instant::now())? {
            return Ok(solution.tour);
        }
        if let Some(places) = flat(instance) {
            let distances = Flat { places: places.as_ptr() };
            // SAFETY: both are nodes.
            self.fill(places.len() as u32, |a, b| unsafe { distances.between(a, b) });
            return Ok(self.tours.solve((&self.matrix, false), plan, enough).collect());
        }
        let is_plain = instance.ends().is_none() && instance.fixed_edges().is_empty();
        let form = match is_plain {
            true if instance.is_symmetric() => None,
            true => Some(Form::doubled(instance, None)),
            false => Form::closed(instance),
        };
        let closed = form.as_ref().map_or(instance, Form::instance);
        // A closed form of directed edges has a direction still.
        let again = (!closed.is_symmetric()).then(|| Form::doubled(closed, None));
        let inner = again.as_ref().map_or(closed, Form::instance);
        let inward = |form: &Option<Form>, tour: Vec<u32>| match form {
            Some(form) => form.inward(&tour),
            None => Some(tour),
        };
        let mut start = None;
        if !instance.is_symmetric()
            && instance.fixed_edges().is_empty()
            && differs_little_by_direction(instance)
        {
            let tours = self.by_means(instance, plan, enough)?.into_iter();
            let tours = tours.filter_map(|tour| Some((instance.check_tour(&tour).ok()?, tour)));
            let inner = |(cost, tour)| Some((cost, inward(&again, inward(&form, tour)?)?));
            start = tours.filter_map(inner).min().map(|(_, tour)| tour);
        }
        // The doubled form has twice as many nodes.
        let plan = if start.is_some() { Plan { kicks: plan.kicks.div_ceil(2), ..plan } } else { plan };
        let found = self.closed(inner, start.as_deref(), plan, enough)?;
        let outward = |form: &Option<Form>, tour: Vec<u32>| match form {
            Some(form) => form.outward(&tour),
            None => Some(tour),
        };
        let tour = outward(&again, found).and_then(|tour| outward(&form, tour));
        let tour = tour.filter(|tour| instance.unused_fixed_edge(tour).is_none());
        tour.ok_or_else(|| SolveError::Wrong {
            backend: "cpu",
            what: "a tour without a fixed edge".to_string(),
        })
    }

    /// Returns a tour of an instance by the means of the costs of both directions, and that tour backwards.
    fn by_means(
        &mut self,
        instance: &Instance,
        plan: Plan,
        enough: Enough,
    ) -> Result<[Vec<u32>; 2], SolveError> {
        let n = instance.len() as u32;
        let mean = |a: u32, b: u32| {
            ((i64::from(instance.distance(a, b)) + i64::from(instance.distance(b, a))) / 2) as i32
        };
        let means = (0..n).flat_map(|a| (0..n).map(move |b| mean(a, b))).collect();
        let means = Instance::from_matrix(instance.name(), means)?.with_ends(instance.ends());
        let tour = self.solve(&means, plan, enough)?;
        let back = tour.iter().rev().copied().collect();
        Ok([tour, back])
    }

    /// Solves an instance of closed tours without directions, starting from this tour if there is one.
    fn closed(
        &mut self,
        instance: &Instance,
        start: Option<&[u32]>,
        plan: Plan,
        enough: Enough,
    ) -> Result<Vec<u32>, SolveError> {
        let n = instance.len() as u32;
        if n < small::FEWEST_NODES {
            let tour = exact::shortest(instance);
            return tour.ok_or_else(|| SolveError::Wrong { backend: "cpu", what: "no tour".to_string() });
        }
        let partners = instance.partners().unwrap_or_default();
        let is_fixed = |a: u32, b: u32| partners.get(a as usize) == Some(&b);
        self.fill(n, |a, b| if is_fixed(a, b) { small::FIXED } else { instance.distance(a, b) });
        let distances = (&self.matrix[..], !partners.is_empty());
        Ok(match start {
            Some(start) => self.tours.improve(start, distances, plan, enough).collect(),
            None => self.tours.solve(distances, plan, enough).collect(),
        })
    }

    /// Fills the matrix.
    fn fill(&mut self, n: u32, between: impl Fn(u32, u32) -> i32) {
        self.matrix.clear();
        self.matrix.resize(n as usize * n as usize, 0);
        for a in 0..n {
            for b in 0..a {
                let far = between(a, b);
                self.matrix[a as usize * n as usize + b as usize] = far;
                self.matrix[b as usize * n as usize + a as usize] = far;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use antwarp_core::rng::Stream;

    use super::*;
    use crate::instance::{Ends, generate};
    use crate::solver::Solver;

    fn cpu() -> Backend {
        Backend::open(Choice::Cpu).unwrap().0
    }

    fn solved(instances: &[Instance], effort: u32) -> Vec<Vec<u32>> {
        let settings = ManySettings { effort, seed: 1 };
        let tours = solve_many(instances, settings, (&cpu(), &Stop::never())).unwrap();
        tours.into_iter().map(Option::unwrap).collect()
    }

    /// An instance of n nodes of any kind.
    fn any(n: u32, seed: u64) -> Instance {
        let draws = Stream::new(seed, 1, n).step(0);
        let below = |item: u32, limit: u32| draws.below(item, limit);
        let instance = match below(0, 4) {
            0 => {
                let place = |i: u32| [below(100 + 2 * i, 40).into(), below(101 + 2 * i, 40).into()];
                Instance::euclidean(&(0..n).map(place).collect::<Vec<[f64; 2]>>()).unwrap()
            }
            1 => {
                let place = |i: u32| [below(100 + 2 * i, 1000).into(), below(101 + 2 * i, 1000).into(), 0.0];
                Instance::from_points("p", Metric::Euc2d, (0..n).map(place).collect()).unwrap()
            }
            kind => {
                let pair = |at: u32| (at / n, at % n);
                let number = |(i, j): (u32, u32)| if kind == 2 { i * n + j } else { i.min(j) * n + i.max(j) };
                let cost = |at: u32| below(1000 + number(pair(at)), 500) as i32;
                Instance::from_matrix("m", (0..n * n).map(cost).collect()).unwrap()
            }
        };
        let mut order: Vec<u32> = (0..n).collect();
        order.sort_by_key(|&node| draws.bits(500 + node));
        let fixed: Vec<_> = match below(1, 3) {
            0 => order.windows(2).step_by(5).map(|pair| (pair[0], pair[1])).collect(),
            _ => Vec::new(),
        };
        let ends = (below(2, 3) == 0 && n > 1).then_some(Ends { start: Some(order[0]), end: None });
        instance.with_fixed_edges(fixed).with_ends(ends)
    }

    #[test]
    fn tours_of_all_kinds_are_valid() {
        let sizes = (1..40).chain([100, 250]);
        let instances: Vec<Instance> = sizes.flat_map(|n| (0..6).map(move |seed| any(n, seed))).collect();
        let [local, tours] = [0, 5].map(|effort| solved(&instances, effort));
        for (instance, tours) in instances.iter().zip(local.iter().zip(&tours)) {
            let cost = |tour: &[u32]| {
                assert_eq!(instance.unused_fixed_edge(tour), None);
                instance.check_tour(tour).unwrap()
            };
            // By lengths in single precision, two tours may change places.
            assert!(cost(tours.1) as f64 <= cost(tours.0) as f64 * (1.0 + 1e-6));
        }
        assert_eq!(solved(&instances[50..60], 5), tours[50..60], "tours depend on nothing else");
    }

    #[test]
    fn an_instance_alone_gets_the_tour_that_it_gets_beside_others() {
        let settings = ManySettings { effort: 3, seed: 1 };
        let instances: Vec<Instance> = (0..12).map(|seed| any(40 + seed as u32, seed)).collect();
        for (instance, tour) in instances.iter().zip(solved(&instances, 3)) {
            let alone = solve_one(instance, settings, &Stop::never()).unwrap().unwrap();
            assert_eq!(
                (alone.cost, alone.stopped_by),
                (instance.check_tour(&tour).unwrap(), StopReason::Iterations)
            );
            assert_eq!(alone.tour, tour);
            let late = solve_one(instance, settings, &Stop::after(Duration::ZERO)).unwrap().unwrap();
            assert_eq!((late.stopped_by, late.tours), (StopReason::Time, 0));
            let stop = Stop { interrupt: std::sync::Arc::new(AtomicBool::new(true)), ..Stop::never() };
            assert!(solve_one(instance, settings, &stop).unwrap().is_none());
        }
        let places = generate::uniform(50, 1).unwrap();
        assert_eq!(solve_one(&places, settings, &Stop::never()).unwrap().unwrap().tours, 150);
        for nodes in [12, MOST_NODES + 1] {
            let other = generate::uniform(nodes, 1).unwrap();
            assert!(solve_one(&other, settings, &Stop::never()).unwrap().is_none());
        }
    }

    /// Places around random centers in a unit square.
    fn grouped(groups: u32, each: u32, spread: f64, seed: u64) -> Vec<[f64; 2]> {
        let draws = Stream::new(seed, groups, each).step(0);
        let unit = |item: u32| f64::from(draws.below(item, 1 << 20)) / f64::from(1 << 20);
        // The sum of three draws is nearly normal.
        let around = |item: u32| (0..3).map(|i| unit(item + i) - 0.5).sum::<f64>() * spread;
        let place = |i: u32| {
            let (center, item) = (2 * (i % groups), 2 * groups + 6 * i);
            [unit(center) + around(item), unit(center + 1) + around(item + 3)]
        };
        (0..groups * each).map(place).collect()
    }

    #[test]
    fn places_in_groups_that_are_far_apart_get_tours_like_those_of_solve() {
        let mut number = 0;
        for (groups, each) in [(3, 20), (10, 10), (25, 10), (10, 35), (30, 12), (10, 100)] {
            for spread in [0.001, 0.01, 0.03] {
                number += 1;
                let places = grouped(groups, each, spread, number);
                let instance = Instance::euclidean(&places).unwrap();
                let as_costs = |at: usize| {
                    let ([a, b], [c, d]) = (places[at / places.len()], places[at % places.len()]);
                    (1e6 * (a - c).hypot(b - d)) as i32
                };
                let costs = Instance::from_matrix("m", (0..places.len().pow(2)).map(as_costs).collect());
                let stop = Stop { iterations: Some(3 * places.len() as u64), ..Stop::never() };
                let other = Solver::default().backend(Choice::Cpu).solve(&instance, stop).unwrap();
                for tour in solved(&[instance.clone(), costs.unwrap()], ManySettings::default().effort) {
                    let [found, other] = [&tour, &other.tour].map(|tour| instance.tour_cost(tour).as_f64());
                    assert!(found < 1.01 * other, "{groups} groups of {each}: {found}, {other}");
                }
            }
        }
    }

    /// Costs as on roads: lengths that are up to .3 longer, and up to a constant, in each direction on its own.
    fn roads(n: u32, seed: u64) -> Instance {
        let draws = Stream::new(seed, 2, n).step(0);
        let unit = |item: u32| f64::from(draws.below(item, 1 << 20)) / f64::from(1 << 20);
        let cost = |at: u32| {
            let [a, b] = [at / n, at % n].map(|i| [unit(2 * i), unit(2 * i + 1)]);
            let far = (a[0] - b[0]).hypot(a[1] - b[1]);
            (1e4 * far * (1.0 + 0.3 * unit(10_000 + at)) + 200.0 * unit(100_000 + at)) as i32
        };
        Instance::from_matrix("roads", (0..n * n).map(cost).collect()).unwrap()
    }

    #[test]
    fn forbidden_pairs_do_not_decide_whether_costs_differ_little() {
        let n = 50;
        let draws = Stream::new(1, 3, n).step(0);
        let with = |cost: &dyn Fn(u32) -> f64, forbids: &dyn Fn(u32, u32) -> bool| {
            let at = |at: u32| if forbids(at / n, at % n) { f64::INFINITY } else { cost(at) };
            let costs: Vec<f64> = (0..n * n).map(at).collect();
            Instance::from_costs("c", costs).unwrap()
        };
        let random = |at: u32| f64::from(1 + draws.below(at, 1000));
        let roads = roads(n, 1);
        let on_roads = |at: u32| f64::from(roads.distance(at / n, at % n));
        // Of a twentieth of the pairs both directions, or one.
        for both in [true, false] {
            let forbids = |a: u32, b: u32| a != b && (a + b).is_multiple_of(20) && (both || a < b);
            assert!(!differs_little_by_direction(&with(&random, &forbids)), "{both}");
            let found = with(&on_roads, &forbids);
            assert!(differs_little_by_direction(&found) && found.forbidden().is_some(), "{both}");
            let tour = &solved(std::slice::from_ref(&found), 2)[0];
            assert_eq!(found.forbidden_steps(tour), []);
        }
    }

    #[test]
    fn tours_by_the_means_of_both_directions_lead_to_shorter_ones() {
        let ends =
            [None, Some(Ends { start: Some(3), end: Some(7) }), Some(Ends { start: Some(3), end: None })];
        for ends in ends {
            let roads: Vec<Instance> = (0..10)
                .map(|seed| roads(100, seed).with_ends(ends))
                .filter(differs_little_by_direction)
                .collect();
            assert_eq!(roads.len(), 10);
            let cost = |instance: &Instance, tour: &[u32]| instance.check_tour(tour).unwrap();
            let found: i64 = roads.iter().zip(solved(&roads, 2)).map(|(road, tour)| cost(road, &tour)).sum();
            let plan = ManySettings { effort: 5, seed: 1 }.plan();
            let without = |road: &Instance| {
                let form = Form::closed(road);
                let closed = form.as_ref().map_or(road, Form::instance);
                let doubled = Form::doubled(closed, None);
                let tour = Thread::default().closed(doubled.instance(), None, plan, &|| false).unwrap();
                let tour = doubled.outward(&tour).unwrap();
                cost(road, &form.map_or(tour.clone(), |form| form.outward(&tour).unwrap()))
            };
            let direct: i64 = roads.iter().map(without).sum();
            // By .9, .8 and .2 percent, with less than half of the kicks.
            assert!(found * 1000 < direct * 999, "{found} {direct}");
        }
    }

    #[test]
    fn many_nodes_at_the_same_place_cost_nothing() {
        let place = |i: usize| [(i * 37 % 101) as f64, (i * 53 % 89) as f64];
        let few = Instance::euclidean(&(0..10).map(place).collect::<Vec<[f64; 2]>>()).unwrap();
        let places: Vec<[f64; 2]> = (0..100).map(|i| place(i * 7 % 10)).collect();
        let many = Instance::euclidean(&places).unwrap();
        let tour = &solved(std::slice::from_ref(&many), 1)[0];
        let optimum = few.tour_cost(&exact::shortest(&few).unwrap());
        assert_eq!(many.tour_cost(tour), optimum);
    }

    #[test]
    fn few_nodes_are_solved_to_their_optimum_by_either_search() {
        for seed in 0..40 {
            let n = 10 + seed as u32 % 3;
            let instance = any(n, seed);
            let optimum = instance.check_tour(&exact::shortest(&instance).unwrap()).unwrap();
            assert_eq!(instance.check_tour(&solved(std::slice::from_ref(&instance), 1)[0]), Ok(optimum));
            // The search itself, without the shortcut.
            if instance.is_symmetric() && instance.ends().is_none() && instance.fixed_edges().is_empty() {
                let plan = ManySettings { effort: 20, seed: 1 }.plan();
                let tour = Thread::default().closed(&instance, None, plan, &|| false).unwrap();
                assert_eq!(instance.check_tour(&tour), Ok(optimum), "seed {seed}");
            }
        }
    }

    #[test]
    fn a_wrong_instance_is_named_before_any_is_solved() {
        let mut instances: Vec<Instance> =
            (0..1000).map(|seed| generate::uniform(10, seed).unwrap()).collect();
        let solve =
            |instances: &[Instance]| solve_many(instances, ManySettings::default(), (&cpu(), &Stop::never()));
        instances[617] = generate::uniform(MOST_NODES + 1, 1).unwrap();
        let error = solve(&instances).unwrap_err();
        assert!(matches!(error, ManyError::Instance { index: 617, .. }), "{error}");
        instances[617] = generate::uniform(20, 1).unwrap().with_fixed_edges(vec![(0, 1), (0, 2), (0, 3)]);
        let error = solve(&instances).unwrap_err();
        assert!(matches!(error, ManyError::Instance { index: 617, .. }), "{error}");
        instances.remove(617);
        assert_eq!(solve(&instances).unwrap().len(), 999);
        assert!(solve(&[]).unwrap().is_empty());
    }

    #[test]
    fn the_largest_instances_are_solved() {
        let places = generate::uniform(MOST_NODES, 1).unwrap();
        let cost = |at: usize| (at * 7919 % 1009) as i32;
        let directed = Instance::from_matrix("m", (0..512 * 512).map(cost).collect()).unwrap();
        for (instance, tour) in [places.clone(), directed.clone()].iter().zip(solved(&[places, directed], 0))
        {
            instance.check_tour(&tour).unwrap();
        }
    }

    #[test]
    fn after_an_interrupt_those_not_started_are_missing_and_after_the_time_local_optima() {
        let instances: Vec<Instance> = (0..50).map(|seed| generate::uniform(60, seed).unwrap()).collect();
        let settings = ManySettings { effort: ManySettings::MOST_EFFORT, seed: 1 };
        let late = solve_many(&instances, settings, (&cpu(), &Stop::after(Duration::ZERO))).unwrap();
        assert_eq!(late.into_iter().map(Option::unwrap).collect::<Vec<_>>(), solved(&instances, 0));
        let stop = Stop { interrupt: std::sync::Arc::new(AtomicBool::new(true)), ..Stop::never() };
        assert_eq!(solve_many(&instances, settings, (&cpu(), &stop)).unwrap(), vec![None; 50]);
        let stop = Stop::never();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(200));
                stop.interrupt.store(true, Ordering::Relaxed);
            });
            let tours = solve_many(&instances, settings, (&cpu(), &stop)).unwrap();
            let found: Vec<_> =
                instances.iter().zip(&tours).filter_map(|(i, t)| Some((i, t.as_ref()?))).collect();
            assert!((1..50).contains(&found.len()), "{}", found.len());
            found.iter().for_each(|(instance, tour)| assert!(instance.check_tour(tour).is_ok()));
        });
    }
}
