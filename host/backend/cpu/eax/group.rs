//! A group of tours that evolves independently.

mod freely;

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use antwarp_core::rng::Stream;
use rayon::prelude::*;

use super::super::allocate;
use super::census::Census;
use super::nodes::Nodes;
use super::pair::{Desk, Heir};
use super::tour::Tour;
use antwarp_engine::LocalSearch;
use antwarp_engine::genetic::{GeneticSpec, Initial};
use antwarp_engine::{BackendError, Enough, Sharing, State};

/// Generations without a better tour after which a group is exhausted.
const PATIENCE: u32 = 50;
/// Most pairs that are crossed at the same time: a generation crosses its pairs in chunks of this size, and the pairs of a chunk
/// see the same frequencies. (With 300 at a time, final tours are worse.)
pub const MOST_PAIRS: usize = 32;
/// Most places by which a node is moved in a random order.
const REACH: u64 = 10_000;

/// Data shared by all groups.
pub struct Shared<'p> {
    pub nodes: Nodes<'p>,
    pub spec: GeneticSpec,
    /// One desk per thread.
    pub desks: Vec<Mutex<Desk>>,
}

impl Shared<'_> {
    /// Returns the desk of this thread of the pool, which nobody else uses; another thread gets the first one.
    fn desk(&self) -> MutexGuard<'_, Desk> {
        let desk = &self.desks[rayon::current_thread_index().unwrap_or(0) % self.desks.len()];
        desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A group.
pub struct Group {
    /// The number of its first place in the population.
    first: u32,
    tours: Vec<Tour>,
    /// Lengths; `i64::MAX` where there is no tour.
    costs: Vec<i64>,
    pub census: Census,
    /// Number of tours that exist.
    built: usize,
    /// The generation in which it started or restarted; and whether its first tours are given ones.
    born: u32,
    given: bool,
    /// The best length since then, and the generations without a better one.
    best: i64,
    waited: u32,
    exhausted: bool,
}

impl Group {
    /// Makes a group of `size` tours of `n` nodes, whose first place in the population is `first`, in generation `born`. Its
    /// tours do not exist until [`Group::build`], which takes the `given` ones, concatenated, if there are any.
    ///
    /// # Errors
    /// If memory is short.
    pub fn new(
        (n, size, first, born): (u32, u32, u32, u32),
        given: Option<&[u32]>,
    ) -> Result<Group, BackendError> {
        let mut tours = (0..size).map(|_| Tour::new(n)).collect::<Result<Vec<_>, _>>()?;
        if let Some(given) = given {
            let each = tours.iter_mut().zip(given.chunks_exact(n as usize));
            each.for_each(|(tour, given)| tour.rewrite(|order| order.copy_from_slice(given)));
        }
        let mut costs = allocate("the tours' lengths", size as usize)?;
        costs.fill(i64::MAX);
        Ok(Group {
            first,
            tours,
            costs,
            census: Census::new(n, size)?,
            built: 0,
            born,
            given: given.is_some(),
            best: i64::MAX,
            waited: 0,
            exhausted: false,
        })
    }

    /// Returns the length of each tour; `i64::MAX` where there is none.
    pub fn costs(&self) -> &[i64] {
        &self.costs
    }

    /// Returns the tour at a place of the group, from 0.
    pub fn tour(&self, place: usize) -> &[u32] {
        self.tours[place].order()
    }

    /// Returns the places of the shortest tour, the first of several, and of the longest, the last of several.
    pub fn extremes(&self) -> (usize, usize) {
        let (places, by_cost) = (0..self.costs.len(), |&place: &usize| self.costs[place]);
        (places.clone().min_by_key(by_cost).unwrap_or(0), places.max_by_key(by_cost).unwrap_or(0))
    }

    /// Runs generation `number`, in which each of those that share it crosses some pairs; an exhausted group restarts instead,
    /// and one with missing tours builds them. False if it was cut short.
    ///
    /// # Errors
    /// If memory is short.
    pub fn generation(
        &mut self,
        shared: &Shared<'_>,
        number: u32,
        mut sharing: Option<&mut dyn Sharing>,
        enough: Enough,
    ) -> Result<bool, BackendError> {
        let size = self.tours.len();
        if self.exhausted {
            self.costs.fill(i64::MAX);
            self.census.clear()?;
            (self.built, self.born, self.given) = (0, number, false);
            (self.best, self.waited, self.exhausted) = (i64::MAX, 0, false);
        }
        if self.built < size {
            return self.build(shared, enough);
        }
        let ring = self.ring(shared, number);
        let pairs: Vec<(usize, usize)> = (0..size).map(|i| (ring[i], ring[(i + 1) % size])).collect();
        let mut is_any = false;
        for some in pairs.chunks(size.div_ceil(size.div_ceil(MOST_PAIRS))) {
            let heirs = match &mut sharing {
                None => self.cross(shared, some, number, enough),
                Some(sharing) => {
                    let Range { start, end } = sharing.part(some.len() as u32);
                    let own = self.cross(shared, &some[start as usize..end as usize], number, enough);
                    let mut message = Vec::new();
                    own.iter().for_each(|(place, heir)| heir.write(*place, &mut message));
                    let Some(all) = sharing.gather(message, enough) else { return Ok(false) };
                    let (n, mut has_heir) = (shared.nodes.problem.n(), vec![false; size]);
                    let all = all.iter().flat_map(|message| Heir::read(message, (size, n)));
                    // One per parent: messages can be wrong.
                    all.filter(|&(place, _)| !std::mem::replace(&mut has_heir[place], true)).collect()
                }
            };
            is_any |= !heirs.is_empty();
            self.succeed(shared, heirs)?;
            if enough() {
                self.judge();
                return Ok(false);
            }
        }
        self.waited += 1;
        self.judge();
        self.exhausted |= !is_any;
        Ok(true)
    }

    /// Builds the missing tours; false if interrupted by `enough` before all exist. The first one of the population is always
    /// built, except in a restart.
    ///
    /// # Errors
    /// If memory is short.
    pub fn build(&mut self, shared: &Shared<'_>, enough: Enough) -> Result<bool, BackendError> {
        let (built, first, born, given) = (self.built, self.first, self.born, self.given);
        let spec = &shared.spec;
        let descends = match spec.initial {
            Initial::Random => spec.local_search != LocalSearch::None,
            _ => !given || spec.descends_first(),
        };
        // Threads take the next tour one at a time, so that the missing ones are the last.
        let rest = self.tours[built..].iter_mut().enumerate().par_bridge();
        let missing = rest.filter_map(|(i, tour)| {
            let place = first + (built + i) as u32;
            if (place > 0 || born > spec.first_generation) && enough() {
                return Some(i);
            }
            tour.rewrite(|order| {
                if !given {
                    shuffle(Stream::new(spec.seed, born, place), order);
                    shared.nodes.problem.join_partners(order);
                }
                if descends {
                    shared.nodes.improve((spec.local_search, spec.breadth), order, enough);
                }
            });
            None
        });
        // Tours after the first missing one are built again.
        let new = missing.min().unwrap_or(self.tours.len() - built);
        self.enter(shared, built..built + new)?;
        self.built += new;
        self.judge();
        Ok(self.built == self.tours.len())
    }

    /// Adds the tours at these places to the costs and the census.
    ///
    /// # Errors
    /// If memory is short.
    fn enter(&mut self, shared: &Shared<'_>, new: Range<usize>) -> Result<(), BackendError> {
        for place in new {
            self.costs[place] = shared.nodes.length(&self.tours[place]);
            self.census.add_tour(&self.tours[place], 1)?;
        }
        Ok(())
    }

    /// Returns whether all of its tours exist.
    pub fn is_whole(&self) -> bool {
        self.built == self.tours.len()
    }

    /// Replaces the longest tour by another one. All of the group's tours must exist.
    ///
    /// # Errors
    /// If memory is short.
    pub fn welcome(&mut self, shared: &Shared<'_>, tour: &[u32]) -> Result<(), BackendError> {
        let place = self.extremes().1;
        self.census.add_tour(&self.tours[place], -1)?;
        self.tours[place].rewrite(|order| order.copy_from_slice(tour));
        self.enter(shared, place..place + 1)?;
        self.judge();
        Ok(())
    }

    /// Saves its tours.
    ///
    /// # Errors
    /// If memory is short.
    pub fn save(&self, state: &mut State) -> Result<(), BackendError> {
        let counts = [self.built as i64, self.born.into(), self.best, self.waited.into()];
        state.put(&counts)?;
        state.put(&[u8::from(self.given), u8::from(self.exhausted)])?;
        let n = self.tours.first().map_or(0, Tour::n) as usize;
        let mut tours = allocate("a checkpoint", n * self.tours.len())?;
        tours
            .chunks_exact_mut(n.max(1))
            .zip(&self.tours)
            .for_each(|(to, tour)| to.copy_from_slice(tour.order()));
        state.put(&tours)
    }

    /// Restores the tours of a group of as many tours.
    ///
    /// # Errors
    /// If the state is not one of such a group, or memory is short.
    pub fn restore(&mut self, shared: &Shared<'_>, state: &mut State) -> Result<(), BackendError> {
        let [built, born, best, waited] = state.take_one([0_i64; 4])?;
        let [given, exhausted] = state.take_one([0_u8; 2])?;
        let tours = state.take_tours(shared.nodes.problem.n())?;
        let n = shared.nodes.problem.n() as usize;
        let (Ok(built), Ok(born), Ok(waited)) =
            (usize::try_from(built), u32::try_from(born), u32::try_from(waited))
        else {
            return Err(BackendError::State);
        };
        if built > self.tours.len() || tours.len() != n * self.tours.len() {
            return Err(BackendError::State);
        }
        for (tour, saved) in self.tours.iter_mut().zip(tours.chunks_exact(n)) {
            tour.rewrite(|order| order.copy_from_slice(saved));
        }
        self.costs.fill(i64::MAX);
        self.census.clear()?;
        self.enter(shared, 0..built)?;
        (self.built, self.born, self.given) = (built, born, given != 0);
        (self.best, self.waited, self.exhausted) = (best, waited, exhausted != 0);
        Ok(())
    }

    /// Returns the places in the random cyclic order of a generation.
    fn ring(&self, shared: &Shared<'_>, number: u32) -> Vec<usize> {
        let stream = Stream::new(shared.spec.seed, number, u32::MAX - self.first);
        let mut ring: Vec<usize> = (0..self.costs.len()).collect();
        for i in (1..ring.len()).rev() {
            ring.swap(i, stream.step(i as u32).below(0, i as u32 + 1) as usize);
        }
        ring
    }

    /// Returns the heir of each pair that has one, with its first parent's place.
    fn cross(
        &self,
        shared: &Shared<'_>,
        pairs: &[(usize, usize)],
        number: u32,
        enough: Enough,
    ) -> Vec<(usize, Heir)> {
        // Pairs take different times, so no thread takes several at once.
        let children = pairs.par_iter().with_max_len(1).filter_map(|&(mother, father)| {
            if enough() {
                return None;
            }
            let stream = Stream::new(shared.spec.seed, number, self.first + mother as u32);
            let parents = (&self.tours[mother], &self.tours[father]);
            let (tables, work) = ((&shared.nodes, &self.census), (shared.spec.children, stream));
            Some((mother, shared.desk().breed(tables, parents, work, enough)?))
        });
        children.collect()
    }

    /// Replaces first parents, given by place, by their heirs; at most one each.
    ///
    /// # Errors
    /// If memory is short.
    fn succeed(&mut self, shared: &Shared<'_>, heirs: Vec<(usize, Heir)>) -> Result<(), BackendError> {
        for (place, heir) in &heirs {
            self.costs[*place] -= heir.gain;
            self.census.change(&self.tours[*place], &heir.changes)?;
        }
        let tours: Vec<Tour> =
            heirs.iter().map(|&(place, _)| std::mem::take(&mut self.tours[place])).collect();
        let changed = tours.into_par_iter().zip(&heirs).map(|(mut tour, (_, heir))| {
            shared.desk().child.apply(&mut tour, &heir.changes);
            tour
        });
        let changed: Vec<Tour> = changed.collect();
        heirs.iter().zip(changed).for_each(|(&(place, _), tour)| self.tours[place] = tour);
        Ok(())
    }

    /// Returns whether it restarts instead of running another generation.
    pub fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    /// Updates whether there is a better tour, and whether to go on.
    fn judge(&mut self) {
        let least = self.costs.iter().copied().min().unwrap_or(i64::MAX);
        if least < self.best {
            (self.best, self.waited) = (least, 0);
        }
        let is_one = self.costs.iter().all(|&cost| cost == least);
        self.exhausted = self.built == self.tours.len() && (is_one || self.waited >= PATIENCE);
    }
}

/// Shuffles a tour. If there are many nodes, each moves only a limited distance from its place in the problem's numbering, which
/// follows a short tour: this is as random as necessary, and a local optimum is reached in far fewer moves.
fn shuffle(stream: Stream, tour: &mut [u32]) {
    (0..).zip(tour.iter_mut()).for_each(|(i, v)| *v = i);
    tour.sort_by_cached_key(|&v| (u64::from(v) << 32) + REACH * u64::from(stream.step(v).bits(0)));
}
