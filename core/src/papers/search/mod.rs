//! Neighbourhood search on any [`Problem`](crate::papers::problem::Problem): tabu search, hill climbing, simulated annealing, iterated and
//! variable neighbourhood search.
//!
//! A *walk* goes from a solution to a neighbour, and on. Its teams look at the neighbours together ([`Crew`]); everything that a
//! walk needs is theirs, so on a GPU nothing is copied for as long as a batch of iterations lasts. All decisions come from
//! costs and from counter-based random numbers, so a walk's course does not depend on how many threads go it.

mod anneal;
mod batch;
mod best;
mod cost;
mod crew;
mod descent;
mod kick;
mod walk;

pub use best::{FORBIDDEN, candidate};
pub use cost::Cost;
pub use crew::{Alone, Contender, Crew};
pub use walk::{
    Bank, DESCENDED, LEVELS, Layout, REACHED, Strategy, WalkRules, WalkState, evaluate, iteration_stream,
    random_solution, walk,
};
