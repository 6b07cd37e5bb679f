//! The quadratic assignment problem, and the files of QAPLIB (R. E. Burkard, S. E. Karisch, F. Rendl: QAPLIB - A Quadratic
//! Assignment Problem Library, Journal of Global Optimization 10, 1997).
//!
//! An instance is a file of whole numbers: the size n, then the matrices A and B, row by row. A solution is a file with n, the cost
//! and a permutation, numbered from 1.
//!
//! Not all files in QAPLIB permute the same matrix. Most of them use the sum over i and j of A(i, j) B(p(i), p(j)), and so do we;
//! some (tai60a, tho150) give the inverse of that permutation, and tai40a is numbered from 0. [`read_solution`] detects the
//! numbering, [`Qap::as_stated`] the direction.

use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::path::Path;

use super::error::{InstanceError, Result, Text, TourError};
use super::model::{check_permutation, first_asymmetry};
use super::source::Room;
use super::tsplib::scan::{Part, Words};
use super::{atomic_file, generate, numbers};
use crate::memory;

/// Accepted sizes. The largest has two matrices of 1 GiB each.
const SIZES: RangeInclusive<u32> = 2..=16384;

/// Maximum magnitude of a cost: sums and differences of several costs must stay within 64 bits.
const COST_LIMIT: i128 = 1 << 60;

/// Entries of generated matrices are from 1 to this.
const LARGEST_GENERATED: u32 = 99;

/// Numbers per line of a solution file.
const NUMBERS_PER_LINE: usize = 20;

const LAYOUT: &str = "a QAPLIB file has the size n, then n x n numbers of A and n x n numbers of B";

/// A quadratic assignment problem: assign n facilities to n places, one each.
///
/// The cost of a permutation p is the sum over all i and j of A(i, j) B(p(i), p(j)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qap {
    /// Its name: that of its file up to the first dot, or how it was generated.
    pub name: String,
    /// Number of facilities, and of places: 2 to 16384.
    pub n: u32,
    /// Matrix A, whose rows and columns stay where they are: n x n numbers, row by row.
    pub a: Vec<i32>,
    /// Matrix B, which is permuted: n x n numbers, row by row.
    pub b: Vec<i32>,
}

impl Qap {
    /// Reads a QAPLIB file, optionally gzip-compressed.
    ///
    /// # Errors
    /// If the file cannot be read, or contains anything but n from 2 to 16384 and two n x n matrices, or if costs could exceed
    /// 2^60.
    pub fn open(path: &Path) -> Result<Qap> {
        let bytes = numbers::load(path, "give the path of a QAPLIB file, such as tai12a.dat", room)?;
        parse(&path.to_string_lossy(), &crate::source::stem(path), &bytes)
    }

    /// Creates an instance from two matrices with `n` rows and columns, row by row.
    ///
    /// # Errors
    /// If n is not 2 to 16384, a matrix has another size, or costs could exceed 2^60.
    pub fn from_matrices(name: impl Into<String>, n: u32, a: Vec<i32>, b: Vec<i32>) -> Result<Qap> {
        let name = name.into();
        check_size(&name, n)?;
        let cells = n as usize * n as usize;
        if a.len() != cells || b.len() != cells {
            let problem = format!("A has {} numbers and B has {}, not {cells} each", a.len(), b.len());
            return Err(InstanceError::content(name, problem, "give two matrices with n rows and columns"));
        }
        check_costs(&name, &a, &b)?;
        Ok(Qap { name, n, a, b })
    }

    /// Generates a random instance: both matrices are symmetric, with 0 on the diagonal and numbers from 1 to 99 elsewhere.
    ///
    /// Instances are of the same kind as tai12a to tai100a (E. Taillard: Robust taboo search for the quadratic assignment problem,
    /// Parallel Computing 17, 1991), but with our own random numbers. A seed gives the same instance everywhere.
    ///
    /// # Errors
    /// If n is not 2 to 16384, or the matrices do not fit in memory.
    pub fn uniform(n: u32, seed: u64) -> Result<Qap> {
        let name = format!("uniform{n}-s{seed}");
        check_size(&name, n)?;
        let no_room = |shortage| {
            InstanceError::content(&*name, format!("not enough memory: {shortage}"), "use a smaller size")
        };
        memory::check(8 * u64::from(n).pow(2)).map_err(no_room)?;
        let [a, b] = [0, 1].map(|part| uniform_matrix(n, seed, part));
        Ok(Qap { name, n, a, b })
    }

    /// Returns whether both matrices are symmetric.
    pub fn is_symmetric(&self) -> bool {
        [&self.a, &self.b].iter().all(|matrix| first_asymmetry(matrix, self.n as usize).is_none())
    }

    /// Returns whether the standard deviation of the off-diagonal numbers of both matrices is below 0.8 of their mean, as for
    /// uniform random numbers (0.58): such instances have no structure, and their good solutions little in common. For flows that
    /// are mostly 0 it is more than 1.
    pub fn is_unstructured(&self) -> bool {
        let n = self.n as usize;
        let scatter = |matrix: &[i32]| {
            let beside = || (0..n * n).filter(|ij| ij / n != ij % n).map(|ij| f64::from(matrix[ij]));
            let count = (n * (n - 1)) as f64;
            let mean = beside().sum::<f64>() / count;
            let variance = beside().map(|number| (number - mean).powi(2)).sum::<f64>() / count;
            variance.sqrt() / mean
        };
        [&self.a, &self.b].iter().all(|matrix| (0.0..0.8).contains(&scatter(matrix)))
    }

    /// Returns the sum over all i and j of A(i, j) B(p(i), p(j)); `None` if `permutation` is not a permutation of 0 to n - 1.
    pub fn cost(&self, permutation: &[u32]) -> Option<i64> {
        let n = self.n as usize;
        check_permutation(permutation, n).ok()?;
        let row = |i: usize| {
            let (a, b) = (&self.a[i * n..][..n], &self.b[permutation[i] as usize * n..][..n]);
            a.iter().zip(permutation).map(|(&a, &p)| i64::from(a) * i64::from(b[p as usize])).sum::<i64>()
        };
        Some((0..n).map(row).sum())
    }

    /// Returns the permutation or its inverse, whichever has the stated cost; `None` if neither has.
    ///
    /// QAPLIB's solution files differ in which of the two they contain.
    pub fn as_stated(&self, stated: i64, permutation: &[u32]) -> Option<Vec<u32>> {
        if self.cost(permutation)? == stated {
            return Some(permutation.to_vec());
        }
        let inverse = inverse(permutation);
        (self.cost(&inverse)? == stated).then_some(inverse)
    }

    /// Writes a solution to a file, which is at any time either the old one or the complete new one.
    ///
    /// # Errors
    /// If `permutation` is not a permutation of 0 to n - 1, or the file cannot be written.
    pub fn save_solution(&self, permutation: &[u32], path: &Path) -> Result<()> {
        let cost = self.cost(permutation).ok_or_else(|| {
            let problem = format!("the solution is not a permutation of {} places", self.n);
            InstanceError::content(&self.name, problem, "this is a mistake of the caller")
        })?;
        atomic_file::write(path, |mut out| write_solution(&mut out, cost, permutation))
    }
}

/// Returns the inverse of a permutation.
fn inverse(permutation: &[u32]) -> Vec<u32> {
    let mut inverse = vec![0; permutation.len()];
    for (i, &p) in permutation.iter().enumerate() {
        inverse[p as usize] = i as u32;
    }
    inverse
}

fn uniform_matrix(n: u32, seed: u64, part: u32) -> Vec<i32> {
    let draws = generate::stream(*b"qap     ", seed, part);
    let size = n as usize;
    let mut matrix = vec![0; size * size];
    for i in 0..n {
        for j in i + 1..n {
            let entry = 1 + draws.step(i).below(j, LARGEST_GENERATED) as i32;
            let (i, j) = (i as usize, j as usize);
            matrix[i * size + j] = entry;
            matrix[j * size + i] = entry;
        }
    }
    matrix
}

/// Returns how long a file of this size can be.
fn room(numbers: &[u64]) -> Room {
    match numbers.first().filter(|&&n| u32::try_from(n).is_ok_and(|n| SIZES.contains(&n))) {
        // Each number has at least two bytes of text, and four in its matrix.
        Some(n) => Room::numbers(2 * n * n + 1, format!("size {n}")).in_memory(2 * n * n * 6),
        None => Room::numbers(0, "a file that does not start with its size"),
    }
}

fn check_size(name: &str, n: u32) -> Result<()> {
    if SIZES.contains(&n) {
        return Ok(());
    }
    let help = format!("give a size from {} to {}", SIZES.start(), SIZES.end());
    Err(InstanceError::content(name, format!("there is no instance of size {n}"), help))
}

/// Rejects matrices for which a permutation could cost more than [`COST_LIMIT`]; `origin` is named in the error.
fn check_costs(origin: &str, a: &[i32], b: &[i32]) -> Result<()> {
    let sizes = |matrix: &[i32]| {
        let entries = || matrix.iter().map(|entry| i128::from(entry.unsigned_abs()));
        (entries().sum::<i128>(), entries().max().unwrap_or(0))
    };
    let ((sum_a, max_a), (sum_b, max_b)) = (sizes(a), sizes(b));
    let bound = (sum_a * max_b).min(sum_b * max_a);
    if bound <= COST_LIMIT {
        return Ok(());
    }
    let problem = format!("costs could reach {bound}, more than {COST_LIMIT}");
    Err(InstanceError::content(origin, problem, "divide the numbers of a matrix by a common factor"))
}

/// Parses an instance from the bytes of a QAPLIB file; `file` is named in errors.
///
/// # Errors
/// As [`Qap::open`], except for those of reading.
pub fn parse(file: &str, name: &str, bytes: &[u8]) -> Result<Qap> {
    let text = Text { file, bytes };
    let mut words = numbers::words(text);
    let first = words.next().ok_or_else(|| text.content("the file is empty", LAYOUT))?;
    let n = size(text, first)?;
    let mut last = first;
    let a = matrix(text, &mut words, n, 'A', &mut last)?;
    let b = matrix(text, &mut words, n, 'B', &mut last)?;
    if let Some(word) = words.next() {
        let problem = format!("`{}` follows the last number of B", text.show(word));
        return Err(text.error_at(word, problem, LAYOUT));
    }
    check_costs(file, &a, &b)?;
    Ok(Qap { name: name.to_owned(), n, a, b })
}

fn size(text: Text<'_>, word: Part) -> Result<u32> {
    let n = numbers::whole_number(text, word).and_then(|n| u32::try_from(n).ok());
    n.filter(|n| SIZES.contains(n)).ok_or_else(|| {
        let (low, high) = (SIZES.start(), SIZES.end());
        text.error_at(word, format!("`{}` is not a size from {low} to {high}", text.show(word)), LAYOUT)
    })
}

/// Reads the n x n numbers of a matrix; `last` is the word before them, and then the last of them.
fn matrix(text: Text<'_>, words: &mut Words<'_>, n: u32, name: char, last: &mut Part) -> Result<Vec<i32>> {
    let cells = n as usize * n as usize;
    // A number takes at least two bytes, so the memory is limited by the length of the file.
    let mut matrix = Vec::with_capacity(cells.min(text.bytes.len() / 2));
    while matrix.len() < cells {
        let Some(word) = words.next() else {
            let problem = format!("the file ends after {} of the {cells} numbers of {name}", matrix.len());
            return Err(text.error_at(*last, problem, LAYOUT));
        };
        let entry = numbers::whole_number(text, word).and_then(|entry| i32::try_from(entry).ok());
        matrix.push(entry.ok_or_else(|| {
            let problem = format!("`{}` is not a 32-bit whole number", text.show(word));
            text.error_at(word, problem, "matrices hold whole numbers from -2147483648 to 2147483647")
        })?);
        *last = word;
    }
    Ok(matrix)
}

/// Writes a permutation of 0 to n - 1 and its cost in QAPLIB's format: n and the cost, then the permutation, numbered from 1.
///
/// It is the p in the sum of A(i, j) B(p(i), p(j)), as in most of QAPLIB's files.
///
/// # Errors
/// The errors of `out`.
pub fn write_solution(out: &mut impl Write, cost: i64, permutation: &[u32]) -> io::Result<()> {
    let n = permutation.len();
    writeln!(out, "{n} {cost}")?;
    let width = n.to_string().len();
    for line in permutation.chunks(NUMBERS_PER_LINE) {
        let numbers: Vec<String> = line.iter().map(|p| format!("{:>width$}", p + 1)).collect();
        writeln!(out, "{}", numbers.join(" "))?;
    }
    Ok(())
}

/// Reads the stated cost and the permutation from a solution file, optionally gzip-compressed, for an instance of size `n`.
///
/// The returned permutation is numbered from 0, each number once. The cost is the one in the file: [`Qap::as_stated`] determines
/// whether it is that of the permutation or of its inverse.
///
/// # Errors
/// If the file cannot be read, is for another size, or contains no permutation.
pub fn read_solution(path: &Path, n: u32) -> Result<(i64, Vec<u32>)> {
    let bytes = numbers::load(path, "give the path of a QAPLIB solution, such as tai12a.sln", |_| {
        Room::numbers(u64::from(n) + 2, format!("a solution of size {n}"))
    })?;
    parse_solution(&path.to_string_lossy(), &bytes, n)
}

/// Parses the bytes of a solution file like [`read_solution`]; `file` is named in errors.
///
/// Numbers may be on any lines, and separated by commas. If they include a 0, they count from 0.
///
/// # Errors
/// As [`read_solution`], except for those of reading.
pub fn parse_solution(file: &str, bytes: &[u8], n: u32) -> Result<(i64, Vec<u32>)> {
    const LAYOUT: &str = "a solution has the size n and the cost in its first line, then the numbers 1 to n";
    let text = Text { file, bytes };
    let mut values = Vec::new();
    let mut parts = Vec::new();
    for part in numbers::words(text).flat_map(|word| between_commas(text, word)) {
        let value = numbers::whole_number(text, part).ok_or_else(|| {
            text.error_at(part, format!("`{}` is not a whole number", text.show(part)), LAYOUT)
        })?;
        values.push(value);
        parts.push(part);
    }
    let [size, cost, numbers @ ..] = &values[..] else {
        return Err(text.content("there is no solution in the file", LAYOUT));
    };
    if *size != i64::from(n) {
        let problem = format!("this is a solution of size {size}, but the instance has size {n}");
        return Err(text.error_at(parts[0], problem, "give a solution of this instance"));
    }
    Ok((*cost, permutation(text, numbers, &parts[2..], n)?))
}

/// Converts numbers from 0 or 1, located in `parts` of the text, to a permutation of 0 to n - 1.
fn permutation(text: Text<'_>, numbers: &[i64], parts: &[Part], n: u32) -> Result<Vec<u32>> {
    let first = i64::from(!numbers.contains(&0));
    let last = first + i64::from(n) - 1;
    let help = format!("a solution of size {n} has each number from {first} to {last} once");
    let mut permutation = Vec::with_capacity(numbers.len());
    for (&number, &part) in numbers.iter().zip(parts) {
        if !(first..=last).contains(&number) {
            return Err(text.error_at(
                part,
                format!("{number} is not a number from {first} to {last}"),
                help,
            ));
        }
        permutation.push((number - first) as u32);
    }
    match check_permutation(&permutation, n as usize) {
        Ok(()) => Ok(permutation),
        Err(TourError::Repeated { position, missing, .. }) => {
            let (number, missing) = (numbers[position], i64::from(missing) + first);
            let problem = format!("{number} appears here a second time; {missing} is missing");
            Err(text.error_at(parts[position], problem, help))
        }
        Err(_) => Err(text.content(format!("the permutation has {} numbers, not {n}", numbers.len()), help)),
    }
}

/// Returns the parts of a word between commas.
fn between_commas(text: Text<'_>, word: Part) -> impl Iterator<Item = Part> {
    let mut start = word.start;
    let pieces = text.bytes[word.start..word.end].split(|&byte| byte == b',');
    let parts = pieces.map(move |piece| {
        let part = Part { start, end: start + piece.len() };
        start = part.end + 1;
        part
    });
    parts.filter(|part| part.start < part.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_fixes_the_matrices() {
        let qap = Qap::uniform(80, 1).unwrap();
        assert_eq!((qap.name.as_str(), qap.n, qap.best_known()), ("uniform80-s1", 80, None));
        assert_ne!(qap.a, Qap::uniform(80, 2).unwrap().a);
        assert_ne!(qap.a, qap.b);
        assert!(qap.is_symmetric());
        for matrix in [&qap.a, &qap.b] {
            let (diagonal, others): (Vec<_>, Vec<_>) =
                matrix.iter().enumerate().partition(|(at, _)| at % 81 == 0);
            assert!(diagonal.iter().all(|&(_, &entry)| entry == 0));
            assert!(others.iter().all(|&(_, &entry)| (1..=99).contains(&entry)));
            let mean = others.iter().map(|&(_, &entry)| f64::from(entry)).sum::<f64>() / others.len() as f64;
            assert!((mean - 50.0).abs() < 2.5, "{mean}");
        }
        // Fixed for good: a changed generator would make published runs unrepeatable.
        assert_eq!(qap.a[1..6], [66, 76, 5, 11, 36]);
    }

    #[test]
    fn uniform_numbers_have_no_structure() {
        for n in [12, 30, 100] {
            assert!(Qap::uniform(n, 5).unwrap().is_unstructured());
        }
        // One matrix with structure is enough: flows between neighbours on a ring of 30.
        let uniform = Qap::uniform(30, 5).unwrap();
        let flows = (0..900).map(|ij| i32::from((ij / 30 + 1) % 30 == ij % 30)).collect();
        assert!(!Qap::from_matrices("ring", 30, uniform.a, flows).unwrap().is_unstructured());
        // The mean is zero.
        assert!(!Qap::from_matrices("zeros", 2, vec![0; 4], vec![0; 4]).unwrap().is_unstructured());
    }

    #[test]
    fn the_inverse_is_found_by_its_cost() {
        let (a, b) = (vec![0, 1, 2, 0, 0, 4, 0, 0, 0], vec![0, 1, 3, 0, 0, 9, 0, 0, 0]);
        let qap = Qap::from_matrices("x", 3, a, b).unwrap();
        // Facilities 0, 1, 2 in places 1, 2, 0: only A(0, 1) B(1, 2) is not 0.
        assert_eq!(qap.cost(&[1, 2, 0]), Some(9));
        assert_eq!(qap.cost(&[2, 0, 1]), Some(4));
        assert_eq!(qap.as_stated(9, &[1, 2, 0]), Some(vec![1, 2, 0]));
        assert_eq!(qap.as_stated(9, &[2, 0, 1]), Some(vec![1, 2, 0]));
        assert_eq!(qap.as_stated(8, &[1, 2, 0]), None);
        for other in [&[0, 1][..], &[0, 1, 1], &[0, 1, 3], &[0, 1, 2, 3]] {
            assert_eq!((qap.cost(other), qap.as_stated(0, other)), (None, None));
        }
    }

    #[test]
    fn a_name_alone_has_no_best_known_cost() {
        let zeros = |n: u32| vec![0; (n * n) as usize];
        let named = |name: &str, n| Qap::from_matrices(name, n, zeros(n), zeros(n)).unwrap().best_known();
        assert_eq!((named("nug12", 12), named("tai100a", 100)), (None, None));
    }

    #[test]
    fn sizes_and_costs_have_limits() {
        for n in [0, 1, 16385, u32::MAX] {
            assert!(Qap::uniform(n, 1).unwrap_err().to_string().contains("no instance of size"));
        }
        assert!(
            Qap::from_matrices("x", 2, vec![0; 4], vec![0; 3]).unwrap_err().to_string().contains("not 4")
        );
        let with = |a, b| Qap::from_matrices("x", 2, vec![a; 4], vec![b, 0, 0, 0]);
        let qap = with(i32::MIN, 1 << 29).unwrap();
        assert_eq!(qap.cost(&[1, 0]), Some(-1 << 60));
        assert!(with(i32::MIN, (1 << 29) + 1).unwrap_err().to_string().contains("costs could reach"));
    }

    #[test]
    fn solutions_are_wrapped() {
        let mut text = Vec::new();
        let permutation: Vec<u32> = (0..21).rev().collect();
        write_solution(&mut text, -7, &permutation).unwrap();
        let expected = "21 -7\n21 20 19 18 17 16 15 14 13 12 11 10  9  8  7  6  5  4  3  2\n 1\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
