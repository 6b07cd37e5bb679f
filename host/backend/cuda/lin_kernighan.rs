//! Chained Lin-Kernighan on a GPU. Tours stay in device memory for the whole run; after a batch of rounds the host reads
//! their lengths.

use antwarp_core::kernels::TrialArgs;
use antwarp_core::lin_kernighan::cuts::MOST;
use antwarp_core::lin_kernighan::merge::{Merged, pairs};
use antwarp_core::lin_kernighan::trial::{self, TrialRound};

use super::colony::{driver, reserve_shared};
use super::device::LONG_GRACE;
use super::tables::{device_matrix, place_bytes};
use super::{Buffer, Device, Launch, PlaceNodes, PlanMerge, RunTrials, TEAM_BYTES};
use crate::backend::cpu::Recombiner;
use crate::engine::lin_kernighan::{MOST_TRIALS, Spec};
use crate::engine::{BackendError, Enough, LinKernighan, LocalSearch, Places, Problem, Reached, Trials};
use crate::memory::bytes;

/// Warps of a block that makes trials.
const WARPS: u32 = 4;
/// Nodes of a tour for every trial of a round. Many changes share nodes then; but one tour with as many trials as
/// there are warps gets shorter than several tours with fewer each.
const NODES: u32 = 9;
/// Of fewer nodes there are several tours, which are recombined: with [`FEW_NODES`] for every trial, and [`TRIALS`] trials of
/// all tours for every multiprocessor.
const FEW: u32 = 25_000;
const FEW_NODES: u32 = 25;
const TRIALS: u32 = 24;
/// Nodes of a tour for every block that plans a merge.
const NODES_A_BLOCK: u32 = 2048;
/// Most tours: more of them have too few kicks each.
const CHAINS: u32 = 32;

/// Tours and trials that keep every multiprocessor busy.
pub fn default_trials(device: &Device, n: u32) -> Trials {
    if n >= FEW {
        return Trials { chains: 1, trials: (n / NODES).min(MOST_TRIALS) };
    }
    let trials = (n / FEW_NODES).max(1);
    let chains = (TRIALS * device.multiprocessors()).div_ceil(trials);
    Trials { chains: chains.clamp(1, CHAINS.min(device.multiprocessors())), trials }
}

/// Trials in a round of each of several tours: all together twice as many as keep every multiprocessor busy.
pub fn trials(device: &Device, n: u32, chains: u32) -> u32 {
    (2 * TRIALS * device.multiprocessors() / chains).min(n / FEW_NODES).max(1)
}

/// The names of all kernels that may be loaded.
pub fn kernel_names() -> Vec<String> {
    let mut names = vec!["blocks_plan_merge".to_string()];
    for geometry in ["grid", "planar", "numbered"] {
        let kernels = ["block_run_trials_deep", "block_run_trials_shallow", "grid_place_nodes"];
        names.extend(kernels.map(|kernel| format!("{kernel}_{geometry}")));
    }
    names
}

struct Kernels {
    run: RunTrials,
    plan: PlanMerge,
    place: PlaceNodes,
}

impl Kernels {
    fn load(
        device: &Device,
        problem: &Problem,
        local_search: Option<LocalSearch>,
    ) -> Result<Kernels, BackendError> {
        let geometry = problem.places().kernel_name();
        let reach = if local_search.is_some() { "shallow" } else { "deep" };
        let load = |name: String| device.function(&name).map(|function| (name, function));
        let (name, function) = load(format!("block_run_trials_{reach}_{geometry}"))?;
        let run = RunTrials { name, function };
        let (name, function) = load("blocks_plan_merge".into())?;
        let plan = PlanMerge { name, function };
        let (name, function) = load(format!("grid_place_nodes_{geometry}"))?;
        let place = PlaceNodes { name, function };
        Ok(Kernels { run, plan, place })
    }
}

/// The arrays of a run; a tour's part behind another's.
struct Buffers {
    lists: Buffer<u32>,
    near: Buffer<i32>,
    places: Buffer<u8>,
    points: Buffer<[f64; 3]>,
    matrix: Buffer<i32>,
    order: Buffer<u32>,
    ahead: Buffer<i32>,
    position: Buffer<u32>,
    next_order: Buffer<u32>,
    next_ahead: Buffer<i32>,
    begun: Buffer<u32>,
    gain: Buffer<i64>,
    count: Buffer<u32>,
    cuts: Buffer<[u32; 3]>,
    claims: Buffer<u64>,
    bits: Buffer<u32>,
    before: Buffer<u32>,
    which: Buffer<u32>,
    at: Buffer<u32>,
    begin: Buffer<u32>,
    next: Buffer<u32>,
    far: Buffer<u32>,
    merged: Buffer<Merged>,
    costs: Buffer<i64>,
    arrivals: Buffer<u64>,
    partials: Buffer<u64>,
}

impl Buffers {
    fn new(device: &Device, problem: &Problem, spec: &Spec, begin: &Begin) -> Result<Buffers, BackendError> {
        let s = device.stream();
        let (n, chains) = (problem.n() as usize, spec.chains as usize);
        let numbered = matches!(problem.places(), Places::Numbered(_));
        let matrix = if numbered { device_matrix(problem) } else { Vec::new() };
        let points = if numbered { problem.points() } else { &[] };
        let (what, all) = ("the tours", n * chains);
        let numbers = |len: usize| Buffer::<u32>::zeroed(s, what, len);
        let trials = spec.trials as usize * chains;
        let words = (n / 32 + 1) * chains;
        let pairs = pairs(problem.n()) as usize * chains;
        Ok(Buffers {
            lists: Buffer::from_slice(s, "the neighbour lists", problem.neighbors())?,
            near: Buffer::from_slice(s, "the neighbour lists", &problem.neighbor_lengths())?,
            places: Buffer::from_slice(s, "the coordinates", &place_bytes(problem.places()))?,
            points: Buffer::from_slice(s, "the coordinates", points)?,
            matrix: Buffer::from_slice(s, "the distance matrix", &matrix)?,
            order: Buffer::from_slice(s, what, &begin.order)?,
            ahead: Buffer::from_slice(s, what, &begin.ahead)?,
            position: Buffer::from_slice(s, what, &begin.position)?,
            next_order: numbers(all)?,
            next_ahead: Buffer::zeroed(s, what, all)?,
            begun: numbers(1)?,
            gain: Buffer::zeroed(s, "the trials", trials)?,
            count: Buffer::zeroed(s, "the trials", trials)?,
            cuts: Buffer::zeroed(s, "the trials", trials * MOST as usize)?,
            claims: Buffer::zeroed(s, what, all)?,
            bits: numbers(words)?,
            before: numbers(words)?,
            which: numbers(all)?,
            at: numbers(all)?,
            begin: numbers(all)?,
            next: numbers(pairs)?,
            far: numbers(pairs)?,
            merged: Buffer::zeroed(s, what, chains)?,
            costs: Buffer::from_slice(s, what, &begin.costs)?,
            arrivals: Buffer::zeroed(s, what, chains)?,
            partials: Buffer::zeroed(s, what, chains * device.multiprocessors() as usize)?,
        })
    }
}

/// What the tours begin as.
struct Begin {
    order: Vec<u32>,
    ahead: Vec<i32>,
    position: Vec<u32>,
    costs: Vec<i64>,
}

impl Begin {
    fn new(problem: &Problem, spec: &Spec) -> Result<Begin, BackendError> {
        let chains = spec.chains as usize;
        if spec.starts.is_empty() {
            let own: Vec<u32> = (0..problem.n()).collect();
            let order = own.repeat(chains);
            let ahead = problem.step_lengths().repeat(chains);
            return Ok(Begin { position: order.clone(), order, ahead, costs: vec![spec.start_cost; chains] });
        }
        let mut all =
            Begin { order: spec.starts.clone(), ahead: Vec::new(), position: Vec::new(), costs: Vec::new() };
        let mut recombiner = Recombiner::new(problem)?;
        for tour in spec.starts.chunks_exact(problem.n() as usize) {
            recombiner.begin(tour);
            let ahead = recombiner.tour_and_steps().1;
            all.costs.push(ahead.iter().map(|&a| i64::from(a)).sum());
            all.ahead.extend(ahead);
            all.position.extend(recombiner.positions());
        }
        Ok(all)
    }

    /// The shortest of the tours.
    fn best(&self, n: usize) -> Vec<u32> {
        let shortest = (0..self.costs.len()).min_by_key(|&i| self.costs[i]).unwrap_or(0);
        self.order[shortest * n..][..n].to_vec()
    }
}

/// Tours that stay in device memory for the whole run.
pub struct CudaLinKernighan<'p> {
    device: &'p Device,
    problem: &'p Problem,
    spec: Spec,
    /// Blocks that make trials at the same time.
    blocks: u32,
    kernels: Kernels,
    buffers: Buffers,
    costs: Vec<i64>,
    best_tour: Vec<u32>,
    reached: Reached,
}

impl<'p> CudaLinKernighan<'p> {
    /// Loads the kernels and allocates the arrays.
    ///
    /// # Errors
    /// If the kernels are refused, or memory is short.
    pub fn new(device: &'p Device, problem: &'p Problem, spec: &Spec) -> Result<Self, BackendError> {
        let kernels = Kernels::load(device, problem, spec.local_search)?;
        reserve_shared(&kernels.run.function, Self::shared())?;
        let blocks = kernels
            .run
            .function
            .occupancy_max_active_blocks_per_multiprocessor(32 * WARPS, Self::shared() as usize, None)
            .map_err(driver("asking for room on a multiprocessor"))?;
        let begin = Begin::new(problem, spec)?;
        let reached = Reached { cost: spec.start_cost, best_cost: spec.start_cost, trials: 0, offered: 0 };
        Ok(CudaLinKernighan {
            device,
            problem,
            spec: spec.clone(),
            blocks: blocks.max(1) * device.multiprocessors(),
            kernels,
            buffers: Buffers::new(device, problem, spec, &begin)?,
            best_tour: begin.best(problem.n() as usize),
            costs: begin.costs,
            reached,
        })
    }

    /// Shared memory of a block that makes trials.
    const fn shared() -> u32 {
        4 * trial::WORDS * WARPS
    }

    fn args(&self, round: TrialRound) -> TrialArgs {
        TrialArgs {
            round,
            n: self.problem.n(),
            k: self.problem.search_k(),
            chains: self.spec.chains,
            metric: self.problem.device_metric(),
            reach: self.spec.local_search.unwrap_or_default().reach(),
            padding: 0,
        }
    }

    fn round(&mut self, round: TrialRound) -> Result<(), BackendError> {
        let (n, chains, args) = (self.problem.n(), self.spec.chains, self.args(round));
        let (stream, k, b) = (self.device.stream(), &self.kernels, &mut self.buffers);
        let blocks = (chains * round.trials).div_ceil(WARPS).min(self.blocks);
        let run = Launch { grid: blocks, block: 32 * WARPS, shared: Self::shared() };
        // Many threads for few nodes would wait for each other only.
        let most = (self.device.multiprocessors() / chains).max(1);
        let planners = n.div_ceil(NODES_A_BLOCK).clamp(1, most);
        let plan = Launch { grid: chains * planners, block: 1024, shared: TEAM_BYTES };
        let spread = (n as usize * chains as usize).div_ceil(256) as u32;
        let place =
            Launch { grid: spread.clamp(1, 16 * self.device.multiprocessors()), block: 256, shared: 0 };
        // SAFETY: `Buffers::new` made the arrays for this problem and at least so many trials.
        unsafe {
            k.run.launch(
                stream,
                run,
                args,
                &b.order,
                &b.position,
                &b.ahead,
                &b.lists,
                &b.near,
                &b.places,
                &b.points,
                &b.matrix,
                &mut b.begun,
                &mut b.gain,
                &mut b.count,
                &mut b.cuts,
            )?;
            k.plan.launch_as(
                planners > 1,
                stream,
                plan,
                args,
                &b.order,
                &b.position,
                &b.gain,
                &mut b.count,
                &b.cuts,
                &mut b.claims,
                &mut b.bits,
                &mut b.before,
                &mut b.which,
                &mut b.at,
                &mut b.begin,
                &mut b.next,
                &mut b.far,
                &mut b.merged,
                &mut b.costs,
                &mut b.begun,
                &mut b.arrivals,
                &mut b.partials,
            )?;
            k.place.launch(
                stream,
                place,
                args,
                &b.order,
                &b.ahead,
                &b.places,
                &b.points,
                &b.matrix,
                &b.cuts,
                &b.bits,
                &b.before,
                &b.which,
                &b.at,
                &b.begin,
                &b.merged,
                &mut b.next_order,
                &mut b.next_ahead,
                &mut b.position,
            )?;
        }
        std::mem::swap(&mut b.order, &mut b.next_order);
        std::mem::swap(&mut b.ahead, &mut b.next_ahead);
        Ok(())
    }
}

impl LinKernighan for CudaLinKernighan<'_> {
    fn run(&mut self, rounds: &[TrialRound], enough: Enough) -> Result<Reached, BackendError> {
        for &round in rounds {
            self.round(round)?;
        }
        self.device.wait(enough, LONG_GRACE)?;
        self.buffers.costs.read(self.device.stream(), &mut self.costs)?;
        let mut merged = vec![Merged::default(); self.costs.len()];
        self.buffers.merged.read(self.device.stream(), &mut merged)?;
        self.reached.offered = merged.iter().map(|merged| u64::from(merged.offered)).sum();
        self.reached.trials = rounds.iter().map(|round| u64::from(round.trials)).sum();
        if let Some((chain, &cost)) = self.costs.iter().enumerate().min_by_key(|(_, cost)| **cost) {
            self.reached.cost = cost;
            if cost < self.reached.best_cost {
                let first = chain * self.problem.n() as usize;
                self.buffers.order.read_from(self.device.stream(), first, &mut self.best_tour)?;
                self.reached.best_cost = cost;
            }
        }
        Ok(self.reached)
    }

    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError> {
        Ok(self.best_tour.clone())
    }

    fn tours(&mut self) -> Result<Vec<u32>, BackendError> {
        self.buffers.order.to_vec(self.device.stream())
    }

    fn recombine(&mut self) -> Result<Reached, BackendError> {
        if self.spec.chains < 2 {
            return Ok(self.reached);
        }
        let (stream, n) = (self.device.stream(), self.problem.n() as usize);
        let all = self.tours()?;
        let mut tours: Vec<(i64, &[u32])> = self.costs.iter().copied().zip(all.chunks(n)).collect();
        tours.sort_by_key(|&(cost, _)| cost);
        let mut recombiner = Recombiner::new(self.problem)?;
        recombiner.begin(tours[0].1);
        let gain: i64 = tours[1..].iter().map(|(_, tour)| recombiner.join(tour)).sum();
        let cost = tours[0].0 - gain;
        let (order, ahead) = recombiner.tour_and_steps();
        let chains = self.spec.chains as usize;
        self.costs.fill(cost);
        self.buffers.order.write(stream, &order.repeat(chains))?;
        self.buffers.ahead.write(stream, &ahead.repeat(chains))?;
        self.buffers.position.write(stream, &recombiner.positions().repeat(chains))?;
        self.buffers.costs.write(stream, &self.costs)?;
        self.reached.cost = cost;
        if cost < self.reached.best_cost {
            self.reached.best_cost = cost;
            self.best_tour.copy_from_slice(order);
        }
        Ok(self.reached)
    }

    fn describe(&self) -> String {
        let f = &self.kernels.run.function;
        format!(
            "{} tours, one warp a trial, {} trials at once, {} registers a thread, {} shared memory a trial, {} \
             neighbours, places {}",
            self.spec.chains,
            self.blocks * WARPS,
            f.num_regs().unwrap_or(0),
            bytes(u64::from(4 * trial::WORDS)),
            self.problem.search_k(),
            self.problem.places().kernel_name(),
        )
    }
}
