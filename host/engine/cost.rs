//! Conversion of core's costs to and from those in reports and targets.

use antwarp_core::papers::search;

use antwarp_instance::Cost;

/// A cost type of core that a run can report.
pub trait Reported: search::Cost {
    /// Returns the same number as a reported cost.
    fn reported(self) -> Cost;
    /// Returns the largest cost that is not above a number and has a key; for real numbers, the nearest one.
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
        cost.as_f64() as f32
    }
}

impl Reported for f64 {
    fn reported(self) -> Cost {
        Cost::Real(self)
    }

    fn at_most(cost: Cost) -> f64 {
        cost.as_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_the_largest_cost_that_is_not_above_it() {
        let target = |cost: f64| i64::at_most(Cost::Real(cost));
        assert_eq!([2.5, -2.5, 0.0, -0.0].map(target), [2, -3, 0, 0]);
        assert_eq!(target(1e300), (1 << 61) - 1);
        assert_eq!(target(-1e300), -(1 << 61));
        assert_eq!(i64::at_most(Cost::Whole((1 << 60) - 1)), (1 << 60) - 1);
        assert_eq!(f64::at_most(Cost::Whole(3)), 3.0);
    }
}
