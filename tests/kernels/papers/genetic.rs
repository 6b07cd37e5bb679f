//! `warp_breed_individuals_*`, `block_make_individuals_*`, `grid_finish_individuals`, `block_transfer_individuals_*`: the generations of a
//! population.

use antwarp::backend::cuda::{
    BreedIndividuals, Buffer, Device, FinishIndividuals, Launch, MakeIndividuals, TEAM_BYTES,
    TransferIndividuals, buffers,
};
use antwarp::engine::Problem;
use antwarp::instance::Instance;
use antwarp_core::geometry::{self, Geometry};
use antwarp_core::kernels::GeneticArgs;
use antwarp_core::node::NodeId;
use antwarp_core::papers::genetic::generation::{is_over, record, recorded};
use antwarp_core::papers::genetic::{self, GenerationRules, Population, memory_bytes};
use antwarp_core::team::{Serial, Slots};

use crate::gpu::{
    Poison, assert_same, download, gpu, guarded, id_bytes, ids, load, poisoned, sizes, some, upload,
};
use crate::input::{
    GEOMETRIES, Quad, Random, instances, is_tour, kernel_matrix, numbers, place_bytes, typed, with_geometry,
};

tests![warp_breed_individuals, block_make_individuals, grid_finish_individuals, block_transfer_individuals];

/// The kernels tested here.
pub const NAMES: &[&str] = &[
    "warp_breed_individuals_grid_shared_u16",
    "warp_breed_individuals_grid_global_u32",
    "warp_breed_individuals_planar_shared_u16",
    "warp_breed_individuals_planar_global_u32",
    "warp_breed_individuals_numbered_shared_u16",
    "warp_breed_individuals_numbered_global_u32",
    "block_make_individuals_grid_u16",
    "block_make_individuals_grid_u32",
    "block_make_individuals_planar_u16",
    "block_make_individuals_planar_u32",
    "block_make_individuals_numbered_u16",
    "block_make_individuals_numbered_u32",
    "grid_finish_individuals",
    "block_transfer_individuals_u16",
    "block_transfer_individuals_u32",
];

const SIZES: [u32; 4] = [4, 5, 33, 300];
/// Groups, and places of each.
const GROUPS: [(u32, u32); 5] = [(1, 4), (1, 24), (3, 8), (2, 12), (8, 4)];
/// Blocks where they are fewer than what there is to do.
const FEW: u32 = 3;
/// Of a generation that every individual ends.
const ANY_LENGTH: i64 = 1 << 47;

/// The tables of a population, as the host has them.
#[derive(Clone)]
struct Host<I> {
    individuals: Vec<I>,
    rows: Vec<u32>,
    costs: Vec<i64>,
    next_rows: Vec<u32>,
    next_costs: Vec<i64>,
    born: Vec<u64>,
    best: u64,
}

impl<I: NodeId> Host<I> {
    /// These individuals in random rows, with lengths below `spread` more than 2^33; nothing comes next.
    fn new(random: &mut Random, individuals: &[u32], count: u32, spread: u32) -> Host<I> {
        let all = count as usize;
        Host {
            individuals: typed(individuals),
            rows: random.permutation(count),
            costs: (0..count).map(|_| (1 << 33) + i64::from(random.below(spread))).collect(),
            next_rows: vec![u32::POISON; all],
            next_costs: vec![i64::POISON; all],
            born: vec![u64::POISON; all],
            best: record(i64::MAX, 0),
        }
    }

    /// As algorithms see them.
    fn view(&mut self) -> Population<I> {
        // SAFETY: the view is used while the tables live and stay where they are.
        unsafe {
            Population {
                individuals: Slots::of(&mut self.individuals),
                rows: self.rows.as_ptr(),
                costs: self.costs.as_ptr(),
                next_rows: Slots::of(&mut self.next_rows),
                next_costs: Slots::of(&mut self.next_costs),
                best: &mut self.best,
                born: Slots::of(&mut self.born),
            }
        }
    }

    /// The individual in a row.
    fn individual(&self, row: u32, n: u32) -> Vec<u32> {
        numbers(&self.individuals[(row * n) as usize..][..n as usize])
    }
}

/// The tables of a population on the device.
struct Tables {
    rows: Buffer<u32>,
    costs: Buffer<i64>,
    individuals: Buffer<u8>,
    next_rows: Buffer<u32>,
    next_costs: Buffer<i64>,
    best: Buffer<u64>,
    born: Buffer<u64>,
}

impl Tables {
    fn new<I: NodeId>(device: &Device, host: &Host<I>) -> Tables {
        Tables {
            rows: upload(device, &host.rows),
            costs: upload(device, &host.costs),
            individuals: guarded(device, &id_bytes::<I>(&numbers(&host.individuals))),
            next_rows: guarded(device, &host.next_rows),
            next_costs: guarded(device, &host.next_costs),
            best: guarded(device, &[host.best]),
            born: guarded(device, &host.born),
        }
    }

    /// Whether they are as they should be now.
    fn check<I: NodeId>(&self, device: &Device, what: &str, host: &Host<I>) {
        let of = |table: &str| format!("{what}: {table}");
        let what = of("individuals");
        assert_same(
            &what,
            &ids::<I>(&download(device, &what, &self.individuals)),
            &numbers(&host.individuals),
        );
        let what = of("next rows");
        assert_same(&what, &download(device, &what, &self.next_rows), &host.next_rows);
        let what = of("next lengths");
        assert_same(&what, &download(device, &what, &self.next_costs), &host.next_costs);
        let what = of("born");
        assert_same(&what, &download(device, &what, &self.born), &host.born);
        let what = of("record");
        let best = download(device, &what, &self.best);
        assert_eq!(best.iter().map(|&b| recorded(b)).collect::<Vec<_>>(), [recorded(host.best)], "{what}");
    }
}

/// An instance, and what kernels read of it.
struct World {
    instance: Instance,
    problem: Problem,
}

impl World {
    fn new(instance: Instance) -> World {
        World { problem: Problem::new(&instance, Some(1), 8).unwrap(), instance }
    }

    fn length(&self, individual: &[u32]) -> i64 {
        self.instance.check_tour(&self.problem.original(individual)).expect("a tour")
    }

    /// Whether an individual is a tour of this length.
    fn assert_length(&self, what: &str, individual: &[u32], length: i64) {
        assert!(is_tour(individual, self.problem.n()), "{what}: no tour");
        assert_eq!(self.length(individual), length, "{what}");
    }
}

/// The instance on the device.
struct Board {
    places: Buffer<u8>,
    points: Buffer<[f64; 3]>,
    matrix: Buffer<i32>,
}

impl Board {
    fn new(device: &Device, problem: &Problem) -> Board {
        Board {
            places: upload(device, &place_bytes(problem.places())),
            points: upload(device, problem.points()),
            matrix: upload(device, &kernel_matrix(problem)),
        }
    }
}

/// n nodes whose edges have a direction.
fn directed(n: u32) -> Instance {
    let mut random = Random::new(u64::from(n) + 1);
    let matrix = (0..n * n).map(|_| random.below(1 << 20) as i32 >> random.below(20)).collect();
    let instance = Instance::from_matrix(format!("{n} nodes, directed"), matrix).expect("an instance");
    assert!(!instance.is_symmetric());
    instance
}

/// Instances of all sizes whose nodes are told in this way.
fn worlds(geometry: &str) -> Vec<World> {
    let mut all = Vec::new();
    let sizes: Vec<u32> = sizes(&SIZES).collect();
    for &n in some(&sizes) {
        all.extend(instances(geometry, n).into_iter().map(World::new));
        if geometry == "numbered" {
            all.push(World::new(directed(n)));
        }
    }
    assert!(all.iter().all(|world| world.problem.places().kernel_name() == geometry));
    all
}

/// What a kernel is told, and the tables before and after it.
struct Case<I> {
    name: String,
    args: GeneticArgs,
    before: Host<I>,
    after: Host<I>,
}

fn rules(random: &mut Random, n: u32, (groups, group): (u32, u32)) -> GenerationRules {
    GenerationRules {
        seed: random.bits(),
        target: i64::MIN,
        n,
        group,
        groups,
        method: 0,
        mutation: 0,
        shuffled: 0,
        generation: 1 + random.below(1000),
        since: 3,
        directed: 0,
        unfinished: 0,
        window: 0,
        ring: 0,
    }
}

fn args(rules: GenerationRules, count: u32, metric: u32) -> GeneticArgs {
    GeneticArgs { rules, memory: 0, metric, count, given: 0, padding: 0 }
}

/// Random tours; some are the same as the one before, or the same backwards.
fn parents(random: &mut Random, n: u32, count: u32) -> Vec<u32> {
    let mut all = random.tours(n, count);
    for from in (1..count as usize).map(|i| i * n as usize) {
        let dice = random.below(6);
        if dice < 2 {
            let (old, new) = all.split_at_mut(from);
            new[..n as usize].copy_from_slice(&old[from - n as usize..]);
        }
        if dice == 1 {
            all[from..][..n as usize].reverse();
        }
    }
    all
}

/// Generations before this one, which go on with it: none, none that reached the target, or this one already did. The
/// target, and the record.
fn beginning(rules: &GenerationRules, i: u32) -> (i64, u64) {
    match i % 4 {
        0 => (i64::MIN, record(i64::MAX, 0)),
        1 => (5000, record(5001, rules.since - 1)),
        2 => (ANY_LENGTH, record(i64::MAX, 0)),
        _ => (5000, record(4990, rules.since)),
    }
}

/// A generation before this one reached the target: what it is, and the record.
fn end(rules: &GenerationRules, i: u32) -> (i64, u64) {
    (5000, record(5000 - i64::from(i % 2), if i.is_multiple_of(3) { 0 } else { rules.since - 1 }))
}

impl<I: NodeId> Case<I> {
    /// Generation `i` of a world.
    fn breeding(world: &World, i: u32) -> Case<I> {
        let mut random = Random::new(u64::from(i) + 71);
        let (n, metric) = (world.problem.n(), world.problem.device_metric());
        let (groups, group) = GROUPS[((i / 8 + i) % 5) as usize];
        let mut rules = GenerationRules {
            method: i % 4,
            shuffled: i / 4 % 2,
            ring: (i / 8 + i / 4 + i) % 2,
            mutation: [0, 1 << 31, u32::MAX][(i / 8 % 3) as usize],
            unfinished: (i / 8 + i / 2) % 2,
            directed: world.problem.is_directed().into(),
            window: if world.problem.is_directed() || i / 16 % 2 == 1 { 0 } else { n.isqrt() },
            ..rules(&mut random, n, (groups, group))
        };
        let count = groups * group;
        let mut before = Host::new(&mut random, &parents(&mut random_of(i), n, count), count, count);
        (rules.target, before.best) = beginning(&rules, i / 8 + i);
        if rules.window > 0 {
            // The length of an improved individual is what it was, without the gain.
            before.costs = before.rows.iter().map(|&row| world.length(&before.individual(row, n))).collect();
        }
        let name = format!("{}, {groups} groups of {group}, {i}", world.instance.name());
        let args =
            GeneticArgs { memory: memory_bytes::<I>(n) as u64, ..args(rules, rules.children(), metric) };
        let mut case = Case { name, args, after: before.clone(), before };
        case.breed(world);
        let (after, what) = (&case.after, &case.name);
        let mut rows = after.next_rows.clone();
        rows.sort_unstable();
        assert!(rows.into_iter().eq(0..count), "{what}: rows");
        for &born in &after.born[..rules.children() as usize] {
            let (row, place) = (born as u32, (born >> 32) as usize);
            assert_eq!(after.next_rows[place], row, "{what}");
            world.assert_length(what, &after.individual(row, n), after.next_costs[place]);
        }
        case
    }

    /// The same, once a generation before has reached the target.
    fn too_late(&self, world: &World, i: u32) -> Case<I> {
        let (mut args, mut before) = (self.args, self.before.clone());
        (args.rules.target, before.best) = end(&args.rules, i);
        let name = format!("{}, too late", self.name);
        let mut case = Case { name, args, after: before.clone(), before };
        case.breed(world);
        assert!(numbers(&case.after.individuals) == numbers(&case.before.individuals), "{}", case.name);
        case
    }

    fn breed(&mut self, world: &World) {
        with_geometry!(world.problem, |geometry, places| self.breed_at(geometry, places))
    }

    /// What the kernel should do.
    fn breed_at<G: Geometry>(&mut self, geometry: G, places: &[G::Place]) {
        let (rules, population) = (self.args.rules, self.after.view());
        let places = geometry::Places { geometry, start: places.as_ptr() };
        let mut memory = vec![Quad([f32::POISON; 4]); memory_bytes::<I>(rules.n).div_ceil(size_of::<Quad>())];
        let memory = memory.as_mut_ptr().cast();
        for index in 0..self.args.count {
            // SAFETY: the tables and the memory have the sizes that the rules tell, and rows are a permutation.
            unsafe {
                if is_over(&rules, population.best) {
                    genetic::pass_over(Serial, population, index);
                } else {
                    genetic::breed(Serial, &rules, population, places, memory, index);
                }
            }
        }
    }

    fn check_breeding(&self, device: &Device, kernel: &BreedIndividuals, board: &mut Board) {
        let is_shared = kernel.name.contains("_shared_");
        let bytes = self.args.memory as usize;
        let shared = if is_shared { bytes as u32 } else { 0 };
        for grid in [self.args.count, FEW] {
            let what = format!("{}, {}, {grid} blocks", kernel.name, self.name);
            let mut t = Tables::new(device, &self.before);
            let mut memory = poisoned::<u8>(device, if is_shared { 0 } else { grid as usize * bytes });
            // SAFETY: arrays and shared memory have the sizes that the arguments tell.
            unsafe {
                kernel.launch(
                    device.stream(),
                    Launch { grid, block: 32, shared },
                    self.args,
                    buffers::BreedIndividuals {
                        places: &mut board.places,
                        points: &board.points,
                        matrix: &board.matrix,
                        rows: &t.rows,
                        costs: &t.costs,
                        memory: &mut memory,
                        individuals: &mut t.individuals,
                        next_rows: &mut t.next_rows,
                        next_costs: &mut t.next_costs,
                        best: &mut t.best,
                        born: &mut t.born,
                    },
                )
            }
            .unwrap_or_else(|e| panic!("{what}: {e}"));
            t.check(device, &what, &self.after);
            download(device, &what, &memory);
        }
    }
}

/// Random numbers apart from those of a case's rules.
fn random_of(i: u32) -> Random {
    Random::new(u64::from(i) + 100_000)
}

/// All methods, pairings and partners in each world, with changing groups, mutations and targets.
fn check_breeding<I: NodeId>(geometry: &str, storage: &str) {
    let worlds = worlds(geometry);
    let cases = |(w, world): (u32, &World)| -> Vec<[Case<I>; 2]> {
        let case = |i| Case::breeding(world, 8 * w + i);
        (0..8).map(|i| [case(i), case(i).too_late(world, w + i)]).collect()
    };
    let all: Vec<_> = (0..).zip(&worlds).map(cases).collect();
    let Some(gpu) = gpu() else { return };
    let (name, function) = load(&gpu, &format!("warp_breed_individuals_{geometry}_{storage}"));
    let kernel = BreedIndividuals { name, function };
    for (world, cases) in worlds.iter().zip(&all) {
        let mut board = Board::new(&gpu, &world.problem);
        cases.iter().flatten().for_each(|case| case.check_breeding(&gpu, &kernel, &mut board));
    }
}

fn warp_breed_individuals() {
    for geometry in GEOMETRIES {
        check_breeding::<u16>(geometry, "shared_u16");
        check_breeding::<u32>(geometry, "global_u32");
    }
}

impl<I: NodeId> Case<I> {
    /// First individuals, random or given.
    fn making(world: &World, i: u32) -> Case<I> {
        const COUNT: u32 = 12;
        let mut random = Random::new(u64::from(i) + 72);
        let (n, metric) = (world.problem.n(), world.problem.device_metric());
        let rules = GenerationRules {
            generation: 0,
            since: 0,
            unfinished: i / 2 % 2,
            directed: world.problem.is_directed().into(),
            ..rules(&mut random, n, (1, COUNT))
        };
        let given = i % 2;
        let individuals = if given != 0 { random.tours(n, COUNT) } else { vec![0; (n * COUNT) as usize] };
        let before = Host::new(&mut random, &individuals, COUNT, 1);
        let name = format!("{}, given {given}, unfinished {}", world.instance.name(), rules.unfinished);
        let args = GeneticArgs { given, ..args(rules, COUNT, metric) };
        let mut case = Case { name, args, after: before.clone(), before };
        with_geometry!(world.problem, |geometry, places| case.make_at(geometry, places));
        for row in 0..COUNT {
            let length = case.after.next_costs[row as usize];
            world.assert_length(&case.name, &case.after.individual(row, n), length);
        }
        case
    }

    /// What the kernel should do.
    fn make_at<G: Geometry>(&mut self, geometry: G, places: &[G::Place]) {
        let (rules, population) = (self.args.rules, self.after.view());
        let places = geometry::Places { geometry, start: places.as_ptr() };
        for row in 0..self.args.count {
            // SAFETY: the tables have that row; given ones hold tours.
            unsafe {
                if self.args.given != 0 {
                    genetic::settle(Serial, &rules, population, places, row);
                } else {
                    genetic::random_individual(Serial, &rules, population, places, row);
                }
            }
        }
    }

    fn check_making(&self, device: &Device, kernel: &MakeIndividuals, board: &Board) {
        let all = self.args.count;
        for (grid, warps) in [(all, 8), (all, 1), (FEW, 3)] {
            let what = format!("{}, {}, {grid} blocks of {warps} warps", kernel.name, self.name);
            let mut t = Tables::new(device, &self.before);
            // SAFETY: arrays and shared memory have the sizes that the arguments tell.
            unsafe {
                kernel.launch(
                    device.stream(),
                    Launch { grid, block: 32 * warps, shared: TEAM_BYTES },
                    self.args,
                    buffers::MakeIndividuals {
                        places: &board.places,
                        points: &board.points,
                        matrix: &board.matrix,
                        individuals: &mut t.individuals,
                        next_rows: &mut t.next_rows,
                        next_costs: &mut t.next_costs,
                        best: &mut t.best,
                        born: &mut t.born,
                    },
                )
            }
            .unwrap_or_else(|e| panic!("{what}: {e}"));
            t.check(device, &what, &self.after);
        }
    }
}

fn check_making<I: NodeId>(geometry: &str, id: &str) {
    let worlds = worlds(geometry);
    let all: Vec<_> = worlds.iter().map(|world| [0, 1, 2, 3].map(|i| Case::<I>::making(world, i))).collect();
    let Some(gpu) = gpu() else { return };
    let (name, function) = load(&gpu, &format!("block_make_individuals_{geometry}_{id}"));
    let kernel = MakeIndividuals { name, function };
    for (world, cases) in worlds.iter().zip(&all) {
        let board = Board::new(&gpu, &world.problem);
        cases.iter().for_each(|case| case.check_making(&gpu, &kernel, &board));
    }
}

fn block_make_individuals() {
    for geometry in GEOMETRIES {
        check_making::<u16>(geometry, "u16");
        check_making::<u32>(geometry, "u32");
    }
}

/// Of kernels whose threads go in grid strides: one thread an element, or fewer.
const LAUNCHES: [Launch; 3] = [
    Launch { grid: 1, block: 32, shared: 0 },
    Launch { grid: 3, block: 96, shared: 0 },
    Launch { grid: 64, block: 256, shared: 0 },
];

/// Lengths after local search: the gains, and the case. There are places for twice as many individuals as were born.
fn finishing(random: &mut Random, count: u32, i: u32) -> (Vec<i64>, Case<u32>) {
    let gains: Vec<i64> = (0..count).map(|_| i64::from(random.below(1 << 31) >> random.below(32))).collect();
    let mut rules = rules(random, 4, (1, 4));
    let mut before = Host::<u32>::new(random, &[], 2 * count, u32::MAX);
    before.next_costs = before.costs.clone();
    let places = random.permutation(2 * count);
    for (born, place) in before.born.iter_mut().zip(&places[..count as usize]) {
        *born = u64::from(random.below(1 << 31)) | u64::from(*place) << 32;
    }
    (rules.target, before.best) = if i < 4 { beginning(&rules, i) } else { end(&rules, i) };
    let mut case = Case {
        name: format!("{count} individuals, target {}, {:?}", rules.target, recorded(before.best)),
        args: args(rules, count, 0),
        after: before.clone(),
        before,
    };
    let population = case.after.view();
    for (index, &gain) in (0..).zip(&gains) {
        // SAFETY: the tables have the places that were born.
        unsafe {
            if !is_over(&rules, population.best) {
                genetic::finish(&rules, population, index, gain);
            }
        }
    }
    assert_eq!(case.after.next_costs == case.before.next_costs, i >= 4 || gains == [0], "{}", case.name);
    (gains, case)
}

fn grid_finish_individuals() {
    let mut random = Random::new(73);
    let counts: Vec<u32> = sizes(&[1, 9, 33, 64, 700, 5000]).collect();
    let cases: Vec<_> = counts
        .into_iter()
        .flat_map(|count| (0..8).map(move |i| (count, i)))
        .map(|(count, i)| finishing(&mut random, count, i))
        .collect();
    let Some(gpu) = gpu() else { return };
    let (name, function) = load(&gpu, "grid_finish_individuals");
    let kernel = FinishIndividuals { name, function };
    for ((gains, case), launch) in cases.iter().flat_map(|case| LAUNCHES.map(|launch| (case, launch))) {
        let what = format!("{}, {launch:?}", case.name);
        let mut t = Tables::new(&gpu, &case.before);
        let gains = upload(&gpu, gains);
        // SAFETY: the arrays have the sizes that the arguments tell.
        unsafe {
            kernel.launch(
                gpu.stream(),
                launch,
                case.args,
                buffers::FinishIndividuals {
                    gains: &gains,
                    next_costs: &mut t.next_costs,
                    best: &mut t.best,
                    born: &mut t.born,
                },
            )
        }
        .unwrap_or_else(|e| panic!("{what}: {e}"));
        t.check(&gpu, &what, &case.after);
    }
}

impl<I: NodeId> Case<I> {
    /// Best individuals go to other groups. Of the groups, the best individual is anywhere, in the first place, or in the last.
    fn transferring(n: u32, (groups, group): (u32, u32), i: u32) -> Case<I> {
        let mut random = Random::new(u64::from(1000 * groups + group + n) + u64::from(i));
        let mut rules = rules(&mut random, n, (groups, group));
        let count = groups * group;
        // Many equal lengths, or few.
        let spread = if i.is_multiple_of(2) { 3 } else { u32::MAX };
        let individuals = random.tours(n, count);
        let mut before = Host::new(&mut random, &individuals, count, spread);
        for places in before.costs.chunks_mut(group as usize) {
            match random.below(3) {
                0 => {}
                1 => places[0] = 7,
                _ => places[group as usize - 1] = 7,
            }
        }
        (rules.target, before.best) = if i < 4 { beginning(&rules, i) } else { end(&rules, i) };
        let mut case = Case {
            name: format!("{n} nodes, {groups} groups of {group}, {i}"),
            args: args(rules, rules.children(), 0),
            after: before.clone(),
            before,
        };
        let population = case.after.view();
        for group in 0..groups {
            // SAFETY: the tables have the sizes that the rules tell, and rows are a permutation.
            unsafe {
                if !is_over(&rules, population.best) {
                    genetic::transfer::<_, I>(Serial, &rules, population, group);
                }
            }
        }
        let moved = numbers(&case.after.individuals) != numbers(&case.before.individuals);
        assert_eq!(moved, i < 4, "{}", case.name);
        case
    }

    fn check_transfer(&self, device: &Device, kernel: &TransferIndividuals) {
        for &warps in some(&[1, 3, 8, 32]) {
            let what = format!("{}, {}, {warps} warps", kernel.name, self.name);
            let mut t = Tables::new(device, &self.before);
            let launch = Launch { grid: self.args.rules.groups, block: 32 * warps, shared: TEAM_BYTES };
            // SAFETY: arrays and shared memory have the sizes that the arguments tell.
            unsafe {
                kernel.launch(
                    device.stream(),
                    launch,
                    self.args,
                    buffers::TransferIndividuals {
                        rows: &t.rows,
                        costs: &t.costs,
                        individuals: &mut t.individuals,
                        next_rows: &mut t.next_rows,
                        next_costs: &mut t.next_costs,
                        best: &mut t.best,
                    },
                )
            }
            .unwrap_or_else(|e| panic!("{what}: {e}"));
            t.check(device, &what, &self.after);
        }
    }
}

fn check_transfer<I: NodeId>(id: &str) {
    let groups = [(2, 4), (2, 72), (3, 12), (8, 4), (8, 40)];
    let shapes = sizes(&[4, 33, 64, 300]).flat_map(|n| some(&groups).iter().map(move |&groups| (n, groups)));
    let all: Vec<_> =
        shapes.flat_map(|(n, groups)| (0..8).map(move |i| Case::<I>::transferring(n, groups, i))).collect();
    let Some(gpu) = gpu() else { return };
    let (name, function) = load(&gpu, &format!("block_transfer_individuals_{id}"));
    let kernel = TransferIndividuals { name, function };
    all.iter().for_each(|case| case.check_transfer(&gpu, &kernel));
}

fn block_transfer_individuals() {
    check_transfer::<u16>("u16");
    check_transfer::<u32>("u32");
}
