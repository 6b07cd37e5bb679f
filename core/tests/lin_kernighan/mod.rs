//! Chained Lin-Kernighan: moves and cuts against plain tours, changes and merges against their edges, the same by every
//! team.

mod cuts;
mod merge;
mod moves;
mod plain_merge;
mod plain_moves;
pub mod scene;

pub mod shapes;
mod trials;
