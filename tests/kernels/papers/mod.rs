//! The kernels of the five papers' systems.

pub mod acs;
pub mod acs_colony;
pub mod best_moves;
pub mod colony;
pub mod construct;
pub mod construct_candidates;
pub mod construct_full;
pub mod genetic;
pub mod genetic_population;
pub mod local_search;
pub mod neighborhood_search;
pub mod trails;
pub mod walk_cases;
pub mod walk_instances;
pub mod walks;
