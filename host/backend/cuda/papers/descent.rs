//! Best improvement on a GPU. The tours stay in device memory for the whole run; after a batch of passes the host reads
//! [`DescentState`], a few numbers.

use antwarp_core::kernels::PassArgs;
use antwarp_core::papers::local_search::best::{DescentState, Proposal};
use antwarp_core::papers::local_search::moves::scratch_words;
use antwarp_core::papers::local_search::perturb::STEPS;
use warpsmith::Event;

use super::colony::WARP;
use crate::backend::cuda::device::LONG_GRACE;
use crate::backend::cuda::error::failed;
use crate::backend::cuda::tables::{device_matrix, place_bytes};
use crate::backend::cuda::{
    Buffer, Device, Launch, MakeMoves, ProposeMoves, SelectMove, SettleTours, TEAM_BYTES, TurnStretch,
    buffers,
};
use crate::engine::{BackendError, Descent, DescentSpec, Enough, Pass, Places, Problem, State, each_pass};
use crate::instance::counted;

/// Threads of a block that evaluates moves, with a warp per node.
const BLOCK: u32 = 256;
/// Number of such blocks per multiprocessor: enough to balance nodes with more moves to evaluate.
const BLOCKS: u32 = 16;
/// Passes whose evaluation is timed.
const TIMED: u64 = 1000;

/// Returns the names of all kernels that a descent may load.
pub fn kernel_names() -> Vec<String> {
    let geometries = ["grid", "planar", "numbered"];
    let mut names: Vec<String> =
        ["grid_make_moves", "grid_settle_tours", "grid_turn_stretch"].map(str::to_string).to_vec();
    names.extend(geometries.map(|g| format!("block_select_move_{g}")));
    for operator in ["two_opt", "or_opt", "or_2opt", "three_opt"] {
        names.extend(geometries.map(|g| format!("block_propose_moves_{operator}_{g}")));
    }
    names
}

struct Kernels {
    propose: ProposeMoves,
    select: SelectMove,
    make: MakeMoves,
    settle: SettleTours,
    turn: TurnStretch,
}

impl Kernels {
    fn load(device: &Device, problem: &Problem, spec: &DescentSpec) -> Result<Kernels, BackendError> {
        let operator = spec.local_search.kernel_name().unwrap_or("two_opt");
        let geometry = problem.places().kernel_name();
        let load = |name: String| device.function(&name).map(|function| (name, function));
        let (name, function) = load(format!("block_propose_moves_{operator}_{geometry}"))?;
        let propose = ProposeMoves { name, function };
        let (name, function) = load(format!("block_select_move_{geometry}"))?;
        let select = SelectMove { name, function };
        let (name, function) = load("grid_make_moves".into())?;
        let make = MakeMoves { name, function };
        let (name, function) = load("grid_settle_tours".into())?;
        let settle = SettleTours { name, function };
        let (name, function) = load("grid_turn_stretch".into())?;
        let turn = TurnStretch { name, function };
        Ok(Kernels { propose, select, make, settle, turn })
    }
}

struct Buffers {
    state: Buffer<DescentState>,
    lists: Buffer<u32>,
    places: Buffer<u8>,
    points: Buffer<[f64; 3]>,
    matrix: Buffer<i32>,
    order: Buffer<u32>,
    position: Buffer<u32>,
    accepted_order: Buffer<u32>,
    accepted_position: Buffer<u32>,
    best_tour: Buffer<u32>,
    /// [`Proposal`]s.
    proposals: Buffer<u8>,
    claims: Buffer<u64>,
    ranks: Buffer<u64>,
}

impl Buffers {
    fn new(
        device: &Device,
        problem: &Problem,
        spec: &DescentSpec,
        blocks: u32,
    ) -> Result<Buffers, BackendError> {
        let s = device.stream();
        let n = problem.n() as usize;
        let own: Vec<u32> = (0..problem.n()).collect();
        let tour = || Buffer::from_slice(s, "the tours", &own);
        let numbered = matches!(problem.places(), Places::Numbered(_));
        let matrix = if numbered { device_matrix(problem) } else { Vec::new() };
        let points = if numbered { problem.points() } else { &[] };
        Ok(Buffers {
            state: Buffer::from_slice(s, "the state", &[DescentState::new(spec.start_cost)])?,
            lists: Buffer::from_slice(s, "the neighbour lists", problem.neighbors())?,
            places: Buffer::from_slice(s, "the coordinates", &place_bytes(problem.places()))?,
            points: Buffer::from_slice(s, "the coordinates", points)?,
            matrix: Buffer::from_slice(s, "the distance matrix", &matrix)?,
            order: tour()?,
            position: tour()?,
            accepted_order: tour()?,
            accepted_position: tour()?,
            best_tour: tour()?,
            proposals: Buffer::zeroed(s, "the moves", n * size_of::<Proposal>())?,
            claims: Buffer::zeroed(s, "the claims", if spec.many { n } else { 0 })?,
            ranks: Buffer::zeroed(s, "the moves' ranks", blocks as usize)?,
        })
    }
}

/// A descent whose tours stay in device memory for the whole run.
pub struct CudaDescent<'p> {
    device: &'p Device,
    problem: &'p Problem,
    spec: DescentSpec,
    blocks: u32,
    kernels: Kernels,
    buffers: Buffers,
    state: DescentState,
    evaluation: Pass,
}

impl<'p> CudaDescent<'p> {
    /// Loads the kernels and allocates the arrays. A spec without local search means 2-opt.
    ///
    /// # Errors
    /// If the kernels are rejected, or memory is short.
    pub fn new(device: &'p Device, problem: &'p Problem, spec: &DescentSpec) -> Result<Self, BackendError> {
        let blocks = problem.n().div_ceil(BLOCK / 32).min(BLOCKS * device.multiprocessors());
        Ok(CudaDescent {
            device,
            problem,
            spec: spec.clone(),
            blocks,
            kernels: Kernels::load(device, problem, spec)?,
            buffers: Buffers::new(device, problem, spec, blocks)?,
            state: DescentState::new(spec.start_cost),
            evaluation: Pass::default(),
        })
    }

    fn args(&self, temperature: f32) -> PassArgs {
        let (problem, spec) = (self.problem, &self.spec);
        PassArgs {
            seed: spec.seed,
            target: spec.target,
            kicks: spec.kicks_at(temperature),
            n: problem.n(),
            k: problem.search_k(),
            breadth: spec.breadth,
            metric: problem.device_metric(),
            blocks: self.blocks,
            many: spec.many.into(),
            step: 0,
            padding: 0,
        }
    }

    /// Queues a pass; with `timed`, returns the events before and after its evaluation.
    fn pass(&mut self, temperature: f32, timed: bool) -> Result<Option<[Event; 2]>, BackendError> {
        let (problem, spec) = (self.problem, &self.spec);
        let args = self.args(temperature);
        let (stream, k, b) = (self.device.stream(), &self.kernels, &mut self.buffers);
        let event = || timed.then(|| stream.record()).transpose().map_err(failed("timing kernels"));
        let scratch = 8 * scratch_words(WARP) * (BLOCK / WARP);
        let propose = Launch { grid: self.blocks, block: BLOCK, shared: TEAM_BYTES + scratch };
        let threads = problem.n().div_ceil(BLOCK).min(BLOCKS * self.device.multiprocessors());
        let spread = Launch { grid: threads, block: BLOCK, shared: 0 };
        let before = event()?;
        // SAFETY: `Buffers::new` made the arrays for this problem.
        unsafe {
            k.propose.launch(
                stream,
                propose,
                args,
                buffers::ProposeMoves {
                    lists: &b.lists,
                    order: &b.order,
                    position: &b.position,
                    places: &b.places,
                    points: &b.points,
                    matrix: &b.matrix,
                    state: &mut b.state,
                    proposals: &mut b.proposals,
                    claims: &mut b.claims,
                    ranks: &mut b.ranks,
                },
            )?;
            k.select.launch(
                stream,
                Launch { grid: 1, ..propose },
                args,
                buffers::SelectMove {
                    order: &b.order,
                    position: &b.position,
                    accepted_order: &b.accepted_order,
                    places: &b.places,
                    points: &b.points,
                    matrix: &b.matrix,
                    proposals: &b.proposals,
                    ranks: &b.ranks,
                    state: &mut b.state,
                },
            )?;
        }
        let after = event()?;
        // SAFETY: as above.
        unsafe {
            if spec.many {
                let warps = Launch { shared: 0, ..propose };
                k.make.launch(
                    stream,
                    warps,
                    args,
                    buffers::MakeMoves {
                        proposals: &b.proposals,
                        claims: &b.claims,
                        state: &mut b.state,
                        order: &mut b.order,
                        position: &mut b.position,
                    },
                )?;
            }
            k.settle.launch(
                stream,
                spread,
                args,
                buffers::SettleTours {
                    state: &b.state,
                    order: &mut b.order,
                    position: &mut b.position,
                    accepted_order: &mut b.accepted_order,
                    accepted_position: &mut b.accepted_position,
                    best_tour: &mut b.best_tour,
                    claims: &mut b.claims,
                },
            )?;
            for step in 0..STEPS {
                let args = PassArgs { step, ..args };
                k.turn.launch(
                    stream,
                    spread,
                    args,
                    buffers::TurnStretch { state: &b.state, order: &mut b.order, position: &mut b.position },
                )?;
            }
        }
        Ok(before.zip(after).map(|(before, after)| [before, after]))
    }
}

impl Descent for CudaDescent<'_> {
    fn run(&mut self, passes: u32, temperature: f32, enough: Enough) -> Result<DescentState, BackendError> {
        let left = TIMED.saturating_sub(self.evaluation.passes);
        let mut events = Vec::new();
        for pass in 0..u64::from(passes) {
            events.extend(self.pass(temperature, pass < left)?);
        }
        let mut state = [self.state];
        self.device.wait(enough, LONG_GRACE)?;
        self.buffers.state.read(self.device.stream(), &mut state)?;
        // Passes after the last one did nothing.
        let done = (state[0].passes - self.state.passes) as usize;
        for [before, after] in events.iter().take(done) {
            self.evaluation.passes += 1;
            self.evaluation.time += after.since(before).map_err(failed("timing kernels"))?;
        }
        self.state = state[0];
        Ok(self.state)
    }

    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError> {
        self.device.check_idle()?;
        let on_the_way = self.state.cost < self.state.best_cost;
        let tour = if on_the_way { &self.buffers.order } else { &self.buffers.best_tour };
        tour.to_vec(self.device.stream())
    }

    fn save(&mut self, state: &mut State) -> Result<(), BackendError> {
        self.device.check_idle()?;
        let (stream, b) = (self.device.stream(), &self.buffers);
        state.put(&[self.state])?;
        [&b.order, &b.accepted_order, &b.best_tour]
            .into_iter()
            .try_for_each(|tour| state.put(&tour.to_vec(stream)?))
    }

    fn restore(&mut self, state: &mut State) -> Result<DescentState, BackendError> {
        let (stream, n, b) = (self.device.stream(), self.problem.n(), &mut self.buffers);
        self.state = self.spec.resumed(state.take_one(self.state)?);
        b.state.write(stream, &[self.state])?;
        for (order, position) in
            [(&mut b.order, &mut b.position), (&mut b.accepted_order, &mut b.accepted_position)]
        {
            let tour = state.take_tour(n)?;
            let mut positions = vec![0; tour.len()];
            (0..).zip(&tour).for_each(|(p, &node)| positions[node as usize] = p);
            order.write(stream, &tour)?;
            position.write(stream, &positions)?;
        }
        b.best_tour.write(stream, &state.take_tour(n)?)?;
        Ok(self.state)
    }

    fn evaluation(&self) -> Pass {
        self.evaluation
    }

    fn describe(&self) -> String {
        format!(
            "one tour, {} per pass, a warp per node, {} of {BLOCK} threads, {} registers per thread, {}, places {}",
            self.spec.moves(),
            counted(self.blocks as usize, "block"),
            self.kernels.propose.function.facts().registers,
            each_pass(self.evaluation),
            self.problem.places().kernel_name(),
        )
    }
}
