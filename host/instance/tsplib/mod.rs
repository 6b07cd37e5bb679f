//! TSPLIB files: all kinds of distances of the symmetric and the asymmetric problem.
//!
//! `scan` splits a file into keywords and sections, `read` turns them into an instance, `matrix` knows the nine layouts of explicit
//! weights, and `write` writes instances.

mod matrix;
mod read;
pub mod scan;
mod write;

pub use read::parse;
pub(super) use read::{parse_with, room};
pub use write::one_line;
pub use write::{save, write};
