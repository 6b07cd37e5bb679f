//! Cuts against tours as plain lists, changed by sequential moves that need not be good ones.

use crate::common::cases;
use crate::common::memory::Array;
use crate::common::teams::{ORDERS, Shareable, run};
use crate::common::world::{Dice, Edge, World, edge, edges};
use crate::lin_kernighan::scene::Scene;
use antwarp_core::geometry::Numbered;
use antwarp_core::lin_kernighan::Tour;
use antwarp_core::lin_kernighan::cuts::{self, Cuts, MAX_SEGMENTS, Turn, Way};
use antwarp_core::lin_kernighan::moves::DEPTH;
use antwarp_core::team::{Serial, Slots, Team};
use proptest::prelude::*;

/// A sequential move of a tour, and the tour that it leads to.
struct Move {
    nodes: Vec<u32>,
    way: Way,
    turns: Vec<Turn>,
    after: Vec<u32>,
}

/// Reverses the part of a path that a turn is about.
fn reverse(path: &mut [u32], Turn(first, last): Turn) {
    path[first as usize..=last as usize].reverse();
}

/// A random move of at most [`DEPTH`] edges: every step reverses a part at the start of the path, or exchanges two parts there.
fn any_move(tour: &[u32], dice: &mut Dice) -> Move {
    let n = tour.len() as u32;
    let old = edges(tour);
    let (start, back) = (dice.below(n), dice.below(2) == 1);
    let at = |i: u32| tour[((start + if back { n - i } else { i }) % n) as usize];
    let mut path: Vec<u32> = (0..n).map(at).collect();
    let way = Way { n, origin: start, back };
    let (mut nodes, mut turns) = (vec![path[n as usize - 1], path[0]], Vec::new());
    let is_old = |a: u32, b: u32| old.contains(&edge(a, b));
    // Whether the path from `begin` on may go on with the edge to `near`, and without that from there to `end`.
    let fits = |begin: u32, near: u32, end: u32| !is_old(begin, near) && is_old(near, end);
    let edges = 2 + dice.below(DEPTH - 1);
    for _ in 0..1000 {
        let left = edges - nodes.len() as u32 / 2;
        if left == 0 {
            break;
        }
        let (i, j) = (1 + dice.below(n - 2), 1 + dice.below(n - 1));
        let node = |place: u32| path[place as usize];
        let (steps, all): (&[u32], [Turn; 3]) = if left == 1 || dice.below(2) == 0 {
            (&[node(j), node(j - 1)], [Turn(0, j - 1), Turn(1, 0), Turn(1, 0)])
        } else if i < j && dice.below(2) == 0 {
            // The part before place j becomes a cycle, which opens before place i, or behind the place before it.
            let whole = [Turn(0, i - 1), Turn(i, j - 1), Turn(0, j - 1)];
            (&[node(j - 1), node(j), node(i - 1), node(i)], whole)
        } else if i < j {
            (&[node(j - 1), node(j), node(i), node(i - 1)], [Turn(0, i - 1), Turn(i, j - 1), Turn(1, 0)])
        } else {
            continue;
        };
        let mut begin = path[0];
        let mut is_good = true;
        for step in steps.chunks(2) {
            is_good &= fits(begin, step[0], step[1]);
            begin = step[1];
        }
        // An edge goes out once.
        let gone: Vec<Edge> = nodes.chunks(2).chain(steps.chunks(2)).map(|e| edge(e[0], e[1])).collect();
        let is_repeated = (1..gone.len()).any(|e| gone[..e].contains(&gone[e]));
        // The edge that closes the tour must be a new one, too.
        if !is_good || is_repeated || is_old(begin, nodes[0]) {
            continue;
        }
        for turn in all.into_iter().filter(|turn| turn.0 <= turn.1) {
            reverse(&mut path, turn);
            turns.push(turn);
        }
        nodes.extend(steps);
    }
    // Positions are counted along the path from then on.
    Move { nodes, way, turns, after: path }
}

/// Checks positions and neighbours of all nodes, and the edges that are gone, against the tour that the cuts should be.
unsafe fn check(cuts: &Cuts, tour: Tour<Numbered>, old: &[u32], new: &[u32]) {
    let n = tour.n;
    let at = |nodes: &[u32], p: u32| nodes[(p % n) as usize];
    let place = |node: u32| new.iter().position(|&v| v == node).unwrap() as u32;
    // SAFETY: the caller's: cuts of this tour.
    unsafe {
        for p in 0..n {
            let node = at(old, p);
            let ([segment], [position]) = cuts.locate::<Serial, 1>(n, [p as i32]);
            let spot = cuts.spot::<Serial>(p);
            assert_eq!((position as u32, segment as u32), (place(node), spot.segment), "{node}");
            let four = [p, n - 1 - p, (p + 1) % n, p].map(|p| p as i32);
            let (segments, positions) = cuts.locate::<Serial, 4>(n, four);
            for lane in 0..4 {
                assert_eq!(positions[lane] as u32, place(at(old, four[lane] as u32)));
                assert_eq!(segments[lane] as u32, cuts.spot::<Serial>(four[lane] as u32).segment);
            }
            for (onwards, beside) in [(true, place(node) + 1), (false, place(node) + n - 1)] {
                let expected = at(new, beside);
                let far = tour.between(node, expected) as i64;
                assert_eq!(cuts.beside(tour, spot, onwards), (expected, far), "beside {node}");
            }
        }
        let (all, left) = (edges(old), edges(new));
        let gone: Vec<[u32; 3]> = (0..cuts.count()).filter_map(|s| cuts.gone(tour, s)).collect();
        let mut out: Vec<Edge> = gone.iter().map(|&[p, ..]| edge(at(old, p), at(old, p + 1))).collect();
        out.sort_unstable();
        let expected: Vec<Edge> = all.iter().filter(|e| !left.contains(e)).copied().collect();
        assert_eq!(out, expected, "edges that are gone");
        // A node that has lost both edges may tell either new neighbour at either of them.
        let ends = |&[p, one, other]: &[u32; 3]| [(at(old, p), one), (at(old, p + 1), other)];
        let mut told: Vec<(u32, u32)> = gone.iter().flat_map(ends).collect();
        told.sort_unstable();
        let come = left.iter().filter(|e| !all.contains(e));
        let mut expected: Vec<(u32, u32)> = come.flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
        expected.sort_unstable();
        assert_eq!(told, expected, "edges that have come");
    }
}

/// A tour that is cut at four positions, and its parts in the order A D C B.
pub fn bridged(tour: &[u32], [a, b, c, d]: [u32; 4]) -> Vec<u32> {
    let part = |from: u32, to: u32| &tour[from as usize + 1..=to as usize];
    let first = &tour[..=a as usize];
    [first, part(c, d), part(b, c), part(a, b), &tour[d as usize + 1..]].concat()
}

#[test]
fn every_double_bridge_of_few_nodes() {
    let mut dice = Dice::new(71);
    for n in 8..=12 {
        let mut scene = Scene::new(World::plane(n, 5, 30, &mut dice), 1, &mut dice);
        let (tour, old) = (scene.tour(), scene.nodes.clone());
        let mut memory = Array::<u64>::rubbish(cuts::WORDS as usize / 2);
        // SAFETY: as much memory as cuts need, of this tour.
        unsafe {
            let mut cuts = Cuts::new(memory.start().cast());
            for set in 0u32..1 << n {
                if set.count_ones() != 4 {
                    continue;
                }
                let mut positions = (0..n).filter(|p| set >> p & 1 == 1);
                let at = [0; 4].map(|_| positions.next().unwrap());
                cuts.bridge(Serial, tour, at);
                check(&cuts, tour, &old, &bridged(&old, at));
            }
            cuts.reset(Serial, tour);
            assert_eq!(cuts.count(), 1);
            check(&cuts, tour, &old, &old);
        }
    }
}

/// A kick, and moves until no more cuts fit or there are so many.
fn any_moves(tour: &[u32], most: u32, dice: &mut Dice) -> ([u32; 4], Vec<Move>) {
    let mut at: Vec<u32> = dice.shuffled(tour.len() as u32)[..4].to_vec();
    at.sort_unstable();
    let at = [at[0], at[1], at[2], at[3]];
    let (mut now, mut all) = (bridged(tour, at), Vec::new());
    for _ in 0..most {
        all.push(any_move(&now, dice));
        now.clone_from(&all[all.len() - 1].after);
    }
    (at, all)
}

/// Makes a move; false if the cuts could be too many.
unsafe fn make<T: Team>(cuts: &mut Cuts, team: T, tour: Tour<Numbered>, m: &Move) -> bool {
    if cuts.count() + DEPTH > MAX_SEGMENTS {
        return false;
    }
    let (mut nodes, mut turns) = (m.nodes.clone(), m.turns.clone());
    // SAFETY: the caller's; each member has its own copy of what is only read.
    unsafe {
        let (nodes, turns) = (Slots::of(&mut nodes), Slots::of(&mut turns));
        let (edges, steps) = (m.nodes.len() as u32 / 2, m.turns.len() as u32);
        cuts.make(team, tour, (nodes, edges), m.way, (turns, steps));
        // Others may still be reading what the last lines of `make` wrote.
        team.barrier();
    }
    true
}

#[test]
fn any_moves_lead_where_they_lead_in_a_list() {
    let mut dice = Dice::new(72);
    let mut edges = [0; DEPTH as usize + 1];
    let mut fullest = 0;
    for case in 0..120 {
        let n = if case < 60 { 8 + case % 5 } else { 8 + dice.below(150) };
        let mut scene = Scene::new(World::any(n, 5, &mut dice), 1, &mut dice);
        let (tour, old) = (scene.tour(), scene.nodes.clone());
        let (at, moves) = any_moves(&old, if n < 13 { 8 } else { 60 }, &mut dice);
        let mut memory = Array::<u64>::rubbish(cuts::WORDS as usize / 2);
        // SAFETY: as above.
        unsafe {
            let mut cuts = Cuts::new(memory.start().cast());
            if case % 2 == 0 {
                cuts.bridge(Serial, tour, at);
            } else {
                // The kick as the moves expect it is the tour to begin with.
                scene.put(&bridged(&old, at));
                cuts.reset(Serial, scene.tour());
            }
            let (tour, old) = (scene.tour(), scene.nodes.clone());
            for m in &moves {
                if !make(&mut cuts, Serial, tour, m) {
                    break;
                }
                edges[m.nodes.len() / 2] += 1;
                check(&cuts, tour, &old, &m.after);
            }
            fullest = fullest.max(cuts.count());
        }
    }
    assert!(edges[2..].iter().all(|&count| count > 20), "{edges:?}");
    assert!(fullest + DEPTH > MAX_SEGMENTS, "at most {fullest} segments");
}

/// What cuts say: new positions, both neighbours, and edges that are gone.
#[derive(Debug, PartialEq)]
struct Told {
    positions: Vec<i32>,
    beside: Vec<[(u32, i64); 2]>,
    gone: Vec<Option<[u32; 3]>>,
}

/// Kicks, makes as many of the moves as fit, and returns how many these are and what the cuts say then.
unsafe fn told_by<T: Team>(
    team: T,
    tour: Tour<Numbered>,
    memory: *mut u32,
    (at, moves): ([u32; 4], &[Move]),
) -> (usize, Told) {
    // SAFETY: the caller's: memory of cuts, which is this team's.
    unsafe {
        let mut cuts = Cuts::new(memory);
        cuts.reset(team, tour);
        cuts.bridge(team, tour, at);
        let made = moves.iter().take_while(|m| make(&mut cuts, team, tour, m)).count();
        // A team of many looks segments up by another search than one thread does.
        let position = |p: u32| cuts.locate::<T, 1>(tour.n, [p as i32]).1[0];
        let beside = |p: u32| [false, true].map(|onwards| cuts.beside(tour, cuts.spot::<T>(p), onwards));
        let told = Told {
            positions: (0..tour.n).map(position).collect(),
            beside: (0..tour.n).map(beside).collect(),
            gone: (0..cuts.count()).map(|segment| cuts.gone(tour, segment)).collect(),
        };
        team.barrier();
        (made, told)
    }
}

#[test]
fn every_team_cuts_alike() {
    let mut dice = Dice::new(73);
    for n in [8, 9, 12, 30, 100, 200, 8, 11] {
        let mut scene = Scene::new(World::any(n, 5, &mut dice), 1, &mut dice);
        let tour = scene.tour();
        let (at, moves) = any_moves(&scene.nodes, 24, &mut dice);
        let mut memory = Array::<u64>::rubbish(cuts::WORDS as usize / 2);
        let words: *mut u32 = memory.start().cast();
        // SAFETY: as above.
        let alone = unsafe { told_by(Serial, tour, words, (at, &moves)) };
        assert!(alone.0 > 5);
        for (size, order) in [14, 17, 32, 16].into_iter().zip(ORDERS) {
            let shared = Shareable::new((tour, words));
            let told = run(size, order, |team| {
                let (tour, memory) = shared.get();
                // SAFETY: as above, for this team.
                unsafe { told_by(team, tour, memory, (at, &moves)) }
            });
            assert!(told.iter().all(|told| *told == alone), "{n} nodes, {size} members, {order:?}");
        }
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn a_turn_reverses_a_part_of_a_list(n in 1u32..30, first: u32, last: u32) {
        let (first, last) = (first % n, last % n);
        let turn = Turn(first.min(last), first.max(last));
        let mut list: Vec<u32> = (0..n).collect();
        reverse(&mut list, turn);
        for p in 0..n {
            prop_assert_eq!(list[turn.of(p) as usize], p);
            prop_assert_eq!(turn.holds(p), (turn.0..=turn.1).contains(&p));
        }
    }

    #[test]
    fn a_way_counts_positions_from_its_origin(n in 1u32..30, origin: u32, back: bool) {
        let way = Way { n, origin: origin % n, back };
        let mut list: Vec<u32> = (0..n).collect();
        list.rotate_left(way.origin as usize);
        if back {
            list[1..].reverse();
        }
        for (i, &position) in list.iter().enumerate() {
            let i = i as i32;
            prop_assert_eq!(way.places([position as i32, way.origin as i32]), [i, 0]);
        }
    }
}
