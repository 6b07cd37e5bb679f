//! The best neighbour: tabu search goes there unless it is tabu, a descent if it is better.

use super::walk::{Journey, Next};
use super::{Contender, Cost, Crew};
use crate::papers::neighborhood::{Clock, Neighborhood, Standing};
use crate::papers::problem::Problem;

/// Returns the key of a neighbour as a candidate of tabu search, given its [`Cost::key`] and that of the best cost so far: smallest
/// for moves that are overdue or lead to a better cost, then for free ones, then for tabu ones.
#[inline(always)]
pub fn candidate(key: u64, standing: Standing, best_key: u64) -> u64 {
    let class = if standing == Standing::Overdue || key < best_key {
        0
    } else {
        1 + (standing == Standing::Tabu) as u64
    };
    class << 62 | key
}

/// [Keys](candidate) from here on are those of tabu neighbours.
pub const FORBIDDEN: u64 = 2 << 62;

impl<P: Problem> Journey<'_, P> {
    /// Evaluates all neighbours of the walk's level, and decides.
    ///
    /// # Safety
    /// As [`walk`](super::walk()), with a solution whose notes are made.
    #[inline(always)]
    pub(super) unsafe fn go_to_the_best<C: Crew>(&mut self, crew: &mut C, tabu: bool) -> Next {
        let Journey { problem, rules, traces, walk, cost, best, state, .. } = self;
        let (team, moves) = (crew.team(), problem.moves());
        let clock = Clock {
            now: (state.iterations as u32).saturating_add(*traces).saturating_add(1),
            aspiration: rules.aspiration,
        };
        let draws = walk.stream.step(0);
        let salt = (draws.bits(0) as u64) << 32 | draws.bits(1) as u64;
        let best_key = best.key();
        let (start, end) = moves.level(state.level);
        // The best of this member's neighbours. The tie-breaking order takes longer to compute than a comparison of costs, so it is
        // computed only for ties.
        let (mut least, mut there_bits, mut found) = (u64::MAX, 0, None);
        // SAFETY: the caller's promise.
        unsafe {
            problem.scan(crew, walk, state.level, *cost, |_, step, there| {
                let mut key = there.key();
                if tabu {
                    key = candidate(key, moves.standing(walk, clock, step), best_key);
                }
                let is_ahead = |other| moves.index(step) ^ salt < moves.index(other) ^ salt;
                if key < least || (key == least && found.is_some_and(is_ahead)) {
                    (least, there_bits, found) = (key, there.bits(), Some(step));
                }
            });
            let own = found.map_or(Contender::NONE, |step| Contender {
                key: least,
                tag: moves.index(step) ^ salt,
                cost: there_bits,
            });
            let chosen = crew.best(own);
            state.evaluations += end - start;
            state.iterations += 1;
            let neighbor = chosen.tag ^ salt;
            if tabu {
                if chosen.key >= FORBIDDEN {
                    return Next::Stay;
                }
                let tenures = walk.stream.step(1);
                moves.leave(team, walk, moves.at(neighbor), |item| {
                    clock.now + rules.tenure + tenures.below(item, rules.tenures)
                });
                Next::Go(neighbor, chosen.cost)
            } else if chosen.key < cost.key() {
                Next::Go(neighbor, chosen.cost)
            } else {
                Next::Optimum
            }
        }
    }
}
