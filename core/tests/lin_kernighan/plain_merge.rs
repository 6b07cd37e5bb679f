//! Merges against plain sets of edges, with changes that no search would find.

use crate::common::teams::{ORDERS, Order, Shareable, run, run_in_parts};
use crate::common::world::{Dice, Edge, World, edge, edges, replaced, tour_of};
use crate::lin_kernighan::scene::Scene;
use antwarp_core::lin_kernighan::cuts::MAX_SEGMENTS;
use antwarp_core::lin_kernighan::merge::{self, Merged};
use antwarp_core::team::Serial;

/// A change of a tour as a trial writes it down.
#[derive(Clone, Debug)]
struct Change {
    gain: i64,
    cuts: Vec<[u32; 3]>,
}

impl Change {
    fn gone(&self, tour: &[u32]) -> Vec<Edge> {
        self.cuts.iter().map(|&[p, ..]| edge(tour[p as usize], behind(tour, p))).collect()
    }

    /// The edges that come in, each once.
    fn come(&self, tour: &[u32]) -> Vec<Edge> {
        let ends = |&[p, a, b]: &[u32; 3]| [edge(tour[p as usize], a), edge(behind(tour, p), b)];
        let mut come: Vec<Edge> = self.cuts.iter().flat_map(ends).collect();
        come.sort_unstable();
        come.into_iter().step_by(2).collect()
    }
}

/// The node behind a position.
fn behind(tour: &[u32], p: u32) -> u32 {
    tour[(p as usize + 1) % tour.len()]
}

/// A change that cuts a tour at 2 to 5 positions and joins the parts in a random order and direction. If it is not `far`, most of
/// these are near each other.
fn any_change(tour: &[u32], far: bool, dice: &mut Dice) -> Change {
    let n = tour.len() as u32;
    loop {
        let (count, first) = (2 + dice.below(4), dice.below(n));
        let reach = if far || dice.below(3) == 0 { n } else { n.min(12) };
        let mut at: Vec<u32> = (0..count).map(|_| (first + dice.below(reach)) % n).collect();
        at.sort_unstable();
        at.dedup();
        let count = at.len();
        if count < 2 {
            continue;
        }
        // Part i lies behind cut i; its ends, in the order in which the new tour comes to them.
        let part = |i: usize| [behind(tour, at[i]), tour[at[(i + 1) % count] as usize]];
        let order = dice.shuffled(count as u32);
        let parts: Vec<[u32; 2]> = order
            .iter()
            .map(|&i| {
                let [one, other] = part(i as usize);
                if dice.below(2) == 0 { [one, other] } else { [other, one] }
            })
            .collect();
        let joints: Vec<[u32; 2]> = (0..count).map(|i| [parts[i][1], parts[(i + 1) % count][0]]).collect();
        // Both ends of a joint, which may be the same node twice for a part of one node: each is told once.
        let mut left: Vec<(u32, u32)> = joints.iter().flat_map(|&[a, b]| [(a, b), (b, a)]).collect();
        let mut take = |node: u32| {
            let at = left.iter().position(|&(v, _)| v == node).unwrap();
            left.swap_remove(at).1
        };
        let cuts = at.iter().map(|&p| [p, take(tour[p as usize]), take(behind(tour, p))]).collect();
        let gain = match dice.below(8) {
            0 => i64::from(dice.below(u32::MAX)) << 10,
            1 => -i64::from(dice.below(u32::MAX)) << 10,
            // So few that many are equal.
            _ => i64::from(dice.below(6)) - 2,
        };
        let change = Change { gain, cuts };
        let (gone, come) = (change.gone(tour), change.come(tour));
        let old = edges(tour);
        let is_new = come.iter().all(|e| !old.contains(e));
        if is_new && replaced(&old, &gone, &come).and_then(|all| tour_of(&all, n)).is_some() {
            return change;
        }
    }
}

/// What a merge should do: which changes are made, the edges of the tour that comes out, and how often changes were left out
/// because there were several cycles.
struct Expected {
    made: Vec<bool>,
    edges: Vec<Edge>,
    passes: u32,
}

/// The edges after some of the changes.
fn applied(tour: &[u32], changes: &[Change], made: &[bool]) -> Vec<Edge> {
    let chosen = || changes.iter().zip(made).filter(|(_, made)| **made).map(|(change, _)| change);
    let gone: Vec<Edge> = chosen().flat_map(|change| change.gone(tour)).collect();
    let come: Vec<Edge> = chosen().flat_map(|change| change.come(tour)).collect();
    replaced(&edges(tour), &gone, &come).expect("edges of the tour go out, each once")
}

/// The cycle of each node, by its smallest node.
fn cycles(all: &[Edge], n: u32) -> Vec<u32> {
    let mut label: Vec<u32> = (0..n).collect();
    // As many passes as it takes until nothing changes.
    while all.iter().fold(false, |changed, &(a, b)| {
        let least = label[a as usize].min(label[b as usize]);
        let is_other = label[a as usize] != label[b as usize];
        (label[a as usize], label[b as usize]) = (least, least);
        changed | is_other
    }) {}
    label
}

fn expected(tour: &[u32], changes: &[Change]) -> Expected {
    let n = tour.len() as u32;
    // Larger gains come first, as far as 32 bits tell them apart, then earlier trials.
    let most = i64::from(i32::MAX) - 1;
    let rank = |t: usize| (changes[t].gain.clamp(-most, most), std::cmp::Reverse(t));
    let nodes = |t: usize| -> Vec<u32> { changes[t].gone(tour).iter().flat_map(|&(a, b)| [a, b]).collect() };
    let all: Vec<Vec<u32>> = (0..changes.len()).map(nodes).collect();
    let meets = |s: usize, t: usize| all[s].iter().any(|v| all[t].contains(v));
    let yields = |t: usize| (0..changes.len()).any(|s| s != t && rank(s) > rank(t) && meets(s, t));
    let mut made: Vec<bool> = (0..changes.len()).map(|t| !yields(t)).collect();
    let mut passes = 0;
    loop {
        let now = applied(tour, changes, &made);
        let label = cycles(&now, n);
        let size = |cycle: u32| label.iter().filter(|&&l| l == cycle).count();
        if size(label[0]) == n as usize {
            return Expected { made, edges: now, passes };
        }
        // Of equally long cycles the first one stays: the one that has the first part. The last part goes around the end.
        let at: Vec<u32> = (0..n)
            .filter(|&p| (0..changes.len()).any(|t| made[t] && changes[t].cuts.iter().any(|cut| cut[0] == p)))
            .collect();
        let first = |cycle: u32| at.iter().position(|&p| label[tour[p as usize] as usize] == cycle);
        let mut ids = label.clone();
        ids.sort_unstable();
        ids.dedup();
        let longest = *ids.iter().max_by_key(|&&id| (size(id), std::cmp::Reverse(first(id)))).unwrap();
        let small = if passes == 0 { 0 } else { 8usize << passes.min(28) };
        let on: Vec<Vec<u32>> =
            all.iter().map(|nodes| nodes.iter().map(|&v| label[v as usize]).collect()).collect();
        let mixed: Vec<usize> =
            (0..changes.len()).filter(|&t| made[t] && on[t].iter().any(|&id| id != on[t][0])).collect();
        let (gone, others): (Vec<usize>, Vec<usize>) =
            mixed.into_iter().partition(|&t| on[t].iter().any(|&id| id != longest && size(id) < small));
        gone.iter().for_each(|&t| made[t] = false);
        for &id in ids.iter().filter(|&&id| id != longest) {
            if let Some(&t) = others.iter().filter(|&&t| on[t].contains(&id)).min_by_key(|&&t| rank(t)) {
                made[t] = false;
            }
        }
        passes += 1;
    }
}

/// Writes changes down as trials do.
fn write(scene: &mut Scene, changes: &[Change]) {
    let board = scene.changes();
    for (t, change) in (0..).zip(changes) {
        // SAFETY: there is a place for each.
        unsafe {
            board.gain.set(t, change.gain);
            board.count.set(t, change.cuts.len() as u32);
            (0..).zip(&change.cuts).for_each(|(i, &cut)| board.cuts.set(t * MAX_SEGMENTS + i, cut));
        }
    }
}

/// A tour with changes, as many as given, some of which are none.
fn scene(n: u32, trials: u32, dice: &mut Dice) -> (Scene, Vec<Change>) {
    let scene = Scene::new(World::plane(n, 5, 100, dice), trials, dice);
    // Several changes that reach far seldom leave one cycle.
    let far = dice.below(2) == 0;
    let change = |dice: &mut Dice| {
        let none = Change { gain: 1 << 40, cuts: Vec::new() };
        if dice.below(10) == 0 { none } else { any_change(&scene.nodes, far, dice) }
    };
    let changes = (0..trials).map(|_| change(dice)).collect();
    (scene, changes)
}

/// Checks what a merge did, and the tour that it leads to.
fn check(scene: &mut Scene, changes: &[Change], merged: Merged) -> u32 {
    let (tour, n) = (scene.nodes.clone(), scene.world.n);
    let offered = changes.iter().filter(|change| !change.cuts.is_empty()).count() as u32;
    let Expected { made, edges: after, passes } = expected(&tour, changes);
    let made: Vec<&Change> = changes
        .iter()
        .zip(made)
        .filter(|(change, made)| *made && !change.cuts.is_empty())
        .map(|(change, _)| change)
        .collect();
    let counts: u32 = made.iter().map(|change| change.cuts.len() as u32).sum();
    let gain = made.iter().map(|change| change.gain).sum();
    let all = Merged { gain, cuts: counts, made: made.len() as u32, offered, padding: 0 };
    assert_eq!(merged, all, "{n} nodes");
    let (view, board, list, next) = (scene.tour(), scene.board(), scene.changes(), scene.next());
    for p in 0..n {
        // SAFETY: the merge was planned.
        unsafe { merge::place(view, board, list, merged.cuts, p, next) };
    }
    // It checks that all nodes are there, and how far each is from the next one.
    scene.turn_over();
    assert_eq!(edges(&scene.nodes), after);
    passes
}

#[test]
fn merges_make_what_goes_together() {
    let mut dice = Dice::new(91);
    let mut several = [0; 6];
    for case in 0..300 {
        let (n, most) = match case % 4 {
            0 => (8 + case / 4 % 5, 3),
            1 => (13 + dice.below(60), 8),
            2 => (13 + dice.below(300), 40),
            // So few of so many nodes that hardly any meet.
            _ => (400, 24),
        };
        let trials = 1 + dice.below(most);
        let (mut scene, changes) = scene(n, trials, &mut dice);
        write(&mut scene, &changes);
        let (tour, board, list) = (scene.tour(), scene.board(), scene.changes());
        // SAFETY: the scene's arrays.
        let merged = unsafe { merge::plan(Serial, tour, board, list, trials) };
        several[check(&mut scene, &changes, merged).min(5) as usize] += 1;
    }
    // Some were left out more than once, and by both rules.
    assert!(several[..4].iter().all(|&count| count > 2), "{several:?}");
}

#[test]
fn every_team_merges_what_goes_together() {
    let mut dice = Dice::new(92);
    let mut several = 0;
    for case in 0..12 {
        let n = [8, 9, 12, 40, 300, 500][case % 6];
        let (mut scene, changes) = scene(n, 1 + n / 20, &mut dice);
        let (trials, start) = (changes.len() as u32, scene.nodes.clone());
        let whole = ORDERS.map(Some);
        for (size, order) in [5, 8, 3, 16].into_iter().zip(whole).chain([(3, None), (30, None)]) {
            scene.put(&start);
            write(&mut scene, &changes);
            let shared = Shareable::new((scene.tour(), scene.board(), scene.changes()));
            let merged = match order {
                // SAFETY: the scene's arrays.
                Some(order) => run(size, order, |team| unsafe {
                    let (tour, board, list) = shared.get();
                    merge::plan(team, tour, board, list, trials)
                }),
                // SAFETY: as above.
                None => run_in_parts(size, 2, |team| unsafe {
                    let (tour, board, list) = shared.get();
                    merge::plan(team, tour, board, list, trials)
                }),
            };
            assert!(merged.iter().all(|m| *m == merged[0]), "{size} members, {order:?}");
            several += u32::from(check(&mut scene, &changes, merged[0]) > 0);
        }
    }
    assert!(several >= 12, "{several}");
}

#[test]
fn without_changes_the_tour_stays() {
    let mut dice = Dice::new(93);
    for n in 8..=40 {
        let (mut scene, _) = scene(n, 2, &mut dice);
        let none = vec![Change { gain: 5, cuts: Vec::new() }; 2];
        write(&mut scene, &none);
        let before = scene.nodes.clone();
        let teams: [Option<Order>; 2] = [None, Some(Order::Mixed)];
        for order in teams {
            let shared = Shareable::new((scene.tour(), scene.board(), scene.changes()));
            let (tour, board, list) = shared.get();
            let merged = match order {
                // SAFETY: the scene's arrays.
                None => unsafe { merge::plan(Serial, tour, board, list, 2) },
                Some(order) => {
                    // SAFETY: as above.
                    run(3, order, |team| unsafe {
                        let (tour, board, list) = shared.get();
                        merge::plan(team, tour, board, list, 2)
                    })[0]
                }
            };
            assert_eq!(merged, Merged::default());
            check(&mut scene, &none, merged);
            assert_eq!(scene.nodes, before);
        }
    }
}
