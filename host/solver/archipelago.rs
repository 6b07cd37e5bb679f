//! Several islands in one process: a run on each of several backends, all at the same time.

use std::cell::{Cell, RefCell};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::resumed::Island;
use super::side_by_side::{self, Hurry};
use super::{Algorithm, Solution, SolveError};
use crate::backend::Backend;
use crate::engine::{BackendError, Observe, Post, Progress, Snapshot, Stop, StopReason, Voyager};
use crate::instance::Instance;

/// Solves an instance by an island on each backend, with [its own seed](Algorithm::of_island). They exchange tours, unless the run
/// is limited by a number of iterations, which each of them then does. Once one has reached the target all end, except in a run
/// limited by iterations, which is reproducible.
///
/// The solution is the best one. Its number of tours is that of all islands; its iterations and layout are those of the island that
/// found it.
///
/// # Errors
/// As [`Algorithm::solve`], if every island fails before it has a tour. Other failures are reported in the solution.
///
/// # Panics
/// If there is no backend.
pub fn solve(
    algorithm: &Algorithm,
    instance: &Instance,
    initial: Option<Vec<u32>>,
    backends: &[&Backend],
    stop: &Stop,
    observe: &mut dyn Observe,
) -> Result<Solution, SolveError> {
    assert!(!backends.is_empty(), "an archipelago has an island");
    if let [backend] = backends {
        return algorithm.solve(instance, initial, (backend, stop), observe, None);
    }
    let islands = (0..backends.len() as u32).map(|number| Island { number, state: None }).collect();
    run(algorithm, (instance, initial), (islands, backends), stop, observe)
}

/// As [`solve`], with islands that continue, one on each backend.
///
/// # Errors
/// As [`solve`].
pub(super) fn resume(
    algorithm: &Algorithm,
    instance: &Instance,
    (islands, backends): (Vec<Island>, &[Backend]),
    stop: &Stop,
    observe: &mut dyn Observe,
) -> Result<Solution, SolveError> {
    let backends: Vec<&Backend> = backends.iter().collect();
    run(algorithm, (instance, None), (islands, &backends), stop, observe)
}

/// Observes an island.
pub(super) struct Islander<'a, C = i64, B = Vec<u32>> {
    /// Given its progress.
    pub progress: &'a mut dyn FnMut(&Progress<C>),
    /// Takes its checkpoints.
    pub recorder: Option<Box<dyn Observe<C, B> + Send>>,
}

impl<C, B> Observe<C, B> for Islander<'_, C, B> {
    fn progress(&mut self, progress: &Progress<C>) {
        (self.progress)(progress);
    }

    fn wants_checkpoint(&mut self, is_end: bool) -> bool {
        self.recorder.as_mut().is_some_and(|recorder| recorder.wants_checkpoint(is_end))
    }

    fn checkpoint(&mut self, snapshot: Result<Snapshot<C, B>, BackendError>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.checkpoint(snapshot);
        }
    }

    fn no_checkpoint(&mut self) {
        self.recorder.iter_mut().for_each(|recorder| recorder.no_checkpoint());
    }

    fn keeps_checkpoints(&self) -> bool {
        self.recorder.is_some()
    }
}

fn run(
    algorithm: &Algorithm,
    (instance, initial): (&Instance, Option<Vec<u32>>),
    (islands, backends): (Vec<Island>, &[&Backend]),
    stop: &Stop,
    observe: &mut dyn Observe,
) -> Result<Solution, SolveError> {
    let begin = Instant::now();
    let count = backends.len() as u32;
    let posts: Vec<Post> = (0..count).map(Post::new).collect();
    // Each island's thread takes its own.
    let mut recorders = observe.for_each_run(count).into_iter();
    let own = |island| Mutex::new(Some((island, recorders.next())));
    let islands: Vec<_> = islands.into_iter().map(own).collect();
    let exchanges = stop.iterations.is_none();
    let hurry = Hurry::default();
    let own = hurry.stop(stop);
    let reach = |cost: i64| {
        if exchanges && stop.target.is_some_and(|target| cost <= target) {
            hurry.up();
        }
    };
    let island = |index: u32, told: &mut dyn FnMut(&Progress)| {
        let (backend, post) = (backends[index as usize], &posts[index as usize]);
        let taken = islands[index as usize].lock().unwrap_or_else(PoisonError::into_inner).take();
        let (Island { number, state }, recorder) = taken.unwrap_or_default();
        let (algorithm, initial) = (algorithm.clone().of_island(number), initial.clone());
        let progress = &mut |progress: &Progress| {
            reach(progress.best_cost);
            told(progress);
        };
        let observe = &mut Islander { progress, recorder };
        let solved =
            algorithm.solve_as_island(instance, (initial, state), (backend, &own), (observe, post), None);
        solved.inspect(|solution| reach(solution.cost))
    };
    let (observe, least) = (RefCell::new(observe), Cell::new(i64::MAX));
    let hear = |last: &[Option<Progress>], progress: Progress| {
        let mut observe = observe.borrow_mut();
        observe.each(last);
        observe.progress(&together(last, progress));
    };
    let carry = || {
        carry(&posts, exchanges, &mut |voyager| {
            if voyager.cost < least.replace(least.get().min(voyager.cost)) {
                observe.borrow_mut().better(voyager.cost, &voyager.tour);
            }
        });
    };
    let ended = side_by_side::run(count, stop, &hurry, island, hear, carry);
    best_of(ended, begin, stop)
}

/// Shows what each island has sent, and carries it to all others if they exchange tours.
fn carry(posts: &[Post], exchanges: bool, show: &mut dyn FnMut(&Voyager)) {
    for (from, post) in posts.iter().enumerate() {
        let Some(voyager) = post.collect() else { continue };
        show(&voyager);
        if !exchanges {
            continue;
        }
        let others = posts.iter().enumerate().filter(|&(to, _)| to != from);
        others.for_each(|(_, other)| other.deliver(voyager.clone()));
    }
}

/// Combines the progress of all islands; `last` is the latest report.
fn together(all: &[Option<Progress>], last: Progress) -> Progress {
    let all = || all.iter().flatten();
    Progress {
        best_cost: all().map(|p| p.best_cost).min().unwrap_or(last.best_cost),
        tours: all().map(|p| p.tours).sum(),
        ..last
    }
}

/// Returns the best solution, the first one of equals, with the tours of all, and the first failure.
fn best_of(
    ended: Vec<Result<Solution, SolveError>>,
    begin: Instant,
    stop: &Stop,
) -> Result<Solution, SolveError> {
    let count = ended.len();
    let (mut best, mut failed): (Option<Solution>, Option<SolveError>) = (None, None);
    let (mut tours, mut failure) = (0, None);
    for ended in ended {
        match ended {
            Ok(solution) => {
                tours += solution.tours;
                failure = failure.or_else(|| solution.failure.clone());
                if best.as_ref().is_none_or(|best| solution.cost < best.cost) {
                    best = Some(solution);
                }
            }
            Err(error) => {
                failure = failure.or_else(|| Some(error.to_string()));
                failed.get_or_insert(error);
            }
        }
    }
    let Some(best) = best else {
        return Err(failed.unwrap_or_else(|| SolveError::Settings("there is no backend".to_string())));
    };
    let stopped_by = match best.stopped_by {
        // Islands that are interrupted do not know why.
        StopReason::Interrupt if stop.target.is_some_and(|target| best.cost <= target) => StopReason::Target,
        reason => reason,
    };
    let layout = format!("{count} islands, the best one: {}", best.layout);
    let seconds = (stop.before + begin.elapsed()).as_secs_f64();
    Ok(Solution { tours, failure, stopped_by, layout, seconds, ..best })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use super::*;
    use crate::backend::Choice;
    use crate::instance::generate;
    use crate::solver::papers::genetic::{Crossover, GeneticSettings};
    use crate::solver::{acs, ils, lin_kernighan, mmas};

    fn cpus(count: usize) -> Vec<Backend> {
        (0..count).map(|_| Backend::open(Choice::Cpu).unwrap().0).collect()
    }

    fn run(algorithm: &Algorithm, instance: &Instance, count: usize, stop: &Stop) -> Solution {
        let cpus = cpus(count);
        let backends: Vec<&Backend> = cpus.iter().collect();
        let mut least = i64::MAX;
        let observe = &mut |progress: &Progress| least = least.min(progress.best_cost);
        let solution = solve(algorithm, instance, None, &backends, stop, observe).unwrap();
        assert_eq!(instance.check_tour(&solution.tour).ok(), Some(solution.cost));
        assert!(solution.cost <= least && solution.failure.is_none());
        solution
    }

    fn all() -> Vec<Algorithm> {
        let genetic = |crossover| GeneticSettings { population: Some(32), ..GeneticSettings::of(crossover) };
        let best = ils::IlsSettings { improvement: ils::Improvement::Best, ..Default::default() };
        let deep = mmas::MmasSettings {
            local_search: Some(crate::engine::LocalSearch::Lk),
            ..mmas::MmasSettings::default()
        };
        vec![
            Algorithm::LinKernighan(lin_kernighan::LinKernighanSettings::default()),
            Algorithm::LinKernighan(lin_kernighan::LinKernighanSettings {
                chains: Some(1),
                ..Default::default()
            }),
            Algorithm::Ils(best),
            Algorithm::Mmas(mmas::MmasSettings::default()),
            Algorithm::Mmas(deep),
            Algorithm::Acs(acs::AcsSettings::default()),
            Algorithm::Genetic(GeneticSettings { groups: 2, ..genetic(Crossover::Scx) }),
            Algorithm::Genetic(genetic(Crossover::Eax)),
        ]
    }

    #[test]
    fn islands_exchange_tours_whatever_the_algorithm() {
        let instance = generate::uniform(400, 1).unwrap();
        for algorithm in all() {
            let solution = run(&algorithm, &instance, 3, &Stop::after(Duration::from_millis(700)));
            assert!(solution.layout.starts_with("3 islands"), "{}", solution.layout);
            assert_eq!(solution.stopped_by, StopReason::Time, "{}", algorithm.name());
        }
    }

    #[test]
    fn many_nodes_keep_their_numbers() {
        let instance = generate::uniform(crate::solver::haste::MANY, 1).unwrap();
        let lin_kernighan = Algorithm::LinKernighan(lin_kernighan::LinKernighanSettings::default());
        run(&lin_kernighan, &instance, 2, &Stop::after(Duration::from_secs(6)));
    }

    #[test]
    fn a_number_of_iterations_is_the_same_run_every_time() {
        let instance = generate::uniform(300, 2).unwrap();
        let stop = Stop { iterations: Some(500), ..Stop::never() };
        let lin_kernighan = Algorithm::LinKernighan(lin_kernighan::LinKernighanSettings::default());
        let [one, two] = [0, 1].map(|_| run(&lin_kernighan, &instance, 3, &stop));
        assert_eq!((one.cost, &one.tour, one.tours), (two.cost, &two.tour, two.tours));
        assert_eq!(one.stopped_by, StopReason::Iterations);
        // The first island does the same as a single run.
        assert!(one.cost <= run(&lin_kernighan, &instance, 1, &stop).cost);
    }

    #[test]
    fn whoever_reaches_the_target_ends_all() {
        let instance = generate::uniform(200, 3).unwrap();
        let lin_kernighan = Algorithm::LinKernighan(lin_kernighan::LinKernighanSettings::default());
        let found = run(&lin_kernighan, &instance, 2, &Stop::after(Duration::from_secs(1)));
        let stop = Stop { target: Some(found.cost), ..Stop::after(Duration::from_secs(60)) };
        let solution = run(&lin_kernighan, &instance, 2, &stop);
        assert_eq!(solution.stopped_by, StopReason::Target);
        assert!(solution.cost <= found.cost && solution.seconds < 30.0);
    }

    #[test]
    fn an_interrupt_ends_all() {
        let instance = generate::uniform(1000, 3).unwrap();
        let (stop, cpus) = (Stop::never(), cpus(2));
        let interrupt = stop.interrupt.clone();
        let backends: Vec<&Backend> = cpus.iter().collect();
        let mmas = Algorithm::Mmas(mmas::MmasSettings::default());
        let observe = &mut |_: &Progress| interrupt.store(true, Ordering::Relaxed);
        let solution = solve(&mmas, &instance, None, &backends, &stop, observe).unwrap();
        assert_eq!(solution.stopped_by, StopReason::Interrupt);
    }
}
