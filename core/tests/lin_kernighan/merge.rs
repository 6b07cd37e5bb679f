//! Rounds of trials and merges.

use crate::common::teams::{Order, Shareable, run, run_in_parts};
use crate::common::world::{Dice, World};
use crate::lin_kernighan::scene::Scene;
use antwarp_core::lin_kernighan::merge::{self, Merged};
use antwarp_core::lin_kernighan::trial::{self, TrialRound, UNLIMITED};
use antwarp_core::operator::LinKernighan;
use antwarp_core::rng::Stream;
use antwarp_core::team::Serial;

/// Trials of a round, by one thread.
fn try_all(scene: &mut Scene, round: TrialRound) {
    let (tour, changes) = (scene.tour(), scene.changes());
    for t in 0..round.trials {
        // SAFETY: the scene's arrays.
        unsafe {
            let memory = scene.memory.start().cast();
            trial::run(
                Serial,
                LinKernighan,
                tour,
                memory,
                round,
                Stream::new(round.seed, round.number, 0),
                t,
                changes,
            );
        }
    }
}

fn place_all(scene: &mut Scene, cuts: u32) {
    let (tour, changes, board, next) = (scene.tour(), scene.changes(), scene.board(), scene.next());
    for p in 0..tour.n {
        // SAFETY: as above.
        unsafe { merge::place(tour, board, changes, cuts, p, next) };
    }
    if cuts == 0 {
        return;
    }
    scene.turn_over();
}

fn rounds(trials: u32, number: u32) -> TrialRound {
    let walk = if number == 0 { 0 } else { 20 };
    TrialRound { seed: 5, number, trials, walk, temperature: 10.0, looks: UNLIMITED, padding: 0 }
}

#[test]
fn merged_tours_are_as_much_shorter_as_their_changes_say() {
    let mut dice = Dice::new(5);
    let mut all = Merged::default();
    for case in 0..30 {
        let n = 8 + dice.below(400);
        // Gains that 32 bits do not hold are as large as each other, and no larger than a claim can be.
        let is_huge = case % 6 == 5;
        let world = if is_huge {
            World::lawless(n, 8, 2_000_000_000, &mut dice)
        } else {
            World::any(n, 8, &mut dice)
        };
        // So many that they often meet.
        let trials = 1 + n / 10;
        let mut scene = Scene::new(world, trials, &mut dice);
        for number in 0..20 {
            try_all(&mut scene, rounds(trials, number));
            let before = scene.world.cost(&scene.nodes);
            let (tour, board, changes) = (scene.tour(), scene.board(), scene.changes());
            // SAFETY: as above.
            let merged = unsafe { merge::plan(Serial, tour, board, changes, trials) };
            place_all(&mut scene, merged.cuts);
            assert_eq!(before - scene.world.cost(&scene.nodes), merged.gain);
            assert!(merged.made <= merged.offered);
            all.made += merged.made;
            all.offered += merged.offered;
        }
    }
    assert!(all.made > 1000 && all.offered > all.made + 100, "{all:?}");
}

#[test]
fn every_team_merges_alike() {
    let mut dice = Dice::new(6);
    for case in 0..6 {
        let n = 8 + dice.below(200);
        let world = World::any(n, 8, &mut dice);
        let trials = 1 + n / 10;
        let mut scene = Scene::new(world, trials, &mut dice);
        for number in 0..4 {
            try_all(&mut scene, rounds(trials, number));
            let counts = scene.count.to_vec();
            let (tour, board, changes) = (scene.tour(), scene.board(), scene.changes());
            let whole = [Order::Ascending, Order::Descending, Order::Mixed, Order::Together].map(Some);
            // As blocks have them, whose warps are teams of their own: fewer and more parts than trials.
            for (size, order) in [5, 8, 3, 16].into_iter().zip(whole).chain([(3, None), (30, None)]) {
                let shared = Shareable::new((tour, board, changes));
                let merged = match order {
                    // SAFETY: as above.
                    Some(order) => run(size, order, |team| unsafe {
                        let (tour, board, changes) = shared.get();
                        merge::plan(team, tour, board, changes, trials)
                    }),
                    // SAFETY: as above.
                    None => run_in_parts(size, 2, |team| unsafe {
                        let (tour, board, changes) = shared.get();
                        merge::plan(team, tour, board, changes, trials)
                    }),
                };
                assert!(merged.iter().all(|m| *m == merged[0]));
                let begins: Vec<u32> =
                    // SAFETY: as many segments as cuts.
                    (0..merged[0].cuts).map(|s| unsafe { board.segment_start.get(s) }).collect();
                let left = scene.count.to_vec();
                // SAFETY: the counts as they were.
                (0..).zip(&counts).for_each(|(t, &c)| unsafe { changes.count.set(t, c) });
                // SAFETY: as above.
                let expected = unsafe { merge::plan(Serial, tour, board, changes, trials) };
                assert_eq!(merged[0], expected, "case {case}, {size} members, {order:?}");
                assert_eq!(left, scene.count.to_vec());
                // SAFETY: as above.
                let own: Vec<u32> =
                    (0..expected.cuts).map(|s| unsafe { board.segment_start.get(s) }).collect();
                assert_eq!(begins, own);
                // SAFETY: the counts as they were.
                (0..).zip(&counts).for_each(|(t, &c)| unsafe { changes.count.set(t, c) });
            }
            // SAFETY: as above.
            let merged = unsafe { merge::plan(Serial, tour, board, changes, trials) };
            place_all(&mut scene, merged.cuts);
        }
    }
}
