//! MAX-MIN Ant System on a GPU.

use std::time::Duration;

use antwarp_core::kernels::{ConstructArgs, TrailArgs};
use antwarp_core::node::NodeId;
use antwarp_core::papers::ants::colony::{ColonyState, Depositor};
use antwarp_core::papers::ants::construct;
use antwarp_core::papers::ants::select::{Reservoir, Roulette};
use antwarp_core::papers::ants::tabu::{Bitmask, Compact, ListCompression, Tabu};
use warpsmith::Function;

use super::{Ants, Iterate, Storage, TEAM_BYTES, WARP};
use crate::backend::cuda::device::GRACE;
use crate::backend::cuda::error::failed;
use crate::backend::cuda::{
    Buffer, ConstructCandidates, ConstructFull, Device, Launch, PrepareTrails, UpdateTrails, buffers,
};
use crate::engine::mmas::{ColonySpec, Selection, TabuKind};
use crate::engine::{BackendError, Colony, Enough, Phases, Problem, State};
use crate::instance::counted;
use crate::memory::bytes;

/// Most warps of a construction block; the kernels' launch bounds are 512 threads.
const MOST_WARPS: u32 = 16;

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

/// Returns the names of all kernels of these colonies.
pub(super) fn kernel_names() -> Vec<String> {
    let mut names = vec!["block_prepare_matrix".to_string(), "block_update_matrix".to_string()];
    for id in ["u16", "u32"] {
        names.extend(["prepare", "update"].map(|verb| format!("warp_{verb}_candidates_{id}")));
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

/// Returns the bytes of team memory of one ant that chooses among this many leaves: groups of nodes, or candidates.
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
    fn function(&self) -> &Function {
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
    /// Warps per block: all work on one ant, or, with candidate lists, on one ant each.
    warps: u32,
}

impl Plan {
    fn new(device: &Device, problem: &Problem, spec: &ColonySpec) -> Result<Plan, BackendError> {
        let (n, full) = (problem.n(), problem.k() == 0);
        let leaves = if full { construct::full_leaves(n) } else { problem.k() };
        let memory = |storage| ant_memory(spec, n, leaves, storage);
        let storage = Storage::choose(device, n, spec.local_search, memory);
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
        Ok(plan)
    }

    /// Returns the number of warps beyond which some would have no group of nodes to process.
    fn most_useful_warps(&self, n: u32) -> u32 {
        construct::full_leaves(n).div_ceil(WARP).clamp(1, MOST_WARPS)
    }

    /// With candidate lists: several ants per block only where one per block would leave warp slots empty.
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
        f.blocks_per_multiprocessor(self.warps * WARP, self.shared_bytes()).unwrap_or(1).max(1)
    }

    /// Returns a launch with blocks for all ants; where their memory is global, no more than run at once.
    fn launch(&self, device: &Device, ants: u32) -> Launch {
        let blocks = match self.construct {
            Construct::Full(_) => ants,
            Construct::Candidates(_) => ants.div_ceil(self.warps),
        };
        let grid = match self.storage {
            Storage::GlobalU32 => blocks.min(self.blocks_per_multiprocessor() * device.multiprocessors()),
            _ => blocks,
        };
        Launch { grid, block: self.warps * WARP, shared: self.shared_bytes() }
    }

    fn describe(&self, variant: &str) -> String {
        let f = self.construct.function();
        let per = match self.construct {
            Construct::Full(_) => "per ant",
            Construct::Candidates(_) => "per block, one ant each",
        };
        let blocks = self.blocks_per_multiprocessor();
        format!(
            "{variant}, {} {per}, {} registers per thread, {} shared memory per block, {} per \
             multiprocessor ({} of 64 warps), ids and tabu {}",
            counted(self.warps as usize, "warp"),
            f.facts().registers,
            bytes(u64::from(self.shared_bytes())),
            counted(blocks as usize, "block"),
            blocks * self.warps,
            self.storage.name(),
        )
    }
}

/// Tries numbers of warps per ant in the first iterations; the tours do not depend on them.
struct Tuning {
    left: Vec<u32>,
    best: (Duration, u32),
}

/// A colony whose tours, trails and best tour stay in device memory for the whole run.
pub struct CudaColony<'p> {
    ants: Ants<'p>,
    spec: ColonySpec,
    plan: Plan,
    update: UpdateTrails,
    trails: Buffer<f32>,
    heuristic: Buffer<f32>,
    weights: Buffer<f32>,
    memory: Buffer<u8>,
    tuning: Option<Tuning>,
}

impl<'p> CudaColony<'p> {
    /// Loads the kernels, allocates the arrays and fills the pheromone memory. Local search must not be by Lin-Kernighan moves.
    ///
    /// # Errors
    /// If the number of warps is 0 or above 16, the kernels are rejected, or memory is short.
    pub fn new(device: &'p Device, problem: &'p Problem, spec: &ColonySpec) -> Result<Self, BackendError> {
        let plan = Plan::new(device, problem, spec)?;
        let ants = Ants::new(
            device,
            problem,
            (spec.ants, spec.rules),
            (spec.local_search, spec.breadth),
            plan.storage,
        )?;
        let load = |name: String| device.function(&name).map(|function| (name, function));
        let form = |verb: &str| match problem.k() {
            0 => format!("block_{verb}_matrix"),
            _ => format!("warp_{verb}_candidates_{}", plan.storage.id()),
        };
        let (name, function) = load(form("update"))?;
        let update = UpdateTrails { name, function };
        let (name, function) = load(form("prepare"))?;
        let prepare = PrepareTrails { name, function };
        let tune = problem.k() == 0 && spec.warps.is_none();
        let most = plan.most_useful_warps(problem.n());
        let tuning = tune.then(|| Tuning {
            // The first one also pays for cold caches, so it is measured again.
            left: [4, 1, 2, 3, 4, 6, 8, 12, 16].into_iter().filter(|&w| w <= most).collect(),
            best: (Duration::MAX, plan.warps),
        });
        let launch = plan.launch(device, spec.ants);
        let teams = match (plan.storage, &plan.construct) {
            (Storage::GlobalU32, Construct::Full(_)) => launch.grid,
            (Storage::GlobalU32, Construct::Candidates(_)) => launch.grid * plan.warps,
            _ => 0,
        };
        let (s, entries) = (device.stream(), spec.entries(problem));
        let mut colony = CudaColony {
            ants,
            spec: *spec,
            update,
            trails: Buffer::zeroed(s, "the pheromone memory", entries)?,
            heuristic: Buffer::zeroed(s, "the heuristic values", entries)?,
            weights: Buffer::zeroed(s, "the weights", entries)?,
            memory: Buffer::zeroed(s, "the ants' memory", teams as usize * plan.memory)?,
            plan,
            tuning,
        };
        colony.prepare(&prepare)?;
        Ok(colony)
    }

    fn trail_args(&self) -> TrailArgs {
        let problem = self.ants.problem;
        TrailArgs {
            n: problem.n(),
            k: problem.k(),
            metric: problem.device_metric(),
            alpha: self.spec.alpha,
            beta: self.spec.beta,
            scale: problem.scale(),
            persistence: self.spec.rules.persistence as f32,
            trail: self.spec.initial_limits(problem).highest,
            directed: problem.is_directed().into(),
            padding: 0,
        }
    }

    fn trail_launch(&self) -> Launch {
        let block = 256;
        let rows = if self.ants.problem.k() == 0 { 1 } else { block / WARP };
        Launch { grid: self.ants.problem.n().div_ceil(rows), block, shared: 0 }
    }

    fn prepare(&mut self, kernel: &PrepareTrails) -> Result<(), BackendError> {
        let (args, launch, stream) = (self.trail_args(), self.trail_launch(), self.ants.device.stream());
        // SAFETY: `CudaColony::new` made the arrays for this problem.
        unsafe {
            kernel.launch(
                stream,
                launch,
                args,
                buffers::PrepareTrails {
                    lists: &self.ants.lists,
                    points: &self.ants.points,
                    matrix: &self.ants.matrix,
                    trails: &mut self.trails,
                    heuristic: &mut self.heuristic,
                    weights: &mut self.weights,
                },
            )?;
        }
        stream.synchronize().map_err(failed("filling the pheromone memory"))
    }

    /// Runs one iteration with another number of warps, and times it.
    fn tune(&mut self, warps: u32, enough: Enough) -> Result<(), BackendError> {
        self.plan.warps = warps;
        let start = self.ants.event()?;
        self.iterate()?;
        let end = self.ants.event()?;
        self.ants.device.wait(enough, GRACE)?;
        let time = end.since(&start).map_err(failed("timing kernels"))?;
        if let Some(tuning) = &mut self.tuning
            && self.ants.queued > 1
            && time < tuning.best.0
        {
            tuning.best = (time, warps);
        }
        Ok(())
    }
}

impl<'p> Iterate<'p> for CudaColony<'p> {
    fn ants(&mut self) -> &mut Ants<'p> {
        &mut self.ants
    }

    fn construct(&mut self) -> Result<(), BackendError> {
        let a = &mut self.ants;
        let args = ConstructArgs {
            seed: self.spec.seed,
            memory: self.plan.memory as u64,
            n: a.problem.n(),
            ants: self.spec.ants,
            iteration: a.queued,
            k: a.problem.k(),
            metric: a.problem.device_metric(),
            reserve: a.problem.reserve(),
        };
        let (launch, stream) = (self.plan.launch(a.device, self.spec.ants), a.device.stream());
        // SAFETY: `CudaColony::new` made the arrays, and `Plan` the launch, for this problem.
        unsafe {
            match &self.plan.construct {
                Construct::Full(kernel) => kernel.launch(
                    stream,
                    launch,
                    args,
                    buffers::ConstructFull {
                        state: &a.state,
                        weights: &self.weights,
                        memory: &mut self.memory,
                        tours: &mut a.tours,
                    },
                ),
                Construct::Candidates(kernel) => {
                    let back = if a.problem.is_directed() { &a.successor } else { &a.predecessor };
                    kernel.launch(
                        stream,
                        launch,
                        args,
                        buffers::ConstructCandidates {
                            state: &a.state,
                            lists: &a.lists,
                            weights: &self.weights,
                            reserves: &a.reserves,
                            successor: &a.successor,
                            predecessor: back,
                            points: &a.points,
                            matrix: &a.matrix,
                            memory: &mut self.memory,
                            tours: &mut a.tours,
                        },
                    )
                }
            }
        }
    }

    fn depositor(&mut self) -> Depositor {
        self.spec.depositor(self.ants.queued)
    }

    fn update(&mut self) -> Result<(), BackendError> {
        let (args, launch) = (self.trail_args(), self.trail_launch());
        let a = &self.ants;
        // SAFETY: `CudaColony::new` made the arrays for this problem.
        unsafe {
            self.update.launch(
                a.device.stream(),
                launch,
                args,
                buffers::UpdateTrails {
                    state: &a.state,
                    lists: &a.lists,
                    successor: &a.successor,
                    predecessor: &a.predecessor,
                    trails: &mut self.trails,
                    heuristic: &mut self.heuristic,
                    weights: &mut self.weights,
                },
            )
        }
    }
}

impl Colony for CudaColony<'_> {
    fn run(&mut self, iterations: u32, enough: Enough) -> Result<ColonyState, BackendError> {
        for _ in 0..iterations {
            match self.tuning.as_mut().map(|t| if t.left.is_empty() { None } else { Some(t.left.remove(0)) })
            {
                Some(Some(warps)) => self.tune(warps, enough)?,
                Some(None) => {
                    self.plan.warps = self.tuning.take().map_or(1, |t| t.best.1);
                    self.iterate()?;
                }
                None => self.iterate()?,
            }
        }
        self.ants.state(enough)
    }

    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError> {
        self.ants.best_tour()
    }

    fn save(&mut self, state: &mut State) -> Result<(), BackendError> {
        self.ants.save(state)?;
        let stream = self.ants.device.stream();
        state.put(&self.trails.to_vec(stream)?)?;
        state.put(&self.weights.to_vec(stream)?)
    }

    fn restore(&mut self, state: &mut State) -> Result<ColonyState, BackendError> {
        let restored = self.ants.restore(state)?;
        let (stream, entries) = (self.ants.device.stream(), self.spec.entries(self.ants.problem));
        self.trails.write(stream, &state.take_weights(entries)?)?;
        self.weights.write(stream, &state.take_weights(entries)?)?;
        Ok(restored)
    }

    fn phases(&mut self) -> Result<Phases, BackendError> {
        self.ants.phases()
    }

    fn branching_factor(&mut self) -> Result<Option<f64>, BackendError> {
        let mut trails = vec![0.0; self.spec.sampled(self.ants.problem)];
        self.trails.read(self.ants.device.stream(), &mut trails)?;
        Ok(Some(self.spec.branching_factor(self.ants.problem, &trails)))
    }

    fn describe(&self) -> String {
        self.plan.describe(&self.spec.variant())
    }
}
