//! Prints how long each stage between a file and the first tour takes, and a hash of what it made.
//!
//! ```text
//! cargo bench -p antwarp-engine --bench prepare -- E10M.0 16
//! ```
//!
//! The arguments are a file or the name of an instance, and the number of threads. A line has the seconds on the clock, the seconds
//! of all processors, thousands of page faults, and the hash, which depends on neither the threads nor the machine.

use std::fs;
use std::time::Instant;

use antwarp_engine::{Problem, start};
use antwarp_instance::memory::spare::Allocator;
use antwarp_instance::{Instance, quadrant};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Seconds per tick of the kernel's clock for processes, which is the same on all systems with Linux.
const TICK: f64 = 0.01;

fn main() {
    let given: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let name = given.first().map_or("E100k.0", String::as_str);
    if let Some(threads) = given.get(1) {
        let threads = threads.parse().expect("a number of threads");
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().expect("threads");
    }
    println!("{name}, {} threads", rayon::current_num_threads());
    println!("{:<12}{:>10}{:>10}{:>10}{:>20}", "stage", "clock s", "CPU s", "faults k", "hash");
    let mut stages = Stages { last: Instant::now(), used: used() };
    let instance = Instance::open(name).unwrap_or_else(|error| panic!("{error}"));
    stages.end("read", || hash(instance.points().unwrap_or_default().iter().flatten().map(|c| c.to_bits())));
    let order = start::along_a_curve(&instance).expect("places");
    stages.end("curve", || hash(order.iter().map(|&node| u64::from(node))));
    let instance = instance.renumbered(&order).expect("places");
    stages.end("renumber", || 0);
    let near = quadrant(&instance, 8);
    stages.end("lists", || hash(near.ids.iter().map(|&node| u64::from(node))));
    let kind = start::for_lin_kernighan(&instance, &near);
    stages.end("lattice", || kind as u64);
    let tour = start::tour(&instance, kind, &near, 1);
    stages.end("tour", || hash(tour.iter().map(|&node| u64::from(node))));
    let problem = Problem::for_search(&instance, &near, tour);
    stages.end("problem", || hash(problem.neighbors().iter().map(|&node| u64::from(node))));
    let lengths = (problem.neighbor_lengths(), problem.step_lengths());
    stages.end("lengths", || hash(lengths.0.iter().chain(&lengths.1).map(|&length| length as u64)));
    let peak = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = peak.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    println!("start tour {}; {}", problem.unit_cost(), peak.split_whitespace().collect::<Vec<_>>().join(" "));
}

/// The time since the last stage ended.
struct Stages {
    last: Instant,
    used: [f64; 2],
}

impl Stages {
    /// Prints a line for the stage that ends here. The time for its hash is not counted.
    fn end(&mut self, name: &str, hash: impl FnOnce() -> u64) {
        let (clock, now) = (self.last.elapsed().as_secs_f64(), used());
        let of = |at: usize| now[at] - self.used[at];
        println!("{name:<12}{clock:>10.3}{:>10.2}{:>10.0}{:>20x}", of(0), of(1), hash());
        (self.last, self.used) = (Instant::now(), used());
    }
}

/// Returns the seconds of all processors, and the thousands of page faults, of this process so far.
fn used() -> [f64; 2] {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> = stat
        .rsplit(") ")
        .next()
        .unwrap_or_default()
        .split(' ')
        .map(|field| field.parse().unwrap_or(0.0))
        .collect();
    let field = |number: usize| fields.get(number - 3).copied().unwrap_or(0.0);
    [TICK * (field(14) + field(15)), field(10) / 1e3]
}

/// FNV-1a over numbers.
fn hash(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0xcbf2_9ce4_8422_2325, |hash, number| (hash ^ number).wrapping_mul(0x100_0000_01b3))
}
