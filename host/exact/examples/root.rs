//! Prints the bound that cutting planes reach at the root: `root INSTANCE TOUR [SECONDS [PROGRESS [THREADS]]]`.
//!
//! The tour is a file, or the cost of a tour that is not known. It decides when to stop, and its edges are columns.

use std::time::Instant;

use antwarp_exact::root::{Effort, ascend};
use antwarp_exact::simplex::Highs;
use antwarp_exact::{Board, Incumbent};
use antwarp_instance::Instance;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let instance = Instance::open(std::path::Path::new(&arguments[0]))?;
    let seconds: f64 = arguments.get(2).map_or(Ok(60.0), |text| text.parse())?;
    let progress: f64 = arguments.get(3).map_or(Ok(0.02), |text| text.parse())?;
    let threads: usize = arguments.get(4).map_or(Ok(1), |text| text.parse())?;
    let incumbent = Incumbent::new();
    match arguments[1].parse() {
        Ok(cost) => incumbent.offer(cost, &[]),
        Err(_) => {
            let tour = antwarp_instance::tour_file::read(arguments[1].as_ref(), &instance)?;
            incumbent.offer(instance.check_tour(&tour)?, &tour)
        }
    };
    let cost = incumbent.cost();
    let since = Instant::now();
    let enough = || since.elapsed().as_secs_f64() > seconds;
    let effort = Effort { progress, is_for_tree: false, enough: &enough, closing: &enough };
    let highs = Highs::find()?;
    let root = ascend(&instance, &highs, &[], (&incumbent, &Board::new(threads)), &effort);
    let work = root.work;
    println!(
        "{:10} bound {} gap {:.4}% lp {:.2} | {:.2} s: lp {:.2} separation {:.2} pricing {:.2} | rounds {} cuts {:?} rows {} iterations {} {}",
        instance.name(),
        root.bound,
        100.0 * (cost - root.bound) as f64 / cost as f64,
        root.objective,
        since.elapsed().as_secs_f64(),
        work.lp,
        work.separation,
        work.pricing,
        work.rounds,
        work.cuts,
        root.state.cuts.len(),
        work.iterations,
        root.trouble.map_or(String::new(), |trouble| trouble.to_string()),
    );
    Ok(())
}
