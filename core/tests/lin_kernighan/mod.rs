//! Chained Lin-Kernighan: moves and cuts against plain tours, changes and merges against their edges, the same by every
//! team.

mod ants;
mod cuts;
mod merge;
mod moves;
mod plain_merge;
mod scene;
mod search;
mod shapes;
mod trials;
