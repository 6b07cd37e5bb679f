//! `block_improve_tiles_*`, one launch of each: what it writes, and nothing else. Whole chains are in `chains`.

use antwarp::backend::cuda::{Device, ImproveTiles, Launch, TEAM_BYTES};
use antwarp::engine::Problem;
use antwarp::instance::{Instance, nearest};
use antwarp_core::geometry::{Geometry, Places};
use antwarp_core::kernels::TilesArgs;
use antwarp_core::local_search::chain::{Accept, Rules};
use antwarp_core::local_search::chains::ChainsState;
use antwarp_core::local_search::tile::{self, Entries, Layout, Nodes, Source, part};
use antwarp_core::local_search::{Operator, Or2opt, OrOpt, ThreeOpt, TwoOpt};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Slots};

use crate::gpu::{Poison, assert_same, download, gpu, load, poisoned, reserve_shared, sizes, upload};
use crate::input::{GEOMETRIES, Quad, Random, instances, kernel_matrix, place_bytes, with_geometry};

tests![two_opt, or_opt, or_2opt, three_opt];

const SIZES: [u32; 4] = [8, 33, 60, 400];
const CHAINS: u32 = 2;
/// Tiles of a chain, their width, whether they are cells, and the rule.
const SHAPES: [(u32, u32, bool, Accept); 5] = [
    (1, 1, false, Accept::Annealing),
    (3, 2, false, Accept::Better),
    (2, 4, true, Accept::Always),
    (5, 1, true, Accept::BetterOrEqual),
    (1, 4, false, Accept::Always),
];

/// All that the kernel writes.
#[derive(Clone)]
struct Outcome {
    old: Vec<u32>,
    piece: Vec<u32>,
    offset: Vec<u32>,
    length: Vec<u32>,
    gains: Vec<i64>,
}

struct Case {
    name: String,
    problem: Problem,
    args: TilesArgs,
    /// The nodes of cells, of no matter which chain.
    cells: Vec<u32>,
    order: Vec<u32>,
    position: Vec<u32>,
    after: Outcome,
}

impl Case {
    fn new<O: Operator>(
        instance: &Instance,
        (tiles, width, cells, accept): (u32, u32, bool, Accept),
    ) -> Case {
        let (near, mut random) = (nearest(instance, 7), Random::new(41));
        let problem = Problem::for_search(instance, &near, random.permutation(instance.len() as u32));
        let (n, k, keep_best) = (problem.n(), problem.search_k(), accept == Accept::Always);
        let rules = Rules {
            kicks: 20,
            first_kick: 3,
            segment: 30,
            accept: accept as u32,
            temperature: problem.scale() / 2.0,
            descend_first: 1,
            keep_best: keep_best.into(),
            padding: 0,
        };
        let args = TilesArgs {
            seed: 17,
            rules,
            layout: Layout::new::<u16>(n.div_ceil(tiles), k, problem.places().bytes(), keep_best, width),
            n,
            k,
            breadth: 5,
            tiles,
            round: 2,
            // Some windows go around the end.
            first: if cells { 0 } else { n - 3 },
            cells: cells.into(),
            metric: problem.device_metric(),
        };
        let order = random.tours(n, CHAINS);
        let mut position = vec![0; order.len()];
        for (chain, order) in order.chunks(n as usize).enumerate() {
            for (p, &node) in (0..).zip(order) {
                position[chain * n as usize + node as usize] = p;
            }
        }
        let all = || vec![u32::POISON; order.len()];
        let gains = vec![i64::POISON; (CHAINS * tiles) as usize];
        let after = Outcome { old: all(), piece: all(), offset: all(), length: all(), gains };
        let cells = if cells { random.permutation(n) } else { Vec::new() };
        let name =
            format!("{}, {tiles} tiles, width {width}, cells {}, {accept:?}", instance.name(), args.cells);
        let mut case = Case { name, problem, args, cells, order, position, after };
        let mut after = case.after.clone();
        with_geometry!(case.problem, |geometry, places| {
            case.improve::<O, _>(Places { geometry, start: places.as_ptr() }, &mut after);
        });
        case.after = after;
        case
    }

    /// What the CPU makes of every tile.
    fn improve<O: Operator, G: Geometry>(&self, places: Places<G>, after: &mut Outcome) {
        let (args, n) = (&self.args, self.args.n as usize);
        let mut memory = vec![Quad([f32::POISON; 4]); args.layout.bytes as usize / size_of::<Quad>()];
        for index in 0..CHAINS * args.tiles {
            let (from, tile) = ((index / args.tiles) as usize * n, index % args.tiles);
            let (first, m) = part(args.n, args.tiles, tile);
            let nodes = match args.cells {
                0 => Nodes::From((args.first + first) % args.n),
                _ => Nodes::Of(self.cells[first as usize..].as_ptr()),
            };
            // SAFETY: n elements a chain, from `from` on, in every array; the layout's memory.
            let gains = unsafe {
                let source = Source {
                    n: args.n,
                    k: args.k,
                    lists: self.problem.neighbors().as_ptr(),
                    order: self.order.as_ptr().add(from),
                    position: self.position.as_ptr().add(from),
                    places,
                };
                let slots = |array: &mut [u32]| Slots::new(array.as_mut_ptr().add(from));
                let entries = Entries {
                    old: slots(&mut after.old),
                    piece: slots(&mut after.piece),
                    offset: slots(&mut after.offset),
                    length: slots(&mut after.length),
                };
                tile::improve::<_, O, u16, G>(
                    Serial,
                    source,
                    (nodes, first, m),
                    args.breadth,
                    args.layout,
                    memory.as_mut_ptr().cast(),
                    args.rules,
                    Stream::new(args.seed, args.round, index),
                    entries,
                )
            };
            after.gains[index as usize] = if args.rules.keep_best != 0 { gains.best } else { gains.last };
        }
    }

    /// What the GPU makes of them.
    fn launched(&self, device: &Device, kernel: &ImproveTiles, done: u32) -> Outcome {
        let (args, all) = (self.args, self.order.len());
        let shared = TEAM_BYTES + args.layout.bytes;
        reserve_shared(device, &kernel.function, shared);
        let launch = Launch { grid: CHAINS * args.tiles, block: 32 * args.layout.width, shared };
        let state = ChainsState { done, ..ChainsState::new(1) };
        let (mut old, mut piece) = (poisoned(device, all), poisoned(device, all));
        let (mut offset, mut length) = (poisoned(device, all), poisoned(device, all));
        let mut gains = poisoned(device, (CHAINS * args.tiles) as usize);
        // SAFETY: arrays and shared memory have the sizes that the arguments tell.
        unsafe {
            kernel.launch(
                device.stream(),
                launch,
                args,
                &upload(device, &[state]),
                &upload(device, &self.cells),
                &upload(device, self.problem.neighbors()),
                &upload(device, &self.order),
                &upload(device, &self.position),
                &upload(device, &place_bytes(self.problem.places())),
                &upload(device, self.problem.points()),
                &upload(device, &kernel_matrix(&self.problem)),
                &mut old,
                &mut piece,
                &mut offset,
                &mut length,
                &mut gains,
            )
        }
        .expect("the launch");
        let [old, piece, offset, length] =
            [old, piece, offset, length].map(|array| download(device, &self.name, &array));
        Outcome { old, piece, offset, length, gains: download(device, &self.name, &gains) }
    }

    fn check(&self, device: &Device, kernel: &ImproveTiles) {
        let what = |part: &str| format!("{}, {}: {part}", kernel.name, self.name);
        let gpu = self.launched(device, kernel, 0);
        assert_same(&what("gains"), &gpu.gains, &self.after.gains);
        assert_same(&what("old positions"), &gpu.old, &self.after.old);
        assert_same(&what("pieces"), &gpu.piece, &self.after.piece);
        assert_same(&what("offsets"), &gpu.offset, &self.after.offset);
        assert_same(&what("lengths"), &gpu.length, &self.after.length);
        let gpu = self.launched(device, kernel, 1);
        assert!(gpu.gains.iter().all(|&gain| gain == i64::POISON), "{}", what("done"));
        let numbers = [gpu.old, gpu.piece, gpu.offset, gpu.length].concat();
        assert!(numbers.iter().all(|&number| number == u32::POISON), "{}", what("done"));
    }
}

fn check<O: Operator>(operator: &str) {
    for geometry in GEOMETRIES {
        let instances: Vec<_> = sizes(&SIZES).flat_map(|n| instances(geometry, n)).collect();
        let case = |instance| SHAPES.map(|shape| Case::new::<O>(instance, shape));
        let cases: Vec<_> = instances.iter().flat_map(case).collect();
        assert!(cases.iter().any(|case| case.after.gains.iter().all(|&gain| gain > 0)), "no gains");
        let Some(gpu) = gpu() else { continue };
        let (name, function) = load(&gpu, &format!("block_improve_tiles_{operator}_{geometry}"));
        let kernel = ImproveTiles { name, function };
        cases.iter().for_each(|case| case.check(&gpu, &kernel));
    }
}

fn two_opt() {
    check::<TwoOpt>("two_opt");
}

fn or_opt() {
    check::<OrOpt>("or_opt");
}

fn or_2opt() {
    check::<Or2opt>("or_2opt");
}

fn three_opt() {
    check::<ThreeOpt>("three_opt");
}
