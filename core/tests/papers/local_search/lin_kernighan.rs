//! Lin-Kernighan moves on the tours of ants: gains that are exact, local optima, the same by every team.

use crate::common::memory::{Array, Number};
use crate::common::teams::{ORDERS, Shareable, run};
use crate::common::world::{Dice, World, edges, is_permutation};
use crate::lin_kernighan::scene::Scene;
use crate::lin_kernighan::shapes::shapes;
use antwarp_core::lin_kernighan::cuts::{self, Cuts};
use antwarp_core::lin_kernighan::moves::{self, Search};
use antwarp_core::node::NodeId;
use antwarp_core::operator::LinKernighan;
use antwarp_core::papers::local_search::lin_kernighan::{AntTables, improve, words};
use antwarp_core::team::{Serial, Team};
use std::cell::Cell;

/// Successors and predecessors in a tour; those of no tour lead from each node to itself.
struct Links([Vec<u32>; 2]);

impl Links {
    fn none(n: u32) -> Links {
        let own: Vec<u32> = (0..n).collect();
        Links([own.clone(), own])
    }

    fn of(tour: &[u32]) -> Links {
        let mut links = Links::none(tour.len() as u32);
        for (&a, &b) in tour.iter().zip(tour.iter().cycle().skip(1)) {
            (links.0[0][a as usize], links.0[1][b as usize]) = (b, a);
        }
        links
    }
}

/// The tour after a search by a team of so many, one alone if there is no size, and its gain, which is exact.
fn improved<I: NodeId + Number>(
    scene: &mut Scene,
    tour: &[u32],
    links: &Links,
    size: Option<usize>,
) -> (Vec<u32>, i64) {
    let n = scene.world.n;
    let tables = AntTables {
        tour: scene.tour(),
        successor: links.0[0].as_ptr(),
        predecessor: links.0[1].as_ptr(),
        partners: std::ptr::null(),
    };
    let mut nodes = Array::of(&tour.iter().map(|&v| I::new(v)).collect::<Vec<I>>());
    let mut memory = Array::<u64>::rubbish(words(n).div_ceil(2));
    let (slots, words) = (nodes.slots(), memory.start().cast());
    let gained = match size {
        // SAFETY: tour and memory are as large as they have to be.
        None => unsafe { improve::<_, _, I, _>(Serial, LinKernighan, tables, words, slots) },
        Some(at) => {
            let shared = Shareable::new((tables, words, slots));
            let gains = run([14, 17, 32, 16][at], ORDERS[at], |team| {
                let (tables, words, slots) = shared.get();
                // SAFETY: as above, for this team.
                unsafe { improve::<_, _, I, _>(team, LinKernighan, tables, words, slots) }
            });
            assert!(gains.iter().all(|&gain| gain == gains[0]));
            gains[0]
        }
    };
    let new: Vec<u32> = nodes.iter().map(|v| v.get()).collect();
    assert!(is_permutation(&new));
    assert_eq!(gained, scene.world.cost(tour) - scene.world.cost(&new));
    (new, gained)
}

/// Whether there is a move around any node.
fn has_move(scene: &mut Scene, tour: &[u32]) -> bool {
    let all: Vec<u32> = (0..scene.world.n).collect();
    has_move_around(scene, tour, &all)
}

/// Whether there is a move around any of these nodes.
fn has_move_around(scene: &mut Scene, tour: &[u32], nodes: &[u32]) -> bool {
    scene.put(tour);
    let view = scene.tour();
    let mut memory = Array::<u64>::rubbish((moves::WORDS + cuts::WORDS) as usize / 2);
    let memory: *mut u32 = memory.start().cast();
    // SAFETY: the memory is large enough, and kept until the end.
    unsafe {
        let (search, mut cuts) = (Search::new(memory), Cuts::new(memory.add(moves::WORDS as usize)));
        cuts.reset(Serial, view);
        nodes.iter().any(|&node| moves::best(Serial, LinKernighan, view, &cuts, search, node).is_some())
    }
}

#[test]
fn descents_end_in_local_optima() {
    let mut dice = Dice::new(41);
    // The last ones need more cuts than a search has.
    for n in [8, 9, 12, 40, 130, 400, 1500] {
        let world = World::any(n, 8, &mut dice);
        let mut scene = Scene::new(world, 1, &mut dice);
        let (mut tour, none) = (scene.nodes.clone(), Links::none(n));
        loop {
            let (new, gained) = improved::<u32>(&mut scene, &tour, &none, None);
            assert_eq!(improved::<u16>(&mut scene, &tour, &none, None), (new.clone(), gained));
            tour = new;
            if gained == 0 {
                break;
            }
        }
        assert!(!has_move(&mut scene, &tour), "{n} nodes");
    }
}

#[test]
fn only_what_differs_is_looked_at_first() {
    let mut dice = Dice::new(42);
    let mut mended = 0;
    for n in [20, 60, 300] {
        let mut scene = Scene::new(World::plane(n, 7, 1000, &mut dice), 1, &mut dice);
        let start = scene.nodes.clone();
        // The tour itself has moves, but nobody looks.
        let same = improved::<u16>(&mut scene, &start, &Links::of(&start), None);
        assert_eq!(same, (start.clone(), 0));
        assert!(has_move(&mut scene, &start));
        let (best, _) = improved::<u16>(&mut scene, &start, &Links::none(n), None);
        for _ in 0..5 {
            let mut ant = best.clone();
            let from = dice.below(n - 6) as usize;
            ant[from..from + 6].reverse();
            ant.rotate_left(dice.below(n) as usize);
            let (new, gained) = improved::<u16>(&mut scene, &ant, &Links::of(&best), None);
            assert!(gained >= 0);
            mended += (edges(&new) == edges(&best)) as u32;
        }
    }
    assert!(mended > 5, "{mended}");
}

#[test]
fn degenerate_instances_end_in_local_optima_by_every_team() {
    let mut dice = Dice::new(44);
    for n in (8..=12).chain([60]) {
        for (at, shape) in shapes(n, 1 + n % 7, &mut dice).into_iter().enumerate() {
            let known = shape.optimum.as_ref().map(|tour| shape.world.cost(tour));
            let mut scene = Scene::new(shape.world, 1, &mut dice);
            let (mut tour, none) = (scene.nodes.clone(), Links::none(scene.world.n));
            loop {
                let (new, gained) = improved::<u32>(&mut scene, &tour, &none, None);
                let team = improved::<u16>(&mut scene, &tour, &none, Some(at % 4));
                assert_eq!(team, (new.clone(), gained), "{n} nodes, {}", shape.name);
                tour = new;
                if gained == 0 {
                    break;
                }
            }
            assert!(!has_move(&mut scene, &tour), "{n} nodes, {}", shape.name);
            assert!(known.is_none_or(|cost| scene.world.cost(&tour) >= cost), "{}", shape.name);
            if let Some(optimum) = shape.optimum {
                // Nothing is changed without a gain.
                assert_eq!(
                    improved::<u32>(&mut scene, &optimum, &none, None),
                    (optimum, 0),
                    "{}",
                    shape.name
                );
            }
        }
    }
}

#[test]
fn a_node_that_differs_by_one_link_is_looked_at() {
    let mut dice = Dice::new(46);
    let (mut with, mut without) = (0, 0);
    for n in [8, 13, 30] {
        let mut scene = Scene::new(World::plane(n, 5, 100, &mut dice), 1, &mut dice);
        let start = scene.nodes.clone();
        // There are moves around some nodes only.
        let (mut tour, _) = improved::<u16>(&mut scene, &start, &Links::none(n), None);
        tour[..3].reverse();
        for back in [false, true] {
            let mut reference = tour.clone();
            if back {
                reference.reverse();
            }
            for node in 0..n {
                let is_move = has_move_around(&mut scene, &tour, &[node]);
                for changed in [[true, false], [false, true], [true, true]] {
                    let mut links = Links::of(&reference);
                    // A link to itself: the reference has none there.
                    for (links, _) in links.0.iter_mut().zip(changed).filter(|(_, changed)| *changed) {
                        links[node as usize] = node;
                    }
                    let (new, gained) = improved::<u16>(&mut scene, &tour, &links, None);
                    assert_eq!(gained > 0, is_move, "{node} of {n}, {changed:?}, back: {back}");
                    assert_eq!(new != tour, is_move);
                }
                *(if is_move { &mut with } else { &mut without }) += 1;
            }
        }
    }
    assert!(with > 10 && without > 10, "{with} with a move, {without} without");
}

/// A thread that is over once it has asked so often.
#[derive(Clone, Copy)]
struct Impatient<'a>(&'a Cell<u32>);

impl Team for Impatient<'_> {
    const ALONE: bool = true;
    type Part = Serial;

    fn part(self) -> Serial {
        Serial
    }
    fn part_rank(self) -> u32 {
        0
    }
    fn parts(self) -> u32 {
        1
    }
    fn rank(self) -> u32 {
        0
    }
    fn size(self) -> u32 {
        1
    }
    fn barrier(self) {}
    fn arg_max(self, key: u32, tag: u32, value: u32) -> (u32, u32) {
        Serial.arg_max(key, tag, value)
    }
    fn sum(self, value: u64) -> u64 {
        value
    }
    fn min(self, value: u64) -> u64 {
        value
    }
    fn sum_before(self, value: u32) -> (u32, u32) {
        (0, value)
    }
    fn is_over(self) -> bool {
        let left = self.0.get();
        self.0.set(left.saturating_sub(1));
        left == 0
    }
}

#[test]
fn a_search_that_is_over_leaves_what_it_has_gained() {
    let mut dice = Dice::new(45);
    let mut gains = Vec::new();
    let mut scene = Scene::new(World::plane(150, 8, 1000, &mut dice), 1, &mut dice);
    let (n, start, none) = (scene.world.n, scene.nodes.clone(), Links::none(150));
    for asked in [0, 1, 2, 5, 20, 60, 100_000] {
        let tables = AntTables {
            tour: scene.tour(),
            successor: none.0[0].as_ptr(),
            predecessor: none.0[1].as_ptr(),
            partners: std::ptr::null(),
        };
        let mut nodes = Array::of(&start);
        let mut memory = Array::<u64>::rubbish(words(n).div_ceil(2));
        let (words, slots) = (memory.start().cast(), nodes.slots());
        let left = Cell::new(asked);
        // SAFETY: tour and memory are as large as they have to be.
        let gained = unsafe { improve::<_, _, u32, _>(Impatient(&left), LinKernighan, tables, words, slots) };
        assert!(is_permutation(&nodes));
        assert_eq!(gained, scene.world.cost(&start) - scene.world.cost(&nodes));
        gains.push(gained);
    }
    assert_eq!(gains[0], 0);
    assert!(gains.is_sorted() && gains[3] > 0 && gains[4] < gains[6], "{gains:?}");
    assert_eq!(gains[6], improved::<u32>(&mut scene, &start, &none, None).1);
}

#[test]
fn every_team_improves_a_tour_as_one_thread_does() {
    let mut dice = Dice::new(43);
    for (n, k) in [(8, 7), (33, 4), (90, 8), (250, 10)] {
        let mut scene = Scene::new(World::any(n, k, &mut dice), 1, &mut dice);
        let (tour, none) = (scene.nodes.clone(), Links::none(n));
        let alone = improved::<u16>(&mut scene, &tour, &none, None);
        assert!(alone.1 > 0);
        for at in 0..4 {
            assert_eq!(improved::<u16>(&mut scene, &tour, &none, Some(at)), alone, "{n} nodes, team {at}");
        }
    }
}
