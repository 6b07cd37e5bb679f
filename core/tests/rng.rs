//! Are the random numbers random, over every counter they are a function of?

use crate::common::statistics::{LEVEL, fit, uniformity};
use antwarp_core::rng::{Draws, Stream, exponential, unit};

const DRAWS: u32 = 1 << 18;

/// A draw as a function of one counter.
type Walk = fn(u32) -> u32;

/// One counter runs, the others stand still.
const WALKS: [(&str, Walk); 7] = [
    ("items", |i| Stream::new(1, 2, 3).step(4).bits(i)),
    ("high items", |i| Stream::new(1, 2, 3).step(4).bits(u32::MAX - i)),
    ("groups of items", |i| Stream::new(1, 2, 3).step(4).bits(i * 1024)),
    ("steps", |i| Stream::new(1, 2, 3).step(i).bits(0)),
    ("streams", |i| Stream::new(1, 2, i).step(0).bits(0)),
    ("epochs", |i| Stream::new(1, i, 0).step(0).bits(0)),
    ("seeds", |i| Stream::new(i as u64, 0, 0).step(0).bits(0)),
];

#[test]
fn bytes_are_uniform_along_every_counter() {
    for (name, draw) in WALKS {
        for shift in [0, 8, 16, 24] {
            let mut counts = [0; 256];
            for i in 0..DRAWS {
                counts[(draw(i) >> shift & 255) as usize] += 1;
            }
            let p = uniformity(&counts);
            assert!(p > LEVEL && p < 1.0 - LEVEL, "{name}, bits from {shift}: p = {p}");
        }
    }
}

#[test]
fn neighbours_are_independent_along_every_counter() {
    for (name, draw) in WALKS {
        for (lag, shift) in [(1, 26), (1, 0), (2, 26), (8, 26), (32, 26)] {
            let mut counts = [0; 64 * 64];
            // Pairs do not overlap, so the counts are independent.
            for i in (0..2 * DRAWS).filter(|i| i / lag % 2 == 0) {
                let (a, b) = (draw(i) >> shift & 63, draw(i + lag) >> shift & 63);
                counts[(a * 64 + b) as usize] += 1;
            }
            let p = uniformity(&counts);
            assert!(p > LEVEL && p < 1.0 - LEVEL, "{name}, lag {lag}, bits from {shift}: p = {p}");
        }
    }
}

#[test]
fn neighbouring_steps_share_nothing_at_equal_items() {
    // The selections read the same few items in every step.
    for item in [0, 1, 7, u32::MAX, u32::MAX - 1] {
        let mut counts = [0; 64 * 64];
        for step in (0..2 * DRAWS).step_by(2) {
            let stream = Stream::new(9, 8, 7);
            let (a, b) = (stream.step(step).bits(item), stream.step(step + 1).bits(item));
            counts[((a >> 26) * 64 + (b >> 26)) as usize] += 1;
        }
        let p = uniformity(&counts);
        assert!(p > LEVEL && p < 1.0 - LEVEL, "item {item}: p = {p}");
    }
}

#[test]
fn items_of_one_step_scatter_as_independent_ones_do() {
    // Too even a scatter within a step would distort races between items, and pooled counts would hide it: so
    // the largest of m draws, whose m-th power is uniform if they are independent.
    for m in [2u32, 5, 8, 32, 100, 625] {
        let mut counts = [0; 64];
        for step in 0..20_000 {
            let draws = Stream::new(12, 0, m).step(step);
            let largest = (0..m).map(|i| draws.bits(i)).max().unwrap();
            let u = ((largest as f64 + 0.5) / 4_294_967_296.0).powi(m as i32);
            counts[(u * 64.0) as usize] += 1;
        }
        let p = uniformity(&counts);
        assert!(p > LEVEL && p < 1.0 - LEVEL, "{m} items: p = {p}");
    }
}

#[test]
fn draws_depend_on_every_counter_and_on_nothing_else() {
    let draws = |seed, epoch, index, step| {
        let d: Draws = Stream::new(seed, epoch, index).step(step);
        [0, 1, 2, 3].map(|item| d.bits(item))
    };
    assert_eq!(draws(1, 2, 3, 4), draws(1, 2, 3, 4));
    for other in [draws(0, 2, 3, 4), draws(1 << 40, 2, 3, 4), draws(1, 3, 2, 4), draws(1, 2, 4, 3)] {
        assert_ne!(draws(1, 2, 3, 4), other);
    }
}

#[test]
fn units_lie_strictly_between_0_and_1() {
    assert_eq!(unit(0), 2f32.powi(-24));
    assert_eq!(unit(u32::MAX), 1.0 - 2f32.powi(-24));
    assert_eq!(unit(1 << 31), 0.5 + 2f32.powi(-24));
    let d = Stream::new(0, 0, 0).step(0);
    assert!((0..1000).all(|i| d.unit(i) == unit(d.bits(i))));
}

#[test]
fn integers_below_n_are_uniform() {
    for n in [1, 2, 3, 7, 100] {
        let mut counts = vec![0; n as usize];
        for step in 0..100_000 {
            counts[Stream::new(3, 0, 0).step(step).below(0, n) as usize] += 1;
        }
        if n > 1 {
            assert!(uniformity(&counts) > LEVEL, "{n}: {counts:?}");
        }
    }
}

/// u as [`exponential`] reads its bits: the leading zeros and the 23 bits behind the first one.
fn interpreted(bits: u32) -> f64 {
    let zeros = (bits | 1).leading_zeros();
    let x = ((!(bits << zeros << 1) >> 1) as f64 + 0.5) / 2_147_483_648.0;
    2f64.powi(-(zeros as i32)) * (1.0 - x / 2.0)
}

/// Bits of every class of leading zeros, its ends included, in ascending order.
fn samples() -> Vec<u32> {
    let mut samples = vec![0];
    for zeros in (0..32).rev() {
        let first = 1u32 << (31 - zeros);
        let last = first | (first - 1);
        let step = (first / 20_011).max(1);
        samples.extend((first..last).step_by(step as usize));
        samples.extend((last - last.min(300).min(first - 1)..=last).filter(|&b| b >= first));
    }
    samples.sort_unstable();
    samples.dedup();
    samples
}

#[test]
fn exponentials_are_logarithms_to_2_parts_in_a_million() {
    for bits in samples() {
        let (got, exact) = (exponential(bits) as f64, -interpreted(bits).log2());
        assert!(got > 0.0 && (got / exact - 1.0).abs() < 2e-6, "{bits:#x}: {got} for {exact}");
    }
}

#[test]
fn exponentials_fall_as_bits_rise() {
    for pair in samples().windows(2) {
        assert!(exponential(pair[0]) >= exponential(pair[1]), "{pair:x?}");
    }
    // The steps at the light end, which wins races, one by one.
    let mut before = exponential(u32::MAX - (1 << 23));
    for rest in (0..1u32 << 23).rev() {
        let now = exponential(u32::MAX - rest);
        assert!(now <= before, "{rest:#x}");
        before = now;
    }
}

#[test]
fn exponentials_are_distributed_as_such() {
    // Classes of width 1/8 of a halving, the last without end.
    let share = |k: usize| 2f64.powf(-(k as f64) / 8.0);
    let mut expected: Vec<f64> = (0..100).map(|k| share(k) - share(k + 1)).collect();
    expected.push(share(100));
    let mut counts = vec![0; 101];
    for step in 0..1000 {
        let draws = Stream::new(17, 0, 0).step(step);
        for item in 0..1000 {
            counts[((exponential(draws.bits(item)) * 8.0) as usize).min(100)] += 1;
        }
    }
    assert!(fit(&counts, &expected) > LEVEL, "{counts:?}");
}

#[cfg(feature = "rand")]
#[test]
fn generators_give_the_draws_of_their_stream() {
    use antwarp_core::rng::StreamRng;
    use rand_core::Rng;

    let stream = Stream::new(5, 6, 7);
    let mut rng = StreamRng::new(stream);
    let words: Vec<u32> = (0..4).map(|_| rng.next_u32()).collect();
    assert_eq!(words, (0..4).map(|step| stream.step(step).bits(0)).collect::<Vec<_>>());
    let mut rng = StreamRng::new(stream);
    assert_eq!(rng.next_u64(), words[0] as u64 | (words[1] as u64) << 32);
    let mut bytes = [0; 7];
    rng.fill_bytes(&mut bytes);
    assert_eq!(bytes[..4], words[2].to_le_bytes());
    assert_eq!(bytes[4..], words[3].to_le_bytes()[..3]);
}
