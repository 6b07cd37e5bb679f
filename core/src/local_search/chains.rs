//! Several chains at once: what happens between their rounds.

use crate::team::{Slots, Team};

/// What the chains of a run have found so far. It lives where the chains live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct ChainsState {
    /// Length of the best tour.
    pub best_cost: i64,
    /// Length of the best tour after the last round.
    pub round_cost: i64,
    /// Rounds done.
    pub rounds: u32,
    /// Rounds done when the best tour was found; 0: it is the start tour.
    pub best_round: u32,
    /// The chain whose tour became the best one in the last round; [`NOBODY`]: none.
    pub winner: u32,
    /// 1 once the target has been reached: all later work of the batch is skipped.
    pub done: u32,
}

const _: () = assert!(size_of::<ChainsState>() == 32);

/// No chain.
pub const NOBODY: u32 = u32::MAX;

impl ChainsState {
    /// The state before the first round, with a tour of this length.
    pub const fn new(cost: i64) -> Self {
        ChainsState { best_cost: cost, round_cost: cost, rounds: 0, best_round: 0, winner: NOBODY, done: 0 }
    }
}

/// The end of a round: what the tiles gained goes to their chains' costs, and the best of all is found; among equally
/// short tours that of the chain with the smallest number.
///
/// # Safety
/// `gains` holds `chains` x `tiles` gains, chain by chain, that nobody writes to; `costs`, an element a chain, and
/// `state` belong to the team.
#[inline(always)]
pub unsafe fn judge<T: Team>(
    team: T,
    (chains, tiles): (u32, u32),
    target: i64,
    gains: *const i64,
    costs: Slots<i64>,
    state: *mut ChainsState,
) {
    // SAFETY: the caller's promises; a chain is one part's, and reductions stand between reading and writing.
    unsafe {
        let before = *state;
        if before.done != 0 {
            return;
        }
        let part = team.part();
        let (mut least, mut who) = (i64::MAX, 0);
        let mut chain = team.part_rank();
        while chain < chains {
            let mut sum = 0i64;
            part.for_each(tiles, |tile| sum += *gains.add((chain as usize) * tiles as usize + tile as usize));
            let cost = costs.get(chain) - part.sum(sum as u64) as i64;
            part.single(|| costs.set(chain, cost));
            if cost < least {
                (least, who) = (cost, chain);
            }
            chain += team.parts();
        }
        // Costs are not negative.
        let cost = team.min(least as u64) as i64;
        let winner = team.min(if least == cost { who as u64 } else { u64::MAX }) as u32;
        let improved = cost < before.best_cost;
        team.single(|| {
            *state = ChainsState {
                best_cost: if improved { cost } else { before.best_cost },
                round_cost: cost,
                rounds: before.rounds + 1,
                best_round: if improved { before.rounds + 1 } else { before.best_round },
                winner: if improved { winner } else { NOBODY },
                done: (improved && cost <= target) as u32,
            };
        });
    }
}

/// The chain whose tour `chain` goes on with after a tournament of pairs: its own, or its rival's if that is shorter.
/// `costs` are those from before.
///
/// # Safety
/// `chain < chains`, and `costs` has as many elements.
#[inline(always)]
pub unsafe fn survivor(chains: u32, chain: u32, rival_bit: u32, costs: *const i64) -> u32 {
    let rival = chain ^ rival_bit;
    if rival >= chains {
        return chain;
    }
    // SAFETY: both are chains.
    let (own, other) = unsafe { (*costs.add(chain as usize), *costs.add(rival as usize)) };
    if other < own { rival } else { chain }
}
