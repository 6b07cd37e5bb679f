//! Random small instances, solved in random ways and judged. A case follows from its number alone.
//!
//! - `ANTWARP_SOAK`: how many cases;
//! - `ANTWARP_SOAK_FIRST`: the first one's number;
//! - `ANTWARP_SOAK_BACKEND=cuda`: on a GPU instead of CPU threads.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use antwarp::backend::Backend;
use antwarp::prelude::*;
use rayon::ThreadPool;

use crate::draws::Draws;
use crate::files::File;
use crate::reading::difference;
use crate::{tasks, tours};

tests! {
    tours_are_what_they_are_said_to_be,
    solutions_are_what_they_are_said_to_be,
}

/// Cases if the variable does not say.
const CASES: u64 = 1000;
/// Wrong ones after which a run ends.
const ENOUGH: usize = 20;

/// What cases run on.
pub struct Machine {
    /// 1, 2 and 3 threads.
    pools: Vec<ThreadPool>,
    /// If it is not CPU threads.
    pub device: Option<Backend>,
    folder: tempfile::TempDir,
}

impl Machine {
    fn new() -> Machine {
        let backend = std::env::var("ANTWARP_SOAK_BACKEND").unwrap_or_default();
        let device = match backend.as_str() {
            "cuda" => Some(Backend::open(Choice::Cuda).unwrap_or_else(|error| panic!("{error}")).0),
            "" | "cpu" => None,
            other => panic!("ANTWARP_SOAK_BACKEND is cpu or cuda, not {other}"),
        };
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        Machine { pools: (1..=3).map(pool).collect(), device, folder: tempfile::tempdir().unwrap() }
    }

    /// A pool of 1, 2 or 3 threads.
    pub fn pool(&self, draws: &mut Draws) -> &ThreadPool {
        draws.one_of(&self.pools.iter().collect::<Vec<_>>())
    }

    pub fn is_cuda(&self) -> bool {
        self.device.is_some()
    }
}

/// How often things were done, and how often the answer was not optimal; none where that is not known.
#[derive(Default)]
pub struct Tally(BTreeMap<String, (u64, Option<u64>)>);

impl Tally {
    pub fn count(&mut self, what: String, is_optimal: Option<bool>) {
        let (runs, worse) = self.0.entry(what).or_default();
        *runs += 1;
        if let Some(is_optimal) = is_optimal {
            *worse = Some(worse.unwrap_or(0) + u64::from(!is_optimal));
        }
    }
}

/// The number that an environment variable has, if it is set.
pub fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// Runs the cases of a test; each gives why it is wrong, and what its instance is.
fn soak(test: &str, case: impl Fn(&Machine, &mut Draws, &mut Tally, &mut String) -> Result<(), String>) {
    let cases = number("ANTWARP_SOAK").unwrap_or(CASES);
    let first = number("ANTWARP_SOAK_FIRST").unwrap_or(1);
    let (machine, mut tally, mut wrong) = (Machine::new(), Tally::default(), 0);
    for number in first..first + cases {
        let mut told = String::new();
        let run = || case(&machine, &mut Draws::new(number), &mut tally, &mut told);
        let result = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err("a panic".to_owned()));
        if let Err(why) = result {
            let backend = if machine.is_cuda() { " ANTWARP_SOAK_BACKEND=cuda" } else { "" };
            eprintln!(
                "wrong: {why}\nANTWARP_SOAK_FIRST={number} ANTWARP_SOAK=1{backend} cargo test --test referee {test}\n{told}\n"
            );
            wrong += 1;
            if wrong == ENOUGH {
                break;
            }
        }
    }
    println!("{:<40} {:>8} {:>12}", test, "runs", "not optimal");
    for (what, (runs, worse)) in &tally.0 {
        let worse = worse.map_or("?".to_owned(), |worse| worse.to_string());
        println!("{what:<40} {runs:>8} {worse:>12}");
    }
    assert_eq!(wrong, 0, "wrong cases of {cases}");
}

fn tours_are_what_they_are_said_to_be() {
    soak("soak::tours", tours::case);
}

fn solutions_are_what_they_are_said_to_be() {
    soak("soak::solutions", tasks::case);
}

/// Writes a random instance of `n` nodes to a file and reads it again.
pub fn instance(
    machine: &Machine,
    draws: &mut Draws,
    n: usize,
    told: &mut String,
) -> Result<(Instance, File), String> {
    let file = File::random(draws, n);
    *told = format!("{} {:?}\n{}", file.extension, file.text, file.text);
    let is_packed = draws.chance(0.2);
    let name = format!("random.{}{}", file.extension, if is_packed { ".gz" } else { "" });
    let path = machine.folder.path().join(name);
    if is_packed {
        let packed = std::fs::File::create(&path).unwrap();
        let mut packed = flate2::write::GzEncoder::new(packed, flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, file.text.as_bytes()).unwrap();
        packed.finish().unwrap();
    } else {
        std::fs::write(&path, &file.text).unwrap();
    }
    let instance = Instance::open(&path).map_err(|error| error.to_string())?;
    match difference(&instance, &file.judge, draws) {
        None => Ok((instance, file)),
        Some(wrong) => Err(wrong),
    }
}
