//! Prints the bound by regions: `regions INSTANCE TOUR SECONDS THREADS`.

use std::time::{Duration, Instant};

use antwarp_exact::regions::{MOST, ascend_by_regions};
use antwarp_exact::simplex::Highs;
use antwarp_exact::{Board, Incumbent};
use antwarp_instance::Instance;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let instance = Instance::open(std::path::Path::new(&arguments[0]))?;
    let tour = antwarp_instance::tour_file::read(arguments[1].as_ref(), &instance)?;
    let seconds: f64 = arguments[2].parse()?;
    let threads: usize = arguments[3].parse()?;
    let incumbent = Incumbent::new();
    incumbent.offer(instance.check_tour(&tour)?, &tour);
    let since = Instant::now();
    let end = since + Duration::from_secs_f64(seconds);
    let enough = || Instant::now() >= end;
    let closing = || Instant::now() >= end + Duration::from_secs(20);
    let highs = Highs::find()?;
    let root = ascend_by_regions(
        &instance,
        &highs,
        MOST,
        (&incumbent, &Board::new(threads)),
        (end, [&enough, &closing]),
    );
    let cost = incumbent.cost();
    println!(
        "{} bound {} tour {} gap {:.4} % {:.2} s lp {:.1} cuts {:?} pricing {:.1} {:?}",
        instance.name(),
        root.bound,
        cost,
        100.0 * (cost - root.bound) as f64 / cost as f64,
        since.elapsed().as_secs_f64(),
        root.work.lp,
        root.work.cuts,
        root.work.pricing,
        root.trouble,
    );
    Ok(())
}
