//! Finds short tours for the travelling salesman problem, on CPU threads or on NVIDIA GPUs.
//!
//! Give a [`Solver`](solver::Solver) an [`Instance`](instance::Instance) and a limit ([`Stop`](engine::Stop)). The
//! [`Solution`](solver::Solution) holds the tour: a permutation of the nodes, numbered from 0. Every tour has been checked, and its cost
//! recomputed from the instance.
//!
//! ```
//! use antwarp::prelude::*;
//!
//! let points = [[0.0, 0.0], [3.0, 4.0], [3.0, 0.0], [0.0, 4.0]];
//! let instance = Instance::euclidean(&points)?;
//! let solution = Solver::default().solve(&instance, Stop::after(Duration::from_secs(1)))?;
//! assert_eq!(solution.tour.len(), 4);
//! assert_eq!(instance.tour_cost(&solution.tour).as_f64(), 14.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Costs with decimals
//!
//! Inside a solver the cost of an edge is a 32-bit integer. The constructors of [`Instance`](instance::Instance) scale costs so that
//! they fit, and [`Instance::tour_cost`](instance::Instance::tour_cost) returns the cost in the unit of the input. So print that, and not
//! [`Solution::cost`](solver::Solution::cost), which is the internal one. Costs with up to nine decimals are exact. An infinite cost means that
//! there is no connection, and costs may depend on the direction:
//!
//! ```
//! use antwarp::prelude::*;
//!
//! let none = f64::INFINITY;
//! // Hours from each of four places (row) to each other (column).
//! let hours = vec![
//!     0.0, 0.25, 1.5, 0.75, //
//!     0.5, 0.0, 0.75, none, //
//!     1.5, 0.75, 0.0, 0.5, //
//!     0.75, 1.25, 0.5, 0.0,
//! ];
//! let instance = Instance::from_costs("deliveries", hours)?;
//! let stop = Stop { iterations: Some(100), ..Stop::never() };
//! let solution = Solver::default().seed(7).solve(&instance, stop)?;
//! assert_eq!(instance.tour_cost(&solution.tour).as_f64(), 2.25);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # GPUs
//!
//! By default a solver uses a GPU where one works and is likely to be faster. [`Choice`](backend::Choice) decides otherwise.
//! [`Choice::Cuda`](backend::Choice::Cuda) is an error where no GPU works; it says why, and what to do about it:
//!
//! ```
//! use antwarp::prelude::*;
//!
//! let places: Vec<[f64; 2]> = (0..500).map(|i| [f64::from(i * 37 % 101), f64::from(i * 61 % 97)]).collect();
//! let instance = Instance::euclidean(&places)?;
//! let stop = || Stop { iterations: Some(100), ..Stop::never() };
//! let solution = match Solver::default().backend(Choice::Cuda).solve(&instance, stop()) {
//!     Ok(solution) => solution,
//!     Err(SolveError::Backend(error)) => {
//!         eprintln!("{error}; solving on CPU threads");
//!         Solver::default().backend(Choice::Cpu).solve(&instance, stop())?
//!     }
//!     Err(error) => return Err(error.into()),
//! };
//! assert_eq!(solution.tour.len(), 500);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to find what
//!
//! | module | holds |
//! | --- | --- |
//! | [`prelude`] | what most programs need |
//! | [`instance`] | instances: made from points, degrees or costs, or read from files ([`Instance::open_with`](instance::Instance::open_with)) |
//! | [`solver`] | [`Solver`](solver::Solver), the [algorithms](solver::Algorithm) and their settings, [many small instances](solver::many) |
//! | [`bound`], [`exact`] | lower bounds; proofs that a tour is a shortest one |
//! | [`backend`] | CPU threads and CUDA devices |
//! | [`engine`] | what algorithms and machines have in common, for algorithms of your own |
//! | `report`, `cli`, `cluster` | output formats, the command line, runs of several processes; with the feature `cli` |
//!
//! # Features
//!
//! `cli` (default): the program. `cuda` (default): GPUs; the build compiles kernels where it finds a compiler for them, and otherwise uses CPU
//! threads alone. `serve`: the HTTP server. `mpi`: runs of several processes. `highs`: a linked HiGHS library, for proofs.
//! With `default-features = false` the library needs neither clap nor CUDA.

pub mod backend;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod cluster;
pub mod prelude;
#[cfg(feature = "cli")]
pub mod report;
pub mod solver;

pub use antwarp_engine as engine;
pub use antwarp_engine::bound;
pub use antwarp_exact as exact;
pub use antwarp_instance as instance;
use antwarp_instance::memory;

/// The examples of this page are tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/guide/library.md")]
struct LibraryPage;
