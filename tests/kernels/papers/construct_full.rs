//! `block_construct_*`: tours, choosing among all unvisited nodes.

use antwarp::backend::cuda::{ConstructFull, Device, Launch, TEAM_BYTES, buffers};
use antwarp_core::kernels::{BY_MATRIX, ConstructArgs};
use antwarp_core::node::NodeId;
use antwarp_core::papers::ants::construct::{full, full_leaves, memory_bytes, row_stride};
use antwarp_core::papers::ants::select::{Reservoir, Roulette, Select};
use antwarp_core::papers::ants::tabu::{Bitmask, Compact, ListCompression, Tabu};
use antwarp_core::rng::Stream;
use antwarp_core::team::Serial;

use crate::gpu::{Poison, download, gpu, ids, load, poisoned, sizes, upload};
use crate::input::{Random, aligned};
use crate::papers::construct::{ANTS, Place, assert_same_tours, serial_tours, state};

const SIZES: [u32; 5] = [5, 33, 64, 257, 700];
const WARPS: [u32; 5] = [1, 2, 3, 4, 8];
const GRID: u32 = 5;

/// Random weights; the diagonal and the padding weigh nothing.
fn weights(random: &mut Random, n: u32) -> Vec<f32> {
    let mut weights = vec![0.0; (n * row_stride(n)) as usize];
    for (i, row) in weights.chunks_mut(row_stride(n) as usize).enumerate() {
        for (j, w) in row[..n as usize].iter_mut().enumerate() {
            *w = if i == j { 0.0 } else { random.weight() };
        }
    }
    weights
}

/// What the CPU builds.
fn expected<B: Tabu, S: Select, I: NodeId>(args: ConstructArgs, weights: &[f32]) -> Vec<u32> {
    let weights = aligned(weights);
    serial_tours::<I>(args.n, args.ants, args.memory as usize, |ant, memory, tour| {
        let stream = Stream::new(args.seed, args.iteration, ant);
        // SAFETY: n rows of weights as `weights` makes them; memory and tour as `full` asks for.
        unsafe { full::<_, B, S, I>(Serial, args.n, weights.as_ptr().cast(), memory, tour, stream) }
    })
}

/// The bytes of the tours that the GPU builds.
fn launched<I: NodeId>(
    device: &Device,
    kernel: &ConstructFull,
    (args, place, warps, done): (ConstructArgs, Place, u32, u32),
    weights: &[f32],
) -> Vec<u8> {
    let (in_shared, in_global) = match place {
        Place::Shared => (args.memory, 0),
        Place::Global => (0, args.memory * u64::from(GRID)),
    };
    let launch = Launch { grid: GRID, block: 32 * warps, shared: TEAM_BYTES + in_shared as u32 };
    let (state, weights) = (upload(device, &[state(done)]), upload(device, weights));
    let mut memory = poisoned(device, in_global as usize);
    let mut tours = poisoned(device, (args.ants * args.n * I::BYTES) as usize);
    // SAFETY: arrays and shared memory have the sizes that `args` tell.
    unsafe {
        kernel.launch(
            device.stream(),
            launch,
            args,
            buffers::ConstructFull {
                state: &state,
                weights: &weights,
                memory: &mut memory,
                tours: &mut tours,
            },
        )
    }
    .expect("the launch");
    download(device, "the ants' memory", &memory);
    download(device, "the tours", &tours)
}

fn check<B: Tabu, S: Select, I: NodeId>(name: &str, place: Place) {
    let cases = sizes(&SIZES).map(|n| {
        let weights = weights(&mut Random::new(n.into()), n);
        let args = ConstructArgs {
            seed: 12 + u64::from(n),
            memory: memory_bytes::<B, S>(n, full_leaves(n)) as u64,
            n,
            ants: ANTS,
            iteration: n % 7,
            k: 0,
            metric: BY_MATRIX,
            reserve: 0,
        };
        let cpu = expected::<B, S, I>(args, &weights);
        (args, weights, cpu)
    });
    let cases: Vec<_> = cases.collect();
    let Some(gpu) = gpu() else { return };
    let (name, function) = load(&gpu, name);
    let kernel = ConstructFull { name, function };
    for (args, weights, cpu) in &cases {
        for warps in WARPS {
            let tours = launched::<I>(&gpu, &kernel, (*args, place, warps, 0), weights);
            let what = format!("{}, {} nodes, {warps} warps", kernel.name, args.n);
            assert_same_tours(&what, args.n, &ids::<I>(&tours), cpu);
        }
        let tours = launched::<I>(&gpu, &kernel, (*args, place, 2, 1), weights);
        assert!(tours.iter().all(|&b| b == u8::POISON), "{}: tours built after the end", kernel.name);
    }
}

macro_rules! kernels {
    ($($name:ident: $tabu:ty, $select:ty, $id:ty, $place:ident;)*) => {
        /// The kernels tested here.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
        tests![$($name),*];
        $(
            fn $name() {
                check::<$tabu, $select, $id>(stringify!($name), Place::$place);
            }
        )*
    };
}

kernels! {
    block_construct_wrs_list_shared_u16: ListCompression<u16>, Reservoir, u16, Shared;
    block_construct_wrs_list_shared_u32: ListCompression<u32>, Reservoir, u32, Shared;
    block_construct_wrs_list_global_u32: ListCompression<u32>, Reservoir, u32, Global;
    block_construct_wrs_compact_shared_u16: Compact<u16>, Reservoir, u16, Shared;
    block_construct_wrs_compact_shared_u32: Compact<u32>, Reservoir, u32, Shared;
    block_construct_wrs_compact_global_u32: Compact<u32>, Reservoir, u32, Global;
    block_construct_wrs_bitmask_shared_u16: Bitmask, Reservoir, u16, Shared;
    block_construct_wrs_bitmask_shared_u32: Bitmask, Reservoir, u32, Shared;
    block_construct_wrs_bitmask_global_u32: Bitmask, Reservoir, u32, Global;
    block_construct_rwm_list_shared_u16: ListCompression<u16>, Roulette, u16, Shared;
    block_construct_rwm_list_shared_u32: ListCompression<u32>, Roulette, u32, Shared;
    block_construct_rwm_list_global_u32: ListCompression<u32>, Roulette, u32, Global;
    block_construct_rwm_compact_shared_u16: Compact<u16>, Roulette, u16, Shared;
    block_construct_rwm_compact_shared_u32: Compact<u32>, Roulette, u32, Shared;
    block_construct_rwm_compact_global_u32: Compact<u32>, Roulette, u32, Global;
    block_construct_rwm_bitmask_shared_u16: Bitmask, Roulette, u16, Shared;
    block_construct_rwm_bitmask_shared_u32: Bitmask, Roulette, u32, Shared;
    block_construct_rwm_bitmask_global_u32: Bitmask, Roulette, u32, Global;
}
