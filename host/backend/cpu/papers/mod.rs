//! The systems of the five papers on CPU threads.

pub mod colony;
pub mod descent;
pub mod genetic;
pub mod walks;
