//! Chained Lin-Kernighan: moves and cuts against plain tours, changes and merges against their edges, the same by every
//! team.

mod ants;
#[path = "../common/mod.rs"]
mod common;
mod merge;
mod moves;
mod scene;
mod trials;
#[allow(dead_code, reason = "the tests of local search use more of it")]
#[path = "../local_search/world.rs"]
mod world;
