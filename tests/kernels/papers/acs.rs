//! `warp_build_acs_*` and `warp_walk_acs_*`: tours of Ant Colony System, and the trails that ants change as they go;
//! `warp_prepare_acs_*` and `warp_deposit_acs_*`: the pheromone memories between iterations.

use antwarp::backend::cuda::{Buffer, ConstructAcs, DepositAcs, Device, Launch, PrepareAcs, buffers};
use antwarp_core::distance::Distances;
use antwarp_core::kernels::AcsArgs;
use antwarp_core::metric::Metric;
use antwarp_core::node::NodeId;
use antwarp_core::papers::ants::acs::{self, Rule, World, memory_bytes};
use antwarp_core::papers::ants::colony::{ColonyState, Limits};
use antwarp_core::papers::ants::construct::{self, row_stride};
use antwarp_core::papers::ants::pheromone::matrix::FAR;
use antwarp_core::papers::ants::pheromone::selective::{IS_FAR, stride};
use antwarp_core::papers::ants::pheromone::{
    Atomic, Candidate, CandidateTrails, MatrixTrails, Memory, Selective,
};
use antwarp_core::papers::ants::tabu::NONE;
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Slots};

use crate::gpu::{
    LARGE, Poison, assert_same, download, gpu, guarded, id_bytes, ids, load, poisoned, sizes, small, upload,
};
use crate::harness::ignore;
use crate::input::{Geometry, Random, is_tour, metrics, numbers, typed};
use crate::papers::construct::{Place, assert_same_tours, has_shared, state};

const SIZES: [u32; 4] = [9, 33, 64, 150];
/// Fewer than a warp, a warp and more; all other nodes are a number of candidates too.
const CANDIDATES: [u32; 3] = [4, 32, 40];
const BETAS: [f32; 2] = [3.0, 2.5];
const SLOTS: [u32; 3] = [1, 8, 13];
const ITERATIONS: u32 = 3;
/// What the edges of a tour that deposits are drawn towards; above the first trail of all edges here.
const DEPOSIT: f32 = 0.7;
/// Warps of blocks that have a row each.
const ROW_WARPS: [u32; 3] = [1, 3, 8];
const ROW_GRID: u32 = 3;
/// Most warps of a block of ants, step by step; whole tours: [`MOST_BUILDING`].
const MOST_WALKING: u32 = 20;
const MOST_BUILDING: u32 = 4;

/// A pheromone memory, in arrays as kernels have them.
trait Trails<I>: Memory {
    /// As in the names of kernels.
    const NAME: &str;
    /// Numbers of edges that a node remembers; one that means nothing where there is no such number.
    const SLOTS: &[u32] = &[0];

    /// 32-bit words of trails, and beside them.
    fn words(args: AcsArgs) -> (usize, usize);

    /// # Safety
    /// The arrays have the sizes that `args` and [`Trails::words`] tell; trails are at a 16-byte boundary.
    unsafe fn view(args: AcsArgs, lists: *const I, trails: *mut u32, tails: *mut u32) -> Self;

    /// Words of a memory that has been used, by chance.
    fn random(args: AcsArgs, random: &mut Random) -> Table {
        let (trails, _) = Self::words(args);
        Table { trails: (0..trails).map(|_| random_trail(random)).collect(), tails: Vec::new() }
    }

    /// Makes 0 of the trails that nobody reads.
    fn hide(_args: AcsArgs, _lists: &[I], _trails: &mut [u32]) {}

    /// The trails by their bits, and the nodes of a ring beside them.
    fn parts(trails: &[u32]) -> (Vec<u32>, Vec<u32>) {
        (trails.to_vec(), Vec::new())
    }

    /// Whether the words beside the trails can be such.
    fn is_valid(_args: AcsArgs, _tails: &[u32]) -> bool {
        true
    }
}

fn random_trail(random: &mut Random) -> u32 {
    (random.unit() as f32).to_bits()
}

impl<I: NodeId> Trails<I> for CandidateTrails<I> {
    const NAME: &str = "candidate";

    fn words(args: AcsArgs) -> (usize, usize) {
        (args.n as usize * args.k as usize, 0)
    }

    unsafe fn view(args: AcsArgs, lists: *const I, trails: *mut u32, _: *mut u32) -> Self {
        // SAFETY: the caller's promise.
        let trails = unsafe { Slots::new(trails.cast(), args.n as usize * args.k as usize) };
        CandidateTrails { form: Candidate { lists, k: args.k }, trails, fresh: args.fresh != 0 }
    }
}

impl<I: NodeId> Trails<I> for MatrixTrails<I> {
    const NAME: &str = "matrix";

    fn words(args: AcsArgs) -> (usize, usize) {
        let n = args.n as usize;
        (n * args.k as usize + n * row_stride(args.n) as usize, n * FAR as usize)
    }

    unsafe fn view(args: AcsArgs, lists: *const I, trails: *mut u32, tails: *mut u32) -> Self {
        let (n, near) = (args.n as usize, args.n as usize * args.k as usize);
        // SAFETY: the caller's promise; the matrix lies behind the candidates' trails.
        unsafe {
            MatrixTrails {
                near: CandidateTrails::view(args, lists, trails, tails),
                all: Slots::new(trails.cast::<f32>().add(near), n * row_stride(args.n) as usize),
                n: args.n,
                far: Slots::new(tails, n * FAR as usize),
            }
        }
    }

    fn random(args: AcsArgs, random: &mut Random) -> Table {
        let trails = CandidateTrails::<I>::random(args, random).trails;
        let all = (0..args.n * row_stride(args.n)).map(|_| random_trail(random));
        let trails = trails.into_iter().chain(all).collect();
        let mut tails = Vec::new();
        for _ in 0..args.n {
            tails.push(random.below(FAR + 1));
            tails.extend((1..FAR).map(|_| random.below(args.n)));
        }
        Table { trails, tails }
    }

    fn hide(args: AcsArgs, lists: &[I], trails: &mut [u32]) {
        let matrix = (args.n * args.k) as usize;
        for (node, list) in lists.chunks(args.k as usize).enumerate() {
            let row = matrix + node * row_stride(args.n) as usize;
            list.iter().for_each(|v| trails[row + v.get() as usize] = 0);
        }
    }

    fn is_valid(args: AcsArgs, tails: &[u32]) -> bool {
        tails
            .chunks(FAR as usize)
            .all(|row| row[0] <= FAR && row[1..].iter().take(row[0] as usize).all(|&v| v < args.n))
    }
}

impl<I: NodeId> Trails<I> for Selective {
    const NAME: &str = "selective";
    const SLOTS: &[u32] = &SLOTS;

    fn words(args: AcsArgs) -> (usize, usize) {
        let n = args.n as usize;
        (2 * n * stride(args.slots) as usize, n)
    }

    unsafe fn view(args: AcsArgs, _: *const I, trails: *mut u32, tails: *mut u32) -> Self {
        let n = args.n as usize;
        // SAFETY: the caller's promise.
        unsafe {
            Selective {
                edges: Slots::new(trails.cast(), n * stride(args.slots) as usize),
                tails: Slots::new(tails, n),
                slots: args.slots,
                lowest: args.rule.initial,
                fresh: args.fresh != 0,
                passing: args.rule.passing != 0,
            }
        }
    }

    /// Some rings have one node twice, as ants that meet may leave them.
    fn random(args: AcsArgs, random: &mut Random) -> Table {
        let mut trails = Vec::new();
        for _ in 0..args.n {
            let filled = random.below(args.slots + 1);
            for slot in 0..stride(args.slots) {
                let edge = [random.below(args.n), random_trail(random)];
                trails.extend(if slot < filled { edge } else { [NONE, args.rule.initial.to_bits()] });
            }
        }
        Table {
            trails,
            tails: (0..args.n).map(|_| random.below(args.slots) | (random.below(2) * IS_FAR)).collect(),
        }
    }

    fn parts(trails: &[u32]) -> (Vec<u32>, Vec<u32>) {
        (trails.iter().skip(1).step_by(2).copied().collect(), trails.iter().step_by(2).copied().collect())
    }

    fn is_valid(args: AcsArgs, tails: &[u32]) -> bool {
        tails.iter().all(|&tail| tail & !IS_FAR < args.slots)
    }
}

/// What a pheromone memory holds.
#[derive(Clone, Debug, Default)]
struct Table {
    trails: Vec<u32>,
    tails: Vec<u32>,
}

impl Table {
    fn assert_same(&self, what: &str, cpu: &Table) {
        assert_same(&format!("{what}: trails"), &self.trails, &cpu.trails);
        assert_same(&format!("{what}: beside the trails"), &self.tails, &cpu.tails);
    }
}

/// Words at a 16-byte boundary.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Words([u32; 4]);

/// The state of a colony whose work goes on (0) or is done (1).
fn acs_state(done: u32) -> ColonyState {
    ColonyState { limits: Limits { deposit: DEPOSIT, ..state(done).limits }, ..state(done) }
}

fn rule(random: &mut Random, n: u32, period: u32, directed: u32) -> Rule {
    let q0 = [0.0, 0.5, 0.9][random.below(3) as usize];
    Rule {
        patience: Rule::patience(q0),
        period,
        initial: 1.0 / n as f32,
        local: 0.3,
        global: 0.4,
        beta: BETAS[random.below(2) as usize],
        scale: 40.0 * (1.0 + random.unit() as f32),
        directed,
        remembered: random.below(2),
        passing: random.below(2),
    }
}

/// What does not change while ants are at work.
struct Input<I> {
    args: AcsArgs,
    geometry: Geometry,
    lists: Vec<I>,
    reserves: Vec<I>,
    /// A pheromone memory by chance, instead of one that nobody has used.
    used: Option<Table>,
    iterations: u32,
}

/// Arrays that ants and kernels change on the CPU.
struct Tables {
    heuristic: Vec<f32>,
    trails: Vec<Words>,
    tails: Vec<u32>,
    /// The links of the tour that deposited.
    links: [Vec<u32>; 2],
}

/// What an iteration leaves behind.
struct Outcome {
    tours: Vec<u32>,
    /// After the ants.
    built: Table,
    /// After the deposit.
    deposited: Table,
}

impl Tables {
    fn fill(&mut self, table: &Table) {
        for (words, some) in self.trails.iter_mut().zip(table.trails.chunks(4)) {
            words.0[..some.len()].copy_from_slice(some);
        }
        self.tails.copy_from_slice(&table.tails);
    }
}

impl<I: NodeId> Input<I> {
    fn new(
        random: &mut Random,
        (n, k): (u32, u32),
        metric: Option<Metric>,
        rule: Rule,
        (ants, slots): (u32, u32),
    ) -> Self {
        let geometry = Geometry::new(random, n, metric);
        let args = AcsArgs {
            seed: random.bits(),
            memory: memory_bytes(n) as u64,
            rule,
            n,
            ants,
            iteration: 0,
            k,
            metric: geometry.device_metric(),
            // Less than a warp of them, more, and none.
            reserve: [3, 40, 0][k as usize % 3].min(n - 1),
            slots,
            first: 0,
            end: 2 * (n - 1),
            fresh: random.below(2),
        };
        let (lists, reserves) = (typed(&random.lists(n, k)), typed(&random.lists(n, args.reserve)));
        Input { args, geometry, lists, reserves, used: None, iterations: ITERATIONS }
    }

    fn name(&self, kernel: &str) -> String {
        let (a, r, metric) = (self.args, self.args.rule, self.geometry.name());
        let directed = if r.directed == 0 { "" } else { ", directed" };
        let used = if self.used.is_some() { ", used memory" } else { "" };
        let fresh = if a.fresh == 0 { "" } else { ", fresh" };
        format!(
            "{kernel}, {} ants, {} nodes, {} candidates, {} slots, {metric}{directed}{used}{fresh}, period {}, beta {}, patience {}",
            a.ants, a.n, a.k, a.slots, r.period, r.beta, r.patience
        )
    }

    /// Arrays that nobody has filled, and the links of no tour.
    fn poisoned<M: Trails<I>>(&self) -> Tables {
        let (trails, tails) = M::words(self.args);
        Tables {
            heuristic: vec![f32::POISON; self.lists.len()],
            trails: vec![Words([u32::POISON; 4]); trails.div_ceil(4)],
            tails: vec![u32::POISON; tails],
            links: [(); 2].map(|()| (0..self.args.n).collect()),
        }
    }

    /// The world of the ants; valid while the arrays are.
    fn world<M: Trails<I>>(&self, tables: &mut Tables) -> World<I, M, Distances> {
        let Tables { heuristic, trails, tails, links } = tables;
        let [successor, predecessor] = links.each_ref().map(|links| links.as_ptr());
        let args = self.args;
        let (trails, tails) = (trails.as_mut_ptr().cast(), tails.as_mut_ptr());
        World {
            n: args.n,
            rule: args.rule,
            lists: construct::Lists {
                k: args.k,
                nodes: self.lists.as_ptr(),
                weights: heuristic.as_ptr(),
                reserve: args.reserve,
                reserves: self.reserves.as_ptr(),
                successor,
                predecessor: if args.rule.directed == 0 { predecessor } else { successor },
            },
            // SAFETY: `poisoned` made the arrays as large as that.
            memory: unsafe { M::view(args, self.lists.as_ptr(), trails, tails) },
            distance: self.geometry.distances(),
        }
    }

    /// The words of the pheromone memory.
    fn table<M: Trails<I>>(&self, tables: &Tables) -> Table {
        let words = tables.trails.iter().flat_map(|words| words.0);
        Table { trails: words.take(M::words(self.args).0).collect(), tails: tables.tails.clone() }
    }

    /// The arrays as the CPU fills them.
    fn prepared<M: Trails<I>>(&self) -> Tables {
        let mut tables = self.poisoned::<M>();
        let world = self.world::<M>(&mut tables);
        for node in 0..self.args.n {
            // SAFETY: a row of the arrays, which are as large as the memory asks for.
            unsafe {
                let heuristics = Slots::of(&mut tables.heuristic);
                let lists = (world.lists.nodes, world.lists.k);
                acs::prepare_row(Serial, world.rule, lists, world.memory, world.distance, heuristics, node);
            }
        }
        tables
    }

    /// The global update on the CPU.
    fn deposit<M: Trails<I>>(&self, tables: &mut Tables) {
        let world = self.world::<M>(tables);
        for node in 0..self.args.n {
            let [successor, predecessor] = tables.links.each_ref().map(|links| links[node as usize]);
            // SAFETY: as in `prepared`; links are nodes.
            unsafe {
                let lists = (world.lists.nodes, world.lists.k);
                let links = (successor, predecessor);
                acs::deposit_row(Serial, world.rule, lists, world.memory, node, links, DEPOSIT);
            }
        }
    }

    /// The arrays before the first iteration.
    fn first<M: Trails<I>>(&self) -> Tables {
        let mut tables = self.prepared::<M>();
        self.used.iter().for_each(|table| tables.fill(table));
        tables
    }

    /// What iterations leave behind on the CPU, whose ants go by `construct`: it gets their world,
    /// the iteration, their memories and tours.
    fn expected<M: Trails<I>>(
        &self,
        construct: impl Fn(AcsArgs, World<I, M, Distances>, &mut [Words], &mut [I]),
    ) -> Vec<Outcome> {
        let args = self.args;
        let mut tables = self.first::<M>();
        let mut memory = vec![Words([u32::POISON; 4]); (args.ants as u64 * args.memory / 16) as usize];
        let mut tours = vec![I::new(0); (args.ants * args.n) as usize];
        let each = |iteration| {
            let world = self.world(&mut tables);
            construct(AcsArgs { iteration, ..args }, world, &mut memory, &mut tours);
            let tours = numbers(&tours);
            let built = self.table::<M>(&tables);
            tables.links = self.links(&tours, iteration);
            self.deposit::<M>(&mut tables);
            Outcome { tours, built, deposited: self.table::<M>(&tables) }
        };
        (0..self.iterations).map(each).collect()
    }

    /// Ants that build whole tours, one after the other.
    fn built<M: Trails<I>>(&self) -> Vec<Outcome> {
        self.expected::<M>(|args, world, memory, tours| {
            for (ant, tour) in tours.chunks_mut(args.n as usize).enumerate() {
                let stream = Stream::new(args.seed, args.iteration, ant as u32);
                let memory = memory.as_mut_ptr().cast();
                // SAFETY: an ant's memory, at a 16-byte boundary, and tour.
                unsafe { acs::build(Serial, world, memory, Slots::of(tour), stream) }
            }
        })
    }

    /// Ants that go step by step, all together.
    fn walked<M: Trails<I> + Atomic>(&self) -> Vec<Outcome> {
        self.expected::<M>(|args, world, memory, tours| {
            let (memory, tours) = (memory.as_mut_ptr().cast::<u8>(), tours.as_mut_ptr());
            // SAFETY: each ant's memory, at a 16-byte boundary, and tour.
            let ant = |ant: u32| unsafe {
                let memory = memory.add(ant as usize * args.memory as usize);
                (memory, Slots::new(tours.add((ant * args.n) as usize), args.n as usize))
            };
            for step in 1..args.n {
                for (i, (memory, tour)) in (0..args.ants).map(ant).enumerate() {
                    let stream = Stream::new(args.seed, args.iteration, i as u32);
                    // SAFETY: as above, and as the step before left them.
                    unsafe { acs::choose_step(Serial, world, memory, tour, stream, step) }
                }
                for (memory, tour) in (0..args.ants).map(ant) {
                    // SAFETY: as above; all ants have chosen.
                    unsafe { acs::update_step_atomically(Serial, world, memory, tour, step) }
                }
            }
        })
    }

    /// The links of the tour that deposits in an iteration: an ant's.
    fn links(&self, tours: &[u32], iteration: u32) -> [Vec<u32>; 2] {
        let n = self.args.n as usize;
        for (ant, tour) in tours.chunks(n).enumerate() {
            assert!(is_tour(tour, n as u32), "{}: ant {ant}: no tour: {tour:?}", self.name("links"));
        }
        let ant = (iteration % self.args.ants) as usize;
        tour_links(&tours[ant * n..][..n])
    }

    /// Compares what iterations left behind, but for trails that nobody reads.
    fn assert_same<M: Trails<I>>(&self, what: &str, gpu: &[Outcome], cpu: &[Outcome]) {
        let seen = |table: &Table| {
            let mut table = table.clone();
            M::hide(self.args, &self.lists, &mut table.trails);
            table
        };
        assert_eq!(gpu.len(), cpu.len(), "{what}");
        for (i, (gpu, cpu)) in gpu.iter().zip(cpu).enumerate() {
            let what = format!("{what}, iteration {i}");
            assert_same_tours(&what, self.args.n, &gpu.tours, &cpu.tours);
            seen(&gpu.built).assert_same(&format!("{what}, ants"), &seen(&cpu.built));
            seen(&gpu.deposited).assert_same(&format!("{what}, deposit"), &seen(&cpu.deposited));
        }
    }

    /// Checks what can be said of ants that meet: whatever update is lost, trails stay between the first one and the
    /// deposit, but for rounding.
    fn assert_possible<M: Trails<I>>(&self, what: &str, outcomes: &[Outcome]) {
        let (lowest, highest) = (self.args.rule.initial * (1.0 - 1e-6), DEPOSIT * (1.0 + 1e-6));
        for (i, outcome) in outcomes.iter().enumerate() {
            for (ant, tour) in outcome.tours.chunks(self.args.n as usize).enumerate() {
                assert!(is_tour(tour, self.args.n), "{what}, iteration {i}, ant {ant}: no tour: {tour:?}");
            }
            for table in [&outcome.built, &outcome.deposited] {
                let (trails, nodes) = M::parts(&table.trails);
                let mut trails = trails.into_iter().map(f32::from_bits);
                let odd = trails.find(|t| !(lowest..=highest).contains(t));
                assert_eq!(odd, None, "{what}, iteration {i}: a trail not within {lowest} and {highest}");
                let odd = nodes.into_iter().find(|&v| v >= self.args.n && v != NONE);
                assert_eq!(odd, None, "{what}, iteration {i}: no node in a ring");
                let valid = M::is_valid(self.args, &table.tails);
                assert!(valid, "{what}, iteration {i}: {:?} beside the trails", table.tails);
            }
        }
    }
}

/// The neighbours of each node in a tour.
fn tour_links(tour: &[u32]) -> [Vec<u32>; 2] {
    let (mut successor, mut predecessor) = (vec![0; tour.len()], vec![0; tour.len()]);
    for (&a, &b) in tour.iter().zip(tour.iter().cycle().skip(1)) {
        (successor[a as usize], predecessor[b as usize]) = (b, a);
    }
    [successor, predecessor]
}

/// The kernel of ants, and where their memory lies.
struct Ants {
    kernel: ConstructAcs,
    place: Place,
    /// They go step by step.
    walks: bool,
}

impl Ants {
    fn new(device: &Device, name: &str, place: Place) -> Self {
        let (name, function) = load(device, name);
        let walks = name.starts_with("warp_walk_");
        Ants { kernel: ConstructAcs { name, function }, place, walks }
    }
}

fn deposit_kernel<M: Trails<I>, I: NodeId>(device: &Device) -> DepositAcs {
    let (name, function) = load(device, &format!("warp_deposit_acs_{}_u{}", M::NAME, 8 * I::BYTES));
    DepositAcs { name, function }
}

/// How ants are launched.
#[derive(Clone, Copy, Debug)]
struct Shape {
    grid: u32,
    warps: u32,
    /// Phases of a launch.
    phases: u32,
}

/// All phases in one launch.
const ALL: u32 = u32::MAX;

impl Shape {
    const fn whole(grid: u32, warps: u32) -> Self {
        Shape { grid, warps, phases: ALL }
    }

    /// Bytes of shared memory of a block, and of global memory in all.
    fn memory(self, ants: &Ants, args: AcsArgs) -> (u32, usize) {
        let teams = self.grid * self.warps;
        let (of_block, of_grid) = match ants.walks {
            true => (self.warps * args.ants.div_ceil(teams), args.ants),
            false => (self.warps, teams),
        };
        match ants.place {
            Place::Shared => (of_block * args.memory as u32, 0),
            Place::Global => (0, of_grid as usize * args.memory as usize),
        }
    }
}

/// A colony on the device, in guarded arrays.
struct Grounds<'d> {
    device: &'d Device,
    args: AcsArgs,
    state: Buffer<ColonyState>,
    lists: Buffer<u8>,
    reserves: Buffer<u8>,
    points: Buffer<[f64; 3]>,
    matrix: Buffer<i32>,
    heuristic: Buffer<f32>,
    successor: Buffer<u32>,
    predecessor: Buffer<u32>,
    trails: Buffer<u8>,
    tails: Buffer<u32>,
    arrivals: Buffer<u64>,
}

impl<'d> Grounds<'d> {
    /// The colony of `input` with these arrays, whose pheromone memory holds `table`.
    fn new<I: NodeId>(
        device: &'d Device,
        input: &Input<I>,
        tables: &Tables,
        table: &Table,
        done: u32,
    ) -> Self {
        let [successor, predecessor] = tables.links.each_ref().map(|links| upload(device, links));
        Grounds {
            device,
            args: input.args,
            state: upload(device, &[acs_state(done)]),
            lists: upload(device, &id_bytes::<I>(&numbers(&input.lists))),
            reserves: upload(device, &id_bytes::<I>(&numbers(&input.reserves))),
            points: upload(device, input.geometry.points()),
            matrix: upload(device, input.geometry.matrix()),
            heuristic: guarded(device, &tables.heuristic),
            successor,
            predecessor,
            trails: guarded(device, &id_bytes::<u32>(&table.trails)),
            tails: guarded(device, &table.tails),
            arrivals: guarded(device, &[0]),
        }
    }

    /// The words of the pheromone memory.
    fn table(&self, what: &str) -> Table {
        let trails = download(self.device, &format!("{what}: trails"), &self.trails);
        let tails = download(self.device, &format!("{what}: beside the trails"), &self.tails);
        Table { trails: ids::<u32>(&trails), tails }
    }

    /// The bytes of the tours that ants build.
    fn construct<I: NodeId>(&mut self, ants: &Ants, shape: Shape, iteration: u32) -> Vec<u8> {
        let (device, args) = (self.device, AcsArgs { iteration, ..self.args });
        let (shared, global) = shape.memory(ants, args);
        let launch = Launch { grid: shape.grid, block: 32 * shape.warps, shared };
        let mut memory = poisoned(device, global);
        let mut tours = poisoned(device, (args.ants * args.n * I::BYTES) as usize);
        let back = if args.rule.directed == 0 { &self.predecessor } else { &self.successor };
        let mut first = 0;
        while first < args.end {
            let end = first.saturating_add(shape.phases).min(args.end);
            let together = ants.walks && end - first > 1;
            // SAFETY: arrays and shared memory have the sizes that `args` tell.
            unsafe {
                ants.kernel.launch_as(
                    together,
                    device.stream(),
                    launch,
                    AcsArgs { first, end, ..args },
                    buffers::ConstructAcs {
                        state: &self.state,
                        lists: &self.lists,
                        heuristic: &self.heuristic,
                        reserves: &self.reserves,
                        successor: &self.successor,
                        predecessor: back,
                        points: &self.points,
                        matrix: &self.matrix,
                        trails: &mut self.trails,
                        tails: &mut self.tails,
                        memory: &mut memory,
                        arrivals: &mut self.arrivals,
                        tours: &mut tours,
                    },
                )
            }
            .expect("the launch");
            first = end;
        }
        download(device, "the ants' memory", &memory);
        download(device, "the tours", &tours)
    }

    fn deposit(&mut self, kernel: &DepositAcs, warps: u32) {
        let launch = Launch { grid: ROW_GRID, block: 32 * warps, shared: 0 };
        // SAFETY: arrays have the sizes that `args` tell.
        unsafe {
            kernel.launch(
                self.device.stream(),
                launch,
                self.args,
                buffers::DepositAcs {
                    state: &self.state,
                    lists: &self.lists,
                    successor: &self.successor,
                    predecessor: &self.predecessor,
                    trails: &mut self.trails,
                    tails: &mut self.tails,
                },
            )
        }
        .expect("the launch");
    }

    fn link(&mut self, [successor, predecessor]: &[Vec<u32>; 2]) {
        let stream = self.device.stream();
        self.successor.write(stream, successor).expect("successors");
        self.predecessor.write(stream, predecessor).expect("predecessors");
    }
}

impl<I: NodeId> Input<I> {
    /// What iterations leave behind on the GPU.
    fn launched<M: Trails<I>>(
        &self,
        device: &Device,
        (ants, deposit): (&Ants, &DepositAcs),
        what: &str,
        shape: Shape,
    ) -> Vec<Outcome> {
        let tables = self.first::<M>();
        let mut grounds = Grounds::new(device, self, &tables, &self.table::<M>(&tables), 0);
        let each = |iteration| {
            let tours = ids::<I>(&grounds.construct::<I>(ants, shape, iteration));
            let built = grounds.table(what);
            grounds.link(&self.links(&tours, iteration));
            grounds.deposit(deposit, ROW_WARPS[iteration as usize % ROW_WARPS.len()]);
            Outcome { tours, built, deposited: grounds.table(what) }
        };
        let outcomes = (0..self.iterations).map(each).collect();
        let arrivals = download(device, what, &grounds.arrivals)[0];
        let expected = if ants.walks { arrivals.next_multiple_of(shape.grid.into()) } else { 0 };
        assert_eq!(arrivals, expected, "{what}: blocks that came to barriers");
        outcomes
    }

    /// Launches ants after the end of the work: they change nothing.
    fn check_done<M: Trails<I>>(&self, device: &Device, ants: &Ants) {
        let what = self.name(&ants.kernel.name);
        let tables = self.prepared::<M>();
        let before = self.table::<M>(&tables);
        let mut grounds = Grounds::new(device, self, &tables, &before, 1);
        let tours = grounds.construct::<I>(ants, Shape::whole(2, 2), 0);
        assert!(tours.iter().all(|&b| b == u8::POISON), "{what}: tours built after the end");
        grounds.table(&what).assert_same(&format!("{what}, after the end"), &before);
        assert_eq!(download(device, &what, &grounds.arrivals), [0], "{what}: barriers after the end");
    }
}

/// Numbers of nodes and of candidates.
fn shapes(sizes_of: &[u32]) -> Vec<(u32, u32)> {
    let of = |n: u32| {
        let fewer = CANDIDATES.into_iter().filter(move |&k| k < n - 1);
        fewer.chain([n - 1]).map(move |k| (n, k))
    };
    sizes(sizes_of).flat_map(of).collect()
}

/// Colonies of every form and size, with these periods; some of them where sizes are small. Metrics take turns.
fn inputs<M: Trails<I>, I: NodeId>(
    seed: u64,
    shapes: &[(u32, u32)],
    periods: &[u32],
    ants: &[u32],
) -> Vec<Input<I>> {
    let mut random = Random::new(seed);
    let (mut metrics, mut ants) = (metrics().into_iter().cycle(), ants.iter().copied().cycle());
    let mut inputs = Vec::new();
    for &size in shapes {
        for &period in periods {
            for (directed, &slots) in [0, 1].into_iter().flat_map(|d| M::SLOTS.iter().map(move |s| (d, s))) {
                let rule = rule(&mut random, size.0, period, directed);
                let (metric, ants) = (metrics.next().flatten(), ants.next().expect("a number of ants"));
                inputs.push(Input::new(&mut random, size, metric, rule, (ants, slots)));
            }
        }
    }
    inputs.into_iter().step_by(if small() { 7 } else { 1 }).collect()
}

/// As [`inputs`]; every other pheromone memory has been used, which fills all that rows remember.
fn used<M: Trails<I>, I: NodeId>(
    seed: u64,
    shapes: &[(u32, u32)],
    periods: &[u32],
    ants: &[u32],
) -> Vec<Input<I>> {
    let (mut random, mut inputs) = (Random::new(seed + 100), inputs::<M, I>(seed, shapes, periods, ants));
    for input in inputs.iter_mut().filter(|_| random.below(2) == 1) {
        input.used = Some(M::random(input.args, &mut Random::new(input.args.seed)));
    }
    inputs
}

/// The arrays that a kernel fills before the first iteration.
fn prepare<M: Trails<I>, I: NodeId>(name: &str) {
    // One ant, who stays at home.
    let inputs = inputs::<M, I>(15, &shapes(&[5, 33, 64, 257]), &[1], &[1]);
    let cases: Vec<_> = inputs.into_iter().map(|input| (input.prepared::<M>(), input)).collect();
    let Some(gpu) = gpu() else { return };
    let (name, function) = load(&gpu, name);
    let kernel = PrepareAcs { name, function };
    for ((cpu, input), warps) in cases.iter().flat_map(|case| ROW_WARPS.map(|warps| (case, warps))) {
        let what = format!("{}, {warps} warps", input.name(&kernel.name));
        let empty = input.poisoned::<M>();
        let mut grounds = Grounds::new(&gpu, input, &empty, &input.table::<M>(&empty), 0);
        let launch = Launch { grid: ROW_GRID, block: 32 * warps, shared: 0 };
        // SAFETY: the arrays have the sizes that the arguments tell.
        unsafe {
            kernel.launch(
                gpu.stream(),
                launch,
                input.args,
                buffers::PrepareAcs {
                    lists: &grounds.lists,
                    points: &grounds.points,
                    matrix: &grounds.matrix,
                    heuristic: &mut grounds.heuristic,
                    trails: &mut grounds.trails,
                    tails: &mut grounds.tails,
                },
            )
        }
        .expect("the launch");
        let bits = |v: &[f32]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let heuristic = bits(&download(&gpu, &what, &grounds.heuristic));
        assert_same(&format!("{what}: heuristic values"), &heuristic, &bits(&cpu.heuristic));
        grounds.table(&what).assert_same(&what, &input.table::<M>(cpu));
    }
}

/// A memory by chance, what the tour of these links makes of it, and the memory's colony.
struct DepositCase<I> {
    input: Input<I>,
    before: Table,
    tables: Tables,
    after: Table,
}

impl<I: NodeId> DepositCase<I> {
    fn new<M: Trails<I>>(random: &mut Random, input: Input<I>) -> Self {
        let before = M::random(input.args, random);
        let mut tables = input.poisoned::<M>();
        tables.fill(&before);
        tables.links = tour_links(&random.permutation(input.args.n));
        input.deposit::<M>(&mut tables);
        let after = input.table::<M>(&tables);
        let changed = before.trails.iter().zip(&after.trails).any(|(b, a)| b != a);
        // Each node's edge leads to a candidate by chance only.
        assert!(changed || input.args.k < input.args.n / 8, "{}: no deposit", input.name("CPU"));
        DepositCase { input, before, tables, after }
    }
}

/// The global update of a memory by chance.
fn deposit<M: Trails<I>, I: NodeId>(name: &str) {
    let mut random = Random::new(16);
    let inputs = inputs::<M, I>(17, &shapes(&[5, 33, 64, 257]), &[1], &[1]);
    let cases: Vec<_> = inputs.into_iter().map(|input| DepositCase::new::<M>(&mut random, input)).collect();
    let Some(gpu) = gpu() else { return };
    let (name, function) = load(&gpu, name);
    let kernel = DepositAcs { name, function };
    for (case, warps) in cases.iter().flat_map(|case| ROW_WARPS.map(|warps| (case, warps))) {
        let what = format!("{}, {warps} warps", case.input.name(&kernel.name));
        let mut grounds = Grounds::new(&gpu, &case.input, &case.tables, &case.before, 0);
        grounds.deposit(&kernel, warps);
        grounds.table(&what).assert_same(&what, &case.after);
    }
}

/// Ants that are alone, as one or as one after the other, against the CPU; and ants that meet.
fn build<M: Trails<I>, I: NodeId>(name: &str, place: Place) {
    let alone = used::<M, I>(18, &shapes(&SIZES), &[0, 1, 3], &[1, 1, 1, 3, 1]);
    let alone: Vec<_> = alone.into_iter().map(|input| (input.built::<M>(), input)).collect();
    // In turn they keep what ants that meet have to keep, too.
    let many = if small() { 20 } else { 200 };
    let crowd = inputs::<M, I>(19, &[(9, 4), (33, 32), (64, 8)], &[1, 3], &[many]);
    crowd.iter().for_each(|input| input.assert_possible::<M>(&input.name("CPU"), &input.built::<M>()));
    let Some(gpu) = gpu() else { return };
    let (ants, deposit) = (Ants::new(&gpu, name, place), deposit_kernel::<M, I>(&gpu));
    for (i, (cpu, input)) in alone.iter().enumerate() {
        // Other warps have no ant.
        let shape = if input.args.ants > 1 { (1, 1) } else { [(1, 1), (2, 3), (1, MOST_BUILDING)][i % 3] };
        let shape = Shape::whole(shape.0, shape.1);
        let what = format!("{}, {shape:?}", input.name(name));
        input.assert_same::<M>(&what, &input.launched::<M>(&gpu, (&ants, &deposit), &what, shape), cpu);
    }
    // Blocks of one size or another, that are all the ants' or more than they need.
    for input in &crowd {
        for (grid, warps) in [(1, MOST_BUILDING), (5, 3), (many.div_ceil(4), 4), (many, MOST_BUILDING)] {
            let shape = Shape::whole(grid, warps);
            let what = format!("{}, {shape:?}", input.name(name));
            let outcomes = input.launched::<M>(&gpu, (&ants, &deposit), &what, shape);
            input.assert_possible::<M>(&what, &outcomes);
        }
    }
    alone[0].1.check_done::<M>(&gpu, &ants);
}

/// Ants that go step by step, together.
fn walk<M: Trails<I> + Atomic, I: NodeId>(name: &str, place: Place) {
    let shapes: Vec<_> = [(9, 4), (33, 32), (64, 40), (64, 63), (150, 8)].into();
    let shapes: Vec<_> = shapes.into_iter().filter(|&(n, _)| sizes(&[n]).count() == 1).collect();
    let inputs = used::<M, I>(20, &shapes, &[1, 2, 16], &[50, 13, 1, 33]);
    let cases: Vec<_> = inputs.into_iter().map(|input| (input.walked::<M>(), input)).collect();
    let Some(gpu) = gpu() else { return };
    let (ants, deposit) = (Ants::new(&gpu, name, place), deposit_kernel::<M, I>(&gpu));
    // One warp; one large block; several ants a warp, or one; more warps than ants.
    let mut launches = vec![(1, 1), (1, MOST_WALKING), (7, 2), (20, 3)];
    launches.truncate(if small() { 3 } else { 4 });
    let mut launches: Vec<_> = launches.into_iter().map(|(grid, warps)| Shape::whole(grid, warps)).collect();
    if place == Place::Global {
        // What ants know outlives the launch.
        launches.extend([1, 7].map(|phases| Shape { grid: 7, warps: 2, phases }));
    }
    for ((cpu, input), &shape) in cases.iter().flat_map(|case| launches.iter().map(move |l| (case, l))) {
        let what = format!("{}, {shape:?}", input.name(name));
        input.assert_same::<M>(&what, &input.launched::<M>(&gpu, (&ants, &deposit), &what, shape), cpu);
    }
    cases[0].1.check_done::<M>(&gpu, &ants);
}

/// One ant among many nodes.
fn build_large<M: Trails<I>, I: NodeId>(name: &str, place: Place, n: u32) {
    if small() {
        return ignore(LARGE);
    }
    let mut random = Random::new(u64::from(n));
    let rule = rule(&mut random, n, 1, 0);
    let input = Input::<I>::new(&mut random, (n, 32), Some(Metric::Euc2d), rule, (1, 8));
    let input = Input { iterations: 1, ..input };
    let cpu = input.built::<M>();
    let Some(gpu) = gpu() else { return };
    let (ants, deposit) = (Ants::new(&gpu, name, place), deposit_kernel::<M, I>(&gpu));
    let (what, shape) = (input.name(name), Shape::whole(1, 1));
    if has_shared(&gpu, &what, shape.memory(&ants, input.args).0) {
        input.assert_same::<M>(&what, &input.launched::<M>(&gpu, (&ants, &deposit), &what, shape), &cpu);
    }
}

fn ids_beyond_16_bits() {
    let name = "warp_build_acs_candidate_global_u32";
    build_large::<CandidateTrails<u32>, u32>(name, Place::Global, 70_000);
}

/// The number of nodes, which stands for no node, is the largest id.
fn most_nodes_with_ids_of_16_bits() {
    build_large::<Selective, u16>("warp_build_acs_selective_shared_u16", Place::Shared, 65_535);
}

macro_rules! kernels {
    ($($name:ident: $check:ident, $trails:ty, $id:ty $(, $place:ident)?;)*) => {
        /// The kernels tested here.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
        tests![ids_beyond_16_bits, most_nodes_with_ids_of_16_bits, $($name),*];
        $(
            fn $name() {
                $check::<$trails, $id>(stringify!($name) $(, Place::$place)?);
            }
        )*
    };
}

kernels! {
    warp_build_acs_matrix_shared_u16: build, MatrixTrails<u16>, u16, Shared;
    warp_build_acs_matrix_shared_u32: build, MatrixTrails<u32>, u32, Shared;
    warp_build_acs_matrix_global_u32: build, MatrixTrails<u32>, u32, Global;
    warp_build_acs_candidate_shared_u16: build, CandidateTrails<u16>, u16, Shared;
    warp_build_acs_candidate_shared_u32: build, CandidateTrails<u32>, u32, Shared;
    warp_build_acs_candidate_global_u32: build, CandidateTrails<u32>, u32, Global;
    warp_build_acs_selective_shared_u16: build, Selective, u16, Shared;
    warp_build_acs_selective_shared_u32: build, Selective, u32, Shared;
    warp_build_acs_selective_global_u32: build, Selective, u32, Global;
    warp_walk_acs_matrix_shared_u16: walk, MatrixTrails<u16>, u16, Shared;
    warp_walk_acs_matrix_shared_u32: walk, MatrixTrails<u32>, u32, Shared;
    warp_walk_acs_matrix_global_u32: walk, MatrixTrails<u32>, u32, Global;
    warp_walk_acs_candidate_shared_u16: walk, CandidateTrails<u16>, u16, Shared;
    warp_walk_acs_candidate_shared_u32: walk, CandidateTrails<u32>, u32, Shared;
    warp_walk_acs_candidate_global_u32: walk, CandidateTrails<u32>, u32, Global;
    warp_prepare_acs_matrix_u16: prepare, MatrixTrails<u16>, u16;
    warp_prepare_acs_matrix_u32: prepare, MatrixTrails<u32>, u32;
    warp_prepare_acs_candidate_u16: prepare, CandidateTrails<u16>, u16;
    warp_prepare_acs_candidate_u32: prepare, CandidateTrails<u32>, u32;
    warp_prepare_acs_selective_u16: prepare, Selective, u16;
    warp_prepare_acs_selective_u32: prepare, Selective, u32;
    warp_deposit_acs_matrix_u16: deposit, MatrixTrails<u16>, u16;
    warp_deposit_acs_matrix_u32: deposit, MatrixTrails<u32>, u32;
    warp_deposit_acs_candidate_u16: deposit, CandidateTrails<u16>, u16;
    warp_deposit_acs_candidate_u32: deposit, CandidateTrails<u32>, u32;
    warp_deposit_acs_selective_u16: deposit, Selective, u16;
    warp_deposit_acs_selective_u32: deposit, Selective, u32;
}
