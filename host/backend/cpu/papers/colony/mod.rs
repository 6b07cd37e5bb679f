//! Colonies on CPU threads: the parts common to all kinds of ants.

mod acs;
mod elite;
mod hits;
mod join;
mod mmas;

pub use acs::acs;
pub use mmas::colony;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use antwarp_core::geometry::{self, Geometry};
use antwarp_core::lin_kernighan::Tour;
use antwarp_core::operator::{LinKernighan as Deep, Operator, Reach};
use antwarp_core::papers::ants::colony::{self, ColonyRules, ColonyState, Depositor};
use antwarp_core::papers::ants::construct::Lists;
use antwarp_core::papers::local_search::ants;
use antwarp_core::papers::local_search::lin_kernighan;
use antwarp_core::team::{Serial, Slots};

use crate::processor::for_this_processor;
use crate::variants::{with_operator, with_places};
use crate::{QUAD_WORDS, Quad, Together, allocate, check_memory, parallel};
use antwarp_engine::{BackendError, Enough, LocalSearch, Phases, Problem, State, Worker};
use antwarp_instance::Watch;
use elite::Elite;

for_this_processor!(improve_deeply, improve_deeply_new, lin_kernighan::improve, [R: Reach, G: Geometry], (
    worker: &Worker<'_>, reach: R, tables: lin_kernighan::AntTables<G>, memory: *mut u32, tour: Slots<u32>
) -> i64);

/// The ants' tours, and their results.
struct Ants<'p> {
    problem: &'p Problem,
    count: u32,
    rules: ColonyRules,
    local_search: (LocalSearch, u32),
    lists: Vec<u32>,
    /// The distance to each of the problem's neighbours, for Lin-Kernighan moves; else empty.
    near: Vec<i32>,
    neighbors: Vec<u32>,
    reserves: Vec<u32>,
    tours: Vec<u32>,
    costs: Vec<i64>,
    best_tour: Vec<u32>,
    restart_tour: Vec<u32>,
    /// Whether the tables for all nodes are there.
    are_prepared: bool,
    successor: Vec<u32>,
    predecessor: Vec<u32>,
    elite: Elite,
    state: ColonyState,
    phases: Phases,
}

impl<'p> Ants<'p> {
    fn new(
        problem: &'p Problem,
        (seed, count, rules): (u64, u32, ColonyRules),
        local_search: (LocalSearch, u32),
    ) -> Result<Self, BackendError> {
        let n = problem.n() as usize;
        let ids = <[u32]>::to_vec;
        Ok(Ants {
            problem,
            count,
            rules,
            local_search,
            near: if local_search.0 == LocalSearch::Lk { problem.neighbor_lengths() } else { Vec::new() },
            lists: ids(problem.lists()),
            neighbors: ids(problem.neighbors()),
            reserves: ids(problem.reserves()),
            tours: allocate("the ants' tours", n * count as usize)?,
            costs: vec![0; count as usize],
            best_tour: vec![0; n],
            restart_tour: vec![0; n],
            are_prepared: false,
            successor: (0..problem.n()).collect(),
            predecessor: (0..problem.n()).collect(),
            elite: Elite::new(seed),
            state: ColonyState::new(rules.limits(problem.unit_cost(), problem.unit_cost())),
            phases: Phases::default(),
        })
    }

    /// Returns the candidates with these weights.
    fn lists(&self, weights: *const f32) -> Lists<u32> {
        Lists {
            k: self.problem.k(),
            nodes: self.lists.as_ptr(),
            weights,
            reserve: self.problem.reserve(),
            reserves: self.reserves.as_ptr(),
            successor: self.successor.as_ptr(),
            predecessor: if self.problem.is_directed() { &self.successor } else { &self.predecessor }
                .as_ptr(),
        }
    }

    /// Improves the tours that were built, and updates their lengths; stops starting new ones once interrupted by `enough`.
    pub(super) fn search(&mut self, enough: Enough) {
        let problem = self.problem;
        if self.local_search.0 == LocalSearch::None {
            return;
        }
        with_places!(problem, problem.search_distances(), |geometry, places| {
            if self.local_search.0 == LocalSearch::Lk {
                return self.search_by_lin_kernighan(geometry, places, enough);
            }
            with_operator!(self.local_search.0, O => self.search_with::<O, _>(geometry, places, enough))
        });
    }

    fn search_with<O: Operator, G: Geometry>(&mut self, geometry: G, places: &[G::Place], enough: Enough) {
        let n = self.problem.n();
        let tables = Together(ants::TourTables {
            n,
            lists: self.neighbors.as_ptr(),
            k: self.problem.search_k(),
            breadth: self.local_search.1,
            places: geometry::Places { geometry, start: places.as_ptr() },
            successor: self.successor.as_ptr(),
            predecessor: self.predecessor.as_ptr(),
        });
        let memory = ants::memory_bytes::<u32>(n).div_ceil(size_of::<Quad>());
        parallel::each_ant((&mut self.tours, n), &mut self.costs, memory, &|memory, _, tour, cost| {
            if *cost < i64::MAX && !enough() {
                let (worker, memory) = (Worker::new(enough), memory.as_mut_ptr().cast());
                // SAFETY: memory and tour are this ant's alone and large enough; the tables are read.
                let gained =
                    unsafe { ants::improve::<_, O, u32, G>(&worker, tables.get(), memory, Slots::of(tour)) };
                *cost -= gained;
            }
        });
    }

    fn search_by_lin_kernighan<G: Geometry>(&mut self, geometry: G, places: &[G::Place], enough: Enough) {
        let n = self.problem.n();
        let nobody = std::ptr::null();
        let tables = Together(lin_kernighan::AntTables {
            partners: std::ptr::null(),
            tour: Tour {
                n,
                k: self.problem.search_k(),
                order: nobody,
                position: nobody,
                ahead: std::ptr::null(),
                lists: self.problem.neighbors().as_ptr(),
                near: self.near.as_ptr(),
                places: geometry::Places { geometry, start: places.as_ptr() },
            },
            successor: self.successor.as_ptr(),
            predecessor: self.predecessor.as_ptr(),
        });
        let memory = lin_kernighan::words(n).div_ceil(QUAD_WORDS);
        parallel::each_ant((&mut self.tours, n), &mut self.costs, memory, &|memory, _, tour, cost| {
            if *cost < i64::MAX && !enough() {
                let (worker, memory) = (Worker::new(enough), memory.as_mut_ptr().cast());
                // SAFETY: memory and tour are this ant's alone and large enough; the tables are read.
                let gained = unsafe { improve_deeply(&worker, Deep, tables.get(), memory, Slots::of(tour)) };
                *cost -= gained;
            }
        });
    }

    fn judge(&mut self, depositor: Depositor) {
        // SAFETY: all slices have the sizes asked for, and this is the only thread.
        unsafe {
            colony::judge(
                Serial,
                self.rules,
                (self.problem.n(), self.count, depositor),
                self.costs.as_ptr(),
                self.tours.as_ptr(),
                &mut self.state,
                (Slots::of(&mut self.best_tour), Slots::of(&mut self.restart_tour)),
                (Slots::of(&mut self.successor), Slots::of(&mut self.predecessor)),
            );
        }
    }

    /// Adds the best tour before a reset of the trails to the elite, and crosses the elite; its best child becomes the best tour,
    /// unless there is a shorter one. If memory is short, nothing is crossed.
    fn cross(&mut self, enough: Enough) {
        self.elite.add(self.restart_tour.iter().copied());
        let Ok(Some((cost, tour))) = self.elite.cross(self.problem, self.rules.target, enough) else {
            return;
        };
        if cost < self.state.best_cost {
            self.best_tour.clone_from(&tour);
            self.state.best_cost = cost;
            self.state.best_iteration = self.state.iterations - 1;
            self.state.done = (cost <= self.rules.target).into();
        }
    }

    /// Takes in another colony's tour of this length, which replaces the best one if it is shorter. With Lin-Kernighan moves it
    /// also joins the elite, which keeps the trails of colonies apart; else it replaces the best one since the last reset if it
    /// is shorter, and may deposit. `None`, without an effect, before the first iteration.
    fn take_in(&mut self, cost: i64, tour: &[u32]) -> Option<ColonyState> {
        let last = self.state.iterations.checked_sub(1)?;
        let write = |to: &mut [u32]| to.copy_from_slice(tour);
        if cost < self.state.best_cost {
            write(&mut self.best_tour);
            (self.state.best_cost, self.state.best_iteration) = (cost, last);
            self.state.done = (cost <= self.rules.target).into();
        }
        if self.local_search.0 == LocalSearch::Lk {
            self.elite.add(tour.iter().copied());
        } else if cost < self.state.restart_cost {
            write(&mut self.restart_tour);
            (self.state.restart_cost, self.state.restart_iteration) = (cost, last);
        }
        Some(self.state)
    }

    fn best_tour(&self) -> Vec<u32> {
        self.best_tour.clone()
    }

    fn save(&self, state: &mut State) -> Result<(), BackendError> {
        state.put(&[self.state])?;
        state.put(&self.best_tour)?;
        state.put(&self.restart_tour)?;
        state.put(&self.successor)?;
        state.put(&self.predecessor)?;
        self.elite.save(state)
    }

    fn restore(&mut self, state: &mut State) -> Result<(), BackendError> {
        let n = self.problem.n();
        self.state = state.take_one(self.state)?;
        self.state.done = (self.state.best_cost <= self.rules.target).into();
        self.best_tour = state.take_tour(n)?;
        self.restart_tour = state.take_tour(n)?;
        self.successor = state.take_nodes(n, n as usize)?;
        self.predecessor = state.take_nodes(n, n as usize)?;
        self.elite.restore(state, n)
    }
}

/// A colony, as needed for running iterations.
trait Iterate<'p> {
    fn ants(&mut self) -> &mut Ants<'p>;
    /// Fills the tables. If the watch is cut, they are incomplete.
    fn prepare(&mut self, watch: &Watch);
    /// Builds and measures a tour for every ant, or for fewer once interrupted by `enough`; returns whether there is one. An ant
    /// without a tour has the cost `i64::MAX`.
    fn construct(&mut self, enough: Enough) -> bool;
    /// Returns the tour that deposits in this iteration.
    fn depositor(&mut self) -> Depositor;
    /// Deposits and evaporates, for the next iteration.
    fn update(&mut self);
    /// Saves the trails.
    fn save_trails(&self, state: &mut State) -> Result<(), BackendError>;
    /// Restores the trails.
    fn restore_trails(&mut self, state: &mut State) -> Result<(), BackendError>;

    /// See [`Colony::save`](antwarp_engine::Colony::save).
    fn save_all(&mut self, state: &mut State) -> Result<(), BackendError> {
        self.ants().save(state)?;
        self.save_trails(state)
    }

    /// See [`Colony::restore`](antwarp_engine::Colony::restore).
    fn restore_all(&mut self, state: &mut State) -> Result<ColonyState, BackendError> {
        self.prepare(&Watch::new(&|| false));
        self.ants().are_prepared = true;
        self.ants().restore(state)?;
        self.restore_trails(state)?;
        Ok(self.ants().state)
    }

    /// Runs `iterations` more iterations; see [`Colony::run`](antwarp_engine::Colony::run).
    fn iterate(&mut self, iterations: u32, enough: Enough) -> ColonyState {
        if !self.ants().are_prepared {
            let watch = Watch::new(enough);
            self.prepare(&watch);
            self.ants().are_prepared = !watch.is_cut();
        }
        let iterations = if self.ants().are_prepared { iterations } else { 0 };
        for _ in 0..iterations {
            // The first ant always starts, so that small instances get a tour.
            let first = self.ants().state.iterations == 0;
            let started = AtomicBool::new(!first);
            let enough = || started.swap(true, Ordering::Relaxed) && enough();
            let start = Instant::now();
            if self.ants().state.done != 0 || !self.construct(&enough) {
                break;
            }
            let built = Instant::now();
            self.ants().search(&enough);
            let recombines = self.ants().local_search.0 == LocalSearch::Lk;
            if recombines {
                self.ants().join(&enough);
            }
            let searched = Instant::now();
            let (depositor, resets) = (self.depositor(), self.ants().state.resets);
            self.ants().judge(depositor);
            if recombines && self.ants().state.resets > resets {
                self.ants().cross(&enough);
            }
            // The trails are not needed any more once the run is over.
            if !enough() {
                self.update();
            }
            let phases = &mut self.ants().phases;
            phases.iterations += 1;
            phases.construction += built - start;
            phases.local_search += searched - built;
            phases.rest += searched.elapsed();
        }
        self.ants().state
    }
}
