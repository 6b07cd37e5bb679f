//! Local search: moves and gains against models, local optima against brute force, the same on every team.

mod ants;
mod array;
mod chain;
mod chains;
#[path = "../common/mod.rs"]
mod common;
mod descend;
mod links;
mod moves;
mod perturb;
mod tile;
mod world;
