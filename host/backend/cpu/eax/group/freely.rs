//! Generations in which no thread waits for another.
//!
//! A thread that is free takes the next pair, and its child replaces the mother at once. After the last pair of a generation comes the
//! first one of the next. So a thread whose processor is busy with something else delays nobody. What a pair sees of the others depends
//! on who is faster, and so does the population.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use antwarp_core::rng::Stream;

use super::super::super::parallel::give_way;
use super::super::tour::Tour;
use super::{Group, PATIENCE, Shared};
use antwarp_engine::{BackendError, Enough};

/// A place of the population.
struct Place {
    tour: Arc<Tour>,
    cost: i64,
}

/// The pairs of these generations, and what came of them.
struct Pairs {
    /// The current generation, the places in its order, and how many of them were mothers.
    number: u32,
    ring: Vec<usize>,
    taken: usize,
    /// Whether a thread crosses the tour at a place as a mother.
    is_mother: Vec<bool>,
    /// How many generations come after the current one.
    left: u32,
    /// The best length, the pairs since it was found, and the pairs in a row without a child.
    best: i64,
    waited: usize,
    fruitless: usize,
    is_over: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Group {
    /// Runs this many generations from `number` on, or fewer once the group is exhausted, has a tour as short as the target, or
    /// `enough` asks to stop; returns how many were completed. All of its tours must exist, and it must not be exhausted. Called
    /// by one thread; all threads of the pool work.
    ///
    /// # Errors
    /// If memory is short.
    pub fn run_freely(
        &mut self,
        shared: &Shared<'_>,
        (number, generations): (u32, u32),
        enough: Enough,
    ) -> Result<u32, BackendError> {
        if generations == 0 {
            return Ok(0);
        }
        let size = self.tours.len();
        self.census.make_room(shared.nodes.problem.n() as usize)?;
        let places: Vec<Mutex<Place>> = mem::take(&mut self.tours)
            .into_iter()
            .zip(&self.costs)
            .map(|(tour, &cost)| Mutex::new(Place { tour: Arc::new(tour), cost }))
            .collect();
        let pairs = Mutex::new(Pairs {
            number,
            ring: self.ring(shared, number),
            taken: 0,
            is_mother: vec![false; size],
            left: generations - 1,
            best: self.best,
            waited: self.waited as usize * size,
            fruitless: 0,
            is_over: false,
        });
        // Returns the next pair. A mother that a thread still crosses, since an earlier generation, has to wait for its turn, or loses it
        // at the end of the generation.
        let next = || {
            let pairs = &mut *lock(&pairs);
            while !pairs.is_over {
                let waits = |&place: &usize| pairs.is_mother[place];
                if let Some(free) = pairs.ring[pairs.taken..].iter().position(|place| !waits(place)) {
                    pairs.ring.swap(pairs.taken, pairs.taken + free);
                    let place = |i: usize| pairs.ring[i % size];
                    let pair = (place(pairs.taken), place(pairs.taken + 1), pairs.number);
                    pairs.taken += 1;
                    pairs.is_mother[pair.0] = true;
                    return Some(pair);
                }
                pairs.taken = size;
                pairs.is_over = pairs.left == 0;
                if !pairs.is_over {
                    pairs.number += 1;
                    (pairs.ring, pairs.taken) = (self.ring(shared, pairs.number), 0);
                    pairs.left -= 1;
                }
            }
            None
        };
        // Notes the length of a mother's child, if there is one.
        let note = |mother: usize, child: Option<i64>| {
            let mut pairs = lock(&pairs);
            pairs.is_mother[mother] = false;
            pairs.fruitless = if child.is_some() { 0 } else { pairs.fruitless + 1 };
            match child.filter(|&cost| cost < pairs.best) {
                Some(cost) => (pairs.best, pairs.waited) = (cost, 0),
                None => pairs.waited += 1,
            }
            let is_done = pairs.best <= shared.spec.target;
            pairs.is_over |= is_done || pairs.fruitless >= size || pairs.waited >= PATIENCE as usize * size;
        };
        let work = || {
            while !enough()
                && let Some((mother, father, number)) = next()
            {
                let mut desk = shared.desk();
                let a = Arc::clone(&lock(&places[mother]).tour);
                let b = Arc::clone(&lock(&places[father]).tour);
                let stream = Stream::new(shared.spec.seed, number, self.first + mother as u32);
                let tables = (&shared.nodes, &self.census);
                let heir = desk.breed(tables, (&a, &b), (shared.spec.children, stream), enough);
                drop(b);
                // Without room for its edges a child is lost. The next call makes room.
                let is_room = heir.as_ref().is_none_or(|heir| self.census.change_beside(&a, &heir.changes));
                if !is_room || (heir.is_none() && enough()) {
                    lock(&pairs).is_over = true;
                    break;
                }
                let cost = heir.map(|heir| {
                    let child = Arc::new(mem::take(&mut desk.tour));
                    let mut place = lock(&places[mother]);
                    place.cost -= heir.gain;
                    place.tour = child;
                    place.cost
                });
                if cost.is_some() {
                    // The desk needs another tour: the old one, if nobody crosses it as a father.
                    let other = Arc::try_unwrap(a).or_else(|_| Tour::new(shared.nodes.problem.n()));
                    desk.tour = other.inspect_err(|_| lock(&pairs).is_over = true)?;
                }
                drop(desk);
                note(mother, cost);
                give_way();
            }
            Ok(())
        };
        // At most one thread for each tour: so there is always a mother that nobody crosses.
        let worked = rayon::broadcast(|thread| if thread.index() < size { work() } else { Ok(()) });
        let pairs = pairs.into_inner().unwrap_or_else(PoisonError::into_inner);
        let is_fruitless = pairs.fruitless >= size;
        let done = pairs.number - number + u32::from(pairs.taken == size);
        self.waited = (pairs.waited / size) as u32;
        for place in places {
            let place = place.into_inner().unwrap_or_else(PoisonError::into_inner);
            self.costs[self.tours.len()] = place.cost;
            // No thread has it any more.
            self.tours.push(Arc::try_unwrap(place.tour).unwrap_or_default());
        }
        // Pairs after it was found were counted already.
        self.best = self.best.min(pairs.best);
        self.judge();
        self.exhausted |= is_fruitless;
        worked.into_iter().collect::<Result<(), BackendError>>().map(|()| done)
    }
}
