//! What happens between the rounds of several chains.

use crate::common::memory::Array;
use crate::common::teams::Shareable;
use crate::world::{Crew, Dice, Job, crews};
use antwarp_core::local_search::chains::{ChainsState, NOBODY, judge, survivor};
use antwarp_core::team::{Slots, Team};

struct Judge {
    sizes: (u32, u32),
    target: i64,
    gains: Shareable<*const i64>,
    costs: Shareable<Slots<i64>>,
    state: Shareable<*mut ChainsState>,
}

impl Job for Judge {
    type Result = ();
    fn work<T: Team>(&self, team: T) {
        let (gains, costs, state) = (self.gains.get(), self.costs.get(), self.state.get());
        // SAFETY: the arrays have the sizes told, and are this team's.
        unsafe { judge(team, self.sizes, self.target, gains, costs, state) }
    }
}

/// Costs and state after a round.
fn judged(
    crew: Crew,
    sizes: (u32, u32),
    target: i64,
    gains: &[i64],
    costs: &[i64],
    mut state: ChainsState,
) -> (Vec<i64>, ChainsState) {
    let mut costs = Array::of(costs);
    crew.run(Judge {
        sizes,
        target,
        gains: Shareable::new(gains.as_ptr()),
        costs: Shareable::new(costs.slots()),
        state: Shareable::new(&mut state),
    });
    (costs.to_vec(), state)
}

fn model(
    tiles: u32,
    target: i64,
    gains: &[i64],
    costs: &[i64],
    mut state: ChainsState,
) -> (Vec<i64>, ChainsState) {
    if state.done != 0 {
        return (costs.to_vec(), state);
    }
    let gained = gains.chunks(tiles as usize).map(|gains| gains.iter().sum::<i64>());
    let costs: Vec<i64> = costs.iter().zip(gained).map(|(cost, gain)| cost - gain).collect();
    state.round_cost = *costs.iter().min().unwrap();
    state.rounds += 1;
    state.winner = NOBODY;
    if state.round_cost < state.best_cost {
        state.best_cost = state.round_cost;
        state.best_round = state.rounds;
        state.winner = costs.iter().position(|&cost| cost == state.round_cost).unwrap() as u32;
        state.done = (state.best_cost <= target) as u32;
    }
    (costs, state)
}

#[test]
fn a_round_is_judged_as_its_definition_says() {
    let mut dice = Dice::new(121);
    let all = crews();
    // Rounds with a new best tour, without; with equally good ones; that reach the target.
    let mut seen = [0; 4];
    for case in 0..60 {
        let sizes @ (chains, tiles) = (1 + dice.below(9), 1 + dice.below(12));
        // Far above 32 bits, so that sums need all of 64.
        let base = [200, 1 << 40][case % 2];
        let target = if case % 3 == 0 { base - 8 } else { 0 };
        let mut state = ChainsState::new(base);
        let mut costs = vec![base; chains as usize];
        for round in 0..6 {
            // Tours get longer, too.
            let gains: Vec<i64> = (0..chains * tiles).map(|_| i64::from(dice.below(7)) - 3).collect();
            let expected = model(tiles, target, &gains, &costs, state);
            assert_eq!(judged(Crew::One, sizes, target, &gains, &costs, state), expected);
            let crew = all[(6 * case + round) % all.len()];
            let team = judged(crew, sizes, target, &gains, &costs, state);
            assert_eq!(team, expected, "{crew:?}, {sizes:?}");
            let best = expected.0.iter().filter(|&&cost| cost == expected.1.round_cost).count();
            seen[0] += (expected.1.winner != NOBODY) as u32;
            seen[1] += (expected.1.winner == NOBODY) as u32;
            seen[2] += (expected.1.winner != NOBODY && best > 1) as u32;
            seen[3] += (state.done == 0 && expected.1.done != 0) as u32;
            (costs, state) = expected;
        }
    }
    assert!(seen.iter().all(|&times| times > 5), "{seen:?}");
}

#[test]
fn after_the_target_nothing_is_judged() {
    let done = ChainsState { done: 1, winner: 1, ..ChainsState::new(50) };
    for crew in crews().into_iter().chain([Crew::One]) {
        let (costs, state) = judged(crew, (2, 2), 60, &[9, 9, 9, 9], &[70, 50], done);
        assert_eq!((costs, state), (vec![70, 50], done), "{crew:?}");
    }
}

#[test]
fn of_two_rivals_the_shorter_tour_survives() {
    let mut dice = Dice::new(122);
    for chains in 1..20u32 {
        let costs: Vec<i64> = (0..chains).map(|_| i64::from(dice.below(5)) + (1 << 40)).collect();
        for rival_bit in [1, 2, 4, 8, 16] {
            for chain in 0..chains {
                // SAFETY: a cost a chain.
                let from = unsafe { survivor(chains, chain, rival_bit, costs.as_ptr()) };
                let low = chain & !rival_bit;
                let pair: Vec<u32> = [low, low | rival_bit].into_iter().filter(|&c| c < chains).collect();
                let cost = |chain: u32| costs[chain as usize];
                assert!(pair.contains(&from));
                assert_eq!(cost(from), pair.iter().map(|&c| cost(c)).min().unwrap());
                assert!(from == chain || cost(from) < cost(chain), "equal tours stay");
            }
        }
    }
}
