//! Pheromone memories: a trail for each edge that an ant may choose, and the edge's weight in that choice.
//!
//! A table has one row per node; its [`Form`] says which node each entry of a row leads to. MAX-MIN Ant System keeps heuristic
//! values and weights in tables of the same shape and rewrites whole rows between iterations ([`prepare_row`], [`update_row`]). In
//! Ant Colony System the ants change trails as they go: through [`Memory`], with trails in a matrix ([`MatrixTrails`]), in
//! candidate lists ([`CandidateTrails`]), or for a few edges of each node ([`Selective`]).
//!
//! Trails are in units of 1 / (cost of the nearest-neighbour tour): a constant factor cancels in equation (1) of Skinderowicz 2020,
//! and this one keeps products of trails and heuristic values within the range of f32.

pub mod candidate;
pub mod matrix;
pub mod selective;

pub use candidate::{Candidate, CandidateTrails};
pub use matrix::{Matrix, MatrixTrails};
pub use selective::Selective;

use crate::distance::Distance;
use crate::papers::ants::colony::Limits;
use crate::papers::ants::tabu::Tabu;
use crate::power::power;
use crate::team::{Slots, Team};

/// The form of a table: which edges have a trail.
pub trait Form: Copy {
    /// Returns the entries per row, including padding.
    fn stride(self) -> u32;
    /// Returns the node that entry `k`, from 0, of row `node` leads to; `None` on the diagonal and in the padding.
    ///
    /// # Safety
    /// `node` is a node and `k` is below [`Form::stride`].
    unsafe fn target(self, node: u32, k: u32) -> Option<u32>;
}

/// A pheromone memory that ants read and change while they build tours. A trail belongs to a direction: from a node to another.
///
/// Loads and stores are relaxed atomics: ants that meet may lose an update, nothing else. A visit to a node consists of
/// [`Memory::enter`], [`Memory::trail`] for each candidate, [`Memory::put_back`], a barrier, [`Memory::put`], a barrier.
pub trait Memory: Copy {
    /// A team member's view of a node's trails during a visit.
    type Row: Copy;
    /// Whether trails to candidates have the candidates' numbers, so that the member that reads the candidate `back` puts its trail
    /// back.
    const LISTED: bool;
    /// Whether edges to nodes that are not candidates have trails too.
    const BEYOND: bool;

    /// Enters `node`. The trail from there to `back` will be put back; `back` is [`NONE`](crate::papers::ants::tabu::NONE) if none will.
    ///
    /// # Safety
    /// Both are nodes of the memory.
    unsafe fn enter<T: Team>(self, team: T, node: u32, back: u32) -> Self::Row;

    /// Returns the trail to candidate number `i`, which is `v`, and the entry that holds it.
    ///
    /// # Safety
    /// `i` and `v` are a candidate of the row's node.
    unsafe fn trail(self, row: Self::Row, i: u32, v: u32) -> (f32, u32);

    /// Puts back the trail announced to [`Memory::enter`], as changed by `revise`, if it was not met among the candidates.
    ///
    /// # Safety
    /// As [`Memory::enter`], and called by every member.
    unsafe fn put_back<T: Team>(self, team: T, row: Self::Row, back: u32, revise: impl Fn(f32) -> f32);

    /// Replaces the trail to `v`, whose `entry` [`Memory::trail`] returned. Called by one member.
    ///
    /// # Safety
    /// As [`Memory::trail`].
    unsafe fn put(self, row: Self::Row, entry: u32, v: u32, trail: f32);

    /// Receives the trail that [`Memory::put`] stored, where edges have no direction: for a visit to `v`, where the trail back to
    /// `node` may not be met. Called by one member.
    ///
    /// # Safety
    /// Both are nodes of the memory.
    #[inline(always)]
    unsafe fn mirror(self, _node: u32, _v: u32, _trail: f32) {}

    /// As [`Memory::put`] and, with `both`, [`Memory::mirror`], for a node `v` that is not a candidate. Called by every member.
    ///
    /// # Safety
    /// Both are nodes of the memory.
    unsafe fn put_beyond<T: Team>(self, team: T, node: u32, v: u32, both: bool, revise: impl Fn(f32) -> f32);

    /// Offers the unvisited nodes that have their own trail, each on one member, with the trail; or it offers every unvisited node
    /// and returns true. Candidates may be among them or not.
    ///
    /// # Safety
    /// As [`Memory::trail`]; the tabu is that of the memory's nodes.
    unsafe fn beyond<T: Team, B: Tabu>(
        self,
        team: T,
        row: Self::Row,
        tabu: &B,
        offer: impl FnMut(u32, f32),
    ) -> bool;

    /// Returns whether edges from the row's node to nodes that are not candidates may have trails above the lowest, and are few, so
    /// that [`Memory::beyond`] offers them also to ants with open candidates. The same for every member.
    #[inline(always)]
    fn is_far(self, _row: Self::Row) -> bool {
        false
    }

    /// Replaces the trail from `node` to `v` outside of visits. Called by every member; it does not wait.
    ///
    /// # Safety
    /// Both are nodes of the memory.
    unsafe fn update<T: Team>(self, team: T, node: u32, v: u32, revise: impl Fn(f32) -> f32);

    /// As [`Memory::update`], for an edge of the best tour (equation 4).
    ///
    /// # Safety
    /// As [`Memory::update`].
    #[inline(always)]
    unsafe fn deposit<T: Team>(self, team: T, node: u32, v: u32, revise: impl Fn(f32) -> f32) {
        // SAFETY: the caller's promise.
        unsafe { self.update(team, node, v, revise) }
    }

    /// As [`Memory::update`], for the trail back of an edge whose forward trail has been put and mirrored.
    ///
    /// # Safety
    /// As [`Memory::update`].
    #[inline(always)]
    unsafe fn update_back<T: Team>(self, team: T, node: u32, back: u32, revise: impl Fn(f32) -> f32) {
        // SAFETY: the caller's promise.
        unsafe { self.update(team, node, back, revise) }
    }

    /// Records that the best tour goes from `node` to `v`, which is not a candidate: for [`Memory::beyond`] and [`Memory::is_far`].
    ///
    /// # Safety
    /// Both are nodes of the memory, and nobody else uses row `node`.
    #[inline(always)]
    unsafe fn remember<T: Team>(self, _team: T, _node: u32, _v: u32) {}

    /// Resets row `node`: every trail becomes `initial`. Called by every member; it does not wait.
    ///
    /// # Safety
    /// `node` is a node of the memory.
    unsafe fn clear<T: Team>(self, team: T, node: u32, initial: f32);
}

/// A memory whose trails can be changed by many ants at once without any update being lost.
pub trait Atomic: Memory {
    /// Replaces the trail of the edge (from, to), and, if `back`, the trail in the other direction, each atomically. `seen` is a
    /// guess of both trails; a right one makes this faster. Called by every member.
    ///
    /// # Safety
    /// As [`Memory::update`].
    unsafe fn update_edge<T: Team>(
        self,
        team: T,
        edge: (u32, u32),
        back: bool,
        seen: f32,
        revise: impl Fn(f32) -> f32,
    );
}

/// Weights stay between this and its reciprocal: far enough from an f32's ends that sums of weights, and their
/// ratios to random numbers, are neither 0 nor infinite.
const HEAVIEST: f32 = 1e27;

/// Returns the heuristic value of an edge, times `scale`: scale / distance. Distance 0 counts as a tenth.
#[inline(always)]
fn closeness(distance: i32, scale: f32) -> f32 {
    scale / if distance > 0 { distance as f32 } else { 0.1 }
}

/// Returns the heuristic value of an edge to the power beta: never 0, so that it can always be chosen.
#[inline(always)]
pub fn heuristic(distance: i32, (scale, beta): (f32, f32)) -> f32 {
    power(closeness(distance, scale), beta).clamp(1.0 / HEAVIEST, HEAVIEST)
}

/// Returns the weight of an entry (numerator of equation (1)); never 0 for an edge, so that it can always be chosen.
#[inline(always)]
fn weight(trail: f32, alpha: f32, heuristic: f32) -> f32 {
    if heuristic == 0.0 { 0.0 } else { (power(trail, alpha) * heuristic).clamp(1.0 / HEAVIEST, HEAVIEST) }
}

/// The tables of a memory, each n rows of [`Form::stride`] entries.
#[derive(Clone, Copy)]
pub struct Tables {
    /// Pheromone trails.
    pub trails: Slots<f32>,
    /// Heuristic values to the power beta; 0 where there is no edge.
    pub heuristic: Slots<f32>,
    /// trail^alpha * heuristic.
    pub weights: Slots<f32>,
}

impl Tables {
    /// Returns the tables' row of `len` entries that starts at entry `start`.
    ///
    /// # Safety
    /// The row is inside the tables.
    #[inline(always)]
    unsafe fn row(self, start: usize, len: u32) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let at = |t: Slots<f32>| t.part(start, len as usize);
            Tables { trails: at(self.trails), heuristic: at(self.heuristic), weights: at(self.weights) }
        }
    }
}

/// Fills row `node`: every trail at `trail`, heuristic values from the distances. Every member calls this; it does not wait.
///
/// # Safety
/// The row belongs to this team alone, and is inside the tables; `distance` covers all its targets.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub unsafe fn prepare_row<T: Team, F: Form, D: Distance>(
    team: T,
    form: F,
    tables: Tables,
    node: u32,
    distance: D,
    (scale, beta): (f32, f32),
    (trail, alpha): (f32, f32),
) {
    // SAFETY: the caller's promises.
    unsafe {
        let row = tables.row(node as usize * form.stride() as usize, form.stride());
        team.for_each(form.stride(), |k| {
            let heuristic = match form.target(node, k) {
                Some(v) => heuristic(distance.between(node, v), (scale, beta)),
                None => 0.0,
            };
            row.trails.set(k, trail);
            row.heuristic.set(k, heuristic);
            row.weights.set(k, weight(trail, alpha, heuristic));
        });
    }
}

/// Evaporates row `node`, deposits on the edges of the tour whose links are given, enforces the limits, and computes the new
/// weights (Skinderowicz 2020, section 2.1; one pass instead of the paper's three kernels). `links` are the node's two neighbours
/// in the tour; the second is no node where edges have a direction, and both are the node itself if no tour deposits. Every member
/// calls this; it does not wait.
///
/// # Safety
/// The row belongs to this team alone, and is inside the tables.
#[inline(always)]
pub unsafe fn update_row<T: Team, F: Form>(
    team: T,
    form: F,
    tables: Tables,
    node: u32,
    links: (u32, u32),
    limits: Limits,
    (persistence, alpha): (f32, f32),
) {
    // SAFETY: the caller's promises.
    unsafe {
        let row = tables.row(node as usize * form.stride() as usize, form.stride());
        team.for_each(form.stride(), |k| {
            let deposit = match form.target(node, k) {
                Some(v) if v == links.0 || v == links.1 => limits.deposit,
                _ => 0.0,
            };
            let evaporated = (row.trails.get(k) * persistence).max(limits.lowest);
            let trail = (evaporated + deposit).min(limits.highest);
            row.trails.set(k, trail);
            row.weights.set(k, weight(trail, alpha, row.heuristic.get(k)));
        });
    }
}
