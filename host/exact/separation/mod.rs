//! Separation: finds cuts that a fractional solution violates.

mod blossoms;
mod combs;
mod draws;
mod flow;
mod local;
mod partition;
mod shrunk;
mod stars;
mod subtours;
#[cfg(test)]
mod tests;
mod tighten;
mod workers;

pub use blossoms::blossoms;
pub use combs::{combs, tighten};
pub use draws::Draws;
pub use local::local;
pub use stars::stars;
pub use subtours::{segments, subtours};
pub use workers::Workers;
