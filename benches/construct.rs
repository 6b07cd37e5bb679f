//! Time of the construction of tours, every variant of the colony: eight ants on the CPU, 1,000 cities.
//! Where there is a GPU also whole iterations of a colony there, with as many ants as cities.
//!
//! `cargo bench --bench construct`; the tables of the documentation come from `antwarp bench` instead.

use std::time::{Duration, Instant};

use antwarp::backend::{Backend, Choice};
use antwarp::engine::{Colony, Problem, Stop};
use antwarp::instance::Instance;
use antwarp::solver::mmas::{MmasSettings, Selection, TabuKind};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const ANTS: u32 = 8;

fn variants() -> impl Iterator<Item = (Selection, TabuKind)> {
    let tabus = [TabuKind::List, TabuKind::Compact, TabuKind::Bitmask];
    [Selection::Wrs, Selection::Rwm].into_iter().flat_map(move |s| tabus.map(|t| (s, t)))
}

/// Benches `measure`, which runs a colony for so many iterations and tells the time that counts, over every variant.
fn bench_variants(
    c: &mut Criterion,
    backend: &Backend,
    ants: impl Fn(&Problem) -> u32,
    measure: impl Fn(&mut dyn Colony, u32) -> Duration,
) {
    let instance = Instance::open("E1k.0").expect("a generated instance");
    let name = backend.machine().backend;
    for candidates in [None, Some(32)] {
        let problem = Problem::new(&instance, candidates, 0).unwrap();
        let ants = ants(&problem);
        let choices = candidates.map_or_else(|| "all".to_string(), |k| k.to_string());
        let mut group = c.benchmark_group(format!("{name}/{choices}"));
        group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_millis(1200));
        group.sample_size(20).throughput(Throughput::Elements(u64::from(ants)));
        for (selection, tabu) in variants() {
            let settings =
                MmasSettings { ants: Some(ants), candidates, selection, tabu, ..MmasSettings::default() };
            let spec = settings.spec(&problem, backend, &Stop::never());
            let mut colony = backend.colony(&problem, &spec).expect("a colony of 1,000 nodes");
            let variant = format!("{selection:?}-{tabu:?}").to_lowercase();
            group.bench_function(BenchmarkId::from_parameter(variant), |b| {
                b.iter_custom(|iterations| measure(colony.as_mut(), iterations as u32))
            });
        }
        group.finish();
    }
}

fn run(colony: &mut dyn Colony, iterations: u32) {
    colony.run(iterations, &|| false).expect("a run");
}

/// Construction alone: without it, an iteration over all nodes is mostly trails when ants are few.
fn cpu(c: &mut Criterion) {
    let (backend, _) = Backend::open(Choice::Cpu).expect("the CPU");
    bench_variants(
        c,
        &backend,
        |_| ANTS,
        |colony, iterations| {
            colony.phases().expect("times");
            run(colony, iterations);
            colony.phases().expect("times").construction
        },
    );
}

fn cuda(c: &mut Criterion) {
    match Backend::open(Choice::Cuda) {
        Ok((backend, _)) => bench_variants(c, &backend, Problem::n, |colony, iterations| {
            let start = Instant::now();
            run(colony, iterations);
            start.elapsed()
        }),
        Err(why) => println!("skipped: iterations on a GPU: {why}"),
    }
}

criterion_group!(benches, cpu, cuda);
criterion_main!(benches);
