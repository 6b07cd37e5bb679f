//! All tests of the algorithms in one program: on CPUs, with teams of one and of many members.

mod combinations;
mod common;
mod geometry;
mod group;
mod lin_kernighan;
mod node;
mod papers;
mod power;
mod rng;
mod sine;
mod team;
mod tour;
