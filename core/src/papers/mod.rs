//! The systems of the five papers: two ant colonies, 2-opt, 3-opt and iterated local search, a genetic algorithm, and neighbourhood
//! search. The default engine, [`lin_kernighan`](crate::lin_kernighan), uses nothing in this folder.

pub mod ants;
pub mod genetic;
pub mod local_search;
pub mod neighborhood;
pub mod problem;
pub mod search;
