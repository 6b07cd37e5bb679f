//! Costs: keys in their order, bits that bring them back.

use antwarp_core::papers::neighborhood::{Clock, Standing};
use antwarp_core::papers::search::{Contender, Cost, FORBIDDEN, candidate};
use proptest::prelude::*;

/// The order of keys is that of costs.
fn check<C: Cost>(a: C, b: C) {
    assert!(a.key() < 1 << 62);
    assert_eq!(C::from_bits(a.bits()).bits(), a.bits());
    assert!(a.agrees(a));
    assert_eq!(a.key().cmp(&b.key()), a.partial_cmp(&b).unwrap(), "{:x} and {:x}", a.bits(), b.bits());
    assert_eq!(a.above(b) > 0.0, a > b);
    assert_eq!(a.above(b) < 0.0, a < b);
}

proptest! {
    #[test]
    fn keys_of_integers_are_in_their_order(a in -1i64 << 61..1 << 61, b in -1i64 << 61..1 << 61) {
        check(a, b);
        check(a, a);
        check(a, (a + 1).min((1 << 61) - 1));
    }

    #[test]
    fn keys_of_single_numbers_are_in_their_order(a in -1e30f32..1e30, b in -1e30f32..1e30) {
        check(a, b);
        check(a, a.next_up());
        check(a / 1e30, b / 1e30);
    }

    #[test]
    fn keys_of_double_numbers_are_in_their_order(a in -1e30f64..1e30, b in -1e30f64..1e30) {
        check(a, b);
        // Two bits are left out.
        let more = (0..4).fold(a, |x, _| x.next_up());
        prop_assert!(a.key() + 1 == more.key());
    }

    #[test]
    fn the_winner_does_not_depend_on_the_order(keys: [(u8, u8); 6], from in 0usize..6) {
        let all: Vec<_> = (0..).zip(keys).map(|(i, (key, tag))| Contender {
            key: u64::from(key % 3),
            tag: u64::from(tag) << 8 | i,
            cost: i,
        }).collect();
        let winner = all.iter().fold(Contender::NONE, |best, own| best.or(*own));
        let turned = all[from..].iter().chain(&all[..from]);
        prop_assert_eq!(turned.rfold(Contender::NONE, |best, own| own.or(best)), winner);
        prop_assert_eq!(Some(winner), all.iter().copied().min_by_key(|own| (own.key, own.tag)));
    }
}

#[test]
fn ends_of_costs_have_keys() {
    check(-1i64 << 61, (1 << 61) - 1);
    check(f32::MIN, f32::MAX);
    check(f64::MIN, f64::MAX);
    check(-0.0f64, 0.0);
    check(-0.0f32, 0.0);
    check(f32::from_bits(1), 0.0);
}

#[test]
fn candidates_come_in_classes() {
    let most = (1 << 62) - 1;
    for (standing, key, best, class) in [
        (Standing::Free, 7, 7, 1),
        (Standing::Tabu, 7, 7, 2),
        (Standing::Overdue, 7, 7, 0),
        (Standing::Tabu, 6, 7, 0),
        (Standing::Free, 6, 7, 0),
        (Standing::Overdue, most, 0, 0),
        (Standing::Free, most, 0, 1),
        (Standing::Tabu, most, 0, 2),
    ] {
        let own = candidate(key, standing, best);
        assert_eq!((own >> 62, own & most), (class, key), "{standing:?}");
        assert_eq!(own >= FORBIDDEN, class == 2);
        assert!(own < Contender::NONE.key);
    }
}

#[test]
fn clocks_tell_what_is_tabu() {
    let clock = Clock { now: 100, aspiration: 30 };
    for (first, last, any, both) in [
        (100, 100, Standing::Free, Standing::Free),
        (101, 101, Standing::Tabu, Standing::Tabu),
        (100, 101, Standing::Tabu, Standing::Free),
        (70, 70, Standing::Free, Standing::Free),
        (69, 69, Standing::Overdue, Standing::Overdue),
        (69, 200, Standing::Overdue, Standing::Overdue),
        (u32::MAX, u32::MAX, Standing::Tabu, Standing::Tabu),
    ] {
        assert_eq!(clock.any(first, last), any, "{first}, {last}");
        assert_eq!(clock.both(first, last), both, "{first}, {last}");
        assert_eq!(clock.both(last, first), both, "{first}, {last}");
    }
    let never = Clock { now: u32::MAX, aspiration: u32::MAX };
    assert_eq!(never.any(0, 0), Standing::Free);
}
