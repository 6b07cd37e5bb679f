//! The kinds of local search that improve tours.

use antwarp_core::operator::{self, Shallow};
use serde::{Deserialize, Serialize};

/// Maximum number of neighbours. The number of a move has eight bits for the choice of the second step, which is at most twice the
/// number of neighbours: up to 127 would fit.
pub const MOST_NEIGHBORS: u32 = 100;
const _: () = assert!(2 * MOST_NEIGHBORS < 1 << antwarp_core::papers::local_search::moves::CHOICE_BITS);

/// The operators of [`antwarp_core::papers::local_search`] by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum LocalSearch {
    /// No local search.
    None,
    /// Two edges are replaced by two others.
    TwoOpt,
    /// Segments of up to three nodes are moved, in either orientation.
    OrOpt,
    /// 2-opt and Or-opt together.
    #[serde(rename = "or-2opt")]
    #[cfg_attr(feature = "cli", value(name = "or-2opt"))]
    Or2opt,
    /// 2-opt and all reconnections of three edges.
    #[default]
    ThreeOpt,
    /// Segments of any length are moved, in the same orientation: only for directed edges.
    #[serde(rename = "or-3opt")]
    #[cfg_attr(feature = "cli", value(name = "or-3opt"))]
    Or3opt,
    /// Lin-Kernighan moves of up to seven edges: for the tours of ants, on CPU threads.
    Lk,
}

impl LocalSearch {
    /// Returns the default numbers of neighbours per node that the local search of ants evaluates, and that the second step of a
    /// move evaluates. If edges are directed, many may be [reduced](super::Problem::search_matrix) to the same length.
    pub fn default_lists(is_directed: bool) -> (u32, u32) {
        if is_directed { (20, 10) } else { (8, 5) }
    }

    /// Returns the number of neighbours per node in the local search of ants: the given one; else for 2-opt, which has few moves,
    /// that of Skinderowicz 2020 (section 5.7); `None` means [`LocalSearch::default_lists`].
    pub fn neighbors_of_ants(local_search: Option<LocalSearch>, given: Option<u32>) -> Option<u32> {
        given.or((local_search == Some(LocalSearch::TwoOpt)).then_some(32))
    }

    /// Returns whether it is only for ants.
    pub fn is_of_ants(self) -> bool {
        matches!(self, LocalSearch::Or3opt | LocalSearch::Lk)
    }

    /// Returns the default local search for the tours of ants: Or-3opt if edges are directed, else none.
    pub fn of_ants(is_directed: bool) -> LocalSearch {
        if is_directed { LocalSearch::Or3opt } else { LocalSearch::None }
    }

    /// Returns how deep its moves go in trials; those of 2-opt if it is not an operator of trials.
    pub fn reach(self) -> Shallow {
        match self {
            LocalSearch::None | LocalSearch::Or3opt | LocalSearch::Lk | LocalSearch::TwoOpt => {
                Shallow::of::<operator::TwoOpt>()
            }
            LocalSearch::OrOpt => Shallow::of::<operator::OrOpt>(),
            LocalSearch::Or2opt => Shallow::of::<operator::Or2opt>(),
            LocalSearch::ThreeOpt => Shallow::of::<operator::ThreeOpt>(),
        }
    }

    /// Returns what reports say behind the name of an algorithm, such as ` with three-opt`, as the option calls it; nothing for no search.
    pub fn suffix(self) -> String {
        match self {
            LocalSearch::Lk => " with lk".to_owned(),
            other => other
                .kernel_name()
                .map_or_else(String::new, |name| format!(" with {}", name.replace('_', "-"))),
        }
    }

    /// Returns the name used in kernel names; `None` for no search.
    pub fn kernel_name(self) -> Option<&'static str> {
        match self {
            LocalSearch::None => None,
            LocalSearch::TwoOpt => Some("two_opt"),
            LocalSearch::OrOpt => Some("or_opt"),
            LocalSearch::Or2opt => Some("or_2opt"),
            LocalSearch::ThreeOpt => Some("three_opt"),
            LocalSearch::Or3opt => Some("or_3opt"),
            LocalSearch::Lk => Some("lin_kernighan"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_have_the_names_of_the_options() {
        use LocalSearch::{Lk, Or2opt, Or3opt, OrOpt, ThreeOpt, TwoOpt};
        for search in [TwoOpt, OrOpt, Or2opt, ThreeOpt, Or3opt, Lk] {
            let name = serde_json::to_value(search).unwrap();
            assert_eq!(search.suffix(), format!(" with {}", name.as_str().unwrap()));
        }
        assert_eq!(LocalSearch::None.suffix(), "");
    }

    #[test]
    fn ants_look_at_more_neighbours_by_two_opt_unless_told_otherwise() {
        let listed = LocalSearch::neighbors_of_ants;
        assert_eq!(listed(Some(LocalSearch::TwoOpt), None), Some(32));
        assert_eq!(listed(Some(LocalSearch::TwoOpt), Some(8)), Some(8));
        assert_eq!(listed(Some(LocalSearch::ThreeOpt), None), None);
        assert_eq!(listed(None, Some(12)), Some(12));
    }
}
