//! Forbidden pairs: edges that no tour should have.
//!
//! In a matrix they are entries with a cost of their own, and have a direction. Places keep a list of them: a matrix would not fit
//! memory.

use super::{
    Distances, Instance, LONGEST_BESIDE_FORBIDDEN, LONGEST_BESIDE_FORBIDDEN_BITS, LONGEST_BITS, extent,
    forbidden_cost,
};
use crate::error::{InstanceError, Result};
use crate::scale::{Scale, scaled};

/// What an edge is given until the cost of forbidden ones is known.
const UNKNOWN: i32 = -1;
/// Unrounded lengths of places keep at least this many bits: fewer could change the cost of a tour by more than a millionth.
const FEWEST_BITS: i32 = 21;

impl Instance {
    /// Returns the instance with these edges forbidden, in addition to those that are: in the given direction, or in both if the
    /// instance [is symmetric](Instance::is_symmetric).
    ///
    /// A forbidden edge costs more than any other. Unrounded costs are rounded a little more coarsely to make room for that.
    ///
    /// # Errors
    /// If an edge leads from a node to itself, or costs are so large that there is no room for larger ones.
    ///
    /// # Panics
    /// If an edge joins a node that does not exist.
    pub fn with_forbidden_pairs(self, mut pairs: Vec<(u32, u32)>) -> Result<Instance> {
        assert!(pairs.iter().all(|&(a, b)| (a.max(b) as usize) < self.len), "forbidden edges join nodes");
        if let Some(&(node, _)) = pairs.iter().find(|(a, b)| a == b) {
            let problem = format!("the forbidden edge leads from node {} to itself", self.label(node));
            return Err(InstanceError::content(self.name, problem, "give two different nodes"));
        }
        if pairs.is_empty() {
            return Ok(self);
        }
        if self.is_symmetric() {
            pairs.iter_mut().for_each(|pair| *pair = (pair.0.min(pair.1), pair.0.max(pair.1)));
        }
        pairs.sort_unstable();
        pairs.dedup();
        match &self.distances {
            Distances::Points { .. } => self.with_forbidden_places(pairs),
            Distances::Matrix(_) => self.with_forbidden_entries(&pairs),
        }
    }

    /// Returns the forbidden pairs of places, sorted, the lower node first; none if distances come from a matrix, whose entries
    /// [are forbidden](Instance::is_forbidden).
    pub fn forbidden_pairs(&self) -> &[(u32, u32)] {
        &self.forbidden_pairs
    }

    /// Counts the forbidden edges: pairs, or directions if the instance is directed.
    pub fn count_forbidden(&self) -> usize {
        match (&self.distances, self.forbidden) {
            (Distances::Matrix(matrix), Some(forbidden)) => {
                let n = self.len;
                let is_one = |(at, cost): (usize, &i32)| *cost == forbidden && at / n != at % n;
                let entries = matrix.iter().enumerate().filter(|&entry| is_one(entry)).count();
                if self.is_symmetric() { entries / 2 } else { entries }
            }
            _ => self.forbidden_pairs.len(),
        }
    }

    /// Returns an internal cost that no edge exceeds, unless it is forbidden.
    pub(crate) fn longest(&self) -> i64 {
        match &self.distances {
            Distances::Points { metric, points } => extent(*metric, points).1.ceil() as i64 + 1,
            Distances::Matrix(matrix) => {
                let allowed = matrix.iter().copied().filter(|&cost| Some(cost) != self.forbidden);
                allowed.max().unwrap_or(0).into()
            }
        }
    }

    /// Sets the internal cost of forbidden edges, and the forbidden pairs of places.
    #[cfg(feature = "cli")]
    pub(crate) fn with_forbidden(mut self, cost: Option<i32>, pairs: Vec<(u32, u32)>) -> Instance {
        (self.forbidden, self.forbidden_pairs) = (cost, pairs);
        self
    }

    /// Returns the forbidden pairs with the nodes renumbered in this order.
    pub(super) fn forbidden_pairs_in(&self, order: &[u32]) -> Vec<(u32, u32)> {
        if self.forbidden_pairs.is_empty() {
            return Vec::new();
        }
        let mut numbers = vec![None; self.len];
        (0..).zip(order).for_each(|(number, &node)| numbers[node as usize] = Some(number));
        let renumbered = |&(a, b): &(u32, u32)| {
            let (a, b): (u32, u32) = (numbers[a as usize]?, numbers[b as usize]?);
            Some((a.min(b), a.max(b)))
        };
        let mut pairs: Vec<_> = self.forbidden_pairs.iter().filter_map(renumbered).collect();
        pairs.sort_unstable();
        pairs
    }

    fn with_forbidden_places(mut self, mut pairs: Vec<(u32, u32)>) -> Result<Instance> {
        if self.forbidden.is_none() {
            self = self.with_room()?;
            self.forbidden = Some(forbidden_cost(self.len, self.longest()));
        }
        pairs.append(&mut self.forbidden_pairs);
        pairs.sort_unstable();
        pairs.dedup();
        Ok(Instance { forbidden_pairs: pairs, ..self })
    }

    /// Makes room for larger costs than those of places: a tour of places without a forbidden pair should cost less than one.
    fn with_room(mut self) -> Result<Instance> {
        if let (Scale::Binary { exponent, .. }, Distances::Points { points, .. }) =
            (&mut self.scale, &mut self.distances)
        {
            // A tour of n random places is nearly as long as the root of n times their extent.
            let bits = LONGEST_BITS - self.len.ilog2() as i32 / 2;
            let fewer = LONGEST_BITS - bits.clamp(FEWEST_BITS, LONGEST_BESIDE_FORBIDDEN_BITS);
            *exponent += fewer;
            points.iter_mut().for_each(|point| *point = point.map(|c| scaled(c, -fewer)));
        }
        let longest = self.longest();
        if longest <= LONGEST_BESIDE_FORBIDDEN {
            return Ok(self);
        }
        let problem = format!(
            "distances of up to {longest} leave no room for the cost of a forbidden edge, which must be twice as high"
        );
        Err(InstanceError::content(self.name, problem, "divide all coordinates by the same number"))
    }

    fn with_forbidden_entries(mut self, pairs: &[(u32, u32)]) -> Result<Instance> {
        let n = self.len;
        let is_symmetric = self.is_symmetric();
        let entries = pairs.iter().flat_map(|&(a, b)| {
            let (a, b) = (a as usize, b as usize);
            [Some(a * n + b), is_symmetric.then_some(b * n + a)].into_iter().flatten()
        });
        if let Scale::Binary { costs: Some(costs), .. } = &mut self.scale {
            let mut own = costs.to_vec();
            entries.clone().for_each(|at| own[at] = f64::INFINITY);
            *costs = own.into();
        }
        let (cost, is_exact) = (self.forbidden.unwrap_or(UNKNOWN), self.is_exact());
        let Distances::Matrix(matrix) = &mut self.distances else { return Ok(self) };
        entries.clone().for_each(|at| matrix[at] = cost);
        if self.forbidden.is_some() {
            return Ok(self);
        }
        let longest = matrix.iter().copied().max().unwrap_or(0).into();
        if !is_exact || longest > LONGEST_BESIDE_FORBIDDEN {
            return self.scaled_anew();
        }
        let cost = forbidden_cost(n, longest);
        entries.for_each(|at| matrix[at] = cost);
        self.forbidden = Some(cost);
        Ok(self)
    }

    /// Scales the costs of a matrix in which forbidden entries are unknown, so that there is room for them.
    fn scaled_anew(self) -> Result<Instance> {
        let n = self.len;
        let cost = |at: usize| match self.distance((at / n) as u32, (at % n) as u32) {
            UNKNOWN => f64::INFINITY,
            _ => self.edge_cost((at / n) as u32, (at % n) as u32),
        };
        let costs: Vec<f64> = (0..n * n).map(cost).collect();
        let made = Instance::from_costs(self.name.clone(), costs)?;
        Ok(Instance { distances: made.distances, scale: made.scale, forbidden: made.forbidden, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cost, Metric};

    fn line(metric: Metric, n: usize) -> Instance {
        let places = (0..n).map(|x| [10.0 * x as f64, 0.0, 0.0]).collect();
        Instance::from_points("line", metric, places).unwrap()
    }

    #[test]
    fn places_stay_places() {
        let free = line(Metric::Euc2d, 5);
        let instance = free.clone().with_forbidden_pairs(vec![(3, 1), (0, 4), (1, 3)]).unwrap();
        let instance = instance.with_forbidden_pairs(vec![(2, 0), (4, 0)]).unwrap();
        assert_eq!(instance.forbidden_pairs(), [(0, 2), (0, 4), (1, 3)]);
        assert!(instance.matrix().is_none() && instance.is_symmetric());
        for i in 0..5 {
            for j in 0..5 {
                let is_one = [(0, 2), (0, 4), (1, 3)].contains(&(i.min(j), i.max(j)));
                assert_eq!(instance.is_forbidden(i, j), is_one);
                let distance = if is_one { instance.forbidden().unwrap() } else { free.distance(i, j) };
                assert_eq!(instance.distance(i, j), distance);
                let cost = if is_one { f64::INFINITY } else { f64::from(distance) };
                assert_eq!(instance.edge_cost(i, j), cost);
            }
        }
        assert_eq!(instance.forbidden_steps(&[0, 1, 2, 3, 4]), [(4, 0)]);
        assert_eq!(instance.tour_cost(&[0, 1, 2, 3, 4]), Cost::Whole(40));
        assert!(i64::from(instance.forbidden().unwrap()) > 5 * 40);
        assert_eq!((instance.count_forbidden(), free.count_forbidden()), (3, 0));
        assert!(!instance.is_impossible(80) && instance.best_known().is_none());
        assert_eq!(free.clone().with_forbidden_pairs(Vec::new()).unwrap(), free);
    }

    #[test]
    fn renumbered_places_keep_their_pairs() {
        let instance = line(Metric::Euc2d, 5).with_forbidden_pairs(vec![(0, 4), (1, 3)]).unwrap();
        let renumbered = instance.renumbered(&[4, 3, 0, 1]).unwrap();
        assert_eq!(renumbered.forbidden_pairs(), [(0, 2), (1, 3)]);
        assert_eq!(renumbered.distance(2, 0), instance.forbidden().unwrap());
        assert_eq!(renumbered.distance(2, 3), 10);
    }

    #[test]
    fn unrounded_places_make_room() {
        for n in [2, 3, 100, 5000] {
            let places = (0..n).map(|x| [0.1 * f64::from(x), 0.3, 0.0]).collect();
            let free = Instance::from_places("line", 2, places).unwrap();
            let instance = free.clone().with_forbidden_pairs(vec![(0, 1)]).unwrap();
            let last = n as u32 - 1;
            assert_eq!(instance.tour_cost(&tour(n)).as_f64(), free.tour_cost(&tour(n)).as_f64() - skipped(n));
            assert!(i64::from(instance.forbidden().unwrap()) > 2 * instance.longest());
            assert!(n == 2 || i64::from(instance.distance(0, last)) <= instance.longest());
            assert_eq!(instance.given_points(), free.given_points());
        }
        fn tour(n: i32) -> Vec<u32> {
            // Only the first step is forbidden, and for two nodes the way back.
            let mut tour: Vec<u32> = (0..n as u32).collect();
            tour.rotate_left(if n == 2 { 0 } else { 1 });
            tour
        }
        fn skipped(n: i32) -> f64 {
            if n == 2 { 0.2 } else { 0.1 }
        }
    }

    #[test]
    fn rounding_is_taken_back_with_its_pairs() {
        let rounded = line(Metric::Euc2d, 4).with_forbidden_pairs(vec![(0, 3)]).unwrap();
        let instance = rounded.unrounded().unwrap();
        assert!(instance.is_forbidden(3, 0) && !instance.is_forbidden(0, 1) && !instance.is_exact());
        assert_eq!(instance.forbidden_steps(&[0, 1, 2, 3]), [(3, 0)]);
    }

    #[test]
    fn entries_of_a_matrix_have_a_direction() {
        let directed = Instance::from_matrix("m", vec![0, 1, 2, 3, 0, 4, 5, 6, 0]).unwrap();
        let instance = directed.with_forbidden_pairs(vec![(0, 1)]).unwrap();
        assert!(instance.is_forbidden(0, 1) && !instance.is_forbidden(1, 0));
        assert!(instance.forbidden_pairs().is_empty());
        assert_eq!(instance.count_forbidden(), 1);
        let symmetric = Instance::from_matrix("m", vec![0, 1, 2, 1, 0, 4, 2, 4, 0]).unwrap();
        let instance = symmetric.with_forbidden_pairs(vec![(1, 0)]).unwrap();
        assert!(instance.is_forbidden(0, 1) && instance.is_forbidden(1, 0) && instance.is_symmetric());
        assert_eq!((instance.count_forbidden(), instance.is_as_given()), (1, true));
        let more = instance.clone().with_forbidden_pairs(vec![(2, 1)]).unwrap();
        assert_eq!((more.forbidden(), more.count_forbidden()), (instance.forbidden(), 2));
    }

    #[test]
    fn large_costs_of_a_matrix_make_room() {
        let (long, no) = (i32::MAX, f64::INFINITY);
        let given = vec![0, long, 7, long, 0, long - 1, 7, long - 1, 0];
        let large = Instance::from_matrix("m", given).unwrap().with_forbidden_pairs(vec![(0, 2)]).unwrap();
        assert!(large.is_exact() && large.is_symmetric());
        assert!(i64::from(large.forbidden().unwrap()) > 2 * large.longest());
        assert_eq!(large.edge_cost(0, 1), f64::from(long));
        assert_eq!(large.tour_cost(&[0, 1, 2]), Cost::Whole(2 * i64::from(long) - 1));
        let third = 1.0 / 3.0;
        let costs = vec![0.0, third, 0.7, third, 0.0, 1e3, 0.7, 1e3, 0.0];
        let decimal = Instance::from_costs("m", costs).unwrap().with_forbidden_pairs(vec![(2, 0)]).unwrap();
        let read = vec![0.0, third, no, third, 0.0, 1e3, no, 1e3, 0.0];
        assert_eq!(decimal, Instance::from_costs("m", read).unwrap());
        // The highest cost beside which there is room, and the next one.
        for most in [(1 << 30) - 1, 1 << 30] {
            let most = f64::from(most);
            let instance =
                Instance::from_costs("m", vec![0.0, most, no, most, 0.0, 1.0, no, 1.0, 0.0]).unwrap();
            assert!(i64::from(instance.forbidden().unwrap()) > 2 * instance.longest());
            assert_eq!(instance.edge_cost(1, 0), most);
        }
    }

    #[test]
    fn what_cannot_be_forbidden_is_refused() {
        let error = line(Metric::Euc2d, 3).with_forbidden_pairs(vec![(1, 1)]).unwrap_err().to_string();
        assert!(error.contains("node 2 to itself"), "{error}");
        let far = vec![[0.0; 3], [1.5e9, 0.0, 0.0], [1.0, 0.0, 0.0]];
        let far = Instance::from_points("far", Metric::Euc2d, far).unwrap();
        let error = far.clone().with_forbidden_pairs(vec![(0, 2)]).unwrap_err().to_string();
        assert!(error.contains("no room"), "{error}");
        assert!(far.unrounded().unwrap().with_forbidden_pairs(vec![(0, 2)]).is_ok());
    }
}
