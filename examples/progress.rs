//! Watches a run, stops it early, and continues from its tour: `cargo run --release --example progress`.

use std::sync::atomic::Ordering;

use antwarp::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let instance = Instance::open("E3k.0")?;
    let stop = Stop::after(Duration::from_secs(10));
    let enough = stop.interrupt.clone();
    let watch = |now: &Progress| {
        println!("{:6.2} s  {}", now.seconds, now.best_cost);
        if now.best_cost < 41_500_000 {
            // As a button handler could, from any thread.
            enough.store(true, Ordering::Relaxed);
        }
    };
    let first = Solver::default().on_progress(watch).solve(&instance, stop)?;
    assert!(matches!(first.stopped_by, StopReason::Interrupt | StopReason::Time));
    let second = Solver::default()
        .seed(2)
        .initial(first.tour)
        .solve(&instance, Stop::after(Duration::from_secs(2)))?;
    println!("{} after the first run, {} after the second", first.cost, second.cost);
    Ok(())
}
