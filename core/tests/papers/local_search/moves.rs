//! Moves: what the search around a node finds, against a model; what moves do to a tour.

use crate::common::teams::Shareable;
use crate::common::world::{
    Bench, Crew, Dice, Edge, Job, World, any_move, changes, crews, edge, edges, moves_segment, own, replaced,
    tour_of,
};
use antwarp_core::geometry::{Numbered, Places};
use antwarp_core::node::NodeId;
use antwarp_core::operator::{Operator, Or2opt, OrOpt, ThreeOpt, TwoOpt};
use antwarp_core::papers::local_search::moves::{Found, Kind};
use antwarp_core::papers::local_search::{EdgeMove, View};
use antwarp_core::team::{Serial, Team};
use std::collections::BTreeMap;
use std::marker::PhantomData;

/// The best moves around all nodes.
struct AllMoves<I, D, O> {
    view: Shareable<View<I, D>>,
    operator: PhantomData<O>,
}

fn all_moves<O: Operator>(crew: Crew, view: View<u16, Places<Numbered>>) -> Vec<(u32, Found, EdgeMove)> {
    crew.run(AllMoves { view: Shareable::new(view), operator: PhantomData::<O> })
}

impl<I: NodeId, O: Operator> Job for AllMoves<I, Places<Numbered>, O> {
    type Result = Vec<(u32, Found, EdgeMove)>;
    fn work<T: Team>(&self, team: T) -> Self::Result {
        let view = self.view.get();
        let mut all = Vec::new();
        for t1 in 0..view.tour.n() {
            team.barrier();
            // SAFETY: a node, and nobody changes the tour.
            unsafe {
                let found = view.best::<T, O>(team, t1);
                // The scratch memory is the parts' from here on.
                team.barrier();
                let of_part = own(team, view).best::<T::Part, O>(team.part(), t1);
                assert_eq!(of_part, found);
                if found.gain > 0 {
                    all.push((t1, found, view.decode::<O>(t1, found.code)));
                }
            }
        }
        all
    }
}

/// Holds the best move around every node to what it says of itself; how often each kind came.
fn check_moves<O: Operator>(world: &World, tour: &[u32], breadth: u32, kinds: &mut BTreeMap<String, u32>) {
    let mut bench = Bench::<u16>::of(world, tour);
    let view = bench.view(world.numbered(), breadth);
    let (old, cost) = (edges(tour), world.cost(tour));
    for (t1, found, m) in all_moves::<O>(Crew::One, view) {
        let (removed, added) = changes(&m);
        // SAFETY: nodes of the tour; every exchange is asked for.
        let gain = unsafe {
            assert!(view.is_possible(m), "{m:?} in {tour:?}");
            for step in 0..m.steps() {
                assert!(view.tour.can_exchange(m.step(step)), "{m:?}, step {step} in {tour:?}");
                view.tour.exchange(Serial, m.step(step));
            }
            view.gain(m)
        };
        let new = bench.nodes();
        assert_eq!(Some(edges(&new)), replaced(&old, &removed, &added), "{m:?} in {tour:?}");
        assert_eq!((gain, cost - world.cost(&new)), (found.gain, found.gain), "{m:?} in {tour:?}");
        let place = |node| tour.iter().position(|&v| v == node).unwrap() as u32;
        let n = world.n;
        let name = match m.kind {
            // t5 in A, between t2 and t4, or not.
            Kind::Turned => {
                let forward = (place(t1) + 1) % n == place(m.t[1]);
                let way = |v| (if forward { place(v) + n - place(t1) } else { place(t1) + n - place(v) }) % n;
                format!("Turned, {}", if way(m.t[4]) < way(m.t[2]) { "A" } else { "B" })
            }
            kind => format!("{kind:?}"),
        };
        *kinds.entry(name).or_default() += 1;
        bench.reset(tour);
    }
}

#[test]
fn moves_do_what_they_say() {
    let mut dice = Dice::new(3);
    let mut kinds: [BTreeMap<String, u32>; 4] = Default::default();
    for n in 5..60 {
        let world = World::any(n, if n < 14 { n } else { 7 }, &mut dice);
        let tour = dice.shuffled(n);
        check_moves::<TwoOpt>(&world, &tour, 0, &mut kinds[0]);
        check_moves::<OrOpt>(&world, &tour, 5, &mut kinds[1]);
        check_moves::<Or2opt>(&world, &tour, 5, &mut kinds[2]);
        check_moves::<ThreeOpt>(&world, &tour, 5, &mut kinds[3]);
    }
    let seen = kinds.map(|kinds| kinds.into_iter().filter(|k| k.1 > 2).map(|k| k.0).collect::<Vec<_>>());
    let triples = ["BothTurned", "Shifted", "Turned, A", "Turned, B"];
    assert_eq!(seen[0], ["Pair"]);
    assert_eq!(seen[1], triples);
    for seen in &seen[2..] {
        assert_eq!(*seen, ["BothTurned", "Pair", "Shifted", "Turned, A", "Turned, B"]);
    }
}

/// What a move does to a tour's edges.
type Change = (Vec<Edge>, Vec<Edge>);

/// All changes that a search from `t1` is to find, straight from its definition: by gain. Those that put an edge back
/// which they took away are left out, but for the count of an operator without a limit to its segments.
fn model<O: Operator>(world: &World, tour: &[u32], t1: u32, breadth: u32) -> Vec<(i64, Change)> {
    let n = tour.len();
    let place = |node: u32| tour.iter().position(|&v| v == node).unwrap();
    let beside = |node: u32| [tour[(place(node) + 1) % n], tour[(place(node) + n - 1) % n]];
    let near = |node: u32| &world.lists[(node * world.k) as usize..][..world.k as usize];
    let d = |a, b| world.gap(a, b);
    let old = edges(tour);
    let mut all = Vec::new();
    for t2 in beside(t1) {
        for &t3 in near(t2).iter().filter(|&&t3| d(t1, t2) > d(t2, t3) && !beside(t2).contains(&t3)) {
            for t4 in beside(t3) {
                let kept = d(t1, t2) - d(t2, t3) + d(t3, t4);
                let pair = (vec![edge(t1, t2), edge(t3, t4)], vec![edge(t2, t3), edge(t4, t1)]);
                let closed = replaced(&old, &pair.0, &pair.1).and_then(|all| tour_of(&all, n as u32));
                if O::PAIRS && t4 != t1 && closed.is_some() {
                    all.push((kept - d(t4, t1), pair));
                }
                for &t5 in near(t4)[..breadth as usize].iter().filter(|&&t5| kept > d(t4, t5)) {
                    for t6 in beside(t5) {
                        let out = vec![edge(t1, t2), edge(t3, t4), edge(t5, t6)];
                        let triple = (out, vec![edge(t2, t3), edge(t4, t5), edge(t6, t1)]);
                        let new =
                            replaced(&old, &triple.0, &triple.1).and_then(|all| tour_of(&all, n as u32));
                        let Some(new) = new else { continue };
                        if triple.1.iter().any(|e| triple.0.contains(e)) {
                            continue;
                        }
                        if O::STEPS > 1 && (O::SEGMENT > 3 || moves_segment(tour, &new)) {
                            all.push((kept - d(t4, t5) + d(t5, t6) - d(t6, t1), triple));
                        }
                    }
                }
            }
        }
    }
    all.retain(|found| found.0 > 0);
    all.sort_unstable();
    all
}

fn check_model<O: Operator>(world: &World, tour: &[u32], breadth: u32) -> usize {
    let mut bench = Bench::<u16>::of(world, tour);
    let view = bench.view(world.numbered(), breadth);
    let mut found = vec![None; tour.len()];
    for (t1, best, m) in all_moves::<O>(Crew::One, view) {
        found[t1 as usize] = Some((best.gain, m));
    }
    let mut count = 0;
    for (t1, found) in (0..).zip(found) {
        let all = model::<O>(world, tour, t1, breadth);
        let best = all.last().map_or(0, |best| best.0);
        let found = found.map(|(gain, m)| (gain, changes(&m)));
        // A move of three edges may come down to one of two, which the model knows as a pair only.
        let is_whole = |change: &Change| !change.1.iter().any(|e| change.0.contains(e));
        match found {
            Some(found) if is_whole(&found.1) => {
                assert!(found.0 == best && all.contains(&found), "around {t1} in {tour:?}");
            }
            Some((gain, _)) => assert!(gain >= best, "around {t1} in {tour:?}"),
            None => assert_eq!(best, 0, "around {t1} in {tour:?}"),
        }
        count += all.len();
    }
    count
}

#[test]
fn the_search_around_a_node_finds_the_best_move_of_its_definition() {
    let mut dice = Dice::new(4);
    let mut seen = [0; 4];
    for round in 0..36 {
        let n = 5 + round % 9;
        let world = World::any(n, if round % 2 == 0 { n } else { 4 }, &mut dice);
        let tour = dice.shuffled(n);
        let breadth = (world.k - round % 3).max(1);
        seen[0] += check_model::<TwoOpt>(&world, &tour, breadth);
        seen[1] += check_model::<OrOpt>(&world, &tour, breadth);
        seen[2] += check_model::<Or2opt>(&world, &tour, breadth);
        seen[3] += check_model::<ThreeOpt>(&world, &tour, breadth);
    }
    assert!(seen[0] > 100 && seen[1] > 100 && seen[3] > seen[2] && seen[2] > seen[0], "{seen:?}");
}

fn teams_find_the_same<O: Operator>(world: &World, tour: &[u32]) {
    let mut bench = Bench::<u16>::of(world, tour);
    let view = bench.view(world.numbered(), 4);
    let alone = all_moves::<O>(Crew::One, view);
    assert!(!alone.is_empty());
    for crew in crews() {
        assert_eq!(all_moves::<O>(crew, view), alone, "{crew:?}");
    }
}

#[test]
fn teams_find_the_moves_that_one_thread_finds() {
    let mut dice = Dice::new(5);
    let world = World::plane(12, 5, 6, &mut dice);
    let tour = dice.shuffled(12);
    teams_find_the_same::<TwoOpt>(&world, &tour);
    teams_find_the_same::<OrOpt>(&world, &tour);
    teams_find_the_same::<ThreeOpt>(&world, &tour);
}

#[test]
fn a_move_is_possible_later_if_its_edges_still_run_so_that_a_tour_comes_of_it() {
    let mut dice = Dice::new(7);
    let mut seen = [[0; 2]; 4];
    for _ in 0..20_000 {
        let n = 6 + dice.below(12);
        let world = World::lawless(n, 1, 9, &mut dice);
        let mut bench = Bench::<u16>::of(&world, &dice.shuffled(n));
        let view = bench.view(world.numbered(), 1);
        let m = any_move(&bench.nodes(), &mut dice);
        for _ in 0..1 + dice.below(2) {
            let other = any_move(&bench.nodes(), &mut dice);
            // SAFETY: moves of this tour.
            unsafe { (0..other.steps()).for_each(|step| view.tour.exchange(Serial, other.step(step))) }
        }
        let old = bench.nodes();
        let (removed, added) = changes(&m);
        let new = replaced(&edges(&old), &removed, &added).filter(|all| tour_of(all, n).is_some());
        // SAFETY: all are nodes.
        let possible = unsafe { view.is_possible(m) };
        seen[m.kind as usize][possible as usize] += 1;
        if possible {
            // SAFETY: as above; exchanges are asked for.
            unsafe {
                for step in 0..m.steps() {
                    assert!(view.tour.can_exchange(m.step(step)), "{m:?} in {old:?}");
                    view.tour.exchange(Serial, m.step(step));
                }
                assert_eq!(view.gain(m), world.cost(&old) - world.cost(&bench.nodes()));
            }
            assert_eq!(Some(edges(&bench.nodes())), new, "{m:?} in {old:?}");
        } else if m.kind == Kind::Pair {
            assert_eq!(new, None, "{m:?} in {old:?}");
        }
    }
    assert!(seen.as_flattened().iter().all(|&times| times > 300), "{seen:?}");
}
