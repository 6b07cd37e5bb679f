//! MAX-MIN Ant System (Skinderowicz 2020): settings, and the loop around a backend's colony.

use antwarp_core::papers::ants::colony::{ColonyRules, limit_ratio};
use antwarp_core::papers::local_search::best::FEWEST;

use super::colony::Iterations;
use crate::backend::Backend;
use crate::engine::{Deadline, LocalSearch, MOST_NEIGHBORS, Problem, Stop};
use crate::instance::Instance;
use crate::solver::haste::Haste;
use crate::solver::island::{self, Contact};
use crate::solver::settings::{Settings, at_least, between, choices, from_to, inside, settings};
use crate::solver::{Solution, SolveError};

pub use crate::engine::mmas::{ColonySpec, Deposit, Selection, TabuKind};

choices!(LocalSearch, Selection, TabuKind, Deposit);

settings! {
    /// Settings of MAX-MIN Ant System. `None` means: chosen for the run.
    pub struct MmasSettings = "mmas", "MAX-MIN Ant System" {
        /// Seed of all random numbers: with a number of iterations, it determines the tour
        pub seed: u64 = 1, is_common: true;
        /// Ants: tours per iteration
        pub ants: Option<u32> = None,
            range: from_to(1, MOST_ANTS),
            otherwise: "by the number of nodes and the backend; 16 with `local_search` lk";
        /// Candidates of a node: its nearest ones, or all nodes
        pub candidates: Option<u32> = Some(32), range: at_least(1), none: "all";
        /// Exponent of the pheromone trail
        pub alpha: f32 = 1.0, range: between(0.0, 20.0);
        /// Exponent of the heuristic value, 1 / distance
        pub beta: f32 = 2.0, range: between(0.0, 20.0);
        /// Share of a trail that stays when it evaporates
        pub rho: Option<f64> = None,
            range: inside(0.0, 1.0), otherwise: "0.3 with `local_search` lk, 0.9 without";
        /// Probability of building the best tour once the colony has converged
        pub p_best: f64 = 0.01, range: inside(0.0, 1.0);
        /// How an ant chooses its next node
        pub selection: Selection = Selection::default();
        /// How an ant remembers visited nodes
        pub tabu: TabuKind = TabuKind::default();
        /// Warps per ant on a GPU without candidate lists
        pub warps: Option<u32> = None, range: at_least(1), otherwise: "measured in the first iterations";
        /// Which tour deposits pheromone
        pub deposit: Option<Deposit> = None,
            otherwise: "restart with `local_search` lk, mixed with other local search, iteration without";
        /// Reset the trails after this many iterations without a better tour since the last reset; 0: never
        pub reset_after: Option<u32> = None,
            unit: "iterations", otherwise: "5 with `local_search` lk, 500 with other local search, 0 without";
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

/// Iterations without a better tour after which the trails are reset, with local search: as in the program of Skinderowicz 2020.
const RESET_AFTER: u32 = 500;
/// The same where a reset adds a tour to the elite: many tours are worth more than good ones.
pub(in crate::solver) const ELITE_AFTER: u32 = 5;
/// Ants with Lin-Kernighan moves: more resets are worth more than more tours per iteration.
pub(in crate::solver) const ELITE_ANTS: u32 = 16;
/// Shares of a trail that remain, with Lin-Kernighan moves and without.
const RHO: [f64; 2] = [0.3, 0.9];
/// Most ants in total, so that ant numbers stay far below 32 bits.
pub(in crate::solver) const MOST_ANTS: u32 = 1 << 24;

impl MmasSettings {
    /// Checks every setting's range.
    ///
    /// # Errors
    /// The setting that is out of range.
    pub fn check(&self) -> Result<(), SolveError> {
        self.check_ranges()
    }

    /// Returns what a [`Problem`] needs to know about [`neighbors`](Self::neighbors).
    pub fn listed(&self) -> Option<u32> {
        LocalSearch::neighbors_of_ants(self.local_search, self.neighbors)
    }

    /// Returns the colony's spec for a problem.
    pub fn spec(&self, problem: &Problem, backend: &Backend, stop: &Stop) -> ColonySpec {
        let n = problem.n();
        let choices = if problem.k() == 0 { n } else { problem.k() };
        let local_search = self.local_search.unwrap_or_else(|| LocalSearch::of_ants(problem.is_directed()));
        let (_, breadth) = LocalSearch::default_lists(problem.is_directed());
        // Without local search a colony converges too slowly to stagnate within the iterations of a typical run.
        let (deposit, reset_after, rho) = match local_search {
            LocalSearch::None => (Deposit::Iteration, 0, RHO[1]),
            // The elite's tours should have little in common.
            LocalSearch::Lk => (Deposit::Restart, ELITE_AFTER, RHO[0]),
            _ => (Deposit::Mixed, RESET_AFTER, RHO[1]),
        };
        let ants = match local_search {
            LocalSearch::Lk => ELITE_ANTS.min(n),
            _ => backend.default_ants(n),
        };
        ColonySpec {
            seed: self.seed,
            ants: self.ants.unwrap_or(ants),
            alpha: self.alpha,
            beta: self.beta,
            selection: self.selection,
            tabu: self.tabu,
            warps: self.warps,
            deposit: self.deposit.unwrap_or(deposit),
            // With only a few nodes there are hardly any moves of three edges.
            local_search: if n < FEWEST { LocalSearch::None } else { local_search },
            breadth: self.breadth.unwrap_or(breadth).min(problem.search_k()),
            rules: ColonyRules {
                target: stop.target.unwrap_or(i64::MIN),
                unit_cost: problem.unit_cost() as f64,
                persistence: self.rho.unwrap_or(rho),
                limit_ratio: limit_ratio(n, f64::from(choices) / 2.0, self.p_best),
                reset_after: self.reset_after.unwrap_or(reset_after),
                padding: 0,
            },
        }
    }
}

/// As [`Algorithm::solve`](crate::solver::Algorithm::solve), after all checks.
pub(in crate::solver) fn solve(
    instance: &Instance,
    settings: &MmasSettings,
    backend: &Backend,
    stop: &Stop,
    mut contact: Contact<'_>,
) -> Result<Solution, SolveError> {
    let deadline = Deadline::now(stop);
    let haste = Haste::new(instance, deadline);
    let Some(problem) =
        Problem::until(instance, settings.candidates, settings.listed(), &|| haste.is_over())?
    else {
        return haste.end(None);
    };
    let problem = problem.reduced(&|| haste.is_over());
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
        branching: None,
        part: "ants",
    };
    iterations.resume(contact.resumed.take())?;
    island::run(&mut iterations, (instance, &problem), backend, deadline, contact)
}

#[cfg(test)]
mod tests {
    use antwarp_core::papers::ants::colony::Depositor;

    use super::*;
    use crate::backend::Choice;
    use crate::instance::generate::uniform;

    #[test]
    fn the_help_has_the_defaults() {
        let otherwise = |name| MmasSettings::DECLARATION.setting(name).unwrap().otherwise;
        let [deep, plain] = RHO;
        assert!(otherwise("ants").ends_with(&format!("; {ELITE_ANTS} with `local_search` lk")));
        assert_eq!(otherwise("rho"), format!("{deep} with `local_search` lk, {plain} without"));
        let resets =
            format!("{ELITE_AFTER} with `local_search` lk, {RESET_AFTER} with other local search, 0 without");
        assert_eq!(otherwise("reset_after"), resets);
        let [directed, others] = [true, false].map(LocalSearch::default_lists);
        let two_opt = LocalSearch::neighbors_of_ants(Some(LocalSearch::TwoOpt), None).unwrap();
        let (first, last) = (directed.0, others.0);
        let neighbors = format!(
            "{two_opt} with `local_search` two-opt, {first} where edges have a direction, else {last}"
        );
        assert_eq!(otherwise("neighbors"), neighbors);
        let breadth = format!("{} where edges have a direction, else {}", directed.1, others.1);
        assert_eq!(otherwise("breadth"), breadth);
    }

    fn colony_of(settings: &MmasSettings, check: impl FnOnce(&Problem, &Backend, ColonySpec)) {
        let problem = Problem::new(&uniform(60, 3).unwrap(), settings.candidates, settings.listed()).unwrap();
        let (backend, _) = Backend::open(Choice::Cpu).unwrap();
        check(&problem, &backend, settings.spec(&problem, &backend, &Stop::never()));
    }

    #[test]
    fn deposits_and_resets_go_by_local_search() {
        let rules = |settings| {
            let mut rules = None;
            colony_of(&settings, |_, _, spec| rules = Some((spec.deposit, spec.rules.reset_after)));
            rules.unwrap()
        };
        let searching = MmasSettings { local_search: Some(LocalSearch::TwoOpt), ..MmasSettings::default() };
        assert_eq!(rules(MmasSettings::default()), (Deposit::Iteration, 0));
        assert_eq!(rules(searching.clone()), (Deposit::Mixed, 500));
        let deep = MmasSettings { local_search: Some(LocalSearch::Lk), ..MmasSettings::default() };
        assert_eq!(rules(deep), (Deposit::Restart, 5));
        let given = MmasSettings { deposit: Some(Deposit::Best), reset_after: Some(0), ..searching };
        assert_eq!(rules(given), (Deposit::Best, 0));
    }

    #[test]
    fn mixed_draws_every_depositor_with_its_share() {
        let settings = MmasSettings { deposit: Some(Deposit::Mixed), ..MmasSettings::default() };
        colony_of(&settings, |_, _, spec| {
            let share = |depositor| {
                let count = (0..100_000).filter(|&iteration| spec.depositor(iteration) == depositor).count();
                count as f64 / 1000.0
            };
            // Four standard deviations are 0.5 %.
            for (depositor, percent) in
                [(Depositor::Iteration, 10.0), (Depositor::Best, 9.0), (Depositor::Restart, 81.0)]
            {
                assert!((share(depositor) - percent).abs() < 0.5, "{depositor:?}: {} %", share(depositor));
            }
            let other = ColonySpec { seed: spec.seed + 1, ..spec };
            assert!((0..100).any(|i| other.depositor(i) != spec.depositor(i)), "the seed draws");
        });
    }

    /// With 60 nodes, local search soon finds the best tour; then the trails are reset again and again.
    #[test]
    fn a_colony_that_stagnates_is_reset() {
        let settings = MmasSettings {
            ants: Some(4),
            local_search: Some(LocalSearch::ThreeOpt),
            reset_after: Some(10),
            ..MmasSettings::default()
        };
        colony_of(&settings, |problem, backend, spec| {
            let resets = |reset_after| {
                let rules = ColonyRules { reset_after, ..spec.rules };
                let mut colony = backend.colony(problem, &ColonySpec { rules, ..spec }).unwrap();
                colony.run(200, &|| false).unwrap().resets
            };
            assert!(resets(10) >= 5, "{} resets", resets(10));
            assert_eq!(resets(0), 0);
        });
    }

    #[test]
    fn the_branching_factor_falls_from_all_choices_to_the_two_edges_of_a_tour() {
        let settings = [
            (MmasSettings { candidates: Some(16), ..MmasSettings::default() }, 16.0),
            (MmasSettings { candidates: None, ..MmasSettings::default() }, 59.0),
        ];
        for (settings, choices) in settings {
            colony_of(&settings, |problem, backend, spec| {
                // Nothing keeps the ants from building the same tour forever.
                let rules = ColonyRules { limit_ratio: 1e-12, persistence: 0.5, ..spec.rules };
                let mut colony = backend.colony(problem, &ColonySpec { rules, ..spec }).unwrap();
                colony.run(0, &|| false).unwrap();
                assert_eq!(colony.branching_factor().unwrap(), Some(choices));
                colony.run(20, &|| false).unwrap();
                let early = colony.branching_factor().unwrap().unwrap();
                assert!(early < choices / 2.0, "{early} of {choices}");
                colony.run(1000, &|| false).unwrap();
                let late = colony.branching_factor().unwrap().unwrap();
                assert!((1.9..2.1).contains(&late), "{late}");
            });
        }
    }

    #[test]
    fn branches_are_counted_from_the_least_trail_of_a_node() {
        let settings = MmasSettings { candidates: Some(4), ..MmasSettings::default() };
        colony_of(&settings, |problem, _, spec| {
            // 5 % of the range from 1 to 3 is 1.1.
            let trails = [1.0, 1.05, 1.2, 3.0, 1.0, 1.0, 1.0, 3.0];
            assert_eq!(spec.branching_factor(problem, &trails), 1.5);
        });
    }
}
