//! Whole populations on the GPU against populations on CPU threads.

use antwarp::backend::cuda::{CudaPopulation, Device};
use antwarp::backend::{Backend, Choice};
use antwarp::engine::{LocalSearch, Population, Problem, Stop};
use antwarp::instance::Instance;
use antwarp::instance::generate::uniform;
use antwarp::solver::genetic::{
    Crossover, FirstIndividuals, GeneticSettings, GeneticSpec, Initial, Pairing, Partners, check_for,
    first_individuals,
};
use antwarp_core::papers::ants::colony::ColonyState;

use crate::gpu::{LARGE, assert_same, gpu, sizes, small};
use crate::harness::ignore;
use crate::input::{GEOMETRIES, OPERATORS, Random, instances};
use crate::papers::colony::{directed, globe, on_every_ptx};

tests![
    scx,
    bcscx,
    arx,
    hybrid,
    targets,
    given_individuals_and_a_target,
    a_target_of_the_first_individuals,
    first_individuals_of_all_kinds,
    groups,
    few_nodes,
    edges_with_a_direction,
    places_on_the_globe,
    many_nodes,
    every_ptx_that_the_device_takes
];

/// Generations of each population.
const GENERATIONS: u32 = 8;
/// Individuals, in three groups.
const INDIVIDUALS: u32 = 48;
const SIZES: [u32; 2] = [40, 200];

/// A population after some generations: lengths and individuals by place.
#[derive(Clone)]
struct Snapshot {
    state: ColonyState,
    costs: Vec<i64>,
    individuals: Vec<u32>,
    best: Vec<u32>,
}

impl Snapshot {
    /// Of a population after more generations.
    fn take(population: &mut dyn Population, generations: u32) -> Snapshot {
        let state = population.run(generations, &|| false).expect("generations");
        let places = 0..population.places();
        Snapshot {
            state,
            costs: population.costs().expect("the lengths"),
            individuals: places
                .flat_map(|place| population.individual(place).expect("an individual"))
                .collect(),
            best: population.best_tour().expect("the best tour"),
        }
    }

    /// Whether one from the GPU is the same.
    #[track_caller]
    fn check(&self, what: &str, gpu: &Snapshot) {
        assert_eq!(gpu.state, self.state, "{what}: on the GPU and the CPU");
        assert_same(&format!("{what}: lengths"), &gpu.costs, &self.costs);
        assert_same(&format!("{what}: individuals"), &gpu.individuals, &self.individuals);
        assert_same(&format!("{what}: best tour"), &gpu.best, &self.best);
    }
}

/// A population and what it does on the CPU.
struct Case {
    name: String,
    problem: Problem,
    spec: GeneticSpec,
    first: FirstIndividuals,
    /// The first individuals, and those after every generation.
    cpu: Vec<Snapshot>,
}

impl Case {
    fn new(instance: &Instance, settings: &GeneticSettings) -> Case {
        Case::with(instance, settings, None, GENERATIONS)
    }

    /// Runs it on the CPU, from these individuals if there are some.
    fn with(
        instance: &Instance,
        settings: &GeneticSettings,
        given: Option<Vec<u32>>,
        generations: u32,
    ) -> Case {
        check_for(instance, settings).expect("settings");
        let problem = Problem::new(instance, Some(1), settings.neighbors).unwrap();
        let spec = settings.spec(&problem, &Stop::never());
        let first = first_individuals(instance, &problem, settings, given).expect("first individuals");
        let name = format!(
            "{}, {}, {:?}, {} groups, a transfer every {}",
            instance.name(),
            spec.variant(),
            spec.initial,
            spec.groups,
            spec.transfer_every
        );
        let (backend, _) = Backend::open(Choice::Cpu).expect("the CPU");
        let mut population = backend.population(&problem, &spec, first.clone()).expect("a population");
        let mut cpu = vec![Snapshot::take(population.as_mut(), 0)];
        cpu.extend((0..generations).map(|_| Snapshot::take(population.as_mut(), 1)));
        drop(population);
        let n = problem.n() as usize;
        for snapshot in &cpu {
            for (individual, &length) in snapshot.individuals.chunks(n).zip(&snapshot.costs) {
                let tour = problem.original(individual);
                assert_eq!(instance.check_tour(&tour).ok(), Some(length), "{name}");
            }
        }
        Case { name, problem, spec, first, cpu }
    }

    fn population<'p>(&'p self, device: &'p Device, spec: &GeneticSpec) -> CudaPopulation<'p> {
        CudaPopulation::new(device, &self.problem, spec, self.first.clone())
            .unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }

    /// Generations one by one, and all in one batch.
    fn check(&self, device: &Device) {
        let mut population = self.population(device, &self.spec);
        for (i, cpu) in self.cpu.iter().enumerate() {
            let gpu = Snapshot::take(&mut population, i.min(1) as u32);
            cpu.check(&format!("{}, generation {i}", self.name), &gpu);
        }
        drop(population);
        self.check_batches(device, &[self.cpu.len() - 1]);
    }

    /// Batches of so many generations each.
    fn check_batches(&self, device: &Device, batches: &[usize]) {
        let mut population = self.population(device, &self.spec);
        let mut done = 0;
        for &batch in batches {
            done += batch;
            let gpu = Snapshot::take(&mut population, batch as u32);
            self.cpu[done].check(&format!("{}, {done} generations in {batches:?}", self.name), &gpu);
        }
    }

    /// Generations with an individual that is shorter than all before, and with or without a transfer.
    fn better(&self, transfer: bool) -> impl Iterator<Item = usize> {
        let is_better = |i: &usize| self.cpu[*i].state.best_cost < self.cpu[*i - 1].state.best_cost;
        let number = |i: &usize| self.spec.first_generation + *i as u32;
        let last = self.cpu.len() - 1;
        (1..last).filter(is_better).filter(move |i| self.spec.transfers(number(i)) == transfer)
    }

    /// The same with a target that generation `reached` reaches, the first individuals being 0: on the CPU it ends there.
    fn towards(&self, reached: usize) -> (GeneticSpec, Snapshot) {
        let target = self.cpu[reached].state.best_cost;
        let spec = GeneticSpec { target, ..self.spec.clone() };
        let mut end = self.cpu[reached].clone();
        end.state.done = 1;
        let (backend, _) = Backend::open(Choice::Cpu).expect("the CPU");
        let mut population =
            backend.population(&self.problem, &spec, self.first.clone()).expect("a population");
        let cpu = Snapshot::take(population.as_mut(), self.cpu.len() as u32 - 1);
        end.check(&format!("{}, the CPU alone, target {target}", self.name), &cpu);
        (spec, end)
    }

    /// A batch in which this target is reached ends in that generation, and with it the run.
    fn check_target(&self, device: &Device, (spec, end): &(GeneticSpec, Snapshot)) {
        let mut population = self.population(device, spec);
        for (before, batch) in [(0, self.cpu.len() as u32 - 1), (self.cpu.len() - 1, 2)] {
            let what = format!("{}, target {}, {batch} generations after {before}", self.name, spec.target);
            end.check(&what, &Snapshot::take(&mut population, batch));
        }
    }
}

fn settings(crossover: Crossover, pairing: Pairing) -> GeneticSettings {
    GeneticSettings {
        seed: 31,
        crossover,
        pairing,
        population: Some(INDIVIDUALS),
        groups: 3,
        transfer_every: 3,
        mutation: 0.3,
        ..GeneticSettings::default()
    }
}

fn default() -> GeneticSettings {
    settings(Crossover::default(), Pairing::default())
}

/// Both pairings, with and without local search, distances of all kinds; in one of them a target is reached.
fn check_crossover(crossover: Crossover) {
    let mut cases = Vec::new();
    for (n, pairing) in sizes(&SIZES).flat_map(|n| [Pairing::Fixed, Pairing::Shuffled].map(|p| (n, p))) {
        for search in [false, true] {
            let i = cases.len() + crossover as usize;
            let instance = instances(GEOMETRIES[i % 3], n).remove(0);
            let local_search = if search { OPERATORS[(i / 2 + i / 4) % 4] } else { LocalSearch::None };
            let improve_best = !(i / 3).is_multiple_of(2);
            let partners = [Partners::Pairs, Partners::Ring][(i / 4 + i) % 2];
            let settings =
                GeneticSettings { local_search, improve_best, partners, ..settings(crossover, pairing) };
            cases.push(Case::new(&instance, &settings));
        }
    }
    let Some(gpu) = gpu() else { return };
    let (few, many) = cases.split_at(4);
    few.iter().for_each(|case| case.check(&gpu));
    many.iter().for_each(|case| case.check_batches(&gpu, &[3, 1, 4]));
}

fn scx() {
    check_crossover(Crossover::Scx);
}

fn bcscx() {
    check_crossover(Crossover::Bcscx);
}

fn arx() {
    check_crossover(Crossover::Arx);
}

fn hybrid() {
    check_crossover(Crossover::Hybrid);
}

/// Batches that end before their last generation, with and without a transfer in the generation that ends them.
fn targets() {
    let instance = instances("planar", 60).remove(0);
    let mut cases = Vec::new();
    for (crossover, local_search) in [
        (Crossover::Hybrid, LocalSearch::None),
        (Crossover::Arx, LocalSearch::None),
        (Crossover::Hybrid, LocalSearch::OrOpt),
        (Crossover::Bcscx, LocalSearch::TwoOpt),
    ] {
        for pairing in [Pairing::Fixed, Pairing::Shuffled] {
            let settings = GeneticSettings {
                local_search,
                transfer_every: 2,
                neighbors: 4,
                ..settings(crossover, pairing)
            };
            let case = Case::new(&instance, &settings);
            let reached = [true, false].map(|transfer| case.better(transfer).next());
            let ends: Vec<_> = reached.into_iter().flatten().map(|i| case.towards(i)).collect();
            cases.push((case, ends));
        }
    }
    assert!(cases.iter().filter(|(_, ends)| ends.len() == 2).count() > 4);
    let Some(gpu) = gpu() else { return };
    for (case, ends) in &cases {
        ends.iter().for_each(|end| case.check_target(&gpu, end));
    }
}

/// Given individuals that local search would improve, and that are better than most children: they go to other groups in the
/// generation that reaches the target, and must stay as they are.
fn given_individuals_and_a_target() {
    let instance = uniform(60, 14).expect("an instance");
    let settings = GeneticSettings {
        initial: Initial::File,
        local_search: LocalSearch::OrOpt,
        neighbors: 2,
        breadth: 1,
        transfer_every: 1,
        first_generation: 17,
        ..default()
    };
    let case = Case::with(&instance, &settings, Some(mixed(&instance)), GENERATIONS);
    let ends: Vec<_> = case.better(true).map(|i| case.towards(i)).collect();
    assert!(!ends.is_empty());
    let Some(gpu) = gpu() else { return };
    case.check(&gpu);
    ends.iter().for_each(|end| case.check_target(&gpu, end));
}

/// The first individuals reach the target: no generation follows.
fn a_target_of_the_first_individuals() {
    let instance = uniform(40, 15).expect("an instance");
    let cases = [LocalSearch::None, LocalSearch::TwoOpt]
        .map(|local_search| Case::new(&instance, &GeneticSettings { local_search, ..default() }));
    let ends = cases.each_ref().map(|case| case.towards(0));
    assert!(ends.iter().all(|(_, end)| end.state.iterations == 0));
    let Some(gpu) = gpu() else { return };
    cases.iter().zip(&ends).for_each(|(case, end)| case.check_target(&gpu, end));
}

/// A short tour of an instance, tours more and more unlike it, and each of them backwards.
fn mixed(instance: &Instance) -> Vec<u32> {
    let problem = Problem::new(instance, Some(1), 8).unwrap();
    let (n, mut random) = (problem.n(), Random::new(41));
    let mut individuals = Vec::new();
    for i in 0..INDIVIDUALS / 4 {
        let mut individual = problem.start_tour().to_vec();
        for _ in 0..2 * i {
            individual.swap(random.below(n) as usize, random.below(n) as usize);
        }
        individuals.extend(individual);
    }
    let backwards: Vec<_> =
        individuals.chunks(n as usize).flat_map(|individual| individual.iter().rev()).copied().collect();
    individuals.extend(backwards);
    individuals
}

fn first_individuals_of_all_kinds() {
    let instance = uniform(60, 16).expect("an instance");
    let mut cases = Vec::new();
    for local_search in [LocalSearch::None, LocalSearch::Or2opt] {
        for initial in [Initial::Random, Initial::LocalOptima, Initial::Ants] {
            cases.push(Case::new(&instance, &GeneticSettings { initial, local_search, ..default() }));
        }
        let settings =
            GeneticSettings { initial: Initial::File, first_generation: 1000, local_search, ..default() };
        cases.push(Case::with(&instance, &settings, Some(mixed(&instance)), GENERATIONS));
    }
    let Some(gpu) = gpu() else { return };
    cases.iter().for_each(|case| case.check_batches(&gpu, &[0, 1, 2, 5]));
}

/// One group, and many of a few individuals; no transfer, and one in every generation.
fn groups() {
    let instance = uniform(50, 17).expect("an instance");
    let shapes = [(1, 4, 1), (1, 40, 1), (2, 24, 0), (8, 32, 1), (5, 60, 2)];
    let cases = shapes.map(|(groups, individuals, transfer_every)| {
        Case::new(
            &instance,
            &GeneticSettings { groups, population: Some(individuals), transfer_every, ..default() },
        )
    });
    let Some(gpu) = gpu() else { return };
    cases.iter().for_each(|case| case.check_batches(&gpu, &[1, 1, 6]));
}

/// So few nodes that there is no local search; equal individuals are many.
fn few_nodes() {
    let mut cases = Vec::new();
    for n in [4, 5, 7, 8, 9] {
        let instance = uniform(n, 18).expect("an instance");
        let settings = GeneticSettings {
            initial: Initial::LocalOptima,
            local_search: LocalSearch::TwoOpt,
            mutation: 1.0,
            ..settings(if n % 2 == 0 { Crossover::Hybrid } else { Crossover::Scx }, Pairing::Shuffled)
        };
        cases.push(Case::new(&instance, &settings));
    }
    let Some(gpu) = gpu() else { return };
    cases.iter().for_each(|case| case.check(&gpu));
}

fn edges_with_a_direction() {
    let crossovers = [Crossover::Scx, Crossover::Bcscx, Crossover::Arx, Crossover::Hybrid];
    let case = |crossover| GeneticSettings { mutation: 0.6, ..settings(crossover, Pairing::Shuffled) };
    let cases = crossovers.map(|crossover| Case::new(&directed(), &case(crossover)));
    assert!(cases.iter().all(|case| case.problem.is_directed()));
    let Some(gpu) = gpu() else { return };
    cases.iter().for_each(|case| case.check_batches(&gpu, &[1, 7]));
}

fn places_on_the_globe() {
    let search = GeneticSettings { local_search: LocalSearch::TwoOpt, ..default() };
    let cases = [default(), search].map(|settings| Case::new(&globe(), &settings));
    let Some(gpu) = gpu() else { return };
    cases.iter().for_each(|case| case.check_batches(&gpu, &[1, 7]));
}

/// Jump indices that take most of the shared memory, and those that do not fit.
fn many_nodes() {
    if small() {
        return ignore(LARGE);
    }
    let mut cases = Vec::new();
    for (n, crossover) in [(20_000, Crossover::Hybrid), (30_000, Crossover::Hybrid), (30_000, Crossover::Scx)]
    {
        let instance = uniform(n, 19).expect("an instance");
        let settings = GeneticSettings {
            population: Some(8),
            groups: 2,
            transfer_every: 2,
            ..settings(crossover, Pairing::Shuffled)
        };
        cases.push(Case::with(&instance, &settings, None, 3));
    }
    let Some(gpu) = gpu() else { return };
    for case in &cases {
        case.check(&gpu);
    }
}

/// A device runs PTX for any older one: each embedded text gives the same populations.
fn every_ptx_that_the_device_takes() {
    let instance = uniform(60, 11).expect("an instance");
    let search = GeneticSettings { local_search: LocalSearch::TwoOpt, ..default() };
    let cases = [default(), search].map(|settings| Case::new(&instance, &settings));
    let Some(gpu) = gpu() else { return };
    on_every_ptx(gpu, |device| cases.iter().for_each(|case| case.check_batches(device, &[1, 7])));
}
