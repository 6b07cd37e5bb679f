//! Pheromone memories: a trail for each edge an ant may choose, and the weight it has in the choice.
//!
//! A memory is a table of rows, one a node; its form says which node each entry of a row leads to. Trails,
//! heuristic values and weights are tables of the same shape. Trails are in units of 1 / (cost of the
//! nearest-neighbour tour): a constant factor cancels in equation (1) of Skinderowicz 2020 and this one keeps
//! products of trails and heuristic values inside an f32.

pub mod candidate;
pub mod matrix;

pub use candidate::Candidate;
pub use matrix::Matrix;

use crate::distance::Distance;
use crate::mmas::Limits;
use crate::power::power;
use crate::team::{Slots, Team};

/// The form of a pheromone memory: which edges have a trail.
pub trait Form: Copy {
    /// Entries of a row, padding included.
    fn stride(self) -> u32;
    /// The node that entry `k` of row `node` leads to; `None` on the diagonal and in the padding.
    ///
    /// # Safety
    /// `node` is a node and `k` is below [`Form::stride`].
    unsafe fn target(self, node: u32, k: u32) -> Option<u32>;
}

/// Weights stay between this and its reciprocal: far enough from an f32's ends that sums of weights, and their
/// ratios to random numbers, are neither 0 nor infinite.
const HEAVIEST: f32 = 1e27;

/// Heuristic value of an edge, times `scale`: scale / distance. Distance 0 counts as a tenth.
#[inline(always)]
fn closeness(distance: i32, scale: f32) -> f32 {
    scale / if distance > 0 { distance as f32 } else { 0.1 }
}

/// The weight of an entry (numerator of equation (1)); never 0 for an edge, so that it can always be chosen.
#[inline(always)]
fn weight(trail: f32, alpha: f32, heuristic: f32) -> f32 {
    if heuristic == 0.0 { 0.0 } else { (power(trail, alpha) * heuristic).clamp(1.0 / HEAVIEST, HEAVIEST) }
}

/// The tables of a memory.
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
    /// The tables' row that begins at entry `start`.
    ///
    /// # Safety
    /// The row lies inside the tables.
    #[inline(always)]
    unsafe fn row(self, start: usize) -> Self {
        // SAFETY: the caller's promise; tables may have more than 2^32 entries, hence the pointers.
        unsafe {
            let at = |t: Slots<f32>| Slots::new(t.at(0).add(start));
            Tables { trails: at(self.trails), heuristic: at(self.heuristic), weights: at(self.weights) }
        }
    }
}

/// Fills a row: every trail at `trail`, heuristic values from the distances.
///
/// # Safety
/// The row belongs to this team alone, and lies inside the tables; `distance` covers all its targets.
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
        let row = tables.row(node as usize * form.stride() as usize);
        team.for_each(form.stride(), |k| {
            let heuristic = match form.target(node, k) {
                Some(v) => {
                    power(closeness(distance.between(node, v), scale), beta).clamp(1.0 / HEAVIEST, HEAVIEST)
                }
                None => 0.0,
            };
            row.trails.set(k, trail);
            row.heuristic.set(k, heuristic);
            row.weights.set(k, weight(trail, alpha, heuristic));
        });
    }
}

/// Evaporates a row, deposits on the edges of the tour whose links are given, keeps the limits, and computes the
/// new weights (Skinderowicz 2020, section 2.1; one pass instead of the paper's three kernels).
///
/// # Safety
/// The row belongs to this team alone, and lies inside the tables; `links` are the node's two neighbours.
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
        let row = tables.row(node as usize * form.stride() as usize);
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
