//! Chained Lin-Kernighan on one GPU or several. Tours stay in device memory for the whole run; after a batch of rounds the host
//! reads their lengths.
//!
//! Several tours are divided among the GPUs. Of a single tour all GPUs have a copy. Each makes its part of a round's trials, takes
//! the results of the others, and merges the same changes as they do, so that the copies stay the same. Either way a round does not
//! depend on the number of GPUs: a trial's random numbers follow from the numbers of its tour, its round and itself.

mod card;

use std::ops::Range;

use antwarp_core::lin_kernighan::trial::{self, TrialRound, UNLIMITED};

use super::{Cards, Device};
use crate::backend::cpu::Recombiner;
use crate::engine::lin_kernighan::{Found, MOST_TRIALS, Spec};
use crate::engine::{BackendError, Enough, LinKernighan, LocalSearch, Problem, Reached, Trials};
use crate::instance::counted;
use crate::memory::bytes;
use card::Card;

/// Nodes of a tour per trial of a round. With more trials there are fewer waits for the last ones; with fewer, less of the changes
/// share nodes, and each trial sees more of the others' results.
const NODES_PER_TRIAL: u32 = 18;
/// Below this many nodes there are several tours, which are recombined: with [`FEW_NODES`] per trial, and [`TRIALS`] trials of all
/// tours per multiprocessor.
const FEW: u32 = 25_000;
const FEW_NODES: u32 = 25;
const TRIALS: u32 = 24;
/// Most tours: with more of them, each gets too few kicks.
const CHAINS: u32 = 32;
/// Most nodes that a trial of several tours searches around. A round has few trials one after another and ends with its longest
/// one: with this limit twice as soon.
const LOOKS: u32 = 64;
/// With fewer trials per multiprocessor, fewer GPUs share a tour: as many as its trials keep busy. All GPUs would only wait for the
/// longest trial.
const SHARED_TRIALS: u32 = 16;

/// Returns tours of `n` nodes, and trials of each in a round, that keep every multiprocessor of the first GPU busy. The numbers
/// are the same for several GPUs, so that they reach the same tour.
pub fn default_trials(cards: &Cards, n: u32) -> Trials {
    if n >= FEW {
        return Trials { chains: 1, trials: (n / NODES_PER_TRIAL).min(MOST_TRIALS) };
    }
    let (trials, multiprocessors) = ((n / FEW_NODES).max(1), cards.first().multiprocessors());
    let chains = (TRIALS * multiprocessors).div_ceil(trials);
    Trials { chains: chains.clamp(1, CHAINS.min(multiprocessors)), trials }
}

/// Returns the trials in a round of each of `chains` tours of `n` nodes, at least 1: in total twice as many as keep every
/// multiprocessor of all GPUs busy, but no more than one for every 25 nodes.
pub fn trials(cards: &Cards, n: u32, chains: u32) -> u32 {
    let multiprocessors = cards.multiprocessors();
    (2 * TRIALS * multiprocessors / chains).min(n / FEW_NODES).max(1)
}

/// Returns the most nodes that a trial searches around; [`UNLIMITED`] for a single tour, whose many trials start one after the
/// other: a limit would give up kicks for nothing.
pub fn looks(chains: u32) -> u32 {
    if chains > 1 { LOOKS } else { UNLIMITED }
}

/// Returns how many GPUs are useful, at least 1: for several tours at most one per tour, for one tour as many as its trials keep
/// busy.
pub fn useful(cards: &Cards, spec: &Spec) -> usize {
    let most = match spec.chains {
        1 => spec.trials / (SHARED_TRIALS * cards.first().multiprocessors()),
        chains => chains,
    };
    cards.count().min(most.max(1) as usize)
}

/// Starts to load the kernels for places of this [name](crate::engine::Places::kernel_name) and these moves on all GPUs. Without
/// a local search they are Lin-Kernighan moves.
pub fn prepare(cards: &Cards, geometry: &str, local_search: Option<LocalSearch>) {
    cards.all().iter().for_each(|device| device.prepare(card::kernels_for(geometry, local_search)));
}

/// Returns the names of all kernels that may be loaded.
pub fn kernel_names() -> Vec<String> {
    let mut names = card::OF_ALL_PLACES.map(String::from).to_vec();
    for geometry in ["grid", "planar", "numbered"] {
        let kernels = ["block_run_trials_deep", "block_run_trials_shallow", "grid_place_nodes"];
        names.extend(kernels.map(|kernel| format!("{kernel}_{geometry}")));
    }
    names
}

/// The start tours, concatenated: as in a [`Tour`](antwarp_core::lin_kernighan::Tour), and the length of each.
struct Begin {
    order: Vec<u32>,
    ahead: Vec<i32>,
    position: Vec<u32>,
    costs: Vec<i64>,
}

impl Begin {
    /// Makes the tours of a spec, or tours along the problem's numbering if it has none.
    ///
    /// # Errors
    /// If main memory is short.
    fn new(problem: &Problem, spec: &Spec) -> Result<Begin, BackendError> {
        let chains = spec.chains as usize;
        if spec.starts.is_empty() {
            let own: Vec<u32> = (0..problem.n()).collect();
            let order = own.repeat(chains);
            let ahead = problem.step_lengths().repeat(chains);
            return Ok(Begin { position: order.clone(), order, ahead, costs: vec![spec.start_cost; chains] });
        }
        let mut all =
            Begin { order: spec.starts.clone(), ahead: Vec::new(), position: Vec::new(), costs: Vec::new() };
        let mut recombiner = Recombiner::new(problem)?;
        for tour in spec.starts.chunks_exact(problem.n() as usize) {
            recombiner.begin(tour);
            let ahead = recombiner.tour_and_steps().1;
            all.costs.push(problem.length(tour).unwrap_or(i64::MAX));
            all.ahead.extend(ahead);
            all.position.extend(recombiner.positions());
        }
        Ok(all)
    }

    /// Returns the tours of these numbers.
    fn part(&self, n: usize, chains: &Range<u32>) -> Begin {
        let (first, end) = (chains.start as usize, chains.end as usize);
        let nodes = first * n..end * n;
        Begin {
            order: self.order[nodes.clone()].to_vec(),
            ahead: self.ahead[nodes.clone()].to_vec(),
            position: self.position[nodes].to_vec(),
            costs: self.costs[first..end].to_vec(),
        }
    }

    /// Returns the shortest of the tours.
    fn best(&self, n: usize) -> Vec<u32> {
        let shortest = (0..self.costs.len()).min_by_key(|&i| self.costs[i]).unwrap_or(0);
        self.order[shortest * n..][..n].to_vec()
    }
}

/// Divides the numbers from 0 to `all` into `parts` parts of about equal size, and returns one of them.
fn part(all: u32, part: usize, parts: usize) -> Range<u32> {
    let begin = |part: usize| (u64::from(all) * part as u64 / parts as u64) as u32;
    begin(part)..begin(part + 1)
}

/// Where the best tour is.
#[derive(Clone, Copy)]
enum Best {
    /// On the host.
    Here,
    /// On a GPU, which [keeps](Card::keep) it.
    On(usize),
}

/// Tours that stay in device memory for the whole run.
pub struct CudaLinKernighan<'p> {
    problem: &'p Problem,
    spec: Spec,
    cards: Vec<Card<'p>>,
    /// Whether every GPU can read the others' memory.
    reach: bool,
    costs: Vec<i64>,
    best_tour: Vec<u32>,
    best: Best,
    reached: Reached,
}

impl<'p> CudaLinKernighan<'p> {
    /// Loads the kernels and allocates the arrays, on at least one device. A single tour is shared by all devices; several tours
    /// are divided among as many devices as there are tours, at most.
    ///
    /// # Errors
    /// If the kernels are rejected, or memory is short.
    pub fn new(devices: &[&'p Device], problem: &'p Problem, spec: &Spec) -> Result<Self, BackendError> {
        let begin = Begin::new(problem, spec)?;
        let n = problem.n() as usize;
        let mut cards = Vec::new();
        if spec.chains == 1 {
            for &device in devices {
                cards.push(Card::new(device, problem, (spec, 0..1), &begin)?);
            }
        } else {
            let parts = devices.len().min(spec.chains as usize);
            for (i, &device) in devices[..parts].iter().enumerate() {
                let chains = part(spec.chains, i, parts);
                let begin = begin.part(n, &chains);
                cards.push(Card::new(device, problem, (spec, chains), &begin)?);
            }
        }
        let reach = cards.iter().all(|own| cards.iter().all(|other| own.reaches(other)));
        Ok(CudaLinKernighan {
            problem,
            reach,
            spec: spec.clone(),
            cards,
            best_tour: begin.best(n),
            best: Best::Here,
            costs: begin.costs,
            reached: Reached { cost: spec.start_cost, best_cost: spec.start_cost, trials: 0, offered: 0 },
        })
    }

    /// Returns whether all GPUs have the same tour.
    fn is_shared(&self) -> bool {
        self.spec.chains == 1
    }

    /// Queues a round.
    fn round(&mut self, round: TrialRound) -> Result<(), BackendError> {
        let parts = if self.is_shared() { self.cards.len() } else { 1 };
        let trials = |card: usize| part(round.trials, if parts > 1 { card } else { 0 }, parts);
        for (i, card) in self.cards.iter_mut().enumerate() {
            card.run(round, trials(i))?;
        }
        if parts > 1 {
            self.exchange(round, trials)?;
        }
        self.cards.iter_mut().try_for_each(|card| card.merge(round))
    }

    /// Makes every GPU take the results of all others' trials.
    fn exchange(
        &mut self,
        round: TrialRound,
        trials: impl Fn(usize) -> Range<u32>,
    ) -> Result<(), BackendError> {
        self.cards.iter_mut().try_for_each(Card::has_made)?;
        let others = |i: usize| (0..self.cards.len()).filter(move |&j| j != i);
        let pairs: Vec<[usize; 2]> =
            (0..self.cards.len()).flat_map(|i| others(i).map(move |j| [i, j])).collect();
        for &[to, from] in &pairs {
            let Ok([card, other]) = self.cards.get_disjoint_mut([to, from]) else { continue };
            card.take(round, (other, self.reach), trials(from))?;
        }
        self.cards.iter_mut().try_for_each(Card::has_taken)?;
        // A merge changes data that others have to copy first.
        pairs.iter().try_for_each(|&[card, other]| self.cards[card].wait_for(&self.cards[other]))
    }

    /// Waits for the queued work.
    fn wait(&self, enough: Enough) -> Result<(), BackendError> {
        let waited = self.cards.iter().try_for_each(|card| card.wait(enough));
        if matches!(waited, Err(BackendError::Busy)) {
            // Those not waited for may be as late as the one that was.
            self.cards.iter().for_each(Card::leave_behind);
        }
        waited
    }

    /// Records a tour of this length as the current one, and as the best if it is shorter.
    fn offer(&mut self, cost: i64, tour: &[u32]) {
        self.reached.cost = cost;
        if cost < self.reached.best_cost {
            self.reached.best_cost = cost;
            self.best_tour.copy_from_slice(tour);
            self.best = Best::Here;
        }
    }
}

impl LinKernighan for CudaLinKernighan<'_> {
    fn run(&mut self, rounds: &[TrialRound], enough: Enough) -> Result<Reached, BackendError> {
        for &round in rounds {
            self.round(round)?;
        }
        self.reached.trials = rounds.iter().map(|round| u64::from(round.trials)).sum();
        self.reached(enough)
    }

    fn find(&mut self, round: TrialRound, trials: Range<u32>, enough: Enough) -> Result<Found, BackendError> {
        let parts = self.cards.len();
        for (i, card) in self.cards.iter_mut().enumerate() {
            let Range { start, end } = part(trials.len() as u32, i, parts);
            card.find(round, trials.start + start..trials.start + end)?;
        }
        self.wait(enough)?;
        let mut words = Vec::new();
        self.cards.iter().try_for_each(|card| card.found(&mut words))?;
        Ok(Found { made: trials.len() as u32, words })
    }

    fn make(&mut self, round: TrialRound, found: &mut [Found]) -> Result<(), BackendError> {
        let (mut words, mut starts) = (Vec::new(), Vec::new());
        for found in found {
            let before = words.len() as u32;
            starts.extend(found.starts(self.problem.n(), round.trials).iter().map(|start| before + start));
            words.extend_from_slice(&found.words);
        }
        self.cards.iter_mut().try_for_each(|card| card.make(round, &words, &starts))
    }

    fn reached(&mut self, enough: Enough) -> Result<Reached, BackendError> {
        self.wait(enough)?;
        let is_shared = self.is_shared();
        self.reached.offered = 0;
        for card in &self.cards[..if is_shared { 1 } else { self.cards.len() }] {
            let (costs, offered) = card.read()?;
            self.reached.offered += offered;
            let chains = card.chains();
            self.costs[chains.start as usize..chains.end as usize].copy_from_slice(&costs);
        }
        if let Some((chain, &cost)) = self.costs.iter().enumerate().min_by_key(|(_, cost)| **cost) {
            self.reached.cost = cost;
            let holds = |card: &Card| card.chains().contains(&(chain as u32));
            if let Some(card) = self.cards.iter().position(holds).filter(|_| cost < self.reached.best_cost) {
                self.cards[card].keep(chain as u32)?;
                self.best = Best::On(card);
                self.reached.best_cost = cost;
            }
        }
        Ok(self.reached)
    }

    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError> {
        if let Best::On(card) = self.best {
            self.best_tour = self.cards[card].kept()?;
            self.best = Best::Here;
        }
        Ok(self.best_tour.clone())
    }

    fn tours(&mut self) -> Result<Vec<u32>, BackendError> {
        if self.is_shared() {
            return self.cards[0].orders();
        }
        let mut all = Vec::with_capacity(self.problem.n() as usize * self.spec.chains as usize);
        for card in &self.cards {
            all.extend(card.orders()?);
        }
        Ok(all)
    }

    fn recombine(&mut self, others: &[Vec<u32>], enough: Enough) -> Result<Reached, BackendError> {
        if self.spec.chains as usize + others.len() < 2 {
            return Ok(self.reached);
        }
        let all = self.tours()?;
        let tours = self.costs.iter().copied().zip(all.chunks(self.problem.n() as usize)).collect();
        let (recombiner, cost) = Recombiner::of(self.problem, tours, (others, enough))?;
        let (positions, (order, ahead)) = (recombiner.positions(), recombiner.tour_and_steps());
        self.costs.fill(cost);
        for card in &mut self.cards {
            card.set_all((order, ahead, positions), cost)?;
        }
        self.offer(cost, order);
        Ok(self.reached)
    }

    fn describe(&self) -> String {
        let card = &self.cards[0];
        let cards = match self.cards.len() {
            1 => String::new(),
            count if self.is_shared() && self.reach => format!(" shared by {count} GPUs"),
            count if self.is_shared() => format!(" shared by {count} GPUs through the host"),
            count => format!(" on {count} GPUs"),
        };
        format!(
            "{}{cards}, one warp per trial, {} trials at once, {} registers per thread, {} shared memory per trial, {} \
             neighbours, places {}",
            counted(self.spec.chains as usize, "tour"),
            self.cards.iter().map(Card::at_once).sum::<u32>(),
            card.registers(),
            bytes(u64::from(4 * trial::WORDS)),
            self.problem.search_k(),
            self.problem.places().kernel_name(),
        )
    }
}
