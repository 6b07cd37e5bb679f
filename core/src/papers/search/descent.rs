//! Descents: the first improving neighbour, and what follows in a local optimum.

use super::kick::{kick, random_neighbor};
use super::walk::{DESCENDED, Journey, Next, Strategy, random_solution};
use super::{Contender, Cost, Crew};
use crate::papers::neighborhood::Neighborhood;
use crate::papers::problem::Problem;
use crate::team::Team;

/// Most neighbours of a member between two exchanges.
const MOST_BETWEEN_EXCHANGES: u64 = 1 << 12;

impl<P: Problem> Journey<'_, P> {
    /// Goes to the first improving neighbour of the walk's level: in the order of their numbers, from a random one on, wrapping
    /// around after the last. Members evaluate windows of neighbours, each twice as long as the last, and the first improvement
    /// found by any of them counts.
    ///
    /// # Safety
    /// As [`walk`](super::walk()), with a solution whose notes are made.
    #[inline(always)]
    pub(super) unsafe fn go_to_the_first<C: Crew>(&mut self, crew: &mut C) -> Next {
        let Journey { problem, walk, cost, state, .. } = self;
        let (team, moves) = (crew.team(), problem.moves());
        let (start, end) = moves.level(state.level);
        let len = end - start;
        let from = random_neighbor(walk.stream.step(0), 0, len);
        let members = crew.parts() * team.size();
        let rank = (crew.part() * team.size() + team.rank()) as u64;
        let (mut seen, mut window) = (0, members as u64);
        state.iterations += 1;
        while seen < len {
            let until = if window < len - seen { seen + window } else { len };
            let mut own = Contender::NONE;
            let mut ahead = seen + rank;
            if problem.is_over() {
                own = Contender { key: len, tag: rank, cost: 0 };
            } else if ahead < until {
                let mut neighbor = start + from + ahead;
                neighbor -= if neighbor < end { 0 } else { len };
                let mut step = moves.at(neighbor);
                loop {
                    // SAFETY: the caller's promise.
                    let there = unsafe { problem.neighbor_cost(walk, *cost, step) };
                    if there.key() < cost.key() {
                        own = Contender { key: ahead, tag: neighbor, cost: there.bits() };
                        break;
                    }
                    ahead += members as u64;
                    if ahead >= until {
                        break;
                    }
                    let last = neighbor;
                    neighbor += members as u64;
                    if neighbor < end {
                        step = moves.skip(step, last, members);
                    } else {
                        neighbor -= len;
                        step = moves.at(neighbor);
                    }
                }
            }
            let chosen = crew.best(own);
            if chosen.key < len {
                state.evaluations += chosen.key + 1;
                return Next::Go(chosen.tag, chosen.cost);
            }
            if chosen.key == len {
                return Next::Stay;
            }
            seen = until;
            window += if window < MOST_BETWEEN_EXCHANGES * members as u64 { window } else { 0 };
        }
        state.evaluations += len;
        Next::Optimum
    }

    /// If no neighbour is better, goes on to the next neighbourhood, and after the last one leaves the local optimum.
    ///
    /// # Safety
    /// As [`walk`](super::walk()).
    #[inline(always)]
    pub(super) unsafe fn go_on<T: Team>(&mut self, team: T) -> Next {
        self.state.level += 1;
        if self.state.level < self.rules.levels {
            return Next::Stay;
        }
        self.state.level = 0;
        // SAFETY: the caller's promise.
        unsafe { self.leave_the_optimum(team) }
    }

    /// Leaves a local optimum: hill climbing goes to a random solution, iterated search makes some random moves from the optimum
    /// that it accepted last, and variable search one more move each time, or a single one from an optimum that is better.
    ///
    /// # Safety
    /// As [`walk`](super::walk()).
    #[inline(always)]
    unsafe fn leave_the_optimum<T: Team>(&mut self, team: T) -> Next {
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
            if rules.accepts_optima() {
                let accepted_cost = P::Cost::from_bits(state.accepted);
                let (keep, is_better) = (*cost <= accepted_cost, *cost < accepted_cost);
                if rules.strategy == Strategy::Vary as u32 {
                    let next = state.shake + 1;
                    state.shake = if is_better || next > rules.kicks { 1 } else { next };
                } else {
                    state.shake = rules.kicks;
                }
                team.for_each(n, |i| {
                    let (to, from) =
                        if keep { (*accepted, walk.solution) } else { (walk.solution, *accepted) };
                    to.set(i, from.get(i));
                });
                team.barrier();
                if keep {
                    state.accepted = cost.bits();
                }
                kick(team, &moves, walk, state.shake, 3);
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
