//! What the systems of the five papers ask of a backend.

pub mod acs;
pub mod colony;
pub mod descent;
pub mod genetic;
pub mod mmas;
pub mod walks;
