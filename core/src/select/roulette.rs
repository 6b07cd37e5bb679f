//! Roulette wheel (Skinderowicz 2020, section 4.2.1): one draw, compared with prefix sums of the weights.
//!
//! The sums form a tree with eight children a node, built level by level by the whole team and descended by
//! every member alike. The tree's shape, and with it the rounding, depends on the number of leaves only, so
//! every team gets the same sums.

use super::{Select, WITHIN};
use crate::group::{self, SIZE, round_up};
use crate::rng::Draws;
use crate::team::{Slots, Team};

/// See the [module](self).
pub enum Roulette {}

/// The item that is drawn; apart from the one that decides inside a group.
const SPIN: u32 = WITHIN - 1;

/// Where a level of the tree begins, and how many of its entries are in use.
#[derive(Clone, Copy)]
struct Level {
    start: u32,
    length: u32,
}

impl Level {
    const fn parent(self) -> Level {
        Level { start: self.start + round_up(self.length), length: self.length.div_ceil(SIZE as u32) }
    }
}

impl Select for Roulette {
    #[inline(always)]
    fn scratch(leaves: u32) -> u32 {
        let mut level = Level { start: 0, length: leaves };
        while level.length > SIZE as u32 {
            level = level.parent();
        }
        level.start + SIZE as u32
    }

    #[inline(always)]
    unsafe fn leaf<T: Team>(
        team: T,
        leaves: u32,
        weight: impl Fn(u32) -> f32,
        draws: Draws,
        scratch: Slots<f32>,
    ) -> Option<u32> {
        // SAFETY: indices stay inside the levels, whose sizes `scratch` accounts for; a barrier stands between
        // the writing of a level and its reading.
        unsafe {
            let bottom = Level { start: 0, length: leaves };
            team.for_each(round_up(leaves), |i| scratch.set(i, if i < leaves { weight(i) } else { 0.0 }));
            team.barrier();
            let (mut level, mut depth) = (bottom, 0);
            while level.length > SIZE as u32 {
                let (below, above) = (level, level.parent());
                team.for_each(round_up(above.length), |i| {
                    let children = below.start + i * SIZE as u32;
                    let inside = i < above.length;
                    let sum = if inside { group::sum(group::load(scratch.at(children))) } else { 0.0 };
                    scratch.set(above.start + i, sum);
                });
                team.barrier();
                level = above;
                depth += 1;
            }
            let top = group::load(scratch.at(level.start));
            let total = group::sum(top);
            let (mut at, mut left) = group::pick(top, draws.unit(SPIN) * total);
            while depth > 0 {
                depth -= 1;
                let mut below = bottom;
                let mut i = 0;
                while i < depth {
                    below = below.parent();
                    i += 1;
                }
                let children = group::load(scratch.at(below.start + at * SIZE as u32));
                let (k, rest) = group::pick(children, left);
                (at, left) = (at * SIZE as u32 + k, rest);
            }
            if total > 0.0 { Some(at) } else { None }
        }
    }
}
