//! Choosing the next node with probability proportional to its weight (Skinderowicz 2020, section 4.2).
//!
//! Two methods with the same distribution: [`reservoir`] and [`roulette`]. Each chooses among *leaves*: in
//! a full row a leaf is a [group](crate::group) of eight slots, in a candidate list it is one candidate.

pub mod reservoir;
pub mod roulette;

pub use reservoir::Reservoir;
pub use roulette::Roulette;

use crate::group;
use crate::rng::Draws;
use crate::tabu::Tabu;
use crate::team::{Slots, Team};

/// The item whose draw decides inside a group; leaves use the numbers from 0 up.
const WITHIN: u32 = u32::MAX;

/// A way to choose a leaf with probability proportional to its weight.
pub trait Select {
    /// Floats of team memory for up to `leaves` leaves.
    fn scratch(leaves: u32) -> u32;

    /// Chooses a leaf, given its weight as a function of its number; the same answer on every member.
    ///
    /// `None` if every leaf weighs 0. Members may still be reading `scratch` when this returns.
    ///
    /// # Safety
    /// `scratch` has [`Select::scratch`] floats at a 16-byte boundary, owned by the team.
    unsafe fn leaf<T: Team>(
        team: T,
        leaves: u32,
        weight: impl Fn(u32) -> f32,
        draws: Draws,
        scratch: Slots<f32>,
    ) -> Option<u32>;
}

/// Chooses an unvisited node by its weight in `row`. Members may still be reading the tabu and `scratch` when
/// this returns.
///
/// # Safety
/// As [`Tabu::weights`] and [`Select::leaf`] ask; at least one node is unvisited, and unvisited nodes weigh
/// more than 0.
#[inline(always)]
pub unsafe fn unvisited<T: Team, B: Tabu, S: Select>(
    team: T,
    tabu: &B,
    row: *const f32,
    draws: Draws,
    scratch: Slots<f32>,
) -> u32 {
    let groups = tabu.length().div_ceil(group::SIZE as u32);
    // SAFETY: every group asked for is below `groups`.
    unsafe {
        let weight = |g| group::sum(tabu.weights(row, g));
        let g = S::leaf(team, groups, weight, draws, scratch).unwrap_or(0);
        let w = tabu.weights(row, g);
        let (k, _) = group::pick(w, draws.unit(WITHIN) * group::sum(w));
        tabu.candidate(g * group::SIZE as u32 + k).unwrap_or(0)
    }
}
