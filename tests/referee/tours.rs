//! Random tours: instances of few nodes, of which the judge knows the optimum, and of some more.

use antwarp::bound::held_karp;
use antwarp::instance::tour_file;
use antwarp::prelude::*;
use antwarp::solver::exact;
use antwarp::solver::genetic::{Crossover, Initial};

use crate::draws::Draws;
use crate::files::File;
use crate::soak::{Machine, Tally, instance};
use crate::{judge, settings};

/// Most nodes of which the judge tells the optimum.
const FEW: usize = 15;
/// Most nodes.
const MOST: usize = 150;
/// Iterations in which the default algorithm finds the optimum of a few nodes.
const SURE: u64 = 100;

/// An instance that is to be solved, and what is right.
struct Judged {
    instance: Instance,
    file: File,
    /// Of a few nodes.
    optimum: Option<i64>,
}

/// A random end of a run.
fn stop(draws: &mut Draws, optimum: i64) -> Stop {
    let iterations = Some(1 + draws.below(200) as u64);
    match draws.below(10) {
        0 => Stop::after(Duration::from_millis(draws.below(25) as u64)),
        1 => Stop { time: Some(Duration::from_millis(5)), iterations, ..Stop::never() },
        2 | 3 => {
            let target = Some(optimum + draws.one_of(&[-1, 0, optimum / 10]));
            Stop { iterations, target, ..Stop::never() }
        }
        4 => Stop { iterations, stagnation: Some(draws.below(20) as u64), ..Stop::never() },
        _ => Stop { iterations, ..Stop::never() },
    }
}

/// A random tour of an instance, if an algorithm begins with one; or a population.
fn initial(draws: &mut Draws, n: usize, algorithm: &mut Algorithm) -> Option<Vec<u32>> {
    let mut tour = |_| {
        let mut tour: Vec<u32> = (0..n as u32).collect();
        draws.shuffle(&mut tour);
        tour
    };
    match algorithm {
        Algorithm::LinKernighan(_) | Algorithm::Ils(_) => Some(tour(0)),
        Algorithm::Genetic(settings) => {
            settings.initial = Initial::File;
            Some((0..settings.individuals()).flat_map(tour).collect())
        }
        Algorithm::Mmas(_) | Algorithm::Acs(_) => None,
    }
}

/// Solves an instance: through [`Solver`] on CPU threads, with the device at hand on that.
fn solve(
    machine: &Machine,
    draws: &mut Draws,
    (instance, algorithm): (&Instance, &Algorithm),
    initial: Option<Vec<u32>>,
    stop: &Stop,
) -> Result<Solution, SolveError> {
    let is_eax = matches!(algorithm, Algorithm::Genetic(settings) if settings.crossover == Crossover::Eax);
    // Opening a device takes longer than such a run.
    if let Some(device) = machine.device.as_ref().filter(|_| !is_eax) {
        return algorithm.solve(instance, initial, (device, stop), &mut |_: &Progress| (), None);
    }
    machine.pool(draws).install(|| {
        let solver = Solver::default().algorithm(algorithm.clone()).backend(Choice::Cpu);
        let solver = if let Some(tours) = initial { solver.initial(tours) } else { solver };
        solver.solve(instance, stop.clone())
    })
}

/// Solves a random instance in a random way.
pub fn case(
    machine: &Machine,
    draws: &mut Draws,
    tally: &mut Tally,
    told: &mut String,
) -> Result<(), String> {
    let n = if draws.chance(0.9) { 1 + draws.below(FEW) } else { FEW + draws.below(MOST - FEW) };
    let (instance, file) = instance(machine, draws, n, told)?;
    let optimum = (n <= FEW).then(|| file.judge.optimum());
    let judged = Judged { instance, file, optimum };
    let is_default = draws.chance(0.25);
    let mut algorithm = match is_default {
        true => Algorithm::default(),
        false => settings::random(draws, judged.file.is_symmetric, machine.is_cuda()),
    };
    let label = if is_default { "default ".to_owned() } else { String::new() } + &settings::label(&algorithm);
    let in_order: Vec<u32> = (0..n as u32).collect();
    let goal = optimum.or(judged.length(&in_order)).unwrap_or(0);
    let stop = stop(draws, goal);
    let initial = if draws.chance(0.2) { initial(draws, n, &mut algorithm) } else { None };
    *told += &format!("\n{algorithm:?}\n{stop:?}\ninitial {initial:?}, optimum {optimum:?}");
    let tours = initial.iter().flat_map(|tours| tours.chunks(n));
    let given = tours.filter_map(|tour| judged.length(tour)).min();
    let solved = solve(machine, draws, (&judged.instance, &algorithm), initial, &stop);
    if !judged.file.judge.fixed.is_empty() {
        return match solved {
            Err(SolveError::Unsupported { .. }) if n > exact::FEW_OF_OTHERS => Ok(()),
            // Its length is none without the fixed edges.
            Ok(solution) if judged.length(&solution.tour) == Some(solution.cost) => Ok(()),
            other => Err(format!("fixed edges are not used: {other:?}")),
        };
    }
    let solution = solved.map_err(|error| error.to_string())?;
    judged.check(&solution, &stop)?;
    if given.is_some_and(|given| solution.cost > given) {
        return Err(format!("{} is longer than what the run began with, {given:?}", solution.cost));
    }
    let is_long = stop.iterations >= Some(SURE) && stop.time.is_none() && stop.stagnation.is_none();
    let is_sure =
        is_default && is_long && judged.file.is_symmetric && stop.target.is_none_or(|target| target <= goal);
    if is_sure && optimum.is_some_and(|optimum| solution.cost > optimum) {
        return Err(format!("the default algorithm found {}, not {optimum:?}", solution.cost));
    }
    let size = if optimum.is_some() { "" } else { ", many nodes" };
    tally.count(label + size, optimum.map(|optimum| solution.cost == optimum));
    judged.check_bound(machine, draws, optimum.unwrap_or(solution.cost), tally)
}

impl Judged {
    /// The judge's length of a tour in the instance's numbering.
    fn length(&self, tour: &[u32]) -> Option<i64> {
        let ids: Vec<i64> = tour.iter().map(|&node| self.instance.id(node).into()).collect();
        self.file.judge.length(&ids).ok()
    }

    /// Whether a solution is what it says.
    fn check(&self, solution: &Solution, stop: &Stop) -> Result<(), String> {
        let mut written = Vec::new();
        tour_file::write(&self.instance, &solution.tour, solution.cost, &mut written).unwrap();
        let written = String::from_utf8(written).unwrap();
        let length = self.file.judge.length(&judge::tour::read(&written))?;
        let wrong = |what: &str| Err(format!("{what}: {solution:?}"));
        if length != solution.cost {
            return wrong(&format!("the tour's length is {length}"));
        }
        if self.optimum.is_some_and(|optimum| length < optimum) {
            return wrong("the tour is shorter than the optimum");
        }
        if solution.stopped_by == StopReason::Optimal && Some(length) != self.optimum {
            return wrong("all tours were looked at, but the best one was not found");
        }
        let target = stop.target.or_else(|| self.instance.best_known().map(|known| known.cost));
        if solution.stopped_by == StopReason::Target && target.is_none_or(|target| length > target) {
            return wrong("the target was not reached");
        }
        if solution.failure.is_some() {
            return wrong("the run failed");
        }
        if solution.trace.iter().any(|better| better.cost < solution.cost) {
            return wrong("a shorter tour was found and lost");
        }
        if !solution.trace.is_sorted_by(|before, after| before.cost > after.cost) {
            return wrong("the trace has a length that is not better");
        }
        Ok(())
    }

    /// Whether the lower bound is one; no tour is known that is shorter than `least`.
    fn check_bound(
        &self,
        machine: &Machine,
        draws: &mut Draws,
        least: i64,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let trees = draws.one_of(&[None, Some(1), Some(30), Some(30), Some(300)]);
        let time = draws.one_of(&[None, None, Some(Duration::ZERO), Some(Duration::from_millis(2))]);
        let stop = Stop { time, ..Stop::never() };
        let find = || held_karp(&self.instance, trees, &stop, &|| false);
        let bound = machine.pool(draws).install(find).ok_or("there is no bound")?;
        tally.count("bound".to_owned(), self.optimum.map(|optimum| bound.length == optimum));
        if bound.length > least { Err(format!("{bound:?} is above {least}")) } else { Ok(()) }
    }
}
