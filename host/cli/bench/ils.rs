//! `antwarp bench ils`: iterated local search with its operators, after given numbers of kicks.

use std::ops::RangeInclusive;

use super::super::{Outcome, Result};
use super::table::{How::Mean, Suite};
use super::{Common, solve};

/// The tables of the suite.
pub const SUITE: Suite = Suite { name: "ils", columns: &COLUMNS, sizes: &SIZES, curve: &[] };

const SIZES: [(&str, RangeInclusive<u64>); 3] =
    [("70-400", 70..=400), ("400-2000", 401..=2000), ("2000-18512", 2001..=18_512)];

/// Returns the name of the sizes that this number of nodes is one of.
pub fn size(n: u64) -> Option<&'static str> {
    SIZES.iter().find(|(_, sizes)| sizes.contains(&n)).map(|(name, _)| *name)
}

const COLUMNS: [super::table::Column; 5] = {
    let [seconds, setup, search, tours] = *solve::COLUMNS;
    [seconds, setup, search, tours, ("ms/pass", "pass_ms", Mean, 4)]
};

/// Measures and prints.
pub fn run(common: &Common) -> Result<Outcome> {
    let defaults = ["local-search=three-opt", "iterations=0.1n,1n,10n"];
    solve::measure(&SUITE, common, &["--algorithm=ils"], &defaults)
}
