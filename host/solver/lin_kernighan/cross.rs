//! Many tours, kicked and then crossed. Each has its own start tour. Where there are many nodes, tours are kicked for half of the time;
//! where there are few, only briefly. Then they become the initial population of edge assembly crossover (Nagata and Kobayashi 2013)
//! on CPU threads. Once crossing cannot improve them any more, small instances restart with other tours; on large ones, kicks are
//! applied to the best tour for the rest of the time.

use std::time::Duration;

use super::means::{IN_PLACE, Means};
use super::settings::{LinKernighanSettings, Plan};
use super::starts;
use crate::backend::cpu;
use crate::engine::genetic::{Crossover, FirstIndividuals, Initial};
use crate::engine::memory::check_memory;
use crate::engine::{BackendError, Deadline, Enough, LocalSearch, Population, Problem, Stop};
use crate::instance::{Instance, embedded, nearest};
use crate::solver::{SolveError, genetic};

/// Largest share of the time for kicks: more tours are better than more kicks, and take longer to cross.
const SHARE: f64 = 0.5;
/// The same, for kicks in place.
const SHARE_IN_PLACE: f64 = 0.6;
/// Making a start tour along a curve and its descent take as long as this many kicks per node; the same for a random tour.
const BEGINS: f64 = 0.09;
const RANDOM_BEGINS: f64 = 0.15;
/// The same in kicks in place, for a greedy tour with random lengths.
const GREEDY_BEGINS: f64 = 0.04;
/// See [`seconds`].
const A_KICK: f64 = 1100.0;
/// The same for tours kicked in place, where crossing takes time in proportion to n^1.9, and of fewer than [`LEAST_IN_PLACE`] nodes counts
/// as long as of so many: fewer tours with more kicks each are better there.
const A_KICK_IN_PLACE: f64 = 44_000.0;
const LEAST_IN_PLACE: u32 = 2_000;
/// Several threads are taken to cross faster by their number to this power.
const TOGETHER: f64 = 0.75;
/// What is assumed instead beside GPUs: fewer tours with more kicks each. More of them have not been tried there.
const BESIDE_GPUS: f64 = 0.5;
/// Fewest tours that are worth crossing: with fewer, a single tour is better.
pub const FEWEST: u32 = 10;
/// Most tours.
const MOST: u32 = 256;
/// Nodes up to which start tours are random. Beyond, it would take longer until they are good: they are along curves or, where there are
/// no places, greedy ones with random lengths.
const MOST_RANDOM: u32 = 3000;
/// Nodes up to which a run restarts once its tours cannot be improved any more.
const MOST_RESTARTED: u32 = 5000;
/// Kicks per node of each tour after which such a run first crosses them.
const A_NODE: f64 = 0.05;
/// The same, for kicks in place.
const A_NODE_IN_PLACE: f64 = 0.4;
/// Tours with fewer kicks a node than this are crossed as fast, for they are local optima.
const AS_FEW: f64 = 0.05;
/// Nearest neighbours of a node where tours without kicks are crossed, as in the paper. (On d2103, a lattice with holes, those in
/// quadrants lead to longer tours.)
const NEAREST: usize = 10;

/// Start tours, in the problem's numbering, concatenated.
pub struct Starts {
    pub count: u32,
    pub tours: Vec<u32>,
    /// Length of the shortest one.
    pub cost: i64,
}

/// Returns whether a run limited by time may work on several tours, and cross them: unless a setting asks for something else.
pub fn is_free(settings: &LinKernighanSettings, is_given: bool, stop: &Stop) -> bool {
    let is_about_one = is_given
        || settings.start.is_some()
        || settings.descent_only
        || settings.chains.is_some()
        || settings.trials.is_some();
    stop.time.is_some() && !is_about_one && stop.iterations.is_none() && stop.stagnation.is_none()
}

/// Returns the number of tours that can be kicked and crossed in this time, if these are enough.
pub fn several(n: u32, means: Means, time: Duration) -> Option<u32> {
    let count = at_most(n, means, time);
    // In place, crossing a few more than fit still pays.
    let fewest = if means.in_place { FEWEST * 2 / 3 } else { FEWEST };
    Some(count.max(FEWEST)).filter(|_| count >= fewest)
}

/// Returns whether an instance is so small that its runs restart.
pub fn is_restarted(n: u32) -> bool {
    n <= MOST_RESTARTED
}

/// Makes this many tours, if they fit in memory. A slow or busy machine makes fewer: [`FEWEST`], and more only `until` then. If the run is
/// over before, only the best tour counts. Those that are to be kicked in place are greedy.
///
/// # Errors
/// As [`genetic::first_individuals`], except for lack of memory.
pub fn make(
    instance: &Instance,
    problem: &Problem,
    (seed, count): (u64, u32),
    in_place: bool,
    until: Option<Duration>,
    deadline: Deadline<'_>,
) -> Result<Option<Starts>, SolveError> {
    let few = count.min(FEWEST.max(rayon::current_num_threads() as u32));
    let some = |size: (u64, u32), late: Enough| {
        let made = if in_place {
            make_greedy(problem, size, late)
        } else {
            make_all(instance, problem, size, deadline.stop, late)
        };
        match made {
            Err(SolveError::Backend(BackendError::OutOfMemory { .. })) => Ok(None),
            made => made,
        }
    };
    let is_over = || deadline.is_over();
    let Some(mut starts) = some((seed, few), &is_over)? else { return Ok(None) };
    if starts.count == few && count > few {
        let is_late = || is_over() || until.is_some_and(|until| deadline.elapsed() >= until);
        // Another seed: tours of one are numbered from 0.
        match some((seed.wrapping_add(1), count - few), &is_late)? {
            Some(rest) => starts.extend(rest),
            // For lack of memory.
            None if !is_late() => return Ok(None),
            None => {}
        }
    }
    if is_over() {
        let tours = starts.tours.chunks_exact(problem.n() as usize);
        let best = tours.min_by_key(|tour| problem.length(tour).unwrap_or(i64::MAX));
        let tours = best.filter(|_| starts.cost < problem.unit_cost()).map(<[u32]>::to_vec);
        return Ok(tours.map(|tours| Starts { count: 1, tours, cost: starts.cost }));
    }
    Ok(Some(starts.with_start(problem)))
}

/// As [`make`], by Or-2opt; fewer tours once it is `late`.
fn make_all(
    instance: &Instance,
    problem: &Problem,
    (seed, count): (u64, u32),
    stop: &Stop,
    late: Enough,
) -> Result<Option<Starts>, SolveError> {
    let n = problem.n();
    let initial = if n > MOST_RANDOM { Initial::SpaceFilling } else { Initial::LocalOptima };
    let mut individuals = individuals(seed, count, initial);
    let has_curve = || instance.points().is_some() || embedded(instance).is_some();
    let first = if initial == Initial::SpaceFilling && !has_curve() {
        check_memory("the start tours", 2 * size_of::<u32>() * n as usize * count as usize)?;
        let tours = starts::greedy(problem, (seed, count), late);
        individuals.population = Some((tours.len() / n as usize) as u32);
        (!tours.is_empty()).then_some(FirstIndividuals::Given(tours))
    } else {
        genetic::first_individuals_until(instance, problem, &individuals, None, late)?
    };
    let Some(first) = first else { return Ok(None) };
    let mut population = cpu::population(problem, &individuals.spec(problem, stop), first)?;
    let cost = population.run(0, late)?.best_cost;
    let count = population.costs()?.iter().take_while(|&&cost| cost < i64::MAX).count() as u32;
    let mut tours = Vec::with_capacity(n as usize * count as usize);
    for place in 0..count {
        tours.extend(population.individual(place)?);
    }
    Ok((count > 0).then_some(Starts { count, tours, cost }))
}

/// As [`make`], for tours that are to be kicked in place; fewer once it is `late`.
fn make_greedy(problem: &Problem, size: (u64, u32), late: Enough) -> Result<Option<Starts>, SolveError> {
    let n = problem.n() as usize;
    check_memory("the start tours", 2 * size_of::<u32>() * n * size.1 as usize)?;
    let tours = starts::greedy(problem, size, late);
    let cost = tours.chunks_exact(n).filter_map(|tour| problem.length(tour)).min();
    Ok(cost.map(|cost| Starts { count: (tours.len() / n) as u32, tours, cost }))
}

impl Starts {
    /// Adds other tours.
    fn extend(&mut self, others: Starts) {
        self.count += others.count;
        self.tours.extend(others.tours);
        self.cost = self.cost.min(others.cost);
    }

    /// Replaces the last tour by the start tour made before, if that is shorter than all of them.
    fn with_start(mut self, problem: &Problem) -> Starts {
        if problem.unit_cost() < self.cost {
            let last = self.tours.len() - problem.n() as usize;
            (0..).zip(&mut self.tours[last..]).for_each(|(node, to)| *to = node);
            self.cost = problem.unit_cost();
        }
        self
    }
}

fn share(in_place: bool) -> f64 {
    if in_place { SHARE_IN_PLACE } else { SHARE }
}

/// Returns the kicks per node that take as long as making a tour and its descent.
pub fn begins(n: u32, in_place: bool) -> f64 {
    match in_place {
        true => GREEDY_BEGINS,
        false if n > MOST_RANDOM => BEGINS,
        false => RANDOM_BEGINS,
    }
}

/// Estimates the seconds that crossing takes until the tours cannot be improved any more: it grows with their number, size and
/// length; several threads are faster by a power of their number.
fn seconds(n: u32, count: u32, kicks_a_node: f64, means: Means) -> f64 {
    let Means { threads, thread: rate, in_place, on_gpus, .. } = means;
    let threads = f64::from(threads).powf(if on_gpus { BESIDE_GPUS } else { TOGETHER });
    let (n, a_kick, power) =
        if in_place { (n.max(LEAST_IN_PLACE), A_KICK_IN_PLACE, 1.9) } else { (n, A_KICK, 1.4) };
    f64::from(count) * f64::from(n).powf(power) / (a_kick * rate * threads * kicks_a_node.min(1.0).sqrt())
}

/// Returns how many start tours can be crossed after their kicks, at most [`MOST`].
pub fn at_most(n: u32, means: Means, time: Duration) -> u32 {
    let (time, share) = (time.as_secs_f64(), share(means.in_place));
    let fits = |&count: &u32| {
        let kicks_a_node =
            means.kicks * share * time / f64::from(n) / f64::from(count) - begins(n, means.in_place);
        kicks_a_node > 0.0 && seconds(n, count, kicks_a_node, means) <= (1.0 - share) * time
    };
    (1..=MOST).rev().find(fits).unwrap_or(0)
}

/// The kicks made.
pub struct Kicks {
    /// Kicks of each tour.
    pub each: u64,
    /// Kicks per second of all threads.
    pub rate: f64,
    /// Steps of the kicks' walks.
    pub walk: u32,
}

impl Kicks {
    /// Returns the kicks per second of a thread, converted to trials with walks of the usual length: longer walks take longer.
    pub fn of_a_thread(&self, means: Means) -> f64 {
        let trials = if means.in_place { 1.0 / IN_PLACE } else { f64::from(40 + self.walk) / 60.0 };
        self.rate / f64::from(means.threads) * trials
    }
}

/// Returns how many tours with these kicks can be crossed in this time.
pub fn crossable(plan: &Plan, kicks: &Kicks, time: Duration) -> u32 {
    let (n, means) = (plan.problem.n(), plan.means);
    let means = means.measured(kicks.of_a_thread(means));
    let kicks_a_node = (kicks.each as f64 / f64::from(n)).max(AS_FEW);
    (time.as_secs_f64() / seconds(n, 1, kicks_a_node, means)) as u32
}

/// Returns as many of the tours, the shortest ones, as can be crossed in the time left: on slow threads fewer than were kicked, but
/// [`FEWEST`] if there are that many.
fn as_many_as_fit(plan: &Plan, tours: Vec<u32>, kicks: Kicks, time: Duration) -> Vec<u32> {
    let length = |tour: &&[u32]| plan.problem.length(tour).unwrap_or(i64::MAX);
    let mut all: Vec<&[u32]> = tours.chunks_exact(plan.problem.n() as usize).collect();
    let count = (crossable(plan, &kicks, time).max(FEWEST) as usize).min(all.len());
    all.sort_by_cached_key(length);
    all[..count].concat()
}

/// Settings of edge assembly crossover.
fn individuals(seed: u64, count: u32, initial: Initial) -> genetic::GeneticSettings {
    genetic::GeneticSettings {
        seed,
        population: Some(count),
        initial,
        local_search: LocalSearch::Or2opt,
        ..genetic::GeneticSettings::of(Crossover::Eax)
    }
}

/// Returns the time from which a run is planned, if its preparation ends at `ready`: 0, unless preparation takes more than a quarter of
/// the time. Then the run is planned as a shorter one, of whose time preparation takes a quarter.
pub fn effective_start(ready: Duration, end: Duration) -> Duration {
    (4 * ready).saturating_sub(end) / 3
}

/// Returns when kicks end and crossing starts, for tours that started at some time of the run and are crossed by `end`.
pub fn kicked(end: Duration, began: Duration, in_place: bool) -> Duration {
    began + end.saturating_sub(began).mul_f64(share(in_place))
}

/// How small instances restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Tours with this many kicks each before they are crossed, unless the time for kicks ends before.
    Kicked(u64),
    /// Tours without kicks. They sometimes reach tours that kicked ones, which are more alike, do not.
    LocalOptima,
}

/// Returns how a run restarts after this many restarts; `None` for large instances. Tours with and without kicks alternate, and the
/// number of kicks doubles each time.
pub fn restart(n: u32, in_place: bool, times: u32) -> Option<Restart> {
    let a_node = if in_place { A_NODE_IN_PLACE } else { A_NODE };
    let kicks = || (a_node * f64::from(n) * 2f64.powf(f64::from(times / 2))).ceil() as u64;
    let begins = || if times.is_multiple_of(2) { Restart::Kicked(kicks()) } else { Restart::LocalOptima };
    is_restarted(n).then(begins)
}

/// Returns the problem with the lists for crossing [`Restart::LocalOptima`]. `None` for a large instance, or a matrix without
/// [places](embedded): its lists hold the nearest nodes anyway.
pub fn by_nearest(instance: &Instance, problem: &Problem) -> Option<Problem> {
    let near = || nearest(instance, NEAREST.min(instance.len() - 1));
    let has_others =
        is_restarted(problem.n()) && (instance.points().is_some() || embedded(instance).is_some());
    has_others.then(|| problem.with_neighbors(&near()))
}

/// Returns a population of kicked tours, without those for which there is not enough time.
///
/// # Errors
/// If it does not fit in memory.
pub fn of_kicked<'a>(
    plan: &Plan<'a>,
    seed: u64,
    (tours, kicks): (Vec<u32>, Kicks),
    time: Duration,
    stop: &Stop,
) -> Result<Box<dyn Population + 'a>, BackendError> {
    population(plan.problem, seed, as_many_as_fit(plan, tours, kicks, time), stop)
}

/// Returns a population of tours.
///
/// # Errors
/// If it does not fit in memory.
pub fn population<'a>(
    problem: &'a Problem,
    seed: u64,
    tours: Vec<u32>,
    stop: &Stop,
) -> Result<Box<dyn Population + 'a>, BackendError> {
    let count = (tours.len() / problem.n() as usize) as u32;
    let spec = individuals(seed, count, Initial::File).spec(problem, stop);
    let mut population = cpu::population(problem, &spec, FirstIndividuals::Given(tours))?;
    // Identical tours are exhausted already, and a generation would replace them.
    population.run(0, &|| false)?;
    Ok(population)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Backend, Choice};

    #[test]
    fn as_many_tours_begin_as_can_be_crossed() {
        let in_pool = |threads: u32, n, time| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build().unwrap();
            let time = Duration::from_secs_f64(time);
            pool.install(|| at_most(n, Means::of(&Backend::open(Choice::Cpu).unwrap().0, 1.0), time))
        };
        // 33 tours of 10,000 nodes have .0615 kicks per node in five seconds, and are crossed in 4.8; 34 would take 5.2.
        assert_eq!(in_pool(1, 10_000, 10.0), 33);
        assert_eq!([0.0, 0.01, 1e9].map(|time| in_pool(1, 10_000, time)), [0, 0, MOST]);
        for (fewer, more) in [(1000, 5000), (10_000, 20_000), (20_000, 100_000)] {
            for time in [1.0, 5.0, 10.0, 60.0, 600.0] {
                assert!(in_pool(4, fewer, time) >= in_pool(4, more, time));
                assert!(in_pool(4, more, time) >= in_pool(1, more, time));
                assert!(in_pool(4, more, 2.0 * time) >= in_pool(4, more, time));
            }
        }
    }

    #[test]
    fn late_runs_are_planned_for_the_time_left() {
        let seconds = |ready, end| {
            effective_start(Duration::from_secs_f64(ready), Duration::from_secs_f64(end)).as_secs_f64()
        };
        assert_eq!([seconds(0.0, 10.0), seconds(2.5, 10.0), seconds(10.0, 10.0)], [0.0, 0.0, 10.0]);
        // Of the two seconds from the second one on, preparation takes half a second.
        assert_eq!(seconds(2.5, 4.0), 2.0);
    }

    #[test]
    fn better_tours_are_crossed_faster_and_faster_threads_cross_faster() {
        let seconds = |n, count, kicks_a_node, (rate, threads)| {
            let means = Means { kicks: 0.0, thread: rate, threads, on_gpus: false, in_place: false };
            seconds(n, count, kicks_a_node, means)
        };
        let base = seconds(10_000, 50, 0.1, (1e4, 1));
        assert!(seconds(10_000, 50, 0.2, (1e4, 1)) < base && seconds(10_000, 50, 0.1, (2e4, 1)) < base);
        assert!(seconds(10_000, 60, 0.1, (1e4, 1)) > base && seconds(12_000, 50, 0.1, (1e4, 1)) > base);
        assert_eq!(seconds(10_000, 50, 0.1, (1e4, 16)), base / 8.0);
        // Without kicks it never ends.
        assert_eq!(seconds(10_000, 50, 0.0, (1e4, 1)), f64::INFINITY);
    }

    #[test]
    fn small_instances_restart_with_and_without_kicks() {
        let all: Vec<_> = (0..5).map(|times| restart(1000, false, times)).collect();
        let kicked = |kicks| Some(Restart::Kicked(kicks));
        let none = Some(Restart::LocalOptima);
        assert_eq!(all, [kicked(50), none, kicked(100), none, kicked(200)]);
        assert_eq!(restart(1000, true, 2), kicked(800));
        let first = |n| restart(n, false, 0);
        assert_eq!((first(5000), first(5001), restart(5001, false, 1)), (kicked(250), None, None));
    }
}
