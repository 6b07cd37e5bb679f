//! Numbers and combinations: each other's inverses, in lexicographic order, at every size.

use antwarp_core::combinations::{next_pair, pair, pair_index, pairs, triple, triple_index, triples};
use proptest::prelude::*;

/// The most positions whose triples a `u64` counts.
const MOST: u32 = 4_801_280;

#[test]
fn pairs_come_in_order() {
    for n in 0..=70 {
        let mut index = 0;
        for i in 0..n {
            for j in i + 1..n {
                assert_eq!(pair(n, index), (i, j));
                assert_eq!(pair_index(n, i, j), index);
                index += 1;
            }
        }
        assert_eq!(pairs(n), index);
    }
}

#[test]
fn triples_come_in_order() {
    for n in 0..=40 {
        let mut index = 0;
        for i in 0..n {
            for j in i + 1..n {
                for k in j + 1..n {
                    assert_eq!(triple(n, index), (i, j, k));
                    assert_eq!(triple_index(n, i, j, k), index);
                    index += 1;
                }
            }
        }
        assert_eq!(triples(n), index);
    }
}

#[test]
fn counts_are_exact_to_the_limits() {
    assert_eq!(pairs(u32::MAX), (u32::MAX as u64).pow(2) / 2 - (u32::MAX / 2) as u64);
    let exact = |n: u32| n as u128 * (n as u128 - 1) * (n as u128 - 2) / 6;
    for n in (2..100).chain((100..MOST).step_by(997)).chain(MOST - 2..=MOST) {
        assert_eq!(triples(n) as u128, exact(n), "{n}");
    }
    assert!(exact(MOST) < 1 << 64 && exact(MOST + 1) >= 1 << 64);
}

/// The ends of row `i` and what lies beside them.
fn row_is_exact(n: u32, i: u32) {
    let first = pair_index(n, i, i + 1);
    assert_eq!(pair(n, first), (i, i + 1), "{n}");
    assert_eq!(pair(n, first + (n - 2 - i) as u64), (i, n - 1), "{n}");
    if i > 0 {
        assert_eq!(pair(n, first - 1), (i - 1, n - 1), "{n}");
    }
    if i < n - 2 {
        assert_eq!(pair(n, pair_index(n, i, n - 1) + 1), (i + 1, i + 2), "{n}");
        assert_eq!(pair(n, first + 1), (i, i + 2), "{n}");
    }
}

#[test]
fn every_row_of_many_positions_has_exact_ends() {
    // The arithmetic sees pairs counted from the end, and turns from single to double precision in row 46 341 there.
    for i in 0..100_000 - 1 {
        row_is_exact(100_000, i);
    }
    for i in (0..1000).chain((1000..u32::MAX - 1000).step_by(10_007)).chain(u32::MAX - 1000..u32::MAX - 1) {
        row_is_exact(u32::MAX, i);
    }
}

/// The first and the last triple from `i`, and what lies beside them.
fn slice_is_exact(n: u32, i: u32) {
    let first = triple_index(n, i, i + 1, i + 2);
    let last = triple_index(n, i, n - 2, n - 1);
    assert_eq!(triple(n, first), (i, i + 1, i + 2), "{n}");
    assert_eq!(triple(n, last), (i, n - 2, n - 1), "{n}");
    if i > 0 {
        assert_eq!(triple(n, first - 1), (i - 1, n - 2, n - 1), "{n}");
    }
    if i < n - 3 {
        assert_eq!(triple(n, last + 1), (i + 1, i + 2, i + 3), "{n}");
        assert_eq!(triple(n, first + 1), (i, i + 1, i + 3), "{n}");
    }
}

#[test]
fn every_slice_of_many_positions_has_exact_ends() {
    // In all, so that the turn from single to double precision, with 119 063 positions left, is among them.
    for i in 0..MOST - 2 {
        slice_is_exact(MOST, i);
    }
}

#[test]
fn numbers_that_no_neighbour_has_do_no_harm() {
    for n in [0, 1, 2, 3, 4, 1000, MOST, u32::MAX] {
        for index in [0, 1, pairs(n), triples(n), triples(n).wrapping_add(1), 1 << 63, u64::MAX - 1, u64::MAX]
        {
            let _ = (pair(n, index), triple(n, index));
        }
    }
    for i in [0, 1, 7, u32::MAX] {
        for j in [0, 1, 7, u32::MAX] {
            let _ = (pair_index(5, i, j), triple_index(5, i, j, 2));
            assert_eq!(next_pair(5, (i, j), u32::MAX), (4, 5));
        }
    }
    assert_eq!(next_pair(0, (0, 1), 0), (0, 0));
}

#[test]
fn steps_end_behind_the_last_pair() {
    for n in [2, 3, 10, u32::MAX] {
        let last = (n - 2, n - 1);
        assert_eq!(next_pair(n, last, 0), last);
        for by in [1, 2, n, u32::MAX] {
            assert_eq!(next_pair(n, last, by), (n - 1, n));
            assert_eq!(next_pair(n, (n - 1, n), by), (n - 1, n));
        }
    }
}

#[test]
fn steps_of_every_length_lead_to_every_pair() {
    for n in 2..14 {
        for from in 0..pairs(n) {
            for by in 0..=pairs(n) {
                let to = if from + by < pairs(n) { pair(n, from + by) } else { (n - 1, n) };
                assert_eq!(next_pair(n, pair(n, from), by as u32), to);
            }
        }
    }
}

/// A count of things and one of them, from the first ones, the last ones, or anywhere.
fn one_of(count: u64, share: f64, end: u64) -> u64 {
    match end % 3 {
        0 => end / 3 % count,
        1 => count - 1 - end / 3 % count,
        _ => ((count as f64 * share) as u64).min(count - 1),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn pairs_and_their_numbers_are_inverse(bits in 2u32..=32, n: u32, share in 0.0..1.0, end in 0..100_000u64) {
        let n = (n >> (32 - bits)).max(2);
        let index = one_of(pairs(n), share, end);
        let (i, j) = pair(n, index);
        prop_assert!(i < j && j < n);
        prop_assert_eq!(pair_index(n, i, j), index);
        // Both of the rows beside.
        row_is_exact(n, i);
    }

    #[test]
    fn numbers_and_their_pairs_are_inverse(n in 2..=u32::MAX, a: u32, b: u32) {
        let (a, b) = (a % n, b % n);
        prop_assume!(a != b);
        prop_assert_eq!(pair(n, pair_index(n, a.min(b), a.max(b))), (a.min(b), a.max(b)));
    }

    #[test]
    fn triples_and_their_numbers_are_inverse(
        n in 3..=MOST, shift in 0..21u32, share in 0.0..1.0, end in 0..100_000u64
    ) {
        let n = (n >> shift).max(3u32);
        let index = one_of(triples(n), share, end);
        let (i, j, k) = triple(n, index);
        prop_assert!(i < j && j < k && k < n);
        prop_assert_eq!(triple_index(n, i, j, k), index);
        slice_is_exact(n, i);
    }

    #[test]
    fn numbers_and_their_triples_are_inverse(n in 3..=MOST, a: u32, b: u32, c: u32) {
        let mut t = [a % n, b % n, c % n];
        t.sort_unstable();
        prop_assume!(t[0] < t[1] && t[1] < t[2]);
        prop_assert_eq!(triple(n, triple_index(n, t[0], t[1], t[2])), t.into());
        // The ends of the row of the first two.
        let row = triple_index(n, t[0], t[1], t[1] + 1);
        prop_assert_eq!(triple(n, row), (t[0], t[1], t[1] + 1));
        prop_assert_eq!(triple(n, row - 1).2, n - 1);
    }

    #[test]
    fn steps_are_differences_of_numbers(
        n in 2..=u32::MAX, shift in 0..30u32, share in 0.0..1.0, end: u64, by: u32, less in 0..32u32
    ) {
        // Few positions are passed quickly however far the step.
        let n = (n >> shift).max(2u32);
        let by = if n > 1 << 20 { by >> less } else { by };
        let index = one_of(pairs(n), share, end);
        let reached = index + by as u64;
        let to = if reached < pairs(n) { pair(n, reached) } else { (n - 1, n) };
        prop_assert_eq!(next_pair(n, pair(n, index), by), to);
    }
}
