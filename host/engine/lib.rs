//! The layer between settings and machines: an instance as engines see it, what each algorithm needs to know, what it requires of a
//! machine, and the loop that runs it.
//!
//! Three layers meet here. A backend does an algorithm's work where the data lives; what it must offer for that is a trait
//! ([`Colony`], [`Population`], [`Descent`], [`LinKernighan`], [`Walks`], [`Neighbors`]), and its input is a spec. A solver turns
//! settings into a spec and plans the work: that is an [`Engine`]. [`drive`] runs any engine until it is time to stop. Nothing here
//! depends on a backend or a solver.

pub mod bound;
mod budget;
mod cost;
mod deadline;
mod drive;
pub mod error;
mod islands;
pub mod lin_kernighan;
mod local_search;
mod lockstep;
mod machine;
pub mod memory;
mod papers;
mod plain;
mod potentials;
mod problem;
mod share;
pub mod start;
mod state;
mod stop;
pub mod tuning;
mod worker;

pub use antwarp_instance::{Cost, Enough};
pub use budget::Budget;
pub use cost::Reported;
pub use deadline::{Deadline, Grace};
pub use drive::{Better, Engine, Observe, Progress, Proving, Run, Snapshot, Status, drive, next_units};
pub use error::BackendError;
pub use islands::{Post, Voyager};
pub use lin_kernighan::{LinKernighan, Reached, Trials};
pub use local_search::{LocalSearch, MOST_NEIGHBORS};
pub use lockstep::{Lockstep, Sharing, Step};
pub use machine::Machine;
pub use papers::acs::AcsSpec;
pub use papers::colony::{Colony, Phases};
pub use papers::descent::{Descent, DescentSpec, Pass};
pub use papers::descent::{each_pass, pass_ms};
pub use papers::genetic::{FirstIndividuals, GeneticSpec, Population};
pub use papers::mmas::ColonySpec;
pub use papers::walks::{
    AskedShape, Neighbors, Outline, SavedWalks, Searchable, Tables, Walks, WalksSpec, save_walks,
};
pub use papers::{acs, genetic, mmas};
pub use plain::Plain;
pub use potentials::reduced_lengths;
pub use problem::{Places, Problem, join_partners};
pub use share::Turns;
pub use state::State;
pub use stop::{Stop, StopReason};
pub use worker::Worker;
