//! `antwarp bench ils`: iterated local search with its operators, after given numbers of kicks.

use super::super::{Outcome, Result};
use super::rows::SIZES;
use super::table::{How::Mean, Suite};
use super::{Common, solve};

/// The tables of the suite.
pub const SUITE: Suite = Suite { name: "ils", columns: &COLUMNS, sizes: &SIZES, curve: &[] };

const COLUMNS: [super::table::Column; 5] = {
    let [seconds, setup, search, tours] = *solve::COLUMNS;
    [seconds, setup, search, tours, ("ms/pass", "pass_ms", Mean, 4)]
};

/// Measures and prints.
pub fn run(common: &Common) -> Result<Outcome> {
    let defaults = ["local-search=three-opt", "iterations=0.1n,1n,10n"];
    solve::measure(&SUITE, common, &["--algorithm=ils"], &defaults)
}
