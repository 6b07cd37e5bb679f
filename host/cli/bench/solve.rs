//! `antwarp bench solve`: any options of `antwarp solve`.

use serde_json::json;

use super::super::{Error, Outcome, Result};
use super::table::{Column, How::Mean, How::Per, Suite};
use super::{Asked, Bench, Cell, Common, Measured, facts};
use crate::backend::Backend;
use crate::engine::{Progress, StopReason};

/// Columns for whole runs of a solver.
pub const COLUMNS: &[Column; 4] = &[
    ("seconds", "seconds", Mean, 3),
    ("set-up s", "setup_seconds", Mean, 4),
    ("search s", "search_seconds", Mean, 4),
    ("tours/s", "tours", Per("search_seconds"), 0),
];

/// The tables of the suite.
pub const SUITE: Suite = Suite { name: "solve", columns: COLUMNS, sizes: &[], curve: &[] };

/// Measures and prints.
pub fn run(common: &Common) -> Result<Outcome> {
    measure(&SUITE, common, &[], &["time=10s"])
}

/// Measures whole runs, whose lines start with the `fixed` options, and prints the tables of the suite. `defaults` are `OPTION=LIST`, as
/// for `--vary`, for options that are not given.
///
/// # Errors
/// If the line is wrong, an instance cannot be read, a run fails, or an output cannot be written.
pub fn measure(suite: &Suite, common: &Common, fixed: &[&str], defaults: &[&str]) -> Result<Outcome> {
    let bench = Bench::of_tours(common, &[])?;
    let cells = bench.cells(fixed, defaults)?;
    let run = |cell: &Cell, seed, backend: &Backend| {
        let Asked { algorithm, initial, stop } = bench.asked(cell, seed)?;
        let solver = facts(&algorithm)?.2;
        let instance = &bench.instances[cell.at];
        let solution = algorithm.solve(instance, initial, (backend, &stop), &mut |_: &Progress| {}, None)?;
        if let Some(failure) = solution.failure {
            return Err(Error::RunFailed(format!("{}, seed {seed}: {failure}", cell.instance)));
        }
        Ok((solution.stopped_by != StopReason::Interrupt).then(|| Measured {
            solver,
            setup_seconds: Some(solution.setup_seconds),
            seconds: Some(solution.seconds),
            iterations: solution.iterations,
            result: instance.tour_cost(&solution.tour),
            layout: solution.layout,
            values: vec![
                ("search_seconds", json!(solution.seconds - solution.setup_seconds)),
                ("tours", json!(solution.tours)),
                ("best_iteration", json!(solution.best_iteration)),
                ("stopped_by", json!(solution.stopped_by)),
            ],
            ..Measured::default()
        }))
    };
    bench.measure(suite, (bench.open(&cells)?, 1), &cells, run)
}
