//! Local search: moves and gains against models, local optima against brute force, the same on every team.

mod array;
mod chain;
#[path = "../common/mod.rs"]
mod common;
mod descend;
mod links;
mod moves;
mod perturb;
mod tile;
mod world;
