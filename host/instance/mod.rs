//! Problem instances: reading, writing, generating, neighbour lists.
//!
//! [`Instance::open_with`] takes a file or the name of a generated instance; everything that it returns is valid. `format` detects
//! the kind of a file; `encoding`, `table`, `json` and `tsplib` read it. [`Qap`] is a quadratic assignment problem. The instances
//! of other problems are in [`solver::search::problems`](crate::solver::search::problems).

pub(crate) mod atomic_file;
mod best_known;
mod content;
mod cost;
mod costs;
mod diagnostic;
pub mod dimacs;
mod encoding;
mod error;
mod fingerprint;
mod format;
pub mod generate;
pub(crate) mod globe;
mod json;
mod kd_tree;
mod model;
mod neighbors;
pub(crate) mod numbers;
mod open;
#[cfg(feature = "cli")]
mod packed;
#[cfg(feature = "cli")]
pub(crate) mod patience;
pub mod population_file;
pub mod qaplib;
mod read_options;
mod scale;
pub(crate) mod source;
mod table;
pub mod tour_file;
pub mod tsplib;
mod watch;

pub use antwarp_core::metric::Metric;
pub use best_known::BestKnown;
pub use cost::Cost;
pub(crate) use error::Text;
#[cfg(feature = "cli")]
pub(crate) use error::printable;
pub use error::{InstanceError, Result, SyntaxError, TourError};
pub(crate) use kd_tree::{Cell, KdTree, Search, square};
pub use model::{Distances, Ends, Instance, Kind, MEAN_EARTH_RADIUS_M};
pub use neighbors::{NeighborLists, nearest, nearest_until, quadrant, quadrant_until};
pub(crate) use neighbors::{motors, nearest_among, unvisited};
pub use qaplib::Qap;
pub use read_options::{DecimalSign, ReadOptions, Shape};
pub use scale::Unit;
pub(crate) use source::Room;
pub use watch::Enough;
pub(crate) use watch::Watch;
