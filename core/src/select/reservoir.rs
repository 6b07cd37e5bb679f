//! Weighted reservoir sampling with a reservoir of one (Efraimidis and Spirakis; Skinderowicz 2020, section
//! 4.2.2): everyone draws a key and the largest key wins.
//!
//! The paper's key is log2(u) / w; ours is w / -log2(u), which has the same order and needs no stored
//! reciprocal of the weight. Among all unvisited nodes the race is between groups of eight, by the sums of their
//! weights, and a roulette decides inside the winner: the distribution stays as it is, and an eighth of the random
//! numbers and logarithms is enough.

use super::{Select, within};
use crate::group;
use crate::rng::{Draws, exponential, reciprocal};
use crate::tabu::Tabu;
use crate::team::{Slots, Team};

/// See the [module](self).
pub enum Reservoir {}

/// The key of item `i` with weight `w`. Keys are not negative, so their bits are in the same order as they are.
#[inline(always)]
fn key(draws: Draws, i: u32, w: f32) -> u32 {
    (w * reciprocal(exponential(draws.bits(i)))).to_bits()
}

impl Select for Reservoir {
    #[inline(always)]
    fn scratch(_choices: u32) -> u32 {
        0
    }

    #[inline(always)]
    unsafe fn candidate<T: Team>(
        team: T,
        choices: u32,
        candidate: impl Fn(u32) -> (u32, f32),
        draws: Draws,
        _scratch: Slots<f32>,
    ) -> Option<u32> {
        let (mut best, mut at, mut chosen) = (0, u32::MAX, 0);
        team.for_each(choices, |i| {
            let (node, w) = candidate(i);
            if T::ALONE && w == 0.0 {
                return;
            }
            let key = key(draws, i, w);
            if key > best {
                (best, at, chosen) = (key, i, node);
            }
        });
        let (key, node) = team.arg_max(best, at, chosen);
        if key == 0 { None } else { Some(node) }
    }

    #[inline(always)]
    unsafe fn unvisited<T: Team, B: Tabu>(
        team: T,
        tabu: &B,
        row: *const f32,
        draws: Draws,
        _scratch: Slots<f32>,
    ) -> u32 {
        let groups = tabu.length().div_ceil(group::SIZE as u32);
        let (mut best, mut at) = (0, 0);
        let mut race = |g: u32, w: group::Group| {
            let w = group::sum(w);
            if T::ALONE && w == 0.0 {
                return;
            }
            let key = key(draws, g, w);
            (best, at) = if key > best { (key, g) } else { (best, at) };
        };
        // Two groups a round, so that the weights of both are on the way together. The last may be one alone:
        // it runs twice, which changes nothing.
        let mut g = team.rank();
        while g < groups {
            let other = g + team.size();
            let other = if other < groups { other } else { g };
            // SAFETY: both groups begin below the tabu's length.
            let (a, b) = unsafe { (tabu.weights(team, row, g), tabu.weights(team, row, other)) };
            race(g, a);
            race(other, b);
            g += 2 * team.size();
        }
        // Each member looks inside its own best group before the race is decided: after that the tabu may change.
        // SAFETY: as above; without any group of its own a member looks into the first, in vain.
        let node = unsafe { within(team, tabu, row, at, draws) };
        team.arg_max(best, at, node).1
    }
}
