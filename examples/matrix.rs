//! Solves an asymmetric matrix of travel times: `cargo run --release --example matrix`.

use antwarp::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Minutes by bicycle on a hill: going up takes longer.
    let places = [
        ("station", 0, 0),
        ("market", 400, 10),
        ("castle", 900, 120),
        ("river", 1500, -5),
        ("mill", 700, 30),
    ];
    let minutes = |from: (&str, i32, i32), to: (&str, i32, i32)| {
        let (along, up) = ((from.1 - to.1).abs(), to.2 - from.2);
        along / 250 + if up > 0 { up / 10 } else { 0 }
    };
    let matrix = places.iter().flat_map(|&from| places.iter().map(move |&to| minutes(from, to))).collect();
    let instance = Instance::from_matrix("hill", matrix)?;
    let solution = Solver::default().solve(&instance, Stop { iterations: Some(100), ..Stop::never() })?;
    let names: Vec<&str> = solution.tour.iter().map(|&place| places[place as usize].0).collect();
    println!("{} minutes: {}", solution.cost, names.join(", "));
    Ok(())
}
