//! The genetic algorithm on CPU threads: a team of one makes a child.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use antwarp_core::geometry::{self, Geometry};
use antwarp_core::operator::Operator;
use antwarp_core::papers::ants::colony::{ColonyState, Limits};
use antwarp_core::papers::genetic::generation::{is_over, record, recorded};
use antwarp_core::papers::genetic::{self, GenerationRules, Population as Tables, memory_bytes};
use antwarp_core::papers::local_search::ants;
use antwarp_core::team::{Serial, Slots};
use antwarp_core::tour;
use rayon::prelude::*;

use crate::variants::{with_operator, with_places};
use crate::{Quad, Together, allocate, check_memory, eax, parallel};
use antwarp_engine::genetic::{Crossover, FirstIndividuals, GeneticSpec};
use antwarp_engine::{BackendError, Colony, Enough, LocalSearch, Phases, Population, Problem, State, Worker};
use antwarp_instance::counted;
use antwarp_instance::parallel::each;

/// Makes a population for `problem` on CPU threads. Given individuals must be as many tours as the spec says, which only edge
/// assembly crossover checks.
///
/// # Errors
/// If memory is short; with edge assembly crossover also if the given individuals are not such tours.
pub fn population<'p>(
    problem: &'p Problem,
    spec: &GeneticSpec,
    first: FirstIndividuals,
) -> Result<Box<dyn Population + 'p>, BackendError> {
    if spec.crossover == Crossover::Eax {
        return eax::population(problem, spec, first);
    }
    with_places!(problem, problem.distances(), |geometry, places| {
        Ok(Box::new(CpuPopulation::new(problem, spec, first, geometry, places)?))
    })
}

/// The row of the individual at each place, and its length; `i64::MAX` where there is none.
struct Table {
    rows: Vec<u32>,
    costs: Vec<i64>,
}

impl Table {
    /// Makes places without individuals.
    fn new(count: u32) -> Result<Table, BackendError> {
        let mut costs = allocate("the individuals' lengths", count as usize)?;
        costs.fill(i64::MAX);
        let mut rows = allocate("the individuals' rows", count as usize)?;
        (0..).zip(&mut rows).for_each(|(i, row)| *row = i);
        Ok(Table { rows, costs })
    }
}

struct CpuPopulation<'p, G: Geometry> {
    problem: &'p Problem,
    spec: GeneticSpec,
    places: geometry::Places<G>,
    /// The source of the first generation, until it is made.
    first: Option<FirstIndividuals>,
    neighbors: Vec<u32>,
    /// Every node's own number: no tour to compare with.
    own: Vec<u32>,
    individuals: Vec<u32>,
    table: Table,
    next: Table,
    born: Vec<u64>,
    best: u64,
    state: ColonyState,
    phases: Phases,
}

impl<'p, G: Geometry> CpuPopulation<'p, G> {
    fn new(
        problem: &'p Problem,
        spec: &GeneticSpec,
        first: FirstIndividuals,
        geometry: G,
        places: &'p [G::Place],
    ) -> Result<Self, BackendError> {
        let (n, count) = (problem.n() as usize, spec.individuals as usize);
        first.check(problem, spec)?;
        check_memory("the population", n * count * size_of::<u32>())?;
        let no_limits = Limits { lowest: 0.0, highest: 0.0, deposit: 0.0 };
        Ok(CpuPopulation {
            problem,
            spec: spec.clone(),
            places: geometry::Places { geometry, start: places.as_ptr() },
            first: Some(first),
            neighbors: problem.neighbors().to_vec(),
            own: (0..problem.n()).collect(),
            individuals: allocate("the individuals", n * count)?,
            table: Table::new(spec.individuals)?,
            next: Table::new(spec.individuals)?,
            born: allocate("the individuals' places", count)?,
            best: record(i64::MAX, 0),
            state: ColonyState::new(no_limits),
            phases: Phases::default(),
        })
    }

    fn tables(&mut self) -> Tables<u32> {
        // SAFETY: all arrays have as many elements as there are individuals (and nodes); views do not outlive a call.
        unsafe {
            Tables {
                individuals: Slots::of(&mut self.individuals),
                rows: self.table.rows.as_ptr(),
                costs: self.table.costs.as_ptr(),
                next_rows: Slots::of(&mut self.next.rows),
                next_costs: Slots::of(&mut self.next.costs),
                best: &mut self.best,
                born: Slots::of(&mut self.born),
            }
        }
    }

    /// Makes the first generation; false if it was cut short, which leaves places without an individual.
    fn begin(&mut self, first: FirstIndividuals, enough: Enough) -> bool {
        let n = self.problem.n() as usize;
        let rules = self.spec.rules(self.problem, 0, 0, self.spec.descends_first());
        if let FirstIndividuals::Given(tours) = &first {
            self.individuals[..tours.len()].copy_from_slice(tours);
        }
        debug_assert!(n > 0);
        let shared = Together((self.tables(), self.places));
        // One individual is always made, so that there is a tour.
        let started = AtomicBool::new(false);
        let made = parallel::all_with_memory(self.spec.individuals, 0, &|_, row| {
            if started.swap(true, Ordering::Relaxed) && enough() {
                return false;
            }
            let (tables, places) = shared.get();
            // SAFETY: the tables are large enough, and each row belongs to one thread.
            unsafe {
                match &first {
                    FirstIndividuals::Random => {
                        genetic::random_individual(Serial, &rules, tables, places, row)
                    }
                    FirstIndividuals::Given(_) => genetic::settle(Serial, &rules, tables, places, row),
                }
            }
            true
        });
        let made =
            made && (!self.spec.descends_first() || self.search(&rules, self.spec.individuals, enough));
        std::mem::swap(&mut self.table, &mut self.next);
        made
    }

    /// Runs one generation; false if it was cut short, which leaves individuals in place, with some losers replaced by children.
    fn generation(&mut self, enough: Enough) -> bool {
        let generation = self.spec.first_generation + self.state.iterations + 1;
        self.best = record(self.state.best_cost, 0);
        let searches = self.spec.local_search != LocalSearch::None;
        let rules = self.spec.rules(self.problem, generation, 1, searches);
        // SAFETY: the record belongs to this thread.
        if unsafe { is_over(&rules, &mut self.best) } {
            return false;
        }
        let begin = Instant::now();
        let memory = memory_bytes::<u32>(rules.n).div_ceil(size_of::<Quad>());
        let shared = Together((self.tables(), self.places));
        let made = parallel::all_with_memory(rules.children(), memory, &|memory, index| {
            if enough() {
                return false;
            }
            let (tables, places) = shared.get();
            let memory = memory.as_mut_ptr().cast();
            // SAFETY: the tables and the memory are large enough, and each child belongs to one thread.
            unsafe { genetic::breed(Serial, &rules, tables, places, memory, index) };
            true
        });
        let built = Instant::now();
        if !made || (searches && !self.search(&rules, rules.children(), enough)) {
            self.measure();
            return false;
        }
        let searched = Instant::now();
        std::mem::swap(&mut self.table, &mut self.next);
        if self.spec.transfers(generation) {
            let shared = Together(self.tables());
            each(rules.groups as usize, 1, &|group| {
                // SAFETY: the tables are large enough, and each group belongs to one thread.
                unsafe { genetic::transfer(Serial, &rules, shared.get(), group as u32) };
            });
            std::mem::swap(&mut self.table, &mut self.next);
        }
        self.phases.iterations += 1;
        self.phases.construction += built - begin;
        self.phases.local_search += searched - built;
        self.phases.rest += searched.elapsed();
        self.state.iterations += 1;
        true
    }

    /// Measures every individual again: a generation that was cut short has replaced some whose old lengths are still in the table,
    /// possibly even the shortest where several are equal.
    fn measure(&mut self) {
        let n = self.problem.n();
        let (individuals, places, rows) = (&self.individuals, Together(self.places), &self.table.rows);
        self.table.costs.par_iter_mut().zip(rows).filter(|(cost, _)| **cost < i64::MAX).for_each(
            |(cost, &row)| {
                let individual = &individuals[row as usize * n as usize..][..n as usize];
                // SAFETY: every row holds a tour.
                *cost = unsafe { tour::cost(Serial, n, places.get(), individual.as_ptr()) };
            },
        );
    }

    fn search(&mut self, rules: &GenerationRules, count: u32, enough: Enough) -> bool {
        with_operator!(self.spec.local_search, O => self.search_with::<O>(rules, count, enough))
    }

    /// Runs local search on the individuals that were made last.
    fn search_with<O: Operator>(&mut self, rules: &GenerationRules, count: u32, enough: Enough) -> bool {
        let n = self.problem.n();
        let search = ants::TourTables {
            n,
            lists: self.neighbors.as_ptr(),
            k: self.problem.search_k(),
            breadth: self.spec.breadth,
            places: self.places,
            successor: self.own.as_ptr(),
            predecessor: self.own.as_ptr(),
        };
        let memory = ants::memory_bytes::<u32>(n).div_ceil(size_of::<Quad>());
        let shared = Together((self.tables(), search));
        parallel::all_with_memory(count, memory, &|memory, index| {
            let (tables, search) = shared.get();
            let memory = memory.as_mut_ptr().cast();
            // SAFETY: each new individual belongs to one thread; memory and tables are large enough.
            unsafe {
                let gain = if enough() {
                    0
                } else {
                    let individual = tables.individual(tables.born.get(index) as u32, n);
                    ants::improve::<_, O, u32, G>(&Worker::new(enough), search, memory, individual)
                };
                genetic::finish(rules, tables, index, gain);
                gain > 0 || !enough()
            }
        })
    }

    /// Reads the state from the tables.
    fn look(&mut self) {
        let costs = &self.table.costs;
        let known = costs.iter().filter(|&&cost| cost < i64::MAX);
        let (mut sum, mut count) = (0i128, 0i128);
        for &cost in known {
            sum += i128::from(cost);
            count += 1;
        }
        self.state.iteration_cost = (sum / count.max(1)) as i64;
        let least = costs.iter().min().copied().unwrap_or(i64::MAX);
        if least < self.state.best_cost {
            self.state.best_cost = least;
            self.state.best_iteration = self.state.iterations.saturating_sub(1);
        }
        self.state.done = (least <= self.spec.target).into();
        debug_assert!(recorded(self.best).0 >= least);
    }
}

impl<G: Geometry> Colony for CpuPopulation<'_, G> {
    fn run(&mut self, iterations: u32, enough: Enough) -> Result<ColonyState, BackendError> {
        if let Some(first) = self.first.take() {
            let complete = self.begin(first, enough);
            self.look();
            if !complete {
                return Ok(self.state);
            }
        }
        for _ in 0..iterations {
            if self.state.done != 0 {
                break;
            }
            let is_complete = self.generation(enough);
            self.look();
            if !is_complete {
                break;
            }
        }
        Ok(self.state)
    }

    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError> {
        let costs = (0u32..).zip(&self.table.costs);
        let place = costs.min_by_key(|&(_, cost)| cost).map_or(0, |(place, _)| place);
        self.individual(place)
    }

    fn is_whole(&self) -> bool {
        !self.table.costs.contains(&i64::MAX)
    }

    fn save(&mut self, state: &mut State) -> Result<(), BackendError> {
        let n = self.problem.n() as usize;
        state.put(&[self.state])?;
        let mut individuals = allocate("a checkpoint", self.individuals.len())?;
        for (to, &row) in individuals.chunks_exact_mut(n).zip(&self.table.rows) {
            to.copy_from_slice(&self.individuals[row as usize * n..][..n]);
        }
        state.put(&individuals)?;
        state.put(&self.table.costs)
    }

    fn restore(&mut self, state: &mut State) -> Result<ColonyState, BackendError> {
        self.state = state.take_one(self.state)?;
        let individuals = state.take_tours(self.problem.n())?;
        if individuals.len() != self.individuals.len() {
            return Err(BackendError::State);
        }
        self.individuals = individuals;
        self.table = Table::new(self.spec.individuals)?;
        state.copy_to(&mut self.table.costs)?;
        self.first = None;
        self.look();
        Ok(self.state)
    }

    fn take_in(&mut self, cost: i64, tour: &[u32]) -> Result<Option<ColonyState>, BackendError> {
        let costs = (0..self.table.costs.len()).map(|place| (self.table.costs[place], place));
        let Some((longest, place)) = costs.max() else { return Ok(None) };
        // Only once all individuals are there.
        if self.first.is_none() && longest < i64::MAX && cost < longest {
            let n = self.problem.n() as usize;
            let row = self.table.rows[place] as usize;
            self.individuals[row * n..][..n].copy_from_slice(tour);
            self.table.costs[place] = cost;
            self.look();
        }
        Ok(Some(self.state))
    }

    fn phases(&mut self) -> Result<Phases, BackendError> {
        Ok(std::mem::take(&mut self.phases))
    }

    fn describe(&self) -> String {
        format!(
            "{}, {} individuals in {}, a thread per child, 32 bits per node",
            self.spec.variant(),
            self.spec.individuals,
            counted(self.spec.groups as usize, "group"),
        )
    }
}

impl<G: Geometry> Population for CpuPopulation<'_, G> {
    fn places(&self) -> u32 {
        self.spec.individuals
    }

    fn individual(&mut self, place: u32) -> Result<Vec<u32>, BackendError> {
        let n = self.problem.n() as usize;
        let row = self.table.rows[place as usize] as usize;
        Ok(self.individuals[row * n..][..n].to_vec())
    }

    fn costs(&mut self) -> Result<Vec<i64>, BackendError> {
        Ok(self.table.costs.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;
    use antwarp_engine::genetic::{Initial, Pairing, Partners};
    use antwarp_instance::{generate, nearest};

    fn spec(count: u32, local_search: LocalSearch) -> GeneticSpec {
        GeneticSpec {
            seed: 1,
            crossover: Crossover::Scx,
            individuals: count,
            groups: 1,
            transfer_every: 0,
            children: 0,
            mutation: u32::MAX,
            pairing: Pairing::Fixed,
            partners: Partners::Pairs,
            improve_best: false,
            initial: Initial::Random,
            local_search,
            breadth: 4,
            target: 0,
            first_generation: 0,
        }
    }

    #[test]
    fn first_individuals_are_as_many_as_there_are_places() {
        let (n, count) = (30u32, 64u32);
        let instance = generate::uniform(n as usize, 5).expect("an instance");
        let problem = Problem::for_search(&instance, &nearest(&instance, 8), (0..n).collect());
        let made = |given: Vec<u32>| {
            population(&problem, &spec(count, LocalSearch::None), FirstIndividuals::Given(given)).map(drop)
        };
        let right: Vec<u32> = (0..count).flat_map(|_| 0..n).collect();
        assert!(made(right.clone()).is_ok());
        let fewer = right[n as usize..].to_vec();
        let more = [&right[..], &right[..n as usize]].concat();
        let beyond = right.iter().map(|node| node + 1).collect();
        for wrong in [Vec::new(), fewer, more, beyond] {
            assert!(matches!(made(wrong), Err(BackendError::Population { tours: 64, nodes: 30 })));
        }
    }

    /// Of equally short individuals a loser is replaced before the table is updated: when a generation is cut short, lengths must
    /// be those of the individuals that are there.
    #[test]
    fn a_generation_cut_short_leaves_individuals_of_the_lengths_told() {
        let (n, count) = (30u32, 64u32);
        let instance = generate::uniform(n as usize, 5).expect("an instance");
        let problem = Problem::for_search(&instance, &nearest(&instance, 8), (0..n).collect());
        let spec = spec(count, LocalSearch::None);
        for children in 0..count / 2 {
            let same: Vec<u32> = (0..count).flat_map(|_| 0..n).collect();
            let mut population = population(&problem, &spec, FirstIndividuals::Given(same)).expect("memory");
            let asked = AtomicU32::new(0);
            // The first generation asks before every individual but one.
            let enough = || asked.fetch_add(1, Ordering::Relaxed) >= count - 1 + children;
            let state = population.run(1, &enough).expect("a generation");
            if state.iterations == 1 {
                assert!(children >= count / 4, "{children} children were all");
                break;
            }
            let told = population.costs().expect("lengths");
            for (place, cost) in (0..).zip(told) {
                let individual = population.individual(place).expect("an individual");
                assert_eq!(
                    instance.check_tour(&individual).ok(),
                    Some(cost),
                    "{children} children, place {place}"
                );
            }
            let best = population.best_tour().expect("a tour");
            assert_eq!(instance.check_tour(&best).ok(), Some(state.best_cost), "{children} children");
        }
    }

    #[test]
    fn a_individual_improved_in_part_has_the_length_told() {
        let (n, count) = (3000u32, 4u32);
        let instance = generate::uniform(n as usize, 5).expect("an instance");
        let problem = Problem::for_search(&instance, &nearest(&instance, 8), (0..n).collect());
        let after = |looks: u32| {
            let first = FirstIndividuals::Random;
            let mut population =
                population(&problem, &spec(count, LocalSearch::TwoOpt), first).expect("memory");
            let asked = AtomicU32::new(0);
            population.run(0, &|| asked.fetch_add(1, Ordering::Relaxed) >= looks).expect("individuals");
            for (place, cost) in (0..).zip(population.costs().expect("lengths")) {
                let individual = population.individual(place).expect("an individual");
                assert_eq!(instance.check_tour(&individual).ok(), Some(cost), "{looks} looks, place {place}");
            }
            population.costs().expect("lengths").into_iter().min()
        };
        let (none, some, all) = (after(count), after(count + 4), after(u32::MAX));
        assert!(none > some && some > all, "{none:?}, {some:?}, {all:?}");
    }
}
