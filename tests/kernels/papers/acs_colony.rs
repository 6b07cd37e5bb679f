//! Whole colonies of Ant Colony System on the GPU against colonies on CPU threads. They are the same where the order of
//! the ants is: if they go step by step with atomic updates, or if there is one.

use antwarp::backend::cuda::{CudaAcs, Device};
use antwarp::backend::{Backend, Choice};
use antwarp::engine::{BackendError, Colony, LocalSearch, Problem, Stop};
use antwarp::instance::Instance;
use antwarp::instance::generate::uniform;
use antwarp::solver::acs::{AcsSettings, AcsSpec, Pheromone, Update};
use antwarp_core::papers::ants::colony::{ColonyRules, ColonyState};

use crate::gpu::{gpu, sizes, small};
use crate::input::is_tour;
use crate::papers::colony::{History, ITERATIONS, directed, globe, history, on_every_ptx};

tests![
    matrix_atomic,
    candidate_atomic,
    matrix_one_ant,
    candidate_one_ant,
    selective_one_ant,
    many_ants,
    edges_with_a_direction,
    places_on_the_globe,
    ants_with_local_search,
    one_after_the_other_is_for_cpus,
    every_ptx_that_the_device_takes
];

const SIZES: [u32; 3] = [40, 200, 500];
const ANTS: u32 = 50;

fn settings(pheromone: Pheromone, update: Update) -> AcsSettings {
    let ants = Some(if update == Update::Relaxed { 1 } else { ANTS });
    AcsSettings { seed: 21, ants, candidates: 16, pheromone, update, ..AcsSettings::default() }
}

fn atomic(pheromone: Pheromone) -> AcsSettings {
    settings(pheromone, Update::Atomic)
}

fn alone(pheromone: Pheromone) -> AcsSettings {
    settings(pheromone, Update::Relaxed)
}

/// A colony and what it does on the CPU.
struct Case {
    name: String,
    problem: Problem,
    spec: AcsSpec,
    cpu: History,
}

impl Case {
    /// Runs it on the CPU.
    fn new(instance: &Instance, settings: &AcsSettings) -> Case {
        settings.check().expect("settings");
        let problem =
            Problem::new(instance, Some(settings.candidates), settings.neighbors).unwrap().reduced(&|| false);
        let (backend, _) = Backend::open(Choice::Cpu).expect("the CPU");
        let spec = settings.spec(&problem, &backend, &Stop::never());
        let k = problem.k();
        let name = format!("{}, {}, {k} candidates", instance.name(), spec.variant());
        let cpu = history(backend.acs(&problem, &spec).expect("a colony on the CPU").as_mut());
        for (state, tour) in &cpu {
            assert!(is_tour(tour, problem.n()), "{name}: {tour:?}");
            assert_eq!(instance.check_tour(&problem.original(tour)).ok(), Some(state.best_cost), "{name}");
        }
        Case { name, problem, spec, cpu }
    }

    fn colony<'p>(&'p self, device: &'p Device, spec: &AcsSpec) -> CudaAcs<'p> {
        CudaAcs::new(device, &self.problem, spec).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }

    /// Runs it on the GPU.
    fn check(&self, device: &Device) {
        self.check_as(device, &self.spec);
    }

    /// Runs it on the GPU in another form.
    fn check_as(&self, device: &Device, spec: &AcsSpec) {
        let mut colony = self.colony(device, spec);
        for (i, (gpu, cpu)) in history(&mut colony).iter().zip(&self.cpu).enumerate() {
            let what = format!("{}, {}, iteration {i}, on the GPU and the CPU", self.name, colony.describe());
            assert_eq!(gpu.0, cpu.0, "{what}");
            assert_eq!(gpu.1, cpu.1, "{what}");
        }
    }

    /// A launch for each phase.
    fn check_each_phase(&self, device: &Device) {
        self.check_as(device, &AcsSpec { each_phase: true, ..self.spec });
    }

    /// A batch of iterations, of which one reaches the target; later ones change nothing.
    fn check_target(&self, device: &Device) {
        let best = |i: usize| self.cpu[i].0.best_cost;
        let target = best(ITERATIONS / 2);
        let reached = (0..ITERATIONS).find(|&i| best(i) <= target).expect("the iteration itself");
        let spec = AcsSpec { rules: ColonyRules { target, ..self.spec.rules }, ..self.spec };
        let mut colony = self.colony(device, &spec);
        let state = colony.run(ITERATIONS as u32, &|| false).expect("a batch");
        assert_eq!(state, ColonyState { done: 1, ..self.cpu[reached].0 }, "{}", self.name);
        assert_eq!(colony.best_tour().expect("the best tour"), self.cpu[reached].1, "{}", self.name);
    }
}

fn check_sizes(settings: &AcsSettings) {
    let mut cases = Vec::new();
    for (n, period) in sizes(&SIZES).flat_map(|n| [1, 4].map(|period| (n, period))) {
        let instance = uniform(n as usize, 8).expect("an instance");
        cases.push(Case::new(&instance, &AcsSettings { period: Some(period), ..settings.clone() }));
    }
    let Some(gpu) = gpu() else { return };
    cases.iter().for_each(|case| case.check(&gpu));
    cases[0].check_target(&gpu);
    if settings.update == Update::Atomic {
        cases[..2].iter().for_each(|case| case.check_each_phase(&gpu));
    }
}

fn matrix_atomic() {
    check_sizes(&atomic(Pheromone::Matrix));
}

fn candidate_atomic() {
    check_sizes(&atomic(Pheromone::Candidate));
}

fn matrix_one_ant() {
    check_sizes(&alone(Pheromone::Matrix));
}

fn candidate_one_ant() {
    check_sizes(&alone(Pheromone::Candidate));
}

fn selective_one_ant() {
    check_sizes(&alone(Pheromone::Selective));
}

/// More ants than most devices have warps for at the same time: several a warp.
fn many_ants() {
    let ants = Some(if small() { 60 } else { 3000 });
    let instance = uniform(30, 12).expect("an instance");
    let case = Case::new(&instance, &AcsSettings { ants, ..atomic(Pheromone::Matrix) });
    let Some(gpu) = gpu() else { return };
    case.check(&gpu);
}

/// A colony of each form.
fn odd_cases(instance: &Instance) -> Vec<Case> {
    let all = [
        atomic(Pheromone::Matrix),
        atomic(Pheromone::Candidate),
        alone(Pheromone::Matrix),
        alone(Pheromone::Candidate),
        alone(Pheromone::Selective),
    ];
    all.iter().map(|settings| Case::new(instance, settings)).collect()
}

fn edges_with_a_direction() {
    let cases = odd_cases(&directed());
    let Some(gpu) = gpu() else { return };
    cases.iter().for_each(|case| case.check(&gpu));
}

fn places_on_the_globe() {
    let cases = odd_cases(&globe());
    let Some(gpu) = gpu() else { return };
    cases.iter().for_each(|case| case.check(&gpu));
}

fn ants_with_local_search() {
    let instance = uniform(60, 13).expect("an instance");
    let search =
        |settings| AcsSettings { local_search: Some(LocalSearch::ThreeOpt), ants: Some(8), ..settings };
    let all = [search(atomic(Pheromone::Matrix)), search(atomic(Pheromone::Candidate))];
    let cases = all.map(|settings| Case::new(&instance, &settings));
    assert!(cases.iter().all(|case| case.spec.local_search == LocalSearch::ThreeOpt));
    let Some(gpu) = gpu() else { return };
    for case in &cases {
        case.check(&gpu);
        case.check_each_phase(&gpu);
    }
}

fn one_after_the_other_is_for_cpus() {
    let case = Case::new(&uniform(40, 8).expect("an instance"), &atomic(Pheromone::Matrix));
    let Some(gpu) = gpu() else { return };
    let spec = AcsSpec { update: Update::Sequential, ..case.spec };
    let why = CudaAcs::new(&gpu, &case.problem, &spec).err().expect("an error");
    assert!(matches!(why, BackendError::Sequential), "{why}");
    let message = "`update` sequential runs on the CPU only: give `backend` cpu, or another `update`";
    assert_eq!(why.to_string(), message);
}

/// A device runs PTX for any older one: each embedded text gives the same colonies.
fn every_ptx_that_the_device_takes() {
    let cases = odd_cases(&uniform(60, 11).expect("an instance"));
    let Some(gpu) = gpu() else { return };
    on_every_ptx(gpu, |device| cases.iter().for_each(|case| case.check(device)));
}
