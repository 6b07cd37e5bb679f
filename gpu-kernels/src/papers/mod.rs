//! The kernels of the five papers' systems.

mod acs_trails;
mod best_moves;
mod construct_acs;
mod construct_candidates;
mod construct_full;
mod genetic;
mod local_search;
mod trails;
mod walks;
