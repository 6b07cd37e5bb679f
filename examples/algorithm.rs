//! An algorithm of your own, run by the loop that runs antwarp's: `cargo run --release --example algorithm`.
//!
//! It reverses random segments of a tour and keeps what is not longer. The loop checks the limits and keeps the best tour.

use antwarp::engine::{BackendError, Budget, Deadline, Engine, Status, drive};
use antwarp::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

struct Reversals<'a> {
    instance: &'a Instance,
    tour: Vec<u32>,
    cost: i64,
    random: Pcg64Mcg,
    done: u64,
    best_at: u64,
}

impl Reversals<'_> {
    /// Tries one reversal.
    fn step(&mut self) {
        let n = self.tour.len();
        let (i, j) = (self.random.random_range(0..n), self.random.random_range(0..n));
        let (first, last) = (i.min(j), i.max(j));
        self.done += 1;
        if first == last || last - first + 2 > n {
            return;
        }
        let at = |position: usize| self.tour[position % n];
        let length = |a: usize, b: usize| i64::from(self.instance.distance(at(a), at(b)));
        let (before, after) = (first + n - 1, last + 1);
        let longer =
            length(before, last) + length(first, after) - length(before, first) - length(last, after);
        if longer <= 0 {
            self.tour[first..=last].reverse();
            self.cost += longer;
            if longer < 0 {
                self.best_at = self.done;
            }
        }
    }
}

impl Engine for Reversals<'_> {
    type Cost = i64;
    type Best = Vec<u32>;

    fn advance(&mut self, budget: &Budget) -> Result<u64, BackendError> {
        let steps = budget.units.min(budget.left(self.done));
        (0..steps).for_each(|_| self.step());
        Ok(steps)
    }

    fn status(&self) -> Status {
        Status {
            iterations: self.done,
            best_iteration: self.best_at,
            best_cost: Some(self.cost),
            cost: self.cost,
            tours: self.done,
            ended: None,
        }
    }

    fn best(&mut self) -> Result<Vec<u32>, BackendError> {
        Ok(self.tour.clone())
    }

    fn describe(&self) -> String {
        "random reversals, one thread".to_owned()
    }

    fn part(&self) -> &'static str {
        "reversals"
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let instance = Instance::open("E1k.0")?;
    let tour: Vec<u32> = (0..instance.len() as u32).collect();
    let cost = instance.check_tour(&tour)?;
    let random = Pcg64Mcg::seed_from_u64(1);
    let mut engine = Reversals { instance: &instance, tour, cost, random, done: 0, best_at: 0 };

    let stop = Stop::after(Duration::from_secs(1));
    let run = drive(&mut engine, Deadline::now(&stop), &mut |_: &Progress| ());
    let (reported, tour) = run.best.ok_or("no tour")?;
    assert_eq!(instance.check_tour(&tour)?, reported);
    println!("{cost} at first, {reported} after {} reversals", run.status.iterations);
    Ok(())
}
