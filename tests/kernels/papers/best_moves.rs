//! `*_propose_moves_*`, `block_select_move_*`, `grid_{make_moves,settle_tours,turn_stretch}`: whole descents and kicks on
//! the GPU against those on CPU threads.

use antwarp::backend::cuda::{CudaDescent, Device};
use antwarp::backend::{Backend, Choice};
use antwarp::engine::start::{self, Start};
use antwarp::engine::{Descent, DescentSpec, Places, Problem, Stop};
use antwarp::instance::generate::uniform;
use antwarp::instance::{Instance, nearest};
use antwarp::solver::ils::{Acceptance, IlsSettings, Moves};
use antwarp_core::metric::Metric;
use antwarp_core::papers::local_search::best::DescentState;

use crate::gpu::{gpu, sizes, small};
use crate::input::{OPERATORS, Random, is_tour};

tests![on_a_grid, in_a_plane, by_number];

/// The kernels tested here.
pub const NAMES: &[&str] = &[
    "block_propose_moves_two_opt_grid",
    "block_propose_moves_two_opt_planar",
    "block_propose_moves_two_opt_numbered",
    "block_propose_moves_or_opt_grid",
    "block_propose_moves_or_opt_planar",
    "block_propose_moves_or_opt_numbered",
    "block_propose_moves_or_2opt_grid",
    "block_propose_moves_or_2opt_planar",
    "block_propose_moves_or_2opt_numbered",
    "block_propose_moves_three_opt_grid",
    "block_propose_moves_three_opt_planar",
    "block_propose_moves_three_opt_numbered",
    "block_select_move_grid",
    "block_select_move_planar",
    "block_select_move_numbered",
    "grid_make_moves",
    "grid_settle_tours",
    "grid_turn_stretch",
];

/// 3,000 nodes: some moves are too long to claim anything.
const SIZES: [u32; 4] = [8, 40, 300, 3000];
const KICKS: u64 = 6;
/// Where sizes have to be small.
const FEW_KICKS: u64 = 2;

/// The state after every batch, and the best tour at that time.
type History = Vec<(DescentState, Vec<u32>)>;

/// Batches of growing size: single passes at first, at the end many that have nothing to do.
fn history(descent: &mut dyn Descent) -> History {
    let mut history = History::new();
    let mut passes = 1;
    while history.last().is_none_or(|(state, _)| state.done == 0) {
        let state = descent.run(passes, 20.0, &|| false).expect("a batch");
        history.push((state, descent.best_tour().expect("the best tour")));
        passes += passes.div_ceil(8);
    }
    history
}

struct Case {
    name: String,
    problem: Problem,
    spec: DescentSpec,
    cpu: History,
}

impl Case {
    fn new(instance: &Instance, settings: &IlsSettings) -> Case {
        let near = nearest(instance, (settings.neighbors as usize).min(instance.len() - 1));
        let start = start::tour(instance, settings.start, &near, settings.seed);
        let problem = Problem::for_search(instance, &near, start);
        let stop = Stop { iterations: Some(if small() { FEW_KICKS } else { KICKS }), ..Stop::never() };
        let spec = settings.descent(&problem, &stop, problem.unit_cost());
        let name = format!("{}, {:?}, {:?}", instance.name(), settings.local_search, settings.moves);
        let (backend, _) = Backend::open(Choice::Cpu).expect("the CPU");
        let cpu = history(backend.descent(&problem, &spec).expect("a descent on the CPU").as_mut());
        for (state, tour) in &cpu {
            assert!(is_tour(tour, problem.n()), "{name}: {tour:?}");
            assert_eq!(instance.check_tour(&problem.original(tour)).ok(), Some(state.least()), "{name}");
        }
        Case { name, problem, spec, cpu }
    }

    fn check(&self, device: &Device) {
        let mut descent =
            CudaDescent::new(device, &self.problem, &self.spec).unwrap_or_else(|e| panic!("{e}"));
        let gpu = history(&mut descent);
        for (i, (gpu, cpu)) in gpu.iter().zip(&self.cpu).enumerate() {
            assert_eq!(gpu, cpu, "{}, batch {i}, on the GPU and the CPU", self.name);
        }
        assert_eq!(gpu.len(), self.cpu.len(), "{}", self.name);
    }
}

/// Every operator, one move and many, from a random tour of few nodes or a greedy one of many.
fn check(instances: &[Instance], is_expected: fn(&Places) -> bool) {
    let mut cases = Vec::new();
    for instance in instances {
        for (local_search, moves) in OPERATORS.into_iter().flat_map(|o| [(o, Moves::One), (o, Moves::Many)]) {
            let few = instance.len() < 1000;
            let settings = IlsSettings {
                local_search,
                moves,
                start: if few { Start::Random } else { Start::Greedy },
                accept: if few { Acceptance::Annealing } else { Acceptance::Better },
                segment: if few { 0 } else { 50 },
                ..IlsSettings::default()
            };
            cases.push(Case::new(instance, &settings));
            assert!(is_expected(cases[cases.len() - 1].problem.places()));
        }
    }
    let Some(gpu) = gpu() else { return };
    cases.iter().for_each(|case| case.check(&gpu));
}

/// Points of the plane with fractions.
fn planar(n: u32, metric: Metric) -> Instance {
    let mut random = Random::new(u64::from(n));
    let points = (0..n).map(|_| [1e4 * random.unit(), 1e4 * random.unit(), 0.0]).collect();
    Instance::from_points("planar", metric, points).expect("an instance")
}

fn on_a_grid() {
    let instances: Vec<_> = sizes(&SIZES).map(|n| uniform(n as usize, 21).expect("an instance")).collect();
    check(&instances, |places| matches!(places, Places::Grid { .. }));
}

fn in_a_plane() {
    let instances: Vec<_> =
        sizes(&[40, 300]).flat_map(|n| [planar(n, Metric::Euc2d), planar(n, Metric::Att)]).collect();
    check(&instances, |places| matches!(places, Places::Planar { .. }));
}

fn by_number() {
    let instances: Vec<_> = sizes(&[40, 300]).map(|n| planar(n, Metric::Man2d)).collect();
    check(&instances, |places| matches!(places, Places::Numbered(_)));
}
