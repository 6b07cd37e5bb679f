//! `antwarp bench ga`: convergence of the genetic algorithm by crossover.

use std::sync::atomic::Ordering;

use antwarp_core::papers::ants::colony::ColonyState;
use serde_json::{Value, json};

use super::super::options::finite;
use super::super::{Error, Outcome, Result};
use super::colony::{Course, advance, checked, limit};
use super::table::{How::Count, How::Mean, How::Median, Suite};
use super::{Bench, Cell, Common, FOREIGN_ENDS, Measured, facts, wrong_algorithm};
use crate::backend::Backend;
use crate::engine::Population;
use crate::engine::Stop;
use crate::report::gap_percent;
use crate::solver::Algorithm;
use crate::solver::genetic::first_individuals;

/// Generations before timing starts.
const WARM_UP: u32 = 2;

/// Arguments of `antwarp bench ga`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Gap to the best known length, (length - best) / best; the first generation that reaches it is recorded
    #[arg(long, value_name = "F", default_value_t = 0.1, value_parser = finite)]
    epsilon: f64,
    /// Also record the course of runs: at generations 0, 1, 2, 4, 8 and so on, and at the end
    #[arg(long)]
    curve: bool,
    #[command(flatten)]
    common: Common,
}

/// The tables of the suite.
pub const SUITE: Suite = Suite {
    name: "ga",
    columns: &[
        ("first gap %", "first_gap_percent", Mean, 2),
        ("reached", "reached_generation", Count, 0),
        ("at gen.", "reached_generation", Mean, 1),
        ("ms/gen.", "generation_ms", Median, 4),
        ("seconds", "seconds", Mean, 3),
    ],
    sizes: &[],
    curve: &POINT,
};

/// The values of a point of a curve. Seconds exclude set-up but include generating the first individuals.
const POINT: [&str; 6] =
    ["generation", "seconds", "best_cost", "best_gap_percent", "mean_cost", "mean_gap_percent"];

/// Measures and prints.
pub fn run(args: &Args) -> Result<Outcome> {
    if !(args.epsilon >= 0.0 && args.epsilon <= 1e6) {
        return Err(Error::Usage("--epsilon must be between 0 and 1000000".to_owned()));
    }
    let bench = Bench::of_tours(&args.common, &FOREIGN_ENDS)?;
    let mut cells = bench.cells(&["--algorithm=ga"], &["crossover=bcscx,arx,hybrid", "iterations=100"])?;
    for cell in &mut cells {
        cell.settings.insert("epsilon".to_owned(), json!(args.epsilon));
    }
    let run = |cell: &Cell, seed, backend: &Backend| args.measure(&bench, cell, seed, backend);
    bench.measure(&SUITE, (bench.open(&cells)?, 1), &cells, run)
}

impl Args {
    /// Runs once; `None` if interrupted. The generation that first reaches the gap is found by a second run with the same seed that
    /// ends there, so the timed run need not be checked after every generation.
    fn measure(
        &self,
        bench: &Bench<'_>,
        cell: &Cell,
        seed: u64,
        backend: &Backend,
    ) -> Result<Option<Measured>> {
        let asked = bench.asked(cell, seed)?;
        let Algorithm::Genetic(settings) = &asked.algorithm else { return Err(wrong_algorithm()) };
        let instance = &bench.instances[cell.at];
        let problem = &bench.problem(cell, Some(1), settings.neighbors, false)?;
        let begin = |target| -> Result<Box<dyn Population + '_>> {
            let spec = settings.spec(problem, &Stop { target, ..Stop::never() });
            let first = first_individuals(instance, problem, settings, asked.initial.clone())?;
            Ok(backend.population(problem, &spec, first)?)
        };
        let gap = |cost: i64| cell.known.and_then(|known| gap_percent(cost, known.cost));
        let stop = Stop { target: None, ..asked.stop.clone() };
        let limit = limit(&stop);
        let mut population = begin(None)?;
        let course = Course::begin(&stop, backend);
        let mut curve = Vec::new();
        let mut warm = None;
        let mut seen = |state: &ColonyState| {
            let seconds = course.seconds();
            let (done, best, mean) = (state.iterations, state.best_cost, state.iteration_cost);
            if done == WARM_UP.min(limit / 2) {
                warm = Some((done, seconds));
            }
            let rounded = |value: f64| (value * 1e4).round() / 1e4;
            let [of_best, of_mean] = [best, mean].map(|cost| json!(gap(cost).map(rounded)));
            let values = [json!(done), json!(rounded(seconds)), json!(best), of_best, json!(mean), of_mean];
            curve.push(POINT.iter().map(|name| name.to_string()).zip(values).collect::<Value>());
        };
        let first = population.run(0, &|| stop.interrupt.load(Ordering::Relaxed))?;
        seen(&first);
        let last = advance(population.as_mut(), (0, limit), &course, &mut seen)?;
        let Some(last) = last else { return Ok(None) };
        let seconds = course.seconds();
        let cost = checked(instance, problem, &population.best_tour()?, last.best_cost)?;
        let each = warm.filter(|(done, _)| last.iterations > *done);
        let each = each.map(|(done, from)| (seconds - from) * 1e3 / f64::from(last.iterations - done));
        let target = cell.known.map(|known| (known.cost as f64 * (1.0 + self.epsilon)).floor() as i64);
        let reached = match target.filter(|&target| cost <= target) {
            Some(target) if first.best_cost > target => {
                let stop = Stop { target: Some(target), time: None, ..stop.clone() };
                let (course, until) = (Course::begin(&stop, backend), (0, last.iterations));
                let again = advance(begin(stop.target)?.as_mut(), until, &course, &mut |_| {})?;
                let Some(again) = again else { return Ok(None) };
                Some(again.iterations)
            }
            near => near.map(|_| 0),
        };
        Ok(Some(Measured {
            solver: facts(&asked.algorithm)?.2,
            seconds: Some(seconds),
            iterations: last.iterations.into(),
            result: instance.cost(cost),
            layout: population.describe(),
            values: vec![
                ("first_gap_percent", json!(gap(first.best_cost))),
                ("reached_generation", json!(reached)),
                ("generation_ms", json!(each)),
                ("curve", json!(self.curve.then_some(curve))),
            ],
            ..Measured::default()
        }))
    }
}
