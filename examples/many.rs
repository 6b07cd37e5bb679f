//! Thousands of small instances in one call: `cargo run --release --example many -- 100 10000 10 cuda`.
//!
//! Its words are the number of nodes and of instances, the effort, `cpu` or `cuda`, the seed of the search, and a file for the lengths of the
//! tours. The instances are uniform in the unit square, and always the same. Prints how many were solved in a second, and the mean length.

use std::time::Instant;

use antwarp::backend::{Backend, Choice};
use antwarp::prelude::*;
use antwarp::solver::many::{ManySettings, solve_many};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, otherwise: u64| words.get(at).map_or(Ok(otherwise), |word| word.parse());
    let (nodes, count, effort) = (number(0, 100)? as usize, number(1, 1000)?, number(2, 10)? as u32);
    let choice = match words.get(3).map(String::as_str) {
        Some("cuda") => Choice::Cuda,
        _ => Choice::Cpu,
    };
    let mut random = Pcg64Mcg::seed_from_u64(1234);
    let mut square = || -> Vec<[f64; 2]> { (0..nodes).map(|_| [random.random(), random.random()]).collect() };
    let instances: Vec<Instance> =
        (0..count).map(|_| Instance::euclidean(&square())).collect::<Result<_, _>>()?;
    let (backend, _) = Backend::open(choice)?;
    let settings = ManySettings { effort, seed: number(4, 0)? };
    let begin = Instant::now();
    let tours = solve_many(&instances, settings, (&backend, &Stop::never()))?;
    let seconds = begin.elapsed().as_secs_f64();
    let cost = |(instance, tour): (&Instance, &Option<Vec<u32>>)| {
        tour.as_ref().map_or(f64::NAN, |tour| instance.tour_cost(tour).as_f64())
    };
    let costs: Vec<f64> = instances.iter().zip(&tours).map(cost).collect();
    let mean = costs.iter().sum::<f64>() / count as f64;
    println!(
        "{count} instances of {nodes} nodes, effort {effort}, {}: {seconds:.3} s, {:.0} a second, mean length {mean:.6}",
        backend.machine().device,
        count as f64 / seconds
    );
    if let Some(path) = words.get(5) {
        std::fs::write(path, costs.iter().map(|cost| format!("{cost}\n")).collect::<String>())?;
    }
    Ok(())
}
