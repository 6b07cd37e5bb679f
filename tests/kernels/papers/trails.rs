//! `*_prepare_*` and `*_update_*`: filling and updating a pheromone memory.

use antwarp::backend::cuda::{Buffer, Device, Launch, PrepareTrails, UpdateTrails, buffers};
use antwarp::engine::BackendError;
use antwarp_core::kernels::TrailArgs;
use antwarp_core::node::NodeId;
use antwarp_core::papers::ants::colony::{ColonyState, Limits};
use antwarp_core::papers::ants::pheromone::{Candidate, Form, Matrix, Tables, prepare_row, update_row};
use antwarp_core::team::{Serial, Slots};

use crate::gpu::{Poison, assert_same, download, gpu, guarded, id_bytes, load, sizes, upload};
use crate::input::{Geometry, Random, metrics, typed};
use crate::papers::construct::state;

tests![
    block_prepare_matrix,
    warp_prepare_candidates_u16,
    warp_prepare_candidates_u32,
    block_update_matrix,
    warp_update_candidates_u16,
    warp_update_candidates_u32
];

/// The kernels tested here.
pub const NAMES: &[&str] = &[
    "block_prepare_matrix",
    "warp_prepare_candidates_u16",
    "warp_prepare_candidates_u32",
    "block_update_matrix",
    "warp_update_candidates_u16",
    "warp_update_candidates_u32",
];

const SIZES: [u32; 4] = [5, 33, 64, 257];
const CANDIDATES: [u32; 3] = [4, 8, 40];
/// alpha, beta, and whether edges have a direction.
const EXPONENTS: [(f32, f32, u32); 6] =
    [(1.0, 2.0, 0), (2.0, 5.0, 0), (1.5, 2.0, 0), (1.5, 5.0, 1), (1.0, 5.0, 1), (2.0, 2.0, 1)];
const WARPS: [u32; 3] = [1, 3, 8];
const GRID: u32 = 3;

/// A memory's tables.
#[derive(Clone, Debug, PartialEq)]
struct Memory {
    trails: Vec<f32>,
    heuristic: Vec<f32>,
    weights: Vec<f32>,
}

impl Memory {
    fn poisoned(entries: usize) -> Self {
        let table = || vec![f32::POISON; entries];
        Memory { trails: table(), heuristic: table(), weights: table() }
    }

    /// The tables for core; valid while `self` is.
    fn tables(&mut self) -> Tables {
        // SAFETY: used while the vectors live, for their entries.
        let slots = |v: &mut Vec<f32>| unsafe { Slots::of(v) };
        Tables {
            trails: slots(&mut self.trails),
            heuristic: slots(&mut self.heuristic),
            weights: slots(&mut self.weights),
        }
    }
}

/// A kernel's input, and what it makes of it.
struct Case {
    args: TrailArgs,
    geometry: Geometry,
    lists: Vec<u32>,
    successor: Vec<u32>,
    predecessor: Vec<u32>,
    state: ColonyState,
    prepared: Memory,
    /// Trails before the update.
    trails: Vec<f32>,
    updated: Memory,
}

/// All cases of matrices (`I` means nothing there), or of candidate lists.
fn cases<I: NodeId>(matrix: bool) -> Vec<Case> {
    let mut random = Random::new(7);
    let mut metrics = metrics().into_iter().cycle();
    let mut cases = Vec::new();
    for n in sizes(&SIZES) {
        let numbers: &[u32] = if matrix { &[0] } else { &CANDIDATES };
        for &k in numbers.iter().filter(|&&k| k < n) {
            for exponents in EXPONENTS {
                let geometry = Geometry::new(&mut random, n, metrics.next().expect("a metric"));
                cases.push(Case::new::<I>(&mut random, geometry, k, exponents));
            }
        }
    }
    cases
}

impl Case {
    fn new<I: NodeId>(
        random: &mut Random,
        geometry: Geometry,
        k: u32,
        (alpha, beta, directed): (f32, f32, u32),
    ) -> Case {
        let n = geometry.n;
        let args = TrailArgs {
            n,
            k,
            metric: geometry.device_metric(),
            alpha,
            beta,
            scale: 40.0 * (1.0 + random.unit() as f32),
            persistence: 0.9,
            trail: 8.0 + random.unit() as f32,
            directed,
            padding: 0,
        };
        let (mut successor, mut predecessor) = (vec![0; n as usize], vec![0; n as usize]);
        let tour = random.permutation(n);
        for (&a, &b) in tour.iter().zip(tour.iter().cycle().skip(1)) {
            (successor[a as usize], predecessor[b as usize]) = (b, a);
        }
        // Some trails reach the upper limit, some the lower.
        let limits = Limits { lowest: 3.0 + random.unit() as f32, highest: 9.0, deposit: 0.7 };
        let lists = if k == 0 { Vec::new() } else { random.lists(n, k) };
        let state = ColonyState { limits, ..state(0) };
        let empty = Memory::poisoned(0);
        let mut case = Case {
            args,
            geometry,
            lists,
            successor,
            predecessor,
            state,
            prepared: empty.clone(),
            trails: Vec::new(),
            updated: empty,
        };
        if k == 0 {
            case.expect(random, Matrix { n });
        } else {
            let lists = typed::<I>(&case.lists);
            case.expect(random, Candidate { lists: lists.as_ptr(), k });
        }
        case
    }

    /// What the CPU makes of it.
    fn expect<F: Form>(&mut self, random: &mut Random, form: F) {
        let (args, distances, limits) = (self.args, self.geometry.distances(), self.state.limits);
        self.prepared = Memory::poisoned(args.n as usize * form.stride() as usize);
        let tables = self.prepared.tables();
        for node in 0..args.n {
            let (heuristic, trail) = ((args.scale, args.beta), (args.trail, args.alpha));
            // SAFETY: a row of the tables, which are as large as the form asks for.
            unsafe { prepare_row(Serial, form, tables, node, distances, heuristic, trail) }
        }
        self.trails = self.prepared.trails.iter().map(|_| 12.0 * random.unit() as f32).collect();
        self.updated = self.before_update();
        let tables = self.updated.tables();
        for node in 0..args.n {
            let back = if args.directed != 0 { u32::MAX } else { self.predecessor[node as usize] };
            let links = (self.successor[node as usize], back);
            // SAFETY: as above.
            unsafe { update_row(Serial, form, tables, node, links, limits, (args.persistence, args.alpha)) }
        }
        let within = |&t: &f32| t >= limits.lowest && t <= limits.highest;
        assert!(self.updated.trails.iter().all(within), "{}", self.name("trails beyond the limits"));
    }

    /// The tables before an update: a prepared memory with other trails.
    fn before_update(&self) -> Memory {
        Memory { trails: self.trails.clone(), ..self.prepared.clone() }
    }

    fn name(&self, kernel: &str) -> String {
        let a = &self.args;
        let metric = self.geometry.name();
        format!("{kernel}, {} nodes, {} candidates, {metric}, alpha {}, beta {}", a.n, a.k, a.alpha, a.beta)
    }
}

/// A pheromone memory on the device.
struct OnDevice {
    trails: Buffer<f32>,
    heuristic: Buffer<f32>,
    weights: Buffer<f32>,
}

/// Calls `launch` with the tables, `before` on the device, and compares what it makes of them.
fn compare(
    device: &Device,
    what: &str,
    (before, after): (&Memory, &Memory),
    launch: impl FnOnce(&mut OnDevice) -> Result<(), BackendError>,
) {
    let mut memory = OnDevice {
        trails: guarded(device, &before.trails),
        heuristic: guarded(device, &before.heuristic),
        weights: guarded(device, &before.weights),
    };
    launch(&mut memory).unwrap_or_else(|e| panic!("{what}: {e}"));
    for (name, gpu, cpu) in [
        ("trails", memory.trails, &after.trails),
        ("heuristic values", memory.heuristic, &after.heuristic),
        ("weights", memory.weights, &after.weights),
    ] {
        let what = format!("{what}: {name}");
        let bits = |v: &[f32]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_same(&what, &bits(&download(device, &what, &gpu)), &bits(cpu));
    }
}

fn check_prepare<I: NodeId>(name: &str, matrix: bool) {
    let cases = cases::<I>(matrix);
    let Some(gpu) = gpu() else { return };
    let (name, function) = load(&gpu, name);
    let kernel = PrepareTrails { name, function };
    for case in &cases {
        let (points, matrix) = (upload(&gpu, case.geometry.points()), upload(&gpu, case.geometry.matrix()));
        let lists = upload(&gpu, &id_bytes::<I>(&case.lists));
        let before = Memory::poisoned(case.prepared.trails.len());
        for warps in WARPS {
            let launch = Launch { grid: GRID, block: 32 * warps, shared: 0 };
            let what = format!("{}, {warps} warps", case.name(&kernel.name));
            // SAFETY: the arrays have the sizes that the arguments tell.
            compare(&gpu, &what, (&before, &case.prepared), |memory| unsafe {
                kernel.launch(
                    gpu.stream(),
                    launch,
                    case.args,
                    buffers::PrepareTrails {
                        lists: &lists,
                        points: &points,
                        matrix: &matrix,
                        trails: &mut memory.trails,
                        heuristic: &mut memory.heuristic,
                        weights: &mut memory.weights,
                    },
                )
            });
        }
    }
}

fn check_update<I: NodeId>(name: &str, matrix: bool) {
    let cases = cases::<I>(matrix);
    let Some(gpu) = gpu() else { return };
    let (name, function) = load(&gpu, name);
    let kernel = UpdateTrails { name, function };
    for case in &cases {
        let (state, lists) = (upload(&gpu, &[case.state]), upload(&gpu, &id_bytes::<I>(&case.lists)));
        let (successor, predecessor) = (upload(&gpu, &case.successor), upload(&gpu, &case.predecessor));
        let before = case.before_update();
        for warps in WARPS {
            let launch = Launch { grid: GRID, block: 32 * warps, shared: 0 };
            let what = format!("{}, {warps} warps", case.name(&kernel.name));
            // SAFETY: the arrays have the sizes that the arguments tell.
            compare(&gpu, &what, (&before, &case.updated), |memory| unsafe {
                kernel.launch(
                    gpu.stream(),
                    launch,
                    case.args,
                    buffers::UpdateTrails {
                        state: &state,
                        lists: &lists,
                        successor: &successor,
                        predecessor: &predecessor,
                        trails: &mut memory.trails,
                        heuristic: &mut memory.heuristic,
                        weights: &mut memory.weights,
                    },
                )
            });
        }
    }
}

fn block_prepare_matrix() {
    check_prepare::<u32>("block_prepare_matrix", true);
}

fn warp_prepare_candidates_u16() {
    check_prepare::<u16>("warp_prepare_candidates_u16", false);
}

fn warp_prepare_candidates_u32() {
    check_prepare::<u32>("warp_prepare_candidates_u32", false);
}

fn block_update_matrix() {
    check_update::<u32>("block_update_matrix", true);
}

fn warp_update_candidates_u16() {
    check_update::<u16>("warp_update_candidates_u16", false);
}

fn warp_update_candidates_u32() {
    check_update::<u32>("warp_update_candidates_u32", false);
}
