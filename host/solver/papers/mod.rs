//! The systems of the five papers: their settings and engines.

pub mod acs;
pub mod colony;
pub mod genetic;
pub mod ils;
pub mod mmas;
pub mod search;
