//! Choosing the next node with probability proportional to its weight (Skinderowicz 2020, section 4.2).
//!
//! Two methods with the same distribution: [`reservoir`] and [`roulette`]. To choose among all unvisited nodes, both process
//! [groups](crate::group) of eight slots and then choose inside one; in a candidate list they process single candidates.

pub mod reservoir;
pub mod roulette;

pub use reservoir::Reservoir;
pub use roulette::Roulette;

use crate::group;
use crate::papers::ants::tabu::Tabu;
use crate::rng::Draws;
use crate::team::{Slots, Team};

/// The item whose draw decides inside a group; others use the numbers from 0 up.
const WITHIN: u32 = u32::MAX;

/// A method of choosing with probability proportional to weight. Every member calls it; the result is the same on all.
pub trait Select {
    /// Returns the floats of team memory for up to `choices` candidates, or groups of eight nodes.
    fn scratch(choices: u32) -> u32;

    /// Chooses one of `choices` candidates, at least one, and returns its node. `candidate` returns a candidate's node and weight,
    /// which is not negative; any member may ask it. `None` if all of them weigh 0.
    ///
    /// When this returns, every member has read all it reads of the team's memory except `scratch`.
    ///
    /// # Safety
    /// `scratch` has [`Select::scratch`] floats at a 16-byte boundary, owned by the team.
    unsafe fn candidate<T: Team>(
        team: T,
        choices: u32,
        candidate: impl Fn(u32) -> (u32, f32),
        draws: Draws,
        scratch: Slots<f32>,
    ) -> Option<u32>;

    /// Chooses an unvisited node by its weight in `row`.
    ///
    /// When this returns, every member has read all it reads of the team's memory except `scratch`.
    ///
    /// # Safety
    /// As [`Tabu::weights`] requires; `scratch` as above, for as many choices as groups; at least one node is unvisited, and
    /// unvisited nodes weigh more than 0.
    unsafe fn unvisited<T: Team, B: Tabu>(
        team: T,
        tabu: &B,
        row: *const f32,
        draws: Draws,
        scratch: Slots<f32>,
    ) -> u32;
}

/// Chooses by roulette inside a group of the tabu's slots.
///
/// # Safety
/// As [`Tabu::weights`].
#[inline(always)]
unsafe fn within<T: Team, B: Tabu>(team: T, tabu: &B, row: *const f32, group: u32, draws: Draws) -> u32 {
    // SAFETY: the caller's promise.
    let w = unsafe { tabu.weights(team, row, group) };
    let (k, _) = group::pick(w, draws.unit(WITHIN) * group::sum(w));
    tabu.candidate(group * group::SIZE as u32 + k).unwrap_or(0)
}
