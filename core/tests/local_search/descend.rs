//! Descents: local optima against brute force, the same on every team, and back again.

use crate::common::memory::Array;
use crate::common::teams::{Order, Shareable};
use crate::world::{
    Bench, Crew, Dice, Job, World, any_move, best_or_opt, best_three_opt, best_two_opt, crews, edges,
};
use antwarp_core::geometry::{Numbered, Places};
use antwarp_core::local_search::descend::{self, descend, descend_together, proposal_words};
use antwarp_core::local_search::links::Free;
use antwarp_core::local_search::moves::Found;
use antwarp_core::local_search::{Dirty, Operator, Or2opt, OrOpt, ThreeOpt, TwoOpt, View};
use antwarp_core::team::{Serial, Slots, Team};
use std::marker::PhantomData;

type Viewed = View<u16, Places<Numbered>, Free>;

/// A descent from all nodes: what it gained, and where it ended.
struct Descend<O> {
    view: Shareable<Viewed>,
    dirty: Shareable<Dirty>,
    first: u32,
    operator: PhantomData<O>,
}

impl<O: Operator> Job for Descend<O> {
    type Result = (i64, u32);
    fn work<T: Team>(&self, team: T) -> (i64, u32) {
        let (view, dirty, mut last) = (self.view.get(), self.dirty.get(), self.first);
        // SAFETY: view and bits are this team's.
        unsafe {
            dirty.fill(team, true);
            let gained = descend::<T, O, _, _, _>(team, view, dirty, &mut last, None);
            (gained, last)
        }
    }
}

/// The same for several moves a round.
struct Together<O> {
    view: Shareable<Viewed>,
    dirty: Shareable<Dirty>,
    proposals: Shareable<Slots<u32>>,
    regions: u32,
    operator: PhantomData<O>,
}

impl<O: Operator> Job for Together<O> {
    type Result = i64;
    fn work<T: Team>(&self, team: T) -> i64 {
        // SAFETY: view, bits and proposals are this team's.
        unsafe {
            self.dirty.get().fill(team, true);
            let (view, dirty, proposals) = (self.view.get(), self.dirty.get(), self.proposals.get());
            descend_together::<T, O, _, _, _>(team, view, dirty, proposals, self.regions)
        }
    }
}

/// The tour after a descent, with its gain and where it ended.
fn descended<O: Operator>(crew: Crew, world: &World, tour: &[u32], breadth: u32) -> (Vec<u32>, i64, u32) {
    descended_from::<O>(crew, world, tour, breadth, world.n / 2)
}

/// The same, from a node on.
fn descended_from<O: Operator>(
    crew: Crew,
    world: &World,
    tour: &[u32],
    breadth: u32,
    first: u32,
) -> (Vec<u32>, i64, u32) {
    let mut bench = Bench::<u16>::of(world, tour, 0);
    let view = Shareable::new(bench.view(world.numbered(), breadth, Free));
    let dirty = Shareable::new(bench.dirty());
    let operator = PhantomData::<O>;
    let (gained, last) = crew.run(Descend { view, dirty, first, operator });
    assert!(bench.dirty.iter().all(|&word| word == 0));
    (bench.nodes(), gained, last)
}

fn descended_together<O: Operator>(crew: Crew, world: &World, tour: &[u32], regions: u32) -> (Vec<u32>, i64) {
    let mut bench = Bench::<u16>::of(world, tour, 0);
    let mut proposals = Array::<u32>::rubbish(proposal_words(regions) as usize);
    let gained = crew.run(Together {
        view: Shareable::new(bench.view(world.numbered(), world.k, Free)),
        dirty: Shareable::new(bench.dirty()),
        proposals: Shareable::new(proposals.slots()),
        regions,
        operator: PhantomData::<O>,
    });
    assert!(bench.dirty.iter().all(|&word| word == 0));
    (bench.nodes(), gained)
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
        let mut tour = dice.shuffled(n);
        loop {
            let (new, gained, _) = descended::<O>(Crew::One, &world, &tour, n);
            assert_eq!(gained, world.cost(&tour) - world.cost(&new));
            tour = new;
            if gained == 0 {
                break;
            }
        }
        is_optimal::<O>(&world, &tour);
        let mut tour = dice.shuffled(n);
        loop {
            let (new, gained) = descended_together::<O>(Crew::One, &world, &tour, 1 + n / 20);
            assert_eq!(gained, world.cost(&tour) - world.cost(&new));
            tour = new;
            if gained == 0 {
                break;
            }
        }
        is_optimal::<O>(&world, &tour);
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

/// All teams descend as one thread does.
fn teams_agree<O: Operator>(seed: u64) {
    let mut dice = Dice::new(seed);
    for (n, extent) in [(20, 5), (70, 1000)] {
        let world = World::plane(n, 6, extent, &mut dice);
        let start = dice.shuffled(n);
        let alone = descended::<O>(Crew::One, &world, &start, 4);
        assert!(alone.1 > 0);
        for crew in crews() {
            assert_eq!(descended::<O>(crew, &world, &start, 4), alone, "{crew:?}, n {n}");
        }
    }
}

#[test]
fn teams_descend_as_one_thread_does() {
    teams_agree::<TwoOpt>(21);
    teams_agree::<OrOpt>(22);
    teams_agree::<Or2opt>(23);
    teams_agree::<ThreeOpt>(24);
}

/// All teams descend as one thread does with as many regions; gains are exact.
fn teams_agree_together<O: Operator>(seed: u64) {
    let mut dice = Dice::new(seed);
    // One word of bits, and several; more regions than words, and fewer.
    for (n, extent) in [(20, 5), (150, 1000)] {
        let world = World::plane(n, 6, extent, &mut dice);
        let start = dice.shuffled(n);
        for regions in [1, 2, 3, 5, 8] {
            let alone = descended_together::<O>(Crew::One, &world, &start, regions);
            assert_eq!(alone.1, world.cost(&start) - world.cost(&alone.0), "n {n}, {regions} regions");
            for crew in crews() {
                // The larger instance on the teams that differ most.
                if n > 100 && !matches!(crew, Crew::Parts(..) | Crew::Many(3, _)) {
                    continue;
                }
                let team = descended_together::<O>(crew, &world, &start, regions);
                assert_eq!(team, alone, "{crew:?}, n {n}, {regions} regions");
            }
        }
    }
}

#[test]
fn teams_descend_together_as_one_thread_does() {
    teams_agree_together::<TwoOpt>(31);
    teams_agree_together::<Or2opt>(32);
}

#[test]
fn teams_descend_together_by_three_opt_as_one_thread_does() {
    teams_agree_together::<ThreeOpt>(33);
}

#[test]
fn the_number_of_regions_decides_in_which_order_moves_are_made() {
    let mut dice = Dice::new(34);
    let world = World::plane(150, 6, 1000, &mut dice);
    let start = dice.shuffled(150);
    let [one, five] = [1, 5].map(|regions| descended_together::<Or2opt>(Crew::One, &world, &start, regions));
    assert_ne!(edges(&one.0), edges(&five.0));
}

/// A descent with a journal, and back.
struct ThereAndBack<O> {
    view: Shareable<Viewed>,
    dirty: Shareable<Dirty>,
    entries: Shareable<Slots<u16>>,
    capacity: u32,
    back: bool,
    operator: PhantomData<O>,
}

impl<O: Operator> Job for ThereAndBack<O> {
    type Result = (i64, bool);
    fn work<T: Team>(&self, team: T) -> (i64, bool) {
        let (view, dirty) = (self.view.get(), self.dirty.get());
        // SAFETY: view, bits and journal are this team's.
        unsafe {
            let mut journal = descend::Journal::new(self.entries.get(), self.capacity);
            dirty.fill(team, true);
            let mut last = 0;
            let gained = descend::<T, O, _, _, _>(team, view, dirty, &mut last, Some(&mut journal));
            let full = !journal.has_room(3);
            if self.back {
                journal.undo(team, view);
            }
            (gained, full)
        }
    }
}

fn journal_restores<O: Operator>(seed: u64) {
    let mut dice = Dice::new(seed);
    let mut full_journals = 0;
    for n in [6, 13, 40, 64] {
        let world = World::any(n, 6, &mut dice);
        let start = dice.shuffled(n);
        for capacity in [0, 1, 3, 10, 500] {
            for crew in [Crew::One, Crew::Many(3, Order::Mixed)] {
                for back in [false, true] {
                    let mut bench = Bench::<u16>::of(&world, &start, capacity);
                    let (gained, full) = crew.run(ThereAndBack {
                        view: Shareable::new(bench.view(world.numbered(), 4, Free)),
                        dirty: Shareable::new(bench.dirty()),
                        entries: Shareable::new(bench.journal.slots()),
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
                        let without = descended_from::<O>(Crew::One, &world, &start, 4, 0);
                        assert!(full || end == without.0, "n {n}, {capacity} exchanges, {crew:?}");
                        full_journals += full as u32;
                    }
                    assert!(bench.dirty.iter().all(|&word| word == 0));
                }
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
    for _ in 0..200 {
        let (some, first) = (dice.shuffled(n)[..1 + dice.below(6) as usize].to_vec(), dice.below(n));
        let mut last = first;
        // SAFETY: nodes of the instance, and one thread.
        let gained = unsafe {
            some.iter().for_each(|&node| bench.dirty().insert::<Serial>(node));
            let view = bench.view(world.numbered(), 3, Free);
            descend::<Serial, ThreeOpt, _, _, _>(Serial, view, bench.dirty(), &mut last, None)
        };
        // The node that is looked at last is the one most steps ahead; the first one itself comes at the end.
        let expected = *some.iter().max_by_key(|&&node| (node + n - first - 1) % n).unwrap();
        assert_eq!((gained, last), (0, expected), "{some:?} from {first}");
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
