//! Ant Colony System on CPU threads: an ant is a team of one.

use antwarp_core::distance::Distances;
use antwarp_core::papers::ants::acs::{self, World};
use antwarp_core::papers::ants::colony::{ColonyState, Depositor};
use antwarp_core::papers::ants::construct::row_stride;
use antwarp_core::papers::ants::pheromone::matrix::FAR;
use antwarp_core::papers::ants::pheromone::selective::stride;
use antwarp_core::papers::ants::pheromone::{Candidate, CandidateTrails, MatrixTrails, Memory, Selective};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Slots};
use antwarp_core::tour;

use super::hits::{Counted, Hits};
use super::{Ants, Iterate, Quad, check_memory};
use crate::{Together, allocate, parallel};
use antwarp_engine::acs::{AcsSpec, Pheromone, Update};
use antwarp_engine::{BackendError, Colony, Enough, Phases, Plain, Problem, State, Worker};
use antwarp_instance::Watch;
use antwarp_instance::memory::bytes;
use antwarp_instance::parallel::each;

/// Makes a colony of Ant Colony System for `problem` on CPU threads.
///
/// # Errors
/// If memory is short.
pub fn acs<'p>(problem: &'p Problem, spec: &AcsSpec) -> Result<Box<dyn Colony + 'p>, BackendError> {
    Ok(match spec.pheromone {
        Pheromone::Matrix => Box::new(CpuAcs::<InMatrix>::new(problem, spec)?),
        Pheromone::Candidate => Box::new(CpuAcs::<InCandidates>::new(problem, spec)?),
        Pheromone::Selective if spec.counts_hits => Box::new(CpuAcs::<InCountedRings>::new(problem, spec)?),
        Pheromone::Selective => Box::new(CpuAcs::<InRings>::new(problem, spec)?),
    })
}

/// The storage of a pheromone memory.
trait Store: Sized + Sync {
    /// Its view.
    type View: Memory;

    fn new(problem: &Problem, spec: &AcsSpec) -> Result<Self, BackendError>;
    fn view(&mut self, ants: &Ants) -> Self::View;
    /// Makes the updates of `step` of one of many ants.
    ///
    /// # Safety
    /// As [`acs::update_step_atomically`].
    unsafe fn update(world: World<u32, Self::View, Distances>, memory: *mut u8, tour: Slots<u32>, step: u32);
    /// Returns the bytes of the trails, in parts, and the further words.
    fn content(&self) -> (Vec<&[u8]>, &[u32]);
    /// The same, to be overwritten.
    fn content_mut(&mut self) -> (Vec<&mut [u8]>, &mut [u32]);
    /// Returns the share of updates that found their trail, if counted.
    fn hit_ratio(&self) -> Option<f64> {
        None
    }
}

fn bytes_of<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: plain data is bytes.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

fn bytes_of_mut<T: Plain>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: plain data is bytes, and every pattern of them is a value.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

/// n x k trails, and n x n.
struct InMatrix {
    near: Vec<f32>,
    all: Vec<f32>,
    far: Vec<u32>,
}

/// n x k trails.
struct InCandidates(Vec<f32>);

/// n rings.
struct InRings {
    edges: Vec<Quad>,
    tails: Vec<u32>,
    slots: u32,
    lowest: f32,
    passing: bool,
}

/// The same, with a count of updates.
struct InCountedRings {
    rings: InRings,
    hits: Hits,
}

impl Store for InMatrix {
    type View = MatrixTrails<u32>;

    fn new(problem: &Problem, _: &AcsSpec) -> Result<Self, BackendError> {
        let n = problem.n() as usize;
        Ok(InMatrix {
            near: allocate("the pheromone memory", problem.lists().len())?,
            all: allocate("the pheromone memory", n * row_stride(problem.n()) as usize)?,
            far: allocate("the pheromone memory", n * FAR as usize)?,
        })
    }

    fn view(&mut self, ants: &Ants) -> Self::View {
        // SAFETY: n rows each.
        unsafe {
            MatrixTrails {
                near: candidate_trails(&mut self.near, ants),
                all: Slots::of(&mut self.all),
                n: ants.problem.n(),
                far: Slots::of(&mut self.far),
            }
        }
    }

    fn content(&self) -> (Vec<&[u8]>, &[u32]) {
        (vec![bytes_of(&self.near), bytes_of(&self.all)], &self.far)
    }

    fn content_mut(&mut self) -> (Vec<&mut [u8]>, &mut [u32]) {
        (vec![bytes_of_mut(&mut self.near), bytes_of_mut(&mut self.all)], &mut self.far)
    }

    unsafe fn update(world: World<u32, Self::View, Distances>, memory: *mut u8, tour: Slots<u32>, step: u32) {
        // SAFETY: the caller's promise.
        unsafe { acs::update_step_atomically(Serial, world, memory, tour, step) }
    }
}

fn candidate_trails(trails: &mut [f32], ants: &Ants) -> CandidateTrails<u32> {
    let form = Candidate { lists: ants.lists.as_ptr(), k: ants.problem.k() };
    // SAFETY: n rows.
    CandidateTrails { form, trails: unsafe { Slots::of(trails) }, fresh: true }
}

impl Store for InCandidates {
    type View = CandidateTrails<u32>;

    fn new(problem: &Problem, _: &AcsSpec) -> Result<Self, BackendError> {
        Ok(InCandidates(allocate("the pheromone memory", problem.lists().len())?))
    }

    fn view(&mut self, ants: &Ants) -> Self::View {
        candidate_trails(&mut self.0, ants)
    }

    fn content(&self) -> (Vec<&[u8]>, &[u32]) {
        (vec![bytes_of(&self.0)], &[])
    }

    fn content_mut(&mut self) -> (Vec<&mut [u8]>, &mut [u32]) {
        (vec![bytes_of_mut(&mut self.0)], &mut [])
    }

    unsafe fn update(world: World<u32, Self::View, Distances>, memory: *mut u8, tour: Slots<u32>, step: u32) {
        // SAFETY: the caller's promise.
        unsafe { acs::update_step_atomically(Serial, world, memory, tour, step) }
    }
}

impl InRings {
    fn allocate(problem: &Problem, spec: &AcsSpec) -> Result<Self, BackendError> {
        let n = problem.n() as usize;
        Ok(InRings {
            edges: allocate("the pheromone memory", n * stride(spec.slots) as usize / 2)?,
            tails: allocate("the pheromone memory", n)?,
            slots: spec.slots,
            lowest: spec.rule.initial,
            passing: spec.rule.passing != 0,
        })
    }

    fn rings(&mut self) -> Selective {
        // SAFETY: n rings.
        unsafe {
            Selective {
                edges: Slots::new(self.edges.as_mut_ptr().cast(), 2 * self.edges.len()),
                tails: Slots::of(&mut self.tails),
                slots: self.slots,
                lowest: self.lowest,
                fresh: true,
                passing: self.passing,
            }
        }
    }
}

impl Store for InRings {
    type View = Selective;

    fn new(problem: &Problem, spec: &AcsSpec) -> Result<Self, BackendError> {
        InRings::allocate(problem, spec)
    }

    fn view(&mut self, _: &Ants) -> Self::View {
        self.rings()
    }

    fn content(&self) -> (Vec<&[u8]>, &[u32]) {
        let edges = self.edges.as_ptr().cast::<u8>();
        // SAFETY: quads are numbers, without padding.
        (vec![unsafe { std::slice::from_raw_parts(edges, size_of_val(&self.edges[..])) }], &self.tails)
    }

    fn content_mut(&mut self) -> (Vec<&mut [u8]>, &mut [u32]) {
        let (edges, len) = (self.edges.as_mut_ptr().cast::<u8>(), size_of_val(&self.edges[..]));
        // SAFETY: quads are numbers, without padding.
        (vec![unsafe { std::slice::from_raw_parts_mut(edges, len) }], &mut self.tails)
    }

    unsafe fn update(world: World<u32, Self::View, Distances>, memory: *mut u8, tour: Slots<u32>, step: u32) {
        // The settings' check refuses atomic updates of rings; in turn they are right.
        // SAFETY: the caller's promise.
        unsafe { acs::update_step(Serial, world, memory, tour, step) }
    }
}

impl Store for InCountedRings {
    type View = Counted;

    fn new(problem: &Problem, spec: &AcsSpec) -> Result<Self, BackendError> {
        Ok(InCountedRings { rings: InRings::allocate(problem, spec)?, hits: Hits::default() })
    }

    fn view(&mut self, _: &Ants) -> Self::View {
        // SAFETY: both are of this store, which outlives the view as it does that of its rings.
        unsafe { Counted::new(self.rings.rings(), &self.hits) }
    }

    fn content(&self) -> (Vec<&[u8]>, &[u32]) {
        self.rings.content()
    }

    fn content_mut(&mut self) -> (Vec<&mut [u8]>, &mut [u32]) {
        self.rings.content_mut()
    }

    unsafe fn update(world: World<u32, Self::View, Distances>, memory: *mut u8, tour: Slots<u32>, step: u32) {
        // SAFETY: the caller's promise.
        unsafe { acs::update_step(Serial, world, memory, tour, step) }
    }

    fn hit_ratio(&self) -> Option<f64> {
        self.hits.ratio()
    }
}

struct CpuAcs<'p, P> {
    ants: Ants<'p>,
    spec: AcsSpec,
    store: P,
    heuristic: Vec<f32>,
    /// Team memory of every ant, where ants go step by step.
    memory: Vec<Quad>,
}

impl<'p, P: Store> CpuAcs<'p, P> {
    fn new(problem: &'p Problem, spec: &AcsSpec) -> Result<Self, BackendError> {
        let tours = problem.n() as usize * spec.ants as usize;
        let entries = problem.lists().len();
        check_memory("the colony", spec.memory_bytes(problem) + 4 * entries + tours * size_of::<u32>())?;
        let mut colony = CpuAcs {
            ants: Ants::new(problem, (spec.seed, spec.ants, spec.rules), (spec.local_search, spec.breadth))?,
            spec: *spec,
            store: P::new(problem, spec)?,
            heuristic: allocate("the heuristic values", entries)?,
            memory: Vec::new(),
        };
        if spec.update != Update::Relaxed {
            colony.memory = allocate("the ants' memory", colony.quads() * spec.ants as usize)?;
        }
        Ok(colony)
    }

    /// Returns the quads of team memory per ant.
    fn quads(&self) -> usize {
        acs::memory_bytes(self.ants.problem.n()).div_ceil(size_of::<Quad>())
    }

    fn world(&mut self) -> Together<World<u32, P::View, Distances>> {
        Together(World {
            n: self.ants.problem.n(),
            rule: self.spec.rule,
            lists: self.ants.lists(self.heuristic.as_ptr()),
            memory: self.store.view(&self.ants),
            distance: self.ants.problem.distances(),
        })
    }

    /// Builds whole tours, one ant per thread.
    fn build(&mut self, enough: Enough) {
        let (n, quads, world) = (self.ants.problem.n(), self.quads(), self.world());
        let (seed, iteration) = (self.spec.seed, self.ants.state.iterations);
        parallel::each_ant(
            (&mut self.ants.tours, n),
            &mut self.ants.costs,
            quads,
            &|memory, ant, tour, cost| {
                if enough() {
                    *cost = i64::MAX;
                    return;
                }
                let (worker, stream) = (Worker::new(enough), Stream::new(seed, iteration, ant));
                let start = tour.as_mut_ptr();
                // SAFETY: memory and tour are this ant's alone and large enough; trails are atomics.
                unsafe {
                    let memory = memory.as_mut_ptr().cast();
                    acs::build(&worker, world.get(), memory, Slots::new(start, n as usize), stream);
                    // Part of a tour is not a valid tour.
                    *cost = if worker.has_stopped() {
                        i64::MAX
                    } else {
                        tour::cost(Serial, n, world.get().distance, start.cast_const())
                    };
                }
            },
        );
    }

    /// Goes step by step, with the ants in turn or together. A step is short and is not interrupted: an iteration that has started
    /// ends early only between steps, without tours.
    fn walk(&mut self, enough: Enough) {
        let (n, quads, world) = (self.ants.problem.n(), self.quads(), self.world());
        let (seed, iteration) = (self.spec.seed, self.ants.state.iterations);
        let together = self.spec.update == Update::Atomic;
        let choose = |step: u32, ant: u32, tour: &mut [u32], memory: &mut [Quad]| {
            let stream = Stream::new(seed, iteration, ant);
            let memory = memory.as_mut_ptr().cast();
            // SAFETY: memory and tour are this ant's alone and large enough, and as the last step left them.
            unsafe { acs::choose_step(Serial, world.get(), memory, Slots::of(tour), stream, step) }
        };
        for step in 1..n {
            if step % 64 == 1 && enough() {
                self.ants.costs.fill(i64::MAX);
                return;
            }
            if together {
                let (tours, memory) = (&mut self.ants.tours, &mut self.memory);
                parallel::each_ant_with_own_memory((tours, n), (memory, quads), &|ant, tour, memory| {
                    choose(step, ant, tour, memory);
                });
                let (tours, memory) = (&mut self.ants.tours, &mut self.memory);
                parallel::each_ant_with_own_memory((tours, n), (memory, quads), &|_, tour, memory| {
                    let memory = memory.as_mut_ptr().cast();
                    // SAFETY: as above; all ants have chosen.
                    unsafe { P::update(world.get(), memory, Slots::of(tour), step) }
                });
            } else {
                let tours = self.ants.tours.chunks_exact_mut(n as usize);
                for (ant, (tour, memory)) in tours.zip(self.memory.chunks_exact_mut(quads)).enumerate() {
                    choose(step, ant as u32, tour, memory);
                    let memory = memory.as_mut_ptr().cast();
                    // SAFETY: as above; no other thread is working.
                    unsafe { acs::update_step(Serial, world.get(), memory, Slots::of(tour), step) }
                }
            }
        }
        parallel::each_ant((&mut self.ants.tours, n), &mut self.ants.costs, 0, &|_, _, tour, cost| {
            // SAFETY: a tour of n nodes.
            *cost = unsafe { tour::cost(Serial, n, world.get().distance, tour.as_ptr()) };
        });
    }
}

impl<'p, P: Store> Iterate<'p> for CpuAcs<'p, P> {
    fn ants(&mut self) -> &mut Ants<'p> {
        &mut self.ants
    }

    fn prepare(&mut self, watch: &Watch) {
        // SAFETY: n x k places.
        let heuristics = Together(unsafe { Slots::of(&mut self.heuristic) });
        let world = self.world();
        // SAFETY: each node's rows are visited once.
        each(self.ants.problem.n() as usize, 1, &|node| unsafe {
            if watch.is_over_at(node) {
                return;
            }
            let World { rule, lists, memory, distance, .. } = world.get();
            acs::prepare_row(
                Serial,
                rule,
                (lists.nodes, lists.k),
                memory,
                distance,
                heuristics.get(),
                node as u32,
            );
        });
    }

    fn construct(&mut self, enough: Enough) -> bool {
        match self.spec.update {
            Update::Relaxed => self.build(enough),
            Update::Sequential | Update::Atomic => self.walk(enough),
        }
        self.ants.costs.iter().any(|&c| c < i64::MAX)
    }

    fn depositor(&mut self) -> Depositor {
        Depositor::Restart
    }

    fn update(&mut self) {
        // Nothing is deposited where the trails are reset.
        if self.ants.state.limits.deposit == 0.0 {
            return self.prepare(&Watch::new(&|| false));
        }
        let (world, deposit) = (self.world(), self.ants.state.limits.deposit);
        let (successor, predecessor) = (&self.ants.successor, &self.ants.predecessor);
        // SAFETY: each node's row is visited once.
        each(self.ants.problem.n() as usize, 1, &|node| unsafe {
            let World { rule, lists, memory, .. } = world.get();
            let links = (successor[node], predecessor[node]);
            acs::deposit_row(Serial, rule, (lists.nodes, lists.k), memory, node as u32, links, deposit);
        });
    }

    fn save_trails(&self, state: &mut State) -> Result<(), BackendError> {
        let (trails, words) = self.store.content();
        state.put(&trails.concat())?;
        state.put(words)
    }

    fn restore_trails(&mut self, state: &mut State) -> Result<(), BackendError> {
        let (trails, words) = self.spec.take_memory(self.ants.problem, state)?;
        let (parts, own_words) = self.store.content_mut();
        let mut rest = &trails[..];
        for part in parts {
            let (first, others) = rest.split_at_checked(part.len()).ok_or(BackendError::State)?;
            part.copy_from_slice(first);
            rest = others;
        }
        own_words.copy_from_slice(&words);
        Ok(())
    }
}

impl<P: Store> Colony for CpuAcs<'_, P> {
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

    fn describe(&self) -> String {
        let who = if self.spec.update == Update::Sequential {
            "on one CPU thread"
        } else {
            "one CPU thread per ant"
        };
        let memory = bytes(self.spec.memory_bytes(self.ants.problem) as u64);
        format!("{}, pheromone memory {memory}, {who}", self.spec.variant())
    }

    fn hit_ratio(&self) -> Option<f64> {
        self.store.hit_ratio()
    }
}
