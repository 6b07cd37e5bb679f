//! Multiway number partitioning: put numbers into sets whose sums are as equal as can be.

use std::ops::RangeInclusive;
use std::path::Path;

use antwarp_core::papers::problem::Shape;

use crate::engine::Tables;
use crate::instance::{InstanceError, Result, Room, Text, generate, numbers};

/// The allowed numbers of sets: a set's number fits a byte.
const SETS: RangeInclusive<u32> = 2..=256;

/// Limit of the sum of all numbers; costs are below its square, 2^60.
const SUM_LIMIT: i64 = 1 << 30;

/// Most numbers in a file.
const MOST_NUMBERS: u64 = 1 << 22;

/// Generated numbers are 1 to this.
const LARGEST_NUMBER: u32 = 1_000_000;

const LAYOUT: &str =
    "a file of numbers holds whole numbers above 0 with blanks between them, and nothing else";

/// Numbers to be divided into sets. An assignment has one byte for each number: its set, from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Its name: that of its file up to the first point, or how it was generated.
    pub name: String,
    /// The numbers: at least one, all above 0, with a sum below 2^30.
    pub numbers: Vec<i64>,
    /// Number of sets, 2 to 256.
    pub sets: u32,
}

impl Partition {
    /// Reads the numbers to be divided into `sets` sets from a file, which may be compressed by gzip.
    ///
    /// # Errors
    /// If the file cannot be read, is empty or contains anything but whole numbers above 0, if their sum is 2^30 or more,
    /// or if `sets` is not 2 to 256.
    pub fn open(path: &Path, sets: u32) -> Result<Partition> {
        let bytes =
            numbers::load(path, "give the path of a file of whole numbers with blanks between them", |_| {
                Room::numbers(MOST_NUMBERS, format!("a file of {MOST_NUMBERS} numbers"))
            })?;
        parse(&path.to_string_lossy(), &crate::instance::source::stem(path), &bytes, sets)
    }

    /// Generates `count` random numbers from 1 to 1,000,000, to be divided into `sets` sets. A seed gives the same numbers
    /// everywhere.
    ///
    /// # Errors
    /// If `count` is 0 or so large that the sum is 2^30 or more (at about 2,150), or if `sets` is not 2 to 256.
    pub fn uniform(count: u32, sets: u32, seed: u64) -> Result<Partition> {
        let name = format!("partition-{count}-{sets}-s{seed}");
        check_sets(&name, sets)?;
        if count == 0 {
            return Err(InstanceError::content(name, "there are no numbers", "ask for at least one"));
        }
        let draws = generate::stream(*b"numbers ", seed, 0).step(0);
        let (mut numbers, mut sum) = (Vec::new(), 0);
        for item in 0..count {
            let number = 1 + i64::from(draws.below(item, LARGEST_NUMBER));
            sum += number;
            if sum >= SUM_LIMIT {
                let problem = format!("{count} numbers have a sum of {SUM_LIMIT} or more");
                return Err(InstanceError::content(name, problem, format!("ask for {item} numbers at most")));
            }
            numbers.push(number);
        }
        Ok(Partition { name, numbers, sets })
    }

    /// Returns the sum of the numbers of each set.
    ///
    /// # Panics
    /// If the assignment does not have one set for each number, or has a set that does not exist.
    pub fn set_sums(&self, assignment: &[u8]) -> Vec<i64> {
        assert_eq!(assignment.len(), self.numbers.len(), "one set a number");
        let mut sums = vec![0; self.sets as usize];
        for (&set, number) in assignment.iter().zip(&self.numbers) {
            sums[usize::from(set)] += number;
        }
        sums
    }

    /// Returns the cost: the squares of the sets' sums, added up. It is smallest if the sums are equal.
    ///
    /// # Panics
    /// As [`Partition::set_sums`].
    pub fn cost(&self, assignment: &[u8]) -> i64 {
        self.set_sums(assignment).iter().map(|sum| sum * sum).sum()
    }

    /// Returns the largest sum of a set minus the smallest.
    ///
    /// # Panics
    /// As [`Partition::set_sums`].
    pub fn spread(&self, assignment: &[u8]) -> i64 {
        let sums = self.set_sums(assignment);
        let (low, high) = sums.iter().fold((i64::MAX, 0), |(low, high), &sum| (low.min(sum), high.max(sum)));
        high - low
    }
}

/// Reads an instance from the bytes of a file of numbers; `file` is its name in errors.
///
/// # Errors
/// As [`Partition::open`], except for errors of reading.
pub fn parse(file: &str, name: &str, bytes: &[u8], sets: u32) -> Result<Partition> {
    check_sets(file, sets)?;
    let text = Text { file, bytes };
    let (mut numbers, mut sum) = (Vec::new(), 0);
    for word in numbers::words(text) {
        let number = numbers::whole_number(text, word).filter(|&number| number > 0).ok_or_else(|| {
            text.error_at(word, format!("`{}` is not a whole number above 0", text.show(word)), LAYOUT)
        })?;
        if number >= SUM_LIMIT - sum {
            let problem = format!("with `{}` the sum of all numbers is {SUM_LIMIT} or more", text.show(word));
            return Err(text.error_at(word, problem, "divide the numbers by a common factor, or give fewer"));
        }
        sum += number;
        numbers.push(number);
    }
    if numbers.is_empty() {
        return Err(text.content("there are no numbers in the file", LAYOUT));
    }
    Ok(Partition { name: name.to_owned(), numbers, sets })
}

fn check_sets(origin: &str, sets: u32) -> Result<()> {
    if SETS.contains(&sets) {
        return Ok(());
    }
    let help = format!("ask for {} to {} sets", SETS.start(), SETS.end());
    Err(InstanceError::content(origin, format!("numbers cannot be put into {sets} sets"), help))
}

impl Partition {
    /// Returns the tables for [`antwarp_core::papers::problem::Partition`].
    pub fn tables(&self) -> Tables {
        let sizes = [self.numbers.len() as u32, self.sets, 0, 0];
        let numbers: Vec<u8> = self.numbers.iter().flat_map(|x| x.to_ne_bytes()).collect();
        Tables::new(Shape { sizes, ..Shape::default() }, &[&numbers])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_fixes_the_numbers() {
        let instance = Partition::uniform(1000, 4, 1).unwrap();
        assert_eq!(instance.name, "partition-1000-4-s1");
        assert_ne!(instance.numbers, Partition::uniform(1000, 4, 2).unwrap().numbers);
        assert!(instance.numbers.iter().all(|number| (1..=1_000_000).contains(number)));
        let mean = instance.numbers.iter().sum::<i64>() / 1000;
        assert!((mean - 500_000).abs() < 40_000, "{mean}");
        // Fixed for good: a changed generator would make published runs unrepeatable.
        assert_eq!(instance.numbers[..3], [914_562, 161_346, 320_262]);
    }

    #[test]
    fn a_count_that_is_too_large_is_refused_with_the_largest_that_is_not() {
        let error = Partition::uniform(u32::MAX, 2, 1).unwrap_err();
        let InstanceError::Content { help, .. } = error else { panic!("{error:?}") };
        let most: u32 = help.split(' ').nth(2).unwrap().parse().unwrap();
        let largest = Partition::uniform(most, 2, 1).unwrap();
        assert!(Partition::uniform(most + 1, 2, 1).is_err());
        // All in one set: the highest cost that there is.
        assert!(largest.cost(&vec![0; most as usize]) < 1 << 60);
    }

    #[test]
    fn costs_are_squares_of_sums() {
        let instance = parse("f", "f", b"4 5 6 7 8", 3).unwrap();
        assert_eq!(instance.set_sums(&[0, 1, 0, 1, 2]), [10, 12, 8]);
        assert_eq!(instance.cost(&[0, 1, 0, 1, 2]), 100 + 144 + 64);
        assert_eq!(instance.spread(&[0, 1, 0, 1, 2]), 4);
        assert_eq!(instance.spread(&[0; 5]), 30);
    }

    #[test]
    fn requests_have_limits() {
        for sets in [0, 1, 257] {
            assert!(Partition::uniform(10, sets, 1).unwrap_err().to_string().contains("sets"));
            assert!(parse("f", "f", b"1", sets).is_err());
        }
        assert!(Partition::uniform(0, 2, 1).unwrap_err().to_string().contains("no numbers"));
        let all = Partition::uniform(300, 256, 1).unwrap();
        let assignment: Vec<u8> = (0..300).map(|i| i as u8).collect();
        assert_eq!(all.set_sums(&assignment).iter().sum::<i64>(), all.numbers.iter().sum::<i64>());
    }
}
