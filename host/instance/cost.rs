//! A cost as users see it: an exact whole number of any size, or a number with decimals.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A cost in the user's unit: a whole number, as in combinatorial problems, or one with decimals. Both are compared by their exact
/// values: whole numbers are not rounded to real ones.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cost {
    /// A whole number, exact.
    Whole(i64),
    /// A number with decimals: the nearest 64-bit float.
    Real(f64),
}

/// 2^63: real numbers from here on exceed all whole ones.
const BEYOND: f64 = 9_223_372_036_854_775_808.0;

impl Cost {
    /// A cost that is worse than that of any solution.
    pub const WORST: Cost = Cost::Real(f64::INFINITY);

    /// Returns the whole number; `None` if it is a real one.
    pub fn whole(self) -> Option<i64> {
        match self {
            Cost::Whole(cost) => Some(cost),
            Cost::Real(_) => None,
        }
    }

    /// Returns the nearest real number, with 53 bits of precision.
    pub fn as_f64(self) -> f64 {
        match self {
            Cost::Whole(cost) => cost as f64,
            Cost::Real(cost) => cost,
        }
    }

    /// Returns the largest whole number that is not above it; the nearest one of 64 bits if it has more.
    pub fn floor(self) -> i64 {
        match self {
            Cost::Whole(cost) => cost,
            // Beyond 64 bits this is the largest or smallest number that fits.
            Cost::Real(cost) => cost.floor() as i64,
        }
    }

    /// Returns how much higher it is than `other`, in percent of that; `None` if they differ and `other` is not above 0.
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

    /// Returns the smaller of two costs.
    #[must_use]
    pub fn min(self, other: Cost) -> Cost {
        if other < self { other } else { self }
    }

    /// Returns the larger of two costs.
    #[must_use]
    pub fn max(self, other: Cost) -> Cost {
        if other > self { other } else { self }
    }
}

/// Compares a whole number with a real one.
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

/// Shows ten digits of a number with decimals: more than a tour's length needs, but few enough to hide rounding errors of the
/// summation.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Cost::Whole(cost) => f.pad(&cost.to_string()),
            Cost::Real(cost) => f.pad(&digits(cost, 10)),
        }
    }
}

/// Formats a number with this many digits, without trailing zeros.
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

/// Parses a number: digits alone, with or without a sign, are a whole number if it fits 64 bits. Decimals of a number too large for
/// exact real numbers are rounded down.
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
        real.filter(|real| real.is_finite())
            .map(Cost::Real)
            .ok_or_else(|| "give a number such as 12 or 0.5".to_owned())
    }
}

/// Returns the floor of a number with a decimal point that is too large for a 64-bit float to hold its digits; `None` for others.
fn large_decimal(text: &str) -> Option<i64> {
    let (digits, decimals) = text.split_once('.')?;
    let whole: i64 = digits.parse().ok()?;
    let are_digits = decimals.bytes().all(|byte| byte.is_ascii_digit());
    let has_rest = decimals.bytes().any(|byte| byte != b'0');
    (are_digits && whole.unsigned_abs() >= 1 << 53).then(|| whole - i64::from(whole < 0 && has_rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: i64 = 450_358_044_767_908_290;

    #[test]
    fn whole_and_real_numbers_are_compared_exactly() {
        // The nearest real number is 2 below.
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
