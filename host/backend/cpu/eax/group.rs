//! A group of tours that evolves on its own.

use antwarp_core::eax::{self, Bench, Entropy, Gene, Near};
use antwarp_core::geometry::{self, Geometry};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Slots};
use antwarp_core::tour;
use rayon::prelude::*;

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::{Together, allocate};
use super::census::Census;
use super::pair::{Desk, Heir, breed};
use super::start;
use crate::engine::genetic::{GeneticSpec, Initial};
use crate::engine::{BackendError, Enough, LocalSearch, Problem};

/// Generations without a better tour after which a group is exhausted.
const PATIENCE: u32 = 50;
/// Pairs that work at the same time, at most, and at most this part of a group: those of a generation come after each
/// other but for these few, which see the same frequencies. (With whole generations at a time, runs end worse.)
const MOST_PAIRS: usize = 16;
const PART: usize = 4;

/// What all groups work with.
pub struct Shared<'p, G: Geometry> {
    pub problem: &'p Problem,
    pub spec: GeneticSpec,
    pub places: Together<geometry::Places<G>>,
    /// Steps of the entropy of a group.
    pub steps: Vec<u32>,
    /// Every node's own number: no tour to compare with.
    pub own: Vec<u32>,
    /// One for each thread.
    pub desks: Vec<Mutex<Desk>>,
}

impl<G: Geometry> Shared<'_, G> {
    /// This thread's desk: nobody else wants it, unless this is a thread from elsewhere.
    fn desk(&self) -> MutexGuard<'_, Desk> {
        let desk = &self.desks[rayon::current_thread_index().unwrap_or(0) % self.desks.len()];
        desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A group.
pub struct Group {
    /// The number of its first place in the population.
    first: u32,
    n: usize,
    size: usize,
    /// n nodes a tour; positions likewise.
    order: Vec<u32>,
    position: Vec<u32>,
    /// Lengths; `i64::MAX` where no tour is.
    costs: Vec<i64>,
    census: Census,
    /// Tours that are there.
    built: usize,
    /// The generation in which it began, or began again; and whether its first tours are given ones.
    born: u32,
    given: bool,
    /// The best length since, and generations without a better one.
    best: i64,
    waited: u32,
    exhausted: bool,
}

impl Group {
    /// A group of `size` tours of `n` nodes, none of which is there, in generation `born`; those `given` are taken.
    pub fn new(
        (n, size, first, born): (u32, u32, u32, u32),
        given: Option<&[u32]>,
    ) -> Result<Group, BackendError> {
        let (nodes, count) = (n as usize, size as usize);
        let mut order = allocate("the population", nodes * count)?;
        if let Some(given) = given {
            order.copy_from_slice(given);
        }
        let mut costs = allocate("the tours' lengths", count)?;
        costs.fill(i64::MAX);
        Ok(Group {
            first,
            n: nodes,
            size: count,
            order,
            position: allocate("the population", nodes * count)?,
            costs,
            census: Census::new(n)?,
            built: 0,
            born,
            given: given.is_some(),
            best: i64::MAX,
            waited: 0,
            exhausted: false,
        })
    }

    /// The length of each tour.
    pub fn costs(&self) -> &[i64] {
        &self.costs
    }

    /// The tour at a place of the group.
    pub fn tour(&self, place: usize) -> &[u32] {
        &self.order[place * self.n..][..self.n]
    }

    /// The places of the shortest and of the longest tour.
    pub fn extremes(&self) -> (usize, usize) {
        let by_cost = |&place: &usize| self.costs[place];
        ((0..self.size).min_by_key(by_cost).unwrap_or(0), (0..self.size).max_by_key(by_cost).unwrap_or(0))
    }

    /// Generation `number` of it; a group that is exhausted begins again instead. False if it was cut short.
    pub fn generation<G: Geometry>(
        &mut self,
        shared: &Shared<'_, G>,
        number: u32,
        enough: Enough,
    ) -> Result<bool, BackendError> {
        if self.exhausted {
            self.costs.fill(i64::MAX);
            self.census.clear()?;
            (self.built, self.born, self.given) = (0, number, false);
            (self.best, self.waited, self.exhausted) = (i64::MAX, 0, false);
        }
        if self.built < self.size {
            return self.build(shared, enough);
        }
        let ring = self.ring(Stream::new(shared.spec.seed, number, u32::MAX - self.first));
        let pairs: Vec<(usize, usize)> =
            (0..self.size).map(|i| (ring[i], ring[(i + 1) % self.size])).collect();
        let mut replaced = 0;
        for some in pairs.chunks((self.size / PART).clamp(1, MOST_PAIRS)) {
            let heirs = self.cross(shared, some, number, enough);
            replaced += heirs.iter().filter(|heir| heir.gain > 0).count();
            self.succeed(shared, some, &heirs)?;
            if enough() {
                self.judge();
                return Ok(false);
            }
        }
        self.waited += 1;
        self.judge();
        self.exhausted |= replaced == 0;
        Ok(true)
    }

    /// Builds the tours that are missing; false if not all are there because it was `enough`. The first one of the
    /// population is built in any case.
    pub fn build<G: Geometry>(
        &mut self,
        shared: &Shared<'_, G>,
        enough: Enough,
    ) -> Result<bool, BackendError> {
        let (n, built, first, born, given) = (self.n, self.built, self.first, self.born, self.given);
        let spec = &shared.spec;
        let descends = match spec.initial {
            Initial::Random => spec.local_search != LocalSearch::None,
            _ => !given || spec.descends_first(),
        };
        let rest = self.order[built * n..].par_chunks_exact_mut(n).enumerate();
        let is_built: Vec<bool> = rest
            .map(|(i, tour)| {
                let place = first + (built + i) as u32;
                if (place > 0 || born > spec.first_generation) && enough() {
                    return false;
                }
                if !given {
                    start::shuffle(Stream::new(spec.seed, born, place), tour);
                }
                if descends {
                    start::improve(shared.problem, spec, shared.places.get(), &shared.own, tour);
                }
                true
            })
            .collect();
        // Those behind the first that is missing are built again.
        let new = is_built.iter().take_while(|&&is_built| is_built).count();
        self.enter(shared, built..built + new)?;
        self.built += new;
        self.judge();
        Ok(self.built == self.size)
    }

    /// Takes new tours into the tables.
    fn enter<G: Geometry>(&mut self, shared: &Shared<'_, G>, new: Range<usize>) -> Result<(), BackendError> {
        let n = self.n;
        for place in new {
            let from = place * n;
            let tour = &self.order[from..from + n];
            for (p, &v) in (0..).zip(tour) {
                self.position[from + v as usize] = p;
            }
            // SAFETY: a permutation of the problem's nodes.
            self.costs[place] = unsafe { tour::cost(Serial, n as u32, shared.places.get(), tour.as_ptr()) };
            self.count(place, 1)?;
        }
        Ok(())
    }

    /// Adds to the frequencies of a tour's edges.
    fn count(&mut self, place: usize, by: i32) -> Result<(), BackendError> {
        let (n, from) = (self.n, place * self.n);
        self.census.make_room(n)?;
        for p in 0..n {
            self.census.add(self.order[from + p], self.order[from + (p + 1) % n], by);
        }
        Ok(())
    }

    /// Puts a tour in the longest one's place.
    pub fn welcome<G: Geometry>(&mut self, shared: &Shared<'_, G>, tour: &[u32]) -> Result<(), BackendError> {
        let place = self.extremes().1;
        self.count(place, -1)?;
        self.order[place * self.n..][..self.n].copy_from_slice(tour);
        self.enter(shared, place..place + 1)?;
        self.judge();
        Ok(())
    }

    /// The places in a random cyclic order.
    fn ring(&self, stream: Stream) -> Vec<usize> {
        let mut ring: Vec<usize> = (0..self.size).collect();
        for i in (1..self.size as u32).rev() {
            ring.swap(i as usize, stream.step(i).below(0, i + 1) as usize);
        }
        ring
    }

    /// The best child of each of some pairs, if it is good enough.
    fn cross<G: Geometry>(
        &mut self,
        shared: &Shared<'_, G>,
        pairs: &[(usize, usize)],
        number: u32,
        enough: Enough,
    ) -> Vec<Heir> {
        let (n, problem, spec) = (self.n, shared.problem, &shared.spec);
        let near = Together(Near {
            lists: problem.neighbors().as_ptr(),
            k: problem.search_k(),
            breadth: problem.search_k(),
            places: shared.places.get(),
        });
        // SAFETY: there is a step for every number of tours of a group but the last.
        let entropy = Together((self.census.view(), unsafe { Entropy::new(shared.steps.as_ptr()) }));
        let (order, position, first) = (&self.order, &self.position, self.first);
        let gene = |place: usize| {
            let (order, position) = (&order[place * n..][..n], &position[place * n..][..n]);
            // SAFETY: n nodes and positions of one tour, which nobody changes meanwhile.
            unsafe { Gene::new(n as u32, order.as_ptr(), position.as_ptr()) }
        };
        let all = pairs.par_iter().map(|&(mother, father)| {
            if enough() {
                return Heir::default();
            }
            let stream = Stream::new(spec.seed, number, first + mother as u32);
            let parents = (gene(mother), gene(father));
            let work = (spec.children, stream);
            // SAFETY: all is for n nodes; the frequencies are this group's, which has both parents.
            unsafe { breed(near.get(), parents, entropy.get(), work, &mut shared.desk(), enough) }
        });
        all.collect()
    }

    /// Puts children in their parents' places.
    fn succeed<G: Geometry>(
        &mut self,
        shared: &Shared<'_, G>,
        pairs: &[(usize, usize)],
        heirs: &[Heir],
    ) -> Result<(), BackendError> {
        let n = self.n;
        for (&(mother, _), heir) in pairs.iter().zip(heirs).filter(|(_, heir)| heir.gain > 0) {
            self.costs[mother] -= heir.gain;
            self.census.make_room(heir.changes.len())?;
            let from = mother * n;
            for change in heir.changes.chunks_exact(3) {
                let (v, new) = (change[0], &change[1..]);
                let p = self.position[from + v as usize] as usize;
                let old = [(p + n - 1) % n, (p + 1) % n].map(|p| self.order[from + p]);
                for &u in old.iter().filter(|&u| v < *u && !new.contains(u)) {
                    self.census.add(v, u, -1);
                }
                for &u in new.iter().filter(|&u| v < *u && !old.contains(u)) {
                    self.census.add(v, u, 1);
                }
            }
        }
        let arrays = Together((self.order.as_mut_ptr(), self.position.as_mut_ptr()));
        pairs.par_iter().zip(heirs).filter(|(_, heir)| heir.gain > 0).for_each(|(&(mother, _), heir)| {
            let mut desk = shared.desk();
            let from = mother * n;
            // SAFETY: a tour is in one pair's first place only; the bench is this thread's, and for n nodes; the changes
            // came of this tour.
            unsafe {
                let (order, position) = (arrays.get().0.add(from), arrays.get().1.add(from));
                let bench = Bench::new(n as u32, desk.bench.as_mut_ptr().cast());
                let (changes, count) = (heir.changes.as_ptr(), (heir.changes.len() / 3) as u32);
                eax::apply(n as u32, Slots::new(order), Slots::new(position), changes, count, bench);
            }
        });
        Ok(())
    }

    /// Whether it begins again instead of the next generation.
    pub fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    /// Whether there is a better tour, and whether to go on.
    fn judge(&mut self) {
        let least = self.costs.iter().copied().min().unwrap_or(i64::MAX);
        if least < self.best {
            (self.best, self.waited) = (least, 0);
        }
        let is_one = self.costs.iter().all(|&cost| cost == least);
        self.exhausted = self.built == self.size && (is_one || self.waited >= PATIENCE);
    }
}
