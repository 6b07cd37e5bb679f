//! Or-3opt, where edges have a direction: moves against a model, local optima against brute force, the same on every team.

use crate::common::teams::Shareable;
use crate::common::world::{Bench, Crew, Dice, Job, World, crews, own};
use antwarp_core::geometry::{Numbered, Places};
use antwarp_core::operator::Or3opt;
use antwarp_core::papers::local_search::descend::{DescentRound, descend};
use antwarp_core::papers::local_search::moves::{Found, Kind};
use antwarp_core::papers::local_search::{ArrayTour, Dirty, EdgeMove, View};
use antwarp_core::team::{Serial, Team};

type Viewed = View<u16, Places<Numbered>>;

/// The tour from its smallest node on, in its own direction.
fn from_zero(tour: &[u32]) -> Vec<u32> {
    let mut tour = tour.to_vec();
    let at = tour.iter().position(|&v| v == 0).unwrap();
    tour.rotate_left(at);
    tour
}

fn length(world: &World, tour: &[u32]) -> i64 {
    let next = tour.iter().cycle().skip(1);
    tour.iter().zip(next).map(|(&a, &b)| world.gap(a, b)).sum()
}

/// The tours in which the segments between any three edges change places, with their gains.
fn neighbors(world: &World, tour: &[u32]) -> Vec<(i64, Vec<u32>)> {
    let (n, cost) = (tour.len(), length(world, tour));
    let mut all = Vec::new();
    for a in 0..n {
        for b in a + 1..n {
            for c in b + 1..n {
                let new = [&tour[..a], &tour[b..c], &tour[a..b], &tour[c..]].concat();
                all.push((cost - length(world, &new), from_zero(&new)));
            }
        }
    }
    all
}

struct Interchange {
    tour: Shareable<ArrayTour<u16>>,
    first: u32,
    segments: (u32, u32),
}

impl Job for Interchange {
    type Result = ();
    fn work<T: Team>(&self, team: T) {
        // SAFETY: segments of the tour, which is this team's.
        unsafe { self.tour.get().interchange(team, self.first, self.segments) }
    }
}

#[test]
fn segments_change_places_and_nothing_is_turned() {
    let mut dice = Dice::new(201);
    for n in (3..40).cycle().take(600) {
        let tour = dice.shuffled(n);
        let (first, a) = (dice.below(n), 1 + dice.below(n - 2));
        let b = 1 + dice.below(n - a - 1);
        let mut from_first = tour.clone();
        from_first.rotate_left(first as usize);
        let (low, high) = (&from_first[..a as usize], &from_first[a as usize..(a + b) as usize]);
        let expected = from_zero(&[high, low, &from_first[(a + b) as usize..]].concat());
        let crews = if n % 9 == 0 { crews() } else { vec![Crew::One] };
        for crew in crews {
            let mut bench = Bench::<u16>::new(&tour, &[], 0);
            crew.run(Interchange { tour: Shareable::new(bench.tour()), first, segments: (a, b) });
            let new = bench.nodes();
            assert_eq!(from_zero(&new), expected, "{crew:?}: {tour:?}, {first}, {a}, {b}");
            let moved = tour.iter().zip(&new).filter(|(old, new)| old != new).count() as u32;
            assert!(3 * moved <= 2 * n, "{moved} of {n} nodes moved");
        }
    }
}

/// The best moves around all nodes.
struct AllMoves {
    view: Shareable<Viewed>,
}

impl Job for AllMoves {
    type Result = Vec<(u32, Found, EdgeMove)>;
    fn work<T: Team>(&self, team: T) -> Self::Result {
        let view = self.view.get();
        let mut all = Vec::new();
        for t1 in 0..view.tour.n() {
            team.barrier();
            // SAFETY: a node, and nobody changes the tour.
            unsafe {
                let found = view.best::<T, Or3opt>(team, t1);
                if found.gain > 0 {
                    all.push((t1, found, view.decode::<Or3opt>(t1, found.code)));
                }
            }
        }
        all
    }
}

/// The best gain of a move from `t1`, straight from its definition: t1 loses the edge that leads to it.
fn best_gain(world: &World, tour: &[u32], t1: u32, breadth: u32) -> i64 {
    let n = tour.len();
    let place = |node: u32| tour.iter().position(|&v| v == node).unwrap();
    let before = |node: u32| tour[(place(node) + n - 1) % n];
    let near = |node: u32| &world.lists[(node * world.k) as usize..][..world.k as usize];
    let d = |a, b| world.gap(a, b);
    let t2 = before(t1);
    // How far behind t1, so that t2 is last.
    let along = |node: u32| (place(node) + n - place(t1)) % n;
    let mut best = 0;
    for &t3 in near(t2).iter().filter(|&&t3| t3 != t1 && d(t2, t1) > d(t2, t3)) {
        let t4 = before(t3);
        let kept = d(t2, t1) - d(t2, t3) + d(t4, t3);
        for &t5 in
            near(t4)[..breadth as usize].iter().filter(|&&t5| along(t5) > along(t3) && kept > d(t4, t5))
        {
            let t6 = before(t5);
            best = best.max(kept - d(t4, t5) + d(t6, t5) - d(t6, t1));
        }
    }
    best
}

#[test]
fn the_search_around_a_node_finds_the_best_move_and_makes_it() {
    let mut dice = Dice::new(202);
    let mut count = 0;
    for round in 0..120 {
        let n = 5 + round % 21;
        let world = World::directed(n, if round % 2 == 0 { n } else { 4 }, 60, &mut dice);
        let (tour, breadth) = (dice.shuffled(n), (world.k - round % 3).max(1));
        let mut bench = Bench::<u16>::of(&world, &tour);
        let view = bench.view(world.numbered(), breadth);
        let alone = Crew::One.run(AllMoves { view: Shareable::new(view) });
        for crew in if round % 20 == 0 { crews() } else { Vec::new() } {
            assert_eq!(crew.run(AllMoves { view: Shareable::new(view) }), alone, "{crew:?}");
        }
        let all = neighbors(&world, &tour);
        let mut gains = vec![0; n as usize];
        for (t1, found, m) in alone {
            gains[t1 as usize] = found.gain;
            assert_eq!(m.kind, Kind::Directed);
            let dirty = bench.dirty();
            // SAFETY: nodes of the tour; the move was found there.
            unsafe {
                assert!(view.is_possible(m));
                assert_eq!(view.gain(m), found.gain);
                antwarp_core::papers::local_search::descend::make(Serial, view, dirty, m);
            }
            assert!(all.contains(&(found.gain, from_zero(&bench.nodes()))), "{m:?} in {tour:?}");
            assert!(m.t.iter().all(|&node| bench.is_dirty(node)));
            bench.reset(&tour);
            count += 1;
        }
        for (t1, gain) in (0..n).zip(gains) {
            assert_eq!(gain, best_gain(&world, &tour, t1, breadth), "around {t1} in {tour:?}");
        }
    }
    assert!(count > 500, "{count}");
}

/// A descent from all nodes.
struct Descend {
    view: Shareable<Viewed>,
    dirty: Shareable<Dirty>,
    round: Shareable<DescentRound>,
}

impl Job for Descend {
    type Result = i64;
    fn work<T: Team>(&self, team: T) -> i64 {
        let (view, dirty) = (own(team, self.view.get()), self.dirty.get());
        // SAFETY: view, bits and proposals are this team's.
        unsafe {
            dirty.fill(team, true);
            descend::<T, Or3opt, _, _>(team, view, dirty, self.round.get(), &mut 0)
        }
    }
}

/// The tour after a descent, with its gain, which is exact.
fn descended(crew: Crew, world: &World, tour: &[u32], width: u32) -> (Vec<u32>, i64) {
    let mut bench = Bench::<u16>::of(world, tour);
    let gained = crew.run(Descend {
        view: Shareable::new(bench.view(world.numbered(), world.k)),
        dirty: Shareable::new(bench.dirty()),
        round: Shareable::new(bench.round(width, true)),
    });
    let new = bench.nodes();
    assert_eq!(gained, length(world, tour) - length(world, &new), "{crew:?}, {width} wide");
    (new, gained)
}

#[test]
fn descents_end_where_no_two_segments_should_change_places() {
    let mut dice = Dice::new(203);
    for n in (5..32).step_by(3).chain([45]) {
        let world = World::directed(n, n, if n % 2 == 0 { 9 } else { 1000 }, &mut dice);
        for width in [1, 3, 8] {
            let mut tour = dice.shuffled(n);
            loop {
                let (new, gained) = descended(Crew::One, &world, &tour, width);
                tour = new;
                if gained == 0 {
                    break;
                }
            }
            let best = neighbors(&world, &tour).into_iter().map(|found| found.0).max();
            assert!(best <= Some(0), "{best:?} in {tour:?}");
        }
    }
}

#[test]
fn teams_descend_as_one_thread_does() {
    let mut dice = Dice::new(204);
    for n in [9, 40, 70] {
        let world = World::directed(n, 6, 500, &mut dice);
        let tour = dice.shuffled(n);
        let alone = descended(Crew::One, &world, &tour, 8);
        assert!(alone.1 > 0);
        for crew in crews() {
            assert_eq!(descended(crew, &world, &tour, 8), alone, "{crew:?}, n {n}");
        }
    }
}
