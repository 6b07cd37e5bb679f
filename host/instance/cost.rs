//! Costs in the user's unit, and how the whole numbers inside become them.
//!
//! Every edge costs a 32-bit integer inside, for solvers on CPUs and GPUs to be exact and fast. A user's costs are decimals, metres,
//! negative: so an instance knows how one becomes the other, and whatever a user sees went through here.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// A cost in the user's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cost {
    /// A whole number, exact.
    Whole(i64),
    /// A number with decimals: the nearest one of 64 bits.
    Real(f64),
}

impl Cost {
    /// The same number, to 53 bits.
    pub fn as_f64(self) -> f64 {
        match self {
            Cost::Whole(cost) => cost as f64,
            Cost::Real(cost) => cost,
        }
    }

    /// How much higher it is than `other`, in percent of that; none where that says nothing.
    pub fn percent_above(self, other: Cost) -> Option<f64> {
        let difference = match (self, other) {
            (Cost::Whole(one), Cost::Whole(other)) => (i128::from(one) - i128::from(other)) as f64,
            _ => self.as_f64() - other.as_f64(),
        };
        match other.as_f64() {
            _ if difference == 0.0 => Some(0.0),
            base if base > 0.0 => Some(100.0 * difference / base),
            _ => None,
        }
    }
}

/// Ten digits of a number with decimals: more than a tour's length needs, fewer than show how it was added up.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Cost::Whole(cost) => f.pad(&cost.to_string()),
            Cost::Real(cost) => f.pad(&digits(cost, 10)),
        }
    }
}

/// A number to so many digits, without zeros at its end.
fn digits(value: f64, count: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-6..16).contains(&magnitude) {
        let rounded: f64 = format!("{value:.*e}", (count - 1) as usize).parse().unwrap_or(value);
        return format!("{rounded:e}");
    }
    let decimals = (count - 1 - magnitude).max(0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

impl Serialize for Cost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Cost::Whole(cost) => serializer.serialize_i64(cost),
            Cost::Real(cost) => serializer.serialize_f64(cost),
        }
    }
}

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
    fn costs_are_shown_by_ten_digits() {
        for (cost, text) in [
            (Cost::Whole(27_686), "27686"),
            (Cost::Whole(i64::MAX), "9223372036854775807"),
            (Cost::Real(3.388_501_521_44), "3.388501521"),
            (Cost::Real(80.25), "80.25"),
            (Cost::Real(0.1 + 0.2), "0.3"),
            (Cost::Real(-12.5), "-12.5"),
            (Cost::Real(0.0), "0"),
            (Cost::Real(1.5e-300), "1.5e-300"),
            (Cost::Real(123_456_789_012.0), "123456789012"),
        ] {
            assert_eq!(cost.to_string(), text);
        }
        assert_eq!(Unit::Metres.show(Cost::Real(4_056.671_23)), "4056.67 m");
        assert_eq!(Unit::Metres.show(Cost::Real(120_550.451)), "120.55045 km");
    }

    #[test]
    fn percents_are_of_what_is_positive() {
        assert_eq!(Cost::Whole(110).percent_above(Cost::Whole(100)), Some(10.0));
        assert_eq!(Cost::Real(0.0).percent_above(Cost::Whole(0)), Some(0.0));
        assert_eq!(Cost::Whole(5).percent_above(Cost::Whole(0)), None);
        assert_eq!(Cost::Whole(-5).percent_above(Cost::Whole(-6)), None);
        let large = 1_i64 << 60;
        assert!(Cost::Whole(large + 1).percent_above(Cost::Whole(large)).unwrap() > 0.0);
    }
}
