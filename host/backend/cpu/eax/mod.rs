//! Edge assembly crossover on CPU threads: a pair of parents is one thread's.
//!
//! What a population does depends on the seed, not on the number of threads: how many pairs work at the same time is
//! fixed, and what they see of each other, too.

mod census;
mod group;
mod pair;
mod start;

use std::sync::Mutex;
use std::time::Instant;

use antwarp_core::colony::{ColonyState, Limits};
use antwarp_core::eax::Entropy;
use antwarp_core::geometry::{self, Geometry, Grid, Numbered, Planar};
use rayon::prelude::*;

use super::{Together, allocate, check_memory};
use crate::engine::genetic::{FirstGenes, GeneticSpec};
use crate::engine::{BackendError, Colony, Enough, Phases, Places, Population, Problem};
use census::Census;
use group::{Group, Shared};
use pair::Desk;

/// Nodes up to which distances by cosines are computed once and kept.
const FEW: u32 = 5000;

/// A population for `problem`, which has eight nodes or more.
pub fn population<'p>(
    problem: &'p Problem,
    spec: &GeneticSpec,
    first: FirstGenes,
) -> Result<Box<dyn Population + 'p>, BackendError> {
    Ok(match problem.places() {
        Places::Grid { places, up } => {
            Box::new(CpuEax::new(problem, spec, first, (Grid { up: *up }, places, Vec::new()))?)
        }
        Places::Planar { places, metric } => {
            Box::new(CpuEax::new(problem, spec, first, (Planar { metric: *metric }, places, Vec::new()))?)
        }
        Places::Numbered(places) => {
            let mut distances = problem.distances();
            let is_slow = problem.metric().is_some_and(|metric| !metric.is_algebraic());
            let matrix = if is_slow && problem.n() <= FEW { problem.computed_matrix() } else { Vec::new() };
            if !matrix.is_empty() {
                (distances.matrix, distances.metric) = (matrix.as_ptr(), None);
            }
            Box::new(CpuEax::new(problem, spec, first, (Numbered { distances }, places, matrix))?)
        }
    })
}

struct CpuEax<'p, G: Geometry> {
    shared: Shared<'p, G>,
    groups: Vec<Group>,
    begun: bool,
    best_tour: Vec<u32>,
    state: ColonyState,
    phases: Phases,
    /// What distances are looked up in, if that is not the problem's.
    _matrix: Vec<i32>,
}

impl<'p, G: Geometry> CpuEax<'p, G> {
    fn new(
        problem: &'p Problem,
        spec: &GeneticSpec,
        first: FirstGenes,
        (geometry, places, matrix): (G, &'p [G::Place], Vec<i32>),
    ) -> Result<Self, BackendError> {
        let (n, count, size) = (problem.n(), spec.genes as usize, spec.genes / spec.groups);
        let threads = rayon::current_num_threads();
        let tours = 2 * size_of::<u32>() * n as usize * count;
        let tables = threads * Desk::bytes(n) + spec.groups as usize * Census::bytes(n);
        check_memory("the population", tours + tables)?;
        let given = match first {
            FirstGenes::Random => None,
            FirstGenes::Given(genes) if is_population(&genes, n as usize, count)? => Some(genes),
            FirstGenes::Given(_) => {
                return Err(BackendError::Population { tours: spec.genes, nodes: n });
            }
        };
        let group = |g: u32| {
            let from = (g * size) as usize * n as usize;
            let given = given.as_ref().map(|genes| &genes[from..][..size as usize * n as usize]);
            Group::new((n, size, g * size, spec.first_generation), given)
        };
        Ok(CpuEax {
            groups: (0..spec.groups).map(group).collect::<Result<_, _>>()?,
            shared: Shared {
                problem,
                spec: spec.clone(),
                places: Together(geometry::Places { geometry, start: places.as_ptr() }),
                steps: (0..size).map(Entropy::step).collect(),
                own: (0..n).collect(),
                desks: (0..threads).map(|_| Desk::new(n).map(Mutex::new)).collect::<Result<_, _>>()?,
            },
            begun: false,
            best_tour: Vec::new(),
            state: ColonyState::new(Limits { lowest: 0.0, highest: 0.0, deposit: 0.0 }),
            phases: Phases::default(),
            _matrix: matrix,
        })
    }

    /// Generation `number` of all groups; false if it was cut short.
    fn generation(&mut self, enough: Enough) -> Result<bool, BackendError> {
        let (shared, number) = (&self.shared, self.shared.spec.first_generation + self.state.iterations + 1);
        let begin = Instant::now();
        let groups = self.groups.par_iter_mut();
        let done: Vec<bool> =
            groups.map(|group| group.generation(shared, number, enough)).collect::<Result<_, _>>()?;
        if !done.iter().all(|&done| done) {
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

    /// Each group's best tour goes to the next group, unless that has a tour as long as it.
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

    /// What the groups say now.
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

/// Whether these are so many tours of n nodes.
fn is_population(genes: &[u32], n: usize, count: usize) -> Result<bool, BackendError> {
    let mut seen = allocate::<u32>("the first genes", n)?;
    let mut is_tour = |(i, gene): (u32, &[u32])| {
        gene.iter().all(|&v| seen.get_mut(v as usize).is_some_and(|s| std::mem::replace(s, i) != i))
    };
    Ok(genes.len() == n * count && (1..).zip(genes.chunks_exact(n)).all(&mut is_tour))
}

impl<G: Geometry> Colony for CpuEax<'_, G> {
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
            let is_whole = self.generation(enough)?;
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

    fn phases(&mut self) -> Result<Phases, BackendError> {
        Ok(std::mem::take(&mut self.phases))
    }

    fn describe(&self) -> String {
        let spec = &self.shared.spec;
        format!(
            "GA-Eax, {} genes in {} groups, {} children a pair, a thread a pair, places {}",
            spec.genes,
            spec.groups,
            spec.children,
            self.shared.problem.places().kernel_name()
        )
    }
}

impl<G: Geometry> Population for CpuEax<'_, G> {
    fn places(&self) -> u32 {
        self.shared.spec.genes
    }

    fn gene(&mut self, place: u32) -> Result<Vec<u32>, BackendError> {
        let size = self.shared.steps.len();
        Ok(self.groups[place as usize / size].tour(place as usize % size).to_vec())
    }

    fn costs(&mut self) -> Result<Vec<i64>, BackendError> {
        Ok(self.groups.iter().flat_map(|group| group.costs().iter().copied()).collect())
    }

    fn is_exhausted(&self) -> bool {
        self.groups.iter().all(Group::is_exhausted)
    }
}

#[cfg(test)]
mod tests;
