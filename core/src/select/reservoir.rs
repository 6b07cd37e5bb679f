//! Weighted reservoir sampling with a reservoir of one (Efraimidis and Spirakis; Skinderowicz 2020, section
//! 4.2.2): each leaf draws a key and the largest key wins.
//!
//! The paper's key is log2(u) / w; ours is w / -log2(u), which has the same order and needs no stored
//! reciprocal of the weight. In a full row the leaves are groups of eight: the race is between the groups'
//! sums and a roulette decides inside the winner, which leaves the distribution as it is and needs an eighth of
//! the random numbers and logarithms.

use super::Select;
use crate::rng::{Draws, exponential};
use crate::team::{Slots, Team};

/// See the [module](self).
pub enum Reservoir {}

impl Select for Reservoir {
    #[inline(always)]
    fn scratch(_leaves: u32) -> u32 {
        0
    }

    #[inline(always)]
    unsafe fn leaf<T: Team>(
        team: T,
        leaves: u32,
        weight: impl Fn(u32) -> f32,
        draws: Draws,
        _scratch: Slots<f32>,
    ) -> Option<u32> {
        let (mut best, mut at) = (0, u32::MAX);
        team.for_each(leaves, |i| {
            let chance = 1.0 / exponential(draws.bits(i));
            // Keys are not negative, so their bits are in the same order as they are.
            let key = (weight(i) * chance).to_bits();
            if key > best {
                (best, at) = (key, i);
            }
        });
        let (key, at) = team.arg_max(best, at);
        if key == 0 { None } else { Some(at) }
    }
}
