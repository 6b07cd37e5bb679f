//! `block_local_search_*`: local search on ants' tours, and on the new individuals of a population.

use antwarp::backend::cuda::{Device, Launch, LocalSearch as Search, TEAM_BYTES, buffers};
use antwarp::engine::{LocalSearch, Problem};
use antwarp::instance::Instance;
use antwarp::solver::mmas::MmasSettings;
use antwarp_core::geometry::{self, Geometry};
use antwarp_core::kernels::SearchArgs;
use antwarp_core::node::NodeId;
use antwarp_core::operator::{Operator, Or2opt, Or3opt, OrOpt, ThreeOpt, TwoOpt};
use antwarp_core::papers::genetic::NOWHERE;
use antwarp_core::papers::local_search::ants::{self, TourTables};
use antwarp_core::team::{Serial, Slots};

use crate::gpu::{
    Poison, assert_same, download, gpu, guarded, id_bytes, ids, load, poisoned, sizes, some, upload,
};
use crate::input::{
    GEOMETRIES, OPERATORS, Quad, Random, directed, instances, is_tour, kernel_matrix, numbers, place_bytes,
    typed, with_geometry,
};
use crate::papers::colony;
use crate::papers::construct::{assert_same_tours, has_shared, state};

tests![two_opt, or_opt, or_2opt, three_opt, or_3opt, in_colonies];

/// The kernels tested here.
pub const NAMES: &[&str] = &[
    "block_local_search_two_opt_grid_shared_u16",
    "block_local_search_two_opt_grid_global_u32",
    "block_local_search_two_opt_planar_shared_u16",
    "block_local_search_two_opt_planar_global_u32",
    "block_local_search_two_opt_numbered_shared_u16",
    "block_local_search_two_opt_numbered_global_u32",
    "block_local_search_or_opt_grid_shared_u16",
    "block_local_search_or_opt_grid_global_u32",
    "block_local_search_or_opt_planar_shared_u16",
    "block_local_search_or_opt_planar_global_u32",
    "block_local_search_or_opt_numbered_shared_u16",
    "block_local_search_or_opt_numbered_global_u32",
    "block_local_search_or_2opt_grid_shared_u16",
    "block_local_search_or_2opt_grid_global_u32",
    "block_local_search_or_2opt_planar_shared_u16",
    "block_local_search_or_2opt_planar_global_u32",
    "block_local_search_or_2opt_numbered_shared_u16",
    "block_local_search_or_2opt_numbered_global_u32",
    "block_local_search_three_opt_grid_shared_u16",
    "block_local_search_three_opt_grid_global_u32",
    "block_local_search_three_opt_planar_shared_u16",
    "block_local_search_three_opt_planar_global_u32",
    "block_local_search_three_opt_numbered_shared_u16",
    "block_local_search_three_opt_numbered_global_u32",
    "block_local_search_or_3opt_numbered_shared_u16",
    "block_local_search_or_3opt_numbered_global_u32",
];

const SIZES: [u32; 4] = [8, 33, 60, 400];
const TOURS: u32 = 7;
/// Blocks: one a tour, and fewer than that.
const GRIDS: [u32; 2] = [TOURS, 3];
const WARPS: [u32; 4] = [1, 3, 4, 8];
const BREADTH: u32 = 5;

/// Tours, and the links that they are compared with to see where they are new.
struct Case {
    name: String,
    problem: Problem,
    tours: Vec<u32>,
    successor: Vec<u32>,
    predecessor: Vec<u32>,
    found: Vec<u32>,
    gains: Vec<i64>,
}

/// Tours in other rows than their own.
struct Listing {
    rows: Vec<u64>,
    before: Vec<u32>,
    after: Vec<u32>,
    gains: Vec<i64>,
}

impl Case {
    /// Random tours, all of whose nodes are looked at.
    fn fresh<O: Operator, I: NodeId>(instance: &Instance) -> Case {
        let problem = Problem::new(instance, None, 8).unwrap().reduced(&|| false);
        let n = problem.n();
        let own: Vec<u32> = (0..n).collect();
        let mut case = Case {
            name: format!("{}, random tours", instance.name()),
            tours: Random::new(12).tours(n, TOURS),
            successor: own.clone(),
            predecessor: own,
            found: Vec::new(),
            gains: Vec::new(),
            problem,
        };
        (case.found, case.gains) = case.expected::<O, I>();
        let length = |tour: &[u32]| instance.check_tour(&case.problem.original(tour)).expect("a tour");
        let tours = case.tours.chunks(n as usize).zip(case.found.chunks(n as usize));
        for ((before, after), &gain) in tours.zip(&case.gains) {
            assert!(is_tour(after, n), "{}: {after:?}", case.name);
            assert!(gain >= 0 && length(after) == length(before) - gain, "{}", case.name);
        }
        case
    }

    /// Tours like the first that was found: the same, backwards, and with a stretch turned or nodes swapped.
    fn near<O: Operator, I: NodeId>(instance: &Instance) -> Case {
        let mut case = Case::fresh::<O, I>(instance);
        let n = case.problem.n() as usize;
        let base = case.found[..n].to_vec();
        for (i, &node) in base.iter().enumerate() {
            case.successor[node as usize] = base[(i + 1) % n];
            case.predecessor[node as usize] = base[(i + n - 1) % n];
        }
        let mut random = Random::new(13);
        for (i, tour) in case.tours.chunks_mut(n).enumerate() {
            tour.copy_from_slice(&base);
            let mut place = || random.below(n as u32) as usize;
            let (a, b) = (place(), place());
            match i {
                0 => {}
                1 => tour.reverse(),
                i if i % 2 == 0 => tour[a.min(b)..=a.max(b)].reverse(),
                _ => tour.swap(a, b),
            }
        }
        case.name = format!("{}, tours like another", instance.name());
        (case.found, case.gains) = case.expected::<O, I>();
        assert_eq!(case.found[..n], base, "{}: a local optimum", case.name);
        case
    }

    /// What the CPU makes of the tours, and by how much they get shorter.
    fn expected<O: Operator, I: NodeId>(&self) -> (Vec<u32>, Vec<i64>) {
        with_geometry!(self.problem, |geometry, places| self.improved::<O, I, _>(geometry, places))
    }

    fn improved<O: Operator, I: NodeId, G: Geometry>(
        &self,
        geometry: G,
        places: &[G::Place],
    ) -> (Vec<u32>, Vec<i64>) {
        let (n, lists) = (self.problem.n(), typed::<I>(self.problem.neighbors()));
        let tables = TourTables {
            n,
            lists: lists.as_ptr(),
            k: self.problem.search_k(),
            breadth: BREADTH,
            places: geometry::Places { geometry, start: places.as_ptr() },
            successor: self.successor.as_ptr(),
            predecessor: self.predecessor.as_ptr(),
        };
        let mut memory = vec![Quad([f32::POISON; 4]); ants::memory_bytes::<I>(n).div_ceil(size_of::<Quad>())];
        let (mut tours, mut gains) = (Vec::new(), Vec::new());
        for tour in self.tours.chunks(n as usize) {
            let mut tour = typed::<I>(tour);
            // SAFETY: the tables, the memory and the tour have the sizes that `improve` asks for.
            let gain = unsafe {
                let slots = Slots::of(&mut tour);
                ants::improve::<_, O, I, G>(Serial, tables, memory.as_mut_ptr().cast(), slots)
            };
            tours.extend(numbers(&tour));
            gains.push(gain);
        }
        (tours, gains)
    }

    /// The tours in random rows, some of which nobody asks for; one tour is nowhere.
    fn listing(&self) -> Listing {
        const NOT_THERE: usize = 2;
        let n = self.problem.n() as usize;
        let mut random = Random::new(14);
        let mut before = random.tours(n as u32, TOURS + 3);
        let rows = random.permutation(TOURS + 3);
        for (tour, &row) in self.tours.chunks(n).zip(&rows) {
            before[row as usize * n..][..n].copy_from_slice(tour);
        }
        let (mut after, mut gains) = (before.clone(), self.gains.clone());
        for (i, (tour, &row)) in self.found.chunks(n).zip(&rows).enumerate() {
            if i == NOT_THERE {
                gains[i] = i64::POISON;
            } else {
                after[row as usize * n..][..n].copy_from_slice(tour);
            }
        }
        // The upper half is no matter of local search.
        let listed = |(i, &row): (usize, &u32)| {
            u64::from(if i == NOT_THERE { NOWHERE } else { row }) | random.bits() << 32
        };
        let rows = rows[..TOURS as usize].iter().enumerate().map(listed).collect();
        Listing { rows, before, after, gains }
    }

    /// What the GPU makes of these tours, and the gains that it tells of those in rows; `None` if it has too little
    /// shared memory.
    fn launched<I: NodeId>(
        &self,
        device: &Device,
        kernel: &Search,
        (grid, warps): (u32, u32),
        done: u32,
        (tours, rows): (&[u32], &[u64]),
    ) -> Option<(Vec<u32>, Vec<i64>)> {
        let (problem, memory) = (&self.problem, ants::memory_bytes::<I>(self.problem.n()));
        let is_shared = kernel.name.contains("_shared_");
        let shared = TEAM_BYTES + if is_shared { memory as u32 } else { 0 };
        if !has_shared(device, &self.name, shared) {
            return None;
        }
        let args = SearchArgs {
            memory: memory as u64,
            n: problem.n(),
            tours: TOURS,
            k: problem.search_k(),
            breadth: BREADTH,
            metric: problem.device_metric(),
            listed: (!rows.is_empty()).into(),
        };
        let lists = upload(device, &id_bytes::<I>(problem.neighbors()));
        let places = upload(device, &place_bytes(problem.places()));
        // Lists are by the lengths that are looked at: whoever stops at the first that is too long finds what others find.
        let matrix =
            if problem.is_reduced() { problem.search_matrix().to_vec() } else { kernel_matrix(problem) };
        let (points, matrix) = (upload(device, problem.points()), upload(device, &matrix));
        let (successor, predecessor) = (upload(device, &self.successor), upload(device, &self.predecessor));
        let mut memory = poisoned::<u8>(device, if is_shared { 0 } else { grid as usize * memory });
        let mut tours = guarded(device, &id_bytes::<I>(tours));
        let mut gains = poisoned(device, rows.len());
        // SAFETY: arrays and shared memory have the sizes that the arguments tell.
        unsafe {
            kernel.launch(
                device.stream(),
                Launch { grid, block: 32 * warps, shared },
                args,
                buffers::LocalSearch {
                    state: &upload(device, &[state(done)]),
                    lists: &lists,
                    places: &places,
                    points: &points,
                    matrix: &matrix,
                    successor: &successor,
                    predecessor: &predecessor,
                    rows: &upload(device, rows),
                    memory: &mut memory,
                    tours: &mut tours,
                    gains: &mut gains,
                },
            )
        }
        .expect("the launch");
        download(device, &self.name, &memory);
        Some((ids::<I>(&download(device, &self.name, &tours)), download(device, &self.name, &gains)))
    }
}

/// A kernel alone: every grid and every block gives the tours of the CPU.
fn check_kernel<O: Operator, I: NodeId>(operator: &str, geometry: &str, storage: &str) {
    let sizes: Vec<u32> = sizes(&SIZES).collect();
    let of_size = |&n: &u32| if O::DIRECTED { vec![directed(n)] } else { instances(geometry, n) };
    let instances: Vec<_> = some(&sizes).iter().flat_map(of_size).collect();
    let both = |i: &Instance| [Case::fresh::<O, I>(i), Case::near::<O, I>(i)];
    let cases: Vec<_> = instances.iter().flat_map(both).collect();
    assert!(cases.iter().all(|case| case.problem.places().kernel_name() == geometry));
    let Some(gpu) = gpu() else { return };
    let (name, function) = load(&gpu, &format!("block_local_search_{operator}_{geometry}_{storage}"));
    let kernel = Search { name, function };
    for case in &cases {
        let launched = |launch: (u32, u32), done, expected: &[u32]| {
            let what = format!("{}, {}, {launch:?} blocks and warps, done {done}", kernel.name, case.name);
            if let Some((tours, _)) = case.launched::<I>(&gpu, &kernel, launch, done, (&case.tours, &[])) {
                assert_same_tours(&what, case.problem.n(), &tours, expected);
            }
        };
        for launch in GRIDS.into_iter().flat_map(|grid| some(&WARPS).iter().map(move |&warps| (grid, warps)))
        {
            launched(launch, 0, &case.found);
        }
        launched((TOURS, 4), 1, &case.tours);
        let listing = case.listing();
        for launch in GRIDS.map(|grid| (grid, 4)) {
            let what = format!("{}, {}, {launch:?} blocks and warps, in rows", kernel.name, case.name);
            let tours = (&listing.before[..], &listing.rows[..]);
            if let Some((tours, gains)) = case.launched::<I>(&gpu, &kernel, launch, 0, tours) {
                assert_same_tours(&what, case.problem.n(), &tours, &listing.after);
                assert_same(&format!("{what}: gains"), &gains, &listing.gains);
            }
        }
    }
}

fn check_kernels<O: Operator>(operator: &str) {
    for geometry in GEOMETRIES {
        check_kernel::<O, u16>(operator, geometry, "shared_u16");
        check_kernel::<O, u32>(operator, geometry, "global_u32");
    }
}

fn two_opt() {
    check_kernels::<TwoOpt>("two_opt");
}

fn or_opt() {
    check_kernels::<OrOpt>("or_opt");
}

fn or_2opt() {
    check_kernels::<Or2opt>("or_2opt");
}

fn three_opt() {
    check_kernels::<ThreeOpt>("three_opt");
}

fn or_3opt() {
    check_kernel::<Or3opt, u16>("or_3opt", "numbered", "shared_u16");
    check_kernel::<Or3opt, u32>("or_3opt", "numbered", "global_u32");
}

/// Whole colonies whose tours are improved.
fn in_colonies() {
    let settings = |local_search, instance: &Instance, candidates| MmasSettings {
        seed: 3,
        ants: Some(if local_search == LocalSearch::OrOpt { 40 } else { 9 }),
        candidates,
        warps: (instance.len() > 100).then_some(2),
        local_search: Some(local_search),
        ..MmasSettings::default()
    };
    let mut cases = Vec::new();
    for (n, geometry) in sizes(&[8, 40, 200]).flat_map(|n| GEOMETRIES.map(|g| (n, g))) {
        for (instance, local_search) in instances(geometry, n).iter().zip(OPERATORS.into_iter().cycle()) {
            cases.push(colony::Case::new(instance, settings(local_search, instance, Some(16))));
        }
        let instance = instances(geometry, n).remove(0);
        for local_search in OPERATORS {
            cases.push(colony::Case::new(&instance, settings(local_search, &instance, None)));
        }
    }
    for n in sizes(&[8, 40, 200]) {
        cases.push(colony::Case::new(&directed(n), settings(LocalSearch::Or3opt, &directed(n), Some(16))));
    }
    let Some(gpu) = gpu() else { return };
    cases.iter().for_each(|case| case.check(&gpu));
}
