//! Costs and links of closed tours.

use crate::common::memory::Array;
use crate::common::teams::{Alone, ORDERS, run};
use antwarp_core::distance::{Distances, Exceptions};
use antwarp_core::node::NodeId;
use antwarp_core::team::{Serial, Team};
use antwarp_core::tour;
use proptest::prelude::*;

fn cost<T: Team, I: NodeId>(team: T, distances: &[i32], tour: &[I]) -> i64 {
    let n = tour.len() as u32;
    assert_eq!(distances.len(), tour.len() * tour.len());
    let distance = Distances {
        matrix: distances.as_ptr(),
        points: std::ptr::null(),
        metric: None,
        n,
        exceptions: Exceptions::NONE,
    };
    // SAFETY: the matrix covers the tour's nodes.
    unsafe { tour::cost(team, n, distance, tour.as_ptr()) }
}

#[rustfmt::skip]
const DIRECTED: [i32; 16] = [
    0, 1, 20, 300,
    4, 0, 50, 600,
    7, 8, 0, 900,
    1000, 2000, 3000, 0,
];

#[test]
fn costs_close_the_tour_and_keep_its_direction() {
    assert_eq!(cost(Serial, &DIRECTED, &[0u16, 1, 2, 3]), 1 + 50 + 900 + 1000);
    assert_eq!(cost(Serial, &DIRECTED, &[3u32, 2, 1, 0]), 3000 + 8 + 4 + 300);
    assert_eq!(cost(Serial, &[0, 3, 5, 0], &[1u16, 0]), 8);
    assert_eq!(cost(Serial, &[0], &[0u16]), 0);
}

#[test]
fn costs_exceed_32_bits() {
    let distances: Vec<i32> = (0..25).map(|i| if i % 6 == 0 { 0 } else { i32::MAX }).collect();
    assert_eq!(cost(Serial, &distances, &[0u32, 1, 2, 3, 4]), 5 * i32::MAX as i64);
    for costs in run(3, ORDERS[0], |team| cost(team, &distances, &[0u32, 1, 2, 3, 4])) {
        assert_eq!(costs, 5 * i32::MAX as i64);
    }
}

#[test]
fn every_member_of_every_team_knows_the_cost() {
    for size in [3, 4, 32] {
        for order in ORDERS {
            let costs = run(size, order, |team| cost(team, &DIRECTED, &[2u16, 0, 3, 1]));
            assert_eq!(costs, vec![7 + 300 + 2000 + 50; size as usize], "{order:?}");
        }
    }
}

fn permutations() -> impl Strategy<Value = Vec<u16>> {
    (1u16..100).prop_flat_map(|n| Just((0..n).collect::<Vec<_>>()).prop_shuffle())
}

proptest! {
    #![proptest_config(crate::common::cases(256))]

    #[test]
    fn links_lead_around_the_tour(tour in permutations(), size in 1u32..5) {
        let n = tour.len();
        let (mut successor, mut predecessor) = (Array::<u32>::rubbish(n), Array::<u32>::rubbish(n));
        let (s, p) = (successor.slots(), predecessor.slots());
        for rank in 0..size {
            // SAFETY: both arrays have n elements.
            unsafe { tour::links(Alone { rank, size }, n as u32, tour.as_ptr(), s, p) }
        }
        for i in 0..n {
            let (a, b) = (tour[i], tour[(i + 1) % n]);
            prop_assert_eq!((successor[a as usize], predecessor[b as usize]), (b as u32, a as u32));
        }
    }

    #[test]
    fn costs_do_not_depend_on_where_a_tour_begins(tour in permutations(), shift in 0usize..100) {
        let n = tour.len();
        let distances: Vec<i32> = (0..n * n).map(|i| ((i * 7919) % 1009) as i32).collect();
        let mut turned = tour.clone();
        turned.rotate_left(shift % n);
        prop_assert_eq!(cost(Serial, &distances, &tour), cost(Serial, &distances, &turned));
    }
}

#[test]
fn shared_values_arrive_at_every_member() {
    // What the tests of teams rest on: each member sees the reductions over all.
    for order in ORDERS {
        let results = run(5, order, |team| {
            let rank = team.rank();
            let most = team.arg_max([3, 9, 1, 9, 2][rank as usize], 10 - rank, 50 + rank);
            (most, team.sum(u64::MAX - rank as u64), team.min(7 + (rank as u64 + 2) % 5))
        });
        let sum = u64::MAX.wrapping_mul(5).wrapping_sub(10);
        assert_eq!(results, vec![((9, 53), sum, 7); 5], "{order:?}");
    }
}
