//! Tests of the systems of the five papers.

mod acs;
mod best;
mod colony;
mod construct;
mod genetic;
mod local_search;
mod pheromone;
mod search;
mod select;
mod selective;
mod tabu;
