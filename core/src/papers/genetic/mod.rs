//! A genetic algorithm whose crossovers construct tours city by city (Kang et al. 2016).
//!
//! An individual is a tour; the population is split into groups of equal size. In a [`generation`], individuals compete with fixed
//! rivals, winners mate with fixed partners, and children replace the losers, so nothing needs to be synchronised. A child is made
//! by a [`crossover`] over the parents' [`jumps`].

pub mod crossover;
pub mod generation;
pub mod improve;
pub mod jumps;
pub mod shuffle;

pub use crossover::{Crossover, child};
pub use generation::{
    GenerationRules, NOWHERE, Population, breed, finish, pass_over, random_individual, settle, transfer,
};
pub use jumps::{Jumps, memory_bytes};
pub use shuffle::Shuffle;
