//! The record of the shortest individual and when it came.

use crate::common::teams::Shareable;
use antwarp_core::papers::genetic::GenerationRules;
use antwarp_core::papers::genetic::generation::{improve_record, is_over, record, recorded};
use proptest::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The longest length that a record tells from others.
const MOST: i64 = (1 << 48) - 1;

fn rules(target: i64, since: u32) -> GenerationRules {
    GenerationRules {
        seed: 0,
        target,
        n: 4,
        group: 4,
        groups: 1,
        method: 0,
        mutation: 0,
        shuffled: 0,
        generation: 100 + since,
        since,
        directed: 0,
        unfinished: 0,
        window: 0,
        ring: 0,
    }
}

/// What a record says after some individuals.
fn after(first: u64, individuals: &[(i64, u32)]) -> u64 {
    let mut best = first;
    for &(cost, since) in individuals {
        // SAFETY: the record is a number of this function.
        unsafe { improve_record(&mut best, cost, since) };
    }
    best
}

fn over(target: i64, since: u32, mut best: u64) -> bool {
    // SAFETY: the record is a number of this function.
    unsafe { is_over(&rules(target, since), &mut best) }
}

#[test]
fn records_keep_what_fits_and_are_of_the_most_beyond() {
    for cost in [0, 1, 77, 1 << 32, MOST - 1, MOST] {
        for since in [0, 1, 255, 65_535] {
            assert_eq!(recorded(record(cost, since)), (cost, since));
        }
    }
    for cost in [MOST + 1, 1 << 50, i64::MAX] {
        assert_eq!(recorded(record(cost, 65_535)), (MOST, 65_535));
        assert_eq!(recorded(record(cost, 0)), (MOST, 0));
    }
}

proptest! {
    #[test]
    fn shorter_is_less_and_then_earlier_is(a in 0..=MOST, b in 0..=MOST, s in 0u32..65_536, t in 0u32..65_536) {
        prop_assert_eq!(record(a, s).cmp(&record(b, t)), (a, s).cmp(&(b, t)));
        prop_assert_eq!(record(a, s).cmp(&record(a, t)), s.cmp(&t));
        prop_assert!(record(a, s) <= record(i64::MAX, s));
    }

    #[test]
    fn the_least_record_stays(individuals in prop::collection::vec((0i64..50, 1u32..5), 1..20)) {
        let (cost, since) = *individuals.iter().min().unwrap();
        prop_assert_eq!(recorded(after(record(i64::MAX, 0), &individuals)), (cost, since));
        // Nothing longer than what the host knew, nor as long.
        let known = after(record(20, 0), &individuals);
        prop_assert_eq!(recorded(known), if cost < 20 { (cost, since) } else { (20, 0) });
    }

    /// Children of a generation hear the same, whatever the others have found already; those after it hear of it.
    #[test]
    fn a_generation_is_over_for_all_or_none_of_its_children(
        before in prop::collection::vec((0i64..40, 1u32..7), 0..6),
        now in prop::collection::vec(0i64..40, 1..6),
        host in 0i64..40,
        target in 0i64..40,
    ) {
        // A generation after one that reached the target finds nothing.
        let end = before.iter().filter(|individual| individual.0 <= target).map(|individual| individual.1).min().unwrap_or(7);
        let before: Vec<_> = before.into_iter().filter(|individual| individual.1 <= end).collect();
        let known = after(record(host, 0), &before);
        let expected = host <= target || end < 7;
        prop_assert_eq!(over(target, 7, known), expected);
        if !expected {
            for done in 1..=now.len() {
                let found: Vec<_> = now[..done].iter().map(|&cost| (cost, 7)).collect();
                prop_assert!(!over(target, 7, after(known, &found)), "over after {} children", done);
                let reached = now[..done].iter().any(|&cost| cost <= target);
                prop_assert_eq!(over(target, 8, after(known, &found)), reached);
            }
        }
    }
}

#[test]
fn nothing_is_over_before_the_target() {
    for (target, best, expected) in [
        (100, record(101, 1), false),
        (100, record(100, 1), true),
        (100, record(100, 2), true),
        (100, record(100, 3), false),
        (100, record(0, 65_535), false),
        (0, record(0, 0), true),
        (-1, record(0, 0), false),
        (i64::MIN, record(0, 0), false),
    ] {
        assert_eq!(over(target, 3, best), expected, "target {target}, record {:?}", recorded(best));
    }
}

#[test]
fn threads_keep_the_least_record() {
    // One thread finds ever shorter individuals while another finds long ones: what it loads and stores is one step, or the
    // least is lost now and then.
    let mut best = record(i64::MAX, 0);
    let shared = Shareable::new(&raw mut best);
    let done = AtomicBool::new(false);
    let lost = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                // SAFETY: both write by this function only.
                unsafe { improve_record(shared.get(), MOST, 1) }
            }
        });
        let mut lost = 0;
        for cost in (0..200_000).rev() {
            // SAFETY: as above, and what is read is read as an atomic.
            let found = unsafe {
                improve_record(shared.get(), cost, 2);
                (0..20).for_each(|_| std::hint::spin_loop());
                AtomicU64::from_ptr(shared.get()).load(Ordering::Relaxed)
            };
            lost += u32::from(recorded(found) != (cost, 2));
        }
        done.store(true, Ordering::Relaxed);
        lost
    });
    assert_eq!(lost, 0, "times the least was lost");
}
