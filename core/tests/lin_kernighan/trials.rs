//! Trials: what they write down, the same by every team.

use crate::common::cases;
use crate::common::memory::Array;
use crate::common::teams::{ORDERS, Order, Shareable, run};
use crate::common::world::{Dice, World, edge, edges, replaced, tour_of};
use crate::lin_kernighan::cuts::bridged;
use crate::lin_kernighan::scene::Scene;
use crate::lin_kernighan::shapes::shapes;
use antwarp_core::lin_kernighan::cuts::{Cuts, MAX_SEGMENTS};
use antwarp_core::lin_kernighan::moves::{self, Search};
use antwarp_core::lin_kernighan::trial::{self, TrialChanges, TrialRound, UNLIMITED, packed};
use antwarp_core::operator::{LinKernighan, Or2opt, OrOpt, Reach, Shallow, ThreeOpt, TwoOpt};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Slots, Team};
use proptest::prelude::*;
use std::collections::VecDeque;

fn round(number: u32, trials: u32, temperature: f32) -> TrialRound {
    // Short walks often end where they began.
    let walk = if number.is_multiple_of(4) { 0 } else { 1 + number % 30 };
    let looks = if number % 5 == 1 { number % 40 } else { UNLIMITED };
    TrialRound { seed: 7, number, trials, walk, temperature, looks, padding: 0 }
}

/// Checks that a trial's change leads to a tour that is as much shorter as the trial says, and returns that tour.
fn check_change(scene: &Scene, t: u32) -> Vec<u32> {
    let cuts = &scene.cuts[(t * MAX_SEGMENTS) as usize..][..scene.count[t as usize] as usize];
    let (nodes, n) = (&scene.nodes, scene.world.n);
    let at = |p: u32| nodes[(p % n) as usize];
    let gone: Vec<_> = cuts.iter().map(|&[p, ..]| edge(at(p), at(p + 1))).collect();
    // Every edge that comes in is told from both of its ends.
    let mut come: Vec<_> = cuts.iter().flat_map(|&[p, a, b]| [edge(at(p), a), edge(at(p + 1), b)]).collect();
    come.sort_unstable();
    let come: Vec<_> = come
        .chunks(2)
        .map(|both| {
            assert_eq!(both[0], both[1]);
            both[0]
        })
        .collect();
    let after = replaced(&edges(nodes), &gone, &come).expect("edges of the tour go out");
    let after = tour_of(&after, n).expect("a tour is left");
    assert_eq!(scene.world.cost(nodes) - scene.world.cost(&after), scene.gain[t as usize]);
    after
}

/// Runs a trial of Lin-Kernighan moves by one thread.
fn try_once(scene: &mut Scene, round: TrialRound, t: u32) {
    let (tour, changes) = (scene.tour(), scene.changes());
    let stream = Stream::new(round.seed, round.number, 0);
    let memory = scene.memory.start().cast();
    // SAFETY: the scene's arrays.
    unsafe { trial::run(Serial, LinKernighan, tour, memory, round, stream, t, changes) }
}

#[test]
fn a_change_is_a_tour_that_is_as_much_shorter_as_it_says() {
    let mut dice = Dice::new(3);
    let mut changed = 0;
    for case in 0..150 {
        let n = 8 + dice.below(200);
        let world = World::any(n, 8, &mut dice);
        let mut scene = Scene::new(world, 3, &mut dice);
        let (tour, changes) = (scene.tour(), scene.changes());
        let round = round(case, 3 + n / 64, if case % 3 == 0 { 50.0 } else { 0.0 });
        for t in 0..3 {
            // SAFETY: the scene's arrays.
            unsafe {
                let memory = scene.memory.start().cast();
                let stream = Stream::new(7, case, 0);
                match case % 3 {
                    0 => trial::run(Serial, Shallow::of::<TwoOpt>(), tour, memory, round, stream, t, changes),
                    1 => {
                        trial::run(Serial, Shallow::of::<ThreeOpt>(), tour, memory, round, stream, t, changes)
                    }
                    _ => trial::run(Serial, LinKernighan, tour, memory, round, stream, t, changes),
                }
            }
            if scene.count[t as usize] == 0 {
                continue;
            }
            changed += 1;
            check_change(&scene, t);
            assert!(round.temperature > 0.0 || scene.gain[t as usize] >= 0);
        }
    }
    assert!(changed > 200, "{changed}");
}

#[test]
fn changes_of_degenerate_instances_are_tours() {
    let mut dice = Dice::new(7);
    let mut changed = 0;
    for n in (8..=12).chain([30, 70, 150]) {
        for shape in shapes(n, 1 + n % 8, &mut dice) {
            let known = shape.optimum.as_ref().map(|tour| shape.world.cost(tour));
            let mut scene = Scene::new(shape.world, 2, &mut dice);
            for number in 0..8 {
                let round = round(number, 2, if number % 2 == 0 { 0.0 } else { 3.0 });
                for t in 0..2 {
                    try_once(&mut scene, round, t);
                    if scene.count[t as usize] > 0 {
                        let after = check_change(&scene, t);
                        changed += 1;
                        assert!(known.is_none_or(|cost| scene.world.cost(&after) >= cost), "{}", shape.name);
                    }
                    assert!(
                        round.temperature > 0.0
                            || scene.gain[t as usize] >= 0
                            || scene.count[t as usize] == 0
                    );
                }
            }
        }
    }
    assert!(changed > 400, "{changed}");
}

#[test]
fn optimal_tours_get_no_shorter() {
    let mut dice = Dice::new(8);
    for n in (8..=12).chain([50, 140]) {
        for shape in shapes(n, 5, &mut dice) {
            let Some(optimum) = shape.optimum else { continue };
            let mut scene = Scene::new(shape.world, 1, &mut dice);
            scene.put(&optimum);
            for number in 0..20 {
                // Only what is shorter may be kept.
                try_once(&mut scene, round(number, 1, -1.0), 0);
                assert_eq!(scene.count[0], 0, "{n} nodes, {}", shape.name);
                assert!(scene.gain[0] <= 0);
            }
        }
    }
}

/// Positions at which a kick cuts the tour, of those whose edges are gone, from the change of a trial that mends nothing.
fn kick(scene: &mut Scene, round: TrialRound, t: u32) -> Vec<u32> {
    let round = TrialRound { looks: 0, temperature: f32::INFINITY, ..round };
    try_once(scene, round, t);
    let after = edges(&check_change(scene, t));
    let (tour, n) = (&scene.nodes, scene.world.n);
    let cuts = &scene.cuts[(t * MAX_SEGMENTS) as usize..][..scene.count[t as usize] as usize];
    let gone: Vec<u32> = cuts.iter().map(|cut| cut[0]).collect();
    assert!(gone.is_sorted_by(|one, other| one < other), "{gone:?}");
    // Where parts of one node change places, an edge between them comes back.
    let near: Vec<u32> = (0..n).filter(|p| gone.iter().any(|at| (p + n + 2 - at) % n <= 4)).collect();
    let candidates = if gone.len() == 4 { &gone } else { &near };
    let is_bridge = |set: &[u32; 4]| edges(&bridged(tour, *set)) == after;
    assert!(fours(candidates).iter().any(is_bridge), "no double bridge of {n} nodes at {gone:?}");
    gone
}

/// All sets of four of some numbers, in order.
fn fours(all: &[u32]) -> Vec<[u32; 4]> {
    let sets = (0u64..1 << all.len()).filter(|set| set.count_ones() == 4);
    let members = |set: u64| (0..all.len()).filter(move |i| set >> i & 1 == 1).map(|i| all[i]);
    sets.map(|set| members(set).collect::<Vec<_>>().try_into().unwrap()).collect()
}

/// The nodes of a trial's share: all shares are about equally large, and the first one begins somewhere in every round.
fn share(n: u32, round: TrialRound, t: u32) -> Vec<u32> {
    let first = Stream::new(round.seed, round.number, 0).step(u32::MAX).below(0, n);
    let begin = |t: u64| (u64::from(n) * t / u64::from(round.trials)) as u32;
    (begin(t.into())..begin(u64::from(t) + 1)).map(|i| (first + i) % n).collect()
}

#[test]
fn a_kick_is_a_double_bridge_that_begins_in_the_trial_s_share() {
    let mut dice = Dice::new(9);
    let mut whole = 0;
    for case in 0..60 {
        let n = if case % 3 == 0 { 8 + case / 3 % 5 } else { 20 + dice.below(300) };
        let trials = 1 + dice.below(n / 4);
        let mut scene = Scene::new(World::any(n, 6, &mut dice), trials, &mut dice);
        for walk in [1, 2, 7, 25] {
            let round = TrialRound { walk, ..round(case, trials, 0.0) };
            for t in 0..trials.min(10) {
                let at = kick(&mut scene, round, t);
                whole += u32::from(at.len() == 4);
                let own = share(n, round, t);
                let nodes: Vec<u32> = at.iter().map(|&p| scene.nodes[p as usize]).collect();
                assert!(at.len() < 4 || own.iter().any(|v| nodes.contains(v)), "{nodes:?}, share {own:?}");
            }
        }
    }
    assert!(whole > 1000, "{whole}");
}

/// The gain of a trial that begins with these nodes to look around, after a kick at these positions if there is one.
fn gain_by_queue(scene: &mut Scene, at: Option<[u32; 4]>, nodes: &[u32], looks: u32) -> i64 {
    let tour = scene.tour();
    let start = scene.nodes.clone();
    let memory: *mut u32 = scene.memory.start().cast();
    let mut queue = VecDeque::new();
    let push = |queue: &mut VecDeque<u32>, node| {
        if queue.len() < 128 && !queue.contains(&node) {
            queue.push_back(node);
        }
    };
    nodes.iter().for_each(|&node| push(&mut queue, node));
    let kicked = at.map_or(start.clone(), |at| bridged(&start, at));
    let mut gain = scene.world.cost(&start) - scene.world.cost(&kicked);
    // SAFETY: the scene's arrays.
    unsafe {
        let (search, mut cuts) = (Search::new(memory), Cuts::new(memory.add(moves::WORDS as usize)));
        cuts.reset(Serial, tour);
        if let Some(at) = at {
            cuts.bridge(Serial, tour, at);
        }
        for _ in 0..looks {
            let Some(&node) = queue.front() else { break };
            if cuts.count() + moves::DEPTH > MAX_SEGMENTS {
                break;
            }
            let Some(found) = moves::best(Serial, LinKernighan, tour, &cuts, search, node) else {
                queue.pop_front();
                continue;
            };
            cuts.make(Serial, tour, (search.nodes(), found.edges), found.way, (search.turns(), found.turns));
            gain += found.gain;
            if gain == 0 && at.is_some() {
                break;
            }
            (0..2 * found.edges).for_each(|i| push(&mut queue, search.nodes().get(i)));
        }
    }
    gain
}

#[test]
fn a_trial_looks_around_touched_nodes_in_their_order() {
    let mut dice = Dice::new(14);
    let mut ends = [0; 3];
    for case in 0..150 {
        let n = if case % 3 == 0 { 8 + case / 3 % 5 } else { 20 + dice.below(300) };
        // Small distances: a trial often comes back to the length that it began with, or close to it.
        let world =
            if case % 2 == 0 { World::any(n, 6, &mut dice) } else { World::lawless(n, 6, 4, &mut dice) };
        let mut scene = Scene::new(world, 3, &mut dice);
        let trials = 1 + 2 * (case / 2 % 2);
        for number in 0..30 {
            let looks = [0, 1, 7, UNLIMITED, UNLIMITED][dice.below(5) as usize];
            let round =
                TrialRound { seed: case.into(), walk: 1 + number % 3, looks, ..round(number, trials, -1.0) };
            let t = dice.below(trials);
            let at = kick(&mut scene, round, t);
            let Ok(at) = <[u32; 4]>::try_from(at) else { continue };
            let ends_of = |p: u32| [scene.nodes[p as usize], scene.nodes[((p + 1) % n) as usize]];
            let nodes: Vec<u32> = at.iter().flat_map(|&p| ends_of(p)).collect();
            try_once(&mut scene, round, t);
            let gain = scene.gain[t as usize];
            assert_eq!(gain > 0, scene.count[t as usize] > 0, "only shorter tours are kept");
            assert_eq!(gain_by_queue(&mut scene, Some(at), &nodes, looks), gain, "{n} nodes, {looks} looks");
            ends[(gain.signum() + 1) as usize] += 1;
            if gain > 0 {
                scene.put(&check_change(&scene, t));
            }
            // Without a kick a trial looks around the first nodes of its share, which moves on in every round.
            let round = TrialRound { walk: 0, ..round };
            let begin = |t: u32| n * t / trials;
            let first = number * trial::LOOKED_AT + begin(t);
            let count = trial::LOOKED_AT.min(begin(t + 1) - begin(t));
            let nodes: Vec<u32> = (first..first + count).map(|v| v % n).collect();
            try_once(&mut scene, round, t);
            let gain = scene.gain[t as usize];
            assert_eq!(gain_by_queue(&mut scene, None, &nodes, UNLIMITED), gain, "{n} nodes without a kick");
            if gain > 0 {
                scene.put(&check_change(&scene, t));
            }
        }
    }
    assert!(ends.iter().all(|&count| count > 50), "{ends:?}");
}

#[test]
fn walks_of_a_kick_have_draws_of_their_own() {
    let mut dice = Dice::new(15);
    let n = 400;
    let mut scene = Scene::new(World::plane(n, 3, 1000, &mut dice), 1, &mut dice);
    let mut walked = [0; 4];
    for number in 0..200 {
        let walk = 1 + number % 3;
        let at = kick(&mut scene, TrialRound { walk, ..round(4 * number + 1, 1, 0.0) }, 0);
        let nodes: Vec<u32> = at.iter().map(|&p| scene.nodes[p as usize]).collect();
        // Three walks from the same node, each by draws of its own.
        let draws = Stream::new(7, 4 * number + 1, 0).step(0);
        let onwards = |v: u32, step: u32| scene.world.lists[(3 * v + draws.below(5 + step, 3)) as usize];
        let end = |v: u32, i: u32| (0..walk).fold(v, |v, step| onwards(v, i * walk + step));
        let is_start = |&v: &u32| {
            let mut all = vec![v, end(v, 0), end(v, 1), end(v, 2)];
            all.sort_unstable_by_key(|v| scene.nodes.iter().position(|u| u == v));
            all == nodes
        };
        // Where two walks end at the same node, the cuts are near each other in the tour instead.
        let apart: Vec<u32> = (0..at.len()).map(|i| (at[(i + 1) % at.len()] + n - at[i]) % n).collect();
        let is_short = apart.iter().filter(|&&apart| apart <= 30).count() + 1 >= at.len();
        assert!(is_short || nodes.iter().any(is_start), "{nodes:?}");
        walked[if is_short { 0 } else { walk as usize }] += 1;
    }
    assert!(walked.iter().all(|&count| count > 10), "{walked:?}");
}

#[test]
fn a_kick_whose_walks_meet_cuts_short_segments() {
    let mut dice = Dice::new(10);
    let mut longest = 0;
    for n in [8, 9, 10, 11, 12, 40, 119, 120, 121, 124, 300] {
        // With one neighbour a node, all walks end at the same one.
        let mut scene = Scene::new(World::plane(n, 1, 1000, &mut dice), 1, &mut dice);
        for number in 0..40 {
            let at =
                kick(&mut scene, TrialRound { walk: 1 + number % 3, ..round(4 * number + 1, 1, 0.0) }, 0);
            if at.len() < 4 {
                continue;
            }
            // Around the tour from one of them on, each is at most so far behind the one before.
            let most = 30.min(n / 4);
            let apart: Vec<u32> = (0..4).map(|i| (at[(i + 1) % 4] + n - at[i]) % n).collect();
            let far = apart.iter().filter(|&&apart| apart > most).count();
            assert!(far <= 1, "{n} nodes: {apart:?}");
            longest = longest.max(apart.iter().filter(|&&apart| apart <= most).copied().max().unwrap_or(0));
        }
    }
    assert_eq!(longest, 30);
}

#[test]
fn a_kick_takes_the_longest_edge_of_some() {
    // Nodes in order along a line, but for one far away: of its two edges one begins at it and one before it.
    let mut points: Vec<[u32; 2]> = (0..40).map(|i| [i, 0]).collect();
    points[20] = [20, 5000];
    let mut dice = Dice::new(11);
    let mut scene = Scene::new(World::of_points(points, 4), 1, &mut dice);
    scene.put(&(0..40).collect::<Vec<_>>());
    let mut hits = 0;
    for number in 0..100 {
        let at = kick(&mut scene, TrialRound { walk: 3, ..round(4 * number + 1, 1, 0.0) }, 0);
        hits += u32::from(at.contains(&19));
    }
    // Ten nodes of forty are looked at: one in 4.5 times. Walks end there seldom.
    assert!((15..40).contains(&hits), "{hits}");
}

#[test]
fn trials_without_kicks_look_around_all_nodes() {
    let mut dice = Dice::new(12);
    for case in 0..24 {
        let n = [8, 9, 10, 11, 12, 25, 49, 130][case % 8];
        let trials = 1 + dice.below(3);
        let k = 1 + dice.below(8);
        let world = if case < 8 {
            World::any(n, k, &mut dice)
        } else {
            shapes(n, k, &mut dice).swap_remove(case % 9).world
        };
        let mut scene = Scene::new(world, trials, &mut dice);
        let n = scene.world.n;
        // Once so many rounds in a row find nothing, every share has been looked through.
        let (mut number, mut idle) = (0, 0);
        while idle <= n.div_ceil(trial::LOOKED_AT) {
            let round = TrialRound { walk: 0, ..round(number, trials, 0.0) };
            let found = (0..trials).find(|&t| {
                try_once(&mut scene, round, t);
                scene.count[t as usize] > 0
            });
            idle += 1;
            if let Some(t) = found {
                assert!(scene.gain[t as usize] > 0, "a change without a kick is a gain");
                scene.put(&check_change(&scene, t));
                idle = 0;
            }
            number += 1;
        }
        let view = scene.tour();
        let memory: *mut u32 = scene.memory.start().cast();
        // SAFETY: the scene's arrays.
        unsafe {
            let (search, mut cuts) = (Search::new(memory), Cuts::new(memory.add(moves::WORDS as usize)));
            cuts.reset(Serial, view);
            let moves =
                (0..n).filter(|&v| moves::best(Serial, LinKernighan, view, &cuts, search, v).is_some());
            assert_eq!(moves.collect::<Vec<_>>(), [], "{n} nodes, {trials} trials");
        }
    }
}

/// What is written down of a trial.
fn of_trial(scene: &Scene, t: u32) -> (i64, Vec<[u32; 3]>) {
    let count = scene.count[t as usize];
    (scene.gain[t as usize], scene.cuts[(t * MAX_SEGMENTS) as usize..][..count as usize].to_vec())
}

/// Packs a change and copies it to two other scenes, one by the words and one directly. Behind the words nothing is written.
fn copy<T: Team>(team: T, all: [TrialChanges; 3], (from, at): (u32, u32), words: Slots<u32>) {
    let [source, unpacked, taken] = all;
    // SAFETY: all have a place for the trial, and there are as many words as it takes.
    unsafe {
        source.pack(team, from, words, at);
        team.barrier();
        unpacked.unpack(team, words, at);
        taken.take(team, source, from);
        team.barrier();
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn a_packed_change_is_the_same_elsewhere(
        gain: i64,
        cuts in prop::collection::vec(prop::array::uniform3(any::<u32>()), 0..=MAX_SEGMENTS as usize),
        t in 0u32..4,
        at in 0u32..9,
        team in 0usize..4,
    ) {
        let mut dice = Dice::new(13);
        let mut scenes: [Scene; 3] =
            std::array::from_fn(|_| Scene::new(World::plane(8, 3, 9, &mut dice), 4, &mut dice));
        let [source, unpacked, taken] = scenes.each_mut().map(Scene::changes);
        // SAFETY: there are places for four trials.
        unsafe {
            source.gain.set(t, gain);
            source.count.set(t, cuts.len() as u32);
            (0..).zip(&cuts).for_each(|(i, &cut)| source.cuts.set(t * MAX_SEGMENTS + i, cut));
        }
        let count = cuts.len() as u32;
        let length = packed(count);
        prop_assert_eq!(length, 4 + 3 * count);
        let mut words = Array::<u32>::rubbish((at + length) as usize);
        let shared = Shareable::new(([source, unpacked, taken], words.slots()));
        if team == 0 {
            let (all, words) = shared.get();
            copy(Serial, all, (t, at), words);
        } else {
            run([0, 3, 32, 7][team], ORDERS[team], |team| {
                let (all, words) = shared.get();
                copy(team, all, (t, at), words);
            });
        }
        prop_assert_eq!(words[at as usize], t, "the trial's number comes first");
        for scene in &scenes {
            prop_assert_eq!(of_trial(scene, t), (gain, cuts.clone()));
        }
    }
}

#[test]
fn more_looks_mend_more() {
    let mut dice = Dice::new(6);
    let mut mended = [0; 2];
    for case in 0..40 {
        let n = 30 + dice.below(200);
        let world = World::any(n, 8, &mut dice);
        let mut scene = Scene::new(world, 1, &mut dice);
        let (tour, changes) = (scene.tour(), scene.changes());
        let memory: *mut u32 = scene.memory.start().cast();
        let [none, some, all] = [0, 3, UNLIMITED].map(|looks| {
            let round = TrialRound { walk: 10, looks, ..round(case, 1, 0.0) };
            // SAFETY: the scene's arrays.
            unsafe {
                trial::run(Serial, LinKernighan, tour, memory, round, Stream::new(7, case, 0), 0, changes);
            }
            scene.gain[0]
        });
        assert!(none <= some && some <= all, "case {case}: {none}, {some}, {all}");
        mended[0] += i32::from(none < some);
        mended[1] += i32::from(some < all);
    }
    assert!(mended.iter().all(|&m| m > 20), "{mended:?}");
}

fn teams_agree(reach: impl Reach, cases: u32) {
    let mut dice = Dice::new(4);
    for case in 0..cases {
        let n = 8 + dice.below(120);
        // A CPU thread looks at four neighbours side by side, another team's member at one.
        let k = [8, 7, 10, 4, 3, 1][case as usize % 6];
        let world = World::any(n, k.min(n - 1), &mut dice);
        let mut scene = Scene::new(world, 1, &mut dice);
        let (tour, changes) = (scene.tour(), scene.changes());
        let round = round(case, 1 + n / 64, 20.0);
        let stream = Stream::new(7, case, 0);
        let memory: *mut u32 = scene.memory.start().cast();
        // SAFETY: the scene's arrays.
        unsafe { trial::run(Serial, reach, tour, memory, round, stream, 0, changes) };
        let expected = (scene.gain.to_vec(), scene.count.to_vec(), scene.cuts.clone());
        let teams = [(14, ORDERS[0]), (15, ORDERS[1]), (32, ORDERS[2]), (16, Order::Together)];
        // Threads at the same time take a hundred times as long on few cores.
        let teams = if case % 3 == 0 { &teams[..] } else { &teams[..3] };
        for &(size, order) in teams {
            scene.cuts.fill([u32::MAX; 3]);
            let shared = Shareable::new((tour, changes, memory));
            // SAFETY: as above.
            run(size, order, |team| unsafe {
                let (tour, changes, memory) = shared.get();
                trial::run(team, reach, tour, memory, round, stream, 0, changes);
            });
            let cuts = scene.count[0] as usize;
            assert_eq!(scene.gain.to_vec(), expected.0, "case {case}, {size} members, {order:?}");
            assert_eq!(scene.count.to_vec(), expected.1);
            assert_eq!(scene.cuts[..cuts], expected.2[..cuts]);
        }
    }
}

#[test]
fn every_team_makes_the_same_change() {
    teams_agree(Shallow::of::<TwoOpt>(), 3);
    teams_agree(Shallow::of::<OrOpt>(), 3);
    teams_agree(Shallow::of::<Or2opt>(), 3);
    teams_agree(Shallow::of::<ThreeOpt>(), 3);
    teams_agree(LinKernighan, 6);
}
