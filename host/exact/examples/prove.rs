//! Proves that a tour is the shortest one, without a search beside: `prove INSTANCE TOUR [SECONDS [THREADS]]`.

use std::sync::Arc;
use std::time::Instant;

use antwarp_exact::{Board, Incumbent, Settings, prove};
use antwarp_instance::Instance;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let instance = Instance::open(std::path::Path::new(&arguments[0]))?;
    let tour = antwarp_instance::tour_file::read(arguments[1].as_ref(), &instance)?;
    let seconds: f64 = arguments.get(2).map_or(Ok(60.0), |text| text.parse())?;
    let threads: usize = arguments.get(3).map_or(Ok(1), |text| text.parse())?;
    let incumbent = Incumbent::new();
    incumbent.offer(instance.check_tour(&tour)?, &tour);
    let since = Instant::now();
    let enough = || since.elapsed().as_secs_f64() > seconds;
    let settings = Settings { board: Arc::new(Board::new(threads)), threads, keeps_certificate: false };
    let (outcome, _) = prove(&instance, &incumbent, &settings, &enough);
    let cost = incumbent.cost();
    println!(
        "{:10} cost {cost} bound {} root {} ({:.4}%) | {:.2} s, root {:.2}, lp {:.2} | nodes {} cuts {:?} {}",
        instance.name(),
        outcome.bound,
        outcome.root_bound,
        100.0 * (cost - outcome.root_bound) as f64 / cost as f64,
        outcome.seconds,
        outcome.root_seconds,
        outcome.lp_seconds,
        outcome.nodes,
        outcome.cuts,
        outcome.trouble.unwrap_or_default(),
    );
    Ok(())
}
