//! MAX-MIN Ant System (Skinderowicz 2020): settings, and the loop around a backend's colony.

use std::time::Instant;

use antwarp_core::colony::{ColonyRules, limit_ratio};
use antwarp_core::local_search::best::FEWEST;
use serde::{Deserialize, Serialize};

use super::colony::Iterations;
use super::haste::Haste;
use super::{Solution, SolveError};
use crate::backend::Backend;
use crate::engine::{LocalSearch, MOST_NEIGHBORS, Problem, Progress, Stop, drive};
use crate::instance::Instance;

pub use crate::engine::mmas::{ColonySpec, Deposit, Selection, TabuKind};

/// What a user can set. `None` means: choose for me.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MmasSettings {
    /// Seed of all random numbers.
    pub seed: u64,
    /// Ants: tours an iteration.
    pub ants: Option<u32>,
    /// Candidates of a node; `None`: all nodes are candidates.
    pub candidates: Option<u32>,
    /// Exponent of the trail.
    pub alpha: f32,
    /// Exponent of the heuristic value 1 / distance.
    pub beta: f32,
    /// Share of a trail that stays when it evaporates.
    pub rho: f64,
    /// Probability of building the best tour once the colony has converged; sets tau_min.
    pub p_best: f64,
    /// Node selection.
    pub selection: Selection,
    /// Tabu.
    pub tabu: TabuKind,
    /// Warps an ant on a GPU, without candidate lists; `None`: measured in the first iterations.
    pub warps: Option<u32>,
    /// Which tour deposits. `None`: the best of all with local search, the iteration's best without.
    pub deposit: Option<Deposit>,
    /// The trails are reset after so many iterations without a better tour; 0: never.
    pub reset_after: Option<u32>,
    /// What improves the ants' tours.
    pub local_search: LocalSearch,
    /// Neighbours of a node in it.
    pub neighbors: u32,
    /// Neighbours that the second step of its moves looks at.
    pub breadth: u32,
}

impl Default for MmasSettings {
    fn default() -> Self {
        MmasSettings {
            seed: 1,
            ants: None,
            candidates: Some(32),
            alpha: 1.0,
            beta: 2.0,
            rho: 0.9,
            p_best: 0.01,
            selection: Selection::default(),
            tabu: TabuKind::default(),
            warps: None,
            deposit: None,
            reset_after: None,
            local_search: LocalSearch::None,
            neighbors: 8,
            breadth: 5,
        }
    }
}

/// Most ants at all, so that ant numbers stay far inside 32 bits.
pub(super) const MOST_ANTS: u32 = 1 << 24;

impl MmasSettings {
    /// Checks every setting's range.
    pub fn check(&self) -> Result<(), SolveError> {
        let fail = |what: String| Err(SolveError::Settings(what));
        if self.ants.is_some_and(|a| a == 0 || a > MOST_ANTS) {
            return fail(format!("`ants` must be 1 to {MOST_ANTS}"));
        }
        if self.candidates == Some(0) {
            return fail("`candidates` must be at least 1, or `all`".into());
        }
        if !(self.alpha >= 0.0 && self.alpha <= 20.0 && self.beta >= 0.0 && self.beta <= 20.0) {
            return fail("`alpha` and `beta` must be between 0 and 20".into());
        }
        if !(self.rho > 0.0 && self.rho < 1.0) {
            return fail("`rho`, the share of a trail that stays, must be above 0 and below 1".into());
        }
        if !(self.p_best > 0.0 && self.p_best < 1.0) {
            return fail("`p_best` must be above 0 and below 1".into());
        }
        if self.neighbors == 0 || self.neighbors > MOST_NEIGHBORS {
            return fail(format!("`neighbors` must be 1 to {MOST_NEIGHBORS}"));
        }
        if self.breadth == 0 || self.breadth > MOST_NEIGHBORS {
            return fail(format!("`breadth` must be 1 to {MOST_NEIGHBORS}"));
        }
        Ok(())
    }

    /// The colony's layout for a problem.
    pub fn spec(&self, problem: &Problem, backend: &Backend, stop: &Stop) -> ColonySpec {
        let n = problem.n();
        let choices = if problem.k() == 0 { n } else { problem.k() };
        ColonySpec {
            seed: self.seed,
            ants: self.ants.unwrap_or_else(|| backend.default_ants(n)),
            alpha: self.alpha,
            beta: self.beta,
            selection: self.selection,
            tabu: self.tabu,
            warps: self.warps,
            deposit: self.deposit.unwrap_or(if self.local_search == LocalSearch::None {
                Deposit::Iteration
            } else {
                Deposit::Best
            }),
            // A few nodes have no moves of three edges to speak of.
            local_search: if n < FEWEST { LocalSearch::None } else { self.local_search },
            breadth: self.breadth.min(problem.search_k()),
            rules: ColonyRules {
                target: stop.target.unwrap_or(i64::MIN),
                unit_cost: problem.unit_cost() as f64,
                persistence: self.rho,
                limit_ratio: limit_ratio(n, f64::from(choices) / 2.0, self.p_best),
                reset_after: self.reset_after.unwrap_or(0),
                padding: 0,
            },
        }
    }
}

/// As [`Algorithm::solve`](super::Algorithm::solve), once everything is checked.
pub(super) fn solve(
    instance: &Instance,
    settings: &MmasSettings,
    backend: &Backend,
    stop: &Stop,
    observe: &mut dyn FnMut(&Progress),
) -> Result<Solution, SolveError> {
    let start = Instant::now();
    let haste = Haste::new(instance, (start, stop));
    let Some(problem) =
        Problem::until(instance, settings.candidates, settings.neighbors, &|| haste.is_over())?
    else {
        return haste.end(None);
    };
    let spec = settings.spec(&problem, backend, stop);
    if haste.is_over() {
        return haste.end(Some(problem.start_tour().to_vec()));
    }
    let mut colony = backend.colony(&problem, &spec)?;
    let mut iterations = Iterations {
        colony: colony.as_mut(),
        ants: spec.ants,
        fewest: 1,
        whole: false,
        state: None,
        part: "ants",
    };
    let run = drive(&mut iterations, start, stop, observe);
    Solution::of(run, start, instance, &problem, backend)
}
