//! `warp_construct_*`: tours, choosing in candidate lists.

use antwarp::backend::cuda::{ConstructCandidates, Device, Launch, buffers};
use antwarp_core::kernels::ConstructArgs;
use antwarp_core::metric::Metric;
use antwarp_core::node::NodeId;
use antwarp_core::papers::ants::construct::{Lists, candidates, memory_bytes};
use antwarp_core::papers::ants::select::{Reservoir, Roulette, Select};
use antwarp_core::papers::ants::tabu::{Bitmask, Compact, ListCompression, Tabu};
use antwarp_core::rng::Stream;
use antwarp_core::team::Serial;

use crate::gpu::{LARGE, Poison, download, gpu, id_bytes, ids, load, poisoned, sizes, small, upload};
use crate::harness::ignore;
use crate::input::{Geometry, Random, metrics, typed};
use crate::papers::construct::{ANTS, Place, assert_same_tours, has_shared, serial_tours, state};

const SIZES: [u32; 5] = [5, 33, 64, 257, 700];
/// Fewer than a warp, a warp and more.
const CANDIDATES: [u32; 4] = [4, 8, 32, 40];
const WARPS: [u32; 3] = [1, 2, 4];
const GRID: u32 = 2;

/// A colony's input, and the tours that the CPU builds from it.
struct Case {
    args: ConstructArgs,
    geometry: Geometry,
    lists: Vec<u32>,
    weights: Vec<f32>,
    reserves: Vec<u32>,
    successor: Vec<u32>,
    predecessor: Vec<u32>,
    cpu: Vec<u32>,
}

impl Case {
    fn new<B: Tabu, S: Select, I: NodeId>(n: u32, k: u32, ants: u32, metric: Option<Metric>) -> Case {
        let mut random = Random::new(u64::from(n) << 8 | u64::from(k));
        let geometry = Geometry::new(&mut random, n, metric);
        let lists = random.lists(n, k);
        let weights = lists.iter().map(|_| random.weight()).collect();
        let args = ConstructArgs {
            seed: 34 + u64::from(n),
            memory: memory_bytes::<B, S>(n, k) as u64,
            n,
            ants,
            iteration: k,
            k,
            metric: geometry.device_metric(),
            // Less than a warp of them, more, and none.
            reserve: [3, 40, 0][k as usize % 3].min(n - 1),
        };
        let reserves = random.lists(n, args.reserve);
        let (successor, predecessor) = links(&mut random, n);
        let cpu = Vec::new();
        let mut case = Case { args, geometry, lists, weights, reserves, successor, predecessor, cpu };
        case.cpu = case.expected::<B, S, I>();
        case
    }

    /// What the CPU builds.
    fn expected<B: Tabu, S: Select, I: NodeId>(&self) -> Vec<u32> {
        let (args, distances) = (self.args, self.geometry.distances());
        let (nodes, reserves) = (typed::<I>(&self.lists), typed::<I>(&self.reserves));
        let lists = Lists {
            k: args.k,
            nodes: nodes.as_ptr(),
            weights: self.weights.as_ptr(),
            reserve: args.reserve,
            reserves: reserves.as_ptr(),
            successor: self.successor.as_ptr(),
            predecessor: self.predecessor.as_ptr(),
        };
        serial_tours::<I>(args.n, args.ants, args.memory as usize, |ant, memory, tour| {
            let stream = Stream::new(args.seed, args.iteration, ant);
            // SAFETY: lists and weights are n x k, links are of n nodes; memory and tour as `candidates` asks for.
            unsafe { candidates::<_, B, S, I, _>(Serial, args.n, lists, distances, memory, tour, stream) }
        })
    }

    fn name(&self, kernel: &str) -> String {
        format!("{kernel}, {} nodes, {} candidates, {}", self.args.n, self.args.k, self.geometry.name())
    }

    /// Shared memory of a block.
    fn shared(&self, place: Place, warps: u32) -> u32 {
        if place == Place::Shared { warps * self.args.memory as u32 } else { 0 }
    }

    /// The bytes of the tours that the GPU builds.
    fn launched<I: NodeId>(
        &self,
        device: &Device,
        kernel: &ConstructCandidates,
        (place, warps, done): (Place, u32, u32),
    ) -> Vec<u8> {
        let args = self.args;
        let launch = Launch { grid: GRID, block: 32 * warps, shared: self.shared(place, warps) };
        let global = if place == Place::Global { u64::from(GRID * warps) * args.memory } else { 0 };
        let (state, lists) = (upload(device, &[state(done)]), upload(device, &id_bytes::<I>(&self.lists)));
        let (weights, points) = (upload(device, &self.weights), upload(device, self.geometry.points()));
        let matrix = upload(device, self.geometry.matrix());
        let reserves = upload(device, &id_bytes::<I>(&self.reserves));
        let (successor, predecessor) = (upload(device, &self.successor), upload(device, &self.predecessor));
        let mut memory = poisoned(device, global as usize);
        let mut tours = poisoned(device, (args.ants * args.n * I::BYTES) as usize);
        // SAFETY: arrays and shared memory have the sizes that `args` tell.
        unsafe {
            kernel.launch(
                device.stream(),
                launch,
                args,
                buffers::ConstructCandidates {
                    state: &state,
                    lists: &lists,
                    weights: &weights,
                    reserves: &reserves,
                    successor: &successor,
                    predecessor: &predecessor,
                    points: &points,
                    matrix: &matrix,
                    memory: &mut memory,
                    tours: &mut tours,
                },
            )
        }
        .expect("the launch");
        download(device, "the ants' memory", &memory);
        download(device, "the tours", &tours)
    }

    fn check<I: NodeId>(&self, device: &Device, kernel: &ConstructCandidates, place: Place, warps: u32) {
        let what = format!("{}, {warps} warps", self.name(&kernel.name));
        if has_shared(device, &what, self.shared(place, warps)) {
            let tours = self.launched::<I>(device, kernel, (place, warps, 0));
            assert_same_tours(&what, self.args.n, &ids::<I>(&tours), &self.cpu);
        }
    }
}

/// Each node's neighbours in a tour; or, one time in three each, only those ahead, or none.
fn links(random: &mut Random, n: u32) -> (Vec<u32>, Vec<u32>) {
    let own: Vec<u32> = (0..n).collect();
    let (mut successor, mut predecessor) = (own.clone(), own);
    let tour = random.permutation(n);
    let kind = random.below(3);
    for (&a, &b) in tour.iter().zip(tour.iter().cycle().skip(1)).filter(|_| kind > 0) {
        (successor[a as usize], predecessor[b as usize]) = (b, a);
    }
    if kind == 1 { (successor.clone(), successor) } else { (successor, predecessor) }
}

/// All sizes with all numbers of candidates, the metrics in turn; and each metric once where ants have to look
/// for the nearest node often.
fn cases<B: Tabu, S: Select, I: NodeId>() -> Vec<Case> {
    let metrics = metrics();
    let pairs =
        sizes(&SIZES).flat_map(|n| CANDIDATES.into_iter().filter(move |&k| k < n).map(move |k| (n, k)));
    let sized = pairs.zip(metrics.iter().cycle()).map(|((n, k), &m)| Case::new::<B, S, I>(n, k, ANTS, m));
    sized.chain(metrics.iter().map(|&m| Case::new::<B, S, I>(50, 3, ANTS, m))).collect()
}

fn check<B: Tabu, S: Select, I: NodeId>(name: &str, place: Place) {
    let cases = cases::<B, S, I>();
    let Some(gpu) = gpu() else { return };
    let (name, function) = load(&gpu, name);
    let kernel = ConstructCandidates { name, function };
    for case in &cases {
        for warps in WARPS {
            case.check::<I>(&gpu, &kernel, place, warps);
        }
    }
    let tours = cases[0].launched::<I>(&gpu, &kernel, (place, 2, 1));
    assert!(tours.iter().all(|&b| b == u8::POISON), "{}: tours built after the end", kernel.name);
}

/// Three ants among many nodes.
fn check_large<B: Tabu, S: Select, I: NodeId>(name: &str, place: Place, n: u32) {
    if small() {
        return ignore(LARGE);
    }
    let case = Case::new::<B, S, I>(n, 8, 3, Some(Metric::Euc2d));
    let Some(gpu) = gpu() else { return };
    let (name, function) = load(&gpu, name);
    case.check::<I>(&gpu, &ConstructCandidates { name, function }, place, 1);
}

fn ids_beyond_16_bits_in_a_bitmask() {
    let name = "warp_construct_wrs_bitmask_global_u32";
    check_large::<Bitmask, Reservoir, u32>(name, Place::Global, 70_000);
}

fn ids_beyond_16_bits_in_lists() {
    let name = "warp_construct_rwm_list_global_u32";
    check_large::<ListCompression<u32>, Roulette, u32>(name, Place::Global, 70_000);
}

/// The number of nodes, which stands for no node, is the largest id.
fn most_nodes_with_ids_of_16_bits() {
    let name = "warp_construct_wrs_compact_shared_u16";
    check_large::<Compact<u16>, Reservoir, u16>(name, Place::Shared, 65_535);
}

macro_rules! kernels {
    ($($name:ident: $tabu:ty, $select:ty, $id:ty, $place:ident;)*) => {
        /// The kernels tested here.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
        tests![ids_beyond_16_bits_in_a_bitmask, ids_beyond_16_bits_in_lists, most_nodes_with_ids_of_16_bits, $($name),*];
        $(
            fn $name() {
                check::<$tabu, $select, $id>(stringify!($name), Place::$place);
            }
        )*
    };
}

kernels! {
    warp_construct_wrs_list_shared_u16: ListCompression<u16>, Reservoir, u16, Shared;
    warp_construct_wrs_list_shared_u32: ListCompression<u32>, Reservoir, u32, Shared;
    warp_construct_wrs_list_global_u32: ListCompression<u32>, Reservoir, u32, Global;
    warp_construct_wrs_compact_shared_u16: Compact<u16>, Reservoir, u16, Shared;
    warp_construct_wrs_compact_shared_u32: Compact<u32>, Reservoir, u32, Shared;
    warp_construct_wrs_compact_global_u32: Compact<u32>, Reservoir, u32, Global;
    warp_construct_wrs_bitmask_shared_u16: Bitmask, Reservoir, u16, Shared;
    warp_construct_wrs_bitmask_shared_u32: Bitmask, Reservoir, u32, Shared;
    warp_construct_wrs_bitmask_global_u32: Bitmask, Reservoir, u32, Global;
    warp_construct_rwm_list_shared_u16: ListCompression<u16>, Roulette, u16, Shared;
    warp_construct_rwm_list_shared_u32: ListCompression<u32>, Roulette, u32, Shared;
    warp_construct_rwm_list_global_u32: ListCompression<u32>, Roulette, u32, Global;
    warp_construct_rwm_compact_shared_u16: Compact<u16>, Roulette, u16, Shared;
    warp_construct_rwm_compact_shared_u32: Compact<u32>, Roulette, u32, Shared;
    warp_construct_rwm_compact_global_u32: Compact<u32>, Roulette, u32, Global;
    warp_construct_rwm_bitmask_shared_u16: Bitmask, Roulette, u16, Shared;
    warp_construct_rwm_bitmask_shared_u32: Bitmask, Roulette, u32, Shared;
    warp_construct_rwm_bitmask_global_u32: Bitmask, Roulette, u32, Global;
}
