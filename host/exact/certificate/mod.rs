//! Certificates: proofs that no tour costs less, which anybody can check without solving a linear program.
//!
//! A certificate consists of a tour, cuts, and a tree ([`Certificate`]). Each leaf of the tree has dual values in whole numbers, from
//! which the bound of all its tours follows by addition ([`check`]). `docs/algorithms/proofs.md` describes the file and what is checked.

mod check;
mod parts;
mod read;
mod reduced;
mod write;

#[cfg(test)]
mod tests;

pub use check::{Refusal, Verified, check};
pub use parts::{Answer, Certificate, Node, Question, Tree};
pub use read::{parse, read};
