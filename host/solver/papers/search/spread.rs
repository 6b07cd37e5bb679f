//! Walks on several GPUs: a search on each, all at the same time, of which the best solution counts. They exchange nothing: walks
//! seek apart, and those that recombine do so with others on their GPU.

use std::sync::{Mutex, PoisonError};

use antwarp_core::papers::problem::Element;
use antwarp_core::rng::Stream;

use super::{Found, SearchSettings, Solutionless, search_on_one};
use crate::backend::Backend;
use crate::backend::cpu::OnThreads;
use crate::engine::{Cost, Observe, Progress, Stop, StopReason, Tables};
use crate::solver::SolveError;
use crate::solver::archipelago::Islander;
use crate::solver::resumed::Island;
use crate::solver::side_by_side::{self, Hurry};

/// The step of the draws of seeds.
const SEEDS: u32 = u32::MAX - 1;

/// As [`search`](super::search), with as many walks as the settings say on each backend. Once one reaches the target all of
/// them end, except in a run limited by iterations, which must be the same every time.
///
/// # Errors
/// As [`search`](super::search), if none has a solution.
pub(super) fn on_each<P: OnThreads>(
    backends: &[Backend],
    tables: &Tables,
    settings: &SearchSettings,
    stop: &Stop,
    (observe, islands): (&mut dyn Observe<Cost, ()>, Vec<Island>),
) -> Result<Found<Vec<Element<P>>>, SolveError> {
    let hurry = Hurry::default();
    let own = hurry.stop(stop);
    // Each search's thread takes its own.
    let mut recorders = observe.for_each_run(backends.len() as u32).into_iter();
    let with_recorder = |island| Mutex::new(Some((island, recorders.next())));
    let islands: Vec<_> = islands.into_iter().map(with_recorder).collect();
    let one = |index: u32, progress: &mut dyn FnMut(&Progress<Cost>)| {
        let taken = islands[index as usize].lock().unwrap_or_else(PoisonError::into_inner).take();
        let (Island { number, state }, recorder) = taken.unwrap_or_default();
        let settings = SearchSettings { seed: seed(settings.seed, number), ..settings.clone() };
        let observe = &mut Islander { progress, recorder };
        let observe = (&mut Solutionless(observe) as &mut dyn Observe<Cost, _>, state);
        let found = search_on_one::<P>(&backends[index as usize], tables, &settings, &own, observe);
        let is_enough = found.as_ref().is_ok_and(|found| found.stopped_by == StopReason::Target);
        if is_enough && own.iterations.is_none() {
            hurry.up();
        }
        found
    };
    let hear = |last: &[Option<Progress<Cost>>], progress: Progress<Cost>| {
        let all = || last.iter().flatten();
        let best_cost = all().map(|p| p.best_cost).fold(Cost::WORST, Cost::min);
        observe.progress(&Progress { best_cost, tours: all().map(|p| p.tours).sum(), ..progress });
    };
    let ended = side_by_side::run(backends.len() as u32, stop, &hurry, one, hear, || ());
    best_of(ended)
}

/// Returns the seed of a search; the first one has that of the settings.
pub(super) fn seed(seed: u64, number: u32) -> u64 {
    let draws = Stream::new(seed, number, SEEDS).step(0);
    if number == 0 { seed } else { u64::from(draws.bits(0)) << 32 | u64::from(draws.bits(1)) }
}

/// Returns the best of all results, with the counts of all added up; the first failure, if there is no result.
fn best_of<S>(ended: Vec<Result<Found<S>, SolveError>>) -> Result<Found<S>, SolveError> {
    let count = ended.len();
    let (mut best, mut failed): (Option<Found<S>>, Option<SolveError>) = (None, None);
    for ended in ended {
        match (ended, &mut best) {
            (Err(error), _) => failed = failed.or(Some(error)),
            (Ok(found), None) => best = Some(found),
            (Ok(mut found), Some(best)) => {
                found.seconds = found.seconds.max(best.seconds);
                if found.cost < best.cost {
                    std::mem::swap(best, &mut found);
                }
                best.costs.append(&mut found.costs);
                best.evaluations += found.evaluations;
                best.descents += found.descents;
                best.failure = best.failure.take().or(found.failure);
                if found.stopped_by == StopReason::Target {
                    best.stopped_by = StopReason::Target;
                }
            }
        }
    }
    match (best, failed) {
        (Some(mut best), failed) => {
            best.layout = format!("{count} GPUs, each {}", best.layout);
            best.failure = best.failure.or(failed.map(|error| error.to_string()));
            Ok(best)
        }
        (None, Some(error)) => Err(error),
        (None, None) => Err(SolveError::Settings("there is no backend".to_string())),
    }
}

#[cfg(test)]
mod tests {
    use antwarp_core::papers::problem::MaxCut;

    use super::*;
    use crate::backend::Choice;
    use crate::solver::papers::search::{Strategy, problems};

    #[test]
    fn the_first_of_several_seeds_is_that_of_the_settings() {
        let seeds: Vec<u64> = (0..4).map(|number| seed(7, number)).collect();
        assert_eq!(seeds[0], 7);
        assert!((0..4).all(|i| (0..i).all(|j| seeds[i] != seeds[j])));
    }

    #[test]
    fn what_several_find_is_the_best_of_what_each_finds() {
        let tables = problems::MaxCut::random(150, 9, 1).unwrap().tables();
        let (strategy, blocks) = (Strategy::Ils, Some(1));
        let settings = SearchSettings { strategy, walks: 2, seed: 5, blocks, ..SearchSettings::default() };
        let stop = Stop { iterations: Some(300), ..Stop::never() };
        let cpus: Vec<Backend> = (0..3).map(|_| Backend::open(Choice::Cpu).unwrap().0).collect();
        let islands = (0..3).map(|number| Island { number, state: None }).collect();
        let observe: &mut dyn Observe<Cost, ()> = &mut |_: &Progress<Cost>| ();
        let together = on_each::<MaxCut>(&cpus, &tables, &settings, &stop, (observe, islands)).unwrap();
        let alone: Vec<_> = (0..3)
            .map(|number| {
                let settings = SearchSettings { seed: seed(5, number), ..settings.clone() };
                let observe = &mut |_: &Progress<Cost>| ();
                search_on_one::<MaxCut>(&cpus[0], &tables, &settings, &stop, (observe, None)).unwrap()
            })
            .collect();
        let best = alone.iter().min_by(|a, b| a.cost.partial_cmp(&b.cost).unwrap()).unwrap();
        assert_eq!((together.cost, &together.solution), (best.cost, &best.solution));
        let costs: Vec<Cost> = alone.iter().flat_map(|found| found.costs.clone()).collect();
        assert_eq!(together.costs.len(), 6);
        assert!(costs.iter().all(|cost| together.costs.contains(cost)));
        assert_eq!(together.evaluations, alone.iter().map(|found| found.evaluations).sum::<u64>());
    }
}
