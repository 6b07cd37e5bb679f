//! Which local search improves tours.

use antwarp_core::operator::{self, Shallow};
use serde::{Deserialize, Serialize};

/// Most neighbours: the number of a move has eight bits for those of the second step.
pub const MOST_NEIGHBORS: u32 = 100;

/// The operators of [`antwarp_core::papers::local_search`] by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum LocalSearch {
    /// Tours stay as they are.
    None,
    /// Two edges out, two in.
    TwoOpt,
    /// Segments of up to three nodes go elsewhere, either way around.
    OrOpt,
    /// 2-opt and Or-opt together.
    #[serde(rename = "or-2opt")]
    #[cfg_attr(feature = "cli", value(name = "or-2opt"))]
    Or2opt,
    /// 2-opt and every reconnection of three edges.
    #[default]
    ThreeOpt,
    /// Segments of any length go elsewhere, the same way around: for edges with a direction, and for these only.
    #[serde(rename = "or-3opt")]
    #[cfg_attr(feature = "cli", value(name = "or-3opt"))]
    Or3opt,
    /// Lin-Kernighan moves of up to seven edges: for the tours of ants, on CPU threads.
    Lk,
}

impl LocalSearch {
    /// Neighbours of a node that ants' local search looks at unless a user says otherwise; of them, those that the second step of a
    /// move looks at. Where edges have a direction, many may be [reduced](super::Problem::search_matrix) to the same length.
    pub(crate) fn default_lists(is_directed: bool) -> (u32, u32) {
        if is_directed { (20, 10) } else { (8, 5) }
    }

    /// Neighbours of a node in the local search of ants: those given; of 2-opt, whose moves are few, as many as Skinderowicz 2020 has
    /// (section 5.7); `None`: [`LocalSearch::default_lists`].
    pub(crate) fn neighbors_of_ants(local_search: Option<LocalSearch>, given: Option<u32>) -> Option<u32> {
        given.or((local_search == Some(LocalSearch::TwoOpt)).then_some(32))
    }

    /// Whether ants alone have it.
    pub fn is_of_ants(self) -> bool {
        matches!(self, LocalSearch::Or3opt | LocalSearch::Lk)
    }

    /// What improves the tours of ants unless a user says otherwise: Or-3opt where edges have a direction, else nothing.
    pub fn of_ants(is_directed: bool) -> LocalSearch {
        if is_directed { LocalSearch::Or3opt } else { LocalSearch::None }
    }

    /// How far its moves go in trials; those of 2-opt where it is no operator of trials.
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

    /// As in the names of kernels and in reports, `None` for no search.
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
    fn ants_look_at_more_neighbours_by_two_opt_unless_told_otherwise() {
        let listed = LocalSearch::neighbors_of_ants;
        assert_eq!(listed(Some(LocalSearch::TwoOpt), None), Some(32));
        assert_eq!(listed(Some(LocalSearch::TwoOpt), Some(8)), Some(8));
        assert_eq!(listed(Some(LocalSearch::ThreeOpt), None), None);
        assert_eq!(listed(None, Some(12)), Some(12));
    }
}
