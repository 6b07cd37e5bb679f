//! The start and end of a batch: where a walk starts, and what is kept of it.

use super::walk::{Journey, Strategy, WalkState, iteration_stream, random_solution};
use super::{Cost, kick::kick};
use crate::papers::neighborhood::Neighborhood;
use crate::papers::problem::Problem;
use crate::team::{Slots, Team};

impl<P: Problem> Journey<'_, P> {
    /// Starts where the last batch ended, or at a random solution, or at a best one; returns whether it was the first of these.
    ///
    /// # Safety
    /// As [`walk`](super::walk()), which calls this first; `leads` in the walk's first team.
    #[inline(always)]
    pub(super) unsafe fn start<T: Team>(&mut self, team: T, leads: bool) -> bool {
        let Journey { rules, bank, index, first, traces, accepted, walk, state, .. } = self;
        let (index, first) = (*index, *first);
        let moves = self.problem.moves();
        let n = moves.elements();
        let accepts = rules.accepts_optima();
        // SAFETY: the caller's promise.
        unsafe {
            let own_best = bank.old_bests.add(first);
            let new_best = Slots::new(bank.bests.add(first), n as usize);
            let home_accepted = bank.accepted.add(first);
            let home_traces = bank.traces.add(index as usize * *traces as usize);
            let rival = index ^ rules.rival_bit;
            let mut source = bank.solutions.add(first).cast_const();
            let begins = state.fresh != 0;
            let mut carried = !begins;
            let mut adopted = false;
            let mut kicks = 0;
            let mut mate = None;
            if rules.rival_bit != 0 && carried {
                if rules.strategy == Strategy::Tabu as u32 && rules.kicks > 0 {
                    source = own_best;
                    (carried, state.cost) = (false, state.best);
                    let draws = iteration_stream(rules.seed, state.iterations, index).step(4);
                    kicks = 1 + draws.below(0, rules.kicks);
                }
                if rival < rules.walks {
                    let other = *bank.old_states.add(rival as usize);
                    if P::Cost::from_bits(other.best) < P::Cost::from_bits(state.best) {
                        source = bank.old_bests.add(rival as usize * n as usize);
                        (state.best, state.cost, state.accepted) = (other.best, other.best, other.best);
                        state.best_iteration = other.best_iteration;
                        (state.level, state.shake) = (0, 0);
                        (carried, adopted) = (false, true);
                    }
                }
                // A child is made in the memory of the tabu list.
                if rules.mate != 0 && P::CROSSES && rules.strategy == Strategy::Tabu as u32 {
                    let other = ((index as u64 + rules.mate as u64) % rules.walks as u64) as u32;
                    let others = bank.old_bests.add(other as usize * n as usize);
                    let mut differing = 0;
                    team.for_each(n, |i| {
                        differing += (*own_best.add(i as usize) != *others.add(i as usize)) as u64
                    });
                    if team.sum(differing) > rules.alike as u64 {
                        mate = Some(others);
                    } else {
                        // The first in this order never restarts, so the best solution of all is kept.
                        let rank = |state: &WalkState, index| {
                            (P::Cost::from_bits(state.best).key(), state.best_iteration, index)
                        };
                        let theirs = rank(&*bank.old_states.add(other as usize), other);
                        state.fresh = (theirs < rank(state, index)) as u32;
                    }
                    if mate.is_some() || state.fresh != 0 {
                        (carried, kicks) = (false, 0);
                    }
                }
            }
            // A walk that restarts later starts elsewhere.
            let number = if begins { state.descents } else { state.iterations as u32 };
            team.for_each(n, |i| {
                let element = if state.fresh != 0 {
                    random_solution(&moves, rules.seed, number, index, i)
                } else {
                    *source.add(i as usize)
                };
                walk.solution.set(i, element);
                if accepts {
                    let is_new = adopted || state.fresh != 0;
                    accepted.set(i, if is_new { element } else { *home_accepted.add(i as usize) });
                }
                if leads && state.fresh == 0 {
                    new_best.set(i, if adopted { element } else { *own_best.add(i as usize) });
                }
            });
            if let Some(others) = mate {
                team.barrier();
                let draws = iteration_stream(rules.seed, state.iterations, index).step(6);
                let seed = (draws.bits(0) as u64) << 32 | draws.bits(1) as u64;
                moves.cross(team, walk, (own_best, others), seed);
            }
            // Nothing is tabu, and entries, which may be distinguished by their ages, get different ones: for a walk that starts,
            // or goes on from another solution while its clock continues.
            team.for_each(*traces, |i| {
                let begun = if begins { i } else { state.iterations as u32 + i };
                walk.traces.set(i, if carried { *home_traces.add(i as usize) } else { begun });
            });
            team.barrier();
            walk.stream = iteration_stream(rules.seed, state.iterations, index);
            kick(team, &moves, walk, kicks, 5);
            (self.cost, self.best) = (P::Cost::from_bits(state.cost), P::Cost::from_bits(state.best));
            carried
        }
    }

    /// Saves what the next batch starts with.
    ///
    /// # Safety
    /// As [`walk`](super::walk()), which calls this last; only in the walk's first team.
    #[inline(always)]
    pub(super) unsafe fn keep<T: Team>(&mut self, team: T) {
        (self.state.cost, self.state.best) = (self.cost.bits(), self.best.bits());
        let Journey { rules, bank, index, first, traces, accepted, walk, state, .. } = self;
        let (index, first) = (*index, *first);
        let accepts = rules.accepts_optima();
        // SAFETY: the caller's promise.
        unsafe {
            let home_solution = bank.solutions.add(first);
            let home_accepted = bank.accepted.add(first);
            let home_traces = bank.traces.add(index as usize * *traces as usize);
            team.for_each(self.problem.moves().elements(), |i| {
                *home_solution.add(i as usize) = walk.solution.get(i);
                if accepts {
                    *home_accepted.add(i as usize) = accepted.get(i);
                }
            });
            team.for_each(*traces, |i| *home_traces.add(i as usize) = walk.traces.get(i));
            team.single(|| *bank.states.add(index as usize) = *state);
        }
    }
}
