//! Code is compiled for every operator and for every representation of the nodes' places; these macros choose the right one.

/// Evaluates `$body`, in which `$O` is the [operator](antwarp_core::operator) of a `LocalSearch`: 2-opt if it has none.
macro_rules! with_operator {
    ($local_search:expr, $O:ident => $body:expr) => {{
        use antwarp_core::operator::{Or2opt, Or3opt, OrOpt, ThreeOpt, TwoOpt};
        match $local_search {
            antwarp_engine::LocalSearch::None
            | antwarp_engine::LocalSearch::Lk
            | antwarp_engine::LocalSearch::TwoOpt => {
                type $O = TwoOpt;
                $body
            }
            antwarp_engine::LocalSearch::OrOpt => {
                type $O = OrOpt;
                $body
            }
            antwarp_engine::LocalSearch::Or2opt => {
                type $O = Or2opt;
                $body
            }
            antwarp_engine::LocalSearch::ThreeOpt => {
                type $O = ThreeOpt;
                $body
            }
            antwarp_engine::LocalSearch::Or3opt => {
                type $O = Or3opt;
                $body
            }
        }
    }};
}

/// Evaluates `$body`, in which `$geometry` and `$places` give the nodes' places; nodes that are identified by number have
/// `$distances`.
macro_rules! with_places {
    ($problem:expr, $distances:expr, |$geometry:ident, $places:ident| $body:expr) => {{
        use antwarp_core::geometry::{Grid, Numbered, Planar};
        match $problem.places() {
            antwarp_engine::Places::Grid { places: $places, up } => {
                let $geometry = Grid { up: *up };
                $body
            }
            antwarp_engine::Places::Planar { places: $places, metric } => {
                let $geometry = Planar { metric: *metric };
                $body
            }
            antwarp_engine::Places::Numbered($places) => {
                let $geometry = Numbered { distances: $distances };
                $body
            }
        }
    }};
}

pub(super) use {with_operator, with_places};
