//! Chained Lin-Kernighan on CPU threads: one thread makes a trial.

mod chain;
mod in_place;
mod recombine;
mod rounds;
mod small;

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use antwarp_core::distance::{Distances, Exceptions};
use antwarp_core::geometry::{self, Geometry};
use antwarp_core::lin_kernighan::cuts::MAX_SEGMENTS;
use antwarp_core::lin_kernighan::trial::{TrialRound, packed};
use antwarp_core::operator::Shallow;
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Slots};

pub use self::recombine::Recombiner;
pub use self::small::SmallTours;
use super::variants::with_places;
use super::{Together, allocate, check_memory};
use antwarp_engine::lin_kernighan::{Found, Spec};
use antwarp_engine::{BackendError, Enough, LinKernighan, LocalSearch, Problem, Reached, Trials};
use antwarp_instance::counted;
use antwarp_instance::parallel::each_of;
use chain::Chain;
use in_place::InPlace;
use rounds::{Done, Rounds};

/// Trials per thread in a round: with fewer, threads wait for each other.
const TRIALS: u32 = 16;
/// Fewest nodes of a tour per trial: with fewer, more of the changes share nodes.
const LEAST_NODES: u32 = 30;
/// Most nodes of a tour per trial of a single thread: the cost of a merge grows with the tour.
const MOST_NODES: u32 = 500;
/// From this many threads on, merging is so large a part of a round that the round has this many times the trials.
const LONGER: u32 = 5;
/// Threads assumed in a run whose result must not depend on their number.
const ANY: u32 = 16;
/// From this many nodes and threads on, all threads work on one tour after another. A thread then reads its part of the tour again and
/// again, which its cache can hold. With 16 threads, E100k.0 ends after ten seconds at .166 instead of .253 % (means of three seeds). With
/// 50,000 nodes tours get longer (benches/notebooks/lin-kernighan.md).
const IN_TURN: (u32, u32) = (80_000, 12);

/// Returns one tour of `n` nodes, and as few trials in a round as keep the threads of the pool busy, or 16 threads if the run is
/// to be `reproducible`: each trial then sees more of the others' results.
pub fn default_trials(n: u32, reproducible: bool) -> Trials {
    let threads = if reproducible { ANY } else { rayon::current_num_threads() as u32 };
    Trials { chains: 1, trials: trials(n, threads) }
}

/// Returns the trials in a round of each of several tours of `n` nodes: those of one thread, or of all threads of the pool where
/// large tours are worked on one after another.
pub fn trials_of_several(n: u32) -> u32 {
    trials(n, if are_in_turn(n) { rayon::current_num_threads() as u32 } else { 1 })
}

/// Returns whether all threads work on one of several tours of n nodes after another.
fn are_in_turn(n: u32) -> bool {
    n >= IN_TURN.0 && rayon::current_num_threads() as u32 >= IN_TURN.1
}

/// Returns the trials, at least 1, in a round of a tour of `n` nodes on which this many threads work, at least 1.
pub fn trials(n: u32, threads: u32) -> u32 {
    let fewest = (TRIALS * threads).min(n / LEAST_NODES).max(1);
    fewest.max(n / (MOST_NODES / threads.min(LONGER)))
}

/// Makes chained Lin-Kernighan for `problem` on CPU threads. Tours start as those of the spec, or along the problem's numbering
/// if it has none.
///
/// # Errors
/// If memory is short.
pub fn lin_kernighan<'p>(
    problem: &'p Problem,
    spec: &Spec,
) -> Result<Box<dyn LinKernighan + 'p>, BackendError> {
    let (distances, matrix) = distances(problem);
    with_places!(problem, distances, |geometry, places| {
        Ok(Box::new(Threads::new(problem, spec, geometry, places, matrix)?))
    })
}

/// Nodes up to which distances by cosines are computed once and kept: more of them take longer than a short run.
const FEW: u32 = 2048;

/// Returns the distances between nodes that are identified by number, and the matrix that they point to if computing them again
/// would be slow; else it is empty.
fn distances(problem: &Problem) -> (Distances, Vec<i32>) {
    let mut distances = problem.distances();
    let is_slow = problem.metric().is_some() && problem.has_device_matrix();
    let matrix = if is_slow && problem.n() <= FEW { problem.computed_matrix() } else { Vec::new() };
    if !matrix.is_empty() {
        (distances.matrix, distances.metric) = (matrix.as_ptr(), None);
        distances.exceptions = Exceptions::NONE;
    }
    (distances, matrix)
}

struct Threads<'p, G: Geometry> {
    problem: &'p Problem,
    /// `None`: as deep as Lin and Kernighan.
    reach: Option<Shallow>,
    geometry: G,
    places: &'p [G::Place],
    /// The geometry's matrix of distances, if that is not the problem's.
    _matrix: Vec<i32>,
    /// The distance to each neighbour.
    near: Vec<i32>,
    chains: Vec<Chain>,
    /// Whether each tour is kicked by one thread [in place](in_place), and whether that has made it a local optimum.
    in_place: bool,
    has_descended: bool,
    best_tour: Vec<u32>,
    reached: Reached,
}

impl<'p, G: Geometry> Threads<'p, G> {
    fn new(
        problem: &'p Problem,
        spec: &Spec,
        geometry: G,
        places: &'p [G::Place],
        matrix: Vec<i32>,
    ) -> Result<Self, BackendError> {
        // A tour has nine numbers per node, and a word for its claims; bits are few.
        let chain = 44 * problem.n() as usize + spec.trials as usize * (12 * MAX_SEGMENTS as usize + 12);
        check_memory("the tours and the trials", chain.saturating_mul(spec.chains as usize))?;
        let (near, ahead) = (problem.neighbor_lengths(), problem.step_lengths());
        let mut chains = (0..spec.chains)
            .map(|_| Chain::new(&ahead, problem.unit_cost(), spec))
            .collect::<Result<Vec<_>, _>>()?;
        for (chain, start) in chains.iter_mut().zip(spec.starts.chunks_exact(ahead.len())) {
            chain.begin(start, problem);
        }
        let best_tour = chains.iter().min_by_key(|chain| chain.cost).map_or(Vec::new(), |c| c.order.clone());
        let reached = Reached { cost: spec.start_cost, best_cost: spec.start_cost, trials: 0, offered: 0 };
        Ok(Threads {
            problem,
            reach: spec.local_search.map(LocalSearch::reach),
            geometry,
            places,
            _matrix: matrix,
            near,
            chains,
            in_place: spec.in_place && problem.n() >= in_place::FEWEST_NODES,
            has_descended: false,
            best_tour,
            reached,
        })
    }

    /// Returns the tours, and what all threads read to make rounds of them.
    fn split(&mut self) -> (&mut [Chain], Rounds<'_, G>) {
        let places = Together(geometry::Places { geometry: self.geometry, start: self.places.as_ptr() });
        let rounds = Rounds { problem: self.problem, near: &self.near, places, reach: self.reach };
        (&mut self.chains, rounds)
    }

    /// Makes rounds of each tour in place, a thread for each tour; returns how many kicks of the first one were made.
    fn run_in_place(&mut self, rounds: &[TrialRound], enough: Enough) -> u64 {
        let geometry = self.geometry;
        let places = Together(geometry::Places { geometry, start: self.places.as_ptr() });
        let (problem, near) = (self.problem, &self.near[..]);
        let descends = !self.has_descended && rounds.iter().any(|round| round.walk == 0);
        self.has_descended |= descends;
        let made = AtomicU64::new(0);
        each_of(&mut self.chains, 1, &|index, chain| {
            let tour = (&mut chain.order[..], &mut chain.position[..]);
            let mut tour = InPlace::new((problem, near), places.get(), tour, chain.cost);
            if descends {
                tour.descend(enough);
            }
            let kicks = rounds.iter().filter(|round| round.walk > 0);
            let kicks = kicks.flat_map(|round| (0..round.trials).map(move |trial| (round, trial)));
            let mut count = 0;
            for (round, trial) in kicks.take_while(|_| !enough()) {
                let stream = Stream::new(round.seed, round.number, index as u32);
                tour.kick(*round, (stream, trial), enough);
                count += 1;
            }
            chain.cost = tour.cost;
            if index == 0 {
                made.store(count, Ordering::Relaxed);
            }
        });
        self.reached.offered = 0;
        made.into_inner()
    }
}

impl<G: Geometry> LinKernighan for Threads<'_, G> {
    fn run(&mut self, rounds: &[TrialRound], enough: Enough) -> Result<Reached, BackendError> {
        if self.in_place {
            self.reached.trials = self.run_in_place(rounds, enough);
            return self.reached(enough);
        }
        let (chains, all) = self.split();
        let Done { trials, offered } = all.run(chains, rounds, enough);
        (self.reached.trials, self.reached.offered) = (trials, offered);
        self.reached(enough)
    }

    fn reached(&mut self, _: Enough) -> Result<Reached, BackendError> {
        // At high temperatures tours improve in nearly every round: only the final ones are worth a copy.
        if let Some(best) = self.chains.iter().min_by_key(|chain| chain.cost) {
            self.reached.cost = best.cost;
            if best.cost < self.reached.best_cost {
                self.reached.best_cost = best.cost;
                self.best_tour.copy_from_slice(&best.order);
            }
        }
        Ok(self.reached)
    }

    fn find(&mut self, round: TrialRound, trials: Range<u32>, enough: Enough) -> Result<Found, BackendError> {
        let (chains, all) = self.split();
        let chain = &mut chains[0];
        let made = all.find((0, &mut *chain), round, trials.clone(), enough) as u32;
        let changes = chain.changes();
        let mut words = Vec::new();
        for trial in trials {
            let count = chain.count[trial as usize];
            if count > 0 {
                let at = words.len();
                words.resize(at + packed(count) as usize, 0);
                // SAFETY: a trial of the tour, and so many words.
                unsafe { changes.pack(Serial, trial, Slots::of(&mut words), at as u32) };
            }
        }
        Ok(Found { made, words })
    }

    fn make(&mut self, round: TrialRound, found: &mut [Found]) -> Result<(), BackendError> {
        let (chains, all) = self.split();
        let chain = &mut chains[0];
        chain.count[..round.trials as usize].fill(0);
        let changes = chain.changes();
        for found in found {
            for start in found.starts(all.problem.n(), round.trials) {
                // SAFETY: a whole change of a trial of the tour.
                unsafe { changes.unpack(Serial, Slots::of(&mut found.words), start) };
            }
        }
        self.reached.offered = all.merge(chain, round);
        Ok(())
    }

    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError> {
        Ok(self.best_tour.clone())
    }

    fn tours(&mut self) -> Result<Vec<u32>, BackendError> {
        let n = self.problem.n() as usize;
        let mut tours = allocate("the tours", n * self.chains.len())?;
        for (to, chain) in tours.chunks_exact_mut(n).zip(&self.chains) {
            to.copy_from_slice(&chain.order);
        }
        Ok(tours)
    }

    fn recombine(&mut self, others: &[Vec<u32>], enough: Enough) -> Result<Reached, BackendError> {
        if self.chains.len() + others.len() < 2 {
            return Ok(self.reached);
        }
        let tours = self.chains.iter().map(|chain| (chain.cost, &chain.order[..])).collect();
        let (recombiner, cost) = Recombiner::of(self.problem, tours, (others, enough))?;
        for chain in &mut self.chains {
            let (order, ahead) = recombiner.tour_and_steps();
            chain.order.copy_from_slice(order);
            chain.ahead.copy_from_slice(ahead);
            chain.position.copy_from_slice(recombiner.positions());
            chain.cost = cost;
        }
        self.reached.cost = cost;
        if cost < self.reached.best_cost {
            self.reached.best_cost = cost;
            self.best_tour.copy_from_slice(&self.chains[0].order);
        }
        Ok(self.reached)
    }

    fn describe(&self) -> String {
        format!(
            "{}, one CPU thread per {}, {} neighbours, places {}",
            counted(self.chains.len(), "tour"),
            if self.in_place { "tour" } else { "trial" },
            self.problem.search_k(),
            self.problem.places().kernel_name()
        )
    }
}
