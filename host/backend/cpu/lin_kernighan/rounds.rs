//! Rounds: the trials of a tour, and the merge of their changes.
//!
//! Where there are several tours, a thread that is free takes the next tour and makes all of its rounds. No thread waits for another at
//! the end of a round, so one that shares its processor with another process delays nobody. Only once all tours are taken, free threads
//! take trials of the tours that are left.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use antwarp_core::geometry::{Geometry, Places};
use antwarp_core::lin_kernighan::Tour;
use antwarp_core::lin_kernighan::merge::{self, Merged};
use antwarp_core::lin_kernighan::trial::{self, TrialChanges, TrialRound};
use antwarp_core::operator::{LinKernighan as Deep, Reach, Shallow};
use antwarp_core::rng::Stream;
use antwarp_core::team::Serial;

use super::super::processor::for_this_processor;
use super::super::{QUAD_WORDS, Together, parallel};
use super::chain::Chain;
use antwarp_engine::{Enough, Problem};
use antwarp_instance::parallel::{each, each_of};

// As code for newer processors it makes a fifth more kicks.
for_this_processor!(run_trial, run_trial_new, trial::run, [R: Reach, G: Geometry], (
    team: Serial, reach: R, tour: Tour<G>, memory: *mut u32, round: TrialRound, stream: Stream, trial: u32, changes: TrialChanges
));

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
    /// Makes these rounds of all tours.
    pub(super) fn run(&self, chains: &mut [Chain], rounds: &[TrialRound], enough: Enough) -> Done {
        let (first, offered) = (AtomicU64::new(0), AtomicU64::new(0));
        // Also a single tour is worked on by a thread of the pool: from outside, every loop would wake one up and wait for it.
        each_of(chains, 0, &|index, chain| {
            let (mut made, mut last) = (0, 0);
            for &round in rounds {
                if enough() {
                    break;
                }
                made += self.find((index, chain), round, 0..round.trials, enough);
                last = self.merge(chain, round);
            }
            if index == 0 {
                first.store(made, Ordering::Relaxed);
            }
            offered.fetch_add(last, Ordering::Relaxed);
        });
        Done { trials: first.into_inner(), offered: offered.into_inner() }
    }

    /// Makes some trials of a tour, which has this number; returns how many were made.
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
        parallel::each_with_memory(
            trials.len(),
            (trial::WORDS as usize).div_ceil(QUAD_WORDS),
            &|memory, index| {
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
            },
        );
        made.into_inner()
    }

    /// Makes the changes that the trials of a round found; returns how many these were.
    pub(super) fn merge(&self, chain: &mut Chain, round: TrialRound) -> u64 {
        let (tour, changes) = self.view(chain).get();
        let board = chain.board();
        // SAFETY: the tour and its arrays belong to this thread.
        let merged: Merged = unsafe { merge::plan(Serial, tour, board, changes, round.trials) };
        if merged.cuts > 0 {
            let together = Together((tour, changes, board, chain.next()));
            each(self.problem.n() as usize, 1 << 10, &|position| {
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
