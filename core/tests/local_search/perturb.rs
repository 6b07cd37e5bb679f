//! Double bridges, and where they cut.

use crate::common::memory::Array;
use crate::common::statistics::{LEVEL, uniformity};
use crate::common::teams::Shareable;
use crate::world::{Bench, Crew, Dice, Edge, Job, World, crews, edge, edges, replaced};
use antwarp_core::geometry::{Numbered, Places};
use antwarp_core::local_search::descend::Journal;
use antwarp_core::local_search::links::{Free, Pieces};
use antwarp_core::local_search::perturb::{Cut, STEPS, double_bridge};
use antwarp_core::local_search::{Dirty, View};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Slots, Team};
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
pub fn bridged(tour: &[u32], cut: Cut) -> (Vec<u32>, Vec<Edge>, Vec<Edge>) {
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

struct Bridge {
    view: Shareable<View<u16, Places<Numbered>, Free>>,
    dirty: Shareable<Dirty>,
    entries: Shareable<Slots<u16>>,
    cut: Cut,
    back: bool,
}

impl Job for Bridge {
    type Result = Option<i64>;
    fn work<T: Team>(&self, team: T) -> Option<i64> {
        // SAFETY: the cut is inside the tour, all is this team's.
        unsafe {
            let mut journal = Journal::new(self.entries.get(), STEPS);
            let view = self.view.get();
            let longer = double_bridge(team, view, self.dirty.get(), self.cut, &mut journal);
            if self.back {
                journal.undo(team, view);
            }
            longer
        }
    }
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
        let mut bench = Bench::<u16>::of(&world, &tour, STEPS);
        let bridge = |bench: &mut Bench<u16>, back| Bridge {
            view: Shareable::new(bench.view(world.numbered(), 1, Free)),
            dirty: Shareable::new(bench.dirty()),
            entries: Shareable::new(bench.journal.slots()),
            cut,
            back,
        };
        let longer = Crew::One.run(bridge(&mut bench, false));
        let new = bench.nodes();
        assert_eq!(edges(&new), edges(&expected), "{cut:?} of {tour:?}");
        assert_eq!(replaced(&edges(&tour), &removed, &added), Some(edges(&new)));
        assert_eq!(longer, Some(world.cost(&new) - world.cost(&tour)), "{cut:?} of {tour:?}");
        let ends: Vec<u32> = removed.iter().flat_map(|e| [e.0, e.1]).collect();
        assert!((0..n).all(|node| bench.is_dirty(node) == ends.contains(&node)), "{cut:?} of {tour:?}");
        // Two neighbouring segments of one node each keep the edge between them.
        let [b, c, d] = cut.lengths;
        let lengths = [n - b - c - d, b, c, d];
        if (0..4).all(|i| lengths[i] + lengths[(i + 1) % 4] > 2) {
            assert!(removed.iter().all(|e| !added.contains(e)));
            assert!(!are_three_apart(&edges(&new), &edges(&tour)));
            whole += 1;
        }
        // And back.
        let mut bench = Bench::<u16>::of(&world, &tour, STEPS);
        Crew::One.run(bridge(&mut bench, true));
        assert_eq!(edges(&bench.nodes()), edges(&tour));
    }
    assert!(whole > 1500, "{whole}");
}

#[test]
fn teams_build_the_same_bridges() {
    let mut dice = Dice::new(63);
    for n in [4, 9, 50] {
        let world = World::lawless(n, 1, 100, &mut dice);
        let tour = dice.shuffled(n);
        for step in 0..3 {
            let cut = Cut::anywhere(Stream::new(64, 0, n).step(step), n);
            let run = |crew: Crew| {
                let mut bench = Bench::<u16>::of(&world, &tour, STEPS);
                let longer = crew.run(Bridge {
                    view: Shareable::new(bench.view(world.numbered(), 1, Free)),
                    dirty: Shareable::new(bench.dirty()),
                    entries: Shareable::new(bench.journal.slots()),
                    cut,
                    back: false,
                });
                (longer, bench.nodes(), bench.dirty.to_vec(), bench.journal.to_vec())
            };
            let alone = run(Crew::One);
            for crew in crews() {
                assert_eq!(run(crew), alone, "{crew:?}, {cut:?}");
            }
        }
    }
}

#[test]
fn a_link_between_the_first_cut_and_the_last_forbids_a_bridge() {
    let mut dice = Dice::new(65);
    let mut seen = [0; 2];
    for n in (4..30).cycle().take(2000) {
        let world = World::lawless(n, 1, 100, &mut dice);
        // Links join nodes in a row; the tour is turned or reflected.
        let mut tour: Vec<u32> = (0..n).collect();
        tour.rotate_left(dice.below(n) as usize);
        if dice.below(2) == 0 {
            tour.reverse();
        }
        let heads = dice.shuffled(n)[..1 + dice.below(2) as usize].to_vec();
        let mut words = vec![0u32; n.div_ceil(32) as usize];
        heads.iter().for_each(|head| words[*head as usize / 32] |= 1 << (head % 32));
        let (mut bits, mut heads_array) = (Array::of(&words), Array::<u32>::of(&heads));
        let links = Pieces { n, bits: bits.slots(), heads: heads_array.slots(), count: heads.len() as u32 };
        let cut = Cut::local(Stream::new(66, 0, n).step(dice.below(1 << 30)), n, 3);
        let mut bench = Bench::<u16>::of(&world, &tour, STEPS);
        let view = bench.view(world.numbered(), 1, links);
        let (dirty, mut journal) = (bench.dirty(), bench.journal());
        // SAFETY: the cut is inside the tour.
        let longer = unsafe { double_bridge(Serial, view, dirty, cut, &mut journal) };
        let fixed: Vec<Edge> = heads.iter().map(|&head| edge(head, (head + 1) % n)).collect();
        let span = cut.lengths.iter().sum::<u32>() + 1;
        let at = |offset: u32| tour[((cut.first + offset) % n) as usize];
        let in_the_way = (0..span).any(|offset| fixed.contains(&edge(at(offset), at(offset + 1))));
        assert_eq!(longer.is_none(), in_the_way, "{cut:?} of {tour:?}, {heads:?}");
        if in_the_way {
            assert_eq!(bench.nodes(), tour);
            assert!(journal.has_room(STEPS) && bench.dirty.iter().all(|&word| word == 0));
        } else {
            let new = edges(&bench.nodes());
            assert!(fixed.iter().all(|link| new.contains(link)));
        }
        seen[in_the_way as usize] += 1;
    }
    assert!(seen.iter().all(|&times| times > 300), "{seen:?}");
}
