//! A colony of ants, of MAX-MIN Ant System (Stützle and Hoos; Skinderowicz 2020, section 2.1) or of Ant Colony System: the steps
//! between the construction of tours and the update of the trails.

use crate::node::NodeId;
use crate::team::{Slots, Team};
use crate::tour;

/// Bounds of the trails, and what a tour's edges receive, in the units of [`crate::papers::ants::pheromone`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Limits {
    /// tau_min.
    pub lowest: f32,
    /// tau_max.
    pub highest: f32,
    /// 1 / cost of the tour that deposits; 0 if none does.
    pub deposit: f32,
}

/// The tour that deposits in an iteration (Stützle and Hoos 2000).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Depositor {
    /// The iteration's best; among equally long ones, that of the ant with the smallest number.
    #[default]
    Iteration = 0,
    /// The best of all.
    Best = 1,
    /// The best since the last reset of the trails.
    Restart = 2,
}

/// A colony's results so far. It is stored with the colony: in device memory on a GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct ColonyState {
    /// Length of the best tour; `i64::MAX` before the first iteration.
    pub best_cost: i64,
    /// Length of the last iteration's best tour; `i64::MAX` before the first iteration.
    pub iteration_cost: i64,
    /// Iterations done.
    pub iterations: u32,
    /// The iteration (from 0) that found the best tour.
    pub best_iteration: u32,
    /// Bounds and deposit for the next update.
    pub limits: Limits,
    /// How many times the trails were reset.
    pub resets: u32,
    /// Length of the best tour since the last reset; `i64::MAX` before there is one.
    pub restart_cost: i64,
    /// The iteration (from 0) that found it; before the first one, the iteration that reset the trails.
    pub restart_iteration: u32,
    /// 1 once the target has been reached: all later work of the batch is skipped.
    pub done: u32,
}

impl ColonyState {
    /// Returns the state before the first iteration, with trails at `highest`.
    pub const fn new(limits: Limits) -> Self {
        ColonyState {
            best_cost: i64::MAX,
            iteration_cost: i64::MAX,
            iterations: 0,
            best_iteration: 0,
            limits,
            resets: 0,
            restart_cost: i64::MAX,
            restart_iteration: 0,
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
    /// Cost of the nearest-neighbour tour: trails are in units of 1 / this.
    pub unit_cost: f64,
    /// rho: the share of a trail that remains after evaporation.
    pub persistence: f64,
    /// tau_min / tau_max; see [`limit_ratio`].
    pub limit_ratio: f64,
    /// The trails are reset after this many iterations without a better tour since the last reset; 0: never.
    pub reset_after: u32,
    /// Unused; keeps the size a multiple of 8.
    pub padding: u32,
}

impl ColonyRules {
    /// Returns tau_min and tau_max for a best cost, and the deposit for the cost of the tour that deposits.
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

    /// Returns limits whose update sets every trail to tau_max (Stützle and Hoos 2000).
    #[inline(always)]
    fn reset_limits(&self, best: i64) -> Limits {
        let highest = self.limits(best, best).highest;
        Limits { lowest: highest, highest, deposit: 0.0 }
    }
}

/// Returns tau_min / tau_max for which a converged colony builds its best tour with probability `p_best`, given the mean number of
/// nodes that an ant chooses among (Stützle and Hoos 2000, equation 11). At most 1.
pub fn limit_ratio(n: u32, mean_choices: f64, p_best: f64) -> f64 {
    let p = libm::pow(p_best, 1.0 / n as f64);
    ((1.0 - p) / ((mean_choices - 1.0).max(1.0) * p)).min(1.0)
}

/// Finds the best tour of an iteration, keeps the best overall in `best_tour` and the best since the last reset in `restart_tour`,
/// writes the links of the tour that deposits and the limits for the update. Every member of one team calls this; it does not wait
/// at the end. Nothing happens once the state is `done`.
///
/// When [`ColonyRules::reset_after`] says so, the trails are reset instead: no tour deposits, and, as before the first deposit,
/// each node is linked to itself.
///
/// # Safety
/// `costs` and `tours` hold `ants`, at least one, costs and tours of n ids that nobody writes to; the rest belongs to the team;
/// `best_tour`, `restart_tour`, `successor` and `predecessor` have n elements.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub unsafe fn judge<T: Team, I: NodeId>(
    team: T,
    rules: ColonyRules,
    (n, ants, depositor): (u32, u32, Depositor),
    costs: *const i64,
    tours: *const I,
    state: *mut ColonyState,
    (best_tour, restart_tour): (Slots<I>, Slots<I>),
    (successor, predecessor): (Slots<u32>, Slots<u32>),
) {
    // SAFETY: the caller's promises; barriers separate writing and reading.
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
        let (improved, advanced) = (cost < before.best_cost, cost < before.restart_cost);
        team.barrier();
        if improved {
            team.for_each(n, |i| best_tour.set(i, *iteration_tour.add(i as usize)));
        }
        if advanced {
            team.for_each(n, |i| restart_tour.set(i, *iteration_tour.add(i as usize)));
        }
        let best = if improved { cost } else { before.best_cost };
        let stagnation = before.iterations - before.restart_iteration;
        let resets = rules.reset_after > 0 && !advanced && stagnation >= rules.reset_after;
        let (from, depositing) = match depositor {
            Depositor::Best if !improved => (best_tour.at(0) as *const I, best),
            Depositor::Restart if !advanced => (restart_tour.at(0) as *const I, before.restart_cost),
            _ => (iteration_tour, cost),
        };
        if resets {
            team.for_each(n, |node| {
                successor.set(node, node);
                predecessor.set(node, node);
            });
        } else {
            tour::links(team, n, from, successor, predecessor);
        }
        team.single(|| {
            *state = ColonyState {
                best_cost: best,
                iteration_cost: cost,
                iterations: before.iterations + 1,
                best_iteration: if improved { before.iterations } else { before.best_iteration },
                limits: if resets { rules.reset_limits(best) } else { rules.limits(best, depositing) },
                resets: before.resets + resets as u32,
                restart_cost: if resets { i64::MAX } else { cost.min(before.restart_cost) },
                restart_iteration: if advanced || resets {
                    before.iterations
                } else {
                    before.restart_iteration
                },
                done: (best <= rules.target) as u32,
            };
        });
    }
}
