//! Neighbourhood search through the backends: what is found on the GPU, and on the CPU.

use std::fmt::Debug;
use std::process::Command;

use antwarp::backend::cpu::OnThreads;
use antwarp::backend::cuda::{Cards, Device};
use antwarp::backend::{Backend, Choice};
use antwarp::engine::{BackendError, Plain, Stop, Tables};
use antwarp::instance::Qap;
use antwarp::solver::SolveError;
use antwarp::solver::search::problems::{MaxCut, Partition, Perceptron, qap_tables};
use antwarp::solver::search::{
    Chooser, Found, Improvement, SearchSettings, Strategy, choose_on_host, search,
};
use antwarp_core::geometry::Grid;
use antwarp_core::papers::neighborhood::Neighborhood;
use antwarp_core::papers::problem::{self, Element, SwappedTour, Weierstrass};

use crate::gpu::{Gpu, LARGE, assert_same, gpu, small};
use crate::harness::ignore;
use crate::papers::walk_instances::{functions, random_qap, tours};

tests![
    shapes_are_tried_out,
    asked_shapes,
    children,
    choices_of_the_host,
    a_replica_in_global_memory,
    impossible_shapes
];

/// Blocks of a walk, or CPU threads, and threads of a block to ask for.
type Shape = (Option<u32>, Option<u32>);

/// One thread of the CPU a walk: nothing is tried out.
const ALONE: Shape = (Some(1), None);

/// A problem whose solutions can be compared, and shown.
trait Comparable: OnThreads<Moves: Neighborhood<Element: PartialEq + Debug>> {}
impl<P: OnThreads<Moves: Neighborhood<Element: PartialEq + Debug>>> Comparable for P {}

fn asked(blocks: u32, threads: u32) -> Shape {
    (Some(blocks), Some(threads))
}

/// Settings that ask for a shape.
fn shaped(settings: &SearchSettings, (blocks, block_threads): Shape) -> SearchSettings {
    SearchSettings { blocks, block_threads, ..settings.clone() }
}

/// A backend of the device, while nobody else has it.
fn on_gpu(_: &Gpu) -> Backend {
    Backend::Cuda(Cards::one(Device::open(0).expect("the device once more")))
}

fn on_cpu() -> Backend {
    Backend::open(Choice::Cpu).expect("the CPU").0
}

fn after(iterations: u64) -> Stop {
    Stop { iterations: Some(iterations), ..Stop::never() }
}

fn find<P: OnThreads>(
    backend: &Backend,
    tables: &Tables,
    settings: &SearchSettings,
    stop: &Stop,
) -> Result<Found<Vec<Element<P>>>, SolveError> {
    search::<P>(backend, tables, settings, stop, &mut |_| ())
}

/// What does not depend on where and how long a search ran.
#[track_caller]
fn assert_found<E: Plain + PartialEq + Debug>(what: &str, gpu: &Found<Vec<E>>, cpu: &Found<Vec<E>>) {
    assert_eq!(gpu.failure, None, "{what}");
    assert_eq!(gpu.stopped_by, cpu.stopped_by, "{what}: why it ended, on the GPU and the CPU");
    assert_eq!(gpu.iterations, cpu.iterations, "{what}: iterations, on the GPU and the CPU");
    assert_eq!(gpu.evaluations, cpu.evaluations, "{what}: evaluations, on the GPU and the CPU");
    assert_eq!(gpu.descents, cpu.descents, "{what}: descents, on the GPU and the CPU");
    assert_same(&format!("{what}: costs of the walks"), &gpu.costs, &cpu.costs);
    assert_eq!(gpu.cost, cpu.cost, "{what}: cost, on the GPU and the CPU");
    assert_eq!(gpu.best_iteration, cpu.best_iteration, "{what}: best iteration, on the GPU and the CPU");
    assert_same(&format!("{what}: solution"), &gpu.solution, &cpu.solution);
}

/// A search and what it finds on the CPU.
struct Case<P: OnThreads> {
    name: String,
    tables: Tables,
    settings: SearchSettings,
    stop: Stop,
    cpu: Found<Vec<Element<P>>>,
}

impl<P: Comparable> Case<P> {
    fn new(name: &str, tables: Tables, settings: SearchSettings, stop: Stop) -> Case<P> {
        let name = format!("{}, {name}, {:?}, {} walks", P::NAME, settings.strategy, settings.walks);
        let cpu = find::<P>(&on_cpu(), &tables, &shaped(&settings, ALONE), &stop);
        let cpu = cpu.unwrap_or_else(|e| panic!("{name}: {e}"));
        Case { name, tables, settings, stop, cpu }
    }

    /// Searches in a shape, or tries shapes out; how it was laid out.
    fn check(&self, backend: &Backend, shape: Shape) -> String {
        let what = format!("{}, {shape:?}", self.name);
        let settings = shaped(&self.settings, shape);
        let gpu = find::<P>(backend, &self.tables, &settings, &self.stop);
        let gpu = gpu.unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_found(&format!("{what}, {}", gpu.layout), &gpu, &self.cpu);
        gpu.layout
    }

    /// The same search, but that the host chooses, among neighbours that the backend makes or itself.
    fn check_choices(&self, backend: &Backend, shape: Shape) {
        let what = format!("{}, chosen on the host, {shape:?}", self.name);
        for selection in [Chooser::Host, Chooser::HostGenerates] {
            let settings = SearchSettings { selection, ..shaped(&self.settings, shape) };
            let chosen = choose_on_host::<P>(backend, &self.tables, &settings, &self.stop, &mut |_| ());
            let chosen = chosen.unwrap_or_else(|e| panic!("{what}, {selection:?}: {e}")).found;
            assert_found(&format!("{what}, {selection:?}, {}", chosen.layout), &chosen, &self.cpu);
        }
    }
}

fn settings(strategy: Strategy, walks: u32) -> SearchSettings {
    SearchSettings {
        strategy,
        walks,
        // The host knows no other than the best.
        improvement: if strategy.descends() && walks > 1 { Improvement::First } else { Improvement::Best },
        seed: 77,
        cooperate: (walks > 1).then_some(50),
        ..SearchSettings::default()
    }
}

fn qap() -> Tables {
    qap_tables(&random_qap(24, 99, false)).expect("tables")
}

fn perceptron() -> Tables {
    Perceptron::generate(31, 37, 1).expect("an instance").tables().expect("small enough")
}

fn tour() -> Tables {
    tours("grid", 30).remove(0).1
}

fn partition() -> Tables {
    Partition::uniform(60, 4, 1).expect("an instance").tables()
}

fn max_cut() -> Tables {
    MaxCut::random(150, 9, 1).expect("a graph").tables()
}

/// Whether shapes that are found are not kept, and none are known.
fn is_apart() -> bool {
    std::env::var("ANTWARP_TUNING").is_ok_and(|file| file == "none")
}

/// Runs a test of this module in a process of its own, in which shapes that were found are not kept.
fn apart(test: &str) {
    let program = std::env::current_exe().expect("the test's program");
    let mut command = Command::new(program);
    let (_, module) = module_path!().split_once("::").expect("a module of the test's program");
    command.args([&format!("{module}::{test}"), "--exact"]).env("ANTWARP_TUNING", "none");
    let output = command.output().expect("the test once more");
    let [out, error] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{test}: {out}{error}");
    // Without a GPU it counts as ignored, but it has to be found.
    assert!(out.contains("running 1 test"), "{test}: {out}{error}");
    if gpu().is_some() {
        assert!(out.contains("1 passed"), "{test}: {out}{error}");
    }
}

/// Walks go through all shapes that the device takes, and end up where one CPU thread does.
fn shapes_are_tried_out() {
    if !is_apart() {
        return apart("shapes_are_tried_out");
    }
    fn check<P: Comparable>(tables: impl Fn() -> Tables, strategies: &[(Strategy, u32)]) {
        let iterations = if small() { 60 } else { 6000 };
        let case = |&(strategy, walks): &(Strategy, u32)| {
            Case::<P>::new("shapes tried out", tables(), settings(strategy, walks), after(iterations))
        };
        let cases: Vec<Case<P>> = strategies.iter().map(case).collect();
        let Some(gpu) = gpu() else { return };
        let backend = on_gpu(&gpu);
        for case in &cases {
            let layout = case.check(&backend, (None, None));
            println!("{}: {layout}", case.name);
            assert!(small() || !layout.contains("(0 trials)"), "{}: {layout}", case.name);
        }
    }
    check::<problem::Qap<true>>(qap, &[(Strategy::Tabu, 1), (Strategy::Ils, 5)]);
    check::<problem::Perceptron<2>>(perceptron, &[(Strategy::Tabu, 2), (Strategy::Annealing, 4)]);
    check::<Weierstrass<f32>>(|| functions::<f32>().remove(0).1, &[(Strategy::Tabu, 1)]);
    check::<problem::Partition>(partition, &[(Strategy::Tabu, 40)]);
    check::<problem::MaxCut>(max_cut, &[(Strategy::Tabu, 3)]);
}

/// Asked shapes of few and of many walks, which compare now and then.
fn asked_shapes() {
    fn check<P: Comparable>(tables: impl Fn() -> Tables, strategies: &[(Strategy, u32)]) {
        let iterations = if small() { 60 } else { 400 };
        let case = |&(strategy, walks): &(Strategy, u32)| {
            Case::<P>::new("an asked shape", tables(), settings(strategy, walks), after(iterations))
        };
        let cases: Vec<Case<P>> = strategies.iter().map(case).collect();
        let Some(gpu) = gpu() else { return };
        let backend = on_gpu(&gpu);
        for (i, case) in cases.iter().enumerate() {
            let (parts, threads) = [(1, 128), (4, 64), (7, 32)][i % 3];
            let layout = case.check(&backend, asked(parts, threads));
            let shape = format!(", {parts} block{} of {threads} threads", if parts == 1 { "" } else { "s" });
            assert!(layout.contains(&shape), "{}: {layout}", case.name);
        }
    }
    check::<problem::Qap<false>>(qap, &[(Strategy::Annealing, 1), (Strategy::Tabu, 6)]);
    check::<SwappedTour<Grid>>(tour, &[(Strategy::HillClimbing, 6), (Strategy::Ils, 1)]);
    check::<problem::NestedPerceptron>(perceptron, &[(Strategy::Vnd, 1), (Strategy::Vns, 6)]);
    check::<problem::NestedTour<Grid>>(tour, &[(Strategy::Vns, 1), (Strategy::Vnd, 6)]);
    check::<Weierstrass<f64>>(|| functions::<f64>().remove(0).1, &[(Strategy::Tabu, 6)]);
}

/// Walks whose restarts begin with children.
fn children() {
    let settings =
        SearchSettings { cooperate: None, restart: Some(20), recombine: true, ..settings(Strategy::Tabu, 6) };
    let iterations = if small() { 60 } else { 400 };
    let case = Case::<problem::Qap<true>>::new("children", qap(), settings, after(iterations));
    let Some(gpu) = gpu() else { return };
    let backend = on_gpu(&gpu);
    for (parts, threads) in [(1, 128), (3, 64)] {
        case.check(&backend, asked(parts, threads));
    }
}

/// The host makes the moves that the device makes, to the last iteration, to a target, and to the last descent.
fn choices_of_the_host() {
    fn check<P: Comparable>(to_target: bool, tables: impl Fn() -> Tables) {
        let iterations = if small() { 20 } else { 150 };
        let case = |settings| Case::<P>::new("device and host", tables(), settings, after(iterations));
        let [tabu, climb] = [Strategy::Tabu, Strategy::HillClimbing].map(|strategy| settings(strategy, 1));
        let mut cases = vec![case(tabu.clone()), case(SearchSettings { descents: Some(2), ..climb })];
        if to_target {
            let target = Some(cases[0].cpu.cost);
            cases.push(case(SearchSettings { target, ..tabu }));
        }
        for case in &cases {
            case.check_choices(&on_cpu(), ALONE);
        }
        let Some(gpu) = gpu() else { return };
        let backend = on_gpu(&gpu);
        for case in &cases {
            // Loading a kernel takes longer than all the rest.
            case.check_choices(&backend, if to_target { asked(1, 64) } else { (None, None) });
        }
    }
    check::<problem::Qap<false>>(true, qap);
    check::<problem::Perceptron<3>>(false, || {
        Perceptron::generate(21, 19, 1).expect("an instance").tables().expect("small enough")
    });
    check::<Weierstrass<f32>>(false, || functions::<f32>().remove(0).1);
}

/// Solutions too large for shared memory.
fn a_replica_in_global_memory() {
    if small() {
        return ignore(LARGE);
    }
    let tables = || qap_tables(&Qap::uniform(260, 1).expect("an instance")).expect("tables");
    let cases = [(Strategy::Tabu, 1), (Strategy::Ils, 3)].map(|(strategy, walks)| {
        let settings = SearchSettings { cooperate: Some(20), ..settings(strategy, walks) };
        Case::<problem::Qap<true>>::new("a large replica", tables(), settings, after(45))
    });
    let Some(gpu) = gpu() else { return };
    let backend = on_gpu(&gpu);
    for (case, (parts, threads)) in cases.iter().zip([(16, 256), (3, 512)]) {
        let layout = case.check(&backend, asked(parts, threads));
        assert!(layout.contains("global memory"), "{}: {layout}", case.name);
    }
    // The paper's way has no such kernel.
    let case = &cases[0];
    let settings = SearchSettings { selection: Chooser::Host, ..case.settings.clone() };
    match choose_on_host::<problem::Qap<true>>(&backend, &case.tables, &settings, &case.stop, &mut |_| ()) {
        Err(error @ SolveError::Backend(BackendError::Shape { .. })) => {
            let text = error.to_string();
            assert!(text.contains("block_evaluate_qap_stored") && text.contains("`backend` cpu"), "{text}");
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("a replica that is too large was looked at in shared memory"),
    }
}

/// Shapes that cannot be launched are refused by name, and the device goes on.
fn impossible_shapes() {
    let case: Case<problem::Perceptron<2>> =
        Case::new("impossible shapes", perceptron(), settings(Strategy::Tabu, 3), after(50));
    let Some(gpu) = gpu() else { return };
    let backend = on_gpu(&gpu);
    // More blocks than run at the same time, and more threads than the kernel has registers for.
    for (parts, threads) in [(1 << 14, 512), (1, 1024)] {
        let settings = shaped(&case.settings, asked(parts, threads));
        match find::<problem::Perceptron<2>>(&backend, &case.tables, &settings, &case.stop) {
            Err(error @ SolveError::Backend(BackendError::Launch { .. })) => {
                let text = error.to_string();
                let says = ["block_walk_perceptron_2", "cannot launch kernel"];
                assert!(says.iter().all(|what| text.contains(what)), "{text}");
            }
            Err(other) => panic!("{parts} blocks of {threads} threads: {other:?}"),
            Ok(found) => panic!("{parts} blocks of {threads} threads ran: {}", found.layout),
        }
    }
    case.check(&backend, asked(2, 64));
}
