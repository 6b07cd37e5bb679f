//! `antwarp bench ils`: iterated local search with its operators, after given numbers of kicks.

use super::super::{Outcome, Result};
use super::table::Suite;
use super::{Common, solve};

/// The tables of the suite.
pub const SUITE: Suite = Suite {
    name: "ils",
    columns: solve::COLUMNS,
    sizes: &[("70-400", 70..=400), ("400-2000", 401..=2000), ("2000-18512", 2001..=18_512)],
    curve: &[],
};

/// Measures and prints.
pub fn run(common: &Common) -> Result<Outcome> {
    let defaults = ["local-search=three-opt", "iterations=0.1n,1n,10n"];
    solve::measure(&SUITE, common, &["--algorithm=ils"], &defaults)
}
