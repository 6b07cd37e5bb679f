//! The layer between settings and machines: an instance as engines see it, what each algorithm needs to know, what it requires of a
//! machine, and the loop that runs it.
//!
//! Three layers meet here. A backend does an algorithm's work where the data lives; what it must offer for that is a trait
//! ([`Colony`], [`Population`], [`Descent`], [`LinKernighan`], [`Walks`], [`Neighbors`]), and its input is a spec. A solver turns
//! settings into a spec and plans the work: that is an [`Engine`]. [`drive`] runs any engine until it is time to stop. Nothing here
//! depends on a backend or a solver.

pub mod acs;
mod budget;
mod colony;
mod cost;
mod deadline;
mod descent;
mod drive;
pub mod error;
pub mod genetic;
mod islands;
pub mod lin_kernighan;
mod local_search;
mod lockstep;
pub mod memory;
pub mod mmas;
mod plain;
mod potentials;
mod problem;
pub mod start;
mod stop;
mod walks;
mod worker;

pub use crate::instance::{Cost, Enough};
pub use acs::AcsSpec;
pub use budget::Budget;
pub use colony::{Colony, Phases};
pub use cost::Reported;
pub use deadline::Deadline;
pub(crate) use descent::each_pass;
pub use descent::{Descent, DescentSpec, Pass};
pub use drive::{Better, Engine, Progress, Run, Status, drive, next_units};
pub use error::BackendError;
pub use genetic::{FirstIndividuals, GeneticSpec, Population};
pub use islands::{Post, Voyager};
pub use lin_kernighan::{LinKernighan, Reached, Trials};
pub use local_search::{LocalSearch, MOST_NEIGHBORS};
pub use lockstep::{Lockstep, Sharing, Step};
pub use mmas::ColonySpec;
pub use plain::Plain;
pub use problem::{Places, Problem};
pub use stop::{Stop, StopReason};
pub use walks::{AskedShape, Neighbors, Outline, Searchable, Tables, Walks, WalksSpec};
pub(crate) use worker::Worker;
