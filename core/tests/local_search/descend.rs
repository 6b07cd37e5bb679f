//! Descents: local optima against brute force, the same on every team, and back again.

use crate::common::teams::{Order, Shareable};
use crate::world::{
    Bench, Crew, Dice, Job, World, any_move, best_or_opt, best_three_opt, best_two_opt, crews, edges, own,
};
use antwarp_core::geometry::{Numbered, Places};
use antwarp_core::local_search::descend::{self, Round, descend};
use antwarp_core::local_search::links::Free;
use antwarp_core::local_search::moves::Found;
use antwarp_core::local_search::{Dirty, Operator, Or2opt, OrOpt, ThreeOpt, TwoOpt, View};
use antwarp_core::team::{Serial, Slots, Team};
use std::marker::PhantomData;

type Viewed = View<u16, Places<Numbered>, Free>;

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
    round: Shareable<Round>,
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
            let gained = descend::<T, O, _, _, _>(team, view, dirty, self.round.get(), &mut last, None);
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
    descended_from::<O>(crew, world, tour, breadth, way, world.n / 2)
}

/// The same, from a node on.
fn descended_from<O: Operator>(
    crew: Crew,
    world: &World,
    tour: &[u32],
    breadth: u32,
    (width, spread): Way,
    first: u32,
) -> (Vec<u32>, i64, u32) {
    let mut bench = Bench::<u16>::of(world, tour, 0);
    let (gained, last) = crew.run(Descend {
        view: Shareable::new(bench.view(world.numbered(), breadth, Free)),
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
    if O::TRIPLES {
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
        let mut bench = Bench::<u16>::of(&world, &start, 0);
        one_by_one::<O>(&world, &mut bench);
        is_optimal::<O>(&world, &bench.nodes());
    }
}

/// Descends one move at a time, with an eye on every gain and on the nodes to look at again.
fn one_by_one<O: Operator>(world: &World, bench: &mut Bench<u16>) {
    let view = bench.view(world.numbered(), world.n, Free);
    let dirty = bench.dirty();
    let (mut node, mut idle) = (0, 0);
    while idle < world.n {
        let before = world.cost(&bench.nodes());
        // SAFETY: a node; the move is one of this tour.
        unsafe {
            let found = view.best::<Serial, O>(Serial, node, Found::ANY);
            if found.gain > 0 {
                let m = view.decode::<O>(node, found.code);
                dirty.fill(Serial, false);
                descend::make(Serial, view, dirty, m, None);
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

/// A descent with a journal, and back.
struct ThereAndBack<O> {
    view: Shareable<Viewed>,
    dirty: Shareable<Dirty>,
    entries: Shareable<Slots<u16>>,
    round: Shareable<Round>,
    capacity: u32,
    back: bool,
    operator: PhantomData<O>,
}

impl<O: Operator> Job for ThereAndBack<O> {
    type Result = (i64, bool);
    fn work<T: Team>(&self, team: T) -> (i64, bool) {
        let (view, dirty, round) = (own(team, self.view.get()), self.dirty.get(), self.round.get());
        // SAFETY: view, bits, proposals and journal are this team's.
        unsafe {
            let mut journal = descend::Journal::new(self.entries.get(), self.capacity);
            dirty.fill(team, true);
            let mut last = 0;
            let gained = descend::<T, O, _, _, _>(team, view, dirty, round, &mut last, Some(&mut journal));
            let full = !journal.has_room(3);
            if self.back {
                journal.undo(team, view);
            }
            (gained, full)
        }
    }
}

const JOURNAL_CREWS: [Crew; 3] = [Crew::One, Crew::Many(3, Order::Mixed), Crew::Parts(2, 2)];

fn journal_restores<O: Operator>(seed: u64) {
    let mut dice = Dice::new(seed);
    let mut full_journals = 0;
    for n in [6, 13, 40, 64] {
        let world = World::any(n, 6, &mut dice);
        let start = dice.shuffled(n);
        for capacity in [0, 1, 3, 10, 500] {
            for (width, spread) in [ONE_BY_ONE, (4, false), (3, true)] {
                let mut ends = Vec::new();
                for (crew, back) in JOURNAL_CREWS.into_iter().flat_map(|crew| [(crew, false), (crew, true)]) {
                    let mut bench = Bench::<u16>::of(&world, &start, capacity);
                    let (gained, full) = crew.run(ThereAndBack {
                        view: Shareable::new(bench.view(world.numbered(), 4, Free)),
                        dirty: Shareable::new(bench.dirty()),
                        entries: Shareable::new(bench.journal.slots()),
                        round: Shareable::new(bench.round(width, spread)),
                        capacity,
                        back,
                        operator: PhantomData::<O>,
                    });
                    let end = bench.nodes();
                    if back {
                        assert_eq!(edges(&end), edges(&start), "n {n}, {capacity} exchanges, {crew:?}");
                    } else {
                        let expected = world.cost(&start) - world.cost(&end);
                        assert_eq!(gained, expected, "n {n}, {capacity} exchanges, {crew:?}");
                        let without = descended_from::<O>(Crew::One, &world, &start, 4, (width, spread), 0);
                        assert!(full || end == without.0, "n {n}, {capacity} exchanges, {crew:?}");
                        full_journals += full as u32;
                        ends.push((end, gained));
                    }
                    assert!(bench.dirty.iter().all(|&word| word == 0));
                }
                assert!(ends.iter().all(|end| end == &ends[0]), "n {n}, {capacity} exchanges, {width} wide");
            }
        }
    }
    assert!(full_journals > 10);
}

#[test]
fn a_journal_takes_a_descent_back_and_ends_it_when_full() {
    journal_restores::<TwoOpt>(41);
    journal_restores::<Or2opt>(42);
    journal_restores::<ThreeOpt>(43);
}

#[test]
fn a_round_goes_through_the_dirty_nodes_by_number_from_the_last_one_on() {
    // No moves in an instance where all distances are equal: a descent only looks.
    let n = 100;
    let mut dice = Dice::new(51);
    let world = World::lawless(n, 3, 0, &mut dice);
    let mut bench = Bench::<u16>::of(&world, &dice.shuffled(n), 0);
    for width in [1, 2, 3, 8].into_iter().cycle().take(400) {
        let (some, first) = (dice.shuffled(n)[..1 + dice.below(6) as usize].to_vec(), dice.below(n));
        let mut last = first;
        // SAFETY: nodes of the instance, and one thread.
        let gained = unsafe {
            some.iter().for_each(|&node| bench.dirty().insert::<Serial>(node));
            let view = bench.view(world.numbered(), 3, Free);
            let round = bench.round(width, false);
            descend::<Serial, ThreeOpt, _, _, _>(Serial, view, bench.dirty(), round, &mut last, None)
        };
        // The node that is looked at last is the one most steps ahead; the first one itself comes at the end.
        let expected = *some.iter().max_by_key(|&&node| (node + n - first - 1) % n).unwrap();
        assert_eq!((gained, last), (0, expected), "{some:?} from {first}, {width} wide");
    }
}

#[test]
fn a_journal_takes_any_moves_back() {
    let mut dice = Dice::new(44);
    for n in (5..40).cycle().take(300) {
        let world = World::lawless(n, 1, 9, &mut dice);
        let start = dice.shuffled(n);
        let mut bench = Bench::<u32>::of(&world, &start, 60);
        let view = bench.view(world.numbered(), 1, Free);
        let (dirty, mut journal) = (bench.dirty(), bench.journal());
        for _ in 0..20 {
            let m = any_move(&bench.nodes(), &mut dice);
            // SAFETY: moves of this tour, of three exchanges at most.
            unsafe { descend::make(Serial, view, dirty, m, Some(&mut journal)) }
        }
        // SAFETY: the journal led here.
        unsafe { journal.undo(Serial, view) }
        assert_eq!(edges(&bench.nodes()), edges(&start));
    }
}
