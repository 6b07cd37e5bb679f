//! Random numbers of tests.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Random numbers that follow from a seed.
pub struct Draws(Pcg64);

impl Draws {
    pub fn new(seed: u64) -> Draws {
        Draws(Pcg64::seed_from_u64(seed))
    }

    /// Any number.
    pub fn any(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// One of the numbers below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.any() % n as u64) as usize
    }

    /// One of the numbers from `low` to `high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as usize) as i64
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.any() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    pub fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    /// Half of the times what it makes.
    pub fn maybe<T>(&mut self, make: impl FnOnce(&mut Draws) -> T) -> Option<T> {
        self.chance(0.5).then(|| make(self))
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}
