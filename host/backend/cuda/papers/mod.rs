//! The systems of the five papers on CUDA devices.

pub mod colony;
pub mod descent;
pub mod genetic;
pub mod walks;
