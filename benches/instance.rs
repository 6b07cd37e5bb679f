//! Time to read a TSPLIB file of 100,000 cities and to find every city's nearest neighbours.
//!
//! `cargo bench --bench instance`.

use std::hint::black_box;
use std::time::Duration;

use antwarp::instance::{generate, nearest, tsplib};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const NODES: usize = 100_000;
const NEIGHBORS: usize = 32;

fn read(c: &mut Criterion) {
    let instance = generate::uniform(NODES, 1).expect("random cities");
    let mut text = Vec::new();
    tsplib::write(&instance, &mut text).expect("memory");
    let mut group = c.benchmark_group("read");
    group.measurement_time(Duration::from_secs(4)).sample_size(20);
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("tsplib", |b| {
        b.iter(|| tsplib::parse("uniform.tsp", "uniform", black_box(&text)).expect("what was written"))
    });
    group.finish();
}

fn neighbors(c: &mut Criterion) {
    let mut group = c.benchmark_group("nearest");
    group.measurement_time(Duration::from_secs(6)).sample_size(10);
    group.throughput(Throughput::Elements(NODES as u64));
    let instances =
        [("uniform", generate::uniform(NODES, 1)), ("clustered", generate::clustered(NODES, NODES / 100, 1))];
    for (name, instance) in instances {
        let instance = instance.expect("random cities");
        group.bench_function(name, |b| b.iter(|| nearest(black_box(&instance), NEIGHBORS)));
    }
    group.finish();
}

criterion_group!(benches, read, neighbors);
criterion_main!(benches);
