//! Roulette wheel (Skinderowicz 2020, section 4.2.1): one draw, compared with prefix sums of the weights.
//!
//! The sums form a tree with eight children per node, built level by level by the whole team and descended by every member alike.
//! The tree's shape, and so the rounding, depends only on the number of leaves, so every team gets the same sums.

use super::{Select, WITHIN, within};
use crate::group::{self, SIZE, round_up};
use crate::papers::ants::tabu::Tabu;
use crate::rng::Draws;
use crate::team::{Slots, Team};

/// See the [module](self).
pub enum Roulette {}

/// The item that is drawn; distinct from the one that decides inside a group.
const SPIN: u32 = WITHIN - 1;

/// Where a level of the tree starts, and how many of its entries are in use.
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

/// Chooses a leaf of the tree over `leaves` weights; `None` if all are 0.
///
/// # Safety
/// As [`Select::candidate`]; `weight` may be called for every number below `leaves`, at least one.
#[inline(always)]
unsafe fn leaf<T: Team>(
    team: T,
    leaves: u32,
    weight: impl Fn(u32) -> f32,
    draws: Draws,
    scratch: Slots<f32>,
) -> Option<u32> {
    // SAFETY: indices stay inside the levels, whose sizes `scratch` accounts for; a barrier separates the writing of a level and
    // its reading.
    unsafe {
        let bottom = Level { start: 0, length: leaves };
        team.for_each(round_up(leaves), |i| scratch.set(i, if i < leaves { weight(i) } else { 0.0 }));
        team.barrier();
        let (top, depth) = build(team, bottom, scratch);
        let sums = group::load(scratch.run(top.start, SIZE as u32));
        let total = group::sum(sums);
        let (mut at, mut left) = group::pick(sums, draws.unit(SPIN) * total);
        let mut level = depth;
        while level > 0 {
            level -= 1;
            let mut below = bottom;
            let mut i = 0;
            while i < level {
                below = below.parent();
                i += 1;
            }
            let children = group::load(scratch.run(below.start + at * SIZE as u32, SIZE as u32));
            let (k, rest) = group::pick(children, left);
            (at, left) = (at * SIZE as u32 + k, rest);
        }
        if total > 0.0 { Some(at) } else { None }
    }
}

/// Builds the levels above `bottom`; returns the topmost, of at most eight sums, and how many are below it.
///
/// # Safety
/// As [`leaf`]; `bottom` has been written, followed by a barrier.
#[inline(always)]
unsafe fn build<T: Team>(team: T, bottom: Level, scratch: Slots<f32>) -> (Level, u32) {
    let (mut level, mut depth) = (bottom, 0);
    while level.length > SIZE as u32 {
        let (below, above) = (level, level.parent());
        // SAFETY: as above.
        team.for_each(round_up(above.length), |i| unsafe {
            let children = below.start + i * SIZE as u32;
            let inside = i < above.length;
            let sum = if inside { group::sum(group::load(scratch.run(children, SIZE as u32))) } else { 0.0 };
            scratch.set(above.start + i, sum);
        });
        team.barrier();
        level = above;
        depth += 1;
    }
    (level, depth)
}

impl Select for Roulette {
    #[inline(always)]
    fn scratch(choices: u32) -> u32 {
        let mut level = Level { start: 0, length: choices };
        while level.length > SIZE as u32 {
            level = level.parent();
        }
        level.start + SIZE as u32
    }

    #[inline(always)]
    unsafe fn candidate<T: Team>(
        team: T,
        choices: u32,
        candidate: impl Fn(u32) -> (u32, f32),
        draws: Draws,
        scratch: Slots<f32>,
    ) -> Option<u32> {
        // SAFETY: the caller's promise.
        let i = unsafe { leaf(team, choices, |i| candidate(i).1, draws, scratch) };
        i.map(|i| candidate(i).0)
    }

    #[inline(always)]
    unsafe fn unvisited<T: Team, B: Tabu>(
        team: T,
        tabu: &B,
        row: *const f32,
        draws: Draws,
        scratch: Slots<f32>,
    ) -> u32 {
        let groups = tabu.length().div_ceil(SIZE as u32);
        // SAFETY: the caller's promise; every group asked for begins below the tabu's length.
        let node = unsafe {
            let weight = |g| group::sum(tabu.weights(team, row, g));
            let g = leaf(team, groups, weight, draws, scratch).unwrap_or(0);
            within(team, tabu, row, g, draws)
        };
        // Every member has read the tabu: from here on it may change.
        team.barrier();
        node
    }
}
