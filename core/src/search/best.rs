//! The best neighbour: tabu search goes there unless it is tabu, hill climbing if it is better.

use super::kick::kick;
use super::walk::{DESCENDED, Journey, Next, random_solution};
use super::{Contender, Cost, Crew};
use crate::neighborhood::{Clock, Neighborhood, Standing};
use crate::problem::Problem;
use crate::team::Team;

/// A neighbour as a candidate of tabu search, given the best cost so far.
#[inline(always)]
pub fn candidate(key: u64, standing: Standing, best_key: u64) -> u64 {
    let class = if standing == Standing::Overdue || key < best_key {
        0
    } else {
        1 + (standing == Standing::Tabu) as u64
    };
    class << 62 | key
}

/// Candidates from here on are tabu.
pub const FORBIDDEN: u64 = 2 << 62;

impl<P: Problem> Journey<'_, P> {
    /// Looks at all neighbours, and decides.
    ///
    /// # Safety
    /// As [`walk`](super::walk()), with a solution whose notes are made.
    #[inline(always)]
    pub(super) unsafe fn go_to_the_best<C: Crew>(&mut self, crew: &mut C, tabu: bool, iterate: bool) -> Next {
        let Journey { problem, rules, traces, walk, cost, best, state, .. } = self;
        let (team, moves) = (crew.team(), problem.moves());
        let clock = Clock {
            now: (state.iterations as u32).saturating_add(*traces).saturating_add(1),
            aspiration: rules.aspiration,
        };
        let draws = walk.stream.step(0);
        let salt = (draws.bits(0) as u64) << 32 | draws.bits(1) as u64;
        let best_key = best.key();
        let mut own = Contender::NONE;
        // SAFETY: the caller's promise.
        unsafe {
            problem.scan(crew, walk, *cost, |neighbor, step, there| {
                let mut key = there.key();
                if tabu {
                    key = candidate(key, moves.standing(walk, clock, step), best_key);
                }
                own = own.or(Contender { key, tag: neighbor ^ salt, cost: there.bits() });
            });
            let chosen = crew.best(own);
            state.evaluations += moves.len();
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
                self.leave_the_optimum(team, iterate)
            }
        }
    }

    /// From a local optimum, hill climbing goes to a random solution, and iterated search some random moves away from the optimum that
    /// it accepted last.
    ///
    /// # Safety
    /// As [`walk`](super::walk()).
    #[inline(always)]
    unsafe fn leave_the_optimum<T: Team>(&mut self, team: T, iterate: bool) -> Next {
        let Journey { problem, rules, index, accepted, walk, cost, state, .. } = self;
        let moves = problem.moves();
        let n = moves.elements();
        state.descents += 1;
        if rules.descents != 0 && state.descents >= rules.descents {
            state.done = DESCENDED;
            return Next::Stay;
        }
        // SAFETY: the caller's promise.
        unsafe {
            if iterate {
                let keep = *cost <= P::Cost::from_bits(state.accepted);
                team.for_each(n, |i| {
                    let (to, from) =
                        if keep { (*accepted, walk.solution) } else { (walk.solution, *accepted) };
                    to.set(i, from.get(i));
                });
                team.barrier();
                if keep {
                    state.accepted = cost.bits();
                }
                kick(team, &moves, walk, rules.kicks, 3);
            } else {
                team.for_each(n, |i| {
                    let element = random_solution(&moves, rules.seed, state.descents, *index, i);
                    walk.solution.set(i, element);
                });
                team.barrier();
            }
        }
        Next::Anew
    }
}
