//! Everything that most programs need: `use antwarp::prelude::*`.

pub use std::time::Duration;

pub use crate::backend::Choice;
pub use crate::engine::{Progress, Stop, StopReason};
pub use crate::instance::{Instance, InstanceError, Metric};
pub use crate::solver::{Algorithm, Solution, SolveError, Solver};
