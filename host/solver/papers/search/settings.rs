//! Settings of neighbourhood search.

use antwarp_core::papers::search::Strategy as CoreStrategy;
use serde::{Deserialize, Serialize};

use crate::engine::{AskedShape, Cost, WalksSpec};
use crate::solver::SolveError;
use crate::solver::settings::{Kind, Settings, Typed, at_least, choices, from_to, inside, is, settings};

/// How a walk chooses the next neighbour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Tabu search: the best neighbour that is not tabu
    #[default]
    Tabu,
    /// Hill climbing: the best neighbour while it is better, then from a new random solution
    HillClimbing,
    /// Simulated annealing: a random neighbour, by Metropolis' rule
    Annealing,
    /// Iterated local search: hill climbing, then random moves from the best local optimum
    Ils,
    /// Variable neighbourhood descent: hill climbing through several neighbourhoods, the smallest first
    Vnd,
    /// Variable neighbourhood search: such descents, then one random move from the best local optimum, or one more each time
    Vns,
}

impl Strategy {
    /// As core names it.
    pub fn in_core(self) -> CoreStrategy {
        match self {
            Strategy::Tabu => CoreStrategy::Tabu,
            Strategy::HillClimbing | Strategy::Vnd => CoreStrategy::Climb,
            Strategy::Annealing => CoreStrategy::Anneal,
            Strategy::Ils => CoreStrategy::Iterate,
            Strategy::Vns => CoreStrategy::Vary,
        }
    }

    /// Whether it goes down to local optima.
    pub fn descends(self) -> bool {
        matches!(self, Strategy::HillClimbing | Strategy::Ils | Strategy::Vnd | Strategy::Vns)
    }

    /// Whether its descents go through all neighbourhoods that a problem has.
    pub fn varies(self) -> bool {
        matches!(self, Strategy::Vnd | Strategy::Vns)
    }
}

/// Which better neighbour a descent takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Improvement {
    /// The best of all
    #[default]
    Best,
    /// The first, in the order of their numbers from a random one on
    First,
}

/// Where the next neighbour is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Chooser {
    /// Where neighbours are evaluated
    #[default]
    Device,
    /// On the host, to which all costs are copied (the paper's way)
    Host,
    /// On the host, which makes all neighbours, too, and copies them to the backend (the paper's other way)
    HostGenerates,
}

choices!(Strategy, Improvement, Chooser);

impl Typed for Cost {
    const KIND: Kind = Kind::Real;
}

settings! {
    /// Settings of a neighbourhood search; what is `None` is left to the problem. The defaults are one walk that never restarts:
    /// `antwarp search` itself chooses the number of walks, and how they restart, where neither is given.
    pub struct SearchSettings = "search", "Neighbourhood search" {
        /// How a walk chooses the next neighbour
        pub strategy: Strategy = Strategy::default(), is_common: true;
        /// Number of walks
        pub walks: u32 = 1, range: from_to(1, 1 << 20), is_common: true,
            otherwise: "chosen by the number of neighbours and the backend; 1 if the host chooses moves";
        /// Seed of all random numbers: the same seed and number of iterations give the same solution
        pub seed: u64 = 1, is_common: true;
        /// After each interval of this many iterations, walks compare their best solutions in pairs, and both continue from the better one
        pub cooperate: Option<u64> = None, range: at_least(1), otherwise: "never";
        /// After each interval of this many iterations, a walk restarts near its best solution
        pub restart: Option<u64> = None, range: at_least(1), only: &[is("strategy", "tabu")],
            otherwise: "50 for each element; in qap 20, or 5000 in all with more than 50 places and no structure; never with `walks` or \
                        `cooperate`";
        /// In qap with several walks: restart a walk from a child of its best solution and that of a neighbouring walk
        pub recombine: bool = false, only: &[is("strategy", "tabu")],
            otherwise: "on in qap if none of `walks`, `restart` and `cooperate` is given, except with more than 50 places and no structure";
        /// Fewest and most iterations that something is tabu, that of the move included
        pub tenure: Option<(u32, u32)> = None, value_name: "LOW,HIGH", range: from_to(0, 1 << 24),
            only: &[is("strategy", "tabu")], otherwise: "by the encoding and by how walks restart";
        /// A move whose elements have not been tabu for this many iterations is preferred to all others
        pub aspiration: Option<u32> = None, only: &[is("strategy", "tabu")],
            otherwise: "5 times the square of the number of elements, at least 1000";
        /// How many of the problem's neighbourhoods descents go through, the first ones; all if not given
        pub neighborhoods: Option<u32> = None, range: at_least(1), is_internal: true;
        /// Which better neighbour a descent takes
        pub improvement: Improvement = Improvement::default(), only: &[is("strategy", DESCENTS)];
        /// Maximum number of descents of a walk
        pub descents: Option<u32> = None, range: at_least(1), only: &[is("strategy", DESCENTS)], otherwise: "no limit";
        /// Random moves: with ils after each descent, with vns at most after each descent, with tabu at most when a walk restarts
        pub kicks: Option<u32> = None, range: from_to(0, 1 << 16), only: &[is("strategy", "tabu|ils|vns")],
            otherwise: "4 with ils, 10 with vns, a quarter of the elements with tabu";
        /// The first and the last temperature
        pub temperatures: Option<(f32, f32)> = None, value_name: "HOT,COLD", range: inside(0.0, f64::INFINITY),
            only: &[is("strategy", "annealing")], otherwise: "by the costs of random moves; in ppp 50,50";
        /// Iterations from the first temperature to the last; then cooling starts again
        pub cooling: Option<u64> = None, range: at_least(1), only: &[is("strategy", "annealing")],
            otherwise: "the limit of iterations; without one, 100 for each neighbour, at least 100000";
        /// Where the next neighbour is chosen; the host can choose only for a single walk of tabu or hill-climbing
        pub selection: Chooser = Chooser::default();
        /// A solution of this cost ends the search
        pub target: Option<Cost> = None, is_internal: true;
        /// Blocks of a walk on a GPU, threads on a CPU
        pub blocks: Option<u32> = None, range: at_least(1), otherwise: "measured";
        /// Threads of a block, a multiple of 32
        pub block_threads: Option<u32> = None, range: at_least(32), otherwise: "measured";
        /// Measure blocks and threads again instead of using what was found before
        pub retune: bool = false;
        /// Measure every multiple of 32 threads with each number of blocks (the paper's method)
        pub retune_all: bool = false;
    }
}

/// The strategies that [descend](Strategy::descends), for conditions; a test compares the two.
const DESCENTS: &str = "hill-climbing|ils|vnd|vns";

impl SearchSettings {
    /// Checks every setting's range, and that they go together.
    ///
    /// # Errors
    /// What is out of its range, or does not go together.
    pub fn check(&self) -> Result<(), SolveError> {
        self.check_ranges()?;
        let refuse = |what: &str| Err(SolveError::Settings(what.to_string()));
        if self.tenure.is_some_and(|(low, high)| low > high) {
            return refuse("`tenure` must be two numbers, and the first must not exceed the second");
        }
        if self.temperatures.is_some_and(|(hot, cold)| cold > hot) {
            return refuse("the last of `temperatures` must not be above the first");
        }
        let is_first = self.improvement == Improvement::First;
        if is_first && !self.strategy.descends() {
            return refuse("`improvement` first is for `strategy` hill-climbing, ils, vnd and vns");
        }
        if self.strategy == Strategy::Vns && self.kicks == Some(0) {
            return refuse("`kicks` of `strategy` vns must be at least 1");
        }
        let restarts = self.strategy == Strategy::Tabu && self.restart.is_some() && self.cooperate.is_none();
        if self.recombine && !restarts {
            return refuse("`recombine` is for `strategy` tabu with `restart` and without `cooperate`");
        }
        if self.block_threads.is_some_and(|threads| !threads.is_multiple_of(32)) {
            return refuse("`block_threads` must be a multiple of 32");
        }
        let is_simple = matches!(self.strategy, Strategy::Tabu | Strategy::HillClimbing) && !is_first;
        if self.selection != Chooser::Device && (!is_simple || self.walks != 1 || self.recombine) {
            return refuse(
                "the host can only choose for a single walk with `strategy` tabu, or hill-climbing and `improvement` best",
            );
        }
        Ok(())
    }
}

impl SearchSettings {
    /// Returns what the settings ask of a backend.
    pub fn spec(&self) -> WalksSpec {
        let &SearchSettings { blocks: parts, block_threads: threads, .. } = self;
        WalksSpec {
            strategy: self.strategy.in_core(),
            first: self.improvement == Improvement::First,
            walks: self.walks,
            shape: (parts.is_some() || threads.is_some()).then_some(AskedShape { parts, threads }),
            retune: self.retune,
            retune_all: self.retune_all,
        }
    }
}

#[cfg(all(test, feature = "cli"))]
mod tests {
    use super::*;

    #[test]
    fn conditions_name_the_strategies_that_descend() {
        let Kind::Choice(choices) = Strategy::KIND else { panic!("strategies have names") };
        let read = |name: &str| serde_json::from_value::<Strategy>(name.into()).unwrap();
        let names: Vec<String> = choices().into_iter().map(|choice| choice.name).collect();
        let descends: Vec<&str> =
            names.iter().map(String::as_str).filter(|name| read(name).descends()).collect();
        assert_eq!(descends.join("|"), DESCENTS);
    }
}
