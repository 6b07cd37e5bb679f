//! Simulated annealing: one random neighbour per iteration.

use super::kick::random_neighbor;
use super::walk::{Journey, LEVELS, Next, WalkRules, iteration_stream};
use super::{Contender, Cost, Crew};
use crate::papers::neighborhood::{Neighborhood, Walk};
use crate::papers::problem::Problem;
use crate::rng::exponential;
use crate::team::Team;

impl WalkRules {
    /// Returns the temperature of a step.
    #[inline(always)]
    fn temperature(&self, step: u64) -> f32 {
        let cooling = self.cooling.max(1);
        let level = (step % cooling).wrapping_mul(LEVELS as u64) / cooling;
        let (mut t, mut factor, mut bits) = (self.hot, self.ratio, level as u32);
        while bits > 0 {
            t *= if bits & 1 == 1 { factor } else { 1.0 };
            factor *= factor;
            bits >>= 1;
        }
        t
    }
}

impl<P: Problem> Journey<'_, P> {
    /// Lets every member evaluate the neighbour that an upcoming iteration proposes if the ones before it are not accepted: the
    /// first accepted one counts, and the iterations up to it.
    ///
    /// # Safety
    /// As [`walk`](super::walk()), with a solution whose notes are made.
    #[inline(always)]
    pub(super) unsafe fn propose<C: Crew>(&mut self, crew: &mut C) -> Next {
        let Journey { problem, rules, index, walk, cost, state, .. } = self;
        let (team, moves) = (crew.team(), problem.moves());
        let width = crew.parts() as u64 * team.size() as u64;
        let width = width.min(rules.end - state.iterations);
        let ahead = crew.part() as u64 * team.size() as u64 + team.rank() as u64;
        let mut own = Contender::NONE;
        if ahead < width {
            let step = state.iterations + ahead;
            let proposed = Walk { stream: iteration_stream(rules.seed, step, *index), ..*walk };
            let draws = proposed.stream.step(2);
            let neighbor = random_neighbor(draws, 0, moves.len());
            // SAFETY: the caller's promise.
            let there = unsafe { problem.neighbor_cost(&proposed, *cost, moves.at(neighbor)) };
            let rise = there.above(*cost);
            let most = rules.temperature(step) * core::f32::consts::LN_2 * exponential(draws.bits(2));
            if rise <= 0.0 || rise <= most {
                own = Contender { key: ahead, tag: neighbor, cost: there.bits() };
            }
        }
        let chosen = crew.best(own);
        let is_made = chosen.key != u64::MAX;
        let steps = if is_made { chosen.key + 1 } else { width };
        state.evaluations += steps;
        state.iterations += steps;
        if is_made {
            walk.stream = iteration_stream(rules.seed, state.iterations - 1, *index);
            Next::Go(chosen.tag, chosen.cost)
        } else {
            Next::Stay
        }
    }
}
