//! Joins an iteration's tours: its best, improved by every better part of other ants' tours.

use rayon::prelude::*;

use super::Ants;
use crate::Recombiner;
use antwarp_engine::{BackendError, Enough};

impl Ants<'_> {
    /// Joins the best tour of this iteration, or since the last reset of the trails if that is shorter, with the tours of all ants,
    /// the shortest first ([`Recombiner`]), until interrupted by `enough`. If the result is shorter, it replaces the iteration's
    /// best. If memory is short, nothing is joined.
    pub(super) fn join(&mut self, enough: Enough) {
        let n = self.problem.n() as usize;
        let built = (0usize..).zip(&self.costs).filter(|(_, cost)| **cost < i64::MAX);
        let Some((best_ant, _)) = built.min_by_key(|(_, cost)| **cost) else { return };
        let ants = self.costs.iter().copied().zip(self.tours.chunks_exact(n));
        let mut tours: Vec<(i64, &[u32])> = ants
            .chain([(self.state.restart_cost, &self.restart_tour[..])])
            .filter(|t| t.0 < i64::MAX)
            .collect();
        tours.sort_by_key(|&(cost, _)| cost);
        let (cost, base) = (tours[0].0, tours[0].1);
        let begun = || {
            let mut recombiner = Recombiner::new(self.problem)?;
            recombiner.begin(base);
            Ok::<_, BackendError>(recombiner)
        };
        // Few tours have improvements to offer, and a single thread joins them one after the other.
        let offers = tours[1..].par_iter().map_init(begun, |recombiner, (_, tour)| {
            let Some(recombiner) = recombiner.as_mut().ok().filter(|_| !enough()) else { return false };
            let offers = recombiner.join(tour) > 0;
            if offers {
                recombiner.begin(base);
            }
            offers
        });
        let offers: Vec<bool> = offers.collect();
        if !offers.contains(&true) {
            return;
        }
        let Ok(mut recombiner) = begun() else { return };
        let mut gain = 0;
        for ((_, tour), _) in tours[1..].iter().zip(offers).filter(|(_, offers)| *offers) {
            if enough() {
                break;
            }
            gain += recombiner.join(tour);
        }
        if gain > 0 {
            let (order, _) = recombiner.tour_and_steps();
            let place = &mut self.tours[best_ant * n..][..n];
            place.copy_from_slice(order);
            self.costs[best_ant] = cost - gain;
        }
    }
}

#[cfg(test)]
mod tests {
    use antwarp_core::papers::ants::colony::{ColonyRules, Depositor};

    use super::*;
    use antwarp_engine::{LocalSearch, Problem};
    use antwarp_instance::{Instance, Metric};

    /// Twenty nodes on a ring. Three ants each have a different pair of neighbours swapped, a fourth one was cut short.
    #[test]
    fn the_best_tour_gets_what_all_ants_do_better() {
        let places = (0..20).map(|i| {
            let angle = f64::from(i) * std::f64::consts::TAU / 20.0;
            [(1e4 * angle.cos()).round(), (1e4 * angle.sin()).round(), 0.0]
        });
        let instance = Instance::from_points("ring", Metric::Euc2d, places.collect()).unwrap();
        let ring: Vec<u32> = (0..20).collect();
        let problem = Problem::new(&instance, Some(8), 8).unwrap();
        let length = |tour: &[u32]| instance.check_tour(&problem.original(tour)).unwrap();
        let rules = ColonyRules {
            target: i64::MIN,
            unit_cost: 1.0,
            persistence: 0.5,
            limit_ratio: 0.1,
            reset_after: 0,
            padding: 0,
        };
        let mut ants = Ants::new(&problem, (1, 4, rules), (LocalSearch::Lk, 5)).unwrap();
        let build = |ants: &mut Ants, wrong: [usize; 3]| {
            for (ant, at) in wrong.into_iter().enumerate() {
                let mut tour = ring.clone();
                tour.swap(at, at + 1);
                ants.costs[ant] = length(&tour);
                ants.tours[20 * ant..].iter_mut().zip(&tour).for_each(|(to, &node)| *to = node);
            }
            ants.costs[3] = i64::MAX;
        };
        build(&mut ants, [3, 10, 15]);
        let before = ants.costs.clone();
        let best = (0..4).min_by_key(|&ant| before[ant]).unwrap();
        ants.join(&|| false);
        let joined: Vec<u32> = ants.tours[20 * best..][..20].to_vec();
        assert_eq!((length(&joined), ants.costs[best]), (length(&ring), length(&ring)));
        assert!((0..4).all(|ant| ant == best || ants.costs[ant] == before[ant]));
        // The best tour so far is the ring: no ant has a better part.
        ants.judge(Depositor::Iteration);
        build(&mut ants, [7, 1, 12]);
        let before = ants.costs.clone();
        ants.join(&|| false);
        assert_eq!(ants.costs, before);
    }
}
