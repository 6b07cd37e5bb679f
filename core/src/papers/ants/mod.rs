//! MAX-MIN Ant System and Ant Colony System: how ants construct tours, and the pheromone trails that guide them.

pub mod acs;
pub mod colony;
pub mod construct;
pub mod pheromone;
pub mod select;
pub mod tabu;
