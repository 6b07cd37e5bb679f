//! Neighbourhood search: encodings against plain loops, problems against full evaluations, walks against searches with no
//! thought of speed, the same by any number of teams.

mod children;
mod costs;
mod crews;
mod encodings;
mod instances;
mod optima;
mod problems;
mod strategies;
mod tabu;
mod world;
