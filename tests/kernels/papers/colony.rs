//! Whole colonies on the GPU against colonies on CPU threads.

use antwarp::backend::cuda::{CudaColony, Device, texts};
use antwarp::backend::{Backend, Choice};
use antwarp::engine::{Colony, Problem, Stop};
use antwarp::instance::Instance;
use antwarp::instance::generate::uniform;
use antwarp::solver::mmas::{ColonySpec, Deposit, MmasSettings, Selection, TabuKind};
use antwarp_core::metric::Metric;
use antwarp_core::papers::ants::colony::{ColonyRules, ColonyState};

use crate::gpu::{Gpu, gpu, sizes};
use crate::input::{Random, is_tour};

tests![
    wrs_list,
    wrs_compact,
    wrs_bitmask,
    rwm_list,
    rwm_compact,
    rwm_bitmask,
    edges_with_a_direction,
    places_on_the_globe,
    every_ptx_that_the_device_takes
];

const SIZES: [u32; 3] = [40, 200, 500];
/// Iterations of each colony.
pub const ITERATIONS: usize = 10;

/// The state after every iteration, and the best tour at that time.
pub type History = Vec<(ColonyState, Vec<u32>)>;

/// What a colony does.
pub fn history(colony: &mut dyn Colony) -> History {
    let step =
        |_| (colony.run(1, &|| false).expect("an iteration"), colony.best_tour().expect("the best tour"));
    (0..ITERATIONS).map(step).collect()
}

/// A colony and what it does on the CPU.
pub struct Case {
    name: String,
    problem: Problem,
    spec: ColonySpec,
    cpu: History,
}

impl Case {
    /// Runs it on the CPU.
    pub fn new(instance: &Instance, settings: MmasSettings) -> Case {
        let problem =
            Problem::new(instance, settings.candidates, settings.neighbors).unwrap().reduced(&|| false);
        let (backend, _) = Backend::open(Choice::Cpu).expect("the CPU");
        let spec = settings.spec(&problem, &backend, &Stop::never());
        let name = format!("{}, {}, {} candidates", instance.name(), spec.variant(), problem.k());
        let cpu = history(backend.colony(&problem, &spec).expect("a colony on the CPU").as_mut());
        for (state, tour) in &cpu {
            assert!(is_tour(tour, problem.n()), "{name}: {tour:?}");
            assert_eq!(instance.check_tour(&problem.original(tour)).ok(), Some(state.best_cost), "{name}");
        }
        Case { name, problem, spec, cpu }
    }

    /// Runs it on the GPU.
    pub fn check(&self, device: &Device) {
        let mut colony = CudaColony::new(device, &self.problem, &self.spec).unwrap_or_else(|e| panic!("{e}"));
        for (i, (gpu, cpu)) in history(&mut colony).iter().zip(&self.cpu).enumerate() {
            let what = format!("{}, iteration {i}, on the GPU and the CPU", self.name);
            assert_eq!(gpu.0, cpu.0, "{what}");
            assert_eq!(gpu.1, cpu.1, "{what}");
        }
    }

    /// A batch of iterations, of which one reaches the target; later ones change nothing.
    fn check_target(&self, device: &Device) {
        let best = |i: usize| self.cpu[i].0.best_cost;
        let target = best(ITERATIONS / 2);
        let reached = (0..ITERATIONS).find(|&i| best(i) <= target).expect("the iteration itself");
        let spec = ColonySpec { rules: ColonyRules { target, ..self.spec.rules }, ..self.spec };
        let mut colony = CudaColony::new(device, &self.problem, &spec).unwrap_or_else(|e| panic!("{e}"));
        let state = colony.run(ITERATIONS as u32, &|| false).expect("a batch");
        assert_eq!(state, ColonyState { done: 1, ..self.cpu[reached].0 }, "{}", self.name);
        assert_eq!(colony.best_tour().expect("the best tour"), self.cpu[reached].1, "{}", self.name);
    }
}

fn settings(selection: Selection, tabu: TabuKind, n: u32, candidates: Option<u32>) -> MmasSettings {
    MmasSettings {
        seed: u64::from(n),
        ants: Some(if n < 100 { n } else { 50 }),
        candidates,
        selection,
        tabu,
        // 40 nodes: the default; 200: measured; 500: given.
        warps: (n == 500).then_some(3),
        deposit: Some(match n {
            200 => Deposit::Mixed,
            500 => Deposit::Restart,
            _ => Deposit::Iteration,
        }),
        // Often enough for several resets in a few iterations.
        reset_after: Some(if n == 500 { 2 } else { 0 }),
        ..MmasSettings::default()
    }
}

fn check_variant(selection: Selection, tabu: TabuKind) {
    let mut cases = Vec::new();
    for (n, k) in sizes(&SIZES).flat_map(|n| [None, Some(16)].map(|k| (n, k))) {
        let instance = uniform(n as usize, 8).expect("an instance");
        cases.push(Case::new(&instance, settings(selection, tabu, n, k)));
    }
    let Some(gpu) = gpu() else { return };
    for case in &cases {
        case.check(&gpu);
    }
    cases[0].check_target(&gpu);
    cases[1].check_target(&gpu);
}

fn wrs_list() {
    check_variant(Selection::Wrs, TabuKind::List);
}

fn wrs_compact() {
    check_variant(Selection::Wrs, TabuKind::Compact);
}

fn wrs_bitmask() {
    check_variant(Selection::Wrs, TabuKind::Bitmask);
}

fn rwm_list() {
    check_variant(Selection::Rwm, TabuKind::List);
}

fn rwm_compact() {
    check_variant(Selection::Rwm, TabuKind::Compact);
}

fn rwm_bitmask() {
    check_variant(Selection::Rwm, TabuKind::Bitmask);
}

fn odd_cases(instance: &Instance) -> Vec<Case> {
    let case = |selection, tabu, k| Case::new(instance, settings(selection, tabu, 40, k));
    vec![case(Selection::Wrs, TabuKind::Bitmask, None), case(Selection::Rwm, TabuKind::Compact, Some(16))]
}

/// 60 nodes by a random matrix without symmetry.
pub fn directed() -> Instance {
    let (n, mut random) = (60, Random::new(9));
    let entries = (0..n * n).map(|i| if i % (n + 1) == 0 { 0 } else { 1 + random.below(1000) as i32 });
    let instance = Instance::from_matrix("directed", entries.collect()).expect("an instance");
    assert!(!instance.is_symmetric());
    instance
}

fn edges_with_a_direction() {
    let cases = odd_cases(&directed());
    let Some(gpu) = gpu() else { return };
    cases.iter().for_each(|case| case.check(&gpu));
}

/// 60 places; the GPU gets their distances as a matrix.
pub fn globe() -> Instance {
    let mut random = Random::new(10);
    let mut degrees = |most: f64| ((random.unit() - 0.5) * 2.0 * most).round() / 2.0;
    let points = (0..60).map(|_| [degrees(89.0), degrees(179.0), 0.0]).collect();
    Instance::from_points("globe", Metric::Geo, points).expect("an instance")
}

fn places_on_the_globe() {
    let cases = odd_cases(&globe());
    let Some(gpu) = gpu() else { return };
    cases.iter().for_each(|case| case.check(&gpu));
}

/// Calls `check` with a device for each embedded PTX text that the shared one takes.
pub fn on_every_ptx(gpu: Gpu, check: impl Fn(&Device)) {
    let oldest = texts().iter().map(|ptx| ptx.capability).min().expect("PTX where a device was opened");
    for architecture in texts().iter().map(|ptx| ptx.capability) {
        let device = match Device::open_with(0, Some(architecture)) {
            Ok(device) => device,
            Err(why) if architecture > oldest => {
                println!("skipped: {why}");
                continue;
            }
            Err(why) => panic!("{why}"),
        };
        let used = device.machine().details;
        assert!(used.contains(&format!("sm_{architecture}")), "{used}");
        check(&device);
    }
    // The other devices are gone before the shared one is given back.
    drop(gpu);
}

/// A device runs PTX for any older one: each embedded text gives the same colonies.
fn every_ptx_that_the_device_takes() {
    let instance = uniform(60, 11).expect("an instance");
    let cases = odd_cases(&instance);
    let Some(gpu) = gpu() else { return };
    on_every_ptx(gpu, |device| cases.iter().for_each(|case| case.check(device)));
}
