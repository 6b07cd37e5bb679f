//! How the whole numbers inside become costs in the user's unit.
//!
//! Every edge costs a 32-bit integer inside, for solvers on CPUs and GPUs to be exact and fast. A user's costs are decimals, metres,
//! negative: so an instance knows how one becomes the other.

use std::sync::Arc;

use serde::Serialize;

use super::cost::Cost;

/// What costs are counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Whatever the user counts in.
    #[default]
    Own,
    /// Metres.
    Metres,
    /// Kilometres.
    Kilometres,
}

impl Unit {
    /// A cost with its unit. From ten kilometres on metres are shown as kilometres, to the centimetre.
    pub fn show(self, cost: Cost) -> String {
        match (self, cost.as_f64()) {
            (Unit::Own, _) => cost.to_string(),
            (Unit::Metres, metres) if metres.abs() < 1e4 => format!("{metres:.2} m"),
            (Unit::Metres, metres) => format!("{:.5} km", metres / 1e3),
            (Unit::Kilometres, _) => format!("{cost} km"),
        }
    }
}

/// How an edge's cost inside becomes the user's.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scale {
    /// Exactly: with `shift` added, so many of its last digits are decimals.
    Decimal {
        /// What was taken from every cost, so that none is negative or too large.
        shift: i64,
        /// Decimals.
        decimals: u32,
    },
    /// To the nearest integer: a cost inside of 1 is `2^exponent`.
    Binary {
        /// See above.
        exponent: i32,
        /// What was taken from every cost before it was scaled.
        shift: f64,
        /// The user's own costs, n x n, where they are a matrix.
        costs: Option<Arc<[f64]>>,
    },
}

impl Scale {
    /// Costs are the user's as they are.
    pub(super) const NONE: Scale = Scale::Decimal { shift: 0, decimals: 0 };

    /// That of unrounded lengths.
    pub(super) fn of_lengths(exponent: i32) -> Scale {
        Scale::Binary { exponent, shift: 0.0, costs: None }
    }
}

/// `value * 2^exponent`, where that has a number, in two steps: a power alone may have none.
pub(super) fn scaled(value: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    value * 2_f64.powi(half) * 2_f64.powi(exponent - half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metres_become_kilometres() {
        assert_eq!(Unit::Metres.show(Cost::Real(4_056.671_23)), "4056.67 m");
        assert_eq!(Unit::Metres.show(Cost::Real(120_550.451)), "120.55045 km");
    }
}
