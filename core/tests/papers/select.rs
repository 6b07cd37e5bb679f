//! Both selections choose with exactly the probabilities that the weights ask for.

use crate::common::memory::Array;
use crate::common::statistics::{LEVEL, fit, likeness};
use antwarp_core::papers::ants::construct::{full_leaves, row_stride};
use antwarp_core::papers::ants::select::{Reservoir, Roulette, Select};
use antwarp_core::papers::ants::tabu::{Bitmask, Compact, ListCompression, Tabu};
use antwarp_core::rng::Stream;
use antwarp_core::team::Serial;

/// Scratch memory for a selection, and its choices.
struct Chooser<S> {
    scratch: Array<f32>,
    of: std::marker::PhantomData<S>,
}

impl<S: Select> Chooser<S> {
    fn new(leaves: u32) -> Self {
        Chooser { scratch: Array::rubbish(S::scratch(leaves) as usize), of: Default::default() }
    }

    fn leaf(&mut self, weights: &[f32], stream: Stream, step: u32) -> Option<u32> {
        let weight = |i: u32| (i, weights[i as usize]);
        let scratch = self.scratch.slots();
        // SAFETY: the scratch has the size for this number of leaves.
        unsafe { S::candidate(Serial, weights.len() as u32, weight, stream.step(step), scratch) }
    }

    fn node<B: Tabu>(&mut self, tabu: &B, row: &Array<f32>, stream: Stream, step: u32) -> u32 {
        let scratch = self.scratch.slots();
        // SAFETY: the row is padded with zeros, the scratch fits, and a node is unvisited.
        unsafe { S::unvisited(Serial, tabu, row.as_ptr(), stream.step(step), scratch) }
    }
}

fn leaf_counts<S: Select>(weights: &[f32], draws: u32, seed: u64) -> Vec<u64> {
    let mut chooser = Chooser::<S>::new(weights.len() as u32);
    let mut counts = vec![0; weights.len()];
    for step in 0..draws {
        let leaf = chooser.leaf(weights, Stream::new(seed, 0, 0), step).expect("a weight is positive");
        counts[leaf as usize] += 1;
    }
    counts
}

/// How often each node is chosen after `visited` have been visited.
fn node_counts<B: Tabu, S: Select>(weights: &[f32], visited: &[u32], draws: u32, seed: u64) -> Vec<u64> {
    let n = weights.len() as u32;
    let mut row = weights.to_vec();
    row.resize(row_stride(n) as usize, 0.0);
    let row = Array::of(&row);
    let mut memory = Array::<u8>::rubbish(B::bytes(n));
    // SAFETY: the memory has the right size and outlives the tabu.
    let mut tabu = unsafe { B::new(memory.start(), n) };
    tabu.reset(Serial);
    visited.iter().for_each(|&v| tabu.mark(Serial, v));
    let mut chooser = Chooser::<S>::new(full_leaves(n));
    let mut counts = vec![0; weights.len()];
    for step in 0..draws {
        counts[chooser.node(&tabu, &row, Stream::new(seed, 1, 0), step) as usize] += 1;
    }
    counts
}

fn exact(weights: &[f32]) -> Vec<f64> {
    weights.iter().map(|&w| w as f64).collect()
}

/// Weights from 1 down over `decades` powers of ten, in no order.
fn skewed(n: u32, decades: f32) -> Vec<f32> {
    let draws = Stream::new(n as u64, 0, 0).step(0);
    let mut weights: Vec<f32> =
        (0..n).map(|i| 10f32.powf(-decades * i as f32 / (n - 1).max(1) as f32)).collect();
    for i in (1..n).rev() {
        weights.swap(i as usize, draws.below(i, i + 1) as usize);
    }
    weights
}

fn assert_fit(counts: &[u64], weights: &[f64], what: &str) {
    let p = fit(counts, weights);
    assert!(p > LEVEL, "{what}: p = {p}");
}

/// Sizes around a group of eight and its square, with weights of several shapes.
fn cases() -> Vec<(String, Vec<f32>)> {
    let mut cases = vec![("with zeros".into(), vec![0.0, 3.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 5.0, 0.0])];
    for n in [2, 5, 8, 9, 40, 65] {
        cases.push((format!("{n} equal"), vec![0.7; n as usize]));
        cases.push((format!("{n} over two decades"), skewed(n, 2.0)));
        if n > 2 {
            cases.push((format!("{n} over six decades"), skewed(n, 6.0)));
        }
        if n > 8 {
            cases.push((format!("{n} over twenty decades"), skewed(n, 20.0)));
        }
    }
    let least = |i: u32| f32::MIN_POSITIVE * (1 + i) as f32;
    cases.push(("5 near the least normal number".into(), (0..5).map(least).collect()));
    cases.push(("20 near the least normal number".into(), (0..20).map(least).collect()));
    cases.push(("5 great".into(), [1.0, 2.0, 3.0, 4.0, 5.0].map(|w| w * 1e26).to_vec()));
    cases
}

const DRAWS: u32 = 150_000;

#[test]
#[cfg_attr(miri, ignore = "statistics of many draws")]
fn leaves_are_chosen_by_weight() {
    for (i, (name, weights)) in cases().into_iter().enumerate() {
        let reservoir = leaf_counts::<Reservoir>(&weights, DRAWS, i as u64);
        let roulette = leaf_counts::<Roulette>(&weights, DRAWS, 100 + i as u64);
        assert_fit(&reservoir, &exact(&weights), &format!("reservoir, {name}"));
        assert_fit(&roulette, &exact(&weights), &format!("roulette, {name}"));
        let p = likeness(&reservoir, &roulette);
        assert!(p > LEVEL, "{name}: p = {p} that reservoir and roulette are alike");
    }
}

#[test]
#[cfg_attr(miri, ignore = "statistics of many draws")]
fn one_in_a_million_is_chosen_about_that_often() {
    let weights = [1.0, 2e-6, 0.5, 1e-6, 4e-6];
    let draws = 4_000_000;
    let (a, b) = (leaf_counts::<Reservoir>(&weights, draws, 5), leaf_counts::<Roulette>(&weights, draws, 5));
    // Rare enough for a chi-square test to need them joined: here by hand.
    for (name, counts) in [("reservoir", a), ("roulette", b)] {
        let rare = counts[1] + counts[3] + counts[4];
        let expected = [1.0, 0.5, 7e-6];
        assert_fit(&[counts[0], counts[2], rare], &expected, name);
    }
}

#[test]
#[cfg_attr(miri, ignore = "statistics of many draws")]
fn leaves_of_a_deep_tree_are_chosen_by_weight() {
    // 1,100 leaves: four levels of the roulette's tree.
    let weights = skewed(1100, 1.5);
    assert_fit(&leaf_counts::<Reservoir>(&weights, 40_000, 1), &exact(&weights), "reservoir");
    assert_fit(&leaf_counts::<Roulette>(&weights, 40_000, 2), &exact(&weights), "roulette");
}

/// What may be chosen: all but the visited.
fn open(weights: &[f32], visited: &[u32]) -> Vec<f64> {
    let mut open = exact(weights);
    visited.iter().for_each(|&v| open[v as usize] = 0.0);
    open
}

fn every_tabu_fits(weights: &[f32], visited: &[u32], draws: u32) {
    fn both<B: Tabu>(name: &str, weights: &[f32], visited: &[u32], draws: u32) {
        let a = node_counts::<B, Reservoir>(weights, visited, draws, 31);
        let b = node_counts::<B, Roulette>(weights, visited, draws, 37);
        let what = format!("{name}, {} nodes, {} visited", weights.len(), visited.len());
        assert_fit(&a, &open(weights, visited), &format!("reservoir, {what}"));
        assert_fit(&b, &open(weights, visited), &format!("roulette, {what}"));
        assert!(likeness(&a, &b) > LEVEL, "{what}: reservoir and roulette differ");
    }
    both::<ListCompression<u16>>("list compression, 16 bits", weights, visited, draws);
    both::<ListCompression<u32>>("list compression, 32 bits", weights, visited, draws);
    both::<Compact<u16>>("compact, 16 bits", weights, visited, draws);
    both::<Compact<u32>>("compact, 32 bits", weights, visited, draws);
    both::<Bitmask>("bitmask", weights, visited, draws);
}

#[test]
#[cfg_attr(miri, ignore = "statistics of many draws")]
fn unvisited_nodes_are_chosen_by_weight() {
    for n in [5, 8, 9, 40] {
        for decades in [1.0, 6.5] {
            let weights = skewed(n, decades);
            every_tabu_fits(&weights, &[], 100_000);
            every_tabu_fits(&weights, &[0, n - 1, n / 2], 100_000);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "statistics of many draws")]
fn the_last_hundred_of_5000_nodes_are_chosen_by_weight() {
    let weights = skewed(5000, 6.0);
    let draws = Stream::new(50, 0, 0).step(0);
    let mut order: Vec<u32> = (0..5000).collect();
    order.sort_by_key(|&v| draws.bits(v));
    every_tabu_fits(&weights, &order[..4900], 60_000);
}

#[test]
fn nothing_is_chosen_where_nothing_weighs() {
    for leaves in [1, 7, 8, 9, 64, 65, 513] {
        let weights = vec![0.0; leaves as usize];
        for step in 0..20 {
            let stream = Stream::new(1, 0, leaves);
            assert_eq!(Chooser::<Reservoir>::new(leaves).leaf(&weights, stream, step), None);
            assert_eq!(Chooser::<Roulette>::new(leaves).leaf(&weights, stream, step), None);
        }
    }
}

#[test]
fn what_alone_weighs_is_chosen() {
    for leaves in [1u32, 7, 8, 9, 64, 65, 513] {
        for at in [0, leaves / 3, leaves - 1] {
            for weight in [f32::MIN_POSITIVE, 1e-20, 1.0, 1e27] {
                let mut weights = vec![0.0; leaves as usize];
                weights[at as usize] = weight;
                for step in 0..50 {
                    let stream = Stream::new(2, 0, leaves);
                    assert_eq!(Chooser::<Reservoir>::new(leaves).leaf(&weights, stream, step), Some(at));
                    assert_eq!(Chooser::<Roulette>::new(leaves).leaf(&weights, stream, step), Some(at));
                }
            }
        }
    }
}

#[test]
fn the_last_unvisited_node_is_chosen() {
    for n in [1u32, 8, 33, 100] {
        let weights = skewed(n, 6.0);
        for last in [0, n / 2, n - 1] {
            let visited: Vec<u32> = (0..n).filter(|&v| v != last).collect();
            let all = [
                node_counts::<ListCompression<u16>, Reservoir>(&weights, &visited, 20, 1),
                node_counts::<Compact<u16>, Reservoir>(&weights, &visited, 20, 1),
                node_counts::<Bitmask, Reservoir>(&weights, &visited, 20, 1),
                node_counts::<ListCompression<u16>, Roulette>(&weights, &visited, 20, 1),
                node_counts::<Compact<u16>, Roulette>(&weights, &visited, 20, 1),
                node_counts::<Bitmask, Roulette>(&weights, &visited, 20, 1),
            ];
            assert!(all.iter().all(|counts| counts[last as usize] == 20), "{n} {last}");
        }
    }
}
