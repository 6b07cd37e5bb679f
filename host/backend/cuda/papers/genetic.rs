//! The genetic algorithm on a GPU. Individuals stay in device memory for the whole run; a generation is one launch, three with
//! local search, and one more where groups exchange individuals. After a batch of generations the host reads the individuals'
//! lengths.

use antwarp_core::kernels::{GeneticArgs, SearchArgs};
use antwarp_core::papers::ants::colony::{ColonyState, Limits};
use antwarp_core::papers::genetic::generation::{record, recorded};
use antwarp_core::papers::genetic::memory_bytes;
use warpsmith::Event;

use super::colony::{SearchPlan, Storage, WARP, from_id_bytes, id_bytes};
use crate::backend::cuda::device::GRACE;
use crate::backend::cuda::error::failed;
use crate::backend::cuda::tables::{device_matrix, place_bytes};
use crate::backend::cuda::{
    BreedIndividuals, Buffer, Device, FinishIndividuals, Launch, MakeIndividuals, TEAM_BYTES,
    TransferIndividuals, buffers,
};
use crate::engine::genetic::{FirstIndividuals, GeneticSpec};
use crate::engine::{BackendError, Colony, Enough, LocalSearch, Phases, Places, Population, Problem, State};
use crate::instance::counted;

/// Returns the names of all kernels that a population may load, except those of local search.
pub fn kernel_names() -> Vec<String> {
    let mut names = vec!["grid_finish_individuals".to_string()];
    for geometry in ["grid", "planar", "numbered"] {
        names.extend(["shared_u16", "global_u32"].map(|s| format!("warp_breed_individuals_{geometry}_{s}")));
        names.extend(["u16", "u32"].map(|id| format!("block_make_individuals_{geometry}_{id}")));
    }
    names.extend(["u16", "u32"].map(|id| format!("block_transfer_individuals_{id}")));
    names
}

struct Kernels {
    make: MakeIndividuals,
    breed: BreedIndividuals,
    finish: FinishIndividuals,
    transfer: TransferIndividuals,
}

impl Kernels {
    fn load(device: &Device, problem: &Problem, storage: Storage) -> Result<Kernels, BackendError> {
        let (geometry, id) = (problem.places().kernel_name(), storage.id());
        let load = |name: String| device.function(&name).map(|function| (name, function));
        let (name, function) = load(format!("block_make_individuals_{geometry}_{id}"))?;
        let make = MakeIndividuals { name, function };
        let (name, function) = load(format!("warp_breed_individuals_{geometry}_{}", storage.name()))?;
        let breed = BreedIndividuals { name, function };
        let (name, function) = load("grid_finish_individuals".into())?;
        let finish = FinishIndividuals { name, function };
        let (name, function) = load(format!("block_transfer_individuals_{id}"))?;
        let transfer = TransferIndividuals { name, function };
        Ok(Kernels { make, breed, finish, transfer })
    }
}

/// The row of the individual at each place, and its length.
struct Table {
    rows: Buffer<u32>,
    costs: Buffer<i64>,
}

struct Buffers {
    places: Buffer<u8>,
    points: Buffer<[f64; 3]>,
    matrix: Buffer<i32>,
    individuals: Buffer<u8>,
    memory: Buffer<u8>,
    table: Table,
    next: Table,
    best: Buffer<u64>,
    born: Buffer<u64>,
    search: SearchBuffers,
}

/// The buffers of local search.
struct SearchBuffers {
    /// The state of a colony that is never done.
    state: Buffer<ColonyState>,
    neighbors: Buffer<u8>,
    own: Buffer<u32>,
    memory: Buffer<u8>,
    gains: Buffer<i64>,
}

impl SearchBuffers {
    /// Makes the buffers for this many individuals; with `None`, for no local search, all but the state are empty.
    fn new(
        device: &Device,
        problem: &Problem,
        plan: Option<&SearchPlan>,
        storage: Storage,
        individuals: Option<usize>,
    ) -> Result<SearchBuffers, BackendError> {
        let s = device.stream();
        let in_global = plan.filter(|s| s.launch.shared == TEAM_BYTES);
        let bytes = in_global.map_or(0, |s| s.launch.grid as usize * s.memory);
        let own: Vec<u32> = if individuals.is_some() { (0..problem.n()).collect() } else { Vec::new() };
        let neighbors = if individuals.is_some() { problem.neighbors() } else { &[] };
        Ok(SearchBuffers {
            state: Buffer::from_slice(s, "the state", &[ColonyState::new(NO_LIMITS)])?,
            neighbors: Buffer::from_slice(s, "the neighbour lists", &id_bytes(storage, neighbors))?,
            own: Buffer::from_slice(s, "the tour's links", &own)?,
            memory: Buffer::zeroed(s, "the memory of local search", bytes)?,
            gains: Buffer::zeroed(s, "the gains", individuals.unwrap_or(0))?,
        })
    }
}

/// A population whose individuals stay in device memory for the whole run.
pub struct CudaPopulation<'p> {
    device: &'p Device,
    problem: &'p Problem,
    spec: GeneticSpec,
    storage: Storage,
    /// The launch of the kernel that makes children.
    launch: Launch,
    memory: usize,
    search: Option<SearchPlan>,
    kernels: Kernels,
    buffers: Buffers,
    /// Whether there are individuals.
    begun: bool,
    given: bool,
    state: ColonyState,
    /// Events around children, local search and the rest of each generation, once phases were asked for.
    events: Option<Vec<[Event; 4]>>,
}

const NO_LIMITS: Limits = Limits { lowest: 0.0, highest: 0.0, deposit: 0.0 };

impl<'p> CudaPopulation<'p> {
    /// Loads the kernels and allocates the individuals. The crossover must be constructive, and given individuals as many tours
    /// as the spec says.
    ///
    /// # Errors
    /// If given individuals are not as many as the population has, or the kernels are rejected, or memory is short.
    pub fn new(
        device: &'p Device,
        problem: &'p Problem,
        spec: &GeneticSpec,
        first: FirstIndividuals,
    ) -> Result<Self, BackendError> {
        first.check(problem, spec)?;
        let s = device.stream();
        let n = problem.n();
        // The first individuals may need local search even where children do not.
        let searches = spec.local_search != LocalSearch::None || spec.descends_first();
        let operator = match spec.local_search {
            LocalSearch::None if searches => LocalSearch::TwoOpt,
            operator => operator,
        };
        let children = spec.rules(problem, 1, 1, false).children();
        let crowded = !searches && !has_room(device, n, children);
        let storage = Storage::choose(device, n, operator, |storage| match storage {
            // Waiting for space in shared memory takes longer than global memory.
            Storage::SharedU16 if crowded => usize::MAX,
            Storage::SharedU16 => memory_bytes::<u16>(n),
            // There is no such kernel.
            Storage::SharedU32 => usize::MAX,
            Storage::GlobalU32 => memory_bytes::<u32>(n),
        });
        let kernels = Kernels::load(device, problem, storage)?;
        let search = SearchPlan::new(device, problem, (operator, spec.individuals), storage)?;
        let (id, count) = (storage.id_bytes(), spec.individuals as usize);
        let given = matches!(first, FirstIndividuals::Given(_));
        let individuals = match first {
            FirstIndividuals::Random => Buffer::zeroed(s, "the individuals", count * n as usize * id)?,
            FirstIndividuals::Given(tours) => {
                Buffer::from_slice(s, "the individuals", &id_bytes(storage, &tours))?
            }
        };
        let search_buffers =
            SearchBuffers::new(device, problem, search.as_ref(), storage, searches.then_some(count))?;
        let table = || -> Result<Table, BackendError> {
            Ok(Table {
                rows: Buffer::zeroed(s, "the individuals' rows", count)?,
                costs: Buffer::zeroed(s, "the individuals' lengths", count)?,
            })
        };
        let numbered = matches!(problem.places(), Places::Numbered(_));
        let matrix = if numbered { device_matrix(problem) } else { Vec::new() };
        let points = if numbered { problem.points() } else { &[] };
        let places = Buffer::from_slice(s, "the coordinates", &place_bytes(problem.places()))?;
        let (points, matrix) = (
            Buffer::from_slice(s, "the coordinates", points)?,
            Buffer::from_slice(s, "the distance matrix", &matrix)?,
        );
        let (table, next) = (table()?, table()?);
        let (memory, launch) = Self::layout(device, (n, children), storage)?;
        let global = if storage == Storage::SharedU16 { 0 } else { launch.grid as usize * memory };
        Ok(CudaPopulation {
            device,
            problem,
            spec: spec.clone(),
            storage,
            launch,
            memory,
            search,
            kernels,
            buffers: Buffers {
                places,
                points,
                matrix,
                individuals,
                memory: Buffer::zeroed(s, "the jump indices", global)?,
                table,
                next,
                best: Buffer::zeroed(s, "the record", 1)?,
                born: Buffer::zeroed(s, "the individuals' places", count)?,
                search: search_buffers,
            },
            begun: false,
            given,
            state: ColonyState::new(NO_LIMITS),
            events: None,
        })
    }

    /// Returns the bytes of jump indices per child, and the launch that makes children: all at a time, or, with jump indices in
    /// global memory, as many as fit.
    ///
    /// # Errors
    /// If the driver does not tell how much memory is free.
    fn layout(
        device: &Device,
        (n, children): (u32, u32),
        storage: Storage,
    ) -> Result<(usize, Launch), BackendError> {
        if storage == Storage::SharedU16 {
            let memory = memory_bytes::<u16>(n);
            return Ok((memory, Launch { grid: children, block: WARP, shared: memory as u32 }));
        }
        let memory = memory_bytes::<u32>(n);
        let room = (device.free_bytes()? as usize / 4 * 3 / memory).clamp(1, children as usize);
        Ok((memory, Launch { grid: room as u32, block: WARP, shared: 0 }))
    }

    fn args(&self, generation: u32, since: u32, unfinished: bool) -> GeneticArgs {
        let rules = self.spec.rules(self.problem, generation, since, unfinished);
        GeneticArgs {
            count: rules.children(),
            rules,
            memory: self.memory as u64,
            metric: self.problem.device_metric(),
            given: self.given.into(),
            padding: 0,
        }
    }

    /// Queues the first generation.
    fn begin(&mut self) -> Result<(), BackendError> {
        let unfinished = self.spec.descends_first();
        let args = GeneticArgs { count: self.spec.individuals, ..self.args(0, 0, unfinished) };
        let launch = Launch { grid: self.spec.individuals, block: 256, shared: TEAM_BYTES };
        let b = &mut self.buffers;
        b.best.write(self.device.stream(), &[record(i64::MAX, 0)])?;
        // SAFETY: `new` made the arrays for this problem and these individuals.
        unsafe {
            self.kernels.make.launch(
                self.device.stream(),
                launch,
                args,
                buffers::MakeIndividuals {
                    places: &b.places,
                    points: &b.points,
                    matrix: &b.matrix,
                    individuals: &mut b.individuals,
                    next_rows: &mut b.next.rows,
                    next_costs: &mut b.next.costs,
                    best: &mut b.best,
                    born: &mut b.born,
                },
            )?;
        }
        if unfinished {
            self.improve(args)?;
        }
        self.swap();
        self.begun = true;
        Ok(())
    }

    fn swap(&mut self) {
        std::mem::swap(&mut self.buffers.table, &mut self.buffers.next);
    }

    /// Queues local search on the individuals that were made last.
    fn improve(&mut self, args: GeneticArgs) -> Result<(), BackendError> {
        let Some(search) = &self.search else { return Ok(()) };
        let problem = self.problem;
        let search_args = SearchArgs {
            memory: search.memory as u64,
            n: problem.n(),
            tours: args.count,
            k: problem.search_k(),
            breadth: self.spec.breadth,
            metric: args.metric,
            listed: 1,
        };
        let launch = Launch { grid: search.launch.grid.min(args.count), ..search.launch };
        let b = &mut self.buffers;
        // SAFETY: `new` made the arrays, and `SearchPlan` the launch, for this problem.
        unsafe {
            search.kernel.launch(
                self.device.stream(),
                launch,
                search_args,
                buffers::LocalSearch {
                    state: &b.search.state,
                    lists: &b.search.neighbors,
                    places: &b.places,
                    points: &b.points,
                    matrix: &b.matrix,
                    successor: &b.search.own,
                    predecessor: &b.search.own,
                    rows: &b.born,
                    memory: &mut b.search.memory,
                    tours: &mut b.individuals,
                    gains: &mut b.search.gains,
                },
            )?;
            let launch = Launch { grid: args.count.div_ceil(256), block: 256, shared: 0 };
            self.kernels.finish.launch(
                self.device.stream(),
                launch,
                args,
                buffers::FinishIndividuals {
                    gains: &b.search.gains,
                    next_costs: &mut b.next.costs,
                    best: &mut b.best,
                    born: &mut b.born,
                },
            )
        }
    }

    /// Queues the generation with this number, the `since`-th since the results were read.
    fn generation(&mut self, generation: u32, since: u32) -> Result<(), BackendError> {
        let searches = self.spec.local_search != LocalSearch::None;
        let args = self.args(generation, since, searches);
        let timed = self.events.is_some();
        let stamp = |own: &Self| if timed { own.event().map(Some) } else { Ok(None) };
        let before = stamp(self)?;
        let b = &mut self.buffers;
        // SAFETY: `new` made the arrays, and `layout` the launch, for this problem and these individuals.
        unsafe {
            self.kernels.breed.launch(
                self.device.stream(),
                self.launch,
                args,
                buffers::BreedIndividuals {
                    places: &mut b.places,
                    points: &b.points,
                    matrix: &b.matrix,
                    rows: &b.table.rows,
                    costs: &b.table.costs,
                    memory: &mut b.memory,
                    individuals: &mut b.individuals,
                    next_rows: &mut b.next.rows,
                    next_costs: &mut b.next.costs,
                    best: &mut b.best,
                    born: &mut b.born,
                },
            )?;
        }
        let built = stamp(self)?;
        if searches {
            self.improve(args)?;
        }
        let searched = stamp(self)?;
        self.swap();
        if self.spec.transfers(generation) {
            self.transfer(args)?;
        }
        let after = stamp(self)?;
        if let (Some(events), Some(a), Some(b), Some(c), Some(d)) =
            (&mut self.events, before, built, searched, after)
        {
            events.push([a, b, c, d]);
        }
        Ok(())
    }

    fn transfer(&mut self, args: GeneticArgs) -> Result<(), BackendError> {
        let block = self.problem.n().div_ceil(4 * WARP).clamp(1, 32) * WARP;
        let launch = Launch { grid: self.spec.groups, block, shared: TEAM_BYTES };
        let b = &mut self.buffers;
        // SAFETY: `new` made the arrays for this problem and these individuals.
        unsafe {
            self.kernels.transfer.launch(
                self.device.stream(),
                launch,
                args,
                buffers::TransferIndividuals {
                    rows: &b.table.rows,
                    costs: &b.table.costs,
                    individuals: &mut b.individuals,
                    next_rows: &mut b.next.rows,
                    next_costs: &mut b.next.costs,
                    best: &mut b.best,
                },
            )?;
        }
        self.swap();
        Ok(())
    }

    fn event(&self) -> Result<Event, BackendError> {
        self.device.stream().record().map_err(failed("recording an event"))
    }

    /// Waits for the `queued` generations since the last call, and reads their results.
    fn look(&mut self, queued: u32, enough: Enough) -> Result<(), BackendError> {
        self.device.wait(enough, GRACE)?;
        let mut best = [0];
        self.buffers.best.read(self.device.stream(), &mut best)?;
        let (_, since) = recorded(best[0]);
        let before = self.state.best_cost;
        let reached = recorded(best[0]).0 <= self.spec.target;
        // Generations after the one that reached the target did nothing, and left the tables unchanged.
        let done = if reached { since } else { queued };
        for generation in (self.generations() + done + 1..=self.generations() + queued).rev() {
            self.swap();
            if self.spec.transfers(generation) {
                self.swap();
            }
        }
        let costs = self.costs()?;
        let sum: i128 = costs.iter().map(|&cost| i128::from(cost)).sum();
        let least = costs.iter().min().copied().unwrap_or(i64::MAX);
        self.state.iterations += done;
        self.state.iteration_cost = (sum / costs.len().max(1) as i128) as i64;
        if least < before {
            self.state.best_cost = least;
            // Lengths beyond the record's range cannot be distinguished there.
            let since = if recorded(best[0]).0 == least { since } else { done };
            self.state.best_iteration = (self.state.iterations - done + since).saturating_sub(1);
        }
        self.state.done = reached.into();
        Ok(())
    }

    /// Returns the generations completed before the queued ones.
    fn generations(&self) -> u32 {
        self.spec.first_generation + self.state.iterations
    }
}

/// Shared memory of a block that is reserved by the system, in bytes.
const BLOCK_OVERHEAD: u32 = 1024;

/// Returns whether the jump indices of all children fit in shared memory in two rounds: with more rounds, jump indices in global
/// memory are faster.
fn has_room(device: &Device, n: u32, children: u32) -> bool {
    let each = memory_bytes::<u16>(n) as u32 + BLOCK_OVERHEAD;
    let fit = (device.shared_limit() + BLOCK_OVERHEAD) / each;
    children <= 2 * fit * device.multiprocessors()
}

/// Most generations that the host queues before it reads the results: the record counts them in 16 bits.
const MOST_QUEUED: u32 = 1 << 15;

impl Colony for CudaPopulation<'_> {
    fn run(&mut self, iterations: u32, enough: Enough) -> Result<ColonyState, BackendError> {
        if !self.begun {
            self.begin()?;
            self.look(0, enough)?;
        }
        let mut left = iterations;
        while left > 0 && self.state.done == 0 {
            let queued = left.min(MOST_QUEUED);
            self.buffers.best.write(self.device.stream(), &[record(self.state.best_cost, 0)])?;
            let before = self.generations();
            for since in 1..=queued {
                self.generation(before + since, since)?;
            }
            self.look(queued, enough)?;
            left -= queued;
        }
        Ok(self.state)
    }

    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError> {
        let costs = self.costs()?;
        let place = (0u32..).zip(costs).min_by_key(|&(_, cost)| cost).map_or(0, |(place, _)| place);
        self.individual(place)
    }

    fn save(&mut self, state: &mut State) -> Result<(), BackendError> {
        let costs = self.costs()?;
        let stream = self.device.stream();
        let rows = self.buffers.table.rows.to_vec(stream)?;
        let raw = self.buffers.individuals.to_vec(stream)?;
        let size = self.problem.n() as usize * self.storage.id_bytes();
        let row = |&row: &u32| from_id_bytes(self.storage, &raw[row as usize * size..][..size]);
        state.put(&[self.state])?;
        state.put(&rows.iter().flat_map(row).collect::<Vec<u32>>())?;
        state.put(&costs)
    }

    fn restore(&mut self, state: &mut State) -> Result<ColonyState, BackendError> {
        let (stream, count) = (self.device.stream(), self.spec.individuals);
        self.state = state.take_one(self.state)?;
        let individuals = state.take_tours(self.problem.n())?;
        let costs: Vec<i64> = state.take_all(count as usize)?;
        if individuals.len() != self.problem.n() as usize * count as usize {
            return Err(BackendError::State);
        }
        let b = &mut self.buffers;
        b.individuals.write(stream, &id_bytes(self.storage, &individuals))?;
        b.table.rows.write(stream, &(0..count).collect::<Vec<u32>>())?;
        b.table.costs.write(stream, &costs)?;
        self.begun = true;
        self.state.done = (self.state.best_cost <= self.spec.target).into();
        Ok(self.state)
    }

    fn phases(&mut self) -> Result<Phases, BackendError> {
        let events = self.events.replace(Vec::new()).unwrap_or_default();
        super::colony::phases(self.device, &events)
    }

    fn describe(&self) -> String {
        let id = if self.storage == Storage::SharedU16 { 16 } else { 32 };
        let place = if self.storage == Storage::SharedU16 { "shared" } else { "global" };
        format!(
            "{}, {} individuals in {}, {} children, a warp each, \
             jump indices in {place} memory ({} at a time), {id} bits per node, {} registers per thread",
            self.spec.variant(),
            self.spec.individuals,
            counted(self.spec.groups as usize, "group"),
            self.spec.rules(self.problem, 1, 1, false).children(),
            self.launch.grid,
            self.kernels.breed.function.facts().registers,
        )
    }
}

impl Population for CudaPopulation<'_> {
    fn places(&self) -> u32 {
        self.spec.individuals
    }

    fn individual(&mut self, place: u32) -> Result<Vec<u32>, BackendError> {
        self.device.check_idle()?;
        let stream = self.device.stream();
        let rows = self.buffers.table.rows.to_vec(stream)?;
        let size = self.problem.n() as usize * self.storage.id_bytes();
        let mut raw = vec![0; size];
        self.buffers.individuals.read_from(stream, rows[place as usize] as usize * size, &mut raw)?;
        Ok(from_id_bytes(self.storage, &raw))
    }

    fn costs(&mut self) -> Result<Vec<i64>, BackendError> {
        self.device.check_idle()?;
        self.buffers.table.costs.to_vec(self.device.stream())
    }
}
