//! Double bridges, and where they cut.

use crate::common::statistics::{LEVEL, uniformity};
use crate::common::world::{Bench, Dice, Edge, World, edge, edges, replaced};
use antwarp_core::lin_kernighan::trial::tolerance;
use antwarp_core::papers::local_search::perturb::{Cut, STEPS, longer, step};
use antwarp_core::rng::Stream;
use antwarp_core::team::Serial;
use proptest::prelude::*;

proptest! {
    #[test]
    fn cuts_are_inside_the_tour(n in 4u32..2000, longest in 1u32..300, seed: u64) {
        let draws = Stream::new(seed, 0, 0).step(1);
        let local = Cut::local(draws, n, longest);
        prop_assert!(local.lengths.iter().all(|length| (1..=longest).contains(length)));
        for cut in [local, Cut::anywhere(draws, n)] {
            prop_assert!(cut.first < n && cut.lengths.iter().all(|&length| length > 0));
            prop_assert!(cut.lengths.iter().sum::<u32>() < n);
        }
    }
}

/// The positions behind which a cut removes edges, in order.
fn cut_edges(cut: Cut, n: u32) -> [u32; 4] {
    let [b, c, d] = cut.lengths;
    let mut all = [0, b, b + c, b + c + d].map(|offset| (cut.first + offset) % n);
    all.sort_unstable();
    all
}

#[test]
fn four_edges_anywhere_are_any_four_edges() {
    let n = 8;
    let mut sets = Vec::new();
    for a in 0..n {
        for b in a + 1..n {
            for c in b + 1..n {
                sets.extend((c + 1..n).map(|d| [a, b, c, d]));
            }
        }
    }
    let mut counts = vec![0; sets.len()];
    let stream = Stream::new(1, 2, 3);
    for step in 0..70_000 {
        let cut = cut_edges(Cut::anywhere(stream.step(step), n), n);
        counts[sets.binary_search(&cut).unwrap()] += 1;
    }
    assert_eq!(counts.len(), 70);
    assert!(uniformity(&counts) > LEVEL, "{counts:?}");
}

#[test]
fn local_cuts_are_any_segments_up_to_the_longest() {
    // Of 20 nodes segments can be 6 long; of 8, 2.
    for (n, longest, most) in [(20, 3, 3), (20, 50, 6), (8, 50, 2)] {
        let mut counts = vec![0; (n * most * most * most) as usize];
        let stream = Stream::new(4, 5, n);
        for step in 0..20 * counts.len() as u32 {
            let Cut { first, lengths: [b, c, d] } = Cut::local(stream.step(step), n, longest);
            counts[(((first * most + b - 1) * most + c - 1) * most + d - 1) as usize] += 1;
        }
        assert!(uniformity(&counts) > LEVEL, "n {n}, longest {longest}");
    }
}

/// A D C B, with A to the node at the cut's first position, and the edges between.
fn bridged(tour: &[u32], cut: Cut) -> (Vec<u32>, Vec<Edge>, Vec<Edge>) {
    let mut from_b = tour.to_vec();
    from_b.rotate_left((cut.first as usize + 1) % tour.len());
    let [b, c, d] = cut.lengths.map(|length| length as usize);
    let (bs, rest) = from_b.split_at(b);
    let (cs, rest) = rest.split_at(c);
    let (ds, a) = rest.split_at(d);
    let joints = |parts: [&[u32]; 4]| -> Vec<Edge> {
        (0..4).map(|i| edge(*parts[i].last().unwrap(), parts[(i + 1) % 4][0])).collect()
    };
    ([a, ds, cs, bs].concat(), joints([a, bs, cs, ds]), joints([a, ds, cs, bs]))
}

/// Whether a removal of three edges in favour of three others leads from one set of edges to the other.
fn are_three_apart(from: &[Edge], to: &[Edge]) -> bool {
    let mut left = from.to_vec();
    to.iter().for_each(|e| {
        if let Some(at) = left.iter().position(|other| other == e) {
            left.remove(at);
        }
    });
    left.len() <= 3
}

#[test]
fn a_double_bridge_turns_a_b_c_d_into_a_d_c_b() {
    let mut dice = Dice::new(61);
    let mut whole = 0;
    for n in (4..60).cycle().take(3000) {
        let world = World::lawless(n, 1, 100, &mut dice);
        let tour = dice.shuffled(n);
        let draws = Stream::new(62, 0, n).step(dice.below(1 << 30));
        let cut = if dice.below(2) == 0 { Cut::anywhere(draws, n) } else { Cut::local(draws, n, 5) };
        let (expected, removed, added) = bridged(&tour, cut);
        let mut bench = Bench::<u16>::of(&world, &tour);
        let ends = cut.ends(n).map(|position| tour[position as usize]);
        // SAFETY: the cut is inside the tour.
        let longer = unsafe {
            for number in 0..STEPS {
                assert!(bench.tour().can_exchange(step(ends, number)), "{cut:?} of {tour:?}");
                bench.tour().exchange(Serial, step(ends, number));
            }
            longer(world.numbered(), ends)
        };
        let new = bench.nodes();
        assert_eq!(edges(&new), edges(&expected), "{cut:?} of {tour:?}");
        assert_eq!(replaced(&edges(&tour), &removed, &added), Some(edges(&new)));
        assert_eq!(longer, world.cost(&new) - world.cost(&tour), "{cut:?} of {tour:?}");
        // Two neighbouring segments of one node each keep the edge between them.
        let [b, c, d] = cut.lengths;
        let lengths = [n - b - c - d, b, c, d];
        if (0..4).all(|i| lengths[i] + lengths[(i + 1) % 4] > 2) {
            assert!(removed.iter().all(|e| !added.contains(e)));
            assert!(!are_three_apart(&edges(&new), &edges(&tour)));
            whole += 1;
        }
    }
    assert!(whole > 1500, "{whole}");
}

#[test]
fn what_a_tour_may_get_longer_is_exponential_with_the_temperature_as_its_mean() {
    let stream = Stream::new(71, 0, 0);
    let draws: Vec<i64> = (0..100_000).map(|i| tolerance(1000.0, stream.step(i).bits(0))).collect();
    let mean = draws.iter().sum::<i64>() as f64 / draws.len() as f64;
    assert!((mean - 1000.0).abs() < 20.0, "{mean}");
    // A share of 1 / e is beyond the mean.
    let beyond = draws.iter().filter(|&&draw| draw > 1000).count() as f64 / draws.len() as f64;
    assert!((beyond - (-1f64).exp()).abs() < 0.01, "{beyond}");
    for bits in [0, 1, 1 << 31, u32::MAX] {
        assert_eq!((tolerance(0.0, bits), tolerance(-1.0, bits)), (0, -1));
        assert_eq!(tolerance(f32::INFINITY, bits), i64::MAX);
    }
}
