//! Elite tours: the best tours that a colony had found at each reset of its trails.

use crate::{allocate, population};
use antwarp_engine::genetic::{Crossover, FirstIndividuals, GeneticSpec, Initial, Pairing, Partners};
use antwarp_engine::{BackendError, Enough, LocalSearch, Problem, State};

/// Most tours; beyond this the oldest ones are dropped.
const MOST: usize = 64;
/// Children of a pair, of which the best one is made, again and again.
const CHILDREN: u32 = 30;

/// Tours of independent searches, concatenated.
pub(super) struct Elite {
    seed: u64,
    tours: Vec<u32>,
    /// Number of tours received so far.
    met: usize,
}

impl Elite {
    /// Makes an elite without tours.
    pub(super) fn new(seed: u64) -> Elite {
        Elite { seed, tours: Vec::new(), met: 0 }
    }

    /// Saves the tours.
    ///
    /// # Errors
    /// If memory is short.
    pub(super) fn save(&self, state: &mut State) -> Result<(), BackendError> {
        state.put(&[self.met as u64])?;
        state.put(&self.tours)
    }

    /// Restores tours of `n` nodes.
    ///
    /// # Errors
    /// If the state has no such tours.
    pub(super) fn restore(&mut self, state: &mut State, n: u32) -> Result<(), BackendError> {
        let met = state.take_one(0_u64)?;
        self.tours = state.take_tours(n)?;
        self.met = usize::try_from(met).map_err(|_| BackendError::State)?;
        let is_right = self.tours.len() == self.met.min(MOST) * n as usize;
        if is_right { Ok(()) } else { Err(BackendError::State) }
    }

    /// Returns the number of tours received so far.
    #[cfg(test)]
    pub(super) fn met(&self) -> usize {
        self.met
    }

    /// Adds a tour, if there is memory for it; in place of the oldest one if there are 64.
    pub(super) fn add(&mut self, tour: impl ExactSizeIterator<Item = u32>) {
        let start = self.met % MOST * tour.len();
        if start == self.tours.len() && self.tours.try_reserve_exact(tour.len()).is_err() {
            return;
        }
        self.met += 1;
        if start == self.tours.len() {
            self.tours.extend(tour);
        } else {
            self.tours[start..].iter_mut().zip(tour).for_each(|(to, node)| *to = node);
        }
    }

    /// Returns the best tour of a population that starts with these tours, and its length: edge assembly crossover goes on until
    /// it cannot improve them any more, reaches the target, or `enough` asks to stop. The tours stay unchanged, to be crossed
    /// again when there are others. `None` if there are fewer than two.
    ///
    /// # Errors
    /// If memory is short.
    pub(super) fn cross(
        &self,
        problem: &Problem,
        target: i64,
        enough: Enough,
    ) -> Result<Option<(i64, Vec<u32>)>, BackendError> {
        if self.met < 2 {
            return Ok(None);
        }
        let spec = GeneticSpec {
            seed: self.seed,
            crossover: Crossover::Eax,
            individuals: self.met.min(MOST) as u32,
            groups: 1,
            transfer_every: 0,
            children: CHILDREN,
            mutation: 0,
            pairing: Pairing::Shuffled,
            partners: Partners::Pairs,
            improve_best: false,
            initial: Initial::File,
            local_search: LocalSearch::None,
            breadth: 1,
            target,
            // Random numbers differ every time.
            first_generation: self.met as u32,
        };
        let mut tours = allocate("the elite", self.tours.len())?;
        tours.copy_from_slice(&self.tours);
        let mut population = population(problem, &spec, FirstIndividuals::Given(tours))?;
        let mut state = population.run(0, enough)?;
        while !population.is_exhausted() && state.done == 0 && !enough() {
            state = population.run(1, enough)?;
        }
        Ok(Some((state.best_cost, population.best_tour()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use antwarp_engine::start::{self, Start};
    use antwarp_instance::{Instance, generate, quadrant};

    /// Returns four tours, and a problem numbered along the first.
    fn tours(instance: &Instance) -> (Problem, [Vec<u32>; 4]) {
        let near = quadrant(instance, 8);
        let starts = [Start::Greedy, Start::NearestNeighbor, Start::QuickBoruvka, Start::SpaceFilling];
        let tours = starts.map(|start| start::tour(instance, start, &near, 1));
        let mut number = vec![0; instance.len()];
        (0..).zip(&tours[0]).for_each(|(i, &node)| number[node as usize] = i);
        let problem = Problem::for_search(instance, &near, tours[0].clone());
        (problem, tours.map(|tour| tour.iter().map(|&node| number[node as usize]).collect()))
    }

    #[test]
    fn crossing_makes_a_better_tour_and_leaves_the_elite_alone() {
        let instance = generate::uniform(200, 4).unwrap();
        let (problem, tours) = tours(&instance);
        let length = |tour: &[u32]| instance.check_tour(&problem.original(tour)).unwrap();
        let mut elite = Elite::new(1);
        let cross = |elite: &Elite| elite.cross(&problem, i64::MIN, &|| false).unwrap();
        elite.add(tours[0].iter().copied());
        assert_eq!(cross(&elite), None, "one tour cannot be crossed");
        tours[1..].iter().for_each(|tour| elite.add(tour.iter().copied()));
        let (cost, tour) = cross(&elite).unwrap();
        assert_eq!(length(&tour), cost);
        assert!(tours.iter().all(|tour| cost < length(tour)));
        assert_eq!(elite.tours, tours.concat());
        assert_eq!(cross(&elite), Some((cost, tour)));
    }

    #[test]
    fn the_first_tours_make_way() {
        let mut elite = Elite::new(1);
        for i in 0..MOST as u32 + 2 {
            elite.add([i, i + 1, i + 2].into_iter());
        }
        let firsts: Vec<u32> = elite.tours.chunks_exact(3).map(|tour| tour[0]).collect();
        let most = MOST as u32;
        assert_eq!(firsts, [most, most + 1].into_iter().chain(2..most).collect::<Vec<u32>>());
    }
}
