//! Shuffles: permutations, and all alike.

use crate::common::statistics::{LEVEL, uniformity};
use crate::papers::genetic::world::is_tour;
use antwarp_core::papers::genetic::Shuffle;
use antwarp_core::rng::Stream;

fn all(stream: Stream, n: u32) -> Vec<u32> {
    let shuffle = Shuffle::new(stream, n);
    (0..n).map(|i| shuffle.at(i)).collect()
}

#[test]
fn every_element_comes_once() {
    for n in 1..=400 {
        for seed in 0..3 {
            assert!(is_tour(n, &all(Stream::new(seed, 2, n), n)), "no permutation of {n}, seed {seed}");
        }
    }
    for n in [4096, 65_535, 65_536, 65_537, 1_000_000] {
        assert!(is_tour(n, &all(Stream::new(1, 2, 3), n)), "no permutation of {n}");
    }
}

#[test]
fn the_largest_ones_stay_in_range() {
    for n in [1 << 31, (1 << 30) + 1, u32::MAX] {
        let shuffle = Shuffle::new(Stream::new(1, 0, 0), n);
        let (mut seen, count) = (std::collections::HashSet::new(), 1000);
        seen.extend((0..count).chain(n - count..n).map(|i| shuffle.at(i)));
        assert!(seen.len() == 2 * count as usize && seen.iter().all(|&x| x < n), "of {n}");
    }
}

/// How often each of `classes` comes under many streams: other seeds, other epochs, other indices.
fn check_uniform(n: u32, classes: usize, what: &str, class: impl Fn(Shuffle) -> usize) {
    for varied in ["seed", "generation", "index"] {
        let mut counts = vec![0; classes];
        for i in 0..(40 * classes as u32).max(20_000) {
            let stream = match varied {
                "seed" => Stream::new(i.into(), 1, 2),
                "generation" => Stream::new(9, i, u32::MAX),
                _ => Stream::new(9, 0, i),
            };
            counts[class(Shuffle::new(stream, n))] += 1;
        }
        let p = uniformity(&counts);
        assert!(p > LEVEL, "{what} of {n} by {varied}: p = {p:e}");
    }
}

#[test]
fn the_first_and_the_last_element_are_uniform() {
    for n in [2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 64, 100, 256, 300, 1000] {
        check_uniform(n, n as usize, "first", |shuffle| shuffle.at(0) as usize);
        check_uniform(n, n as usize, "last", |shuffle| shuffle.at(n - 1) as usize);
    }
}

#[test]
fn pairs_of_elements_are_uniform() {
    for n in [3, 4, 5, 6, 8, 11, 16, 17, 24, 32] {
        let pair = |a: u32, b: u32| (a * (n - 1) + b - u32::from(b > a)) as usize;
        for (i, j) in [(0, 1), (0, n - 1), (0, n / 2)] {
            check_uniform(n, (n * (n - 1)) as usize, "pairs", |shuffle| pair(shuffle.at(i), shuffle.at(j)));
        }
    }
}

#[test]
fn small_permutations_are_uniform() {
    // All permutations of a network of 16 are even, so all but two elements tell of the last two where it is almost full.
    for (n, elements) in [(2u32, 2), (3, 3), (4, 4), (5, 3), (6, 4), (7, 5), (16, 3), (17, 3)] {
        let number = |shuffle: Shuffle| {
            let items: Vec<u32> = (0..elements).map(|i| shuffle.at(i)).collect();
            // Lehmer's code: the number of each among those that are left.
            (0..elements as usize).fold(0, |code, i| {
                let before = items[..i].iter().filter(|&&x| x < items[i]).count();
                code * (n as usize - i) + items[i] as usize - before
            })
        };
        let classes = (n - elements + 1..=n).product::<u32>();
        check_uniform(n, classes as usize, &format!("{elements} elements"), number);
    }
}

#[test]
fn other_streams_draw_other_permutations() {
    let n = 300;
    let first = all(Stream::new(1, 1, 1), n);
    assert!(first == all(Stream::new(1, 1, 1), n), "one stream draws two permutations");
    for (seed, epoch, index) in [(2, 1, 1), (1, 2, 1), (1, 1, 2), (1, 1, u32::MAX)] {
        let other = all(Stream::new(seed, epoch, index), n);
        let same = first.iter().zip(&other).filter(|(a, b)| a == b).count();
        // One is expected.
        assert!(same < 9, "{same} of {n} elements where they were");
    }
}
