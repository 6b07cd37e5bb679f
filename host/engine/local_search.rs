//! Which local search improves tours.

use antwarp_core::operator::{self, Shallow};
use serde::{Deserialize, Serialize};

/// Most neighbours: the number of a move has eight bits for those of the second step.
pub const MOST_NEIGHBORS: u32 = 100;

/// The operators of [`antwarp_core::local_search`] by name.
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
}

impl LocalSearch {
    /// How far its moves go; without a search, those of 2-opt.
    pub fn reach(self) -> Shallow {
        match self {
            LocalSearch::None | LocalSearch::TwoOpt => Shallow::of::<operator::TwoOpt>(),
            LocalSearch::OrOpt => Shallow::of::<operator::OrOpt>(),
            LocalSearch::Or2opt => Shallow::of::<operator::Or2opt>(),
            LocalSearch::ThreeOpt => Shallow::of::<operator::ThreeOpt>(),
        }
    }

    /// As in the names of kernels, `None` for no search.
    pub fn kernel_name(self) -> Option<&'static str> {
        match self {
            LocalSearch::None => None,
            LocalSearch::TwoOpt => Some("two_opt"),
            LocalSearch::OrOpt => Some("or_opt"),
            LocalSearch::Or2opt => Some("or_2opt"),
            LocalSearch::ThreeOpt => Some("three_opt"),
        }
    }
}
