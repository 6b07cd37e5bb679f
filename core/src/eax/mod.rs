//! Edge assembly crossover in its localised form (Nagata and Kobayashi 2013).
//!
//! The edges in which two parents A and B differ fall into closed walks that take an edge of A and one of B by turns:
//! AB-cycles. A child is A with the A-edges of some AB-cycles (an E-set) replaced by their B-edges, which leaves one
//! tour or several sub-tours; those are then merged, the smallest first. So a child differs from A in few edges, and
//! what it gains is known without a look at the rest of the tour: A without the edges that go is a row of segments of
//! its array.
//!
//! Three phases, each with memory of its own in flat arrays, so that many members can evaluate children of one pair:
//!
//! 1. [`decompose`] a pair into [`Cycles`];
//! 2. [`evaluate`] an E-set in a private [`Bench`]: gain, loss of entropy, and which nodes get which neighbours;
//! 3. [`apply()`] the best child's changes to A.
//!
//! The functions are of one member. All they decide by is integers, and quotients in double precision, which are
//! correctly rounded everywhere.

mod apply;
mod assemble;
mod bench;
mod cycles;
mod diversity;
mod gene;
mod merge;
mod near;
mod subtours;

pub use apply::apply;
pub use assemble::{Child, evaluate};
pub use bench::Bench;
pub use cycles::{Cycles, decompose};
pub use diversity::{Entropy, Frequencies, score};
pub use gene::Gene;
pub use near::Near;
