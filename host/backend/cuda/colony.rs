//! A colony on a GPU. Tours, trails and the best tour stay in device memory for the whole run; after a batch of
//! iterations the host reads [`ColonyState`], a few numbers.

use std::time::Duration;

use antwarp_core::colony::ColonyState;
use antwarp_core::construct;
use antwarp_core::kernels::{ConstructArgs, CostArgs, JudgeArgs, SearchArgs, TrailArgs};
use antwarp_core::local_search::ants;
use antwarp_core::node::NodeId;
use antwarp_core::select::{Reservoir, Roulette};
use antwarp_core::tabu::{Bitmask, Compact, ListCompression, Tabu};
use cudarc::driver::sys::{CUevent_flags, CUfunction_attribute};
use cudarc::driver::{CudaEvent, CudaFunction, DriverError};

use super::chains::place_bytes;
use super::{
    Buffer, ConstructCandidates, ConstructFull, Device, Judge, Launch, LocalSearch as SearchKernel,
    PrepareTrails, TourCosts, UpdateTrails,
};
use crate::backend::error::bytes;
use crate::backend::{BackendError, Colony, Enough, Phases};
use crate::solver::mmas::{ColonySpec, Selection, TabuKind};
use crate::solver::problem::Problem;

/// Threads of a warp.
pub(super) const WARP: u32 = 32;
/// Shared memory that a block team keeps for its reductions (`SHARED_BYTES` of the kernels' `cuda::block`).
pub const TEAM_BYTES: u32 = 640;
/// Most warps of a construction block; the kernels' launch bounds say 512 threads.
const MOST_WARPS: u32 = 16;

/// Where an ant's tabu lies and how wide node ids are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Storage {
    SharedU16,
    SharedU32,
    GlobalU32,
}

impl Storage {
    const ALL: [Storage; 3] = [Storage::SharedU16, Storage::SharedU32, Storage::GlobalU32];

    fn name(self) -> &'static str {
        match self {
            Storage::SharedU16 => "shared_u16",
            Storage::SharedU32 => "shared_u32",
            Storage::GlobalU32 => "global_u32",
        }
    }

    fn id(self) -> &'static str {
        if self == Storage::SharedU16 { "u16" } else { "u32" }
    }

    fn id_bytes(self) -> usize {
        if self == Storage::SharedU16 { 2 } else { 4 }
    }
}

fn construct_name(full: bool, selection: Selection, tabu: TabuKind, storage: Storage) -> String {
    let scope = if full { "block" } else { "warp" };
    let selection = match selection {
        Selection::Wrs => "wrs",
        Selection::Rwm => "rwm",
    };
    let tabu = match tabu {
        TabuKind::List => "list",
        TabuKind::Compact => "compact",
        TabuKind::Bitmask => "bitmask",
    };
    format!("{scope}_construct_{selection}_{tabu}_{}", storage.name())
}

/// The names of all kernels that a colony may load.
pub fn kernel_names() -> Vec<String> {
    let mut names = vec!["block_prepare_matrix".to_string(), "block_update_matrix".to_string()];
    for operator in ["two_opt", "or_opt", "or_2opt", "three_opt"] {
        for geometry in ["grid", "planar", "numbered"] {
            names.extend([true, false].map(|shared| search_name(operator, geometry, shared)));
        }
    }
    for id in ["u16", "u32"] {
        for family in ["block_tour_costs", "block_judge", "warp_prepare_candidates", "warp_update_candidates"]
        {
            names.push(format!("{family}_{id}"));
        }
    }
    for full in [true, false] {
        for selection in [Selection::Wrs, Selection::Rwm] {
            for tabu in [TabuKind::List, TabuKind::Compact, TabuKind::Bitmask] {
                names.extend(Storage::ALL.map(|storage| construct_name(full, selection, tabu, storage)));
            }
        }
    }
    names
}

fn search_name(operator: &str, geometry: &str, shared: bool) -> String {
    let storage = if shared { "shared_u16" } else { "global_u32" };
    format!("block_local_search_{operator}_{geometry}_{storage}")
}

/// Bytes of team memory of one ant.
fn ant_memory(spec: &ColonySpec, n: u32, leaves: u32, storage: Storage) -> usize {
    fn by_tabu<I: NodeId>(spec: &ColonySpec, n: u32, leaves: u32) -> usize {
        match spec.tabu {
            TabuKind::List => by_selection::<ListCompression<I>>(spec, n, leaves),
            TabuKind::Compact => by_selection::<Compact<I>>(spec, n, leaves),
            TabuKind::Bitmask => by_selection::<Bitmask>(spec, n, leaves),
        }
    }
    fn by_selection<B: Tabu>(spec: &ColonySpec, n: u32, leaves: u32) -> usize {
        match spec.selection {
            Selection::Wrs => construct::memory_bytes::<B, Reservoir>(n, leaves),
            Selection::Rwm => construct::memory_bytes::<B, Roulette>(n, leaves),
        }
    }
    if storage == Storage::SharedU16 {
        by_tabu::<u16>(spec, n, leaves)
    } else {
        by_tabu::<u32>(spec, n, leaves)
    }
}

/// The construction kernel, one of two families.
enum Construct {
    Full(ConstructFull),
    Candidates(ConstructCandidates),
}

impl Construct {
    fn function(&self) -> &CudaFunction {
        match self {
            Construct::Full(k) => &k.function,
            Construct::Candidates(k) => &k.function,
        }
    }
}

/// How tours are built: the kernel, and the shape of its launch.
struct Plan {
    construct: Construct,
    storage: Storage,
    /// Bytes of team memory of one ant.
    memory: usize,
    /// Warps of a block: that many work on one ant, or, with candidate lists, on one ant each.
    warps: u32,
}

impl Plan {
    fn new(device: &Device, problem: &Problem, spec: &ColonySpec) -> Result<Plan, BackendError> {
        let (n, full) = (problem.n(), problem.k() == 0);
        let leaves = if full { construct::full_leaves(n) } else { problem.k() };
        let limit = (device.shared_limit() - TEAM_BYTES) as usize;
        let fits = |s: &Storage| match s {
            Storage::SharedU16 => {
                // Local search has no kernel for short ids in global memory.
                let search = spec.local_search.kernel_name().map_or(0, |_| ants::memory_bytes::<u16>(n));
                n < 1 << 16 && ant_memory(spec, n, leaves, *s).max(search) <= limit
            }
            Storage::SharedU32 => ant_memory(spec, n, leaves, *s) <= limit,
            Storage::GlobalU32 => true,
        };
        let storage = Storage::ALL.into_iter().find(fits).unwrap_or(Storage::GlobalU32);
        let name = construct_name(full, spec.selection, spec.tabu, storage);
        let function = device.function(&name)?;
        let construct = if full {
            Construct::Full(ConstructFull { name, function })
        } else {
            Construct::Candidates(ConstructCandidates { name, function })
        };
        let memory = ant_memory(spec, n, leaves, storage);
        let mut plan = Plan { construct, storage, memory, warps: 1 };
        plan.warps = match spec.warps {
            Some(w) if w == 0 || w > MOST_WARPS => return Err(BackendError::Warps(w, MOST_WARPS)),
            Some(w) if full => w,
            None if full => 4.min(plan.most_useful_warps(n)),
            _ => plan.ants_per_block(device, spec.ants),
        };
        let most = (TEAM_BYTES as usize + plan.memory).min(device.shared_limit() as usize) as i32;
        let shared = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        if storage != Storage::GlobalU32 {
            let most = most.max(plan.shared_bytes() as i32);
            let set = plan.construct.function().set_attribute(shared, most);
            set.map_err(driver("reserving shared memory"))?;
        }
        Ok(plan)
    }

    /// Warps beyond which some would have no group of nodes to look at.
    fn most_useful_warps(&self, n: u32) -> u32 {
        construct::full_leaves(n).div_ceil(WARP).clamp(1, MOST_WARPS)
    }

    /// With candidate lists: several ants a block only where one a block would leave warp slots empty.
    fn ants_per_block(&self, device: &Device, ants: u32) -> u32 {
        let blocks = ants / device.multiprocessors();
        let fit = (device.shared_limit() as usize / self.memory.max(1)) as u32;
        if self.storage == Storage::GlobalU32 || blocks < 32 { 1 } else { 4.min(fit).max(1) }
    }

    fn shared_bytes(&self) -> u32 {
        let memory = if self.storage == Storage::GlobalU32 { 0 } else { self.memory as u32 };
        match self.construct {
            Construct::Full(_) => TEAM_BYTES + memory,
            Construct::Candidates(_) => self.warps * memory,
        }
    }

    fn blocks_per_multiprocessor(&self) -> u32 {
        let f = self.construct.function();
        f.occupancy_max_active_blocks_per_multiprocessor(
            self.warps * WARP,
            self.shared_bytes() as usize,
            None,
        )
        .unwrap_or(1)
        .max(1)
    }

    /// Blocks for all ants; where their memory is global, no more than run at once.
    fn launch(&self, device: &Device, ants: u32) -> Launch {
        let blocks = match self.construct {
            Construct::Full(_) => ants,
            Construct::Candidates(_) => ants.div_ceil(self.warps),
        };
        let resident = self.blocks_per_multiprocessor() * device.multiprocessors();
        let grid = if self.storage == Storage::GlobalU32 { blocks.min(resident) } else { blocks };
        Launch { grid, block: self.warps * WARP, shared: self.shared_bytes() }
    }

    fn describe(&self, variant: &str) -> String {
        let f = self.construct.function();
        let per = match self.construct {
            Construct::Full(_) => "an ant",
            Construct::Candidates(_) => "a block of one ant each",
        };
        let blocks = self.blocks_per_multiprocessor();
        format!(
            "{variant}, {} warps {per}, {} registers a thread, {} shared memory a block, {blocks} blocks a \
             multiprocessor ({} of 64 warps), ids and tabu {}",
            self.warps,
            f.num_regs().unwrap_or(0),
            bytes(u64::from(self.shared_bytes())),
            blocks * self.warps,
            self.storage.name(),
        )
    }
}

/// Local search on the ants' tours: the kernel, and the shape of its launch.
struct SearchPlan {
    kernel: SearchKernel,
    /// Bytes of team memory of one tour.
    memory: usize,
    launch: Launch,
}

/// Warps of a block of local search, which share the nodes that are looked at together.
const SEARCH_WARPS: u32 = 4;

impl SearchPlan {
    /// `None` without local search.
    fn new(
        device: &Device,
        problem: &Problem,
        spec: &ColonySpec,
        storage: Storage,
    ) -> Result<Option<SearchPlan>, BackendError> {
        let Some(operator) = spec.local_search.kernel_name() else { return Ok(None) };
        let shared = storage == Storage::SharedU16;
        let name = search_name(operator, problem.places().kernel_name(), shared);
        let function = device.function(&name)?;
        let n = problem.n();
        let memory = if shared { ants::memory_bytes::<u16>(n) } else { ants::memory_bytes::<u32>(n) };
        let bytes = TEAM_BYTES + if shared { memory as u32 } else { 0 };
        let most = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        function.set_attribute(most, bytes as i32).map_err(driver("reserving shared memory"))?;
        let block = SEARCH_WARPS * WARP;
        let fit = function.occupancy_max_active_blocks_per_multiprocessor(block, bytes as usize, None);
        let resident = fit.unwrap_or(1).max(1) * device.multiprocessors();
        let grid = if shared { spec.ants } else { spec.ants.min(resident) };
        let launch = Launch { grid, block, shared: bytes };
        Ok(Some(SearchPlan { kernel: SearchKernel { name, function }, memory, launch }))
    }
}

/// The arrays of a colony.
struct Buffers {
    state: Buffer<ColonyState>,
    points: Buffer<[f64; 3]>,
    matrix: Buffer<i32>,
    lists: Buffer<u8>,
    reserves: Buffer<u8>,
    neighbors: Buffer<u8>,
    places: Buffer<u8>,
    search_memory: Buffer<u8>,
    trails: Buffer<f32>,
    heuristic: Buffer<f32>,
    weights: Buffer<f32>,
    memory: Buffer<u8>,
    tours: Buffer<u8>,
    costs: Buffer<i64>,
    best_tour: Buffer<u8>,
    successor: Buffer<u32>,
    predecessor: Buffer<u32>,
}

/// Node ids as the bytes of `storage`'s width.
fn id_bytes(storage: Storage, ids: &[u32]) -> Vec<u8> {
    match storage {
        Storage::SharedU16 => ids.iter().flat_map(|&v| (v as u16).to_ne_bytes()).collect(),
        _ => ids.iter().flat_map(|&v| v.to_ne_bytes()).collect(),
    }
}

/// The distance matrix a kernel reads: the instance's, or one made of a metric that kernels cannot compute.
pub(super) fn device_matrix(problem: &Problem) -> Vec<i32> {
    let computed = problem.metric().is_some_and(|m| !m.is_algebraic());
    if computed { problem.computed_matrix() } else { problem.matrix().to_vec() }
}

impl Buffers {
    fn new(
        device: &Device,
        problem: &Problem,
        spec: &ColonySpec,
        plan: &Plan,
        search: Option<&SearchPlan>,
    ) -> Result<Self, BackendError> {
        let s = device.stream();
        let (n, entries, id) = (problem.n() as usize, spec.entries(problem), plan.storage.id_bytes());
        let launch = plan.launch(device, spec.ants);
        let teams = match (plan.storage, &plan.construct) {
            (Storage::GlobalU32, Construct::Full(_)) => launch.grid,
            (Storage::GlobalU32, Construct::Candidates(_)) => launch.grid * plan.warps,
            _ => 0,
        };
        let own: Vec<u32> = (0..problem.n()).collect();
        Ok(Buffers {
            state: Buffer::from_slice(s, "the state", &[ColonyState::new(spec.initial_limits(problem))])?,
            points: Buffer::from_slice(s, "the coordinates", problem.points())?,
            matrix: Buffer::from_slice(s, "the distance matrix", &device_matrix(problem))?,
            lists: Buffer::from_slice(s, "the candidate lists", &id_bytes(plan.storage, problem.lists()))?,
            reserves: Buffer::from_slice(s, "the reserves", &id_bytes(plan.storage, problem.reserves()))?,
            neighbors: Buffer::from_slice(
                s,
                "the neighbour lists",
                &id_bytes(plan.storage, problem.neighbors()),
            )?,
            places: Buffer::from_slice(s, "the coordinates", &place_bytes(problem.places()))?,
            search_memory: Buffer::zeroed(
                s,
                "the memory of local search",
                search
                    .filter(|s| s.launch.shared == TEAM_BYTES)
                    .map_or(0, |s| s.launch.grid as usize * s.memory),
            )?,
            trails: Buffer::zeroed(s, "the pheromone memory", entries)?,
            heuristic: Buffer::zeroed(s, "the heuristic values", entries)?,
            weights: Buffer::zeroed(s, "the weights", entries)?,
            memory: Buffer::zeroed(s, "the ants' memory", teams as usize * plan.memory)?,
            tours: Buffer::zeroed(s, "the ants' tours", spec.ants as usize * n * id)?,
            costs: Buffer::zeroed(s, "the tours' lengths", spec.ants as usize)?,
            best_tour: Buffer::zeroed(s, "the best tour", n * id)?,
            successor: Buffer::from_slice(s, "the tour's links", &own)?,
            predecessor: Buffer::from_slice(s, "the tour's links", &own)?,
        })
    }
}

pub(super) fn driver(doing: &'static str) -> impl Fn(DriverError) -> BackendError {
    move |source| BackendError::Driver { doing, source }
}

/// Tries numbers of warps an ant on the first iterations; the tours do not depend on them.
struct Tuning {
    left: Vec<u32>,
    best: (f32, u32),
}

/// A colony whose tours, trails and best tour stay in device memory for the whole run.
pub struct CudaColony<'p> {
    device: &'p Device,
    problem: &'p Problem,
    spec: ColonySpec,
    plan: Plan,
    search: Option<SearchPlan>,
    buffers: Buffers,
    costs: TourCosts,
    judge: Judge,
    update: UpdateTrails,
    tuning: Option<Tuning>,
    /// Iterations queued so far; the same as those done unless the target was reached.
    queued: u32,
    /// Events around construction, local search and the rest of each iteration, once someone asked for phases.
    events: Option<Vec<[CudaEvent; 4]>>,
}

impl<'p> CudaColony<'p> {
    /// Loads the kernels, allocates the arrays and fills the pheromone memory.
    ///
    /// # Errors
    /// If the kernels are refused, or memory is short.
    pub fn new(device: &'p Device, problem: &'p Problem, spec: &ColonySpec) -> Result<Self, BackendError> {
        let plan = Plan::new(device, problem, spec)?;
        let search = SearchPlan::new(device, problem, spec, plan.storage)?;
        let buffers = Buffers::new(device, problem, spec, &plan, search.as_ref())?;
        let load = |name: String| device.function(&name).map(|function| (name, function));
        let id = plan.storage.id();
        let form = |verb: &str| match problem.k() {
            0 => format!("block_{verb}_matrix"),
            _ => format!("warp_{verb}_candidates_{id}"),
        };
        let (name, function) = load(format!("block_tour_costs_{id}"))?;
        let costs = TourCosts { name, function };
        let (name, function) = load(format!("block_judge_{id}"))?;
        let judge = Judge { name, function };
        let (name, function) = load(form("update"))?;
        let update = UpdateTrails { name, function };
        let (name, function) = load(form("prepare"))?;
        let prepare = PrepareTrails { name, function };
        let tune = problem.k() == 0 && spec.warps.is_none();
        let most = plan.most_useful_warps(problem.n());
        let tuning = tune.then(|| Tuning {
            // The first one also pays for cold caches: it is measured again.
            left: [4, 1, 2, 3, 4, 6, 8, 12, 16].into_iter().filter(|&w| w <= most).collect(),
            best: (f32::INFINITY, plan.warps),
        });
        let mut colony = CudaColony {
            device,
            problem,
            spec: *spec,
            plan,
            search,
            buffers,
            costs,
            judge,
            update,
            tuning,
            queued: 0,
            events: None,
        };
        colony.prepare(&prepare)?;
        Ok(colony)
    }

    fn trail_args(&self) -> TrailArgs {
        TrailArgs {
            n: self.problem.n(),
            k: self.problem.k(),
            metric: self.problem.device_metric(),
            alpha: self.spec.alpha,
            beta: self.spec.beta,
            scale: self.problem.scale(),
            persistence: self.spec.rules.persistence as f32,
            trail: self.spec.initial_limits(self.problem).highest,
            directed: self.problem.is_directed().into(),
            padding: 0,
        }
    }

    fn trail_launch(&self) -> Launch {
        let block = 256;
        let rows = if self.problem.k() == 0 { 1 } else { block / WARP };
        Launch { grid: self.problem.n().div_ceil(rows), block, shared: 0 }
    }

    fn prepare(&mut self, kernel: &PrepareTrails) -> Result<(), BackendError> {
        let (args, launch, b) = (self.trail_args(), self.trail_launch(), &mut self.buffers);
        let stream = self.device.stream();
        // SAFETY: `Buffers::new` made the arrays for this problem.
        unsafe {
            kernel.launch(
                stream,
                launch,
                args,
                &b.lists,
                &b.points,
                &b.matrix,
                &mut b.trails,
                &mut b.heuristic,
                &mut b.weights,
            )?;
        }
        stream.synchronize().map_err(driver("filling the pheromone memory"))
    }

    fn construct(&mut self) -> Result<(), BackendError> {
        let args = ConstructArgs {
            seed: self.spec.seed,
            memory: self.plan.memory as u64,
            n: self.problem.n(),
            ants: self.spec.ants,
            iteration: self.queued,
            k: self.problem.k(),
            metric: self.problem.device_metric(),
            reserve: self.problem.reserve(),
        };
        let launch = self.plan.launch(self.device, self.spec.ants);
        let (stream, b) = (self.device.stream(), &mut self.buffers);
        // SAFETY: `Buffers::new` made the arrays, and `Plan` the launch, for this problem.
        unsafe {
            match &self.plan.construct {
                Construct::Full(kernel) => {
                    kernel.launch(stream, launch, args, &b.state, &b.weights, &mut b.memory, &mut b.tours)?;
                }
                Construct::Candidates(kernel) => {
                    let back = if self.problem.is_directed() { &b.successor } else { &b.predecessor };
                    kernel.launch(
                        stream,
                        launch,
                        args,
                        &b.state,
                        &b.lists,
                        &b.weights,
                        &b.reserves,
                        &b.successor,
                        back,
                        &b.points,
                        &b.matrix,
                        &mut b.memory,
                        &mut b.tours,
                    )?;
                }
            }
        }
        Ok(())
    }

    fn search(&mut self) -> Result<(), BackendError> {
        let Some(search) = &self.search else { return Ok(()) };
        let args = SearchArgs {
            memory: search.memory as u64,
            n: self.problem.n(),
            tours: self.spec.ants,
            k: self.problem.search_k(),
            breadth: self.spec.breadth,
            metric: self.problem.device_metric(),
            padding: 0,
        };
        let (stream, b) = (self.device.stream(), &mut self.buffers);
        // SAFETY: `Buffers::new` made the arrays, and `SearchPlan` the launch, for this problem.
        unsafe {
            search.kernel.launch(
                stream,
                search.launch,
                args,
                &b.state,
                &b.neighbors,
                &b.places,
                &b.points,
                &b.matrix,
                &b.successor,
                &b.predecessor,
                &mut b.search_memory,
                &mut b.tours,
            )
        }
    }

    fn measure(&mut self) -> Result<(), BackendError> {
        let (stream, b) = (self.device.stream(), &mut self.buffers);
        // SAFETY: `Buffers::new` made the arrays for this problem.
        unsafe {
            let (n, tours, metric) = (self.problem.n(), self.spec.ants, self.problem.device_metric());
            let args = CostArgs { n, tours, metric, padding: 0 };
            let block = args.n.div_ceil(4 * WARP).clamp(1, 8) * WARP;
            let launch = Launch { grid: args.tours, block, shared: TEAM_BYTES };
            self.costs.launch(stream, launch, args, &b.state, &b.tours, &b.points, &b.matrix, &mut b.costs)
        }
    }

    fn finish(&mut self) -> Result<(), BackendError> {
        let args = JudgeArgs {
            rules: self.spec.rules,
            n: self.problem.n(),
            ants: self.spec.ants,
            deposit_best: self.spec.deposits_best(self.queued).into(),
            padding: 0,
        };
        let (trail_args, trail_launch) = (self.trail_args(), self.trail_launch());
        let (stream, b) = (self.device.stream(), &mut self.buffers);
        let launch = Launch { grid: 1, block: 1024, shared: TEAM_BYTES };
        // SAFETY: `Buffers::new` made the arrays for this problem.
        unsafe {
            self.judge.launch(
                stream,
                launch,
                args,
                &b.costs,
                &b.tours,
                &mut b.state,
                &mut b.best_tour,
                &mut b.successor,
                &mut b.predecessor,
            )?;
            self.update.launch(
                stream,
                trail_launch,
                trail_args,
                &b.state,
                &b.lists,
                &b.successor,
                &b.predecessor,
                &mut b.trails,
                &mut b.heuristic,
                &mut b.weights,
            )
        }
    }

    fn event(&self) -> Result<CudaEvent, BackendError> {
        let make = || {
            let event = self.device.context().new_event(Some(CUevent_flags::CU_EVENT_DEFAULT))?;
            event.record(self.device.stream())?;
            Ok(event)
        };
        make().map_err(driver("recording an event"))
    }

    fn iterate(&mut self) -> Result<(), BackendError> {
        let timed = self.events.is_some();
        let stamp = |colony: &Self| if timed { colony.event().map(Some) } else { Ok(None) };
        let before = stamp(self)?;
        self.construct()?;
        if self.search.is_none() {
            self.measure()?;
        }
        let built = stamp(self)?;
        if self.search.is_some() {
            self.search()?;
            self.measure()?;
        }
        let searched = stamp(self)?;
        self.finish()?;
        let after = stamp(self)?;
        if let (Some(events), Some(a), Some(b), Some(c), Some(d)) =
            (&mut self.events, before, built, searched, after)
        {
            events.push([a, b, c, d]);
        }
        self.queued += 1;
        Ok(())
    }

    /// One iteration with another number of warps, timed.
    fn tune(&mut self, warps: u32) -> Result<(), BackendError> {
        self.plan.warps = warps;
        let start = self.event()?;
        self.iterate()?;
        let end = self.event()?;
        let time =
            end.synchronize().and_then(|()| start.elapsed_ms(&end)).map_err(driver("timing kernels"))?;
        if let Some(tuning) = &mut self.tuning
            && self.queued > 1
            && time < tuning.best.0
        {
            tuning.best = (time, warps);
        }
        Ok(())
    }
}

impl Colony for CudaColony<'_> {
    fn run(&mut self, iterations: u32, _enough: Enough) -> Result<ColonyState, BackendError> {
        for _ in 0..iterations {
            match self.tuning.as_mut().map(|t| if t.left.is_empty() { None } else { Some(t.left.remove(0)) })
            {
                Some(Some(warps)) => self.tune(warps)?,
                Some(None) => {
                    self.plan.warps = self.tuning.take().map_or(1, |t| t.best.1);
                    self.iterate()?;
                }
                None => self.iterate()?,
            }
        }
        let mut state = [ColonyState::new(self.spec.initial_limits(self.problem))];
        self.buffers.state.read(self.device.stream(), &mut state)?;
        Ok(state[0])
    }

    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError> {
        let raw = self.buffers.best_tour.to_vec(self.device.stream())?;
        Ok(match self.plan.storage {
            Storage::SharedU16 => {
                raw.chunks_exact(2).map(|b| u32::from(u16::from_ne_bytes([b[0], b[1]]))).collect()
            }
            _ => raw.chunks_exact(4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]])).collect(),
        })
    }

    fn phases(&mut self) -> Result<Phases, BackendError> {
        let events = self.events.replace(Vec::new()).unwrap_or_default();
        self.device.stream().synchronize().map_err(driver("running kernels"))?;
        let mut phases = Phases { iterations: events.len() as u32, ..Phases::default() };
        for [before, built, searched, after] in &events {
            let ms = |a: &CudaEvent, b: &CudaEvent| {
                a.elapsed_ms(b)
                    .map(|t| Duration::from_secs_f64(f64::from(t) / 1e3))
                    .map_err(driver("timing kernels"))
            };
            phases.construction += ms(before, built)?;
            phases.local_search += ms(built, searched)?;
            phases.rest += ms(searched, after)?;
        }
        Ok(phases)
    }

    fn describe(&self) -> String {
        self.plan.describe(&self.spec.variant())
    }
}
