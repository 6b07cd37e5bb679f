//! Many tours, crossed at the end. Each has a start of its own and is kicked for half of the time, or but a little if it has few
//! nodes; then they are the first tours of edge assembly crossover (Nagata and Kobayashi 2013) on CPU threads. Once nothing can
//! come of them any more, few nodes begin anew with other tours; of many nodes the best tour is kicked for the rest of the time.

use std::time::Duration;

use super::means::{Means, THREAD};
use super::settings::{LinKernighanSettings, Plan};
use crate::backend::cpu;
use crate::engine::genetic::{Crossover, FirstIndividuals, Initial};
use crate::engine::{BackendError, Deadline, LocalSearch, Population, Problem, Stop};
use crate::instance::{Instance, nearest};
use crate::solver::{SolveError, genetic};

/// Share of the time that kicks have, at most: more tours are better than more kicks, and take longer to cross.
const SHARE: f64 = 0.5;
/// Making a tour's start, and its descent, take as long as so many kicks a node.
const BEGINS: f64 = 0.09;
/// See [`seconds`].
const A_KICK: f64 = 1100.0;
/// Tours that are worth crossing: fewer are better left one.
const FEWEST: u32 = 10;
/// Most tours.
const MOST: u32 = 256;
/// Nodes up to which tours begin as random ones, and not along curves: it takes longer until those are good.
const MOST_RANDOM: u32 = 3000;
/// Nodes up to which a run begins anew once nothing can come of its tours any more.
const MOST_RESTARTED: u32 = 5000;
/// Kicks a node of each tour after which such a run crosses them, the first time.
const A_NODE: f64 = 0.05;
/// Nearest neighbours of a node where tours that had no kicks are crossed, as in the paper. (On d2103, a lattice with holes, those
/// in quadrants lead to longer tours.)
const NEAREST: usize = 10;

/// Tours to begin with, in the problem's numbering, one after the other.
pub struct Starts {
    pub count: u32,
    pub tours: Vec<u32>,
    /// Length of the shortest one.
    pub cost: i64,
}

/// How many tours a run by the clock begins with if its time is enough for several, and if nothing was said that is about one.
pub fn at_begin(
    n: u32,
    (settings, is_given): (&LinKernighanSettings, bool),
    means: Means,
    (time, stop): (Option<Duration>, &Stop),
) -> Option<u32> {
    let time = time?;
    let is_about_one = is_given
        || settings.start.is_some()
        || settings.descent_only
        || settings.chains.is_some()
        || settings.trials.is_some();
    if is_about_one || stop.iterations.is_some() || stop.stagnation.is_some() {
        return None;
    }
    Some(at_first(n, means, time.as_secs_f64())).filter(|&count| count >= FEWEST)
}

/// So many tours, if they fit the memory; fewer if the time is over before.
///
/// # Errors
/// As [`genetic::first_individuals`], but for that.
pub fn make(
    instance: &Instance,
    problem: &Problem,
    size: (u64, u32),
    deadline: Deadline<'_>,
) -> Result<Option<Starts>, SolveError> {
    match make_all(instance, problem, size, deadline) {
        Err(SolveError::Backend(BackendError::OutOfMemory { .. })) => Ok(None),
        made => made,
    }
}

fn make_all(
    instance: &Instance,
    problem: &Problem,
    (seed, count): (u64, u32),
    deadline: Deadline<'_>,
) -> Result<Option<Starts>, SolveError> {
    let n = problem.n();
    let initial = if n > MOST_RANDOM { Initial::SpaceFilling } else { Initial::LocalOptima };
    let individuals = individuals(seed, count, initial);
    let late = || deadline.is_over();
    let Some(first) = genetic::first_individuals_until(instance, problem, &individuals, None, &late)? else {
        return Ok(None);
    };
    let mut population = cpu::population(problem, &individuals.spec(problem, deadline.stop), first)?;
    let state = population.run(0, &late)?;
    if late() {
        // The run is over: what matters is the best tour so far.
        let best = if state.best_cost < problem.unit_cost() { Some(population.best_tour()?) } else { None };
        return Ok(best.map(|tours| Starts { count: 1, tours, cost: state.best_cost }));
    }
    let mut tours = Vec::with_capacity(n as usize * count as usize);
    for place in 0..count {
        tours.extend(population.individual(place)?);
    }
    // The start tour that was made before takes the last one's place, if it is shorter than all of them.
    if problem.unit_cost() < state.best_cost {
        let last = tours.len() - n as usize;
        (0..n).zip(&mut tours[last..]).for_each(|(node, to)| *to = node);
    }
    Ok(Some(Starts { count, tours, cost: state.best_cost.min(problem.unit_cost()) }))
}

/// Seconds that crossing takes until nothing can come of the tours any more, about: the more, the larger, and the worse
/// they are. `rate` are the kicks a second of one thread; several threads are as many times as fast as the square root of their
/// number says.
fn seconds(n: u32, count: u32, kicks_a_node: f64, (rate, threads): (f64, u32)) -> f64 {
    let threads = f64::from(threads).sqrt();
    f64::from(count) * f64::from(n).powf(1.4) / (A_KICK * rate * threads * kicks_a_node.min(1.0).sqrt())
}

/// Tours to begin with: as many as can be crossed after their kicks, of which so many are made in a second. At most [`MOST`].
fn at_first(n: u32, Means { kicks, threads, .. }: Means, time: f64) -> u32 {
    let fits = |&count: &u32| {
        let kicks_a_node = kicks * SHARE * time / f64::from(n) / f64::from(count) - BEGINS;
        kicks_a_node > 0.0 && seconds(n, count, kicks_a_node, (THREAD, threads)) <= (1.0 - SHARE) * time
    };
    (1..=MOST).rev().find(fits).unwrap_or(0)
}

/// What kicks there were.
pub struct Kicks {
    /// Of each tour.
    pub each: u64,
    /// Of all threads in a second.
    pub rate: f64,
    /// Steps of their walks.
    pub walk: u32,
}

impl Kicks {
    /// Kicks take longer the longer their walks are: kicks of a usual length that a thread makes in a second.
    fn of_a_thread(&self, threads: u32) -> f64 {
        self.rate / f64::from(threads) * f64::from(40 + self.walk) / 60.0
    }
}

/// Of tours as many as can be crossed in the time that is left, the shortest ones: on slow threads fewer than were kicked, but
/// [`FEWEST`] where there are so many.
fn as_many_as_fit(plan: &Plan, tours: Vec<u32>, kicks: Kicks, time: Duration) -> Vec<u32> {
    let threads = plan.means.threads;
    if plan.means.on_gpus {
        return tours;
    }
    let n = plan.problem.n();
    let length = |tour: &&[u32]| plan.problem.length(tour).unwrap_or(i64::MAX);
    let mut all: Vec<&[u32]> = tours.chunks_exact(n as usize).collect();
    let kicks_a_node = kicks.each as f64 / f64::from(n);
    let one = seconds(n, 1, kicks_a_node, (kicks.of_a_thread(threads), threads));
    let count = ((time.as_secs_f64() / one) as usize).max(FEWEST as usize).min(all.len());
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

/// When kicks end and crossing begins, of tours that began at some time of the run.
pub fn kicked(stop: &Stop, began: Duration) -> Option<Duration> {
    stop.time.map(|time| began + time.saturating_sub(began).mul_f64(SHARE))
}

/// What few nodes begin anew with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anew {
    /// Tours with so many kicks each before they are crossed, unless the time for kicks is over before.
    Kicked(u64),
    /// Tours without kicks. Sometimes they lead where those with kicks do not, which are more alike.
    LocalOptima,
}

/// What a run begins with when it has begun so many times before; nothing in particular if it has many nodes. Tours with kicks and
/// those without take turns, and each time there are twice as many kicks.
pub fn anew(n: u32, times: u32) -> Option<Anew> {
    let kicks = || (A_NODE * f64::from(n) * 2f64.powf(f64::from(times / 2))).ceil() as u64;
    let begins = || if times.is_multiple_of(2) { Anew::Kicked(kicks()) } else { Anew::LocalOptima };
    (n <= MOST_RESTARTED).then(begins)
}

/// An instance with the lists by which [`Anew::LocalOptima`] are crossed, in the numbering of `problem`. None if it has many nodes,
/// or a matrix: lists are of the nearest nodes there anyway.
pub fn by_nearest(instance: &Instance, problem: &Problem) -> Option<Problem> {
    let near = || nearest(instance, NEAREST.min(instance.len() - 1));
    let has_others = problem.n() <= MOST_RESTARTED && instance.points().is_some();
    has_others.then(|| Problem::for_search(instance, &near(), problem.start_tour().to_vec()))
}

/// A population of tours with kicks, without those for which the time is too short.
///
/// # Errors
/// If it does not fit the memory.
pub fn of_kicked<'a>(
    plan: &Plan<'a>,
    seed: u64,
    (tours, kicks): (Vec<u32>, Kicks),
    time: Duration,
    stop: &Stop,
) -> Result<Box<dyn Population + 'a>, BackendError> {
    population(plan.problem, seed, as_many_as_fit(plan, tours, kicks, time), stop)
}

/// A population of tours.
///
/// # Errors
/// If it does not fit the memory.
pub fn population<'a>(
    problem: &'a Problem,
    seed: u64,
    tours: Vec<u32>,
    stop: &Stop,
) -> Result<Box<dyn Population + 'a>, BackendError> {
    let count = (tours.len() / problem.n() as usize) as u32;
    let spec = individuals(seed, count, Initial::File).spec(problem, stop);
    let mut population = cpu::population(problem, &spec, FirstIndividuals::Given(tours))?;
    // Tours that are all one are exhausted already, and a generation would replace them.
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
            pool.install(|| at_first(n, Means::of(&Backend::open(Choice::Cpu).unwrap().0), time))
        };
        // 33 tours of 10,000 nodes have .0615 kicks a node in five seconds, and are crossed in 4.8; 34 would take 5.2.
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
    fn better_tours_are_crossed_faster_and_faster_threads_cross_faster() {
        let base = seconds(10_000, 50, 0.1, (1e4, 1));
        assert!(seconds(10_000, 50, 0.2, (1e4, 1)) < base && seconds(10_000, 50, 0.1, (2e4, 1)) < base);
        assert!(seconds(10_000, 60, 0.1, (1e4, 1)) > base && seconds(12_000, 50, 0.1, (1e4, 1)) > base);
        assert_eq!(seconds(10_000, 50, 0.1, (1e4, 4)), base / 2.0);
        // Without a kick there is no end.
        assert_eq!(seconds(10_000, 50, 0.0, (1e4, 1)), f64::INFINITY);
    }

    #[test]
    fn few_nodes_begin_anew_with_and_without_kicks() {
        let all: Vec<_> = (0..5).map(|times| anew(1000, times)).collect();
        let kicked = |kicks| Some(Anew::Kicked(kicks));
        let none = Some(Anew::LocalOptima);
        assert_eq!(all, [kicked(50), none, kicked(100), none, kicked(200)]);
        assert_eq!((anew(5000, 0), anew(5001, 0), anew(5001, 1)), (kicked(250), None, None));
    }
}
