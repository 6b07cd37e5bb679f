//! Tests of linear programs. Without HiGHS those that need it count as ignored; with `ANTWARP_REQUIRE_HIGHS=1` they fail.

/// Registers the tests of a module as its `TESTS`: the harness's macro finds files only in the root package.
macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        /// The tests of this module.
        pub const TESTS: &[$crate::harness::Test] = &[$((concat!(module_path!(), "::", stringify!($name)), $name)),*];
    };
}

#[allow(unused_macros, dead_code)]
#[path = "../../../../tests/common/harness.rs"]
mod harness;

mod duals;
mod failures;
mod liar;
mod master;
mod regions;
mod simplex;

use std::process::ExitCode;

use antwarp_exact::simplex::Highs;

fn main() -> ExitCode {
    harness::run(
        &[duals::TESTS, failures::TESTS, liar::TESTS, master::TESTS, regions::TESTS, simplex::TESTS],
        1,
    )
}

/// Returns HiGHS, or lets the test count as ignored.
fn highs() -> Option<Highs> {
    match Highs::find() {
        Ok(highs) => Some(highs),
        Err(error) if std::env::var_os("ANTWARP_REQUIRE_HIGHS").is_some() => panic!("{error}"),
        Err(_) => {
            harness::ignore("they need HiGHS: install it, or set ANTWARP_HIGHS to the file of the library");
            None
        }
    }
}

/// A generator of random numbers: SplitMix64.
struct Draws(u64);

impl Draws {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ bits >> 31) % n
    }

    /// Draws a set of nodes, neither empty nor all of them.
    fn set(&mut self, n: u32) -> Vec<u32> {
        loop {
            let set: Vec<u32> = (0..n).filter(|_| self.below(2) == 0).collect();
            if !set.is_empty() && set.len() < n as usize {
                return set;
            }
        }
    }
}

/// Random small instances: points, matrices, and doubled forms of directed matrices.
fn instance(draws: &mut Draws, n: usize) -> antwarp_instance::Instance {
    use antwarp_instance::form::Form;
    use antwarp_instance::{Instance, Metric};
    match draws.below(3) {
        0 => {
            let places = (0..n).map(|_| [draws.below(30) as f64, draws.below(30) as f64, 0.0]).collect();
            Instance::from_points("p", Metric::Euc2d, places).unwrap()
        }
        1 => {
            let costs: Vec<i32> = (0..n * n).map(|_| draws.below(50) as i32).collect();
            let cost = |at: usize| costs[(at / n).min(at % n) * n + (at / n).max(at % n)];
            Instance::from_matrix("m", (0..n * n).map(cost).collect()).unwrap()
        }
        _ => {
            let n = n.div_ceil(2).max(3);
            let costs: Vec<i32> = (0..n * n).map(|_| draws.below(50) as i32).collect();
            Form::doubled(&Instance::from_matrix("d", costs).unwrap(), None).into_instance()
        }
    }
}

/// Returns the cost of the shortest tour, by dynamic programming over the sets of nodes passed so far.
fn optimum(instance: &antwarp_instance::Instance) -> i64 {
    let n = instance.len();
    let far = i64::MAX / 4;
    let cost = |a: usize, b: usize| {
        if instance.has_edge(a as u32, b as u32) {
            i64::from(instance.distance(a as u32, b as u32))
        } else {
            far
        }
    };
    // A tour has the edge of each pair of partners: others are made too expensive.
    let partner = |node: usize| instance.partners().map(|partners| partners[node] as usize);
    let step = |before: Option<usize>, a: usize, b: usize| {
        let is_pair = |a: usize, b: usize| partner(a) == Some(b);
        let needs = instance.partners().is_some() && partner(a) != Some(u32::MAX as usize);
        let is_kept = before.is_none_or(|before| !needs || is_pair(a, b) || is_pair(before, a));
        if is_kept { cost(a, b) } else { far }
    };
    // best[set][before][last]: both edges of a node are known once the next one is.
    let start = partner(0).filter(|&node| node < n);
    let mut best = vec![far; (1 << n) * n * n];
    let at = |set: usize, before: usize, last: usize| (set * n + before) * n + last;
    for next in 1..n {
        if start.is_none_or(|start| start == next) {
            best[at(1 | 1 << next, 0, next)] = cost(0, next);
        }
    }
    let mut shortest = far;
    for set in 1..1_usize << n {
        for before in 0..n {
            for last in 1..n {
                let so_far = best[at(set, before, last)];
                if so_far >= far {
                    continue;
                }
                if set == (1 << n) - 1 {
                    shortest = shortest.min(so_far + step(Some(before), last, 0));
                }
                for next in (1..n).filter(|next| set & 1 << next == 0) {
                    let to = at(set | 1 << next, last, next);
                    best[to] = best[to].min(so_far + step(Some(before), last, next));
                }
            }
        }
    }
    shortest
}
