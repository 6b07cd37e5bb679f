//! Ant Colony System on a GPU.

use antwarp_core::kernels::AcsArgs;
use antwarp_core::papers::ants::acs;
use antwarp_core::papers::ants::colony::{ColonyState, Depositor};

use super::{Ants, Iterate, Storage, WARP};
use crate::backend::cuda::error::failed;
use crate::backend::cuda::{Buffer, ConstructAcs, DepositAcs, Device, Launch, PrepareAcs, buffers};
use crate::engine::acs::{AcsSpec, Pheromone, Update};
use crate::engine::{BackendError, Colony, Enough, Phases, Problem, State};
use crate::instance::counted;
use crate::memory::bytes;

/// Most warps of a block that walks; the kernels' launch bounds are 640 threads.
const MOST_WALKING: u32 = 20;

/// Returns the most warps of a block that builds; the kernels' launch bounds are 256 threads, or 128 with rings.
fn most_building(pheromone: Pheromone) -> u32 {
    if pheromone == Pheromone::Selective { 4 } else { 8 }
}

fn memory_name(pheromone: Pheromone) -> &'static str {
    match pheromone {
        Pheromone::Matrix => "matrix",
        Pheromone::Candidate => "candidate",
        Pheromone::Selective => "selective",
    }
}

const PHEROMONES: [Pheromone; 3] = [Pheromone::Matrix, Pheromone::Candidate, Pheromone::Selective];

/// Returns the names of all kernels of these colonies.
pub(super) fn kernel_names() -> Vec<String> {
    let mut names = Vec::new();
    for memory in PHEROMONES {
        let walks = memory != Pheromone::Selective;
        let memory = memory_name(memory);
        for storage in Storage::ALL {
            names.push(format!("warp_build_acs_{memory}_{}", storage.name()));
            if walks {
                names.push(format!("warp_walk_acs_{memory}_{}", storage.name()));
            }
        }
        for id in ["u16", "u32"] {
            names.extend(["prepare", "deposit"].map(|verb| format!("warp_{verb}_acs_{memory}_{id}")));
        }
    }
    names
}

/// How tours are built: the kernel, and the shape of its launch.
struct Plan {
    kernel: ConstructAcs,
    storage: Storage,
    /// Bytes of team memory of one ant.
    memory: usize,
    launch: Launch,
    /// Ants whose memory is in global memory at the same time.
    in_global: usize,
}

impl Plan {
    fn new(device: &Device, problem: &Problem, spec: &AcsSpec) -> Result<Plan, BackendError> {
        let (n, ants, units) = (problem.n(), spec.ants, device.multiprocessors());
        let memory = acs::memory_bytes(n);
        let walks = spec.update != Update::Relaxed;
        // All ants that walk run at the same time, in a block on each multiprocessor.
        let warps = ants.div_ceil(units).clamp(1, MOST_WALKING);
        let grid = ants.div_ceil(warps).min(units);
        let of_block = warps * ants.div_ceil(grid * warps);
        let together = if walks { of_block as usize } else { 1 };
        let storage = match walks && spec.each_phase {
            // An ant's memory outlives the launch.
            true => Storage::GlobalU32,
            false => Storage::choose(device, n, spec.local_search, |_| together * memory),
        };
        let verb = if walks { "walk" } else { "build" };
        let name = format!("warp_{verb}_acs_{}_{}", memory_name(spec.pheromone), storage.name());
        let kernel = ConstructAcs { function: device.function(&name)?, name };
        let shared =
            |of_block: usize| if storage == Storage::GlobalU32 { 0 } else { (of_block * memory) as u32 };
        if walks {
            let launch = Launch { grid, block: warps * WARP, shared: shared(of_block as usize) };
            return Ok(Plan { kernel, storage, memory, launch, in_global: ants as usize });
        }
        // A few ants per block: they share the trails in the multiprocessor's cache.
        let fit = (device.shared_limit() as usize / memory) as u32;
        let warps = match storage {
            Storage::GlobalU32 => 1,
            // Small blocks distribute many ants more evenly.
            _ if ants > 8 * units => 4.min(fit).max(1),
            _ => most_building(spec.pheromone).min(fit).max(1),
        };
        let mut launch =
            Launch { grid: ants.div_ceil(warps), block: warps * WARP, shared: shared(warps as usize) };
        if storage == Storage::GlobalU32 {
            let f = &kernel.function;
            let resident = f.blocks_per_multiprocessor(launch.block, 0);
            launch.grid = launch.grid.min(resident.unwrap_or(1).max(1) * units);
        }
        Ok(Plan { kernel, storage, memory, launch, in_global: (launch.grid * warps) as usize })
    }

    fn describe(&self, spec: &AcsSpec, problem: &Problem) -> String {
        format!(
            "{}, pheromone memory {}, a warp per ant, {} of {}, {} registers per thread, \
             {} shared memory per block, ids and tabu {}",
            spec.variant(),
            bytes(spec.memory_bytes(problem) as u64),
            counted(self.launch.grid as usize, "block"),
            counted((self.launch.block / WARP) as usize, "warp"),
            self.kernel.function.facts().registers,
            bytes(u64::from(self.launch.shared)),
            self.storage.name(),
        )
    }
}

/// A colony whose tours, trails and best tour stay in device memory for the whole run.
pub struct CudaAcs<'p> {
    ants: Ants<'p>,
    spec: AcsSpec,
    plan: Plan,
    deposit: DepositAcs,
    heuristic: Buffer<f32>,
    trails: Buffer<u8>,
    tails: Buffer<u32>,
    memory: Buffer<u8>,
    arrivals: Buffer<u64>,
}

impl<'p> CudaAcs<'p> {
    /// Loads the kernels, allocates the arrays and fills the pheromone memory. Local search must not be by Lin-Kernighan moves,
    /// and trails are never reset: `reset_after` must be 0.
    ///
    /// # Errors
    /// If the update is sequential, which a GPU does not support; if the kernels are rejected, or memory is short.
    pub fn new(device: &'p Device, problem: &'p Problem, spec: &AcsSpec) -> Result<Self, BackendError> {
        if spec.update == Update::Sequential {
            return Err(BackendError::Sequential);
        }
        let plan = Plan::new(device, problem, spec)?;
        let ants = Ants::new(
            device,
            problem,
            (spec.ants, spec.rules),
            (spec.local_search, spec.breadth),
            plan.storage,
        )?;
        let load = |name: String| device.function(&name).map(|function| (name, function));
        let (memory, id) = (memory_name(spec.pheromone), plan.storage.id());
        let (name, function) = load(format!("warp_deposit_acs_{memory}_{id}"))?;
        let deposit = DepositAcs { name, function };
        let (name, function) = load(format!("warp_prepare_acs_{memory}_{id}"))?;
        let prepare = PrepareAcs { name, function };
        let (trails, tails) = spec.memory(problem);
        let in_global = if plan.storage == Storage::GlobalU32 { plan.in_global } else { 0 };
        let s = device.stream();
        let mut colony = CudaAcs {
            ants,
            spec: *spec,
            deposit,
            heuristic: Buffer::zeroed(s, "the heuristic values", problem.lists().len())?,
            trails: Buffer::zeroed(s, "the pheromone memory", trails)?,
            tails: Buffer::zeroed(s, "the pheromone memory", tails)?,
            memory: Buffer::zeroed(s, "the ants' memory", in_global * plan.memory)?,
            arrivals: Buffer::zeroed(s, "a counter", 1)?,
            plan,
        };
        colony.prepare(&prepare)?;
        Ok(colony)
    }

    fn args(&self) -> AcsArgs {
        let problem = self.ants.problem;
        AcsArgs {
            seed: self.spec.seed,
            memory: self.plan.memory as u64,
            rule: self.spec.rule,
            n: problem.n(),
            ants: self.spec.ants,
            iteration: self.ants.queued,
            k: problem.k(),
            metric: problem.device_metric(),
            reserve: problem.reserve(),
            slots: self.spec.slots,
            first: 0,
            // Every step but the first node's has two phases.
            end: 2 * (problem.n() - 1),
            fresh: self.spec.is_fresh().into(),
        }
    }

    fn row_launch(&self) -> Launch {
        let block = 256;
        Launch { grid: self.ants.problem.n().div_ceil(block / WARP), block, shared: 0 }
    }

    fn prepare(&mut self, kernel: &PrepareAcs) -> Result<(), BackendError> {
        let (args, launch, a) = (self.args(), self.row_launch(), &self.ants);
        let stream = a.device.stream();
        // SAFETY: `CudaAcs::new` made the arrays for this problem.
        unsafe {
            kernel.launch(
                stream,
                launch,
                args,
                buffers::PrepareAcs {
                    lists: &a.lists,
                    points: &a.points,
                    matrix: &a.matrix,
                    heuristic: &mut self.heuristic,
                    trails: &mut self.trails,
                    tails: &mut self.tails,
                },
            )?;
        }
        stream.synchronize().map_err(failed("filling the pheromone memory"))
    }

    /// Queues the phases from `first` to before `end` (see [`AcsArgs::first`]), or whole tours where updates are relaxed.
    fn launch(&mut self, (first, end): (u32, u32)) -> Result<(), BackendError> {
        let args = AcsArgs { first, end, ..self.args() };
        let a = &mut self.ants;
        let back = if a.problem.is_directed() { &a.successor } else { &a.predecessor };
        let together = self.spec.update == Update::Atomic && end - first > 1;
        let kernel = &self.plan.kernel;
        // SAFETY: `CudaAcs::new` made the arrays, and `Plan` the launch, for this problem.
        unsafe {
            kernel.launch_as(
                together,
                a.device.stream(),
                self.plan.launch,
                args,
                buffers::ConstructAcs {
                    state: &a.state,
                    lists: &a.lists,
                    heuristic: &self.heuristic,
                    reserves: &a.reserves,
                    successor: &a.successor,
                    predecessor: back,
                    points: &a.points,
                    matrix: &a.matrix,
                    trails: &mut self.trails,
                    tails: &mut self.tails,
                    memory: &mut self.memory,
                    arrivals: &mut self.arrivals,
                    tours: &mut a.tours,
                },
            )
        }
    }
}

impl<'p> Iterate<'p> for CudaAcs<'p> {
    fn ants(&mut self) -> &mut Ants<'p> {
        &mut self.ants
    }

    fn construct(&mut self) -> Result<(), BackendError> {
        let end = self.args().end;
        if self.spec.each_phase && self.spec.update == Update::Atomic {
            return (0..end).try_for_each(|phase| self.launch((phase, phase + 1)));
        }
        self.launch((0, end))
    }

    fn depositor(&mut self) -> Depositor {
        Depositor::Best
    }

    fn update(&mut self) -> Result<(), BackendError> {
        let (args, launch, a) = (self.args(), self.row_launch(), &self.ants);
        // SAFETY: `CudaAcs::new` made the arrays for this problem.
        unsafe {
            self.deposit.launch(
                a.device.stream(),
                launch,
                args,
                buffers::DepositAcs {
                    state: &a.state,
                    lists: &a.lists,
                    successor: &a.successor,
                    predecessor: &a.predecessor,
                    trails: &mut self.trails,
                    tails: &mut self.tails,
                },
            )
        }
    }
}

impl Colony for CudaAcs<'_> {
    fn run(&mut self, iterations: u32, enough: Enough) -> Result<ColonyState, BackendError> {
        for _ in 0..iterations {
            self.iterate()?;
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
        state.put(&self.tails.to_vec(stream)?)
    }

    fn restore(&mut self, state: &mut State) -> Result<ColonyState, BackendError> {
        let restored = self.ants.restore(state)?;
        let (trails, words) = self.spec.take_memory(self.ants.problem, state)?;
        let stream = self.ants.device.stream();
        self.trails.write(stream, &trails)?;
        self.tails.write(stream, &words)?;
        Ok(restored)
    }

    fn phases(&mut self) -> Result<Phases, BackendError> {
        self.ants.phases()
    }

    fn describe(&self) -> String {
        self.plan.describe(&self.spec, self.ants.problem)
    }
}
