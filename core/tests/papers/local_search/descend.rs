//! Descents: local optima against brute force, the same on every team.

use crate::common::teams::{Order, Shareable};
use crate::common::world::{
    Bench, Crew, Dice, Job, World, best_or_opt, best_three_opt, best_two_opt, crews, edges, own,
};
use antwarp_core::geometry::{Numbered, Places};
use antwarp_core::operator::{Operator, Or2opt, OrOpt, ThreeOpt, TwoOpt};
use antwarp_core::papers::local_search::descend::{self, DescentRound, descend};
use antwarp_core::papers::local_search::{Dirty, View};
use antwarp_core::team::{Serial, Team};
use std::marker::PhantomData;

type Viewed = View<u16, Places<Numbered>>;

/// How many nodes a round looks at, and whether they come from stretches of their own.
type Way = (u32, bool);

const ONE_BY_ONE: Way = (1, false);

/// All widths, side by side and spread.
fn ways() -> impl Iterator<Item = Way> {
    [1, 2, 3, 4, 8].into_iter().flat_map(|width| [(width, false), (width, true)])
}

/// A descent from all nodes: what it gained, and where it ended.
struct Descend<O> {
    view: Shareable<Viewed>,
    dirty: Shareable<Dirty>,
    round: Shareable<DescentRound>,
    first: u32,
    operator: PhantomData<O>,
}

impl<O: Operator> Job for Descend<O> {
    type Result = (i64, u32);
    fn work<T: Team>(&self, team: T) -> (i64, u32) {
        let (view, dirty, mut last) = (own(team, self.view.get()), self.dirty.get(), self.first);
        // SAFETY: view, bits and proposals are this team's.
        unsafe {
            dirty.fill(team, true);
            let gained = descend::<T, O, _, _>(team, view, dirty, self.round.get(), &mut last);
            (gained, last)
        }
    }
}

/// The tour after a descent, with its gain, which is exact, and where it ended.
fn descended<O: Operator>(
    crew: Crew,
    world: &World,
    tour: &[u32],
    breadth: u32,
    way: Way,
) -> (Vec<u32>, i64, u32) {
    let ((width, spread), first) = (way, world.n / 2);
    let mut bench = Bench::<u16>::of(world, tour);
    let (gained, last) = crew.run(Descend {
        view: Shareable::new(bench.view(world.numbered(), breadth)),
        dirty: Shareable::new(bench.dirty()),
        round: Shareable::new(bench.round(width, spread)),
        first,
        operator: PhantomData::<O>,
    });
    assert!(bench.dirty.iter().all(|&word| word == 0));
    let new = bench.nodes();
    assert_eq!(gained, world.cost(tour) - world.cost(&new), "{crew:?}, {width} wide, spread: {spread}");
    assert!(last < world.n);
    (new, gained, last)
}

fn is_optimal<O: Operator>(world: &World, tour: &[u32]) {
    if O::PAIRS {
        assert_eq!(best_two_opt(world, tour), 0, "2-opt, {tour:?}");
    }
    if O::STEPS > 1 {
        assert_eq!(best_or_opt(world, tour), 0, "Or-opt, {tour:?}");
    }
    if O::SEGMENT > 3 {
        assert_eq!(best_three_opt(world, tour), 0, "3-opt, {tour:?}");
    }
}

/// Descents until one from all nodes gains nothing, with lists of all nodes.
fn ends_in_optima<O: Operator>(seed: u64) {
    let mut dice = Dice::new(seed);
    for n in (5..45).step_by(3).chain([60]) {
        let world = World::any(n, n, &mut dice);
        for way in [ONE_BY_ONE, (1 + n / 20, false), (1 + n / 20, true), (8, true)] {
            let mut tour = dice.shuffled(n);
            loop {
                let (new, gained, _) = descended::<O>(Crew::One, &world, &tour, n, way);
                tour = new;
                if gained == 0 {
                    break;
                }
            }
            is_optimal::<O>(&world, &tour);
        }
        let start = dice.shuffled(n);
        let mut bench = Bench::<u16>::of(&world, &start);
        one_by_one::<O>(&world, &mut bench);
        is_optimal::<O>(&world, &bench.nodes());
    }
}

/// Descends one move at a time, with an eye on every gain and on the nodes to look at again.
fn one_by_one<O: Operator>(world: &World, bench: &mut Bench<u16>) {
    let view = bench.view(world.numbered(), world.n);
    let dirty = bench.dirty();
    let (mut node, mut idle) = (0, 0);
    while idle < world.n {
        let before = world.cost(&bench.nodes());
        // SAFETY: a node; the move is one of this tour.
        unsafe {
            let found = view.best::<Serial, O>(Serial, node);
            if found.gain > 0 {
                let m = view.decode::<O>(node, found.code);
                dirty.fill(Serial, false);
                descend::make(Serial, view, dirty, m);
                let ends = &m.t[..m.ends() as usize];
                assert!((0..world.n).all(|v| bench.is_dirty(v) == ends.contains(&v)));
                assert_eq!(before - world.cost(&bench.nodes()), found.gain);
                idle = 0;
            } else {
                (node, idle) = ((node + 1) % world.n, idle + 1);
            }
        }
    }
}

#[test]
fn two_opt_ends_in_its_optima() {
    ends_in_optima::<TwoOpt>(11);
}

#[test]
fn or_opt_ends_in_its_optima() {
    ends_in_optima::<OrOpt>(12);
}

#[test]
fn or_2opt_ends_in_its_optima() {
    ends_in_optima::<Or2opt>(13);
}

#[test]
fn three_opt_ends_in_its_optima() {
    ends_in_optima::<ThreeOpt>(14);
}

/// All teams descend as one thread does in rounds of the same width.
fn teams_agree<O: Operator>(seed: u64) {
    let mut dice = Dice::new(seed);
    // One word of bits, and several; more stretches than words, and fewer.
    for (n, extent) in [(20, 5), (70, 1000), (150, 1000)] {
        let world = World::plane(n, 6, extent, &mut dice);
        let start = dice.shuffled(n);
        for way in ways() {
            let alone = descended::<O>(Crew::One, &world, &start, 4, way);
            assert!(alone.1 > 0);
            for (number, crew) in crews().into_iter().enumerate() {
                // The larger instances on the teams that differ most, and now and then on another.
                let differs = matches!(crew, Crew::Parts(..) | Crew::Many(3, Order::Mixed));
                if n == 20 && (way.0 == 3 || number as u32 % 2 == way.0 % 2)
                    || differs && (n < 100 || number as u32 % 3 == way.0 % 3)
                {
                    let team = descended::<O>(crew, &world, &start, 4, way);
                    assert_eq!(team, alone, "{crew:?}, n {n}, {way:?}");
                }
            }
        }
    }
}

#[test]
fn teams_descend_by_two_opt_as_one_thread_does() {
    teams_agree::<TwoOpt>(21);
}

#[test]
fn teams_descend_by_or_opt_as_one_thread_does() {
    teams_agree::<OrOpt>(22);
}

#[test]
fn teams_descend_by_or_2opt_as_one_thread_does() {
    teams_agree::<Or2opt>(23);
}

#[test]
fn teams_descend_by_three_opt_as_one_thread_does() {
    teams_agree::<ThreeOpt>(24);
}

#[test]
fn the_round_decides_in_which_order_moves_are_made() {
    let mut dice = Dice::new(34);
    let world = World::plane(150, 6, 1000, &mut dice);
    let start = dice.shuffled(150);
    let end = |way| edges(&descended::<Or2opt>(Crew::One, &world, &start, world.k, way).0);
    let ends = [ONE_BY_ONE, (5, false), (5, true)].map(end);
    assert!(ends[0] != ends[1] && ends[0] != ends[2] && ends[1] != ends[2]);
    // A single stretch is the whole.
    assert_eq!(ends[0], end((1, true)));
}

#[test]
fn a_round_goes_through_the_dirty_nodes_by_number_from_the_last_one_on() {
    // No moves in an instance where all distances are equal: a descent only looks.
    let n = 100;
    let mut dice = Dice::new(51);
    let world = World::lawless(n, 3, 0, &mut dice);
    let mut bench = Bench::<u16>::of(&world, &dice.shuffled(n));
    for width in [1, 2, 3, 8].into_iter().cycle().take(400) {
        let (some, first) = (dice.shuffled(n)[..1 + dice.below(6) as usize].to_vec(), dice.below(n));
        let mut last = first;
        // SAFETY: nodes of the instance, and one thread.
        let gained = unsafe {
            some.iter().for_each(|&node| bench.dirty().insert::<Serial>(node));
            let view = bench.view(world.numbered(), 3);
            let round = bench.round(width, false);
            descend::<Serial, ThreeOpt, _, _>(Serial, view, bench.dirty(), round, &mut last)
        };
        // The node that is looked at last is the one most steps ahead; the first one itself comes at the end.
        let expected = *some.iter().max_by_key(|&&node| (node + n - first - 1) % n).unwrap();
        assert_eq!((gained, last), (0, expected), "{some:?} from {first}, {width} wide");
    }
}
