//! `block_run_trials_*`, `grid_{take,pack,unpack}_changes`, `blocks_plan_merge`, `grid_place_nodes_*`: whole rounds of chained Lin-Kernighan on the GPU
//! against rounds on CPU threads.

use antwarp::backend::cuda::{CudaLinKernighan, Device};
use antwarp::backend::{Backend, Choice};
use antwarp::engine::lin_kernighan::Spec;
use antwarp::engine::start::{self, Start};
use antwarp::engine::{LinKernighan, LocalSearch, Problem, Reached};
use antwarp::instance::form::Form;
use antwarp::instance::{Ends, Instance, nearest, quadrant};
use antwarp_core::lin_kernighan::trial::{TrialRound, UNLIMITED};

use crate::gpu::{gpu, sizes, small, some};
use crate::input::{Random, instances, is_tour};

tests![rounds_on_a_grid, rounds_in_the_plane, rounds_of_numbered_nodes, rounds_of_closed_forms];

/// The kernels tested here.
pub const NAMES: &[&str] = &[
    "block_run_trials_deep_grid",
    "block_run_trials_deep_planar",
    "block_run_trials_deep_numbered",
    "block_run_trials_shallow_grid",
    "block_run_trials_shallow_planar",
    "block_run_trials_shallow_numbered",
    "grid_take_changes",
    "grid_pack_changes",
    "grid_unpack_changes",
    "blocks_plan_merge",
    "grid_place_nodes_grid",
    "grid_place_nodes_planar",
    "grid_place_nodes_numbered",
];

/// The fewest nodes there may be; more than one block plans a merge of.
const SIZES: [u32; 5] = [8, 33, 61, 700, 9000];
/// Tours, nodes for each of their trials, and neighbours of a node. With few nodes, many changes meet; a thread looks at four
/// neighbours side by side, and at eight at most.
const SHAPES: [(u32, u32, usize); 3] = [(1, 40, 7), (3, 20, 10), (2, 9, 8)];
const ROUNDS: u32 = 12;
/// Where sizes have to be small.
const FEW_ROUNDS: u32 = 4;

/// How far each round came, and the best tour then.
type History = Vec<(Reached, Vec<u32>)>;

struct Case {
    name: String,
    problem: Problem,
    spec: Spec,
    rounds: Vec<TrialRound>,
    history: History,
    /// All tours behind the last round.
    tours: Vec<u32>,
    /// A tour of another run, what comes of taking over what it does better, and all tours then.
    other: Vec<u32>,
    met: (Reached, Vec<u32>),
}

fn history(engine: &mut dyn LinKernighan, rounds: &[TrialRound]) -> History {
    let after = |round: &TrialRound| {
        let reached = engine.run(&[*round], &|| false).expect("a round");
        (reached, engine.best_tour().expect("the best tour"))
    };
    rounds.iter().map(after).collect()
}

fn met(engine: &mut dyn LinKernighan, other: &[u32]) -> (Reached, Vec<u32>) {
    let reached = engine.recombine(&[other.to_vec()], &|| false).expect("memory");
    (reached, engine.tours().expect("the tours"))
}

impl Case {
    /// From a random tour: two descents, then kicks, some of them at a temperature.
    fn new(
        name: &str,
        instance: &Instance,
        (chains, nodes, k): (u32, u32, usize),
        local_search: Option<LocalSearch>,
    ) -> Case {
        let k = k.min(instance.len() - 1);
        let near = if instance.points().is_some() { quadrant(instance, k) } else { nearest(instance, k) };
        let mut random = Random::new(43);
        let start = if instance.partners().is_some() || instance.gap().is_some() {
            start::tour(instance, Start::Random, &near, 43)
        } else {
            random.permutation(instance.len() as u32)
        };
        let problem = Problem::for_search(instance, &near, start);
        let n = problem.n();
        let (descent, trials) = (n.div_ceil(24), n.div_ceil(nodes));
        let round = |number: u32| TrialRound {
            seed: 11,
            number,
            trials: if number < 2 { descent } else { trials },
            walk: if number < 2 { 0 } else { 20 + 15 * (number % 5) },
            temperature: if number % 3 == 2 { problem.scale() / 3.0 } else { 0.0 },
            looks: if number % 4 == 3 { 20 } else { UNLIMITED },
            padding: 0,
        };
        let rounds: Vec<TrialRound> = (0..if small() { FEW_ROUNDS } else { ROUNDS }).map(round).collect();
        let (trials, start_cost) = (descent.max(trials), problem.unit_cost());
        let spec = Spec { local_search, chains, trials, starts: Vec::new(), start_cost, in_place: false };
        let (cpu, _) = Backend::open(Choice::Cpu).expect("CPU threads");
        let mut engine = cpu.lin_kernighan(&problem, &spec).expect("memory");
        let history = history(engine.as_mut(), &rounds);
        let tours = engine.tours().expect("the tours");
        let mut elsewhere = cpu.lin_kernighan(&problem, &spec).expect("memory");
        let kicked: Vec<TrialRound> = rounds.iter().map(|round| TrialRound { seed: 12, ..*round }).collect();
        self::history(elsewhere.as_mut(), &kicked);
        let other = elsewhere.best_tour().expect("the best tour");
        let met = met(engine.as_mut(), &other);
        drop((engine, elsewhere));
        Case {
            name: format!("{name}, {local_search:?}, n {n}, {chains} tours, {trials} trials, {k} neighbours"),
            problem,
            spec,
            rounds,
            history,
            tours,
            other,
            met,
        }
    }

    fn check(&self, devices: &[&Device]) {
        let mut engine = CudaLinKernighan::new(devices, &self.problem, &self.spec).expect("the kernels");
        let found = history(&mut engine, &self.rounds);
        for (round, (found, expected)) in found.iter().zip(&self.history).enumerate() {
            let case = format!("{} on {}, round {round}", self.name, devices.len());
            assert_eq!(found.0, expected.0, "{case}");
            assert_eq!(found.1, expected.1, "{case}");
        }
        let tours = engine.tours().expect("the tours");
        assert_eq!(tours, self.tours, "{} on {}", self.name, devices.len());
        assert_eq!(met(&mut engine, &self.other), self.met, "{} on {}, joined", self.name, devices.len());
        if self.spec.chains == 1 {
            self.check_shared(devices);
        }
    }

    /// A tour that GPUs and CPU threads share: each makes a part of a round's trials.
    fn check_shared(&self, devices: &[&Device]) {
        let (cpu, _) = Backend::open(Choice::Cpu).expect("CPU threads");
        let mut threads = cpu.lin_kernighan(&self.problem, &self.spec).expect("memory");
        let mut gpus = CudaLinKernighan::new(devices, &self.problem, &self.spec).expect("the kernels");
        for (i, (round, (reached, tour))) in self.rounds.iter().zip(&self.history).enumerate() {
            let case = format!("{} shared with {} GPUs, round {i}", self.name, devices.len());
            let first = round.trials * (i as u32 % 4) / 4;
            let both = [
                threads.find(*round, 0..first, &|| false).expect("trials"),
                gpus.find(*round, first..round.trials, &|| false).expect("trials"),
            ];
            assert_eq!(both[0].made + both[1].made, round.trials, "{case}");
            for engine in [threads.as_mut(), &mut gpus] {
                engine.make(*round, &mut both.clone()).expect("a merge");
                let now = engine.reached(&|| false).expect("the tour");
                assert_eq!((now.cost, now.best_cost), (reached.cost, reached.best_cost), "{case}");
                assert_eq!(engine.best_tour().expect("the best tour"), *tour, "{case}");
            }
        }
    }
}

/// Two devices more: others than the first if there are some, else that one opened anew.
fn more_devices() -> [Device; 2] {
    let open = |ordinal| Device::open(ordinal).or_else(|_| Device::open(0)).expect("another device");
    [open(1), open(2)]
}

fn check(geometry: &str) {
    let mut cases = Vec::new();
    let few: Vec<u32> = sizes(&SIZES).collect();
    for &n in some(&few) {
        for instance in instances(geometry, n) {
            // The largest once: matrices of it are large.
            for shape in if n > 1000 { &SHAPES[..1] } else { some(&SHAPES) } {
                if n > 1000
                    && geometry == "numbered"
                    && instance.metric() != Some(antwarp::instance::Metric::Man2d)
                {
                    continue;
                }
                cases.push(Case::new(instance.name(), &instance, *shape, None));
            }
        }
    }
    let others =
        [LocalSearch::TwoOpt, LocalSearch::OrOpt, LocalSearch::Or2opt, LocalSearch::ThreeOpt].map(Some);
    for &n in some(&few).iter().filter(|&&n| n <= 1000) {
        let instances = instances(geometry, n);
        for (local_search, instance) in others.into_iter().zip(instances.iter().cycle()) {
            cases.push(Case::new(instance.name(), instance, SHAPES[1], local_search));
        }
    }
    for case in &cases {
        let (reached, tour) = case.history.last().expect("a round");
        assert!(is_tour(tour, case.problem.n()), "{}", case.name);
        assert!(reached.best_cost < case.spec.start_cost, "{}", case.name);
    }
    let Some(gpu) = gpu() else { return };
    cases.iter().for_each(|case| case.check(&[&gpu]));
    // Several GPUs: those that there are, and at least the one three times.
    let others = more_devices();
    let mut devices: Vec<&Device> = others.iter().collect();
    devices.push(&gpu);
    let few = cases.iter().filter(|case| case.problem.n() <= 1000 || geometry == "grid");
    few.for_each(|case| case.check(&devices));
}

fn rounds_on_a_grid() {
    check("grid");
}

fn rounds_in_the_plane() {
    check("planar");
}

fn rounds_of_numbered_nodes() {
    check("numbered");
}

/// Open paths, fixed edges and edges with a direction: as places on a grid and in the plane, and as matrices.
fn rounds_of_closed_forms() {
    let n = if small() { 61 } else { 700 };
    let ends = Ends { start: Some(5), end: None };
    let fixed: Vec<(u32, u32)> = (0..n / 4).map(|i| (4 * i, 4 * i + 1 + i % 2)).collect();
    let mut forms = Vec::new();
    for instance in
        ["grid", "planar", "numbered"].map(|geometry| instances(geometry, n)).into_iter().flatten()
    {
        let shaped = [
            instance.clone().with_ends(Some(Ends::default())),
            instance.clone().with_ends(Some(ends)).with_fixed_edges(fixed.clone()),
        ];
        forms.extend(shaped.map(|shaped| Form::closed(&shaped).expect("a shape")));
    }
    let cost = |at: u32| if at.is_multiple_of(n + 1) { 0 } else { (u64::from(at) * 7919 % 1009) as i32 };
    let directed = Instance::from_matrix("directed", (0..n * n).map(cost).collect()).expect("a matrix");
    forms.push(Form::doubled(&directed, None));
    let cases: Vec<(Case, &Form)> =
        forms.iter().map(|form| (Case::new("form", form.instance(), SHAPES[2], None), form)).collect();
    for (case, form) in &cases {
        let tours = case.tours.chunks_exact(case.problem.n() as usize);
        assert!(
            tours.into_iter().all(|tour| form.outward(&case.problem.original(tour)).is_some()),
            "{}",
            case.name
        );
    }
    let Some(gpu) = gpu() else { return };
    cases.iter().for_each(|(case, _)| case.check(&[&gpu]));
}
