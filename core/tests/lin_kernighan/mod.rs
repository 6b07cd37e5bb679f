//! Chained Lin-Kernighan: moves and cuts against plain tours, changes and merges against their edges, the same by every
//! team.

mod cuts;
mod merge;
mod moves;
mod moves_against_plain_search;
mod plain_merge;
pub mod scene;

pub mod shapes;
mod small;
mod trials;
