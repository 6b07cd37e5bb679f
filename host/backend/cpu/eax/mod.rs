//! Edge assembly crossover in its localised form (Nagata and Kobayashi 2013), on CPU threads: one thread crosses a pair of parents.
//!
//! The edges in which two parents A and B differ form closed walks that use edges of A and of B alternately: AB-cycles. A child is
//! A with the A-edges of some AB-cycles (an E-set) replaced by their B-edges, which gives one tour or several sub-tours; those are
//! then merged, the smallest first. So a child differs from A in few edges, and its gain is known without looking at the rest of
//! the tour: A without the removed edges is a row of segments of its array.
//!
//! Decisions use only integers, and quotients in double precision, which are correctly rounded everywhere. A population depends on
//! the seed but not on the number of threads: the number of pairs crossed at the same time is fixed, and so is what they see of
//! each other. Only [`Population::run_freely`] makes one that depends on which thread is faster.

mod census;
mod child;
mod cycles;
mod group;
mod nodes;
mod pair;
mod subtours;
mod tour;

use std::sync::Mutex;
use std::time::Instant;

use antwarp_core::papers::ants::colony::{ColonyState, Limits};
use rayon::prelude::*;

use super::check_memory;
use antwarp_engine::genetic::{FirstIndividuals, GeneticSpec};
use antwarp_engine::{BackendError, Colony, Enough, Phases, Population, Problem, Sharing, State};
use antwarp_instance::counted;
use census::Census;
use group::{Group, MOST_PAIRS, Shared};
use nodes::Nodes;
use pair::{Desk, Heir};

/// Makes a population for `problem`, which has eight nodes or more.
///
/// # Errors
/// If memory is short, or given individuals are not as many tours as the spec says.
pub fn population<'p>(
    problem: &'p Problem,
    spec: &GeneticSpec,
    first: FirstIndividuals,
) -> Result<Box<dyn Population + 'p>, BackendError> {
    Ok(Box::new(CpuEax::new(problem, spec, first)?))
}

struct CpuEax<'p> {
    shared: Shared<'p>,
    groups: Vec<Group>,
    begun: bool,
    best_tour: Vec<u32>,
    state: ColonyState,
    phases: Phases,
}

impl<'p> CpuEax<'p> {
    fn new(problem: &'p Problem, spec: &GeneticSpec, first: FirstIndividuals) -> Result<Self, BackendError> {
        let (n, count, size) = (problem.n(), spec.individuals as usize, spec.individuals / spec.groups);
        let threads = rayon::current_num_threads();
        let tours = 2 * size_of::<u32>() * n as usize * count;
        let tables = threads * Desk::bytes(n) + spec.groups as usize * Census::bytes(n);
        let heirs = spec.groups as usize * MOST_PAIRS.min(size as usize) * Heir::bytes(n);
        check_memory("the population", tours + tables + heirs)?;
        let nodes = Nodes::new(problem);
        let given = match first {
            FirstIndividuals::Random => None,
            FirstIndividuals::Given(individuals) => Some(individuals),
        };
        let is_population = |individuals: &Vec<u32>| {
            individuals.len() == n as usize * count
                && individuals.chunks_exact(n as usize).all(|individual| nodes.is_tour(individual))
        };
        if !given.as_ref().is_none_or(is_population) {
            return Err(BackendError::Population { tours: spec.individuals, nodes: n });
        }
        let group = |g: u32| {
            let each = size as usize * n as usize;
            let given = given.as_ref().map(|individuals| &individuals[g as usize * each..][..each]);
            Group::new((n, size, g * size, spec.first_generation), given)
        };
        Ok(CpuEax {
            groups: (0..spec.groups).map(group).collect::<Result<_, _>>()?,
            shared: Shared {
                nodes,
                spec: spec.clone(),
                desks: (0..threads).map(|_| Desk::new(n).map(Mutex::new)).collect::<Result<_, _>>()?,
            },
            begun: false,
            best_tour: Vec::new(),
            state: ColonyState::new(Limits { lowest: 0.0, highest: 0.0, deposit: 0.0 }),
            phases: Phases::default(),
        })
    }

    /// Runs the next generation of all groups; false if it was cut short. A single group's generation may be shared.
    ///
    /// # Errors
    /// If memory is short.
    fn generation(
        &mut self,
        sharing: Option<&mut dyn Sharing>,
        enough: Enough,
    ) -> Result<bool, BackendError> {
        let (shared, number) = (&self.shared, self.shared.spec.first_generation + self.state.iterations + 1);
        let begin = Instant::now();
        let is_done = match (sharing, &mut self.groups[..]) {
            (Some(sharing), [group]) => group.generation(shared, number, Some(sharing), enough)?,
            (_, groups) => {
                let groups = groups.par_iter_mut();
                let done = groups.map(|group| group.generation(shared, number, None, enough));
                done.collect::<Result<Vec<bool>, _>>()?.iter().all(|&done| done)
            }
        };
        if !is_done {
            return Ok(false);
        }
        if shared.spec.transfers(number) {
            self.transfer()?;
        }
        self.state.iterations += 1;
        self.phases.iterations += 1;
        self.phases.construction += begin.elapsed();
        Ok(true)
    }

    /// Copies each group's best tour to the next group, in place of its longest one, unless it has a tour of the same length.
    ///
    /// # Errors
    /// If memory is short.
    fn transfer(&mut self) -> Result<(), BackendError> {
        let count = self.groups.len();
        let guests: Vec<(i64, Vec<u32>)> = (self.groups.iter())
            .map(|group| {
                let best = group.extremes().0;
                (group.costs()[best], group.tour(best).to_vec())
            })
            .collect();
        for (i, (cost, tour)) in guests.iter().enumerate() {
            let host = &mut self.groups[(i + 1) % count];
            if !host.costs().contains(cost) {
                host.welcome(&self.shared, tour)?;
            }
        }
        Ok(())
    }

    /// Reads the state from the groups.
    fn look(&mut self) {
        let costs = self.groups.iter().flat_map(|group| group.costs().iter().copied());
        let (mut sum, mut count) = (0i128, 0i128);
        for cost in costs.filter(|&cost| cost < i64::MAX) {
            sum += i128::from(cost);
            count += 1;
        }
        self.state.iteration_cost = (sum / count.max(1)) as i64;
        for group in &self.groups {
            let best = group.extremes().0;
            let cost = group.costs()[best];
            if cost < self.state.best_cost {
                self.state.best_cost = cost;
                self.state.best_iteration = self.state.iterations.saturating_sub(1);
                self.best_tour.clear();
                self.best_tour.extend_from_slice(group.tour(best));
            }
        }
        self.state.done = (self.state.best_cost <= self.shared.spec.target).into();
    }
}

impl Colony for CpuEax<'_> {
    fn run(&mut self, iterations: u32, enough: Enough) -> Result<ColonyState, BackendError> {
        if !self.begun {
            let (shared, groups) = (&self.shared, self.groups.par_iter_mut());
            let done: Vec<bool> =
                groups.map(|group| group.build(shared, enough)).collect::<Result<_, _>>()?;
            self.look();
            self.begun = done.iter().all(|&done| done);
            if !self.begun {
                return Ok(self.state);
            }
        }
        for _ in 0..iterations {
            if self.state.done != 0 {
                break;
            }
            let is_whole = self.generation(None, enough)?;
            self.look();
            if !is_whole {
                break;
            }
        }
        Ok(self.state)
    }

    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError> {
        Ok(self.best_tour.clone())
    }

    fn save(&mut self, state: &mut State) -> Result<(), BackendError> {
        state.put(&[self.state])?;
        state.put(&self.best_tour)?;
        self.groups.iter().try_for_each(|group| group.save(state))
    }

    fn restore(&mut self, state: &mut State) -> Result<ColonyState, BackendError> {
        self.state = state.take_one(self.state)?;
        self.state.done = (self.state.best_cost <= self.shared.spec.target).into();
        self.best_tour = state.take_tour(self.shared.nodes.problem.n())?;
        let shared = &self.shared;
        self.groups.iter_mut().try_for_each(|group| group.restore(shared, state))?;
        self.begun = true;
        Ok(self.state)
    }

    fn take_in(&mut self, cost: i64, tour: &[u32]) -> Result<Option<ColonyState>, BackendError> {
        // Groups take turns. An incomplete one has no tour to replace.
        let turn = self.state.iterations as usize % self.groups.len();
        let group = &mut self.groups[turn];
        if self.begun && group.is_whole() && !group.costs().contains(&cost) {
            group.welcome(&self.shared, tour)?;
            self.look();
        }
        Ok(Some(self.state))
    }

    fn phases(&mut self) -> Result<Phases, BackendError> {
        Ok(std::mem::take(&mut self.phases))
    }

    fn describe(&self) -> String {
        let spec = &self.shared.spec;
        format!(
            "GA-Eax, {} individuals in {}, {} children at a time, a thread per pair, places {}",
            spec.individuals,
            counted(spec.groups as usize, "group"),
            spec.children,
            self.shared.nodes.problem.places().kernel_name()
        )
    }
}

impl Population for CpuEax<'_> {
    fn places(&self) -> u32 {
        self.shared.spec.individuals
    }

    fn individual(&mut self, place: u32) -> Result<Vec<u32>, BackendError> {
        let size = (self.shared.spec.individuals / self.shared.spec.groups) as usize;
        Ok(self.groups[place as usize / size].tour(place as usize % size).to_vec())
    }

    fn costs(&mut self) -> Result<Vec<i64>, BackendError> {
        Ok(self.groups.iter().flat_map(|group| group.costs().iter().copied()).collect())
    }

    fn run_shared(&mut self, sharing: &mut dyn Sharing, enough: Enough) -> Result<ColonyState, BackendError> {
        if self.begun && self.state.done == 0 {
            self.generation(Some(sharing), enough)?;
            self.look();
        }
        Ok(self.state)
    }

    fn run_freely(&mut self, generations: u32, enough: Enough) -> Result<ColonyState, BackendError> {
        let number = self.shared.spec.first_generation + self.state.iterations + 1;
        let [group] = &mut self.groups[..] else { return self.run(generations, enough) };
        let is_ready = self.begun && self.state.done == 0 && group.is_whole() && !group.is_exhausted();
        if !is_ready {
            return self.run(generations.min(1), enough);
        }
        let begin = Instant::now();
        let done = group.run_freely(&self.shared, (number, generations), enough);
        self.look();
        self.state.iterations += done?;
        self.phases.construction += begin.elapsed();
        Ok(self.state)
    }

    fn is_exhausted(&self) -> bool {
        self.groups.iter().all(Group::is_exhausted)
    }
}

#[cfg(test)]
mod tests {
    mod children;
    mod populations;
}
