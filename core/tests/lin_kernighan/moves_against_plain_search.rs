//! The best move around a node, against the same beam search with a list of nodes for each path.

use crate::common::memory::Array;
use crate::common::teams::{ORDERS, Shareable, run};
use crate::common::world::{Dice, Edge, World, edge};
use crate::lin_kernighan::scene::Scene;
use crate::lin_kernighan::shapes::shapes;
use antwarp_core::geometry::Numbered;
use antwarp_core::lin_kernighan::Tour;
use antwarp_core::lin_kernighan::cuts::{self, Cuts, MAX_SEGMENTS, Turn, Way};
use antwarp_core::lin_kernighan::moves::{self, BREADTH, DEPTH, FoundMove, Search};
use antwarp_core::operator::{LinKernighan, Or2opt, OrOpt, Reach, Shallow, ThreeOpt, TwoOpt};
use antwarp_core::team::{Serial, Team};

/// A move around a node: its gain, its nodes in the order in which edges go out and come in, and the path that the edge from
/// its last to its first node closes.
#[derive(Clone, Debug, PartialEq)]
struct Best {
    gain: i64,
    nodes: Vec<u32>,
    path: Vec<u32>,
}

/// A part of a move: a path from the node that the next edge comes in at, and a cycle that the next step has to open, if there is
/// one.
#[derive(Clone)]
struct Partial {
    nodes: Vec<u32>,
    kept: i64,
    cycle: Vec<u32>,
    path: Vec<u32>,
}

/// The node that the next edge comes in at, the cycle that is left, and the path.
type Step = (u32, Vec<u32>, Vec<u32>);

impl Partial {
    /// The paths and cycles that two edges at `near` lead to, with the node that the next edge comes in at.
    fn steps(&self, near: u32) -> [Option<Step>; 2] {
        let find = |list: &[u32]| list.iter().position(|&v| v == near);
        let reversed = |list: &[u32]| list.iter().rev().copied().collect::<Vec<_>>();
        if self.cycle.is_empty() {
            let Some(p) = find(&self.path).filter(|&p| p >= 2) else { return [None, None] };
            let (head, tail) = self.path.split_at(p);
            let turned = (head[p - 1], Vec::new(), [&reversed(head), tail].concat());
            let (cycle, rest) = self.path.split_at(p + 1);
            [Some(turned), Some((rest[0], cycle.to_vec(), rest.to_vec()))]
        } else {
            let Some(p) = find(&self.cycle) else { return [None, None] };
            let whole = |cycle: Vec<u32>| (cycle[0], Vec::new(), [&cycle[..], &self.path].concat());
            let (head, tail) = self.cycle.split_at(p);
            let behind = [&self.cycle[p + 1..], &self.cycle[..=p]].concat();
            let before = [reversed(head), reversed(tail)].concat();
            [(p + 1 < self.cycle.len()).then(|| whole(behind)), (p > 0).then(|| whole(before))]
        }
    }
}

/// The least number of nodes that an exchange of three edges moves: those of a part whose ends' old neighbours are joined.
fn moved_nodes(tour: &[u32], nodes: &[u32]) -> usize {
    let n = tour.len();
    let gone: Vec<Edge> = nodes.chunks(2).map(|e| edge(e[0], e[1])).collect();
    let come: Vec<Edge> =
        (0..nodes.len() / 2).map(|i| edge(nodes[2 * i + 1], nodes[(2 * i + 2) % nodes.len()])).collect();
    let mut cut: Vec<usize> = (0..n).filter(|&p| gone.contains(&edge(tour[p], tour[(p + 1) % n]))).collect();
    cut.push(cut[0] + n);
    let around = |from: usize, to: usize| edge(tour[from % n], tour[(to + 1) % n]);
    let parts = cut.windows(2).filter(|ends| come.contains(&around(ends[0], ends[1])));
    parts.map(|ends| ends[1] - ends[0]).min().unwrap_or(n)
}

/// What 32 bits hold of a sum or a gain.
fn clamped(length: i64) -> i64 {
    length.min(u32::MAX.into())
}

/// The best move around `node` as [`moves::best`] says, by a search that writes every path down.
fn best(reach: impl Reach, scene: &Scene, tour: &[u32], node: u32) -> Option<Best> {
    let (n, k) = (tour.len(), scene.world.k as usize);
    let gap = |a, b| scene.world.gap(a, b);
    let place = |v: u32| tour.iter().position(|&u| u == v).unwrap();
    let of_tour = |a: u32, b: u32| [1, n - 1].contains(&place(a).abs_diff(place(b)));
    let mut onwards = tour.to_vec();
    onwards.rotate_left((place(node) + 1) % n);
    let mut backwards = tour.to_vec();
    backwards.rotate_left(place(node));
    backwards.reverse();
    let first = |path: Vec<u32>| Partial {
        nodes: vec![node, path[0]],
        kept: gap(node, path[0]),
        cycle: Vec::new(),
        path,
    };
    let mut beam = vec![first(onwards), first(backwards)];
    let mut best: Option<Best> = None;
    for level in 0..reach.steps() {
        let is_last = level + 1 == reach.steps();
        let least = best.as_ref().map_or(0, |best| clamped(best.gain));
        let mut next: Vec<Partial> = Vec::new();
        for from in &beam {
            let begin = from.path[0];
            let list = &scene.world.lists[begin as usize * k..][..k.min(BREADTH as usize)];
            for &near in list {
                let sum = from.kept - gap(begin, near);
                // No edge of the tour comes in, but for the first one if nothing of the path is left but `node`.
                let is_back = begin == node && near == from.nodes[1];
                if sum <= least || near == node || of_tour(begin, near) && !is_back {
                    continue;
                }
                for (end, cycle, path) in from.steps(near).into_iter().flatten() {
                    // An edge that has come in stays, and one that has gone cannot go again.
                    let gone: Vec<Edge> = from.nodes.chunks(2).map(|e| edge(e[0], e[1])).collect();
                    if !of_tour(near, end) || gone.contains(&edge(near, end)) {
                        continue;
                    }
                    let nodes = [&from.nodes[..], &[near, end]].concat();
                    let to = Partial { nodes, kept: sum + gap(near, end), cycle, path };
                    let gain = to.kept - gap(end, node);
                    let counts = match level {
                        0 => reach.pairs(),
                        1 if reach.segment() < u32::MAX => {
                            moved_nodes(tour, &to.nodes) <= reach.segment() as usize
                        }
                        _ => true,
                    };
                    if to.cycle.is_empty()
                        && counts
                        && clamped(gain) > best.as_ref().map_or(0, |b| clamped(b.gain))
                    {
                        best = Some(Best { gain, nodes: to.nodes.clone(), path: to.path.clone() });
                    }
                    if to.kept - gap(end, scene.world.lists[end as usize * k]) > least {
                        next.push(to);
                    }
                }
            }
        }
        if is_last {
            break;
        }
        // Stable: of equal sums the first ones stay.
        next.sort_by_key(|to| std::cmp::Reverse(clamped(to.kept)));
        next.truncate(reach.beam_width(level) as usize);
        beam = next;
    }
    best
}

/// A found move with its nodes and turns.
type Found = Option<(FoundMove, Vec<u32>, Vec<Turn>)>;

/// The move around a node that a team finds.
unsafe fn found_by<T: Team>(
    team: T,
    reach: impl Reach,
    tour: Tour<Numbered>,
    (cuts, search): (&Cuts, Search),
    node: u32,
) -> Found {
    // SAFETY: the caller's.
    unsafe {
        let found = moves::best(team, reach, tour, cuts, search, node)?;
        let nodes = (0..2 * found.edges).map(|i| search.nodes().get(i)).collect();
        let turns = (0..found.turns).map(|i| search.turns().get(i)).collect();
        team.barrier();
        Some((found, nodes, turns))
    }
}

/// Checks a found move of a tour, which may be none, against the plain search. Returns the tour that it leads to.
fn check(scene: &Scene, reach: impl Reach, tour: &[u32], node: u32, found: &Found) -> Option<Vec<u32>> {
    let n = tour.len() as u32;
    let expected = best(reach, scene, tour, node);
    let Some((found, nodes, turns)) = found else {
        assert_eq!(expected, None, "no move around {node}");
        return None;
    };
    let expected = expected.unwrap_or_else(|| panic!("{found:?} around {node}"));
    assert_eq!((found.gain, nodes), (expected.gain, &expected.nodes), "around {node}");
    let begin = tour.iter().position(|&v| v == nodes[1]).unwrap() as u32;
    let back = tour[((begin + 1) % n) as usize] == node;
    assert_eq!(found.way, Way { n, origin: begin, back });
    let mut path = tour.to_vec();
    path.rotate_left(begin as usize);
    if back {
        path[1..].reverse();
    }
    for &Turn(from, to) in turns {
        path[from as usize..=to as usize].reverse();
    }
    assert_eq!(path, expected.path, "turns of {nodes:?}");
    assert_eq!(scene.world.cost(tour) - scene.world.cost(&path), found.gain);
    // Positions are counted along the path from then on.
    Some(path)
}

/// Looks around all nodes of a tour, again and again, and makes every move. Counts moves by their edges.
fn descend(scene: &mut Scene, reach: impl Reach, depths: &mut [u32; DEPTH as usize + 1]) {
    let (tour, n) = (scene.tour(), scene.world.n);
    let memory: *mut u32 = scene.memory.start().cast();
    let mut nodes = scene.nodes.clone();
    // SAFETY: the scene's arrays.
    unsafe {
        let (search, mut cuts) = (Search::new(memory), Cuts::new(memory.add(moves::WORDS as usize)));
        cuts.reset(Serial, tour);
        let mut misses = 0;
        for node in (0..n).cycle() {
            if misses == n || cuts.count() + DEPTH > MAX_SEGMENTS {
                return;
            }
            misses += 1;
            let found = found_by(Serial, reach, tour, (&cuts, search), node);
            let Some(after) = check(scene, reach, &nodes, node, &found) else { continue };
            let (found, ..) = found.unwrap();
            cuts.make(Serial, tour, (search.nodes(), found.edges), found.way, (search.turns(), found.turns));
            (nodes, misses) = (after, 0);
            depths[found.edges as usize] += 1;
        }
    }
}

/// As [`descend`], on random and degenerate instances of few and of more nodes.
fn descend_all(reach: impl Reach, rounds: u32) -> [u32; DEPTH as usize + 1] {
    let mut dice = Dice::new(81);
    let mut depths = [0; DEPTH as usize + 1];
    for round in 0..rounds {
        let n = if round % 2 == 0 { 8 + round / 2 % 5 } else { 13 + dice.below(60) };
        let k = 1 + dice.below(10);
        let mut worlds: Vec<World> = shapes(n, k, &mut dice).into_iter().map(|shape| shape.world).collect();
        worlds.extend((0..4).map(|_| World::any(n, k, &mut dice)));
        // Gains that 32 bits do not hold.
        worlds.push(World::lawless(n, k, 2_000_000_000, &mut dice));
        for world in worlds {
            descend(&mut Scene::new(world, 1, &mut dice), reach, &mut depths);
        }
    }
    depths
}

#[test]
fn lin_kernighan_moves_are_those_of_a_plain_search() {
    let depths = descend_all(LinKernighan, 16);
    assert!(depths[2..].iter().all(|&count| count > 20), "{depths:?}");
}

#[test]
fn moves_of_operators_are_those_of_a_plain_search() {
    let often = |depths: [u32; DEPTH as usize + 1]| depths.map(|count| count.min(50));
    assert_eq!(often(descend_all(Shallow::of::<TwoOpt>(), 6)), [0, 0, 50, 0, 0, 0, 0, 0]);
    assert_eq!(often(descend_all(Shallow::of::<OrOpt>(), 6)), [0, 0, 0, 50, 0, 0, 0, 0]);
    assert_eq!(often(descend_all(Shallow::of::<Or2opt>(), 6)), [0, 0, 50, 50, 0, 0, 0, 0]);
    assert_eq!(often(descend_all(Shallow::of::<ThreeOpt>(), 6)), [0, 0, 50, 50, 0, 0, 0, 0]);
}

#[test]
fn optimal_tours_have_no_moves() {
    let mut dice = Dice::new(82);
    for n in [8, 9, 10, 11, 12, 13, 40, 101] {
        for shape in shapes(n, 1 + dice.below(9), &mut dice) {
            let Some(optimum) = shape.optimum else { continue };
            let mut scene = Scene::new(shape.world, 1, &mut dice);
            scene.put(&optimum);
            let mut depths = [0; DEPTH as usize + 1];
            descend(&mut scene, LinKernighan, &mut depths);
            descend(&mut scene, Shallow::of::<ThreeOpt>(), &mut depths);
            assert_eq!(depths, [0; DEPTH as usize + 1], "{n} nodes, {}", shape.name);
        }
    }
}

#[test]
fn every_team_finds_the_moves_of_a_plain_search() {
    let mut dice = Dice::new(83);
    for round in 0..3 {
        let (n, k) = ([8, 11, 26][round], [7, 3, 8][round]);
        let mut worlds: Vec<World> = shapes(n, k, &mut dice).into_iter().map(|shape| shape.world).collect();
        worlds.push(World::any(n, k, &mut dice));
        for (at, world) in worlds.into_iter().enumerate() {
            let mut scene = Scene::new(world, 1, &mut dice);
            let n = scene.world.n;
            let mut memory = Array::<u64>::rubbish((moves::WORDS + cuts::WORDS) as usize / 2);
            let shared = Shareable::new((scene.tour(), memory.start().cast::<u32>()));
            let all = run([14, 17, 32, 16][at % 4], ORDERS[at % 4], |team| {
                let (tour, memory) = shared.get();
                // SAFETY: the scene's arrays and as much memory as both need, for this team.
                unsafe {
                    let (search, mut cuts) =
                        (Search::new(memory), Cuts::new(memory.add(moves::WORDS as usize)));
                    cuts.reset(team, tour);
                    (0..n)
                        .map(|node| {
                            let deep = found_by(team, LinKernighan, tour, (&cuts, search), node);
                            let three = Shallow::of::<ThreeOpt>();
                            (deep, found_by(team, three, tour, (&cuts, search), node))
                        })
                        .collect::<Vec<_>>()
                }
            });
            assert!(all.iter().all(|found| *found == all[0]), "members differ");
            let tour = scene.nodes.clone();
            for (node, (deep, shallow)) in (0..).zip(&all[0]) {
                check(&scene, LinKernighan, &tour, node, deep);
                check(&scene, Shallow::of::<ThreeOpt>(), &tour, node, shallow);
            }
        }
    }
}
