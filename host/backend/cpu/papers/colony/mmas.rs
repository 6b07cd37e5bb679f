//! MAX-MIN Ant System on CPU threads: an ant is a team of one.

use std::marker::PhantomData;

use antwarp_core::papers::ants::colony::{ColonyState, Depositor};
use antwarp_core::papers::ants::construct;
use antwarp_core::papers::ants::pheromone::{self, Candidate, Form, Matrix, Tables};
use antwarp_core::papers::ants::select::{Reservoir, Roulette, Select};
use antwarp_core::papers::ants::tabu::{Bitmask, Compact, ListCompression, Tabu};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Slots};
use antwarp_core::tour;

use super::{Ants, Iterate, Quad, check_memory};
use crate::{Together, allocate, parallel};
use antwarp_engine::mmas::{ColonySpec, Selection, TabuKind};
use antwarp_engine::{BackendError, Colony, Enough, Phases, Problem, State, Worker};
use antwarp_instance::Watch;
use antwarp_instance::parallel::each;

/// Makes a colony of MAX-MIN Ant System for `problem` on CPU threads. The spec's number of warps is ignored.
///
/// # Errors
/// If memory is short.
pub fn colony<'p>(problem: &'p Problem, spec: &ColonySpec) -> Result<Box<dyn Colony + 'p>, BackendError> {
    match spec.tabu {
        TabuKind::List => by_selection::<ListCompression<u32>>(problem, spec),
        TabuKind::Compact => by_selection::<Compact<u32>>(problem, spec),
        TabuKind::Bitmask => by_selection::<Bitmask>(problem, spec),
    }
}

fn by_selection<'p, B: Tabu + 'p>(
    problem: &'p Problem,
    spec: &ColonySpec,
) -> Result<Box<dyn Colony + 'p>, BackendError> {
    Ok(match spec.selection {
        Selection::Wrs => Box::new(CpuColony::<B, Reservoir>::new(problem, spec)?),
        Selection::Rwm => Box::new(CpuColony::<B, Roulette>::new(problem, spec)?),
    })
}

struct CpuColony<'p, B, S> {
    ants: Ants<'p>,
    spec: ColonySpec,
    trails: Vec<Quad>,
    heuristic: Vec<Quad>,
    weights: Vec<Quad>,
    variant: PhantomData<(B, S)>,
}

impl<'p, B: Tabu, S: Select> CpuColony<'p, B, S> {
    fn new(problem: &'p Problem, spec: &ColonySpec) -> Result<Self, BackendError> {
        let entries = spec.entries(problem);
        let tours = problem.n() as usize * spec.ants as usize;
        check_memory("the colony", 3 * 4 * entries + tours * size_of::<u32>())?;
        let table = |what| allocate(what, entries.div_ceil(4));
        Ok(CpuColony {
            ants: Ants::new(problem, (spec.seed, spec.ants, spec.rules), (spec.local_search, spec.breadth))?,
            spec: *spec,
            trails: table("the pheromone memory")?,
            heuristic: table("the heuristic values")?,
            weights: table("the weights")?,
            variant: PhantomData,
        })
    }

    /// Returns the entries of a table.
    fn entries<'t>(&self, table: &'t [Quad]) -> &'t [f32] {
        let entries = self.spec.entries(self.ants.problem);
        // SAFETY: a quad is four of them, and there are as many quads as this many entries need.
        unsafe { std::slice::from_raw_parts(table.as_ptr().cast::<f32>(), entries) }
    }

    fn tables(&mut self) -> Together<Tables> {
        // SAFETY: the tables cover every row of the form.
        let slots = |v: &mut Vec<Quad>| unsafe { Slots::new(v.as_mut_ptr().cast::<f32>(), 4 * v.len()) };
        Together(Tables {
            trails: slots(&mut self.trails),
            heuristic: slots(&mut self.heuristic),
            weights: slots(&mut self.weights),
        })
    }

    fn prepare_by<F: Form>(&mut self, form: F, watch: &Watch) {
        let (tables, form, distances) = (self.tables(), Together(form), self.ants.problem.distances());
        let heuristic = (self.ants.problem.scale(), self.spec.beta);
        let trail = (self.ants.state.limits.highest, self.spec.alpha);
        // SAFETY: each node's row is visited once.
        each(self.ants.problem.n() as usize, 1, &|node| unsafe {
            if !watch.is_over_at(node) {
                pheromone::prepare_row(
                    Serial,
                    form.get(),
                    tables.get(),
                    node as u32,
                    distances,
                    heuristic,
                    trail,
                )
            }
        });
    }

    fn update_by<F: Form>(&mut self, form: F) {
        let (tables, form, limits) = (self.tables(), Together(form), self.ants.state.limits);
        let factors = (self.spec.rules.persistence as f32, self.spec.alpha);
        let (successor, predecessor) = (&self.ants.successor, &self.ants.predecessor);
        let directed = self.ants.problem.is_directed();
        each(self.ants.problem.n() as usize, 1, &|node| {
            let back = if directed { u32::MAX } else { predecessor[node] };
            let links = (successor[node], back);
            // SAFETY: each node's row is visited once.
            unsafe {
                pheromone::update_row(Serial, form.get(), tables.get(), node as u32, links, limits, factors)
            }
        });
    }
}

impl<'p, B: Tabu, S: Select> Iterate<'p> for CpuColony<'p, B, S> {
    fn ants(&mut self) -> &mut Ants<'p> {
        &mut self.ants
    }

    fn prepare(&mut self, watch: &Watch) {
        match self.ants.problem.k() {
            0 => self.prepare_by(Matrix { n: self.ants.problem.n() }, watch),
            k => self.prepare_by(Candidate { lists: self.ants.lists.as_ptr(), k }, watch),
        }
    }

    fn construct(&mut self, enough: Enough) -> bool {
        let (n, k, distances) = (self.ants.problem.n(), self.ants.problem.k(), self.ants.problem.distances());
        let leaves = if k == 0 { construct::full_leaves(n) } else { k };
        let memory = construct::memory_bytes::<B, S>(n, leaves).div_ceil(size_of::<Quad>());
        let lists = Together(self.ants.lists(self.weights.as_ptr().cast::<f32>()));
        let (seed, iteration) = (self.spec.seed, self.ants.state.iterations);
        parallel::each_ant(
            (&mut self.ants.tours, n),
            &mut self.ants.costs,
            memory,
            &|memory, ant, tour, cost| {
                if enough() {
                    *cost = i64::MAX;
                    return;
                }
                let (worker, stream) = (Worker::new(enough), Stream::new(seed, iteration, ant));
                let memory = memory.as_mut_ptr().cast();
                let start = tour.as_mut_ptr();
                // SAFETY: memory and tour are this ant's alone and large enough; lists and weights are read.
                unsafe {
                    let (lists, slots) = (lists.get(), Slots::new(start, n as usize));
                    if k == 0 {
                        construct::full::<_, B, S, u32>(&worker, n, lists.weights, memory, slots, stream);
                    } else {
                        construct::candidates::<_, B, S, u32, _>(
                            &worker, n, lists, distances, memory, slots, stream,
                        );
                    }
                    // Part of a tour is not a valid tour.
                    *cost = if worker.has_stopped() {
                        i64::MAX
                    } else {
                        tour::cost(Serial, n, distances, start.cast_const())
                    };
                }
            },
        );
        self.ants.costs.iter().any(|&c| c < i64::MAX)
    }

    fn depositor(&mut self) -> Depositor {
        self.spec.depositor(self.ants.state.iterations)
    }

    fn update(&mut self) {
        match self.ants.problem.k() {
            0 => self.update_by(Matrix { n: self.ants.problem.n() }),
            k => self.update_by(Candidate { lists: self.ants.lists.as_ptr(), k }),
        }
    }

    fn save_trails(&self, state: &mut State) -> Result<(), BackendError> {
        state.put(self.entries(&self.trails))?;
        state.put(self.entries(&self.weights))
    }

    fn restore_trails(&mut self, state: &mut State) -> Result<(), BackendError> {
        for table in [&mut self.trails, &mut self.weights] {
            let values = state.take_weights(self.spec.entries(self.ants.problem))?;
            table
                .iter_mut()
                .zip(values.chunks(4))
                .for_each(|(quad, values)| quad.0[..values.len()].copy_from_slice(values));
        }
        Ok(())
    }
}

impl<B: Tabu, S: Select> Colony for CpuColony<'_, B, S> {
    fn run(&mut self, iterations: u32, enough: Enough) -> Result<ColonyState, BackendError> {
        Ok(self.iterate(iterations, enough))
    }

    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError> {
        Ok(self.ants.best_tour())
    }

    fn save(&mut self, state: &mut State) -> Result<(), BackendError> {
        self.save_all(state)
    }

    fn restore(&mut self, state: &mut State) -> Result<ColonyState, BackendError> {
        self.restore_all(state)
    }

    fn take_in(&mut self, cost: i64, tour: &[u32]) -> Result<Option<ColonyState>, BackendError> {
        Ok(self.ants.take_in(cost, tour))
    }

    fn phases(&mut self) -> Result<Phases, BackendError> {
        Ok(std::mem::take(&mut self.ants.phases))
    }

    fn branching_factor(&mut self) -> Result<Option<f64>, BackendError> {
        let sampled = &self.entries(&self.trails)[..self.spec.sampled(self.ants.problem)];
        Ok(Some(self.spec.branching_factor(self.ants.problem, sampled)))
    }

    fn describe(&self) -> String {
        format!("{}, one CPU thread per ant", self.spec.variant())
    }
}

#[cfg(test)]
mod tests {
    use antwarp_core::papers::ants::colony::{ColonyRules, limit_ratio};

    use super::*;
    use antwarp_engine::LocalSearch;
    use antwarp_engine::mmas::Deposit;
    use antwarp_instance::generate::uniform;

    /// With Lin-Kernighan moves every reset adds a tour to the elite; with others none does.
    #[test]
    fn resets_feed_the_elite_with_lin_kernighan_moves_alone() {
        let problem = Problem::new(&uniform(300, 8).unwrap(), Some(16), 8).unwrap();
        let run = |local_search| {
            let rules = ColonyRules {
                target: i64::MIN,
                unit_cost: problem.unit_cost() as f64,
                persistence: 0.7,
                limit_ratio: limit_ratio(300, 8.0, 0.01),
                reset_after: 3,
                padding: 0,
            };
            let spec = ColonySpec {
                seed: 1,
                ants: 4,
                alpha: 1.0,
                beta: 2.0,
                selection: Selection::Wrs,
                tabu: TabuKind::Bitmask,
                warps: None,
                deposit: Deposit::Restart,
                local_search,
                breadth: 5,
                rules,
            };
            let mut colony = CpuColony::<Bitmask, Reservoir>::new(&problem, &spec).unwrap();
            let state = colony.run(60, &|| false).unwrap();
            (state, colony.ants.elite.met())
        };
        let (state, met) = run(LocalSearch::Lk);
        assert!(state.resets > 1, "{} resets", state.resets);
        assert_eq!(met, state.resets as usize);
        assert!(state.best_cost <= state.restart_cost);
        let (state, met) = run(LocalSearch::TwoOpt);
        assert!(state.resets > 0 && met == 0);
    }
}
