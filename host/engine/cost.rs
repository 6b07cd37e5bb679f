//! What a solution of any problem costs, as it is reported, recorded and compared with a target: exact, whatever its size.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use antwarp_core::search;
use serde::{Deserialize, Serialize};

/// A whole number, as combinatorial problems have it, or a real one, as continuous problems do. Both are compared by their exact
/// values: no whole number is rounded to a real one.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cost {
    /// Of a problem whose costs are integers.
    Whole(i64),
    /// Of a problem whose costs are real numbers.
    Real(f64),
}

/// 2^63: real numbers from here on are above all whole ones.
const BEYOND: f64 = 9_223_372_036_854_775_808.0;

impl Cost {
    /// Worse than the cost of any solution.
    pub const WORST: Cost = Cost::Real(f64::INFINITY);

    /// The whole number; none if it is a real one.
    pub fn whole(self) -> Option<i64> {
        match self {
            Cost::Whole(cost) => Some(cost),
            Cost::Real(_) => None,
        }
    }

    /// The real number that is next to it.
    pub fn to_f64(self) -> f64 {
        match self {
            Cost::Whole(cost) => cost as f64,
            Cost::Real(cost) => cost,
        }
    }

    /// The largest whole number that is not above it, within 64 bits.
    pub fn floor(self) -> i64 {
        match self {
            Cost::Whole(cost) => cost,
            // Beyond 64 bits this is the largest or smallest number that fits.
            Cost::Real(cost) => cost.floor() as i64,
        }
    }

    /// The smaller of two.
    #[must_use]
    pub fn min(self, other: Cost) -> Cost {
        if other < self { other } else { self }
    }

    /// The larger of two.
    #[must_use]
    pub fn max(self, other: Cost) -> Cost {
        if other > self { other } else { self }
    }
}

/// How a whole number stands to a real one.
fn compare(whole: i64, real: f64) -> Option<Ordering> {
    if real.is_nan() {
        return None;
    }
    if real >= BEYOND {
        return Some(Ordering::Less);
    }
    if real < -BEYOND {
        return Some(Ordering::Greater);
    }
    let floor = real.floor();
    let above_floor = if real > floor { Ordering::Less } else { Ordering::Equal };
    Some(whole.cmp(&(floor as i64)).then(above_floor))
}

impl PartialOrd for Cost {
    fn partial_cmp(&self, other: &Cost) -> Option<Ordering> {
        match (*self, *other) {
            (Cost::Whole(a), Cost::Whole(b)) => Some(a.cmp(&b)),
            (Cost::Real(a), Cost::Real(b)) => a.partial_cmp(&b),
            (Cost::Whole(a), Cost::Real(b)) => compare(a, b),
            (Cost::Real(a), Cost::Whole(b)) => compare(b, a).map(Ordering::reverse),
        }
    }
}

impl PartialEq for Cost {
    fn eq(&self, other: &Cost) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl Default for Cost {
    fn default() -> Cost {
        Cost::Whole(0)
    }
}

impl From<i64> for Cost {
    fn from(cost: i64) -> Cost {
        Cost::Whole(cost)
    }
}

impl From<f64> for Cost {
    fn from(cost: f64) -> Cost {
        Cost::Real(cost)
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cost::Whole(cost) => cost.fmt(f),
            Cost::Real(cost) => cost.fmt(f),
        }
    }
}

/// A number as it is written: digits alone, with or without a sign, are a whole number where 64 bits hold it. Decimals behind one that
/// real numbers do not hold exactly are rounded down.
impl FromStr for Cost {
    type Err = String;

    fn from_str(text: &str) -> Result<Cost, String> {
        if let Ok(whole) = text.parse() {
            return Ok(Cost::Whole(whole));
        }
        if let Some(floor) = large_decimal(text) {
            return Ok(Cost::Whole(floor));
        }
        let real: Option<f64> = text.parse().ok();
        real.filter(|real| real.is_finite()).map(Cost::Real).ok_or_else(|| "give a number".to_owned())
    }
}

/// The floor of a number with a decimal point that is too large for 64-bit real numbers to hold its digits; none of others.
fn large_decimal(text: &str) -> Option<i64> {
    let (digits, decimals) = text.split_once('.')?;
    let whole: i64 = digits.parse().ok()?;
    let are_digits = decimals.bytes().all(|byte| byte.is_ascii_digit());
    let has_rest = decimals.bytes().any(|byte| byte != b'0');
    (are_digits && whole.unsigned_abs() >= 1 << 53).then(|| whole - i64::from(whole < 0 && has_rest))
}

/// Costs of core, as a run reports them.
pub trait Reported: search::Cost {
    /// The same number.
    fn reported(self) -> Cost;
    /// The largest cost that is not above a number and has a key; of real numbers, the nearest.
    fn at_most(cost: Cost) -> Self;
}

/// Core's whole numbers have keys from -2^61 to 2^61 - 1.
impl Reported for i64 {
    fn reported(self) -> Cost {
        Cost::Whole(self)
    }

    fn at_most(cost: Cost) -> i64 {
        cost.floor().clamp(-(1 << 61), (1 << 61) - 1)
    }
}

impl Reported for f32 {
    fn reported(self) -> Cost {
        Cost::Real(self.into())
    }

    fn at_most(cost: Cost) -> f32 {
        cost.to_f64() as f32
    }
}

impl Reported for f64 {
    fn reported(self) -> Cost {
        Cost::Real(self)
    }

    fn at_most(cost: Cost) -> f64 {
        cost.to_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: i64 = 450_358_044_767_908_290;

    #[test]
    fn whole_and_real_numbers_are_compared_exactly() {
        // The real number next to it is 2 below.
        assert_eq!(LARGE as f64, 450_358_044_767_908_288.0);
        assert!(Cost::Whole(LARGE) > Cost::Real(LARGE as f64));
        assert!(Cost::Whole(LARGE) > Cost::Whole(LARGE - 1));
        assert!(Cost::Whole(LARGE - 2) == Cost::Real(LARGE as f64));
        assert!(Cost::Whole(-3) < Cost::Real(-2.5) && Cost::Whole(-2) > Cost::Real(-2.5));
        assert!(Cost::Whole(i64::MAX) < Cost::Real(BEYOND) && Cost::Whole(i64::MIN) == Cost::Real(-BEYOND));
        assert!(Cost::Whole(i64::MIN) > Cost::Real(f64::NEG_INFINITY) && Cost::Whole(i64::MAX) < Cost::WORST);
        assert!(Cost::Whole(0).partial_cmp(&Cost::Real(f64::NAN)).is_none());
        assert_eq!(Cost::Whole(1).max(Cost::Real(1.5)), Cost::Real(1.5));
        assert_eq!(Cost::Whole(1).min(Cost::Real(1.5)), Cost::Whole(1));
    }

    #[test]
    fn numbers_are_read_exactly() {
        let read = |text: &str| text.parse::<Cost>().map(|cost| format!("{cost:?}"));
        for (text, told) in [
            ("450358044767908289", "Whole(450358044767908289)"),
            ("450358044767908289.5", "Whole(450358044767908289)"),
            ("-450358044767908289.5", "Whole(-450358044767908290)"),
            ("450358044767908289.0", "Whole(450358044767908289)"),
            ("-7", "Whole(-7)"),
            ("2.5", "Real(2.5)"),
            ("1e3", "Real(1000.0)"),
            ("99999999999999999999", "Real(1e20)"),
        ] {
            assert_eq!(read(text), Ok(told.to_owned()), "{text}");
        }
        for text in ["nan", "inf", "-inf", "", "x", "1.x", "9007199254740993.x"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_target_is_the_largest_cost_that_is_not_above_it() {
        let target = |cost: f64| i64::at_most(Cost::Real(cost));
        assert_eq!([2.5, -2.5, 0.0, -0.0].map(target), [2, -3, 0, 0]);
        assert_eq!(target(1e300), (1 << 61) - 1);
        assert_eq!(target(-1e300), -(1 << 61));
        assert_eq!(i64::at_most(Cost::Whole(LARGE - 1)), LARGE - 1);
        assert_eq!(f64::at_most(Cost::Whole(3)), 3.0);
    }
}
