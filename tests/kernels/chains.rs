//! `block_improve_tiles_*`: whole chains on the GPU against chains on CPU threads.

use std::slice;

use antwarp::backend::cuda::{CudaChains, Device};
use antwarp::backend::{Backend, Choice};
use antwarp::engine::start::{self, Start};
use antwarp::engine::{Chains, ChainsSpec, LocalSearch, Problem, Round, Tiling, cells};
use antwarp::instance::{Instance, nearest};
use antwarp_core::local_search::chain::Accept;
use antwarp_core::local_search::chains::ChainsState;
use antwarp_core::metric::Metric;

use crate::gpu::{gpu, sizes};
use crate::input::{OPERATORS, Random, instances, is_tour};

tests![on_a_grid, in_a_plane, by_number, in_every_shape];

/// The kernels tested here.
pub const NAMES: &[&str] = &[
    "block_improve_tiles_two_opt_grid",
    "block_improve_tiles_two_opt_planar",
    "block_improve_tiles_two_opt_numbered",
    "block_improve_tiles_or_opt_grid",
    "block_improve_tiles_or_opt_planar",
    "block_improve_tiles_or_opt_numbered",
    "block_improve_tiles_or_2opt_grid",
    "block_improve_tiles_or_2opt_planar",
    "block_improve_tiles_or_2opt_numbered",
    "block_improve_tiles_three_opt_grid",
    "block_improve_tiles_three_opt_planar",
    "block_improve_tiles_three_opt_numbered",
];

/// 8: the fewest nodes that a tile is worth kicking; 9 in tiles: none of them is.
const SIZES: [u32; 5] = [8, 9, 33, 200, 700];
const ROUNDS: u32 = 9;
const KICKS: u32 = 25;

/// How chains are laid out, and how they go on.
struct Shape {
    width: u32,
    tiles: u32,
    chains: u32,
    segment: u32,
    accept: Accept,
}

const SHAPES: [Shape; 7] = [
    Shape { width: 1, tiles: 1, chains: 1, segment: 50, accept: Accept::Annealing },
    Shape { width: 2, tiles: 1, chains: 3, segment: 0, accept: Accept::Better },
    Shape { width: 4, tiles: 3, chains: 1, segment: 10, accept: Accept::Always },
    Shape { width: 2, tiles: 4, chains: 3, segment: 50, accept: Accept::Annealing },
    Shape { width: 4, tiles: 1, chains: 3, segment: 50, accept: Accept::Always },
    Shape { width: 1, tiles: 7, chains: 3, segment: 50, accept: Accept::BetterOrEqual },
    Shape { width: 3, tiles: 2, chains: 1, segment: 0, accept: Accept::BetterOrEqual },
];

/// The state after every round, and the best tour at that time.
type History = Vec<(ChainsState, Vec<u32>)>;

fn run(chains: &mut dyn Chains, rounds: &[Round]) -> (ChainsState, Vec<u32>) {
    (chains.run(rounds, &|| false).expect("rounds"), chains.best_tour().expect("the best tour"))
}

/// Windows and cells by turns; descents at the start and once more; tournaments of all pairs.
fn rounds(problem: &Problem, spec: &ChainsSpec) -> Vec<Round> {
    let mut random = Random::new(spec.seed);
    let warm = spec.start_cost as f32 / problem.n() as f32 / 4.0;
    let mut round = |number: u32| Round {
        number,
        // The last one begins with a descent and is nothing else.
        kicks: if number + 1 == ROUNDS { 0 } else { KICKS },
        temperature: warm * (ROUNDS - number - 1) as f32 / ROUNDS as f32,
        tiles: match number as usize {
            i if i % 2 == 1 && !spec.cells.is_empty() => Tiling::Cells(i / 2 % spec.cells.len()),
            // The last position: every window but one begins behind the tour's end.
            0 => Tiling::Windows(problem.n() - 1),
            _ => Tiling::Windows(random.below(problem.n())),
        },
        descend_first: [1, 2, ROUNDS - 1].contains(&number),
        rival_bit: if spec.chains > 1 && number % 3 == 2 { 1 << (number / 3 % 2) } else { 0 },
    };
    (0..ROUNDS).map(&mut round).collect()
}

struct Case {
    name: String,
    problem: Problem,
    spec: ChainsSpec,
    rounds: Vec<Round>,
    cpu: History,
}

impl Case {
    fn new(instance: &Instance, local_search: LocalSearch, shape: &Shape) -> Case {
        let near = nearest(instance, 8.min(instance.len() - 1));
        let start = start::tour(instance, Start::Random, &near, 5);
        let problem = Problem::for_search(instance, &near, start);
        let spec = ChainsSpec {
            seed: u64::from(problem.n()),
            local_search,
            chains: shape.chains,
            tiles: shape.tiles,
            width: shape.width,
            breadth: 5,
            segment: shape.segment,
            accept: shape.accept,
            target: i64::MIN,
            start_cost: problem.unit_cost(),
            cells: partitions(&problem, shape.tiles),
        };
        let Shape { width, tiles, chains, segment, accept } = shape;
        let name = format!(
            "{}, {local_search:?}, {chains} chains, {tiles} tiles, width {width}, segment {segment}, {accept:?}",
            instance.name()
        );
        let rounds = rounds(&problem, &spec);
        let (backend, _) = Backend::open(Choice::Cpu).expect("the CPU");
        let mut chains = backend.chains(&problem, &spec).expect("chains on the CPU");
        let cpu: History = rounds.iter().map(|r| run(chains.as_mut(), slice::from_ref(r))).collect();
        drop(chains);
        for (state, tour) in &cpu {
            assert!(is_tour(tour, problem.n()), "{name}: {tour:?}");
            assert_eq!(instance.check_tour(&problem.original(tour)).ok(), Some(state.best_cost), "{name}");
        }
        Case { name, problem, spec, rounds, cpu }
    }

    fn chains<'a>(&'a self, device: &'a Device, spec: &ChainsSpec) -> CudaChains<'a> {
        CudaChains::new(device, &self.problem, spec).unwrap_or_else(|e| panic!("{e}"))
    }

    fn check(&self, device: &Device) {
        let mut chains = self.chains(device, &self.spec);
        for (i, (round, cpu)) in self.rounds.iter().zip(&self.cpu).enumerate() {
            let (state, tour) = run(&mut chains, slice::from_ref(round));
            let what = format!("{}, round {i}, on the GPU and the CPU", self.name);
            assert_eq!(state, cpu.0, "{what}");
            assert_eq!(tour, cpu.1, "{what}");
        }
    }

    /// A batch of all rounds, of which one reaches the target: later ones change nothing, nor does another batch.
    fn check_target(&self, device: &Device) {
        let target = self.cpu[self.cpu.len() / 2].0.best_cost;
        if target == self.spec.start_cost {
            return;
        }
        let reached = self.cpu.iter().find(|(state, _)| state.best_cost <= target);
        let (state, tour) = reached.expect("the round itself");
        let mut chains = self.chains(device, &ChainsSpec { target, ..self.spec.clone() });
        let later = |round: &Round| Round { number: round.number + ROUNDS, ..*round };
        for batch in [self.rounds.clone(), self.rounds.iter().map(later).collect()] {
            let gpu = run(&mut chains, &batch);
            assert_eq!(gpu.0, ChainsState { done: 1, ..*state }, "{}, to a target", self.name);
            assert_eq!(gpu.1, *tour, "{}, to a target", self.name);
        }
    }
}

/// Cells where nodes lie in a plane; by turns with tiles of nodes that have nothing to do with each other.
fn partitions(problem: &Problem, tiles: u32) -> Vec<Vec<u32>> {
    match problem.metric() {
        Some(metric) if metric.is_planar() && tiles > 1 => vec![
            cells::partition(problem.points(), tiles, 0.0),
            Random::new(7).permutation(problem.n()),
            cells::partition(problem.points(), tiles, 0.618),
        ],
        _ => Vec::new(),
    }
}

/// Every operator and every size, in this or that shape.
fn check(geometry: &str) {
    let mut cases = Vec::new();
    let mut shapes = SHAPES.iter().cycle();
    for (local_search, n) in OPERATORS.into_iter().flat_map(|o| sizes(&SIZES).map(move |n| (o, n))) {
        for instance in instances(geometry, n) {
            let case = Case::new(&instance, local_search, shapes.next().expect("a shape"));
            assert_eq!(case.problem.places().kernel_name(), geometry);
            cases.push(case);
        }
    }
    let found = |case: &&Case| case.cpu[case.cpu.len() - 1].0.best_cost < case.spec.start_cost;
    assert!(2 * cases.iter().filter(found).count() > cases.len(), "few chains find anything");
    let Some(gpu) = gpu() else { return };
    cases.iter().for_each(|case| case.check(&gpu));
    cases.iter().step_by(7).for_each(|case| case.check_target(&gpu));
}

fn on_a_grid() {
    check("grid");
}

fn in_a_plane() {
    check("planar");
}

fn by_number() {
    check("numbered");
}

/// Every shape of one instance: nothing else differs.
fn in_every_shape() {
    let instances: Vec<_> = sizes(&[60, 500]).map(|n| instances("grid", n).remove(0)).collect();
    let case = |shape| instances.iter().map(move |i| Case::new(i, LocalSearch::ThreeOpt, shape));
    let cases: Vec<_> = SHAPES.iter().flat_map(case).collect();
    let planar = |case: &Case| case.problem.metric() == Some(Metric::Euc2d);
    assert!(cases.iter().all(|case| planar(case) && case.spec.cells.is_empty() == (case.spec.tiles == 1)));
    let Some(gpu) = gpu() else { return };
    for case in &cases {
        case.check(&gpu);
        case.check_target(&gpu);
    }
}
