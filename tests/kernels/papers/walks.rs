//! `block_walk_*` and `block_evaluate_*`: walks through solutions, and looks at neighbours, in blocks of all shapes.

use antwarp::backend::cpu::OnThreads;
use antwarp::backend::cuda::{
    Buffer, CREW_BYTES, Device, EvaluateNeighbors, Launch, Walks, buffers, walk_kernel,
};
use antwarp_core::geometry::{Grid, Numbered};
use antwarp_core::kernels::WalkArgs;
use antwarp_core::papers::neighborhood::Neighborhood;
use antwarp_core::papers::problem::{
    MaxCut, NestedPerceptron, NestedTour, Partition, Perceptron, Qap, RotatedTour, SwappedTour, Weierstrass,
};
use antwarp_core::papers::search::{Layout, WalkState};
use warpsmith::Function;

use crate::gpu::{Poison, download, gpu, guarded, load, poisoned, small, upload};
use crate::papers::colony::on_every_ptx;
use crate::papers::walk_cases::{Batch, Case, Course, Kind, Look, Snapshot, padded};
use crate::papers::walk_instances::{Named, functions, graphs, partitions, perceptrons, qaps, tours};

tests![
    qap,
    qap_stored,
    perceptron_1,
    perceptron_2,
    perceptron_3,
    tour_swap_grid,
    tour_swap_numbered,
    tour_rotate_grid,
    tour_rotate_numbered,
    weierstrass_f32,
    weierstrass_f64,
    partition,
    max_cut,
    perceptron_nested,
    tour_nested_grid,
    tour_nested_numbered
];

/// The kernels tested here.
pub const NAMES: &[&str] = &[
    "block_walk_qap",
    "block_evaluate_qap",
    "block_walk_qap_stored",
    "block_walk_qap_stored_shared",
    "block_evaluate_qap_stored",
    "block_walk_perceptron_1",
    "block_evaluate_perceptron_1",
    "block_walk_perceptron_2",
    "block_evaluate_perceptron_2",
    "block_walk_perceptron_3",
    "block_evaluate_perceptron_3",
    "block_walk_tour_swap_grid",
    "block_walk_tour_swap_grid_shared",
    "block_evaluate_tour_swap_grid",
    "block_walk_tour_swap_numbered",
    "block_walk_tour_swap_numbered_shared",
    "block_evaluate_tour_swap_numbered",
    "block_walk_tour_rotate_grid",
    "block_evaluate_tour_rotate_grid",
    "block_walk_tour_rotate_numbered",
    "block_evaluate_tour_rotate_numbered",
    "block_walk_weierstrass_f32",
    "block_evaluate_weierstrass_f32",
    "block_walk_weierstrass_f64",
    "block_evaluate_weierstrass_f64",
    "block_walk_partition",
    "block_walk_partition_shared",
    "block_evaluate_partition",
    "block_walk_max_cut",
    "block_walk_max_cut_shared",
    "block_evaluate_max_cut",
    "block_walk_perceptron_nested",
    "block_walk_tour_nested_grid",
    "block_walk_tour_nested_numbered",
];

/// Blocks of a walk, and threads of a block.
type Shape = (u32, u32);

/// As many threads as the kernel allows.
const MOST: u32 = 1024;
/// More blocks than a warp has threads, and more threads than neighbours, are among them.
const SHAPES: [&[Shape]; 6] = [&[(1, 32)], &[(1, 256)], &[(1, MOST)], &[(3, 64)], &[(8, 128)], &[(40, 32)]];
const FEW: [&[Shape]; 2] = [&[(1, MOST)], &[(3, 64)]];
/// One batch in one shape, the next in another.
const MIXED: [&[Shape]; 1] = [&[(1, 64), (3, 32), (1, MOST), (2, 96)]];
/// Words of a candidate.
const CANDIDATE: u32 = 3;
/// Differences that are shown.
const SHOWN: usize = 20;

/// How much of a case is tested.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effort {
    Full,
    Few,
}

impl Effort {
    /// The shapes of each batch, over and over, in which a course is run.
    fn shapes(self, kind: Kind, in_shared: bool) -> Vec<&'static [Shape]> {
        match (self, kind, in_shared) {
            (_, Kind::Batches, _) => MIXED.to_vec(),
            (Effort::Full, Kind::Whole | Kind::Rivals | Kind::Mates, true) => SHAPES.to_vec(),
            (Effort::Full, Kind::Rivals | Kind::Mates, false) => vec![SHAPES[0], SHAPES[2], SHAPES[4]],
            (Effort::Full, Kind::Whole, false) => vec![SHAPES[3]],
            (Effort::Full, Kind::Ended | Kind::Late, true) => FEW.to_vec(),
            (Effort::Few, Kind::Rivals | Kind::Mates, true) => FEW.to_vec(),
            (Effort::Few, Kind::Rivals | Kind::Mates | Kind::Ended, _) => vec![FEW[1]],
            (Effort::Full, Kind::Ended | Kind::Late, false) | (Effort::Few, ..) => Vec::new(),
        }
    }
}

/// A kernel's most threads, and as many of a shape's as that.
fn threads_of(function: &Function, (_, threads): Shape) -> u32 {
    threads.min(function.facts().block_threads)
}

/// Whether so many blocks, which wait for each other, run at the same time.
fn are_resident(device: &Device, function: &Function, launch: Launch) -> bool {
    let each = function.blocks_per_multiprocessor(launch.block, launch.shared);
    launch.grid <= each.expect("the kernel's occupancy") * device.multiprocessors()
}

/// Where the blocks of each walk meet: no arrivals so far.
fn meeting(device: &Device, walks: u32, parts: u32) -> Buffer<u64> {
    let walk = [vec![0], vec![u64::POISON; 2 * (CANDIDATE * parts) as usize]].concat();
    guarded(device, &walk.repeat(walks as usize))
}

/// A kernel that walks.
struct Walker {
    kernel: Walks,
    in_shared: bool,
}

impl Walker {
    fn load(device: &Device, problem: &str, in_shared: bool) -> Walker {
        let (name, function) = load(device, &walk_kernel(problem, in_shared));
        Walker { kernel: Walks { name, function }, in_shared }
    }

    /// How a batch is launched.
    fn launch(&self, course: &Course, shape: Shape) -> Launch {
        Launch {
            grid: course.walks() * shape.0,
            block: threads_of(&self.kernel.function, shape),
            shared: CREW_BYTES + if self.in_shared { course.layout.bytes } else { 0 },
        }
    }

    /// Runs a course in these shapes; where it first differs from the CPU's.
    fn differences(&self, device: &Device, case: &Case, course: &Course, shapes: &[Shape]) -> Option<String> {
        let memory = if self.in_shared { "shared" } else { "global" };
        let (kernel, case_name, course_name) = (&self.kernel.name, &case.name, &course.name);
        let what = format!("{kernel} in {memory} memory, {case_name}, {course_name}, shapes {shapes:?}");
        if shapes
            .iter()
            .any(|&s| s.0 > 1 && !are_resident(device, &self.kernel.function, self.launch(course, s)))
        {
            println!("skipped: {what}: more blocks than the device runs at the same time");
            return None;
        }
        let mut arrays = Arrays::new(device, case, course);
        let mut before = &course.start;
        for (i, (batch, cpu)) in course.batches.iter().zip(&course.cpu).enumerate() {
            let shape = shapes[i % shapes.len()];
            let (parts, threads) = (shape.0, threads_of(&self.kernel.function, shape));
            let what = format!(
                "{what}, batch {i} to iteration {} with rival bit {}, {parts} blocks of {threads} threads a walk",
                batch.end, batch.rival_bit
            );
            self.run(device, &what, &mut arrays, (course, batch), shape);
            let (old, new) = arrays.download(device, &what, case);
            let is_read_only = old.states == before.states && old.arrays[0] == before.arrays[0];
            assert!(is_read_only, "{what}: what the kernel only reads has changed");
            let differences = new.differences(cpu);
            if !differences.is_empty() {
                return Some(format!("{what}:\n    {}", differences.join("\n    ")));
            }
            before = cpu;
        }
        None
    }

    /// Runs a batch in a shape.
    fn run(
        &self,
        device: &Device,
        what: &str,
        arrays: &mut Arrays,
        (course, batch): (&Course, &Batch),
        shape: Shape,
    ) {
        let (launch, parts) = (self.launch(course, shape), shape.0);
        if arrays.parts != parts {
            arrays.parts = parts;
            arrays.slots = meeting(device, course.walks(), parts);
            let replicas = if self.in_shared { 0 } else { launch.grid * course.layout.bytes };
            arrays.memory = poisoned(device, replicas as usize);
        }
        let args = WalkArgs {
            shape: arrays.shape,
            rules: course.rules_of(batch),
            layout: course.layout,
            common: arrays.common_bytes,
            parts,
            given: 0,
            in_shared: self.in_shared.into(),
            padding: 0,
        };
        let ([old_states, states], [old_bests, bests]) = (&mut arrays.states, &mut arrays.bests);
        // SAFETY: `Arrays` and the lines above made the arrays for these walks and blocks.
        let launched = unsafe {
            self.kernel.launch_as(
                parts > 1,
                device.stream(),
                launch,
                args,
                buffers::Walks {
                    tables: &arrays.tables,
                    old_states,
                    old_bests,
                    states,
                    bests,
                    solutions: &mut arrays.solutions,
                    accepted: &mut arrays.accepted,
                    traces: &mut arrays.traces,
                    memory: &mut arrays.memory,
                    common: &mut arrays.common,
                    slots: &mut arrays.slots,
                },
            )
        };
        launched.unwrap_or_else(|e| panic!("{what}: {e}"));
        arrays.states.reverse();
        arrays.bests.reverse();
    }
}

/// What walks have on the device. Of two arrays, the first is the one that was written last.
struct Arrays {
    shape: antwarp_core::papers::problem::Shape,
    common_bytes: u64,
    /// Blocks of a walk that `memory` and `slots` are for.
    parts: u32,
    tables: Buffer<u8>,
    states: [Buffer<WalkState>; 2],
    bests: [Buffer<u8>; 2],
    solutions: Buffer<u8>,
    accepted: Buffer<u8>,
    traces: Buffer<u32>,
    memory: Buffer<u8>,
    common: Buffer<u8>,
    slots: Buffer<u64>,
}

impl Arrays {
    fn new(device: &Device, case: &Case, course: &Course) -> Arrays {
        let (walks, common) = (course.walks() as usize, padded(case.common));
        let of_walks = || poisoned(device, walks * case.solution_bytes());
        Arrays {
            shape: case.tables.shape,
            common_bytes: common as u64,
            parts: 0,
            tables: upload(device, case.tables.bytes()),
            states: [guarded(device, &course.start.states), poisoned(device, walks)],
            bests: [of_walks(), of_walks()],
            solutions: of_walks(),
            accepted: of_walks(),
            traces: poisoned(device, course.start.arrays[3].len()),
            memory: poisoned(device, 0),
            common: poisoned(device, walks * common),
            slots: poisoned(device, 0),
        }
    }

    /// What the last batch read, of which solutions are not known any more, and what it left behind.
    fn download(&self, device: &Device, what: &str, case: &Case) -> (Snapshot, Snapshot) {
        let elements = |name: &str, buffer: &Buffer<u8>| {
            case.elements(&download(device, &format!("{what}: {name}"), buffer))
        };
        let states = |buffer| download(device, &format!("{what}: states"), buffer);
        let traces = download(device, &format!("{what}: tabu lists"), &self.traces);
        download(device, &format!("{what}: replicas"), &self.memory);
        download(device, &format!("{what}: shared notes"), &self.common);
        download(device, &format!("{what}: candidates"), &self.slots);
        let new = Snapshot {
            states: states(&self.states[0]),
            arrays: [
                elements("best solutions", &self.bests[0]),
                elements("solutions", &self.solutions),
                elements("accepted solutions", &self.accepted),
                traces.into_iter().map(u64::from).collect(),
            ],
        };
        let bests = elements("old best solutions", &self.bests[1]);
        let old = Snapshot { states: states(&self.states[1]), arrays: [bests, vec![], vec![], vec![]] };
        (old, new)
    }
}

/// The kernel that looks at neighbours.
struct Looker(EvaluateNeighbors);

impl Looker {
    fn load(device: &Device, problem: &str) -> Looker {
        let (name, function) = load(device, &format!("block_evaluate_{problem}"));
        Looker(EvaluateNeighbors { name, function })
    }

    /// Looks in this shape, at its own neighbours or at those that it is given; where costs differ from the CPU's.
    fn differences(
        &self,
        device: &Device,
        case: &Case,
        (look, is_given): (&Look, bool),
        shape: Shape,
    ) -> Option<String> {
        let (kernel, layout): (_, Layout) = (&self.0, look.layout);
        let neighbors = if is_given { "given" } else { "own" };
        let what =
            format!("{}, {}, {}, {neighbors} neighbours, shape {shape:?}", kernel.name, case.name, look.name);
        let threads = threads_of(&kernel.function, shape);
        let launch = Launch { grid: shape.0, block: threads, shared: CREW_BYTES + layout.bytes };
        if shape.0 > 1 && !are_resident(device, &kernel.function, launch) {
            println!("skipped: {what}: more blocks than the device runs at the same time");
            return None;
        }
        let common = padded(case.common);
        let args = WalkArgs {
            shape: case.tables.shape,
            rules: look.rules,
            layout,
            common: common as u64,
            parts: shape.0,
            given: is_given.into(),
            in_shared: 1,
            padding: 0,
        };
        let (tables, solution) = (upload(device, case.tables.bytes()), upload(device, &look.solution));
        let given = upload(device, if is_given { &look.neighbors } else { &[] });
        let mut common = poisoned(device, common);
        let mut slots = meeting(device, 1, shape.0);
        let mut costs = poisoned(device, look.costs.len());
        // SAFETY: the arrays have the problem's sizes.
        let launched = unsafe {
            kernel.launch_as(
                shape.0 > 1,
                device.stream(),
                launch,
                args,
                buffers::EvaluateNeighbors {
                    tables: &tables,
                    solution: &solution,
                    given: &given,
                    common: &mut common,
                    slots: &mut slots,
                    costs: &mut costs,
                },
            )
        };
        launched.unwrap_or_else(|e| panic!("{what}: {e}"));
        let gpu: Vec<u64> = download(device, &what, &costs);
        download(device, &format!("{what}: shared notes"), &common);
        let differing: Vec<usize> = (0..gpu.len()).filter(|&i| gpu[i] != look.costs[i]).collect();
        let i = *differing.first()?;
        let (there, count, all) = (gpu[i] as i64, differing.len(), gpu.len());
        let here = look.costs[i] as i64;
        Some(format!(
            "{what}: {count} of {all} costs differ; the first is {i}: {there:#x}, {here:#x} on the CPU"
        ))
    }
}

/// All kernels of a problem on some instances, on the device's own PTX; walks in shared memory on the others.
fn check<P: OnThreads>(instances: Vec<Named>) {
    let cases: Vec<Case> = instances.into_iter().map(|(name, tables)| Case::new::<P>(name, tables)).collect();
    let adopts = cases.iter().flat_map(|case| &case.courses).any(Course::adopts);
    // Nobody looks at several neighbourhoods for the host to choose.
    let has_looker = cases.iter().all(|case| case.tables.problem::<P>().moves().levels() == 1);
    assert!(adopts, "no walk goes on from a rival's solution: nothing is tested");
    let Some(gpu) = gpu() else { return };
    let own = gpu.machine().details;
    let mut all = Vec::new();
    let differences = std::cell::RefCell::new(&mut all);
    on_every_ptx(gpu, |device| {
        let details = device.machine().details;
        let is_own = details == own;
        let walkers: &[bool] = if is_own { &[true, false] } else { &[true] };
        let walkers: Vec<Walker> =
            walkers.iter().map(|&in_shared| Walker::load(device, P::NAME, in_shared)).collect();
        let looker = (is_own && has_looker).then(|| Looker::load(device, P::NAME));
        for (i, case) in cases.iter().enumerate() {
            // The first two instances of a problem differ most.
            let effort = if i < 2 && is_own && !small() { Effort::Full } else { Effort::Few };
            let found = check_case(device, case, effort, &walkers, looker.as_ref());
            differences.borrow_mut().extend(found.into_iter().map(|d| format!("{details}: {d}")));
        }
    });
    let (count, shown) = (all.len(), &all[..all.len().min(SHOWN)]);
    assert!(all.is_empty(), "{count} differences between GPU and CPU\n{}", shown.join("\n"));
}

/// The differences of a case.
fn check_case(
    device: &Device,
    case: &Case,
    effort: Effort,
    walkers: &[Walker],
    looker: Option<&Looker>,
) -> Vec<String> {
    let mut found = Vec::new();
    for walker in walkers {
        for course in &case.courses {
            for shapes in effort.shapes(course.kind, walker.in_shared) {
                found.extend(walker.differences(device, case, course, shapes));
            }
        }
    }
    let shapes: &[&[Shape]] = if effort == Effort::Full { &SHAPES } else { &FEW };
    for (looker, look) in looker.iter().flat_map(|looker| case.looks.iter().map(move |look| (looker, look))) {
        for is_given in [false, true] {
            let look = (look, is_given);
            found.extend(shapes.iter().filter_map(|shape| looker.differences(device, case, look, shape[0])));
        }
    }
    found
}

fn qap() {
    check::<Qap<false>>(qaps());
}

fn qap_stored() {
    check::<Qap<true>>(qaps());
}

fn perceptron_1() {
    check::<Perceptron<1>>(perceptrons(1));
}

fn perceptron_2() {
    check::<Perceptron<2>>(perceptrons(2));
}

fn perceptron_3() {
    check::<Perceptron<3>>(perceptrons(3));
}

fn tour_swap_grid() {
    check::<SwappedTour<Grid>>(tours("grid", 27));
}

fn tour_swap_numbered() {
    check::<SwappedTour<Numbered>>(tours("numbered", 27));
}

fn tour_rotate_grid() {
    check::<RotatedTour<Grid>>(tours("grid", 15));
}

fn tour_rotate_numbered() {
    check::<RotatedTour<Numbered>>(tours("numbered", 15));
}

fn weierstrass_f32() {
    check::<Weierstrass<f32>>(functions::<f32>());
}

fn weierstrass_f64() {
    check::<Weierstrass<f64>>(functions::<f64>());
}

fn partition() {
    check::<Partition>(partitions());
}

fn max_cut() {
    check::<MaxCut>(graphs());
}

fn perceptron_nested() {
    check::<NestedPerceptron>(perceptrons(3));
}

fn tour_nested_grid() {
    check::<NestedTour<Grid>>(tours("grid", 15));
}

fn tour_nested_numbered() {
    check::<NestedTour<Numbered>>(tours("numbered", 15));
}
