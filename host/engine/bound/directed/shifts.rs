//! The potentials of exits and entries.

use super::super::tree::weight;

/// The potentials of exits and entries, in the units of [`weight`].
#[derive(Clone, Debug)]
pub(super) struct Potentials {
    pub exits: Vec<i64>,
    pub entries: Vec<i64>,
}

impl Potentials {
    /// Returns potentials of 0.
    pub fn new(n: usize) -> Potentials {
        Potentials { exits: vec![0; n], entries: vec![0; n] }
    }

    /// Returns those of exits and those of entries.
    pub fn both(&mut self) -> [&mut [i64]; 2] {
        [&mut self.exits, &mut self.entries]
    }

    /// Returns the weight of an edge.
    #[inline]
    pub fn weight(&self, cost: i32, from: u32, to: u32) -> i64 {
        weight(cost, self.exits[from as usize], self.entries[to as usize])
    }

    /// Returns the sum of all potentials: the amount by which every tour gets longer.
    pub fn sum(&self) -> i128 {
        self.exits.iter().chain(&self.entries).map(|&potential| i128::from(potential)).sum()
    }
}
