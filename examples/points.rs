//! Finds a short round trip through a list of points: `cargo run --release --example points`.

use antwarp::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Points along a spiral, in any unit.
    let points: Vec<[f64; 2]> =
        (0..2000).map(|i| f64::from(i) * 0.05).map(|t| [t * t.cos(), t * t.sin()]).collect();
    let instance = Instance::euclidean(&points)?;
    let solution = Solver::default().seed(1).solve(&instance, Stop::after(Duration::from_secs(2)))?;
    println!("{} points, length {:.3}", points.len(), instance.tour_cost(&solution.tour).as_f64());
    println!("{:?} ...", &solution.tour[..10]);
    Ok(())
}
