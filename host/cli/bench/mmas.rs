//! `antwarp bench mmas`: the variants of MAX-MIN Ant System.

use super::super::{Outcome, Result};
use super::colony::{self, measure_ants};
use super::table::Suite;
use super::{Bench, Cell, Common, FOREIGN_ENDS, wrong_algorithm};
use crate::backend::Backend;
use crate::engine::Stop;
use crate::solver::Algorithm;

/// The tables of the suite.
pub const SUITE: Suite = Suite { name: "mmas", columns: colony::COLUMNS, sizes: &[], curve: &[] };

/// The parameters that the paper varies.
const DEFAULTS: [&str; 5] = [
    "candidates=all,32",
    "selection+tabu=wrs+list,wrs+compact,wrs+bitmask,rwm+list,rwm+compact,rwm+bitmask",
    "ants=n",
    "rho=0.5",
    "iterations=100",
];

/// Measures and prints.
pub fn run(common: &Common) -> Result<Outcome> {
    let bench = Bench::of_tours(common, &FOREIGN_ENDS)?;
    let cells = bench.cells(&["--algorithm=mmas"], &DEFAULTS)?;
    let run = |cell: &Cell, seed, backend: &Backend| {
        let asked = bench.asked(cell, seed)?;
        let Algorithm::Mmas(settings) = &asked.algorithm else { return Err(wrong_algorithm()) };
        let problem = &bench.problem(cell, settings.candidates, settings.listed(), true)?;
        let spec = settings.spec(problem, backend, &Stop::never());
        let mut colony = backend.colony(problem, &spec)?;
        measure_ants(
            &asked,
            (&bench.instances[cell.at], problem),
            (colony.as_mut(), spec.ants),
            (backend, true),
        )
    };
    bench.measure(&SUITE, (bench.open(&cells)?, 1), &cells, run)
}
