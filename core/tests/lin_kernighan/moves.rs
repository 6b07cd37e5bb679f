//! Moves and cuts against plain tours.

use crate::common::world::{Bench, Dice, World, moves_segment};
use crate::lin_kernighan::scene::Scene;
use antwarp_core::geometry::Numbered;
use antwarp_core::lin_kernighan::Tour;
use antwarp_core::lin_kernighan::cuts::{Cuts, MAX_SEGMENTS};
use antwarp_core::lin_kernighan::moves::{self, DEPTH, Search};
use antwarp_core::operator::{LinKernighan, Operator, Or2opt, OrOpt, Reach, Shallow, ThreeOpt, TwoOpt};
use antwarp_core::team::Serial;

/// The new tour from a node on, as its neighbours tell; positions must agree.
unsafe fn walked(cuts: &Cuts, tour: Tour<Numbered>) -> Vec<u32> {
    // SAFETY: the caller's.
    unsafe {
        let mut nodes: Vec<u32> = Vec::new();
        let mut node = 0;
        let spot = |v: u32| cuts.spot::<Serial>(tour.position(v));
        let position = |v: u32| {
            let ([segment], [at]) = cuts.locate::<Serial, 1>(tour.n, [tour.position(v) as i32]);
            assert_eq!(segment as u32, spot(v).segment);
            let four = [v, 0, tour.n - 1, v].map(|v| tour.position(v) as i32);
            let (segments, positions) = cuts.locate::<Serial, 4>(tour.n, four);
            assert_eq!([segments[0], positions[0]], [segment, at]);
            assert_eq!([segments[3], positions[3]], [segment, at]);
            at as u32
        };
        let origin = position(0);
        loop {
            let at = position(node);
            assert_eq!(at, (origin + nodes.len() as u32) % tour.n, "position of {node}");
            nodes.push(node);
            let (next, far) = cuts.beside(tour, spot(node), true);
            assert_eq!(far, tour.between(node, next) as i64);
            assert_eq!(cuts.beside(tour, spot(next), false), (node, far));
            node = next;
            if node == 0 || nodes.len() > tour.n as usize {
                return nodes;
            }
        }
    }
}

/// How often moves of an operator had so many edges.
fn depths(reach: impl Reach, cases: u32) -> [u32; DEPTH as usize + 1] {
    let mut dice = Dice::new(1);
    let mut depths = [0; DEPTH as usize + 1];
    for case in 0..cases {
        let n = 8 + dice.below(if case % 4 == 0 { 300 } else { 40 });
        let world = World::any(n, 1 + dice.below(10), &mut dice);
        let mut scene = Scene::new(world, 1, &mut dice);
        let tour = scene.tour();
        let memory = scene.memory.start().cast();
        // SAFETY: the scene's arrays, of the sizes that are asked for.
        unsafe {
            let search = Search::new(memory);
            let mut cuts = Cuts::new(memory.add(moves::WORDS as usize));
            let mut at: Vec<u32> = dice.shuffled(n)[..4].to_vec();
            at.sort_unstable();
            cuts.bridge(Serial, tour, [at[0], at[1], at[2], at[3]]);
            let mut nodes = walked(&cuts, tour);
            assert_eq!(nodes.len(), n as usize, "a kick leaves a tour");
            let mut misses = 0;
            while misses < 20 && cuts.count() + DEPTH <= MAX_SEGMENTS {
                let node = dice.below(n);
                let Some(found) = moves::best(Serial, reach, tour, &cuts, search, node) else {
                    misses += 1;
                    continue;
                };
                depths[found.edges as usize] += 1;
                let before = nodes;
                cuts.make(
                    Serial,
                    tour,
                    (search.nodes(), found.edges),
                    found.way,
                    (search.turns(), found.turns),
                );
                nodes = walked(&cuts, tour);
                assert_eq!(nodes.len(), n as usize, "a move leaves a tour");
                assert_eq!(scene.world.cost(&before) - scene.world.cost(&nodes), found.gain);
                if found.edges == 3 && reach.segment() <= 3 {
                    assert!(moves_segment(&before, &nodes), "{before:?} to {nodes:?}");
                }
            }
        }
    }
    depths
}

#[test]
fn moves_make_tours_that_are_as_much_shorter_as_they_say() {
    assert!(depths(LinKernighan, 150)[2..].iter().all(|&count| count > 20));
    let often = |depths: [u32; DEPTH as usize + 1]| depths.map(|count| count.min(21));
    assert_eq!(often(depths(Shallow::of::<TwoOpt>(), 50)), [0, 0, 21, 0, 0, 0, 0, 0]);
    assert_eq!(often(depths(Shallow::of::<OrOpt>(), 50)), [0, 0, 0, 21, 0, 0, 0, 0]);
    assert_eq!(often(depths(Shallow::of::<Or2opt>(), 50)), [0, 0, 21, 21, 0, 0, 0, 0]);
    assert_eq!(often(depths(Shallow::of::<ThreeOpt>(), 50)), [0, 0, 21, 21, 0, 0, 0, 0]);
}

/// Where lists are so short that no beginning is left out, a move is found where the search in an array finds one. It is as good
/// where `all` moves have as many edges; else what cannot keep the gain of a move of two edges on the way is left out.
fn finds_what_an_array_search_finds<O: Operator>(all: bool) {
    let mut dice = Dice::new(5);
    let mut moves = 0;
    for _ in 0..150 {
        let n = 8 + dice.below(40);
        let world = World::any(n, 1 + dice.below(3), &mut dice);
        let mut scene = Scene::new(world, 1, &mut dice);
        let tour = scene.tour();
        let memory: *mut u32 = scene.memory.start().cast();
        let mut bench = Bench::<u32>::of(&scene.world, &scene.nodes);
        let view = bench.view(scene.world.numbered(), scene.world.k);
        for node in 0..n {
            // SAFETY: the scene's arrays, and a node.
            unsafe {
                let mut cuts = Cuts::new(memory.add(moves::WORDS as usize));
                cuts.reset(Serial, tour);
                let found = moves::best(Serial, Shallow::of::<O>(), tour, &cuts, Search::new(memory), node);
                let expected = view.best::<Serial, O>(Serial, node).gain;
                let gain = found.map_or(0, |found| found.gain);
                let is_good = if all { gain == expected } else { gain <= expected };
                assert!(
                    is_good && (gain > 0) == (expected > 0),
                    "{gain} of {expected}, {node} in {:?}",
                    scene.nodes
                );
                moves += u32::from(found.is_some());
            }
        }
    }
    assert!(moves > 500, "{moves}");
}

#[test]
fn shallow_searches_find_what_searches_in_an_array_find() {
    finds_what_an_array_search_finds::<TwoOpt>(true);
    finds_what_an_array_search_finds::<OrOpt>(true);
    finds_what_an_array_search_finds::<Or2opt>(false);
    finds_what_an_array_search_finds::<ThreeOpt>(false);
}

#[test]
fn a_search_finds_every_move_of_two_edges() {
    let mut dice = Dice::new(2);
    for _ in 0..100 {
        let n = 8 + dice.below(30);
        // Every node is every other's neighbour, so the lists leave nothing out but by breadth.
        let world = World::plane(n, 5, 100, &mut dice);
        let mut scene = Scene::new(world, 1, &mut dice);
        let tour = scene.tour();
        let memory = scene.memory.start().cast();
        let world = &scene.world;
        let nodes = &scene.nodes;
        let at = |i: u32| nodes[(i % n) as usize];
        // SAFETY: as above.
        unsafe {
            let search = Search::new(memory);
            let mut cuts = Cuts::new(memory.add(moves::WORDS as usize));
            cuts.reset(Serial, tour);
            for i in 0..n {
                for j in i + 2..n.min(i + n - 1) {
                    let (a, b, c, d) = (at(i), at(i + 1), at(j), at(j + 1));
                    let gain = world.gap(a, b) + world.gap(c, d) - world.gap(a, c) - world.gap(b, d);
                    // From b over its near node d, or from a over c.
                    for (t0, t1, t2) in [(a, b, d), (b, a, c), (c, d, b), (d, c, a)] {
                        let list = &world.lists[(t1 * world.k) as usize..][..world.k as usize];
                        if gain > 0 && list.contains(&t2) && world.gap(t0, t1) > world.gap(t1, t2) {
                            let found = moves::best(Serial, LinKernighan, tour, &cuts, search, t0);
                            assert!(found.is_some_and(|f| f.gain >= gain), "{found:?} instead of {gain}");
                        }
                    }
                }
            }
        }
    }
}
