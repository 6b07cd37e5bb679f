//! Every tabu against a set of unvisited nodes.

use crate::common::memory::Array;
use crate::common::teams::Alone;
use antwarp_core::group::SIZE;
use antwarp_core::papers::ants::construct::row_stride;
use antwarp_core::papers::ants::tabu::{Bitmask, Compact, ListCompression, NONE, Tabu};
use antwarp_core::rng::Stream;
use antwarp_core::team::Serial;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A tabu with its memory.
struct Owned<B> {
    tabu: B,
    _memory: Array<u8>,
}

impl<B: Tabu> Owned<B> {
    fn new(n: u32) -> Self {
        assert_eq!(B::bytes(n) % 16, 0);
        let mut memory = Array::rubbish(B::bytes(n));
        // SAFETY: the memory has the right size and moves with the tabu.
        let mut tabu = unsafe { B::new(memory.start(), n) };
        tabu.reset(Serial);
        Owned { tabu, _memory: memory }
    }

    fn slots(&self) -> Vec<Option<u32>> {
        (0..self.tabu.length()).map(|slot| self.tabu.candidate(slot)).collect()
    }
}

/// A row as the choice of a next node reads it: node v weighs something like v + 1, the padding nothing.
fn row_of_weights(n: u32) -> Array<f32> {
    let weights: Vec<f32> =
        (0..row_stride(n)).map(|v| if v < n { 0.5 + 1.25 * v as f32 } else { 0.0 }).collect();
    Array::of(&weights)
}

/// Number of slots: what is unvisited, or all nodes.
#[derive(Clone, Copy, PartialEq)]
enum Slots {
    Unvisited,
    Nodes,
}

fn check<B: Tabu>(n: u32, owned: &Owned<B>, model: &BTreeSet<u32>, row: &Array<f32>, slots: Slots) {
    let tabu = &owned.tabu;
    for node in 0..n {
        assert_eq!(tabu.is_visited(node), !model.contains(&node), "node {node} of {n}");
    }
    assert_eq!(tabu.length(), if slots == Slots::Nodes { n } else { model.len() as u32 });

    let candidates = owned.slots();
    let mut found: Vec<u32> = candidates.iter().flatten().copied().collect();
    found.sort_unstable();
    assert!(found.iter().eq(model), "slots of {n} nodes hold {found:?}, unvisited are {model:?}");

    for group in 0..tabu.length().div_ceil(SIZE as u32) {
        // SAFETY: the row is padded with zeros, the group begins below the length.
        let weights = unsafe { tabu.weights(Serial, row.as_ptr(), group) };
        for (k, weight) in weights.into_iter().enumerate() {
            let node = candidates.get(group as usize * SIZE + k).copied().flatten();
            assert_eq!(weight, node.map_or(0.0, |v| row[v as usize]), "group {group}, member {k}, n {n}");
        }
    }

    for size in [1, 3] {
        let mut met = Vec::new();
        for rank in 0..size {
            tabu.for_each_unvisited(Alone { rank, size }, |four| {
                met.extend(four.into_iter().filter(|&v| v != NONE))
            });
        }
        met.sort_unstable();
        assert!(met.iter().eq(model), "a team of {size} met {met:?}, unvisited are {model:?}");
    }
}

/// Visits nodes in the given order and compares with the set after each of the first and last `near` marks, and
/// of those between after every `stride`-th.
fn follow<B: Tabu>(n: u32, order: &[u32], slots: Slots, (near, stride): (usize, usize)) {
    let row = row_of_weights(n);
    let mut owned = Owned::<B>::new(n);
    // Once through, and once more in the same memory.
    for _ in 0..2 {
        let mut model: BTreeSet<u32> = (0..n).collect();
        check(n, &owned, &model, &row, slots);
        for (i, &node) in order.iter().enumerate() {
            owned.tabu.mark(Serial, node);
            model.remove(&node);
            if i < near || i + near >= order.len() || i % stride == 0 {
                check(n, &owned, &model, &row, slots);
            }
        }
        owned.tabu.reset(Serial);
    }
}

fn follow_all(n: u32, order: &[u32]) {
    let always = (order.len(), 1);
    follow::<ListCompression<u16>>(n, order, Slots::Unvisited, always);
    follow::<ListCompression<u32>>(n, order, Slots::Unvisited, always);
    follow::<Compact<u16>>(n, order, Slots::Unvisited, always);
    follow::<Compact<u32>>(n, order, Slots::Unvisited, always);
    follow::<Bitmask>(n, order, Slots::Nodes, always);
}

/// A pseudorandom order of n nodes.
fn shuffled(n: u32) -> Vec<u32> {
    let draws = Stream::new(n as u64, 0, 0).step(0);
    let mut order: Vec<u32> = (0..n).collect();
    order.sort_by_key(|&v| draws.bits(v));
    order
}

fn orders() -> impl Strategy<Value = (u32, Vec<u32>)> {
    let most = if cfg!(miri) { 40 } else { 300 };
    let n = prop_oneof![1u32..most, prop::sample::select(vec![1u32, 7, 8, 9, 31, 32, 33, 63, 64, 65, 128])];
    n.prop_flat_map(|n| (Just(n), Just((0..n).collect::<Vec<u32>>()).prop_shuffle(), 0..=n))
        .prop_map(|(n, order, marks)| (n, order[..marks as usize].to_vec()))
}

proptest! {
    #![proptest_config(crate::common::cases(48))]

    #[test]
    fn tabus_follow_the_set_of_unvisited_nodes((n, order) in orders()) {
        follow_all(n, &order);
    }
}

#[test]
fn every_node_of_awkward_sizes_is_visited() {
    let sizes = [1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65];
    for &n in &sizes[..if cfg!(miri) { 8 } else { sizes.len() }] {
        follow_all(n, &shuffled(n));
        follow_all(n, &(0..n).collect::<Vec<_>>());
        follow_all(n, &(0..n).rev().collect::<Vec<_>>());
    }
}

#[test]
#[cfg_attr(miri, ignore = "too large")]
fn sixteen_bits_hold_65_535_nodes() {
    let (n, seldom) = (65_535, (2, 10_000));
    follow::<ListCompression<u16>>(n, &shuffled(n), Slots::Unvisited, seldom);
    follow::<Compact<u16>>(n, &shuffled(n), Slots::Unvisited, seldom);
    follow::<Bitmask>(n, &shuffled(n), Slots::Nodes, seldom);
}

#[test]
#[cfg_attr(miri, ignore = "too large")]
fn thirty_two_bits_hold_70_000_nodes() {
    let (n, seldom) = (70_000, (2, 10_000));
    follow::<ListCompression<u32>>(n, &shuffled(n), Slots::Unvisited, seldom);
    follow::<Compact<u32>>(n, &shuffled(n), Slots::Unvisited, seldom);
    follow::<Bitmask>(n, &shuffled(n), Slots::Nodes, seldom);
}

#[test]
fn figures_3_and_4_of_skinderowicz_2020() {
    fn slots_after_each<B: Tabu>() -> Vec<Vec<u32>> {
        let mut owned = Owned::<B>::new(8);
        let mark = |node| {
            owned.tabu.mark(Serial, node);
            owned.slots().into_iter().flatten().collect()
        };
        [2, 5, 7].map(mark).to_vec()
    }
    let figure = [vec![0, 1, 7, 3, 4, 5, 6], vec![0, 1, 7, 3, 4, 6], vec![0, 1, 6, 3, 4]];
    assert_eq!(slots_after_each::<ListCompression<u16>>(), figure);
    assert_eq!(slots_after_each::<ListCompression<u32>>(), figure);
    assert_eq!(slots_after_each::<Compact<u16>>(), figure);
    assert_eq!(slots_after_each::<Compact<u32>>(), figure);
    let nodes = [vec![0, 1, 3, 4, 5, 6, 7], vec![0, 1, 3, 4, 6, 7], vec![0, 1, 3, 4, 6]];
    assert_eq!(slots_after_each::<Bitmask>(), nodes);
}

#[test]
fn memory_is_as_small_as_table_1_says() {
    // Table 1, rounded up to whole groups and 16 bytes: 4 n, 2 n, n / 8 bytes.
    assert_eq!(ListCompression::<u16>::bytes(1000), 4000);
    assert_eq!(Compact::<u16>::bytes(1000), 2000);
    assert_eq!(Bitmask::bytes(1000), 128);
    assert_eq!(ListCompression::<u32>::bytes(1000), 8000);
    assert_eq!(Compact::<u32>::bytes(1000), 4000);
}
