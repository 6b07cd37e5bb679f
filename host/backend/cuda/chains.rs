//! Chains of iterated local search on a GPU. Tours stay in device memory for the whole run; after a batch of rounds
//! the host reads [`ChainsState`], a few numbers.

use antwarp_core::kernels::{JudgeChainsArgs, TilesArgs, ToursArgs};
use antwarp_core::local_search::chain::{Accept, Rules};
use antwarp_core::local_search::chains::ChainsState;
use antwarp_core::local_search::tile::Layout;
use cudarc::driver::sys::CUfunction_attribute;

use super::colony::driver;
use super::tables::{device_matrix, place_bytes};
use super::{
    Buffer, Compete, Device, ImproveTiles, JudgeChains, KeepBest, Launch, PlaceEntries, StartPieces,
    TEAM_BYTES,
};
use crate::engine::error::bytes;
use crate::engine::{BackendError, Chains, ChainsSpec, Enough, LocalSearch, Places, Problem, Round, Tiling};

/// Nodes of a tile.
const TILE: u32 = 750;
/// Warps of a tile: nodes that they look at together.
pub const WIDTH: u32 = 2;
/// Tiles that a multiprocessor works on at once: with more, each gets slower.
const TILES_AT_ONCE: u32 = 4;

/// Tiles of a chain, and as many chains as keep every multiprocessor busy.
pub fn default_chains(device: &Device, problem: &Problem) -> (u32, u32) {
    let tiles = problem.n().div_ceil(TILE);
    let layout = Layout::new::<u16>(
        problem.n().div_ceil(tiles),
        problem.search_k(),
        problem.places().bytes(),
        false,
        WIDTH,
    );
    let fit = (device.shared_limit() / layout.bytes.max(1)).clamp(1, TILES_AT_ONCE);
    (tiles, (fit * device.multiprocessors() / tiles).max(1))
}

/// The names of all kernels that chains may load.
pub fn kernel_names() -> Vec<String> {
    let mut names: Vec<String> =
        ["block_start_pieces", "grid_place_entries", "block_judge_chains", "grid_keep_best", "block_compete"]
            .map(str::to_string)
            .to_vec();
    for operator in ["two_opt", "or_opt", "or_2opt", "three_opt"] {
        names.extend(["grid", "planar", "numbered"].map(|g| format!("block_improve_tiles_{operator}_{g}")));
    }
    names
}

struct Kernels {
    improve: ImproveTiles,
    start: StartPieces,
    place: PlaceEntries,
    judge: JudgeChains,
    keep: KeepBest,
    compete: Compete,
}

impl Kernels {
    fn load(device: &Device, problem: &Problem, local_search: LocalSearch) -> Result<Kernels, BackendError> {
        let operator = local_search.kernel_name().unwrap_or("two_opt");
        let load = |name: String| device.function(&name).map(|function| (name, function));
        let (name, function) =
            load(format!("block_improve_tiles_{operator}_{}", problem.places().kernel_name()))?;
        let improve = ImproveTiles { name, function };
        let (name, function) = load("block_start_pieces".into())?;
        let start = StartPieces { name, function };
        let (name, function) = load("grid_place_entries".into())?;
        let place = PlaceEntries { name, function };
        let (name, function) = load("block_judge_chains".into())?;
        let judge = JudgeChains { name, function };
        let (name, function) = load("grid_keep_best".into())?;
        let keep = KeepBest { name, function };
        let (name, function) = load("block_compete".into())?;
        let compete = Compete { name, function };
        Ok(Kernels { improve, start, place, judge, keep, compete })
    }
}

/// The arrays of a run; of tours, n numbers a chain.
struct Buffers {
    state: Buffer<ChainsState>,
    cells: Vec<Buffer<u32>>,
    lists: Buffer<u32>,
    places: Buffer<u8>,
    points: Buffer<[f64; 3]>,
    matrix: Buffer<i32>,
    order: Buffer<u32>,
    position: Buffer<u32>,
    next_order: Buffer<u32>,
    next_position: Buffer<u32>,
    old: Buffer<u32>,
    piece: Buffer<u32>,
    offset: Buffer<u32>,
    length: Buffer<u32>,
    gains: Buffer<i64>,
    costs: Buffer<i64>,
    next_costs: Buffer<i64>,
    best_tour: Buffer<u32>,
}

impl Buffers {
    fn new(device: &Device, problem: &Problem, spec: &ChainsSpec) -> Result<Buffers, BackendError> {
        let s = device.stream();
        let (n, chains) = (problem.n() as usize, spec.chains as usize);
        let own: Vec<u32> = (0..problem.n()).collect();
        let all = own.repeat(chains);
        let numbered = matches!(problem.places(), Places::Numbered(_));
        let array = || Buffer::zeroed(s, "the chains' tours", n * chains);
        let tours = || Buffer::from_slice(s, "the chains' tours", &all);
        let matrix = if numbered { device_matrix(problem) } else { Vec::new() };
        let points = if numbered { problem.points() } else { &[] };
        Ok(Buffers {
            state: Buffer::from_slice(s, "the state", &[ChainsState::new(spec.start_cost)])?,
            cells: spec
                .cells
                .iter()
                .map(|cells| Buffer::from_slice(s, "the cells", cells))
                .collect::<Result<_, _>>()?,
            lists: Buffer::from_slice(s, "the neighbour lists", problem.neighbors())?,
            places: Buffer::from_slice(s, "the coordinates", &place_bytes(problem.places()))?,
            points: Buffer::from_slice(s, "the coordinates", points)?,
            matrix: Buffer::from_slice(s, "the distance matrix", &matrix)?,
            order: tours()?,
            position: tours()?,
            next_order: array()?,
            next_position: array()?,
            old: array()?,
            piece: array()?,
            offset: array()?,
            length: array()?,
            gains: Buffer::zeroed(s, "the tiles' gains", chains * spec.tiles as usize)?,
            costs: Buffer::from_slice(s, "the chains' costs", &vec![spec.start_cost; chains])?,
            next_costs: Buffer::from_slice(s, "the chains' costs", &vec![spec.start_cost; chains])?,
            best_tour: Buffer::from_slice(s, "the best tour", &own)?,
        })
    }
}

/// Chains whose tours stay in device memory for the whole run.
pub struct CudaChains<'p> {
    device: &'p Device,
    problem: &'p Problem,
    spec: ChainsSpec,
    layout: Layout,
    kernels: Kernels,
    buffers: Buffers,
}

impl<'p> CudaChains<'p> {
    /// Loads the kernels and allocates the arrays.
    ///
    /// # Errors
    /// If the kernels are refused, memory is short, or a tile does not fit a multiprocessor's shared memory.
    pub fn new(device: &'p Device, problem: &'p Problem, spec: &ChainsSpec) -> Result<Self, BackendError> {
        let m = problem.n().div_ceil(spec.tiles);
        let layout = Layout::new::<u16>(
            m,
            problem.search_k(),
            problem.places().bytes(),
            spec.accept == Accept::Always,
            spec.width,
        );
        let shared = TEAM_BYTES + layout.bytes;
        if shared > device.shared_limit() {
            return Err(BackendError::Tile {
                nodes: m,
                needed: bytes(u64::from(shared)),
                limit: bytes(u64::from(device.shared_limit())),
            });
        }
        let kernels = Kernels::load(device, problem, spec.local_search)?;
        let most = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let set = kernels.improve.function.set_attribute(most, shared as i32);
        set.map_err(driver("reserving shared memory"))?;
        let buffers = Buffers::new(device, problem, spec)?;
        Ok(CudaChains { device, problem, spec: spec.clone(), layout, kernels, buffers })
    }

    /// Blocks of 256 threads for so many elements, a few elements a thread where there are many.
    fn spread(&self, elements: usize) -> Launch {
        let most = 16 * self.device.multiprocessors();
        Launch { grid: (elements.div_ceil(256) as u32).clamp(1, most), block: 256, shared: 0 }
    }

    fn round(&mut self, round: &Round) -> Result<(), BackendError> {
        let (n, spec) = (self.problem.n(), &self.spec);
        let (first, cells) = match round.tiles {
            Tiling::Windows(first) => (first, None),
            Tiling::Cells(i) => (0, Some(i)),
        };
        let args = TilesArgs {
            seed: spec.seed,
            rules: Rules {
                kicks: round.kicks,
                first_kick: 0,
                segment: spec.segment,
                accept: spec.accept as u32,
                temperature: round.temperature,
                descend_first: round.descend_first.into(),
                keep_best: (spec.accept == Accept::Always).into(),
                padding: 0,
            },
            layout: self.layout,
            n,
            k: self.problem.search_k(),
            breadth: spec.breadth,
            tiles: spec.tiles,
            round: round.number,
            first,
            cells: cells.is_some().into(),
            metric: self.problem.device_metric(),
        };
        let tours =
            ToursArgs { n, chains: spec.chains, rounds: round.number + 1, rival_bit: round.rival_bit };
        let judge = JudgeChainsArgs { target: spec.target, chains: spec.chains, tiles: spec.tiles };
        let everywhere = self.spread(n as usize * spec.chains as usize);
        let once = self.spread(n as usize);
        let (stream, k, b) = (self.device.stream(), &self.kernels, &mut self.buffers);
        let tiles = Launch {
            grid: spec.chains * spec.tiles,
            block: 32 * spec.width,
            shared: TEAM_BYTES + self.layout.bytes,
        };
        let by_chain = |shared| Launch { grid: spec.chains, block: 1024, shared };
        // SAFETY: `Buffers::new` made the arrays for this problem, `new` reserved the shared memory.
        unsafe {
            let cells = cells.map_or(&b.order, |i| &b.cells[i]);
            k.improve.launch(
                stream,
                tiles,
                args,
                &b.state,
                cells,
                &b.lists,
                &b.order,
                &b.position,
                &b.places,
                &b.points,
                &b.matrix,
                &mut b.old,
                &mut b.piece,
                &mut b.offset,
                &mut b.length,
                &mut b.gains,
            )?;
            k.start.launch(stream, by_chain(4 * 1024), tours, &b.state, &mut b.length)?;
            k.place.launch(
                stream,
                everywhere,
                tours,
                &b.state,
                &b.old,
                &b.piece,
                &b.offset,
                &b.length,
                &b.order,
                &mut b.next_order,
                &mut b.next_position,
            )?;
            std::mem::swap(&mut b.order, &mut b.next_order);
            std::mem::swap(&mut b.position, &mut b.next_position);
            let one = Launch { grid: 1, ..by_chain(TEAM_BYTES) };
            k.judge.launch(stream, one, judge, &b.gains, &mut b.costs, &mut b.state)?;
            k.keep.launch(stream, once, tours, &b.state, &b.order, &mut b.best_tour)?;
            if round.rival_bit != 0 {
                k.compete.launch(
                    stream,
                    by_chain(0),
                    tours,
                    &b.state,
                    &b.costs,
                    &mut b.order,
                    &mut b.position,
                    &mut b.next_costs,
                )?;
                std::mem::swap(&mut b.costs, &mut b.next_costs);
            }
        }
        Ok(())
    }
}

impl Chains for CudaChains<'_> {
    fn run(&mut self, rounds: &[Round], _enough: Enough) -> Result<ChainsState, BackendError> {
        for round in rounds {
            self.round(round)?;
        }
        let mut state = [ChainsState::new(self.spec.start_cost)];
        self.buffers.state.read(self.device.stream(), &mut state)?;
        Ok(state[0])
    }

    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError> {
        self.buffers.best_tour.to_vec(self.device.stream())
    }

    fn describe(&self) -> String {
        let f = &self.kernels.improve.function;
        let blocks = f
            .occupancy_max_active_blocks_per_multiprocessor(
                32 * self.spec.width,
                (TEAM_BYTES + self.layout.bytes) as usize,
                None,
            )
            .unwrap_or(1);
        format!(
            "{} chains, {} tiles a chain of up to {} nodes, {} warps a tile, {} registers a thread, {} shared memory \
             a tile, {blocks} tiles a multiprocessor, places {}",
            self.spec.chains,
            self.spec.tiles,
            self.layout.m,
            self.spec.width,
            f.num_regs().unwrap_or(0),
            bytes(u64::from(self.layout.bytes)),
            self.problem.places().kernel_name(),
        )
    }
}
