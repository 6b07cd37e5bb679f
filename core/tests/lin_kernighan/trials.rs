//! Trials: what they write down, the same by every team.

use crate::common::teams::{ORDERS, Shareable, run};
use crate::lin_kernighan::scene::Scene;
use crate::local_search::world::{Dice, World, edge, edges, replaced, tour_of};
use antwarp_core::lin_kernighan::cuts::MOST;
use antwarp_core::lin_kernighan::trial::{self, TrialRound, UNLIMITED};
use antwarp_core::operator::{LinKernighan, Or2opt, OrOpt, Reach, Shallow, ThreeOpt, TwoOpt};
use antwarp_core::rng::Stream;
use antwarp_core::team::Serial;

fn round(number: u32, trials: u32, temperature: f32) -> TrialRound {
    // Short walks often end where they began.
    let walk = if number.is_multiple_of(4) { 0 } else { 1 + number % 30 };
    let looks = if number % 5 == 1 { number % 40 } else { UNLIMITED };
    TrialRound { seed: 7, number, trials, walk, temperature, looks, padding: 0 }
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
            let cuts = &scene.cuts[(t * MOST) as usize..][..scene.count[t as usize] as usize];
            if cuts.is_empty() {
                continue;
            }
            changed += 1;
            let nodes = &scene.nodes;
            let at = |p: u32| nodes[(p % n) as usize];
            let gone: Vec<_> = cuts.iter().map(|&[p, ..]| edge(at(p), at(p + 1))).collect();
            // Every edge that comes in is told from both of its ends.
            let mut come: Vec<_> =
                cuts.iter().flat_map(|&[p, a, b]| [edge(at(p), a), edge(at(p + 1), b)]).collect();
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
            assert!(round.temperature > 0.0 || scene.gain[t as usize] >= 0);
        }
    }
    assert!(changed > 200, "{changed}");
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
        for (size, order) in [(14, ORDERS[0]), (15, ORDERS[1]), (32, ORDERS[2]), (16, ORDERS[3])] {
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
    teams_agree(LinKernighan, 12);
}
