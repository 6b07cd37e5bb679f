//! Ant Colony System (Skinderowicz 2016): settings, and what a backend needs to know.

use std::time::Instant;

use antwarp_core::acs::Rule;
use antwarp_core::colony::Rules;
use antwarp_core::construct::row_stride;
use antwarp_core::local_search::chain::FEWEST;
use antwarp_core::pheromone::matrix::FAR;
use antwarp_core::pheromone::selective::{MOST_SLOTS, stride};
use serde::{Deserialize, Serialize};

use super::local_search::{LocalSearch, MOST_NEIGHBORS};
use super::mmas::MOST_ANTS;
use super::problem::Problem;
use super::stop::Stop;
use super::{Progress, Solution, SolveError, check_kind, colony, exhaustive};
use crate::backend::Backend;
use crate::instance::Instance;

/// Which edges have a trail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Pheromone {
    /// All n x n.
    Matrix,
    /// Those to candidates.
    Candidate,
    /// The few of each node that were taken last.
    #[default]
    Selective,
}

/// How the ants of an iteration go, and with it how their updates of trails meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Update {
    /// Step by step, one ant after the other, on one CPU thread: the sequential algorithm.
    Sequential,
    /// Step by step, all ants together; no update is lost.
    Atomic,
    /// Each ant its whole tour; ants that meet may lose an update.
    #[default]
    Relaxed,
}

/// What a user can set. `None` means: choose for me.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Seed of all random numbers.
    pub seed: u64,
    /// Ants: tours an iteration.
    pub ants: Option<u32>,
    /// Candidates of a node.
    pub candidates: u32,
    /// Exponent of the heuristic value 1 / distance.
    pub beta: f32,
    /// Share of a trail that the global update replaces.
    pub alpha: f32,
    /// Share of a trail that a local update replaces.
    pub rho: f32,
    /// Probability of taking the best edge; `None`: (n - 20) / n.
    pub q0: Option<f64>,
    /// Every so many edges of an ant are updated locally; 0: none.
    pub period: u32,
    /// Which edges have a trail.
    pub pheromone: Pheromone,
    /// Edges that a node of a selective memory remembers.
    pub slots: u32,
    /// How updates meet.
    pub update: Update,
    /// What improves the ants' tours.
    pub local_search: LocalSearch,
    /// Neighbours of a node in it.
    pub neighbors: u32,
    /// Neighbours that the second step of its moves looks at.
    pub breadth: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            seed: 1,
            ants: None,
            candidates: 32,
            beta: 3.0,
            alpha: 0.2,
            rho: 0.01,
            q0: None,
            period: 1,
            pheromone: Pheromone::default(),
            slots: 8,
            update: Update::default(),
            local_search: LocalSearch::None,
            neighbors: 8,
            breadth: 5,
        }
    }
}

/// Local updates that leave of a trail nearly nothing, times the share that each replaces: e^-8 of it is left.
const WORN: f64 = 8.0;
/// Numbers of candidates of all nodes together have 32 bits.
const MOST_CANDIDATES: u64 = 1 << 32;
/// Steps in which an ant explores, if q0 is not given (section 4.1).
const EXPLORING: f64 = 20.0;

impl Settings {
    /// Checks every setting's range, and that they go together.
    pub fn check(&self) -> Result<(), SolveError> {
        let fail = |what: String| Err(SolveError::Settings(what));
        if self.ants.is_some_and(|a| a == 0 || a > MOST_ANTS) {
            return fail(format!("--ants must be 1 to {MOST_ANTS}"));
        }
        if self.candidates == 0 {
            return fail("--candidates must be at least 1".into());
        }
        if !(self.beta >= 0.0 && self.beta <= 20.0) {
            return fail("--beta must be between 0 and 20".into());
        }
        for (name, share) in [("--alpha", self.alpha), ("--rho", self.rho)] {
            if !(share > 0.0 && share < 1.0) {
                return fail(format!(
                    "{name}, the share of a trail that acs replaces, must be above 0 and below 1"
                ));
            }
        }
        if self.q0.is_some_and(|q0| !(0.0..=1.0).contains(&q0)) {
            return fail("--q0 must be between 0 and 1".into());
        }
        if self.slots == 0 || self.slots > MOST_SLOTS {
            return fail(format!("--slots must be 1 to {MOST_SLOTS}"));
        }
        if self.pheromone == Pheromone::Selective && self.update == Update::Atomic {
            return fail(
                "a selective pheromone memory has no atomic update: use --update relaxed, or --pheromone matrix".into(),
            );
        }
        if self.neighbors == 0 || self.neighbors > MOST_NEIGHBORS {
            return fail(format!("--neighbors must be 1 to {MOST_NEIGHBORS}"));
        }
        if self.breadth == 0 || self.breadth > MOST_NEIGHBORS {
            return fail(format!("--breadth must be 1 to {MOST_NEIGHBORS}"));
        }
        Ok(())
    }

    /// Checks what depends on the instance.
    pub fn check_for(&self, instance: &Instance) -> Result<(), SolveError> {
        let n = instance.len() as u64;
        if n * u64::from(self.candidates).min(n) >= MOST_CANDIDATES {
            let most = (MOST_CANDIDATES - 1) / n;
            return Err(SolveError::Settings(format!("--candidates must be at most {most} for {n} nodes")));
        }
        Ok(())
    }

    /// The colony's layout for a problem.
    pub fn spec(&self, problem: &Problem, backend: &Backend, stop: &Stop) -> AcsSpec {
        let n = problem.n();
        let q0 = self.q0.unwrap_or((f64::from(n) - EXPLORING) / f64::from(n)).max(0.0);
        AcsSpec {
            seed: self.seed,
            ants: self.ants.unwrap_or_else(|| backend.default_acs_ants(n)),
            rule: Rule {
                patience: Rule::patience(q0),
                period: self.period,
                // 1 / (n L), in units of 1 / L.
                initial: 1.0 / n as f32,
                local: self.rho,
                global: self.alpha,
                beta: self.beta,
                scale: problem.scale(),
                directed: problem.is_directed().into(),
            },
            pheromone: self.pheromone,
            slots: self.slots,
            update: self.update,
            each_phase: false,
            // A few nodes have no moves of three edges to speak of.
            local_search: if n < FEWEST { LocalSearch::None } else { self.local_search },
            breadth: self.breadth.min(problem.search_k()),
            rules: Rules {
                target: stop.target.unwrap_or(i64::MIN),
                unit_cost: problem.unit_cost() as f64,
                // Trails end at 1 / (length of the best tour).
                persistence: 0.0,
                limit_ratio: 0.0,
            },
        }
    }
}

/// Everything a backend needs to know about a colony.
#[derive(Clone, Copy, Debug)]
pub struct AcsSpec {
    /// Seed of the run.
    pub seed: u64,
    /// Ants: tours an iteration.
    pub ants: u32,
    /// The algorithm's constants.
    pub rule: Rule,
    /// Which edges have a trail.
    pub pheromone: Pheromone,
    /// Edges that a node of a selective memory remembers.
    pub slots: u32,
    /// How updates meet.
    pub update: Update,
    /// Atomic, on a GPU: a launch for each choice and for each update, and what ants know in global memory, to see what a
    /// launch for all of them is worth.
    pub each_phase: bool,
    /// What improves the ants' tours.
    pub local_search: LocalSearch,
    /// Neighbours that the second step of its moves looks at.
    pub breadth: u32,
    /// Constants between iterations.
    pub rules: Rules,
}

impl AcsSpec {
    /// Whether ants on a GPU see each other's updates at once. If all ants of an iteration would wear down the trail of
    /// an edge that they all take to nearly nothing, it is better that they do not: a multiprocessor's ants then see,
    /// mostly, their own updates only, until the iteration ends. So it is with rings, which every new edge refills.
    pub fn is_fresh(&self) -> bool {
        let worn = f64::from(self.ants) * f64::from(self.rule.local) / f64::from(self.rule.period.max(1));
        self.pheromone != Pheromone::Selective && worn <= WORN
    }

    /// The pheromone memory's bytes of trails, and its words beside them.
    pub fn memory(&self, problem: &Problem) -> (usize, usize) {
        let (n, listed) = (problem.n() as usize, problem.lists().len());
        match self.pheromone {
            Pheromone::Matrix => (4 * (listed + n * row_stride(problem.n()) as usize), n * FAR as usize),
            Pheromone::Candidate => (4 * listed, 0),
            Pheromone::Selective => (8 * n * stride(self.slots) as usize, n),
        }
    }

    /// The pheromone memory's bytes.
    pub fn memory_bytes(&self, problem: &Problem) -> usize {
        let (bytes, words) = self.memory(problem);
        bytes + 4 * words
    }

    /// The form by name.
    pub fn variant(&self) -> String {
        let search = self.local_search.kernel_name().map_or_else(String::new, |name| format!(" with {name}"));
        format!("ACS-{:?}-{:?}{search}", self.pheromone, self.update)
    }
}

/// Solves an instance. `observe` is called after each batch of iterations.
///
/// # Errors
/// If a setting is out of range, the instance is of a kind that ACS cannot solve, or the backend fails before there is
/// a tour. A failure after that ends the run early and is told in the solution.
pub fn solve(
    instance: &Instance,
    settings: &Settings,
    backend: &Backend,
    stop: &Stop,
    observe: &mut dyn FnMut(&Progress),
) -> Result<Solution, SolveError> {
    let start = Instant::now();
    settings.check()?;
    check_kind(instance, "ACS")?;
    colony::check_local_search(instance, settings.local_search)?;
    if instance.len() <= 3 {
        return exhaustive(instance, start);
    }
    settings.check_for(instance)?;
    let problem = Problem::new(instance, Some(settings.candidates), settings.neighbors);
    let spec = settings.spec(&problem, backend, stop);
    let mut colony = backend.acs(&problem, &spec)?;
    colony::run(instance, &problem, (start, spec.ants), colony.as_mut(), backend, stop, observe)
}
