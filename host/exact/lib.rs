//! Proofs that a tour is the shortest: cutting planes, branch and cut, and certificates in whole numbers.
//!
//! A tour is a vector `x` with an entry 1 for each edge that it uses. The linear program minimises the length over all `x` between 0
//! and 1 with two edges at every node, and *cuts*: inequalities that hold for every tour ([`Cut`]). Its optimum is a lower bound. Cuts
//! that the optimum violates are found by [`separation`] and added, until none is found; then the tree of branch and cut divides the
//! tours into two sets and bounds each.
//!
//! The linear program is solved in floating point, and nothing of it is believed: its dual values are rounded to whole numbers, and
//! the bound that follows from them is summed in 128 bits over all edges. This bound holds for any dual values.
//!
//! Instances here have closed tours without directions, maybe with partners (see `antwarp_instance::form`).
//!
//! Sources:
//! - G. Dantzig, R. Fulkerson, S. Johnson, *Solution of a large-scale traveling-salesman problem*, Operations Research 2 (1954).
//! - M. Padberg, G. Rinaldi, *A branch-and-cut algorithm for the resolution of large-scale symmetric traveling salesman problems*,
//!   SIAM Review 33 (1991).
//! - D. Applegate, R. Bixby, V. Chvátal, W. Cook, *The Traveling Salesman Problem: A Computational Study*, Princeton (2006).

mod atoms;
mod board;
mod bound;
mod branching;
pub mod certificate;
mod cut;
pub mod duals;
pub mod few;
pub mod first_order;
mod incumbent;
pub mod master;
mod memory;
mod pool;
pub mod pricing;
mod prove;
mod queue;
pub mod regions;
pub mod root;
pub mod separation;
pub mod simplex;
mod support;
mod tree;

pub use board::Board;
pub use bound::{bound, has_regions};
pub use cut::{Cut, Family, ShapeError};
pub use duals::{Branch, Duals, Reduced, Side};
pub use incumbent::Incumbent;
pub use master::Master;
pub use memory::{memory, memory_of_regions};
pub use pricing::Edge;
pub use prove::{check, prove, prove_with};
pub use support::Support;

/// Settings of a proof.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the proof stands, and how many threads it may use.
    pub board: std::sync::Arc<Board>,
    /// The most threads that it will ever be allowed to use, at least 1.
    pub threads: usize,
    /// Whether to keep what a [certificate](certificate::Certificate) consists of.
    pub keeps_certificate: bool,
}

/// The result of a proof; costs are internal ones of the closed instance that was given to it.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// No tour costs less. It is `i64::MIN` if a proof could not start or contradicts a tour, as [`Outcome::trouble`] says; otherwise,
    /// and always from [`bound()`], at least 0, since no cost is negative.
    pub bound: i64,
    /// The bound at the root of the tree, as [`Outcome::bound`].
    pub root_bound: i64,
    /// The number of nodes of the tree; 0 if there was no tree.
    pub nodes: u64,
    /// The number of cuts of each family that were added to linear programs, in the order of [`Family`]; none without linear programs.
    pub cuts: [u64; 3],
    /// Seconds in linear programs, summed over all threads.
    pub lp_seconds: f64,
    /// Seconds of wall-clock time at the root of the tree; 0 from [`bound()`], and without linear programs.
    pub root_seconds: f64,
    /// Seconds of wall-clock time of the whole proof.
    pub seconds: f64,
    /// Why there is no better bound, if something is missing or failed.
    pub trouble: Option<String>,
}
