//! Rounds: the trials of a tour, and the merge of their changes.
//!
//! Where there are as many tours as keep all threads busy, a thread makes rounds of one tour alone. It waits for others only at the end of
//! all rounds, so one that shares its processor with another process delays them little. With fewer tours, threads share the trials of a
//! round. They also share those of large tours, one after another.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use antwarp_core::geometry::{Geometry, Places};
use antwarp_core::lin_kernighan::Tour;
use antwarp_core::lin_kernighan::merge::{self, Merged};
use antwarp_core::lin_kernighan::trial::{self, TrialChanges, TrialRound};
use antwarp_core::operator::{LinKernighan as Deep, Reach, Shallow};
use antwarp_core::rng::Stream;
use antwarp_core::team::Serial;

use super::super::processor::for_this_processor;
use super::super::{QUAD_WORDS, Quad, Together, parallel};
use super::are_in_turn;
use super::chain::Chain;
use antwarp_engine::{Enough, Problem};
use antwarp_instance::parallel::{each, each_of};

// As code for newer processors it makes a fifth more kicks.
for_this_processor!(run_trial, run_trial_new, trial::run, [R: Reach, G: Geometry], (
    team: Serial, reach: R, tour: Tour<G>, memory: *mut u32, round: TrialRound, stream: Stream, trial: u32, changes: TrialChanges
));

/// Memory of a trial.
const QUADS: usize = (trial::WORDS as usize).div_ceil(QUAD_WORDS);
/// In how many turns a tour's rounds are made: with one, threads would wait longer for the last ones.
const TURNS: usize = 4;

/// What all threads read.
pub(super) struct Rounds<'a, G: Geometry> {
    pub(super) problem: &'a Problem,
    /// The distance to each neighbour.
    pub(super) near: &'a [i32],
    pub(super) places: Together<Places<G>>,
    /// `None`: as deep as Lin and Kernighan.
    pub(super) reach: Option<Shallow>,
}

/// What rounds came to.
#[derive(Clone, Copy, Default)]
pub(super) struct Done {
    /// Trials made of the first tour.
    pub(super) trials: u64,
    /// Changes found for all tours in their last rounds.
    pub(super) offered: u64,
}

impl<G: Geometry> Rounds<'_, G> {
    /// Makes these rounds of all tours. Once `enough` asks to stop, the rest is left out, which may be more of one tour than of
    /// another.
    pub(super) fn run(&self, chains: &mut [Chain], rounds: &[TrialRound], enough: Enough) -> Done {
        if are_in_turn(self.problem.n()) {
            self.run_in_turn(chains, rounds, enough)
        } else if 4 * chains.len() >= 3 * rayon::current_num_threads() {
            self.run_apart(chains, rounds, enough)
        } else {
            // Apart, too many threads would have no tour.
            self.run_together(chains, rounds, enough)
        }
    }

    /// Makes these rounds of all tours at the same time; threads share the trials of each.
    fn run_together(&self, chains: &mut [Chain], rounds: &[TrialRound], enough: Enough) -> Done {
        let (first, offered) = (AtomicU64::new(0), AtomicU64::new(0));
        // Also a single tour is worked on by a thread of the pool: from outside, every loop would wake one up and wait for it.
        each_of(chains, 0, &|index, chain| {
            let done = self.run_one((index, chain), rounds, enough);
            if index == 0 {
                first.store(done.trials, Ordering::Relaxed);
            }
            offered.fetch_add(done.offered, Ordering::Relaxed);
        });
        Done { trials: first.into_inner(), offered: offered.into_inner() }
    }

    /// Makes these rounds of one tour after another, with all threads.
    fn run_in_turn(&self, chains: &mut [Chain], rounds: &[TrialRound], enough: Enough) -> Done {
        let mut all = [(chains, Done::default())];
        each_of(&mut all, 0, &|_, (chains, done)| {
            for (index, chain) in chains.iter_mut().enumerate() {
                let one = self.run_one((index, chain), rounds, enough);
                if index == 0 {
                    done.trials = one.trials;
                }
                done.offered += one.offered;
            }
        });
        let [(_, done)] = all;
        done
    }

    /// Makes these rounds of a tour, which has this number; threads share the trials.
    fn run_one(&self, (index, chain): (usize, &mut Chain), rounds: &[TrialRound], enough: Enough) -> Done {
        let mut done = Done::default();
        for &round in rounds {
            if enough() {
                break;
            }
            done.trials += self.find((index, chain), round, 0..round.trials, enough);
            done.offered = self.merge(chain, round);
        }
        done
    }

    /// Makes these rounds of all tours. A thread makes some rounds of a tour alone, then some of the tour that has waited longest.
    fn run_apart(&self, chains: &mut [Chain], rounds: &[TrialRound], enough: Enough) -> Done {
        struct Turn<'c> {
            number: usize,
            chain: &'c mut Chain,
            next: usize,
            made: u64,
            offered: u64,
        }
        let turn = |(number, chain)| Turn { number, chain, next: 0, made: 0, offered: 0 };
        let waiting: VecDeque<Turn<'_>> = chains.iter_mut().enumerate().map(turn).collect();
        let (waiting, done) = (Mutex::new(waiting), Mutex::new(Done::default()));
        let take = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let at_a_time = rounds.len().div_ceil(TURNS);
        parallel::on_each_thread(&|_| {
            let mut memory = vec![Quad::default(); QUADS];
            while let Some(mut turn) = take() {
                let end = (turn.next + at_a_time).min(rounds.len());
                let is_over = rounds[turn.next..end].iter().any(|&round| {
                    if enough() {
                        return true;
                    }
                    turn.made += self.find_alone((turn.number, turn.chain), round, &mut memory, enough);
                    turn.offered = self.merge_alone(turn.chain, round);
                    false
                });
                turn.next = end;
                if is_over || end == rounds.len() {
                    let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                    done.offered += turn.offered;
                    if turn.number == 0 {
                        done.trials = turn.made;
                    }
                } else {
                    waiting.lock().unwrap_or_else(PoisonError::into_inner).push_back(turn);
                }
                parallel::give_way();
            }
        });
        done.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the trials of a tour on this thread alone; returns how many were made.
    fn find_alone(
        &self,
        (number, chain): (usize, &mut Chain),
        round: TrialRound,
        memory: &mut [Quad],
        enough: Enough,
    ) -> u64 {
        match self.reach {
            None => self.find_alone_by(Deep, (number, chain), round, memory, enough),
            Some(reach) => self.find_alone_by(reach, (number, chain), round, memory, enough),
        }
    }

    fn find_alone_by<R: Reach>(
        &self,
        reach: R,
        (number, chain): (usize, &mut Chain),
        round: TrialRound,
        memory: &mut [Quad],
        enough: Enough,
    ) -> u64 {
        let (tour, changes) = self.view(chain).get();
        let stream = Stream::new(round.seed, round.number, number as u32);
        let mut made = 0;
        for trial in 0..round.trials {
            // SAFETY: the tour, its changes and the memory belong to this thread.
            unsafe {
                if enough() {
                    changes.count.set(trial, 0);
                    continue;
                }
                made += 1;
                let memory = memory.as_mut_ptr().cast();
                run_trial(Serial, reach, tour, memory, round, stream, trial, changes);
            }
        }
        made
    }

    /// Makes some trials of a tour, which has this number; returns how many were made. All threads share them. Those left out
    /// once `enough` asks to stop find nothing.
    pub(super) fn find(
        &self,
        (number, chain): (usize, &mut Chain),
        round: TrialRound,
        trials: Range<u32>,
        enough: Enough,
    ) -> u64 {
        match self.reach {
            None => self.find_by(Deep, (number, chain), round, trials, enough),
            Some(reach) => self.find_by(reach, (number, chain), round, trials, enough),
        }
    }

    fn find_by<R: Reach>(
        &self,
        reach: R,
        (number, chain): (usize, &mut Chain),
        round: TrialRound,
        trials: Range<u32>,
        enough: Enough,
    ) -> u64 {
        let view = self.view(chain);
        let made = AtomicU64::new(0);
        let stream = Stream::new(round.seed, round.number, number as u32);
        parallel::each_with_memory(trials.len(), QUADS, &|memory, index| {
            let (trial, (tour, changes)) = (trials.start + index as u32, view.get());
            // SAFETY: the memory belongs to this thread; a trial has its own places.
            unsafe {
                if enough() {
                    changes.count.set(trial, 0);
                    return;
                }
                made.fetch_add(1, Ordering::Relaxed);
                let memory = memory.as_mut_ptr().cast();
                run_trial(Serial, reach, tour, memory, round, stream, trial, changes);
            }
        });
        made.into_inner()
    }

    /// Makes those changes found by the trials of a round that can be made together; returns how many were found.
    pub(super) fn merge(&self, chain: &mut Chain, round: TrialRound) -> u64 {
        self.merge_with(chain, round, |n, place| each(n, 1 << 10, place))
    }

    /// Does the same on this thread alone.
    fn merge_alone(&self, chain: &mut Chain, round: TrialRound) -> u64 {
        self.merge_with(chain, round, |n, place| (0..n).for_each(place))
    }

    /// Does the same; `each` calls a function with each position.
    fn merge_with(
        &self,
        chain: &mut Chain,
        round: TrialRound,
        each: impl FnOnce(usize, &(dyn Fn(usize) + Sync)),
    ) -> u64 {
        let (tour, changes) = self.view(chain).get();
        let board = chain.board();
        // SAFETY: the tour and its arrays belong to this thread.
        let merged: Merged = unsafe { merge::plan(Serial, tour, board, changes, round.trials) };
        if merged.cuts > 0 {
            let together = Together((tour, changes, board, chain.next()));
            each(self.problem.n() as usize, &|position| {
                let (tour, changes, board, next) = together.get();
                // SAFETY: a position belongs to one thread; where nodes go is a permutation.
                unsafe { merge::place(tour, board, changes, merged.cuts, position as u32, next) };
            });
            std::mem::swap(&mut chain.order, &mut chain.next_order);
            std::mem::swap(&mut chain.ahead, &mut chain.next_ahead);
            chain.cost -= merged.gain;
        }
        u64::from(merged.offered)
    }

    /// Returns a tour as its trials see it, with the places where they write.
    fn view(&self, chain: &mut Chain) -> Together<(Tour<G>, TrialChanges)> {
        let problem = self.problem;
        let tour = Tour {
            n: problem.n(),
            k: problem.search_k(),
            order: chain.order.as_ptr(),
            position: chain.position.as_ptr(),
            ahead: chain.ahead.as_ptr(),
            lists: problem.neighbors().as_ptr(),
            near: self.near.as_ptr(),
            places: self.places.get(),
        };
        Together((tour, chain.changes()))
    }
}

#[cfg(test)]
mod tests {
    use antwarp_core::geometry;
    use antwarp_engine::lin_kernighan::Spec;
    use antwarp_engine::start::{self, Start};
    use antwarp_instance::{generate, quadrant};

    use super::*;

    /// A trial depends on the tour, the seed, the round and its number, but not on who else is at work.
    #[test]
    fn tours_are_the_same_however_threads_share_the_work() {
        let instance = generate::uniform(700, 4).unwrap();
        let near = quadrant(&instance, 8);
        let problem = Problem::for_search(&instance, &near, start::tour(&instance, Start::Greedy, &near, 1));
        let spec = Spec::new(None, problem.n(), (5, 40), Vec::new(), problem.unit_cost());
        let (lengths, ahead) = (problem.neighbor_lengths(), problem.step_lengths());
        let plane = problem.distances();
        crate::variants::with_places!(&problem, plane, |geometry, places| {
            let places = Together(geometry::Places { geometry, start: places.as_ptr() });
            let rounds = Rounds { problem: &problem, near: &lengths, places, reach: None };
            let round = |number| TrialRound {
                seed: 5,
                number,
                trials: 40,
                walk: if number < 3 { 0 } else { 20 },
                temperature: 0.0,
                looks: u32::MAX,
                padding: 0,
            };
            let all: Vec<TrialRound> = (0..20).map(round).collect();
            let tours = |run: &dyn Fn(&mut [Chain]) -> Done| {
                let chain = |_| Chain::new(&ahead, problem.unit_cost(), &spec).unwrap();
                let mut chains: Vec<Chain> = (0..5).map(chain).collect();
                let done = run(&mut chains);
                let found: Vec<_> = chains.into_iter().map(|chain| (chain.cost, chain.order)).collect();
                (done.trials, done.offered, found)
            };
            let never: Enough = &|| false;
            let together = tours(&|chains| rounds.run_together(chains, &all, never));
            assert_eq!(together, tours(&|chains| rounds.run_in_turn(chains, &all, never)));
            assert_eq!(together, tours(&|chains| rounds.run_apart(chains, &all, never)));
            let (trials, _, found) = together;
            assert_eq!(trials, 20 * 40);
            assert!(found.iter().all(|(cost, order)| problem.length(order) == Some(*cost)));
            assert!(found.iter().all(|(cost, _)| *cost < problem.unit_cost()) && found[0] != found[1]);
        });
    }
}
