//! Local search: moves and gains against models, local optima against brute force, the same on every team.

mod ants;
mod array;
mod descend;
mod directed;
mod lin_kernighan;
mod moves;
mod perturb;
