//! A quadratic assignment problem: places machines so that parts passed between them travel short distances.
//! `cargo run --release --example assignment`.

use antwarp::backend::{Backend, Choice};
use antwarp::instance::Qap;
use antwarp::prelude::*;
use antwarp::solver::search::{Changes, SearchSettings, Task};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let n = 12_i32;
    // Places in a row; every machine passes most of its parts on to the next one in a shuffled order.
    let distances = (0..n * n).map(|at| (at / n - at % n).abs()).collect();
    let next = |machine: i32| (machine * 5 + 3) % n;
    let parts = (0..n * n).map(|at| if next(at / n) == at % n { 9 } else { 1 }).collect();
    let task = Task::Qap(Qap::from_matrices("row", n as u32, distances, parts)?, Changes::Auto);
    let (backend, _) = Backend::open(Choice::Auto)?;
    let stop = Stop { iterations: Some(20_000), ..Stop::never() };
    let done = task.run(&backend, &SearchSettings::default(), &stop, &mut |_| ())?;
    println!("cost {}: {:?}", done.found.cost, done.found.solution);
    Ok(())
}
