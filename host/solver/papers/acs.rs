//! Ant Colony System (Skinderowicz 2016): settings, and the spec for a backend.

use antwarp_core::papers::ants::acs::Rule;
use antwarp_core::papers::ants::colony::ColonyRules;
use antwarp_core::papers::ants::pheromone::selective::MOST_SLOTS;
use antwarp_core::papers::local_search::best::FEWEST;

use super::colony::Iterations;
use super::mmas::{ELITE_AFTER, ELITE_ANTS, MOST_ANTS};
use crate::backend::Backend;
use crate::engine::{Deadline, LocalSearch, MOST_NEIGHBORS, Problem, Stop};
use crate::instance::Instance;
use crate::solver::haste::Haste;
use crate::solver::island::{self, Contact};
use crate::solver::settings::{Settings, at_least, between, choices, from_to, inside, is, settings};
use crate::solver::{Solution, SolveError};

pub use crate::engine::acs::{AcsSpec, Greedy, Pheromone, Remember, Update};

choices!(Pheromone, Remember, Greedy, Update);

settings! {
    /// Settings of Ant Colony System. `None` means: chosen for the run.
    pub struct AcsSettings = "acs", "Ant Colony System" {
        /// Seed of all random numbers: with a number of iterations, it determines the tour, except with `update` relaxed
        pub seed: u64 = 1, is_common: true;
        /// Ants: tours per iteration
        pub ants: Option<u32> = None,
            range: from_to(1, MOST_ANTS),
            otherwise: "by the number of nodes and the backend; 16 with `local_search` lk";
        /// Candidates of a node: its nearest ones
        pub candidates: u32 = 32, range: at_least(1);
        /// Exponent of the heuristic value, 1 / distance
        pub beta: f32 = 3.0, range: between(0.0, 20.0);
        /// Share of a trail of the best tour that an iteration replaces
        pub alpha: f32 = 0.2, range: inside(0.0, 1.0);
        /// Share of a trail that an ant replaces as it passes
        pub rho: f32 = 0.01, range: inside(0.0, 1.0);
        /// Probability of taking the best edge
        pub q0: Option<f64> = None, range: between(0.0, 1.0), otherwise: "(n - 20) / n";
        /// Update every N-th edge that an ant takes; 0: none
        pub period: Option<u32> = None,
            option: "update_period",
            otherwise: "1; 4 from 5,000 nodes on, without local search and with a selective memory that stores all edges";
        /// Which edges have a pheromone trail
        pub pheromone: Pheromone = Pheromone::default();
        /// Edges that the pheromone memory stores per node
        pub slots: u32 = 8, range: from_to(1, MOST_SLOTS), only: &[is("pheromone", "selective")];
        /// Which edges the pheromone memory stores
        pub remember: Option<Remember> = None,
            only: &[is("pheromone", "selective")], otherwise: "best on CPU threads, taken on a GPU";
        /// What a greedy step chooses among
        pub greedy: Greedy = Greedy::default(), only: &[is("pheromone", "selective")];
        /// How ants build tours, and how their trail updates interact
        pub update: Update = Update::default();
        /// Reset the trails after this many iterations without a better tour since the last reset; 0: never
        pub reset_after: Option<u32> = None,
            unit: "iterations", only: &[is("local_search", "lk")], otherwise: "5";
        /// The operator that improves the tours of ants
        pub local_search: Option<LocalSearch> = None, otherwise: "or-3opt where edges have a direction, else none";
        /// Neighbours of a node in the local search
        pub neighbors: Option<u32> = None,
            range: from_to(1, MOST_NEIGHBORS),
            otherwise: "32 with `local_search` two-opt, 20 where edges have a direction, else 8";
        /// Neighbours evaluated in the second step of a move
        pub breadth: Option<u32> = None,
            range: from_to(1, MOST_NEIGHBORS), otherwise: "10 where edges have a direction, else 5";
    }
}

/// Candidates of all nodes together are numbered in 32 bits.
const MOST_CANDIDATES: u64 = 1 << 32;
/// From this many nodes on, rings that store every edge are slow to lead to shorter tours unless fewer edges are updated.
const SLOW_RINGS: u32 = 5_000;
/// Steps per tour in which an ant explores, if q0 is not given (section 4.1).
const EXPLORING: f64 = 20.0;

impl AcsSettings {
    /// Checks every setting's range, and that they are compatible.
    ///
    /// # Errors
    /// The settings that are out of range or incompatible.
    pub fn check(&self) -> Result<(), SolveError> {
        self.check_ranges()?;
        if self.pheromone == Pheromone::Selective && self.update == Update::Atomic {
            return Err(SolveError::Settings(
                "a selective pheromone memory has no atomic update: use `update` relaxed, or `pheromone` matrix".into(),
            ));
        }
        Ok(())
    }

    /// Checks what depends on the instance.
    ///
    /// # Errors
    /// If there are too many `candidates` for the number of nodes: the most possible.
    pub fn check_for(&self, instance: &Instance) -> Result<(), SolveError> {
        let n = instance.len() as u64;
        if n * u64::from(self.candidates).min(n) >= MOST_CANDIDATES {
            let most = (MOST_CANDIDATES - 1) / n;
            return Err(SolveError::Settings(format!("`candidates` must be at most {most} for {n} nodes")));
        }
        Ok(())
    }

    /// Returns what a [`Problem`] needs to know about [`neighbors`](Self::neighbors).
    pub fn listed(&self) -> Option<u32> {
        LocalSearch::neighbors_of_ants(self.local_search, self.neighbors)
    }

    /// Returns which edges of an ant are updated by default (benches/notebooks/acs.md, "The period").
    fn default_period(&self, n: u32, remember: Remember, local_search: LocalSearch) -> u32 {
        let takes_all = self.pheromone == Pheromone::Selective && remember == Remember::Taken;
        if takes_all && local_search == LocalSearch::None && n >= SLOW_RINGS { 4 } else { 1 }
    }

    /// Returns the colony's spec for a problem.
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
        // Only recombination makes use of the tours from before a reset.
        let reset_after = match local_search {
            LocalSearch::Lk => self.reset_after.unwrap_or(ELITE_AFTER),
            _ => 0,
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
            // With only a few nodes there are hardly any moves of three edges.
            local_search: if n < FEWEST { LocalSearch::None } else { local_search },
            breadth: self.breadth.unwrap_or(breadth).min(problem.search_k()),
            rules: ColonyRules {
                target: stop.target.unwrap_or(i64::MIN),
                unit_cost: problem.unit_cost() as f64,
                // Trails approach 1 / (length of the best tour).
                persistence: 0.0,
                limit_ratio: 0.0,
                reset_after,
                padding: 0,
            },
        }
    }
}

/// As [`Algorithm::solve`](crate::solver::Algorithm::solve), after all checks.
pub(in crate::solver) fn solve(
    instance: &Instance,
    settings: &AcsSettings,
    backend: &Backend,
    stop: &Stop,
    mut contact: Contact<'_>,
) -> Result<Solution, SolveError> {
    let deadline = Deadline::now(stop);
    let haste = Haste::new(instance, deadline);
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
    iterations.resume(contact.resumed.take())?;
    island::run(&mut iterations, (instance, &problem), backend, deadline, contact)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Choice;
    use crate::instance::generate::uniform;

    #[test]
    fn the_help_has_the_defaults() {
        let otherwise = |name| AcsSettings::DECLARATION.setting(name).unwrap().otherwise;
        assert!(otherwise("ants").ends_with(&format!("; {ELITE_ANTS} with `local_search` lk")));
        assert_eq!(otherwise("reset_after"), ELITE_AFTER.to_string());
        // Those of the other colony, which its tests compare with the constants.
        let others = |name| super::super::mmas::MmasSettings::DECLARATION.setting(name).unwrap().otherwise;
        for name in ["neighbors", "breadth"] {
            assert_eq!(otherwise(name), others(name));
        }
    }

    #[test]
    fn trails_are_reset_where_tours_are_recombined() {
        let instance = uniform(60, 3).unwrap();
        let (backend, _) = Backend::open(Choice::Cpu).unwrap();
        let problem = Problem::new(&instance, Some(32), None).unwrap();
        let reset_after = |local_search, reset_after| {
            let settings = AcsSettings { local_search, reset_after, ..AcsSettings::default() };
            settings.spec(&problem, &backend, &Stop::never()).rules.reset_after
        };
        let lk = Some(LocalSearch::Lk);
        assert_eq!((reset_after(lk, None), reset_after(lk, Some(0)), reset_after(lk, Some(9))), (5, 0, 9));
        assert_eq!((reset_after(None, None), reset_after(Some(LocalSearch::TwoOpt), Some(9))), (0, 0));
    }

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
