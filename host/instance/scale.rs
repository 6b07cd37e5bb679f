//! Conversion of internal whole numbers to costs in the user's unit.
//!
//! Internally, every edge costs a 32-bit integer, so that solvers on CPUs and GPUs are exact and fast. A user's costs may be
//! decimal, in metres or negative, so an instance knows how to convert one to the other.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::cost::Cost;

/// The unit of costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// The user's own, unspecified unit.
    #[default]
    Own,
    /// Metres.
    Metres,
    /// Kilometres.
    Kilometres,
}

impl Unit {
    /// Formats a cost with its unit. From ten kilometres on, metres are shown as kilometres, to the centimetre.
    pub fn show(self, cost: Cost) -> String {
        match (self, cost.as_f64()) {
            (Unit::Own, _) => cost.to_string(),
            (Unit::Metres, metres) if metres.abs() < 1e4 => format!("{metres:.2} m"),
            (Unit::Metres, metres) => format!("{:.5} km", metres / 1e3),
            (Unit::Kilometres, _) => format!("{cost} km"),
        }
    }
}

/// How the internal cost of an edge is converted to the user's.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scale {
    /// Exactly: after adding `shift`, the last `decimals` digits are decimals.
    Decimal {
        /// The amount subtracted from every cost, so that none is negative or too large.
        shift: i64,
        /// Number of decimals.
        decimals: u32,
    },
    /// Rounded to the nearest integer: an internal cost of 1 is `2^exponent`.
    Binary {
        /// See above.
        exponent: i32,
        /// The amount subtracted from every cost before scaling.
        shift: f64,
        /// The user's own costs, n x n, if they are a matrix.
        costs: Option<Arc<[f64]>>,
    },
}

impl Scale {
    /// Internal costs are the user's costs.
    pub(super) const NONE: Scale = Scale::Decimal { shift: 0, decimals: 0 };

    /// Returns the scale of unrounded lengths.
    pub(super) fn of_lengths(exponent: i32) -> Scale {
        Scale::Binary { exponent, shift: 0.0, costs: None }
    }
}

/// Returns `value * 2^exponent`, if representable, in two steps: the power alone may overflow.
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
