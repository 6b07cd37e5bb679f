//! The genetic algorithm: children against constructions by hand and by search, generations against their
//! documentation, the same on every team.

mod crossover;
mod first;
mod generation;
mod improve;
mod jumps;
mod mutation;
mod record;
mod shuffle;
mod teams;
mod transfer;
mod world;
