//! Colonies on a GPU: the parts common to all kinds of ants. Tours, trails and the best tour stay in device memory for the whole
//! run; after a batch of iterations the host reads [`ColonyState`], a few numbers.

mod acs;
mod mmas;

pub use acs::CudaAcs;
pub use mmas::CudaColony;

use antwarp_core::kernels::{CostArgs, JudgeArgs, SearchArgs};
use antwarp_core::papers::ants::colony::{ColonyRules, ColonyState, Depositor};
use antwarp_core::papers::local_search::ants as search;
use warpsmith::Event;

use crate::backend::cuda::device::GRACE;
use crate::backend::cuda::error::failed;
use crate::backend::cuda::tables::{device_matrix, place_bytes};
use crate::backend::cuda::{Buffer, Device, Judge, Launch, LocalSearch as SearchKernel, TourCosts, buffers};
use crate::engine::{BackendError, Enough, LocalSearch, Phases, Problem, State};

/// Threads of a warp.
pub(in crate::backend::cuda) const WARP: u32 = 32;
/// Shared memory that a block team keeps for its reductions (`SHARED_BYTES` of the kernels' `cuda::block`).
pub const TEAM_BYTES: u32 = 640;

/// Where an ant's tabu is stored, and the width of node ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::backend::cuda) enum Storage {
    /// Shared memory, 16 bits: fewer than 65,536 nodes.
    SharedU16,
    /// Shared memory, 32 bits.
    SharedU32,
    /// Global memory, 32 bits: where shared memory is too small.
    GlobalU32,
}

impl Storage {
    const ALL: [Storage; 3] = [Storage::SharedU16, Storage::SharedU32, Storage::GlobalU32];

    /// Returns the name used in kernel names.
    pub(in crate::backend::cuda) fn name(self) -> &'static str {
        match self {
            Storage::SharedU16 => "shared_u16",
            Storage::SharedU32 => "shared_u32",
            Storage::GlobalU32 => "global_u32",
        }
    }

    /// Returns the type of node ids, as in kernel names.
    pub(in crate::backend::cuda) fn id(self) -> &'static str {
        if self == Storage::SharedU16 { "u16" } else { "u32" }
    }

    /// Returns the first storage with room for the bytes that `memory` says a block needs at least and, with 16-bit ids, for local
    /// search on a tour. Global memory always has room.
    pub(in crate::backend::cuda) fn choose(
        device: &Device,
        n: u32,
        local_search: LocalSearch,
        memory: impl Fn(Storage) -> usize,
    ) -> Storage {
        let limit = (device.shared_limit() - TEAM_BYTES) as usize;
        let fits = |s: &Storage| match s {
            Storage::SharedU16 => {
                // Local search has no kernel for short ids in global memory.
                let search = local_search.kernel_name().map_or(0, |_| search::memory_bytes::<u16>(n));
                n < 1 << 16 && memory(*s).max(search) <= limit
            }
            Storage::SharedU32 => memory(*s) <= limit,
            Storage::GlobalU32 => true,
        };
        Storage::ALL.into_iter().find(fits).unwrap_or(Storage::GlobalU32)
    }

    /// Returns the bytes of a node id.
    pub(in crate::backend::cuda) fn id_bytes(self) -> usize {
        if self == Storage::SharedU16 { 2 } else { 4 }
    }
}

/// Returns the names of all kernels that a colony may load.
pub fn kernel_names() -> Vec<String> {
    let mut names = Vec::new();
    for operator in ["two_opt", "or_opt", "or_2opt", "three_opt"] {
        for geometry in ["grid", "planar", "numbered"] {
            names.extend([true, false].map(|shared| search_name(operator, geometry, shared)));
        }
    }
    names.extend([true, false].map(|shared| search_name("or_3opt", "numbered", shared)));
    for id in ["u16", "u32"] {
        names.extend(["block_tour_costs", "block_judge"].map(|family| format!("{family}_{id}")));
    }
    names.extend(mmas::kernel_names());
    names.extend(acs::kernel_names());
    names
}

fn search_name(operator: &str, geometry: &str, shared: bool) -> String {
    let storage = if shared { "shared_u16" } else { "global_u32" };
    format!("block_local_search_{operator}_{geometry}_{storage}")
}

/// Local search on the ants' tours: the kernel, and the shape of its launch.
pub(in crate::backend::cuda) struct SearchPlan {
    pub(in crate::backend::cuda) kernel: SearchKernel,
    /// Bytes of team memory of one tour.
    pub(in crate::backend::cuda) memory: usize,
    pub(in crate::backend::cuda) launch: Launch,
}

/// Warps of a block of local search, which share the nodes that are processed together.
const SEARCH_WARPS: u32 = 4;

impl SearchPlan {
    /// Makes the plan for the tours of this many ants, whose ids are those of `storage`; `None` without local search.
    ///
    /// # Errors
    /// If there is no kernel for the local search, or it is rejected.
    pub(in crate::backend::cuda) fn new(
        device: &Device,
        problem: &Problem,
        (local_search, ants): (LocalSearch, u32),
        storage: Storage,
    ) -> Result<Option<SearchPlan>, BackendError> {
        let Some(operator) = local_search.kernel_name() else { return Ok(None) };
        let shared = storage == Storage::SharedU16;
        let name = search_name(operator, problem.places().kernel_name(), shared);
        let function = device.function(&name)?;
        let n = problem.n();
        let memory = if shared { search::memory_bytes::<u16>(n) } else { search::memory_bytes::<u32>(n) };
        let bytes = TEAM_BYTES + if shared { memory as u32 } else { 0 };
        let block = SEARCH_WARPS * WARP;
        let fit = function.blocks_per_multiprocessor(block, bytes);
        let resident = fit.unwrap_or(1).max(1) * device.multiprocessors();
        let grid = if shared { ants } else { ants.min(resident) };
        let launch = Launch { grid, block, shared: bytes };
        Ok(Some(SearchPlan { kernel: SearchKernel { name, function }, memory, launch }))
    }
}

/// Converts node ids to bytes of `storage`'s width, in the machine's order. They must fit.
pub(in crate::backend::cuda) fn id_bytes(storage: Storage, ids: &[u32]) -> Vec<u8> {
    match storage {
        Storage::SharedU16 => ids.iter().flat_map(|&v| (v as u16).to_ne_bytes()).collect(),
        _ => ids.iter().flat_map(|&v| v.to_ne_bytes()).collect(),
    }
}

/// Converts bytes of `storage`'s width to node ids.
pub(in crate::backend::cuda) fn from_id_bytes(storage: Storage, raw: &[u8]) -> Vec<u32> {
    match storage {
        Storage::SharedU16 => {
            raw.chunks_exact(2).map(|b| u32::from(u16::from_ne_bytes([b[0], b[1]]))).collect()
        }
        _ => raw.chunks_exact(4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]])).collect(),
    }
}

/// Waits for all queued work, and returns the times of construction, local search and the rest of iterations: those between the
/// events recorded in each.
///
/// # Errors
/// If the driver or a kernel failed.
pub(in crate::backend::cuda) fn phases(
    device: &Device,
    events: &[[Event; 4]],
) -> Result<Phases, BackendError> {
    device.stream().synchronize().map_err(failed("running kernels"))?;
    let mut phases = Phases { iterations: events.len() as u32, ..Phases::default() };
    for [before, built, searched, after] in events {
        let time = |a: &Event, b: &Event| b.since(a).map_err(failed("timing kernels"));
        phases.construction += time(before, built)?;
        phases.local_search += time(built, searched)?;
        phases.rest += time(searched, after)?;
    }
    Ok(phases)
}

/// The ants' tours, and their results.
struct Ants<'p> {
    device: &'p Device,
    problem: &'p Problem,
    count: u32,
    rules: ColonyRules,
    breadth: u32,
    storage: Storage,
    search: Option<SearchPlan>,
    measure: TourCosts,
    judge: Judge,
    state: Buffer<ColonyState>,
    points: Buffer<[f64; 3]>,
    matrix: Buffer<i32>,
    lists: Buffer<u8>,
    reserves: Buffer<u8>,
    neighbors: Buffer<u8>,
    places: Buffer<u8>,
    /// The distance matrix of local search, if that is not `matrix`; else empty.
    search_matrix: Buffer<i32>,
    search_memory: Buffer<u8>,
    /// For local search on tours in other rows: empty.
    listed: Buffer<u64>,
    /// Empty, likewise.
    gains: Buffer<i64>,
    tours: Buffer<u8>,
    costs: Buffer<i64>,
    best_tour: Buffer<u8>,
    restart_tour: Buffer<u8>,
    successor: Buffer<u32>,
    predecessor: Buffer<u32>,
    /// Iterations queued so far; the same as those done unless the target was reached.
    queued: u32,
    /// Events around construction, local search and the rest of each iteration, once phases were asked for.
    events: Option<Vec<[Event; 4]>>,
}

impl<'p> Ants<'p> {
    fn new(
        device: &'p Device,
        problem: &'p Problem,
        (count, rules): (u32, ColonyRules),
        (local_search, breadth): (LocalSearch, u32),
        storage: Storage,
    ) -> Result<Self, BackendError> {
        let s = device.stream();
        let load = |name: String| device.function(&name).map(|function| (name, function));
        let search = SearchPlan::new(device, problem, (local_search, count), storage)?;
        let (name, function) = load(format!("block_tour_costs_{}", storage.id()))?;
        let measure = TourCosts { name, function };
        let (name, function) = load(format!("block_judge_{}", storage.id()))?;
        let judge = Judge { name, function };
        let (n, id) = (problem.n() as usize, storage.id_bytes());
        let in_global = search.as_ref().filter(|s| s.launch.shared == TEAM_BYTES);
        let search_bytes = in_global.map_or(0, |s| s.launch.grid as usize * s.memory);
        let searches_reduced = search.is_some() && problem.is_reduced();
        let search_matrix = if searches_reduced { problem.search_matrix() } else { &[] };
        let own: Vec<u32> = (0..problem.n()).collect();
        let limits = rules.limits(problem.unit_cost(), problem.unit_cost());
        Ok(Ants {
            device,
            problem,
            count,
            rules,
            breadth,
            storage,
            search,
            measure,
            judge,
            state: Buffer::from_slice(s, "the state", &[ColonyState::new(limits)])?,
            points: Buffer::from_slice(s, "the coordinates", problem.points())?,
            matrix: Buffer::from_slice(s, "the distance matrix", &device_matrix(problem))?,
            lists: Buffer::from_slice(s, "the candidate lists", &id_bytes(storage, problem.lists()))?,
            reserves: Buffer::from_slice(s, "the reserves", &id_bytes(storage, problem.reserves()))?,
            neighbors: Buffer::from_slice(s, "the neighbour lists", &id_bytes(storage, problem.neighbors()))?,
            places: Buffer::from_slice(s, "the coordinates", &place_bytes(problem.places()))?,
            search_matrix: Buffer::from_slice(s, "the distance matrix", search_matrix)?,
            search_memory: Buffer::zeroed(s, "the memory of local search", search_bytes)?,
            listed: Buffer::zeroed(s, "the tours' rows", 0)?,
            gains: Buffer::zeroed(s, "the tours' gains", 0)?,
            tours: Buffer::zeroed(s, "the ants' tours", count as usize * n * id)?,
            costs: Buffer::zeroed(s, "the tours' lengths", count as usize)?,
            best_tour: Buffer::zeroed(s, "the best tour", n * id)?,
            restart_tour: Buffer::zeroed(s, "the best tour since the reset", n * id)?,
            successor: Buffer::from_slice(s, "the tour's links", &own)?,
            predecessor: Buffer::from_slice(s, "the tour's links", &own)?,
            queued: 0,
            events: None,
        })
    }

    fn search(&mut self) -> Result<(), BackendError> {
        let Some(search) = &self.search else { return Ok(()) };
        let args = SearchArgs {
            memory: search.memory as u64,
            n: self.problem.n(),
            tours: self.count,
            k: self.problem.search_k(),
            breadth: self.breadth,
            metric: self.problem.device_metric(),
            listed: 0,
        };
        let matrix = if self.problem.is_reduced() { &self.search_matrix } else { &self.matrix };
        // SAFETY: `Ants::new` made the arrays, and `SearchPlan` the launch, for this problem.
        unsafe {
            search.kernel.launch(
                self.device.stream(),
                search.launch,
                args,
                buffers::LocalSearch {
                    state: &self.state,
                    lists: &self.neighbors,
                    places: &self.places,
                    points: &self.points,
                    matrix,
                    successor: &self.successor,
                    predecessor: &self.predecessor,
                    rows: &self.listed,
                    memory: &mut self.search_memory,
                    tours: &mut self.tours,
                    gains: &mut self.gains,
                },
            )
        }
    }

    fn measure(&mut self) -> Result<(), BackendError> {
        let (n, tours, metric) = (self.problem.n(), self.count, self.problem.device_metric());
        let args = CostArgs { n, tours, metric, padding: 0 };
        let block = n.div_ceil(4 * WARP).clamp(1, 8) * WARP;
        let launch = Launch { grid: tours, block, shared: TEAM_BYTES };
        // SAFETY: `Ants::new` made the arrays for this problem.
        unsafe {
            self.measure.launch(
                self.device.stream(),
                launch,
                args,
                buffers::TourCosts {
                    state: &self.state,
                    tours: &self.tours,
                    points: &self.points,
                    matrix: &self.matrix,
                    costs: &mut self.costs,
                },
            )
        }
    }

    fn judge(&mut self, depositor: Depositor) -> Result<(), BackendError> {
        let args =
            JudgeArgs { rules: self.rules, n: self.problem.n(), ants: self.count, depositor, padding: 0 };
        let launch = Launch { grid: 1, block: 1024, shared: TEAM_BYTES };
        // SAFETY: `Ants::new` made the arrays for this problem.
        unsafe {
            self.judge.launch(
                self.device.stream(),
                launch,
                args,
                buffers::Judge {
                    costs: &self.costs,
                    tours: &self.tours,
                    state: &mut self.state,
                    best_tour: &mut self.best_tour,
                    restart_tour: &mut self.restart_tour,
                    successor: &mut self.successor,
                    predecessor: &mut self.predecessor,
                },
            )
        }
    }

    fn event(&self) -> Result<Event, BackendError> {
        self.device.stream().record().map_err(failed("recording an event"))
    }

    /// Returns the state before the first iteration.
    fn first_state(&self) -> ColonyState {
        ColonyState::new(self.rules.limits(self.problem.unit_cost(), self.problem.unit_cost()))
    }

    fn state(&self, enough: Enough) -> Result<ColonyState, BackendError> {
        let mut state = [self.first_state()];
        self.device.wait(enough, GRACE)?;
        self.state.read(self.device.stream(), &mut state)?;
        Ok(state[0])
    }

    fn best_tour(&self) -> Result<Vec<u32>, BackendError> {
        self.device.check_idle()?;
        let raw = self.best_tour.to_vec(self.device.stream())?;
        Ok(from_id_bytes(self.storage, &raw))
    }

    fn save(&self, state: &mut State) -> Result<(), BackendError> {
        self.device.check_idle()?;
        let stream = self.device.stream();
        let mut own = [self.first_state()];
        self.state.read(stream, &mut own)?;
        state.put(&own)?;
        for tour in [&self.best_tour, &self.restart_tour] {
            state.put(&from_id_bytes(self.storage, &tour.to_vec(stream)?))?;
        }
        for links in [&self.successor, &self.predecessor] {
            state.put(&links.to_vec(stream)?)?;
        }
        // There is no elite: it belongs to Lin-Kernighan moves, which ants have on CPU threads only.
        state.put(&[0_u64])?;
        state.put::<u32>(&[])
    }

    fn restore(&mut self, state: &mut State) -> Result<ColonyState, BackendError> {
        let (stream, n) = (self.device.stream(), self.problem.n());
        let mut own = state.take_one(self.first_state())?;
        own.done = (own.best_cost <= self.rules.target).into();
        self.state.write(stream, &[own])?;
        for tour in [&mut self.best_tour, &mut self.restart_tour] {
            tour.write(stream, &id_bytes(self.storage, &state.take_tour(n)?))?;
        }
        for links in [&mut self.successor, &mut self.predecessor] {
            links.write(stream, &state.take_nodes(n, n as usize)?)?;
        }
        let (_, _): (u64, Vec<u32>) = (state.take_one(0)?, state.take_tours(n)?);
        self.queued = own.iterations;
        Ok(own)
    }

    fn phases(&mut self) -> Result<Phases, BackendError> {
        phases(self.device, &self.events.replace(Vec::new()).unwrap_or_default())
    }
}

/// A colony, as needed for running iterations.
trait Iterate<'p> {
    fn ants(&mut self) -> &mut Ants<'p>;
    /// Queues the building of tours.
    fn construct(&mut self) -> Result<(), BackendError>;
    /// Returns the tour that deposits in this iteration.
    fn depositor(&mut self) -> Depositor;
    /// Queues deposits and evaporation.
    fn update(&mut self) -> Result<(), BackendError>;

    /// Queues an iteration.
    fn iterate(&mut self) -> Result<(), BackendError> {
        let timed = self.ants().events.is_some();
        let stamp = |ants: &Ants| if timed { ants.event().map(Some) } else { Ok(None) };
        let before = stamp(self.ants())?;
        self.construct()?;
        let searches = self.ants().search.is_some();
        if !searches {
            self.ants().measure()?;
        }
        let built = stamp(self.ants())?;
        if searches {
            self.ants().search()?;
            self.ants().measure()?;
        }
        let searched = stamp(self.ants())?;
        let depositor = self.depositor();
        self.ants().judge(depositor)?;
        self.update()?;
        let ants = self.ants();
        let after = stamp(ants)?;
        if let (Some(events), Some(a), Some(b), Some(c), Some(d)) =
            (&mut ants.events, before, built, searched, after)
        {
            events.push([a, b, c, d]);
        }
        ants.queued += 1;
        Ok(())
    }
}
