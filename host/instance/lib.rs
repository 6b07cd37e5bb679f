//! Problem instances: reading, writing, generating, neighbour lists.
//!
//! [`Instance::open_with`] takes a file or the name of a generated instance; everything that it returns is valid. `format` detects
//! the kind of a file; `encoding`, `table`, `json` and `tsplib` read it. [`Qap`] is a quadratic assignment problem. The instances
//! of other problems are in antwarp's `solver::search::problems`.

mod alike;
pub mod atomic_file;
mod best_known;
mod content;
mod cost;
mod costs;
mod diagnostic;
pub mod dimacs;
mod embedding;
mod encoding;
mod error;
mod fingerprint;
pub mod form;
mod format;
pub mod generate;
pub mod globe;
mod json;
mod kd_tree;
pub mod memory;
mod model;
mod neighbors;
mod node_names;
mod npy;
pub mod numbers;
mod open;
#[cfg(feature = "cli")]
mod packed;
pub mod pairs;
pub mod parallel;
#[cfg(feature = "cli")]
pub mod patience;
pub mod population_file;
pub mod qaplib;
mod read_options;
pub mod roads;
mod scale;
mod shape;
pub mod source;
mod table;
pub mod tour_file;
pub mod tsplib;
mod watch;

pub use antwarp_core::metric::Metric;
pub use best_known::BestKnown;
pub use cost::Cost;
pub use embedding::embedded;
pub use error::Text;
pub use error::{InstanceError, Result, SyntaxError, TourError, counted};
#[cfg(feature = "cli")]
pub use error::{printable, write_remedy};
pub use kd_tree::{Cell, KdTree, Search, square};
pub use model::{Distances, Ends, Instance, Kind, MEAN_EARTH_RADIUS_M};
pub use neighbors::{NeighborLists, nearest, nearest_until, quadrant, quadrant_until};
pub use neighbors::{motors, nearest_among, unvisited};
pub use node_names::NodeNames;
pub use qaplib::Qap;
pub use read_options::{DecimalSign, ReadOptions, Shape};
pub use scale::Unit;
pub use shape::Fault;
pub use source::Room;
pub use watch::Enough;
pub use watch::Watch;
