//! A colony of ants, of MAX-MIN Ant System (Stützle and Hoos; Skinderowicz 2020, section 2.1) or of Ant Colony System:
//! what happens between the construction of tours and the update of the trails.

use crate::node::NodeId;
use crate::team::{Slots, Team};
use crate::tour;

/// Bounds of the trails, and what a tour's edges receive, in the units of [`crate::pheromone`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Limits {
    /// tau_min.
    pub lowest: f32,
    /// tau_max.
    pub highest: f32,
    /// 1 / cost of the tour that deposits.
    pub deposit: f32,
}

/// What a colony has found so far. It lives where the colony lives: in device memory on a GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct ColonyState {
    /// Length of the best tour; `i64::MAX` before the first iteration.
    pub best_cost: i64,
    /// Length of the last iteration's best tour.
    pub iteration_cost: i64,
    /// Iterations done.
    pub iterations: u32,
    /// The iteration (from 0) that found the best tour.
    pub best_iteration: u32,
    /// Bounds and deposit for the next update.
    pub limits: Limits,
    /// 1 once the target has been reached: all later work of the batch is skipped.
    pub done: u32,
}

impl ColonyState {
    /// The state before the first iteration, with trails at `highest`.
    pub const fn new(limits: Limits) -> Self {
        ColonyState {
            best_cost: i64::MAX,
            iteration_cost: i64::MAX,
            iterations: 0,
            best_iteration: 0,
            limits,
            done: 0,
        }
    }
}

/// The algorithm's constants between iterations.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct ColonyRules {
    /// Stop once a tour is not longer than this.
    pub target: i64,
    /// Cost of the nearest-neighbour tour: the unit of the trails.
    pub unit_cost: f64,
    /// rho: the share of a trail that stays when it evaporates.
    pub persistence: f64,
    /// tau_min / tau_max; see [`limit_ratio`].
    pub limit_ratio: f64,
}

impl ColonyRules {
    /// tau_min and tau_max for a best cost, and the deposit for the cost of the tour that deposits.
    #[inline(always)]
    pub fn limits(&self, best: i64, depositing: i64) -> Limits {
        // Tours of length 0 exist (all cities at one place); their trails must stay finite.
        let relative = |cost: i64| self.unit_cost.max(1.0) / cost.max(1) as f64;
        let highest = relative(best) / (1.0 - self.persistence);
        Limits {
            lowest: (highest * self.limit_ratio) as f32,
            highest: highest as f32,
            deposit: relative(depositing) as f32,
        }
    }
}

/// tau_min / tau_max for which a converged colony builds its best tour with probability `p_best`, given the
/// mean number of nodes an ant chooses among (Stützle and Hoos 2000, equation 11). At most 1.
pub fn limit_ratio(n: u32, mean_choices: f64, p_best: f64) -> f64 {
    let p = libm::pow(p_best, 1.0 / n as f64);
    ((1.0 - p) / ((mean_choices - 1.0).max(1.0) * p)).min(1.0)
}

/// Finds the best tour of an iteration, keeps the best of all in `best_tour`, writes the links of the tour that
/// deposits and the limits for the update.
///
/// The depositing tour is the iteration's best or, with `deposit_best`, the best of all.
///
/// # Safety
/// `costs` and `tours` hold `ants`, at least one, costs and tours of n ids that nobody writes to; the rest belongs to the team;
/// `best_tour`, `successor` and `predecessor` have n elements.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub unsafe fn judge<T: Team, I: NodeId>(
    team: T,
    rules: ColonyRules,
    (n, ants, deposit_best): (u32, u32, bool),
    costs: *const i64,
    tours: *const I,
    state: *mut ColonyState,
    best_tour: Slots<I>,
    (successor, predecessor): (Slots<u32>, Slots<u32>),
) {
    // SAFETY: the caller's promises; barriers stand between writing and reading.
    unsafe {
        let before = *state;
        if before.done != 0 {
            return;
        }
        let (mut least, mut who) = (u64::MAX, 0u32);
        team.for_each(ants, |ant| {
            let cost = *costs.add(ant as usize) as u64;
            if cost < least {
                (least, who) = (cost, ant);
            }
        });
        let cost = team.min(least);
        let ant = team.min(if least == cost { who as u64 } else { u64::MAX });
        let iteration_tour = tours.add(ant as usize * n as usize);
        let cost = cost as i64;
        let improved = cost < before.best_cost;
        team.barrier();
        if improved {
            team.for_each(n, |i| best_tour.set(i, *iteration_tour.add(i as usize)));
        }
        let best = if improved { cost } else { before.best_cost };
        let (from, depositing) = if deposit_best && !improved {
            (best_tour.at(0) as *const I, best)
        } else {
            (iteration_tour, cost)
        };
        tour::links(team, n, from, successor, predecessor);
        team.single(|| {
            *state = ColonyState {
                best_cost: best,
                iteration_cost: cost,
                iterations: before.iterations + 1,
                best_iteration: if improved { before.iterations } else { before.best_iteration },
                limits: rules.limits(best, depositing),
                done: (best <= rules.target) as u32,
            };
        });
    }
}
