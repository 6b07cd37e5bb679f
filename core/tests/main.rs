//! All tests of the algorithms in one program: on CPUs, with teams of one and of many members.

mod acs;
mod best;
mod colony;
mod combinations;
mod common;
mod construct;
mod genetic;
mod geometry;
mod group;
mod lin_kernighan;
mod local_search;
mod node;
mod pheromone;
mod power;
mod rng;
mod search;
mod select;
mod selective;
mod sine;
mod tabu;
mod team;
mod tour;
