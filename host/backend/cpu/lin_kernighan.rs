//! Chained Lin-Kernighan on CPU threads: a trial is one thread's work.

use std::sync::atomic::{AtomicU64, Ordering};

use antwarp_core::geometry::{self, Geometry, Grid, Numbered, Planar};
use antwarp_core::lin_kernighan::Tour;
use antwarp_core::lin_kernighan::cuts::MOST;
use antwarp_core::lin_kernighan::merge::{self, Board, Merged, Next};
use antwarp_core::lin_kernighan::trial::{self, Changes, Round};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Slots};
use rayon::prelude::*;

use super::chains::numbered;
use super::{Together, allocate};
use crate::backend::{BackendError, Enough, LinKernighan, Reached, Trials};
use crate::solver::lin_kernighan::Spec;
use crate::solver::problem::{Places, Problem};

/// Nodes of a tour for every trial of a round: with fewer, more of the changes share nodes.
const NODES: u32 = 100;
/// The same where there would be fewer than [`ENOUGH`] trials, which leave threads waiting for each other.
const FEW_NODES: u32 = 30;
const ENOUGH: u32 = 256;

/// One tour, whatever the number of threads.
pub fn default_trials(n: u32) -> Trials {
    Trials { chains: 1, trials: (n / NODES).max((n / FEW_NODES).clamp(1, ENOUGH)) }
}

/// Chained Lin-Kernighan for `problem` on CPU threads.
pub fn lin_kernighan<'p>(
    problem: &'p Problem,
    spec: &Spec,
) -> Result<Box<dyn LinKernighan + 'p>, BackendError> {
    Ok(match problem.places() {
        Places::Grid { places, up } => {
            Box::new(Threads::new(problem, spec, Grid { up: *up }, places, Vec::new())?)
        }
        Places::Planar { places, metric } => {
            Box::new(Threads::new(problem, spec, Planar { metric: *metric }, places, Vec::new())?)
        }
        Places::Numbered(places) => {
            let (distances, matrix) = numbered(problem);
            Box::new(Threads::new(problem, spec, Numbered { distances }, places, matrix)?)
        }
    })
}

/// A tour and what merging it needs.
struct Chain {
    order: Vec<u32>,
    ahead: Vec<i32>,
    position: Vec<u32>,
    next_order: Vec<u32>,
    next_ahead: Vec<i32>,
    claims: Vec<u64>,
    bits: Vec<u32>,
    before: Vec<u32>,
    which: Vec<u32>,
    at: Vec<u32>,
    begin: Vec<u32>,
    far: Vec<u32>,
    gain: Vec<i64>,
    count: Vec<u32>,
    cuts: Vec<[u32; 3]>,
    cost: i64,
}

/// Makes one tour of several, by what each of them does better.
///
/// Where two tours differ, their edges make up parts that share no node. Those in which the other one is shorter are changes
/// of the first, and are merged as those of trials are ([`merge::plan`]). So it is with partition crossover (Whitley, Hains and
/// Howe, *Tunneling between optima: partition crossover for the traveling salesman problem*, 2009), but that several
/// parts are tried together, and parts of more than [`MOST`] edges are left out.
pub struct Recombiner<'p> {
    problem: &'p Problem,
    numbers: Vec<u32>,
    chain: Chain,
    /// The nodes beside each one in the other tour.
    beside: Vec<[u32; 2]>,
    /// A forest: the nodes of a part lead to the same root.
    parents: Vec<u32>,
    /// The number of a root's part.
    parts: Vec<u32>,
}

impl<'p> Recombiner<'p> {
    /// # Errors
    /// If memory is short.
    pub fn new(problem: &'p Problem) -> Result<Self, BackendError> {
        let n = problem.n() as usize;
        let spec = Spec { seed: 0, chains: 1, trials: 0, start_cost: 0 };
        Ok(Recombiner {
            problem,
            numbers: (0..problem.n()).collect(),
            chain: Chain::new(&problem.step_lengths(), &spec)?,
            beside: vec![[0; 2]; n],
            parents: vec![0; n],
            parts: vec![0; n],
        })
    }

    fn tour(&self) -> Tour<Numbered> {
        Tour {
            n: self.problem.n(),
            k: self.problem.search_k(),
            order: self.chain.order.as_ptr(),
            position: self.chain.position.as_ptr(),
            ahead: self.chain.ahead.as_ptr(),
            lists: self.problem.neighbors().as_ptr(),
            near: std::ptr::null(),
            places: geometry::Places {
                geometry: Numbered { distances: self.problem.distances() },
                start: self.numbers.as_ptr(),
            },
        }
    }

    /// Begins with a tour.
    pub fn begin(&mut self, order: &[u32]) {
        self.chain.order.copy_from_slice(order);
        for (position, &node) in (0..).zip(order) {
            self.chain.position[node as usize] = position;
        }
        let tour = self.tour();
        for position in 0..tour.n {
            // SAFETY: positions of the tour.
            let ahead = unsafe { tour.between(tour.at(position), tour.at(tour.behind(position))) };
            self.chain.ahead[position as usize] = ahead;
        }
    }

    /// The tour as it is now, and how far it is from each of its nodes to the next.
    pub fn tour_and_steps(&self) -> (&[u32], &[i32]) {
        (&self.chain.order, &self.chain.ahead)
    }

    fn root(&mut self, mut node: u32) -> u32 {
        while self.parents[node as usize] != node {
            let above = self.parents[self.parents[node as usize] as usize];
            self.parents[node as usize] = above;
            node = above;
        }
        node
    }

    fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a as usize] = b;
    }

    /// The nodes beside one in the tour, the one before it first.
    fn own(&self, node: u32) -> [u32; 2] {
        let (n, p) = (self.numbers.len(), self.chain.position[node as usize] as usize);
        [
            self.chain.order[if p == 0 { n - 1 } else { p - 1 }],
            self.chain.order[if p + 1 == n { 0 } else { p + 1 }],
        ]
    }

    /// The node that is beside `node` in the other tour where `gone` is in this one.
    fn instead(&self, node: u32, gone: u32) -> u32 {
        let (own, [a, b]) = (self.own(node), self.beside[node as usize]);
        match (own.contains(&a), own.contains(&b)) {
            (true, _) => b,
            (false, true) => a,
            // Both edges go: either may stand for either.
            (false, false) => {
                if gone == own[0] {
                    a
                } else {
                    b
                }
            }
        }
    }

    /// Takes over what another tour does better; by how much the tour gets shorter.
    pub fn join(&mut self, other: &[u32]) -> i64 {
        let n = other.len();
        for p in 0..n {
            let (before, behind) =
                (other[if p == 0 { n - 1 } else { p - 1 }], other[if p + 1 == n { 0 } else { p + 1 }]);
            self.beside[other[p] as usize] = [before, behind];
        }
        (0..).zip(&mut self.parents).for_each(|(node, parent)| *parent = node);
        for node in 0..n as u32 {
            let (own, beside) = (self.own(node), self.beside[node as usize]);
            own.iter().filter(|v| !beside.contains(v)).for_each(|&v| self.unite(node, v));
            beside.iter().filter(|v| !own.contains(v)).for_each(|&v| self.unite(node, v));
        }
        // Of each part: edges out, and by how much it is shorter.
        let mut counts: Vec<(u32, i64)> = Vec::new();
        self.parts.fill(u32::MAX);
        let tour = self.tour();
        for node in 0..n as u32 {
            let (own, beside) = (self.own(node), self.beside[node as usize]);
            // SAFETY: nodes of the tour.
            let far = |v: u32| i64::from(unsafe { tour.between(node, v) });
            let gone = (!beside.contains(&own[1])).then(|| far(own[1]));
            let come: i64 = beside.iter().filter(|v| node < **v && !own.contains(v)).map(|&v| far(v)).sum();
            if gone.is_some() || come > 0 {
                let root = self.root(node) as usize;
                if self.parts[root] == u32::MAX {
                    self.parts[root] = counts.len() as u32;
                    counts.push((0, 0));
                }
                let part = &mut counts[self.parts[root] as usize];
                part.0 += u32::from(gone.is_some());
                part.1 += gone.unwrap_or(0) - come;
            }
        }
        let mut kept = 0;
        let numbers: Vec<u32> = counts
            .iter()
            .map(|&(count, gain)| {
                let is_kept = gain > 0 && count <= MOST;
                kept += u32::from(is_kept);
                if is_kept { kept - 1 } else { u32::MAX }
            })
            .collect();
        let chain = &mut self.chain;
        chain.gain = counts
            .iter()
            .zip(&numbers)
            .filter(|(_, number)| **number != u32::MAX)
            .map(|(c, _)| c.1)
            .collect();
        chain.count = vec![0; kept as usize];
        chain.cuts = vec![[0; 3]; (kept * MOST) as usize];
        for p in 0..n {
            let (node, next) = (self.chain.order[p], self.chain.order[if p + 1 == n { 0 } else { p + 1 }]);
            if self.beside[node as usize].contains(&next) {
                continue;
            }
            let root = self.root(node) as usize;
            let number = numbers[self.parts[root] as usize];
            if number != u32::MAX {
                let cut = [p as u32, self.instead(node, next), self.instead(next, node)];
                let at = number * MOST + self.chain.count[number as usize];
                self.chain.cuts[at as usize] = cut;
                self.chain.count[number as usize] += 1;
            }
        }
        let tour = self.tour();
        let (changes, board, next) = (self.chain.changes(), self.chain.board(), self.chain.next());
        // SAFETY: this is the only thread, and the changes are of this tour.
        unsafe {
            let merged = merge::plan(Serial, tour, board, changes, kept);
            if merged.cuts > 0 {
                (0..tour.n).for_each(|p| merge::place(tour, board, changes, merged.cuts, p, next));
                std::mem::swap(&mut self.chain.order, &mut self.chain.next_order);
                std::mem::swap(&mut self.chain.ahead, &mut self.chain.next_ahead);
            }
            merged.gain
        }
    }
}

struct Threads<'p, G: Geometry> {
    problem: &'p Problem,
    geometry: G,
    places: &'p [G::Place],
    /// What the geometry looks distances up in, if that is not the problem's.
    _matrix: Vec<i32>,
    /// How far each neighbour is.
    near: Vec<i32>,
    chains: Vec<Chain>,
    best_tour: Vec<u32>,
    reached: Reached,
}

impl Chain {
    fn new(ahead: &[i32], spec: &Spec) -> Result<Chain, BackendError> {
        let (what, n) = ("the tour", ahead.len());
        let own = || -> Result<Vec<u32>, BackendError> {
            let mut array: Vec<u32> = allocate(what, n)?;
            (0..).zip(&mut array).for_each(|(i, v)| *v = i);
            Ok(array)
        };
        let numbers = || allocate::<u32>(what, n);
        let trials = spec.trials as usize;
        Ok(Chain {
            order: own()?,
            ahead: ahead.to_vec(),
            position: own()?,
            next_order: numbers()?,
            next_ahead: allocate(what, n)?,
            claims: allocate(what, n)?,
            bits: allocate(what, n / 32 + 1)?,
            before: allocate(what, n / 32 + 1)?,
            which: numbers()?,
            at: numbers()?,
            begin: numbers()?,
            far: numbers()?,
            gain: allocate(what, trials)?,
            count: allocate(what, trials)?,
            cuts: allocate(what, trials * MOST as usize)?,
            cost: spec.start_cost,
        })
    }

    fn changes(&mut self) -> Changes {
        // SAFETY: the arrays live as long as the chain, which is not moved while they are used.
        unsafe {
            Changes {
                gain: Slots::new(self.gain.as_mut_ptr()),
                count: Slots::new(self.count.as_mut_ptr()),
                cuts: Slots::new(self.cuts.as_mut_ptr()),
            }
        }
    }

    fn board(&mut self) -> Board {
        // SAFETY: as above; a thread alone does not use `next`.
        unsafe {
            Board {
                claims: Slots::new(self.claims.as_mut_ptr()),
                bits: Slots::new(self.bits.as_mut_ptr()),
                before: Slots::new(self.before.as_mut_ptr()),
                which: Slots::new(self.which.as_mut_ptr()),
                at: Slots::new(self.at.as_mut_ptr()),
                begin: Slots::new(self.begin.as_mut_ptr()),
                next: Slots::new(std::ptr::null_mut()),
                far: Slots::new(self.far.as_mut_ptr()),
            }
        }
    }

    fn next(&mut self) -> Next {
        // SAFETY: as above.
        unsafe {
            Next {
                order: Slots::new(self.next_order.as_mut_ptr()),
                ahead: Slots::new(self.next_ahead.as_mut_ptr()),
                position: Slots::new(self.position.as_mut_ptr()),
            }
        }
    }
}

impl<'p, G: Geometry> Threads<'p, G> {
    fn new(
        problem: &'p Problem,
        spec: &Spec,
        geometry: G,
        places: &'p [G::Place],
        matrix: Vec<i32>,
    ) -> Result<Self, BackendError> {
        let (near, ahead) = (problem.neighbor_lengths(), problem.step_lengths());
        let chains = (0..spec.chains).map(|_| Chain::new(&ahead, spec)).collect::<Result<Vec<_>, _>>()?;
        let best_tour = chains[0].order.clone();
        let reached = Reached { cost: spec.start_cost, best_cost: spec.start_cost, trials: 0, offered: 0 };
        Ok(Threads { problem, geometry, places, _matrix: matrix, near, chains, best_tour, reached })
    }

    /// One round; the trials of the first tour that were made.
    fn round(&mut self, round: Round, enough: Enough) -> u64 {
        let (problem, trials) = (self.problem, round.trials as usize);
        let n = problem.n();
        let places = geometry::Places { geometry: self.geometry, start: self.places.as_ptr() };
        let near = self.near.as_ptr();
        let views: Vec<_> = (0..)
            .zip(&mut self.chains)
            .map(|(number, chain)| {
                let tour = Tour {
                    n,
                    k: problem.search_k(),
                    order: chain.order.as_ptr(),
                    position: chain.position.as_ptr(),
                    ahead: chain.ahead.as_ptr(),
                    lists: problem.neighbors().as_ptr(),
                    near,
                    places,
                };
                Together((tour, chain.changes(), Stream::new(round.seed, round.number, number)))
            })
            .collect();
        let made = AtomicU64::new(0);
        (0..views.len() * trials).into_par_iter().for_each_init(
            || vec![0u64; trial::WORDS.div_ceil(2) as usize],
            |memory, index| {
                let (chain, trial) = (index / trials, (index % trials) as u32);
                let (tour, changes, stream) = views[chain].get();
                // SAFETY: the memory is this thread's; a trial has places of its own.
                unsafe {
                    if enough() {
                        changes.count.set(trial, 0);
                        return;
                    }
                    if chain == 0 {
                        made.fetch_add(1, Ordering::Relaxed);
                    }
                    trial::run(Serial, tour, memory.as_mut_ptr().cast(), round, stream, trial, changes);
                }
            },
        );
        let merge = |(chain, view): (&mut Chain, &Together<_>)| {
            let (tour, changes, _): (Tour<G>, Changes, Stream) = view.get();
            let board = chain.board();
            // SAFETY: the tour and its arrays are this thread's.
            let merged: Merged = unsafe { merge::plan(Serial, tour, board, changes, round.trials) };
            if merged.cuts > 0 {
                let together = Together((tour, changes, board, chain.next()));
                (0..n).into_par_iter().with_min_len(1 << 10).for_each(|position| {
                    let (tour, changes, board, next) = together.get();
                    // SAFETY: a position is one thread's; where nodes go is a permutation.
                    unsafe { merge::place(tour, board, changes, merged.cuts, position, next) };
                });
                std::mem::swap(&mut chain.order, &mut chain.next_order);
                std::mem::swap(&mut chain.ahead, &mut chain.next_ahead);
                chain.cost -= merged.gain;
            }
            u64::from(merged.offered)
        };
        self.reached.offered = self.chains.par_iter_mut().zip(&views).map(merge).sum();
        made.into_inner()
    }
}

impl<G: Geometry> LinKernighan for Threads<'_, G> {
    fn run(&mut self, rounds: &[Round], enough: Enough) -> Result<Reached, BackendError> {
        self.reached.trials = 0;
        for &round in rounds {
            if enough() {
                break;
            }
            self.reached.trials += self.round(round, enough);
            if let Some(best) = self.chains.iter().min_by_key(|chain| chain.cost) {
                self.reached.cost = best.cost;
                // Hot tours get better in nearly every round: only what comes at the end is worth a copy.
                if best.cost < self.reached.best_cost
                    && (round.number % KEEP == 0 || round.temperature == 0.0)
                {
                    self.reached.best_cost = best.cost;
                    self.best_tour.copy_from_slice(&best.order);
                }
            }
        }
        if let Some(best) = self.chains.iter().min_by_key(|chain| chain.cost)
            && best.cost < self.reached.best_cost
        {
            self.reached.best_cost = best.cost;
            self.best_tour.copy_from_slice(&best.order);
        }
        Ok(self.reached)
    }

    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError> {
        Ok(self.best_tour.clone())
    }

    fn recombine(&mut self) -> Result<Reached, BackendError> {
        if self.chains.len() < 2 {
            return Ok(self.reached);
        }
        self.chains.sort_by_key(|chain| chain.cost);
        let mut recombiner = Recombiner::new(self.problem)?;
        recombiner.begin(&self.chains[0].order);
        let gain: i64 = self.chains[1..].iter().map(|chain| recombiner.join(&chain.order)).sum();
        let cost = self.chains[0].cost - gain;
        for chain in &mut self.chains {
            let (order, ahead) = recombiner.tour_and_steps();
            chain.order.copy_from_slice(order);
            chain.ahead.copy_from_slice(ahead);
            chain.position.copy_from_slice(&recombiner.chain.position);
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
            "{} tours, one CPU thread a trial, {} neighbours, places {}",
            self.chains.len(),
            self.problem.search_k(),
            self.problem.places().kernel_name()
        )
    }
}

/// Rounds between two looks for a best tour.
const KEEP: u32 = 16;
