//! Weighted reservoir sampling with a reservoir of one (Efraimidis and Spirakis; Skinderowicz 2020, section
//! 4.2.2): everyone draws a key and the largest key wins.
//!
//! The paper's key is log2(u) / w; ours is w / -log2(u), which has the same order and needs no stored reciprocal of the weight.
//! Among all unvisited nodes the race is between up to 64 leaves: leaf l holds the groups l, l + 64, ... of the tabu. A leaf
//! competes with the sum of its weights, keeps one of its groups as it meets them, each with the probability of its share so far
//! (Chao 1982), and a roulette decides inside the group. Each node still wins in proportion to its weight, and one logarithm per
//! leaf is enough.

use super::{Select, within};
use crate::group;
use crate::papers::ants::tabu::Tabu;
use crate::rng::{Draws, exponential, reciprocal};
use crate::team::{Slots, Team};

/// See the [module](self).
pub enum Reservoir {}

/// Leaves over which all unvisited nodes are distributed. More would keep a larger team busy, fewer would draw fewer logarithms.
const LEAVES: u32 = 64;

/// Returns the key of item `i` with weight `w`. Keys are not negative, so their bits are in the same order as they are.
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
        let (mut best, mut at, mut chosen) = (0, u32::MAX, 0);
        let mut race = |l: u32, sum: f32, kept: u32| {
            let key = key(draws, l, sum);
            (best, at, chosen) = if key > best { (key, l, kept) } else { (best, at, chosen) };
        };
        // SAFETY: groups asked for begin below the tabu's length.
        let weights = |g: u32| unsafe { tabu.weights(team, row, g) };
        // One group per leaf is a special case: small instances need few instructions.
        if groups <= LEAVES {
            team.for_each(groups, |l| race(l, group::sum(weights(l)), l));
        } else {
            team.for_each(LEAVES, |l| {
                let (mut sum, mut kept, mut g) = (group::sum(weights(l)), l, l + LEAVES);
                while g < groups {
                    let w = group::sum(weights(g));
                    sum += w;
                    kept = if draws.unit(LEAVES + g) * sum < w { g } else { kept };
                    g += LEAVES;
                }
                race(l, sum, kept);
            });
        }
        // Each member chooses inside its own best group before the race is decided: after that the tabu may change.
        // SAFETY: as above; a member without any leaf uses the first group, to no effect.
        let node = unsafe { within(team, tabu, row, chosen, draws) };
        team.arg_max(best, at, node).1
    }
}
