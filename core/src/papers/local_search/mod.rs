//! Local search: 2-opt, Or-opt and 3-opt in neighbour lists, with don't-look bits, on a tour in an array; and iterated local
//! search by [best improvement](best) on top.
//!
//! One search serves every operator. From a node t1 it removes the edge to its successor (or predecessor) t2, adds one from t2 to a
//! near node t3, removes one of t3's edges (t3, t4) and closes the tour with (t4, t1): 2-opt. Or it goes on to a near node t5 of t4
//! and one of its edges (t5, t6): 3-opt in every reconnection that is not 2-opt. Partial sums of removed minus added lengths stay
//! positive (Lin and Kernighan 1973): of the orders in which an improving move can be built, at least one keeps them positive, and
//! all orders are tried.
//!
//! Where edges have a direction, a move must not reverse any part of the tour. One of the reconnections remains, Or-3opt, which
//! swaps two segments; it is searched for against the direction of the tour, from the end of each removed edge.

pub mod ants;
pub mod array;
pub mod best;
pub mod descend;
pub mod exchanges;
pub mod lin_kernighan;
pub mod moves;
pub mod perturb;

pub use array::ArrayTour;
pub use descend::Dirty;
pub use moves::{EdgeMove, View};
