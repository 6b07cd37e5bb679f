//! A colony on CPU threads: an ant is a team of one.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use antwarp_core::construct::{self, Lists};
use antwarp_core::geometry::{self, Geometry, Grid, Numbered, Planar};
use antwarp_core::local_search::{Operator, Or2opt, OrOpt, ThreeOpt, TwoOpt, ants};
use antwarp_core::mmas::{self, ColonyState};
use antwarp_core::node::NodeId;
use antwarp_core::pheromone::{self, Candidate, Form, Matrix, Tables};
use antwarp_core::rng::Stream;
use antwarp_core::select::{Reservoir, Roulette, Select};
use antwarp_core::tabu::{Bitmask, Compact, ListCompression, Tabu};
use antwarp_core::team::{Serial, Slots};
use antwarp_core::tour;
use rayon::prelude::*;

use super::{Together, allocate, available_memory, short_of_memory};
use crate::backend::{BackendError, Colony, Enough, Phases};
use crate::solver::local_search::LocalSearch;
use crate::solver::mmas::{ColonySpec, Selection, TabuKind};
use crate::solver::problem::{Places, Problem};

/// A colony for `problem` on CPU threads.
pub fn colony<'p>(problem: &'p Problem, spec: &ColonySpec) -> Result<Box<dyn Colony + 'p>, BackendError> {
    if problem.n() < 1 << 16 { by_tabu::<u16>(problem, spec) } else { by_tabu::<u32>(problem, spec) }
}

fn by_tabu<'p, I: NodeId + Default>(
    problem: &'p Problem,
    spec: &ColonySpec,
) -> Result<Box<dyn Colony + 'p>, BackendError> {
    match spec.tabu {
        TabuKind::List => by_selection::<I, ListCompression<I>>(problem, spec),
        TabuKind::Compact => by_selection::<I, Compact<I>>(problem, spec),
        TabuKind::Bitmask => by_selection::<I, Bitmask>(problem, spec),
    }
}

fn by_selection<'p, I: NodeId + Default, B: Tabu + 'p>(
    problem: &'p Problem,
    spec: &ColonySpec,
) -> Result<Box<dyn Colony + 'p>, BackendError> {
    Ok(match spec.selection {
        Selection::Wrs => Box::new(CpuColony::<I, B, Reservoir>::new(problem, spec)?),
        Selection::Rwm => Box::new(CpuColony::<I, B, Roulette>::new(problem, spec)?),
    })
}

/// Floats at a 16-byte boundary, as the groups ask for.
#[derive(Clone, Copy, Default)]
#[repr(C, align(16))]
struct Quad([f32; 4]);

/// Refuses a colony that would not fit as a whole: a system that overcommits would grant each table and then kill
/// the process.
fn check_memory(entries: usize, tours: usize, id: usize) -> Result<(), BackendError> {
    let needed = 3 * 4 * entries + tours * id;
    match available_memory() {
        Some(free) if needed as u64 > free => Err(short_of_memory("the colony", needed)),
        _ => Ok(()),
    }
}

struct CpuColony<'p, I, B, S> {
    problem: &'p Problem,
    spec: ColonySpec,
    lists: Vec<I>,
    neighbors: Vec<I>,
    reserves: Vec<I>,
    trails: Vec<Quad>,
    heuristic: Vec<Quad>,
    weights: Vec<Quad>,
    tours: Vec<I>,
    costs: Vec<i64>,
    best_tour: Vec<I>,
    successor: Vec<u32>,
    predecessor: Vec<u32>,
    state: ColonyState,
    phases: Phases,
    variant: PhantomData<(B, S)>,
}

impl<'p, I: NodeId + Default, B: Tabu, S: Select> CpuColony<'p, I, B, S> {
    fn new(problem: &'p Problem, spec: &ColonySpec) -> Result<Self, BackendError> {
        let (n, ants) = (problem.n() as usize, spec.ants as usize);
        check_memory(spec.entries(problem), n * ants, size_of::<I>())?;
        let ids = |nodes: &[u32]| nodes.iter().map(|&v| I::new(v)).collect();
        let table = |what| allocate(what, spec.entries(problem).div_ceil(4));
        let mut colony = CpuColony {
            problem,
            spec: *spec,
            lists: ids(problem.lists()),
            neighbors: ids(problem.neighbors()),
            reserves: ids(problem.reserves()),
            trails: table("the pheromone memory")?,
            heuristic: table("the heuristic values")?,
            weights: table("the weights")?,
            tours: allocate("the ants' tours", n * ants)?,
            costs: vec![0; ants],
            best_tour: vec![I::default(); n],
            successor: (0..problem.n()).collect(),
            predecessor: (0..problem.n()).collect(),
            state: ColonyState::new(spec.initial_limits(problem)),
            phases: Phases::default(),
            variant: PhantomData,
        };
        match problem.k() {
            0 => colony.prepare(Matrix { n: problem.n() }),
            k => colony.prepare(Candidate { lists: colony.lists.as_ptr(), k }),
        }
        Ok(colony)
    }

    fn tables(&mut self) -> Together<Tables> {
        // SAFETY: the tables cover every row of the form.
        let slots = |v: &mut Vec<Quad>| unsafe { Slots::new(v.as_mut_ptr().cast::<f32>()) };
        Together(Tables {
            trails: slots(&mut self.trails),
            heuristic: slots(&mut self.heuristic),
            weights: slots(&mut self.weights),
        })
    }

    fn prepare<F: Form>(&mut self, form: F) {
        let (tables, form, distances) = (self.tables(), Together(form), self.problem.distances());
        let heuristic = (self.problem.scale(), self.spec.beta);
        let trail = (self.state.limits.highest, self.spec.alpha);
        // SAFETY: each node's row is visited once.
        (0..self.problem.n()).into_par_iter().for_each(|node| unsafe {
            pheromone::prepare_row(Serial, form.get(), tables.get(), node, distances, heuristic, trail)
        });
    }

    fn update<F: Form>(&mut self, form: F) {
        let (tables, form, limits) = (self.tables(), Together(form), self.state.limits);
        let factors = (self.spec.rules.persistence as f32, self.spec.alpha);
        let (successor, predecessor) = (&self.successor, &self.predecessor);
        let directed = self.problem.is_directed();
        (0..self.problem.n()).into_par_iter().for_each(|node| {
            let back = if directed { u32::MAX } else { predecessor[node as usize] };
            let links = (successor[node as usize], back);
            // SAFETY: each node's row is visited once.
            unsafe { pheromone::update_row(Serial, form.get(), tables.get(), node, links, limits, factors) }
        });
    }

    /// Every ant builds a tour and measures it. Ants that would begin after `enough` stay at home: their cost is
    /// `i64::MAX`. Whether any has built a tour.
    fn construct(&mut self, enough: Enough) -> bool {
        let (n, k, distances) = (self.problem.n(), self.problem.k(), self.problem.distances());
        let leaves = if k == 0 { construct::full_leaves(n) } else { k };
        let memory = construct::memory_bytes::<B, S>(n, leaves).div_ceil(size_of::<Quad>());
        let lists = Together(Lists {
            k,
            nodes: self.lists.as_ptr(),
            weights: self.weights.as_ptr().cast::<f32>(),
            reserve: self.problem.reserve(),
            reserves: self.reserves.as_ptr(),
            successor: self.successor.as_ptr(),
            predecessor: if self.problem.is_directed() { &self.successor } else { &self.predecessor }
                .as_ptr(),
        });
        let (seed, iteration) = (self.spec.seed, self.state.iterations);
        let ants = self.tours.par_chunks_exact_mut(n as usize).zip(&mut self.costs).enumerate();
        ants.for_each_init(
            || vec![Quad::default(); memory],
            |memory, (ant, (tour, cost))| {
                if enough() {
                    *cost = i64::MAX;
                    return;
                }
                let stream = Stream::new(seed, iteration, ant as u32);
                let memory = memory.as_mut_ptr().cast();
                let start = tour.as_mut_ptr();
                // SAFETY: memory and tour are this ant's alone and large enough; lists and weights are read.
                unsafe {
                    let (lists, slots) = (lists.get(), Slots::new(start));
                    if k == 0 {
                        construct::full::<_, B, S, I>(Serial, n, lists.weights, memory, slots, stream);
                    } else {
                        construct::candidates::<_, B, S, I, _>(
                            Serial, n, lists, distances, memory, slots, stream,
                        );
                    }
                    *cost = tour::cost(Serial, n, distances, start.cast_const());
                }
            },
        );
        self.costs.iter().any(|&c| c < i64::MAX)
    }

    /// Improves the tours that were built, and their lengths with them.
    fn search(&mut self) {
        let problem = self.problem;
        match problem.places() {
            Places::Grid { places, up } => self.search_by(Grid { up: *up }, places),
            Places::Planar { places, metric } => self.search_by(Planar { metric: *metric }, places),
            Places::Numbered(places) => self.search_by(Numbered { distances: problem.distances() }, places),
        }
    }

    fn search_by<G: Geometry>(&mut self, geometry: G, places: &[G::Place]) {
        match self.spec.local_search {
            LocalSearch::None => {}
            LocalSearch::TwoOpt => self.search_with::<TwoOpt, G>(geometry, places),
            LocalSearch::OrOpt => self.search_with::<OrOpt, G>(geometry, places),
            LocalSearch::Or2opt => self.search_with::<Or2opt, G>(geometry, places),
            LocalSearch::ThreeOpt => self.search_with::<ThreeOpt, G>(geometry, places),
        }
    }

    fn search_with<O: Operator, G: Geometry>(&mut self, geometry: G, places: &[G::Place]) {
        let n = self.problem.n();
        let tables = Together(ants::Tables {
            n,
            lists: self.neighbors.as_ptr(),
            k: self.problem.search_k(),
            breadth: self.spec.breadth,
            places: geometry::Places { geometry, start: places.as_ptr() },
            successor: self.successor.as_ptr(),
            predecessor: self.predecessor.as_ptr(),
        });
        let memory = ants::memory_bytes::<I>(n).div_ceil(size_of::<Quad>());
        let ants = self.tours.par_chunks_exact_mut(n as usize).zip(&mut self.costs);
        ants.for_each_init(
            || vec![Quad::default(); memory],
            |memory, (tour, cost)| {
                if *cost < i64::MAX {
                    let memory = memory.as_mut_ptr().cast();
                    // SAFETY: memory and tour are this ant's alone and large enough; the tables are read.
                    let gained = unsafe {
                        ants::improve::<_, O, I, G>(
                            Serial,
                            tables.get(),
                            memory,
                            Slots::new(tour.as_mut_ptr()),
                        )
                    };
                    *cost -= gained;
                }
            },
        );
    }

    fn judge(&mut self) {
        let every = self.spec.deposits_best(self.state.iterations);
        // SAFETY: all slices have the sizes asked for, and this is the only thread.
        unsafe {
            mmas::judge(
                Serial,
                self.spec.rules,
                (self.problem.n(), self.spec.ants, every),
                self.costs.as_ptr(),
                self.tours.as_ptr(),
                &mut self.state,
                Slots::new(self.best_tour.as_mut_ptr()),
                (Slots::new(self.successor.as_mut_ptr()), Slots::new(self.predecessor.as_mut_ptr())),
            );
        }
    }
}

impl<I: NodeId + Default, B: Tabu, S: Select> Colony for CpuColony<'_, I, B, S> {
    fn run(&mut self, iterations: u32, enough: Enough) -> Result<ColonyState, BackendError> {
        for _ in 0..iterations {
            // The first ant always builds its tour, so that there is one.
            let first = self.state.iterations == 0;
            let started = AtomicBool::new(!first);
            let enough = || started.swap(true, Ordering::Relaxed) && enough();
            let start = Instant::now();
            if self.state.done != 0 || !self.construct(&enough) {
                break;
            }
            let built = Instant::now();
            self.search();
            let searched = Instant::now();
            self.judge();
            match self.problem.k() {
                0 => self.update(Matrix { n: self.problem.n() }),
                k => self.update(Candidate { lists: self.lists.as_ptr(), k }),
            }
            self.phases.iterations += 1;
            self.phases.construction += built - start;
            self.phases.local_search += searched - built;
            self.phases.rest += searched.elapsed();
        }
        Ok(self.state)
    }

    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError> {
        Ok(self.best_tour.iter().map(|v| v.get()).collect())
    }

    fn phases(&mut self) -> Result<Phases, BackendError> {
        Ok(std::mem::take(&mut self.phases))
    }

    fn describe(&self) -> String {
        format!("{}, one CPU thread an ant", self.spec.variant())
    }
}
