//! Chains of kicks and descents.

use crate::common::teams::Shareable;
use crate::world::{Bench, Crew, Dice, Job, World, crews, is_permutation, own, some_crews};
use antwarp_core::geometry::{Numbered, Places};
use antwarp_core::local_search::chain::{Accept, Gains, Rules, chain};
use antwarp_core::local_search::descend::{Journal, Round};
use antwarp_core::local_search::links::Free;
use antwarp_core::local_search::{Dirty, Operator, Or2opt, OrOpt, ThreeOpt, TwoOpt, View};
use antwarp_core::rng::{Stream, exponential};
use antwarp_core::team::{Slots, Team};
use std::marker::PhantomData;

/// Exchanges that can be taken back; some descents after a kick need more.
const JOURNAL: u32 = 20;

struct Chain<O> {
    view: Shareable<View<u16, Places<Numbered>, Free>>,
    dirty: Shareable<Dirty>,
    round: Shareable<Round>,
    entries: Shareable<Slots<u16>>,
    best: Shareable<Slots<u16>>,
    rules: Rules,
    operator: PhantomData<O>,
}

impl<O: Operator> Job for Chain<O> {
    type Result = Gains;
    fn work<T: Team>(&self, team: T) -> Gains {
        // SAFETY: everything is this team's, and large enough.
        unsafe {
            let mut journal = Journal::new(self.entries.get(), JOURNAL);
            let (view, dirty, best) = (own(team, self.view.get()), self.dirty.get(), self.best.get());
            let round = self.round.get();
            chain::<T, O, _, _, _>(team, view, dirty, round, &mut journal, best, self.rules, STREAM)
        }
    }
}

const STREAM: Stream = Stream::new(71, 2, 3);

fn rules(accept: Accept, kicks: u32) -> Rules {
    Rules {
        kicks,
        first_kick: 5,
        segment: 10,
        accept: accept as u32,
        temperature: 20.0,
        descend_first: 1,
        keep_best: 1,
        padding: 0,
    }
}

/// The gains of a chain, held to the tours it leaves, with the last tour and the best one.
fn chained<O: Operator>(
    crew: Crew,
    world: &World,
    start: &[u32],
    rules: Rules,
) -> (Gains, Vec<u32>, Option<Vec<u32>>) {
    chained_in_rounds::<O>(crew, world, start, rules, (1, false))
}

/// The same, in rounds of this width, spread or not.
fn chained_in_rounds<O: Operator>(
    crew: Crew,
    world: &World,
    start: &[u32],
    rules: Rules,
    (width, spread): (u32, bool),
) -> (Gains, Vec<u32>, Option<Vec<u32>>) {
    let mut bench = Bench::<u16>::of(world, start, JOURNAL);
    let gains = crew.run(Chain::<O> {
        view: Shareable::new(bench.view(world.numbered(), 5, Free)),
        dirty: Shareable::new(bench.dirty()),
        round: Shareable::new(bench.round(width, spread)),
        entries: Shareable::new(bench.journal.slots()),
        best: Shareable::new(bench.best.slots()),
        rules,
        operator: PhantomData,
    });
    let (last, cost) = (bench.nodes(), world.cost(start));
    assert_eq!(gains.last, cost - world.cost(&last), "{rules:?}, {crew:?}");
    assert!(gains.best >= gains.last && gains.best >= 0);
    let best = (rules.keep_best != 0).then(|| bench.best_nodes());
    if let Some(best) = &best {
        assert!(is_permutation(best));
        assert_eq!(gains.best, cost - world.cost(best), "{rules:?}, {crew:?}");
    }
    (gains, last, best)
}

const ALL: [Accept; 4] = [Accept::Better, Accept::BetterOrEqual, Accept::Always, Accept::Annealing];

/// Follows a chain kick by kick: as it goes on alike, a chain of fewer kicks is its beginning.
fn follow<O: Operator>(accept: Accept, segment: u32, seed: u64) {
    let mut dice = Dice::new(seed);
    let mut worse = 0;
    for n in [8, 9, 25, 60] {
        let world = World::any(n, 6, &mut dice);
        let start = dice.shuffled(n);
        let at = |kicks| {
            let rules = Rules { segment, ..rules(accept, kicks) };
            chained::<O>(Crew::One, &world, &start, rules)
        };
        let mut before = at(0);
        assert_eq!(before.0.last, before.0.best);
        for kicks in 1..40 {
            let after = at(kicks);
            let longer = before.0.last - after.0.last;
            let most = match accept {
                Accept::Better | Accept::BetterOrEqual => 0,
                Accept::Always => i64::MAX,
                Accept::Annealing => {
                    let bits = STREAM.step(5 + kicks - 1).bits(4);
                    (20.0 * std::f32::consts::LN_2 * exponential(bits)) as i64
                }
            };
            assert!(longer <= most, "{accept:?}, kick {kicks}: {longer} longer");
            if accept == Accept::Better && longer == 0 {
                assert_eq!(crate::world::edges(&before.1), crate::world::edges(&after.1));
            }
            assert_eq!(after.0.best, before.0.best.max(after.0.last));
            if after.0.best == before.0.best {
                assert_eq!(before.2, after.2, "the first of the best is kept");
            }
            worse += (longer > 0) as u32;
            before = after;
        }
    }
    let may_get_longer = matches!(accept, Accept::Always | Accept::Annealing);
    assert_eq!(worse > 0, may_get_longer, "{accept:?}: {worse} kicks made a tour longer");
}

#[test]
fn a_chain_accepts_by_its_rule_and_keeps_the_best_tour() {
    for accept in ALL {
        follow::<TwoOpt>(accept, 0, 81);
        follow::<Or2opt>(accept, 10, 82);
        follow::<ThreeOpt>(accept, 3, 83);
    }
}

#[test]
fn chains_gain() {
    let mut dice = Dice::new(72);
    let world = World::plane(100, 6, 1000, &mut dice);
    let start = dice.shuffled(100);
    for accept in ALL {
        let [none, many] =
            [0, 300].map(|kicks| chained::<Or2opt>(Crew::One, &world, &start, rules(accept, kicks)).0);
        assert!(many.best > none.best, "{accept:?}");
    }
}

#[test]
fn without_heat_annealing_accepts_what_is_not_longer() {
    let mut dice = Dice::new(73);
    let world = World::plane(50, 6, 10, &mut dice);
    let start = dice.shuffled(50);
    let cold = Rules { temperature: 0.0, ..rules(Accept::Annealing, 100) };
    let expected = chained::<Or2opt>(Crew::One, &world, &start, rules(Accept::BetterOrEqual, 100));
    assert_eq!(chained::<Or2opt>(Crew::One, &world, &start, cold), expected);
}

#[test]
fn without_a_first_descent_only_kicked_nodes_are_looked_at() {
    let mut dice = Dice::new(74);
    let world = World::plane(40, 6, 1000, &mut dice);
    let start = dice.shuffled(40);
    let still = Rules { descend_first: 0, ..rules(Accept::Better, 0) };
    let (gains, last, best) = chained::<Or2opt>(Crew::One, &world, &start, still);
    assert_eq!((gains, &last, best.as_ref()), (Gains { last: 0, best: 0 }, &start, Some(&start)));
    let kicked = Rules { kicks: 50, ..still };
    assert!(chained::<Or2opt>(Crew::One, &world, &start, kicked).0.last > 0);
}

#[test]
fn the_number_of_the_first_kick_decides_on_the_kicks() {
    let mut dice = Dice::new(75);
    let world = World::plane(60, 6, 1000, &mut dice);
    let start = dice.shuffled(60);
    let [a, b] = [5, 6].map(|first_kick| {
        let rules = Rules { first_kick, ..rules(Accept::Always, 3) };
        chained::<Or2opt>(Crew::One, &world, &start, rules).1
    });
    assert_ne!(a, b);
}

fn teams_agree<O: Operator>(seed: u64) {
    let mut dice = Dice::new(seed);
    let world = World::plane(26, 6, 30, &mut dice);
    let start = dice.shuffled(26);
    for accept in ALL {
        for (segment, keep_best, round) in [(0, 1, (1, false)), (8, 0, (3, false)), (8, 1, (4, true))] {
            let rules = Rules { segment, keep_best, ..rules(accept, 4) };
            let run = |crew| chained_in_rounds::<O>(crew, &world, &start, rules, round);
            let alone = run(Crew::One);
            let all = round.0 == 1 && accept == Accept::Annealing;
            for crew in if all { crews() } else { some_crews() } {
                assert_eq!(run(crew), alone, "{crew:?}, {rules:?}, {round:?}");
            }
        }
    }
}

#[test]
fn teams_run_the_chains_that_one_thread_runs() {
    teams_agree::<OrOpt>(76);
    teams_agree::<ThreeOpt>(77);
}
