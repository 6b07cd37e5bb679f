//! Random moves.

use crate::papers::neighborhood::{Neighborhood, Walk};
use crate::rng::Draws;
use crate::team::Team;

/// Draws a uniform neighbour, from items `item` and the next of a step.
#[inline(always)]
pub(super) fn random_neighbor(draws: Draws, item: u32, len: u64) -> u64 {
    let bits = (draws.bits(item) as u64) << 32 | draws.bits(item + 1) as u64;
    ((bits as u128 * len as u128) >> 64) as u64
}

/// Makes this many random moves of the first level, drawn in a step of the walk's stream, and waits for the team.
///
/// # Safety
/// The walk is of this neighbourhood, which has neighbours; nobody accesses its solution meanwhile.
#[inline(always)]
pub(super) unsafe fn kick<T: Team, N: Neighborhood>(
    team: T,
    moves: &N,
    walk: &Walk<N::Element>,
    kicks: u32,
    step: u32,
) {
    let draws = walk.stream.step(step);
    let mut kick = 0;
    while kick < kicks {
        let neighbor = random_neighbor(draws, 2 * kick, moves.level(0).1);
        // SAFETY: the caller's promise.
        unsafe { moves.apply(team, walk, moves.at(neighbor)) };
        kick += 1;
    }
}
