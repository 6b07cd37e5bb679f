//! Reductions over a team, the numbers of some of its members, and the bounds of what they share.

use crate::common::teams::{ORDERS, run, run_in_parts};
use antwarp_core::team::{Seat, Serial, Slots, Team, seat};

/// What one member is told.
#[derive(Debug, PartialEq)]
struct Told {
    rank: u32,
    ranks_among: Vec<(u32, u32)>,
    sums_before: Vec<(u32, u32)>,
    sum: u64,
    min: u64,
    arg_max: (u32, u32),
}

/// Whether a member comes with true, in round `round`.
fn flag(rank: u32, round: u32) -> bool {
    match round {
        0 => false,
        1 => true,
        2 => rank == 0,
        _ => (rank.wrapping_mul(2_654_435_761) >> (round + 8)).is_multiple_of(2),
    }
}

/// What a member brings to a sum, which may be more than 32 bits hold.
fn weight(rank: u32, round: u32) -> u32 {
    (rank + 1).wrapping_mul(2_654_435_761) >> (4 * round)
}

const ROUNDS: u32 = 8;

fn ask<T: Team>(team: T) -> Told {
    let rank = team.rank();
    Told {
        rank,
        // One after another: no member may see what another one brings to the next.
        ranks_among: (0..ROUNDS).map(|round| team.rank_among(flag(rank, round))).collect(),
        sums_before: (0..ROUNDS).map(|round| team.sum_before(weight(rank, round))).collect(),
        sum: team.sum(u64::from(rank) + (1 << 40)),
        min: team.min(1000 - u64::from(rank)),
        arg_max: team.arg_max(7 + rank / 2, 50 - rank, rank),
    }
}

fn expected(rank: u32, size: u32) -> Told {
    let among = |round| {
        let before = (0..rank).filter(|&r| flag(r, round)).count() as u32;
        (before, (0..size).filter(|&r| flag(r, round)).count() as u32)
    };
    let sums = |round| {
        let sum = |end| (0..end).map(|r| weight(r, round)).fold(0, u32::wrapping_add);
        (sum(rank), sum(size))
    };
    // The last members have the largest key; of two the second has the smaller tag.
    Told {
        rank,
        ranks_among: (0..ROUNDS).map(among).collect(),
        sums_before: (0..ROUNDS).map(sums).collect(),
        sum: u64::from(size * (size - 1) / 2) + (u64::from(size) << 40),
        min: u64::from(1001 - size),
        arg_max: (7 + (size - 1) / 2, size - 1),
    }
}

fn check(told: Vec<Told>) {
    let size = told.len() as u32;
    for (rank, told) in (0..).zip(told) {
        assert_eq!(told, expected(rank, size), "of {size}");
    }
}

#[test]
fn a_team_of_one_has_nobody_before_it() {
    check(vec![ask(Serial)]);
}

#[test]
fn members_are_numbered_among_those_with_a_flag() {
    for size in [1, 2, 3, 7, 32] {
        ORDERS.iter().for_each(|&order| check(run(size, order, |team| ask(team))));
    }
}

#[test]
fn parts_number_their_own_members() {
    for (parts, size) in [(1, 3), (2, 2), (3, 1), (2, 3), (4, 4)] {
        check(run_in_parts(parts, size, |team| ask(team)));
        let own = run_in_parts(parts, size, |team| ask(team.part()));
        own.chunks(size as usize).for_each(|part| {
            (0..).zip(part).for_each(|(rank, told)| assert_eq!(*told, expected(rank, size)));
        });
    }
}

#[test]
fn every_member_is_in_one_part() {
    let seen =
        run_in_parts(3, 2, |team| (team.parts(), team.part_rank(), team.part().rank(), team.part().size()));
    let all: Vec<_> = (0..6).map(|rank| (3, rank / 2, rank % 2, 2)).collect();
    assert_eq!(seen, all);
    assert_eq!((Serial.parts(), Serial.part_rank(), Serial.part().size()), (1, 0, 1));
}

/// Whether an access to an array of three words, of which one more follows in memory, is refused.
fn is_refused(access: impl FnOnce(Slots<u32>)) -> bool {
    let mut words = [0; 4];
    // SAFETY: the words live until the access is over.
    let slots = unsafe { Slots::new(words.as_mut_ptr(), 3) };
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| access(slots))).is_err()
}

#[test]
fn nothing_outside_an_array_is_used() {
    // SAFETY: what is not refused is inside the words.
    unsafe {
        for i in 0..4 {
            assert_eq!(is_refused(|slots| _ = slots.get(i)), i > 2);
            assert_eq!(is_refused(|slots| slots.set(i, 1)), i > 2);
            assert_eq!(is_refused(|slots| _ = slots.at(i)), i > 2);
            assert_eq!(is_refused(|slots| slots.insert::<Serial>(i, 1)), i > 2);
            assert_eq!(is_refused(|slots| _ = slots.count::<Serial>(i)), i > 2);
            assert_eq!(is_refused(|slots| slots.add::<Serial>(i, 1)), i > 2);
            assert_eq!(is_refused(|slots| slots.clear(i, 1)), i > 2);
            assert_eq!(is_refused(|slots| _ = slots.run(i, 2)), i > 1);
            assert_eq!(is_refused(|slots| _ = slots.part(i as usize, 1).at(0)), i > 2);
            assert_eq!(is_refused(|slots| _ = slots.part(1, 2).at(i)), i > 1);
        }
        assert!(is_refused(|slots| _ = slots.part(usize::MAX, 2)));
        assert!(is_refused(|slots| _ = slots.part(3, 1)) && !is_refused(|slots| _ = slots.part(3, 0)));
        assert!(std::panic::catch_unwind(|| Slots::<u64>::none().raise::<Serial>(0, 1)).is_err());
    }
}

#[test]
fn every_place_has_a_seat_for_each_turn() {
    for (n, members) in [
        (1, 1),
        (1, 5),
        (2, 1),
        (7, 3),
        (7, 7),
        (60, 512),
        (100, 512),
        (100, 33),
        (5915, 67_584),
        (4_000_000, 1_000),
    ] {
        for member in (0..members).step_by(1 + members as usize / 5000) {
            let Seat { place, turn, turns } = seat(n, members, member);
            assert_eq!((place, turn, turns), (member % n, member / n, (members / n).max(1)), "{n} {member}");
        }
    }
    // Many more members than places are few turns if there are many places.
    for (n, members) in [(1500, u32::MAX - 1500), (6_000_000, u32::MAX - 6_000_000)] {
        for member in (0..2000).map(|i| i * (members / 2000)).chain([members - 1]) {
            assert_eq!(seat(n, members, member).turn, member / n, "{n} {member}");
        }
    }
    let largest = (1 << 22) - 1;
    for n in [1, 2, 3, 5, 127, 128, 129, 1000, 32_768, 65_537, 2_097_151, 2_097_152] {
        for member in (0..2000).map(|i| largest - i * 1777).chain((1..40).map(|i| i * (largest / 40 / n) * n))
        {
            assert_eq!(seat(n, largest, member).turn, member / n, "{n} {member}");
        }
    }
}
