//! Neighbourhood search on any [`Problem`](crate::papers::problem::Problem): tabu search, hill climbing, simulated annealing, iterated and
//! variable neighbourhood search.
//!
//! A *walk* goes from a solution to a neighbour, and on. Its teams evaluate the neighbours together ([`Crew`]) and hold everything
//! that it needs, so on a GPU nothing is copied during a batch of iterations. All decisions depend only on costs and on
//! counter-based random numbers, so a walk's course does not depend on the number of its threads.

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
