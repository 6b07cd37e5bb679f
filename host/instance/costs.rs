//! Converts internal costs of tours and edges to the user's unit, and bounds and targets between the two.

use antwarp_core::metric::{self, Metric};

use super::cost::Cost;
use super::globe;
use super::model::{Distances, Instance};
use super::scale::{Scale, scaled};

/// Upper bound on the relative error of summation, roots and rounding to 64 bits; the actual error is far smaller.
const SLACK: f64 = 1e-12;

impl Instance {
    /// Returns whether internal costs determine the user's costs exactly.
    pub fn is_exact(&self) -> bool {
        matches!(self.scale(), Scale::Decimal { .. })
    }

    /// Returns whether internal costs equal the user's: TSPLIB's, or a matrix of whole numbers.
    pub fn is_as_given(&self) -> bool {
        *self.scale() == Scale::NONE
    }

    /// Returns what an internal cost of 1 is in the user's unit.
    pub fn resolution(&self) -> f64 {
        match self.scale() {
            Scale::Decimal { decimals, .. } => 1.0 / 10_f64.powi(*decimals as i32),
            Scale::Binary { exponent, .. } => scaled(1.0, *exponent),
        }
    }

    /// Returns the coordinates of all points as given: on a sphere, longitudes and latitudes in degrees. `None` if distances come
    /// from a matrix.
    pub fn given_points(&self) -> Option<Vec<[f64; 3]>> {
        let points = self.points()?;
        Some(match self.display_points().filter(|_| self.metric() == Some(Metric::Sphere)) {
            Some(places) => places.into_iter().map(|[x, y]| [x, y, 0.0]).collect(),
            None => points.iter().map(|&point| self.as_given(point)).collect(),
        })
    }

    /// Returns the coordinates of a point as given.
    pub(super) fn as_given(&self, point: [f64; 3]) -> [f64; 3] {
        match self.scale() {
            Scale::Binary { exponent, .. } => point.map(|c| scaled(c, *exponent)),
            Scale::Decimal { .. } => point,
        }
    }

    /// Returns the number of edges of a tour.
    fn steps(&self) -> i64 {
        let nodes = self.len() as i64;
        if nodes == 1 || self.ends().is_some() { nodes - 1 } else { nodes }
    }

    /// Returns the edges of a tour, in its order and direction: n of a closed tour, the last one back to the first node; n - 1 of
    /// an open path; none of a single node.
    pub fn edges<'t>(&self, tour: &'t [u32]) -> impl Iterator<Item = (u32, u32)> + use<'t> {
        let count = self.steps() as usize;
        (0..count).map(|at| (tour[at], tour[if at + 1 == tour.len() { 0 } else { at + 1 }]))
    }

    /// Converts a tour's internal cost to the user's unit: exact if the instance [is](Instance::is_exact), else to within
    /// [`Instance::resolution`] per edge.
    pub fn cost(&self, inside: i64) -> Cost {
        self.cost_of_edges(inside, self.steps())
    }

    fn cost_of_edges(&self, inside: i64, edges: i64) -> Cost {
        match self.scale() {
            Scale::Decimal { shift, decimals: 0 } => Cost::Whole(inside + shift * edges),
            Scale::Decimal { shift, decimals } => {
                Cost::Real((inside + shift * edges) as f64 / 10_f64.powi(*decimals as i32))
            }
            Scale::Binary { exponent, shift, .. } => {
                Cost::Real(scaled(inside as f64, *exponent) + shift * edges as f64)
            }
        }
    }

    /// Converts an internal lower bound for tours to the user's unit, subtracting the rounding of every edge.
    pub fn lower_bound(&self, inside: i64) -> Cost {
        match self.scale() {
            Scale::Decimal { .. } => self.cost(inside),
            Scale::Binary { exponent, shift, .. } => {
                let edges = self.steps() as f64;
                let lengths = inside as f64 - 0.5 * edges;
                let slack = SLACK * (scaled(lengths.abs(), *exponent) + shift.abs() * edges);
                let least = scaled(lengths, *exponent) + shift * edges - slack;
                // A sum of lengths cannot be negative.
                Cost::Real(if *shift == 0.0 { least.max(0.0) } else { least })
            }
        }
    }

    /// Returns the highest internal cost at which a tour certainly costs at most `target` in the user's unit.
    pub fn inside(&self, target: f64) -> i64 {
        let edges = self.steps();
        let most = match self.scale() {
            Scale::Decimal { shift, decimals } => {
                let factor = 10_f64.powi(*decimals as i32);
                // A decimal that was read is the float nearest to its digits.
                let nearest = (target * factor).round();
                let whole = if nearest / factor == target { nearest } else { (target * factor).floor() };
                return (whole as i64).saturating_sub(shift.saturating_mul(edges));
            }
            Scale::Binary { exponent, shift, .. } => {
                scaled(target - shift * edges as f64, -exponent) - 0.5 * edges as f64
            }
        };
        most.floor() as i64
    }

    /// Returns the cost of an edge in the user's unit; infinite for a forbidden one.
    ///
    /// # Panics
    /// If a node does not exist.
    pub fn edge_cost(&self, from: u32, to: u32) -> f64 {
        if self.is_forbidden(from, to) {
            return f64::INFINITY;
        }
        match (self.scale(), self.distances()) {
            (Scale::Binary { exponent, .. }, Distances::Points { metric, points }) => {
                let length = metric::length(*metric, points[from as usize], points[to as usize]);
                scaled(length.unwrap_or_else(|| f64::from(self.distance(from, to))), *exponent)
            }
            (Scale::Binary { costs: Some(costs), .. }, Distances::Matrix(_)) => {
                costs[from as usize * self.len() + to as usize]
            }
            _ => self.cost_of_edges(i64::from(self.distance(from, to)), 1).as_f64(),
        }
    }

    /// Returns the cost of a tour in the user's unit: exact, or the sum of unrounded lengths. Forbidden pairs are not counted; see
    /// [`Instance::forbidden_steps`].
    ///
    /// # Panics
    /// If it is not a tour of the instance.
    pub fn tour_cost(&self, tour: &[u32]) -> Cost {
        let allowed = |&(from, to): &(u32, u32)| !self.is_forbidden(from, to);
        let steps = self.edges(tour).filter(allowed);
        match self.scale() {
            Scale::Decimal { .. } => {
                let (sum, edges) = steps.fold((0, 0), |(sum, edges), (from, to)| {
                    (sum + i64::from(self.distance(from, to)), edges + 1)
                });
                self.cost_of_edges(sum, edges)
            }
            Scale::Binary { .. } => Cost::Real(sum(steps.map(|(from, to)| self.edge_cost(from, to)))),
        }
    }

    /// Returns the fraction by which internal rounding may change a tour's cost: its effect on this tour plus three standard
    /// deviations of its effect on others. `None` if the cost is 0.
    pub fn rounding(&self, tour: &[u32]) -> Option<f64> {
        let edges = self.edges(tour).filter(|&(from, to)| !self.is_forbidden(from, to));
        let (mut inside, mut truly, mut count) = (0, 0.0, 0_u32);
        for (from, to) in edges {
            inside += i64::from(self.distance(from, to));
            truly += self.edge_cost(from, to).abs();
            count += 1;
        }
        let Scale::Binary { exponent, shift, .. } = self.scale() else { return Some(0.0) };
        let told = scaled(inside as f64, *exponent) + shift * f64::from(count);
        let off = if *shift == 0.0 { (told - truly).abs() } else { 0.0 };
        let spread = 3.0 * (f64::from(count) / 12.0).sqrt() * self.resolution();
        (truly > 0.0).then(|| (off + spread) / truly)
    }

    /// Returns the length of a tour without TSPLIB's rounding of each edge, in the unit of the coordinates; `None` if costs are not
    /// rounded lengths, or are undefined without rounding.
    pub fn unrounded_length(&self, tour: &[u32]) -> Option<f64> {
        let (metric, points) = (self.metric().filter(|_| self.is_exact())?, self.points()?);
        let place = |node: u32| points[node as usize];
        let on_globe = |node: u32| globe::place(metric, place(node)).map(|c| c * globe::radius(metric));
        let length = |(from, to): (u32, u32)| match metric {
            Metric::Ceil2d | Metric::Floor2d => metric::length(Metric::Euc2d, place(from), place(to)),
            Metric::Att => Some(metric::length(Metric::Euc2d, place(from), place(to))? / 10_f64.sqrt()),
            Metric::Geo | Metric::Geom => metric::length(Metric::Sphere, on_globe(from), on_globe(to)),
            _ => metric::length(metric, place(from), place(to)),
        };
        self.edges(tour).map(length).sum()
    }

    /// Returns the forbidden edges of a tour, in its order.
    ///
    /// # Panics
    /// If it is not a tour of the instance.
    pub fn forbidden_steps(&self, tour: &[u32]) -> Vec<(u32, u32)> {
        if self.forbidden().is_none() {
            return Vec::new();
        }
        self.edges(tour).filter(|&(from, to)| self.is_forbidden(from, to)).collect()
    }

    /// Returns whether a tour with this internal cost may have a forbidden edge.
    pub fn may_be_forbidden(&self, inside: i64) -> bool {
        self.forbidden().is_some_and(|forbidden| inside >= i64::from(forbidden))
    }

    /// Returns whether every tour has a forbidden edge, given this internal lower bound on the cost of tours.
    pub fn is_impossible(&self, bound: i64) -> bool {
        self.forbidden().is_some() && bound > self.steps().saturating_mul(self.longest())
    }
}

/// Sums with a rounding error that does not grow with the number of terms (Kahan 1965, as improved by Neumaier 1974).
fn sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for term in terms {
        let next = sum + term;
        lost += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
        sum = next;
    }
    sum + lost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sum_loses_nothing() {
        assert_eq!(sum([1e16, 1.0, -1e16, 1.0].into_iter()), 2.0);
        assert_eq!(sum(std::iter::repeat_n(0.1, 1_000_000)), 100_000.0);
    }
}
