//! Sums and roulettes in groups of eight.

use crate::common::memory::Array;
use antwarp_core::group::{Group, SIZE, load, pick, round_up, sum};
use proptest::prelude::*;

/// Weights over twelve orders of magnitude, about half of them 0.
fn groups() -> impl Strategy<Value = Group> {
    prop::array::uniform8(prop_oneof![Just(0.0f32), (-6.0f32..6.0).prop_map(|e| 10.0f32.powf(e))])
}

fn prefixes(w: Group) -> [f32; SIZE] {
    let mut sum = 0.0;
    w.map(|x| {
        sum += x;
        sum
    })
}

proptest! {
    #![proptest_config(crate::common::cases(256))]

    #[test]
    fn sums_are_accurate(w in groups()) {
        let exact: f64 = w.iter().map(|&x| x as f64).sum();
        // Three additions deep, each with half a unit in the last place.
        prop_assert!((sum(w) as f64 - exact).abs() <= exact * 3.0 * 2f64.powi(-24));
    }

    #[test]
    fn the_pick_is_where_r_falls(w in groups(), share in 0.0f32..1.0) {
        let r = share * sum(w);
        let (k, left) = pick(w, r);
        let heavy = w.iter().any(|&x| x > 0.0);
        if heavy {
            prop_assert!(w[k as usize] > 0.0);
            prop_assert!(left >= 0.0);
            // The interval of k holds r, but for the rounding of sums.
            let before: f64 = w[..k as usize].iter().map(|&x| x as f64).sum();
            let rounding = sum(w) as f64 * 4.0 * 2f64.powi(-24);
            prop_assert!(r as f64 >= before - rounding, "{r} before {before}");
            prop_assert!(r as f64 <= before + w[k as usize] as f64 + rounding, "{r} after {before} + {}", w[k as usize]);
            prop_assert!((left as f64 - (r as f64 - before)).abs() <= rounding);
        }
    }

    #[test]
    fn rounding_past_the_end_picks_the_last_that_weighs(w in groups(), beyond in 1.0f32..2.0) {
        prop_assume!(sum(w) > 0.0);
        let (k, left) = pick(w, prefixes(w)[SIZE - 1] * beyond);
        prop_assert_eq!(Some(k as usize), w.iter().rposition(|&x| x > 0.0));
        prop_assert!(left > 0.0);
    }

    #[test]
    fn rounding_up_is_to_whole_groups(n in 0u32..1_000_000) {
        let up = round_up(n);
        prop_assert!(up.is_multiple_of(SIZE as u32) && up >= n && up < n + SIZE as u32);
    }
}

#[test]
fn r_chooses_by_half_open_intervals() {
    let w = [0.0, 2.0, 0.0, 1.0, 0.0, 4.0, 0.0, 0.0];
    for (r, expected) in [
        (0.0, (1, 0.0)),
        (1.5, (1, 1.5)),
        (2.0, (3, 0.0)),
        (2.75, (3, 0.75)),
        (3.0, (5, 0.0)),
        (6.5, (5, 3.5)),
        (7.0, (5, 4.0)),
    ] {
        assert_eq!(pick(w, r), expected, "{r}");
    }
}

#[test]
fn the_sum_is_a_tree() {
    // From left to right the ones would vanish one by one beside 2^24; in pairs they count.
    let big = 16_777_216.0;
    assert_eq!(sum([big, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]), big + 6.0);
}

#[test]
fn groups_are_loaded_in_order() {
    let row = Array::of(&std::array::from_fn::<f32, 16, _>(|i| i as f32));
    // SAFETY: the row holds two groups.
    let (a, b) = unsafe { (load(row.as_ptr()), load(row.as_ptr().add(SIZE))) };
    assert_eq!(a, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    assert_eq!(b, [8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]);
}
