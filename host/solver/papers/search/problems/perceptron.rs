//! The permuted perceptron problem (D. Pointcheval: A new identification scheme based on the perceptrons problem,
//! EUROCRYPT 1995): given a matrix A of -1 and 1 and a list of numbers, find a vector V of -1 and 1 such that the
//! products A V are these numbers in any order.

use antwarp_core::papers::problem::Shape;
use antwarp_core::papers::problem::perceptron::NEGATIVE;

use super::of_words;
use crate::engine::Tables;
use crate::instance::{self, InstanceError, generate};
use crate::solver::SolveError;

/// The cost of a negative product is this times twice its absolute value (L. R. Knudsen, W. Meier: Cryptanalysis of an
/// identification scheme based on the permuted perceptron problem, EUROCRYPT 1999).
pub const NEGATIVE_WEIGHT: i64 = 30;

/// The cost of each product too many or too few of a value (Knudsen and Meier, as [`NEGATIVE_WEIGHT`]).
pub const COUNT_WEIGHT: i64 = 1;

/// The temperature of annealing: nearly the cost of a row whose product is -1. With it annealing reached cost 0 most often.
pub(super) const TEMPERATURE: f32 = 50.0;

/// Most rows, and most columns. The largest matrix takes 512 MiB.
const LARGEST_SIDE: u32 = 65535;

/// A permuted perceptron problem that was generated around a known solution.
///
/// Vectors have one byte for each column: 0 for -1, anything else for 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Perceptron {
    /// Its name, which says how it was generated.
    pub name: String,
    /// Number of rows, 1 to 65535.
    pub m: u32,
    /// Number of columns, 1 to 65535.
    pub n: u32,
    /// The matrix, row by row, `n.div_ceil(32)` words each: bit j % 32 of word j / 32 is set where column j has
    /// a 1, and not where it has -1. Bits behind the last column are 0.
    pub rows: Vec<u32>,
    /// The required number of products of value v, for v = 0 to n.
    pub target: Vec<u32>,
    /// The solution that it was generated around: 1 or 0 (for -1) for each column.
    pub planted: Vec<u8>,
}

impl Perceptron {
    /// Generates a random instance of `m` rows and `n` columns. A seed gives the same instance everywhere.
    ///
    /// Matrix and solution are uniform; then each row whose product with the solution is negative is negated
    /// (Pointcheval 1995).
    ///
    /// # Errors
    /// If `m` or `n` is not 1 to 65535.
    pub fn generate(m: u32, n: u32, seed: u64) -> instance::Result<Perceptron> {
        let name = format!("ppp-{m}-{n}-s{seed}");
        if [m, n].iter().any(|side| !(1..=LARGEST_SIDE).contains(side)) {
            let problem = format!("there is no instance of {m} rows and {n} columns");
            let help = format!("ask for 1 to {LARGEST_SIDE} rows and columns");
            return Err(InstanceError::content(name, problem, help));
        }
        let [vector_draws, row_draws] = [0, 1].map(|part| generate::stream(*b"permperc", seed, part));
        let words = n.div_ceil(32);
        let solution: Vec<u32> = (0..words).map(|w| vector_draws.step(0).bits(w) & used_bits(n, w)).collect();
        let mut rows = Vec::with_capacity(m as usize * words as usize);
        let mut target = vec![0; n as usize + 1];
        for i in 0..m {
            let start = rows.len();
            rows.extend((0..words).map(|w| row_draws.step(i).bits(w) & used_bits(n, w)));
            let row = &mut rows[start..];
            let product = product(row, &solution, n);
            if product < 0 {
                (0..words).zip(row).for_each(|(w, word)| *word ^= used_bits(n, w));
            }
            target[product.unsigned_abs() as usize] += 1;
        }
        let planted = (0..n as usize).map(|j| (solution[j / 32] >> (j % 32) & 1) as u8).collect();
        Ok(Perceptron { name, m, n, rows, target, planted })
    }

    /// Returns the products of all rows with a vector, from -n to n.
    ///
    /// # Panics
    /// If the vector does not have one entry for each column.
    pub fn products(&self, v: &[u8]) -> Vec<i32> {
        assert_eq!(v.len(), self.n as usize, "one entry a column");
        let vector: Vec<u32> = v.chunks(32).map(pack).collect();
        self.rows.chunks(vector.len()).map(|row| product(row, &vector, self.n)).collect()
    }

    /// Returns the cost of a vector V, which is 0 for solutions only.
    ///
    /// With y = A V it is 30 times the sum over all rows of |y| - y, plus the sum over v from 0 to n of the difference
    /// between the number of products v and the required one (Knudsen and Meier 1999).
    ///
    /// # Panics
    /// If the vector has not one entry a column.
    pub fn cost(&self, v: &[u8]) -> i64 {
        let mut surplus: Vec<i64> = self.target.iter().map(|&count| -i64::from(count)).collect();
        let mut negative = 0;
        for y in self.products(v) {
            match usize::try_from(y) {
                Ok(value) => surplus[value] += 1,
                Err(_) => negative -= 2 * i64::from(y),
            }
        }
        NEGATIVE_WEIGHT * negative + COUNT_WEIGHT * surplus.iter().map(|count| count.abs()).sum::<i64>()
    }
}

/// Returns the bits of word `w` that belong to one of `n` columns.
fn used_bits(n: u32, w: u32) -> u32 {
    let columns = (n - 32 * w).min(32);
    u32::MAX >> (32 - columns)
}

/// Packs up to 32 entries into the bits of a word.
fn pack(entries: &[u8]) -> u32 {
    entries.iter().enumerate().fold(0, |word, (j, &entry)| word | u32::from(entry != 0) << j)
}

/// Returns the product of a row and a vector: the number of columns where they agree minus that of those where they differ.
fn product(row: &[u32], vector: &[u32], n: u32) -> i32 {
    let differing: u32 = row.iter().zip(vector).map(|(a, v)| (a ^ v).count_ones()).sum();
    n as i32 - 2 * differing as i32
}

impl Perceptron {
    /// Returns the tables for [`antwarp_core::papers::problem::Perceptron`].
    ///
    /// # Errors
    /// If costs could exceed 32 bits.
    pub fn tables(&self) -> Result<Tables, SolveError> {
        let most = u64::from(self.m) * u64::from(self.n) * 2 * NEGATIVE as u64;
        if most > u64::from(u32::MAX) {
            let why = format!("{}: too large to be searched: m x n can be up to 71,582,788", self.name);
            return Err(SolveError::Settings(why));
        }
        let shape = Shape { sizes: [self.m, self.n, 0, 0], ..Shape::default() };
        Ok(Tables::new(shape, &[&of_words(&self.target), &of_words(&self.rows)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_fixes_the_instance() {
        let instance = Perceptron::generate(101, 117, 1).unwrap();
        assert_eq!(instance.name, "ppp-101-117-s1");
        assert_eq!(instance, Perceptron::generate(101, 117, 1).unwrap());
        assert_ne!(instance.rows, Perceptron::generate(101, 117, 2).unwrap().rows);
        // Fixed for good: a changed generator would make published runs unrepeatable.
        assert_eq!(instance.rows[..4], [4_089_753_970, 2_735_594_604, 1_222_171_163, 1_398_421]);
        assert_eq!(pack(&instance.planted[..32]), 4_118_893_886);
    }

    #[test]
    fn bits_behind_the_last_column_are_0() {
        for n in [1, 31, 32, 33, 64, 65] {
            let instance = Perceptron::generate(50, n, 3).unwrap();
            let words = n.div_ceil(32) as usize;
            assert_eq!(instance.rows.len(), 50 * words);
            let unused = !used_bits(n, words as u32 - 1);
            assert!(instance.rows.chunks(words).all(|row| row[words - 1] & unused == 0), "{n}");
            assert_eq!(instance.cost(&instance.planted), 0);
        }
    }

    #[test]
    fn entries_are_fair() {
        let instance = Perceptron::generate(1000, 999, 5).unwrap();
        let ones: u32 = instance.rows.iter().map(|word| word.count_ones()).sum();
        assert!((f64::from(ones) / 999_000.0 - 0.5).abs() < 0.005, "{ones}");
        // The product with a solution is the absolute value of a nearly normal number of variance n.
        let mean = f64::from(instance.products(&instance.planted).iter().sum::<i32>()) / 1000.0;
        let expected = (2.0 / std::f64::consts::PI * 999.0).sqrt();
        assert!((mean - expected).abs() < 0.1 * expected, "{mean}, not {expected}");
    }

    #[test]
    fn sides_have_limits() {
        for (m, n) in [(0, 5), (5, 0), (65536, 5), (5, u32::MAX)] {
            let error = Perceptron::generate(m, n, 1).unwrap_err().to_string();
            assert!(error.contains("there is no instance of"), "{error}");
        }
        let widest = Perceptron::generate(1, 65535, 1).unwrap();
        assert_eq!(widest.cost(&widest.planted), 0);
    }
}
