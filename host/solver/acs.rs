//! Ant Colony System (Skinderowicz 2016): settings, and what a backend needs to know.

use std::time::Instant;

use antwarp_core::acs::Rule;
use antwarp_core::colony::ColonyRules;
use antwarp_core::local_search::best::FEWEST;
use antwarp_core::pheromone::selective::MOST_SLOTS;
use serde::{Deserialize, Serialize};

use super::colony::Iterations;
use super::haste::Haste;
use super::island::{self, Contact};
use super::mmas::{ELITE_AFTER, ELITE_ANTS, MOST_ANTS};
use super::{Solution, SolveError};
use crate::backend::Backend;
use crate::engine::{LocalSearch, MOST_NEIGHBORS, Problem, Stop};
use crate::instance::Instance;

pub use crate::engine::acs::{AcsSpec, Greedy, Pheromone, Remember, Update};

/// What a user can set. `None` means: choose for me.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AcsSettings {
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
    /// Every so many edges of an ant are updated locally; 0: none. `None`: 1, and 4 from 5,000 nodes on where rings take in
    /// all edges and nothing improves the tours.
    pub period: Option<u32>,
    /// Which edges have a trail.
    pub pheromone: Pheromone,
    /// Edges that a node of a selective memory remembers.
    pub slots: u32,
    /// Which edges a selective memory takes in; as the backend needs it if not given.
    pub remember: Option<Remember>,
    /// What a greedy step at a node of a selective memory chooses among.
    pub greedy: Greedy,
    /// How updates meet.
    pub update: Update,
    /// What improves the ants' tours. `None`: Or-3opt where edges have a direction, nothing elsewhere.
    pub local_search: Option<LocalSearch>,
    /// Neighbours of a node in it. `None`: 8, with 2-opt 32, and 20 where edges have a direction.
    pub neighbors: Option<u32>,
    /// Neighbours that the second step of its moves looks at. `None`: 5, or 10 where edges have a direction.
    pub breadth: Option<u32>,
}

impl Default for AcsSettings {
    fn default() -> Self {
        AcsSettings {
            seed: 1,
            ants: None,
            candidates: 32,
            beta: 3.0,
            alpha: 0.2,
            rho: 0.01,
            q0: None,
            period: None,
            pheromone: Pheromone::default(),
            slots: 8,
            remember: None,
            greedy: Greedy::default(),
            update: Update::default(),
            local_search: None,
            neighbors: None,
            breadth: None,
        }
    }
}

/// Numbers of candidates of all nodes together have 32 bits.
const MOST_CANDIDATES: u64 = 1 << 32;
/// From as many nodes on, rings that take in every edge are slow to lead to shorter tours unless fewer edges are updated.
const SLOW_RINGS: u32 = 5_000;
/// Steps in which an ant explores, if q0 is not given (section 4.1).
const EXPLORING: f64 = 20.0;

impl AcsSettings {
    /// Checks every setting's range, and that they go together.
    pub fn check(&self) -> Result<(), SolveError> {
        let fail = |what: String| Err(SolveError::Settings(what));
        if self.ants.is_some_and(|a| a == 0 || a > MOST_ANTS) {
            return fail(format!("`ants` must be 1 to {MOST_ANTS}"));
        }
        if self.candidates == 0 {
            return fail("`candidates` must be at least 1".into());
        }
        if !(self.beta >= 0.0 && self.beta <= 20.0) {
            return fail("`beta` must be between 0 and 20".into());
        }
        for (name, share) in [("`alpha`", self.alpha), ("`rho`", self.rho)] {
            if !(share > 0.0 && share < 1.0) {
                return fail(format!(
                    "{name}, the share of a trail that acs replaces, must be above 0 and below 1"
                ));
            }
        }
        if self.q0.is_some_and(|q0| !(0.0..=1.0).contains(&q0)) {
            return fail("`q0` must be between 0 and 1".into());
        }
        if self.slots == 0 || self.slots > MOST_SLOTS {
            return fail(format!("`slots` must be 1 to {MOST_SLOTS}"));
        }
        if self.pheromone == Pheromone::Selective && self.update == Update::Atomic {
            return fail(
                "a selective pheromone memory has no atomic update: use `update` relaxed, or `pheromone` matrix".into(),
            );
        }
        let is_out = |count: Option<u32>| count.is_some_and(|count| count == 0 || count > MOST_NEIGHBORS);
        if is_out(self.neighbors) {
            return fail(format!("`neighbors` must be 1 to {MOST_NEIGHBORS}"));
        }
        if is_out(self.breadth) {
            return fail(format!("`breadth` must be 1 to {MOST_NEIGHBORS}"));
        }
        Ok(())
    }

    /// Checks what depends on the instance.
    pub fn check_for(&self, instance: &Instance) -> Result<(), SolveError> {
        let n = instance.len() as u64;
        if n * u64::from(self.candidates).min(n) >= MOST_CANDIDATES {
            let most = (MOST_CANDIDATES - 1) / n;
            return Err(SolveError::Settings(format!("`candidates` must be at most {most} for {n} nodes")));
        }
        Ok(())
    }

    /// What a [`Problem`] needs to know of [`neighbors`](Self::neighbors).
    pub fn listed(&self) -> Option<u32> {
        LocalSearch::neighbors_of_ants(self.local_search, self.neighbors)
    }

    /// Which edges of an ant are updated unless the user says otherwise (benches/notebooks/acs.md, "The period").
    fn default_period(&self, n: u32, remember: Remember, local_search: LocalSearch) -> u32 {
        let takes_all = self.pheromone == Pheromone::Selective && remember == Remember::Taken;
        if takes_all && local_search == LocalSearch::None && n >= SLOW_RINGS { 4 } else { 1 }
    }

    /// The colony's layout for a problem.
    pub fn spec(&self, problem: &Problem, backend: &Backend, stop: &Stop) -> AcsSpec {
        let n = problem.n();
        let q0 = self.q0.unwrap_or((f64::from(n) - EXPLORING) / f64::from(n)).max(0.0);
        let local_search = self.local_search.unwrap_or_else(|| LocalSearch::of_ants(problem.is_directed()));
        let (_, breadth) = LocalSearch::default_lists(problem.is_directed());
        let remember = self.remember.unwrap_or_else(|| backend.default_remember());
        let ants = match local_search {
            LocalSearch::Lk => ELITE_ANTS.min(n),
            _ => backend.default_acs_ants(n),
        };
        AcsSpec {
            seed: self.seed,
            ants: self.ants.unwrap_or(ants),
            rule: Rule {
                patience: Rule::patience(q0),
                period: self.period.unwrap_or_else(|| self.default_period(n, remember, local_search)),
                // 1 / (n L), in units of 1 / L.
                initial: 1.0 / n as f32,
                local: self.rho,
                global: self.alpha,
                beta: self.beta,
                scale: problem.scale(),
                directed: problem.is_directed().into(),
                remembered: (self.greedy == Greedy::Remembered).into(),
                passing: (remember == Remember::Taken).into(),
            },
            pheromone: self.pheromone,
            slots: self.slots,
            update: self.update,
            each_phase: false,
            counts_hits: false,
            // A few nodes have no moves of three edges to speak of.
            local_search: if n < FEWEST { LocalSearch::None } else { local_search },
            breadth: self.breadth.unwrap_or(breadth).min(problem.search_k()),
            rules: ColonyRules {
                target: stop.target.unwrap_or(i64::MIN),
                unit_cost: problem.unit_cost() as f64,
                // Trails end at 1 / (length of the best tour).
                persistence: 0.0,
                limit_ratio: 0.0,
                reset_after: if local_search == LocalSearch::Lk { ELITE_AFTER } else { 0 },
                padding: 0,
            },
        }
    }
}

/// As [`Algorithm::solve`](super::Algorithm::solve), once everything is checked.
pub(super) fn solve(
    instance: &Instance,
    settings: &AcsSettings,
    backend: &Backend,
    stop: &Stop,
    contact: Contact<'_>,
) -> Result<Solution, SolveError> {
    let start = Instant::now();
    let haste = Haste::new(instance, (start, stop));
    let Some(problem) =
        Problem::until(instance, Some(settings.candidates), settings.listed(), &|| haste.is_over())?
    else {
        return haste.end(None);
    };
    let problem = problem.reduced(&|| haste.is_over());
    let spec = settings.spec(&problem, backend, stop);
    if haste.is_over() {
        return haste.end(Some(problem.start_tour().to_vec()));
    }
    let mut colony = backend.acs(&problem, &spec)?;
    let mut iterations = Iterations {
        colony: colony.as_mut(),
        ants: spec.ants,
        fewest: 1,
        whole: false,
        state: None,
        branching: None,
        part: "ants",
    };
    island::run(&mut iterations, (instance, &problem), backend, (start, stop), contact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_edges_are_updated_where_rings_of_all_edges_are_large() {
        let of = |pheromone, n, remember, local_search| {
            AcsSettings { pheromone, ..AcsSettings::default() }.default_period(n, remember, local_search)
        };
        let (rings, taken, none) = (Pheromone::Selective, Remember::Taken, LocalSearch::None);
        assert_eq!(of(rings, SLOW_RINGS, taken, none), 4);
        assert_eq!(of(rings, SLOW_RINGS - 1, taken, none), 1);
        assert_eq!(of(rings, SLOW_RINGS, Remember::Best, none), 1);
        assert_eq!(of(rings, SLOW_RINGS, taken, LocalSearch::TwoOpt), 1);
        assert_eq!(of(Pheromone::Candidate, SLOW_RINGS, taken, none), 1);
    }
}
